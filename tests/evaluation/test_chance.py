"""Scores against chance: exact moments against all permutations, and the type I error on noise."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from seqkern.core.statistics import holm
from seqkern.evaluation.chance import (
    Permuted,
    chance_test,
    permuted_accuracy,
    permuted_auc,
    permuted_error,
    permuted_sum,
    variance_of_mean,
)


def enumerated(score, labels):
    """Return the mean and the variance of a score over all orders of the labels."""
    values = [score(np.array(order)) for order in itertools.permutations(labels)]
    return np.mean(values), np.var(values)


def naive_auc(positive, decision):
    pairs = np.subtract.outer(decision[positive], decision[~positive])
    return np.mean((pairs > 0) + 0.5 * (pairs == 0))


@pytest.mark.parametrize("seed", range(4))
def test_moments_of_the_auc_are_those_of_all_permutations(seed):
    rng = np.random.default_rng(seed)
    labels, decisions = np.array([0, 0, 0, 1, 1, 1, 1]), rng.integers(5, size=7).astype(float)
    found = permuted_auc(labels, decisions)
    expected = enumerated(lambda y: naive_auc(y == 1, decisions), labels)
    assert found.score == pytest.approx(metrics.roc_auc_score(labels, decisions))
    assert (found.mean, found.variance) == pytest.approx(expected)
    assert found.mean == pytest.approx(0.5)


def test_the_variance_without_ties_is_that_of_the_rank_sum():
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], [70, 30])
    assert permuted_auc(labels, rng.random(100)).variance == pytest.approx(101 / (12 * 70 * 30))


@pytest.mark.parametrize("seed", range(3))
def test_moments_of_several_classes_are_those_of_all_permutations(seed):
    rng = np.random.default_rng(seed)
    labels, decisions = np.array([0, 0, 1, 1, 1, 2, 2]), rng.integers(6, size=(7, 3)).astype(float)

    def macro(y):
        return np.mean([naive_auc(y == c, decisions[:, c]) for c in range(3)])

    found = permuted_auc(labels, decisions)
    assert tuple(found) == pytest.approx((macro(labels), *enumerated(macro, labels)))
    predicted = decisions.argmax(axis=1)
    found = permuted_accuracy(labels, predicted)
    assert tuple(found) == pytest.approx(
        (np.mean(labels == predicted), *enumerated(lambda y: np.mean(y == predicted), labels))
    )


def test_moments_of_the_squared_error_are_those_of_all_permutations():
    rng = np.random.default_rng(3)
    labels, predicted = rng.normal(size=7), rng.normal(size=7)

    def score(y):
        return -np.mean((y - predicted) ** 2)

    assert tuple(permuted_error(labels, predicted)) == pytest.approx((score(labels), *enumerated(score, labels)))


def test_what_says_nothing_is_chance():
    constant = permuted_auc([0, 1, 0, 1], np.zeros(4))
    assert (constant.score, constant.variance) == (0.5, 0)
    assert chance_test([constant, constant]).p == 1
    assert math.isnan(permuted_auc([1, 1, 1], np.arange(3)).score)
    assert math.isnan(chance_test([Permuted(*[math.nan] * 3)]).p)
    assert permuted_sum([[0.0, 1.0]], [1]).variance == 0


def test_perfect_decisions_have_a_p():
    labels = np.repeat([0, 1], 20)
    found = chance_test([permuted_auc(labels, np.arange(40.0))])
    assert found.score == 1
    assert found.p == pytest.approx(2 * stats.norm.sf(0.5 / math.sqrt(41 / (12 * 20 * 20))))


def test_parts_on_different_scales_change_nothing():
    rng = np.random.default_rng(5)
    labels, decisions = rng.integers(2, size=(4, 30)), rng.normal(size=(4, 30))
    scaled = decisions * 10.0 ** np.arange(4)[:, None] + np.arange(4)[:, None]
    one, other = (
        chance_test([permuted_auc(y, d) for y, d in zip(labels, values, strict=True)]) for values in (decisions, scaled)
    )
    assert one == pytest.approx(other)


def test_parts_that_overlap_are_worth_one():
    assert variance_of_mean([0.01] * 10, tested_once=False) == pytest.approx(0.01)
    assert variance_of_mean([0.01] * 10) == pytest.approx(0.002)
    assert variance_of_mean([0.01, 0.01]) == pytest.approx(0.01)  # never more than fully dependent parts
    assert math.isnan(variance_of_mean([]))


def cross_validated(rng, methods, n=100, k=5):
    """Return (p after Holm, p of folds taken as independent) of useless methods on labels that are noise."""
    labels = rng.permutation(np.repeat([0, 1], n // 2))
    fold = np.empty(n, dtype=int)
    for c in (0, 1):
        fold[labels == c] = rng.permutation(np.arange(n // 2) % k)
    found, naive = [], []
    for _ in range(methods):
        features = rng.normal(size=(n, 10))
        parts = []
        for f in range(k):
            train, test = fold != f, fold == f
            signs = np.where(labels[train] == 1, 1 / np.sum(labels[train] == 1), -1 / np.sum(labels[train] == 0))
            parts.append(permuted_auc(labels[test], features[test] @ (signs @ features[train])))
        one = chance_test(parts)
        found.append(one.p if one.z > 0 else 1.0)
        z = (one.score - one.chance) / math.sqrt(sum(part.variance for part in parts) / k**2)
        naive.append(math.erfc(z / math.sqrt(2)) if z > 0 else 1.0)
    return holm(found).min(), holm(naive).min()


@pytest.mark.nightly
def test_the_best_of_24_useless_methods_is_rarely_significant():
    rng = np.random.default_rng(0)
    p = np.array([cross_validated(rng, 24) for _ in range(200)])
    share, without_factor = np.mean(p <= 0.05, axis=0)
    assert share <= 0.025
    assert without_factor > 0.08  # at 0.025: folds are not independent


def grouped_folds(rng, groups=40, members=5, k=5, signal=0.0):
    """Return the test of a classifier of families, with and without regard to them; labels are those of families."""
    labels = rng.permutation(np.repeat([0, 1], groups // 2))
    fold = np.empty(groups, dtype=int)
    for c in (0, 1):
        fold[labels == c] = rng.permutation(np.arange(groups // 2) % k)
    centres = rng.normal(size=(groups, 10))
    centres[:, 0] += signal * labels
    group = np.repeat(np.arange(groups), members)
    features, y = centres[group] + 0.3 * rng.normal(size=(len(group), 10)), labels[group]
    found = {True: [], False: []}
    for f in range(k):
        train, test = fold[group] != f, fold[group] == f
        normal = features[train & (y == 1)].mean(axis=0) - features[train & (y == 0)].mean(axis=0)
        for known, parts in found.items():
            parts.append(permuted_auc(y[test], features[test] @ normal, group[test] if known else None))
    return chance_test(found[True]), chance_test(found[False])


def test_families_with_one_label_are_not_independent_samples():
    rng = np.random.default_rng(4)
    both = [[test.z > 0 and test.p <= 0.05 for test in grouped_folds(rng)] for _ in range(200)]
    with_groups, without = np.mean(both, axis=0)
    assert with_groups <= 0.035
    assert without > 0.12
    found = [grouped_folds(rng, signal=4)[0].p for _ in range(20)]
    assert np.mean(np.array(found) <= 0.05) > 0.9


def test_groups_of_one_sample_or_with_both_labels_change_nothing():
    rng = np.random.default_rng(6)
    labels, decisions = np.tile([0, 1], 10), rng.normal(size=20)
    assert permuted_auc(labels, decisions, np.arange(20)) == permuted_auc(labels, decisions)
    assert permuted_auc(labels, decisions, np.arange(20) // 2) == permuted_auc(labels, decisions)
    assert permuted_auc(labels, decisions, labels).variance > permuted_auc(labels, decisions).variance


def test_a_useful_method_is_found():
    rng = np.random.default_rng(2)
    labels = np.tile([0, 1], (5, 20))
    parts = [permuted_auc(y, rng.normal(size=40) + y) for y in labels]
    assert chance_test(parts).p * 24 < 0.01


def test_a_class_of_one_and_a_class_without_samples():
    decisions = np.random.default_rng(4).integers(6, size=(7, 4)).astype(float)
    labels = np.array([0, 0, 0, 1, 2, 2, 2])
    present = permuted_auc(labels, decisions[:, :3])
    assert tuple(permuted_auc(labels, decisions)) == pytest.approx(tuple(present))

    def macro(y):
        return np.mean([naive_auc(y == c, decisions[:, c]) for c in range(3)])

    assert tuple(present) == pytest.approx((macro(labels), *enumerated(macro, labels)))


def test_one_number_has_one_order():
    assert tuple(permuted_error([1.0], [3.0])) == (-4.0, -4.0, 0.0)
    assert permuted_error([1.0, 2.0], [3.0, 5.0]).variance > 0
