"""Support vector regression, with ε or with ν: LIBSVM's quadratic programs, and its algorithm."""

from typing import Any, Literal, Self

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import changed, choice, real
from seqkern.core.types import Floats
from seqkern.gram.matrix import GramRows
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.solvers.capabilities import Search
from seqkern.solvers.contract import RealSolver
from seqkern.solvers.costs import Effort
from seqkern.solvers.expansion import weighted_sums
from seqkern.solvers.products.losses import Huber, Insensitive, SquaredInsensitive
from seqkern.solvers.products.on_products import MOST_PRODUCTS, fit_loss
from seqkern.solvers.shared import cost
from seqkern.solvers.svm.hulls import tube_found
from seqkern.solvers.svm.libsvm import LibsvmSolver, libsvm_estimator, on_rows, share_of, to_tolerance, violation

SMOOTH: dict[str, type[SquaredInsensitive | Huber]] = {"squared_insensitive": SquaredInsensitive, "huber": Huber}
"""Losses whose slope is linear between kinks."""

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
    epsilon: float = real(
        default=0.1,
        low=0,
        doc="ε, in units of y: smaller errors cost nothing; with ``loss=huber``, their square.",
    )
    loss: Literal["insensitive", "squared_insensitive", "huber"] = choice(
        default="insensitive",
        doc="Cost of an error beyond ε: in proportion, its square, or in proportion with squares below (Huber's).",
    )
    tol: float = changed(
        default=1e-3,
        doc="LIBSVM stops when the largest violation of the optimality conditions, in units of y, is below this.",
    )

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [
            cls(tol=1e-6),
            cls(C=10.0, epsilon=0.0, tol=1e-6),
            cls(loss="squared_insensitive", tol=1e-9),
            cls(C=3.0, epsilon=0.3, loss="huber", tol=1e-9),
        ]

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
        return self.loss in SMOOTH and bool(np.isfinite(self.C))

    def _fit(self, K: Any, y: Floats) -> dict[str, Any]:
        """Run LIBSVM's algorithm and measure its solution; on an operator, minimise on products."""
        if self.squares:
            smooth = SMOOTH[self.loss](y, float(self.C), float(self.epsilon))
            return self._fit_smooth(K, smooth, float(np.mean(y)))
        if isinstance(K, KernelOperator):
            tube = Insensitive(y, float(self.C), float(self.epsilon))
            return fit_loss(self, K, tube, self.tol, min(self.max_iter, MOST_PRODUCTS))
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
        # imported here: prediction does not need it
        from seqkern.solvers.svm.libsvm import minimise_by_rows

        n = len(y)
        found = minimise_by_rows(
            K,
            np.repeat([1.0, -1.0], n),
            np.concatenate((self.epsilon - y, self.epsilon + y)),
            np.full(2 * n, float(self.C)),
            np.arange(2 * n),
            tol=self.tol,
            max_iter=most,
            name=str(self.name),
        )
        if not found.finite:
            return self._nothing(found.iterations)
        self._keep(found.alpha[:n] - found.alpha[n:], -found.bias)
        return {"converged": found.converged, "iterations": found.iterations, "product": found.product}

    def _no_tube(self, K: Floats, y: Floats) -> str | None:
        """Return cause and remedy if no function stays within ε; None if one does."""
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
    nu: float = real(
        default=0.5,
        low=0,
        high=1,
        open_low=True,
        doc="ν: at most this share of the training rows have an error beyond ε, at least this share are support "
        "vectors.",
    )
    tol: float = changed(
        default=1e-3,
        doc="LIBSVM stops when the largest violation of the optimality conditions, in units of y, is below this; it "
        "works in single precision, so with a large C a fit may not converge.",
    )

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(tol=1e-6), cls(C=10.0, nu=0.2, tol=1e-5)]

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
    >>> from seqkern.solvers.svm.svr import tube_violation
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
