"""Tables as text: tab-separated files and the cells of other tables."""

import contextlib
import csv
import itertools
import math
import re
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from os import PathLike
from typing import TYPE_CHECKING, Any

from seqkern.core.archive import atomic_write
from seqkern.core.errors import FileError, SequenceError, naming, reading
from seqkern.core.text_files import open_lines, source_name

if TYPE_CHECKING:
    from seqkern.core.types import Source


# Tab-separated tables with one header line and a fixed number format, so that equal tables have equal bytes.

_SKIPPED = (
    r'["\x20\xa0\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u1680\u17b4\u17b5'
    r"\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    r"\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]*"
)
"""Quotes, blanks and invisible characters (Cf and others), which a spreadsheet drops before it decides."""
FORMULA = re.compile(
    rf"""(?m)(?:^|(?<=\t))  # the start of a cell
    (?={_SKIPPED}[=+\-@\ufe62\ufe63\ufe66\ufe6b\uff1d\uff0b\uff0d\uff20])  # run by a spreadsheet, also of other widths
    (?!{_SKIPPED}[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|inf)?(?:\t|$))  # numbers, and + and - for strands
    """,
    re.VERBOSE,
)
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters except tabs and line ends."""
_for_spreadsheets: ContextVar[bool] = ContextVar("for_spreadsheets", default=False)


@contextlib.contextmanager
def spreadsheet_safe(on: bool = True) -> Iterator[None]:
    r"""Let `table_text` and `write_tsv` protect the cells that a spreadsheet would run as formulas.

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
    r"""Return lines of a table with control characters escaped, so that a terminal does not interpret them.

    Inside `spreadsheet_safe`, cells that begin like a formula are prefixed with an apostrophe.

    >>> print(table_text("\x1b[31m=1+1;-0.5"))
    \x1b[31m=1+1;-0.5
    """
    text = escaped(text)
    return FORMULA.sub("'", text) if _for_spreadsheets.get() else text


def escaped(text: str) -> str:
    r"""Return text with all control characters escaped except tabs and line ends.

    >>> print(escaped("id\x07"))
    id\x07
    """
    return CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def format_cell(value: object) -> str:
    r"""Return the text of a cell: floats with 10 significant digits, empty for None and NaN, no control characters.

    >>> [format_cell(value) for value in (1 / 3, 7, None, float("nan"), "a\tb")]
    ['0.3333333333', '7', '', '', 'a b']
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return f"{value:.10g}"
    return escaped(" ".join(str(value).split("\t")).replace("\n", " ").replace("\r", " "))


def write_tsv(path: str | PathLike, columns: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    """Write a table atomically; rows are dicts by column name, or values in the order of `columns`."""
    with atomic_write(path, "w") as file:
        file.write(table_text("\t".join(columns) + "\n"))
        for row in rows:
            cells = [row.get(name) for name in columns] if isinstance(row, dict) else row
            file.write(table_text("\t".join(map(format_cell, cells)) + "\n"))


def read_utf8(path: str | PathLike, *, remedy: str) -> str:
    """Return the text of a file with its line endings unchanged."""
    try:
        with reading(path, remedy), open(path, encoding="utf-8", newline="") as file:
            return file.read()
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
            problem = f"line {number} has {len(cells)} cells, the header has {len(columns)}"
            raise FileError(problem, file=path, remedy="correct the line")
        rows.append(dict(zip(columns, cells, strict=True)))
    return rows


# Tables as cells, read from text separated by tabs, semicolons or commas, or from the first sheet of an Excel file.

LARGEST_SMALL_SHEET = 100_000_000
MOST_PACKED = 100
"""Maximum ratio of an Excel file's unpacked bytes to its packed bytes; for sheets it is about ten."""
MOST_EMPTY, EMPTY_FOR_EACH = 500_000, 10
"""Maximum number of empty cells and rows of an Excel sheet, and number added for each cell with text."""


