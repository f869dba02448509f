"""The linear-programming SVM: a soft margin with a 1-norm penalty."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_array, hstack, identity

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import integer
from seqkern.core.types import Array, Floats, Ints
from seqkern.solvers import shared
from seqkern.solvers.capabilities import Search, Traits
from seqkern.solvers.contract import BinarySolver, stored
from seqkern.solvers.costs import FitCost, FitWork

# Linear program of the 1-norm SVM.


@dataclass(frozen=True)
class OneNorm:
    """Solution of the linear program: weights, intercept, nearness of each feature to selection, and certificate.

    `nearness` is |Σ_i α_i y_i x_ij|, at most 1 up to rounding, with α the dual solution; `gap` is relative.
    """

    weights: Floats  # shape (d,): w
    intercept: float  # b
    # shape (d,): |Σ_i α_i y_i x_ij|, at most 1 but for rounding: how close feature j is to being selected, with α the
    # dual solution
    nearness: Floats
    objective: float  # ‖w‖₁ + Σ C_i ξ_i
    gap: float  # Between that and Σ α_i, the value of the dual, as a share of it
    iterations: int  # Of the simplex method


def solve_one_norm(X: Floats, y: Floats, C: float | Floats) -> OneNorm:
    """Solve the program min_{w,b} ‖w‖₁ + Σ_i C_i max(0, 1 − y_i (w·x_i + b))."""
    from scipy.optimize import linprog  # imported here: it slows start-up, and models do not need it

    n, d = X.shape
    signed = y[:, None] * X
    # w⁺, w⁻, b, ξ: −y (w·x + b) − ξ ≤ −1
    table = hstack([csc_array(-signed), csc_array(signed), csc_array(-y[:, None]), -identity(n)], format="csc")
    cost = np.concatenate((np.ones(2 * d), [0.0], np.full(n, C, dtype=np.float64)))
    # Any: scipy's types know neither an array of bounds nor that a solved program has a solution
    bounds: Any = np.zeros((len(cost), 2))
    bounds[:, 1] = np.inf
    bounds[2 * d, 0] = -np.inf
    found: Any = linprog(cost, A_ub=table, b_ub=-np.ones(n), bounds=bounds, method="highs-ds")
    if found.status != 0:
        raise ParameterError(f"the linear program of the 1-norm SVM: {found.message}", remedy="choose another C")
    alpha = -found.ineqlin.marginals
    return OneNorm(
        weights=found.x[:d] - found.x[d : 2 * d],
        intercept=float(found.x[2 * d]),
        nearness=np.abs(alpha @ signed),
        objective=float(found.fun),
        gap=float(abs(found.fun - alpha.sum()) / max(abs(found.fun), 1e-300)),
        iterations=int(found.nit),
    )


class LPMachine(BinarySolver):
    r"""Linear SVM with the 1-norm of the weights, a linear program.

    Few weights are non-zero: at most as many as there are training rows. Several classes: use `one_against_rest` or
    `pairwise_voting`.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (s,)
        The weights that are not zero, of the features `support_`.
    intercept_ : float
        b.
    report_ : dict
        ``gap`` is that between the program and its dual as a share of the primal value, ``residual`` the largest
        violation of the dual's |Σ_i α_i y_i x_ij| ≤ 1; ``units`` (int) the number of rows used.

    Notes
    -----
    With scipy's HiGHS, it solves

    .. math:: \min_{w, b, ξ} ‖w‖_1 + \sum_i C_i ξ_i  over  y_i (w·x_i + b) ≥ 1 − ξ_i,  ξ_i ≥ 0

    where C_i is C times the `class_weight` of the class of row i. Features are not scaled: one with a larger scale
    costs less. Rows are sorted by content first, so that the order of the rows never decides among several optima.

    Complexity: a linear program with n + 2d + 2 variables and n constraints, for n rows with d features; time grows at
    least with n².

    References
    ----------
    Bennett, Mangasarian: Robust linear programming discrimination of two linearly inseparable sets. Optimization
    Methods and Software 1, 1992.

    Bradley, Mangasarian: Feature selection via concave minimization and support vector machines. ICML 1998.

    Examples
    --------
    >>> from seqkern.solvers import LPMachine
    >>> X = [[0.62, 0.9], [0.66, 0.8], [0.58, 0.7], [0.41, 0.2], [0.45, 0.3], [0.38, 0.1]]  # GC content, CpG ratio
    >>> solver = LPMachine(C=10).fit(X, [1, 1, 1, 0, 0, 0])
    >>> solver.support_  # the CpG ratio is enough
    array([1])
    >>> solver.coef_.round(2), round(solver.intercept_, 2)
    (array([5.]), -2.5)
    """

    name = "lp_machine"
    summary = "Linear-programming SVM: a soft margin with few features, by the sum of the absolute weights."
    learned = stored(intercept="intercept_", coef="coef_")
    declared = Traits(blocks=True, search=Search({"C": [0.01, 0.1, 1.0, 10.0]}, order=("C",)))
    input = "features"

    C: float = shared.cost("C, the cost of a margin error. If it is too small, all weights are zero.")
    class_weight: dict | str | None = shared.class_weights()
    max_units: int = integer(
        default=5000,
        low=2,
        doc="Largest number of training rows; of more, this many are drawn, because time grows at "
        "least with their square.",
    )
    seed: int = shared.random_seed("Seed of the draw.")

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return the predicted cost of a fit: pivots of the simplex algorithm."""
        pivots = 1000 + 3 * min(work.n, work.width)
        return FitCost(pivots * work.n * work.width * 1e-9, 16 * work.n * work.width)

    tested_with = ({}, {"C": 0.3, "max_units": 30}, {"class_weight": "balanced"})

    def _fit(self, K: Any, y: Array) -> dict[str, Any]:
        """Solve the linear program on the drawn rows, and return the report."""
        drawn = shared.order_by_content(K, y, self.seed)[: self.max_units]
        if len(np.unique(y[drawn])) < 2:
            raise ParameterError(f"max_units={self.max_units} leaves only one class", remedy="give a larger number")
        X = shared.gathered(K, drawn).astype(np.float64, copy=False)
        found = solve_one_norm(X, y[drawn], shared.row_costs(self.C, self.class_weight, self.classes_, y)[drawn])
        self.support_ = np.flatnonzero(found.weights).astype(np.int64)
        self.coef_ = found.weights[self.support_]
        self.intercept_ = found.intercept
        return {
            "iterations": found.iterations,
            "residual": float(max(found.nearness.max() - 1.0, 0.0)),
            "objective": found.objective,
            "gap": found.gap,
            "units": len(drawn),
        }

    def _decide(self, K: Any, columns: Ints) -> Floats:
        """Return the decisions w·x + b."""
        return shared.weighted_features(K, columns, self.coef_[:, None])[:, 0] + self.intercept_

    def linear(self) -> tuple[Floats, float] | None:
        """Return (coefficients, constant)."""
        return self._on_columns(self.coef_), self.intercept_
