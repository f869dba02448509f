"""The shared base of the LIBSVM solvers: its algorithm, Newton's method for squared errors, measures of solutions."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from seqkern.core.convergence import ignoring_unconverged
from seqkern.core.errors import ParameterError
from seqkern.core.parameters import count, positive
from seqkern.core.progress import progress_counter
from seqkern.core.threads import one_thread
from seqkern.core.types import Array, Floats, Ints
from seqkern.gram.matrix import GramRows
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.solvers.capabilities import Effort, Traits
from seqkern.solvers.checking import check_size, largest_value
from seqkern.solvers.costs import FitCost, FitWork, dense_algebra
from seqkern.solvers.products.losses import Loss
from seqkern.solvers.products.subspace import MOST_PRODUCTS, fit_loss, root
from seqkern.solvers.shared import KernelExpansion, weighted_sums
from seqkern.solvers.svm._smo import Minimiser, RowCache

# The shared base of the LIBSVM solvers: the call through scikit-learn, and measures of the solution.
#
# Each solver defines its quadratic program, and computes the violation of its optimality conditions in double
# precision. LIBSVM's algorithm for C and ε is in `smo`, the one for ν is scikit-learn's. Both read a C-ordered float64
# matrix in place, memory maps included, and add a single-precision cache of at most `CACHE_MEGABYTES`.

CACHE_MEGABYTES = 200

CACHE_BYTES = 200  # Bytes that LIBSVM needs for each row, besides its cache

AT_BOUND = 1e-9  # Largest distance of an α at a bound from 0 or from its cost, as a share of the cost

STEPS, CUBES = 12.0, 1.5
"""Measured Newton steps of a fit to squared errors, and its multiplications as a multiple of n³, for C=1 to 100."""

SOON = (10_000, 100)  # Numbers a and b: a problem that may have no solution is checked after a + b·n iterations

LARGEST = 1e100  # Size above which the squares of coefficients may have an infinite sum

NEAR = 2.0**-64, 2.0**64  # Bounds of the largest value of a matrix that is given to LIBSVM unscaled

TINY = float(np.finfo(np.float64).tiny)

UNBOUNDED = (
    "LIBSVM's coefficients diverged, as they do if the kernel matrix is not positive "
    "semi-definite; repair it (clip, flip, shift), give a finite C, or choose solver psvc or "
    "psvr, which takes any matrix"
)


class LibsvmSolver(KernelExpansion):
    """Base of SVMs with decisions Σ β_i K(x, x_i) + b, with β in `dual_coef_` and b in `intercept_`."""

    declared = Traits(semidefinite=True, effort=Effort(copies=0.0))

    last_parameters: ClassVar[tuple[str, ...]] = ("tol", "max_iter")

    tol: float = positive(1e-3, "LIBSVM stops when the largest violation of the optimality conditions is below this.")
    max_iter: int = count(10_000_000, "Maximum number of iterations.")

    @property
    def squares(self) -> bool:
        """Whether the loss has a slope that is linear between kinks: Newton's method then minimises it."""
        return False

    @property
    def traits(self) -> Traits:
        """Traits of the class; rows of a Gram matrix in a file only with a finite C, unless errors are squared."""
        rows = self.declared.rows and bool(np.isfinite(getattr(self, "C", 1.0))) and not self.squares
        return self.declared.but(rows=rows)

    def gram_bytes(self, n: int) -> int:
        """Return the bytes of LIBSVM's cache and a subclass's copies, or of linear systems, at most the matrix's."""
        return 8 * n * n if self.squares else min(4 * n * n, CACHE_MEGABYTES * 2**20) + super().gram_bytes(n)

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return the predicted cost of a fit with LIBSVM's cache, or of linear systems over parts of the samples."""
        cost = super().fit_cost(work)
        if self.traits.operator and work.gives == "operator":
            return cost
        if self.squares:
            return FitCost(STEPS * work.product + dense_algebra(work.n, CUBES), 8 * work.n**2)
        return FitCost(cost.seconds, min(CACHE_MEGABYTES * 2**20, 4 * work.n**2) + CACHE_BYTES * work.n)

    def _fit_loss(self, K: Any, loss: Loss, start: float = 0.0) -> dict[str, Any]:
        """Minimise a smooth loss on a matrix, or any loss on products, and return the report."""
        if isinstance(K, KernelOperator):
            return fit_loss(self, K, loss, self.tol, min(self.max_iter, MOST_PRODUCTS))
        return fit_squares(self, K, loss, self.tol, self.max_iter, start)

    def _run(self, estimator: Any, K: Floats, y: Floats, **limits: float) -> dict[str, Any]:
        """Run LIBSVM and keep its support vectors; return ``converged`` and ``iterations``.

        `limits` are ``tol`` and ``max_iter`` other than the solver's own. If the coefficients are not finite, the fit
        has not converged, the decision is zero, and ``remark`` says why.
        """
        options = {"tol": self.tol, "max_iter": self.max_iter, **limits}
        estimator.set_params(kernel="precomputed", cache_size=CACHE_MEGABYTES, **options)
        scale = scale_of(largest_value(K))
        if scale != 1:
            K = K * scale
            cost = estimator.get_params().get("C")
            if cost is not None:
                estimator.set_params(C=scaled_cost(cost, scale))
            else:  # ν alone: the tolerance is in units of K
                estimator.set_params(tol=options["tol"] * scale)
        with ignoring_unconverged():
            try:
                estimator.fit(K, y)
            except ValueError:
                # scikit-learn refuses LIBSVM's result; anything else is a bug here
                found = getattr(estimator, "_dual_coef_", 0.0), getattr(estimator, "_intercept_", 0.0)
                if all(np.isfinite(values).all() for values in found):
                    raise
                return self._nothing(int(np.max(estimator._num_iter)))
        if not np.all(np.abs(estimator.dual_coef_) < LARGEST):
            return self._nothing(int(np.max(estimator.n_iter_)))
        self.support_ = estimator.support_.astype(np.int64)
        self.dual_coef_ = estimator.dual_coef_[0] * scale
        self.intercept_ = float(estimator.intercept_[0])
        return {"converged": estimator.fit_status_ == 0, "iterations": int(np.max(estimator.n_iter_))}

    def _solve(
        self,
        K: Floats | GramRows,
        y: Floats,
        linear: Floats,
        cost: Floats,
        most: int,
        *,
        order: Ints | None = None,
        sign: float = 1.0,
        tol: float | None = None,
        start: Floats | None = None,
    ) -> dict[str, Any]:
        """Run LIBSVM's algorithm for at most `most` iterations; set the fitted attributes, and return the report.

        The program is `minimise_by_rows`'s, the decision `sign` times that of its multipliers. ``product`` of the
        report are the decisions about the training rows, without the bias.
        """
        order = np.arange(len(y)) if order is None else order
        tol = self.tol if tol is None else tol
        found = minimise_by_rows(K, y, linear, cost, order, tol=tol, max_iter=most, name=str(self.name), start=start)
        if not found.finite:
            return self._nothing(found.iterations)
        n = K.shape[0]
        weights, every = sign * (y * found.alpha).reshape(-1, n).sum(axis=0), order[:n] % n
        self.support_ = every[weights[every] != 0].astype(np.int64)
        self.dual_coef_, self.intercept_ = weights[self.support_], -sign * found.bias
        return {"converged": found.converged, "iterations": found.iterations, "product": sign * found.product}

    def _nothing(self, iterations: int) -> dict[str, Any]:
        """Set a decision function of zero, and return the report of a run with coefficients that are not finite."""
        self.support_ = np.empty(0, dtype=np.int64)
        self.dual_coef_ = np.empty(0)
        self.intercept_ = 0.0
        return {"converged": False, "iterations": iterations, "remark": UNBOUNDED}

    def _if_solvable(
        self, run: Callable[[int], dict[str, Any]], n: int, remark: Callable[[], str | None]
    ) -> dict[str, Any]:
        """Run LIBSVM's algorithm, but only as long as needed to detect that there is no solution.

        ``run(max_iter)`` returns a report like `_run`; if it does not converge soon, ``remark()`` returns why there is
        no solution, or None.
        """
        limit = min(self.max_iter, SOON[0] + SOON[1] * n)
        found = run(limit)
        if found["converged"] or "remark" in found:
            return found
        why = remark()
        if why is not None:
            return {**found, "remark": why}
        return run(self.max_iter) if limit < self.max_iter else found


