"""Bounds of the leave-one-out error: worked numbers, naive twins, and leaving out in earnest."""

import numpy as np
import pytest
from scipy.optimize import minimize

from seqkern.kernels import SpectrumKernel
from seqkern.solvers import CSVC, NuSVC
from seqkern.solvers.svm.margins import leave_one_out, radius_margin, smallest_sphere, span_squares, xi_alpha

WORDS = ["SAY", "BAY", "SAD", "BAD"]
Y = np.array([1.0, 1.0, -1.0, -1.0])


def words():
    """Return the 2-spectrum matrix of the four words."""
    return SpectrumKernel(2, normalize=False, alphabet="ABDSY")(WORDS)


def problem(seed, n=24, width=3, noise=0.8):
    """Return points of two overlapping classes, their Gram matrix and labels."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    points = rng.normal(size=(n, width)) + noise * y[:, None]
    return points, np.exp(-((points[:, None] - points[None]) ** 2).sum(-1) / width), y


def alphas(solver, y):
    """Return α of all training rows."""
    found = np.zeros(len(y))
    found[solver.support_] = solver.dual_coef_
    return found * y


def left_out(K, y, solver):
    """Return the decision about each sample of a solver trained without it."""
    found = np.empty(len(y))
    for p in range(len(y)):
        rest = np.delete(np.arange(len(y)), p)
        found[p] = solver.fit(K[np.ix_(rest, rest)], y[rest]).decision_function(K[p : p + 1, rest])[0]
    return found


def test_words():
    K = words()
    solver = CSVC(C=np.inf, tol=1e-9).fit(K, Y)
    found = solver.leave_one_out(K, Y)
    assert alphas(solver, Y).sum() == pytest.approx(2)
    assert found.radius_square == pytest.approx(1)
    assert found.radius_margin == pytest.approx(0.5)
    # with α = ½ each, 2 · ½ · 2 ≥ 1 for all; each word is a combination of the others: SAY = BAY + SAD − BAD
    half = leave_one_out(K, np.full(4, 0.5), Y, np.full(4, np.inf), Y)
    assert (half.xi_alpha, half.span) == (1.0, 0.0)
    np.testing.assert_allclose(span_squares(K, np.full(4, 0.5), np.full(4, np.inf)), 0, atol=1e-8)


# ---- the smallest sphere -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_sphere_is_the_smallest(seed):
    points, _, _ = problem(seed, n=15)
    found = smallest_sphere(points @ points.T, tol=1e-8)

    def largest(centre):
        return ((points - centre) ** 2).sum(axis=1).max()

    best = min(
        (
            minimize(
                largest,
                points.mean(axis=0) + 0.1 * k,
                method="Nelder-Mead",
                options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000},
            ).fun
        )
        for k in range(3)
    )
    assert found.square == pytest.approx(best, rel=1e-5)
    assert found.lower <= found.square
    assert found.gap < 1e-6
    centre = found.weights @ points
    assert found.square == pytest.approx(largest(centre), rel=1e-12)


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_sphere_in_other_units(scale):
    K = problem(1)[1]
    assert smallest_sphere(K * scale).square == pytest.approx(scale * smallest_sphere(K).square, rel=1e-3)


def test_sphere_of_one_point_and_of_equal_points():
    assert smallest_sphere(np.array([[3.0]])).square == 0
    assert smallest_sphere(np.ones((4, 4))).square == 0


# ---- span --------------------------------------------------------------------------------------------------


def naive_span(K, alpha, cost):
    """Return S_p² as the least distance of φ(x_p) from the plane through the other free support vectors."""
    free = [i for i in range(len(alpha)) if 1e-9 * cost < alpha[i] < (1 - 1e-9) * cost]
    found = np.zeros(len(alpha))
    for p in np.flatnonzero(alpha > 0):
        others = [i for i in free if i != p]
        # min over λ with Σ λ = 1 of K_pp − 2 λᵀ k_p + λᵀ K λ, by its linear system
        size = len(others)
        A = np.ones((size + 1, size + 1))
        A[-1, -1] = 0
        A[:size, :size] = K[np.ix_(others, others)]
        right = np.append(K[others, p], 1.0)
        mixed = np.linalg.lstsq(A, right, rcond=None)[0][:size]
        found[p] = K[p, p] - 2 * mixed @ K[others, p] + mixed @ K[np.ix_(others, others)] @ mixed
    return found


@pytest.mark.parametrize("C", [0.5, 2.0])
def test_span_is_the_distance_from_the_others(C):
    _, K, y = problem(3)
    alpha = alphas(CSVC(C=C, tol=1e-10).fit(K, y), y)
    assert 3 < np.sum((alpha > 0) & (alpha < C)) < 24
    np.testing.assert_allclose(span_squares(K, alpha, np.full(24, C)), naive_span(K, alpha, C), rtol=1e-5, atol=1e-7)


def test_span_decides_as_leaving_out_where_support_vectors_stay():
    """Where the sets of free and bounded support vectors stay, f changes by y α S² exactly."""
    held, changed = 0, 0
    for seed in range(6):
        _, K, y = problem(seed, n=16)
        solver = CSVC(C=0.7, tol=1e-12)
        alpha = alphas(solver.fit(K, y), y)
        estimated = solver.leave_one_out(K, y).decisions
        for p in range(16):
            rest = np.delete(np.arange(16), p)
            other = CSVC(C=0.7, tol=1e-12).fit(K[np.ix_(rest, rest)], y[rest])
            before, after = alpha[rest], alphas(other, y[rest])
            same = all(np.array_equal(a, b) for a, b in zip(kinds(before, 0.7), kinds(after, 0.7), strict=True))
            if same and np.any((after > 1e-9) & (after < 0.7 - 1e-9)):
                held += 1
                assert estimated[p] == pytest.approx(other.decision_function(K[p : p + 1, rest])[0], abs=1e-6)
            else:
                changed += 1
    assert held > 20
    assert changed > 0


def kinds(alpha, C):
    """Return which α are free, and which at their bound."""
    return (alpha > 1e-9) & (alpha < C - 1e-9), alpha >= C - 1e-9


def test_samples_that_are_no_support_vectors_stay():
    _, K, y = problem(4)
    solver = CSVC(C=1.0, tol=1e-10).fit(K, y)
    others = np.setdiff1d(np.arange(24), solver.support_)
    np.testing.assert_array_equal(solver.leave_one_out(K, y).decisions[others], solver.decision_function(K)[others])


def test_identical_samples_have_no_span():
    K = np.array([[1.0, 1.0, -1.0], [1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])
    np.testing.assert_allclose(span_squares(K, np.array([0.25, 0.25, 0.5]), np.full(3, np.inf)), [0, 0, 4], atol=1e-8)


def test_no_free_support_vector():
    K = np.diag([1.0, 2.0, 3.0, 1.0])
    np.testing.assert_array_equal(span_squares(K, np.full(4, 0.1), np.full(4, 0.1)), K.diagonal())


# ---- ξα, radius and margin ---------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [1.0, 10.0])
@pytest.mark.parametrize("seed", range(3))
def test_xi_alpha_bounds_leaving_out(C, seed):
    _, K, y = problem(seed)
    solver = CSVC(C=C, tol=1e-10)
    found = solver.fit(K, y).leave_one_out(K, y)
    real = np.mean(y * left_out(K, y, CSVC(C=C, tol=1e-10)) <= 0)
    assert real <= found.xi_alpha + 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_xi_alpha_of_a_kernel_with_negative_values(seed):
    points, _, y = problem(seed)
    K = points @ points.T
    solver = CSVC(C=1.0, tol=1e-10)
    found = solver.fit(K, y).leave_one_out(K, y)
    assert np.mean(y * left_out(K, y, CSVC(C=1.0, tol=1e-10)) <= 0) <= found.xi_alpha


def test_xi_alpha_is_no_bound_where_a_reduced_fit_has_no_free_support_vector():
    points = np.array([3.0, -3.0, 3.0, 3.0, 2.0])
    K, y = np.outer(points, points), np.array([1.0, -1.0, -1.0, -1.0, 1.0])
    solver = CSVC(C=0.1, tol=1e-12).fit(K, y)
    assert kinds(alphas(solver, y), 0.1)[0].any()
    assert solver.leave_one_out(K, y).xi_alpha == 0.8
    rest = np.delete(np.arange(5), 1)  # the sample that ξα does not count as an error
    reduced = CSVC(C=0.1, tol=1e-12).fit(K[np.ix_(rest, rest)], y[rest])
    assert not kinds(alphas(reduced, y[rest]), 0.1)[0].any()
    assert np.mean(y * left_out(K, y, CSVC(C=0.1, tol=1e-12)) <= 0) == 1.0


def test_xi_alpha_by_its_formula():
    _, K, y = problem(2)
    solver = CSVC(C=1.0).fit(K, y)
    alpha, f = alphas(solver, y), solver.decision_function(K)
    count = sum(1 for i in range(24) if alpha[i] > 0 and 2 * alpha[i] * 1.0 + max(0, 1 - y[i] * f[i]) >= 1)
    assert xi_alpha(K, alpha, y, f) == count / 24


def test_hard_margin_bound_is_the_limit():
    _, K, y = problem(1, noise=2.0)
    limit = CSVC(C=np.inf, tol=1e-8).fit(K, y).leave_one_out(K, y)
    near = CSVC(C=1e8, tol=1e-8).fit(K, y).leave_one_out(K, y)
    assert near.radius_margin == pytest.approx(limit.radius_margin, rel=1e-4)
    alpha = alphas(CSVC(C=np.inf, tol=1e-8).fit(K, y), y)
    assert limit.radius_margin == pytest.approx(
        limit.radius_square * alpha @ (K * np.outer(y, y)) @ alpha / 24, rel=1e-3
    )


def test_radius_margin_is_that_of_squared_errors_on_the_diagonal():
    """The functions serve the L2 soft margin: infinite cost, and the ridge on the diagonal."""
    _, K, y = problem(5)
    ridge = K + np.eye(24) / 2
    solver = CSVC(C=np.inf, tol=1e-9).fit(ridge, y)
    alpha = alphas(solver, y)
    sphere = smallest_sphere(ridge)
    f = solver.decision_function(ridge)
    assert radius_margin(sphere.square, alpha, y, np.full(24, np.inf), f) == pytest.approx(
        sphere.square * alpha.sum() / 24
    )


# ---- solvers -----------------------------------------------------------------------------------------------


def test_nu_svm_has_the_bounds_of_its_c_svm():
    _, K, y = problem(2)
    nu = NuSVC(nu=0.4, tol=1e-8).fit(K, y)
    other = CSVC(C=nu.report_["C"], tol=1e-8).fit(K, y).leave_one_out(K, y)
    found = nu.leave_one_out(K, y)
    assert found.radius_margin == pytest.approx(other.radius_margin, rel=1e-3)
    np.testing.assert_allclose(found.decisions, other.decisions, atol=1e-3)


def test_labels_of_any_type_and_class_weights():
    _, K, y = problem(2)
    names = np.where(y > 0, "site", "decoy")
    weight = {"site": 3.0, "decoy": 1.0}
    found = CSVC(class_weight=weight).fit(K, names).leave_one_out(K, names)
    same = CSVC(class_weight={1.0: 3.0, -1.0: 1.0}).fit(K, y[::1]).leave_one_out(K, y)
    np.testing.assert_array_equal(found.decisions, same.decisions)


def test_many_support_vectors_have_no_span(monkeypatch):
    monkeypatch.setattr("seqkern.solvers.svm.margins.MOST_SUPPORT", 5)
    _, K, y = problem(2)
    solver = CSVC().fit(K, y)
    found = solver.leave_one_out(K, y)
    assert found.span is None
    assert "more than" in found.remark
    assert solver.leave_one_out(K, y, limited=False).span is not None


def test_indefinite_kernel_has_no_span():
    K = np.array([[0.0, 1.0, 0.5], [1.0, 0.0, 0.2], [0.5, 0.2, -3.0]])
    alpha, y = np.full(3, 0.5), np.array([1.0, -1.0, 1.0])
    assert np.isnan(span_squares(K, alpha, np.full(3, 1.0))).all()
    found = leave_one_out(K, alpha, y, np.full(3, 1.0), y)
    assert (found.span, found.decisions) == (None, None)
    assert "not positive semi-definite" in found.remark


def test_squared_errors_are_a_hard_margin_with_a_ridge():
    """Where the support vectors stay the same, the span rule is leaving out; with squared errors few sets change."""
    _, K, y = problem(3, n=20, noise=1.0)
    solver = CSVC(C=0.05, slack="squared", class_weight={-1.0: 1.0, 1.0: 2.0}, tol=1e-12)
    fitted = CSVC(C=0.05, slack="squared", class_weight={-1.0: 1.0, 1.0: 2.0}, tol=1e-12).fit(K, y)
    assert len(fitted.support_) == len(y)
    np.testing.assert_allclose(fitted.leave_one_out(K, y).decisions, left_out(K, y, solver), atol=1e-7)
