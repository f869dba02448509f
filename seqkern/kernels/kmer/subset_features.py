"""Explicit features of kernels on gapped k-mers: a subset of a window's positions and the residues there."""

from itertools import combinations, product
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.core.memory import available_memory, format_bytes
from seqkern.kernels.kmer.kmer_kernel import MOST_NAMES
from seqkern.kernels.kmer.kmers import CODE_LIMIT, find_kmers
from seqkern.sequences.alphabets import Alphabet, as_alphabet
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:  # a mixin of its subclasses; scipy slows start-up
    from scipy.sparse import csr_matrix

    from seqkern.kernels.kmer.hamming.hamming_kernel import HammingKernel as Base
else:
    Base = object

ENTRY_BYTES = 40  # of a window's feature while the matrix is made
GAP = "*"


class SubsetFeatures(Base):
    """Mixin of kernels on windows of one length: `features` and `feature_names`.

    A family implements `_feature_values`, and has the members of `HammingKernel`.
    """

    def _feature_values(self) -> dict[int, float]:
        """Return the value of each feature where it occurs, by its number of residues.

        Raises ParameterError if the kernel is not a product of such features.
        """
        raise NotImplementedError

    def check_features(self) -> None:
        """Raise ParameterError unless the kernel is a product of such features."""
        self._feature_values()

    def features(self, X: Any) -> "csr_matrix":
        """Return the explicit features.

        Parameters
        ----------
        X : SequenceSet or list of str, n records
            The sequences.

        Returns
        -------
        scipy.sparse.csr_matrix of float64, shape (n, features)
            One column for each subset of a window's positions, in the order of `itertools.combinations`, and each
            choice of letters for them, in alphabetical order. The matrix times its transpose is the kernel matrix,
            not normalised.

        Raises
        ------
        ParameterError
            If the kernel is not a product of such features, or they do not fit into memory.
        SequenceError
            As `prepare`.
        """
        # imported here: slows start-up
        from scipy.sparse import csr_matrix, hstack

        self.check_parameters()
        X = self.coerce(X)
        self._check_sequences(X)
        values = self._feature_values()
        (k,) = self._lengths()
        self._check_room(X, values)
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

    def feature_bytes(self, X: Any) -> int:
        """Return the bytes that the features take while they are made.

        Parameters
        ----------
        X : SequenceSet or list of str, n records
            The sequences.

        Returns
        -------
        int
        """
        (k,) = self._lengths()
        entries = int(self.coerce(X).lengths.sum()) * sum(comb(k, j) for j in self._feature_values())
        return ENTRY_BYTES * entries * (2 if self.reverse_complement else 1)

    def _check_room(self, X: SequenceSet, values: dict[int, float]) -> None:
        """Raise ParameterError before the work if the features are too many."""
        count, need = self._count_features(X.alphabet.size, values), self.feature_bytes(X)
        if count >= CODE_LIMIT or need > available_memory():
            raise ParameterError(
                f"{count:.3g} features need about {format_bytes(need)} of memory",
                remedy="choose shorter k-mers, or use the kernel without explicit features",
            )

    def _count_features(self, size: int, values: dict[int, float]) -> int:
        (k,) = self._lengths()
        return sum(comb(k, j) * size**j for j in values)

    def feature_names(self, alphabet: str | Alphabet | None = None) -> list[str]:
        """Return the gapped k-mers of the columns of `features`, with ``*`` for a gap.

        Parameters
        ----------
        alphabet : str or Alphabet, optional
            By default the kernel's own.

        Returns
        -------
        list of str
            One for each column.

        Raises
        ------
        ParameterError
            If no alphabet is given, or the kernel has no such features, or too many.
        """
        self.check_parameters()
        given = self.alphabet if alphabet is None else alphabet
        if given is None:
            raise ParameterError("the feature names need an alphabet", remedy="give alphabet=…")
        letters, values = as_alphabet(given).letters, self._feature_values()
        (k,) = self._lengths()
        count = self._count_features(len(letters), values)
        if count > MOST_NAMES:
            raise ParameterError(f"{count:.3g} feature names are too many", remedy="choose shorter k-mers")
        return [
            _with_gaps(chosen, positions, k)
            for j in values
            for positions in combinations(range(k), j)
            for chosen in product(letters, repeat=j)
        ]


def _with_gaps(chosen: tuple[str, ...], positions: tuple[int, ...], k: int) -> str:
    """Return letters at their positions among k."""
    letters = [GAP] * k
    for letter, position in zip(chosen, positions, strict=True):
        letters[position] = letter
    return "".join(letters)
