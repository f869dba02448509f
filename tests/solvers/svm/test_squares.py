"""Squared slack, the squared tube and Huber's loss: optimality conditions, a naive minimum, products, warnings."""

import warnings

import numpy as np
import pytest
from dense_operator import DenseOperator
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import HuberRegressor

from seqkern.core.errors import ParameterError
from seqkern.solvers import CSVC, LSSVR, SVR
from seqkern.solvers.products.losses import Huber, SquaredHinge, SquaredInsensitive
from seqkern.solvers.svm import libsvm
from seqkern.solvers.svm.libsvm import minimise_squares

RNG = np.random.default_rng(11)
X = RNG.normal(size=(60, 4))
K = np.exp(-0.15 * ((X[:, None] - X) ** 2).sum(axis=2))
VALUES = X[:, 0] + 0.3 * RNG.standard_t(2, size=60)
SIGNS = np.where(X[:, 0] + 0.7 * RNG.normal(size=60) > 0.6, 1.0, -1.0)
WORDS = np.array([[2.0, 1, 1, 0], [1, 2, 0, 1], [1, 0, 2, 1], [0, 1, 1, 2]])  # SAY, BAY, SAD, BAD: SPEC §4

LOSSES = {
    "squared_hinge": lambda r, c, e: c * np.maximum(0, 1 - r) ** 2,
    "squared_insensitive": lambda r, c, e: c * np.maximum(0, np.abs(r) - e) ** 2,
    "huber": lambda r, c, e: c * np.where(np.abs(r) <= e, r * r / (2 * e), np.abs(r) - e / 2),
}


def naive(K, y, name, cost, epsilon):
    """Return decisions at the minimum of ½‖w‖² + Σ loss, by BFGS on explicit vectors."""
    vectors = np.linalg.cholesky(K + 1e-12 * np.eye(len(K)))

    def objective(p):
        f = vectors @ p[:-1] + p[-1]
        return 0.5 * p[:-1] @ p[:-1] + LOSSES[name](y * f if name == "squared_hinge" else y - f, cost, epsilon).sum()

    slope = {
        "squared_hinge": lambda f: -2 * cost * y * np.maximum(0, 1 - y * f),
        "squared_insensitive": lambda f: -2 * cost * np.sign(y - f) * np.maximum(0, np.abs(y - f) - epsilon),
        "huber": lambda f: -cost * np.clip((y - f) / epsilon, -1, 1),
    }[name]

    def gradient(p):
        own = slope(vectors @ p[:-1] + p[-1])
        return np.append(p[:-1] + own @ vectors, own.sum())

    start = np.zeros(len(K) + 1)
    found = minimize(objective, start, jac=gradient, method="BFGS", options={"gtol": 1e-10, "maxiter": 20_000})
    return vectors @ found.x[:-1] + found.x[-1], found.fun


def solver_of(name, C, epsilon):
    return CSVC(C=C, slack="squared") if name == "squared_hinge" else SVR(C=C, epsilon=epsilon, loss=name)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_minimum_is_that_of_a_naive_program(name, C):
    y = SIGNS if name == "squared_hinge" else VALUES
    solver = solver_of(name, C, 0.2).fit(K, y)
    decisions, least = naive(K, y, name, C, 0.2)
    np.testing.assert_allclose(solver.decision_function(K), decisions, atol=1e-6)
    assert -solver.report_["objective"] == pytest.approx(least, rel=1e-9)
    assert solver.report_["gap"] < 1e-12
    assert solver.report_["iterations"] < 30


@pytest.mark.parametrize("weight", [None, {-1: 1.0, 1: 5.0}])
def test_conditions_of_squared_slack_are_those_of_a_ridge_for_each_class(weight):
    """α ≥ 0 without upper bound, Σ α y = 0, y f = 1 − α/(2C_i) on support vectors and ≥ 1 elsewhere."""
    solver = CSVC(C=0.7, slack="squared", class_weight=weight).fit(K, SIGNS)
    coefficients, bias = solver.linear()
    cost = np.where(SIGNS > 0, 0.7 * (1 if weight is None else 5), 0.7)
    alpha, margins = coefficients * SIGNS, SIGNS * (K @ coefficients + bias)
    assert alpha.min() >= 0
    assert abs(coefficients.sum()) < 1e-12 * alpha.sum()
    held = alpha > 0
    np.testing.assert_allclose(margins[held], 1 - alpha[held] / (2 * cost[held]), atol=1e-10)
    assert margins[~held].min(initial=np.inf) >= 1 - 1e-10
    assert 0 < held.sum() < 60
    ridge = K + np.diag(1 / (2 * cost))  # the hard margin of K_ii + 1/(2C)
    hard = CSVC(C=np.inf, tol=1e-9).fit(ridge, SIGNS)
    np.testing.assert_allclose(hard.linear()[0], coefficients, atol=1e-5)
    assert alpha.max() > cost.min()


def test_words_of_the_lecture():
    """By symmetry, for y = (+, +, −, −), K y = (2, 2, −2, −2), so that α (2 + 1/(2C)) = 1."""
    for C in (0.5, 5.0, 1e6):
        solver = CSVC(C=C, slack="squared").fit(WORDS, [1, 1, -1, -1])
        alpha = 1 / (2 + 1 / (2 * C))
        np.testing.assert_allclose(solver.linear()[0], alpha * np.array([1, 1, -1, -1]), rtol=1e-8)
        assert solver.intercept_ == pytest.approx(0, abs=1e-9)
        assert -solver.report_["objective"] == pytest.approx(2 * alpha)  # Σα/2; with large C half of 1/γ² = 2


