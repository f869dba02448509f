"""Comparison of the windows of two sequences by Hamming distance, for the product engine.

K(x, y) = Σ_h weights[h]·N_h(x, y), with N_h the number of pairs of windows of l residues that differ in h positions.
Two exact algorithms give the N_h:

- ``diagonals``: many columns at once, each a bit of a vector. The number of matches of two windows, kept as
  binary digits in several vectors, changes by at most one from a pair of windows to the next on their diagonal.
- ``pairs``: window against window, packed into machine words. It supports window weights.

Both give integers; real weights are applied at the end, once for each entry, in a fixed order.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.types import Array, Floats, Ints
from seqkern.kernels.kernel_operator import MANY, WIDEST
from seqkern.kernels.kmer import _hamming, _kmers
from seqkern.kernels.kmer import _tables as loops
from seqkern.kernels.kmer.kmers import NO_COMPLEMENT, per_record
from seqkern.kernels.planner import Cost, Workload
from seqkern.kernels.products import _product
from seqkern.kernels.products.product import Span
from seqkern.sequences.sequence_set import SequenceSet

# Counts of walks along the diagonals, for the Hamming distances with a weight; see `_hamming_diagonals.h`.

CLASSES = 8  # distances that one walk distinguishes

Plan = tuple[npt.NDArray[np.int64], list[range]]


class Walks:
    """The walks for some weights, and how distance weights turn them into sums.

    A walk distinguishes up to eight distances. Class m of a walk contains the pairs of windows whose code contains the
    bits of m; the code of a distance is its difference from the largest distance of its walk.
    """

    def __init__(self, length: int, weights: Sequence[float], real: bool) -> None:
        last = weights[length] != 0  # the remaining pairs
        needed = [h for h in range(length) if weights[h] or last]
        largest = max(needed, default=0)
        plans = [_plan_walks(length, largest, planes) for planes in (4, 5) if length < 2**planes]
        self.passes, distances = min(plans, key=_operations)
        self.rest: float = 0
        self.factors: Ints
        self.order, self.weights = np.zeros(0, np.int64), np.zeros(0)
        if real:
            which = {h: number for number, h in enumerate(h for part in distances for h in part)}
            order = {h: which[h] for h in sorted(which) if h < length} | ({length: -1} if last else {})
            self.order = np.array(list(order.values()), dtype=np.int64)
            self.weights = np.array([weights[h] for h in order], dtype=np.float64)
            self.factors = np.zeros(len(which), dtype=np.int64)
        else:
            self.rest = weights[length]
            parts = [[weights[h] - self.rest if h < length else 0 for h in part] for part in distances]
            self.factors = np.array([wrapped(f) for part in parts for f in _differences(part)], dtype=np.int64)


def _plan_walks(length: int, largest: int, planes: int) -> Plan:
    """Return the `passes` that count the distances 0 … `largest`, and for each walk the distance of each code."""
    # No other count of matches may have the code of a class: a few more classes keep them out.
    classes = max(largest % CLASSES + 1, length + CLASSES + 1 - 2**planes)
    passes, distances, low = [], [], 0
    while low <= largest:
        highest = low + classes - 1
        passes.append((planes, classes, (2**planes - CLASSES - length + highest) % 2**planes))
        distances.append(range(highest, low - 1, -1))
        low, classes = highest + 1, CLASSES
    return np.array(passes, dtype=np.int64), distances


def _operations(plan: Plan) -> int:
    """Return the approximate number of vector operations in one step of all walks."""
    passes, _ = plan
    return int((2 * passes[:, 0] + 3 * passes[:, 1]).sum())


def _differences(values: Sequence[float]) -> list[float]:
    """Return f with values[code] = Σ f[m] over all m whose bits `code` contains."""
    parts = list(values)
    for bit in (1, 2, 4):
        for code in range(len(parts)):
            if code & bit:
                parts[code] -= parts[code ^ bit]
    return parts


def wrapped(number: float) -> int:
    """Return an integer modulo 2^64 in the range of int64."""
    return (int(number) + 2**63) % 2**64 - 2**63


LARGEST_LENGTH = 31
LARGEST_WEIGHT = 2**62
LARGEST_COUNT = 2.0**63 - 2.0**40
ALIGNMENT = 64
LONG_RECORD = 8192  # windows of a record that fill the lanes with its own pieces
NO_WEIGHTS = np.zeros(0, dtype=np.int64)
NO_LIGHT = np.zeros(0, dtype=np.int32)

Weights = npt.NDArray[np.int64] | npt.NDArray[np.float64]
Sums = npt.NDArray[np.int32 | np.int64 | np.float64]
Packed = npt.NDArray[np.uint16 | np.uint32]
Lanes = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int32]]
NO_WINDOWS = np.zeros((0, 0), dtype=np.uint16)


class HammingBlock:
    """Σ over pairs of windows (a of x, b of y) of u(a)·v(b)·weights[h(a, b)], u and v the windows' weights.

    With strands "both", a pair counts weights[h(a, b)] + weights[h(a, reverse complement of b)]. No sum of two records
    exceeds the root of the product of the blocks' `largest`; `real` tells whether some weight is not an integer.
    """

    def __init__(
        self,
        X: SequenceSet,
        length: int,
        weights: Sequence[float],
        *,
        strands: Literal["one", "both"] = "one",
        algorithm: str = "diagonals",
        window_weights: Sequence[int] | Ints | None = None,
        like: "HammingBlock | None" = None,
    ) -> None:
        if not 1 <= length <= LARGEST_LENGTH:
            raise ParameterError(
                f"windows of {length} residues are not possible", remedy=f"choose 1 to {LARGEST_LENGTH} residues"
            )
        self.length, self.size = length, X.alphabet.size
        self.weights, self.real = as_weights(weights, length)
        self.algorithm: str = algorithm if like is None else like.algorithm
        if window_weights is not None and self.algorithm != "pairs":
            raise ParameterError("weighted windows need algorithm=pairs", remedy="choose algorithm=pairs")
        self.complement = NO_COMPLEMENT if strands == "one" else X.alphabet.complement_codes
        self.codes = X.codes
        self._find_stretches(X)
        self.start = np.concatenate(([0], np.cumsum(self.windows)))[self.stretches]
        self.window_weights, self.light = NO_WEIGHTS, NO_LIGHT
        if window_weights is not None:
            if len(window_weights) != self.windows.sum():
                raise ParameterError(
                    f"{len(window_weights)} weights for {self.windows.sum()} windows",
                    remedy="give one weight for each window",
                )
            self.window_weights = np.zeros(len(window_weights) + _hamming.MORE_WINDOWS, dtype=np.int64)
            self.window_weights[: len(window_weights)] = window_weights
            if np.abs(self.window_weights).max() <= _hamming.LARGEST_LIGHT_WEIGHT:
                self.light = self.window_weights.astype(np.int32)
        self.packed, self.other_packed = self._pack()
        self.walks = Walks(length, self.weights.tolist(), self.real)
        self.squares = self._squares()
        self.largest = self._largest()
        if self.algorithm == "diagonals":
            self.packed = self.other_packed = NO_WINDOWS  # no longer needed

    def _find_stretches(self, X: SequenceSet) -> None:
        """Find the stretches of windows without a masked residue: first residue, number of windows, by record."""
        numbers = np.empty(len(X), dtype=np.int64)
        _kmers.count_windows(X.codes, X.starts, X.stops, self.length, self.size, True, numbers)
        self.stretches = per_record(numbers)
        self.first = np.empty(self.stretches[-1], dtype=np.int64)
        self.windows = np.empty(self.stretches[-1], dtype=np.int64)
        _hamming.find_stretches(X.codes, X.starts, X.stops, self.length, self.size, self.first, self.windows)

    def _pack(self) -> tuple[Packed, Packed]:
        """Return the packed windows (bits of a letter, windows), and the other strand's windows if it counts."""
        shape = max(1, (self.size - 1).bit_length()), int(self.windows.sum()) + _hamming.MORE_WINDOWS
        dtype = np.uint16 if self.length <= 16 else np.uint32
        packed: Packed = np.zeros(shape, dtype=dtype)
        _hamming.pack_windows(self.codes, self.first, self.windows, NO_COMPLEMENT, self.length, packed)
        if not len(self.complement):
            return packed, np.empty((shape[0], 0), dtype=dtype)
        others: Packed = np.zeros(shape, dtype=dtype)
        _hamming.pack_windows(self.codes, self.first, self.windows, self.complement, self.length, others)
        return packed, others

    def _squares(self) -> Weights:
        """Return K(x, x) of each record, along the diagonals for long records without window weights."""
        squares: Array = np.zeros((len(self.start) - 1, 1), dtype=self.weights.dtype)
        long = np.diff(self.start) >= LONG_RECORD
        if len(self.window_weights):
            long[:] = False
        short = np.flatnonzero(~long)
        for run in np.split(short, np.flatnonzero(np.diff(short) > 1) + 1):
            if len(run):
                span = slice(run[0], run[-1] + 1)
                self._compare(run[0], self, run[0], 1, False, True, squares[span])
        for i in np.flatnonzero(long).tolist():
            self._walk(i, self, i, i + 1, 1, squares[i : i + 1])
        return squares[:, 0]

    def _largest(self) -> float:
        if len(self.window_weights):
            sums = np.concatenate(([0.0], np.cumsum(np.abs(self.window_weights.astype(np.float64)))))[self.start]
            most = np.diff(sums).max(initial=0.0)
        else:
            most = float(np.diff(self.start).max(initial=0))
        pairs = (2.0 if len(self.complement) else 1.0) * float(most) ** 2
        if pairs >= LARGEST_COUNT:
            raise SequenceError(
                "the sequences are too long for exact counts", remedy="cut the sequences into shorter parts"
            )
        return pairs * max(abs(float(weight)) for weight in self.weights)

    def accumulate(self, cols: "HammingBlock", span: Span, sums: Sums) -> None:
        """Add factor · the sums of rows and columns to `sums`.

        `sums` is float64 (then the factor is 1) if `real`, else int32 or int64.
        """
        row, first, last, factor, upper = span
        if last <= first or not len(sums):
            return
        if self.algorithm == "diagonals":
            self._walk(row, cols, first, last, factor, sums)
        else:
            self._compare(row, cols, first, factor, upper, False, sums)

    def _compare(
        self, row: int, cols: "HammingBlock", first: int, factor: int, upper: bool, own: bool, sums: Sums
    ) -> None:
        """Perform `accumulate` window by window; with `own`, only for each record with itself."""
        many = max((h + 1 for h, weight in enumerate(self.weights) if weight), default=0)
        weights = self.weights[:many]
        _hamming.compare(
            self.packed,
            self.other_packed,
            self.start,
            self.window_weights,
            cols.packed,
            cols.start,
            cols.window_weights,
            cols.light,
            _product.level(),
            np.array([0 if self.real else wrapped(factor * int(weight)) for weight in weights], dtype=np.int64),
            weights.astype(np.float64),
            row,
            first,
            upper,
            own,
            sums,
        )

    def _walk(self, row: int, cols: "HammingBlock", first: int, last: int, factor: int, sums: Sums) -> None:
        """Perform `accumulate` along the diagonals."""
        level = _product.level()
        lanes = _hamming.lanes(level)
        starts, windows, columns = cols._lanes(first, last, lanes)
        if not len(windows):
            return
        longest = np.maximum.reduceat(windows, np.arange(0, len(windows), lanes))
        bytes_ = sum(_hamming.block_bytes(n, self.length, self.size, level) for n in longest.tolist())
        memory = np.empty(bytes_ + ALIGNMENT, dtype=np.uint8)
        _hamming.fill_blocks(cols.codes, starts, windows, longest, self.length, self.size, level, memory)
        most = int(self.windows[self.stretches[row] : self.stretches[row + len(sums)]].max(initial=0)) + self.length
        totals = (last - first + 1) * (len(self.walks.factors) if self.real else 1)
        _hamming.walk(
            self.codes,
            self.stretches,
            self.first,
            self.windows,
            self.complement,
            most,
            memory,
            longest,
            _in_reading_order(columns, lanes, last - first),
            np.diff(cols.start[first : last + 1]),
            self.size,
            self.length,
            level,
            self.walks.passes,
            np.array([wrapped(factor * number) for number in self.walks.factors.tolist()], dtype=np.int64),
            self.walks.order,
            self.walks.weights,
            wrapped(factor * self.walks.rest),
            row,
            np.empty(_hamming.scratch_bytes(level, most, totals), dtype=np.uint8),
            sums,
        )

    def _lanes(self, first: int, last: int, lanes: int) -> Lanes:
        """Return the first residue, number of windows and column of each lane for the columns `first` … `last`.

        Long stretches, and stretches of the last block, are cut to fill the lanes of a vector.
        """
        span = slice(self.stretches[first], self.stretches[last])
        windows = self.windows[span]
        columns = np.repeat(np.arange(last - first, dtype=np.int32), np.diff(self.stretches[first : last + 1]))
        if not len(windows):
            return self.first[span], windows, columns
        most, used = _hamming.plan_lanes(windows, lanes, np.zeros((2, int(windows.max()) + 1), dtype=np.int64))
        start = (used - 1) // lanes * lanes
        pieces = lanes // (used - start)
        total = start + (used - start) * pieces
        cut = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total, np.int32)
        _hamming.cut_lanes(self.first[span], windows, columns, most, np.zeros(most + 1, dtype=np.int64), *cut)
        _hamming.cut_last(start, used, pieces, *cut)
        return cut


