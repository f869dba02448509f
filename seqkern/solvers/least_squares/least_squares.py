"""Least-squares SVMs, in which a margin error costs its square.

If errors on both sides of the margin count (equality form), and in regression, one linear system gives the solution.
If only errors on the wrong side count (inequality form), a bounded quadratic program remains: lagrangian.py.
"""

from typing import Any, Literal

import numpy as np

from seqkern.core.errors import GramError, ParameterError
from seqkern.core.linear_algebra import Definite, Indefinite, on_diagonal
from seqkern.core.parameters import choice, count, positive
from seqkern.core.threads import one_thread
from seqkern.core.types import Bools, Floats, Ints
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.solvers.capabilities import SEARCH_COST, Effort, Traits
from seqkern.solvers.contract import BinarySolver, RealSolver
from seqkern.solvers.products.losses import Squared
from seqkern.solvers.products.subspace import fit_loss
from seqkern.solvers.shared import KernelExpansion, class_weights, cost, row_costs

# The Lagrangian SVM: the quadratic program ½ αᵀQα − Σα over α ≥ 0, with Q = Y(K + 11ᵀ)Y + D.
#
# D is diag(1/(2C_i)). Mangasarian & Musicant (JMLR 1, 2001) iterate α ← Q⁻¹(((Qα − 1) − γα)₊ + 1), 0 < γ < 1/C, from
# one Cholesky factor: linear convergence from any start, one solve for each step. With large C convergence is slow, and
# α approaches zero without reaching it. So after a few steps Newton's method takes over (Keerthi & DeCoste, JMLR 6,
# 2005; Chapelle, Neural Computation 19, 2007), for the primal ½ βᵀ(K + 11ᵀ)β + Σ C_i (1 − y_i f(x_i))₊² with β = Yα.
# With A the rows within the margin, a step goes towards the solution of (K_AA + 11ᵀ + D_AA) β_A = y_A, β = 0 elsewhere,
# to the best point on the way. The primal never increases, and when A settles, the result is the exact optimum, with
# exact zeros. If K + 11ᵀ is indefinite, though Q is not, neither method is sure to find it.

FIRST = 20  # Maximum number of initial iterations; they end earlier if the rows within the margin stay the same

HALVINGS = 50  # Number of times the interval of the best step is halved


class _Program:
    """The quadratic program, K, y and C, with its optimality conditions."""

    def __init__(self, K: Floats, y: Floats, cost: Floats) -> None:
        self.K = K
        self.y = y
        self.cost = cost
        self.ridge = 0.5 / cost
        self.gamma = 0.95 / cost.max()
        self.diagonal = np.diagonal(K) + 1.0 + self.ridge

    def decisions(self, beta: Floats) -> Floats:
        """Return the decisions f of the training rows, (K + 11ᵀ)β."""
        return self.K @ beta + beta.sum()

    def violation(self, alpha: Floats, slack: Floats) -> float:
        """Return the largest violation of optimality, |min(α_i Q_ii, (Qα)_i − 1)|."""
        return float(np.abs(np.minimum(alpha * self.diagonal, slack)).max())

    def primal(self, beta: Floats, f: Floats) -> float:
        """Return the primal objective."""
        return 0.5 * float(beta @ f) + float(self.cost @ np.maximum(1.0 - self.y * f, 0.0) ** 2)

    def within(self, f: Floats) -> Ints:
        """Return the indices of the rows within the margin."""
        return np.flatnonzero(self.y * f < 1.0)

    def target(self, active: Ints) -> Floats:
        """Return the target β of a Newton step."""
        part = self.K[np.ix_(active, active)]
        part += 1.0
        part[np.diag_indices_from(part)] += self.ridge[active]
        beta = np.zeros(len(self.y))
        beta[active] = Definite(part).solve(self.y[active])
        return beta

    def best_part(self, beta: Floats, f: Floats, other: Floats, its_f: Floats) -> float:
        """Return the step t in [0, 1] that minimises the primal at (1 − t)(β, f) + t(other, its_f)."""
        square, mixed, its_square = beta @ f, other @ f, other @ its_f
        change = self.y * (its_f - f)

        def slope(t: float) -> float:
            errors = np.maximum(1.0 - self.y * f - t * change, 0.0)
            rise = (mixed - square) + t * (square - 2.0 * mixed + its_square)
            return float(rise - 2.0 * (self.cost * errors) @ change)

        if slope(1.0) <= 0.0:
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if slope(middle) <= 0.0 else (low, middle)
        return 0.5 * (low + high)