def test_huber_with_a_wide_band_is_ridge_regression_and_with_a_narrow_one_the_absolute_error():
    wide = SVR(C=300.0, epsilon=100.0, loss="huber").fit(K, VALUES)
    ridge = LSSVR(C=1.5).fit(K, VALUES)  # C/(2ε)
    np.testing.assert_allclose(wide.decision_function(K), ridge.decision_function(K), atol=1e-9)
    narrow = SVR(C=0.5, epsilon=1e-6, loss="huber").fit(K, VALUES)
    absolute = SVR(C=0.5, epsilon=0.0, tol=1e-8).fit(K, VALUES)
    np.testing.assert_allclose(narrow.decision_function(K), absolute.decision_function(K), atol=1e-4)


def test_huber_is_that_of_scikit_learn():
    """Its loss is Σ H(r/σ)·σ; with σ as it was found, the same as ours with a band of 1.35·σ."""
    rival = HuberRegressor(alpha=0.1, epsilon=1.35, tol=1e-10, max_iter=10_000).fit(X, VALUES)
    band = 1.35 * rival.scale_
    # σ (r/σ)² for |r| ≤ band, so that c r²/(2·band) with c = 2·band/σ; divided by 2·alpha for ½‖w‖²
    ours = SVR(C=2 * 1.35 / (2 * 0.1), epsilon=band, loss="huber").fit(X @ X.T, VALUES)
    np.testing.assert_allclose(ours.decision_function(X @ X.T), rival.predict(X), atol=1e-4)


@pytest.mark.parametrize("name", LOSSES)
def test_products_give_the_same(name):
    y = SIGNS if name == "squared_hinge" else VALUES
    gram = solver_of(name, 2.0, 0.2).fit(K, y)
    products = solver_of(name, 2.0, 0.2).set_params(tol=1e-10).fit(DenseOperator(K), y)
    np.testing.assert_allclose(products.decision_function(K), gram.decision_function(K), atol=1e-4)
    assert products.report_["objective"] == pytest.approx(gram.report_["objective"], rel=1e-8)
    assert products.report_["gap"] <= 1e-10


def test_gap_bounds_what_is_missing():
    for loss in (
        SquaredHinge(SIGNS, np.full(60, 30.0)),
        SquaredInsensitive(VALUES, 30.0, 0.1),
        Huber(VALUES, 9.0, 0.1),
    ):
        best = minimise_squares(K, loss)
        for steps in range(1, best.steps):
            early = minimise_squares(K, loss, max_iter=steps)
            assert early.steps == steps
            assert early.primal - best.primal <= early.gap * (1 + 1e-9) + 1e-9


def test_too_few_steps_are_reported():
    with pytest.warns(ConvergenceWarning, match="stopped after 1 iteration"):
        solver = CSVC(C=100.0, slack="squared", max_iter=1).fit(K, SIGNS)
    assert not solver.report_["converged"]


@pytest.mark.parametrize("few", [False, True])
def test_many_samples_start_from_a_part(few, monkeypatch):
    """The solution is the same; without the start, the first steps solve systems of nearly all samples."""
    rng = np.random.default_rng(3)
    y = np.where(np.arange(480) < (3 if few else 240), 1.0, -1.0)
    X = rng.normal(size=(480, 4)) + 1.5 * y[:, None]
    K = np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(axis=2))
    sizes = []
    newton = libsvm._newton

    def counted(K, loss, z, dual):
        sizes.append(np.count_nonzero(loss.curvature(z)))
        return newton(K, loss, z, dual)

    monkeypatch.setattr(libsvm, "_newton", counted)
    found = minimise_squares(K, SquaredHinge(y, np.full(480, 2.0)))
    assert found.solved
    assert max(sizes) < 240
    monkeypatch.setattr(libsvm, "MANY", 481)
    alone = minimise_squares(K, SquaredHinge(y, np.full(480, 2.0)))
    np.testing.assert_allclose(found.coefficients, alone.coefficients, rtol=0, atol=1e-11)
    assert found.bias == pytest.approx(alone.bias, abs=1e-11)


def test_an_indefinite_matrix_is_no_minimum():
    indefinite = K - 0.5 * np.eye(60)
    with pytest.warns(ConvergenceWarning, match=r"not positive semi-definite.*lower C"):
        solver = CSVC(C=100.0, slack="squared").fit(indefinite, SIGNS)
    assert not solver.report_["converged"]


def test_all_within_the_tube_or_one_value():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        flat = SVR(epsilon=50.0, loss="squared_insensitive").fit(K, VALUES)
        assert flat.intercept_ == pytest.approx((VALUES.min() + VALUES.max()) / 2)
        for loss in ("huber", "squared_insensitive"):
            one = SVR(loss=loss).fit(K, np.full(60, 3.0))
            np.testing.assert_allclose(one.decision_function(K), 3.0, atol=1e-9)
        far = SVR(loss="huber", epsilon=0.1, C=1e-3).fit(K, np.where(SIGNS > 0, 5.0, -5.0))
        assert far.report_["converged"]


def test_hard_margins_have_no_squares():
    separable = K + 3 * np.outer(SIGNS, SIGNS)
    both = [CSVC(C=np.inf, slack=slack, tol=1e-6).fit(separable, SIGNS) for slack in ("linear", "squared")]
    np.testing.assert_array_equal(both[0].linear()[0], both[1].linear()[0])


@pytest.mark.parametrize(("params", "text"), [({"epsilon": 0.0}, "epsilon=0"), ({"C": np.inf}, "C=inf")])
def test_huber_needs_a_band_and_a_cost(params, text):
    with pytest.raises(ParameterError, match=f"loss=huber with {text}"):
        SVR(loss="huber", **params).fit(K, VALUES)
