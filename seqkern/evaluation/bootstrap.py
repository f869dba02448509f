"""The uncertainty of a ranking score, by resampling with replacement: intervals and a paired test.

It serves ROC-n and average precision, which have no simple variance formula, and the AUC as a check of DeLong's
method. Samples are drawn within each class of each test set, so that every draw has the same class sizes. A draw is
stored as the count of each sample: sums over samples with equal decisions then give the score of many draws at
once. The same seed gives the same draws. SciPy's `bootstrap` takes up to three times as long for BCa intervals, and
cannot draw n − 1 of n samples, as the test does.

References
----------
Efron 1987, J. Am. Stat. Assoc. 82:171-185 (BCa). Efron & Tibshirani 1993, An Introduction to the Bootstrap.
Hanley & McNeil 1983, Radiology 148:839-843: testing a difference by its standard error.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from seqkern.core.checks import check_choice, check_integer, check_real
from seqkern.core.errors import LabelError
from seqkern.core.types import Bools, Floats, Ints
from seqkern.evaluation.ranking import as_binary, roc_n_of_counts

CELLS = 1 << 21
"""Maximum number of draws times samples in memory."""
MOST_LEFT_OUT = 1000
"""Samples of a class of a test set left out one by one; for larger classes a random subset of this size."""


class ScoreInterval(NamedTuple):
    """A score, its standard error, and its confidence limits.

    >>> ScoreInterval(score=0.84, se=0.13, low=0.47, high=0.98).score
    0.84
    """

    score: float
    se: float
    low: float
    high: float


class ScoreComparison(NamedTuple):
    """Scores of two methods on the same samples: the difference first − second, its standard error, t and two-sided p.

    `df` is the number of degrees of freedom of t.

    >>> ScoreComparison(first=0.9, second=0.8, difference=0.1, se=0.05, t=2.0, p=0.06, df=19).df
    19
    """

    first: float
    second: float
    difference: float
    se: float
    t: float
    p: float
    df: int


def bootstrap_interval(
    labels: npt.ArrayLike,
    decisions: npt.ArrayLike,
    score: str = "roc50",
    *,
    level: float = 0.95,
    method: str = "bca",
    n_resamples: int = 2000,
    seed: int = 0,
    folds: npt.ArrayLike | None = None,
) -> ScoreInterval:
    """Return a bootstrap confidence interval for a score.

    Parameters
    ----------
    labels : array_like, shape (n,)
        Positive where greater than zero.
    decisions : array_like of float, shape (n,)
        A higher decision means positive.
    score : str, default "roc50"
        ``auc``, ``average_precision``, or ``roc`` with a number, such as ``roc50``.
    level : float, default 0.95
        Coverage of the interval.
    method : {"bca", "percentile"}
        ``percentile``: quantiles of the draws' scores. ``bca``: quantiles corrected for bias and for a spread that
        changes with the score, with Efron's acceleration from leaving out samples one by one.
    n_resamples : int, default 2000
        Number of draws, at least 2.
    seed : int, default 0
        Seed of the draws.
    folds : array_like, shape (n,), optional
        The test set of each sample; the score is then the mean over the sets, without those that have one class.

    Returns
    -------
    ScoreInterval
        NaN if no set has both classes. The limits are NaN also if all draws have the same score, as for perfectly
        separated classes, since this is not informative.

    Raises
    ------
    LabelError
        If the lengths differ, or a label or decision is not a finite number.
    ParameterError
        For an unknown score or method, or a number outside its domain.

    Examples
    --------
    >>> labels = [1, 1, 1, 1, 1, -1, -1, -1, -1, -1]
    >>> decisions = [0.9, 0.8, 0.7, 0.4, 0.3, 0.6, 0.5, 0.2, 0.1, 0.0]
    >>> found = bootstrap_interval(labels, decisions, "auc", n_resamples=200)
    >>> found.score
    0.84
    >>> found.low < found.score < found.high
    True
    """
    check_real("level", level, 0, 1, open_low=True, open_high=True)
    check_choice("method", method, ("bca", "percentile"))
    sample = Sample(labels, [decisions], score, folds)
    if not sample.parts:
        return ScoreInterval(*[math.nan] * 4)
    value, draws = float(sample.whole()[0]), sample.draws(n_resamples, seed)[:, 0]
    se = float(draws.std(ddof=1))
    if np.ptp(draws) < 1e-12:
        return ScoreInterval(value, se, math.nan, math.nan)
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    below = np.mean(draws < value - 1e-12) / 2 + np.mean(draws <= value + 1e-12) / 2
    if method == "bca" and 0 < below < 1:  # the bias of a score beyond all draws would be infinite
        bias, skew = scipy.special.ndtri(below), sample.acceleration(seed)
        shifted = bias + scipy.special.ndtri(tails)
        tails = scipy.special.ndtr(bias + shifted / (1 - skew * shifted))
    return ScoreInterval(value, se, *map(float, np.quantile(draws, tails)))


def bootstrap_test(
    labels: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    score: str = "roc50",
    *,
    n_resamples: int = 2000,
    seed: int = 0,
    folds: npt.ArrayLike | None = None,
) -> ScoreComparison:
    """Test whether two methods score the same on the same samples: t is the difference over its standard error.

    The standard error is over the draws, which are the same for both. Of n samples of a class in a set, n − 1 are
    drawn, since n would give a variance too small by (n − 1)/n. The degrees of freedom are n − 1 of the smallest
    class of any set. With fewer than ten samples it has hardly any power (docs/type_one_error.md).

    Parameters
    ----------
    labels : array_like, shape (n,)
        Positive where greater than zero.
    first, second : array_like of float, shape (n,)
        Decision values of two methods; higher means positive.
    score : str, default "roc50"
        ``auc``, ``average_precision``, or ``roc`` with a number.
    n_resamples : int, default 2000
        Number of draws, at least 2.
    seed : int, default 0
        Seed of the draws.
    folds : array_like, shape (n,), optional
        The test set of each sample, as for `bootstrap_interval`.

    Returns
    -------
    ScoreComparison
        p = 1 if the scores are equal in every draw; NaN if a class has only one sample in some set with both
        classes, if no set has both, or if a difference is the same in every draw.

    Raises
    ------
    LabelError
        If the lengths differ, or a label or decision is not a finite number.
    ParameterError
        For an unknown score, or a number outside its domain.

    Examples
    --------
    >>> labels = [1, 1, 1, 1, -1, -1, -1, -1]
    >>> good, poor = [8, 7, 6, 3, 5, 4, 2, 1], [8, 3, 6, 2, 5, 4, 7, 1]
    >>> found = bootstrap_test(labels, good, poor, "auc", n_resamples=200)
    >>> found.first, found.second, found.df
    (0.875, 0.5625, 3)
    """
    sample = Sample(labels, [first, second], score, folds)
    if not sample.parts:
        return ScoreComparison(math.nan, math.nan, math.nan, math.nan, math.nan, math.nan, 0)
    a, b = map(float, sample.whole())
    df = sample.freedom
    if min(map(len, sample.strata)) < 2:
        return ScoreComparison(a, b, a - b, math.nan, math.nan, math.nan, df)
    draws = sample.draws(n_resamples, seed, left_out=1)
    se = float((draws[:, 0] - draws[:, 1]).std(ddof=1))
    difference = a - b
    if se < 1e-12:
        alike = abs(difference) < 1e-12
        return ScoreComparison(a, b, difference, 0.0, 0.0 if alike else math.nan, 1.0 if alike else math.nan, df)
    p = 2 * float(scipy.special.stdtr(df, -abs(difference) / se))
    return ScoreComparison(a, b, difference, se, difference / se, p, df)


def batches(draws: int, n: int) -> Iterator[int]:
    """Yield the number of draws of n samples in each batch that fits into memory."""
    size = max(1, CELLS // n)
    for start in range(0, draws, size):
        yield min(size, draws - start)


class Sample:
    """Samples in test sets, with the decision values of one or more methods, and a score."""

    def __init__(
        self, labels: npt.ArrayLike, decisions: Sequence[npt.ArrayLike], score: str, folds: npt.ArrayLike | None
    ) -> None:
        pairs = [as_binary(labels, values) for values in decisions]
        positive = pairs[0][0]
        folds = np.zeros(len(positive), dtype=np.int64) if folds is None else np.asarray(folds)
        if folds.shape != positive.shape:
            raise LabelError(f"{positive.shape} labels in {folds.shape} folds", remedy="give one fold for each label")
        self.score, self.n = score_of_counts(score), len(positive)
        rows = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
        rows = [part for part in rows if positive[part].any() and not positive[part].all()]
        self.strata = [part[side] for part in rows for side in (positive[part], ~positive[part])]
        # for each set and method: its rows in descending order, the start of each lower value, the positives
        self.parts = [[_ordered(part, values, positive) for _, values in pairs] for part in rows]

    @property
    def freedom(self) -> int:
        """Size of the smallest class of any set, minus one.

        Draws from small classes vary too little, and these deficits add up.
        """
        return min(map(len, self.strata)) - 1

    def whole(self) -> Floats:
        """Return the score of each method, float64 (methods,)."""
        return self.scores(np.ones((1, self.n)))[0]

    def scores(self, weights: Floats) -> Floats:
        """Return the scores of draws, (draws, methods), from the counts of each sample, (draws, n)."""
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

    def draws(self, n_resamples: int, seed: int, left_out: int = 0) -> Floats:
        """Return the scores, (n_resamples, methods), of draws within the classes of each test set."""
        check_integer("n_resamples", n_resamples, 2)
        check_integer("seed", seed, 0)
        rng = np.random.default_rng(seed)
        found = []
        for count in batches(n_resamples, self.n):
            weights = np.zeros((count, self.n))
            for stratum in self.strata:
                drawn = rng.integers(len(stratum), size=(count, len(stratum) - left_out))
                flat = (drawn + np.arange(count)[:, None] * len(stratum)).ravel()
                weights[:, stratum] = np.bincount(flat, minlength=count * len(stratum)).reshape(count, -1)
            found.append(self.scores(weights))
        return np.concatenate(found)

    def acceleration(self, seed: int) -> float:
        """Return Efron's acceleration for several strata, from leave-one-out scores."""
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

    def _without(self, left_out: Ints) -> Iterator[Floats]:
        """Yield the scores of the first method with each of some samples left out in turn."""
        for some in np.split(left_out, np.cumsum(list(batches(len(left_out), self.n)))[:-1]):
            weights = np.ones((len(some), self.n))
            weights[np.arange(len(some)), some] = 0
            yield self.scores(weights)[:, 0]


