"""Dense counts of k-mers at up to m mismatches, from those of the k-mers themselves."""

import numpy as np
import numpy.typing as npt

from seqkern.kernels.kmer import _smoothing
from seqkern.kernels.kmer.kmers import Occurrences
from seqkern.kernels.products import _product
from seqkern.kernels.products.dense import PANEL, Counts
from seqkern.sequences.alphabets import Alphabet


class Smoothed:
    """Occurrences of k-mers, each counted for all k-mers at up to m mismatches; for `dense_block`.

    Parameters
    ----------
    found : Occurrences
        Of the k-mers, in one row.
    size : int
        Letters of the alphabet.
    m : int
        Mismatches.

    Attributes
    ----------
    space : int
        How many k-mers there can be.
    most : int
        The largest number of k-mers of a record; no count is larger.
    """

    def __init__(self, found: Occurrences, size: int, m: int) -> None:
        self.found, self.size, self.m = found, size, m
        self.space, self.most = found.space, found.most

    def __len__(self) -> int:
        return len(self.found)

    def tally(self, row: int, tables: Counts) -> None:
        """Add the counts; see `seqkern.kernels.products.dense.Tally`.

        Parameters
        ----------
        row : int
            The first record.
        tables : ndarray, shape (panels, space, 16)
            Changed.
        """
        self.found.tally(row, tables)
        if self.m:
            planes = np.empty(self.m * tables[0].size, dtype=tables.dtype)
            _smoothing.smooth(_product.level(), tables, self.m, self.size, planes)


class OneStrand:
    """Half of the counts of k-mers of both strands, such that twice their products are those of all.

    Parameters
    ----------
    smoothed : Smoothed
        Of both strands: a k-mer and its reverse complement have equal counts.
    k : int
        Length of the k-mers.
    alphabet : Alphabet
        With complements.

    Attributes
    ----------
    space : int
        K-mers that come before their reverse complements, and twice those that are their own.
    most : int
        No count is larger.
    """

    def __init__(self, smoothed: Smoothed, k: int, alphabet: Alphabet) -> None:
        self.smoothed, self.most = smoothed, smoothed.most
        self._order, self._own = _one_strand(k, alphabet)
        self.space = len(self._order)

    def __len__(self) -> int:
        return len(self.smoothed)

    def tally(self, row: int, tables: Counts) -> None:
        """Add the counts; see `seqkern.kernels.products.dense.Tally`.

        Parameters
        ----------
        row : int
            The first record.
        tables : ndarray, shape (panels, space, 16)
            Changed.
        """
        whole = np.zeros((len(tables), self.smoothed.space, PANEL), dtype=tables.dtype)
        self.smoothed.tally(row, whole)
        _smoothing.choose(whole, self._order, self._own, tables)


def _one_strand(k: int, alphabet: Alphabet) -> tuple[npt.NDArray[np.int32], int]:
    """Return the codes of the k-mers in the order of `OneStrand`, and how many are halved."""
    codes = np.arange(alphabet.size**k)
    reverse, rest = np.zeros_like(codes), codes.copy()
    for _ in range(k):
        rest, last = np.divmod(rest, alphabet.size)
        reverse = reverse * alphabet.size + alphabet.complement_codes[last]
    own = codes[codes == reverse]
    return np.concatenate((codes[codes < reverse], own, own)).astype(np.int32), 2 * len(own)
