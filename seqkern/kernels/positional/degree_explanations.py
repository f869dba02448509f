"""Decisions of the weighted degree kernels, explained by residue and k-mer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqkern.kernels.kmer.kmers import codes_fit, find_kmers
from seqkern.kernels.kmer.positions import window_positions
from seqkern.kernels.kmer.wide_kmers import find_wide_kmers
from seqkern.kernels.occurrences import spell
from seqkern.kernels.positional._weighted_degree import share
from seqkern.kernels.positional.degree_payload import DegreePayload, make_sum
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from seqkern.kernels.kernel import SequenceKernel as _Base
else:
    _Base = object

MOST_WORDS = 1 << 22  # occurrences, of all lengths


class DegreeExplanations(_Base):
    """The explanations of `WeightedDegreeKernel`: the contribution of each k-mer at its position to Σ_j c_j·K(x,
    z_j).
    """

    kmers_vary = True

    if TYPE_CHECKING:  # members of the kernel

        @property
        def degree(self) -> int:
            """Length of the longest k-mers."""

        def length_weights(self) -> npt.NDArray[np.float64]:
            """Return β_1, β_2, …."""

        def start_weights(self, length: int) -> npt.NDArray[np.float64]:
            """Return the weight of each position.

            Parameters
            ----------
            length : int
                Residues of the sequences.
            """

        def shifts(self, length: int) -> npt.NDArray[np.int64]:
            """Return the largest shift at each position.

            Parameters
            ----------
            length : int
                Residues of the sequences.
            """

        def common_length(self, X: SequenceSet, length: int | None = None) -> int:
            """Return the length of all sequences.

            Parameters
            ----------
            X : SequenceSet
                Of one length.
            length : int, optional
                The required length.
            """

    def _attribute(
        self, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Share the weight of each common k-mer equally among its residues."""
        length = int(X.lengths.max(initial=0))
        shares = np.zeros((len(X), length))
        weights = self.length_weights()
        for i, places in enumerate(self._places(X, support, coefficients, min(self.degree, length))):
            share(places, weights, shares[i])
        return shares.ravel()

    def _kmer_weights(
        self, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]
    ) -> tuple[list[str], npt.NDArray[np.float64]]:
        """Return the mean contribution of each k-mer's occurrences in `X` and `support`, at their positions.

        Long k-mers are omitted if there were more than `MOST_WORDS` occurrences of all lengths.
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

    def _places(
        self, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64], lengths: int
    ) -> Iterator[npt.NDArray[np.float64]]:
        """Yield for each record the contributions of the k-mers at each position, without β_k; float64 (lengths,
        residues).
        """
        length = self.common_length(X, self.common_length(support) or None)
        sums = make_sum(X, length, self.degree, None, self.start_weights(length), self.shifts(length))
        mine, theirs = (DegreePayload(Z, length, sums) for Z in (X, support))
        coefficients = np.ascontiguousarray(coefficients, dtype=np.float64)
        for i in range(len(X)):
            yield mine.places(i, theirs, coefficients, lengths)


def _at_words(
    X: SequenceSet, k: int, table: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
    """Return the k-mers of `X`, codes or texts, and the entries of `table`, (n, lengths, residues), at their
    positions.
    """
    kmers: npt.NDArray[Any]
    if codes_fit(X.alphabet.size, k):
        found = find_kmers(X, k)
        kmers, start = found.codes[0], found.start
    else:
        wide = find_wide_kmers(X, k)
        kmers, start = wide.texts, wide.start
    records = np.repeat(np.arange(len(X)), np.diff(start))
    return kmers, table[records, k - 1, window_positions(X, k)]
