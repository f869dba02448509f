"""The standardised columns of the P-SVM's matrix, as the minimiser sees them.

K̃ is K (l × N) with each column standardised: mean 0 and variance 1 (divisor l) on the training rows. It is never
stored. A way to store K is a subclass of `Columns`; the minimiser asks it for products with K̃ and for blocks of
Q = K̃ᵀK̃, and for nothing else.
"""

import numpy as np

from seqkern.solvers.psvm.potential import _columns


class Columns:
    """A matrix K and the mean and scale of each column.

    Attributes
    ----------
    n_rows, n_columns : int
        l and N.
    means, scales : ndarray of float64, shape (N,)
        Column j of K̃ is (k_j − means[j]) / scales[j]; where scales[j] = 0 the column is constant, but for
        rounding, and column j of K̃ is 0.
    """

    @property
    def n_columns(self):
        """N."""
        return len(self.means)

    def products(self, vector):
        """Return K̃ᵀv, float64 (N,), for `vector` v, float64 (l,)."""
        raise NotImplementedError

    def combine(self, alpha):
        """Return K̃α, float64 (l,), for `alpha`, float64 (N,); columns with α_j = 0 are not read."""
        raise NotImplementedError

    def products_of(self, which, vector):
        """Return the elements `which` (int64, shape (w,)) of K̃ᵀv, float64 (w,)."""
        raise NotImplementedError

    def standardised(self, which):
        """Return the columns `which` of K̃ as rows, float64 (w, l); zeros for constant ones."""
        raise NotImplementedError

    def gram(self, a, b):
        """Return the block of Q = K̃ᵀK̃ of the columns `a` and `b`, float64 (len(a), len(b))."""
        raise NotImplementedError

    def part(self, rows, columns=None):
        """Return the Columns of some rows of K (a training part), with means and scales of their own.

        Parameters
        ----------
        rows : ndarray of int64, shape (m,)
            Ascending.
        columns : ndarray of int64, optional
            Which columns, ascending; by default all. Of a Gram matrix, they are `rows`.
        """
        raise NotImplementedError

    def values(self, rows, which):
        """Return the elements of K, not standardised, in some rows and columns, float64 (len(rows), len(which))."""
        raise NotImplementedError


class DenseColumns(Columns):
    """A matrix in memory, or mapped into it.

    Parameters
    ----------
    columns : ndarray of float64, shape (N, l), C-ordered
        Row j is column j of K.
    means, scales : ndarray of float64, shape (N,), optional
        By default those of the columns.
    """

    BLOCK = 128  # columns that are standardised at a time

    def __init__(self, columns, means=None, scales=None):
        self.columns = columns
        self.n_rows = columns.shape[1]
        if means is None:
            means, scales = np.empty(len(columns)), np.empty(len(columns))
            _columns.moments(columns, means, scales)
        self.means = means
        self.scales = scales

    @classmethod
    def of(cls, K, square):
        """Return the columns of a matrix K, which is not copied if it is symmetric or stored by columns.

        Parameters
        ----------
        K : ndarray of float64, shape (l, N)
        square : bool
            Whether K is a Gram matrix, which may be symmetric.
        """
        symmetric = square and K.flags.c_contiguous and _columns.is_symmetric(K)
        return cls(np.ascontiguousarray(K if symmetric else K.T))

    def products(self, vector):
        """Return K̃ᵀv; see `Columns`."""
        out = np.empty(self.n_columns)
        _columns.products(self.columns, self.means, self.scales, None, vector, out)
        return out

    def combine(self, alpha):
        """Return K̃α; see `Columns`."""
        out = np.zeros(self.n_rows)
        _columns.combine(self.columns, self.means, self.scales, alpha, out)
        return out

    def products_of(self, which, vector):
        """Return elements of K̃ᵀv; see `Columns`."""
        out = np.empty(len(which))
        _columns.products(self.columns, self.means, self.scales, which, vector, out)
        return out

    def standardised(self, which):
        """Return columns of K̃ as rows; see `Columns`."""
        out = np.empty((len(which), self.n_rows))
        _columns.standardise(self.columns, self.means, self.scales, which, out)
        return out

    def gram(self, a, b):
        """Return a block of Q; see `Columns`."""
        right = self.standardised(b)
        out = np.empty((len(a), len(b)))
        for start in range(0, len(a), self.BLOCK):
            part = slice(start, start + self.BLOCK)
            out[part] = self.standardised(a[part]) @ right.T
        return out

    def part(self, rows, columns=None):
        """Return some rows and columns, a copy, standardised anew; see `Columns`."""
        picked = self.columns if columns is None else self.columns[columns]
        return DenseColumns(np.ascontiguousarray(picked[:, rows]))

    def values(self, rows, which):
        """Return elements of K; see `Columns`."""
        return np.ascontiguousarray(self.columns[np.ix_(which, rows)].T)
