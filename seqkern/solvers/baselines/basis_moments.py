"""Second moments of features and targets, sufficient for least squares on any subset."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

FLAT = 1e-9
"""A feature is dependent if regression on the others of a basis leaves at most this share of its variance."""

STACK = 2**21
"""Numbers processed at a time when many bases are evaluated together."""


@dataclass(frozen=True)
class Part:
    """Moments of the training rows and of the predicted rows, around the training means.

    Attributes
    ----------
    n : int
        Number of training rows.
    learned, tested : ndarray of float64, shape (d + 1, d + 1)
        Σ (z − z̄)(z − z̄)ᵀ, z the features followed by the target. `tested` is None if the predicted rows are the same.
    """

    n: int
    learned: npt.NDArray[np.float64]
    tested: npt.NDArray[np.float64] | None = None

    @classmethod
    def of_sums(
        cls,
        n: int,
        products: npt.NDArray[np.float64],
        totals: npt.NDArray[np.float64],
        columns: npt.NDArray[np.int64],
        held: tuple[int, npt.NDArray[np.float64], npt.NDArray[np.float64]] | None = None,
    ) -> Self:
        """Return the Part of some columns.

        Parameters
        ----------
        n : int
            Number of training rows.
        products : ndarray of float64, shape (q, q)
            Σ zzᵀ over them.
        totals : ndarray of float64, shape (q,)
            Σ z over them.
        columns : ndarray of int64, shape (d + 1,)
            The features, and last the target.
        held : tuple, optional
            The same three for the predicted rows.

        Returns
        -------
        Part
        """
        own = np.ix_(columns, columns)
        mean = totals[columns] / n
        learned = products[own] - n * np.outer(mean, mean)
        if held is None:
            return cls(n, learned)
        n_held, products, totals = held
        cross = np.outer(totals[columns], mean)
        return cls(n, learned, products[own] - cross - cross.T + n_held * np.outer(mean, mean))

    def errors(self, bases: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the sums of squared errors on the predicted rows.

        Parameters
        ----------
        bases : ndarray of int64, shape (m, p)
            The features of each basis.

        Returns
        -------
        ndarray of float64, shape (m,)
            Infinite for a dependent basis.
        """
        m, p = bases.shape
        out = np.empty(m)
        at_once = max(STACK // (p + 1) ** 2, 1)
        for start in range(0, m, at_once):
            part = bases[start : start + at_once]
            places = np.column_stack((part, np.full(len(part), len(self.learned) - 1)))
            stack = _Stack.of(self, places)
            for _ in range(p):
                stack = stack.with_first()
            out[start : start + at_once] = stack.values()
        return out

    def errors_of_all(self) -> npt.NDArray[np.float64]:
        """Return the errors of all subsets of the d features, float64 (2^d,): bit j of the index stands for feature j.

        Each feature in turn doubles the number of small matrices: of those without it and of those with it, from which
        it has been eliminated. Nearly all of them are small then: six operations for each subset.
        """
        places = np.arange(len(self.learned))[None]
        stack = _Stack.of(self, places)
        for _ in range(places.shape[1] - 1):
            stack = stack.without_first().joined(stack.with_first())
        return stack.values()


@dataclass(frozen=True)
class _Stack:
    """Moments of the residuals of features and target, each after regression on its own basis.

    `variances` are the initial ones of the features; `good` marks independent bases.
    """

    learned: npt.NDArray[np.float64]
    tested: npt.NDArray[np.float64] | None
    variances: npt.NDArray[np.float64]
    good: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, part: Part, places: npt.NDArray[np.int64]) -> Self:
        """Return the moments of some columns, (m, q) of `places`, before any regression."""
        own = places[:, :, None], places[:, None, :]
        tested = None if part.tested is None else part.tested[own]
        learned = part.learned[own]
        return cls(learned, tested, np.diagonal(part.learned)[places], np.ones(len(places), dtype=bool))

    def without_first(self) -> "_Stack":
        """Return the stack without its first feature, excluded from all bases."""
        tested = None if self.tested is None else self.tested[:, 1:, 1:]
        return _Stack(self.learned[:, 1:, 1:], tested, self.variances[:, 1:], self.good)

    def with_first(self) -> "_Stack":
        """Return the stack after regression on its first feature."""
        left = self.learned[:, 0, 0]
        good = left > FLAT * self.variances[:, 0]
        row = self.learned[:, 0, 1:]
        factors = np.where(good[:, None], row, 0.0) / np.where(good, left, 1.0)[:, None]
        learned = self.learned[:, 1:, 1:] - factors[:, :, None] * row[:, None, :]
        tested = None
        if self.tested is not None:
            cross = factors[:, :, None] * self.tested[:, 0, None, 1:]
            squares = factors[:, :, None] * (factors * self.tested[:, 0, :1])[:, None, :]
            tested = self.tested[:, 1:, 1:] - cross - cross.swapaxes(1, 2) + squares
        return _Stack(learned, tested, self.variances[:, 1:], self.good & good)

    def joined(self, other: "_Stack") -> "_Stack":
        """Return the bases of both."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        parts: list[Any] = [None if own is None else np.concatenate((own, more)) for own, more in pairs]
        return _Stack(*parts)

    def values(self) -> npt.NDArray[np.float64]:
        """Return the errors of the target, the only remaining column."""
        found = (self.learned if self.tested is None else self.tested)[:, 0, 0]
        return np.where(self.good, np.maximum(found, 0.0), np.inf)


def independent(learned: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the features that do not depend on those before them.

    Parameters
    ----------
    learned : ndarray of float64, shape (d + 1, d + 1)
        Moments of the features, and last of the target, as in `Part`.

    Returns
    -------
    ndarray of int64
        Ascending.
    """
    stack = _Stack.of(Part(0, learned), np.arange(len(learned))[None])
    kept = []
    for j in range(len(learned) - 1):
        taken = stack.with_first()
        if taken.good[0]:
            kept.append(j)
        stack = taken if taken.good[0] else stack.without_first()
    return np.array(kept, dtype=np.int64)
