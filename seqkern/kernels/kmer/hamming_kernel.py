"""Base of the kernels that depend only on the number of matches of two windows.

K(x, y) = Σ weight[hamming(a, b)] over the pairs of windows a of x and b of y. Exact algorithms with the same bits:

- ``subsets``: a sum of spectrum kernels on subsets of a window's positions; for large alphabets (`subsets`,
  `distances`).
- ``transform``: products of the Walsh-Hadamard transforms of the counts of DNA windows (`hadamard`); only for integer
  weights, and windows without individual weights.
- ``diagonals``, ``pairs``: the Hamming distance of every pair of windows, many at once (`hamming`); ``diagonals``
  does not support individual window weights.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import combinations, repeat
from math import comb, inf, lcm, sqrt
from typing import Any, Literal, TypeGuard

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.threads import GIVEN_THREADS, in_threads
from seqkern.core.types import Floats, Ints
from seqkern.kernels.capabilities import Products, capability
from seqkern.kernels.common_parameters import algorithm_choice
from seqkern.kernels.kernel_operator import KernelOperator, SummedOperator
from seqkern.kernels.kmer import _kmers, _tables
from seqkern.kernels.kmer.hamming import (
    LARGEST_LENGTH,
    LARGEST_WEIGHT,
    HammingBlock,
    check_table,
    hamming_costs,
    krawtchouk,
    own_costs,
    product_cost,
)
from seqkern.kernels.kmer.hamming_operator import HammingAdditive, HammingOperator, own_values
from seqkern.kernels.kmer.kmer_kernel import KmerKernel
from seqkern.kernels.kmer.kmers import (
    CODE_LIMIT,
    MOST_CODES,
    NO_COMPLEMENT,
    Occurrences,
    code_type,
    find_kmers,
    per_record,
)
from seqkern.kernels.planner import CODE_NS, LARGEST_BYTE, MULTIPLY_NS, TALLY_NS, WINDOW_BYTES, Cost, Workload
from seqkern.kernels.products import _product
from seqkern.kernels.products.product import (
    INT32_LIMIT,
    INT64_LIMIT,
    PANEL,
    Block,
    DeferredBlocks,
    DenseBlock,
    SignedBlock,
    Span,
    SparseBlock,
    TermBlocks,
    dense_block,
)
from seqkern.sequences.alphabets import as_alphabet
from seqkern.sequences.sequence_set import SequenceSet

# Gram matrices of kernels on the Hamming distances of DNA l-mers, by the transform of each record's counts.
#
# K = Φ·G·Φᵀ with G[a, b] = c[h(a, b)] and Φ the counts of l-mers. G = H·Λ·H / 4^l: H is the Walsh-Hadamard matrix of
# the 2·l bits of an l-mer, and the eigenvalue λ_i of a row of H depends only on the number i of letters on which it
# depends (`eigenvalues`). So
#
#     K(x, y) = Σ_i λ_i · (Σ over the rows u on i letters of φ_u(x)·φ_u(y)) / 4^l,   φ = H·Φ,
#
# products of integers no larger than the number of l-mers, in 8 or 16 bits: exact for integer c. Rows with λ_i = 0 are
# skipped: gapped k-mers need only those on at most k letters.
#
# On both strands, the counts of an l-mer and its reverse complement are equal. Then the transforms of u and of u
# reversed are equal up to the sign given by the parity of u's bits: one of them suffices, counted twice. A palindromic
# u gives 0 if the parity is odd; otherwise it is even, so it is halved and counted twice instead.

LETTERS = 4
HADAMARD_LARGEST_LENGTH = 9  # 16 tables of 4^9 numbers: 8 MB
MOST_WINDOWS = 32767  # of a record: sums of 16 bits
TABLE_BYTES = 1 << 18  # that are transformed together, unless one panel is larger
NUMBER_NS = 0.25  # a number of a table: cleared, chosen, measured, packed
STAGE_NS = 0.05  # a number of a table, for each letter
PAIR_NS = 0.7  # a product of two records, for each eigenvalue
SPREAD = 5  # transforms are mostly below so many standard deviations, the roots of the numbers of l-mers


def whole_eigenvalues(length: int, values: Sequence[int]) -> list[int]:
    """Return the integer eigenvalues of the matrix values[h(a, b)] over all l-mers of DNA.

    They are indexed by the number of letters on which a function depends.
    """
    return [
        sum(value * krawtchouk(h, i, length, LETTERS - 1) for h, value in enumerate(values)) for i in range(length + 1)
    ]


def transform_fits(work: Workload, size: int, length: int) -> bool:
    """Return whether `transform_blocks` is feasible."""
    return size == LETTERS and length <= HADAMARD_LARGEST_LENGTH and 2 * work.longest <= MOST_WINDOWS


def transform_blocks(
    X: SequenceSet, length: int, values: Sequence[int], both_strands: bool
) -> Iterator[tuple[int, SignedBlock]]:
    """Yield (factor, block) whose summed products are 4^l times the kernel, one for each number of letters."""
    found = find_kmers(X, length, strands="both" if both_strands else "one")
    eigenvalues, features = whole_eigenvalues(length, values), features_by_letters(length, both_strands)
    needed = [(value, *features[i]) for i, value in enumerate(eigenvalues) if value]
    blocks = [SignedBlock(len(X), len(order)) for _, order, _ in needed]
    panels, space = -(-len(X) // PANEL), LETTERS**length
    step = max(1, TABLE_BYTES // (2 * space * PANEL))
    buffer = np.empty((min(step, panels), space, PANEL), dtype=np.int16)
    for panel in range(0, panels, step):
        tables = buffer[: min(step, panels - panel)]
        tables.fill(0)
        found.tally(panel * PANEL, tables.view(np.uint16))
        _tables.transform_counts(_product.level(), tables)
        for block, (_, order, halved) in zip(blocks, needed, strict=True):
            chosen = np.empty((len(tables), len(order), PANEL), dtype=np.int16)
            _tables.choose_transformed(tables, order, halved, chosen)
            block.add(panel, chosen)
    for block, (value, _, _) in zip(blocks, needed, strict=True):
        yield (2 if both_strands else 1) * value, block


@lru_cache(maxsize=8)
def features_by_letters(length: int, both_strands: bool) -> list[tuple[npt.NDArray[np.int32], int]]:
    """Return the transforms by the number of letters on which they depend, and the number of the last to be halved."""
    codes = np.arange(LETTERS**length)
    rest, backwards, letters = codes.copy(), np.zeros_like(codes), np.zeros_like(codes)
    for _ in range(length):
        rest, last = np.divmod(rest, LETTERS)
        backwards = LETTERS * backwards + last
        letters += last > 0
    odd = np.zeros_like(codes)
    for bit in range(2 * length):
        odd ^= codes >> bit & 1
    found = []
    for number in range(length + 1):
        mine = letters == number
        if both_strands:
            own = codes[mine & (codes == backwards) & (odd == 0)]
            order = np.concatenate((codes[mine & (codes < backwards)], own, own))
            found.append((order.astype(np.int32), 2 * len(own)))
        else:
            found.append((codes[mine].astype(np.int32), 0))
    return found


def transform_cost(work: Workload, length: int, values: Sequence[int], both_strands: bool) -> Cost:
    """Return the Cost of `transform_blocks`."""
    space, strands = LETTERS**length, 2 if both_strands else 1
    kind = 1 if 2 * SPREAD * (strands * work.longest) ** 0.5 <= LARGEST_BYTE else 2
    needed = [i for i, value in enumerate(whole_eigenvalues(length, values)) if value]
    width = sum(comb(length, i) * (LETTERS - 1) ** i for i in needed) / strands
    make = work.records * space * (NUMBER_NS + length * STAGE_NS) + work.letters * (CODE_NS + TALLY_NS)
    multiply = work.pairs * (width * kind * MULTIPLY_NS[_product.level()] + PAIR_NS * len(needed))
    size = work.records * width * kind + work.letters * WINDOW_BYTES + 4 * PANEL * space
    return Cost((make + multiply) * 1e-9, int(size))


# Kernels that depend on the number of matches of two windows, as spectrum kernels on subsets of positions.
#
# If a pair of windows of k residues that agree in g positions counts Σ_j C(g, j)·α_j, the kernel is Σ_j α_j times the
# sum of the spectrum kernels Φ_S(x)·Φ_S(y) over all subsets S of j positions.
#
# Subsets that are shifts of one pattern, like {0, 1, 3} and {1, 2, 4}, count nearly the same features: only the ends
# differ. With T shifts, F the sum of their Φ, E_t the occurrences of the pattern that Φ_t lacks although some shift
# counts them, and D = Σ_t E_t,
#
#     Σ_t Φ_t(x)·Φ_t(y)  =  (F(x)·F(y) − D(x)·D(y)) / T  +  Σ_t E_t(x)·E_t(y),
#
# one large product instead of T: an E_t has T − 1 features for each stretch of unmasked residues.

MOST_SUBSETS = 10_000
FEATURES_AT_ONCE = 1 << 18

Positions = tuple[int, ...]


def subset_weights(pair_weights: Sequence[int]) -> dict[int, int]:
    """Return the weights α_j of subsets of j positions: c_(k − g) = Σ_j C(g, j)·α_j for every g."""
    by_matches = pair_weights[::-1]
    weights = {
        j: sum((-1) ** (j - g) * comb(j, g) * by_matches[g] for g in range(j + 1)) for j in range(len(by_matches))
    }
    return {j: weight for j, weight in weights.items() if weight}


def subsets_fit(work: Workload, size: int, k: int, sizes: Collection[int]) -> bool:
    """Return whether `subset_blocks` is feasible."""
    if sum(comb(k, j) for j in sizes) > MOST_SUBSETS:
        return False
    return all(
        size**j * len(patterns) * shifts < CODE_LIMIT and work.letters * len(patterns) * shifts <= MOST_CODES
        for j in sizes
        for shifts, patterns in find_patterns(k, j).items()
    )


def find_patterns(k: int, j: int, shifted: bool = True) -> dict[int, list[Positions]]:
    """Return the patterns of `j` positions in windows of `k`, grouped by their number of shifts.

    Unless `shifted`, each subset of j positions is its own pattern, with one shift.
    """
    if not shifted:
        return {1: list(combinations(range(k), j))}
    found: dict[int, list[Positions]] = {}
    for rest in combinations(range(1, k), j - 1) if j else ():
        found.setdefault(k - max(rest, default=0), []).append((0, *rest))
    return found or {1: [()]}


def common_divisor(k: int, sizes: Collection[int], shifted: bool = True) -> int:
    """Return the divisor of the sums of `subset_blocks`."""
    return lcm(*(shifts for j in sizes for shifts in find_patterns(k, j, shifted)))


def subset_blocks(
    X: SequenceSet,
    k: int,
    weights: Mapping[int, int],
    strands: Literal["one", "both"],
    work: Workload,
    others: Iterator[Any],
    window_weights: Ints | None = None,
    n_threads: int | None = None,
) -> list[tuple[int, DenseBlock | SparseBlock]]:
    """Return (factor, block) pairs for the kernel Σ_j weights[j] · Σ_S Φ_S(x)·Φ_S(y), times `common_divisor`.

    The blocks are built in threads. With `window_weights`, shifts of a pattern are not merged, because a window has
    different weights in each.
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
    """Return the Cost of `subset_blocks`."""
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