def minimise(K: Floats, y: Floats, cost: Floats, *, tol: float, max_iter: int) -> tuple[Floats, float, dict[str, Any]]:
    """Minimise ½ αᵀQα − Σα over α ≥ 0; return α_i y_i, the intercept Σ α_i y_i, and the report."""
    program = _Program(K, y, cost)
    factor = _factor(program)
    alpha, iterations = _iterate(program, factor, tol, min(FIRST, max_iter))
    best, iterations = _descend(program, np.maximum(alpha, 0.0), tol, iterations, max_iter)
    done = best["residual"] <= tol or 0 <= best["gap"] <= tol
    if not done and _indefinite(program):
        raise GramError(
            "K + 11ᵀ is indefinite, and the optimum was not found",
            remedy="repair the matrix (clip, flip, shift), lower C, or choose form=equality",
        )
    return best["beta"], best["intercept"], _report(best, iterations, tol, stuck=iterations < max_iter)


def _factor(program: _Program) -> Definite:
    """Return the Cholesky factor of K + 11ᵀ + D, which equals Q up to signs."""
    try:
        matrix = on_diagonal(program.K, program.ridge)
        matrix += 1.0
        return Definite(matrix)
    except np.linalg.LinAlgError as error:
        raise GramError(
            "K + 11ᵀ + I/(2C) is not positive definite, so the program has no unique solution",
            remedy="lower C, repair the matrix (clip, flip, shift), or choose form=equality",
        ) from error


def _iterate(program: _Program, factor: Definite, tol: float, max_iter: int) -> tuple[Floats, int]:
    """Return α after Mangasarian and Musicant's iterations, and their number.

    They end when α is optimal, or the set of rows within the margin no longer changes.
    """
    alpha = program.y * factor.solve(program.y)
    slack = np.zeros(len(alpha))  # Qα = 1 at first
    active: Bools | None = None
    iterations = 1
    while iterations < max_iter and program.violation(alpha, slack) > tol:
        before, active = active, slack <= program.gamma * alpha
        if before is not None and np.array_equal(before, active):
            break
        slack = np.maximum(slack - program.gamma * alpha, 0.0)
        alpha = program.y * factor.solve(program.y * (slack + 1.0))
        iterations += 1
    return alpha, iterations


def _descend(
    program: _Program, alpha: Floats, tol: float, iterations: int, max_iter: int
) -> tuple[dict[str, Any], int]:
    """Return the best certificate that Newton's method finds from α ≥ 0, and the iterations so far."""
    best = _certificate(program, alpha)
    beta, f, primal = best["beta"], best["f"], best["primal"]
    while iterations < max_iter:
        active = program.within(f)
        other = program.target(active)
        its_f = program.decisions(other)
        iterations += 1
        found = _certificate(program, np.maximum(program.y * other, 0.0))
        best = min(best, found, key=lambda one: one["gap"])
        if np.array_equal(program.within(its_f), active) or found["residual"] <= tol:
            return found, iterations
        t = program.best_part(beta, f, other, its_f)
        beta, f = (1.0 - t) * beta + t * other, (1.0 - t) * f + t * its_f
        before, primal = primal, program.primal(beta, f)
        if not primal < before:  # up to rounding, or an indefinite K
            break
    last = _certificate(program, program.y * beta)
    last["objective"] = best["objective"]  # an α < 0 gives no bound
    last["gap"] = (last["primal"] + best["objective"]) / last["primal"]
    return min(best, last, key=lambda one: one["gap"]), iterations


