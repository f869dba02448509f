"""Sparse linear classifiers: the 1-norm SVM, and the approximation of the 0-norm."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import integer, real
from seqkern.solvers.baselines.one_norm import solve_one_norm
from seqkern.solvers.selection.selectors.filters import largest_against_rest, second_classes
from seqkern.solvers.selection.selectors.linear_svm import linear_weights, standardised
from seqkern.solvers.selection.selectors.selector import Selector


class OneNormSelector(Selector):
    """The 1-norm SVM: min_{w,b} ‖w‖₁ + C Σ_i max(0, 1 − y_i (w·x_i + b)), a linear program.

    At most l weights are non-zero. The score of a feature is |w_j| if non-zero; else |Σ_i α_i y_i x_ij| − 1 ≤ 0, α the
    dual solution: how close the feature is to being selected. With several classes the largest of one class against the
    rest.

    Notes
    -----
    Bradley & Mangasarian, ICML 1998; Zhu, Rosset, Hastie & Tibshirani, NIPS 2003. The features are standardised first.

    Examples
    --------
    >>> from seqkern.solvers import OneNormSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = OneNormSelector(C=0.5).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([3, 1, 2])
    >>> selector.scores_ > 0  # weights that are not zero
    array([False,  True, False])
    """

    name = "one_norm"
    fit_products = 6000.0
    summary = "Linear support vector machine with a small sum of absolute weights, most of them zero."

    C: float = real(
        default=1.0, low=0, open_low=True, doc="C, the cost of a margin error; small values leave few weights."
    )

    @classmethod
    def examples(cls) -> list[Self]:
        """Return selectors for the contract suite."""
        return [cls(), cls(n_features=2, C=0.1)]

    def _fit(self, X: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return |w| and, for the others, how close they are to being selected."""
        X, usable = standardised(X)

        def score(second: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
            found = solve_one_norm(X, np.where(second, 1.0, -1.0), self.C)
            return np.where(found.weights != 0, np.abs(found.weights), np.minimum(found.nearness - 1.0, 0.0))

        return np.where(usable, largest_against_rest(score, y, self.classes_), -np.inf)


class ZeroNormSelector(Selector):
    """Approximation of the 0-norm: train a linear SVM, multiply features by their weights, and repeat.

    z ← z · |w|, w of the C-SVM on the features z_j x_j, from z = 1 on; it descends on Σ_j ln(ε + |w_j|), which counts
    the weights that are not zero, ε → 0. Most z_j go to zero. The score is ln z_j, each round shifted so that the
    largest is 0. With several classes the SVMs of each class against the rest share z, and |w_j| is √Σ_c w_cj².

    Attributes
    ----------
    n_iter_ : int
        Rounds.

    Notes
    -----
    Weston, Elisseeff, Schölkopf & Tipping, Use of the zero-norm with linear models and kernel methods, JMLR 3, 2003
    (their l₂-AROM). The features are standardised first.

    Examples
    --------
    >>> from seqkern.solvers import ZeroNormSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = ZeroNormSelector(n_features=1, C=10).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([3, 1, 2])
    >>> selector.transform(X)[:3, 0]
    array([7.9, 8.2, 7.6])
    """

    name = "zero_norm"
    fit_products = 3000.0
    summary = "Multiplies features repeatedly by the weights of a support vector machine, until few are left."

    C: float = real(
        default=100.0,
        low=0,
        open_low=True,
        doc="C, the cost of a margin error; large values give the hard margin of the original.",
    )
    max_iter: int = integer(
        default=20,
        low=1,
        doc="Maximum number of rounds; it stops earlier when no ln z_j of a remaining feature changes "
        "by more than 0.001.",
    )

    @classmethod
    def examples(cls) -> list[Self]:
        """Return selectors for the contract suite."""
        return [cls(C=1.0), cls(n_features=2, C=10.0, max_iter=5)]

    def fit_seconds(self, n: int, d: int) -> float:
        """Return the CPU seconds that a fit is predicted to take: linear programs on all rows."""
        return super().fit_seconds(n, d) + 2e-8 * n**3

    def _fit(self, X: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return ln z."""
        X, usable = standardised(X)
        logs, seconds = np.zeros(X.shape[1]), second_classes(y, self.classes_)
        for number in range(1, self.max_iter + 1):
            self.n_iter_ = number
            scaled = X * np.exp(logs)
            weights = np.sqrt(sum(linear_weights(scaled, second, self.C) ** 2 for second in seconds))
            largest = weights.max(initial=0.0)
            if largest == 0:
                break
            # w of the scaled feature has a factor z of its own; below LEAST nothing is left of a feature
            step = np.log(np.maximum(weights / largest, np.exp(LEAST)))
            new = logs + step
            new -= new.max()
            moved = np.abs(new - logs)[new > LEAST].max()
            logs = new
            if moved <= 1e-3:
                break
        return np.where(usable, logs, -np.inf)


LEAST = -30.0
"""ln z of a feature that is no longer in play: its product with any other is below rounding."""
