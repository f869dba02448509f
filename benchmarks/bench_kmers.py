"""The k-mer kernels beside scikit-learn's CountVectorizer and a sparse product, and every algorithm of each.

A job is everything from Python strings to the full, normalised float64 matrix: encoding, counting, products,
normalising, on one thread. CPU seconds of the process, medians after a warm-up, all in one run. The data are
public (``SEQKERN_DATA``, or ``../shared/data``); where they are missing, random sequences of the same shape.
CountVectorizer cannot do mismatches: it is compared on the spectrum kernels.

Run it by pytest, or: ``python benchmarks/bench_kmers.py [repeats]``, which prints a table.
"""

import os
import statistics
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from seqkern.kernels import build_kernel
from seqkern.sequences import SequenceSet

DATA = Path(os.environ.get("SEQKERN_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
SETS = {
    "ctcf": (["tfbs/CTCF.train.fasta"], "ACGT", 2000, 100),
    "scop-train": (["scop_families/1.34.train.fasta"], "ACDEFGHIKLMNPQRSTVWY", 2075, 134),
    "scop": (
        ["scop_families/1.34.train.fasta", "scop_families/1.34.test.fasta"],
        "ACDEFGHIKLMNPQRSTVWY",
        3312,
        139,
    ),
}
# Data, kernel, and the CPU seconds that it may take.
JOBS = [
    ("ctcf", "spectrum:k=6", 0.05),
    ("scop-train", "spectrum:k=3", 0.06),
    ("scop-train", "mismatch:k=3,m=1", 0.2),
    ("ctcf", "mismatch:k=6,m=1", 0.1),
    ("scop", "mismatch:k=5,m=1", 0.6),
]


@cache
def load(name):
    """Return the sequences of a set as strings, and their alphabet."""
    files, letters, n, length = SETS[name]
    alphabet = "dna" if letters == "ACGT" else "protein"
    if not DATA.is_dir():
        codes = np.random.default_rng(1).choice([*letters], size=(n, length))
        return ["".join(row) for row in codes], alphabet
    records = "".join((DATA / file).read_text() for file in files).split(">")[1:]
    return ["".join(record.splitlines()[1:]) for record in records], alphabet


def seqkern_gram(strings, alphabet, spec, algorithm="auto"):
    """Return the Gram matrix by seqkern."""
    kernel = build_kernel(spec).set_params(algorithm=algorithm)
    return kernel.kernel(SequenceSet.from_strings(strings, alphabet, unknown="mask"), n_threads=1)


def sklearn_gram(strings, k):
    """Return the spectrum kernel's Gram matrix by scikit-learn and scipy; letters outside the alphabet count too."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize

    counts = CountVectorizer(analyzer="char", ngram_range=(k, k), lowercase=False).fit_transform(strings)
    rows = normalize(counts.astype(np.float64))
    return (rows @ rows.T).toarray()


def cpu_seconds(run, repeats):
    """Return the median of the CPU seconds of several calls, after one that does not count."""
    run()
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def algorithms(spec, strings, alphabet, worst=3.0):
    """Return the algorithms of a kernel, and what the planner predicts, without those over `worst` seconds."""
    X = SequenceSet.from_strings(strings, alphabet, unknown="mask")
    kernel = build_kernel(spec)
    plans = {name: kernel.set_params(algorithm=name).plan(X) for name in ("auto", *kernel.algorithms)}
    return {name: plan for name, plan in plans.items() if plan.seconds <= worst}


def report(repeats):
    """Print a table of all jobs."""
    print("data\tkernel\talgorithm\tpredicted\tseconds\ttarget\tsklearn\tratio")
    for name, spec, target in JOBS:
        strings, alphabet = load(name)
        rival = ""
        if spec.startswith("spectrum"):
            k = int(spec.split("=")[1])
            rival = cpu_seconds(lambda strings=strings, k=k: sklearn_gram(strings, k), repeats)
        for algorithm, plan in algorithms(spec, strings, alphabet).items():
            job = (strings, alphabet, spec, algorithm)
            seconds = cpu_seconds(lambda job=job: seqkern_gram(*job), repeats)
            chosen = f"auto ({plan.algorithm})" if algorithm == "auto" else algorithm
            numbers = [f"{plan.seconds:.4f}", f"{seconds:.4f}", f"{target}"]
            beside = [f"{rival:.4f}", f"{rival / seconds:.1f}"] if rival else ["", ""]
            print("\t".join([name, spec, chosen, *numbers, *beside]), flush=True)


@pytest.mark.parametrize(("name", "spec", "target"), JOBS)
def test_gram(benchmark, name, spec, target):
    strings, alphabet = load(name)
    benchmark.extra_info["target"] = target
    benchmark.pedantic(seqkern_gram, (strings, alphabet, spec), rounds=5, warmup_rounds=1)


@pytest.mark.parametrize(("name", "k"), [("ctcf", 6), ("scop-train", 3)])
def test_sklearn_gram(benchmark, name, k):
    benchmark.pedantic(sklearn_gram, (load(name)[0], k), rounds=3, warmup_rounds=1)


if __name__ == "__main__":
    report(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
