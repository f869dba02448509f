"""The folder of the tiles of one matrix, beside those of others for the same path: who uses it, what can be removed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from seqkern.core.locks import LOCK, FolderLock
from seqkern.gram.paths import tiles_root
from seqkern.gram.replacing import writing


class TileFolder:
    """A folder of tiles.

    Parameters
    ----------
    matrix : Path
        The ``.npy``.
    name : str
        Tells this matrix from others for the same path.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tiles = TileFolder(Path(folder) / "gram.npy", "c0ffee")
    ...     with tiles.in_use():
    ...         during = tiles.path.is_dir()
    ...     during, list(Path(folder).iterdir())
    (True, [])
    """

    def __init__(self, matrix: Path, name: str) -> None:
        self.matrix = matrix
        self.root = tiles_root(matrix)
        self.path = self.root / name
        self._use = FolderLock(self.path)

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Hold the folder, so that no other process takes it for litter."""
        with writing(self.matrix):
            self._use.acquire(shared=True)
        try:
            yield
        finally:
            self._use.release()
            with contextlib.suppress(OSError):
                self.root.rmdir()

    def clear_litter(self) -> None:
        """Remove incomplete files of killed runs, and tiles of other matrices for this path, that no process uses."""
        self._clear_others()
        if self._use.is_alone():
            for file in (*self.path.glob(".*.tmp"), *self.path.glob("matrix-*.npy")):
                file.unlink(missing_ok=True)
        with writing(self.matrix):
            self._use.share()

    def clear(self) -> None:
        """Remove all tiles but those that other processes use."""
        if not self.root.exists():
            return
        self._clear_others()
        with contextlib.suppress(OSError):  # a folder that cannot be written
            if self.path.exists():
                self._use.share()
                if self._use.is_alone() is not False:
                    self._use.remove()
                self._use.release()
            whole = FolderLock(self.root)  # a run that was killed while it replaced the matrix has left its lock there
            if whole.try_alone():
                whole.release()
            elif not whole.folder.joinpath(LOCK).exists():
                self.root.rmdir()

    def _clear_others(self) -> None:
        """Remove the tiles of other matrices that no process uses."""
        with contextlib.suppress(OSError):
            for other in self.root.iterdir():
                lock = FolderLock(other)
                if other != self.path and other.is_dir() and lock.try_alone():
                    lock.remove()
                    lock.release()
