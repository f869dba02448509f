"""The primal machine against scikit-learn, closed forms and itself on other forms of the same features."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.svm import LinearSVC as LiblinearSVC
from threadpoolctl import threadpool_limits

from seqkern.core.errors import GramError, ParameterError
from seqkern.kernels.features import FeatureBlocks
from seqkern.solvers import CSVC, LinearSVC, PrimalSVC
from seqkern.solvers.svm import primal
from seqkern.solvers.svm import primal as conditioner
from seqkern.solvers.svm.primal import DiagonalConditioner, FullConditioner, PrimalClassifiers, Rows, best_step

EXACT = 1e-12


def problem(n=400, d=7, classes=3, seed=3):
    """Return features, labels that overlap, and new features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 50, d)) * np.linspace(0.2, 3, d) + 1.0
    score = X[:, -1] + 0.7 * X[:, 0] ** 2 + rng.normal(size=n + 50)
    y = np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)
    return X[:n], y[:n], X[n:]


def value(weights, X, y, costs, squared=False):
    """Return the primal value of one machine, y −1 and 1."""
    slack = 1 - y * (X @ weights[:-1] + weights[-1])
    slack = slack if squared else np.maximum(slack, 0)
    return 0.5 * weights[:-1] @ weights[:-1] + costs @ slack**2


@pytest.mark.parametrize("C", [0.003, 1.0, 300.0])
@pytest.mark.parametrize("classes", [2, 4])
def test_as_liblinear(C, classes):
    X, y, new = problem(classes=classes)
    ours = PrimalSVC(C=C, tol=EXACT).fit(X, y)
    # it penalises the bias, the less the larger the constant feature is
    theirs = LiblinearSVC(loss="squared_hinge", dual=False, C=C, intercept_scaling=3e3, tol=1e-10, max_iter=10**5)
    decisions = theirs.fit(X, y).decision_function(new)
    np.testing.assert_allclose(ours.decision_function(new), decisions, rtol=0, atol=2e-5)
    assert ours.coef_.shape == theirs.coef_.shape


def test_as_a_general_optimiser_with_weights_of_classes():
    X, y, _ = problem(classes=3)
    weights = {0: 3.0, 1: 0.5, 2: 1.0}
    ours = PrimalSVC(C=0.2, class_weight=weights, tol=EXACT).fit(X, y)
    costs = 0.2 * np.array([weights[code] for code in y.tolist()])
    for m in range(3):
        signs = np.where(y == m, 1.0, -1.0)
        found = minimize(value, np.zeros(8), args=(X, signs, costs), method="BFGS", options={"gtol": 1e-8})
        np.testing.assert_allclose(np.append(ours.coef_[m], ours.intercept_[m]), found.x, atol=2e-5)
    balanced = PrimalSVC(class_weight="balanced", tol=EXACT).fit(X[y > 0], y[y > 0])
    given = dict(enumerate(len(y) / (3 * np.bincount(y))))
    assert PrimalSVC(class_weight="balanced").fit(X, y).coef_.tobytes() == (
        PrimalSVC(class_weight=given).fit(X, y).coef_.tobytes()
    )
    assert balanced.coef_.shape == (1, 7)


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 0.1, 1: 9.0}])
def test_least_squares_has_a_closed_form(class_weight):
    X, y, _ = problem(classes=2)
    y = (np.arange(len(y)) % 4 == 0).astype(int) | (y > 0)
    ours = PrimalSVC(C=2.0, loss="squared", class_weight=class_weight, tol=EXACT).fit(X, y)
    factors = {None: np.ones(2), "balanced": len(y) / (2 * np.bincount(y))}
    factors = np.array([0.1, 9.0]) if isinstance(class_weight, dict) else factors[class_weight]
    costs, augmented = 2.0 * factors[y], np.c_[X, np.ones(len(X))]
    left = np.diag([*np.ones(7), 0.0]) + 2 * (augmented.T * costs) @ augmented
    exact = np.linalg.solve(left, 2 * (augmented.T * costs) @ (2.0 * y - 1))
    np.testing.assert_allclose(np.append(ours.coef_[0], ours.intercept_), exact, atol=1e-6)


