"""Gaussian processes: regression, on all or on few inducing samples, and binary classification."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh, solve_triangular
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dtpttr

from seqkern.core.errors import GramError, LabelError, ModelError, ParameterError
from seqkern.core.linear_algebra import Definite
from seqkern.core.parameters import choice, count, integer, not_negative, positive
from seqkern.core.progress import progress_bar
from seqkern.core.threads import one_thread
from seqkern.core.types import Array, Arrays, Floats, Header, Ints
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.kernels.vectors.marginal_likelihood import (
    LOG_2PI,
    Chosen,
    Likelihood,
    Mode,
    Observations,
    Tridiagonal,
    bound_remark,
    choose_scale_and_noise,
    covariance,
    find_mode,
    indefinite_remark,
    jitter_remark,
    joined_remarks,
    laplace_likelihood,
    maximise,
    next_jitter,
    stable_sigmoid,
)
from seqkern.solvers.capabilities import Effort, Traits, Variances
from seqkern.solvers.contract import BinarySolver, RealSolver, stored
from seqkern.solvers.costs import FLOP_NS, FitCost, FitWork, dense_algebra
from seqkern.solvers.shared import KernelExpansion, operator_sums, random_seed

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


# Gaussian process regression on a Gram matrix, by Cholesky decomposition.

# Shared base of Gaussian process regression: parameters, the choice of noise and scale, variances.


class GaussianProcess(KernelExpansion):
    """Base of Gaussian processes; a solver sets `posterior_`, and `scale_` and `noise_` where they are parameters."""

    @property
    def best_params_(self) -> dict[str, Any]:
        """Chosen scale and noise, by name."""
        return {
            name: getattr(self, f"{name}_") for name in ("noise", "scale") if isinstance(getattr(self, name, None), str)
        }

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return the parameters, the coefficients and the posterior."""
        header, arrays = super().fitted_state()
        return header, {**arrays, **self.posterior_.arrays()}

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Restore the attributes from the output of `fitted_state`."""
        super().restore_fitted(header, arrays)
        found = posterior_of_arrays(arrays, header["scale"], len(self.dual_coef_))
        self.posterior_: Posterior | LowRankPosterior = found


class GaussianRegression(GaussianProcess, RealSolver):
    """Base of Gaussian process regression; a solver sets `scale_`, `noise_` and `posterior_`."""

    declared = Traits(semidefinite=True, operator=True, variances=True)
    learned = stored(**KernelExpansion.learned, scale="scale_", noise="noise_")

    noise: float | str = not_negative(
        "auto",
        "Variance of the errors of the labels; ``auto``: the value of greatest marginal likelihood; ``prior``: the "
        "same with a Gamma(2, 2) prior of the noise divided by the variance of the labels, for few samples.",
        words=("auto", "prior"),
    )
    scale: float | str = positive(
        "auto",
        "Factor of the kernel: the variance of the function where K(x, x) = 1; ``auto``: as for `noise`.",
        words=("auto",),
    )
    mean: Literal["constant", "zero"] = choice(
        default="constant", doc="Mean of the prior: a constant, estimated from the labels, or zero."
    )

    @property
    def without_matrix(self) -> str:
        """Advice on what to train instead if a Gram matrix does not fit into memory."""
        return "choose --solver gp_inducing with --gram FILE.npy, which copies no matrix"

    def check_labels(self, y: Array, groups: npt.ArrayLike | None = None) -> None:
        """Raise LabelError for constant labels, which give no estimate of a variance."""
        if np.ptp(y) == 0:
            raise LabelError(
                f"all {len(y)} training labels are {float(y[0]):g}",
                remedy="a Gaussian process needs labels that differ",
            )

    def _given(self) -> tuple[float | None, float | None]:
        """Return scale and noise as given, None for those to be chosen; set both if both are given."""
        scale, noise = (None if isinstance(value, str) else float(value) for value in (self.scale, self.noise))
        if scale is not None and noise is not None:
            self.scale_, self.noise_ = scale, noise
        return scale, noise

    def _choose(self, likelihood: Likelihood, y: Floats) -> dict[str, Any]:
        """Set scale and noise, choosing at least one of them; return the search's entries for the report."""
        self.scale_, self.noise_, chosen = choose_scale_and_noise(
            likelihood, float(np.var(y)), *self._given(), with_prior=self.noise == "prior"
        )
        free = [name for name in ("scale", "noise") if isinstance(getattr(self, name), str)]
        limits = [bound_remark(free[place], chosen.values[place]) for place in chosen.at_bounds]
        return {"converged": chosen.converged, "iterations": chosen.evaluations, **joined_remarks(*limits)}

    def _summary(self, log_likelihood: float) -> dict[str, Any]:
        """Return the report entries common to every fit."""
        return {
            "objective": -log_likelihood,
            "log_marginal_likelihood": log_likelihood,
            "noise": self.noise_,
            "scale": self.scale_,
            "mean": self.intercept_,
        }

    def _variances(self, K: Any, diagonal: Floats, columns: Ints) -> Variances:
        """Return the variances of the function and of observations."""
        rows = self._rows(K) if isinstance(K, KernelOperator) else K[:, columns]
        return Variances.of(self.posterior_.variances(rows, diagonal), self.noise_)

    def _rows(self, K: KernelOperator) -> Floats:
        """Return the kernel values between an operator's records and the support samples."""
        unit = np.zeros(len(self.support_))
        out = np.empty((len(K), len(unit)))
        for j in range(len(unit)):
            unit[j] = 1.0
            out[:, j] = operator_sums(self, K, unit)
            unit[j] = 0.0
        return out


