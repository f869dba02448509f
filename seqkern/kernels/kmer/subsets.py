"""Kernels that depend on how many letters two windows share, as spectrum kernels on subsets of positions.

If a pair of windows of k letters that agree in g positions counts Σ_j C(g, j)·α_j, the kernel is Σ_j α_j times the
sum of the spectrum kernels Φ_S(x)·Φ_S(y) over all subsets S of j positions.

Subsets that are shifts of one pattern, like {0, 1, 3} and {1, 2, 4}, count nearly the same features: only the ends
differ. With T shifts, F the sum of their Φ, E_t what Φ_t lacks of the pattern's occurrences that any shift counts,
and D = Σ_t E_t,

    Σ_t Φ_t(x)·Φ_t(y)  =  (F(x)·F(y) − D(x)·D(y)) / T  +  Σ_t E_t(x)·E_t(y),

one large product instead of T: an E_t has T − 1 features for each stretch of unmasked letters.
"""

from functools import partial
from itertools import combinations
from math import comb, lcm

import numpy as np

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
from seqkern.kernels.planner import Cost
from seqkern.kernels.products.dense import DenseBlock, dense_block
from seqkern.kernels.products.sparse import SparseBlock

MOST_SUBSETS = 10_000
FEATURES_AT_ONCE = 1 << 18


def subset_weights(pair_weights):
    """Return {j: α_j} without zeros for integers c_h, h = 0, …, k: c_(k − g) = Σ_j C(g, j)·α_j for every g."""
    by_letters = pair_weights[::-1]
    weights = {
        j: sum((-1) ** (j - g) * comb(j, g) * by_letters[g] for g in range(j + 1)) for j in range(len(by_letters))
    }
    return {j: weight for j, weight in weights.items() if weight}


def subsets_fit(work, size, k, sizes):
    """Return whether `subset_blocks` can take these sizes of subsets: each pattern of positions has its codes."""
    if sum(comb(k, j) for j in sizes) > MOST_SUBSETS:
        return False
    return all(
        size**j * len(patterns) * shifts < CODE_LIMIT and work.letters * len(patterns) * shifts <= MOST_CODES
        for j in sizes
        for shifts, patterns in find_patterns(k, j).items()
    )


def find_patterns(k, j, shifted=True):
    """Return a dict from the number of shifts in k positions to the patterns of j positions, tuples from 0 on.

    Without `shifted` all subsets of j positions are patterns of one shift.
    """
    if not shifted:
        return {1: list(combinations(range(k), j))}
    found = {}
    for rest in combinations(range(1, k), j - 1) if j else ():
        found.setdefault(k - max(rest, default=0), []).append((0, *rest))
    return found or {1: [()]}


def common_divisor(k, sizes, shifted=True):
    """Return what the sums of `subset_blocks` have to be divided by, for all these sizes of subsets."""
    return lcm(*(shifts for j in sizes for shifts in find_patterns(k, j, shifted)))


def subset_blocks(X, k, weights, strands, work, others, window_weights=None, n_threads=None):
    """Return a list of (factor, block): the kernel Σ_j weights[j] · Σ_S Φ_S(x)·Φ_S(y) times `common_divisor`.

    The blocks are made in threads.

    Parameters
    ----------
    X : SequenceSet
    k : int
    weights : dict of int to int
        α_j of each size j of subsets, not 0.
    strands : {"one", "both"}
    work : Workload
        Decides which blocks are dense.
    others : iterator
        The blocks to be made like, or None for each.
    window_weights : ndarray of int64, shape (windows of all strands,), optional
        What each window counts. It has no other weight in a shift of a pattern, so these are not taken together.
    n_threads : int, optional
    """
    size, shifted = X.alphabet.size, window_weights is None
    divisor = common_divisor(k, weights, shifted)

    def product(some, shifts, other):
        subsets = [tuple(p + t for p in pattern) for pattern in some for t in range(shifts)]
        numbers = np.repeat(np.arange(len(some)), shifts)
        found = find_kmers(X, k, subsets, strands, numbers)
        dense = other is None and shifted and _dense_is_cheaper(work, size, len(some[0]), shifts, some)
        if dense or isinstance(other, DenseBlock):
            return [dense_block(found)]
        return [SparseBlock(found.count(window_weights), other)]

    def ends(patterns, shifts, others):
        each, pooled = _find_ends(X, k, patterns, shifts, strands)
        return [SparseBlock(found.count(), other) for found, other in zip((pooled, each), others, strict=True)]

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


def _chunks(patterns, part):
    """Return the patterns in pieces, each with few enough features that their lists are made in the cache."""
    step = max(1, FEATURES_AT_ONCE // part)
    return [patterns[i : i + step] for i in range(0, len(patterns), step)]


def subset_cost(work, size, k, sizes, shifted=True):
    """Return the Cost of `subset_blocks` for these sizes of subsets; not `shifted`: of windows with weights."""
    costs = [
        min(_costs(work, size, j, shifts, some)[0 if shifted else 1 :])
        for j in sizes
        for shifts, patterns in find_patterns(k, j, shifted).items()
        for some in _chunks(patterns, size**j)
    ]
    return sum(costs, Cost(0.0))


def _costs(work, size, j, shifts, patterns):
    """Return the Costs of the large product of patterns of j positions, as dense vectors and by posting lists."""
    n = len(patterns)
    return (
        work.dense(n * size**j, shifts * work.common**j, n * shifts),
        work.index(work.match**j, n * size**j, n, shifts),
    )


def _dense_is_cheaper(work, size, j, shifts, patterns):
    dense, index = _costs(work, size, j, shifts, patterns)
    return dense < index


def _find_ends(X, k, patterns, shifts, strands):
    """Return the Occurrences that make up all E_t, and those that make up D."""
    size = X.alphabet.size
    part = size ** len(patterns[0])
    stretches = np.empty(len(X), dtype=np.int64)
    _kmers.count_stretches(X.codes, X.starts, X.stops, k, size, stretches)
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
