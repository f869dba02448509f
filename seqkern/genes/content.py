"""How much the bases look like coding sequence or like introns: Markov chains against what lies between genes.

Coding sequence has a chain for each place in the codon. The score of a base is the logarithm of its probability given
the bases before it, less the same between genes; masked bases, and those too near the start, score 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqkern.sequences.alphabets import MASK

LONGEST = 5
NEEDED = 50
"""Coding bases needed for each probability of the chain."""
PRIOR = 10.0
"""Weight of the chain that sees one base less."""

Codes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Content:
    r"""Scores of bases by the bases before them.

    Attributes
    ----------
    coding : ndarray of float64, shape (3, 4^(order + 1))
        By the place of the last base in its codon.
    intron : ndarray of float64, shape (4^(order + 1),)
        Of introns.

    Examples
    --------
    >>> content = Content.learn([[b"\0\1\2\3" * 9, 0]], [], [b"\0\1\2\3" * 9], order=1)
    >>> content.order, content.coding.shape
    (1, (3, 16))
    """

    coding: Floats
    intron: Floats

    @classmethod
    def none(cls) -> Content:
        """Return scores of 0."""
        return cls(np.zeros((3, 4)), np.zeros(4))

    @property
    def order(self) -> int:
        """Number of bases before a base that its score depends on."""
        return int(self.intron.size).bit_length() // 2 - 1

    @classmethod
    def learn(
        cls,
        coding: Iterable[tuple[Codes | bytes, int]],
        introns: Iterable[Codes | bytes],
        between: Iterable[Codes | bytes],
        order: int | None = None,
    ) -> Content:
        """Count words in known sequence.

        Parameters
        ----------
        coding : iterable of (codes, int)
            Coding parts, along their strand, and the place of the first base in its codon.
        introns : iterable of codes
            Along their strand.
        between : iterable of codes
            Sequence between genes, on either strand.
        order : int, optional
            Default: the largest, up to 5, with 50 coding bases for each of the 3 · 4^(order + 1) probabilities.

        Returns
        -------
        Content
        """
        parts = [(_codes(part), place) for part, place in coding]
        if order is None:
            total = sum(len(part) for part, _ in parts)
            order = max((k for k in range(LONGEST + 1) if NEEDED * 3 * 4 ** (k + 1) <= total), default=0)
        counts = np.zeros((3, 4 ** (order + 1)))
        for part, place in parts:
            words, ends = _words(part, order)
            np.add.at(counts, ((ends + place) % 3, words), 1)
        background = _logarithms(_counted(between, order))
        return cls(
            np.stack([_logarithms(row) for row in counts]) - background,
            _logarithms(_counted(introns, order)) - background,
        )

    def coding_sums(self, codes: Codes, place: int, reverse: bool) -> Floats:
        """Return the sums of scores as coding sequence, of the bases on the left of each boundary.

        Parameters
        ----------
        codes : ndarray of uint8, shape (n,)
            Of the strand, along it.
        place : int
            Where codons begin, modulo 3, from the left of strand +.
        reverse : bool
            Whether it is strand −.

        Returns
        -------
        ndarray of float64, shape (n + 1,)
            By place on strand +.
        """
        words, ends = _words(codes, self.order)
        left = len(codes) - 1 - ends if reverse else ends
        inside = (left - place) % 3
        return _sums(self.coding[2 - inside if reverse else inside, words], left, len(codes))

    def intron_sums(self, codes: Codes, reverse: bool) -> Floats:
        """Return the sums of scores as introns; see `coding_sums`.

        Parameters
        ----------
        codes : ndarray of uint8, shape (n,)
            Of the strand, along it.
        reverse : bool
            Whether it is strand −.

        Returns
        -------
        ndarray of float64, shape (n + 1,)
        """
        words, ends = _words(codes, self.order)
        return _sums(self.intron[words], len(codes) - 1 - ends if reverse else ends, len(codes))


def _codes(part: Codes | bytes) -> Codes:
    """Return codes as an array."""
    return np.frombuffer(part, dtype=np.uint8) if isinstance(part, bytes) else part


def _sums(values: Floats, places: npt.NDArray[np.int64], n: int) -> Floats:
    """Return the sums of values, at some places, on the left of each of n + 1 boundaries."""
    all_values = np.zeros(n + 1)
    all_values[places + 1] = values
    return np.cumsum(all_values)


def _words(codes: Codes, order: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the words of order + 1 letters without masked ones, as numbers, and where they end."""
    n = len(codes) - order
    if n < 1:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    words, good = np.zeros(n, dtype=np.int64), np.ones(n, dtype=bool)
    for i in range(order + 1):
        words = 4 * words + codes[i : i + n]
        good &= codes[i : i + n] != MASK
    ends = np.flatnonzero(good)
    return words[ends], ends + order


def _counted(parts: Iterable[Codes | bytes], order: int) -> Floats:
    """Return how often each word occurs."""
    counts = np.zeros(4 ** (order + 1))
    for part in parts:
        counts += np.bincount(_words(_codes(part), order)[0], minlength=len(counts))
    return counts


def _logarithms(counts: Floats) -> Floats:
    """Return the logarithm of the probability of each word's last letter given the others.

    Counts are added to the probabilities by one letter less, times `PRIOR`.
    """
    lower = np.full(4, 0.25) if len(counts) == 4 else np.exp(_logarithms(counts.reshape(4, -1).sum(axis=0)))
    table = counts.reshape(-1, 4)
    prior = np.resize(lower, counts.shape).reshape(-1, 4)
    shares: Floats = (table + PRIOR * prior) / (table.sum(axis=1, keepdims=True) + PRIOR)
    return np.log(shares).ravel()
