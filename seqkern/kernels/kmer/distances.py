"""Real weights for the pairs of windows at each Hamming distance, from sums over subsets of positions.

S_j, the sum over the subsets of j positions of their spectrum kernels, counts a pair of windows that agree in g
positions C(g, j) times. So the pairs that agree in exactly g are N_g = Σ_{j ≥ g} (−1)^(j − g)·C(j, g)·S_j: integers,
exact. The real weights are applied last, Σ_h weight_h·N_(k − h), h ascending, so that all ways to count the pairs give
the same bits.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from math import comb, sqrt
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.kernels.kmer.subsets import common_divisor, subset_blocks, subset_cost
from seqkern.kernels.planner import Cost, Workload
from seqkern.kernels.products.product import INT32_LIMIT, INT64_LIMIT
from seqkern.sequences.sequence_set import SequenceSet

COMBINE_NS = 1.2  # an entry of the matrix, for each multiplication
CHUNK_ENTRIES = 1 << 15


def needed_sizes(weights: Sequence[float]) -> range:
    """Return the subset sizes that `SubsetDistances` needs, from the fewest matches that count to k.

    Parameters
    ----------
    weights : list of float
        Weights of the Hamming distances 0, …, k.

    Returns
    -------
    range
        Ending with k.
    """
    k = len(weights) - 1
    return range(k - max((h for h, weight in enumerate(weights) if weight), default=0), k + 1)


def distances_cost(work: Workload, size: int, weights: Sequence[float], shifted: bool = True) -> Cost:
    """Return the Cost of `SubsetDistances`.

    Parameters
    ----------
    work : Workload
        Workload of the matrix; of both strands if both count.
    size : int
        Letters of the alphabet.
    weights : list of float
        Weights of the Hamming distances 0, …, k.
    shifted : bool
        False if windows have weights of their own; see `seqkern.kernels.kmer.subsets.find_patterns`.

    Returns
    -------
    Cost
    """
    sizes = needed_sizes(weights)
    combine = COMBINE_NS * 1e-9 * work.pairs * len(sizes) * (len(sizes) + 1) / 2
    return subset_cost(work, size, len(weights) - 1, sizes, shifted) + Cost(combine)


class SubsetDistances:
    """Σ_h weights[h] · (pairs of windows at Hamming distance h), in real numbers, of n records.

    Parameters
    ----------
    X : SequenceSet
        The n records.
    weights : list of float
        k + 1 for windows of k residues.
    strands : {"one", "both"}
        With ``"both"``, windows of both strands with those of both: each pair is there twice.
    work : Workload
        Determines which blocks are dense.
    like : SubsetDistances, optional
        The columns to compare these rows with.
    window_weights : ndarray of int64, shape (windows of all strands,), optional
        Weight of each window.

    Attributes
    ----------
    squares : ndarray of float64, shape (n,)
        K(x, x).

    Raises
    ------
    SequenceError
        If a number of pairs might exceed 64 bits.
    """

    real = True

    def __init__(
        self,
        X: SequenceSet,
        weights: Sequence[float],
        strands: Literal["one", "both"],
        work: Workload,
        like: "SubsetDistances | None" = None,
        window_weights: npt.NDArray[np.int64] | None = None,
    ) -> None:
        self.weights, self.k = weights, len(weights) - 1
        self.members: dict[int, list[tuple[int, Any]]] = {}
        for j in needed_sizes(weights):
            others: Iterator[Any] = repeat(None) if like is None else iter([block for _, block in like.members[j]])
            self.members[j] = subset_blocks(X, self.k, {j: 1}, strands, work, others, window_weights)
        self.divisors = {j: common_divisor(self.k, [j], window_weights is None) for j in self.members}
        # A sum over subsets is largest for all pairs of the windows of one record, and multiplied by C(j, g) at most.
        largest = max(self._bound(j, self) * 2**j for j in self.members)
        if largest * len(self.members) >= INT64_LIMIT:
            raise SequenceError(
                "the sequences are too long for exact sums", remedy="cut the sequences into shorter parts"
            )
        self.squares = self._weighted(
            {
                j: sum(factor * block.squares for factor, block in members) // self.divisors[j]
                for j, members in self.members.items()
            }
        )

    def _bound(self, j: int, cols: "SubsetDistances") -> float:
        """Return an upper bound of the sums over the subsets of `j` positions, before division."""
        return sum(
            abs(factor) * sqrt(rows.largest * others.largest)
            for (factor, rows), (_, others) in zip(self.members[j], cols.members[j], strict=True)
        )

    def _weighted(self, sums: Mapping[int, npt.NDArray[np.int64]]) -> npt.NDArray[np.float64]:
        """Return Σ_h weights[h]·N_(k − h), float64, of the sums over subsets of each size."""
        total: Any = 0.0
        for h, weight in enumerate(self.weights):
            if weight:
                g = self.k - h
                signed: Any = sum((-1) ** (j - g) * comb(j, g) * sums[j] for j in range(g, self.k + 1))
                total = total + weight * signed.astype(np.float64)
        return total

    def accumulate(
        self,
        row: int,
        cols: "SubsetDistances",
        first: int,
        last: int,
        factor: int,
        upper: bool,
        sums: npt.NDArray[np.float64],
    ) -> None:
        """Add K(rows, columns) to `sums`.

        Parameters
        ----------
        row, cols, first, last, factor, upper, sums
            As in `Block.accumulate`.
        """
        step = max(1, CHUNK_ENTRIES // max(1, last - first))
        for i in range(0, len(sums), step):
            part = sums[i : i + step]
            counts = {j: self._subsets(j, row + i, cols, first, last, upper, part.shape) for j in self.members}
            part += self._weighted(counts)

    def _subsets(
        self, j: int, row: int, cols: "SubsetDistances", first: int, last: int, upper: bool, shape: tuple[int, ...]
    ) -> npt.NDArray[np.int64]:
        """Return the sum over the subsets of `j` positions, int64."""
        small = self._bound(j, cols) <= INT32_LIMIT
        sums: npt.NDArray[np.int32 | np.int64] = np.zeros(shape, dtype=np.int32 if small else np.int64)
        for (factor, block), (_, other) in zip(self.members[j], cols.members[j], strict=True):
            block.accumulate(row, other, first, last, factor, upper, sums)
        return sums.astype(np.int64) // self.divisors[j]
