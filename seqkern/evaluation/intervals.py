"""Intervals of scores: of one method, of many methods at once, and too few samples."""

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from seqkern.core.statistics import NORMAL_975, wilson_interval
from seqkern.core.types import Floats, Ints
from seqkern.evaluation.bootstrap import ScoreInterval, bootstrap_interval
from seqkern.evaluation.chance import SHARED_TRAINING, variance_of_mean
from seqkern.evaluation.metrics import confusion_matrix
from seqkern.evaluation.ranking import as_binary, hanley_mcneil_variance
from seqkern.evaluation.single_task_tests import (
    FIVE_BY_TWO,
    PairedDecisions,
    delong_covariance,
    delong_interval,
    has_value,
    logit_ends,
    placements,
)
from seqkern.sequences.labels import Labels

# 95% intervals of one method's score on one task.
#
# The AUC has DeLong's interval, ROC50 and average precision a bootstrap interval (BCa), accuracy Wilson's. With several
# test sets the score is the mean over the sets, as in the tables of scores. The intervals apply to the trained
# classifiers. Where no test is valid there is no interval (`PairedDecisions.untestable`).

FORMULAS = {"auc": "DeLong", "accuracy": "Wilson"}
"""Metrics with an interval, without and with the bootstrap."""
BINARY = ("auc", "roc50", "average_precision", "accuracy")


def metrics_with_interval(paired: PairedDecisions) -> tuple[str, ...]:
    """Return the metrics that have an interval on this task; empty if samples are tested several times."""
    if paired.shape == FIVE_BY_TWO or paired.kind == "real":
        return ()
    names = BINARY if paired.kind == "binary" else ("accuracy",)
    return tuple(name for name in names if not paired.untestable(name))


def score_interval(paired: PairedDecisions, method: Hashable, metric: str, *, seed: int = 0) -> ScoreInterval:
    """Return the interval of a method's score, for one of `metrics_with_interval`."""
    if metric == "accuracy":
        rows = has_value(paired.predicted[method])
        return wilson(int((paired.predicted[method][rows] == paired.labels[rows]).sum()), int(rows.sum()))
    rows = has_value(paired.decisions[method])
    folds, labels, decisions = paired.splits[rows], paired.labels[rows], paired.decisions[method][rows]
    if metric == "auc":
        return ScoreInterval(*delong_interval(labels, decisions, folds=folds))
    found = bootstrap_interval(labels, decisions, metric, seed=seed, folds=folds)
    return found if paired.can_draw(rows) else ScoreInterval(found.score, *[math.nan] * 3)


def wilson(right: int, n: int) -> ScoreInterval:
    """Return the share `right` / n with its standard error and Wilson's interval; NaN for n = 0."""
    if n == 0:
        return ScoreInterval(*[math.nan] * 4)
    share = right / n
    return ScoreInterval(share, math.sqrt(share * (1 - share) / n), *wilson_interval(right, n))


# Simultaneous intervals of the scores of several methods: 95% for all of them at once (Bonferroni).
#
# A single method's interval is too narrow for the best of many, since the best is partly the luckiest. Over folds the
# variance is doubled, as in `seqkern.evaluation.chance`.

LEVEL = 0.05


def quantile(methods: int, df: float = math.inf) -> float:
    """Return the half-width, in standard errors, of each of `methods` simultaneous intervals.

    >>> round(quantile(1), 2), round(quantile(24), 2), round(quantile(1, df=4), 2)
    (1.96, 3.08, 2.78)
    """
    return -float(scipy.special.stdtrit(df, LEVEL / (2 * max(methods, 1))))


