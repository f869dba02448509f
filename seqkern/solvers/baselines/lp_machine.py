"""The linear-programming machine: a soft margin and the sum of absolute weights."""

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import integer
from seqkern.solvers.base import BinarySolver
from seqkern.solvers.baselines.one_norm import solve_one_norm
from seqkern.solvers.feature_rows import gathered, order_by_content, weighted_features
from seqkern.solvers.shared import cost, random_seed


class LPMachine(BinarySolver):
    """Linear machine with the 1-norm of its weights, a linear program (scipy's HiGHS).

    It minimises ‖w‖₁ + C Σ_i ξ_i subject to y_i (w·x_i + b) ≥ 1 − ξ_i, ξ_i ≥ 0. Most weights are zero: at most as many
    are not as there are training rows.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (s,)
        The weights that are not zero, of the features `support_`.
    intercept_ : float
        b.
    report_ : dict
        ``gap`` is that between the program and its dual as a share of the primal value, ``residual`` the largest
        violation of the dual's |Σ_i α_i y_i x_ij| ≤ 1; ``units`` (int) how many rows it learned from.

    Notes
    -----
    Bennett & Mangasarian, Optim. Methods Softw. 1:23-34, 1992; Bradley & Mangasarian, ICML 1998. The features are taken
    as they are: one of a larger scale is cheaper. The rows are sorted by content first, so that of several optima the
    same is found in any order of them. Several classes: by `one_against_rest` or `pairwise_voting`.
    """

    name = "lp_machine"
    plain = "Linear-programming machine: a soft margin with few features, by the sum of the absolute weights."
    input = "features"
    takes_blocks = True

    C: float = cost("Cost of a margin error. The weights are all zero if it is small.")
    max_units: int = integer(
        default=5000,
        low=2,
        doc="Of more training rows than that so many are drawn: the program's time grows with their square or more.",
    )
    seed: int = random_seed("Of what is drawn.")

    @classmethod
    def default_grid(cls):
        """Return the values of C that a search tries."""
        return {"C": [0.01, 0.1, 1.0, 10.0]}

    def complexity(self):
        """Return (C,): the cheaper a margin error, the smoother the decision."""
        return (float(self.C),)

    @classmethod
    def examples(cls):
        """Return solvers that the contract suite tests."""
        return [cls(), cls(C=0.3, max_units=30)]

    def _fit(self, K, y):
        """Solve the program of the rows that are drawn."""
        drawn = order_by_content(K, y, self.seed)[: self.max_units]
        if len(np.unique(y[drawn])) < 2:
            raise ParameterError(f"max_units={self.max_units} leaves one class only", remedy="give a larger number")
        X = gathered(K, drawn).astype(np.float64, copy=False)
        found = solve_one_norm(X, y[drawn], float(self.C))
        self.support_ = np.flatnonzero(found.weights).astype(np.int64)
        self.coef_ = found.weights[self.support_]
        self.intercept_ = found.intercept
        return {
            "converged": True,
            "iterations": found.iterations,
            "residual": float(max(found.nearness.max() - 1.0, 0.0)),
            "objective": found.objective,
            "gap": found.gap,
            "units": len(drawn),
        }

    def _decide(self, K, columns):
        """Return w·x + b."""
        return weighted_features(K, columns, self.coef_[:, None])[:, 0] + self.intercept_

    def linear(self):
        """Return (coefficients, constant)."""
        return self._on_columns(self.coef_), self.intercept_

    def fitted_state(self):
        """Return the weights and the intercept."""
        return {"intercept": self.intercept_}, {"coef": self.coef_}

    def restore_fitted(self, header, arrays):
        """Set what `fitted_state` returned."""
        self.intercept_, self.coef_ = header["intercept"], arrays["coef"]
