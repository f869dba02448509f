"""The k-mers of a sequence set as integers, and their counts.

A k-mer a_1…a_k over b letters has the code Σ a_i·b^(k−i), an unsigned integer; codes sort as their k-mers do.
A window with a masked residue contains no k-mer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Self, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError, ShortError
from seqkern.core.threads import in_spans
from seqkern.core.types import Array, Floats, Ints
from seqkern.kernels.kmer import _kmers, _trie
from seqkern.kernels.products.product import Counts
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet

CODE_LIMIT = 2**63
DIGIT_BITS = 12
SMALL_SPACE = 1 << 16
MOST_CODES = 2**31 - 1
LEAST_RECORDS = 2048  # whose k-mers a thread codes
NO_COMPLEMENT = np.zeros(0, dtype=np.uint8)

Codes = npt.NDArray[np.uint32 | np.uint64]
SmallCodes = npt.NDArray[np.uint32]
Strands = Literal["one", "canonical", "both"]


@dataclass(frozen=True)
class Counted:
    """Counts of each feature in each record, as compressed rows.

    The entries of record i are ``start[i]`` to ``start[i + 1]``. `vocabulary` is the code (or text) of each feature,
    ascending; None where a feature is its own code.
    """

    start: Ints  # shape (n + 1,): The entries of record i are ``start[i]`` to ``start[i + 1]``
    feature: npt.NDArray[np.int32]  # shape (entries,): The feature of each entry, and how often it occurs
    count: npt.NDArray[np.int32]  # shape (entries,): The feature of each entry, and how often it occurs
    n_features: int  # How many features there are
    # shape (n_features,): The code (or text) of each feature, ascending; None where a feature is its own code
    vocabulary: Array | None = None

    def __len__(self) -> int:
        return len(self.start) - 1

    def once(self, presence: bool) -> Self:
        """Return these counts, with `presence` all set to 1."""
        if presence:
            self.count[:] = 1
        return self


@dataclass(frozen=True)
class Occurrences:
    """The codes of all windows of all records, for one or several subsets of a window's positions.

    `codes` has shape (subsets, windows); the windows of record i are the columns ``start[i]`` to ``start[i + 1]``.
    """

    codes: Codes  # shape (subsets, windows): All below `space`
    # shape (n + 1,): The windows of record i are the columns ``start[i]`` to ``start[i + 1]``
    start: Ints
    space: int  # How many codes there can be

    def __len__(self) -> int:
        return len(self.start) - 1

    def count(self, weights: Ints | None = None) -> Counted:
        """Return the count of each code in each record; codes of a large space are sorted and replaced by their
        ranks.
        """
        if self.codes.size > MOST_CODES:
            raise SequenceError(
                f"{self.codes.size} k-mers are too many for one matrix",
                remedy="compute the matrix for fewer sequences at a time",
            )
        if weights is not None and len(self.codes) * int(_sums(weights, self.start).max(initial=0)) > MOST_CODES:
            raise SequenceError(
                "the window weights are too large for exact sums", remedy="cut the sequences into shorter parts"
            )
        # Codes that are not ranked are below 2^32, and so uint32.
        codes, n_features, vocabulary = cast(SmallCodes, self.codes), self.space, None
        if self.space > 2 * self.codes.size + SMALL_SPACE:
            ranks, vocabulary = rank_codes(self.codes.reshape(-1))
            codes, n_features = ranks.reshape(self.codes.shape), len(vocabulary)
        slot = np.full(n_features, -1, dtype=np.int32)
        start = np.empty(len(self) + 1, dtype=np.int64)
        most = int(np.minimum(len(codes) * np.diff(self.start), n_features).sum())
        feature, count = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
        each = None if weights is None else weights.astype(np.int32)
        entries = _kmers.count_rows(codes, self.start, slot, start, feature, count, each)
        return Counted(start, feature[:entries], count[:entries], n_features, vocabulary)

    @property
    def most(self) -> int:
        """The largest number of codes of a record."""
        return len(self.codes) * int(np.diff(self.start).max(initial=0))

    def tally(self, row: int, tables: Counts) -> None:
        """Add the counts of each code to `tables`; see `seqkern.kernels.products.product.Tally`."""
        _kmers.tally(cast(SmallCodes, self.codes), self.start, row, tables)


def codes_fit(size: int, k: int) -> bool:
    """Return whether every k-mer fits into 64 bits."""
    return size ** min(k, 64) < CODE_LIMIT  # a mistakenly huge k would take hours


def check_code_space(size: int, k: int, name: str = "k") -> None:
    """Raise ParameterError unless every k-mer fits into 64 bits."""
    if not codes_fit(size, k):
        largest = next(n for n in range(64, -1, -1) if codes_fit(size, n))
        raise ParameterError(
            f"{name}={k} is too large for an alphabet of {size} letters", remedy=f"choose {name} up to {largest}"
        )


def check_lengths(X: SequenceSet, k: int, name: str = "k") -> None:
    """Raise ShortError for the first record with fewer than `k` residues."""
    short = np.flatnonzero(X.lengths < k)
    if len(short):
        remedy = f"remove the record, choose a smaller {name}, or short=zero"
        if len(short) == len(X) > 1:
            longest = f"all {len(X)} sequences are too short, the longest has {X.lengths.max()}"
            remedy = f"choose a smaller {name} ({longest}), or short=zero"
        letters = residue_count_text(X.lengths[short[0]])
        raise ShortError(f"{letters} fewer than {name}={k}", record=X.ids[short[0]], remedy=remedy)


def residue_count_text(number: int) -> str:
    """Return the beginning of a message on a short record: ``"2 residues are"``, ``"1 residue is"``."""
    return f"{number} residue is" if number == 1 else f"{number} residues are"


def per_record(numbers: Ints) -> Ints:
    """Return the bounds of each record's items, shape (n + 1,), from the numbers of items."""
    start = np.zeros(len(numbers) + 1, dtype=np.int64)
    np.cumsum(numbers, out=start[1:])
    return start


