"""A Gram matrix, in memory or mapped."""

import math
import mmap
import os
import warnings
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, TypeGuard

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from seqkern.core.errors import GramError
from seqkern.core.types import Array, Floats, Ints, Rows

# Memory maps of whole matrices in ``.npy`` files, and the identity of the mapped files.


def map_matrix(file: IO[bytes]) -> np.memmap:
    """Return a memory map of the whole matrix in an open ``.npy`` file."""
    shape, by_columns, dtype = _read_header(file)
    offset, size = file.tell(), math.prod(shape) * dtype.itemsize
    if len(shape) != 2 or by_columns or dtype.hasobject or os.fstat(file.fileno()).st_size != offset + size:
        raise ValueError("not a whole matrix")
    mapped = np.memmap(file, dtype=dtype, mode="r", offset=offset, shape=shape)
    mapped.origin = _inode(file)  # type: ignore[attr-defined]
    return mapped


def _read_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return the shape, whether stored by columns, and the dtype of a ``.npy``; ValueError if damaged."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # NumPy repairs what Python 2 wrote, which we did not
            readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
            return readers[npy.read_magic(file)](file)
    except OSError:
        raise
    except Exception as error:  # whatever parsers raise
        raise ValueError("not the header of a matrix") from error


def open_mapped(mapped: np.memmap) -> IO[bytes]:
    """Open the file of a memory map for reading; raise GramError if it was replaced."""
    return open_same(mapped.filename, getattr(mapped, "origin", None))


def open_same(path: Any, origin: tuple[int, int] | None) -> IO[bytes]:
    """Open a file for reading; raise GramError if its device and inode differ from `origin`."""
    file = open(path, "rb", buffering=0)  # noqa: SIM115
    if origin is None or _inode(file) == origin:
        return file
    file.close()
    raise GramError("was replaced by another process while it was in use", file=path, remedy="repeat the command")


def _inode(file: IO[bytes]) -> tuple[int, int]:
    """Return the device and the inode of an open file."""
    found = os.fstat(file.fileno())
    return found.st_dev, found.st_ino


def is_whole_map(K: Any) -> TypeGuard[np.memmap]:
    """Return whether `K` is a memory map of a whole float64 or float32 matrix file, as `np.load` makes it."""
    return (
        isinstance(K, np.memmap)
        and isinstance(K.base, mmap.mmap)
        and K.ndim == 2
        and K.dtype in (np.float64, np.float32)
        and K.dtype.isnative
        and (K.flags.c_contiguous or K.flags.f_contiguous)
    )


# A matrix in a file, read row by row without mapping, so that only requested data uses memory.

MIB = 2**20


