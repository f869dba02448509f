"""The active variables of the P-SVM, and their moves.

Q = K̃ᵀK̃ is stored for these variables only. The compiled `_descent.descend` moves one variable at a time, the one that
gains most. If that is slow because columns are nearly dependent, a jump (a damped Newton step) moves all free variables
(neither zero nor at a bound) at once, as far as none changes its sign or leaves the box. This makes high accuracy
affordable for small ε.

Q may be in single precision, formed in half the time. That is enough as long as the gradient, which the minimiser
computes in double precision, shows that every run over the members comes closer; else `refine` forms Q again.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.solvers.psvm.potential import _descent
from seqkern.solvers.psvm.potential.columns import Columns, DenseColumns
from seqkern.solvers.psvm.potential.dual import Dual

FIRST = 64  # members that are added at least
LARGEST = 4096  # members at most, so that Q takes at most 128 MiB (64 in single precision)
ROWS = 2**24  # numbers at most of a dense matrix's standardised columns that are kept: 128 MiB (64)
JUMPS = 8  # Newton steps between two runs of coordinate descent
DAMPING = (1e-11, 1e-2)  # smallest and first damping, in units of Q's diagonal
SINGLE_DAMPING = 1e-5  # the smallest in single precision, whose rounding errors may make Q indefinite
SINGLE_MOVES = 16  # moves of a run in single precision, for each member, after which its gradient is checked


class WorkingSet:
    """Active variables and their Q, which depends on neither ε nor C, so one set serves a whole path.

    Parameters
    ----------
    columns : Columns
        K̃.
    single : bool
        Whether to form Q in single precision, until `refine` is called.

    Attributes
    ----------
    members : ndarray of int64, shape (w,)
        The variables.
    Q : ndarray of float64 or float32, shape (w, w)
        K̃ᵀK̃ of the members; its diagonal is l.
    expected : ndarray of float64, shape (w,)
        The members' gradient after the last run, computed by Q.
    moves, jumps : int
        Number of single moves, and of joint moves of all free variables.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.psvm.potential.columns import DenseColumns
    >>> from seqkern.solvers.psvm.potential.working_set import WorkingSet
    >>> working = WorkingSet(DenseColumns(np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])))
    >>> working.include(np.array([0, 2]))
    >>> working.members, working.Q.round(3)
    (array([0, 2]), array([[3.   , 2.598],
           [2.598, 3.   ]]))
    """

    def __init__(self, columns: Columns, single: bool = False) -> None:
        self.columns = columns
        self.moves = 0
        self.jumps = 0
        self.damping = DAMPING[1]
        self._empty(np.dtype(np.float32 if single else np.float64))

    def _empty(self, dtype: np.dtype[Any]) -> None:
        """Remove all members; Q will be of this type."""
        self.members = np.empty(0, dtype=np.int64)
        self.expected = np.empty(0)
        self.Q = self._room = np.empty((0, 0), dtype=dtype)
        self._rows: npt.NDArray[Any] | None = None
        if isinstance(self.columns, DenseColumns):
            size = min(self.columns.n_columns, LARGEST, ROWS // self.columns.n_rows)
            self._rows = np.empty((size, self.columns.n_rows), dtype=dtype)  # uses memory only where filled

    @property
    def single(self) -> bool:
        """Whether Q is in single precision."""
        return self._room.dtype == np.float32

    def is_exact(self, gradient: npt.NDArray[np.float64], shrunk: npt.NDArray[np.bool_], error: float) -> bool:
        """Return whether Q is in double precision, or has been precise enough in the last run.

        Parameters
        ----------
        gradient : ndarray of float64, shape (N,)
            The gradient after it.
        shrunk : ndarray of bool, shape (N,)
            Variables whose gradient is unknown.
        error : float
            The largest error that is accepted in the gradient which the run expected.

        Returns
        -------
        bool
        """
        if not self.single:
            return True
        known = ~shrunk[self.members]
        wrong = np.abs(gradient[self.members][known] - self.expected[known])
        return bool((wrong <= error).all())

    def refine(self, alpha: npt.NDArray[np.float64], violations: npt.NDArray[np.float64]) -> None:
        """Form Q again, in double precision, of the members that are not zero or violate their condition.

        Parameters
        ----------
        alpha, violations : ndarray of float64, shape (N,)
            α and the violation of each variable.
        """
        kept = self.members[(alpha[self.members] != 0) | (violations[self.members] > 0)]
        self._empty(np.dtype(np.float64))
        if len(kept):
            self._add(kept)

    def include(self, which: npt.NDArray[np.int64]) -> None:
        """Add new variables, as far as there is room.

        Parameters
        ----------
        which : ndarray of int64
            May include members.
        """
        new = np.setdiff1d(which, self.members)[: LARGEST - len(self.members)]
        if len(new):
            self._add(new)

    def extend(self, dual: Dual, alpha: npt.NDArray[np.float64], violations: npt.NDArray[np.float64]) -> bool:
        """Add the variables that are not zero, and the worst violators, half as many.

        A full set is rebuilt: half of it from the worst violators, the rest from free variables.

        Parameters
        ----------
        dual : Dual
            The problem.
        alpha, violations : ndarray of float64, shape (N,)
            α and the violation of each variable.

        Returns
        -------
        bool
            Whether all violators are now members.
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

    def _renew(self, dual: Dual, alpha: npt.NDArray[np.float64], violations: npt.NDArray[np.float64]) -> None:
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

    def _add(self, new: npt.NDArray[np.int64]) -> None:
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

    def minimise(
        self,
        dual: Dual,
        alpha: npt.NDArray[np.float64],
        gradient: npt.NDArray[np.float64],
        tolerance: float,
        max_moves: int,
    ) -> bool:
        """Lower the objective until no member violates its condition by more than `tolerance`.

        Parameters
        ----------
        dual : Dual
            The problem.
        alpha : ndarray of float64, shape (N,)
            Changed in place.
        gradient : ndarray of float64, shape (N,)
            That of `alpha`; not changed.
        tolerance : float
            Absolute.
        max_moves : int
            Maximum number of moves of one variable.

        Returns
        -------
        bool
            Whether `alpha` changed.
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
            made = _descent.descend(self.Q, own, own_gradient, dual.epsilon, dual.cost, tolerance, limit, room)
            moves += made
            if made < turn:
                break
            self._jumps(dual, own, own_gradient)
        self.moves += moves
        self.expected = own_gradient
        alpha[self.members] = own
        return not np.array_equal(own, before)

    def _turn(self, dual: Dual, alpha: npt.NDArray[np.float64]) -> int:
        """Return the number of moves before a jump: few if a jump is cheap, otherwise such that moves cost as much."""
        free = int(np.count_nonzero(_free(dual, alpha)))
        return max(FIRST, len(alpha) // 4, free * free // 256)

    def _jumps(self, dual: Dual, alpha: npt.NDArray[np.float64], gradient: npt.NDArray[np.float64]) -> None:
        """Move all free members several times, with more damping if bounds shorten the moves, else less."""
        for _ in range(JUMPS):
            length = self._jump(dual, alpha, gradient)
            if length is None or length == 1:
                break
        if length == 1:
            self.damping = max(self.damping / 10, SINGLE_DAMPING if self.single else DAMPING[0])
        elif length is None or length < 0.1:
            self.damping = min(self.damping * 10, DAMPING[1])

    def _jump(self, dual: Dual, alpha: npt.NDArray[np.float64], gradient: npt.NDArray[np.float64]) -> float | None:
        """Move all free members along the damped Newton direction; change `alpha` and `gradient` in place.

        Returns the length of the move as a share of the Newton step, None without a move. Members that reach zero or a
        bound on the way stop there. A long move is taken if it lowers the objective, and otherwise the one to the first
        such stop, which always does.
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

    def _newton(self, free: npt.NDArray[np.int64], slope: npt.NDArray[np.float64]) -> npt.NDArray[np.float64] | None:
        """Return the solution of (Q + damping) · direction = −slope of the members `free`, or None if it has none."""
        if not len(free):
            return None
        from scipy.linalg.lapack import dposv, sposv  # 0.2 s to import, and most small problems need no jump

        H = np.empty((len(free), len(free)), dtype=self.Q.dtype)
        _descent.gather(self.Q, free, self.damping * self.columns.n_rows, H)
        # LAPACK stores by columns, so the lower triangle here is the upper one there.
        if not self.single:
            _, direction, failed = dposv(H.T, -slope, lower=0, overwrite_a=1)
            return None if failed else direction
        size = float(np.abs(slope).max()) or 1.0
        _, direction, failed = sposv(H.T, (-slope / size).astype(np.float32), lower=0, overwrite_a=1)
        return None if failed else size * direction.astype(np.float64)

    def _product(self, step: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return Q · step. Numbers that single precision lacks, as of very large labels, are scaled."""
        if not self.single:
            return self.Q @ step
        size = float(np.abs(step).max()) or 1.0
        return size * (self.Q @ (step / size).astype(np.float32)).astype(np.float64)


def _free(dual: Dual, alpha: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Return whether each variable can move both ways: inside the box and, unless ε = 0, not at zero."""
    return (np.abs(alpha) < dual.cost) & ((alpha != 0) | (dual.epsilon == 0))


def _largest(values: npt.NDArray[np.float64], which: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    """Return the `count` of the indices `which` with the largest values, ties by the smaller index."""
    return which[np.argsort(-values[which], kind="stable")[:count]]


def _enlarged(room: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """Return a square array for at least `size` members that begins with `room`; it doubles."""
    had = len(room)
    if had >= size:
        return room
    grown = np.empty((max(size, 2 * had), max(size, 2 * had)), dtype=room.dtype)
    grown[:had, :had] = room
    return grown
