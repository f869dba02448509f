"""The minimiser of the P-SVM: its moves, working sets, warm starts and shrinking."""

from dataclasses import replace

import numpy as np
import pytest
from naive_psvm import SHAPES, check_conditions, fit, matrix, standardised
from threadpoolctl import threadpool_limits

from seqkern.solvers import PSVC, PSVR
from seqkern.solvers.psvm import _psvm, qp
from seqkern.solvers.psvm.columns import DenseColumns
from seqkern.solvers.psvm.qp import Dual, WorkingSet, minimise

LEVELS = range(_psvm.simd_level() + 1)
EXACT = {"tol": 1e-10, "max_iter": 10**7}

# ---- moves of one variable -------------------------------------------------------------------------------


def quadratic(n, seed):
    """Return Q and c of a working set of n variables."""
    K, y = matrix("square", seed=seed)
    rng = np.random.default_rng(seed)
    Kt = standardised(np.concatenate([K, rng.normal(size=(24, 40))], axis=1)[:, :n])
    Q = Kt.T @ Kt
    np.fill_diagonal(Q, 24.0)
    return Q, Kt.T @ y


def slow_descend(Q, alpha, gradient, epsilon, C, moves):
    """Coordinate descent with second-order selection, straight from its definition."""
    alpha, gradient = alpha.copy(), gradient.copy()
    q = Q[0, 0]
    for _ in range(moves):
        best, best_gain, best_value = None, 0.0, 0.0
        for j in range(len(alpha)):
            target = alpha[j] - gradient[j] / q
            value = np.sign(target) * max(abs(target) - epsilon / q, 0)
            value = float(np.clip(value, -C, C))
            step = value - alpha[j]
            gain = -(gradient[j] * step + 0.5 * q * step**2 + epsilon * (abs(value) - abs(alpha[j])))
            if gain > best_gain + 1e-13:
                best, best_gain, best_value = j, gain, value
        if best is None:
            break
        gradient += (best_value - alpha[best]) * Q[best]
        alpha[best] = best_value
    return alpha, gradient


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("C", [np.inf, 0.1])
@pytest.mark.parametrize("epsilon", [0.0, 2.0])
@pytest.mark.parametrize("moves", [0, 1, 7, 25])
def test_descend_twin(C, epsilon, moves, level):
    Q, c = quadratic(24, seed=9)
    alpha, gradient = np.zeros(24), -c
    expected = slow_descend(Q, alpha, gradient, epsilon, C, moves)
    done = _psvm.descend(Q, alpha, gradient, epsilon, C, 0.0, moves, np.empty(24), level)
    assert done == moves
    np.testing.assert_allclose(alpha, expected[0], atol=1e-10)
    np.testing.assert_allclose(gradient, expected[1], atol=1e-8)


@pytest.mark.parametrize("precision", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 7, 8, 61])
@pytest.mark.parametrize(("epsilon", "C"), [(0.0, 0.1), (3.0, np.inf), (3.0, 0.1)])
def test_levels_give_the_same_bits(n, epsilon, C, precision):
    Q, c = quadratic(n, seed=n)
    found = []
    for level in LEVELS:
        wider = np.full((n, n + 3), np.nan, dtype=precision)
        wider[:, :n] = Q
        alpha, gradient = np.zeros(n), -c
        moves = _psvm.descend(wider[:, :n], alpha, gradient, epsilon, C, 1e-3, 40, np.empty(n), level)
        found.append((moves, alpha.tobytes(), gradient.tobytes()))
    assert len(set(found)) == 1
    assert found[0][0] > 0


def test_of_equal_gains_the_first_moves():
    n = 20
    gradient = np.zeros(n)
    gradient[[7, 12, 19]] = -5.0
    alpha = np.zeros(n)
    _psvm.descend(4.0 * np.eye(n), alpha, gradient, 1.0, np.inf, 0.0, 1, np.empty(n))
    assert list(np.flatnonzero(alpha)) == [7]
    assert alpha[7] == 1.0


