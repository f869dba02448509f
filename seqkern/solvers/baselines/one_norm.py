"""The linear program of the 1-norm support vector machine."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array, hstack, identity

from seqkern.core.errors import ParameterError


@dataclass(frozen=True)
class OneNorm:
    """A solution.

    Attributes
    ----------
    weights : ndarray of float64, shape (d,)
        w.
    intercept : float
        b.
    nearness : ndarray of float64, shape (d,)
        |Σ_i α_i y_i x_ij|, at most 1 but for rounding: how close feature j is to being selected, with α the dual
        solution.
    objective : float
        ‖w‖₁ + Σ C_i ξ_i.
    gap : float
        Between that and Σ α_i, the value of the dual, as a share of it.
    iterations : int
        Of the simplex method.
    """

    weights: npt.NDArray[np.float64]
    intercept: float
    nearness: npt.NDArray[np.float64]
    objective: float
    gap: float
    iterations: int


def solve_one_norm(
    X: npt.NDArray[np.float64], y: npt.NDArray[np.float64], C: float | npt.NDArray[np.float64]
) -> OneNorm:
    """Solve min_{w,b} ‖w‖₁ + Σ_i C_i max(0, 1 − y_i (w·x_i + b)).

    Parameters
    ----------
    X : ndarray of float64, shape (n, d)
        Columns are features.
    y : ndarray of float64, shape (n,)
        −1 and 1.
    C : float, or ndarray of float64, shape (n,)
        Cost of a margin error, of all samples or of each.

    Returns
    -------
    OneNorm

    Raises
    ------
    ParameterError
        If the linear program cannot be solved.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.baselines.one_norm import solve_one_norm
    >>> X = np.array([[0.9, 0.1], [0.8, 0.3], [0.2, 0.2], [0.1, 0.1]])
    >>> found = solve_one_norm(X, np.array([1.0, 1.0, -1.0, -1.0]), C=10.0)
    >>> found.weights.round(3), round(found.intercept, 3), round(found.objective, 3)
    (array([3.333, 0.   ]), -1.667, 3.333)
    """
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
