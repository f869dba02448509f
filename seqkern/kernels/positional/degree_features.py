"""Equal-length sequences for the weighted degree kernels, packed into machine words."""

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.memory import available_memory, format_bytes
from seqkern.core.types import Array, Floats, Ints
from seqkern.kernels.kernel_operator import LINE, Implicit
from seqkern.kernels.planner import Cost, Workload, letter_shares
from seqkern.kernels.positional import _degree_implicit
from seqkern.kernels.positional._weighted_degree import DegreeSum, pack
from seqkern.kernels.prepared import RecordRange
from seqkern.kernels.products import _product
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet

# CPU nanoseconds for each level of instructions, measured on one core of an AMD EPYC of the Zen 4 generation: a pair;
# a word and plane of it compared; a word of matches counted and made one letter longer; a letter with a weight.
PAIR_NS = (4.0, 0.8, 0.5)
COMPARE_NS = (0.4, 0.08, 0.04)
STEP_NS = (1.35, 0.29, 0.14)
WEIGH_NS = (0.9, 0.65, 0.4)
WORD, GROUP, ALIGNMENT, TILE_ROWS = 64, 8, 64, 64
SMALL = 1e38  # a number of single precision; sums up to this are not looked at one by one
LARGEST_TABLE = 1 << 16  # of values of sums
RARE = 0.3  # with fewer remaining matches than this among 8 pairs, check whether there are any

Tables = tuple[npt.NDArray[np.float64], npt.NDArray[np.float32]]


