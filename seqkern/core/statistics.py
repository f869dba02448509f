"""Distributions and their tails, corrections for multiple testing, and the sigmoid of greatest likelihood."""

import math
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import LabelError
from seqkern.core.types import Bools, Floats

# Corrections of p-values for multiple testing.
#
# SciPy has no Holm correction; its `false_discovery_control` gives the numbers of `benjamini_hochberg` in up to 11
# times the time, and would import all of scipy.stats into solvers that correct p-values.
#
# References:
# Holm 1979, Scand. J. Stat. 6:65-70. Benjamini & Hochberg 1995, J. R. Stat. Soc. B 57:289-300.


def holm(p: npt.ArrayLike) -> Floats:
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


def benjamini_hochberg(p: npt.ArrayLike) -> Floats:
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


def sigmoid(z: Floats) -> Floats:
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


def _loss(point: Floats, f: Floats, targets: Floats) -> float:
    """Return the negative log likelihood."""
    z = point[0] * f + point[1]
    return float(np.sum(targets * z + np.logaddexp(0.0, -z)))


def both_classes(decisions: npt.ArrayLike, positive: npt.ArrayLike) -> tuple[Floats, Bools]:
    """Return decision values and class flags as arrays; raise LabelError if a class has no samples."""
    f, known = np.asarray(decisions, dtype=np.float64), np.asarray(positive, dtype=np.bool_)
    if known.all() or not known.any():
        raise LabelError("only one class, so calibration is not possible", remedy="give samples of both classes")
    return f, known


# Student's t of variance 1, of the tail 1/ν < ½ for ν degrees of freedom; without a tail, the normal distribution.

LEAST_TAIL = 1e-15  # Normal up to rounding, so that 0 needs no formula of its own


def half_width(level: float, tail: npt.ArrayLike = 0.0) -> Any:
    """Return half the width of the central interval of a probability."""
    import scipy  # imported here: SciPy slows start-up

    tail = np.maximum(tail, LEAST_TAIL)
    return scipy.special.stdtrit(1 / tail, (1 + level) / 2) * np.sqrt(1 - 2 * tail)


def log_density(z: Floats, tail: npt.ArrayLike = 0.0) -> Floats:
    """Return the log densities at z."""
    import scipy  # imported here, as in `half_width`

    tail = np.maximum(tail, LEAST_TAIL)
    ratio = tail / (1 - 2 * tail)
    return (np.log(ratio) - (1 / tail + 1) * np.log1p(ratio * z**2)) / 2 - scipy.special.betaln(0.5, 0.5 / tail)


# Ranks, and a quantile, without `scipy.stats` and `scipy.special`, whose imports take longer than most evaluations of
# small data sets.

NORMAL_975 = 1.9599639845400545
"""`scipy.special.ndtri` of 0.975, for intervals of 95%."""


def average_ranks(values: npt.ArrayLike) -> Floats:
    """Return the rank of each value, from 1; ties share their mean rank.

    >>> average_ranks([0.5, 0.1, 0.5]).tolist()
    [2.5, 1.0, 2.5]
    """
    _, place, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return ((2 * last - counts + 1) / 2)[place.ravel()]


# Wilson's interval of a share, such as an accuracy.
#
# SciPy's `binomtest` gives the same limits except for the last digit, but takes 700 times as long.
#
# References:
# Wilson 1927, J. Am. Stat. Assoc. 22:209-212.

Z95 = 1.959963984540054
"""Quantile of the normal distribution: 95% lie within."""


def wilson_interval(hits: float, n: float, z: float = Z95) -> tuple[float, float]:
    """Return Wilson's interval of the share hits / n, `z` standard errors to each side; NaN for n = 0.

    >>> low, high = wilson_interval(18, 20)
    >>> round(low, 3), round(high, 3)
    (0.699, 0.972)
    """
    if n == 0:
        return math.nan, math.nan
    share, spread = hits / n, z**2 / n
    centre = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / n + spread / (4 * n))
    # exact at the ends, where rounding would leave the score outside
    return max(0.0, centre - half) if hits > 0 else 0.0, min(1.0, centre + half) if hits < n else 1.0


# Numbers as people read them, all rounded in the same way.
#
# The same mean, summed in another order, may be 0.8154999999999999 or 0.8155. After rounding to eight digits first,
# then half up, both are 0.816.

EXACT_DIGITS = 8
"""Number of digits that agree between sums in different orders."""
LARGE = 1e15
"""Size above which a float has no decimals worth rounding."""


def rounded(value: float, digits: int = 3) -> float:
    """Return a number rounded half away from zero.

    >>> rounded(0.8154999999999999), rounded(0.8155), rounded(-0.0005)
    (0.816, 0.816, -0.001)
    """
    if not math.isfinite(value) or abs(value) >= LARGE:
        return float(value)
    exact = Decimal(f"{value:.{max(digits, EXACT_DIGITS)}f}")
    return float(exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))
