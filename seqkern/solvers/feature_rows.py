"""Rows of features for solvers that take them in blocks: the columns they need, moments, and an order of their own."""

import hashlib

import numpy as np

from seqkern.kernels.feature_blocks import FeatureBlocks, filled
from seqkern.kernels.implicit import Implicit
from seqkern.solvers.expansion import weighted_sums

ROWS = 1024
"""So many rows at a time: a product of matrices of one shape gives a row the same bits wherever it stands."""


def take_rows(K, rows):
    """Return some rows of a matrix, dense or sparse, or of an Implicit or FeatureBlocks."""
    return K.take(rows) if isinstance(K, (Implicit, FeatureBlocks)) else K[rows]


def as_blocks(K):
    """Return features, a matrix or FeatureBlocks, as FeatureBlocks."""
    return K if isinstance(K, FeatureBlocks) else FeatureBlocks.of(K)


def blocks_of_columns(K, columns):
    """Yield (rows as a slice, block of the features `columns`, C-ordered), ROWS rows at a time."""
    every = np.array_equal(columns, np.arange(K.shape[1]))
    for part, block in as_blocks(K).blocks(ROWS):
        yield part, block if every else np.ascontiguousarray(block[:, columns])


def fixed_product(block, weights):
    """Return block @ weights, for at most ROWS rows; bits of a row depend on it alone."""
    return (filled(block, ROWS) @ weights)[: len(block)]


def weighted_features(K, columns, weights):
    """Return the features `columns` times `weights` (m, k), float64 (n, k)."""
    if isinstance(K, FeatureBlocks):
        spread = np.zeros((K.shape[1], weights.shape[1]))
        spread[columns] = weights
        return K.times(spread)
    return np.column_stack([weighted_sums(K, columns, np.ascontiguousarray(one)) for one in weights.T])


def gathered(K, rows):
    """Return some rows as one matrix, in this order, in the precision of the features."""
    taken = as_blocks(K).take(rows)
    return np.array(taken.block(0, len(rows)))


def order_by_content(K, y, seed):
    """Return an order of the rows that depends on what stands in them, on their labels and on a seed alone, int64 (n,).

    Whoever draws rows, or looks at them one after another, gets the same in whatever order they are given: the first m
    are a random subset, and that of a smaller m is part of it.

    Parameters
    ----------
    K : ndarray or FeatureBlocks, shape (n, d)
    y : ndarray, shape (n,)
        Numbers.
    seed : int
    """
    key = int(seed).to_bytes(8, "little")
    y = np.asarray(y, dtype=np.float64)
    keys = np.empty(len(y), dtype=np.uint64)
    for part, block in as_blocks(K).blocks(ROWS):
        rows = np.column_stack((block, y[part])) + 0.0  # −0 is 0
        digests = [hashlib.blake2b(row, digest_size=8, key=key).digest() for row in rows]
        keys[part] = np.frombuffer(b"".join(digests), dtype=np.uint64)
    return np.argsort(keys, kind="stable")
