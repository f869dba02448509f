"""Archives of JSON and arrays: an uncompressed ``.npz`` whose entry ``json`` is UTF-8 text; nothing is pickled."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from seqkern.core import exclusive_files
from seqkern.core.checks import check_number
from seqkern.core.errors import FileError
from seqkern.core.file_kinds import ANY, FileKind
from seqkern.core.interruption import uninterrupted
from seqkern.core.text_files import is_standard_output, standard_output
from seqkern.core.types import Array, Arrays, Codes, PathLike

# A safe reader of ``.npz`` and ``.npy`` arrays, which checks claimed sizes against the bytes of the file.
#
# A header of 100 bytes can claim an array of any size. Each claim is compared with the size of the file before memory
# is allocated for it. The files that seqkern writes are not compressed, so nothing in them is larger than the file.

LARGEST_CODE = 0x10FFFF
LONGEST_HEADER = 10_000  # NumPy's own limit
ENCRYPTED = 0x1
MOST_ARRAYS = 10_000
"""Maximum number of arrays read from a file at once."""
DENSEST = 1032
"""Maximum number of bytes that deflate stores in one."""
PLAIN = "biufUS"
"""Kinds of dtypes that seqkern stores: real numbers and text."""
OTHERS = "cmMV"
"""Other kinds of fixed size, which the reader of vectors refuses by name."""


def read_entries(path: PathLike, wanted: Callable[[str], bool] = lambda name: True) -> Arrays:
    """Return the arrays of an uncompressed ``.npz`` file by name, without ``.npy``."""
    size = os.path.getsize(path)
    arrays: Arrays = {}
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        if any(entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & ENCRYPTED for entry in entries):
            raise ValueError("compressed or encrypted entries")
        if sum(entry.file_size for entry in entries) > size:
            raise ValueError("entries larger than the file")
        names = [entry.filename.removesuffix(".npy") for entry in entries]
        chosen = [(name, entry) for name, entry in zip(names, entries, strict=True) if wanted(name)]
        if len(chosen) > MOST_ARRAYS:
            raise ValueError(f"{len(chosen):,} arrays, more than {MOST_ARRAYS:,}")
        for name, entry in chosen:
            if name in arrays:
                raise ValueError(f"two entries {name!r}")
            array = _read_array(archive, entry, size)
            arrays[name] = array.astype(array.dtype.newbyteorder("="), copy=False)
    return arrays


def _read_array(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, longest: int | None = None, kinds: str = PLAIN
) -> Array:
    """Return the array of an entry, checked before memory is allocated; see `check_header`."""
    with archive.open(entry) as file:
        check_header(file, entry.file_size, longest, kinds)
    with archive.open(entry) as file:
        array: Array = np.lib.format.read_array(file, allow_pickle=False)
        file.read(1)  # the end of the entry, where zipfile compares the checksum
    if array.dtype.kind == "U" and array.size:  # Python fails at the first use of characters that do not exist
        codes = np.ascontiguousarray(array).reshape(-1).view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
        if int(codes.max()) > LARGEST_CODE:
            raise ValueError("text with characters that do not exist")
    return array


def check_header(file: IO[bytes], size: int, longest: int | None = None, kinds: str = PLAIN) -> None:
    """Raise ValueError unless exactly the bytes of the array follow the header of an ``.npy`` file.

    `longest` limits the sides of an array without values, which has no bytes to compare (default: `size`).
    """
    version = np.lib.format.read_magic(file)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in read:
        raise ValueError(f"version {version} of the .npy format")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python, about invalid escapes
            shape, _, dtype = read[version](file, max_header_size=LONGEST_HEADER)
    except Exception as error:  # the header is Python code, which NumPy parses: SyntaxError, TokenError, TypeError
        raise ValueError("an invalid header of an array") from error
    if dtype.hasobject:
        raise ValueError("Python objects")
    if dtype.kind not in kinds:
        raise ValueError("an array of neither numbers nor text")
    there = size - file.tell()
    count: int = math.prod(shape)
    needed = count * dtype.itemsize
    if needed != there:
        raise ValueError(f"an array of {needed} bytes, but {there} are there")
    most = size if longest is None else longest
    if min(shape, default=0) < 0 or max(shape, default=0) > most or (count and not dtype.itemsize):
        raise ValueError(f"an array of shape {shape}")


def read_entry(archive: zipfile.ZipFile, name: str) -> Array:
    """Return one array of an ``.npz`` file that may be compressed, named without ``.npy``."""
    known = archive.namelist()
    entry = archive.getinfo(name if name in known and f"{name}.npy" not in known else f"{name}.npy")
    if entry.file_size > DENSEST * (entry.compress_size + 1):
        raise ValueError("an entry larger than compression allows")
    return _read_array(archive, entry, kinds=PLAIN + OTHERS)


JSON_ENTRY = "json"
_notes: list[Callable[[Path], object]] = []
"""Functions called before a file gets its name; see `noting_files`."""


@contextlib.contextmanager
def noting_files(note: Callable[[Path], object]) -> Iterator[None]:
    """Call ``note(path)`` before each file of `atomic_write` gets its name, so that a killed process has noted all
    files.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, noting_files(lambda path: print(path.name, path.exists())):
    ...     with atomic_write(f"{folder}/labels.tsv", "w") as file:
    ...         _ = file.write("id")
    labels.tsv False
    """
    _notes.append(note)
    try:
        yield
    finally:
        _notes.remove(note)


@contextlib.contextmanager
def atomic_write(path: PathLike, mode: str = "wb") -> Iterator[Any]:
    """Open a temporary file beside `path`; rename it to `path` on success, remove it on failure.

    Missing folders are created. A symbolic link stays, and its target is written. ``"-"`` is standard output.
    """
    if is_standard_output(path):
        out: Any = standard_output()
        yield out.buffer if "b" in mode else out
        out.flush()
        return
    path = _target(path)
    # bytes of a file name that are not UTF-8 are written as escapes
    text: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "errors": "backslashreplace", "newline": "\n"}
    temporary: str | None = None
    lock: int | None = None
    made: list[Path] = []
    try:
        _refuse_folder(path)
        made = exclusive_files.missing_parents(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            with path.open(mode, **text) as file:  # write to a device or pipe, never replace it
                yield file
            return
        with uninterrupted():
            before = exclusive_files.sign(path)
            handle, temporary = exclusive_files.locked_temporary(path)
            lock = os.dup(handle)  # until it has its name
            opened = os.fdopen(handle, mode, **text)
        with opened as file:
            yield file
        with uninterrupted():
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o666 & ~umask)
            exclusive_files.log_replaced(path, before)
            for note in _notes:
                note(path)
            os.replace(temporary, path)
            temporary, made = None, []
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise unwritable(path, error, begun=temporary is not None) from error
    finally:
        with uninterrupted():
            if temporary is not None:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
            if lock is not None:
                os.close(lock)
            exclusive_files.remove_empty(made)


def check_writable(path: PathLike) -> None:
    """Raise FileError, before any work, for a path that cannot be written; nothing is created.

    A file that another process writes there in the meantime is replaced with a remark.
    """
    if is_standard_output(path):
        return
    path = _target(path)
    try:
        _refuse_folder(path)
        folder = next(folder for folder in path.absolute().parents if folder.exists())
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise unwritable(path, error) from error
    exclusive_files.note_output(path)


def _refuse_folder(path: Path) -> None:
    """Raise OSError if `path` is a folder."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))


