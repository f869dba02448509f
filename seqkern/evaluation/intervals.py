"""The uncertainty of one method's score on one task: 95 % intervals.

For the AUC DeLong's, for ROC50 and average precision from the bootstrap (BCa), for accuracy Wilson's. With several test
sets the score is the mean over the sets, as in the tables of scores. The intervals are those of the trained
classifiers. There is none without a valid test (`PairedDecisions.untestable`).
"""

import math
from collections.abc import Hashable

from seqkern.evaluation.bootstrap import ScoreInterval, bootstrap_interval
from seqkern.evaluation.delong import delong_interval
from seqkern.evaluation.paired_decisions import FIVE_BY_TWO, PairedDecisions, has_value
from seqkern.evaluation.wilson import wilson_interval

FORMULAS = {"auc": "DeLong", "accuracy": "Wilson"}
"""Metrics with an interval, without and with the bootstrap."""
BINARY = ("auc", "roc50", "average_precision", "accuracy")


def metrics_with_interval(paired: PairedDecisions) -> tuple[str, ...]:
    """Return the metrics that have an interval on this task; empty if samples are tested several times.

    Parameters
    ----------
    paired : PairedDecisions
        Decisions of one or more methods.

    Returns
    -------
    tuple of str
        Names for `score_interval`.
    """
    if paired.shape == FIVE_BY_TWO or paired.kind == "real":
        return ()
    names = BINARY if paired.kind == "binary" else ("accuracy",)
    return tuple(name for name in names if not paired.untestable(name))


def score_interval(paired: PairedDecisions, method: Hashable, metric: str, *, seed: int = 0) -> ScoreInterval:
    """Return the interval of a method's score.

    Parameters
    ----------
    paired : PairedDecisions
        The decisions on one task.
    method : hashable
        One of its methods; test samples without its decision are ignored.
    metric : str
        One of `metrics_with_interval`.
    seed : int, default 0
        Seed of the bootstrap.

    Returns
    -------
    ScoreInterval
        NaN if undefined.
    """
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
    """Return a share with its standard error and Wilson's interval.

    Parameters
    ----------
    right, n : int
        The share is `right` of `n`.

    Returns
    -------
    ScoreInterval
        NaN for n = 0.
    """
    if n == 0:
        return ScoreInterval(*[math.nan] * 4)
    share = right / n
    return ScoreInterval(share, math.sqrt(share * (1 - share) / n), *wilson_interval(right, n))
