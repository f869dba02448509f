"""Training on a kernel operator: losses minimised on products K·v."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.core.threads import one_thread
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.solvers.contract import Solver
from seqkern.solvers.expansion import KernelExpansion
from seqkern.solvers.products.losses import Hinge, Insensitive, Loss, Squared, best_bias
from seqkern.solvers.products.subspace import Minimum, ProductSpace, Subspace

INDEFINITE = "the kernel is not positive semi-definite; clip it (clip=true), or choose csvc with a repaired Gram matrix"

STALLED = "rounding errors leave this gap; lower C, or normalise the kernel"

MOST_PRODUCTS = 2000
"""Maximum number of products of a fit whose solver has no such parameter."""


def fit_on_products(
    solver: Solver, K: KernelOperator, losses: Sequence[Loss], tol: float, most: int = MOST_PRODUCTS
) -> tuple[list[Minimum], dict[str, Any]]:
    """Minimise several losses in turn, each with all products known by then; return the minima and the report.

    The decisions are f(x) = Σ_i β_i K(x, x_i) + b. `support_` are the records with a nonzero β in some minimum; their
    features are kept for decisions on an operator. After `fit_after`, the next fit reuses the products.
    """
    space: ProductSpace | None = solver._left("space")
    spent = 0 if space is None else space.products
    if space is None or not space.knows(K):
        space, spent = ProductSpace(K), 0
    with one_thread():
        found = [Subspace(space, loss).run(tol, most) for loss in losses]
    if hasattr(solver, "_before"):
        solver._warm = {"space": space}
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
    if isinstance(loss, Hinge | Insensitive) and not np.isfinite(loss.cost).all():
        raise ParameterError("C=inf needs a Gram matrix", remedy="give a finite C, such as 1000")
    (found,), report = fit_on_products(solver, K, [loss], tol, most)
    solver.dual_coef_, solver.intercept_ = found.coefficients[solver.support_], found.bias
    if isinstance(loss, Hinge):
        solver.intercept_ = best_bias(found.decisions - found.bias, loss.y, loss.cost, loss.margin, loss.total)
    return report if isinstance(loss, Squared) else {**report, "objective": -found.dual}
