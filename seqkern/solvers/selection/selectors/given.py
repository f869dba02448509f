"""A selector that learns nothing: features that were chosen before."""

import numpy as np

from seqkern.solvers.selection.selectors.base import Selector


class GivenSelector(Selector):
    """Choose given features, in the order given; it has no name in configs.

    Parameters
    ----------
    columns : array_like of int, shape (m,)
        The best first.
    n_features : int or None
    """

    plain = "Features that were chosen before."
    targets = ("binary", "multiclass", "real")

    def __init__(self, columns, *, n_features=None):
        self.columns = columns
        self.n_features = n_features

    def _fit(self, X, y):
        """Return m, m − 1, … for the given columns, −inf for the others."""
        scores = np.full(X.shape[1], -np.inf)
        scores[np.asarray(self.columns)] = np.arange(len(self.columns), 0, -1)
        return scores