def _target(path: PathLike) -> Path:
    """Return the target of a symbolic link; other paths, such as /dev/stdout as a pipe, are unchanged."""
    path = Path(path)
    with contextlib.suppress(OSError):  # such as a name that is too long, which opening it will tell
        if path.is_symlink() and (path.is_file() or not path.exists()):
            return Path(os.path.realpath(path))
    return path


def unwritable(path: Path, error: OSError, begun: bool = True) -> FileError:
    """Return the FileError for an OSError raised while writing; `begun` if part of the file was written."""
    if isinstance(error, IsADirectoryError):
        return FileError("is a directory", file=path, remedy="give a file name")
    if isinstance(error, FileNotFoundError) and not begun and path.parent.is_dir():  # such as /proc
        return FileError("cannot be written there", file=path, remedy="choose another folder")
    if isinstance(error, FileNotFoundError):  # missing folders are created
        problem = "cannot be written: another process removed its folder, or what was written of it"
        return FileError(problem, file=path, remedy="repeat the command")
    if error.errno == errno.ENAMETOOLONG:
        return FileError("cannot be written: the name is too long", file=path, remedy="choose a shorter name")
    return FileError(
        f"cannot be written: {error.strerror or error}",
        file=path,
        remedy="check the path, its permissions and the free space",
    )


