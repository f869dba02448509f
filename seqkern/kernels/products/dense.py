"""Features that are mostly non-zero: packed dense vectors of counts."""

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from seqkern.kernels.products import _fold, _product

PANEL = 16
STEP_BYTES = 4
LARGEST = {1: 127, 2: 32767, 4: 2**31 - 1}
DTYPES = {1: np.uint8, 2: np.int16, 4: np.int32}
CHUNK_ENTRIES = 1 << 17
WIDEST = 1 << 22
INT32_LIMIT = 2.0**31
INT64_LIMIT = 2.0**63

Tally = Callable[[int, npt.NDArray[np.int32]], None]
"""``tally(row, counts)`` writes the counts of the records from `row` on to `counts`, int32 (rows, features)."""


class DenseBlock:
    """Counts of features of n records, as vectors of 8, 16 or 32 bits, the smallest that holds all counts.

    Parameters
    ----------
    n_rows : int
        Number of records, n.
    width : int
        Number of features.
    fill : callable
        ``fill(row, counts)`` writes the counts of the records from `row` on to `counts`, int32 (rows, width).

    Attributes
    ----------
    squares : ndarray of int64, shape (n,)
        Φ(x)·Φ(x).
    largest : float
        The largest of them, rounded.
    peak : int
        The largest count, at least 1.
    """

    def __init__(self, n_rows: int, width: int, fill: Tally) -> None:
        self.width = width
        self.squares = np.zeros(n_rows, dtype=np.int64)
        self.peak, self.largest = 1, 0.0
        panels, steps = -(-n_rows // PANEL), -(-width // STEP_BYTES)
        self._packed: dict[int, npt.NDArray[np.uint8]] = {
            1: np.zeros((panels, steps, PANEL, STEP_BYTES), dtype=np.uint8)
        }
        step = max(1, CHUNK_ENTRIES // (width * PANEL)) * PANEL
        buffer = np.empty((min(step, n_rows), width), dtype=np.int32)
        for row in range(0, n_rows, step):
            counts = buffer[: min(step, n_rows - row)]
            fill(row, counts)
            self.peak = max(self.peak, _product.measure(counts, self.squares[row:]))
            if float(self.peak) ** 2 * width >= INT64_LIMIT:  # squares may have overflowed
                self.largest = max(self.largest, float(np.square(counts, dtype=np.float64).sum(axis=1).max()))
            while self.peak > LARGEST[self.kind]:
                self._packed = {2 * self.kind: self.packed(2 * self.kind)}
            _product.pack(counts, self.kind, self._packed[self.kind], row)
        self.largest = max(self.largest, float(self.squares.max(initial=0)))

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
            narrow = self.packed(half).view(DTYPES[half])
            panels, steps, _, per_step = narrow.shape
            split = narrow.reshape(panels, steps, PANEL, 2, per_step // 2).swapaxes(2, 3)
            wide = np.ascontiguousarray(split, dtype=DTYPES[kind]).view(np.uint8)
            self._packed[kind] = wide.reshape(panels, 2 * steps, PANEL, STEP_BYTES)
        return self._packed[kind]

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
        kind = max(self.kind, cols.kind)
        if math.sqrt(self.largest * cols.largest) >= INT32_LIMIT:
            kind = 4
        safe = max(1, LARGEST[2] // (2 * self.peak * cols.peak))
        _product.multiply(self.packed(kind), cols.packed(kind), kind, safe, row, first, last, factor, upper, sums)

    def _counts(self) -> npt.NDArray[Any]:
        """Return the packed vectors as counts: (panels, steps, 16, counts of a step)."""
        return self.packed(self.kind).view(DTYPES[self.kind])

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


class Tallied(Protocol):
    """Protocol of objects that count into vectors over all features, such as `seqkern.kernels.kmer.kmers.Occurrences`.

    Attributes
    ----------
    space : int
        Number of features.
    """

    @property
    def space(self) -> int:
        """Number of features."""

    def __len__(self) -> int: ...

    def tally(self, row: int, counts: npt.NDArray[np.int32]) -> None:
        """Write to `counts` how often each feature occurs in the records from `row` on.

        Parameters
        ----------
        row : int
            The first record.
        counts : ndarray of int32, shape (rows, space)
            Overwritten.
        """


def dense_block(found: Tallied, presence: bool = False, tally: Tally | None = None) -> DenseBlock:
    """Return occurrences of features as a DenseBlock.

    Parameters
    ----------
    found : Occurrences or Pairs
        Occurrences in the n records.
    presence : bool
        Use 1 instead of counts.
    tally : callable, optional
        ``tally(row, counts)`` instead of the method of `found`.

    Returns
    -------
    DenseBlock
        Of n records and ``found.space`` features.
    """
    count = tally or found.tally

    def fill(row: int, counts: npt.NDArray[np.int32]) -> None:
        count(row, counts)
        if presence:
            np.minimum(counts, 1, out=counts)

    return DenseBlock(len(found), found.space, fill)
