"""Vectors of windows that share their letters.

Windows around neighbouring residues are views of the same letters. The numbers of a letter are computed once, for the
positions that some window uses; as the numbers of a window follow each other in the table, its vector φ is a copy of a
run of it.
"""

from dataclasses import dataclass

import numpy as np

from seqkern.kernels.feature_blocks import BLOCK_ROWS


@dataclass(frozen=True, eq=False)
class WindowTable:
    """The vectors φ of n windows, those of each position once.

    Attributes
    ----------
    values : ndarray of float32 or float64, shape (positions, columns)
        The numbers of each position that a window uses.
    starts : ndarray of int64, shape (n,)
        Where a window starts among them.
    factors : ndarray of float64, shape (length,)
        Square roots of the weights of a window's positions.
    """

    values: np.ndarray
    starts: np.ndarray
    factors: np.ndarray

    @classmethod
    def of(cls, X, coding, weights, dtype=np.float64):
        """Return the table of windows of one length.

        Parameters
        ----------
        X : SequenceSet
        coding : object
            ``coding.vectors(X, positions)`` returns the numbers at positions of ``X.codes``, float64 (p, columns).
        weights : ndarray of float64, shape (length,)
            Of the positions of a window.
        dtype : {float64, float32}
        """
        positions, starts = X.used_positions()
        values = coding.vectors(X, positions).astype(dtype, copy=False)
        return cls(np.ascontiguousarray(values), starts, np.sqrt(weights))

    def __len__(self):
        return len(self.starts)

    @property
    def width(self):
        """The number of coordinates of a vector."""
        return len(self.factors) * self.values.shape[1]

    def gather(self, rows=slice(None)):
        """Return φ of the windows `rows` (slice or integer array), C-ordered, of the dtype of `values`."""
        starts, columns = self.starts[rows], self.values.shape[1]
        if not len(starts) or not self.width:
            return np.zeros((len(starts), self.width), dtype=self.values.dtype)
        runs = np.lib.stride_tricks.sliding_window_view(self.values.reshape(-1), self.width)
        vectors = runs[starts * columns]
        if (self.factors != 1).any():
            vectors *= np.repeat(self.factors, columns).astype(vectors.dtype)
        return vectors


class LetterCoding:
    """Base of what knows the numbers of a letter, by the letter alone: a subclass writes `lookup` and `columns`."""

    def lookup(self, alphabet):
        """Return the numbers of each letter and, in the last row, of a masked one, float64 (size + 1, columns)."""
        raise NotImplementedError

    def columns(self, alphabet):
        """Return the names of the numbers, one str each."""
        raise NotImplementedError

    def vectors(self, X, positions):
        """Return the numbers of the letters at positions of ``X.codes``, float64 (p, columns)."""
        return self.lookup(X.alphabet)[np.minimum(X.codes[positions], X.alphabet.size)]


def total_variance(table):
    """Return the mean of ‖φ − mean‖² over the vectors of a table, float64, in one pass over blocks of them."""
    first = table.gather(slice(0, 1)).sum(axis=0)
    total, sums = 0.0, np.zeros(table.width)
    for start in range(0, len(table), BLOCK_ROWS):
        vectors = table.gather(slice(start, start + BLOCK_ROWS)) - first
        total += float(np.einsum("ij,ij->", vectors, vectors))
        sums += vectors.sum(axis=0)
    n = max(len(table), 1)
    return total / n - float(((sums / n) ** 2).sum())
