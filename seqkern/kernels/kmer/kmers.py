"""k-mers of a sequence set as integers, and their counts.

A k-mer a_1…a_k over b letters has the code Σ a_i·b^(k−i), an unsigned integer; codes sort as their k-mers do.
A window with a masked residue holds no k-mer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError, ShortError
from seqkern.core.threads import in_spans
from seqkern.kernels.kmer import _kmers
from seqkern.kernels.products.dense import Counts
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
    """How often each feature occurs in each record, as compressed rows.

    Attributes
    ----------
    start : ndarray of int64, shape (n + 1,)
        The entries of record i are ``start[i]`` to ``start[i + 1]``.
    feature, count : ndarray of int32, shape (entries,)
        The feature of each entry, and how often it occurs.
    n_features : int
        How many features there are.
    vocabulary : ndarray of uint32, uint64 or bytes, shape (n_features,), or None
        The code (or text) of each feature, ascending; None where a feature is its own code.
    """

    start: npt.NDArray[np.int64]
    feature: npt.NDArray[np.int32]
    count: npt.NDArray[np.int32]
    n_features: int
    vocabulary: npt.NDArray[Any] | None = None

    def __len__(self) -> int:
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

    codes: Codes
    start: npt.NDArray[np.int64]
    space: int

    def __len__(self) -> int:
        return len(self.start) - 1

    def count(self, weights: npt.NDArray[np.int64] | None = None) -> Counted:
        """Return how often each code occurs; codes of a large space are sorted and replaced by their ranks.

        Parameters
        ----------
        weights : ndarray of int64, shape (windows,), optional
            What each window counts, not negative; by default 1.

        Returns
        -------
        Counted

        Raises
        ------
        SequenceError
            If there are too many, or a count could exceed 31 bits.
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
        feature = np.empty(codes.size, dtype=np.int32)
        count = np.empty(codes.size, dtype=np.int32)
        each = None if weights is None else weights.astype(np.int32)
        entries = _kmers.count_rows(codes, self.start, slot, start, feature, count, each)
        return Counted(start, feature[:entries], count[:entries], n_features, vocabulary)

    @property
    def most(self) -> int:
        """The largest number of codes of a record."""
        return len(self.codes) * int(np.diff(self.start).max(initial=0))

    def tally(self, row: int, tables: Counts) -> None:
        """Add how often each code occurs; see `seqkern.kernels.products.dense.Tally`.

        Parameters
        ----------
        row : int
            The first record.
        tables : ndarray, shape (panels, space, 16)
            Changed.
        """
        _kmers.tally(cast(SmallCodes, self.codes), self.start, row, tables)


def codes_fit(size: int, k: int) -> bool:
    """Return whether every k-mer fits into 64 bits.

    Parameters
    ----------
    size : int
        Letters of the alphabet.
    k : int
        Length of the k-mers.

    Returns
    -------
    bool
    """
    return size ** min(k, 64) < CODE_LIMIT  # a mistakenly huge k would take hours


def check_code_space(size: int, k: int, name: str = "k") -> None:
    """Raise ParameterError unless every k-mer fits into 64 bits.

    Parameters
    ----------
    size : int
        Letters of the alphabet.
    k : int
        Length of the k-mers.
    name : str
        Name of the parameter, for the message.

    Raises
    ------
    ParameterError
        If `k` is too large; the message names the largest possible value.
    """
    if not codes_fit(size, k):
        largest = next(n for n in range(64, -1, -1) if codes_fit(size, n))
        raise ParameterError(
            f"{name}={k} is too large for an alphabet of {size} letters", remedy=f"choose {name} up to {largest}"
        )


