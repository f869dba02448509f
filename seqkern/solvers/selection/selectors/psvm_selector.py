"""The P-SVM as a feature selector, and its ranking protocol."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from scipy.linalg.lapack import dtrtrs
from sklearn.exceptions import ConvergenceWarning

from seqkern.core.parameters import changed, choice, component, integer, positive
from seqkern.core.types import Array, Floats, Ints
from seqkern.solvers.psvm.columns import DenseColumns
from seqkern.solvers.selection.selectors.scaling import ExpressionScaler, check_scaler
from seqkern.solvers.selection.selectors.selector import Selector

# The exact solution path of the unbounded P-SVM (C = ∞) over all ε.
#
# For C = ∞ the P-SVM is the lasso, whose solution is piecewise linear in ε: between two *knots* the selected columns A
# and the signs s of their coefficients stay the same, and with K̃_A = QR
#
#     α_A(ε) = R⁻¹Qᵀt − ε R⁻¹R⁻ᵀs,        K̃ᵀ(t − K̃α(ε)) = K̃ᵀ(t − QQᵀt) + ε K̃ᵀQR⁻ᵀs.
#
# At a knot a column joins when its correlation with the residual reaches ±ε, or leaves when its coefficient reaches 0.
# At most l − 1 columns are selected at a time (l rows), so Q is small however many columns K has. Everything is
# computed from A, so errors do not accumulate along the path.
#
# Each knot checks the columns *near* to joining, and the others only if necessary: a correlation with the residual r
# changes by at most √l ‖r − r₀‖ since it was computed for r₀. No column is ignored, so the path is exact. Osborne,
# Presnell & Turlach 2000; Efron, Hastie, Johnstone & Tibshirani 2004.

LOWEST = 1e-6  # Share of the largest ε at which the path ends, as rounding determines signs below it
ORTHOGONAL = 1e-12  # Largest cosine between target and column that counts as rounding
DEPENDENT = 1e-9
"""Share of a column's length outside the span of the selected ones up to which it counts as in the span."""
NEAR = 10  # Number of near columns per row; if they do not suffice, four times as many, and so on
STALLED = 25  # Number of events at one ε, beyond one for each selected column, above which they count as a cycle
NOISE = (0.0, 1e-10, 1e-8, 1e-6)
"""Relative perturbations of the target if tied columns form a cycle, so that they enter one by one."""


@dataclass(frozen=True)
class Segment:
    """The solutions between two knots, ``alpha(ε) = start − ε · slope``."""

    top: float  # The ε at its ends
    bottom: float  # The ε at its ends
    active: Ints  # shape (s,): The selected columns
    start: Floats  # shape (s,): One entry for each of them
    slope: Floats  # shape (s,): One entry for each of them

    def alpha(self, epsilon: float) -> Floats:
        """Return the coefficients of the columns `active` at an ε between `bottom` and `top`."""
        return self.start - epsilon * self.slope


@dataclass(frozen=True)
class EpsilonPath:
    """The path of solutions from ε_max (`top`), above which no column is selected, down to `bottom`."""

    top: float  # ε_max, and where the path ends
    bottom: float  # ε_max, and where the path ends
    segments: list[Segment]  # From top to bottom, each with positive length

    def at(self, epsilon: float) -> tuple[Ints, Floats]:
        """Return the selected columns and their nonzero α at an ε, which is raised to `bottom` if smaller."""
        epsilon = max(epsilon, self.bottom)
        for segment in self.segments:
            if segment.bottom <= epsilon < segment.top:
                alpha = segment.alpha(epsilon)
                return segment.active[alpha != 0], alpha[alpha != 0]
        return np.empty(0, dtype=np.int64), np.empty(0)

    def counts(self) -> Ints:
        """Return the number of selected columns in each segment, int64."""
        return np.array([len(segment.active) for segment in self.segments], dtype=np.int64)

    def entered(self) -> tuple[Ints, Floats]:
        """Return the columns in the order in which they are first selected, and the ε of each."""
        first: dict[int, float] = {}
        for segment in self.segments:
            for column in segment.active.tolist():
                first.setdefault(column, segment.top)
        return np.array(list(first), dtype=np.int64), np.array(list(first.values()))


