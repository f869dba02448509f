"""Rules for the features of a window: near k-mers, k-mers likely under a profile, or k-mers contained with gaps.

The windows of a record are those of `length` unmasked residues; a *feature* is any k-mer. A window counts for a
feature at most once.
"""

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.core.threads import in_spans
from seqkern.kernels.kmer import _trie
from seqkern.kernels.kmer.kmers import (
    MOST_CODES,
    SMALL_SPACE,
    Counted,
    Occurrences,
    code_type,
    find_kmers,
    find_windows,
    rank_codes,
)
from seqkern.kernels.products.dense import Counts
from seqkern.sequences.sequence_set import SequenceSet

GUESSED_WINDOWS, WAYS = 2048, 8
LEAST_WINDOWS = 4096  # whose features a thread lists
PLACE_BYTES = 4
NO_COSTS = np.zeros((0, 0), dtype=np.int64), np.zeros((0, 0), dtype=np.uint8), np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Rule:
    """Which features a window counts for.

    Attributes
    ----------
    length : int
        Residues of a window.
    k : int
        Residues of a feature.
    size : int
        Letters of the alphabet.
    compiled : _trie.Rule
        The compiled rule.
    """

    length: int
    k: int
    size: int
    compiled: _trie.Rule

    @property
    def space(self) -> int:
        """How many features there are."""
        return self.size**self.k

    def guess(self, residues: npt.NDArray[np.uint8]) -> float:
        """Estimate the number of features of a window.

        Parameters
        ----------
        residues : ndarray of uint8, shape (windows, length)
            Some windows, as in `Windows`.

        Returns
        -------
        float
            Approximate mean over these windows.
        """
        some = residues[:: max(1, len(residues) // GUESSED_WINDOWS)]
        return _trie.guess(self.compiled, np.ascontiguousarray(some), WAYS)


def cost_rule(costs: npt.NDArray[np.int64], k: int, limit: int) -> Rule:
    """Return the Rule of k-mers a that count for the k-mers u with Σ_i costs[a_i, u_i] < limit.

    Parameters
    ----------
    costs : ndarray of int64, shape (size, size)
        Integers, so that sums are exact in any order; k times the largest is below 2^63.
    k : int
        Length of the k-mers.
    limit : int
        The smallest sum that does not count.

    Returns
    -------
    Rule
    """
    return Rule(k, k, len(costs), _trie.Rule(k, k, len(costs), *_ascending(costs), limit))


def place_rule(costs: npt.NDArray[np.int64], k: int, limit: int) -> Rule:
    """Return the Rule of positions that count for the k-mers u with Σ_i costs[place + i, u_i] < limit.

    Parameters
    ----------
    costs : ndarray of int64, shape (places, size)
        As in `cost_rule`, one row for each residue of all records.
    k : int
        Length of the k-mers.
    limit : int
        The smallest sum that does not count.

    Returns
    -------
    Rule
    """
    size = costs.shape[1]
    return Rule(k, k, size, _trie.Rule(PLACE_BYTES, k, size, *_ascending(costs), limit, True))


def _ascending(
    costs: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Return the costs of each row, ascending and less the smallest; the letters that have them; the smallest."""
    order = np.argsort(costs, axis=1, kind="stable")
    costs = np.take_along_axis(costs, order, axis=1)
    least = costs[:, 0].copy()
    costs -= least[:, None]
    return costs, order.astype(np.uint8), least


def mismatch_rule(size: int, k: int, m: int) -> Rule:
    """Return the Rule of k-mers that count for the k-mers with at most `m` mismatches.

    Parameters
    ----------
    size : int
        Letters of the alphabet.
    k, m : int
        Length of the k-mers, and mismatches allowed.

    Returns
    -------
    Rule
    """
    return cost_rule(1 - np.eye(size, dtype=np.int64), k, m + 1)


def subsequence_rule(size: int, g: int, k: int) -> Rule:
    """Return the Rule of g-mers that count for the k-mers left after deleting g − k residues.

    Parameters
    ----------
    size : int
        Letters of the alphabet.
    g, k : int
        Residues of a window, and of a feature.

    Returns
    -------
    Rule
    """
    return Rule(g, k, size, _trie.Rule(g, k, size, *NO_COSTS, 0))


@dataclass(frozen=True)
class Windows:
    """The distinct windows of n records.

    Attributes
    ----------
    residues : ndarray of uint8, shape (distinct windows, length)
        The codes of the residues; if windows are positions, the bytes of their numbers, int32.
    label : ndarray of int32, shape (windows,)
        The place of each window in `residues`; with both strands, one after the other.
    start : ndarray of int64, shape (n + 1,)
        The windows of record i are ``start[i]`` to ``start[i + 1]``.
    """

    residues: npt.NDArray[np.uint8]
    label: npt.NDArray[np.int32]
    start: npt.NDArray[np.int64]

    @classmethod
    def of(cls, X: SequenceSet, length: int, strands: Literal["one", "both"] = "one") -> Self:
        """Return the windows of a set.

        Parameters
        ----------
        X : SequenceSet
            The n records.
        length : int
            Residues in a window; masked residues are in none.
        strands : {"one", "both"}
            Whether the reverse complement of each window counts as another window.

        Returns
        -------
        Windows

        Raises
        ------
        SequenceError
            If there are too many.
        """
        found = find_kmers(X, length, strands=strands)
        codes = found.codes[0]
        if len(codes) > MOST_CODES:
            raise SequenceError(
                f"{len(codes)} k-mers are too many for one matrix",
                remedy="compute the matrix for fewer sequences at a time",
            )
        labels: npt.NDArray[Any]
        distinct: npt.NDArray[Any]
        if found.space > 2 * len(codes) + SMALL_SPACE:
            labels, distinct = rank_codes(codes)
        else:
            used = np.zeros(found.space, dtype=bool)
            used[codes] = True
            labels, distinct = (np.cumsum(used, dtype=np.int32) - 1)[codes], np.flatnonzero(used)
        return cls(decode(distinct, length, X.alphabet.size), labels.astype(np.int32), found.start)

    @classmethod
    def of_places(cls, X: SequenceSet, k: int) -> Self:
        """Return the windows of a set by position, each distinct.

        Parameters
        ----------
        X : SequenceSet
            The n records.
        k : int
            Residues in a window; masked residues are in none.

        Returns
        -------
        Windows
            `residues` holds their starts, counted over all records.

        Raises
        ------
        SequenceError
            If there are too many.
        """
        places = find_windows(X, k).astype(np.int32)
        if len(places) > MOST_CODES:
            raise SequenceError(
                f"{len(places)} windows are too many for one matrix",
                remedy="compute the matrix for fewer sequences at a time",
            )
        start = np.searchsorted(places, np.concatenate(([0], np.cumsum(X.lengths))))
        return cls(places.view(np.uint8).reshape(-1, PLACE_BYTES), np.arange(len(places), dtype=np.int32), start)

    def count(self) -> Counted:
        """Return how often each window occurs in each record: a feature is a place in `residues`."""
        labels = self.label.astype(np.uint32).reshape(1, -1)
        return Occurrences(labels, self.start, max(1, len(self.residues))).count()


@dataclass(frozen=True)
class Lists:
    """The features of windows.

    Attributes
    ----------
    start : ndarray of int64, shape (windows + 1,)
        Those of window w are ``feature[start[w]:start[w + 1]]``.
    feature : ndarray of int32
        The features, window after window.
    n_features : int
        How many features there are.
    vocabulary : ndarray of uint32 or uint64, shape (n_features,), or None
        As in `Counted`.
    """

    start: npt.NDArray[np.int64]
    feature: npt.NDArray[np.int32]
    n_features: int
    vocabulary: npt.NDArray[Any] | None

    @classmethod
    def of(cls, rule: Rule, residues: npt.NDArray[np.uint8], ranked: bool = True) -> Self:
        """List the features of windows.

        Parameters
        ----------
        rule : Rule
            Which features a window counts for.
        residues : ndarray of uint8, shape (windows, length)
            As in `Windows`.
        ranked : bool
            Whether to number only the features that occur, if there are many; else each is its own code.

        Returns
        -------
        Lists

        Raises
        ------
        SequenceError
            If the lists are too long.
        """
        numbers = np.zeros(len(residues), dtype=np.int64)
        guessed = rule.guess(residues) * len(residues)
        if guessed <= MOST_CODES:
            in_spans(lambda a, b: _trie.count(rule.compiled, residues[a:b], numbers[a:b]), len(residues), LEAST_WINDOWS)
            guessed = int(numbers.sum())
        if guessed > MOST_CODES:
            raise SequenceError(
                f"{len(residues)} k-mers with {guessed / len(residues):.2g} features each are too many to list",
                remedy="choose algorithm=trie, parameters that give each k-mer fewer features, or fewer sequences",
            )
        total = int(numbers.sum())
        codes = np.empty(total, dtype=np.uint64)
        start = np.concatenate(([0], np.cumsum(numbers)))

        def write(first: int, last: int) -> None:
            _trie.write_lists(rule.compiled, residues[first:last], codes[start[first] : start[last]])

        in_spans(write, len(residues), LEAST_WINDOWS)
        if not ranked or rule.space <= 2 * total + SMALL_SPACE:
            return cls(start, codes.astype(np.int32), rule.space, None)
        ranks, vocabulary = rank_codes(codes.astype(code_type(rule.space)))
        return cls(start, ranks.astype(np.int32), len(vocabulary), vocabulary)

    @property
    def codes(self) -> npt.NDArray[np.uint64]:
        """The code of each feature, ascending."""
        codes = np.arange(self.n_features) if self.vocabulary is None else self.vocabulary
        return codes.astype(np.uint64)

    def count(self, windows: Counted) -> Counted:
        """Return how often each feature occurs in each record.

        Parameters
        ----------
        windows : Counted
            Counts of the windows, from `Windows.count`.

        Returns
        -------
        Counted

        Raises
        ------
        SequenceError
            If there are too many.
        """
        most = int(np.diff(self.start)[windows.feature].sum())
        if most > MOST_CODES:
            raise SequenceError(f"{most} features are too many for one matrix", remedy="choose algorithm=trie")
        slot = np.full(self.n_features, -1, dtype=np.int32)
        start = np.empty(len(windows) + 1, dtype=np.int64)
        feature, count = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
        lists = self.start, self.feature
        entries = _trie.count_lists(windows.start, windows.feature, windows.count, *lists, slot, start, feature, count)
        return Counted(start, feature[:entries], count[:entries], self.n_features, self.vocabulary)

    def tally(self, windows: Counted, row: int, tables: Counts) -> None:
        """Add how often each feature occurs; see `seqkern.kernels.products.dense.Tally`.

        Parameters
        ----------
        windows : Counted
            How often each window occurs in each record, from `Windows.count`.
        row : int
            The first record.
        tables : ndarray, shape (panels, n_features, 16)
            Changed.
        """
        _trie.tally_lists(windows.start, windows.feature, windows.count, self.start, self.feature, row, tables)


def decode(codes: npt.NDArray[np.integer[Any]], length: int, size: int) -> npt.NDArray[np.uint8]:
    """Return the residues of k-mers from their codes.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        As `seqkern.kernels.kmer.kmers` has them.
    length : int
        Length of the k-mers.
    size : int
        Letters of the alphabet.

    Returns
    -------
    ndarray of uint8, shape (n, length)
        Codes of single letters.
    """
    residues = np.empty((len(codes), length), dtype=np.uint8)
    rest = np.asarray(codes, dtype=np.uint64)
    for place in reversed(range(length)):
        rest, residues[:, place] = np.divmod(rest, np.uint64(size))
    return residues
