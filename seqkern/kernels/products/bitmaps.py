"""Columns as bitmaps: which of 1,024 records have a feature, for each bit of their counts."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from seqkern.core.threads import in_spans
from seqkern.kernels.products import _bitmaps, _product
from seqkern.kernels.products._bitmaps import TILE_COLUMNS, TILE_WORDS

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

    Attributes
    ----------
    bounds : ndarray of int32, shape (tiles × n_features + 1,)
        Feature f of column tile t has the bitmaps from ``bounds[t * n_features + f]`` to the next bound: those of bits
        0, 1, … of its counts. The first bitmap is empty.
    bits : ndarray of uint64, shape (bitmaps, words of a tile)
        The bitmaps.
    n_features : int
    """

    bounds: npt.NDArray[np.int32]
    bits: npt.NDArray[np.uint64]
    n_features: int

    @classmethod
    def of(
        cls,
        start: npt.NDArray[np.int64],
        feature: npt.NDArray[np.int32],
        count: npt.NDArray[np.int32],
        n_features: int,
    ) -> Self:
        """Make the bitmaps of records.

        Parameters
        ----------
        start, feature, count : ndarray
            Compressed rows: the entries of record i are ``start[i]`` to ``start[i + 1]``.
        n_features : int
            All features are below it.

        Returns
        -------
        Bitmaps
        """
        tiles = -(-(len(start) - 1) // TILE_COLUMNS)
        needed = np.zeros((tiles, n_features), dtype=np.uint8)

        def count_tiles(first: int, last: int) -> None:
            rows = start[first * TILE_COLUMNS : last * TILE_COLUMNS + 1]
            _bitmaps.count_bitmaps(rows, feature, count, needed[first:last])

        in_spans(count_tiles, tiles, LEAST_TILES)
        bounds = np.ones(needed.size + 1, dtype=np.int32)
        bounds[1:] += np.cumsum(needed, dtype=np.int32)
        bits = _cache_aligned(int(bounds[-1]), TILE_WORDS)

        def set_tiles(first: int, last: int) -> None:
            rows = start[first * TILE_COLUMNS : last * TILE_COLUMNS + 1]
            _bitmaps.set_bitmaps(rows, feature, count, bounds[first * n_features :], n_features, bits)

        in_spans(set_tiles, tiles, LEAST_TILES)
        return cls(bounds, bits, n_features)

    def accumulate(
        self,
        start: npt.NDArray[np.int64],
        feature: npt.NDArray[np.int32],
        count: npt.NDArray[np.int32],
        bound: float,
        row: int,
        first: int,
        last: int,
        factor: int,
        upper: bool,
        sums: npt.NDArray[np.int32 | np.int64],
    ) -> None:
        """Add factor · Φ(rows)·Φ(columns) to `sums`.

        Parameters
        ----------
        start, feature, count : ndarray
            The rows, compressed.
        bound : float
            No product is larger, but for rounding.
        row, first, last, factor, upper, sums
            As in `Block.accumulate`.
        """
        planes = int(bound * (1 + 1e-9)).bit_length()
        records = start, feature, count
        columns = self.bounds, self.bits, self.n_features
        _bitmaps.add_products(*records, *columns, planes, row, first, last, factor, upper, sums, _product.level())


def _cache_aligned(n: int, words: int) -> npt.NDArray[np.uint64]:
    """Return zeros of shape (n, words) that start where a cache line does."""
    spare = CACHE_LINE // 8
    memory = np.zeros(n * words + spare, dtype=np.uint64)
    skipped = -memory.ctypes.data % CACHE_LINE // 8
    return memory[skipped : skipped + n * words].reshape(n, words)


def bitmap_nanoseconds(rows: int, entries: float, cols: int) -> float:
    """Return the cost of comparing rows with columns that are `Bitmaps`, in nanoseconds.

    Parameters
    ----------
    rows : int
        How many there are.
    entries : float
        Their counts that are not zero.
    cols : int
        Columns.

    Returns
    -------
    float
    """
    tiles = -(-cols // TILE_COLUMNS)
    return tiles * (entries * ENTRY_NS + rows * TILE_NS) * BITMAP_SLOWNESS[_product.level()]


def bitmaps_are_cheaper(records: int, entries: int, n_features: int) -> bool:
    """Return whether columns should be bitmaps rather than posting lists.

    Parameters
    ----------
    records : int
        How many there are.
    entries : int
        Their counts that are not zero.
    n_features : int
        Features: the lists are at least as long as if each had the same share.

    Returns
    -------
    bool
    """
    postings = entries * entries / max(1, n_features)
    return bitmap_nanoseconds(records, entries, records) < postings * POSTING_NS