def test_descend_stops_at_its_tolerance():
    Q, c = quadratic(24, seed=9)
    for C in (1.0, 0.02):
        alpha, gradient, out = np.zeros(24), -c, np.empty(24)
        moves = _psvm.descend(Q, alpha, gradient, 2.0, C, 5.0, 10_000, np.empty(24))
        assert 0 < moves < 10_000
        _psvm.violations(alpha, gradient, 2.0, C, out)
        assert out.max() <= 5.0


def test_gather_twin():
    Q, _ = quadratic(24, seed=3)
    which = np.array([2, 3, 11, 23])
    out = np.full((4, 4), np.nan)
    _psvm.gather(Q, which, 0.5, out)
    np.testing.assert_array_equal(np.tril(np.nan_to_num(out)), np.tril(Q[np.ix_(which, which)] + 0.5 * np.eye(4)))


def test_violations_twin():
    cases = [
        (0.0, 0.5, 0.0), (0.0, 1.5, 0.5), (0.0, -1.5, 0.5),
        (0.3, -1.0, 0.0), (0.3, -1.2, 0.2), (0.3, 0.5, 1.5),
        (-0.3, 1.0, 0.0), (-0.3, 1.2, 0.2), (-0.3, -0.5, 1.5),
        (2.0, -1.0, 0.0), (2.0, -3.0, 0.0), (2.0, 0.0, 1.0),
        (-2.0, 1.0, 0.0), (-2.0, 3.0, 0.0), (-2.0, 0.0, 1.0),
    ]  # fmt: skip
    alpha, gradient, expected = np.array(cases).T.copy()
    out = np.empty(len(cases))
    _psvm.violations(alpha, gradient, 1.0, 2.0, out)
    np.testing.assert_allclose(out, expected, atol=1e-15)


# ---- working sets and jumps ------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "largest"), [(1, 4096), (4, 4096), (4, 20), (3, 8)])
@pytest.mark.parametrize(("epsilon", "C"), [(0.02, 0.3), (0.0, 0.05), (0.1, np.inf)])
def test_size_of_the_working_set_does_not_matter(first, largest, epsilon, C, monkeypatch):
    K, y = matrix("wide", seed=6)
    K[:, 5] = 1.0
    Kt = standardised(K)
    whole, alpha = fit(K, y, C=C, epsilon=epsilon, epsilon_scale="max", tol=1e-9)
    monkeypatch.setattr(qp, "FIRST", first)
    monkeypatch.setattr(qp, "LARGEST", largest)
    parts, other = fit(K, y, C=C, epsilon=epsilon, epsilon_scale="max", tol=1e-9)
    assert parts.report_["converged"]
    assert parts.report_["objective"] == pytest.approx(whole.report_["objective"], rel=1e-8)
    np.testing.assert_allclose(Kt @ other, Kt @ alpha, atol=1e-5)


def test_standardised_columns_that_find_no_room_are_made_anew(monkeypatch):
    K, y = matrix("wide", seed=6)
    _, alpha = fit(K, y, C=0.3, epsilon=0.02, epsilon_scale="max", tol=1e-9)
    monkeypatch.setattr(qp, "FIRST", 4)
    for numbers in (0, 12 * 10):
        monkeypatch.setattr(qp, "ROWS", numbers)
        anew, other = fit(K, y, C=0.3, epsilon=0.02, epsilon_scale="max", tol=1e-9)
        assert anew.report_["converged"]
        np.testing.assert_allclose(standardised(K) @ other, standardised(K) @ alpha, atol=1e-6)


@pytest.mark.parametrize("C", [np.inf, 0.5])
def test_newton_steps_change_the_speed_and_not_the_result(C, monkeypatch):
    rng = np.random.default_rng(7)
    points = rng.normal(size=(60, 2))
    K = np.exp(-((points[:, None] - points[None]) ** 2).sum(-1) / 20)  # nearly dependent columns
    y = points[:, 0] + rng.normal(size=60)
    fast, alpha = fit(K, y, C=C, epsilon=0.01, epsilon_scale="max", tol=1e-7)
    monkeypatch.setattr(qp, "JUMPS", 1)
    monkeypatch.setattr(WorkingSet, "_jump", lambda *_: None)
    slow, other = fit(K, y, C=C, epsilon=0.01, epsilon_scale="max", tol=1e-7, max_iter=10_000_000)
    assert fast.report_["converged"]
    assert slow.report_["converged"]
    assert slow.report_["jumps"] == 0 < fast.report_["jumps"]
    assert fast.report_["iterations"] < slow.report_["iterations"] / 10
    np.testing.assert_allclose(standardised(K) @ alpha, standardised(K) @ other, atol=1e-2)
    assert fast.report_["objective"] == pytest.approx(slow.report_["objective"], abs=1e-5)


