"""Products with X Xᵀ, for features that are stored or computed in blocks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seqkern.kernels.kernel_operator import Floats, KernelOperator, Table
from seqkern.solvers.svm.primal_rows import Rows


class FeatureOperator(KernelOperator):
    """X Xᵀ as an operator; a table has one weight for each feature.

    Parameters
    ----------
    rows : Rows
        X, with a constant feature that is not used.
    chosen : ndarray of int64, shape (n,), optional
        Which rows, each once; by default all.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.svm.feature_operator import FeatureOperator
    >>> from seqkern.solvers.svm.primal_rows import Rows
    >>> FeatureOperator(Rows(np.array([[1.0, 2.0], [3.0, 4.0]]))).times([1.0, -1.0])
    array([ -6., -14.])
    """

    def __init__(self, rows: Rows, chosen: npt.NDArray[np.int64] | None = None) -> None:
        self.rows, self.chosen = rows, chosen
        self.squares = rows.lengths() if chosen is None else rows.lengths()[chosen]
        self.n_weights, self.tables, self.counts = rows.shape[1] - 1, rows, {}

    def take(self, rows: npt.ArrayLike) -> FeatureOperator:
        """Return the operator of some rows; see `KernelOperator.take`."""
        chosen = np.asarray(rows, dtype=np.int64)
        return FeatureOperator(self.rows, chosen if self.chosen is None else self.chosen[chosen])

    def collect(self, coefficients: npt.ArrayLike) -> Floats:
        """Return Xᵀ·coefficients."""
        values: Floats = np.asarray(coefficients, dtype=np.float64)
        if self.chosen is not None:
            every = np.zeros(self.rows.shape[0])
            every[self.chosen] = values
            values = every
        return self.rows.sums(values[None])[0, :-1]

    def dots(self, weights: Table, out: Floats | None = None, rows: npt.NDArray[np.int64] | None = None) -> Floats:
        """Return X·weights."""
        values = self.rows.dots(np.append(weights, 0.0)[None])[0]
        values = values if self.chosen is None else values[self.chosen]
        return np.multiply(values if rows is None else values[rows], 1.0, out=out)
