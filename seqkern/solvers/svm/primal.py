"""Linear classification of very many samples in the primal, with squared hinge loss or least squares."""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve

from seqkern.core.errors import GramError
from seqkern.core.matrices import is_sparse
from seqkern.core.parameters import choice, count, positive
from seqkern.core.threads import one_thread
from seqkern.core.types import Floats, Ints
from seqkern.kernels.features import FeatureBlocks
from seqkern.kernels.kernel_operator import KernelOperator, Table
from seqkern.solvers.capabilities import SEARCH_COST, Effort, Traits, Variances
from seqkern.solvers.contract import count_rows
from seqkern.solvers.products.losses import Logistic, Loss, Squared, SquaredHinge
from seqkern.solvers.products.subspace import fit_on_products
from seqkern.solvers.shared import (
    FeatureWeights,
    class_weights,
    cost,
    factors_of_codes,
    operator_sums,
    take_rows,
    weighted_sums,
)

# Products with the rows of a feature matrix (dense, sparse or in blocks) in single passes.
#
# Dense rows are visited a few hundred at a time, so that rows just multiplied with weights are still in the cache when
# they are summed. Products are computed in the precision of the features, their sums over blocks in float64 and in row
# order.

CUT = 512  # Rows multiplied and summed together

TOGETHER = 4 * CUT  # Rows of one product Xᵀ X, and of a block that is computed anew

Coefficients = Callable[[Any, slice], Floats]
"""Function from the dots of some rows, (k, rows), and the slice of these rows to their coefficients, (k, rows)."""

SAMPLED = 8  # Rows for each feature that suffice to estimate the sum of x_i x_iᵀ


