"""The product engine of kernels with explicit features: K = scale · Σ weight · (Σ factor · Φ(x)·Φ(y)) / divisor.

A family makes *blocks* of features (counts of k-mers, of gapped k-mers, of motifs, …), `SparseBlock` or `DenseBlock`
(real values: `RealSparseBlock`, `RealDenseBlock`), and puts them as `Term`s into a `TermBlocks`: its payload.
`FeatureKernel` provides everything else::

    class ToyKernel(FeatureKernel):
        name = "toy"
        def _prepare(self, X: SequenceSet, like: TermBlocks | None) -> TermBlocks:
            block = SparseBlock(find_kmers(X, 2).count(), like and like.blocks[0])
            return TermBlocks([Term(1.0, [(1, block)])])

Products of counts, their integer factors and the sums of one term are integers and exact; then the weights are applied,
in the order of the terms. So the bits depend neither on threads, nor on how rows, columns and features are split, nor
on how blocks are stored.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.kernels import _blocks
from seqkern.kernels.blocks import LEAST_BLOCK_ROWS
from seqkern.kernels.kernel import SequenceKernel
from seqkern.kernels.prepared import Prepared
from seqkern.kernels.products import _product
from seqkern.sequences.sequence_set import SequenceSet

NO_DIAGONAL = np.zeros(0)
INT32_LIMIT = 2.0**31 - 1
INT64_LIMIT = 2.0**63 - 2.0**40
HARMLESS = 2.0**100  # no value up to this overflows, in single precision either
LARGEST_FACTOR = 2.0**31  # of sums of integers; terms with larger weights are added in floating point


class Block(Protocol):
    """Features of n records, such as a `SparseBlock`.

    A block may also have `largest` (float; blocks of counts must), `real` (True for features that are not counts),
    `least_block_rows` (as a kernel has it), and `gather` and `apply` (see `FoldingBlock`).

    Attributes
    ----------
    squares : ndarray of int64 or float64, shape (n,)
        Φ(x)·Φ(x).
    """

    squares: npt.NDArray[Any]

    def accumulate(
        self, row: int, cols: Self, first: int, last: int, factor: int, upper: bool, sums: npt.NDArray[Any]
    ) -> None:
        """Add factor · Φ(rows)·Φ(columns) to `sums`.

        Parameters
        ----------
        row : int
            The first row; `sums` tells how many there are.
        cols : Block
            This block, or the one it was built to match.
        first, last : int
            The columns, from `first` to `last` − 1.
        factor : int
            Factor of each product; 1 for real features.
        upper : bool
            Whether to compute only columns from each row's own on.
        sums : ndarray of int32, int64 or float64, shape (rows, columns)
            Changed.
        """


class CountBlock(Block, Protocol):
    """A block of counts.

    Attributes
    ----------
    largest : float
        The largest of `squares`, rounded.
    """

    largest: float


class FoldingBlock(Protocol):
    """A block that can be folded into one weight for each feature."""

    def gather(self, first: int, coefficients: npt.NDArray[np.float64]) -> Any:
        """Return Σ_j coefficients[j]·Φ(record first + j), in the block's own form.

        Parameters
        ----------
        first : int
            The first record.
        coefficients : ndarray of float64, shape (m,)
            One for each record.
        """

    def apply(self, first: int, weights: Any, out: npt.NDArray[np.float64]) -> None:
        """Write Φ(record first + i)·weights to out[i].

        Parameters
        ----------
        first : int
            The first record.
        weights
            The result of `gather`.
        out : ndarray of float64, shape (n,)
            Overwritten.
        """


@dataclass(frozen=True)
class Term:
    """weight · (Σ factor · Φ(x)·Φ(y)) / divisor, the sum over the members.

    Attributes
    ----------
    weight : float
        Multiplies the sum.
    members : sequence of (int, Block)
        Factor and block of each.
    divisor : int
        Divides every sum without a remainder.
    """

    weight: float
    members: Sequence[tuple[int, Block]]
    divisor: int = 1

    @property
    def real(self) -> bool:
        """Whether the features are real-valued; then there is one block, with factor 1."""
        return any(getattr(block, "real", False) for _, block in self.members)


class TermBlocks:
    """The payload of a kernel with explicit features: blocks, or a range of their rows.

    Parameters
    ----------
    terms : list of Term
        All blocks have the same number of rows.
    scale : float
        Multiplies the sum of the terms.
    choices : object
        What the family needs to treat further sequences alike.
    sequences : SequenceSet, optional
        The sequences of the blocks, for computations without them; for a range of rows, still all.

    Attributes
    ----------
    blocks : tuple of Block
        Those of all terms.
    start, stop : int
        The range of rows.
    counts : dict of str to int
        Number of records that each policy of the family affected, by description; only where it has such.

    Raises
    ------
    SequenceError
        If K(x, x) of a record might exceed 64 bits.
    """

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
        """Return a range of the rows, as a view.

        Parameters
        ----------
        start, stop : int
            Rows `start` to `stop` − 1 of this range.

        Returns
        -------
        TermBlocks
            With ``stop - start`` rows.
        """
        view = object.__new__(TermBlocks)
        view.__dict__.update(self.__dict__, start=self.start + start, stop=self.start + stop)
        return view

    @property
    def least_block_rows(self) -> int:
        """The minimum for the blocks; see `Kernel.least_block_rows`."""
        return max(getattr(block, "least_block_rows", 1) for block in self.blocks)

    def diagonal(self) -> npt.NDArray[np.float64]:
        """Return K(x, x) of each row, not normalised, float64 (n,)."""
        total: Any = 0.0
        for term in self.terms:
            sums: Any = sum(factor * block.squares[self.start : self.stop] for factor, block in term.members)
            total = total + term.weight * (sums if term.real else (sums // term.divisor).astype(np.float64))
        return self.scale * total


def fold(
    columns: TermBlocks, coefficients: npt.NDArray[np.float64]
) -> Callable[[TermBlocks], npt.NDArray[np.float64]] | None:
    """Return ``values(rows)`` for Σ_j coefficients[j]·K(x, z_j): each block becomes one weight for each feature.

    Parameters
    ----------
    columns : TermBlocks
        Of the m records z_j.
    coefficients : ndarray of float64, shape (m,)
        One for each of these records.

    Returns
    -------
    callable or None
        ``values(rows)``, float64 (n,), for the TermBlocks of n records made like `columns`. None if a block has no
        ``gather``.
    """
    if not all(hasattr(block, "gather") for block in columns.blocks):
        return None
    weights = [cast(FoldingBlock, block).gather(columns.start, coefficients) for block in columns.blocks]
    factors = [
        columns.scale * term.weight * factor / term.divisor for term in columns.terms for factor, _ in term.members
    ]

    def values(rows: TermBlocks) -> npt.NDArray[np.float64]:
        total, part = np.zeros(len(rows)), np.empty(len(rows))
        for block, weight, factor in zip(rows.blocks, weights, factors, strict=True):
            cast(FoldingBlock, block).apply(rows.start, weight, part)
            total += factor * part
        return total

    return values


def _merged(terms: Sequence[Term]) -> list[Term]:
    """Return one Term, if all weights are integers of at most 31 bits, else the terms as they are."""
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
    out: npt.NDArray[np.float64],
    row_diagonal: npt.NDArray[np.float64] = NO_DIAGONAL,
    col_diagonal: npt.NDArray[np.float64] = NO_DIAGONAL,
) -> float:
    """Write the kernel matrix of two payloads, normalised if the diagonals are given.

    Parameters
    ----------
    rows, cols : TermBlocks
        `rows` built to match the whole that `cols` is a part of, or also a part of it.
    out : ndarray of float64, shape (n, m)
        Overwritten; its rows are contiguous.
    row_diagonal, col_diagonal : ndarray of float64, shape (n,) and (m,), optional
        K(x, x) of the rows and columns, to normalise by.

    Returns
    -------
    float
        The largest absolute value, inf and NaN included; or a bound of it, where sums of integers are far from
        overflowing.
    """
    largest = 0.0
    upper = rows.blocks is cols.blocks and rows.start == cols.start and rows.stop <= cols.stop
    for t, (mine, theirs) in enumerate(zip(rows.terms, cols.terms, strict=True)):
        sums = np.zeros(out.shape, dtype=_sum_type(mine, theirs))
        for (factor, block), (_, other) in zip(mine.members, theirs.members, strict=True):
            block.accumulate(rows.start, other, cols.start, cols.stop, factor, upper, sums)
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

    least_block_rows = LEAST_BLOCK_ROWS

    def _block(self, rows: TermBlocks, cols: TermBlocks, out: npt.NDArray[np.float64]) -> float | None:
        return product(rows, cols, out)

    def _fold(
        self, columns: TermBlocks, coefficients: npt.NDArray[np.float64]
    ) -> Callable[[TermBlocks], npt.NDArray[np.float64]] | None:
        return fold(columns, coefficients)

    def _normalised_block(self, rows: Prepared, cols: Prepared, out: npt.NDArray[np.float64]) -> float | None:
        if _blocks.far_diagonals(rows.raw_diagonal, cols.raw_diagonal):
            return super()._normalised_block(rows, cols, out)
        return product(rows.payload, cols.payload, out, rows.raw_diagonal, cols.raw_diagonal)
