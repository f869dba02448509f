"""Least squares on the best subset of a few features, with confidence intervals."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import choice, integer, real
from seqkern.core.threads import one_thread
from seqkern.solvers.base import AnyClassSolver
from seqkern.solvers.baselines.basis_moments import independent
from seqkern.solvers.baselines.basis_search import (
    CRITERIA,
    MAX_BRUTE,
    SEARCHES,
    Criterion,
    brute_force,
    local,
    stepwise,
)
from seqkern.solvers.baselines.basis_sums import Sums, TrainingSums
from seqkern.solvers.feature_rows import as_blocks, order_by_content, weighted_features
from seqkern.solvers.shared import random_seed


class BestBasis(AnyClassSolver):
    r"""Least squares on the best subset of the features, chosen for each class.

    The target of a class is 1 for its rows and −1 for the others; for two classes that of the second. It suits tables
    of a few features.

    Attributes
    ----------
    support_ : ndarray of int64, shape (s,)
        The features in the basis of any class.
    coef_ : ndarray of float64, shape (1, s) for two classes, else (c, s)
        w; 0 for a feature that is not in the basis of the class.
    intercept_ : ndarray of float64, shape (1,) or (c,)
    table_ : ndarray of float64, shape (1 or c, d, 6)
        Of each feature: w and both ends of its interval in the basis (NaN for one that is not in it), and the same in
        the full basis of all features that do not depend on those before them.
    report_ : dict
        ``objective`` is the sum of the criteria, ``looked_at`` (int) the number of subsets.

    Notes
    -----
    For each subset S of the features,

    .. math:: RSS(S) = \min_{w, b} \sum_i (y_i − w·x_{iS} − b)^2

    The S with the smallest criterion is chosen: n ln(RSS/n) + 2p (``aic``), n ln(RSS/n) + p ln n (``bic``), RSS/σ² − n
    + 2p (``cp``; σ² from all features), with p the number of features and the constant; or the mean squared error of
    inner cross-validation (``cv``).

    Intervals allow for targets with two values, and for correlated rows within a group (cluster-robust; t with groups −
    1 degrees of freedom). Those in the chosen basis are conditional on the choice, and too narrow because the same rows
    made it. Those in the full basis are valid, and wider.

    Complexity: one pass over n rows, O(n·d²) for d features; then a few operations for each of the 2^d subsets with
    ``brute_force``.

    References
    ----------
    Hocking: The analysis and selection of variables in linear regression. Biometrics 32, 1976.

    Furnival, Wilson: Regressions by leaps and bounds. Technometrics 16, 1974.

    Liang, Zeger: Longitudinal data analysis using generalized linear models. Biometrika 73, 1986.

    Berk, Brown, Buja, Zhang, Zhao: Valid post-selection inference. Annals of Statistics 41, 2013.

    Examples
    --------
    GC content, length and CpG ratio of promoters and other regions:

    >>> from seqkern.solvers import BestBasis
    >>> X = [[0.6, 52, 0.9], [0.7, 47, 0.8], [0.5, 50, 0.7], [0.6, 46, 0.2], [0.5, 51, 0.3], [0.7, 53, 0.1]]
    >>> promoter = [1, 1, 1, 0, 0, 0]
    >>> solver = BestBasis(criterion="bic").fit(X, promoter)
    >>> solver.support_, solver.report_["looked_at"]
    (array([2]), 8)
    >>> solver.intervals()[0, 2, :3].round(1)  # coefficient of the CpG ratio, with its interval
    array([3.1, 2.1, 4.1])
    """

    name = "best_basis"
    summary = "Least squares on the best subset of the features, with confidence intervals."
    input = "features"
    accepts_blocks = True
    accepts_groups = True

    search: str = choice(
        default="brute_force",
        choices=SEARCHES,
        doc="``brute_force``: all subsets, of at most 20 features; ``stepwise``: add and remove "
        "features, starting from none, while that helps; ``local``: also swap features, starting "
        "from none and from `restarts` random subsets.",
    )
    criterion: str = choice(default="bic", choices=CRITERIA, doc="Criterion of a subset, see the notes.")
    folds: int = integer(default=5, low=2, doc="Folds of the cross-validation; groups stay together.")
    restarts: int = integer(default=5, low=0, doc='Number of random starts of ``"local"``, besides the empty subset.')
    level: float = real(
        default=0.95, low=0, high=1, open_low=True, open_high=True, doc="Confidence level of the intervals."
    )
    seed: int = random_seed("Seed of the folds and the random subsets.")

    def check_labels(self, y: npt.NDArray[Any], groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError if there are fewer records, or groups, than folds."""
        count = len(y) if groups is None else len(np.unique(np.asarray(groups)))
        if self.criterion == "cv" and count < self.folds:
            what = "records" if groups is None else "groups"
            raise ParameterError(
                f"folds={self.folds} is not possible with {count} {what}",
                remedy="choose fewer folds, or another criterion",
            )

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(search="stepwise"), cls(criterion="cv", folds=3), cls(search="local", criterion="cp", restarts=1)]

    def _fit(self, K: Any, y: npt.NDArray[Any], groups: npt.ArrayLike | None = None) -> dict[str, Any]:
        """Choose a basis for each class, and fit its coefficients."""
        d = K.shape[1]
        if self.search == "brute_force" and d > MAX_BRUTE:
            raise ParameterError(
                f"search=brute_force looks at all subsets, too many of {d} features",
                remedy=f"give at most {MAX_BRUTE} features, or search=stepwise or local",
            )
        y = y.astype(np.int64)
        classes = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        targets = np.stack([np.where(y == k, 1.0, -1.0) for k in classes], axis=1)
        codes = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
        data = TrainingSums(as_blocks(K), targets)
        with one_thread():
            sums = data.sums(self._folds(K, y, codes))
            bases, values, counts = zip(
                *(self._choose(data, sums, place) for place in range(len(classes))), strict=True
            )
            full = [independent(data.part(sums, 0).learned)] * len(classes)
            tables = [data.intervals(sums, chosen, codes, self.level) for chosen in (bases, full)]
        self.table_ = np.concatenate(tables, axis=2)
        weights = np.nan_to_num(self.table_[:, :, 0])
        self.support_ = np.unique(np.concatenate(bases))
        self.coef_ = np.ascontiguousarray(weights[:, self.support_])
        self.intercept_ = data.intercepts(weights)
        return {
            "converged": True,
            "iterations": 1,
            "residual": data.residual(sums, weights, bases),
            "objective": float(sum(values)),
            "looked_at": int(sum(counts)),
        }

    def _folds(self, K: Any, y: npt.NDArray[np.int64], codes: npt.NDArray[np.int64] | None) -> npt.NDArray[np.int64]:
        """Return the inner fold of each row, int64 (n,); all 0 if no criterion needs them."""
        if self.criterion != "cv":
            return np.zeros(len(y), dtype=np.int64)
        if codes is None:
            shuffled = order_by_content(K, y, self.seed)
        else:
            shuffled = np.random.default_rng(self.seed).permutation(codes.max() + 1)
        folds = np.empty(len(shuffled), dtype=np.int64)
        folds[shuffled] = np.arange(len(shuffled)) % self.folds
        return folds if codes is None else folds[codes]

    def _choose(self, data: TrainingSums, sums: Sums, place: int) -> tuple[npt.NDArray[np.int64], float, int]:
        """Return the basis of one class, its criterion, and the number of evaluated bases."""
        whole = data.part(sums, place)
        every = independent(whole.learned)
        noise = float(whole.errors(every[None])[0]) / max(whole.n - len(every) - 1, 1)
        parts = [data.part(sums, place, held) for held in range(len(sums[0]))] if self.criterion == "cv" else []
        criterion = Criterion(self.criterion, whole, parts, max(noise, 1e-12 * whole.learned[-1, -1] / whole.n))
        if self.search == "brute_force":
            found = brute_force(criterion)
        else:
            found = stepwise(criterion) if self.search == "stepwise" else local(criterion, self.restarts, self.seed)
        return *found, criterion.looked_at

    def _decide(self, K: Any, columns: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return w·x + b of each class."""
        out = weighted_features(K, columns, self.coef_.T) + self.intercept_
        return out[:, 0] if out.shape[1] == 1 else out

    def linear(self) -> tuple[npt.NDArray[np.float64], float] | None:
        """Return (coefficients, constant) for two classes."""
        return (self._on_columns(self.coef_[0]), float(self.intercept_[0])) if len(self.coef_) == 1 else None

    def weights_by_class(self) -> npt.NDArray[np.float64] | None:
        """Return the coefficients of several classes, (c, s)."""
        return None if len(self.coef_) == 1 else self.coef_

    def intervals(self) -> npt.NDArray[np.float64]:
        """Return `table_`."""
        return self.table_

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return the coefficients and their intervals."""
        known = np.isfinite(self.table_)  # a model file holds finite numbers
        table = {"table": np.where(known, self.table_, 0.0), "known": known}
        return {}, {"coef": self.coef_, "intercept": self.intercept_, **table}

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `fitted_state` returned."""
        self.coef_, self.intercept_ = arrays["coef"], arrays["intercept"]
        self.table_ = np.where(arrays["known"], arrays["table"], np.nan)
