"""Candidates as text: BED, bedGraph and TSV. Numbers have 10 significant digits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ModelError
from seqkern.sequences._lines import lines as make_lines

if TYPE_CHECKING:
    from seqkern.models.model import Model
    from seqkern.sequences.candidates import Candidates

AT_ONCE = 1 << 15
STRANDS = "+-"

Columns = tuple[npt.NDArray[np.int64], list[bytes], npt.NDArray[np.int32], npt.NDArray[np.float64]]
"""Integers, texts, index of each line's text, and trailing numbers."""


def header(form: str, model: Model) -> str:
    """Return the header line of a file; empty except for TSV.

    Parameters
    ----------
    form : {"bed", "bedgraph", "tsv"}
        Of the file.
    model : Model
        The scoring model.

    Returns
    -------
    str
    """
    if form != "tsv":
        return ""
    return "\t".join(["record", "position", "strand", *decision_columns(model)]) + "\n"


def decision_columns(model: Model) -> list[str]:
    """Return the names of the columns of decisions, and of the probability if the model is calibrated.

    Parameters
    ----------
    model : Model
        The scoring model.

    Returns
    -------
    list of str
    """
    if model.projects:
        return [f"component:{name}" for name in model.classes]
    if model.kind == "multiclass":
        return [f"decision:{name}" for name in model.classes]
    return ["decision"] + ["probability"] * (model.calibration is not None)


def lines(form: str, found: Candidates, model: Model, site: str) -> Iterator[str]:
    """Yield the lines of some candidates.

    Parameters
    ----------
    form : {"bed", "bedgraph", "tsv"}
        Of the file.
    found : Candidates
        On one record.
    model : Model
        The scoring model.
    site : str
        The letters of a candidate.

    Yields
    ------
    str
        Many lines at a time.
    """
    record = f"{found.record}\t".encode()
    for first in range(0, len(found), AT_ONCE):
        columns = FORMS[form](found.take(slice(first, first + AT_ONCE)), model, site)
        yield make_lines(record, *columns).decode()


def _bed(found: Candidates, model: Model, site: str) -> Columns:
    """Return the columns of BED6 with the decision, and the probability if there is one."""
    places, values = np.column_stack([found.starts, found.starts + found.width]), _values(found, model)
    top = 0 if model.calibration is None else 1000
    scores = np.rint(top * values[:, -1]).astype(np.int32) if top else 0
    texts = [f"{site}\t{score}\t{strand}\t".encode() for strand in STRANDS for score in range(top + 1)]
    return places, texts, found.reverse * np.int32(top + 1) + np.int32(scores), values


def _bedgraph(found: Candidates, model: Model, site: str) -> Columns:
    """Return the columns of a candidate's first letter on its strand: unlike whole candidates, these do not overlap."""
    places = np.column_stack([found.positions - 1, found.positions])
    return places, [b""], np.zeros(len(found), dtype=np.int32), np.ascontiguousarray(found.decisions[:, None])


def _table(found: Candidates, model: Model, site: str) -> Columns:
    """Return the columns of a table."""
    texts = [f"{strand}\t".encode() for strand in STRANDS]
    return found.positions[:, None], texts, found.reverse.astype(np.int32), _values(found, model)


def _values(found: Candidates, model: Model) -> npt.NDArray[np.float64]:
    """Return decision values, followed by the probability if there is one, float64 (n, columns)."""
    values = found.decisions if found.decisions.ndim == 2 else found.decisions[:, None]
    if model.calibration is not None:
        values = np.column_stack([values, model.calibration.probabilities(found.decisions)])
    if not np.isfinite(values).all():
        raise ModelError("the decision values are too large for numbers", remedy="train the model again")
    return np.ascontiguousarray(values)


FORMS = {"bed": _bed, "bedgraph": _bedgraph, "tsv": _table}
