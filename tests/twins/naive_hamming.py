"""Plain-Python twin of the sums over pairs of windows by their Hamming distance."""

from naive import hamming, kmers, reverse_complement


def distances(x, y, length, *, rc=False, u=None, v=None):
    """Return how often each Hamming distance occurs between windows of two strings: length + 1 integers.

    A pair counts as often as the product of its windows' weights `u` and `v` says, by default once.
    """
    rows, cols = kmers(x, length), kmers(y, length)
    u, v = u or [1] * len(rows), v or [1] * len(cols)
    if rc:
        cols, v = cols + [reverse_complement(b) for b in cols], [*v, *v]
    found = [0] * (length + 1)
    for a, p in zip(rows, u, strict=True):
        for b, q in zip(cols, v, strict=True):
            found[hamming(a, b)] += p * q
    return found


def total(found, weights):
    """Return Σ weights[h]·found[h]: exact if the weights are integers, else in doubles in the order of h."""
    result = 0
    for weight, number in zip(weights, found, strict=True):
        if weight:
            result = result + weight * number
    return result


def gram(rows, cols, length, weights, *, rc=False, u=None, v=None):
    """Return the sums of all pairs of strings, a list of lists; u and v are lists of weights for each string."""
    u, v = u or [None] * len(rows), v or [None] * len(cols)
    return [
        [total(distances(x, y, length, rc=rc, u=p, v=q), weights) for y, q in zip(cols, v, strict=True)]
        for x, p in zip(rows, u, strict=True)
    ]
