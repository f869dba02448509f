"""Plain-Python twin of the property kernel's vectors, straight from their definition."""

import numpy as np


def standardised(values):
    """Return a dict of letter to vector with mean 0 and variance 1 on each scale, from a dict of letter to list."""
    table = np.array(list(values.values()), dtype=np.float64)
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    return dict(zip(values, table, strict=True))


def window_vectors(strings, vectors):
    """Return φ of windows: the values of each letter and 0, or zeros and 1 where a letter has none."""
    scales = len(next(iter(vectors.values())))
    none = [0.0] * scales + [1.0]
    return np.array([[v for a in x for v in ([*vectors[a], 0.0] if a in vectors else none)] for x in strings])


def covariance(x, vectors, s, t, lag):
    """Return the covariance of the scales s and t of a string at a distance."""
    known = [vectors[a] for a in x if a in vectors]
    if not known:
        return 0.0
    means = np.mean(known, axis=0)
    terms = [
        (vectors[a][s] - means[s]) * (vectors[b][t] - means[t])
        for a, b in zip(x, x[lag:], strict=False)
        if a in vectors and b in vectors
    ]
    return sum(terms) / len(terms) if terms else 0.0


def covariances(strings, vectors, lag, cross=True):
    """Return φ of strings: distance after distance, the covariances of all pairs of scales."""
    scales = range(len(next(iter(vectors.values()))))
    pairs = [(s, t) for s in scales for t in scales if cross or s == t]
    return np.array([[covariance(x, vectors, s, t, g + 1) for g in range(lag) for s, t in pairs] for x in strings])
