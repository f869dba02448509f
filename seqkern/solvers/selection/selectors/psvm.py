"""The P-SVM as a selector of features, and its ranking protocol."""

from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import changed, choice, component, integer, real
from seqkern.solvers.psvm.potential.columns import DenseColumns
from seqkern.solvers.selection.selectors.homotopy import EpsilonPath, epsilon_path
from seqkern.solvers.selection.selectors.ranking import MOST, Ranking, by_size, epsilon_grid, rank_on_grid
from seqkern.solvers.selection.selectors.scaling import ExpressionScaler, check_scaler
from seqkern.solvers.selection.selectors.selector import Selector


class PSVMFeatureSelector(Selector):
    """Features selected by the P-SVM, without a bound on its coefficients (C = ∞).

    The P-SVM minimises ½ ‖K̃α − t‖² + ε‖α‖₁, where K̃ are the standardised features and t the centred labels, −1 and 1
    for two classes; each class against the rest for more. The larger ε, the fewer features have α ≠ 0.

    Attributes
    ----------
    scores_ : ndarray of float64, shape (d,)
        Of a single ranking, the rating: the ε at which the feature is first selected, in units of √l ‖t‖ (so that the
        first one's is its correlation with the labels); or |α|, for a fixed ε. Of leave-one-out, the share of the
        rankings in which it is selected. −inf for a feature that never is.
    mean_rank_ : ndarray of float64, shape (d,)
        Mean rank in the rankings in which the feature is selected, inf if it is in none.

    Notes
    -----
    Hochreiter & Obermayer, Neural Computation 18, 2006; the protocol: Hochreiter & Obermayer, in Schölkopf, Tsuda &
    Vert (eds.), Kernel Methods in Computational Biology, 2004. For C = ∞ the P-SVM is the lasso, and a path of ε is
    exact (homotopy.py). A leave-one-out ranking takes l + 1 paths: as in the lecture, its ε are constant, chosen once
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
    epsilon: float | None = real(
        default=None,
        low=0,
        open_low=True,
        doc="Fixed ε, at which the features with α ≠ 0 are selected, the largest |α| first. By "
        "default ε decreases until enough features are selected.",
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
        """Return the CPU seconds that a fit is predicted to take: those of all its rankings."""
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

    def _fit_scaled(
        self, X: npt.NDArray[np.float64], y: npt.NDArray[Any], scaler: ExpressionScaler | None
    ) -> npt.NDArray[np.float64]:
        """Rank the features in each part and put the rankings together."""
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

    def _order(self, scores: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """Return the features by score, and equal ones by mean rank."""
        return np.lexsort((self.mean_rank_, -scores))

    def part_ranking(
        self,
        X: npt.NDArray[np.float64],
        y: npt.NDArray[Any],
        rows: npt.NDArray[np.int64],
        scaler: ExpressionScaler | None = None,
        grid: npt.NDArray[np.float64] | None = None,
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
        self,
        X: npt.NDArray[np.float64],
        y: npt.NDArray[Any],
        rows: npt.NDArray[np.int64],
        scaler: ExpressionScaler | None,
        grid: npt.NDArray[np.float64] | None = None,
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

    def _at_epsilon(self, columns: npt.NDArray[np.float64], target: npt.NDArray[np.float64], epsilon: float) -> Ranking:
        """Return the selected features and their α at one ε."""
        unit = np.abs(columns @ target).max(initial=0.0) if self.epsilon_scale == "max" else 1.0
        return epsilon_path(columns, target, lowest=epsilon * unit).at(epsilon * unit)


def _standardised(
    X: npt.NDArray[np.float64], y: npt.NDArray[Any], rows: npt.NDArray[np.int64], scaler: ExpressionScaler | None
) -> tuple[npt.NDArray[np.float64], list[npt.NDArray[np.float64]]]:
    """Return the standardised features, as rows, and the targets of some samples."""
    part = X[rows]
    if scaler is not None:
        part = type(scaler)(**scaler.get_params(deep=False)).fit_transform(part)
    return DenseColumns.of(part, False).standardised(np.arange(part.shape[1])), _targets(y[rows])


def _targets(y: npt.NDArray[Any]) -> list[npt.NDArray[np.float64]]:
    """Return the centred targets of the labels of a part: one; or one for each of several classes; none if constant."""
    if y.dtype.kind == "f":
        targets = [y]
    else:
        classes = np.unique(y)
        targets = [np.where(y == one, 1.0, -1.0) for one in (classes[1:] if len(classes) == 2 else classes)]
    return [target - target.mean() for target in targets if target.min() < target.max()]
