"""A selector that learns nothing: features that were chosen before."""

from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import anything
from seqkern.solvers.selection.selectors.base import Selector


class GivenSelector(Selector):
    """Choose given features, in the order given; it has no name in configs."""

    summary = "Features that were chosen before."
    targets = ("binary", "multiclass", "real")

    columns: Any = anything(kw_only=False, doc="The best first.")

    def _fit(self, X: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return m, m − 1, … for the given columns, −inf for the others."""
        scores = np.full(X.shape[1], -np.inf)
        scores[np.asarray(self.columns)] = np.arange(len(self.columns), 0, -1)
        return scores
