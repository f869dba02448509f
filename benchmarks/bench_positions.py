"""Kernels that compare sequences position by position, on every level of vector instructions.

The ``CTCF.train`` set (2,000 windows of 100 nt), all pairs, on one thread: everything from encoded sequences to the
full, normalised float64 matrix. CPU seconds of the process, medians after a warm-up, all in one run.

The weighted degree kernel is also compared with strkernels (from PyPI, in an environment of its own) and with NumPy, a
row of masks at a time; and written to disk for 20,000 random windows of 141 nt: seconds in the program and in the
operating system, which copies the matrix, and the most memory.

Run it by pytest, or: ``python benchmarks/bench_positions.py [repeats]``, which prints tables.
"""

import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from common import cpu_seconds, load, run_rival

from seqkern.gram import compute_gram
from seqkern.kernels import WeightedDegreeKernel, build_kernel
from seqkern.kernels.positional import _weighted_degree
from seqkern.kernels.products import _product
from seqkern.sequences.sequence_set import SequenceSet

LEVELS = ("plain", "AVX2", "AVX-512")
DEGREE, MANY, LENGTH = 6, 20_000, 141
TARGETS = {  # CPU seconds with AVX-512, where there are any
    "weighted_degree:degree=6": 0.02,
    "weighted_degree:degree=20": None,
    "weighted_degree:degree=6,weights=[6,5,4,3,2,1]": None,
    "shifted_weighted_degree:degree=6,shift=10": 0.08,
    "shifted_weighted_degree:degree=20,shift=10": None,
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
    return SequenceSet.from_strings(strings, alphabet, unknown="mask_all")


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


def report_counting(repeats):
    """Print what AVX-512 takes where no instruction counts bits."""
    if not _weighted_degree.counts_vector_bits():
        return
    print("\n| kernel | AVX-512 that counts bits | without |")
    print("|---|---|---|")
    for spec in [spec for spec in TARGETS if "weighted_degree" in spec]:
        X, kernel, taken = sequences(), build_kernel(spec).set_params(n_threads=1), []
        for use in (True, False):
            _weighted_degree.count_vector_bits(use)
            taken.append(f"{cpu_seconds(lambda X=X, kernel=kernel: kernel(X), repeats):.3f}")
        _weighted_degree.count_vector_bits(True)
        print("|", " | ".join([spec, *taken]), "|", flush=True)


def numpy_gram(X):
    """Return the normalised weighted degree kernel matrix by NumPy."""
    codes = X.codes[X.positions()].reshape(len(X), -1)
    K = np.zeros((len(X), len(X)))
    for i, row in enumerate(codes):
        same = (codes[i:] == row) & (row < X.alphabet.size)
        run = same
        for k in range(DEGREE):
            if k:
                run = run[:, :-1] & same[:, k:]
            K[i, i:] += (DEGREE - k) * run.sum(axis=1)
    K += np.triu(K, 1).T
    return K / np.sqrt(np.outer(np.diagonal(K), np.diagonal(K)))


def report_rivals(repeats):
    """Print the weighted degree kernel beside strkernels and NumPy, which run once."""
    X = sequences()
    kernel = WeightedDegreeKernel(DEGREE, n_threads=1)
    times = {"seqkern": cpu_seconds(lambda: kernel(X), repeats)}
    start = time.process_time()
    np.testing.assert_allclose(numpy_gram(X), kernel(X), rtol=1e-12)
    times["NumPy"] = time.process_time() - start
    rival = run_rival(
        ["strkernels"], "rival_strkernels.py", X.strings(), "WeightedDegreeStringKernel", {"degree": DEGREE}
    )
    if rival is not None:
        np.testing.assert_allclose(kernel(X)[0], rival["row"], rtol=1e-9)
        times["strkernels"] = rival["seconds"]
    print(f"\n| weighted degree d={DEGREE}, {len(X)} × {X.lengths[0]} | CPU s | ratio |")
    print("|---|---|---|")
    for name, seconds in times.items():
        print(f"| {name} | {seconds:.4f} | {seconds / times['seqkern']:.0f} |", flush=True)


def report_disk():
    """Print what a large matrix on disk takes."""
    codes = np.random.default_rng(1).integers(4, size=MANY * LENGTH, dtype=np.uint8)
    X = SequenceSet.from_offsets(codes, np.arange(MANY + 1) * LENGTH, [str(i) for i in range(MANY)], "dna")
    kernel = WeightedDegreeKernel(20, n_threads=1)
    print(f"\n| weighted degree d=20, {MANY} × {LENGTH}, to disk | program s | system s | peak MB |")
    print("|---|---|---|---|")
    for dtype in ("float32", "float64"):
        with tempfile.TemporaryDirectory() as folder:
            start = os.times()
            compute_gram(kernel, X, path=Path(folder) / "gram.npy", dtype=dtype, n_threads=1)
            end = os.times()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"| {dtype} | {end.user - start.user:.2f} | {end.system - start.system:.2f} | {peak:.0f} |", flush=True)


@pytest.mark.parametrize("spec", TARGETS)
def test_gram(benchmark, spec):
    X = sequences()
    benchmark.pedantic(fitted(spec, X), (X,), rounds=5, warmup_rounds=1)


if __name__ == "__main__":
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    report_disk()
    report_rivals(repeats)
    report_counting(repeats)
    report(repeats)