def _sums(weights: Ints, start: Ints) -> Ints:
    """Return the sum of each record's weights."""
    return np.diff(np.concatenate(([0], np.cumsum(weights)))[start])


def find_kmers(
    X: SequenceSet,
    k: int,
    subsets: Sequence[tuple[int, ...]] | None = None,
    strands: Strands = "one",
    numbers: Sequence[int] | Ints | None = None,
) -> Occurrences:
    """Return the codes of every window of `k` unmasked residues of every record, one row for each position subset.

    `strands` selects the windows themselves, the smaller of each and its reverse complement, or both. The codes of a
    subset start at number · b^size: subsets with the same number share their features.
    """
    subsets = [tuple(range(k))] if subsets is None else subsets
    numbers = range(len(subsets)) if numbers is None else numbers
    size = X.alphabet.size
    space_of_one = size ** len(subsets[0])
    space = space_of_one * (int(numbers[-1]) + 1)
    windows = np.empty(len(X), dtype=np.int64)
    _kmers.count_windows(X.codes, X.starts, X.stops, k, size, False, windows)
    start = per_record(2 * windows if strands == "both" else windows)
    codes = np.empty((len(subsets), start[-1]), dtype=code_type(space))
    complement = NO_COMPLEMENT if strands == "one" else X.alphabet.complement_codes

    def code(first: int, last: int) -> None:
        part = slice(start[first], start[last])
        for row, (positions, number) in enumerate(zip(subsets, numbers, strict=True)):
            _kmers.code_windows(
                X.codes,
                X.starts[first:last],
                X.stops[first:last],
                k,
                size,
                np.array(positions, dtype=np.int64),
                complement,
                strands == "canonical",
                strands == "both",
                int(number) * space_of_one,
                codes[row, part],
            )

    in_spans(code, len(X), LEAST_RECORDS)
    return Occurrences(codes, start, space)


