"""Explained decisions of the mismatch kernel with `presence`.

Φ_u(x) is 1 if a k-mer of x is within m mismatches of the k-mer u, on either strand with reverse complement. The weight
of u is shared equally by the k-mers of x that match it, and the share of a k-mer equally by its residues that agree
with u.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seqkern.kernels.kmer import _kmers
from seqkern.kernels.kmer.hamming.hamming_kernel import HammingKernel
from seqkern.kernels.kmer.kmers import Codes, Occurrences, check_code_space, find_kmers, find_windows
from seqkern.kernels.occurrences import KmerWeights, merge, spell
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet


def attribute(
    kernel: HammingKernel, m: int, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return each residue's share of Σ_j coefficients[j]·K(x, z_j), not normalised.

    Parameters
    ----------
    kernel : MismatchKernel
        With `presence`.
    m : int
        Its mismatches.
    X : SequenceSet
        The sequences x to explain.
    support : SequenceSet
        The m sequences z_j.
    coefficients : ndarray of float64, shape (m,)
        One coefficient for each.

    Returns
    -------
    ndarray of float64, shape (residues of X,)
        Record after record.

    Raises
    ------
    ParameterError
        If the k-mers do not fit into 64 bits.
    """
    shares = np.zeros(int(X.lengths.sum()))
    for k, weight in zip(kernel._lengths(), kernel._weights(), strict=True):
        learned = FeatureWeights(kernel, m, support, coefficients, k, weight)
        found = find_kmers(X, k, strands=kernel._strands())
        agree = agreements(k, m, X.alphabet.size)
        agree = agree / agree.sum(axis=1, keepdims=True)
        parts = [np.zeros((0, k))]
        for first, last in zip(found.start[:-1], found.start[1:], strict=True):
            near = neighbours(found.codes[0, first:last], k, m, X.alphabet.size)
            distinct, place, often = np.unique(near, return_inverse=True, return_counts=True)
            values = learned.of(distinct) / often
            parts.append(values[place.reshape(near.shape)] @ agree)
        values = np.concatenate(parts)
        starts = find_windows(X, k)
        if kernel.reverse_complement:  # of each window first the other strand, read from its end
            values = values[0::2, ::-1] + values[1::2]
        for position in range(k):
            shares += np.bincount(starts + position, weights=values[:, position], minlength=len(shares))
    return shares


def kmer_weights(
    kernel: HammingKernel, m: int, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]
) -> KmerWeights:
    """Return the k-mers of both sets, and the contribution of a single occurrence.

    Parameters
    ----------
    kernel, m, X, support, coefficients
        As in `attribute`.

    Returns
    -------
    KmerWeights
        If the kernel uses both strands, the smaller of a k-mer and its reverse complement.

    Raises
    ------
    ParameterError
        If the k-mers do not fit into 64 bits.
    """
    parts = []
    for k, weight in zip(kernel._lengths(), kernel._weights(), strict=True):
        learned = FeatureWeights(kernel, m, support, coefficients, k, weight)
        kmers = np.unique(
            np.concatenate(
                [
                    find_kmers(Z, k, strands="canonical" if kernel.reverse_complement else "one").codes[0]
                    for Z in (X, support)
                ]
            )
        )
        size, weights = X.alphabet.size, np.zeros(len(kmers))
        for i, kmer in enumerate(kmers):
            strands = np.array([kmer], dtype=kmers.dtype)
            if kernel.reverse_complement:
                strands = np.append(strands, reverse_codes(strands, k, X.alphabet))
            weights[i] = learned.of(np.unique(neighbours(strands, k, m, size))).sum()
        parts.append((spell(kmers, k, X.alphabet), weights))
    return merge(parts)


