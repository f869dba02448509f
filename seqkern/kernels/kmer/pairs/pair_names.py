"""Names of pairs of k-mers, from their codes."""

from functools import reduce
from operator import add

import numpy as np


def name_pairs(codes, k, distances, letters, notes, name):
    """Return the names of pairs of k-mers.

    Parameters
    ----------
    codes : ndarray of int, shape (pairs,)
        As `seqkern.kernels.kmer.pairs.kmer_pairs` gives them.
    k : int
    distances : range
        Between the starts of the two.
    letters : str
    notes : ndarray of uint8, or None
        The annotation letters; the annotation's name follows that of the letters.
    name : callable
        ``name(first, second, k, distance)`` returns the name of two k-mers, given as str or arrays of them.

    Returns
    -------
    list of str
    """
    texts = [np.array(list(letters), dtype=object)]
    if notes is not None:
        texts = [np.tile(texts[0], len(notes)), np.repeat([note_name(note) for note in notes], len(letters))]
        texts[1] = texts[1].astype(object)
    words = len(texts[0]) ** k
    number, pair = np.divmod(codes.astype(np.int64), words * words)
    names = np.empty(len(codes), dtype=object)
    for t in np.unique(number):
        here = np.flatnonzero(number == t)
        both = [_digits(word, k, len(texts[0])) for word in np.divmod(pair[here], words)]
        parts = [
            name(*(reduce(add, [text[digit] for digit in digits]) for digits in both), k, distances[int(t)])
            for text in texts
        ]
        names[here] = reduce(add, parts)
    return list(names)


def note_name(note):
    """Return an annotation letter as text: itself, or its number if it cannot be printed."""
    return chr(note) if 32 < note < 127 else f"<{note}>"


def _digits(words, k, size):
    """Return the symbols of k-mers with these codes: k arrays."""
    digits = []
    for _ in range(k):
        words, digit = np.divmod(words, size)
        digits.insert(0, digit)
    return digits
