"""Multiple kernel learning: weights that minimise the objective of an SVM on the weighted sum.

For labels y = ±1 the SVM on K_d = Σ d_k K_k has the dual value J(d) = max_α Σα − ½ Σ_k d_k S_k(α) over 0 ≤ α ≤ C and
yᵀα = 0, with S_k(α) = (αy)ᵀ K_k (αy). J is minimised over d ≥ 0, ‖d‖_p ≤ 1. Every feasible α bounds J from below by a
plane, J(d) ≥ Σα − ½ S(α)·d, however exactly the SVM was solved. So planes bound the minimum from below, and the primal
value of any SVM bounds it from above; the gap is reported.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

INNER_TOL = 0.1
"""Initial tolerance of LIBSVM, as a share of the target gap."""

INNER_SHARE = 0.3
"""Share of that gap allowed for an SVM itself: above it, LIBSVM's tolerance is lowered."""

LEAST_TOL = 1e-8
"""Lower tolerances do not help LIBSVM, whose kernel values are in single precision."""

PATIENCE = 20
"""Stop when this many tries have not improved the bounds."""

SMALLEST = 1e-9
"""Smaller shares are rounding errors of the projection, and are set to zero."""

FAINT = 1e-3
"""Smaller shares are set to zero in the end, if the target gap still holds."""

LEVEL = 0.7
"""Level between both bounds, for the level method."""

STRETCHES = [1.0, *(1.0 + 10.0**-power for power in range(2, 9))]
"""Factors that scale the solution of an SVM to find its least primal value."""

MAX_STEPS = 1_000_000
"""Maximum LIBSVM iterations; an SVM that needs more widens the gap."""


@dataclass(frozen=True)
class Bounds:
    """Bounds of the minimum from one set of weights and its SVMs.

    Attributes
    ----------
    weights : ndarray of float64, shape (m,)
        d, of the scaled matrices.
    upper : float
        The primal value, summed over the SVMs: an upper bound of the minimum.
    constant : float
        Σα, summed over the SVMs.
    squares : ndarray of float64, shape (m,)
        S_k(α), summed over the SVMs: constant − ½ squares·d is below J(d), for any d.
    """

    weights: npt.NDArray[np.float64]
    upper: float
    constant: float
    squares: npt.NDArray[np.float64]

    @property
    def inner_gap(self) -> float:
        """Upper bound of the distance of the SVMs from their optimum."""
        return self.upper - self.constant + 0.5 * float(self.squares @ self.weights)


