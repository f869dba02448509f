"""Scores of how well decision values rank positives above negatives: ROC curves and related scores.

A label is positive if it is greater than zero (0/1, −1/1 and booleans all work), and a higher decision
value means positive. P and N are the numbers of positives and negatives. With only one class, scores are undefined:
NaN, without a warning.

The curve, its area and the average precision equal scikit-learn's to the last bit; importing scikit-learn takes
longer than most evaluations.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import LabelError
from seqkern.core.types import Bools, Floats


class Roc(NamedTuple):
    """A ROC curve: false and true positive rates at each threshold, float64 arrays of equal length.

    >>> false, true, threshold = roc_curve([1, 0], [0.9, 0.1])
    >>> false.tolist(), true.tolist(), threshold.tolist()
    ([0.0, 0.0, 1.0], [0.0, 1.0, 1.0], [inf, 0.9, 0.1])
    """

    false: Floats
    true: Floats
    threshold: Floats


class PrecisionRecall(NamedTuple):
    """A precision-recall curve: recall and precision at each threshold, float64 arrays of one length.

    >>> recall, precision, threshold = precision_recall_curve([1, 0], [0.9, 0.1])
    >>> recall.tolist(), precision.tolist(), threshold.tolist()
    ([0.0, 1.0, 1.0], [1.0, 1.0, 0.5], [inf, 0.9, 0.1])
    """

    recall: Floats
    precision: Floats
    threshold: Floats


class MeanRoc(NamedTuple):
    """A mean ROC curve: true positive rates and their standard deviation on a grid of false positive rates.

    >>> mean = mean_roc_curve([roc_curve([1, 0], [0.9, 0.1]), roc_curve([1, 0], [0.5, 0.5])], n_grid=3)
    >>> mean.false.tolist(), mean.true.tolist()
    ([0.0, 0.5, 1.0], [0.5, 0.75, 1.0])
    """

    false: Floats
    true: Floats
    sd: Floats


class WorkingPoint(NamedTuple):
    """A threshold (values at or above it are positive) and the resulting rates.

    >>> specificity_at_sensitivity([1, 1, 0, 0], [0.9, 0.4, 0.5, 0.1], sensitivity=1.0)
    WorkingPoint(threshold=0.4, sensitivity=1.0, specificity=0.5)
    """

    threshold: float
    sensitivity: float
    specificity: float


def as_binary(labels: npt.ArrayLike, decisions: npt.ArrayLike) -> tuple[Bools, Floats]:
    """Return labels and decisions as arrays, checked."""
    positive, decisions = np.asarray(labels), np.asarray(decisions, dtype=np.float64)
    if positive.shape != decisions.shape or positive.ndim != 1:
        raise LabelError(
            f"{positive.shape} labels for {decisions.shape} decisions",
            remedy="give one decision for each label",
        )
    for name, values in (("label", positive), ("decision", decisions)):
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise LabelError(f"{name} {bad[0] + 1} of {len(values)} is not a finite number", remedy="remove it")
    return positive > 0, decisions


def _both(positive: Bools) -> bool:
    """Return whether both classes are present."""
    return bool(positive.any()) and not bool(positive.all())


def _counts(positive: Bools, decisions: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the numbers of false and true positives at each distinct decision value, and the values, descending."""
    order = np.argsort(-decisions, kind="stable")
    ordered = decisions[order]
    last = np.append(np.flatnonzero(np.diff(ordered)), len(ordered) - 1)
    true = np.cumsum(positive[order], dtype=np.float64)[last]
    return 1.0 + last - true, true, ordered[last]


