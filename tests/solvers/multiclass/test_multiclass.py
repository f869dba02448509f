"""Several classes: scikit-learn and a general solver as oracles, ties, what is asked, warm starts."""

import itertools
import json

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

from seqkern.core.errors import ParameterError
from seqkern.solvers import (
    CSVC,
    PSVC,
    DecisionDAG,
    DirectMulticlass,
    LinearSVC,
    NuSVC,
    OneAgainstRest,
    PairwiseVoting,
    build_solver,
    expand_grid,
    make_solver,
    solver_from_state,
)
from seqkern.solvers.checking import ConstantColumnWarning


def problem(classes=4, n=80, seed=0):
    """Return points, a Gram matrix and labels of classes that overlap, and the same of new points."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, size=n + 30)
    points = rng.normal(size=(n + 30, 3)) + 1.2 * rng.normal(size=(classes, 3))[y]
    kernel = np.exp(-((points[:, None] - points[None]) ** 2).sum(-1) / 6)
    return points[:n], kernel[:n, :n].copy(), y[:n], points[n:], kernel[n:, :n].copy(), y[n:]


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_same_as_scikit_learn(classes):
    _, K, y, _, new, _ = problem(classes)
    solver = PairwiseVoting(CSVC(tol=1e-6)).fit(K, y)
    oracle = SVC(kernel="precomputed", tol=1e-6, break_ties=classes > 2).fit(K, y)
    decisions = solver.decision_function(new)
    assert decisions.shape == (30, classes)
    np.testing.assert_array_equal(solver.predict(new), oracle.predict(new))
    if classes > 2:
        np.testing.assert_allclose(decisions, oracle.decision_function(new), atol=1e-5)


@pytest.mark.parametrize("binary", [CSVC(C=3.0), PSVC(epsilon=0.05), PSVC(kernel="features")], ids=repr)
def test_votes_of_machines_trained_apart(binary):
    points, K, y, new_points, new, _ = problem()
    gram = binary.input == "gram"
    train, test = (K, new) if gram else (points, new_points)
    solver = PairwiseVoting(binary).fit(train, y)
    votes, sums = np.zeros((30, 4)), np.zeros((30, 4))
    needed = set()
    for a, b in itertools.combinations(range(4), 2):
        rows = np.flatnonzero((y == a) | (y == b))
        machine = type(binary)(**binary.get_params())
        machine.fit(train[np.ix_(rows, rows)] if gram else train[rows], y[rows])
        needed |= set(rows[machine.support_] if gram else machine.support_)
        for i, decision in enumerate(machine.decision_function(test[:, rows] if gram else test)):
            votes[i, b if decision > 0 else a] += 1
            sums[i, b] += decision
            sums[i, a] -= decision
    expected = votes + sums / (3 * (np.abs(sums) + 1))
    np.testing.assert_array_equal(solver.decision_function(test), expected)
    assert set(solver.support_) == needed
    np.testing.assert_array_equal(np.round(expected), votes)


def test_ties_are_broken_by_summed_decisions():
    """Three classes in a circle: a beats b, b beats c, c beats a; the widest wins decide."""

    class Fixed(CSVC):
        name = None

        def _decide(self, K, columns):
            return np.array([{(0, 1): -1.0, (0, 2): 2.0, (1, 2): -0.5}[tuple(self.classes_)]])

    solver = PairwiseVoting(CSVC())
    _, K, y, _, new, _ = problem(3)
    solver.fit(K, y)
    for machine in solver.machines_:
        machine.__class__ = Fixed
    decisions = solver.decision_function(new[:1])[0]
    # sums: a = 1 − 2, b = −1 + 0.5, c = 2 − 0.5
    np.testing.assert_allclose(decisions, [1 - 1 / 6, 1 - 0.5 / 4.5, 1 + 1.5 / 7.5])
    assert list(solver.predict(new[:1])) == [2]


def test_columns_rank_for_a_macro_auc():
    _, K, y, _, new, y_new = problem(3)
    decisions = PairwiseVoting(CSVC()).fit(K, y).decision_function(new)
    areas = [roc_auc_score(y_new == c, decisions[:, c]) for c in range(3)]
    assert np.mean(areas) > 0.7


def test_state_holds_each_machine_once_and_no_pickle():
    _, K, y, _, new, _ = problem()
    solver = PairwiseVoting(PSVC(epsilon=0.2)).fit(K, np.array(["E", "H", "N", "T"])[y])
    header, arrays = solver.state()
    header = json.loads(json.dumps(header, allow_nan=False))
    assert len(header["learned"]["machines"]) == 6
    assert all(array.dtype != object for array in arrays.values())
    small = solver_from_state(header, arrays).restrict(solver.support_)
    np.testing.assert_array_equal(small.predict(new[:, solver.support_]), solver.predict(new))
    assert all(machine.n_features_in_ == len(solver.support_) for machine in solver.machines_)


def test_report_sums_up_the_machines():
    _, K, y, _, _, _ = problem()
    solver = PairwiseVoting(PSVC()).fit(K, y)
    reports = [machine.report_ for machine in solver.machines_]
    assert solver.report_["machines"] == 6
    assert solver.report_["residual"] == max(report["residual"] for report in reports)
    assert solver.report_["iterations"] == sum(report["iterations"] for report in reports)
    with pytest.warns(UserWarning, match="before it converged"):
        solver.set_params(binary__max_iter=2).fit(K, y)
    assert solver.report_["converged"] is False


def test_scikit_learn_slices_rows_and_columns():
    _, K, y, _, _, _ = problem(3)
    ours = cross_val_score(make_solver("csvc", "multiclass"), K, y, cv=4)
    np.testing.assert_array_equal(ours, cross_val_score(SVC(kernel="precomputed", break_ties=True), K, y, cv=4))


def test_constant_columns_of_any_pair_are_reported():
    K = np.random.default_rng(0).normal(size=(12, 12))
    K[:, [0, 1]] = 0.5  # rows 0 and 1 are of two classes: one pair of classes has both columns
    y = np.arange(12) % 3
    with pytest.warns(ConstantColumnWarning):
        assert PairwiseVoting(PSVC()).fit(K, y).report_["constant_columns"] == 2
    assert "constant_columns" not in PairwiseVoting(CSVC()).fit(K @ K.T, y).report_


# ---- fewer decisions -------------------------------------------------------------------------------------


def asked(solver, rows, monkeypatch):
    """Return the predictions of `rows`, and how many decisions of a machine they took for each."""
    count = 0
    decide = CSVC._decide

    def counting(self, K, columns):
        nonlocal count
        count += len(K)
        return decide(self, K, columns)

    monkeypatch.setattr(CSVC, "_decide", counting)
    predicted = solver.predict(rows)
    monkeypatch.undo()
    return predicted, count / len(rows)


@pytest.mark.parametrize("classes", [2, 3, 4, 9])
def test_voting_skips_what_can_no_longer_win(classes, monkeypatch):
    _, K, y, _, new, _ = problem(classes, n=60 + 20 * classes)
    solver = PairwiseVoting(CSVC()).fit(K, y)
    expected = solver.classes_[solver.decision_function(new).argmax(axis=1)]
    monkeypatch.setattr("seqkern.solvers.multiclass.multiclass.CHUNK_ROWS", 7)
    predicted, decisions = asked(solver, new, monkeypatch)
    np.testing.assert_array_equal(predicted, expected)
    # the winner meets all others, and a champion is found by c − 1 games first
    assert decisions <= {2: 1, 3: 3, 4: 5.5, 9: 20}[classes]
    assert decisions >= classes - 1


def test_voting_with_decisions_drawn_at_random(monkeypatch):
    """Circles, ties and decisions of zero: the prediction is that of all pairs."""
    rng = np.random.default_rng(0)
    for classes in (3, 5, 6):
        _, K, y, _, _, _ = problem(classes, n=100)
        solver = PairwiseVoting(CSVC()).fit(K, y)
        values = rng.integers(-2, 3, size=(len(solver.machines_), 200)).astype(float)

        class Drawn(CSVC):
            name = None

            def _decide(self, K, columns):
                return self.values[K[:, 0].astype(int)]

        for machine, own in zip(solver.machines_, values, strict=True):
            machine.__class__, machine.values = Drawn, own
        rows = np.repeat(np.arange(200.0)[:, None], K.shape[1], axis=1)
        np.testing.assert_array_equal(solver.predict(rows), solver.decision_function(rows).argmax(axis=1))


@pytest.mark.parametrize("classes", [3, 5])
def test_decision_graph(classes, monkeypatch):
    _, K, y, _, new, _ = problem(classes)
    solver = DecisionDAG(CSVC()).fit(K, y)
    voting = PairwiseVoting(CSVC()).fit(K, y)
    machines = dict(zip(voting.pairs(), voting.machines_, strict=True))
    expected = []
    for row in new:
        left = list(range(classes))
        while len(left) > 1:
            decision = machines[left[0], left[-1]].decision_function(row[None, voting.support_])[0]
            left = left[1:] if decision > 0 else left[:-1]
        expected += left
    predicted, decisions = asked(solver, new, monkeypatch)
    np.testing.assert_array_equal(predicted, expected)
    assert decisions == classes - 1
    values = solver.decision_function(new)
    np.testing.assert_array_equal(np.sort(np.floor(values + 0.5), axis=1), np.tile(np.arange(classes), (30, 1)))


# ---- one against the rest --------------------------------------------------------------------------------


def test_one_against_the_rest():
    _, K, y, _, new, _ = problem(3)
    solver = OneAgainstRest(CSVC(C=2.0)).fit(K, np.array(["a", "b", "c"])[y])
    for place in range(3):
        oracle = SVC(kernel="precomputed", C=2.0).fit(K, y == place)
        np.testing.assert_allclose(solver.decision_function(new)[:, place], oracle.decision_function(new), atol=1e-12)


def test_all_machines_learn_from_the_matrix_itself(monkeypatch):
    _, K, y, _, _, _ = problem(3)
    seen = []
    fit = CSVC._fit
    monkeypatch.setattr(CSVC, "_fit", lambda self, X, y: (seen.append(np.shares_memory(X, K)), fit(self, X, y))[1])
    OneAgainstRest(CSVC()).fit(K, y)
    PairwiseVoting(CSVC()).fit(K, y > 0)
    assert seen == [True] * 4


# ---- the direct objective --------------------------------------------------------------------------------


def primal(K, y, cost, weights):
    """Return the objective of Weston & Watkins in the span of the training rows; `weights` (c, n)."""
    outputs = weights @ K
    short = np.maximum(0, 2 - outputs[y, np.arange(len(y))] + outputs)
    return 0.5 * np.sum(weights * outputs) + cost * (short.sum() - 2 * len(y))


@pytest.mark.parametrize("bias", [0.0, 2.0])
@pytest.mark.parametrize("classes", [2, 4])
def test_direct_objective_against_a_general_solver(classes, bias):
    _, K, y, _, new, _ = problem(classes, n=40)
    cost, n = 0.7, 40
    solver = DirectMulticlass(C=cost, bias=bias, tol=1e-8).fit(K, y)
    whole = K + bias  # the mean of K's diagonal is 1
    places = [(i, m) for i in range(n) for m in range(classes) if m != y[i]]
    maps = np.zeros((classes, n, len(places)))
    for column, (i, m) in enumerate(places):
        maps[m, i, column] -= 1
        maps[y[i], i, column] += 1
    Q = sum(part.T @ whole @ part for part in maps)
    found = minimize(
        lambda a: 0.5 * a @ Q @ a - 2 * a.sum(),
        np.zeros(len(places)),
        jac=lambda a: Q @ a - 2,
        bounds=[(0, cost)] * len(places),
        method="L-BFGS-B",
        options={"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15, "gtol": 1e-9},
    )
    assert solver.report_["objective"] == pytest.approx(found.fun, rel=1e-8)
    weights = np.zeros((classes, n))
    weights[:, solver.support_] = solver.dual_coef_
    assert primal(whole, y, cost, weights) == pytest.approx(-found.fun, rel=1e-6)
    assert solver.report_["gap"] <= 1e-6
    expected = (new + bias) @ np.einsum("mic,c->mi", maps, found.x).T
    np.testing.assert_allclose(solver.decision_function(new), expected, atol=1e-4)
    np.testing.assert_allclose(solver.decision_function(new).sum(axis=1), 0, atol=1e-9)


def test_two_classes_of_the_direct_objective_are_the_c_svm():
    _, K, y, _, new, _ = problem(2)
    solver = DirectMulticlass(C=1.5, bias=1e3, tol=1e-5).fit(K, y)
    binary = CSVC(C=1.5, tol=1e-8).fit(K, y)
    decisions = solver.decision_function(new)
    np.testing.assert_allclose(decisions[:, 1], binary.decision_function(new), atol=1e-2)
    np.testing.assert_allclose(decisions[:, 0], -decisions[:, 1], atol=1e-9)


def test_vectors_of_length_zero():
    _, K, y, _, _, _ = problem(3)
    K[5] = K[:, 5] = 0
    solver = DirectMulticlass(C=0.5, bias=0.0).fit(K, y)
    assert solver.report_["converged"]
    assert solver.report_["gap"] < 0.01


# ---- what goes through the wrappers ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda C: PairwiseVoting(LinearSVC(C=C, tol=1e-8, max_epochs=5000)),
        lambda C: OneAgainstRest(LinearSVC(C=C, tol=1e-8, max_epochs=5000)),
        lambda C: DirectMulticlass(C=C, tol=1e-7),
    ],
    ids=["pairs", "rest", "direct"],
)
def test_warm_starts(make):
    points, K, y, new_points, new, _ = problem(3)
    matrix, rows = (K, new) if make(1.0).input == "gram" else (points, new_points)
    before = make(1.0).fit(matrix, y)
    cold = make(1.2).fit(matrix, y)
    warm = make(1.2).fit_after(before, matrix, y)
    np.testing.assert_allclose(warm.decision_function(rows), cold.decision_function(rows), atol=1e-4)
    assert warm.report_["iterations"] < cold.report_["iterations"]
    # one of other rows is of no use, and does no harm
    other = make(1.2).fit_after(before, matrix[:50, :50], y[:50])
    again = make(1.2).fit(matrix[:50, :50], y[:50])
    np.testing.assert_allclose(other.report_["objective"], again.report_["objective"], rtol=1e-6)


@pytest.mark.parametrize("name", ["pairwise_voting", "decision_dag", "one_against_rest"])
def test_specs_with_a_binary_solver_inside(name):
    grid = expand_grid({"solver": name, "binary": {"solver": "csvc", "C": [1, 10]}})
    assert [one["binary"]["C"] for one in grid] == [1, 10]
    _, K, y, _, new, _ = problem(3)
    for binary in ("csvc", "psvc:epsilon=0.2"):
        solver = build_solver(f"{name}:binary=({binary})").fit(K, y)
        assert solver.binary.name == binary[:4]
        header, arrays = solver.state()
        np.testing.assert_array_equal(solver_from_state(header, arrays).predict(new), solver.predict(new))


def test_labels_that_cannot_go_with_a_binary_solver():
    y = np.repeat(["a", "b", "c"], [10, 10, 2])
    PairwiseVoting(NuSVC(nu=0.3)).check_labels(y)
    with pytest.raises(ParameterError, match=r"c against a: nu=0.4 is infeasible: of 12"):
        PairwiseVoting(NuSVC(nu=0.4)).check_labels(y)
    with pytest.raises(ParameterError, match=r"c against the rest: nu=0.3 is infeasible: of 22"):
        OneAgainstRest(NuSVC(nu=0.3)).check_labels(y)
