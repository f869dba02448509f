"""The C-SVM without a Gram matrix: the optimum of the Gram path, and a certificate that holds."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC as Liblinear

from seqkern.core.errors import GramError, ParameterError
from seqkern.kernels import build_kernel
from seqkern.kernels.kernel_operator import SparseImplicit
from seqkern.sequences.sequence_set import as_sequences
from seqkern.simulate.splicing import donor_windows
from seqkern.solvers import CSVC, LinearSVC
from seqkern.solvers.products.losses import best_bias
from seqkern.solvers.svm.linear import Descent

EXACT = {"tol": 1e-10, "max_epochs": 200_000}
KERNELS = [
    "spectrum:k=3",
    "spectrum:k=1+2+3,normalize=false",
    "0.5*(spectrum:k=3,part=0:16)+(spectrum:k=2)",
    "mismatch:k=4,m=1",
    "weighted_degree:degree=4",
    "weighted_degree:degree=20,normalize=false",
    "shifted_weighted_degree:degree=5,shift=3",
    "(weighted_degree:degree=3)+(spectrum:k=2)",
]


def windows(n=150, length=32, seed=0):
    """Return sequences of one length and labels: the positives have more of a word in the middle."""
    rng = np.random.default_rng(seed)
    letters = rng.integers(4, size=(n, length))
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    planted = (y > 0) & (rng.random(n) < 0.8)
    letters[planted, 14:18] = [0, 2, 3, 1]
    return as_sequences(["".join("ACGT"[code] for code in row) for row in letters], "dna"), y


def points(n=120, d=6, seed=0, gap=0.0):
    """Return points, and labels of a line with noise; with `gap`, separable."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X[:, 0] + 0.5 * X[:, 1] - 0.4
    y = np.where(score + (0 if gap else 0.8) * rng.normal(size=n) > 0, 1.0, -1.0)
    X[:, 0] += gap * y
    return X, y


def values(X, y, coefficients, bias, cost):
    """Return the primal value of Σ coefficients φ and a bias, and the dual value of α = coefficients · y."""
    products = X @ (X.T @ coefficients)
    half = 0.5 * coefficients @ products
    return half + cost @ np.maximum(0, 1 - y * (products + bias)), np.sum(coefficients * y) - half


@pytest.mark.parametrize("text", KERNELS)
@pytest.mark.parametrize("C", [0.1, 2.0])
def test_decides_as_the_machine_on_the_gram_matrix(text, C):
    X, y = windows()
    kernel = build_kernel(text)
    K, implicit = kernel(X), kernel.implicit(X)
    C /= np.diag(K).mean()
    train, test = np.arange(100), np.arange(100, 150)
    gram = CSVC(C=C, tol=1e-9).fit(K[:100, :100], y[:100])
    linear = LinearSVC(C=C, **EXACT).fit(implicit.take(train), y[:100])
    assert linear.report_["converged"]
    expected = gram.decision_function(K[100:, :100])
    np.testing.assert_allclose(linear.decision_function(implicit.take(test)), expected, rtol=0, atol=1e-5)
    np.testing.assert_allclose(linear.decision_function(K[100:, :100]), expected, rtol=0, atol=1e-5)
    assert linear.report_["objective"] == pytest.approx(gram.report_["objective"], rel=1e-7)


@pytest.mark.parametrize("weight", [None, "balanced", {"-1": 0.2, "1": 3.0}])
def test_class_weights(weight):
    X, y = points()
    gram = CSVC(C=0.7, class_weight=weight, tol=1e-9).fit(X @ X.T, y)
    linear = LinearSVC(C=0.7, class_weight=weight, **EXACT).fit(X, y)
    np.testing.assert_allclose(linear.decision_function(X), gram.decision_function(X @ X.T), rtol=0, atol=1e-5)


@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-5])
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_the_gap_bounds_what_is_missing(tol, C):
    X, y = points()
    cost = np.full(len(y), C)
    implicit = SparseImplicit.of(X)
    best = LinearSVC(C=C, **EXACT).fit(implicit, y)
    solver = LinearSVC(C=C, tol=tol, max_epochs=100_000).fit(implicit, y)
    coefficients = solver.linear()[0]
    assert abs(coefficients.sum()) <= 1e-12 * np.abs(coefficients).sum()
    assert np.all(coefficients * y >= 0)
    assert np.all(coefficients * y <= C)
    primal, dual = values(X, y, coefficients, solver.intercept_, cost)
    minimum = -best.report_["objective"]
    assert solver.report_["gap"] == pytest.approx((primal - dual) / primal, rel=1e-6, abs=1e-13)
    assert solver.report_["gap"] <= tol
    assert -1e-9 <= (primal - minimum) / primal <= solver.report_["gap"] + 1e-9


