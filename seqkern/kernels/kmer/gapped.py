"""Gapped k-mer kernels: the family of gkm-SVM and LS-GKM, for any alphabet."""

from typing import Literal

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import changed, choice, fixed, flag, integer
from seqkern.kernels.kmer.estimators import gapped_weights
from seqkern.kernels.kmer.hamming.hamming import LARGEST_LENGTH
from seqkern.kernels.kmer.hamming.hamming_kernel import HammingKernel
from seqkern.kernels.kmer.kmers import find_windows
from seqkern.kernels.kmer.subset_features import SubsetFeatures

LARGEST_WEIGHT = 50  # of a word at the centre
HALVING = 50  # letters over which the weight of a word halves


class GappedKmerKernel(SubsetFeatures, HammingKernel):
    """K(x, y) = Σ_h c_h·N_h, N_h the number of pairs of l-letter words of x and y at Hamming distance h.

    The words of a sequence are all its windows of l letters. With c_h = C(l − h, k), a word's features are its gapped
    k-mers, k of its letters with their positions: K is their product. The estimators weigh the pairs so that K is, up
    to a factor, the product of the *words'* counts as estimated from the counts of gapped k-mers, robust for words that
    are too long to be found twice.

    With the normalised kernel as its base, ``RBFKernel(gamma=0.5, base=…)`` is exp(γ(K − 1)) for γ = 1, as LS-GKM has
    it: ``{kernel: rbf, gamma: 0.5, base: {kernel: gapped_kmer, l: 11, k: 7, d: 3, estimator: truncated,
    reverse_complement: true}}``.

    References
    ----------
    Ghandi, Lee, Mohammad-Noori, Beer: Enhanced regulatory sequence prediction using gapped k-mer features. PLoS
    Computational Biology 10, 2014. Lee: LS-GKM: a new gkm-SVM for large-scale datasets. Bioinformatics 32, 2016.
    """

    name = "gapped_kmer"
    plain = "Counts the words with gaps that two sequences share: k letters out of l in a row."
    length_name = "l"

    l: int = integer(default=10, low=1, high=LARGEST_LENGTH, kw_only=False, doc="Letters of a word.")  # noqa: E741
    k: int = integer(default=6, low=1, high="l", kw_only=False, doc="Letters of a gapped k-mer.")
    d: int | None = integer(
        default=None,
        low=0,
        high="l",
        doc="The largest distance that counts; by default all do. A smaller one can make the kernel indefinite.",
    )
    estimator: Literal["count", "full", "truncated"] = choice(
        default="count",
        doc="What a pair of words at distance h adds: the gapped k-mers that they share; the estimated counts' "
        "weights; or those made sparse and positive, the default of LS-GKM.",
    )
    center_weighted: bool = flag(
        default=False,
        doc="The word that starts at letter i (from 0) of n possible ones has the weight min(50, ⌊50·2^(−|i − ⌊n/2⌋| "
        "/ 50) + 1⌋): sites are expected at the centre.",
    )
    weights: None = fixed(None)
    presence: bool = fixed(False)
    reverse_complement: bool = changed(
        default=False,
        doc="A pair of words counts with the distance of the one to the other, and to its reverse complement. DNA and "
        "RNA only.",
    )
    short: Literal["error", "zero"] = changed(
        default="error", doc="What to do about sequences shorter than `l`: refuse them, or let them have no words."
    )
    zero_diagonal: Literal["error", "zero"] = changed(
        default="error",
        doc="What to do, when normalising, about a sequence without any word: refuse it, or give it a row of zeros.",
    )
    algorithm: str = changed(
        default="auto",
        doc="How to compute; see `seqkern.kernels.kmer.hamming.hamming_kernel`. The numbers are the same. "
        "``diagonals`` is not for `center_weighted`.",
    )

    @classmethod
    def examples(cls):
        """Return kernels for the contract suite."""
        return [
            cls(6, 4),
            cls(7, 5, d=2, normalize=False),
            cls(5, 3, reverse_complement=True),
            cls(5, 3, estimator="full"),
            cls(6, 4, d=3, estimator="truncated", reverse_complement=True),
            cls(5, 3, center_weighted=True),
            cls(4, 2, estimator="truncated", center_weighted=True, reverse_complement=True),
            cls(4, 3, alphabet="HEC"),
        ]

    @property
    def positive_semidefinite(self):
        """Whether every Gram matrix is: all distances that have a weight count."""
        return self.d is None or self.d >= (self.l - self.k if self.estimator == "count" else self.l)

    @property
    def weighs_windows(self):
        """Whether the words of a sequence differ in weight."""
        return self.center_weighted

    def _lengths(self):
        return [self.l]

    def _pair_weights(self, size, l):  # noqa: E741
        return list(gapped_weights(size, l, self.k, self.d, self.estimator))

    def _window_weights(self, X, l):  # noqa: E741
        return center_weights(X, l) if self.center_weighted else None

    def _feature_values(self):
        if self.estimator != "count" or not self.positive_semidefinite:
            raise ParameterError(
                f"the kernel of estimator={self.estimator}, d={self.d} is no product of gapped k-mers' counts",
                remedy="choose estimator=count without d",
            )
        return {self.k: 1.0}


def center_weights(X, l):  # noqa: E741
    """Return the weight of each window of `l` unmasked letters, int64, in the order of `find_windows`.

    Windows with a masked letter have a place, though they are not there: the centre stays where it is.
    """
    windows = find_windows(X, l)
    ends = np.cumsum(X.lengths)
    record = np.searchsorted(ends, windows, side="right")
    place = windows - (ends - X.lengths)[record]
    distance = np.abs(place - (X.lengths[record] - l + 1) // 2)
    weights = np.floor(LARGEST_WEIGHT * np.exp2(-distance / HALVING) + 1)
    return np.minimum(LARGEST_WEIGHT, weights).astype(np.int64)
