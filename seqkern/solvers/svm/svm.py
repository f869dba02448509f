"""Support vector machines: LIBSVM's quadratic programs for classes, numbers and one class."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import changed, choice, not_negative, share
from seqkern.core.types import Array, Floats, Ints
from seqkern.gram.matrix import GramRows
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.solvers.capabilities import SEARCH_COST, Effort, Search
from seqkern.solvers.contract import BinarySolver, RealSolver, count_rows
from seqkern.solvers.products.losses import Hinge, Huber, Insensitive, SquaredHinge, SquaredInsensitive
from seqkern.solvers.shared import class_weights, cost, row_costs, weighted_sums
from seqkern.solvers.svm.libsvm import (
    AT_BOUND,
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


def tolerance(unit: str, more: str = "") -> Any:
    """Redeclare the tolerance of LIBSVM, in units of `unit`; `more` follows."""
    what = f"the largest violation of the optimality conditions, in units of {unit}, is below this{more}"
    return changed(default=1e-3, doc=f"LIBSVM stops when {what}.")


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

    tested_with: ClassVar[Sequence[Any]] = (
        {"tol": 1e-6},
        {"C": 0.3, "class_weight": "balanced", "tol": 1e-6},
        {"C": np.inf, "tol": 1e-6},
        {"slack": "squared", "class_weight": "balanced", "tol": 1e-9},
    )

    def _fit(self, K: Any, y: Floats) -> dict[str, Any]:
        """Run LIBSVM's algorithm and measure its solution; on an operator, minimise on products."""
        cost = self._costs(y)
        if self.squares or isinstance(K, KernelOperator):
            return self._fit_loss(K, SquaredHinge(y, cost) if self.squares else Hinge(y, cost))
        if np.isinf(self.C):
            # imported here: it slows start-up, and prediction does not need it
            from seqkern.solvers.svm.margins import not_separable

            report = self._if_solvable(
                lambda limit: self._by_pairs(K, y, cost, limit), len(y), lambda: not_separable(K, y)
            )
        else:
            report = self._by_pairs(K, y, cost, self.max_iter)
        product = report.pop("product", None)
        return to_tolerance(report | self._optimality(K, y, cost, product), self.tol)

    def _costs(self, y: Floats) -> Floats:
        """Return the cost C of each training row."""
        return row_costs(self.C, self.class_weight, self.classes_, y)

    def leave_one_out(self, K: Any, y: Array, *, limited: bool = True) -> "LeaveOneOut | None":
        """Return span, ξα estimate, and the bound by radius and margin."""
        if not self.traits.bounds or not isinstance(K, np.ndarray):
            return None
        # imported here: prediction does not need it
        from seqkern.solvers.svm.margins import leave_one_out

        signs = np.where(np.asarray(y) == self.classes_[1], 1.0, -1.0)
        alpha = signs * on_rows(self.support_, self.dual_coef_, len(signs))
        cost, decisions = self._costs(signs), self._decide(K, self.support_)
        if self.squares:  # a hard margin, with a ridge on the diagonal
            ridge = 0.5 / cost
            K, cost, decisions = K + np.diag(ridge), np.full(len(K), np.inf), decisions + signs * ridge * alpha
        return leave_one_out(K, alpha, signs, cost, decisions, limited=limited)

    def _by_pairs(self, K: Floats | GramRows, y: Floats, cost: Floats, most: int) -> dict[str, Any]:
        """Run LIBSVM's algorithm for at most `most` iterations; the first class comes first, as in LIBSVM."""
        order = np.concatenate((np.flatnonzero(y < 0), np.flatnonzero(y > 0)))
        return self._solve(K, -y, np.full(len(y), -1.0), cost, most, order=order, sign=-1.0)

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


# Support vector regression, with ε or with ν: LIBSVM's quadratic programs, and its algorithm.

LOSSES: dict[str, type[Insensitive | SquaredInsensitive | Huber]] = {
    "insensitive": Insensitive,
    "squared_insensitive": SquaredInsensitive,
    "huber": Huber,
}
"""Losses of regression by name."""

SLOW = "a smaller C or a larger tol needs fewer iterations, and max_iter allows more"