def to_tolerance(report: dict[str, Any], tol: float) -> dict[str, Any]:
    """Return the report, marked as not converged (with the reason) if its residual exceeds the tolerance.

    >>> to_tolerance({"converged": True, "residual": 1e-4}, 1e-3)
    {'converged': True, 'residual': 0.0001}
    >>> to_tolerance({"converged": True, "residual": 1e-4}, 1e-9)["converged"]
    False
    """
    if not report["converged"] or report["residual"] <= tol:
        return report
    floor = f"rounding leaves a residual of {report['residual']:.2g}, above tol={tol:g}: give a larger tol"
    return {**report, "converged": False, "remark": floor}


def libsvm_estimator(name: str, **params: Any) -> Any:
    """Return scikit-learn's estimator for a LIBSVM problem."""
    from sklearn import svm  # imported here: scikit-learn takes a second, and prediction does not need it

    return getattr(svm, name)(**params)


def scale_of(largest: float) -> float:
    """Return the power of two, mostly 1, that multiplies LIBSVM's matrix.

    LIBSVM keeps the matrix in single precision, where extreme values overflow or vanish. With K·s, C/s and α/s the
    problem is the same.

    >>> scale_of(3.0), scale_of(2.0**70)
    (1.0, 4.235164736271502e-22)
    """
    near = largest == 0 or NEAR[0] <= largest <= NEAR[1]
    return 1.0 if near else 2.0 ** -math.frexp(largest)[1]


