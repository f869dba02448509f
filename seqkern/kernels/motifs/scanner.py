"""Motifs prepared for one alphabet: counted and located in sequences, in threads."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.threads import GIVEN_THREADS, available_threads, in_threads
from seqkern.kernels.kmer.kmers import Counted
from seqkern.kernels.motifs import _scan
from seqkern.kernels.motifs.matrices import Matrix, p_value_threshold, share_threshold, tail
from seqkern.kernels.motifs.packing import check_memory, pack_matrices, pack_patterns
from seqkern.kernels.motifs.patterns import Pattern
from seqkern.kernels.occurrences import spread
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet

SCORE_BYTES = 16  # of a score: alone, and in a lane
PLACE_BYTES = 3  # of a position of a pattern for each letter: twice as bytes, and as a bit
LEAST_LETTERS = 1 << 15  # of a thread's records


@dataclass(frozen=True)
class Found:
    """Occurrences of motifs in a set of records.

    Attributes
    ----------
    motif, record : ndarray of int64, shape (occurrences,)
        Motif and record of each occurrence.
    first, length : ndarray of int64, shape (occurrences,)
        First residue, counted over all records, and number of residues, those of the shortest match if there are
        several.
    """

    motif: npt.NDArray[np.int64]
    record: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    length: npt.NDArray[np.int64]

    def share(self, values: npt.NDArray[np.float64], letters: int) -> npt.NDArray[np.float64]:
        """Return the value of each occurrence, shared equally by its residues.

        Parameters
        ----------
        values : ndarray of float64, shape (occurrences,)
            One for each occurrence.
        letters : int
            Residues of all records.

        Returns
        -------
        ndarray of float64, shape (letters,)

        Examples
        --------
        >>> found = Found(motif=np.array([0]), record=np.array([0]), first=np.array([2]), length=np.array([4]))
        >>> found.share(np.array([2.0]), 7)
        array([0. , 0. , 0.5, 0.5, 0.5, 0.5, 0. ])
        """
        out = np.zeros(letters)
        for length in np.unique(self.length):
            some = self.length == length
            out += spread(values[some], self.first[some], range(length), letters)
        return out


class Scanner:
    """A set of motifs for one alphabet.

    Parameters
    ----------
    alphabet : Alphabet
        That of the sequences.
    banks : PatternBanks or MatrixBanks
        The compiled motifs.
    one_strand : ndarray of bool, shape (motifs,)
        Motifs that are their own reverse complements.
    both_strands : bool
        Whether to search the reverse complements too.
    """

    def __init__(
        self, alphabet: Alphabet, banks: _scan.Banks, one_strand: npt.NDArray[np.bool_], both_strands: bool
    ) -> None:
        self.alphabet = alphabet
        self.banks = banks
        self.one_strand = np.ascontiguousarray(one_strand, dtype=np.uint8)
        self.complement = np.array(alphabet.complement_codes) if both_strands else None

    def count(self, X: SequenceSet, n_threads: int | None = None) -> Counted:
        """Return how often each motif occurs in each record.

        Parameters
        ----------
        X : SequenceSet
            Of the scanner's alphabet.
        n_threads : int, optional
            By default all cores.

        Returns
        -------
        Counted
            The feature of a motif is its number.
        """
        start, items = self._scan(X, True, n_threads)
        feature, count = np.ascontiguousarray(items.T)
        return Counted(start, feature, count, len(self.one_strand))

    def find(self, X: SequenceSet, n_threads: int | None = None) -> Found:
        """Return the occurrences of the motifs.

        Parameters
        ----------
        X : SequenceSet
            Of the scanner's alphabet.
        n_threads : int, optional
            By default all cores.

        Returns
        -------
        Found
        """
        start, items = self._scan(X, False, n_threads)
        record = np.repeat(np.arange(len(X)), np.diff(start))
        motif, place = items.T.astype(np.int64)
        length = np.empty(len(motif), dtype=np.int64)
        order = np.lexsort((place < 0, record, motif))
        keys = motif[order], record[order], place[order] < 0
        new = np.any([key[1:] != key[:-1] for key in keys], axis=0)
        for some in np.split(order, np.flatnonzero(new) + 1) if len(order) else []:
            one, reverse = some[0], place[some[0]] < 0
            starts = -1 - place[some] if reverse else place[some]
            length[some] = self._lengths(motif[one], X, record[one], reverse, starts)
        offsets = np.concatenate(([0], np.cumsum(X.lengths)))
        first = np.where(place < 0, X.lengths[record] + 1 + place - length, place) + offsets[record]
        return Found(motif, record, first, length)

    def _scan(
        self, X: SequenceSet, counted: bool, n_threads: int | None
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """Return (start, items) as `_scan.scan` does, of parts of the records in threads."""
        threads = available_threads(GIVEN_THREADS.get() or n_threads)
        letters = np.cumsum(X.lengths)
        parts = max(1, min(4 * threads if threads > 1 else 1, int(letters[-1] if len(X) else 0) // LEAST_LETTERS))
        cuts = np.searchsorted(letters, np.linspace(0, letters[-1] if len(X) else 0, parts + 1)[1:-1])
        cuts = np.concatenate(([0], cuts, [len(X)]))

        def work(first: int, last: int) -> Any:
            bounds = X.starts[first:last], X.stops[first:last]
            return _scan.scan(
                self.banks, X.codes, *bounds, self.alphabet.size, self.complement, self.one_strand, counted
            )

        done = in_threads([lambda span=span: work(*span) for span in itertools.pairwise(cuts)], threads)
        numbers = np.concatenate([np.diff(start) for start, _ in done])
        return np.concatenate(([0], np.cumsum(numbers))), np.concatenate([items for _, items in done])

    def _lengths(
        self, motif: int, X: SequenceSet, record: int, reverse: bool, starts: npt.NDArray[np.int64]
    ) -> int | npt.NDArray[np.int64]:
        """Return the length of a motif's shortest match at each of some starts in one strand of a record."""
        raise NotImplementedError

    def chances(self, shares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the approximate probability that each motif matches at a position of a random sequence.

        Parameters
        ----------
        shares : ndarray of float64, shape (letters,)
            Letter frequencies of the sequences.

        Returns
        -------
        ndarray of float64, shape (motifs,)
        """
        raise NotImplementedError


class PatternScanner(Scanner):
    """Patterns for one alphabet.

    Parameters
    ----------
    patterns : list of Pattern
        The motifs.
    alphabet : Alphabet
        That of the sequences.
    both_strands : bool
        Whether to search the reverse complements too.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels.motifs.patterns import parse_pattern
    >>> X = SequenceSet.from_strings(["MCKHCNVS", "ANGT"], "protein")
    >>> scanner = PatternScanner([parse_pattern("C-x(2)-C"), parse_pattern("N-{P}-[ST]")], X.alphabet)
    >>> found = scanner.find(X)
    >>> list(zip(found.record.tolist(), found.motif.tolist(), found.first.tolist(), found.length.tolist()))
    [(0, 1, 5, 3), (0, 0, 1, 4), (1, 1, 9, 3)]
    """

    def __init__(self, patterns: Sequence[Pattern], alphabet: Alphabet, both_strands: bool = False) -> None:
        places = [pattern.longest for pattern in patterns]
        check_memory(len(patterns), PLACE_BYTES * (alphabet.size + 1) * sum(places))
        self.patterns = patterns
        self.classes = [pattern.classes(alphabet) for pattern in patterns]
        self._accepts = np.concatenate([accepts for accepts, _ in self.classes])
        self._needed = ~np.concatenate([optional for _, optional in self.classes])
        self._starts = np.concatenate(([0], np.cumsum(places)[:-1]))
        same = np.zeros(len(patterns), dtype=bool)
        if both_strands:
            other = np.append(alphabet.complement_codes[: alphabet.size], alphabet.size)
            same[:] = [
                pattern.one_length
                and pattern.at_start == pattern.at_end
                and np.array_equal(accepts, accepts[::-1, other])
                for pattern, (accepts, _) in zip(patterns, self.classes, strict=True)
            ]
        super().__init__(alphabet, pack_patterns(patterns, self.classes), same, both_strands)

    def _lengths(
        self, motif: int, X: SequenceSet, record: int, reverse: bool, starts: npt.NDArray[np.int64]
    ) -> int | npt.NDArray[np.int64]:
        pattern = self.patterns[motif]
        if pattern.one_length:
            return pattern.longest
        accepts, optional = self.classes[motif]
        text = np.minimum(X.codes[X.starts[record] : X.stops[record]], self.alphabet.size)
        if reverse:
            text = np.minimum(cast("npt.NDArray[np.uint8]", self.complement)[text[::-1]], self.alphabet.size)
        return _scan.match_lengths(
            accepts.astype(np.uint8), optional.astype(np.uint8), pattern.at_end, np.ascontiguousarray(text), starts
        )

    def chances(self, shares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the product over the elements, times the number of gap lengths, at most 1.

        Parameters
        ----------
        shares : ndarray of float64, shape (letters,)
            Letter frequencies of the sequences.

        Returns
        -------
        ndarray of float64, shape (motifs,)
        """
        each = np.where(self._accepts[:, -1], 1.0, self._accepts[:, :-1] @ shares)
        with np.errstate(divide="ignore"):  # an absent letter
            logs = np.log(np.where(self._needed, each, 1.0))
        ways = [sum(math.log(element.high - element.low + 1) for element in one.elements) for one in self.patterns]
        return np.exp(np.minimum(np.add.reduceat(logs, self._starts) + ways, 0.0))


class MatrixScanner(Scanner):
    """Weight matrices for one alphabet, each with its threshold.

    Parameters
    ----------
    matrices : list of Matrix
        The motifs.
    alphabet : Alphabet
        That of the sequences.
    both_strands : bool
        Whether to search the reverse complements too.
    p_value, score_share : float or None
        Exactly one determines the thresholds.
    pseudocount : float
        As in `Matrix.scores`.

    Attributes
    ----------
    scores : list of ndarray of int64, shape (columns, letters)
        Of the matrices, in hundredths of a bit.
    thresholds : list of int
        The smallest sum of scores of a match.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels.motifs.matrices import Matrix
    >>> X = SequenceSet.from_strings(["CAGGTAAG", "TTTTTTTT"], "dna")
    >>> donor = Matrix.checked("donor", [[0, 0, 8, 0], [0, 0, 0, 8], [6, 0, 2, 0]], "ACGT")
    >>> scanner = MatrixScanner([donor], X.alphabet, score_share=0.9)
    >>> scanner.find(X).first, scanner.thresholds
    (array([3]), [374])
    """

    def __init__(
        self,
        matrices: Sequence[Matrix],
        alphabet: Alphabet,
        both_strands: bool = False,
        *,
        p_value: float | None = None,
        score_share: float | None = None,
        pseudocount: float = 1.0,
    ) -> None:
        check_memory(len(matrices), SCORE_BYTES * sum(matrix.counts.size for matrix in matrices))
        self.scores = [matrix.scores(alphabet, pseudocount) for matrix in matrices]
        backgrounds = [matrix.background_of(alphabet) for matrix in matrices]
        if score_share is None:
            pairs = zip(self.scores, backgrounds, strict=True)
            self.thresholds = [p_value_threshold(*pair, cast(float, p_value)) for pair in pairs]
        else:
            self.thresholds = [share_threshold(scores, score_share) for scores in self.scores]
        self.tails = [tail(*given) for given in zip(self.scores, backgrounds, self.thresholds, strict=True)]
        same = np.zeros(len(matrices), dtype=bool)
        if both_strands:
            other = alphabet.complement_codes[: alphabet.size]
            same[:] = [np.array_equal(scores, scores[::-1, other]) for scores in self.scores]
        super().__init__(alphabet, pack_matrices(self.scores, self.thresholds), same, both_strands)

    def _lengths(self, motif: int, X: SequenceSet, record: int, reverse: bool, starts: npt.NDArray[np.int64]) -> int:
        return len(self.scores[motif])

    def chances(self, shares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the probability of a match under the background.

        Parameters
        ----------
        shares : ndarray of float64, shape (letters,)
            Not used: the matrices have a background of their own.

        Returns
        -------
        ndarray of float64, shape (motifs,)
        """
        return np.array(self.tails)
