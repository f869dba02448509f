"""Decisions of the weighted degree kernels, taken apart residue by residue and k-mer by k-mer."""

import numpy as np

from seqkern.kernels.kmer.kmers import codes_fit, find_kmers
from seqkern.kernels.kmer.positions import window_positions
from seqkern.kernels.kmer.wide_kmers import find_wide_kmers
from seqkern.kernels.occurrences import spell
from seqkern.kernels.positional._weighted_degree import share
from seqkern.kernels.positional.degree_payload import DegreePayload, make_sum

MOST_WORDS = 1 << 22  # occurrences, of all lengths


class DegreeExplanations:
    """The part of `WeightedDegreeKernel` that explains: what a k-mer at its place adds to Σ_j c_j·K(x, z_j)."""

    words_vary = True

    def _attribute(self, X, support, coefficients):
        """Share the weight of each common k-mer equally among its letters."""
        length = int(X.lengths.max(initial=0))
        shares = np.zeros((len(X), length))
        weights = self.length_weights()
        for i, places in enumerate(self._places(X, support, coefficients, min(self.degree, length))):
            share(places, weights, shares[i])
        return shares.ravel()

    def _word_weights(self, X, support, coefficients):
        """Return for each k-mer what its occurrences in `X` and `support` add on average, by their places.

        Long k-mers are left out where there would be more than `MOST_WORDS` occurrences of all lengths.
        """
        length = int(X.lengths.max(initial=0))
        letters = int(X.lengths.sum() + support.lengths.sum())
        longest = max(1, min(self.degree, length, MOST_WORDS // max(1, letters)))
        tables = []
        for Z in (X, support):
            tables.append(np.zeros((len(Z), longest, length)))
            for i, places in enumerate(self._places(Z, support, coefficients, longest)):
                tables[-1][i] = places
        names, means = [], []
        for k, weight in enumerate(self.length_weights()[:longest], 1):
            found = [_at_words(Z, k, table) for Z, table in zip((X, support), tables, strict=True)]
            words, values = (np.concatenate(part) for part in zip(*found, strict=True))
            distinct, number = np.unique(words, return_inverse=True)
            sums = np.bincount(number, weights=values, minlength=len(distinct))
            names += spell(distinct, k, X.alphabet)
            means.append(weight * sums / np.bincount(number, minlength=len(distinct)))
        return names, np.concatenate(means)

    def _places(self, X, support, coefficients, lengths):
        """Yield for each record what the k-mers at each place add, without β_k; float64 (lengths, letters)."""
        length = self.common_length(X, self.common_length(support) or None)
        sums = make_sum(X, length, self.degree, None, self.start_weights(length), self.shifts(length))
        mine, theirs = (DegreePayload(Z, length, sums) for Z in (X, support))
        coefficients = np.ascontiguousarray(coefficients, dtype=np.float64)
        for i in range(len(X)):
            yield mine.places(i, theirs, coefficients, lengths)


def _at_words(X, k, table):
    """Return the k-mers of `X`, codes or texts, and what `table`, (n, lengths, letters), has at their places."""
    if codes_fit(X.alphabet.size, k):
        found = find_kmers(X, k)
        words = found.codes[0]
    else:
        found = find_wide_kmers(X, k)
        words = found.texts
    records = np.repeat(np.arange(len(X)), np.diff(found.start))
    return words, table[records, k - 1, window_positions(X, k)]
