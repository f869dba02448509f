"""A classifier on selected features: scaler, selector and predictor, with their hyperparameters, as one solver."""

import warnings
from collections import Counter

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from ..archive import nest, unnest
from ..errors import ParameterError
from ..kernels import _vector
from ..parameters import check_integer
from .base import ClassSolver, Solver
from .selectors.base import Selector
from .selectors.given import GivenSelector
from .selectors.scaling import ExpressionScaler, scaler_from_state
from .selectors.specs import build_scaler, build_selector
from .specs import build_solver, expand_grid, make_solver, solver_from_state


class SelectedClassifier(ClassSolver):
    """Scale the features, select some, and learn from these; how many, and which predictor, by cross-validation.

    Where `n_features` or `predictor` leaves a choice, the error of each pair is estimated on the training rows alone:
    in each part of an inner cross-validation the scaler, the selector and the predictor learn anew from the other
    rows, and new values are clipped to their range. The error of F features is the mean of those of F − a, F and
    F + a, so that no lucky F is chosen. Of equal errors that of the fewest features wins, then that of the least
    complex predictor, then the first. At the end all three learn from all training rows.

    Parameters
    ----------
    selector : Selector
        Its own number of features is replaced.
    predictor : Solver or list of Solver
        Who learns from the selected features: on their Gram matrix, if it takes one. A binary one learns several
        classes by pairwise voting. In a spec, a grid: ``{solver: nusvc, nu: [0.1, 0.3]}``.
    n_features : int or list of int
        F, or several to choose from.
    scaler : ExpressionScaler, optional
        Fitted in each part.
    around : int
        a ≥ 0.
    folds : {"leave_one_out"} or int
        The inner cross-validation: each row by itself, or stratified parts in the order of the rows.

    Attributes
    ----------
    chosen_ : ndarray of int64, shape (F,)
        Places in `support_` of the selected features, the best first.
    machine_ : Solver
        The predictor.
    rows_ : ndarray of float64, shape (s, F)
        The scaled features of the rows that it needs, if it takes a Gram matrix.
    report_ : dict
        That of the predictor, and ``n_features``, ``predictor`` (its spec), ``error``: the mean inner error, None if
        there was no choice; and ``inner_not_converged``: of the fits that gave it, how many did not converge.

    Notes
    -----
    The ranking protocol of Hochreiter & Obermayer (in Schölkopf, Tsuda & Vert, eds., Kernel Methods in Computational
    Biology, 2004) is this with ``PSVMFeatureSelector(ranking="leave_one_out")`` and ν-SVM: the inner parts rank by
    ``selector.inner()``, the whole by all parts together. `support_` is the selected features; all features with
    quantile normalisation, which looks at whole rows.
    """

    name = "selected"
    plain = "Selects features (genes) that tell the classes apart, and learns from these alone."
    input = "features"
    targets = ("binary", "multiclass")
    whole = ("selector", "predictor", "n_features", "scaler")

    def __init__(self, selector, predictor, *, n_features=20, scaler=None, around=1, folds="leave_one_out"):
        self.selector = selector
        self.predictor = predictor
        self.n_features = n_features
        self.scaler = scaler
        self.around = around
        self.folds = folds

    @classmethod
    def read(cls, key, value):
        """Return a parameter's value from a config's; see `Solver.read`."""
        if key == "selector":
            return build_selector(value)
        if key == "scaler":
            return build_scaler(value)
        if key == "predictor":
            values = value if isinstance(value, (list, tuple)) else [value]
            solvers = [one for item in values for one in _solvers(item)]
            return solvers[0] if len(solvers) == 1 else solvers
        return value

    def check_parameters(self):
        """Raise ParameterError for a parameter outside its domain."""
        if not isinstance(self.selector, Selector) or not {"binary", "multiclass"} & set(self.selector.targets):
            raise ParameterError(
                f"selector={self.selector!r} is not possible", remedy="give a selector that takes classes"
            )
        self.selector.check_parameters()
        if not self._predictors() or not all(_can_predict(one) for one in self._predictors()):
            raise ParameterError(
                f"predictor={self.predictor!r} is not possible", remedy="give a solver of classes, or a list of some"
            )
        for predictor in self._predictors():
            predictor.check_parameters()
        sizes = self._sizes()
        if not sizes:
            raise ParameterError("n_features has no values", remedy="list one or more")
        for size in sizes:
            check_integer("n_features", size, 1)
        if self.scaler is not None:
            if not isinstance(self.scaler, ExpressionScaler):
                raise ParameterError(f"scaler={self.scaler!r} is not possible", remedy="give an ExpressionScaler")
            self.scaler.check_parameters()
        check_integer("around", self.around, 0)
        if isinstance(self.folds, str):
            if self.folds != "leave_one_out":
                raise ParameterError(f"folds={self.folds!r} is not possible", remedy="give leave_one_out or a number")
        else:
            check_integer("folds", self.folds, 2)

    def check_labels(self, y):
        """Raise ParameterError where a predictor cannot learn the labels, of the whole or of an inner part."""
        kind = "binary" if len(np.unique(y)) == 2 else "multiclass"
        if kind not in self.selector.targets:
            raise ParameterError(
                f"selector {self.selector.name!r} does not take {kind} labels", remedy="choose another selector"
            )
        parts = [np.arange(len(y))]
        if self._has_choice():
            parts += [train for train, _ in self._parts(y)]
        for train in parts:
            if len(np.unique(y[train])) < 2:
                raise ParameterError(
                    "an inner part has members of one class alone", remedy="leave the choice out, or give more records"
                )
            for predictor in self._predictors():
                make_solver(predictor, kind).check_labels(y[train])

    @classmethod
    def examples(cls):
        """Return solvers that the contract suite tests."""
        from .psvm import PSVC
        from .selectors.psvm import PSVMFeatureSelector
        from .svm import CSVC

        ranking = PSVMFeatureSelector(ranking="leave_one_out", n_epsilons=5)
        choice = {"predictor": [CSVC(C=1e-6), CSVC(tol=1e-6)], "folds": 3, "scaler": ExpressionScaler()}
        return [
            cls(PSVMFeatureSelector(), CSVC(tol=1e-6), n_features=3),
            cls(ranking, n_features=[2], **choice),
            cls(PSVMFeatureSelector(), PSVC(kernel="features"), scaler=ExpressionScaler(ceiling=2, clip=False)),
        ]

    def predict(self, K):
        """Return the predicted class of each row of `K`, shape (m,)."""
        decisions = self.decision_function(K)
        return self.classes_[(decisions > 0).astype(np.int64) if decisions.ndim == 1 else decisions.argmax(axis=1)]

    def selected_columns(self):
        """Return the selected features, int64, the best first."""
        return self.support_[self.chosen_]

    def chosen(self):
        """Return the number of features, and the predictor's parameters as ``predictor nu`` and the like."""
        predictor = {f"predictor {key}": value for key, value in self.report_["predictor"].items() if key != "solver"}
        return {"n_features": self.report_["n_features"], **predictor}

    def settled(self):
        """Return a new solver with the number of features and the predictor that `fit` chose."""
        n_features, predictor = self.report_["n_features"], build_solver(self.report_["predictor"])
        return clone(self).set_params(n_features=n_features, predictor=predictor)

    def without_selection(self, columns):
        """Return a new solver that scales whole rows, and learns from these features of them."""
        given = GivenSelector(np.asarray(columns))
        return clone(self).set_params(selector=given, n_features=len(columns))

    def _fit(self, K, y):
        """Choose F and the predictor, and learn from all rows."""
        size, predictor, error, failed = self._choice(K, y) if self._has_choice() else (*self._pairs()[0], None, 0)
        selector = clone(self.selector).set_params(n_features=size).fit_scaled(K, y, self.scaler)
        selected = _best(selector)
        if not len(selected):
            raise ParameterError(
                f"selector {self.selector.name!r} chooses no feature", remedy="loosen its parameters, or the scaler's"
            )
        self.scaler_ = None if self.scaler is None else clone(self.scaler).fit(K)
        every = self.scaler_ is not None and self.scaler_.needs_all_columns()
        self.support_ = np.arange(K.shape[1]) if every else np.sort(selected)
        self.chosen_ = np.searchsorted(self.support_, selected)
        if self.scaler_ is not None:
            self.scaler_ = self.scaler_.restrict(self.support_)
        values = self._scaled(K, self.support_)
        machine = _learn(predictor, values, y)
        gram = machine.input == "gram"
        self.machine_ = machine.restrict(machine.support_) if gram else machine
        self.rows_ = values[machine.support_] if gram else np.empty((0, len(selected)))
        told = {key: value for key, value in machine.report_.items() if key not in ("n_support", "support_share")}
        return {
            **told,
            "n_features": len(selected),
            "predictor": predictor.spec(),
            "error": error,
            "inner_not_converged": failed,
        }

    def _decide(self, K, columns):
        """Return the predictor's decisions."""
        values = self._scaled(K, columns)
        return self.machine_.decision_function(
            _products(values, self.rows_) if self.machine_.input == "gram" else values
        )

    def _scaled(self, K, columns):
        """Return the selected features of some rows, scaled, float64 (m, F)."""
        values = np.ascontiguousarray(K[:, columns])
        values = values if self.scaler_ is None else self.scaler_.transform(values)
        return np.ascontiguousarray(values[:, self.chosen_])

    # ---- the choice --------------------------------------------------------------------------------------

    def _predictors(self):
        """Return the predictors to choose from."""
        return list(self.predictor) if isinstance(self.predictor, (list, tuple)) else [self.predictor]

    def _sizes(self):
        """Return the numbers of features to choose from."""
        return list(self.n_features) if isinstance(self.n_features, (list, tuple)) else [self.n_features]

    def _pairs(self):
        """Return (F, predictor) in the order of preference."""
        pairs = [(size, predictor) for size in sorted(set(self._sizes())) for predictor in self._predictors()]
        return sorted(pairs, key=lambda pair: (pair[0], pair[1].complexity() if _alike(self._predictors()) else ()))

    def _has_choice(self):
        """Return whether there is more than one pair."""
        return len(self._pairs()) > 1

    def _parts(self, y):
        """Yield (training rows, test rows) of the inner cross-validation."""
        if self.folds == "leave_one_out":
            every = np.arange(len(y))
            yield from ((np.delete(every, row), every[row : row + 1]) for row in every)
        else:
            yield from StratifiedKFold(self.folds).split(np.zeros(len(y)), y)

    def _choice(self, K, y):
        """Return (F, predictor, error, fits that did not converge) of the pair with the least inner error."""
        pairs = self._pairs()
        near = {size: self._near(size, K.shape[1]) for size, _ in pairs}
        wrong, failed = Counter(), Counter()
        for train, test in self._parts(y):
            for size, predictor, errors, converged in self._errors(
                K, y, train, test, sorted({*sum(near.values(), ())})
            ):
                wrong[size, id(predictor)] += errors
                failed[size, id(predictor)] += not converged
        means = [np.mean([wrong[one, id(predictor)] for one in near[size]]) / len(y) for size, predictor in pairs]
        best = int(np.argmin(means))
        size, predictor = pairs[best]
        return size, predictor, float(means[best]), sum(failed[one, id(predictor)] for one in near[size])

    def _near(self, size, width):
        """Return F − a, F and F + a, as far as there are so many features."""
        return tuple(sorted({min(max(one, 1), width) for one in (size - self.around, size, size + self.around)}))

    def _errors(self, K, y, train, test, sizes):
        """Yield (F, predictor, wrong predictions of the test rows, converged), all learned from the training rows."""
        selector = self.selector.inner().set_params(n_features=sizes[-1]).fit_scaled(K[train], y[train], self.scaler)
        known, new = K[train], K[test]
        if self.scaler is not None:
            scaler = clone(self.scaler).fit(known)
            known, new = scaler.transform(known), scaler.transform(new)
        order = _best(selector)
        for size in sizes:
            some, held_out = known[:, order[:size]], new[:, order[:size]]
            gram = _products(some, some)
            for predictor in self._predictors():
                predicted, converged = np.bincount(y[train]).argmax(), True
                if len(order):
                    machine = _learn(predictor, some, y[train], gram)
                    predicted = machine.predict(_products(held_out, some) if machine.input == "gram" else held_out)
                    converged = machine.report_["converged"]
                yield size, predictor, int(np.sum(predicted != y[test])), converged

    # ---- the model ---------------------------------------------------------------------------------------

    def fitted_state(self):
        """Return the states of scaler and predictor, the selected features and the rows that the predictor needs."""
        machine, arrays = self.machine_.state()
        header, scaling = (None, {}) if self.scaler_ is None else self.scaler_.state()
        arrays = {**nest("machine", arrays), **nest("scaler", scaling), "chosen": self.chosen_, "rows": self.rows_}
        return {"machine": machine, "scaler": header}, arrays

    def restore_fitted(self, header, arrays):
        """Set what `fitted_state` returned."""
        self.machine_ = solver_from_state(header["machine"], unnest("machine", arrays))
        scaler = header["scaler"]
        self.scaler_ = None if scaler is None else scaler_from_state(scaler, unnest("scaler", arrays))
        self.chosen_, self.rows_ = arrays["chosen"], arrays["rows"]


