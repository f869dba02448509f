"""Sites: positions on records, with a strand and further columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.core.table_cells import check_columns, read_cells
from seqkern.core.text_files import source_name
from seqkern.core.types import PathLike, Source
from seqkern.core.values import whole_number

STRANDS = ("+", "-")
SUFFIX = re.compile(r"\.(bed|narrowpeak|broadpeak)(\.gz)?$", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Sites:
    """Positions on records.

    Attributes
    ----------
    records : list of str, length m
        The id of the record of each site.
    positions : ndarray of int64, shape (m,)
        From 1.
    reverse : ndarray of bool, shape (m,)
        True on strand −.
    columns : dict of str to list of str
        Further columns, such as ``label``.
    file : str, optional
        Used in messages.
    """

    records: list[str]
    positions: npt.NDArray[np.int64]
    reverse: npt.NDArray[np.bool_]
    columns: dict[str, list[str]] = field(default_factory=dict)
    file: str | None = None

    def __len__(self) -> int:
        return len(self.records)

    @property
    def strands(self) -> list[str]:
        """``"+"`` or ``"-"`` of each site."""
        return ["-" if reverse else "+" for reverse in self.reverse.tolist()]


def make_sites(
    records: Sequence[str],
    positions: Sequence[str | int],
    strands: Sequence[str] | None = None,
    columns: dict[str, list[str]] | None = None,
    file: PathLike | None = None,
) -> Sites:
    """Return Sites from texts.

    Parameters
    ----------
    records : sequence of str, length m
        The id of the record of each site.
    positions : sequence of str or int, length m
        Integers from 1.
    strands : sequence of str, length m, optional
        ``"+"`` or ``"-"``; default, also for empty text: ``"+"``.
    columns : dict of str to list of str, optional
        Further columns.
    file : path-like, optional
        Used in messages.

    Returns
    -------
    Sites

    Raises
    ------
    SequenceError
        For a position that is not a positive integer, or a strand other than ``"+"`` and ``"-"``.

    Examples
    --------
    >>> from seqkern.sequences.sites import make_sites
    >>> sites = make_sites(["chr1", "chr2"], ["301", "17"], ["+", "-"])
    >>> sites.positions.tolist(), sites.reverse.tolist()
    ([301, 17], [False, True])
    """
    signs = ["+"] * len(records) if strands is None else [strand or "+" for strand in strands]
    numbers = np.zeros(len(records), dtype=np.int64)
    for i, (record, position, strand) in enumerate(zip(records, positions, signs, strict=True)):
        text = str(position).strip()
        if not whole_number(text):
            raise SequenceError(
                f"invalid position {text!r}",
                file=file,
                record=record,
                remedy="give an integer; the first position of a record is 1",
            )
        if strand not in STRANDS:
            raise SequenceError(f"invalid strand {strand!r}", file=file, record=record, remedy="give + or -")
        numbers[i] = int(text)
    reverse = np.array([strand == "-" for strand in signs], dtype=bool)
    return Sites(list(records), numbers, reverse, dict(columns or {}), None if file is None else str(file))


def read_sites(source: Source) -> Sites:
    r"""Read sites from a table.

    Parameters
    ----------
    source : path-like, ``"-"`` or file object
        Tab-separated, with a header line that contains the columns ``record`` and ``position``, and ``strand`` unless
        all are ``+``; other columns are kept as text.

    Returns
    -------
    Sites

    Raises
    ------
    FileError, SequenceError
        If it cannot be read, lacks a column, or contains no site.

    Examples
    --------
    >>> import io
    >>> from seqkern.sequences.sites import read_sites
    >>> read_sites(io.StringIO("record\tposition\tlabel\nchr1\t301\tdonor\n")).columns["label"]
    ['donor']
    """
    name = source_name(source)
    if SUFFIX.search(name):
        raise SequenceError(
            "is a BED file, not a table of sites",
            file=name,
            remedy="give it in place of the FASTA, with --genome FASTA and --width W instead of --sites and --window",
        )
    header, *rows = read_cells(source)
    check_columns(header, name)
    for column in ("record", "position"):
        if column not in header:
            raise SequenceError(
                f"has no column {column!r}",
                file=name,
                remedy=f"add the columns record and position (and strand); columns: {', '.join(header)[:200]}",
            )
    if not rows:
        raise SequenceError("contains no site", file=name, remedy="give one row for each site below the header line")
    columns = dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))
    return make_sites(columns["record"], columns["position"], columns.get("strand"), columns, name)
