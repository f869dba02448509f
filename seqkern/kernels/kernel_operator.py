"""Products of a kernel matrix with vectors, without the matrix.

K(x, y) of many kernels is a sum over features of x and y, weighted by a matrix G that need not be stored:
K = Φ·G·Φᵀ, with Φ the features of each record, such as its counts of l-mers. Then K·v takes three passes: `collect`
makes the table Φᵀ·v, `spread` multiplies it by G, `dots` returns Φ times the result. A table after `spread` is a set
of feature weights: the decision function of an SVM with these coefficients.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.core.types import Array, Floats, Ints
from seqkern.kernels import _implicit

Table: TypeAlias = npt.NDArray[Any]
"""Array of float64, or of float32 in single precision."""

MANY, WIDEST = 1 << 17, 16
"""Records, and entries of a table for each, from and up to which a fit's directions are tables over l-mers."""


class KernelOperator:
    """Products with K(X, X), or with K(Y, X) where Y and X are parts of one operator.

    A family implements `collect`, `spread` and `dots`. `squares` is K(x, x), float64 (n,); `n_weights` the
    length
    of a table, of type `dtype`. Operators with the same `tables` can share weights: results of `take`, and rows
    prepared
    with them.
    """

    dtype: np.dtype[Any] = np.dtype(np.float64)
    squares: Floats
    n_weights: int
    tables: object
    counts: dict[str, int]
    lmers: Any = None
    """The HammingOperator whose tables, possibly of scaled records, these are; None for other features."""

    def __len__(self) -> int:
        return len(self.squares)

    def take(self, rows: npt.ArrayLike) -> Self | KernelOperator:
        """Return the operator of the records numbered `rows`, in any order, as a view with the same tables."""
        return ScaledOperator(self, np.ascontiguousarray(rows, dtype=np.int64))

    def with_tables(self, dtype: npt.DTypeLike) -> KernelOperator:
        """Return the same operator with tables of precision `dtype`; single precision halves their memory."""
        return self

    def collect(self, coefficients: npt.ArrayLike) -> Table:
        """Return the table Φᵀ·coefficients; records with coefficient 0 cost no time."""
        raise NotImplementedError

    def spread(self, table: Table) -> None:
        """Multiply a table by G, in place; by default a no-op, for explicit features."""

    def dots(self, weights: Table, out: Floats | None = None, rows: Ints | None = None) -> Floats:
        """Return the products Φ·weights for all records, or for those numbered `rows`."""
        raise NotImplementedError

    def weights(self, coefficients: npt.ArrayLike) -> Table:
        """Return the weights of the features in Σ_i coefficients[i]·K(·, x_i): G·Φᵀ·coefficients."""
        table = self.collect(coefficients)
        self.spread(table)
        return table

    def times(self, coefficients: npt.ArrayLike) -> Floats:
        """Return the product K·coefficients, shape (n,)."""
        return self.dots(self.weights(coefficients))


def check_length(array: Array, length: int, what: str) -> None:
    """Raise ValueError unless the array has shape (length,), which compiled code does not check."""
    if array.shape != (length,):
        raise ValueError(f"{what} of shape {array.shape}, not ({length},)")


# Kernel operators built from other operators: scaled subsets of records, and weighted sums of kernels.