def test_optimality_conditions():
    X, y = points(n=200)
    solver = LinearSVC(C=0.5, **EXACT).fit(SparseImplicit.of(X), y)
    alpha = solver.linear()[0] * y
    margin = y * (X @ (X.T @ (alpha * y)) + solver.intercept_)
    assert np.all(margin[alpha == 0] >= 1 - 1e-5)
    assert np.all(margin[alpha == 0.5] <= 1 + 1e-5)
    free = (alpha > 0) & (alpha < 0.5)
    assert free.sum() > 2
    np.testing.assert_allclose(margin[free], 1, rtol=0, atol=1e-5)
    assert solver.report_["residual"] < 1e-4
    assert solver.report_["n_support"] == np.sum(alpha > 0)


def test_liblinear_with_a_bias_that_hardly_costs():
    X, y = points()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        other = Liblinear(
            C=0.3, loss="hinge", intercept_scaling=100, tol=1e-7, max_iter=10_000_000, random_state=0
        ).fit(X, y)
    solver = LinearSVC(C=0.3, **EXACT).fit(X, y)
    np.testing.assert_allclose(solver.decision_function(X), other.decision_function(X), rtol=0, atol=2e-3)


def test_separable():
    X, y = points(gap=1.0)
    gram = CSVC(C=1000.0, tol=1e-9).fit(X @ X.T, y)
    solver = LinearSVC(C=1000.0, **EXACT).fit(X, y)
    assert solver.score(X, y) == 1
    np.testing.assert_allclose(solver.decision_function(X), gram.decision_function(X @ X.T), rtol=0, atol=1e-5)


def test_contradicting_duplicates():
    X, y = points(n=40)
    X, y = np.repeat(X, 4, axis=0), np.repeat(y, 4)
    y[::4] *= -1
    gram = CSVC(C=1.0, tol=1e-9).fit(X @ X.T, y)
    solver = LinearSVC(C=1.0, **EXACT).fit(X, y)
    np.testing.assert_allclose(solver.decision_function(X), gram.decision_function(X @ X.T), rtol=0, atol=1e-5)


def test_all_at_a_bound():
    """With a small C no record is free: the bias lies in an interval, and the middle is taken, as LIBSVM does."""
    X, y = points(n=40)
    y[:] = np.where(np.arange(40) % 2, 1.0, -1.0)
    gram = CSVC(C=1e-4, tol=1e-9).fit(X @ X.T, y)
    solver = LinearSVC(C=1e-4, **EXACT).fit(X, y)
    assert np.all(np.abs(solver.fit(SparseImplicit.of(X), y).dual_coef_) == 1e-4)
    assert solver.intercept_ == pytest.approx(gram.intercept_, abs=1e-6)


def test_one_class_at_its_bound():
    X, y = points(n=100)
    y[:] = -1.0
    y[:4] = 1.0
    gram = CSVC(C=0.01, tol=1e-7).fit(X @ X.T, y)
    solver = LinearSVC(C=0.01, **EXACT).fit(X, y)
    np.testing.assert_allclose(solver.decision_function(X), gram.decision_function(X @ X.T), rtol=0, atol=1e-5)


def test_rows_of_zeros():
    X, y = points()
    X[::3] = 0
    gram = CSVC(C=1.0, tol=1e-9).fit(X @ X.T, y)
    solver = LinearSVC(C=1.0, **EXACT).fit(X, y)
    np.testing.assert_allclose(solver.decision_function(X), gram.decision_function(X @ X.T), rtol=0, atol=1e-5)


def test_nothing_but_zeros():
    y = np.array([1.0, -1.0, -1.0, -1.0, 1.0])
    solver = LinearSVC().fit(np.zeros((5, 3)), y)
    assert solver.report_["converged"]
    assert solver.intercept_ == -1
    assert len(solver.support_) == 0


