"""Edges of scores and intervals: an absent class, nothing, everything, one more and one less."""

import math
import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from seqkern.core.errors import ParameterError
from seqkern.core.statistics import wilson_interval
from seqkern.evaluation.halving import _divisible
from seqkern.evaluation.intervals import accuracy_ends, quantile, share_ends
from seqkern.evaluation.many_task_tests import friedman
from seqkern.evaluation.metrics import balanced_accuracy
from seqkern.evaluation.selection import pair_resolution
from seqkern.evaluation.single_task_tests import delong_covariance, exchange_test
from seqkern.sequences.labels import make_labels


@pytest.mark.parametrize("seed", range(5))
def test_balanced_accuracy_ignores_classes_without_samples(seed):
    y, predicted = np.random.default_rng(seed).integers(5, size=(2, 12))
    y[y == 2] = 1
    y[:2] = 0, 1
    predicted[0] = 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns of the absent class
        assert balanced_accuracy(y, predicted) == pytest.approx(metrics.balanced_accuracy_score(y, predicted))


@pytest.mark.parametrize("n", [1, 7, 20, 300])
def test_wilsons_interval_touches_the_ends_exactly(n):
    assert wilson_interval(0, n)[0] == 0
    assert wilson_interval(n, n)[1] == 1
    for hits in range(1, n):
        low, high = wilson_interval(hits, n)
        assert 0 < low < hits / n < high < 1


def test_wilsons_interval_of_nothing():
    assert all(map(math.isnan, wilson_interval(0, 0)))


def test_no_variance_is_no_interval():
    assert all(map(math.isnan, share_ends(0.8, 0.0, 1)[1:]))
    assert all(map(math.isnan, share_ends(0.8, math.nan, 1)[1:]))


def test_two_test_sets_share_training_samples():
    one, two, five = (accuracy_ends(0.8, 100, parts, 1) for parts in (1, 2, 5))
    assert two == five
    assert two.high - two.low > one.high - one.low
    assert quantile(0) == quantile(1)


def test_one_class_has_no_auc_and_gives_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for y in ([1, 1, 1], [0, 0, 0]):
            areas, covariance = delong_covariance(y, [[1, 2, 3], [3, 1, 2]])
            assert np.isnan(areas).all()
            assert covariance.shape == (2, 2)
            assert np.isnan(covariance).all()


@pytest.mark.parametrize("seed", range(5))
def test_p_of_f_is_iman_and_davenports(seed):
    table = np.random.default_rng(seed).normal(size=(9, 4)) + np.arange(4) / 2
    chi_square = stats.friedmanchisquare(*table.T).statistic
    f = 8 * chi_square / (9 * 3 - chi_square)
    found = friedman(dict(enumerate(table.T)))
    assert (found.f, found.p_f) == pytest.approx((f, stats.f.sf(f, 3, 3 * 8)))


def test_resolution_of_uneven_folds():
    labels = make_labels(list("abcdefghij"), [0, 1, 1, 1, 0, 0, 1, 1, 1, 1])
    parts = [(None, np.arange(4)), (None, np.arange(4, 8)), (None, np.arange(8, 10))]
    # 1 × 3 and 2 × 2 pairs; the last fold has one class
    assert pair_resolution(labels, parts) == pytest.approx((1 / 3 + 1 / 4) / 2 / 2)
    assert pair_resolution(labels, parts[2:]) == 0


@pytest.mark.parametrize(("y", "groups", "expected"), [
    ("aabb", None, True),
    ("aaab", None, False),
    ("aabb", "wwxy", False),
    ("aabb", "wvxy", True),
])  # fmt: skip
def test_folds_need_two_members_of_each_class(y, groups, expected):
    labels = make_labels([str(i) for i in range(4)], list(y), groups=None if groups is None else list(groups))
    assert _divisible(labels) == expected


def test_a_seed_is_not_negative():
    with pytest.raises(ParameterError, match="seed"):
        exchange_test([0, 1], [1, 2], [2, 1], seed=-1)
