"""Bounds and estimates of the leave-one-out error of a C-SVM, from one fit: span, ξα, radius and margin.

All are functions of the kernel matrix, of α, of the labels and of the cost of each sample, so that they serve every
solver of this quadratic program. That with squared errors (L2 soft margin) is the same with infinite cost, and its
ridge on the diagonal of K.

They stand for leaving out one sample at a time. Where the training set has groups of similar samples, the rest of a
group remains, and all three are too good, as leave-one-out itself is.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular

from seqkern.core.linear_algebra import Definite
from seqkern.core.threads import one_thread
from seqkern.solvers.svm.libsvm import AT_BOUND
from seqkern.solvers.svm.smallest_sphere import smallest_sphere

Floats = npt.NDArray[np.float64]

RIDGE = 1e-10
"""Share of the mean K(x, x) added to the diagonal, so that similar support vectors leave the matrix invertible."""

MOST_SUPPORT = 3000
"""More support vectors have no span: it takes O(s³)."""

INDEFINITE = "no span: the matrix of the support vectors is not positive semi-definite"
TOO_MANY = f"no span: more than {MOST_SUPPORT:,} support vectors"


@dataclass(frozen=True)
class LeaveOneOut:
    """What one fit tells about its leave-one-out error.

    Attributes
    ----------
    span : float or None
        The share of errors by the span rule; None if there are too many support vectors, or the matrix is indefinite.
    xi_alpha : float
        The ξα estimate, a share; a bound under the condition of `xi_alpha`.
    radius_margin : float
        (R² + 1/C) · (‖w‖² + 2 C Σ ξ_i) / n; with a hard margin R² / (n γ²).
    radius_square : float
        R² of the smallest sphere around the training samples.
    decisions : ndarray of float64, shape (n,), or None
        By the span rule, the decision about each sample of an SVM trained without it.
    remark : str or None
        Why something is missing.

    Examples
    --------
    >>> LeaveOneOut(0.1, 0.3, 2.5, 1.0).value("span")
    0.1
    """

    span: float | None
    xi_alpha: float
    radius_margin: float
    radius_square: float
    decisions: Floats | None = None
    remark: str | None = None

    def value(self, name: str) -> float:
        """Return one of them, NaN if it is missing.

        Parameters
        ----------
        name : {"span", "xi_alpha", "radius_margin"}
            Which one.

        Returns
        -------
        float
        """
        found = getattr(self, name)
        return float("nan") if found is None else float(found)


def leave_one_out(
    K: Floats, alpha: Floats, y: Floats, cost: Floats, decisions: Floats, *, limited: bool = True
) -> LeaveOneOut:
    """Return all bounds of one fit.

    Parameters
    ----------
    K : ndarray of float64, shape (n, n)
        The matrix of the fit.
    alpha, y, cost, decisions : ndarray of float64, shape (n,)
        α_i ≥ 0, the labels −1 and 1, the cost of each sample (it may be infinite), and f(x_i).
    limited : bool
        Whether the span of more than `MOST_SUPPORT` support vectors is left out.

    Returns
    -------
    LeaveOneOut

    Examples
    --------
    The words SAY, BAY, SAD, BAD under the 2-spectrum kernel:

    >>> from seqkern.kernels import SpectrumKernel
    >>> K = SpectrumKernel(2, normalize=False, alphabet="ABDSY")(["SAY", "BAY", "SAD", "BAD"])
    >>> y, alpha = np.array([1.0, 1.0, -1.0, -1.0]), np.full(4, 0.5)
    >>> found = leave_one_out(K, alpha, y, np.full(4, np.inf), y)
    >>> round(found.radius_square, 12), round(found.radius_margin, 12), found.xi_alpha
    (1.0, 0.5, 1.0)
    """
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
    r"""Return the squared span S_p² of each support vector, 0 of other samples.

    For a free support vector p (0 < α_p < C) it is the squared distance of φ(x_p) from the affine hull of the other
    free ones. With K̃ their kernel matrix, bordered by ones and a 0,

    .. math:: S_p^2 = 1 / (\tilde K^{−1})_{pp}

    and for one with α_p = C, v = (K(x_p, free ones), 1):

    .. math:: S_p^2 = K_{pp} − v^T \tilde K^{−1} v

    If the same support vectors stay free, and the same at their bound, when p is left out, then f changes at x_p by
    exactly y_p α_p S_p², and p is an error of leave-one-out where y_p f(x_p) ≤ α_p S_p². Else it is an estimate.
    Without any free support vector, where b is not determined either, S_p² = K_pp.

    Complexity: O(s³) for s support vectors.

    Parameters
    ----------
    K : ndarray of float64, shape (n, n)
        The matrix of the fit.
    alpha, cost : ndarray of float64, shape (n,)
        α_i ≥ 0, and its upper bound, which may be infinite.

    Returns
    -------
    ndarray of float64, shape (n,)

    References
    ----------
    Vapnik, Chapelle: Bounds on error expectation for support vector machines. Neural Computation 12, 2000.

    Chapelle, Vapnik, Bousquet, Mukherjee: Choosing multiple parameters for support vector machines. Machine Learning
    46, 2002.

    Examples
    --------
    Two points at distance 2: each is as far from the other as that.

    >>> span_squares(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.full(2, 0.5), np.full(2, np.inf)).round(6)
    array([4., 4.])
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
    A[np.diag_indices_from(A)] += RIDGE * moved
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
    r"""Return the ξα estimate of the leave-one-out error.

    .. math:: \#\{i : 2 α_i B^2 + ξ_i ≥ 1\} / n

    with c ≤ K(x, x') ≤ c + B² for all x, x'. It is an upper bound of the leave-one-out error if the SVM has a free
    support vector (0 < α_i < C), and each SVM trained without one sample has one too, all solved exactly. Otherwise,
    as often with small C, it can be too low: b then depends on the balance of the classes, which leaving out one sample
    may tip. One fit cannot tell whether the others have a free support vector.

    Here B² is the largest K_ii if no K_ij is below 0, else the difference of the largest and the smallest value; both
    are taken from the training set, and new samples may lie outside. For an indefinite kernel it bounds nothing.

    Complexity: O(n²), one pass over the matrix.

    Parameters
    ----------
    K : ndarray of float64, shape (n, n)
        Positive semi-definite.
    alpha, y, decisions : ndarray of float64, shape (n,)
        α_i ≥ 0, the labels −1 and 1, f(x_i).

    Returns
    -------
    float

    References
    ----------
    Joachims: Estimating the generalization performance of an SVM efficiently. ICML 2000.

    Examples
    --------
    >>> K, y = np.diag([1.0, 1.0, 1.0]), np.array([1.0, 1.0, -1.0])
    >>> xi_alpha(K, np.array([0.2, 0.2, 0.4]), y, y)
    0.0
    """
    square = float(K.diagonal().max()) - min(0.0, float(K.min()))
    errors = np.maximum(0.0, 1 - y * decisions)
    # a margin support vector has ξ = 0, but for the tolerance of the fit
    return float(np.mean((alpha > 0) & (2 * alpha * square + errors >= 1)))


