"""The inner loop: what it chooses, what it may see, and how it breaks ties."""

import math
from dataclasses import replace

import numpy as np
import pytest
from given import select

from seqkern.core.errors import FoldError, ParameterError
from seqkern.evaluation.selection import METRICS, inner_folds
from seqkern.sequences.labels import Labels
from seqkern.solvers import make_solver


class Scaled:
    """A stub: decisions are the first kernel column times a factor plus a shift, so that specs can be told apart."""

    def __init__(self, spec, kind):
        self.factor, self.kind, self.size = spec.get("factor", 1.0), kind, spec.get("size", ())
        self.shift = spec.get("shift", 0.0)

    def complexity(self):
        return self.size

    def fit(self, K, y):
        assert np.isfinite(K).all()
        assert K.shape == (len(y), len(y))
        self.y = np.asarray(y)
        return self

    def count_not_converged(self):
        return 0

    def fit_after(self, previous, K, y, groups=None):
        assert previous is None or previous.size <= self.size
        return self.fit(K, y)

    def decision_function(self, K):
        assert np.isfinite(K).all()
        assert K.shape[1] == len(self.y)
        if self.kind == "multiclass":
            return np.stack([self.factor * (K[:, 0] == c) for c in range(3)], axis=1)
        return self.factor * K[:, 0] + self.shift

    def predict(self, K):
        decisions = self.decision_function(K)
        if self.kind == "multiclass":
            return np.argmax(decisions, axis=1)
        return decisions if self.kind == "real" else np.where(decisions > 0, 1.0, -1.0)


def revealing(y):
    """Return a kernel whose every column is the label, by name, and the list of what was asked for."""
    asked = []

    def pair(train, valid, y_train):
        asked.append((train, valid, y_train))
        return np.tile(y[train, None], len(train)).astype(float), np.tile(y[valid, None], len(train)).astype(float)

    return {"k": pair}, asked


def binary(y, groups=None):
    return Labels([str(i) for i in range(len(y))], y, "binary", ("no", "yes"), groups=groups)


FACTORS = [{"solver": "s", "factor": factor} for factor in (-1.0, 0.0, 1.0)]


@pytest.mark.parametrize("metric", ["auto", "auc", "roc50", "balanced_accuracy", "mcc", "accuracy"])
def test_binary(metric):
    labels = binary([0, 1] * 10)
    pairs, asked = revealing(labels.signs())
    choice = select(pairs, labels, FACTORS, Scaled, folds=4, metric=metric, seed=1)
    assert choice.spec == FACTORS[2]
    assert choice.score == 1.0
    assert choice.scores.shape == (3, 4)
    assert choice.candidates == [("k", spec) for spec in FACTORS]
    assert sorted(row for _, valid, _ in asked for row in valid) == list(range(20))
    for train, valid, y_train in asked:
        assert sorted([*train, *valid]) == list(range(20))
        assert np.array_equal(y_train, labels.signs()[train])


@pytest.mark.parametrize("metric", ["auto", "macro_auc", "auc", "accuracy"])
def test_several_classes(metric):
    labels = Labels([str(i) for i in range(18)], [0, 1, 2] * 6, "multiclass", ("a", "b", "c"))
    pairs, _ = revealing(labels.y)
    choice = select(pairs, labels, FACTORS, Scaled, folds=3, metric=metric)
    assert choice.spec == FACTORS[2]
    assert choice.score == 1.0


@pytest.mark.parametrize("metric", ["auto", "r2", "rmse"])
def test_real_labels(metric):
    labels = Labels([str(i) for i in range(12)], np.arange(12.0), "real")
    pairs, _ = revealing(labels.y)
    choice = select(pairs, labels, FACTORS, Scaled, folds=3, metric=metric)
    assert choice.spec == FACTORS[2]
    assert choice.score == (0.0 if metric == "rmse" else 1.0)


def test_score_is_the_mean_over_inner_folds():
    labels = binary([0, 1] * 8)
    rng = np.random.default_rng(0)
    values = rng.normal(size=16) + labels.y
    pairs, asked = revealing(values)
    choice = select(pairs, labels, FACTORS, Scaled, folds=4, seed=3)
    naive = [
        np.mean([values[i] > values[j] for i in valid[labels.y[valid] == 1] for j in valid[labels.y[valid] == 0]])
        for _, valid, _ in asked
    ]
    assert choice.scores[2].tolist() == pytest.approx(naive)
    assert choice.score == pytest.approx(max(np.mean(naive), 0.5))


def test_each_metric_is_computed_once(monkeypatch):
    asked = []
    auc = METRICS["binary"]["auc"]
    monkeypatch.setitem(METRICS["binary"], "auc", lambda *outcome: asked.append(0) or auc(*outcome))
    labels = binary([0, 1] * 10)
    select(revealing(labels.signs())[0], labels, FACTORS, Scaled, folds=4)
    assert len(asked) == 4 * len(FACTORS)


