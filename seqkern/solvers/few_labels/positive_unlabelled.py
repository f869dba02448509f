"""Learning from positives and unlabelled samples, such as a family and a proteome."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import nest, unnest
from seqkern.core.errors import ParameterError
from seqkern.core.parameters import component, integer
from seqkern.core.sigmoid import fit_sigmoid, sigmoid
from seqkern.core.types import Arrays, Header
from seqkern.folds.splitters import deal
from seqkern.solvers.base import BinarySolver
from seqkern.solvers.contract import Solver
from seqkern.solvers.costs import FitCost, FitWork
from seqkern.solvers.estimator import clone
from seqkern.solvers.feature_rows import order_by_content, take_rows
from seqkern.solvers.gram_order import gram_order
from seqkern.solvers.multiclass.meta_solver import MetaSolver
from seqkern.solvers.shared import random_seed
from seqkern.solvers.solver_specs import solver_from_state
from seqkern.solvers.svm.svm import CSVC
from seqkern.solvers.variances import Variances

LEAST = 1e-12
"""Probabilities are at least this far from 0 and 1."""


class PositiveUnlabelled(MetaSolver, BinarySolver):  # type: ignore[override]  # constants of other solvers are those of the binary one
    r"""Binary solver for positives against unlabelled rows, with the decision corrected for hidden positives.

    The negative class holds the unlabelled rows: some of them are positives that nobody has labelled.

    Attributes
    ----------
    machine_ : Solver
        The fitted binary solver, restricted to the columns `support_`.
    threshold_ : float
        Subtracted from its decision.
    slope_, intercept_ : float
        A and B of P(s = 1 | f) = 1 / (1 + exp(A f + B)), f the decision of `machine_`.
    report_ : dict
        That of the binary solver, plus ``c``, the estimated share of the positives that are labelled; ``n_unlabelled``;
        and ``positive_share``, the estimated share of positives among the unlabelled rows.

    Notes
    -----
    s = 1 marks the labelled rows, y = 1 the positives. If positives are labelled at random, P(y = 1 | x) = P(s = 1 | x)
    / c, with c = P(s = 1 | y = 1). The binary solver learns s. Its decisions about held-out rows, by `folds` folds, are
    calibrated to P(s = 1 | x) by a sigmoid (Platt), and

    .. math:: c = (1/|L|) \sum_{i ∈ L} P(s = 1 | x_i)

    is the mean over the labelled rows L. The decision is f(x) − t, t the place where P(s = 1 | x) = c/2, so that it is
    above zero where y = 1 is more probable than not; `probabilities` gives min(1, P(s = 1 | x)/c). An unlabelled row is
    a positive with probability (1 − c)/c · P(s = 1 | x)/P(s = 0 | x), at most 1; ``positive_share`` is the mean.

    The ranking of new rows is that of the binary solver. c is right only if the labelled positives are typical of all
    positives, and if the features separate the classes; otherwise c is too small, and too many rows are positives.
    Where c < 1/2, no row is labelled more probably than not, and the hinge loss alone learns little more than a
    constant: give `CSVC` and `LinearSVC` ``class_weight="balanced"``, or choose a logistic or squared loss.

    Complexity: `folds` + 1 fits of the binary solver.

    References
    ----------
    Elkan, Noto: Learning classifiers from only positive and unlabeled data. KDD 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers import CSVC, PositiveUnlabelled
    >>> rng = np.random.default_rng(1)
    >>> x = rng.uniform(-3, 3, 200)
    >>> labelled = (x > 0) & (rng.random(200) < 0.4)  # of the positives, x > 0, some 40% have a label
    >>> solver = PositiveUnlabelled(CSVC(class_weight="balanced"))
    >>> solver = solver.fit(np.exp(-((x[:, None] - x) ** 2)), labelled.astype(int))
    >>> solver.report_["n_unlabelled"], bool(abs(solver.report_["c"] - labelled.sum() / (x > 0).sum()) < 0.04)
    (153, True)
    """

    name = "positive_unlabelled"
    sets_threshold = True
    accepts_groups = True
    accepts_pairs = False  # the rows of no class are unlabelled ones of another
    accepts_operator = False
    accepts_sparse = False
    summary = "Positives against unlabelled records: estimates how many of these are positives, and corrects for them."

    binary: Solver = component(
        "solver",
        kw_only=False,
        doc="The binary solver, on a Gram matrix or features; it learns which rows have a label.",
    )
    folds: int = integer(default=5, low=2, doc="Folds of the held-out decisions.")
    seed: int = random_seed("Seed of these folds.")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.binary.input == "implicit":
            raise ParameterError(
                f"binary={self.binary!r} is not possible", remedy="give a binary solver on a Gram matrix or features"
            )

    def check_labels(self, y: npt.NDArray[Any], groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError if a class is too small for folds, or the binary solver would."""
        classes, codes = np.unique(y, return_inverse=True)
        units = np.arange(len(y)) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
        fewest = [len(np.unique(units[codes == code])) for code in range(len(classes))]
        if min(fewest) < 2:
            what = "rows" if groups is None else "groups of rows"
            raise ParameterError(
                f"class {classes[int(np.argmin(fewest))]!s} has {min(fewest)} {what}, but held-out decisions need two",
                remedy="give more records, or choose another solver",
            )
        self.binary.check_labels(y, groups)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        from seqkern.solvers.svm.primal import PrimalSVC  # imported here: only the contract suite needs it

        return [cls(CSVC(tol=1e-6)), cls(PrimalSVC(tol=1e-9), folds=3)]

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return that of the fits of the binary solver."""
        return self.binary.fit_cost(work).times(1 + self.folds)

    def probabilities(
        self, decisions: npt.NDArray[np.float64], variances: Variances | None = None
    ) -> npt.NDArray[np.float64] | None:
        """Return P(y | x), (m, 2); None if held-out decisions did not rise with the label.

        Parameters
        ----------
        decisions : ndarray of float64, shape (m,)
            As `decision_function` returns them.
        variances : Variances, optional
            Of no use here.
        """
        if self.slope_ >= 0:
            return None
        labelled = sigmoid(self.slope_ * (np.asarray(decisions) + self.threshold_) + self.intercept_)
        positive = np.minimum(1.0, labelled / self.report_["c"])
        return np.column_stack([1 - positive, positive])

    def _fit(self, K: Any, y: npt.NDArray[np.float64], groups: npt.ArrayLike | None = None) -> dict[str, Any]:
        """Train the binary solver, and estimate c from held-out decisions."""
        labelled = y > 0
        decisions, failed = self._held_out(K, labelled, groups)
        self.slope_, self.intercept_ = fit_sigmoid(decisions, labelled)
        p = np.clip(sigmoid(self.slope_ * decisions + self.intercept_), LEAST, 1 - LEAST)
        c = float(np.mean(p[labelled]))
        hidden = np.minimum(1.0, (1 - c) / c * p[~labelled] / (1 - p[~labelled]))
        found = self._trained(K, labelled, groups)
        rises = self.slope_ < 0
        self.threshold_ = float((np.log(2 / c - 1) - self.intercept_) / self.slope_) if rises else 0.0
        self.support_ = found.support_
        self.machine_ = found.restrict(found.support_)
        report = {
            **found.report_,
            "inner_not_converged": failed + found.report_.get("inner_not_converged", 0),
            "c": c,
            "n_unlabelled": int(np.count_nonzero(~labelled)),
            "positive_share": float(np.mean(hidden)),
        }
        if not rises:
            report["remark"] = (
                "held-out decisions about labelled rows are not above those about others, so that the decision is not "
                "corrected; choose another kernel"
            )
        return report

    def _held_out(
        self, K: Any, labelled: npt.NDArray[np.bool_], groups: npt.ArrayLike | None
    ) -> tuple[npt.NDArray[np.float64], int]:
        """Return the decision about each row by a fit without it, and the number of fits that did not converge."""
        units = np.arange(len(labelled)) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
        fewest = min(len(np.unique(units[labelled == code])) for code in (False, True))
        gram = self.input == "gram"
        order = (gram_order if gram else order_by_content)(K, labelled, self.seed)
        fold = np.empty(len(labelled), dtype=np.int64)
        fold[order] = deal(labelled[order].astype(np.int64), min(self.folds, fewest), self.seed, units[order])
        decisions, failed = np.empty(len(labelled)), 0
        for number in range(int(fold.max()) + 1):
            train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            own = None if groups is None else np.asarray(groups)[train]
            found = self._trained(K[np.ix_(train, train)] if gram else take_rows(K, train), labelled[train], own)
            decisions[test] = found.decision_function(K[np.ix_(test, train)] if gram else take_rows(K, test))
            failed += found.count_not_converged()
        return decisions, failed

    def _trained(self, K: Any, labelled: npt.NDArray[np.bool_], groups: npt.ArrayLike | None) -> Solver:
        """Return the binary solver, fitted on some rows."""
        return clone(self.binary).fit(K, self.classes_[labelled.astype(int)], groups)

    def _decide(self, K: Any, columns: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the decision of the binary solver minus the threshold."""
        return self.machine_._decide(K, columns[self.machine_.support_]) - self.threshold_

    def linear(self) -> tuple[npt.NDArray[np.float64], float] | None:
        """Return that of the binary solver, on all columns, minus the threshold."""
        found = self.machine_.linear()
        return None if found is None else (self._on_columns(found[0]), found[1] - self.threshold_)

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return the state of the binary solver, and the correction."""
        header, arrays = self.machine_.state()
        own = {"threshold": self.threshold_, "slope": self.slope_, "intercept": self.intercept_}
        return {"machine": header, **own}, nest("machine", arrays)

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `fitted_state` returned."""
        self.machine_ = solver_from_state(header["machine"], unnest("machine", arrays))
        self.threshold_, self.slope_, self.intercept_ = (header[key] for key in ("threshold", "slope", "intercept"))
