"""The oligomer distance histogram kernel: pairs of k-mers at each distance (Lingner & Meinicke 2006)."""

from seqkern.core.parameters import check_integer
from seqkern.kernels.kmer.pairs.pair_kernel import PairKernel


class OligoDistanceKernel(PairKernel):
    """K(x, y) = Σ_f Φ_f(x)·Φ_f(y), f the ordered pairs of k-mers whose starts are 0, 1, …, D letters apart.

    Φ_f(x) is the number of occurrences of f = (u, v, d) in x: of the k-mer u with the k-mer v starting d letters later.
    The two overlap if d < k; for d = 0 they are one k-mer. Such a pair is named ``u(d)v``.

    Parameters
    ----------
    k : int or list of int
        Length of the k-mers. For several, K is the weighted sum of their kernels.
    max_distance : int
        D, the largest distance between two starts. The paper takes all that occur: the longest sequence's length.
    weights : list of float, optional
        Weight of the kernel of each k; by default 1 each.
    normalize : bool
        Divide by sqrt(K(x, x)·K(y, y)).
    presence : bool
        Φ_f(x) is 1 where f occurs, instead of a count.
    reverse_complement : bool
        A pair and its reverse complement are one feature. DNA and RNA only.
    alphabet : str, optional
        The alphabet that sequences must have, and that strings are encoded with.
    short : {"error", "zero"}
        What to do about sequences shorter than the (largest) k: refuse them, or let them have no pairs.
    zero_diagonal : {"error", "zero"}
        What to do, when normalising, about a sequence without any k-mer: refuse it, or give it a row of zeros.
    n_threads : int, optional
        By default all cores.
    algorithm : {"auto", "dense", "index"}
        How to compute: a product of dense vectors over all pairs, or posting lists. The numbers are the same.

    References
    ----------
    Lingner, Meinicke: Remote homology detection based on oligomer distances. Bioinformatics 22, 2006.
    """

    name = "oligo_distance"
    plain = "Counts the pairs of short words that two sequences share, for each distance between the two."

    def __init__(
        self,
        k=1,
        max_distance=50,
        *,
        weights=None,
        normalize=True,
        presence=False,
        reverse_complement=False,
        alphabet=None,
        short="error",
        zero_diagonal="error",
        n_threads=None,
        algorithm="auto",
    ):
        self.k = k
        self.max_distance = max_distance
        self.weights = weights
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
            cls(1, 12),
            cls([1, 2], 5, weights=[0.5, 2], normalize=False),
            cls(2, 4, reverse_complement=True),
            cls(1, 40, presence=True, alphabet="HEC"),
        ]

    def _check_parameters(self):
        check_integer("max_distance", self.max_distance, 0)
        super()._check_parameters()

    def _distances(self, k):
        return range(self.max_distance + 1)

    @staticmethod
    def _name(first, second, k, distance):
        return first + f"({distance})" + second
