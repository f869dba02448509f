"""Margins: whether classes have one or values are attainable, and bounds of the leave-one-out error."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from seqkern.core.convergence import ignoring_unconverged
from seqkern.core.linear_algebra import Definite
from seqkern.core.threads import one_thread
from seqkern.core.types import Floats
from seqkern.solvers.capabilities import LeaveOneOut
from seqkern.solvers.costs import FitCost, FitWork, dense_algebra
from seqkern.solvers.shared import weighted_sums
from seqkern.solvers.svm._smo import Minimiser, RowCache
from seqkern.solvers.svm.libsvm import (
    AT_BOUND,
    CACHE_BYTES,
    CACHE_MEGABYTES,
    cache_rows,
    libsvm_estimator,
    on_rows,
    scale_of,
    unit_of,
)

# Tests of whether classes are separable, or values attainable, by the distance between convex hulls.
#
# The hard margin is half the distance between the convex hulls of the classes in feature space, min ‖Σ a_i y_i φ(x_i)‖
# over a ≥ 0 that sum to 1 in each class (Bennett & Bredensteiner 2000). Unlike the dual of the hard margin, this
# problem always has a solution, the same as the ν-SVM's with ν = 2/n.
#
# A function stays within ε of all values y_i exactly if a plane in the space of (φ(x), y) separates the points (φ(x_i),
# y_i + ε) from the points (φ(x_i), y_i − ε) (Bi & Bennett 2003, Neurocomputing 55:79-108).

TOLERANCES = (1e-3, 1e-5, 1e-7)
ITERATIONS = (10_000, 200)
RIDGE = 1e-9


def hull_distance(K: Floats, y: Floats) -> tuple[bool, float]:
    """Return whether a plane separates two classes, and an upper bound on the distance of their hulls.

    True is certain. The distance is in units of the root of the mean diagonal of K, which is positive semi-definite.
    """
    unit = float(np.mean(np.diagonal(K))) or 1.0
    distance = np.inf
    for tol in TOLERANCES:
        limit = ITERATIONS[0] + ITERATIONS[1] * len(y)
        estimator = libsvm_estimator("NuSVC", kernel="precomputed", nu=2 / len(y), tol=tol * unit, max_iter=limit)
        with ignoring_unconverged():
            try:
                estimator.fit(K, y)
            except ValueError:  # at a distance of zero LIBSVM's coefficients are not finite
                return False, 0.0
        coef = estimator.dual_coef_[0] / (0.5 * np.abs(estimator.dual_coef_[0]).sum())
        support = estimator.support_.astype(np.int64)
        product = weighted_sums(K, support, coef)
        square = max(0.0, float(np.sum(on_rows(support, coef, len(y)) * product)))
        distance = min(distance, np.sqrt(square / unit))
        # w·φ(x) of the classes does not overlap
        if product[y > 0].min() > product[y < 0].max():
            return True, float(distance)
        if estimator.fit_status_ != 0:
            break
    return False, float(distance)


def tube_found(K: Floats, y: Floats, epsilon: float) -> bool:
    """Return whether a function was found that comes within ε of all values; only True is certain."""
    unit = float(np.mean(np.diagonal(K))) or 1.0
    if _fitted_within(K, y, epsilon, unit):
        return True
    ends = np.concatenate([y + epsilon, y - epsilon]) - y.mean()
    ends /= float(np.std(y)) or 1.0
    joined = np.tile(K, (2, 2))
    joined /= unit
    for row, end in zip(joined, ends, strict=True):
        row += end * ends
    return hull_distance(joined, np.repeat([1.0, -1.0], len(y)))[0]


def _fitted_within(K: Floats, y: Floats, epsilon: float, unit: float) -> bool:
    """Return whether least squares with a tiny ridge come within ε.

    Very close hulls would otherwise look like overlapping ones.
    """
    matrix = K + unit  # the constant is a feature too
    matrix[np.diag_indices_from(matrix)] += RIDGE * unit
    try:
        with one_thread():
            coef = Definite(matrix).solve(y)
            rest = y - K @ coef - unit * coef.sum()
    except np.linalg.LinAlgError:
        return False
    return bool(np.abs(rest).max() <= epsilon)


def not_separable(K: Floats, y: Floats) -> str | None:
    """Return the cause of a missing hard margin and its remedy; None if a plane separates the classes."""
    separable, distance = hull_distance(K, y)
    if separable:
        return None
    return (
        "no plane was found that separates the classes with this kernel, so there is no hard margin (their convex "
        f"hulls are at most {distance:.1g} of the typical length of a vector apart); give a finite C such as 1000, or "
        "choose another kernel"
    )


# Bounds and estimates of the leave-one-out error of a C-SVM from one fit: span, ξα, radius-margin.
#
# All are functions of the kernel matrix, α, the labels and the cost of each sample, so they apply to every solver of
# this quadratic program. The L2 soft margin (squared errors) is the same program with infinite cost, and its ridge on
# the diagonal of K. Like leave-one-out itself, all three are optimistic where the training set has groups of similar
# samples, because the rest of a group remains.

# The smallest sphere around a training set in feature space, from the kernel matrix alone.

STEPS = 20  # Largest number of steps for each sample


@dataclass(frozen=True)
class Sphere:
    """A sphere around all training samples.

    `square` is its squared radius R², the largest squared distance of a sample from the centre Σ β_i φ(x_i); `lower` is
    a lower bound on the squared radius of any enclosing sphere.

    >>> smallest_sphere(np.array([[1.0, -1.0], [-1.0, 1.0]])).weights
    array([0.5, 0.5])
    """

    # Its squared radius R²: the largest squared distance of a sample from the centre. The sphere encloses all
    square: float
    lower: float  # No sphere with a smaller squared radius encloses all
    weights: Floats  # shape (n,): The centre is Σ β_i φ(x_i)
    iterations: int  # Steps taken

    @property
    def gap(self) -> float:
        """The difference of `square` and `lower`, as a share of R²."""
        return max(0.0, self.square - self.lower) / self.square if self.square > 0 else 0.0


def smallest_sphere(K: Floats, tol: float = 1e-3) -> Sphere:
    """Return the smallest sphere around the training samples in feature space.

    It maximises R² = Σ_i β_i K_ii − βᵀKβ over β ≥ 0, Σ_i β_i = 1 (Schölkopf, Burges, Vapnik 1995) by sequential minimal
    optimisation from equal weights, which are nearly right for string kernels of long k-mers, where all samples are
    about equally far apart. It ends if no pair violates the optimality conditions by more than `tol` times the mean of
    K(x, x); `Sphere.square` encloses all samples even without convergence. It takes O(n²), and O(n) for each of at most
    20 n steps, with single-precision rows in at most 200 MB.

    Schölkopf, Burges, Vapnik: Extracting support data for a given task. KDD 1995. Tax, Duin: Support vector data
    description. Machine Learning 54, 2004.

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
    """Return the memory in bytes that `smallest_sphere` needs besides the matrix of n samples."""
    return min(4 * n * n, CACHE_MEGABYTES * 2**20) + CACHE_BYTES * n


