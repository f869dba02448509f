"""One file for JSON and arrays: an uncompressed ``.npz`` whose entry ``json`` is UTF-8 text. Nothing is pickled."""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.archive_entries import read_entries
from seqkern.core.errors import FileError
from seqkern.core.file_kinds import ANY, FileKind
from seqkern.core.folders import missing_parents, remove_empty
from seqkern.core.interruption import uninterrupted
from seqkern.core.litter import locked_temporary
from seqkern.core.meanwhile import note_output, sign, tell_replaced
from seqkern.core.standard_output import is_standard_output, standard_output
from seqkern.core.types import Arrays, PathLike
from seqkern.core.values import check_number

JSON_ENTRY = "json"
_notes: list[Callable[[Path], object]] = []
"""Called before a file gets its name: see `noting_files`."""


@contextlib.contextmanager
def noting_files(note: Callable[[Path], object]) -> Iterator[None]:
    """Call ``note(path)`` before each file that `atomic_write` writes gets its name.

    Parameters
    ----------
    note : callable
        A process that is killed at any time has noted all of its files.

    Yields
    ------
    None

    Examples
    --------
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
    r"""Open a temporary file beside `path`; rename it to `path` on success, remove it on failure.

    Parameters
    ----------
    path : path-like
        The file to write; its folder is created if missing. A symbolic link stays, and the file that it names is
        written. ``"-"`` is standard output.
    mode : str
        ``"wb"``, or ``"w"`` for UTF-8 text with Unix line endings.

    Yields
    ------
    file object
        Binary or text, depending on `mode`.

    Raises
    ------
    FileError
        If the file cannot be written: no permission, full disk.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "new" / "labels.tsv"
    ...     with atomic_write(path, "w") as file:
    ...         written = file.write("id\tlabel\n")
    ...         before = path.exists()
    ...     before, path.exists()
    (False, True)
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
        made = missing_parents(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            with path.open(mode, **text) as file:  # write to a device or pipe, never replace it
                yield file
            return
        with uninterrupted():
            before = sign(path)
            handle, temporary = locked_temporary(path)
            lock = os.dup(handle)  # until it has its name
            opened = os.fdopen(handle, mode, **text)
        with opened as file:
            yield file
        with uninterrupted():
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o666 & ~umask)
            tell_replaced(path, before)
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
            remove_empty(made)


def check_writable(path: PathLike) -> None:
    """Raise an error, before any work, for a path that cannot be written; nothing is created.

    A file that another process writes there meanwhile is replaced with a remark.

    Parameters
    ----------
    path : path-like
        The file to be written later.

    Raises
    ------
    FileError
        If it is a folder, or the nearest existing folder is not writable.
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
    note_output(path)


def _refuse_folder(path: Path) -> None:
    """Raise OSError if `path` is a folder."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))


def _target(path: PathLike) -> Path:
    """Return the file that a symbolic link names; other paths as they are, such as /dev/stdout that is a pipe."""
    path = Path(path)
    with contextlib.suppress(OSError):  # such as a name that is too long, which opening it will tell
        if path.is_symlink() and (path.is_file() or not path.exists()):
            return Path(os.path.realpath(path))
    return path


def unwritable(path: Path, error: OSError, begun: bool = True) -> FileError:
    """Return the FileError for an OSError raised while writing.

    Parameters
    ----------
    path : Path
        The file.
    error : OSError
        What the system said.
    begun : bool
        Whether a part of the file had been written.

    Returns
    -------
    FileError
    """
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

    Parameters
    ----------
    value : object
        Anything JSON can hold, without NaN and infinity.

    Returns
    -------
    str

    Examples
    --------
    >>> canonical_json({"k": 3, "kernel": "spectrum"}) == canonical_json({"kernel": "spectrum", "k": 3})
    True
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def save_archive(path: PathLike, header: Any, arrays: Mapping[str, npt.ArrayLike]) -> None:
    """Write JSON and arrays to one file, atomically; equal input gives equal bytes.

    Parameters
    ----------
    path : path-like
        The file to write.
    header : object
        Anything JSON can hold; the first value that `load_archive` returns.
    arrays : mapping of str to array_like
        Arrays without objects; none may be called ``json``.

    Raises
    ------
    FileError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "codes.npz"
    ...     save_archive(path, {"alphabet": "dna"}, {"codes": [0, 1, 2, 3]})
    ...     header, arrays = load_archive(path)
    >>> header, arrays["codes"].tolist()
    ({'alphabet': 'dna'}, [0, 1, 2, 3])
    """
    text: Any = as_bytes(header)
    parts: dict[str, Any] = {key: np.asarray(arrays[key]) for key in sorted(arrays)}
    with atomic_write(path) as file:
        np.savez(file, **{JSON_ENTRY: text}, **parts)


