"""Text files: plain, compressed (recognised by their first bytes) or standard input."""

from __future__ import annotations

import bz2
import contextlib
import csv
import gzip
import hashlib
import io
import itertools
import lzma
import sys
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from seqkern.core.errors import FileError, SequenceError

if TYPE_CHECKING:
    from seqkern.core.types import PathLike, Source

OPENERS: dict[bytes, Callable[[Any], Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
BINARY_BYTES = bytes(range(7)) + bytes(range(14, 27))
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
HEAD = 4096
ZIP = b"PK\x03\x04"
OLD_OFFICE = b"\xd0\xcf\x11\xe0"
"""How Excel's .xls and Word's .doc begin."""
LARGEST_SMALL_SHEET = 100_000_000
MOST_PACKED = 100
"""Bytes of an Excel file unpacked, and how often more than packed: sheets have about ten times as many."""
MOST_ROWS = 1 << 20
"""Of an Excel sheet."""
SAVE = "save the text as plain text, or the table as CSV"
OFFICE = {
    b"xl/": ("an Excel file", "save the sheet as CSV, or sequences as plain text"),
    b"word/": ("a Word file", "save it as plain text"),
    b"opendocument.spreadsheet": ("a LibreOffice spreadsheet", "save the sheet as CSV, or sequences as plain text"),
    b"opendocument.text": ("a LibreOffice document", "save it as plain text"),
}
"""Zip archives of office programs, by what occurs near their beginning."""
BINARY_FORMATS = {
    b"BAM\x01": ("BAM", "convert it: samtools fasta reads.bam > reads.fa"),
    b"CRAM": ("CRAM", "convert it: samtools fasta reads.cram > reads.fa"),
    b"\x43\x27\x41\x1a": (".2bit", "convert it: twoBitToFa genome.2bit genome.fa"),
    b"\x1a\x41\x27\x43": (".2bit", "convert it: twoBitToFa genome.2bit genome.fa"),
    b"\x26\xfc\x8f\x88": ("bigWig", "convert it: bigWigToBedGraph values.bw values.bedgraph"),
    b"\x88\x8f\xfc\x26": ("bigWig", "convert it: bigWigToBedGraph values.bw values.bedgraph"),
    b"BCF": ("BCF", "convert it: bcftools view variants.bcf > variants.vcf"),
    b"%PDF": ("PDF", SAVE),
    ZIP: ("a zip archive", "unpack it, and give the file inside"),
    OLD_OFFICE: ("a Word or Excel file", SAVE),
}
"""Formats that are not text, by their first bytes, with the remedy."""


@contextlib.contextmanager
def open_lines(source: Source) -> Iterator[tuple[Iterator[str], str]]:
    r"""Open a text and return its lines; problems while reading become one-line errors.

    Parameters
    ----------
    source : path-like, ``"-"`` or file object
        ``"-"`` is standard input. A file object may be binary or text, and stays open.

    Yields
    ------
    lines : iterator of str
        Ending in ``"\n"``, whatever the file's line endings. Bytes that are not UTF-8 appear as ``\xNN``.
    name : str
        Name of the source in messages.

    Raises
    ------
    FileError
        If the file is missing, unreadable, truncated, corrupted, or not text.
    SequenceError
        If it is empty.

    Examples
    --------
    >>> import io
    >>> with open_lines(io.StringIO(">d1\nACGT\n")) as (lines, name):
    ...     name, list(lines)
    ('input', ['>d1\n', 'ACGT\n'])
    """
    with open_text(source) as (text, name):
        yield _not_empty(iter(text), name), name


@contextlib.contextmanager
def open_text(source: Source) -> Iterator[tuple[Any, str]]:
    """Open a text like `open_lines`, for reading blocks of any size: lines may be longer than memory.

    Parameters
    ----------
    source : path-like, ``"-"`` or file object
        As for `open_lines`.

    Yields
    ------
    text : text file object
    name : str
        Name of the source in messages.

    Raises
    ------
    FileError
        As for `open_lines`.
    """
    name = source_name(source)
    with contextlib.ExitStack() as stack, _reading(name):
        binary = _open_binary(source, stack)
        if binary is None:
            yield source, name
            return
        head = binary.peek(HEAD)
        for magic, opener in OPENERS.items():
            if head.startswith(magic):
                binary = stack.enter_context(opener(binary))
                head = binary.peek(HEAD)
                break
        if any(map(head.startswith, BINARY_FORMATS)) or (
            len(head[:HEAD].translate(None, BINARY_BYTES)) < len(head[:HEAD])
        ):
            raise _not_text(head, name)
        text = io.TextIOWrapper(binary, encoding="utf-8-sig", errors="backslashreplace")
        stack.callback(text.detach)
        yield text, name


def _not_text(head: bytes, name: str) -> FileError:
    """Return the error for a file that is not text."""
    for mark, (noun, remedy) in OFFICE.items() if head.startswith(ZIP) else ():
        if mark in head:
            return FileError(f"is {noun}, not text", file=name, remedy=remedy)
    for magic, (noun, remedy) in BINARY_FORMATS.items():
        if head.startswith(magic):
            return FileError(f"is {noun}, not text", file=name, remedy=remedy)
    if head.startswith(UTF_16) or _is_utf_16(head):
        remedy = "save it as UTF-8 (in Notepad: Save as, Encoding: UTF-8)"
        return FileError("is text in UTF-16 or UTF-32, not in UTF-8", file=name, remedy=remedy)
    return FileError("is a binary file, not text", file=name, remedy="give FASTA or TSV, unpacked or as .gz, .bz2, .xz")


def _is_utf_16(head: bytes) -> bool:
    """Return whether every other byte is zero and the others are a text's, as in UTF-16 without a mark."""
    some = head[: len(head) // 2 * 2]
    halves = some[::2], some[1::2]
    return any(
        bool(text) and not any(zeros) and text.translate(None, BINARY_BYTES) == text
        for zeros, text in (halves, halves[::-1])
    )


def source_name(source: Source) -> str:
    """Return the name of a source in messages.

    Parameters
    ----------
    source : path-like, ``"-"`` or file object
        As for `open_lines`.

    Returns
    -------
    str

    Examples
    --------
    >>> source_name("-"), source_name("donors.fa")
    ('standard input', 'donors.fa')
    """
    if str(source) == "-":
        return "standard input"
    return str(getattr(source, "name", "input")) if hasattr(source, "read") else str(source)


def _open_binary(source: Source, stack: contextlib.ExitStack) -> Any:
    """Return a buffered binary reader, or None if `source` is a text handle."""
    raw: Any
    if not hasattr(source, "read"):
        raw = _standard_input() if str(source) == "-" else stack.enter_context(Path(source).open("rb"))  # noqa: SIM115
    elif isinstance(source, io.TextIOBase):
        return None
    else:
        raw = source
    if hasattr(raw, "peek"):
        return raw
    buffered = io.BufferedReader(raw)
    stack.callback(buffered.detach)
    return buffered


def _standard_input() -> BinaryIO:
    """Return standard input as a binary reader; raise FileError if it is closed."""
    if sys.stdin is None:
        raise FileError("is closed", file="standard input", remedy="give a file")
    return sys.stdin.buffer


def _not_empty(lines: Iterator[str], name: str) -> Iterator[str]:
    """Return an iterator over `lines` from the first that is not blank; raise SequenceError if all are blank."""
    for line in lines:
        if line.strip():
            return itertools.chain([line], lines)
    raise SequenceError("is empty", file=name, remedy="check how the file was created")


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
            rows = _rows_of_sheet(openpyxl.load_workbook(file, read_only=True, data_only=True))
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


def _rows_of_sheet(book: Any) -> list[dict[int, str]]:
    """Return the cells of the first sheet by column, without empty cells and rows."""
    rows: list[dict[int, str]] = []
    try:
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # the file may state others than it has
        for number, row in enumerate(sheet.iter_rows(values_only=True)):
            if number >= MOST_ROWS:  # a damaged number of a row makes empty ones without end
                raise ValueError("too many rows")
            cells = {j: _cell_text(value) for j, value in enumerate(row) if value is not None}
            cells = {j: text for j, text in cells.items() if text}
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


def file_sha256(path: PathLike) -> str:
    """Return the SHA-256 of a file's bytes, hexadecimal.

    Parameters
    ----------
    path : path-like
        Read as it is, without decompression.

    Returns
    -------
    str
        64 digits.

    Raises
    ------
    FileError
        If the file cannot be read.
    """
    with _reading(str(path)), Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def _reading(name: str) -> Iterator[None]:
    """Convert errors of the standard library while reading to FileError."""
    try:
        yield
    except FileNotFoundError as error:
        raise FileError("no such file", file=name, remedy="check the path") from error
    except EOFError as error:
        raise FileError("is truncated", file=name, remedy="copy or download it again") from error
    except FileError:
        raise
    except (zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise FileError("is corrupted", file=name, remedy="copy or download it again") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise FileError(f"cannot be read: {reason}", file=name, remedy="check the file") from error
