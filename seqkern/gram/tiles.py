"""The row-block tiles of a Gram matrix: which there are, their files, and how they become one matrix.

A tile holds some rows of the matrix; of a symmetric matrix only the columns from its first row on, half of
the work. Tiles are cut by the shape of the matrix alone, so that all jobs that work on it cut the same ones.
"""

import errno
import os
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from seqkern.core.archive import atomic_write

TILE_BYTES = 1 << 26
TILE_ROWS = 512


@dataclass(frozen=True)
class TileGrid:
    """How a matrix is cut into tiles.

    Parameters
    ----------
    rows, cols : int
        Shape of the whole matrix.
    dtype : numpy.dtype
    symmetric : bool
    """

    rows: int
    cols: int
    dtype: np.dtype
    symmetric: bool

    @cached_property
    def spans(self):
        """List of (first row, last row + 1) of each tile."""
        step = max(1, min(TILE_ROWS, TILE_BYTES // max(self.dtype.itemsize * self.cols, 1)))
        return [(start, min(start + step, self.rows)) for start in range(0, self.rows, step)]

    def __len__(self):
        return len(self.spans)

    def first_column(self, index):
        """Return the column of the matrix at which tile `index` starts."""
        return self.spans[index][0] if self.symmetric else 0

    def shape(self, index):
        """Return (rows, columns) of tile `index`."""
        start, stop = self.spans[index]
        return stop - start, self.cols - self.first_column(index)

    def entries(self, index):
        """Return the number of entries of tile `index`."""
        return int(np.prod(self.shape(index)))

    @property
    def matrix_bytes(self):
        """Bytes of the whole matrix."""
        return self.rows * self.cols * self.dtype.itemsize

    @property
    def tile_bytes(self):
        """Bytes of the largest tile, which is the first."""
        return self.entries(0) * self.dtype.itemsize if self.spans else 0

    @property
    def assembly_bytes(self):
        """Bytes of memory that assembling takes: the rows being written, and one tile being read."""
        return min(self.matrix_bytes, 2 * TILE_BYTES) + self.tile_bytes

    def file_name(self, index):
        """Return the name of the file of tile `index`."""
        start, stop = self.spans[index]
        return f"rows-{start:06d}-{stop:06d}.npy"

    def is_done(self, folder, index):
        """Return whether the file of tile `index` is in `folder`, whole."""
        try:
            tile = np.load(folder / self.file_name(index), mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError):
            return False
        return tile.shape == self.shape(index) and tile.dtype == self.dtype and tile.flags.c_contiguous

    def write(self, folder, index, tile):
        """Write tile `index` to its file; FileError if that cannot be written."""
        with atomic_write(folder / self.file_name(index)) as file:
            _write_header(file, tile.shape, tile.dtype)
            file.write(np.ascontiguousarray(tile).data)

    def assemble(self, folder, path, progress=None):
        """Write the whole matrix to `path` from the tiles in `folder`, with buffers of bounded size.

        Parameters
        ----------
        folder : Path
            Holds all tiles.
        path : Path
            The ``.npy`` to write.
        progress : callable, optional
            Called with (entries written, all entries).

        Raises
        ------
        FileError
            If a tile cannot be read or `path` not be written.
        """
        per_group = max(1, 2 * TILE_BYTES // max(self.dtype.itemsize * self.cols * self._height, 1))
        # New memory for each group would cost more than its copying.
        rows = np.empty(min(self.rows, per_group * self._height) * self.cols, dtype=self.dtype)
        mirrored = np.empty(self._height * min(self.rows, per_group * self._height), dtype=self.dtype)
        with atomic_write(path) as file:
            _write_header(file, (self.rows, self.cols), self.dtype)
            for first in range(0, len(self), per_group):
                group = self._group(folder, first, min(first + per_group, len(self)), rows, mirrored)
                file.write(group.data)
                if progress is not None:
                    last = self.spans[min(first + per_group, len(self)) - 1][1]
                    progress(last * self.cols, self.rows * self.cols)

    @property
    def _height(self):
        """Rows of a tile (the last may have fewer)."""
        return self.spans[0][1] if self.spans else 0

    def _group(self, folder, first, last, rows, mirrored):
        """Return the rows of tiles `first` to `last`, all their columns; `rows` and `mirrored` are room for work."""
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

    def _read(self, folder, index, column, out):
        """Read the columns of the matrix from `column` on that `out` has room for, of tile `index`, to `out`.

        By plain reading: mapped pages would count as memory in use, and each costs a fault.
        """
        itemsize, (rows, width) = self.dtype.itemsize, self.shape(index)
        with open(folder / self.file_name(index), "rb", buffering=0) as file:
            start = file.seek(0, os.SEEK_END) - rows * width * itemsize  # after the header
            for i in range(rows):
                file.seek(start + (i * width + column - self.first_column(index)) * itemsize)
                if file.readinto(out[i]) != out[i].nbytes:
                    raise OSError(errno.EIO, f"tile {self.file_name(index)} is cut short")


def _cut(buffer, shape):
    """Return the beginning of a flat array as an array of this shape."""
    return buffer[: shape[0] * shape[1]].reshape(shape)


def _write_header(file, shape, dtype):
    """Write the header of a C-ordered ``.npy``."""
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