# Likelihood of Gaussian process regression from products with K, without storing the matrix.
#
# The likelihood of scale and noise is a sum over Gauss quadratures of Lanczos runs on K alone: as scale · K + noise · I
# has the same Krylov spaces, one run serves all parameters. Runs from random signs give the log determinant (stochastic
# Lanczos quadrature), runs from the labels and from ones the rest. The linear system is solved in `product_system`.
#
# Ubaru, Chen, Saad: Fast estimation of tr(f(A)) via stochastic Lanczos quadrature. SIAM Journal on Matrix Analysis and
# Applications 38, 2017.

PROBES = 10  # Number of vectors of random signs in the estimate of the log determinant, a mean over them
STEPS = 100  # Lanczos steps, each a product with K, for each starting vector of labels or signs

SMALL = 1e-10  # Share of its former size below which a vector or an eigenvalue consists of rounding errors


@dataclass(frozen=True)
class Quadrature:
    """Quadrature nodes and weights: uᵀ g(K) v ≈ Σ weights · g(nodes).

    >>> found = Quadrature(np.array([1.0, 3.0]), np.array([0.5, 0.5]))
    >>> float(found.weights @ found.nodes**2)
    5.0
    """

    nodes: "Floats"
    weights: "Floats"

    def inverse(self, scale: float, noise: float) -> "Floats":
        """Return uᵀ C⁻¹ v, C = scale · K + noise · I, and its derivatives with respect to scale and noise."""
        total = scale * self.nodes + noise
        own = self.weights / total**2
        return np.array([(self.weights / total).sum(), -(own * self.nodes).sum(), -own.sum()])

    def logarithm(self, scale: float, noise: float) -> "Floats":
        """Return uᵀ log(C) v and its derivatives with respect to scale and noise."""
        total = scale * self.nodes + noise
        own = self.weights / total
        return np.array([(self.weights * np.log(total)).sum(), (own * self.nodes).sum(), own.sum()])


def krylov(K: KernelOperator, starts: "Floats", most: int) -> "tuple[Floats, Floats]":
    """Return K restricted to the Krylov space of some vectors, in coordinates in which it is diagonal.

    With the nodes (r,) and the parts (b, r) of the vectors, u g(K) vᵀ ≈ Σ_j parts_u[j] · g(nodes[j]) · parts_v[j].
    """
    most = min(most, starts.shape[1])
    basis, images = np.empty((2, most, starts.shape[1]))
    waiting, size = [start.copy() for start in starts], 0
    while waiting and size < most:
        vector = waiting.pop(0)
        length = float(np.linalg.norm(vector))
        for _ in range(2):  # once is not enough after cancellation
            vector -= (basis[:size] @ vector) @ basis[:size]
        left = float(np.linalg.norm(vector))
        if left <= SMALL * length:
            continue
        basis[size] = vector / left
        images[size] = K.times(basis[size])
        waiting.append(images[size].copy())
        size += 1
    inner = basis[:size] @ images[:size].T
    nodes, vectors = np.linalg.eigh((inner + inner.T) / 2)
    return np.maximum(nodes, 0.0), (starts @ basis[:size].T) @ vectors


