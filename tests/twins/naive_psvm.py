"""The P-SVM straight from its definition, and matrices of every kind to try it on."""

import warnings

import numpy as np

from seqkern.solvers import PSVR

SHAPES = ("square", "tall", "wide", "rank-deficient", "constant column", "indefinite", "repeated columns")


def matrix(shape, seed=0):
    """Return a matrix of one kind and labels, real ones."""
    rng = np.random.default_rng(seed)
    rows, cols = {"tall": (60, 8), "wide": (12, 40)}.get(shape, (24, 24))
    K = rng.normal(size=(rows, cols)) * rng.uniform(0.1, 5, size=cols) + rng.normal(size=cols)
    if shape == "rank-deficient":
        K = K[:, :5] @ rng.normal(size=(5, cols))
    if shape == "constant column":
        K[:, 3] = 0.1
    if shape == "indefinite":
        K = K + K.T
        assert np.linalg.eigvalsh(K)[0] < -1
    if shape == "repeated columns":
        K[:, 12:] = K[:, :12]
    y = K[:, 0] - 0.5 * K[:, 1] + rng.normal(size=rows)
    return K, y


def standardised(K):
    """Return K̃, naively."""
    centred = K - K.mean(axis=0)
    scale = np.sqrt((centred**2).mean(axis=0))
    return np.where(scale > 1e-9, centred / np.where(scale > 1e-9, scale, 1), 0)


def fit(K, y, **params):
    """Return a solver fitted to features, and α of all columns."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*constant.*")
        solver = PSVR(**{"kernel": "features", "epsilon_scale": "absolute", "tol": 1e-11, **params}).fit(K, y)
    alpha = np.zeros(K.shape[1])
    alpha[solver.support_] = solver.alpha_
    return solver, alpha


def objective(Kt, y, alpha, epsilon):
    """Return the dual objective."""
    fitted = Kt @ alpha
    return 0.5 * fitted @ fitted - y @ fitted + epsilon * np.abs(alpha).sum()


def gradient_rounding(K, y, alpha):
    """Return a bound on the rounding error of K̃ᵀ(K̃α − y), however it is summed.

    A sum of n products errs by at most n·u·Σ|terms| (Higham 2002, §3.1), here with l and N terms. K̃, from
    means and deviations that are sums of l terms, errs by little more than l·u·(|K| + |mean|) / deviation.
    All of it twice, for the solver's computation and that of the test.
    """
    rows, cols = K.shape
    scale = K.std(axis=0)
    size = np.where(scale > 1e-9, (np.abs(K) + np.abs(K.mean(axis=0))) / np.where(scale > 1e-9, scale, 1), 0)
    terms = size.T @ (size @ np.abs(alpha) + np.abs(y))
    return 2 * (3 * rows + cols + 8) * np.finfo(float).eps * terms.max(initial=0.0)


def check_conditions(Kt, y, alpha, epsilon, C, slack):
    """Assert SPEC.md's optimality conditions, one variable at a time."""
    for a, g in zip(alpha, Kt.T @ (Kt @ alpha - y), strict=True):
        if a == 0:
            assert abs(g) <= epsilon + slack
        elif a == C:
            assert g <= -epsilon + slack
        elif a == -C:
            assert g >= epsilon - slack
        else:
            assert abs(g + np.sign(a) * epsilon) <= slack
