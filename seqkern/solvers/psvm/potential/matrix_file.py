"""A matrix in a file, read row by row: nothing is mapped, so that only what was asked for takes memory."""

import mmap

import numpy as np

MIB = 2**20


def is_whole_map(K):
    """Return whether `K` is a memory map of a whole matrix in a file, of float64 or float32, as `np.load` makes it."""
    return (
        isinstance(K, np.memmap)
        and isinstance(K.base, mmap.mmap)
        and K.ndim == 2
        and K.dtype in (np.float64, np.float32)
        and K.dtype.isnative
        and (K.flags.c_contiguous or K.flags.f_contiguous)
    )


class MatrixFile:
    """A matrix, or some rows and columns of it, in a file.

    Parameters
    ----------
    path : path
    offset : int
        Where the matrix begins, in bytes.
    dtype : numpy dtype
    shape : tuple of int
        Of the matrix in the file, rows one after the other.
    rows, columns : ndarray of int64, optional
        Which ones this object is about, ascending; by default all.
    """

    def __init__(self, path, offset, dtype, shape, rows=None, columns=None):
        self.path = path
        self.offset = offset
        self.dtype = np.dtype(dtype)
        self.stored = shape
        self.rows = rows
        self.columns = columns
        self.shape = (shape[0] if rows is None else len(rows), shape[1] if columns is None else len(columns))
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115

    @classmethod
    def of(cls, mapped):
        """Return the file of a memory map; of one stored by columns, it is that of the transposed matrix."""
        by_columns = not mapped.flags.c_contiguous
        return cls(mapped.filename, mapped.offset, mapped.dtype, mapped.shape[::-1] if by_columns else mapped.shape)

    def part(self, rows=None, columns=None):
        """Return the same file with fewer rows and columns, ascending, numbered as here."""
        return MatrixFile(
            self.path, self.offset, self.dtype, self.stored, _pick(self.rows, rows), _pick(self.columns, columns)
        )

    def blocks(self, size):
        """Yield (slice, rows of it as float64), one block of consecutive rows after the other.

        Parameters
        ----------
        size : int
            A block, and what it takes to read it, have at most so many numbers, or one row.
        """
        wide = self.stored[1] * (1 if self.columns is None and self.dtype == np.float64 else 2)
        step = max(1, size // wide)
        start = 0
        while start < self.shape[0]:
            if self.rows is None:
                stop = min(start + step, self.shape[0])
                block = self._read(start, stop)
            else:
                # Rows that are left out between are read too, as long as they fit.
                stop = int(np.searchsorted(self.rows, self.rows[start] + step))
                first = self.rows[start]
                block = self._read(first, self.rows[stop - 1] + 1)
                if len(block) > stop - start:
                    block = block[self.rows[start:stop] - first]
            yield slice(start, stop), self._picked(block)
            start = stop

    def take(self, which):
        """Return the rows `which`, float64 (len(which), columns)."""
        out = np.empty((len(which), self.shape[1]))
        for place in np.argsort(which, kind="stable"):  # in the order of the file
            row = which[place] if self.rows is None else self.rows[which[place]]
            out[place] = self._picked(self._read(row, row + 1))[0]
        return out

    def is_symmetric(self, size):
        """Return whether a square matrix equals its transpose, bit for bit, reading `size` numbers at a time."""
        n = self.stored[0]
        side = max(1, min(n, int((size // 2) ** 0.5)))
        for top in range(0, n, side):
            for left in range(0, top + 1, side):
                one = self._tile(top, left, side)
                if not np.array_equal(one, one.T if top == left else self._tile(left, top, side).T):
                    return False
        return True

    def _tile(self, top, left, side):
        """Return a tile of the stored matrix."""
        bottom, right = min(top + side, self.stored[0]), min(left + side, self.stored[1])
        out = np.empty((bottom - top, right - left), dtype=self.dtype)
        for row, values in zip(range(top, bottom), out, strict=True):
            self._fill(values, row * self.stored[1] + left)
        return out

    def _read(self, start, stop):
        """Return whole rows of the stored matrix."""
        out = np.empty((stop - start, self.stored[1]), dtype=self.dtype)
        self._fill(out, start * self.stored[1])
        return out

    def _fill(self, out, first):
        """Fill a contiguous array with numbers of the file, from number `first` on."""
        self._file.seek(self.offset + int(first) * self.dtype.itemsize)
        view = memoryview(out).cast("B")
        while len(view):
            count = self._file.readinto(view)
            if not count:
                raise EOFError(f"{self.path} ends within the matrix")
            view = view[count:]

    def _picked(self, rows):
        """Return rows with the columns of this object, as contiguous float64."""
        rows = rows if self.columns is None else rows[:, self.columns]
        return np.ascontiguousarray(rows, dtype=np.float64)


def _pick(have, which):
    """Return the indices into the stored matrix of indices into a part of it."""
    if which is None or have is None:
        return which if have is None else have
    return have[which]