class SVR(LibsvmSolver, RealSolver):
    r"""ε-SVR: support vector regression; errors up to ε cost nothing.

    Attributes
    ----------
    dual_coef_ : ndarray of float64, shape (s,)
        β_i = α_i − α*_i of the support vectors, |β_i| ≤ C.
    intercept_ : float

    Notes
    -----
    With f(x) = w·φ(x) + b, it solves

    .. math:: \min_{w, b} ½ ‖w‖^2 + C \sum_i \max(0, |y_i − f(x_i)| − ε)

    Other losses of the error r = y − f(x):

    - ``squared_insensitive``: C max(0, |r| − ε)². The dual has K_ii + 1/(2C) and no bound.
    - ``huber``: C r²/(2ε) for |r| ≤ ε, C (|r| − ε/2) beyond. The dual has K_ii + ε/C and |β_i| ≤ C; ridge regression
      where no error exceeds ε, and nearly the sum of absolute errors for small ε.

    Both are minimised by Newton's method (see `svm.squares`), exactly in about ten linear systems; C must be finite.

    `report_` has ``residual``, LIBSVM's stopping quantity recomputed in double precision, for the losses above how much
    a decision would change at the optimum of the dual; ``objective``, by default the dual ½ βᵀKβ + ε‖β‖₁ − yᵀβ; and for
    finite C the duality ``gap`` as a share of the primal objective.

    On a KernelOperator the same problem is solved on products with K (see `products.subspace`) until the ``gap`` is at
    most `tol`; C must be finite.

    With infinite C the dual is unbounded if no function comes within ε of all values. This is detected from convex
    hulls, in four times the memory of K; the fit then ends unconverged, with a warning.

    Complexity: O(n²) to O(n³) for n training rows; prediction takes O(s) per row for s support vectors.

    References
    ----------
    Drucker, Burges, Kaufman, Smola, Vapnik: Support vector regression machines. NIPS 9, 1997.

    Huber: Robust estimation of a location parameter. Annals of Mathematical Statistics 35, 1964.

    Mangasarian, Musicant: Robust linear and support vector regression. IEEE Transactions on Pattern Analysis and
    Machine Intelligence 22, 2000.

    Bi, Bennett: A geometric approach to support vector regression. Neurocomputing 55, 2003.

    Examples
    --------
    No value is missed by more than ε:

    >>> import numpy as np
    >>> from seqkern.solvers import SVR
    >>> x, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.1, 0.9, 2.1, 2.9])
    >>> solver = SVR(C=100.0, epsilon=0.2).fit(x @ x.T, y)
    >>> bool(np.abs(solver.predict(x @ x.T) - y).max() < 0.201)
    True
    """

    name = "svr"
    summary = "Support vector regression: a smooth function; errors up to epsilon cost nothing."
    declared = LibsvmSolver.declared.but(
        rows=True,
        operator=True,
        search=Search(
            {"C": [0.1, 1.0, 10.0, 100.0], "epsilon": [0.01, 0.1, 0.3]}, {"C": (1e-4, 1e4)}, ("C", "-epsilon")
        ),
        effort=Effort(copies=0.0, products=100.0, growth=0.3),
    )

    C: float = cost("C, the cost of an error beyond ε; infinite allows none.", infinite=True)
    epsilon: float = not_negative(
        0.1, "ε, in units of y: smaller errors cost nothing; with ``loss=huber``, their square."
    )
    loss: Literal["insensitive", "squared_insensitive", "huber"] = choice(
        default="insensitive",
        doc="Cost of an error beyond ε: in proportion, its square, or in proportion with squares below (Huber's).",
    )
    tol: float = tolerance("y")

    tested_with = (
        {"tol": 1e-6},
        {"C": 10.0, "epsilon": 0.0, "tol": 1e-6},
        {"loss": "squared_insensitive", "tol": 1e-9},
        {"C": 3.0, "epsilon": 0.3, "loss": "huber", "tol": 1e-9},
    )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.loss == "huber" and (self.epsilon == 0 or np.isinf(self.C)):
            odd = "epsilon=0" if self.epsilon == 0 else "C=inf"
            raise ParameterError(
                f"loss=huber with {odd} is not possible",
                remedy="choose loss=insensitive, or epsilon above 0" if self.epsilon == 0 else "give a finite C",
            )

    @property
    def squares(self) -> bool:
        """Whether some errors are squared; with infinite C there are none."""
        return self.loss != "insensitive" and bool(np.isfinite(self.C))

    def _fit(self, K: Any, y: Floats) -> dict[str, Any]:
        """Run LIBSVM's algorithm and measure its solution; on an operator, minimise on products."""
        if self.squares or isinstance(K, KernelOperator):
            return self._fit_loss(K, LOSSES[self.loss](y, float(self.C), float(self.epsilon)), float(np.mean(y)))
        if np.isinf(self.C):
            report = self._if_solvable(lambda limit: self._by_pairs(K, y, limit), len(y), lambda: self._no_tube(K, y))
        else:
            report = self._by_pairs(K, y, self.max_iter)
        beta = on_rows(self.support_, self.dual_coef_, len(y))
        product = report.pop("product", np.zeros(len(y)))
        square, loss = float(np.sum(beta * product)), float(np.sum(y * beta))
        width = self.epsilon * np.abs(beta).sum()
        report |= {
            "residual": tube_violation(y - product, beta, self.C, self.epsilon),
            "objective": 0.5 * square + float(width) - loss,
        }
        if np.isfinite(self.C):
            errors = np.abs(y - product - self.intercept_) - self.epsilon
            cost = self.C * np.sum(np.maximum(0.0, errors))
            report["gap"] = share_of(square + cost + width - loss, 0.5 * square + cost)
        report = to_tolerance(report, self.tol)
        return report if report["converged"] else {"remark": SLOW, **report}

    def _by_pairs(self, K: Floats | GramRows, y: Floats, most: int) -> dict[str, Any]:
        """Run LIBSVM's algorithm for at most `most` iterations; the variables are α, then α*."""
        signs, linear = np.repeat([1.0, -1.0], len(y)), np.concatenate((self.epsilon - y, self.epsilon + y))
        return self._solve(K, signs, linear, np.full(2 * len(y), float(self.C)), most)

    def _no_tube(self, K: Floats, y: Floats) -> str | None:
        """Return cause and remedy if no function stays within ε; None if one does."""
        # imported here: it slows start-up, and prediction does not need it
        from seqkern.solvers.svm.margins import tube_found

        if tube_found(K, y, max(self.epsilon, self.tol)):
            return None
        return (
            f"no function was found that comes within epsilon={self.epsilon:g} of all values with this kernel; give a "
            "finite C, such as 1000, or a larger epsilon"
        )


