"""The mismatch kernel: k-mers with up to m mismatches (Leslie, Eskin, Cohen, Weston, Noble 2004).

Two k-mers at Hamming distance h share c(h) neighbours, so it is a `HammingKernel`. Besides its algorithms there are
three on the neighbours, which support presence:

- ``dense``: vectors over all k-mers. Counts are spread to neighbours position by position (`smoothing`).
- ``neighbours``: posting lists of all neighbours of all k-mers.
- ``trie``: a walk through the trie of all k-mers, if the others need too much memory.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_integer
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.parameters import changed, choice, integer
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.kernels.kmer import _kmers, mismatch_presence
from seqkern.kernels.kmer.hamming.hamming import LARGEST_LENGTH
from seqkern.kernels.kmer.hamming.hamming_kernel import HammingKernel
from seqkern.kernels.kmer.hamming.lmer_tables import LARGEST_TABLE
from seqkern.kernels.kmer.kmer_kernel import LARGEST_K
from seqkern.kernels.kmer.kmers import MOST_CODES, Counted, Occurrences, codes_fit, find_kmers
from seqkern.kernels.kmer.neighbourhoods import Windows, mismatch_rule
from seqkern.kernels.kmer.smoothing import OneStrand, Smoothed
from seqkern.kernels.kmer.trie import MOST_FEATURES, TrieBlock, trie_cost
from seqkern.kernels.occurrences import KmerWeights
from seqkern.kernels.planner import Cost, Workload
from seqkern.kernels.products.dense import WIDEST, DenseBlock, dense_block
from seqkern.kernels.products.product import Block, FeatureKernel, TermBlocks
from seqkern.kernels.products.sparse import SparseBlock
from seqkern.kernels.tallied import Tally
from seqkern.sequences.sequence_set import SequenceSet


class MismatchKernel(HammingKernel):
    r"""Mismatch kernel: shared k-mers with up to m mismatches.

    It suits diverged sequences, such as remote homologs, in which exact k-mers are rarely conserved.

    Notes
    -----
    With Φ_u(x) the number of k-mers a of x that differ from u in at most m positions,

    .. math:: K(x, y) = \sum_u Φ_u(x) Φ_u(y)

    Complexity: a k-mer has N = Σ_{i≤m} C(k, i)·(b − 1)^i neighbours, b the size of the alphabet. A pair takes
    O(|x|·|y|) by Hamming distances, O(b^k) with dense vectors, or time proportional to the shared neighbours with
    posting lists (O(N·|x|) per sequence to build them). For large N, the walk through the trie of k-mers needs little
    memory.

    Definiteness: positive semi-definite.

    References
    ----------
    Leslie, Eskin, Cohen, Weston, Noble: Mismatch string kernels for discriminative protein classification.
    Bioinformatics 20, 2004.

    Examples
    --------
    ACG has ten neighbours within one mismatch, and shares four of them with ACT:

    >>> from seqkern.kernels import MismatchKernel
    >>> MismatchKernel(3, 1, normalize=False)(["ACG"], ["ACG", "ACT", "TTT"])
    array([[10.,  4.,  0.]])
    >>> MismatchKernel(3, 1)(["ACG"], ["ACG", "ACT", "TTT"])
    array([[1. , 0.4, 0. ]])
    """

    name = "mismatch"
    summary = "Counts the k-mers that two sequences share, allowing up to m mismatches."

    k: int | list[int] = integer(
        default=5,
        low=1,
        high=LARGEST_K,
        several=True,
        kw_only=False,
        doc="Length of the k-mers. With a list, K is the weighted sum of the kernels of each k.",
    )
    m: int = integer(default=1, low=0, kw_only=False, doc="Allowed mismatches, from 0 to k − 1.")
    reverse_complement: bool = changed(
        default=False,
        doc="Count mismatches of each pair of k-mers on both strands: K = ½·Ψ(x)·Ψ(y) with Ψ(x) = "
        "Φ(x) + Φ(reverse complement of x). DNA and RNA only.",
    )
    algorithm: str = choice(
        default="auto",
        choices=("auto", "dense", "subsets", "transform", "neighbours", "diagonals", "pairs", "trie"),
        execution=True,
        doc="Algorithm; results are identical. `presence` needs ``dense``, ``neighbours`` or ``trie``.",
    )

    @classmethod
    def examples(cls) -> list["MismatchKernel"]:
        """Return kernels for the contract suite."""
        return [
            cls(4, 1),
            cls([3, 5], 2, weights=[0.5, 0.7], normalize=False),
            cls(4, 1, reverse_complement=True),
            cls(4, 1, reverse_complement=True, presence=True),
            cls(3, 1, presence=True),
            cls(3, 0, alphabet="HEC"),
        ]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("m", self.m, 0, min(self._lengths()) - 1)
        if self.presence and self.algorithm in HammingKernel.algorithms:
            raise ParameterError(
                f"{self.algorithm} does not support presence",
                remedy="choose algorithm=dense, algorithm=neighbours or algorithm=trie",
            )

    def _pair_weights(self, size: int, l: int) -> list[int]:  # noqa: E741
        return [shared_neighbours(size, l, self.m, h) for h in range(l + 1)]

    def _costs(self, work: Workload, size: int, k: int) -> dict[str, Cost]:
        if k > LARGEST_LENGTH and not codes_fit(size, k):
            return {}
        shared = self._pair_weights(size, k)
        costs = {} if self.presence else super()._costs(work, size, k)
        work = self._feature_work(work)
        # The Hamming distance of two random windows is binomial.
        expected = sum(comb(k, h) * (1 - work.match) ** h * work.match ** (k - h) * shared[h] for h in range(k + 1))
        common = sum(comb(k, h) * (1 - work.common) ** h * work.common ** (k - h) for h in range(self.m + 1))
        width = size**k
        if width <= WIDEST:
            folded = self.reverse_complement and not self.presence
            costs["dense"] = work.dense(width, common, smoothing=k * self.m, folded=folded)
        if codes_fit(size, k) and work.col_letters * shared[0] <= MOST_CODES:
            costs["neighbours"] = work.index(expected / shared[0], width, shared[0])
        if codes_fit(size, k) and shared[0] <= MOST_FEATURES:
            costs["trie"] = trie_cost(work, shared[0], expected)
        return {name: costs[name] for name in self.algorithms if name in costs}

    def _out_of_reach(self, k: int) -> tuple[str, str]:
        return (
            f"two k-mers with k={k}, m={self.m} share too many neighbours: their number, or the features, are beyond "
            "62 bits",
            "choose a smaller k or m",
        )

    def _members(self, X: SequenceSet, k: int, algorithm: str, others: Iterator[Any]) -> Iterator[tuple[int, Block]]:
        if algorithm == "neighbours":
            yield 1, SparseBlock(self._counts(X, k), next(others))
        elif algorithm == "dense":
            yield self._dense_block(X, k)
            next(others)
        elif algorithm == "trie":
            rule, windows = mismatch_rule(X.alphabet.size, k, self.m), Windows.of(X, k, self._strands())
            yield 1, TrieBlock(rule, windows, self.presence)
            next(others)
        else:
            yield from super()._members(X, k, algorithm, others)

    def _fold(
        self, columns: TermBlocks, coefficients: npt.NDArray[np.float64]
    ) -> Callable[[TermBlocks], npt.NDArray[np.float64]] | None:
        if self.presence:
            return FeatureKernel._fold(self, columns, coefficients)
        return super()._fold(columns, coefficients)

    def _operator(self, X: SequenceSet) -> KernelOperator:
        if self._is_explicit(X.alphabet.size):
            return self._implicit(X)
        return super()._operator(X)

    def _is_explicit(self, size: int) -> bool:
        """Return whether products are those of counts: of presence, or where the table of k-mers is too large."""
        return self.presence or size ** max(self._lengths()) > LARGEST_TABLE

    def check_operator(self) -> None:
        """Raise ParameterError unless there are products without a Gram matrix: there always are."""
        FeatureKernel.check_operator(self)

    def operator_bytes(self, X: Any) -> int:
        """Return the bytes of `operator` and a few tables.

        Parameters
        ----------
        X : SequenceSet or list of str, n records
            The samples.

        Returns
        -------
        int
        """
        X = self.coerce(X)
        return self.implicit_bytes(X) if self._is_explicit(X.alphabet.size) else super().operator_bytes(X)

    def operator_cost(self, X: Any) -> float:
        """Return the CPU seconds of one product K·v.

        Parameters
        ----------
        X : SequenceSet or list of str, n records
            The samples.

        Returns
        -------
        float
        """
        X = self.coerce(X)
        if self._is_explicit(X.alphabet.size):
            return FeatureKernel.operator_cost(self, X)
        return super().operator_cost(X)

    def _attribute(
        self, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        if self.presence:
            return mismatch_presence.attribute(self, self.m, X, support, coefficients)
        return super()._attribute(X, support, coefficients)

    def _kmer_weights(
        self, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]
    ) -> KmerWeights | tuple[list[str], npt.NDArray[np.float64]]:
        if self.presence:
            return mismatch_presence.kmer_weights(self, self.m, X, support, coefficients)
        return super()._kmer_weights(X, support, coefficients)

    def _dense_block(self, X: SequenceSet, k: int) -> tuple[int, DenseBlock]:
        """Return the features as dense vectors, and the factor of their products.

        With both strands, a k-mer and its reverse complement have equal counts Ψ: one of them is enough, twice. A k-mer
        that is its own reverse complement is there twice instead, with half of Ψ.
        """
        found, size = find_kmers(X, k, strands=self._strands()), X.alphabet.size
        smoothed = Smoothed(found, size, self.m)
        if self.presence or not self.reverse_complement:
            return 1, dense_block(smoothed, self.presence)
        return 2, dense_block(OneStrand(smoothed, k, X.alphabet))

    def kmer_tables(
        self, support: SequenceSet, coefficients: npt.NDArray[np.float64]
    ) -> list[tuple[int, npt.NDArray[np.float64]]] | None:
        """Return the weight of each k-mer; None with presence, since a second neighbour of a feature adds nothing.

        Parameters
        ----------
        support, coefficients
            As in `KernelContract.kmer_tables`.

        Returns
        -------
        list of (int, ndarray of float64), or None
        """
        return None if self.presence else super().kmer_tables(support, coefficients)

    def tally(self, support: SequenceSet, coefficients: npt.NDArray[np.float64]) -> Tally | None:
        """Return sums over the k-mers of the support; None with presence.

        Parameters
        ----------
        support, coefficients
            As in `KernelContract.tally`.

        Returns
        -------
        list of ndarray of float64, or None
        """
        return None if self.presence else super().tally(support, coefficients)

    def _features_of_window(self, X: SequenceSet, k: int) -> int:
        return (2 if self._strands() == "both" else 1) * shared_neighbours(X.alphabet.size, k, self.m, 0)

    def _counts(self, X: SequenceSet, k: int) -> Counted:
        found = find_kmers(X, k, strands=self._strands())
        neighbours = shared_neighbours(X.alphabet.size, k, self.m, 0)
        if found.codes.size * neighbours > MOST_CODES:
            raise SequenceError(
                f"{found.codes.size} k-mers with {neighbours} neighbours each are too many",
                remedy="choose a smaller m, or fewer sequences",
            )
        codes = np.empty((found.codes.shape[1], neighbours), dtype=found.codes.dtype)
        _kmers.list_neighbours(found.codes[0], k, self.m, X.alphabet.size, codes)
        counted = Occurrences(codes.reshape(1, -1), found.start * neighbours, found.space).count()
        if self.presence:
            counted.count[:] = 1
        return counted


@lru_cache(maxsize=4096)
def shared_neighbours(size: int, k: int, m: int, h: int) -> int:
    """Return how many k-mers differ in at most `m` positions from both of two k-mers at Hamming distance `h`.

    At the h positions where the two differ, i residues are the first one's, j the second one's and the others
    neither's; at the k − h others, t residues are changed.

    Parameters
    ----------
    size : int
        Letters of the alphabet.
    k, m : int
        Length of the k-mers, and mismatches allowed.
    h : int
        The distance of the two, 0 to `k`.

    Returns
    -------
    int
    """
    total = 0
    for i in range(h + 1):
        for j in range(h + 1 - i):
            here = comb(h, i) * comb(h - i, j) * (size - 2) ** (h - i - j)
            changes = min(m - h + min(i, j), k - h)
            total += here * sum(comb(k - h, t) * (size - 1) ** t for t in range(changes + 1))
    return total
