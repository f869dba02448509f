"""Shared by the LIBSVM solvers: the call through scikit-learn, and measures of the solution.

Each solver defines its quadratic program, and computes the violation of its optimality conditions in double precision.
LIBSVM's algorithm for C and ε is in `smo`, that for ν is scikit-learn's. Both read a C-ordered float64 matrix in place,
memory maps included, and add a single-precision cache of at most `CACHE_MEGABYTES`.
"""

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from seqkern.core.convergence import ignoring_unconverged
from seqkern.core.errors import ParameterError
from seqkern.gram.gram_rows import GramRows
from seqkern.solvers.costs import FitCost, FitWork
from seqkern.solvers.expansion import KernelExpansion
from seqkern.solvers.finite import largest_value
from seqkern.solvers.shared import limit, tolerance

CACHE_MEGABYTES = 200

CACHE_BYTES = 200
"""Of LIBSVM for each row, besides its cache."""

AT_BOUND = 1e-9
"""An α nearer to 0 or to its cost than this share of the cost is at the bound."""

SOON = (10_000, 100)
"""A problem that may have no solution is checked after a + b·n iterations."""

LARGEST = 1e100
"""Larger coefficients may have infinite sums of squares."""

NEAR = 2.0**-64, 2.0**64
"""A matrix whose largest value is between these is given to LIBSVM as it is."""

TINY = float(np.finfo(np.float64).tiny)

UNBOUNDED = (
    "LIBSVM's coefficients diverged, as they do if the kernel matrix is not positive "
    "semi-definite; repair it (clip, flip, shift), give a finite C, or choose solver psvc or "
    "psvr, which takes any matrix"
)


class LibsvmMachine(KernelExpansion):
    """An SVM whose decision is Σ β_i K(x, x_i) + b, with β in `dual_coef_` and b in `intercept_`.

    Examples
    --------
    >>> from seqkern.solvers import CSVC
    >>> solver = CSVC().fit([[2.0, 0.0], [0.0, 2.0]], [0, 1])
    >>> solver.dual_coef_.tolist()
    [-0.5, 0.5]
    """

    needs_semidefinite = True
    gram_copies = 0.0
    last_parameters: ClassVar[tuple[str, ...]] = ("tol", "max_iter")

    tol: float = tolerance(1e-3, "LIBSVM stops when the largest violation of the optimality conditions is below this.")
    max_iter: int = limit(10_000_000, "Maximum number of iterations.")

    def gram_bytes(self, n: int) -> int:
        """Return the size of LIBSVM's cache, and of the copies of a subclass.

        Parameters
        ----------
        n : int
            Training samples.

        Returns
        -------
        int
        """
        return min(4 * n * n, CACHE_MEGABYTES * 2**20) + super().gram_bytes(n)

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return what a fit is predicted to cost, with LIBSVM's cache."""
        return FitCost(
            super().fit_cost(work).seconds, min(CACHE_MEGABYTES * 2**20, 4 * work.n**2) + CACHE_BYTES * work.n
        )

    def _run(
        self,
        estimator: Any,
        K: npt.NDArray[np.float64],
        y: npt.NDArray[np.float64],
        **limits: float,
    ) -> dict[str, Any]:
        """Run LIBSVM and keep its support vectors.

        Parameters
        ----------
        estimator : sklearn.svm estimator
            With the parameters of the problem.
        K : ndarray of float64, shape (n, n)
        y : ndarray of float64, shape (n,)
        **limits
            ``tol`` and ``max_iter`` other than the solver's own.

        Returns
        -------
        dict
            ``converged`` (bool) and ``iterations`` (int) of LIBSVM. Where its coefficients are not finite the fit has
            not converged, the decision is zero, and ``remark`` says why.
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
        """Set a decision of zero, and return the report of a run whose coefficients are not finite."""
        self.support_ = np.empty(0, dtype=np.int64)
        self.dual_coef_ = np.empty(0)
        self.intercept_ = 0.0
        return {"converged": False, "iterations": iterations, "remark": UNBOUNDED}

    def _if_solvable(
        self, run: Callable[[int], dict[str, Any]], n: int, remark: Callable[[], str | None]
    ) -> dict[str, Any]:
        """Run LIBSVM's algorithm, but only as long as needed to detect that there is no solution.

        Parameters
        ----------
        run : callable
            Called with a maximum number of iterations; returns what `_run` does.
        n : int
            Training samples.
        remark : callable
            Called without arguments if it does not converge soon; returns why there is no solution, or None.

        Returns
        -------
        dict
            As `_run`, with that remark.
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
    """Return a report that says not converged, and why, where the residual of a finished run is above the tolerance.

    Parameters
    ----------
    report : dict
        With ``converged`` and ``residual``.
    tol : float
        In units of the residual.

    Returns
    -------
    dict

    Examples
    --------
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
    """Return scikit-learn's estimator for a LIBSVM problem.

    Parameters
    ----------
    name : {"NuSVC", "NuSVR"}
        The class of `sklearn.svm`.
    **params : object
        What its constructor takes.

    Returns
    -------
    sklearn.svm estimator
    """
    from sklearn import svm  # imported here: scikit-learn takes a second, and prediction does not need it

    return getattr(svm, name)(**params)


def scale_of(largest: float) -> float:
    """Return the power of two by which LIBSVM's matrix is multiplied; mostly 1.

    LIBSVM keeps the matrix in single precision, where far values overflow or vanish. With K·s, C/s and α/s the problem
    is the same.

    Parameters
    ----------
    largest : float
        The largest absolute value of the matrix.

    Returns
    -------
    float

    Examples
    --------
    >>> scale_of(3.0), scale_of(2.0**70)
    (1.0, 4.235164736271502e-22)
    """
    near = largest == 0 or NEAR[0] <= largest <= NEAR[1]
    return 1.0 if near else 2.0 ** -math.frexp(largest)[1]


def scaled_cost(cost: float, scale: float) -> float:
    """Return C / s for a matrix that is multiplied by s.

    Parameters
    ----------
    cost : float
        C.
    scale : float
        s, a power of two.

    Returns
    -------
    float

    Raises
    ------
    ParameterError
        If C / s is too large or too small for a number; infinite C stays infinite.

    Examples
    --------
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