class NuSVR(LibsvmSolver, RealSolver):
    r"""ν-SVR: support vector regression that finds ε itself; ν bounds the share of larger errors.

    Attributes
    ----------
    dual_coef_ : ndarray of float64, shape (s,)
        β_i = α_i − α*_i of the support vectors, |β_i| ≤ C.
    intercept_ : float

    Notes
    -----
    With f(x) = w·φ(x) + b, it solves

    .. math:: \min_{w, b, ε ≥ 0} ½ ‖w‖^2 + C n (ν ε + (1/n) \sum_i \max(0, |y_i − f(x_i)| − ε))

    `report_` has the ``epsilon`` found, ``residual`` and ``gap`` as `SVR`, and ``objective``, the dual ½ βᵀKβ − yᵀβ.

    Complexity: O(n²) to O(n³) for n training rows; prediction takes O(s) per row for s support vectors.

    References
    ----------
    Schölkopf, Smola, Williamson, Bartlett: New support vector algorithms. Neural Computation 12, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers import NuSVR
    >>> x, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.1, 0.9, 2.1, 2.9])
    >>> solver = NuSVR(C=100.0, nu=0.5).fit(x @ x.T, y)
    >>> solver.predict([[0.0, 4.0, 8.0, 12.0]]).round(1).tolist(), round(solver.report_["epsilon"], 2)
    ([4.0], 0.1)
    """

    name = "nusvr"
    summary = "Support vector regression in which nu bounds the share of errors that count."
    declared = LibsvmSolver.declared.but(
        search=Search({"C": [0.1, 1.0, 10.0, 100.0], "nu": [0.2, 0.5, 0.8]}, {"C": (1e-4, 1e4)}, ("C", "nu")),
        effort=Effort(copies=0.0, products=150.0, growth=0.3),
    )

    C: float = cost("C, the cost of an error beyond ε.")
    nu: float = share(
        0.5,
        "ν: at most this share of the training rows have an error beyond ε, at least this share are support vectors.",
        open_low=True,
    )
    tol: float = tolerance("y", "; it works in single precision, so with a large C a fit may not converge")

    tested_with = ({"tol": 1e-6}, {"C": 10.0, "nu": 0.2, "tol": 1e-5})

    def _fit(self, K: Floats, y: Floats) -> dict[str, Any]:
        """Run LIBSVM and measure its solution."""
        run = self._run(libsvm_estimator("NuSVR", C=self.C, nu=self.nu), K, y)
        beta = on_rows(self.support_, self.dual_coef_, len(y))
        product = weighted_sums(K, self.support_, self.dual_coef_)
        rest = y - product
        total = self.C * self.nu * len(y)
        if np.abs(beta).sum() < total * (1 - 1e-9):  # α and α* of one row are both above zero: the tube has no width
            epsilon, residual = 0.0, tube_violation(rest, beta, self.C, 0.0)
        else:
            above = rest[(beta >= 0) & (beta < self.C)], rest[beta > 0]
            below = rest[beta < 0], rest[(beta <= 0) & (beta > -self.C)]
            residual = max(violation(*above), violation(*below))
            epsilon = max(0.0, 0.5 * (middle(*above) - middle(*below)))
        square, loss = float(np.sum(beta * product)), float(np.sum(y * beta))
        errors = np.maximum(0.0, np.abs(rest - self.intercept_) - epsilon)
        primal = 0.5 * square + self.C * (self.nu * len(y) * epsilon + errors.sum())
        report = {
            **({} if run["converged"] else {"remark": SLOW}),
            **run,
            "residual": residual,
            "objective": 0.5 * square - loss,
            "gap": share_of(primal + 0.5 * square - loss, primal),
            "epsilon": epsilon,
        }
        return to_tolerance(report, self.tol)


