"""Pairwise voting: scikit-learn as oracle, ties, what its machines need."""

import itertools
import json

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

from seqkern.solvers import CSVC, PSVC, PairwiseVoting, make_solver, solver_from_state
from seqkern.solvers.base import ConstantColumnWarning


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
