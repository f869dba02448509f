"""k-mers that do not fit into 64 bits, as text, and their counts."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqkern.kernels.kmer import _kmers
from seqkern.kernels.kmer.kmers import Counted, Occurrences, find_windows, per_record
from seqkern.sequences.sequence_set import SequenceSet


@dataclass(frozen=True)
class WideOccurrences:
    """The k-mers in all windows of all records, as text: the codes of the residues, one byte each.

    Attributes
    ----------
    texts : ndarray of bytes (``S``), shape (windows,)
        Codes count from 1, because trailing zeros are lost.
    start : ndarray of int64, shape (n + 1,)
        The windows of record i are ``start[i]`` to ``start[i + 1]``.
    """

    texts: npt.NDArray[np.bytes_]
    start: npt.NDArray[np.int64]

    def count(self) -> Counted:
        """Return the Counted of these k-mers; the vocabulary holds the texts."""
        vocabulary, ranks = np.unique(self.texts, return_inverse=True)
        counted = Occurrences(ranks.astype(np.uint32).reshape(1, -1), self.start, max(1, len(vocabulary))).count()
        return Counted(counted.start, counted.feature, counted.count, len(vocabulary), vocabulary)


def find_wide_kmers(X: SequenceSet, k: int, canonical: bool = False) -> WideOccurrences:
    """Return every window of `k` unmasked residues of every record, as text.

    Parameters
    ----------
    X : SequenceSet
        The records.
    k : int
        Length of the k-mers.
    canonical : bool
        Whether to take the smaller of each k-mer and its reverse complement.

    Returns
    -------
    WideOccurrences
        In the order of `seqkern.kernels.kmer.kmers.find_kmers`.
    """
    windows = np.empty(len(X), dtype=np.int64)
    _kmers.count_windows(X.codes, X.starts, X.stops, k, X.alphabet.size, False, windows)
    codes = X.codes[X.positions()]
    texts = _as_texts(codes, find_windows(X, k), k)
    if canonical:
        reverse = _as_texts(X.alphabet.complement_codes[codes[::-1]], len(codes) - k - find_windows(X, k), k)
        texts = np.where(reverse < texts, reverse, texts)
    return WideOccurrences(texts, per_record(windows))


def _as_texts(codes: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], k: int) -> npt.NDArray[np.bytes_]:
    """Return the `k` codes from each start on as bytes (``S``)."""
    if not len(starts):
        return np.zeros(0, dtype=f"S{k}")
    view = np.lib.stride_tricks.sliding_window_view(codes + np.uint8(1), k)
    return np.ascontiguousarray(view[starts]).view(f"S{k}").reshape(-1)
