r"""The lines, or records, of one part of a text file, found without an index.

The file is divided by bytes; files of bgzip by compressed bytes, at the blocks of the compression. A part has the lines
that begin after its first byte, up to the one that begins at the first byte of the next part: every job finds the
same borders by reading a few bytes around them. Of files in another compression the borders are places in the
unpacked text, so that each job unpacks the file from its start, twice: to measure it, and to read.
"""

from __future__ import annotations

import io
import os
import struct
import zlib
from collections.abc import Iterator
from typing import IO, Any

from seqkern.core.errors import FileError
from seqkern.core.part import Part
from seqkern.core.text_files import OPENERS, open_text
from seqkern.core.types import PathLike

CHUNK = 1 << 20
MEMBER = b"\x1f\x8b\x08\x04"
HEADER, FOOTER = 18, 8
"""Bytes before and after the compressed data of a block of bgzip."""
LARGEST = 1 << 16
"""Of a block."""

Sections = Iterator[tuple[bytes, bool]]
"""Bytes from the begin of a part on, and whether they lie before the begin of the next one."""


class Chunks(io.RawIOBase):
    """Bytes that come in chunks, as a file.

    Parameters
    ----------
    chunks : iterator of bytes
        Read once.
    name : str
        For messages.
    """

    def __init__(self, chunks: Iterator[bytes], name: str) -> None:
        self._chunks, self._rest, self.name = chunks, memoryview(b""), name

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer.

        Parameters
        ----------
        buffer : writable buffer
            To be filled.

        Returns
        -------
        int
            Number of bytes; 0 at the end.
        """
        while not len(self._rest):
            data = next(self._chunks, None)
            if data is None:
                return 0
            self._rest = memoryview(data)
        n = min(len(buffer), len(self._rest))
        buffer[:n], self._rest = self._rest[:n], self._rest[n:]
        return n


def open_span(path: PathLike, part: Part, mark: bytes = b"") -> IO[bytes]:
    r"""Open one part of a text file.

    Parameters
    ----------
    path : path-like
        Plain or compressed.
    part : Part
        Which one.
    mark : bytes of length 0 or 1
        How the first line of a record begins; by default each line is a record.

    Returns
    -------
    binary file object
        The records of the part, unpacked. Those of all parts, one after another, are the file.

    Raises
    ------
    FileError
        If the file is missing, or damaged.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "some.fa"
    ...     _ = path.write_text(">a\nACGT\n>b\nAC\nGT\n>c\nA\n")
    ...     [open_span(path, Part(i, 2), b">").read() for i in (1, 2)]
    [b'>a\nACGT\n>b\nAC\nGT\n', b'>c\nA\n']
    """
    return io.BufferedReader(Chunks(_records(_sections(path, part), part.number == 1, mark), str(path)), CHUNK)


def count_before(path: PathLike, part: Part, mark: bytes) -> int:
    """Return the number of records in the parts before one; they are read through.

    Parameters
    ----------
    path, part, mark
        As for `open_span`.

    Returns
    -------
    int
    """
    count = 0
    for number in range(1, part.number):
        last = b"\n"
        with open_span(path, Part(number, part.of), mark) as file:
            while data := file.read(CHUNK):
                count += (last + data).count(b"\n" + mark)
                last = data[-1:]
    return count


def _records(sections: Sections, begun: bool, mark: bytes) -> Iterator[bytes]:
    """Yield from the first line break that a record follows, to the first such one in the next part."""
    edge, held = b"\n" + mark, b""  # held: a line break whose next byte is not known yet
    for data, inside in sections:
        if not begun:
            found = (held + data).find(edge)
            if not inside and (found < 0 or not held or found > 0):
                return
            if found < 0:
                held = data[-1:] if mark and data.endswith(b"\n") else held if not data else b""
                continue
            data, held, begun = (held + data)[found + 1 :], b"", True
            if inside:
                yield data
                continue
        if inside:
            yield data
            continue
        data, held = held + data, b""
        found = data.find(edge)
        if found >= 0:
            yield data[: found + 1]
            return
        if mark and data.endswith(b"\n"):
            data, held = data[:-1], b"\n"
        yield data
    if begun:
        yield held


def _sections(path: PathLike, part: Part) -> Sections:
    """Yield the bytes from the begin of a part on."""
    try:
        with open(path, "rb") as file:
            head = file.read(HEADER)
            size = os.fstat(file.fileno()).st_size
            if _is_member(head):
                yield from _of_members(file, size, part)
                return
            if not any(map(head.startswith, OPENERS)):
                file.seek(size * (part.number - 1) // part.of)
                yield from _of_bytes(file, size * part.number // part.of - file.tell())
                return
        yield from _unpacked(path, part)
    except FileNotFoundError as error:
        raise FileError("no such file", file=path, remedy="check the path") from error
    except (zlib.error, struct.error, EOFError) as error:
        raise FileError("is truncated or corrupted", file=path, remedy="copy it again") from error


def _of_bytes(file: Any, n: int) -> Sections:
    """Yield bytes of a plain file, of which the first `n` belong to the part."""
    while n > 0 and (data := file.read(min(CHUNK, n))):
        yield data, True
        n -= len(data)
    while data := file.read(LARGEST):
        yield data, False


def _of_members(file: Any, size: int, part: Part) -> Sections:
    """Yield the unpacked blocks of bgzip."""
    place, stop = _next_member(file, size * (part.number - 1) // part.of, size), size * part.number // part.of
    while place < size:
        file.seek(place)
        packed = file.read(LARGEST)
        length = _member_length(packed)
        if not _is_member(packed) or length > len(packed):
            raise EOFError
        data = zlib.decompress(packed[HEADER : length - FOOTER], -15)
        if struct.unpack("<I", packed[length - FOOTER : length - 4])[0] != zlib.crc32(data):
            raise EOFError
        yield data, place < stop
        place += length


def _next_member(file: Any, place: int, size: int) -> int:
    """Return where the first block at or after a place begins: what looks like one, and is followed by one."""
    file.seek(place)
    data = file.read(3 * LARGEST)
    found = data.find(MEMBER)
    while found >= 0:
        head = data[found : found + HEADER]
        if _is_member(head):
            after = found + _member_length(head)
            if place + after == size or _is_member(data[after : after + HEADER]):
                return int(place + found)
        found = data.find(MEMBER, found + 1)
    return size


def _is_member(data: bytes) -> bool:
    """Return whether a block of bgzip begins here."""
    return len(data) >= HEADER and data.startswith(MEMBER) and data[10:16] == b"\x06\0BC\x02\0"


def _member_length(data: bytes) -> int:
    """Return the length of a block of bgzip in the file."""
    return int(struct.unpack("<H", data[16:18])[0]) + 1


def _unpacked(path: PathLike, part: Part) -> Sections:
    """Yield the text of a file in another compression, unpacked from its start."""
    size = 0
    with open_text(path) as (text, _):
        while data := text.buffer.read(CHUNK):
            size += len(data)
    with open_text(path) as (text, _):
        place, start, stop = 0, size * (part.number - 1) // part.of, size * part.number // part.of
        while data := text.buffer.read(CHUNK):
            low, high = max(start - place, 0), max(stop - place, 0)
            place += len(data)
            if data[low:high]:
                yield data[low:high], True
            if data[high:]:
                yield data[high:], False
