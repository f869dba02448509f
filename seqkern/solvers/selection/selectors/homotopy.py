"""The exact solution path of the P-SVM without bound (C = ∞), for all ε.

For C = ∞ the P-SVM is the lasso, whose solution is piecewise linear in ε: between two *knots* the selected columns A
and the signs s of their coefficients stay, and with K̃_A = QR

    α_A(ε) = R⁻¹Qᵀt − ε R⁻¹R⁻ᵀs,        K̃ᵀ(t − K̃α(ε)) = K̃ᵀ(t − QQᵀt) + ε K̃ᵀQR⁻ᵀs.

At a knot a column joins, as its correlation with the residual reaches ±ε, or leaves, as its coefficient reaches 0.
There are l rows, and at most l − 1 columns are selected at a time, so that Q is small however many columns K has, and
no product of two columns outside A is needed. Everything is computed from A, so that errors do not accumulate along the
path. Osborne, Presnell & Turlach 2000; Efron, Hastie, Johnstone & Tibshirani 2004.

A knot checks the columns *near* to joining, and the others only if necessary: a column's correlation with the residual
r changes by at most √l ‖r − r₀‖ since it was computed for r₀, so that as long as the largest of the others and this are
below ε, none of them joins. No column is ignored: the path is exact.
"""

import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dtrtrs
from sklearn.exceptions import ConvergenceWarning

LOWEST = 1e-6
"""The path ends at this share of the largest ε, below which rounding determines signs."""
ORTHOGONAL = 1e-12
"""A cosine of at most this between target and column is rounding."""
DEPENDENT = 1e-9
"""A column is in the span of the selected ones if this share of its length, or less, is outside."""
NEAR = 10
"""Columns per row that are near; if they do not suffice, four times as many, and so on."""
STALLED = 25
"""More events at one ε than this, beyond one for each selected column, count as a cycle."""
NOISE = (0.0, 1e-10, 1e-8, 1e-6)
"""If tied columns form a cycle, perturbing the target by this share makes them enter one by one."""


@dataclass(frozen=True)
class Segment:
    """The solutions between two knots, ``alpha(ε) = start − ε · slope``.

    Attributes
    ----------
    top, bottom : float
        The ε at its ends.
    active : ndarray of int64, shape (s,)
        The selected columns.
    start, slope : ndarray of float64, shape (s,)
        One entry for each of them.
    """

    top: float
    bottom: float
    active: npt.NDArray[np.int64]
    start: npt.NDArray[np.float64]
    slope: npt.NDArray[np.float64]

    def alpha(self, epsilon: float) -> npt.NDArray[np.float64]:
        """Return the coefficients at an ε of this segment.

        Parameters
        ----------
        epsilon : float
            Between `bottom` and `top`.

        Returns
        -------
        ndarray of float64, shape (active,)
            α of the columns `active`.
        """
        return self.start - epsilon * self.slope


@dataclass(frozen=True)
class EpsilonPath:
    """The solutions from ε_max, above which no column is selected, down to `bottom`.

    Attributes
    ----------
    top, bottom : float
        ε_max, and where the path ends.
    segments : list of Segment
        From top to bottom, each with positive length.
    """

    top: float
    bottom: float
    segments: list[Segment]

    def at(self, epsilon: float) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Return the solution at an ε.

        Parameters
        ----------
        epsilon : float
            Values below `bottom` are replaced by it.

        Returns
        -------
        columns : ndarray of int64, shape (s,)
            The selected columns.
        coefficients : ndarray of float64, shape (s,)
            Their α, none of them 0.
        """
        epsilon = max(epsilon, self.bottom)
        for segment in self.segments:
            if segment.bottom <= epsilon < segment.top:
                alpha = segment.alpha(epsilon)
                return segment.active[alpha != 0], alpha[alpha != 0]
        return np.empty(0, dtype=np.int64), np.empty(0)

    def counts(self) -> npt.NDArray[np.int64]:
        """Return the number of selected columns in each segment, int64."""
        return np.array([len(segment.active) for segment in self.segments], dtype=np.int64)

    def entered(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Return when each column is first selected.

        Returns
        -------
        columns : ndarray of int64, shape (s,)
            In the order in which they are selected.
        epsilons : ndarray of float64, shape (s,)
            The ε of each.
        """
        first: dict[int, float] = {}
        for segment in self.segments:
            for column in segment.active.tolist():
                first.setdefault(column, segment.top)
        return np.array(list(first), dtype=np.int64), np.array(list(first.values()))


