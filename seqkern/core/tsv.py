"""Tables as text: tab-separated files and the cells of other tables."""

import contextlib
import csv
import importlib
import io
import itertools
import json
import math
import os
import re
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from os import PathLike
from typing import TYPE_CHECKING, Any

from seqkern.core.archive import atomic_write
from seqkern.core.checks import read_number
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
    """Write a table atomically, in the format of its ending; rows are dicts by column, or values in their order."""
    with table_writer(path) as write:
        write(table_text("\t".join(columns) + "\n"))
        for row in rows:
            cells = [row.get(name) for name in columns] if isinstance(row, dict) else row
            write(table_text("\t".join(map(format_cell, cells)) + "\n"))


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows of a table as lines of aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]


_TEXT_COLUMNS = ("id", "chromosome")


@contextlib.contextmanager
def table_writer(path: str | PathLike, pack: Callable[[Any], Any] | None = None) -> Iterator[Callable[[str], object]]:
    """Yield a function that takes lines of a TSV and writes them, or what else the file's ending says.

    ``pack(file)`` compresses text. JSON, Excel and Parquet are written at the end, from memory.
    """
    ending = os.path.splitext(str(path).removesuffix(".gz").removesuffix(".bgz"))[1].lower()
    if ending in _WRITERS:
        lines: list[str] = []
        yield lines.append
        columns, *rows = (line.split("\t") for line in "".join(lines).removesuffix("\n").split("\n"))
        values = [[] for _ in columns] if not rows else list(map(list, zip(*rows, strict=True)))
        typed = [_typed(name, cells) for name, cells in zip(columns, values, strict=True)]
        with atomic_write(path) as file:
            _WRITERS[ending](file, columns, typed)
        return
    with atomic_write(path, "wb" if pack else "w") as file:
        out = pack(file) if pack else file
        yield (lambda text: out.write(_as_csv(text))) if ending == ".csv" else out.write
        if pack:
            out.finish()


def _as_csv(text: str) -> str:
    """Return lines of a TSV as lines of a CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(line.split("\t") for line in text.removesuffix("\n").split("\n"))
    return out.getvalue()


def _typed(name: str, cells: list[str]) -> list[Any]:
    """Return the values of a column: numbers if all of its cells are some, except of ids; None for empty cells."""
    numbers = [math.nan if cell in ("inf", "-inf") else read_number(cell) for cell in cells if cell]
    if name in _TEXT_COLUMNS or any(map(math.isnan, numbers)):
        return [cell or None for cell in cells]
    read: type[int] | type[float] = float if any(set(cell) & set(".eE") for cell in cells) else int
    return [read(cell) if cell else None for cell in cells]


def _write_json(file: Any, columns: list[str], values: list[list[Any]]) -> None:
    """Write a table as a JSON list of its rows."""
    rows = (json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) for row in zip(*values, strict=True))
    file.write(("[\n" + ",\n".join(rows) + "\n]\n").encode("utf-8", "backslashreplace"))


def _write_excel(file: Any, columns: list[str], values: list[list[Any]]) -> None:
    """Write a table as a sheet, in which no text is a formula."""
    openpyxl = optional_library("openpyxl", "excel")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("seqkern")
    for row in (columns, *zip(*values, strict=True)):
        cells = [openpyxl.cell.WriteOnlyCell(sheet, value) for value in row]
        for cell in cells:
            cell.data_type = "s" if cell.data_type == "f" else cell.data_type
        sheet.append(cells)
    packed = io.BytesIO()
    book.save(packed)
    with zipfile.ZipFile(packed) as parts, zipfile.ZipFile(file, "w") as out:
        for name in parts.namelist():  # without times, so that equal tables are equal files
            part = parts.read(name)
            if name == "docProps/core.xml":
                part = re.sub(rb"(<dcterms:\w+ [^>]*>)[^<]*", rb"\g<1>1980-01-01T00:00:00Z", part)
            out.writestr(zipfile.ZipInfo(name), part, zipfile.ZIP_DEFLATED)


def _write_parquet(file: Any, columns: list[str], values: list[list[Any]]) -> None:
    """Write a table as Parquet."""
    arrow, parquet = (optional_library(name, "embeddings") for name in ("pyarrow", "pyarrow.parquet"))
    parquet.write_table(arrow.table(values, names=columns), file)


_WRITERS = {".json": _write_json, ".xlsx": _write_excel, ".parquet": _write_parquet}
_PACKAGES = {".xlsx": ("openpyxl", "excel"), ".parquet": ("pyarrow", "embeddings")}


def check_ending(path: str | PathLike, endings: Sequence[str]) -> None:
    """Raise FileError for a file name with another ending than these, or whose package is missing."""
    ending = os.path.splitext(str(path))[1].lower()
    inner = os.path.splitext(str(path)[: -len(ending)])[1].lower() if ending in (".gz", ".bgz") else ""
    if ending not in ("", *endings) or inner not in ("", *endings) or inner in _WRITERS:
        problem, listed = f"{inner}{ending} is not an ending of this output", ", ".join(endings[:-1])
        raise FileError(problem, file=path, remedy=f"end it in {listed} or {endings[-1]}")
    if ending in _PACKAGES:
        optional_library(*_PACKAGES[ending], path, instead="write .csv")


def optional_library(module: str, extra: str, file: str | PathLike | None = None, *, instead: str = "") -> Any:
    """Return an optional library; if it is missing, raise FileError with the command that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        remedy = f'install it: pip install "seqkern[{extra}]"{instead and f", or {instead}"}'
        raise FileError(f"needs the package {module.partition('.')[0]}", file=file, remedy=remedy) from error


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
    openpyxl = optional_library("openpyxl", "excel", instead="save the table as CSV")
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
