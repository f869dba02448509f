"""The row-block tiles of a Gram matrix: their division, their files, and their assembly to one matrix.

A tile contains some rows of the matrix; for a symmetric matrix only the columns from its first row on, half of
the work. The division depends only on the shape of the matrix, so that all jobs use the same tiles.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import xxhash

from seqkern.core.archive import atomic_write
from seqkern.core.errors import FileError
from seqkern.core.memory import check_mappable
from seqkern.gram.digests import RowDigests

TILE_BYTES = 1 << 26
TILE_ROWS = 512
ASSEMBLY_BYTES = 2 * TILE_BYTES
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
    def assembly_bytes(self) -> int:
        """Bytes of memory for assembling, at least: the rows of one tile, and a tile being read."""
        return self._height * self.cols * self.dtype.itemsize + self.tile_bytes

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
            _write_header(file, tile.shape, tile.dtype)
            values = np.ascontiguousarray(tile).data
            file.write(values)
            file.write(xxhash.xxh3_128_digest(values))

    def assemble(
        self,
        folder: Path,
        path: Path,
        progress: Callable[[int, int], object] | None = None,
        buffer: int = ASSEMBLY_BYTES,
    ) -> list[str]:
        """Write the whole matrix to `path` from the tiles in `folder`, with buffers of bounded size.

        Parameters
        ----------
        folder : Path
            Folder with all tiles.
        path : Path
            The ``.npy`` to write.
        progress : callable, optional
            Called with (entries written, all entries).
        buffer : int
            Bytes of the rows that are written at a time; those of one tile, if it has more.

        Returns
        -------
        list of str
            The digests of its blocks of rows.

        Raises
        ------
        FileError
            If a tile cannot be read, or is damaged (it is then removed), or `path` cannot be written.
        """
        per_group = max(1, buffer // max(self.dtype.itemsize * self.cols * self._height, 1))
        # Allocating memory for each group would cost more than copying.
        rows = np.empty(min(self.rows, per_group * self._height) * self.cols, dtype=self.dtype)
        mirrored = np.empty(self._height * min(self.rows, per_group * self._height), dtype=self.dtype)
        digests = RowDigests(self.cols * self.dtype.itemsize)
        with atomic_write(path) as file:
            _write_header(file, (self.rows, self.cols), self.dtype)
            for first in range(0, len(self), per_group):
                group = self._group(folder, first, min(first + per_group, len(self)), rows, mirrored)
                file.write(group.data)
                digests.add(group)
                if progress is not None:
                    last = self.spans[min(first + per_group, len(self)) - 1][1]
                    progress(last * self.cols, self.rows * self.cols)
        return digests.finish()

    @property
    def _height(self) -> int:
        """Rows of a tile (the last may have fewer)."""
        return self.spans[0][1] if self.spans else 0

    def _group(
        self,
        folder: Path,
        first: int,
        last: int,
        rows: npt.NDArray[np.floating[Any]],
        mirrored: npt.NDArray[np.floating[Any]],
    ) -> npt.NDArray[np.floating[Any]]:
        """Return the rows of tiles `first` to `last`, with all columns; `rows` and `mirrored` are work space."""
        top, bottom = self.spans[first][0], self.spans[last - 1][1]
        out = _cut(rows, (bottom - top, self.cols))
        for index in range(first, last):
            start, stop = self.spans[index]
            left = self.first_column(index)
            self._read(folder, index, left, out[start - top : stop - top, left:])
        if self.symmetric:
            for index in range(last):
                start, stop = self.spans[index]
                below = max(stop, top)
                above = _cut(mirrored, (stop - start, bottom - below))
                self._read(folder, index, below, above)
                out[below - top :, start:stop] = above.T
        return out

    def _read(self, folder: Path, index: int, column: int, out: npt.NDArray[np.floating[Any]]) -> None:
        """Read columns of tile `index` from `column` on, as many as fit into `out`; a whole tile is verified.

        By plain reading: mapped pages would count as used memory, and each costs a page fault.
        """
        path, (rows, width) = folder / self.file_name(index), self.shape(index)
        digest = xxhash.xxh3_128() if out.shape == (rows, width) else None
        try:
            with open(path, "rb", buffering=0) as file:
                # after the header
                start = file.seek(0, os.SEEK_END) - DIGEST_BYTES - rows * width * self.dtype.itemsize
                if start < 0:
                    raise _damaged(path)
                for i in range(rows):
                    file.seek(start + (i * width + column - self.first_column(index)) * self.dtype.itemsize)
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
            problem = f"cannot be read: {error.strerror or error}"
            raise FileError(problem, file=path, remedy="check the disk, and repeat the command") from error


def _damaged(path: Path) -> FileError:
    """Return the error for a damaged tile, and remove the tile."""
    path.unlink(missing_ok=True)
    return FileError("is damaged, and has been removed", file=path, remedy="repeat the command to compute it again")


def _cut(buffer: npt.NDArray[np.floating[Any]], shape: tuple[int, int]) -> npt.NDArray[np.floating[Any]]:
    """Return the start of a flat array as an array of this shape."""
    return buffer[: shape[0] * shape[1]].reshape(shape)


def _write_header(file: IO[bytes], shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Write the header of a C-ordered ``.npy``."""
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
