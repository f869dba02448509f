"""Kernels that depend on the number of matches of two windows, as spectrum kernels on subsets of positions.

If a pair of windows of k residues that agree in g positions counts Σ_j C(g, j)·α_j, the kernel is Σ_j α_j times the
sum of the spectrum kernels Φ_S(x)·Φ_S(y) over all subsets S of j positions.

Subsets that are shifts of one pattern, like {0, 1, 3} and {1, 2, 4}, count nearly the same features: only the ends
differ. With T shifts, F the sum of their Φ, E_t what Φ_t lacks of the pattern's occurrences that any shift counts,
and D = Σ_t E_t,

    Σ_t Φ_t(x)·Φ_t(y)  =  (F(x)·F(y) − D(x)·D(y)) / T  +  Σ_t E_t(x)·E_t(y),

one large product instead of T: an E_t has T − 1 features for each stretch of unmasked residues.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from math import comb, lcm
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.threads import in_threads
from seqkern.kernels.kmer import _kmers
from seqkern.kernels.kmer.kmers import (
    CODE_LIMIT,
    MOST_CODES,
    NO_COMPLEMENT,
    Occurrences,
    code_type,
    find_kmers,
    per_record,
)
from seqkern.kernels.planner import Cost, Workload
from seqkern.kernels.products.dense import DenseBlock, dense_block
from seqkern.kernels.products.sparse import SparseBlock
from seqkern.sequences.sequence_set import SequenceSet

MOST_SUBSETS = 10_000
FEATURES_AT_ONCE = 1 << 18

Positions = tuple[int, ...]


def subset_weights(pair_weights: Sequence[int]) -> dict[int, int]:
    """Return the weights α_j of subsets of j positions: c_(k − g) = Σ_j C(g, j)·α_j for every g.

    Parameters
    ----------
    pair_weights : list of int
        c_h, what a pair of windows at Hamming distance h = 0, …, k adds.

    Returns
    -------
    dict of int to int
        α_j by j, without zeros.
    """
    by_matches = pair_weights[::-1]
    weights = {
        j: sum((-1) ** (j - g) * comb(j, g) * by_matches[g] for g in range(j + 1)) for j in range(len(by_matches))
    }
    return {j: weight for j, weight in weights.items() if weight}


def subsets_fit(work: Workload, size: int, k: int, sizes: Collection[int]) -> bool:
    """Return whether `subset_blocks` is feasible: each pattern of positions has its codes.

    Parameters
    ----------
    work : Workload
        Workload of the matrix; of both strands if both count.
    size : int
        Letters of the alphabet.
    k : int
        Residues of a window.
    sizes : collection of int
        Sizes of the subsets.

    Returns
    -------
    bool
    """
    if sum(comb(k, j) for j in sizes) > MOST_SUBSETS:
        return False
    return all(
        size**j * len(patterns) * shifts < CODE_LIMIT and work.letters * len(patterns) * shifts <= MOST_CODES
        for j in sizes
        for shifts, patterns in find_patterns(k, j).items()
    )


def find_patterns(k: int, j: int, shifted: bool = True) -> dict[int, list[Positions]]:
    """Return the patterns of `j` positions in windows of `k`, by how many shifts they have.

    Parameters
    ----------
    k : int
        Residues of a window.
    j : int
        Positions of a pattern.
    shifted : bool
        False: each subset of j positions is a pattern of its own, with one shift.

    Returns
    -------
    dict of int to list of tuple of int
        From the number of shifts to the patterns that have so many, each with its positions from 0 on.
    """
    if not shifted:
        return {1: list(combinations(range(k), j))}
    found: dict[int, list[Positions]] = {}
    for rest in combinations(range(1, k), j - 1) if j else ():
        found.setdefault(k - max(rest, default=0), []).append((0, *rest))
    return found or {1: [()]}


def common_divisor(k: int, sizes: Collection[int], shifted: bool = True) -> int:
    """Return the divisor of the sums of `subset_blocks`.

    Parameters
    ----------
    k : int
        Residues of a window.
    sizes : collection of int
        Sizes of the subsets.
    shifted : bool
        As in `find_patterns`.

    Returns
    -------
    int
    """
    return lcm(*(shifts for j in sizes for shifts in find_patterns(k, j, shifted)))


def subset_blocks(
    X: SequenceSet,
    k: int,
    weights: Mapping[int, int],
    strands: Literal["one", "both"],
    work: Workload,
    others: Iterator[Any],
    window_weights: npt.NDArray[np.int64] | None = None,
    n_threads: int | None = None,
) -> list[tuple[int, DenseBlock | SparseBlock]]:
    """Return blocks for the kernel Σ_j weights[j] · Σ_S Φ_S(x)·Φ_S(y), times `common_divisor`.

    The blocks are built in threads.

    Parameters
    ----------
    X : SequenceSet
        The n records.
    k : int
        Residues of a window.
    weights : dict of int to int
        α_j of each size j of subsets, not 0.
    strands : {"one", "both"}
        Strands whose windows count; with both, each pair occurs twice.
    work : Workload
        Determines which blocks are dense.
    others : iterator
        The blocks to match, or None for each.
    window_weights : ndarray of int64, shape (windows of all strands,), optional
        Weight of each window. It has no other weight in a shift of a pattern, so these are not taken together.
    n_threads : int, optional
        By default those of `given_threads`, or all cores.

    Returns
    -------
    list of (int, block)
        The factor and the block of each product.
    """
    size, shifted = X.alphabet.size, window_weights is None
    divisor = common_divisor(k, weights, shifted)

    def product(some: Sequence[Positions], shifts: int, other: Any) -> list[DenseBlock | SparseBlock]:
        subsets = [tuple(p + t for p in pattern) for pattern in some for t in range(shifts)]
        numbers = np.repeat(np.arange(len(some)), shifts)
        found = find_kmers(X, k, subsets, strands, numbers)
        dense = other is None and shifted and _dense_is_cheaper(work, size, len(some[0]), shifts, some)
        if dense or isinstance(other, DenseBlock):
            return [dense_block(found)]
        return [SparseBlock(found.count(window_weights), other, bitmaps=False)]

    def ends(patterns: Sequence[Positions], shifts: int, others: tuple[Any, Any]) -> list[DenseBlock | SparseBlock]:
        each, pooled = _find_ends(X, k, patterns, shifts, strands)
        both = zip((pooled, each), others, strict=True)
        return [SparseBlock(found.count(), other, bitmaps=False) for found, other in both]

    tasks, factors = [], []
    for j, weight in weights.items():
        for shifts, patterns in find_patterns(k, j, shifted).items():
            for some in _chunks(patterns, size**j):
                tasks.append(partial(product, some, shifts, next(others)))
                factors.append(weight * divisor // shifts)
            if shifts > 1:
                tasks.append(partial(ends, patterns, shifts, (next(others), next(others))))
                factors += [-weight * divisor // shifts, weight * divisor]
    blocks = [block for made in in_threads(tasks, n_threads) for block in made]
    return list(zip(factors, blocks, strict=True))


def _chunks(patterns: Sequence[Positions], part: int) -> list[Sequence[Positions]]:
    """Return the patterns in pieces whose lists fit into the cache."""
    step = max(1, FEATURES_AT_ONCE // part)
    return [patterns[i : i + step] for i in range(0, len(patterns), step)]


def subset_cost(work: Workload, size: int, k: int, sizes: Collection[int], shifted: bool = True) -> Cost:
    """Return the Cost of `subset_blocks`.

    Parameters
    ----------
    work : Workload
        Workload of the matrix; of both strands if both count.
    size : int
        Letters of the alphabet.
    k : int
        Residues of a window.
    sizes : collection of int
        Sizes of the subsets.
    shifted : bool
        False if windows have weights of their own; see `find_patterns`.

    Returns
    -------
    Cost
    """
    costs = [
        min(_costs(work, size, j, shifts, some)[0 if shifted else 1 :])
        for j in sizes
        for shifts, patterns in find_patterns(k, j, shifted).items()
        for some in _chunks(patterns, size**j)
    ]
    return sum(costs, Cost(0.0))


def _costs(work: Workload, size: int, j: int, shifts: int, patterns: Sequence[Positions]) -> tuple[Cost, Cost]:
    """Return the Costs of the large product of patterns of j positions, as dense vectors and by posting lists."""
    n = len(patterns)
    return (
        work.dense(n * size**j, shifts * work.common**j, n * shifts),
        work.index(work.match**j, n * size**j, n, shifts, bitmaps=False),
    )


def _dense_is_cheaper(work: Workload, size: int, j: int, shifts: int, patterns: Sequence[Positions]) -> bool:
    dense, index = _costs(work, size, j, shifts, patterns)
    return dense < index


def _find_ends(
    X: SequenceSet, k: int, patterns: Sequence[Positions], shifts: int, strands: Literal["one", "both"]
) -> tuple[Occurrences, Occurrences]:
    """Return the Occurrences that make up all E_t, and those that make up D."""
    size = X.alphabet.size
    part = size ** len(patterns[0])
    stretches = np.empty(len(X), dtype=np.int64)
    _kmers.count_windows(X.codes, X.starts, X.stops, k, size, True, stretches)
    start = per_record(stretches * (shifts * (shifts - 1) * (2 if strands == "both" else 1)))
    space = part * len(patterns)
    codes = np.empty((len(patterns), start[-1]), dtype=code_type(shifts * space))
    complement = NO_COMPLEMENT if strands == "one" else X.alphabet.complement_codes
    for number, pattern in enumerate(patterns):
        _kmers.code_ends(
            X.codes,
            X.starts,
            X.stops,
            k,
            size,
            np.array(pattern, dtype=np.int64),
            shifts,
            complement,
            space,
            number * part,
            codes[number],
        )
    pooled = (codes % space).astype(code_type(space))
    return Occurrences(codes, start, shifts * space), Occurrences(pooled, start, space)
