"""DeLong's method against its definition, and against the bootstrap."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqkern.core.errors import LabelError
from seqkern.evaluation import delong_interval, delong_test, roc_auc

# pROC's data set aSAH (Robin et al. 2011, BMC Bioinformatics 12:77): 113 patients, 1 is a poor outcome
OUTCOME = (
    "00001101001011001011101000000000100110110000000001100010001010011101101111000110100000010000000000001111110001000"
)
WFNS = (
    "11113254125255125225211112121134214541425511241125521251222151125214524414121421232421451154221113125225552445111"
)
S100B = (  # in 1/100 μg/l
    "13 14 10 4 13 10 47 16 18 10 12 10 44 71 4 8 49 4 7 33 9 9 7 11 7 17 7 11 13 19 5 16 41 14 34 35 48 "
    "9 96 25 50 46 16 7 43 45 11 8 9 86 52 8 6 13 207 10 14 15 7 6 77 5 9 30 3 9 4 23 70 9 27 71 8 26 8 "
    "16 9 13 10 8 11 33 11 28 7 10 32 22 7 5 24 38 10 15 8 14 10 7 4 19 56 14 58 32 82 74 15 47 17 44 15 "
    "50 48 "
)


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


def test_worked_example_of_proc():
    """The numbers that pROC gives for its own example, ``roc.test(outcome, wfns, s100b)`` and ``ci.auc``."""
    y = np.array(list(map(int, OUTCOME)))
    wfns, s100b = np.array(list(map(int, WFNS))), np.array(list(map(int, S100B.split())))
    assert (len(y), y.sum()) == (113, 41)
    test = delong_test(y, wfns, s100b)
    assert (test.first, test.second) == pytest.approx((0.8236789, 0.7313686), abs=5e-8)
    assert test.z == pytest.approx(2.20898359144091, abs=1e-12)
    assert test.p == pytest.approx(0.0271757822291882, abs=1e-12)
    ends = [test.difference + sign * 1.959963984540054 * test.se for sign in (-1, 1)]
    assert ends == pytest.approx([0.0104061769564846, 0.174214419249478], abs=1e-12)
    assert delong_interval(y, s100b, scale="plain")[2:] == pytest.approx((0.6301, 0.8326), abs=5e-5)


def test_folds_are_compared_within_and_averaged():
    y, first, second = sample(7, n=300)
    folds = np.arange(300) % 3
    parts = [naive_delong(y[folds == f], first[folds == f], second[folds == f]) for f in range(3)]
    areas = np.mean([area for area, _ in parts], axis=0)
    covariance = sum(cov for _, cov in parts) / 9
    # decisions of other folds on quite another scale change nothing
    test = delong_test(y, first + 10 * folds, second * (folds + 1), folds=folds)
    assert (test.first, test.second) == pytest.approx(tuple(areas))
    assert test.se**2 == pytest.approx(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    assert delong_interval(y, first, folds=folds).se == pytest.approx(math.sqrt(covariance[0, 0]))
    one = delong_test(y, first, second, folds=np.zeros(300))
    assert one == pytest.approx(delong_test(y, first, second))


def test_parts_with_one_class_are_left_out_and_lone_units_give_no_variance():
    y, first, second = sample(8, n=60)
    y, more = np.append(y, [0, 0]), np.append(first, [1.0, 2.0])
    folds = np.repeat([0, 1], [60, 2])
    test = delong_test(y, more, np.append(second, [0.0, 0.0]), folds=folds)
    assert test == pytest.approx(delong_test(y[:60], first, second))
    assert math.isnan(delong_interval(np.append(y[:60], [0, 1]), more, folds=folds).se)
    assert math.isnan(delong_interval([0, 1], [0.0, 1.0], folds=[0, 1]).auc)
    with pytest.raises(LabelError, match="one fold for each label"):
        delong_interval(y[:60], first, folds=[0])