def load_archive(
    path: PathLike, kind: FileKind = ANY, wanted: Callable[[str], bool] = lambda name: True
) -> tuple[Any, Arrays]:
    """Read an archive of `save_archive`.

    Parameters
    ----------
    path : path-like
        The file to read.
    kind : FileKind
        The kind that its header must be of; default: any.
    wanted : callable
        Whether an array is read, by its name; default: all are.

    Returns
    -------
    header : object
        The JSON part.
    arrays : dict of str to ndarray

    Raises
    ------
    SeqkernError
        If the file is corrupted, of another kind, or of a newer version; FileError if it cannot be read.
    """
    with kind.damaged(path):
        arrays = read_entries(path, lambda name: name == JSON_ENTRY or wanted(name))
        header = from_bytes(arrays.pop(JSON_ENTRY))
        kind.check(header, path)
    return header, arrays


def save_json(path: PathLike, kind: FileKind, content: Mapping[str, Any], indent: int | None = 2) -> None:
    """Write JSON with the stamp of its kind, atomically.

    Parameters
    ----------
    path : path-like
        The file to write.
    kind : FileKind
        Its kind, with whose `load_json` it is read again.
    content : mapping
        JSON.
    indent : int, optional
        Blanks before the entries of each level; None writes one line.

    Raises
    ------
    FileError
        If the file cannot be written.
    """
    with atomic_write(path, "w") as file:
        json.dump({**kind.stamp(), **content}, file, indent=indent, ensure_ascii=False)
        file.write("\n")


def as_bytes(header: Any) -> npt.NDArray[np.uint8]:
    """Return JSON as an array of an archive.

    Parameters
    ----------
    header : object
        Anything JSON can hold.

    Returns
    -------
    ndarray of uint8
        UTF-8 text.

    Examples
    --------
    >>> from_bytes(as_bytes({"k": 3}))
    {'k': 3}
    """
    return np.frombuffer(canonical_json(header).encode(errors="backslashreplace"), dtype=np.uint8)


def from_bytes(text: npt.NDArray[np.uint8]) -> Any:
    """Return the JSON of `as_bytes`.

    Parameters
    ----------
    text : ndarray of uint8
        As read from an archive.

    Returns
    -------
    object

    Raises
    ------
    ValueError
        If it is not JSON, or has numbers that are not finite.
    """
    return json.loads(text.tobytes().decode(), parse_constant=_not_finite, parse_float=check_number)


def _not_finite(text: str) -> Any:
    """Refuse NaN and Infinity, which are not JSON, though Python reads them."""
    raise ValueError(f"the number {text}")


def nest(prefix: str, arrays: Mapping[str, npt.NDArray[Any]]) -> Arrays:
    """Return `arrays` with ``prefix/`` before each key.

    Parameters
    ----------
    prefix : str
        Name of the part that the arrays belong to.
    arrays : mapping of str to ndarray
        The arrays of the part, by name.

    Returns
    -------
    dict of str to ndarray

    Examples
    --------
    >>> list(nest("X", {"codes": np.zeros(3)}))
    ['X/codes']
    """
    return {f"{prefix}/{key}": value for key, value in arrays.items()}


def unnest(prefix: str, arrays: Mapping[str, npt.NDArray[Any]]) -> Arrays:
    """Return the arrays whose keys start with ``prefix/``, without it.

    Parameters
    ----------
    prefix : str
        Name of the part.
    arrays : mapping of str to ndarray
        Arrays of several parts, named as by `nest`.

    Returns
    -------
    dict of str to ndarray

    Examples
    --------
    >>> list(unnest("X", {"X/codes": np.zeros(3), "tasks/0/y": np.zeros(2)}))
    ['codes']
    """
    start = f"{prefix}/"
    return {key[len(start) :]: value for key, value in arrays.items() if key.startswith(start)}
