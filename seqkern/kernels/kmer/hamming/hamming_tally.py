"""Decisions of Hamming distance kernels from sums over the windows of the support; see `hamming_additive`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqkern.kernels.kmer.kmer_sums import sum_kmers, whole_table
from seqkern.kernels.kmer.strands import first_of_pairs, reverse_complements
from seqkern.kernels.occurrences import KmerWeights
from seqkern.kernels.tallied import Sums, Tallied
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from seqkern.kernels.kmer.hamming.hamming_additive import HammingAdditive

Floats = npt.NDArray[np.float64]


class HammingTallied(Tallied):
    """Σ_j c_j·K(x, z_j) from T, for each length of windows.

    Parameters
    ----------
    kernel : HammingAdditive
        The kernel.
    tally : iterator of ndarray of float
        T of each length: as `add_windows` gives them.
    alphabet : Alphabet
        Of the sequences.
    """

    def __init__(self, kernel: HammingAdditive, tally: Iterator[Sums], alphabet: Alphabet) -> None:
        self.kernel, self.alphabet = kernel, alphabet
        self.tally = [next(tally) for _ in kernel._lengths()]

    @cached_property
    def weights(self) -> list[tuple[int, Floats]]:
        """(length, W) for each length of windows."""
        lengths, weights = self.kernel._lengths(), self.kernel._weights()
        return [
            (length, self.kernel._spread(self._whole(number), self.alphabet.size, length, weight))
            for number, (length, weight) in enumerate(zip(lengths, weights, strict=True))
        ]

    def _whole(self, number: int) -> Floats:
        """Return T over all l-mers of a length."""
        length = self.kernel._lengths()[number]
        return whole_table(self.tally[number], self.alphabet, length, self.kernel.reverse_complement)

    def values(self, X: SequenceSet) -> Floats:
        """Return the sum for each record; see `Tallied.values`."""
        return self.kernel._look_up(X, self.weights)

    def attributions(self, X: SequenceSet) -> Floats:
        """Return what each residue contributes; see `Tallied.attributions`."""
        shares = np.zeros(int(X.lengths.sum()))
        for number, (length, weight) in enumerate(zip(self.kernel._lengths(), self.kernel._weights(), strict=True)):
            shares += weight * self.kernel._shares_by_table(X, self._whole(number), length)
        return shares

    def kmer_weights(self, X: SequenceSet) -> KmerWeights:
        """Return the weights of the windows of `X`; see `Tallied.kmer_weights`."""
        return KmerWeights(*self.kernel._weights_of_windows(X, X.take([]), self.weights))

    def tables(self) -> list[tuple[int, Floats]] | None:
        """Return W of each length; None if windows differ in weight."""
        return None if self.kernel.weighs_windows else self.weights


def add_windows(kernel: HammingAdditive, support: SequenceSet, coefficients: npt.ArrayLike, length: int) -> Floats:
    """Return T: Σ_j c_j times the windows of z_j, by l-mer.

    Parameters
    ----------
    kernel : HammingAdditive
        The kernel, which weights windows.
    support : SequenceSet, m records
        z_j.
    coefficients : array_like of float, shape (m,)
        c_j.
    length : int
        Residues of a window.

    Returns
    -------
    ndarray of float64
        For each l-mer; if both strands count, only for `first_of_pairs`, the sum of both.
    """
    both, alphabet = kernel.reverse_complement, support.alphabet
    sums = sum_kmers(support, coefficients, length, both, lambda some: kernel._window_weights(some, length))
    if both:
        first = first_of_pairs(alphabet, length)
        sums[first == reverse_complements(alphabet, length)[first]] *= 2  # its own reverse complement: on both strands
    return sums