def test_a_jump_lowers_the_objective():
    rng = np.random.default_rng(8)
    for trial in range(40):
        K, y = matrix(SHAPES[trial % len(SHAPES)], seed=trial)
        epsilon, C = (0.0 if trial % 5 == 0 else 3.0), (0.3 if trial % 2 else np.inf)
        columns = DenseColumns.of(K, False)
        varies = columns.scales > 0
        problem = Dual(columns, y - y.mean(), epsilon, C)
        working = WorkingSet(columns)
        working.include(np.flatnonzero(varies))
        alpha = np.where(varies, rng.uniform(-0.3, 0.3, size=len(varies)), 0)
        alpha[::3] = 0
        own = alpha[working.members]
        before = own.copy()
        gradient = problem.gradient(problem.residual(alpha))[working.members]
        length = working._jump(problem, own, gradient)
        assert 0 < length <= 1
        assert np.abs(own).max() <= C
        if epsilon > 0:
            assert not np.any(own * before < 0)
            assert not np.any(own[before == 0])
        after = alpha.copy()
        after[working.members] = own
        assert problem.objective(after, problem.residual(after)) < problem.objective(alpha, problem.residual(alpha))
        np.testing.assert_allclose(gradient, problem.gradient(problem.residual(after))[working.members], atol=1e-8)


@pytest.mark.parametrize("limit", [1, 100, 150])
def test_a_limit_of_moves_is_kept_after_jumps_too(limit):
    rng = np.random.default_rng(1)
    y = rng.normal(size=60)
    columns = DenseColumns.of(rng.normal(size=(60, 1)) + 0.3 * rng.normal(size=(60, 80)), False)
    dual = Dual(columns, y - y.mean(), 0.1, 0.3)
    working = WorkingSet(columns)
    working.include(np.flatnonzero(columns.scales > 0))
    alpha = np.zeros(columns.n_columns)
    working.minimise(dual, alpha, dual.gradient(dual.residual(alpha)), 1e-14, limit)
    assert working.moves == limit


# ---- Q in single precision -------------------------------------------------------------------------------


def smooth_problem(noise, epsilon, C):
    """Return a Dual whose columns are nearly dependent, the more so the less noise they have, and K̃ and y."""
    rng = np.random.default_rng(3)
    points = rng.normal(size=(120, 3))
    K = np.exp(-((points[:, None] - points[None]) ** 2).sum(-1) / 30) + noise * rng.normal(size=(120, 120))
    y = np.sin(3 * points[:, 0]) + 0.1 * rng.normal(size=120)
    dual = Dual(DenseColumns.of(K, False), y - y.mean(), 0.0, C)
    return replace(dual, epsilon=epsilon * dual.epsilon_max), standardised(K), y


@pytest.mark.parametrize("C", [np.inf, 0.5])
def test_single_precision_is_enough_where_columns_differ(C):
    dual, Kt, y = smooth_problem(0.1, 0.02, C)
    found = minimise(dual, **EXACT)
    assert found.report["converged"]
    assert found.working.single
    assert found.working.Q.dtype == np.float32
    check_conditions(Kt, y, found.alpha, dual.epsilon, C, 1e-8 * dual.unit)


