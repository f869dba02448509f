"""Features that are mostly zero: compressed rows against posting lists, or against bitmaps where lists are long."""

import math
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.kernels.products import _fold, _product
from seqkern.kernels.products.bitmaps import Bitmaps, bitmaps_are_cheaper

TILE = 8192
MOST_POSTINGS = 2**31 - 1
WIDEST_TILE = 1 << 16


class CompressedRows(Protocol):
    """How often each feature occurs in each record, as `seqkern.kernels.kmer.kmers.Counted` has it."""

    @property
    def start(self) -> npt.NDArray[np.int64]:
        """Where the entries of each record start, shape (n + 1,)."""

    @property
    def feature(self) -> npt.NDArray[np.int32]:
        """The feature of each entry."""

    @property
    def count(self) -> npt.NDArray[np.int32]:
        """How often it occurs."""

    @property
    def n_features(self) -> int:
        """How many features there are."""

    @property
    def vocabulary(self) -> npt.NDArray[Any] | None:
        """The code of each feature, ascending; None where a feature is its own code."""

    def __len__(self) -> int: ...


class SparseBlock:
    """Counts of features of n records: lists of features for rows, posting lists or bitmaps for columns.

    Parameters
    ----------
    counted : Counted
        The counts of the n records.
    like : SparseBlock, optional
        The columns that these rows will be compared with; features that it lacks are dropped. By default the block
        serves as columns, and as rows of itself.
    bitmaps : bool
        Whether columns may be bitmaps; not beside many other blocks, which would drive them out of the cache.

    Attributes
    ----------
    squares : ndarray of int64, shape (n,)
        Φ(x)·Φ(x).
    largest : float
        The largest of them, rounded.
    bitmaps : Bitmaps or None
        Of the columns; None if they are posting lists, or if the block only serves as rows.

    Raises
    ------
    SequenceError
        If there are more than 2^31 − 1 entries.
    """

    bitmaps: Bitmaps | None = None
    bounds: npt.NDArray[np.int64]

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
        """Renumber the features as in the columns, and drop those absent there."""
        if labels is not None:
            entries = _product.relabel(self.start, self.feature, self.count, labels)
            self.feature, self.count = self.feature[:entries].copy(), self.count[:entries].copy()

    def _make_places(self) -> None:
        """Make room for the place of each entry in the posting lists."""
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

    def accumulate(
        self,
        row: int,
        cols: "SparseBlock",
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
        if cols.bitmaps is not None:
            bound = math.sqrt(self.largest * cols.largest)
            mine = self.start, self.feature, self.count
            cols.bitmaps.accumulate(*mine, bound, row, first, last, factor, upper, sums)
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
            row,
            first,
            last,
            factor,
            upper,
            sums,
        )

    def gather(self, first: int, coefficients: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return Σ_j coefficients[j]·Φ(record first + j), float64 (features,).

        Parameters
        ----------
        first, coefficients
            As in `FoldingBlock.gather`.
        """
        weights = np.zeros(self.n_features)
        _fold.gather_sparse(self.start, self.feature, self.count, first, coefficients, weights)
        return weights

    def apply(self, first: int, weights: npt.NDArray[np.float64], out: npt.NDArray[np.float64]) -> None:
        """Write Φ(record first + i)·weights to out[i], weights over the features of the columns.

        Parameters
        ----------
        first, weights, out
            As in `FoldingBlock.apply`.
        """
        _fold.apply_sparse(self.start, self.feature, self.count, first, weights, out)


def _labels(counted: CompressedRows, like: SparseBlock) -> npt.NDArray[np.int32] | None:
    """Return the number in `like` of each feature of `counted`, or −1; None if they are the same."""
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
    """Return how many columns share posting lists: few fit into the cache, but each tile has overhead."""
    most_tiles = max(1, 2 * entries // max(n_features, 1))
    return max(1, min(n_rows, WIDEST_TILE, max(TILE, -(-n_rows // most_tiles))))
