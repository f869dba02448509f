"""The P-SVM beside scikit-learn's Lasso (C infinite) and a generic bounded quadratic program (C finite).

All get the same Gram matrix (spectrum kernel, random DNA with a planted motif) in one process with BLAS on
one thread, and are asked for the same accuracy; the P-SVM standardises the columns itself, the others get
them standardised. CPU seconds, ratios and the objectives reached are printed. Run it by pytest, or:
``python benchmarks/bench_psvm.py [sequences]``.
"""

import sys
import time
import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import Lasso
from threadpoolctl import threadpool_limits

from seqkern.kernels import build_kernel
from seqkern.solvers import PSVC

BOUND = 0.02
TOLERANCE = 1e-6


def problem(n, seed=1):
    """Return the Gram matrix of n sequences, half of them with a noisy motif, and labels −1 and 1."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, (n, 100))
    y = np.repeat([1.0, -1.0], [n // 2, n - n // 2])
    motif = rng.integers(0, 4, 12)
    for row in codes[: n // 2]:
        start = rng.integers(0, 88)
        keep = rng.random(12) < 0.8
        row[start : start + 12][keep] = motif[keep]
    sequences = ["".join("ACGT"[code] for code in row) for row in codes]
    return build_kernel("spectrum:k=5").kernel(sequences), y


def timed(run):
    """Return CPU seconds of a call and what it returned."""
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def psvm(K, y, epsilon, C):
    """Return α by the P-SVM."""
    solver = PSVC(C=C, epsilon=epsilon, epsilon_scale="absolute", tol=TOLERANCE).fit(K, y)
    alpha = np.zeros(len(y))
    alpha[solver.support_] = solver.alpha_
    return alpha


def lasso(Kt, y, epsilon):
    """Return α by scikit-learn's coordinate descent."""
    model = Lasso(alpha=epsilon / len(y), fit_intercept=False, tol=TOLERANCE, max_iter=100_000)
    return model.fit(Kt, y - y.mean()).coef_


def quadratic_program(Kt, y, epsilon, C):
    """Return α by L-BFGS-B on α⁺ and α⁻ in [0, C]."""
    n = Kt.shape[1]

    def objective(both):
        fitted = Kt @ (both[:n] - both[n:])
        g = Kt.T @ (fitted - y)
        return 0.5 * fitted @ fitted - y @ fitted + epsilon * both.sum(), np.concatenate([g, -g]) + epsilon

    options = {"maxiter": 20_000, "maxfun": 20_000, "ftol": 1e-14, "gtol": TOLERANCE * np.abs(Kt.T @ y).max()}
    found = minimize(
        objective, np.zeros(2 * n), jac=True, bounds=[(0, C)] * (2 * n), method="L-BFGS-B", options=options
    )
    return found.x[:n] - found.x[n:]


def compare(n, share):
    """Return rows (C, method, CPU seconds, dual objective) for ε = share · ε_max."""
    K, y = problem(n)
    Kt = (K - K.mean(axis=0)) / K.std(axis=0)
    epsilon = share * np.abs(Kt.T @ y).max()

    def row(C, name, run):
        seconds, alpha = timed(run)
        fitted = Kt @ alpha
        return C, name, seconds, 0.5 * fitted @ fitted - y @ fitted + epsilon * np.abs(alpha).sum()

    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an oracle that gives up shows in its objective
        psvm(K[:50, :50], y[:50] * np.tile([1, -1], 25), epsilon, 1.0)
        return [
            row(np.inf, "P-SVM", lambda: psvm(K, y, epsilon, np.inf)),
            row(np.inf, "Lasso", lambda: lasso(Kt, y, epsilon)),
            row(BOUND, "P-SVM", lambda: psvm(K, y, epsilon, BOUND)),
            row(BOUND, "L-BFGS-B", lambda: quadratic_program(Kt, y, epsilon, BOUND)),
        ]


@pytest.mark.parametrize("share", [0.1, 0.01])
def test_same_minimum(share, record_property):
    rows = compare(600, share)
    for ours, theirs in (rows[:2], rows[2:]):
        record_property(f"cpu_ratio_{theirs[1]}_C={theirs[0]}", theirs[2] / ours[2])
        assert ours[3] <= theirs[3] + 1e-4 * abs(theirs[3])


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
    print(f"{count} sequences\nepsilon/max\tC\tmethod\tCPU s\tratio\tobjective")
    for part in (0.3, 0.1, 0.03, 0.01):
        table = compare(count, part)
        for line, base in zip(table, [table[0], table[0], table[2], table[2]], strict=True):
            print(f"{part}\t{line[0]}\t{line[1]}\t{line[2]:.3f}\t{line[2] / base[2]:.1f}\t{line[3]:.6f}")