def _in_reading_order(columns: npt.NDArray[np.int32], lanes: int, unused: int) -> npt.NDArray[np.int32]:
    """Return the column of each lane, int32, in the order that `walk` reads: lane 8·i + r of a block at r·lanes/8
    + i.
    """
    blocks = -(-len(columns) // lanes)
    padded = np.full(blocks * lanes, unused, dtype=np.int32)
    padded[: len(columns)] = columns
    return padded.reshape(blocks, lanes // 8, 8).swapaxes(1, 2).reshape(-1).copy()


def as_weights(weights: Sequence[float], length: int) -> tuple[Weights, bool]:
    """Return the checked weights of Hamming distances as an array, and whether some are not integers."""
    if len(weights) != length + 1:
        raise ParameterError(f"{len(weights)} weights for {length} residues", remedy=f"give {length + 1}")
    real = not all(float(weight).is_integer() for weight in weights)
    if real:
        return np.array([float(weight) for weight in weights]), True
    if max(abs(int(weight)) for weight in weights) >= LARGEST_WEIGHT:
        raise ParameterError("weights beyond 62 bits are not possible", remedy="divide them by a power of two")
    return np.array([int(weight) for weight in weights], dtype=np.int64), False


# Cost of comparing windows by Hamming distance; see `seqkern.kernels.kmer.hamming`.

STEP_NS = (0.16, 0.145, 0.13)  # an operation on a vector along a diagonal
DIAGONAL_NS = 20.0  # a diagonal
LANE_NS = 10.0  # reading the sum of a lane
PAIR_NS = (0.2, 0.12, 0.08)  # two windows compared
CLASS_NS = (0.05, 0.03, 0.03)  # a distance looked for
WEIGHT_NS = (0.17, 0.11, 0.11)  # the same with weights of windows
WINDOW_NS = 2.0  # a window: packed, for each bit of a letter


def hamming_costs(
    work: Workload, size: int, length: int, weights: Sequence[float], both: bool, weighted: bool = False
) -> dict[str, Cost]:
    """Return the Cost of each algorithm of a HammingBlock.

    The constants are CPU nanoseconds for each level of vector instructions, measured on one core of an AMD EPYC of
    the Zen 5 generation.
    """
    level, strands = _product.level(), 2 if both else 1
    of_distance, real = as_weights(weights, length)
    mine = max(0.0, work.row_letters / max(1, work.rows) - length + 1)
    theirs = max(0.0, work.col_letters / max(1, work.cols) - length + 1)
    bits = max(1, (size - 1).bit_length())
    pair = _pair_ns(of_distance, length, weighted)
    windows = work.cols * theirs + (0 if work.symmetric else work.rows * mine)
    squares = work.cols * theirs**2 + (0 if work.symmetric else work.rows * mine**2)
    packed = int(windows * bits * (2 if length <= 16 else 4) * strands)
    make = windows * WINDOW_NS * bits * strands + squares * pair * strands
    costs = {}
    if not weighted:
        passes = Walks(length, of_distance.tolist(), real).passes
        step = _step_ns(passes)
        lanes = _hamming.lanes(level)
        blocks = max(1.0, work.cols / lanes)
        lane = min(theirs, work.cols * theirs / (blocks * lanes) + 1)
        diagonals = mine * lane * step + (mine + lane) * DIAGONAL_NS * len(passes)
        halves = 0.55 if work.symmetric else 1.0  # the blocks on the diagonal are computed as squares
        walk = work.rows * halves * blocks * (diagonals * strands + lanes * LANE_NS)
        costs["diagonals"] = Cost((make + walk) * 1e-9, packed + int(work.col_letters * (size + 1) / 8))
    compare = work.pairs * mine * theirs * pair * strands
    costs["pairs"] = Cost((make + compare) * 1e-9, packed)
    return costs


def own_costs(windows: Ints, size: int, length: int, weights: Sequence[float], both: bool) -> tuple[float, float]:
    """Return the CPU seconds of K(x, x) of some records: side by side as lanes of a vector, and one by one."""
    of_distance, _ = as_weights(weights, length)
    passes, strands = Walks(length, of_distance.tolist(), True).passes, 2 if both else 1
    longest, level = float(windows.max(initial=0)), _product.level()
    bits = max(1, (size - 1).bit_length())
    step = _step_ns(passes) + (4 + 3 * bits) * STEP_NS[level] * len(passes)
    together = strands * (longest**2 / 2 * step + longest * DIAGONAL_NS * len(passes))
    single = strands * float(np.square(windows.astype(np.float64)).sum()) * _pair_ns(of_distance, length, False)
    return together * 1e-9, single * 1e-9


def _step_ns(passes: Ints) -> float:
    """Return the cost, in nanoseconds, of one step of all walks along a diagonal."""
    return int((2 * passes[:, 0] + 3 * passes[:, 1]).sum()) * STEP_NS[_product.level()]


def _pair_ns(weights: Weights, length: int, weighted: bool) -> float:
    """Return the cost of comparing two windows, in nanoseconds."""
    level, many = _product.level(), int(np.max(np.flatnonzero(weights), initial=-1)) + 1
    return (PAIR_NS[level] + many * (WEIGHT_NS if weighted else CLASS_NS)[level]) * (1 if length <= 16 else 2)


# Tables over all l-mers: their feasible sizes, their parts, and the cost of products with them.

LARGEST_TABLE = 1 << 27
PART_BITS = 16  # 2^16 double precision numbers: half a megabyte, and codes of two bytes
WINDOWS_IN_LIST = 4  # of a record at least, on average, or lists are too short for their overhead
FEWEST_LISTS = 64
LISTS_IN_MEMORY, STORED_LISTS = 1 << 29, 1 << 27
"""Bytes of lists beyond which they are stored in a temporary file, and of a part that is read at a time."""
DIRECTIONS = 16  # Tables, and their sums on the records, that a fit keeps
# CPU nanoseconds of a product: an l-mer added and looked up, the end of a list, an entry of the table, a letter of it
TABLE_WINDOW_NS, LIST_NS, TABLE_NS = 2.2, 3.0, 8.0
DNA_NS, REFLECT_NS = 0.55, 0.15


def check_table(size: int, length: int, name: str = "l") -> None:
    """Raise ParameterError if the table of all l-mers would be too large."""
    if size**length <= LARGEST_TABLE:
        return
    largest = next(n for n in range(length, -1, -1) if size**n <= LARGEST_TABLE)
    raise ParameterError(
        f"{name}={length} is too large for products without a Gram matrix: {size} letters have {size**length} l-mers",
        remedy=f"choose {name} up to {largest}",
    )


def product_cost(size: int, length: int, lengths: Ints, both_strands: bool, weighted: bool) -> Cost:
    """Return the Cost of a product K·v; its memory is a HammingOperator, lists up to a limit, and tables of a fit."""
    records, windows = len(lengths), int(np.maximum(lengths - length + 1, 0).sum())
    space = size**length
    _, kept, entries, lists = list_sizes(size, length, lengths, both_strands)
    letter = DNA_NS if size == 4 else REFLECT_NS * size
    seconds = windows * TABLE_WINDOW_NS + entries * LIST_NS + space * (TABLE_NS + length * letter)
    lists = max(STORED_LISTS, lists * records // entries) if lists > LISTS_IN_MEMORY else lists
    many = records >= MANY and kept <= WIDEST * records
    more = many * (2 * 8 * space + DIRECTIONS * 4 * (records + kept))
    return Cost(seconds * 1e-9, lists + windows * weighted + 12 * records + 3 * 8 * space + more)


def list_sizes(size: int, length: int, lengths: Ints, both_strands: bool) -> tuple[int, int, int, int]:
    """Return the binary logarithm of a part of a table, the entries of tables, the ends of lists, their bytes."""
    windows = int(np.maximum(lengths - length + 1, 0).sum())
    space, bits = size**length // (2 if size == 4 and both_strands and length % 2 else 1), PART_BITS
    while space >> bits > max(FEWEST_LISTS, windows / max(1, len(lengths)) / WINDOWS_IN_LIST):
        bits += 1
    entries = len(lengths) * ((space >> bits) + 1)
    return bits, space, entries, windows * (2 if bits <= PART_BITS else 4) + 4 * entries


# Weights c_h of l-mer pairs at Hamming distance h in a gapped k-mer kernel.
#
# The weights are rational, computed exactly and rounded once.


@lru_cache(maxsize=256)
def gapped_weights(
    size: int,
    l: int,  # noqa: E741
    k: int,
    d: int | None = None,
    estimator: Literal["count", "full", "truncated"] = "count",
    clip: bool = False,
) -> tuple[int, ...] | tuple[float, ...]:
    """Return the weights c_h for h = 0, …, l; distances above `d` get 0.

    `estimator`: ``count`` is the number of gapped k-mers that two l-mers share, C(l − h, k); ``full`` is `estimate`;
    ``truncated`` is `truncated_estimate`.

    References
    ----------
    Ghandi, Lee, Mohammad-Noori, Beer: Enhanced regulatory sequence prediction using gapped k-mer features. PLoS
    Computational Biology 10, 2014.
    """
    weights: Sequence[int | Fraction]
    if estimator == "count":
        weights = [comb(l - h, k) for h in range(l + 1)]
    elif estimator == "full":
        weights = estimate(size, l, k)
    else:
        weights = truncated_estimate(size, l, k)
    kept = [Fraction(weight) if d is None or h <= d else Fraction(0) for h, weight in enumerate(weights)]
    return tuple(as_numbers(clipped(kept, size) if clip else kept))


def clipped(weights: Sequence[Fraction], size: int) -> list[Fraction]:
    """Return the exact c_h of the nearest positive semi-definite matrix over all l-mers.

    The eigenvalues of the matrix c[h(a, b)] are λ_j = Σ_h c_h Kr_h(j), j = 0, …, l, and c_h = b^−l Σ_j λ_j Kr_j(h).
    Negative eigenvalues are set to zero.
    """
    l = len(weights) - 1  # noqa: E741
    each, q = range(l + 1), size - 1
    known = [[krawtchouk(j, h, l, q) for h in each] for j in each]
    eigenvalues = [max(Fraction(0), sum((weights[h] * known[h][j] for h in each), Fraction(0))) for j in each]
    return [sum((eigenvalues[j] * known[j][h] for j in each), Fraction(0)) / size**l for h in each]


def as_numbers(fractions: Iterable[Fraction | int]) -> list[int] | list[float]:
    """Return rational numbers as integers if all are whole, else rounded to floats."""
    values = [Fraction(value) for value in fractions]
    if all(value.denominator == 1 for value in values):
        return [int(value) for value in values]
    return [float(value) for value in values]


def estimate(size: int, l: int, k: int) -> list[Fraction]:  # noqa: E741
    """Return the exact weights w_h = b^−l Σ_{j ≤ k} Kr_j(h), h = 0, …, l.

    The count of an l-mer estimated from gapped k-mer counts is the sum over the observed l-mers of w at their distance
    from it. Kr_j is the Krawtchouk polynomial of degree j, b the size of the alphabet.
    """
    return [Fraction(sum(krawtchouk(j, h, l, size - 1) for j in range(k + 1)), size**l) for h in range(l + 1)]


def krawtchouk(j: int, h: int, l: int, q: int) -> int:  # noqa: E741
    """Return the Krawtchouk polynomial Kr_j(h; l, q) = Σ_s (−1)^s q^(j − s) C(h, s) C(l − h, j − s)."""
    return sum((-1) ** s * q ** (j - s) * comb(h, s) * comb(l - h, j - s) for s in range(j + 1))


def truncated_estimate(size: int, l: int, k: int) -> list[Fraction]:  # noqa: E741
    """Return the exact weights c_h = Σ_u w(|a − u|)·w(|u − b|) for l-mers a, b at distance h, summed over all l-mers u.

    w is `estimate`, set to 0 from its first non-positive value on.
    """
    kept = estimate(size, l, k)
    end = next((h for h, weight in enumerate(kept) if weight <= 0), l + 1)
    return [
        sum((lmers_between(size, l, h, i, j) * kept[i] * kept[j] for i in range(end) for j in range(end)), Fraction(0))
        for h in range(l + 1)
    ]


def lmers_between(size: int, l: int, h: int, i: int, j: int) -> int:  # noqa: E741
    """Return the number of l-mers at distances i and j from two given l-mers at distance h.

    Where the two agree, t residues differ from both; where they differ, h + t − i residues match the first l-mer,
    h + t − j the second, and the others neither.
    """
    total = 0
    for t in range(l - h + 1):
        first, second = h + t - i, h + t - j
        if min(first, second) < 0 or first + second > h:
            continue
        ways = comb(h, first) * comb(h - first, second) * (size - 2) ** (h - first - second)
        total += comb(l - h, t) * (size - 1) ** t * ways
    return total


# Eigenvalues of matrices over l-mers that depend on the Hamming distance alone; see `hamming_additive`.

LARGEST_BLOCK = 1 << 14


def eigenvalues(size: int, length: int, values: Sequence[float]) -> Floats:
    """Return the eigenvalues of the matrix values[h(a, b)] over all l-mers, rounded once.

    Eigenvalue i belongs to functions that depend on i of the positions only.
    """
    return np.array(
        [
            float(sum(Fraction(value) * krawtchouk(h, i, length, size - 1) for h, value in enumerate(values) if value))
            for i in range(length + 1)
        ],
        dtype=np.float64,
    )


def residue_factors(size: int, length: int, values: Sequence[float]) -> tuple[Floats, Floats]:
    """Return the eigenvalues of the share of the residue at one position of an l-mer.

    For a pair at distance h < length, the share is values[h] / (length − h) if the residue matches: the identity at
    this
    position, a matrix of Hamming distances at the others. At distance `length` it is values[length] / length. The two
    arrays are for functions of i positions, without this position and with it.
    """
    inner = eigenvalues(size, length - 1, [value / (length - h) for h, value in enumerate(values[:length])])
    apart = eigenvalues(size, length, [0] * length + [values[length] / length])
    return np.append(inner, 0) + apart, np.append(0, inner) + apart


def reflect(table: Floats, size: int, length: int) -> None:
    """Reflect a table over all l-mers, in place; see `_tables.reflect`."""
    low = 1
    while low < length and size ** (low + 1) <= LARGEST_BLOCK:
        low += 1
    high = length - low
    loops.reflect(table, size, high, low, np.empty(size**high * loops.LANE_COUNT))
