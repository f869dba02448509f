"""Decisions of kernels on pairs of k-mers, explained by residue and pair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from seqkern.kernels.kmer.kmers import Counted
from seqkern.kernels.kmer.pairs.kmer_pairs import Notes, Pairs
from seqkern.kernels.kmer.positions import mean_shares, occurrence_shares
from seqkern.kernels.occurrences import KmerWeights, Pattern, merge, spell
from seqkern.kernels.products import _fold
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from seqkern.kernels.kmer.kmer_kernel import KmerKernel as _Base
else:
    _Base = object


class PairExplanations(_Base):
    """The explanations of `PairKernel`: the contribution of each occurrence of a pair to Σ_j c_j·K(x, z_j)."""

    if TYPE_CHECKING:  # members of the kernel

        @property
        def annotation(self) -> str | None:
            """The track of annotation letters."""

        @property
        def distance_weight(self) -> str | None:
            """The weighting of distances between occurrences."""

        def _distances(self, k: int) -> range: ...

        def _notes(self, X: SequenceSet) -> Notes | None: ...

        def _pairs(self, X: SequenceSet, k: int, notes: Notes | None) -> Pairs: ...

        def _counted(self, pairs: Pairs) -> Counted: ...

        def _weigh(self, length: int) -> npt.NDArray[np.float64]: ...

        def _names(self, codes: npt.NDArray[Any], k: int, alphabet: Alphabet, notes: Notes | None) -> list[str]: ...

    def _attribute(
        self, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Share the contribution of a pair equally among the residues of its two k-mers.

        With `presence`, the occurrences of a pair in a record share one contribution.
        """
        notes = self._common_notes(X, support)
        first, total = np.cumsum(X.lengths) - X.lengths, np.zeros(int(X.lengths.sum()))
        for k, weight in zip(self._lengths(), self._weights(), strict=True):
            pairs, theirs = self._pairs(X, k, notes), self._pairs(support, k, notes)
            found, positions = pairs.locate()
            values = weight * self._occurrence_values(pairs, theirs, coefficients)
            starts = positions + np.repeat(first, np.diff(found.start))
            number = (found.codes[0] // np.uint64(pairs.kmer_space**2)).astype(np.int64)
            for t in np.unique(number):
                here, distance = number == t, self._distances(k)[int(t)]
                offsets = np.concatenate((np.arange(k), distance + np.arange(k)))
                _fold.spread(values[here], starts[here], offsets, total)
        return total

    def _kmer_weights(self, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]) -> KmerWeights:
        """With distance weights, a pair has the mean contribution of its occurrences in `X` and `support`."""
        notes, parts = self._common_notes(X, support), []
        for k, weight in zip(self._lengths(), self._weights(), strict=True):
            pairs, theirs = self._pairs(X, k, notes), self._pairs(support, k, notes)
            if self.distance_weight is None:
                distinct = np.union1d(pairs.find().codes[0], theirs.find().codes[0])
                means = self._code_weights(distinct, theirs, coefficients)
            else:
                found = pairs.locate(), theirs.locate()
                distinct, means = mean_shares(*found, self._weigh, coefficients)
            names = self._names(distinct, k, X.alphabet, notes)
            parts.append((names, weight * means, self._patterns(distinct, k, X.alphabet)))
        return merge(parts)

    def _patterns(self, codes: npt.NDArray[Any], k: int, alphabet: Alphabet) -> list[Pattern | None]:
        """Return the Patterns of pairs with these codes; None for annotated ones."""
        if self.annotation is not None:
            return [None] * len(codes)
        number, pair = np.divmod(codes.astype(np.uint64), np.uint64(alphabet.size ** (2 * k)))
        offsets = [(*range(k), *range(distance, distance + k)) for distance in self._distances(k)]
        letters = spell(pair, 2 * k, alphabet)
        return [Pattern(text, offsets[t]) for text, t in zip(letters, number.tolist(), strict=True)]

    def _common_notes(self, X: SequenceSet, support: SequenceSet) -> Notes | None:
        """Return the annotation letters of two sets, or None without annotation."""
        if self.annotation is None:
            return None
        mine, theirs = cast("Notes", self._notes(X)), cast("Notes", self._notes(support))
        return np.union1d(mine, theirs)

    def _code_weights(
        self, codes: npt.NDArray[Any], theirs: Pairs, coefficients: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Return Σ_j coefficients[j]·Φ_f(z_j) for features with ascending distinct codes."""
        counted = self._counted(theirs)
        known = np.arange(counted.n_features) if counted.vocabulary is None else counted.vocabulary
        sums = np.zeros(len(known) + 1)
        _fold.gather_sparse(counted.start, counted.feature, counted.count, 0, coefficients, sums)
        place = np.minimum(np.searchsorted(known, codes), max(0, len(known) - 1))
        return np.where(known[place] == codes, sums[place], 0.0) if len(known) else np.zeros(len(codes))

    def _occurrence_values(
        self, pairs: Pairs, theirs: Pairs, coefficients: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Return the contribution of each occurrence of `pairs` to Σ_j c_j·K(x, z_j)."""
        if self.distance_weight is not None:
            return occurrence_shares(pairs.locate(), theirs.locate(), self._weigh, coefficients)[0]
        found = pairs.find()
        distinct, number = np.unique(found.codes[0], return_inverse=True)
        values = self._code_weights(distinct, theirs, coefficients)[number]
        if self.presence:
            record = np.repeat(np.arange(len(found)), np.diff(found.start))
            _, which, often = np.unique(
                record * max(1, len(distinct)) + number, return_inverse=True, return_counts=True
            )
            values = values / often[which]
        return values
