"""Alignment kernels on every level of vector instructions and with two threads, beside parasail.

The 3,397 proteins of the ``edd_homology`` set, all pairs: everything from encoded sequences to the full float64 matrix.
A cell is a pair of letters, |x|·|y| summed over the pairs of the upper triangle. CPU seconds of the process on one
thread, medians after a warm-up, all in one run; the plain level, slow, on fewer proteins.

parasail (striped, 8 bits and 16 where these overflow, a profile for each row) is called from a Python loop over the
pairs of a sample; its results are compared with ours. Bounds on scores are asked what they would save a search for the
best hits. The local alignment kernel has no rival that runs: beside it is what it does for extreme parameters, one pair
at a time and in logarithms, in C; and how far ln K in single precision is from that in double precision. The profile
alignment kernel is measured on random profiles of the proteins' lengths.

Run it by pytest, or: ``python benchmarks/bench_alignment.py [repeats]``, which prints tables.
"""

import sys
import time
from functools import cache

import numpy as np
import pytest
from common import DATA, PROTEIN, cells, cpu_seconds, random_strings

from seqkern import read_fasta
from seqkern.kernels import LocalAlignmentKernel, ProfileAlignmentKernel, SmithWatermanKernel
from seqkern.kernels.alignment.local_alignment import Factors, product
from seqkern.kernels.products import _product
from seqkern.kernels.substitution_scores import score_table
from seqkern.sequences.sequence_set import SequenceSet

SAMPLE, FEW, VERY_FEW = 300, 600, 60
LEVELS = ("plain", "AVX2", "AVX-512")
TARGETS = {"smith_waterman": 27.0, "local_alignment": 11.0}  # Gcells/s with AVX-512


@cache
def load():
    """Return the proteins, in an order without meaning."""
    file = DATA / "edd_homology" / "EDD.fasta"
    if not file.is_file():
        return SequenceSet.from_strings(random_strings(3397, 160, PROTEIN), "protein")
    X = read_fasta(file, alphabet="protein", unknown="mask", ids="number")
    return X.take(np.random.default_rng(1).permutation(len(X)))


def report_levels(kernel, repeats):
    """Print what a kernel takes on each level of instructions."""
    print(f"\n| {kernel.name} | proteins | predicted s | CPU s | Gcells/s | to reach |")
    print("|---|---|---|---|---|---|")
    highest = _product.level()
    for level in range(highest, -1, -1):
        _product.set_level(level)
        X = load() if level else load().take(slice(0, FEW))
        seconds = cpu_seconds(lambda X=X: kernel(X), repeats)
        goal = TARGETS[kernel.name] if level == 2 else ""
        numbers = [f"{kernel.plan(X).seconds:.2f}", f"{seconds:.2f}", f"{cells(X.lengths) / seconds / 1e9:.1f}", goal]
        print("|", " | ".join(map(str, [LEVELS[level], len(X), *numbers])), "|", flush=True)
    _product.set_level(highest)


def report_threads(kernel, repeats):
    """Print the seconds by the clock, of a machine without other work, with one thread and with two: the best."""
    X, best = load(), {}
    for n_threads in (1, 2):
        kernel.set_params(n_threads=n_threads)
        for _ in range(repeats):
            start = time.perf_counter()
            kernel(X)
            best[n_threads] = min(best.get(n_threads, np.inf), time.perf_counter() - start)
    ratio = best[1] / best[2]
    print(f"\n{kernel.name} by the clock: {best[1]:.2f} s, with two threads {best[2]:.2f} s, {ratio:.2f} times as fast")


def report_parasail(repeats):
    """Print what parasail takes on a sample, and ours."""
    try:
        import parasail
    except ImportError:
        print("parasail is not installed", file=sys.stderr)
        return
    X, kernel = load().take(slice(0, SAMPLE)), SmithWatermanKernel(n_threads=1)
    strings = [string.replace("*", "X") for string in X.strings()]
    values = np.zeros((len(X), len(X)))

    def rival():
        for i, string in enumerate(strings):
            profile = parasail.profile_create_sat(string, parasail.blosum62)
            for j in range(i + 1):
                values[i, j] = values[j, i] = parasail.sw_striped_profile_sat(profile, strings[j], 11, 1).score

    theirs, ours = cpu_seconds(rival, 1), cpu_seconds(lambda: kernel(X), repeats)
    np.testing.assert_array_equal(values, kernel(X))
    print(f"\n| {len(X)} proteins | CPU s | Gcells/s | ratio |\n|---|---|---|---|")
    for name, seconds in {"smith_waterman": ours, "parasail": theirs}.items():
        print(f"| {name} | {seconds:.4f} | {cells(X.lengths) / seconds / 1e9:.2f} | {theirs / seconds:.1f} |")


