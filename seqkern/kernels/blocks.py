"""Kernel matrices filled by row blocks in threads, and checked to be finite."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.core.threads import GIVEN_THREADS, available_threads, in_threads
from seqkern.core.types import Array, Floats, Ints
from seqkern.kernels import _blocks

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel
    from seqkern.kernels.prepared import Prepared


# Checks that all kernel values are finite and keep full precision; every kernel value passes through here.
#
# K(x, x) of every record is checked before any rectangle of the matrix, and every rectangle as soon as it is computed,
# while it is in the processor's cache. Kernels without a matrix (operators, explicit and implicit features) have their
# K(x, x) checked here too.

SMALLEST = float(np.finfo(np.float64).tiny)  # smaller numbers have fewer digits


def without_warnings() -> np.errstate:
    """Return a context that silences NumPy's overflow warnings; overflows raise one of the errors here."""
    return np.errstate(over="ignore", invalid="ignore")


def check_squares(kernel: "Kernel", ids: Sequence[str], squares: Floats) -> None:
    """Raise SequenceError for the first record whose K(x, x) overflows, or is so small that it loses precision."""
    sizes = np.abs(squares)
    good = (sizes < np.inf) & ((sizes >= SMALLEST) | (sizes == 0))
    if good.all():
        return
    record = int(np.argmin(good))
    value = float(squares[record])
    small = abs(value) < SMALLEST
    raise SequenceError(
        f"its kernel with itself is {value:g}: kernel {_name(kernel)} {'underflows' if small else _fault(value)}",
        record=ids[record],
        remedy=remedy_of(kernel, small),
    )


def check_vanished(kernel: "Kernel", ids: Sequence[str], before: Floats, after: Floats) -> None:
    """Raise SequenceError for the first record whose K(x, x) underflows to zero: `before` is not zero, `after` is."""
    lost = (before != 0) & (after == 0)
    if lost.any():
        raise SequenceError(
            f"its kernel with itself is too small for a number: kernel {_name(kernel)} underflows",
            record=ids[int(np.argmax(lost))],
            remedy=remedy_of(kernel, small=True),
        )


def check_block(
    kernel: "Kernel",
    rows: "Prepared",
    cols: "Prepared",
    block: Floats,
    largest: float | None = None,
) -> float:
    """Return the largest absolute value of a block; raise SequenceError for the first value that is not finite."""
    largest = _blocks.largest(block) if largest is None else largest
    if not largest < np.inf:
        _refuse(kernel, rows, cols, block, remedy_of(kernel, small=False))
    return largest


def store_single(kernel: "Kernel", rows: "Prepared", cols: "Prepared", out: npt.NDArray[np.float32]) -> None:
    """Write K(rows, cols) to `out` in single precision; raise SequenceError if a value overflows."""
    if kernel._fill_single(rows, cols, out):
        return
    block = np.empty(out.shape)
    largest = kernel._fill_block(rows, cols, block)
    with without_warnings():
        out[...] = block
        beyond = not np.isfinite(np.float32(largest))
    if beyond:
        _refuse(kernel, rows, cols, out, f"choose dtype=float64, or {remedy_of(kernel, small=False)}")


def _refuse(kernel: "Kernel", rows: "Prepared", cols: "Prepared", block: Array, remedy: str) -> None:
    """Raise SequenceError for the first value of a block that is not finite."""
    i, j = np.unravel_index(int(np.argmin(np.isfinite(block))), block.shape)
    raise SequenceError(
        f"its kernel with {cols.name(int(j))} is {block[i, j]:g}: kernel {_name(kernel)} {_fault(block[i, j])}",
        record=rows.name(int(i)),
        remedy=remedy,
    )


def _name(kernel: "Kernel") -> str:
    """Return the name of a kernel in messages; the class name if the kernel is not registered."""
    return repr(kernel.name or type(kernel).__name__)


def _fault(value: float) -> str:
    """Return the description of a non-finite value for a message."""
    return "overflows or is undefined" if np.isnan(value) else "overflows"


def remedy_of(kernel: "Kernel", small: bool) -> str:
    """Return advice on how to get larger (`small`) or smaller values from a kernel, based on its parameters."""
    names, change = kernel.parameter_names(), "larger" if small else "smaller"
    steps = []
    if "weights" in names:
        steps.append(f"give {change} weights")
    if "degree" in names and "gamma" in names:
        steps.append(f"choose a smaller degree or a {change} gamma")
    traits = kernel.traits
    if traits.accepts == "features" or set(traits.views) - set(traits.sequence_views):
        steps.append("scale the features")
    elif not all(base.normalize for base in getattr(kernel, "bases", ())):
        steps.append("choose normalize=true for its base kernels")
    if not steps and not kernel.normalize:
        steps.append("choose normalize=true")
    return ", or ".join(steps or ["check the kernel's parameters and the record"])


