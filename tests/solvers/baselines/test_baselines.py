"""What came before kernel machines, on features: against scikit-learn, against optimality conditions, in blocks."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

from seqkern.core.errors import ParameterError
from seqkern.kernels.features import FeatureBlocks
from seqkern.solvers import LinearDiscriminant, LPMachine, Network, OneAgainstRest, WhitenedNeighbors
from seqkern.solvers.shared import ROWS, gram_order, order_by_content


def data(n=200, d=6, classes=3, seed=0):
    """Return features of different scales, and classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 2.0
    score = rng.normal(size=n) + X @ rng.normal(size=d)
    return X, np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)


def in_blocks(X, dtype=np.float64):
    """Return features that are computed when asked for."""
    return FeatureBlocks(X.shape, dtype, lambda rows: X[rows].astype(dtype))


# ---- order by content -------------------------------------------------------------------------------------


def test_order_by_content_is_that_of_the_rows_in_any_order():
    X, y = data(n=2100)
    order, shuffled = order_by_content(X, y, 3), np.random.default_rng(1).permutation(len(X))
    np.testing.assert_array_equal(shuffled[order_by_content(X[shuffled], y[shuffled], 3)], order)
    np.testing.assert_array_equal(order_by_content(in_blocks(X), y, 3), order)
    assert np.any(order_by_content(X, y, 4) != order)
    np.testing.assert_array_equal(np.sort(order), np.arange(len(X)))
    copies = np.array([[0.5, 0.1], [0.5, 0.1]])  # their labels order them
    assert order_by_content(copies, [0, 1], 3)[0] != order_by_content(copies, [1, 0], 3)[0]


def test_orders_do_not_depend_on_how_a_processor_rounds():
    X, y = data(n=400)
    rounded = np.nextafter(X, np.random.default_rng(2).choice([-np.inf, np.inf], X.shape))
    np.testing.assert_array_equal(order_by_content(rounded, y, 3), order_by_content(X, y, 3))
    np.testing.assert_array_equal(gram_order(rounded @ rounded.T, y, 3), gram_order(X @ X.T, y, 3))


# ---- linear discriminant ----------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("shrinkage", [None, 0.0, 0.3, 1.0, "auto"])
def test_linear_discriminant_is_that_of_scikit_learn_but_for_the_divisor(shrinkage, classes):
    X, y = data(classes=classes)
    rival = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(X[:150], y[:150])
    priors = np.log(rival.priors_ if classes > 2 else rival.priors_[1:] / rival.priors_[:1])
    expected = (rival.decision_function(X[150:]).reshape(50, -1) - priors) * (150 - classes) / 150 + priors
    solver = LinearDiscriminant(shrinkage=shrinkage).fit(X[:150], y[:150])
    other = LinearDiscriminant(shrinkage=shrinkage).fit(in_blocks(X[:150]), y[:150])
    for found in (solver.decision_function(X[150:]), other.decision_function(in_blocks(X[150:]))):
        np.testing.assert_allclose(found.reshape(50, -1), expected, rtol=1e-8, atol=1e-8)


def test_numbers_of_the_lecture():
    first = np.array([3.8, 4, 4.2, 3.9, 4.1, 3.92, 4.08])
    X, y = np.concatenate([first, 10 - first])[:, None], np.repeat([1, 0], 7)
    coefficients, constant = LinearDiscriminant().fit(X, y).linear()
    assert coefficients[0] == pytest.approx(-106.38, abs=0.005)
    assert constant == pytest.approx(531.915, abs=0.0005)
    coefficients, constant = LinearDiscriminant().fit(X - 5, y).linear()
    assert coefficients[0] == pytest.approx(-106.38, abs=0.005)
    assert constant == pytest.approx(0, abs=1e-9)


def test_one_sample_of_each_class_has_no_discriminant():
    with pytest.raises(ParameterError, match="one sample only"):
        LinearDiscriminant().fit([[1.0], [2.0]], [0, 1])


def test_directions_without_variance_are_left_out():
    X, y = data(classes=2)
    doubled = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(len(X))])
    solver, other = LinearDiscriminant().fit(X, y), LinearDiscriminant().fit(doubled, y)
    assert other.report_["directions"] == 6
    np.testing.assert_allclose(other.decision_function(doubled), solver.decision_function(X), rtol=1e-7, atol=1e-7)
    with pytest.raises(ParameterError, match="do not vary"):
        LinearDiscriminant().fit(np.ones((6, 2)), [0, 1] * 3)


# ---- neighbours -------------------------------------------------------------------------------------------


def test_neighbors_in_whitened_space():
    X, y = data()
    solver = WhitenedNeighbors(n_neighbors=7).fit(X[:150], y[:150])
    covariance = np.cov(X[:150].T, bias=True)
    root = np.linalg.cholesky(np.linalg.inv(covariance))
    votes = KNeighborsClassifier(7).fit(X[:150] @ root, y[:150]).predict_proba(X[150:] @ root)
    np.testing.assert_allclose(solver.decision_function(X[150:]), votes, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.cov(solver.points_.T, bias=True), np.eye(6), rtol=0, atol=1e-10)


