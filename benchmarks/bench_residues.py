"""Residues of jpred4: 218,421 windows of 15 with PSI-BLAST's profiles, from the published files to predictions.

CPU seconds and memory of each step, in one process on one thread. Run it by pytest (on generated chains), or:
``python benchmarks/bench_residues.py`` for reading and folds, ``… training [features] [kernel] [memory]`` for one fold
of the official seven: Nyström (or random_fourier) features of the training set, primal_svc on them for C = 1 and then
for the grid, and predictions about the test set. Without the public files, generated chains of the same number take
their place, and windows of letters that of profiles.
"""

import contextlib
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from common import DATA, start_table

from seqkern.cli.main import main
from seqkern.evaluation import read_folds
from seqkern.formats.profile_sources import ProfileFiles
from seqkern.kernels import build_kernel
from seqkern.methods.sources import FeatureSource
from seqkern.solvers import PrimalSVC
from seqkern.study import load_dataset, make_dataset, save_dataset

JPRED4 = {"public": "jpred4", "profiles": {"files": "public:jpred4_profiles"}, "residues": {"window": 15}}
PROFILES = "jpred4/training_1348_psiblast_profile.tar.xz"


def generated(n_chains):
    """Return the entry of generated chains."""
    simulated = {"kind": "secondary_structure", "n_chains": n_chains, "mean_length": 162}
    return {"simulate": simulated, "residues": {"window": 15}}


def reading(entry, folder):
    """Yield (step, CPU seconds) from the files to folds; of the public set also of its profiles alone."""

    def timed(step, run):
        start = time.process_time()
        results.append(run())
        return step, time.process_time() - start

    results = []
    if "public" in entry:
        yield timed("parse 1,348 PSSMs alone", lambda: ProfileFiles(DATA / PROFILES))
    yield timed("read, check and cut windows", lambda: make_dataset("set", entry, data_dir=DATA))
    made = results[-1]
    yield timed("save", lambda: save_dataset(made, folder / "set"))
    yield timed("load", lambda: load_dataset(folder / "set"))
    yield timed("digest of the windows", results[-1].X.digest)
    with contextlib.redirect_stdout(sys.stderr):
        yield timed("seqkern folds", lambda: main(["folds", str(folder / "set"), "-o", str(folder / "folds")]))
    yield timed("read the folds", lambda: read_folds(folder / "folds" / "all.tsv", made.X.ids, made.task().labels))


def training(entry, n_components, approximation="nystroem", memory=None):
    """Yield (step, CPU seconds, what came out) of one fold: features, a fit, a grid of C, predictions."""
    made = make_dataset("set", entry, data_dir=DATA)
    labels = made.task().labels
    held_out = np.asarray(labels.folds) == "1" if labels.folds is not None else made.residues.record % 7 == 0
    train, test = np.flatnonzero(~held_out & labels.used()), np.flatnonzero(held_out & labels.used())
    base = {"kernel": "pssm_window", "scale": 2.0, "gamma": 0.02} if "profiles" in entry else {"kernel": "window"}
    kernel = build_kernel(
        {"kernel": approximation, "base": base | {"n_threads": 1}, "n_components": n_components, "n_threads": 1}
    )
    source = FeatureSource(kernel, made.X, blocks=True, memory_limit=memory)
    y, last = labels.y, [time.process_time()]

    def lap():
        last.append(time.process_time())
        return last[-1] - last[-2]

    block = source.at(test, like=train, y=y[train])
    blocks, new = block.train, block.test
    yield "features", lap(), f"{blocks.shape[0]} × {blocks.shape[1]}{'' if blocks.stored else ', computed anew'}"
    solver = PrimalSVC().fit(blocks, y[train])
    yield "fit, C = 1", lap(), f"gap {solver.report_['gap']:.1g}"
    right = (solver.predict(new) == y[test]).mean()
    yield "predict", lap(), f"{len(test)} residues, Q3 {right:.4f}"
    solver = None
    for C in PrimalSVC.declared.search.grid["C"]:
        solver = PrimalSVC(C=C).fit_after(solver, blocks, y[train])
    yield "fit the grid of C", lap(), ""


def test_reading(tmp_path, benchmark):
    steps = benchmark(lambda: dict(reading(generated(30), tmp_path)))
    assert len(steps) == 6


def test_training(benchmark):
    steps = benchmark(lambda: list(training(generated(30), 100)))
    assert len(steps) == 4


def run(arguments):
    """Print each step of reading, or of training."""
    entry = JPRED4 if (DATA / PROFILES).is_file() else generated(1348)
    with tempfile.TemporaryDirectory() as place:
        if arguments[:1] == ["training"]:
            steps = training(entry, int([*arguments, "2000"][1]), *arguments[2:])
        else:
            steps = reading(entry, Path(place))
        row = start_table(" ".join(arguments) or "reading", "CPU s", "peak MB so far", "")
        for name, seconds, *told in steps:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
            row(name, f"{seconds:.2f}", f"{peak:.0f}", " ".join(map(str, told)))


if __name__ == "__main__":
    run(sys.argv[1:])
