"""Motif counts as blocks of the product engine, and the cost of their products."""

import numpy as np
import numpy.typing as npt

from seqkern.kernels import planner
from seqkern.kernels.kmer.kmers import Counted
from seqkern.kernels.planner import Cost, Workload
from seqkern.kernels.products.dense import PANEL, WIDEST, Counts, DenseBlock
from seqkern.kernels.products.sparse import SparseBlock


def make_block(counted: Counted, algorithm: str, like: SparseBlock | None = None) -> SparseBlock | DenseBlock:
    """Return counts of motifs as a block of features.

    Parameters
    ----------
    counted : Counted
        How often each motif occurs in each record.
    algorithm : {"dense", "index"}
        How the products of counts are computed.
    like : SparseBlock, optional
        The columns that these rows will be compared with.

    Returns
    -------
    SparseBlock or DenseBlock
    """
    if algorithm == "index":
        return SparseBlock(counted, like)

    def fill(row: int, tables: Counts) -> None:
        start = counted.start[row : row + len(tables) * PANEL + 1]
        span = slice(start[0], start[-1])
        panels, places = np.divmod(np.repeat(np.arange(len(start) - 1), np.diff(start)), PANEL)
        tables[panels, counted.feature[span], places] = counted.count[span]

    return DenseBlock(len(counted), counted.n_features, fill, int(counted.count.max(initial=0)))


def occurring(chances: npt.NDArray[np.float64], letters: int, records: int) -> npt.NDArray[np.float64]:
    """Return the probability that each motif occurs in a record.

    Parameters
    ----------
    chances : ndarray of float64, shape (motifs,)
        Probability that each motif matches at a residue.
    letters : int
        Residues of all records.
    records : int
        Number of sequences.

    Returns
    -------
    ndarray of float64, shape (motifs,)

    Examples
    --------
    >>> occurring(np.array([0.001, 0.02]), letters=3000, records=30).round(3)
    array([0.095, 0.865])
    """
    return -np.expm1(-chances * letters / max(1, records))


def product_costs(work: Workload, chances: npt.NDArray[np.float64]) -> dict[str, Cost]:
    """Return the cost of the products for each feasible algorithm.

    Parameters
    ----------
    work : Workload
        Shape of the matrix, and residues of its records.
    chances : ndarray of float64, shape (motifs,)
        Probability that each motif matches at a residue.

    Returns
    -------
    dict of str to Cost
        By the name of the algorithm.
    """
    rows = occurring(chances, work.row_letters, work.rows)
    cols = occurring(chances, work.col_letters, work.cols)
    counts = cols.sum() * work.cols + (0 if work.symmetric else rows.sum() * work.rows)
    walk = rows.sum() * work.rows * planner.LIST_NS + (rows * cols).sum() * work.pairs * planner.POSTING_NS
    costs = {"index": Cost((counts * planner.INDEX_NS + walk) * 1e-9, int(counts * planner.COUNT_BYTES))}
    if len(chances) <= WIDEST:
        costs["dense"] = work.dense(len(chances), float(chances.max()))
    return costs
