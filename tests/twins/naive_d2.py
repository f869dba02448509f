"""D2, D2S and D2* in plain Python, from their formulas."""

import math
from itertools import product

PAIRS = {"A": "T", "C": "G", "G": "C", "T": "A"}


def occurrences(x, w):
    """Return how often w occurs in x."""
    return sum(x[i : i + len(w)] == w for i in range(len(x) - len(w) + 1))


def chance(x, w, order):
    """Return the probability of w under the Markov chain of x."""

    def windows(k):
        return [x[i : i + k] for i in range(len(x) - k + 1) if "*" not in x[i : i + k]]

    first = windows(order)
    p = 1.0 if order == 0 else (first.count(w[:order]) / len(first) if first else 0.0)
    for i in range(order, len(w)):
        after = [u for u in windows(order + 1) if u[:order] == w[i - order : i]]
        p *= sum(u[order] == w[i] for u in after) / len(after) if after else 0.0
    return p


def centred(x, letters, k, order, both=False):
    """Return {w: (X_w, X̃_w, n·p_w)}."""
    n = sum("*" not in x[i : i + k] for i in range(len(x) - k + 1))
    found = {}
    for w in map("".join, product(letters, repeat=k)):
        strands = [w, "".join(PAIRS[a] for a in reversed(w))] if both else [w]
        count = sum(occurrences(x, u) for u in strands)
        expected = sum(n * chance(x, u, order) for u in strands)
        found[w] = count, count - expected, expected
    return found


def d2(x, y, statistic, letters, k, order, both=False):
    """Return the statistic of two strings."""
    X, Y = (centred(z, letters, k, order, both) for z in (x, y))
    total = 0.0
    for w, (count, a, expected) in X.items():
        other, b, theirs = Y[w]
        if statistic == "d2":
            total += count * other
        elif statistic == "d2s":
            total += a * b / math.hypot(a, b) if a or b else 0.0
        elif expected > 0 and theirs > 0:
            total += a * b / math.sqrt(expected * theirs)
    return total
