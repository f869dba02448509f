"""The precomputed kernel: a table of similarities or dissimilarities."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.core.parameters import changed
from seqkern.kernels.kernel import Kernel
from seqkern.sequences.tables import SimilarityTable


@dataclass(frozen=True)
class PreparedTable:
    """Rows of a similarity table."""

    table: SimilarityTable

    def __len__(self) -> int:
        return len(self.table)

    def rows(self, start: int, stop: int) -> "PreparedTable":
        """Return some of the samples, as a view.

        Parameters
        ----------
        start, stop : int
            Samples `start` to `stop` − 1.

        Returns
        -------
        PreparedTable
        """
        return PreparedTable(self.table.take(slice(start, stop)))

    def diagonal(self) -> npt.NDArray[np.float64]:
        """Return float64 (n,): each sample with itself."""
        index = self.table.index
        return as_kernel_values(self.table.values[index, index], self.table.kind)


class PrecomputedKernel(Kernel):
    """Precomputed kernel: a table of similarities or dissimilarities.

    It suits similarities or distances computed elsewhere.

    Raises
    ------
    SequenceError
        If rows and columns come from two tables, or the table is not symmetric.

    Notes
    -----
    Similarities S are used as they are, dissimilarities D as −D²/2:

    .. math:: K(x, y) = S(x, y)  or  K(x, y) = −D(x, y)^2 / 2

    If D are distances of points in a Euclidean space, −D²/2 with its rows and columns centred (the transform
    ``centre``) is their Gram matrix.

    Complexity: O(1) per pair.

    Definiteness: depends on the table. −D²/2 is not positive semi-definite before centring, nor after it if the space
    is not Euclidean; the transform ``repair`` makes it so. The P-SVM needs neither.

    References
    ----------
    Torgerson: Multidimensional scaling: I. Theory and method. Psychometrika 17, 1952.

    Examples
    --------
    >>> from seqkern.kernels import PrecomputedKernel
    >>> from seqkern.sequences.tables import SimilarityTable
    >>> table = SimilarityTable([[0.0, 3.0], [3.0, 0.0]], kind="dissimilarities")
    >>> PrecomputedKernel()(table)
    array([[-0. , -4.5],
           [-4.5, -0. ]])
    """

    name = "precomputed"
    summary = "Similarities or distances from a table."
    accepts = "similarities"
    positive_semidefinite = False

    normalize: bool = changed(default=False, doc="Divide by sqrt(K(x, x)·K(y, y)); for similarities only.")

    @classmethod
    def examples(cls) -> list["PrecomputedKernel"]:
        """Return kernels for the contract suite."""
        return [cls(), cls(normalize=True)]

    def _prepare(self, X: SimilarityTable, like: PreparedTable | None) -> PreparedTable:
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

    def _block(self, rows: PreparedTable, cols: PreparedTable, out: npt.NDArray[np.float64]) -> None:
        out[...] = as_kernel_values(SimilarityTable.block(rows.table, cols.table), rows.table.kind)


def as_kernel_values(values: npt.NDArray[np.float64], kind: str) -> npt.NDArray[np.float64]:
    """Return similarities as they are, dissimilarities D as −D²/2.

    Parameters
    ----------
    values : ndarray of float64
        Values of a table.
    kind : {"similarities", "dissimilarities"}
        The kind of the table.

    Returns
    -------
    ndarray of float64
        Of the same shape.

    Examples
    --------
    >>> as_kernel_values(np.array([1.0, 3.0]), "dissimilarities")
    array([-0.5, -4.5])
    """
    return values if kind == "similarities" else -0.5 * values**2
