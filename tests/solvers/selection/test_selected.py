"""The classifier on selected features against a twin of its choice, and what reaches each of its parts."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from seqkern.core.archive import load_archive, save_archive
from seqkern.core.errors import LabelError, ParameterError
from seqkern.solvers import (
    CSVC,
    PSVC,
    KernelNeighbors,
    NuSVC,
    PairwiseVoting,
    PSVMFeatureSelector,
    SelectedClassifier,
    build_solver,
    expand_grid,
    solver_from_state,
)
from seqkern.solvers.selection import selected
from seqkern.solvers.selection.selected import inner_parts
from seqkern.solvers.selection.selectors import ExpressionScaler, build_selector


def expression(classes=2, rows=24, columns=60, seed=4, strength=0.9):
    """Return values like those of a chip, and labels; for each class one column goes with it."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % classes
    X = np.exp(rng.normal(size=(rows, columns)) + 3)
    for one in range(classes):
        X[:, 10 * one] *= np.exp(strength * (y == one))
    return X, y


# ---- the choice ------------------------------------------------------------------------------------------


def twin_choice(X, y, sizes, costs, around):
    """Return (F, C, error) by loops over parts, sizes and costs, with scikit-learn's SVC on the log values."""
    wrong = {}
    for row in range(len(y)):
        train = np.delete(np.arange(len(y)), row)
        scaler = StandardScaler().fit(np.log2(X[train]))
        known, new = scaler.transform(np.log2(X[train])), scaler.transform(np.log2(X[[row]]))
        new = np.clip(new, known.min(axis=0), known.max(axis=0))
        order = np.argsort(PSVMFeatureSelector(ranking="grid", n_features=None).fit(known, y[train]).ranking_)
        for size in range(1, max(sizes) + around + 1):
            for cost in costs:
                some = order[:size]
                machine = SVC(C=cost, kernel="linear", tol=1e-8).fit(known[:, some], y[train])
                wrong[size, cost] = wrong.get((size, cost), 0) + int(machine.predict(new[:, some])[0] != y[row])
    best = None
    for size in sorted(sizes):
        for cost in sorted(costs):
            near = [one for one in (size - around, size, size + around) if one >= 1]
            error = np.mean([wrong[one, cost] for one in sorted(set(near))]) / len(y)
            if best is None or error < best[2] - 1e-12:
                best = (size, cost, error)
    return best


@pytest.mark.parametrize("around", [0, 2])
def test_the_choice_and_its_twin(around):
    X, y = expression(rows=20, strength=1.7)
    sizes, costs = [8, 1, 3], [1.0, 0.01]
    solver = SelectedClassifier(
        PSVMFeatureSelector(ranking="leave_one_out"),
        [CSVC(C=cost, tol=1e-8) for cost in costs],
        n_features=sizes,
        scaler=ExpressionScaler(normalize="log", floor=1e-9),
        around=around,
    ).fit(X, y)
    size, cost, error = twin_choice(X, y, sizes, costs, around)
    assert 0 < error < 0.4
    assert solver.report_["error"] == pytest.approx(error)
    assert solver.report_["predictor"]["C"] == cost
    assert solver.report_["n_features"] == size == len(solver.support_) == len(solver.chosen_)
    whole = PSVMFeatureSelector(ranking="leave_one_out", scaler=solver.scaler).fit(X, y)
    np.testing.assert_array_equal(solver.selection().columns, np.argsort(whole.ranking_)[:size])


def test_without_a_choice_there_is_no_inner_loop(monkeypatch):
    monkeypatch.setattr(selected, "inner_parts", None)
    monkeypatch.setattr(selected, "inner_parts", None)
    X, y = expression()
    solver = SelectedClassifier(PSVMFeatureSelector(), CSVC(), n_features=3).fit(X, y)
    assert solver.report_["error"] is None
    assert solver.report_["n_features"] == 3


