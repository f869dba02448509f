"""Selectors of features other than the P-SVM: each against an independent computation."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from sklearn.feature_selection import RFE, f_classif
from sklearn.metrics import mutual_info_score
from sklearn.svm import SVC

from seqkern.core.errors import ParameterError
from seqkern.solvers.classic.lp_machine import solve_one_norm
from seqkern.solvers.selection.selectors import build_selector
from seqkern.solvers.selection.selectors.models import dual_weights, radius_margin

NAMES = (
    *("pearson", "wilcoxon", "t", "golub", "fisher", "mutual_information", "relief", "forward", "backward"),
    *("recursive_elimination", "one_norm", "zero_norm", "r2w2"),
)


def data(n=30, d=12, classes=2, seed=0, rounded=False):
    """Return features of which the first three differ by class, and the labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 2, d)
    X[:, :3] += 1.2 * np.array([(y == c % classes) for c in range(3)]).T
    return (X.round(0) if rounded else X), y


def standard(X, y):
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def fitted(name, X, y, **params):
    return build_selector({"selector": name, **params}).fit(X, y)


def against_rest(score, X, y):
    """Return the largest of `score(column, is_class)` over the classes, for two classes that of the second."""
    classes = np.unique(y)[1:] if len(np.unique(y)) == 2 else np.unique(y)
    return np.array([max(score(column, y == c) for c in classes) for column in X.T])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("rounded", [False, True])
