"""Standardised columns of the P-SVM's matrix K: the interface used by the minimiser.

K̃ is K (l × N) with each column standardised to mean 0 and variance 1 (divisor l) on the training rows. It is never
stored. Each storage of K is a subclass of `Columns`; the minimiser uses only products with K̃ and blocks of Q =
K̃ᵀK̃.
"""

import functools
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from seqkern.core._symmetry import is_symmetric
from seqkern.core.errors import GramError, ParameterError
from seqkern.core.types import Array, Floats, Ints
from seqkern.gram.matrix import MIB, MatrixFile
from seqkern.solvers import _linear
from seqkern.solvers.psvm import _psvm


class Columns:
    """A matrix K (l × N) with the mean and scale of each column.

    Column j of K̃ is (k_j − means[j]) / scales[j], or 0 if scales[j] = 0, where the column is constant up to rounding.
    """

    n_rows: int
    means: Floats
    scales: Floats

    @property
    def n_columns(self) -> int:
        """The number of columns, N."""
        return len(self.means)

    def products(self, vector: Floats) -> Floats:
        """Return the products K̃ᵀv, shape (N,)."""
        raise NotImplementedError

    def combine(self, alpha: Floats) -> Floats:
        """Return the combination K̃α, shape (l,); columns with α_j = 0 are not read."""
        raise NotImplementedError

    def products_of(self, which: Ints, vector: Floats) -> Floats:
        """Return the elements `which` of K̃ᵀv."""
        raise NotImplementedError

    def standardised(self, which: Ints) -> Floats:
        """Return some columns of K̃ as rows, shape (w, l); constant columns are zeros."""
        raise NotImplementedError

    def gram(self, a: Ints, b: Ints) -> Floats:
        """Return a block of Q = K̃ᵀK̃, shape (len(a), len(b))."""
        raise NotImplementedError


class StoredColumns(Columns):
    """Columns in memory; `loops` are their compiled products, combination and standardisation, `stored` the matrix."""

    loops: ClassVar[tuple[Callable[..., Any], ...]]
    stored: tuple[Array, ...]

    def products(self, vector: Floats) -> Floats:
        """Return K̃ᵀv; see `Columns`."""
        out = np.empty(self.n_columns)
        self.loops[0](*self.stored, self.means, self.scales, None, vector, out)
        return out

    def combine(self, alpha: Floats) -> Floats:
        """Return K̃α; see `Columns`."""
        out = np.zeros(self.n_rows)
        self.loops[1](*self.stored, self.means, self.scales, alpha, out)
        return out

    def products_of(self, which: Ints, vector: Floats) -> Floats:
        """Return elements of K̃ᵀv; see `Columns`."""
        out = np.empty(len(which))
        self.loops[0](*self.stored, self.means, self.scales, which, vector, out)
        return out

    def standardised(self, which: Ints) -> Floats:
        """Return columns of K̃ as rows; see `Columns`."""
        out = np.empty((len(which), self.n_rows))
        self.loops[2](*self.stored, self.means, self.scales, which, out)
        return out