class DegreePayload(RecordRange):
    """Records of one length, packed.

    `total` is an upper bound of all sums, also before division. `least` is the smallest positive K(x, x) of the whole
    set, 0 until `diagonal` was called; `square` is K(x, x) if it is positive and the same for all records, else None.
    """

    def __init__(self, X: SequenceSet, length: int, sums: DegreeSum, total: float = np.inf) -> None:
        self.total, self.least = total, 0.0
        self.square: float | None = None
        self._tables: dict[float, Tables] = {}  # shared by all ranges of rows
        self.length, self.sums, self._all, self.first, self.last = length, sums, X, 0, len(X)
        shape = -(-len(X) // GROUP), planes(X.alphabet) + 1, words(length), GROUP
        self._packed = _aligned_zeros(shape)
        pack(X.codes, X.starts, length, X.alphabet.size, words(length), planes(X.alphabet), self._packed)

    @property
    def X(self) -> SequenceSet:  # noqa: N802
        """The packed records as a SequenceSet."""
        whole = len(self) == len(self._all)
        return self._all if whole else self._all.take(slice(self.first, self.last))

    def diagonal(self) -> Floats:
        """Return K(x, x), not normalised, float64 (n,)."""
        out = np.empty(len(self))
        self.sums.squares(_product.level(), self._packed, self.first, out)
        self.least = float(out.min(where=out > 0, initial=np.inf))
        self.square = self.least if len(out) and self.least == out.min() == out.max() else None
        return out

    def tables(self, cols: "DegreePayload") -> Tables | None:
        """Return look-up tables of the normalised K for the sums 0, 1, 2, … if they are possible and worthwhile, else
        None.

        They save the divisions, and give the same bits.
        """
        square = self.square
        if square is None or square != cols.square or not self.sums.counts:
            return None
        largest = round(square * self.sums.divisor)  # no sum exceeds that of a record with itself
        if largest >= min(LARGEST_TABLE, len(self._all) * len(cols._all) // 4):
            return None
        if square not in self._tables:
            values = np.arange(largest + 1.0) / self.sums.divisor / np.sqrt(square * square)
            self._tables[square] = values, values.astype(np.float32)
        return self._tables[square]

    def bound(self, cols: "DegreePayload", normalised: bool) -> float:
        """Return an upper bound of K between these records and `cols`; inf if unknown.

        The bound is free, while scanning all values is not. Rounding is far less than the factor of 2 here.
        """
        if not normalised:
            return 2 * self.total
        roots = np.sqrt(self.least) * np.sqrt(cols.least)  # a product would underflow
        return float(2 * self.total / roots) if roots > 0 else np.inf

    def fill(
        self,
        cols: "DegreePayload",
        out: Floats,
        row_diagonal: Floats | None = None,
        col_diagonal: Floats | None = None,
    ) -> float:
        """Write K of these records with `cols` to `out`, normalised if both diagonals are given.

        Returns a bound of the absolute values, or the largest one, inf and NaN included.
        """
        normalised = row_diagonal is not None
        bound = self.bound(cols, normalised)
        look = not bound < SMALL
        tables = self.tables(cols) if normalised and not look else None
        largest = self.sums.fill(
            _product.level(),
            self._packed,
            self.first,
            cols._packed,
            cols.first,
            row_diagonal,
            col_diagonal,
            out,
            look,
            None if tables is None else tables[0],
        )
        return largest if look else bound

    def fill_single(self, cols: "DegreePayload", out: npt.NDArray[np.float32]) -> bool:
        """Write the normalised K to `out` in single precision if there is a table; return whether it was written."""
        tables = self.tables(cols)
        if tables is None:
            return False
        self.sums.fill_single(_product.level(), self._packed, self.first, cols._packed, cols.first, tables[1], out)
        return True

    def places(self, record: int, others: "DegreePayload", coefficients: Floats, lengths: int) -> Floats:
        """Return the contribution of each position of one of these records to Σ_j coefficients[j]·K(x, z_j).

        Entry (k − 1, i) belongs to the k-mer at i, without the weight of the length. Requires sums with position
        weights, and
        a whole payload, not a range of rows.
        """
        out = np.empty((lengths, self.length))
        self.sums.note(self._packed, record, others._packed, coefficients, out)
        return out


def words(length: int) -> int:
    """Return the number of machine words for one bit per residue."""
    return max(1, -(-length // WORD))


def planes(alphabet: Alphabet) -> int:
    """Return the number of bits of a residue's code."""
    return max(1, (alphabet.size - 1).bit_length())


def make_sum(
    X: SequenceSet,
    length: int,
    degree: int,
    length_weights: Floats | None,
    start_weights: Floats | None,
    shifts: Ints,
) -> DegreeSum:
    """Return the DegreeSum over pairs of records of one length.

    `X` only serves to estimate how often residues match, and does not change results. `length_weights` None gives the
    default, proportional to degree − k + 1, as integers until the end; `start_weights` None gives 1 each.
    """
    largest = int(min(shifts.max(initial=0), max(0, length - 1)))
    counted = [shifts[: length - s] >= s for s in range(largest + 1)]
    filters = starts = None
    divisor = 1.0
    if start_weights is not None:
        starts = np.zeros((2 * largest + 1, words(length) * WORD))
        for s, here in enumerate(counted):
            starts[max(0, 2 * s - 1), : length - s] = starts[2 * s, s:length] = start_weights[: length - s] * here
        if length_weights is None:
            length_weights = np.arange(degree, 0, -1, dtype=np.float64)
            divisor = degree * (degree + 1) / 2
    elif not all(here.all() for here in counted):
        bits = np.zeros((2 * largest + 1, words(length) * WORD), dtype=np.uint8)
        for s, here in enumerate(counted):
            bits[max(0, 2 * s - 1), : length - s] = bits[2 * s, s:length] = here
        filters = np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64)
    if length_weights is None:
        divisor = degree * (degree + 1) / 2
    return DegreeSum(
        words(length),
        planes(X.alphabet),
        degree,
        largest,
        unchecked_lengths(X, length, degree, largest > 0),
        divisor,
        length_weights,
        1 / (2 * np.arange(1.0, largest + 2)),
        filters,
        starts,
    )


def largest_sum(
    length: int,
    degree: int,
    length_weights: Floats | None,
    start_weights: Floats | None,
    shifts: Ints,
) -> float:
    """Return an upper bound of the sums of `make_sum`, before or after division: the sum of all (non-negative) weights.

    >>> largest_sum(10, 2, None, None, np.zeros(10, dtype=np.int64))
    30.0
    """
    lengths = degree * (degree + 1) / 2 if length_weights is None else float(length_weights.sum())
    starts = float(length if start_weights is None else start_weights.sum())
    return lengths * starts * (2.0 * int(shifts.max(initial=0)) + 1)


def degree_cost(X: SequenceSet, Y: SequenceSet | None, degree: int, shift: int, weighted: bool) -> tuple[Cost, str]:
    """Return the cost of a matrix without its output, and a one-line explanation."""
    work, level = Workload.of(X, Y), _product.level()
    length = work.longest
    n_words, n_planes = words(length), planes(X.alphabet) + 1
    variants = 1 + 2 * min(shift, max(0, length - 1))
    steps = unchecked_lengths(X, length, degree, shift > 0)
    each = n_words * (n_planes * COMPARE_NS[level] + steps * STEP_NS[level]) + weighted * length * WEIGH_NS[level]
    seconds = work.pairs * (PAIR_NS[level] + variants * each) * 1e-9
    own = 8 * n_words * n_planes * (work.records + GROUP + TILE_ROWS * variants)
    reason = f"{work.pairs:.3g} pairs, {variants} × {n_words} words, about {steps} lengths of k-mers"
    return Cost(seconds, own), reason


def unchecked_lengths(X: SequenceSet, length: int, degree: int, both: bool) -> int:
    """Return the largest length at which one of 8 random pairs is expected to share a k-mer."""
    shares = letter_shares(X)
    match, expected = float(shares @ shares), GROUP * length * (1 + both)
    k = 1
    while k < degree and expected * match ** (k + 1) > RARE:
        k += 1
    return degree if k + 1 >= degree else k


def positions_are_definite(start_weights: Floats, shifts: Ints) -> bool:
    """Return whether the matrix of position-pair weights is positive semi-definite, up to rounding."""
    positions = np.arange(len(shifts))
    distance = np.abs(positions[:, None] - positions)
    first = np.minimum(positions[:, None], positions)
    weights = np.where(distance == 0, 1.0, 1 / (2 * (distance + 1))) * start_weights[first]
    weights[distance > shifts[first]] = 0
    weights[positions, positions] += 1e-12 * weights.max(initial=1e-300)
    try:
        np.linalg.cholesky(weights)
    except np.linalg.LinAlgError:
        return False
    return True


def _aligned_zeros(shape: tuple[int, ...]) -> npt.NDArray[np.uint64]:
    """Return a uint64 array of zeros aligned to a cache line."""
    size = int(np.prod(shape))
    buffer = np.zeros(size + ALIGNMENT // 8, dtype=np.uint64)
    skip = -buffer.ctypes.data % ALIGNMENT // 8
    return buffer[skip : skip + size].reshape(shape)


# Basis of the implicit features of weighted degree kernels: windows, weights of lengths and positions.
#
# Both kernels keep dense tables of weights for k-mers up to some depth, and lists of shared longer k-mers. A census
# counts the shared k-mers for every depth at once, and `choose_depth` takes the depth with the least memory. It is also
# nearly the fastest, because an epoch is limited by memory access.

MEMORY_SHARE = 1 / 2  # of the free memory
MOST_WINDOWS = 2**31 - 1
MOST_SHARED = 2**31 - 1  # nodes or cells that windows share
MOST_WORDS = 4**12  # k-mers of the longest dense table


class Windows:
    """The windows of a set, and the kernel's weights of their k-mers.

    `beta` (degree,) are the weights of the lengths 1, 2, …, `gamma` (length,) the weights of the positions, and `sums`
    (degree + 1,) the partial sums β_1 + … + β_k.
    """

    def __init__(self, X: SequenceSet, beta: Floats, gamma: Floats) -> None:
        self.n, self.length, self.size = len(X), int(X.lengths[0]) if len(X) else 0, X.alphabet.size
        if self.n > MOST_WINDOWS:
            raise ParameterError(f"{self.n} windows are too many", remedy="train on fewer")
        self.codes, self.starts = X.codes, X.starts
        used = np.flatnonzero(beta)
        self.degree = min(int(used[-1]) + 1 if len(used) else 0, self.length)
        self.beta = np.ascontiguousarray(beta[: self.degree], dtype=np.float64)
        self.gamma = np.ascontiguousarray(gamma, dtype=np.float64)
        self.sums = np.concatenate(([0.0], np.cumsum(self.beta)))
        self.masked = _degree_implicit.any_masked(self.codes, self.starts, self.length, self.size)

    @property
    def deepest(self) -> int:
        """The largest length of k-mers that can have a dense table."""
        return max(k for k in range(min(self.degree, 64) + 1) if self.size**k <= MOST_WORDS)

    def kinds(self, depth: int) -> tuple[npt.NDArray[np.int32], Floats]:
        """Return numbers for the ranges of lengths above `depth`, at [a, b] for lengths a + 1 to b, and Σβ_k of each
        range.
        """
        a, b = (edges + depth for edges in np.triu_indices(self.degree - depth + 1, 1))
        kinds = np.zeros((self.degree + 1, self.degree + 1), dtype=np.int32)
        kinds[a, b] = np.arange(len(a))
        return kinds, self.sums[b] - self.sums[a]

    def n_kinds(self, depth: int) -> int:
        """Return the number of ranges of lengths above `depth`."""
        return (self.degree - depth) * (self.degree - depth + 1) // 2


def choose_depth(needs: dict[int, int], windows: Windows) -> int:
    """Return the depth with the least memory: the largest length with dense tables."""
    least_bytes(needs, windows)
    depth = min(needs, key=needs.__getitem__)
    if needs[depth] > MEMORY_SHARE * available_memory():
        raise ParameterError(
            f"training on {windows.n} windows of {windows.length} residues without a Gram matrix needs "
            f"{format_bytes(needs[depth])} of memory",
            remedy="choose a smaller degree or shift, or fewer or shorter sequences",
        )
    return depth


def least_bytes(needs: dict[int, int], windows: Windows) -> int:
    """Return the smallest memory, in bytes, over the possible depths."""
    if not needs:
        raise ParameterError(
            f"{windows.n} windows of {windows.length} residues share too many k-mers to be numbered",
            remedy="choose a smaller degree or shift, or fewer or shorter sequences",
        )
    return min(needs.values())


def above(counts: Ints) -> Ints:
    """Return, for each k, the sum of the counts above k."""
    return np.cumsum(counts[::-1])[::-1] - counts


def some(array: Array) -> Array:
    """Return the array, or a single zero if it is empty: compiled code takes the address of the first item."""
    return array if array.size else np.zeros(1, dtype=array.dtype)


# Implicit training features of the shifted weighted degree kernel.
#
# K(x, y) = Σ_k β_k Σ_{p,q} A_pq [x_p..x_{p+k−1} = y_q..y_{q+k−1}]: k-mers of x at p and y at q add A_pq =
# γ_min(p,q)·δ_|p−q| if p and q are close enough. A linear classifier is f(x) = Σ_p Σ_k w_k[x_p..x_{p+k−1}, p], and the
# contribution of y at q goes to all nearby p:
#
# - k-mers of up to `depth` residues have a dense table of weights, [k-mer][position];
# - for a longer k-mer only the positions where it occurs in some window are stored, contiguously, as cells. One cell
#   serves all lengths at which the surrounding windows are the same;
# - a k-mer without a nearby match in any window contributes to K(x, x) only: one weight and one factor for each window.

LONGEST = 2**16 - 1
SHIFTED_FEW_KINDS = 1 << 15  # as many as fit into 15 bits
LEAST_DEPTH_WORDS = 4**6  # with fewer k-mers than these, tables are small, and lists are long
CELL_BYTES, SHIFTED_ENTRY_BYTES = 8 + 4, 4  # a weight and a place; a cell's number in a window's list
WINDOW_BYTES = 8 * 4  # where its list starts, its own weight and factor, K(x, x)
PLACES = 1 << 22  # sorted at once


class ShiftedImplicit(Implicit):
    """Features of the shifted weighted degree kernel for a set of windows."""

    def __init__(self, windows: Windows, shifts: Ints, squares: Floats, depth: int | None = None) -> None:
        _check_length(windows)
        if depth is None:
            depth = choose_depth(shifted_needs(windows, shifts), windows)
        depth = min(depth, windows.deepest)
        tables = _tables(windows, depth)
        lists = _lists(windows, depth, shifts)
        own = int(tables[-1]) + lists.pop("n_cells")
        numbers = {
            "length": windows.length,
            "size": windows.size,
            "depth": depth,
            "stride": _lines(windows.length),
            "shift": int(shifts.max(initial=0)),
            "cells": int(tables[-1]),
            "own": own,
            "kinds": lists.pop("kinds"),
        }
        arrays = {
            "codes": some(windows.codes),
            "starts": some(windows.starts),
            "tables": tables,
            "beta": some(windows.beta),
            **_reach(windows.gamma, shifts),
            **lists,
        }
        operations = _degree_implicit.ShiftedOperations(arrays, numbers)
        super().__init__(operations.capsule, squares, own + windows.n)
        self.depth = depth


def shifted_needs(windows: Windows, shifts: Ints) -> dict[int, int]:
    """Return the memory of weights and lists, in bytes, for each useful depth."""
    _check_length(windows)
    cells, entries = np.zeros((2, windows.degree + 1), dtype=np.int64)
    least = max(k for k in range(windows.deepest + 1) if windows.size**k <= LEAST_DEPTH_WORDS)
    if windows.n:
        _search(windows, shifts).census(least, cells, entries)
    cells, entries = above(cells), above(entries)
    return {
        k: 8 * int(_tables(windows, k)[-1])
        + CELL_BYTES * int(cells[k])
        + SHIFTED_ENTRY_BYTES * int(entries[k])
        + WINDOW_BYTES * windows.n
        for k in range(least, windows.deepest + 1)
        if cells[k] <= MOST_SHARED
    }


def _check_length(windows: Windows) -> None:
    """Raise ParameterError for windows whose positions do not fit into 16 bits."""
    if windows.length > LONGEST:
        raise ParameterError(
            f"sequences of {windows.length} residues are too long for training without a Gram matrix",
            remedy=f"cut them to {LONGEST}, or train on a Gram matrix",
        )


def _search(windows: Windows, shifts: Ints) -> _degree_implicit.ClusterSearch:
    """Return a new ClusterSearch in the windows."""
    most = max(PLACES, windows.n * windows.length // 8)
    reach = int(shifts.max())
    return _degree_implicit.ClusterSearch(
        windows.codes, windows.starts, windows.length, windows.size, reach, windows.gamma, windows.sums, most
    )


def _lines(size: Any) -> Any:
    """Return a number of weights rounded up to whole cache lines."""
    return -(-size // LINE) * LINE


def _reach(gamma: Floats, shifts: Ints) -> dict[str, Array]:
    """Return the arrays named in `shifted_state` for A_pq, stored as rows q and padded with zeros."""
    length, most = len(shifts), int(shifts.max(initial=0))
    if not length:
        return {"nearest": np.zeros(1, np.int32), "span": np.zeros(1, np.int32), "reach": np.zeros((1, LINE))}
    q = np.arange(length)
    nearest = np.maximum(q - most, 0) // LINE * LINE
    span = _lines(np.minimum(q + most + 1, length) - nearest)
    p, q = nearest[:, None] + np.arange(span.max()), q[:, None]
    s, low = abs(p - q), np.minimum(np.minimum(p, q), length - 1)
    reach = np.where((p < length) & (s <= shifts[low]), gamma[low] / (2 * (s + 1.0)), 0.0)
    reach[s == 0] *= 2
    return {"nearest": nearest.astype(np.int32), "span": span.astype(np.int32), "reach": reach}


def _tables(windows: Windows, depth: int) -> Ints:
    """Return the offsets of the dense tables in the weights, and the end of the last, int64 (depth + 1,)."""
    sizes = [_lines(windows.length) * windows.size**k for k in range(1, depth + 1)]
    return np.cumsum([0, *sizes], dtype=np.int64)


def _lists(windows: Windows, depth: int, shifts: Ints) -> dict[str, Any]:
    """Return the cells of all windows: the arrays named in `shifted_state`, and the number of cells."""
    n = windows.n
    first, own = np.zeros(n + 1, dtype=np.int64), np.zeros(max(n, 1))
    cells, kinds = 0, None
    if n and depth < windows.degree:
        search = _search(windows, shifts)
        cells = search.count(depth, first[1:])
        np.cumsum(first, out=first)
    cell, places = np.zeros(first[-1] + 1, dtype=np.int32), np.zeros((cells + 1, 2), dtype=np.uint16)
    places[-1] = 0, _degree_implicit.FIRST_CELL
    factors = np.zeros(1)
    if n and depth < windows.degree:
        if windows.n_kinds(depth) <= SHIFTED_FEW_KINDS:
            kinds, factors = windows.kinds(depth)
        else:
            factors = np.empty(cells + 1)
        search.fill(depth, first[:-1].copy(), cell, kinds, places.reshape(-1).view(np.uint8), factors, own)
    return {
        "first": first,
        "cell": cell,
        "places": places.reshape(-1).view(np.uint8),
        "factors": factors,
        "own_factors": own,
        "n_cells": cells,
        "kinds": kinds is not None,
    }


# Protocol for the weights of a weighted degree kernel.


class WeighsDegrees(Protocol):
    """The required members of a `WeightedDegreeKernel`, shifted or not."""

    degree: int
    n_threads: int | None

    def length_weights(self) -> Floats:
        """Return the weight of each length."""

    def start_weights(self, length: int) -> Floats:
        """Return the weight of each position of a window."""

    def shifts(self, length: int) -> Ints:
        """Return the largest shift at each position of a window."""

    def _prepare(self, X: SequenceSet, like: Any) -> Any: ...


# Implicit training features of the weighted degree kernel: tables for short k-mers, nodes for shared long ones.
#
# K(x, y) = Σ_i γ_i Σ_k β_k [x_i..x_{i+k−1} = y_i..y_{i+k−1}] is a dot product over (position, k-mer), and a linear
# classifier is f(x) = Σ_i Σ_k w_k[i, x_i..x_{i+k−1}]. There is no hashing, so there are no collisions:
#
# - k-mers of up to `depth` residues have a dense table of weights, [position][k-mer];
# - a longer k-mer that several windows have at the same position is a node with a weight, and each window lists its
#   nodes. One node serves all lengths at which the same windows share it;
# - k-mers found in a single window contribute to K(x, x) only: one weight and one factor for each window.

FEW_KINDS = 1 << 16  # as many as fit into 16 bits
NODE_BYTES, ENTRY_BYTES = 8, 6  # a weight; a node's number and kind in a window's list
# where its list starts, its own weight and factor, K(x, x)


@dataclass(frozen=True)
class Layout:
    """Layout of the dense tables in the weights."""

    depth: int  # Longest k-mers with a dense table
    # Tables that each serve two lengths; 0 if each length has its own. See `PAIRED` in ``_degree_implicit.h``
    groups: int
    tables: Ints  # Start of each, longest k-mers first
    size: int  # Total size, in weights

    @classmethod
    def of(cls, windows: "Windows", depth: int) -> Self:
        """Return the Layout of the dense tables for k-mers of up to `depth` residues."""
        paired = windows.size == 4 and not windows.masked
        sizes = [windows.length * windows.size**k for k in range(depth, 0, -2 if paired else -1)]
        ends = np.cumsum([0, *(-(-size // LINE) * LINE for size in sizes)], dtype=np.int64)
        return cls(depth, len(sizes) if paired else 0, ends, int(ends[-1]))


class DegreeImplicit(Implicit):
    """Features of the weighted degree kernel for a set of windows."""

    def __init__(self, windows: "Windows", squares: Floats, depth: int | None = None) -> None:
        depth = choose_depth(degree_needs(windows), windows) if depth is None else min(depth, windows.deepest)
        layout = Layout.of(windows, depth)
        lists = _degree_lists(windows, depth)
        own = layout.size + lists.pop("nodes")
        numbers = {
            "length": windows.length,
            "size": windows.size,
            "depth": depth,
            "groups": layout.groups,
            "nodes": layout.size,
            "own": own,
        }
        arrays = {
            "codes": some(windows.codes),
            "starts": some(windows.starts),
            "tables": layout.tables,
            "beta": some(windows.beta),
            "gamma": some(windows.gamma),
            "patterns": some(_patterns(windows.beta, layout).ravel()),
            **lists,
        }
        operations = _degree_implicit.DegreeOperations(arrays, numbers)
        super().__init__(operations.capsule, squares, own + windows.n)
        self.depth = depth


def implicit_of(kernel: "WeighsDegrees", X: SequenceSet, depth: int | None = None) -> Implicit:
    """Return the training features of a weighted degree kernel."""
    payload = kernel._prepare(X, None)  # also checks
    length = payload.length
    windows = Windows(X, kernel.length_weights(), kernel.start_weights(length))
    shifts = kernel.shifts(length)
    if shifts.any():
        return ShiftedImplicit(windows, shifts, payload.diagonal(), depth)
    return DegreeImplicit(windows, payload.diagonal(), depth)


def implicit_bytes_of(kernel: "WeighsDegrees", X: SequenceSet) -> int:
    """Return the memory that `implicit_of` and its weights will need, in bytes."""
    length = int(X.lengths[0]) if len(X) else 0
    windows = Windows(X, kernel.length_weights(), kernel.start_weights(length))
    shifts = kernel.shifts(length)
    needs = shifted_needs(windows, shifts) if shifts.any() else degree_needs(windows)
    return least_bytes(needs, windows)


def implicit_seconds_of(kernel: "WeighsDegrees", X: SequenceSet) -> float:
    """Return the CPU seconds of one product, or one pass: longer k-mers than `SHARED` are mostly unique."""
    shifts = kernel.shifts(int(X.lengths[0]) if len(X) else 0)
    longest = min(SHARED, len(kernel.length_weights()))
    return float(X.lengths.sum() * longest * (1 + (shifts.mean() if len(shifts) else 0) / 3) * DEGREE_NS * 1e-9)


SHARED = 6
DEGREE_NS = 12.0
"""CPU nanoseconds of a residue and length in a pass: median of windows of 40 to 400 residues."""


def degree_needs(windows: "Windows") -> dict[int, int]:
    """Return the memory of weights and lists, in bytes, for each possible depth."""
    nodes, entries = np.zeros((2, windows.degree + 1), dtype=np.int64)
    if windows.n:
        _sweep(windows).census(nodes, entries)
    nodes, entries = above(nodes), above(entries)  # windows that share exactly k residues are a node of lower depths
    return {
        k: 8 * Layout.of(windows, k).size
        + NODE_BYTES * int(nodes[k])
        + ENTRY_BYTES * int(entries[k])
        + WINDOW_BYTES * windows.n
        for k in range(windows.deepest + 1)
        if nodes[k] <= MOST_SHARED
    }


def _sweep(windows: "Windows") -> _degree_implicit.Sweep:
    """Return a new Sweep through the windows."""
    return _degree_implicit.Sweep(some(windows.codes), windows.starts, windows.length, windows.size, windows.degree)


def _patterns(beta: Floats, layout: "Layout") -> Floats:
    """Return the increments of four neighbours, float64 (letters left, groups, last letter, 4); see `PAIRED`."""
    patterns = np.zeros((layout.depth, layout.groups, 4, 4))
    for left in range(1, layout.depth + 1):
        for group in range(layout.groups):
            k = layout.depth - 2 * group
            if 1 < k <= left + 1:
                patterns[left - 1, group] = beta[k - 2]
            if k <= left:
                patterns[left - 1, group] += beta[k - 1] * np.eye(4)
    return patterns


def _degree_lists(windows: "Windows", depth: int) -> dict[str, Any]:
    """Return the nodes of all windows: the arrays named in `degree_state`, and the number of nodes."""
    n, degree = windows.n, windows.degree
    first, own = np.zeros(n + 1, dtype=np.int64), np.zeros(max(n, 1))
    lists = {"first": first, "own_factors": own, "nodes": 0}
    if not n or depth == degree:
        return {**lists, "node": np.zeros(1, np.int32), "kind": None, "factors": np.zeros(1)}
    nodes = _sweep(windows).count(depth, first[1:])
    np.cumsum(first, out=first)
    # Kind of a node: the weight of its position, and its lengths. Looking up a few kinds is faster than storing
    # factors of each node.
    values, place = np.unique(windows.gamma, return_inverse=True)
    each = windows.n_kinds(depth)
    kinds, kind, factors = np.zeros((1, 1), np.int32), None, np.empty(nodes + 1)
    if len(values) * each <= FEW_KINDS:
        kinds, factors = windows.kinds(depth)
        kind = np.empty(first[-1] + 1, dtype=np.uint16)
        factors = np.multiply.outer(values, factors).ravel()
    node = np.empty(first[-1] + 1, dtype=np.int32)
    _sweep(windows).fill(
        depth, windows.gamma, windows.sums, place * each, kinds, first[:-1].copy(), node, kind, factors, own
    )
    return {**lists, "node": node, "kind": kind, "factors": factors, "nodes": nodes}
