"""Fill a kernel matrix by row blocks in threads.

Every entry is computed by one thread from the same numbers, so the result has the same bits at any thread count. A
square matrix is computed above its diagonal and mirrored.
"""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from . import _blocks

BLOCK_BYTES = 1 << 22
LEAST_ROWS = 64


def available_threads(n_threads=None):
    """Return `n_threads`, or the number of cores this process may use."""
    if n_threads:
        return n_threads
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def row_blocks(n_rows, n_cols, block_bytes=BLOCK_BYTES):
    """Return (start, stop) pairs that cover `n_rows`, each block of about `block_bytes` of float64.

    A small matrix is cut too, where its kernel may be a slow one: for the threads, and to save half of a square.
    A wide one is not cut thinner than 64 rows: every block has to look at all columns.
    """
    share = max(16, -(-n_rows // 16))
    step = max(1, min(n_rows, share, max(LEAST_ROWS, block_bytes // max(8 * n_cols, 1))))
    return [(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def largest_block_bytes(n_rows, n_cols):
    """Return the bytes of the largest block, in float64."""
    return 8 * n_cols * max((stop - start for start, stop in row_blocks(n_rows, n_cols)), default=0)


def fill(kernel, rows, cols, out, *, n_threads=None, progress=None):
    """Write K(rows, cols) to `out` and return it.

    Parameters
    ----------
    kernel : Kernel
    rows, cols : Prepared
        The same object for a symmetric matrix.
    out : ndarray of float64 or float32, shape (n, m)
    n_threads : int, optional
        By default the kernel's own, or all cores.
    progress : callable, optional
        Called with the number of rows done, after each block.
    """
    symmetric = rows is cols

    def work(span):
        start, stop = span
        left = start if symmetric else 0
        target = out[start:stop, left:]
        part_cols = cols.rows(left, len(cols)) if left else cols
        if out.dtype == np.float64:
            kernel.block(rows.rows(start, stop), part_cols, target)
        else:
            target[...] = kernel.block(rows.rows(start, stop), part_cols)
        if progress is not None:
            progress(stop - start)

    spans = row_blocks(len(rows), len(cols))
    with ThreadPoolExecutor(available_threads(n_threads or kernel.n_threads)) as pool:
        list(pool.map(work, spans))
        if symmetric:
            list(pool.map(lambda span: _blocks.mirror(out, *span), spans))
    return out
