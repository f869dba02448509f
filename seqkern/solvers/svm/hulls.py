"""Tests of whether classes are separable, or values attainable, by the distance between convex hulls.

The hard margin is half the distance between the convex hulls of the classes in feature space, min ‖Σ a_i y_i φ(x_i)‖
over a ≥ 0 that sum to 1 in each class (Bennett & Bredensteiner 2000). Unlike the dual of the hard margin, this
problem always has a solution, the same as the ν-SVM's with ν = 2/n.

A function stays within ε of all values y_i exactly if a plane in the space of (φ(x), y) separates the points (φ(x_i),
y_i + ε) from the points (φ(x_i), y_i − ε) (Bi & Bennett 2003, Neurocomputing 55:79-108).
"""

import numpy as np

from seqkern.core.convergence import ignoring_unconverged
from seqkern.core.linear_algebra import Definite
from seqkern.core.threads import one_thread
from seqkern.core.types import Floats
from seqkern.solvers.expansion import weighted_sums
from seqkern.solvers.svm.libsvm import libsvm_estimator, on_rows

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
