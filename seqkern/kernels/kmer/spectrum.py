"""The spectrum kernel: common k-mers (Leslie, Eskin, Noble, PSB 2002)."""

import numpy as np

from seqkern.core.parameters import changed, choice, integer
from seqkern.kernels.kmer.kmer_kernel import LARGEST_K, KmerKernel
from seqkern.kernels.kmer.kmers import SMALL_SPACE, codes_fit, find_kmers, find_wide_kmers, find_windows
from seqkern.kernels.occurrences import Labelled, merge, spell, spread
from seqkern.kernels.products.dense import WIDEST, dense_block
from seqkern.kernels.products.sparse import SparseBlock


class SpectrumKernel(KmerKernel):
    """K(x, y) = Σ_u Φ_u(x)·Φ_u(y), Φ_u(x) the number of occurrences of the k-mer u in x.

    References
    ----------
    Leslie, Eskin, Noble: The spectrum kernel. Pacific Symposium on Biocomputing 7, 2002.
    """

    name = "spectrum"
    plain = "Counts the k-letter words that two sequences share."

    k: int | list[int] = integer(
        default=3,
        low=1,
        high=LARGEST_K,
        several=True,
        kw_only=False,
        doc="Length of the k-mers. For several, K is the weighted sum of their kernels: with k = 1, …, d the mixed "
        "spectrum kernel of degree d.",
    )
    presence: bool = changed(default=False, doc="Φ_u(x) is 1 where u occurs, instead of a count.")
    algorithm: str = choice(
        default="auto",
        choices=("auto", "dense", "index", "wide"),
        execution=True,
        doc="How to compute: a product of dense vectors over all k-mers; posting lists of k-mers packed into 64 bits; "
        "or of k-mers as text, for those that do not fit into 64 bits. The numbers are the same.",
    )

    @classmethod
    def examples(cls):
        """Return kernels for the contract suite."""
        return [
            cls(),
            cls([1, 2, 4], weights=[0.5, 2, 0.3], normalize=False),
            cls(4, reverse_complement=True),
            cls([2, 9], presence=True),
            cls(2, alphabet="HEC"),
        ]

    def _costs(self, work, size, k):
        costs = {}
        if codes_fit(size, k):
            costs["index"] = work.index(work.match**k, size**k)
        if size**k <= WIDEST:
            costs["dense"] = work.dense(size**k, work.common**k)
        return costs | {"wide": work.index(work.match**k, work.letters) + work.text(k)}

    def _members(self, X, k, algorithm, others):
        if algorithm == "dense":
            yield 1, dense_block(self._find(X, k), self.presence)
            next(others)
        else:
            yield 1, SparseBlock(self._counts(X, k, algorithm), next(others))

    def _find(self, X, k):
        """Return the Occurrences of the k-mers."""
        return find_kmers(X, k, strands="canonical" if self.reverse_complement else "one")

    def _counts(self, X, k, algorithm="index"):
        found = find_wide_kmers(X, k, self.reverse_complement) if algorithm == "wide" else self._find(X, k)
        counted = found.count()
        if self.presence:
            counted.count[:] = 1
        return counted

    def _labelled(self, X, support, k, every=False):
        """Return the k-mers of both sets, Labelled; with `every`, those that do not occur may be among them."""
        if codes_fit(X.alphabet.size, k):
            mine, theirs = self._find(X, k), self._find(support, k)
            if every and mine.space <= SMALL_SPACE:
                return Labelled.by_code(mine.codes[0], mine.start, theirs.codes[0], theirs.start, mine.space)
            return Labelled.of(mine.codes[0], mine.start, theirs.codes[0], theirs.start)
        mine, theirs = (find_wide_kmers(Z, k, self.reverse_complement) for Z in (X, support))
        return Labelled.of(mine.words, mine.start, theirs.words, theirs.start)

    def _attribute(self, X, support, coefficients):
        """Share the weight of each occurrence among its letters; under `presence`, among all occurrences first."""
        self._check_sequences(X)
        letters = int(X.lengths.sum())
        shares = np.zeros(letters)
        for k, weight in zip(self._lengths(), self._weights(), strict=True):
            found = self._labelled(X, support, k, every=True)
            values = weight * found.weights(coefficients, self.presence)[found.labels]
            if self.presence:
                values /= found.occurrences()
            shares += spread(values, find_windows(X, k), range(k), letters)
        return shares

    def _word_weights(self, X, support, coefficients):
        parts = []
        for k, weight in zip(self._lengths(), self._weights(), strict=True):
            found = self._labelled(X, support, k)
            words = spell(found.distinct, k, X.alphabet)
            parts.append((words, weight * found.weights(coefficients, self.presence)))
        return merge(parts)
