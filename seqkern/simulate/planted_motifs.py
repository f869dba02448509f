"""Motifs to plant: random matrices, sites drawn from them, and their log-odds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seqkern.sequences.alphabets import DNA

Codes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]

#: Greatest share of columns in which two motifs may have the same commonest base, at any offset and strand.
ALIKE = 0.6
LEAST = 0.01
LONGER = (0, 2, -2)


def random_motif(rng: np.random.Generator, length: int, strength: float = 0.93) -> Floats:
    """Draw a motif: most columns with one base, some with two, few of almost any.

    Parameters
    ----------
    rng : numpy.random.Generator
        Random number generator.
    length : int
        Columns.
    strength : float
        Probability of the base of a column with one.

    Returns
    -------
    ndarray of float64, shape (length, 4)
        Probabilities; no column at either end is of almost any base.
    """
    motif = np.zeros((length, DNA.size))
    for column in range(length):
        kind = rng.random()
        order = rng.permutation(DNA.size)
        if kind < 0.7 or (column in (0, length - 1) and kind >= 0.9):
            shares = [strength] + 3 * [(1 - strength) / 3]
        elif kind < 0.9:
            shares = 2 * [0.5 * strength + 0.02] + 2 * [0.48 - 0.5 * strength]
        else:
            shares = [0.4, 0.2, 0.2, 0.2]
        motif[column, order] = np.maximum(shares, LEAST)
    return motif / motif.sum(axis=1, keepdims=True)


def random_motifs(rng: np.random.Generator, n: int, length: int, strength: float = 0.93) -> list[Floats]:
    """Draw motifs that differ from each other and from their own reverse complements.

    Parameters
    ----------
    rng : numpy.random.Generator
        Random number generator.
    n : int
        Number of motifs.
    length : int
        Columns of the first; the second has 2 more, the third 2 fewer, and so on.
    strength : float
        As for `random_motif`.

    Returns
    -------
    list of ndarray of float64, shape (columns, 4)

    Examples
    --------
    >>> [len(motif) for motif in random_motifs(np.random.default_rng(1), 3, 10)]
    [10, 12, 8]
    """
    motifs: list[Floats] = []
    limit = ALIKE
    while len(motifs) < n:
        drawn = random_motif(rng, length + LONGER[len(motifs) % len(LONGER)], strength)
        if all(_alike(drawn, other) <= limit for other in motifs):
            motifs.append(drawn)
            limit = ALIKE
        else:
            limit += 0.002  # so that even many short motifs come to an end
    return motifs


def _alike(a: Floats, b: Floats) -> float:
    """Return the greatest share of columns of the shorter motif with the same commonest base."""
    x, y = sorted((a.argmax(axis=1), b.argmax(axis=1)), key=len)
    found = 0
    for z in (y, DNA.complement_codes[y[::-1]]):
        for offset in range(1 - len(x), len(y)):
            low, high = max(0, offset), min(len(y), offset + len(x))
            found = max(found, int((x[low - offset : high - offset] == z[low:high]).sum()))
    return found / len(x)


def draw_site(rng: np.random.Generator, motif: Floats) -> Codes:
    """Draw a site from a motif.

    Parameters
    ----------
    rng : numpy.random.Generator
        Random number generator.
    motif : ndarray of float64, shape (columns, 4)
        Probabilities.

    Returns
    -------
    ndarray of uint8, shape (columns,)
    """
    drawn = rng.random(len(motif))[:, None] > np.cumsum(motif, axis=1)[:, :-1]
    return drawn.sum(axis=1).astype(np.uint8)


def log_odds(motif: Floats) -> Floats:
    """Return the log-odds of each base in each column against equal frequencies, in bits.

    Parameters
    ----------
    motif : ndarray of float64, shape (columns, 4)
        Probabilities.

    Returns
    -------
    ndarray of float64, shape (columns, 4)
    """
    return np.asarray(np.log2(DNA.size * motif))


def scan(scores: Floats, codes: Codes) -> tuple[Floats, Floats]:
    """Return the log-odds of every window, on the forward and on the reverse strand.

    Parameters
    ----------
    scores : ndarray of float64, shape (columns, 4)
        As from `log_odds`.
    codes : ndarray of uint8, shape (bases,)
        At least as many as columns.

    Returns
    -------
    forward, reverse : ndarray of float64, shape (bases - columns + 1,)
    """
    width = len(scores)
    windows = len(codes) - width + 1
    other = scores[::-1][:, DNA.complement_codes[: DNA.size]]
    strands = [sum(one[j, codes[j : j + windows]] for j in range(width)) for one in (scores, other)]
    return np.asarray(strands[0]), np.asarray(strands[1])
