"""Feature tables and square tables of similarities."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import isnan

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_choice
from seqkern.core.errors import SequenceError
from seqkern.core.table_cells import check_columns, read_cells
from seqkern.core.text_files import source_name
from seqkern.core.types import Source
from seqkern.core.values import read_number
from seqkern.datasets.label_sources import id_column_of
from seqkern.sequences.record_ids import unique_ids
from seqkern.sequences.tables import FeatureTable, SimilarityTable

MISSING = ("", "na", "nan", "?")
"""Cells without a value, in any case."""


def read_features(
    source: Source,
    unit_columns: Iterable[str] = ("label",),
    *,
    id_column: str | None = None,
    ids: str = "header",
    missing: str = "error",
) -> tuple[FeatureTable, dict[str, list[str]]]:
    r"""Read a table with a header line, one row for each sample and one column for each feature.

    Parameters
    ----------
    source : path-like, ``"-"`` or file object
        As for `seqkern.core.text_files.read_cells`.
    unit_columns : iterable of str
        Columns that describe the sample (label, group, …) and are not features, if they exist.
    id_column : str, optional
        Default: as `seqkern.datasets.label_sources.id_column_of`.
    ids : {"header", "number", "suffix"}
        Treatment of repeated ids.
    missing : {"error", "keep"}
        Treatment of cells without a value: empty ones, NA, NaN and ?; kept ones are NaN.

    Returns
    -------
    table : FeatureTable
        The numbers.
    columns : dict of str to list of str
        The columns that describe samples.

    Raises
    ------
    FileError
        If the file cannot be read.
    SequenceError
        If the rows differ in length, there are no features, or a cell is not a finite number.

    Examples
    --------
    >>> import io
    >>> table, columns = read_features(io.StringIO("sample\tlabel\tGC\nd1\tdonor\t0.41\nd2\tdecoy\t0.58\n"))
    >>> table.ids, table.columns, columns
    (['d1', 'd2'], ('GC',), {'label': ['donor', 'decoy']})
    """
    header, *rows = read_cells(source)
    name = source_name(source)
    _check_header(header, rows, name)
    id_column = id_column_of(header) if id_column is None else id_column
    if id_column not in header:
        raise SequenceError(f"has no column {id_column!r}", file=name, remedy=f"columns: {_some(header)}")
    cells = dict(zip(header, zip(*rows, strict=True), strict=True))
    names, counts = _names(list(cells.pop(id_column)), ids, name)
    columns = {key: list(cells.pop(key)) for key in unit_columns if key in cells}
    if not cells:
        raise SequenceError("has no feature columns", file=name, remedy="add columns of numbers")
    check_choice("missing", missing, ("error", "keep"))
    values = _numbers(list(zip(*cells.values(), strict=True)), names, list(cells), name, kept=missing == "keep")
    gaps = int(np.isnan(values).sum())
    counts |= {"missing values": gaps} if gaps else {}
    return FeatureTable(values, names, cells, counts, "keep" if gaps else "error"), columns


def read_similarities(
    source: Source, kind: str = "similarities", unit_columns: Collection[str] = ("label",), *, ids: str = "header"
) -> tuple[SimilarityTable, dict[str, list[str]]]:
    r"""Read a square table.

    With a header line: an id, columns that describe the sample, then one column for each row, with its name and in
    order. Without one: optionally a class, then one number for each row; ids are the row numbers.

    Parameters
    ----------
    source : path-like, ``"-"`` or file object
        As for `read_features`.
    kind : {"similarities", "dissimilarities"}
        The meaning of the numbers.
    unit_columns : collection of str
        Columns that describe the sample, if they exist.
    ids : {"header", "number", "suffix"}
        As for `read_features`.

    Returns
    -------
    table : SimilarityTable
        The numbers.
    columns : dict of str to list of str
        The columns that describe samples; a class column without a header is called ``label``.

    Raises
    ------
    FileError
        If the file cannot be read.
    SequenceError
        If the table is not square, its columns do not match its rows, a cell is not a finite number, or a
        dissimilarity is negative.

    Examples
    --------
    >>> import io
    >>> table, columns = read_similarities(io.StringIO("globin\t3\t1\nkinase\t1\t3\n"))
    >>> table, columns
    (SimilarityTable(2 rows of 2, similarities), {'label': ['globin', 'kinase']})
    """
    rows = read_cells(source)
    name = source_name(source)
    with_class = len(rows[0]) == len(rows) + 1
    bare = len(rows[0]) == len(rows) and not isnan(read_number(rows[0][0]))
    if (bare or with_class) and not any(isnan(read_number(cell)) for cell in rows[0][1:]):
        names = [str(i) for i in range(1, len(rows) + 1)]
        columns = {"label": [row[0] for row in rows]} if with_class else {}
        cells = [row[int(with_class) :] for row in rows]
        return _square(_numbers(cells, names, names, name), names, kind, name), columns
    header, *rows = rows
    _check_header(header, rows, name)
    n_units = 1 + sum(key in unit_columns for key in header[1:])
    columns = {key: [row[j] for row in rows] for j, key in enumerate(header[1:n_units], start=1)}
    given = [row[0] for row in rows]
    for i, (row_name, column_name) in enumerate(zip(given, header[n_units:], strict=False), start=1):
        if row_name != column_name:
            raise SequenceError(
                f"column {i} of the square is {column_name!r}",
                file=name,
                record=row_name,
                remedy="use the same ids in the same order for rows and columns",
            )
    if len(header) - n_units != len(rows):
        raise SequenceError(
            f"has {len(rows)} rows and {len(header) - n_units} columns of values",
            file=name,
            remedy="give one column for each row",
        )
    names, counts = _names(given, ids, name)
    values = _numbers([row[n_units:] for row in rows], names, names, name)
    return _square(values, names, kind, name, counts), columns


def _square(
    values: npt.NDArray[np.float64], names: Sequence[str], kind: str, file: str, counts: dict[str, int] | None = None
) -> SimilarityTable:
    """Return the SimilarityTable; raise SequenceError for a negative dissimilarity."""
    negative = np.argwhere(values < 0)
    if kind == "dissimilarities" and len(negative):
        i, j = negative[0]
        raise SequenceError(
            f"column {names[j]!r}: {values[i, j]:g} is not a dissimilarity",
            file=file,
            record=names[i],
            remedy="give non-negative values, or name the table under similarities",
        )
    return SimilarityTable(values, names, kind=kind, counts=counts)


def _check_header(header: Sequence[str], rows: Sequence[Sequence[str]], name: str) -> None:
    """Raise SequenceError for repeated column names or a table without rows."""
    check_columns(header, name)
    if not rows:
        raise SequenceError("has a header line but no rows", file=name, remedy="check how the file was created")


def _names(given: list[str], policy: str, name: str) -> tuple[list[str], dict[str, int]]:
    """Return unique ids and counts under the policy of ids."""
    if policy != "number" and "" in given:
        raise SequenceError(f"row {given.index('') + 1} has no id", file=name, remedy="add one, or set ids to number")
    names, repeats = unique_ids(given, policy, file=name)
    return names, {"repeated ids": repeats} if repeats else {}


def _numbers(
    rows: Sequence[Sequence[str]], names: Sequence[str], columns: Sequence[str], file: str, *, kept: bool = False
) -> npt.NDArray[np.float64]:
    """Return cells as float64; raise SequenceError for the first that is not a finite number, or missing and `kept`."""
    values = np.array([[read_number(cell) for cell in row] for row in rows])
    for i, j in np.argwhere(np.isnan(values)):
        gap = rows[i][j].strip().lower() in MISSING
        if gap and kept:
            values[i, j] = np.nan
            continue
        complete = "; to complete it by the training set: missing: keep and transforms: [impute]" if gap else ""
        raise SequenceError(
            f"column {columns[j]!r}: {rows[i][j]!r} is not a finite number",
            file=file,
            record=names[i],
            remedy=f"fill it in, remove the row, or name the column under labels{complete}",
        )
    return values


def _some(names: Sequence[str]) -> str:
    """Return some of the names for a message."""
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
