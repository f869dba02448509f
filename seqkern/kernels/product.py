"""The product engine: kernels with explicit features, K = scale · Σ_t weight_t · Σ_b factor_tb · Φ_b(x)·Φ_b(y).

A family makes *blocks* of features (counts of k-mers, of gapped k-mers, of motifs, …), `SparseBlock` or `DenseBlock`,
and puts them into a `FeatureBlocks`: that is its payload. By subclassing `FeatureKernel` it has everything else::

    class ToyKernel(FeatureKernel):
        name = "toy"
        def _prepare(self, X, like):
            block = SparseBlock(find_kmers(X, 2).count(), like and like.blocks[0])
            return FeatureBlocks([(1.0, [(1, block)])])

Products of counts, their integer factors and the sums of one term are integers and exact; then the weights come in,
in the order of the terms. So the bits depend on neither threads nor the cutting into rows and columns, nor on how
features are split into blocks and blocks are stored.
"""

import math

import numpy as np

from ..errors import SequenceError
from . import _product
from .base import Kernel

NO_DIAGONAL = np.zeros(0)
INT32_LIMIT = 2.0**31 - 1
INT64_LIMIT = 2.0**63 - 2.0**40


class FeatureBlocks:
    """The payload of a kernel with explicit features: blocks, or a range of their rows.

    Parameters
    ----------
    terms : list of (float, list of (int, block))
        The weight of each term, and its blocks with their factors. All blocks have the same number of rows.
    scale : float
        Multiplies the sum.
    choices : object
        What the family needs to know to treat further sequences alike.

    Raises
    ------
    SequenceError
        If K(x, x) of a record could exceed 64 bits.
    """

    def __init__(self, terms, scale=1.0, choices=None):
        self.blocks = tuple(block for _, members in terms for _, block in members)
        self.terms = _merged(terms)
        self.scale = float(scale)
        self.choices = choices
        self.start, self.stop = 0, len(self.blocks[0].squares)
        for _, members in self.terms:
            if _bound(members, self.blocks, self.blocks) >= INT64_LIMIT:
                raise SequenceError("the sequences are too long for exact sums", remedy="cut them into parts")

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
        for weight, members in self.terms:
            term = sum(factor * self.blocks[b].squares[self.start : self.stop] for b, factor in members)
            total = total + weight * term.astype(np.float64)
        return self.scale * total


def _merged(terms):
    """Return [(weight, [(number of the block, factor), …]), …]; one term, if all weights are integers."""
    numbered, number = [], 0
    for weight, members in terms:
        numbered.append((float(weight), [(number + i, factor) for i, (factor, _) in enumerate(members)]))
        number += len(members)
    if any(not weight.is_integer() for weight, _ in numbered):
        return numbered
    return [(1.0, [(b, int(weight) * factor) for weight, members in numbered for b, factor in members])]


def _bound(members, rows, cols):
    """Return what no sum of the members' products can exceed, by Cauchy and Schwarz."""
    return sum(abs(factor) * math.sqrt(rows[b].largest * cols[b].largest) for b, factor in members)


def product(rows, cols, out, row_diagonal=NO_DIAGONAL, col_diagonal=NO_DIAGONAL):
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
    last = len(rows.terms) - 1
    for t, (weight, members) in enumerate(rows.terms):
        small = _bound(members, rows.blocks, cols.blocks) <= INT32_LIMIT
        sums = np.zeros(out.shape, dtype=np.int32 if small else np.int64)
        for b, factor in members:
            rows.blocks[b].accumulate(rows.start, cols.blocks[b], cols.start, cols.stop, factor, upper, sums)
        if t < last:
            _product.store(sums, out, weight, t > 0)
        else:
            _product.finish(sums, out, weight, t > 0, rows.scale, row_diagonal, col_diagonal, upper)


class FeatureKernel(Kernel):
    """Base of the kernels whose payload is a `FeatureBlocks`: a family writes ``__init__`` and ``_prepare``."""

    def _block(self, rows, cols, out):
        product(rows, cols, out)

    def _normalised_block(self, rows, cols, out):
        product(rows.payload, cols.payload, out, rows.raw_diagonal, cols.raw_diagonal)
