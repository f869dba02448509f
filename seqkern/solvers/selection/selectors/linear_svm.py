"""Linear machines on few units and many features, as selectors need them: by the units' Gram matrix."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from seqkern.solvers.selection.selectors.filters import constant_columns

NO_BOUND = 1e9
"""Stands for no bound on α where the diagonal of K allows for errors."""
MOST_STEPS = 200_000
"""Of LIBSVM: with fewer features than units and a large C it may creep. It warns where it stops."""


def standardised(X):
    """Return X with columns of mean 0 and variance 1 (divisor n), and which are not constant, bool (d,)."""
    usable = ~constant_columns(X)
    scale = np.where(usable, X.std(axis=0), 1.0)
    return (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0), usable


def dual_weights(K, second, C=NO_BOUND, tol=1e-4):
    """Return α_i y_i of the C-SVM on a Gram matrix, float64 (n,).

    Parameters
    ----------
    K : ndarray of float64, shape (n, n)
    second : ndarray of bool, shape (n,)
        The class with y = 1.
    C : float
    tol : float
    """
    # loaded only where used: costs start-up
    from sklearn.svm import SVC

    machine = SVC(C=float(C), kernel="precomputed", tol=tol, max_iter=MOST_STEPS, cache_size=50)
    machine.fit(K, second)
    alpha = np.zeros(len(K))
    alpha[machine.support_] = machine.dual_coef_[0]
    return alpha


def linear_weights(X, second, C, tol=1e-4):
    """Return w of the linear C-SVM, float64 (d,); parameters as in `dual_weights`, but for the features X, (n, d)."""
    return dual_weights(X @ X.T, second, C, tol) @ X


def enclosing_ball(K, tol=1e-6, max_iter=100_000):
    """Return the smallest ball around points in the feature space of a kernel.

    Its dual: max_β Σ_i β_i K_ii − βᵀKβ over β ≥ 0, Σβ = 1; two β at a time are moved, the worst pair.

    Parameters
    ----------
    K : ndarray of float64, shape (n, n)
    tol : float
        It has converged when no pair can gain more, in units of the largest K_ii.
    max_iter : int

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
