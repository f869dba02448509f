"""Counts of motifs as blocks of the product engine, and what a product of them costs."""

import numpy as np

from seqkern.kernels import planner
from seqkern.kernels.planner import Cost
from seqkern.kernels.products.dense import WIDEST, DenseBlock
from seqkern.kernels.products.sparse import SparseBlock


def make_block(counted, algorithm, like=None):
    """Return the block of a Counted.

    Parameters
    ----------
    counted : Counted
    algorithm : {"dense", "index"}
    like : SparseBlock, optional
        The columns that these rows will be compared with.
    """
    if algorithm == "index":
        return SparseBlock(counted, like)

    def fill(row, counts):
        span = slice(counted.start[row], counted.start[row + len(counts)])
        records = np.repeat(np.arange(len(counts)), np.diff(counted.start[row : row + len(counts) + 1]))
        counts[...] = 0
        counts[records, counted.feature[span]] = counted.count[span]

    return DenseBlock(len(counted), counted.n_features, fill)


def occurring(chances, letters, records):
    """Return how likely each motif occurs in a record.

    Parameters
    ----------
    chances : ndarray of float64, shape (motifs,)
        How likely each motif matches at a letter.
    letters, records : int
        How many there are.
    """
    return -np.expm1(-chances * letters / max(1, records))


def product_costs(work, chances):
    """Return a dict from algorithm to the Cost of the products, of what is feasible.

    Parameters
    ----------
    work : Workload
    chances : ndarray of float64, shape (motifs,)
    """
    rows = occurring(chances, work.row_letters, work.rows)
    cols = occurring(chances, work.col_letters, work.cols)
    counts = cols.sum() * work.cols + (0 if work.symmetric else rows.sum() * work.rows)
    walk = rows.sum() * work.rows * planner.LIST_NS + (rows * cols).sum() * work.pairs * planner.POSTING_NS
    costs = {"index": Cost((counts * planner.INDEX_NS + walk) * 1e-9, int(counts * planner.COUNT_BYTES))}
    if len(chances) <= WIDEST:
        costs["dense"] = work.dense(len(chances), float(chances.max()))
    return costs
