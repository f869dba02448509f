"""Corrections for multiple testing, and the sigmoid of greatest likelihood."""

import math

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import LabelError

# Corrections of p-values for multiple testing.
#
# SciPy has no Holm correction; its `false_discovery_control` gives the numbers of `benjamini_hochberg` in up to 11
# times the time, and would import all of scipy.stats into solvers that correct p-values.
#
# References:
# Holm 1979, Scand. J. Stat. 6:65-70. Benjamini & Hochberg 1995, J. R. Stat. Soc. B 57:289-300.


def holm(p: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return p-values corrected by Holm's step-down method.

    The i-th smallest of m is multiplied by m − i + 1; the results are made non-decreasing and at most 1.

    Parameters
    ----------
    p : array_like of float, any shape of one axis
        NaN, a test that was not possible, stays NaN and is not counted.

    Returns
    -------
    ndarray of float64
        In the order of `p`.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p, dtype=np.float64)
    order = np.argsort(p, kind="stable")[: np.count_nonzero(~np.isnan(p))]
    corrected = np.full(p.shape, np.nan)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)))
    return corrected


def benjamini_hochberg(p: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the smallest false discovery rate at which each p-value is significant (Benjamini & Hochberg 1995).

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    p = np.asarray(p, dtype=np.float64)
    order = np.argsort(-p, kind="stable")
    out = np.empty(len(p))
    out[order] = np.minimum(1.0, np.minimum.accumulate(p[order] * len(p) / np.arange(len(p), 0, -1)))
    return out


# The maximum-likelihood sigmoid of decision values (Platt scaling).
#
# P(positive | f) = 1 / (1 + exp(A·f + B)), with targets shrunk by a prior of one additional sample per class.
#
# References:
# Platt: Probabilistic outputs for support vector machines. In: Advances in Large Margin Classifiers, MIT Press 1999.
# Lin, Lin, Weng: A note on Platt's probabilistic outputs for support vector machines. Machine Learning 68:267, 2007.

STEPS, SMALLEST_STEP, RIDGE, ROUNDING = 100, 1e-10, 1e-12, 1e-13


def sigmoid(z: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return 1 / (1 + exp(z)) without overflow."""
    small = np.exp(-np.abs(z))
    return np.where(z >= 0, small, 1.0) / (1.0 + small)


def fit_sigmoid(decisions: npt.ArrayLike, positive: npt.ArrayLike) -> tuple[float, float]:
    """Return the slope A and intercept B of the maximum-likelihood sigmoid of held-out decision values."""
    f, known = both_classes(decisions, positive)
    n_positive, n_negative = np.count_nonzero(known), np.count_nonzero(~known)
    targets = np.where(known, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    scale = float(np.abs(f).max()) or 1.0
    f = f / scale
    point = np.array([0.0, math.log((n_negative + 1) / (n_positive + 1))])
    loss = _loss(point, f, targets)
    for _ in range(STEPS):
        p = sigmoid(point[0] * f + point[1])
        gradient = np.array([f @ (targets - p), (targets - p).sum()])
        weight = p * (1 - p)
        cross = f @ weight
        hessian = np.array([[f * f @ weight, cross], [cross, weight.sum()]]) + RIDGE * np.eye(2)
        direction = -np.linalg.solve(hessian, gradient)
        if np.abs(direction).max() <= ROUNDING * (1 + np.abs(point).max()):
            break
        step = 1.0
        while step >= SMALLEST_STEP:
            new = point + step * direction
            new_loss = _loss(new, f, targets)
            if new_loss <= loss * (1 + ROUNDING) + 1e-4 * step * (gradient @ direction):
                break
            step /= 2
        point, loss = new, new_loss
    return float(point[0] / scale), float(point[1])


def _loss(point: npt.NDArray[np.float64], f: npt.NDArray[np.float64], targets: npt.NDArray[np.float64]) -> float:
    """Return the negative log likelihood."""
    z = point[0] * f + point[1]
    return float(np.sum(targets * z + np.logaddexp(0.0, -z)))


def both_classes(
    decisions: npt.ArrayLike, positive: npt.ArrayLike
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return decision values and class flags as arrays; raise LabelError if a class has no samples."""
    f, known = np.asarray(decisions, dtype=np.float64), np.asarray(positive, dtype=np.bool_)
    if known.all() or not known.any():
        raise LabelError("only one class, so calibration is not possible", remedy="give samples of both classes")
    return f, known
