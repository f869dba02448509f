"""Plain-Python twin of the generic string kernel, straight from its definition."""

import math

import numpy as np


def generic_string_pair(x, y, length, sigma_p, sigma_c, squares):
    """Return the kernel of two strings; `squares` has ‖ψ(a) − ψ(b)‖² of each two letters, and none of a masked one."""
    total = 0.0
    for words in range(1, length + 1):
        for i in range(len(x) - words + 1):
            for j in range(len(y) - words + 1):
                pairs = list(zip(x[i : i + words], y[j : j + words], strict=True))
                if all(pair in squares for pair in pairs):
                    square = sum(squares[pair] for pair in pairs)
                    total += bell((i - j) ** 2, sigma_p) * bell(square, sigma_c)
    return total


def bell(square, sigma):
    """Return exp(−square/2σ²), with its limits for σ = 0 and None, which is infinite."""
    if sigma is None:
        return 1.0
    return math.exp(-square / (2 * sigma**2)) if sigma else float(square == 0)


def generic_string(strings, length, sigma_p, sigma_c, vectors, others=None):
    """Return the matrix, not normalised; `vectors` has ψ of each letter, and none of a masked one."""
    squares = {(a, b): float(((vectors[a] - vectors[b]) ** 2).sum()) for a in vectors for b in vectors}
    rule = length, sigma_p, sigma_c, squares
    return np.array([[generic_string_pair(x, y, *rule) for y in others or strings] for x in strings])