def unit_of(K: npt.NDArray[np.float64] | GramRows) -> float:
    """Return the mean diagonal of a matrix, in whose units LIBSVM's tolerance is; 1 where it is not above zero.

    Parameters
    ----------
    K : ndarray of float64, or GramRows, shape (n, n)
        The Gram matrix.

    Returns
    -------
    float
    """
    unit = float(np.mean(K.diagonal()))
    return unit if unit > 0 else 1.0


def on_rows(support: npt.NDArray[np.int64], values: npt.NDArray[np.float64], n: int) -> npt.NDArray[np.float64]:
    """Return support values on all rows, zero elsewhere.

    Parameters
    ----------
    support : ndarray of int64, shape (s,)
        The places.
    values : ndarray of float64, shape (s,)
        What stands there.
    n : int
        The number of rows.

    Returns
    -------
    ndarray of float64, shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.svm.libsvm import on_rows
    >>> on_rows(np.array([2, 0]), np.array([0.5, -0.5]), 4)
    array([-0.5,  0. ,  0.5,  0. ])
    """
    out = np.zeros(n)
    out[support] = values
    return out


def violation(up: npt.NDArray[np.float64], low: npt.NDArray[np.float64]) -> float:
    """Return max(up) − min(low), at least zero, and zero where one of them is empty.

    Of −y·gradient: `up` holds the values of the variables that may still grow along y, `low` those that may shrink. By
    how much the largest of the former exceeds the least of the latter is how far the conditions are from holding:
    LIBSVM's stopping quantity (Fan, Chen & Lin 2005).

    Parameters
    ----------
    up, low : ndarray of float64, shape (a,) and (b,)
        Values of −y·gradient.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.svm.libsvm import violation
    >>> violation(np.array([0.5, 1.5]), np.array([1.25, 2.0])), violation(np.array([]), np.array([1.0]))
    (0.25, 0.0)
    """
    return max(0.0, float(np.max(up, initial=-np.inf) - np.min(low, initial=np.inf)))


def share_of(gap: float, primal: float) -> float:
    """Return a duality gap as a share of the primal objective, at least zero.

    Parameters
    ----------
    gap : float
        Primal less dual objective; rounding may make it negative.
    primal : float
        The primal objective.

    Returns
    -------
    float
    """
    return max(0.0, float(gap)) / max(abs(float(primal)), np.finfo(np.float64).tiny)
