"""How far to go along a direction: a function of one number that is made of pieces of parabolas."""

import numpy as np

MOST_TRIES = 100
ENOUGH = 1e-12
"""A length is good when the slope there is so small a share of that at zero, or of the terms that it is a sum of."""


def best_step(slope, curvature, margins, changes, costs, squared, *, start):
    """Return the t with the least slope·t + ½ curvature·t² + Σ_i costs[i]·max(0, margins[i] − t·changes[i])².

    Newton's method on the derivative, which rises and is linear between the places where a term begins or ends; kept
    between the largest t with a negative and the smallest with a positive derivative.

    Parameters
    ----------
    slope, curvature : float
        curvature ≥ 0.
    margins, changes, costs : ndarray of float64, shape (n,)
    squared : bool
        Without the maximum.
    start : float
        Where to begin.
    """
    low, high = -np.inf, np.inf
    t = start
    for _ in range(MOST_TRIES):
        slack = margins - t * changes
        weighted = costs * changes
        if not squared:
            weighted[slack <= 0] = 0.0
        own, others = slope + curvature * t, 2 * (weighted @ slack)
        derivative = own - others
        second = curvature + 2 * (weighted @ changes)
        if abs(derivative) <= ENOUGH * (abs(own) + abs(others) + 2 * np.abs(weighted) @ np.abs(slack)):
            break
        low, high = (t, high) if derivative < 0 else (low, t)
        following = t - derivative / second if second > 0 else np.inf
        if not low < following < high:
            following = 0.5 * (low + high) if np.isfinite(low + high) else 2 * t + 1 if high == np.inf else 2 * t - 1
        if following == t:
            break
        t = following
    return float(t)
