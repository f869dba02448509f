"""Recursive elimination with a linear support vector machine (SVM-RFE)."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import real
from seqkern.solvers.selection.selectors.filters import second_classes
from seqkern.solvers.selection.selectors.linear_svm import linear_weights, standardised
from seqkern.solvers.selection.selectors.selector import Selector
from seqkern.solvers.selection.selectors.wrappers import going


class RecursiveEliminationSelector(Selector):
    """Recursive elimination: train a linear SVM, remove the features with the smallest weights, and repeat.

    In each round w = Σ_i α_i y_i x_i of a C-SVM on the remaining features; those with the smallest w_j² are removed.
    With several classes, there is one SVM for each against the rest, and their w_j² are summed. The score of a feature
    is the number removed before it.

    Notes
    -----
    Guyon, Weston, Barnhill & Vapnik, Machine Learning 46, 2002. The features are standardised
    first.

    Examples
    --------
    >>> from seqkern.solvers import RecursiveEliminationSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = RecursiveEliminationSelector(step=0).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([3, 1, 2])
    >>> selector.scores_.round(2)
    array([0., 2., 1.])
    """

    name = "recursive_elimination"
    fit_products = 1000.0
    summary = "Trains a support vector machine repeatedly, each time without the features of least weight."

    C: float = real(default=1.0, low=0, open_low=True, doc="C, the cost of a margin error.")
    step: float = real(
        default=0.1,
        low=0,
        high=1,
        open_high=True,
        doc="Share of the remaining features removed in each round, at least one; 0 removes one at a time.",
    )

    @classmethod
    def examples(cls) -> list[Self]:
        """Return selectors for the contract suite."""
        return [cls(step=0.0), cls(n_features=2, C=0.1)]

    def fit_seconds(self, n: int, d: int) -> float:
        """Return the CPU seconds that a fit is predicted to take: many SVMs on all rows."""
        return super().fit_seconds(n, d) + 5e-6 * n**2

    def _fit(self, X: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the number of features removed before each feature."""
        X, usable = standardised(X)
        scores, seconds = np.full(X.shape[1], -np.inf), second_classes(y, self.classes_)
        left, gone = np.flatnonzero(usable), 0
        while len(left):
            part = X[:, left]
            weights = sum(linear_weights(part, second, self.C) ** 2 for second in seconds)
            out = np.argsort(weights, kind="stable")[: going(len(left), self.step)]
            scores[left[out]] = gone + np.arange(len(out))
            gone += len(out)
            left = np.delete(left, out)
        return scores
