"""The least-squares SVM: its linear system, the quadratic program of the inequality form, odd matrices."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge

from seqkern.core.errors import GramError, ParameterError
from seqkern.solvers import LSSVC, LSSVR

SPECTRUM_2 = np.array([[2, 1, 1, 0], [1, 2, 0, 1], [1, 0, 2, 1], [0, 1, 1, 2]], dtype=float)


def random_problem(n=60, seed=0, width=4.0):
    """Return an RBF Gram matrix, labels that overlap, real labels, and kernel values of new rows."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n + 20, 3))
    score = points[:, 0] + 0.5 * rng.normal(size=n + 20)
    kernel = np.exp(-((points[:, None] - points[None]) ** 2).sum(-1) / width)
    return kernel[:n, :n].copy(), np.where(score[:n] > 0.4, 1.0, -1.0), score[:n], kernel[n:, :n].copy()


def indefinite(n=40, seed=3):
    """Return a symmetric matrix with eigenvalues from −1 to 1, and labels."""
    rng = np.random.default_rng(seed)
    vectors, _ = np.linalg.qr(rng.normal(size=(n, n)))
    matrix = (vectors * np.linspace(-1, 1, n)) @ vectors.T
    return (matrix + matrix.T) / 2, np.where(rng.normal(size=n) > 0, 1.0, -1.0)


def coefficients(solver):
    """Return β for all training rows."""
    return solver.linear()[0]


# ---- equality form ---------------------------------------------------------------------------------------


def of_the_system(K, y, cost):
    """Return β and b of the bordered system of Suykens & Vandewalle, with γ = 2C."""
    n = len(y)
    system = np.zeros((n + 1, n + 1))
    system[0, 1:] = system[1:, 0] = 1.0
    system[1:, 1:] = K + np.diag(1 / (2.0 * cost))
    solution = np.linalg.solve(system, np.concatenate([[0.0], y]))
    return solution[1:], solution[0]


@pytest.mark.parametrize("C", [0.02, 1.0, 100.0])
def test_equality_form_solves_its_system(C):
    K, y, _, new = random_problem()
    beta, intercept = of_the_system(K, y, np.full(len(y), C))
    solver = LSSVC(C=C).fit(K, y)
    np.testing.assert_allclose(coefficients(solver), beta, rtol=1e-9, atol=1e-10)
    assert solver.intercept_ == pytest.approx(intercept, abs=1e-10)
    np.testing.assert_allclose(solver.decision_function(new), new @ beta + intercept, rtol=0, atol=1e-9)
    errors = 1 - y * (K @ beta + intercept)
    objective = 0.5 * beta @ K @ beta + C * np.sum(errors**2)
    assert solver.report_["objective"] == pytest.approx(objective, rel=1e-9)
    assert solver.report_["residual"] < 1e-10
    assert solver.report_["definite"] is True


def test_dual_system_of_the_paper():
    """[0 −yᵀ; y Ω + I/γ] [b; α] = [0; 1] with Ω_ij = y_i y_j K_ij gives α_i y_i = β_i."""
    K, y, _, _ = random_problem()
    n, gamma = len(y), 3.0
    system = np.zeros((n + 1, n + 1))
    system[0, 1:], system[1:, 0] = -y, y
    system[1:, 1:] = np.outer(y, y) * K + np.eye(n) / gamma
    solution = np.linalg.solve(system, np.concatenate([[0.0], np.ones(n)]))
    solver = LSSVC(C=gamma / 2).fit(K, y)
    np.testing.assert_allclose(coefficients(solver), solution[1:] * y, rtol=0, atol=1e-11)
    assert solver.intercept_ == pytest.approx(solution[0], abs=1e-12)


def test_class_weights_of_the_equality_form():
    K, y, _, _ = random_problem()
    weights = {-1.0: 0.3, 1.0: 2.0}
    beta, intercept = of_the_system(K, y, 0.7 * np.where(y > 0, 2.0, 0.3))
    solver = LSSVC(C=0.7, class_weight=weights).fit(K, y)
    np.testing.assert_allclose(coefficients(solver), beta, rtol=0, atol=1e-11)
    assert solver.intercept_ == pytest.approx(intercept, abs=1e-11)