class Rows:
    """The feature vectors x_i of n samples, with a constant feature of 1 appended; `shape` is (n, d + 1)."""

    def __init__(self, X: Any) -> None:
        self.X = X
        self.sparse = is_sparse(X)
        self.shape = (X.shape[0], X.shape[1] + 1)

    def _blocks(self, size: int) -> Iterator[tuple[slice, Any]]:
        """Yield (slice, rows) in order, `size` rows at a time; sparse rows all at once."""
        if self.sparse:
            yield slice(0, self.shape[0]), self.X
        elif isinstance(self.X, FeatureBlocks):
            for span, block in self.X.blocks(TOGETHER):
                for start in range(0, len(block), size):
                    part = block[start : start + size]
                    yield slice(span.start + start, span.start + start + len(part)), part
        else:
            for start in range(0, self.shape[0], size):
                part = self.X[start : start + size]
                yield slice(start, start + len(part)), part

    def dots(self, weights: Floats) -> Floats:
        """Return the products x_i·w of all rows, (k, n), with one w in each row of `weights`."""
        return self._pass(weights, None)[0]

    def sums(self, coefficients: Floats) -> Floats:
        """Return the sums Σ_i c_i x_i, (k, d + 1), with the c_i of one sum in each row of `coefficients`."""
        sums = self._pass(None, lambda _, span: coefficients[:, span])[1]
        self._check_finite(sums)
        return sums

    def both(self, weights: Floats, factors: Floats) -> tuple[Floats, Floats]:
        """Return the products x_i·w, (k, n), and Σ_i f_i (x_i·w) x_i, (k, d + 1), in one pass."""
        return self._pass(weights, lambda dots, span: factors[:, span] * dots)

    def _pass(self, weights: Floats | None, weigh: Coefficients | None) -> tuple[Any, Any]:
        """Return the products with `weights`, and the sums with the coefficients ``weigh(dots, rows)``."""
        dots: Any = None
        sums: Any = None
        for span, block in self._blocks(CUT):
            part = None
            if weights is not None:
                if dots is None:
                    dots = np.empty((len(weights), self.shape[0]))
                    factor, constant = weights[:, :-1].astype(block.dtype), weights[:, -1:]
                part = dots[:, span]
                part[:] = _times(block, factor)
                part += constant
            if weigh is not None:
                coefficients = weigh(part, span)
                if sums is None:
                    sums = np.zeros((len(coefficients), self.shape[1]))
                sums[:, :-1] += _summed(block, coefficients.astype(block.dtype))
                sums[:, -1] += coefficients.sum(axis=1)
        return dots, sums

    def second_moments(self) -> Floats:
        """Return the second moments Σ_i x_i x_iᵀ, approximate for many rows, float64 (d + 1, d + 1).

        Of many rows only every second, third, … is used, at least `SAMPLED` for each feature.
        """
        n, d = self.shape
        step = max(1, n // (SAMPLED * d))
        rows = self if step == 1 else Rows(take_rows(self.X, slice(0, n, step)))
        out = np.zeros((d, d))
        for _, block in rows._blocks(TOGETHER):
            if self.sparse:
                out[:-1, :-1] = (block.T @ block).toarray()
                out[-1, :-1] = np.asarray(block.sum(axis=0)).reshape(-1)
            else:
                with np.errstate(over="ignore", invalid="ignore"):  # who uses it looks
                    out[:-1, :-1] += block.T @ block
                out[-1, :-1] += block.sum(axis=0, dtype=np.float64)
        out[:-1, -1] = out[-1, :-1]
        out[-1, -1] = rows.shape[0]
        return out if step == 1 else out * (n / rows.shape[0])

    def squares(self) -> Floats:
        """Return the squared sum Σ_i x_ij² of each feature, float64 (d + 1,)."""
        out = np.zeros(self.shape[1])
        for _, block in self._blocks(CUT):
            part = block.power(2).sum(axis=0) if self.sparse else np.einsum("ij,ij->j", block, block)
            out[:-1] += np.asarray(part, dtype=np.float64).reshape(-1)
        out[-1] = self.shape[0]
        return out

    def lengths(self) -> Floats:
        """Return the squared length Σ_j x_ij² of each row without the constant feature, float64 (n,)."""
        out = np.zeros(self.shape[0])
        for span, block in self._blocks(CUT):
            part = block.power(2).sum(axis=1) if self.sparse else np.einsum("ij,ij->i", block, block)
            out[span] = np.asarray(part, dtype=np.float64).reshape(-1)
        return out

    def _check_finite(self, sums: Floats) -> None:
        """Raise GramError if sums over all rows are not finite, naming the row at fault if there is one."""
        if np.isfinite(sums).all():
            return
        for span, block in self._blocks(CUT):
            good = np.isfinite(block.toarray() if self.sparse else block).all(axis=1)
            if not good.all():
                place = f"row {span.start + np.argmin(good)} of the features contains NaN or inf"
                raise GramError(place, remedy="correct the kernel's parameters or leave the record out")
        raise GramError("sums of features are too large", remedy="scale the features, or normalise the kernel")


def _times(block: Any, weights: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.floating[Any]]:
    """Return the products of the rows with each of `weights`, (k, rows)."""
    if is_sparse(block):
        return (block @ weights.T).T
    # one matrix-vector product each: BLAS is slow with matrices of a few columns
    return np.stack([block @ one for one in weights])


def _summed(block: Any, coefficients: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.floating[Any]]:
    """Return the weighted sums of the rows for each of `coefficients`, (k, d)."""
    if is_sparse(block):
        return (block.T @ coefficients.T).T
    return np.stack([one @ block for one in coefficients])


# Preconditioners of the primal classifiers: approximations of the Hessian that are easy to solve.

MOST_SQUARE = 8192  # Maximum number of features for the matrix of their products, because of memory

WORTH = 6000  # Maximum number of (fast) operations of a Cholesky factor for each entry of the rows

SHARES = 4  # Number of factors for values of κ between one and its double

SMALL = 1e-9  # Diagonal of the bias; also the share of the mean diagonal first added to an indefinite matrix

TRIES = 20  # Maximum number of times that ten times as much is added to the diagonal


def make_conditioner(rows: Rows) -> "FullConditioner | DiagonalConditioner":
    """Return the preconditioner for some Rows: with the products of all features, or only their squares."""
    d = rows.shape[1]
    entries = rows.X.nnz if rows.sparse else rows.shape[0] * d
    full = d <= MOST_SQUARE and d**3 <= WORTH * entries
    return FullConditioner(rows) if full else DiagonalConditioner(rows)


class FullConditioner:
    """The preconditioner J + 2κ Σ_i x_i x_iᵀ by its Cholesky factor, with a sum over a sample of many rows.

    κ is rounded, so that classifiers with similar numbers of active rows share a factor, also from one step to the
    next.
    """

    def __init__(self, rows: Rows) -> None:
        self.moments = rows.second_moments()
        self._factors: dict[int, Any] = {}

    def prepare(self, kappas: Floats) -> list[Any]:
        """Return a Cholesky factor for each κ, and drop factors that are no longer needed."""
        places = np.round(SHARES * np.log2(np.maximum(kappas, np.finfo(np.float64).tiny))).astype(int).tolist()
        self._factors = {place: self._factors[place] for place in places if place in self._factors}
        for place in set(places) - set(self._factors):
            self._factors[place] = self._factor(2.0 ** (place / SHARES))
        return [self._factors[place] for place in places]

    def solve(self, errors: Floats, prepared: list[Any]) -> Floats:
        """Return the solutions, (k, d + 1), for the right-hand side of each classifier."""
        pairs = zip(prepared, errors, strict=True)
        return np.stack([cho_solve(factor, one, check_finite=False) for factor, one in pairs])

    def release(self) -> None:
        """Drop the factors, keeping the matrix for other costs."""
        self._factors = {}

    def _factor(self, kappa: float) -> Any:
        """Return the Cholesky factor, with a larger diagonal where rounding made the matrix indefinite."""
        diagonal = np.ones(len(self.moments))
        diagonal[-1] = SMALL
        more = SMALL * 2 * kappa * np.trace(self.moments) / len(self.moments)
        for _ in range(TRIES if np.isfinite(self.moments).all() else 0):
            matrix = 2 * kappa * self.moments
            matrix[np.diag_indices_from(matrix)] += diagonal
            try:
                return cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
            except np.linalg.LinAlgError:
                diagonal = diagonal + more
                more *= 10
        raise GramError("products of features are too large", remedy="scale the features, or normalise the kernel")


class DiagonalConditioner:
    """The diagonal preconditioner, for too many features to hold all their products."""

    def __init__(self, rows: Rows) -> None:
        self.squares = rows.squares()

    def prepare(self, kappas: Floats) -> list[Any]:
        """Return the diagonal for each κ, shape (d + 1,)."""
        ones = np.ones(len(self.squares))
        ones[-1] = SMALL
        return [ones + 2 * kappa * self.squares for kappa in kappas]

    def solve(self, errors: Floats, prepared: list[Any]) -> Floats:
        """Return the solutions, (k, d + 1), for the right-hand side of each classifier."""
        return errors / np.stack(prepared)

    def release(self) -> None:
        """Do nothing, because there are no factors."""


# Exact line search for a piecewise quadratic function.

MOST_TRIES = 100
ENOUGH = 1e-12  # Slope of a good enough step, as a share of the slope at zero or of the terms that it sums


def best_step(
    slope: float, curvature: float, margins: Floats, changes: Floats, costs: Floats, squared: bool, *, start: float
) -> float:
    """Return the t minimising slope·t + ½ curvature·t² + Σ_i costs[i]·max(0, margins[i] − t·changes[i])².

    It applies Newton's method to the derivative, which is increasing and piecewise linear, within brackets. `squared`
    omits the maximum.
    """
    low, high = -np.inf, np.inf
    t = start
    for _ in range(MOST_TRIES):
        slack = margins - t * changes
        weighted = costs * changes
        if not squared:
            weighted[slack <= 0] = 0.0
        own, others = slope + curvature * t, 2 * float(weighted @ slack)
        derivative = own - others
        second = curvature + 2 * float(weighted @ changes)
        if abs(derivative) <= ENOUGH * (abs(own) + abs(others) + 2 * np.abs(weighted) @ np.abs(slack)):
            break
        low, high = (t, high) if derivative < 0 else (low, t)
        following = t - derivative / second if second > 0 else np.inf
        if not low < following < high:
            following = 0.5 * (low + high) if np.isfinite(low + high) else 2 * t + 1 if high == np.inf else 2 * t - 1
        if following == t:
            break
        t = following
    return float(t)


# Linear classifiers on features, trained in the primal by Newton's method with conjugate gradients.
#
# Each classifier minimises ½‖w‖² + Σ_i c_i ξ_i², with ξ_i = max(0, 1 − s_i (w·x_i + b)), or without the maximum. Only
# the rows with ξ_i > 0 contribute to the Hessian J + 2 Σ c_i x_i x_iᵀ (x_i with a 1 appended, J the identity except for
# the unpenalised bias); the function is quadratic where they stay the same (Keerthi & DeCoste 2005, Chapelle 2007). A
# Newton step solves for the Hessian by conjugate gradients, with one pass over the rows per product for all classifiers
# at once. Few products are needed thanks to the preconditioner J + 2 κ Σ x_i x_iᵀ, κ the mean of the c_i of those rows:
# its matrix, from a sample of many rows, serves all classifiers, steps and costs.
#
# The duality gap bounds how far the value is above its minimum: with α_i = 2 c_i ξ_i, and b optimal for the given w, so
# that Σ α_i s_i = 0, it is ½‖w − Σ α_i s_i x_i‖², half the squared gradient.

SOLVED = 0.1  # Share of the error that conjugate gradients leave in a Newton step, as the next step starts anew

SOLVED_WHOLLY = 1e-4
"""Share of the error left where one step leads to the minimum, as all rows are active for any weights."""

MOST_PRODUCTS = 250  # Maximum number of products with the Hessian per Newton step


class DualityGap(NamedTuple):
    """The optimality of each classifier, arrays (k,).

    `gap` is a share of the primal value `objective`; `residual` is ‖w − Σ α_i s_i x_i‖ as a share of the larger norm.
    """

    # shape (k,): Primal value; duality gap as a share of it; ‖w − Σ α_i s_i x_i‖ as a share of the larger norm
    objective: Floats
    # shape (k,): Primal value; duality gap as a share of it; ‖w − Σ α_i s_i x_i‖ as a share of the larger norm
    gap: Floats
    # shape (k,): Primal value; duality gap as a share of it; ‖w − Σ α_i s_i x_i‖ as a share of the larger norm
    residual: Floats


class PrimalClassifiers:
    """Several classifiers trained on the same rows.

    `signs` and `costs` (k, n) are s_i and c_i of each classifier; if `squared`, errors beyond the margin also cost
    their square (least squares). The last column of `weights` (k, d + 1) is the bias.
    """

    def __init__(
        self,
        rows: Rows,
        conditioner: FullConditioner | DiagonalConditioner,
        signs: Floats,
        costs: Floats,
        *,
        squared: bool,
        start: Floats | None = None,
    ) -> None:
        self.rows = rows
        self.conditioner = conditioner
        self.signs = signs
        self.costs = costs
        self.squared = squared
        self.weights = np.zeros((len(signs), rows.shape[1])) if start is None else start.copy()
        self.outputs = np.zeros(signs.shape) if start is None else rows.dots(start)

    def run(self, tol: float, max_iter: int) -> tuple[DualityGap, int]:
        """Take Newton steps until the duality gap is at most `tol`; return (DualityGap, most steps of a classifier).

        Rounding may leave a gap larger than a very small `tol`: the steps end when they no longer lower the value.
        """
        every = np.arange(len(self.signs))
        objective, gap, residual = np.empty((3, len(every)))
        gradient, active = np.empty(self.weights.shape), np.empty(self.signs.shape)
        open_, last = every, np.full(len(every), np.inf)
        step = 0
        while True:
            self._set_bias(open_)
            gradient[open_], active[open_], *told = self._look(open_)
            objective[open_], gap[open_], residual[open_] = told
            # where the values are small, w = 0 is near enough, but tells no samples apart
            blank = ~np.any(self.weights[:, :-1], axis=1) & (step == 0)
            sinking = ((gap > tol) | blank) & (objective < last)
            open_, last = every[sinking], np.where(sinking, objective, last)
            if not len(open_) or step == max_iter:
                return DualityGap(objective, gap, residual), step
            self._step(open_, gradient[open_], active[open_])
            step += 1

    def _slacks(self, m: int) -> Floats:
        """Return the slacks ξ of classifier `m`, shape (n,)."""
        slack = 1 - self.signs[m] * self.outputs[m]
        return slack if self.squared else np.maximum(slack, 0, out=slack)

    def _set_bias(self, classifiers: Ints) -> None:
        """Set the optimal bias of some classifiers for their w."""
        for m in classifiers:
            change = best_step(0.0, 0.0, self._margins(m), self.signs[m], self.costs[m], self.squared, start=0.0)
            self.weights[m, -1] += change
            self.outputs[m] += change

    def _margins(self, m: int) -> Floats:
        """Return the margins 1 − s f of classifier `m`, shape (n,)."""
        return 1 - self.signs[m] * self.outputs[m]

    def _look(self, classifiers: Ints) -> tuple[Floats, ...]:
        """Return gradients, costs of the active rows, values, gaps and residuals of some classifiers."""
        slacks = np.stack([self._slacks(m) for m in classifiers])
        costs, w = self.costs[classifiers], self.weights[classifiers, :-1]
        alpha = 2 * costs * slacks * self.signs[classifiers]
        sums = self.rows.sums(alpha)
        gradient = -sums
        gradient[:, :-1] += w
        objective = 0.5 * _dots(w, w) + _dots(costs, slacks**2)
        error = _dots(gradient[:, :-1], gradient[:, :-1])
        size = np.maximum(_dots(w, w), _dots(sums[:, :-1], sums[:, :-1]))
        gap = np.divide(0.5 * error, objective, out=np.zeros(len(error)), where=objective > 0)
        residual = np.sqrt(np.divide(error, size, out=np.zeros(len(error)), where=size > 0))
        active = costs if self.squared else np.where(slacks > 0, costs, 0.0)
        return gradient, active, objective, gap, residual

    def _step(self, classifiers: Ints, gradient: Floats, active: Floats) -> None:
        """Compute the Newton step of some classifiers, and follow it as far as the value decreases."""
        step, change = self._solve(gradient, active)
        for place, m in enumerate(classifiers):
            w, direction = self.weights[m, :-1], step[place, :-1]
            slope = self.signs[m] * change[place]
            along, curvature = float(w @ direction), float(direction @ direction)
            length = best_step(along, curvature, self._margins(m), slope, self.costs[m], self.squared, start=1.0)
            self.weights[m] += length * step[place]
            self.outputs[m] += length * change[place]

    def _solve(self, gradient: Floats, active: Floats) -> tuple[Floats, Floats]:
        """Return an approximate −H⁻¹ gradient, (k, d + 1), and its change of the outputs, (k, n)."""
        prepared = self.conditioner.prepare(active.mean(axis=1))
        step, change = np.zeros(gradient.shape), np.zeros(active.shape)
        errors = -gradient
        directions = self.conditioner.solve(errors, prepared)
        sizes = _dots(errors, directions)
        enough = (SOLVED_WHOLLY if self.squared else SOLVED) ** 2 * sizes
        open_ = np.flatnonzero(sizes > 0)
        for _ in range(MOST_PRODUCTS):
            if not len(open_):
                break
            p = directions[open_]
            dots, products = self.rows.both(p, 2 * active[open_])
            products[:, :-1] += p[:, :-1]
            lengths = sizes[open_] / _dots(p, products)
            step[open_] += lengths[:, None] * p
            change[open_] += lengths[:, None] * dots
            errors[open_] -= lengths[:, None] * products
            solved = self.conditioner.solve(errors[open_], [prepared[place] for place in open_])
            new = _dots(errors[open_], solved)
            directions[open_] = solved + (new / sizes[open_])[:, None] * p
            sizes[open_] = new
            open_ = open_[new > enough[open_]]
        return step, change


def _dots(a: Floats, b: Floats) -> Floats:
    """Return the scalar product of each pair of rows."""
    return np.einsum("ij,ij->i", a, b)


# The operator for products with X Xᵀ, for features stored or computed in blocks.


class FeatureOperator(KernelOperator):
    """The matrix X Xᵀ as an operator; a table has one weight for each feature."""

    def __init__(self, rows: "Rows", chosen: Ints | None = None) -> None:
        self.rows, self.chosen = rows, chosen
        self.squares = rows.lengths() if chosen is None else rows.lengths()[chosen]
        self.n_weights, self.tables, self.counts = rows.shape[1] - 1, rows, {}

    def take(self, rows: npt.ArrayLike) -> "FeatureOperator":
        """Return the operator of some rows; see `KernelOperator.take`."""
        chosen = np.asarray(rows, dtype=np.int64)
        return FeatureOperator(self.rows, chosen if self.chosen is None else self.chosen[chosen])

    def collect(self, coefficients: npt.ArrayLike) -> Floats:
        """Return the weights Xᵀ·coefficients."""
        values: Floats = np.asarray(coefficients, dtype=np.float64)
        if self.chosen is not None:
            every = np.zeros(self.rows.shape[0])
            every[self.chosen] = values
            values = every
        return self.rows.sums(values[None])[0, :-1]

    def dots(self, weights: Table, out: Floats | None = None, rows: Ints | None = None) -> Floats:
        """Return the products X·weights."""
        values = self.rows.dots(np.append(weights, 0.0)[None])[0]
        values = values if self.chosen is None else values[self.chosen]
        return np.multiply(values if rows is None else values[rows], 1.0, out=out)


PRODUCTS = 10  # Products with a kernel matrix that count as one Newton step

LOSSES: dict[str, Callable[[Floats, Floats], Loss]] = {
    "squared_hinge": SquaredHinge,
    "squared": Squared,
    "logistic": Logistic,
}


class PrimalSVC(FeatureWeights):
    r"""Support vector machine with squared errors, trained in the primal on features.

    With several classes there is one classifier for each against the rest; all are trained at once, on the same passes
    over the samples. Features that do not fit into memory can be recomputed on each pass.

    Attributes
    ----------
    support_ : ndarray of int64, shape (s,)
        The features whose weight is not zero in every classifier; on an operator, such training samples.
    coef_ : ndarray of float64, shape (1, s) for two classes, else (classes, s)
        Their weights; on an operator the coefficients β of the samples, also in `dual_coef_`.
    intercept_ : ndarray of float64, shape (1,) or (classes,)
        b of each classifier. It is not penalised.
    report_ : dict
        Besides the usual: ``gap``, the largest duality gap of a classifier as a share of its primal value, an upper
        bound of how far that is above its minimum. ``residual`` is the largest ‖w − Σ α_i y_i φ_i‖ / ‖w‖, α_i = 2 C c_i
        ξ_i; ``objective`` the sum of the primal values, ``iterations`` the most Newton steps of a classifier. On an
        operator ``products`` counts the products with K, and ``iterations`` the most of a classifier.

    Notes
    -----
    By Newton's method (see `primal_newton`), with ξ_i = max(0, 1 − y_i (w·φ_i + b)), or without the maximum (least
    squares), it solves

    .. math:: \min_{w, b} ½ ‖w‖^2 + C \sum_i c_i ξ_i^2

    With logistic loss, ξ_i² is replaced by ln(1 + exp(−y_i f(x_i))); `probabilities` then converts decisions, without
    calibration. With class weights the probabilities are those for classes weighted so.

    `fit` takes a matrix, dense or sparse, or FeatureBlocks: float32 features are multiplied in float32 and summed in
    float64, in a fixed order. Memory besides the features: for up to 8,191 features d about four d × d matrices, and
    nine numbers for each sample and class. `fit_after` starts from the weights for another C; one matrix is kept
    between such fits.

    On a KernelOperator, w·φ(x) = Σ_i β_i K(x, x_i); K is never stored. Each product with K adds a direction to a space
    in which the problem is solved exactly (see `subspace`), for all classes, and with `fit_after` for all C. Memory:
    two numbers for each sample and product, at most 1 GiB.

    Complexity: O(n·d) per pass for n samples with d features, several passes per Newton step, and O(d³) for the
    preconditioner.

    References
    ----------
    Keerthi, DeCoste: A modified finite Newton method for fast solution of large scale linear SVMs. Journal of Machine
    Learning Research 6, 2005.

    Keerthi, Duan, Shevade, Poo: A fast dual algorithm for kernel logistic regression. Machine Learning 61, 2005.

    Chapelle: Training a support vector machine in the primal. Neural Computation 19, 2007.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import PrimalSVC
    >>> kernel = SpectrumKernel(k=1)
    >>> X = kernel.features(["MKKLLA", "MKALLA", "GDEDGS", "GDDEGS", "NQNNQT", "QNTNNQ"])
    >>> solver = PrimalSVC(C=10.0).fit(X.toarray(), ["membrane"] * 2 + ["acidic"] * 2 + ["polar"] * 2)
    >>> solver.coef_.shape, solver.predict(kernel.features(["MKLLAA", "TQNNQN"]).toarray()).tolist()
    ((3, 11), ['membrane', 'polar'])
    """

    name = "primal_svc"
    summary = "Support vector machine with squared errors on features, for hundreds of thousands of records."
    declared = Traits(
        sparse=True,
        blocks=True,
        operator=True,
        tables=True,
        selects=False,
        search=SEARCH_COST,
        effort=Effort(products=500.0, growth=0.5),
    )
    input: ClassVar[str] = "features"

    C: float = cost("C, the cost of a squared error.")
    loss: Literal["squared_hinge", "squared", "logistic"] = choice(
        default="squared_hinge",
        doc="``squared_hinge``: records beyond their margin cost nothing; ``squared``: their squared distance from it; "
        "``logistic``: ln(1 + exp(−y f)), whose decisions are log odds.",
    )
    class_weight: dict | str | None = class_weights()
    tol: float = positive(
        1e-4, "The fit has converged when the duality gap is at most this share of the primal objective."
    )
    max_iter: int = count(
        100,
        "Maximum number of Newton steps; with logistic loss, products. On an operator ten products count as one.",
    )

    tested_with = (
        {"tol": 1e-9},
        {"C": 0.3, "loss": "squared", "tol": 1e-9},
        {"class_weight": "balanced", "tol": 1e-9},
        {"loss": "logistic", "tol": 1e-9},
    )

    @property
    def traits(self) -> Traits:
        """Traits of the class; only with the hinge loss samples beyond the margin have no influence."""
        return self.declared.but(margin=1.0 if self.loss == "squared_hinge" else None)

    def _fit(self, K: Any, y: Ints) -> dict[str, Any]:
        """Train the classifiers of all classes."""
        own = np.arange(len(self.classes_)) if len(self.classes_) > 2 else np.array([1])
        signs = np.where(y == own[:, None], 1.0, -1.0)
        costs = self.C * factors_of_codes(self.class_weight, self.classes_, y)[y]
        if isinstance(K, KernelOperator):
            return self._fit_products(K, signs, costs)
        rows = Rows(K)
        if self.loss == "logistic":
            return self._fit_rows(FeatureOperator(rows), signs, costs)
        with one_thread():
            start, conditioner = self._left("weights"), self._left("conditioner")
            if start is None or start.shape != (len(own), rows.shape[1]):
                start = conditioner = None
            if conditioner is None:
                conditioner = make_conditioner(rows)
            classifiers = PrimalClassifiers(
                rows,
                conditioner,
                signs,
                np.broadcast_to(costs, signs.shape),
                squared=self.loss == "squared",
                start=start,
            )
            certificate, steps = classifiers.run(self.tol, self.max_iter)
        conditioner.release()
        self._warm = {"weights": classifiers.weights}
        if hasattr(self, "_before"):  # another fit may come after this one
            self._warm |= {"conditioner": conditioner}
        weights = classifiers.weights[:, :-1]
        self.support_ = np.flatnonzero(np.any(weights != 0, axis=0)).astype(np.int64)
        self.coef_ = np.ascontiguousarray(weights[:, self.support_])
        self.intercept_ = classifiers.weights[:, -1].copy()
        return {
            "converged": bool(certificate.gap.max() <= self.tol),
            "iterations": steps,
            "residual": float(certificate.residual.max()),
            "objective": float(certificate.objective.sum()),
            "gap": float(certificate.gap.max()),
        }

    def _fit_products(self, K: KernelOperator, signs: Floats, costs: Floats) -> dict[str, Any]:
        """Train the classifiers of all classes on products with K."""
        losses = [LOSSES[self.loss](one, costs) for one in signs]
        most = self.max_iter if isinstance(K, FeatureOperator) else PRODUCTS * self.max_iter
        found, report = fit_on_products(self, K, losses, self.tol, most)
        self.coef_ = np.ascontiguousarray(np.stack([one.coefficients for one in found])[:, self.support_])
        self.intercept_ = np.array([one.bias for one in found])
        return report

    def _fit_rows(self, K: FeatureOperator, signs: Floats, costs: Floats) -> dict[str, Any]:
        """Train the classifiers of all classes on products with X Xᵀ, and set the weights of the features."""
        report = self._fit_products(K, signs, costs)
        weights = np.stack([self._vectors.weights(one) for one in self.coef_])
        self._vectors = None
        self.support_ = np.flatnonzero(np.any(weights != 0, axis=0)).astype(np.int64)
        self.coef_ = np.ascontiguousarray(weights[:, self.support_])
        return report

    def probabilities(self, decisions: Floats, variances: Variances | None = None) -> Floats | None:
        """Return the probabilities of the classes with logistic loss; None with another, whose decisions give none."""
        if self.loss != "logistic":
            return None
        own = np.exp(-np.logaddexp(0, -decisions))
        return np.stack([1 - own, own], axis=1) if own.ndim == 1 else own / own.sum(axis=1, keepdims=True)

    def _decide(self, K: Any, columns: Ints) -> Floats:
        """Return the decisions w·φ + b of each classifier, (m, classes), or (m,) for two classes."""
        if isinstance(K, KernelOperator):
            out = np.stack([operator_sums(self, K, one) for one in self.coef_], axis=1) + self.intercept_
        elif isinstance(K, FeatureBlocks) or is_sparse(K):
            weights = np.zeros((K.shape[1], len(self.coef_)))
            weights[columns] = self.coef_.T
            out = (K @ weights if is_sparse(K) else K.times(weights)) + self.intercept_
        else:
            out = np.empty((count_rows(K), len(self.coef_)))
            for m, (one, constant) in enumerate(zip(self.coef_, self.intercept_, strict=True)):
                out[:, m] = weighted_sums(K, columns, one, constant)
        return out if len(self.coef_) > 1 else out[:, 0]

    @property
    def dual_coef_(self) -> Floats:
        """The coefficients: on an operator β of the support vectors, (s,) for two classes, else (classes, s)."""
        return self.coef_ if len(self.coef_) > 1 else self.coef_[0]
