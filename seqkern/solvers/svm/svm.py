"""The C-SVM, with soft or hard margin: LIBSVM's quadratic program, and its algorithm."""

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from seqkern.core.parameters import changed, choice
from seqkern.core.types import Array, Floats
from seqkern.gram.matrix import GramRows
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.solvers.capabilities import SEARCH_COST
from seqkern.solvers.contract import BinarySolver
from seqkern.solvers.costs import Effort
from seqkern.solvers.expansion import weighted_sums
from seqkern.solvers.products.losses import Hinge, SquaredHinge
from seqkern.solvers.products.on_products import MOST_PRODUCTS, fit_loss
from seqkern.solvers.shared import class_factors, class_weights, cost
from seqkern.solvers.svm.libsvm import AT_BOUND, LibsvmSolver, on_rows, share_of, to_tolerance, violation

if TYPE_CHECKING:
    from seqkern.solvers.capabilities import LeaveOneOut


class CSVC(LibsvmSolver, BinarySolver):
    r"""Support vector machine (C-SVM) on a Gram matrix; infinite C gives a hard margin.

    Attributes
    ----------
    dual_coef_ : ndarray of float64, shape (s,)
        α_i y_i of the support vectors.
    intercept_ : float

    Notes
    -----
    With f(x) = w·φ(x) + b, it solves

    .. math:: \min_{w, b, ξ} ½ ‖w‖^2 + C \sum_i ξ_i  over  y_i f(x_i) ≥ 1 − ξ_i,  ξ_i ≥ 0

    With ``slack="squared"`` the loss is C Σ ξ_i²: the margin belongs to K_ii + 1/(2C), α has no upper bound, and
    `class_weight` gives each class a ridge of its own. Newton's method (see `svm.squares`) solves it exactly in about
    ten linear systems over the support vectors; ``residual`` is how much a decision would change at the optimum of the
    dual, and rows of a matrix in a file are not enough.

    Otherwise `report_` has ``residual``, LIBSVM's stopping quantity recomputed in double precision; ``objective``, the
    dual ½ αᵀQα − Σα; and for finite C the duality ``gap`` as a share of the primal objective. The Gram matrix should be
    positive semi-definite; on an indefinite one the solution is local, and the gap bounds nothing.

    On a KernelOperator, for more samples than a Gram matrix has room for, the same problem is solved on products with K
    (see `products.subspace`) until the ``gap`` is at most `tol`; ``products`` counts them, ``residual`` is ‖w − Σ α_i
    y_i φ_i‖ / ‖w‖, and `dual_coef_` are coefficients β with nearly the same w as α. C must be finite.

    Classes that no plane separates have no hard margin: the dual is unbounded. This is detected from the distance of
    their convex hulls; the fit then ends unconverged, with a warning.

    Complexity: O(n²) to O(n³) for n training rows, depending on C and the kernel; prediction takes O(s) per row for s
    support vectors. With squared slack m³/3 multiplications in each of about ten steps for m support vectors: of 2,000
    rows, two to six times a fit with linear slack where classes are separate, and eight times where they overlap.

    References
    ----------
    Cortes, Vapnik: Support-vector networks. Machine Learning 20, 1995.

    Chang, Lin: LIBSVM: a library for support vector machines. ACM Transactions on Intelligent Systems and Technology 2,
    2011.

    Keerthi, DeCoste: A modified finite Newton method for fast solution of large scale linear SVMs. Journal of Machine
    Learning Research 6, 2005 (``slack="squared"``).

    Bennett, Bredensteiner: Duality and geometry in SVM classifiers. ICML 2000.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import CSVC
    >>> kernel = SpectrumKernel(k=2)
    >>> train = ["MKKLLA", "MKALLA", "GDEDGS", "GDDEGS"]
    >>> solver = CSVC(C=10.0).fit(kernel(train), ["membrane", "membrane", "soluble", "soluble"])
    >>> solver.predict(kernel(["MKLLAA", "SGDEDG"], train)).tolist()
    ['membrane', 'soluble']
    >>> solver.report_["converged"], solver.report_["n_support"]
    (True, 4)
    """

    name = "csvc"
    summary = "Support vector machine: the widest margin between two classes, with a cost C for errors."
    declared = LibsvmSolver.declared.but(
        rows=True,
        operator=True,
        bounds=True,
        margin=1.0,
        search=SEARCH_COST,
        effort=Effort(copies=0.0, products=20.0, growth=0.2),
    )

    C: float = cost("C, the cost of a margin error; infinite for a hard margin.", infinite=True)
    class_weight: dict | str | None = class_weights()
    slack: Literal["linear", "squared"] = choice(
        default="linear", doc="Whether C is the cost of the sum of the margin errors, or of their squares."
    )
    max_iter: int = changed(default=10_000_000, doc="Maximum number of iterations; by default LIBSVM's own limit.")

    @property
    def squares(self) -> bool:
        """Whether errors are squared; a hard margin has none."""
        return self.slack == "squared" and bool(np.isfinite(self.C))

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [
            cls(tol=1e-6),
            cls(C=0.3, class_weight="balanced", tol=1e-6),
            cls(C=np.inf, tol=1e-6),
            cls(slack="squared", class_weight="balanced", tol=1e-9),
        ]

    def _fit(self, K: Any, y: Floats) -> dict[str, Any]:
        """Run LIBSVM's algorithm and measure its solution; on an operator, minimise on products."""
        cost = self._costs(y)
        if self.squares:
            return self._fit_smooth(K, SquaredHinge(y, cost))
        if isinstance(K, KernelOperator):
            return fit_loss(self, K, Hinge(y, cost), self.tol, min(self.max_iter, MOST_PRODUCTS))
        if np.isinf(self.C):
            # imported here: it slows start-up, and prediction does not need it
            from seqkern.solvers.svm.hulls import not_separable

            report = self._if_solvable(
                lambda limit: self._by_pairs(K, y, cost, limit), len(y), lambda: not_separable(K, y)
            )
        else:
            report = self._by_pairs(K, y, cost, self.max_iter)
        product = report.pop("product", None)
        return to_tolerance(report | self._optimality(K, y, cost, product), self.tol)

    def _costs(self, y: Floats) -> Floats:
        """Return the cost C of each training row."""
        weights = class_factors(self.class_weight, self.classes_, y)
        return self.C * np.where(y > 0, weights[1], weights[0])

    def leave_one_out(self, K: Any, y: Array, *, limited: bool = True) -> "LeaveOneOut | None":
        """Return span, ξα estimate, and the bound by radius and margin."""
        if not self.traits.bounds or not isinstance(K, np.ndarray):
            return None
        # imported here: prediction does not need it
        from seqkern.solvers.svm.leave_one_out import leave_one_out

        signs = np.where(np.asarray(y) == self.classes_[1], 1.0, -1.0)
        alpha = signs * on_rows(self.support_, self.dual_coef_, len(signs))
        cost, decisions = self._costs(signs), self._decide(K, self.support_)
        if self.squares:  # a hard margin, with a ridge on the diagonal
            ridge = 0.5 / cost
            K, cost, decisions = K + np.diag(ridge), np.full(len(K), np.inf), decisions + signs * ridge * alpha
        return leave_one_out(K, alpha, signs, cost, decisions, limited=limited)

    def _by_pairs(self, K: Floats | GramRows, y: Floats, cost: Floats, most: int) -> dict[str, Any]:
        """Run LIBSVM's algorithm for at most `most` iterations; the first class comes first, as in LIBSVM."""
        # imported here: prediction does not need it
        from seqkern.solvers.svm.libsvm import minimise_by_rows

        order = np.concatenate((np.flatnonzero(y < 0), np.flatnonzero(y > 0)))
        linear = np.full(len(y), -1.0)
        found = minimise_by_rows(K, -y, linear, cost, order, tol=self.tol, max_iter=most, name=str(self.name))
        if not found.finite:
            return self._nothing(found.iterations)
        self.support_ = order[found.alpha[order] > 0].astype(np.int64)
        self.dual_coef_ = (found.alpha * y)[self.support_]
        self.intercept_ = found.bias
        return {"converged": found.converged, "iterations": found.iterations, "product": -found.product}

    def _centre(self, gradient: Floats, y: Floats, alpha: Floats, cost: Floats) -> None:
        """Set b to the middle of its interval if every α is at a bound up to rounding.

        A single α kept from its bound by rounding would put b at an end of the interval: all samples in one class.
        """
        empty, full = alpha <= AT_BOUND * cost, alpha >= (1 - AT_BOUND) * cost
        up, low = np.where(y > 0, ~full, ~empty), np.where(y > 0, ~empty, ~full)
        if np.isfinite(self.C) and (empty | full).all() and up.any() and low.any():
            self.intercept_ = float(gradient[up].max() + gradient[low].min()) / 2

    def _optimality(
        self, K: Floats | GramRows, y: Floats, cost: Floats, product: Floats | None = None
    ) -> dict[str, Any]:
        """Return residual, dual objective and gap; set b where no support vector determines it."""
        coef = on_rows(self.support_, self.dual_coef_, len(y))
        if product is None:
            product = weighted_sums(K, self.support_, self.dual_coef_)
        gradient = y - product
        alpha = coef * y
        self._centre(gradient, y, alpha, cost)
        up = np.where(y > 0, alpha < cost, alpha > 0)
        low = np.where(y > 0, alpha > 0, alpha < cost)
        square, total = np.sum(coef * product), np.sum(alpha)
        found = {
            "residual": violation(gradient[up], gradient[low]),
            "objective": float(0.5 * square - total),
        }
        if np.isfinite(self.C):
            errors = np.sum(cost * np.maximum(0.0, 1 - y * (product + self.intercept_)))
            found["gap"] = share_of(square + errors - total, 0.5 * square + errors)
        return found