def test_ties_go_to_the_simplest():
    labels = binary([0, 1] * 6)
    pairs, _ = revealing(labels.signs())
    grid = [{"size": (10, 0.1)}, {"size": (1, 0.1)}, {"size": (1, -0.5), "tol": 1}, {"size": (1, -0.5), "tol": 2}]
    assert select(pairs, labels, grid, Scaled).spec == grid[2]
    assert select(pairs, labels, grid[::-1], Scaled).spec == grid[3]
    # but never against the score
    better = [{"size": (1,), "factor": -1.0}, {"size": (100,), "factor": 1.0}]
    assert select(pairs, labels, better, Scaled).spec == better[1]


def test_equal_rankings_go_to_the_better_classes():
    """All rank perfectly; the shifted ones, though simpler, put everything in one class."""
    labels = binary([0, 1] * 6)
    pairs, _ = revealing(labels.signs())
    grid = [{"shift": 9.0, "size": (0,)}, {"shift": -9.0, "size": (1,)}, {"shift": 0.5, "size": (2,)}]
    for metric in ("auc", "roc50"):
        choice = select(pairs, labels, grid, Scaled, metric=metric)
        assert choice.spec == grid[2]
        assert choice.score == 1.0
        assert (choice.scores == 1.0).all()
    # but never against the ranking
    grid = [{"factor": -1.0}, {"factor": 1.0, "shift": 9.0}]
    assert select(pairs, labels, grid, Scaled).spec == grid[1]


def test_equal_classes_go_to_the_better_ranking():
    labels = Labels([str(i) for i in range(18)], [0, 1, 2] * 6, "multiclass", ("a", "b", "c"))
    pairs, _ = revealing(labels.y)
    grid = [{"name": "ranks nothing"}, {"name": "ranks all"}]

    class Predicts(Scaled):
        def __init__(self, spec, kind):
            super().__init__({}, kind)
            self.name = spec["name"]

        def decision_function(self, K):
            return super().decision_function(K) * (self.name == "ranks all")

        def predict(self, K):
            return np.asarray(K[:, 0], dtype=np.int64)

    choice = select(pairs, labels, grid, Predicts, metric="accuracy")
    assert choice.spec == grid[1]
    assert choice.score == 1.0


def test_kernels_are_chosen_like_solvers():
    labels = binary([0, 1] * 8)
    good, asked = revealing(labels.signs())
    noise = np.random.default_rng(1).normal(size=16)
    pairs = {"noise": revealing(noise)[0]["k"], "good": good["k"], "again": revealing(labels.signs())[0]["k"]}
    choice = select(pairs, labels, FACTORS, Scaled, folds=4)
    assert (choice.kernel, choice.spec) == ("good", FACTORS[2])
    assert choice.candidates == [(kernel, spec) for kernel in pairs for spec in FACTORS]
    assert choice.scores.shape == (9, 4)
    np.testing.assert_array_equal(choice.scores[3:6], choice.scores[6:])
    # one matrix of each kernel for each inner fold, whatever the number of solvers
    assert len(asked) == 4
    # of equally good kernels the first, but of equally good solvers the simplest of any kernel
    grid = [{"size": (2,)}, {"size": (1,)}]
    choice = select({"a": good["k"], "b": good["k"]}, labels, grid, Scaled)
    assert (choice.kernel, choice.spec) == ("a", grid[1])
    # one solver specification, several kernels
    assert select(pairs, labels, FACTORS[2:], Scaled).kernel == "good"


def test_what_solvers_call_simple():
    order = ["psvc:C=1,epsilon=0.5", "psvc:C=1,epsilon=0.1", "psvc:C=10,epsilon=0.1", "psvc:C=inf,epsilon=0.9"]
    sizes = [make_solver(spec, "binary").complexity() for spec in order]
    assert sorted(sizes) == sizes
    assert len(set(sizes)) == len(sizes)
    assert make_solver("csvc:C=1", "binary").complexity() < make_solver("csvc:C=inf", "binary").complexity()
    assert make_solver("csvc:C=3", "multiclass").complexity() == make_solver("csvc:C=3", "binary").complexity()


def test_one_specification_needs_no_loop():
    choice = select({"k": None}, binary([0, 1]), FACTORS[:1], None)
    assert choice.spec == FACTORS[0]
    assert math.isnan(choice.score)
    assert choice.scores.shape == (1, 0)


def test_nothing_outside_the_training_part_is_reached():
    """Every kernel value of a test row or column is NaN, and the stub refuses NaN."""
    n = 30
    y = np.array([0, 1] * 15)
    outer_train = np.flatnonzero(np.arange(n) % 3 != 0)
    K = np.full((n, n), np.nan)
    K[np.ix_(outer_train, outer_train)] = np.where(y[outer_train], 1.0, -1.0)[:, None]

    def pair(train, valid, y_train):
        rows, cols = outer_train[train], outer_train[valid]
        return K[np.ix_(rows, rows)], K[np.ix_(cols, rows)]

    choice = select({"k": pair}, binary(y[outer_train]), FACTORS, Scaled, folds=3)
    assert choice.spec == FACTORS[2]
    assert np.isfinite(choice.scores).all()


