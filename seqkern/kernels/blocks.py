"""Fill a kernel matrix by row blocks in threads.

Every entry is computed by one thread from the same numbers, so results are bit-identical for any number of threads. A
square matrix is computed above its diagonal and mirrored.
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
LEAST_BLOCK_ROWS = 64  # fewer rows share too little of what is read of the columns


def row_blocks(n_rows: int, n_cols: int, least_rows: int = 1) -> list[tuple[int, int]]:
    """Return (start, stop) pairs that cover `n_rows`, each block of about `BLOCK_BYTES` of float64.

    A small matrix is cut too, because its kernel may be slow: to use all threads, and to save half of a square.

    Parameters
    ----------
    n_rows, n_cols : int
        Shape of the matrix.
    least_rows : int
        Minimum rows of all blocks but the last.

    Returns
    -------
    list of (int, int)
    """
    share = max(16, -(-n_rows // 16))
    step = max(1, min(n_rows, max(least_rows, min(share, BLOCK_BYTES // max(8 * n_cols, 1)))))
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

    def work(span: tuple[int, int]) -> None:
        start, stop = span
        left = start if leading else 0
        target: Any = out[start:stop, left:]
        part_cols = cols.rows(left, len(cols)) if left else cols
        if out.dtype == np.float64:
            kernel.block(rows.rows(start, stop), part_cols, target)
        else:
            store_single(kernel, rows.rows(start, stop), part_cols, target)
        if progress is not None:
            progress(stop - start)

    least_rows = max(kernel.least_block_rows, getattr(cols.payload, "least_block_rows", 1))
    spans = row_blocks(len(rows), len(cols), least_rows)
    with ThreadPoolExecutor(available_threads(n_threads or GIVEN_THREADS.get() or kernel.n_threads)) as pool:
        list(pool.map(work, spans))
        if leading:
            square = out[:, : len(rows)]
            list(pool.map(lambda span: _blocks.mirror(square, *span), spans))
    return out
