"""The share of correct residues, chain by chain, and the interval of the total, for which a chain counts once."""

import math

import numpy as np
import pytest
from scipy import stats

from seqkern.evaluation.residue_results import ChainShares, share_interval
from seqkern.evaluation.single_task_tests import PairedDecisions


def test_of_chains_of_one_length_the_interval_is_that_of_the_mean_share():
    right, n = np.array([7, 9, 4, 8, 6]), np.full(5, 10)
    shares = right / 10
    found = share_interval(right, n)
    assert found.score == pytest.approx(shares.mean(), rel=1e-12)
    assert found.se == pytest.approx(stats.sem(shares), rel=1e-12)
    limits = stats.t.interval(0.95, 4, loc=shares.mean(), scale=stats.sem(shares))
    assert (found.low, found.high) == pytest.approx(limits, rel=1e-12)


def test_long_chains_weigh_more_and_chains_without_residues_nothing():
    right, n = np.array([30, 3, 8]), np.array([40, 5, 9])
    found = share_interval(right, n)
    assert found.score == 41 / 54
    deviations = sum((r - 41 / 54 * m) ** 2 for r, m in zip(right.tolist(), n.tolist(), strict=True))
    assert found.se == pytest.approx(math.sqrt(deviations * 3 / 2) / 54, rel=1e-12)
    assert share_interval(np.append(right, 0), np.append(n, 0)) == found


def test_limits_stay_between_0_and_1():
    found = share_interval(np.array([10, 0]), np.array([10, 10]))
    assert (found.low, found.high) == (0.0, 1.0)


def test_one_chain_has_a_share_and_no_interval_and_none_has_neither():
    one = share_interval(np.array([3]), np.array([4]))
    assert one.score == 0.75
    assert all(map(math.isnan, (one.se, one.low, one.high)))
    none = share_interval(np.array([0]), np.array([0]))
    assert all(map(math.isnan, (none.score, none.se, none.low, none.high)))


def test_a_chain_in_several_test_sets_counts_once_and_missing_decisions_do_not_count():
    ids = np.array(["a:1", "a:2", "b:1", "b:2", "a:1", "c:1"])
    splits = np.array(["1", "1", "1", "1", "2", "2"])
    states = np.array([0, 1, 2, 2, 0, 1])
    predicted = {"full": np.array([0, 0, 2, 2, 0, 1]), "short": np.array([0, 1, 0, 2, 0, -1])}
    shares = ChainShares(PairedDecisions("multiclass", ids, splits, states, {}, predicted, {}))
    assert shares.names == ["a", "b", "c"]
    found = shares.shares(["full", "short"])
    assert np.array_equal(found["full"], [2 / 3, 1.0, 1.0])
    assert np.array_equal(found["short"], [1.0, 0.5, np.nan], equal_nan=True)
    assert shares.interval("full").score == 5 / 6
    assert shares.interval("short").score == 4 / 5
