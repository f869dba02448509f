"""Pairs of k-mers as integers, with or without annotation, and where they start.

A residue and its annotation letter make one *symbol*, annotation · b + letter over b letters; without annotation a
symbol is the residue. The k-mer u over s symbols has the code u < s^k, and the pair of u and v whose starts are the
t-th of the given distances apart has the code (t·s^k + u)·s^k + v. Pairs with a masked residue in a k-mer do not count;
residues between the k-mers do not matter.
"""

from copy import copy
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.kernels.kmer.kmers import CODE_LIMIT, MOST_CODES, NO_COMPLEMENT, Occurrences, code_type, per_record
from seqkern.kernels.kmer.pairs import _kmer_pairs
from seqkern.kernels.products.dense import Counts
from seqkern.sequences.sequence_set import SequenceSet

NO_SYMBOL = 0xFFFF
LEAST_PART = 1 << 14  # features
MOST_PARTS = 64
NO_KMERS = np.zeros(0, dtype=np.uint32)
NO_POSITIONS = np.zeros(0, dtype=np.int32)

Notes = npt.NDArray[np.uint8]
"""Codes of annotation letters."""


@dataclass(frozen=True)
class Symbols:
    """The residues of records, each with its annotation letter, record after record.

    Attributes
    ----------
    codes : ndarray of uint16, shape (residues,)
        `NO_SYMBOL` for a masked residue, or an annotation letter that does not count.
    start : ndarray of int64, shape (n + 1,)
        The symbols of record i are ``start[i]`` to ``start[i + 1]``.
    size : int
        How many symbols there are.
    complement : ndarray of uint16, shape (65536,), or None
        The complement of each; the annotation letter stays.
    """

    codes: npt.NDArray[np.uint16]
    start: npt.NDArray[np.int64]
    size: int
    complement: npt.NDArray[np.uint16] | None = None

    def __len__(self) -> int:
        return len(self.start) - 1


def annotation_letters(X: SequenceSet, track: str) -> Notes:
    """Return the annotation letters of unmasked residues.

    Parameters
    ----------
    X : SequenceSet
        The records.
    track : str
        Name of the track with the annotation, uint8.

    Returns
    -------
    ndarray of uint8, shape (distinct letters,)
        Their codes, ascending.
    """
    positions = X.positions()
    seen = np.bincount(X.tracks[track][positions], X.codes[positions] < X.alphabet.size, minlength=256)
    return np.flatnonzero(seen).astype(np.uint8)


def find_symbols(
    X: SequenceSet, track: str | None = None, notes: Notes | None = None, complement: bool = False
) -> Symbols:
    """Return the residues of records, each with its annotation letter.

    Parameters
    ----------
    X : SequenceSet
        The records.
    track : str, optional
        Name of the annotation track, uint8; by default none.
    notes : ndarray of uint8, optional
        The annotation letters that count, in the order of their numbers; with `track` only.
    complement : bool
        Whether complements are needed.

    Returns
    -------
    Symbols

    Raises
    ------
    ParameterError
        If complements are needed, but the alphabet has none.
    """
    positions, size = X.positions(), X.alphabet.size
    codes = X.codes[positions].astype(np.uint16)
    bad = codes >= size
    start = per_record(X.lengths)
    complements = X.alphabet.complement_codes[:size].astype(np.uint16) if complement else None
    n_notes = 1
    if track is not None and notes is not None:
        n_notes = len(notes)
        numbers = np.full(256, NO_SYMBOL, dtype=np.uint16)
        numbers[notes] = np.arange(n_notes)
        noted = numbers[X.tracks[track][positions]]
        bad |= noted == NO_SYMBOL
        codes = noted * np.uint16(size) + codes
    codes[bad] = NO_SYMBOL
    table = None
    if complements is not None:
        table = np.full(NO_SYMBOL + 1, NO_SYMBOL, dtype=np.uint16)
        firsts = np.arange(n_notes, dtype=np.uint16) * np.uint16(size)
        table[: n_notes * size] = np.add.outer(firsts, complements).reshape(-1)
    return Symbols(codes, start, max(1, n_notes * size), table)


