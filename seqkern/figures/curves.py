"""The numbers behind the curves: ROC corners, their mean, counts of families."""

import numpy as np
from numpy.typing import ArrayLike

from seqkern.evaluation.ranking import mean_roc_curve, roc_curve

SNAP = 400  # places on an axis that can be told apart in a small panel


def roc_points(positive: np.ndarray, decision: np.ndarray) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return the ROC curve's corners.

    Parameters
    ----------
    positive : ndarray of bool, shape (n,)
    decision : ndarray of float, shape (n,)
        Higher means positive; equal values are one step.

    Returns
    -------
    false, true : ndarray of float64, shape (corners,)
        Rates from (0, 0) to (1, 1); None, None unless both classes are there.
    """
    known = ~np.isnan(decision)
    positive, decision = positive[known], decision[known]
    if not positive.any() or positive.all():
        return None, None
    curve = roc_curve(positive, decision)
    return curve.false, curve.true


def area(x: np.ndarray, y: np.ndarray) -> float:
    """Return the area under a curve of straight lines."""
    return float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))


def simplified(x: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return a curve snapped to a fine grid, without the points that a line through its neighbours passes."""
    points = np.column_stack([np.round(np.asarray(v) * SNAP).astype(int) for v in (x, y)])
    points = points[np.append(True, np.any(np.diff(points, axis=0), axis=1))]
    steps = np.diff(points, axis=0)
    turns = steps[:-1, 0] * steps[1:, 1] != steps[:-1, 1] * steps[1:, 0]
    points = points[np.concatenate(([True], turns, [True]))] if len(points) > 2 else points
    return points[:, 0] / SNAP, points[:, 1] / SNAP


def mean_curve(curves: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean true positive rate at each false positive rate of a grid, starting at (0, 0).

    Parameters
    ----------
    curves : list of (false, true)
    """
    mean = mean_roc_curve(curves)
    return np.append(0, mean.false), np.append(0, mean.true)


def at_least(values: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return corners (x, count) of the curve "number of values ≥ x" from x = 0 to 1.

    Parameters
    ----------
    values : array_like of float
        NaN is left out.
    """
    values = np.sort(np.asarray(values, dtype=float))
    values = values[~np.isnan(values)]
    x = np.concatenate(([0.0], np.repeat(np.clip(values, 0, 1), 2), [1.0]))
    count = np.repeat(np.arange(len(values), -1, -1), 2)
    return x, count