def _solvers(spec):
    """Return the solvers of a grid."""
    return [spec] if isinstance(spec, Solver) else [build_solver(one) for one in expand_grid(spec)]


def _can_predict(solver):
    """Return whether an object is a solver that predicts classes."""
    return isinstance(solver, Solver) and bool({"binary", "multiclass"} & set(solver.targets))


def _alike(solvers):
    """Return whether all solvers are of one class, so that their complexities can be compared."""
    return len({type(solver) for solver in solvers}) == 1


def _best(selector):
    """Return the features that a selector chose, the best first, int64."""
    chosen = selector.get_support(indices=True)
    return chosen[np.argsort(selector.ranking_[chosen])]


def _learn(predictor, values, y, gram=None):
    """Return a copy of a predictor, fitted to features or to their Gram matrix; its report tells of convergence."""
    machine = make_solver(clone(predictor), "binary" if len(np.unique(y)) == 2 else "multiclass")
    if machine.input == "gram":
        values = _products(values, values) if gram is None else gram
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return machine.fit(values, y)


def _products(rows, others):
    """Return the linear kernel, float64 (m, n); each entry has its own bits, whatever the other rows are."""
    out = np.empty((len(rows), len(others)))
    _vector.products(np.ascontiguousarray(rows), np.ascontiguousarray(others.T), out)
    return out
