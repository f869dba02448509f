"""Text files: plain, compressed (recognised by their first bytes) or standard input."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import hashlib
import importlib
import io
import itertools
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from seqkern.core.errors import FileError, SequenceError, naming, reading

if TYPE_CHECKING:
    from seqkern.core.types import PathLike, Source


def _open_zst(file: Any) -> Any:
    """Open a file that is compressed by zstd, by the module of Python 3.14 or its backport."""
    for name in ("compression.zstd", "backports.zstd"):
        with contextlib.suppress(ImportError):
            return importlib.import_module(name).open(file, "rb")
    remedy = 'install it: pip install "seqkern[zstd]", or unpack the file: zstd -d FILE'
    raise FileError("is compressed by zstd, which needs the package backports.zstd", remedy=remedy)


OPENERS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"\x28\xb5\x2f\xfd": _open_zst,
}
DAMAGED = zlib.error, lzma.LZMAError, gzip.BadGzipFile
PACKED = (".gz", ".bz2", ".xz", ".zst")
"""Endings of compressed text."""
BINARY_BYTES = bytes(range(7)) + bytes(range(14, 27))
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
HEAD = 4096
ZIP = b"PK\x03\x04"
OWN = b"json.npy"
"""The first entry of an archive of seqkern, whose name begins at byte `OWN_PLACE`."""
OWN_PLACE = 30
GIVE_TEXT = "give sequences (FASTA) or a table here"
OLD_OFFICE = b"\xd0\xcf\x11\xe0"
"""First bytes of Excel's .xls and Word's .doc."""
SAVE = "save the text as plain text, or the table as CSV"
OFFICE = {
    b"xl/": ("an Excel file", "save the sheet as CSV, or sequences as plain text"),
    b"word/": ("a Word file", "save it as plain text"),
    b"opendocument.spreadsheet": ("a LibreOffice spreadsheet", "save the sheet as CSV, or sequences as plain text"),
    b"opendocument.text": ("a LibreOffice document", "save it as plain text"),
}
"""Zip archives of office programs, by text near their beginning."""
BINARY_FORMATS = {
    b"BAM\x01": ("BAM", "convert it: samtools fasta reads.bam > reads.fa"),
    b"CRAM": ("CRAM", "convert it: samtools fasta reads.cram > reads.fa"),
    b"\x43\x27\x41\x1a": (".2bit", "convert it: twoBitToFa genome.2bit genome.fa"),
    b"\x1a\x41\x27\x43": (".2bit", "convert it: twoBitToFa genome.2bit genome.fa"),
    b"\x26\xfc\x8f\x88": ("bigWig", "convert it: bigWigToBedGraph values.bw values.bedgraph"),
    b"\x88\x8f\xfc\x26": ("bigWig", "convert it: bigWigToBedGraph values.bw values.bedgraph"),
    b"BCF": ("BCF", "convert it: bcftools view variants.bcf > variants.vcf"),
    b"%PDF": ("PDF", SAVE),
    b"\x93NUMPY": ("a NumPy array, such as a Gram matrix", GIVE_TEXT),
    ZIP: ("a zip archive", "unpack it, and give the file inside"),
    OLD_OFFICE: ("a Word or Excel file", SAVE),
}
"""Formats that are not text, by their first bytes, with the remedy."""


@contextlib.contextmanager
def open_lines(source: Source) -> Iterator[tuple[Iterator[str], str]]:
    r"""Open a text and yield its lines and its name for messages; reading problems become one-line errors.

    Lines end in ``"\n"``, whatever the file's line endings; bytes that are not UTF-8 appear as ``\xNN``.

    >>> import io
    >>> with open_lines(io.StringIO(">d1\nACGT\n")) as (lines, name):
    ...     name, list(lines)
    ('input', ['>d1\n', 'ACGT\n'])
    """
    with open_text(source) as (text, name):
        yield _not_empty(iter(text)), name


@contextlib.contextmanager
def open_text(source: Source) -> Iterator[tuple[Any, str]]:
    """Open a text like `open_lines`, for reading blocks of any size: lines may be longer than memory."""
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
            raise _not_text(head)
        text = io.TextIOWrapper(binary, encoding="utf-8-sig", errors="backslashreplace")
        stack.callback(text.detach)
        yield text, name


def _not_text(head: bytes) -> FileError:
    """Return the error for a file that is not text."""
    if head.startswith(ZIP) and head[OWN_PLACE:].startswith(OWN):
        return FileError("is a model or data set of seqkern, not text", remedy=GIVE_TEXT)
    known = [form for mark, form in OFFICE.items() if head.startswith(ZIP) and mark in head]
    known += [form for magic, form in BINARY_FORMATS.items() if head.startswith(magic)]
    if known:
        return FileError(f"is {known[0][0]}, not text", remedy=known[0][1])
    if head.startswith(UTF_16) or _is_utf_16(head):
        remedy = "save it as UTF-8 (in Notepad: Save as, Encoding: UTF-8)"
        return FileError("is text in UTF-16 or UTF-32, not in UTF-8", remedy=remedy)
    return FileError("is a binary file, not text", remedy="give FASTA or TSV, unpacked or as .gz, .bz2, .xz, .zst")


def _is_utf_16(head: bytes) -> bool:
    """Return whether every other byte is zero and the rest is text, as in UTF-16 without a byte-order mark."""
    some = head[: len(head) // 2 * 2]
    halves = some[::2], some[1::2]
    return any(
        bool(text) and not any(zeros) and text.translate(None, BINARY_BYTES) == text
        for zeros, text in (halves, halves[::-1])
    )


def source_name(source: Source) -> str:
    """Return the name of a source in messages.

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


def _not_empty(lines: Iterator[str]) -> Iterator[str]:
    """Return an iterator over `lines` from the first non-blank line; raise SequenceError if all are blank."""
    for line in lines:
        if line.strip():
            return itertools.chain([line], lines)
    raise SequenceError("is empty", remedy="check how the file was created")


def file_sha256(path: PathLike) -> str:
    """Return the SHA-256 of a file's bytes, 64 hexadecimal digits, without decompression."""
    with _reading(str(path)), Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def _reading(name: str) -> Iterator[None]:
    """Name the file in errors of the body that name none, and turn errors of the standard library into FileError."""
    with naming(name), reading(name, "check the file"):
        try:
            yield
        except EOFError as error:
            raise FileError("is truncated", remedy="copy or download it again") from error
        except Exception as error:
            if isinstance(error, DAMAGED) or type(error).__name__ == "ZstdError":
                raise FileError("is corrupted", remedy="copy or download it again") from error
            raise


# Standard output as a file name (``-o -``): it receives the table, and all other output goes to standard error.

NAME = "-"

_kept: list[TextIO] = []


def is_standard_output(path: PathLike) -> bool:
    """Return whether an output path stands for standard output.

    >>> is_standard_output("-"), is_standard_output("./-")
    (True, False)
    """
    return str(path) == NAME


def standard_output() -> TextIO:
    """Return standard output, also inside `table_on_standard_output`."""
    out = _kept[-1] if _kept else sys.stdout
    if out is None:
        raise FileError("standard output is closed", remedy="give a file: -o FILE")
    return out


@contextlib.contextmanager
def table_on_standard_output() -> Iterator[None]:
    """Redirect printed text to standard error, so that standard output holds only the table."""
    _kept.append(standard_output())
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        _kept.pop().flush()


def is_one_file(first: PathLike | None, second: PathLike | None) -> bool:
    """Return whether two paths name the same file."""
    if first is None or second is None:
        return False
    return os.path.isfile(first) and os.path.isfile(second) and os.path.samefile(first, second)
