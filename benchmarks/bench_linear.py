"""Training without a Gram matrix: one pass of dual coordinate descent, the way to a gap of 1e-3, LIBLINEAR, growth.

Windows are the acceptor sites of C. elegans, 60 letters before the site's first and 80 after it, or simulated ones. CPU
seconds of one thread; memory is what a process of its own had at most, above what it had after reading the windows.

LIBLINEAR (scikit-learn's, hinge loss, dual) gets the explicit features of the weighted degree kernel as a sparse
matrix, where that fits. It penalises the bias. Its time is that of the loosest tolerance at which its w, with the best
bias, has a primal value at most 1e-3 above the optimum of the problem without that penalty.

Run it by pytest, or: ``python benchmarks/bench_linear.py [windows]``; ``… growth [most windows]``;
``… liblinear [windows]``; ``… epoch [windows]`` for reading and adding each feature vector once, in random order.
"""

import bz2
import subprocess
import sys
import time
import warnings

import numpy as np
from common import DATA, start_table
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC as Liblinear

from seqkern.core.progress import peak_mb
from seqkern.kernels import build_kernel
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers import LinearSVC
from seqkern.solvers.svm.linear import Descent, best_bias

ACCEPTORS = "celegans_acceptor/acc_100000x398.fasta.bz2"
BEFORE, AFTER, SITE = 60, 80, 197
LENGTH = BEFORE + 1 + AFTER
TOLERANCE = 1e-3
POSITIONAL = (
    "weighted_degree:degree=20",
    "shifted_weighted_degree:degree=8,shift=10",
    "shifted_weighted_degree:degree=20,shift=10",
)


def windows(n, simulated=False):
    """Return windows as a SequenceSet, and labels −1 and 1."""
    if simulated or not (DATA / ACCEPTORS).is_file():
        codes, y = simulated_windows(n)
    else:
        codes, y = acceptors(n)
    starts = np.arange(len(codes), dtype=np.int64) * LENGTH
    X = SequenceSet(codes.reshape(-1), starts, starts + LENGTH, [str(i) for i in range(len(codes))], "dna")
    return X, y


def acceptors(n):
    """Return the codes, uint8 (n, 141), and labels of the first windows of the public set."""
    table = np.zeros(256, dtype=np.uint8)
    table[np.frombuffer(b"ACGT", dtype=np.uint8)] = range(4)
    rows, y = [], []
    with bz2.open(DATA / ACCEPTORS) as file:
        for record in file.read().split(b">")[1 : n + 1]:
            header, _, letters = record.partition(b"\n")
            letters = np.frombuffer(letters.replace(b"\n", b""), dtype=np.uint8)
            rows.append(table[letters[SITE - BEFORE : SITE + AFTER + 1]])
            y.append(1.0 if b"label=1" in header else -1.0)
    return np.array(rows), np.array(y)


