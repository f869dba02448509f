"""The gappy kernel: k-mers with gaps inside windows of g letters (Leslie and Kuang 2004)."""

from seqkern.core.parameters import check_integer
from seqkern.kernels.kmer.inexact import InexactKernel
from seqkern.kernels.kmer.kmer_kernel import LARGEST_K
from seqkern.kernels.kmer.neighbourhoods import subsequence_rule


class GappyKernel(InexactKernel):
    """K(x, y) = Σ_u Φ_u(x)·Φ_u(y), Φ_u(x) the number of windows of x that hold the k-mer u with gaps.

    A window of g letters holds u if u is left when g − k of its letters are left out; it counts once, in however
    many ways that can be done.

    Parameters
    ----------
    g : int
        Letters of a window.
    k : int
        Letters of a feature, up to g. With g = k this is the spectrum kernel.
    normalize : bool
        Divide by sqrt(K(x, x)·K(y, y)).
    presence : bool
        Features are 1 where they are not 0.
    reverse_complement : bool
        A feature counts on both strands: with Ψ(x) = Φ(x) + Φ(reverse complement of x), K = ½·Ψ(x)·Ψ(y). DNA and
        RNA only.
    alphabet : str, optional
        The alphabet that sequences must have, and that strings are encoded with.
    short : {"error", "zero"}
        What to do about sequences shorter than g: refuse them, or let them have no windows.
    zero_diagonal : {"error", "zero"}
        What to do, when normalising, about a sequence without any window: refuse it, or give it a row of zeros.
    n_threads : int, optional
        By default all cores.
    algorithm : {"auto", "dense", "neighbours", "trie"}
        How to compute: vectors over all features, posting lists of those that occur, or a walk through the tree of
        all features that lists none. The numbers are the same.

    Notes
    -----
    Letter by letter, what a window adds for a feature is shared equally among all ways to find the feature in the
    window, and by the k letters of each way.

    References
    ----------
    Leslie, Kuang: Fast string kernels using inexact matching for protein sequences. Journal of Machine Learning
    Research 5, 2004.
    """

    name = "gappy"
    plain = "Counts the k-letter words that two sequences share, allowing gaps inside a window of g letters."
    length_name = "g"

    def __init__(
        self,
        g=6,
        k=4,
        *,
        normalize=True,
        presence=False,
        reverse_complement=False,
        alphabet=None,
        short="error",
        zero_diagonal="error",
        n_threads=None,
        algorithm="auto",
    ):
        self.g = g
        self.k = k
        self.normalize = normalize
        self.presence = presence
        self.reverse_complement = reverse_complement
        self.alphabet = alphabet
        self.short = short
        self.zero_diagonal = zero_diagonal
        self.n_threads = n_threads
        self.algorithm = algorithm

    @classmethod
    def examples(cls):
        """Return kernels for the contract suite."""
        return [
            cls(5, 3),
            cls(6, 4, normalize=False, reverse_complement=True),
            cls(6, 4, presence=True),
            cls(4, 4, presence=True, reverse_complement=True),
            cls(4, 2, alphabet="HEC"),
        ]

    def _check_parameters(self):
        check_integer("g", self.g, 1, LARGEST_K)
        check_integer("k", self.k, 1, self.g)
        super()._check_parameters()

    def min_length(self):
        """Return g: a shorter sequence lacks windows."""
        return self.g

    def _rule(self, alphabet):
        return subsequence_rule(alphabet.size, self.g, self.k)
