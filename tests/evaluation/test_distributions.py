"""Ranks and a quantile without `scipy.stats` are its own, to the last bit."""

import numpy as np
import pytest
from scipy import stats

from seqkern.core.statistics import NORMAL_975, average_ranks

RANDOM = np.random.default_rng(1)


def test_ties_share_their_mean_rank():
    values = RANDOM.integers(0, 50, 1000) / 7
    assert np.array_equal(average_ranks(values), stats.rankdata(values))
    assert average_ranks([]).shape == (0,)


def test_the_stored_quantile_is_that_of_scipy():
    assert stats.norm.ppf(0.975) == pytest.approx(NORMAL_975, rel=1e-15)
    assert stats.norm.ppf(0.025) == -NORMAL_975
