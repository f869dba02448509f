"""Minimisation of the dual of the P-SVM, for one ε or along a path.

`minimise` checks all variables, adds the worst violators to a `WorkingSet` (working_set.py), which minimises over its
members, and repeats until no other variable violates its condition. The result is a warm start for the next problem
with the same columns and labels: α, the gradient, and the working set with its Q. So a path of decreasing ε
(ε-annealing) computes each element of Q once, and looks at all columns about once per ε.

Shrinking: variables that the duality gap proves to be zero at the minimum are skipped.

Sweeps: where the columns are nearly orthogonal, as those of a narrow kernel, all variables are moved in turn before,
without Q. That alone may reach the minimum, of which nearly all variables may be a part.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.threads import one_thread
from seqkern.solvers.psvm.potential.columns import DenseColumns
from seqkern.solvers.psvm.potential.dual import Dual
from seqkern.solvers.psvm.potential.working_set import WorkingSet

INNER = 0.1  # tolerance of a working set, as a share of the worst violation
SWEEPS = 20, 64  # so many more, or columns divided by this, cost as much as a working set of all columns
RECENT = 4  # sweeps from which their rate is estimated


@dataclass
class Minimum:
    """The result of `minimise`.

    Attributes
    ----------
    alpha : ndarray of float64, shape (N,)
        α.
    report : dict
        ``converged``, ``iterations`` (moves of one variable), ``jumps`` (of all free variables), ``residual`` (the
        largest violation, in units of ‖K̃ᵀy‖_∞) and ``gap`` (in units of ½‖y‖²; None if unbounded), ``objective``.
    residual : ndarray of float64, shape (l,)
        K̃α − y.
    gradient : ndarray of float64, shape (N,)
        K̃ᵀ(K̃α − y); for shrunk variables, the value at that time.
    shrunk : ndarray of bool, shape (N,)
        Variables that the gap proves to be zero.
    working : WorkingSet
        Shared with minima started from this one.
    """

    alpha: npt.NDArray[np.float64]
    report: dict[str, Any]
    residual: npt.NDArray[np.float64]
    gradient: npt.NDArray[np.float64]
    shrunk: npt.NDArray[np.bool_]
    working: WorkingSet


def minimise(
    dual: Dual, *, tol: float, max_iter: int, start: Minimum | npt.NDArray[np.float64] | None = None
) -> Minimum:
    """Minimise a `Dual`.

    Parameters
    ----------
    dual : Dual
        The problem, with its ε and C.
    tol : float
        Stop when the largest violation, in units of ‖K̃ᵀy‖_∞, and the duality gap, in units of ½‖y‖², are both at most
        this; violations within the rounding error of a gradient are ignored.
    max_iter : int
        Maximum number of moves of one variable.
    start : Minimum or ndarray of float64, shape (N,), optional
        The minimum of the problem with the same columns and target and another ε or C, or any α; by default 0.

    Returns
    -------
    Minimum

    Examples
    --------
    >>> from dataclasses import replace
    >>> import numpy as np
    >>> from seqkern.solvers.psvm.potential.columns import DenseColumns
    >>> from seqkern.solvers.psvm.potential.dual import Dual
    >>> from seqkern.solvers.psvm.potential.minimiser import minimise
    >>> columns = DenseColumns(np.array([[1.0, 2.0, 3.0, 4.0], [1.0, 0.0, 0.0, 2.0]]))
    >>> dual = Dual(columns, np.array([-1.0, -1.0, 1.0, 1.0]), epsilon=1.0, cost=np.inf)
    >>> found = minimise(dual, tol=1e-6, max_iter=1000)
    >>> found.alpha.round(3), found.report["converged"]
    (array([0.644, 0.   ]), True)
    >>> minimise(replace(dual, epsilon=0.5), tol=1e-6, max_iter=1000, start=found).alpha.round(3)
    array([0.769, 0.   ])
    """
    with one_thread():
        return _minimise(dual, tol, max_iter, start)


def _minimise(dual: Dual, tol: float, max_iter: int, start: Minimum | npt.NDArray[np.float64] | None) -> Minimum:
    """Minimise on one thread; see `minimise`."""
    now = _begin(dual, start)
    working, moves, jumps = now.working, now.working.moves, now.working.jumps
    tolerance = max(tol * dual.unit, dual.rounding)
    if working.single and dual.epsilon == 0:  # nothing would keep α small where rounding errors make Q indefinite
        working.refine(now.alpha, dual.violations(now.alpha, now.gradient))
    swept = _sweep(dual, now, INNER * tol, max_iter)  # as near as other runs end
    moving = True
    while True:
        violations = dual.violations(now.alpha, now.gradient)
        worst = float(violations.max(initial=0.0))
        # If no column is correlated with y, the unit itself is a rounding error, and cannot be reached.
        gap = dual.gap(now.alpha, now.residual, now.gradient) if dual.unit > dual.rounding else 0.0
        converged = worst <= tolerance and (gap is None or gap <= tol * dual.energy)
        done = swept + working.moves - moves
        near = not working.single or worst <= INNER * tolerance  # as double precision ends
        if (converged and near) or not moving or done >= max_iter:
            break
        _shrink(dual, now, gap)
        complete = working.extend(dual, now.alpha, violations)
        # A working set with all violators is solved exactly, because another look at all columns costs more.
        inner = min(INNER * worst, 0.5 * tolerance) if complete else INNER * worst
        before = now.alpha.copy(), now.residual, now.gradient.copy()
        moving = working.minimise(dual, now.alpha, now.gradient, inner, max_iter - done)
        now.residual = dual.residual(now.alpha)
        _look(dual, now, ~now.shrunk)
        if not working.is_exact(now.gradient, now.shrunk, INNER * worst):
            now.alpha, now.residual, now.gradient = before
            working.refine(now.alpha, violations)
            moving = True
    now.report = {
        "converged": bool(converged),
        "iterations": done,
        "jumps": working.jumps - jumps,
        "residual": worst / dual.unit,
        "gap": None if gap is None else gap / dual.energy,
        "objective": dual.objective(now.alpha, now.residual),
    }
    return now


def _begin(dual: Dual, start: Minimum | npt.NDArray[np.float64] | None) -> Minimum:
    """Return an initial Minimum: α inside the box, an updated gradient, an empty report."""
    size = dual.columns.n_columns
    none = np.zeros(size, dtype=bool)
    if start is None:
        return Minimum(np.zeros(size), {}, -dual.target, -dual.correlations, none, _working_set(dual))
    if not isinstance(start, Minimum):
        alpha = np.clip(np.where(dual.columns.scales > 0, start, 0.0), -dual.cost, dual.cost)
        residual = dual.residual(alpha)
        return Minimum(alpha, {}, residual, dual.gradient(residual), none, _working_set(dual))
    alpha = np.clip(start.alpha, -dual.cost, dual.cost)
    if not np.array_equal(alpha, start.alpha):
        residual = dual.residual(alpha)
        return Minimum(alpha, {}, residual, dual.gradient(residual), none, start.working)
    now = Minimum(alpha, {}, start.residual, start.gradient.copy(), none, start.working)
    _look(dual, now, start.shrunk)
    return now


def _working_set(dual: Dual) -> WorkingSet:
    """Return an empty working set. The columns of a dense matrix are at hand to form Q again, if need be."""
    return WorkingSet(dual.columns, single=isinstance(dual.columns, DenseColumns))


def _sweep(dual: Dual, now: Minimum, tol: float, max_iter: int) -> int:
    """Minimise over each variable in turn, if that leads to the minimum soon; return the number of moves."""
    columns, moves, far = dual.columns, 0, _distance(dual, now, tol)
    if not (isinstance(columns, DenseColumns) and columns.nearly_orthogonal and 1 < far < np.inf):
        return 0
    before = now.alpha.copy(), now.residual, now.gradient.copy()
    now.residual = now.residual.copy()
    which = np.flatnonzero(~now.shrunk)
    seen, more = [far], max(SWEEPS[0], columns.n_columns // SWEEPS[1])
    while far > 1 and moves + len(which) <= max_iter:
        moves += columns.sweep(which, now.alpha, now.residual, dual.epsilon, dual.cost)
        _look(dual, now, ~now.shrunk)
        far = _distance(dual, now, tol)
        seen = [*seen, far][-RECENT - 1 :]
        rate = (far / seen[0]) ** (1 / (len(seen) - 1))
        if far > 1 and far * rate**more > 1:
            now.alpha, now.residual, now.gradient = before
            return moves
    now.residual = dual.residual(now.alpha)  # without the rounding errors of its changes
    _look(dual, now, ~now.shrunk)
    return moves


def _distance(dual: Dual, now: Minimum, tol: float) -> float:
    """Return how far a point is from convergence, in units of the tolerances; inf if that is unknown."""
    gap = dual.gap(now.alpha, now.residual, now.gradient)
    if gap is None or dual.unit <= dual.rounding:
        return np.inf
    worst = float(dual.violations(now.alpha, now.gradient).max(initial=0.0))
    return max(gap / (tol * dual.energy), worst / max(tol * dual.unit, dual.rounding))


def _look(dual: Dual, now: Minimum, which: npt.NDArray[np.bool_]) -> None:
    """Compute the gradient of some variables."""
    if which.all():
        now.gradient = dual.gradient(now.residual)
    elif which.any():
        places = np.flatnonzero(which)
        now.gradient[places] = dual.columns.products_of(places, now.residual)


def _shrink(dual: Dual, now: Minimum, gap: float | None) -> None:
    """Mark the variables that are zero at the minimum and until then (Ndiaye et al., JMLR 18, 2017).

    The objective is strongly convex in K̃α: with a gap G, K̃α is within √(2G) of its minimum, and so is every later
    one with a smaller gap. No element of the gradient changes by more than √l times twice that between them.
    """
    if gap is not None and dual.epsilon > 0:
        rounding = len(dual.target) * np.finfo(np.float64).eps * dual.energy
        margin = 2 * np.sqrt(2 * (gap + rounding) * len(dual.target)) + dual.rounding
        now.shrunk = now.shrunk | ((np.abs(now.gradient) + margin < dual.epsilon) & (now.alpha == 0))
