"""The spectrum kernel: shared k-mers (Leslie, Eskin, Noble, PSB 2002)."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import changed, choice, integer
from seqkern.kernels.decisions import Sums, Tally
from seqkern.kernels.kmer.kmer_kernel import LARGEST_K, LARGEST_TABLE, KmerKernel, TalliedSpectrum, sum_kmers
from seqkern.kernels.kmer.kmers import (
    SMALL_SPACE,
    Counted,
    Occurrences,
    codes_fit,
    find_kmers,
    find_wide_kmers,
    find_windows,
)
from seqkern.kernels.occurrences import KmerWeights, Labelled, merge, spell, spread
from seqkern.kernels.planner import Cost, Workload
from seqkern.kernels.products.product import WIDEST, Block, SparseBlock, dense_block
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet


class SpectrumKernel(KmerKernel):
    r"""Spectrum kernel: the k-mers that two sequences share.

    It ignores where a k-mer occurs. It suits sequences of any length and alphabet whose classes differ in composition
    or in short exact motifs.

    Notes
    -----
    With Φ_u(x) the number of occurrences of the k-mer u in x,

    .. math:: K(x, y) = \sum_u Φ_u(x) Φ_u(y)

    Complexity: O(|x|) per sequence to count its k-mers. A pair then takes O(b^k) with dense vectors over the b letters
    of the alphabet, or time proportional to the k-mers in common with posting lists.

    Definiteness: positive semi-definite.

    References
    ----------
    Leslie, Eskin, Noble: The spectrum kernel: a string kernel for SVM protein classification. Pacific Symposium on
    Biocomputing 7, 2002.

    Examples
    --------
    ACG occurs twice in the first sequence, so it adds 2·2 to K(x, x), and 2·1 to K(x, y):

    >>> from seqkern.kernels import SpectrumKernel
    >>> SpectrumKernel(3, normalize=False)(["ACGTACG", "TACG"])
    array([[7., 3.],
           [3., 2.]])
    >>> SpectrumKernel(3)(["ACGTACG", "TACG"]).round(2)
    array([[1. , 0.8],
           [0.8, 1. ]])

    The features are the counts of the k-mers:

    >>> kernel = SpectrumKernel(1, alphabet="dna")
    >>> kernel.feature_names()
    ['A', 'C', 'G', 'T']
    >>> kernel.features(["GATTACA", "CAT"]).toarray()
    array([[3., 1., 1., 2.],
           [1., 1., 0., 1.]])
    """

    name = "spectrum"
    summary = "Counts the k-mers that two sequences share."

    k: int | list[int] = integer(
        default=3,
        low=1,
        high=LARGEST_K,
        several=True,
        kw_only=False,
        doc="Length of the k-mers. With a list, K is the weighted sum of the kernels of each k; k = "
        "1, …, d gives the mixed spectrum kernel of degree d.",
    )
    presence: bool = changed(default=False, doc="Φ_u(x) is 1 if u occurs, instead of a count.")
    algorithm: str = choice(
        default="auto",
        choices=("auto", "dense", "index", "wide"),
        execution=True,
        doc="Algorithm: products of dense vectors over all k-mers; posting lists of k-mers packed "
        "into 64 bits; or posting lists of k-mers as text, for those that need more bits. Results "
        "are identical.",
    )

    @classmethod
    def examples(cls) -> list["SpectrumKernel"]:
        """Return kernels for the contract suite."""
        return [
            cls(),
            cls([1, 2, 4], weights=[0.5, 2, 0.3], normalize=False),
            cls(4, reverse_complement=True),
            cls([2, 9], presence=True),
            cls(2, alphabet="HEC"),
        ]

    def _costs(self, work: Workload, size: int, k: int) -> dict[str, Cost]:
        costs = {}
        if codes_fit(size, k):
            costs["index"] = work.index(work.match**k, size**k)
        if size**k <= WIDEST:
            costs["dense"] = work.dense(size**k, work.common**k)
        return costs | {"wide": work.index(work.match**k, work.letters) + work.text(k)}

    def _members(self, X: SequenceSet, k: int, algorithm: str, others: Iterator[Any]) -> Iterator[tuple[int, Block]]:
        if algorithm == "dense":
            yield 1, dense_block(self._find(X, k), self.presence)
            next(others)
        else:
            yield 1, SparseBlock(self._counts(X, k, algorithm), next(others))

    def _find(self, X: SequenceSet, k: int) -> Occurrences:
        """Return the Occurrences of the k-mers."""
        return find_kmers(X, k, strands="canonical" if self.reverse_complement else "one")

    def _counts(self, X: SequenceSet, k: int, algorithm: str = "index") -> Counted:
        if algorithm == "wide":
            counted = find_wide_kmers(X, k, self.reverse_complement).count()
        else:
            counted = self._find(X, k).count()
        if self.presence:
            counted.count[:] = 1
        return counted

    def kmer_tables(
        self, support: SequenceSet, coefficients: npt.NDArray[np.float64]
    ) -> list[tuple[int, npt.NDArray[np.float64]]] | None:
        """Return the weight of each k-mer; None with presence, or if a table would be too large."""
        tally = self.tally(support, coefficients)
        return None if tally is None else self.tallied(iter(tally), support.alphabet).tables()

    def tally(self, support: SequenceSet, coefficients: npt.NDArray[np.float64]) -> Tally | None:
        """Return the sum of the coefficients for each k-mer; None with presence, or if there are too many."""
        size = support.alphabet.size
        if self.presence or any(size**k > LARGEST_TABLE for k in self._lengths()):
            return None
        return [sum_kmers(support, coefficients, k, self.reverse_complement) for k in self._lengths()]

    def tallied(self, tally: Iterator[Sums], alphabet: Alphabet) -> TalliedSpectrum:
        """Return the sums over k-mers."""
        return TalliedSpectrum(self._lengths(), self._weights(), tally, alphabet, self.reverse_complement)

    def _labelled(self, X: SequenceSet, support: SequenceSet, k: int, every: bool = False) -> Labelled:
        """Return the labelled k-mers of both sets; with `every`, possibly including k-mers that do not occur."""
        if codes_fit(X.alphabet.size, k):
            mine, theirs = self._find(X, k), self._find(support, k)
            if every and mine.space <= SMALL_SPACE:
                return Labelled.by_code(mine.codes[0], mine.start, theirs.codes[0], theirs.start, mine.space)
            return Labelled.of(mine.codes[0], mine.start, theirs.codes[0], theirs.start)
        wide, others = (find_wide_kmers(Z, k, self.reverse_complement) for Z in (X, support))
        return Labelled.of(wide.texts, wide.start, others.texts, others.start)

    def _attribute(
        self, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Share the weight of each occurrence among its residues; with `presence`, first among all occurrences."""
        self._check_sequences(X)
        residues = int(X.lengths.sum())
        shares = np.zeros(residues)
        for k, weight in zip(self._lengths(), self._weights(), strict=True):
            found = self._labelled(X, support, k, every=True)
            values = weight * found.weights(coefficients, self.presence)[found.labels]
            if self.presence:
                values /= found.occurrences()
            shares += spread(values, find_windows(X, k), range(k), residues)
        return shares

    def _kmer_weights(self, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]) -> KmerWeights:
        parts = []
        for k, weight in zip(self._lengths(), self._weights(), strict=True):
            found = self._labelled(X, support, k)
            kmers = spell(found.distinct, k, X.alphabet)
            parts.append((kmers, weight * found.weights(coefficients, self.presence)))
        return merge(parts)
