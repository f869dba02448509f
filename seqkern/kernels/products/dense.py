"""Features that are mostly non-zero: packed dense vectors of counts."""

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from seqkern.kernels.products import _fold, _panels, _product

PANEL = 16
STEP_BYTES = 4
LARGEST = {1: 255, 2: 32767, 4: 2**31 - 1}
LARGEST_SMALL = 127  # in 8 bits, signed or unsigned
BIAS = 128  # added to signed bytes
DTYPES = {1: np.uint8, 2: np.int16, 4: np.int32}
TABLE_BYTES = 1 << 18  # of the counts that are packed together
WIDEST = 1 << 22
INT32_LIMIT = 2.0**31
INT64_LIMIT = 2.0**63

Counts = npt.NDArray[np.uint8 | np.uint16 | np.int32 | np.int16]
Tally = Callable[[int, Counts], None]
"""``tally(row, tables)`` adds the counts of the records from `row` on to `tables`, which are 0.

`tables` has the shape (panels, features, 16), with 16 records side by side in each panel; those beyond the last stay 0.
"""


def count_type(most: int) -> type[np.uint8] | type[np.uint16] | type[np.int32]:
    """Return the smallest dtype of tables of counts.

    Parameters
    ----------
    most : int
        No count is larger.

    Returns
    -------
    type
    """
    return np.uint8 if most <= np.iinfo(np.uint8).max else np.uint16 if most <= np.iinfo(np.uint16).max else np.int32


class DenseBlock:
    """Counts of features of n records, as vectors of 8, 16 or 32 bits, the smallest that holds all counts.

    Parameters
    ----------
    n_rows : int
        Number of records, n.
    width : int
        Number of features.
    fill : callable
        A `Tally`.
    most : int
        No count, nor anything that `fill` adds up on the way, is larger.

    Attributes
    ----------
    totals : ndarray of int64, shape (n,)
        The sum of the counts.
    squares : ndarray of int64, shape (n,)
        Φ(x)·Φ(x).
    largest : float
        The largest of them, rounded.
    peak : int
        The largest count, at least 1.
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
        """Make room for the counts."""
        self.width = width
        self.totals, self.squares = np.zeros((2, n_rows), dtype=np.int64)
        self.peak, self.largest = 1, 0.0
        panels, steps = -(-n_rows // PANEL), -(-width // STEP_BYTES)
        self._packed = {1: np.zeros((panels, steps, PANEL, STEP_BYTES), dtype=np.uint8)}

    def _add(self, panel: int, tables: Counts) -> None:
        """Measure and pack the counts of the panels from `panel` on."""
        level, squares = _product.level(), self.squares[panel * PANEL :]
        self.peak = max(self.peak, _panels.measure(level, tables, self.totals[panel * PANEL :], squares))
        if float(self.peak) ** 2 * self.width >= INT64_LIMIT:  # squares may have overflowed
            self.largest = max(self.largest, float(np.square(tables, dtype=np.float64).sum(axis=1).max()))
        while self.peak > (LARGEST_SMALL if self.signed and self.kind == 1 else LARGEST[self.kind]):
            self._packed = {2 * self.kind: self._widened(self.kind, panel)}
        _panels.pack(level, tables, self.kind, self._packed[self.kind][panel:])
        self.largest = max(self.largest, float(squares[: len(tables) * PANEL].max(initial=0)))

    @property
    def kind(self) -> int:
        """Bytes of a count: 1, 2 or 4."""
        return min(self._packed)

    def packed(self, kind: int) -> npt.NDArray[np.uint8]:
        """Return the vectors with counts of `kind` bytes; widened on first use, and cached.

        Parameters
        ----------
        kind : {1, 2, 4}
            Bytes of a count, at least those of the block's own `kind`.

        Returns
        -------
        ndarray of uint8, shape (panels of 16 rows, steps, 16, 4)
        """
        if kind not in self._packed:
            half = kind // 2
            self._packed[kind] = self._widened(half, len(self.packed(half)))
        return self._packed[kind]

    def _widened(self, kind: int, filled: int) -> npt.NDArray[np.uint8]:
        """Return the vectors with counts of twice as many bytes; the first `filled` panels have counts."""
        panels, steps = self._packed[kind].shape[:2]
        wide = np.zeros((panels, 2 * steps, PANEL, STEP_BYTES), dtype=np.uint8)
        narrow = self._packed[kind][:filled].view(DTYPES[kind])
        if self.signed and kind == 1:
            narrow = narrow.astype(np.int16) - BIAS
        split = narrow.reshape(filled, steps, PANEL, 2, STEP_BYTES // (2 * kind)).swapaxes(2, 3)
        target = wide[:filled].view(DTYPES[2 * kind]).reshape(split.shape)
        target[...] = split
        return wide

    def accumulate(
        self,
        row: int,
        cols: "DenseBlock",
        first: int,
        last: int,
        factor: int,
        upper: bool,
        sums: npt.NDArray[np.int32 | np.int64],
    ) -> None:
        """Add factor · Φ(rows)·Φ(columns) to `sums`.

        Parameters
        ----------
        row, cols, first, last, factor, upper, sums
            As in `Block.accumulate`.
        """
        kind, product = max(self.kind, cols.kind), self.peak * cols.peak
        if kind == 2 and math.sqrt(self.largest * cols.largest) >= INT32_LIMIT:
            kind = 4
        small = cols.peak <= LARGEST_SMALL and 2 * product <= LARGEST[2]
        of_bytes = _product.SIGNED if self.signed else _product.SMALL if small else _product.BYTES
        mode = {1: of_bytes, 2: _product.WORDS, 4: _product.INTEGERS}[kind]
        safe = max(1, LARGEST[2] // (2 * product))
        both = self.packed(kind), cols.packed(kind), self.totals, cols.totals
        _product.multiply(*both, mode, safe, row, first, last, factor, upper, sums)

    def _counts(self) -> npt.NDArray[Any]:
        """Return the packed vectors as counts: (panels, steps, 16, counts of a step)."""
        kind = max(self.kind, 2) if self.signed else self.kind
        return self.packed(kind).view(DTYPES[kind])

    def gather(self, first: int, coefficients: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return Σ_j coefficients[j]·Φ(record first + j), float64 (features,).

        Parameters
        ----------
        first, coefficients
            As in `FoldingBlock.gather`.
        """
        packed = self._counts()
        weights = np.zeros(packed.shape[1] * packed.shape[3])
        _fold.gather_packed(packed, first, coefficients, weights)
        return weights[: self.width].copy()

    def apply(self, first: int, weights: npt.NDArray[np.float64], out: npt.NDArray[np.float64]) -> None:
        """Write Φ(record first + i)·weights to out[i].

        Parameters
        ----------
        first, weights, out
            As in `FoldingBlock.apply`.
        """
        packed = self._counts()
        places = packed.shape[1] * packed.shape[3]
        padded = np.concatenate((weights, np.zeros(places - len(weights))))
        _fold.apply_packed(packed, first, padded, out)


