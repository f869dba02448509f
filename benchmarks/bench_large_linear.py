"""``linear_svc`` with the weighted degree kernel of degree 20 on up to ten million windows of 141 bases.

Windows are generated (`acceptor_windows`), one in 94 of them a site: the size of the largest experiment of
Sonnenburg, Rätsch & Rieck (2007). Each size runs in a process of its own, on one thread. CPU seconds leave out the
generation of the windows; the peak of memory includes them. AUC and average precision are those of 200,000 held-out
windows, beside the log odds of the bases at each position from 100,000 training windows.

Run it by pytest, or: ``python benchmarks/bench_large_linear.py [sizes …]``; ``… direct [sizes …]`` for feature
vectors of all windows at once, ``… primal [sizes …]`` for products with the kernel matrix (``primal_svc``).
"""

import subprocess
import sys
import time

import numpy as np
from acceptor_windows import LENGTH, windows
from common import start_table

from seqkern.core.progress import peak_mb
from seqkern.evaluation.ranking import average_precision, roc_auc
from seqkern.kernels import build_kernel
from seqkern.kernels.decisions import DeferredImplicit
from seqkern.methods.baselines import position_weights
from seqkern.sequences.fasta import RecordNumbers
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers import LinearSVC, PrimalSVC
from seqkern.solvers.svm import linear

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
HELD_OUT, BASELINE = 200_000, 100_000
COLUMNS = ("windows", "way", "CPU s", "passes", "working sets", "largest set", "support vectors", "gap", "peak MB")
SCORES = ("AUC", "AP", "AUC of log odds", "AP of log odds")


def sequences(codes):
    """Return windows as a SequenceSet."""
    starts = np.arange(len(codes) // LENGTH, dtype=np.int64) * LENGTH
    return SequenceSet(codes, starts, starts + LENGTH, RecordNumbers(range(1, len(starts) + 1)), "dna")


def baseline(X, y, T):
    """Return the log odds of held-out windows by the bases at each position."""
    rows = np.arange(min(len(X), BASELINE))
    X = SequenceSet.from_offsets(
        np.concatenate((X.codes[: len(rows) * LENGTH], T.codes)),
        np.arange(len(rows) + len(T) + 1) * LENGTH,
        RecordNumbers(range(len(rows) + len(T))),
        "dna",
    )
    classes = np.concatenate(((y[rows] > 0).astype(np.int64), np.zeros(len(T), dtype=np.int64)))
    labels = Labels(list(X.ids), classes, "binary", ("decoy", "site"))
    return position_weights(X, labels, rows, np.arange(len(rows), len(X)))[0]


def measure(n, way="sets", held_out=HELD_OUT):
    """Return the cells of a row for `n` windows."""
    codes, y = windows(n)
    X = sequences(codes)
    kernel = build_kernel("weighted_degree:degree=20")
    begun = time.process_time()
    if way == "primal":
        solver = PrimalSVC(C=1.0, tol=1e-3).fit(kernel.operator(X), y)
    else:
        solver = LinearSVC(C=1.0, tol=1e-3).fit(DeferredImplicit(kernel, X) if way == "sets" else kernel.implicit(X), y)
    seconds, report = time.process_time() - begun, solver.report_
    codes, truth = windows(held_out, seed=2)
    T = sequences(codes)
    support, records = (DeferredImplicit(kernel, some) for some in (X.take(solver.support_), T))
    coefficients, constant = solver.linear()
    decisions = records.dots(support.weights(coefficients[solver.support_])) + constant
    odds = baseline(X, y, T)
    scores = [score(truth, values) for values in (decisions, odds) for score in (roc_auc, average_precision)]
    passes, sets = report.get("products", report["iterations"]), report.get("working_sets", 1)
    counts = [passes, sets, f"{report.get('largest_set', n):,}", f"{len(solver.support_):,}"]
    cells = [f"{n:,}", way, f"{seconds:.1f}", *counts, f"{report['gap']:.1e}", f"{peak_mb():.0f}"]
    return [*map(str, cells), *(f"{score:.4f}" for score in scores)]


def show(*row):
    """Print one working set at once: a run of an hour is watched."""
    print("  working set", *row, file=sys.stderr, flush=True)


def watch():
    """Print what each working set reached."""
    certify = linear._certify

    def watched(records, y, cost, alpha):
        found = certify(records, y, cost, alpha)
        show(f"{np.count_nonzero(alpha)} support vectors, gap {found[0].gap:.2e}, {time.process_time():.0f} CPU s")
        return found

    linear._certify = watched


def test_working_sets_reach_the_gap_and_beat_the_baseline(monkeypatch):
    monkeypatch.setattr(linear, "FIRST", (2000, 20))
    sets, direct = measure(10_000, held_out=5000), measure(10_000, "direct", held_out=5000)
    assert float(sets[7]) <= 1e-3
    np.testing.assert_allclose(float(sets[9]), float(direct[9]), atol=2e-3)
    assert float(sets[10]) > float(sets[12])


def main(words):
    """Print the table that the command line asks for."""
    if words[:1] == ["one"]:
        watch()
        print("\t".join(measure(int(words[2]), words[1])))
        return
    way = words.pop(0) if words and not words[0].isdigit() else "sets"
    row = start_table(*COLUMNS, *SCORES)
    for n in map(int, words or SIZES):
        command = [sys.executable, __file__, "one", way, str(n)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        row(*done.stdout.strip().split("\t"))


if __name__ == "__main__":
    main(sys.argv[1:])
