"""The P-SVM's quadratic program: objective, working set, minimiser, decisions."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqkern.core.errors import GramError
from seqkern.core.matrices import is_operator, is_sparse
from seqkern.core.threads import one_thread
from seqkern.core.types import Array, Bools, Floats, Ints
from seqkern.gram.matrix import MIB, GramRows, MatrixFile, is_whole_map
from seqkern.solvers import _linear
from seqkern.solvers.psvm import _psvm
from seqkern.solvers.psvm.columns import Columns, DenseColumns, MappedColumns, OperatorColumns, SparseColumns

# The dual problem of the P-SVM: objective, optimality conditions, and duality gap.
#
#     min_α  ½ ‖K̃α − y‖² + ε ‖α‖₁   over   −C ≤ α_j ≤ C
#
# K̃ has standardised columns, and y is centred. Without an equality constraint, single variables can move.


@dataclass(frozen=True)
class Dual:
    """One dual problem; `dataclasses.replace` changes ε or C without another pass over K."""

    columns: Columns  # K and the means and scales of its columns; a scale of zero excludes a column
    target: Floats  # shape (l,): y, centred
    epsilon: float  # ε ≥ 0 and C > 0, which may be infinite
    cost: float  # ε ≥ 0 and C > 0, which may be infinite
    correlations: Floats = None  # type: ignore[assignment]  # an array from the start on

    def __post_init__(self) -> None:
        """Compute the correlations K̃ᵀy unless given."""
        if self.correlations is None:
            with one_thread():
                object.__setattr__(self, "correlations", self.columns.products(self.target))

    @property
    def epsilon_max(self) -> float:
        """The largest useful ε, ‖K̃ᵀy‖_∞: from this value on, α = 0 is the solution."""
        return float(np.abs(self.correlations).max(initial=0.0))

    @property
    def unit(self) -> float:
        """The unit of violations: ε_max, or 1 if it is 0."""
        return self.epsilon_max or 1.0

    @property
    def energy(self) -> float:
        """The unit of gaps: ½‖y‖², or 1 if it is 0."""
        return 0.5 * float(self.target @ self.target) or 1.0

    @property
    def rounding(self) -> float:
        """The upper bound on the rounding error of a gradient.

        A gradient sums l products, whose sizes add up to ‖K̃_j‖·‖y‖ = √l·‖y‖ at most.
        """
        rows = len(self.target)
        return rows * np.finfo(np.float64).eps * float(np.sqrt(2 * self.energy * rows))

    def residual(self, alpha: Floats) -> Floats:
        """Return the residual K̃α − y, shape (l,)."""
        return self.columns.combine(alpha) - self.target

    def gradient(self, residual: Floats) -> Floats:
        """Return the gradient g = K̃ᵀ(K̃α − y), shape (N,)."""
        return self.columns.products(residual)

    def violations(self, alpha: Floats, gradient: Floats) -> Floats:
        """Return the violation of each variable's optimality condition, zero where it holds.

        The conditions are |g| ≤ ε for α = 0, g = −ε for 0 < α < C, g = ε for −C < α < 0, g ≤ −ε for α = C, and g ≥ ε
        for α = −C.
        """
        out = np.empty(len(alpha))
        _psvm.violations(alpha, gradient, self.epsilon, self.cost, out)
        return out

    def objective(self, alpha: Floats, residual: Floats) -> float:
        """Return ½ αᵀK̃ᵀK̃α − yᵀK̃α + ε‖α‖₁, the objective of the module less ½‖y‖²."""
        squares = residual @ residual - self.target @ self.target
        return float(0.5 * squares + self.epsilon * np.abs(alpha).sum())

    def gap(self, alpha: Floats, residual: Floats, gradient: Floats) -> float | None:
        """Return an upper bound on the distance of the objective from its minimum; None if ε = 0 and C is infinite.

        Any multiple s · (K̃α − y) is a point of the problem's own dual, with a penalty C Σ (s|g_j| − ε)₊. The smaller
        gap of two is returned: for s = 1 (finite C only), and for the largest s without penalty, as for the lasso.
        """
        size = np.abs(gradient)
        norm = self.epsilon * float(np.abs(alpha).sum())
        gaps = []
        if self.cost < np.inf:
            gaps.append(alpha @ gradient + norm + self.cost * np.maximum(size - self.epsilon, 0).sum())
        if self.epsilon > 0:
            s = self.epsilon / max(size.max(initial=0.0), self.epsilon)
            gaps.append(0.5 * (1 + s * s) * (residual @ residual) + norm + s * (residual @ self.target))
        return max(0.0, float(min(gaps))) if gaps else None


# The active variables of the P-SVM, and their moves.
#
# Q = K̃ᵀK̃ is stored for these variables only. The compiled `_psvm.descend` moves one variable at a time, the one
# that gains most. If that is slow because columns are nearly dependent, a jump (a damped Newton step) moves all free
# variables (neither zero nor at a bound) at once, as far as none changes its sign or leaves the box. This makes high
# accuracy affordable for small ε.
#
# Q may be in single precision, which is computed in half the time. That suffices as long as the gradient, which the
# minimiser computes in double precision, shows progress in every run over the members; otherwise `refine` recomputes Q.

FIRST = 64  # members that are added at least
LARGEST = 4096  # members at most, so that Q takes at most 128 MiB (64 in single precision)
ROWS = 2**24  # numbers at most of a dense matrix's standardised columns that are kept: 128 MiB (64)
JUMPS = 8  # Newton steps between two runs of coordinate descent
DAMPING = (1e-11, 1e-2)  # smallest and first damping, in units of Q's diagonal
SINGLE_DAMPING = 1e-5  # the smallest in single precision, whose rounding errors may make Q indefinite
SINGLE_MOVES = 16  # moves of a run in single precision, for each member, after which its gradient is checked


class WorkingSet:
    """The active variables and their Q, which depends on neither ε nor C, so one set serves a whole path.

    `expected` is the gradient of the members after the last run, computed by Q.
    """

    def __init__(self, columns: Columns, single: bool = False) -> None:
        self.columns = columns
        self.moves = 0
        self.jumps = 0
        self.damping = DAMPING[1]
        self._empty(np.dtype(np.float32 if single else np.float64))

    def _empty(self, dtype: np.dtype[Any]) -> None:
        """Remove all members, and set the type of Q."""
        self.members = np.empty(0, dtype=np.int64)
        self.expected = np.empty(0)
        self.Q = self._room = np.empty((0, 0), dtype=dtype)
        self._rows: Array | None = None
        if isinstance(self.columns, DenseColumns):
            size = min(self.columns.n_columns, LARGEST, ROWS // self.columns.n_rows)
            self._rows = np.empty((size, self.columns.n_rows), dtype=dtype)  # uses memory only where filled

    @property
    def single(self) -> bool:
        """Whether Q is in single precision."""
        return self._room.dtype == np.float32

    def is_exact(self, gradient: Floats, shrunk: Bools, error: float) -> bool:
        """Return whether Q is in double precision or was precise enough in the last run.

        `error` is the largest accepted error of the expected gradient; `shrunk` marks variables of unknown gradient.
        """
        if not self.single:
            return True
        known = ~shrunk[self.members]
        wrong = np.abs(gradient[self.members][known] - self.expected[known])
        return bool((wrong <= error).all())

    def refine(self, alpha: Floats, violations: Floats) -> None:
        """Recompute Q in double precision for the members that are nonzero or violate their condition."""
        kept = self.members[(alpha[self.members] != 0) | (violations[self.members] > 0)]
        self._empty(np.dtype(np.float64))
        if len(kept):
            self._add(kept)

    def include(self, which: Ints) -> None:
        """Add new variables as far as there is room; `which` may include members."""
        new = np.setdiff1d(which, self.members)[: LARGEST - len(self.members)]
        if len(new):
            self._add(new)

    def extend(self, dual: Dual, alpha: Floats, violations: Floats) -> bool:
        """Add the nonzero variables and half as many of the worst violators; return whether all violators are members.

        A full set is rebuilt: half of it from the worst violators, the rest from free variables.
        """
        new = alpha != 0  # by a start, or by sweeps
        new[self.members] = False
        if new.any():
            self.include(np.flatnonzero(new))
        violating = violations > 0
        violating[self.members] = False
        outside = np.flatnonzero(violating)
        room = LARGEST - len(self.members)
        if not len(outside):
            return True
        if room == 0:
            self._renew(dual, alpha, violations)
            return False
        count = min(max(FIRST, int(np.count_nonzero(alpha)) // 2), room)
        self._add(_largest(violations, outside, count))
        return count >= len(outside)

    def _renew(self, dual: Dual, alpha: Floats, violations: Floats) -> None:
        """Choose new members of a full set, keeping the known part of Q."""
        worst = _largest(violations, np.flatnonzero(violations > 0), LARGEST // 2)
        others = _free(dual, alpha) & (self.columns.scales > 0)
        others[worst] = False
        chosen = np.zeros(len(alpha), dtype=bool)
        chosen[worst] = True
        chosen[_largest(violations, np.flatnonzero(others), LARGEST - len(worst))] = True
        kept = np.flatnonzero(chosen[self.members])
        self._room[: len(kept), : len(kept)] = self._room[np.ix_(kept, kept)]
        self._rows = None
        self.members = self.members[kept]
        chosen[self.members] = False
        self._add(np.flatnonzero(chosen))

    def _add(self, new: Ints) -> None:
        """Append members and their rows and columns of Q."""
        old, size = len(self.members), len(self.members) + len(new)
        self.members = np.concatenate([self.members, new])
        self._room = _enlarged(self._room, size)
        if self._rows is not None and size <= len(self._rows):
            rows = self._rows[old:size]
            for start in range(0, len(new), DenseColumns.BLOCK):
                rows[start : start + DenseColumns.BLOCK] = self.columns.standardised(
                    new[start : start + DenseColumns.BLOCK]
                )
            np.matmul(self._rows[:old], rows.T, out=self._room[:old, old:size])
            self._room[old:size, old:size] = rows @ rows.T  # BLAS does half of it
        else:
            self._rows = None
            self._room[:size, old:size] = self.columns.gram(self.members, new)
        self._room[old:size, :old] = self._room[:old, old:size].T
        self.Q = self._room[:size, :size]
        np.fill_diagonal(self.Q, float(self.columns.n_rows))

    def minimise(self, dual: Dual, alpha: Floats, gradient: Floats, tolerance: float, max_moves: int) -> bool:
        """Lower the objective until no member's violation exceeds `tolerance`; return whether `alpha` changed.

        `alpha` is changed in place; `gradient` is the gradient at `alpha`, and is not changed.
        """
        if not len(self.members):
            return False
        own, own_gradient = alpha[self.members], gradient[self.members]
        before, room = own.copy(), np.empty(len(own))
        moves = 0
        if self.single:
            max_moves = min(max_moves, SINGLE_MOVES * len(own))
        while moves < max_moves:
            turn = self._turn(dual, own)
            limit = min(turn, max_moves - moves)
            made = _psvm.descend(self.Q, own, own_gradient, dual.epsilon, dual.cost, tolerance, limit, room)
            moves += made
            if made < turn:
                break
            self._jumps(dual, own, own_gradient)
        self.moves += moves
        self.expected = own_gradient
        alpha[self.members] = own
        return not np.array_equal(own, before)

    def _turn(self, dual: Dual, alpha: Floats) -> int:
        """Return the number of moves before a jump: few if a jump is cheap, else enough to cost as much."""
        free = int(np.count_nonzero(_free(dual, alpha)))
        return max(FIRST, len(alpha) // 4, free * free // 256)

    def _jumps(self, dual: Dual, alpha: Floats, gradient: Floats) -> None:
        """Move all free members several times, with more damping if bounds cut the moves short, else less."""
        for _ in range(JUMPS):
            length = self._jump(dual, alpha, gradient)
            if length is None or length == 1:
                break
        if length == 1:
            self.damping = max(self.damping / 10, SINGLE_DAMPING if self.single else DAMPING[0])
        elif length is None or length < 0.1:
            self.damping = min(self.damping * 10, DAMPING[1])

    def _jump(self, dual: Dual, alpha: Floats, gradient: Floats) -> float | None:
        """Move all free members along the damped Newton direction, changing `alpha` and `gradient` in place.

        Returns the length of the move as a share of the Newton step, or None without a move. Members that reach zero or
        a bound on the way stop there. A long move is accepted if it lowers the objective; otherwise the move ends at
        the first such stop, which always lowers it.
        """
        epsilon, cost = dual.epsilon, dual.cost
        free = np.flatnonzero(_free(dual, alpha))
        sign = np.sign(alpha[free]) if epsilon > 0 else np.zeros(len(free))
        slope = gradient[free] + epsilon * sign
        direction = self._newton(free, slope)
        if direction is None:
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
            change = self._product(step)
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

    def _newton(self, free: Ints, slope: Floats) -> Floats | None:
        """Return the solution of (Q + damping) · direction = −slope for the members `free`, or None."""
        if not len(free):
            return None
        from scipy.linalg.lapack import dposv, sposv  # 0.2 s to import, and most small problems need no jump

        H = np.empty((len(free), len(free)), dtype=self.Q.dtype)
        _psvm.gather(self.Q, free, self.damping * self.columns.n_rows, H)
        # LAPACK stores by columns, so the lower triangle here is the upper one there.
        if not self.single:
            _, direction, failed = dposv(H.T, -slope, lower=0, overwrite_a=1)
            return None if failed else direction
        size = float(np.abs(slope).max()) or 1.0
        _, direction, failed = sposv(H.T, (-slope / size).astype(np.float32), lower=0, overwrite_a=1)
        return None if failed else size * direction.astype(np.float64)

    def _product(self, step: Floats) -> Floats:
        """Return Q · step, scaled where values leave the range of single precision, as with very large labels."""
        if not self.single:
            return self.Q @ step
        size = float(np.abs(step).max()) or 1.0
        return size * (self.Q @ (step / size).astype(np.float32)).astype(np.float64)


def _free(dual: Dual, alpha: Floats) -> Bools:
    """Return a mask of the variables that can move both ways: inside the box and, unless ε = 0, not at zero."""
    return (np.abs(alpha) < dual.cost) & ((alpha != 0) | (dual.epsilon == 0))


def _largest(values: Floats, which: Ints, count: int) -> Ints:
    """Return the `count` of the indices `which` with the largest values; ties go to the smaller index."""
    return which[np.argsort(-values[which], kind="stable")[:count]]


def _enlarged(room: Array, size: int) -> Array:
    """Return a square array that starts with `room` and holds at least `size` members; its size doubles."""
    had = len(room)
    if had >= size:
        return room
    grown = np.empty((max(size, 2 * had), max(size, 2 * had)), dtype=room.dtype)
    grown[:had, :had] = room
    return grown


# Minimisation of the P-SVM dual, for one ε or along a path.
#
# `minimise` checks all variables, adds the worst violators to a `WorkingSet` (working_set.py), which minimises over its
# members, and repeats until no other variable violates its condition. The result (α, the gradient, and the working set
# with its Q) warm-starts the next problem with the same columns and labels. So a path of decreasing ε (ε-annealing)
# computes each element of Q once, and checks all columns about once per ε.
#
# Shrinking: variables that the duality gap proves to be zero at the minimum are skipped.
#
# Sweeps: where the columns are nearly orthogonal, as with a narrow kernel, all variables are first moved in turn,
# without Q. That alone may reach a minimum at which nearly all variables are nonzero.

INNER = 0.1  # tolerance of a working set, as a share of the worst violation
SWEEPS = 20, 64  # so many more, or columns divided by this, cost as much as a working set of all columns
RECENT = 4  # sweeps from which their rate is estimated


@dataclass
class Minimum:
    """The minimum found by `minimise`, with its gradient and working set.

    In `report`, ``iterations`` counts moves of one variable, ``jumps`` moves of all free variables, ``residual`` is the
    largest violation in units of ‖K̃ᵀy‖_∞, and ``gap`` is in units of ½‖y‖² (None if unbounded). `shrunk` marks
    variables that the gap proves to be zero; their `gradient` dates from when they were shrunk.
    """

    alpha: Floats  # shape (N,): α
    # ``converged``, ``iterations`` (moves of one variable), ``jumps`` (of all free variables), ``residual`` (the
    # largest violation, in units of ‖K̃ᵀy‖_∞) and ``gap`` (in units of ½‖y‖²; None if unbounded), ``objective``
    report: dict[str, Any]
    residual: Floats  # shape (l,): K̃α − y
    gradient: Floats  # shape (N,): K̃ᵀ(K̃α − y); for shrunk variables, the value at that time
    shrunk: Bools  # shape (N,): Variables that the gap proves to be zero
    working: WorkingSet  # Shared with minima started from this one


def minimise(dual: Dual, *, tol: float, max_iter: int, start: Minimum | Floats | None = None) -> Minimum:
    """Minimise a `Dual`, optionally starting from a previous minimum or α.

    It stops when the largest violation, in units of ‖K̃ᵀy‖_∞, and the duality gap, in units of ½‖y‖², are both at most
    `tol`; violations within the rounding error of a gradient are ignored. `max_iter` limits the moves of one variable.
    """
    with one_thread():
        return _minimise(dual, tol, max_iter, start)


def _minimise(dual: Dual, tol: float, max_iter: int, start: Minimum | Floats | None) -> Minimum:
    """Minimise a `Dual` on one thread; see `minimise`."""
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


def _begin(dual: Dual, start: Minimum | Floats | None) -> Minimum:
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
    """Return an empty working set, in single precision if the columns are dense.

    The columns of a dense matrix are at hand to recompute Q if necessary.
    """
    return WorkingSet(dual.columns, single=isinstance(dual.columns, DenseColumns))


def _sweep(dual: Dual, now: Minimum, tol: float, max_iter: int) -> int:
    """Minimise over each variable in turn if that converges soon; return the number of moves."""
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
    """Return the distance of a point from convergence, in units of the tolerances; inf if unknown."""
    gap = dual.gap(now.alpha, now.residual, now.gradient)
    if gap is None or dual.unit <= dual.rounding:
        return np.inf
    worst = float(dual.violations(now.alpha, now.gradient).max(initial=0.0))
    return max(gap / (tol * dual.energy), worst / max(tol * dual.unit, dual.rounding))


def _look(dual: Dual, now: Minimum, which: Bools) -> None:
    """Compute the gradient of some variables."""
    if which.all():
        now.gradient = dual.gradient(now.residual)
    elif which.any():
        places = np.flatnonzero(which)
        now.gradient[places] = dual.columns.products_of(places, now.residual)


def _shrink(dual: Dual, now: Minimum, gap: float | None) -> None:
    """Mark the variables that are zero at the minimum and on the way to it (Ndiaye et al., JMLR 18, 2017).

    The objective is strongly convex in K̃α: with a gap G, K̃α is within √(2G) of its minimum, and so is every later one
    with a smaller gap. No element of the gradient changes by more than √l times twice that between them.
    """
    if gap is not None and dual.epsilon > 0:
        rounding = len(dual.target) * np.finfo(np.float64).eps * dual.energy
        margin = 2 * np.sqrt(2 * (gap + rounding) * len(dual.target)) + dual.rounding
        now.shrunk = now.shrunk | ((np.abs(now.gradient) + margin < dual.epsilon) & (now.alpha == 0))


# Decision values for new rows, without reading large matrices into memory.


def stays_outside(K: Any, cache_size: float) -> bool:
    """Return whether a matrix stays outside memory.

    This holds for operators, GramRows, and memory maps of files larger than `cache_size` MiB.

    >>> import numpy as np
    >>> from seqkern.solvers.psvm.qp import stays_outside
    >>> stays_outside(np.eye(3), cache_size=256)
    False
    """
    return is_operator(K) or isinstance(K, GramRows) or (is_whole_map(K) and K.nbytes > cache_size * MIB)


def decide(K: Any, columns: Ints, means: Floats, weights: Floats, intercept: float, cache_size: float) -> Floats:
    """Return Σ_j (K[i, columns[j]] − means[j]) · weights[j] + intercept for each row i of K, shape (m,).

    The results are bit-identical for all storages of K except operators. `columns` are the support columns.

    >>> import numpy as np
    >>> from seqkern.solvers.psvm.qp import decide
    >>> K = np.array([[1.0, 7.0, 3.0], [0.0, 7.0, 5.0]])
    >>> decide(K, np.array([0, 2]), np.array([0.5, 4.0]), np.array([2.0, 1.0]), 0.25, cache_size=256)
    array([0.25, 0.25])
    """
    out = np.empty(K.shape[0])
    if is_operator(K):
        full = np.zeros(K.shape[1])
        full[columns] = weights
        return np.asarray(K.matvec(full), dtype=np.float64) + (intercept - float(means @ weights))
    if not is_sparse(K) and not stays_outside(K, cache_size):
        _linear.decide(K, columns, means, weights, intercept, out)
        return out
    for part, block in _support_blocks(K, columns, int(cache_size * MIB / 8)):
        _linear.decide(block, np.arange(len(columns)), means, weights, intercept, out[part])
    return out


def _support_blocks(K: Any, columns: Ints, size: int) -> Iterator[tuple[slice, Floats]]:
    """Yield (slice, its rows restricted to `columns`) of a sparse matrix or file, `size` numbers at a time."""
    if is_sparse(K):
        picked = K.tocsc()[:, columns].tocsr()
        step = max(1, size // max(1, len(columns)))
        for start in range(0, K.shape[0], step):
            part = slice(start, min(start + step, K.shape[0]))
            yield part, picked[part].toarray()
    elif isinstance(K, GramRows):
        yield from K.blocks(columns)
    elif K.flags.c_contiguous:
        for part, block in MatrixFile.of(K).blocks(size // 2):
            yield part, np.ascontiguousarray(block[:, columns])
    else:
        # Stored by columns: only support columns are read.
        yield slice(0, K.shape[0]), np.ascontiguousarray(MatrixFile.of(K).take(columns).T)


# The choice of the `Columns` class for a matrix K.


def columns_of(K: Any, *, square: bool, cache_size: float) -> Columns:
    """Return the `Columns` of a matrix (l, N); `square` marks a Gram matrix, which may be symmetric.

    GramRows must be square, with ascending rows; `cache_size` limits the MiB for the columns of a large memory map.
    """
    if is_operator(K):
        return OperatorColumns(K)
    if is_sparse(K):
        return SparseColumns(K)
    if isinstance(K, GramRows):  # symmetric
        if not (np.diff(K.rows) > 0).all():
            raise GramError("rows of a Gram matrix in a file are out of order", remedy="sort the training rows")
        return MappedColumns(K.file.part(K.rows, K.columns), True, cache_size)
    if stays_outside(K, cache_size):
        return MappedColumns.of(K, square, cache_size)
    return DenseColumns.of(K, square)
