"""The string kernel (gap-weighted subsequences) on every level of vector instructions, beside strkernels.

500 proteins of the ``edd_homology`` set (median length 131), all pairs, n = 4, on one thread: everything from encoded
sequences to the full, normalised float64 matrix. A cell is a pair of letters, |x|·|y| summed over the pairs of the
upper triangle, with all n levels inside. CPU seconds of the process, medians after a warm-up, all in one run. Decays
that are powers of two are faster than others: products with their powers are exact.

strkernels (from PyPI, in an environment of its own) counts the lengths 1 to n together, one pair at a time, in double
precision; it runs once, on the first 60 of the proteins, beside ours, and the first rows of both matrices are compared.

Run it by pytest, or: ``python benchmarks/bench_string.py [repeats]``, which prints tables.
"""

import sys
from functools import cache

import numpy as np
import pytest
from common import DATA, PROTEIN, cells, cpu_seconds, random_strings, run_rival

from seqkern import read_fasta
from seqkern.kernels import StringKernel
from seqkern.kernels.products import _product
from seqkern.sequences.sequence_set import SequenceSet

PROTEINS, FEW, N = 500, 60, 4
LEVELS = ("plain", "AVX2", "AVX-512")
TARGETS = {"single": 8.0, "double": 5.0}  # Gcells/s with AVX-512
JOBS = [(0.5, False), (0.7, False), (0.5, True), (0.7, True)]  # decay, all lengths up to N


@cache
def load():
    """Return the proteins."""
    file = DATA / "edd_homology" / "EDD.fasta"
    if not file.is_file():
        return SequenceSet.from_strings(random_strings(PROTEINS, 160, PROTEIN), "protein")
    X = read_fasta(file, alphabet="protein", unknown="mask", ids="number")
    return X.take(np.random.default_rng(1).permutation(len(X))[:PROTEINS])


def kernel(decay=0.5, precision="double", up_to=False):
    """Return the kernel."""
    return StringKernel(N, decay, precision=precision, up_to=up_to, n_threads=1)


def report_levels(repeats):
    """Print a table of all levels, precisions and some decays."""
    X = load()
    print("| instructions | precision | decay | lengths | predicted s | CPU s | Gcells/s | to reach |")
    print("|---|---|---|---|---|---|---|---|")
    highest = _product.level()
    for level in range(highest, -1, -1):
        _product.set_level(level)
        for precision, target in TARGETS.items():
            for decay, up_to in JOBS:
                made = kernel(decay, precision, up_to)
                seconds = cpu_seconds(lambda made=made: made(X), repeats)
                goal = target if level == 2 and not up_to else ""
                speed = cells(X.lengths) / seconds / 1e9
                numbers = [f"{made.plan(X).seconds:.2f}", f"{seconds:.2f}", f"{speed:.2f}", goal]
                row = [LEVELS[level], precision, decay, f"1–{N}" if up_to else N, *numbers]
                print("|", " | ".join(map(str, row)), "|", flush=True)
    _product.set_level(highest)


def report_rival(repeats):
    """Print what strkernels takes, and ours, on few proteins."""
    X = load().take(slice(0, FEW))
    parameters = {"maxlen": N, "ssk_lambda": 0.5}
    rival = run_rival(["strkernels"], "rival_strkernels.py", X.strings(), "SubsequenceStringKernel", parameters)
    if rival is None:
        return
    np.testing.assert_allclose(kernel(up_to=True)(X)[0], rival["row"], rtol=1e-9)
    times = {p: cpu_seconds(lambda p=p: kernel(precision=p, up_to=True)(X), repeats) for p in TARGETS}
    print(f"\n| lengths 1–{N}, {FEW} proteins | CPU s | Gcells/s | ratio |")
    print("|---|---|---|---|")
    for name, seconds in {**times, "strkernels": rival["seconds"]}.items():
        print(f"| {name} | {seconds:.4f} | {cells(X.lengths) / seconds / 1e9:.2f} | {rival['seconds'] / seconds:.1f} |")


@pytest.mark.parametrize("precision", TARGETS)
def test_gram(benchmark, precision):
    X = load()
    benchmark.extra_info["gigacells"] = cells(X.lengths) / 1e9
    benchmark.pedantic(kernel(precision=precision), (X,), rounds=5, warmup_rounds=1)


if __name__ == "__main__":
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    report_levels(repeats)
    report_rival(repeats)