def test_groups_stay_together():
    groups = np.repeat([f"g{i}" for i in range(8)], 3)
    labels = binary([0, 0, 0, 1, 1, 1] * 4, groups=groups)
    folds = list(inner_folds(labels, 3, 0, labels.groups))
    assert len(folds) == 3
    for train, valid in folds:
        assert not set(groups[train]) & set(groups[valid])
    pairs, asked = revealing(labels.signs())
    select(pairs, labels, FACTORS, Scaled, folds=2)
    for train, valid, _ in asked:
        assert not set(groups[train]) & set(groups[valid])
    pairs, asked = revealing(labels.signs())
    given = np.arange(24) % 6
    select(pairs, replace(labels, groups=given), FACTORS, Scaled, folds=2)
    for train, valid, _ in asked:
        assert not set(given[train]) & set(given[valid])


def test_same_seed_same_folds():
    labels = binary([0, 1] * 20)
    one, two, three = (list(inner_folds(labels, 4, seed)) for seed in (1, 1, 2))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(one, two, strict=True))
    assert not all(np.array_equal(a[1], b[1]) for a, b in zip(one, three, strict=True))


def test_a_rare_class_lowers_the_number_of_folds():
    labels = binary([1, 1] + [0] * 10)
    folds = list(inner_folds(labels, 5, 0))
    assert len(folds) == 2
    for train, valid in folds:
        assert labels.y[train].sum() == labels.y[valid].sum() == 1
    with pytest.raises(FoldError, match="one sample"):
        list(inner_folds(binary([1] + [0] * 10), 5, 0))


def test_folds_that_cannot_be_scored_are_left_out():
    # one group holds most positives: its fold has no negatives beside it or the others lack positives
    groups = np.array(list("aaaabbcdef"))
    labels = binary([1, 1, 1, 1, 0, 1, 0, 0, 0, 0], groups=groups)
    pairs, asked = revealing(labels.signs())
    choice = select(pairs, labels, FACTORS, Scaled, folds=2)
    assert choice.spec == FACTORS[2]
    scorable = [valid for _, valid, _ in asked if 0 < labels.y[valid].sum() < len(valid)]
    assert choice.scores.shape[1] == len(scorable)
    assert scorable


def test_refusals():
    labels = binary([0, 1] * 5)
    pairs, _ = revealing(labels.signs())
    with pytest.raises(ParameterError, match="did you mean 'roc50'"):
        select(pairs, labels, FACTORS, Scaled, metric="roc5")
    with pytest.raises(ParameterError, match="inner metric for real labels 'auc'"):
        select(pairs, Labels(list("ab"), [1.0, 2.0], "real"), FACTORS, Scaled, metric="auc")
    with pytest.raises(ParameterError, match="no solver"):
        select(pairs, labels, [], Scaled)
    with pytest.raises(ParameterError, match="inner folds=1"):
        select(pairs, labels, FACTORS, Scaled, folds=1)
    real = Labels(list("abcd"), [1.0, 1.0, 1.0, 1.0], "real")
    with pytest.raises(FoldError, match="no inner fold can be scored"):
        select(revealing(real.y)[0], real, FACTORS, Scaled, folds=2)


class Column(Scaled):
    """A stub: decisions are one column of the kernel; the first is the simplest."""

    def __init__(self, spec, kind):
        super().__init__(spec, kind)
        self.column, self.size = spec["column"], (spec["column"],)

    def decision_function(self, K):
        return K[:, self.column]


def test_the_standard_error_is_that_of_the_metric_that_chooses():
    y = np.arange(24) % 2
    labels, folds = binary(y), 3
    signs = np.where(y > 0, 1.0, -1.0)
    # the second column ranks every fold perfectly, but in one fold all its decisions are positive
    columns = np.stack([signs, signs], axis=1)
    columns[next(inner_folds(labels, folds, 0))[1], 1] += 5
    # the first makes one mistake in every fold
    for _, valid in inner_folds(labels, folds, 0):
        columns[valid[:1], 0] *= -1

    def pair(train, valid, y_train):
        return tuple(np.pad(columns[rows], ((0, 0), (0, len(train) - 2))) for rows in (train, valid))

    specs = [("k", {"column": column}) for column in range(2)]
    choice = select({"k": pair}, labels, specs, Column, folds=folds, metric="auc", rule="one_standard_error")
    assert choice.spec == {"column": 1}
    assert choice.scores[1].tolist() == [1.0, 1.0, 1.0]