class QuadratureLikelihood:
    """The log marginal likelihood of scale and noise; see `seqkern.kernels.vectors.marginal_likelihood.Likelihood`.

    The log determinant is the known one of scale · AᵀA + noise · I, plus the mean estimate of the difference from
    random signs.
    """

    def __init__(self, K: KernelOperator, columns: "Floats", y: "Floats", *, constant: bool, seed: int) -> None:
        n = len(y)
        self._n, self._constant = n, constant
        self.size = float(np.mean(K.squares))
        own = np.array([y - y.mean(), np.ones(n)] if constant else [y], dtype=np.float64)
        nodes, parts = krylov(K, own, len(own) * STEPS)
        pairs = [(0, 0), (0, 1), (1, 1)] if constant else [(0, 0)]
        self._of_labels = [Quadrature(nodes, parts[i] * parts[j]) for i, j in pairs]
        values, vectors = np.linalg.eigh(columns @ columns.T)
        good = values > SMALL * values[-1]
        values, vectors = values[good], vectors[:, good] / np.sqrt(values[good])
        ends = np.append(values, 0.0)
        self._known = Quadrature(ends, np.append(np.ones(len(values)), n - len(values)))
        draw = np.random.default_rng(seed)
        self._probes = []
        for _ in progress_bar(range(PROBES), "log determinant"):
            signs = np.where(draw.integers(0, 2, n) > 0, 1.0, -1.0)
            nodes, parts = krylov(K, signs[None], STEPS)
            squares = ((columns @ signs) @ vectors) ** 2
            approximate = Quadrature(ends, np.append(squares, n - squares.sum()))
            self._probes.append((Quadrature(nodes, parts[0] ** 2), approximate))

    def likelihood(self, scale: float, noise: float) -> "tuple[float, Floats]":
        """Return the log marginal likelihood and its derivatives with respect to scale and noise."""
        differences = [a.logarithm(scale, noise) - b.logarithm(scale, noise) for a, b in self._probes]
        determinant = self._known.logarithm(scale, noise) + np.mean(differences, axis=0)
        found = -0.5 * (self._square(scale, noise) + determinant)
        return float(found[0]) - 0.5 * self._n * LOG_2PI, found[1:]

    def best_scale(self, ratio: float) -> float:
        """Return the scale that maximises the likelihood if the noise is `ratio` · scale."""
        return float(self._square(1.0, ratio)[0]) / self._n

    def _square(self, scale: float, noise: float) -> "Floats":
        """Return (y − mean)ᵀ C⁻¹ (y − mean) and its derivatives with respect to scale and noise."""
        labels, *others = (one.inverse(scale, noise) for one in self._of_labels)
        if not self._constant:
            return labels
        cross, ones = others
        mean = cross[0] / ones[0]
        return labels - 2 * mean * cross + mean**2 * ones


# Linear system of Gaussian process regression from products with K: conjugate gradients, and variances.

RANK = 200  # Columns of K in the preconditioner, and dimensions of the space in which variances are computed
EXACT = 1e-10  # Residual of a solved system, as a share of the right-hand side
MOST_PRODUCTS = 1000  # Largest number of products of a linear system


