"""The variational bound of a Gaussian process that knows the function at few training samples only.

The inducing samples Z are pivots of a Cholesky decomposition of K: each is the sample that those before explain least.
With A = L⁻¹ K(Z, X), L the Cholesky factor of K(Z, Z), the covariance of the labels is replaced by scale · AᵀA + noise
· I, and the bound is their log likelihood under it less scale / (2 noise) · (tr K − tr AᵀA).

References
----------
Titsias: Variational learning of inducing variables in sparse Gaussian processes. AISTATS 2009.

Fine, Scheinberg: Efficient SVM training using low-rank kernel representations. Journal of Machine Learning Research 2,
2001.

Burt, Rasmussen, van der Wilk: Convergence of sparse variational inference in Gaussian processes regression. Journal of
Machine Learning Research 21, 2020.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh, solve_triangular

from seqkern.core.progress import progress_bar
from seqkern.gaussian.system import LOG_2PI, indefinite_remark
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.solvers.gaussian.posterior import LowRankPosterior

Floats = npt.NDArray[np.float64]

EXHAUSTED = 1e-10
"""No sample is added when all are explained up to this share of the largest K(x, x)."""

LONG = 10**7
"""Values of the columns of K from which on progress is shown."""


def pivoted_columns(K: Any, most: int) -> tuple[npt.NDArray[np.int64], Floats, Floats]:
    """Return inducing samples, and their columns of K in orthonormal coordinates.

    Parameters
    ----------
    K : ndarray of float64, shape (n, n), or KernelOperator
        Of an operator each column is a product.
    most : int
        Largest number of inducing samples.

    Returns
    -------
    pivots : ndarray of int64, shape (m,)
        The samples, in the order in which they were chosen.
    columns : ndarray of float64, shape (m, n)
        A = L⁻¹ K(Z, X).
    left : ndarray of float64, shape (n,)
        The diagonal of K − AᵀA; below zero only by rounding if K is positive semi-definite.

    Examples
    --------
    >>> pivots, columns, left = pivoted_columns(np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 0.5]]), 2)
    >>> pivots.tolist(), left.round(2).tolist()
    ([0, 2], [0.0, 0.36, 0.0])
    """
    products = isinstance(K, KernelOperator)
    diagonal = np.array(K.squares if products else np.diagonal(K), dtype=np.float64)
    n, least = len(diagonal), EXHAUSTED * float(diagonal.max(initial=0.0))
    similar = K.times(np.ones(n)) if products else K.sum(axis=1)
    pivots, columns, unit = [], np.empty((min(most, n), n)), np.zeros(n)
    rest = diagonal.copy()
    steps = range(min(most, n))
    for j in progress_bar(steps, "inducing samples") if products and n * len(steps) > LONG else steps:
        top = float(rest.max(initial=0.0))
        if top <= least:
            break
        # many kernels are normalised: of samples that are explained equally badly, the most typical one
        alike = np.flatnonzero(rest >= top * (1 - 1e-9))
        pivot = int(alike[np.argmax(similar[alike])])
        if products:
            unit[pivot] = 1.0
            column = K.times(unit)
            unit[pivot] = 0.0
        else:
            column = K[pivot]
        columns[j] = (column - columns[:j, pivot] @ columns[:j]) / math.sqrt(top)
        rest -= columns[j] ** 2
        rest[pivot] = 0.0
        pivots.append(pivot)
    return np.array(pivots, dtype=np.int64), columns[: len(pivots)], rest


class InducingBound:
    """The variational bound of scale and noise; see `seqkern.gaussian.search.Likelihood`.

    Parameters
    ----------
    K : ndarray of float64, shape (n, n), or KernelOperator
        The kernel of the training samples.
    y : ndarray of float64, shape (n,)
        Labels.
    most : int
        Largest number of inducing samples.
    constant : bool
        Whether the mean of the prior is estimated, or 0.

    Attributes
    ----------
    pivots : ndarray of int64, shape (m,)
        The inducing samples.
    left : float
        tr K − tr AᵀA: what they leave unexplained.
    negative : float
        By how much they explain more than K(x, x) of some sample; only by rounding if K is positive semi-definite.
    size : float
        Mean of the diagonal of K.

    Examples
    --------
    With all samples the bound is the likelihood:

    >>> from seqkern.solvers.gaussian.inducing import InducingBound
    >>> bound = InducingBound(np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([1.0, -0.5]), 2, constant=True)
    >>> value, slopes = bound.likelihood(1.0, 0.2)
    >>> round(value, 4), slopes.round(4).tolist()  # by scale and noise
    (-2.7284, [-0.2243, 0.1396])
    """

    def __init__(self, K: Any, y: Floats, most: int, *, constant: bool) -> None:
        self.pivots, columns, left = pivoted_columns(K, most)
        self.left, self.negative = float(np.maximum(left, 0.0).sum()), max(0.0, -float(left.min()))
        self._n, self._constant = len(y), constant
        self._lower = columns[:, self.pivots].T.copy()  # L
        values, self._vectors = eigh(columns @ columns.T, overwrite_a=True)
        self._values = np.maximum(values, 0.0)
        self.size = (self.left + float(self._values.sum())) / self._n
        # labels and ones in the coordinates of the eigenvectors, with their products
        both = np.stack([y, np.ones(self._n)])
        self._parts = (both @ columns.T) @ self._vectors
        self._products = both @ both.T

    def likelihood(self, scale: float, noise: float) -> tuple[float, Floats]:
        """Return the bound, and its derivatives by scale and noise.

        Parameters
        ----------
        scale, noise : float
            Both > 0.

        Returns
        -------
        value : float
        slopes : ndarray of float64, shape (2,)
        """
        total = scale * self._values + noise
        y, rest = self._residual(scale, noise)
        n, m = self._n, len(total)
        # what the inducing samples explain of the squared labels, and its derivative
        explained, change = float((y**2 / total).sum()), float(((y / total) ** 2).sum())
        square = (rest - scale * explained) / noise
        log_determinant = (n - m) * math.log(noise) + float(np.log(total).sum())
        value = -0.5 * (square + log_determinant + n * LOG_2PI + scale * self.left / noise)
        by_scale = float((self._values / total).sum()) + self.left / noise - change
        by_noise = (scale * change + n - m - square - scale * self.left / noise) / noise + float((1 / total).sum())
        return value, np.array([-0.5 * by_scale, -0.5 * by_noise])

    def best_scale(self, ratio: float) -> float:
        """Return the scale of the greatest bound where the noise is `ratio` · scale.

        Parameters
        ----------
        ratio : float
            Of noise to scale.

        Returns
        -------
        float
        """
        y, rest = self._residual(1.0, ratio)
        return (rest - float((y**2 / (self._values + ratio)).sum())) / ratio / self._n

    def remark(self) -> str | None:
        """Return the remark about a matrix of which the inducing samples explain more than there is; or None."""
        shown = f"of a sample the inducing ones explain {self.negative:.2g} more than K(x, x)"
        return indefinite_remark(self.negative, np.array([self.size]), shown)

    def _means(self, scale: float, noise: float) -> tuple[float, float]:
        """Return the mean of the prior, and the inverse of its variance."""
        y, ones = self._parts
        total = scale * self._values + noise
        weight = float(self._products[1, 1] - scale * (ones**2 / total).sum()) / noise
        if not self._constant:
            return 0.0, weight
        return float(self._products[0, 1] - scale * (y * ones / total).sum()) / noise / weight, weight

    def _residual(self, scale: float, noise: float) -> tuple[Floats, float]:
        """Return the labels without the mean, in coordinates of the eigenvectors, and the sum of their squares."""
        mean, _ = self._means(scale, noise)
        products = self._products
        return (
            self._parts[0] - mean * self._parts[1],
            float(products[0, 0] - 2 * mean * products[0, 1] + mean**2 * products[1, 1]),
        )

    def solution(self, scale: float, noise: float) -> tuple[Floats, float, LowRankPosterior]:
        """Return the posterior: the coefficients of the inducing samples, the mean of the prior, and variances.

        Parameters
        ----------
        scale, noise : float
            Both > 0.

        Returns
        -------
        coefficients : ndarray of float64, shape (m,)
            Of K(x, Z), in the mean of f.
        mean : float
            Of the prior.
        posterior : LowRankPosterior
        """
        mean, weight = self._means(scale, noise)
        total = scale * self._values + noise
        y, _ = self._residual(scale, noise)
        # Uᵀ L⁻¹, from kernel values with Z to the coordinates of the eigenvectors
        to_parts = solve_triangular(self._lower, self._vectors, lower=True, trans="T").T
        coefficients = (scale * y / total) @ to_parts
        factor = scale * np.sqrt(self._values / total)[:, None] * to_parts
        mean_weights = (scale * self._parts[1] / total) @ to_parts
        variance = 1 / weight if self._constant else 0.0
        return coefficients, mean, LowRankPosterior(factor, scale, mean_weights, variance)
