"""Plain-Python twin of the oligo kernel."""

import math

import numpy as np


def occurrences(string, k):
    """Return (k-mer, position) of every window of k letters without a masked one."""
    windows = ((string[p : p + k], p) for p in range(len(string) - k + 1))
    return [(u, p) for u, p in windows if "*" not in u]


def oligo_pair(x, y, k, sigma):
    """Return the kernel of two strings, correctly rounded sums of weights."""
    return math.fsum(
        math.exp(-((p - q) ** 2) / (4 * sigma**2)) for u, p in occurrences(x, k) for v, q in occurrences(y, k) if u == v
    )


def oligo(strings, k, sigma, others=None):
    """Return the matrix, not normalised."""
    others = strings if others is None else others
    return np.array([[oligo_pair(x, y, k, sigma) for y in others] for x in strings], dtype=float)
