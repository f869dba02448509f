"""The numbers behind the curves: ROC corners, their mean, counts of families."""

import numpy as np

GRID = np.linspace(0, 1, 101)
SNAP = 400  # places on an axis that can be told apart in a small panel


def roc_points(positive, decision):
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
    positives = int(positive.sum())
    if positives in (0, len(positive)):
        return None, None
    order = np.argsort(-decision, kind="stable")
    last = np.append(np.flatnonzero(np.diff(decision[order])), len(order) - 1)
    hits = np.cumsum(positive[order])[last]
    true = np.append(0, hits / positives)
    false = np.append(0, (last + 1 - hits) / (len(order) - positives))
    return false, true


def area(x, y):
    """Return the area under a curve of straight lines."""
    return float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))


def simplified(x, y):
    """Return a curve snapped to a fine grid, without the points that a line through its neighbours passes."""
    points = np.column_stack([np.round(np.asarray(v) * SNAP).astype(int) for v in (x, y)])
    points = points[np.append(True, np.any(np.diff(points, axis=0), axis=1))]
    steps = np.diff(points, axis=0)
    turns = steps[:-1, 0] * steps[1:, 1] != steps[:-1, 1] * steps[1:, 0]
    points = points[np.concatenate(([True], turns, [True]))] if len(points) > 2 else points
    return points[:, 0] / SNAP, points[:, 1] / SNAP


def mean_curve(curves):
    """Return the mean true positive rate at each false positive rate of `GRID`, starting at (0, 0).

    Parameters
    ----------
    curves : list of (false, true)
    """
    total = np.zeros(len(GRID))
    for false, true in curves:
        left = np.searchsorted(false, GRID, side="right") - 1
        right = np.minimum(left + 1, len(false) - 1)
        width = false[right] - false[left]
        share = np.divide(GRID - false[left], width, out=np.zeros(len(GRID)), where=width > 0)
        total += true[left] + share * (true[right] - true[left])
    return np.append(0, GRID), np.append(0, total / len(curves))


def at_least(values):
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