def test_the_gap_bounds_the_distance_from_the_minimum():
    X, y, _ = problem(classes=2)
    signs, costs = 2.0 * y - 1, np.full(len(y), 1.0)
    least = PrimalSVC(tol=1e-14).fit(X, y).report_["objective"]
    for max_iter in (1, 2, 3):
        with pytest.warns(UserWarning, match="before it converged"):
            solver = PrimalSVC(tol=1e-14, max_iter=max_iter).fit(X, y)
        own = value(np.append(solver.coef_[0], solver.intercept_), X, signs, costs)
        assert own == pytest.approx(solver.report_["objective"], rel=1e-12)
        assert 0 <= own - least <= solver.report_["gap"] * own
        # the dual point: α with Σ α y = 0
        slack = np.maximum(0, 1 - signs * (X @ solver.coef_[0] + solver.intercept_[0]))
        alpha = 2 * slack
        assert abs(alpha @ signs) <= 1e-9 * alpha.sum()
        dual = alpha.sum() - 0.5 * np.sum((X.T @ (alpha * signs)) ** 2) - alpha @ alpha / 4
        assert (own - dual) / own == pytest.approx(solver.report_["gap"], rel=1e-6)


def test_separable_records_with_a_high_cost():
    X = np.array([[0.0, 0.0], [0.0, 2.0], [2.0, 0.0], [2.0, 2.0]])
    solver = PrimalSVC(C=1e6, tol=EXACT).fit(X, [0, 0, 1, 1])
    np.testing.assert_allclose(solver.coef_, [[1.0, 0.0]], atol=1e-5)
    np.testing.assert_allclose(solver.intercept_, [-1.0], atol=1e-5)


@pytest.mark.parametrize("classes", [2, 3])
def test_forms_of_the_features(classes):
    X, y, new = problem(n=3000, classes=classes)
    X[np.abs(X) < 0.5] = 0
    single = X.astype(np.float32), new.astype(np.float32)
    dense = PrimalSVC(tol=1e-10).fit(X, y)
    sparse = PrimalSVC(tol=1e-10).fit(csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-5)
    decisions = dense.decision_function(new)
    np.testing.assert_allclose(dense.decision_function(csr_array(new)), decisions, atol=1e-12)
    np.testing.assert_allclose(dense.decision_function(FeatureBlocks.of(new)), decisions, atol=1e-12)
    blocks = PrimalSVC(tol=1e-7).fit(FeatureBlocks.of(single[0]), y)
    np.testing.assert_allclose(blocks.decision_function(FeatureBlocks.of(single[1])), decisions, atol=2e-3)
    assert blocks.report_["converged"]
    small = blocks.restrict(blocks.support_)
    np.testing.assert_array_equal(small.decision_function(new), blocks.decision_function(new))


def test_blocks_that_are_computed_anew_or_taken_give_the_same_bits():
    X, y, _ = problem(n=5000)
    X = X.astype(np.float32)
    asked = []

    def compute(rows):
        values = X[rows]
        asked.append(values.nbytes)
        return values

    stored = PrimalSVC().fit(FeatureBlocks.of(X), y)
    anew = PrimalSVC().fit(FeatureBlocks(X.shape, np.float32, compute), y)
    taken = PrimalSVC().fit(FeatureBlocks.of(X[::-1].copy()).take(np.arange(5000)[::-1]), y)
    assert stored.coef_.tobytes() == anew.coef_.tobytes() == taken.coef_.tobytes()
    assert max(asked) < X.nbytes / 2
    with threadpool_limits(limits=2):
        assert PrimalSVC().fit(FeatureBlocks.of(X), y).coef_.tobytes() == stored.coef_.tobytes()


def test_rounding_ends_a_fit_that_cannot_become_better():
    X, y, _ = problem(n=3000)
    with pytest.warns(UserWarning, match="before it converged"):
        solver = PrimalSVC(tol=1e-30).fit(FeatureBlocks.of(X.astype(np.float32)), y)
    assert solver.report_["iterations"] < 20
    assert solver.report_["gap"] < 1e-8


