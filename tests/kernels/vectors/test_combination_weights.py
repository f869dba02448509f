"""Weights of kernels, each against a solution found in another way."""

import itertools
import warnings

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize, nnls
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from seqkern.core.errors import LabelError
from seqkern.kernels import CombinationKernel, SpectrumKernel
from seqkern.kernels.vectors.combination import (
    centred_products,
    class_signs,
    learn_alignment,
    learn_mkl,
    targets,
    variance,
)

N = 30
Y = np.where(np.arange(N) % 2, 1.0, -1.0)
CLASSES = np.arange(N) % 3
REAL = np.random.default_rng(5).standard_normal(N)
ONES = np.ones


def gram(signal, dimension, seed, width=None, n=N, y=Y):
    """Return a Gram matrix of random points, the classes apart by `signal` in one of the dimensions."""
    points = np.random.default_rng(seed).standard_normal((n, dimension))
    points[:, 0] += signal * y
    if width is None:
        return np.einsum("ik,jk->ij", points, points)
    return np.exp(-((points[:, None] - points) ** 2).sum(axis=2) / width)


GRAMS = [gram(1, 5, 1, 5.0), gram(0.5, 10, 2, 10.0), gram(0, 5, 3, 5.0), gram(0.8, 20, 4)]
SCALES = np.array([variance(K) for K in GRAMS])


def learn(grams, y, **changed):
    """Return a combination kernel with the weights of MKL, or of the given options."""
    return CombinationKernel([SpectrumKernel(1)] * len(grams), **{"weights": "mkl", **changed}).learn_from(grams, y)


# ---- alignment ----------------------------------------------------------------------------------


