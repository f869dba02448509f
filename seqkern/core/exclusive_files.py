"""Files that several processes write: locks, temporary files of killed processes, notices of overwriting."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Self

from seqkern.core.text_files import is_standard_output
from seqkern.core.types import PathLike

# Removal of temporary files of killed processes by the next process that writes the same file.
#
# A temporary file is locked (``flock``) as long as its process lives, so that no other process removes it. Nothing is
# removed on file systems without locks.

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

MOST_OF_TEMPORARY_NAME = 200  # bytes; file systems allow 255
SUFFIX = ".tmp"
_RANDOM = re.compile(r"\.[a-z0-9_]{8}\.tmp")
"""The end of a temporary name, as of `tempfile.mkstemp`."""
_listed: dict[str, list[str]] = {}
"""Temporary files in a folder when this process first wrote there: a folder of many files is listed once."""


def locked_temporary(path: Path) -> tuple[int, str]:
    """Create a locked temporary file beside `path`, and remove those left by killed processes.

    Return a handle open for writing and the name; the lock lasts until the handle and its duplicates are closed.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     handle, name = locked_temporary(Path(folder) / "p.tsv")
    ...     os.close(handle)
    ...     Path(name).name.startswith(".p.tsv."), name.endswith(".tmp")
    (True, True)
    """
    prefix = f".{os.fsdecode(os.fsencode(path.name)[:MOST_OF_TEMPORARY_NAME])}."
    _clear(path.parent, prefix)
    while True:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=prefix, suffix=SUFFIX)
        if _lock(handle) is not False and is_named(handle, name):  # else one that clears litter was faster
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
    """Remove a temporary file unless a process still writes it."""
    with contextlib.suppress(OSError):
        if not stat.S_ISREG(os.stat(path, follow_symlinks=False).st_mode):
            return
        handle = os.open(path, os.O_RDONLY)
        try:
            if _lock(handle) and is_named(handle, path):
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


def is_named(handle: int, path: PathLike, *, follow_symlinks: bool = False) -> bool:
    """Return whether an open file is still at its path."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path, follow_symlinks=follow_symlinks))
    except OSError:
        return False


# Detection of two commands that write one file at once: the last to finish reports that it replaces a result.

_Sign = tuple[int, int, int] | None
_found: dict[str, _Sign] = {}
"""Signature of the file at a path before the work; see `note_output`."""


def note_output(path: PathLike) -> None:
    """Note the file now at the path of an output, before the work on it."""
    _found[_key(path)] = sign(path)


def sign(path: PathLike) -> _Sign:
    """Return a signature that distinguishes a file from a replacement of it; None if there is no file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def log_replaced(path: PathLike, before: _Sign) -> None:
    """Print, before a file is replaced, that another process has written it since the work began."""
    now = sign(path)
    if now is not None and now != _found.pop(_key(path), before):
        text = f"seqkern: {path}: another process wrote this file while this command ran; its result is replaced"
        print(text, file=sys.stderr, flush=True)


def _key(path: PathLike) -> str:
    return os.fspath(Path(path).absolute())


# Folders created for a file, and removed if they stay empty.


def missing_parents(path: Path) -> list[Path]:
    """Return the missing parent folders of a path, the innermost first.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [one.name for one in missing_parents(Path(folder) / "a" / "b" / "c.tsv")]
    ['b', 'a']
    """
    return [folder for folder in path.absolute().parents if not folder.exists()]


def remove_empty(folders: Iterable[Path]) -> None:
    """Remove empty folders, innermost first, up to the first that holds anything."""
    with contextlib.suppress(OSError):
        for folder in folders:
            folder.rmdir()


# Locks on a folder shared by several processes: its users, its removal, and exclusive writing.


LOCK = ".lock"
"""Name of the file that is locked."""
MOST_OF_NAME = 60
"""Characters of a file's name kept in its folder's: file systems allow 255 bytes, four for some characters."""
_ATTEMPTS = 1000
"""Attempts to create a folder that other processes remove at the same time."""


@contextlib.contextmanager
def exclusive_folder(folder: str | os.PathLike[str], *, temporary: bool = False) -> Iterator[None]:
    """Hold a folder exclusively while its files are written, so that all are of one run.

    The folder is created if missing; if `temporary`, it is removed when empty, even if it existed before.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, exclusive_folder(folder):
    ...     FolderLock(folder).try_exclusive()
    False
    """
    lock, stays = FolderLock(folder), os.path.isdir(folder) and not temporary
    with contextlib.suppress(OSError):  # whoever writes the files will say so
        text = f"seqkern: waiting for another process that writes into {folder}"
        lock.acquire(on_wait=lambda: print(text, file=sys.stderr, flush=True))
    try:
        yield
    finally:
        lock.release(keep=stays)


@contextlib.contextmanager
def exclusive_paths(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold a lock while files that belong together are written, such as a model and its table.

    `path` is one of the files, the same in each process. The lock is the folder ``.NAME.writing`` beside it; there is
    none for standard output, devices and pipes.
    """
    path = Path(path)
    if is_standard_output(path) or (path.exists() and not path.is_file() and not path.is_dir()):
        yield
        return
    with exclusive_folder(path.with_name(f".{path.name[:MOST_OF_NAME]}.writing"), temporary=True):
        yield