SPAN_RIDGE = 1e-10
"""Share of the mean K(x, x) added to the diagonal, so that similar support vectors leave the matrix invertible."""

MOST_SUPPORT = 3000  # Number of support vectors above which the span is not computed: it takes O(s³)

INDEFINITE = "no span: the matrix of the support vectors is not positive semi-definite"
TOO_MANY = f"no span: more than {MOST_SUPPORT:,} support vectors"


def leave_one_out(
    K: Floats, alpha: Floats, y: Floats, cost: Floats, decisions: Floats, *, limited: bool = True
) -> LeaveOneOut:
    """Return all leave-one-out estimates of one fit; `limited` omits the span beyond `MOST_SUPPORT` support vectors."""
    sphere = smallest_sphere(K)
    held_out, remark = None, None
    if not limited or np.count_nonzero(alpha) <= MOST_SUPPORT:
        held_out = decisions - y * alpha * span_squares(K, alpha, cost)
        if np.isnan(held_out).any():
            held_out, remark = None, INDEFINITE
    else:
        remark = TOO_MANY
    return LeaveOneOut(
        None if held_out is None else float(np.mean(y * held_out <= 0)),
        xi_alpha(K, alpha, y, decisions),
        radius_margin(sphere.square, alpha, y, cost, decisions),
        sphere.square,
        held_out,
        remark,
    )


def span_squares(K: Floats, alpha: Floats, cost: Floats) -> Floats:
    """Return the squared span S_p² of each support vector, 0 for other samples.

    For a free support vector p (0 < α_p < C), it is the squared distance of φ(x_p) from the affine hull of the other
    free ones: S_p² = 1 / (K̃⁻¹)_pp, with K̃ their kernel matrix bordered by ones and a 0. For α_p = C, it is S_p² =
    K_pp − vᵀK̃⁻¹v with v = (K(x_p, free ones), 1), and without any free support vector K_pp.

    If the same support vectors stay free, and the same ones at their bound, when p is left out, then f changes at x_p
    by exactly y_p α_p S_p², and p is a leave-one-out error where y_p f(x_p) ≤ α_p S_p². Otherwise this is an estimate.
    It takes O(s³) for s support vectors.

    Vapnik, Chapelle: Bounds on error expectation for support vector machines. Neural Computation 12, 2000. Chapelle,
    Vapnik, Bousquet, Mukherjee: Choosing multiple parameters for support vector machines. Machine Learning 46, 2002.
    """
    finite = np.where(np.isfinite(cost), cost, alpha.max(initial=0.0))
    full = np.isfinite(cost) & (alpha >= (1 - AT_BOUND) * finite)
    free = np.flatnonzero((alpha > AT_BOUND * finite) & ~full)
    bounded = np.flatnonzero(full)
    found = np.zeros(len(alpha))
    diagonal = K.diagonal()
    if not len(free):
        found[bounded] = diagonal[bounded]
        return found
    # a constant added to all values moves the origin only, and keeps the direction of ones from cancelling
    moved = max(float(np.mean(diagonal[free])), np.finfo(np.float64).tiny)
    A = K[np.ix_(free, free)] + moved
    A[np.diag_indices_from(A)] += SPAN_RIDGE * moved
    with one_thread():
        try:
            factor = Definite(A)
        except np.linalg.LinAlgError:  # an indefinite kernel has no distances
            return np.full(len(alpha), np.nan)
        ones = factor.solve(np.ones(len(free)))
        total = float(ones.sum())
        if len(bounded):
            columns = K[np.ix_(free, bounded)] + moved
            half = solve_triangular(np.tril(factor._factor[0]), columns, lower=True, check_finite=False)
            beside = np.sum(half * half, axis=0) - (ones @ columns - 1) ** 2 / total
            found[bounded] = np.maximum(diagonal[bounded] + moved - beside, 0.0)
        inverse = factor.inverse().diagonal() - ones**2 / total
    found[free] = np.where(inverse > 0, 1 / np.where(inverse > 0, inverse, 1.0), diagonal[free])
    return found


