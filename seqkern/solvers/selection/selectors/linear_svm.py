"""Linear SVMs for selectors, on few samples with many features, through the Gram matrix."""

import warnings

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from seqkern.solvers.selection.selectors.filters import constant_columns

NO_BOUND = 1e9
"""Represents no bound on α if the diagonal of K allows for errors."""
MOST_STEPS = 200_000
"""Maximum LIBSVM iterations: with fewer features than samples and a large C it may be very slow."""


def standardised(X: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return features with mean 0 and variance 1 (divisor n).

    Parameters
    ----------
    X : ndarray of float64, shape (n, d)
        Columns are features.

    Returns
    -------
    standardised : ndarray of float64, shape (n, d)
        0 in constant columns.
    usable : ndarray of bool, shape (d,)
        Which columns are not constant.
    """
    usable = ~constant_columns(X)
    scale = np.where(usable, X.std(axis=0), 1.0)
    return (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0), usable


def dual_weights(
    K: npt.NDArray[np.float64], second: npt.NDArray[np.bool_], C: float = NO_BOUND, tol: float = 1e-4
) -> npt.NDArray[np.float64]:
    """Return α_i y_i of the C-SVM on a Gram matrix.

    Parameters
    ----------
    K : ndarray of float64, shape (n, n)
        The Gram matrix.
    second : ndarray of bool, shape (n,)
        The class with y = 1.
    C : float
        Cost of a margin error.
    tol : float
        Tolerance of LIBSVM's stopping criterion.

    Returns
    -------
    ndarray of float64, shape (n,)
        0 for samples that are not support vectors.
    """
    from sklearn.svm import SVC  # imported here: it slows start-up, and most selectors need no SVM

    classifier = SVC(C=float(C), kernel="precomputed", tol=tol, max_iter=MOST_STEPS, cache_size=50)
    classifier.fit(K, second)
    alpha = np.zeros(len(K))
    alpha[classifier.support_] = classifier.dual_coef_[0]
    return alpha


def linear_weights(
    X: npt.NDArray[np.float64], second: npt.NDArray[np.bool_], C: float, tol: float = 1e-4
) -> npt.NDArray[np.float64]:
    """Return the weight vector w of the linear C-SVM.

    Parameters
    ----------
    X : ndarray of float64, shape (n, d)
        Columns are features.
    second : ndarray of bool, shape (n,)
        The class with y = 1.
    C : float
        Cost of a margin error.
    tol : float
        Tolerance of LIBSVM's stopping criterion.

    Returns
    -------
    ndarray of float64, shape (d,)
    """
    return dual_weights(X @ X.T, second, C, tol) @ X


def enclosing_ball(
    K: npt.NDArray[np.float64], tol: float = 1e-6, max_iter: int = 100_000
) -> tuple[npt.NDArray[np.float64], float]:
    """Return the smallest ball around points in the feature space of a kernel.

    Its dual: max_β Σ_i β_i K_ii − βᵀKβ over β ≥ 0, Σβ = 1; pairs of β are moved, the worst one first.

    Parameters
    ----------
    K : ndarray of float64, shape (n, n)
        The Gram matrix.
    tol : float
        Tolerance of the gain of a pair, as a share of the largest K_ii.
    max_iter : int
        Maximum number of pairs moved.

    Returns
    -------
    beta : ndarray of float64, shape (n,)
        The centre is Σ_i β_i φ(x_i).
    square : float
        The squared radius.

    Warns
    -----
    ConvergenceWarning
        Where it has not converged.

    Notes
    -----
    Vapnik, Statistical Learning Theory, 1998, section 10.7.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.selection.selectors.linear_svm import enclosing_ball
    >>> X = np.array([[0.0], [1.0], [4.0]])
    >>> beta, square = enclosing_ball(X @ X.T)
    >>> beta.round(3), round(square, 3)
    (array([0.5, 0. , 0.5]), 4.0)
    """
    n, diagonal = len(K), np.diag(K)
    beta = np.full(n, 1.0 / n)
    slope = diagonal - 2.0 * (K @ beta)
    limit = tol * max(float(np.abs(diagonal).max()), np.finfo(float).tiny)
    for _ in range(max_iter):
        up = int(np.argmax(slope))
        down = int(np.argmin(np.where(beta > 0, slope, np.inf)))
        gain = slope[up] - slope[down]
        if gain <= limit:
            break
        bend = 2.0 * (K[up, up] + K[down, down] - 2.0 * K[up, down])
        move = beta[down] if bend <= 0 else min(beta[down], gain / bend)
        beta[up] += move
        beta[down] -= move
        slope -= 2.0 * move * (K[up] - K[down])
    else:
        warnings.warn(f"the smallest ball was not found in {max_iter} steps", ConvergenceWarning, stacklevel=2)
    return beta, float(beta @ diagonal - beta @ K @ beta)
