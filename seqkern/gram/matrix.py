"""A Gram matrix, in memory or mapped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.types import Rows
from seqkern.gram.mapped import is_whole_map
from seqkern.gram.matrix_file import MatrixFile

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
    row_diagonal: npt.NDArray[np.float64]
    col_diagonal: npt.NDArray[np.float64]
    meta: dict[str, Any]

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m)."""
        rows, cols = self.values.shape
        return rows, cols

    def slice(self, rows: Rows, cols: Rows) -> npt.NDArray[np.float64]:
        """Return rows × columns of the matrix, copied into memory.

        Parameters
        ----------
        rows, cols : array_like of int64, boolean mask, or slice
            Which of the samples.

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