class SignedBlock(DenseBlock):
    """Whole numbers, negative ones too, as vectors of 8 or 16 bits; `add` brings them.

    Parameters
    ----------
    n_rows : int
        Number of records, n.
    width : int
        Number of features.
    """

    signed = True

    def __init__(self, n_rows: int, width: int) -> None:
        self._start(n_rows, width)

    def add(self, panel: int, tables: npt.NDArray[np.int16]) -> None:
        """Set the numbers of some records.

        Parameters
        ----------
        panel : int
            The first record, divided by 16.
        tables : ndarray of int16, shape (panels, width, 16)
            As for a `Tally`.
        """
        self._add(panel, tables)


class Tallied(Protocol):
    """Protocol of objects that count into vectors over all features, such as `seqkern.kernels.kmer.kmers.Occurrences`.

    Attributes
    ----------
    space : int
        Number of features.
    most : int
        No count is larger.
    """

    @property
    def space(self) -> int:
        """Number of features."""

    @property
    def most(self) -> int:
        """No count is larger."""

    def __len__(self) -> int: ...

    def tally(self, row: int, tables: Counts) -> None:
        """Add how often each feature occurs in the records from `row` on; see `Tally`.

        Parameters
        ----------
        row : int
            The first record.
        tables : ndarray, shape (panels, space, 16)
            Changed.
        """


def dense_block(found: Tallied, presence: bool = False) -> DenseBlock:
    """Return occurrences of features as a DenseBlock.

    Parameters
    ----------
    found : Occurrences or Pairs
        Occurrences in the n records.
    presence : bool
        Use 1 instead of counts.

    Returns
    -------
    DenseBlock
        Of n records and ``found.space`` features.
    """
    tally = present(found.tally) if presence else found.tally
    return DenseBlock(len(found), found.space, tally, found.most)


def present(tally: Tally) -> Tally:
    """Return a Tally of 1 for each feature that occurs.

    Parameters
    ----------
    tally : callable
        Of the counts.

    Returns
    -------
    callable
    """

    def fill(row: int, tables: Counts) -> None:
        tally(row, tables)
        np.minimum(tables, 1, out=tables)

    return fill
