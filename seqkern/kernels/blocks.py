"""Fill a kernel matrix by row blocks in threads.

Every entry is computed by one thread from the same numbers, so results are bit-identical for any number of threads. A
square matrix is computed above its diagonal, and each block copied to the other side while it is in the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqkern.core.threads import GIVEN_THREADS, available_threads
from seqkern.kernels import _blocks
from seqkern.kernels.finite import store_single

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel
    from seqkern.kernels.prepared import Prepared

BLOCK_BYTES = 1 << 22
CACHE_BYTES = 1 << 20  # a block that stays in the second-level cache while it is copied
LEAST_BLOCK_ROWS = 64  # fewer rows share too little of what is read of the columns


def row_blocks(n_rows: int, n_cols: int, least_rows: int = 1, most_bytes: int = BLOCK_BYTES) -> list[tuple[int, int]]:
    """Return (start, stop) pairs that cover `n_rows`, each block of about `most_bytes` of float64.

    A small matrix is cut too, because its kernel may be slow: to use all threads, and to save half of a square.

    Parameters
    ----------
    n_rows, n_cols : int
        Shape of the matrix.
    least_rows : int
        Minimum rows of all blocks but the last.
    most_bytes : int
        Of a block with more rows than these.

    Returns
    -------
    list of (int, int)
    """
    share = max(16, -(-n_rows // 16))
    step = max(1, min(n_rows, max(least_rows, min(share, most_bytes // max(8 * n_cols, 1)))))
    return [(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def fill(
    kernel: Kernel,
    rows: Prepared,
    cols: Prepared,
    out: npt.NDArray[np.floating[Any]],
    *,
    leading: bool = False,
    n_threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> npt.NDArray[np.floating[Any]]:
    """Write K(rows, cols) to `out` and return it.

    Parameters
    ----------
    kernel : Kernel
        Fitted, if it learns from data.
    rows, cols : Prepared, of n and m records
        The same object for a symmetric matrix.
    out : ndarray of float64 or float32, shape (n, m)
        Its rows are contiguous.
    leading : bool
        The rows are the first n of the columns: the square on the left is symmetric, and computed above its diagonal
        only. Implied where rows and columns are the same object.
    n_threads : int, optional
        By default those of `given_threads`, the kernel's own, or all cores.
    progress : callable, optional
        Called with the number of rows done, after each block.

    Returns
    -------
    ndarray
        `out`.

    Raises
    ------
    SequenceError
        If a value overflows.
    """
    leading = leading or rows is cols
    square = out[:, : len(rows)]

    def work(span: tuple[int, int]) -> None:
        start, stop = span
        part = rows.rows(start, stop)
        widest = max(narrow or len(cols), stop - start)  # the square at the diagonal is not cut
        for left in range(start if leading else 0, len(cols), widest):
            right = min(left + widest, len(cols))
            part_cols = cols if right - left == len(cols) else cols.rows(left, right)
            target: Any = out[start:stop, left:right]
            if out.dtype == np.float64:
                kernel.block(part, part_cols, target)
            else:
                store_single(kernel, part, part_cols, target)
            if leading:
                _blocks.mirror_below(square, start, stop, left, min(right, len(rows)))
        if progress is not None:
            progress(stop - start)

    least_rows = max(kernel.least_block_rows, getattr(cols.payload, "least_block_rows", 1))
    narrow = kernel.most_block_columns
    if narrow is None:
        spans = row_blocks(len(rows), len(cols), least_rows)
    else:
        spans = row_blocks(len(rows), min(narrow, len(cols)), least_rows, CACHE_BYTES)
    threads = available_threads(n_threads or GIVEN_THREADS.get() or kernel.n_threads)
    if threads == 1 or len(spans) == 1:  # a pool would cost more than a small matrix
        for span in spans:
            work(span)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, spans))
    return out
