"""Tails and quantiles of distributions, and Wilson's interval of a share."""

import math

import numpy as np
import numpy.typing as npt

# Tails and quantiles of the normal and Student's t distributions, and ranks, without `scipy.stats`.
#
# Importing `scipy.stats` takes longer than most evaluations of small data sets, and `scipy.special` as long as the
# training of a small model, so the latter is imported only where it is needed.

NORMAL_975 = 1.9599639845400545
"""Value of `normal_quantile` at 0.975, for 95% intervals without `scipy.special`."""


def normal_cdf(z: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the probability that a standard normal value is at most `z`.

    >>> round(float(normal_cdf(1.96)), 4)
    0.975
    """
    from scipy.special import ndtr  # imported here for fast start-up

    return np.asarray(ndtr(np.asarray(z, dtype=np.float64)))


def normal_sf(z: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the probability that a standard normal value exceeds `z`.

    >>> round(float(normal_sf(1.96)), 4)
    0.025
    """
    from scipy.special import ndtr  # imported here for fast start-up

    return np.asarray(ndtr(-np.asarray(z, dtype=np.float64)))


def normal_quantile(p: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the quantile of the standard normal distribution at probability `p`.

    >>> round(float(normal_quantile(0.975)), 4)
    1.96
    """
    from scipy.special import ndtri  # imported here for fast start-up

    return np.asarray(ndtri(np.asarray(p, dtype=np.float64)))


def student_quantile(p: float, df: float) -> float:
    """Return the quantile of Student's t distribution at probability `p`; infinite `df` means normal.

    >>> round(student_quantile(0.975, 4), 4)
    2.7764
    """
    from scipy.special import stdtrit  # imported here for fast start-up

    return float(stdtrit(df, p))


def student_sf(t: float, df: float) -> float:
    """Return the probability that a value of Student's t distribution exceeds `t`; infinite `df` means normal.

    >>> round(student_sf(2.7764, 4), 4)
    0.025
    """
    from scipy.special import stdtr  # imported here for fast start-up

    return float(stdtr(df, -t))


def average_ranks(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
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
"""Quantile of the normal distribution for a central interval of 95%."""


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
