"""The pair HMM kernel in plain Python, from its formula: by cutting both strings in two, in all ways."""

import math
from itertools import pairwise


def gap(u, background, delta, epsilon):
    """Return g(u), the probability of a gap of u."""
    if not u:
        return 1 - delta
    return delta * (1 - epsilon) * epsilon ** (len(u) - 1) * math.prod(background[letter] for letter in u)


def gaps(u, v, background, delta, epsilon):
    """Return K₂(u, v)."""
    return gap(u, background, delta, epsilon) * gap(v, background, delta, epsilon)


def convolved(F, G):
    """Return F ⋆ G, the sum over all ways to cut both strings in two."""

    def both(x, y):
        return math.fsum(F(x[:i], y[:j]) * G(x[i:], y[j:]) for i in range(len(x) + 1) for j in range(len(y) + 1))

    return both


def pair_hmm(x, y, joint, background, gamma, delta, epsilon):
    """Return K_γ = γ K₂ ⋆ (K₁ ⋆ K₂)^⋆_γ + (1 − γ) K₂; joint[a, b] are probabilities of pairs of letters."""

    def of_pair(u, v):
        return joint[u, v] if len(u) == len(v) == 1 else 0.0

    def of_gaps(u, v):
        return gaps(u, v, background, delta, epsilon)

    step = convolved(of_pair, of_gaps)
    power, total = step, 0.0
    for r in range(1, min(len(x), len(y)) + 1):
        total += (1 - gamma) * gamma ** (r - 1) * convolved(of_gaps, power)(x, y)
        power = convolved(power, step)
    return gamma * total + (1 - gamma) * of_gaps(x, y)


def alignments(x, y):
    """Yield the lists of pairs of positions of all global alignments of x and y."""

    def after(i, j):
        yield []
        for a in range(i, len(x)):
            for b in range(j, len(y)):
                for rest in after(a + 1, b + 1):
                    yield [(a, b), *rest]

    yield from after(0, 0)


def weight(x, y, pairs, joint, background, gamma, delta, epsilon):
    """Return (the probability of one alignment, its number of gaps)."""
    value, count, places = 1 - gamma, 0, [(-1, -1), *pairs, (len(x), len(y))]
    for (a, b), (c, d) in pairwise(places):
        u, v = x[a + 1 : c], y[b + 1 : d]
        value *= gaps(u, v, background, delta, epsilon)
        count += bool(u) + bool(v)
    return value * math.prod(gamma * joint[x[a], y[b]] for a, b in pairs), count


def by_listing(x, y, *parameters):
    """Return (K, expected pairs, expected gaps) by listing all global alignments."""
    listed = [(*weight(x, y, pairs, *parameters), len(pairs)) for pairs in alignments(x, y)]
    total = math.fsum(value for value, _, _ in listed)
    return total, *(math.fsum(one[0] * one[k] for one in listed) / total for k in (2, 1))
