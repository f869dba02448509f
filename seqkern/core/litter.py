"""Temporary files of killed processes: the next one that writes the same file removes them.

A temporary file is locked (``flock``) as long as its process lives, so that nobody else takes it for litter. Nothing is
removed on file systems without locks.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

MOST_OF_NAME = 200  # bytes; file systems allow 255
SUFFIX = ".tmp"
_RANDOM = re.compile(r"\.[a-z0-9_]{8}\.tmp")
"""The end of a temporary name, as of `tempfile.mkstemp`."""
_listed: dict[str, list[str]] = {}
"""Temporary files in a folder when this process first wrote there: a folder of many files is listed once."""


def locked_temporary(path: Path) -> tuple[int, str]:
    """Create a temporary file beside `path`, locked; remove those that killed processes left of it.

    Parameters
    ----------
    path : Path
        The file that is written.

    Returns
    -------
    handle : int
        Open for writing; the lock lasts until it and its duplicates are closed.
    name : str

    Raises
    ------
    OSError
        If it cannot be created.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     handle, name = locked_temporary(Path(folder) / "p.tsv")
    ...     os.close(handle)
    ...     Path(name).name.startswith(".p.tsv."), name.endswith(".tmp")
    (True, True)
    """
    prefix = f".{os.fsdecode(os.fsencode(path.name)[:MOST_OF_NAME])}."
    _clear(path.parent, prefix)
    while True:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=prefix, suffix=SUFFIX)
        if _lock(handle) is not False and _is_named(handle, name):  # else one that clears litter was faster
            return handle, name
        os.close(handle)


def _clear(folder: Path, prefix: str) -> None:
    """Remove the temporary files with this prefix whose processes have ended."""
    home = os.fspath(folder.absolute())
    if home not in _listed:
        try:
            _listed[home] = [name for name in os.listdir(folder) if name.startswith(".") and name.endswith(SUFFIX)]
        except OSError:
            return
    for name in _listed[home]:
        if name.startswith(prefix) and _RANDOM.fullmatch(name, len(prefix) - 1):
            remove_dead(folder / name)


def remove_dead(path: Path) -> None:
    """Remove a temporary file unless a process still writes it.

    Parameters
    ----------
    path : Path
        The temporary file.
    """
    with contextlib.suppress(OSError):
        if not stat.S_ISREG(os.stat(path, follow_symlinks=False).st_mode):
            return
        handle = os.open(path, os.O_RDONLY)
        try:
            if _lock(handle) and _is_named(handle, path):
                path.unlink()
        finally:
            os.close(handle)


def _lock(handle: int) -> bool | None:
    """Lock an open file; False if another process has locked it, None without locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return None
    return True


def _is_named(handle: int, path: str | Path) -> bool:
    """Return whether an open file is still at its path."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path, follow_symlinks=False))
    except OSError:
        return False