def test_neighbors_are_drawn_from_many():
    X, y = data(n=2 * ROWS + 7, classes=2)
    solver = WhitenedNeighbors(n_neighbors=5, n_components=3, max_units=400).fit(X, y)
    assert solver.points_.shape == (400, 3)
    assert solver.report_["units"] == 400
    other = WhitenedNeighbors(n_neighbors=5, n_components=3, max_units=400).fit(in_blocks(X), y)
    np.testing.assert_allclose(other.points_, solver.points_, rtol=0, atol=1e-9)
    with pytest.raises(ParameterError, match="from 1 to 4"):
        WhitenedNeighbors(n_neighbors=5, max_units=5).fit(X, y)


# ---- linear-programming machine ---------------------------------------------------------------------------


def test_lp_machine_fulfils_the_conditions_of_the_optimum():
    X, y = data(classes=2)
    solver = LPMachine(C=0.2).fit(X, y)
    slack = np.maximum(0.0, 1 - (2 * y - 1) * solver.decision_function(X))
    objective = np.abs(solver.coef_).sum() + 0.2 * slack.sum()
    assert solver.report_["objective"] == pytest.approx(objective, rel=1e-8)
    assert solver.report_["gap"] < 1e-9
    assert solver.report_["residual"] < 1e-6
    few = LPMachine(C=1e-3).fit(X, y)
    assert len(few.support_) < len(solver.support_)


def test_lp_machine_of_drawn_rows():
    X, y = data(n=2 * ROWS, classes=2)
    solver = LPMachine(max_units=60).fit(in_blocks(X, np.float32), y)
    rows = order_by_content(in_blocks(X, np.float32), 2.0 * y - 1, 1)[:60]
    alone = LPMachine().fit(X[rows].astype(np.float32), y[rows])
    np.testing.assert_allclose(solver.decision_function(X), alone.decision_function(X), rtol=0, atol=1e-9)
    with pytest.raises(ParameterError, match="only one class"):
        LPMachine(max_units=2).fit(X, np.arange(len(X)) == 5)


def test_several_classes_by_machines_against_the_rest():
    X, y = data(n=120)
    solver = OneAgainstRest(LPMachine()).fit(X, y)
    for k in range(3):
        one = LPMachine().fit(X, y == k)
        np.testing.assert_allclose(solver.decision_function(X)[:, k], one.decision_function(X), rtol=0, atol=1e-9)


# ---- network ----------------------------------------------------------------------------------------------


def test_network_stops_by_groups_that_it_does_not_learn_from():
    X, y = data(n=300)
    groups = np.arange(300) % 10
    solver = Network(hidden=4, learning_rate=0.05, validation=0.3, patience=3)
    learned, held = solver._divided(order_by_content(X, y, 1), groups)
    assert not set(groups[learned]) & set(groups[held])
    assert len(set(groups[held])) == 3
    solver.fit(X, y, groups)
    log_odds = solver.decision_function(X)
    np.testing.assert_allclose(np.exp(log_odds).sum(axis=1), 1.0, rtol=0, atol=1e-12)
    assert solver.report_["objective"] == pytest.approx(-np.mean(log_odds[held, y[held]]), rel=1e-9)
    assert solver.report_["iterations"] == solver.report_["best_epoch"] + 3


def test_network_may_learn_from_all_rows():
    X, y = data(n=100, classes=2)
    solver = Network(hidden=3, learning_rate=0.1, batch_size=20, validation=0.0, patience=2, alpha=1.0).fit(X, y)
    decisions = solver.decision_function(X)
    losses = np.logaddexp(0.0, -(2 * y - 1) * decisions)
    assert solver.report_["objective"] == pytest.approx(losses.mean(), rel=1e-9)
    assert solver.report_["converged"]


def test_network_learns_in_the_precision_of_the_features():
    X, y = data(n=ROWS + 50)
    parameters = {"hidden": 3, "learning_rate": 0.05, "patience": 1, "max_epochs": 3}
    with pytest.warns(match="raise max_epochs"):
        solver = Network(**parameters).fit(in_blocks(X, np.float32), y)
    assert {weights.dtype for weights in solver.weights_} == {np.dtype(np.float32)}
    np.testing.assert_allclose(
        solver.decision_function(in_blocks(X, np.float32)), solver.decision_function(X), rtol=0, atol=1e-4
    )
    with pytest.raises(ParameterError, match="learning_rate"), np.errstate(all="ignore"):
        Network(hidden=3, learning_rate=1e200).fit(X, y)


# ---- linear-programming SVM with class costs --------------------------------------------------------------


def test_class_costs_of_the_linear_program_are_copies_of_samples():
    X, y = data(n=60, classes=2)
    weighted = LPMachine(C=0.2, class_weight={0: 1.0, 1: 3.0}).fit(X, y)
    copies = np.concatenate([np.arange(60), np.flatnonzero(y), np.flatnonzero(y)])
    repeated = LPMachine(C=0.2).fit(X[copies], y[copies])
    assert weighted.report_["objective"] == pytest.approx(repeated.report_["objective"], rel=1e-9)
    assert weighted.report_["gap"] < 1e-9
    plain = LPMachine(C=0.2).fit(X, y)
    assert np.mean(weighted.predict(X) == 1) > np.mean(plain.predict(X) == 1)
    balanced = LPMachine(C=0.2, class_weight="balanced").fit(X[y == y], y)
    assert balanced.report_["objective"] == pytest.approx(plain.report_["objective"], rel=1e-9)  # as many of both
