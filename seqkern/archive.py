"""One file for JSON and arrays: an uncompressed ``.npz`` whose entry ``json`` is UTF-8 text. Nothing is pickled."""

import contextlib
import json
import os
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from .errors import FileError

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
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        with os.fdopen(handle, mode, **text) as file:
            yield file
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(
            f"cannot be written: {error.strerror or error}", file=path, remedy="choose another place or make room"
        ) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


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
    text = np.frombuffer(canonical_json(header).encode(), dtype=np.uint8)
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