def roc_curve(labels: npt.ArrayLike, decisions: npt.ArrayLike) -> Roc:
    """Return the ROC curve: a corner for each distinct decision value, from (0, 0) to (1, 1).

    Parameters
    ----------
    labels : array_like, shape (n,)
        Positive where greater than zero.
    decisions : array_like of float, shape (n,)
        A higher decision means positive.

    Returns
    -------
    Roc
        Corners on a straight line between two others are omitted. Two NaN if there is only one class.

    Raises
    ------
    LabelError
        If the lengths differ, or a decision or label is not a finite number.

    Examples
    --------
    >>> curve = roc_curve([1, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.4, 0.1])
    >>> curve.false
    array([0. , 0. , 0. , 0.5, 0.5, 1. ])
    >>> curve.true.round(2)
    array([0.  , 0.33, 0.67, 0.67, 1.  , 1.  ])
    """
    positive, decisions = as_binary(labels, decisions)
    if not _both(positive):
        return Roc(*np.full((3, 2), np.nan))
    false, true, threshold = _counts(positive, decisions)
    if len(false) > 2:
        turns = (np.diff(false, 2) != 0) | (np.diff(true, 2) != 0)
        corners = np.concatenate(([True], turns, [True]))
        false, true, threshold = false[corners], true[corners], threshold[corners]
    false, true = np.append(0.0, false), np.append(0.0, true)
    return Roc(false / false[-1], true / true[-1], np.append(np.inf, threshold))


def precision_recall_curve(labels: npt.ArrayLike, decisions: npt.ArrayLike) -> PrecisionRecall:
    """Return the precision-recall curve: a point for each distinct decision value, after the point (0, 1).

    Parameters
    ----------
    labels : array_like, shape (n,)
        Positive where greater than zero.
    decisions : array_like of float, shape (n,)
        A higher decision means positive.

    Returns
    -------
    PrecisionRecall
        Recall rises from 0 to 1. Two NaN if the labels hold one class only.

    Raises
    ------
    LabelError
        If the lengths differ, or a decision or label is not a finite number.

    Examples
    --------
    >>> curve = precision_recall_curve([1, 0, 1, 0], [0.9, 0.8, 0.8, 0.1])
    >>> curve.recall.tolist(), curve.precision.round(2).tolist()
    ([0.0, 0.5, 1.0, 1.0], [1.0, 1.0, 0.67, 0.5])
    """
    positive, decisions = as_binary(labels, decisions)
    if not _both(positive):
        return PrecisionRecall(*np.full((3, 2), np.nan))
    false, true, threshold = _counts(positive, decisions)
    recall, precision = np.append(0.0, true / true[-1]), np.append(1.0, true / (true + false))
    return PrecisionRecall(recall, precision, np.append(np.inf, threshold))


def roc_auc(labels: npt.ArrayLike, decisions: npt.ArrayLike) -> float:
    """Return the area under the ROC curve: the share of (positive, negative) pairs in the right order, ties counting ½.

    Parameters
    ----------
    labels : array_like, shape (n,)
        Positive where greater than zero.
    decisions : array_like of float, shape (n,)
        A higher decision means positive.

    Returns
    -------
    float
        NaN if the labels hold one class only.

    Raises
    ------
    LabelError
        If the lengths differ, or a decision or label is not a finite number.

    Examples
    --------
    >>> roc_auc([1, 1, -1, -1], [0.9, 0.2, 0.5, 0.1])
    0.75
    """
    curve = roc_curve(labels, decisions)
    return float((np.diff(curve.false) * (curve.true[1:] + curve.true[:-1]) / 2.0).sum())


def roc_n(labels: npt.ArrayLike, decisions: npt.ArrayLike, n: int = 50) -> float:
    """Return ROC-n = (1/(nP)) Σ_{i≤n} TP_i, the area under the ROC curve up to the n-th false positive.

    TP_i is the number of positives ranked above the i-th negative, n at most N. Among q negatives and p positives
    with equal decision values, the j-th negative has p·j/(q+1) of these positives above it: the mean over all
    orders. With n = N it is the AUC.

    Parameters
    ----------
    labels : array_like, shape (n_samples,)
        Positive where greater than zero.
    decisions : array_like of float, shape (n_samples,)
        A higher decision means positive.
    n : int, default 50
        Number of false positives up to which the area is computed.

    Returns
    -------
    float
        NaN if the labels hold one class only.

    Raises
    ------
    LabelError
        If the lengths differ, or a decision or label is not a finite number.

    References
    ----------
    Gribskov & Robinson 1996, Comput. Chem. 20:25-33.

    Examples
    --------
    >>> roc_n([1, 0, 1, 0, 0], [5, 4, 3, 2, 1], n=2)
    0.75
    """
    positive, decisions = as_binary(labels, decisions)
    if not _both(positive):
        return math.nan
    false, true, _ = _counts(positive, decisions)
    p, q = (np.diff(counts, prepend=0.0)[None] for counts in (true, false))
    return float(roc_n_of_counts(p, q, int(n))[0])


