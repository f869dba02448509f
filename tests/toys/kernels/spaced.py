"""A kernel on k-mers, as small as one can be: k-mers whose residues stand apart."""

from seqkern.core.parameters import choice, integer
from seqkern.kernels.kmer.kmer_kernel import LARGEST_K, KmerKernel
from seqkern.kernels.kmer.kmers import codes_fit, find_kmers
from seqkern.kernels.products.product import WIDEST, SparseBlock, dense_block


class SpacedKernel(KmerKernel):
    """K(x, y) = Σ_u Φ_u(x)·Φ_u(y), Φ_u(x) how often u is read from x, one residue in every `step`."""

    name = "toy-spaced"
    summary = "Counts the k-mers that two sequences share, read with gaps of one length."

    k = integer(default=3, low=1, high=LARGEST_K, summed=True, kw_only=False, doc="Residues that are read.")
    step = integer(default=2, low=1, doc="Residues from one of them to the next.")
    algorithm = choice(
        default="auto",
        choices=("auto", "dense", "index"),
        execution=True,
        doc="How to compute: a product of dense vectors, or posting lists. The numbers are the same.",
    )

    tested_with = (
        {},
        {"k": [1, 2], "step": 3, "weights": [1, 0.5]},
        {"k": 2, "reverse_complement": True, "presence": True},
    )

    def _min_length(self):
        """Return how many residues the longest k-mer spans."""
        return max(map(self._window, self._lengths()))

    def _window(self, k):
        return (k - 1) * self.step + 1

    def _find(self, X, k):
        strands = "canonical" if self.reverse_complement else "one"
        return find_kmers(X, self._window(k), [tuple(range(0, k * self.step, self.step))], strands)

    def _costs(self, work, size, k):
        costs = {}
        if codes_fit(size, k):
            costs["index"] = work.index(work.match**k, size**k)
        if size**k <= WIDEST:
            costs["dense"] = work.dense(size**k, work.common**k)
        return costs

    def _members(self, X, k, algorithm, others):
        like = next(others)
        dense = algorithm == "dense"
        yield 1, dense_block(self._find(X, k), self.presence) if dense else SparseBlock(self._counts(X, k), like)

    def _counts(self, X, k):
        counted = self._find(X, k).count()
        if self.presence:
            counted.count[:] = 1
        return counted
