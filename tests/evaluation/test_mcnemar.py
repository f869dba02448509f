"""McNemar's test against the binomial test, sums over all outcomes, and worked examples."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2

from seqkern.core.errors import LabelError, ParameterError
from seqkern.evaluation.single_task_tests import mcnemar, mcnemar_counts


@given(st.integers(0, 40), st.integers(0, 40))
def test_exact_is_the_binomial_test(wins, losses):
    test = mcnemar_counts(wins, losses, 100, "exact")
    assert test.p == pytest.approx(binomtest(wins, wins + losses).pvalue if wins + losses else 1)
    assert test.difference == pytest.approx((wins - losses) / 100)


@given(st.integers(0, 25), st.integers(0, 25))
def test_midp_counts_half_of_what_was_seen(wins, losses):
    n = wins + losses
    shares = [math.comb(n, i) / 2**n for i in range(n + 1)]
    seen = abs(2 * wins - n)
    naive = sum(share * (0.5 if abs(2 * i - n) == seen else abs(2 * i - n) > seen) for i, share in enumerate(shares))
    assert mcnemar_counts(wins, losses, 100).p == pytest.approx(naive if n else 1)
    assert mcnemar_counts(wins, losses, 100).p <= mcnemar_counts(wins, losses, 100, "exact").p


def test_worked_examples():
    # Fagerland, Lydersen, Laake 2013: 1 and 7 discordant pairs: exact 0.070, mid-p 0.039
    assert mcnemar_counts(1, 7, 21, "exact").p == pytest.approx(0.0703, abs=5e-5)
    assert mcnemar_counts(1, 7, 21, "midp").p == pytest.approx(0.0391, abs=5e-5)
    # as many wins as losses: 1 − pmf / 2
    assert mcnemar_counts(1, 1, 21).p == pytest.approx(0.75)
    assert mcnemar_counts(11, 11, 100).p == pytest.approx(0.9159, abs=5e-5)
    # 25 against 15: (|25 − 15| − 1)² / 40
    test = mcnemar_counts(25, 15, 10000, "corrected")
    assert (test.statistic, test.p) == pytest.approx((2.025, chi2.sf(2.025, 1)))
    assert mcnemar_counts(25, 15, 10000).statistic == pytest.approx(2.5)


def test_counts_come_from_predictions_of_any_classes():
    labels = np.array(["a", "b", "c", "a", "b", "c"])
    first = np.array(["a", "b", "c", "a", "b", "a"])
    second = np.array(["a", "c", "b", "b", "b", "c"])
    test = mcnemar(labels, first, second)
    assert (test.n, test.wins, test.losses) == (6, 3, 1)
    assert test.p == mcnemar(labels, second, first).p
    assert mcnemar(labels, first, first)[3:] == (0, 0, 1)


def test_what_cannot_be_tested():
    assert math.isnan(mcnemar([], [], []).p)
    with pytest.raises(LabelError, match="one prediction of each method"):
        mcnemar([1, 2], [1, 2], [1])
    with pytest.raises(ParameterError, match="choose midp or exact or corrected"):
        mcnemar([1], [1], [1], method="chi")