def _indefinite(program: _Program) -> bool:
    """Return whether K + 11ᵀ is indefinite, which makes the primal non-convex although the dual is convex."""
    matrix = on_diagonal(program.K, 1e-9 * program.diagonal.max())
    matrix += 1.0
    try:
        Definite(matrix)
    except np.linalg.LinAlgError:
        return True
    return False


def _certificate(program: _Program, alpha: Floats) -> dict[str, Any]:
    """Return β, b and f for an α, with the primal and the dual objective (as minimised), the gap and the violation."""
    beta = program.y * alpha
    f = program.decisions(beta)
    primal = program.primal(beta, f)
    dual = float(alpha.sum() - 0.5 * (beta @ f) - 0.5 * (program.ridge @ alpha**2))
    slack = program.y * f + program.ridge * alpha - 1.0
    return {
        "beta": beta,
        "f": f,
        "intercept": float(beta.sum()),
        "primal": primal,
        "objective": -dual,
        "gap": (primal - dual) / primal,
        "residual": program.violation(alpha, slack),
    }


def _report(best: dict[str, Any], iterations: int, tol: float, stuck: bool) -> dict[str, Any]:
    """Return the report; `stuck` means that rounding ended the descent."""
    converged = best["residual"] <= tol or 0 <= best["gap"] <= tol
    remark = {"remark": "K and 1/C differ by too many orders of magnitude; lower C, or normalise the kernel"}
    return {
        "converged": bool(converged),
        "iterations": int(iterations),
        **{key: float(best[key]) for key in ("residual", "objective", "gap")},
        **(remark if stuck and not converged else {}),
    }


REFINEMENTS = 1  # Number of refinement steps for the rounding errors of the factor

EXACT = 1e-6  # Share of the primal objective below which the duality gap of regression on products has converged

ENOUGH = 1e-4  # Largest error of an equation of a solved system, in units of the largest |y|, at least 1


