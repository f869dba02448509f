"""The nearest rows of a table by city-block distance, every column divided by its range, with exact ties.

Sums of fractions such as 1/3 + 2/3 round differently in different orders, so that equal distances would differ, and
the choice between them would depend on the order of the columns.
"""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

EXACT = 2.0**53
"""Integers below it are exact as float64."""
DECIMALS = 6
ROUNDING = 2.0**-52


class NearestRows:
    """Rows by their distance from others, with exact comparisons.

    If all columns can be integers with one denominator, the distances are computed as integers. Else they are
    computed in floating point, and those that differ by no more than its error are compared as fractions.

    Parameters
    ----------
    X : ndarray of float64, shape (n, d)
        The rows. Values of at most six decimals are compared as decimals, others as the binary numbers they are.
    constant : ndarray of bool, shape (d,)
        The columns that do not count.

    Examples
    --------
    >>> X = np.array([[3.0, 3, 1], [0, 3, 3], [2, 0, 3], [2, 0, 0], [1, 2, 1]])
    >>> nearest = NearestRows(X, np.zeros(3, dtype=bool))
    >>> distances = next(nearest.distances())
    >>> nearest.choose(0, np.array([1, 2, 3]), distances[1:4], 2)
    array([1, 3])
    """

    def __init__(self, X: npt.NDArray[np.float64], constant: npt.NDArray[np.bool_]) -> None:
        X = _integers(X[:, ~constant])
        self.values = X - X.min(axis=0, initial=np.inf)
        self.spans = self.values.max(axis=0, initial=0.0)
        units = _common_units(self.values, self.spans)
        self.exact = units is not None
        self.scaled = self.values / self.spans if units is None else units

    def distances(self) -> Iterator[npt.NDArray[np.float64]]:
        """Yield for each row its distances from all rows, float64 (n,), in blocks of bounded size."""
        step = max(1, (1 << 24) // max(1, len(self.scaled)))
        for start in range(0, len(self.scaled), step):
            yield from cdist(self.scaled[start : start + step], self.scaled, "cityblock")

    def choose(
        self, row: int, others: npt.NDArray[np.int64], distances: npt.NDArray[np.float64], count: int
    ) -> npt.NDArray[np.int64]:
        """Return the nearest of some rows, in order of their numbers; of equal ones the first.

        Parameters
        ----------
        row : int
            Row to which the others are near.
        others : ndarray of int64, shape (m,)
            The candidates, sorted.
        distances : ndarray of float64, shape (m,)
            Their distances from `row`, as `distances` yields them.
        count : int
            Number of rows to choose.

        Returns
        -------
        ndarray of int64, shape (min(m, count),)
        """
        if count >= len(others):
            return others
        order = np.argsort(distances, kind="stable")
        if not self.exact:
            last = distances[order[count - 1]]
            # each of d terms, at most 1, and each sum of them is rounded
            error = 4 * ROUNDING * self.scaled.shape[1] * (2 + last)
            first, stop = np.searchsorted(distances[order], [last - error, last + error])
            order[first:stop] = self._sorted(row, others, np.sort(order[first:stop]))
        return np.sort(others[order[:count]])

    def _sorted(self, row: int, others: npt.NDArray[np.int64], close: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return places in `others`, sorted by exact distance."""
        table = self.values[others[close]]
        differing = np.flatnonzero((table != table[0]).any(axis=0))
        if not len(differing):
            return close
        origin, spans = self.values[row, differing], [Fraction(span) for span in self.spans[differing]]
        parts = [
            [Fraction(value) / span for value, span in zip(np.abs(values - origin).tolist(), spans, strict=True)]
            for values in table[:, differing]
        ]
        return close[sorted(range(len(close)), key=lambda place: sum(parts[place]))]


def _integers(X: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the values times a power of ten that makes them integers, if one does; else the values."""
    for decimals in range(DECIMALS + 1):
        found = np.rint(X * 10.0**decimals)
        if np.all(np.abs(found) < EXACT) and np.array_equal(found / 10.0**decimals, X):
            return found
    return X


def _common_units(values: npt.NDArray[np.float64], spans: npt.NDArray[np.float64]) -> npt.NDArray[np.float64] | None:
    """Return the values divided by their spans as integers with one denominator; None if they are too large."""
    if not np.array_equal(values, np.rint(values)) or spans.max(initial=0.0) >= EXACT:
        return None
    factors = np.gcd.reduce(values.astype(np.int64), axis=0)
    reduced = [int(span) // int(factor) for span, factor in zip(spans, factors, strict=True)]
    denominator = 1
    for span in set(reduced):
        denominator = math.lcm(denominator, span)
        if denominator * len(reduced) >= EXACT:
            return None
    return values / factors * (denominator / np.array(reduced, dtype=np.float64))
