"""Minimisation of a loss on products with a kernel matrix, in the space that the products span."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.core.progress import progress_counter
from seqkern.core.threads import one_thread
from seqkern.core.types import Array, Floats
from seqkern.kernels.kernel_operator import MANY, WIDEST, KernelOperator
from seqkern.solvers.contract import Solver
from seqkern.solvers.products.losses import Hinge, Loss, Squared, best_bias
from seqkern.solvers.shared import KernelExpansion

# Minimisation of regularised losses by kernel products: an exact minimum in a growing subspace.
#
# Each round minimises P(f, b) = ½‖f‖² + total·b + Σ ℓ_i(f(x_i) + b) over the `ProductSpace` and b, by Newton's method
# on as many variables as there are directions, without any product. The dual variables a of this minimum are feasible,
# and r = β − a is the gradient; one product K·r gives the duality gap, ½·rᵀ·K·r, and the next direction. For least
# squares these are the iterates of conjugate gradients. For other losses no direction is lost when the set of active
# records changes, unlike in Newton's method with conjugate gradients. The lower bound comes from the convex hull of all
# dual points so far (see `dual_bound`), as in bundle methods, and is much tighter than the bound of the last point.
# Kinks are smoothed by parabolas that narrow as the gap shrinks; the reported value is the exact loss.
#
# Teo, Vishwanathan, Smola, Le: Bundle methods for regularized risk minimization. Journal of Machine Learning Research
# 11, 2010. Franc, Sonnenburg: Optimized cutting plane algorithm for support vector machines. ICML 2008.

# The space of functions whose products with the kernel matrix are known.
#
# A function of the space is f = K·β with β = Σ_j c_j·d_j. The directions d_j and their products K·d_j are stored. They
# are orthonormal in the kernel's metric, d_iᵀ·K·d_j = δ_ij; so ‖f‖² = ‖c‖², and a whole problem can be solved within
# the space without another product. Products computed for one class, or one C, are reused for the others.


MEMORY = 2**30  # Maximum bytes of directions and products

FEWEST, MOST = 48, 512  # Least and greatest number of directions kept, regardless of memory

ROUNDING = 1e-12  # Share of Σ direction_i²·K_ii below which the square of a direction consists of rounding errors

NEGATIVE = 1e-6
"""Share of Σ direction_i²·K_ii up to which a negative square may be a rounding error, even of float32 tables."""


class ProductSpace:
    """The directions d_j and their products K·d_j; `indefinite` is true if K was found indefinite."""

    def __init__(self, operator: KernelOperator) -> None:
        self.operator = operator
        self.products = 0
        self.size = 0
        self.indefinite = False
        n = len(operator)
        self.most = int(np.clip(MEMORY // (16 * n), FEWEST, MOST))
        self._directions: Array = np.empty((0, n))
        self._images: Array = np.empty((0, n))

    @property
    def directions(self) -> Array:
        """The directions d_j, (size, n)."""
        return self._directions[: self.size]

    @property
    def images(self) -> Array:
        """The products K·d_j, (size, n)."""
        return self._images[: self.size]

    def gradient(self, c: Floats, loss: Loss, z: Floats) -> Floats:
        """Return β − a, for the function with coordinates `c` and the dual variables a of its decisions `z`."""
        return c @ self.directions - loss.dual(z)

    def add(self, direction: Floats) -> tuple[float, Floats | None]:
        """Multiply K by a direction, and add it to the space unless it already lies there.

        Return directionᵀ·K·direction and the coordinates of the direction in the resulting space. Zeros in the
        direction save time.
        """
        image = self.operator.times(direction)
        self.products += 1
        square = float(direction @ image)
        terms = float(self.operator.squares @ direction**2)
        self.indefinite |= square < -NEGATIVE * terms
        parts = self.images @ direction
        if square > ROUNDING * terms:
            rest, image = direction - parts @ self.directions, image - parts @ self.images
            more = self.images @ rest  # once is not enough after cancellation
            rest, image, parts = rest - more @ self.directions, image - more @ self.images, parts + more
            left = float(rest @ image)
            if left > ROUNDING * terms:
                self._append(rest / np.sqrt(left), image / np.sqrt(left))
                parts = np.append(parts, np.sqrt(left))
        return square, parts

    def _append(self, direction: Floats, image: Floats) -> None:
        """Append a row to both arrays; they grow without a copy where the system can, as no view of them lives."""
        if self.size == len(self._directions):
            for array in (self._directions, self._images):
                array.resize((self.size + 1, array.shape[1]), refcheck=False)
        self._directions[self.size], self._images[self.size] = direction, image
        self.size += 1

    def knows(self, operator: KernelOperator) -> bool:
        """Return whether the space belongs to this operator; comparing a different object costs one product."""
        if operator is self.operator:
            return True
        if self.size == 0 or len(operator) != len(self.operator) or operator.tables is not self.operator.tables:
            return False
        self.products += 1
        newest = self.images[-1]
        return bool(np.abs(operator.times(self.directions[-1]) - newest).max() <= NEGATIVE * np.abs(newest).max())

    @property
    def full(self) -> bool:
        """Whether the space has no room for another direction."""
        return self.size >= self.most

    def shrink(self, kept: Floats) -> Floats:
        """Keep some functions and the newest third of the directions, and drop the others.

        `kept` holds the coefficients of the functions, one per row; their new coefficients, (k, new size), are
        returned.
        """
        newest = np.eye(self.size)[self.size - self.most // 3 :]
        # the rows of the basis are orthonormal, and so are the directions that they make of the old ones
        basis: Any = np.linalg.qr(np.concatenate([kept, newest]).T)[0].T
        for array in (self._directions, self._images):
            for start in range(0, array.shape[1], 4096):
                part = array[: self.size, start : start + 4096]
                array[: len(basis), start : start + 4096] = basis @ part
        self.size = len(basis)
        return kept @ basis.T


class TableSpace(ProductSpace):
    """Directions that are tables over l-mers, and their sums on the records, both in single precision.

    A gradient is smoothed by the inverse of the Hessian for random records (`HammingOperator.smooth`), so that few
    directions are needed; they are not sums over records. With orthonormal directions, rounding
    changes a decision f(x) by at most 2⁻²⁴·‖f‖·√K(x, x).
    """

    def __init__(self, operator: KernelOperator) -> None:
        super().__init__(operator)
        self.lmers, self.strength = operator.lmers, 0.0
        self.most = MOST
        self._directions = np.empty((0, self.lmers.space), np.float32)
        self._images = np.empty((0, len(operator)), np.float32)

    def gradient(self, c: Floats, loss: Loss, z: Floats) -> Floats:
        """Return the table of β − a."""
        self.strength = float(loss.curvature(z) @ self.operator.squares)
        return combine(c, self.directions) - self.lmers.compact(self.operator.collect(loss.dual(z)))

    def add(self, direction: Floats) -> tuple[float, None]:
        """Add a smoothed gradient to the space; return the square of the gradient itself."""
        self.products += 1
        square = float(direction @ self._weights(direction)[1])
        table = self.lmers.whole(direction)
        self.lmers.smooth(table, self.strength)
        smooth = self.lmers.compact(table)
        weights, own = self._weights(smooth)
        before = float(smooth @ own)
        for _ in range(2):  # once is not enough after cancellation
            smooth = smooth - combine(project(self.directions, own), self.directions)
            weights, own = self._weights(smooth)
        left = float(smooth @ own)
        if left > ROUNDING * before:
            length = np.sqrt(left)
            self._append(smooth / length, self.operator.dots(weights / length))
        return square, None

    def _weights(self, entries: Floats) -> tuple[Floats, Floats]:
        """Return the weights of all l-mers, and those of the entries."""
        table = self.lmers.whole(entries)
        self.lmers.spread(table)
        return table, self.lmers.compact(table)


def combine(c: Floats, rows: Array) -> Floats:
    """Return c @ rows in double precision, without a copy of all rows."""
    if rows.dtype == np.float64:
        return np.asarray(c @ rows)
    return np.concatenate([c @ rows[:, at : at + BLOCK] for at in range(0, rows.shape[1], BLOCK)])


def project(rows: Array, values: Floats) -> Floats:
    """Return rows @ values in double precision, without a copy of all rows."""
    if rows.dtype == np.float64:
        return np.asarray(rows @ values)
    spans = (slice(at, at + BLOCK) for at in range(0, len(values), BLOCK))
    return sum((rows[:, span] @ values[span] for span in spans), np.zeros(len(rows)))


# The best lower bound of a minimum from all dual points visited so far.

ENOUGH = 0.02  # Largest possible improvement of a good enough combination, as a share of the gap

MOST_MOVES = 5000  # Maximum number of moves of weight from one point to another


class DualBound:
    """The dual D(a) = −½·aᵀKa − Σ ℓ_i*(−a_i) on the convex hull of points a_1, …, a_t.

    D is concave, and so is its last term alone: D(Σ λ_s a_s) ≥ Σ λ_s v_s − ½ ‖Σ λ_s u_s‖², where v_s is the last term
    at a_s, and u_s its coordinates in the `ProductSpace`. The bound is the largest such value found.
    """

    def __init__(self) -> None:
        self.value = -np.inf
        self.points = np.empty((0, 0))
        self.linear = np.empty(0)
        self.square = np.empty((0, 0))
        self.shares = np.empty(0)

    def add(self, point: Floats, linear: float, gap: float) -> None:
        """Add a point, and search for a better combination from the last one, or from this point if it is better.

        `point` is u (zero in new coordinates), `linear` is v, and `gap` bounds the distance of the minimum above this
        point, which sets the accuracy of a combination.
        """
        count, size = self.points.shape
        points = np.zeros((count + 1, len(point)))
        points[:count, :size] = self.points
        points[count] = point
        self.points = points
        self.linear = np.append(self.linear, linear)
        square = np.empty((count + 1, count + 1))
        square[:count, :count] = self.square
        square[count] = square[:, count] = points @ point
        self.square = square
        self.shares = np.append(self.shares, 0.0)
        alone = np.append(np.zeros(count), 1.0)
        if not count or self._of(alone) > self._of(self.shares):
            self.shares = alone
        self._improve(ENOUGH * gap)
        self.value = max(self.value, self._of(self.shares))

    def _of(self, shares: Floats) -> float:
        return float(self.linear @ shares - 0.5 * shares @ self.square @ shares)

    def _improve(self, enough: float) -> None:
        """Move weight repeatedly between the two points where that raises the value most."""
        slope = self.linear - self.square @ self.shares
        for _ in range(MOST_MOVES):
            up = int(np.argmax(slope))
            if slope[up] - float(slope @ self.shares) <= enough:
                break
            down = int(np.argmin(np.where(self.shares > 0, slope, np.inf)))
            curvature = self.square[up, up] - 2 * self.square[up, down] + self.square[down, down]
            rise = slope[up] - slope[down]
            step = min(self.shares[down], rise / curvature if curvature > 0 else np.inf)
            self.shares[up] += step
            self.shares[down] -= step
            slope -= step * (self.square[:, up] - self.square[:, down])

    def combined(self, size: int) -> Floats:
        """Return the coordinates of the best combination, shape (size,), zero beyond the known ones."""
        out = np.zeros(size)
        out[: self.points.shape[1]] = self.shares @ self.points
        return out

    def restart(self, point: Floats) -> None:
        """Keep only the best combination, with its coordinates `point` in a new basis."""
        linear = float(self.linear @ self.shares)
        self.points, self.linear, self.shares = point[None], np.array([linear]), np.ones(1)
        self.square = np.array([[point @ point]])


INNER = 0.03  # Share of the last gap below which the gap of a minimum within the space is small enough

INNER_STEPS = 300  # Maximum number of Newton steps within the space

BLOCK = 8192  # Records whose part of the Hessian is summed at once

SMOOTHING = 5.0
"""Multiple of the rest of the gap above which the cost of smoothing narrows the parabolas. Narrowing them sooner would
make directions depend on few records."""

NARROWING = 0.1, 0.7  # Least and largest factor of the width in one reduction

SHARPER = 4  # Maximum number of times that the parabolas are narrowed to see whether the space is good enough

TRIES = 200  # Maximum number of steps to a root


@dataclass(frozen=True)
class Minimum:
    """The minimum of a problem, or the closest point reached.

    `coefficients` are β of f = K·β, `decisions` f + b of the records, `primal` is P(f, b), `dual` a lower bound of the
    minimum of P, `residual` √(rᵀ·K·r) / ‖f‖, and `stalled` tells whether rounding errors ended the search.
    """

    coefficients: Floats  # shape (n,): β, of f = K·β
    bias: float  # b
    decisions: Floats  # shape (n,): f + b of the records
    primal: float  # P(f, b), and a lower bound of the least P
    dual: float  # P(f, b), and a lower bound of the least P
    residual: float  # √(rᵀ·K·r) / ‖f‖
    rounds: int  # Number of rounds
    stalled: bool  # Whether rounding errors ended it

    @property
    def gap(self) -> float:
        """The relative duality gap (P − D) / P, an upper bound on the relative distance of P from its minimum."""
        return max(0.0, self.primal - self.dual) / max(abs(self.primal), np.finfo(np.float64).tiny)


class Subspace:
    """One minimisation problem on a `ProductSpace`, which grows."""

    def __init__(self, space: ProductSpace, loss: Loss) -> None:
        self.space, self.loss = space, loss
        self.c = np.zeros(space.size)
        self.bias = 0.0
        self.f = np.zeros(len(space.operator))
        self.missing = 0.0  # the gap of the last round, but for smoothing

    def run(self, tol: float, most: int) -> Minimum:
        """Add directions, one product a round, until the duality gap is at most `tol` as a share of P."""
        bound = DualBound()
        part, rounds, stalled = 0.0, 0, 0
        with progress_counter("training", " products") as show:
            while not self._solved(bound, tol) and rounds < most and stalled < 2:
                z = self.f + self.bias
                primal, excess = self._primal(), self.loss.excess(z)
                gradient = self.space.gradient(self.c, self.loss, z)
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
                if coordinates is None:
                    bound.value = max(bound.value, primal - part - excess)
                else:
                    dual = self.c - coordinates
                    bound.add(dual, primal - part - excess + 0.5 * float(dual @ dual), part + excess)
                # where the space has no room for a direction, a better minimum within it is all that is left
                self.missing = 0.0 if stalled else part
                self._narrow(excess, primal - excess - bound.value)
        length = np.sqrt(self.c @ self.c)
        return Minimum(
            coefficients=combine(self.c, self.space.directions),
            bias=self.bias,
            decisions=self.f + self.bias,
            primal=self._primal(),
            dual=bound.value,
            residual=float(np.sqrt(2 * part) / length) if length > 0 else 0.0,
            rounds=rounds,
            stalled=stalled == 2,
        )

    def _primal(self) -> float:
        """Return the primal value P."""
        return 0.5 * float(self.c @ self.c) + self.loss.total * self.bias + self.loss.value(self.f + self.bias)

    def _solved(self, bound: DualBound, tol: float) -> bool:
        """Minimise over the space; return whether P is close enough to its lower bound.

        Without a direction the answer is always no: where K is small, f = 0 is close enough to the bound but separates
        no records.
        """
        self._descend(tol)
        if self.space.products == 0:
            return False
        primal = self._primal()
        goal = bound.value + tol * abs(primal)
        hopeful = primal - self.loss.excess(self.f + self.bias) <= goal
        return primal <= goal or (hopeful and self._sharpen(bound.value, tol))

    def _sharpen(self, bound: float, tol: float) -> bool:
        """Return whether P comes close enough to `bound` with less smoothing; otherwise leave everything unchanged."""
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
        """Reduce the width of the parabolas if smoothing contributes too much of the gap."""
        if excess > SMOOTHING * max(gap, 0.0):
            self.loss.width *= float(np.clip(SMOOTHING * max(gap, 0.0) / excess, *NARROWING))

    def _descend(self, tol: float) -> None:
        """Minimise over the space and the bias."""
        self._set_bias()
        enough = INNER * max(self.missing, tol * abs(self._primal()))
        for _ in range(INNER_STEPS):
            z = self.f + self.bias
            dual = self.loss.dual(z)
            slope = self.c - project(self.space.images, dual)
            if 0.5 * float(slope @ slope) <= enough and (self.c.any() or not slope.any()):
                break
            step, change = self._newton(slope, self.loss.curvature(z))
            along = combine(step, self.space.images) + change
            length = self._length(step, change, along)
            self.c = self.c + length * step
            self.f = self.f + length * (along - change)
            self.bias += length * change
            self._set_bias()
            if length == 0:
                break

    def _newton(self, slope: Floats, curvature: Floats) -> tuple[Floats, float]:
        """Return the Newton step of c and b, given that the slope of b is zero."""
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
        """Return the step length along a Newton step that reaches the minimum."""
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
        """Set the optimal bias, where the dual variables sum to `total`; the middle one if several cost nothing."""
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
    """Return a zero of an increasing function by Newton's method within brackets.

    `function` maps t to (value, slope, size of the terms of the value); `reach` is the first step where the slope is
    zero.
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


