"""What short jobs cost: CPU seconds and modules of imports and commands, each in a process of its own.

python benchmarks/bench_startup.py [REPEATS]

The median of so many runs (5). Imports of one class are compared with the direct import from its module, and the
commands with what they cannot do without: numpy, and for LIBSVM the import of scikit-learn.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from seqkern.simulate import simulate, write_simulated

LIMITS = {"gram": 0.5, "predict csvc": 0.5, "predict psvc": 0.5, "evaluate csvc": 1.0}
"""CPU seconds that a command may take on a quiet machine."""

DIRECT = "from seqkern.kernels.kmer.spectrum import SpectrumKernel"
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


def run(code, *argv):
    """Return (CPU seconds, number of modules) of a new process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", code + COUNT, *map(str, argv)]
    done = subprocess.run(command, check=True, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, json.loads(done.stderr.splitlines()[-1])


def median(repeats, code, *argv):
    """Return the median CPU seconds, and the number of modules, of several runs; the first warms the disk's cache."""
    runs = [run(code, *argv) for _ in range(repeats + 1)][1:]
    return statistics.median(seconds for seconds, _ in runs), runs[-1][1]


def commands(folder):
    """Write the input of the commands into a folder, and yield (name, arguments) of each."""
    records = folder / "donors.fasta"
    for name, size in (("donors", 300), ("new", 5)):
        write_simulated(simulate("donor", n_positive=size, n_decoy=size), folder / name)
    labels = ["--labels", "header", "--label-field", "label", "--positive", "donor"]
    yield "--help", ["--help"]
    yield "kernels", ["kernels"]
    yield "gram", ["gram", records, "--kernel", "spectrum:k=3", "-o", folder / "gram.npy"]
    for solver in ("csvc", "psvc"):
        model = folder / f"{solver}.model"
        run(COMMAND, "train", records, *labels, "--kernel", "spectrum:k=3", "--solver", solver, "-o", model)
        yield f"predict {solver}", ["predict", model, folder / "new.fasta"]
    entry = json.dumps({"simulate": {"kind": "donor", "n_positive": 60, "n_decoy": 60}})
    run(COMMAND, "datasets", "--entry", entry, "--name", "donors", "-o", folder / "data")
    run(COMMAND, "folds", folder / "data", "--method", "stratified", "--k", "3", "-o", folder / "folds")
    for solver in ("csvc", "psvc"):
        argv = ["evaluate", folder / "data", "--folds", folder / "folds", "--kernel", "spectrum:k=3"]
        yield f"evaluate {solver}", [*argv, "--solver", solver, "-o", folder / solver]


def main():
    """Print one line for each import and each command."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is not compiled anew in each process
    print(f"{'':26s}{'CPU s':>7s}{'modules':>9s}")
    found = {}
    for name, code in IMPORTS.items():
        found[name], modules = median(repeats, code)
        print(f"{name:26s}{found[name]:7.3f}{modules:9d}", flush=True)
    ratio = found["SpectrumKernel"] / found["SpectrumKernel, directly"]
    print(f"SpectrumKernel takes {ratio:.2f} times its direct import (at most 2)\n", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, argv in commands(Path(folder)):
            seconds, modules = median(repeats, COMMAND, *argv)
            limit = f"   at most {LIMITS[name]:.1f}" if name in LIMITS else ""
            print(f"{name:26s}{seconds:7.3f}{modules:9d}{limit}", flush=True)


if __name__ == "__main__":
    main()
