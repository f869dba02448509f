"""Outputs made by several jobs, or by one job that was killed and resumed."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import struct
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple, TextIO

from seqkern.core.archive import atomic_write, canonical_json, check_writable, unwritable
from seqkern.core.checkpoint import note_kept
from seqkern.core.checks import whole_number
from seqkern.core.errors import FileError, ParameterError, SeqkernError, near_file
from seqkern.core.file_kinds import ANY
from seqkern.core.interruption import remove_tree
from seqkern.core.text_files import OPENERS, file_sha256, open_text
from seqkern.core.types import PathLike

# The parts of a job, written ``3/7``.


class Part(NamedTuple):
    """A part of a job, numbered from 1.

    >>> part = Part.parse("2/3")
    >>> part, str(part), part.span(10)
    (Part(number=2, of=3), '2/3', (4, 7))
    """

    number: int  # From 1
    of: int  # How many parts there are

    @classmethod
    def parse(cls, text: str) -> Part:
        """Return the part described by a text such as ``3/7``."""
        numbers = [number for one in text.split("/") if (number := whole_number(one)) is not None]
        if len(numbers) != 2 or text.count("/") != 1:
            raise ParameterError(f"{text!r} is not a part", remedy="write I/N, such as 3/7")
        part = cls(*numbers)
        if not 1 <= part.number <= part.of:
            raise ParameterError(f"{text!r} is not a part", remedy="write I/N with I from 1 to N")
        return part

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def span(self, n: int) -> tuple[int, int]:
        """Return the (start, stop) of the part among n items; the first part is empty only if there are none."""
        return -(-n * (self.number - 1) // self.of), -(-n * self.number // self.of)


# The lines, or records, of one part of a text file, found without an index.
#
# The file is divided by bytes; bgzip files by compressed bytes, at block boundaries. A part has the lines that begin
# after its first byte, up to the line that begins at the first byte of the next part: every job finds the same borders
# by reading a few bytes around them. With other compressions the borders are places in the unpacked text, so that each
# job unpacks the file from its start, twice: to measure it, and to read.

CHUNK = 1 << 20
MEMBER = b"\x1f\x8b\x08\x04"
HEADER, FOOTER = 18, 8
"""Bytes before and after the compressed data of a block of bgzip."""
LARGEST = 1 << 16
"""Maximum bytes of a block."""

Sections = Iterator[tuple[bytes, bool]]
"""Bytes from the beginning of a part, and whether they lie before the beginning of the next one."""


class Chunks(io.RawIOBase):
    """A binary file object over an iterator of chunks of bytes."""

    def __init__(self, chunks: Iterator[bytes], name: str) -> None:
        self._chunks, self._rest, self.name = chunks, memoryview(b""), name

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, and return the number of bytes; 0 at the end."""
        while not len(self._rest):
            data = next(self._chunks, None)
            if data is None:
                return 0
            self._rest = memoryview(data)
        n = min(len(buffer), len(self._rest))
        buffer[:n], self._rest = self._rest[:n], self._rest[n:]
        return n


def open_span(path: PathLike, part: Part, mark: bytes = b"") -> IO[bytes]:
    """Return one part of a plain or compressed text file as an unpacked binary file.

    `mark` is the first byte of a record's first line; by default each line is a record. The parts, one after another,
    are the whole file.
    """
    return io.BufferedReader(Chunks(_records(_sections(path, part), part.number == 1, mark), str(path)), CHUNK)


def count_before(path: PathLike, part: Part, mark: bytes) -> int:
    """Return the number of records in the parts before a given one, by reading them."""
    count = 0
    for number in range(1, part.number):
        last = b"\n"
        with open_span(path, Part(number, part.of), mark) as file:
            while data := file.read(CHUNK):
                count += (last + data).count(b"\n" + mark)
                last = data[-1:]
    return count


