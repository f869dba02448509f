"""Vectors from a Parquet file: a column of ids, and one column of lists or several columns of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError

ID = "id"
INDEX = "__index_level_"  # of pandas


def parquet_vectors(name: str, parquet: Any) -> tuple[list[str], npt.NDArray[Any]]:
    """Return the ids and vectors of a file.

    Parameters
    ----------
    name : str
        The file.
    parquet : module
        ``pyarrow.parquet``.

    Returns
    -------
    ids : list of str, length n
        The column ``id``.
    values : ndarray, shape (n, width)
        The only column of lists; without one, all other columns.

    Raises
    ------
    SequenceError
        If columns are missing or do not consist of numbers, or lists differ in length.
    """
    table = parquet.read_table(name)
    if ID not in table.column_names:
        raise SequenceError(
            f"has no column {ID!r}", file=name, remedy=f"name the column of ids {ID}; columns: {_some(table)}"
        )
    ids = table.column(ID).to_pylist()
    if None in ids:
        raise SequenceError(f"row {ids.index(None) + 1} has no id", file=name, remedy="add one")
    ids = [str(item) for item in ids]
    if not ids:
        return ids, np.zeros((0, 0))
    others = [column for column in table.column_names if column != ID and not column.startswith(INDEX)]
    lists = [column for column in others if _is_list(table.schema.field(column).type)]
    if len(lists) > 1:
        raise SequenceError(
            f"has {len(lists)} columns of lists: {', '.join(lists)}", file=name, remedy="keep one of them"
        )
    if lists:
        return ids, _of_lists(table.column(lists[0]), ids, name)
    if not others:
        raise SequenceError("has no column of numbers", file=name, remedy="add the vectors")
    columns = [_numbers(table.column(column), column, name) for column in others]
    return ids, np.stack(columns, axis=1)


def _is_list(kind: Any) -> bool:
    """Return whether a column has lists."""
    return str(kind).startswith(("list", "large_list", "fixed_size_list"))


def _of_lists(column: Any, ids: list[str], name: str) -> npt.NDArray[Any]:
    """Return the lists of a column as rows."""
    rows = column.to_numpy()
    lengths = [-1 if row is None else len(row) for row in rows]
    for record, length in zip(ids, lengths, strict=True):
        if length != lengths[0] or length < 0:
            problem = "has no vector" if length < 0 else f"has {length} numbers, the first vector has {lengths[0]}"
            raise SequenceError(problem, file=name, record=record, remedy="give vectors of one length")
    table = np.stack(rows) if len(rows) else np.zeros((0, 0))
    if table.dtype.kind not in "fiu":
        raise SequenceError(
            "its lists do not consist of numbers", file=name, remedy="give one list of numbers for each id"
        )
    return table


def _numbers(column: Any, title: str, name: str) -> npt.NDArray[Any]:
    """Return a column of numbers; missing values as NaN."""
    values = column.to_numpy()
    if values.dtype.kind not in "fiu":
        raise SequenceError(
            f"its column {title!r} does not consist of numbers", file=name, remedy="remove it, or give numbers"
        )
    return values


def _some(table: Any) -> str:
    """Return some names of columns for a message."""
    return ", ".join(table.column_names[:8])
