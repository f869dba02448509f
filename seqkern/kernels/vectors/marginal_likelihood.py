"""The log marginal likelihood of a Gaussian process, and its gradient.

The function f has the prior covariance P = scale · K, where K is the kernel matrix of the training samples. Both
likelihoods here return the matrix S with ∂ log p(y) / ∂θ = Σ_ij S_ij ∂P_ij/∂θ for any parameter θ of the kernel, so
that one decomposition serves all parameters:

- regression, y = f(x) + ε with ε of variance `noise`: S = ½ (ααᵀ − C⁻¹), C = P + noise · I, α = C⁻¹ (y − mean).
- classification, p(y | f) = 1 / (1 + exp(−y f)), by Laplace's approximation around the mode of f (`laplace`).

References
----------
Rasmussen, Williams: Gaussian Processes for Machine Learning. MIT Press 2006, sections 2.7, 5.4 and 5.5.
"""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigvalsh_tridiagonal
from scipy.linalg.lapack import dpttrf, dpttrs, dsytrd, dsytrd_lwork

from seqkern.core.errors import GramError, LabelError, ParameterError, SequenceError
from seqkern.core.linear_algebra import ROWS, Definite
from seqkern.core.progress import Show, progress_counter
from seqkern.core.statistics import sigmoid
from seqkern.core.threads import one_thread
from seqkern.core.types import Floats, Ints
from seqkern.kernels.gradients import KernelGradient, log_gamma_prior

# Laplace's approximation for two classes: the mode of the latent function, by Newton's method.
#
# References:
# Williams, Barber: Bayesian classification with Gaussian processes. IEEE Transactions on Pattern Analysis and Machine
# Intelligence 20, 1998.
#
# Rasmussen, Williams: Gaussian Processes for Machine Learning. MIT Press 2006, algorithms 3.1 and 3.2.


MOST_STEPS = 200
"""Maximum number of Newton steps; a fit takes about ten."""

CLOSE = 1e-11
"""Largest change of any f at the mode, as a share of the largest |f|, at least 1."""

NEGATIVE = 1e-8
"""Share up to which a negative square of a step may be a rounding error."""

SHORTEST = 1e-6
"""Least share of a Newton step; as the objective is concave, hardly any step is shortened."""


def stable_sigmoid(f: Floats) -> Floats:
    """Return 1 / (1 + exp(−f)) without overflow."""
    return sigmoid(-f)


@dataclass(frozen=True, eq=False)
class Mode:
    """The mode f = P α of the latent function at the training samples, where P is the prior covariance."""

    f: Floats  # shape (n,): At the mode α is the gradient of log p(y | f), up to `residual`
    alpha: Floats  # shape (n,): At the mode α is the gradient of log p(y | f), up to `residual`
    gradient: Floats  # shape (n,): Of log p(y | f)
    roots: Floats  # shape (n,): W^½, W the negative second derivative of log p(y | f)
    factor: Definite  # Of B = I + W^½ P W^½
    log_likelihood: float  # Laplace's approximation of log p(y)
    steps: int  # Newton steps
    residual: float  # Largest |α − gradient|
    converged: bool  # Whether the last step was as short as wanted
    covariance: tuple[Floats, float, float]  # (K, scale, jitter): P = scale · K + jitter · I

    def times(self, vector: Floats) -> Floats:
        """Return P · vector."""
        return _times(self.covariance, vector)


