"""Plain-Python twins of the kernels on pairs of k-mers, and of kernels on features at positions."""

import math
from collections import Counter

import numpy as np
from naive import dot, reverse_complement

WEIGHTS = {
    "specific": lambda d, sigma: float(d == 0),
    "linear": lambda d, sigma: max(0.0, 1 - d / sigma),
    "exponential": lambda d, sigma: math.exp(-d / sigma),
    "gaussian": lambda d, sigma: math.exp(-(d**2) / sigma**2),
}


def pairs_at(string, k, distances, notes=None, *, rc=False):
    """Return (pair, position) of every pair of k-mers without a masked letter, those distances apart."""
    notes = "-" * len(string) if notes is None else notes
    found = []
    for d in distances:
        for p in range(len(string) - d - k + 1):
            u, v = string[p : p + k], string[p + d : p + d + k]
            a, b = notes[p : p + k], notes[p + d : p + d + k]
            if "*" in u + v:
                continue
            pair = (d, u, v, a, b)
            if rc:
                pair = min(pair, (d, reverse_complement(v), reverse_complement(u), b[::-1], a[::-1]))
            found.append((pair, p))
    return found


def kernel_of_counts(x, y, presence=False):
    """Return Σ_f Φ_f(x)·Φ_f(y) of two lists of (feature, position)."""
    counts = [Counter(f for f, _ in found) for found in (x, y)]
    return dot(*(dict.fromkeys(count, 1) for count in counts)) if presence else dot(*counts)


def kernel_at_positions(x, y, weight):
    """Return Σ weight(|p − q|) over all pairs of occurrences of one feature."""
    return math.fsum(weight(abs(p - q)) for f, p in x for g, q in y if f == g)


def pair_gram(strings, k, distances, *, notes=None, rc=False, presence=False, form=None, sigma=1.0):
    """Return the matrix, not normalised."""
    notes = [None] * len(strings) if notes is None else notes
    found = [pairs_at(s, k, distances, note, rc=rc) for s, note in zip(strings, notes, strict=True)]
    if form is None:
        values = [[kernel_of_counts(x, y, presence) for y in found] for x in found]
    else:
        values = [[kernel_at_positions(x, y, lambda d: WEIGHTS[form](d, sigma)) for y in found] for x in found]
    return np.array(values, dtype=float)


def gappy(strings, k, m, **options):
    return pair_gram(strings, k, range(k, k + m + 1), **options)


def oligo_distance(strings, k, largest, **options):
    return pair_gram(strings, k, range(largest + 1), **options)
