"""Decisions of the mismatch kernel on features that are there or not, taken apart.

Φ_u(x) is 1 if a k-mer of x is within m mismatches of the word u, on either strand with reverse complement. The weight
of u is shared equally by the k-mers of x that bring it, and what a k-mer gets equally by its letters that agree with u.
"""

import numpy as np

from seqkern.kernels.kmer import _kmers
from seqkern.kernels.kmer.kmers import Occurrences, check_code_space, find_kmers, find_windows
from seqkern.kernels.occurrences import merge, spell


def attribute(kernel, X, support, coefficients):
    """Return each letter's share, float64 (letters of X,), of Σ_j coefficients[j]·K(x, z_j), not normalised.

    Parameters
    ----------
    kernel : MismatchKernel
        With `presence`.
    X, support : SequenceSet
    coefficients : ndarray of float64, shape (m,)
    """
    shares = np.zeros(int(X.lengths.sum()))
    for k, weight in zip(kernel._lengths(), kernel._weights(), strict=True):
        learned = Learned(kernel, support, coefficients, k, weight)
        found = find_kmers(X, k, strands=kernel._strands())
        agree = agreements(k, kernel.m, X.alphabet.size)
        agree = agree / agree.sum(axis=1, keepdims=True)
        parts = [np.zeros((0, k))]
        for first, last in zip(found.start[:-1], found.start[1:], strict=True):
            words = neighbours(found.codes[0, first:last], k, kernel.m, X.alphabet.size)
            distinct, place, often = np.unique(words, return_inverse=True, return_counts=True)
            values = learned.of(distinct) / often
            parts.append(values[place.reshape(words.shape)] @ agree)
        values = np.concatenate(parts)
        starts = find_windows(X, k)
        if kernel.reverse_complement:  # of each window first the other strand, read from its end
            values = values[0::2, ::-1] + values[1::2]
        for position in range(k):
            shares += np.bincount(starts + position, weights=values[:, position], minlength=len(shares))
    return shares


def word_weights(kernel, X, support, coefficients):
    """Return (list of str, float64 array): the k-mers of both sets, and what one occurrence alone would add.

    Of a k-mer and its reverse complement, if the kernel sees both strands, the smaller is there.
    """
    parts = []
    for k, weight in zip(kernel._lengths(), kernel._weights(), strict=True):
        learned = Learned(kernel, support, coefficients, k, weight)
        canonical = "canonical" if kernel.reverse_complement else "one"
        words = np.unique(np.concatenate([find_kmers(Z, k, strands=canonical).codes[0] for Z in (X, support)]))
        size, weights = X.alphabet.size, np.zeros(len(words))
        for i, word in enumerate(words):
            strands = np.array([word], dtype=words.dtype)
            if kernel.reverse_complement:
                strands = np.append(strands, reverse_codes(strands, k, X.alphabet))
            weights[i] = learned.of(np.unique(neighbours(strands, k, kernel.m, size))).sum()
        parts.append((spell(words, k, X.alphabet), weights))
    return merge(parts)


class Learned:
    """The weight of each feature: Σ_j coefficients[j]·Φ_u(z_j), times the weight of k and the kernel's scale."""

    def __init__(self, kernel, support, coefficients, k, weight):
        check_code_space(support.alphabet.size, k)
        found = find_kmers(support, k, strands=kernel._strands())
        words = neighbours(found.codes[0], k, kernel.m, support.alphabet.size)
        counted = Occurrences(words.reshape(1, -1), found.start * words.shape[1], found.space).count()
        owner = np.repeat(np.arange(len(support)), np.diff(counted.start))
        sums = np.bincount(counted.feature, weights=coefficients[owner], minlength=counted.n_features)
        vocabulary = np.arange(counted.n_features) if counted.vocabulary is None else counted.vocabulary
        self.words, self.weights = vocabulary.astype(np.uint64), weight * kernel._scale() * sums

    def of(self, words):
        """Return the weights of words, float64; 0 for those that no support sequence has."""
        if not len(self.words):
            return np.zeros(len(words))
        words = words.astype(np.uint64)
        place = np.minimum(np.searchsorted(self.words, words), len(self.words) - 1)
        return np.where(self.words[place] == words, self.weights[place], 0.0)


def neighbours(codes, k, m, size):
    """Return the codes of all words within `m` mismatches of each k-mer, (k-mers, neighbours)."""
    count = len(agreements(k, m, size))
    words = np.empty((len(codes), count), dtype=codes.dtype)
    _kmers.list_neighbours(np.ascontiguousarray(codes), k, m, size, words)
    return words


def agreements(k, m, size):
    """Return bool (neighbours, k): where a k-mer agrees with its neighbours, the same for every k-mer.

    The neighbours are those of `neighbours`, which lists them by the positions that are changed.
    """
    rows = [[True] * k]

    def change(row, first, left):
        for position in range(first, k if left else first):
            changed = [*row[:position], False, *row[position + 1 :]]
            for _ in range(size - 1):
                rows.append(changed)
                change(changed, position + 1, left - 1)

    change(rows[0], 0, m)
    return np.array(rows)


def reverse_codes(codes, k, alphabet):
    """Return the codes of the reverse complements of k-mers."""
    size, rest, result = codes.dtype.type(alphabet.size), codes.copy(), np.zeros_like(codes)
    for _ in range(k):
        rest, digit = np.divmod(rest, size)
        result = result * size + alphabet.complement_codes[digit].astype(codes.dtype)
    return result