def centred(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


def naive_alignment(K, L):
    """Return the centred alignment by its definition."""
    K, L = centred(K), centred(L)
    return np.trace(K.T @ L) / np.sqrt(np.trace(K.T @ K) * np.trace(L.T @ L))


LABELS = {
    "binary": (Y, np.outer(Y, Y)),
    "classes": (CLASSES, (CLASSES[:, None] == CLASSES).astype(float)),
    "real": (REAL, np.outer(REAL, REAL)),
    "names": (np.where(Y > 0, "yes", "no"), np.outer(Y, Y)),
}


@pytest.mark.parametrize("name", LABELS)
def test_alignments_are_those_of_the_definition(name):
    y, ideal = LABELS[name]
    expected = [naive_alignment(K, ideal) for K in GRAMS]
    weights, report = learn_alignment(GRAMS, ONES(4), targets(y, N), joint=False)
    np.testing.assert_allclose(report["alignments"], expected, rtol=1e-11)
    np.testing.assert_allclose(weights, expected, rtol=1e-11)
    total = sum(w * K for w, K in zip(weights, GRAMS, strict=True))
    assert report["alignment"] == pytest.approx(naive_alignment(total, ideal), rel=1e-11)
    np.testing.assert_allclose(
        centred_products(GRAMS), [[np.sum(centred(K) * centred(L)) for L in GRAMS] for K in GRAMS], rtol=1e-11
    )


def test_products_are_the_same_in_any_blocks(monkeypatch):
    whole = centred_products(GRAMS)
    monkeypatch.setattr("seqkern.kernels.vectors.combination.BLOCK_BYTES", 8 * N * len(GRAMS) * 7)
    np.testing.assert_allclose(centred_products(GRAMS), whole, rtol=1e-13)


def best_by_enumeration(M, a):
    """Return the v ≥ 0 with the least vᵀMv − 2vᵀa, by trying every set of positive entries."""
    best, least = np.zeros(len(a)), 0.0
    for size in range(1, len(a) + 1):
        for chosen in itertools.combinations(range(len(a)), size):
            v = np.zeros(len(a))
            v[list(chosen)] = np.linalg.solve(M[np.ix_(chosen, chosen)], a[list(chosen)])
            value = v @ M @ v - 2 * v @ a
            if v.min() >= 0 and value < least:
                best, least = v, value
    return best


@pytest.mark.parametrize("name", LABELS)
def test_joint_alignment_solves_its_quadratic_program(name):
    y, ideal = LABELS[name]
    # the last is close to the mean of two others, and the signal of one is negative
    grams = [*GRAMS, GRAMS[0] + GRAMS[1] + 0.01 * np.diag(Y), 0.1 * GRAMS[2] - 0.2 * ideal]
    M = np.array([[np.sum(centred(K) * centred(L)) for L in grams] for K in grams])
    a = np.array([np.sum(centred(K) * centred(ideal)) for K in grams])
    weights, report = learn_alignment(grams, ONES(6), targets(y, N))
    R = np.linalg.cholesky(M)
    for expected in (best_by_enumeration(M, a), nnls(R.T, np.linalg.solve(R, a))[0]):
        np.testing.assert_allclose(weights / weights.sum(), expected / expected.sum(), atol=1e-6)
    assert weights[-1] == 0
    reached = naive_alignment(sum(w * K for w, K in zip(weights, grams, strict=True)), ideal)
    assert report["alignment"] == pytest.approx(reached, rel=1e-9)
    for other in np.random.default_rng(0).dirichlet(ONES(6), size=50):
        assert naive_alignment(sum(w * K for w, K in zip(other, grams, strict=True)), ideal) <= reached + 1e-9


def test_two_kernels_align_best_where_a_fine_grid_says():
    for first, second in itertools.combinations(GRAMS, 2):
        weights = learn([first, second], Y, weights="alignment", scale=None).weights_
        grid = np.linspace(0, 1, 20001)
        products, a = centred_products([first, second]), [np.sum(centred(K) * np.outer(Y, Y)) for K in (first, second)]
        norms = np.sqrt(
            grid**2 * products[0, 0] + 2 * grid * (1 - grid) * products[0, 1] + (1 - grid) ** 2 * products[1, 1]
        )
        best = grid[np.argmax((grid * a[0] + (1 - grid) * a[1]) / norms)]
        assert weights[0] == pytest.approx(best, abs=1e-4)


# ---- multiple kernel learning -------------------------------------------------------------------


def machine_value(weights, grams, y, cost):
    """Return J(d), by one LIBSVM machine solved to its limits."""
    K = np.ascontiguousarray(sum(w * one for w, one in zip(weights, grams, strict=True)))
    machine = SVC(kernel="precomputed", C=cost, tol=1e-9).fit(K, y)
    coef, support = machine.dual_coef_[0], machine.support_
    return np.abs(coef).sum() - 0.5 * coef @ K[np.ix_(support, support)] @ coef


def optimum(grams, y, cost, p):
    """Return the least upper value and its weights: the joint dual over α, a smooth problem in α and its bound t.

    Σα − ½‖S(α)‖_{p*} is maximised over α by SLSQP; the weights follow from S.
    """
    n = len(y)
    quadratic = [np.outer(y, y) * K for K in grams]
    start = np.where(y > 0, 1.0 / np.sum(y > 0), 1.0 / np.sum(y < 0)) * cost
    if p == 1:  # t ≥ ½ S_k for each k
        start = np.append(start, max(0.5 * start @ Q @ start for Q in quadratic))
        limits = [
            {
                "type": "ineq",
                "fun": lambda z, Q=Q: z[-1] - 0.5 * z[:n] @ Q @ z[:n],
                "jac": lambda z, Q=Q: np.append(-Q @ z[:n], 1),
            }
            for Q in quadratic
        ]
        limits.append({"type": "eq", "fun": lambda z: y @ z[:n], "jac": lambda z: np.append(y, 0)})
        found = minimize(
            lambda z: z[-1] - z[:n].sum(),
            start,
            jac=lambda z: np.append(-ONES(n), 1),
            bounds=[(0, cost)] * n + [(0, None)],
            constraints=limits,
            method="SLSQP",
            options={"ftol": 1e-13, "maxiter": 1000},
        )
        assert found.success
        return -found.fun
    q = p / (p - 1)

    def value(alpha):
        squares = np.array([alpha @ Q @ alpha for Q in quadratic])
        norm = np.sum(squares**q) ** (1 / q)
        slope = sum((s / norm) ** (q - 1) * (Q @ alpha) for s, Q in zip(squares, quadratic, strict=True))
        return 0.5 * norm - alpha.sum(), slope - 1

    found = minimize(
        value,
        start,
        jac=True,
        bounds=[(0, cost)] * n,
        constraints=[LinearConstraint(y[None], 0, 0)],
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    assert found.success
    return -found.fun


@pytest.mark.parametrize(("p", "cost"), [(1, 0.3), (1, 3.0), (1.2, 3.0), (3, 0.3)])
def test_the_objective_is_that_of_another_solution_and_the_gap_holds_it(p, cost):
    grams = [K / s for K, s in zip(GRAMS, SCALES, strict=True)]
    weights, report = learn_mkl(GRAMS, SCALES, Y[None], cost=cost, p=p, tol=1e-5)
    best = optimum(grams, Y, cost, p)
    assert report["converged"]
    assert report["gap"] <= 1e-5 * report["objective"]
    assert report["objective"] - report["gap"] - 1e-7 * best <= best <= report["objective"] + 1e-7 * best
    assert machine_value(weights, grams, Y, cost) == pytest.approx(best, rel=2e-5)
    assert np.sum(weights**p) == pytest.approx(1, abs=1e-12)
    assert weights.min() >= 0


def test_two_kernels_weigh_what_a_fine_grid_says():
    cost = 5.0
    grams = [K / s for K, s in zip(GRAMS[:2], SCALES, strict=False)]
    grid = np.linspace(0, 1, 101)
    values = [machine_value([w, 1 - w], grams, Y, cost) for w in grid]
    weights, report = learn_mkl(grams, ONES(2), Y[None], cost=cost, tol=1e-6)
    assert weights[0] == pytest.approx(grid[np.argmin(values)], abs=0.011)
    assert report["objective"] == pytest.approx(min(values), rel=1e-4)


def test_the_gap_shrinks_to_what_is_asked_and_never_hides_the_optimum():
    grams = [K / s for K, s in zip(GRAMS, SCALES, strict=True)]
    best, gaps = optimum(grams, Y, 1.0, 1), []
    for tol in (1e-1, 1e-2, 1e-4, 1e-6):
        report = learn_mkl(grams, ONES(4), Y[None], tol=tol)[1]
        assert report["relative_gap"] <= tol
        assert report["objective"] - report["gap"] <= best * (1 + 1e-8)
        assert report["objective"] >= best * (1 - 1e-8)
        gaps.append(report["gap"])
    assert gaps[-1] < 1e-4 * gaps[0]


def test_several_classes_are_the_sum_over_machines():
    grams = [gram(1, 5, 1, 5.0, y=(CLASSES == 0) * 2.0), gram(1, 6, 2, 6.0, y=(CLASSES == 1) * 2.0), GRAMS[2]]
    signs = class_signs(CLASSES, N)
    assert signs.shape == (3, N)
    grid = [(a, b, 1 - a - b) for a in np.linspace(0, 1, 13) for b in np.linspace(0, 1, 13) if a + b <= 1 + 1e-9]
    values = [sum(machine_value(np.abs(w), grams, y, 1.0) for y in signs) for w in grid]
    weights, report = learn_mkl(grams, ONES(3), signs, tol=1e-5)
    assert min(values) >= report["objective"] - report["gap"] - 1e-6
    assert report["objective"] == pytest.approx(min(values), rel=2e-3)
    np.testing.assert_allclose(weights, grid[np.argmin(values)], atol=0.09)


def test_weights_of_norm_two_are_proportional_to_what_the_machine_uses():
    grams = [K / s for K, s in zip(GRAMS, SCALES, strict=True)]
    weights = learn_mkl(grams, ONES(4), Y[None], p=2, tol=1e-7)[0]
    K = np.ascontiguousarray(sum(w * one for w, one in zip(weights, grams, strict=True)))
    machine = SVC(kernel="precomputed", C=1.0, tol=1e-9).fit(K, Y)
    coef, where = machine.dual_coef_[0], np.ix_(machine.support_, machine.support_)
    squares = np.array([coef @ one[where] @ coef for one in grams])
    np.testing.assert_allclose(weights, squares / np.linalg.norm(squares), rtol=1e-3)


@pytest.mark.parametrize(("p", "ratio"), [(2, 3.0), (3, 3.0 ** (1 / 2)), (1.5, 3.0**2)])
def test_of_one_kernel_on_two_scales_the_weights_are_known(p, ratio):
    # S is as the scales, and the best weights of norm p are as S^(1/(p − 1))
    weights = learn_mkl([GRAMS[0], 3 * GRAMS[0]], ONES(2), Y[None], p=p, tol=1e-8, max_iter=500)[0]
    assert weights[1] / weights[0] == pytest.approx(ratio, rel=1e-3)


def test_simple_mkl_keeps_the_larger_of_one_kernel_on_two_scales():
    weights, report = learn_mkl([GRAMS[0], 3 * GRAMS[0]], ONES(2), Y[None], tol=1e-6)
    np.testing.assert_array_equal(weights, [0, 1])
    assert report["converged"]


def test_large_p_gives_equal_weights():
    spread = [np.ptp(learn(GRAMS, Y, p=p).weights_) for p in (1, 1.5, 3, 10, 100)]
    assert all(after < before for before, after in itertools.pairwise(spread))
    assert spread[-1] < 1e-3


def test_too_few_tries_are_a_warning_with_the_gap_and_a_field():
    with pytest.warns(ConvergenceWarning, match="after 2 weights with a relative duality gap of"):
        found = learn(GRAMS, Y, tol=1e-6, max_iter=2)
    assert not found.report_["converged"]
    assert found.report_["gap"] > 1e-6 * found.report_["objective"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert learn(GRAMS, Y, tol=1e-6).report_["converged"]


@pytest.mark.parametrize("p", [1, 2])
def test_a_large_cost_needs_machines_that_are_solved_better(p):
    grams = [*GRAMS[:2], GRAMS[3]]
    exact = [learn(grams, Y, p=p, C=cost, tol=1e-5) for cost in (1e3, 1e5)]
    assert all(one.report_["converged"] for one in exact)
    # all units are separable: with any large cost the margin is hard
    assert exact[0].report_["objective"] == pytest.approx(exact[1].report_["objective"], rel=2e-5)
    np.testing.assert_allclose(exact[0].weights_, exact[1].weights_, atol=2e-2)


@pytest.mark.parametrize("p", [1, 2])
def test_one_kernel_has_all_the_weight(p):
    found = learn(GRAMS[:1], Y, p=p, tol=1e-6)
    assert found.weights_.tolist() == [1.0]
    assert found.report_["converged"]


# ---- all rules ----------------------------------------------------------------------------------

ALL = [
    {"weights": "uniform"},
    {"weights": "alignment"},
    {"weights": "alignment", "alignment": "independent"},
    {"weights": "mkl", "tol": 1e-6},
    {"weights": "mkl", "tol": 1e-6, "p": 1.5},
]


@pytest.mark.parametrize("options", ALL, ids=str)
def test_the_scale_of_a_kernel_does_not_matter(options):
    found = learn(GRAMS, Y, **options)
    assert found.weights_.sum() == pytest.approx(1, abs=1e-12)
    # powers of two: every step has the same bits
    scaled = learn([K * 4.0**k for k, K in enumerate(GRAMS)], Y, **options)
    np.testing.assert_array_equal(scaled.weights_, found.weights_)
    np.testing.assert_array_equal(scaled.scales_, found.scales_ * 4.0 ** np.arange(4))


def test_the_sum_of_scaled_kernels_has_a_variance_of_one():
    for options in ALL:
        found = learn(GRAMS, Y, **options)
        total = sum(w / s * K for w, s, K in zip(found.weights_, found.scales_, GRAMS, strict=True))
        assert np.trace(centred(total)) / N == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("options", ALL, ids=str)
def test_two_of_a_kind_share_their_weight(options):
    found = learn([GRAMS[0], GRAMS[1], GRAMS[0], GRAMS[3]], Y, **options)
    assert found.weights_[0] == pytest.approx(found.weights_[2], rel=1e-5)
    assert found.weights_[0] > 0
    if options["weights"] == "alignment" and "alignment" not in options:
        alone = learn([GRAMS[0], GRAMS[1], GRAMS[3]], Y, **options)
        assert found.weights_[0] + found.weights_[2] == pytest.approx(alone.weights_[0], rel=1e-5)
    if options.get("p", 1) == 1 and options["weights"] == "mkl":
        alone = learn([GRAMS[0], GRAMS[1], GRAMS[3]], Y, **options)
        assert found.weights_[0] + found.weights_[2] == pytest.approx(alone.weights_[0], abs=5e-3)


@pytest.mark.parametrize("options", ALL, ids=str)
def test_a_constant_kernel_gets_no_weight(options):
    found = learn([GRAMS[0], np.full((N, N), 3.0), GRAMS[1]], Y, **options)
    assert found.weights_[1] == 0
    np.testing.assert_array_equal(found.weights_[[0, 2]], learn([GRAMS[0], GRAMS[1]], Y, **options).weights_)
    only = learn([np.ones((N, N)), np.ones((N, N))], Y, **options) if options["weights"] == "uniform" else None
    assert only is None or only.weights_.tolist() == [0.5, 0.5]


def test_kernels_without_alignment_get_equal_weights_and_a_warning():
    with pytest.warns(UserWarning, match="no kernel is aligned"):
        found = learn([3 * np.eye(N) - np.outer(Y, Y), 2 * np.eye(N) - np.outer(Y, Y)], Y, weights="alignment")
    assert found.weights_.tolist() == [0.5, 0.5]


def test_labels_that_cannot_be_learned_from():
    with pytest.raises(LabelError, match="the labels are numbers"):
        learn(GRAMS, REAL)
    for rule in ("mkl", "alignment"):
        with pytest.raises(LabelError, match="learned without labels"):
            learn(GRAMS, None, weights=rule)
        with pytest.raises(LabelError, match="are the same"):
            learn(GRAMS, ONES(N), weights=rule)
        with pytest.raises(LabelError, match="NaN"):
            learn(GRAMS, np.where(Y > 0, np.nan, REAL), weights=rule)
        with pytest.raises(LabelError, match="30 samples"):
            learn(GRAMS, Y[:-1], weights=rule)
    assert learn(GRAMS, None, weights="uniform").weights_.tolist() == [0.25] * 4