class ProductSystem:
    """The system matrix C = scale · K + noise · I as products, with its preconditioner from K ≈ AᵀA."""

    def __init__(self, K: KernelOperator, columns: Floats, scale: float, noise: float) -> None:
        self._K, self._columns, self._scale, self._noise = K, columns, scale, noise
        inner = columns @ columns.T
        inner[np.diag_indices_from(inner)] += noise / scale
        self._inner = Definite(inner)
        self.products = 0

    def times(self, vector: Floats) -> Floats:
        """Return the product C · vector."""
        self.products += 1
        return self._scale * self._K.times(vector) + self._noise * vector

    def _precondition(self, vector: Floats) -> Floats:
        """Return the preconditioned vector, (scale · AᵀA + noise · I)⁻¹ · vector."""
        return (vector - self._inner.solve(self._columns @ vector) @ self._columns) / self._noise

    def solve(self, right: Floats) -> tuple[Floats, float]:
        """Return C⁻¹ · right by conjugate gradients, and the residual relative to the right-hand side."""
        solution, rest = np.zeros(len(right)), right.copy()
        size = float(np.linalg.norm(right))
        near = self._precondition(rest)
        direction, square = near, float(rest @ near)
        for _ in range(MOST_PRODUCTS):
            image = self.times(direction)
            curvature = float(direction @ image)
            if curvature <= 0:
                raise _not_positive()
            step = square / curvature
            solution += step * direction
            rest -= step * image
            if np.linalg.norm(rest) <= EXACT * size:
                break
            near = self._precondition(rest)
            before, square = square, float(rest @ near)
            direction = near + (square / before) * direction
        return solution, float(np.linalg.norm(rest)) / size

    def posterior(self, of_ones: Floats | None) -> LowRankPosterior:
        """Return the posterior in the space of the columns, whose variances are upper bounds of the exact ones."""
        basis = np.linalg.qr(self._columns.T)[0].T
        inner = np.stack([basis @ self.times(one) for one in progress_bar(list(basis), "variances")])
        try:
            lower = np.linalg.cholesky((inner + inner.T) / 2)
        except np.linalg.LinAlgError as error:
            raise _not_positive() from error
        factor = self._scale * solve_triangular(lower, basis, lower=True)
        if of_ones is None:
            return LowRankPosterior(factor, self._scale, np.zeros(basis.shape[1]), 0.0)
        return LowRankPosterior(factor, self._scale, self._scale * of_ones, 1 / float(of_ones.sum()))


def _not_positive() -> GramError:
    """Return the error for a covariance with a direction of negative variance."""
    return GramError(
        "the kernel is not positive semi-definite",
        remedy="clip it (clip=true), choose another kernel, or give a larger noise",
    )


# The variational bound of a sparse Gaussian process, with inducing samples from the training set.
#
# The inducing samples Z are pivots of a Cholesky decomposition of K: each is the sample least explained by the previous
# ones. With A = L⁻¹ K(Z, X), L the Cholesky factor of K(Z, Z), the covariance of the labels is replaced by
# scale · AᵀA + noise · I, and the bound is their log likelihood under it less scale / (2 noise) · (tr K − tr AᵀA).
#
# Fine, Scheinberg: Efficient SVM training using low-rank kernel representations. Journal of Machine Learning Research
# 2, 2001. Burt, Rasmussen, van der Wilk: Convergence of sparse variational inference in Gaussian processes regression.
# Journal of Machine Learning Research 21, 2020.

EXHAUSTED = 1e-10  # Share of the largest K(x, x) below which all samples count as explained, and none is added
LONG = 10**7  # Number of values in the columns of K above which progress is shown


def pivoted_columns(K: Any, most: int) -> tuple[Ints, Floats, Floats]:
    """Return inducing samples (pivots), A = L⁻¹ K(Z, X) of shape (m, n), and the diagonal of K − AᵀA.

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
    """The variational bound as a function of scale and noise; see
    `seqkern.kernels.vectors.marginal_likelihood.Likelihood`.
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
        """Return the bound and its derivatives with respect to scale and noise."""
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
        """Return the scale that maximises the bound if the noise is `ratio` · scale."""
        y, rest = self._residual(1.0, ratio)
        return (rest - float((y**2 / (self._values + ratio)).sum())) / ratio / self._n

    def remark(self) -> str | None:
        """Return a remark if the inducing samples explain more than K(x, x), as K is indefinite; else None."""
        shown = f"of a sample the inducing ones explain {self.negative:.2g} more than K(x, x)"
        return indefinite_remark(self.negative, np.array([self.size]), shown)

    def _means(self, scale: float, noise: float) -> tuple[float, float]:
        """Return the prior mean and the inverse of its variance."""
        y, ones = self._parts
        total = scale * self._values + noise
        weight = float(self._products[1, 1] - scale * (ones**2 / total).sum()) / noise
        if not self._constant:
            return 0.0, weight
        return float(self._products[0, 1] - scale * (y * ones / total).sum()) / noise / weight, weight

    def _residual(self, scale: float, noise: float) -> tuple[Floats, float]:
        """Return the labels minus the mean, in eigenvector coordinates, and the sum of their squares."""
        mean, _ = self._means(scale, noise)
        products = self._products
        return (
            self._parts[0] - mean * self._parts[1],
            float(products[0, 0] - 2 * mean * products[0, 1] + mean**2 * products[1, 1]),
        )

    def solution(self, scale: float, noise: float) -> tuple[Floats, float, LowRankPosterior]:
        """Return the coefficients of the inducing samples, the prior mean, and the posterior for variances."""
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


