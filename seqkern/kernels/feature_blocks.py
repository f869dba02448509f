"""Explicit feature vectors of many units, computed block by block when they are asked for.

The features of hundreds of thousands of units do not have to fit into memory at once. A solver that takes them in
blocks sees them through `FeatureBlocks`, in the precision in which the kernel makes them, whether they are stored,
sparse, or computed anew each time. `Kernel.feature_blocks` returns them.
"""

import copy

import numpy as np

from seqkern.core.sparse_types import is_sparse
from seqkern.core.threads import one_thread

BLOCK_ROWS = 2048


def filled(block, rows):
    """Return a block filled up with rows of zeros: BLAS chooses by the shapes in which order it sums."""
    if len(block) == rows:
        return block
    out = np.zeros((rows, block.shape[1]), dtype=block.dtype)
    out[: len(block)] = block
    return out


class FeatureBlocks:
    """Feature vectors of n units.

    Parameters
    ----------
    shape : tuple of int, (n, d)
    dtype : {float32, float64}
    compute : callable
        ``compute(rows)`` returns the features of some units, ndarray or sparse matrix (len(rows), d), for a slice or
        an int64 array of rows; bits of a unit depend on that unit alone.
    times : callable, optional
        ``times(weights)`` returns what computes the features times float64 weights (d, k) without the features: a
        function of rows to float64 (len(rows), k).
    """

    def __init__(self, shape, dtype, compute, times=None):
        self.shape = tuple(map(int, shape))
        self.dtype = np.dtype(dtype)
        self._compute = compute
        self._times = times
        self._rows = None  # all, or those taken
        self._values = None  # of all, where they are stored

    @classmethod
    def of(cls, values):
        """Return the FeatureBlocks of features that are there: an ndarray or a sparse matrix, float32 or float64."""
        if is_sparse(values):
            values = values.tocsr()
        blocks = cls(values.shape, values.dtype, values.__getitem__)
        blocks._values = values
        return blocks

    def __len__(self):
        return self.shape[0]

    def take(self, rows):
        """Return the features of the units `rows` (integer array, boolean mask or slice) as a view."""
        taken = copy.copy(self)
        rows = np.arange(len(self))[rows]
        taken._rows = rows if self._rows is None else self._rows[rows]
        taken.shape = (len(rows), self.shape[1])
        return taken

    def block(self, start, stop):
        """Return the features of units `start` to `stop`, C-ordered ndarray of `dtype`, shape (stop − start, d).

        It may be a view of what is stored: not to be written to.
        """
        values = self._compute(self._given(start, stop))
        values = values.toarray() if is_sparse(values) else values
        return np.ascontiguousarray(values, dtype=self.dtype)

    def blocks(self, size=BLOCK_ROWS):
        """Yield (slice, block) for all units in order, `size` units at a time."""
        for start in range(0, len(self), size):
            span = slice(start, min(start + size, len(self)))
            yield span, self.block(span.start, span.stop)

    def times(self, weights):
        """Return the features times `weights`, float64 (n, k), for weights of shape (d, k).

        It is what prediction needs; some kernels compute it faster than the features. The bits of a unit depend on that
        unit alone.
        """
        weights = np.ascontiguousarray(weights, dtype=np.float64)
        out = np.empty((len(self), weights.shape[1]))
        with one_thread():
            direct = self._product(weights) if self._times is None else self._times(weights)
            for start in range(0, len(self), BLOCK_ROWS):
                out[start : start + BLOCK_ROWS] = direct(self._given(start, min(start + BLOCK_ROWS, len(self))))
        return out

    def _product(self, weights):
        """Return the function of rows that multiplies their features."""

        def direct(rows):
            values = self._compute(rows)
            if is_sparse(values):
                return values @ weights
            return (filled(values, BLOCK_ROWS).astype(np.float64, copy=False) @ weights)[: len(values)]

        return direct

    @property
    def nbytes(self):
        """The bytes that all features take, dense."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    @property
    def stored(self):
        """Whether a block costs no more than a copy of it."""
        return self._values is not None

    @property
    def sparse(self):
        """The features as a sparse matrix, where they are stored as one; else None."""
        if not is_sparse(self._values):
            return None
        return self._values if self._rows is None else self._values[self._rows]

    def keep(self, memory):
        """Return the same features, stored if they take no more than `memory` bytes; else, or if stored, self."""
        if self.stored or self.nbytes > memory:
            return self
        values = np.empty(self.shape, dtype=self.dtype)
        for span, block in self.blocks():
            values[span] = block
        return FeatureBlocks.of(values)

    def _given(self, start, stop):
        """Return units `start` to `stop` as `compute` takes them: a slice, where the rows follow each other."""
        if self._rows is None:
            return slice(start, stop)
        rows = self._rows[start:stop]
        follow = len(rows) > 0 and rows[-1] - rows[0] == len(rows) - 1 and (np.diff(rows) == 1).all()
        return slice(int(rows[0]), int(rows[-1]) + 1) if follow else rows
