"""The Lagrangian support vector machine: the quadratic program ½ αᵀQα − Σα over α ≥ 0.

Q = Y(K + 11ᵀ)Y + D with D = diag(1/(2C_i)). The optimum is where α ≥ 0, Qα − 1 ≥ 0 and their product is zero, and for
any γ > 0 that is the same as Qα − 1 = ((Qα − 1) − γα)₊. Mangasarian & Musicant (JMLR 1, 2001) iterate this,

    α ← Q⁻¹(((Qα − 1) − γα)₊ + 1),    0 < γ < 1/C,

from one Cholesky factor: linear convergence from anywhere. What is Qα after a step is known from it, so that a step
costs one solve. With large C the convergence is slow, and α nears zero without ever reaching it. So after 1, 2, 4, 8, …
steps the active set of the moment is followed to its end: where ((Qα − 1) − γα)₊ = 0, solve Q_AA α_A = 1, elsewhere
α = 0, and take the next set from there (a Newton method for the same equation). If the sets settle, that is the exact
optimum, with exact zeros; if not, the iteration goes on from where it was.
"""

import numpy as np

from ..errors import GramError
from .algebra import Definite, on_diagonal

NEWTON = 25
"""At most so many active sets are followed in one go; if they settle at all, it takes about ten."""


class _Program:
    """Q, without its signs, and the conditions of its optimum, for β = Yα."""

    def __init__(self, K, y, cost):
        self.K = K
        self.y = y
        self.ridge = 0.5 / cost
        self.gamma = 0.95 / cost.max()
        self.diagonal = np.diagonal(K) + 1.0 + self.ridge

    def slack(self, alpha):
        """Return Qα − 1."""
        beta = self.y * alpha
        return self.y * (self.K @ beta + beta.sum()) + self.ridge * alpha - 1.0

    def violation(self, alpha, slack):
        """Return the largest |min(α_i Q_ii, (Qα)_i − 1)|."""
        return float(np.abs(np.minimum(alpha * self.diagonal, slack)).max())

    def active(self, alpha, slack):
        """Return where ((Qα − 1) − γα)₊ is zero."""
        return np.flatnonzero(slack <= self.gamma * alpha)

    def follow(self, active, limit, tol):
        """Return (α, Qα − 1, steps) of the active set that follows from itself, or (None, None, steps)."""
        for steps in range(1, limit + 1):
            part = self.K[np.ix_(active, active)]
            part += 1.0
            part[np.diag_indices_from(part)] += self.ridge[active]
            alpha = np.zeros(len(self.y))
            alpha[active] = self.y[active] * Definite(part).solve(self.y[active])
            allowed = np.maximum(alpha, 0.0)
            slack = self.slack(allowed)
            if self.violation(allowed, slack) <= tol:
                return allowed, slack, steps
            slack = self.slack(alpha)
            active = self.active(alpha, slack)
        return None, None, limit


def minimise(K, y, cost, *, tol, max_iter):
    """Minimise ½ αᵀQα − Σα over α ≥ 0.

    Parameters
    ----------
    K : ndarray of float64, shape (n, n)
        Symmetric.
    y : ndarray of float64, shape (n,)
        −1 and 1.
    cost : ndarray of float64, shape (n,)
        C of each row.
    tol : float
    max_iter : int

    Returns
    -------
    beta : ndarray of float64, shape (n,)
        α_i y_i.
    intercept : float
    report : dict

    Raises
    ------
    GramError
        If Q is not positive definite.
    """
    program = _Program(K, y, cost)
    try:
        matrix = on_diagonal(K, program.ridge)
        matrix += 1.0
        factor = Definite(matrix)
    except np.linalg.LinAlgError as error:
        raise GramError(
            "K + 11ᵀ + I/(2C) is not positive definite, and the program has no unique solution",
            remedy="lower C, repair the matrix (clip, flip, shift), or choose form=equality",
        ) from error
    alpha = y * factor.solve(y)
    slack = np.zeros(len(y))  # Qα = 1 at first
    iterations, newton_at = 1, 1
    residual = program.violation(alpha, slack)
    while residual > tol and iterations < max_iter:
        if iterations >= newton_at:
            newton_at = 2 * iterations
            limit = min(NEWTON, max_iter - iterations)
            found, its_slack, steps = program.follow(program.active(alpha, slack), limit, tol)
            iterations += steps
            newton_at += steps
            if found is not None:
                alpha, slack = found, its_slack
                residual = program.violation(alpha, slack)
                break
            if iterations >= max_iter:
                break
        slack = np.maximum(slack - program.gamma * alpha, 0.0)
        alpha = y * factor.solve(y * (slack + 1.0))
        residual = program.violation(alpha, slack)
        iterations += 1
    alpha = np.maximum(alpha, 0.0)
    return _result(program, alpha, cost, iterations, tol)


def _result(program, alpha, cost, iterations, tol):
    """Return β, b and the report of an α ≥ 0."""
    y, beta = program.y, program.y * alpha
    intercept = float(beta.sum())
    product = program.K @ beta
    slack = y * (product + intercept) + program.ridge * alpha - 1.0
    residual = program.violation(alpha, slack)
    width = float(beta @ product) + intercept**2
    dual = alpha.sum() - 0.5 * width - 0.5 * float(program.ridge @ alpha**2)
    errors = np.maximum(1.0 - y * (product + intercept), 0.0)
    primal = 0.5 * width + float(cost @ errors**2)
    return (
        beta,
        intercept,
        {
            "converged": bool(residual <= tol),
            "iterations": int(iterations),
            "residual": residual,
            "objective": -float(dual),
            "gap": float((primal - dual) / primal),
        },
    )