# Real-valued weights of window pairs by Hamming distance, from sums over subsets of positions.
#
# S_j, the sum over the subsets of j positions of their spectrum kernels, counts a pair of windows with g matches
# C(g, j) times. So the number of pairs with exactly g matches is N_g = Σ_{j ≥ g} (−1)^(j − g)·C(j, g)·S_j, an exact
# integer. The real weights are applied last, Σ_h weight_h·N_(k − h), h ascending, so that all ways to count the pairs
# give the same bits.

COMBINE_NS = 1.2  # an entry of the matrix, for each multiplication
CHUNK_ENTRIES = 1 << 15


def needed_sizes(weights: Sequence[float]) -> range:
    """Return the subset sizes that `SubsetDistances` needs, from the smallest number of matches with a weight to k."""
    k = len(weights) - 1
    return range(k - max((h for h, weight in enumerate(weights) if weight), default=0), k + 1)


def distances_cost(work: Workload, size: int, weights: Sequence[float], shifted: bool = True) -> Cost:
    """Return the Cost of `SubsetDistances`; `shifted` is False if windows have individual weights."""
    sizes = needed_sizes(weights)
    combine = COMBINE_NS * 1e-9 * work.pairs * len(sizes) * (len(sizes) + 1) / 2
    return subset_cost(work, size, len(weights) - 1, sizes, shifted) + Cost(combine)


