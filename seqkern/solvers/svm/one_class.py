"""The one-class SVM: LIBSVM's quadratic program, and its algorithm."""

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import changed, real
from seqkern.core.types import Array, Floats, Ints
from seqkern.gram.matrix import GramRows
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.solvers.capabilities import Search
from seqkern.solvers.contract import BinarySolver, count_rows
from seqkern.solvers.costs import Effort
from seqkern.solvers.expansion import weighted_sums
from seqkern.solvers.products.losses import Hinge
from seqkern.solvers.products.on_products import MOST_PRODUCTS, fit_loss
from seqkern.solvers.svm.libsvm import (
    SOON,
    LibsvmSolver,
    libsvm_estimator,
    on_rows,
    share_of,
    to_tolerance,
    unit_of,
    violation,
)

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from seqkern.solvers.capabilities import LeaveOneOut


# The ν-SVM: LIBSVM's quadratic program, solved through scikit-learn.

REFINEMENTS = (1e-2, 1e-4)
"""Shares of the tolerance tried until the gap is at most `SMALL_GAP`, in `ITERATIONS[0]` + `ITERATIONS[1]`·l steps."""

SMALL_GAP = 0.1
NO_DISTANCE = 1e-3
"""Distance, in units of a vector's typical length, below which reduced convex hulls count as touching."""

ITERATIONS = (10_000, 200)
ROUNDING = 1e-12  # α is LIBSVM's solution divided by ρ and multiplied again


