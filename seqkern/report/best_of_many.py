"""The score of the best of several methods, corrected for the choice: for the report and for `seqkern compare`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from seqkern.evaluation.best_of_many import corrected_mean, corrected_ranking
from seqkern.evaluation.paired_decisions import FOLDS, SINGLE, PairedDecisions
from seqkern.report.dataset_results import Method
from seqkern.report.sentences import metric

MOST_DRAWN = 250_000
"""Methods times test samples up to which samples are drawn again."""
DRAWS = 200
RANKED = ("auc", "roc50", "average_precision")


def corrected_on_task(paired: PairedDecisions, methods: Sequence[Method], key: str) -> float:
    """Return the score of the best method on one task, corrected for the choice among all of them.

    Parameters
    ----------
    paired : PairedDecisions
        The decisions of the methods.
    methods : sequence of Method
        Those that were compared.
    key : str
        The score.

    Returns
    -------
    float
        NaN for a single method, a score that cannot be computed again from drawn samples, test sets that overlap or
        are too small, and very many decisions.
    """
    if len(methods) < 2 or paired.shape not in (SINGLE, FOLDS) or len(methods) * len(paired.ids) > MOST_DRAWN:
        return math.nan
    if paired.kind == "binary" and key in RANKED and paired.untestable(key) is None:
        decisions = [paired.decisions[method] for method in methods if method in paired.decisions]
        if len(decisions) == len(methods) and not np.isnan(decisions).any():
            return corrected_ranking(paired.labels, decisions, key, folds=paired.splits, draws=DRAWS)
    if paired.kind != "real" and key == "accuracy" and paired.untestable(key) is None:
        right = [paired.predicted[method] == paired.labels for method in methods if method in paired.predicted]
        return corrected_mean(right, folds=paired.splits, draws=DRAWS) if len(right) == len(methods) else math.nan
    return math.nan


def corrected_over_tasks(values: Mapping[Method, npt.ArrayLike], key: str) -> float:
    """Return the mean score over tasks of the best method, corrected for the choice among all of them.

    Parameters
    ----------
    values : mapping of Method to array_like of float, shape (tasks,)
        The score on each task.
    key : str
        The score.

    Returns
    -------
    float
        NaN for a single method or task.
    """
    if len(values) < 2:
        return math.nan
    sign = 1 if metric(key).higher else -1
    return sign * corrected_mean(sign * np.array(list(values.values()), dtype=np.float64), draws=DRAWS)


def not_better(corrected: float, score: float, key: str) -> float:
    """Return a corrected score that is at most as good as the score itself: the bootstrap may miss by a little.

    Parameters
    ----------
    corrected, score : float
        The corrected score, and that of the best method.
    key : str
        The score.

    Returns
    -------
    float
        NaN if it is not known.
    """
    if math.isnan(corrected):
        return corrected
    return min(corrected, score) if metric(key).higher else max(corrected, score)