class ScaledOperator(KernelOperator):
    """A subset of an operator's records, with a factor for each feature vector."""

    def __init__(
        self,
        base: KernelOperator,
        rows: Ints | None = None,
        scale: Floats | None = None,
        squares: Floats | None = None,
    ) -> None:
        self.base, self.rows, self.scale = base, rows, scale
        if squares is None:
            squares = base.squares if rows is None else base.squares[rows]
            squares = squares if scale is None else scale * scale * squares
        self.squares = squares
        self.n_weights, self.tables, self.counts = base.n_weights, base.tables, dict(base.counts)
        self.dtype, self.lmers = base.dtype, base.lmers

    def take(self, rows: npt.ArrayLike) -> ScaledOperator:
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        return ScaledOperator(
            self.base,
            rows if self.rows is None else self.rows[rows],
            None if self.scale is None else self.scale[rows],
            self.squares[rows],
        )

    def with_tables(self, dtype: npt.DTypeLike) -> ScaledOperator:
        out = ScaledOperator(self.base.with_tables(dtype), self.rows, self.scale, self.squares)
        out.counts = self.counts
        return out

    def collect(self, coefficients: npt.ArrayLike) -> Table:
        """Return the table of the scaled records, shape (n_weights,).

        There is one coefficient for each record; records with coefficient zero cost no time.
        """
        values = np.asarray(coefficients, dtype=np.float64)
        check_length(values, len(self), "coefficients")
        values = values if self.scale is None else self.scale * values
        if self.rows is not None:
            return self.base.collect(np.bincount(self.rows, weights=values, minlength=len(self.base)))
        return self.base.collect(values)

    def spread(self, table: Table) -> None:
        self.base.spread(table)

    def dots(self, weights: Table, out: Floats | None = None, rows: Ints | None = None) -> Floats:
        chosen, scale = self.rows, self.scale
        if rows is not None:
            chosen = rows if chosen is None else chosen[rows]
            scale = None if scale is None else scale[rows]
        values = self.base.dots(weights, out, rows=chosen)
        return values if scale is None else np.multiply(values, scale, out=values)


def normalised_operator(operator: KernelOperator) -> ScaledOperator:
    """Return the operator of K(x, y) / √(K(x, x)·K(y, y)); zero where K(x, x) is not positive."""
    positive = operator.squares > 0
    scale = np.divide(1.0, np.sqrt(np.maximum(operator.squares, 0)), out=np.zeros(len(operator)), where=positive)
    return ScaledOperator(operator, scale=scale, squares=positive.astype(np.float64))


class SummedOperator(KernelOperator):
    """The operator Σ_p factors[p]·K_p on the same records; its table is the concatenation of the parts' tables."""

    def __init__(self, parts: Sequence[KernelOperator], factors: Sequence[float], tables: object = None) -> None:
        self.parts, self.factors = list(parts), [float(factor) for factor in factors]
        self.squares = np.sum([f * part.squares for f, part in zip(self.factors, self.parts, strict=True)], axis=0)
        self.ends = np.cumsum([part.n_weights for part in self.parts])
        self.n_weights, self.tables, self.counts = int(self.ends[-1]), tables or object(), {}
        self.dtype = np.result_type(*(part.dtype for part in self.parts))

    def take(self, rows: npt.ArrayLike) -> SummedOperator:
        return SummedOperator([part.take(rows) for part in self.parts], self.factors, self.tables)

    def times(self, coefficients: npt.ArrayLike) -> Floats:
        """Return the product K·coefficients, with the table of one part at a time."""
        out = np.zeros(len(self))
        for part, factor in zip(self.parts, self.factors, strict=True):
            table = part.weights(coefficients)
            table *= factor
            out += part.dots(table)
        return out

    def with_tables(self, dtype: npt.DTypeLike) -> SummedOperator:
        out = SummedOperator([part.with_tables(dtype) for part in self.parts], self.factors)
        out.counts = self.counts
        return out

    def collect(self, coefficients: npt.ArrayLike) -> Table:
        out = np.empty(self.n_weights, self.dtype)
        for part, one in zip(self.parts, self._split(out), strict=True):
            one[:] = part.collect(coefficients)
        return out

    def spread(self, table: Table) -> None:
        for part, factor, one in zip(self.parts, self.factors, self._split(table), strict=True):
            part.spread(one)
            one *= factor

    def dots(self, weights: Table, out: Floats | None = None, rows: Ints | None = None) -> Floats:
        out = np.empty(len(self) if rows is None else len(rows)) if out is None else out
        out[:] = 0
        for part, one in zip(self.parts, self._split(weights), strict=True):
            out += part.dots(one, rows=rows)
        return out

    def _split(self, table: Table) -> list[Table]:
        """Return the tables of the parts, as views of a concatenated table."""
        return np.split(table, self.ends[:-1])


def signed(coefficients: Floats) -> Floats:
    """Return c_0, −c_0, c_1, −c_1, …: the coefficients of pairs whose differences have the coefficients c."""
    return np.column_stack((coefficients, -coefficients)).ravel()