def test_a_fit_begins_with_that_for_another_cost(monkeypatch):
    X, y, new = problem(n=1000)
    first = PrimalSVC(C=1.0, tol=1e-10).fit_after(None, X, y)
    alone = PrimalSVC(C=1.5, tol=1e-10).fit(X, y)
    monkeypatch.setattr(Rows, "second_moments", lambda rows: pytest.fail("the matrix was computed again"))
    after = PrimalSVC(C=1.5, tol=1e-10).fit_after(first, X, y)
    assert after.report_["iterations"] < alone.report_["iterations"]
    np.testing.assert_allclose(after.decision_function(new), alone.decision_function(new), atol=1e-6)


def test_a_fit_after_another_sort_of_solver_begins_anew():
    X, y, _ = problem(n=200, classes=2)
    once = PrimalSVC().fit(X, y)
    for previous in (LinearSVC().fit(X, y), PrimalSVC().fit(X[:, :3], y), PrimalSVC().fit(*problem(n=200)[:2])):
        assert clone(once).fit_after(previous, X, y).coef_.tobytes() == once.coef_.tobytes()


def test_many_features_without_their_products(monkeypatch):
    X, y, new = problem(n=300, d=9)
    exact = PrimalSVC(tol=1e-10).fit(csr_array(X), y)
    monkeypatch.setattr(conditioner, "MOST_SQUARE", 4)
    monkeypatch.setattr(Rows, "second_moments", lambda rows: pytest.fail("a product of all features"))
    for features in (X, csr_array(X)):
        solver = PrimalSVC(tol=1e-10).fit(features, y)
        np.testing.assert_allclose(solver.decision_function(new), exact.decision_function(new), atol=1e-5)


def test_few_records_of_many_features():
    X, y, new = problem(n=30, d=500)
    assert isinstance(conditioner.make_conditioner(Rows(X)), DiagonalConditioner)
    assert isinstance(conditioner.make_conditioner(Rows(X[:, :100])), FullConditioner)
    assert isinstance(conditioner.make_conditioner(Rows(csr_array(X * (X > 4)))), DiagonalConditioner)
    theirs = LiblinearSVC(loss="squared_hinge", dual=False, intercept_scaling=3e3, tol=1e-10, max_iter=10**5)
    decisions = theirs.fit(X, y).decision_function(new)
    np.testing.assert_allclose(PrimalSVC(tol=1e-10).fit(X, y).decision_function(new), decisions, atol=1e-3)


def test_a_matrix_that_rounding_made_indefinite_is_mended():
    moments = np.ones((4, 4)) - 1e-3 * np.eye(4)
    full = FullConditioner.__new__(FullConditioner)
    full.moments, full._factors = moments, {}
    prepared = full.prepare(np.array([1e6, 1e6]))
    assert np.isfinite(full.solve(np.ones((2, 4)), prepared)).all()
    assert len(full._factors) == 1


def test_preconditioners_agree_on_one_feature():
    rows = Rows(np.array([[1.0], [-1.0], [2.0], [-2.0]]))
    kappas = np.array([0.5, 2.0])
    full, diagonal = FullConditioner(rows), DiagonalConditioner(rows)
    solved = [one.solve(np.ones((2, 2)), one.prepare(kappas)) for one in (full, diagonal)]
    np.testing.assert_allclose(*solved)
    np.testing.assert_allclose(solved[0], 1 / np.array([[11.0, 4.0], [41.0, 16.0]]))


def test_products_with_rows(monkeypatch):
    X, _, _ = problem(n=2500)
    rng = np.random.default_rng(0)
    weights, coefficients = rng.normal(size=(3, 8)), rng.normal(size=(3, 2500))
    augmented = np.c_[X, np.ones(2500)]
    for features in (X, csr_array(X), FeatureBlocks.of(X)):
        rows = Rows(features)
        dots = augmented @ weights.T
        np.testing.assert_allclose(rows.dots(weights), dots.T, atol=1e-10)
        np.testing.assert_allclose(rows.sums(coefficients), coefficients @ augmented, atol=1e-9)
        both = rows.both(weights, coefficients)
        np.testing.assert_allclose(both[0], dots.T, atol=1e-10)
        np.testing.assert_allclose(both[1], (coefficients * dots.T) @ augmented, atol=1e-8)
        with monkeypatch.context() as patch:
            patch.setattr(primal, "SAMPLED", 8000)
            np.testing.assert_allclose(rows.second_moments(), augmented.T @ augmented, atol=1e-8)
        np.testing.assert_allclose(rows.squares(), np.diag(augmented.T @ augmented), atol=1e-8)
        with monkeypatch.context() as patch:
            patch.setattr(primal, "SAMPLED", 100)  # every third row
            third = augmented[::3]
            np.testing.assert_allclose(rows.second_moments(), third.T @ third * (2500 / len(third)), rtol=1e-9)


