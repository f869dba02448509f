"""Products of matrices in threads, each entry summed in one order: its bits depend on its row and column only."""

import numpy as np

from seqkern.core.threads import in_threads
from seqkern.kernels import _blocks
from seqkern.kernels.blocks import row_blocks
from seqkern.kernels.vectors import _vector

LEAST_ROWS = 128
"""Fewer rows in a block would cost more for arranging the columns."""


def multiply(x, y):
    """Return x · y, float64 (n, m), of x (n, d) and y (d, m), both C-ordered."""
    out = np.empty((len(x), y.shape[1]))

    def work(start, stop):
        _vector.products(x[start:stop], y, out[start:stop])

    in_threads([lambda span=span: work(*span) for span in row_blocks(*out.shape, LEAST_ROWS)])
    return out


def square_of_rows(x):
    """Return x · xᵀ, float64 (n, n), symmetric to the bit, of x (n, d)."""
    x = np.ascontiguousarray(x)
    columns, out = np.ascontiguousarray(x.T), np.empty((len(x), len(x)))

    def work(start, stop):
        _vector.products(x[start:stop], columns[:, start:], out[start:stop, start:])

    spans = row_blocks(*out.shape, LEAST_ROWS)
    in_threads([lambda span=span: work(*span) for span in spans])
    in_threads([lambda span=span: _blocks.mirror(out, *span) for span in spans])
    return out
