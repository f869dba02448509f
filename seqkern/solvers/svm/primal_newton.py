"""Machines that are linear in features, trained in the primal: Newton's method with conjugate gradients.

Each machine minimises ½‖w‖² + Σ_i c_i ξ_i², with ξ_i = max(0, 1 − s_i (w·x_i + b)), or without the maximum. With the
maximum, the rows with ξ_i > 0 alone make the Hessian J + 2 Σ c_i x_i x_iᵀ (x_i with a 1 behind it, J the identity but
for the bias, which is not penalised); the function is quadratic where they stay the same (Keerthi & DeCoste 2005,
Chapelle 2007). A Newton step solves for the Hessian by conjugate gradients, one pass over the rows for each product,
for all machines at once. What makes them few is the preconditioner J + 2 κ Σ x_i x_iᵀ, κ the mean of the c_i of those
rows: its matrix, from a part of the rows where they are many, is the same for all machines, all steps and all costs.

A pair of primal and dual points bounds how far the value is above its minimum. With α_i = 2 c_i ξ_i, and b at its
optimum for the given w, so that Σ α_i s_i = 0, the duality gap is ½‖w − Σ α_i s_i x_i‖²: half the squared gradient.
"""

from typing import NamedTuple

import numpy as np

from seqkern.solvers.svm.primal_search import best_step

SOLVED = 0.1
"""A Newton step is solved for when conjugate gradients have reduced the error so much: the next one starts anew."""

SOLVED_WHOLLY = 1e-4
"""The same where one step leads to the minimum, since all rows are active whatever the weights are."""

MOST_PRODUCTS = 250
"""At most so many products with the Hessian in a Newton step."""


class DualityGap(NamedTuple):
    """How good each machine is.

    Attributes
    ----------
    objective, gap, residual : ndarray of float64, shape (k,)
        Primal value; duality gap as a share of it; ‖w − Σ α_i s_i x_i‖ as a share of the larger norm.
    """

    objective: np.ndarray
    gap: np.ndarray
    residual: np.ndarray


class PrimalMachines:
    """Some machines on the same rows.

    Parameters
    ----------
    rows : Rows
    conditioner : object
        The preconditioner; see `make_conditioner`.
    signs, costs : ndarray of float64, shape (k, n)
        s_i and c_i of each machine.
    squared : bool
        Whether errors beyond the margin cost their square too.
    start : ndarray of float64, shape (k, d + 1), optional
        Weights and bias to begin with.

    Attributes
    ----------
    weights : ndarray of float64, shape (k, d + 1)
        The last is the bias.
    """

    def __init__(self, rows, conditioner, signs, costs, *, squared, start=None):
        self.rows = rows
        self.conditioner = conditioner
        self.signs = signs
        self.costs = costs
        self.squared = squared
        self.weights = np.zeros((len(signs), rows.shape[1])) if start is None else start.copy()
        self.outputs = np.zeros(signs.shape) if start is None else rows.dots(start)

    def run(self, tol, max_iter):
        """Take Newton steps until the duality gap is at most `tol` of the value; return (DualityGap, steps).

        Rounding may leave a larger gap than a very small `tol`: the steps end where they lower the value no more.
        """
        every = np.arange(len(self.signs))
        objective, gap, residual = np.empty((3, len(every)))
        gradient, active = np.empty(self.weights.shape), np.empty(self.signs.shape)
        open_, last = every, np.full(len(every), np.inf)
        for step in range(max_iter + 1):
            self._set_bias(open_)
            gradient[open_], active[open_], *told = self._look(open_)
            objective[open_], gap[open_], residual[open_] = told
            sinking = (gap > tol) & (objective < last)
            open_, last = every[sinking], np.where(sinking, objective, last)
            if not len(open_) or step == max_iter:
                return DualityGap(objective, gap, residual), step
            self._step(open_, gradient[open_], active[open_])

    def _slacks(self, m):
        """Return ξ of machine `m`, (n,)."""
        slack = 1 - self.signs[m] * self.outputs[m]
        return slack if self.squared else np.maximum(slack, 0, out=slack)

    def _set_bias(self, machines):
        """Put the bias of some machines where the value is least for their w."""
        for m in machines:
            change = best_step(0.0, 0.0, self._margins(m), self.signs[m], self.costs[m], self.squared, start=0.0)
            self.weights[m, -1] += change
            self.outputs[m] += change

    def _margins(self, m):
        """Return 1 − s f of machine `m`, (n,)."""
        return 1 - self.signs[m] * self.outputs[m]

    def _look(self, machines):
        """Return gradients, costs of the active rows, values, gaps and residuals of some machines."""
        slacks = np.stack([self._slacks(m) for m in machines])
        costs, w = self.costs[machines], self.weights[machines, :-1]
        alpha = 2 * costs * slacks * self.signs[machines]
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

    def _step(self, machines, gradient, active):
        """Solve for the Newton step of some machines, and go along it as far as the value sinks."""
        step, change = self._solve(gradient, active)
        for place, m in enumerate(machines):
            w, direction = self.weights[m, :-1], step[place, :-1]
            slope = self.signs[m] * change[place]
            length = best_step(
                w @ direction, direction @ direction, self._margins(m), slope, self.costs[m], self.squared, start=1.0
            )
            self.weights[m] += length * step[place]
            self.outputs[m] += length * change[place]

    def _solve(self, gradient, active):
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


def _dots(a, b):
    """Return the scalar product of each pair of rows."""
    return np.einsum("ij,ij->i", a, b)
