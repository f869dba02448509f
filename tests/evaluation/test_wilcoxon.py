"""Comparisons of methods over tasks: against worked examples, scipy, and plain enumeration of all signs."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata, wilcoxon

from seqkern.core.errors import LabelError
from seqkern.evaluation import compare_all, holm, signed_rank_test
from seqkern.evaluation.many_task_tests import MOST_EXACT, least_p

# Demšar 2006, table 2: AUC of C4.5 and of C4.5 with m tuned, on 14 data sets
PLAIN = [0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1.000, 0.940, 0.619, 0.972, 0.957]
TUNED = [0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1.000, 0.962, 0.666, 0.981, 0.978]


def naive_p(differences):
    """p by all 2^n signs of the ranks of differences that are not zero."""
    ranks = rankdata(np.abs(differences))
    kept = ranks[differences != 0]
    middle = kept.sum() / 2
    seen = abs(ranks[differences > 0].sum() - middle)
    sums = [np.dot(signs, kept) for signs in product((0, 1), repeat=len(kept))]
    return np.mean([abs(value - middle) >= seen - 1e-9 for value in sums])


def test_the_ranks_of_a_published_example():
    result = signed_rank_test(TUNED, PLAIN)
    assert (result.tasks, result.wins, result.ties, result.losses) == (14, 10, 2, 2)
    # the paper's rank sums are 93 and 12, of which each has one of the two ties, rank 1.5
    assert result.statistic == 93 - 1.5
    assert signed_rank_test(PLAIN, TUNED).statistic == 12 - 1.5
    assert result.p == pytest.approx(naive_p(np.round(np.subtract(TUNED, PLAIN), 3)), abs=1e-15)
    assert result.p == 32 / 2**12
    assert result.median == pytest.approx(0.008)


def test_a_hand_worked_example():
    # differences 1, 2, -3, 4, 5 have ranks 1 to 5; a rank sum of 12 or more lacks {}, {1}, {2}, {3} or {1, 2}
    result = signed_rank_test([1, 2, 0, 4, 5], [0, 0, 3, 0, 0])
    assert (result.wins, result.ties, result.losses, result.statistic) == (4, 0, 1, 12)
    assert result.p == 2 * 5 / 32
    assert result.effect == pytest.approx((12 - 3) / 15)
    assert result.median == 2


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_p_is_the_share_of_all_signs(differences):
    result = signed_rank_test(np.array(differences) / 7, np.zeros(len(differences)))
    assert result.p == pytest.approx(naive_p(np.array(differences)), abs=1e-12)
    assert result.wins + result.ties + result.losses == result.tasks == len(differences)


@pytest.mark.parametrize("n", [1, 2, 7, 25, 50, 120])
def test_without_ties_p_is_that_of_scipy(n):
    first, second = np.random.default_rng(n).normal(size=(2, n))
    first += 0.2
    assert signed_rank_test(first, second).p == pytest.approx(wilcoxon(first, second, method="exact").pvalue)


def test_exact_and_approximate_p_meet_where_one_ends():
    rng = np.random.default_rng(5)
    differences = rng.integers(-20, 24, size=MOST_EXACT) / 100
    exact = signed_rank_test(differences, np.zeros(MOST_EXACT))
    longer = np.concatenate([differences, rng.integers(-20, 24, size=60) / 100])
    approximate = signed_rank_test(longer, np.zeros(len(longer)))
    known = {"zero_method": "pratt", "correction": False, "method": "asymptotic"}
    assert exact.p == pytest.approx(wilcoxon(differences, **known).pvalue, rel=0.02)
    assert approximate.p == pytest.approx(wilcoxon(longer, **known).pvalue, rel=1e-12)


def test_both_directions_agree_and_a_lower_score_may_win():
    first, second = [0.1, 0.2, 0.3, 0.3], [0.2, 0.4, 0.1, 0.3]
    one, other = signed_rank_test(first, second), signed_rank_test(second, first)
    assert (one.wins, one.losses, one.median, one.p) == (other.losses, other.wins, -other.median, other.p)
    lower = signed_rank_test(first, second, higher=False)
    assert (lower.wins, lower.losses, lower.p) == (one.losses, one.wins, one.p)
    assert lower.effect == pytest.approx(other.effect) == pytest.approx(-one.effect)
    assert signed_rank_test(first, first, higher=False).effect == 0


def test_rounding_errors_are_ties():
    result = signed_rank_test([0.1 + 0.2, 0.5], [0.3, 0.5])
    assert (result.ties, result.p) == (2, 1.0)


def test_tasks_without_a_score_are_left_out_and_counted():
    result = signed_rank_test([0.9, np.nan, 0.8, 0.7], [0.8, 0.7, np.nan, 0.9])
    assert (result.tasks, result.left_out) == (2, 2)
    assert result[2:] == signed_rank_test([0.9, 0.7], [0.8, 0.9])[2:]
    nothing = signed_rank_test([np.nan], [0.5])
    assert nothing.tasks == 0
    assert math.isnan(nothing.p)
    assert math.isnan(nothing.median)


@pytest.mark.parametrize(("first", "second"), [([1, 2], [1]), ([[1.0]], [[1.0]]), ([np.inf], [1])])
def test_what_is_not_paired_is_refused(first, second):
    with pytest.raises(LabelError):
        signed_rank_test(first, second)


def test_every_pair_is_compared_in_order():
    rng = np.random.default_rng(3)
    scores = {"good": 0.9 + rng.random(12) / 100, "middle": 0.8 + rng.random(12) / 5, "poor": rng.random(12) / 2}
    found = compare_all(scores)
    assert [(one.first, one.second) for one in found] == [("good", "middle"), ("good", "poor"), ("middle", "poor")]
    assert [one.p_holm for one in found] == pytest.approx(holm([one.test.p for one in found]))
    assert found[1].test.p == least_p(12) == 2 / 2**12
    assert found[1].p_holm == pytest.approx(3 * least_p(12))