def radius_margin(square: float, alpha: Floats, y: Floats, cost: Floats, decisions: Floats) -> float:
    r"""Return the bound by radius and margin.

    With a hard margin, and γ the margin, it is Vapnik's R² / (n γ²), 1/γ² = Σ α_i. With finite costs

    .. math:: (R^2 + 1/C) (‖w‖^2 + 2 C \sum_i ξ_i) / n

    (Chung et al. 2003), which tends to the former as C grows; Σ α_i alone would be least for C → 0. It often exceeds 1:
    its place is to compare candidates, not to predict an error. For an SVM with bias the proven bound is 4 times that.

    Complexity: O(n), after the smallest sphere.

    Parameters
    ----------
    square : float
        R², see `smallest_sphere`.
    alpha, y, cost, decisions : ndarray of float64, shape (n,)
        As for `leave_one_out`.

    Returns
    -------
    float

    References
    ----------
    Vapnik: Statistical learning theory. Wiley 1998.

    Chung, Kao, Sun, Wang, Lin: Radius margin bounds for support vector machines with the RBF kernel. Neural Computation
    15, 2003.

    Examples
    --------
    >>> y = np.array([1.0, -1.0])
    >>> radius_margin(1.0, np.array([0.5, 0.5]), y, np.full(2, np.inf), y)
    0.5
    """
    if np.any(np.isinf(cost)):
        return square * float(np.sum(alpha)) / len(y)
    # at the optimum C Σ ξ_i = Σ α_i − ‖w‖², and ‖w‖² = Σ α_i y_i f(x_i): no tiny ξ_i times a large C
    errors = float(np.sum(alpha * (2 - y * decisions)))
    return (square + 1 / float(cost.min())) * errors / len(y)
