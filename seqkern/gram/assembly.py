"""The assembly of the tiles of a Gram matrix to one file, with buffers of bounded size."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import xxhash

from seqkern.core.archive import atomic_write
from seqkern.core.damaged import unreadable
from seqkern.core.errors import FileError
from seqkern.core.threads import in_threads
from seqkern.gram.digests import RowDigests
from seqkern.gram.tiles import DIGEST_BYTES, TILE_BYTES, TileGrid, pieces, write_header
from seqkern.kernels import _blocks

ASSEMBLY_BYTES = 2 * TILE_BYTES
MOST_THREADS = 4
"""More would wait for the disk, and each needs memory."""
Buffers: TypeAlias = "SimpleQueue[npt.NDArray[np.floating[Any]]]"


def buffer_bytes(grid: TileGrid, allowed: int | None = None) -> int:
    """Return the bytes of the rows that are written at a time.

    Parameters
    ----------
    grid : TileGrid
        The division of the matrix.
    allowed : int, optional
        Bytes of memory for all of the assembly.

    Returns
    -------
    int
    """
    return ASSEMBLY_BYTES if allowed is None else min(ASSEMBLY_BYTES, max(0, allowed - grid.tile_bytes))


def assemble(
    grid: TileGrid,
    folder: Path,
    path: Path,
    progress: Callable[[int, int], object] | None = None,
    buffer: int = ASSEMBLY_BYTES,
    n_threads: int = 1,
) -> list[str]:
    """Write the whole matrix to `path` from the tiles in `folder`, with buffers of bounded size.

    Parameters
    ----------
    grid : TileGrid
        The division of the matrix.
    folder : Path
        Folder with all tiles.
    path : Path
        The ``.npy`` to write.
    progress : callable, optional
        Called with (entries written, all entries).
    buffer : int
        Bytes of the rows that are written at a time; those of one tile, if it has more.
    n_threads : int
        Those that read tiles, `MOST_THREADS` at most.

    Returns
    -------
    list of str
        The digests of its blocks of rows.

    Raises
    ------
    FileError
        If a tile cannot be read, or is damaged (it is then removed), or `path` cannot be written.
    """
    per_group = max(1, buffer // max(grid.dtype.itemsize * grid.cols * grid.height, 1))
    # Allocating memory for each group would cost more than copying.
    rows = np.empty(min(grid.rows, per_group * grid.height) * grid.cols, dtype=grid.dtype)
    threads = min(n_threads, MOST_THREADS)
    mirrored: Buffers = SimpleQueue()
    for _ in range(threads):
        mirrored.put(np.empty(grid.height * min(grid.rows, per_group * grid.height), dtype=grid.dtype))
    digests = RowDigests(grid.cols * grid.dtype.itemsize)
    with atomic_write(path) as file:
        write_header(file, (grid.rows, grid.cols), grid.dtype)
        for first in range(0, len(grid), per_group):
            group = _group(grid, folder, first, min(first + per_group, len(grid)), rows, mirrored, threads)
            for piece in pieces(group):
                digests.add(piece)
                file.write(piece)
            if progress is not None:
                last = grid.spans[min(first + per_group, len(grid)) - 1][1]
                progress(last * grid.cols, grid.rows * grid.cols)
    return digests.finish()


def _group(
    grid: TileGrid,
    folder: Path,
    first: int,
    last: int,
    rows: npt.NDArray[np.floating[Any]],
    mirrored: Buffers,
    threads: int,
) -> npt.NDArray[np.floating[Any]]:
    """Return the rows of tiles `first` to `last`, with all columns; `rows` and `mirrored` are work space."""
    top, bottom = grid.spans[first][0], grid.spans[last - 1][1]
    out = _cut(rows, (bottom - top, grid.cols))

    def own(index: int) -> None:
        start, stop = grid.spans[index]
        left = grid.first_column(index)
        _read(grid, folder, index, left, out[start - top : stop - top, left:])

    def turned(index: int) -> None:
        start, stop = grid.spans[index]
        below = max(stop, top)
        room = mirrored.get()
        try:
            above = _cut(room, (stop - start, bottom - below))
            _read(grid, folder, index, below, above)
            _blocks.turn(above, out[below - top :, start:stop])
        finally:
            mirrored.put(room)  # others wait for it

    tasks = [partial(own, index) for index in range(first, last)]
    tasks += [partial(turned, index) for index in range(last if grid.symmetric else 0)]
    in_threads(tasks, threads)
    return out


def _read(grid: TileGrid, folder: Path, index: int, column: int, out: npt.NDArray[np.floating[Any]]) -> None:
    """Read columns of tile `index` from `column` on, as many as fit into `out`; a whole tile is verified.

    By plain reading: mapped pages would count as used memory, and each costs a page fault.
    """
    path, (rows, width) = folder / grid.file_name(index), grid.shape(index)
    digest = xxhash.xxh3_128() if out.shape == (rows, width) else None
    try:
        with open(path, "rb", buffering=0) as file:
            # after the header
            start = file.seek(0, os.SEEK_END) - DIGEST_BYTES - rows * width * grid.dtype.itemsize
            if start < 0:
                raise _damaged(path)
            for i in range(rows):
                file.seek(start + (i * width + column - grid.first_column(index)) * grid.dtype.itemsize)
                if file.readinto(out[i]) != out[i].nbytes:
                    raise _damaged(path)
                if digest is not None:
                    digest.update(out[i])
            if digest is not None and file.read(DIGEST_BYTES) != digest.digest():
                raise _damaged(path)
    except FileNotFoundError as error:
        raise FileError("has been removed by another process", file=path, remedy="repeat the command") from error
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise unreadable(path, error, "check the disk, and repeat the command") from error


def _damaged(path: Path) -> FileError:
    """Return the error for a damaged tile, and remove the tile."""
    path.unlink(missing_ok=True)
    return FileError("is damaged, and has been removed", file=path, remedy="repeat the command to compute it again")


def _cut(buffer: npt.NDArray[np.floating[Any]], shape: tuple[int, int]) -> npt.NDArray[np.floating[Any]]:
    """Return the start of a flat array as an array of this shape."""
    return buffer[: shape[0] * shape[1]].reshape(shape)
