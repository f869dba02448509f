"""Bootstrap intervals: scores of counts against scores of lists, intervals against scipy's bootstrap and DeLong."""

import math

import numpy as np
import pytest
from scipy.stats import bootstrap, norm, t

from seqkern.core.errors import LabelError, ParameterError
from seqkern.evaluation import average_precision, delong_interval, delong_test, roc_auc, roc_n
from seqkern.evaluation.bootstrap import Sample, bootstrap_interval, bootstrap_test

SCORES = {"auc": roc_auc, "roc50": roc_n, "roc5": lambda y, d: roc_n(y, d, 5), "average_precision": average_precision}


def sample(seed, n=150, share=0.3, shift=1.0, digits=1):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    common = rng.normal(size=n)
    decisions = [np.round(common + skill * shift * y + 0.5 * rng.normal(size=n), digits) for skill in (1, 0.6)]
    return y, *decisions


@pytest.mark.parametrize("score", SCORES)
def test_scores_of_drawn_units_are_those_of_the_lists(score):
    y, first, second = sample(1, n=40)
    counter = Sample(y, [first, second], score, None)
    rng = np.random.default_rng(0)
    for _ in range(20):
        rows = np.concatenate([rng.choice(np.flatnonzero(side), side.sum()) for side in (y, ~y)])
        weights = np.bincount(rows, minlength=40)[None].astype(float)
        expected = [SCORES[score](y[rows], values[rows]) for values in (first, second)]
        assert counter.scores(weights)[0] == pytest.approx(expected)
    assert counter.whole() == pytest.approx([SCORES[score](y, first), SCORES[score](y, second)])


def naive_acceleration(y, d, score):
    """Efron's acceleration for two samples, with each unit left out in turn."""
    above = below = 0
    for side in (y, ~y):
        rows = np.flatnonzero(side)
        values = np.array([SCORES[score](np.delete(y, i), np.delete(d, i)) for i in rows])
        influence = (len(rows) - 1) * (values.mean() - values)
        above += (influence**3).sum() / len(rows) ** 3
        below += (influence**2).sum() / len(rows) ** 2
    return above / (6 * below**1.5)


@pytest.mark.parametrize("score", ["roc50", "average_precision"])
def test_acceleration_by_leaving_each_unit_out(score):
    y, d, _ = sample(2, n=60)
    assert Sample(y, [d], score, None).acceleration(0) == pytest.approx(naive_acceleration(y, d, score))


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_intervals_are_scipys_but_for_chance(method):
    y, d, _ = sample(3, n=80, share=0.25)

    def statistic(positives, negatives):
        labels = np.repeat([1, 0], [len(positives), len(negatives)])
        return average_precision(labels, np.concatenate([positives, negatives]))

    expected = bootstrap(
        (d[y], d[~y]), statistic, n_resamples=400, method=method, vectorized=False, rng=np.random.default_rng(1)
    )
    found = bootstrap_interval(y, d, "average_precision", method=method, n_resamples=4000, seed=2)
    # the ends of 400 draws have a standard error of about 0.13 standard errors of the score
    near = 0.35 * found.se
    assert found.se == pytest.approx(expected.standard_error, rel=0.12)
    assert found.low == pytest.approx(expected.confidence_interval.low, abs=near)
    assert found.high == pytest.approx(expected.confidence_interval.high, abs=near)


def test_of_the_auc_it_agrees_with_delong():
    y, first, second = sample(4, n=400)
    found = bootstrap_interval(y, first, "auc", method="percentile", n_resamples=3000)
    exact = delong_interval(y, first, scale="plain")
    assert found.score == pytest.approx(exact.auc)
    assert (found.se, found.low, found.high) == pytest.approx((exact.se, exact.low, exact.high), rel=0.05)
    test, other = bootstrap_test(y, first, second, "auc", n_resamples=3000), delong_test(y, first, second)
    assert (test.first, test.second, test.difference) == pytest.approx(other[:3])
    assert (test.se, test.t) == pytest.approx((other.se, other.z), rel=0.06)