def test_a_part_of_the_rows_makes_a_good_preconditioner(monkeypatch):
    X, y, new = problem(n=4000)
    monkeypatch.setattr(primal, "SAMPLED", 8000)
    for loss in ("squared_hinge", "squared"):
        whole = PrimalSVC(loss=loss, tol=1e-10).fit(X, y)
        with monkeypatch.context() as patch:
            patch.setattr(primal, "SAMPLED", 8)
            part = PrimalSVC(loss=loss, tol=1e-10).fit(X, y)
        assert part.report_["iterations"] <= whole.report_["iterations"] + 2
        np.testing.assert_allclose(part.decision_function(new), whole.decision_function(new), atol=1e-5)


@pytest.mark.parametrize("squared", [False, True])
def test_best_step_is_the_least(squared):
    rng = np.random.default_rng(2)
    for _ in range(20):
        slope, curvature = rng.normal(), rng.uniform(0, 2)
        margins, changes, costs = rng.normal(size=9), rng.normal(size=9), rng.uniform(0.1, 2, 9)

        def value(t, given=(slope, curvature, margins, changes, costs)):
            slope, curvature, margins, changes, costs = given
            slack = margins - t * changes if squared else np.maximum(margins - t * changes, 0)
            return slope * t + 0.5 * curvature * t**2 + costs @ slack**2

        t = best_step(slope, curvature, margins, changes, costs, squared, start=1.0)
        assert all(value(t) <= value(t + step) + 1e-12 for step in (-1.0, -1e-4, 1e-4, 1.0))


def test_no_record_within_the_margin_leaves_no_weights():
    rows = Rows(np.array([[1.0], [-1.0]]))
    machines = PrimalClassifiers(
        rows, FullConditioner(rows), np.array([[1.0, -1.0]]), np.full((1, 2), 1e-12), squared=False
    )
    certificate, _ = machines.run(1e-6, 50)
    assert certificate.gap[0] <= 1e-6
    np.testing.assert_allclose(machines.weights, 0, atol=1e-11)


def test_weights_of_classes():
    X, y, new = problem()
    several = PrimalSVC().fit(X, y)
    assert several.linear() is None
    np.testing.assert_allclose(
        new @ several.selection().by_class.T + several.intercept_, several.decision_function(new), atol=1e-12
    )
    two = PrimalSVC().fit(X, y > 0)
    assert two.selection().by_class is None
    coefficients, constant = two.linear()
    np.testing.assert_allclose(new @ coefficients + constant, two.decision_function(new), atol=1e-12)


def test_features_that_are_no_numbers():
    X, y, _ = problem(n=3000)
    X = X.astype(np.float32)
    X[2700, 3] = np.nan
    for features in (FeatureBlocks.of(X), FeatureBlocks.of(csr_array(X))):
        with pytest.raises(GramError, match="row 2700"):
            PrimalSVC().fit(features, y)
    X[2700, 3] = 1.0
    with pytest.raises(GramError, match=r"largest value of the features is .*, beyond"):
        PrimalSVC().fit(FeatureBlocks.of(X * np.float32(1e30)), y)


def test_who_takes_no_blocks_says_so():
    X, y, _ = problem(n=100, classes=2)
    with pytest.raises(GramError, match="primal_svc"):
        CSVC().fit(FeatureBlocks.of(X), y)
    with pytest.raises(GramError, match="too small"):
        PrimalSVC().fit(FeatureBlocks.of(X[:1]), y[:1])
    solver = PrimalSVC().fit(FeatureBlocks.of(X), y)
    with pytest.raises(GramError, match="fitted with 7"):
        solver.decision_function(FeatureBlocks.of(X[:, :4]))
    with pytest.raises(ParameterError, match="loss"):
        PrimalSVC(loss="hinge").fit(X, y)
