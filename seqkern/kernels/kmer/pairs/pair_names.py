"""Names of pairs of k-mers, from their codes."""

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt


def name_pairs(
    codes: npt.NDArray[Any],
    k: int,
    distances: range,
    letters: str,
    notes: npt.NDArray[np.uint8] | None,
    name: Callable[[Any, Any, int, int], Any],
) -> list[str]:
    """Return the names of pairs of k-mers.

    Parameters
    ----------
    codes : ndarray of int, shape (pairs,)
        As returned by `seqkern.kernels.kmer.pairs.kmer_pairs`.
    k : int
        Length of the k-mers.
    distances : range
        Between the starts of the two.
    letters : str
        The letters of the alphabet.
    notes : ndarray of uint8, or None
        The annotation letters, named after the residues.
    name : callable
        ``name(first, second, k, distance)`` returns the name of two k-mers, given as str or arrays of them.

    Returns
    -------
    list of str
        One for each code.
    """
    texts = [np.array(list(letters), dtype=object)]
    if notes is not None:
        texts = [np.tile(texts[0], len(notes)), np.repeat([note_name(note) for note in notes], len(letters))]
        texts[1] = texts[1].astype(object)
    kmers = len(texts[0]) ** k
    number, pair = np.divmod(codes.astype(np.int64), kmers * kmers)
    names = np.empty(len(codes), dtype=object)
    for t in np.unique(number):
        here = np.flatnonzero(number == t)
        both = [_digits(code, k, len(texts[0])) for code in np.divmod(pair[here], kmers)]
        parts = []
        for shown in texts:
            first, second = (reduce(add, [shown[digit] for digit in digits]) for digits in both)
            parts.append(name(first, second, k, distances[int(t)]))
        names[here] = reduce(add, parts)
    return list(names)


def note_name(note: int) -> str:
    """Return an annotation letter as text.

    Parameters
    ----------
    note : int
        Its code.

    Returns
    -------
    str
        The letter, or its code in angle brackets if it cannot be printed.
    """
    return chr(note) if 32 < note < 127 else f"<{note}>"


def _digits(codes: npt.NDArray[np.int64], k: int, size: int) -> list[npt.NDArray[np.int64]]:
    """Return the symbols of k-mers with these codes: k arrays."""
    digits: list[npt.NDArray[np.int64]] = []
    for _ in range(k):
        codes, digit = np.divmod(codes, size)
        digits.insert(0, digit)
    return digits
