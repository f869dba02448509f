"""A sum of kernels with weights learned from the training set."""

import copy
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.convergence import warn_unconverged
from seqkern.core.errors import GramError, LabelError, ParameterError
from seqkern.core.memory import available_memory, format_bytes
from seqkern.core.parameters import choice, component, integer, positive, real
from seqkern.core.types import Array, Arrays, Floats, Header
from seqkern.kernels import _blocks
from seqkern.kernels.algebra import SumKernel
from seqkern.kernels.capabilities import Products, Traits, capability
from seqkern.kernels.composite import CompositeKernel, as_parts
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.kernel_specs import kernel_text
from seqkern.kernels.prepared import StoredForm
from seqkern.sequences.tables import Data

# Kernel weights by centred alignment with the labels (Cortes, Mohri & Rostamizadeh, JMLR 13, 2012).
#
# The alignment of two Gram matrices is the cosine between them, as vectors, after both are centred: HKH with
# H = I − 11ᵀ/n. All quantities are inner products of centred matrices, summed in blocks of rows.

BLOCK_BYTES = 1 << 25

RIDGE = 1e-10
"""Number added to the diagonal of the alignments among kernels, so that the solution of least norm is found."""

FLAT = 1e-12
"""Share of its norm below which the centred norm of a matrix is zero up to rounding."""


def learn_alignment(
    grams: Sequence[Floats],
    scales: npt.ArrayLike,
    targets: Floats,
    *,
    joint: bool = True,
) -> tuple[Floats, dict[str, Any]]:
    """Return the kernel weights by centred alignment with the labels, and a report of the alignments.

    `targets` are rows Z of mean zero, (c, n), and ZᵀZ is the kernel of the labels. With `joint` (``alignf``),
    the weights ≥ 0 whose sum of matrices aligns best with the labels are found by the minimum over v ≥ 0 of
    vᵀMv − 2vᵀa, where M are the inner products of the centred matrices, and a their inner products with the
    kernel of the labels. Otherwise (``align``), the weight of each matrix is its own alignment with the labels,
    or 0 if this is negative. All weights are zero if no alignment is positive.
    """
    scales = np.asarray(scales, dtype=np.float64)
    products = centred_products(grams) / np.outer(scales, scales)
    with_labels = target_products(grams, targets) / scales
    with_labels /= np.sqrt(np.sum(np.einsum("ik,jk->ij", targets, targets) ** 2))
    norms = np.sqrt(np.diagonal(products))
    whole = np.array([np.sqrt(np.einsum("ij,ij->i", gram, gram).sum()) for gram in grams]) / scales
    inverse = np.where(norms > FLAT * whole, 1.0 / np.where(norms > 0, norms, 1.0), 0.0)
    alignments = with_labels * inverse
    if joint:
        weights = _best_directions(alignments, products * np.outer(inverse, inverse)) * inverse
    else:
        weights = np.maximum(alignments, 0.0)
    norm = np.sqrt(max(0.0, float(weights @ products @ weights)))
    reached = float(weights @ with_labels / norm) if norm > 0 else 0.0
    return weights, {"alignments": alignments.tolist(), "alignment": reached}