def _ordered(rows: Ints, decisions: Floats, positive: Bools) -> tuple[Ints, Ints, Bools]:
    """Return the rows by descending decision value, the start of each distinct value, and a mask of the positives."""
    order = rows[np.argsort(-decisions[rows], kind="stable")]
    starts = np.flatnonzero(np.append(True, np.diff(decisions[order]) != 0))
    return order, starts, positive[order]


def score_of_counts(name: str) -> Callable[[Floats, Floats], Floats]:
    """Return the function that computes a score from counts of positives and negatives, (draws, values) each.

    The columns belong to descending decision values.
    """
    if name == "average_precision":
        return _average_precision
    if name == "auc":
        return lambda p, q: roc_n_of_counts(p, q, math.inf)
    number = str(name).removeprefix("roc")
    if str(name).startswith("roc") and number.isdecimal() and int(number):
        return lambda p, q: roc_n_of_counts(p, q, int(number))
    known = ("auc", "roc50", "average_precision")
    check_choice("score", name, known)
    raise AssertionError(f"{name!r} is among {known}")


def _average_precision(p: Floats, q: Floats) -> Floats:
    """Return the average precision from the counts of positives and negatives."""
    found, seen = np.cumsum(p, axis=1), np.cumsum(p + q, axis=1)
    precision = np.divide(found, seen, out=np.zeros_like(found), where=seen > 0)
    return (p * precision).sum(axis=1) / p.sum(axis=1)
