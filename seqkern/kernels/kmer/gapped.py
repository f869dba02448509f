"""Gapped k-mer kernels: the family of gkm-SVM and LS-GKM, for any alphabet."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import changed, choice, fixed, flag, integer
from seqkern.kernels.kmer.estimators import gapped_weights
from seqkern.kernels.kmer.hamming.hamming import LARGEST_LENGTH
from seqkern.kernels.kmer.hamming.hamming_kernel import HammingKernel
from seqkern.kernels.kmer.kmers import find_windows
from seqkern.kernels.kmer.subset_features import SubsetFeatures
from seqkern.sequences.sequence_set import SequenceSet

LARGEST_WEIGHT = 50  # of an l-mer at the centre
HALVING = 50  # residues over which the weight of an l-mer halves


class GappedKmerKernel(SubsetFeatures, HammingKernel):
    r"""Gapped k-mer kernel: shared l-mers of which only k positions need to match.

    This is the family of gkm-SVM and LS-GKM, for any alphabet. It suits degenerate motifs, such as binding sites in
    regulatory DNA.

    With the normalised kernel as its base, ``RBFKernel(gamma=0.5, base=…)`` is exp(γ(K − 1)) for γ = 1, as in LS-GKM:
    ``{kernel: rbf, gamma: 0.5, base: {kernel: gapped_kmer, l: 11, k: 7, d: 3, estimator: truncated, reverse_complement:
    true}}``.

    Notes
    -----
    With N_h(x, y) the number of pairs of l-mers of x and y at Hamming distance h,

    .. math:: K(x, y) = \sum_{h=0}^{l} c_h N_h(x, y)

    For ``estimator="count"``, c_h = C(l − h, k): the features are the gapped k-mers, and K is the dot product of their
    counts. The other estimators choose c_h so that K is, up to a factor, the dot product of *l-mer* counts estimated
    from gapped k-mer counts. These estimates are robust when l-mers are too long to occur twice.

    Complexity: O(|x|·|y|) per pair by Hamming distances, many window pairs at once. For large alphabets, a sum of
    spectrum kernels over at most C(l, k) subsets of positions for ``count``.

    Definiteness: positive semi-definite, unless `d` cuts off distances with non-zero c_h; always with `clip`.

    References
    ----------
    Ghandi, Lee, Mohammad-Noori, Beer: Enhanced regulatory sequence prediction using gapped k-mer features. PLoS
    Computational Biology 10, 2014.

    Lee: LS-GKM: a new gkm-SVM for large-scale datasets. Bioinformatics 32, 2016.

    Examples
    --------
    Of the six ways to choose two of four positions, ACGT and ACGA agree in three:

    >>> from seqkern.kernels import GappedKmerKernel
    >>> GappedKmerKernel(l=4, k=2, normalize=False)(["ACGT"], ["ACGT", "ACGA", "ACTA", "TTTT"])
    array([[6., 3., 1., 0.]])
    >>> GappedKmerKernel(l=3, k=2, alphabet="dna").feature_names()[:3]
    ['AA*', 'AC*', 'AG*']

    With the estimator that LS-GKM has by default, on both strands:

    >>> lsgkm = GappedKmerKernel(l=6, k=4, d=2, estimator="truncated", reverse_complement=True)
    >>> lsgkm(["GATTACA"], ["GATTACA", "TGTAATC", "GATCACA"]).round(2)
    array([[1.  , 1.  , 0.28]])
    """

    name = "gapped_kmer"
    summary = "Counts the gapped k-mers that two sequences share: k residues out of l in a row."
    length_name = "l"

    l: int = integer(default=10, low=1, high=LARGEST_LENGTH, kw_only=False, doc="Length of the l-mers.")  # noqa: E741
    k: int = integer(default=6, low=1, high="l", kw_only=False, doc="Fixed positions of a gapped k-mer.")
    d: int | None = integer(
        default=None,
        low=0,
        high="l",
        doc="Largest Hamming distance that counts; by default all. A limit can make the kernel indefinite.",
    )
    estimator: Literal["count", "full", "truncated"] = choice(
        default="count",
        doc="c_h, what a pair of l-mers at distance h adds: the number of gapped k-mers they share; "
        "the weights of estimated l-mer counts; or these weights truncated to positive values, "
        "the default of LS-GKM.",
    )
    center_weighted: bool = flag(
        default=False,
        doc="Weight l-mers by position, for sites expected at the centre: l-mer i (from 0) of n has "
        "weight min(50, ⌊50·2^(−|i − ⌊n/2⌋| / 50) + 1⌋).",
    )
    clip: bool = flag(
        default=False,
        doc="Set the negative eigenvalues of the matrix c[h(a, b)] over all l-mers to zero, which changes the c_h a "
        "little, in the same way for all data: the kernel is then positive semi-definite with any `d`.",
    )
    weights: None = fixed(None)
    presence: bool = fixed(False)
    reverse_complement: bool = changed(
        default=False,
        doc="Count each pair of l-mers twice: with the distance to the second l-mer and to its "
        "reverse complement. DNA and RNA only.",
    )
    short: Literal["error", "zero"] = changed(
        default="error",
        doc="What to do with sequences shorter than `l`: raise an error, or treat them as having no l-mers.",
    )
    zero_diagonal: Literal["error", "zero"] = changed(
        default="error",
        doc="When normalising, what to do with a sequence without any l-mer: raise an error, or return zeros.",
    )
    algorithm: str = changed(
        default="auto",
        doc="Algorithm (see `seqkern.kernels.kmer.hamming.hamming_kernel`); results are identical. "
        "``diagonals`` does not support `center_weighted`.",
    )

    @classmethod
    def examples(cls) -> list["GappedKmerKernel"]:
        """Return kernels for the contract suite."""
        return [
            cls(6, 4),
            cls(7, 5, d=2, normalize=False),
            cls(5, 3, reverse_complement=True),
            cls(5, 3, estimator="full"),
            cls(6, 4, d=3, estimator="truncated", reverse_complement=True),
            cls(5, 3, center_weighted=True),
            cls(4, 2, estimator="truncated", center_weighted=True, reverse_complement=True),
            cls(5, 3, d=1, clip=True),
            cls(4, 3, alphabet="HEC"),
        ]

    @property
    def positive_semidefinite(self) -> bool:  # type: ignore[override]  # an attribute of the class in other kernels
        """Whether every Gram matrix is: `d` cuts off no distance with a weight, or negative eigenvalues are clipped."""
        return self.clip or not self._is_cut()

    def _is_cut(self) -> bool:
        """Return whether `d` cuts off a distance with a weight."""
        return self.d is not None and self.d < (self.l - self.k if self.estimator == "count" else self.l)

    @property
    def weighs_windows(self) -> bool:  # type: ignore[override]  # likewise
        """Whether the l-mers of a sequence differ in weight."""
        return self.center_weighted

    def _lengths(self) -> list[int]:
        return [self.l]

    def _pair_weights(self, size: int, l: int) -> list[int] | list[float]:  # noqa: E741
        return list(gapped_weights(size, l, self.k, self.d, self.estimator, self.clip))

    def _window_weights(self, X: SequenceSet, l: int) -> npt.NDArray[np.int64] | None:  # noqa: E741
        return center_weights(X, l) if self.center_weighted else None

    def _feature_values(self) -> dict[int, float]:
        if self.estimator != "count" or self._is_cut():
            raise ParameterError(
                f"the kernel of estimator={self.estimator}, d={self.d} is not a product of gapped k-mer counts",
                remedy="choose estimator=count without d",
            )
        return {self.k: 1.0}


def center_weights(X: SequenceSet, l: int) -> npt.NDArray[np.int64]:  # noqa: E741
    """Return the weight of each l-mer by its distance from the centre of its record.

    Windows with a masked residue keep their place, so that the centre does not move.

    Parameters
    ----------
    X : SequenceSet
        The records.
    l : int
        Length of the l-mers.

    Returns
    -------
    ndarray of int64, shape (windows,)
        In the order of `seqkern.kernels.kmer.kmers.find_windows`.
    """
    windows = find_windows(X, l)
    ends = np.cumsum(X.lengths)
    record = np.searchsorted(ends, windows, side="right")
    place = windows - (ends - X.lengths)[record]
    distance = np.abs(place - (X.lengths[record] - l + 1) // 2)
    weights = np.floor(LARGEST_WEIGHT * np.exp2(-distance / HALVING) + 1)
    return np.minimum(LARGEST_WEIGHT, weights).astype(np.int64)