def epsilon_path(
    columns: npt.NDArray[np.float64],
    target: npt.NDArray[np.float64],
    *,
    lowest: float | None = None,
    most: int | None = None,
) -> EpsilonPath:
    """Return the path of the P-SVM with C = ∞.

    Parameters
    ----------
    columns : ndarray of float64, shape (N, l)
        The standardised columns of K, as rows; zeros for a constant one.
    target : ndarray of float64, shape (l,)
        Of mean 0.
    lowest : float, optional
        The ε at which to end; never below `LOWEST` · ε_max.
    most : int, optional
        The path ends with the first segment with this many selected columns.

    Returns
    -------
    EpsilonPath

    Warns
    -----
    ConvergenceWarning
        If tied columns end the path early.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.selection.selectors.homotopy import epsilon_path
    >>> columns = np.array([[1.0, 1.0, -1.0, -1.0], [1.0, -1.0, 1.0, -1.0]])
    >>> path = epsilon_path(columns, np.array([3.0, 1.0, -1.0, -3.0]))
    >>> path.entered()
    (array([0, 1]), array([8., 4.]))
    >>> path.at(2.0)
    (array([0, 1]), array([1.5, 0.5]))
    """
    noise = np.random.default_rng(0).normal(size=len(target))
    noise *= np.linalg.norm(target) / np.linalg.norm(noise)
    for share in NOISE:
        walk = _Walk(columns, target, target + share * (noise - noise.mean()), lowest, most)
        if walk.run():
            break
    else:
        warnings.warn(
            f"the path of ε stopped at {walk.epsilon}, because of ties between columns",
            ConvergenceWarning,
            stacklevel=2,
        )
    return EpsilonPath(walk.top, walk.epsilon, walk.segments)


