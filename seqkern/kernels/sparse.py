"""Features that are mostly zero: compressed rows against posting lists."""

import numpy as np

from . import _product

NONE_INT32 = np.zeros(0, dtype=np.int32)
NONE_INT64 = np.zeros(0, dtype=np.int64)
TILE = 8192
WIDEST_TILE = 1 << 16


class SparseBlock:
    """Counts of features of n records: lists of features for rows, posting lists for columns.

    Parameters
    ----------
    counted : Counted
    like : SparseBlock, optional
        The columns that these rows will be compared with; features that it lacks are left out. By default the
        block can be columns, and rows of itself.

    Attributes
    ----------
    squares : ndarray of int64, shape (n,)
        Φ(x)·Φ(x).
    largest : float
        The largest of them.
    """

    integer = True

    def __init__(self, counted, like=None):
        n, entries = counted.n_rows, len(counted.rows)
        self.squares = np.zeros(n, dtype=np.int64)
        _product.row_squares(counted.rows, counted.counts, self.squares)
        self.largest = float(self.squares.max(initial=0))
        labels, places = NONE_INT32, NONE_INT64
        if like is None:
            self.vocabulary = counted.vocabulary
            places = self._make_postings(counted)
        else:
            labels = _labels(counted.vocabulary, like.vocabulary)
        self.start = np.zeros(n + 1, dtype=np.int64)
        self.feature = np.empty(entries, dtype=np.int32)
        self.count = np.empty(entries, dtype=np.int32)
        self.own = np.empty(len(places), dtype=np.int64)
        _product.transpose(
            counted.bounds,
            counted.rows,
            counted.counts,
            labels,
            places,
            self.start,
            self.feature,
            self.count,
            self.own,
        )

    def _make_postings(self, counted):
        """Make the posting lists; return the place of each entry in them."""
        n_features = len(counted.vocabulary)
        self.tile = _tile_width(counted.n_rows, n_features, len(counted.rows))
        tiles = -(-counted.n_rows // self.tile)
        self.bounds = np.empty(tiles * n_features + 1, dtype=np.int64)
        self.postings = np.empty(_product.count_postings(counted.counts), dtype=np.uint32)
        places = np.empty(len(counted.rows), dtype=np.int64)
        _product.make_postings(
            counted.bounds,
            counted.rows,
            counted.counts,
            self.tile,
            counted.bounds[:-1].copy(),
            self.bounds,
            self.postings,
            places,
        )
        return places

    def accumulate(self, row, cols, first, last, weight, upper, sums):
        """Add weight · Φ(rows)·Φ(columns) to `sums`.

        Parameters
        ----------
        row : int
            The first row; `sums` says how many.
        cols : SparseBlock
            `self`, or the block that `self` was made like.
        first, last : int
            The columns.
        weight : int
        upper : bool
            Only the columns from each row's own on are wanted.
        sums : ndarray of int32 or int64, shape (rows, columns)
        """
        own = self.own if cols is self else NONE_INT64
        _product.walk(
            self.start,
            self.feature,
            self.count,
            own,
            cols.bounds,
            cols.postings,
            len(cols.vocabulary),
            cols.tile,
            row,
            first,
            last,
            weight,
            upper,
            sums,
        )


def _labels(vocabulary, columns):
    """Return for each code of `vocabulary` its place in the columns' vocabulary, or −1."""
    if len(columns) == 0:
        return np.full(len(vocabulary), -1, dtype=np.int32)
    place = np.minimum(np.searchsorted(columns, vocabulary), len(columns) - 1)
    return np.where(columns[place] == vocabulary, place, -1).astype(np.int32)


def _tile_width(n_rows, n_features, entries):
    """Return how many columns share posting lists: the sums of few fit the cache, but each tile has its bounds."""
    most_tiles = max(1, 2 * entries // max(n_features, 1))
    return max(1, min(n_rows, WIDEST_TILE, max(TILE, -(-n_rows // most_tiles))))
