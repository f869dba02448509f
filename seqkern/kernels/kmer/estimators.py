"""What a pair of words of l letters at Hamming distance h adds to a gapped k-mer kernel: the weights c_h.

All of them are rational; they are computed exactly and rounded once.
"""

from fractions import Fraction
from functools import lru_cache
from math import comb


@lru_cache(maxsize=256)
def gapped_weights(size, l, k, d=None, estimator="count"):  # noqa: E741
    """Return c_h for h = 0, …, l.

    Parameters
    ----------
    size : int
        Letters of the alphabet.
    l, k : int
        Letters of a word, and of a gapped k-mer in it.
    d : int, optional
        The largest distance that counts.
    estimator : {"count", "full", "truncated"}
        ``count``: the gapped k-mers that the two words share, C(l − h, k). ``full``: `estimate`. ``truncated``:
        `truncated_estimate`.

    Returns
    -------
    tuple of int or tuple of float
        Integers if all of them are.

    References
    ----------
    Ghandi, Lee, Mohammad-Noori, Beer: Enhanced regulatory sequence prediction using gapped k-mer features. PLoS
    Computational Biology 10, 2014.
    """
    if estimator == "count":
        weights = [comb(l - h, k) for h in range(l + 1)]
    elif estimator == "full":
        weights = estimate(size, l, k)
    else:
        weights = truncated_estimate(size, l, k)
    return tuple(as_numbers(weight if d is None or h <= d else 0 for h, weight in enumerate(weights)))


def as_numbers(fractions):
    """Return rational numbers as a list of int, if all of them are integers, else of float."""
    fractions = [Fraction(value) for value in fractions]
    whole = all(value.denominator == 1 for value in fractions)
    return [int(value) if whole else float(value) for value in fractions]


def estimate(size, l, k):  # noqa: E741
    """Return w_h = b^−l Σ_{j ≤ k} Kr_j(h), h = 0, …, l, exact.

    A word's count, estimated from the counts of the gapped k-mers, is the sum over the words at hand of w at their
    distance from it. Kr_j is the Krawtchouk polynomial of degree j, b the size of the alphabet.
    """
    return [Fraction(sum(krawtchouk(j, h, l, size - 1) for j in range(k + 1)), size**l) for h in range(l + 1)]


def krawtchouk(j, h, l, q):  # noqa: E741
    """Return Kr_j(h; l, q) = Σ_s (−1)^s q^(j − s) C(h, s) C(l − h, j − s)."""
    return sum((-1) ** s * q ** (j - s) * comb(h, s) * comb(l - h, j - s) for s in range(j + 1))


def truncated_estimate(size, l, k):  # noqa: E741
    """Return c_h = Σ_u w(|a − u|)·w(|u − b|) for words a, b at distance h; the sum is over all words u, exact.

    w is `estimate`, 0 from its first value on that is not positive.
    """
    kept = estimate(size, l, k)
    end = next((h for h, weight in enumerate(kept) if weight <= 0), l + 1)
    return [
        sum(words_between(size, l, h, i, j) * kept[i] * kept[j] for i in range(end) for j in range(end))
        for h in range(l + 1)
    ]


def words_between(size, l, h, i, j):  # noqa: E741
    """Return how many words of l letters have distance i from one and j from the other of two at distance h.

    Where the two agree, t letters differ from both; where they differ, h + t − i letters are the first one's,
    h + t − j the second one's and the others neither's.
    """
    total = 0
    for t in range(l - h + 1):
        first, second = h + t - i, h + t - j
        if min(first, second) < 0 or first + second > h:
            continue
        ways = comb(h, first) * comb(h - first, second) * (size - 2) ** (h - first - second)
        total += comb(l - h, t) * (size - 1) ** t * ways
    return total
