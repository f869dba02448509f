"""DeLong's method against its definition, and against the bootstrap."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqkern.evaluation import delong_interval, delong_test, roc_auc


def naive_delong(y, *decisions):
    """AUCs and covariance from all P × N comparisons, as in DeLong et al. 1988."""
    y = np.asarray(y) > 0
    tables = [(np.sign(d[y][:, None] - d[~y][None, :]) + 1) / 2 for d in map(np.asarray, decisions)]
    v10 = np.array([table.mean(axis=1) for table in tables])
    v01 = np.array([table.mean(axis=0) for table in tables])
    areas = np.array([table.mean() for table in tables])
    p, n = tables[0].shape
    s10 = (v10 - areas[:, None]) @ (v10 - areas[:, None]).T / (p - 1)
    s01 = (v01 - areas[:, None]) @ (v01 - areas[:, None]).T / (n - 1)
    return areas, s10 / p + s01 / n


def sample(seed, n=80, shift=1.0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    common = rng.normal(size=n)
    first = np.round(common + shift * y + 0.5 * rng.normal(size=n), 1)
    second = np.round(common + 0.6 * shift * y + 0.5 * rng.normal(size=n), 1)
    return y, first, second


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=12),
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=12),
)
def test_mid_ranks_agree_with_all_comparisons(positives, negatives):
    y = np.repeat([1, 0], [len(positives), len(negatives)])
    first, second = np.array(positives + negatives, dtype=float).T
    areas, covariance = naive_delong(y, first, second)
    interval = delong_interval(y, first)
    assert interval.auc == pytest.approx(areas[0], abs=1e-12)
    assert interval.auc == pytest.approx(roc_auc(y, first), abs=1e-12)
    assert interval.se**2 == pytest.approx(covariance[0, 0], abs=1e-12)
    test = delong_test(y, first, second)
    assert test.difference == pytest.approx(areas[0] - areas[1], abs=1e-12)
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    assert test.se**2 == pytest.approx(variance, abs=1e-12)


def test_standard_errors_are_near_the_bootstrap():
    y, first, second = sample(3, n=300)
    rng = np.random.default_rng(0)
    rows = [np.flatnonzero(y), np.flatnonzero(~y)]
    areas = []
    for _ in range(600):
        draw = np.concatenate([rng.choice(part, len(part)) for part in rows])
        areas.append([roc_auc(y[draw], first[draw]), roc_auc(y[draw], second[draw])])
    areas = np.array(areas)
    assert delong_interval(y, first).se == pytest.approx(areas[:, 0].std(), rel=0.12)
    assert delong_test(y, first, second).se == pytest.approx((areas[:, 0] - areas[:, 1]).std(), rel=0.12)


def test_plain_interval_by_its_formula():
    y, first, _ = sample(1)
    (auc,), covariance = naive_delong(y, first)
    interval = delong_interval(y, first, scale="plain")
    assert interval.low == pytest.approx(auc - 1.959964 * math.sqrt(covariance[0, 0]), abs=1e-6)
    assert interval.high == pytest.approx(auc + 1.959964 * math.sqrt(covariance[0, 0]), abs=1e-6)


def test_logit_interval_by_its_formula():
    y, first, _ = sample(1)
    interval = delong_interval(y, first, level=0.9)
    auc, se = interval.auc, interval.se
    logit = math.log(auc / (1 - auc))
    for end, sign in ((interval.low, -1), (interval.high, 1)):
        assert math.log(end / (1 - end)) == pytest.approx(logit + sign * 1.644854 * se / (auc * (1 - auc)), abs=1e-5)


def test_logit_interval_stays_inside():
    y = np.repeat([1, 0], [4, 30])
    d = np.concatenate([[5, 6, 7, 1.5], np.linspace(0, 2, 30)])
    plain, logit = delong_interval(y, d, scale="plain"), delong_interval(y, d)
    assert plain.high == 1.0
    assert 0 < logit.low < logit.auc < logit.high < 1


def test_intervals_hold_the_true_area():
    # normal scores one standard deviation apart: AUC = Φ(1/√2)
    true = 0.7602499
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(400):
        y = np.repeat([1, 0], [30, 60])
        interval = delong_interval(y, rng.normal(size=90) + y)
        held += interval.low <= true <= interval.high
    assert 0.92 <= held / 400 <= 0.98


def test_p_values_are_even_where_nothing_differs():
    rng = np.random.default_rng(1)
    y = np.repeat([1, 0], [40, 60])
    p = [
        delong_test(y, common + rng.normal(size=100), common + rng.normal(size=100)).p
        for common in (rng.normal(size=100) + y for _ in range(400))
    ]
    assert 0.02 <= np.mean(np.array(p) < 0.05) <= 0.09
    assert 0.4 <= np.median(p) <= 0.6


def test_difference_is_found_and_has_a_sign():
    y, first, second = sample(5, n=400)
    test = delong_test(y, first, second)
    assert test.difference > 0
    assert test.p < 0.01
    swapped = delong_test(y, second, first)
    assert swapped.z == -test.z
    assert swapped.p == test.p


def test_equal_orders_do_not_differ():
    y, first, _ = sample(2)
    test = delong_test(y, first, 3 * first + 7)
    assert (test.difference, test.z, test.p) == (0, 0, 1)


@pytest.mark.filterwarnings("error")
def test_what_is_not_defined_is_nan():
    perfect = delong_interval([1, 1, 0, 0], [4.0, 3, 2, 1])
    assert (perfect.auc, perfect.se) == (1, 0)
    assert math.isnan(perfect.low)
    assert math.isnan(perfect.high)
    one = delong_interval([1, 0, 0], [4.0, 5, 1])
    assert one.auc == 0.5
    assert math.isnan(one.se)
    assert math.isnan(one.low)
    assert math.isnan(delong_interval([1, 1], [1.0, 2]).auc)
    assert math.isnan(delong_test([1, 1], [1.0, 2], [1.0, 2]).p)
    assert math.isnan(delong_test([1, 1, 0, 0], [4.0, 3, 2, 1], [1.0, 2, 3, 4]).p)
