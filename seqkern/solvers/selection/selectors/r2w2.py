"""R²W²: scale the features to minimise a bound on the leave-one-out error of an SVM."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import integer, real
from seqkern.solvers.selection.selectors.filters import second_classes
from seqkern.solvers.selection.selectors.linear_svm import dual_weights, enclosing_ball, standardised
from seqkern.solvers.selection.selectors.selector import Selector


class R2W2Selector(Selector):
    """Minimise the bound R²W² over a scale σ_j ≥ 0 of each feature, by gradient descent.

    The bound (1/l) R² W² on the leave-one-out error of a hard-margin SVM has R the radius of the smallest ball around
    the samples and W = ‖w‖, both with the kernel K_σ(x, x') = Σ_j σ_j² x_j x'_j. With α of the SVM and β of the ball

    ∂W²/∂σ_j = −2 σ_j (Σ_i α_i y_i x_ij)²,   ∂R²/∂σ_j = 2 σ_j (Σ_i β_i x_ij² − (Σ_i β_i x_ij)²).

    d/C is added to the diagonal of K to allow for errors. The score is σ_j. With several classes the product of the
    bounds of the SVMs of each class against the rest is minimised.

    Attributes
    ----------
    n_iter_ : int
        Steps that were tried, at least one.

    Notes
    -----
    Weston, Mukherjee, Chapelle, Pontil, Poggio & Vapnik, Feature selection for SVMs, NIPS 2000; Chapelle, Vapnik,
    Bousquet & Mukherjee, Machine Learning 46, 2002. The bound does not change when all σ are multiplied by one number;
    they are kept at ‖σ‖² = d. The features are standardised first.

    Examples
    --------
    >>> from seqkern.solvers import R2W2Selector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = R2W2Selector(n_features=1, max_iter=10).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([2, 1, 3])
    >>> selector.scores_.round(2)
    array([0.  , 1.73, 0.  ])
    """

    name = "r2w2"
    fit_products = 3000.0
    summary = "Scales features to minimise a bound on the error of a support vector machine."

    C: float = real(
        default=100.0, low=0, open_low=True, doc="C, the cost of an error; large values give the hard margin."
    )
    max_iter: int = integer(
        default=20,
        low=1,
        doc="Maximum number of steps, each halved until the bound falls; it stops earlier when the "
        "bound falls by less than a share of 1e-3.",
    )

    @classmethod
    def examples(cls) -> list[Self]:
        """Return selectors for the contract suite."""
        return [cls(max_iter=5), cls(n_features=2, C=1.0, max_iter=3)]

    def fit_seconds(self, n: int, d: int) -> float:
        """Return the CPU seconds that a fit is predicted to take: many SVMs on all rows."""
        return super().fit_seconds(n, d) + 1.5e-8 * n**3

    def _fit(self, X: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return σ."""
        X, usable = standardised(X)
        seconds = second_classes(y, self.classes_)
        return np.where(usable, self._descend(X, seconds), -np.inf)

    def _descend(self, X: npt.NDArray[np.float64], seconds: Sequence[npt.NDArray[np.bool_]]) -> npt.NDArray[np.float64]:
        """Return σ of each feature, ‖σ‖² = d, where the steps end."""
        sigma, step = np.ones(X.shape[1]), 1.0
        bound, gradient = radius_margin(X, seconds, sigma, self.C)
        for number in range(1, self.max_iter + 1):
            self.n_iter_ = number
            length = np.abs(gradient).max(initial=0.0)
            if length == 0:
                break
            while step > 1e-4:
                # in units of a σ that may at most vanish
                new = np.maximum(sigma - step * sigma.max() * gradient / length, 0.0)
                if new.any():
                    new *= np.sqrt(len(new) / (new @ new))
                    found, slope = radius_margin(X, seconds, new, self.C)
                    if found < bound:
                        break
                step /= 2
            else:
                break
            better = bound - found
            sigma, bound, gradient, step = new, found, slope, 2 * step
            if better <= 1e-3:
                break
        return sigma


def radius_margin(
    X: npt.NDArray[np.float64], seconds: Sequence[npt.NDArray[np.bool_]], sigma: npt.NDArray[np.float64], C: float
) -> tuple[float, npt.NDArray[np.float64]]:
    """Return Σ ln R²W² over the classifiers, and its gradient.

    Parameters
    ----------
    X : ndarray of float64, shape (n, d)
        Standardised features.
    seconds : sequence of ndarray of bool, shape (n,)
        The class with y = 1 of each classifier.
    sigma : ndarray of float64, shape (d,)
        Scales of the features.
    C : float
        d/C is added to the diagonal.

    Returns
    -------
    bound : float
        Σ ln R²W².
    gradient : ndarray of float64, shape (d,)
        Its derivatives by `sigma`.
    """
    scaled = X * sigma
    K = scaled @ scaled.T
    K[np.diag_indices_from(K)] += len(sigma) / C
    beta, radius = enclosing_ball(K)
    up = 2.0 * sigma * (beta @ X**2 - (beta @ X) ** 2)
    bound, gradient = 0.0, np.zeros(len(sigma))
    for second in seconds:
        alpha = dual_weights(K, second)
        # twice the dual objective: an error of α comes in squared
        margin = float(2.0 * np.abs(alpha).sum() - alpha @ K @ alpha)
        bound += np.log(radius * margin)
        gradient += up / radius - 2.0 * sigma * (alpha @ X) ** 2 / margin
    return bound, gradient