def roc_n_of_counts(p: Floats, q: Floats, n: float) -> Floats:
    """Return ROC-n of draws from their counts of positives and negatives at each value, (draws, values)."""
    passed, ahead = np.cumsum(q, axis=1) - q, np.cumsum(p, axis=1) - p
    most = np.minimum(n, q.sum(axis=1))
    counted = np.clip(most[:, None] - passed, 0, q)
    total = (counted * ahead + p * (counted * (counted + 1) / 2) / (q + 1)).sum(axis=1)
    return total / (most * p.sum(axis=1))


def median_rfp(labels: npt.ArrayLike, decisions: npt.ArrayLike) -> float:
    """Return the median over the positives of the share of negatives that score at least as high.

    Parameters
    ----------
    labels : array_like, shape (n,)
        Positive where greater than zero.
    decisions : array_like of float, shape (n,)
        A higher decision means positive.

    Returns
    -------
    float
        From 0, the best, to 1; NaN if there is only one class.

    Raises
    ------
    LabelError
        If the lengths differ, or a decision or label is not a finite number.

    References
    ----------
    Jaakkola, Diekhans & Haussler 2000, J. Comput. Biol. 7:95-114.

    Examples
    --------
    >>> median_rfp([1, 1, 1, 0, 0], [0.9, 0.5, 0.2, 0.6, 0.1])
    0.5
    """
    positive, decisions = as_binary(labels, decisions)
    if not _both(positive):
        return math.nan
    negatives = np.sort(decisions[~positive])
    below = np.searchsorted(negatives, decisions[positive], side="left")
    return float(np.median(1.0 - below / len(negatives)))


def average_precision(labels: npt.ArrayLike, decisions: npt.ArrayLike) -> float:
    """Return Σ_t (R_t − R_{t−1}) P_t over the distinct thresholds t, R the recall and P the precision.

    Parameters
    ----------
    labels : array_like, shape (n,)
        Positive where greater than zero.
    decisions : array_like of float, shape (n,)
        A higher decision means positive.

    Returns
    -------
    float
        NaN if the labels hold one class only.

    Raises
    ------
    LabelError
        If the lengths differ, or a decision or label is not a finite number.

    Examples
    --------
    >>> average_precision([1, 0, 1, 0], [0.9, 0.8, 0.4, 0.1])  # (1/1 + 2/3) / 2
    0.8333333333333333
    """
    positive, decisions = as_binary(labels, decisions)
    if not _both(positive):
        return math.nan
    false, true, _ = _counts(positive, decisions)
    precision, recall = true / (true + false), true / true[-1]
    # summed from the lowest decision up, as scikit-learn does: the order decides the last bit
    return max(0.0, -float((np.diff(np.append(recall[::-1], 0.0)) * precision[::-1]).sum()))


def specificity_at_sensitivity(labels: npt.ArrayLike, decisions: npt.ArrayLike, sensitivity: float) -> WorkingPoint:
    """Return the highest threshold with at least a given sensitivity, and its rates.

    Parameters
    ----------
    labels : array_like, shape (n,)
        Positive where greater than zero.
    decisions : array_like of float, shape (n,)
        A higher decision means positive.
    sensitivity : float
        Least sensitivity, from 0 to 1.

    Returns
    -------
    WorkingPoint
        NaN if the labels hold one class only.

    Raises
    ------
    LabelError
        If the lengths differ, or a decision or label is not a finite number.

    Examples
    --------
    >>> point = specificity_at_sensitivity([1, 1, 1, 0, 0], [0.9, 0.5, 0.2, 0.6, 0.1], 0.6)
    >>> point.threshold, round(point.sensitivity, 2), point.specificity
    (0.5, 0.67, 0.5)
    """
    positive, decisions = as_binary(labels, decisions)
    if not _both(positive):
        return WorkingPoint(math.nan, math.nan, math.nan)
    ranked = np.sort(decisions[positive])[::-1]
    # the tolerance keeps 0.7 · 10 from requiring an eighth positive
    wanted = max(1, math.ceil(sensitivity * len(ranked) - 1e-9))
    threshold = ranked[min(wanted, len(ranked)) - 1]
    return WorkingPoint(
        float(threshold),
        float(np.mean(ranked >= threshold)),
        float(np.mean(decisions[~positive] < threshold)),
    )