def _records(sections: Sections, begun: bool, mark: bytes) -> Iterator[bytes]:
    """Yield the bytes from the first line break before a record to the first such one in the next part."""
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
    """Yield the bytes from the beginning of a part onwards."""
    try:
        with open(path, "rb") as file:
            head = file.read(HEADER)
            size = os.fstat(file.fileno()).st_size
            if _is_member(head):
                yield from _bgzip_blocks(file, size, part)
                return
            if not any(map(head.startswith, OPENERS)):
                file.seek(size * (part.number - 1) // part.of)
                yield from _byte_blocks(file, size * part.number // part.of - file.tell())
                return
        yield from _unpacked(path, part)
    except FileNotFoundError as error:
        raise FileError("no such file", file=path, remedy=near_file(path)) from error
    except (zlib.error, struct.error, EOFError) as error:
        raise FileError("is truncated or corrupted", file=path, remedy="copy it again") from error


def _byte_blocks(file: Any, n: int) -> Sections:
    """Yield bytes of a plain file; the first `n` belong to the part."""
    while n > 0 and (data := file.read(min(CHUNK, n))):
        yield data, True
        n -= len(data)
    while data := file.read(LARGEST):
        yield data, False


def _bgzip_blocks(file: Any, size: int, part: Part) -> Sections:
    """Yield the unpacked blocks of a bgzip file."""
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
    """Return the start of the first bgzip block at or after a place: a block header followed by another block."""
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
    """Return the compressed length of a bgzip block."""
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


# A text file written block by block, so that a killed run resumes after its last complete block.
#
# Until it is complete, the text is in ``.NAME.part`` beside the file, and ``.NAME.part.json`` records how much of it is
# valid, and for which job. Only one process at a time writes there; a second one with the same output writes as
# `atomic_write` does, as for devices and pipes.

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

INTERVAL = 5.0
"""Seconds between two records of the complete blocks: a short run leaves none."""


class PartFile:
    """A file in progress; `complete` is the number of blocks that an earlier run has already written."""

    def __init__(
        self,
        write: Callable[[str], object],
        file: TextIO | None = None,
        state: Path | None = None,
        identity: Callable[[], str] = str,
        complete: int = 0,
    ) -> None:
        self.complete = complete
        self._write, self._file, self._state, self._identity = write, file, state, identity
        self._ended = complete, 0 if file is None else file.tell()  # blocks, and their bytes
        self._recorded = time.monotonic(), complete

    def write(self, text: str) -> None:
        """Write some text of a block."""
        self._write(text)

    def end_block(self) -> None:
        """End a block, after which a later run can resume."""
        if self._file is None:
            return
        self._file.flush()
        self._ended = self._ended[0] + 1, os.fstat(self._file.fileno()).st_size
        if time.monotonic() - self._recorded[0] >= INTERVAL:
            self.record()

    def record(self) -> None:
        """Record the number of complete blocks."""
        blocks, size = self._ended
        if self._file is None or self._state is None or blocks == self._recorded[1]:
            return
        os.fsync(self._file.fileno())
        with atomic_write(self._state, "w") as file:
            json.dump({"identity": self._identity(), "blocks": blocks, "bytes": size}, file)
        self._recorded = time.monotonic(), blocks
        note_kept()


@contextlib.contextmanager
def resumable_write(path: str | Path, identity: Callable[[], str] | None) -> Iterator[PartFile]:
    """Open a file that is written in blocks; it gets its name when complete.

    The caller skips the first `complete` blocks of the PartFile, and ends each other one. `identity` is None if the job
    cannot be resumed.
    """
    path = Path(path)
    check_writable(path)
    made = [folder for folder in path.absolute().parents if not folder.exists()]
    unfinished = path.with_name(f".{path.name}.part")
    held = _hold(unfinished) if identity is not None and not _is_special(path) else None
    if identity is None or held is None:
        with atomic_write(path, "w") as file:
            yield PartFile(file.write)
        return
    state = path.with_name(f"{unfinished.name}.json")
    part = _opened(held, state, identity)
    try:
        yield part
        held.flush()
        os.replace(unfinished, path)
        state.unlink(missing_ok=True)
        made = []
    except SeqkernError:  # another run would fail in the same way
        state.unlink(missing_ok=True)
        raise
    except OSError as error:
        raise unwritable(path, error) from error
    except BaseException:
        with contextlib.suppress(Exception):  # such as a full disk
            part.record()
        raise
    finally:
        with contextlib.suppress(OSError):
            if not state.exists():
                unfinished.unlink(missing_ok=True)
                for folder in made:  # folders with other content stay
                    folder.rmdir()
        with contextlib.suppress(OSError):  # what a full disk did not take is of no use
            held.close()


def _is_special(path: Path) -> bool:
    """Return whether a path is a device or pipe."""
    return path.exists() and not path.is_file()


def _hold(path: Path) -> TextIO | None:
    """Return a file open for writing, locked and not truncated; None if another process has locked it."""
    if fcntl is None:
        return None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        return None
    file = os.fdopen(handle, "r+", encoding="utf-8", errors="backslashreplace", newline="\n")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(handle).st_ino == os.stat(path).st_ino:
            return file
    except OSError:
        pass
    file.close()  # another process has it, or has just renamed it
    return None


def _opened(file: TextIO, state: Path, identity: Callable[[], str]) -> PartFile:
    """Return a PartFile after the complete blocks of an earlier run of the same job, or else an empty one."""
    size = complete = 0
    found: Any = None
    with contextlib.suppress(FileError):
        found = ANY.load_json(state)
    if isinstance(found, dict) and found.get("identity") == identity():
        counts: list[Any] = [found.get("bytes"), found.get("blocks")]
        if all(type(count) is int and count >= 0 for count in counts) and counts[0] <= os.fstat(file.fileno()).st_size:
            size, complete = counts
    if not complete:
        state.unlink(missing_ok=True)
    file.seek(size)
    file.truncate()
    return PartFile(file.write, file, state, identity, complete)


# The finished parts of an output, in a folder beside it, until they are joined.

NOTE = "part.json"
"""File written last, which marks a part as complete."""
JOINED = "joined.json"
"""File written when the output is complete, before the parts are removed; a killed run resumes from it."""
NAME = re.compile(r"(\d+)-of-(\d+)")


class PartFolder:
    """The folder ``OUTPUT.parts``, with a subfolder such as ``3-of-7`` for each part.

    `identity` holds digests of what the output depends on, by name, such as ``model``.
    """

    def __init__(self, output: PathLike, identity: Mapping[str, str]) -> None:
        self.output = Path(output)
        self.folder = self.output.with_name(f"{self.output.name}.parts")
        self.identity = dict(identity)

    def path(self, part: Part) -> Path:
        """Return the folder of a part."""
        return self.folder / f"{part.number}-of-{part.of}"

    def is_finished(self, part: Part) -> bool:
        """Return whether a part is complete and made of the same input."""
        found = self._note(part)
        return found is not None and found["identity"] == self.identity

    def lock(self, part: Part) -> Path:
        """Return the folder to be locked while a part is made."""
        return self.folder / f".{self.path(part).name}"

    def begin(self, part: Part) -> Path:
        """Return the emptied folder of a part."""
        path = self.path(part)
        (self.folder / JOINED).unlink(missing_ok=True)
        (path / NOTE).unlink(missing_ok=True)
        remove_tree(path)
        return path

    def finish(self, part: Part, notes: Mapping[str, Any]) -> None:
        """Mark a part as complete, with notes for the job that joins the parts."""
        names = self._names(part)
        with atomic_write(self.path(part) / NOTE, "w") as file:
            file.write(canonical_json({"identity": self.identity, "names": names, "notes": dict(notes)}))

    def complete(self) -> tuple[list[str], list[Any]]:
        """Return the file names in each part's folder, and the notes of each part; raise FileError if one is
        missing.
        """
        numbers = self._numbers()
        if not numbers and self.output.is_file():
            raise FileError(
                "no part of it is left, so it may be joined already",
                file=self.output,
                remedy="keep it, or make the parts with --part I/N again",
            )
        if not numbers:
            raise FileError("no part has been made", file=self.output, remedy="make the parts with --part I/N first")
        problems = []
        for of in sorted(numbers, key=lambda of: (-numbers[of], of)):
            notes = [self._note(Part(number, of)) for number in range(1, of + 1)]
            problem = self._problem(notes, of)
            if problem is None:
                return self._names(Part(1, of)), [note["notes"] for note in notes if note is not None]
            problems.append(problem)
        raise problems[0]

    def content(self, name: str, of: int) -> Iterator[bytes]:
        """Yield the bytes of one file over all parts, in order."""
        for number in range(1, of + 1):
            with open(self.path(Part(number, of)) / name, "rb") as file:
                while data := file.read(CHUNK):
                    yield data

    def is_joined(self) -> bool:
        """Return whether these parts have been joined and the output is unchanged since."""
        try:
            found = json.loads((self.folder / JOINED).read_text("utf-8"))
            stamps = {name: file_stamp(self.output.with_name(name)) for name in found["files"]}
            return bool(found == {"identity": self.identity, "files": stamps})
        except (OSError, ValueError, RecursionError, TypeError, KeyError, FileError):
            return False

    def clear(self, names: Iterable[str]) -> None:
        """Remove all parts; `is_joined` stays true until the last one is removed."""
        if not self.is_joined():
            stamps = {name: file_stamp(self.output.with_name(name)) for name in names}
            with contextlib.suppress(FileError), atomic_write(self.folder / JOINED, "w") as file:  # or the disk is full
                file.write(canonical_json({"identity": self.identity, "files": stamps}))
        with contextlib.suppress(OSError):
            for path in self.folder.iterdir():
                if path.is_dir():
                    remove_tree(path, ignore_errors=False)
            for path in self.folder.glob(f".{JOINED}.*"):  # of a killed run
                path.unlink()
            (self.folder / JOINED).unlink(missing_ok=True)

    def _numbers(self) -> dict[int, int]:
        """Return the number of finished parts for each total number of parts."""
        counts: dict[int, int] = {}
        for path in self.folder.glob(f"*/{NOTE}"):
            if match := NAME.fullmatch(path.parent.name):
                counts[int(match[2])] = counts.get(int(match[2]), 0) + 1
        return counts

    def _note(self, part: Part) -> Any:
        """Return the note written by `finish`, or None."""
        try:
            found = json.loads((self.path(part) / NOTE).read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(found, dict) or not {"identity", "names", "notes"} <= found.keys():
            return None
        # another process may have begun the same part just before this note was written
        return found if found["names"] and found["names"] == self._names(part) else None

    def _names(self, part: Part) -> list[str]:
        """Return the names of the files of a part."""
        return sorted(path.name for path in self.path(part).glob("*") if path.name != NOTE)

    def _problem(self, notes: list[Any], of: int) -> FileError | None:
        """Return the error that keeps the parts from being joined, or None."""
        for number, note in enumerate(notes, start=1):
            part = Part(number, of)
            if note is None:
                missing = sum(one is None for one in notes)
                problem = f"part {part} is missing" + f", and {missing - 1} more" * (missing > 1)
            elif note["identity"] != self.identity:
                keys = [key for key in self.identity if note["identity"].get(key) != self.identity[key]]
                problem = f"part {part} was made with other {' and '.join(keys)}"
            else:
                continue
            return FileError(problem, file=self.output, remedy=f"make it with --part {part}")
        return None


def file_stamp(path: PathLike) -> str:
    """Return a text that changes with a large file: its size and modification time."""
    try:
        found = os.stat(path)
    except OSError as error:
        raise FileError("no such file", file=path, remedy=near_file(path)) from error
    return f"{found.st_size} {found.st_mtime_ns}"


def files_digest(paths: list[Any]) -> str:
    """Return a digest of the contents of files."""
    return " ".join(file_sha256(path) for path in paths)