SOLVED = 1e-6  # Largest residual of a system solved on products, as a share of the right-hand side

TOO_SMALL = "the noise is too small for conjugate gradients; give a larger one"

SYSTEM_PRODUCTS = 100  # Measured number of products until both linear systems are solved, on 10,000 sequences and more

REDUCTION_CUBES = 1.1
"""Multiplications of a tridiagonal reduction in units of n³, at the speed of a Cholesky decomposition."""


class GPR(GaussianRegression):
    r"""Gaussian process regression, with the variance of each prediction.

    Attributes
    ----------
    dual_coef_ : ndarray of float64, shape (n,)
        scale · α.
    intercept_ : float
        The mean of the prior.
    noise_, scale_ : float
        Variance of the noise, and factor of the kernel, as given or chosen.
    report_ : dict
        Besides the usual: ``log_marginal_likelihood``, ``noise``, ``scale``, ``mean``, and ``jitter``, what was added
        to the diagonal of scale · K + noise · I because that is not positive definite (0 if it is). ``objective`` is
        the negative log marginal likelihood, ``iterations`` how often it was computed, ``residual`` the largest error
        of an equation of the linear system, in units of the labels' standard deviation. On a KernelOperator it is a
        share of the right side, and ``products`` counts the products of the linear systems and variances.

    Notes
    -----
    The labels are y_i = f(x_i) + ε_i. The function f is drawn from a Gaussian process of constant mean and the
    covariance scale · K(x, x'), the ε_i are independent and normal, of variance `noise`. Given the labels, f(x) has

    .. math:: mean m + s k(x)ᵀ α, variance s K(x, x) − s^2 k(x)ᵀ C^{-1} k(x)

    with s the scale, m the mean, C = s K + noise · I and α = C⁻¹ (y − m). The mean of the prior is estimated by
    generalised least squares; the variance due to that, (1 − s 1ᵀC⁻¹k(x))² / 1ᵀC⁻¹1, is added.

    Noise and scale that are ``"auto"`` maximise the log marginal likelihood

    .. math:: −½ (y − m)ᵀ C^{-1} (y − m) − ½ \log |C| − ½ n \log 2π

    by L-BFGS-B in their logarithms, between 1e-6 and 100 times the variance of the labels (the scale, in units of the
    mean K(x, x), between 1e-4 and 1e4 times it).

    On a KernelOperator the linear system is solved by conjugate gradients, preconditioned by a partial Cholesky
    decomposition of 200 columns. The log determinant is the preconditioner's, and the mean of ten stochastic
    Lanczos quadratures of the difference; so the likelihood is an estimate, and the parameters that it chooses. A
    variance is the smallest that can be derived from 200 linear functions of the labels, and at least the exact one.

    Complexity: n³/3 multiplications, and one copy of K; to choose noise or scale, a reduction of K to a tridiagonal
    matrix, some ten times as long. A variance takes n² multiplications. On a KernelOperator some 1,700 products, and
    600·n numbers; a variance takes 200·n multiplications.

    References
    ----------
    Rasmussen, Williams: Gaussian Processes for Machine Learning. MIT Press 2006, chapters 2 and 5.

    Gardner, Pleiss, Bindel, Weinberger, Wilson: GPyTorch: blackbox matrix-matrix Gaussian process inference with GPU
    acceleration. NeurIPS 2018.

    Examples
    --------
    The prediction is surer near the training samples:

    >>> import numpy as np
    >>> from seqkern.kernels import RBFKernel
    >>> from seqkern.solvers import GPR
    >>> kernel = RBFKernel(gamma=0.5)
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.1, 0.9, 0.8])
    >>> solver = GPR(noise=0.01, scale=1.0).fit(kernel(X), y)
    >>> new = np.array([[1.5], [5.0]])
    >>> solver.predict(kernel(new, X)).round(2).tolist()
    [0.97, 0.41]
    >>> solver.variances(kernel(new, X), np.ones(2)).latent.round(2).tolist()
    [0.03, 1.56]
    """

    name = "gp_regression"
    summary = "Gaussian process regression: numbers predicted with their uncertainty."
    declared = GaussianRegression.declared.but(effort=Effort(cubes=1 / 3, copies=1.5))

    most_samples: int | None = integer(
        default=None,
        low=2,
        doc="Maximum number of training samples, drawn at random, that choose noise and scale from a matrix; by "
        "default all.",
    )
    seed: int = random_seed("Seed of the draw, and of the random signs that estimate the log determinant on products.")

    tested_with = ({}, {"noise": 0.05, "mean": "zero"}, {"most_samples": 10})

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return the predicted cost of a fit: a Cholesky decomposition, and a reduction to choose parameters."""
        if work.gives == "operator":
            products = STEPS * (PROBES + 2) + 2 * RANK + SYSTEM_PRODUCTS
            return FitCost(products * work.product, 8 * work.n * (3 * RANK + STEPS))
        chosen = min(work.width, self.most_samples or work.width) if str in map(type, (self.noise, self.scale)) else 0
        seconds = dense_algebra(work.width, self.declared.effort.cubes) + dense_algebra(chosen, REDUCTION_CUBES)
        return FitCost(seconds)

    def _fit(self, K: Any, y: Floats) -> dict[str, Any]:
        """Choose the parameters, solve the system, and return the report."""
        with one_thread():
            return self._fit_products(K, y) if isinstance(K, KernelOperator) else self._fit_matrix(K, y)

    def _fit_matrix(self, K: Floats, y: Floats) -> dict[str, Any]:
        """Fit by Cholesky decomposition, and return the report."""
        constant, report, jitter = self.mean == "constant", {}, 0.0
        if None in self._given():
            rows = np.arange(len(y))
            if self.most_samples is not None and len(y) > self.most_samples:
                rows = np.sort(np.random.default_rng(self.seed).choice(len(y), self.most_samples, replace=False))
                if np.ptp(y[rows]) == 0:  # equal labels tell nothing about noise
                    rows = np.arange(len(y))
            reduced = Tridiagonal(np.array(K[np.ix_(rows, rows)], order="C"), y[rows], constant=constant)
            negative = 2.0 * max(0.0, -float(reduced.eigenvalues[0]))
            if self.noise == 0 and not negative:  # K may be singular
                negative = next_jitter(0.0, np.diagonal(K))
            reduced.raise_diagonal(negative)
            report = self._choose(reduced, y[rows])
            jitter = self.scale_ * negative
        observed, jitter = self._solve(K, y, constant, jitter)
        residual = self.scale_ * (K @ observed.alpha) + (self.noise_ + jitter) * observed.alpha
        residual += observed.mean - y
        self.posterior_ = Posterior.of_labels(observed.factor, self.scale_, constant=constant)
        self.support_ = np.arange(len(y))
        self.dual_coef_ = self.scale_ * observed.alpha
        self.intercept_ = observed.mean
        return {
            **report,
            **self._summary(observed.log_likelihood),
            "residual": float(np.abs(residual).max() / y.std()),
            "jitter": jitter,
            **joined_remarks(report.get("remark"), jitter_remark(jitter, self.scale_ * np.diagonal(K))),
        }

    def _solve(self, K: Floats, y: Floats, constant: bool, jitter: float) -> tuple[Observations, float]:
        """Return the solution, and the jitter that makes the matrix positive definite."""
        while True:
            try:
                C = covariance(K, self.scale_, self.noise_ + jitter)
                return Observations(C, y, constant=constant), jitter
            except np.linalg.LinAlgError:
                jitter = next_jitter(jitter, self.scale_ * np.diagonal(K))

    def _fit_products(self, K: KernelOperator, y: Floats) -> dict[str, Any]:
        """Fit by conjugate gradients, with the likelihood from Lanczos quadratures, and return the report."""
        constant, report = self.mean == "constant", {}
        if self.noise != "auto" and float(self.noise) == 0:
            raise ParameterError("noise=0 needs a Gram matrix", remedy="give a noise above 0, or auto")
        columns = pivoted_columns(K, RANK)[1]
        likelihood = QuadratureLikelihood(K, columns, y, constant=constant, seed=self.seed)
        if None in self._given():
            report = self._choose(likelihood, y)
        system = ProductSystem(K, columns, self.scale_, self.noise_)
        alpha, residual = system.solve(y)
        of_ones, self.intercept_ = None, 0.0
        if constant:
            of_ones, other = system.solve(np.ones(len(y)))
            self.intercept_ = float(alpha.sum() / of_ones.sum())
            alpha, residual = alpha - self.intercept_ * of_ones, max(residual, other)
        self.posterior_ = system.posterior(of_ones)
        self.support_ = np.arange(len(y))
        self._vectors = K
        self.dual_coef_ = self.scale_ * alpha
        converged = residual <= SOLVED
        return {
            **report,
            **self._summary(likelihood.likelihood(self.scale_, self.noise_)[0]),
            "converged": converged and report.get("converged", True),
            "residual": residual,
            "products": system.products,
            "jitter": 0.0,
            **joined_remarks(report.get("remark"), None if converged else TOO_SMALL),
        }


# Gaussian process regression on few inducing samples, by the variational bound.


class InducingGPR(GaussianRegression):
    r"""Gaussian process regression that keeps few inducing samples, by the variational bound of Titsias.

    Attributes
    ----------
    support_ : ndarray of int64, shape (m,)
        The inducing samples.
    dual_coef_ : ndarray of float64, shape (m,)
        Their coefficients.
    intercept_ : float
        The mean of the prior.
    noise_, scale_ : float
        Variance of the noise, and factor of the kernel, as given or chosen.
    report_ : dict
        Besides the usual: ``log_marginal_likelihood``, here a lower bound (``objective`` is its negative),
        ``noise``, ``scale``, ``mean``, and ``unexplained``, the share of tr K that the inducing samples leave.

    Notes
    -----
    The model is `GPR`'s. The labels' information on f is summarised by its values at m training samples Z, so
    that the covariance of the labels is C = s Q + noise · I with Q = K(X, Z) K(Z, Z)⁻¹ K(Z, X). Noise and scale that
    are ``"auto"`` maximise a lower bound of the log marginal likelihood

    .. math:: \log N(y; m 1, C) − s / (2 noise) (tr K − tr Q)

    in which m is the mean of the prior, by generalised least squares. Inducing samples are pivots of a partial Cholesky
    decomposition of K: each is the sample explained least by those before. With all samples the fit equals `GPR`'s.

    Predictions need the kernel with the inducing samples only. A variance is f's given the inducing values, plus
    the rest of K(x, x): far from them it is the prior's.

    Complexity: n·m² multiplications and n·m numbers for n training samples; of a Gram matrix only m rows are read, on a
    KernelOperator m products are computed instead. A variance takes m² multiplications.

    References
    ----------
    Titsias: Variational learning of inducing variables in sparse Gaussian processes. AISTATS 2009.

    Examples
    --------
    Two of five samples suffice, as the others are nearly copies of them:

    >>> import numpy as np
    >>> from seqkern.kernels import RBFKernel
    >>> from seqkern.solvers import InducingGPR
    >>> kernel = RBFKernel(gamma=0.5)
    >>> X, y = np.array([[0.0], [0.01], [2.0], [2.01], [2.02]]), np.array([0.1, 0.2, 0.9, 0.8, 0.9])
    >>> solver = InducingGPR(n_inducing=2, noise=0.01, scale=1.0).fit(kernel(X), y)
    >>> solver.support_.tolist(), solver.predict(kernel(X, X)).round(2).tolist()
    ([2, 0], [0.15, 0.15, 0.86, 0.87, 0.87])
    """

    name = "gp_inducing"
    summary = "Gaussian process regression on few inducing samples, for very many records."
    declared = GaussianRegression.declared.but(effort=Effort(copies=0.0))

    n_inducing: int = count(500, "Inducing samples, at most.")

    tested_with = ({}, {"n_inducing": 12, "noise": 0.05, "scale": 2.0, "mean": "zero"})

    @property
    def without_matrix(self) -> str:
        """Return no advice, as no other Gaussian process needs less memory."""
        return ""

    def gram_bytes(self, n: int) -> int:
        """Return the memory of a fit besides the Gram matrix: the columns of the inducing samples, twice."""
        return 16 * n * min(n, self.n_inducing)

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return the predicted cost of a fit: the columns of the inducing samples, made orthogonal."""
        m = min(work.n, self.n_inducing)
        products = m * work.product if work.gives == "operator" else 0.0
        return FitCost(products + 2 * work.n * m**2 * FLOP_NS * 1e-9, self.gram_bytes(work.n))

    def _fit(self, K: Any, y: Floats) -> dict[str, Any]:
        """Choose inducing samples and parameters, compute the posterior, and return the report."""
        if self.noise != "auto" and float(self.noise) == 0:
            raise ParameterError("noise=0 needs solver gp_regression", remedy="give a noise above 0, or auto")
        report: dict[str, Any] = {}
        with one_thread():
            bound = InducingBound(K, y, self.n_inducing, constant=self.mean == "constant")
            if None in self._given():
                report = self._choose(bound, y)
            coefficients, self.intercept_, self.posterior_ = bound.solution(self.scale_, self.noise_)
        self.support_, self.dual_coef_ = bound.pivots, coefficients
        if isinstance(K, KernelOperator):
            self._vectors = K.take(self.support_)
        return {
            **report,
            **self._summary(bound.likelihood(self.scale_, self.noise_)[0]),
            **joined_remarks(report.get("remark"), bound.remark()),
            "unexplained": bound.left / (bound.size * len(y)) if bound.size else 0.0,
        }