def sensitivity(labels: npt.ArrayLike, decisions: npt.ArrayLike, threshold: float = 0.0) -> float:
    """Return the share of positives with a decision value above the threshold.

    Parameters
    ----------
    labels : array_like, shape (n,)
        Positive where greater than zero.
    decisions : array_like of float, shape (n,)
        Decision values, or predicted classes.
    threshold : float, default 0
        Samples above it are predicted to be positive.

    Returns
    -------
    float
        NaN if there are no positives.

    Raises
    ------
    LabelError
        If the lengths differ, or a decision or label is not a finite number.

    Examples
    --------
    >>> sensitivity([1, 1, 0, 0], [0.7, -0.2, -0.5, 0.0])
    0.5
    """
    positive, decisions = as_binary(labels, decisions)
    return float(np.mean(decisions[positive] > threshold)) if positive.any() else math.nan


def specificity(labels: npt.ArrayLike, decisions: npt.ArrayLike, threshold: float = 0.0) -> float:
    """Return the share of negatives with a decision value not above the threshold.

    Parameters
    ----------
    labels : array_like, shape (n,)
        Positive where greater than zero.
    decisions : array_like of float, shape (n,)
        Decision values, or predicted classes.
    threshold : float, default 0
        Samples above it are predicted to be positive.

    Returns
    -------
    float
        NaN if there are no negatives.

    Raises
    ------
    LabelError
        If the lengths differ, or a decision or label is not a finite number.

    Examples
    --------
    >>> specificity([1, 1, 0, 0], [0.7, -0.2, -0.5, 0.0])
    1.0
    """
    positive, decisions = as_binary(labels, decisions)
    return math.nan if positive.all() else float(np.mean(decisions[~positive] <= threshold))


def mean_roc_curve(curves: Iterable[Sequence[Floats]], n_grid: int = 101) -> MeanRoc:
    """Average ROC curves vertically: the true positive rates at each false positive rate of a common grid.

    Parameters
    ----------
    curves : iterable of Roc or (false, true)
        Undefined curves are ignored.
    n_grid : int, default 101
        Number of grid points from 0 to 1.

    Returns
    -------
    MeanRoc
        Curves are straight lines between corners; at a vertical step the upper end
        counts. NaN without a curve; `sd` is NaN for fewer than two.

    References
    ----------
    Fawcett 2006, Pattern Recognit. Lett. 27:861-874, algorithm 4.

    Examples
    --------
    >>> labels = [1, 0, 1, 0]
    >>> curves = [roc_curve(labels, decisions) for decisions in ([4, 3, 2, 1], [4, 2, 3, 1])]
    >>> mean_roc_curve(curves, n_grid=3).true
    array([0.75, 1.  , 1.  ])
    """
    grid = np.linspace(0.0, 1.0, n_grid)
    rates = []
    for false, true, *_ in curves:
        if np.isnan(false).any() or np.isnan(true).any():
            continue
        left = np.searchsorted(false, grid, side="right") - 1
        right = np.minimum(left + 1, len(false) - 1)
        width = false[right] - false[left]
        share = np.divide(grid - false[left], width, out=np.zeros(n_grid), where=width > 0)
        rates.append(true[left] + share * (true[right] - true[left]))
    undefined = np.full(n_grid, np.nan)
    return MeanRoc(
        grid,
        np.mean(rates, axis=0) if rates else undefined,
        np.std(rates, axis=0, ddof=1) if len(rates) > 1 else undefined,
    )


def hanley_mcneil_variance(auc: float, positives: int, negatives: int) -> float:
    """Return Hanley and McNeil's variance of an estimated AUC, given the true AUC.

    >>> round(hanley_mcneil_variance(0.5, 3, 3), 4)
    0.0648
    """
    both, one = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    spread = auc * (1 - auc) + (positives - 1) * (both - auc**2) + (negatives - 1) * (one - auc**2)
    return spread / (positives * negatives)
