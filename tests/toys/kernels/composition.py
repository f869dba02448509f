"""A kernel as small as one can be: how many letters of each kind two sequences have."""

from dataclasses import dataclass

import numpy as np

from seqkern.kernels.kernel import Kernel
from seqkern.sequences.alphabets import MASK


@dataclass(frozen=True)
class Compositions:
    """How often each letter occurs in each sequence."""

    counts_of_letters: np.ndarray

    def __len__(self):
        return len(self.counts_of_letters)

    def rows(self, start, stop):
        """Return sequences `start` to `stop` as a view."""
        return Compositions(self.counts_of_letters[start:stop])

    def diagonal(self):
        """Return float64 (n,): each sequence with itself."""
        return np.sum(self.counts_of_letters**2, axis=1)


class CompositionKernel(Kernel):
    """Product of the numbers of each letter."""

    name = "toy-composition"

    def _prepare(self, X, like):
        counts = np.zeros((len(X), X.alphabet.size))
        for row, (start, stop) in enumerate(zip(X.starts, X.stops, strict=True)):
            codes = X.codes[start:stop]
            counts[row] = np.bincount(codes[codes != MASK], minlength=X.alphabet.size)
        return Compositions(counts)

    def _block(self, rows, cols, out):
        out[:] = np.sum(rows.counts_of_letters[:, None] * cols.counts_of_letters[None], axis=2)
