"""A table of similarities or dissimilarities as the kernel itself."""

from dataclasses import dataclass

import numpy as np

from seqkern.core.errors import SequenceError
from seqkern.core.parameters import changed
from seqkern.kernels.base import Kernel
from seqkern.sequences.tables import SimilarityTable


@dataclass(frozen=True)
class PreparedTable:
    """Rows of a similarity table."""

    table: SimilarityTable

    def __len__(self):
        return len(self.table)

    def rows(self, start, stop):
        """Return units `start` to `stop` as a view."""
        return PreparedTable(self.table.take(slice(start, stop)))

    def diagonal(self):
        """Return float64 (n,): each unit with itself."""
        index = self.table.index
        return as_kernel_values(self.table.values[index, index], self.table.kind)


class PrecomputedKernel(Kernel):
    """Values of a square table: similarities as they are, dissimilarities D as −D²/2.

    −D²/2 is what makes distances a kernel: if D are the distances of points in a Euclidean space, −D²/2 with
    its rows and columns centred (the transform ``centre``) is their Gram matrix (Torgerson, Psychometrika 17,
    1952). It is not positive semi-definite before centring, nor after it if the space is not Euclidean; the
    transform ``repair`` makes it so, and the P-SVM needs neither.

    Raises
    ------
    SequenceError
        If rows and columns come from two tables, or the table is not symmetric.
    """

    name = "precomputed"
    summary = "The similarities that were given."
    accepts = "similarities"
    positive_semidefinite = False

    normalize: bool = changed(default=False, doc="Whether to divide by sqrt(K(x, x) K(y, y)); for similarities only.")

    @classmethod
    def examples(cls):
        """Return kernels for the contract suite."""
        return [cls(), cls(normalize=True)]

    def _prepare(self, X, like):
        square = X.block(X, X)
        odd = np.argwhere(square != square.T)
        if len(odd):
            i, j = odd[0]
            raise SequenceError(
                f"the table is not symmetric: {square[i, j]:g} and {square[j, i]:g} with {X.ids[j]!r}",
                record=X.ids[i],
                remedy="average the table with its transpose, or give its rows as features",
            )
        return PreparedTable(X)

    def _block(self, rows, cols, out):
        out[...] = as_kernel_values(SimilarityTable.block(rows.table, cols.table), rows.table.kind)


def as_kernel_values(values, kind):
    """Return similarities as they are, dissimilarities D as −D²/2."""
    return values if kind == "similarities" else -0.5 * values**2
