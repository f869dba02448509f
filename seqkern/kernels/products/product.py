"""The product engine of kernels with explicit features: K = scale · Σ weight · (Σ factor · Φ(x)·Φ(y)) / divisor.

A kernel family builds *blocks* of features (counts of k-mers, gapped k-mers, motifs, …), `SparseBlock` or
`DenseBlock` (real values: `RealSparseBlock`, `RealDenseBlock`), and combines them as `Term`s in a
`TermBlocks`, its payload. `FeatureKernel` provides everything else. Products of counts, their integer
factors and the sums of one term are integers and therefore exact; the weights are then applied in the order
of the terms. So the bits depend neither on threads, nor on how rows, columns and features are split, nor on
how blocks are stored.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.core.threads import in_spans
from seqkern.core.types import Array, Floats, Ints
from seqkern.kernels import _blocks
from seqkern.kernels.blocks import LEAST_BLOCK_ROWS
from seqkern.kernels.kernel import SequenceKernel
from seqkern.kernels.prepared import Prepared
from seqkern.kernels.products import _product
from seqkern.kernels.products._product import TILE_COLUMNS, TILE_WORDS
from seqkern.sequences.sequence_set import SequenceSet

NO_DIAGONAL = np.zeros(0)
INT32_LIMIT = 2.0**31 - 1
INT64_LIMIT = 2.0**63 - 2.0**40
HARMLESS = 2.0**100  # no value up to this overflows, in single precision either
LARGEST_FACTOR = 2.0**31  # of sums of integers; terms with larger weights are added in floating point


IntegerSums = npt.NDArray[np.int32 | np.int64]


class Span(NamedTuple):
    """The rows from `row` on and the columns `first` to `last` − 1 of a product, and its `factor`.

    With `upper`, only the columns from each row's own on are computed.
    """

    row: int
    first: int
    last: int
    factor: int
    upper: bool


class Block(Protocol):
    """The features of n records, such as a `SparseBlock`; `squares` holds Φ(x)·Φ(x), shape (n,).

    A block may also have `largest` (float; required for blocks of counts), `real` (True for features that are
    not counts), `least_block_rows` (as for a kernel), and `gather` and `apply` (see `FoldingBlock`).
    """

    squares: Array

    def accumulate(self, cols: Self, span: Span, sums: Array) -> None:
        """Add factor · Φ(rows)·Φ(columns) to `sums` (rows, columns), for the rows and columns of `span`."""


class CountBlock(Block, Protocol):
    """A block of counts; `largest` is the largest of its `squares`, rounded."""

    largest: float


class FoldingBlock(Protocol):
    """A block whose weighted sum of records can be folded into one weight for each feature."""

    def gather(self, first: int, coefficients: Floats) -> Any:
        """Return Σ_j coefficients[j]·Φ(record first + j), in the block's own form."""

    def apply(self, first: int, weights: Any, out: Floats) -> None:
        """Write Φ(record first + i)·weights to out[i]."""


@dataclass(frozen=True)
class Term:
    """A term of the kernel: weight · (Σ factor · Φ(x)·Φ(y)) / divisor, summed over the members (factor, block).

    The divisor divides every sum without a remainder.
    """

    weight: float  # Multiplies the sum
    members: Sequence[tuple[int, Block]]  # Factor and block of each
    divisor: int = 1  # Divides every sum without a remainder

    @property
    def real(self) -> bool:
        """Whether the features are real-valued; then there is one block, with factor 1."""
        return any(getattr(block, "real", False) for _, block in self.members)