class LSSVC(KernelExpansion, BinarySolver):
    r"""Least-squares SVM classifier, in the equality or the inequality form.

    Attributes
    ----------
    dual_coef_ : ndarray of float64, shape (s,)
        β of the rows with β ≠ 0.
    intercept_ : float
        b.
    report_ : dict
        Besides the usual: in the equality form ``definite``, whether K + I/(2C) is positive definite, in the
        inequality form ``gap``, the duality gap as a share of the primal objective. ``objective`` is that of the
        primal in the equality form, of the dual in the inequality form; ``residual`` is the largest error of the
        linear system, or what `tol` bounds. A system whose error is above 1e-4, for want of digits, is reported as
        not converged.

    Notes
    -----
    With f(x) = w·φ(x) + b, the equality form solves

    .. math:: \min_{w, b, ξ} ½ ‖w‖^2 + C \sum_i ξ_i^2  over  y_i f(x_i) = 1 − ξ_i

    by one linear system for β_i = α_i y_i: (K + I/(2C)) β + b 1 = y, Σ β_i = 0. Every training row has a coefficient.
    The inequality form solves

    .. math:: \min_{w, b, ξ} ½ (‖w‖^2 + b^2) + C \sum_i ξ_i^2  over  y_i f(x_i) ≥ 1 − ξ_i

    Its dual is ½ αᵀQα − Σα over α ≥ 0, with Q = Y(K + 11ᵀ)Y + I/(2C) and b = Σ α_i y_i; rows beyond the margin have α =
    0.

    On a KernelOperator the equality form is solved by conjugate gradients, one product with K each, until the duality
    ``gap``, as a share of the primal objective, is at most `tol`; ``residual`` is then ‖w − Σ β_i φ_i‖ / ‖w‖ for β_i =
    2 C_i ξ_i.

    A singular K is allowed, because I/(2C) is added. With an indefinite K the equality form gives the only
    stationary point (not a minimum if K + I/(2C) is indefinite), unless the system is singular, which is an error; the
    inequality form is an error if Q is not positive definite.

    Complexity: n³/6 multiplications for n training rows and one copy of K; the inequality form takes two copies, and
    solves several further systems of the size of its support.

    References
    ----------
    Suykens, Vandewalle: Least squares support vector machine classifiers. Neural Processing Letters 9, 1999.

    Mangasarian, Musicant: Lagrangian support vector machines. Journal of Machine Learning Research 1, 2001.

    Examples
    --------
    The inequality form is sparse, the equality form is not:

    >>> import numpy as np
    >>> from seqkern.solvers import LSSVC
    >>> X = np.array([[3.0], [1.0], [-1.0], [-3.0]])
    >>> for form in ("equality", "inequality"):
    ...     solver = LSSVC(C=10.0, form=form).fit(X @ X.T, ["donor", "donor", "decoy", "decoy"])
    ...     print(form, solver.support_.tolist(), solver.predict(X @ X.T).tolist())
    equality [0, 1, 2, 3] ['donor', 'donor', 'decoy', 'decoy']
    inequality [1, 2] ['donor', 'donor', 'decoy', 'decoy']
    """

    name = "lssvc"
    summary = "Least-squares support vector machine: like an SVM, but with squared errors."
    declared = Traits(operator=True, search=SEARCH_COST, effort=Effort(products=15.0, cubes=1 / 3))

    C: float = cost(
        "C, the cost of a squared error. The γ of Suykens & Vandewalle and the ν of Mangasarian & Musicant are 2C."
    )
    form: Literal["equality", "inequality"] = choice(
        default="equality", doc="Equality or inequality form, see the notes."
    )
    class_weight: dict | str | None = class_weights("Factor of C for each class, as in `CSVC`.")
    tol: float = positive(
        1e-6,
        "The inequality form has converged when the largest violation of the optimality conditions, |min(α_i Q_ii, "
        "(Qα)_i − 1)|, in units of the margin, or the duality gap, as a share of the primal objective, is at most "
        "this. The equality form is solved directly, but on an operator until the gap is at most this.",
    )
    max_iter: int = count(1000, "Maximum number of iterations of the inequality form, one linear system each.")

    tested_with = ({}, {"C": 3.0, "form": "inequality"}, {"form": "inequality", "class_weight": "balanced"})

    def _fit(self, K: Any, y: Floats) -> dict[str, Any]:
        """Solve the linear system, or the quadratic program, and return the report."""
        cost = row_costs(self.C, self.class_weight, self.classes_, y)
        if isinstance(K, KernelOperator):
            if self.form == "inequality":
                raise ParameterError(
                    "form=inequality needs a Gram matrix", remedy="choose form=equality, or solver primal_svc"
                )
            return fit_loss(self, K, Squared(y, cost), self.tol)
        with one_thread():
            if self.form == "equality":
                coefficients, intercept, report = solve_system(K, y, cost)
            else:
                coefficients, intercept, report = minimise(K, y, cost, tol=self.tol, max_iter=self.max_iter)
        self._keep(coefficients, intercept)
        return report


