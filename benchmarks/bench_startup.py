"""What small jobs cost: imports, commands on 100 sequences, predictions and matrices of a few sequences in a process.

python benchmarks/bench_startup.py [REPEATS]

Medians of so many runs (5), in CPU seconds, beside what is demanded. A command runs in a process of its own, which must
import Python, numpy and other libraries; its own work is what the same command takes again in one process.
"""

import contextlib
import io
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import child_seconds, start_table

from seqkern.cli.main import main as seqkern
from seqkern.core.package_files import build_digest
from seqkern.kernels import build_kernel
from seqkern.methods.loading import load_model
from seqkern.sequences.fasta import read_fasta
from seqkern.sequences.sequence_set import as_sequences
from seqkern.simulate import simulate, write_simulated

PROCESS, OWN, PREDICTION, MATRIX = 0.5, 0.020, 0.005, 200e-6
"""CPU seconds that are demanded: a command, its own work, 10 predictions, a matrix of 10 × 10."""

DIRECT = "from seqkern.kernels.kmer.kmer_kernel import SpectrumKernel"
IMPORTS = {
    "python": "pass",
    "numpy": "import numpy",
    "scikit-learn's SVC": "from sklearn.svm import SVC",
    "seqkern": "import seqkern",
    "SpectrumKernel, directly": DIRECT,
    "SpectrumKernel": "from seqkern.kernels import SpectrumKernel",
    "CSVC": "from seqkern.solvers import CSVC",
    "PSVC": "from seqkern.solvers import PSVC",
}
COUNT = "\nimport json, sys\nprint(json.dumps(len(sys.modules)), file=sys.stderr)"
COMMAND = "import sys\nfrom seqkern.cli.main import main\nmain(sys.argv[1:])"
KERNELS = (
    "spectrum:k=3",
    "spectrum:k=6",
    "weighted_degree",
    "shifted_weighted_degree",
    "locality_improved",
    "gappy_pair",
    "oligo_distance",
    "mismatch",
    "gapped_kmer",
    "string",
)


def run(code, *argv):
    """Return (CPU seconds, number of modules) of a new process."""
    command = [sys.executable, "-c", code + COUNT, *map(str, argv)]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    seconds, done = child_seconds(lambda: subprocess.run(command, check=True, text=True, **streams))
    return seconds, json.loads(done.stderr.splitlines()[-1])


def median(repeats, code, *argv):
    """Return the median CPU seconds, and the number of modules, of several runs; the first warms the disk's cache."""
    runs = [run(code, *argv) for _ in range(repeats + 1)][1:]
    return statistics.median(seconds for seconds, _ in runs), runs[-1][1]


def again(repeats, call):
    """Return the median CPU seconds of a call after a first one."""
    seconds = []
    for _ in range(repeats + 1):
        start = time.process_time()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            call()
        seconds.append(time.process_time() - start)
    return statistics.median(seconds[1:])


def own_work(repeats, argv):
    """Return the median CPU seconds of a command in a process that has run it before."""

    def command():
        build_digest.cache_clear()  # a new process computes it
        seqkern(list(map(str, argv)))

    return again(repeats, command)


def commands(folder):
    """Write the input of the commands into a folder, and yield (name, arguments, whether it is a small job) of each."""
    records = folder / "donors.fasta"
    for name, size in (("donors", 50), ("new", 5)):
        write_simulated(simulate("donor", n_positive=size, n_decoy=size), folder / name)
    labels = ["--labels", "header", "--label-field", "label", "--positive", "donor"]
    yield "--help", ["--help"], False
    yield "kernels", ["kernels"], False
    yield "gram", ["gram", records, "--kernel", "spectrum:k=3", "-o", folder / "gram.npy"], True
    for solver in ("csvc", "psvc"):
        model = folder / f"{solver}.model"
        train = ["train", records, *labels, "--kernel", "spectrum:k=3", "--solver", solver, "-o", model]
        yield f"train {solver}", train, True
        yield f"predict {solver}", ["predict", model, records], True
        yield f"explain {solver}", ["explain", model, records, "--overwrite", "-o", folder / f"why-{solver}"], True
    entry = json.dumps({"simulate": {"kind": "donor", "n_positive": 60, "n_decoy": 60}})
    run(COMMAND, "datasets", "--entry", entry, "--name", "donors", "-o", folder / "data")
    run(COMMAND, "folds", folder / "data", "--method", "stratified", "--k", "3", "-o", folder / "folds")
    for solver in ("csvc", "psvc"):
        argv = ["evaluate", folder / "data", "--folds", folder / "folds", "--kernel", "spectrum:k=3"]
        yield f"evaluate {solver}", [*argv, "--solver", solver, "-o", folder / solver], False


def verdict(seconds, demanded):
    """Return the demand, and whether it is met."""
    return f"≤ {1000 * demanded:g} ms: {'met' if seconds <= demanded else '**not met**'}"


def tell_imports(repeats):
    """Print a row for each import."""
    row, found = start_table("import", "CPU s", "modules"), {}
    for name, code in IMPORTS.items():
        found[name], modules = median(repeats, code)
        row(name, f"{found[name]:.3f}", f"{modules:,}")


def tell_commands(repeats, folder):
    """Print a row for each command, and of 100 sequences also its own work."""
    row = start_table("`seqkern`", "CPU s", "demand", "modules", "own work, ms", "demand")
    for name, argv, small in commands(folder):
        seconds, modules = median(repeats, COMMAND, *argv)
        own = own_work(repeats, argv) if small else 0.0
        told = [f"{1000 * own:.1f}", verdict(own, OWN)] if small else ["", ""]
        row(name, f"{seconds:.3f}", verdict(seconds, PROCESS) if small else "", f"{modules:,}", *told)


def tell_predictions(repeats, folder):
    """Print what predictions about 10 sequences take, by the command and by a model in memory."""
    row = start_table("10 sequences, in one process", "ms", "demand")
    for solver in ("csvc", "psvc"):
        path = folder / f"{solver}.model"
        X, model = read_fasta(folder / "new.fasta", "dna"), load_model(path)
        calls = {
            f"seqkern predict, {solver}": lambda path=path: seqkern(["predict", str(path), str(folder / "new.fasta")]),
            f"Model.predict, {solver}": lambda model=model, X=X: model.predict(X),
        }
        for name, call in calls.items():
            seconds = again(max(10, repeats), call)
            row(name, f"{1000 * seconds:.2f}", verdict(seconds, PREDICTION))


def tell_matrices(repeats):
    """Print what a matrix of 10 × 10 sequences of 60 bases takes, as strings and as a SequenceSet."""
    row = start_table("matrix of 10 × 10 sequences of 60 bases", "from", "µs", "demand")
    draw = random.Random(1)
    strings = ["".join(draw.choices("ACGT", k=60)) for _ in range(10)]
    for spec in KERNELS:
        kernel = build_kernel(spec)
        for name, X in (("strings", strings), ("SequenceSet", as_sequences(strings, "dna"))):
            seconds = again(50 * repeats, lambda kernel=kernel, X=X: kernel(X))
            row(f"`{spec}`", name, f"{1e6 * seconds:.0f}", verdict(seconds, MATRIX))


def main():
    """Print all tables."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is not compiled anew in each process
    sys.dont_write_bytecode = False
    tell_imports(repeats)
    folder = Path(tempfile.mkdtemp())
    try:
        tell_commands(repeats, folder)
        tell_predictions(repeats, folder)
    finally:
        shutil.rmtree(folder)
    tell_matrices(repeats)


if __name__ == "__main__":
    main()