class FeatureWeights:
    """The weight of each feature: Σ_j coefficients[j]·Φ_u(z_j), times the weight of k and the kernel's scale.

    Parameters
    ----------
    kernel : MismatchKernel
        With `presence`.
    m : int
        Its mismatches.
    support : SequenceSet
        The m sequences z_j.
    coefficients : ndarray of float64, shape (m,)
        One coefficient for each.
    k : int
        Length of the k-mers.
    weight : float
        The kernel's weight of this k.

    Raises
    ------
    ParameterError
        If the k-mers do not fit into 64 bits.
    """

    def __init__(
        self,
        kernel: HammingKernel,
        m: int,
        support: SequenceSet,
        coefficients: npt.NDArray[np.float64],
        k: int,
        weight: float,
    ) -> None:
        check_code_space(support.alphabet.size, k)
        found = find_kmers(support, k, strands=kernel._strands())
        near = neighbours(found.codes[0], k, m, support.alphabet.size)
        counted = Occurrences(near.reshape(1, -1), found.start * near.shape[1], found.space).count()
        owner = np.repeat(np.arange(len(support)), np.diff(counted.start))
        sums = np.bincount(counted.feature, weights=coefficients[owner], minlength=counted.n_features)
        vocabulary = np.arange(counted.n_features) if counted.vocabulary is None else counted.vocabulary
        self.codes, self.weights = vocabulary.astype(np.uint64), weight * kernel._scale() * sums

    def of(self, codes: Codes) -> npt.NDArray[np.float64]:
        """Return the weights of some features.

        Parameters
        ----------
        codes : ndarray of uint32 or uint64, shape (n,)
            Their codes.

        Returns
        -------
        ndarray of float64, shape (n,)
            0 for features of no support sequence.
        """
        if not len(self.codes):
            return np.zeros(len(codes))
        codes = codes.astype(np.uint64)
        place = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(self.codes[place] == codes, self.weights[place], 0.0)


def neighbours(codes: Codes, k: int, m: int, size: int) -> Codes:
    """Return all k-mers within `m` mismatches of each k-mer.

    Parameters
    ----------
    codes : ndarray of uint32 or uint64, shape (n,)
        The codes of the k-mers.
    k, m : int
        Their length, and mismatches allowed.
    size : int
        Letters of the alphabet.

    Returns
    -------
    ndarray, shape (n, neighbours)
        Codes, of the dtype of `codes`.
    """
    count = len(agreements(k, m, size))
    near = np.empty((len(codes), count), dtype=codes.dtype)
    _kmers.list_neighbours(np.ascontiguousarray(codes), k, m, size, near)
    return near


def agreements(k: int, m: int, size: int) -> npt.NDArray[np.bool_]:
    """Return where any k-mer agrees with its neighbours.

    Parameters
    ----------
    k, m : int
        Length of the k-mers, and mismatches allowed.
    size : int
        Letters of the alphabet.

    Returns
    -------
    ndarray of bool, shape (neighbours, k)
        In the order of `neighbours`, by the changed positions.
    """
    rows = [[True] * k]

    def change(row: list[bool], first: int, left: int) -> None:
        for position in range(first, k if left else first):
            changed = [*row[:position], False, *row[position + 1 :]]
            for _ in range(size - 1):
                rows.append(changed)
                change(changed, position + 1, left - 1)

    change(rows[0], 0, m)
    return np.array(rows)


def reverse_codes(codes: Codes, k: int, alphabet: Alphabet) -> Codes:
    """Return the codes of the reverse complements of k-mers.

    Parameters
    ----------
    codes : ndarray of uint32 or uint64, shape (n,)
        The codes of the k-mers.
    k : int
        Their length.
    alphabet : Alphabet
        With complements.

    Returns
    -------
    ndarray, shape (n,)
        Of the dtype of `codes`.
    """
    size, rest, result = codes.dtype.type(alphabet.size), codes.copy(), np.zeros_like(codes)
    for _ in range(k):
        rest, digit = np.divmod(rest, size)
        result = result * size + alphabet.complement_codes[digit].astype(codes.dtype)
    return result
