"""Rules for the features of a window: similar k-mers, k-mers likely under a profile, or k-mers contained with gaps.

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
from seqkern.kernels.products.product import Counts
from seqkern.sequences.sequence_set import SequenceSet

GUESSED_WINDOWS, WAYS = 2048, 8
LEAST_WINDOWS = 4096  # whose features a thread lists
PLACE_BYTES = 4
NO_COSTS = np.zeros((0, 0), dtype=np.int64), np.zeros((0, 0), dtype=np.uint8), np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Rule:
    """The rule for which features of k residues a window of `length` residues counts for."""

    length: int  # Residues of a window
    k: int  # Residues of a feature
    size: int  # Letters of the alphabet
    compiled: _trie.Rule  # The compiled rule

    @property
    def space(self) -> int:
        """Number of possible features."""
        return self.size**self.k

    def guess(self, residues: npt.NDArray[np.uint8]) -> float:
        """Return the approximate mean number of features of the given windows."""
        some = residues[:: max(1, len(residues) // GUESSED_WINDOWS)]
        return _trie.guess(self.compiled, np.ascontiguousarray(some), WAYS)


def cost_rule(costs: npt.NDArray[np.int64], k: int, limit: int) -> Rule:
    """Return the Rule by which k-mers a count for the k-mers u with Σ_i costs[a_i, u_i] < limit.

    Costs are integers, so that sums are exact in any order.
    """
    return Rule(k, k, len(costs), _trie.Rule(k, k, len(costs), *_ascending(costs), limit))


def place_rule(costs: npt.NDArray[np.int64], k: int, limit: int) -> Rule:
    """Return the Rule of positions that count for the k-mers u with Σ_i costs[place + i, u_i] < limit."""
    size = costs.shape[1]
    return Rule(k, k, size, _trie.Rule(PLACE_BYTES, k, size, *_ascending(costs), limit, True))


def _ascending(
    costs: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Return the costs of each row, ascending and less the minimum; the corresponding letters; the minimum."""
    order = np.argsort(costs, axis=1, kind="stable")
    costs = np.take_along_axis(costs, order, axis=1)
    least = costs[:, 0].copy()
    costs -= least[:, None]
    return costs, order.astype(np.uint8), least


def mismatch_rule(size: int, k: int, m: int) -> Rule:
    """Return the Rule by which k-mers count for all k-mers within `m` mismatches."""
    return cost_rule(1 - np.eye(size, dtype=np.int64), k, m + 1)


def subsequence_rule(size: int, g: int, k: int) -> Rule:
    """Return the Rule by which g-mers count for the k-mers left after deleting g − k residues."""
    return Rule(g, k, size, _trie.Rule(g, k, size, *NO_COSTS, 0))


@dataclass(frozen=True)
class Windows:
    """The distinct windows of n records.

    `label` is the index of each window in `residues` (distinct windows, length); the windows of record i are
    ``start[i]``
    to ``start[i + 1]``. If windows are positions, `residues` holds the bytes of their int32 numbers.
    """

    # shape (distinct windows, length): The codes of the residues; if windows are positions, the bytes of their numbers,
    # int32
    residues: npt.NDArray[np.uint8]
    # shape (windows,): The place of each window in `residues`; with both strands, one after the other
    label: npt.NDArray[np.int32]
    start: npt.NDArray[np.int64]  # shape (n + 1,): The windows of record i are ``start[i]`` to ``start[i + 1]``

    @classmethod
    def of(cls, X: SequenceSet, length: int, strands: Literal["one", "both"] = "one") -> Self:
        """Return the windows of a set."""
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
        """Return the windows of a set by position, each distinct; `residues` holds their starts over all records."""
        places = find_windows(X, k).astype(np.int32)
        if len(places) > MOST_CODES:
            raise SequenceError(
                f"{len(places)} windows are too many for one matrix",
                remedy="compute the matrix for fewer sequences at a time",
            )
        start = np.searchsorted(places, np.concatenate(([0], np.cumsum(X.lengths))))
        return cls(places.view(np.uint8).reshape(-1, PLACE_BYTES), np.arange(len(places), dtype=np.int32), start)

    def count(self) -> Counted:
        """Return the counts of each window in each record; a feature is an index into `residues`."""
        labels = self.label.astype(np.uint32).reshape(1, -1)
        return Occurrences(labels, self.start, max(1, len(self.residues))).count()


@dataclass(frozen=True)
class Lists:
    """Lists of the features of windows.

    The features of window w are ``feature[start[w]:start[w + 1]]``; `vocabulary` is as in `Counted`.
    """

    start: npt.NDArray[np.int64]  # shape (windows + 1,): Those of window w are ``feature[start[w]:start[w + 1]]``
    feature: npt.NDArray[np.int32]  # The features, window after window
    n_features: int  # How many features there are
    vocabulary: npt.NDArray[Any] | None  # shape (n_features,): As in `Counted`

    @classmethod
    def of(cls, rule: Rule, residues: npt.NDArray[np.uint8], ranked: bool = True) -> Self:
        """Return the feature lists of windows; if `ranked`, only occurring features are numbered when there are
        many.
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
        """Return the count of each feature in each record, from the counts of windows."""
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
        """Add the counts of each feature to `tables`; see `seqkern.kernels.products.product.Tally`."""
        _trie.tally_lists(windows.start, windows.feature, windows.count, self.start, self.feature, row, tables)


def decode(codes: npt.NDArray[np.integer[Any]], length: int, size: int) -> npt.NDArray[np.uint8]:
    """Return the residues of k-mers, shape (n, length), from their codes."""
    residues = np.empty((len(codes), length), dtype=np.uint8)
    rest = np.asarray(codes, dtype=np.uint64)
    for place in reversed(range(length)):
        rest, residues[:, place] = np.divmod(rest, np.uint64(size))
    return residues