@dataclass(eq=False)
class MatrixFile:
    """A matrix in a file, or a selection of its rows and columns."""

    path: Any
    offset: int
    dtype: np.dtype[Any]
    stored: tuple[int, int]  # The shape of the whole matrix
    rows: Ints | None = None
    columns: Ints | None = None
    origin: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        chosen = zip(self.stored, (self.rows, self.columns), strict=True)
        self.shape = tuple(n if some is None else len(some) for n, some in chosen)
        self._file: Any = open_same(self.path, self.origin)
        weakref.finalize(self, self._file.close)

    @classmethod
    def of(cls, mapped: np.memmap) -> "MatrixFile":
        """Return the MatrixFile of a memory map, transposed if the matrix is stored by columns."""
        by_columns = not mapped.flags.c_contiguous
        shape = mapped.shape[::-1] if by_columns else mapped.shape
        return cls(mapped.filename, mapped.offset, mapped.dtype, shape, origin=getattr(mapped, "origin", None))

    def part(self, rows: Ints | None = None, columns: Ints | None = None) -> "MatrixFile":
        """Return the same file restricted to fewer rows and columns."""
        rows, columns = _pick(self.rows, rows), _pick(self.columns, columns)
        return MatrixFile(self.path, self.offset, self.dtype, self.stored, rows, columns, self.origin)

    def blocks(self, size: int) -> Iterator[tuple[slice, Floats]]:
        """Yield consecutive blocks of rows, as (rows, block)."""
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

    def take(self, which: Ints) -> Floats:
        """Return some rows."""
        out = np.empty((len(which), self.shape[1]))
        for place in np.argsort(which, kind="stable"):  # in the order of the file
            row = which[place] if self.rows is None else self.rows[which[place]]
            out[place] = self._picked(self._read(row, row + 1))[0]
        return out

    def read_row(self, row: int, out: Array) -> None:
        """Read a whole row of the stored matrix into `out`."""
        self._fill(out, row * self.stored[1])

    def diagonal(self, which: Ints) -> Floats:
        """Return the diagonal elements of the stored matrix in some rows."""
        out = np.empty(len(which), dtype=self.dtype)
        for place, row in enumerate(which):
            self._fill(out[place : place + 1], row * (self.stored[1] + 1))
        return out.astype(np.float64)

    def is_symmetric(self, size: int) -> bool:
        """Return whether a square matrix is exactly symmetric."""
        n = self.stored[0]
        side = max(1, min(n, int((size // 2) ** 0.5)))
        for top in range(0, n, side):
            for left in range(0, top + 1, side):
                one = self._tile(top, left, side)
                if not np.array_equal(one, one.T if top == left else self._tile(left, top, side).T):
                    return False
        return True

    def _tile(self, top: int, left: int, side: int) -> Array:
        """Return a tile of the stored matrix."""
        bottom, right = min(top + side, self.stored[0]), min(left + side, self.stored[1])
        out = np.empty((bottom - top, right - left), dtype=self.dtype)
        for row, values in zip(range(top, bottom), out, strict=True):
            self._fill(values, row * self.stored[1] + left)
        return out

    def _read(self, start: int, stop: int) -> Array:
        """Return whole rows of the stored matrix."""
        out = np.empty((stop - start, self.stored[1]), dtype=self.dtype)
        self._fill(out, start * self.stored[1])
        return out

    def _fill(self, out: Array, first: int) -> None:
        """Fill a contiguous array from the file, starting at number `first`."""
        self._file.seek(self.offset + int(first) * self.dtype.itemsize)
        view = out.data.cast("B")
        while len(view):
            count = self._file.readinto(view)
            if not count:
                raise EOFError(f"{self.path} ends within the matrix")
            view = view[count:]

    def _picked(self, rows: Array) -> Floats:
        """Return the selected columns of some rows, as contiguous float64."""
        rows = rows if self.columns is None else rows[:, self.columns]
        return np.ascontiguousarray(rows, dtype=np.float64)


def _pick(have: Ints | None, which: Ints | None) -> Ints | None:
    """Return the indices into the stored matrix for indices into a selection from it."""
    if which is None or have is None:
        return which if have is None else have
    return have[which]


SLICE_ROWS = 256


@dataclass(frozen=True)
class GramMatrix:
    """A kernel matrix with its diagonals and a description of its origin.

    Attributes
    ----------
    values : ndarray or memmap of float64 or float32, shape (n, m)
    row_diagonal : ndarray of float64, shape (n,)
        K(x, x) of each row's record.
    col_diagonal : ndarray of float64, shape (m,)
        K(x, x) of each column's record.
    meta : dict
        Kernel, digests of the data, dtype, versions, and `counts` of the kernel's policies.

    Examples
    --------
    >>> from seqkern.gram import compute_gram
    >>> from seqkern.kernels import SpectrumKernel
    >>> gram = compute_gram(SpectrumKernel(k=1, normalize=False), ["AAC", "GG", "CGT"], ["ACGT", "GGG"])
    >>> gram.shape, gram.row_diagonal, gram.col_diagonal
    ((3, 2), array([5., 4., 3.]), array([4., 9.]))
    >>> gram.slice([2, 0], slice(0, 1))
    array([[3.],
           [3.]])
    """

    values: npt.NDArray[np.floating[Any]]
    row_diagonal: Floats
    col_diagonal: Floats
    meta: dict[str, Any]

    @property
    def shape(self) -> tuple[int, int]:
        """The shape (n, m)."""
        rows, cols = self.values.shape
        return rows, cols

    def slice(self, rows: Rows, cols: Rows) -> Floats:
        """Return rows × columns of the matrix, copied into memory.

        Parameters
        ----------
        rows, cols : array_like of int64, boolean mask, or slice
            The selected samples.

        Returns
        -------
        ndarray of float64, shape (len(rows), len(cols)), C order
        """
        rows, cols = np.arange(self.shape[0])[rows], np.arange(self.shape[1])[cols]
        out = np.empty((len(rows), len(cols)))
        if is_whole_map(self.values) and self.values.flags.c_contiguous:
            # read instead of mapped: pages of a map that were touched count as memory of the process
            file = MatrixFile.of(self.values)
            row = np.empty(self.shape[1], dtype=self.values.dtype)
            for place, which in enumerate(rows):
                file.read_row(int(which), row)
                out[place] = row[cols]
            return out
        for start in range(0, len(rows), SLICE_ROWS):  # bounds the copy of whole rows
            block = rows[start : start + SLICE_ROWS]
            out[start : start + SLICE_ROWS] = np.take(self.values[block], cols, axis=1)
        return out


# Rows and columns of a Gram matrix file, read on demand, for solvers that need few rows at a time.

BLOCK_BYTES = 64 * 2**20
"""Bytes of the rows that are read at a time."""


class GramRows:
    """Selected rows and columns of a symmetric matrix in a file, never kept in memory."""

    ndim = 2

    def __init__(self, values: np.memmap, rows: Ints, columns: Ints, room: int) -> None:
        self.values = values
        self.file = MatrixFile.of(values)
        self.rows = np.asarray(rows, dtype=np.int64)
        self.columns = np.asarray(columns, dtype=np.int64)
        self.room = room
        self.shape = (len(self.rows), len(self.columns))
        self.square = np.array_equal(self.rows, self.columns)
        self._read = np.empty(self.file.stored[1], dtype=self.file.dtype)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def check_symmetric(self) -> None:
        """Raise GramError unless the matrix is symmetric; a matrix verified by `open_gram` is symmetric by
        construction.
        """
        if not hasattr(self.values, "origin") and not self.file.is_symmetric(BLOCK_BYTES // 8):
            raise GramError(
                "the matrix is not exactly symmetric", file=str(self.file.path), remedy="store (K + Kᵀ) / 2"
            )

    def take(self, which: Ints) -> "GramRows":
        """Return the square part for a subset of the samples of a square matrix."""
        return GramRows(self.values, self.rows[which], self.columns[which], self.room)

    def row(self, i: int) -> Array:
        """Return a row, of the file's dtype."""
        self.file.read_row(int(self.rows[i]), self._read)
        row = self._read[self.columns]
        self._check_finite(row, i)
        return row

    def diagonal(self) -> Floats:
        """Return the diagonal of a square part, shape (m,)."""
        return self.file.diagonal(self.rows)

    def blocks(self, which: Ints) -> Iterator[tuple[slice, Floats]]:
        """Yield the selected columns in blocks of rows, as (rows, block) with a block of shape (rows, s)."""
        columns = self.columns[which]
        step = max(1, BLOCK_BYTES // (8 * max(1, len(columns))))
        for start in range(0, len(self.rows), step):
            block = np.empty((min(step, len(self.rows) - start), len(columns)))
            for place in range(len(block)):
                self.file.read_row(int(self.rows[start + place]), self._read)
                block[place] = self._read[columns]
                self._check_finite(block[place], start + place)
            yield slice(start, start + len(block)), block

    def sums(self, which: Ints, weights: Floats) -> Floats:
        """Return Σ_j K[i, which[j]] · weights[j] for each row i, summed in this order, shape (m,).

        For a square part only the rows `which` are read, otherwise all rows.
        """
        out = np.zeros(len(self.rows))
        if self.square:
            for j, weight in zip(which, weights, strict=True):
                out += self.row(int(j)).astype(np.float64) * weight
            return out
        for rows, block in self.blocks(which):
            for j, weight in enumerate(weights):
                out[rows] += block[:, j] * weight
        return out

    def _check_finite(self, row: Array, i: int) -> None:
        """Raise GramError if a row has NaN or inf."""
        if not np.isfinite(row).all():
            raise GramError(
                f"row {self.rows[i]} of the matrix contains NaN or inf",
                file=str(self.file.path),
                remedy="compute the matrix again",
            )
