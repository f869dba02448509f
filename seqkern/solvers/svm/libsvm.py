"""The shared base of the LIBSVM solvers: the call through scikit-learn, and measures of the solution.

Each solver defines its quadratic program, and computes the violation of its optimality conditions in double
precision. LIBSVM's algorithm for C and ε is in `smo`, the one for ν is scikit-learn's. Both read a C-ordered float64
matrix in place, memory maps included, and add a single-precision cache of at most `CACHE_MEGABYTES`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from seqkern.core.convergence import ignoring_unconverged
from seqkern.core.errors import ParameterError
from seqkern.core.progress import progress_counter
from seqkern.core.types import Array, Floats, Ints
from seqkern.gram.matrix import GramRows
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.solvers.capabilities import Traits
from seqkern.solvers.checking import check_size, largest_value
from seqkern.solvers.costs import Effort, FitCost, FitWork, dense_algebra
from seqkern.solvers.expansion import KernelExpansion, weighted_sums
from seqkern.solvers.products.losses import Loss
from seqkern.solvers.products.on_products import MOST_PRODUCTS, fit_loss
from seqkern.solvers.shared import limit, tolerance
from seqkern.solvers.svm._smo import Minimiser, RowCache
from seqkern.solvers.svm.squares import fit_squares

CACHE_MEGABYTES = 200

CACHE_BYTES = 200
"""Bytes that LIBSVM needs for each row, besides its cache."""

AT_BOUND = 1e-9
"""Largest distance of an α at a bound from 0 or from its cost, as a share of the cost."""

STEPS, CUBES = 12.0, 1.5
"""Measured Newton steps of a fit to squared errors, and its multiplications as a multiple of n³, for C=1 to 100."""

SOON = (10_000, 100)
"""Numbers a and b: a problem that may have no solution is checked after a + b·n iterations."""

LARGEST = 1e100
"""Size above which the squares of coefficients may have an infinite sum."""

NEAR = 2.0**-64, 2.0**64
"""Bounds of the largest value of a matrix that is given to LIBSVM unscaled."""

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

    tol: float = tolerance(1e-3, "LIBSVM stops when the largest violation of the optimality conditions is below this.")
    max_iter: int = limit(10_000_000, "Maximum number of iterations.")

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

    def _fit_smooth(self, K: Any, loss: Loss, start: float = 0.0) -> dict[str, Any]:
        """Minimise a smooth loss on a matrix or on products, and return the report."""
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

FEWEST_ROWS = 16
"""Least number of rows in the cache."""

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
