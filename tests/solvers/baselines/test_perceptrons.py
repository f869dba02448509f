"""Perceptron, MinOver and AdaTron beside naive twins, the bound on updates, and the SVM without bias."""

import math
import warnings

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from seqkern.core.errors import ParameterError
from seqkern.solvers import CSVC, AdaTron, MinOver, Perceptron
from seqkern.solvers.shared import gram_order

WORDS = np.array([[2.0, 1, 1, 0], [1, 2, 0, 1], [1, 0, 2, 1], [0, 1, 1, 2]])
"""The 2-spectrum of SAY, BAY, SAD, BAD."""
LAST = [1, 1, -1, -1]


def separable(seed, n=40, gap=0.3, d=5):
    """Return points with a margin from a hyperplane through the origin, and their classes."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(6 * n, d))
    distance = points @ np.eye(d)[0]
    points = points[np.abs(distance) > gap][:n]
    return points, np.sign(points[:, 0]).astype(int)


def greatest_margin(K, y):
    """Return 1/‖w‖ of the hard-margin SVM without bias, from its dual as a least-squares problem with bounds."""
    X = dual_solution(K, y, np.inf)
    return 1 / math.sqrt(X @ (np.outer(y, y) * K) @ X)


def dual_solution(K, y, C):
    """Return the multipliers of the C-SVM without bias: ½ XᵀQX − ΣX = ½‖LᵀX − L⁻¹1‖² − constant, Q = LLᵀ."""
    L = np.linalg.cholesky(np.outer(y, y) * K)
    found = lsq_linear(L.T, np.linalg.solve(L, np.ones(len(y))), (0, C), method="bvls", tol=1e-15, max_iter=1000)
    return found.x


def naive_perceptron(K, y, order):
    """Return how often each sample is added."""
    alpha = np.zeros(len(y))
    while True:
        before = alpha.copy()
        for i in order:
            if y[i] * sum(alpha[j] * y[j] * K[i, j] for j in range(len(y))) <= 0:
                alpha[i] += 1
        if np.array_equal(before, alpha):
            return alpha


def naive_adatron(K, y, order, eta, C, passes):
    """Return the multipliers after some passes."""
    X = np.zeros(len(y))
    for _ in range(passes):
        for i in order:
            X[i] = min(C, max(0.0, X[i] + eta * (1 - y[i] * sum(X * y * K[i]))))
    return X


# ---- the perceptron --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("gap", [0.05, 0.5])
def test_updates_of_the_perceptron_are_bounded(seed, gap):
    points, y = separable(seed, gap=gap)
    K = points @ points.T + 1e-9 * np.eye(len(points))
    bound = math.floor(K.diagonal().max() / greatest_margin(K, y) ** 2)
    for start in range(3):
        solver = Perceptron(seed=start).fit(K, y)
        assert solver.report_["converged"]
        assert 0 < solver.report_["updates"] <= bound
        assert solver.score(K, y) == 1.0


def test_the_words_take_at_most_four_updates():
    """R² = 2 and γ² = ½: R²/γ² = 4."""
    assert greatest_margin(WORDS + 1e-10 * np.eye(4), np.array(LAST)) == pytest.approx(1 / math.sqrt(2), abs=1e-6)
    assert all(Perceptron(seed=seed).fit(WORDS, LAST).report_["updates"] <= 4 for seed in range(20))


@pytest.mark.parametrize("seed", range(3))
def test_perceptron_is_its_twin(seed):
    points, y = separable(seed, n=25)
    K = points @ points.T
    solver = Perceptron(seed=seed).fit(K, y)
    alpha = naive_perceptron(K, y, gram_order(K, np.asarray(y, float), seed))
    np.testing.assert_array_equal(solver.linear()[0], alpha * y)


def test_averaged_perceptron():
    """Two samples; the first visited is added at time 0, and stays for both visits of each of two passes."""
    K = np.array([[1.0, -0.5], [-0.5, 2.0]])
    solver = Perceptron(average=True).fit(K, [-1, 1])
    first = gram_order(K, np.array([-1.0, 1.0]), 1)[0]
    expected = np.zeros(2)
    expected[first] = [-1.0, 1.0][first]
    np.testing.assert_allclose(solver.linear()[0], expected)


def test_classes_that_cannot_be_separated():
    rng = np.random.default_rng(3)
    x = rng.normal(size=30)
    K, y = np.outer(x, x), np.where(rng.random(30) < 0.5, -1, 1)
    for solver in (Perceptron(max_epochs=50), MinOver(max_iter=500), AdaTron(C=np.inf, max_epochs=50)):
        with pytest.warns(UserWarning, match="before it converged"):
            solver.fit(K, y)
        assert not solver.report_["converged"]
        assert solver.report_["residual"] > 0
        assert solver.report_["remark"]


# ---- MinOver ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_minover_finds_the_greatest_margin(seed):
    points, y = separable(seed, n=30, gap=0.4)
    K = points @ points.T + 1e-9 * np.eye(len(points))
    best = greatest_margin(K, y)
    solver = MinOver(tol=0.01).fit(K, y)
    assert solver.report_["converged"]
    assert 0.99 * best <= solver.report_["objective"] <= best * (1 + 1e-9)
    coef = solver.linear()[0]
    assert coef @ K @ coef == pytest.approx(1.0, rel=1e-9)  # decisions are distances
    assert (y * solver.decision_function(K)).min() == pytest.approx(solver.report_["objective"], rel=1e-9)


def test_first_steps_of_minover():
    """The first update is the first sample in order; each later one that of least y f."""
    points, y = separable(3, n=15, gap=0.02)
    K = points @ points.T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solver = MinOver(max_iter=9, tol=1e-12).fit(K, y)
    order, alpha = list(gram_order(K, y.astype(float))), np.zeros(15)
    alpha[order[0]] = 1
    for _ in range(8):
        alpha[np.argmin(y * (K @ (alpha * y)))] += 1
    np.testing.assert_allclose(solver.linear()[0], alpha * y / math.sqrt((alpha * y) @ K @ (alpha * y)))


# ---- AdaTron ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0, np.inf])
@pytest.mark.parametrize("eta", [0.7, 1.0, 1.9])
def test_fixed_point_of_adatron_is_the_svm_without_bias(C, eta):
    rng = np.random.default_rng(7)
    points = rng.normal(size=(40, 3))
    y = np.where(points[:, 0] + rng.normal(size=40) > 0, 1, -1)
    K = np.exp(-((points[:, None] - points) ** 2).sum(-1)) + 0.05 * np.eye(40)
    solver = AdaTron(C=C, eta=eta, tol=1e-9, max_epochs=100_000).fit(K, y)
    X = dual_solution(K, y, C)
    np.testing.assert_allclose(solver.linear()[0] * y, X, rtol=0, atol=1e-6 * max(1.0, X.max()))
    np.testing.assert_allclose(solver.decision_function(K), K @ (X * y), rtol=0, atol=1e-6)
    assert solver.report_["objective"] == pytest.approx(0.5 * (X * y) @ K @ (X * y) - X.sum(), rel=1e-8)


def test_adatron_is_its_twin():
    points, y = separable(2, n=20)
    K = points @ points.T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solver = AdaTron(C=0.8, eta=1.5, max_epochs=4, tol=1e-9).fit(K, y)
    X = naive_adatron(K, y, gram_order(K, y.astype(float)), 1.5 / K.diagonal().max(), 0.8, 4)
    np.testing.assert_allclose(solver.linear()[0], X * y, rtol=0, atol=1e-12)


def test_adatron_with_a_bias_is_the_svm_where_the_bias_is_zero():
    """The words are symmetric, so that the bias of the SVM is 0; a penalised one stays 0 too."""
    decisions = CSVC(C=np.inf, tol=1e-10).fit(WORDS, LAST).decision_function(WORDS)
    for bias in (0.0, 1.0):
        solver = AdaTron(C=np.inf, bias=bias, tol=1e-10).fit(WORDS, LAST)
        np.testing.assert_allclose(solver.decision_function(WORDS), decisions, rtol=0, atol=1e-8)


@pytest.mark.parametrize("eta", [0.0, 2.0, -1.0])
def test_step_out_of_range(eta):
    with pytest.raises(ParameterError, match="eta="):
        AdaTron(eta=eta).fit(WORDS, LAST)


# ---- all three -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", [Perceptron(), Perceptron(average=True), MinOver(tol=0.1), AdaTron(tol=1e-8)])
def test_order_of_samples_changes_no_bit_of_a_coefficient(solver):
    points, y = separable(5, n=30)
    K, order = points @ points.T, np.random.default_rng(1).permutation(30)
    K = (K + K.T) / 2
    coef = solver.fit(K, y).linear()[0]
    other = solver.fit(K[np.ix_(order, order)], y[order]).linear()[0]
    np.testing.assert_array_equal(other, coef[order])


def test_a_bias_is_a_constant_feature():
    points, y = separable(6, n=30)
    K = points @ points.T
    shifted = K + 2.0 * K.diagonal().mean()
    solver, plain = AdaTron(bias=2.0, tol=1e-9).fit(K, y), AdaTron(tol=1e-9).fit(shifted, y)
    np.testing.assert_allclose(solver.decision_function(K), plain.decision_function(shifted), rtol=0, atol=1e-6)
