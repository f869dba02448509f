"""Friedman's test, Nemenyi's critical difference: against Demšar's worked example, scipy, and all orders."""

import math
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare, rankdata

from seqkern.core.errors import LabelError, ParameterError
from seqkern.evaluation.many_task_tests import (
    cliques,
    compare_to_control,
    critical_difference,
    friedman,
    least_friedman_p,
)

# Demšar 2006, table 6: ranks of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf by AUC on 14 data sets
NAMES = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")
RANKS = (
    *[(4, 3, 2, 1), (1, 2, 3, 4), (4, 1, 2, 3), (4, 1, 3, 2), (4, 2, 3, 1), (1, 2.5, 4, 2.5), (3, 2, 4, 1)],
    *[(2.5, 2.5, 4, 1), (4, 3, 2, 1), (2.5,) * 4, (4, 2.5, 1, 2.5), (3, 2, 4, 1), (4, 1, 2, 3), (3, 1, 4, 2)],
)
DEMSAR = dict(zip(NAMES, np.array(RANKS).T, strict=True))


def test_demsars_worked_example():
    test = friedman(DEMSAR, higher=False, correct_ties=False)
    assert np.round(test.ranks, 3).tolist() == [3.143, 2.000, 2.893, 1.964]
    assert (test.tasks, round(test.statistic, 2), round(test.f, 2)) == (14, 9.28, 3.69)
    # the critical value of F(3, 39) is 2.85 at 5%: the paper rejects
    assert test.p_f < 0.05
    assert critical_difference(4, 14) == pytest.approx(2.569 * math.sqrt(20 / 84), abs=2e-4)
    assert round(critical_difference(4, 14), 2) == 1.25
    assert round(critical_difference(4, 14, level=0.1), 2) == 1.12
    assert critical_difference(4, 14, test="bonferroni-dunn") == pytest.approx(2.394 * math.sqrt(20 / 84), abs=2e-4)
    # at 10%, C4.5 is worse than C4.5+m and C4.5+m+cf; nothing else is told apart
    assert cliques(test.ranks, critical_difference(4, 14, level=0.1)) == [[3, 1, 2], [2, 0]]


def test_quantiles_of_demsars_table_5():
    for q, test in (
        ([1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164], "nemenyi"),
        ([1.960, 2.241, 2.394, 2.498, 2.576, 2.638, 2.690], "bonferroni-dunn"),
    ):
        found = [critical_difference(k, 1, test=test) / math.sqrt(k * (k + 1) / 6) for k in range(2, len(q) + 2)]
        assert found == pytest.approx(q, abs=1.1e-3)


def test_comparisons_with_a_control():
    test = friedman(DEMSAR, higher=False, correct_ties=False)
    found = {one.method: one for one in compare_to_control(test, "C4.5")}
    se = math.sqrt(20 / 84)
    assert found["C4.5+m+cf"].z == pytest.approx((test.ranks[3] - test.ranks[0]) / se)
    p = {name: one.p for name, one in found.items()}
    assert p["C4.5+m+cf"] == pytest.approx(0.0158, abs=1e-4)
    assert found["C4.5+m+cf"].p_corrected == pytest.approx(3 * p["C4.5+m+cf"])
    assert found["C4.5+m"].p_corrected == pytest.approx(max(2 * p["C4.5+m"], 3 * p["C4.5+m+cf"]))
    dunn = compare_to_control(test, "C4.5", correction="bonferroni-dunn")
    assert [one.p_corrected for one in dunn] == pytest.approx([min(1, 3 * p[one.method]) for one in dunn])
    with pytest.raises(ParameterError, match=r"did you mean 'C4.5\+m'"):
        compare_to_control(test, "C4.5m")


tables = st.integers(3, 5).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, 4), min_size=k, max_size=k), min_size=2, max_size=12)
)


@settings(max_examples=40)
@given(tables)
def test_chi_square_is_scipys_with_its_correction_for_ties(rows):
    table = np.array(rows, dtype=float)
    if all(len(set(row)) == 1 for row in rows):
        return
    expected = friedmanchisquare(*table.T)
    for higher in (True, False):
        found = friedman(dict(enumerate(table.T)), higher=higher)
        assert found.statistic == pytest.approx(expected.statistic)
        assert found.p_chi2 == pytest.approx(expected.pvalue)


@settings(max_examples=15)
@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=2, max_size=4))
def test_exact_p_by_all_orders_of_every_task(rows):
    table = np.array(rows, dtype=float)
    ranks = rankdata(table, axis=1)

    def uneven(tasks):
        return float((np.sum(tasks, axis=0) ** 2).sum())

    orders = [[row[list(order)] for order in permutations(range(3))] for row in ranks]
    every = [uneven(tasks) for tasks in product(*orders)]
    found = friedman(dict(enumerate(table.T)), higher=False)
    assert found.exact
    assert found.p == pytest.approx(np.mean(np.array(every) >= uneven(ranks) - 1e-9))


def test_full_agreement_is_no_more_certain_than_few_tasks_allow():
    found = friedman({name: [value] * 3 for name, value in (("a", 1), ("b", 2), ("c", 3))})
    assert (found.f, found.p_f) == (math.inf, 0)
    assert found.p == pytest.approx(1 / 36)
    assert least_friedman_p(3, 3) == pytest.approx(1 / 36)
    many = friedman({i: [float(i)] * 3 for i in range(12)})
    assert not many.exact
    assert many.p == least_friedman_p(3, 12) > 0


def test_tasks_without_a_score_and_all_ties():
    found = friedman({"a": [1, 2, math.nan, 3], "b": [0, 1, 5, 2], "c": [0, 0, 5, 1]})
    assert (found.tasks, found.left_out) == (3, 1)
    assert friedman({"a": [1, 1], "b": [1, 1], "c": [1, 1]})[4:7] == (0, 0, 1)
    assert math.isnan(friedman({"a": [1], "b": [2]}).p)
    assert math.isnan(friedman({"a": [math.nan], "b": [2]}).ranks[0])
    for bad, words in (({"a": [1]}, "at least two"), ({"a": [1], "b": [1, 2]}, "one score for each task")):
        with pytest.raises(LabelError, match=words):
            friedman(bad)
    with pytest.raises(LabelError, match="infinite"):
        friedman({"a": [1, 2], "b": [1, math.inf]})


def test_cliques_are_the_largest_sets_within_the_difference():
    assert cliques([1, 1.5, 2.2, 4], 1) == [[0, 1], [1, 2]]
    assert cliques([3, 2, 1], 5) == [[2, 1, 0]]
    assert cliques([1, 3, 5], 1.9) == []
    assert cliques([1, 3], 2) == [[0, 1]]