class DenseColumns(StoredColumns):
    """A dense matrix in memory or memory-mapped; row j of `columns` is column j of K."""

    BLOCK = 128  # columns standardised at a time
    SAMPLE = 64  # columns compared by `nearly_orthogonal`
    loops = (_psvm.products, _psvm.combine, _psvm.standardise)

    def __init__(self, columns: Floats, means: Floats | None = None, scales: Floats | None = None) -> None:
        self.columns, self.stored = columns, (columns,)
        self.n_rows = columns.shape[1]
        if means is None or scales is None:
            means, scales = np.empty(len(columns)), np.empty(len(columns))
            _psvm.moments(columns, means, scales)
        self.means = means
        self.scales = scales

    @classmethod
    def of(cls, K: Floats, square: bool) -> "DenseColumns":
        """Return the columns of a matrix K, without a copy if it is symmetric or stored by columns."""
        symmetric = square and K.flags.c_contiguous and is_symmetric(K)
        return cls(np.ascontiguousarray(K if symmetric else K.T))

    def gram(self, a: Ints, b: Ints) -> Floats:
        """Return a block of Q; see `Columns`."""
        right = self.standardised(b)
        out = np.empty((len(a), len(b)))
        for start in range(0, len(a), self.BLOCK):
            part = slice(start, start + self.BLOCK)
            out[part] = self.standardised(a[part]) @ right.T
        return out

    def sweep(self, which: Ints, alpha: Floats, residual: Floats, epsilon: float, cost: float) -> int:
        """Minimise the dual over some variables one by one, and return the number of moved ones.

        `alpha` and `residual` (K̃α − y) are changed in place.
        """
        return int(_psvm.sweep(self.columns, self.means, self.scales, which, alpha, residual, epsilon, cost))

    @functools.cached_property
    def nearly_orthogonal(self) -> bool:
        """Whether K̃ᵀK̃ is nearly diagonal, as with a narrow kernel.

        In an average row, the squares off the diagonal sum to at most half of the diagonal's square, estimated from
        evenly spaced columns.
        """
        varying = np.flatnonzero(self.scales)
        which = varying[np.linspace(0, len(varying) - 1, min(len(varying), self.SAMPLE)).astype(np.int64)]
        if len(which) < 2:
            return False
        rows = np.empty((len(which), self.n_rows))
        _psvm.standardise(self.columns, self.means, self.scales, which, rows)
        Q = rows @ rows.T / self.n_rows
        np.fill_diagonal(Q, 0.0)
        return bool(len(varying) * (Q**2).sum() / (len(which) * (len(which) - 1)) <= 0.5)


# Columns of a matrix stored in a file, read in file order with bounded memory.


class ColumnCache:
    """A cache of the `n_columns` most recently used columns, of `n_rows` numbers each."""

    def __init__(self, n_columns: int, n_rows: int) -> None:
        self.store = np.empty((n_columns, n_rows))
        self.place: OrderedDict[int, int] = OrderedDict()  # of each column in `store`; the one used last at the end

    def missing(self, which: Ints) -> Ints:
        """Return the missing columns, and mark the others as recently used."""
        out = []
        for j in which:
            if j in self.place:
                self.place.move_to_end(j)
            else:
                out.append(j)
        return np.array(out, dtype=np.int64)

    def reserve(self, which: Ints) -> list[int]:
        """Return slots in `store` for missing columns, evicting the least recently used ones."""
        places = []
        for j in which:
            free = len(self.place) < len(self.store)
            place = len(self.place) if free else self.place.popitem(last=False)[1]
            self.place[j] = place
            places.append(place)
        return places

    def get(self, which: Ints) -> Floats:
        """Return a copy of cached columns, as rows."""
        return self.store[[self.place[j] for j in which]]