class DifferenceOperator(KernelOperator):
    """The operator of φ(x_2i) − φ(x_2i+1) of an operator's records; `pairs`, shape (n, 2), are their numbers."""

    def __init__(self, base: KernelOperator, squares: Floats, pairs: Ints | None = None) -> None:
        self.base, self.squares, self.n_weights, self.tables = base, squares, base.n_weights, base.tables
        self.pairs = np.arange(len(base)).reshape(-1, 2) if pairs is None else pairs
        self.counts, self.dtype = {}, base.dtype

    def take(self, rows: npt.ArrayLike) -> DifferenceOperator:
        rows = np.asarray(rows, dtype=np.int64)
        return DifferenceOperator(self.base, self.squares[rows], self.pairs[rows])

    def collect(self, coefficients: npt.ArrayLike) -> Table:
        values = np.asarray(coefficients, dtype=np.float64)
        return self.base.collect(np.bincount(self.pairs.ravel(), signed(values), len(self.base)))

    def spread(self, table: Table) -> None:
        self.base.spread(table)

    def dots(self, weights: Table, out: Floats | None = None, rows: Ints | None = None) -> Floats:
        pairs = self.pairs if rows is None else self.pairs[rows]
        found = self.base.dots(weights, rows=pairs.ravel()).reshape(-1, 2)
        return np.subtract(found[:, 0], found[:, 1], out=out)


# Implicit feature vectors, for training without a Gram matrix.
#
# An `Implicit` stands for the feature vectors φ_i of n records with φ_i·φ_j = K(x_i, x_j). It has a buffer of weights w
# with two operations: w += c·φ_i, and φ_i·w. Compiled code calls both through a table of functions (`_implicit.h`). The
# layout of the buffer is up to the family.

MOST_FEATURES = 2**31 - 1
LINE = 8  # weights in a cache line


