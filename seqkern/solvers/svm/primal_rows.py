"""Products with the rows of a feature matrix, dense, sparse or in blocks, in single passes.

Dense rows are visited a few hundred at a time, so that those that have just been multiplied with weights are still in
the cache when they are summed. Products are computed in the precision of the features, their sums over the blocks in
float64 and in the order of the rows.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import GramError
from seqkern.core.sparse_types import is_sparse
from seqkern.kernels.feature_blocks import FeatureBlocks
from seqkern.solvers.feature_rows import take_rows

CUT = 512
"""Rows that are multiplied and summed together."""

TOGETHER = 4 * CUT
"""Rows of one product Xᵀ X, and of a block that is computed anew."""

Coefficients = Callable[[Any, slice], npt.NDArray[np.float64]]
"""A function of the dots of some rows, (k, rows), and of where they stand, to their coefficients, (k, rows)."""

SAMPLED = 8
"""Rows for each feature from which the sum of x_i x_iᵀ is told well enough."""


class Rows:
    """The feature vectors x_i of n samples, with a constant feature of 1 behind them.

    Parameters
    ----------
    X : ndarray of float64, sparse matrix, or FeatureBlocks, shape (n, d)
        Without the constant feature.

    Attributes
    ----------
    shape : tuple of int
        (n, d + 1).

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.svm.primal_rows import Rows
    >>> rows = Rows(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> rows.dots(np.array([[1.0, 0.0, 0.5]]))
    array([[1.5, 3.5]])
    >>> rows.sums(np.array([[1.0, -1.0]]))
    array([[-2., -2.,  0.]])
    """

    def __init__(self, X: Any) -> None:
        self.X = X
        self.sparse = is_sparse(X)
        self.shape = (X.shape[0], X.shape[1] + 1)

    def _blocks(self, size: int) -> Iterator[tuple[slice, Any]]:
        """Yield (slice, rows) in order, `size` rows at a time; sparse ones all at once."""
        if self.sparse:
            yield slice(0, self.shape[0]), self.X
        elif isinstance(self.X, FeatureBlocks):
            for span, block in self.X.blocks(TOGETHER):
                for start in range(0, len(block), size):
                    part = block[start : start + size]
                    yield slice(span.start + start, span.start + start + len(part)), part
        else:
            for start in range(0, self.shape[0], size):
                part = self.X[start : start + size]
                yield slice(start, start + len(part)), part

    def dots(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return x_i·w of all rows.

        Parameters
        ----------
        weights : ndarray of float64, shape (k, d + 1)
            One w in each row.

        Returns
        -------
        ndarray of float64, shape (k, n)
        """
        return self._pass(weights, None)[0]

    def sums(self, coefficients: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return Σ_i c_i x_i.

        Parameters
        ----------
        coefficients : ndarray of float64, shape (k, n)
            The c_i of one sum in each row.

        Returns
        -------
        ndarray of float64, shape (k, d + 1)

        Raises
        ------
        GramError
            If a feature is NaN or inf.
        """
        sums = self._pass(None, lambda _, span: coefficients[:, span])[1]
        self._check_finite(sums)
        return sums

    def both(
        self, weights: npt.NDArray[np.float64], factors: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return x_i·w, and Σ_i f_i (x_i·w) x_i, after one pass.

        Parameters
        ----------
        weights : ndarray of float64, shape (k, d + 1)
            One w in each row.
        factors : ndarray of float64, shape (k, n)
            The f_i of each.

        Returns
        -------
        dots : ndarray of float64, shape (k, n)
        sums : ndarray of float64, shape (k, d + 1)
        """
        return self._pass(weights, lambda dots, span: factors[:, span] * dots)

    def _pass(self, weights: npt.NDArray[np.float64] | None, weigh: Coefficients | None) -> tuple[Any, Any]:
        """Return the dots with `weights`, and the sums with the coefficients that `weigh(dots, rows)` makes of them."""
        dots: Any = None
        sums: Any = None
        for span, block in self._blocks(CUT):
            part = None
            if weights is not None:
                if dots is None:
                    dots = np.empty((len(weights), self.shape[0]))
                    factor, constant = weights[:, :-1].astype(block.dtype), weights[:, -1:]
                part = dots[:, span]
                part[:] = _times(block, factor)
                part += constant
            if weigh is not None:
                coefficients = weigh(part, span)
                if sums is None:
                    sums = np.zeros((len(coefficients), self.shape[1]))
                sums[:, :-1] += _summed(block, coefficients.astype(block.dtype))
                sums[:, -1] += coefficients.sum(axis=1)
        return dots, sums

    def second_moments(self) -> npt.NDArray[np.float64]:
        """Return Σ_i x_i x_iᵀ nearly, float64 (d + 1, d + 1).

        Of many rows only every second, third, … is looked at, `SAMPLED` for each feature at least.
        """
        n, d = self.shape
        step = max(1, n // (SAMPLED * d))
        rows = self if step == 1 else Rows(take_rows(self.X, slice(0, n, step)))
        out = np.zeros((d, d))
        for _, block in rows._blocks(TOGETHER):
            if self.sparse:
                out[:-1, :-1] = (block.T @ block).toarray()
                out[-1, :-1] = np.asarray(block.sum(axis=0)).reshape(-1)
            else:
                with np.errstate(over="ignore", invalid="ignore"):  # who uses it looks
                    out[:-1, :-1] += block.T @ block
                out[-1, :-1] += block.sum(axis=0, dtype=np.float64)
        out[:-1, -1] = out[-1, :-1]
        out[-1, -1] = rows.shape[0]
        return out if step == 1 else out * (n / rows.shape[0])

    def squares(self) -> npt.NDArray[np.float64]:
        """Return Σ_i x_ij² of each feature, float64 (d + 1,)."""
        out = np.zeros(self.shape[1])
        for _, block in self._blocks(CUT):
            part = block.power(2).sum(axis=0) if self.sparse else np.einsum("ij,ij->j", block, block)
            out[:-1] += np.asarray(part, dtype=np.float64).reshape(-1)
        out[-1] = self.shape[0]
        return out

    def lengths(self) -> npt.NDArray[np.float64]:
        """Return Σ_j x_ij² of each row, without the constant feature, float64 (n,)."""
        out = np.zeros(self.shape[0])
        for span, block in self._blocks(CUT):
            part = block.power(2).sum(axis=1) if self.sparse else np.einsum("ij,ij->i", block, block)
            out[span] = np.asarray(part, dtype=np.float64).reshape(-1)
        return out

    def _check_finite(self, sums: npt.NDArray[np.float64]) -> None:
        """Raise GramError if sums over all rows are not finite, which a row may be to blame for."""
        if np.isfinite(sums).all():
            return
        for span, block in self._blocks(CUT):
            good = np.isfinite(block.toarray() if self.sparse else block).all(axis=1)
            if not good.all():
                place = f"row {span.start + np.argmin(good)} of the features contains NaN or inf"
                raise GramError(place, remedy="correct the kernel's parameters or leave the record out")
        raise GramError("sums of features are too large", remedy="scale the features, or normalise the kernel")


def _times(block: Any, weights: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.floating[Any]]:
    """Return the dots of the rows with each of `weights`, (k, rows)."""
    if is_sparse(block):
        return (block @ weights.T).T
    # one matrix-vector product each: BLAS is slow with matrices of a few columns
    return np.stack([block @ one for one in weights])


def _summed(block: Any, coefficients: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.floating[Any]]:
    """Return the sums of the rows with each of `coefficients`, (k, d)."""
    if is_sparse(block):
        return (block.T @ coefficients.T).T
    return np.stack([one @ block for one in coefficients])
