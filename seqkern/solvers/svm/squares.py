"""Piecewise quadratic and linear losses, minimised on a Gram matrix by Newton's method.

The squared hinge, squared ε-insensitive and Huber losses have a slope that is linear between kinks. Where every
sample stays on its piece, the minimum is the solution of one linear system: over the samples on parabolas, whose ℓ''
is the inverse of a ridge on K, with the dual variables of those on straight lines at their bound. Each step solves
that system and goes to the minimum along the line to its solution; once the pieces are right, the step is the last.

Keerthi, DeCoste: A modified finite Newton method for fast solution of large scale linear SVMs. Journal of Machine
Learning Research 6, 2005. Chapelle: Training a support vector machine in the primal. Neural Computation 19, 2007.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from seqkern.core.threads import one_thread
from seqkern.core.types import Floats
from seqkern.solvers.expansion import KernelExpansion
from seqkern.solvers.products.losses import Loss
from seqkern.solvers.products.subspace import root

MOST_STEPS = 500
"""Maximum number of Newton steps; a fit takes about ten."""

EPSILON = float(np.finfo(np.float64).eps)

ROUNDING = 1e-13
"""Share of a loss below which differences count as none."""

MANY, PART = 400, 4
"""Samples above which a fit starts from the solution for a part, and the inverse share of the part."""

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