@pytest.mark.parametrize(("epsilon", "C"), [(1e-5, np.inf), (0.0, 0.5)])
def test_q_is_formed_again_where_single_precision_is_not_enough(epsilon, C):
    dual, Kt, y = smooth_problem(0.0, epsilon, C)
    found = minimise(dual, tol=1e-8, max_iter=10**7)
    assert found.report["converged"]
    assert not found.working.single
    assert set(np.flatnonzero(found.alpha)) <= set(found.working.members)
    check_conditions(Kt, y, found.alpha, dual.epsilon, C, 2e-8 * dual.unit)


@pytest.mark.parametrize("factor", [2.0**200, 2.0**-200])
def test_labels_beyond_single_precision(factor):
    dual, _, _ = smooth_problem(0.01, 0.01, np.inf)
    found = minimise(dual, tol=1e-6, max_iter=10**6)
    scaled = replace(dual, target=factor * dual.target, epsilon=factor * dual.epsilon, correlations=None)
    other = minimise(scaled, tol=1e-6, max_iter=10**6)
    assert other.working.single
    assert other.report["jumps"] > 0
    np.testing.assert_allclose(other.alpha / factor, found.alpha, atol=1e-6 * np.abs(found.alpha).max())


def test_a_run_in_single_precision_that_failed_changes_nothing(monkeypatch):
    dual, _, _ = smooth_problem(0.1, 0.02, 0.5)
    monkeypatch.setattr(qp, "_working_set", lambda dual: WorkingSet(dual.columns))
    double = minimise(dual, **EXACT)
    monkeypatch.undo()
    runs, refined = [], []
    minimise_members, refine = WorkingSet.minimise, WorkingSet.refine

    def astray(self, dual, alpha, gradient, *rest):
        moved = minimise_members(self, dual, alpha, gradient, *rest)
        runs.append(self.single)
        if len(runs) == 2:
            alpha[self.members] = np.nan
        return moved

    monkeypatch.setattr(WorkingSet, "minimise", astray)
    monkeypatch.setattr(WorkingSet, "refine", lambda self, *rest: (refined.append(len(runs)), refine(self, *rest)))
    found = minimise(dual, **EXACT)
    assert refined == [2]
    assert runs[:3] == [True, True, False]
    assert found.report["converged"]
    assert found.report["objective"] == pytest.approx(double.report["objective"], rel=1e-12)


# ---- sweeps ----------------------------------------------------------------------------------------------


def narrow_problem(C, epsilon=0.01):
    """Return a Dual of a narrow RBF kernel, and K̃ and y."""
    rng = np.random.default_rng(6)
    points = rng.normal(size=(150, 8))
    K = np.exp(-((points[:, None] - points[None]) ** 2).sum(-1))
    y = np.where(points[:, 0] > 0, 1.0, -1.0)
    dual = Dual(DenseColumns.of(K, True), y - y.mean(), 0.0, C)
    return replace(dual, epsilon=epsilon * dual.epsilon_max), standardised(K), y


def test_sweeps_need_no_q_on_a_narrow_kernel():
    dual, Kt, y = narrow_problem(C=0.04)
    found = minimise(dual, **EXACT)
    assert found.report["converged"]
    assert len(found.working.members) == 0 < found.report["iterations"]
    check_conditions(Kt, y, found.alpha, dual.epsilon, dual.cost, 1e-8 * dual.unit)
    again = minimise(replace(dual, epsilon=0.5 * dual.epsilon), **EXACT, start=found)
    check_conditions(Kt, y, again.alpha, 0.5 * dual.epsilon, dual.cost, 1e-8 * dual.unit)


def test_sweeps_that_lead_nowhere_are_undone(monkeypatch):
    dual, Kt, y = narrow_problem(C=np.inf, epsilon=0.001)
    found = minimise(dual, **EXACT)
    assert found.report["converged"]
    assert len(found.working.members) > 0
    check_conditions(Kt, y, found.alpha, dual.epsilon, np.inf, 1e-8 * dual.unit)
    monkeypatch.setattr(qp, "_sweep", lambda *_: 0)
    np.testing.assert_array_equal(minimise(dual, **EXACT).alpha, found.alpha)


def test_sweeps_keep_to_the_limit_of_moves():
    dual, _, _ = narrow_problem(C=0.04)
    found = minimise(dual, tol=1e-10, max_iter=149)
    assert found.report["iterations"] <= 149
    assert not found.report["converged"]


