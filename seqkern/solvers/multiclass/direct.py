"""The direct multi-class SVM: all classes in one optimisation."""

from typing import Any

import numpy as np
from scipy.linalg.lapack import dposv

from seqkern.core.parameters import count, not_negative, positive
from seqkern.core.threads import one_thread
from seqkern.core.types import Array, Floats, Ints
from seqkern.solvers.capabilities import SEARCH_COST, Effort, Traits
from seqkern.solvers.contract import ClassSolver, stored
from seqkern.solvers.costs import FitCost, FitWork
from seqkern.solvers.multiclass import _direct_multiclass
from seqkern.solvers.shared import cost, weighted_sums
from seqkern.solvers.svm.libsvm import share_of

# Newton steps for the direct multi-class SVM: joint moves of all variables inside their bounds.
#
# Moves of single rows lower the dual fast at first, but take very many steps if C is large and many variables are free.
# Solved jointly, the free variables soon reach their minimum.

FREE = 1 / 3
"""Largest number of jointly solved variables, as a share of the rows: their matrix and its copy take 2/9 of K."""
SMALL = 64  # Number of variables that are always solved for jointly
DAMPING = 1e-11, 1e-6, 1e-2  # Smallest, first and largest addition to the diagonal, as a share of its mean


class Newton:
    """Joint moves of the free variables of the direct multi-class SVM."""

    def __init__(self, K: Floats, y: Ints, cost: float, sigma: float) -> None:
        self.K, self.y, self.cost, self.sigma = K, y, cost, sigma
        self.damping = DAMPING[1]

    def step(self, alpha: Floats, outputs: Floats) -> Floats | None:
        """Move the free variables, in place, towards their joint minimum as far as their bounds permit.

        Returns the change of −β, shape (n, c), or None if nothing has moved.
        """
        classes, rows = np.nonzero((alpha > 0) & (alpha < self.cost))
        if not 0 < len(rows) <= max(SMALL, FREE * len(self.y)):
            return None
        own, before = self.y[rows], alpha[classes, rows]
        H, slope = self._curvature(classes, rows), outputs[own, rows] - outputs[classes, rows] - 2
        direction = self._direction(H, slope)
        if direction is None:
            return None
        goal = self._goal(H, slope, before, direction)
        if goal is None:
            return None
        alpha[classes, rows] = goal
        change = np.zeros(alpha.shape[::-1])
        change[rows, classes] = goal - before
        np.add.at(change, (rows, own), before - goal)
        return change

    def _curvature(self, classes: Ints, rows: Ints) -> Floats:
        """Return the second derivatives of the dual with respect to the variables of these classes and rows.

        α_im enters β_mi with sign −, and the β of the row's own class with sign +.
        """
        own = self.y[rows]
        H = self.K[np.ix_(rows, rows)]
        H += self.sigma
        signs = np.equal.outer(classes, classes).astype(np.int8)
        signs += np.equal.outer(own, own)
        signs -= np.equal.outer(classes, own)
        signs -= np.equal.outer(own, classes)
        H *= signs
        return H

    def _direction(self, H: Floats, slope: Floats) -> Floats | None:
        """Return the solution of (H + damping) · direction = −slope; None if there is none."""
        damped = H.copy()
        damped.flat[:: len(H) + 1] += self.damping * np.trace(H) / len(H)
        _, direction, failed = dposv(damped.T, -slope, lower=0, overwrite_a=1)
        self.damping = min(self.damping * 100, DAMPING[2]) if failed else max(self.damping / 10, DAMPING[0])
        return None if failed else direction

    def _goal(self, H: Floats, slope: Floats, before: Floats, direction: Floats) -> Floats | None:
        """Return the new values of the variables, clipped to their bounds; None without a move.

        It is the longest tried step that lowers the dual; the shortest one ends at the first bound.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(direction > 0, self.cost - before, before) / np.abs(direction)
        nearest, length = float(np.nanmin(reach)), 1.0
        while True:
            goal = np.clip(before + length * direction, 0, self.cost)
            step = goal - before
            if slope @ step + 0.5 * step @ (H @ step) < 0:
                return goal
            if not length > nearest:
                return None
            length = max(length / 4, nearest)


ROUNDS = 5
TURN = 64, 4  # moves between Newton steps: at least so many, and as many as the rows divided by this
STEPS = 3  # Newton steps one after the other


class DirectMulticlass(ClassSolver):
    r"""Direct multi-class SVM: one function for each class, all learned at once.

    Attributes
    ----------
    dual_coef_ : ndarray of float64, shape (classes, s)
        β_m of the support vectors: w_m = Σ_i β_mi φ(x_i).
    intercept_ : ndarray of float64, shape (classes,)
        b_m.

    Notes
    -----
    With f_m(x) = w_m·φ(x) + b_m, it solves

    .. math::

        \min ½ \sum_m ‖w_m‖^2 + C \sum_i \sum_{m ≠ y_i} ξ_{im}
        over  f_{y_i}(x_i) ≥ f_m(x_i) + 2 − ξ_{im},  ξ_{im} ≥ 0

    and predicts the class with the largest f_m. Unlike in Weston & Watkins, b_m² is penalised like ‖w_m‖², which
    removes the equality constraints Σ_i β_mi = 0 from the dual, so that the variables of one row can move alone.
    Weights and biases of all classes sum to zero. The dual, max 2 Σα − ½ Σ_m β_mᵀ(K + σ)β_m over 0 ≤ α_im ≤ C, with
    β_mi = −α_im, and Σ_m α_im for the row's own class, is solved by block ascent on the rows that gain most, and by
    Newton steps of all variables inside their bounds. With two classes it is the C-SVM with the same C (and a penalised
    bias).

    `report_` has ``residual``, the largest violation; ``objective``, the dual's (negative); and the duality
    ``gap`` as a share of the primal objective. The gap is a bound only if K is positive semi-definite.

    Complexity: O(n·c) per move of one row, for n rows and c classes, and O(f³ + f·n·c) per Newton step of f variables,
    at most n/3; the whole Gram matrix in memory, and 2/9 of it for Newton steps.

    References
    ----------
    Weston, Watkins: Multi-class support vector machines. Technical report CSD-TR-98-04, Royal Holloway, University of
    London, 1998.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import DirectMulticlass
    >>> repeats = SequenceSet.from_strings(["ACACAC", "CACACA", "GTGTGT", "TGTGTG", "ATATAT", "TATATA"], "dna")
    >>> K = SpectrumKernel(k=2)(repeats)
    >>> solver = DirectMulticlass(C=10).fit(K, ["CA", "CA", "GT", "GT", "AT", "AT"])
    >>> solver.predict(K[::2]).tolist()
    ['CA', 'GT', 'AT']
    >>> solver.dual_coef_.shape  # one function for each class
    (3, 6)
    """

    name = "direct_multiclass"
    summary = "One support vector machine for all classes at once: the true class must win by a margin."
    learned = stored(coef="dual_coef_", intercept="intercept_")
    declared = Traits(semidefinite=True, search=SEARCH_COST, effort=Effort(copies=1.25, products=30.0))
    targets = ("multiclass",)

    C: float = cost("C, the cost of a margin error.")
    bias: float = not_negative(
        1.0,
        "How little the bias is penalised: b_m is the weight of a constant feature whose square is `bias` times the "
        "mean diagonal of K. 0: no bias. Larger values penalise it less, and slow the fit down.",
    )
    tol: float = positive(
        1e-3, "The fit has converged when no optimality condition is violated by more than this; margins are 2."
    )
    max_iter: int = count(10_000_000, "Maximum number of moves of one row.")

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return the predicted cost of a fit: it grows with the number of classes."""
        return super().fit_cost(work).times(max(2, work.classes))

    tested_with = ({"tol": 1e-6}, {"C": 20.0, "bias": 0.0, "tol": 1e-5})

    def _fit(self, K: Any, y: Array) -> dict[str, Any]:
        """Minimise the dual, compute the optimality of the solution, and return the report."""
        K = np.ascontiguousarray(K)
        n, c = len(y), len(self.classes_)
        self._sigma = float(self.bias) * float(np.mean(np.diagonal(K)))
        alpha = self._first(y, c)
        moves = 0
        for _ in range(ROUNDS):
            outputs = self._outputs(K, _weights(alpha, y))  # recomputed: rounding errors accumulate over the moves
            done = self._descend(K, y, alpha, outputs, self.max_iter - moves)
            moves += done
            if done == 0 or moves >= self.max_iter:
                break
        weights = _weights(alpha, y)
        outputs = self._outputs(K, weights)
        self._warm = {"dual": alpha}
        self.support_ = np.flatnonzero(np.any(weights != 0, axis=0)).astype(np.int64)
        self.dual_coef_ = np.ascontiguousarray(weights[:, self.support_])
        self.intercept_ = self._sigma * weights.sum(axis=1)
        residual = _violation(alpha, outputs, y, self.C)
        square = float(np.sum(weights * outputs))
        short = np.maximum(0.0, 2 - outputs[y, np.arange(n)] + outputs)
        primal = 0.5 * square + self.C * (short.sum() - 2 * n)  # offset of 2 for the true class of each row
        dual = 2 * float(alpha.sum()) - 0.5 * square
        return {
            "converged": residual <= self.tol,
            "iterations": int(moves),
            "residual": residual,
            "objective": -dual,
            "gap": share_of(primal - dual, primal),
        }

    def _descend(self, K: Floats, y: Ints, alpha: Floats, outputs: Floats, limit: int) -> int:
        """Move single rows, and at times all free variables, to the minimum; return the number of moves."""
        n, c = len(y), len(alpha)
        room = np.empty(n), np.empty(n), np.empty(c)
        newton = Newton(K, y, self.C, self._sigma)
        moves = 0
        while moves < limit:
            turn = min(max(TURN[0], n // TURN[1]), limit - moves)
            done = _direct_multiclass.descend(K, y, self.C, self._sigma, alpha, outputs, *room, self.tol, turn)
            moves += done
            if done < turn:
                break
            for _ in range(STEPS):
                with one_thread():
                    change = newton.step(alpha, outputs)
                if change is None:
                    break
                _direct_multiclass.change_outputs(K, self._sigma, change, outputs)
        return moves

    def _first(self, y: Ints, c: int) -> Floats:
        """Return the initial variables, (c, n): the previous solution clipped to the bounds, or zeros."""
        start = self._left("dual")
        if start is None or start.shape != (c, len(y)) or np.any(start[y, np.arange(len(y))]):
            return np.zeros((c, len(y)))
        return np.minimum(start, self.C)

    def _outputs(self, K: Floats, weights: Floats) -> Floats:
        """Return the outputs f_m of all training rows, (c, n)."""
        out = np.empty(weights.shape)
        for m, row in enumerate(weights):
            support = np.flatnonzero(row).astype(np.int64)
            out[m] = weighted_sums(K, support, row[support], self._sigma * row.sum())
        return out

    def _decide(self, K: Any, columns: Ints) -> Floats:
        """Return the outputs f_m of each row, (m, classes)."""
        parts = zip(self.dual_coef_, self.intercept_, strict=True)
        return np.stack([weighted_sums(K, columns, coef, constant) for coef, constant in parts], axis=1)


def _weights(alpha: Floats, y: Ints) -> Floats:
    """Return the weights β, (c, n), for α, (c, n)."""
    weights = -alpha
    weights[y, np.arange(len(y))] = alpha.sum(axis=0)
    return weights


def _violation(alpha: Floats, outputs: Floats, y: Ints, cost: float) -> float:
    """Return the largest violation of the dual's optimality conditions."""
    slope = outputs[y, np.arange(len(y))] - outputs - 2
    bad = np.where(alpha <= 0, np.maximum(-slope, 0), np.where(alpha >= cost, np.maximum(slope, 0), np.abs(slope)))
    bad[y, np.arange(len(y))] = 0
    return float(bad.max())