class _Walk:
    """The state along a path: the selected columns, K̃_A = QR, and the knots so far."""

    def __init__(
        self,
        columns: npt.NDArray[np.float64],
        target: npt.NDArray[np.float64],
        guide: npt.NDArray[np.float64],
        lowest: float | None,
        most: int | None,
    ) -> None:
        self.columns = columns
        self.target = target
        self.guide = guide  # decides the order of events; `target` gives the coefficients
        self.most = np.inf if most is None else most
        self.correlations = columns @ guide
        top = float(np.abs(self.correlations).max(initial=0.0))
        if top <= ORTHOGONAL * np.linalg.norm(guide) * np.sqrt(len(guide)):
            top = 0.0
        self.top = self.epsilon = top
        self.lowest = max(LOWEST * self.top, 0.0 if lowest is None else lowest)
        self.Q = np.zeros((len(target), 0), order="F")
        self.R = np.zeros((0, 0), order="F")
        self.near = _Near(columns)
        self.active: list[int] = []
        self.signs: list[float] = []
        self.waiting = np.zeros(len(columns), dtype=bool)  # selected, or in the span of the selected
        self.segments: list[Segment] = []

    def run(self) -> bool:
        """Follow the path to its end; return False if events cycle."""
        if self.epsilon <= self.lowest:
            return True
        first = int(np.argmax(np.abs(self.correlations)))
        self._join(first, np.sign(self.correlations[first]))
        self.near.look(self.guide, self.active, NEAR)
        events = 0
        while True:
            start, slope, join, leave = self._next()
            low = max(join[0], leave[0], self.lowest)
            events = events + 1 if low >= self.epsilon else 0
            if events > STALLED + len(self.active):
                return False
            if low < self.epsilon:
                columns = np.array(self.active, dtype=np.int64)
                self.segments.append(Segment(self.epsilon, low, columns, start, slope))
            self.epsilon = low
            if low <= self.lowest or len(self.active) >= self.most:
                return True
            if leave[0] < join[0]:
                self._join(join[1], join[2])
            elif len(self.active) == 1:
                return False
            else:
                self._leave(leave[1])

    def _next(
        self,
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], tuple[float, int, float], tuple[float, int]]:
        """Return start and slope of α, the next join (ε, column, sign) and the next leave (ε, place)."""
        size = len(self.active)
        Q, R = self.Q[:, :size], self.R[:size, :size]
        signs = np.array(self.signs)
        turned, _ = dtrtrs(R, signs, trans=1)
        slope, _ = dtrtrs(R, turned)
        start, _ = dtrtrs(R, Q.T @ self.target)
        guided, _ = dtrtrs(R, Q.T @ self.guide)
        falls = signs * slope < 0
        at = np.minimum(np.where(falls, guided / np.where(falls, slope, 1.0), 0.0), self.epsilon)
        place = int(np.argmax(at))
        leave = (float(at[place]), place)

        fixed, moving = self.guide - Q @ (Q.T @ self.guide), Q @ turned  # the residual is fixed + ε · moving
        share = NEAR
        if self.near.share > NEAR:  # for a long step that is done
            self.near.look(fixed + self.epsilon * moving, self.active, share)
            share *= 4
        while True:
            join = self._next_join(fixed, moving, max(leave[0], self.lowest))
            low = max(join[0], leave[0], self.lowest)
            if self.near.suffices(fixed + low * moving, low):
                return start, slope, join, leave
            self.near.look(fixed + self.epsilon * moving, self.active, share)
            share *= 4

    def _next_join(
        self, fixed: npt.NDArray[np.float64], moving: npt.NDArray[np.float64], lowest: float
    ) -> tuple[float, int, float]:
        """Return the next join of a near column (ε, column, sign), or one below `lowest`."""
        fixed, moving = (self.near.columns @ np.stack([fixed, moving], axis=1)).T
        free = ~self.waiting[self.near.which]
        # A column joins where sign · (fixed + ε · moving) = ε, if the difference shrinks on the way down.
        at = np.zeros((2, len(fixed)))
        for values, sign in zip(at, (1.0, -1.0), strict=True):
            shrinks = 1.0 - sign * moving
            np.divide(sign * fixed, shrinks, out=values, where=(shrinks > 1e-12) & free)
        np.minimum(at, self.epsilon, out=at)
        while True:
            row, place = divmod(int(np.argmax(at)), len(fixed))
            column = int(self.near.which[place])
            if at[row, place] <= lowest or self._outside(column) is not None:
                return float(at[row, place]), column, 1.0 - 2.0 * row
            self.waiting[column] = True
            at[:, place] = 0.0

    def _outside(self, column: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], float] | None:
        """Return (Qᵀk̃, the rest of k̃, its length); None for a column in the span of the selected ones."""
        Q = self.Q[:, : len(self.active)]
        vector = self.columns[column]
        inside = Q.T @ vector
        outside = vector - Q @ inside
        again = Q.T @ outside  # once more, for Q to stay orthogonal
        outside -= Q @ again
        rest = float(np.linalg.norm(outside))
        full = len(self.active) == len(vector) or rest <= DEPENDENT * np.linalg.norm(vector)
        return None if full else (inside + again, outside, rest)

    def _join(self, column: int, sign: float) -> None:
        """Select a column outside the span of those selected."""
        size = len(self.active)
        if size == self.Q.shape[1]:
            room = ((0, 0), (0, max(16, size)))
            self.Q = np.asfortranarray(np.pad(self.Q, room))
            self.R = np.asfortranarray(np.pad(self.R, (room[1], room[1])))
        self.R[:size, size], outside, self.R[size, size] = self._outside(column)  # type: ignore[misc]  # not None here
        self.Q[:, size] = outside / self.R[size, size]
        self.waiting[column] = True
        self.active.append(column)
        self.signs.append(float(sign))

    def _leave(self, place: int) -> None:
        """Drop a selected column, and refactor the others."""
        self.active.pop(place)
        self.signs.pop(place)
        size = len(self.active)
        self.Q[:, :size], self.R[:size, :size] = np.linalg.qr(self.columns[self.active].T)
        self.waiting[:] = False  # what was in the span need not be any more
        self.waiting[self.active] = True


class _Near:
    """The columns near to joining, and the distance of the others at the last check.

    Attributes
    ----------
    which : ndarray of int64, shape (m,)
        Ascending; all selected columns are among them.
    columns : ndarray of float64, shape (m, l)
    share : int
        The last argument of `look`.
    """

    def __init__(self, columns: npt.NDArray[np.float64]) -> None:
        self.all = columns

    def look(self, residual: npt.NDArray[np.float64], active: list[int], share: int) -> None:
        """Choose the near columns for a residual, `share` per row."""
        self.share = share
        size = max(share * len(residual), len(active) + 1)
        if 2 * size >= len(self.all):
            self.which, self.columns, self.far = np.arange(len(self.all)), self.all, -np.inf
            return
        sizes = np.abs(self.all @ residual)
        sizes[active] = np.inf
        self.which = np.sort(np.argpartition(-sizes, size)[:size])
        self.columns = self.all[self.which]
        sizes[self.which] = 0.0
        self.far = float(sizes.max())
        self.residual = residual

    def suffices(self, residual: npt.NDArray[np.float64], epsilon: float) -> bool:
        """Return whether none of the other columns joins before this residual and ε are reached."""
        if self.far == -np.inf:
            return True
        change = np.sqrt(len(residual)) * np.linalg.norm(residual - self.residual)
        return self.far + change < epsilon
