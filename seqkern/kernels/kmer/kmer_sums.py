"""Sums over the k-mers of support sequences: tables from which decisions follow by look-up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from seqkern.kernels.kmer.kmers import find_kmers, find_windows
from seqkern.kernels.kmer.strands import first_of_pairs, unfold
from seqkern.kernels.occurrences import KmerWeights, merge, spell, spread
from seqkern.kernels.tallied import Floats, Sums, Tallied
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet

LARGEST_TABLE = 1 << 24
AT_ONCE = 1 << 22
"""Residues whose k-mers are added in one go: their codes and weights take some 100 MB."""


def sum_kmers(
    support: SequenceSet,
    coefficients: npt.ArrayLike,
    length: int,
    both_strands: bool,
    own_weights: Callable[[SequenceSet], npt.NDArray[np.int64] | None] = lambda some: None,
) -> Floats:
    """Return Σ_j c_j times the occurrences of each k-mer in z_j.

    Parameters
    ----------
    support : SequenceSet, m records
        z_j.
    coefficients : array_like of float, shape (m,)
        c_j.
    length : int
        Residues of a k-mer.
    both_strands : bool
        Whether a k-mer also occurs where its reverse complement does.
    own_weights : callable, optional
        Returns the weight of each window of some records, in the order of `find_windows`; None if all are 1.

    Returns
    -------
    ndarray of float64
        For each k-mer by its code; of both strands only for `first_of_pairs`.

    Examples
    --------
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> sum_kmers(as_sequences(["AAC", "GT"], "dna"), [1.0, 0.5], 1, both_strands=True)
    array([2.5, 1.5])
    """
    coefficients = np.asarray(coefficients, dtype=np.float64)
    used = np.flatnonzero(coefficients)
    sums = np.zeros(support.alphabet.size**length)
    parts = np.cumsum(support.lengths[used]) // AT_ONCE
    for part in np.split(used, np.flatnonzero(np.diff(parts)) + 1):
        some = support.take(part)
        found = find_kmers(some, length, strands="canonical" if both_strands else "one")
        worth = np.repeat(coefficients[part], np.diff(found.start))
        own = own_weights(some)
        if own is not None:
            worth *= own
        sums += np.bincount(found.codes[0], weights=worth, minlength=len(sums))
    return sums[first_of_pairs(support.alphabet, length)] if both_strands else sums


def whole_table(sums: Sums, alphabet: Alphabet, length: int, both_strands: bool) -> Floats:
    """Return sums for all k-mers.

    Parameters
    ----------
    sums : ndarray of float
        As from `sum_kmers`, in any precision.
    alphabet : Alphabet
        Of the sequences.
    length : int
        Residues of a k-mer.
    both_strands : bool
        As for `sum_kmers`.

    Returns
    -------
    ndarray of float64, shape (letters^length,)
        A new array.

    Raises
    ------
    ValueError
        If there are too many or too few.
    """
    size = len(first_of_pairs(alphabet, length)) if both_strands else alphabet.size**length
    if sums.shape != (size,):
        raise ValueError(f"a tally of shape {sums.shape}, not ({size},)")
    return unfold(sums, alphabet, length) if both_strands else sums.astype(np.float64)


class TalliedSpectrum(Tallied):
    """Σ_j c_j·K(x, z_j) of kernels that count common k-mers.

    Parameters
    ----------
    lengths : sequence of int
        Of the k-mers.
    weights : sequence of float
        The weight of each length.
    tally : iterator of ndarray of float
        As from `sum_kmers`, for each length.
    alphabet : Alphabet
        Of the sequences.
    both_strands : bool
        As for `sum_kmers`.
    """

    def __init__(
        self,
        lengths: Sequence[int],
        weights: Sequence[float],
        tally: Iterator[Sums],
        alphabet: Alphabet,
        both_strands: bool,
    ) -> None:
        self.weights = [
            (length, weight * whole_table(next(tally), alphabet, length, both_strands))
            for length, weight in zip(lengths, weights, strict=True)
        ]
        self.alphabet, self.both_strands = alphabet, both_strands

    def values(self, X: SequenceSet) -> Floats:
        """Return the sum for each record; see `Tallied.values`."""
        total = np.zeros(len(X))
        for length, table in self.weights:
            found = find_kmers(X, length)
            owner = np.repeat(np.arange(len(X)), np.diff(found.start))
            total += np.bincount(owner, weights=table[found.codes[0]], minlength=len(X))
        return total

    def attributions(self, X: SequenceSet) -> Floats:
        """Share the weight of each occurrence among its residues; see `Tallied.attributions`."""
        residues = int(X.lengths.sum())
        shares = np.zeros(residues)
        for length, table in self.weights:
            shares += spread(table[find_kmers(X, length).codes[0]], find_windows(X, length), range(length), residues)
        return shares

    def kmer_weights(self, X: SequenceSet) -> KmerWeights:
        """Return the weights of the k-mers of `X`; see `Tallied.kmer_weights`."""
        parts = []
        for length, table in self.weights:
            found = find_kmers(X, length, strands="canonical" if self.both_strands else "one")
            distinct = np.unique(found.codes[0])
            parts.append((spell(distinct, length, self.alphabet), table[distinct]))
        return merge(parts)

    def tables(self) -> list[tuple[int, Floats]]:
        """Return the weight of every k-mer on the given strand."""
        return self.weights
