"""Text files: plain, compressed (recognised by their first bytes) or standard input."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import hashlib
import io
import itertools
import lzma
import sys
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
        if len(head[:HEAD].translate(None, BINARY_BYTES)) < len(head[:HEAD]):
            raise FileError(
                "is a binary file, not text",
                file=name,
                remedy="save it as UTF-8"
                if head.startswith(UTF_16)
                else "give FASTA or TSV, unpacked or as .gz, .bz2, .xz",
            )
        text = io.TextIOWrapper(binary, encoding="utf-8-sig", errors="backslashreplace")
        stack.callback(text.detach)
        yield text, name


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
    r"""Read a table of tab-separated text; blank lines are skipped.

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
        As for `open_lines`; also if a line has more or fewer cells than the first, or the cells are not separated by
        tabs.

    Examples
    --------
    >>> import io
    >>> read_cells(io.StringIO("id\tlabel\nd1\tdonor\n"))
    [['id', 'label'], ['d1', 'donor']]
    """
    with open_lines(source) as (lines, name):
        rows = [(i, line.rstrip("\n").split("\t")) for i, line in enumerate(lines, start=1) if line.strip()]
    width = len(rows[0][1])
    if width == 1 and any(mark in rows[0][1][0] for mark in ",;"):
        raise SequenceError("has no tab in its first line", file=name, remedy="use tabs between cells")
    for i, row in rows:
        if len(row) != width:
            raise SequenceError(
                f"line {i} has {len(row)} cells, the first line has {width}",
                file=name,
                remedy="use tabs between cells, also around empty cells",
            )
    return [row for _, row in rows]


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