# Training on a kernel operator: losses minimised on products K·v.

INDEFINITE = "the kernel is not positive semi-definite; clip it (clip=true), or choose csvc with a repaired Gram matrix"

STALLED = "rounding errors leave this gap; lower C, or normalise the kernel"

SINGLE = 1e-5  # The least tolerance that single precision reaches

MOST_PRODUCTS = 2000  # Maximum number of products of a fit whose solver has no such parameter


def fit_on_products(
    solver: Solver, K: KernelOperator, losses: Sequence[Loss], tol: float, most: int = MOST_PRODUCTS
) -> tuple[list[Minimum], dict[str, Any]]:
    """Minimise several losses in turn, each with all products known by then; return the minima and the report.

    The decisions are f(x) = Σ_i β_i K(x, x_i) + b. `support_` are the records with a nonzero β in some minimum; their
    features are kept for decisions on an operator. After `fit_after`, the next fit reuses the products.
    """
    space: ProductSpace | None = solver._left("space")
    spent = 0 if space is None else space.products
    many = len(K) >= MANY and K.lmers is not None and K.lmers.definite and K.lmers.space <= WIDEST * len(K)
    in_tables = many and solver.tabulates and tol >= SINGLE and not hasattr(solver, "_before")
    if in_tables or space is None or not space.knows(K):
        space, spent = (TableSpace if in_tables else ProductSpace)(K), 0
    with one_thread():
        found = [Subspace(space, loss).run(tol, most) for loss in losses]
    if hasattr(solver, "_before"):
        solver._warm = {"space": space}
    if in_tables:
        table = K.lmers.whole(found[0].coefficients)
        tally = K.lmers.tally(table)
        K.lmers.spread(table)
        solver.support_ = np.zeros(0, dtype=np.int64)
        solver._vectors = SimpleNamespace(tables=K.tables, tally=tally, weights=lambda coefficients: table)
    else:
        solver.support_ = np.flatnonzero(np.any([one.coefficients != 0 for one in found], axis=0)).astype(np.int64)
        solver._vectors = K.take(solver.support_)
    gap = max(one.gap for one in found)
    report: dict[str, Any] = {
        "converged": gap <= tol and not space.indefinite,
        "iterations": max(one.rounds for one in found),
        "residual": max(one.residual for one in found),
        "objective": sum(one.primal for one in found),
        "gap": gap,
        "products": space.products - spent,
    }
    if space.indefinite:
        report["remark"] = INDEFINITE
    elif not report["converged"] and any(one.stalled for one in found):
        report["remark"] = STALLED
    return found, report


def fit_loss(
    solver: KernelExpansion, K: KernelOperator, loss: Loss, tol: float, most: int = MOST_PRODUCTS
) -> dict[str, Any]:
    """Minimise one loss; set `support_`, `dual_coef_` and `intercept_`, and return the report with the dual value."""
    if not np.isfinite(loss.cost).all():
        raise ParameterError("C=inf needs a Gram matrix", remedy="give a finite C, such as 1000")
    (found,), report = fit_on_products(solver, K, [loss], tol, most)
    solver.dual_coef_, solver.intercept_ = found.coefficients[solver.support_], found.bias
    if isinstance(loss, Hinge):
        solver.intercept_ = best_bias(found.decisions - found.bias, loss.y, loss.cost, loss.margin, loss.total)
    return report if isinstance(loss, Squared) else {**report, "objective": -found.dual}
