"""Plain-Python twin of the LOCK kernel."""

import math
from statistics import median

from Bio.Align import substitution_matrices


def distances(letters, matrix):
    """Return B as a dict of pairs of letters, ``*`` for a masked one; without a matrix, letters are equal or not."""
    table = substitution_matrices.load(matrix) if matrix else None

    def score(a, b):
        return float(table[a, b]) if matrix else float(a == b)

    found = {(a, b): score(a, b) - (score(a, a) + score(b, b)) / 2 for a in letters for b in letters}
    middle = median(found.values()) or min(found.values())
    found = {pair: -0.25 * value / middle for pair, value in found.items()}
    lowest = min(found.values())
    return found | {pair: lowest for a in letters for pair in ((a, "*"), ("*", a))} | {("*", "*"): 0.0}


def lock(xs, ys, B, weights, g=1.0, h=1.0, h_additive=1.0, s=1.0, s_additive=1.0):
    """Return the matrix for two lists of strings, as nested lists."""
    return [[_pair(x, y, B, weights, g, h, h_additive, s, s_additive) for y in ys] for x in xs]


def _pair(x, y, B, weights, g, h, h_additive, s, s_additive):
    values = [B[a, b] for a, b in zip(x, y, strict=True)]
    near = math.exp(g * sum(e * value for e, value in zip(weights, values, strict=True)))
    local = sum(math.exp(h * value) for value in values)
    return s * near * local + s_additive * sum(math.exp(h_additive * value) for value in values)
