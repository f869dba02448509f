"""Blocks of real-valued features, dense and sparse, for the product engine.

Summed feature after feature in double precision: the bits depend on neither threads nor blocks. A `Term`
with such a block has no other, and the factor 1.
"""

import numpy as np

from seqkern.kernels.products import _fold, _real

PANEL = 16
PRODUCT_NS = (0.18, 0.09, 0.07)  # a product of two dense features, for each level of instructions


class RealDenseBlock:
    """Real-valued features of n records as dense vectors.

    Parameters
    ----------
    values : array_like of float, shape (n, features)

    Attributes
    ----------
    squares : ndarray of float64, shape (n,)
        Φ(x)·Φ(x).
    """

    real = True

    def __init__(self, values):
        values = np.asarray(values, dtype=np.float64)
        n, width = values.shape
        padded = np.zeros((-(-n // PANEL), PANEL, width))
        padded.reshape(len(padded) * PANEL, width)[:n] = values
        self._panels = np.ascontiguousarray(padded.swapaxes(1, 2))
        self.squares = np.zeros(n)
        for feature in values.T:
            self.squares += feature * feature

    def accumulate(self, row, cols, first, last, factor, upper, sums):
        """Add Φ(rows)·Φ(columns) to `sums`, float64; the parameters are those of `SparseBlock.accumulate`."""
        _real.multiply(self._panels, cols._panels, row, first, last, upper, sums)

    def gather(self, first, coefficients):
        """Return Σ_j coefficients[j]·Φ(record first + j), float64 (features,)."""
        weights = np.zeros(self._panels.shape[1])
        _fold.gather_panels(self._panels, first, coefficients, weights)
        return weights

    def apply(self, first, weights, out):
        """Write Φ(record first + i)·weights to out[i]."""
        _fold.apply_panels(self._panels, first, weights, out)


class RealSparseBlock:
    """Real-valued features of n records, mostly zero.

    Parameters
    ----------
    values : scipy.sparse matrix or array, shape (n, features)

    Attributes
    ----------
    squares : ndarray of float64, shape (n,)
        Φ(x)·Φ(x).
    """

    real = True

    def __init__(self, values):
        from scipy.sparse import csr_array

        rows = csr_array(values, dtype=np.float64)
        rows.sum_duplicates()
        columns = rows.tocsc()
        self._rows = _arrays(rows)
        start, post_rows, post_values = _arrays(columns)
        self._lists = start, post_rows, post_values
        self._n_features = rows.shape[1]
        self.squares = np.empty(rows.shape[0])
        _real.row_squares(self._rows[0], self._rows[2], self.squares)

    def accumulate(self, row, cols, first, last, factor, upper, sums):
        """Add Φ(rows)·Φ(columns) to `sums`, float64; the parameters are those of `SparseBlock.accumulate`."""
        _real.walk(*self._rows, *cols._lists, row, first, last, upper, sums)

    def gather(self, first, coefficients):
        """Return Σ_j coefficients[j]·Φ(record first + j), float64 (features,)."""
        weights = np.zeros(self._n_features)
        _fold.gather_sparse(*self._rows, first, coefficients, weights)
        return weights

    def apply(self, first, weights, out):
        """Write Φ(record first + i)·weights to out[i]."""
        _fold.apply_sparse(*self._rows, first, weights, out)


def _arrays(compressed):
    """Return the three arrays of a compressed sparse matrix with the dtypes of the loops, indices ascending."""
    compressed.sort_indices()
    return compressed.indptr.astype(np.int64), compressed.indices.astype(np.int32), compressed.data
