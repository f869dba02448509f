"""The wildcard kernel: k-mers with positions that match anything (Leslie and Kuang 2004)."""

from fractions import Fraction
from math import comb

from seqkern.core.parameters import changed, fixed, integer, real
from seqkern.kernels.kmer.estimators import as_numbers
from seqkern.kernels.kmer.hamming.hamming import LARGEST_LENGTH
from seqkern.kernels.kmer.hamming.hamming_kernel import HammingKernel
from seqkern.kernels.kmer.subset_features import SubsetFeatures


class WildcardKernel(SubsetFeatures, HammingKernel):
    r"""Wildcard kernel: shared k-mers with up to m wildcards.

    It suits motifs with a few variable positions: unlike mismatches, wildcards are part of the pattern and cost a
    factor.

    Notes
    -----
    The features u are k-mers of letters and up to m wildcards. Φ_u(x) is λ^j times the number of k-mers of x that match
    u at all positions but its j wildcards, and

    .. math:: K(x, y) = \sum_u Φ_u(x) Φ_u(y)

    So two k-mers with g matches add Σ_{j≤m} λ^{2j}·C(g, k − j).

    Complexity: O(|x|·|y|) per pair by Hamming distances, many window pairs at once. For large alphabets, a sum of
    spectrum kernels over Σ_{j≤m} C(k, j) subsets of positions.

    Definiteness: positive semi-definite.

    References
    ----------
    Leslie, Kuang: Fast string kernels using inexact matching for protein sequences. Journal of Machine Learning
    Research 5, 2004.

    Examples
    --------
    ACG matches itself in ``ACG``, ``AC*``, ``A*G`` and ``*CG``, and ATG in ``A*G`` alone, which counts 0.5²:

    >>> from seqkern.kernels import WildcardKernel
    >>> WildcardKernel(k=3, m=1, decay=0.5, normalize=False)(["ACG"], ["ACG", "ATG", "TTG"])
    array([[1.75, 0.25, 0.  ]])
    """

    name = "wildcard"
    summary = "Counts the k-mers that two sequences share, with up to m wildcards that match any residue."

    k: int = integer(default=5, low=1, high=LARGEST_LENGTH, kw_only=False, doc="Length of the k-mers.")
    m: int = integer(default=1, low=0, high="k", kw_only=False, doc="Wildcards allowed.")
    decay: float = real(default=0.5, low=0, high=1, doc="λ, the factor for each wildcard.")
    weights: None = fixed(None)
    presence: bool = fixed(False)
    reverse_complement: bool = changed(
        default=False,
        doc="Count each pair of k-mers twice: with the matches to the second k-mer and to its reverse "
        "complement. DNA and RNA only.",
    )

    @classmethod
    def examples(cls) -> list["WildcardKernel"]:
        """Return kernels for the contract suite."""
        return [
            cls(4, 1),
            cls(5, 3, decay=0.7, normalize=False),
            cls(4, 2, decay=1, reverse_complement=True),
            cls(4, 1, decay=0.3, reverse_complement=True),
            cls(3, 2, alphabet="HEC"),
        ]

    def _lengths(self) -> list[int]:
        return [self.k]

    def _pair_weights(self, size: int, l: int) -> list[int] | list[float]:  # noqa: E741
        square = Fraction(float(self.decay)) ** 2
        return as_numbers(sum(square**j * comb(l - h, l - j) for j in range(self.m + 1)) for h in range(l + 1))

    def _feature_values(self) -> dict[int, float]:
        return {self.k - j: float(self.decay) ** j for j in range(self.m + 1)}
