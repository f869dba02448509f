"""k-mers of a sequence set as integers, counted.

A k-mer a_1…a_k over b letters has the code Σ a_i·b^(k−i), an unsigned integer; codes sort as their k-mers do.
A window with a masked letter holds no k-mer.
"""

from dataclasses import dataclass

import numpy as np

from seqkern.core.errors import ParameterError, SequenceError, ShortError
from seqkern.kernels.kmer import _kmers

CODE_LIMIT = 2**63
DIGIT_BITS = 12
SMALL_SPACE = 1 << 16
MOST_CODES = 2**31 - 1
NO_COMPLEMENT = np.zeros(0, dtype=np.uint8)


@dataclass(frozen=True)
class Counted:
    """How often each feature occurs in each record, as compressed rows.

    Attributes
    ----------
    start : ndarray of int64, shape (n + 1,)
        The entries of record i are ``start[i]`` to ``start[i + 1]``.
    feature, count : ndarray of int32, shape (entries,)
    n_features : int
    vocabulary : ndarray of uint32 or uint64, shape (n_features,), or None
        The code of each feature, ascending; None where a feature is its own code.
    """

    start: np.ndarray
    feature: np.ndarray
    count: np.ndarray
    n_features: int
    vocabulary: np.ndarray | None = None

    def __len__(self):
        return len(self.start) - 1


@dataclass(frozen=True)
class Occurrences:
    """The codes of all windows of all records, for one or several subsets of a window's positions.

    Attributes
    ----------
    codes : ndarray of uint32 or uint64, shape (subsets, windows)
        All below `space`.
    start : ndarray of int64, shape (n + 1,)
        The windows of record i are the columns ``start[i]`` to ``start[i + 1]``.
    space : int
        How many codes there can be.
    """

    codes: np.ndarray
    start: np.ndarray
    space: int

    def __len__(self):
        return len(self.start) - 1

    def count(self, weights=None):
        """Return the Counted of these codes; codes of a large space are sorted and replaced by their ranks.

        Parameters
        ----------
        weights : ndarray of int64, shape (windows,), optional
            What each window counts, not negative; by default 1.

        Raises
        ------
        SequenceError
            If there are too many, or a count could exceed 31 bits.
        """
        if self.codes.size > MOST_CODES:
            raise SequenceError(f"{self.codes.size} k-mers are too many for one matrix", remedy="divide the sequences")
        if weights is not None and len(self.codes) * int(_sums(weights, self.start).max(initial=0)) > MOST_CODES:
            raise SequenceError("the windows weigh too much for exact sums", remedy="cut the sequences into parts")
        codes, n_features, vocabulary = self.codes, self.space, None
        if self.space > 2 * self.codes.size + SMALL_SPACE:
            ranks, vocabulary = rank_codes(self.codes.reshape(-1))
            codes, n_features = ranks.reshape(self.codes.shape), len(vocabulary)
        slot = np.full(n_features, -1, dtype=np.int32)
        start = np.empty(len(self) + 1, dtype=np.int64)
        feature = np.empty(codes.size, dtype=np.int32)
        count = np.empty(codes.size, dtype=np.int32)
        weights = None if weights is None else weights.astype(np.int32)
        entries = _kmers.count_rows(codes, self.start, slot, start, feature, count, weights)
        return Counted(start, feature[:entries], count[:entries], n_features, vocabulary)

    def tally(self, row, counts):
        """Write to `counts`, int32 (rows, space), how often each code occurs in the records from `row` on."""
        _kmers.tally(self.codes, self.start, row, counts)


def codes_fit(size, k):
    """Return whether every k-mer over `size` letters has a code of 64 bits."""
    return size ** min(k, 64) < CODE_LIMIT  # a k that a mistake made huge would take hours


def check_code_space(size, k, name="k"):
    """Raise ParameterError unless every k-mer over `size` letters, `k` the parameter `name`, has a code."""
    if not codes_fit(size, k):
        largest = next(n for n in range(64, -1, -1) if codes_fit(size, n))
        raise ParameterError(
            f"{name}={k} is too large for an alphabet of {size} letters", remedy=f"choose {name} up to {largest}"
        )


def check_lengths(X, k, name="k"):
    """Raise SequenceError for the first record with fewer than `k` letters, the parameter `name`."""
    short = np.flatnonzero(X.lengths < k)
    if len(short):
        remedy = f"leave it out, choose a smaller {name}, or short=zero"
        if len(short) == len(X) > 1:
            longest = f"all {len(X)} sequences are too short, the longest has {X.lengths.max()}"
            remedy = f"choose a smaller {name} ({longest}), or short=zero"
        letters = count_letters(X.lengths[short[0]])
        raise ShortError(f"{letters} fewer than {name}={k}", record=X.ids[short[0]], remedy=remedy)


def count_letters(number):
    """Return ``"2 letters are"``, ``"1 letter is"``."""
    return f"{number} letter is" if number == 1 else f"{number} letters are"


