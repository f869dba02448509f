"""The C-SVM without a Gram matrix: dual coordinate descent over feature vectors."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from seqkern.core.matrices import is_sparse
from seqkern.core.parameters import count, positive
from seqkern.core.progress import progress_counter
from seqkern.core.types import Floats, Ints
from seqkern.kernels.decisions import LARGEST_SET, DeferredImplicit
from seqkern.kernels.kernel_operator import Implicit, KernelOperator, SparseImplicit
from seqkern.solvers import _linear
from seqkern.solvers.capabilities import SEARCH_COST_OF_MANY, Effort, Traits
from seqkern.solvers.checking import EPSILON, largest_value
from seqkern.solvers.contract import BinarySolver
from seqkern.solvers.products.losses import Hinge, best_bias
from seqkern.solvers.products.subspace import fit_loss
from seqkern.solvers.shared import KernelExpansion, class_weights, cost, random_seed, row_costs

# Dual coordinate descent for the C-SVM with an unpenalised bias, and its certificate of optimality.
#
# The dual is: maximise D(α) = Σα − ½ ‖w‖², w = Σ α_i y_i φ_i, over 0 ≤ α_i ≤ C_i with Σ α_i y_i = 0. Descent on single
# α_i (Hsieh, Chang, Lin, Keerthi & Sundararajan, ICML 2008) cannot keep that sum at zero. So it minimises the augmented
# Lagrangian −D(α) + b Σ α_i y_i + σ/2 (Σ α_i y_i)², and after each pass b ← b + σ Σ α_i y_i (Hestenes 1969; Powell
# 1969), which in the primal is the proximal point method for the bias (Rockafellar 1976). A step costs one φ_i·w and
# one w += c·φ_i, whatever n.
#
# With φ_i − m in place of φ_i, for m a mean of the φ_i, w and D are the same where Σ α_i y_i = 0, but the samples have
# much less in common, and descent takes far fewer passes. Only the numbers φ_i·m are computed, in about one pass.
#
# Samples that stay at a bound are left out of the passes (shrinking), and return once the bias has moved far enough to
# invalidate that.
#
# The certificate covers all samples: α is made feasible by moving the few α_i that cost the dual least, and P of w with
# its best bias (a weighted median) and D(α) are computed. P − D then bounds the error, up to rounding: with a cost or
# K(x, x) of about a million, the gap may be off by per cents. If P − D is too large, descent continues from the earlier
# α, w and b, as from the feasible α it could return to the same point again and again.

SIGMA = 0.1  # Value of σ in units of the median ‖φ − m‖²; larger values shorten the steps, smaller ones delay the bias

MEAN_OF = 2000  # Approximate number of samples whose mean is m

MUCH = 0.25  # Multiple of the mean K(x, x) below which m·m is too small to help, so that m = 0

LATE = 0.5, 1.2
"""Bounds of the ratio of the gaps summed in a pass, each before its sample moves, to the gap after the pass. The ratio
is low where samples were wrongly left out."""

SHRINK = 0.2  # Multiple of the last pass's largest projected gradient beyond which a sample at a bound is left out

FEW = 1000  # Number of samples that is usually enough to make α feasible

AGAIN = 10  # Passes after which a certificate is computed in any case, as it restores samples left out too early


@dataclass(frozen=True)
class Certificate:
    """The certificate of optimality of a solution.

    `bias` is the best one for w (the middle of equally good ones), `primal` and `dual` are P and D, `gap` is (P − D) /
    P, and `residual` is the largest violation of the optimality conditions by a pair of samples, LIBSVM's m(α) − M(α).

    >>> from seqkern.solvers.svm.linear import Certificate
    >>> Certificate(bias=0.0, primal=2.0, dual=1.999, gap=0.0005, residual=0.01).gap < 1e-3
    True
    """

    bias: float  # The best one for w: the middle of all that are equally good
    primal: float  # P and D
    dual: float  # P and D
    gap: float  # (P − D) / P
    residual: float  # The largest violation of the optimality conditions by a pair of samples, LIBSVM's m(α) − M(α)


class Descent:
    """One optimisation by dual coordinate descent.

    `weights` is w, and `bias` is b for the vectors φ − m; `start` is α of a fit with another C.
    """

    def __init__(
        self,
        implicit: Implicit,
        y: Floats,
        cost: Floats,
        seed: int,
        shrinking: bool = True,
        start: Floats | None = None,
    ) -> None:
        self.implicit, self.y, self.cost, self.shrinking = implicit, y, cost, shrinking
        self.means, self.mean = _means(implicit)
        self.squares = np.maximum(implicit.squares - 2 * self.means + self.mean, 0.0)
        positive = self.squares[self.squares > 0]
        self.sigma = SIGMA * float(np.median(positive)) if len(positive) else 1.0
        self.generator = np.array([seed], dtype=np.uint64)
        self.weights = implicit.zeros()
        self.alpha = np.zeros(len(y))
        self.gradient = np.full(len(y), -1.0)
        self.order = np.arange(len(y))
        self.bias = best_bias(np.zeros(len(y)), y, cost)
        self.sums = np.zeros(7)
        if start is not None and start.any():
            self._begin(start)
        self._open()

    def _begin(self, start: Floats) -> None:
        """Start from the multiple of `start` with the largest dual value, and its best bias."""
        self.implicit.add(self.weights, self.y * start)
        products = self.implicit.dots(self.weights)
        some = start > 0
        most = float(np.min(self.cost[some] / start[some]))
        square = float(np.sum(start * self.y * products))
        factor = min(most, float(start.sum()) / square) if square > 0 else most
        self.alpha = np.minimum(factor * start, self.cost)
        self.weights *= factor
        bias = best_bias(factor * products, self.y, self.cost)
        self.bias = bias + self._along_mean()
        self.gradient = self.y * (factor * products + bias) - 1
        self.sums[1:3] = self.alpha.sum(), 0.5 * factor * factor * square

    def _along_mean(self) -> float:
        """Return the product w·m: the bias for φ is the bias for φ − m less this."""
        return float(np.sum(self.alpha * self.y * self.means))

    def _open(self) -> None:
        """Return all samples to the passes."""
        self.active = len(self.y)
        self.upper, self.lower = np.inf, -np.inf
        self.least_bias, self.most_bias = -np.inf, np.inf

    def run(self, tol: float, max_epochs: int) -> tuple[Certificate, int]:
        """Descend until the gap is at most `tol` (a share of the primal value); return (Certificate, passes).

        `max_epochs` limits the passes, each over as many samples as there are in all.
        """
        n, late, steps, certified = len(self.y), LATE[1], 0, 0
        with progress_counter("training", " passes") as show:
            while True:
                steps += max(self.active, 1)
                gap = self._pass()
                if show is not None:
                    show(steps // n)
                about = max(self.sums[1] - self.sums[2] + gap, 0.0)  # the primal value
                over = steps >= max_epochs * n
                if gap > late * tol * about and self.active and steps < certified + AGAIN * n and not over:
                    continue
                certificate, repair = self.certify()
                if certificate.gap <= tol or over:
                    return certificate, min(-(-steps // n), max_epochs)
                self._resume(*repair)
                certified = steps
                late = float(np.clip(0.9 * gap / (certificate.gap * certificate.primal), *LATE))

    def _pass(self) -> float:
        """Descend once on each active sample, and update the bias; return the sum of the gaps on the way."""
        _linear.shuffle(self.order, self.active, self.generator)
        excess = float(self.y @ self.alpha)
        self.sums[0], self.sums[3], self.sums[4] = self.bias + self.sigma * excess, excess, self._along_mean()
        self.active, gap = _linear.epoch(
            self.implicit.capsule,
            self.squares,
            self.means,
            self.mean,
            self.y,
            self.cost,
            self.sigma,
            self.alpha,
            self.weights,
            self.gradient,
            self.order,
            self.active,
            self.upper,
            self.lower,
            self.sums,
        )
        self.bias = float(self.sums[0])
        if not self.least_bias <= self.bias <= self.most_bias:
            self._open()
        self._shrink(self.sums[5], self.sums[6])
        return gap

    def _shrink(self, largest: float, least: float) -> None:
        """Set the gradients beyond which a sample at a bound is left out, by the extreme projected gradients.

        The bias may then move by as much before the gradient of such a sample could change its sign.
        """
        if self.shrinking:
            self.upper = SHRINK * largest if largest > 0 else np.inf
            self.lower = SHRINK * least if least < 0 else -np.inf
            room = min(self.upper, -self.lower)
            self.least_bias = max(self.least_bias, self.bias - room)
            self.most_bias = min(self.most_bias, self.bias + room)

    def certify(self) -> tuple[Certificate, tuple[Ints, Floats]]:
        """Make α feasible; return (Certificate, arguments for `_resume`: the moved samples and their old α)."""
        repair = self._make_feasible()
        products = self.implicit.dots(self.weights)
        bias = best_bias(products, self.y, self.cost)
        half = 0.5 * float(np.sum(self.alpha * self.y * products))
        dual = float(self.alpha.sum()) - half
        primal = half + float(np.sum(self.cost * np.maximum(0.0, 1 - self.y * (products + bias))))
        # y − w·φ bounds the bias from above where α·y can grow, from below where it can fall
        at_zero, at_cost = self.alpha == 0, self.alpha == self.cost
        bounds = self.y - products
        up = np.where(self.y > 0, ~at_cost, ~at_zero)
        low = np.where(self.y > 0, ~at_zero, ~at_cost)
        violation = np.max(bounds[up], initial=-np.inf) - np.min(bounds[low], initial=np.inf)
        self.gradient = self.y * (products + self.bias - self._along_mean()) - 1
        return Certificate(bias, primal, dual, (primal - dual) / primal, max(0.0, float(violation))), repair

    def _make_feasible(self) -> tuple[Ints, Floats]:
        """Move α until Σ α_i y_i = 0; return the moved samples and their old α.

        The moves begin where the gradient predicts the smallest loss of the dual.
        """
        excess = float(self.y @ self.alpha)
        if excess == 0:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        down = self.y * excess > 0
        room = np.where(down, self.alpha, self.cost - self.alpha)
        loss = np.where(room > 0, np.where(down, -self.gradient, self.gradient), np.inf)
        last = min(FEW, len(loss) - 1)
        few = np.flatnonzero(loss <= np.partition(loss, last)[last])
        if room[few].sum() < abs(excess):
            few = np.arange(len(loss))
        rows = few[np.argsort(loss[few], kind="stable")]
        reached = np.cumsum(room[rows])
        count = min(int(np.searchsorted(reached, abs(excess))) + 1, len(rows))
        rows = rows[:count]
        step = room[rows]
        step[-1] = max(0.0, abs(excess) - (reached[count - 2] if count > 1 else 0.0))
        before = self.alpha[rows]
        self._move(rows, np.clip(np.where(down[rows], before - step, before + step), 0.0, self.cost[rows]))
        return rows, before

    def _move(self, rows: Ints, alpha: Floats) -> None:
        """Set α of some samples, and update w."""
        change = alpha - self.alpha[rows]
        self.alpha[rows] = alpha
        self.implicit.take(rows).add(self.weights, self.y[rows] * change)

    def _resume(self, rows: Ints, before: Floats) -> None:
        """Undo the moves that made α feasible, and reactivate all samples that could still move."""
        self._move(rows, before)
        self._open()
        if self.shrinking:
            at_zero, at_cost = self.alpha == 0, self.alpha == self.cost
            resting = (at_zero & (self.gradient > 0)) | (at_cost & (self.gradient < 0))
            projected = np.where(resting, 0.0, self.gradient)
            self._shrink(projected.max(), projected.min())
            out = (at_zero & (self.gradient > self.upper)) | (at_cost & (self.gradient < self.lower))
            self.order = np.argsort(out, kind="stable")
            self.active = int(np.sum(~out))


def _means(implicit: Implicit) -> tuple[Floats, float]:
    """Return φ_i·m of each sample, float64 (n,), and m·m; m is the mean of evenly spread samples, or zero."""
    some = implicit.take(np.arange(0, len(implicit), -(-len(implicit) // MEAN_OF)))
    weights = implicit.zeros()
    some.add(weights, np.full(len(some), 1.0 / len(some)))
    mean = float(np.mean(some.dots(weights)))
    if mean < MUCH * float(np.mean(some.squares)):
        return np.zeros(len(implicit)), 0.0
    return implicit.dots(weights), mean


# The C-SVM for more feature vectors than fit in memory: descent on working sets, with a full certificate.
#
# Most samples of a large set lie beyond the margin: their α is zero, and the other samples alone give the solution. So
# dual coordinate descent (`dual_coordinate`) runs on a working set, and its w is applied to all samples. Left-out
# samples within the margin join the set, those far beyond it leave, and descent continues from its α (Boser, Guyon &
# Vapnik 1992, chunking). As α outside the set is zero, D(α) is the dual value of the whole problem; P(w) is summed over
# all samples, so P − D bounds the error of w as in descent on all samples.

FIRST = 50_000, 20  # Least size of the first set, and its inverse share of all samples

ROOM = 1.1  # Value of y·f(x) below which samples in the set stay there

LOOSE, SHARE = 1e-2, 0.2
"""Gap at which descent on the first set ends, and share of the gap of all samples at which later descents end."""

ENOUGH = 0.3  # Share of the requested gap below which no descent on a set goes


@dataclass(frozen=True)
class Solution:
    """The solution found by `descend`, with its certificate for all samples.

    `epochs` are passes over as many samples as all, `rounds` counts the working sets, and `largest` is the size of the
    largest one.
    """

    alpha: Floats  # shape (n,)
    certificate: Certificate  # For all samples
    epochs: int  # Passes over as many samples as all, rounded up
    rounds: int  # How many working sets there were
    largest: int  # Samples in the largest one


def descend(
    records: DeferredImplicit,
    y: Floats,
    cost: Floats,
    seed: int,
    tol: float,
    max_epochs: int,
    start: Floats | None = None,
) -> Solution:
    """Train on working sets until the gap for all samples is at most `tol`, or for `max_epochs` passes."""
    n = len(y)
    alpha = np.zeros(n) if start is None else np.minimum(start, cost)
    rows = _first(y, alpha, seed)
    inner, steps, rounds, largest = max(ENOUGH * tol, LOOSE if len(rows) < n else 0.0), 0, 0, 0
    with progress_counter("working sets", " sets") as show:
        while True:
            part = records.take(rows).implicit()
            descent = Descent(part, y[rows], cost[rows], seed + rounds, start=alpha[rows])
            inner_certificate, epochs = descent.run(inner, max(1, max_epochs * n // len(rows) - steps // len(rows)))
            steps, rounds, largest = steps + epochs * len(rows), rounds + 1, max(largest, len(rows))
            if show is not None:
                show(rounds)
            alpha[:] = 0
            alpha[rows] = descent.alpha
            del part, descent  # before the table of all k-mers of the support
            certificate, products = _certify(records, y, cost, alpha)
            if certificate.gap <= tol or steps >= max_epochs * n:
                return Solution(alpha, certificate, min(-(-steps // n), max_epochs), rounds, largest)
            # The best bias for all samples would hide most of those within the margin: w is of the set's own bias.
            following = _next(rows, alpha, y * (products + inner_certificate.bias))
            inner = max(ENOUGH * tol, min(LOOSE, SHARE * certificate.gap))
            if np.array_equal(following, rows):  # only the precision is missing
                inner = ENOUGH * tol
            rows = following


def _first(y: Floats, alpha: Floats, seed: int) -> Ints:
    """Return the initial working set, sorted: some samples of each class in proportion, and those with α > 0."""
    least, share = FIRST
    size = max(least, len(y) // share)
    if size >= len(y):
        return np.arange(len(y))
    rng = np.random.default_rng(seed)
    drawn = [
        rng.choice(of_class, max(1, round(size * len(of_class) / len(y))), replace=False)
        for of_class in (np.flatnonzero(y < 0), np.flatnonzero(y > 0))
    ]
    return np.union1d(np.concatenate(drawn), np.flatnonzero(alpha))


def _certify(records: DeferredImplicit, y: Floats, cost: Floats, alpha: Floats) -> tuple[Certificate, Floats]:
    """Return the Certificate of α for all samples, and w·φ of each."""
    support = np.flatnonzero(alpha)
    signed = alpha[support] * y[support]
    products = records.dots(records.take(support).weights(signed))
    bias = best_bias(products, y, cost)
    half = 0.5 * float(signed @ products[support])
    dual = float(alpha.sum()) - half
    # y − w·φ bounds the bias from above where α·y can grow, from below where it can fall
    bounds = y - products
    up = np.where(y > 0, alpha != cost, alpha != 0)
    low = np.where(y > 0, alpha != 0, alpha != cost)
    violation = np.max(bounds[up], initial=-np.inf) - np.min(bounds[low], initial=np.inf)
    primal = half + float(cost @ np.maximum(0.0, 1 - y * (products + bias)))
    return Certificate(bias, primal, dual, (primal - dual) / primal, max(0.0, float(violation))), products


def _next(rows: Ints, alpha: Floats, margins: Floats) -> Ints:
    """Return the next working set, sorted: samples with α > 0, near the margin, or within it."""
    inside = np.zeros(len(alpha), dtype=np.bool_)
    inside[rows] = True
    keep = (alpha > 0) | (inside & (margins < ROOM))
    new = np.flatnonzero(~inside & (margins < 1))
    room = max(LARGEST_SET - int(np.count_nonzero(keep)), LARGEST_SET // 4)
    if len(new) > room:
        new = new[np.argpartition(margins[new], room)[:room]]
    keep[new] = True
    return np.flatnonzero(keep)


class LinearSVC(KernelExpansion, BinarySolver):
    r"""Support vector machine without a Gram matrix; same optimum as `CSVC`.

    `fit` takes an `Implicit` or another `KernelOperator`, or a matrix of features X, dense or sparse, with K = X Xᵀ.
    After an operator, `decision_function` takes one with the same tables, or kernel rows like `CSVC`; after a matrix,
    features.
    The weights are not kept: a model holds the support vectors.

    Attributes
    ----------
    support_ : ndarray of int64, shape (s,)
        The samples with α > 0. Fitted on a matrix of features: the features whose weight is not zero.
    dual_coef_ : ndarray of float64, shape (s,)
        α_i y_i of the support vectors; Σ α_i y_i = 0. Fitted on a matrix of features, there is none; on an operator
        other than an `Implicit`, coefficients β with nearly the same w as α.
    intercept_ : float
        b. It is not penalised.
    report_ : dict
        Besides the usual: ``gap``, the duality gap over the primal value, an upper bound of how far the primal value is
        above its minimum. ``residual`` and ``objective`` are as for `CSVC`; ``iterations`` are passes. On an operator
        other than an `Implicit`, ``products`` counts those with K, and ``residual`` is ‖w − Σ α_i y_i φ_i‖ / ‖w‖.

    Notes
    -----
    By dual coordinate descent (see `dual_coordinate`), or products with K (see `products.subspace`), it solves

    .. math:: \min_{w, b} ½ ‖w‖^2 + \sum_i C_i \max(0, 1 − y_i (w·φ_i + b))

    LIBLINEAR solves nearly the same problem, but penalises the bias and does not return α.

    Complexity: one pass takes time proportional to the non-zero features of all n samples, so that time and memory grow
    linearly with n; the number of passes depends on C and `tol`.

    References
    ----------
    Hsieh, Chang, Lin, Keerthi, Sundararajan: A dual coordinate descent method for large-scale linear SVM. ICML 2008.

    Examples
    --------
    Without a Gram matrix, from the feature vectors of a kernel that are never stored:

    >>> import numpy as np
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import LinearSVC
    >>> kernel = SpectrumKernel(k=2)
    >>> sequences = ["MKKLLA", "MKALLA", "GDEDGS", "GDDEGS", "MKLLAA", "SGDEDG"]
    >>> implicit = kernel.implicit(sequences)
    >>> train, test = np.arange(4), np.arange(4, 6)
    >>> solver = LinearSVC(C=10.0).fit(implicit.take(train), ["membrane", "membrane", "soluble", "soluble"])
    >>> solver.predict(implicit.take(test)).tolist()
    ['membrane', 'soluble']

    On features the columns that prediction needs are features:

    >>> X = np.array([[2.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [-2.0, 0.0]])
    >>> LinearSVC().fit(X, [1, 1, 0, 0]).support_.tolist()
    [0]
    """

    name = "linear_svc"
    summary = "Support vector machine without a Gram matrix, for many sequences: same solution as csvc."
    declared = Traits(
        sparse=True, operator=True, margin=1.0, search=SEARCH_COST_OF_MANY, effort=Effort(products=15.0, growth=0.2)
    )
    input: ClassVar[str] = "implicit"

    C: float = cost("C, the cost of a margin error.")
    class_weight: dict | str | None = class_weights()
    tol: float = positive(
        1e-3, "The fit has converged when the duality gap is at most this share of the primal objective."
    )
    max_epochs: int = count(1000, "Maximum number of passes, or products; partial passes count in proportion.")
    seed: int = random_seed("Seed of the order of the records.")

    tested_with = (
        {"tol": 1e-9, "max_epochs": 100_000},
        {"C": 0.3, "class_weight": "balanced", "tol": 1e-9, "max_epochs": 100_000},
    )

    def _fit(self, K: Any, y: Floats) -> dict[str, Any]:
        """Run dual coordinate descent, and keep nonzero coefficients."""
        cost = row_costs(self.C, self.class_weight, self.classes_, y)
        start = self._left("alpha")
        if start is not None and (start.shape != y.shape or np.any(start * y < 0)):
            start = None  # of other samples
        if isinstance(K, DeferredImplicit):
            return self._fit_in_parts(K, y, cost, start)
        if isinstance(K, KernelOperator) and not isinstance(K, Implicit):
            return fit_loss(self, K, Hinge(y, cost), self.tol, self.max_epochs)
        implicit = K if isinstance(K, Implicit) else SparseImplicit.of(K)
        descent = Descent(implicit, y, cost, self.seed, start=None if start is None else np.abs(start))
        certificate, epochs = descent.run(self.tol, self.max_epochs)
        alpha = descent.alpha * y
        self._warm = {"alpha": alpha}
        coefficients = alpha if isinstance(K, Implicit) else _without_rounding(descent.weights, alpha, K)
        self._keep(coefficients, certificate.bias)
        self._vectors = implicit.take(self.support_) if isinstance(K, Implicit) else None
        return self._certified(certificate, epochs)

    def _certified(self, certificate: Certificate, epochs: int) -> dict[str, Any]:
        """Return the report of a solution with its certificate."""
        return {
            "converged": bool(certificate.gap <= self.tol),
            "iterations": epochs,
            "residual": certificate.residual,
            "objective": -certificate.dual,
            "gap": certificate.gap,
        }

    def _fit_in_parts(self, records: DeferredImplicit, y: Floats, cost: Floats, start: Floats | None) -> dict[str, Any]:
        """Run descent on working sets, and keep nonzero coefficients."""
        start = None if start is None else np.abs(start)
        found = descend(records, y, cost, self.seed, self.tol, self.max_epochs, start)
        alpha = found.alpha * y
        self._warm = {"alpha": alpha}
        self._keep(alpha, found.certificate.bias)
        self._vectors = records.take(self.support_)
        report = self._certified(found.certificate, found.epochs)
        return {**report, "working_sets": found.rounds, "largest_set": found.largest}

    def _decide(self, K: Any, columns: Ints) -> Floats:
        """Return the decisions Σ coefficient_j K(x, z_j) + b.

        For feature vectors with the tables of training, this is w·φ(x) + b.
        """
        if is_sparse(K):
            coefficients = np.zeros(K.shape[1])
            coefficients[columns] = self.dual_coef_
            return K @ coefficients + self.intercept_
        return super()._decide(K, columns)


def _without_rounding(weights: Floats, alpha: Floats, K: Any) -> Floats:
    """Return the weights, or zeros if Σ α_i y_i x_i cancels, where only rounding errors would remain."""
    lost = EPSILON * np.abs(alpha).sum() * largest_value(K)
    return weights if np.abs(weights).max(initial=0.0) > lost else np.zeros_like(weights)
