"""Explicit features of kernels on gapped words: a subset of a window's positions and the letters there."""

from itertools import combinations, product
from math import comb

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.core.memory import available_memory, format_bytes
from seqkern.kernels.kmer.kmer_kernel import MOST_NAMES
from seqkern.kernels.kmer.kmers import CODE_LIMIT, find_kmers
from seqkern.sequences.alphabets import as_alphabet

ENTRY_BYTES = 40  # of a window's feature while the matrix is made
GAP = "*"


class SubsetFeatures:
    """Mixin: `features` and `feature_names`.

    A family has `_feature_values` and what `HammingKernel` has, for windows of one length.
    """

    def _feature_values(self):
        """Return {number of letters in a feature: its value where it occurs}; ParameterError if there are none such."""
        raise NotImplementedError

    def check_features(self):
        """Raise ParameterError unless the kernel is a product of such features."""
        self._feature_values()

    def features(self, X):
        """Return the explicit features.

        Parameters
        ----------
        X : SequenceSet or list of str, n records

        Returns
        -------
        scipy.sparse.csr_matrix of float64, shape (n, features)
            One column for each subset of a window's positions, in the order of `itertools.combinations`, and each
            word over the b letters for it, in alphabetical order. The matrix times its transpose is the kernel
            matrix, not normalised.

        Raises
        ------
        ParameterError
            If the kernel is not a product of such features, or they need more memory than there is.
        """
        # loaded only where used: costs start-up
        from scipy.sparse import csr_matrix, hstack

        self.check_parameters()
        X = self.coerce(X)
        self._check_sequences(X)
        values = self._feature_values()
        (k,) = self._lengths()
        self._check_room(X, k, values)
        weights = self._window_weights(X, k)
        strands = 2 if self.reverse_complement else 1
        parts = []
        for j, value in values.items():
            subsets = list(combinations(range(k), j))
            found = find_kmers(X, k, subsets, self._strands())
            each = np.ones(found.codes.shape[1]) if weights is None else np.repeat(weights, strands)
            each = np.repeat(np.sqrt(self._scale()) * value * each, len(subsets))
            columns = found.codes.T.reshape(-1).astype(np.int64)
            part = csr_matrix((each, columns, found.start * len(subsets)), shape=(len(X), found.space))
            part.sum_duplicates()
            parts.append(part)
        return hstack(parts, format="csr")

    def _check_room(self, X, k, values):
        """Raise ParameterError before the work if the features are too many."""
        count = self._count_features(X.alphabet.size, values)
        entries = int(X.lengths.sum()) * sum(comb(k, j) for j in values) * (2 if self.reverse_complement else 1)
        if count >= CODE_LIMIT or entries * ENTRY_BYTES > available_memory():
            raise ParameterError(
                f"{count:.3g} features need about {format_bytes(entries * ENTRY_BYTES)} of memory",
                remedy="choose shorter words, or use the kernel without explicit features",
            )

    def _count_features(self, size, values):
        (k,) = self._lengths()
        return sum(comb(k, j) * size**j for j in values)

    def feature_names(self, alphabet=None):
        """Return the words that the columns of `features` stand for, with ``*`` for a position that is left out.

        Parameters
        ----------
        alphabet : str or Alphabet, optional
            By default the kernel's own.

        Returns
        -------
        list of str

        Raises
        ------
        ParameterError
            If there is no alphabet, the kernel has no such features, or there are too many.
        """
        self.check_parameters()
        alphabet = self.alphabet if alphabet is None else alphabet
        if alphabet is None:
            raise ParameterError("the names of features depend on the alphabet", remedy="give alphabet=…")
        letters, values = as_alphabet(alphabet).letters, self._feature_values()
        (k,) = self._lengths()
        count = self._count_features(len(letters), values)
        if count > MOST_NAMES:
            raise ParameterError(f"{count:.3g} names of features are too many", remedy="choose shorter words")
        return [
            _with_gaps(word, positions, k)
            for j in values
            for positions in combinations(range(k), j)
            for word in product(letters, repeat=j)
        ]


def _with_gaps(word, positions, k):
    """Return the letters of a word at their positions among k."""
    letters = [GAP] * k
    for letter, position in zip(word, positions, strict=True):
        letters[position] = letter
    return "".join(letters)