class LSSVR(KernelExpansion, RealSolver):
    r"""Least-squares support vector regression: kernel ridge regression with a free bias.

    Attributes
    ----------
    dual_coef_ : ndarray of float64, shape (s,)
        β of the rows with β ≠ 0.
    intercept_ : float
        b.
    report_ : dict
        As for `LSSVC` in the equality form, whose notes also apply.

    Notes
    -----
    With f(x) = w·φ(x) + b, it solves

    .. math:: \min_{w, b, ξ} ½ ‖w‖^2 + C \sum_i ξ_i^2  over  f(x_i) = y_i − ξ_i

    by one linear system: (K + I/(2C)) β + b 1 = y, Σ β_i = 0; on a KernelOperator by conjugate gradients, until the
    duality ``gap`` is at most 1e-6 of the primal objective.

    Complexity: n³/6 multiplications for n training rows, and one copy of K.

    References
    ----------
    Saunders, Gammerman, Vovk: Ridge regression learning algorithm in dual variables. ICML 1998.

    Suykens, Van Gestel, De Brabanter, De Moor, Vandewalle: Least Squares Support Vector Machines. World Scientific,
    2002.

    Examples
    --------
    With a large C and a linear kernel it is the straight line of least squares:

    >>> import numpy as np
    >>> from seqkern.solvers import LSSVR
    >>> x, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 3.0, 5.0, 7.0])
    >>> solver = LSSVR(C=1e6).fit(x @ x.T, y)
    >>> solver.predict(np.array([[4.0]]) @ x.T).round(3).tolist()
    [9.0]
    """

    name = "lssvr"
    summary = "Least-squares support vector regression: kernel ridge regression with a bias."
    declared = Traits(operator=True, search=SEARCH_COST, effort=Effort(products=15.0, cubes=1 / 3))

    C: float = cost("C, the cost of a squared error.")

    def _fit(self, K: Any, y: Floats) -> dict[str, Any]:
        """Solve the linear system, and return the report."""
        if isinstance(K, KernelOperator):
            return fit_loss(self, K, Squared(y, np.full(len(y), float(self.C))), EXACT)
        with one_thread():
            coefficients, intercept, report = solve_system(K, y, np.full(len(y), float(self.C)))
        self._keep(coefficients, intercept)
        return report


def solve_system(K: Floats, y: Floats, cost: Floats) -> tuple[Floats, float, dict[str, Any]]:
    """Solve the system (K + diag(1/(2 cost))) β + b 1 = y, Σ β = 0; return β, b and the report.

    >>> import numpy as np
    >>> from seqkern.solvers.least_squares.least_squares import solve_system
    >>> beta, intercept, report = solve_system(np.eye(2), np.array([1.0, -1.0]), np.full(2, 0.5))
    >>> beta.tolist(), float(intercept), report["converged"]
    ([0.5, -0.5], 0.0, True)
    """
    ridge = 0.5 / cost
    singular = GramError(
        "the linear system of the least-squares SVM is singular",
        remedy="lower C, or repair the matrix (clip, flip, shift)",
    )
    try:
        factor: Definite | Indefinite = Definite(on_diagonal(K, ridge))
    except np.linalg.LinAlgError:
        try:
            factor = Indefinite(on_diagonal(K, ridge))
        except np.linalg.LinAlgError as error:
            raise singular from error
    of_ones = factor.solve(np.ones(len(y)))
    total = of_ones.sum()
    if abs(total) <= len(y) * np.finfo(np.float64).eps * np.abs(of_ones).sum():
        raise singular
    beta, intercept, left = np.zeros(len(y)), 0.0, y
    for _ in range(1 + REFINEMENTS):
        of_left = factor.solve(left)
        more = (of_left.sum() + beta.sum()) / total
        beta, intercept = beta + (of_left - more * of_ones), intercept + more
        product, errors = K @ beta, ridge * beta
        left = y - product - errors - intercept
    residual = max(np.abs(left).max(), abs(beta.sum()))
    converged = bool(residual <= ENOUGH * max(1.0, np.abs(y).max()))
    remark = (
        {}
        if converged
        else {"remark": "K and 1/C differ by too many orders of magnitude; lower C, or normalise the kernel"}
    )
    return (
        beta,
        intercept,
        {
            "converged": converged,
            "iterations": 1,
            "residual": float(residual),
            "objective": float(0.5 * beta @ product + cost @ errors**2),
            **remark,
            "definite": factor.definite,
        },
    )