def scaled_cost(cost: float, scale: float) -> float:
    """Return the cost C / s for a matrix multiplied by s; infinite C stays infinite.

    >>> scaled_cost(8.0, 2.0)
    4.0
    """
    found = cost / scale
    if cost != np.inf and not TINY <= found < np.inf:
        raise ParameterError(
            f"C={cost:g} is too {'large' if found == np.inf else 'small'} for kernel values of about {1 / scale:.0g}",
            remedy="choose C near 1 / the mean of K(x, x), or normalize=true and C near 1",
        )
    return found


def unit_of(K: Floats | GramRows) -> float:
    """Return the mean diagonal of a matrix, the unit of LIBSVM's tolerance; 1 if it is not positive."""
    unit = float(np.mean(K.diagonal()))
    return unit if unit > 0 else 1.0


def on_rows(support: Ints, values: Floats, n: int) -> Floats:
    """Return the support values scattered to all n rows, zero elsewhere.

    >>> import numpy as np
    >>> from seqkern.solvers.svm.libsvm import on_rows
    >>> on_rows(np.array([2, 0]), np.array([0.5, -0.5]), 4)
    array([-0.5,  0. ,  0.5,  0. ])
    """
    out = np.zeros(n)
    out[support] = values
    return out


def violation(up: Floats, low: Floats) -> float:
    """Return max(up) − min(low), at least zero, and zero if either is empty.

    The values are of −y·gradient: `up` for variables that may still increase along y, `low` for those that may
    decrease. This is LIBSVM's stopping quantity, the violation of the optimality conditions (Fan, Chen & Lin 2005).

    >>> import numpy as np
    >>> from seqkern.solvers.svm.libsvm import violation
    >>> violation(np.array([0.5, 1.5]), np.array([1.25, 2.0])), violation(np.array([]), np.array([1.0]))
    (0.25, 0.0)
    """
    return max(0.0, float(np.max(up, initial=-np.inf) - np.min(low, initial=np.inf)))


def share_of(gap: float, primal: float) -> float:
    """Return a duality gap as a share of the primal objective, at least zero."""
    return max(0.0, float(gap)) / max(abs(float(primal)), np.finfo(np.float64).tiny)


# LIBSVM's algorithm on a Gram matrix in memory, or in a file with recently used rows in memory.
#
# A fit needs the rows of the variables that it changes: mostly support vectors, again and again. As many recently used
# rows as fit stay cached in single precision; others are converted, or read from the file, again. The steps are those
# of LIBSVM (sequential minimal optimisation with second-order pair selection and shrinking), with the same roundings:
# on x86-64 the solution has the same bits as LIBSVM's. Importing scikit-learn's LIBSVM would take longer than most
# fits.
#
# As rows in single precision are a different matrix, the solution may violate the conditions of the given one by more
# than a small tolerance. The run then continues with the exact gradient at that point, so that only the changes of α
# from there are multiplied with rounded rows. Here the solution departs from LIBSVM's.
#
# Fan, Chen, Lin: Working set selection using second order information for training support vector machines. Journal of
# Machine Learning Research 6, 2005. Chang, Lin: LIBSVM: a library for support vector machines. ACM Transactions on
# Intelligent Systems and Technology 2, 2011.

FEWEST_ROWS = 16  # Least number of rows in the cache

MOST_CORRECTIONS = 10
"""Maximum corrections of the gradient; each leaves about a millionth of the error, down to double precision."""


