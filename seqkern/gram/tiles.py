"""The row-block tiles of a Gram matrix: their division and their files.

A tile contains some rows of the matrix; for a symmetric matrix only the columns from its first row on, half of
the work. The division depends only on the shape of the matrix, so that all jobs use the same tiles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import xxhash

from seqkern.core.archive import atomic_write
from seqkern.core.errors import ParameterError
from seqkern.core.memory import check_mappable

TILE_BYTES = 1 << 26
TILE_ROWS = 512
PIECE_BYTES = 1 << 18
"""Bytes that are written at a time: Linux takes larger pages for larger writes, and memory in one piece is scarce."""
DIGEST_BYTES = 16
"""At the end of the file of a tile, after the values."""


@dataclass(frozen=True)
class TileGrid:
    """The division of a matrix into tiles.

    Attributes
    ----------
    rows, cols : int
        Shape of the whole matrix.
    dtype : numpy.dtype
        Data type of its entries.
    symmetric : bool
        Whether a tile begins at the diagonal.

    Examples
    --------
    >>> grid = TileGrid(1000, 1000, np.dtype("float64"), symmetric=True)
    >>> [grid.shape(index) for index in range(len(grid))]
    [(512, 1000), (488, 488)]
    """

    rows: int
    cols: int
    dtype: np.dtype[Any]
    symmetric: bool

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """(first row, last row + 1) of each tile."""
        step = max(1, min(TILE_ROWS, TILE_BYTES // max(self.dtype.itemsize * self.cols, 1)))
        return [(start, min(start + step, self.rows)) for start in range(0, self.rows, step)]

    def __len__(self) -> int:
        return len(self.spans)

    def first_column(self, index: int) -> int:
        """Return the column of the matrix at which a tile starts.

        Parameters
        ----------
        index : int
            Index of the tile, from 0.

        Returns
        -------
        int
        """
        return self.spans[index][0] if self.symmetric else 0

    def shape(self, index: int) -> tuple[int, int]:
        """Return (rows, columns) of a tile.

        Parameters
        ----------
        index : int
            Index of the tile, from 0.

        Returns
        -------
        (int, int)
        """
        start, stop = self.spans[index]
        return stop - start, self.cols - self.first_column(index)

    def entries(self, index: int) -> int:
        """Return the number of entries of a tile.

        Parameters
        ----------
        index : int
            Index of the tile, from 0.

        Returns
        -------
        int
        """
        return int(np.prod(self.shape(index)))

    @property
    def matrix_bytes(self) -> int:
        """Bytes of the whole matrix."""
        return self.rows * self.cols * self.dtype.itemsize

    @property
    def tile_bytes(self) -> int:
        """Bytes of the largest tile, which is the first."""
        return self.entries(0) * self.dtype.itemsize if self.spans else 0

    @property
    def height(self) -> int:
        """Rows of a tile (the last may have fewer)."""
        return self.spans[0][1] if self.spans else 0

    @property
    def assembly_bytes(self) -> int:
        """Bytes of memory for assembling, at least: the rows of one tile, and a tile being read."""
        return self.height * self.cols * self.dtype.itemsize + self.tile_bytes

    def file_name(self, index: int) -> str:
        """Return the file name of a tile.

        Parameters
        ----------
        index : int
            Index of the tile, from 0.

        Returns
        -------
        str
        """
        start, stop = self.spans[index]
        return f"rows-{start:06d}-{stop:06d}.npy"

    def is_done(self, folder: Path, index: int) -> bool:
        """Return whether the complete file of a tile exists.

        Parameters
        ----------
        folder : Path
            Folder of the tiles.
        index : int
            Index of the tile, from 0.

        Returns
        -------
        bool
        """
        path = folder / self.file_name(index)
        try:
            tile = np.load(path, mmap_mode="r", allow_pickle=False)
            whole = path.stat().st_size == tile.offset + tile.nbytes + DIGEST_BYTES
        except (OSError, ValueError, EOFError) as error:
            check_mappable(path, error)
            return False
        return whole and tile.shape == self.shape(index) and tile.dtype == self.dtype and tile.flags.c_contiguous

    def write(self, folder: Path, index: int, tile: npt.NDArray[np.floating[Any]]) -> None:
        """Write a tile to its file, with a digest at its end.

        Parameters
        ----------
        folder : Path
            Folder of the tiles.
        index : int
            Index of the tile, from 0.
        tile : ndarray of `dtype`, shape (rows, columns)
            Its entries.

        Raises
        ------
        FileError
            If the file cannot be written.
        """
        with atomic_write(folder / self.file_name(index)) as file:
            write_header(file, tile.shape, tile.dtype)
            digest = xxhash.xxh3_128()
            for piece in pieces(np.ascontiguousarray(tile)):
                digest.update(piece)
                file.write(piece)
            file.write(digest.digest())


def tile_grid(rows: int, cols: int, dtype: npt.DTypeLike, symmetric: bool) -> TileGrid:
    """Return the division of a matrix into tiles.

    Parameters
    ----------
    rows, cols : int
        Shape of the matrix.
    dtype : {"float64", "float32"}
        Data type of its entries.
    symmetric : bool
        Whether only one half is computed.

    Returns
    -------
    TileGrid

    Raises
    ------
    ParameterError
        For another dtype.

    Examples
    --------
    >>> tile_grid(1000, 1000, "float32", symmetric=True).spans
    [(0, 512), (512, 1000)]
    """
    if str(dtype) not in ("float64", "float32") and dtype not in (np.float64, np.float32):
        raise ParameterError(f"invalid dtype {dtype!r} for a Gram matrix", remedy="choose float64 or float32")
    return TileGrid(rows, cols, np.dtype(dtype), symmetric)


def pieces(values: npt.NDArray[Any]) -> Iterator[memoryview]:
    """Yield the bytes of an array in pieces that stay in the cache until they have been digested and written.

    Parameters
    ----------
    values : ndarray, C order
        The array.

    Yields
    ------
    memoryview of bytes
    """
    view = values.data.cast("B") if values.size else memoryview(b"")
    for start in range(0, len(view), PIECE_BYTES):
        yield view[start : start + PIECE_BYTES]


def write_header(file: IO[bytes], shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Write the header of a C-ordered ``.npy``.

    Parameters
    ----------
    file : file object
        Open for writing, at its start.
    shape : tuple of int
        Of the array.
    dtype : dtype
        Of its numbers.
    """
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
