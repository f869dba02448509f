"""Standardised columns of scipy's sparse matrices and operators."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csc_array
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from seqkern.core.errors import GramError, ParameterError
from seqkern.core.types import Array, Floats, Ints
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.solvers.psvm import _psvm
from seqkern.solvers.psvm.columns import Columns, StoredColumns

# Columns of a matrix known only by its products and those of its transpose.


class OperatorColumns(Columns):
    """A matrix K known only by its products, such as a `GramOperator`.

    Column j of K is K·e_j, and column j of Q = K̃ᵀK̃ is K̃ᵀ(K̃·e_j): two products. Means and scales take one product
    for each column of K, once, and a block of Q takes two for each of its columns.
    """

    BLOCK = 64  # columns held at a time

    def __init__(self, operator: Any) -> None:
        self.operator = aslinearoperator(operator)
        self.n_rows, size = self.operator.shape
        self.means, self.scales = np.empty(size), np.empty(size)
        for start in range(0, size, self.BLOCK):
            part = np.arange(start, min(start + self.BLOCK, size))
            columns = self._raw(part)
            mean = columns.mean(axis=0)
            largest = np.abs(columns).max(axis=0)
            columns -= mean
            scale = np.sqrt(np.einsum("ij,ij->j", columns, columns) / self.n_rows)
            self.means[part] = mean
            self.scales[part] = np.where(scale <= 1e-12 * largest, 0, scale)
        if not (np.isfinite(self.means).all() and np.isfinite(self.scales).all()):
            raise GramError("a column of the operator contains NaN or inf", remedy="correct its matvec")

    def _raw(self, which: Ints) -> Floats:
        """Return the columns `which` of K, (l, w)."""
        units = np.zeros((self.n_columns, len(which)))
        units[which, np.arange(len(which))] = 1.0
        return np.asarray(self.operator.matmat(units), dtype=np.float64)

    @property
    def _inverses(self) -> Floats:
        """The inverse scales, with 0 for constant columns."""
        return np.divide(1.0, self.scales, out=np.zeros(self.n_columns), where=self.scales > 0)

    def products(self, vector: Floats) -> Floats:
        """Return K̃ᵀv; see `Columns`."""
        raw = np.asarray(self.operator.rmatvec(vector), dtype=np.float64)
        return (raw - self.means * vector.sum()) * self._inverses

    def combine(self, alpha: Floats) -> Floats:
        """Return K̃α; see `Columns`."""
        weights = alpha * self._inverses
        return np.asarray(self.operator.matvec(weights), dtype=np.float64) - self.means @ weights

    def products_of(self, which: Ints, vector: Floats) -> Floats:
        """Return elements of K̃ᵀv; see `Columns`."""
        return self.products(vector)[which]

    def standardised(self, which: Ints) -> Floats:
        """Return columns of K̃ as rows; see `Columns`."""
        out = np.empty((len(which), self.n_rows))
        for start in range(0, len(which), self.BLOCK):
            part = which[start : start + self.BLOCK]
            out[start : start + self.BLOCK] = (self._raw(part) - self.means[part]).T * self._inverses[part, None]
        return out

    def gram(self, a: Ints, b: Ints) -> Floats:
        """Return a block of Q; see `Columns`."""
        out = np.empty((len(a), len(b)))
        for start in range(0, len(b), self.BLOCK):
            columns = self.standardised(b[start : start + self.BLOCK])
            raw = np.asarray(self.operator.rmatmat(columns.T), dtype=np.float64)[a]
            shifted = raw - np.outer(self.means[a], columns.sum(axis=1))
            out[:, start : start + self.BLOCK] = shifted * self._inverses[a, None]
        return out


class GramOperator(LinearOperator):
    """The kernel matrix of records (rows) and others (columns), known only by its products.

    A product takes time proportional to the total length of the records, not to its square. Both operators must have
    the same tables.
    """

    def __init__(self, rows: KernelOperator, columns: KernelOperator | None = None) -> None:
        columns = rows if columns is None else columns
        if rows.tables is not columns.tables:
            raise ParameterError(
                "the records of rows and columns have different tables",
                remedy="take both from the same operator",
            )
        super().__init__(np.dtype(np.float64), (len(rows), len(columns)))  # type: ignore[call-arg]  # scipy-stubs know of no __init__
        self.row_vectors = rows
        self.column_vectors = columns

    def _matvec(self, vector: Array) -> Floats:
        return self.row_vectors.dots(self.column_vectors.weights(np.ravel(vector)))

    def _rmatvec(self, vector: Array) -> Floats:
        return self.column_vectors.dots(self.row_vectors.weights(np.ravel(vector)))


# Columns of a sparse matrix, standardised without being made dense.


class SparseColumns(StoredColumns):
    """A sparse matrix K (stored as CSC), such as k-mer counts: K̃ is dense, but only K is stored."""

    loops: ClassVar[tuple[Callable[..., Any], ...]] = (
        _psvm.sparse_products,
        _psvm.sparse_combine,
        _psvm.sparse_standardise,
    )

    def __init__(self, matrix: Any) -> None:
        matrix = csc_array(matrix, dtype=np.float64)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        self.matrix, self.stored = matrix, (matrix.data, matrix.indices, matrix.indptr)
        self.n_rows = matrix.shape[0]
        self.means, self.scales = np.empty(matrix.shape[1]), np.empty(matrix.shape[1])
        _psvm.sparse_moments(matrix.data, matrix.indptr, self.n_rows, self.means, self.scales)

    def gram(self, a: Ints, b: Ints) -> Floats:
        """Return a block of Q, with one dense column of `b` at a time; see `Columns`."""
        out = np.empty((len(b), len(a)))
        for row, j in zip(out, b, strict=True):
            self.loops[0](*self.stored, self.means, self.scales, a, self.standardised(np.array([j]))[0], row)
        return out.T
