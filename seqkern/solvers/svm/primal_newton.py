"""Linear classifiers on features, trained in the primal: Newton's method with conjugate gradients.

Each classifier minimises ½‖w‖² + Σ_i c_i ξ_i², with ξ_i = max(0, 1 − s_i (w·x_i + b)), or without the maximum. With the
maximum, the rows with ξ_i > 0 alone make the Hessian J + 2 Σ c_i x_i x_iᵀ (x_i with a 1 behind it, J the identity but
for the bias, which is not penalised); the function is quadratic where they stay the same (Keerthi & DeCoste 2005,
Chapelle 2007). A Newton step solves for the Hessian by conjugate gradients, one pass over the rows for each product,
for all classifiers at once. What makes them few is the preconditioner J + 2 κ Σ x_i x_iᵀ, κ the mean of the c_i of
those rows: its matrix, from a part of the rows where they are many, is the same for all classifiers, all steps and all
costs.

A pair of primal and dual points bounds how far the value is above its minimum. With α_i = 2 c_i ξ_i, and b at its
optimum for the given w, so that Σ α_i s_i = 0, the duality gap is ½‖w − Σ α_i s_i x_i‖²: half the squared gradient.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from seqkern.solvers.svm.primal_conditioner import Conditioner
from seqkern.solvers.svm.primal_rows import Rows
from seqkern.solvers.svm.primal_search import best_step

SOLVED = 0.1
"""A Newton step is solved for when conjugate gradients have reduced the error so much: the next one starts anew."""

SOLVED_WHOLLY = 1e-4
"""The same where one step leads to the minimum, since all rows are active whatever the weights are."""

MOST_PRODUCTS = 250
"""Maximum number of products with the Hessian per Newton step."""


class DualityGap(NamedTuple):
    """Optimality of each classifier.

    Attributes
    ----------
    objective, gap, residual : ndarray of float64, shape (k,)
        Primal value; duality gap as a share of it; ‖w − Σ α_i s_i x_i‖ as a share of the larger norm.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.svm.primal_newton import DualityGap
    >>> found = DualityGap(objective=np.array([2.0]), gap=np.array([1e-6]), residual=np.array([1e-3]))
    >>> float(found.gap.max())
    1e-06
    """

    objective: npt.NDArray[np.float64]
    gap: npt.NDArray[np.float64]
    residual: npt.NDArray[np.float64]


class PrimalMachines:
    """Several classifiers on the same rows.

    Parameters
    ----------
    rows : Rows
        The features.
    conditioner : Conditioner
        The preconditioner; see `make_conditioner`.
    signs, costs : ndarray of float64, shape (k, n)
        s_i and c_i of each classifier.
    squared : bool
        Whether errors beyond the margin cost their square too.
    start : ndarray of float64, shape (k, d + 1), optional
        Weights and bias to begin with.

    Attributes
    ----------
    weights : ndarray of float64, shape (k, d + 1)
        The last is the bias.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.svm.primal_conditioner import make_conditioner
    >>> from seqkern.solvers.svm.primal_newton import PrimalMachines
    >>> from seqkern.solvers.svm.primal_rows import Rows
    >>> rows = Rows(np.array([[2.0], [1.0], [-1.0], [-2.0]]))
    >>> signs, costs = np.array([[1.0, 1.0, -1.0, -1.0]]), np.full((1, 4), 10.0)
    >>> classifiers = PrimalMachines(rows, make_conditioner(rows), signs, costs, squared=False)
    >>> found, steps = classifiers.run(tol=1e-9, max_iter=100)
    >>> classifiers.weights.round(3).tolist(), bool(found.gap[0] <= 1e-9)
    ([[0.976, 0.0]], True)
    """

    def __init__(
        self,
        rows: Rows,
        conditioner: Conditioner,
        signs: npt.NDArray[np.float64],
        costs: npt.NDArray[np.float64],
        *,
        squared: bool,
        start: npt.NDArray[np.float64] | None = None,
    ) -> None:
        self.rows = rows
        self.conditioner = conditioner
        self.signs = signs
        self.costs = costs
        self.squared = squared
        self.weights = np.zeros((len(signs), rows.shape[1])) if start is None else start.copy()
        self.outputs = np.zeros(signs.shape) if start is None else rows.dots(start)

    def run(self, tol: float, max_iter: int) -> tuple[DualityGap, int]:
        """Take Newton steps until the duality gap is small.

        Rounding may leave a larger gap than a very small `tol`: the steps end where they lower the value no more.

        Parameters
        ----------
        tol : float
            > 0, the gap as a share of the primal value.
        max_iter : int
            Maximum number of steps.

        Returns
        -------
        gap : DualityGap
            Of the weights that are left in `weights`.
        steps : int
            The most of a classifier.
        """
        every = np.arange(len(self.signs))
        objective, gap, residual = np.empty((3, len(every)))
        gradient, active = np.empty(self.weights.shape), np.empty(self.signs.shape)
        open_, last = every, np.full(len(every), np.inf)
        step = 0
        while True:
            self._set_bias(open_)
            gradient[open_], active[open_], *told = self._look(open_)
            objective[open_], gap[open_], residual[open_] = told
            # where the values are small, w = 0 is near enough, but tells no samples apart
            blank = ~np.any(self.weights[:, :-1], axis=1) & (step == 0)
            sinking = ((gap > tol) | blank) & (objective < last)
            open_, last = every[sinking], np.where(sinking, objective, last)
            if not len(open_) or step == max_iter:
                return DualityGap(objective, gap, residual), step
            self._step(open_, gradient[open_], active[open_])
            step += 1

    def _slacks(self, m: int) -> npt.NDArray[np.float64]:
        """Return ξ of classifier `m`, (n,)."""
        slack = 1 - self.signs[m] * self.outputs[m]
        return slack if self.squared else np.maximum(slack, 0, out=slack)

    def _set_bias(self, classifiers: npt.NDArray[np.int64]) -> None:
        """Set the optimal bias of some classifiers for their w."""
        for m in classifiers:
            change = best_step(0.0, 0.0, self._margins(m), self.signs[m], self.costs[m], self.squared, start=0.0)
            self.weights[m, -1] += change
            self.outputs[m] += change

    def _margins(self, m: int) -> npt.NDArray[np.float64]:
        """Return 1 − s f of classifier `m`, (n,)."""
        return 1 - self.signs[m] * self.outputs[m]

    def _look(self, classifiers: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.float64], ...]:
        """Return gradients, costs of the active rows, values, gaps and residuals of some classifiers."""
        slacks = np.stack([self._slacks(m) for m in classifiers])
        costs, w = self.costs[classifiers], self.weights[classifiers, :-1]
        alpha = 2 * costs * slacks * self.signs[classifiers]
        sums = self.rows.sums(alpha)
        gradient = -sums
        gradient[:, :-1] += w
        objective = 0.5 * _dots(w, w) + _dots(costs, slacks**2)
        error = _dots(gradient[:, :-1], gradient[:, :-1])
        size = np.maximum(_dots(w, w), _dots(sums[:, :-1], sums[:, :-1]))
        gap = np.divide(0.5 * error, objective, out=np.zeros(len(error)), where=objective > 0)
        residual = np.sqrt(np.divide(error, size, out=np.zeros(len(error)), where=size > 0))
        active = costs if self.squared else np.where(slacks > 0, costs, 0.0)
        return gradient, active, objective, gap, residual

    def _step(
        self, classifiers: npt.NDArray[np.int64], gradient: npt.NDArray[np.float64], active: npt.NDArray[np.float64]
    ) -> None:
        """Solve for the Newton step of some classifiers, and go along it as far as the value sinks."""
        step, change = self._solve(gradient, active)
        for place, m in enumerate(classifiers):
            w, direction = self.weights[m, :-1], step[place, :-1]
            slope = self.signs[m] * change[place]
            along, curvature = float(w @ direction), float(direction @ direction)
            length = best_step(along, curvature, self._margins(m), slope, self.costs[m], self.squared, start=1.0)
            self.weights[m] += length * step[place]
            self.outputs[m] += length * change[place]

    def _solve(
        self, gradient: npt.NDArray[np.float64], active: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return −H⁻¹ gradient nearly, (k, d + 1), and what it adds to the outputs, (k, n)."""
        prepared = self.conditioner.prepare(active.mean(axis=1))
        step, change = np.zeros(gradient.shape), np.zeros(active.shape)
        errors = -gradient
        directions = self.conditioner.solve(errors, prepared)
        sizes = _dots(errors, directions)
        enough = (SOLVED_WHOLLY if self.squared else SOLVED) ** 2 * sizes
        open_ = np.flatnonzero(sizes > 0)
        for _ in range(MOST_PRODUCTS):
            if not len(open_):
                break
            p = directions[open_]
            dots, products = self.rows.both(p, 2 * active[open_])
            products[:, :-1] += p[:, :-1]
            lengths = sizes[open_] / _dots(p, products)
            step[open_] += lengths[:, None] * p
            change[open_] += lengths[:, None] * dots
            errors[open_] -= lengths[:, None] * products
            solved = self.conditioner.solve(errors[open_], [prepared[place] for place in open_])
            new = _dots(errors[open_], solved)
            directions[open_] = solved + (new / sizes[open_])[:, None] * p
            sizes[open_] = new
            open_ = open_[new > enough[open_]]
        return step, change


def _dots(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the scalar product of each pair of rows."""
    return np.einsum("ij,ij->i", a, b)
