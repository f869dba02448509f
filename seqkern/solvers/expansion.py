"""A decision that is a sum over training rows: Σ c_i K(x, x_i) + b."""

import numpy as np

from seqkern.solvers import _linear
from seqkern.solvers.base import Solver


class KernelExpansion(Solver):
    """Base of solvers whose decision is linear in the row of the kernel matrix.

    Attributes
    ----------
    dual_coef_ : ndarray of float64, shape (s,)
        After `fit`: c_i of the rows in `support_`.
    intercept_ : float
        b.
    """

    def _keep(self, coefficients, intercept):
        """Set what `fit` learned from one coefficient for every training row."""
        self.support_ = np.flatnonzero(coefficients).astype(np.int64)
        self.dual_coef_ = np.ascontiguousarray(coefficients[self.support_])
        self.intercept_ = float(intercept)

    def _decide(self, K, columns):
        """Return Σ c_i K(x, x_i) + b."""
        return weighted_sums(K, columns, self.dual_coef_, self.intercept_)

    def linear(self):
        """Return (coefficients, constant): c_i in their columns, and b."""
        return self._on_columns(self.dual_coef_), self.intercept_

    def fitted_state(self):
        """Return the intercept and the coefficients."""
        return {"intercept": self.intercept_}, {"coef": self.dual_coef_}

    def restore_fitted(self, header, arrays):
        """Set what `fitted_state` returned."""
        self.intercept_ = header["intercept"]
        self.dual_coef_ = arrays["coef"]


def weighted_sums(K, columns, weights, constant=0.0):
    """Return Σ_j K[i, columns[j]] · weights[j] + constant of each row i, float64 (m,)."""
    out = np.empty(len(K))
    _linear.decide(K, columns, np.zeros(len(columns)), weights, constant, out)
    return out
