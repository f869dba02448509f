"""Nearest neighbours from kernel values: explicit distances, scikit-learn, ties, decisions for a ROC curve."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from seqkern.core.errors import ParameterError
from seqkern.evaluation.ranking import roc_auc
from seqkern.methods.explanation import _two_class_model
from seqkern.solvers import KernelNeighbors, KernelNeighborsRegressor, make_solver


def random_problem(classes=2, n=80, seed=0):
    """Return points whose lengths differ much, labels, and new points."""
    rng = np.random.default_rng(seed)
    both = rng.normal(size=(n + 40, 3)) * rng.uniform(0.2, 3, size=(n + 40, 1))
    y = np.searchsorted(np.linspace(-0.8, 0.8, classes + 1)[1:-1], both[:n, 0] + 0.3 * rng.normal(size=n))
    return both[:n], y, both[n:]


# ---- against explicit distances --------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "square", "expected"), [(1, 1, 1.124), (0.5, 1, 1.315), (2, 1, 0.887), (0.5, 4, 1.414)])
def test_distances_of_the_lecture(d, square, expected):
    """SPEC: distances in feature space under exp(−‖x − y‖²/d), which `KernelNeighbors` ranks by."""
    K = np.exp(-np.array([[0.0, square], [square, 0.0]]) / d)
    solver = KernelNeighbors(n_neighbors=1).fit(K, [0, 1])
    _, without = next(solver._distances(K, solver.support_))
    assert np.sqrt(without + np.diag(K)[:, None])[0, 1] == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("k", [1, 3, 7, 25])
def test_scikit_learn(classes, k):
    train, y, new = random_problem(classes)
    oracle = KNeighborsClassifier(k, algorithm="brute").fit(train, y)
    solver = KernelNeighbors(n_neighbors=k).fit(train @ train.T, y)
    votes = oracle.predict_proba(new)
    decisions = solver.decision_function(new @ train.T)
    found = np.column_stack([-decisions, decisions]) / 2 + 0.5 if classes == 2 else decisions
    np.testing.assert_allclose(found, votes, rtol=0, atol=1 / (2 * k * 80))
    ranked = np.sort(votes, axis=1)
    clear = ranked[:, -1] > ranked[:, -2]
    assert clear.sum() > 20
    np.testing.assert_array_equal(solver.predict(new @ train.T)[clear], oracle.predict(new)[clear])


@pytest.mark.parametrize("k", [1, 4, 30])
def test_scikit_learn_for_real_labels(k):
    train, _, new = random_problem()
    values = train[:, 0] ** 2
    oracle = KNeighborsRegressor(k, algorithm="brute").fit(train, values)
    solver = KernelNeighborsRegressor(n_neighbors=k).fit(train @ train.T, values)
    np.testing.assert_allclose(solver.predict(new @ train.T), oracle.predict(new), atol=1e-12)


def test_leave_one_out_errors():
    train, y, _ = random_problem(3)
    values = train[:, 0]
    square = ((train[:, None] - train[None]) ** 2).sum(-1) + np.diag(np.full(80, np.inf))
    order = np.argsort(square, axis=1)
    wrong = np.mean(y[order[:, 0]] != y)
    error = np.mean((values[order[:, :4]].mean(axis=1) - values) ** 2)
    K = train @ train.T
    assert KernelNeighbors(n_neighbors=1).fit(K, y).report_["objective"] == pytest.approx(wrong)
    assert KernelNeighborsRegressor(n_neighbors=4).fit(K, values).report_["objective"] == pytest.approx(error)


# ---- decisions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 6])
def test_decision_is_votes_and_then_distances(k):
    train, y, new = random_problem()
    K, values = train @ train.T, new @ train.T
    found = KernelNeighbors(n_neighbors=k).fit(K, y).decision_function(values)
    for row, value in zip(new, found, strict=True):
        square = ((train - row) ** 2).sum(axis=1)
        nearest = y[np.argsort(square)[:k]]
        votes = (np.sum(nearest == 1) - np.sum(nearest == 0)) / k
        first, second = (np.sort(square[y == one])[:k].mean() for one in (0, 1))
        t = (first - second) / np.mean(np.diag(K))
        assert value == pytest.approx(votes + t / (1 + abs(t)) / (k * 80), abs=1e-12)


def test_one_neighbor_ranks_more_than_two_values():
    train, y, new = random_problem()
    decisions = KernelNeighbors(n_neighbors=1).fit(train @ train.T, y).decision_function(new @ train.T)
    assert len(np.unique(decisions)) == 40
    truth = new[:, 0] > 0
    assert roc_auc(truth, decisions) > roc_auc(truth, np.sign(decisions)) + 0.02


def test_decisions_of_many_rows_have_the_bits_of_one():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(1100, 3))
    K, new = points[:800] @ points[:800].T, points[800:] @ points[:800].T
    for solver, y in (
        (KernelNeighbors(n_neighbors=9), np.arange(800) % 3),
        (KernelNeighborsRegressor(n_neighbors=9), points[:800, 0]),
    ):
        solver.fit(K, y)
        alone = np.concatenate([solver.decision_function(row[None]) for row in new])
        np.testing.assert_array_equal(alone, solver.decision_function(new))


# ---- ties ------------------------------------------------------------------------------------------------


def test_rows_at_one_distance_share_the_votes():
    """Of x = 0 the nearest is at 1, and five are at 2: with k = 3 these share two votes."""
    train = np.array([1.0, 2, -2, 2, -2, -2, 9, 9])
    y = np.array([0, 1, 1, 1, 0, 0, 0, 0])
    for order in (np.arange(8), np.arange(8)[::-1]):
        solver = KernelNeighbors(n_neighbors=3).fit(np.outer(train[order], train[order]), y[order])
        votes = (2 * 3 / 5 - 1 - 2 * 2 / 5) / 3
        decision = solver.decision_function(np.zeros((1, 8)))[0]
        assert decision == pytest.approx(votes, abs=1 / 24)
        regressor = KernelNeighborsRegressor(n_neighbors=3).fit(np.outer(train[order], train[order]), y[order] * 1.0)
        assert regressor.predict(np.zeros((1, 8)))[0] == pytest.approx(2 * 3 / 5 / 3)


def test_the_nearer_class_wins_equal_votes():
    train = np.array([-1.0, 2.0, -30.0, 30.0])
    y = np.array([1, 0, 1, 0])
    solver = KernelNeighbors(n_neighbors=2).fit(np.outer(train, train), y)
    np.testing.assert_array_equal(solver.predict(np.outer([0.0, 1.0], train)), [1, 0])


def test_complete_ties_are_the_first_class_whatever_the_order():
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        y = np.array([0, 1, 0, 1])[order]
        solver = KernelNeighbors(n_neighbors=2).fit(np.ones((4, 4)), y)
        np.testing.assert_array_equal(solver.decision_function(np.ones((2, 4))), [0, 0])
        np.testing.assert_array_equal(solver.predict(np.ones((2, 4))), [0, 0])


def test_a_class_with_one_member():
    train = np.array([0.0, 1.0, 2.0, 10.0])
    solver = KernelNeighbors(n_neighbors=1).fit(np.outer(train, train), ["a", "a", "b", "c"])
    assert list(solver.predict(np.outer([9.0, 0.2], train))) == ["c", "a"]
    assert np.isfinite(solver.decision_function(np.outer([9.0, 0.2], train))).all()
    assert solver.report_["objective"] == 0.5  # right are 0, and 1, as near to b as to a: a comes first


# ---- odd input -------------------------------------------------------------------------------------------


def test_an_indefinite_matrix_will_do():
    """K(x, z) and the diagonal are all that is read."""
    rng = np.random.default_rng(5)
    K, y = rng.normal(size=(30, 30)), np.arange(30) % 2
    K += K.T
    new = rng.normal(size=(8, 30))
    solver = KernelNeighbors(n_neighbors=1).fit(K, y)
    nearest = np.argmin(np.diag(K) - 2 * new, axis=1)
    np.testing.assert_array_equal(solver.predict(new), y[nearest])


def test_too_many_neighbors():
    for solver in (KernelNeighbors(n_neighbors=8), KernelNeighborsRegressor(n_neighbors=8)):
        with pytest.raises(ParameterError, match="from 1 to 7"):
            solver.fit(np.eye(8), np.arange(8) % 2)
        with pytest.raises(ParameterError, match="from 1 to 7"):
            solver.check_labels(np.arange(8) % 2)
        solver.fit(np.eye(9), np.arange(9) % 2)


def test_a_model_of_several_classes_cannot_be_explained():
    train, y, _ = random_problem(3)
    solver = KernelNeighbors().fit(train @ train.T, y)
    model = SimpleNamespace(kind="multiclass", classes=("a", "b", "c"), solver=solver)
    with pytest.raises(ParameterError, match="csvc"):
        _two_class_model(model, "a:b")


def test_kinds_of_labels():
    for kind in ("binary", "multiclass"):
        assert make_solver("kernel_neighbors", kind).name == "kernel_neighbors"
    with pytest.raises(ParameterError, match="kernel_neighbors_regressor"):
        make_solver("kernel_neighbors", "real")