def test_sparse_and_dense_features_give_the_same():
    X, y = points()
    X[np.abs(X) < 0.5] = 0
    dense, sparse = LinearSVC().fit(X, y), LinearSVC().fit(csr_array(X), y)
    np.testing.assert_array_equal(sparse.linear()[0], dense.linear()[0])
    np.testing.assert_allclose(sparse.decision_function(csr_array(X)), dense.decision_function(X), rtol=0, atol=1e-14)
    bad = csr_array(X)
    bad.data[bad.indptr[7]] = np.nan
    with pytest.raises(GramError, match="row 7"):
        LinearSVC().fit(bad, y)


def test_shrinking_does_not_change_the_optimum():
    X, y = points(n=300)
    cost = np.full(len(y), 0.4)
    plain, shrunk = (Descent(SparseImplicit.of(X), y, cost, 1, shrinking=shrinking) for shrinking in (False, True))
    ends = [descent.run(1e-10, 100_000)[0] for descent in (plain, shrunk)]
    assert ends[0].dual == pytest.approx(ends[1].dual, rel=1e-9)
    np.testing.assert_allclose(plain.weights, shrunk.weights, rtol=0, atol=1e-4)
    assert ends[0].bias == pytest.approx(ends[1].bias, abs=1e-4)


def test_records_at_a_bound_are_left_out():
    X, y = points(n=300)
    descent = Descent(SparseImplicit.of(X), y, np.full(len(y), 0.4), 1)
    descent.run(1e-6, 10_000)
    assert descent.active < 100
    assert sorted(descent.order) == list(range(300))


def test_a_path_of_costs_begins_where_the_last_one_ended():
    X, y = windows(n=300)
    implicit = build_kernel("spectrum:k=3").implicit(X)
    previous, cold_passes, warm_passes = None, 0, 0
    for C in (0.1, 0.3, 1.0, 3.0):
        cold = LinearSVC(C=C, **EXACT).fit(implicit, y)
        previous = LinearSVC(C=C, **EXACT).fit_after(previous, implicit, y)
        np.testing.assert_allclose(
            previous.decision_function(implicit), cold.decision_function(implicit), rtol=0, atol=1e-5
        )
        cold_passes += cold.report_["iterations"]
        warm_passes += previous.report_["iterations"]
    assert warm_passes < cold_passes


def test_a_path_downwards():
    X, y = points()
    cold = LinearSVC(C=0.1, **EXACT).fit(X, y)
    warm = LinearSVC(C=0.1, **EXACT).fit_after(LinearSVC(C=10.0).fit(X, y), X, y)
    np.testing.assert_allclose(warm.decision_function(X), cold.decision_function(X), rtol=0, atol=1e-5)


def test_what_is_of_no_use_is_ignored():
    X, y = points()
    cold = LinearSVC().fit(X, y).linear()[0]
    for previous in (None, CSVC().fit(X @ X.T, y), LinearSVC().fit(X, -y), LinearSVC().fit(X[:50], y[:50])):
        np.testing.assert_array_equal(LinearSVC().fit_after(previous, X, y).linear()[0], cold)


def test_the_seed_decides_the_order_and_nothing_else():
    X, y = points(n=300)
    once, again, other = (LinearSVC(seed=seed, tol=1e-5).fit(X, y) for seed in (1, 1, 2))
    np.testing.assert_array_equal(once.linear()[0], again.linear()[0])
    assert not np.array_equal(once.linear()[0], other.linear()[0])
    np.testing.assert_allclose(other.decision_function(X), once.decision_function(X), rtol=0, atol=0.05)


def test_best_bias():
    rng = np.random.default_rng(0)
    grid = np.linspace(-6, 6, 4801)
    for n in (2, 3, 10, 51):
        products, y, cost = rng.normal(size=n), np.where(np.arange(n) % 3, 1.0, -1.0), rng.choice([1.0, 2.0], size=n)
        losses = (cost * np.maximum(0, 1 - y * (products + grid[:, None]))).sum(axis=1)
        bias = best_bias(products, y, cost)
        loss = np.sum(cost * np.maximum(0, 1 - y * (products + bias)))
        assert loss <= losses.min() + 1e-12
        flat = grid[losses <= loss + 1e-9]
        if len(flat) > 3:
            assert bias == pytest.approx((flat[0] + flat[-1]) / 2, abs=0.01)