def find_mode(K: Floats, y: Floats, scale: float = 1.0, *, start: Floats | None = None, jitter: float = 0.0) -> Mode:
    """Return the mode of the latent function for the prior covariance scale · K + jitter · I and labels −1 and 1."""
    prior = K, scale, jitter
    alpha, f = np.zeros(len(y)), np.zeros(len(y))
    value = _objective(y, f, alpha)
    if start is not None:
        at_start = _times(prior, start)
        if _objective(y, at_start, start) > value:
            alpha, f, value = start, at_start, _objective(y, at_start, start)
    for steps in range(1, MOST_STEPS + 1):  # noqa: B007  # the number is reported
        gradient, weights = _slopes(y, f)
        roots = np.sqrt(weights)
        factor = Definite(_system(prior, roots))
        right = weights * f + gradient
        target = right - roots * factor.solve(roots * _times(prior, right))
        del factor  # before the next one is made
        move, share = target - alpha, 1.0
        moved = _times(prior, move)
        if move @ moved < -NEGATIVE * np.linalg.norm(move) * np.linalg.norm(moved):
            raise np.linalg.LinAlgError("the prior covariance is not positive semi-definite")
        while share > SHORTEST and _objective(y, f + share * moved, alpha + share * move) < value - 1e-12 * abs(value):
            share /= 2
        alpha, f = alpha + share * move, f + share * moved
        value = _objective(y, f, alpha)
        change = float(np.abs(share * moved).max())
        if change <= CLOSE * max(1.0, float(np.abs(f).max())):
            break
    f = _times(prior, alpha)  # without the rounding errors of the steps
    gradient, weights = _slopes(y, f)
    roots = np.sqrt(weights)
    factor = Definite(_system(prior, roots))
    return Mode(
        f=f,
        alpha=alpha,
        gradient=gradient,
        roots=roots,
        factor=factor,
        log_likelihood=_objective(y, f, alpha) - 0.5 * factor.log_determinant(),
        steps=steps,
        residual=float(np.abs(alpha - gradient).max()),
        converged=change <= CLOSE * max(1.0, float(np.abs(f).max())),
        covariance=prior,
    )


def _times(prior: tuple[Floats, float, float], vector: Floats) -> Floats:
    """Return the prior covariance times a vector."""
    K, scale, jitter = prior
    return scale * (K @ vector) + jitter * vector


def _system(prior: tuple[Floats, float, float], roots: Floats) -> Floats:
    """Return B = I + W^½ P W^½."""
    K, scale, jitter = prior
    B = K * (np.sqrt(scale) * roots)
    B *= (np.sqrt(scale) * roots)[:, None]
    B[np.diag_indices_from(B)] += 1.0 + jitter * roots**2
    return B


def _slopes(y: Floats, f: Floats) -> tuple[Floats, Floats]:
    """Return the gradient of log p(y | f) and its negative second derivative."""
    positive = stable_sigmoid(f)
    return np.where(y > 0, 1 - positive, -positive), positive * (1 - positive)


def _objective(y: Floats, f: Floats, alpha: Floats) -> float:
    """Return log p(y | f) − ½ fᵀ P⁻¹ f."""
    return float(-np.logaddexp(0.0, -y * f).sum() - 0.5 * alpha @ f)


# The linear system of Gaussian process regression: (scale · K + noise · I) α = y − mean.

LOG_2PI = math.log(2 * math.pi)

FIRST_JITTER = 1e-12
"""Share of the mean of the diagonal that is first added to an indefinite matrix; then ten times it."""

ROUNDING_JITTER = 1e-10
"""Share of the mean of the diagonal up to which jitter compensates rounding errors."""


def covariance(K: Floats, scale: float, added: float) -> Floats:
    """Return scale · K + added · I, as a new array.

    >>> import numpy as np
    >>> from seqkern.kernels.vectors.marginal_likelihood import covariance
    >>> covariance(np.ones((2, 2)), 2.0, 0.5)
    array([[2.5, 2. ],
           [2. , 2.5]])
    """
    made = np.multiply(K, scale, order="C")
    made[np.diag_indices_from(made)] += added
    return made


class Observations:
    """Labels with a covariance matrix C, y ~ N(mean, C); the mean is 0 or estimated by generalised least squares."""

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
    """Return ten times the jitter, or the first jitter to try if it is 0.

    >>> next_jitter(0.0, np.ones(3)), next_jitter(1e-12, np.ones(3))
    (1e-12, 1e-11)
    """
    return 10 * jitter if jitter else FIRST_JITTER * _unit(diagonal)


def jitter_remark(jitter: float, diagonal: Floats) -> str | None:
    """Return the remark on the jitter, or None if it is no larger than rounding errors explain."""
    return indefinite_remark(jitter, diagonal, f"{jitter:.2g} was added to its diagonal")


def indefinite_remark(size: float, diagonal: Floats, shown: str) -> str | None:
    """Return the remark on an indefinite matrix, or None if rounding errors explain it."""
    if size <= ROUNDING_JITTER * _unit(diagonal):
        return None
    return (
        f"the matrix is not positive semi-definite: {shown}; for reliable variances repair it (clip, flip), or choose "
        "another kernel"
    )


