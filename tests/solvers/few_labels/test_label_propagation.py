"""Label propagation beside its formula, its iteration, and scikit-learn's label spreading."""

import numpy as np
import pytest
from sklearn.semi_supervised import LabelSpreading

from seqkern.core.errors import GramError
from seqkern.solvers import LabelPropagation


def problem(n=40, classes=2, seed=3):
    """Return a matrix of similarities, labels of which many are missing, and new rows."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n + 7, 3))
    K = np.exp(-((points[:, None] - points[None]) ** 2).sum(-1) / 2)
    y = np.where(rng.random(n) < 0.6, np.nan, np.searchsorted([-0.4, 0.4][: classes - 1], points[:n, 0]))
    return K[:n, :n], y, K[n:, :n]


def naive(K, y, new, a, k, by_class):
    """Return the decisions from the formula, in plain loops."""
    n, classes = len(K), sorted({int(value) for value in y if value == value})
    distance = [[K[i][i] - 2 * K[i][j] + K[j][j] for j in range(n)] for i in range(n)]
    near = [set(range(n)) - {i} for i in range(n)]
    if k is not None:
        near = [set(sorted(near[i], key=lambda j: distance[i][j])[:k]) for i in range(n)]
    W = np.array([[K[i][j] if j in near[i] or i in near[j] else 0.0 for j in range(n)] for i in range(n)])
    np.fill_diagonal(W, 0)
    D = np.diag(1 / np.sqrt(W.sum(axis=1)))
    sizes = [sum(value == c for value in y) for c in classes]
    entry = [sum(sizes) / (len(classes) * size) if by_class else 1.0 for size in sizes]
    Y = np.array([[entry[c] if y[i] == classes[c] else 0.0 for c in range(len(classes))] for i in range(n)])
    F = (1 - a) * np.linalg.inv(np.eye(n) - a * D @ W @ D) @ Y
    found = []
    for row in new:
        nearest = sorted(range(n), key=lambda j: K[j][j] - 2 * row[j])[: k or n]
        f = sum(row[j] * F[j] for j in nearest) / sum(row[j] for j in nearest)
        found.append(f[1] - f[0] if len(classes) == 2 else f)
    return np.array(found)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("k", [None, 4])
@pytest.mark.parametrize("weight", ["classes", "rows"])
def test_the_formula(classes, k, weight):
    K, y, new = problem(classes=classes)
    solver = LabelPropagation(alpha=0.8, n_neighbors=k, weight=weight).fit(K, y)
    wanted = naive(K, y, new, 0.8, k, weight == "classes")
    np.testing.assert_allclose(solver.decision_function(new), wanted, rtol=0, atol=1e-13)


def test_two_rows_by_hand():
    # S = [[0, 1], [1, 0]]: F = (1 − a)/(1 − a²) [1, a]ᵀ for the first class, [a, 1] for the second
    solver = LabelPropagation(alpha=0.5).fit(np.array([[1.0, 0.3], [0.3, 1.0]]), ["a", "b"])
    np.testing.assert_allclose(solver.spread_, [-1 / 3, 1 / 3])
    # a chain a – x – y – b: the middle rows take the label of their neighbour
    K = np.eye(4) + np.eye(4, k=1) + np.eye(4, k=-1)
    assert LabelPropagation().fit(K, ["a", "", "", "b"]).predict(np.eye(4)).tolist() == ["a", "a", "b", "b"]


def test_scikit_learn_spreads_alike():
    K, y, _ = problem(classes=3)
    other = LabelSpreading(kernel=lambda A, B: K, alpha=0.7, max_iter=2000, tol=1e-14)
    other.fit(np.arange(len(K))[:, None], np.where(np.isnan(y), -1, y).astype(int))
    ours = LabelPropagation(alpha=0.7, n_neighbors=None, weight="rows").fit(K, y).spread_
    np.testing.assert_allclose(ours / ours.sum(axis=1, keepdims=True), other.label_distributions_, atol=1e-9)


def test_the_limit_of_the_iteration_and_the_report():
    K, y, _ = problem()
    solver = LabelPropagation(alpha=0.9, n_neighbors=None, weight="rows").fit(K, y)
    W = K - np.eye(len(K))
    S = W / np.sqrt(np.outer(W.sum(axis=0), W.sum(axis=0)))
    Y = np.nan_to_num(2 * y - 1)
    F = Y.copy()
    for _ in range(400):
        F = 0.9 * S @ F + 0.1 * Y
    np.testing.assert_allclose(solver.spread_, F, atol=1e-12)
    assert solver.report_["residual"] < 1e-14
    assert solver.report_["n_unlabelled"] == np.isnan(y).sum()


def test_rows_alone():
    K = np.eye(5)
    solver = LabelPropagation().fit(K, ["a", "b", "", "", ""])
    assert solver.predict(K)[:2].tolist() == ["a", "b"]
    assert solver.decision_function(np.zeros((1, 5))).tolist() == [0.0]


def test_negative_values_are_refused():
    K, y, new = problem()
    bad = K.copy()
    bad[3, 2] = bad[2, 3] = -0.1
    with pytest.raises(GramError, match=r"row 2 has -0\.1, but label propagation needs similarities; choose a kernel"):
        LabelPropagation().fit(bad, y)
    solver = LabelPropagation().fit(K, y)
    new[4, 0] = -2
    with pytest.raises(GramError, match="row 4 has -2"):
        solver.decision_function(new)


def test_unlabelled_rows_help_where_classes_are_clusters():
    rng = np.random.default_rng(0)
    t = rng.uniform(0, np.pi, 150)
    moons = np.r_[np.c_[np.cos(t), np.sin(t)], np.c_[1 - np.cos(t), 0.5 - np.sin(t)]]
    moons += rng.normal(scale=0.05, size=moons.shape)
    K, truth = np.exp(-((moons[:, None] - moons) ** 2).sum(-1) / 0.1), np.repeat([0, 1], 150)
    few = np.array([20, 70, 180, 270])
    y = np.full(300, np.nan)
    y[few] = truth[few]
    spread = np.mean(LabelPropagation(alpha=0.99).fit(K, y).predict(K) == truth)
    alone = np.mean(LabelPropagation(alpha=0.99).fit(K[np.ix_(few, few)], truth[few]).predict(K[:, few]) == truth)
    assert spread > 0.95 > alone + 0.05