class NuSVC(LibsvmSolver, BinarySolver):
    r"""ν-SVM: support vector machine in which ν bounds the share of margin errors.

    Attributes
    ----------
    dual_coef_ : ndarray of float64, shape (s,)
        α_i y_i / ρ of the support vectors, 0 ≤ α_i ≤ 1.
    intercept_ : float

    Notes
    -----
    With f(x) = w·φ(x) + b, it solves

    .. math:: \min_{w, b, ξ, ρ} ½ ‖w‖^2 − ν ρ + (1/n) \sum_i ξ_i  over  y_i f(x_i) ≥ ρ − ξ_i,  ξ_i ≥ 0,  ρ ≥ 0

    Decisions are in units of ρ: the solution equals the C-SVM's with C = 1/ρ, which `report_` holds as ``C``.
    ``residual`` is LIBSVM's stopping quantity recomputed in double precision, in the units of `tol`; ``objective`` is
    the dual ½ αᵀQα; ``gap`` is the duality gap as a share of αᵀQα. If the gap is large, LIBSVM runs again with a
    smaller tolerance.

    If ν is so small that the reduced convex hulls of the classes overlap, the margin is zero and the decision is
    meaningless: the fit ends unconverged, with a warning.

    Complexity: O(n²) to O(n³) for n training rows; prediction takes O(s) per row for s support vectors.

    References
    ----------
    Schölkopf, Smola, Williamson, Bartlett: New support vector algorithms. Neural Computation 12, 2000.

    Crisp, Burges: A geometric interpretation of ν-SVM classifiers. NIPS 12, 2000.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import NuSVC
    >>> kernel = SpectrumKernel(k=2)
    >>> train = ["MKKLLA", "MKALLA", "GDEDGS", "GDDEGS"]
    >>> solver = NuSVC(nu=0.5).fit(kernel(train), ["membrane", "membrane", "soluble", "soluble"])
    >>> solver.predict(kernel(["MKLLAA", "SGDEDG"], train)).tolist()
    ['membrane', 'soluble']

    The C-SVM with this C decides the same:

    >>> round(solver.report_["C"], 3)
    1.25
    """

    name = "nusvc"
    summary = "Support vector machine in which nu bounds the share of training errors."
    declared = LibsvmSolver.declared.but(
        bounds=True,
        search=Search({"nu": [0.03, 0.1, 0.2, 0.3]}, order=("-nu",)),
        effort=Effort(copies=0.0, products=40.0),
    )

    nu: float = real(
        default=0.3,
        low=0,
        high=1,
        open_low=True,
        doc="ν: at most this share of the training rows are margin errors, at least this share are "
        "support vectors. The largest feasible value is 2·min(l₊, l₋)/l.",
    )
    tol: float = changed(
        default=1e-3,
        doc="LIBSVM stops when the largest violation of the optimality conditions, in units of the "
        "mean diagonal of K, is below this; it works in single precision, so below about 1e-6 a fit may not converge.",
    )

    def leave_one_out(self, K: Any, y: Array, *, limited: bool = True) -> "LeaveOneOut | None":
        """Return the bounds of the C-SVM with the same solution; None if no margin was found."""
        if not isinstance(K, np.ndarray) or self.report_["C"] is None:
            return None
        # imported here: prediction does not need it
        from seqkern.solvers.svm.leave_one_out import leave_one_out

        signs = np.where(np.asarray(y) == self.classes_[1], 1.0, -1.0)
        alpha = signs * on_rows(self.support_, self.dual_coef_, len(signs))
        cost = np.full(len(signs), float(self.report_["C"]))
        return leave_one_out(K, alpha, signs, cost, self._decide(K, self.support_), limited=limited)

    def check_labels(self, y: Array, groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError if ν is larger than 2·min(l₊, l₋)/l."""
        counts = np.unique(y, return_counts=True)[1]
        total, least = int(counts.sum()), int(counts.min())
        if self.nu * total / 2 > least:
            raise ParameterError(
                f"nu={self.nu:g} is infeasible: of {total} training rows the smaller class has {least}, and nu can be "
                f"at most 2 · {least} / {total} = {2 * least / total:.4g}",
                remedy="give a smaller nu, or solver csvc",
            )

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(nu=0.1, tol=1e-6), cls(tol=1e-6)]

    def _fit(self, K: Floats, y: Floats) -> dict[str, Any]:
        """Run LIBSVM, with a smaller tolerance if the margin is small."""
        unit = unit_of(K)
        soon = ITERATIONS[0] + ITERATIONS[1] * len(y)
        run, found = self._attempt(K, y, unit, self.tol, soon)
        limit = soon
        # where there seems to be a margin it only takes longer
        while not run["converged"] and limit < self.max_iter and (found["gap"] < 1 or found["distance"] >= NO_DISTANCE):
            limit *= 10
            run, found = self._attempt(K, y, unit, self.tol, limit)
        for factor in REFINEMENTS:
            if not run["converged"] or (found["gap"] <= SMALL_GAP and found["residual"] <= self.tol):
                break
            again, better = self._attempt(K, y, unit, factor * self.tol, soon)
            if found["gap"] <= SMALL_GAP and not (again["converged"] and better["residual"] < found["residual"]):
                break  # rounding in single precision allows no less
            run, found = again, better
        del found["distance"]
        report = {**run, **found, "converged": run["converged"] and found["gap"] < 1}
        # the lower bound of the objective is not above zero: nothing says that there is a margin
        if found["gap"] >= 1 and self.max_iter > run["iterations"]:
            report["remark"] = self._remark()
        return to_tolerance(report, self.tol)

    def _attempt(
        self, K: Floats, y: Floats, unit: float, tol: float, limit: int
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Run LIBSVM with an iteration limit; return (its report, `_optimality`'s report)."""
        run = self._run(libsvm_estimator("NuSVC", nu=self.nu), K, y, tol=tol * unit, max_iter=min(limit, self.max_iter))
        if "remark" in run:  # a margin of zero, by which LIBSVM divides
            run["remark"] = self._remark()
            return run, {"residual": 0.0, "objective": 0.0, "gap": 1.0, "C": None, "distance": 0.0}
        return run, self._optimality(K, y, unit)

    def _optimality(self, K: Floats, y: Floats, unit: float) -> dict[str, Any]:
        """Return the residual, dual objective and gap, the equivalent C, and the distance of the hulls.

        The equivalent C gives a C-SVM with the same solution.
        """
        total = self.nu * len(y)
        rho = float(total / np.abs(self.dual_coef_).sum())
        alpha = np.minimum(on_rows(self.support_, np.abs(self.dual_coef_) * rho, len(y)), 1.0)
        gradient = y * weighted_sums(K, self.support_, self.dual_coef_ * rho)
        square = max(0.0, float(np.sum(alpha * gradient)))
        bound = sum(smallest_sum(gradient[y == sign], total / 2) for sign in (-1.0, 1.0))
        residual = max(
            violation(-gradient[(y == sign) & (alpha < 1 - ROUNDING)], -gradient[(y == sign) & (alpha > 0)])
            for sign in (-1.0, 1.0)
        )
        # ½αᵀQα ≥ optimum ≥ bound − ½αᵀQα
        gap = max(0.0, square - bound) / square if square > 0 else 1.0
        distance = 2 * np.sqrt(square / unit) / total
        return {"residual": residual / unit, "objective": 0.5 * square, "gap": gap, "C": 1 / rho, "distance": distance}

    def _remark(self) -> str:
        """Return the cause of a missing solution and its remedy."""
        return (
            f"with nu={self.nu:g} no margin was found: the classes overlap too much for so few margin errors; "
            "give a larger nu, or solver csvc"
        )


def smallest_sum(values: Floats, amount: float) -> float:
    """Return the smallest Σ a_i values_i over 0 ≤ a_i ≤ 1, Σ a_i = amount.

    >>> import numpy as np
    >>> from seqkern.solvers.svm.one_class import smallest_sum
    >>> smallest_sum(np.array([3.0, 1.0, 2.0]), 1.5)
    2.0
    """
    values = np.sort(values)
    whole = min(int(amount), len(values))
    rest = amount - whole
    return float(values[:whole].sum()) + (rest * float(values[whole]) if rest > 0 and whole < len(values) else 0.0)


OUT_AND_IN = np.array([-1, 1])

NO_LENGTH = 1e-3
"""Length, in units of their typical length, below which a mean of support vectors counts as zero."""

AT_ORIGIN = (
    "no plane separates the rows from the origin, as for a centred matrix, so the decision is "
    "meaningless; choose another kernel such as rbf, or no centring transform"
)


class OneClassSVM(LibsvmSolver, BinarySolver):
    r"""One-class SVM: the region of one class; a decision below zero is outside.

    Without labels it learns all rows. With two classes it learns the members of ``classes_[1]``, the positives, and
    ignores the others.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
        (outside, inside): −1 and 1 where there were no labels.
    dual_coef_ : ndarray of float64, shape (s,)
        0 < α_i ≤ 1 of the support vectors; they sum to ν l.
    intercept_ : float
        −ρ, in the units of the decision.

    Notes
    -----
    It solves

    .. math:: \min_{w, ξ, ρ} ½ ‖w‖^2 − ρ + (1/(ν n)) \sum_i ξ_i  over  w·φ(x_i) ≥ ρ − ξ_i,  ξ_i ≥ 0

    The decision is ν n (w·φ(x) − ρ). `report_` has ``residual``, LIBSVM's stopping quantity recomputed in double
    precision, in the units of `tol`; ``objective``, the dual ½ αᵀKα; and the duality ``gap`` as a share of it.

    On a KernelOperator the same problem is solved on products with K (see `products.subspace`) until the ``gap`` is at
    most `tol`, and `dual_coef_` are coefficients with nearly the same w as α.

    Complexity: O(n²) to O(n³) for n training rows; prediction takes O(s) per row for s support vectors.

    References
    ----------
    Schölkopf, Platt, Shawe-Taylor, Smola, Williamson: Estimating the support of a high-dimensional distribution. Neural
    Computation 13, 2001.

    Examples
    --------
    Trained without labels, on members of one family alone:

    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import OneClassSVM
    >>> kernel = SpectrumKernel(k=2)
    >>> family = ["MKKLLA", "MKALLA", "MKALLL", "MKKALL"]
    >>> solver = OneClassSVM(nu=0.3).fit(kernel(family))
    >>> solver.predict(kernel(["MKKALLA", "GDEDGS"], family)).tolist()
    [1, -1]
    """

    name = "one_class_svm"
    summary = "One-class support vector machine: learns the region of the positives alone."
    declared = LibsvmSolver.declared.but(
        rows=True,
        operator=True,
        own_threshold=True,
        search=Search({"nu": [0.01, 0.03, 0.1, 0.3, 0.5]}, order=("-nu",)),
        effort=Effort(copies=1.0, products=6.0),
    )
    targets: ClassVar[tuple[str, ...]] = ("binary", "none")

    nu: float = real(
        default=0.1,
        low=0,
        high=1,
        open_low=True,
        doc="ν: at most this share of the learned rows lie outside, at least this share are support vectors.",
    )
    tol: float = changed(
        default=1e-3,
        doc="LIBSVM stops when the largest violation of the optimality conditions, in units of the "
        "mean diagonal of K, is below this.",
    )

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(tol=1e-7), cls(nu=0.2, tol=1e-7)]

    def _fit(self, K: Any, y: Floats | None) -> dict[str, Any]:
        """Run LIBSVM's algorithm on the positives and measure its solution, or minimise on an operator's products."""
        if y is None:
            self.classes_ = OUT_AND_IN
        rows = np.arange(count_rows(K)) if y is None or np.all(y > 0) else np.flatnonzero(y > 0)
        if isinstance(K, KernelOperator):
            return self._fit_products(K, rows)
        own = K if len(rows) == len(K) else K.take(rows) if isinstance(K, GramRows) else K[np.ix_(rows, rows)]
        unit = unit_of(own)
        limit = min(self.max_iter, SOON[0] + SOON[1] * len(rows))
        run = self._solve(own, rows, unit, limit)
        why = {}
        if not run["converged"] and limit < self.max_iter and "remark" not in run:
            if self._length(own, rows, unit) < NO_LENGTH:
                why = {"remark": AT_ORIGIN}
            else:
                run = self._solve(own, rows, unit, self.max_iter)
        if "remark" in run:  # with ν = 1 nothing bounds ρ in LIBSVM: all α are 1, and no row lies inside
            run = {"converged": True, "iterations": run["iterations"]}
            self.support_, self.dual_coef_ = rows.astype(np.int64), np.ones(len(rows))
            run["product"] = weighted_sums(own, np.arange(len(rows)), self.dual_coef_)
            self.intercept_ = -float(run["product"].max())
        alpha = on_rows(self.support_, self.dual_coef_, len(K))[rows]
        product = run.pop("product")
        square = float(np.sum(alpha * product))
        bound = smallest_sum(product, self.nu * len(rows))
        report = {
            **run,
            "residual": violation(-product[alpha < 1], -product[alpha > 0]) / unit,
            "objective": 0.5 * square,
            "gap": share_of(square - bound, 0.5 * square),
            "n_learned": len(rows),
            **why,
        }
        return to_tolerance(report, self.tol)

    def _solve(self, own: Floats | GramRows, rows: Ints, unit: float, limit: int) -> dict[str, Any]:
        """Run LIBSVM's algorithm on the Gram matrix of some records."""
        # imported here: prediction does not need it
        from seqkern.solvers.svm.libsvm import minimise_by_rows

        n = len(rows)
        total = np.cumsum(np.full(n, self.nu))[-1]  # rounded as in LIBSVM
        start = np.clip(total - np.arange(n), 0.0, 1.0)  # the first records hold all weight
        found = minimise_by_rows(
            own,
            np.ones(n),
            np.zeros(n),
            np.ones(n),
            np.arange(n),
            tol=self.tol * unit,
            max_iter=limit,
            name=str(self.name),
            start=start,
        )
        if not found.finite:
            return self._nothing(found.iterations)
        self._keep(found.alpha, -found.bias)
        self.support_ = rows[self.support_]
        return {"converged": found.converged, "iterations": found.iterations, "product": found.product}

    def _fit_products(self, K: KernelOperator, rows: Ints) -> dict[str, Any]:
        """Train on products with the kernel matrix of some records."""
        own = K if len(rows) == len(K) else K.take(rows)
        ones, total = np.ones(len(rows)), self.nu * len(rows)
        width = total * float(np.mean(own.squares))
        loss = Hinge(ones, ones, margin=0.0, total=total, width=width if width > 0 else 1.0)
        report = fit_loss(self, own, loss, self.tol, min(self.max_iter, MOST_PRODUCTS))
        self.support_ = rows[self.support_].astype(np.int64)
        return {**report, "n_learned": len(rows)}

    def _length(self, own: Floats | GramRows, rows: Ints, unit: float) -> float:
        """Return the length of the mean of the support vectors, in units of the typical length of a vector."""
        alpha = on_rows(self.support_, self.dual_coef_, int(rows[-1]) + 1)[rows]
        product = weighted_sums(own, np.searchsorted(rows, self.support_), self.dual_coef_)
        return np.sqrt(max(0.0, float(np.sum(alpha * product))) / unit) / (self.nu * len(rows))

    def __sklearn_tags__(self) -> "Tags":
        """Return scikit-learn's tags, which allow a poor score on two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
