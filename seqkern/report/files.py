"""Read the files of a results folder; a missing one is None, a damaged one an error that names it."""

import csv
import json
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
import yaml

from seqkern.core.damaged import unreadable
from seqkern.core.errors import FileError
from seqkern.core.file_kinds import RESULT, FileKind
from seqkern.study.places import parse_yaml


def read_table(
    path: str | os.PathLike[str], columns: Collection[str], numeric: tuple[str, ...] = ()
) -> pd.DataFrame | None:
    """Return a TSV file as a DataFrame of str, or None where there is no such file.

    Parameters
    ----------
    path : path-like
        The file.
    columns : collection of str
        That must be there.
    numeric : tuple of str
        Columns whose names begin so are read as numbers; what is no number becomes NaN.

    Returns
    -------
    DataFrame or None
        None where there is no such file.

    Raises
    ------
    FileError
        If it cannot be read or lacks one of `columns`.
    """
    form: dict[str, Any] = {
        "sep": "\t",
        "na_filter": False,
        "quoting": csv.QUOTE_NONE,
        "lineterminator": "\n",
        "encoding": "utf-8",
    }
    try:
        head = pd.read_csv(path, dtype=str, nrows=0, **form)
        wanted = [name for name in head if numeric and str(name).startswith(numeric)]
        types: dict[str, Any] = dict.fromkeys(head, str) | dict.fromkeys(wanted, float)
        try:
            table = pd.read_csv(path, dtype=types, **form)
        except ValueError:  # an empty cell, a word
            table = pd.read_csv(path, dtype=str, **form)
            table = table.assign(**{name: numbers(table[name]) for name in wanted})
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unreadable(path, error) from error
    except ValueError as error:
        raise FileError(f"is not a table: {error}", file=path, remedy="make it again") from error
    for column in columns:
        if column not in table:
            raise FileError(f"has no column {column!r}", file=path, remedy="make it again with this version")
    return table


def read_json(path: str | os.PathLike[str], kind: FileKind = RESULT) -> dict[str, Any] | None:
    """Return a JSON file's dict, or None where there is no such file.

    Parameters
    ----------
    path : path-like
        The file.
    kind : FileKind
        The kind that it must be of.

    Returns
    -------
    dict of str to Any or None
        None where there is no such file.

    Raises
    ------
    SeqkernError
        If it is no JSON object, of another kind, or of a newer version.
    """
    content = _mapping(path, json.loads, "is not JSON", "is not a JSON object", "make it again")
    if content is not None:
        kind.check(content, path)
    return content


def read_laps(path: str | os.PathLike[str], columns: Sequence[str]) -> pd.DataFrame | None:
    """Return the laps of a ``cost.json`` as a DataFrame, or None where there is no such file.

    Parameters
    ----------
    path : path-like
        The file.
    columns : sequence of str
        Keys that every lap must have; they become the columns.

    Returns
    -------
    DataFrame or None
        A row for each lap; None where there is no such file.

    Raises
    ------
    FileError
        If it cannot be read or a lap lacks one of `columns`.
    """
    cost = read_json(path)
    if cost is None:
        return None
    laps = cost.get("laps")
    if not isinstance(laps, list) or not all(isinstance(lap, dict) and lap.keys() >= set(columns) for lap in laps):
        problem = f"has no laps with {', '.join(columns)}"
        raise FileError(problem, file=path, remedy="make it again with this version")
    return pd.DataFrame(laps, columns=list(columns))


def read_config(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return a study's resolved configuration, ``{}`` where there is none.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    dict of str to Any
        Empty where there is no such file.

    Raises
    ------
    FileError
        If it is no YAML mapping.
    """
    return (
        _mapping(path, lambda text: parse_yaml(text)[1], "is not YAML", "holds no keys", "run the workflow again") or {}
    )


def _mapping(
    path: str | os.PathLike[str], parse: Callable[[str], Any], unread: str, other: str, remedy: str
) -> dict[str, Any] | None:
    """Return the dict in a file, None where there is no such file; FileError if it cannot be read or holds no dict."""
    try:
        value = parse(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise FileError(f"{unread}: {error}", file=path, remedy=remedy) from error
    if not isinstance(value, dict):
        raise FileError(other, file=path, remedy=remedy)
    return value


def numbers(column: pd.Series) -> pd.Series:
    """Return texts as float64; what is no number becomes NaN.

    Parameters
    ----------
    column : Series
        Texts, or numbers already.

    Returns
    -------
    Series
        As float64, NaN for what is not a number.

    Examples
    --------
    >>> numbers(pd.Series(["0.5", "", "none"])).tolist()
    [0.5, nan, nan]
    """
    return pd.to_numeric(column, errors="coerce").astype(float)


def rows_by(table: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple[tuple[str, ...], pd.DataFrame]]:
    """Yield the rows of a table that have the same texts in some columns, in order of appearance.

    Parameters
    ----------
    table : DataFrame
        The table.
    columns : sequence of str
        Columns of texts.

    Yields
    ------
    texts : tuple of str
        One of each column.
    rows : DataFrame
        Those with these texts.
    """
    for key, rows in table.groupby(list(columns), sort=False):
        yield cast("tuple[str, ...]", key), rows


def rows_by_value(table: pd.DataFrame, by: str | pd.Series) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of a table that have the same text in one column, in order of appearance.

    Parameters
    ----------
    table : DataFrame
        The table.
    by : str or Series
        Name of a column of texts, or a text for each row.

    Yields
    ------
    text : str
        The text.
    rows : DataFrame
        Those with this text.
    """
    for key, rows in table.groupby(by, sort=False):
        yield cast(str, key), rows


def read_gram(path: str | os.PathLike[str]) -> npt.NDArray[Any] | None:
    """Return a stored Gram matrix as a read-only memory map; None where there is no such file.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    npt.NDArray[Any] or None
        Read-only memory map, shape (n, n); None where there is no such file.

    Raises
    ------
    FileError
        If the file is damaged.
    """
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, EOFError) as error:
        raise FileError(f"is not a Gram matrix: {error}", file=path, remedy="make it again") from error
