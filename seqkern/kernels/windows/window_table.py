"""Vectors of overlapping windows.

Windows around neighbouring residues are views of the same chain. Each used position is encoded once; the vector φ of a
window is a contiguous run of the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from seqkern.kernels.feature_blocks import BLOCK_ROWS
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet


class Coding(Protocol):
    """Encoding of a residue as numbers, such as a `LetterCoding`."""

    def columns(self, alphabet: Alphabet) -> list[str]:
        """Return the names of the columns.

        Parameters
        ----------
        alphabet : Alphabet
            That of the windows.

        Returns
        -------
        list of str
        """

    def vectors(self, X: SequenceSet, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the encoding of some residues.

        Parameters
        ----------
        X : SequenceSet
            The windows.
        positions : ndarray of int64, shape (p,)
            Indices into ``X.codes``.

        Returns
        -------
        ndarray of float64, shape (p, columns)
        """


@dataclass(frozen=True, eq=False)
class WindowTable:
    """The vectors φ of n windows, with each position stored once.

    Attributes
    ----------
    values : ndarray of float32 or float64, shape (positions, columns)
        The encoding of each used position.
    starts : ndarray of int64, shape (n,)
        Start of each window among them.
    factors : ndarray of float64, shape (length,)
        Square roots of the position weights.

    Examples
    --------
    Two windows of two positions that share the middle one:

    >>> table = WindowTable(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 1]), np.ones(2))
    >>> table.gather()
    array([[1., 0., 0., 1.],
           [0., 1., 1., 0.]])
    """

    values: npt.NDArray[np.floating[Any]]
    starts: npt.NDArray[np.int64]
    factors: npt.NDArray[np.float64]

    @classmethod
    def of(
        cls, X: SequenceSet, coding: Coding, weights: npt.NDArray[np.float64], dtype: npt.DTypeLike = np.float64
    ) -> Self:
        """Return the table of windows of one length.

        Parameters
        ----------
        X : SequenceSet
            The windows.
        coding : Coding
            Encoding of a residue as numbers.
        weights : ndarray of float64, shape (length,)
            Weights of the positions of a window.
        dtype : {float64, float32}
            Of the table.

        Returns
        -------
        WindowTable
        """
        positions, starts = X.used_positions()
        values = coding.vectors(X, positions).astype(dtype, copy=False)
        return cls(np.ascontiguousarray(values), starts, np.sqrt(weights))

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def width(self) -> int:
        """The number of coordinates of a vector."""
        return len(self.factors) * self.values.shape[1]

    def gather(self, rows: Any = slice(None)) -> npt.NDArray[np.floating[Any]]:
        """Return φ of some windows.

        Parameters
        ----------
        rows : slice or integer array
            Which; by default all.

        Returns
        -------
        ndarray, shape (m, width)
            C-ordered, of the dtype of `values`.
        """
        starts, columns = self.starts[rows], self.values.shape[1]
        if not len(starts) or not self.width:
            return np.zeros((len(starts), self.width), dtype=self.values.dtype)
        runs = np.lib.stride_tricks.sliding_window_view(self.values.reshape(-1), self.width)
        vectors = runs[starts * columns]
        if (self.factors != 1).any():
            vectors *= np.repeat(self.factors, columns).astype(vectors.dtype)
        return vectors


class LetterCoding:
    """Base of encodings by letter: a subclass defines `lookup` and `columns`."""

    def lookup(self, alphabet: Alphabet) -> npt.NDArray[np.float64]:
        """Return the encoding of each letter.

        Parameters
        ----------
        alphabet : Alphabet
            That of the windows.

        Returns
        -------
        ndarray of float64, shape (size + 1, columns)
            The last row is for masked residues.
        """
        raise NotImplementedError

    def columns(self, alphabet: Alphabet) -> list[str]:
        """Return the names of the columns.

        Parameters
        ----------
        alphabet : Alphabet
            That of the windows.

        Returns
        -------
        list of str
        """
        raise NotImplementedError

    def vectors(self, X: SequenceSet, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the encoding of some residues.

        Parameters
        ----------
        X : SequenceSet
            The windows.
        positions : ndarray of int64, shape (p,)
            Indices into ``X.codes``.

        Returns
        -------
        ndarray of float64, shape (p, columns)
        """
        return self.lookup(X.alphabet)[np.minimum(X.codes[positions], X.alphabet.size)]


def total_variance(table: WindowTable) -> float:
    """Return the mean of ‖φ − mean‖² over the vectors of a table, in one pass over blocks of them.

    Parameters
    ----------
    table : WindowTable
        The vectors.

    Returns
    -------
    float

    Examples
    --------
    >>> total_variance(WindowTable(np.array([[1.0], [3.0], [5.0]]), np.array([0, 1]), np.ones(2)))
    2.0
    """
    first = table.gather(slice(0, 1)).sum(axis=0)
    total, sums = 0.0, np.zeros(table.width)
    for start in range(0, len(table), BLOCK_ROWS):
        vectors = table.gather(slice(start, start + BLOCK_ROWS)) - first
        total += float(np.einsum("ij,ij->", vectors, vectors))
        sums += vectors.sum(axis=0)
    n = max(len(table), 1)
    return total / n - float(((sums / n) ** 2).sum())
