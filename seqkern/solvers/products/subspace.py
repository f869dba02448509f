"""Regularised losses minimised on products with the kernel matrix: an exact minimum in a growing subspace.

Each round minimises P(f, b) = ½‖f‖² + total·b + Σ ℓ_i(f(x_i) + b) over the `ProductSpace` and b, by Newton's method on
as many variables as there are directions, without any product. The dual variables a of this minimum are feasible, and
r = β − a is the gradient; one product K·r gives the duality gap, ½·rᵀ·K·r, and the next direction. For least squares
these are the iterates of conjugate gradients. For other losses, no direction is ever forgotten when the set of active
records changes, as Newton's method with conjugate gradients forgets them. The lower bound comes from the convex hull of
all dual points so far (see `dual_bound`), as in the bundle methods, and is much better than that of the last.

A loss with kinks is smoothed by parabolas, which become narrower as the rest of the gap becomes smaller. When the space
seems to be good enough, they are narrowed further within it: the value that counts is that of the loss itself.

Teo, Vishwanathan, Smola, Le: Bundle methods for regularized risk minimization. Journal of Machine Learning Research 11,
2010. Franc, Sonnenburg: Optimized cutting plane algorithm for support vector machines. ICML 2008.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqkern.core.progress import progress_counter
from seqkern.solvers.products.dual_bound import DualBound
from seqkern.solvers.products.losses import Loss
from seqkern.solvers.products.space import ProductSpace

Floats = npt.NDArray[np.float64]

INNER = 0.03
"""A minimum within the space is exact enough when its part of the gap is below this share of the last one."""

INNER_STEPS = 300
"""Maximum number of Newton steps within the space."""

BLOCK = 8192
"""Records whose part of the Hessian is summed at once."""

SMOOTHING = 5.0
"""The width of the parabolas is reduced when smoothing costs more than this multiple of the rest of the gap. If it were
reduced sooner, directions would depend on few records."""

NARROWING = 0.1, 0.7
"""The width is multiplied by a number in this interval."""

SHARPER = 4
"""Maximum number of times that the parabolas are narrowed to see whether the space is good enough."""

TRIES = 200
"""Maximum number of steps to a root."""


@dataclass(frozen=True)
class Minimum:
    """A minimum, or how near it came.

    Attributes
    ----------
    coefficients : ndarray of float64, shape (n,)
        β, of f = K·β.
    bias : float
        b.
    decisions : ndarray of float64, shape (n,)
        f + b of the records.
    primal, dual : float
        P(f, b), and a lower bound of the least P.
    residual : float
        √(rᵀ·K·r) / ‖f‖.
    rounds : int
        Number of rounds.
    stalled : bool
        Whether rounding errors ended it.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.products.subspace import Minimum
    >>> Minimum(np.zeros(2), 0.0, np.zeros(2), primal=2.0, dual=1.5, residual=0.1, rounds=3, stalled=False).gap
    0.25
    """

    coefficients: Floats
    bias: float
    decisions: Floats
    primal: float
    dual: float
    residual: float
    rounds: int
    stalled: bool

    @property
    def gap(self) -> float:
        """(P − D) as a share of P, an upper bound of how far P is above its minimum."""
        return max(0.0, self.primal - self.dual) / max(abs(self.primal), np.finfo(np.float64).tiny)


class Subspace:
    """One problem on a space of known products.

    Parameters
    ----------
    space : ProductSpace
        It grows.
    loss : Loss
        Of the decisions about its records.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.kernels.implicit import SparseImplicit
    >>> from seqkern.solvers.products.losses import SquaredHinge
    >>> from seqkern.solvers.products.space import ProductSpace
    >>> from seqkern.solvers.products.subspace import Subspace
    >>> space = ProductSpace(SparseImplicit.of(np.array([[2.0], [1.0], [-1.0], [-2.0]])))
    >>> problem = Subspace(space, SquaredHinge(np.array([1.0, 1.0, -1.0, -1.0]), np.full(4, 10.0)))
    >>> found = problem.run(tol=1e-9, most=100)
    >>> found.decisions.round(3).tolist(), found.gap < 1e-9, space.products
    ([1.951, 0.976, -0.976, -1.951], True, 2)
    """

    def __init__(self, space: ProductSpace, loss: Loss) -> None:
        self.space, self.loss = space, loss
        self.c = np.zeros(space.size)
        self.bias = 0.0
        self.f = np.zeros(len(space.operator))
        self.missing = 0.0  # the gap of the last round, but for smoothing

    def run(self, tol: float, most: int) -> Minimum:
        """Add directions until the duality gap is small.

        Parameters
        ----------
        tol : float
            > 0, the gap as a share of P.
        most : int
            Maximum number of rounds, one product each.

        Returns
        -------
        Minimum
        """
        bound = DualBound()
        part, rounds, stalled = 0.0, 0, 0
        with progress_counter("training", " products") as show:
            while not self._solved(bound, tol) and rounds < most and stalled < 2:
                z = self.f + self.bias
                primal, excess = self._primal(), self.loss.excess(z)
                gradient = self.c @ self.space.directions - self.loss.dual(z)
                if self.space.full:
                    self.c, combined = self.space.shrink(np.stack([self.c, bound.combined(self.space.size)]))
                    bound.restart(combined)
                size = self.space.size
                square, coordinates = self.space.add(gradient)
                rounds += 1
                if show is not None:
                    show(rounds)
                stalled = 0 if self.space.size > size else stalled + 1
                self.c = np.append(self.c, np.zeros(self.space.size - size))
                part = 0.5 * max(square, 0.0)
                dual = self.c - coordinates
                bound.add(dual, primal - part - excess + 0.5 * float(dual @ dual), part + excess)
                # where the space has no room for a direction, a better minimum within it is all that is left
                self.missing = 0.0 if stalled else part
                self._narrow(excess, primal - excess - bound.value)
        length = np.sqrt(self.c @ self.c)
        return Minimum(
            coefficients=self.c @ self.space.directions,
            bias=self.bias,
            decisions=self.f + self.bias,
            primal=self._primal(),
            dual=bound.value,
            residual=float(np.sqrt(2 * part) / length) if length > 0 else 0.0,
            rounds=rounds,
            stalled=stalled == 2,
        )

    def _primal(self) -> float:
        """Return P."""
        return 0.5 * float(self.c @ self.c) + self.loss.total * self.bias + self.loss.value(self.f + self.bias)

    def _solved(self, bound: DualBound, tol: float) -> bool:
        """Minimise over the space; return whether P is near enough to its lower bound.

        Without a direction it is not: where K is small, f = 0 is near enough to the bound, but tells no records apart.
        """
        self._descend(tol)
        if self.space.products == 0:
            return False
        primal = self._primal()
        goal = bound.value + tol * abs(primal)
        hopeful = primal - self.loss.excess(self.f + self.bias) <= goal
        return primal <= goal or (hopeful and self._sharpen(bound.value, tol))

    def _sharpen(self, bound: float, tol: float) -> bool:
        """Return whether P comes near enough to `bound` with less smoothing; else leave all as it was."""
        before = self.c, self.f, self.bias, self.loss.width
        for _ in range(SHARPER):
            last = self._primal()
            self.loss.width *= NARROWING[0]
            self._descend(tol)
            primal = self._primal()
            if primal <= bound + tol * abs(primal):
                return True
            if primal > last - tol * abs(primal):
                break
        self.c, self.f, self.bias, self.loss.width = before
        return False

    def _narrow(self, excess: float, gap: float) -> None:
        """Reduce the width of the parabolas if smoothing costs too much, compared with the rest of the gap."""
        if excess > SMOOTHING * max(gap, 0.0):
            self.loss.width *= float(np.clip(SMOOTHING * max(gap, 0.0) / excess, *NARROWING))

    def _descend(self, tol: float) -> None:
        """Minimise over the space and the bias."""
        self._set_bias()
        enough = INNER * max(self.missing, tol * abs(self._primal()))
        for _ in range(INNER_STEPS):
            z = self.f + self.bias
            dual = self.loss.dual(z)
            slope = self.c - self.space.images @ dual
            if 0.5 * float(slope @ slope) <= enough and (self.c.any() or not slope.any()):
                break
            step, change = self._newton(slope, self.loss.curvature(z))
            along = self.space.images.T @ step + change
            length = self._length(step, change, along)
            self.c = self.c + length * step
            self.f = self.f + length * (along - change)
            self.bias += length * change
            self._set_bias()
            if length == 0:
                break

    def _newton(self, slope: Floats, curvature: Floats) -> tuple[Floats, float]:
        """Return the Newton step of c and b; the slope of b is zero."""
        images, size = self.space.images, self.space.size
        hessian, cross = np.eye(size), np.zeros(size)
        active = np.flatnonzero(curvature)
        for start in range(0, len(active), BLOCK):
            rows = active[start : start + BLOCK]
            weighed = images[:, rows] * np.sqrt(curvature[rows])
            hessian += weighed @ weighed.T
            cross += weighed @ np.sqrt(curvature[rows])
        total = float(curvature.sum())
        if total > 0:
            hessian -= np.outer(cross, cross) / total
        step = np.asarray(np.linalg.solve(hessian, -slope), dtype=np.float64)
        return step, -float(cross @ step) / total if total > 0 else 0.0

    def _length(self, step: Floats, change: float, along: Floats) -> float:
        """Return how far to go along a Newton step: to the minimum."""
        first, second = float(self.c @ step) + self.loss.total * change, float(step @ step)
        z = self.f + self.bias

        def slope(t: float) -> tuple[float, float, float]:
            here = z + t * along
            forces = self.loss.dual(here) * along
            own = first + t * second
            size = abs(first) + abs(t * second) + float(np.abs(forces).sum())
            return own - float(forces.sum()), second + float(self.loss.curvature(here) @ along**2), size

        return root(slope, 1.0, 1.0)

    def _set_bias(self) -> None:
        """Set the best bias, where the dual variables sum to `total`; the middle one where several cost nothing."""
        low, high = self.loss.free_biases(self.f)
        if low <= high and np.isfinite(high - low):
            self.bias = 0.5 * (low + high)
            return

        def slope(bias: float) -> tuple[float, float, float]:
            z = self.f + bias
            dual = self.loss.dual(z)
            size = self.loss.total + float(np.abs(dual).sum())
            return self.loss.total - float(dual.sum()), float(self.loss.curvature(z).sum()), size

        self.bias = root(slope, self.bias, self.loss.unit)


def root(function: Callable[[float], tuple[float, float, float]], start: float, reach: float) -> float:
    """Return a zero of a rising function by Newton's method within brackets.

    Parameters
    ----------
    function : callable
        From t to its value, its slope, and the size of the terms of the value.
    start : float
        Where to begin.
    reach : float
        The first step where the slope is zero.

    Returns
    -------
    float
    """
    low, high, t = -np.inf, np.inf, start
    for _ in range(TRIES):
        value, slope, size = function(t)
        if abs(value) <= 1e-13 * size:
            break
        low, high = (t, high) if value < 0 else (low, t)
        following = t - value / slope if slope > 0 else np.inf
        if not low < following < high:
            if np.isfinite(low + high):
                following = 0.5 * (low + high)
            else:
                following = low + reach if high == np.inf else high - reach
                reach *= 2
        if following == t:
            break
        t = following
    return float(t)