def check_lengths(X: SequenceSet, k: int, name: str = "k") -> None:
    """Raise ShortError if a record is too short.

    Parameters
    ----------
    X : SequenceSet
        The records.
    k : int
        Minimum length.
    name : str
        Name of the parameter, for the message.

    Raises
    ------
    ShortError
        For the first record with fewer than `k` residues.
    """
    short = np.flatnonzero(X.lengths < k)
    if len(short):
        remedy = f"remove the record, choose a smaller {name}, or short=zero"
        if len(short) == len(X) > 1:
            longest = f"all {len(X)} sequences are too short, the longest has {X.lengths.max()}"
            remedy = f"choose a smaller {name} ({longest}), or short=zero"
        letters = count_letters(X.lengths[short[0]])
        raise ShortError(f"{letters} fewer than {name}={k}", record=X.ids[short[0]], remedy=remedy)


def count_letters(number: int) -> str:
    """Return the beginning of a message on a short record: ``"2 residues are"``, ``"1 residue is"``.

    Parameters
    ----------
    number : int
        The record's length.

    Returns
    -------
    str
    """
    return f"{number} residue is" if number == 1 else f"{number} residues are"


def per_record(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the start of the items of each record.

    Parameters
    ----------
    numbers : ndarray of int64, shape (n,)
        Number of items of each record.

    Returns
    -------
    ndarray of int64, shape (n + 1,)
        The items of record i are ``start[i]`` to ``start[i + 1]``.
    """
    start = np.zeros(len(numbers) + 1, dtype=np.int64)
    np.cumsum(numbers, out=start[1:])
    return start


def _sums(weights: npt.NDArray[np.int64], start: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the sum of each record's weights."""
    return np.diff(np.concatenate(([0], np.cumsum(weights)))[start])


def find_kmers(
    X: SequenceSet,
    k: int,
    subsets: Sequence[tuple[int, ...]] | None = None,
    strands: Strands = "one",
    numbers: Sequence[int] | npt.NDArray[np.int64] | None = None,
) -> Occurrences:
    """Return the codes of every window of `k` unmasked residues of every record.

    Parameters
    ----------
    X : SequenceSet
        The records.
    k : int
        Residues of a window.
    subsets : list of tuple of int, optional
        Positions of the window to code, all subsets of one size. By default one subset, all positions.
    strands : {"one", "canonical", "both"}
        The windows themselves; the smaller of each and its reverse complement; or both.
    numbers : sequence of int, optional
        Ascending number of each subset, whose codes start at number · b^size: subsets with one number have
        their features in common. By default 0, 1, ….

    Returns
    -------
    Occurrences
        One row of codes for each subset.

    Raises
    ------
    ParameterError
        If the other strand counts, but the alphabet has no complement.
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


def find_windows(X: SequenceSet, k: int) -> npt.NDArray[np.int64]:
    """Return where the windows of `k` unmasked residues start.

    Parameters
    ----------
    X : SequenceSet
        The records.
    k : int
        Residues of a window.

    Returns
    -------
    ndarray of int64, shape (windows,)
        In the order of `find_kmers`. A start counts the residues of `X` record after record, as
        `SequenceSet.positions` does.
    """
    good = X.codes[X.positions()] < X.alphabet.size
    run = np.concatenate(([0], np.cumsum(good)))
    whole = np.zeros(len(good), dtype=bool)
    whole[: max(0, len(good) - k + 1)] = run[k:] - run[:-k] == k
    ends = np.cumsum(X.lengths)
    whole &= np.repeat(ends, X.lengths) - np.arange(len(good)) >= k
    return np.flatnonzero(whole)


def code_type(space: int) -> type[np.uint32] | type[np.uint64]:
    """Return the dtype of codes.

    Parameters
    ----------
    space : int
        Upper bound of the codes.

    Returns
    -------
    type
        `numpy.uint32` or `numpy.uint64`.
    """
    return np.uint32 if space <= 2**32 else np.uint64


def rank_codes(codes: Codes) -> tuple[npt.NDArray[np.uint32], Codes]:
    """Return the ranks of codes, and the distinct ones.

    Parameters
    ----------
    codes : ndarray of uint32 or uint64, shape (n,)
        In any order.

    Returns
    -------
    ranks : ndarray of uint32, shape (n,)
        The place of each code among the distinct ones.
    distinct : ndarray, shape (distinct codes,)
        Ascending, of the dtype of `codes`.
    """
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