def report_precisions(repeats):
    """Print what the local alignment kernel takes in each way to compute, and how far ln K is from double precision."""
    print("\n| local_alignment | proteins | CPU s | Gcells/s | largest error of ln K |\n|---|---|---|---|---|")
    for n, name in ((FEW, "single"), (FEW, "double"), (VERY_FEW, "logarithms")):
        X = load().take(slice(0, n))
        exact = LocalAlignmentKernel(precision="double", n_threads=1)
        kernel = LocalAlignmentKernel(precision="single" if name == "single" else "double", n_threads=1)
        payload = kernel._prepare(X, None)
        if name == "logarithms":
            logarithms = payload.factors.logarithms
            payload.factors = Factors(logarithms, logarithms, name)
        out = np.empty((n, n))
        seconds = cpu_seconds(lambda payload=payload, out=out: product(payload, payload, out), repeats)
        error = np.abs(out - exact.beta * exact(X)).max()
        print(f"| {name} | {n} | {seconds:.2f} | {cells(X.lengths) / seconds / 1e9:.3g} | {error:.1e} |", flush=True)


def report_profiles(repeats):
    """Print what the profile alignment kernel takes by each method on each level of instructions."""
    X, highest = load().take(slice(0, FEW)).compact(), _product.level()
    profile = np.float32(np.random.default_rng(2).dirichlet(np.full(20, 0.5), len(X.codes)) + 1e-4) / np.float32(1.002)
    X = X.replace(tracks={"profile": profile, "pssm": 2 * np.log2(20 * profile)})
    print("\n| profile_alignment | level | predicted s | CPU s | Gcells/s |\n|---|---|---|---|---|")
    for method in ("smith_waterman", "local_alignment"):
        kernel = ProfileAlignmentKernel(method=method, n_threads=1)
        for level in range(highest, -1, -1):
            _product.set_level(level)
            seconds = cpu_seconds(lambda kernel=kernel: kernel(X), repeats if level else 1)
            speed = cells(X.lengths) / seconds / 1e9
            print(
                f"| {method} | {LEVELS[level]} | {kernel.plan(X).seconds:.2f} | {seconds:.2f} | {speed:.2f} |",
                flush=True,
            )
    _product.set_level(highest)


def report_bounds():
    """Print what bounds on scores would save a search for the best hit of each protein, if it were known at once.

    A pair needs no alignment if all letters of the shorter protein with their best partners score no more; and its
    alignment may stop where the columns that remain add too little to its own score.
    """
    X = load().take(slice(0, FEW))
    K = SmithWatermanKernel(n_threads=1)(X)
    np.fill_diagonal(K, -1)
    best = score_table("BLOSUM62", X.alphabet).max(axis=1)[np.minimum(X.codes, X.alphabet.size)]
    remaining = [np.cumsum(best[a:b][::-1]) for a, b in zip(X.starts, X.stops, strict=True)]
    most, hits = np.array([sums[-1] for sums in remaining]), K.max(axis=1)
    pairs = np.mean(np.minimum.outer(most, most) <= hits[:, None])
    left_out = [X.lengths @ np.searchsorted(sums, hits - K[:, j], side="right") for j, sums in enumerate(remaining)]
    share = sum(left_out) / X.lengths.sum() ** 2
    print(f"\nbest hits of {FEW}: bounds exclude {pairs:.2%} of the pairs, and would stop {share:.1%} of the cells")


@pytest.mark.parametrize("kernel", [SmithWatermanKernel, LocalAlignmentKernel])
def test_gram(benchmark, kernel):
    X = load()
    benchmark.extra_info["gigacells"] = cells(X.lengths) / 1e9
    benchmark.pedantic(kernel(n_threads=1), (X,), rounds=3, warmup_rounds=1)


if __name__ == "__main__":
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    for kernel in (SmithWatermanKernel(n_threads=1), LocalAlignmentKernel(n_threads=1)):
        report_levels(kernel, repeats)
        report_threads(kernel, repeats)
    report_parasail(repeats)
    report_bounds()
    report_precisions(repeats)
    report_profiles(repeats)
