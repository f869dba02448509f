"""Plain-Python twin of the Salzberg kernel."""

import math

import numpy as np


def log_ratios(x, first, second, letters, pseudocount):
    """Return s_p(x), a list, from the strings of the two classes."""
    return [_log(x, p, second, letters, pseudocount) - _log(x, p, first, letters, pseudocount) for p in range(len(x))]


def _log(x, p, strings, letters, pseudocount):
    """Return ln P(x_p | x_{p−1}) in one class; 0 where a letter is masked."""
    if "*" in x[max(0, p - 1) : p + 1]:
        return 0.0
    alike = [s for s in strings if s[max(0, p - 1) : p] == x[max(0, p - 1) : p] and s[p] != "*"]
    same = sum(s[p] == x[p] for s in alike)
    return math.log((same + pseudocount) / (len(alike) + pseudocount * len(letters)))


def salzberg(strings, train, y, letters, pseudocount=1.0):
    """Return the matrix, not normalised, of `strings`; `train` has the labels y."""
    low, high = sorted(set(y))
    classes = [[s for s, label in zip(train, y, strict=True) if label == one] for one in (low, high)]
    values = [log_ratios(x, *classes, letters, pseudocount) for x in strings]
    return np.array([[math.fsum(a * b for a, b in zip(f, g, strict=True)) for g in values] for f in values])