class TermBlocks:
    """The payload of a kernel with explicit features: the blocks of all terms, or a range of their rows."""

    counts: dict[str, int]

    def __init__(
        self, terms: Sequence[Term], scale: float = 1.0, choices: Any = None, sequences: SequenceSet | None = None
    ) -> None:
        self.terms = _merged(terms)
        self.blocks = tuple(block for term in self.terms for _, block in term.members)
        self.scale = float(scale)
        self.choices = choices
        self.sequences = sequences
        self.start, self.stop = 0, len(self.blocks[0].squares)
        for term in self.terms:
            if not term.real and _bound(term, term) >= INT64_LIMIT:
                raise SequenceError(
                    "the sequences are too long for exact sums", remedy="cut the sequences into shorter parts"
                )

    def __len__(self) -> int:
        return self.stop - self.start

    def rows(self, start: int, stop: int) -> "TermBlocks":
        """Return the rows `start` to `stop` − 1 of this range, as a view."""
        view = object.__new__(TermBlocks)
        view.__dict__.update(self.__dict__, start=self.start + start, stop=self.start + stop)
        return view

    @property
    def least_block_rows(self) -> int:
        """The largest `least_block_rows` of the blocks; see `Kernel._least_block_rows`."""
        return max(getattr(block, "least_block_rows", 1) for block in self.blocks)

    def diagonal(self) -> Floats:
        """Return K(x, x) of each row, not normalised, float64 (n,)."""
        total: Any = 0.0
        for term in self.terms:
            sums: Any = sum(factor * block.squares[self.start : self.stop] for factor, block in term.members)
            total = total + term.weight * (sums if term.real else (sums // term.divisor).astype(np.float64))
        return self.scale * total


class DeferredBlocks(TermBlocks):
    """The payload of records whose K(x, x) are known; `make` returns their TermBlocks when a matrix needs them."""

    def __init__(self, make: Callable[[], TermBlocks], squares: Floats, sequences: SequenceSet) -> None:
        self.make, self.squares, self.sequences = make, squares, sequences
        self.start, self.stop = 0, len(squares)

    def __getattr__(self, name: str) -> Any:
        if name not in ("terms", "blocks", "scale", "choices"):
            raise AttributeError(name)
        vars(self).update(vars(self.make()))
        return getattr(self, name)

    def rows(self, start: int, stop: int) -> TermBlocks:
        """Return some rows as a view, with the blocks made: all views share them."""
        self.blocks  # noqa: B018  # made here
        return super().rows(start, stop)

    def diagonal(self) -> Floats:
        """Return K(x, x) of each record, not normalised."""
        return self.squares


def fold(columns: TermBlocks, coefficients: Floats) -> Callable[[TermBlocks], Floats] | None:
    """Return the function ``values(rows)`` for Σ_j coefficients[j]·K(x, z_j), or None if a block has no ``gather``.

    Each block is folded into one weight for each feature.
    """
    if not all(hasattr(block, "gather") for block in columns.blocks):
        return None
    weights = [cast(FoldingBlock, block).gather(columns.start, coefficients) for block in columns.blocks]
    factors = [
        columns.scale * term.weight * factor / term.divisor for term in columns.terms for factor, _ in term.members
    ]

    def values(rows: TermBlocks) -> Floats:
        total, part = np.zeros(len(rows)), np.empty(len(rows))
        for block, weight, factor in zip(rows.blocks, weights, factors, strict=True):
            cast(FoldingBlock, block).apply(rows.start, weight, part)
            total += factor * part
        return total

    return values


def _merged(terms: Sequence[Term]) -> list[Term]:
    """Return the terms merged into one if all weights are integers of at most 31 bits, else the terms unchanged."""
    if any(term.real or not float(term.weight).is_integer() or term.weight > LARGEST_FACTOR for term in terms):
        return list(terms)
    divisor = math.lcm(*(term.divisor for term in terms))
    return [
        Term(
            1.0,
            [
                (int(term.weight) * (divisor // term.divisor) * factor, block)
                for term in terms
                for factor, block in term.members
            ],
            divisor,
        )
    ]


def _bound(mine: Term, theirs: Term) -> float:
    """Return an upper bound of the sums of the products of two terms of counts (Cauchy-Schwarz)."""
    return sum(
        abs(factor) * math.sqrt(cast(CountBlock, rows).largest * cast(CountBlock, cols).largest)
        for (factor, rows), (_, cols) in zip(mine.members, theirs.members, strict=True)
    )


def product(
    rows: TermBlocks,
    cols: TermBlocks,
    out: Floats,
    row_diagonal: Floats = NO_DIAGONAL,
    col_diagonal: Floats = NO_DIAGONAL,
) -> float:
    """Write the kernel matrix of two payloads to `out` (n, m), and return its largest absolute value or a bound.

    The matrix is normalised if the diagonals K(x, x) are given. The largest value includes inf and NaN; a bound
    is returned where sums of integers are far from overflowing.
    """
    largest = 0.0
    upper = rows.blocks is cols.blocks and rows.start == cols.start and rows.stop <= cols.stop
    for t, (mine, theirs) in enumerate(zip(rows.terms, cols.terms, strict=True)):
        sums = np.zeros(out.shape, dtype=_sum_type(mine, theirs))
        for (factor, block), (_, other) in zip(mine.members, theirs.members, strict=True):
            block.accumulate(other, Span(rows.start, cols.start, cols.stop, factor, upper), sums)
        how = (mine.divisor, mine.weight, t > 0)
        if t + 1 < len(rows.terms):
            _product.store(sums, out, *how)
        else:
            bound = _value_bound(rows, cols) if len(row_diagonal) == 0 else math.inf
            search = not bound < HARMLESS
            found = _product.finish(sums, out, *how, rows.scale, row_diagonal, col_diagonal, upper, search)
            largest = found if search else bound
    return largest


def _value_bound(rows: TermBlocks, cols: TermBlocks) -> float:
    """Return an upper bound of |K| of two payloads, not normalised; inf for real terms."""
    total = 0.0
    for mine, theirs in zip(rows.terms, cols.terms, strict=True):
        total += math.inf if mine.real else _bound(mine, theirs) / mine.divisor * abs(mine.weight)
    return total * abs(rows.scale)


def _sum_type(mine: Term, theirs: Term) -> type[np.int32] | type[np.int64] | type[np.float64]:
    """Return the smallest dtype that holds every sum of the terms' products."""
    if mine.real:
        return np.float64
    return np.int32 if _bound(mine, theirs) <= INT32_LIMIT else np.int64


class FeatureKernel(SequenceKernel):
    """Base of the kernels with a `TermBlocks` payload: a family implements its parameters and ``_prepare``."""

    _least_block_rows = LEAST_BLOCK_ROWS

    def _block(self, rows: TermBlocks, cols: TermBlocks, out: Floats) -> float | None:
        return product(rows, cols, out)

    def _fold(self, columns: TermBlocks, coefficients: Floats) -> Callable[[TermBlocks], Floats] | None:
        return fold(columns, coefficients)

    def _normalised_block(self, rows: Prepared, cols: Prepared, out: Floats) -> float | None:
        if _blocks.far_diagonals(rows.raw_diagonal, cols.raw_diagonal):
            return super()._normalised_block(rows, cols, out)
        return product(rows.payload, cols.payload, out, rows.raw_diagonal, cols.raw_diagonal)


# Packed dense vectors of counts, for features that are mostly non-zero.

PANEL = 16
STEP_BYTES = 4
LARGEST = {1: 255, 2: 32767, 4: 2**31 - 1}
LARGEST_SMALL = 127  # in 8 bits, signed or unsigned
BIAS = 128  # added to signed bytes
DTYPES = {1: np.uint8, 2: np.int16, 4: np.int32}
TABLE_BYTES = 1 << 18  # of the counts that are packed together
WIDEST = 1 << 22
DENSE_INT32_LIMIT = 2.0**31
DENSE_INT64_LIMIT = 2.0**63

Counts = npt.NDArray[np.uint8 | np.uint16 | np.int32 | np.int16]
Tally = Callable[[int, Counts], None]
"""``tally(row, tables)`` adds the counts of the records from `row` on to `tables`, which are 0.

`tables` has the shape (panels, features, 16), with 16 records side by side in each panel; those beyond the last stay 0.
"""


def count_type(most: int) -> type[np.uint8] | type[np.uint16] | type[np.int32]:
    """Return the smallest dtype for tables of counts up to `most`."""
    return np.uint8 if most <= np.iinfo(np.uint8).max else np.uint16 if most <= np.iinfo(np.uint16).max else np.int32


class DenseBlock:
    """Feature counts of n records, as vectors of 8, 16 or 32 bits, the smallest type that holds all counts.

    `most` is an upper bound of the counts, also while `fill` adds them up. `squares` is Φ(x)·Φ(x), `largest` its
    maximum,
    and `peak` the largest count, at least 1.
    """

    signed = False

    def __init__(self, n_rows: int, width: int, fill: Tally, most: int) -> None:
        self._start(n_rows, width)
        dtype, panels = np.dtype(count_type(most)), -(-n_rows // PANEL)
        step = max(1, TABLE_BYTES // max(1, width * PANEL * dtype.itemsize))
        buffer = np.empty((min(step, panels), width, PANEL), dtype=dtype)
        for panel in range(0, panels, step):
            tables = buffer[: min(step, panels - panel)]
            tables.fill(0)
            fill(panel * PANEL, tables)
            self._add(panel, tables)

    def _start(self, n_rows: int, width: int) -> None:
        """Allocate the packed counts."""
        self.width = width
        self.totals, self.squares = np.zeros((2, n_rows), dtype=np.int64)
        self.peak, self.largest = 1, 0.0
        panels, steps = -(-n_rows // PANEL), -(-width // STEP_BYTES)
        self._packed = {1: np.zeros((panels, steps, PANEL, STEP_BYTES), dtype=np.uint8)}

    def _add(self, panel: int, tables: Counts) -> None:
        """Measure and pack the counts of the panels starting at `panel`."""
        level, squares = _product.level(), self.squares[panel * PANEL :]
        self.peak = max(self.peak, _product.measure(level, tables, self.totals[panel * PANEL :], squares))
        if float(self.peak) ** 2 * self.width >= DENSE_INT64_LIMIT:  # squares may have overflowed
            self.largest = max(self.largest, float(np.square(tables, dtype=np.float64).sum(axis=1).max()))
        while self.peak > (LARGEST_SMALL if self.signed and self.kind == 1 else LARGEST[self.kind]):
            self._packed = {2 * self.kind: self._widened(self.kind, panel)}
        _product.pack(level, tables, self.kind, self._packed[self.kind][panel:])
        self.largest = max(self.largest, float(squares[: len(tables) * PANEL].max(initial=0)))

    @property
    def kind(self) -> int:
        """Number of bytes of a count: 1, 2 or 4."""
        return min(self._packed)

    def packed(self, kind: int) -> npt.NDArray[np.uint8]:
        """Return the vectors with counts of `kind` bytes; widened on first use, and cached."""
        if kind not in self._packed:
            half = kind // 2
            self._packed[kind] = self._widened(half, len(self.packed(half)))
        return self._packed[kind]

    def _widened(self, kind: int, filled: int) -> npt.NDArray[np.uint8]:
        """Return the vectors with twice as many bytes per count; the first `filled` panels have counts."""
        panels, steps = self._packed[kind].shape[:2]
        wide = np.zeros((panels, 2 * steps, PANEL, STEP_BYTES), dtype=np.uint8)
        narrow = self._packed[kind][:filled].view(DTYPES[kind])
        if self.signed and kind == 1:
            narrow = narrow.astype(np.int16) - BIAS
        split = narrow.reshape(filled, steps, PANEL, 2, STEP_BYTES // (2 * kind)).swapaxes(2, 3)
        target = wide[:filled].view(DTYPES[2 * kind]).reshape(split.shape)
        target[...] = split
        return wide

    def accumulate(self, cols: "DenseBlock", span: Span, sums: IntegerSums) -> None:
        """Add factor · Φ(rows)·Φ(columns) to `sums`."""
        kind, product = max(self.kind, cols.kind), self.peak * cols.peak
        if kind == 2 and math.sqrt(self.largest * cols.largest) >= DENSE_INT32_LIMIT:
            kind = 4
        small = cols.peak <= LARGEST_SMALL and 2 * product <= LARGEST[2]
        of_bytes = _product.SIGNED if self.signed else _product.SMALL if small else _product.BYTES
        mode = {1: of_bytes, 2: _product.WORDS, 4: _product.INTEGERS}[kind]
        safe = max(1, LARGEST[2] // (2 * product))
        _product.multiply(self.packed(kind), cols.packed(kind), self.totals, cols.totals, mode, safe, *span, sums)

    def _counts(self) -> Array:
        """Return the packed vectors as counts, shape (panels, steps, 16, counts of a step)."""
        kind = max(self.kind, 2) if self.signed else self.kind
        return self.packed(kind).view(DTYPES[kind])

    def gather(self, first: int, coefficients: Floats) -> Floats:
        """Return Σ_j coefficients[j]·Φ(record first + j), float64 (features,)."""
        packed = self._counts()
        weights = np.zeros(packed.shape[1] * packed.shape[3])
        _product.gather_packed(packed, first, coefficients, weights)
        return weights[: self.width].copy()

    def apply(self, first: int, weights: Floats, out: Floats) -> None:
        """Write Φ(record first + i)·weights to out[i]."""
        packed = self._counts()
        places = packed.shape[1] * packed.shape[3]
        padded = np.concatenate((weights, np.zeros(places - len(weights))))
        _product.apply_packed(packed, first, padded, out)


class SignedBlock(DenseBlock):
    """Signed integers as vectors of 8 or 16 bits, supplied by `add`."""

    signed = True

    def __init__(self, n_rows: int, width: int) -> None:
        self._start(n_rows, width)

    def add(self, panel: int, tables: npt.NDArray[np.int16]) -> None:
        """Set the numbers of the records from 16·`panel` on."""
        self._add(panel, tables)


class Tallied(Protocol):
    """Protocol of objects that count into vectors over all features, such as
    `seqkern.kernels.kmer.kmers.Occurrences`.
    """

    @property
    def space(self) -> int:
        """Number of features."""

    @property
    def most(self) -> int:
        """Upper bound of the counts."""

    def __len__(self) -> int: ...

    def tally(self, row: int, tables: Counts) -> None:
        """Add the counts of each feature in the records from `row` on to `tables`; see `Tally`."""


def dense_block(found: Tallied, presence: bool = False) -> DenseBlock:
    """Return feature occurrences as a DenseBlock; with `presence`, 1 instead of counts."""
    tally = present(found.tally) if presence else found.tally
    return DenseBlock(len(found), found.space, tally, found.most)


def present(tally: Tally) -> Tally:
    """Return a Tally that gives 1 for each feature that occurs, instead of its count."""

    def fill(row: int, tables: Counts) -> None:
        tally(row, tables)
        np.minimum(tables, 1, out=tables)

    return fill


# Columns as bitmaps: for each bit of a feature's counts, which of 1,024 records have it set.

CACHE_LINE = 64
LEAST_TILES = 4  # that a thread fills
# CPU nanoseconds, as in `seqkern.kernels.planner`.
POSTING_NS = 0.65  # a posting
ENTRY_NS = 3.5  # looking up and adding a count's bitmaps, for each tile of columns
TILE_NS = 150.0  # reading the counters of a tile
BITMAP_SLOWNESS = (3.5, 1.4, 1.0)  # of both, for each level of instructions


@dataclass(frozen=True)
class Bitmaps:
    """The counts of n records as bitmaps.

    Feature f of column tile t has the bitmaps from ``bounds[t * n_features + f]`` to the next bound, for bits 0, 1,
    … of
    its counts. The first bitmap is empty.
    """

    # shape (tiles × n_features + 1,): Feature f of column tile t has the bitmaps from ``bounds[t * n_features + f]`` to
    # the next bound: those of bits 0, 1, … of its counts. The first bitmap is empty
    bounds: npt.NDArray[np.int32]
    bits: npt.NDArray[np.uint64]  # shape (bitmaps, words of a tile): The bitmaps
    n_features: int

    @classmethod
    def of(cls, start: Ints, feature: npt.NDArray[np.int32], count: npt.NDArray[np.int32], n_features: int) -> Self:
        """Return the bitmaps of compressed rows; the entries of record i are ``start[i]`` to ``start[i + 1]``."""
        tiles = -(-(len(start) - 1) // TILE_COLUMNS)
        needed = np.zeros((tiles, n_features), dtype=np.uint8)

        def count_tiles(first: int, last: int) -> None:
            rows = start[first * TILE_COLUMNS : last * TILE_COLUMNS + 1]
            _product.count_bitmaps(rows, feature, count, needed[first:last])

        in_spans(count_tiles, tiles, LEAST_TILES)
        bounds = np.ones(needed.size + 1, dtype=np.int32)
        bounds[1:] += np.cumsum(needed, dtype=np.int32)
        bits = _cache_aligned(int(bounds[-1]), TILE_WORDS)

        def set_tiles(first: int, last: int) -> None:
            rows = start[first * TILE_COLUMNS : last * TILE_COLUMNS + 1]
            _product.set_bitmaps(rows, feature, count, bounds[first * n_features :], n_features, bits)

        in_spans(set_tiles, tiles, LEAST_TILES)
        return cls(bounds, bits, n_features)

    def accumulate(
        self,
        start: Ints,
        feature: npt.NDArray[np.int32],
        count: npt.NDArray[np.int32],
        bound: float,
        span: Span,
        sums: IntegerSums,
    ) -> None:
        """Add factor · Φ(rows)·Φ(columns) to `sums`."""
        planes, level = int(bound * (1 + 1e-9)).bit_length(), _product.level()
        _product.add_products(
            start, feature, count, self.bounds, self.bits, self.n_features, planes, *span, sums, level
        )


def _cache_aligned(n: int, words: int) -> npt.NDArray[np.uint64]:
    """Return zeros of shape (n, words), aligned to a cache line."""
    spare = CACHE_LINE // 8
    memory = np.zeros(n * words + spare, dtype=np.uint64)
    skipped = -memory.ctypes.data % CACHE_LINE // 8
    return memory[skipped : skipped + n * words].reshape(n, words)


def bitmap_nanoseconds(rows: int, entries: float, cols: int) -> float:
    """Return the cost of comparing rows with `Bitmaps` of columns, in nanoseconds."""
    tiles = -(-cols // TILE_COLUMNS)
    return tiles * (entries * ENTRY_NS + rows * TILE_NS) * BITMAP_SLOWNESS[_product.level()]


def bitmaps_are_cheaper(records: int, entries: int, n_features: int) -> bool:
    """Return whether columns should be bitmaps rather than posting lists."""
    postings = entries * entries / max(1, n_features)
    return bitmap_nanoseconds(records, entries, records) < postings * POSTING_NS


# Sparse count features: compressed rows multiplied by posting lists, or by bitmaps where the lists are long.

TILE = 8192
MOST_POSTINGS = 2**31 - 1
WIDEST_TILE = 1 << 16


class CompressedRows(Protocol):
    """Counts of features in records in compressed rows, such as `seqkern.kernels.kmer.kmers.Counted`."""

    @property
    def start(self) -> Ints:
        """The index of each record's first entry, shape (n + 1,)."""

    @property
    def feature(self) -> npt.NDArray[np.int32]:
        """The feature of each entry."""

    @property
    def count(self) -> npt.NDArray[np.int32]:
        """The count of each entry."""

    @property
    def n_features(self) -> int:
        """The number of features."""

    @property
    def vocabulary(self) -> Array | None:
        """The code of each feature, ascending; None where a feature is its own code."""

    def __len__(self) -> int: ...


class SparseBlock:
    """Counts of features of n records: lists of features for rows, posting lists or bitmaps for columns.

    With `like`, the columns that these rows will be compared with, features absent from it are dropped;
    without, the block serves as columns and as rows of itself. `bitmaps` should be False beside many other
    blocks, because bitmaps would drive these out of the cache.
    """

    bitmaps: Bitmaps | None = None
    bounds: Ints

    def __init__(self, counted: CompressedRows, like: "SparseBlock | None" = None, bitmaps: bool = True) -> None:
        self.start, self.feature, self.count = counted.start, counted.feature, counted.count
        self.squares = np.empty(len(counted), dtype=np.int64)
        self.largest = _product.row_squares(self.start, self.count, self.squares)
        if like is not None:
            self._relabel(_labels(counted, like))
            if like.bitmaps is None:
                self._make_places()
                _product.enter_lists(self.feature, like.bounds, self.enter, self.rest)
            return
        self.n_features, self.vocabulary = counted.n_features, counted.vocabulary
        if bitmaps and bitmaps_are_cheaper(len(self.squares), len(self.feature), self.n_features):
            self.bitmaps = Bitmaps.of(self.start, self.feature, self.count, self.n_features)
        else:
            self._make_places()
            self._make_postings()

    def _relabel(self, labels: npt.NDArray[np.int32] | None) -> None:
        """Renumber the features as in the columns, and drop those absent from the columns."""
        if labels is not None:
            entries = _product.relabel(self.start, self.feature, self.count, labels)
            self.feature, self.count = self.feature[:entries].copy(), self.count[:entries].copy()

    def _make_places(self) -> None:
        """Allocate the arrays of each entry's place in the posting lists."""
        self.enter = np.empty(len(self.feature), dtype=np.int32)
        self.rest = np.empty(len(self.feature), dtype=np.int32)

    def _make_postings(self) -> None:
        """Build the posting lists, and find the place of each row in every list."""
        rows = self.start, self.feature, self.count
        self.tile = _tile_width(len(self.squares), self.n_features, len(self.feature))
        tiles = -(-len(self.squares) // self.tile)
        shape = tiles, self.n_features
        lengths = np.zeros(shape, dtype=np.int64)
        _product.list_lengths(*rows, self.tile, lengths)
        self.bounds = np.zeros(lengths.size + 1, dtype=np.int64)
        ends = np.cumsum(lengths, out=self.bounds[1:]).reshape(shape)
        cursor = self.bounds[:-1].reshape(shape).copy()
        if self.bounds[-1] > MOST_POSTINGS:
            raise SequenceError(
                f"{self.bounds[-1]} features are too many for one matrix",
                remedy="compute the matrix for fewer sequences at a time",
            )
        self.postings = np.empty(self.bounds[-1], dtype=np.uint32)
        _product.make_postings(*rows, self.tile, ends, cursor, self.postings, self.enter, self.rest)

    def accumulate(self, cols: "SparseBlock", span: Span, sums: IntegerSums) -> None:
        """Add factor · Φ(rows)·Φ(columns) to `sums`."""
        if cols.bitmaps is not None:
            bound = math.sqrt(self.largest * cols.largest)
            cols.bitmaps.accumulate(self.start, self.feature, self.count, bound, span, sums)
            return
        _product.walk(
            self.start,
            self.feature,
            self.count,
            self.enter,
            self.rest,
            cols is self,
            cols.bounds,
            cols.postings,
            cols.n_features,
            cols.tile,
            *span,
            sums,
        )

    def gather(self, first: int, coefficients: Floats) -> Floats:
        """Return Σ_j coefficients[j]·Φ(record first + j), float64 (features,)."""
        weights = np.zeros(self.n_features)
        _product.gather_sparse(self.start, self.feature, self.count, first, coefficients, weights)
        return weights

    def apply(self, first: int, weights: Floats, out: Floats) -> None:
        """Write Φ(record first + i)·weights to out[i], with one weight for each feature of the columns."""
        _product.apply_sparse(self.start, self.feature, self.count, first, weights, out)


def _labels(counted: CompressedRows, like: SparseBlock) -> npt.NDArray[np.int32] | None:
    """Return the number in `like` of each feature of `counted`, −1 if absent; None if the features are the same."""
    mine, theirs = counted.vocabulary, like.vocabulary
    if theirs is None:
        return None if mine is None else mine.astype(np.int32)
    labels = np.full(counted.n_features, -1, dtype=np.int32)
    if mine is None:
        labels[theirs] = np.arange(len(theirs), dtype=np.int32)
    elif len(theirs):
        place = np.minimum(np.searchsorted(theirs, mine), len(theirs) - 1)
        same = theirs[place] == mine
        labels[same] = place[same]
    return labels


def _tile_width(n_rows: int, n_features: int, entries: int) -> int:
    """Return the number of columns that share posting lists: few fit into the cache, but each tile has overhead."""
    most_tiles = max(1, 2 * entries // max(n_features, 1))
    return max(1, min(n_rows, WIDEST_TILE, max(TILE, -(-n_rows // most_tiles))))


# Blocks of real-valued features, dense and sparse, for the product engine.
#
# Products are summed feature by feature in double precision, so the bits depend on neither threads nor
# blocks. A `Term` with such a block has no other block, and factor 1.

PRODUCT_NS = (0.18, 0.09, 0.07)  # a product of two dense features, for each level of instructions


class RealDenseBlock:
    """Real-valued features of n records as dense vectors, built from an array (n, features)."""

    real = True

    def __init__(self, values: npt.ArrayLike) -> None:
        table = np.asarray(values, dtype=np.float64)
        n, width = table.shape
        padded = np.zeros((-(-n // PANEL), PANEL, width))
        padded.reshape(len(padded) * PANEL, width)[:n] = table
        self._panels = np.ascontiguousarray(padded.swapaxes(1, 2))
        self.squares = np.zeros(n)
        for feature in table.T:
            self.squares += feature * feature

    def accumulate(self, cols: "RealDenseBlock", span: Span, sums: Floats) -> None:
        """Add Φ(rows)·Φ(columns) to `sums`."""
        _product.multiply_real(self._panels, cols._panels, span.row, span.first, span.last, span.upper, sums)

    def gather(self, first: int, coefficients: Floats) -> Floats:
        """Return Σ_j coefficients[j]·Φ(record first + j), float64 (features,)."""
        weights = np.zeros(self._panels.shape[1])
        _product.gather_panels(self._panels, first, coefficients, weights)
        return weights

    def apply(self, first: int, weights: Floats, out: Floats) -> None:
        """Write Φ(record first + i)·weights to out[i]."""
        _product.apply_panels(self._panels, first, weights, out)


class RealSparseBlock:
    """Real-valued, mostly zero features of n records, built from a sparse matrix (n, features)."""

    real = True

    def __init__(self, values: Any) -> None:
        from scipy.sparse import csr_array  # imported here: it slows start-up, and most kernels need no sparse matrix

        rows = csr_array(values, dtype=np.float64)
        rows.sum_duplicates()
        columns = rows.tocsc()
        self._rows = _arrays(rows)
        start, post_rows, post_values = _arrays(columns)
        self._lists = start, post_rows, post_values
        self._n_features = rows.shape[1]
        self.squares = np.empty(rows.shape[0])
        _product.real_row_squares(self._rows[0], self._rows[2], self.squares)

    def accumulate(self, cols: "RealSparseBlock", span: Span, sums: Floats) -> None:
        """Add Φ(rows)·Φ(columns) to `sums`."""
        _product.walk_real(*self._rows, *cols._lists, span.row, span.first, span.last, span.upper, sums)

    def gather(self, first: int, coefficients: Floats) -> Floats:
        """Return Σ_j coefficients[j]·Φ(record first + j), float64 (features,)."""
        weights = np.zeros(self._n_features)
        _product.gather_sparse(*self._rows, first, coefficients, weights)
        return weights

    def apply(self, first: int, weights: Floats, out: Floats) -> None:
        """Write Φ(record first + i)·weights to out[i]."""
        _product.apply_sparse(*self._rows, first, weights, out)


def _arrays(
    compressed: Any,
) -> tuple[Ints, npt.NDArray[np.int32], Floats]:
    """Return the three arrays of a compressed sparse matrix with the dtypes of the loops, indices ascending."""
    compressed.sort_indices()
    return compressed.indptr.astype(np.int64), compressed.indices.astype(np.int32), compressed.data
