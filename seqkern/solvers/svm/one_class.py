"""The one-class SVM: LIBSVM's quadratic program, and its algorithm."""

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import changed, real
from seqkern.gram.gram_rows import GramRows
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.solvers.base import BinarySolver, count_rows
from seqkern.solvers.expansion import weighted_sums
from seqkern.solvers.products.best_bias import best_bias
from seqkern.solvers.products.losses import Hinge
from seqkern.solvers.products.on_products import MOST_PRODUCTS, OnProducts
from seqkern.solvers.svm.libsvm import SOON, LibsvmMachine, on_rows, share_of, to_tolerance, unit_of, violation
from seqkern.solvers.svm.nu_svm import smallest_sum

if TYPE_CHECKING:
    from sklearn.utils import Tags

OUT_AND_IN = np.array([-1, 1])

NO_LENGTH = 1e-3
"""A mean of support vectors that is shorter, in units of their typical length, is taken for zero."""

AT_ORIGIN = (
    "no plane separates the rows from the origin, as for a centred matrix, so the decision is "
    "meaningless; choose another kernel such as rbf, or no centring transform"
)


class OneClassSVM(OnProducts, LibsvmMachine, BinarySolver):
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
    most `tol`, and `dual_coef_` are coefficients whose w is nearly that of α.

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
    gram_copies = 1.0
    fit_products = 6.0
    sets_threshold = True
    summary = "One-class support vector machine: learns the region of the positives alone."
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
    def default_grid(cls) -> dict[str, list[Any]]:
        """Return the values of nu that a search tries."""
        return {"nu": [0.01, 0.03, 0.1, 0.3, 0.5]}

    def complexity(self) -> tuple[float, ...]:
        """Return (−ν,): more outliers give smoother boundaries."""
        return (-float(self.nu),)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(tol=1e-7), cls(nu=0.2, tol=1e-7)]

    def _fit(self, K: Any, y: npt.NDArray[np.float64] | None) -> dict[str, Any]:
        """Run LIBSVM's algorithm on the positives, and measure its solution; on an operator, minimise on products."""
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

    @property
    def accepts_rows(self) -> bool:
        """Whether it can be fitted on rows of a matrix in a file: always."""
        return True

    def _solve(
        self, own: npt.NDArray[np.float64] | GramRows, rows: npt.NDArray[np.int64], unit: float, limit: int
    ) -> dict[str, Any]:
        """Run LIBSVM's algorithm on the matrix of some records."""
        # imported here: prediction does not need it
        from seqkern.solvers.svm.smo import minimise_by_rows

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

    def _fit_products(self, K: KernelOperator, rows: npt.NDArray[np.int64]) -> dict[str, Any]:
        """Train on products of the matrix of some records."""
        own = K if len(rows) == len(K) else K.take(rows)
        ones, total = np.ones(len(rows)), self.nu * len(rows)
        width = total * float(np.mean(own.squares))
        loss = Hinge(ones, ones, margin=0.0, total=total, width=width if width > 0 else 1.0)
        found, self.dual_coef_, report = self._learn(own, loss, self.tol, min(self.max_iter, MOST_PRODUCTS))
        self.support_ = rows[self.support_].astype(np.int64)
        # the smoothed loss hardly bounds ρ where ν is near 1
        self.intercept_ = best_bias(found.decisions - found.bias, ones, ones, margin=0.0, total=total)
        return {**report, "objective": -found.dual, "n_learned": len(rows)}

    def _length(self, own: npt.NDArray[np.float64] | GramRows, rows: npt.NDArray[np.int64], unit: float) -> float:
        """Return the length of the mean of the support vectors, in units of the typical length of a vector."""
        alpha = on_rows(self.support_, self.dual_coef_, int(rows[-1]) + 1)[rows]
        product = weighted_sums(own, np.searchsorted(rows, self.support_), self.dual_coef_)
        return np.sqrt(max(0.0, float(np.sum(alpha * product))) / unit) / (self.nu * len(rows))

    def __sklearn_tags__(self) -> "Tags":
        """Return scikit-learn's tags: poor score on two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
