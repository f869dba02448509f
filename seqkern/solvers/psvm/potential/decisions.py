"""Decisions on new rows, without reading large matrices into memory."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.sparse_types import is_operator, is_sparse
from seqkern.gram.gram_rows import GramRows
from seqkern.gram.mapped import is_whole_map
from seqkern.gram.matrix_file import MIB, MatrixFile
from seqkern.solvers import _linear


def stays_outside(K: Any, cache_size: float) -> bool:
    """Return whether a matrix stays outside memory.

    Parameters
    ----------
    K : ndarray, sparse matrix, memory map or LinearOperator
        Of rows and columns as a solver takes it.
    cache_size : float
        MiB that a memory map may take.

    Returns
    -------
    bool
        Whether it is an operator, GramRows, or a map of a file that is larger.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.psvm.potential.decisions import stays_outside
    >>> stays_outside(np.eye(3), cache_size=256)
    False
    """
    return is_operator(K) or isinstance(K, GramRows) or (is_whole_map(K) and K.nbytes > cache_size * MIB)


def decide(
    K: Any,
    columns: npt.NDArray[np.int64],
    means: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64],
    intercept: float,
    cache_size: float,
) -> npt.NDArray[np.float64]:
    """Return Σ_j (K[i, columns[j]] − means[j]) · weights[j] + intercept for each row i of K.

    The bits are the same for all storages of K except operators.

    Parameters
    ----------
    K : ndarray of float64, sparse matrix, memory map, GramRows or LinearOperator, shape (m, N)
        Of new rows.
    columns : ndarray of int64, shape (s,)
        The support columns.
    means, weights : ndarray of float64, shape (s,)
        Of them.
    intercept : float
        What is added to each sum.
    cache_size : float
        MiB that the blocks of a large memory map may take.

    Returns
    -------
    ndarray of float64, shape (m,)

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.psvm.potential.decisions import decide
    >>> K = np.array([[1.0, 7.0, 3.0], [0.0, 7.0, 5.0]])
    >>> decide(K, np.array([0, 2]), np.array([0.5, 4.0]), np.array([2.0, 1.0]), 0.25, cache_size=256)
    array([0.25, 0.25])
    """
    out = np.empty(K.shape[0])
    if is_operator(K):
        full = np.zeros(K.shape[1])
        full[columns] = weights
        return np.asarray(K.matvec(full), dtype=np.float64) + (intercept - float(means @ weights))
    if not is_sparse(K) and not stays_outside(K, cache_size):
        _linear.decide(K, columns, means, weights, intercept, out)
        return out
    for part, block in _support_blocks(K, columns, int(cache_size * MIB / 8)):
        _linear.decide(block, np.arange(len(columns)), means, weights, intercept, out[part])
    return out


def _support_blocks(
    K: Any, columns: npt.NDArray[np.int64], size: int
) -> Iterator[tuple[slice, npt.NDArray[np.float64]]]:
    """Yield (slice, those rows in some columns) of a sparse matrix or a file, `size` numbers at a time."""
    if is_sparse(K):
        picked = K.tocsc()[:, columns].tocsr()
        step = max(1, size // max(1, len(columns)))
        for start in range(0, K.shape[0], step):
            part = slice(start, min(start + step, K.shape[0]))
            yield part, picked[part].toarray()
    elif isinstance(K, GramRows):
        yield from K.blocks(columns)
    elif K.flags.c_contiguous:
        for part, block in MatrixFile.of(K).blocks(size // 2):
            yield part, np.ascontiguousarray(block[:, columns])
    else:
        # Stored by columns: only support columns are read.
        yield slice(0, K.shape[0]), np.ascontiguousarray(MatrixFile.of(K).take(columns).T)
