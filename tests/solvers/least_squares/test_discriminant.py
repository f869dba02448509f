"""The kernel Fisher discriminant: explicit features, a general solver for the program, exact numbers."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from seqkern.core.errors import GramError, ParameterError
from seqkern.solvers import KernelFisher

FORMS = ("quotient", "program")


def random_problem(n=50, seed=0):
    """Return points in four dimensions, labels with 2 : 3 members, and new points."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 5 < 2, 1.0, -1.0)
    shift = np.outer(y, [0.8, -0.3, 0.0, 0.2])
    points = rng.normal(size=(n, 4)) @ np.diag([1.0, 0.5, 2.0, 1.0]) + shift
    return points, y, rng.normal(size=(12, 4))


def scatter(K, y):
    """Return N of Mika et al. 1999, and the means of the classes."""
    parts, means = 0.0, []
    for sign in (-1, 1):
        part = K[:, y == sign]
        size = part.shape[1]
        parts = parts + part @ (np.eye(size) - np.ones((size, size)) / size) @ part.T
        means.append(part.mean(axis=1))
    return parts, means[0], means[1]


# ---- exact numbers (SPEC.md §4) --------------------------------------------------------------------------


@pytest.mark.parametrize(("penalty", "epsilon"), [("coefficients", 1e-9), ("function", 1e-7)])
def test_linear_discriminant_of_the_lecture(penalty, epsilon):
    one = np.array([3.8, 4, 4.2, 3.9, 4.1, 3.92, 4.08])
    points = np.concatenate([one, 10 - one])
    y = np.repeat([1, 0], 7)
    solver = KernelFisher(epsilon=epsilon, penalty=penalty).fit(np.outer(points, points), y)
    coefficients, constant = solver.linear()
    assert coefficients @ points == pytest.approx(-106.38, abs=0.005)  # d(x) = −106.38 x
    assert -constant == pytest.approx(-531.915, abs=0.0005)  # crit
    assert 2 / -(coefficients @ points) == pytest.approx(0.0188, abs=1e-8)  # the pooled variance
    np.testing.assert_array_equal(solver.predict(np.outer([3.0, 4.99, 5.01, 9.0], points)), [1, 1, 0, 0])


@pytest.mark.parametrize("form", FORMS)
def test_direction_of_explicit_features(form):
    """As ε → 0, with an invertible scatter: w ∝ S_W⁻¹(m₊ − m₋), and scikit-learn's linear discriminant."""
    points, y, new = random_problem()
    K, values = points @ points.T, new @ points.T
    solver = KernelFisher(epsilon=1e-10, form=form).fit(K, y)
    weights = points.T @ solver.linear()[0]
    groups = [points[y < 0], points[y > 0]]
    within = sum((group - group.mean(axis=0)).T @ (group - group.mean(axis=0)) for group in groups)
    expected = np.linalg.solve(within, groups[1].mean(axis=0) - groups[0].mean(axis=0))
    assert weights @ expected / np.linalg.norm(weights) / np.linalg.norm(expected) == pytest.approx(1, abs=1e-10)
    oracle = LinearDiscriminantAnalysis(solver="lsqr").fit(points, y)
    decisions = oracle.decision_function(new) - np.log(20 / 30)  # of the priors
    if form == "quotient":  # scikit-learn's covariance has the divisor l
        np.testing.assert_allclose(solver.decision_function(values), decisions * 48 / 50, rtol=1e-5)
    else:
        means = [solver.decision_function(K)[y == sign].mean() for sign in (-1, 1)]
        np.testing.assert_allclose(means, [-1, 1], atol=1e-9)
        assert np.corrcoef(solver.decision_function(values), decisions)[0, 1] == pytest.approx(1, abs=1e-10)


# ---- definitions -----------------------------------------------------------------------------------------


def rbf(points, other):
    return np.exp(-((points[:, None] - other[None]) ** 2).sum(-1) / 8)


