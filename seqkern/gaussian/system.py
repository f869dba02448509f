"""The linear system of Gaussian process regression: (scale · K + noise · I) α = y − mean."""

import math

import numpy as np
import numpy.typing as npt

from seqkern.core.linear_algebra import Definite

Floats = npt.NDArray[np.float64]

LOG_2PI = math.log(2 * math.pi)

FIRST_JITTER = 1e-12
"""Of the mean of the diagonal: what is added to it first if the matrix is not positive definite, then ten times it."""

ROUNDING_JITTER = 1e-10
"""Jitter up to this share of the mean of the diagonal makes up for rounding errors."""


def covariance(K: Floats, scale: float, added: float) -> Floats:
    """Return scale · K + added · I, as a new array.

    Parameters
    ----------
    K : ndarray of float64, shape (n, n)
        Not changed.
    scale, added : float
        The factor of K, and what is added to its diagonal.

    Returns
    -------
    ndarray of float64, shape (n, n)
        C-ordered.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.gaussian.system import covariance
    >>> covariance(np.ones((2, 2)), 2.0, 0.5)
    array([[2.5, 2. ],
           [2. , 2.5]])
    """
    made = np.multiply(K, scale, order="C")
    made[np.diag_indices_from(made)] += added
    return made


class Observations:
    """The labels given a covariance matrix C: y ~ N(mean, C).

    Parameters
    ----------
    C : ndarray of float64, shape (n, n)
        Of the labels; overwritten.
    y : ndarray of float64, shape (n,)
        The labels.
    constant : bool
        Whether the mean is estimated by generalised least squares, or 0.

    Attributes
    ----------
    factor : Definite
        Of C.
    mean : float
        1ᵀC⁻¹y / 1ᵀC⁻¹1, or 0.
    alpha : ndarray of float64, shape (n,)
        C⁻¹ (y − mean).
    log_likelihood : float
        Of the labels.

    Raises
    ------
    numpy.linalg.LinAlgError
        If C is not positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.gaussian.system import Observations
    >>> found = Observations(2 * np.eye(2), np.array([1.0, 3.0]), constant=True)
    >>> found.mean, found.alpha.round(3).tolist(), round(found.log_likelihood, 4)
    (2.0, [-0.5, 0.5], -3.031)
    """

    def __init__(self, C: Floats, y: Floats, *, constant: bool) -> None:
        self.factor = Definite(C)
        of_y = self.factor.solve(y)
        self.mean = 0.0
        self.alpha = of_y
        if constant:
            of_ones = self.factor.solve(np.ones(len(y)))
            self.mean = float(of_y.sum() / of_ones.sum())
            self.alpha = of_y - self.mean * of_ones
        square = float((y - self.mean) @ self.alpha)
        self.log_likelihood = -0.5 * (square + self.factor.log_determinant() + len(y) * LOG_2PI)


def next_jitter(jitter: float, diagonal: Floats) -> float:
    """Return ten times the jitter, or the first one.

    Parameters
    ----------
    jitter : float
        What did not suffice; 0 before the first.
    diagonal : ndarray of float64, shape (n,)
        Of the matrix.

    Returns
    -------
    float

    Examples
    --------
    >>> next_jitter(0.0, np.ones(3)), next_jitter(1e-12, np.ones(3))
    (1e-12, 1e-11)
    """
    return 10 * jitter if jitter else FIRST_JITTER * _unit(diagonal)


def jitter_remark(jitter: float, diagonal: Floats) -> str | None:
    """Return the remark about jitter; None about as little as rounding explains.

    Parameters
    ----------
    jitter : float
        What was added to the diagonal.
    diagonal : ndarray of float64, shape (n,)
        Of the matrix.

    Returns
    -------
    str or None
    """
    return indefinite_remark(jitter, diagonal, f"{jitter:.2g} was added to its diagonal")


def indefinite_remark(size: float, diagonal: Floats, shown: str) -> str | None:
    """Return the remark about an indefinite matrix; None about as little as rounding explains.

    Parameters
    ----------
    size : float
        By how much the matrix is not positive semi-definite, in units of its diagonal.
    diagonal : ndarray of float64, shape (n,)
        Of the matrix.
    shown : str
        What the fit did about it, or noticed.

    Returns
    -------
    str or None
    """
    if size <= ROUNDING_JITTER * _unit(diagonal):
        return None
    return (
        f"the matrix is not positive semi-definite: {shown}; for reliable variances repair it (clip, flip), or choose "
        "another kernel"
    )


def joined_remarks(*remarks: str | None) -> dict[str, str]:
    """Return the entry ``remark`` of a report; none without remarks.

    Parameters
    ----------
    *remarks : str or None
        What to know of the fit.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> joined_remarks(None, "no noise"), joined_remarks(None)
    ({'remark': 'no noise'}, {})
    """
    known = [remark for remark in remarks if remark]
    return {"remark": "; ".join(known)} if known else {}


def _unit(diagonal: Floats) -> float:
    """Return the mean of a diagonal, or 1 if that is not positive."""
    mean = float(np.mean(diagonal))
    return mean if mean > 0 else 1.0
