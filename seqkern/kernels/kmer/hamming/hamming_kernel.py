"""Shared by kernels that depend only on the number of matches of two windows.

K(x, y) = Σ weight[hamming(a, b)] over the pairs of windows a of x and b of y. Exact algorithms with the same bits:

- ``subsets``: a sum of spectrum kernels on subsets of a window's positions; for large alphabets (`subsets`,
  `distances`).
- ``transform``: products of the Walsh-Hadamard transforms of the counts of DNA windows (`hadamard`); only for weights
  that are integers, and windows without weights of their own.
- ``diagonals``, ``pairs``: the Hamming distance of every pair of windows, many at once (`hamming`); ``diagonals``
  cannot give windows weights of their own.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal, TypeGuard

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import choice
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.kernels.kmer.distances import SubsetDistances, distances_cost, needed_sizes
from seqkern.kernels.kmer.hamming.hadamard import LETTERS, transform_blocks, transform_cost, transform_fits
from seqkern.kernels.kmer.hamming.hamming import LARGEST_LENGTH, LARGEST_WEIGHT, HammingBlock
from seqkern.kernels.kmer.hamming.hamming_additive import HammingAdditive
from seqkern.kernels.kmer.hamming.hamming_costs import hamming_costs
from seqkern.kernels.kmer.hamming.hamming_operator import HammingOperator
from seqkern.kernels.kmer.hamming.lmer_tables import check_table, product_cost
from seqkern.kernels.kmer.kmer_kernel import KmerKernel
from seqkern.kernels.kmer.subsets import common_divisor, subset_blocks, subset_cost, subset_weights, subsets_fit
from seqkern.kernels.planner import Cost, Workload
from seqkern.kernels.products.product import Block
from seqkern.kernels.scaled_operator import SummedOperator
from seqkern.sequences.alphabets import as_alphabet
from seqkern.sequences.sequence_set import SequenceSet

SMALLEST_ALPHABET = 2


class HammingKernel(HammingAdditive, KmerKernel):
    """Base of the kernels on pairs of windows that depend on the Hamming distance.

    A family implements `_pair_weights` and, where windows differ in weight, `_window_weights`. The k of `KmerKernel` is
    the length of a window. With `reverse_complement` a pair counts with the distance of a to b, and to the reverse
    complement of b.

    """

    algorithm: str = choice(
        default="auto",
        choices=("auto", "subsets", "transform", "diagonals", "pairs"),
        execution=True,
        doc="Algorithm (see `seqkern.kernels.kmer.hamming.hamming_kernel`); results are identical.",
    )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.weighs_windows and self.algorithm in ("transform", "diagonals"):
            raise ParameterError(
                f"algorithm={self.algorithm} does not support window weights",
                remedy="choose algorithm=subsets or algorithm=pairs",
            )

    def _strands(self) -> Literal["one", "both"]:
        """Return the strands whose windows count."""
        return "both" if self.reverse_complement else "one"

    def _scale(self) -> float:
        # Features of both strands count each pair twice.
        return 0.5 if self.reverse_complement else 1.0

    def _feature_work(self, work: Workload) -> Workload:
        """Return the Workload of features: of the windows of all strands that count."""
        return work.both_strands() if self.reverse_complement else work

    def _costs(self, work: Workload, size: int, k: int) -> dict[str, Cost]:
        weights = self._pair_weights(size, k)
        features = self._feature_work(work)
        costs = self._subset_costs(features, size, k, weights)
        if _are_integers(weights) and not self.weighs_windows and transform_fits(features, size, k):
            costs["transform"] = transform_cost(features, k, weights, self.reverse_complement)
        if k <= LARGEST_LENGTH and 2 * max(abs(weight) for weight in weights) < LARGEST_WEIGHT:
            costs |= hamming_costs(work, size, k, weights, self.reverse_complement, self.weighs_windows)
        return costs

    def _subset_costs(self, work: Workload, size: int, k: int, weights: Sequence[float]) -> dict[str, Cost]:
        """Return the Cost of ``subsets`` in a dict, empty if it is not feasible."""
        sizes: Collection[int] = subset_weights(weights) if _are_integers(weights) else needed_sizes(weights)
        if not subsets_fit(work, size, k, sizes):
            return {}
        if _are_integers(weights):
            return {"subsets": subset_cost(work, size, k, sizes, not self.weighs_windows)}
        return {"subsets": distances_cost(work, size, weights, not self.weighs_windows)}

    def _members(self, X: SequenceSet, k: int, algorithm: str, others: Iterator[Any]) -> Iterator[tuple[int, Block]]:
        weights: Sequence[float] = self._pair_weights(X.alphabet.size, k)
        if algorithm == "subsets":
            yield from self._subset_members(X, k, weights, others)
        elif algorithm == "transform" and _are_integers(weights):
            for factor, block in transform_blocks(X, k, weights, self.reverse_complement):
                next(others)
                yield factor, block
        else:
            if self.reverse_complement:
                weights = [2 * weight for weight in weights]  # for `_scale`; exact
            yield (
                1,
                HammingBlock(
                    X,
                    k,
                    weights,
                    strands=self._strands(),
                    algorithm=algorithm,
                    window_weights=self._window_weights(X, k),
                    like=next(others),
                ),
            )

    def _subset_members(
        self, X: SequenceSet, k: int, weights: Sequence[float], others: Iterator[Any]
    ) -> Iterator[tuple[int, Block]]:
        """Yield (factor, block) for the algorithm ``subsets``."""
        work, strands = self._feature_work(self._workload(X)), self._strands()
        own = self._window_weights(X, k)
        if own is not None and strands == "both":
            own = np.repeat(own, 2)  # each window is followed by its reverse complement, or follows it
        if _are_integers(weights):
            yield from subset_blocks(X, k, subset_weights(weights), strands, work, others, own, self.n_threads)
        else:
            yield 1, SubsetDistances(X, weights, strands, work, next(others), own)

    def check_operator(self) -> None:
        """Raise ParameterError if the table of all l-mers is too large, as far as the alphabet is known."""
        super().check_operator()
        size = 4 if self.reverse_complement else SMALLEST_ALPHABET
        if self.alphabet is not None:
            size = as_alphabet(self.alphabet).size
        check_table(size, max(self._lengths()), self.length_name)

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
        return sum(cost.bytes for cost in self._product_costs(self.coerce(X)))

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
        return sum(cost.seconds for cost in self._product_costs(self.coerce(X)))

    def _product_costs(self, X: SequenceSet) -> list[Cost]:
        """Return the Cost of a product for each length."""
        size, both = X.alphabet.size, self.reverse_complement
        return [product_cost(size, length, X.lengths, both, self.weighs_windows) for length in self._lengths()]

    def _operator(self, X: SequenceSet) -> KernelOperator:
        self._check_sequences(X)
        check_table(X.alphabet.size, max(self._lengths()), self.length_name)
        parts = [
            HammingOperator(
                X,
                length,
                self._pair_weights(X.alphabet.size, length),
                both_strands=self.reverse_complement,
                window_weights=self._window_weights(X, length),
                n_threads=self.n_threads,
            )
            for length in self._lengths()
        ]
        if len(parts) == 1 and self._weights() == [1.0]:
            return parts[0]
        return SummedOperator(parts, self._weights())

    def _divisor(self, X: SequenceSet, k: int, algorithm: str) -> int:
        weights = self._pair_weights(X.alphabet.size, k)
        if algorithm == "transform":
            return LETTERS**k
        if algorithm != "subsets" or not _are_integers(weights):
            return 1
        return common_divisor(k, subset_weights(weights), not self.weighs_windows)


def _are_integers(weights: Sequence[float]) -> TypeGuard[Sequence[int]]:
    return all(isinstance(weight, int) for weight in weights)