# ---- warm starts -----------------------------------------------------------------------------------------


def problem(shape="square", C=0.3, seed=0):
    """Return a Dual with ε = ε_max, and K̃ and y."""
    K, y = matrix(shape, seed)
    dual = Dual(DenseColumns.of(K, False), y - y.mean(), 0.0, C)
    return replace(dual, epsilon=dual.epsilon_max), standardised(K), y


@pytest.mark.parametrize("C", [np.inf, 0.3])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_path_ends_where_each_problem_alone_does(shape, C):
    dual, Kt, y = problem(shape, C)
    minimum = None
    for share in np.geomspace(1, 0.01, 12):
        step = replace(dual, epsilon=share * dual.epsilon)
        assert step.correlations is dual.correlations
        minimum = minimise(step, **EXACT, start=minimum)
        alone = minimise(step, **EXACT)
        assert minimum.report["converged"]
        check_conditions(Kt, y, minimum.alpha, step.epsilon, C, 1e-8 * dual.unit)
        assert minimum.report["objective"] == pytest.approx(alone.report["objective"], rel=1e-9, abs=1e-9)
        np.testing.assert_allclose(Kt @ minimum.alpha, Kt @ alone.alpha, atol=1e-4)


def test_a_path_looks_at_all_columns_about_once_for_each_epsilon():
    rng = np.random.default_rng(7)
    points = rng.normal(size=(200, 3))
    K = np.exp(-((points[:, None] - points[None]) ** 2).sum(-1) / 6)
    y = np.sign(points[:, 0] + points[:, 1] ** 2 - 1 + 0.3 * rng.normal(size=200))
    looks = []

    class Counting(DenseColumns):
        def products(self, vector):
            looks.append(vector)
            return super().products(vector)

    dual = Dual(Counting(K), y - y.mean(), 0.0, 1.0)
    minimum = None
    for share in np.geomspace(1, 0.01, 20):
        minimum = minimise(replace(dual, epsilon=share * dual.epsilon_max), tol=1e-3, max_iter=10**6, start=minimum)
        assert minimum.report["converged"]
    assert len(looks) < 30


def test_a_path_forms_each_element_of_q_once():
    dual, _, _ = problem("wide")
    asked = []

    class Counting(DenseColumns):
        def standardised(self, which):
            asked.extend(which)
            return super().standardised(which)

    counting = Counting(dual.columns.columns)
    minimum = None
    for share in np.geomspace(1, 0.01, 12):
        minimum = minimise(replace(dual, columns=counting, epsilon=share * dual.epsilon), **EXACT, start=minimum)
    assert len(asked) == len(set(asked))
    assert set(np.flatnonzero(minimum.alpha)) <= set(asked)


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
def test_another_bound_is_a_start_too(epsilon):
    dual, Kt, y = problem(C=np.inf)
    dual = replace(dual, epsilon=epsilon * dual.epsilon)
    minimum = None
    for C in (np.inf, 0.05, 0.5, 0.5):
        step = replace(dual, cost=C)
        minimum = minimise(step, **EXACT, start=minimum)
        assert np.abs(minimum.alpha).max() <= C
        check_conditions(Kt, y, minimum.alpha, dual.epsilon, C, 1e-8 * dual.unit)
    assert minimum.report["iterations"] == 0


@pytest.mark.parametrize("shape", ["square", "wide", "constant column"])
def test_any_start_leads_to_the_minimum(shape):
    dual, Kt, y = problem(shape)
    dual = replace(dual, epsilon=0.1 * dual.epsilon)
    expected = minimise(dual, **EXACT)
    rng = np.random.default_rng(1)
    for start in (np.zeros(Kt.shape[1]), rng.normal(size=Kt.shape[1]), np.full(Kt.shape[1], 100.0), expected.alpha):
        found = minimise(dual, **EXACT, start=start)
        assert found.report["converged"]
        check_conditions(Kt, y, found.alpha, dual.epsilon, dual.cost, 1e-8 * dual.unit)
        assert found.report["objective"] == pytest.approx(expected.report["objective"], rel=1e-9)
        assert not found.alpha[dual.columns.scales == 0].any()
    assert found.report["iterations"] == 0