def per_record(numbers):
    """Return where each record's items start, int64 (n + 1,), from their numbers."""
    start = np.zeros(len(numbers) + 1, dtype=np.int64)
    np.cumsum(numbers, out=start[1:])
    return start


def _sums(weights, start):
    """Return the sum of each record's weights."""
    return np.diff(np.concatenate(([0], np.cumsum(weights)))[start])


def find_kmers(X, k, subsets=None, strands="one", numbers=None):
    """Return the codes of every window of `k` unmasked letters of every record.

    Parameters
    ----------
    X : SequenceSet
    k : int
    subsets : list of tuple of int, optional
        Positions of the window to code, all subsets of one size. By default one subset, all positions.
    strands : {"one", "canonical", "both"}
        The windows as they are; the smaller of each and its reverse complement; both.
    numbers : sequence of int, optional
        Ascending number of each subset, whose codes start at number · b^size: subsets with one number have
        their features in common. By default 0, 1, ….

    Returns
    -------
    Occurrences
    """
    subsets = [tuple(range(k))] if subsets is None else subsets
    numbers = range(len(subsets)) if numbers is None else numbers
    size = X.alphabet.size
    part = size ** len(subsets[0])
    space = part * (int(numbers[-1]) + 1)
    windows = np.empty(len(X), dtype=np.int64)
    _kmers.count_windows(X.codes, X.starts, X.stops, k, size, windows)
    start = per_record(2 * windows if strands == "both" else windows)
    codes = np.empty((len(subsets), start[-1]), dtype=code_type(space))
    complement = NO_COMPLEMENT if strands == "one" else X.alphabet.complement_codes
    for row, (positions, number) in enumerate(zip(subsets, numbers, strict=True)):
        _kmers.code_windows(
            X.codes,
            X.starts,
            X.stops,
            k,
            size,
            np.array(positions, dtype=np.int64),
            complement,
            strands == "canonical",
            strands == "both",
            int(number) * part,
            codes[row],
        )
    return Occurrences(codes, start, space)


def find_windows(X, k):
    """Return where the windows of `k` unmasked letters start: int64 (windows,), in the order of `find_kmers`.

    A start counts the letters of `X` record after record, as `SequenceSet.positions` does.
    """
    good = X.codes[X.positions()] < X.alphabet.size
    run = np.concatenate(([0], np.cumsum(good)))
    whole = np.zeros(len(good), dtype=bool)
    whole[: max(0, len(good) - k + 1)] = run[k:] - run[:-k] == k
    ends = np.cumsum(X.lengths)
    whole &= np.repeat(ends, X.lengths) - np.arange(len(good)) >= k
    return np.flatnonzero(whole)


@dataclass(frozen=True)
class WideOccurrences:
    """k-mers that have no code of 64 bits, as text: the letters of each, one byte for one letter.

    Attributes
    ----------
    words : ndarray of bytes (``S``), shape (windows,)
        Letters count from 1, for a text has no zeros at its end.
    start : ndarray of int64, shape (n + 1,)
        The windows of record i are ``start[i]`` to ``start[i + 1]``.
    """

    words: np.ndarray
    start: np.ndarray

    def count(self):
        """Return the Counted of these k-mers; the vocabulary holds the words."""
        vocabulary, ranks = np.unique(self.words, return_inverse=True)
        counted = Occurrences(ranks.astype(np.uint32).reshape(1, -1), self.start, max(1, len(vocabulary))).count()
        return Counted(counted.start, counted.feature, counted.count, len(vocabulary), vocabulary)


def find_wide_kmers(X, k, canonical=False):
    """Return the WideOccurrences of every window of `k` unmasked letters; for `canonical` see `find_kmers`."""
    windows = np.empty(len(X), dtype=np.int64)
    _kmers.count_windows(X.codes, X.starts, X.stops, k, X.alphabet.size, windows)
    letters = X.codes[X.positions()]
    words = _as_words(letters, find_windows(X, k), k)
    if canonical:
        reverse = _as_words(X.alphabet.complement_codes[letters[::-1]], len(letters) - k - find_windows(X, k), k)
        words = np.where(reverse < words, reverse, words)
    return WideOccurrences(words, per_record(windows))


def _as_words(letters, starts, k):
    """Return the `k` letters from each start on as bytes (``S``)."""
    if not len(starts):
        return np.zeros(0, dtype=f"S{k}")
    view = np.lib.stride_tricks.sliding_window_view(letters + np.uint8(1), k)
    return np.ascontiguousarray(view[starts]).view(f"S{k}").reshape(-1)


def code_type(space):
    """Return the dtype of codes below `space`."""
    return np.uint32 if space <= 2**32 else np.uint64


def rank_codes(codes):
    """Return the rank of each code among the distinct ones, uint32, and the distinct ones, ascending."""
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
