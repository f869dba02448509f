"""Line search for a piecewise quadratic function."""

import numpy as np
import numpy.typing as npt

MOST_TRIES = 100
ENOUGH = 1e-12
"""A length is good when the slope there is so small a share of that at zero, or of the terms that it is a sum of."""


def best_step(
    slope: float,
    curvature: float,
    margins: npt.NDArray[np.float64],
    changes: npt.NDArray[np.float64],
    costs: npt.NDArray[np.float64],
    squared: bool,
    *,
    start: float,
) -> float:
    """Return the t with the least slope·t + ½ curvature·t² + Σ_i costs[i]·max(0, margins[i] − t·changes[i])².

    Newton's method on the derivative, which rises and is linear between the places where a term begins or ends; kept
    between the largest t with a negative and the smallest with a positive derivative.

    Parameters
    ----------
    slope, curvature : float
        curvature ≥ 0.
    margins, changes, costs : ndarray of float64, shape (n,)
        Of each term: where it is at t = 0, how fast it falls, and its factor, ≥ 0.
    squared : bool
        Without the maximum.
    start : float
        Where to begin.

    Returns
    -------
    float

    Examples
    --------
    From w = 0 to the least ½t² + max(0, 1 − t)² + max(0, 1 − 2t)²: only the first term is still active there.

    >>> import numpy as np
    >>> from seqkern.solvers.svm.primal_search import best_step
    >>> round(best_step(0.0, 1.0, np.ones(2), np.array([1.0, 2.0]), np.ones(2), False, start=1.0), 6)
    0.666667
    """
    low, high = -np.inf, np.inf
    t = start
    for _ in range(MOST_TRIES):
        slack = margins - t * changes
        weighted = costs * changes
        if not squared:
            weighted[slack <= 0] = 0.0
        own, others = slope + curvature * t, 2 * float(weighted @ slack)
        derivative = own - others
        second = curvature + 2 * float(weighted @ changes)
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
