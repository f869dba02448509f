"""One file for JSON and arrays: an uncompressed ``.npz`` whose entry ``json`` is UTF-8 text. Nothing is pickled."""

import contextlib
import errno
import json
import os
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from seqkern.core.errors import FileError

JSON_ENTRY = "json"


@contextlib.contextmanager
def atomic_write(path, mode="wb"):
    """Open a temporary file beside `path`; rename it to `path` on success, remove it on failure.

    Parameters
    ----------
    path : path-like
        The file to write; its folder is made when missing.
    mode : str
        ``"wb"``, or ``"w"`` for UTF-8 text with Unix line ends.

    Raises
    ------
    FileError
        If the file cannot be written: no permission, full disk.
    """
    path = Path(path)
    # the bytes of a file's name that are not UTF-8 are written as escapes
    text = {} if "b" in mode else {"encoding": "utf-8", "errors": "backslashreplace", "newline": "\n"}
    temporary, made = None, []
    try:
        _refuse_folder(path)
        made = [folder for folder in path.absolute().parents if not folder.exists()]
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            with path.open(mode, **text) as file:  # a device or pipe is written to, never replaced
                yield file
            return
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        with os.fdopen(handle, mode, **text) as file:
            yield file
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
        temporary, made = None, []
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise _unwritable(path, error) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        with contextlib.suppress(OSError):
            for folder in made:  # those that something else was put into stay
                folder.rmdir()


def check_writable(path):
    """Raise FileError, before any work, if no file can be written to `path`; nothing is made there."""
    path = Path(path)
    try:
        _refuse_folder(path)
        folder = next(folder for folder in path.absolute().parents if folder.exists())
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise _unwritable(path, error) from error


def _refuse_folder(path):
    """Raise OSError if `path` is a folder."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))


def _unwritable(path, error):
    """Return the FileError for an OSError met in writing."""
    return FileError(
        f"cannot be written: {error.strerror or error}", file=path, remedy="choose another place or make room"
    )


def canonical_json(value):
    """Return `value` as compact JSON with sorted keys: the text that digests are taken of."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def save_archive(path, header, arrays):
    """Write a JSON-serialisable `header` and a dict of arrays to one file, atomically, same input same bytes.

    Raises
    ------
    FileError
        If the file cannot be written.
    """
    text = np.frombuffer(canonical_json(header).encode(errors="backslashreplace"), dtype=np.uint8)
    with atomic_write(path) as file:
        np.savez(file, **{JSON_ENTRY: text}, **{key: np.asarray(arrays[key]) for key in sorted(arrays)})


def load_archive(path):
    """Read what `save_archive` wrote.

    Returns
    -------
    header : object
        The JSON part.
    arrays : dict of str to ndarray

    Raises
    ------
    FileError
        If the file is missing, damaged, or of another kind.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
        header = json.loads(arrays.pop(JSON_ENTRY).tobytes().decode())
    except FileNotFoundError as error:
        raise FileError("no such file", file=path, remedy="check the path") from error
    except (OSError, ValueError, KeyError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        raise FileError("not a file that seqkern wrote, or damaged", file=path, remedy="make it again") from error
    return header, arrays


def nest(prefix, arrays):
    """Return `arrays` with ``prefix/`` before each key."""
    return {f"{prefix}/{key}": value for key, value in arrays.items()}


def unnest(prefix, arrays):
    """Return the arrays whose keys start with ``prefix/``, without it."""
    start = f"{prefix}/"
    return {key[len(start) :]: value for key, value in arrays.items() if key.startswith(start)}