class TestFilters:
    def test_pearson(self, classes, rounded):
        X, y = data(classes=classes, rounded=rounded)
        expected = against_rest(lambda x, c: abs(stats.pearsonr(x, c).statistic), X, y)
        np.testing.assert_allclose(fitted("pearson", X, y).scores_, expected, rtol=1e-12, atol=1e-14)

    @pytest.mark.parametrize("equal", [False, True])
    def test_t(self, classes, rounded, equal):
        X, y = data(classes=classes, rounded=rounded)
        expected = against_rest(lambda x, c: abs(stats.ttest_ind(x[c], x[~c], equal_var=equal).statistic), X, y)
        np.testing.assert_allclose(fitted("t", X, y, equal_variance=equal).scores_, expected, rtol=1e-12, atol=1e-14)

    def test_golub_and_fisher(self, classes, rounded):
        X, y = data(classes=classes, rounded=rounded)

        def golub(x, c):
            return abs(x[c].mean() - x[~c].mean()) / (x[c].std(ddof=1) + x[~c].std(ddof=1))

        def fisher(x, c):
            return (x[c].mean() - x[~c].mean()) ** 2 / (x[c].var(ddof=1) + x[~c].var(ddof=1))

        np.testing.assert_allclose(fitted("golub", X, y).scores_, against_rest(golub, X, y), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(fitted("fisher", X, y).scores_, against_rest(fisher, X, y), rtol=1e-12, atol=1e-14)

    def test_wilcoxon(self, classes, rounded):
        X, y = data(classes=classes, rounded=rounded)
        parts = [X[y == c] for c in range(classes)]
        expected = [stats.kruskal(*(part[:, j] for part in parts)).statistic for j in range(X.shape[1])]
        np.testing.assert_allclose(fitted("wilcoxon", X, y).scores_ ** 2, expected, rtol=1e-12, atol=1e-14)

    def test_mutual_information(self, classes, rounded):
        X, y = data(classes=classes, rounded=rounded)
        ranks = stats.rankdata(X, axis=0)
        bins = np.floor(4 * (ranks - 0.5) / len(X))
        expected = [mutual_info_score(column, y) for column in bins.T]
        np.testing.assert_allclose(fitted("mutual_information", X, y, bins=4).scores_, expected, rtol=1e-9, atol=1e-12)


def test_two_classes_have_the_same_order_for_pearson_and_the_pooled_t_statistic():
    X, y = data()
    assert list(fitted("pearson", X, y).ranking_) == list(fitted("t", X, y, equal_variance=True).ranking_)
    np.testing.assert_allclose(fitted("t", X, y, equal_variance=True).scores_ ** 2, f_classif(X, y)[0], rtol=1e-10)


def test_the_rank_sum_is_the_normal_deviate_of_wilcoxon():
    X, y = data(rounded=True)
    for score, x in zip(fitted("wilcoxon", X, y).scores_, X.T, strict=True):
        found = stats.mannwhitneyu(x[y == 0], x[y == 1], use_continuity=False, method="asymptotic")
        assert found.pvalue == pytest.approx(2 * stats.norm.sf(score), rel=1e-9)


@pytest.mark.parametrize("name", ["t", "golub", "fisher", "wilcoxon", "pearson", "mutual_information"])
def test_a_constant_feature_is_never_chosen_and_one_that_separates_perfectly_is_best(name):
    X, y = data()
    X[:, 4], X[:, 5] = 3.0, y + 0.1
    found = fitted(name, X, y)
    assert found.ranking_[5] == 1
    assert found.scores_[4] == -np.inf
    assert not found.get_support()[4]


@pytest.mark.parametrize("name", ["t", "golub", "fisher"])
def test_a_feature_constant_in_each_class_has_no_finite_score(name):
    X, y = data()
    X[:, 5] = 0.1 * (y + 1)
    assert fitted(name, X, y).scores_[5] == np.inf


@pytest.mark.parametrize("name", NAMES)
def test_the_features_that_tell_are_found_and_order_does_not_depend_on_their_places(name):
    X, y = data(n=60, d=20, seed=3)
    X[:, :2] += 1.5 * y[:, None]
    found = fitted(name, X, y, n_features=4)
    assert set(np.flatnonzero(found.ranking_ <= 4)) & {0, 1}
    order = np.random.default_rng(0).permutation(X.shape[1])
    again = fitted(name, X[:, order], y, n_features=4)
    assert list(again.get_support()) == list(found.get_support()[order])


# ---- relief ------------------------------------------------------------------------------------------------


def naive_relief(X, y, k):
    span = X.max(axis=0) - X.min(axis=0)
    Z = X / span
    score = np.zeros(X.shape[1])
    for i in range(len(X)):
        distance = [np.abs(Z[i] - Z[m]).sum() for m in range(len(X))]
        for c in np.unique(y):
            others = sorted((distance[m], m) for m in range(len(X)) if m != i and y[m] == c)[:k]
            apart = np.mean([np.abs(Z[i] - Z[m]) for _, m in others], axis=0)
            share = 1.0 if c == y[i] else np.mean(y == c) / (1 - np.mean(y == y[i]))
            score += (-1 if c == y[i] else 1) * share * apart / len(X)
    return score


@pytest.mark.parametrize(("classes", "k"), [(2, 1), (2, 5), (3, 4), (3, 100)])
def test_relief(classes, k):
    X, y = data(n=25, classes=classes)
    np.testing.assert_allclose(fitted("relief", X, y, n_neighbors=k).scores_, naive_relief(X, y, k), atol=1e-12)


def exact_relief(X, y, k):
    """Return the scores of `naive_relief`, as fractions of the decimals of X."""
    X = [[Fraction(repr(value)) for value in row] for row in np.asarray(X, dtype=float).tolist()]
    spans = [max(column) - min(column) or 1 for column in zip(*X, strict=True)]
    Z = [[value / span for value, span in zip(row, spans, strict=True)] for row in X]
    apart = [[[abs(a - b) for a, b in zip(one, other, strict=True)] for other in Z] for one in Z]
    counts, score = {c: list(y).count(c) for c in y}, [Fraction(0)] * len(spans)
    for i, c in itertools.product(range(len(X)), counts):
        others = sorted((sum(apart[i][m]), m) for m in range(len(X)) if m != i and y[m] == c)[:k]
        weight = -1 if c == y[i] else Fraction(counts[c], len(X) - counts[y[i]])
        for j in range(len(spans)):
            score[j] += weight * Fraction(sum(apart[i][m][j] for _, m in others), len(others) * len(X))
    return np.array([float(value) for value in score])


def test_relief_of_equal_distances_takes_the_first():
    X, y = [[3, 3, 1], [0, 3, 3], [2, 0, 3], [2, 0, 0], [1, 2, 1]], [0, 0, 0, 1, 1]
    np.testing.assert_allclose(fitted("relief", X, y, n_neighbors=1).scores_, [-1 / 3, -4 / 15, 2 / 15], rtol=1e-12)


# 0 … 3: one denominator; tenths; columns whose ranges have no common multiple below 2⁵³; binary fractions
@pytest.mark.parametrize("scale", [1, 0.1, [1, 10, 100, 1000, 10007, 10009, 10037, 10039], 2.0**-30 / 3])
@pytest.mark.parametrize("k", [1, 3])
def test_relief_compares_distances_exactly_whatever_the_order_of_columns(scale, k):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y, order = rng.integers(0, 4, (14, 8)), np.arange(14) % 2, rng.permutation(8)
        if np.size(scale) > 1:
            X[:2] = [[0] * 8, [1] * 8]  # then the columns have their scale as their span
            X = np.minimum(X, 1) * np.array(scale) + X % 2 * 6
        else:
            X = (X * scale).round(1) if scale == 0.1 else X * scale
        found = fitted("relief", X, y, n_neighbors=k).scores_
        if scale != 2.0**-30 / 3:  # these have more decimals than the test compares
            np.testing.assert_allclose(found, exact_relief(X, y, k), atol=1e-12)
        assert list(fitted("relief", X[:, order], y, n_neighbors=k).scores_) == list(found[order])


# ---- wrappers ----------------------------------------------------------------------------------------------


def left_out_error(X, targets, ridge):
    """Return the leave-one-out error by training without each unit; the bias is a constant feature."""
    Z, total = np.column_stack([X, np.ones(len(X))]), 0.0
    for i in range(len(X)):
        rows = np.arange(len(X)) != i
        w = np.linalg.solve(Z[rows].T @ Z[rows] + ridge * np.eye(Z.shape[1]), Z[rows].T @ targets[rows])
        total += ((Z[i] @ w - targets[i]) ** 2).sum()
    return total


def targets_of(y):
    classes = np.unique(y)
    return np.array([np.where(y == c, 1.0, -1.0) for c in (classes[1:] if len(classes) == 2 else classes)]).T


@pytest.mark.parametrize("classes", [2, 3])
def test_forward_search(classes):
    X, y = data(n=18, d=6, classes=classes)
    Z, chosen, errors = (X - X.mean(axis=0)) / X.std(axis=0), [], []
    for _ in range(3):
        tried = {j: left_out_error(Z[:, [*chosen, j]], targets_of(y), 0.5) for j in range(6) if j not in chosen}
        chosen.append(min(tried, key=tried.get))
        errors.append(tried[chosen[-1]] / len(X))
    found = fitted("forward", X, y, n_features=3, ridge=0.5)
    assert list(np.argsort(found.ranking_)[:3]) == chosen
    np.testing.assert_allclose(found.errors_, errors, rtol=1e-9)
    others = sorted((j for j in range(6) if j not in chosen), key=tried.get)
    assert list(np.argsort(found.ranking_)[3:]) == others


@pytest.mark.parametrize("classes", [2, 3])
def test_backward_search(classes):
    X, y = data(n=18, d=6, classes=classes)
    Z, left, gone = (X - X.mean(axis=0)) / X.std(axis=0), list(range(6)), []
    while left:
        tried = {j: left_out_error(Z[:, [i for i in left if i != j]], targets_of(y), 2.0) for j in left}
        gone.append(min(tried, key=tried.get))
        left.remove(gone[-1])
    found = fitted("backward", X, y, ridge=2.0, step=0.0)
    assert list(np.argsort(found.ranking_)) == gone[::-1]


@pytest.mark.parametrize("name", ["forward", "backward"])
def test_searches_take_real_labels(name):
    X, _ = data(n=40)
    y = 2 * X[:, 7] - X[:, 1] + 0.1
    assert set(np.flatnonzero(fitted(name, X, y, n_features=2).get_support())) == {1, 7}


# ---- embedded ----------------------------------------------------------------------------------------------


def test_recursive_elimination_is_that_of_scikit_learn():
    X, y = standard(*data(n=40, d=10, seed=5))
    found = fitted("recursive_elimination", X, y, C=0.5, step=0.0)
    rival = RFE(SVC(kernel="linear", C=0.5, tol=1e-6), n_features_to_select=1, step=1).fit(X, y)
    assert list(found.ranking_) == list(rival.ranking_)


def test_recursive_elimination_of_several_classes_sums_the_squares_of_one_against_the_rest():
    X, y = standard(*data(n=30, d=6, classes=3))
    left, gone = list(range(6)), []
    while left:
        machines = [SVC(kernel="linear", tol=1e-6).fit(X[:, left], y == c) for c in range(3)]
        weights = sum(machine.coef_[0] ** 2 for machine in machines)
        gone.append(left.pop(int(np.argmin(weights))))
    found = fitted("recursive_elimination", X, y, step=0.0)
    assert list(np.argsort(found.ranking_)) == gone[::-1]


@pytest.mark.parametrize("C", [0.05, 0.5, 5.0])
def test_the_one_norm_machine_reaches_the_optimum_of_the_dual_program(C):
    from scipy.optimize import linprog

    X, y = data(n=30, d=40)
    s = 2.0 * y - 1
    found = solve_one_norm(X, s, C)
    weights, nearness = found.weights, found.nearness
    bias = min(
        (s[i] - X[i] @ weights for i in range(len(X))),
        key=lambda b: np.maximum(0, 1 - s * (X @ weights + b)).sum(),
    )
    margins = np.maximum(0, 1 - s * (X @ weights + bias))
    primal = np.abs(weights).sum() + C * margins.sum()
    # max Σα: |Σ α_i y_i x_i| ≤ 1, Σ α_i y_i = 0, 0 ≤ α ≤ C
    signed = (s[:, None] * X).T
    dual = linprog(
        -np.ones(len(X)),
        A_ub=np.vstack([signed, -signed]),
        b_ub=np.ones(80),
        A_eq=s[None, :],
        b_eq=[0.0],
        bounds=(0, C),
        method="highs-ipm",
    )
    assert primal == pytest.approx(-dual.fun, rel=1e-7)
    assert nearness.max() <= 1 + 1e-7
    np.testing.assert_allclose(nearness[weights != 0], 1.0, rtol=1e-7)


def test_the_zero_norm_needs_few_of_many_features():
    X, y = data(n=50, d=60, seed=2)
    X[:, 9] = 3 * (2 * y - 1) + 0.3 * X[:, 9]
    found = fitted("zero_norm", X, y)
    assert found.ranking_[9] == 1
    assert np.count_nonzero(found.scores_ > -10) < 10


def test_a_round_of_the_zero_norm_multiplies_by_the_weights_of_a_machine():
    X, y = standard(*data(n=30, d=8))
    z = np.ones(8)
    for _ in range(2):
        w = np.abs(SVC(kernel="linear", C=2.0, tol=1e-6).fit(X * z, y).coef_[0])
        z = z * w / (z * w).max()
    found = fitted("zero_norm", X, y, C=2.0, max_iter=2)
    np.testing.assert_allclose(np.exp(found.scores_), z, rtol=1e-3, atol=1e-6)


def test_the_gradient_of_the_bound_is_that_of_finite_differences():
    X, y = data(n=20, d=5)
    sigma, second = np.random.default_rng(0).uniform(0.5, 1.5, 5), y == 1
    _, gradient = radius_margin(X, [second], sigma, 10.0)
    for j, step in itertools.product(range(5), [1e-3]):
        ends = [radius_margin(X, [second], sigma + sign * step * np.eye(5)[j], 10.0)[0] for sign in (1, -1)]
        assert gradient[j] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=2e-3, abs=1e-3 * abs(gradient).max())