def learn_mkl(
    grams: Sequence[npt.NDArray[np.float64]],
    scales: npt.ArrayLike,
    signs: npt.NDArray[np.float64],
    *,
    cost: float = 1.0,
    p: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = 200,
) -> tuple[npt.NDArray[np.float64], dict[str, Any]]:
    """Return the weights of multiple kernel learning.

    Parameters
    ----------
    grams : list of m ndarrays of float64, shape (n, n)
        Positive semi-definite.
    scales : ndarray of float64, shape (m,)
        Divisor of each Gram matrix.
    signs : ndarray of float64, shape (c, n)
        −1 and 1; the values of several SVMs, one for each row, are summed.
    cost : float
        C of the SVMs.
    p : float ≥ 1
        1: SimpleMKL's problem (Rakotomamonjy et al., JMLR 9, 2008), whose weights are sparse. Its minimum is found by
        the level method (Xu, Jin, King & Lyu, NIPS 21, 2009), which needs fewer SVMs than descent along reduced
        gradients and gives equal kernels equal weights. > 1: ℓp-norm MKL, by the optimal weights for given SVMs, d_k ∝
        ‖w_k‖^(2/(p+1)), in turn (Kloft, Brefeld, Sonnenburg & Zien, JMLR 12, 2011).
    tol : float
        Stop when the gap is at most this share of the upper bound.
    max_iter : int
        Maximum number of weight vectors tried; fewer if the SVMs cannot be solved exactly enough to improve.

    Returns
    -------
    weights : ndarray of float64, shape (m,)
        ‖weights‖_p = 1.
    report : dict
        ``converged``, ``iterations``, ``objective`` (the upper bound), ``gap`` (the bounds' difference) and
        ``relative_gap`` (to the upper bound).

    Examples
    --------
    The first matrix reflects the classes, the second does not:

    >>> classes = np.array([[1.0, 1.0, -1.0, -1.0]])
    >>> weights, report = learn_mkl([classes.T @ classes, np.eye(4)], [1.0, 1.0], classes)
    >>> weights.round(2), round(report["objective"], 3), report["converged"]
    (array([1., 0.]), 0.5, True)
    """
    bounds_at = Machines(grams, scales, signs, cost, INNER_TOL * tol)
    weights = np.full(len(grams), float(len(grams)) ** (-1.0 / p))
    planes: list[Bounds] = []
    gaps: list[float] = []
    lower = -np.inf
    for _ in range(max_iter):
        planes.append(bounds_at(weights))
        best = min(planes, key=lambda plane: plane.upper)
        lower = max(lower, _lowest_of_planes(planes) if p == 1 else _lowest_of_ball(planes[-1], p))
        gaps.append(best.upper - lower)
        if gaps[-1] <= tol * best.upper or (len(gaps) > PATIENCE and gaps[-1] > 0.999 * gaps[-1 - PATIENCE]):
            break
        excess = planes[-1].inner_gap / (INNER_SHARE * tol * planes[-1].upper)
        if excess > 1:
            bounds_at.tol = max(bounds_at.tol / (2 * excess), LEAST_TOL)
        weights = _next_on_simplex(planes, lower, best.upper) if p == 1 else _best_for_svms(planes[-1], p)
    if p == 1 and np.any((best.weights > 0) & (best.weights < FAINT)) and best.upper - lower <= tol * best.upper:
        kept = np.where(best.weights < FAINT, 0.0, best.weights)
        sparse = bounds_at(kept / kept.sum())
        best = sparse if sparse.upper - lower <= tol * sparse.upper else best
    gap = max(0.0, best.upper - lower)
    share = gap / best.upper if best.upper > 0 else 0.0
    report = {
        "converged": bool(gap <= tol * best.upper),
        "iterations": len(planes),
        "objective": best.upper,
        "gap": gap,
        "relative_gap": share,
    }
    return best.weights, report


class Machines:
    """The support vector machines on Σ d_k K_k, as a function of d that returns their `Bounds`.

    Parameters
    ----------
    grams, scales, signs, cost
        As in `learn_mkl`.
    tol : float
        That of LIBSVM.
    """

    def __init__(
        self,
        grams: Sequence[npt.NDArray[np.float64]],
        scales: npt.ArrayLike,
        signs: npt.NDArray[np.float64],
        cost: float,
        tol: float,
    ) -> None:
        self.grams = grams
        self.scales = np.asarray(scales, dtype=np.float64)
        self.signs = signs
        self.cost = cost
        self.tol = tol
        self.sum = np.empty_like(grams[0], dtype=np.float64, order="C")
        self.term = np.empty_like(self.sum)

    def __call__(self, weights: npt.NDArray[np.float64]) -> Bounds:
        """Return the Bounds of `weights`."""
        self._add(weights / self.scales)
        upper, constant, squares = 0.0, 0.0, np.zeros(len(weights))
        for signs in self.signs:
            support, coef, intercept = self._solve(signs)
            products = np.einsum("ij,j->i", self.sum[:, support], coef)
            norm = float(np.sum(coef * products[support]))
            upper += _least_primal(norm, signs * (products + intercept), self.cost)
            constant += np.sum(np.abs(coef))
            where = np.ix_(support, support)
            for k, gram in enumerate(self.grams):
                squares[k] += np.sum(coef * np.einsum("ij,j->i", gram[where], coef)) / self.scales[k]
        return Bounds(weights, float(upper), float(constant), np.maximum(squares, 0.0))

    def _add(self, coefficients: npt.NDArray[np.float64]) -> None:
        """Set `sum` to the weighted sum of the Gram matrices."""
        self.sum[:] = 0.0
        for gram, coefficient in zip(self.grams, coefficients, strict=True):
            if coefficient:
                np.multiply(gram, coefficient, out=self.term)
                self.sum += self.term

    def _solve(
        self, signs: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.integer[Any]], npt.NDArray[np.float64], float]:
        """Return (support, α·y of the support, b) of one SVM."""
        # 1 s to import
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import SVC

        svm = SVC(kernel="precomputed", C=self.cost, tol=self.tol, max_iter=MAX_STEPS)
        with warnings.catch_warnings():
            # An inexact SVM widens the gap, which is reported.
            warnings.simplefilter("ignore", ConvergenceWarning)
            svm.fit(self.sum, signs)
        return svm.support_, svm.dual_coef_[0], svm.intercept_[0]


