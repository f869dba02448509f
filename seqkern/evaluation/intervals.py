"""How sure one method's score on one task is: 95 % intervals of the scores that are read off its decisions.

Of the AUC DeLong's, of ROC50 and average precision from the bootstrap (BCa), of accuracy Wilson's. Over several test
parts the score is the mean of the parts', as in the tables of scores. The intervals are those of the classifiers that
were trained. There is none where there is no valid test either (`Trial.untestable`).
"""

import math
from collections.abc import Hashable

from seqkern.evaluation.bootstrap import ScoreInterval, bootstrap_interval
from seqkern.evaluation.paired_decisions import FIVE_BY_TWO, Trial, has_value
from seqkern.evaluation.significance import delong_interval
from seqkern.evaluation.wilson import wilson_interval

FORMULAS = {"auc": "DeLong", "accuracy": "Wilson"}
"""Metrics whose intervals need no draws, and whose they are."""
BINARY = ("auc", "roc50", "average_precision", "accuracy")


def metrics_with_interval(trial: Trial) -> tuple[str, ...]:
    """Return the metrics that have an interval on this task; none where units are tested several times."""
    if trial.shape == FIVE_BY_TWO or trial.kind == "real":
        return ()
    names = BINARY if trial.kind == "binary" else ("accuracy",)
    return tuple(name for name in names if not trial.untestable(name))


def score_interval(trial: Trial, method: Hashable, metric: str, *, seed: int = 0) -> ScoreInterval:
    """Return the interval of a method's score.

    Parameters
    ----------
    trial : Trial
    method : object
        One of its methods; test units without its decision are left out.
    metric : str
        One of `metrics_with_interval`.
    seed : int
        Of the bootstrap.

    Returns
    -------
    ScoreInterval
        NaN where it is not defined.
    """
    if metric == "accuracy":
        rows = has_value(trial.predicted[method])
        return wilson(int((trial.predicted[method][rows] == trial.labels[rows]).sum()), int(rows.sum()))
    rows = has_value(trial.decisions[method])
    folds, labels, decisions = trial.splits[rows], trial.labels[rows], trial.decisions[method][rows]
    if metric == "auc":
        return ScoreInterval(*delong_interval(labels, decisions, folds=folds))
    found = bootstrap_interval(labels, decisions, metric, seed=seed, folds=folds)
    return found if trial.can_draw(rows) else ScoreInterval(found.score, *[math.nan] * 3)


def wilson(right: int, n: int) -> ScoreInterval:
    """Return a share with its standard error and Wilson's interval."""
    if n == 0:
        return ScoreInterval(*[math.nan] * 4)
    share = right / n
    return ScoreInterval(share, math.sqrt(share * (1 - share) / n), *wilson_interval(right, n))
