"""Scores of how well decisions put positives before negatives: ROC curves and what is read off them.

A label is positive where it is greater than zero (0/1, −1/1 and truth values all do), and a higher decision
means positive. P and N are the numbers of positives and negatives. Where the labels hold one class only a
score is not defined and NaN, without a warning.
"""

import math
from typing import NamedTuple

import numpy as np

from seqkern.core.errors import LabelError


class Roc(NamedTuple):
    """A ROC curve: rates of false and of true positives at each threshold, float64 arrays of one length."""

    false: np.ndarray
    true: np.ndarray
    threshold: np.ndarray


class MeanRoc(NamedTuple):
    """The mean of ROC curves: true positive rates and their spread on a grid of false positive rates."""

    false: np.ndarray
    true: np.ndarray
    sd: np.ndarray


class WorkingPoint(NamedTuple):
    """A threshold (positive is what scores at least as high) and the rates that it gives."""

    threshold: float
    sensitivity: float
    specificity: float


def as_binary(labels, decisions):
    """Return (positive, decisions) as bool and float64 arrays of one length.

    Raises
    ------
    LabelError
        If the lengths differ, or a decision or label is not a finite number.
    """
    positive, decisions = np.asarray(labels), np.asarray(decisions, dtype=np.float64)
    if positive.shape != decisions.shape or positive.ndim != 1:
        raise LabelError(
            f"{positive.shape} labels for {decisions.shape} decisions",
            remedy="give one decision for each label",
        )
    for name, values in (("label", positive), ("decision", decisions)):
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise LabelError(f"{name} {bad[0] + 1} of {len(values)} is not a finite number", remedy="leave it out")
    return positive > 0, decisions


def _both(positive):
    """Return whether both classes are there."""
    return bool(positive.any()) and not positive.all()


def roc_curve(labels, decisions):
    """Return the ROC curve: a corner for each distinct decision value, from (0, 0) to (1, 1).

    Parameters
    ----------
    labels, decisions : array_like, shape (n,)

    Returns
    -------
    Roc
        Corners on a straight line between two others are left out. Two NaN if the labels hold one class only.
    """
    from sklearn.metrics import roc_curve as curve  # only where used: costs start-up

    positive, decisions = as_binary(labels, decisions)
    if not _both(positive):
        return Roc(*np.full((3, 2), np.nan))
    return Roc(*curve(positive, decisions))


def roc_auc(labels, decisions):
    """Return the area under the ROC curve: the share of (positive, negative) pairs in order, ties count ½.

    NaN if the labels hold one class only.
    """
    from sklearn.metrics import roc_auc_score  # only where used: costs start-up

    positive, decisions = as_binary(labels, decisions)
    return float(roc_auc_score(positive, decisions)) if _both(positive) else math.nan


def roc_n(labels, decisions, n=50):
    """Return ROC-n = (1/(nP)) Σ_{i≤n} TP_i, the area under the ROC curve up to the n-th false positive.

    TP_i is the number of positives ahead of the i-th negative, n at most N. Among q negatives and p positives
    with equal decisions, the j-th negative has p·j/(q+1) of these positives ahead of it: the mean over all
    orders. With n = N it is the AUC.

    Parameters
    ----------
    labels, decisions : array_like, shape (n_units,)
    n : int
        ROC50 is n = 50.

    Returns
    -------
    float
        NaN if the labels hold one class only.

    References
    ----------
    Gribskov & Robinson 1996, Comput. Chem. 20:25-33.
    """
    positive, decisions = as_binary(labels, decisions)
    if not _both(positive):
        return math.nan
    _, block = np.unique(-decisions, return_inverse=True)
    p, q = np.bincount(block[positive], minlength=block.max() + 1), np.bincount(block[~positive])
    q = np.append(q, np.zeros(len(p) - len(q), dtype=q.dtype))
    ahead, passed = np.cumsum(p) - p, np.cumsum(q) - q
    n = min(int(n), int(q.sum()))
    counted = np.clip(n - passed, 0, q)
    total = (counted * ahead + p * (counted * (counted + 1) / 2) / (q + 1)).sum()
    return float(total / (n * p.sum()))


def median_rfp(labels, decisions):
    """Return the median over the positives of the share of negatives that score at least as high.

    NaN if the labels hold one class only. Jaakkola, Diekhans, Haussler 2000.
    """
    positive, decisions = as_binary(labels, decisions)
    if not _both(positive):
        return math.nan
    negatives = np.sort(decisions[~positive])
    below = np.searchsorted(negatives, decisions[positive], side="left")
    return float(np.median(1.0 - below / len(negatives)))


def average_precision(labels, decisions):
    """Return Σ_t (R_t − R_{t−1}) P_t over the distinct thresholds t, R the recall and P the precision.

    NaN if there is no positive or no negative.
    """
    from sklearn.metrics import average_precision_score  # only where used: costs start-up

    positive, decisions = as_binary(labels, decisions)
    return float(average_precision_score(positive, decisions)) if _both(positive) else math.nan


def specificity_at_sensitivity(labels, decisions, sensitivity):
    """Return the highest threshold that finds at least a share `sensitivity` of the positives, and its rates.

    Returns
    -------
    WorkingPoint
        NaN if the labels hold one class only.
    """
    positive, decisions = as_binary(labels, decisions)
    if not _both(positive):
        return WorkingPoint(math.nan, math.nan, math.nan)
    ranked = np.sort(decisions[positive])[::-1]
    # the guard keeps 0.7 · 10 from asking for an eighth positive
    wanted = max(1, math.ceil(sensitivity * len(ranked) - 1e-9))
    threshold = ranked[min(wanted, len(ranked)) - 1]
    return WorkingPoint(
        float(threshold),
        float(np.mean(ranked >= threshold)),
        float(np.mean(decisions[~positive] < threshold)),
    )


def sensitivity(labels, decisions, threshold=0.0):
    """Return the share of positives with a decision above the threshold; NaN if there are none."""
    positive, decisions = as_binary(labels, decisions)
    return float(np.mean(decisions[positive] > threshold)) if positive.any() else math.nan


def specificity(labels, decisions, threshold=0.0):
    """Return the share of negatives with a decision not above the threshold; NaN if there are none."""
    positive, decisions = as_binary(labels, decisions)
    return math.nan if positive.all() else float(np.mean(decisions[~positive] <= threshold))


def mean_roc_curve(curves, n_grid=101):
    """Average ROC curves vertically: the true positive rates at each false positive rate of a common grid.

    Parameters
    ----------
    curves : iterable of Roc or (false, true)
        Undefined curves are left out.
    n_grid : int
        Number of grid points from 0 to 1.

    Returns
    -------
    MeanRoc
        Between corners a curve is a straight line; where it rises at one false positive rate its upper end
        counts. NaN without a curve; `sd` is NaN below two.

    References
    ----------
    Fawcett 2006, Pattern Recognit. Lett. 27:861-874, algorithm 4.
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
