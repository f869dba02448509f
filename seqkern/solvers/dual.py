"""The dual problem of the P-SVM and how it is minimised.

    min_α  ½ ‖K̃α − y‖² + ε ‖α‖₁   over   −C ≤ α_j ≤ C

K̃ has standardised columns, y is centred. There is no equality constraint, so that one variable can move
alone. Three loops are nested:

- `minimise` holds a working set, which starts with the variables that violate their conditions most and grows
until
  none outside does. For it, and not for all columns, the matrix Q = K̃ᵀK̃ is stored.
- On the working set, the compiled `_psvm.descend` moves one variable at a time, the one that gains most.
- Where that is slow, because columns are nearly dependent, `WorkingSet._jump` moves all variables that are
free
  (neither zero nor at a bound) at once, as far as none changes its sign or leaves the box: a damped Newton
  step, after which coordinate descent goes on. Only it makes high accuracy affordable when ε is small.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from . import _psvm
from .potential.columns import Columns

FIRST = 128  # variables in the first working set; it doubles from there
LARGEST = 4096  # so that Q takes at most 128 MiB
JUMPS = 8  # Newton steps between two runs of coordinate descent
DAMPING = (1e-11, 1e-2)  # smallest and first damping, in units of Q's diagonal


@dataclass(frozen=True)
class Dual:
    """One problem.

    Attributes
    ----------
    columns : Columns
        K and the means and scales of its columns; a scale of zero leaves a column out.
    target : ndarray of float64, shape (l,)
        y, centred.
    epsilon, cost : float
        ε ≥ 0 and C > 0, which may be infinite.
    """

    columns: Columns
    target: np.ndarray
    epsilon: float
    cost: float

    def residual(self, alpha):
        """Return K̃α − y, shape (l,)."""
        return self.columns.combine(alpha) - self.target

    def gradient(self, residual):
        """Return g = K̃ᵀ(K̃α − y), shape (N,)."""
        return self.columns.products(residual)

    def violations(self, alpha, gradient):
        """Return by how much each variable violates its optimality condition, shape (N,).

        α = 0 demands |g| ≤ ε; 0 < α < C: g = −ε; −C < α < 0: g = ε; α = C: g ≤ −ε; α = −C: g ≥ ε.
        """
        out = np.empty(len(alpha))
        _psvm.violations(alpha, gradient, self.epsilon, self.cost, out)
        return out

    def objective(self, alpha, residual):
        """Return ½ αᵀK̃ᵀK̃α − yᵀK̃α + ε‖α‖₁."""
        squares = residual @ residual - self.target @ self.target
        return float(0.5 * squares + self.epsilon * np.abs(alpha).sum())

    def gap(self, alpha, residual, gradient):
        """Return a bound on how far the objective is from its minimum; None where ε = 0 and C is infinite.

        Any multiple s · (K̃α − y) is a point of the problem's own dual, with a penalty C Σ (s|g_j| − ε)₊. The
        smaller gap of two is taken: s = 1 (finite C only), and the largest s without penalty, as for the
        lasso.
        """
        excess = np.abs(gradient) - self.epsilon
        gaps = []
        if self.cost < np.inf:
            gaps.append(np.sum(alpha * gradient + self.epsilon * np.abs(alpha) + self.cost * np.maximum(excess, 0)))
        if self.epsilon > 0:
            s = min(1.0, self.epsilon / max(np.abs(gradient).max(initial=0.0), self.epsilon))
            gaps.append(
                0.5 * (1 + s * s) * (residual @ residual)
                + self.epsilon * np.abs(alpha).sum()
                + s * (residual @ self.target)
            )
        return max(0.0, float(min(gaps))) if gaps else None


def minimise(dual, *, tol, max_iter):
    """Minimise a `Dual`, from α = 0.

    Parameters
    ----------
    dual : Dual
    tol : float
        Stop when the largest violation, in units of ‖K̃ᵀy‖_∞, and the duality gap, in units of ½‖y‖², are
        both at most this; a violation as small as the rounding error of a gradient is none.
    max_iter : int
        At most so many moves of one variable.

    Returns
    -------
    alpha : ndarray of float64, shape (N,)
    report : dict
        ``converged``, ``iterations`` (moves of one variable), ``jumps`` (of all free variables), ``residual``
        (the largest violation) and ``gap`` in the units above (``gap`` None where there is no bound),
        ``objective``.
    """
    alpha = np.zeros(dual.columns.n_columns)
    working = WorkingSet(dual)
    unit = np.abs(dual.gradient(-dual.target)).max(initial=0.0) or 1.0
    energy = 0.5 * float(dual.target @ dual.target) or 1.0
    # Where no column is correlated with y, the unit itself is a rounding error, and nothing can be below it:
    # a gradient sums l products, whose sizes add up to ‖K̃_j‖·‖y‖ = √l·‖y‖ at most.
    rows = len(dual.target)
    rounding = rows * np.finfo(np.float64).eps * np.sqrt(2 * energy * rows)
    moving = True
    while True:
        residual = dual.residual(alpha)
        gradient = dual.gradient(residual)
        violations = dual.violations(alpha, gradient)
        worst = violations.max(initial=0.0)
        gap = dual.gap(alpha, residual, gradient) if unit > rounding else 0.0
        converged = worst <= max(tol * unit, rounding) and (gap is None or gap <= tol * energy)
        if converged or not moving or working.moves >= max_iter:
            break
        working.extend(alpha, violations)
        moving = working.minimise(alpha, gradient, 0.1 * worst, max_iter)
    return alpha, {
        "converged": bool(converged),
        "iterations": working.moves,
        "jumps": working.jumps,
        "residual": float(worst / unit),
        "gap": None if gap is None else gap / energy,
        "objective": dual.objective(alpha, residual),
    }


class WorkingSet:
    """The variables that move, and Q for them.

    Attributes
    ----------
    members : ndarray of int64, shape (w,)
    Q : ndarray of float64, shape (w, w)
        K̃ᵀK̃ of the members; its diagonal is l.
    moves, jumps : int
        How often one variable, and all free ones, moved so far.
    """

    def __init__(self, dual):
        self.dual = dual
        self.members = np.empty(0, dtype=np.int64)
        self.Q = np.empty((0, 0))
        self.moves = 0
        self.jumps = 0
        self.damping = DAMPING[1]

    def extend(self, alpha, violations):
        """Add the variables that violate their conditions most, at most as many as there are already.

        A full set is made anew: half of it the worst violators, the rest of it variables that are free.
        """
        size = len(self.members)
        outside = violations > 0
        outside[self.members] = False
        if outside.any() and size == LARGEST:
            self.members, self.Q = self.members[:0], self.Q[:0, :0]
            worst = _largest(violations, np.flatnonzero(violations > 0), LARGEST // 2)
            others = self._free(alpha) & (self.dual.columns.scales > 0)
            others[worst] = False
            fill = _largest(violations, np.flatnonzero(others), LARGEST - len(worst))
            self._add(np.concatenate([worst, fill]))
        elif outside.any():
            count = min(max(FIRST, size), LARGEST - size)
            self._add(_largest(violations, np.flatnonzero(outside), count))

    def _free(self, alpha):
        """Return whether each variable can move both ways: inside the box and, unless ε = 0, not at zero."""
        return (np.abs(alpha) < self.dual.cost) & ((alpha != 0) | (self.dual.epsilon == 0))

    def _add(self, new):
        """Append members and their rows and columns of Q."""
        old, size = len(self.members), len(self.members) + len(new)
        columns = self.dual.columns
        Q = np.empty((size, size))
        Q[:old, :old] = self.Q
        Q[:, old:] = columns.gram(np.concatenate([self.members, new]), new)
        Q[old:, :old] = Q[:old, old:].T
        np.fill_diagonal(Q, float(columns.n_rows))
        self.Q = Q
        self.members = np.concatenate([self.members, new])

    def minimise(self, alpha, gradient, tolerance, max_iter):
        """Lower the objective until no member violates its condition by more than `tolerance`.

        Changes `alpha` in place; returns whether it did.
        """
        if not len(self.members):
            return False
        own, own_gradient = alpha[self.members], gradient[self.members]
        room = np.empty(len(own))
        dual, before, turn = self.dual, own.copy(), max(64, len(own) // 4)
        while self.moves < max_iter:
            limit = min(turn, max_iter - self.moves)
            moves = _psvm.descend(self.Q, own, own_gradient, dual.epsilon, dual.cost, tolerance, limit, room)
            self.moves += moves
            if moves < turn:
                break
            self._jumps(own, own_gradient)
        alpha[self.members] = own
        return not np.array_equal(own, before)

    def _jumps(self, alpha, gradient):
        """Move all free members, several times; damp more when bounds cut the moves short, else less."""
        for _ in range(JUMPS):
            length = self._jump(alpha, gradient)
            if length is None or length == 1:
                break
        if length == 1:
            self.damping = max(self.damping / 10, DAMPING[0])
        elif length is None or length < 0.1:
            self.damping = min(self.damping * 10, DAMPING[1])

    def _jump(self, alpha, gradient):
        """Move all free members along the damped Newton direction; change `alpha` and `gradient` in place.

        Returns the length of the move as a share of the Newton step, None if there was none. Members that
        reach zero or a bound on the way stop there. A long move is taken if it lowers the objective, and
        otherwise the one to the first such stop, which always does.
        """
        epsilon, cost = self.dual.epsilon, self.dual.cost
        free = np.flatnonzero(self._free(alpha))
        sign = np.sign(alpha[free]) if epsilon > 0 else np.zeros(len(free))
        slope = gradient[free] + epsilon * sign
        H = self.Q[np.ix_(free, free)]
        H.flat[:: len(free) + 1] += self.damping * self.Q[0, 0]
        try:
            direction = cho_solve(cho_factor(H, lower=True, overwrite_a=True, check_finite=False), -slope)
        except LinAlgError:
            return None
        stop = np.where(direction > 0, np.where(sign < 0, 0.0, cost), np.where(sign > 0, 0.0, -cost))
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(direction != 0, (stop - alpha[free]) / direction, np.inf)
        nearest = reach.min(initial=np.inf)
        length = 1.0
        step = np.zeros(len(alpha))
        while True:
            goal = np.where(reach <= length, stop, alpha[free] + length * direction)
            step[free] = goal - alpha[free]
            change = self.Q @ step
            # ‖α‖₁ changes by sign · step, as no sign changes.
            gain = -(slope @ step[free] + 0.5 * step @ change)
            if gain > 0 or length <= nearest:
                break
            length = max(length / 4, nearest)
        if not gain > 0:
            return None
        alpha[free] = goal
        gradient += change
        self.jumps += 1
        return length


def _largest(values, which, count):
    """Return the `count` of the indices `which` with the largest values, ties by the smaller index."""
    return which[np.argsort(-values[which], kind="stable")[:count]]
