"""The C-SVM: exact numbers, scikit-learn as oracle, class weights, what it reports."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from sklearn.svm import NuSVC as LibsvmNuSVC

from seqkern.core.errors import ParameterError
from seqkern.solvers import CSVC, NuSVC, _linear, build_solver

SPECTRUM_2 = np.array([[2, 1, 1, 0], [1, 2, 0, 1], [1, 0, 2, 1], [0, 1, 1, 2]], dtype=float)
SUBSEQUENCES = np.array([[8, 4, 4, 2], [4, 8, 2, 4], [4, 2, 8, 4], [2, 4, 4, 8]], dtype=float)


def random_problem(n=80, seed=0):
    """Return an RBF Gram matrix, labels that overlap, and kernel values of new rows."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n + 20, 3))
    y = np.where(points[:, 0] + rng.normal(size=n + 20) > 0.4, 1.0, -1.0)
    kernel = np.exp(-((points[:, None] - points[None]) ** 2).sum(-1) / 4)
    return kernel[:n, :n].copy(), y[:n], kernel[n:, :n].copy()


def coefficients(solver, n):
    """Return α_i y_i for all n training rows."""
    out = np.zeros(n)
    out[solver.support_] = solver.dual_coef_
    return out


# ---- exact numbers (SPEC.md §4) --------------------------------------------------------------------------


@pytest.mark.parametrize("C", [1e6, np.inf])
def test_hard_margin_on_the_spectrum_gram(C):
    solver = CSVC(C=C, tol=1e-9).fit(SPECTRUM_2, [1, 1, -1, -1])
    coef = coefficients(solver, 4)
    assert 1 / np.sqrt(coef @ SPECTRUM_2 @ coef) == pytest.approx(1 / np.sqrt(2), abs=1e-9)
    np.testing.assert_allclose(solver.decision_function(SPECTRUM_2), [1, 1, -1, -1], atol=1e-9)


def test_not_separable_on_the_spectrum_gram():
    solver = CSVC(C=1).fit(SPECTRUM_2, [1, -1, -1, 1])
    np.testing.assert_allclose(np.abs(coefficients(solver, 4)), 1, atol=1e-12)
    assert solver.report_["n_support"] == 4


def test_separable_with_all_subsequences():
    solver = CSVC(C=1e6, tol=1e-9).fit(SUBSEQUENCES, [1, -1, -1, 1])
    np.testing.assert_allclose(coefficients(solver, 4), [0.5, -0.5, -0.5, 0.5], atol=1e-9)
    np.testing.assert_allclose(solver.decision_function(SUBSEQUENCES), [1, -1, -1, 1], atol=1e-9)


@pytest.mark.parametrize("decay", [0.5, 1.0])
def test_separable_with_the_string_kernel(decay):
    d4, d6 = decay**4, decay**6
    gram = np.array([[2 * d4 + d6 if i == j else (0 if i + j == 3 else d4) for j in range(4)] for i in range(4)])
    solver = CSVC(C=1e6, tol=1e-9).fit(gram, [1, -1, -1, 1])
    np.testing.assert_allclose(np.abs(coefficients(solver, 4)), decay**-6, rtol=1e-6)


def test_exclusive_or():
    points = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])
    gram = (1.0 + points @ points.T) ** 2
    solver = CSVC(C=1e6, tol=1e-9).fit(gram, [-1, 1, 1, -1])
    np.testing.assert_allclose(coefficients(solver, 4), [-0.125, 0.125, 0.125, -0.125], atol=1e-9)
    assert solver.intercept_ == pytest.approx(0, abs=1e-9)
    assert solver.report_["objective"] == pytest.approx(-0.25, abs=1e-9)


# ---- against scikit-learn --------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.05, 1.0, 50.0])
@pytest.mark.parametrize("weight", [None, "balanced", {-1.0: 0.3, 1.0: 2.0}])
def test_decisions_are_libsvm_s(C, weight):
    K, y, new = random_problem()
    oracle = SVC(kernel="precomputed", C=C, class_weight=weight).fit(K, y)
    solver = CSVC(C=C, class_weight=weight).fit(K, y)
    np.testing.assert_array_equal(solver.support_, oracle.support_)
    shift = solver.intercept_ - oracle.intercept_[0]
    np.testing.assert_allclose(solver.decision_function(new), oracle.decision_function(new) + shift, atol=1e-12)
    if (weight, C) != ("balanced", 0.05):  # there every coefficient is at its bound
        assert shift == 0
        np.testing.assert_array_equal(solver.predict(new), oracle.predict(new))