# Binary Gaussian process classification by Laplace's approximation.

# Mean of the logistic function of a normally distributed variable.


REACH = 8.0  # Standard deviations summed on each side of the mean

STEP = 0.5
"""Distance of two terms of the sum, in standard deviations if these are at most 1. As the integrand is analytic, the
error of the trapezoidal rule falls exponentially with 1 / STEP; it is below 1e-14."""


def logistic_mean(means: npt.ArrayLike, variances: npt.ArrayLike) -> Floats:
    """Return the integral ∫ 1 / (1 + exp(−f)) N(f; mean, variance) df, for each mean and variance.

    Trefethen, Weideman: The exponentially convergent trapezoidal rule. SIAM Review 56, 2014.

    >>> from seqkern.solvers.gaussian.processes import logistic_mean
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


SCALE_BOUNDS = 1e-3, 1e4  # Bounds of the scale times the mean diagonal of K, the variance of the latent function

NEWTON_STEPS, EVALUATIONS = 10, 10  # Measured numbers of Newton steps in a fit, and of fits until the scale is chosen


class GPC(GaussianProcess, BinarySolver):
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

    scale: float | str = positive(
        "auto",
        "Factor of the kernel: the variance of the latent function where K(x, x) = 1; ``auto``: the value "
        "of greatest marginal likelihood.",
        words=("auto",),
    )

    tested_with = ({}, {"scale": 3.0})

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return the predicted cost of a fit: a Cholesky decomposition for each Newton step."""
        # the gradient takes an inverse, of two decompositions
        fits = 1 if self.scale != "auto" else 1 + EVALUATIONS * (1 + 2 / NEWTON_STEPS)
        return FitCost(dense_algebra(work.width, self.declared.effort.cubes * NEWTON_STEPS * fits))

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
            self.posterior_ = Posterior(mode.factor.packed(), self.scale_, weights=mode.roots)
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

    def probabilities(self, decisions: Floats, variances: Variances | None = None) -> Floats | None:
        """Return the probabilities of both classes, (m, 2); None without variances."""
        if variances is None:
            return None
        second = logistic_mean(decisions, variances.latent)
        return np.stack([1 - second, second], axis=1)