def auc_variance(codes: npt.ArrayLike, decisions: npt.ArrayLike) -> tuple[float, float]:
    """Return the AUC of a test set (the mean over several classes), and its variance by DeLong's method.

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
        ahead, behind = placements(positive, column)
        areas.append(float(ahead.mean()))
        influence[positive] += ahead / len(ahead)
        influence[~positive] += behind / len(behind)
    sizes = np.bincount(labels)
    if sizes[sizes > 0].min() < 2:
        return float(np.mean(areas)), math.nan
    classes = np.flatnonzero(sizes)
    variance = sum(sizes[c] * float(np.var(influence[labels == c], ddof=1)) for c in classes) / len(present) ** 2
    return float(np.mean(areas)), float(variance)


def share_ends(score: float, variance: float, methods: int) -> ScoreInterval:
    """Return the interval of an AUC, symmetric on the logit scale, so that it stays within 0 and 1.

    >>> found = share_ends(0.9, 0.0004, methods=10)
    >>> round(found.low, 3), round(found.high, 3)
    (0.828, 0.944)
    """
    se = math.sqrt(variance) if variance > 0 else math.nan
    if math.isnan(se) or not 0 < score < 1:
        return ScoreInterval(score, se, math.nan, math.nan)
    return ScoreInterval(score, se, *logit_ends(score, se, quantile(methods)))


def accuracy_ends(score: float, samples: float, parts: int, methods: int) -> ScoreInterval:
    """Return Wilson's interval of an accuracy; over folds half as many samples are assumed.

    >>> found = accuracy_ends(0.8, samples=200, parts=5, methods=1)
    >>> round(found.low, 3), round(found.high, 3)
    (0.711, 0.867)
    """
    n = samples / SHARED_TRAINING if parts > 1 else samples
    if n == 0 or math.isnan(score):
        return ScoreInterval(score, *[math.nan] * 3)
    low, high = wilson_interval(score * n, n, quantile(methods))
    return ScoreInterval(score, math.sqrt(score * (1 - score) / n), low, high)


def error_ends(score: float, errors: Sequence[Floats], methods: int, *, tested_once: bool = True) -> ScoreInterval:
    """Return the interval of a root mean squared error averaged over test sets.

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


def task_ends(values: npt.ArrayLike, methods: int, *, least: float = 0.0, largest: float = math.inf) -> ScoreInterval:
    """Return Student's interval of a mean over tasks, from the variation between tasks.

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
    return ScoreInterval(score, se, max(least, score - half), min(largest, score + half))


# The bootstrap 95% interval of Matthews' correlation on one test set.


def mcc_interval(
    labels: npt.ArrayLike, predicted: npt.ArrayLike, n_classes: int = 2, *, n_resamples: int = 2000
) -> ScoreInterval:
    """Return a 95% bootstrap percentile interval of Matthews' correlation.

    Samples are drawn within each class. A draw of n samples of a class gives multinomial counts of its predictions,
    so only the confusion matrix is needed. The limits are NaN if all draws have the same score.

    >>> found = mcc_interval([0] * 20 + [1] * 20, [0] * 16 + [1] * 4 + [1] * 15 + [0] * 5)
    >>> round(found.score, 3), found.low < found.score < found.high
    (0.551, True)
    """
    counts = confusion_matrix(labels, predicted, n_classes)
    score = float(_correlations(counts[None])[0])
    if math.isnan(score):
        return ScoreInterval(score, math.nan, math.nan, math.nan)
    rng = np.random.default_rng(0)
    draws = np.stack(
        [
            rng.multinomial(size := int(row.sum()), row / max(size, 1), n_resamples)
            if row.any()
            else np.zeros((n_resamples, n_classes), dtype=np.int64)
            for row in counts
        ],
        axis=1,
    )
    found = _correlations(draws)
    se = float(found.std(ddof=1))
    if np.ptp(found) < 1e-12:
        return ScoreInterval(score, se, math.nan, math.nan)
    low, high = np.quantile(found, [(1 - 0.95) / 2, (1 + 0.95) / 2])
    return ScoreInterval(score, se, float(low), float(high))


def _correlations(counts: Ints) -> Floats:
    """Return Matthews' correlation of confusion matrices (draws, classes, classes)."""
    total = counts.sum(axis=(1, 2)).astype(np.float64)
    true, found = counts.sum(axis=2).astype(np.float64), counts.sum(axis=1).astype(np.float64)
    hits = np.trace(counts, axis1=1, axis2=2) * total - (true * found).sum(axis=1)
    of_labels, of_predictions = (total**2 - (sizes**2).sum(axis=1) for sizes in (true, found))
    scale = np.sqrt(of_labels * of_predictions)
    result = np.divide(hits, scale, out=np.zeros(len(counts)), where=scale > 0)
    return np.where(of_labels > 0, result, np.nan)


# A check for enough samples: the interval that an AUC would have at chance level.
#
# DeLong's variance is estimated from the decisions, and is 0 for perfectly separated classes. Hanley and McNeil's
# follows from the true AUC and the numbers of samples, so the interval is known before any training, and even for an
# observed AUC of 1. It holds every true AUC less than 1.96 standard errors away from the observed AUC (Newcombe's
# method 5).
#
# References:
# Hanley & McNeil 1982, Radiology 143:29-36. Newcombe 2006, Stat. Med. 25:559-573.

WIDEST = 0.5
"""Width above which the interval of a useless method covers at least half of the possible values."""
STEPS = 60
"""Number of halvings in the bisection, beyond the resolution of a float64."""