def joined_remarks(*remarks: str | None) -> dict[str, str]:
    """Return the entry ``remark`` of a report, or an empty dict if there are no remarks.

    >>> joined_remarks(None, "no noise"), joined_remarks(None)
    ({'remark': 'no noise'}, {})
    """
    known = [remark for remark in remarks if remark]
    return {"remark": "; ".join(known)} if known else {}


def _unit(diagonal: Floats) -> float:
    """Return the mean of a diagonal, or 1 if the mean is not positive."""
    mean = float(np.mean(diagonal))
    return mean if mean > 0 else 1.0


@dataclass(frozen=True)
class MarginalLikelihood:
    """The log marginal likelihood for some parameters, and its gradient."""

    value: float  # log p(y)
    # shape (n, n): S, symmetric: the derivative with respect to each entry of the prior covariance scale · K
    slope: Floats
    scale: float  # The factor of K
    scale_slope: float  # ∂ value / ∂ scale
    noise_slope: float  # ∂ value / ∂ noise; 0 for classification
    coefficients: Floats  # shape (n,): The mean of f at a new x is mean + Σ_i coefficients[i] · K(x, x_i)
    mean: float  # Of the prior

    def derivative(self, change: Floats) -> float:
        """Return ∂ value / ∂θ for a kernel parameter θ, given ∂K/∂θ."""
        return self.scale * float(np.vdot(self.slope, change))


def regression_likelihood(
    K: Floats, y: Floats, noise: float, scale: float = 1.0, *, constant: bool = True
) -> MarginalLikelihood:
    """Return the log marginal likelihood of real-valued labels, with its derivatives."""
    with one_thread():
        observed = Observations(covariance(K, scale, noise), y, constant=constant)
        slope = observed.factor.inverse()
        alpha = observed.alpha
        for start in range(0, len(slope), ROWS):
            part = slope[start : start + ROWS]
            np.subtract(np.outer(alpha[start : start + ROWS], alpha), part, out=part)
            part *= 0.5
        return MarginalLikelihood(
            value=observed.log_likelihood,
            slope=slope,
            scale=scale,
            scale_slope=float(np.vdot(slope, K)),
            noise_slope=float(np.trace(slope)),
            coefficients=scale * alpha,
            mean=observed.mean,
        )


def laplace_likelihood(
    K: Floats, y: Floats, scale: float = 1.0, start: Floats | None = None, jitter: float = 0.0
) -> MarginalLikelihood:
    """Return Laplace's approximation of the log marginal likelihood of two classes, labels −1 and 1."""
    with one_thread():
        mode = find_mode(K, y, scale, start=start, jitter=jitter)
        positive, roots, gradient = stable_sigmoid(mode.f), mode.roots, mode.gradient
        slope = mode.factor.inverse()  # of B = I + W^½ P W^½
        # how the log determinant changes with each f_i
        by_mode = -0.5 * (1 - np.diagonal(slope)) * (1 - 2 * positive)
        slope *= roots[:, None]
        slope *= roots
        moved = by_mode - slope @ mode.times(by_mode)
        for begin in range(0, len(slope), ROWS):
            part, own = slope[begin : begin + ROWS], slice(begin, begin + ROWS)
            np.subtract(np.outer(gradient[own], gradient), part, out=part)
            part += np.outer(moved[own], gradient)
            part += np.outer(gradient[own], moved)
            part *= 0.5
        return MarginalLikelihood(
            value=mode.log_likelihood,
            slope=slope,
            scale=scale,
            scale_slope=float(np.vdot(slope, K)),
            noise_slope=0.0,
            coefficients=scale * mode.alpha,
            mean=0.0,
        )


# Noise and scale of Gaussian process regression with the maximum log marginal likelihood.
#
# For the exact likelihood, K = Q T Qᵀ with a tridiagonal T is computed once. In these coordinates scale · T + noise · I
# is tridiagonal too, so that each evaluation of the likelihood and its gradient takes O(n). Approximate likelihoods
# (`inducing`) have the same methods.

NOISE_BOUNDS = 1e-6, 1e2
"""Bounds of the noise, in units of the variance of the labels."""

SCALE_BOUNDS = 1e-4, 1e4
"""Bounds of the scale times the mean diagonal of K, in units of the variance of the labels."""