def test_fit_after_begins_with_what_the_previous_solver_learned():
    K, y = matrix("square")
    labels = np.where(y > 0, "site", "decoy")
    first = PSVC(C=0.1, epsilon=0.1, tol=1e-9).fit(K, labels)
    cold = PSVC(C=0.1, epsilon=0.09, tol=1e-9).fit(K, labels)
    warm = PSVC(C=0.1, epsilon=0.09, tol=1e-9).fit_after(first, K, labels)
    assert warm.report_["iterations"] < cold.report_["iterations"]
    np.testing.assert_allclose(warm.decision_function(K), cold.decision_function(K), atol=1e-5)
    again = PSVC(C=0.1, epsilon=0.09, tol=1e-8).fit_after(warm, K, labels)
    assert again.report_["iterations"] == 0
    np.testing.assert_array_equal(again.alpha_, warm.alpha_)
    assert vars(again).keys() == vars(cold).keys()


def test_fit_after_ignores_what_is_of_no_use():
    K, y = matrix("square")
    cold = PSVR(epsilon=0.1).fit(K, y)
    smaller = PSVR(epsilon=0.1).fit(K[:20, :20], y[:20])
    for previous in (None, smaller, "another solver"):
        warm = PSVR(epsilon=0.1).fit_after(previous, K, y)
        np.testing.assert_array_equal(warm.alpha_, cold.alpha_)


# ---- shrinking -------------------------------------------------------------------------------------------


def sparse_problem():
    """Return a Dual of 300 columns, six of which matter, with ε = 0, and K̃ and y."""
    rng = np.random.default_rng(2)
    K = rng.normal(size=(80, 300))
    y = K[:, :6] @ rng.normal(size=6) + 0.1 * rng.normal(size=80)
    return Dual(DenseColumns.of(K, False), y - y.mean(), 0.0, 1.0), standardised(K), y


def test_what_is_shrunk_is_zero_and_comes_back_when_epsilon_falls(monkeypatch):
    monkeypatch.setattr(qp, "FIRST", 1)  # so that all columns are looked at often
    dual, Kt, y = sparse_problem()
    seen = []
    minimum = None
    for share in (0.5, 0.2, 0.05):
        step = replace(dual, epsilon=share * dual.epsilon_max)
        minimum = minimise(step, **EXACT, start=minimum)
        check_conditions(Kt, y, minimum.alpha, step.epsilon, 1.0, 1e-8 * dual.unit)
        assert not minimum.alpha[minimum.shrunk].any()
        seen.append(minimum.shrunk)
    assert seen[0].sum() > 200
    assert np.any(seen[0] & (minimum.alpha != 0))


def test_shrunk_columns_are_not_read_again(monkeypatch):
    monkeypatch.setattr(qp, "FIRST", 1)
    dual, _, _ = sparse_problem()
    widths = []

    class Counting(DenseColumns):
        def products_of(self, which, vector):
            widths.append(len(which))
            return super().products_of(which, vector)

    counting = replace(dual, columns=Counting(dual.columns.columns), epsilon=0.5 * dual.epsilon_max)
    minimum = minimise(counting, **EXACT)
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 100
    assert minimum.report["converged"]


# ---- the same bits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.0, 0.01])
def test_threads_do_not_change_a_bit(epsilon):
    rng = np.random.default_rng(3)
    K = rng.normal(size=(400, 500))
    y = K[:, :40] @ rng.normal(size=40) + rng.normal(size=400)
    found = []
    for threads in (1, 4):
        with threadpool_limits(limits=threads):
            dual = Dual(DenseColumns.of(K, False), y - y.mean(), 0.0, 0.05)
            minimum = minimise(replace(dual, epsilon=epsilon * dual.epsilon_max), tol=1e-5, max_iter=10**6)
        found.append((minimum.alpha.tobytes(), minimum.report))
    assert minimum.report["jumps"] > 0
    assert found[0] == found[1]
