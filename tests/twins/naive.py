"""Plain-Python twins of the kernels: slow, and hard to get wrong.

Sequences are strings; ``*`` is a masked letter.
"""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product
from operator import ne

import numpy as np

from seqkern.sequences.sequence_set import SequenceSet

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def encode(strings, alphabet="dna"):
    """Return strings as a SequenceSet, other letters masked."""
    return SequenceSet.from_strings(strings, alphabet, unknown="mask_all")


def random_strings(n, low, high, letters="ACGT", masked=0.03, seed=0):
    """Return n random strings of `low` to `high` letters, some of them masked."""
    rng = np.random.default_rng(seed)
    pool = np.array([*letters, "*"])
    share = [*([(1 - masked) / len(letters)] * len(letters)), masked]
    return ["".join(rng.choice(pool, size=rng.integers(low, high), p=share).tolist()) for _ in range(n)]


def reverse_complement(string):
    return string.translate(COMPLEMENT)[::-1]


def hamming(a, b):
    assert len(a) == len(b)
    return sum(map(ne, a, b))


def kmers(string, k):
    """Return every window of k letters without a masked one."""
    windows = (string[i : i + k] for i in range(len(string) - k + 1))
    return [window for window in windows if "*" not in window]


def spectrum_features(string, k, *, presence=False, rc=False):
    found = kmers(string, k)
    counts = Counter(min(kmer, reverse_complement(kmer)) for kmer in found) if rc else Counter(found)
    return dict.fromkeys(counts, 1) if presence else counts


@cache
def neighbours(kmer, m, letters):
    """Return every k-mer within m mismatches of a k-mer."""
    return [u for u in map("".join, product(letters, repeat=len(kmer))) if hamming(kmer, u) <= m]


def mismatch_features(string, k, m, letters, *, presence=False, rc=False):
    found = kmers(string, k)
    if rc:
        found += [reverse_complement(kmer) for kmer in found]
    counts = Counter(u for kmer in found for u in neighbours(kmer, m, letters))
    return dict.fromkeys(counts, 1) if presence else counts


def dot(f, g):
    return sum(value * g[key] for key, value in f.items() if key in g)


def gram(rows, cols=None):
    """Return the matrix of dot products of features, exact, as a list of lists."""
    return [[dot(f, g) for g in (rows if cols is None else cols)] for f in rows]


def spectrum(strings, k, **options):
    return np.array(gram([spectrum_features(string, k, **options) for string in strings]), dtype=float)


def mismatch(strings, k, m, letters, *, rc=False, presence=False):
    """With `rc`, half the product of features of both strands."""
    features = [mismatch_features(string, k, m, letters, presence=presence, rc=rc) for string in strings]
    return np.array(gram(features), dtype=float) / (2 if rc else 1)


def shared_neighbours(letters, k, m, h):
    """Return how many k-mers are within m mismatches of both of two k-mers at distance h."""
    a, b = letters[0] * k, letters[1] * h + letters[0] * (k - h)
    neighbours = map("".join, product(letters, repeat=k))
    return sum(hamming(a, u) <= m and hamming(b, u) <= m for u in neighbours)


def mismatch_by_pairs(x, y, k, m, letters, *, rc=False):
    """Return the mismatch kernel of two strings from the Hamming distances of all pairs of k-mers."""
    shared = [shared_neighbours(letters, k, m, h) for h in range(k + 1)]
    others = kmers(y, k) + ([reverse_complement(kmer) for kmer in kmers(y, k)] if rc else [])
    return sum(shared[hamming(a, b)] for a in kmers(x, k) for b in others)


def weighted(matrices, weights):
    """Return the weighted sum, in the order given."""
    total = 0.0
    for matrix, weight in zip(matrices, weights, strict=True):
        total = total + float(weight) * matrix
    return total


def normalised(K):
    """Return K_ij / sqrt(K_ii·K_jj); zero where a diagonal is."""
    d = np.diagonal(K)
    product_of_diagonals = np.outer(d, d)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(product_of_diagonals > 0, K / np.sqrt(product_of_diagonals), 0.0)


def exact_dot(f, g):
    """Return the dot product of two float vectors, correctly rounded."""
    return float(sum((Fraction(x) * Fraction(y) for x, y in zip(f, g, strict=True)), Fraction(0)))
