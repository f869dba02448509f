"""Rows and columns of a Gram matrix in a file, read when they are needed: for solvers that need few rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import GramError
from seqkern.gram.matrix_file import MatrixFile

BLOCK_BYTES = 64 * 2**20
"""Of the rows that are read at a time."""


class GramRows:
    """Rows and columns of a symmetric matrix in a file, none of which is in memory.

    Parameters
    ----------
    values : memmap of float64 or float32, shape (N, N)
        A whole matrix, as `seqkern.gram.matrix_file.is_whole_map` says, with rows one after the other.
    rows, columns : ndarray of int64, shapes (m,) and (n,)
        Which of them, in any order.
    room : int
        Bytes that a solver may use for rows that it keeps.

    Attributes
    ----------
    shape : tuple of int
        (m, n).
    square : bool
        Whether rows and columns are the same samples, so that column j is row j.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from seqkern.gram.gram_rows import GramRows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/gram.npy", np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 5.0], [0.0, 5.0, 3.0]]))
    ...     K = np.load(f"{folder}/gram.npy", mmap_mode="r")
    ...     part = GramRows(K, np.array([0, 2]), np.array([0, 2]), room=10**6)
    ...     part.row(1), part.sums(np.array([0, 1]), np.array([1.0, -1.0]))
    (array([0., 3.]), array([ 2., -3.]))
    """

    ndim = 2

    def __init__(
        self, values: np.memmap, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64], room: int
    ) -> None:
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
        """Raise GramError unless the matrix is symmetric: one that `open_gram` has verified is by construction."""
        if not hasattr(self.values, "origin") and not self.file.is_symmetric(BLOCK_BYTES // 8):
            raise GramError(
                "the matrix is not exactly symmetric", file=str(self.file.path), remedy="store (K + Kᵀ) / 2"
            )

    def take(self, which: npt.NDArray[np.int64]) -> GramRows:
        """Return the square part of some samples of a square one.

        Parameters
        ----------
        which : ndarray of int64
            Rows and columns.

        Returns
        -------
        GramRows
        """
        return GramRows(self.values, self.rows[which], self.columns[which], self.room)

    def row(self, i: int) -> npt.NDArray[Any]:
        """Return a row, of the file's dtype.

        Parameters
        ----------
        i : int
            Which of the m rows.

        Returns
        -------
        ndarray, shape (n,)

        Raises
        ------
        GramError
            If it contains NaN or inf.
        """
        self.file.read_row(int(self.rows[i]), self._read)
        row = self._read[self.columns]
        self._check_finite(row, i)
        return row

    def diagonal(self) -> npt.NDArray[np.float64]:
        """Return the diagonal of a square part, shape (m,)."""
        return self.file.diagonal(self.rows)

    def blocks(self, which: npt.NDArray[np.int64]) -> Iterator[tuple[slice, npt.NDArray[np.float64]]]:
        """Yield some columns of one block of rows after the other.

        Parameters
        ----------
        which : ndarray of int64, shape (s,)
            Which of the n columns.

        Yields
        ------
        rows : slice
            Which rows.
        block : ndarray of float64, shape (rows, s)
            Their numbers.

        Raises
        ------
        GramError
            If they contain NaN or inf.
        """
        columns = self.columns[which]
        step = max(1, BLOCK_BYTES // (8 * max(1, len(columns))))
        for start in range(0, len(self.rows), step):
            block = np.empty((min(step, len(self.rows) - start), len(columns)))
            for place in range(len(block)):
                self.file.read_row(int(self.rows[start + place]), self._read)
                block[place] = self._read[columns]
                self._check_finite(block[place], start + place)
            yield slice(start, start + len(block)), block

    def sums(self, which: npt.NDArray[np.int64], weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return Σ_j K[i, which[j]] · weights[j] of each row i, added up in this order.

        Of a square part the rows `which` are read, of others all rows.

        Parameters
        ----------
        which : ndarray of int64, shape (s,)
            Which of the columns.
        weights : ndarray of float64, shape (s,)
            The factor of each of them.

        Returns
        -------
        ndarray of float64, shape (m,)
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

    def _check_finite(self, row: npt.NDArray[Any], i: int) -> None:
        """Raise GramError if a row has NaN or inf."""
        if not np.isfinite(row).all():
            raise GramError(
                f"row {self.rows[i]} of the matrix contains NaN or inf",
                file=str(self.file.path),
                remedy="compute the matrix again",
            )