def tube_violation(rest: Floats, beta: Floats, cost: float, epsilon: float) -> float:
    """Return the violation of the optimality conditions of a regression with a tube of half width ε.

    `rest` is y − Kβ; the result is in units of y.

    >>> import numpy as np
    >>> from seqkern.solvers.svm.svm import tube_violation
    >>> tube_violation(np.array([0.5, -0.25]), np.zeros(2), cost=1.0, epsilon=0.25)
    0.25
    """
    up = np.concatenate([rest[(beta >= 0) & (beta < cost)] - epsilon, rest[beta < 0] + epsilon])
    low = np.concatenate([rest[beta > 0] - epsilon, rest[(beta <= 0) & (beta > -cost)] + epsilon])
    return violation(up, low)


def middle(up: Floats, low: Floats) -> float:
    """Return the middle of max(up) and min(low), or the only one of them; 0 if both are empty."""
    ends = [part for part in (up.max(initial=-np.inf), low.min(initial=np.inf)) if np.isfinite(part)]
    return float(np.mean(ends)) if ends else 0.0


# The one-class SVM: LIBSVM's quadratic program, and its algorithm.

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

    nu: float = share(
        0.3,
        "ν: at most this share of the training rows are margin errors, at least this share are support vectors. The "
        "largest feasible value is 2·min(l₊, l₋)/l.",
        open_low=True,
    )
    tol: float = tolerance(
        "the mean diagonal of K", "; it works in single precision, so below about 1e-6 a fit may not converge"
    )

    def leave_one_out(self, K: Any, y: Array, *, limited: bool = True) -> "LeaveOneOut | None":
        """Return the bounds of the C-SVM with the same solution; None if no margin was found."""
        if not isinstance(K, np.ndarray) or self.report_["C"] is None:
            return None
        # imported here: prediction does not need it
        from seqkern.solvers.svm.margins import leave_one_out

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

    tested_with = ({"nu": 0.1, "tol": 1e-6}, {"tol": 1e-6})

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
    >>> from seqkern.solvers.svm.svm import smallest_sum
    >>> smallest_sum(np.array([3.0, 1.0, 2.0]), 1.5)
    2.0
    """
    values = np.sort(values)
    whole = min(int(amount), len(values))
    rest = amount - whole
    return float(values[:whole].sum()) + (rest * float(values[whole]) if rest > 0 and whole < len(values) else 0.0)


OUT_AND_IN = np.array([-1, 1])

NO_LENGTH = 1e-3  # Length, in units of their typical length, below which a mean of support vectors counts as zero

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

    nu: float = share(
        0.1,
        "ν: at most this share of the learned rows lie outside, at least this share are support vectors.",
        open_low=True,
    )
    tol: float = tolerance("the mean diagonal of K")

    tested_with = ({"tol": 1e-7}, {"nu": 0.2, "tol": 1e-7})

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
        run = self._learn(own, rows, unit, limit)
        why = {}
        if not run["converged"] and limit < self.max_iter and "remark" not in run:
            if self._length(own, rows, unit) < NO_LENGTH:
                why = {"remark": AT_ORIGIN}
            else:
                run = self._learn(own, rows, unit, self.max_iter)
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

    def _learn(self, own: Floats | GramRows, rows: Ints, unit: float, limit: int) -> dict[str, Any]:
        """Run LIBSVM's algorithm on the Gram matrix of some records."""
        n = len(rows)
        total = np.cumsum(np.full(n, self.nu))[-1]  # rounded as in LIBSVM
        start = np.clip(total - np.arange(n), 0.0, 1.0)  # the first records hold all weight
        run = self._solve(own, np.ones(n), np.zeros(n), np.ones(n), limit, tol=self.tol * unit, start=start)
        self.support_ = rows[self.support_]
        return run

    def _fit_products(self, K: KernelOperator, rows: Ints) -> dict[str, Any]:
        """Train on products with the kernel matrix of some records."""
        own = K if len(rows) == len(K) else K.take(rows)
        ones, total = np.ones(len(rows)), self.nu * len(rows)
        width = total * float(np.mean(own.squares))
        loss = Hinge(ones, ones, margin=0.0, total=total, width=width if width > 0 else 1.0)
        report = self._fit_loss(own, loss)
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
