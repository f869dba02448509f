"""A matrix in a file, read row by row without mapping, so that only requested data use memory."""

import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.gram.mapped import open_same

MIB = 2**20


class MatrixFile:
    """A matrix, or some rows and columns of it, in a file.

    Parameters
    ----------
    path : path-like
        The file.
    offset : int
        Offset of the matrix, in bytes.
    dtype : numpy dtype
        Of the numbers in the file.
    shape : tuple of int
        Of the matrix in the file, rows one after the other.
    rows, columns : ndarray of int64, optional
        Rows and columns of this object, ascending; by default all.
    origin : tuple of int, optional
        Device and inode of the file, which must not have been replaced.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from seqkern.gram.matrix_file import MatrixFile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/matrix.npy", np.arange(12.0).reshape(4, 3))
    ...     file = MatrixFile.of(np.load(f"{folder}/matrix.npy", mmap_mode="r"))
    ...     file.take(np.array([2, 0]))
    ...     for rows, block in file.part(columns=np.array([0, 2])).blocks(size=12):
    ...         print(rows, block.tolist())
    array([[6., 7., 8.],
           [0., 1., 2.]])
    slice(0, 2, None) [[0.0, 2.0], [3.0, 5.0]]
    slice(2, 4, None) [[6.0, 8.0], [9.0, 11.0]]
    """

    def __init__(
        self,
        path: Any,
        offset: int,
        dtype: npt.DTypeLike,
        shape: tuple[int, int],
        rows: npt.NDArray[np.int64] | None = None,
        columns: npt.NDArray[np.int64] | None = None,
        origin: tuple[int, int] | None = None,
    ) -> None:
        self.path = path
        self.origin = origin
        self.offset = offset
        self.dtype = np.dtype(dtype)
        self.stored = shape
        self.rows = rows
        self.columns = columns
        self.shape = (shape[0] if rows is None else len(rows), shape[1] if columns is None else len(columns))
        self._file: Any = open_same(path, origin)
        weakref.finalize(self, self._file.close)

    @classmethod
    def of(cls, mapped: np.memmap) -> "MatrixFile":
        """Return the file of a memory map.

        Parameters
        ----------
        mapped : memmap
            Of a whole matrix: see `is_whole_map`.

        Returns
        -------
        MatrixFile
            Of the transposed matrix if it is stored by columns.
        """
        by_columns = not mapped.flags.c_contiguous
        shape = mapped.shape[::-1] if by_columns else mapped.shape
        return cls(mapped.filename, mapped.offset, mapped.dtype, shape, origin=getattr(mapped, "origin", None))

    def part(
        self, rows: npt.NDArray[np.int64] | None = None, columns: npt.NDArray[np.int64] | None = None
    ) -> "MatrixFile":
        """Return the same file with fewer rows and columns.

        Parameters
        ----------
        rows, columns : ndarray of int64, optional
            Rows and columns, ascending, relative to this object; by default all.

        Returns
        -------
        MatrixFile
        """
        rows, columns = _pick(self.rows, rows), _pick(self.columns, columns)
        return MatrixFile(self.path, self.offset, self.dtype, self.stored, rows, columns, self.origin)

    def blocks(self, size: int) -> Iterator[tuple[slice, npt.NDArray[np.float64]]]:
        """Yield one block of consecutive rows after the other.

        Parameters
        ----------
        size : int
            Maximum numbers in a block, including what is read for it, or one row.

        Yields
        ------
        rows : slice
            Which rows.
        block : ndarray of float64
            Their numbers.
        """
        wide = self.stored[1] * (1 if self.columns is None and self.dtype == np.float64 else 2)
        step = max(1, size // wide)
        start = 0
        while start < self.shape[0]:
            if self.rows is None:
                stop = min(start + step, self.shape[0])
                block = self._read(start, stop)
            else:
                # Skipped rows in between are read too, if they fit.
                stop = int(np.searchsorted(self.rows, self.rows[start] + step))
                first = self.rows[start]
                block = self._read(first, self.rows[stop - 1] + 1)
                if len(block) > stop - start:
                    block = block[self.rows[start:stop] - first]
            yield slice(start, stop), self._picked(block)
            start = stop

    def take(self, which: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return some rows.

        Parameters
        ----------
        which : ndarray of int64, shape (w,)
            Rows, in any order.

        Returns
        -------
        ndarray of float64, shape (w, columns)
        """
        out = np.empty((len(which), self.shape[1]))
        for place in np.argsort(which, kind="stable"):  # in the order of the file
            row = which[place] if self.rows is None else self.rows[which[place]]
            out[place] = self._picked(self._read(row, row + 1))[0]
        return out

    def read_row(self, row: int, out: npt.NDArray[Any]) -> None:
        """Read a whole row of the stored matrix.

        Parameters
        ----------
        row : int
            Of the stored matrix, whatever the rows of this object.
        out : ndarray, shape (columns of the stored matrix,)
            Contiguous, of the file's dtype.
        """
        self._fill(out, row * self.stored[1])

    def diagonal(self, which: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return elements of the diagonal of the stored matrix.

        Parameters
        ----------
        which : ndarray of int64, shape (w,)
            Their rows.

        Returns
        -------
        ndarray of float64, shape (w,)
        """
        out = np.empty(len(which), dtype=self.dtype)
        for place, row in enumerate(which):
            self._fill(out[place : place + 1], row * (self.stored[1] + 1))
        return out.astype(np.float64)

    def is_symmetric(self, size: int) -> bool:
        """Return whether a square matrix is exactly symmetric.

        Parameters
        ----------
        size : int
            Numbers read at a time.

        Returns
        -------
        bool
        """
        n = self.stored[0]
        side = max(1, min(n, int((size // 2) ** 0.5)))
        for top in range(0, n, side):
            for left in range(0, top + 1, side):
                one = self._tile(top, left, side)
                if not np.array_equal(one, one.T if top == left else self._tile(left, top, side).T):
                    return False
        return True

    def _tile(self, top: int, left: int, side: int) -> npt.NDArray[Any]:
        """Return a tile of the stored matrix."""
        bottom, right = min(top + side, self.stored[0]), min(left + side, self.stored[1])
        out = np.empty((bottom - top, right - left), dtype=self.dtype)
        for row, values in zip(range(top, bottom), out, strict=True):
            self._fill(values, row * self.stored[1] + left)
        return out

    def _read(self, start: int, stop: int) -> npt.NDArray[Any]:
        """Return whole rows of the stored matrix."""
        out = np.empty((stop - start, self.stored[1]), dtype=self.dtype)
        self._fill(out, start * self.stored[1])
        return out

    def _fill(self, out: npt.NDArray[Any], first: int) -> None:
        """Fill a contiguous array from the file, starting at number `first`."""
        self._file.seek(self.offset + int(first) * self.dtype.itemsize)
        view = out.data.cast("B")
        while len(view):
            count = self._file.readinto(view)
            if not count:
                raise EOFError(f"{self.path} ends within the matrix")
            view = view[count:]

    def _picked(self, rows: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return rows with the columns of this object, as contiguous float64."""
        rows = rows if self.columns is None else rows[:, self.columns]
        return np.ascontiguousarray(rows, dtype=np.float64)


def _pick(have: npt.NDArray[np.int64] | None, which: npt.NDArray[np.int64] | None) -> npt.NDArray[np.int64] | None:
    """Return the indices into the stored matrix of indices into a part of it."""
    if which is None or have is None:
        return which if have is None else have
    return have[which]
