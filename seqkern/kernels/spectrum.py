"""The spectrum kernel: common k-mers (Leslie, Eskin, Noble, PSB 2002)."""

import numpy as np

from ..errors import ParameterError
from .base import check_choice, check_integer, check_real
from .kmers import check_code_space, check_lengths, code_windows, count_codes
from .product import FeatureBlocks, FeatureKernel, SparseBlock


class KmerKernel(FeatureKernel):
    """What the kernels on k-mers share: the parameters, their checks, one block of features for each k."""

    algorithms = ()

    def _ks(self):
        """Return k as a list."""
        return list(self.k) if isinstance(self.k, (list, tuple, range, np.ndarray)) else [self.k]

    def _weights(self):
        """Return the weight of each k, 1 by default."""
        return [1] * len(self._ks()) if self.weights is None else list(self.weights)

    def _check_parameters(self):
        ks = self._ks()
        if not ks or len(set(ks)) != len(ks):
            raise ParameterError(f"k={self.k!r} is not possible", remedy="give distinct integers")
        for k in ks:
            check_integer("k", k, 1)
        if len(self._weights()) != len(ks):
            raise ParameterError(
                f"{len(self._weights())} weights for {len(ks)} k", remedy="give one for each k"
            )
        for weight in self._weights():
            check_real("weights", weight, 0)
        check_choice("short", self.short, ("error", "zero"))
        check_choice("zero_diagonal", self.zero_diagonal, ("error", "zero"))
        check_choice("algorithm", self.algorithm, ("auto", *self.algorithms))

    def _check_sequences(self, X):
        """Raise for k-mers without a code, and for sequences that are too short."""
        longest = max(self._ks())
        check_code_space(X.alphabet.size, longest)
        if self.short == "error":
            check_lengths(X, longest)


class SpectrumKernel(KmerKernel):
    """K(x, y) = Σ_u Φ_u(x)·Φ_u(y), Φ_u(x) the number of occurrences of the k-mer u in x.

    Parameters
    ----------
    k : int or list of int
        Length of the k-mers. For several, K is the weighted sum of their kernels: with k = 1, …, d the mixed spectrum
        kernel of degree d.
    weights : list of float, optional
        Weight of the kernel of each k; by default 1 each.
    normalize : bool
        Divide by sqrt(K(x, x)·K(y, y)).
    presence : bool
        Φ_u(x) is 1 where u occurs, instead of a count.
    reverse_complement : bool
        A k-mer and its reverse complement are one feature. DNA and RNA only.
    alphabet : str, optional
        The alphabet that sequences must have, and that strings are encoded with.
    short : {"error", "zero"}
        What to do about sequences shorter than the (largest) k: refuse them, or let them have no k-mers.
    zero_diagonal : {"error", "zero"}
        What to do, when normalising, about a sequence without any k-mer: refuse it, or give it a row of zeros.
    n_threads : int, optional
        By default all cores.
    algorithm : {"auto", "dense", "index"}
        How to compute: a product of dense vectors over all k-mers, or posting lists. The numbers are the same.

    References
    ----------
    Leslie, Eskin, Noble: The spectrum kernel. Pacific Symposium on Biocomputing 7, 2002.
    """

    name = "spectrum"
    algorithms = ("index",)

    def __init__(
        self,
        k=3,
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
        self.weights = weights
        self.normalize = normalize
        self.presence = presence
        self.reverse_complement = reverse_complement
        self.alphabet = alphabet
        self.short = short
        self.zero_diagonal = zero_diagonal
        self.n_threads = n_threads
        self.algorithm = algorithm

    def _prepare(self, X, like):
        self._check_sequences(X)
        blocks = []
        for number, k in enumerate(self._ks()):
            counted = self._count(X, k)
            blocks.append(SparseBlock(counted, like and like.blocks[number]))
        return FeatureBlocks(blocks, self._weights())

    def _count(self, X, k):
        """Return the k-mers of each record, counted."""
        strands = "canonical" if self.reverse_complement else "one"
        counted = count_codes(*code_windows(X, k, strands=strands), len(X))
        if self.presence:
            counted.counts[:] = 1
        return counted
