"""Binary Gaussian process classification by Laplace's approximation."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import real
from seqkern.core.threads import one_thread
from seqkern.core.types import Array, Arrays, Floats, Header, Ints
from seqkern.kernels.vectors.marginal_likelihood import (
    Chosen,
    Mode,
    bound_remark,
    find_mode,
    jitter_remark,
    joined_remarks,
    laplace_likelihood,
    maximise,
    next_jitter,
    stable_sigmoid,
)
from seqkern.solvers.capabilities import Traits, Variances
from seqkern.solvers.contract import BinarySolver, stored
from seqkern.solvers.costs import Effort, FitCost, FitWork, dense_algebra
from seqkern.solvers.expansion import KernelExpansion
from seqkern.solvers.gaussian.posterior import LowRankPosterior, Posterior, posterior_of_arrays

# Mean of the logistic function of a normally distributed variable.


REACH = 8.0
"""Standard deviations summed on each side of the mean."""

STEP = 0.5
"""Distance of two terms of the sum, in standard deviations if these are at most 1. As the integrand is analytic, the
error of the trapezoidal rule falls exponentially with 1 / STEP; it is below 1e-14."""


def logistic_mean(means: npt.ArrayLike, variances: npt.ArrayLike) -> Floats:
    """Return the integral ∫ 1 / (1 + exp(−f)) N(f; mean, variance) df, for each mean and variance.

    Trefethen, Weideman: The exponentially convergent trapezoidal rule. SIAM Review 56, 2014.

    >>> from seqkern.solvers.gaussian.classification import logistic_mean
    >>> logistic_mean([0.0, 2.0, 2.0], [9.0, 0.0, 9.0]).round(4)
    array([0.5   , 0.8808, 0.7174])
    """
    means, deviations = np.asarray(means, dtype=np.float64), np.sqrt(np.asarray(variances, dtype=np.float64))
    # the poles of the logistic function are nearer in units of larger deviations
    halvings = np.ceil(np.log2(np.maximum(deviations, 1.0))).astype(np.int64)
    out = np.empty(len(means))
    for halving in np.unique(halvings):
        own = halvings == halving
        places = np.arange(-REACH, REACH + STEP, STEP / 2.0**halving)
        weights = np.exp(-0.5 * places**2)
        values = stable_sigmoid(means[own, None] + deviations[own, None] * places)
        out[own] = np.sum(values * weights, axis=1) / weights.sum()
    return out


SCALE_BOUNDS = 1e-3, 1e4
"""Bounds of the scale times the mean diagonal of K, the variance of the latent function."""

STEPS, EVALUATIONS = 10, 10
"""Measured numbers of Newton steps in a fit, and of fits until the scale is chosen."""


class GPC(KernelExpansion, BinarySolver):
    r"""Gaussian process classification of two classes, with logistic likelihood and Laplace's approximation.

    Attributes
    ----------
    dual_coef_ : ndarray of float64, shape (n,)
        scale · ∇ log p(y | f) at the mode.
    intercept_ : float
        0, the mean of the prior.
    scale_ : float
        Factor of the kernel, as given or chosen.
    report_ : dict
        Besides the usual: ``log_marginal_likelihood``, ``scale``, and ``jitter``, the number added to the diagonal of
        scale · K because that is not positive semi-definite (0 if it is). ``objective`` is the negative log marginal
        likelihood, ``iterations`` the number of Newton steps of the last fit, ``residual`` the largest error of an
        equation at the mode.

    Notes
    -----
    The latent function f is drawn from a Gaussian process of mean 0 and the covariance scale · K(x, x'), and a sample
    is of the second class with the probability σ(f(x)) = 1 / (1 + exp(−f(x))). Newton's method finds the most probable
    f at the training samples, f̂, the maximum of

    .. math:: \sum_i \log σ(y_i f_i) − ½ fᵀ (s K)^{-1} f

    The posterior is replaced by a normal distribution around it, of the same curvature. The decision is the mean of f
    at a new sample, s k(x)ᵀ ∇ log p(y | f̂). The probability of a class is the mean of σ(f) over the distribution of f,
    computed to about 1e-12: the larger the variance, the nearer to ½.

    A `scale` that is ``"auto"`` maximises Laplace's approximation of the log marginal likelihood by L-BFGS-B.

    Complexity: n³/3 multiplications for each Newton step, about ten, and one copy of K; some ten times as many to
    choose the scale. A variance takes n² multiplications.

    References
    ----------
    Williams, Barber: Bayesian classification with Gaussian processes. IEEE Transactions on Pattern Analysis and Machine
    Intelligence 20, 1998.

    Rasmussen, Williams: Gaussian Processes for Machine Learning. MIT Press 2006, sections 3.4 and 5.5.1.

    Examples
    --------
    Far from the training samples, nothing is known:

    >>> import numpy as np
    >>> from seqkern.kernels import RBFKernel
    >>> from seqkern.solvers import GPC
    >>> kernel = RBFKernel(gamma=0.5)
    >>> X = np.array([[-1.5], [-1.0], [1.0], [1.5]])
    >>> solver = GPC(scale=10.0).fit(kernel(X), ["decoy", "decoy", "donor", "donor"])
    >>> K = kernel(np.array([[1.2], [9.0]]), X)
    >>> decisions, variances = solver.decision_function(K), solver.variances(K, np.ones(2))
    >>> solver.probabilities(decisions, variances)[:, 1].round(2).tolist()
    [0.8, 0.5]
    """

    name = "gp_classification"
    summary = "Gaussian process classification: probabilities that reflect uncertainty."
    learned = stored(**KernelExpansion.learned, scale="scale_")
    declared = Traits(semidefinite=True, variances=True, own_threshold=True, effort=Effort(cubes=1 / 3, copies=1.5))

    scale: float | str = real(
        default="auto",
        low=0,
        open_low=True,
        words=("auto",),
        doc="Factor of the kernel: the variance of the latent function where K(x, x) = 1; ``auto``: the value "
        "of greatest marginal likelihood.",
    )

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(), cls(scale=3.0)]

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return the predicted cost of a fit: a Cholesky decomposition for each Newton step."""
        # the gradient takes an inverse, of two decompositions
        fits = 1 if self.scale != "auto" else 1 + EVALUATIONS * (1 + 2 / STEPS)
        return FitCost(dense_algebra(work.width, self.declared.effort.cubes * STEPS * fits))

    def _fit(self, K: Floats, y: Floats) -> dict[str, Any]:
        """Choose the scale, find the mode of the posterior, and return the report."""
        jitter = 0.0
        with one_thread():
            while True:
                try:
                    mode, chosen = self._find(K, y, jitter)
                    break
                except np.linalg.LinAlgError:
                    jitter = next_jitter(jitter, np.diagonal(K))
            self.posterior_: Posterior | LowRankPosterior = Posterior(
                mode.factor.packed(), self.scale_, weights=mode.roots
            )
        self.support_ = np.arange(len(y))
        self.dual_coef_ = self.scale_ * mode.gradient
        self.intercept_ = 0.0
        return {
            "converged": mode.converged and (chosen is None or chosen.converged),
            "iterations": mode.steps,
            "residual": mode.residual,
            "objective": -mode.log_likelihood,
            "log_marginal_likelihood": mode.log_likelihood,
            "scale": self.scale_,
            "jitter": self.scale_ * jitter,
            **joined_remarks(
                None if mode.converged else "decisions are too large for Newton's method; give a lower scale",
                bound_remark("scale", self.scale_) if chosen is not None and chosen.at_bounds else None,
                jitter_remark(jitter, np.diagonal(K)),
            ),
        }

    def _find(self, K: Floats, y: Floats, jitter: float) -> tuple[Mode, Chosen | None]:
        """Set the scale; return its posterior mode and how the scale was chosen."""
        if self.scale != "auto":
            self.scale_ = float(self.scale)
            return find_mode(K, y, self.scale_, jitter=self.scale_ * jitter), None
        mean = float(np.mean(np.diagonal(K)))
        size = mean if mean > 0 else 1.0
        coefficients: Floats | None = None

        def _likelihood(values: Floats) -> tuple[float, Floats]:
            nonlocal coefficients
            scale = float(values[0])
            start = None if coefficients is None else coefficients / scale  # the f of the scale before
            found = laplace_likelihood(K, y, scale, start, scale * jitter)
            coefficients = found.coefficients
            return found.value, np.array([found.scale_slope])

        low, high = (bound / size for bound in SCALE_BOUNDS)
        chosen = maximise(_likelihood, np.array([1.0 / size]), [(low, high)])
        self.scale_ = float(chosen.values[0])
        # from 0, so that the fit is that of the scale if it were given
        return find_mode(K, y, self.scale_, jitter=self.scale_ * jitter), chosen

    def _variances(self, K: Any, diagonal: Floats, columns: Ints) -> Variances:
        """Return the variance of the latent function."""
        return Variances.of(self.posterior_.variances(K[:, columns], diagonal))

    @property
    def best_params_(self) -> dict[str, Any]:
        """Return the scale by name if it was chosen by `fit`, else an empty dict."""
        return {"scale": self.scale_} if self.scale == "auto" else {}

    def probabilities(self, decisions: Floats, variances: Variances | None = None) -> Floats | None:
        """Return the probabilities of both classes, (m, 2); None without variances."""
        if variances is None:
            return None
        second = logistic_mean(decisions, variances.latent)
        return np.stack([1 - second, second], axis=1)

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return the scale, the coefficients and the Cholesky factor."""
        header, arrays = super().fitted_state()
        return header, {**arrays, **self.posterior_.arrays()}

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Restore the state returned by `fitted_state`."""
        super().restore_fitted(header, arrays)
        self.posterior_ = posterior_of_arrays(arrays, self.scale_, len(self.dual_coef_))
