"""Kernels whose cost is the matrix itself: computed, normalised, written on both sides of the diagonal.

``ctcf``: 2,000 windows of 100 nt; ``scop-train``: 2,075 proteins; ``random``: 20,000 random windows of 141 nt, from
which a matrix of 1.6 GB in single precision results. Encoded sequences to the full, normalised matrix in memory, on one
thread: CPU seconds of the process, medians after a warm-up. *written* is a matrix of the same size filled with one
number: what allocating and writing it take at least.

Run it by: ``python benchmarks/bench_output.py [repeats]``, which prints a table.
"""

import sys

import numpy as np
from common import cpu_seconds, load, random_strings

from seqkern.kernels import build_kernel
from seqkern.sequences.sequence_set import SequenceSet

JOBS = [
    ("ctcf", "weighted_degree:degree=6", "float64"),
    ("ctcf", "weighted_degree:degree=6", "float32"),
    ("ctcf", "spectrum:k=6", "float64"),
    ("scop-train", "spectrum:k=3", "float64"),
    ("random", "weighted_degree:degree=20", "float32"),
]


def encoded(name):
    """Return the sequences of a set."""
    strings, alphabet = (random_strings(20_000, 141), "dna") if name == "random" else load(name)
    return SequenceSet.from_strings(strings, alphabet, unknown="mask_all")


def report(repeats):
    """Print a table of all jobs."""
    print("| data | kernel | matrix | CPU s | written |")
    print("|---|---|---|---|---|")
    for name, spec, dtype in JOBS:
        X, kernel = encoded(name), build_kernel(spec)
        taken = cpu_seconds(lambda X=X, kernel=kernel, dtype=dtype: kernel.kernel(X, dtype=dtype, n_threads=1), repeats)
        least = cpu_seconds(lambda X=X, dtype=dtype: np.full((len(X), len(X)), 0.5, dtype=dtype), repeats)
        print(f"| {name} | {spec} | {dtype} | {taken:.4f} | {least:.4f} |", flush=True)


if __name__ == "__main__":
    report(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