def test_what_is_learned_in_a_part_is_learned_from_its_rows_alone(monkeypatch):
    X, y = expression()
    learned = []

    def spy(predictor, values, labels, groups=None, gram=None):
        machine = learn(predictor, values, labels, groups, gram)
        learned.append((values.tobytes(), labels.tobytes(), json.dumps(machine.report_), machine.alpha_.tobytes()))
        return machine

    learn = selected.learn
    monkeypatch.setattr(selected, "learn", spy)
    learners = {
        "selector": PSVMFeatureSelector(ranking="leave_one_out", n_epsilons=5),
        "scaler": ExpressionScaler(normalize="quantile", present_above=10),
        "sizes": [1, 2, 3],
        "predictors": [PSVC(kernel="features")],
    }
    train, test = np.delete(np.arange(24), 7), np.array([7])
    list(selected.part_errors(X, y, None, train, test, **learners))
    expected, learned[:] = list(learned), []
    assert len(expected) == 3
    for poison in (1e300, -1e300, 0.0):
        X[7], y[7] = poison, 1 - y[7]
        list(selected.part_errors(X, y, None, train, test, **learners))
        assert learned == expected
        learned.clear()


def test_inner_fits_that_do_not_converge_are_counted():
    X, y = expression(strength=3.0)
    solver = SelectedClassifier(PSVMFeatureSelector(), CSVC(max_iter=1), n_features=[1, 2], around=0, folds=4)
    with pytest.warns(ConvergenceWarning, match="SelectedClassifier stopped") as told:
        solver.fit(X, y)
    assert len(told) == 1  # not one for each fit
    assert solver.report_["inner_not_converged"] == 4
    assert solver.report_["converged"] is False
    assert solver.set_params(predictor=CSVC()).fit(X, y).report_["inner_not_converged"] == 0


def test_a_selector_that_stops_early_did_not_converge():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    selector = build_selector({"selector": "recursive_elimination", "C": 1e9})
    solver = SelectedClassifier(selector, CSVC(C=0.1), n_features=2)
    with pytest.warns(ConvergenceWarning, match="'recursive_elimination': .* did not converge") as told:
        solver.fit(X, y)
    assert len(told) == 1
    assert solver.report_["converged"] is False
    assert solver.report_["selector_not_converged"] > 0
    assert solver.count_not_converged() == 1
    with pytest.warns(ConvergenceWarning) as told:
        selector.fit(X, y)
    assert len(told) == 1
    assert selector.not_converged_ == solver.report_["selector_not_converged"]
    solver.set_params(n_features=[1, 2], folds=3, around=0)
    with pytest.warns(ConvergenceWarning):
        solver.fit(X, y)
    assert solver.report_["inner_not_converged"] == 3


def test_inner_fits_alone_are_told_too():
    """With all rows it converges; what chose for it did not."""
    X, y = expression(strength=3.0)
    solver = SelectedClassifier(PSVMFeatureSelector(), [CSVC(), CSVC(C=2.0)], n_features=2, folds=3)

    class Told(SelectedClassifier):
        def _choose(self, K, y, groups):
            return replace(super()._choose(K, y, groups), not_converged=2)

    told = Told(**solver.get_params(deep=False))
    with pytest.warns(ConvergenceWarning, match="2 fits of its inner cross-validation did not converge"):
        told.fit(X, y)
    assert told.report_["converged"]
    assert told.count_not_converged() == 2


# ---- the inner parts -------------------------------------------------------------------------------------


def copies(seed):
    """Return noise labels of 20 groups of 3 near-copies, in a random order."""
    rng = np.random.default_rng(seed)
    y = np.repeat(rng.permutation(np.arange(20) % 2), 3)
    X = np.repeat(rng.normal(size=(20, 200)), 3, axis=0) + 0.05 * rng.normal(size=(60, 200))
    order = rng.permutation(60)
    return X[order], y[order], np.repeat(np.arange(20), 3)[order]


@pytest.mark.parametrize("folds", [5, "leave_one_out"])
def test_groups_stay_together_so_that_noise_is_not_recognised(folds):
    predictors = [KernelNeighbors(n_neighbors=1), CSVC()]
    solver = SelectedClassifier(build_selector("pearson"), predictors, n_features=20, folds=folds)
    errors = []
    for seed in range(2):
        X, y, groups = copies(seed)
        errors.append([solver.fit(X, y, given).report_["error"] for given in (None, groups)])
    blind, grouped = np.mean(errors, axis=0)
    assert blind < 0.1
    assert grouped > 0.3
    for train, test in inner_parts(y, folds, groups):
        assert not set(groups[train]) & set(groups[test])
        assert len(train) + len(test) == 60


