"""Least squares on the best subset of features: searches and criteria against plain ones, intervals against sums."""

import itertools

import numpy as np
import pytest
from folded import InnerLoop, evaluate_fold
from scipy.stats import t as student

from seqkern.core.errors import ParameterError
from seqkern.core.tsv import read_tsv
from seqkern.evaluation import Split
from seqkern.evaluation.fold_tables import write_results
from seqkern.kernels import build_kernel
from seqkern.kernels.features import FeatureBlocks
from seqkern.methods.sources import FeatureSource
from seqkern.sequences.labels import Labels
from seqkern.sequences.tables import FeatureTable
from seqkern.solvers import BestBasis, solver_from_state
from seqkern.solvers.classic.best_basis import MAX_BRUTE
from seqkern.study.dataset import Task


def data(n=60, d=6, classes=2, seed=0):
    """Return features, of which the last depends on others, classes and groups."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 3.0
    X[:, -1] = X[:, 0] - 2 * X[:, 1] + 4
    score = X[:, 0] - 0.7 * X[:, 2] + 0.8 * rng.normal(size=n)
    return X, np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score), rng.permutation(n) % 12


def design(X, basis):
    """Return a column of ones and the features of a basis."""
    return np.column_stack([np.ones(len(X)), X[:, list(basis)]])


def squared_error(X, y, basis, train, test):
    """Return the sum of squared errors on some rows of what least squares learns from others."""
    weights = np.linalg.lstsq(design(X[train], basis), y[train], rcond=None)[0]
    return np.sum((y[test] - design(X[test], basis) @ weights) ** 2)


def naive(X, y, groups, criterion, folds):
    """Return the criterion of every subset whose features do not depend on each other, by tuple."""
    n, every, found = len(y), np.arange(len(y)), {}
    for size in range(X.shape[1] + 1):
        for basis in itertools.combinations(range(X.shape[1]), size):
            if np.linalg.matrix_rank(design(X, basis)) <= size:
                continue
            p, rss = size + 1, squared_error(X, y, basis, every, every)
            if criterion == "cp":
                noise = squared_error(X, y, range(5), every, every) / (n - 6)
                found[basis] = rss / noise - n + 2 * p
            elif criterion == "cv":
                parts = [(every[folds != fold], every[folds == fold]) for fold in np.unique(folds)]
                found[basis] = sum(squared_error(X, y, basis, *part) for part in parts) / n
            else:
                found[basis] = n * np.log(rss / n) + p * {"aic": 2.0, "bic": np.log(n)}[criterion]
    return found


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("criterion", ["aic", "bic", "cp", "cv"])
def test_brute_force_finds_the_best_of_all_subsets(criterion, grouped):
    X, y, groups = data()
    groups = groups if grouped else None
    solver = BestBasis(criterion=criterion, folds=4)
    solver.fit(X, y, groups)
    codes = None if groups is None else np.unique(groups, return_inverse=True)[1]
    folds = solver._folds(X, y.astype(np.int64), codes)
    if grouped:
        assert all(len(np.unique(folds[groups == group])) == 1 for group in range(12))
    found = naive(X, 2.0 * y - 1, groups, criterion, folds)
    best = min(found.values())
    assert solver.report_["objective"] == pytest.approx(best, rel=1e-9, abs=1e-8)
    assert found[tuple(solver.support_.tolist())] == pytest.approx(best, rel=1e-9, abs=1e-8)
    assert solver.report_["looked_at"] == 64
    weights = np.linalg.lstsq(design(X, solver.support_), 2.0 * y - 1, rcond=None)[0]
    np.testing.assert_allclose(np.append(solver.intercept_, solver.coef_), weights, rtol=0, atol=1e-9)


@pytest.mark.parametrize("criterion", ["bic", "cv"])
@pytest.mark.parametrize("search", ["stepwise", "local"])
def test_searches_end_where_no_step_is_better(search, criterion):
    X, y, groups = data(n=80, d=7, seed=3)
    solver = BestBasis(search=search, criterion=criterion, restarts=2).fit(X, y, groups)
    found = naive(X, 2.0 * y - 1, groups, criterion, solver._folds(X, y, groups))
    own = set(solver.support_.tolist())
    assert found[tuple(sorted(own))] == pytest.approx(solver.report_["objective"], rel=1e-9)
    steps = [own ^ {j} for j in range(7)]
    if search == "local":
        steps += [own - {i} | {j} for i in own for j in set(range(7)) - own]
        assert solver.report_["objective"] == pytest.approx(min(found.values()), rel=1e-9)
    for step in steps:
        assert found.get(tuple(sorted(step)), np.inf) >= solver.report_["objective"] - 1e-9


def test_each_class_has_its_own_basis():
    X, y, groups = data(n=90, classes=3, seed=1)
    solver = BestBasis().fit(X, y, groups)
    decisions = solver.decision_function(X)
    for k in range(3):
        one = BestBasis().fit(X, y == k, groups)
        np.testing.assert_allclose(decisions[:, k], one.decision_function(X), rtol=0, atol=1e-9)
        np.testing.assert_allclose(solver.table_[k], one.table_[0], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(solver.support_, np.flatnonzero(np.isfinite(solver.table_[:, :, 0]).any(axis=0)))


@pytest.mark.parametrize("grouped", [False, True])
def test_intervals(grouped):
    X, y, groups = data(n=70, seed=2)
    solver = BestBasis(criterion="aic", level=0.9).fit(X, y, groups if grouped else None)
    names, n = groups if grouped else np.arange(70), 70
    count = len(np.unique(names))
    for basis, own in ((solver.support_, solver.table_[0, :, :3]), (np.arange(5), solver.table_[0, :, 3:])):
        A, target = design(X, basis), 2.0 * y - 1
        weights = np.linalg.solve(A.T @ A, A.T @ target)
        scores = A * (target - A @ weights)[:, None]
        sums = np.array([scores[names == name].sum(axis=0) for name in np.unique(names)])
        covariance = np.linalg.inv(A.T @ A) @ (sums.T @ sums) @ np.linalg.inv(A.T @ A)
        factor = count / (count - 1) * (n - 1) / (n - A.shape[1])
        ends = student.ppf(0.95, count - 1) * np.sqrt(factor * np.diagonal(covariance))
        expected = np.stack([weights, weights - ends, weights + ends], axis=1)[1:]
        np.testing.assert_allclose(own[basis], expected, rtol=1e-8, atol=1e-9)
        assert np.isnan(np.delete(own, basis, axis=0)).all()


def test_one_group_gives_no_interval():
    X, y, _ = data()
    table = BestBasis().fit(X, y, np.zeros(len(y))).table_
    assert np.isfinite(table[0, 0, 0])
    assert np.isnan(table[..., [1, 2, 4, 5]]).all()


def test_blocks_give_what_the_matrix_gives():
    X, y, groups = data(n=3000, d=9, seed=4)
    blocks = FeatureBlocks(X.shape, np.float64, lambda rows: X[rows])
    one, other = BestBasis().fit(X, y, groups), BestBasis().fit(blocks, y, groups)
    np.testing.assert_array_equal(one.table_, other.table_)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(blocks), rtol=0, atol=1e-12)


def test_two_to_the_twenty_subsets():
    rng = np.random.default_rng(8)
    X, noise = rng.normal(size=(300, MAX_BRUTE)), rng.normal(size=300)
    y = X[:, [3, 11, 19]].sum(axis=1) + noise > 0
    solver = BestBasis().fit(X, y)
    assert {3, 11, 19} <= set(solver.support_.tolist())
    assert solver.report_["looked_at"] == 2**20
    local = BestBasis(search="local").fit(X, y)
    np.testing.assert_array_equal(local.support_, solver.support_)


@pytest.mark.parametrize("classes", [2, 3])
def test_intervals_reach_the_table_of_a_fold(classes, tmp_path):
    X, y, groups = data(n=90, classes=classes)
    names = ("helix", "strand", "coil")[:classes]
    kind = "binary" if classes == 2 else "multiclass"
    labels = Labels([f"u{i}" for i in range(90)], y, kind, names, groups=groups)
    source = FeatureSource(build_kernel("linear"), FeatureTable(X, labels.ids, list("ACDEFG")))
    split = Split("1", np.arange(60), np.arange(60, 90))
    result = evaluate_fold(Task("all", labels), split, {"linear": source}, [{"solver": "best_basis"}], InnerLoop())
    write_results(tmp_path, [result])
    rows = read_tsv(tmp_path / "intervals.tsv")
    assert [(row["class"], row["feature"]) for row in rows] == list(
        itertools.product(names[1:] if classes == 2 else names, "ACDEFG")
    )
    table = BestBasis().fit(X[:60], y[:60], groups[:60]).table_.reshape(-1, 6)
    for row, own in zip(rows, table, strict=True):
        columns = ("weight", "low", "high", "full_weight", "full_low", "full_high")
        found = [float(row[key]) if row[key] else np.nan for key in columns]
        np.testing.assert_allclose(found, own, rtol=1e-9)
        assert row["selected"] == str(int(np.isfinite(own[0])))


def test_state_is_finite_and_keeps_what_is_not_known():
    X, y, groups = data()
    solver = BestBasis().fit(X, y, groups)
    header, arrays = solver.state()
    assert all(np.isfinite(values).all() for key, values in arrays.items() if key != "classes")
    assert np.isnan(solver.table_).any()
    np.testing.assert_array_equal(solver_from_state(header, arrays).table_, solver.table_)


def test_what_is_refused():
    X, y, groups = data()
    with pytest.raises(ParameterError, match="stepwise or local"):
        BestBasis().fit(np.tile(X, 4), y)
    with pytest.raises(ParameterError, match="folds=13 is not possible with 12 groups"):
        BestBasis(criterion="cv", folds=13).fit(X, y, groups)
