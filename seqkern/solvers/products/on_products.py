"""The shared base of solvers that train on a kernel operator."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.threads import one_thread
from seqkern.core.types import Floats, Ints
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.solvers.contract import Solver
from seqkern.solvers.costs import FitCost, FitWork
from seqkern.solvers.products.losses import Hinge, Loss, best_bias
from seqkern.solvers.products.subspace import Minimum, ProductSpace, Subspace

INDEFINITE = "the kernel is not positive semi-definite; clip it (clip=true), or choose csvc with a repaired Gram matrix"

STALLED = "rounding errors leave this gap; lower C, or normalise the kernel"

MOST_PRODUCTS = 2000
"""Maximum number of products of a fit whose solver has no such parameter."""

EXPECTED_PRODUCTS = 80
"""Number of products until a classifier of 10,000 samples or more has converged."""

UNSHARED = frozenset({"_vectors", "_space", "_space_before"})
"""Attributes that hold records or products; neither pickled nor stored."""


class OnProducts(Solver):
    """Mixin of solvers whose `fit` also accepts a KernelOperator.

    The decisions are f(x) = Σ_i β_i K(x, x_i) + b.
    """

    accepts_operator: ClassVar[bool] = True

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return the predicted cost of a fit: `EXPECTED_PRODUCTS` kernel products, if it trains on products."""
        if work.gives != "operator":
            return super().fit_cost(work)
        return FitCost(EXPECTED_PRODUCTS * work.product, 16 * EXPECTED_PRODUCTS * work.n)

    def fit_after(
        self, previous: Solver | None, K: Any, y: npt.ArrayLike | None = None, groups: npt.ArrayLike | None = None
    ) -> Self:
        """Fit, reusing the products of `previous` if it was fitted on the same operator; see `Solver.fit_after`."""
        if not isinstance(K, KernelOperator):
            return super().fit_after(previous, K, y, groups)
        self._space_before = getattr(previous, "_space", None)
        try:
            return self.fit(K, y, groups)
        finally:
            del self._space_before

    def _minimise(self, K: KernelOperator, losses: Sequence[Loss], tol: float, most: int) -> list[Minimum]:
        """Minimise several losses in turn, each with all products known by then."""
        before: ProductSpace | None = getattr(self, "_space_before", None)
        spent = 0 if before is None else before.products
        if before is not None and before.knows(K):
            space = before
        else:
            space, spent = ProductSpace(K), 0
        with one_thread():
            found = [Subspace(space, loss).run(tol, most) for loss in losses]
        self._spent = space.products - spent
        self._indefinite = space.indefinite
        if hasattr(self, "_space_before"):
            self._space = space
        return found

    def _summary_of_minima(self, found: Sequence[Minimum], tol: float) -> dict[str, Any]:
        """Return the report of several minima: the worst gap and residual, the sum of the values."""
        gap = max(one.gap for one in found)
        report: dict[str, Any] = {
            "converged": gap <= tol and not self._indefinite,
            "iterations": max(one.rounds for one in found),
            "residual": max(one.residual for one in found),
            "objective": sum(one.primal for one in found),
            "gap": gap,
            "products": self._spent,
        }
        if self._indefinite:
            report["remark"] = INDEFINITE
        elif not report["converged"] and any(one.stalled for one in found):
            report["remark"] = STALLED
        return report

    def _keep_vectors(self, K: KernelOperator, coefficients: Floats) -> None:
        """Set `support_` to the records with a nonzero coefficient in some row.

        Decisions on an operator need the features of these records.
        """
        self.support_ = np.flatnonzero(np.any(coefficients != 0, axis=0)).astype(np.int64)
        self._vectors: Any = K.take(self.support_)

    def _learn(self, K: KernelOperator, loss: Loss, tol: float, most: int) -> tuple[Minimum, Floats, dict[str, Any]]:
        """Minimise one loss; set `support_` and `intercept_`; return the minimum, β of the support, and the report."""
        found = self._minimise(K, [loss], tol, most)
        self._keep_vectors(K, found[0].coefficients[None])
        self.intercept_: Any = found[0].bias
        return found[0], found[0].coefficients[self.support_], self._summary_of_minima(found, tol)

    def _learn_hinge(
        self, K: KernelOperator, y: Floats, cost: Floats, tol: float, most: int
    ) -> tuple[Floats, dict[str, Any]]:
        """Minimise the hinge loss; set `support_` and `intercept_`; return β of the support, and the report."""
        self._check_finite_cost(cost.max())
        found, coefficients, report = self._learn(K, Hinge(y, cost), tol, most)
        self.intercept_ = best_bias(found.decisions - found.bias, y, cost)
        return coefficients, {**report, "objective": -found.dual}

    def _check_finite_cost(self, cost: float) -> None:
        """Raise ParameterError for an infinite C."""
        if not np.isfinite(cost):
            raise ParameterError("C=inf needs a Gram matrix", remedy="give a finite C, such as 1000")

    def _sums(self, K: KernelOperator, coefficients: Floats) -> Floats:
        """Return the sum Σ_i coefficients[i]·K(x, x_i) over the support for each record x of `K`, float64 (m,)."""
        vectors = getattr(self, "_vectors", None)
        if vectors is None or vectors.tables is not K.tables:
            raise ParameterError(
                "these records have other tables than the training data",
                remedy="take both from the same operator, or give kernel rows",
            )
        return K.dots(vectors.weights(coefficients))

    def _decide(self, K: Any, columns: Ints) -> Floats:
        """Return the decisions Σ_i β_i K(x, x_i) + b for an operator; otherwise the solver's own decisions."""
        if isinstance(K, KernelOperator):
            fitted: Any = self
            return self._sums(K, fitted.dual_coef_) + fitted.intercept_
        return super()._decide(K, columns)

    def renumber(self, support: Ints, columns: int) -> Self:
        """Return this fitted solver for matrices of another width.

        `support` gives the new index of each support column, `columns` the new width; decisions on an operator do not
        change.
        """
        other = super().renumber(support, columns)
        if hasattr(self, "_vectors"):
            other._vectors = self._vectors
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Exclude records and products from pickles."""
        state = cast("dict[str, Any]", super().__getstate__())
        return {name: value for name, value in state.items() if name not in UNSHARED}
