"""k-mers of a sequence set as integers, counted.

A k-mer a_1…a_k over b letters has the code Σ a_i·b^(k−i), an unsigned integer; codes sort as their k-mers do. A
window with a masked letter holds no k-mer.
"""

from dataclasses import dataclass

import numpy as np

from ..errors import ParameterError, SequenceError
from . import _kmers

LARGEST_CODE = 2**63
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


def check_code_space(size, k):
    """Raise ParameterError unless every k-mer over `size` letters has a code."""
    if size**k >= LARGEST_CODE:
        largest = next(n for n in range(k, -1, -1) if size**n < LARGEST_CODE)
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


def count_windows(X, k):
    """Return int64 (n,): the number of windows of `k` unmasked letters of each record."""
    windows = np.empty(len(X), dtype=np.int64)
    _kmers.count_windows(X.codes, X.starts, X.stops, k, X.alphabet.size, windows)
    return windows


def code_windows(X, k, subsets=None, strands="one"):
    """Return the code of every window of every record.

    Parameters
    ----------
    X : SequenceSet
    k : int
    subsets : list of tuple of int, optional
        Positions of the window to code, all subsets of one size; codes of the s-th subset start at s·b^size. By
        default one subset, all positions.
    strands : {"one", "canonical", "both"}
        The windows as they are; the smaller of each and its reverse complement; both.

    Returns
    -------
    codes : ndarray of uint32 or uint64
    rows : ndarray of int32
        The record of each, ascending for each subset.
    """
    subsets = [tuple(range(k))] if subsets is None else subsets
    size = X.alphabet.size
    space = size ** len(subsets[0])
    per_subset = int(count_windows(X, k).sum()) * (2 if strands == "both" else 1)
    codes = np.empty(per_subset * len(subsets), dtype=code_type(space * len(subsets)))
    rows = np.empty(len(codes), dtype=np.int32)
    complement = NO_COMPLEMENT if strands == "one" else X.alphabet.complement_codes
    for number, positions in enumerate(subsets):
        part = slice(number * per_subset, (number + 1) * per_subset)
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
            number * space,
            codes[part],
            rows[part],
        )
    return codes, rows


def code_type(space):
    """Return the dtype for codes below `space`."""
    return np.uint32 if space <= 2**32 else np.uint64


def count_codes(codes, rows, n_rows):
    """Count equal (code, row) pairs.

    Parameters
    ----------
    codes : ndarray of uint32 or uint64
        Overwritten.
    rows : ndarray of int32
        For each code ascending. Overwritten.
    n_rows : int

    Returns
    -------
    Counted
    """
    codes, rows = sort_codes(codes, rows)
    vocabulary = np.empty_like(codes)
    bounds = np.empty(len(codes) + 1, dtype=np.int64)
    entry_rows, entry_counts = np.empty_like(rows), np.empty_like(rows)
    n_codes, n_entries = _kmers.group_sorted(codes, rows, vocabulary, bounds, entry_rows, entry_counts)
    return Counted(
        vocabulary[:n_codes].copy(),
        bounds[: n_codes + 1].copy(),
        entry_rows[:n_entries],
        entry_counts[:n_entries],
        n_rows,
    )


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