def test_where_every_coefficient_is_at_its_bound_b_is_in_the_middle():
    rng = np.random.default_rng(3)
    for n_positive in (19, 20, 21):
        y = np.where(np.arange(40) < n_positive, 1.0, -1.0)
        x = rng.normal(size=(40, 30)) + 0.3 * y[:, None]
        K = x @ x.T / 30
        solver = CSVC(C=0.01, class_weight="balanced").fit(K, y)
        product = solver.decision_function(K) - solver.intercept_
        gradient = y - product  # every α is at its cost: b lies between those of the classes
        assert len(solver.support_) == 40
        ends = gradient[y < 0].max(), gradient[y > 0].min()
        assert solver.intercept_ == pytest.approx(np.mean(ends))
        assert 0.3 < np.mean(solver.predict(K) > 0) < 0.7


def test_class_weights_from_a_config():
    K, y, new = random_problem()
    expected = CSVC(class_weight={-1.0: 0.3, 1.0: 2.0}).fit(K, y).decision_function(new)
    for weight in ({"-1": 0.3, "1": 2}, {-1: 0.3, "1.0": 2.0}):
        solver = build_solver({"solver": "csvc", "class_weight": weight}).fit(K, y)
        np.testing.assert_array_equal(solver.decision_function(new), expected)
    names = np.where(y > 0, "site", "decoy")
    named = CSVC(class_weight={"site": 2.0, "decoy": 0.3}).fit(K, names)
    np.testing.assert_array_equal(named.decision_function(new), expected)
    with pytest.raises(ParameterError, match="class_weight"):
        CSVC(class_weight={"site": 2.0, "decoi": 0.3}).fit(K, names)


def test_balanced_weights_move_the_threshold_to_the_rare_class():
    K, y, new = random_problem()
    keep = np.concatenate([np.flatnonzero(y < 0), np.flatnonzero(y > 0)[:6]])
    K, y, new = K[np.ix_(keep, keep)], y[keep], new[:, keep]
    plain, balanced = CSVC(C=1).fit(K, y), CSVC(C=1, class_weight="balanced").fit(K, y)
    assert np.sum(balanced.predict(new) > 0) > np.sum(plain.predict(new) > 0)


# ---- what is reported ------------------------------------------------------------------------------------


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("weight", [None, "balanced"])
def test_residual_is_the_largest_violation(tol, weight):
    K, y, _ = random_problem()
    solver = CSVC(C=2.0, tol=tol, class_weight=weight).fit(K, y)
    assert solver.report_["converged"]
    # LIBSVM computes in single precision where it caches K
    assert solver.report_["residual"] <= tol + 1e-5
    coef = coefficients(solver, len(y))
    alpha, decision = coef * y, K @ coef
    factor = {s: 2.0 * (len(y) / (2 * np.sum(y == s)) if weight else 1.0) for s in (-1.0, 1.0)}
    # Keerthi: y_i − f_i of every row that may grow is at most that of every row that may shrink
    can_rise = [y[i] - decision[i] for i in range(len(y)) if (alpha[i] < factor[y[i]] if y[i] > 0 else alpha[i] > 0)]
    can_fall = [y[i] - decision[i] for i in range(len(y)) if (alpha[i] > 0 if y[i] > 0 else alpha[i] < factor[y[i]])]
    assert solver.report_["residual"] == pytest.approx(max(0, max(can_rise) - min(can_fall)), abs=1e-12)
    expected = 0.5 * coef @ K @ coef - alpha.sum()
    assert solver.report_["objective"] == pytest.approx(expected, abs=1e-10)


def test_stopping_early_warns_once_and_is_reported():
    with pytest.warns(ConvergenceWarning) as record:
        solver = CSVC(C=np.inf, max_iter=50).fit(SPECTRUM_2, [1, -1, -1, 1])
    assert len(record) == 1
    assert solver.report_["converged"] is False
    assert solver.report_["iterations"] == 50


def test_a_memory_map_reaches_libsvm_without_a_copy(tmp_path, monkeypatch):
    K, y, _ = random_problem()
    np.save(tmp_path / "gram.npy", K)
    mapped = np.load(tmp_path / "gram.npy", mmap_mode="r")
    seen = []
    fit = LibsvmNuSVC.fit

    def spy(self, X, y):
        seen.append(X)
        return fit(self, X, y)

    monkeypatch.setattr(LibsvmNuSVC, "fit", spy)
    NuSVC(nu=0.1).fit(mapped, y)
    assert np.shares_memory(seen[0], mapped)
    assert seen[0].flags.c_contiguous
    assert seen[0].dtype == np.float64


# ---- the compiled decision -------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("size", [0, 1, 7])
def test_decide_twin(order, size):
    rng = np.random.default_rng(3)
    K = np.asarray(rng.normal(size=(5, 9)), order=order)
    columns = rng.permutation(9)[:size].astype(np.int64)
    means, weights = rng.normal(size=size), rng.normal(size=size)
    out = np.empty(5)
    _linear.decide(K, columns, means, weights, 0.25, out)
    expected = [
        sum((K[i, c] - m) * w for c, m, w in zip(columns, means, weights, strict=True)) + 0.25 for i in range(5)
    ]
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-14)
