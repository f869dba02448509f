"""The gappy kernel: k-mers with gaps inside windows of g residues (Leslie and Kuang 2004)."""

from typing import Literal

from seqkern.core.parameters import changed, integer
from seqkern.kernels.kmer.inexact import InexactKernel
from seqkern.kernels.kmer.kmer_kernel import LARGEST_K
from seqkern.kernels.kmer.neighbourhoods import Rule, subsequence_rule
from seqkern.sequences.alphabets import Alphabet


class GappyKernel(InexactKernel):
    r"""Gappy kernel: shared k-mers with gaps inside windows of g residues.

    It suits related sequences with short insertions and deletions. A window contains u if deleting g − k of its
    residues leaves u. It counts once, however many ways there are to do so.

    Notes
    -----
    With Φ_u(x) the number of windows of g residues of x that contain the k-mer u with gaps,

    .. math:: K(x, y) = \sum_u Φ_u(x) Φ_u(y)

    Complexity: a window contains up to C(g, k) k-mers. Listing them takes O(C(g, k)·|x|) per sequence. A pair then
    takes O(b^k) with dense vectors over the b letters of the alphabet, or time proportional to the shared k-mers with
    posting lists.

    Definiteness: positive semi-definite.

    Explanations share what a window adds for a k-mer equally among all ways to find the k-mer in the window, and among
    the k residues of each way.

    References
    ----------
    Leslie, Kuang: Fast string kernels using inexact matching for protein sequences. Journal of Machine Learning
    Research 5, 2004.

    Examples
    --------
    The window ACG holds AC, AG and CG; AGG holds AG and GG, CAG holds CA, CG and AG:

    >>> from seqkern.kernels import GappyKernel
    >>> GappyKernel(g=3, k=2, normalize=False)(["ACG"], ["ACG", "AGG", "CAG"])
    array([[3., 1., 2.]])
    """

    name = "gappy"
    summary = "Counts the k-mers that two sequences share, allowing gaps inside windows of g residues."
    length_name = "g"

    g: int = integer(default=6, low=1, high=LARGEST_K, kw_only=False, doc="Residues in a window.")
    k: int = integer(
        default=4, low=1, high="g", kw_only=False, doc="Residues in a feature. With k = g this is the spectrum kernel."
    )
    short: Literal["error", "zero"] = changed(
        default="error",
        doc="What to do with sequences shorter than g: raise an error, or treat them as having no windows.",
    )
    zero_diagonal: Literal["error", "zero"] = changed(
        default="error",
        doc="When normalising, what to do with a sequence without any window: raise an error, or return zeros.",
    )

    @classmethod
    def examples(cls) -> list["GappyKernel"]:
        """Return kernels for the contract suite."""
        return [
            cls(5, 3),
            cls(6, 4, normalize=False, reverse_complement=True),
            cls(6, 4, presence=True),
            cls(4, 4, presence=True, reverse_complement=True),
            cls(4, 2, alphabet="HEC"),
        ]

    def min_length(self) -> int:
        """Return g, the minimum length of a sequence."""
        return self.g

    def _rule(self, alphabet: Alphabet) -> Rule:
        return subsequence_rule(alphabet.size, self.g, self.k)
