"""Plain-Python twins of the kernels with inexact matching of Leslie and Kuang (2004)."""

from collections import Counter
from functools import cache
from itertools import combinations
from math import log

import numpy as np
from naive import gram, kmers, reverse_complement


def features(string, length, counts_for, *, presence=False, rc=False):
    """Return how many words of a string count for each feature; `counts_for` gives the set of a word's features."""
    words = kmers(string, length)
    if rc:
        words += [reverse_complement(word) for word in words]
    counts = Counter(feature for word in words for feature in counts_for(word))
    return dict.fromkeys(counts, 1) if presence else counts


def gappy_set(word, k):
    return {"".join(letters) for letters in combinations(word, k)}


@cache
def substitution_set(word, sigma, letters, probabilities):
    """`probabilities` has a row for each letter of the word, a column for each letter of the feature; a tuple."""
    place = {letter: i for i, letter in enumerate(letters)}
    costs = [dict(zip(letters, (-log(p) for p in probabilities[place[a]]), strict=True)) for a in word]
    sums = {"": 0.0}
    for cost in costs:  # costs are not negative: what has reached sigma stays above it
        sums = {u + b: total + cost[b] for u, total in sums.items() for b in letters if total + cost[b] < sigma}
    return set(sums)


def matrix(found, rc=False):
    return np.array(gram(found), dtype=float) / (2 if rc else 1)


def gappy(strings, g, k, **options):
    found = [features(string, g, lambda word: gappy_set(word, k), **options) for string in strings]
    return matrix(found, options.get("rc", False))


def substitution(strings, k, sigma, letters, probabilities, **options):
    table = tuple(map(tuple, probabilities.tolist()))
    found = [features(s, k, lambda word: substitution_set(word, sigma, letters, table), **options) for s in strings]
    return matrix(found, options.get("rc", False))


def gappy_shares(word, u):
    """Return each letter's share of the feature u in a word: all ways to spell it are equal, and their letters too."""
    ways = [places for places in combinations(range(len(word)), len(u)) if "".join(word[p] for p in places) == u]
    shares = np.zeros(len(word))
    for places in ways:
        for p in places:
            shares[p] += 1 / (len(ways) * len(u))
    return shares


def substitution_shares(word, u):
    same = np.array([a == b for a, b in zip(word, u, strict=True)], dtype=float)
    return same / same.sum() if same.any() else np.full(len(word), 1 / len(word))


def attributions(string, support, coefficients, length, counts_for, shares, *, presence=False, rc=False):
    """Return each letter's share in Σ_j c_j·K(x, z_j), by features one at a time."""
    options = {"presence": presence, "rc": rc}
    weights = Counter()
    for other, coefficient in zip(support, coefficients, strict=True):
        for u, count in features(other, length, counts_for, **options).items():
            weights[u] += coefficient * count * (0.5 if rc else 1)
    total = features(string, length, counts_for, rc=rc)
    out = np.zeros(len(string))
    for start in range(len(string) - length + 1):
        window = string[start : start + length]
        if "*" in window:
            continue
        for reverse in [False, True] if rc else [False]:
            word = reverse_complement(window) if reverse else window
            for u in counts_for(word):
                value = weights[u] / (total[u] if presence else 1) * shares(word, u)
                out[start : start + length] += value[::-1] if reverse else value
    return out
