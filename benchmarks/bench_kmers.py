"""The k-mer kernels beside scikit-learn's CountVectorizer and a sparse product, and every algorithm of each.

A job is everything from Python strings to the full, normalised float64 matrix: encoding, counting, products,
normalising, on one thread. CPU seconds of the process, medians after a warm-up, all in one run. CountVectorizer
cannot do mismatches: it is compared on the spectrum kernels.

Run it by pytest, or: ``python benchmarks/bench_kmers.py [repeats]``, which prints a table.
"""

import sys

import numpy as np
import pytest
from common import algorithms, cpu_seconds, load, seqkern_gram, start_table

# Data, kernel, and the CPU seconds that it may take, if there is a target.
JOBS = [
    ("ctcf", "spectrum:k=6", 0.05),
    ("scop-train", "spectrum:k=3", 0.06),
    ("scop-train", "mismatch:k=3,m=1", 0.2),
    ("ctcf", "mismatch:k=6,m=1", 0.035),
    ("ctcf", "mismatch:k=6,m=2", 0.035),
    ("ctcf", "mismatch:k=6,m=2,reverse_complement=true", None),
    ("ctcf", "gapped_kmer:l=7,k=5", None),
    ("random-500", "gapped_kmer:l=8,k=6", None),
    ("random-500", "mismatch:k=8,m=2", None),
    ("scop", "mismatch:k=5,m=1", 0.6),
]


def sklearn_gram(strings, k):
    """Return the spectrum kernel's Gram matrix by scikit-learn and scipy; letters outside the alphabet count too."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize

    counts = CountVectorizer(analyzer="char", ngram_range=(k, k), lowercase=False).fit_transform(strings)
    rows = normalize(counts.astype(np.float64))
    return (rows @ rows.T).toarray()


def report(repeats):
    """Print a table of all jobs."""
    row = start_table("data", "kernel", "algorithm", "predicted", "CPU s", "target", "scikit-learn", "ratio")
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
            numbers = [f"{plan.seconds:.4f}", f"{seconds:.4f}", f"{target or ''}"]
            beside = [f"{rival:.4f}", f"{rival / seconds:.1f}"] if rival else ["", ""]
            row(name, spec, chosen, *numbers, *beside)


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