@pytest.mark.parametrize("C", [0.02, 1.0, 100.0])
def test_regression_solves_its_system(C):
    K, _, target, new = random_problem()
    beta, intercept = of_the_system(K, target, np.full(len(target), C))
    solver = LSSVR(C=C).fit(K, target)
    np.testing.assert_allclose(solver.predict(new), new @ beta + intercept, rtol=0, atol=1e-9)
    # the free bias is all that kernel ridge regression lacks
    ridge = KernelRidge(alpha=1 / (2 * C), kernel="precomputed").fit(K, target - intercept)
    np.testing.assert_allclose(solver.predict(new), ridge.predict(new) + intercept, rtol=0, atol=1e-9)


def test_a_constant_target_needs_no_support():
    K, y, _, new = random_problem()
    solver = LSSVR().fit(K, np.zeros(len(y)))
    np.testing.assert_allclose(solver.predict(new), 0.0, atol=1e-15)
    np.testing.assert_allclose(LSSVR().fit(K, np.full(len(y), 7.0)).predict(new), 7.0, atol=1e-12)


# ---- inequality form -------------------------------------------------------------------------------------


def of_the_program(K, y, cost):
    """Return α from a solver of bounded least squares: Q = LLᵀ, ½‖Lᵀα − L⁻¹1‖² over α ≥ 0."""
    Q = np.outer(y, y) * (K + 1.0) + np.diag(0.5 / cost)
    L = np.linalg.cholesky(Q)
    found = lsq_linear(L.T, np.linalg.solve(L, np.ones(len(y))), bounds=(0, np.inf), method="bvls", tol=1e-14)
    return np.maximum(found.x, 0.0), Q


@pytest.mark.parametrize("C", [0.02, 1.0, 30.0, 1000.0])
@pytest.mark.parametrize("weight", [None, {-1.0: 0.3, 1.0: 2.0}])
def test_inequality_form_solves_its_program(C, weight):
    K, y, _, new = random_problem()
    alpha, Q = of_the_program(K, y, C * (np.where(y > 0, 2.0, 0.3) if weight else np.ones(len(y))))
    solver = LSSVC(C=C, form="inequality", class_weight=weight, tol=1e-10).fit(K, y)
    report = solver.report_
    np.testing.assert_allclose(coefficients(solver) * y, alpha, rtol=0, atol=1e-7 * max(1.0, alpha.max()))
    assert solver.intercept_ == pytest.approx(alpha @ y, abs=1e-7)
    assert report["objective"] == pytest.approx(0.5 * alpha @ Q @ alpha - alpha.sum(), rel=1e-9)
    assert report["n_support"] == np.sum(alpha > 1e-9) > 0
    assert C < 1 or report["n_support"] < len(y)
    assert report["residual"] <= 1e-10
    assert abs(report["gap"]) < 1e-8
    np.testing.assert_allclose(
        solver.decision_function(new), new @ (alpha * y) + alpha @ y, rtol=0, atol=1e-6 * max(1.0, alpha.max())
    )


def test_primal_of_the_inequality_form():
    """On explicit features, minimise ½(‖w‖² + b²) + C Σ (1 − y f)₊² directly."""
    rng = np.random.default_rng(4)
    points = rng.normal(size=(50, 3))
    y = np.where(points[:, 0] + 0.4 * rng.normal(size=50) > 0, 1.0, -1.0)
    extended = np.column_stack([points, np.ones(50)])

    def loss(w):
        errors = np.maximum(1 - y * (extended @ w), 0)
        return 0.5 * w @ w + 2.0 * errors @ errors, w - 4.0 * extended.T @ (y * errors)

    found = minimize(loss, np.zeros(4), jac=True, method="BFGS", options={"gtol": 1e-10}).x
    solver = LSSVC(C=2.0, form="inequality", tol=1e-10).fit(points @ points.T, y)
    np.testing.assert_allclose(points.T @ coefficients(solver), found[:3], atol=1e-7)
    assert solver.intercept_ == pytest.approx(found[3], abs=1e-7)


