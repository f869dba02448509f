"""Plain-Python twins of the string kernel: by listing every subsequence, and by the plain recursion.

Sequences are strings; ``*`` is a masked letter. With a Fraction as decay all numbers are exact.
"""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np


def occurrences(string, n):
    """Yield the places of every subsequence of n unmasked letters."""
    for places in combinations(range(len(string)), n):
        if all(string[i] != "*" for i in places):
            yield places


def lengths(string, n, up_to):
    """Return the lengths that count."""
    return range(1, len(string) + 1) if n is None else range(1, n + 1) if up_to else [n]


def features(string, n, decay, *, up_to=False, empty=False):
    """Return φ_u of every u that occurs."""
    found = {"": 1} if empty else {}
    for length in lengths(string, n, up_to):
        for places in occurrences(string, length):
            u = "".join(string[i] for i in places)
            found[u] = found.get(u, 0) + decay ** (places[-1] - places[0] + 1)
    return found


def exact(a, b):
    """The weight of a match of two letters: the same one."""
    return 1 if a == b else 0


def by_listing(x, y, n, decay, *, up_to=False, empty=False, weight=exact):
    """Return K and, for each letter of x, its share in K, from every pair of subsequences."""
    total, shares = 0, [0 * decay] * len(x)
    for length in set(lengths(x, n, up_to)) & set(lengths(y, n, up_to)):
        for one, other in product(occurrences(x, length), occurrences(y, length)):
            value = decay ** (one[-1] - one[0] + 1) * decay ** (other[-1] - other[0] + 1)
            for i, j in zip(one, other, strict=True):
                value = value * weight(x[i], y[j])
            total = total + value
            for i in one:
                shares[i] = shares[i] + value / length
    return total + (1 if empty else 0), shares


def by_lengths(x, y, most, decay, weight=exact):
    """Return K for every single length from 1 to `most`, by the recursion of Lodhi et al.

    All is in integers: values at (i, j) are times down^(i + j), and weights of matches times their common denominator.
    """
    up, down = Fraction(decay).as_integer_ratio()
    square = up * up
    scales = [down**k for k in range(len(x) + len(y) + 1)]
    weights = {(a, b): 0 if "*" in (a, b) else Fraction(weight(a, b)) for a, b in product({*x}, {*y})}
    common = math.lcm(*(value.denominator for value in weights.values()))
    weights = {pair: int(value * common) for pair, value in weights.items()}
    before = [[scales[i + j] for j in range(len(y) + 1)] for i in range(len(x) + 1)]
    totals = []
    for n in range(1, most + 1):
        total, sums = 0, [[0] * (len(y) + 1) for _ in range(len(x) + 1)]
        for i, a in enumerate(x, 1):
            for j, b in enumerate(y, 1):
                ended = weights[a, b] * square * before[i - 1][j - 1]
                total += ended * scales[len(x) + len(y) - i - j]
                sums[i][j] = up * (sums[i - 1][j] + sums[i][j - 1]) - square * sums[i - 1][j - 1] + ended
        totals.append(Fraction(total, scales[-1] * common**n))
        before = sums
    return totals


def by_recursion(x, y, n, decay, *, up_to=False, empty=False, weight=exact):
    """Return K."""
    totals = by_lengths(x, y, min(len(x), len(y)) if n is None else n, decay, weight)
    return sum(totals if n is None or up_to else totals[-1:]) + (1 if empty else 0)


def matrix(rows, cols, n, decay, how=by_recursion, **options):
    """Return K of two lists of strings as float64."""
    return np.array([[float(how(x, y, n, decay, **options)) for y in cols] for x in rows])
