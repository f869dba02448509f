"""Plain-Python twin of the locality- and codon-improved kernels, in exact fractions."""

from fractions import Fraction

import numpy as np


def same(a, i, b, j):
    """Return whether two letters inside their strings are the same and not masked."""
    return 0 <= i < len(a) and 0 <= j < len(b) and a[i] == b[j] != "*"


def locality_pair(x, y, l, d1, d2, weights=None, delta=0):  # noqa: E741
    """Return the kernel of two strings of one length, a Fraction."""
    if weights is None:
        weights = [1 - Fraction(abs(j), l + 1) for j in range(-l, l + 1)]
    matches = [
        same(x, p, y, p) + Fraction(delta) * (same(x, p, y, p + 3) + same(x, p + 3, y, p)) for p in range(len(x))
    ]
    total = Fraction(0)
    for p in range(l, len(x) - l):
        window = sum(Fraction(weights[l + j]) * matches[p + j] for j in range(-l, l + 1) if matches[p + j])
        total += window**d1
    return total**d2


def locality(strings, *rule, **options):
    """Return the matrix, not normalised, each entry correctly rounded."""
    K = np.empty((len(strings), len(strings)))
    for i, x in enumerate(strings):
        for j, y in enumerate(strings[: i + 1]):
            K[i, j] = K[j, i] = float(locality_pair(x, y, *rule, **options))
    return K
