"""The gappy pair kernel: pairs of k-mers with a gap (Mahrenholz et al. 2011; Palme, Hochreiter, Bodenhofer 2015)."""

from typing import Any, Literal

from seqkern.core.parameters import changed, choice, integer, real, text
from seqkern.kernels.kmer.pairs.pair_kernel import PairKernel
from seqkern.kernels.kmer.positions import FORMS


class GappyPairKernel(PairKernel):
    r"""Gappy pair kernel: shared pairs of k-mers at most m residues apart.

    It suits motifs with a spacer, such as coiled coils. Each number of residues between the two k-mers gives a feature
    of its own. The residues in between do not matter, and may be masked. Pairs are named as in KeBABS: ``AB..CD``. With
    `annotation`, features include annotation letters; with `distance_weight`, positions count.

    Notes
    -----
    With f the pairs of k-mers with 0 to m residues in between, and Φ_f(x) the number of occurrences of f in x,

    .. math:: K(x, y) = \sum_f Φ_f(x) Φ_f(y)

    With `distance_weight`, over the positions p and q, counted from the start of each record, at which f starts in x
    and in y,

    .. math:: K(x, y) = \sum_f \sum_p \sum_q E(|p − q|)

    Weights E are rounded to multiples of 2^−59; their sums are exact.

    Complexity: O((m + 1)·|x|) per sequence to list its pairs. A pair of sequences then takes O((m + 1)·b^(2k)) with
    dense vectors over the b letters of the alphabet, or time proportional to the shared features with posting lists.

    Definiteness: positive semi-definite.

    References
    ----------
    Mahrenholz, Abfalter, Bodenhofer, Volkmer, Hochreiter: Complex networks govern coiled-coil oligomerization –
    predicting and profiling by means of a machine learning approach. Molecular & Cellular Proteomics 10, 2011.

    Bodenhofer, Schwarzbauer, Ionescu, Hochreiter: Modeling position specificity in sequence kernels by fuzzy
    equivalence relations. IFSA/EUSFLAT 2009.

    Palme, Hochreiter, Bodenhofer: KeBABS: an R package for kernel-based analysis of biological sequences.
    Bioinformatics 31, 2015.

    Examples
    --------
    ACG has the pairs AC, CG and A.G; ATG shares A.G alone:

    >>> from seqkern.kernels import GappyPairKernel
    >>> kernel = GappyPairKernel(k=1, m=1, normalize=False)
    >>> kernel(["ACG"], ["ACG", "ATG"])
    array([[3., 1.]])
    >>> names = GappyPairKernel(k=1, m=1, alphabet="dna").feature_names()
    >>> names[:2], names[-2:]
    (['AA', 'AC'], ['T.G', 'T.T'])
    """

    name = "gappy_pair"
    summary = "Counts the pairs of k-mers, up to m residues apart, that two sequences share."

    m: int = integer(default=1, low=0, kw_only=False, doc="Largest number of residues between the two k-mers.")
    annotation: str | None = text(
        default=None,
        doc="Name of an annotation track (letters). The annotation letters of the two k-mers' "
        "residues, not of those in between, are part of the feature. Such a pair is named with "
        "both: ``AB..CDab..cd``. On the command line, give the file with ``--track NAME=FILE``.",
    )
    annotation_letters: str | None = text(
        default=None,
        remedy="give distinct ASCII letters",
        doc="Letters of the annotation. By default those that occur; required for `features`.",
    )
    distance_weight: str | None = choice(
        default=None,
        choices=(None, *FORMS),
        doc="E(d) for the distance d of two positions: 1 (none); [d = 0]; max(0, 1 − d/σ); exp(−d/σ); exp(−d²/σ²).",
    )
    sigma: float = real(default=1.0, low=0, open_low=True, doc="σ, in residues.")
    presence: bool = changed(
        default=False, doc="Φ_f(x) is 1 if f occurs, instead of a count. Not with `distance_weight`."
    )
    reverse_complement: bool = changed(
        default=False,
        doc="Treat a pair and its reverse complement as one feature, at the position on the given "
        "strand where either starts. DNA and RNA only.",
    )
    short: Literal["error", "zero"] = changed(
        default="error",
        doc="What to do with sequences shorter than the shortest pair, 2k residues: raise an error, "
        "or treat them as having no pairs.",
    )
    zero_diagonal: Literal["error", "zero"] = changed(
        default="error",
        doc="When normalising, what to do with a sequence without any pair: raise an error, or return zeros.",
    )
    algorithm: str = changed(
        default="auto",
        doc="Algorithm: products of dense vectors over all pairs, or posting lists; with "
        "`distance_weight`, the features of one sequence smoothed over all positions, or posting "
        "lists. Results are identical.",
    )

    @classmethod
    def examples(cls) -> list["GappyPairKernel"]:
        """Return kernels for the contract suite."""
        return [
            cls(2, 4),
            cls([1, 2], 3, weights=[0.5, 2], normalize=False),
            cls(2, 3, reverse_complement=True),
            cls(1, 3, presence=True, alphabet="HEC"),
            cls(1, 4, annotation="annotation"),
            cls(1, 3, distance_weight="specific"),
            cls([1, 2], 2, weights=[0.3, 0.7], distance_weight="linear", sigma=4.5, annotation="annotation"),
            cls(1, 2, distance_weight="exponential", sigma=3, reverse_complement=True, normalize=False),
            cls(2, 1, distance_weight="gaussian", sigma=5),
        ]

    def _distances(self, k: int) -> range:
        return range(k, k + self.m + 1)

    def min_length(self) -> int:
        """Return twice the largest k, the minimum length of a sequence."""
        return 2 * max(self._lengths())

    @staticmethod
    def _name(first: Any, second: Any, k: int, distance: int) -> Any:
        return first + "." * (distance - k) + second
