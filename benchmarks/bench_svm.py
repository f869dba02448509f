"""The machines of LIBSVM and of several classes: CPU seconds, and the memory of a fold, on Gram matrices in files.

A fold's own matrices, K(train, train) and K(test, train), are cut from the file, and nothing of their size is beside
them: LIBSVM reads them where they lie, and holds at most 200 MB of them in single precision in its cache. Each number
comes from a process of its own. Run it by pytest, or: ``python benchmarks/bench_svm.py [records]``.
"""

import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from common import start_table

SOLVERS = {
    "binary": ("csvc:C=1", "csvc:C=100", "nusvc:nu=0.2", "one_class_svm:nu=0.1", "filtered:binary=(csvc),nu=0.05"),
    "real": ("svr:C=10", "nusvr:C=10"),
    "multiclass": (
        "pairwise_voting:binary=(csvc)",
        "decision_dag:binary=(csvc)",
        "one_against_rest:binary=(csvc)",
        "direct_multiclass:C=1",
        "direct_multiclass:C=100",
    ),
}
CLASSES = 6
LIMIT = 30e6  # beside the matrices of 58 MB, of which that of the training set has 46 MB


def write_problem(folder, n, seed=1):
    """Write a Gram matrix of n points and their labels of each kind."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, CLASSES, n)
    points = rng.normal(size=(n, 8)) + 1.2 * rng.normal(size=(CLASSES, 8))[classes]
    score = points[:, 0] + 0.5 * rng.normal(size=n)
    K = np.lib.format.open_memmap(folder / "gram.npy", mode="w+", dtype=np.float64, shape=(n, n))
    squares = (points**2).sum(axis=1)
    for start in range(0, n, 500):
        part = slice(start, start + 500)
        K[part] = np.exp(-(squares[part, None] + squares - 2 * points[part] @ points.T) / 16)
    np.savez(folder / "labels.npz", binary=np.where(score > 0.5, 1, -1), real=score, multiclass=classes)


def memory():
    """Return the bytes of this process that no file stands behind (Linux)."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(fields["RssAnon"].split()[0]) * 1024


class Peak(threading.Thread):
    """Looks at the memory every few milliseconds."""

    def __init__(self):
        super().__init__(daemon=True)
        self.bytes, self.going = memory(), True

    def run(self):
        """Look until told to stop."""
        while self.going:
            self.bytes = max(self.bytes, memory())
            time.sleep(0.002)


def measure(folder, spec, kind):
    """Cut the first of five folds, fit and decide; print numbers as JSON."""
    from seqkern.gram.matrix import GramMatrix
    from seqkern.methods.sources import StoredGram
    from seqkern.solvers import make_solver

    values = np.load(folder / "gram.npy", mmap_mode="r")
    diagonal = np.ones(len(values))
    labels = np.load(folder / "labels.npz")[kind]
    rows = np.arange(len(values))
    train, test = rows[rows % 5 > 0], rows[rows % 5 == 0]
    solver = make_solver(spec, kind)
    small = train[:60]
    solver.fit(np.asarray(values[np.ix_(small, small)]), labels[small])  # whatever is imported or allocated once
    before, peak = memory(), Peak()
    peak.start()
    block = StoredGram(GramMatrix(values, diagonal, diagonal, {})).at(test, like=train)
    start = time.process_time()
    solver.fit(block.train, labels[train])
    fitted = time.process_time()
    predicted = solver.predict(block.test)
    ended = time.process_time()
    peak.going = False
    peak.join()
    right = np.corrcoef(predicted, labels[test])[0, 1] if kind == "real" else np.mean(predicted == labels[test])
    found = {
        "fit": fitted - start,
        "predict": ended - fitted,
        "right": float(right),
        "matrices": block.train.nbytes + block.test.nbytes,
        "peak": peak.bytes - before,
        "support": solver.report_["support_share"],
        "residual": solver.report_["residual"],
        "gap": solver.report_.get("gap"),
        "converged": solver.report_["converged"],
    }
    print(json.dumps(found))


def measured(folder, spec, kind):
    """Return what `measure` finds in a process of its own."""
    argv = [sys.executable, __file__, "--measure", str(folder), spec, kind]
    done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("spec", ["csvc:C=1", "nusvc:nu=0.2", "one_against_rest:binary=(csvc)"])
def test_nothing_of_the_size_of_a_fold_beside_it(tmp_path, spec):
    write_problem(tmp_path, 3000)
    kind = next(kind for kind, specs in SOLVERS.items() if spec in specs)
    found = measured(tmp_path, spec, kind)
    assert found["converged"]
    assert found["peak"] <= found["matrices"] + LIMIT


def main(argv):
    """Measure all solvers, and print a table."""
    if argv[:1] == ["--measure"]:
        measure(Path(argv[1]), *argv[2:])
        return
    n = int(argv[0]) if argv else 4000
    with tempfile.TemporaryDirectory() as folder:
        write_problem(Path(folder), n)
        columns = ("fit, s", "predict, s", "right", "support vectors", "gap", "matrices, MB", "peak MB", "converged")
        row = start_table(f"{n:,} records, 4/5 for training", *columns)
        for kind, specs in SOLVERS.items():
            for spec in specs:
                one = measured(folder, spec, kind)
                gap = "-" if one["gap"] is None else f"{one['gap']:.1e}"
                numbers = [f"{one['fit']:.2f}", f"{one['predict']:.2f}", f"{one['right']:.3f}", f"{one['support']:.0%}"]
                sizes = [f"{one[name] / 1e6:.0f}" for name in ("matrices", "peak")]
                row(f"`{spec}`", *numbers, gap, *sizes, "yes" if one["converged"] else "no")


if __name__ == "__main__":
    main(sys.argv[1:])