def epsilon_path(
    columns: Floats, target: Floats, *, lowest: float | None = None, most: int | None = None
) -> EpsilonPath:
    """Return the path of the P-SVM with C = ∞.

    `columns` (N, l) are the standardised columns of K as rows, and `target` has mean 0. The path ends at `lowest`, but
    not below `LOWEST` · ε_max, or with the first segment that has `most` selected columns.
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

    def __init__(self, columns: Floats, target: Floats, guide: Floats, lowest: float | None, most: int | None) -> None:
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

    def _next(self) -> tuple[Floats, Floats, tuple[float, int, float], tuple[float, int]]:
        """Return the start and slope of α, the next join and the next leave.

        A join is (ε, column, sign), and a leave (ε, index).
        """
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

    def _next_join(self, fixed: Floats, moving: Floats, lowest: float) -> tuple[float, int, float]:
        """Return the next join of a near column (ε, column, sign), or a join below `lowest`."""
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

    def _outside(self, column: int) -> tuple[Floats, Floats, float] | None:
        """Return (Qᵀk̃, the remainder of k̃, its length), or None for a column in the span of the selected ones."""
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
        """Select a column outside the span of the selected ones."""
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
    """The columns near to joining, and the distance of the other columns at the last check."""

    def __init__(self, columns: Floats) -> None:
        self.all = columns

    def look(self, residual: Floats, active: list[int], share: int) -> None:
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

    def suffices(self, residual: Floats, epsilon: float) -> bool:
        """Return whether no other column can join before this residual and ε are reached."""
        if self.far == -np.inf:
            return True
        change = np.sqrt(len(residual)) * np.linalg.norm(residual - self.residual)
        return self.far + change < epsilon


# The inner loop of the P-SVM ranking protocol: features ranked down a grid of ε.
#
# With several classes there is one path for each class against the rest, and all descend through the same ε: at each, a
# feature is selected if any of them selects it.

Ranking: TypeAlias = tuple[Ints, Floats]  # Columns, best first, and their ratings
FEW, MANY = 5, 10  # Least and largest number of features selected at the largest ε of a grid
MOST = 0.9  # Share of l features selected at the smallest ε of a grid, as no ε selects all l


def epsilon_grid(paths: Sequence[EpsilonPath], rows: int, size: int) -> Floats:
    """Return equidistant ε, descending: the largest selects 5 to 10 features, the smallest about as many as rows.

    The largest is halfway between the ε below which 5 features are first selected and that for 11; the smallest is in
    the middle of the first segment that has 0.9·l features, or as many as possible. If 10 features or fewer are
    possible, half of them replace 5, and all but one replace 10. Over several paths, the extremes count; the grid is
    empty if no ε selects a feature.
    """
    ends = [_ends(path, rows) for path in paths if path.segments]
    if not ends:
        return np.empty(0)
    return np.linspace(max(high for high, _ in ends), min(low for _, low in ends), size)


def _ends(path: EpsilonPath, rows: int) -> tuple[float, float]:
    """Return the largest and the smallest ε of one path's grid."""
    counts = path.counts()
    most = min(max(1, round(MOST * rows)), counts.max())
    few = max(1, min(FEW, most // 2))
    many = max(few, min(MANY, most - 1))

    def first(count: int) -> Segment:
        return path.segments[int(np.argmax(counts >= count))]

    below = first(many + 1).top if counts.max() > many else path.bottom
    return (first(few).top + below) / 2, (first(most).top + first(most).bottom) / 2


def rank_on_grid(paths: Sequence[EpsilonPath], grid: Floats) -> Ranking:
    """Return the features, best first, with the ε of a descending grid that first selects each.

    Ties are ordered by |α| at this ε.
    """
    first: dict[int, float] = {}
    for epsilon in grid.tolist():
        for column in by_size([path.at(epsilon) for path in paths])[0].tolist():
            first.setdefault(column, epsilon)
    return np.array(list(first), dtype=np.int64), np.array(list(first.values()))


def by_size(found: Sequence[Ranking]) -> Ranking:
    """Return several selections merged, with the columns sorted by their largest |value|, descending.

    Of equal values, the earlier comes first.

    >>> import numpy as np
    >>> from seqkern.solvers.selection.selectors.psvm_selector import by_size
    >>> by_size([(np.array([4, 7]), np.array([0.2, -0.6])), (np.array([4]), np.array([0.5]))])
    (array([7, 4]), array([0.6, 0.5]))
    """
    columns = np.concatenate([np.empty(0, dtype=np.int64), *[columns for columns, _ in found]])
    sizes = np.concatenate([np.empty(0), *[np.abs(values) for _, values in found]])
    order = np.argsort(-sizes, kind="stable")
    _, best = np.unique(columns[order], return_index=True)
    order = order[np.sort(best)]
    return columns[order], sizes[order]


class PSVMFeatureSelector(Selector):
    """Features selected by the P-SVM, without a bound on its coefficients (C = ∞).

    The P-SVM minimises ½ ‖K̃α − t‖² + ε‖α‖₁, where K̃ are the standardised features and t the centred labels, −1 and 1
    for two classes; each class against the rest for more. The larger ε, the fewer features have α ≠ 0.

    Attributes
    ----------
    scores_ : ndarray of float64, shape (d,)
        For a single ranking, the rating: the ε at which the feature is first selected, in units of √l ‖t‖ (so that the
        first one's is its correlation with the labels); or |α|, for a fixed ε. Of leave-one-out, the share of the
        rankings in which it is selected. −inf for a feature that never is.
    mean_rank_ : ndarray of float64, shape (d,)
        Mean rank in the rankings in which the feature is selected, inf if it is in none.

    Notes
    -----
    Hochreiter & Obermayer, Neural Computation 18, 2006; the protocol: Hochreiter & Obermayer, in Schölkopf, Tsuda &
    Vert (eds.), Kernel Methods in Computational Biology, 2004. For C = ∞ the P-SVM is the lasso, and a path of ε is
    exact (homotopy). A leave-one-out ranking takes l + 1 paths: as in the lecture, its ε are constant, chosen once
    from all training rows, in units of √l ‖t‖. Where a part has to show the error of its own selection, as in the folds
    of `SelectedClassifier`, the grid comes from the rows of the part alone: the ε of all rows would have seen the
    others.

    Examples
    --------
    >>> from seqkern.solvers import PSVMFeatureSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = PSVMFeatureSelector(n_features=1).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([2, 1, 3])
    >>> selector.scores_.round(2)
    array([-inf,   1., -inf])
    """

    name = "psvm"
    fit_products = 300.0
    summary = "The potential support vector machine: features that explain the labels together, without redundant ones."
    targets = ("binary", "multiclass", "real")

    n_features: int | None = changed(
        default=20,
        optional=True,
        doc="Number of features to choose; none: all that are selected, at most l − 1 at one ε.",
    )
    epsilon: float | None = positive(
        None,
        "Fixed ε, at which the features with α ≠ 0 are selected, the largest |α| first. By default ε decreases until "
        "enough features are selected.",
    )
    epsilon_scale: Literal["max", "absolute"] = choice(
        default="max",
        doc="Unit of `epsilon`: ``max``, the ε above which no feature is selected; or ``absolute``.",
    )
    ranking: Literal["path", "grid", "leave_one_out"] = choice(
        default="path",
        doc='``"path"``: order in which features are selected as ε decreases. ``"grid"``: ε takes '
        "`n_epsilons` equidistant values; the largest selects 5 to 10 features, the smallest "
        'about l; the features that a value adds are ranked by |α|. ``"leave_one_out"``: the '
        "ranking protocol: the ranking on the grid of all rows is repeated with each row left out in turn; features "
        "are ordered by how often they are selected, then by mean rank where selected. Several "
        "classes, each against the rest, share ε: a feature is selected at the ε at which one of "
        "them selects it.",
    )
    n_epsilons: int = integer(default=20, low=2, doc="Number of values in the grid.")
    scaler: ExpressionScaler | None = component(
        "scaler", default=None, doc="Scaler fitted in each part, before the standardisation of the P-SVM itself."
    )

    def _check_parameters(self) -> None:
        check_scaler(self.scaler)

    def inner(self, *, scaled: bool = False) -> Selector:
        """Return a new selector for one part: the grid's ranking where the protocol asks for leave-one-out."""
        inner = super().inner()
        if scaled:
            inner.set_params(scaler=None)
        if self.ranking == "leave_one_out":
            inner.set_params(ranking="grid")
        return inner

    def fit_seconds(self, n: int, d: int) -> float:
        """Return the predicted CPU seconds of a fit: all its rankings."""
        rankings = {"path": 1, "grid": self.n_epsilons, "leave_one_out": (n + 1) * self.n_epsilons}
        return rankings[self.ranking] * super().fit_seconds(n, d)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return selectors for the contract suite."""
        return [
            cls(),
            cls(epsilon=0.3),
            cls(ranking="grid", n_epsilons=8),
            cls(ranking="leave_one_out", n_features=5, n_epsilons=8, scaler=ExpressionScaler(ceiling=4)),
        ]

    def _fit_scaled(self, X: Floats, y: Array, scaler: ExpressionScaler | None) -> Floats:
        """Rank the features in each part and combine the rankings."""
        scaler = self.scaler if scaler is None else scaler
        every = np.arange(len(y))
        single = self.ranking != "leave_one_out"
        parts = [every] if single else [np.delete(every, row) for row in every]
        scores, counts, sums = np.full(X.shape[1], -np.inf), np.zeros(X.shape[1]), np.zeros(X.shape[1])
        grid = None
        if not single and self.epsilon is None:
            grid = epsilon_grid(self._paths(X, y, every, scaler), len(y), self.n_epsilons)
        for rows in parts:
            columns, ratings = self.part_ranking(X, y, rows, scaler, grid)
            counts[columns] += 1
            sums[columns] += np.arange(1, len(columns) + 1)
            scores[columns] = ratings if single else counts[columns] / len(parts)
        self.mean_rank_ = np.full(X.shape[1], np.inf)
        np.divide(sums, counts, out=self.mean_rank_, where=counts > 0)
        return scores

    def _order(self, scores: Floats) -> Ints:
        """Return the features sorted by score; ties are sorted by mean rank."""
        return np.lexsort((self.mean_rank_, -scores))

    def part_ranking(
        self, X: Floats, y: Array, rows: Ints, scaler: ExpressionScaler | None = None, grid: Floats | None = None
    ) -> Ranking:
        """Return the ranking that is learned from some rows.

        Parameters
        ----------
        X : ndarray of float64, shape (n, d)
            Columns are features.
        y : ndarray, shape (n,)
            Real labels, or places of classes, int64.
        rows : ndarray of int64, shape (m,)
            No other row is looked at.
        scaler : ExpressionScaler, optional
            A copy is fitted to these rows.
        grid : ndarray of float64, optional
            ε of a ranking on a grid, descending, in units of √l ‖t‖; default: a grid of these rows.

        Returns
        -------
        columns : ndarray of int64, shape (s,)
            The selected features from best to worst.
        ratings : ndarray of float64, shape (s,)
            See `scores_`.
        """
        if self.epsilon is not None:
            columns, targets = _standardised(X, y, rows, scaler)
            return by_size([self._at_epsilon(columns, target, self.epsilon) for target in targets])
        paths = self._paths(X, y, rows, scaler, grid)
        if self.ranking == "path":
            return by_size([path.entered() for path in paths])
        return rank_on_grid(paths, epsilon_grid(paths, len(rows), self.n_epsilons) if grid is None else grid)

    def _paths(
        self, X: Floats, y: Array, rows: Ints, scaler: ExpressionScaler | None, grid: Floats | None = None
    ) -> list[EpsilonPath]:
        """Return the path of each target of some rows, down to the end of a grid if there is one."""
        columns, targets = _standardised(X, y, rows, scaler)
        if grid is not None:
            end: dict[str, Any] = {"lowest": grid.min(initial=np.inf)}
        else:
            end = {"most": self.n_features if self.ranking == "path" else round(MOST * len(rows))}
        # In units of √l ‖t‖, ε is a correlation, and that of one class can be compared with that of another.
        return [
            epsilon_path(columns, target / (np.sqrt(len(rows)) * np.linalg.norm(target)), **end) for target in targets
        ]

    def _at_epsilon(self, columns: Floats, target: Floats, epsilon: float) -> Ranking:
        """Return the selected features and their α at one ε."""
        unit = np.abs(columns @ target).max(initial=0.0) if self.epsilon_scale == "max" else 1.0
        return epsilon_path(columns, target, lowest=epsilon * unit).at(epsilon * unit)


def _standardised(X: Floats, y: Array, rows: Ints, scaler: ExpressionScaler | None) -> tuple[Floats, list[Floats]]:
    """Return the standardised features, as rows, and the targets of some samples."""
    part = X[rows]
    if scaler is not None:
        part = type(scaler)(**scaler.get_params(deep=False)).fit_transform(part)
    return DenseColumns.of(part, False).standardised(np.arange(part.shape[1])), _targets(y[rows])


def _targets(y: Array) -> list[Floats]:
    """Return the centred targets of the labels of a part.

    Two classes or real labels have one target, several classes one each, constant labels none.
    """
    if y.dtype.kind == "f":
        targets = [y]
    else:
        classes = np.unique(y)
        targets = [np.where(y == one, 1.0, -1.0) for one in (classes[1:] if len(classes) == 2 else classes)]
    return [target - target.mean() for target in targets if target.min() < target.max()]
