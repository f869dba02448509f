"""Decisions about new rows, and which matrices are not read into memory for them."""

import numpy as np

from seqkern.core.sparse_types import is_operator, is_sparse
from seqkern.solvers import _linear
from seqkern.solvers.psvm.potential.matrix_file import MIB, MatrixFile, is_whole_map


def stays_outside(K, cache_size):
    """Return whether K is not to be read into memory: an operator, or a map of a file of more than `cache_size` MiB."""
    return is_operator(K) or (is_whole_map(K) and K.nbytes > cache_size * MIB)


def decide(K, columns, means, weights, intercept, cache_size):
    """Return Σ_j (K[i, columns[j]] − means[j]) · weights[j] + intercept for each row i of K, float64 (m,).

    The bits are the same for each way to store K but an operator.
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


def _support_blocks(K, columns, size):
    """Yield (slice, the rows of it in some columns): of a sparse matrix, or of a file, `size` numbers at a time."""
    if is_sparse(K):
        picked = K.tocsc()[:, columns].tocsr()
        step = max(1, size // max(1, len(columns)))
        for start in range(0, K.shape[0], step):
            part = slice(start, min(start + step, K.shape[0]))
            yield part, picked[part].toarray()
    elif K.flags.c_contiguous:
        for part, block in MatrixFile.of(K).blocks(size // 2):
            yield part, np.ascontiguousarray(block[:, columns])
    else:
        # Stored by columns: only those of the support are read.
        yield slice(0, K.shape[0]), np.ascontiguousarray(MatrixFile.of(K).take(columns).T)
