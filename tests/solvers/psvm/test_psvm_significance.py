"""Significance of support features: naive twin, corrections, and the rate of false findings."""

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import binom
from sklearn.exceptions import ConvergenceWarning

from seqkern.core.errors import ParameterError
from seqkern.solvers import PSVC, PSVR
from seqkern.solvers.psvm.path import psvm_significance


def problem(rows=24, size=10, effect=2.0, seed=0):
    """Return features, the first two of which matter, and labels."""
    rng = np.random.default_rng(seed)
    K = rng.normal(size=(rows, size)) * rng.uniform(0.1, 9, size=size)
    K[:, size // 2] = 3.0
    y = effect * (K[:, 0] / K[:, 0].std() - K[:, 1] / K[:, 1].std()) + rng.normal(size=rows)
    return K, y


def naive(solver, K, y, statistic, permutations, seed):
    """Return p and the step-down p of the maximum of every column, by their definitions."""

    def values(labels):
        if statistic == "correlation":
            with np.errstate(invalid="ignore", divide="ignore"):
                return np.nan_to_num(np.abs([np.corrcoef(column, labels)[0, 1] for column in K.T]))
        fitted = PSVR(**solver.get_params()).fit(K, labels)
        return np.abs(fitted._on_columns(fitted.alpha_))

    rng = np.random.default_rng(seed)
    centred = y - y.mean()
    true, shuffled = values(y), [values(rng.permutation(centred)) for _ in range(permutations)]
    p = np.array([1 + sum(one[j] >= true[j] - 1e-9 for one in shuffled) for j in range(len(true))]) / (1 + permutations)
    stepped = []
    for j in range(len(true)):
        rest = true <= true[j]
        stepped.append((1 + sum(one[rest].max() >= true[j] - 1e-9 for one in shuffled)) / (1 + permutations))
    worst = [max(stepped[i] for i in range(len(true)) if true[i] >= true[j]) for j in range(len(true))]
    return p, np.array(worst)


@pytest.mark.filterwarnings("ignore:.*constant")
@pytest.mark.parametrize("statistic", ["coefficient", "correlation"])
@pytest.mark.parametrize("C", [np.inf, 0.3])
def test_twin(statistic, C):
    K, y = problem(effect=0.8)
    solver = PSVR(kernel="features", C=C, epsilon=0.3, tol=1e-9)
    found = psvm_significance(solver, K, y, statistic=statistic, n_permutations=40, seed=5)
    p, worst = naive(solver, K, y, statistic, 40, 5)
    fitted = solver.fit(K, y)
    assert sorted(found.columns) == list(fitted.support_)
    assert 1 < len(found.columns) < 9
    np.testing.assert_allclose(found.alpha, fitted._on_columns(fitted.alpha_)[found.columns], atol=1e-8)
    np.testing.assert_allclose(found.p, p[found.columns])
    np.testing.assert_allclose(found.max_statistic, worst[found.columns])
    np.testing.assert_allclose(found.bonferroni, np.minimum(1, 9 * p[found.columns]))
    assert (found.n_tested, found.n_permutations) == (9, 40)
    assert np.all(np.diff(found.p) >= 0)
    assert np.all(found.p <= found.max_statistic)
    assert np.all(found.holm <= found.bonferroni)
    assert np.all(found.benjamini_hochberg <= found.holm)


@pytest.mark.filterwarnings("ignore:.*constant")
@pytest.mark.parametrize("C", [np.inf, 0.3])
def test_equal_columns_share_their_coefficient(C):
    """The order of columns decides which of the equal ones a fit uses, but not their significance."""
    K, y = problem(effect=0.8)
    K = np.column_stack((K, 3 * K[:, 0] - 1, -K[:, 0]))
    solver = PSVR(kernel="features", C=C, epsilon=0.3, tol=1e-9)
    found = psvm_significance(solver, K, y, n_permutations=40, seed=5)
    backwards = psvm_significance(solver, K[:, ::-1], y, n_permutations=40, seed=5)
    alpha, p = dict(zip(found.columns, found.alpha, strict=True)), dict(zip(found.columns, found.p, strict=True))
    assert {0, 10, 11} <= set(alpha)
    assert alpha[0] == pytest.approx(alpha[10]) == pytest.approx(-alpha[11])
    assert p[0] == p[10] == p[11]
    fitted = solver.fit(K, y)
    ends = fitted._on_columns(fitted.alpha_)[[0, 10, 11]] @ [1, 1, -1]
    assert 3 * alpha[0] == pytest.approx(ends, abs=1e-7)
    assert dict(zip(11 - backwards.columns, backwards.p, strict=True)) == p


def test_every_permutation_of_few_labels():
    """With one column, p of the correlation is the share of all orders that fit as well, but for chance."""
    K, y = np.array([[1.0, 2, 3, 4, 6]]).T, np.array([1.0, 2, 4, 3, 6])
    orders = [abs(np.corrcoef(K[:, 0], order)[0, 1]) for order in itertools.permutations(y)]
    exact = np.mean(np.array(orders) >= abs(np.corrcoef(K[:, 0], y)[0, 1]) - 1e-12)
    found = psvm_significance(PSVR(kernel="features"), K, y, statistic="correlation", n_permutations=4000)
    assert found.p[0] == pytest.approx(exact, abs=4 * np.sqrt(exact / 4000))


def test_what_matters_is_found():
    K, y = problem(rows=80, size=30)
    labels = np.where(y > 0, "case", "control")
    solver = PSVC(kernel="features", C=np.inf, epsilon=0.3)
    for statistic in ("coefficient", "correlation"):
        found = psvm_significance(solver, K, labels, statistic=statistic, n_permutations=199)
        assert set(found.columns[found.max_statistic <= 0.05]) == {0, 1}
        again = psvm_significance(solver, csr_array(K), labels, statistic=statistic, n_permutations=199)
        np.testing.assert_array_equal(again.columns, found.columns)
        np.testing.assert_array_equal(again.p, found.p)
    assert not hasattr(solver, "classes_")


@pytest.mark.parametrize(("statistic", "fits"), [("coefficient", 20), ("correlation", 1)])
def test_fits_that_do_not_converge_are_told(statistic, fits):
    K = np.random.default_rng(0).normal(size=(30, 100))
    y = np.sign(K[:, 0] + K[:, 1])
    solver = PSVC(C=np.inf, epsilon=0.01, kernel="features", max_iter=1)
    with pytest.warns(ConvergenceWarning, match=f"{fits} of {fits} fits of the P-SVM did not converge") as told:
        found = psvm_significance(solver, K, y, statistic=statistic, n_permutations=19)
    assert len(told) == 1
    assert found.not_converged == fits
    solver.set_params(max_iter=100_000)
    assert psvm_significance(solver, K, y, statistic=statistic, n_permutations=19).not_converged == 0


def rate_of_findings(statistic, epsilon_scale, trials=250, permutations=19):
    """Return how many of `trials` data sets without any relation have a support feature with corrected p ≤ 0.05."""
    count = 0
    epsilon = 0.5 if epsilon_scale == "max" else 4.0
    solver = PSVR(kernel="features", C=np.inf, epsilon=epsilon, epsilon_scale=epsilon_scale, tol=1e-8)
    for trial in range(trials):
        rng = np.random.default_rng(trial)
        K = rng.normal(size=(14, 2)) @ rng.normal(size=(2, 8)) + rng.normal(size=(14, 8))
        found = psvm_significance(
            solver, K, rng.normal(size=14), statistic=statistic, n_permutations=permutations, seed=trial
        )
        count += bool(np.any(found.max_statistic <= 0.05))
    return count


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("statistic", "epsilon_scale"), [("coefficient", "max"), ("coefficient", "absolute"), ("correlation", "max")]
)
def test_rate_of_false_findings(statistic, epsilon_scale):
    """Without ties, the level is exact: 250 data sets with columns that depend on one another, B = 19."""
    count = rate_of_findings(statistic, epsilon_scale)
    low, high = binom.interval(0.999, 250, 0.05)
    assert low <= count <= high


def test_strong_control():
    """One column matters: others are seldom found, as the correlation tests each for itself."""
    solver = PSVR(kernel="features", C=np.inf, epsilon=0.1)
    wrong = right = 0
    for trial in range(200):
        rng = np.random.default_rng(1000 + trial)
        K = rng.normal(size=(14, 6))
        y = 1.5 * K[:, 0] + rng.normal(size=14)
        found = psvm_significance(solver, K, y, statistic="correlation", n_permutations=39, seed=trial)
        findings = found.columns[found.max_statistic <= 0.05]
        wrong += bool(set(findings) - {0})
        right += 0 in findings
    assert wrong <= binom.ppf(0.999, 200, 0.05)
    assert right > 130


def test_bad_values():
    K, y = problem()
    for given in ({"statistic": "weight"}, {"n_permutations": 0}, {"seed": -1}):
        with pytest.raises(ParameterError, match=next(iter(given))):
            psvm_significance(PSVR(kernel="features"), K, y, **given)
