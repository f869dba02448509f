"""The generic string kernel on every level of vector instructions, beside numpy.

Three sets, all pairs, on one thread, everything from encoded sequences to the full, normalised float64 matrix: 3,000
peptides of 9 to 15 letters, as bind to MHC molecules (the kernel's own field), 3,000 windows of 15, and 500 proteins of
the ``edd_homology`` set (median length 131). A cell is a pair of letters, |x|·|y| summed over the pairs of the upper
triangle, whatever the longest word. CPU seconds of the process, medians after a warm-up.

The numpy way multiplies, pair by pair, whole tables of |x|·|y| numbers, one for each length of the words. It runs on
the first of a set, and its numbers are compared with ours. The authors' program, in Cython, is not on PyPI.

Run it by pytest, or: ``python benchmarks/bench_generic_string.py [repeats]``, which prints tables.
"""

import sys
from functools import cache

import numpy as np
import pytest
from common import DATA, PROTEIN, cells, cpu_seconds, random_strings

from seqkern import read_fasta
from seqkern.kernels import GenericStringKernel
from seqkern.kernels.products import _product
from seqkern.sequences.sequence_set import SequenceSet

SIGMA_P, SIGMA_C = 5.0, 0.5
LEVELS = ("plain", "AVX2", "AVX-512")
LENGTHS = (1, 3, 6, 10, 1000)
FEW = {"peptides": 300, "windows": 300, "proteins": 40}


@cache
def load(name):
    """Return the sequences of a set."""
    rng = np.random.default_rng(1)
    if name == "peptides":
        strings = [text[: rng.integers(9, 16)] for text in random_strings(3000, 15, PROTEIN)]
        return SequenceSet.from_strings(strings, "protein")
    if name == "windows":
        return SequenceSet.from_strings(random_strings(3000, 15, PROTEIN), "protein")
    file = DATA / "edd_homology" / "EDD.fasta"
    if not file.is_file():
        return SequenceSet.from_strings(random_strings(500, 160, PROTEIN), "protein")
    X = read_fasta(file, alphabet="protein", unknown="mask", ids="number")
    return X.take(rng.permutation(len(X))[:500])


def kernel(length, sigma_p=SIGMA_P):
    """Return the kernel."""
    return GenericStringKernel(length, sigma_p, SIGMA_C, n_threads=1)


def by_numpy(X, length):
    """Return the matrix of sequences, not normalised, as numpy computes it pair by pair."""
    made = kernel(length)
    weights = made.letter_weights(X.alphabet)
    codes = [np.minimum(X.codes[a:b], X.alphabet.size) for a, b in zip(X.starts, X.stops, strict=True)]
    places = np.arange(int(X.lengths.max()))
    tolerance = np.exp(-((places[:, None] - places) ** 2) / (2 * SIGMA_P**2))
    K = np.empty((len(X), len(X)))
    for i, x in enumerate(codes):
        for j, y in enumerate(codes[: i + 1]):
            letters = weights[x[:, None], y]
            words, total = letters, 0.0
            for l in range(1, min(length, len(x), len(y)) + 1):  # noqa: E741
                if l > 1:
                    words = words[:-1, :-1] * letters[l - 1 :, l - 1 :]
                total += (words * tolerance[: words.shape[0], : words.shape[1]]).sum()
            K[i, j] = K[j, i] = total
    return K


def report_levels(repeats):
    """Print a table of all levels and some lengths of words."""
    print("| set | words | instructions | predicted s | CPU s | Gcells/s |")
    print("|---|---|---|---|---|---|")
    highest = _product.level()
    for name in FEW:
        X = load(name)
        for length in LENGTHS:
            for level in range(highest, -1, -1):
                _product.set_level(level)
                made = kernel(length, None)
                seconds = cpu_seconds(lambda made=made, X=X: made(X), repeats)
                numbers = [f"{made.plan(X).seconds:.2f}", f"{seconds:.2f}", f"{cells(X.lengths) / seconds / 1e9:.2f}"]
                print("|", " | ".join(map(str, [name, length, LEVELS[level], *numbers])), "|", flush=True)
            _product.set_level(highest)


def report_numpy(repeats):
    """Print how many times longer numpy takes."""
    print("\n| set | words | ours, s | numpy, s | ratio |")
    print("|---|---|---|---|---|")
    for name, few in FEW.items():
        for length in (3, 10):
            X, made = load(name).take(slice(0, few)), kernel(length).set_params(normalize=False)
            ours = cpu_seconds(lambda made=made, X=X: made(X), repeats)
            theirs = cpu_seconds(lambda X=X, length=length: by_numpy(X, length), 1)
            np.testing.assert_allclose(made(X), by_numpy(X, length), rtol=1e-12)
            row = [name, length, f"{ours:.4f}", f"{theirs:.3f}", f"{theirs / ours:.0f}"]
            print("|", " | ".join(map(str, row)), "|", flush=True)


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("length", [3, 10])
def test_generic_string(benchmark, name, length):
    """Time the kernel of one set."""
    X = load(name)
    made = kernel(length)
    benchmark.pedantic(lambda: made(X), rounds=3, warmup_rounds=1)


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    report_levels(count)
    report_numpy(count)