RATIOS = 1e-6, 1e4
"""Bounds of the ratio of noise to the function's variance, at the candidates for the search's start."""

STARTS = 17
"""Number of these candidates, evenly spaced on a logarithmic scale; the search starts from the best."""

MOST_SEARCH_STEPS = 500

SEARCH_TOLERANCE = 1e-14
"""Least relative gain of a step of the search."""

LIMIT_REMEDIES = {
    "noise": "noise=prior, or the variance of repeated measurements",
    "scale": "a scale, such as the variance expected of the function divided by the mean of K(x, x)",
}
"""What a user may do where the likelihood has no maximum."""

AT_BOUND = 1.01
"""Factor within which a parameter counts as at its bound."""


class Likelihood(Protocol):
    """A log marginal likelihood as a function of scale and noise, for one matrix K and labels."""

    size: float

    def likelihood(self, scale: float, noise: float) -> tuple[float, Floats]:
        """Return the log marginal likelihood, and its derivatives with respect to scale and noise."""
        ...

    def best_scale(self, ratio: float) -> float:
        """Return the scale with the maximum likelihood, given noise = `ratio` · scale."""
        ...


class Tridiagonal:
    """The exact likelihood of a kernel matrix and labels, in coordinates in which the matrix is tridiagonal."""

    def __init__(self, K: Floats, y: Floats, *, constant: bool) -> None:
        n = len(y)
        lwork, _ = dsytrd_lwork(n, lower=1)
        reduced, self._diagonal, self._beside, factors, _ = dsytrd(K.T, lower=1, lwork=int(lwork), overwrite_a=1)
        vectors = np.stack([y, np.ones(n)], axis=1)
        for i, factor in enumerate(factors):  # the reflections whose product is Q
            reflection = reduced[i + 1 :, i]
            reflection[0] = 1.0
            vectors[i + 1 :] -= np.outer(factor * reflection, reflection @ vectors[i + 1 :])
        self._vectors = vectors
        self._constant = constant
        self.eigenvalues = np.asarray(eigvalsh_tridiagonal(self._diagonal, self._beside), dtype=np.float64)
        self.size = float(self.eigenvalues.mean())

    def raise_diagonal(self, jitter: float) -> None:
        """Add `jitter` to the diagonal of K."""
        self._diagonal = self._diagonal + jitter
        self.eigenvalues = self.eigenvalues + jitter
        self.size += jitter

    def likelihood(self, scale: float, noise: float) -> tuple[float, Floats]:
        """Return the log marginal likelihood, and its derivatives with respect to scale and noise."""
        alpha, square = self._solved(scale, noise)
        values = scale * self.eigenvalues + noise
        size = len(values)
        value = -0.5 * (square + float(np.log(values).sum()) + size * LOG_2PI)
        of_noise = 0.5 * (float(alpha @ alpha) - float((1 / values).sum()))
        # α·K·α and tr(C⁻¹K) follow from those of C = scale · K + noise · I
        product = self._diagonal * alpha
        product[1:] += self._beside * alpha[:-1]
        product[:-1] += self._beside * alpha[1:]
        of_scale = 0.5 * (float(alpha @ product) - float((self.eigenvalues / values).sum()))
        return value, np.array([of_scale, of_noise])

    def best_scale(self, ratio: float) -> float:
        """Return the scale with the maximum likelihood, given noise = `ratio` · scale."""
        return self._solved(1.0, ratio)[1] / len(self._vectors)

    def _solved(self, scale: float, noise: float) -> tuple[Floats, float]:
        """Return α in these coordinates, and (y − mean) · α."""
        diagonal, beside, _ = dpttrf(scale * self._diagonal + noise, scale * self._beside)
        solved, _ = dpttrs(diagonal, beside, self._vectors)
        mean = 0.0
        if self._constant:
            ones = self._vectors[:, 1]
            mean = float(ones @ solved[:, 0]) / float(ones @ solved[:, 1])
        alpha = solved[:, 0] - mean * solved[:, 1]
        return alpha, float((self._vectors[:, 0] - mean * self._vectors[:, 1]) @ alpha)


