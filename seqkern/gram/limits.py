"""Whether a Gram matrix fits: into memory, among the addresses of a process, on the disk. Checked before any work."""

from __future__ import annotations

import shutil
from pathlib import Path

from seqkern.core.errors import GramError, TooLargeError
from seqkern.core.memory import available_memory, default_limit_words, format_bytes, more_memory, parse_bytes
from seqkern.core.memory_limits import free_addresses
from seqkern.gram.tiles import TileGrid

THREAD_ADDRESSES = 256 << 20
"""What stacks and heaps of threads reserve of the addresses, beside the matrix; hardly any of it is used."""


def allowed_memory(limit: int | str | None) -> int:
    """Return the bytes that a matrix, or the work on it, may take.

    Parameters
    ----------
    limit : int, str or None
        Bytes, or text such as ``"2GB"``; None is half of the available memory.

    Returns
    -------
    int

    Examples
    --------
    >>> allowed_memory("2GB")
    2000000000
    """
    return available_memory() // 2 if limit is None else parse_bytes(limit)


def check_matrix_fits(grid: TileGrid, work: int, limit: int | str | None) -> None:
    """Check that a whole matrix fits into memory.

    Parameters
    ----------
    grid : TileGrid
        Its division.
    work : int
        Bytes of the work beside it.
    limit : int, str or None
        As for `allowed_memory`.

    Raises
    ------
    TooLargeError
        If it does not fit.
    """
    allowed, need, more = allowed_memory(limit), grid.matrix_bytes + work, more_memory(limit)
    if need > allowed:
        raise TooLargeError(
            f"a matrix of {_shape(grid)} needs {format_bytes(need)} of memory, but the limit is "
            f"{format_bytes(allowed)}{default_limit_words(limit)}",
            remedy=f"{more}, or write it to a file (path)",
            more=more,
        )


def check_tile_fits(grid: TileGrid, work: int, limit: int | str | None, path: Path) -> None:
    """Check that one tile of a matrix on disk fits into memory, and the finished file among the addresses.

    Parameters
    ----------
    grid : TileGrid
        The division of the matrix.
    work : int
        Bytes of the work beside a tile.
    limit : int, str or None
        As for `allowed_memory`.
    path : Path
        The ``.npy``.

    Raises
    ------
    GramError
        If it does not fit.
    """
    allowed, need = allowed_memory(limit), max(grid.tile_bytes + work, grid.assembly_bytes)
    if need > allowed:
        enough = limit is not None and need <= available_memory()
        raise GramError(
            f"one tile of a matrix of {_shape(grid)} needs {format_bytes(need)} of memory, but the limit is "
            f"{format_bytes(allowed)}{default_limit_words(limit)}",
            file=path,
            remedy=f"set the limit (--memory, memory_limit in a study) to {format_bytes(need)} or more"
            if enough
            else more_memory(),
        )
    _check_addresses(grid, path)


def _check_addresses(grid: TileGrid, path: Path) -> None:
    """Raise GramError unless the finished file can be mapped: ``ulimit -v`` counts mapped files like memory."""
    need, free = grid.matrix_bytes + THREAD_ADDRESSES, free_addresses()
    if free is not None and need > free:
        raise GramError(
            f"mapping a matrix of {format_bytes(grid.matrix_bytes)} takes {format_bytes(need)} of memory "
            f"addresses, but {format_bytes(free)} are left by ulimit -v",
            file=path,
            remedy="raise the limit of the shell (ulimit -v)",
        )


def check_disk(need: int, path: Path) -> None:
    """Check that the disk has space for the missing tiles and the matrix.

    Parameters
    ----------
    need : int
        Their bytes.
    path : Path
        The ``.npy``.

    Raises
    ------
    GramError
        If it has not enough.
    """
    free = shutil.disk_usage(next(folder for folder in path.absolute().parents if folder.exists())).free
    if need > free:
        raise GramError(
            f"the matrix and its tiles need {format_bytes(need)}, but the disk has {format_bytes(free)} left",
            file=path,
            remedy="free disk space or choose another path",
        )


def _shape(grid: TileGrid) -> str:
    """Return rows, columns and data type for a message."""
    return f"{grid.rows} × {grid.cols} {grid.dtype}"
