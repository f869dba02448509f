"""A folder that several processes use at once: who is using it, whether it can be removed, and who writes its files."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

from seqkern.core.folders import missing_parents, remove_empty
from seqkern.core.standard_output import is_standard_output

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"
"""Name of the file that is locked."""
MOST_OF_NAME = 60
"""Characters of a file's name in that of its folder: file systems allow 255 bytes, and some of ours take four."""
_ATTEMPTS = 1000
"""To create a folder that other processes remove at the same time."""


@contextlib.contextmanager
def alone_in(folder: str | os.PathLike[str], *, temporary: bool = False) -> Iterator[None]:
    """Write the files of a folder while no other process that asks for it does, so that all are of one run.

    Parameters
    ----------
    folder : path-like
        Created if it is missing.
    temporary : bool
        Whether it goes when it is empty, even if it was there before.

    Yields
    ------
    None

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, alone_in(folder):
    ...     FolderLock(folder).try_alone()
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
def alone_for(path: str | os.PathLike[str]) -> Iterator[None]:
    """Write files that belong together, such as a model and its table, while no other process that asks for it does.

    Parameters
    ----------
    path : path-like
        One of the files, the same in each process; the others may be anywhere. Beside it, ``.NAME.writing`` is the
        folder that is held; nothing is for standard output, devices and pipes.

    Yields
    ------
    None

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with alone_for(f"{folder}/motifs.meme"):
    ...         during = os.listdir(folder)
    ...     during, os.listdir(folder)
    (['.motifs.meme.writing'], [])
    """
    path = Path(path)
    if is_standard_output(path) or (path.exists() and not path.is_file() and not path.is_dir()):
        yield
        return
    with alone_in(path.with_name(f".{path.name[:MOST_OF_NAME]}.writing"), temporary=True):
        yield


class FolderLock:
    """The use of a folder by this process, until `release`; a killed process releases it, too.

    It is held by a lock (``flock``) on a file in the folder. On file systems without locks nothing is held, and the
    processes cannot know of each other.

    Parameters
    ----------
    folder : path-like
        Created by `acquire`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     one, other = (FolderLock(f"{folder}/tiles").acquire(shared=True) for _ in range(2))
    ...     before = one.is_alone()
    ...     one.share()
    ...     other.release()
    ...     before, one.is_alone()
    (False, True)
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._path = self.folder / LOCK
        self._handle: int | None = None
        self._made: list[Path] = []

    def try_alone(self) -> bool:
        """Hold an existing folder exclusively, if no other process holds it and there are locks; do not wait."""
        with contextlib.suppress(OSError):
            return fcntl is not None and self._hold(fcntl.LOCK_EX | fcntl.LOCK_NB) and self._handle is not None
        return False

    def acquire(self, *, shared: bool = False, on_wait: Callable[[], object] | None = None) -> Self:
        """Wait for the folder, and hold it.

        Parameters
        ----------
        shared : bool
            Whether other processes may hold it in the same way.
        on_wait : callable, optional
            Called before waiting for another process that holds it.

        Returns
        -------
        FolderLock
            Itself.

        Raises
        ------
        OSError
            If the folder cannot be created.
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
        """Hold it with others from now on, whether or how it is held."""
        if self._handle is not None:
            fcntl.flock(self._handle, fcntl.LOCK_SH)
            if self._is_current(self._handle):
                return
            self._close()
        self.acquire(shared=True)

    def is_alone(self) -> bool | None:
        """Return whether no other process holds the folder; then it is held exclusively. None without locks.

        If another process does, this one no longer holds it, and acquires it again if needed.
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
        """Hold it no longer; remove it if it is empty and no other process holds it.

        Parameters
        ----------
        keep : bool
            Whether it stays in any case.
        """
        alone = self.is_alone()
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
        """Lock the file; False if it has been removed meanwhile."""
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
        if self._is_current(handle):
            self._handle = handle
            return True
        os.close(handle)
        return False

    def _is_current(self, handle: int) -> bool:
        """Return whether an open file is still that of the folder."""
        try:
            return os.path.samestat(os.fstat(handle), os.stat(self._path))
        except OSError:
            return False

    def _close(self) -> None:
        """Close the file, and with it the lock."""
        handle, self._handle = self._handle, None  # first, else an interrupted close would be repeated
        if handle is not None:
            os.close(handle)
