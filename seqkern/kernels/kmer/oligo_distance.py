"""The oligomer distance histogram kernel: pairs of k-mers at each distance (Lingner & Meinicke 2006)."""

from typing import Any

from seqkern.core.parameters import changed, integer
from seqkern.kernels.kmer.pairs.pair_kernel import PairKernel


class OligoDistanceKernel(PairKernel):
    r"""Oligomer distance histogram kernel: shared pairs of k-mers at each distance.

    It suits remote homologs of any length, which conserve distances between residues more than residues in a row. The
    k-mers overlap if d < k; for d = 0 they are the same k-mer. Features are named ``u(d)v``.

    Notes
    -----
    With f = (u, v, d) for d = 0, …, D, and Φ_f(x) the number of positions of x at which u starts and v starts d
    residues later,

    .. math:: K(x, y) = \sum_f Φ_f(x) Φ_f(y)

    Complexity: O((D + 1)·|x|) per sequence to list its pairs. A pair of sequences then takes O((D + 1)·b^(2k)) with
    dense vectors over the b letters of the alphabet, or time proportional to the shared features with posting lists.

    Definiteness: positive semi-definite.

    References
    ----------
    Lingner, Meinicke: Remote homology detection based on oligomer distances. Bioinformatics 22, 2006.

    Examples
    --------
    Both sequences have A at two positions, and A(2)A once:

    >>> from seqkern.kernels import OligoDistanceKernel
    >>> OligoDistanceKernel(k=1, max_distance=2, normalize=False)(["ACA"], ["ACA", "AGA"])
    array([[8., 5.]])
    >>> OligoDistanceKernel(k=1, max_distance=2, alphabet="dna").feature_names()[-2:]
    ['T(2)G', 'T(2)T']
    """

    name = "oligo_distance"
    summary = "Counts the pairs of k-mers that two sequences share, for each distance between the two."

    max_distance: int = integer(
        default=50,
        low=0,
        kw_only=False,
        doc="D, the largest distance between the starts of two k-mers. The paper uses all distances "
        "that occur, up to the length of the longest sequence.",
    )
    presence: bool = changed(default=False, doc="Φ_f(x) is 1 if f occurs, instead of a count.")

    @classmethod
    def examples(cls) -> list["OligoDistanceKernel"]:
        """Return kernels for the contract suite."""
        return [
            cls(1, 12),
            cls([1, 2], 5, weights=[0.5, 2], normalize=False),
            cls(2, 4, reverse_complement=True),
            cls(1, 40, presence=True, alphabet="HEC"),
        ]

    def _distances(self, k: int) -> range:
        return range(self.max_distance + 1)

    @staticmethod
    def _name(first: Any, second: Any, k: int, distance: int) -> Any:
        return first + f"({distance})" + second
