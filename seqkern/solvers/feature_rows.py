"""Rows of features for solvers that take blocks: column subsets, products, and an order by content."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.types import Rows
from seqkern.kernels.feature_blocks import FeatureBlocks, filled
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.solvers.expansion import weighted_sums

ROWS = 1024
"""Rows processed at a time: matrix products of a fixed shape give a row the same bits at any place."""


Features = npt.NDArray[np.floating[Any]] | FeatureBlocks


def take_rows(K: Any, rows: Rows) -> Any:
    """Return some rows of a solver's input.

    Parameters
    ----------
    K : ndarray, sparse matrix, Implicit, KernelOperator or FeatureBlocks
        All rows.
    rows : integer array, boolean mask or slice
        Which of them; of an operator, an integer array.

    Returns
    -------
    object of the type of `K`

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers.feature_rows import take_rows
    >>> blocks = SpectrumKernel(k=1, normalize=False).feature_blocks(["AAC", "GGG", "ACG"])
    >>> take_rows(blocks, [1, 2]).shape
    (2, 4)
    """
    if isinstance(K, KernelOperator):
        return K.take(np.asarray(rows))
    return K.take(rows) if isinstance(K, FeatureBlocks) else K[rows]


def as_blocks(K: Features) -> FeatureBlocks:
    """Return features as FeatureBlocks.

    Parameters
    ----------
    K : ndarray or FeatureBlocks, shape (n, d)
        The latter is returned unchanged.

    Returns
    -------
    FeatureBlocks
    """
    return K if isinstance(K, FeatureBlocks) else FeatureBlocks.of(K)


def blocks_of_columns(
    K: Features, columns: npt.NDArray[np.int64]
) -> Iterator[tuple[slice, npt.NDArray[np.floating[Any]]]]:
    """Iterate over some features of all rows, ROWS rows at a time.

    Parameters
    ----------
    K : ndarray or FeatureBlocks, shape (n, d)
        All features.
    columns : ndarray of int64, shape (s,)
        Which of them.

    Yields
    ------
    part : slice
        Which rows these are.
    block : ndarray, shape (rows, s)
        Their features, C-ordered.
    """
    every = np.array_equal(columns, np.arange(K.shape[1]))
    for part, block in as_blocks(K).blocks(ROWS):
        yield part, block if every else np.ascontiguousarray(block[:, columns])


def fixed_product(block: npt.NDArray[np.floating[Any]], weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return block @ weights; the bits of a row depend on that row alone.

    Parameters
    ----------
    block : ndarray, shape (m, d)
        At most ROWS rows.
    weights : ndarray of float64, shape (d, k)
        A column for each product.

    Returns
    -------
    ndarray of float64, shape (m, k)
    """
    return (filled(block, ROWS) @ weights)[: len(block)]


def weighted_features(
    K: npt.NDArray[np.float64] | FeatureBlocks, columns: npt.NDArray[np.int64], weights: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return some features times weights.

    Parameters
    ----------
    K : ndarray of float64 or FeatureBlocks, shape (n, d)
        All features.
    columns : ndarray of int64, shape (s,)
        Which of them.
    weights : ndarray of float64, shape (s, k)
        A row for each.

    Returns
    -------
    ndarray of float64, shape (n, k)
    """
    if isinstance(K, FeatureBlocks):
        spread = np.zeros((K.shape[1], weights.shape[1]))
        spread[columns] = weights
        return K.times(spread)
    return np.column_stack([weighted_sums(K, columns, np.ascontiguousarray(one)) for one in weights.T])


def gathered(K: Features, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.floating[Any]]:
    """Return some rows as one matrix, in the precision of the features.

    Parameters
    ----------
    K : ndarray or FeatureBlocks, shape (n, d)
        All rows.
    rows : ndarray of int64, shape (m,)
        Which of them, in the order of the result.

    Returns
    -------
    ndarray, shape (m, d)
    """
    taken = as_blocks(K).take(rows)
    return np.array(taken.block(0, len(rows)))


def order_by_content(K: Features, y: npt.ArrayLike, seed: int) -> npt.NDArray[np.int64]:
    """Return an order of the rows that depends only on their content, their labels and a seed.

    Draws and sequential passes are then independent of the input order: the first m rows are a random subset, nested
    for smaller m. The rows are sorted by one weighted sum of each, then permuted by `seed`: values that another
    processor rounds differently leave the order as it is, which a hash of them would not.

    Parameters
    ----------
    K : ndarray or FeatureBlocks, shape (n, d)
        The features.
    y : array_like of float, shape (n,)
        Values, or the codes of classes; they order rows of one content.
    seed : int
        From 0 to 2⁶⁴ − 1.

    Returns
    -------
    ndarray of int64, shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.feature_rows import order_by_content
    >>> K, y = np.array([[0.5], [0.1], [0.9]]), np.array([0, 0, 1])
    >>> first = K[order_by_content(K, y, seed=1)]
    >>> other = K[::-1][order_by_content(K[::-1], y[::-1], seed=1)]
    >>> np.array_equal(first, other)
    True
    """
    blocks = as_blocks(K)
    weights, sums = np.random.default_rng(0).random(blocks.shape[1]), np.empty(len(blocks))
    for part, block in blocks.blocks(ROWS):
        np.sum(block * weights, axis=1, out=sums[part])  # no product of BLAS: copies of a row have the same bits
    return np.lexsort((np.asarray(y), sums))[np.random.default_rng(seed).permutation(len(blocks))]