def xi_alpha(K: Floats, alpha: Floats, y: Floats, decisions: Floats) -> float:
    """Return the ξα estimate of the leave-one-out error, #{i : 2 α_i B² + ξ_i ≥ 1} / n.

    Here c ≤ K(x, x') ≤ c + B² for all x, x'. It is an upper bound of the leave-one-out error if this SVM and each SVM
    trained without one sample have a free support vector (0 < α_i < C), all solved exactly. Otherwise, as often with
    small C, it can be too low: b then depends on the balance of the classes, which leaving out one sample may tip.

    B² is the largest K_ii if no K_ij is negative, else the difference of the largest and smallest value, both from the
    training set. For an indefinite kernel it is not a bound. It takes O(n²), one pass over the matrix.

    Joachims: Estimating the generalization performance of an SVM efficiently. ICML 2000.

    >>> K, y = np.diag([1.0, 1.0, 1.0]), np.array([1.0, 1.0, -1.0])
    >>> xi_alpha(K, np.array([0.2, 0.2, 0.4]), y, y)
    0.0
    """
    square = float(K.diagonal().max()) - min(0.0, float(K.min()))
    errors = np.maximum(0.0, 1 - y * decisions)
    # a margin support vector has ξ = 0, but for the tolerance of the fit
    return float(np.mean((alpha > 0) & (2 * alpha * square + errors >= 1)))


def radius_margin(square: float, alpha: Floats, y: Floats, cost: Floats, decisions: Floats) -> float:
    """Return the radius-margin bound of the leave-one-out error; `square` is R².

    With a hard margin γ, it is Vapnik's R² / (n γ²), 1/γ² = Σ α_i; with finite costs (R² + 1/C) (‖w‖² + 2 C Σ ξ_i) / n
    (Chung et al. 2003), which tends to the former as C grows; Σ α_i alone would be least for C → 0. It often exceeds 1:
    use it to compare candidates, not to predict an error. For an SVM with bias the proven bound is 4 times that.

    Vapnik: Statistical learning theory. Wiley 1998. Chung, Kao, Sun, Wang, Lin: Radius margin bounds for support vector
    machines with the RBF kernel. Neural Computation 15, 2003.

    >>> y = np.array([1.0, -1.0])
    >>> radius_margin(1.0, np.array([0.5, 0.5]), y, np.full(2, np.inf), y)
    0.5
    """
    if np.any(np.isinf(cost)):
        return square * float(np.sum(alpha)) / len(y)
    # at the optimum C Σ ξ_i = Σ α_i − ‖w‖², and ‖w‖² = Σ α_i y_i f(x_i): no tiny ξ_i times a large C
    errors = float(np.sum(alpha * (2 - y * decisions)))
    return (square + 1 / float(cost.min())) * errors / len(y)


# Predicted cost of the bounds of the leave-one-out error, for the plan of a study.

SPHERE_PRODUCTS = 10.0
"""Products with the matrix that take as long as the smallest sphere, as measured for 1,000 to 4,000 samples."""

SPAN_CUBES = 0.5  # Multiplications and additions of the span, as a multiple of the cubed number of support vectors


def bounds_cost(work: FitWork, *, limited: bool = True) -> FitCost:
    """Return the additional cost of all bounds for one fit on a Gram matrix.

    It is an upper estimate, in which all samples count as support vectors.

    >>> from seqkern.solvers.costs import FitWork
    >>> bounds_cost(FitWork(8000)).seconds < bounds_cost(FitWork(8000), limited=False).seconds
    True
    """
    support = min(work.n, MOST_SUPPORT) if limited else work.n
    seconds = SPHERE_PRODUCTS * work.product + dense_algebra(support, SPAN_CUBES)
    return FitCost(seconds, max(sphere_bytes(work.n), 16 * support**2))