def read_cells(source: "Source") -> list[list[str]]:
    r"""Return the cells of a table: text separated by tabs, semicolons or commas, or the first sheet of an Excel file.

    Blank lines are skipped. The separator is detected in the first line: tabs, if it has one, else semicolons, else
    commas; cells between semicolons or commas may be quoted.

    >>> import io
    >>> read_cells(io.StringIO("id\tlabel\nd1\tdonor\n")), read_cells(io.StringIO('id;label\nd1;"a; b"\n'))
    ([['id', 'label'], ['d1', 'donor']], [['id', 'label'], ['d1', 'a; b']])
    """
    if is_excel(source):
        with naming(source_name(source)):
            return _excel_cells(source)
    with open_lines(source) as (lines, _):
        first = next(lines)
        mark = next((mark for mark in "\t;," if mark in first), "\t")
        whole = itertools.chain([first], lines)
        if mark == "\t":
            rows = [(i, line.rstrip("\n").split("\t")) for i, line in enumerate(whole, start=1) if line.strip()]
        else:
            try:
                cells = ([cell.strip() for cell in row] for row in csv.reader(whole, delimiter=mark, strict=True))
                rows = [(i, row) for i, row in enumerate(cells, start=1) if any(row)]
            except csv.Error as error:
                raise SequenceError(f"is not CSV: {error}", remedy="check the quotes") from error
        if not rows:
            raise SequenceError("has no cell with text", remedy="check how the file was created")
        width = len(rows[0][1])
        between = {"\t": "tabs", ";": "semicolons", ",": "commas"}[mark]
        for i, row in rows:
            if len(row) != width:
                raise SequenceError(
                    f"line {i} has {len(row)} cells, the first line has {width}",
                    remedy=f"use {between} between cells, also around empty cells",
                )
    return [row for _, row in rows]


def is_excel(source: "Source") -> bool:
    """Return whether a path names an Excel file (.xlsx), by its content; False for other sources.

    >>> is_excel("-")
    False
    """
    if hasattr(source, "read") or str(source) == "-" or not zipfile.is_zipfile(source):
        return False
    try:
        with zipfile.ZipFile(source) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError):  # damaged: not text, either
        return False


def _excel_cells(source: Any) -> list[list[str]]:
    """Return the cells of the first sheet, without empty rows and columns."""
    try:
        import openpyxl  # imported here for fast start-up
    except ImportError as error:
        raise FileError(
            "is an Excel file, which needs the package openpyxl",
            remedy='install it: pip install "seqkern[excel]", or save the table as CSV',
        ) from error
    try:
        _check_unpacked(source)
        with warnings.catch_warnings(), open(source, "rb") as file:  # by its content, whatever its name
            warnings.simplefilter("ignore")  # such as styles that are not known
            rows = _rows_of_sheet(openpyxl.load_workbook(file, read_only=True, data_only=True))
    except FileError:
        raise
    except Exception as error:  # damaged or hostile files raise almost anything
        raise FileError("is not a valid Excel file", remedy="save the table as CSV") from error
    used = sorted({j for row in rows for j in row})
    if not used:
        raise SequenceError("has an empty first sheet", remedy="put the table on the first sheet")
    return [[row.get(j, "") for j in used] for row in rows]


def _check_unpacked(source: Any) -> None:
    """Raise FileError for an Excel file whose parts would fill the memory."""
    with zipfile.ZipFile(source) as archive:
        size = sum(part.file_size for part in archive.infolist())
        packed = sum(part.compress_size for part in archive.infolist())
    if size > max(LARGEST_SMALL_SHEET, MOST_PACKED * packed):
        problem = f"unpacks to {size / 1e6:.0f} MB, far more than a table of its size"
        raise FileError(problem, remedy="save the table as CSV")


def _rows_of_sheet(book: Any) -> list[dict[int, str]]:
    """Return the cells of the first sheet by column, without empty cells and rows."""
    rows: list[dict[int, str]] = []
    left = MOST_EMPTY
    try:
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # the file may state others than it has
        for row in sheet.iter_rows(values_only=True):
            cells = {j: _cell_text(value) for j, value in enumerate(row) if value is not None}
            cells = {j: text for j, text in cells.items() if text}
            left += (1 + EMPTY_FOR_EACH) * len(cells) - len(row) - 1
            if left < 0:  # such as those before a row or a column of a damaged number
                raise FileError(
                    f"has more than {MOST_EMPTY:,} empty cells",
                    remedy="delete the empty rows and columns, or save the table as CSV",
                )
            if cells:
                rows.append(cells)
    finally:
        book.close()
    return rows


def _cell_text(value: Any) -> str:
    """Return the text of a cell; whole numbers are written as integers."""
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if whole else value).strip()


def check_columns(header: Sequence[str], name: str) -> None:
    """Raise SequenceError for a table with duplicate column names."""
    twice = [column for i, column in enumerate(header) if column in header[:i]]
    if twice:
        raise SequenceError(f"has two columns named {twice[0]!r}", file=name, remedy="rename one")