def unit(X):
    """Return rows of norm 1."""
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def labels(rng, n, share=0.5):
    """Return random labels, both of them."""
    y = np.where(rng.random(n) < share, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return y


def nasty(name, seed):
    """Return points and labels of a problem with few records, few dimensions, or few of a class."""
    rng = np.random.default_rng(seed)
    if name.startswith("orthogonal"):
        n = int(name.split()[1])
        return unit(rng.normal(size=(n, 300))), labels(rng, n)
    if name.startswith("plane"):
        n = int(name.split()[1])
        return rng.normal(size=(n, 2)), labels(rng, n)
    if name == "two places":
        return unit(rng.normal(size=(80, 1))), labels(rng, 80)
    if name == "line":
        return rng.normal(size=(80, 1)), labels(rng, 80)
    if name == "duplicates":
        return np.repeat(rng.normal(size=(10, 3)), 4, axis=0), labels(rng, 40)
    if name == "5 of 505":
        y = np.where(np.arange(505) < 5, 1.0, -1.0)
        return unit(rng.normal(size=(505, 4)) + 2), y
    return points(n=60, seed=seed, gap=0.5)


NASTY = [
    *(f"orthogonal {n}" for n in range(2, 9)),
    *(f"plane {n}" for n in (2, 3, 5)),
    "two places",
    "line",
    "duplicates",
    "5 of 505",
    "separable",
]


@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize("weight", [None, "balanced", {"1": 20.0, "-1": 1.0}])
def test_it_ends_wherever_it_begins(name, weight):
    for seed in range(4):
        X, y = nasty(name, seed)
        for C in (0.01, 0.1, 1.0, 10.0, 100.0):
            report = LinearSVC(C=C, class_weight=weight, max_epochs=3000).fit(X, y).report_
            assert report["converged"], (seed, C, report)


@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize("C", [0.01, 0.1, 1.0])
def test_the_optimum_of_the_gram_path_for_nasty_problems(name, C):
    X, y = nasty(name, 0)
    K = X @ X.T
    gram = CSVC(C=C, tol=1e-7).fit(K, y)
    linear = LinearSVC(C=C, tol=1e-12, max_epochs=100_000).fit(SparseImplicit.of(X), y)
    assert linear.report_["converged"]
    assert linear.report_["objective"] == pytest.approx(gram.report_["objective"], rel=1e-9)
    found, expected = linear.decision_function(K), gram.decision_function(K)
    np.testing.assert_allclose(found - linear.intercept_, expected - gram.intercept_, rtol=0, atol=1e-5)
    alpha = np.abs(gram.dual_coef_)
    if np.any((alpha > 1e-6 * C) & (alpha < (1 - 1e-6) * C)):  # else other biases are as good
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("C", [0.01, 1.0, 10.0, 1000.0])
def test_a_few_windows_with_little_in_common(n, C):
    kernel = build_kernel("weighted_degree:degree=6")
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = as_sequences(["".join(rng.choice(list("ACGT"), 60)) for _ in range(n)], "dna")
        assert LinearSVC(C=C, max_epochs=300).fit(kernel.implicit(X), labels(rng, n, 0.4)).report_["converged"]


def test_few_donors_and_many_decoys():
    y = np.where(np.arange(505) < 5, 1.0, -1.0)
    for seed in (2, 3, 4):
        X, _ = donor_windows(np.random.default_rng(seed), n_positive=5, n_decoy=500)
        implicit = build_kernel("spectrum:k=1").implicit(X)
        for C in (0.1, 1.0, 10.0):
            assert LinearSVC(C=C, max_epochs=100).fit(implicit, y).report_["converged"]


def test_a_certificate_leaves_no_trace():
    X, y = points()
    cost = np.full(len(y), 0.4)
    descent = Descent(SparseImplicit.of(X), y, cost, 1)
    descent._pass()
    alpha, weights, bias = descent.alpha.copy(), descent.weights.copy(), descent.bias
    _, repair = descent.certify()
    assert abs(y @ descent.alpha) <= 1e-14
    assert not np.array_equal(descent.alpha, alpha)
    np.testing.assert_allclose(descent.weights, X.T @ (descent.alpha * y), rtol=0, atol=1e-13)
    descent._resume(*repair)
    np.testing.assert_array_equal(descent.alpha, alpha)
    np.testing.assert_allclose(descent.weights, weights, rtol=0, atol=1e-13)
    assert descent.bias == bias


def test_an_infinite_cost_is_refused():
    with pytest.raises(ParameterError, match="C=inf"):
        LinearSVC(C=np.inf).check_parameters()