@dataclass(frozen=True)
class Chosen:
    """Parameters with the maximum likelihood, and how the search ended.

    >>> maximise(lambda x: (-np.sum(np.log(x) ** 2), -2 * np.log(x) / x), np.array([3.0]), [(0.1, 10.0)]).values
    array([1.])
    """

    values: Floats  # The parameters
    evaluations: int  # How often the likelihood was computed
    converged: bool  # Whether the search ended at a maximum
    at_bounds: list[int]  # Which parameters are at a bound of the search


def maximise(
    function: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    bounds: list[tuple[float, float]],
    tolerance: float = SEARCH_TOLERANCE,
) -> Chosen:
    """Maximise a function of positive parameters by L-BFGS-B in their logarithms."""
    from scipy.optimize import Bounds, minimize  # imported here: it slows start-up, and prediction does not need it

    def _negative(logs: Floats) -> tuple[float, Floats]:
        values = np.exp(logs)
        value, slopes = function(values)
        return -value, -slopes * values

    lowest, highest = np.transpose(np.log(bounds))
    found = minimize(
        _negative,
        np.clip(np.log(start), lowest, highest),
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(lowest, highest),
        options={"maxiter": MOST_SEARCH_STEPS, "ftol": tolerance, "gtol": 1e-7},
    )
    values = np.exp(found.x)
    near = (values < AT_BOUND * np.exp(lowest)) | (values > np.exp(highest) / AT_BOUND)
    # an abnormal end of the line search is one within rounding errors of the maximum, where the slope is small
    flat = np.abs(np.where(near, 0.0, found.jac)).max() <= 1e-4 * max(1.0, abs(found.fun))
    return Chosen(values, int(found.nfev), bool(found.success or flat), np.flatnonzero(near).tolist())


def bound_remark(name: str, value: float) -> str:
    """Return the remark on a parameter whose best value is at a bound of the search."""
    return (
        f"{name}={value:.3g} is at the limit of the search, beyond which the likelihood may be greater; with few "
        f"samples give the solver {LIMIT_REMEDIES[name]}"
    )


def choose_scale_and_noise(
    reduced: Likelihood, variance: float, scale: float | None, noise: float | None, *, with_prior: bool = False
) -> tuple[float, float, Chosen]:
    """Return the scale and noise with the maximum likelihood, or likelihood times prior of the noise; either may be
    given.
    """
    size = reduced.size or 1.0  # of a matrix of zeros every scale is as good
    spans = {
        "scale": (variance / size * SCALE_BOUNDS[0], variance / size * SCALE_BOUNDS[1]),
        "noise": (variance * NOISE_BOUNDS[0], variance * NOISE_BOUNDS[1]),
    }
    given = {"scale": scale, "noise": noise}
    free = [name for name, value in given.items() if value is None]

    def _with_given(values: Floats) -> dict[str, float]:
        found = dict(zip(free, values.tolist(), strict=True))
        return {name: found[name] if value is None else value for name, value in given.items()}

    def _likelihood(values: Floats) -> tuple[float, Floats]:
        numbers = _with_given(values)
        value, slopes = reduced.likelihood(**numbers)
        if with_prior:
            density, slope = log_gamma_prior(numbers["noise"] / variance)
            value, slopes = value + density, slopes + np.array([0.0, slope / variance])
        return value, slopes[[value is None for value in given.values()]]

    if len(free) == 1:
        starts = [np.array([value]) for value in np.geomspace(*spans[free[0]], STARTS)]
    else:  # the best scale of each ratio of noise to scale is known
        ratios = np.geomspace(*RATIOS, STARTS) * size
        starts = [reduced.best_scale(ratio) * np.array([1.0, ratio]) for ratio in ratios]
    bounds = [spans[name] for name in free]
    starts = [np.clip(start, *np.transpose(bounds)) for start in starts]
    chosen = maximise(_likelihood, max(starts, key=lambda start: _likelihood(start)[0]), bounds)
    found = _with_given(chosen.values)
    return found["scale"], found["noise"], chosen


# The search for the kernel parameters of greatest log marginal likelihood, by L-BFGS-B over their logarithms.

