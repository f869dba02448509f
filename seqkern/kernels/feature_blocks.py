"""Explicit feature vectors of many samples, computed block by block on demand.

The features of hundreds of thousands of samples need not fit into memory. Block solvers read them through
`FeatureBlocks`, in the precision of the kernel, whether they are stored, sparse, or recomputed each time.
`Kernel.feature_blocks` returns them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.matrices import is_sparse
from seqkern.core.threads import one_thread
from seqkern.core.types import Rows

BLOCK_ROWS = 2048
TILE_ROWS = 48  # BLAS multiplies rows in tiles of a divisor of it; others at the end may be summed in another order
PRODUCT_ROWS = 43 * TILE_ROWS


def filled(block: npt.NDArray[np.floating[Any]], rows: int) -> npt.NDArray[np.floating[Any]]:
    """Return a block padded with rows of zeros: the order of BLAS's sums depends on the shape and the position."""
    rows = -(-rows // TILE_ROWS) * TILE_ROWS
    if len(block) == rows:
        return block
    out = np.zeros((rows, block.shape[1]), dtype=block.dtype)
    out[: len(block)] = block
    return out


class FeatureBlocks:
    """Feature vectors of n samples, served block by block.

    `compute(rows)` returns the features (len(rows), d) for a slice or an int64 array of rows; the bits of a sample
    depend
    on that sample alone. `times(weights)` returns a function of rows that gives the features times float64 weights
    (d, k)
    without computing the features.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        dtype: npt.DTypeLike,
        compute: Callable[[Any], Any],
        times: Callable[[npt.NDArray[np.float64]], Callable[[Any], npt.NDArray[np.float64]]] | None = None,
    ) -> None:
        self.shape: tuple[int, int] = (int(shape[0]), int(shape[1]))
        self.dtype = np.dtype(dtype)
        self._compute = compute
        self._times = times
        self._rows: npt.NDArray[np.int64] | None = None  # all, or those taken
        self._values: Any = None  # of all, where they are stored

    @classmethod
    def of(cls, values: Any) -> Self:
        """Return the FeatureBlocks of stored features (n, d), which are not copied."""
        if is_sparse(values):
            values = values.tocsr()
        blocks = cls(values.shape, values.dtype, values.__getitem__)
        blocks._values = values
        return blocks

    def __len__(self) -> int:
        return self.shape[0]

    def take(self, rows: Rows) -> FeatureBlocks:
        """Return the features of some samples as a view."""
        taken = copy.copy(self)
        rows = np.arange(len(self))[rows]
        taken._rows = rows if self._rows is None else self._rows[rows]
        taken.shape = (len(rows), self.shape[1])
        return taken

    def block(self, start: int, stop: int) -> npt.NDArray[np.floating[Any]]:
        """Return the features of samples `start` to `stop` − 1.

        The result may be a view of stored features: do not modify it.
        """
        values = self._compute(self._given(start, stop))
        values = values.toarray() if is_sparse(values) else values
        return np.ascontiguousarray(values, dtype=self.dtype)

    def blocks(self, size: int = BLOCK_ROWS) -> Iterator[tuple[slice, npt.NDArray[np.floating[Any]]]]:
        """Iterate over all samples in order, yielding (slice of samples, their features)."""
        for start in range(0, len(self), size):
            span = slice(start, min(start + size, len(self)))
            yield span, self.block(span.start, span.stop)

    def times(self, weights: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the features times weights (d, k), shape (n, k).

        Used for prediction; some kernels compute it faster than the features. The bits of a sample depend on that
        sample alone.
        """
        weights = np.ascontiguousarray(weights, dtype=np.float64)
        out = np.empty((len(self), weights.shape[1]))
        with one_thread():
            direct = self._product(weights) if self._times is None else self._times(weights)
            for start in range(0, len(self), PRODUCT_ROWS):
                out[start : start + PRODUCT_ROWS] = direct(self._given(start, min(start + PRODUCT_ROWS, len(self))))
        return out

    def _product(self, weights: npt.NDArray[np.float64]) -> Callable[[Any], npt.NDArray[np.float64]]:
        """Return the function that multiplies the features of given rows by `weights`."""

        def direct(rows: Any) -> npt.NDArray[np.float64]:
            values = self._compute(rows)
            if is_sparse(values):
                return values @ weights
            return (filled(values, PRODUCT_ROWS).astype(np.float64, copy=False) @ weights)[: len(values)]

        return direct

    @property
    def nbytes(self) -> int:
        """Size of all features in bytes, if dense."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    @property
    def stored(self) -> bool:
        """Whether fetching a block costs no more than copying it."""
        return self._values is not None

    @property
    def has_products(self) -> bool:
        """Whether `times` is cheaper than the features, so that decisions need no features."""
        return self._times is not None

    @property
    def sparse(self) -> Any:
        """The features as a sparse matrix, where they are stored as one; else None."""
        if not is_sparse(self._values):
            return None
        return self._values if self._rows is None else self._values[self._rows]

    def keep(self, memory: int) -> FeatureBlocks:
        """Return the same features, stored if they fit into `memory` bytes; otherwise, or if already stored, self."""
        if self.stored or self.nbytes > memory:
            return self
        values = np.empty(self.shape, dtype=self.dtype)
        for span, block in self.blocks():
            values[span] = block
        return FeatureBlocks.of(values)

    def _given(self, start: int, stop: int) -> slice | npt.NDArray[np.int64]:
        """Return samples `start` to `stop` in the form that `compute` takes: a slice if the rows are consecutive."""
        if self._rows is None:
            return slice(start, stop)
        rows = self._rows[start:stop]
        follow = len(rows) > 0 and rows[-1] - rows[0] == len(rows) - 1 and (np.diff(rows) == 1).all()
        return slice(int(rows[0]), int(rows[-1]) + 1) if follow else rows
