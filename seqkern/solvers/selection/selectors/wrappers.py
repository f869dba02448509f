"""Wrappers: forward and backward search for the smallest leave-one-out error of a linear classifier.

The classifier is regularised least squares on the classes (several: one column of ±1 for each), with a constant feature
for the bias. Its leave-one-out error follows from one inverse: with G = (Z Zᵀ + λI)⁻¹, Z the chosen features, and
A = G Y, sample i left out is missed by A_i / G_ii. A feature that comes or goes changes G by a matrix of rank one, so
that all candidates are tried in a few passes over an l × d matrix: Pahikkala, Airola & Salakoski, Speeding up greedy
forward selection for regularized least-squares, ICMLA 2010.
"""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import changed, real
from seqkern.solvers.selection.selectors.linear_svm import standardised
from seqkern.solvers.selection.selectors.selector import Selector


class LeastSquaresSearch(Selector):
    """Shared by forward and backward search.

    Features are standardised first. Every feature gets a score; see `_fit` of either.
    """

    targets = ("binary", "multiclass", "real")

    ridge: float = real(default=1.0, low=0, open_low=True, doc="λ, the penalty on squared weights.")

    def _targets(self, y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the labels as columns of numbers, float64 (n, c)."""
        if self.kind_ == "real":
            scale = y.std()
            return ((y - y.mean()) / (scale if scale > 0 else 1.0))[:, None]
        columns = range(1, 2) if len(self.classes_) == 2 else range(len(self.classes_))
        return np.stack([np.where(y == c, 1.0, -1.0) for c in columns], axis=1)


class ForwardSelector(LeastSquaresSearch):
    """Forward search: starting without features, add the one that gives the smallest leave-one-out error.

    error(S) = Σ_i ‖y_i − f_S^(−i)(x_i)‖², f_S^(−i) the regularised least-squares classifier on the features S, trained
    without sample i.

    Attributes
    ----------
    errors_ : ndarray of float64, shape (searched,)
        After each feature, the mean error of a sample.

    Notes
    -----
    Forward search: Whitney, IEEE Trans. Computers 20, 1971; wrappers: Kohavi & John, Artif. Intell. 97, 1997; this one:
    Pahikkala et al. 2010. The error of the chosen features was minimised, so it does not estimate the error on new
    data.

    Examples
    --------
    >>> from seqkern.solvers import ForwardSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = ForwardSelector(n_features=2).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([2, 1, 3])
    >>> selector.scores_.round(2)
    array([2.  , 3.  , 0.92])
    """

    name = "forward"
    fit_products = 2000.0
    summary = "Adds one feature at a time, the one that gives a linear classifier the smallest error."

    n_features: int | None = changed(
        default=None,
        doc="Number of features to search for; the others are ranked by the error that each would "
        "give as the last one. With none, min(l − 1, 50).",
    )

    @classmethod
    def examples(cls) -> list[Self]:
        """Return selectors for the contract suite."""
        return [cls(), cls(n_features=2, ridge=0.1)]

    def _fit(self, X: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return d, d − 1, … of those found, in order, and of the others a share of 1 that falls with their error."""
        X, usable = standardised(X)
        targets, (n, d) = self._targets(y), X.shape
        wanted = min(n - 1, 50) if self.n_features is None else int(self.n_features)
        G = start_inverse(n, self.ridge)
        U = G @ X
        free = usable.copy()
        found: list[int] = []
        errors_of_found: list[float] = []
        errors = np.full(d, np.inf)
        for _ in range(min(wanted, np.count_nonzero(usable))):
            curvature = 1.0 + np.einsum("ij,ij->j", X, U)
            errors = np.where(free, candidate_errors(G, targets, X, U, curvature, 1.0), np.inf)
            best = int(np.argmin(errors))
            found.append(best)
            free[best] = False
            errors_of_found.append(errors[best] / n)
            column = U[:, best].copy()
            G -= np.outer(column, column) / curvature[best]
            U -= np.outer(column, column @ X) / curvature[best]
        self.errors_ = np.array(errors_of_found)
        scores = np.full(d, -np.inf)
        others = np.flatnonzero(free)
        scores[others] = 1.0 / (1.0 + errors[others] / n)
        scores[found] = d - np.arange(len(found))
        return scores


class BackwardSelector(LeastSquaresSearch):
    """Backward search: starting with all features, remove those that leave the smallest leave-one-out error.

    The error is that of `ForwardSelector`. Of many features, a share is removed at once, those whose single removal
    matters least.

    Notes
    -----
    Backward search: Marill & Green, IEEE Trans. Inform. Theory 9, 1963.

    Examples
    --------
    >>> from seqkern.solvers import BackwardSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = BackwardSelector(step=0).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([2, 1, 3])
    >>> selector.scores_.round(2)
    array([1., 2., 0.])
    """

    name = "backward"
    fit_products = 1000.0
    summary = "Removes one feature after the other, those that a linear classifier needs least."

    step: float = real(
        default=0.1,
        low=0,
        high=1,
        open_high=True,
        doc="Share of the remaining features removed in each round, at least one; 0 removes one at a "
        "time, as in the original.",
    )

    @classmethod
    def examples(cls) -> list[Self]:
        """Return selectors for the contract suite."""
        return [cls(step=0.0), cls(n_features=2, ridge=10.0)]

    def fit_seconds(self, n: int, d: int) -> float:
        """Return the CPU seconds that a fit is predicted to take: products of all pairs of features."""
        return super().fit_seconds(n, d) + 4e-8 * n * d**2

    def _fit(self, X: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the number of features removed before each feature."""
        X, usable = standardised(X)
        targets, n = self._targets(y), len(X)
        scores = np.full(X.shape[1], -np.inf)
        left, gone = np.flatnonzero(usable), 0
        while len(left):
            Z = X[:, left]
            G = np.linalg.inv(np.linalg.inv(start_inverse(n, self.ridge)) + Z @ Z.T)
            U = G @ Z
            curvature = 1.0 - np.einsum("ij,ij->j", Z, U)
            errors = candidate_errors(G, targets, Z, U, curvature, -1.0)
            out = np.argsort(errors, kind="stable")[: going(len(left), self.step)]
            scores[left[out]] = gone + np.arange(len(out))
            gone += len(out)
            left = np.delete(left, out)
        return scores


def going(left: int, step: float) -> int:
    """Return how many of the remaining features are left out in one round.

    Parameters
    ----------
    left : int
        How many features remain.
    step : float
        The share of them to leave out, from 0 to 1.

    Returns
    -------
    int
        At least 1.
    """
    return max(1, int(step * left))


def start_inverse(n: int, ridge: float) -> npt.NDArray[np.float64]:
    """Return (1 1ᵀ + λI)⁻¹, of the constant feature alone.

    Parameters
    ----------
    n : int
        Samples.
    ridge : float
        λ.

    Returns
    -------
    ndarray of float64, shape (n, n)
    """
    return (np.eye(n) - 1.0 / (ridge + n)) / ridge


def candidate_errors(
    G: npt.NDArray[np.floating[Any]],
    targets: npt.NDArray[np.float64],
    X: npt.NDArray[np.float64],
    U: npt.NDArray[np.float64],
    curvature: npt.NDArray[np.float64],
    sign: float,
) -> npt.NDArray[np.float64]:
    """Return Σ_i ‖A_i / G_ii‖² after each candidate has come or gone.

    Parameters
    ----------
    G : ndarray of float64, shape (n, n)
        That of the features so far.
    targets : ndarray of float64, shape (n, c)
        Y, the labels as columns of numbers.
    X, U : ndarray of float64, shape (n, d)
        The candidates, and G X.
    curvature : ndarray of float64, shape (d,)
        1 + sign · xᵀ G x.
    sign : float
        1 if the candidates come, −1 if they go.

    Returns
    -------
    ndarray of float64, shape (d,)
    """
    diagonal = np.diag(G)[:, None] - sign * U * U / curvature
    total = np.zeros(X.shape[1])
    for column in (G @ targets).T:
        missed = column[:, None] - sign * U * ((column @ X) / curvature)
        missed /= diagonal
        total += np.einsum("ij,ij->j", missed, missed)
    return total