REACH = 1000.0
"""Largest ratio of a parameter to its value at the start, or of this value to it."""
LATENT_BOUNDS = 1e-3, 1e4
"""Bounds of the variance of the latent function of classes."""
MOST_JITTER = 1e-6
"""Maximum jitter, as a share of the mean diagonal; a matrix that needs more is not positive semi-definite."""
LEAST_EVIDENCE = math.log(3)
"""Logarithm of the least Bayes factor for parameters that refine a kernel, from which evidence counts as positive."""
REFINING_TOLERANCE = 1e-9
"""As `SEARCH_TOLERANCE`, for kernels with parameters that refine them: they are many, with priors."""
FIRST_NOISE = 0.1
"""First noise, as a share of the variance of the labels."""
BEYOND = 1e6
"""Distance below the least likelihood seen, for points where the likelihood cannot be computed."""

LABEL_NOISE, SCALE = "noise", "scale"


@dataclass(frozen=True)
class ChosenParameters:
    """The result of the search: the kernel parameters and their log marginal likelihood.

    `at_start` is the greatest log likelihood at the initial parameters, with only scale and noise optimised.
    """

    values: dict[str, float]  # The parameters of the kernel
    log_likelihood: float  # Of the labels, for these
    at_start: float  # The largest for the values given, by scale and noise alone
    evaluations: int  # How often it was computed
    converged: bool  # Whether the search from the best start ended at a maximum


class Labels:
    """The labels of a Gaussian process: numbers, or two classes as −1 and 1.

    Floats with more than two values are numbers; two values of any type are classes.

    >>> Labels(["b", "a", "b"]).values, Labels([0.5, 1.5, 2.5]).are_numbers
    (array([ 1., -1.,  1.]), True)
    """

    def __init__(self, y: npt.ArrayLike | None) -> None:
        if y is None:
            raise LabelError("kernel 'likelihood' learns from labels, and there are none", remedy="give labels")
        given = np.asarray(y)
        names = np.unique(given)
        if len(names) < 2:
            raise LabelError("all training labels are the same", remedy="give labels that differ")
        self.are_numbers = given.dtype.kind == "f" and len(names) > 2
        if len(names) > 2 and not self.are_numbers:
            raise LabelError(
                f"kernel 'likelihood' learns from numbers or two classes, there are {len(names)} classes",
                remedy="choose kernel combination, or a grid of values",
            )
        if self.are_numbers and not np.isfinite(given).all():
            raise LabelError("a label is NaN or inf", remedy="remove samples without a label")
        self.values = np.asarray(
            given if self.are_numbers else np.where(given == names[1], 1.0, -1.0), dtype=np.float64
        )

    def take(self, rows: Ints) -> "Labels":
        """Return the labels of the given rows."""
        made = copy.copy(self)
        made.values = self.values[rows]
        if len(np.unique(made.values)) < 2:
            raise LabelError(
                f"{len(rows)} samples were drawn, and their labels are the same", remedy="choose a larger most_samples"
            )
        return made

    def likelihood(self, K: Floats, numbers: Mapping[str, float], start: Floats | None) -> MarginalLikelihood:
        """Return the log marginal likelihood of kernel matrix K for the given scale and noise.

        For classes, `start` are coefficients of a similar matrix. LinAlgError is raised if K is not positive
        semi-definite.
        """
        jitter = 0.0
        while True:
            try:
                if self.are_numbers:
                    return regression_likelihood(K, self.values, numbers[LABEL_NOISE] + jitter, numbers[SCALE])
                return laplace_likelihood(K, self.values, numbers[SCALE], start, jitter)
            except np.linalg.LinAlgError:
                diagonal = numbers[SCALE] * np.diagonal(K)
                jitter = next_jitter(jitter, diagonal)
                if jitter > MOST_JITTER * max(float(diagonal.mean()), np.finfo(float).tiny):
                    raise

    def precision(self, K: Floats, numbers: Mapping[str, float]) -> Floats:
        """Return the inverse covariance matrix of the labels, for classes that of Laplace's approximation."""
        if self.are_numbers:
            return Definite(covariance(K, numbers[SCALE], numbers[LABEL_NOISE])).inverse()
        mode = find_mode(K, self.values, numbers[SCALE])
        return mode.factor.inverse() * np.multiply.outer(mode.roots, mode.roots)

    def own_bounds(self, size: float) -> dict[str, tuple[float, float]]:
        """Return the bounds of scale and noise, for K with the mean diagonal `size`."""
        if not self.are_numbers:
            return {SCALE: (LATENT_BOUNDS[0] / size, LATENT_BOUNDS[1] / size)}
        variance = float(np.var(self.values))
        return {
            SCALE: (variance / size * SCALE_BOUNDS[0], variance / size * SCALE_BOUNDS[1]),
            LABEL_NOISE: (variance * NOISE_BOUNDS[0], variance * NOISE_BOUNDS[1]),
        }

    def own_start(self, size: float) -> dict[str, float]:
        """Return the initial scale and noise of the search, for K with the mean diagonal `size`."""
        if not self.are_numbers:
            return {SCALE: 1.0 / size}
        variance = float(np.var(self.values))
        return {SCALE: variance / size, LABEL_NOISE: FIRST_NOISE * variance}


