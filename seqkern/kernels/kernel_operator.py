"""Products of a kernel matrix with vectors, without the matrix.

K(x, y) of many kernels is a sum over features of x and y, weighted by a matrix G that need not be stored:
K = Φ·G·Φᵀ, with Φ the features of each record, such as its counts of l-mers. Then K·v takes three passes: `collect`
makes the table Φᵀ·v, `spread` multiplies it by G, `dots` returns Φ times the result. A table after `spread` is a set
of feature weights: the decision function of an SVM with these coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Table: TypeAlias = npt.NDArray[Any]
"""Of float64, or of float32 where single precision was asked for."""


class KernelOperator:
    """Products with K(X, X), or with K(Y, X) where Y and X are parts of one operator.

    A family implements `collect`, `spread`, `dots` and `take`. `squares` is K(x, x), float64 (n,); `n_weights` the
    length
    of a table, of type `dtype`. Operators with the same `tables` can share weights: those of `take`, and of rows
    prepared
    with them.
    """

    dtype: np.dtype[Any] = np.dtype(np.float64)
    squares: Floats
    n_weights: int
    tables: object
    counts: dict[str, int]

    def __len__(self) -> int:
        return len(self.squares)

    def take(self, rows: npt.ArrayLike) -> Self | KernelOperator:
        """Return the operator of the records numbered `rows`, in any order, as a view with the same tables."""
        raise NotImplementedError

    def with_tables(self, dtype: npt.DTypeLike) -> KernelOperator:
        """Return the same operator with tables of precision `dtype`; single precision halves their memory."""
        return self

    def collect(self, coefficients: npt.ArrayLike) -> Table:
        """Return the table Φᵀ·coefficients; records with coefficient 0 cost no time."""
        raise NotImplementedError

    def spread(self, table: Table) -> None:
        """Multiply a table by G, in place; by default a no-op, for explicit features."""

    def dots(self, weights: Table, out: Floats | None = None, rows: npt.NDArray[np.int64] | None = None) -> Floats:
        """Return the products Φ·weights, or only those of the records numbered `rows`."""
        raise NotImplementedError

    def weights(self, coefficients: npt.ArrayLike) -> Table:
        """Return the weights of the features in Σ_i coefficients[i]·K(·, x_i): G·Φᵀ·coefficients."""
        table = self.collect(coefficients)
        self.spread(table)
        return table

    def times(self, coefficients: npt.ArrayLike) -> Floats:
        """Return the product K·coefficients, shape (n,)."""
        return self.dots(self.weights(coefficients))


def check_length(array: npt.NDArray[Any], length: int, what: str) -> None:
    """Raise ValueError unless the array has shape (length,), which compiled code does not check."""
    if array.shape != (length,):
        raise ValueError(f"{what} of shape {array.shape}, not ({length},)")


# Kernel operators built from other operators: scaled subsets of records, and weighted sums of kernels.


class ScaledOperator(KernelOperator):
    """A subset of an operator's records, with a factor for each feature vector."""

    def __init__(
        self,
        base: KernelOperator,
        rows: npt.NDArray[np.int64] | None = None,
        scale: Floats | None = None,
        squares: Floats | None = None,
    ) -> None:
        self.base, self.rows, self.scale = base, rows, scale
        if squares is None:
            squares = base.squares if rows is None else base.squares[rows]
            squares = squares if scale is None else scale * scale * squares
        self.squares = squares
        self.n_weights, self.tables, self.counts = base.n_weights, base.tables, dict(base.counts)
        self.dtype = base.dtype

    def take(self, rows: npt.ArrayLike) -> ScaledOperator:
        """Return the operator of some records, as a view of the same base."""
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        return ScaledOperator(
            self.base,
            rows if self.rows is None else self.rows[rows],
            None if self.scale is None else self.scale[rows],
            self.squares[rows],
        )

    def with_tables(self, dtype: npt.DTypeLike) -> ScaledOperator:
        """Return the same operator with tables of the given dtype, float64 or float32."""
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
        """Multiply a table from `collect` by G, in place."""
        self.base.spread(table)

    def dots(self, weights: Table, out: Floats | None = None, rows: npt.NDArray[np.int64] | None = None) -> Floats:
        """Return Φ·weights of the scaled records, or of the given rows, for a table of weights after `spread`."""
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

    def __init__(self, parts: Sequence[KernelOperator], factors: Sequence[float]) -> None:
        self.parts, self.factors = list(parts), [float(factor) for factor in factors]
        self.squares = np.sum([f * part.squares for f, part in zip(self.factors, self.parts, strict=True)], axis=0)
        self.ends = np.cumsum([part.n_weights for part in self.parts])
        self.n_weights, self.tables, self.counts = int(self.ends[-1]), object(), {}
        self.dtype = np.result_type(*(part.dtype for part in self.parts))

    def take(self, rows: npt.ArrayLike) -> ScaledOperator:
        """Return the operator of some records."""
        return ScaledOperator(self, np.ascontiguousarray(rows, dtype=np.int64))

    def with_tables(self, dtype: npt.DTypeLike) -> SummedOperator:
        """Return the same operator with tables of the given dtype, float64 or float32."""
        out = SummedOperator([part.with_tables(dtype) for part in self.parts], self.factors)
        out.counts = self.counts
        return out

    def collect(self, coefficients: npt.ArrayLike) -> Table:
        """Return the concatenated tables of all parts, shape (n_weights,), for n coefficients."""
        return np.concatenate([part.collect(coefficients) for part in self.parts])

    def spread(self, table: Table) -> None:
        """Multiply each part's table by its G and factor, in place."""
        for part, factor, one in zip(self.parts, self.factors, self._split(table), strict=True):
            part.spread(one)
            one *= factor

    def dots(self, weights: Table, out: Floats | None = None, rows: npt.NDArray[np.int64] | None = None) -> Floats:
        """Return the sum of the parts' `dots`, for all records or the given rows."""
        out = np.empty(len(self) if rows is None else len(rows)) if out is None else out
        out[:] = 0
        for part, one in zip(self.parts, self._split(weights), strict=True):
            out += part.dots(one, rows=rows)
        return out

    def _split(self, table: Table) -> list[Table]:
        """Return the tables of the parts, as views of a concatenated table."""
        return np.split(table, self.ends[:-1])
