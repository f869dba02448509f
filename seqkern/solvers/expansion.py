"""Kernel expansions: decisions Σ c_i K(x, x_i) + b over training rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.types import Arrays, Header
from seqkern.gram.matrix import GramRows
from seqkern.solvers import _linear
from seqkern.solvers.contract import Solver


class KernelExpansion(Solver):
    """Base of solvers whose decision is linear in the row of the kernel matrix: `dual_coef_`, `intercept_`."""

    def _keep(self, coefficients: npt.NDArray[np.float64], intercept: float) -> None:
        """Set the fitted attributes, given a coefficient for every training row."""
        self.support_ = np.flatnonzero(coefficients).astype(np.int64)
        self.dual_coef_: npt.NDArray[np.float64] = np.ascontiguousarray(coefficients[self.support_])
        self.intercept_ = float(intercept)

    def _decide(self, K: Any, columns: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the decisions Σ c_i K(x, x_i) + b."""
        return weighted_sums(K, columns, self.dual_coef_, self.intercept_)

    def linear(self) -> tuple[npt.NDArray[np.float64], float]:
        """Return (coefficients, constant) of the decision: c_i on their columns, and b."""
        return self._on_columns(self.dual_coef_), self.intercept_

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return the intercept and the coefficients."""
        return {"intercept": self.intercept_}, {"coef": self.dual_coef_}

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore the attributes from the output of `fitted_state`."""
        self.intercept_ = header["intercept"]
        self.dual_coef_ = arrays["coef"]


def weighted_sums(
    K: npt.NDArray[np.float64] | GramRows,
    columns: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float64],
    constant: float = 0.0,
) -> npt.NDArray[np.float64]:
    """Return Σ_j K[i, columns[j]] · weights[j] + constant of each row i; its bits depend on that row alone.

    >>> import numpy as np
    >>> from seqkern.solvers.expansion import weighted_sums
    >>> weighted_sums(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), np.array([0, 2]), np.array([1.0, -1.0]), 0.5)
    array([-1.5, -1.5])
    """
    if isinstance(K, GramRows):
        return K.sums(columns, weights) + constant
    out = np.empty(len(K))
    _linear.decide(K, columns, np.zeros(len(columns)), weights, constant, out)
    return out
