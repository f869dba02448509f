"""Tables as tab-separated text: one header line and numbers in a fixed format, so equal tables have equal bytes."""

import contextlib
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from os import PathLike

from seqkern.core.archive import atomic_write
from seqkern.core.damaged import unreadable
from seqkern.core.errors import FileError

_SKIPPED = (
    r'["\x20\xa0\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u1680\u17b4\u17b5'
    r"\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    r"\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]*"
)
"""Quotes, blanks and characters that are not seen (Cf and others), which a spreadsheet drops before it decides."""
FORMULA = re.compile(
    rf"""(?m)(?:^|(?<=\t))  # the start of a cell
    (?={_SKIPPED}[=+\-@\ufe62\ufe63\ufe66\ufe6b\uff1d\uff0b\uff0d\uff20])  # run by a spreadsheet, also of other widths
    (?!{_SKIPPED}[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|inf)?(?:\t|$))  # numbers, and + and - for strands
    """,
    re.VERBOSE,
)
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters but for tabs and line ends."""
_for_spreadsheets: ContextVar[bool] = ContextVar("for_spreadsheets", default=False)


@contextlib.contextmanager
def spreadsheet_safe(on: bool = True) -> Iterator[None]:
    r"""Let `table_text` and `write_tsv` protect the cells that a spreadsheet would run as formulas.

    Parameters
    ----------
    on : bool
        False changes nothing.

    Examples
    --------
    >>> with spreadsheet_safe():
    ...     print([table_text("=1+1\t-0.5\n")])
    ["'=1+1\t-0.5\n"]
    """
    token = _for_spreadsheets.set(on)
    try:
        yield
    finally:
        _for_spreadsheets.reset(token)


def table_text(text: str) -> str:
    r"""Return lines of a table with control characters as escapes, which a terminal would obey.

    Inside `spreadsheet_safe`, an apostrophe stands before cells that begin like a formula.

    Parameters
    ----------
    text : str
        Whole lines, tab-separated.

    Returns
    -------
    str

    Examples
    --------
    >>> print(table_text("\x1b[31m=1+1;-0.5"))
    \x1b[31m=1+1;-0.5
    """
    text = escaped(text)
    return FORMULA.sub("'", text) if _for_spreadsheets.get() else text


def escaped(text: str) -> str:
    r"""Return text with control characters as escapes, but for tabs and line ends.

    Parameters
    ----------
    text : str
        Perhaps of several lines.

    Returns
    -------
    str

    Examples
    --------
    >>> print(escaped("id\x07"))
    id\x07
    """
    return CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def format_cell(value: object) -> str:
    r"""Return a cell's text: floats with 10 significant digits, empty for None and NaN; no control characters.

    Parameters
    ----------
    value : object
        A number, text, or None.

    Returns
    -------
    str

    Examples
    --------
    >>> [format_cell(value) for value in (1 / 3, 7, None, float("nan"), "a\tb")]
    ['0.3333333333', '7', '', '', 'a b']
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return f"{value:.10g}"
    return escaped(" ".join(str(value).split("\t")).replace("\n", " ").replace("\r", " "))


def write_tsv(path: str | PathLike, columns: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    """Write a table atomically.

    Parameters
    ----------
    path : path-like
        The file to write.
    columns : sequence of str
        Names, for the header line.
    rows : iterable of dict or sequence
        Dicts by column name (a missing key is an empty cell), or values in the order of `columns`.

    Raises
    ------
    FileError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "auc.tsv"
    ...     write_tsv(path, ["kernel", "auc"], [{"kernel": "spectrum", "auc": 0.5}, ("mismatch", None)])
    ...     read_tsv(path)
    [{'kernel': 'spectrum', 'auc': '0.5'}, {'kernel': 'mismatch', 'auc': ''}]
    """
    with atomic_write(path, "w") as file:
        file.write(table_text("\t".join(columns) + "\n"))
        for row in rows:
            cells = [row.get(name) for name in columns] if isinstance(row, dict) else row
            file.write(table_text("\t".join(map(format_cell, cells)) + "\n"))


def read_utf8(path: str | PathLike, *, remedy: str) -> str:
    """Return the text of a file with its line endings unchanged.

    Parameters
    ----------
    path : path-like
        The file to read.
    remedy : str
        The remedy if it cannot be read.

    Returns
    -------
    str

    Raises
    ------
    FileError
        If it cannot be read, or is not UTF-8 text.
    """
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except OSError as error:
        raise unreadable(path, error, remedy) from error
    except UnicodeDecodeError as error:
        raise FileError("is not UTF-8 text", file=path, remedy=remedy) from error


def read_tsv(path: str | PathLike) -> list[dict[str, str]]:
    """Read a table.

    Parameters
    ----------
    path : path-like
        UTF-8 text with a header line.

    Returns
    -------
    list of dict of str
        One for each row, by column name.

    Raises
    ------
    FileError
        If the file is missing, not text, or has a line with more or fewer cells than its header.
    """
    lines = [line.removesuffix("\r") for line in read_utf8(path, remedy="check the path").split("\n")]
    columns = lines[0].split("\t")
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        if not line:
            continue
        cells = line.split("\t")
        if len(cells) != len(columns):
            raise FileError(
                f"line {number} has {len(cells)} cells, the header has {len(columns)}",
                file=path,
                remedy="correct the line",
            )
        rows.append(dict(zip(columns, cells, strict=True)))
    return rows
