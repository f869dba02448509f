"""The weights c_h of pairs of l-mers at Hamming distance h in a gapped k-mer kernel.

They are rational, computed exactly and rounded once.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Literal


@lru_cache(maxsize=256)
def gapped_weights(
    size: int,
    l: int,  # noqa: E741
    k: int,
    d: int | None = None,
    estimator: Literal["count", "full", "truncated"] = "count",
    clip: bool = False,
) -> tuple[int, ...] | tuple[float, ...]:
    """Return c_h for h = 0, …, l.

    Parameters
    ----------
    size : int
        Letters of the alphabet.
    l, k : int
        Residues in an l-mer, and fixed positions of a gapped k-mer.
    d : int, optional
        The largest distance that counts; by default all.
    estimator : {"count", "full", "truncated"}
        ``count``: the gapped k-mers that two l-mers share, C(l − h, k). ``full``: `estimate`. ``truncated``:
        `truncated_estimate`.
    clip : bool
        Whether to apply `clipped`.

    Returns
    -------
    tuple of int or tuple of float
        Integers if all of them are.

    References
    ----------
    Ghandi, Lee, Mohammad-Noori, Beer: Enhanced regulatory sequence prediction using gapped k-mer features. PLoS
    Computational Biology 10, 2014.
    """
    weights: Sequence[int | Fraction]
    if estimator == "count":
        weights = [comb(l - h, k) for h in range(l + 1)]
    elif estimator == "full":
        weights = estimate(size, l, k)
    else:
        weights = truncated_estimate(size, l, k)
    kept = [Fraction(weight) if d is None or h <= d else Fraction(0) for h, weight in enumerate(weights)]
    return tuple(as_numbers(clipped(kept, size) if clip else kept))


def clipped(weights: Sequence[Fraction], size: int) -> list[Fraction]:
    """Return the c_h of the nearest positive semi-definite matrix over all l-mers, exact.

    The eigenvalues of the matrix c[h(a, b)] are λ_j = Σ_h c_h Kr_h(j), j = 0, …, l, and c_h = b^−l Σ_j λ_j Kr_j(h).
    Negative ones are set to zero.

    Parameters
    ----------
    weights : sequence of Fraction
        c_h for h = 0, …, l.
    size : int
        Letters of the alphabet, b.

    Returns
    -------
    list of Fraction
    """
    l = len(weights) - 1  # noqa: E741
    each, q = range(l + 1), size - 1
    known = [[krawtchouk(j, h, l, q) for h in each] for j in each]
    eigenvalues = [max(Fraction(0), sum((weights[h] * known[h][j] for h in each), Fraction(0))) for j in each]
    return [sum((eigenvalues[j] * known[j][h] for j in each), Fraction(0)) / size**l for h in each]


def as_numbers(fractions: Iterable[Fraction | int]) -> list[int] | list[float]:
    """Return rational numbers as integers, if all of them are, else rounded.

    Parameters
    ----------
    fractions : iterable of Fraction or int
        The numbers.

    Returns
    -------
    list of int or list of float
    """
    values = [Fraction(value) for value in fractions]
    if all(value.denominator == 1 for value in values):
        return [int(value) for value in values]
    return [float(value) for value in values]


def estimate(size: int, l: int, k: int) -> list[Fraction]:  # noqa: E741
    """Return w_h = b^−l Σ_{j ≤ k} Kr_j(h), h = 0, …, l, exact.

    The count of an l-mer estimated from gapped k-mer counts is the sum over the observed l-mers of w at their distance
    from it. Kr_j is the Krawtchouk polynomial of degree j, b the size of the alphabet.

    Parameters
    ----------
    size : int
        Letters of the alphabet, b.
    l, k : int
        Residues in an l-mer, and fixed positions of a gapped k-mer.

    Returns
    -------
    list of Fraction
        l + 1 weights.
    """
    return [Fraction(sum(krawtchouk(j, h, l, size - 1) for j in range(k + 1)), size**l) for h in range(l + 1)]


def krawtchouk(j: int, h: int, l: int, q: int) -> int:  # noqa: E741
    """Return the Krawtchouk polynomial Kr_j(h; l, q) = Σ_s (−1)^s q^(j − s) C(h, s) C(l − h, j − s).

    Parameters
    ----------
    j : int
        Its degree.
    h : int
        Argument, 0 to `l`.
    l, q : int
        Length of the l-mers, and alphabet size minus one.

    Returns
    -------
    int
    """
    return sum((-1) ** s * q ** (j - s) * comb(h, s) * comb(l - h, j - s) for s in range(j + 1))


def truncated_estimate(size: int, l: int, k: int) -> list[Fraction]:  # noqa: E741
    """Return c_h = Σ_u w(|a − u|)·w(|u − b|) for l-mers a, b at distance h; the sum is over all l-mers u, exact.

    w is `estimate`, set to 0 from its first non-positive value on.

    Parameters
    ----------
    size : int
        Letters of the alphabet.
    l, k : int
        Residues in an l-mer, and fixed positions of a gapped k-mer.

    Returns
    -------
    list of Fraction
        l + 1 weights, h = 0, …, l.
    """
    kept = estimate(size, l, k)
    end = next((h for h, weight in enumerate(kept) if weight <= 0), l + 1)
    return [
        sum((lmers_between(size, l, h, i, j) * kept[i] * kept[j] for i in range(end) for j in range(end)), Fraction(0))
        for h in range(l + 1)
    ]


def lmers_between(size: int, l: int, h: int, i: int, j: int) -> int:  # noqa: E741
    """Return how many l-mers have distance i from one and j from the other of two at distance h.

    Where the two agree, t residues differ from both; where they differ, h + t − i residues are the first one's,
    h + t − j the second one's and the others neither's.

    Parameters
    ----------
    size : int
        Letters of the alphabet.
    l : int
        Length of the l-mers.
    h, i, j : int
        Hamming distances, 0 to `l`.

    Returns
    -------
    int
    """
    total = 0
    for t in range(l - h + 1):
        first, second = h + t - i, h + t - j
        if min(first, second) < 0 or first + second > h:
            continue
        ways = comb(h, first) * comb(h - first, second) * (size - 2) ** (h - first - second)
        total += comb(l - h, t) * (size - 1) ** t * ways
    return total