def canonical_json(value: Any) -> str:
    """Return `value` as compact JSON with sorted keys, the text used for digests.

    >>> canonical_json({"k": 3, "kernel": "spectrum"}) == canonical_json({"kernel": "spectrum", "k": 3})
    True
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def save_archive(path: PathLike, header: Any, arrays: Mapping[str, npt.ArrayLike]) -> None:
    """Write JSON and arrays to one file, atomically; equal input gives equal bytes."""
    text: Any = as_bytes(header)
    parts: dict[str, Any] = {key: np.asarray(arrays[key]) for key in sorted(arrays)}
    with atomic_write(path) as file:
        np.savez(file, **{JSON_ENTRY: text}, **parts)


def load_archive(
    path: PathLike, kind: FileKind = ANY, wanted: Callable[[str], bool] = lambda name: True
) -> tuple[Any, Arrays]:
    """Return the JSON header and the arrays of an archive of `save_archive`, optionally only the `wanted` arrays."""
    with kind.damaged(path):
        arrays = read_entries(path, lambda name: name == JSON_ENTRY or wanted(name))
        header = from_bytes(arrays.pop(JSON_ENTRY))
        kind.check(header, path)
    return header, arrays


def save_json(path: PathLike, kind: FileKind, content: Mapping[str, Any], indent: int | None = 2) -> None:
    """Write JSON with the stamp of its file kind, atomically."""
    with atomic_write(path, "w") as file:
        json.dump({**kind.stamp(), **content}, file, indent=indent, ensure_ascii=False)
        file.write("\n")


def as_bytes(header: Any) -> Codes:
    """Return JSON as an array of UTF-8 bytes, for an archive.

    >>> from_bytes(as_bytes({"k": 3}))
    {'k': 3}
    """
    return np.frombuffer(canonical_json(header).encode(errors="backslashreplace"), dtype=np.uint8)


def from_bytes(text: Codes) -> Any:
    """Return the JSON value of an array from `as_bytes`."""
    return json.loads(text.tobytes().decode(), parse_constant=_not_finite, parse_float=check_number)


def _not_finite(text: str) -> Any:
    """Raise ValueError for NaN and Infinity, which Python reads although they are not JSON."""
    raise ValueError(f"the number {text}")


def nest(prefix: str, arrays: Mapping[str, Array]) -> Arrays:
    """Return `arrays` with ``prefix/`` before each key.

    >>> list(nest("X", {"codes": np.zeros(3)}))
    ['X/codes']
    """
    return {f"{prefix}/{key}": value for key, value in arrays.items()}


def unnest(prefix: str, arrays: Mapping[str, Array]) -> Arrays:
    """Return the arrays whose keys start with ``prefix/``, with this prefix removed.

    >>> list(unnest("X", {"X/codes": np.zeros(3), "tasks/0/y": np.zeros(2)}))
    ['codes']
    """
    start = f"{prefix}/"
    return {key[len(start) :]: value for key, value in arrays.items() if key.startswith(start)}
