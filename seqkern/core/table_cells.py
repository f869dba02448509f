"""Tables as cells: text separated by tabs, semicolons or commas, or the first sheet of an Excel file."""

from __future__ import annotations

import csv
import itertools
import warnings
import zipfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from seqkern.core.errors import FileError, SequenceError
from seqkern.core.text_files import open_lines, source_name

if TYPE_CHECKING:
    from seqkern.core.types import Source

LARGEST_SMALL_SHEET = 100_000_000
MOST_PACKED = 100
"""Bytes of an Excel file unpacked, and how often more than packed: sheets have about ten times as many."""
MOST_EMPTY, EMPTY_FOR_EACH = 500_000, 10
"""Empty cells and rows of an Excel sheet, and more of them for each cell with text."""


def read_cells(source: Source) -> list[list[str]]:
    r"""Read a table: text separated by tabs, semicolons or commas, or the first sheet of an Excel file (.xlsx).

    Blank lines are skipped. What separates the cells is found out from the first line: tabs, if it has one, else
    semicolons, else commas; cells between these may be quoted.

    Parameters
    ----------
    source : path-like, ``"-"`` or file object
        As for `open_lines`.

    Returns
    -------
    list of list of str
        The cells of each line, starting with the header if there is one.

    Raises
    ------
    FileError, SequenceError
        As for `open_lines`; also if a line has more or fewer cells than the first.

    Examples
    --------
    >>> import io
    >>> read_cells(io.StringIO("id\tlabel\nd1\tdonor\n")), read_cells(io.StringIO('id;label\nd1;"a; b"\n'))
    ([['id', 'label'], ['d1', 'donor']], [['id', 'label'], ['d1', 'a; b']])
    """
    if is_excel(source):
        return _excel_cells(source)
    with open_lines(source) as (lines, name):
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
                raise SequenceError(f"is not CSV: {error}", file=name, remedy="check the quotes") from error
    if not rows:
        raise SequenceError("has no cell with text", file=name, remedy="check how the file was created")
    width = len(rows[0][1])
    between = {"\t": "tabs", ";": "semicolons", ",": "commas"}[mark]
    for i, row in rows:
        if len(row) != width:
            raise SequenceError(
                f"line {i} has {len(row)} cells, the first line has {width}",
                file=name,
                remedy=f"use {between} between cells, also around empty cells",
            )
    return [row for _, row in rows]


def is_excel(source: Source) -> bool:
    """Return whether a path is that of an Excel file (.xlsx), by its content.

    Parameters
    ----------
    source : path-like, ``"-"`` or file object
        False for the last two.

    Returns
    -------
    bool

    Examples
    --------
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
    """Return the cells of the first sheet, without rows and columns that are empty."""
    name = source_name(source)
    try:
        import openpyxl  # imported here for fast start-up
    except ImportError as error:
        raise FileError(
            "is an Excel file, which needs the package openpyxl",
            file=name,
            remedy='install it: pip install "seqkern[excel]", or save the table as CSV',
        ) from error
    try:
        _check_unpacked(source)
        with warnings.catch_warnings(), open(source, "rb") as file:  # by its content, whatever its name
            warnings.simplefilter("ignore")  # such as styles that are not known
            rows = _rows_of_sheet(openpyxl.load_workbook(file, read_only=True, data_only=True), name)
    except FileError:
        raise
    except Exception as error:  # damaged or hostile files raise almost anything
        raise FileError("is not a valid Excel file", file=name, remedy="save the table as CSV") from error
    used = sorted({j for row in rows for j in row})
    if not used:
        raise SequenceError("has an empty first sheet", file=name, remedy="put the table on the first sheet")
    return [[row.get(j, "") for j in used] for row in rows]


def _check_unpacked(source: Any) -> None:
    """Raise FileError for an Excel file whose parts would fill the memory."""
    with zipfile.ZipFile(source) as archive:
        size = sum(part.file_size for part in archive.infolist())
        packed = sum(part.compress_size for part in archive.infolist())
    if size > max(LARGEST_SMALL_SHEET, MOST_PACKED * packed):
        raise FileError(
            f"unpacks to {size / 1e6:.0f} MB, far more than a table of its size",
            file=source_name(source),
            remedy="save the table as CSV",
        )


def _rows_of_sheet(book: Any, name: str) -> list[dict[int, str]]:
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
                    file=name,
                    remedy="delete the empty rows and columns, or save the table as CSV",
                )
            if cells:
                rows.append(cells)
    finally:
        book.close()
    return rows


def _cell_text(value: Any) -> str:
    """Return the text of a cell; numbers without a fraction as integers."""
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if whole else value).strip()


def check_columns(header: Sequence[str], name: str) -> None:
    """Raise an error for a table with duplicate column names.

    Parameters
    ----------
    header : sequence of str
        The column names.
    name : str
        Name of the table in messages.

    Raises
    ------
    SequenceError
        If there are duplicates.
    """
    twice = [column for i, column in enumerate(header) if column in header[:i]]
    if twice:
        raise SequenceError(f"has two columns named {twice[0]!r}", file=name, remedy="rename one")
