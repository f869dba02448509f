"""Kernels that compare sequences position by position, on every level of vector instructions.

The ``CTCF.train`` set (2,000 windows of 100 nt), all pairs, on one thread: everything from encoded sequences to the
full, normalised float64 matrix. CPU seconds of the process, medians after a warm-up, all in one run.

Run it by pytest, or: ``python benchmarks/bench_positions.py [repeats]``, which prints a table.
"""

import sys

import numpy as np
import pytest
from common import cpu_seconds, load

from seqkern.kernels import _product, build_kernel
from seqkern.sequences import SequenceSet

LEVELS = ("plain", "AVX2", "AVX-512")
TARGETS = {  # CPU seconds with AVX-512, where there are any
    "weighted_degree:degree=6": 0.02,
    "shifted_weighted_degree:degree=6,shift=10": 0.08,
    "oligo:k=3,sigma=5": None,
    "oligo:k=6,sigma=1.5": None,
    "locality_improved:l=3,d1=3,d2=1": None,
    "locality_improved:l=4,d1=4,d2=1": None,
    "locality_improved:l=1,d1=2,d2=1,weights=[0.3,1,0.3]": None,
    "codon_improved:l=3,d1=3,d2=1": None,
    "salzberg": None,
}


def sequences():
    """Return the windows."""
    strings, alphabet = load("ctcf")
    return SequenceSet.from_strings(strings, alphabet, unknown="mask")


def fitted(spec, X):
    """Return the kernel; one that learns, from labels at random."""
    return build_kernel(spec).set_params(n_threads=1).fit(X, np.where(np.arange(len(X)) % 2, 1, -1))


def report(repeats):
    """Print a table of all kernels and levels."""
    X, highest = sequences(), _product.level()
    print(f"{len(X)} sequences of {X.lengths[0]} letters\n")
    print("| kernel | instructions | predicted s | CPU s | to reach |")
    print("|---|---|---|---|---|")
    for spec, target in TARGETS.items():
        for level in range(highest, -1, -1):
            _product.set_level(level)
            kernel = fitted(spec, X)
            numbers = f"{kernel.plan(X).seconds:.3f} | {cpu_seconds(lambda kernel=kernel: kernel(X), repeats):.3f}"
            print(f"| {spec} | {LEVELS[level]} | {numbers} | {target if target and level == 2 else ''} |", flush=True)
    _product.set_level(highest)


@pytest.mark.parametrize("spec", TARGETS)
def test_gram(benchmark, spec):
    X = sequences()
    benchmark.pedantic(fitted(spec, X), (X,), rounds=5, warmup_rounds=1)


if __name__ == "__main__":
    report(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
