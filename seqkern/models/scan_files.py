"""Candidates as text: BED, bedGraph and TSV. Numbers have 10 significant digits. For bigWig see `genome.tracks`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqkern.sequences._lines import lines as make_lines

if TYPE_CHECKING:
    from seqkern.models.model import Model
    from seqkern.sequences.candidates import Candidates

AT_ONCE = 1 << 15
STRANDS = "+-"
TOP = 1000
"""The greatest score of BED."""

POSITIVE, NEGATIVE = b"178,24,43\t", b"33,102,172\t"
"""Colours of decision values above zero, red, and below, blue."""

Integers = npt.NDArray[np.int64]
Which = npt.NDArray[np.int32]
Columns = (
    tuple[Integers, list[bytes], Which, npt.NDArray[np.float64]]
    | tuple[Integers, list[bytes], Which, npt.NDArray[np.float64], Integers, list[bytes], Which]
)
"""Integers, texts, index of each line's text, trailing numbers; perhaps more integers and texts before the numbers."""


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
    """Return the columns of BED9 with the decision, and the probability if there is one."""
    places, values = np.column_stack([found.starts, found.starts + found.width]), _values(found, model)
    scores = browser_scores(found.decisions, None if model.calibration is None else values[:, -1])
    texts = [f"{site}\t{score}\t{strand}\t".encode() for strand in STRANDS for score in range(TOP + 1)]
    which = found.reverse * np.int32(TOP + 1) + scores
    colours = (found.decisions < 0).astype(np.int32)
    return places, texts, which, values, places, [POSITIVE, NEGATIVE], colours


def browser_scores(
    decisions: npt.NDArray[np.float64], probabilities: npt.NDArray[np.float64] | None
) -> npt.NDArray[np.int32]:
    """Return scores from 0 to 1000, by which genome browsers shade.

    Parameters
    ----------
    decisions : ndarray of float64, shape (n,)
        Decision values.
    probabilities : ndarray of float64, shape (n,), or None
        Of a calibrated model.

    Returns
    -------
    ndarray of int32, shape (n,)
        1000 × probability; without probabilities 500 + 500 × decision value, cut off at 0 and 1000.

    Examples
    --------
    >>> browser_scores(np.array([-3.0, 0.0, 0.5]), None).tolist()
    [0, 500, 750]
    """
    shares = (1 + decisions) / 2 if probabilities is None else probabilities
    return np.rint(TOP * np.clip(shares, 0, 1)).astype(np.int32)


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
    return np.ascontiguousarray(values)


FORMS = {"bed": _bed, "bedgraph": _bedgraph, "tsv": _table}