@dataclass(frozen=True)
class RowFit:
    """The solution of a quadratic program on rows of a matrix.

    `bias` is the multiplier of the constraint yᵀα = constant, `product` is Σ_t y_t α_t K(x, x_t) in double precision,
    `reads` counts the rows converted or read from the file, and `finite` is False if the fit has diverged. A converged
    run may still exceed the tolerance by rounding; see `to_tolerance`.
    """

    alpha: Floats  # One for each variable
    bias: float  # The multiplier of the constraint yᵀα = constant
    product: Floats  # shape (n,): Σ_t y_t α_t K(x, x_t), in double precision
    # Whether the run ended before `max_iter`; rounding may leave more than the tolerance, see `to_tolerance`
    converged: bool
    iterations: int
    reads: int  # Rows converted, or read from the file
    finite: bool  # Whether α and the multiplier are numbers; else the fit has diverged


def cache_rows(n: int, room: int) -> int:
    """Return the number of rows of n samples that fit into `room` bytes.

    >>> cache_rows(50_000, 10**9), cache_rows(1000, 10**9)
    (5000, 1000)
    """
    return min(n, max(FEWEST_ROWS, room // (4 * n)))


def minimise_by_rows(
    K: Floats | GramRows,
    y: Floats,
    linear: Floats,
    cost: Floats,
    order: Ints,
    *,
    tol: float,
    max_iter: int,
    name: str,
    start: Floats | None = None,
) -> RowFit:
    """Minimise ½ αᵀQα + pᵀα over 0 ≤ α ≤ cost and constant yᵀα, where Q[t, u] = y[t] y[u] K[t, u].

    There are n or 2n variables; variable t belongs to sample t modulo n. `linear` is p, `order` decides ties, `tol` is
    the largest violation of the optimality conditions of a converged solution, and `start` determines yᵀα.
    """
    n, diagonal = K.shape[0], np.array(K.diagonal())
    row, room, scale = _rows_of(K, diagonal)
    rows = RowCache(row, n, cache_rows(n, room))
    alpha = np.zeros(len(y)) if start is None else start / scale
    bounds = cost if scale == 1 else np.array([scaled_cost(bound, scale) for bound in cost])
    every = order[:n] % n

    def exact(alpha: Floats) -> tuple[Floats, Ints, Any, float]:
        """Return the product, the support vectors, their coefficients, and the violation of the conditions."""
        weights = (y * alpha * scale).reshape(-1, n).sum(axis=0)
        support = every[weights[every] != 0]
        product = weighted_sums(K, support, weights[support])
        along = -(y * linear) - np.tile(product, len(y) // n)
        grows, shrinks = alpha < bounds, alpha > 0
        up, low = np.where(y > 0, grows, shrinks), np.where(y > 0, shrinks, grows)
        return product, support, weights[support], violation(along[up], along[low])

    shifted, least, iterations = linear, np.inf, 0
    with progress_counter(name, " iterations") as show:
        for correction in range(1 + MOST_CORRECTIONS):
            sought = tol / 2 if correction else tol  # below it, so that rounding does not end above it
            minimiser = Minimiser(rows, y, shifted, bounds, diagonal * scale, np.array(order, dtype=np.int64), alpha)
            converged, more = minimiser.run(sought, max_iter - iterations, show)
            iterations, bias = iterations + more, minimiser.bias()
            finite = bool(np.all(np.abs(alpha) < LARGEST) and np.isfinite(bias))
            product, support, weights, violated = exact(alpha) if finite else (np.zeros(n), every[:0], y[:0], np.inf)
            if not converged or violated <= tol or violated > least / 2:
                break
            least = violated
            rounded = np.zeros(n)
            for place, weight in zip(support.tolist(), weights.tolist(), strict=True):
                rounded += weight / scale * row(place).astype(np.float32).astype(np.float64)
            shifted = linear + y * np.tile(product - rounded, len(y) // n)
    return RowFit(alpha * scale, bias, product, converged, iterations, rows.reads, finite)


def _rows_of(K: Floats | GramRows, diagonal: Floats) -> tuple[Callable[[int], Array], int, float]:
    """Return a function that gives a row, the bytes for single-precision rows, and the scale of the rows."""
    read: Callable[[int], Array]
    if isinstance(K, GramRows):
        read, room, largest = K.row, K.room, float(np.abs(diagonal).max())
        check_size(largest)
    else:
        read, room, largest = K.__getitem__, CACHE_MEGABYTES * 2**20, largest_value(K)
    scale = scale_of(largest)
    return (read if scale == 1 else lambda i: read(i).astype(np.float64) * scale), room, scale


# Piecewise quadratic and linear losses, minimised on a Gram matrix by Newton's method.
#
# The squared hinge, squared ε-insensitive and Huber losses have a slope that is linear between kinks. Where every
# sample stays on its piece, the minimum is the solution of one linear system: over the samples on parabolas, whose ℓ''
# is the inverse of a ridge on K, with the dual variables of those on straight lines at their bound. Each step solves
# that system and goes to the minimum along the line to its solution; once the pieces are right, the step is the last.
#
# Keerthi, DeCoste: A modified finite Newton method for fast solution of large scale linear SVMs. Journal of Machine
# Learning Research 6, 2005. Chapelle: Training a support vector machine in the primal. Neural Computation 19, 2007.

MOST_STEPS = 500  # Maximum number of Newton steps; a fit takes about ten

EPSILON = float(np.finfo(np.float64).eps)

ROUNDING = 1e-13  # Share of a loss below which differences count as none

MANY, PART = 400, 4  # Samples above which a fit starts from the solution for a part, and the inverse share of the part

NOT_POSITIVE = (
    "the matrix is not positive semi-definite, or C is too large for it; lower C, or repair the matrix (clip, flip, "
    "shift)"
)


@dataclass(frozen=True)
class SquaresFit:
    """The minimum of ½ βᵀKβ + Σ ℓ_i(z_i), z = Kβ + b, or the closest point reached.

    `gap` bounds the distance of `primal` from its minimum, `residual` is the change of a decision if β were −ℓ'(z), and
    `solved` is whether every linear system had a solution that lowers the loss.

    >>> SquaresFit(np.zeros(2), 0.0, primal=4.0, gap=1.0, residual=0.5, steps=1, solved=True).share
    0.25
    """

    coefficients: Floats  # shape (n,): β
    bias: float  # b
    primal: float  # The minimum
    gap: float  # How far it may be above the least value
    residual: float  # How much a decision would change if β were −ℓ'(z)
    steps: int  # Newton steps
    solved: bool  # Whether every linear system had a solution that makes the loss smaller

    @property
    def share(self) -> float:
        """The gap as a share of the minimum."""
        return max(0.0, self.gap) / max(abs(self.primal), np.finfo(np.float64).tiny)


def fit_squares(
    solver: KernelExpansion, K: Floats, loss: Loss, tol: float, most: int, start: float = 0.0
) -> dict[str, Any]:
    """Minimise a loss whose slope is linear between kinks; set a solver's fitted attributes, and return the report."""
    found = minimise_squares(K, loss, most, start)
    # errors that come from rounding the bias, as with a target that is the same for all samples
    digits = 4 * EPSILON * abs(found.bias) * loss.curvature(np.full(len(K), found.bias)).max()
    solver._keep(np.where(np.abs(found.coefficients).max() > digits, found.coefficients, 0.0), found.bias)
    report: dict[str, Any] = {} if found.solved else {"remark": NOT_POSITIVE}
    return report | {
        "converged": found.solved and found.share <= tol,
        "iterations": found.steps,
        "residual": found.residual,
        "objective": found.gap - found.primal,
        "gap": found.share,
    }


def minimise_squares(K: Floats, loss: Loss, max_iter: int = MOST_STEPS, start: float = 0.0) -> SquaresFit:
    """Minimise a loss whose slope is linear between kinks; it is smooth, with ``total`` 0.

    A step takes m³/3 multiplications for m samples on parabolas, and n² for n in all, with one copy of K. Large sets
    start from the solution for a quarter of the samples.
    """
    most = min(max_iter, MOST_STEPS)
    with one_thread():
        return _minimise(K, loss, most, *_from_part(K, loss, most, start))


def _from_part(K: Floats, loss: Loss, most: int, bias: float) -> tuple[Floats, float]:
    """Return the initial β and b: for large sets the solution for a random part of the samples.

    From zero, all samples are on parabolas in the first step, and most in the second.
    """
    n = len(K)
    beta = np.zeros(n)
    if n < MANY:
        return beta, bias
    rows = np.sort(np.random.default_rng(0).permutation(n)[: n // PART])
    block, own = K[np.ix_(rows, rows)], loss.part(rows)
    found = _minimise(block, own, most, *_from_part(block, own, most, bias))
    if not found.solved:
        return beta, bias
    beta[rows] = found.coefficients
    return beta, found.bias


def _minimise(K: Floats, loss: Loss, most: int, beta: Floats, bias: float) -> SquaresFit:
    f = K @ beta
    steps, solved, last = 0, True, False
    while True:
        bias = _best_bias(loss, f, bias)
        primal, dual = 0.5 * float(beta @ f) + loss.value(f + bias), loss.dual(f + bias)
        found = None if last or steps >= most else _newton(K, loss, f + bias, dual)
        if found is None:
            solved = last or steps >= most
            break
        target, change = found[0], found[1] - bias
        step = target - beta
        along = K @ step
        line = _Line(loss, f + bias, along + change, primal, float(beta @ along), float(step @ along))
        length = line.minimum()
        steps += 1
        if length <= 0 or line.second < 0:
            solved = line.second >= 0
            break
        here, there = f + bias, f + along + found[1]
        last = primal - line.value(length) <= ROUNDING * abs(primal)
        if length == 1:
            last |= np.array_equal(loss.curvature(here), loss.curvature(there))
            beta, bias = target, found[1]
        else:
            beta, bias = beta + length * step, bias + length * change
        f = K @ beta
    low, high = loss.free_biases(f)
    if low < high and np.isfinite(high - low):
        bias = 0.5 * (low + high)
        primal, dual = 0.5 * float(beta @ f) + loss.value(f + bias), loss.dual(f + bias)
    away = beta - dual
    image = K @ away
    gap = 0.5 * float(away @ image)
    if abs(gap) <= ROUNDING**2 * loss.value(np.zeros(len(K))):  # of a loss that falls to zero, rounding is left
        gap = 0.0
    return SquaresFit(
        coefficients=beta,
        bias=float(bias),
        primal=primal,
        gap=gap,
        residual=float(np.abs(image).max(initial=0.0)),
        steps=steps,
        solved=solved and gap >= -ROUNDING * abs(primal),
    )


def _newton(K: Floats, loss: Loss, z: Floats, dual: Floats) -> tuple[Floats, float] | None:
    """Return (β, b) solving the linear system of the pieces at z; None if there is no positive solution."""
    # imported here: it slows start-up, and prediction does not need it
    from scipy.linalg import cho_factor, cho_solve

    curvature = loss.curvature(z)
    bent = np.flatnonzero(curvature)
    beta = np.where(curvature > 0, 0.0, dual)
    if not len(bent):
        return beta, float(np.mean(z - K @ beta)) if beta.any() else 0.0
    right = dual[bent] / curvature[bent] + z[bent]
    if beta.any():
        right -= (K @ beta)[bent]
    matrix = K[np.ix_(bent, bent)]
    matrix[np.diag_indices_from(matrix)] += 1 / curvature[bent]
    try:
        factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    ones, values = cho_solve(factor, np.stack([np.ones(len(bent)), right], axis=1), check_finite=False).T
    bias = float((values.sum() + beta.sum()) / ones.sum())
    beta[bent] = values - bias * ones
    return beta, bias


@dataclass(frozen=True)
class _Line:
    """The loss along a step from decisions z: `first` and `second` belong to ½ βᵀKβ."""

    loss: Loss
    z: Floats
    along: Floats
    primal: float
    first: float
    second: float

    def value(self, t: float) -> float:
        """Return the loss at t steps."""
        own = self.primal - self.loss.value(self.z) + t * self.first + 0.5 * t * t * self.second
        return own + self.loss.value(self.z + t * self.along)

    def slope(self, t: float) -> tuple[float, float, float]:
        """Return the slope of the loss, its derivative, and the size of the terms."""
        here = self.z + t * self.along
        forces = self.loss.dual(here) * self.along
        own = self.first + t * self.second
        size = abs(self.first) + abs(t * self.second) + float(np.abs(forces).sum())
        return own - float(forces.sum()), self.second + float(self.loss.curvature(here) @ self.along**2), size

    def minimum(self) -> float:
        """Return the step with the least loss; 1 if that is as good up to rounding, which makes β exact."""
        best = root(self.slope, 1.0, 1.0)
        return 1.0 if self.value(1.0) - self.value(best) <= ROUNDING * abs(self.primal) else best


def _best_bias(loss: Loss, f: Floats, bias: float) -> float:
    """Return an optimal bias that Newton's method can start from.

    The middle of several could be far from all samples.
    """

    def slope(b: float) -> tuple[float, float, float]:
        dual = loss.dual(f + b)
        return -float(dual.sum()), float(loss.curvature(f + b).sum()), float(np.abs(dual).sum())

    return root(slope, bias, loss.unit)
