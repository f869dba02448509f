"""Tails and quantiles of the normal and of Student's distribution, and ranks, without `scipy.stats`.

Importing `scipy.stats` takes longer than most evaluations of small data sets, and `scipy.special` as long as the
training of a small model: it is imported where a number of it is needed.
"""

import numpy as np
import numpy.typing as npt

NORMAL_975 = 1.9599639845400545
"""`normal_quantile` of 0.975, for intervals of 95 % without `scipy.special`."""


def normal_cdf(z: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the probability of a standard normal value up to `z`.

    Parameters
    ----------
    z : array_like of float
        Values.

    Returns
    -------
    ndarray of float64

    Examples
    --------
    >>> round(float(normal_cdf(1.96)), 4)
    0.975
    """
    from scipy.special import ndtr  # imported here for fast start-up

    return np.asarray(ndtr(np.asarray(z, dtype=np.float64)))


def normal_sf(z: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the probability of a standard normal value above `z`.

    Parameters
    ----------
    z : array_like of float
        Values.

    Returns
    -------
    ndarray of float64

    Examples
    --------
    >>> round(float(normal_sf(1.96)), 4)
    0.025
    """
    from scipy.special import ndtr  # imported here for fast start-up

    return np.asarray(ndtr(-np.asarray(z, dtype=np.float64)))


def normal_quantile(p: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the value below which a standard normal value is with probability `p`.

    Parameters
    ----------
    p : array_like of float
        Probabilities.

    Returns
    -------
    ndarray of float64

    Examples
    --------
    >>> round(float(normal_quantile(0.975)), 4)
    1.96
    """
    from scipy.special import ndtri  # imported here for fast start-up

    return np.asarray(ndtri(np.asarray(p, dtype=np.float64)))


def student_quantile(p: float, df: float) -> float:
    """Return the value below which a value of Student's distribution is with probability `p`.

    Parameters
    ----------
    p : float
        Probability.
    df : float
        Degrees of freedom; infinite for the normal distribution.

    Returns
    -------
    float

    Examples
    --------
    >>> round(student_quantile(0.975, 4), 4)
    2.7764
    """
    from scipy.special import stdtrit  # imported here for fast start-up

    return float(stdtrit(df, p))


def student_sf(t: float, df: float) -> float:
    """Return the probability of a value of Student's distribution above `t`.

    Parameters
    ----------
    t : float
        Value.
    df : float
        Degrees of freedom; infinite for the normal distribution.

    Returns
    -------
    float

    Examples
    --------
    >>> round(student_sf(2.7764, 4), 4)
    0.025
    """
    from scipy.special import stdtr  # imported here for fast start-up

    return float(stdtr(df, -t))


def average_ranks(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the rank of each value, from 1; ties share the mean of theirs.

    Parameters
    ----------
    values : array_like, shape (n,)
        Without NaN.

    Returns
    -------
    ndarray of float64, shape (n,)

    Examples
    --------
    >>> average_ranks([0.5, 0.1, 0.5]).tolist()
    [2.5, 1.0, 2.5]
    """
    _, place, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return ((2 * last - counts + 1) / 2)[place.ravel()]