@dataclass(frozen=True)
class Maximum:
    """A maximum of the likelihood times the prior over some parameters."""

    values: dict[str, float]  # The parameters
    value: float  # Logarithm of the likelihood and the prior
    log_likelihood: float
    converged: bool  # Whether the search ended at a maximum


class LikelihoodSearch:
    """The log marginal likelihood as a function of kernel parameters, scale and noise."""

    def __init__(self, gradient: KernelGradient, labels: Labels, names: Sequence[str]) -> None:
        self.gradient, self.labels, self.names = gradient, labels, list(names)
        self.size = float(np.mean(np.diagonal(gradient.matrix))) or 1.0  # of a matrix of zeros all values are as good
        self.constants: dict[str, float] = {}
        if gradient.kernel.gradient.has_scale():
            self.constants[SCALE] = float(np.var(labels.values)) if labels.are_numbers else 1.0
        self.evaluations, self.lowest = 0, np.inf
        self._coefficients: Floats | None = None
        self._show: Show | None = None

    def best(self, spreads: Sequence[float]) -> ChosenParameters:
        """Return the best of the maxima found from several starting points.

        These are the initial parameters times each of the factors `spreads`. Parameters that refine the kernel keep
        their initial values at first; then all are learned from the best maximum, if the evidence is greater.
        """
        gradient = self.gradient.kernel.gradient
        values, deviations = gradient.tunable(), gradient.refining()
        given = {name: values[name] for name in self.names}
        simple = {name: value for name, value in given.items() if name not in deviations}
        refining = {name: value for name, value in given.items() if name in deviations}
        if self.size < 0:
            raise self._not_definite()
        start = self.labels.own_start(self.size).items()
        own = {name: value for name, value in start if name not in self.constants}
        bounds = self._bounds(given)
        self._check_start(given | own)
        with progress_counter("choosing kernel parameters", " likelihoods") as self._show:
            first = found = self._maximum(own, bounds, given)
            if simple:
                starts = [{name: value * spread for name, value in simple.items()} for spread in spreads]
                maxima = [self._maximum(start | first.values, bounds, refining) for start in starts]
                found = max(maxima, key=lambda maximum: maximum.value)
            if refining:
                refined = self._maximum(refining | found.values, bounds, {})
                gain = refined.value - found.value - LEAST_EVIDENCE
                if gain > self._cost(refined, {name: deviations[name] for name in refining}, gain):
                    found = refined
        self._show = None
        chosen = {name: found.values.get(name, value) for name, value in given.items()}
        return ChosenParameters(chosen, found.log_likelihood, first.log_likelihood, self.evaluations, found.converged)

    def _maximum(
        self, start: Mapping[str, float], bounds: Mapping[str, tuple[float, float]], fixed: Mapping[str, float]
    ) -> Maximum:
        """Return the maximum over the parameters named in `start`, found from these values."""
        names = list(start)
        limits = [bounds[name] for name in names]
        begin = np.clip(np.array(list(start.values())), *np.transpose(limits))
        tolerance = REFINING_TOLERANCE if self.gradient.kernel.gradient.refining() else SEARCH_TOLERANCE
        found = maximise(lambda x: self.value(x, names, fixed), begin, limits, tolerance)
        value = float(self.value(found.values, names, fixed)[0])
        values = dict(zip(names, found.values.tolist(), strict=True))
        prior = sum(density for density, _ in self._log_priors(values).values())
        return Maximum(values, value, value - prior, found.converged)

    def _log_priors(self, values: Mapping[str, float]) -> dict[str, tuple[float, float]]:
        """Return (log density, derivative) of those of the latest values that have a prior.

        The noise has one if the kernel's scales, which have priors too, are in units of the variance of the labels.
        """
        known = self.gradient.kernel.gradient.log_priors()
        if self.constants and LABEL_NOISE in values:
            density, slope = log_gamma_prior(values[LABEL_NOISE] / self.constants[SCALE])
            known[LABEL_NOISE] = density, slope / self.constants[SCALE]
        return {name: known[name] for name in values if name in known}

    def _cost(self, maximum: Maximum, deviations: Mapping[str, float], gain: float) -> float:
        """Return how much of the density at a maximum the evidence loses by parameters that had to be found, or any
        number above `gain` if it is more.

        Laplace's approximation of the integral over ln θ, with standard deviation σ under the prior, costs
        ½ log det(I + σ F σ), F the Fisher information. Its diagonal bounds that from above.
        """
        numbers = {**self.constants, **maximum.values}
        at, _ = self._likelihood(numbers)
        try:
            precision = self.labels.precision(at.matrix, numbers).astype(np.float32)  # twice as fast, and close enough
        except np.linalg.LinAlgError:
            return np.inf
        cost = 0.0
        for name, deviation in deviations.items():
            product = precision @ at.derivative(name).astype(np.float32)
            change = deviation * numbers[SCALE] * numbers[name]
            cost += 0.5 * math.log1p(max(0.0, 0.5 * change**2 * float(np.vdot(product, product.T))))
            if cost > gain:
                break
        return cost

    def _bounds(self, given: Mapping[str, float]) -> dict[str, tuple[float, float]]:
        """Return the bounds of all parameters: each one's domain, limited to a range around its initial value."""
        domain = self.gradient.kernel.gradient.bounds()
        bounds = {
            name: (max(domain[name][0], value / REACH), min(domain[name][1], value * REACH))
            for name, value in given.items()
        }
        return bounds | self.labels.own_bounds(self.size)

    def _check_start(self, numbers: Mapping[str, float]) -> None:
        """Raise GramError if the likelihood cannot be computed at the start."""
        try:
            self._likelihood(numbers)
        except np.linalg.LinAlgError:
            raise self._not_definite() from None

    def _not_definite(self) -> GramError:
        """Return the error for a matrix that is not positive semi-definite at the start."""
        return GramError(
            f"kernel {self.gradient.kernel.name!r} is not positive semi-definite on the training samples",
            remedy="a Gaussian process needs another kernel, or one with other parameters",
        )

    def _likelihood(self, numbers: Mapping[str, float]) -> tuple[KernelGradient, MarginalLikelihood]:
        """Return the kernel matrix with its gradient, and the likelihood."""
        self.evaluations += 1
        numbers = {**self.constants, **numbers}
        if self._show is not None:
            self._show(self.evaluations)
        # what is kept is replaced: of each part one matrix is held
        self.gradient = self.gradient.at({name: numbers[name] for name in self.names if name in numbers})
        found = self.labels.likelihood(self.gradient.matrix, numbers, self._coefficients)
        self._coefficients = found.coefficients / found.scale
        return self.gradient, found

    def value(self, x: Floats, names: Sequence[str], fixed: Mapping[str, float]) -> tuple[float, Floats]:
        """Return the log marginal likelihood at `x`, and its derivatives by the parameters in `names`, whose priors, if
        any, are included.

        Derivatives are zero where the likelihood cannot be computed, so that the line search turns back.
        """
        values = dict(zip(names, x.tolist(), strict=True))
        try:
            at, found = self._likelihood({**fixed, **values})
            slopes = at.contracted(found.slope, [name for name in names if name in self.names])
            slopes = {name: found.scale * slope for name, slope in slopes.items()}
        except (np.linalg.LinAlgError, ParameterError, SequenceError):
            return self.lowest - BEYOND, np.zeros(len(names))
        slopes |= {SCALE: found.scale_slope, LABEL_NOISE: found.noise_slope}
        value = found.value
        for name, (density, slope) in self._log_priors(values).items():
            value, slopes[name] = value + density, slopes[name] + slope
        self.lowest = min(self.lowest, value)
        return value, np.array([slopes[name] for name in names])