class Pairs:
    """The pairs of k-mers of records, at several distances between their starts.

    Parameters
    ----------
    symbols : Symbols
        With complements, a pair and its reverse complement share the smaller code.
    k : int
        Length of the k-mers.
    distances : range
        Between the starts of the two k-mers.

    Attributes
    ----------
    space : int
        How many codes there can be.
    kmer_space : int
        How many k-mers there can be.

    Raises
    ------
    ParameterError
        If there are too many pairs for codes of 63 bits.
    """

    def __init__(self, symbols: Symbols, k: int, distances: range) -> None:
        check_pair_space(symbols.size, k, distances)
        self.start, self.k = symbols.start, k
        self.kmer_space = symbols.size**k
        self._kmers = np.empty(len(symbols.codes), dtype=np.uint32)
        self._reverse = NO_KMERS if symbols.complement is None else np.empty_like(self._kmers)
        self._found = np.empty(len(symbols), dtype=np.int64)
        complement = NO_COMPLEMENT.astype(np.uint16) if symbols.complement is None else symbols.complement
        _kmer_pairs.code_words(
            symbols.codes, symbols.start, k, symbols.size, complement, self._kmers, self._reverse, self._found
        )
        self._set_distances(distances)

    def _set_distances(self, distances: range) -> None:
        self._range, self.space = distances, self.kmer_space**2 * len(distances)
        # Distances beyond the longest record have codes, but no pairs.
        longest = int(np.diff(self.start).max(initial=0))
        self.distances = np.array([d for d in distances[: longest + 1] if d <= longest - self.k], dtype=np.int64)

    def parts(self) -> list["Pairs"]:
        """Return the Pairs of each distance separately if there are many features, else all in one.

        Posting lists are built fastest if their ends fit into the cache.
        """
        if self.kmer_space**2 < LEAST_PART or len(self._range) > MOST_PARTS:
            return [self]
        parts = [copy(self) for _ in self._range]
        for part, distance in zip(parts, self._range, strict=True):
            part._set_distances(range(distance, distance + 1))
        return parts

    def __len__(self) -> int:
        return len(self.start) - 1

    def find(self) -> Occurrences:
        """Return the codes of all pairs, in one row.

        Returns
        -------
        Occurrences

        Raises
        ------
        SequenceError
            If there are too many.
        """
        return self._find(located=False)[0]

    def locate(self) -> tuple[Occurrences, npt.NDArray[np.int32]]:
        """Return the codes of all pairs, in one row, and where they start.

        Returns
        -------
        found : Occurrences
            As `find` returns it.
        positions : ndarray of int32, shape (pairs,)
            Where in its record each starts.

        Raises
        ------
        SequenceError
            If there are too many.
        """
        return self._find(located=True)

    def _find(self, located: bool) -> tuple[Occurrences, npt.NDArray[np.int32]]:
        """Return what `locate` does; without positions unless `located`."""
        most = self._most()
        if most > MOST_CODES:
            raise SequenceError(
                f"{most} pairs of k-mers are too many for one matrix",
                remedy="compute the matrix for fewer sequences at a time",
            )
        codes = np.empty(most, dtype=code_type(self.space))
        positions = np.empty(most, dtype=np.int32) if located else NO_POSITIONS
        start = np.empty(len(self) + 1, dtype=np.int64)
        _kmer_pairs.code_pairs(
            self._kmers,
            self._reverse,
            self.start,
            self._found,
            self.k,
            self.distances,
            self.kmer_space,
            codes,
            positions,
            start,
        )
        found = Occurrences(codes[: start[-1]].reshape(1, -1), start, self.space)
        return found, positions[: start[-1]]

    def _most(self) -> int:
        """Return the number of pairs without masked residues."""
        lengths, counts = np.unique(np.diff(self.start), return_counts=True)
        return sum(
            int(np.maximum(length - self.k + 1 - self.distances, 0).sum()) * int(count)
            for length, count in zip(lengths, counts, strict=True)
        )

    @property
    def most(self) -> int:
        """The largest number of k-mers of a record: the pairs of one distance are not more."""
        return int(np.diff(self.start).max(initial=0))

    def tally(self, row: int, tables: Counts) -> None:
        """Add how often each pair occurs; see `seqkern.kernels.products.dense.Tally`.

        Parameters
        ----------
        row : int
            The first record.
        tables : ndarray, shape (panels, space, 16)
            Changed.
        """
        _kmer_pairs.tally_pairs(
            self._kmers, self._reverse, self.start, self.k, self.distances, self.kmer_space, row, tables
        )


def check_pair_space(size: int, k: int, distances: range) -> None:
    """Raise ParameterError unless every pair of k-mers has a code of 63 bits.

    Parameters
    ----------
    size : int
        Number of symbols.
    k : int
        Length of the k-mers.
    distances : range
        Between the starts of the two.

    Raises
    ------
    ParameterError
        If there are too many pairs.
    """
    if not pairs_fit(size, k, distances):
        possible = next((n for n in range(min(k, 32), 0, -1) if pairs_fit(size, n, distances)), None)
        raise ParameterError(
            f"pairs of k-mers with k={k} over {size} letters, at {len(distances)} distances, have too many features",
            remedy="choose fewer distances" if possible is None or possible == k else f"choose k up to {possible}",
        )


def pairs_fit(size: int, k: int, distances: range) -> bool:
    """Return whether every pair of k-mers has a code of 63 bits.

    Parameters
    ----------
    size, k, distances
        As in `check_pair_space`.

    Returns
    -------
    bool
    """
    return size ** min(2 * k, 128) * len(distances) < CODE_LIMIT
