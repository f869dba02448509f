"""Kernel matrices with a wide diagonal, on which the P-SVM needs a small C.

Where samples resemble none but themselves, as with long k-mers, a standardised column of l values is nearly zero but
for its own sample, where it is about √l. With α = ±1/√l such a column reproduces the label of its own sample and says
nothing about others. A bound C of about 1/√l or less forbids that, and many columns then share in each decision.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

WIDE = 0.95
"""Share of a column's variance that its own sample has, in the median column of a wide diagonal."""
LARGE = 2.0
"""C is too large for a wide diagonal from this multiple of 1/√l."""


def own_share(K: npt.NDArray[np.float64], means: npt.NDArray[np.float64], scales: npt.NDArray[np.float64]) -> float:
    """Return the share of a column's variance that is due to the diagonal, in the median column.

    Parameters
    ----------
    K : ndarray of float64, shape (l, l)
        A Gram matrix.
    means, scales : ndarray of float64, shape (l,)
        Mean and standard deviation of its columns; constant columns have a scale of 0.

    Returns
    -------
    float
        Between 0 and 1; 0 if all columns are constant.

    Examples
    --------
    >>> K = np.eye(50) + 0.01
    >>> round(own_share(K, K.mean(axis=0), K.std(axis=0)), 3)
    0.98
    """
    varies = scales > 0
    if not varies.any():
        return 0.0
    deviations = (np.diagonal(K)[varies] - means[varies]) / scales[varies]
    return float(np.median(deviations**2)) / len(K)


def remark(K: Any, means: npt.NDArray[np.float64], scales: npt.NDArray[np.float64], cost: float) -> str | None:
    """Return what to do about a wide diagonal; None if there is none, or C is small.

    Parameters
    ----------
    K : object
        As the solver's `fit` takes it; anything but a square array has no diagonal.
    means, scales : ndarray of float64
        As for `own_share`.
    cost : float
        C.

    Returns
    -------
    str or None
    """
    if not isinstance(K, np.ndarray) or K.shape[0] != K.shape[1] or cost <= LARGE / np.sqrt(len(K)):
        return None
    share = own_share(K, means, scales)
    if share <= WIDE:
        return None
    return (
        f"the kernel matrix has a wide diagonal ({share:.0%} of the variance of a typical column is its own sample): "
        f"search C, give C={1 / np.sqrt(len(K)):.1g}, or use csvc"
    )
