"""The P-SVM beside scikit-learn's Lasso (C infinite) and LIBSVM's C-SVM (C finite), and a path of ε beside one fit.

All get the same Gram matrix in one process with BLAS on one thread, and CPU seconds are compared. The P-SVM and the
Lasso are asked for the same duality gap, 1e-3 of ½‖y‖²; the Lasso gets the columns standardised, the P-SVM standardises
them itself. LIBSVM runs at its default tolerance, also 1e-3, and has the C of the P-SVM. The bounded problem is checked
against a generic quadratic program. Run it by pytest, or: ``python benchmarks/bench_psvm.py [records]``.
"""

import sys
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
from common import start_table
from scipy.optimize import minimize
from sklearn.linear_model import Lasso
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from seqkern.kernels import build_kernel
from seqkern.solvers import PSVC
from seqkern.solvers.psvm.qp import Dual, columns_of, minimise

GRAMS = {"spectrum": "spectrum:k=5", "mismatch": "mismatch:k=6,m=1", "rbf": 10.0, "rbf/10": 1.0, "rbf/100": 0.1}
SHARES = (0.3, 0.1, 0.03, 0.01)  # of ε_max
BOUNDS = (0.02, 1.0)
GAP = 1e-3
REPEATS = 5


def problem(gram, n, seed=1):
    """Return a Gram matrix and labels −1 and 1.

    For sequence kernels: random DNA, half of it with a noisy motif. For the RBF kernels, of scikit-learn's default
    width, a tenth and a hundredth of it: points in ten dimensions, two of which tell the classes apart.
    """
    rng = np.random.default_rng(seed)
    kernel = GRAMS[gram]
    if isinstance(kernel, float):
        points = rng.normal(size=(n, 10))
        y = np.where(points[:, 0] + 0.5 * points[:, 1] ** 2 + 0.3 * rng.normal(size=n) > 0.5, 1.0, -1.0)
        squares = ((points[:, None] - points[None]) ** 2).sum(-1)
        return np.exp(-squares / (kernel * points.var())), y
    codes = rng.integers(0, 4, (n, 100))
    motif = rng.integers(0, 4, 12)
    for row in codes[: n // 2]:
        start = rng.integers(0, 88)
        keep = rng.random(12) < 0.8
        row[start : start + 12][keep] = motif[keep]
    sequences = ["".join("ACGT"[code] for code in row) for row in codes]
    return build_kernel(kernel)(sequences), np.repeat([1.0, -1.0], [n // 2, n - n // 2])


def timed(run, *arguments, repeats=REPEATS):
    """Return the least CPU seconds of several calls of `run`, and what the last one returned."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        result = run(*arguments)
        seconds.append(time.process_time() - start)
    return min(seconds), result


def psvm(K, y, share, C, tol=GAP):
    """Return a P-SVM, fitted; standardisation included."""
    return PSVC(C=C, epsilon=share, tol=tol).fit(K, y)


def lasso(Kt, y, epsilon, C=np.inf, tol=GAP):
    """Return α by scikit-learn's coordinate descent, without a bound; its gap is in units of ‖y‖²."""
    assert np.isinf(C)
    model = Lasso(alpha=epsilon / len(y), fit_intercept=False, tol=tol / 2, max_iter=100_000)
    return model.fit(Kt, y - y.mean()).coef_


def svm(K, y, C):
    """Return LIBSVM's C-SVM, fitted."""
    return SVC(kernel="precomputed", C=C).fit(K, y)


def path(K, y, C, shares):
    """Return the minima down a path of ε; standardisation included."""
    columns = columns_of(K, square=True, cache_size=1e6)
    dual = Dual(columns, y - y.mean(), 0.0, C)
    found = [None]
    for share in shares:
        step = replace(dual, epsilon=share * dual.epsilon_max)
        found.append(minimise(step, tol=GAP, max_iter=10**6, start=found[-1]))
    return found[1:]


def quadratic_program(Kt, y, epsilon, C, tol):
    """Return α by L-BFGS-B on α⁺ and α⁻ in [0, C]."""
    n = Kt.shape[1]

    def objective(both):
        fitted = Kt @ (both[:n] - both[n:])
        g = Kt.T @ (fitted - y)
        return 0.5 * fitted @ fitted - y @ fitted + epsilon * both.sum(), np.concatenate([g, -g]) + epsilon

    options = {"maxiter": 20_000, "maxfun": 20_000, "ftol": 1e-14, "gtol": tol * np.abs(Kt.T @ y).max()}
    found = minimize(
        objective, np.zeros(2 * n), jac=True, bounds=[(0, C)] * (2 * n), method="L-BFGS-B", options=options
    )
    return found.x[:n] - found.x[n:]


def standardised(K):
    """Return K̃, stored by columns as the Lasso wants it."""
    return np.asfortranarray((K - K.mean(axis=0)) / K.std(axis=0))


def objective(Kt, y, alpha, epsilon):
    """Return the dual objective."""
    fitted = Kt @ alpha
    return 0.5 * fitted @ fitted - y @ fitted + epsilon * np.abs(alpha).sum()


@pytest.mark.parametrize("gram", GRAMS)
@pytest.mark.parametrize("share", [0.1, 0.01])
def test_same_minimum(gram, share, record_property):
    K, y = problem(gram, 400)
    Kt = standardised(K)
    epsilon = share * np.abs(Kt.T @ y).max()
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an oracle that gives up shows in its objective
        for C, other in ((np.inf, lasso), (0.02, quadratic_program)):
            ours, solver = timed(psvm, K, y, share, C, 1e-6, repeats=1)
            theirs, alpha = timed(other, Kt, y, epsilon, C, 1e-6, repeats=1)
            record_property(f"cpu_ratio_{other.__name__}", theirs / ours)
            expected = objective(Kt, y, alpha, epsilon)
            assert solver.report_["objective"] <= expected + 1e-5 * abs(expected)


def main(n):
    """Print the tables."""
    for gram in GRAMS:
        K, y = problem(gram, n)
        compare(gram, K, y)


def compare(gram, K, y):
    """Print the table of one Gram matrix."""
    Kt = standardised(K)
    largest = np.abs(Kt.T @ y).max()
    row = start_table(f"{gram}, {len(y):,} records: ε / ε_max", "C", "support", "P-SVM, ms", "other", "its ms", "ratio")
    for share in SHARES:
        theirs, _ = timed(lasso, Kt, y, share * largest, repeats=2)
        row(*cells(share, np.inf, *timed(psvm, K, y, share, np.inf), "Lasso", theirs))
    for C in BOUNDS:
        theirs, _ = timed(svm, K, y, C)
        for share in SHARES:
            row(*cells(share, C, *timed(psvm, K, y, share, C), "LIBSVM", theirs))
    for C in (*BOUNDS, np.inf):
        one, solver = timed(psvm, K, y, SHARES[-1], C)
        whole, minima = timed(path, K, y, C, np.geomspace(1, SHARES[-1], 20))
        assert all(minimum.report["converged"] for minimum in minima)
        row(*cells(f"1 … {SHARES[-1]}", C, whole, solver, "the last alone", one))


def cells(share, C, ours, solver, name, theirs):
    """Return the cells of a row: milliseconds of the P-SVM and of another, and their ratio."""
    assert solver.report_["converged"]
    milliseconds = (f"{1e3 * ours:.0f}", name, f"{1e3 * theirs:.0f}", f"{ours / theirs:.2f}")
    return share, C, solver.report_["n_support"], *milliseconds


if __name__ == "__main__":
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