class Implicit(KernelOperator):
    """Feature vectors of n records, not stored explicitly.

    The PyCapsule `capsule` contains an ``ImplicitOperations`` of `_implicit.h`; it, or the object with this class
    as its
    base, keeps everything alive that the functions read. `squares` is K(x, x), float64 (n,). Objects with the same
    `tables` can share weights.
    """

    def __init__(self, capsule: Any, squares: Floats, n_weights: int, tables: object = None) -> None:
        self.capsule = capsule
        self.squares = squares
        self.n_weights = int(n_weights)
        self.tables = object() if tables is None else tables
        self.counts: dict[str, int] = {}

    def take(self, rows: npt.ArrayLike) -> CombinedImplicit:
        """Return the Implicit of the records numbered `rows`, in any order, as a view with the same tables."""
        rows = np.asarray(rows, dtype=np.int64)
        return CombinedImplicit([self], rows=rows, squares=self.squares[rows], tables=self.tables)

    def zeros(self) -> Floats:
        """Return zero weights, float64 (n_weights,), aligned to a cache line."""
        memory = np.zeros(self.n_weights + LINE)
        return memory[-(memory.ctypes.data // 8) % LINE :][: self.n_weights]

    def dots(self, weights: Floats, out: Floats | None = None, rows: Ints | None = None) -> Floats:
        if rows is not None:
            return self.take(rows).dots(weights, out)
        out = np.empty(len(self)) if out is None else out
        check_length(weights, self.n_weights, "weights")
        _implicit.dots(self.capsule, weights, out)
        return out

    def add(self, weights: Floats, coefficients: npt.ArrayLike) -> None:
        """Add Σ_i coefficients[i]·φ_i to `weights`."""
        check_length(weights, self.n_weights, "weights")
        coefficients = np.ascontiguousarray(coefficients, dtype=np.float64)
        if coefficients.shape != (len(self),):
            raise ValueError(f"{coefficients.shape} coefficients for {len(self)} records")
        _implicit.add(self.capsule, coefficients, weights)

    def collect(self, coefficients: npt.ArrayLike) -> Floats:
        """Return the weights Σ_i coefficients[i]·φ_i."""
        weights = self.zeros()
        self.add(weights, coefficients)
        return weights


class SparseImplicit(Implicit):
    """Feature vectors that are the rows of a sparse matrix.

    The entries of record i are ``start[i]`` to ``start[i + 1]``; `feature` and `value` are their columns and values.
    """

    def __init__(self, start: Ints, feature: npt.NDArray[np.int32], value: Array, n_features: int) -> None:
        if n_features > MOST_FEATURES:
            raise SequenceError(f"{n_features} features are too many", remedy="choose shorter k-mers")
        whole = value.dtype == np.int32
        rows = _implicit.SparseRows(start, feature, value if whole else None, None if whole else value)
        squares = np.empty(len(start) - 1)
        rows.squares(squares)
        super().__init__(rows.capsule, squares, n_features)

    @classmethod
    def of(cls, matrix: Any) -> SparseImplicit:
        """Return the Implicit of the rows of a matrix X; its kernel is X Xᵀ."""
        # imported here: slows start-up
        from scipy.sparse import csr_array

        rows = csr_array(matrix, dtype=np.float64)
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        return cls(rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data, rows.shape[1])


class CombinedImplicit(Implicit):
    """Feature vectors of Σ_p factors[p]·K_p, each record's vector multiplied by its `scale`.

    The buffer concatenates the weights of the parts. A scale of 1 / √K(x, x) normalises.
    """

    def __init__(
        self,
        parts: Iterable[Implicit],
        factors: npt.ArrayLike | None = None,
        *,
        rows: npt.ArrayLike | None = None,
        scale: npt.ArrayLike | None = None,
        squares: Floats | None = None,
        tables: object = None,
    ) -> None:
        self.parts = list(parts)
        self.factors = np.ones(len(self.parts)) if factors is None else np.array(factors, dtype=np.float64)
        self.rows = None if rows is None else np.ascontiguousarray(rows, dtype=np.int64)
        self.scale = None if scale is None else np.ascontiguousarray(scale, dtype=np.float64)
        n = len(self.parts[0])
        if self.rows is not None and np.any((self.rows < 0) | (self.rows >= n)):
            raise IndexError(f"rows are numbers from 0 to {n - 1}")
        if squares is None:
            squares = sum(factor * part.squares for factor, part in zip(self.factors, self.parts, strict=True))
            squares = squares if self.rows is None else squares[self.rows]
            squares = squares if self.scale is None else self.scale * self.scale * squares
        offsets = np.cumsum([0, *(-(-part.n_weights // LINE) * LINE for part in self.parts)], dtype=np.int64)
        capsules = [part.capsule for part in self.parts]
        combined = _implicit.CombinedRows(capsules, offsets[:-1].copy(), self.factors, self.rows, self.scale)
        super().__init__(combined.capsule, squares, offsets[-2] + self.parts[-1].n_weights, tables)

    def take(self, rows: npt.ArrayLike) -> CombinedImplicit:
        """Return the Implicit of the records numbered `rows`: a view of the parts, so that views are not nested."""
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        return CombinedImplicit(
            self.parts,
            self.factors,
            rows=rows if self.rows is None else self.rows[rows],
            scale=None if self.scale is None else self.scale[rows],
            squares=self.squares[rows],
            tables=self.tables,
        )


def normalised(implicit: Implicit) -> CombinedImplicit:
    """Return the Implicit of K(x, y) / √(K(x, x)·K(y, y)), zero where a diagonal value is not positive."""
    squares = implicit.squares
    positive = squares > 0
    scale = np.divide(1.0, np.sqrt(np.maximum(squares, 0)), out=np.zeros(len(squares)), where=positive)
    # K(x, x) is exactly 1, without rounding.
    return CombinedImplicit([implicit], scale=scale, squares=positive.astype(np.float64))


def difference_implicit(base: Implicit, squares: Floats) -> Implicit:
    """Return the Implicit of φ(x_2i) − φ(x_2i+1) of an Implicit's records, on its weights."""
    pairs = np.arange(len(base)).reshape(-1, 2)
    parts = [
        CombinedImplicit([base], rows=pairs[:, i], scale=np.full(len(pairs), sign)) for i, sign in ((0, 1.0), (1, -1.0))
    ]
    own = _implicit.CombinedRows([part.capsule for part in parts], np.zeros(2, np.int64), np.ones(2), None, None)
    return Implicit(own.capsule, squares, base.n_weights)
