"""The joint posterior of a Gaussian process at several new samples."""

from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.threads import one_thread
from seqkern.solvers.gaussian.posterior import BLOCK, LowRankPosterior, Posterior

Floats = npt.NDArray[np.float64]


def covariances(solver: Any, K: Floats, prior: Floats) -> Floats:
    """Return the posterior covariance of f at new samples.

    Parameters
    ----------
    solver : GPR or InducingGPR
        Fitted.
    K : ndarray of float64, shape (m, n)
        The kernel of new samples with the solver's columns, as for its `variances`.
    prior : ndarray of float64, shape (m, m)
        The kernel of the new samples with each other.

    Returns
    -------
    ndarray of float64, shape (m, m)
        Symmetric; its diagonal are the variances.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.kernels import RBFKernel
    >>> from seqkern.solvers import GPR
    >>> kernel, X, new = RBFKernel(gamma=0.5), np.array([[0.0], [1.0], [2.0]]), np.array([[1.5], [5.0]])
    >>> solver = GPR(noise=0.01, scale=1.0).fit(kernel(X), np.array([0.1, 0.9, 0.8]))
    >>> covariances(solver, kernel(new, X), kernel(new)).round(2)
    array([[ 0.03, -0.01],
           [-0.01,  1.56]])
    """
    posterior = solver.posterior_
    parts, left, mean_variance = _explained(posterior, K[:, solver.support_])
    with one_thread():
        found = posterior.scale * prior - parts @ parts.T + mean_variance * np.outer(left, left)
    return np.asarray((found + found.T) / 2)


def _explained(posterior: Posterior | LowRankPosterior, K: Floats) -> tuple[Floats, Floats, float]:
    """Return what the support samples explain of each new one: its parts (m, r), and what is left of the mean's
    weight (m,), with the variance of that mean.
    """
    if isinstance(posterior, LowRankPosterior):
        with one_thread():
            return K @ posterior.factor.T, 1.0 - K @ posterior.mean_weights, posterior.mean_variance
    whitened = np.empty((len(K), K.shape[1]))
    for start in range(0, len(K), BLOCK):
        whitened[start : start + BLOCK] = posterior.whiten(posterior.scale * K[start : start + BLOCK]).T
    if posterior.ones is None:
        return whitened, np.zeros(len(K)), 0.0
    with one_thread():
        return whitened, 1.0 - whitened @ posterior.ones, 1.0 / float(posterior.ones @ posterior.ones)