class TooFew(NamedTuple):
    """Sample counts that are too small for a score, in words, with the score's interval at chance level.

    >>> TooFew("3 against 3", "an AUC of 0.5", 0.15, 0.85).sentence()
    'too few samples to estimate a score (3 against 3): an AUC of 0.5 has the 95% interval 0.15 to 0.85'
    """

    counts: str
    chance: str
    low: float
    high: float

    def sentence(self) -> str:
        """Return a message that names the counts and the interval at chance level."""
        return (
            f"too few samples to estimate a score ({self.counts}): {self.chance} has the 95% interval "
            f"{self.low:.2f} to {self.high:.2f}"
        )


def auc_ends(auc: float, positives: int, negatives: int, factor: float = 1.0) -> tuple[float, float]:
    """Return the 95% interval of an AUC by Newcombe's method 5, which is defined even for an AUC of 0 or 1.

    `factor` multiplies the variance of one test set of these sizes.

    >>> [round(end, 2) for end in auc_ends(0.5, 3, 3)], [round(end, 2) for end in auc_ends(1.0, 20, 20)]
    ([0.15, 0.85], [0.9, 1.0])
    """
    return _lower(auc, positives, negatives, factor), 1 - _lower(1 - auc, negatives, positives, factor)


def _lower(auc: float, positives: int, negatives: int, factor: float) -> float:
    """Return the lower end: the smallest true AUC compatible with the observed AUC."""
    low, high = 0.0, auc
    for _ in range(STEPS):
        middle = (low + high) / 2
        far = auc - middle > NORMAL_975 * math.sqrt(factor * hanley_mcneil_variance(middle, positives, negatives))
        low, high = (middle, high) if far else (low, middle)
    return low


def independent_counts(codes: npt.ArrayLike, n_classes: int, groups: npt.ArrayLike | None = None) -> Ints:
    """Return the effective number of independent samples of each class.

    Samples of one group with one label count once. A group with several labels itself shows whether the decisions
    follow them, so its samples count individually.

    >>> independent_counts([1, 1, 1, 0, 0, 0], 2, list("xxyzzz")).tolist()
    [1, 2]
    """
    y = np.asarray(codes, dtype=np.int64)
    if groups is None:
        return np.bincount(y, minlength=n_classes)
    group = np.unique(np.asarray(groups), return_inverse=True)[1]
    low, high = np.full(group.max(initial=-1) + 1, n_classes), np.zeros(group.max(initial=-1) + 1, dtype=np.int64)
    np.minimum.at(low, group, y)
    np.maximum.at(high, group, y)
    pure = low == high
    return np.bincount(low[pure], minlength=n_classes) + np.bincount(y[~pure[group]], minlength=n_classes)


def too_few(labels: Labels) -> TooFew | None:
    """Return the insufficient counts if a useless method's interval would cover half of the possible scores.

    >>> from seqkern.sequences.labels import make_labels
    >>> too_few(make_labels(list("abcdef"), ["donor", "decoy"] * 3)).sentence()
    'too few samples to estimate a score (3 against 3): an AUC of 0.5 has the 95% interval 0.15 to 0.85'
    >>> too_few(make_labels(list("abcdefghijklmnop"), ["donor", "decoy"] * 8)) is None
    True
    """
    if labels.kind == "none":
        return None
    codes = np.zeros(len(labels), dtype=np.int64) if labels.kind == "real" else labels.y.astype(np.int64)
    return too_few_of(labels.kind, codes, max(len(labels.classes), 1), labels.groups)


def too_few_of(kind: str, codes: npt.ArrayLike, n_classes: int, groups: npt.ArrayLike | None = None) -> TooFew | None:
    """Return the insufficient counts as in `too_few`, from class codes and groups."""
    counts = independent_counts(codes, n_classes, groups)
    what = "" if groups is None else ", related samples counted once"
    if kind == "real":
        # Fisher's interval of a correlation of 0
        n = int(counts[0])
        half = math.tanh(1.96 / math.sqrt(n - 3)) if n > 3 else 1.0
        return TooFew(f"{n} samples{what}", "a correlation of 0", -half, half) if half > WIDEST else None
    present = counts[counts > 0]
    if len(present) < 2:
        return None
    ends = [auc_ends(0.5, int(own), int(present.sum() - own)) for own in present]
    # the mean over classes; of two classes both have the same interval, mirrored
    low, high = (float(np.mean(values)) for values in zip(*ends, strict=True))
    if high - low <= WIDEST:
        return None
    order = counts[::-1] if kind == "binary" else counts
    if len(order) > 4:
        text = f"{len(present)} classes, the smallest of {present.min()} samples"
    else:
        text = " against ".join(str(count) for count in order)
    return TooFew(f"{text}{what}", "an AUC of 0.5", low, high)
