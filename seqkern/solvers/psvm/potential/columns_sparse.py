"""Columns of a sparse matrix, standardised without becoming dense."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array

from seqkern.solvers.psvm.potential import _columns_sparse
from seqkern.solvers.psvm.potential.columns import Columns


class SparseColumns(Columns):
    """A sparse matrix K, such as counts of k-mers: K̃ is dense, but only K is stored.

    Parameters
    ----------
    matrix : scipy sparse matrix or array, shape (l, N)
        Turned into float64 by columns (CSC), without a copy if it already is, without duplicate elements.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from seqkern.solvers.psvm.potential.columns_sparse import SparseColumns
    >>> columns = SparseColumns(csr_array([[0.0, 3.0], [2.0, 0.0], [0.0, 0.0]]))
    >>> columns.means.round(3), columns.scales.round(3)
    (array([0.667, 1.   ]), array([0.943, 1.414]))
    >>> columns.gram(np.array([0, 1]), np.array([0, 1])).round(3)
    array([[ 3. , -1.5],
           [-1.5,  3. ]])
    """

    def __init__(self, matrix: Any) -> None:
        matrix = csc_array(matrix, dtype=np.float64)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        self.matrix = matrix
        self.n_rows = matrix.shape[0]
        self.means, self.scales = np.empty(matrix.shape[1]), np.empty(matrix.shape[1])
        _columns_sparse.moments(matrix.data, matrix.indptr, self.n_rows, self.means, self.scales)

    @property
    def _stored(
        self,
    ) -> tuple[
        npt.NDArray[np.float64], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[np.float64], npt.NDArray[np.float64]
    ]:
        """The common arguments of all loops."""
        return self.matrix.data, self.matrix.indices, self.matrix.indptr, self.means, self.scales

    def products(self, vector: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return K̃ᵀv; see `Columns`."""
        out = np.empty(self.n_columns)
        _columns_sparse.products(*self._stored, None, vector, out)
        return out

    def combine(self, alpha: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return K̃α; see `Columns`."""
        out = np.zeros(self.n_rows)
        _columns_sparse.combine(*self._stored, alpha, out)
        return out

    def products_of(self, which: npt.NDArray[np.int64], vector: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return elements of K̃ᵀv; see `Columns`."""
        out = np.empty(len(which))
        _columns_sparse.products(*self._stored, which, vector, out)
        return out

    def standardised(self, which: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return columns of K̃ as rows; see `Columns`."""
        out = np.empty((len(which), self.n_rows))
        _columns_sparse.standardise(*self._stored, which, out)
        return out

    def gram(self, a: npt.NDArray[np.int64], b: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return a block of Q; see `Columns`. One column of `b` at a time is dense."""
        out = np.empty((len(b), len(a)))
        for row, j in zip(out, b, strict=True):
            _columns_sparse.products(*self._stored, a, self.standardised(np.array([j]))[0], row)
        return out.T

    def part(self, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64] | None = None) -> "SparseColumns":
        """Return some rows and columns, standardised anew; see `Columns`."""
        matrix = self.matrix if columns is None else self.matrix[:, columns]
        return SparseColumns(matrix[rows])

    def values(self, rows: npt.NDArray[np.int64], which: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return elements of K; see `Columns`."""
        return np.ascontiguousarray(self.matrix[:, which][rows].toarray())