def _least_primal(norm: float, margins: npt.NDArray[np.float64], cost: float) -> float:
    """Return the least ½t²‖w‖² + C Σ max(0, 1 − t·margin) of some t near 1.

    With a large C, small errors of LIBSVM's solution count much; scaling it slightly removes them.
    """
    small = margins.min()
    stretches = [*STRETCHES, 1.0 / small] if small > 0.5 else STRETCHES
    return min(0.5 * t * t * norm + cost * float(np.sum(np.maximum(0.0, 1.0 - t * margins))) for t in stretches)


def _lowest_of_planes(planes: Sequence[Bounds]) -> float:
    """Return the minimum over the simplex of the maximum of all planes, by a linear program."""
    from scipy.optimize import linprog  # 0.4 s to import

    slopes = np.array([plane.squares for plane in planes])
    constants = np.array([plane.constant for plane in planes])
    m, unit = slopes.shape[1], max(np.max(np.abs(constants)), np.finfo(float).tiny)
    # v + ½ S·d ≥ Σα for each plane; v is the last variable, in units of the largest Σα
    found = linprog(
        np.append(np.zeros(m), 1.0),
        A_ub=np.column_stack((-0.5 * slopes / unit, -np.ones(len(slopes)))),
        b_ub=-constants / unit,
        A_eq=np.append(np.ones(m), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)],
        method="highs",
    )
    if not found.success:
        return -np.inf
    # the multipliers combine the planes into one, whose smallest corner value is a bound without rounding
    mix = np.maximum(-found.ineqlin.marginals, 0.0)
    mix /= mix.sum()
    return float(mix @ constants - 0.5 * np.max(mix @ slopes))


def _lowest_of_ball(plane: Bounds, p: float) -> float:
    """Return the least value of a plane where ‖d‖_p ≤ 1 and d ≥ 0."""
    return plane.constant - 0.5 * _norm(plane.squares, p / (p - 1.0))


def _norm(values: npt.NDArray[np.float64], p: float) -> float:
    """Return ‖values‖_p of numbers ≥ 0, without overflow for large p."""
    largest = values.max()
    return float(largest * np.sum((values / largest) ** p) ** (1.0 / p)) if largest > 0 else 0.0


def _best_for_svms(plane: Bounds, p: float) -> npt.NDArray[np.float64]:
    """Return the optimal weights for the SVMs: Kloft et al. 2011, equation (12)."""
    norms = plane.weights**2 * plane.squares
    powers = norms ** (1.0 / (p + 1.0))
    size = _norm(powers, p)
    return powers / size if size > 0 else plane.weights


def _next_on_simplex(planes: Sequence[Bounds], lower: float, upper: float) -> npt.NDArray[np.float64]:
    """Return the point of the simplex nearest to the last at which no plane is above the level."""
    from scipy.optimize import nnls  # 0.4 s to import

    last = planes[-1].weights
    m, level = len(last), lower + LEVEL * (upper - lower)
    slopes = 0.5 * np.array([plane.squares for plane in planes])
    needs = np.array([plane.constant for plane in planes]) - level - slopes @ last
    # x = d − last sums to zero, and rows · x ≥ needs: Lawson & Hanson's least distance problem
    centred = slopes - slopes.mean(axis=1, keepdims=True)
    sizes = np.linalg.norm(centred, axis=1)
    steep = sizes > 1e-12 * np.linalg.norm(slopes, axis=1)
    if not steep.any():
        return last
    rows = np.vstack((centred[steep] / sizes[steep, None], np.eye(m) - 1.0 / m))
    needs = np.concatenate((needs[steep] / sizes[steep], -last))
    problem, target = np.vstack((rows.T, needs)), np.append(np.zeros(m), 1.0)
    residual = problem @ nnls(problem, target, maxiter=1000 * len(rows))[0] - target
    moved = last - residual[:m] / residual[m] if residual[m] else last
    moved[moved < SMALLEST] = 0.0
    return moved / moved.sum()