def centred_products(grams: Sequence[Floats]) -> Floats:
    """Return ⟨HK_kH, HK_lH⟩ for all pairs of m symmetric matrices, shape (m, m).

    >>> centred_products([np.eye(2), np.ones((2, 2))])
    array([[1., 0.],
           [0., 0.]])
    """
    m, n = len(grams), len(grams[0])
    means = [gram.mean(axis=1) for gram in grams]
    step = max(1, BLOCK_BYTES // (8 * n * m))
    products = np.zeros((m, m))
    for start in range(0, n, step):
        rows = slice(start, start + step)
        blocks = [gram[rows] - mean[rows, None] - mean + mean.mean() for gram, mean in zip(grams, means, strict=True)]
        for k in range(m):
            for j in range(k + 1):
                products[k, j] += np.einsum("ij,ij->i", blocks[k], blocks[j]).sum()
    return products + np.tril(products, -1).T


def target_products(grams: Sequence[Floats], targets: Floats) -> Floats:
    """Return ⟨HKH, ZᵀZ⟩ for each matrix K; the rows Z have mean zero, so that centring K has no effect.

    >>> target_products([np.eye(2), np.ones((2, 2))], np.array([[1.0, -1.0]]))
    array([2., 0.])
    """
    return np.array([sum(np.sum(z * np.einsum("ij,j->i", gram, z)) for z in targets) for gram in grams])


def _best_directions(alignments: Floats, among: Floats) -> Floats:
    """Return the v ≥ 0 that minimises vᵀMv − 2vᵀa for matrices of norm 1."""
    from scipy.optimize import nnls  # 0.4 s to import

    # with M = RᵀR it is ‖Rv − R⁻ᵀa‖² but for a constant
    values, vectors = np.linalg.eigh(among)
    roots = np.sqrt(np.maximum(values, 0.0) + RIDGE)
    return nnls(vectors.T * roots[:, None], (vectors.T @ alignments) / roots)[0]


# Multiple kernel learning: weights that minimise the objective of an SVM on the weighted sum of kernels.
#
# For labels y = ±1 the SVM on K_d = Σ d_k K_k has the dual value J(d) = max_α Σα − ½ Σ_k d_k S_k(α) over 0 ≤
# α ≤ C and yᵀα = 0, with S_k(α) = (αy)ᵀ K_k (αy). J is minimised over d ≥ 0, ‖d‖_p ≤ 1. Every feasible α
# bounds J from below by a plane, J(d) ≥ Σα − ½ S(α)·d, even if the SVM is not solved exactly. So planes bound
# the minimum from below, and the primal value of any SVM bounds it from above; the gap is reported.

INNER_TOL = 0.1
"""Initial tolerance of LIBSVM, as a share of the target gap."""

INNER_SHARE = 0.3
"""Share of that gap allowed for an SVM itself: above it, LIBSVM's tolerance is lowered."""

LEAST_TOL = 1e-8
"""Least tolerance of LIBSVM: its kernel values are in single precision."""

PATIENCE = 20
"""Number of tries without better bounds after which the search stops."""

SMALLEST = 1e-9
"""Least share that is not a rounding error of the projection; smaller ones are set to zero."""

FAINT = 1e-3
"""Share below which weights are set to zero in the end, if the target gap still holds."""

LEVEL = 0.7
"""Level between both bounds, for the level method."""

STRETCHES = [1.0, *(1.0 + 10.0**-power for power in range(2, 9))]
"""Factors that scale the solution of an SVM to find its least primal value."""

MAX_STEPS = 1_000_000
"""Maximum LIBSVM iterations; an SVM that needs more widens the gap."""


@dataclass(frozen=True)
class Bounds:
    """Bounds of the minimum of J from one vector of weights and its SVMs, summed over the SVMs.

    The primal value `upper` is an upper bound of the minimum; constant − ½ squares·d is a lower bound of J(d)
    for any d.
    """

    weights: Floats  # shape (m,): d, of the scaled matrices
    upper: float  # The primal value, summed over the SVMs: an upper bound of the minimum
    constant: float  # Σα, summed over the SVMs
    # shape (m,): S_k(α), summed over the SVMs: constant − ½ squares·d is below J(d), for any d
    squares: Floats

    @property
    def inner_gap(self) -> float:
        """Upper bound of the distance of the SVMs from their optimum."""
        return self.upper - self.constant + 0.5 * float(self.squares @ self.weights)


def learn_mkl(
    grams: Sequence[Floats],
    scales: npt.ArrayLike,
    signs: Floats,
    *,
    cost: float = 1.0,
    p: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = 200,
) -> tuple[Floats, dict[str, Any]]:
    """Return the weights of multiple kernel learning, ‖weights‖_p = 1, and a report of its convergence.

    p = 1 is SimpleMKL's problem (Rakotomamonjy et al., JMLR 9, 2008), whose weights are sparse. Its minimum is
    found by the level method (Xu, Jin, King & Lyu, NIPS 21, 2009), which needs fewer SVMs than descent along
    reduced gradients and gives equal kernels equal weights. p > 1 is ℓp-norm MKL, which alternates between SVMs
    and the optimal weights for given SVMs, d_k ∝ ‖w_k‖^(2/(p+1)) (Kloft, Brefeld, Sonnenburg & Zien, JMLR 12,
    2011).
    """
    bounds_at = CombinedSVMs(grams, scales, signs, cost, INNER_TOL * tol)
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


class CombinedSVMs:
    """The SVMs on Σ d_k K_k, as a function of d that returns their `Bounds`."""

    def __init__(self, grams: Sequence[Floats], scales: npt.ArrayLike, signs: Floats, cost: float, tol: float) -> None:
        self.grams = grams
        self.scales = np.asarray(scales, dtype=np.float64)
        self.signs = signs
        self.cost = cost
        self.tol = tol
        self.sum = np.empty_like(grams[0], dtype=np.float64, order="C")
        self.term = np.empty_like(self.sum)

    def __call__(self, weights: Floats) -> Bounds:
        """Return the Bounds for the given weights."""
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

    def _add(self, coefficients: Floats) -> None:
        """Set `sum` to the weighted sum of the Gram matrices."""
        self.sum[:] = 0.0
        for gram, coefficient in zip(self.grams, coefficients, strict=True):
            if coefficient:
                np.multiply(gram, coefficient, out=self.term)
                self.sum += self.term

    def _solve(self, signs: Floats) -> tuple[npt.NDArray[np.integer[Any]], Floats, float]:
        """Return (support, α·y of the support vectors, b) of one SVM."""
        # 1 s to import
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import SVC

        svm = SVC(kernel="precomputed", C=self.cost, tol=self.tol, max_iter=MAX_STEPS)
        with warnings.catch_warnings():
            # An inexact SVM widens the gap, which is reported.
            warnings.simplefilter("ignore", ConvergenceWarning)
            svm.fit(self.sum, signs)
        return svm.support_, svm.dual_coef_[0], svm.intercept_[0]


def _least_primal(norm: float, margins: Floats, cost: float) -> float:
    """Return the minimum of ½t²‖w‖² + C Σ max(0, 1 − t·margin) over some t near 1.

    With a large C, small errors of LIBSVM's solution have a large effect; scaling it slightly removes them.
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
    """Return the minimum of a plane over ‖d‖_p ≤ 1 and d ≥ 0."""
    return plane.constant - 0.5 * _norm(plane.squares, p / (p - 1.0))


def _norm(values: Floats, p: float) -> float:
    """Return ‖values‖_p of numbers ≥ 0, without overflow for large p."""
    largest = values.max()
    return float(largest * np.sum((values / largest) ** p) ** (1.0 / p)) if largest > 0 else 0.0


def _best_for_svms(plane: Bounds, p: float) -> Floats:
    """Return the optimal weights for the SVMs: Kloft et al. 2011, equation (12)."""
    norms = plane.weights**2 * plane.squares
    powers = norms ** (1.0 / (p + 1.0))
    size = _norm(powers, p)
    return powers / size if size > 0 else plane.weights


def _next_on_simplex(planes: Sequence[Bounds], lower: float, upper: float) -> Floats:
    """Return the point of the simplex nearest to the last point at which no plane is above the level."""
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


# Scales and weights of kernels, learned from a training set.

RULES = ("uniform", "alignment", "mkl")
SCALES = ("variance", None)


def variance(gram: Floats) -> float:
    """Return the mean squared distance of samples from their centre, trace(HKH) / n; 0 if only rounding error.

    >>> variance(np.array([[1.0, 0.0], [0.0, 9.0]])), variance(np.ones((3, 3)))
    (2.5, 0.0)
    """
    return spread(np.diagonal(gram), gram.mean(axis=1))


def spread(diagonal: Floats, means: Floats) -> float:
    """Return the variance by the diagonal of a Gram matrix and the means of its rows."""
    size = float(diagonal.sum()) / len(diagonal)
    found = size - float(means.mean())
    return found if found > FLAT * abs(size) else 0.0


def _warn_of_convergence(report: dict[str, Any]) -> None:
    """Warn if the gap exceeds the tolerance."""
    if not report["converged"]:
        warn_unconverged(
            f"multiple kernel learning stopped after {report['iterations']} weights with a relative duality gap of "
            f"{report['relative_gap']:.2g}",
            stacklevel=3,
        )


def targets(y: npt.ArrayLike | None, n: int) -> Floats:
    """Return rows Z of mean zero, shape (c, n), such that ZᵀZ is the centred kernel of the labels.

    There is one row for real labels and for two classes, and one row per class for more classes; then the
    kernel before centring is 1 for two samples of the same class and 0 for others.

    >>> targets(["donor", "donor", "decoy", "decoy"], 4)
    array([[ 0.5,  0.5, -0.5, -0.5]])
    """
    y, values, codes = _examined(y, n)
    given = [y] if _are_real(y, values) else [codes == c for c in range(1 if len(values) == 2 else 0, len(values))]
    rows = np.array(given, dtype=np.float64)
    return rows - rows.mean(axis=1, keepdims=True)


def class_signs(y: npt.ArrayLike | None, n: int) -> Floats:
    """Return the labels −1 and 1 of each SVM, shape (SVMs, n).

    There is one SVM for two classes, else one for each class against the rest.

    >>> class_signs(["E", "H", "C", "H"], 4)
    array([[-1., -1.,  1., -1.],
           [ 1., -1., -1., -1.],
           [-1.,  1., -1.,  1.]])
    """
    y, values, codes = _examined(y, n)
    if _are_real(y, values):
        raise LabelError(
            "weights=mkl needs class labels, and the labels are numbers", remedy="choose weights=alignment"
        )
    first = 1 if len(values) == 2 else 0
    return np.array([np.where(codes == c, 1.0, -1.0) for c in range(first, len(values))])


def _examined(y: npt.ArrayLike | None, n: int) -> tuple[Array, Array, npt.NDArray[np.integer[Any]]]:
    """Return (labels, distinct values, index of each label), checked."""
    if y is None:
        raise LabelError(
            "kernel weights cannot be learned without labels", remedy="give labels, or choose weights=uniform"
        )
    y = np.asarray(y)
    if y.shape != (n,):
        raise LabelError(f"labels of shape {y.shape} for {n} samples", remedy="give one label for each sample")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise LabelError("a label is NaN or inf", remedy="remove samples without a label")
    values, codes = np.unique(y, return_inverse=True)
    if len(values) < 2:
        raise LabelError("all training labels are the same", remedy="give at least two classes or values")
    return y, values, codes


def _are_real(y: Array, values: Array) -> bool:
    """Return whether labels are for regression."""
    return y.dtype.kind == "f" and len(values) > 2


MOST_SPREAD = 1000.0
"""The largest p: above it, the weights are equal to three digits."""


class CombinationKernel(SumKernel):
    r"""Sum of kernels with learned weights.

    It suits several views of the same samples. `fit` learns scales s and weights w from the Gram matrix of each part on
    the training samples. A weight is the share of a kernel in the variance of the training samples in feature space.
    Similar parts share a weight, or one gets it all: a weight of zero does not mean that a kernel is uninformative.

    Attributes
    ----------
    weights_ : ndarray of float64, shape (parts,)
        After `fit`: w.
    scales_ : ndarray of float64, shape (parts,)
        After `fit`: s.
    report_ : dict
        After `fit`: for ``"alignment"`` the ``alignments`` of the parts with the labels and the ``alignment`` of the
        sum; for ``"mkl"`` ``converged``, ``iterations``, ``objective``, ``gap`` and ``relative_gap``.

    Raises
    ------
    ParameterError
        For a parameter outside its domain, or parts that take different kinds of data.

    Notes
    -----
    With w ≥ 0 and Σ w_i = 1,

    .. math:: K(x, y) = \sum_i w_i K_i(x, y) / s_i

    Complexity: the sum over all parts with a weight. Equal weights take one product with each part, or its Gram matrix
    on the n training samples; learning takes all these matrices, then O(p²·n²) for p parts by alignment, or one SVM for
    each set of weights tried by ``"mkl"``.

    Definiteness: positive semi-definite if all parts are.

    References
    ----------
    Cortes, Mohri, Rostamizadeh: Algorithms for learning kernels based on centered alignment. Journal of Machine
    Learning Research 13, 2012.

    Rakotomamonjy, Bach, Canu, Grandvalet: SimpleMKL. Journal of Machine Learning Research 9, 2008.

    Kloft, Brefeld, Sonnenburg, Zien: ℓp-norm multiple kernel learning. Journal of Machine Learning Research 12, 2011.

    Examples
    --------
    The classes differ in 2-mers, not in nucleotide composition:

    >>> from seqkern.kernels import CombinationKernel, SpectrumKernel
    >>> X, y = ["ACACACG", "CACACAG", "AAACCGC", "CCCAATA"], [1, 1, -1, -1]
    >>> kernel = CombinationKernel([SpectrumKernel(k=1), SpectrumKernel(k=2)]).fit(X, y)
    >>> kernel.weights_
    array([0., 1.])
    >>> kernel(X).round(2)
    array([[2.22, 1.9 , 0.84, 0.42],
           [1.9 , 2.22, 0.42, 0.63],
           [0.84, 0.42, 2.22, 1.11],
           [0.42, 0.63, 1.11, 2.22]])
    """

    name = "combination"
    summary = "Adds several kernels, with equal weights or weights learned from the training set."

    parts: list[Kernel] = component(
        "kernel",
        several=True,
        kw_only=False,
        doc="The kernels to combine. Each has its own `normalize`: k-mer kernels are normalised, K(x, "
        "y) / √(K(x, x)·K(y, y)), unless they set ``normalize=false``.",
    )
    weights: Any = choice(
        default="alignment",
        choices=RULES,
        doc='Rule for the weights. ``"alignment"``: centred alignment with the kernel of the labels: '
        "yyᵀ for two classes and for regression; for several classes 1 for two samples of one "
        'class and else 0 (Cortes et al.). ``"mkl"``: the weights that minimise the objective of '
        "an SVM on the sum; for several classes the summed objectives of each class against the "
        "rest. It refuses regression labels and parts that are not positive semi-definite. "
        '``"uniform"``: the mean.',
    )
    alignment: Literal["joint", "independent"] = choice(
        default="joint",
        doc='``"joint"``: weights whose sum aligns best (``alignf``); ``"independent"``: each '
        "kernel's own alignment (``align``).",
    )
    p: float = real(
        default=1.0,
        low=1,
        high=MOST_SPREAD,
        doc='For ``"mkl"``: the constraint ‖w‖_p = 1 during learning. p = 1: SimpleMKL (Rakotomamonjy '
        "et al.), sparse; p > 1: ℓp-norm MKL (Kloft et al.), more equal weights for larger p.",
    )
    C: float = positive(1.0, 'C of the SVMs of ``"mkl"``; the solver that uses the combination has its own.')
    tol: float = positive(1e-3, 'For ``"mkl"``: stop when the duality gap is at most this share of the objective.')
    max_iter: int = integer(default=200, low=1, doc='For ``"mkl"``: largest number of weight vectors tried.')
    scale: str | None = choice(
        default="variance",
        choices=SCALES,
        doc='Scaling that makes the parts comparable. ``"variance"``: s_i is the trace of the centred '
        "Gram matrix divided by the number of samples, the variance in feature space; a part "
        "without variance gets no weight. None: s_i = 1.",
    )

    tested_with = (
        "combination:parts=[(spectrum:k=3),(spectrum:k=2),(spectrum:k=1)]",
        "combination:parts=[linear,(rbf:gamma=scale),(polynomial:degree=2)],weights=mkl,p=1,normalize=true",
        "combination:parts=[(pairwise:base=(spectrum:k=2)),(spectrum:k=3)],weights=mkl,p=2",
        "combination:parts=[(spectrum:k=2),(spectrum:k=1)],weights=uniform,scale=none",
    )

    def _check_parameters(self) -> None:
        CompositeKernel._check_parameters(self)
        for part in self._given() if self.weights == "mkl" else ():
            if not part.traits.positive_semidefinite:
                raise ParameterError(
                    f"kernel {part.name!r} is not positive semi-definite, as weights=mkl requires",
                    remedy=f"write it as (pairwise:base=({part.name})), or choose weights=alignment",
                )

    def _traits(self, declared: Traits) -> Traits:
        found = super()._traits(declared)
        learns = self.weights != "uniform" or self.scale is not None or found.data_dependent
        return replace(found, data_dependent=learns)

    # ---- learning ----------------------------------------------------------------------------------------

    def _fit(self, X: Data, y: npt.ArrayLike | None) -> None:
        super()._fit(X, y)
        if self.weights == "uniform" and self.scale is None:
            return
        parts = getattr(self, "bases_", None) or self._given()
        if self.weights == "uniform":
            self._learn((), y, [self._variance(part, X) for part in parts])
        else:
            self._check_memory(len(X), len(parts) + 3)
            self._learn([part(X, n_threads=self.n_threads) for part in parts], y)

    def _variance(self, part: Kernel, X: Data) -> float:
        """Return the variance of the samples under a part, by one product if it takes less memory than the matrix."""
        if part.operator and part.operator.bytes(X) < 8 * len(X) ** 2:
            K = part.operator(X)
            return spread(K.squares, K.times(np.ones(len(X))) / len(X))
        self._check_memory(len(X), 1)
        return variance(part(X, n_threads=self.n_threads))

    def _learn(
        self, grams: Sequence[Floats], y: npt.ArrayLike | None, variances: Sequence[float] | None = None
    ) -> None:
        """Learn weights that sum to 1, and the divisor of each matrix, from the parts' matrices on a training set.

        Equal weights need only the `variances` of the matrices, no `grams`. Float labels with more than two values are
        regression labels, all others are classes.
        """
        found = np.array([variance(gram) for gram in grams] if variances is None else variances)
        scales = np.where(found > 0, found, 1.0) if self.scale == "variance" else np.ones(len(found))
        usable = found > 0 if (found > 0).any() else np.ones(len(found), dtype=bool)
        chosen = [gram for gram, use in zip(grams, usable, strict=variances is None) if use]
        weights, report = np.ones(np.count_nonzero(usable)), dict[str, Any]()
        if self.weights == "alignment":
            joint = self.alignment == "joint"
            weights, report = learn_alignment(chosen, scales[usable], targets(y, len(grams[0])), joint=joint)
            alignments = np.zeros(len(grams))
            alignments[usable] = report["alignments"]
            report["alignments"] = alignments.tolist()
        elif self.weights == "mkl":
            signs = class_signs(y, len(grams[0]))
            weights, report = learn_mkl(
                chosen, scales[usable], signs, cost=self.C, p=self.p, tol=self.tol, max_iter=self.max_iter
            )
            _warn_of_convergence(report)
        if not weights.any():
            warnings.warn("no kernel is aligned with the labels; all get equal weights", stacklevel=2)
            weights = np.ones(len(chosen))
        every = np.zeros(len(found))
        every[usable] = weights / weights.sum()
        self.weights_, self.scales_, self.report_ = every, scales, {"rule": self.weights, **report}

    def _check_memory(self, n: int, matrices: int) -> None:
        """Raise GramError, before any work, if the Gram matrices of the parts do not fit into memory."""
        need, free = 8 * n * n * matrices, available_memory()
        if need > free:
            raise GramError(
                f"learning the weights of {len(self.parts)} kernels on {n} samples takes {format_bytes(need)} of "
                f"memory, {format_bytes(free)} are free",
                remedy="give fewer samples or kernels, or choose kernel sum, whose weights are fixed",
            )

    def learned(self) -> dict[str, float]:
        """Return the weight of each part, and for ``"mkl"`` the relative gap, as a dict of text to number."""
        told = super().learned()
        if not hasattr(self, "weights_"):
            return told
        names = unique([kernel_text(part) for part in self._given()])
        told |= {f"weight of {name}": float(weight) for name, weight in zip(names, self.weights_, strict=True)}
        if "relative_gap" in self.report_:
            told["relative gap of weights"] = self.report_["relative_gap"]
        return told

    # ---- the matrix --------------------------------------------------------------------------------------

    def _own_tunable(self) -> dict[str, float]:
        return {}  # the weights have a rule of their own

    def _nested(self) -> dict[str, Kernel]:
        return {}

    @capability
    def operator(self) -> Products:
        """The weighted sum of the parts' products, unless weights are yet to be learned from Gram matrices."""
        if self.weights != "uniform" and not hasattr(self, "weights_"):
            problem = f"kernel {self.name!r} learns its weights from the Gram matrices of its parts"
            raise ParameterError(problem, remedy="choose weights=uniform, or kernel sum")
        return super().operator

    @property
    def active(self) -> list[int]:
        """The indices of the parts with a weight, from 0; all before `fit`."""
        weights = getattr(self, "weights_", np.ones(len(self.parts)))
        return [int(number) for number in np.flatnonzero(weights)]

    @property
    def bases(self) -> list[Kernel]:
        """The parts with a weight, fitted if this kernel is; the others are not needed."""
        every = super().bases
        return [every[number] for number in self.active]

    def _weights(self) -> list[float]:
        if not hasattr(self, "weights_"):
            return [1.0 / len(self.parts)] * len(self.parts)
        return [float(self.weights_[number] / self.scales_[number]) for number in self.active]

    @property
    def stored_form(self) -> StoredForm | None:
        """The forms of the parts, joined by the weights of each training set."""
        if not self.traits.data_dependent:
            return super().stored_form
        forms = [part.stored_form for part in self._given()]
        known = [form for form in forms if form is not None]
        return StoredForm(tuple(known), join=self) if len(known) == len(forms) else None

    def learn_from(self, grams: Sequence[Floats], y: npt.ArrayLike | None) -> Self:
        """Return this kernel with weights learned from Gram matrices of its parts on the training samples.

        It supports `combine` and `learned` only, until `fit_parts` has fitted the parts.

        Parameters
        ----------
        grams : list of ndarray of float64, shape (n, n)
            One for each part.
        y : array_like, shape (n,), or None
            Labels; None if the weights need none.

        Returns
        -------
        CombinationKernel
            A copy.

        Raises
        ------
        LabelError
            If the rule needs at least two distinct labels.
        """
        fitted = copy.copy(self)
        fitted._learn(grams, y)
        return fitted

    def fit_parts(self, X: Any, y: npt.ArrayLike | None = None) -> Self:
        """Fit the parts only, with the weights known from `learn_from`, and return self.

        Parameters
        ----------
        X : SequenceSet, list of str, or table
            The training set.
        y : array_like, shape (n,), optional
            Labels, for parts that use them.

        Returns
        -------
        CombinationKernel
            Itself.
        """
        super()._fit(self.coerce(X), y)
        return self

    def combine(
        self,
        matrices: Sequence[Floats],
        row_diagonals: Sequence[Floats],
        column_diagonals: Sequence[Floats],
    ) -> tuple[Floats, Floats]:
        """Return the matrix and its row diagonal, computed from the parts' matrices and diagonals.

        Parameters
        ----------
        matrices : list of ndarray of float64, shape (n, m)
            One for each part, including those without a weight.
        row_diagonals, column_diagonals : list of ndarray of float64, shapes (n,) and (m,)
            K(x, x) of rows and columns under each part.

        Returns
        -------
        matrix : ndarray of float64, shape (n, m)
        diagonal : ndarray of float64, shape (n,)

        Raises
        ------
        GramError
            If the kernel is normalised, and a K(x, x) is not positive under the policy ``"error"``.
        """
        out, term = np.empty_like(matrices[0]), np.empty_like(matrices[0])
        for number, (part, weight) in enumerate(zip(self.active, self._weights(), strict=True)):
            np.multiply(matrices[part], weight, out=term if number else out)
            if number:
                out += term
        rows, columns = (
            self._combine_diagonals([diagonals[part] for part in self.active])
            for diagonals in (row_diagonals, column_diagonals)
        )
        if self.normalize:
            return self._normalised(out, rows, columns)
        return out, rows

    def _normalised(self, out: Floats, rows: Floats, columns: Floats) -> tuple[Floats, Floats]:
        """Return a matrix and its row diagonal, divided by the square roots of both diagonals."""
        for diagonal in (rows, columns):
            if self.zero_diagonal == "error" and not (diagonal > 0).all():
                raise GramError(
                    "has nothing that this kernel counts, so it cannot be normalised",
                    record=int(np.flatnonzero(~(diagonal > 0))[0]) + 1,
                    remedy="remove the record, or choose zero_diagonal=zero or normalize=false",
                )
        rows, columns = (np.where(diagonal > 0, diagonal, 0.0) for diagonal in (rows, columns))
        _blocks.normalise(out, rows, columns)
        return out, np.where(rows > 0, 1.0, 0.0)

    # ---- state -------------------------------------------------------------------------------------------

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays): weights and scales, and the states of the parts that have a weight."""
        header, arrays = super().fitted_state()
        if hasattr(self, "weights_"):
            learned = {"weights": self.weights_.tolist(), "scales": self.scales_.tolist(), "report": self.report_}
            header = {**header, **learned}
        return header, arrays

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore the state returned by `fitted_state`."""
        if "weights" in header:
            self.weights_ = np.array(header["weights"])
            self.scales_ = np.array(header["scales"])
            self.report_ = header["report"]
        super().restore_fitted(header, arrays)

    def _given(self) -> list[Kernel]:
        return as_parts(self.name, self.parts)


def unique(names: Sequence[str]) -> list[str]:
    """Return names made unique by numbering repeated ones.

    >>> unique(["linear", "rbf", "linear"])
    ['linear', 'rbf', 'linear (2)']
    """
    seen: dict[str, int] = {}
    out: list[str] = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return out
