"""The smallest sphere around a training set in feature space, from the kernel matrix alone."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqkern.solvers.expansion import weighted_sums
from seqkern.solvers.svm._smo import Minimiser, RowCache
from seqkern.solvers.svm.libsvm import CACHE_BYTES, CACHE_MEGABYTES, scale_of, unit_of
from seqkern.solvers.svm.smo import cache_rows

STEPS = 20
"""Largest number of steps for each sample."""


@dataclass(frozen=True)
class Sphere:
    """A sphere around all training samples.

    Attributes
    ----------
    square : float
        Its squared radius R²: the largest squared distance of a sample from the centre. The sphere encloses all.
    lower : float
        No sphere with a smaller squared radius encloses all.
    weights : ndarray of float64, shape (n,)
        The centre is Σ β_i φ(x_i).
    iterations : int
        Steps taken.

    Examples
    --------
    >>> smallest_sphere(np.array([[1.0, -1.0], [-1.0, 1.0]])).weights
    array([0.5, 0.5])
    """

    square: float
    lower: float
    weights: npt.NDArray[np.float64]
    iterations: int

    @property
    def gap(self) -> float:
        """The difference of both, as a share of R²."""
        return max(0.0, self.square - self.lower) / self.square if self.square > 0 else 0.0


def smallest_sphere(K: npt.NDArray[np.float64], tol: float = 1e-3) -> Sphere:
    r"""Return the smallest sphere around the training samples in feature space.

    .. math:: R^2 = \max_β \sum_i β_i K_{ii} − β^T K β  over  β ≥ 0, \sum_i β_i = 1

    (Schölkopf, Burges, Vapnik 1995), solved by sequential minimal optimisation from equal weights: these are nearly
    right for string kernels of long k-mers, under which all samples are about equally far apart.

    Complexity: O(n²), and O(n) for each of at most 20 n steps; single-precision rows in at most 200 MB.

    Parameters
    ----------
    K : ndarray of float64, shape (n, n)
        Positive semi-definite.
    tol : float, default 1e-3
        It ends if no pair of weights violates the optimality conditions by more than this share of the mean of K(x, x).

    Returns
    -------
    Sphere
        `Sphere.square` is a radius that encloses all samples, whether or not it has converged.

    References
    ----------
    Schölkopf, Burges, Vapnik: Extracting support data for a given task. KDD 1995.

    Tax, Duin: Support vector data description. Machine Learning 54, 2004.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> sphere = smallest_sphere(SpectrumKernel(2, normalize=False, alphabet="ABDSY")(["SAY", "BAY", "SAD", "BAD"]))
    >>> round(sphere.square, 12), round(sphere.gap, 12)
    (1.0, 0.0)
    """
    n = len(K)
    diagonal = np.array(K.diagonal())
    scale = scale_of(float(np.abs(diagonal).max(initial=0.0)))
    rows = RowCache(lambda i: K[i] * scale, n, cache_rows(n, CACHE_MEGABYTES * 2**20))
    weights = np.full(n, 1.0 / n)
    one = np.ones(n)
    program = rows, one, -0.5 * scale * diagonal, one, scale * diagonal, np.arange(n), weights
    _, iterations = Minimiser(*program).run(tol * scale * unit_of(K), STEPS * n)
    weights /= weights.sum()
    product = weighted_sums(K, np.arange(n), weights)
    square = float(np.sum(weights * product))
    largest = float((diagonal - 2 * product).max()) + square
    return Sphere(max(0.0, largest), max(0.0, float(np.sum(weights * diagonal)) - square), weights, iterations)


def sphere_bytes(n: int) -> int:
    """Return the memory that `smallest_sphere` needs besides the matrix.

    Parameters
    ----------
    n : int
        Training samples.

    Returns
    -------
    int
    """
    return min(4 * n * n, CACHE_MEGABYTES * 2**20) + CACHE_BYTES * n
