"""Learning the weights of five kernels: CPU seconds of each rule beside one C-SVM on the mean of the kernels.

Random DNA with a planted motif, half of it; the kernels are spectrum kernels of k = 2 … 5 and a mismatch kernel, whose
Gram matrices are computed before. Run it by pytest, or: ``python benchmarks/bench_mkl.py [sequences]``.
"""

import sys

import numpy as np
from bench_psvm import timed
from common import start_table
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from seqkern.kernels import build_kernel
from seqkern.kernels.vectors.combination import learn_weights, variance

KERNELS = ("spectrum:k=2", "spectrum:k=3", "spectrum:k=4", "spectrum:k=5", "mismatch:k=5,m=1")
RULES = {
    "align": {"rule": "alignment", "joint": False},
    "alignf": {"rule": "alignment"},
    **{f"MKL p={p} to {tol}": {"rule": "mkl", "p": p, "tol": tol} for p in (1, 1.5, 4) for tol in (1e-2, 1e-3)},
    "MKL p=1 to 1e-05": {"rule": "mkl", "tol": 1e-5},
}
DEFAULTS = {"scale": "variance", "joint": True, "p": 1, "cost": 1.0, "tol": 1e-3, "max_iter": 200}


def problem(n, seed=1):
    """Return the Gram matrices of n sequences, half of them with a noisy motif, and labels −1 and 1."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, (n, 100))
    y = np.repeat([1.0, -1.0], [n // 2, n - n // 2])
    motif = rng.integers(0, 4, 12)
    for row in codes[: n // 2]:
        start = rng.integers(0, 88)
        keep = rng.random(12) < 0.8
        row[start : start + 12][keep] = motif[keep]
    sequences = ["".join("ACGT"[code] for code in row) for row in codes]
    return [build_kernel(kernel)(sequences) for kernel in KERNELS], y


def compare(n):
    """Return rows (what, CPU seconds, weights tried, relative gap, weights)."""
    grams, y = problem(n)
    mean = np.ascontiguousarray(sum(gram / variance(gram) for gram in grams) / len(grams))
    rows = []
    with threadpool_limits(1):
        rows.append(["C-SVM", timed(lambda: SVC(kernel="precomputed").fit(mean, y))[0], "", "", ""])
        for name, options in RULES.items():
            seconds, found = timed(lambda options=options: learn_weights(grams, y, **{**DEFAULTS, **options}))
            gap = found.report.get("relative_gap")
            text = " ".join(f"{weight:.3f}" for weight in found.weights)
            rows.append([name, seconds, found.report.get("iterations", ""), "" if gap is None else f"{gap:.1e}", text])
    return rows


def test_a_search_costs_no_more_than_fifty_machines():
    rows = {row[0]: row for row in compare(300)}
    assert all(row[2] == "" or row[2] < 50 for row in rows.values())


if __name__ == "__main__":
    row = start_table("", "CPU s", "weights tried", "relative gap", "weights")
    for name, seconds, tried, gap, weights in compare(int(sys.argv[1]) if len(sys.argv) > 1 else 2000):
        row(name, f"{seconds:.2f}", tried, gap, weights)
