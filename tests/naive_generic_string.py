"""Plain-Python twin of the generic string kernel, straight from its definition."""

import math

import numpy as np


def generic_string_pair(x, y, length, sigma_p, sigma_c, vectors):
    """Return the kernel of two strings; `vectors` has ψ of each letter, and none of a masked one."""
    total = 0.0
    for words in range(1, length + 1):
        for i in range(len(x) - words + 1):
            for j in range(len(y) - words + 1):
                a, b = x[i : i + words], y[j : j + words]
                if any(letter not in vectors for letter in a + b):
                    continue
                square = sum(((vectors[s] - vectors[t]) ** 2).sum() for s, t in zip(a, b, strict=True))
                total += bell((i - j) ** 2, sigma_p) * bell(square, sigma_c)
    return total


def bell(square, sigma):
    """Return exp(−square/2σ²), with its limits for σ = 0 and None, which is infinite."""
    if sigma is None:
        return 1.0
    return math.exp(-square / (2 * sigma**2)) if sigma else float(square == 0)


def generic_string(strings, *rule, others=None):
    """Return the matrix, not normalised."""
    return np.array([[generic_string_pair(x, y, *rule) for y in others or strings] for x in strings])
