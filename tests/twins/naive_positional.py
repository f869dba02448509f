"""Plain-Python twins of the weighted degree kernels, exact: weights become fractions, and nothing is rounded."""

from fractions import Fraction

import numpy as np


def length_weights(degree):
    """Return β_1, …, β_d."""
    return [Fraction(2 * (degree - k + 1), degree * (degree + 1)) for k in range(1, degree + 1)]


def kmer(string, start, k):
    """Return the k-mer that starts there, None if it extends past the end or has a masked letter."""
    found = string[start : start + k]
    return None if len(found) < k or "*" in found else found


def matches(x, i, y, j, k):
    """Return 1 if x has the same k-mer at i as y at j, else 0."""
    return int(kmer(x, i, k) is not None and kmer(x, i, k) == kmer(y, j, k))


def terms(x, y, degree, shifts=0, weights=None, position_weights=None):
    """Yield (weight, start in x, start in y, k) of every common k-mer that counts; their sum is the kernel."""
    betas = length_weights(degree) if weights is None else list(map(Fraction, weights))
    for i in range(len(x)):
        gamma = 1 if position_weights is None else Fraction(position_weights[i])
        largest = shifts if isinstance(shifts, int) else shifts[i]
        for k, beta in enumerate(betas, 1):
            for s in range(largest + 1):
                for mine, theirs in ((i + s, i), (i, i + s)):
                    if matches(x, mine, y, theirs, k):
                        yield beta * gamma / (2 * (s + 1)), mine, theirs, k


def weighted_degree(x, y, *options, **named):
    """Return K(x, y), a Fraction."""
    return sum((weight for weight, *_ in terms(x, y, *options, **named)), Fraction(0))


def matrix(rows, cols, *options, **named):
    """Return the kernel matrix, each entry rounded once."""
    return np.array([[float(weighted_degree(x, y, *options, **named)) for y in cols] for x in rows]).reshape(
        len(rows), len(cols)
    )


def letter_shares(x, support, coefficients, *options, **named):
    """Return what each letter of x contributes: each common k-mer is shared equally by its letters."""
    shares = [Fraction(0)] * len(x)
    for z, coefficient in zip(support, coefficients, strict=True):
        for weight, start, _, k in terms(x, z, *options, **named):
            for letter in range(start, start + k):
                shares[letter] += Fraction(coefficient) * weight / k
    return [float(share) for share in shares]


def mean_word_weights(strings, support, coefficients, degree, *options, **named):
    """Return for each word what its occurrences in all strings add on average."""
    found = {}
    for x in [*strings, *support]:
        values = {
            (start, k): Fraction(0)
            for k in range(1, degree + 1)
            for start in range(len(x))
            if kmer(x, start, k) is not None
        }
        for z, coefficient in zip(support, coefficients, strict=True):
            for weight, start, _, k in terms(x, z, degree, *options, **named):
                values[start, k] += Fraction(coefficient) * weight
        for (start, k), value in values.items():
            found.setdefault(kmer(x, start, k), []).append(value)
    return {word: float(sum(values) / len(values)) for word, values in found.items()}