def test_the_plain_iteration_goes_to_the_same_place():
    """The iteration of the paper, without active sets."""
    K, y, _, _ = random_problem(n=30)
    C = 1.0
    Q = np.outer(y, y) * (K + 1.0) + np.eye(30) / (2 * C)
    alpha = np.linalg.solve(Q, np.ones(30))
    for _ in range(3000):
        alpha = np.linalg.solve(Q, np.maximum(Q @ alpha - 1 - 0.9 / C * alpha, 0) + 1)
    solver = LSSVC(C=C, form="inequality").fit(K, y)
    np.testing.assert_allclose(coefficients(solver) * y, alpha, atol=1e-9)


def test_all_points_errors_means_both_forms_differ_in_the_bias_only():
    """With so small a C that no point is beyond its margin, inequality and equality say the same of ξ."""
    y = np.array([1.0, 1.0, -1.0, -1.0])
    solver = LSSVC(C=0.01, form="inequality").fit(SPECTRUM_2, y)
    beta = np.linalg.solve(SPECTRUM_2 + 1.0 + np.eye(4) * 50, y)
    np.testing.assert_allclose(coefficients(solver), beta, atol=1e-12)


# ---- odd matrices ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["equality", "inequality"])
def test_a_singular_matrix_does_no_harm(form):
    K, y, _, _ = random_problem()
    twice = np.concatenate([np.arange(60), np.arange(60)])
    K, y = K[np.ix_(twice, twice)], y[twice]
    solver = LSSVC(C=1.0, form=form, tol=1e-10).fit(K, y)
    once = LSSVC(C=2.0, form=form, tol=1e-10).fit(K[:60, :60], y[:60])  # each row twice is each row at twice the cost
    np.testing.assert_allclose(solver.decision_function(K)[:60], once.decision_function(K[:60, :60]), atol=1e-8)


def test_the_equality_form_takes_an_indefinite_matrix():
    K, y = indefinite()
    beta, intercept = of_the_system(K, y, np.full(len(y), 5.0))
    solver = LSSVC(C=5.0).fit(K, y)
    np.testing.assert_allclose(solver.decision_function(K), K @ beta + intercept, atol=1e-9)
    assert solver.report_["definite"] is False
    assert LSSVC(C=0.4).fit(K, y).report_["definite"] is True


def test_a_singular_system_is_an_error():
    K = np.diag([-0.5, -0.5, 1.0, 1.0])
    with pytest.raises(GramError, match="lower C"):
        LSSVC(C=1.0).fit(K, [0, 1, 0, 1])


def test_the_inequality_form_on_an_indefinite_matrix():
    K, y = indefinite()
    for C in (5.0, 0.4):  # Q is indefinite; the primal is
        with pytest.raises(GramError, match="form=equality"):
            LSSVC(C=C, form="inequality").fit(K, y)
    alpha, _ = of_the_program(K, y, np.full(len(y), 0.1))
    solver = LSSVC(C=0.1, form="inequality").fit(K, y)
    np.testing.assert_allclose(coefficients(solver) * y, alpha, atol=1e-7)


def test_more_digits_than_there_are_is_reported():
    rng = np.random.default_rng(2)
    points = rng.normal(size=(200, 8)) * np.logspace(0, 3, 8)
    y = np.where(0.3 * points[:, 0] + 0.001 * points[:, 7] + rng.normal(size=200) > 1, 1, -1)
    with pytest.warns(ConvergenceWarning, match="lower C, or normalise the kernel"):
        solver = LSSVC(C=1e6, form="inequality").fit(points @ points.T, y)
    assert solver.report_["gap"] > 1e-6
    with pytest.warns(ConvergenceWarning, match="lower C, or normalise the kernel"):
        solver = LSSVC(C=1e6).fit(points @ points.T, y)
    assert solver.report_["residual"] > 1e-6


@pytest.mark.parametrize("solver", [LSSVC(), LSSVC(form="inequality"), LSSVR()])
def test_not_symmetric(solver):
    K, y, _, _ = random_problem()
    K[3, 7] += 0.1
    with pytest.raises(GramError, match=r"K\[3, 7\]"):
        solver.fit(K, y)
    K[3, 7] = K[7, 3] * (1 + 1e-13)
    solver.fit(K, y)


@pytest.mark.parametrize("C", [0.0, -1.0, np.inf, "many"])
def test_cost_must_be_positive_and_finite(C):
    for solver in (LSSVC(C=C), LSSVR(C=C)):
        with pytest.raises(ParameterError, match="C="):
            solver.check_parameters()
