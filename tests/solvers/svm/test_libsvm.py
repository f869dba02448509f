"""ν-SVM, support vector regression, one-class SVM and hard margin: conditions, ν-property, exact numbers, memory."""

import json
import tracemalloc
import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn import svm
from sklearn.exceptions import ConvergenceWarning

from seqkern.core.errors import GramError, ParameterError
from seqkern.kernels import SpectrumKernel, StringKernel
from seqkern.solvers import CSVC, PSVC, SVR, FilteredSVC, NuSVC, NuSVR, OneClassSVM, SphericalSVC, build_solver
from seqkern.solvers.svm.margins import hull_distance, tube_found
from seqkern.solvers.svm.svm import smallest_sum

WORDS = ["SAY", "BAY", "SAD", "BAD"]
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
NUS = [0.05, 0.2, 0.5]


def problem(n=120, seed=0):
    """Return an RBF Gram matrix, labels that overlap and real ones, and kernel values of new rows."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n + 20, 3))
    score = points[:, 0] + 0.6 * rng.normal(size=n + 20)
    kernel = np.exp(-((points[:, None] - points[None]) ** 2).sum(-1) / 4)
    return kernel[:n, :n].copy(), np.where(score > 0.3, 1.0, -1.0)[:n], score[:n], kernel[n:, :n].copy()


def coefficients(solver, n):
    """Return β for all n training rows."""
    out = np.zeros(n)
    out[solver.support_] = solver.dual_coef_
    return out


# ---- LIBSVM itself ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("solver", "oracle"),
    [
        (NuSVC(nu=0.4), svm.NuSVC(nu=0.4)),
        (SVR(C=3.0, epsilon=0.2), svm.SVR(C=3.0, epsilon=0.2)),
        (NuSVR(C=3.0, nu=0.3), svm.NuSVR(C=3.0, nu=0.3)),
        (OneClassSVM(nu=0.3), svm.OneClassSVM(nu=0.3)),
    ],
    ids=lambda one: type(one).__name__,
)
def test_decisions_are_libsvm_s(solver, oracle):
    K, y, real, new = problem()
    target = {"SVR": real, "NuSVR": real, "NuSVC": y, "OneClassSVM": None}[type(solver).__name__]
    oracle.set_params(kernel="precomputed").fit(K, target)
    solver.fit(K, target)
    expected = oracle.predict(new) if "real" in solver.targets else oracle.decision_function(new)
    np.testing.assert_allclose(solver.decision_function(new), expected, atol=1e-12)
    np.testing.assert_array_equal(solver.predict(new), oracle.predict(new))
    np.testing.assert_array_equal(solver.support_, oracle.support_)


# ---- optimality ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nu", NUS)
def test_nu_property_of_classes(nu):
    K, y, _, _ = problem()
    solver = NuSVC(nu=nu, tol=1e-5).fit(K, y)
    # decisions are in units of ρ = 1/C, in which the residual of small ν is not small
    inside = y * solver.decision_function(K) < 1 - 2 * solver.report_["residual"] * solver.report_["C"]
    assert solver.report_["converged"]
    assert np.mean(inside) <= nu <= solver.report_["support_share"] + 1e-12
    assert 0 < solver.report_["support_share"] < 1


@pytest.mark.parametrize("nu", NUS)
def test_nu_property_of_regression(nu):
    K, _, y, _ = problem()
    solver = NuSVR(nu=nu, C=5.0, tol=1e-5).fit(K, y)
    beyond = np.abs(y - solver.predict(K)) > solver.report_["epsilon"] + 1e-4
    assert np.mean(beyond) <= nu <= solver.report_["support_share"] + 1e-12
    twin = SVR(C=5.0, epsilon=solver.report_["epsilon"], tol=1e-7).fit(K, y)
    np.testing.assert_allclose(twin.predict(K), solver.predict(K), atol=1e-3)


@pytest.mark.parametrize("nu", NUS)
def test_nu_property_of_one_class(nu):
    K, _, _, _ = problem()
    solver = OneClassSVM(nu=nu, tol=1e-7).fit(K)
    outside = solver.decision_function(K) < -1e-3
    assert np.mean(outside) <= nu <= solver.report_["support_share"] + 1e-12
    assert solver.dual_coef_.sum() == pytest.approx(nu * len(K))
    np.testing.assert_array_equal(solver.classes_, [-1, 1])


def test_nu_svm_is_the_c_svm_it_says():
    K, y, _, new = problem()
    solver = NuSVC(nu=0.4, tol=1e-8).fit(K, y)
    twin = CSVC(C=solver.report_["C"], tol=1e-8).fit(K, y)
    np.testing.assert_allclose(twin.decision_function(new), solver.decision_function(new), atol=1e-4)


def constrained(objective, gradient, start, bounds, matrix, sums):
    """Return the least value of a smooth function over a box and linear equations."""
    equations = {"type": "eq", "fun": lambda v: matrix @ v - sums, "jac": lambda v: matrix}
    found = minimize(
        objective,
        start,
        jac=gradient,
        bounds=bounds,
        constraints=[equations],
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert found.success
    return found.fun


def test_objectives_against_a_general_solver():
    K, y, real, _ = problem(40)
    n, nu = len(y), 0.4
    # a small ridge makes the least value well conditioned for the general solver too
    K = K + 0.01 * np.eye(n)
    Q = K * np.outer(y, y)
    part = np.where(y > 0, 1 / np.sum(y > 0), 1 / np.sum(y < 0)) * nu * n / 2
    least = constrained(
        lambda a: 0.5 * a @ Q @ a,
        lambda a: Q @ a,
        part,
        [(0, 1)] * n,
        np.stack([y > 0, y < 0]).astype(float),
        np.full(2, nu * n / 2),
    )
    assert NuSVC(nu=nu, tol=1e-8).fit(K, y).report_["objective"] == pytest.approx(least, rel=1e-5)
    ones = np.ones((1, n))
    least = constrained(lambda a: 0.5 * a @ K @ a, lambda a: K @ a, np.full(n, nu), [(0, 1)] * n, ones, [nu * n])
    assert OneClassSVM(nu=nu, tol=1e-8).fit(K).report_["objective"] == pytest.approx(least, rel=1e-5)
    both = np.concatenate([np.ones(n), -np.ones(n)])

    def dual(v):
        beta = v[:n] - v[n:]
        return 0.5 * beta @ K @ beta + 0.1 * v.sum() - real @ beta

    def slope(v):
        g = K @ (v[:n] - v[n:]) - real
        return np.concatenate([g, -g]) + 0.1

    least = constrained(dual, slope, np.zeros(2 * n), [(0, 2.0)] * (2 * n), both[None], [0.0])
    assert SVR(C=2.0, epsilon=0.1, tol=1e-8).fit(K, real).report_["objective"] == pytest.approx(least, rel=1e-5)


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-6])
def test_residual_and_gap_fall_with_the_tolerance(tol):
    K, y, real, _ = problem()
    for solver, target in ((CSVC(), y), (NuSVC(), y), (SVR(), real), (NuSVR(), real), (OneClassSVM(nu=0.3), None)):
        report = solver.set_params(tol=tol).fit(K, target).report_
        # LIBSVM computes in single precision where it caches K
        assert report["residual"] <= tol + 3e-6, solver
        assert 0 <= report["gap"] <= 10 * tol, solver


def test_scaling_a_gram_matrix_scales_nothing_else():
    K, y, _, new = problem()
    for factor in (1e-6, 1e6):
        for solver, target in ((NuSVC(tol=1e-6), y), (OneClassSVM(nu=0.3, tol=1e-6), None)):
            expected = solver.fit(K, target).decision_function(new) * (factor if target is None else 1.0)
            decisions = solver.fit(factor * K, target).decision_function(factor * new)
            np.testing.assert_allclose(decisions, expected, atol=1e-4 * np.abs(expected).max())
            assert solver.report_["residual"] <= 4e-6


# ---- labels and ν ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, 0.999])
def test_nu_at_most_twice_the_share_of_the_smaller_class(scale):
    K, _, _, _ = problem(40)
    y = np.where(np.arange(40) < 8, 1, -1)
    NuSVC(nu=0.4 * scale).check_labels(y)
    with pytest.raises(ParameterError, match=r"2 · 8 / 40 = 0.4;.* smaller nu"):
        NuSVC(nu=0.41).fit(K, y)


def test_no_margin_for_so_few_errors():
    points = np.random.default_rng(3).normal(size=(100, 2))
    y = np.where(np.random.default_rng(4).random(100) < 0.5, 1, -1)
    with pytest.warns(ConvergenceWarning, match="no margin was found.*larger nu"):
        solver = NuSVC(nu=0.1).fit(points @ points.T, y)
    assert solver.report_["converged"] is False
    assert solver.report_["gap"] >= 1


def test_one_class_learns_the_positives_alone():
    K, y, _, new = problem()
    rows = np.flatnonzero(y > 0)
    solver = OneClassSVM(nu=0.2).fit(K, y)
    alone = OneClassSVM(nu=0.2).fit(K[np.ix_(rows, rows)])
    np.testing.assert_array_equal(solver.decision_function(new), alone.decision_function(new[:, rows]))
    np.testing.assert_array_equal(solver.support_, rows[alone.support_])
    negatives = np.flatnonzero(y < 0)
    K[:, negatives] = K[negatives] = 0.5
    np.testing.assert_array_equal(OneClassSVM(nu=0.2).fit(K, y).dual_coef_, solver.dual_coef_)


def test_all_rows_may_lie_outside():
    K, _, _, new = problem(30)
    solver = OneClassSVM(nu=1.0).fit(K)
    sums = K.sum(axis=1)
    np.testing.assert_allclose(solver.decision_function(new), new.sum(axis=1) - sums.max(), atol=1e-9)
    assert solver.report_["residual"] == 0


# ---- hard margin (SPEC.md §4) ----------------------------------------------------------------------------


def grams():
    """Return the Gram matrices of the four words, by name."""
    points = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])
    return {
        "spectrum": SpectrumKernel(k=2, normalize=False, alphabet=LETTERS)(WORDS),
        "subsequences": np.array([[8, 4, 4, 2], [4, 8, 2, 4], [4, 2, 8, 4], [2, 4, 4, 8]], dtype=float),
        "string": StringKernel(n=2, decay=0.5, normalize=False, alphabet=LETTERS)(WORDS),
        "xor": (1.0 + points @ points.T) ** 2,
    }


def test_margin_of_the_spectrum_gram():
    K = grams()["spectrum"]
    solver = CSVC(C=np.inf, tol=1e-9).fit(K, [1, 1, -1, -1])
    coef = coefficients(solver, 4)
    assert 1 / np.sqrt(coef @ K @ coef) == pytest.approx(1 / np.sqrt(2), abs=1e-9)
    np.testing.assert_allclose(solver.decision_function(K), [1, 1, -1, -1], atol=1e-9)
    separable, distance = hull_distance(K, np.array([1.0, 1, -1, -1]))
    assert separable
    assert distance * np.sqrt(2.0) == pytest.approx(2 / np.sqrt(2), abs=1e-6)


@pytest.mark.parametrize(("name", "alpha"), [("subsequences", 0.5), ("string", 0.5**-6), ("xor", 1 / 8)])
def test_coefficients_of_a_hard_margin(name, alpha):
    K, y = grams()[name], np.array([1, -1, -1, 1])
    solver = CSVC(C=np.inf, tol=1e-9).fit(K, y)
    np.testing.assert_allclose(coefficients(solver, 4) * y, alpha, rtol=1e-9)
    np.testing.assert_allclose(solver.decision_function(K), y, atol=1e-9)
    assert solver.report_["converged"]


def test_not_separable_is_said():
    K = grams()["spectrum"]
    with pytest.warns(ConvergenceWarning, match="no plane was found that separates.*give a finite C") as told:
        solver = CSVC(C=np.inf).fit(K, [1, -1, -1, 1])
    assert len(told) == 1
    assert solver.report_["converged"] is False
    assert solver.report_["residual"] == pytest.approx(4)
    np.testing.assert_allclose(np.abs(CSVC(C=1).fit(K, [1, -1, -1, 1]).dual_coef_), 1, atol=1e-12)


def test_classes_that_overlap_are_found_soon():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(200, 4))
    y = np.where(points[:, 0] + 0.5 * rng.normal(size=200) > 0, 1.0, -1.0)
    with pytest.warns(ConvergenceWarning, match="no plane was found"):
        solver = CSVC(C=np.inf).fit(points @ points.T, y)
    assert solver.report_["iterations"] <= 30_000
    plain = np.sign(points[:, 0])
    assert CSVC(C=np.inf).fit(points @ points.T, plain).report_["converged"]


def test_smallest_sum():
    values = np.array([3.0, -1.0, 2.0, 0.5])
    assert smallest_sum(values, 2.5) == pytest.approx(-1 + 0.5 + 0.5 * 2)
    assert smallest_sum(values, 4.0) == pytest.approx(4.5)


# ---- memory ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", [CSVC(), NuSVC(), SVR(), NuSVR(), OneClassSVM()], ids=repr)
def test_no_copy_of_a_gram_matrix(solver, tmp_path):
    K, y, real, _ = problem(800)
    np.save(tmp_path / "gram.npy", K)
    target = {"binary": y, "real": real}[solver.targets[0]]
    if "none" in solver.targets:
        target = None
    for matrix in (K, np.load(tmp_path / "gram.npy", mmap_mode="r")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            solver.fit(matrix, target)  # imports and caches are there
            tracemalloc.start()
            solver.fit(matrix, target)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        cache = 4 * len(K) ** 2  # of single-precision rows; LIBSVM's own is not counted here
        assert peak < cache + K.nbytes / 5


# ---- a filter before a binary solver ---------------------------------------------------------------------


def test_filter_leaves_out_what_is_unlike_its_class():
    rng = np.random.default_rng(0)
    centres = np.repeat([[-2.0, 0.0], [2.0, 0.0]], 40, axis=0)
    points = centres + rng.normal(scale=0.5, size=(80, 2))
    points[[3, 45]] = [[2.0, 0.0], [-2.0, 0.1]]  # each in the midst of the other class
    y = np.repeat([-1, 1], 40)
    K = np.exp(-((points[:, None] - points[None]) ** 2).sum(-1) / 2)
    solver = FilteredSVC(CSVC(C=100.0), nu=0.1).fit(K, y)
    assert {3, 45} <= set(solver.left_out_)
    assert solver.report_["n_left_out"] == [int(np.sum(y[solver.left_out_] == sign)) for sign in (-1, 1)]
    assert max(solver.report_["n_left_out"]) <= 4  # ν of 40
    rows = np.setdiff1d(np.arange(80), solver.left_out_)
    alone = CSVC(C=100.0).fit(K[np.ix_(rows, rows)], y[rows])
    np.testing.assert_array_equal(solver.decision_function(K), alone.decision_function(K[:, rows]))
    assert list(solver.predict(K[[3, 45]])) == [1, -1]
    positive = FilteredSVC(CSVC(C=100.0), nu=0.1, of="positive").fit(K, y)
    assert positive.report_["n_left_out"][0] == 0
    assert 45 in positive.left_out_


def test_filter_takes_a_gram_matrix_and_passes_labels_on():
    with pytest.raises(ParameterError, match="takes a Gram matrix"):
        FilteredSVC(PSVC(kernel="features")).check_parameters()
    with pytest.raises(ParameterError, match="infeasible"):
        FilteredSVC(NuSVC(nu=0.5)).check_labels(np.array([1, 0, 0, 0, 0, 0]))
    y = np.repeat(["no", "yes"], [30, 10])
    FilteredSVC(NuSVC(nu=0.46), nu=0.1).check_labels(y)  # 2 · 9 / 39
    with pytest.raises(
        ParameterError,
        match=r"may leave as few as 8 of 10 positives, and then nu=0.46.*; lower the nu of the filter, or .*nusvc",
    ):
        FilteredSVC(NuSVC(nu=0.46), nu=0.2).check_labels(y)
    FilteredSVC(NuSVC(nu=0.5), nu=0.01).check_labels(y)
    with pytest.raises(ParameterError, match="nu=1 is not possible; give a number > 0 and < 1"):
        FilteredSVC(CSVC(), nu=1).check_parameters()


def test_filter_tells_what_it_left_out():
    K, y, _, _ = problem(60)
    solver = FilteredSVC(CSVC(), nu=0.4).fit(K, y)
    few, sizes = solver.report_["n_left_out"], [np.sum(y < 0), np.sum(y > 0)]
    told = f"the filter left out {few[0]} of {sizes[0]} negatives and {few[1]} of {sizes[1]} positives"
    assert sum(few) > 0
    assert solver.report_["remark"] == told
    assert "more than half; choose a smaller nu" in FilteredSVC(CSVC(), nu=0.9).fit(K, y).report_["remark"]


# ---- problems without a solution -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "solver", [CSVC(C=np.inf), SphericalSVC(C=np.inf, ridge=5.0), SVR(C=np.inf)], ids=lambda one: type(one).__name__
)
def test_coefficients_without_bounds_are_a_fit_that_has_not_converged(solver):
    rng = np.random.default_rng(0)
    remarks = []
    for n in (5, 12, 30):
        matrix = rng.normal(size=(n, n))
        K = matrix + matrix.T
        y = rng.normal(size=n) if "real" in solver.targets else np.where(np.arange(n) % 2, 1, -1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                solver.fit(K, y)
            except GramError:  # of the sphered SVM, where even the ridge leaves negative eigenvalues
                continue
        remarks.append(solver.report_.get("remark", ""))
        assert solver.report_["converged"] is ("remark" not in solver.report_)
        assert np.isfinite(solver.decision_function(K)).all()
        json.dumps(solver.report_, allow_nan=False)
    assert any("not positive semi-definite; repair it" in remark for remark in remarks)


def test_only_coefficients_that_are_not_finite_are_caught(monkeypatch):
    def broken(self, X, y):
        raise ValueError("something else")

    monkeypatch.setattr(svm.NuSVC, "fit", broken)
    K, y, _, _ = problem(20)
    with pytest.raises(ValueError, match="something else"):
        NuSVC(nu=0.2).fit(K, y)


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("kernel", ["zero", "line", "twins"])
def test_values_that_no_function_reaches_are_found_soon(kernel, epsilon):
    rng = np.random.default_rng(0)
    y = rng.normal(size=20)
    points = {"zero": np.zeros((20, 1)), "line": np.arange(20.0)[:, None], "twins": np.repeat(np.eye(10), 2, axis=0)}
    K = points[kernel] @ points[kernel].T
    with pytest.warns(ConvergenceWarning, match=f"comes within epsilon={epsilon:g} of all values.*finite C"):
        solver = SVR(C=np.inf, epsilon=epsilon).fit(K, y)
    assert solver.report_["iterations"] <= 12_000
    # and where there is one, it is no nearer to any value than ε allows
    wide = SVR(C=np.inf, epsilon=np.ptp(y) / 2 + 0.01).fit(K, y)
    assert wide.report_["converged"]
    assert np.abs(wide.predict(K) - y).max() <= wide.epsilon + 1e-2


def test_tube_found():
    points = np.arange(6.0)
    K, y = np.outer(points, points), 2 * points + 3 + 0.2 * (-1) ** np.arange(6)
    slopes = np.linspace(1.5, 2.5, 1001)[:, None]
    nearest = np.ptp(y - slopes * points, axis=1).min() / 2
    assert tube_found(K, y, nearest * 1.05)
    assert not tube_found(K, y, nearest * 0.95)
    assert tube_found(np.eye(6), y, 1e-3)


def test_exact_interpolation_has_a_solution():
    K, _, y, _ = problem(30)
    solver = SVR(C=np.inf, epsilon=0.0).fit(K + 0.1 * np.eye(30), y)
    assert solver.report_["converged"]
    np.testing.assert_allclose(solver.predict(K + 0.1 * np.eye(30)), y, atol=2e-3)


def test_a_large_cost_says_what_would_be_faster():
    points = np.arange(20.0)
    y = np.random.default_rng(0).normal(size=20)
    for solver in (SVR(C=1e6, max_iter=1000), NuSVR(C=1e6, max_iter=1000)):
        with pytest.warns(ConvergenceWarning, match="a smaller C or a larger tol"):
            solver.fit(np.outer(points, points), y)


@pytest.mark.parametrize("solver", [NuSVC(nu=0.3, tol=1e-8), OneClassSVM(nu=0.3, tol=1e-9)], ids=repr)
def test_no_margin_is_found_soon(solver):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(100, 2))
    y = rng.choice([-1.0, 1.0], 100) if isinstance(solver, NuSVC) else None
    with pytest.warns(ConvergenceWarning, match="no margin was found|no plane separates the rows from the origin"):
        solver.fit(points @ points.T, y)
    assert solver.report_["iterations"] <= 30_000


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("spec", ["svr:C=100", "csvc:C=100", "one_class_svm:nu=0.2", "transductive_svc:C=100"])
def test_residual_of_a_converged_fit_is_within_the_tolerance(spec, tol):
    """Rows in single precision alone leave a residual of 1e-6 or more."""
    K, y, real, _ = problem(60)
    solver = build_solver(f"{spec},tol={tol}").fit(K, real if spec.startswith("svr") else y)
    assert solver.report_["converged"]
    assert solver.report_["residual"] <= tol


@pytest.mark.parametrize("spec", ["nusvc:nu=0.2,tol=1e-12", "nusvr:C=100,tol=1e-9", "csvc:C=100,tol=1e-13"])
def test_a_residual_that_rounding_keeps_above_the_tolerance_is_not_converged(spec):
    K, y, real, _ = problem(60)
    with pytest.warns(ConvergenceWarning, match="rounding leaves a residual of"):
        solver = build_solver(spec).fit(K, real if spec.startswith("nusvr") else y)
    assert not solver.report_["converged"]
    assert solver.report_["residual"] > solver.tol
