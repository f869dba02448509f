"""How sure a score of a ranking is, from samples of the units drawn again: intervals and a paired test.

For ROC-n and average precision, for which there is no simple formula of the variance; for the AUC too, which checks
DeLong's. Units are drawn with replacement within each class of each test part, so that every sample has the classes'
sizes. Each draw is a row of how often each unit was drawn: sums over units with equal decisions then give the score of
many draws at once. The same seed gives the same draws. SciPy's `bootstrap` takes up to three times as long for
the BCa intervals, and cannot draw n − 1 of n units, as the test does.

References
----------
Efron 1987, J. Am. Stat. Assoc. 82:171-185 (BCa). Efron & Tibshirani 1993, An Introduction to the Bootstrap.
Hanley & McNeil 1983, Radiology 148:839-843: the test of a difference by its standard error.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import stats

from seqkern.core.checks import check_choice, check_integer, check_real
from seqkern.core.errors import LabelError
from seqkern.evaluation.ranking import as_binary

CELLS = 1 << 21
"""Draws times units held at once."""
MOST_LEFT_OUT = 1000
"""Units of a class of a test part that are left out one by one; of more, as many drawn at random stand for all."""


class ScoreInterval(NamedTuple):
    """A score, its standard error, and the ends of its confidence interval."""

    score: float
    se: float
    low: float
    high: float


class ScoreComparison(NamedTuple):
    """The scores of two methods on the same units, first − second, its standard error, their ratio t and two-sided p.

    `df` are the degrees of freedom of t.
    """

    first: float
    second: float
    difference: float
    se: float
    t: float
    p: float
    df: int


def bootstrap_interval(
    labels, decisions, score="roc50", *, level=0.95, method="bca", n_resamples=2000, seed=0, folds=None
):
    """Return a bootstrap confidence interval of a score.

    Parameters
    ----------
    labels, decisions : array_like, shape (n,)
        As in `roc_auc`.
    score : str
        ``auc``, ``average_precision``, or ``roc`` with a number, such as ``roc50``.
    level : float
        Share of intervals that hold the true score.
    method : {"bca", "percentile"}
        ``percentile``: quantiles of the draws' scores. ``bca``: quantiles corrected for bias and for a spread that
        changes with the score, by Efron's acceleration from leaving units out one by one.
    n_resamples : int
        Draws.
    seed : int
    folds : array_like, shape (n,), optional
        The test part of each unit; the score is then the mean of the parts', those with one class left out.

    Returns
    -------
    ScoreInterval
        NaN if no part holds both classes. The ends are NaN too where all draws have the same score, as with classes
        that are perfectly separated: that says nothing.
    """
    check_real("level", level, 0, 1, open_low=True)
    check_choice("method", method, ("bca", "percentile"))
    sample = Sample(labels, [decisions], score, folds)
    if not sample.parts:
        return ScoreInterval(*[math.nan] * 4)
    value, draws = float(sample.whole()[0]), sample.draws(n_resamples, seed)[:, 0]
    se = float(draws.std(ddof=1))
    if np.ptp(draws) < 1e-12:
        return ScoreInterval(value, se, math.nan, math.nan)
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if method == "bca":
        below = np.mean(draws < value - 1e-12) / 2 + np.mean(draws <= value + 1e-12) / 2
        bias, skew = stats.norm.ppf(below), sample.acceleration(seed)
        shifted = bias + stats.norm.ppf(tails)
        tails = stats.norm.cdf(bias + shifted / (1 - skew * shifted))
    return ScoreInterval(value, se, *map(float, np.quantile(draws, tails)))


def bootstrap_test(labels, first, second, score="roc50", *, n_resamples=2000, seed=0, folds=None):
    """Test whether two decisions on the same units have the same score: t is their difference over its standard error.

    The standard error is that over the draws, which are the same for both. Of n units of a class in a part n − 1 are
    drawn: n would give a variance that is too small by (n − 1)/n. The degrees of freedom are n − 1 of the smallest
    class of any part. With fewer than ten units there it hardly ever finds anything (docs/type_one_error.md).

    Parameters
    ----------
    labels : array_like, shape (n,)
    first, second : array_like, shape (n,)
        Decisions of two methods.
    score, n_resamples, seed, folds
        As in `bootstrap_interval`.

    Returns
    -------
    ScoreComparison
        p = 1 where the scores are equal in every draw; NaN if a class has fewer than two units in some part that holds
        both, if no part does, or where a difference is the same in every draw.
    """
    sample = Sample(labels, [first, second], score, folds)
    if not sample.parts:
        return ScoreComparison(*[math.nan] * 6, 0)
    a, b = map(float, sample.whole())
    df = sample.freedom
    if min(map(len, sample.strata)) < 2:
        return ScoreComparison(a, b, a - b, *[math.nan] * 3, df)
    draws = sample.draws(n_resamples, seed, left_out=1)
    se = float((draws[:, 0] - draws[:, 1]).std(ddof=1))
    difference = a - b
    if se < 1e-12:
        alike = abs(difference) < 1e-12
        return ScoreComparison(a, b, difference, 0.0, 0.0 if alike else math.nan, 1.0 if alike else math.nan, df)
    return ScoreComparison(a, b, difference, se, difference / se, float(2 * stats.t.sf(abs(difference) / se, df)), df)


class Sample:
    """Units in test parts, with the decisions of one method or two, and a score."""

    def __init__(self, labels, decisions, score, folds):
        pairs = [as_binary(labels, values) for values in decisions]
        positive = pairs[0][0]
        folds = np.zeros(len(positive), dtype=np.int64) if folds is None else np.asarray(folds)
        if folds.shape != positive.shape:
            raise LabelError(f"{positive.shape} labels in {folds.shape} folds", remedy="give one fold for each label")
        self.score, self.n = score_of_counts(score), len(positive)
        rows = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
        rows = [part for part in rows if positive[part].any() and not positive[part].all()]
        self.strata = [part[side] for part in rows for side in (positive[part], ~positive[part])]
        # for each part and method: its rows from the highest decision down, where a lower value begins, the positives
        self.parts = [[_ordered(part, values, positive) for _, values in pairs] for part in rows]

    @property
    def freedom(self):
        """Units of the smallest class of any part, less one: that small samples vary too little adds up over parts."""
        return min(map(len, self.strata)) - 1

    def whole(self):
        """Return the score of each method."""
        return self.scores(np.ones((1, self.n)))[0]

    def scores(self, weights):
        """Return float64 (draws, methods) from how often each unit counts, float64 (draws, n)."""
        columns = []
        for part in zip(*self.parts, strict=True):
            values = []
            for order, starts, positive in part:
                own = weights[:, order]
                values.append(
                    self.score(*(np.add.reduceat(own * side, starts, axis=1) for side in (positive, ~positive)))
                )
            columns.append(np.mean(values, axis=0))
        return np.stack(columns, axis=1)

    def draws(self, n_resamples, seed, left_out=0):
        """Return the scores of samples drawn within the strata, float64 (n_resamples, methods).

        From each stratum as many units are drawn as it has, less `left_out`.
        """
        check_integer("n_resamples", n_resamples, 2)
        check_integer("seed", seed, 0)
        rng = np.random.default_rng(seed)
        at_once = max(1, CELLS // self.n)
        found = []
        for first in range(0, n_resamples, at_once):
            count = min(at_once, n_resamples - first)
            weights = np.zeros((count, self.n))
            for stratum in self.strata:
                drawn = rng.integers(len(stratum), size=(count, len(stratum) - left_out))
                flat = (drawn + np.arange(count)[:, None] * len(stratum)).ravel()
                weights[:, stratum] = np.bincount(flat, minlength=count * len(stratum)).reshape(count, -1)
            found.append(self.scores(weights))
        return np.concatenate(found)

    def acceleration(self, seed):
        """Return Efron's acceleration for several samples, from the scores without one unit."""
        rng = np.random.default_rng([seed, 1])
        above = below = 0.0
        for stratum in self.strata:
            size = len(stratum)
            if size < 2:
                continue
            left_out = stratum if size <= MOST_LEFT_OUT else rng.choice(stratum, MOST_LEFT_OUT, replace=False)
            values = np.concatenate(list(self._without(left_out)))
            influence = (size - 1) * (values.mean() - values)
            above += size * np.mean(influence**3) / size**3
            below += size * np.mean(influence**2) / size**2
        return above / (6 * below**1.5) if below > 0 else 0.0

    def _without(self, units):
        """Yield the scores of the first method without each of some units."""
        at_once = max(1, CELLS // self.n)
        for first in range(0, len(units), at_once):
            some = units[first : first + at_once]
            weights = np.ones((len(some), self.n))
            weights[np.arange(len(some)), some] = 0
            yield self.scores(weights)[:, 0]


def _ordered(rows, decisions, positive):
    """Return the rows from the highest decision down, the places where a lower value begins, and which are positive."""
    order = rows[np.argsort(-decisions[rows], kind="stable")]
    starts = np.flatnonzero(np.append(True, np.diff(decisions[order]) != 0))
    return order, starts, positive[order]


def score_of_counts(name):
    """Return the function of a score: from counts of positives and negatives at each decision, float64 (draws, values).

    Decisions go down along the rows. It returns float64 (draws,), the numbers of `roc_auc`, `roc_n` and
    `average_precision`.
    """
    if name == "average_precision":
        return _average_precision
    if name == "auc":
        return lambda p, q: _roc_n(p, q, math.inf)
    number = str(name).removeprefix("roc")
    if str(name).startswith("roc") and number.isdecimal() and int(number):
        return lambda p, q: _roc_n(p, q, int(number))
    check_choice("score", name, ("auc", "roc50", "average_precision"))


def _roc_n(p, q, n):
    """Return ROC-n of counts."""
    passed = np.cumsum(q, axis=1) - q
    ahead = np.cumsum(p, axis=1) - p
    n = np.minimum(n, q.sum(axis=1))
    counted = np.clip(n[:, None] - passed, 0, q)
    total = (counted * ahead + p * (counted * (counted + 1) / 2) / (q + 1)).sum(axis=1)
    return total / (n * p.sum(axis=1))


def _average_precision(p, q):
    """Return the average precision of counts."""
    found, seen = np.cumsum(p, axis=1), np.cumsum(p + q, axis=1)
    precision = np.divide(found, seen, out=np.zeros_like(found), where=seen > 0)
    return (p * precision).sum(axis=1) / p.sum(axis=1)
