"""Plain-Python twins of the kernels on gapped words. Sequences are strings; ``*`` is a masked letter."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from naive import dot, hamming, kmers, reverse_complement


def both_strands(words):
    return words + [reverse_complement(word) for word in words]


def gapped(strings, l, k, *, rc=False):  # noqa: E741
    """Return the product of the counts of gapped k-mers, an exact integer matrix; with `rc` half of both strands'."""
    features = []
    for string in strings:
        words = both_strands(kmers(string, l)) if rc else kmers(string, l)
        features.append(
            Counter((chosen, *(word[i] for i in chosen)) for word in words for chosen in combinations(range(l), k))
        )
    return np.array([[Fraction(dot(f, g), 2 if rc else 1) for g in features] for f in features], dtype=float)


def wildcard(strings, k, m, decay, *, rc=False):
    """Return the product of the exact features of k-mers with up to m wildcards, rounded once."""
    features = []
    for string in strings:
        counts = Counter()
        for word in both_strands(kmers(string, k)) if rc else kmers(string, k):
            for j in range(m + 1):
                for wild in combinations(range(k), j):
                    counts["".join("*" if i in wild else word[i] for i in range(k))] += Fraction(decay) ** j
        features.append(counts)
    return np.array([[float(dot(f, g) / (2 if rc else 1)) for g in features] for f in features])


def words(letters, l):  # noqa: E741
    return ["".join(word) for word in product(letters, repeat=l)]


def full_estimates(letters, l, k):  # noqa: E741
    """Return w by distance: entries of the projection on what the counts of gapped k-mers tell of those of words."""
    pool = words(letters, l)
    features = sorted({(chosen, *(word[i] for i in chosen)) for word in pool for chosen in combinations(range(l), k)})
    place = {feature: row for row, feature in enumerate(features)}
    A = np.zeros((len(features), len(pool)))
    for column, word in enumerate(pool):
        for chosen in combinations(range(l), k):
            A[place[chosen, *(word[i] for i in chosen)], column] = 1
    # singular values are 0 or at least of order 1; rounding of the former may pass the default cut
    projection = np.linalg.pinv(A, rcond=1e-10) @ A
    return [projection[0, pool.index(letters[1] * h + letters[0] * (l - h))] for h in range(l + 1)]


def truncated(letters, l, w):  # noqa: E741
    """Return c by distance: Σ_u w(|a − u|)·w(|u − b|), w cut from its first value on that is not positive."""
    kept = list(w)
    for h, value in enumerate(w):
        if value <= 0:
            kept[h:] = [0] * (len(w) - h)
            break
    a, pool = letters[0] * l, words(letters, l)
    ends = [letters[1] * h + letters[0] * (l - h) for h in range(l + 1)]
    return [sum(kept[hamming(a, u)] * kept[hamming(u, b)] for u in pool) for b in ends]


def placed_words(string, l, weighted):  # noqa: E741
    """Return (word, weight) of each word."""
    n = len(string) - l + 1
    weight = [min(50, int(50 * 2 ** (-abs(i - n // 2) / 50) + 1)) if weighted else 1 for i in range(n)]
    return [(string[i : i + l], weight[i]) for i in range(n) if "*" not in string[i : i + l]]


def by_pairs(strings, l, c, *, rc=False, weighted=False):  # noqa: E741
    """Return Σ c[distance] over pairs of words, with `rc` also those with the second's reverse complement; exact."""
    c = [Fraction(value) for value in c]
    found = [placed_words(string, l, weighted) for string in strings]

    def value(x, y):
        counts = [0] * (l + 1)
        if rc:
            y = y + [(reverse_complement(b), v) for b, v in y]
        for a, u in x:
            for b, v in y:
                counts[hamming(a, b)] += u * v
        return float(sum(n * weight for n, weight in zip(counts, c, strict=True)))

    return np.array([[value(x, y) for y in found] for x in found])
