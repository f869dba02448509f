"""Motifs made ready for one alphabet: counted and found in sequences, in threads."""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from seqkern.core.threads import GIVEN_THREADS, available_threads, in_threads
from seqkern.kernels.kmer.kmers import Counted
from seqkern.kernels.motifs import _scan
from seqkern.kernels.motifs.matrices import p_value_threshold, share_threshold, tail
from seqkern.kernels.motifs.packing import check_memory, pack_matrices, pack_patterns
from seqkern.kernels.occurrences import spread

SCORE_BYTES = 16  # of a score: by itself, and in a lane
PLACE_BYTES = 3  # of a place of a pattern for each letter: what it takes twice as bytes, and as a bit
LEAST_LETTERS = 1 << 15  # of a thread's records


@dataclass(frozen=True)
class Found:
    """Occurrences of motifs in a set of records.

    Attributes
    ----------
    motif, record : ndarray of int64, shape (occurrences,)
    first, length : ndarray of int64, shape (occurrences,)
        The first letter, counted over all records one after the other, and the number of letters: of the shortest match
        where there are several.
    """

    motif: np.ndarray
    record: np.ndarray
    first: np.ndarray
    length: np.ndarray

    def share(self, values, letters):
        """Return float64 (letters,): each occurrence's value, shared equally by its letters."""
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
    banks : PatternBanks or MatrixBanks
    one_strand : ndarray of bool, shape (motifs,)
        Motifs that occur on the other strand where they occur on the first.
    both_strands : bool
    """

    def __init__(self, alphabet, banks, one_strand, both_strands):
        self.alphabet = alphabet
        self.banks = banks
        self.one_strand = np.ascontiguousarray(one_strand, dtype=np.uint8)
        self.complement = np.array(alphabet.complement_codes) if both_strands else None

    def count(self, X, n_threads=None):
        """Return the Counted of the motifs in `X`; the feature of a motif is its number."""
        start, items = self._scan(X, True, n_threads)
        feature, count = np.ascontiguousarray(items.T)
        return Counted(start, feature, count, len(self.one_strand))

    def find(self, X, n_threads=None):
        """Return the Found of the motifs in `X`."""
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

    def _scan(self, X, counted, n_threads):
        """Return (start, items) as `_scan.scan` does, of parts of the records in threads."""
        threads = available_threads(GIVEN_THREADS.get() or n_threads)
        letters = np.cumsum(X.lengths)
        parts = max(1, min(4 * threads if threads > 1 else 1, int(letters[-1] if len(X) else 0) // LEAST_LETTERS))
        cuts = np.searchsorted(letters, np.linspace(0, letters[-1] if len(X) else 0, parts + 1)[1:-1])
        cuts = np.concatenate(([0], cuts, [len(X)]))

        def work(first, last):
            bounds = X.starts[first:last], X.stops[first:last]
            return _scan.scan(
                self.banks, X.codes, *bounds, self.alphabet.size, self.complement, self.one_strand, counted
            )

        done = in_threads([lambda span=span: work(*span) for span in itertools.pairwise(cuts)], threads)
        numbers = np.concatenate([np.diff(start) for start, _ in done])
        return np.concatenate(([0], np.cumsum(numbers))), np.concatenate([items for _, items in done])

    def _lengths(self, motif, X, record, reverse, starts):
        """Return the letters of a motif's shortest match at each of some starts in one strand of a record."""
        raise NotImplementedError

    def chances(self, shares):
        """Return float64 (motifs,): how likely each is to match at a place among letters with these shares, about."""
        raise NotImplementedError


class PatternScanner(Scanner):
    """Patterns for one alphabet.

    Parameters
    ----------
    patterns : list of Pattern
    alphabet : Alphabet
    both_strands : bool
    """

    def __init__(self, patterns, alphabet, both_strands=False):
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

    def _lengths(self, motif, X, record, reverse, starts):
        pattern = self.patterns[motif]
        if pattern.one_length:
            return pattern.longest
        accepts, optional = self.classes[motif]
        text = np.minimum(X.codes[X.starts[record] : X.stops[record]], self.alphabet.size)
        if reverse:
            text = np.minimum(self.complement[text[::-1]], self.alphabet.size)
        accepts, optional = accepts.astype(np.uint8), optional.astype(np.uint8)
        return _scan.match_lengths(accepts, optional, pattern.at_end, np.ascontiguousarray(text), starts)

    def chances(self, shares):
        """Return Π over the elements, times the ways to choose the lengths of gaps, at most 1."""
        each = np.where(self._accepts[:, -1], 1.0, self._accepts[:, :-1] @ shares)
        with np.errstate(divide="ignore"):  # a letter that does not occur
            logs = np.log(np.where(self._needed, each, 1.0))
        ways = [sum(math.log(element.high - element.low + 1) for element in one.elements) for one in self.patterns]
        return np.exp(np.minimum(np.add.reduceat(logs, self._starts) + ways, 0.0))


class MatrixScanner(Scanner):
    """Weight matrices for one alphabet, each with its threshold.

    Parameters
    ----------
    matrices : list of Matrix
    alphabet : Alphabet
    both_strands : bool
    p_value, score_share : float or None
        One of them decides about the thresholds.
    pseudocount : float

    Attributes
    ----------
    scores : list of ndarray of int64, shape (columns, letters)
    thresholds : list of int
    """

    def __init__(self, matrices, alphabet, both_strands=False, *, p_value=None, score_share=None, pseudocount=1.0):
        check_memory(len(matrices), SCORE_BYTES * sum(matrix.counts.size for matrix in matrices))
        self.scores = [matrix.scores(alphabet, pseudocount) for matrix in matrices]
        backgrounds = [matrix.background_of(alphabet) for matrix in matrices]
        if score_share is None:
            pairs = zip(self.scores, backgrounds, strict=True)
            self.thresholds = [p_value_threshold(*pair, p_value) for pair in pairs]
        else:
            self.thresholds = [share_threshold(scores, score_share) for scores in self.scores]
        self.tails = [tail(*given) for given in zip(self.scores, backgrounds, self.thresholds, strict=True)]
        same = np.zeros(len(matrices), dtype=bool)
        if both_strands:
            other = alphabet.complement_codes[: alphabet.size]
            same[:] = [np.array_equal(scores, scores[::-1, other]) for scores in self.scores]
        super().__init__(alphabet, pack_matrices(self.scores, self.thresholds), same, both_strands)

    def _lengths(self, motif, X, record, reverse, starts):
        return len(self.scores[motif])

    def chances(self, shares):
        """Return the probability of a match under the background."""
        return np.array(self.tails)
