"""Dual coordinate descent for the C-SVM with a bias that is not penalised, and its certificate.

The dual is: maximise D(α) = Σα − ½ ‖w‖², w = Σ α_i y_i φ_i, over 0 ≤ α_i ≤ C_i with Σ α_i y_i = 0. Descent on one α_i
at a time (Hsieh, Chang, Lin, Keerthi & Sundararajan, ICML 2008) cannot keep that sum at zero. So it minimises the
augmented Lagrangian −D(α) + b Σ α_i y_i + σ/2 (Σ α_i y_i)² instead, and after each pass b ← b + σ Σ α_i y_i (Hestenes
1969; Powell 1969). Seen from the primal this is the proximal point method for the bias (Rockafellar 1976): what
LIBLINEAR does with its penalised bias, but with the penalty moved along to where the bias is, so that it vanishes at
the end. One step costs one φ_i·w and one w += c·φ_i, whatever n.

Where Σ α_i y_i = 0, φ_i − m for any m gives the same w and D as φ_i. With m a mean of the φ_i the samples have much
less in common, and one α_i more of a say in its own f(x_i): of sequences that all have the same common k-mers, descent
takes a sixth of the passes. No φ_i − m is ever made: φ_i·m, a number for each sample, will do. Those cost about a pass;
where the samples have little in common, m = 0.

Samples that stay at a bound are left out of the passes, sooner than LIBLINEAR leaves them out (shrinking). They were
judged by the bias of that time: all come back once it has moved so far that one of them might have been misjudged.

The certificate is computed for all samples and leaves nothing out. First α is made feasible: a few α_i, those that
cost the dual least, are moved until Σ α_i y_i = 0, and w with them. Then one φ_i·w for each sample gives the primal
value P of w with its best bias, which is a weighted median, and D(α). As the α is feasible and the w and b are those
that are returned, P − D bounds how far both are from the optimum, without any estimate, up to rounding: P and D are
sums of terms that cancel, so that of a cost, or a K(x, x), of about a million the gap may be off by per cents. If P − D
is too much, descent goes on from the α, w and b before: from the feasible α with the best bias, which take no account
of the multiplier, it could come back to the same place again and again.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqkern.core.progress import progress_counter
from seqkern.kernels.implicit import Implicit
from seqkern.solvers.products.best_bias import best_bias
from seqkern.solvers.svm import _dual_coordinate

SIGMA = 0.1
"""σ in units of the median ‖φ − m‖²: larger, and steps are short; smaller, and the bias lags behind."""

MEAN_OF = 2000
"""Number of samples, about, of which m is the mean."""

MUCH = 0.25
"""m = 0 if m·m is below this multiple of the mean K(x, x): it would then save less than it costs."""

LATE = 0.5, 1.2
"""What a pass finds of the gap at its samples, before it moves them, is so many times the gap after it: at least, at
most. It is less than the gap where samples were left out that should not have been."""

SHRINK = 0.2
"""A sample at a bound leaves when its gradient exceeds this multiple of the largest projected gradient of the last
pass."""

FEW = 1000
"""This many samples are usually enough to make α feasible."""

AGAIN = 10
"""After this many passes a certificate is computed in any case, because it restores samples left out too early."""


@dataclass(frozen=True)
class Certificate:
    """How good a solution is.

    Attributes
    ----------
    bias : float
        The best one for w: the middle of all that are equally good.
    primal, dual : float
        P and D.
    gap : float
        (P − D) / P.
    residual : float
        The largest violation of the optimality conditions by a pair of samples, LIBSVM's m(α) − M(α).

    Examples
    --------
    >>> from seqkern.solvers.svm.dual_coordinate import Certificate
    >>> Certificate(bias=0.0, primal=2.0, dual=1.999, gap=0.0005, residual=0.01).gap < 1e-3
    True
    """

    bias: float
    primal: float
    dual: float
    gap: float
    residual: float


class Descent:
    """One optimisation.

    Parameters
    ----------
    implicit : Implicit, n samples
    y : ndarray of float64, shape (n,)
        −1 and 1.
    cost : ndarray of float64, shape (n,)
        C of each sample.
    seed : int
        Of the order of the samples.
    shrinking : bool
        Whether samples at a bound are left out.
    start : ndarray of float64, shape (n,), optional
        α to begin with, of another C.

    Attributes
    ----------
    alpha : ndarray of float64, shape (n,)
    weights : ndarray of float64, shape (n_weights,)
        w.
    bias : float
        b for the vectors φ − m.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.kernels.implicit import SparseImplicit
    >>> from seqkern.solvers.svm.dual_coordinate import Descent
    >>> implicit = SparseImplicit.of(np.array([[3.0], [1.0], [-1.0], [-3.0]]))
    >>> descent = Descent(implicit, np.array([1.0, 1.0, -1.0, -1.0]), np.full(4, 10.0), seed=1)
    >>> certificate, epochs = descent.run(tol=1e-9, max_epochs=1000)
    >>> certificate.gap <= 1e-9, descent.alpha.round(3).tolist()
    (True, [0.0, 0.5, 0.5, 0.0])
    """

    def __init__(
        self,
        implicit: Implicit,
        y: npt.NDArray[np.float64],
        cost: npt.NDArray[np.float64],
        seed: int,
        shrinking: bool = True,
        start: npt.NDArray[np.float64] | None = None,
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

    def _begin(self, start: npt.NDArray[np.float64]) -> None:
        """Begin with the multiple of `start` that has the largest dual value, and its best bias."""
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
        """Return w·m: the bias for φ is that for φ − m less this."""
        return float(np.sum(self.alpha * self.y * self.means))

    def _open(self) -> None:
        """Take all samples into the passes again."""
        self.active = len(self.y)
        self.upper, self.lower = np.inf, -np.inf
        self.least_bias, self.most_bias = -np.inf, np.inf

    def run(self, tol: float, max_epochs: int) -> tuple[Certificate, int]:
        """Descend until the certificate's gap is at most `tol`, or for `max_epochs` passes over as many samples as all.

        Parameters
        ----------
        tol : float
            > 0, a share of the primal value.
        max_epochs : int
            At least 1.

        Returns
        -------
        certificate : Certificate
            Of the α and w that are left in `alpha` and `weights`.
        epochs : int
            How many such passes it took.
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
        """Descend once on each active sample, and move the bias; return the sum of the gaps found on the way."""
        _dual_coordinate.shuffle(self.order, self.active, self.generator)
        excess = float(self.y @ self.alpha)
        self.sums[0], self.sums[3], self.sums[4] = self.bias + self.sigma * excess, excess, self._along_mean()
        self.active, gap = _dual_coordinate.epoch(
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
        """Set the gradients beyond which a sample at a bound leaves, by the largest and least projected gradient.

        The bias may then move by as much before the gradient of such a sample could change its sign.
        """
        if self.shrinking:
            self.upper = SHRINK * largest if largest > 0 else np.inf
            self.lower = SHRINK * least if least < 0 else -np.inf
            room = min(self.upper, -self.lower)
            self.least_bias = max(self.least_bias, self.bias - room)
            self.most_bias = min(self.most_bias, self.bias + room)

    def certify(self) -> tuple[Certificate, tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]]:
        """Make α feasible, and return its Certificate and what takes that back: the arguments of `_resume`.

        Returns
        -------
        certificate : Certificate
            Of the feasible α.
        repair : tuple of ndarray
            The samples whose α moved, and their α until then.
        """
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

    def _make_feasible(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Move α until Σ α_i y_i = 0, first where the gradient says that the dual loses least.

        Returns
        -------
        rows : ndarray of int64, shape (r,)
            The samples whose α moved.
        before : ndarray of float64, shape (r,)
            Their α until then.
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

    def _move(self, rows: npt.NDArray[np.int64], alpha: npt.NDArray[np.float64]) -> None:
        """Set α of some samples, and w with it."""
        change = alpha - self.alpha[rows]
        self.alpha[rows] = alpha
        self.implicit.take(rows).add(self.weights, self.y[rows] * change)

    def _resume(self, rows: npt.NDArray[np.int64], before: npt.NDArray[np.float64]) -> None:
        """Take back what made α feasible, and take up all samples that could still move."""
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


def _means(implicit: Implicit) -> tuple[npt.NDArray[np.float64], float]:
    """Return φ_i·m of each sample, float64 (n,), and m·m, for m the mean of samples evenly spread over all, or zero."""
    some = implicit.take(np.arange(0, len(implicit), -(-len(implicit) // MEAN_OF)))
    weights = implicit.zeros()
    some.add(weights, np.full(len(some), 1.0 / len(some)))
    mean = float(np.mean(some.dots(weights)))
    if mean < MUCH * float(np.mean(some.squares)):
        return np.zeros(len(implicit)), 0.0
    return implicit.dots(weights), mean
