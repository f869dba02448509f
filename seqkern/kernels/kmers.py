"""k-mers of a sequence set as integers, counted.

A k-mer a_1…a_k over b letters has the code Σ a_i·b^(k−i), an unsigned integer; codes sort as their k-mers do.
A window with a masked letter holds no k-mer.
"""

from dataclasses import dataclass

import numpy as np

from ..errors import ParameterError, SequenceError
from . import _kmers

CODE_LIMIT = 2**63
DIGIT_BITS = 12
NO_COMPLEMENT = np.zeros(0, dtype=np.uint8)


@dataclass(frozen=True)
class Counted:
    """How often each feature occurs in each record: entries sorted by feature, then by record.

    Attributes
    ----------
    vocabulary : ndarray of uint32 or uint64, shape (features,)
        The code of each feature that occurs, ascending.
    bounds : ndarray of int64, shape (features + 1,)
        The entries of feature f are ``bounds[f]`` to ``bounds[f + 1]``.
    rows, counts : ndarray of int32, shape (entries,)
    n_rows : int
    """

    vocabulary: np.ndarray
    bounds: np.ndarray
    rows: np.ndarray
    counts: np.ndarray
    n_rows: int


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

    def count(self):
        """Return the Counted of these codes, by sorting them."""
        subsets, windows = self.codes.shape
        rows = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.start))
        codes, rows = sort_codes(self.codes.reshape(-1).copy(), np.tile(rows, subsets))
        vocabulary = np.empty_like(codes)
        bounds = np.empty(len(codes) + 1, dtype=np.int64)
        entry_rows, counts = np.empty_like(rows), np.empty_like(rows)
        n_codes, entries = _kmers.group_sorted(codes, rows, vocabulary, bounds, entry_rows, counts)
        return Counted(
            vocabulary[:n_codes].copy(),
            bounds[: n_codes + 1].copy(),
            entry_rows[:entries],
            counts[:entries],
            len(self),
        )

    def tally(self, row, counts):
        """Write to `counts`, int32 (rows, space), how often each code occurs in the records from `row` on."""
        _kmers.tally(self.codes, self.start, row, counts)


def check_code_space(size, k):
    """Raise ParameterError unless every k-mer over `size` letters has a code."""
    tried = min(k, 64)  # the power of a k that a mistake made huge would take hours
    if size**tried >= CODE_LIMIT:
        largest = next(n for n in range(tried, -1, -1) if size**n < CODE_LIMIT)
        raise ParameterError(
            f"k={k} is too large for an alphabet of {size} letters", remedy=f"choose k up to {largest}"
        )


def check_lengths(X, k):
    """Raise SequenceError for the first record with fewer than `k` letters."""
    short = np.flatnonzero(X.lengths < k)
    if len(short):
        raise SequenceError(
            f"{X.lengths[short[0]]} letters are fewer than k={k}",
            record=X.ids[short[0]],
            remedy="leave it out, choose a smaller k, or short=zero",
        )


def find_kmers(X, k, subsets=None, strands="one"):
    """Return the codes of every window of `k` unmasked letters of every record.

    Parameters
    ----------
    X : SequenceSet
    k : int
    subsets : list of tuple of int, optional
        Positions of the window to code, all subsets of one size; codes of the s-th subset start at s·b^size.
        By default one subset, all positions.
    strands : {"one", "canonical", "both"}
        The windows as they are; the smaller of each and its reverse complement; both.

    Returns
    -------
    Occurrences
    """
    subsets = [tuple(range(k))] if subsets is None else subsets
    size = X.alphabet.size
    part = size ** len(subsets[0])
    start = np.zeros(len(X) + 1, dtype=np.int64)
    _kmers.count_windows(X.codes, X.starts, X.stops, k, size, start[1:])
    np.cumsum(start, out=start)
    if strands == "both":
        start *= 2
    dtype = np.uint32 if part * len(subsets) <= 2**32 else np.uint64
    codes = np.empty((len(subsets), start[-1]), dtype=dtype)
    complement = NO_COMPLEMENT if strands == "one" else X.alphabet.complement_codes
    for number, positions in enumerate(subsets):
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
            number * part,
            codes[number],
        )
    return Occurrences(codes, start, part * len(subsets))


def sort_codes(codes, rows):
    """Return `codes` ascending and their `rows`, sorted stably; both arrays are overwritten."""
    bits = int(codes.max()).bit_length() if len(codes) else 0
    passes = -(-bits // DIGIT_BITS)
    if passes == 0:
        return codes, rows
    digit_bits = -(-bits // passes)
    place = np.empty(1 << digit_bits, dtype=np.int64)
    spare = np.empty_like(codes), np.empty_like(rows)
    _kmers.radix_sort(codes, rows, *spare, place, digit_bits, passes)
    return spare if passes % 2 else (codes, rows)
