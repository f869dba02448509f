"""A selector of given features."""

from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import anything
from seqkern.solvers.selection.selectors.selector import Selector


class GivenSelector(Selector):
    """Select given features, in the given order; it has no name in configurations.

    Examples
    --------
    >>> from seqkern.solvers.selection.selectors.given import GivenSelector
    >>> X, y = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]], [1, 1, 0, 0]
    >>> GivenSelector([2, 0]).fit(X, y).ranking_
    array([2, 3, 1])
    """

    summary = "Features that were chosen before."
    targets = ("binary", "multiclass", "real")

    columns: Any = anything(kw_only=False, doc="The features, best first.")

    def _fit(self, X: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return m, m − 1, … for the given columns, −inf for the others."""
        scores = np.full(X.shape[1], -np.inf)
        scores[np.asarray(self.columns)] = np.arange(len(self.columns), 0, -1)
        return scores
