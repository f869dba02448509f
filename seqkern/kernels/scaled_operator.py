"""Kernel operators built from others: records scaled and chosen, weighted sums of kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from seqkern.kernels.kernel_operator import Floats, KernelOperator, Table, check_length


class ScaledOperator(KernelOperator):
    """Some records of an operator, each feature vector with its own factor.

    Parameters
    ----------
    base : KernelOperator
        Of all records; records that are not chosen have the coefficient zero.
    rows : ndarray of int64, shape (n,), optional
        Which records, each once; by default all.
    scale : ndarray of float64, shape (n,), optional
        The factors; by default 1.
    squares : ndarray of float64, shape (n,), optional
        K(x, x), if known.
    """

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
        """Return the operator of some records, as a view of the same base.

        Parameters
        ----------
        rows : array_like of int, shape (m,)
            Which records.

        Returns
        -------
        ScaledOperator
        """
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        return ScaledOperator(
            self.base,
            rows if self.rows is None else self.rows[rows],
            None if self.scale is None else self.scale[rows],
            self.squares[rows],
        )

    def with_tables(self, dtype: npt.DTypeLike) -> ScaledOperator:
        """Return the same products with tables of another precision.

        Parameters
        ----------
        dtype : {numpy.float64, numpy.float32}
            Of the tables.

        Returns
        -------
        ScaledOperator
        """
        out = ScaledOperator(self.base.with_tables(dtype), self.rows, self.scale, self.squares)
        out.counts = self.counts
        return out

    def collect(self, coefficients: npt.ArrayLike) -> Table:
        """Return the table of the scaled records.

        Parameters
        ----------
        coefficients : array_like of float64, shape (n,)
            One for each record; records with zero cost no time.

        Returns
        -------
        ndarray of `dtype`, shape (n_weights,)
        """
        values = np.asarray(coefficients, dtype=np.float64)
        check_length(values, len(self), "coefficients")
        values = values if self.scale is None else self.scale * values
        if self.rows is not None:
            return self.base.collect(np.bincount(self.rows, weights=values, minlength=len(self.base)))
        return self.base.collect(values)

    def spread(self, table: Table) -> None:
        """Multiply a table by G, in place.

        Parameters
        ----------
        table : ndarray of `dtype`, shape (n_weights,)
            As from `collect`; changed.
        """
        self.base.spread(table)

    def dots(self, weights: Table, out: Floats | None = None, rows: npt.NDArray[np.int64] | None = None) -> Floats:
        """Return Φ·weights of the scaled records.

        Parameters
        ----------
        weights : ndarray of `dtype`, shape (n_weights,)
            A table after `spread`.
        out : ndarray of float64, shape (n,), optional
            Where to write; by default a new array.
        rows : ndarray of int64, shape (m,), optional
            Which records; by default all. n is m otherwise.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        chosen, scale = self.rows, self.scale
        if rows is not None:
            chosen = rows if chosen is None else chosen[rows]
            scale = None if scale is None else scale[rows]
        values = self.base.dots(weights, out, rows=chosen)
        return values if scale is None else np.multiply(values, scale, out=values)


def normalised_operator(operator: KernelOperator) -> ScaledOperator:
    """Return the operator of K(x, y) / √(K(x, x)·K(y, y)); zero where K(x, x) is not positive.

    Parameters
    ----------
    operator : KernelOperator
        Not normalised.

    Returns
    -------
    ScaledOperator
    """
    positive = operator.squares > 0
    scale = np.divide(1.0, np.sqrt(np.maximum(operator.squares, 0)), out=np.zeros(len(operator)), where=positive)
    return ScaledOperator(operator, scale=scale, squares=positive.astype(np.float64))


class SummedOperator(KernelOperator):
    """Σ_p factors[p]·K_p of the same records; its table has those of the parts one after the other.

    Parameters
    ----------
    parts : sequence of KernelOperator
        K_p.
    factors : sequence of float
        At least 0.
    """

    def __init__(self, parts: Sequence[KernelOperator], factors: Sequence[float]) -> None:
        self.parts, self.factors = list(parts), [float(factor) for factor in factors]
        self.squares = np.sum([f * part.squares for f, part in zip(self.factors, self.parts, strict=True)], axis=0)
        self.ends = np.cumsum([part.n_weights for part in self.parts])
        self.n_weights, self.tables, self.counts = int(self.ends[-1]), object(), {}
        self.dtype = np.result_type(*(part.dtype for part in self.parts))

    def take(self, rows: npt.ArrayLike) -> ScaledOperator:
        """Return the operator of some records.

        Parameters
        ----------
        rows : array_like of int, shape (m,)
            Which records.

        Returns
        -------
        ScaledOperator
        """
        return ScaledOperator(self, np.ascontiguousarray(rows, dtype=np.int64))

    def with_tables(self, dtype: npt.DTypeLike) -> SummedOperator:
        """Return the same products with tables of another precision.

        Parameters
        ----------
        dtype : {numpy.float64, numpy.float32}
            Of the tables.

        Returns
        -------
        SummedOperator
        """
        out = SummedOperator([part.with_tables(dtype) for part in self.parts], self.factors)
        out.counts = self.counts
        return out

    def collect(self, coefficients: npt.ArrayLike) -> Table:
        """Return the tables of all parts.

        Parameters
        ----------
        coefficients : array_like of float64, shape (n,)
            One for each record; records with zero cost no time.

        Returns
        -------
        ndarray of `dtype`, shape (n_weights,)
        """
        return np.concatenate([part.collect(coefficients) for part in self.parts])

    def spread(self, table: Table) -> None:
        """Multiply each part's table by its G and factor, in place.

        Parameters
        ----------
        table : ndarray of `dtype`, shape (n_weights,)
            As from `collect`; changed.
        """
        for part, factor, one in zip(self.parts, self.factors, self._split(table), strict=True):
            part.spread(one)
            one *= factor

    def dots(self, weights: Table, out: Floats | None = None, rows: npt.NDArray[np.int64] | None = None) -> Floats:
        """Return the sum over the parts.

        Parameters
        ----------
        weights : ndarray of `dtype`, shape (n_weights,)
            A table after `spread`.
        out : ndarray of float64, shape (n,), optional
            Where to write; by default a new array.
        rows : ndarray of int64, shape (m,), optional
            Which records; by default all. n is m otherwise.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        out = np.empty(len(self) if rows is None else len(rows)) if out is None else out
        out[:] = 0
        for part, one in zip(self.parts, self._split(weights), strict=True):
            out += part.dots(one, rows=rows)
        return out

    def _split(self, table: Table) -> list[Table]:
        """Return the parts of a table, as views."""
        return np.split(table, self.ends[:-1])
