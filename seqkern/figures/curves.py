"""The numbers behind the curves: ROC corners and their mean, points of precision and recall, counts of families."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from seqkern.evaluation.ranking import mean_roc_curve, precision_recall_curve, roc_curve

FloatArray = npt.NDArray[np.float64]

SNAP = 400  # places on an axis that can be told apart in a small panel


def roc_points(
    positive: npt.NDArray[np.bool_], decision: FloatArray
) -> tuple[FloatArray, FloatArray] | tuple[None, None]:
    """Return the ROC curve's corners.

    Parameters
    ----------
    positive : ndarray of bool, shape (n,)
        Which samples are.
    decision : ndarray of float, shape (n,)
        Higher means positive; equal values are one step, NaN is left out.

    Returns
    -------
    false, true : ndarray of float64, shape (corners,)
        Rates from (0, 0) to (1, 1); None, None unless both classes are there.
    """
    positive, decision = _known(positive, decision)
    if not positive.any() or positive.all():
        return None, None
    curve = roc_curve(positive, decision)
    return curve.false, curve.true


def pr_points(
    positive: npt.NDArray[np.bool_], decision: FloatArray
) -> tuple[FloatArray, FloatArray] | tuple[None, None]:
    """Return the points of the precision-recall curve, from recall 0 to recall 1.

    Between two points precision is not linear in recall: draw steps that rise before the point
    (``drawstyle="steps-pre"``). The area under these steps is the average precision.

    Parameters
    ----------
    positive : ndarray of bool, shape (n,)
        Which samples are.
    decision : ndarray of float, shape (n,)
        Higher means positive; equal values are one step, NaN is left out.

    Returns
    -------
    recall, precision : ndarray of float64, shape (points,)
        A point for each distinct decision value, after the point (0, 1); None, None unless both classes are there.

    Examples
    --------
    >>> recall, precision = pr_points(np.array([True, False, True, False]), np.array([4.0, 3.0, 2.0, 1.0]))
    >>> recall.tolist(), precision.round(2).tolist()
    ([0.0, 0.5, 0.5, 1.0, 1.0], [1.0, 1.0, 0.5, 0.67, 0.5])
    """
    positive, decision = _known(positive, decision)
    if not positive.any() or positive.all():
        return None, None
    curve = precision_recall_curve(positive, decision)
    return curve.recall, curve.precision


def _known(positive: npt.NDArray[np.bool_], decision: FloatArray) -> tuple[npt.NDArray[np.bool_], FloatArray]:
    """Return the samples with a decision."""
    known = ~np.isnan(decision)
    return positive[known], decision[known]


def area(x: FloatArray, y: FloatArray) -> float:
    """Return the area under a curve of straight lines.

    Parameters
    ----------
    x, y : ndarray of float64, shape (corners,)
        Where its corners are, x rising.

    Returns
    -------
    float

    Examples
    --------
    >>> area(np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 1.0]))
    0.75
    """
    return float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))


def simplified(x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return a curve snapped to a fine grid, without the points that a line through its neighbours passes.

    Parameters
    ----------
    x, y : array_like of float, shape (corners,)
        Where its corners are, from 0 to 1.

    Returns
    -------
    x, y : ndarray of float64
        Fewer corners.

    Examples
    --------
    >>> x, y = simplified([0, 0.25, 0.5, 1], [0, 0.5, 1, 1])
    >>> x.tolist(), y.tolist()
    ([0.0, 0.5, 1.0], [0.0, 1.0, 1.0])
    """
    points = np.column_stack([np.round(np.asarray(v) * SNAP).astype(int) for v in (x, y)])
    points = points[np.append(True, np.any(np.diff(points, axis=0), axis=1))]
    steps = np.diff(points, axis=0)
    turns = steps[:-1, 0] * steps[1:, 1] != steps[:-1, 1] * steps[1:, 0]
    points = points[np.concatenate(([True], turns, [True]))] if len(points) > 2 else points
    return points[:, 0] / SNAP, points[:, 1] / SNAP


def mean_curve(curves: Iterable[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray]:
    """Return the mean true positive rate at each false positive rate of a grid, starting at (0, 0).

    Parameters
    ----------
    curves : iterable of (false, true)
        Rates at the corners of each.

    Returns
    -------
    false, true : ndarray of float64
        Rates of the mean.
    """
    mean = mean_roc_curve(curves)
    return np.append(0, mean.false), np.append(0, mean.true)


def at_least(values: npt.ArrayLike) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """Return corners (x, count) of the curve "number of values ≥ x" from x = 0 to 1.

    Parameters
    ----------
    values : array_like of float
        NaN is left out.

    Returns
    -------
    x : ndarray of float64
        Where a corner is.
    count : ndarray of int64
        How many values reach it.

    Examples
    --------
    >>> x, count = at_least([0.9, 0.7])
    >>> x.tolist(), count.tolist()
    ([0.0, 0.7, 0.7, 0.9, 0.9, 1.0], [2, 2, 1, 1, 0, 0])
    """
    known = np.sort(np.asarray(values, dtype=float))
    known = known[~np.isnan(known)]
    x = np.concatenate(([0.0], np.repeat(np.clip(known, 0, 1), 2), [1.0]))
    count = np.repeat(np.arange(len(known), -1, -1), 2)
    return x, count
