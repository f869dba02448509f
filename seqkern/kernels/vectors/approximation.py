"""What approximations of a kernel by explicit features share: K(x, y) = φ(x)·φ(y), φ in single precision.

φ(x) is computed in two steps: values of x (its kernel with some landmarks, or waves), and a fixed matrix by which they
are multiplied, the `map`. Products are done by BLAS on one thread, for `CHUNK_ROWS` units at a time, the last chunk
filled up with zeros: so the bits of φ(x) depend on x alone, not on the units beside it, nor on the number of threads,
which share the chunks. They do depend on the BLAS library and the processor. Sums φ(x)·φ(y) are in double precision.
"""

from functools import partial
from typing import ClassVar

import numpy as np

from seqkern.core.parameters import changed
from seqkern.core.threads import in_threads, one_thread
from seqkern.kernels.additive import attributions, spread_evenly
from seqkern.kernels.base import Plan
from seqkern.kernels.composite import CompositeKernel, as_parts
from seqkern.kernels.explicit import normalised_vectors
from seqkern.kernels.feature_blocks import FeatureBlocks
from seqkern.kernels.vectors.vector import PRODUCT_SECONDS, LinearKernel, PreparedVectors

CHUNK_ROWS = 512
SINGLE_SECONDS = 1e-11  # of CPU, for one product of two numbers in single precision, by BLAS
VALUE_SECONDS = 1e-9  # for one exponential, power or wave in single precision


def in_chunks(rows, values, matrix, like, n_threads):
    """Return ``values(rows) @ matrix``, in chunks shared by threads.

    Parameters
    ----------
    rows : ndarray of int64, shape (n,)
    values : callable
        Takes at most `CHUNK_ROWS` rows and returns their values, float32 or float64 (`CHUNK_ROWS`, columns), below them
        what does not matter.
    matrix : ndarray, shape (columns, k), or None
        Without one, the values are returned.
    like : ndarray
        Of the dtype and width of what is returned.
    n_threads : int or None
    """
    out = np.empty((len(rows), like.shape[1]), dtype=like.dtype)

    def task(start):
        part = rows[start : start + CHUNK_ROWS]
        block = values(part).astype(like.dtype, copy=False)
        out[start : start + len(part)] = (block if matrix is None else block @ matrix)[: len(part)]

    with one_thread():
        in_threads([partial(task, start) for start in range(0, len(rows), CHUNK_ROWS)], n_threads)
    return out


class ApproximateKernel(CompositeKernel):
    """Base of the approximations of the kernel `base` by explicit features.

    A subclass has the parameters `base` and `n_components` besides, and writes `_values`, and `_map` if there is one.
    """

    positive_semidefinite = True
    made_again: ClassVar[tuple[str, ...]] = ("_folded",)  # attributes that follow from others; they are not pickled

    def __getstate__(self):
        """Return what is pickled."""
        return {name: value for name, value in vars(self).items() if name not in self.made_again}

    def _values(self, X):
        """Return (columns, function) for units `X`.

        The function takes an array of at most `CHUNK_ROWS` rows and returns their values, float32 or float64
        (`CHUNK_ROWS`, columns), below them what does not matter. It is called from several threads.
        """
        raise NotImplementedError

    def _map(self):
        """Return what the values are multiplied by, float32 (columns, features); None if nothing."""
        return None

    def _given(self):
        return as_parts(self.name, [self.base])

    @property
    def equal_lengths(self):
        """Whether all sequences must have one length, as the base has it."""
        return self._given()[0].equal_lengths

    # ---- features -------------------------------------------------------------------------------

    def features(self, X):
        """Return φ, not normalised, float32 (n, features)."""
        blocks = self._raw_blocks(X)
        return blocks.block(0, len(blocks))

    def feature_blocks(self, X, counts=None):
        """Return φ, normalised as the kernel is, float32, computed when asked for; see `Kernel.feature_blocks`."""
        X = self.coerce(X)
        raw = self._raw_blocks(X)
        if not self.normalize:
            return raw

        def compute(rows):
            rows = np.arange(len(X))[rows]
            return normalised_vectors(self, X.take(rows), raw.take(rows).block(0, len(rows)))

        return FeatureBlocks(raw.shape, raw.dtype, compute)

    def _raw_blocks(self, X):
        """Return φ, not normalised, as FeatureBlocks."""
        self.check_parameters()
        self.check_fitted()
        X = self.coerce(X)
        columns, values = self._values(X)
        matrix = self._map()
        width = columns if matrix is None else matrix.shape[1]

        def compute(rows):
            like = np.empty((0, width), dtype=np.float32)
            return in_chunks(np.arange(len(X))[rows], values, matrix, like, self.n_threads)

        def times(weights):
            weights = weights if matrix is None else self._fold_map(matrix, weights)
            return lambda rows: in_chunks(np.arange(len(X))[rows], values, weights, weights[:0], self.n_threads)

        return FeatureBlocks((len(X), width), np.float32, compute, times)

    def _fold_map(self, matrix, weights):
        """Return ``matrix @ weights``, float64; the latest is kept, as a model has the same for every unit."""
        folded = getattr(self, "_folded", None)
        if folded is None or folded[0] is not matrix or not np.array_equal(folded[1], weights):
            self._folded = folded = matrix, weights.copy(), matrix.astype(np.float64) @ weights
        return folded[2]

    # ---- the kernel -----------------------------------------------------------------------------

    def _prepare(self, X, like):
        values = self.features(X).astype(np.float64)
        return PreparedVectors(values, np.ascontiguousarray(values.T), ())

    def _block(self, rows, cols, out):
        LinearKernel._block(self, rows, cols, out)

    _fold = LinearKernel._fold

    normalize: bool = changed(default=False, doc="Divide φ by its length.")

    def _attribute(self, X, support, coefficients):
        """Return the shares by the base kernel; what the approximation changes is shared by all letters equally."""
        shares = attributions(self.bases[0], X, support, coefficients)
        weights = coefficients @ self.features(support).astype(np.float64)
        whole = self.features(X).astype(np.float64) @ weights
        ends = np.concatenate(([0], np.cumsum(X.lengths)))
        sums = np.add.reduceat(np.append(shares, 0.0), ends[:-1]) * (X.lengths > 0)
        return shares + spread_evenly(X, whole - sums)

    def plan(self, X, Y=None):
        """Return the Plan for this kernel on `X` (against `Y`): the features of all, and their products."""
        self.check_parameters()
        sets = [self.coerce(Z) for Z in (X, Y) if Z is not None]
        units, pairs = sum(map(len, sets)), len(sets[0]) * len(sets[-1]) / (2 if Y is None else 1)
        d = self.n_components
        each = d * (VALUE_SECONDS + SINGLE_SECONDS * d)
        return Plan("features", units * each + pairs * d * PRODUCT_SECONDS, 20 * d * units)
