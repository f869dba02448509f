"""Fill a kernel matrix by row blocks in threads.

Every entry is computed by one thread from the same numbers, so results are bit-identical for any number of threads. A
square matrix is computed above its diagonal, and each block copied to the other side while it is in the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from seqkern.core.threads import GIVEN_THREADS, available_threads, in_threads
from seqkern.kernels import _blocks
from seqkern.kernels.finite import store_single

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel
    from seqkern.kernels.prepared import Prepared

BLOCK_BYTES = 1 << 22
CACHE_BYTES = 1 << 20  # a block that stays in the second-level cache while it is copied
LEAST_BLOCK_ROWS = 64  # fewer rows share too little of what is read of the columns
Piece: TypeAlias = tuple[int, int, list[tuple[int, int]]]
"""First row, last row + 1, and the first column and the last + 1 of each cut."""
SHARES = 4  # blocks of rows for each thread: the last ones to be done are small


def row_blocks(
    n_rows: int, n_cols: int, least_rows: int = 1, most_bytes: int = BLOCK_BYTES, n_threads: int = 1
) -> list[tuple[int, int]]:
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
    n_threads : int
        Those that share the blocks.

    Returns
    -------
    list of (int, int)
    """
    share = max(16, -(-n_rows // max(16, SHARES * n_threads)))
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

    def work(piece: Piece) -> None:
        start, stop, cuts = piece
        part = rows.rows(start, stop)
        for left, right in cuts:
            part_cols = cols if right - left == len(cols) else cols.rows(left, right)
            target: Any = out[start:stop, left:right]
            if out.dtype == np.float64:
                kernel.block(part, part_cols, target)
            else:
                store_single(kernel, part, part_cols, target)
            if leading:
                _blocks.mirror_below(square, start, stop, left, min(right, len(rows)))
            if progress is not None and right == len(cols):
                progress(stop - start)

    threads = available_threads(n_threads or GIVEN_THREADS.get() or kernel.n_threads)
    least_rows = max(kernel.least_block_rows, getattr(cols.payload, "least_block_rows", 1))
    pieces = _pieces(len(rows), len(cols), leading, least_rows, kernel.most_block_columns, threads)
    in_threads([partial(work, piece) for piece in pieces], threads)
    return out


def _pieces(n_rows: int, n_cols: int, leading: bool, least_rows: int, narrow: int | None, threads: int) -> list[Piece]:
    """Return the pieces of a matrix: for one thread all columns of some rows, for several each cut of the columns.

    Rows are fewer, and columns cut at as many, where threads would have nothing to do.
    """
    fair = max(LEAST_BLOCK_ROWS, -(-n_rows // threads))
    if narrow is None:
        spans = row_blocks(n_rows, n_cols, min(least_rows, fair), BLOCK_BYTES, threads)
    else:
        if fair < least_rows:
            least_rows = narrow = fair
        spans = row_blocks(n_rows, min(narrow, n_cols), least_rows, CACHE_BYTES, threads)
    pieces: list[Piece] = []
    for start, stop in spans:
        widest = max(narrow or n_cols, stop - start)  # the square at the diagonal is not cut
        lefts = range(start if leading else 0, n_cols, widest)
        cuts = [(left, min(left + widest, n_cols)) for left in lefts]
        pieces += [(start, stop, cuts)] if threads == 1 else [(start, stop, [cut]) for cut in cuts]
    return pieces