def test_groups_reach_the_binary_machines_of_pairs():
    X, y, groups = copies(0)
    y = np.where(groups % 3 == 0, 2, y)
    solver = SelectedClassifier(build_selector("pearson"), KernelNeighbors(n_neighbors=1), n_features=[5, 9], folds=4)
    pairs = PairwiseVoting(solver)
    assert pairs.traits.groups
    pairs.fit(X, y, groups)
    first = np.flatnonzero(np.isin(y, [0, 1]))
    alone = clone(solver).fit(X[first], y[first], groups[first])
    assert pairs.machines_[0].report_["error"] == alone.report_["error"]
    assert alone.report_["error"] != clone(solver).fit(X[first], y[first]).report_["error"]
    with pytest.raises(LabelError, match="3 groups for 60 rows"):
        solver.fit(X, y, groups[:3])


@pytest.mark.parametrize("folds", [20, 50])
def test_too_many_folds_are_lowered_to_the_rarest_class(folds):
    X, y = expression(rows=18)
    y[:4] = 1
    assert np.sum(y == 0) == 7
    parts = inner_parts(y, folds)
    assert len(parts) == 7
    assert sorted(np.concatenate([test for _, test in parts])) == list(range(18))
    solver = SelectedClassifier(build_selector("pearson"), CSVC(), n_features=[1, 2], folds=folds)
    solver.check_labels(y)
    assert 0 <= solver.fit(X, y).report_["error"] <= 1


def test_a_class_of_one_group_is_refused_before_any_fit(monkeypatch):
    solver = SelectedClassifier(build_selector("pearson"), CSVC(), n_features=[1, 2], folds=3)
    y = np.array([0, 0, 0, 1, 1, 1])
    solver.check_labels(y, np.array([0, 0, 1, 2, 2, 3]))
    with pytest.raises(ParameterError, match=r"only one record \(or group\)"):
        solver.check_labels(y, np.array([0, 0, 1, 2, 2, 2]))
    monkeypatch.setattr(selected, "deal", lambda y, *rest: y)
    with pytest.raises(ParameterError, match="no inner fold has all classes"):
        inner_parts(y, 3)


def test_the_scaler_is_fitted_once_in_each_inner_part(monkeypatch):
    X, y = expression()
    fitted = []
    fit_transform = ExpressionScaler.fit_transform

    def spy(self, X, y=None):
        fitted.append(len(X))
        return fit_transform(self, X, y)

    monkeypatch.setattr(ExpressionScaler, "fit_transform", spy)
    own = PSVMFeatureSelector(scaler=ExpressionScaler(ceiling=1))  # gives way to that of the classifier
    solver = SelectedClassifier(own, CSVC(), n_features=[2, 3], scaler=ExpressionScaler(), folds=3)
    solver.fit(X, y)
    assert sorted(fitted) == [16, 16, 16, 24, 24]


def test_new_values_are_clipped_to_the_range_of_the_training_rows():
    X, y = expression()
    solver = SelectedClassifier(PSVMFeatureSelector(), NuSVC(nu=0.4), n_features=4, scaler=ExpressionScaler())
    solver.fit(X, y)
    most = solver.decision_function(X.max(axis=0)[None])
    np.testing.assert_array_equal(solver.decision_function(1e6 * X.max(axis=0)[None]), most)


# ---- several classes, whole rows -------------------------------------------------------------------------


@pytest.mark.parametrize("predictor", [CSVC(C=1.0), PSVC(kernel="features", epsilon=0.05)])
def test_several_classes(predictor, tmp_path):
    X, y = expression(classes=3, rows=36, strength=3.0)
    names = np.array(["EWS", "NB", "RMS"])[y]
    solver = SelectedClassifier(PSVMFeatureSelector(), predictor, n_features=[2, 3], folds=4)
    solver.set_params(scaler=ExpressionScaler(normalize="log", floor=1)).fit(X, names)
    assert solver.report_["n_features"] == 3
    assert set(solver.selection().columns) == {0, 10, 20}
    decisions = solver.decision_function(X)
    assert decisions.shape == (36, 3)
    np.testing.assert_array_equal(solver.predict(X), solver.classes_[decisions.argmax(axis=1)])
    assert solver.score(X, names) > 0.9
    save_archive(tmp_path / "model", *solver.state())
    other = solver_from_state(*load_archive(tmp_path / "model"))
    assert other.decision_function(X).tobytes() == decisions.tobytes()
    small = solver.restrict(solver.support_[::-1])
    assert small.decision_function(X[:, solver.support_[::-1]]).tobytes() == decisions.tobytes()