def simulated_windows(n, seed=1):
    """Return random windows, one in 30 with a noisy motif of 24 letters around the site."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, (n, LENGTH), dtype=np.uint8)
    y = np.where(rng.random(n) < 1 / 30, 1.0, -1.0)
    motif = rng.integers(0, 4, 24, dtype=np.uint8)
    for row in np.flatnonzero(y > 0):
        keep = rng.random(24) < 0.6
        codes[row, 45:69][keep] = motif[keep]
    return codes, y


def timed(run):
    """Return CPU seconds of a call and what it returned."""
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def measure(n, degree=20, simulated=False, costs=(1.0,)):
    """Return rows (what, CPU seconds, remark) of one kernel on n windows."""
    X, y = windows(n, simulated)
    kernel = build_kernel(f"weighted_degree:degree={degree}")
    before = peak_mb()
    seconds, implicit = timed(lambda: kernel.implicit(X))
    rows = [("tables", seconds, f"{implicit.n_weights} weights")]
    descent = Descent(implicit, y, np.ones(len(y)), 1)
    descent._pass()
    seconds, _ = timed(descent._pass)
    rows.append(("a pass over all", seconds, f"{seconds / len(y) * 1e6:.2f} µs a window"))
    del descent
    for C in costs:
        seconds, solver = timed(lambda C=C: LinearSVC(C=C, tol=TOLERANCE).fit(implicit, y))
        report = solver.report_
        rows.append(
            (f"C={C:g}, to the gap", seconds, f"{report['iterations']} passes, {report['n_support']} support vectors")
        )
    rows.append(("memory", peak_mb() - before, "MB"))
    return rows


def explicit_features(X, degree):
    """Return the features of the normalised weighted degree kernel as a sparse matrix."""
    codes = X.codes.reshape(len(X), -1).astype(np.int64)
    length = codes.shape[1]
    columns, values, first = [], [], 0
    for k in range(1, degree + 1):
        words = np.zeros((len(codes), length - k + 1), dtype=np.int64)
        for j in range(k):
            words = words * 4 + codes[:, j : j + words.shape[1]]
        columns.append(first + np.arange(words.shape[1]) * 4**k + words)
        values.append(np.full(words.shape[1], np.sqrt(2 * (degree - k + 1) / (degree * (degree + 1)))))
        first += words.shape[1] * 4**k
    columns = np.concatenate(columns, axis=1, dtype=np.int32)
    value = np.concatenate(values)
    value /= np.linalg.norm(value)
    starts = np.arange(len(codes) + 1, dtype=np.int32) * columns.shape[1]
    return csr_array((np.tile(value, len(codes)), columns.reshape(-1), starts), shape=(len(codes), first))


def beside_liblinear(n, degree, C=1.0):
    """Return rows (what, CPU seconds, remark)."""
    X, y = windows(n)
    kernel = build_kernel(f"weighted_degree:degree={degree}")
    making, features = timed(lambda: explicit_features(X, degree))
    cost = np.full(n, C)
    exact = LinearSVC(C=C, tol=1e-5).fit(kernel.implicit(X), y)
    least = -exact.report_["objective"]
    mine = min(timed(lambda: LinearSVC(C=C, tol=TOLERANCE).fit(kernel.implicit(X), y))[0] for _ in range(3))
    rows = [("seqkern, tables included", mine, ""), ("the explicit matrix", making, f"{features.nnz} entries")]
    for scaling in (1.0, 10.0):
        for tol in (1.0, 0.3, 0.1, 0.03, 0.01, 1e-3):
            other = Liblinear(C=C, loss="hinge", tol=tol, intercept_scaling=scaling, max_iter=10_000, random_state=0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                seconds, _ = timed(lambda other=other: other.fit(features, y))
            w = other.coef_[0]
            products = features @ w
            losses = np.maximum(0, 1 - y * (products + best_bias(products, y, cost)))
            above = (0.5 * w @ w + C * losses.sum()) / least - 1
            remark = f"bias of {scaling:g}, tol {tol:g}: {above:.1e} above the optimum; with the matrix "
            if above <= TOLERANCE or tol == 1e-3:
                rows.append(("LIBLINEAR", seconds, f"{remark}{(seconds + making) / mine:.1f} ×"))
                break
    return rows


def growth(most):
    """Print time and memory on simulated windows, each number of them in a process of its own."""
    row = start_table("windows", "tables, s", "a pass, s", "fit, s", "MB", "fit")
    for n in (1000, 10_000, 100_000, 1_000_000):
        if n > most:
            break
        done = subprocess.run([sys.executable, __file__, "one", str(n)], capture_output=True, text=True, check=True)
        row(f"{n:,}", *done.stdout.strip().split("\t"))


def epoch(spec, n):
    """Return a line: what it takes to make the tables, to read and add all feature vectors in random order, to read."""
    X, _ = windows(n, simulated=True)
    y = np.random.default_rng(0).choice([-1.0, 1.0], size=n)  # nothing can be learned: every step changes the weights
    kernel = build_kernel(spec).set_params(normalize=False)
    predicted = kernel.implicit.bytes(X) / 1e6
    before = peak_mb()
    made, implicit = timed(lambda: kernel.implicit(X))
    descent = Descent(implicit, y, np.ones(n), 1)
    both, _ = timed(descent._pass)
    changed = np.count_nonzero(descent.alpha) / n
    view = implicit.take(np.random.default_rng(0).permutation(n))
    read = min(timed(lambda: view.dots(descent.weights))[0] for _ in range(3))
    return f"{made:.2f}\t{both:.3f}\t{changed:.1%}\t{read:.3f}\t{predicted:.0f}\t{peak_mb() - before:.0f}"


def epochs(n):
    """Print `epoch` of some kernels, each in a process of its own."""
    row = start_table("kernel", "tables, s", "epoch, s", "changed", "reading, s", "predicted MB", "used MB")
    for spec in POSITIONAL:
        command = [sys.executable, __file__, "epoch-of", spec, str(n)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        row(spec, *done.stdout.strip().split("\t"))


def show(title, rows):
    """Print rows of measurements."""
    row = start_table(title, "CPU s", "")
    for what, value, remark in rows:
        row(what, f"{value:.0f} MB" if what == "memory" else f"{value:.3f}", remark if what != "memory" else "")


def test_both_find_the_optimum():
    rows = beside_liblinear(2000, 3)
    assert [what for what, _, _ in rows[2:]] == ["LIBLINEAR"] * 2
    show("weighted degree d=3, 2,000 windows", rows)


def main(words):
    """Print what the command line asks for."""
    what = words[0] if words and not words[0].isdigit() else "windows"
    size = int(words[-1]) if words and words[-1].isdigit() else None
    if what == "one":
        tables, one_pass, fit, memory = measure(size, simulated=True)
        print(f"{tables[1]:.2f}\t{one_pass[1]:.3f}\t{fit[1]:.2f}\t{memory[1]:.0f}\t{fit[2]}")
    elif what == "epoch-of":
        print(epoch(words[1], size))
    elif what == "epoch":
        epochs(size or 100_000)
    elif what == "growth":
        growth(size or 1_000_000)
    elif what == "liblinear":
        for degree in (3, 6):
            show(f"weighted degree d={degree}", beside_liblinear(size or 20_000, degree))
    else:
        for degree in (6, 20):
            show(f"weighted degree d={degree}", measure(size or 100_000, degree, costs=(0.1, 1.0, 10.0)))


if __name__ == "__main__":
    main(sys.argv[1:])
