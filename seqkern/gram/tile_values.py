"""The entries of the tiles of a Gram matrix: computed by the kernel, or copied from a finished matrix."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from seqkern.core.threads import given_threads
from seqkern.gram.extension import Extension, Range
from seqkern.gram.tiles import TileGrid
from seqkern.kernels.blocks import fill
from seqkern.sequences.tables import Data

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel

Progress: TypeAlias = Callable[[int, int], object]
"""Called with (entries done, all entries)."""


class TileValues:
    """The entries of tiles.

    Parameters
    ----------
    kernel : Kernel
        Fitted, if it needs fitting.
    X : SequenceSet or table
        The rows.
    Y : SequenceSet or table, optional
        The columns; None for a symmetric matrix.
    grid : TileGrid
        The division of the matrix.
    n_threads : int, optional
        Default: the kernel's own, or all cores.
    progress : callable, optional
        Called with (entries done, all entries).

    Attributes
    ----------
    rows, cols : Prepared
        The rows and columns, prepared by the kernel; the same object for a symmetric matrix.

    Examples
    --------
    >>> from seqkern.gram.tiles import tile_grid
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X, tile = as_sequences(["GATTACA", "ATTAC"], "dna"), np.empty((2, 2))
    >>> grid = tile_grid(2, 2, "float64", symmetric=True)
    >>> TileValues(SpectrumKernel(k=1, normalize=False), X, None, grid, 1).write(0, tile)
    >>> tile.tolist()
    [[15.0, 11.0], [11.0, 9.0]]
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Data,
        Y: Data | None,
        grid: TileGrid,
        n_threads: int | None,
        progress: Progress | None = None,
    ) -> None:
        self.kernel = kernel
        self.grid = grid
        self.n_threads = n_threads
        self.progress = progress
        with given_threads(n_threads):
            self.cols = kernel.prepare(X if Y is None else Y)
            self.rows = self.cols if Y is None else kernel.prepare(X, like=self.cols)
        self._done = self._total = 0
        self._lock = threading.Lock()

    def expect(self, entries: int) -> None:
        """Set the number of entries that will be written, for the progress.

        Parameters
        ----------
        entries : int
            Of all tiles.
        """
        self._total = entries

    def write(self, index: int, out: npt.NDArray[np.floating[Any]], known: Extension | None = None) -> None:
        """Write the entries of a tile.

        Parameters
        ----------
        index : int
            Index of the tile, from 0.
        out : ndarray, shape (rows, columns)
            For its entries.
        known : Extension, optional
            The finished matrix from which entries are copied.
        """
        if known is not None and self._extend(known, index, out):
            return
        start, stop = self.grid.spans[index]
        left = self.grid.first_column(index)
        # In the progress a row counts with all its columns, even if half of a square is mirrored.
        width = len(self.cols) - left
        fill(
            self.kernel,
            self.rows.rows(start, stop),
            self.cols.rows(left, len(self.cols)),
            out,
            leading=self.grid.symmetric,
            n_threads=self.n_threads,
            progress=None if self.progress is None else lambda done: self._count(done * width),
        )

    def write_all(self, out: npt.NDArray[np.floating[Any]]) -> None:
        """Write the whole matrix, at once.

        Parameters
        ----------
        out : ndarray, shape (rows, columns)
            For the matrix.
        """
        self.expect(out.size)
        progress = None if self.progress is None else lambda done: self._count(done * len(self.cols))
        fill(self.kernel, self.rows, self.cols, out, n_threads=self.n_threads, progress=progress)

    def _extend(self, known: Extension, index: int, out: npt.NDArray[np.floating[Any]]) -> bool:
        """Write the entries of tile `index` to `out`, the known ones copied; False if all of its rows are new."""
        start, stop = self.grid.spans[index]
        left = self.grid.first_column(index)
        new_rows = known.new_rows(start, stop)
        if new_rows == [Range(start, stop)]:
            return False
        rows, cols = self.rows, self.cols
        known.copy(start, left, out)
        for first, last in known.new_cols(left):
            part, target = cols.rows(first, last), out[:, first - left : last - left]
            fill(self.kernel, rows.rows(start, stop), part, target, n_threads=self.n_threads)
        for first, last in new_rows:
            part, target = cols.rows(left, len(cols)), out[first - start : last - start]
            fill(self.kernel, rows.rows(first, last), part, target, n_threads=self.n_threads)
        self._count(self.grid.entries(index))
        return True

    def _count(self, entries: int) -> None:
        """Report `entries` more as done; called from several threads."""
        if self.progress is not None:
            with self._lock:
                self._done += entries
                self.progress(self._done, self._total)
