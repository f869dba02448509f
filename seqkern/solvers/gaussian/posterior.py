"""The variance of a Gaussian process at new samples, from the Cholesky factor of its training set."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dtpttr

from seqkern.core.errors import ModelError
from seqkern.core.linear_algebra import Definite
from seqkern.core.threads import one_thread
from seqkern.core.types import Array, Arrays, Floats

BLOCK = 64
"""Samples whose variances are computed at the same time. Blocks are filled up, so that the bits of a variance do not
depend on the other samples."""


class LowRankPosterior:
    """A low-rank posterior of f, with variance P(x, x) − ‖G k‖² + (1 − gᵀk)² u and P = scale · K.

    G is `factor` (r, n), g `mean_weights` (n,), and u `mean_variance`: the variance of the prior mean, 0 if not
    estimated.
    """

    def __init__(self, factor: Floats, scale: float, mean_weights: Floats, mean_variance: float) -> None:
        self.factor, self.scale = factor, scale
        self.mean_weights, self.mean_variance = mean_weights, mean_variance

    def variances(self, K: Floats, diagonal: Floats) -> Floats:
        """Return the variance of f at new samples; rounding can make it negative."""
        out = self.scale * np.asarray(diagonal, dtype=np.float64)
        for start in range(0, len(K), BLOCK):
            rows = K[start : start + BLOCK]
            filled = np.zeros((BLOCK, rows.shape[1]))
            filled[: len(rows)] = rows
            with one_thread():
                parts = filled @ self.factor.T
            out[start : start + BLOCK] -= np.sum(parts**2, axis=1)[: len(rows)]
            left = 1.0 - np.sum(filled * self.mean_weights, axis=1)[: len(rows)]
            out[start : start + BLOCK] += self.mean_variance * left**2
        return out

    def arrays(self) -> Arrays:
        """Return the arrays stored in a model file."""
        variance = np.array([self.mean_variance])
        return {"factor": self.factor, "mean_weights": self.mean_weights, "mean_variance": variance}


class Posterior:
    """The posterior of f with the prior covariance P = scale · K, given the training samples.

    Its variance at x is P(x, x) − ‖v‖² with v = L⁻¹ (w ∘ p), p the prior covariances of x with the training samples. In
    regression L Lᵀ is the covariance of the labels and w = 1; in classification L Lᵀ = I + W^½ P W^½ and w = W^½. If
    the mean of the prior was estimated too, its uncertainty (1 − oᵀv)² / oᵀo with o = L⁻¹ 1 is added.

    References
    ----------
    Rasmussen, Williams: Gaussian Processes for Machine Learning. MIT Press 2006, equations 2.26, 2.42 and 3.29.
    """

    def __init__(self, packed: Floats, scale: float, weights: Floats | None = None, ones: Floats | None = None) -> None:
        self.packed, self.scale, self.weights, self.ones = packed, scale, weights, ones

    @classmethod
    def of_labels(cls, factor: Definite, scale: float, *, constant: bool) -> "Posterior":
        """Return the posterior of regression, from the factor of the labels' covariance."""
        packed = factor.packed()
        ones = factor.solve_lower(np.ones(_side(packed))) if constant else None
        return cls(packed, scale, ones=ones)

    @cached_property
    def lower(self) -> Floats:
        """The Cholesky factor L, Fortran-ordered, float64 (n, n)."""
        lower, _ = dtpttr(_side(self.packed), self.packed, uplo="L")
        return lower

    def whiten(self, rows: Floats) -> Floats:
        """Return the whitened rows L⁻¹ rowsᵀ, shape (n, m)."""
        filled = np.zeros((BLOCK, rows.shape[1]))
        filled[: len(rows)] = rows
        with one_thread():
            return dtrsm(1.0, self.lower, filled.T, lower=1, overwrite_b=1)[:, : len(rows)]

    def variances(self, K: Floats, diagonal: Floats) -> Floats:
        """Return the variance of f at new samples; rounding can make it negative."""
        out = self.scale * np.asarray(diagonal, dtype=np.float64)
        for start in range(0, len(K), BLOCK):
            rows = self.scale * K[start : start + BLOCK]
            if self.weights is not None:
                rows *= self.weights
            whitened = np.ascontiguousarray(self.whiten(rows).T)
            out[start : start + BLOCK] -= np.sum(whitened**2, axis=1)
            if self.ones is not None:
                left = 1.0 - np.sum(whitened * self.ones, axis=1)
                out[start : start + BLOCK] += left**2 / np.sum(self.ones**2)
        return out

    def arrays(self) -> Arrays:
        """Return the arrays stored in a model file."""
        named = {"factor": self.packed, "weights": self.weights, "ones": self.ones}
        return {name: array for name, array in named.items() if array is not None}


def _side(packed: Floats) -> int:
    """Return the number of rows of a packed triangle."""
    return round((np.sqrt(8 * len(packed) + 1) - 1) / 2)


def posterior_of_arrays(arrays: Mapping[str, Array], scale: float, n: int) -> Posterior | LowRankPosterior:
    """Return the posterior stored in a model file by `arrays`."""
    factor = arrays["factor"]
    if factor.ndim == 2:
        shapes = {"factor": (len(factor), n), "mean_weights": (n,), "mean_variance": (1,)}
    else:
        shapes = {"factor": (n * (n + 1) // 2,), "weights": (n,), "ones": (n,)}
    for name, shape in shapes.items():
        if name in arrays and arrays[name].shape != shape:
            raise ModelError(f"the array {name!r} is corrupted", remedy="train the model again")
    if factor.ndim == 2:
        return LowRankPosterior(factor, scale, arrays["mean_weights"], float(arrays["mean_variance"][0]))
    return Posterior(factor, scale, arrays.get("weights"), arrays.get("ones"))


# The joint posterior of a Gaussian process at several new samples.


def covariances(solver: Any, K: Floats, prior: Floats) -> Floats:
    """Return the posterior covariance of f at new samples, shape (m, m)."""
    posterior = solver.posterior_
    parts, left, mean_variance = _explained(posterior, K[:, solver.support_])
    with one_thread():
        found = posterior.scale * prior - parts @ parts.T + mean_variance * np.outer(left, left)
    return np.asarray((found + found.T) / 2)


def _explained(posterior: Posterior | LowRankPosterior, K: Floats) -> tuple[Floats, Floats, float]:
    """Return the terms that the support samples explain of new samples.

    These are the explained parts (m, r), the remaining weight of the mean (m,), and the variance of that mean.
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
