"""The distributions without `scipy.stats` give its values, to the last bit."""

import numpy as np
import pytest
from scipy import stats

from seqkern.core.statistics import (
    NORMAL_975,
    average_ranks,
    normal_cdf,
    normal_quantile,
    normal_sf,
    student_quantile,
    student_sf,
)

RANDOM = np.random.default_rng(1)
Z, P = 3 * RANDOM.normal(size=1000), RANDOM.random(1000)


def test_the_normal_distribution_is_that_of_scipy():
    assert np.array_equal(normal_cdf(Z), stats.norm.cdf(Z))
    assert np.array_equal(normal_sf(Z), stats.norm.sf(Z))
    assert np.array_equal(normal_quantile(P), stats.norm.ppf(P))
    assert -normal_quantile(0.025) == stats.norm.isf(0.025)


@pytest.mark.parametrize("df", [1, 3.3, 4, 100, 1e6, np.inf])
def test_students_distribution_is_that_of_scipy(df):
    assert [-student_quantile(p, df) for p in P[:50]] == [stats.t.isf(p, df) for p in P[:50]]
    assert [student_sf(z, df) for z in Z[:50]] == [stats.t.sf(z, df) for z in Z[:50]]


def test_ties_share_their_mean_rank():
    values = RANDOM.integers(0, 50, 1000) / 7
    assert np.array_equal(average_ranks(values), stats.rankdata(values))
    assert average_ranks([]).shape == (0,)


def test_the_stored_quantile_is_that_of_scipy():
    assert stats.norm.ppf(0.975) == pytest.approx(NORMAL_975, rel=1e-15)
    assert normal_quantile(0.025) == -NORMAL_975
