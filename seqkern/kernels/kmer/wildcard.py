"""The wildcard kernel: k-mers in which some letters match anything (Leslie & Kuang, JMLR 5, 2004)."""

from fractions import Fraction
from math import comb

from seqkern.core.parameters import check_integer, check_real
from seqkern.kernels.kmer.estimators import as_numbers
from seqkern.kernels.kmer.hamming.hamming import LARGEST_LENGTH
from seqkern.kernels.kmer.hamming.hamming_kernel import HammingKernel
from seqkern.kernels.kmer.subset_features import SubsetFeatures


class WildcardKernel(SubsetFeatures, HammingKernel):
    """K(x, y) = Σ_u Φ_u(x)·Φ_u(y) over the k-mers u of letters and up to m wildcards.

    Φ_u(x) is λ^j times the number of k-mers of x that agree with u in all positions but its j wildcards. So two k-mers
    with g letters in common add Σ_{j ≤ m} λ^2j·C(g, k − j).

    Parameters
    ----------
    k : int
        Length of the k-mers, at most 31.
    m : int
        Wildcards allowed, at most k.
    decay : float
        λ, what each wildcard costs: from 0 to 1.
    normalize : bool
        Divide by sqrt(K(x, x)·K(y, y)).
    reverse_complement : bool
        A pair of k-mers counts with the letters that the one shares with the other, and with its reverse complement.
        DNA and RNA only.
    alphabet : str, optional
        The alphabet that sequences must have, and that strings are encoded with.
    short : {"error", "zero"}
        What to do about sequences shorter than `k`: refuse them, or let them have no k-mers.
    zero_diagonal : {"error", "zero"}
        What to do, when normalising, about a sequence without any k-mer: refuse it, or give it a row of zeros.
    n_threads : int, optional
        By default all cores.
    algorithm : {"auto", "subsets", "diagonals", "pairs"}
        How to compute; see `seqkern.kernels.kmer.hamming.hamming_kernel`. The numbers are the same.

    References
    ----------
    Leslie, Kuang: Fast string kernels using inexact matching for protein sequences. Journal of Machine Learning
    Research 5, 2004.
    """

    name = "wildcard"
    plain = "Counts the k-letter words that two sequences share, with up to m letters that match anything."

    def __init__(
        self,
        k=5,
        m=1,
        *,
        decay=0.5,
        normalize=True,
        reverse_complement=False,
        alphabet=None,
        short="error",
        zero_diagonal="error",
        n_threads=None,
        algorithm="auto",
    ):
        self.k = k
        self.m = m
        self.decay = decay
        self.normalize = normalize
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
            cls(4, 1),
            cls(5, 3, decay=0.7, normalize=False),
            cls(4, 2, decay=1, reverse_complement=True),
            cls(4, 1, decay=0.3, reverse_complement=True),
            cls(3, 2, alphabet="HEC"),
        ]

    def _lengths(self):
        return [self.k]

    def _check_parameters(self):
        check_integer("k", self.k, 1, LARGEST_LENGTH)
        check_integer("m", self.m, 0, self.k)
        check_real("decay", self.decay, 0, 1)
        super()._check_parameters()

    def _pair_weights(self, size, l):  # noqa: E741
        square = Fraction(float(self.decay)) ** 2
        return as_numbers(sum(square**j * comb(l - h, l - j) for j in range(self.m + 1)) for h in range(l + 1))

    def _feature_values(self):
        return {self.k - j: float(self.decay) ** j for j in range(self.m + 1)}
