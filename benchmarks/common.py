"""What the benchmarks share: public sequences, CPU seconds, other programs in an environment of their own.

The data are public (``SEQKERN_DATA``, or ``../shared/data``); where they are missing, random sequences of the same
shape take their place.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import time
import venv
from functools import cache
from pathlib import Path

import numpy as np

from seqkern.kernels import build_kernel
from seqkern.sequences.sequence_set import SequenceSet

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("SEQKERN_DATA", HERE.parents[1] / "shared" / "data"))
PROTEIN = "ACDEFGHIKLMNPQRSTVWY"
SETS = {
    "ctcf": (["tfbs/CTCF.train.fasta"], "ACGT", 2000, 100),
    "ctcf-test": (["tfbs/CTCF.test.fasta"], "ACGT", 2000, 100),
    "scop-train": (["scop_families/1.34.train.fasta"], PROTEIN, 2075, 134),
    "scop": (["scop_families/1.34.train.fasta", "scop_families/1.34.test.fasta"], PROTEIN, 3312, 139),
    "random-200": ([], "ACGT", 6500, 200),
    "random-500": ([], "ACGT", 1000, 500),
}


@cache
def load(name):
    """Return the sequences of a set as strings, and their alphabet."""
    files, letters, n, length = SETS[name]
    alphabet = "dna" if letters == "ACGT" else "protein"
    if not files or not DATA.is_dir():
        return random_strings(n, length, letters), alphabet
    records = "".join((DATA / file).read_text() for file in files).split(">")[1:]
    return ["".join(record.splitlines()[1:]) for record in records], alphabet


def random_strings(n, length, letters="ACGT", seed=1):
    """Return `n` strings of `length` random letters."""
    codes = np.random.default_rng(seed).choice([*letters], size=(n, length))
    return ["".join(row) for row in codes]


def seqkern_gram(strings, alphabet, spec, algorithm="auto", n_threads=1):
    """Return the full, normalised Gram matrix by seqkern, encoding included."""
    kernel = build_kernel(spec).set_params(algorithm=algorithm)
    return kernel(SequenceSet.from_strings(strings, alphabet, unknown="mask_all"), n_threads=n_threads)


def cpu_seconds(run, repeats):
    """Return the median of the CPU seconds of several calls, after one that does not count."""
    run()
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def child_seconds(run):
    """Return the CPU seconds of the processes that a call starts and waits for, and what it returned."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, result


def cells(lengths):
    """Return the pairs of letters of all pairs of sequences, those of a sequence with itself included."""
    lengths = np.asarray(lengths, dtype=np.float64)
    return (lengths.sum() ** 2 + (lengths**2).sum()) / 2


def algorithms(spec, strings, alphabet, worst=1.0):
    """Return the algorithms of a kernel, and what the planner predicts, without those over `worst` seconds."""
    X = SequenceSet.from_strings(strings, alphabet, unknown="mask_all")
    kernel = build_kernel(spec)
    plans = {}
    for name in ("auto", *kernel.algorithms):
        try:
            plans[name] = kernel.set_params(algorithm=name).plan(X)
        except ValueError:  # not for this kernel or these data
            continue
    return {name: plan for name, plan in plans.items() if name == "auto" or plan.seconds <= worst}


def start_table(*columns):
    """Print the head of a Markdown table, and return the function that prints one of its rows."""
    print("\n| " + " | ".join(columns) + " |\n|" + "---|" * len(columns), flush=True)
    return lambda *cells: print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def run_rival(packages, script, *arguments):
    """Run a script in a virtual environment with packages from PyPI, and return the JSON it prints last.

    The environment is made once, in ``benchmarks/results``. Returns None if a package cannot be installed.
    """
    home = HERE / "results" / ("venv-" + "-".join(packages))
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
        tools = ["numpy", "setuptools", "wheel", "pybind11"]
        for names in ([*tools], ["--no-build-isolation", *packages]):
            done = subprocess.run([python, "-m", "pip", "install", "--quiet", *names], check=False)
            if done.returncode:
                print(f"{' '.join(packages)} cannot be installed here", file=sys.stderr)
                return None
    given = [json.dumps(argument) for argument in arguments]
    done = subprocess.run(
        [python, HERE / script], input="\n".join(given), capture_output=True, text=True, check=True, cwd=HERE
    )
    return json.loads(done.stdout.strip().splitlines()[-1])
