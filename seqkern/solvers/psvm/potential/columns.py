"""The standardised columns of the P-SVM's matrix, the interface of the minimiser.

K̃ is K (l × N) with each column standardised: mean 0 and variance 1 (divisor l) on the training rows. It is never
stored. Each storage of K is a subclass of `Columns`; the minimiser uses only products with K̃ and blocks of Q = K̃ᵀK̃.
"""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

from seqkern.core._symmetry import is_symmetric
from seqkern.solvers.psvm.potential import _columns


class Columns:
    """A matrix K and the mean and scale of each column.

    Attributes
    ----------
    n_rows, n_columns : int
        l and N.
    means, scales : ndarray of float64, shape (N,)
        Column j of K̃ is (k_j − means[j]) / scales[j]; if scales[j] = 0 the column is constant up to rounding, and
        column j of K̃ is 0.
    """

    n_rows: int
    means: npt.NDArray[np.float64]
    scales: npt.NDArray[np.float64]

    @property
    def n_columns(self) -> int:
        """N."""
        return len(self.means)

    def products(self, vector: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return K̃ᵀv.

        Parameters
        ----------
        vector : ndarray of float64, shape (l,)
            v.

        Returns
        -------
        ndarray of float64, shape (N,)
        """
        raise NotImplementedError

    def combine(self, alpha: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return K̃α.

        Parameters
        ----------
        alpha : ndarray of float64, shape (N,)
            α; columns with α_j = 0 are not read.

        Returns
        -------
        ndarray of float64, shape (l,)
        """
        raise NotImplementedError

    def products_of(self, which: npt.NDArray[np.int64], vector: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return some elements of K̃ᵀv.

        Parameters
        ----------
        which : ndarray of int64, shape (w,)
            Their columns.
        vector : ndarray of float64, shape (l,)
            v.

        Returns
        -------
        ndarray of float64, shape (w,)
        """
        raise NotImplementedError

    def standardised(self, which: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return some columns of K̃, as rows.

        Parameters
        ----------
        which : ndarray of int64, shape (w,)
            Which columns.

        Returns
        -------
        ndarray of float64, shape (w, l)
            Zeros for constant ones.
        """
        raise NotImplementedError

    def gram(self, a: npt.NDArray[np.int64], b: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return a block of Q = K̃ᵀK̃.

        Parameters
        ----------
        a, b : ndarray of int64
            The columns of K for its rows and columns.

        Returns
        -------
        ndarray of float64, shape (len(a), len(b))
        """
        raise NotImplementedError

    def part(self, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64] | None = None) -> Columns:
        """Return the Columns of some rows of K (a training set), with their own means and scales.

        Parameters
        ----------
        rows : ndarray of int64, shape (m,)
            Ascending.
        columns : ndarray of int64, optional
            Which columns, ascending; by default all. Of a Gram matrix, they are `rows`.

        Returns
        -------
        Columns
        """
        raise NotImplementedError

    def values(self, rows: npt.NDArray[np.int64], which: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return elements of K, not standardised.

        Parameters
        ----------
        rows, which : ndarray of int64
            Their rows and columns.

        Returns
        -------
        ndarray of float64, shape (len(rows), len(which))
        """
        raise NotImplementedError


class DenseColumns(Columns):
    """A matrix in memory, or memory-mapped.

    Parameters
    ----------
    columns : ndarray of float64, shape (N, l), C-ordered
        Row j is column j of K.
    means, scales : ndarray of float64, shape (N,), optional
        By default those of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.psvm.potential.columns import DenseColumns
    >>> counts = np.array([[2.0, 1.0], [4.0, 1.0], [6.0, 1.0]])  # of two k-mers in three records
    >>> columns = DenseColumns.of(counts, square=False)
    >>> columns.means, columns.scales.round(3)  # the second one is constant
    (array([4., 1.]), array([1.633, 0.   ]))
    >>> columns.products(np.array([-1.0, 0.0, 1.0])).round(3)
    array([2.449, 0.   ])
    """

    BLOCK = 128  # columns standardised at a time
    SAMPLE = 64  # columns compared by `nearly_orthogonal`

    def __init__(
        self,
        columns: npt.NDArray[np.float64],
        means: npt.NDArray[np.float64] | None = None,
        scales: npt.NDArray[np.float64] | None = None,
    ) -> None:
        self.columns = columns
        self.n_rows = columns.shape[1]
        if means is None or scales is None:
            means, scales = np.empty(len(columns)), np.empty(len(columns))
            _columns.moments(columns, means, scales)
        self.means = means
        self.scales = scales

    @classmethod
    def of(cls, K: npt.NDArray[np.float64], square: bool) -> DenseColumns:
        """Return the columns of a matrix K, without a copy if it is symmetric or stored by columns.

        Parameters
        ----------
        K : ndarray of float64, shape (l, N)
            Not standardised.
        square : bool
            Whether K is a Gram matrix, which may be symmetric.

        Returns
        -------
        DenseColumns
        """
        symmetric = square and K.flags.c_contiguous and is_symmetric(K)
        return cls(np.ascontiguousarray(K if symmetric else K.T))

    def products(self, vector: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return K̃ᵀv; see `Columns`."""
        out = np.empty(self.n_columns)
        _columns.products(self.columns, self.means, self.scales, None, vector, out)
        return out

    def combine(self, alpha: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return K̃α; see `Columns`."""
        out = np.zeros(self.n_rows)
        _columns.combine(self.columns, self.means, self.scales, alpha, out)
        return out

    def products_of(self, which: npt.NDArray[np.int64], vector: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return elements of K̃ᵀv; see `Columns`."""
        out = np.empty(len(which))
        _columns.products(self.columns, self.means, self.scales, which, vector, out)
        return out

    def standardised(self, which: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return columns of K̃ as rows; see `Columns`."""
        out = np.empty((len(which), self.n_rows))
        _columns.standardise(self.columns, self.means, self.scales, which, out)
        return out

    def gram(self, a: npt.NDArray[np.int64], b: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return a block of Q; see `Columns`."""
        right = self.standardised(b)
        out = np.empty((len(a), len(b)))
        for start in range(0, len(a), self.BLOCK):
            part = slice(start, start + self.BLOCK)
            out[part] = self.standardised(a[part]) @ right.T
        return out

    def sweep(
        self,
        which: npt.NDArray[np.int64],
        alpha: npt.NDArray[np.float64],
        residual: npt.NDArray[np.float64],
        epsilon: float,
        cost: float,
    ) -> int:
        """Minimise the dual over each of some variables, in turn.

        Parameters
        ----------
        which : ndarray of int64
            The variables.
        alpha, residual : ndarray of float64
            α and K̃α − y; changed in place.
        epsilon, cost : float
            ε and C.

        Returns
        -------
        int
            Number of variables that have moved.
        """
        return int(_columns.sweep(self.columns, self.means, self.scales, which, alpha, residual, epsilon, cost))

    @functools.cached_property
    def nearly_orthogonal(self) -> bool:
        """Whether K̃ᵀK̃ is nearly a diagonal matrix, as that of a narrow kernel.

        In its average row, squares off the diagonal then sum up to at most half of that on it: an estimate from columns
        at equal distances.
        """
        varying = np.flatnonzero(self.scales)
        which = varying[np.linspace(0, len(varying) - 1, min(len(varying), self.SAMPLE)).astype(np.int64)]
        if len(which) < 2:
            return False
        rows = np.empty((len(which), self.n_rows))
        _columns.standardise(self.columns, self.means, self.scales, which, rows)
        Q = rows @ rows.T / self.n_rows
        np.fill_diagonal(Q, 0.0)
        return bool(len(varying) * (Q**2).sum() / (len(which) * (len(which) - 1)) <= 0.5)

    def part(self, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64] | None = None) -> DenseColumns:
        """Return some rows and columns, a copy, standardised anew; see `Columns`."""
        picked = self.columns if columns is None else self.columns[columns]
        return DenseColumns(np.ascontiguousarray(picked[:, rows]))

    def values(self, rows: npt.NDArray[np.int64], which: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return elements of K; see `Columns`."""
        return np.ascontiguousarray(self.columns[np.ix_(which, rows)].T)
