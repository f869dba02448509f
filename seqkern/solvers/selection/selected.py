"""A classifier on selected features: scaler, selector and predictor as one solver."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from seqkern.core.archive import nest, unnest
from seqkern.core.convergence import unconverged
from seqkern.core.errors import ParameterError
from seqkern.core.parameters import component, count, integer
from seqkern.core.types import Array, Floats, Ints
from seqkern.kernels.vectors import _vector
from seqkern.sequences.sampling import deal
from seqkern.solvers.capabilities import SelectedFeatures, Traits
from seqkern.solvers.contract import ClassSolver, Solver
from seqkern.solvers.costs import FitCost, FitWork
from seqkern.solvers.selection.selectors.scaling import ExpressionScaler, check_scaler, scaler_from_state
from seqkern.solvers.selection.selectors.selector import GivenSelector, Selector
from seqkern.solvers.solver_specs import build_solver, make_solver, solver_from_state

# The inner cross-validation of the classifier on selected features: number of features, and predictor.

Split: TypeAlias = tuple[Ints, Ints]

LEAVE_ONE_OUT = "leave_one_out"
SEED = 0  # Seed of the inner folds


@dataclass(frozen=True)
class Chosen:
    """The choice made by an inner cross-validation.

    `size` is F, the number of features; `predictor` is not fitted; `error` is the mean inner error, None without a
    choice; `not_converged` counts the unconverged fits behind it.
    """

    size: int  # F, the number of features
    predictor: Solver  # One of those to choose from, not fitted
    error: float | None = None  # The mean inner error; None if there was no choice
    not_converged: int = 0  # Number of unconverged fits behind the error


def inner_parts(y: npt.ArrayLike, folds: int | str, groups: npt.ArrayLike | None = None) -> list[Split]:
    """Return (training rows, test rows) of each inner fold.

    Stratified folds are fewer than requested if the rarest class has fewer rows, and depend on the order of the rows.
    Groups stay together: leave-one-group-out, or folds of whole groups.
    """
    y = np.unique(y, return_inverse=True)[1]
    groups = np.arange(len(y)) if groups is None else np.unique(groups, return_inverse=True)[1]
    classes = range(int(y.max()) + 1)
    rarest = min(len(np.unique(groups[y == c])) for c in classes)
    remedy = "give one number of features and one predictor, or more records"
    if rarest < 2:
        raise ParameterError("a class of a training set has only one record (or group)", remedy=remedy)
    fold = groups if folds == LEAVE_ONE_OUT else deal(y, min(int(folds), rarest), SEED, groups)
    parts = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in np.unique(fold)]
    parts = [(train, test) for train, test in parts if len(np.unique(y[train])) == len(classes)]
    if not parts:
        raise ParameterError("no inner fold has all classes in its training set", remedy=remedy)
    return parts


def choose(
    K: Floats,
    y: Ints,
    groups: npt.ArrayLike | None,
    pairs: Sequence[tuple[int, Solver]],
    selector: Selector,
    scaler: ExpressionScaler | None,
    *,
    around: int,
    folds: int | str,
) -> Chosen:
    """Return the pair with the smallest inner error, the first in ties.

    `pairs` are (F, predictor) in order of preference. The error of F is averaged over F − a, F and F + a, a = `around`,
    as far as they exist. Copies of selector and scaler are fitted on the training set of each fold.
    """
    near = {size: {min(max(one, 1), K.shape[1]) for one in (size - around, size, size + around)} for size, _ in pairs}
    sizes = sorted(set.union(*near.values()))
    predictors = list({id(predictor): predictor for _, predictor in pairs}.values())
    groups = None if groups is None else np.asarray(groups)
    wrong: Counter[tuple[int, int]] = Counter()
    failed: Counter[tuple[int, int]] = Counter()
    tested = 0
    for train, test in inner_parts(y, folds, groups):
        tested += len(test)
        for key, errors, not_converged in part_errors(K, y, groups, train, test, selector, scaler, sizes, predictors):
            wrong[key] += errors
            failed[key] += not_converged
    means = [np.mean([wrong[one, id(predictor)] for one in near[size]]) / tested for size, predictor in pairs]
    best = int(np.argmin(means))
    size, predictor = pairs[best]
    return Chosen(size, predictor, float(means[best]), sum(failed[one, id(predictor)] for one in near[size]))


def part_errors(
    K: Floats,
    y: Ints,
    groups: Array | None,
    train: Ints,
    test: Ints,
    selector: Selector,
    scaler: ExpressionScaler | None,
    sizes: Sequence[int],
    predictors: Sequence[Solver],
) -> Iterator[tuple[tuple[int, int], int, int]]:
    """Yield ((F, id of the predictor), misclassified test rows, unconverged fits) in one inner fold.

    Scaler, selector and predictors are fitted as copies on the training rows; an unconverged selector counts once for
    each F and predictor.
    """
    known, new, codes = K[train], K[test], y[train]
    own = None if groups is None else groups[train]
    if scaler is not None:
        scaler = clone(scaler)
        known, new = scaler.fit_transform(known), scaler.transform(new)
    with unconverged():
        selector = selector.inner(scaled=scaler is not None)
        selector.set_params(n_features=sizes[-1])
        selector.fit(known, codes)
    order = best_features(selector)
    for size in sizes:
        some, held_out = known[:, order[:size]], new[:, order[:size]]
        gram = products(some, some)
        for predictor in predictors:
            predicted, failed = np.bincount(codes).argmax(), int(selector.not_converged_ > 0)
            if len(order):
                classifier: Any = learn(predictor, some, codes, own, gram)
                predicted = classifier.predict(products(held_out, some) if classifier.input == "gram" else held_out)
                failed = failed or classifier.count_not_converged()
            yield (size, id(predictor)), int(np.sum(predicted != y[test])), failed


def best_features(selector: Selector) -> Ints:
    """Return the columns selected by a fitted selector, best first."""
    chosen = selector.get_support(indices=True)
    return chosen[np.argsort(selector.ranking_[chosen])]


def learn(
    predictor: Solver, values: Floats, y: Array, groups: npt.ArrayLike | None = None, gram: Floats | None = None
) -> Solver:
    """Return a fitted copy of a predictor, whose report tells whether it converged.

    A binary solver learns several classes as in `make_solver`; `gram` is the linear kernel of `values` if already
    known.
    """
    classifier = make_solver(clone(predictor), "binary" if len(np.unique(y)) == 2 else "multiclass")
    if classifier.input == "gram":
        values = products(values, values) if gram is None else gram
    with unconverged():
        return classifier.fit(values, y, groups)


def products(rows: Floats, others: Floats) -> Floats:
    """Return the linear kernel, shape (m, n); the bits of an entry do not depend on other rows."""
    out = np.empty((len(rows), len(others)))
    _vector.products(np.ascontiguousarray(rows), np.ascontiguousarray(others.T), out)
    return out


class SelectedClassifier(ClassSolver):
    """Scale the features, select some, and learn from these.

    If `n_features` or `predictor` leaves a choice, cross-validation on the training rows decides: in each inner fold,
    scaler, selector and predictor learn from the other rows, and new values are clipped to their range. In the end all
    three learn from all training rows.

    Attributes
    ----------
    chosen_ : ndarray of int64, shape (F,)
        Places in `support_` of the selected features, the best first.
    machine_ : Solver
        The predictor.
    rows_ : ndarray of float64, shape (s, F)
        The scaled features of the rows that it needs, if it takes a Gram matrix.
    report_ : dict
        The predictor's, and ``n_features``, ``predictor`` (its spec), ``error``: the mean inner error, None if
        there was no choice; and ``inner_not_converged``: of the fits that gave it, how many did not converge. What
        stops early in the selector counts as it does in the predictor: then ``converged`` is False, and
        ``selector_not_converged`` says how many of its classifiers did.

    Notes
    -----
    With err(F) the inner error of F features, it minimises

    .. math:: (err(F − a) + err(F) + err(F + a)) / 3

    over F and the predictor, so that no lucky F is chosen. Ties go to the fewest features, then to the least complex
    predictor, then to the first.

    The ranking protocol of Hochreiter & Obermayer is this solver with ``PSVMFeatureSelector(ranking="leave_one_out")``,
    ``folds="leave_one_out"``, a scaler with normalisation and present call, and a ν-SVM with several ν: inner parts
    rank by ``selector.inner()``, the whole by all parts together. Other folds, or no present call, give a shorter
    protocol. `support_` holds the selected features; with quantile normalisation, which uses whole rows, all features.

    Complexity: for each inner fold one selection, and one fit for each F and predictor.

    References
    ----------
    Hochreiter, Obermayer: Gene selection for microarray data. In: Kernel Methods in Computational Biology, MIT Press,
    2004.

    Examples
    --------
    >>> from seqkern.solvers import CSVC, GolubSelector, SelectedClassifier
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> solver = SelectedClassifier(GolubSelector(), [CSVC(C=0.1), CSVC()], n_features=[1, 2]).fit(X, tumours)
    >>> solver.selection().columns  # the second gene
    array([1])
    >>> solver.report_["predictor"]["C"], solver.report_["error"]
    (0.1, 0.0)
    >>> solver.predict([[1.2, 6.8, 3.0]])
    array(['AML'], dtype='<U3')
    """

    name = "selected"
    summary = "Selects features (genes) that separate the classes, and learns from these alone."
    declared = Traits(groups=True)
    input = "features"
    targets = ("binary", "multiclass")

    selector: Selector = component(
        "selector",
        kw_only=False,
        list_parameter=True,
        doc="The feature selector; its own number of features is replaced.",
    )
    predictor: Solver | list[Solver] = component(
        "solver",
        several=True,
        expand=True,
        kw_only=False,
        list_parameter=True,
        doc="The solver for the selected features; it gets their Gram matrix if it takes one. A "
        "binary solver learns several classes by pairwise voting. In a spec, a grid: ``{solver: "
        "nusvc, nu: [0.1, 0.3]}``.",
    )
    n_features: int | list[int] = count(20, "F, or several values to choose from.", several=True, list_parameter=True)
    scaler: ExpressionScaler | None = component(
        "scaler", default=None, list_parameter=True, doc="Scaler of the features, fitted in each part."
    )
    around: int = integer(default=1, low=0, doc="a: errors are averaged over F − a, F and F + a features.")
    folds: int | str = integer(
        default=LEAVE_ONE_OUT,
        low=2,
        words=(LEAVE_ONE_OUT,),
        doc="The inner cross-validation: leave-one-out, or this many stratified folds "
        "(`selected_choice.inner_parts`). Groups given to `fit` stay together, in leave-one-out "
        "too.",
    )

    def _check_parameters(self) -> None:
        if not isinstance(self.selector, Selector) or not {"binary", "multiclass"} & set(self.selector.targets):
            raise ParameterError(
                f"selector={self.selector!r} is not possible", remedy="give a selector that takes classes"
            )
        self.selector.check_parameters()
        if not self._predictors() or not all(_can_predict(one) for one in self._predictors()):
            raise ParameterError(
                f"predictor={self.predictor!r} is not possible", remedy="give a classifier, or a list of classifiers"
            )
        for predictor in self._predictors():
            predictor.check_parameters()
        if not self._sizes():
            raise ParameterError("n_features has no values", remedy="list one or more")
        check_scaler(self.scaler)

    def check_labels(self, y: Array, groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError without inner folds, or if a predictor cannot learn the labels of one."""
        kind = "binary" if len(np.unique(y)) == 2 else "multiclass"
        if kind not in self.selector.targets:
            raise ParameterError(
                f"selector {self.selector.name!r} does not take {kind} labels", remedy="choose another selector"
            )
        parts = [np.arange(len(y))]
        if len(self._pairs()) > 1:
            parts += [train for train, _ in inner_parts(y, self.folds, groups)]
        for train in parts:
            own = None if groups is None else np.asarray(groups)[train]
            for predictor in self._predictors():
                make_solver(predictor, kind).check_labels(y[train], own)

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return the predicted cost of a fit: selections and predictors of the inner folds, and of all rows."""
        pairs = self._pairs()
        folds = 0
        if len(pairs) > 1:
            folds = work.n if self.folds == LEAVE_ONE_OUT else int(self.folds)
        fits = FitCost(self.selector.fit_seconds(work.n, work.width))
        for size, predictor in pairs:
            own = FitWork(work.n, work.classes, None if predictor.input == "gram" else size)
            each = make_solver(predictor, "binary" if work.classes < 3 else "multiclass").fit_cost(own)
            fits = fits.then(each.times(1 + 2 * self.around))
        return FitCost(fits.seconds * (folds + 1), fits.bytes + 24 * work.n * work.width)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        # imported here: only the contract suite needs it
        from seqkern.solvers.psvm.psvm import PSVC
        from seqkern.solvers.selection.selectors.psvm_selector import PSVMFeatureSelector
        from seqkern.solvers.svm.svm import CSVC

        ranking = PSVMFeatureSelector(ranking="leave_one_out", n_epsilons=5)
        choice: dict[str, Any] = {"predictor": [CSVC(C=1e-6), CSVC(tol=1e-6)], "folds": 3, "scaler": ExpressionScaler()}
        return [
            cls(PSVMFeatureSelector(), CSVC(tol=1e-6), n_features=3),
            cls(ranking, n_features=[2], **choice),
            cls(PSVMFeatureSelector(), PSVC(kernel="features"), scaler=ExpressionScaler(ceiling=2, clip=False)),
        ]

    def selection(self) -> SelectedFeatures:
        """Return the selected features, the best first, and the predictor's weights of the scaled features, if any."""
        linear, columns = self.machine_.linear(), self.support_[self.chosen_]
        if linear is None:
            return SelectedFeatures(columns)
        weights = self.rows_.T @ linear[0] if self.machine_.input == "gram" else np.asarray(linear[0])
        return SelectedFeatures(columns, weights)

    @property
    def best_params_(self) -> dict[str, Any]:
        """Return the number of features, and the predictor's parameters as ``predictor nu`` and the like."""
        predictor = {f"predictor {key}": value for key, value in self.report_["predictor"].items() if key != "solver"}
        return {"n_features": self.report_["n_features"], **predictor}

    def with_chosen_parameters(self) -> Self:
        """Return a new solver with the number of features and the predictor that `fit` chose."""
        n_features, predictor = self.report_["n_features"], build_solver(self.report_["predictor"])
        return clone(self).set_params(n_features=n_features, predictor=predictor)

    def without_selection(self, columns: npt.ArrayLike) -> Self:
        """Return a new solver that scales whole rows and uses these features."""
        columns = np.asarray(columns)
        given = GivenSelector(columns)
        return clone(self).set_params(selector=given, n_features=len(columns))

    def _fit(self, K: Any, y: Array, groups: npt.ArrayLike | None = None) -> dict[str, Any]:
        """Choose F (the number of features) and the predictor, and fit on all rows."""
        chosen = self._choose(K, y, groups)
        with unconverged():  # the report tells
            selector = clone(self.selector).set_params(n_features=chosen.size).fit_scaled(K, y, self.scaler)
        selected = best_features(selector)
        if not len(selected):
            raise ParameterError(
                f"selector {self.selector.name!r} selects no feature",
                remedy="relax its parameters, or those of the scaler",
            )
        self.scaler_ = None if self.scaler is None else clone(self.scaler).fit(K)
        every = self.scaler_ is not None and self.scaler_.needs_all_columns()
        self.support_ = np.arange(K.shape[1]) if every else np.sort(selected)
        self.chosen_ = np.searchsorted(self.support_, selected)
        if self.scaler_ is not None:
            self.scaler_ = self.scaler_.restrict(self.support_)
        values = self._scaled(K, self.support_)
        predictor = learn(chosen.predictor, values, y, groups)
        gram = predictor.input == "gram"
        self.machine_ = predictor.restrict(predictor.support_) if gram else predictor
        self.rows_ = values[predictor.support_] if gram else np.empty((0, len(selected)))
        return self._report(predictor, selector, chosen, len(selected))

    def _report(self, predictor: Solver, selector: Selector, chosen: Chosen, size: int) -> dict[str, Any]:
        """Return the report of the fit."""
        summary = {key: value for key, value in predictor.report_.items() if key not in ("n_support", "support_share")}
        if selector.not_converged_:
            remarks = [summary["remark"]] if "remark" in summary else []
            summary |= {"converged": False, "remark": "; ".join([*remarks, selector.not_converged()])}
        return {
            **summary,
            "n_features": size,
            "predictor": chosen.predictor.spec(),
            "error": chosen.error,
            "selector_not_converged": selector.not_converged_,
            "inner_not_converged": chosen.not_converged + summary.get("inner_not_converged", 0),
        }

    def _decide(self, K: Any, columns: Ints) -> Floats:
        """Return the predictor's decisions."""
        values = self._scaled(K, columns)
        return self.machine_.decision_function(
            products(values, self.rows_) if self.machine_.input == "gram" else values
        )

    def _scaled(self, K: Floats, columns: Ints) -> Floats:
        """Return the selected features of some rows, scaled, float64 (m, F)."""
        values = np.ascontiguousarray(K[:, columns])
        values = values if self.scaler_ is None else self.scaler_.transform(values)
        return np.ascontiguousarray(values[:, self.chosen_])

    # ---- the choice --------------------------------------------------------------------------------------

    def _predictors(self) -> list[Solver]:
        """Return the predictors to choose from."""
        return list(self.predictor) if isinstance(self.predictor, (list, tuple)) else [self.predictor]

    def _sizes(self) -> list[int]:
        """Return the numbers of features to choose from."""
        return list(self.n_features) if isinstance(self.n_features, (list, tuple)) else [self.n_features]

    def _pairs(self) -> list[tuple[int, Solver]]:
        """Return the pairs (F, predictor) in order of preference."""
        pairs = [(size, predictor) for size in sorted(set(self._sizes())) for predictor in self._predictors()]
        return sorted(
            pairs,
            key=lambda pair: (pair[0], pair[1].complexity() if _alike(self._predictors()) else ()),
        )

    def _choose(self, K: Floats, y: Ints, groups: npt.ArrayLike | None) -> Chosen:
        """Return the Chosen pair; a single pair is returned without using the data."""
        pairs = self._pairs()
        if len(pairs) == 1:
            return Chosen(*pairs[0])
        return choose(K, y, groups, pairs, self.selector, self.scaler, around=self.around, folds=self.folds)

    # ---- the model ---------------------------------------------------------------------------------------

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return the states of scaler and predictor, the selected features and the rows that the predictor needs."""
        machine, arrays = self.machine_.state()
        header, scaling = (None, {}) if self.scaler_ is None else self.scaler_.state()
        arrays = {**nest("machine", arrays), **nest("scaler", scaling), "chosen": self.chosen_, "rows": self.rows_}
        return {"machine": machine, "scaler": header}, arrays

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Restore the state returned by `fitted_state`."""
        self.machine_ = solver_from_state(header["machine"], unnest("machine", arrays))
        scaler = header["scaler"]
        self.scaler_ = None if scaler is None else scaler_from_state(scaler, unnest("scaler", arrays))
        self.chosen_, self.rows_ = arrays["chosen"], arrays["rows"]


def _can_predict(solver: Any) -> bool:
    """Return whether an object is a solver that predicts classes."""
    return isinstance(solver, Solver) and bool({"binary", "multiclass"} & set(solver.targets))


def _alike(solvers: list[Solver]) -> bool:
    """Return whether all solvers are of the same class, so that their complexities are comparable."""
    return len({type(solver) for solver in solvers}) == 1