# Filling of a kernel matrix by row blocks in threads.
#
# Every entry is computed by one thread from the same numbers, so results are bit-identical for any number of threads. A
# square matrix is computed above its diagonal, and each block is copied to the other side while it is in the cache.

BLOCK_BYTES = 1 << 22
CACHE_BYTES = 1 << 20  # a block that stays in the second-level cache while it is copied
LEAST_BLOCK_ROWS = 64  # fewer rows share too little of what is read of the columns
Piece: TypeAlias = tuple[int, int, list[tuple[int, int]]]
"""First row, last row + 1, and the first column and last column + 1 of each cut."""
SHARES = 4  # blocks of rows for each thread: the last ones to be done are small


def row_blocks(
    n_rows: int, n_cols: int, least_rows: int = 1, most_bytes: int = BLOCK_BYTES, n_threads: int = 1
) -> list[tuple[int, int]]:
    """Return (start, stop) pairs that cover `n_rows` rows, each block of about `most_bytes` of float64.

    A small matrix is also cut, because its kernel may be slow: to use all threads, and to save half of a square.
    """
    share = max(16, -(-n_rows // max(16, SHARES * n_threads)))
    step = max(1, min(n_rows, max(least_rows, min(share, most_bytes // max(8 * n_cols, 1)))))
    return [(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def fill(
    kernel: "Kernel",
    rows: "Prepared",
    cols: "Prepared",
    out: npt.NDArray[np.floating[Any]],
    *,
    leading: bool = False,
    n_threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> npt.NDArray[np.floating[Any]]:
    """Write K(rows, cols) to `out` and return it."""
    leading = leading or rows is cols
    rows, cols = rows.rows(0, len(rows)), cols.rows(0, len(cols))  # payloads made on demand are not made by each thread
    square = out[:, : len(rows)]

    def work(piece: "Piece") -> None:
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
    least_rows = max(kernel._least_block_rows, getattr(cols.payload, "least_block_rows", 1))
    pieces = _pieces(len(rows), len(cols), leading, least_rows, kernel._most_block_columns, threads)
    in_threads([partial(work, piece) for piece in pieces], threads)
    return out


def _pieces(
    n_rows: int, n_cols: int, leading: bool, least_rows: int, narrow: int | None, threads: int
) -> "list[Piece]":
    """Return the pieces of a matrix: for one thread, row blocks with all columns; for several, cut by columns too.

    Pieces are smaller where threads would otherwise be idle.
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


# Symmetric matrices over all pairs of records, computed above the diagonal by threaded loops over rows.

TASKS = 64
"""Number of parts of the rows; the last parts have few columns."""


def symmetric_matrix(n: int, fill: Callable[[int, int, Floats], None], n_threads: int | None = None) -> Floats:
    """Return the symmetric matrix (n, n) whose upper triangle is filled by ``fill(first, last, out)``, in threads.

    `fill` writes out[i, j] for first ≤ i < last and j ≥ i, and releases the GIL.
    """
    out = np.empty((n, n))
    step = max(1, -(-n // TASKS))
    spans = [(first, min(first + step, n)) for first in range(0, n, step)]
    in_threads([partial(fill, first, last, out) for first, last in spans], n_threads)
    for i in range(n):
        out[i + 1 :, i] = out[i, i + 1 :]
    return out


# The order that decides which sequence of a pair is the row: by length, then by codes.


def order_keys(codes: npt.NDArray[np.uint8], starts: Ints, stops: Ints) -> list[tuple[int, bytes]]:
    """Return (length, bytes of the codes) for each record; sorting by these keys orders the records."""
    texts = [codes[a:b].tobytes() for a, b in zip(starts, stops, strict=True)]
    return [(len(text), text) for text in texts]


def ranks(keys: list[tuple[int, bytes]], among: list[tuple[int, bytes]]) -> Ints:
    """Return the rank of each key among sorted distinct keys, int64 (n,).

    The rank is 2·place + 1 for a key that is one of them, else the even 2·place, between its neighbours.
    """
    places = [bisect_left(among, key) for key in keys]
    return np.array(
        [2 * place + (place < len(among) and among[place] == key) for place, key in zip(places, keys, strict=True)],
        dtype=np.int64,
    )