@pytest.mark.parametrize("epsilon", [0.01, 3.0])
def test_quotient_from_the_paper_s_matrices(epsilon):
    points, y, new = random_problem()
    K, values = rbf(points, points), rbf(new, points)
    N, first, second = scatter(K, y)
    alpha = 48 * np.linalg.solve(N + epsilon * np.eye(50), second - first)
    solver = KernelFisher(epsilon=epsilon, epsilon_scale="absolute").fit(K, y)
    np.testing.assert_allclose(solver.linear()[0], alpha, rtol=1e-8, atol=1e-9 * np.abs(alpha).max())
    np.testing.assert_allclose(
        solver.decision_function(values), values @ alpha - alpha @ (first + second) / 2, rtol=0, atol=1e-8
    )
    assert solver.report_["objective"] == pytest.approx(
        (alpha @ (second - first)) ** 2 / (alpha @ (N + epsilon * np.eye(50)) @ alpha), rel=1e-9
    )
    penalised = KernelFisher(epsilon=epsilon, epsilon_scale="absolute", penalty="function").fit(K, y)
    alpha = 48 * np.linalg.lstsq(N + epsilon * K, second - first, rcond=1e-13)[0]
    np.testing.assert_allclose(
        penalised.decision_function(values), values @ alpha - alpha @ (first + second) / 2, rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("penalty", ["coefficients", "function"])
def test_program_against_a_general_solver(penalty):
    """ξ, α and b are free; the constraints are those of Mika et al. 2001."""
    points, y, new = random_problem(n=20)
    K, values = rbf(points, points), rbf(new, points)
    P = np.eye(20) if penalty == "coefficients" else K
    members = [y < 0, y > 0]

    def objective(z):
        xi = K @ z[:20] + z[20] - y
        return xi @ xi + 0.3 * z[:20] @ P @ z[:20]

    def gradient(z):
        xi = K @ z[:20] + z[20] - y
        return np.concatenate([2 * K @ xi + 0.6 * P @ z[:20], [2 * xi.sum()]])

    rows = np.array([np.append(K[own].sum(axis=0), own.sum()) for own in members])
    sums = np.array([y[own].sum() for own in members])
    equation = {"type": "eq", "fun": lambda z: rows @ z - sums, "jac": lambda z: rows}
    found = minimize(
        objective,
        np.zeros(21),
        jac=gradient,
        constraints=[equation],
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    solver = KernelFisher(epsilon=0.3, form="program", penalty=penalty, epsilon_scale="absolute").fit(K, y)
    assert solver.report_["objective"] == pytest.approx(found.fun, rel=1e-8)
    assert solver.intercept_ == pytest.approx(found.x[20], abs=1e-4)
    np.testing.assert_allclose(solver.decision_function(values), values @ found.x[:20] + found.x[20], atol=1e-4)
    xi = solver.decision_function(K) - y
    np.testing.assert_allclose([xi[own].sum() for own in members], 0, atol=1e-10)


@pytest.mark.parametrize("penalty", ["coefficients", "function"])
def test_both_forms_have_one_direction_and_one_threshold(penalty):
    points, y, _ = random_problem()
    K = rbf(points, points)
    one, two = (KernelFisher(form=form, penalty=penalty).fit(K, y).decision_function(K) for form in FORMS)
    np.testing.assert_allclose(one * (two @ one) / (one @ one), two, atol=1e-12)


@pytest.mark.parametrize("penalty", ["coefficients", "function"])
def test_relative_epsilon(penalty):
    points, y, _ = random_problem()
    K = rbf(points, points)
    centre = np.eye(50) - 1 / 50
    unit = np.trace(K @ centre @ K if penalty == "coefficients" else centre @ K @ centre) / 50
    solver = KernelFisher(epsilon=0.1, penalty=penalty).fit(K, y)
    assert solver.report_["epsilon"] == pytest.approx(0.1 * unit)
    other = KernelFisher(epsilon=0.1, penalty=penalty, form="program").fit(1e4 * K, y)
    expected = KernelFisher(epsilon=0.1, penalty=penalty, form="program").fit(K, y).decision_function(K)
    np.testing.assert_allclose(other.decision_function(1e4 * K), expected, atol=1e-10)


# ---- odd matrices ----------------------------------------------------------------------------------------


def test_indefinite():
    rng = np.random.default_rng(2)
    points, y, _ = random_problem()
    K = rbf(points, points) + np.diag(rng.normal(size=50))
    N, first, second = scatter(K, y)
    alpha = np.linalg.solve(N + 0.1 * np.eye(50), second - first)
    solver = KernelFisher(epsilon=0.1, epsilon_scale="absolute").fit(K, y)
    np.testing.assert_allclose(solver.linear()[0], 48 * alpha, rtol=1e-8, atol=1e-8)
    for scale in ("absolute", "mean"):
        with pytest.raises(GramError, match="penalty=coefficients"):
            KernelFisher(epsilon=0.1, penalty="function", epsilon_scale=scale).fit(K - 0.5 * np.eye(50), y)


@pytest.mark.parametrize("penalty", ["coefficients", "function"])
def test_a_singular_matrix_does_no_harm(penalty):
    points, y, new = random_problem()
    solver = KernelFisher(epsilon=1.0, penalty=penalty).fit(points @ points.T, y)
    assert solver.report_["residual"] < 1e-9
    assert np.isfinite(solver.decision_function(new @ points.T)).all()


def test_two_rows():
    solver = KernelFisher(form="program").fit(np.array([[2.0, 1.0], [1.0, 2.0]]), [0, 1])
    np.testing.assert_allclose(solver.decision_function([[2.0, 1.0], [1.0, 2.0]]), [-1, 1])


def test_coinciding_means_are_an_error():
    for K in (np.ones((6, 6)), np.zeros((6, 6)), np.kron(np.eye(3), np.ones((2, 2)))):
        for penalty in ("coefficients", "function"):
            with pytest.raises(GramError, match="coincide"):
                KernelFisher(penalty=penalty).fit(K, [0, 1] * 3)


@pytest.mark.parametrize(("name", "value"), [("epsilon", 0), ("epsilon", np.inf), ("form", "qp"), ("penalty", "none")])
def test_bad_parameters(name, value):
    with pytest.raises(ParameterError, match=name):
        KernelFisher(**{name: value}).check_parameters()