def find_windows(X: SequenceSet, k: int) -> Ints:
    """Return the starts of the windows of `k` unmasked residues, in the order of `find_kmers`.

    A start is an index into the residues of all records, concatenated as in `SequenceSet.positions`.
    """
    good = X.codes[X.positions()] < X.alphabet.size
    run = np.concatenate(([0], np.cumsum(good)))
    whole = np.zeros(len(good), dtype=bool)
    whole[: max(0, len(good) - k + 1)] = run[k:] - run[:-k] == k
    ends = np.cumsum(X.lengths)
    whole &= np.repeat(ends, X.lengths) - np.arange(len(good)) >= k
    return np.flatnonzero(whole)


def code_type(space: int) -> type[np.uint32] | type[np.uint64]:
    """Return the dtype of codes below `space`."""
    return np.uint32 if space <= 2**32 else np.uint64


def rank_codes(codes: Codes) -> tuple[npt.NDArray[np.uint32], Codes]:
    """Return the rank of each code among the distinct codes, and the distinct codes, ascending."""
    bits = int(codes.max()).bit_length() if len(codes) else 0
    passes = max(1, -(-bits // DIGIT_BITS))
    digit_bits = -(-bits // passes)
    pairs = codes.copy(), np.arange(len(codes), dtype=np.int32)
    spare = np.empty_like(codes), np.empty(len(codes), dtype=np.int32)
    _kmers.radix_sort(*pairs, *spare, np.empty(1 << digit_bits, dtype=np.int64), digit_bits, passes)
    codes, places = spare if passes % 2 else pairs
    ranks = np.empty(len(codes), dtype=np.uint32)
    distinct = _kmers.rank_sorted(codes, places, ranks)
    return ranks, codes[:distinct].copy()


# K-mers too long for 64-bit codes, as text, and their counts.


@dataclass(frozen=True)
class WideOccurrences:
    """The k-mers in all windows of all records, as text: the codes of the residues, one byte each.

    Codes count from 1, because trailing zeros are lost. The windows of record i are ``start[i]`` to ``start[i + 1]``.
    """

    texts: npt.NDArray[np.bytes_]  # shape (windows,): Codes count from 1, because trailing zeros are lost
    start: Ints  # shape (n + 1,): The windows of record i are ``start[i]`` to ``start[i + 1]``

    def count(self) -> Counted:
        """Return the counts of these k-mers; the vocabulary holds the texts."""
        vocabulary, ranks = np.unique(self.texts, return_inverse=True)
        counted = Occurrences(ranks.astype(np.uint32).reshape(1, -1), self.start, max(1, len(vocabulary))).count()
        return Counted(counted.start, counted.feature, counted.count, len(vocabulary), vocabulary)


def find_wide_kmers(X: SequenceSet, k: int, canonical: bool = False) -> WideOccurrences:
    """Return every window of `k` unmasked residues of every record, as text."""
    windows = np.empty(len(X), dtype=np.int64)
    _kmers.count_windows(X.codes, X.starts, X.stops, k, X.alphabet.size, False, windows)
    codes = X.codes[X.positions()]
    texts = _as_texts(codes, find_windows(X, k), k)
    if canonical:
        reverse = _as_texts(X.alphabet.complement_codes[codes[::-1]], len(codes) - k - find_windows(X, k), k)
        texts = np.where(reverse < texts, reverse, texts)
    return WideOccurrences(texts, per_record(windows))


def _as_texts(codes: npt.NDArray[np.uint8], starts: Ints, k: int) -> npt.NDArray[np.bytes_]:
    """Return the `k` codes from each start as bytes (``S``)."""
    if not len(starts):
        return np.zeros(0, dtype=f"S{k}")
    view = np.lib.stride_tricks.sliding_window_view(codes + np.uint8(1), k)
    return np.ascontiguousarray(view[starts]).view(f"S{k}").reshape(-1)


# Strand-symmetric tables over all k-mers, stored with one entry for each k-mer and its reverse complement.


def reverse_complements(alphabet: Alphabet, length: int) -> Ints:
    """Return the code of the reverse complement of each k-mer.

    >>> from seqkern.sequences.alphabets import DNA
    >>> reverse_complements(DNA, 2)[:6].tolist()
    [15, 11, 7, 3, 14, 10]
    """
    size = alphabet.size
    complement = alphabet.complement_codes[:size].astype(np.int64)
    codes = np.zeros(1, dtype=np.int64)
    for place in range(length):
        # the new letter comes first, so its complement comes last
        codes = (complement[:, None] + size * codes * (place > 0)).reshape(-1)
    return codes


@lru_cache(maxsize=2)
def first_of_pairs(alphabet: Alphabet, length: int) -> Ints:
    """Return the codes of the k-mers that do not come after their reverse complement, ascending."""
    codes = np.arange(alphabet.size**length)
    return codes[codes <= reverse_complements(alphabet, length)]


def unfold(folded: npt.NDArray[np.float32 | np.float64], alphabet: Alphabet, length: int) -> Floats:
    """Return a strand-symmetric table over all k-mers from the entries of `first_of_pairs`.

    >>> from seqkern.sequences.alphabets import DNA
    >>> unfold(np.array([3.0, 5.0]), DNA, 1)
    array([3., 5., 5., 3.])
    """
    first, other = first_of_pairs(alphabet, length), reverse_complements(alphabet, length)
    table = np.empty(len(other))
    table[first] = folded
    table[other[first]] = folded
    return table


# Rules for the features of a window: similar k-mers, k-mers likely under a profile, or k-mers contained with gaps.
#
# The windows of a record are those of `length` unmasked residues; a *feature* is any k-mer. A window counts for a
# feature at most once.

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


def cost_rule(costs: Ints, k: int, limit: int) -> Rule:
    """Return the Rule for k-mers a that count for the k-mers u with Σ_i costs[a_i, u_i] < limit.

    Costs are integers, so that sums are exact in any order.
    """
    return Rule(k, k, len(costs), _trie.Rule(k, k, len(costs), *_ascending(costs), limit))


def place_rule(costs: Ints, k: int, limit: int) -> Rule:
    """Return the Rule for positions that count for the k-mers u with Σ_i costs[place + i, u_i] < limit."""
    size = costs.shape[1]
    return Rule(k, k, size, _trie.Rule(PLACE_BYTES, k, size, *_ascending(costs), limit, True))


def _ascending(
    costs: Ints,
) -> tuple[Ints, npt.NDArray[np.uint8], Ints]:
    """Return the costs of each row, ascending and less the minimum; the corresponding letters; the minimum."""
    order = np.argsort(costs, axis=1, kind="stable")
    costs = np.take_along_axis(costs, order, axis=1)
    least = costs[:, 0].copy()
    costs -= least[:, None]
    return costs, order.astype(np.uint8), least


def mismatch_rule(size: int, k: int, m: int) -> Rule:
    """Return the Rule for k-mers that count for all k-mers within `m` mismatches."""
    return cost_rule(1 - np.eye(size, dtype=np.int64), k, m + 1)


def subsequence_rule(size: int, g: int, k: int) -> Rule:
    """Return the Rule for g-mers that count for the k-mers left after deleting g − k residues."""
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
    start: Ints  # shape (n + 1,): The windows of record i are ``start[i]`` to ``start[i + 1]``

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
        labels: Array
        distinct: Array
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

    start: Ints  # shape (windows + 1,): Those of window w are ``feature[start[w]:start[w + 1]]``
    feature: npt.NDArray[np.int32]  # The features, window after window
    n_features: int  # How many features there are
    vocabulary: Array | None  # shape (n_features,): As in `Counted`

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
