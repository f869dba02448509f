"""Intervals of the scores of several methods that hold together: 95 % for all of them at once (Bonferroni).

An interval of a single method's score is too narrow for the best of many, since the best is partly the luckiest. Over
folds the variance is doubled, as in `seqkern.evaluation.chance`.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from seqkern.evaluation.bootstrap import ScoreInterval
from seqkern.evaluation.chance import SHARED_TRAINING, variance_of_mean
from seqkern.evaluation.delong import delong_covariance
from seqkern.evaluation.distributions import average_ranks, student_quantile
from seqkern.evaluation.ranking import as_binary
from seqkern.evaluation.wilson import wilson_interval

LEVEL = 0.05


def quantile(methods: int, df: float = math.inf) -> float:
    """Return how many standard errors an interval of one of several methods reaches to each side.

    Parameters
    ----------
    methods : int
        How many intervals hold together.
    df : float, default inf
        Degrees of freedom of Student's distribution; by default the normal one.

    Returns
    -------
    float

    Examples
    --------
    >>> round(quantile(1), 2), round(quantile(24), 2), round(quantile(1, df=4), 2)
    (1.96, 3.08, 2.78)
    """
    return -student_quantile(LEVEL / (2 * max(methods, 1)), df)


def auc_variance(codes: npt.ArrayLike, decisions: npt.ArrayLike) -> tuple[float, float]:
    """Return the AUC of one test set, of several classes its mean, and its variance by DeLong's method.

    Parameters
    ----------
    codes : array_like of int, shape (n,)
        Classes; of two, 1 is the positive one.
    decisions : array_like of float, shape (n,), of several classes (n, classes)
        Higher means the positive class, or this class.

    Returns
    -------
    auc, variance : float
        NaN for a single class; the variance also where a class has a single sample.

    Examples
    --------
    >>> auc, variance = auc_variance([1, 1, 1, 0, 0, 0], [6, 5, 3, 4, 2, 1])
    >>> round(auc, 3), round(variance, 4)
    (0.889, 0.0247)
    """
    labels, values = np.asarray(codes, dtype=np.int64), np.asarray(decisions, dtype=np.float64)
    if values.ndim == 1:
        (auc,), covariance = delong_covariance(labels, [values])
        return auc, float(covariance[0, 0])
    present = [c for c in range(values.shape[1]) if 0 < np.count_nonzero(labels == c) < len(labels)]
    if not present:
        return math.nan, math.nan
    influence, areas = np.zeros(len(labels)), []
    for c in present:
        positive, column = as_binary(labels == c, values[:, c])
        own, other = int(positive.sum()), int((~positive).sum())
        ranks = average_ranks(column)
        ahead = (ranks[positive] - average_ranks(column[positive])) / other
        behind = 1.0 - (ranks[~positive] - average_ranks(column[~positive])) / own
        areas.append(float(ahead.mean()))
        influence[positive] += ahead / own
        influence[~positive] += behind / other
    sizes = np.bincount(labels)
    if sizes[sizes > 0].min() < 2:
        return float(np.mean(areas)), math.nan
    classes = np.flatnonzero(sizes)
    variance = sum(sizes[c] * float(np.var(influence[labels == c], ddof=1)) for c in classes) / len(present) ** 2
    return float(np.mean(areas)), float(variance)


def share_ends(score: float, variance: float, methods: int) -> ScoreInterval:
    """Return the interval of an AUC, symmetric on the logit scale, so that it stays within 0 and 1.

    Parameters
    ----------
    score, variance : float
        The mean over test sets, and its variance.
    methods : int
        How many intervals hold together.

    Returns
    -------
    ScoreInterval
        NaN ends where the classes are perfectly separated or the variance is not known.

    Examples
    --------
    >>> found = share_ends(0.9, 0.0004, methods=10)
    >>> round(found.low, 3), round(found.high, 3)
    (0.828, 0.944)
    """
    se = math.sqrt(variance) if variance > 0 else math.nan
    if math.isnan(se) or not 0 < score < 1:
        return ScoreInterval(score, se, math.nan, math.nan)
    centre, half = math.log(score / (1 - score)), quantile(methods) * se / (score * (1 - score))
    return ScoreInterval(score, se, float(expit(centre - half)), float(expit(centre + half)))


def accuracy_ends(score: float, samples: float, parts: int, methods: int) -> ScoreInterval:
    """Return the interval of an accuracy: Wilson's, over folds as if there were half as many samples.

    Parameters
    ----------
    score : float
        Mean over test sets.
    samples : float
        Test samples, each counted once; of groups of related ones, as many as would tell as much by themselves.
    parts : int
        Test sets.
    methods : int
        How many intervals hold together.

    Returns
    -------
    ScoreInterval
        NaN ends without samples.

    Examples
    --------
    >>> found = accuracy_ends(0.8, samples=200, parts=5, methods=1)
    >>> round(found.low, 3), round(found.high, 3)
    (0.711, 0.867)
    """
    n = samples / SHARED_TRAINING if parts > 1 else samples
    if n == 0 or math.isnan(score):
        return ScoreInterval(score, *[math.nan] * 3)
    low, high = wilson_interval(score * n, n, quantile(methods))
    return ScoreInterval(score, math.sqrt(score * (1 - score) / n), low, high)


def error_ends(
    score: float, errors: Sequence[npt.NDArray[np.float64]], methods: int, *, tested_once: bool = True
) -> ScoreInterval:
    """Return the interval of a mean over test sets of root mean squared errors.

    Parameters
    ----------
    score : float
        The mean.
    errors : sequence of ndarray of float64
        Of the samples of each test set.
    methods : int
        How many intervals hold together.
    tested_once : bool, default True
        As in `variance_of_mean`.

    Returns
    -------
    ScoreInterval
        NaN ends where a test set holds a single sample.

    Examples
    --------
    >>> found = error_ends(1.0, [np.array([1.0, -0.5, 1.3, 0.9])], methods=1)
    >>> round(found.low, 2), round(found.high, 2)
    (0.7, 1.3)
    """
    variances = []
    for error in errors:
        squares = error**2
        mean = float(squares.mean())
        known = len(error) > 1 and mean > 0
        variances.append(float(squares.var(ddof=1)) / len(error) / (4 * mean) if known else math.nan)
    se = math.sqrt(variance_of_mean(variances, tested_once=tested_once))
    if math.isnan(se):
        return ScoreInterval(score, *[math.nan] * 3)
    half = quantile(methods) * se
    return ScoreInterval(score, se, max(0.0, score - half), score + half)


def task_ends(values: npt.ArrayLike, methods: int, *, largest: float = math.inf) -> ScoreInterval:
    """Return the interval of a mean over tasks: Student's, from how far the tasks differ.

    Parameters
    ----------
    values : array_like of float, shape (tasks,)
        A score for each task; NaN is left out.
    methods : int
        How many intervals hold together.
    largest : float, default inf
        The best possible score: 1 for an AUC.

    Returns
    -------
    ScoreInterval
        NaN ends for a single task.

    Examples
    --------
    >>> found = task_ends([0.7, 0.8, 0.9, 0.8], methods=1, largest=1)
    >>> round(found.score, 3), round(found.low, 3), round(found.high, 3)
    (0.8, 0.67, 0.93)
    """
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    score = float(known.mean()) if len(known) else math.nan
    if len(known) < 2:
        return ScoreInterval(score, *[math.nan] * 3)
    se = float(known.std(ddof=1)) / math.sqrt(len(known))
    half = quantile(methods, len(known) - 1) * se
    return ScoreInterval(score, se, max(0.0, score - half), min(largest, score + half))
