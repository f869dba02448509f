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


def lock(xs, ys, B, weights, pairs=(), **values):
    """Return the matrix for two lists of strings, as nested lists; `pairs` are positions in contact, from 0."""
    return [[_pair(x, y, B, weights, pairs, **values) for y in ys] for x in xs]


def _pair(x, y, B, weights, pairs, g=1.0, h=1.0, h_additive=1.0, h_contact=1.0, s=1.0, s_additive=1.0, s_contact=1.0):
    values = [B[a, b] for a, b in zip(x, y, strict=True)]
    near = math.exp(g * sum(e * value for e, value in zip(weights, values, strict=True)))
    local = sum(math.exp(h * value) for value in values)
    both = [math.exp(h_contact * (values[i] + values[j])) for i, j in pairs]
    mean = sum(both) / len(both) if both else 0.0
    additive = sum(math.exp(h_additive * value) for value in values)
    return s * near * local + s_additive * additive + s_contact * len(values) * mean


def contacts(atoms, distance):
    """Return the pairs of rows of atoms, each with x, y and z, within a distance."""
    return [(i, j) for j in range(len(atoms)) for i in range(j) if math.dist(atoms[i], atoms[j]) <= distance]
