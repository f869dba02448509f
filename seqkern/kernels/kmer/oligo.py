"""The oligo kernel: common k-mers, fuzzy in their positions (Meinicke, Tech, Morgenstern, Merkl 2004)."""

import numpy as np

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.parameters import choice, fixed, integer, real
from seqkern.kernels.kmer.kmer_kernel import LARGEST_K, KmerKernel
from seqkern.kernels.kmer.kmers import MOST_CODES, codes_fit, find_kmers, find_windows
from seqkern.kernels.kmer.positions import (
    PositionBlock,
    distance_weights,
    mean_shares,
    occurrence_shares,
    position_costs,
    window_positions,
)
from seqkern.kernels.occurrences import merge, spell, spread


class OligoKernel(KmerKernel):
    """K(x, y) = Σ_u Σ_p Σ_q exp(−(p − q)²/4σ²), over the positions p in x and q in y at which the k-mer u starts.

    Positions count from the start of a sequence. Small σ compares equal positions only, large σ is the spectrum
    kernel. The weights of the distances are rounded to multiples of 2^-59, and their sums are exact.

    References
    ----------
    Meinicke, Tech, Morgenstern, Merkl: Oligo kernels for datamining on biological sequences: a case study on
    prokaryotic translation initiation sites. BMC Bioinformatics 5, 2004.
    """

    name = "oligo"
    plain = "Counts the short words that two sequences share, the less the farther apart their positions are."
    words_vary = True

    k: int | list[int] = integer(
        default=3,
        low=1,
        high=LARGEST_K,
        several=True,
        kw_only=False,
        doc="Length of the k-mers. For several, K is the weighted sum of their kernels.",
    )
    sigma: float = real(default=5.0, low=0, open_low=True, kw_only=False, doc="σ, in letters.")
    presence: bool = fixed(False)
    reverse_complement: bool = fixed(False)
    algorithm: str = choice(
        default="auto",
        choices=("auto", "dense", "index"),
        execution=True,
        doc="How to compute: by one sequence's k-mers smoothed over all positions, or posting lists. The numbers are "
        "the same.",
    )

    @classmethod
    def examples(cls):
        """Return kernels for the contract suite."""
        return [cls(2, 3), cls([1, 3], 0.8, weights=[0.5, 2], normalize=False), cls(1, 1e6, alphabet="HEC")]

    def _check_explicit(self):
        raise ParameterError(
            f"kernel {self.name!r} has no explicit features", remedy="choose kernel spectrum, or the kernel matrix"
        )

    def _costs(self, work, size, k):
        if not codes_fit(size, k):
            return {}
        return position_costs(work, work.match**k, size**k, 1, len(self._weigh(work.longest)))

    def _members(self, X, k, algorithm, others):
        yield 1, PositionBlock(*_occurrences(X, k), self._weigh, next(others), smooth=algorithm == "dense")

    def _weigh(self, length):
        """Return the weights of distances less than `length`."""
        return distance_weights("gaussian", length, 2.0 * self.sigma)

    def _attribute(self, X, support, coefficients):
        """Share what each occurrence adds equally by its letters."""
        self._check_sequences(X)
        letters = int(X.lengths.sum())
        total = np.zeros(letters)
        for k, weight in zip(self._lengths(), self._weights(), strict=True):
            shares, _ = occurrence_shares(_occurrences(X, k), _occurrences(support, k), self._weigh, coefficients)
            total += spread(weight * shares, find_windows(X, k), range(k), letters)
        return total

    def _word_weights(self, X, support, coefficients):
        """Return for each k-mer what its occurrences in `X` and `support` add on average."""
        parts = []
        for k, weight in zip(self._lengths(), self._weights(), strict=True):
            distinct, means = mean_shares(_occurrences(X, k), _occurrences(support, k), self._weigh, coefficients)
            parts.append((spell(distinct, k, X.alphabet), weight * means))
        return merge(parts)


def _occurrences(X, k):
    """Return the Occurrences of the k-mers, and where in its record each starts."""
    if X.lengths.sum() > MOST_CODES:
        raise SequenceError(f"{X.lengths.sum()} letters are too many for one matrix", remedy="divide the sequences")
    return find_kmers(X, k), window_positions(X, k)