class FolderLock:
    """The use of a folder by this process, until `release`; a killed process releases it, too.

    The lock (``flock``) is on a file in the folder. On file systems without locks nothing is held, and the processes
    cannot know of each other.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._path = self.folder / LOCK
        self._handle: int | None = None
        self._made: list[Path] = []

    def try_exclusive(self) -> bool:
        """Hold an existing folder exclusively if possible, without waiting; return whether it is held."""
        with contextlib.suppress(OSError):
            return fcntl is not None and self._hold(fcntl.LOCK_EX | fcntl.LOCK_NB) and self._handle is not None
        return False

    def acquire(self, *, shared: bool = False, on_wait: Callable[[], object] | None = None) -> Self:
        """Wait for the folder, hold it (exclusively unless `shared`), and return this lock.

        `on_wait` is called before waiting for another process.
        """
        for left in reversed(range(_ATTEMPTS)):
            self._made += missing_parents(self.folder)
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                if fcntl is None:
                    break
                if self._hold(fcntl.LOCK_SH if shared else fcntl.LOCK_EX, on_wait):
                    break
            except (FileNotFoundError, FileExistsError):  # another process has just removed it
                if not left:
                    raise
        return self

    def share(self) -> None:
        """Hold the folder jointly with others from now on, whatever the present state of the lock."""
        if self._handle is not None:
            fcntl.flock(self._handle, fcntl.LOCK_SH)
            if is_named(self._handle, self._path, follow_symlinks=True):
                return
            self._close()
        self.acquire(shared=True)

    def is_exclusive(self) -> bool | None:
        """Return whether no other process holds the folder, which is then held exclusively; None without locks.

        If another process holds it, this one no longer does, and acquires it again if needed.
        """
        if self._handle is None:
            return None
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._close()
            return False
        return True

    def release(self, *, keep: bool = False) -> None:
        """Release the folder; remove it if it is empty, no other process holds it, and `keep` is false."""
        alone = self.is_exclusive()
        with contextlib.suppress(OSError):
            if alone:
                self._path.unlink()
        if alone is not False and not keep:
            remove_empty((self.folder, *self._made))
        self._close()

    def remove(self) -> None:
        """Remove the files of the folder; the caller holds it exclusively, or there are no locks."""
        with contextlib.suppress(OSError):
            for path in self.folder.iterdir():
                if path.name != LOCK:  # comes last: with it the folder is free
                    with contextlib.suppress(OSError):
                        path.unlink()

    def _hold(self, how: int, on_wait: Callable[[], object] | None = None) -> bool:
        """Lock the file; return False if it has been removed in the meantime."""
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:
            raise
        except OSError:  # such as the file of another user
            return True
        try:
            if on_wait is not None:
                try:
                    fcntl.flock(handle, how | fcntl.LOCK_NB)
                except BlockingIOError:
                    on_wait()
            fcntl.flock(handle, how)
        except BlockingIOError:
            os.close(handle)
            return False
        except OSError:  # a file system without locks
            os.close(handle)
            with contextlib.suppress(OSError):
                self._path.unlink()
            return True
        if is_named(handle, self._path, follow_symlinks=True):
            self._handle = handle
            return True
        os.close(handle)
        return False

    def _close(self) -> None:
        """Close the file, which releases the lock."""
        handle, self._handle = self._handle, None  # first, else an interrupted close would be repeated
        if handle is not None:
            os.close(handle)