class SubsetDistances:
    """Σ_h weights[h] · (pairs of windows at Hamming distance h), in floating point, of n records.

    With strands "both", windows of both strands are compared with each other, so each pair counts twice.
    `squares` is
    K(x, x), float64 (n,).
    """

    real = True

    def __init__(
        self,
        X: SequenceSet,
        weights: Sequence[float],
        strands: Literal["one", "both"],
        work: Workload,
        like: "SubsetDistances | None" = None,
        window_weights: Ints | None = None,
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

    def _weighted(self, sums: Mapping[int, Ints]) -> Floats:
        """Return Σ_h weights[h]·N_(k − h), float64, from the sums over subsets of each size."""
        total: Any = 0.0
        for h, weight in enumerate(self.weights):
            if weight:
                g = self.k - h
                signed: Any = sum((-1) ** (j - g) * comb(j, g) * sums[j] for j in range(g, self.k + 1))
                total = total + weight * signed.astype(np.float64)
        return total

    def accumulate(self, cols: "SubsetDistances", span: Span, sums: Floats) -> None:
        """Add K(rows, columns) to `sums`."""
        step = max(1, CHUNK_ENTRIES // max(1, span.last - span.first))
        for i in range(0, len(sums), step):
            part = sums[i : i + step]
            here = span._replace(row=span.row + i)
            counts = {j: self._subsets(j, cols, here, part.shape) for j in self.members}
            part += self._weighted(counts)

    def _subsets(self, j: int, cols: "SubsetDistances", span: Span, shape: tuple[int, ...]) -> Ints:
        """Return the sum over the subsets of `j` positions, int64."""
        small = self._bound(j, cols) <= INT32_LIMIT
        sums: npt.NDArray[np.int32 | np.int64] = np.zeros(shape, dtype=np.int32 if small else np.int64)
        for (factor, block), (_, other) in zip(self.members[j], cols.members[j], strict=True):
            block.accumulate(other, span._replace(factor=factor), sums)
        return sums.astype(np.int64) // self.divisors[j]


SMALLEST_ALPHABET = 2


class HammingKernel(HammingAdditive, KmerKernel):
    """Base of the kernels on pairs of windows that depend on the Hamming distance.

    A family implements `_pair_weights` and, where windows differ in weight, `_window_weights`. The k of `KmerKernel` is
    the length of a window. With `reverse_complement` a pair counts twice: by the distance of a to b, and of a to the
    reverse complement of b.
    """

    algorithm: str = algorithm_choice(
        "subsets", "transform", "diagonals", "pairs", doc=" (see `seqkern.kernels.kmer.hamming_kernel`)"
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
        """Return the Workload of explicit features, which counts the windows of all strands in use."""
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

    def _prepare(self, X: SequenceSet, like: TermBlocks | None) -> TermBlocks:
        """Return the blocks, made only for a matrix where K(x, x) costs less: decisions by tables need no more."""
        make, size, both = partial(super()._prepare, X, like), X.alphabet.size, self.reverse_complement
        if like is not None and not isinstance(like, DeferredBlocks):
            return make()
        seconds, parts, others = 0.0, [], None if like is None else like.sequences
        for k, weight in zip(self._lengths(), self._weights(), strict=True):
            chosen, costs = self._choose(self._workload(others or X), size, k)
            costs = self._costs(self._workload(X, others), size, k) if others else costs
            values = self._pair_weights(size, k)
            own = own_costs(np.maximum(X.lengths - k + 1, 0), size, k, values, both)[1] if "pairs" in costs else inf
            seconds += own - (costs[chosen].seconds if chosen in costs and chosen not in ("pairs", "diagonals") else 0)
            parts.append((weight, k, values))
        if seconds >= 0:
            return make()
        self._check_sequences(X)
        threads = GIVEN_THREADS.get() or self.n_threads
        squares = np.zeros(len(X))
        for weight, k, values in parts:
            squares += weight * own_values(X, k, values, both, self._window_weights(X, k), threads)
        return DeferredBlocks(make, squares, X)

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

    @capability
    def operator(self) -> Products:
        """Products by a transform of tables over all l-mers."""
        self._check_explicit()
        size = 4 if self.reverse_complement else SMALLEST_ALPHABET
        if self.alphabet is not None:
            size = as_alphabet(self.alphabet).size
        check_table(size, max(self._lengths()), self.length_name)
        return self._by_table()

    def _by_table(self) -> Products:
        return Products(
            self,
            self._operator,
            lambda X: sum(cost.bytes for cost in self._product_costs(X)),
            lambda X: sum(cost.seconds for cost in self._product_costs(X)),
        )

    def _product_costs(self, X: SequenceSet) -> list[Cost]:
        """Return the Cost of a product K·v for each window length."""
        size, both = X.alphabet.size, self.reverse_complement
        return [product_cost(size, length, X.lengths, both, self.weighs_windows) for length in self._lengths()]

    def _operator(self, X: SequenceSet) -> KernelOperator:
        self._check_sequences(X)
        check_table(X.alphabet.size, max(self._lengths()), self.length_name)
        parts = [HammingOperator(self, X, length) for length in self._lengths()]
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
