"""The P-SVM against the lasso, a quadratic program, its optimality conditions and the lecture's tables."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_psvm import SHAPES, check_conditions, fit, gradient_rounding, matrix, objective, standardised
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from seqkern.core.errors import GramError, LabelError, ParameterError
from seqkern.solvers import PSVC, PSVR
from seqkern.solvers.checking import ConstantColumnWarning
from seqkern.solvers.psvm.columns import DenseColumns
from seqkern.solvers.psvm.qp import Dual

# ---- independent solvers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", ["real", "signs"])
@pytest.mark.parametrize("share", [0.9, 0.3, 0.02])
@pytest.mark.parametrize("shape", SHAPES)
def test_without_bound_it_is_the_lasso(shape, share, labels):
    K, y = matrix(shape)
    y = np.sign(y - np.median(y) + 1e-9) if labels == "signs" else y
    Kt = standardised(K)
    epsilon = share * np.abs(Kt.T @ (y - y.mean())).max()
    solver, alpha = fit(K, y, C=np.inf, epsilon=epsilon)
    lasso = Lasso(alpha=epsilon / len(y), fit_intercept=False, tol=1e-15, max_iter=1_000_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # lasso cannot reach a tolerance below rounding
        lasso.fit(Kt, y - y.mean())
    scale = np.abs(y).max()
    np.testing.assert_allclose(Kt @ alpha, Kt @ lasso.coef_, atol=1e-8 * scale)
    assert objective(Kt, y, alpha, epsilon) == pytest.approx(
        objective(Kt, y, lasso.coef_, epsilon), abs=1e-8 * scale**2
    )
    np.testing.assert_allclose(solver.decision_function(K), Kt @ alpha + y.mean(), atol=1e-9 * scale)
    if shape in ("square", "tall", "indefinite"):
        np.testing.assert_allclose(alpha, lasso.coef_, atol=1e-7)


@pytest.mark.parametrize("C", [0.5, 0.05])
@pytest.mark.parametrize("share", [0.3, 0.02, 0.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_with_bound_it_is_a_quadratic_program(shape, share, C):
    K, y = matrix(shape)
    Kt = standardised(K)
    epsilon = share * np.abs(Kt.T @ y).max()
    _, alpha = fit(K, y, C=C, epsilon=epsilon)
    N = K.shape[1]

    def split(both):
        """Objective and gradient in α⁺ and α⁻."""
        fitted = Kt @ (both[:N] - both[N:])
        g = Kt.T @ (fitted - y)
        value = 0.5 * fitted @ fitted - y @ fitted + epsilon * both.sum()
        return value, np.concatenate([g, -g]) + epsilon

    options = {"maxiter": 100_000, "maxfun": 1_000_000, "ftol": 1e-16, "gtol": 1e-12, "maxcor": 50}
    oracle = minimize(split, np.zeros(2 * N), jac=True, bounds=[(0, C)] * (2 * N), method="L-BFGS-B", options=options)
    other = oracle.x[:N] - oracle.x[N:]
    scale = np.abs(y).max()
    assert objective(Kt, y, alpha, epsilon) <= objective(Kt, y, other, epsilon) + 1e-11 * scale**2 * len(y)
    assert objective(Kt, y, alpha, epsilon) == pytest.approx(objective(Kt, y, other, epsilon), abs=1e-6 * scale**2)
    np.testing.assert_allclose(Kt @ alpha, Kt @ other, atol=1e-4 * scale)


# ---- optimality ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [np.inf, 1.0, 0.05])
@pytest.mark.parametrize("share", [0.5, 0.05, 0.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_optimality_conditions(shape, share, C):
    K, y = matrix(shape, seed=1)
    Kt = standardised(K)
    unit = np.abs(Kt.T @ (y - y.mean())).max()
    solver, alpha = fit(K, y, C=C, epsilon=share * unit)
    assert solver.report_["converged"]
    check_conditions(Kt, y, alpha, share * unit, C, 1e-10 * unit + gradient_rounding(K, y, alpha))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(2, 12),
    cols=st.integers(1, 12),
    letters=st.integers(1, 4),
    C=st.sampled_from([0.01, 0.3, 10.0, np.inf]),
    share=st.sampled_from([0.0, 0.01, 0.4, 1.0]),
)
def test_optimality_conditions_on_small_counts(seed, rows, cols, letters, C, share):
    """Counts make ties, repeated and constant columns."""
    rng = np.random.default_rng(seed)
    K = rng.integers(0, letters, size=(rows, cols)).astype(float)
    y = rng.integers(-2, 3, size=rows).astype(float)
    solver, alpha = fit(K, y, C=C, epsilon=share, epsilon_scale="max", tol=1e-9)
    Kt = standardised(K)
    unit = solver.report_["epsilon_max"]
    assert solver.report_["converged"]
    check_conditions(Kt, y, alpha, share * unit, C, 1e-8 * unit + gradient_rounding(K, y, alpha))
    assert not alpha[K.std(axis=0) == 0].any()


@pytest.mark.parametrize("C", [10.0, np.inf])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.4])
def test_a_column_without_correlation_is_done_at_once(share, C):
    """ε_max is not exactly zero here: it is a rounding error."""
    K = np.array([[0, 0, 0, 0, 1, 1, 1, 2, 2.0]]).T
    y = np.array([1, -1, 2, -2, 0.1, 0.2, -0.3, 0, 0])
    solver, alpha = fit(K, y, C=C, epsilon=share, epsilon_scale="max", tol=1e-9)
    assert 0 < solver.report_["epsilon_max"] < 1e-14
    assert solver.report_["converged"]
    assert solver.report_["iterations"] < 10
    np.testing.assert_allclose(alpha, 0, atol=1e-14)


@pytest.mark.parametrize("C", [np.inf, 10.0, 0.05])
@pytest.mark.parametrize("shape", SHAPES)
def test_gap_bounds_the_distance_to_the_minimum(shape, C):
    K, y = matrix(shape, seed=2)
    Kt = standardised(K)
    energy = 0.5 * np.sum((y - y.mean()) ** 2)
    epsilon = 0.05 * np.abs(Kt.T @ y).max()
    best = objective(Kt, y, fit(K, y, C=C, epsilon=epsilon)[1], epsilon)
    for moves in (1, 4, 16, 64):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            solver, alpha = fit(K, y, C=C, epsilon=epsilon, max_iter=moves)
        above = (objective(Kt, y, alpha, epsilon) - best) / energy
        assert solver.report_["gap"] >= above - 1e-12
        assert solver.report_["gap"] >= 0
    assert fit(K, y, C=C, epsilon=epsilon)[0].report_["gap"] <= 1e-11


def test_gap_twin():
    K, y = matrix("square", seed=3)
    Kt = standardised(K)
    columns, target = DenseColumns.of(K, False), y - y.mean()
    alpha = np.random.default_rng(0).uniform(-0.04, 0.04, size=24)
    r = Kt @ alpha - target
    g = Kt.T @ r
    for epsilon, C in ((1.0, 0.05), (500.0, 0.05), (30.0, np.inf)):
        box = (Kt @ alpha) @ (Kt @ alpha) - target @ Kt @ alpha + epsilon * np.abs(alpha).sum()
        box += C * np.maximum(np.abs(g) - epsilon, 0).sum() if np.inf > C else np.inf
        s = min(1, epsilon / np.abs(g).max())
        lasso = 0.5 * (r @ r) + epsilon * np.abs(alpha).sum() + 0.5 * s**2 * (r @ r) + s * (r @ target)
        problem = Dual(columns, target, epsilon, C)
        assert problem.gap(alpha, r, g) == pytest.approx(min(box, lasso), rel=1e-10)
    assert Dual(columns, target, 0.0, np.inf).gap(alpha, r, g) is None


def test_report():
    K, y = matrix("square")
    solver, alpha = fit(K, y, C=0.05, epsilon=0.1, epsilon_scale="max")
    Kt = standardised(K)
    report = solver.report_
    assert report["epsilon_max"] == pytest.approx(np.abs(Kt.T @ y).max(), rel=1e-12)
    assert report["epsilon"] == pytest.approx(0.1 * report["epsilon_max"])
    assert report["objective"] == pytest.approx(objective(Kt, y, alpha, report["epsilon"]), rel=1e-9)
    assert report["n_at_bound"] > 0
    assert report["n_at_bound"] == np.sum(np.abs(alpha) == 0.05)
    assert report["n_support"] == np.sum(alpha != 0)
    assert report["support_share"] == report["n_support"] / 24
    assert solver.intercept_ == pytest.approx(y.mean())
    assert fit(K, y, C=np.inf, epsilon=0.0)[0].report_["gap"] is None


# ---- the lecture's tables (SPEC.md §2) -------------------------------------------------------------------


def test_a_feature_without_correlation_is_selected():
    F = np.array([[-2, 2, -2, 2], [3, -3, 1, -1]], dtype=float).T
    t = F.sum(axis=1)
    assert standardised(F)[:, 0] @ t == 0
    for epsilon, chosen in (
        (0.01, [0, 1]),
        (0.84, [0, 1]),
        (0.8445, [0, 1]),
        (0.8447, [1]),
        (1.7, [1]),
        (1.8, []),
    ):
        solver, _ = fit(F, t, C=np.inf, epsilon=epsilon)
        assert list(solver.support_) == chosen


def test_the_most_correlated_feature_enters_first_and_stays():
    F = np.array([[0, 1, -1, 1], [-1, 1, 0, 0], [0, 0, -1, 1]], dtype=float).T
    t = np.array([-1, 1, -1, 1], dtype=float)
    correlations = standardised(F).T @ t / 4
    np.testing.assert_allclose(correlations, [0.905, 0.707, 0.707], atol=5e-4)
    first, _ = fit(F, t, C=np.inf, epsilon=0.99, epsilon_scale="max")
    assert list(first.support_) == [0]
    for epsilon in (3, 1, 0.1, 0.01, 1e-6):
        solver, alpha = fit(F, t, C=np.inf, epsilon=epsilon)
        assert 0 in solver.support_
        if epsilon == 0.01:
            np.testing.assert_allclose(alpha, [0.0077, 0.7013, 0.6981], atol=5e-5)
    np.testing.assert_allclose(alpha, [0, np.sqrt(0.5), np.sqrt(0.5)], atol=1e-5)


# ---- parameters and special input ------------------------------------------------------------------------


def test_scales_of_columns_do_not_matter():
    K, y = matrix("wide")
    rng = np.random.default_rng(4)
    solver, alpha = fit(K, y, C=0.1, epsilon=0.05, epsilon_scale="max")
    factor, shift = rng.uniform(1e-6, 1e6, size=40), rng.normal(size=40)
    other, other_alpha = fit(K * factor + shift * factor, y, C=0.1, epsilon=0.05, epsilon_scale="max")
    np.testing.assert_allclose(other_alpha, alpha, atol=1e-8)
    new = rng.normal(size=(6, 40))
    np.testing.assert_allclose(
        other.decision_function(new * factor + shift * factor), solver.decision_function(new), atol=1e-7
    )


def test_epsilon_from_which_nothing_is_selected():
    K, y = matrix("square")
    for epsilon, scale in ((1.0, "max"), (1e9, "absolute")):
        solver, _ = fit(K, y, epsilon=epsilon, epsilon_scale=scale)
        assert len(solver.support_) == 0
        assert solver.report_["converged"]
        np.testing.assert_array_equal(solver.decision_function(K), np.full(24, y.mean()))
        empty = solver.restrict(solver.support_)
        np.testing.assert_array_equal(empty.decision_function(K[:, :0]), np.full(24, y.mean()))
    assert len(fit(K, y, epsilon=0.999, epsilon_scale="max")[0].support_) == 1


def test_epsilon_zero_is_least_squares():
    K, y = matrix("tall")
    _, alpha = fit(K, y, C=np.inf, epsilon=0.0)
    expected, *_ = np.linalg.lstsq(standardised(K), y - y.mean(), rcond=None)
    np.testing.assert_allclose(alpha, expected, atol=1e-8)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e9])
def test_constant_column_is_left_out_with_a_warning(value):
    K, y = matrix("constant column")
    K[:, [3, 7]] = value
    with pytest.warns(ConstantColumnWarning, match="2 of 24 columns are constant and are left out") as record:
        solver = PSVR(kernel="features", epsilon=0.0, C=1.0).fit(K, y)
    assert len(record) == 1
    assert record[0].filename == __file__
    assert not {3, 7} & set(solver.support_)
    assert solver.report_["constant_columns"] == 2
    assert np.isfinite(solver.decision_function(K)).all()
    K, y = matrix("constant column")
    K[:, 3] = value
    with pytest.warns(ConstantColumnWarning, match="1 of 24 columns is constant and is left out"):
        PSVR(kernel="features", epsilon=0.0, C=1.0).fit(K, y)


def test_constant_labels():
    K, _ = matrix("square")
    solver, alpha = fit(K, np.full(24, 2.5))
    assert not alpha.any()
    assert solver.report_["converged"]
    np.testing.assert_array_equal(solver.predict(K), np.full(24, 2.5))


def test_classes_are_minus_one_and_one():
    K, y = matrix("square")
    names = np.where(y > 1, "site", "decoy")
    classifier = PSVC(C=0.1, kernel="features").fit(K, names)
    regressor = PSVR(C=0.1, kernel="features").fit(K, np.where(y > 1, 1.0, -1.0))
    assert classifier.intercept_ == np.mean(np.where(y > 1, 1, -1))
    np.testing.assert_array_equal(classifier.decision_function(K), regressor.decision_function(K))
    assert list(classifier.classes_) == ["decoy", "site"]
    np.testing.assert_array_equal(classifier.predict(K) == "site", classifier.decision_function(K) > 0)


def test_gram_matrix_and_features_agree():
    for shape in ("square", "indefinite"):
        K, y = matrix(shape)
        gram, features = PSVR(C=0.5).fit(K, y), PSVR(C=0.5, kernel="features").fit(K, y)
        np.testing.assert_array_equal(gram.decision_function(K), features.decision_function(K))


def test_layouts_give_the_same_bytes(tmp_path):
    K, y = matrix("indefinite")
    np.save(tmp_path / "K.npy", K)
    mapped = np.load(tmp_path / "K.npy", mmap_mode="r")
    expected = PSVR().fit(K, y).decision_function(K).tobytes()
    wider = np.zeros((48, 48))
    wider[::2, ::2] = K
    for other in (np.asfortranarray(K), mapped, wider[::2, ::2]):
        assert PSVR().fit(other, y).decision_function(K).tobytes() == expected


# ---- bad input -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["precomputed", "features"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_matrix_that_is_not_finite_is_refused(kernel, value):
    K, y = matrix("square")
    K[5, 2] = value
    with pytest.raises(GramError, match="row 5"):
        PSVR(kernel=kernel).fit(K, y)


def test_a_matrix_of_the_wrong_shape_is_refused():
    K, y = matrix("square")
    with pytest.raises(GramError, match="24 × 23"):
        PSVR().fit(K[:, 1:], y)
    with pytest.raises(LabelError, match="23 labels for 24 rows"):
        PSVR().fit(K, y[1:])
    solver = PSVR(kernel="features").fit(K[:, 1:], y)
    with pytest.raises(GramError):
        solver.predict(K)


def test_labels_of_one_class_or_three_are_refused():
    K, _ = matrix("square")
    with pytest.raises(LabelError, match="of one class, site"):
        PSVC().fit(K, np.repeat("site", 24))
    with pytest.raises(LabelError, match="PairwiseVoting"):
        PSVC().fit(K, np.arange(24) % 3)


@pytest.mark.parametrize(
    "params", [{"C": 0}, {"C": -1.0}, {"C": np.nan}, {"epsilon": -1e-9}, {"epsilon": np.inf}, {"tol": 0}]
)
def test_parameters_outside_their_domain_are_refused(params):
    K, y = matrix("square")
    ((name, _),) = params.items()
    with pytest.raises(ParameterError, match=name):
        PSVR(**params).fit(K, y)


@pytest.mark.parametrize("C", [np.inf, 0.1])
def test_no_convergence_is_a_warning_with_the_gap(C):
    K, y = matrix("square")
    solver = PSVR(C=C, epsilon=0.01, max_iter=5)
    with pytest.warns(ConvergenceWarning) as record:
        solver.fit(K, y)
    assert len(record) == 1
    assert record[0].filename == __file__
    report = solver.report_
    assert f"gap {report['gap']:.3g}" in str(record[0].message)
    assert report["converged"] is False
    assert report["iterations"] == 5
    assert report["gap"] > 1e-6


@pytest.mark.parametrize("solver", [PSVC, PSVR])
def test_a_search_goes_from_simple_to_complex_within_its_limits(solver):
    grid, limits = solver.declared.search.grid, solver.declared.search.limits
    for name, values in grid.items():
        low, high = limits[name]
        assert 0 < low < high
        assert values == sorted(values)
        assert low <= values[0] < values[-1] <= high
    assert limits["epsilon"][0] >= 10 * solver().tol
    # larger bounds and less ε leave the coefficients more freedom
    assert solver(C=0.1).complexity() < solver(C=0.2).complexity()
    assert solver(C=0.1, epsilon=0.2).complexity() < solver(C=0.1, epsilon=0.1).complexity()
