"""Rules by which a word counts for features: those near enough to it, or to a profile, or those it holds with letters
left out.

The *words* of a record are its windows of `length` unmasked letters; a *feature* is any k-mer. A word counts for a
feature at most once.
"""

from dataclasses import dataclass

import numpy as np

from seqkern.core.errors import SequenceError
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

GUESSED_WORDS, WAYS = 2048, 8
PLACE_BYTES = 4
NO_COSTS = np.zeros((0, 0), dtype=np.int64), np.zeros((0, 0), dtype=np.uint8), np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Rule:
    """Which features a word counts for.

    Attributes
    ----------
    length : int
        Letters of a word.
    k : int
        Letters of a feature.
    size : int
        Letters of the alphabet.
    compiled : _trie.Rule
    """

    length: int
    k: int
    size: int
    compiled: object

    @property
    def space(self):
        """How many features there are."""
        return self.size**self.k

    def guess(self, letters):
        """Return about how many features a word counts for, on average; `letters` as in `Words`."""
        some = letters[:: max(1, len(letters) // GUESSED_WORDS)]
        return _trie.guess(self.compiled, np.ascontiguousarray(some), WAYS)


def cost_rule(costs, k, limit):
    """Return the Rule of k-mers a that count for the k-mers u with Σ_i costs[a_i, u_i] < limit.

    Parameters
    ----------
    costs : ndarray of int64, shape (size, size)
        Integers, so that sums are exact in whatever order they are made; k · their largest is below 2^63.
    k, limit : int
    """
    return Rule(k, k, len(costs), _trie.Rule(k, k, len(costs), *_ascending(costs), limit))


def place_rule(costs, k, limit):
    """Return the Rule of places that count for the k-mers u with Σ_i costs[place + i, u_i] < limit.

    Parameters
    ----------
    costs : ndarray of int64, shape (places, size)
        As in `cost_rule`.
    k, limit : int
    """
    size = costs.shape[1]
    return Rule(k, k, size, _trie.Rule(PLACE_BYTES, k, size, *_ascending(costs), limit, True))


def _ascending(costs):
    """Return the costs of each row, ascending and less the smallest; the letters that have them; the smallest."""
    order = np.argsort(costs, axis=1, kind="stable")
    costs = np.take_along_axis(costs, order, axis=1)
    least = costs[:, 0].copy()
    costs -= least[:, None]
    return costs, order.astype(np.uint8), least


def mismatch_rule(size, k, m):
    """Return the Rule of k-mers that count for the k-mers with at most `m` other letters."""
    return cost_rule(1 - np.eye(size, dtype=np.int64), k, m + 1)


def subsequence_rule(size, g, k):
    """Return the Rule of g-mers that count for the k-mers that are left when g − k of their letters are left out."""
    return Rule(g, k, size, _trie.Rule(g, k, size, *NO_COSTS, 0))


@dataclass(frozen=True)
class Words:
    """The words of n records.

    Attributes
    ----------
    letters : ndarray of uint8, shape (distinct words, length)
        Where words are places, the bytes of their numbers, int32.
    label : ndarray of int32, shape (windows,)
        The place in `letters` of the word of each window; of both strands, one after the other.
    start : ndarray of int64, shape (n + 1,)
        The windows of record i are ``start[i]`` to ``start[i + 1]``.
    """

    letters: np.ndarray
    label: np.ndarray
    start: np.ndarray

    @classmethod
    def of(cls, X, length, strands="one"):
        """Return the words of `length` letters of `X`; `strands` as in `find_kmers`."""
        found = find_kmers(X, length, strands=strands)
        codes = found.codes[0]
        if len(codes) > MOST_CODES:
            raise SequenceError(f"{len(codes)} words are too many for one matrix", remedy="divide the sequences")
        if found.space > 2 * len(codes) + SMALL_SPACE:
            labels, distinct = rank_codes(codes)
        else:
            used = np.zeros(found.space, dtype=bool)
            used[codes] = True
            labels, distinct = (np.cumsum(used, dtype=np.int32) - 1)[codes], np.flatnonzero(used)
        return cls(as_letters(distinct, length, X.alphabet.size), labels.astype(np.int32), found.start)

    @classmethod
    def of_places(cls, X, k):
        """Return the places, counted over all records, that a window of `k` unmasked letters starts at."""
        places = find_windows(X, k).astype(np.int32)
        if len(places) > MOST_CODES:
            raise SequenceError(f"{len(places)} windows are too many for one matrix", remedy="divide the sequences")
        start = np.searchsorted(places, np.concatenate(([0], np.cumsum(X.lengths))))
        return cls(places.view(np.uint8).reshape(-1, PLACE_BYTES), np.arange(len(places), dtype=np.int32), start)

    def count(self):
        """Return the Counted of the words of each record: a feature is a place in `letters`."""
        labels = self.label.astype(np.uint32).reshape(1, -1)
        return Occurrences(labels, self.start, max(1, len(self.letters))).count()


@dataclass(frozen=True)
class Lists:
    """The features that words count for.

    Attributes
    ----------
    start : ndarray of int64, shape (words + 1,)
        Those of word w are ``feature[start[w]:start[w + 1]]``.
    feature : ndarray of int32
    n_features : int
    vocabulary : ndarray of uint32 or uint64, shape (n_features,), or None
        As in `Counted`.
    """

    start: np.ndarray
    feature: np.ndarray
    n_features: int
    vocabulary: np.ndarray | None

    @classmethod
    def of(cls, rule, letters, ranked=True):
        """Return the Lists of words; `letters` as in `Words`. Unless `ranked`, every feature is its own code.

        Raises
        ------
        SequenceError
            If they are too long.
        """
        numbers = np.zeros(len(letters), dtype=np.int64)
        total = rule.guess(letters) * len(letters)
        if total <= MOST_CODES:
            _trie.count(rule.compiled, letters, numbers)
            total = int(numbers.sum())
        if total > MOST_CODES:
            raise SequenceError(
                f"{len(letters)} words with {total / len(letters):.2g} features each are too many to be listed",
                remedy="choose algorithm=trie, parameters that let a word have fewer features, or divide the sequences",
            )
        codes = np.empty(total, dtype=np.uint64)
        _trie.write_lists(rule.compiled, letters, codes)
        start = np.concatenate(([0], np.cumsum(numbers)))
        if not ranked or rule.space <= 2 * total + SMALL_SPACE:
            return cls(start, codes.astype(np.int32), rule.space, None)
        ranks, vocabulary = rank_codes(codes.astype(code_type(rule.space)))
        return cls(start, ranks.astype(np.int32), len(vocabulary), vocabulary)

    @property
    def codes(self):
        """The code of each feature, uint64, ascending."""
        codes = np.arange(self.n_features) if self.vocabulary is None else self.vocabulary
        return codes.astype(np.uint64)

    def count(self, words):
        """Return the Counted of the features of each record; `words` is the Counted of its words."""
        most = int(np.diff(self.start)[words.feature].sum())
        if most > MOST_CODES:
            raise SequenceError(f"{most} features are too many for one matrix", remedy="choose algorithm=trie")
        slot = np.full(self.n_features, -1, dtype=np.int32)
        start = np.empty(len(words) + 1, dtype=np.int64)
        feature, count = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
        lists = self.start, self.feature
        entries = _trie.count_lists(words.start, words.feature, words.count, *lists, slot, start, feature, count)
        return Counted(start, feature[:entries], count[:entries], self.n_features, self.vocabulary)

    def tally(self, words, row, counts):
        """Write to `counts`, int32 (rows, n_features), how often each feature occurs in the records from `row` on."""
        _trie.tally_lists(words.start, words.feature, words.count, self.start, self.feature, row, counts)


def as_letters(codes, length, size):
    """Return uint8 (codes, length): the letters of words, as places in the alphabet, from their codes."""
    letters = np.empty((len(codes), length), dtype=np.uint8)
    rest = np.asarray(codes, dtype=np.uint64)
    for place in reversed(range(length)):
        rest, letters[:, place] = np.divmod(rest, np.uint64(size))
    return letters