def test_quantile_normalisation_needs_all_columns(tmp_path):
    X, y = expression(strength=3.0)
    scaler = ExpressionScaler(normalize="quantile")
    solver = SelectedClassifier(PSVMFeatureSelector(), CSVC(), n_features=2, scaler=scaler).fit(X, y)
    assert len(solver.support_) == 60
    assert set(solver.selection().columns) == {0, 10}
    assert solver.score(X, y) > 0.9
    decisions = solver.decision_function(X)
    save_archive(tmp_path / "model", *solver.state())
    assert solver_from_state(*load_archive(tmp_path / "model")).decision_function(X).tobytes() == decisions.tobytes()
    order = np.random.default_rng(0).permutation(60)
    assert solver.restrict(order).decision_function(X[:, order]).tobytes() == decisions.tobytes()


# ---- specs and bad input ---------------------------------------------------------------------------------


def test_the_text_form():
    text = "selected:selector=(pearson),predictor=(csvc:C=2),n_features=[1,2],folds=4"
    solver = build_solver(text)
    assert (solver.selector.name, solver.predictor.C, solver.n_features) == ("pearson", 2, [1, 2])
    assert expand_grid(text)[0]["selector"] == {"selector": "pearson"}
    nested = build_solver("selected:selector=(psvm:ranking=grid),predictor=[csvc,(nusvc:nu=[0.1,0.2])]")
    assert nested.selector.ranking == "grid"
    assert [one.name for one in nested.predictor] == ["csvc", "nusvc", "nusvc"]


def test_specs():
    spec = {
        "solver": "selected",
        "selector": {"selector": "psvm", "ranking": "leave_one_out"},
        "n_features": [5, 10],
        "scaler": {"normalize": "log", "floor": 20},
        "predictor": {"solver": "nusvc", "nu": [0.1, 0.3]},
    }
    solver = build_solver(spec)
    assert [one.nu for one in solver.predictor] == [0.1, 0.3]
    assert solver.n_features == [5, 10]
    assert solver.scaler.floor == 20
    assert solver.selector.ranking == "leave_one_out"
    assert expand_grid(spec) == [spec]
    assert [one["around"] for one in expand_grid({**spec, "around": [0, 2]})] == [0, 2]
    single = build_solver({**spec, "selector": "psvm:epsilon=0.5", "predictor": "csvc:C=2", "scaler": "quantile"})
    assert (single.selector.epsilon, single.predictor.C, single.scaler.normalize) == (0.5, 2, "quantile")
    listed = build_solver({**spec, "predictor": ["csvc", {"solver": "nusvc", "nu": [0.1, 0.2]}]})
    assert [one.name for one in listed.predictor] == ["csvc", "nusvc", "nusvc"]


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"selector": "gulub"}, "selector"),
        ({"selector": 3}, "does not name a selector"),
        ({"predictor": "svr"}, "predictor="),
        ({"predictor": []}, r"predictor=\[\]"),
        ({"n_features": []}, "n_features has no values"),
        ({"n_features": [3, 0]}, "n_features=0"),
        ({"scaler": {"flor": 3}}, "did you mean 'floor'"),
        ({"around": -1}, "around=-1"),
        ({"folds": 1}, "folds=1"),
        ({"folds": "loo"}, "folds='loo'"),
    ],
)
def test_bad_parameters(change, part):
    with pytest.raises(ParameterError, match=part):
        build_solver({"solver": "selected", "selector": "psvm", "predictor": "csvc", **change})


def test_labels_that_do_not_go_with_the_parameters():
    y = np.arange(24) % 2
    solver = SelectedClassifier(PSVMFeatureSelector(), [NuSVC(nu=0.1), NuSVC(nu=0.97)])
    with pytest.raises(ParameterError, match="infeasible"):
        solver.check_labels(y)  # of 23 rows 11 are of one class: 0.97 is good for 24 alone
    NuSVC(nu=0.97).check_labels(y)
    SelectedClassifier(PSVMFeatureSelector(), NuSVC(nu=0.97)).check_labels(y)
    with pytest.raises(ParameterError, match="one record"):
        SelectedClassifier(PSVMFeatureSelector(), CSVC(), n_features=[1, 2]).check_labels(np.array([0, 1, 1, 1]))


def test_no_feature_is_chosen():
    X, y = expression()
    solver = SelectedClassifier(PSVMFeatureSelector(epsilon=1.5), CSVC(), n_features=2)
    with pytest.raises(ParameterError, match="selects no feature"):
        solver.fit(X, y)