def test_folds_are_ranked_apart_and_averaged():
    y, first, second = sample(5)
    folds = np.arange(len(y)) % 3
    moved = first + 10 * folds
    found = bootstrap_interval(y, moved, "roc5", folds=folds, n_resamples=50)
    assert found.score == pytest.approx(np.mean([roc_n(y[folds == f], first[folds == f], 5) for f in range(3)]))
    assert found == bootstrap_interval(y, first, "roc5", folds=folds, n_resamples=50)
    # a fold with one class counts for nothing
    more = [np.append(values, [0, 0]) for values in (y, first, second)]
    test = bootstrap_test(*more, "roc5", folds=np.append(folds, [7, 7]), n_resamples=50)
    assert test.difference == pytest.approx(bootstrap_test(y, first, second, "roc5", folds=folds).difference)


def test_the_paired_test_draws_one_unit_less_of_each_class():
    y, first, second = sample(7, n=24, share=0.4)
    both = Sample(y, [first, second], "auc", None)
    draws = both.draws(4000, 0, left_out=1)
    test = bootstrap_test(y, first, second, "auc", n_resamples=4000)
    assert test.se == pytest.approx((draws[:, 0] - draws[:, 1]).std(ddof=1))
    assert test.df == min(y.sum(), (~y).sum()) - 1
    assert test.p == pytest.approx(2 * t.sf(abs(test.difference) / test.se, test.df))
    # DeLong's variance is that of n - 1 already
    assert test.se == pytest.approx(delong_test(y, first, second).se, rel=0.08)
    # no test where a class of a part has one unit
    alone = np.where(np.arange(24) == np.flatnonzero(y)[0], 1, 0)
    assert math.isnan(bootstrap_test(alone, first, second, "auc").p)


def test_the_seed_decides_and_large_samples_are_drawn_in_parts(monkeypatch):
    y, first, _ = sample(6)
    whole = bootstrap_interval(y, first, "roc50", seed=3, n_resamples=200)
    assert whole == bootstrap_interval(y, first, "roc50", seed=3, n_resamples=200)
    assert whole != bootstrap_interval(y, first, "roc50", seed=4, n_resamples=200)
    monkeypatch.setattr("seqkern.evaluation.bootstrap.MOST_LEFT_OUT", 30)
    some = bootstrap_interval(y, first, "roc50", seed=3, n_resamples=200)
    assert some[:2] == whole[:2]
    assert some[2:] == pytest.approx(whole[2:], abs=0.5 * whole.se)


def test_what_has_no_interval():
    y = np.repeat([1, 0], 5)
    perfect = bootstrap_interval(y, y, "average_precision", n_resamples=20)
    assert (perfect.score, perfect.se) == (1, 0)
    assert math.isnan(perfect.low)
    assert all(map(math.isnan, bootstrap_interval(np.ones(4), np.arange(4.0))))
    assert all(map(math.isnan, bootstrap_test(np.ones(4), np.arange(4.0), np.arange(4.0))[:6]))
    assert bootstrap_test(y, y, 2 * y, n_resamples=20)[4:6] == (0, 1)
    assert math.isnan(bootstrap_test(y, y, -y, n_resamples=20).p)
    for bad in ("accuracy", "roc", "roc0", "rocky"):
        with pytest.raises(ParameterError, match="auc or roc50 or average_precision"):
            bootstrap_interval(y, y, bad)
    with pytest.raises(ParameterError, match="n_resamples"):
        bootstrap_interval(y, y, n_resamples=1)
    with pytest.raises(LabelError, match="one fold for each"):
        bootstrap_interval(y, y, folds=[1])


@pytest.mark.parametrize("share", [0.1, 0.2])
def test_the_bca_interval_is_efrons_formula_of_the_same_draws(share):
    y, d, _ = sample(8, n=60, share=share)
    found = bootstrap_interval(y, d, "average_precision", n_resamples=300, seed=1, level=0.9)
    counter = Sample(y, [d], "average_precision", None)
    draws, value = counter.draws(300, 1)[:, 0], counter.whole()[0]
    bias = norm.ppf(np.mean(np.sign(np.round(value - draws, 12)) + 1) / 2)
    skew = naive_acceleration(y, d, "average_precision")
    assert skew > 0.01
    moved = [bias + (bias + z) / (1 - skew * (bias + z)) for z in norm.ppf([0.05, 0.95])]
    assert (found.low, found.high) == pytest.approx(np.quantile(draws, norm.cdf(moved)), abs=1e-9)


def test_levels_outside_the_domain():
    y, d, _ = sample(9, n=20)
    for level in (-0.5, 0, 1, 1.5):
        with pytest.raises(ParameterError, match="level"):
            bootstrap_interval(y, d, level=level)
