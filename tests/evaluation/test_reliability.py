"""Reliability diagrams: bins by definition, intervals against another implementation, their place in the report."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binomtest

from seqkern.core.statistics import wilson_interval
from seqkern.evaluation.calibration import reliability
from seqkern.evaluation.metrics import brier


@pytest.mark.parametrize("n", [1, 5, 10, 37, 200])
@pytest.mark.parametrize("digits", [1, 12])
def test_bins(n, digits):
    rng = np.random.default_rng(n)
    p = rng.random(n).round(digits)
    positive = rng.random(n) < p
    bins = reliability(positive, p)
    assert sum(one.n for one in bins) == n
    assert len(bins) <= 10
    assert sum(one.n * one.predicted for one in bins) == pytest.approx(p.sum())
    assert sum(one.n * one.observed for one in bins) == pytest.approx(positive.sum())
    assert all(a.predicted < b.predicted for a, b in pairwise(bins))
    if digits == 12 and n >= 10:
        assert {one.n for one in bins} <= {n // 10, n // 10 + 1}


def test_equal_probabilities_are_one_bin():
    (one,) = reliability([True, False, False, False], [0.3] * 4)
    assert (one.n, one.observed) == (4, 0.25)
    assert one.predicted == pytest.approx(0.3)
    assert reliability([], []) == []


@pytest.mark.parametrize(("hits", "n"), [(0, 5), (3, 7), (40, 90), (12, 12)])
def test_wilson(hits, n):
    theirs = binomtest(hits, n).proportion_ci(0.95, method="wilson")
    assert wilson_interval(hits, n) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_brier():
    assert brier([1, 0, 1], [1.0, 0.0, 0.5]) == pytest.approx(0.25 / 3)
    assert np.isnan(brier([], []))
    share = np.arange(10) < 3
    assert brier(share, np.full(10, 0.3)) == pytest.approx(0.3 * 0.7)
