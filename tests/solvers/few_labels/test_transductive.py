"""The transductive SVM beside plain label switching, and beside all labellings of a small problem."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from seqkern.solvers import CSVC, TransductiveSVC


def problem(n=12, m=60, seed=4, apart=1.2):
    """Return a matrix of two clusters, labels of the first n rows, and the labels of all."""
    rng = np.random.default_rng(seed)
    truth = np.where(np.arange(n + m) % 2, 1.0, -1.0)
    points = rng.normal(size=(n + m, 2)) + apart * truth[:, None]
    y = truth.copy()
    y[n:] = np.nan
    return np.exp(-((points[:, None] - points) ** 2).sum(-1) / 4), y, truth


def naive(K, y, C, share, steps):
    """Return the labels found by switching, step by step as in the paper, all pairs of a round together."""
    spare = np.flatnonzero(y != y)

    def trained(labels, cost):
        used = np.flatnonzero(cost)
        svm = SVC(kernel="precomputed", tol=1e-9).fit(K[np.ix_(used, used)], labels[used], sample_weight=cost[used])
        coef = np.zeros(len(y))
        coef[used[svm.support_]] = svm.dual_coef_[0]
        # LIBSVM's are exact to single precision; those between their bounds, and b, solve a linear system
        free = np.flatnonzero((np.abs(coef) > 1e-6 * cost) & (np.abs(coef) < (1 - 1e-6) * cost))
        fixed = coef.copy()
        fixed[free] = 0.0
        system = np.ones((len(free) + 1, len(free) + 1))
        system[:-1, :-1], system[-1, -1] = K[np.ix_(free, free)], 0.0
        coef[free], b = np.split(np.linalg.solve(system, [*(labels - K @ fixed)[free], -fixed.sum()]), [len(free)])
        return K @ coef + b

    labels = np.nan_to_num(y)
    f = trained(labels, np.where(y == y, C, 0.0))
    positives = round(share * len(spare))
    labels[spare] = -1.0
    labels[sorted(spare, key=lambda i: -f[i])[:positives]] = 1.0
    low = C / 2**steps
    high = min(C, low * positives / (len(spare) - positives))
    while True:
        cost = np.full(len(y), C)
        cost[spare] = np.where(labels[spare] > 0, high, low)
        f = trained(labels, cost)
        slack = {i: max(0.0, 1 - labels[i] * f[i]) for i in spare}
        above = sorted((i for i in spare if labels[i] > 0), key=lambda i: -slack[i])
        below = sorted((i for i in spare if labels[i] < 0), key=lambda i: -slack[i])
        pairs = [(i, j) for i, j in zip(above, below, strict=False) if slack[i] * slack[j] > 0]
        pairs = [(i, j) for i, j in pairs if slack[i] + slack[j] > 2 + 1e-6]
        for i, j in pairs:
            labels[i], labels[j] = -1.0, 1.0
        if not pairs:
            if low >= C and high >= C:
                return labels, f
            low, high = min(C, 2 * low), min(C, 2 * high)


@pytest.mark.parametrize(("C", "share", "seed"), [(1.0, 0.4, 8), (10.0, 0.5, 5), (3.0, 0.3, 6)])
def test_plain_switching(C, share, seed):
    K, y, _ = problem(seed=seed, apart=0.5)
    solver = TransductiveSVC(C=C, positive_share=share, tol=1e-9).fit(K, y)
    labels, f = naive(K, y, C, share, 10)
    np.testing.assert_allclose(solver.decision_function(K), f, rtol=0, atol=1e-5)
    assert solver.report_["n_positive"] == np.sum(labels[12:] > 0) == round(60 * share)
    assert solver.report_["switched"] > 0


def objective(K, labels):
    """Return the minimum of the C-SVM's objective with C = 1."""
    solver = CSVC(tol=1e-9).fit(K, labels)
    return -solver.report_["objective"]


def test_the_best_of_all_labellings():
    K, y, _ = problem(n=4, m=8, seed=1, apart=1.5)
    found = -TransductiveSVC(tol=1e-9).fit(K, y).report_["objective"]
    every = []
    for positives in combinations(range(4, 12), 4):
        labels = y.copy()
        labels[4:] = -1.0
        labels[list(positives)] = 1.0
        every.append(objective(K, labels))
    assert found == pytest.approx(min(every), abs=1e-6)
    assert np.median(every) > 1.2 * found


def test_without_unlabelled_rows_it_is_the_svm():
    K, _, truth = problem()
    one, other = TransductiveSVC(C=2.0).fit(K, truth), CSVC(C=2.0).fit(K, truth)
    np.testing.assert_array_equal(one.decision_function(K), other.decision_function(K))
    assert one.report_["fits"] == 1


def test_unlabelled_rows_of_no_cost_change_nothing():
    K, y, truth = problem()
    one = TransductiveSVC(unlabelled=1e-9, tol=1e-9).fit(K, y)
    other = CSVC(tol=1e-9).fit(K[:12, :12], truth[:12])
    np.testing.assert_allclose(one.decision_function(K), other.decision_function(K[:, :12]), rtol=0, atol=1e-5)


def test_share_of_positives():
    K, y, _ = problem()
    for share, count in ((0.0, 0), (0.25, 15), (1.0, 60), (None, 30)):
        assert TransductiveSVC(positive_share=share).fit(K, y).report_["n_positive"] == count


def test_stopped_before_the_cost_is_reached():
    K, y, _ = problem()
    with pytest.warns(ConvergenceWarning, match="labels were still switched after 3 fits"):
        solver = TransductiveSVC(max_fits=3).fit(K, y)
    assert solver.report_["converged"] is False
    assert solver.report_["fits"] == 3
