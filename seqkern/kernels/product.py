"""The product engine: K = scale · Σ_b weight_b · Φ_b(x)·Φ_b(y) for kernels with explicit features.

A family makes *blocks* of features (counts of k-mers, of gapped k-mers, of motifs, …) and puts them, with their
weights, into a `FeatureBlocks`: that is its payload. By subclassing `FeatureKernel` it has everything else::

    class ToyKernel(FeatureKernel):
        name = "toy"
        def _prepare(self, X, like):
            counted = count_codes(*code_windows(X, 2), len(X))
            return FeatureBlocks([SparseBlock(counted, like and like.blocks[0])])

Products of counts are computed as integers and are exact; the sums of blocks with one weight are added as integers
too, and then the weights come in, in the order of the blocks. So the bits depend on neither threads nor the cutting
into rows and columns, nor on how a block is stored.
"""

import math

import numpy as np

from ..errors import SequenceError
from . import _product
from .base import Kernel

NONE_INT32 = np.zeros(0, dtype=np.int32)
NONE_INT64 = np.zeros(0, dtype=np.int64)
NONE_FLOAT = np.zeros(0)
TILE = 8192


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
    """Return how many columns share posting lists: few fit the cache, but each tile costs a bound for each feature."""
    most_tiles = max(1, 2 * entries // max(n_features, 1))
    least = -(-n_rows // most_tiles)
    return max(1, min(n_rows, max(TILE, min(least, 1 << 16)), 1 << 16))


class FeatureBlocks:
    """The payload of a kernel with explicit features; a range of the rows of its blocks.

    Parameters
    ----------
    blocks : list of SparseBlock, DenseBlock
        All with the same number of rows.
    weights : list of float, optional
        By default 1 each. Neighbours in the list with the same weight are added as integers.
    scale : float
        Multiplies the sum.
    """

    def __init__(self, blocks, weights=None, scale=1.0):
        self.blocks = tuple(blocks)
        self.groups = _groups([1] * len(self.blocks) if weights is None else weights)
        self.scale = float(scale)
        self.start, self.stop = 0, len(self.blocks[0].squares)

    def __len__(self):
        return self.stop - self.start

    def rows(self, start, stop):
        """Return the rows `start` to `stop`, as a view."""
        view = object.__new__(FeatureBlocks)
        view.__dict__.update(self.__dict__, start=self.start + start, stop=self.start + stop)
        return view

    def diagonal(self):
        """Return K(x, x), float64 (n,)."""
        total = 0.0
        for weight, members in self.groups:
            part = sum(factor * self.blocks[b].squares[self.start : self.stop] for b, factor in members)
            total = total + weight * part.astype(np.float64)
        return self.scale * total


def _groups(weights):
    """Return [(weight, [(block, integer factor), …]), …]: what is added as integers, and the weight of that sum."""
    if all(float(weight).is_integer() for weight in weights):
        return [(1.0, [(b, int(weight)) for b, weight in enumerate(weights)])]
    groups = []
    for b, weight in enumerate(weights):
        if groups and groups[-1][0] == weight:
            groups[-1][1].append((b, 1))
        else:
            groups.append((float(weight), [(b, 1)]))
    return groups


def product(rows, cols, out, row_diagonal=NONE_FLOAT, col_diagonal=NONE_FLOAT):
    """Write the kernel matrix of two payloads, normalised if the diagonals are given.

    Parameters
    ----------
    rows, cols : FeatureBlocks
        `rows` made like the whole that `cols` is cut from, or cut from it too.
    out : ndarray of float64, shape (n, m)
        Its rows are contiguous.
    row_diagonal, col_diagonal : ndarray of float64, shape (n,) and (m,), optional
    """
    upper = rows.blocks is cols.blocks and rows.start == cols.start and rows.stop <= cols.stop
    for number, (weight, members) in enumerate(rows.groups):
        pairs = [(rows.blocks[b], cols.blocks[b], factor) for b, factor in members]
        sums = np.zeros(out.shape, dtype=_sum_type(pairs))
        for mine, theirs, factor in pairs:
            mine.accumulate(rows.start, theirs, cols.start, cols.stop, factor, upper, sums)
        if number + 1 < len(rows.groups):
            _product.store(sums, out, weight, number > 0)
    _product.finish(sums, out, weight, len(rows.groups) > 1, rows.scale, row_diagonal, col_diagonal, upper)


def _sum_type(pairs):
    """Return the smallest dtype in which no sum of the blocks' products can overflow (by Cauchy and Schwarz)."""
    bound = sum(abs(factor) * math.sqrt(rows.largest * cols.largest) for rows, cols, factor in pairs)
    if bound >= 2.0**62:
        raise SequenceError(
            "the sequences are too long for exact sums of 64 bits", remedy="cut them into parts"
        )
    return np.int32 if bound < 2.0**30 else np.int64


class FeatureKernel(Kernel):
    """Base of the kernels whose payload is a `FeatureBlocks`: a family writes ``__init__`` and ``_prepare``."""

    def _block(self, rows, cols, out):
        product(rows, cols, out)

    def _normalised_block(self, rows, cols, out):
        product(rows.payload, cols.payload, out, rows.raw_diagonal, cols.raw_diagonal)