class MappedColumns(Columns):
    """A matrix K in a file, with at most `cache_size` MiB in memory.

    Symmetric matrices and those stored by columns are read by columns, which are contiguous in the file. The columns of
    other matrices are scattered over the file, so each request is read in one pass, by blocks of rows. Columns used for
    blocks of Q are cached in half of the memory.
    """

    def __init__(self, file: MatrixFile, by_columns: bool, cache_size: float) -> None:
        self.file = file
        self.by_columns = by_columns
        self.cache_size = cache_size
        self.n_rows, size = file.shape[::-1] if by_columns else file.shape
        room = int(cache_size * MIB / 8)
        longest = max(self.n_rows, *file.stored)
        if room < 16 * longest:
            raise ParameterError(
                f"cache_size={cache_size} MiB cannot hold sixteen columns",
                remedy=f"give at least {int(np.ceil(16 * longest * 8 / MIB))}",
            )
        # Half is the cache, an eighth is for blocks in transit, the rest for columns being multiplied.
        self.block = room // 8
        self.batch = max(1, room // 8 // self.n_rows)
        self.cache = ColumnCache(min(size, room // 2 // self.n_rows), self.n_rows)
        self.means, self.scales = np.empty(size), np.empty(size)
        if by_columns:
            for part, block in file.blocks(self.block):
                _psvm.moments(block, self.means[part], self.scales[part])
                _check_finite(self.means[part], part.start)
        else:
            self._moments_by_rows()

    @classmethod
    def of(cls, mapped: np.memmap, square: bool, cache_size: float) -> "MappedColumns":
        """Return the columns of a memory map of a whole matrix (see `is_whole_map`), shape (l, N)."""
        file = MatrixFile.of(mapped)
        by_columns = not mapped.flags.c_contiguous
        if not by_columns and square:
            by_columns = file.is_symmetric(int(cache_size * MIB / 8) // 4)
        return cls(file, by_columns, cache_size)

    def _moments_by_rows(self) -> None:
        """Set means and scales by combining moments of blocks of rows (Chan, Golub & LeVeque 1983)."""
        size = self.n_columns
        mean, squares, largest = np.zeros(size), np.zeros(size), np.zeros(size)
        for part, block in self.file.blocks(self.block):
            count = part.stop - part.start
            np.maximum(largest, np.maximum(block.max(axis=0), -block.min(axis=0)), out=largest)
            own = block.mean(axis=0)
            _check_finite(own, 0)
            block -= own
            squares += np.einsum("ij,ij->j", block, block)
            step = own - mean
            mean += step * (count / part.stop)
            squares += step * step * (part.start * count / part.stop)
        self.means[:] = mean
        scales = np.sqrt(squares / self.n_rows)
        self.scales[:] = np.where(scales <= 1e-12 * largest, 0, scales)

    def products(self, vector: Floats) -> Floats:
        """Return K̃ᵀv, in one pass through the file; see `Columns`."""
        out = np.zeros(self.n_columns)
        if self.by_columns:
            for part, block in self.file.blocks(self.block):
                _psvm.products(block, self.means[part], self.scales[part], None, vector, out[part])
            return out
        for part, block in self.file.blocks(self.block):
            _psvm.add_products_by_rows(block, self.means, vector[part], out)
        return np.divide(out, self.scales, out=np.zeros(self.n_columns), where=self.scales > 0)

    def combine(self, alpha: Floats) -> Floats:
        """Return K̃α; see `Columns`."""
        out = np.zeros(self.n_rows)
        which = np.flatnonzero((alpha != 0) & (self.scales > 0)).astype(np.int64)
        if self.by_columns:
            for batch in self._batches(which):
                columns = self._raw(batch)
                _psvm.combine(columns, self.means[batch], self.scales[batch], alpha[batch], out)
            return out
        weights = alpha[which] / self.scales[which]
        for part, block in self.file.blocks(self.block):
            _linear.decide(block, which, self.means[which], weights, 0.0, out[part])
        return out

    def products_of(self, which: Ints, vector: Floats) -> Floats:
        """Return elements of K̃ᵀv; see `Columns`."""
        if not self.by_columns and len(self.cache.missing(which)):
            return self.products(vector)[which]
        out = np.empty(len(which))
        for batch, places in zip(self._batches(which), self._batches(np.arange(len(which))), strict=True):
            part = np.empty(len(batch))
            _psvm.products(self._raw(batch), self.means[batch], self.scales[batch], None, vector, part)
            out[places] = part
        return out

    def standardised(self, which: Ints) -> Floats:
        """Return columns of K̃ as rows; see `Columns`."""
        return self._standardised(which, keep=False)

    def gram(self, a: Ints, b: Ints) -> Floats:
        """Return a block of Q; see `Columns`."""
        if not self.by_columns and len(np.union1d(a, b)) > len(self.cache.store):
            return self._gram_by_rows(a, b)
        if not self.by_columns:
            self._keep(np.union1d(a, b))  # in one pass
        out = np.empty((len(a), len(b)))
        for right in self._batches(np.arange(len(b))):
            columns = self._standardised(b[right], keep=True)
            for left in self._batches(np.arange(len(a))):
                out[np.ix_(left, right)] = self._standardised(a[left], keep=True) @ columns.T
        return out

    def _gram_by_rows(self, a: Ints, b: Ints) -> Floats:
        """Return a block of Q, in one pass through the file, without caching."""
        out = np.zeros((len(a), len(b)))
        for _, block in self.file.blocks(self.block):
            left, right = block[:, a], block[:, b]
            left -= self.means[a]
            right -= self.means[b]
            out += left.T @ right
        return out * np.outer(self._inverses(a), self._inverses(b))

    def _batches(self, which: Ints) -> Iterator[Ints]:
        """Yield batches of as many indices as columns fit into the product buffer."""
        for start in range(0, len(which), self.batch):
            yield which[start : start + self.batch]

    def _inverses(self, which: Ints) -> Floats:
        """Return 1 / scale of columns, and 0 for constant ones."""
        return np.divide(1.0, self.scales[which], out=np.zeros(len(which)), where=self.scales[which] > 0)

    def _standardised(self, which: Ints, keep: bool) -> Floats:
        """Return columns of K̃ as rows; see `_raw` for `keep`."""
        rows = self._raw(which, keep)
        rows -= self.means[which, None]
        rows *= self._inverses(which)[:, None]
        return rows

    def _raw(self, which: Ints, keep: bool = False) -> Floats:
        """Return a copy of columns of K as rows, from the cache or the file; `keep` puts all of them into the cache."""
        if keep:
            self._keep(which)
        missing = self.cache.missing(which)
        if not len(missing):
            return self.cache.get(which)
        out = np.empty((len(which), self.n_rows))
        new = np.isin(which, missing)
        out[~new] = self.cache.get(which[~new])
        self._read(missing, out, np.flatnonzero(new))
        return out

    def _keep(self, which: Ints) -> None:
        """Read missing columns into the cache, which must have room for all of `which`."""
        missing = self.cache.missing(which)
        if len(missing):
            self._read(missing, self.cache.store, self.cache.reserve(missing))

    def _read(self, which: Ints, out: Floats, places: Ints | list[int]) -> None:
        """Read columns of K from the file into the rows `places` of `out`."""
        if self.by_columns:
            for j, place in zip(which, places, strict=True):
                out[place] = self.file.take(np.array([j]))[0]
            return
        for part, block in self.file.blocks(self.block):
            out[places, part] = block[:, which].T


def _check_finite(means: Floats, first: int) -> None:
    """Raise GramError if the mean of a column is not finite; `first` is the number of the first one."""
    bad = np.flatnonzero(~np.isfinite(means))
    if len(bad):
        raise GramError(
            f"column {first + bad[0]} of the matrix contains NaN or inf",
            remedy="correct the matrix, or remove the record",
        )


# Columns of a matrix known only by its products and those of its transpose.


class OperatorColumns(Columns):
    """A matrix K known only by its products, a scipy LinearOperator.

    Column j of K is K·e_j, and column j of Q = K̃ᵀK̃ is K̃ᵀ(K̃·e_j): two products. Means and scales take one product
    for each column of K, once, and a block of Q takes two for each of its columns.
    """

    BLOCK = 64  # columns held at a time

    def __init__(self, operator: Any) -> None:
        from scipy.sparse.linalg import aslinearoperator  # imported here for fast start-up

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


# Columns of a sparse matrix, standardised without being made dense.


class SparseColumns(StoredColumns):
    """A sparse matrix K (stored as CSC), such as k-mer counts: K̃ is dense, but only K is stored."""

    loops: ClassVar[tuple[Callable[..., Any], ...]] = (
        _psvm.sparse_products,
        _psvm.sparse_combine,
        _psvm.sparse_standardise,
    )

    def __init__(self, matrix: Any) -> None:
        from scipy.sparse import csc_array  # imported here for fast start-up

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