def test_the_scales_of_r2w2_have_a_smaller_bound_than_equal_ones():
    X, y = data(n=30, d=15)
    found = fitted("r2w2", X, y, C=10.0)
    bounds = [radius_margin(X, [y == 1], sigma, 10.0)[0] for sigma in (np.ones(15), found.scores_)]
    assert bounds[1] < bounds[0] - 0.2
    assert (found.scores_ >= 0).all()


def test_dual_weights_are_those_of_the_machine_on_features():
    X, y = data()
    machine = SVC(kernel="linear", C=0.7, tol=1e-8).fit(X, y == 1)
    weights = dual_weights(X @ X.T, y == 1, 0.7, tol=1e-8) @ X
    np.testing.assert_allclose(weights, machine.coef_[0], atol=1e-5)


@pytest.mark.parametrize(
    "spec",
    [
        "mutual_information:bins=1",
        "relief:n_neighbors=0",
        "forward:ridge=0",
        "backward:step=1",
        "recursive_elimination:step=-0.1",
        "recursive_elimination:C=0",
        "one_norm:C=inf",
        "zero_norm:max_iter=0",
        "r2w2:C=-1",
    ],
)
def test_bad_parameters_are_refused(spec):
    with pytest.raises(ParameterError, match="is not possible"):
        build_selector(spec)
