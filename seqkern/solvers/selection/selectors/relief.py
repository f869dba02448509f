"""Relief: a good feature differs between near samples of different classes, but not of one class."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import integer
from seqkern.solvers.selection.selectors.filters import constant_columns
from seqkern.solvers.selection.selectors.nearest_rows import NearestRows
from seqkern.solvers.selection.selectors.selector import Selector


class ReliefSelector(Selector):
    """Relief with several neighbours, for two or more classes (ReliefF).

    score_j = (1/l) Σ_i [ Σ_{c ≠ y_i} P(c)/(1 − P(y_i)) · mean_{m ∈ M_c(i)} |x_ij − x_mj| − mean_{h ∈ H(i)} |x_ij −
    x_hj| ], every feature divided by its range. H(i) are the `n_neighbors` nearest other samples of the class of i,
    M_c(i) those of class c, by the sum of absolute differences of all features; all of a small class. All samples are
    used, without random draws.

    Notes
    -----
    Kira & Rendell, AAAI 1992; Kononenko, ECML 1994. Distances are compared
    exactly; samples at equal distances are taken in order.

    Examples
    --------
    >>> from seqkern.solvers import ReliefSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = ReliefSelector(n_neighbors=2).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([3, 1, 2])
    >>> selector.scores_.round(2)
    array([-0.28,  0.85, -0.24])
    """

    name = "relief"
    summary = "Prefers features that differ between near samples of different classes."

    n_neighbors: int = integer(default=10, low=1, doc="Number of nearest neighbours in each class.")

    def fit_seconds(self, n: int, d: int) -> float:
        """Return the CPU seconds that a fit is predicted to take: that of all distances."""
        return 4 * n * n * d * 1e-9

    @classmethod
    def examples(cls) -> list[Self]:
        """Return selectors for the contract suite."""
        return [cls(), cls(n_features=2, n_neighbors=1)]

    def _fit(self, X: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the weight of each column."""
        constant = constant_columns(X)
        span = np.where(constant, 1.0, X.max(axis=0) - X.min(axis=0))
        scaled = np.where(constant, 0.0, (X - X.min(axis=0)) / span)
        nearest = NearestRows(X, constant)
        members = [np.flatnonzero(y == c) for c in range(len(self.classes_))]
        share = np.array([len(rows) for rows in members]) / len(X)
        score = np.zeros(X.shape[1])
        for i, distances in enumerate(nearest.distances()):
            for c, rows in enumerate(members):
                others = rows[rows != i] if c == y[i] else rows
                if not len(others):
                    continue
                near = nearest.choose(i, others, distances[others], self.n_neighbors)
                apart = np.abs(scaled[near] - scaled[i]).mean(axis=0)
                score += -apart if c == y[i] else share[c] / (1 - share[y[i]]) * apart
        return np.where(constant, -np.inf, score / len(X))
