"""AdaTron: the support vector machine without bias, one multiplier at a time."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import real
from seqkern.solvers.base import BinarySolver
from seqkern.solvers.baselines import _perceptron
from seqkern.solvers.baselines.perceptron import bias_share
from seqkern.solvers.expansion import KernelExpansion
from seqkern.solvers.gram_order import gram_order
from seqkern.solvers.shared import SearchesCost, cost, limit, tolerance


class AdaTron(SearchesCost, KernelExpansion, BinarySolver):
    r"""AdaTron: the SVM without bias, by a perceptron rule for its multipliers.

    Attributes
    ----------
    dual_coef_ : ndarray of float64, shape (s,)
        y_i X_i of the samples with X_i > 0.
    intercept_ : float
    report_ : dict
        ``iterations`` are passes; ``residual`` is the largest violation of an optimality condition; ``objective`` is
        that of the dual, ½ Σ_ij X_i X_j y_i y_j K_ij − Σ_i X_i.

    Notes
    -----
    The multipliers X start at 0. Each in turn follows

    .. math:: X_m ← \min(C, \max(0, X_m + η (1 − y_m \sum_n y_n X_n K(x_n, x_m))))

    With K positive semi-definite and 0 < η < 2 / max K(x, x), each step lowers the objective, and the fixed points are
    the solutions of

    .. math:: \min ½‖w‖^2 + C \sum_i ξ_i,  y_i w·φ(x_i) ≥ 1 − ξ_i,  ξ_i ≥ 0

    the C-SVM without bias; `C=inf` is AdaTron as published, the perceptron of greatest margin, which diverges if the
    classes cannot be separated.

    Complexity: O(n) per change of a multiplier, O(n²) per pass for n samples.

    References
    ----------
    Anlauf, Biehl: The AdaTron: an adaptive perceptron algorithm. Europhysics Letters 10, 1989.

    Frieß, Cristianini, Campbell: The kernel-AdaTron algorithm: a fast and simple learning procedure for support vector
    machines. International Conference on Machine Learning 15, 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers import AdaTron
    >>> K = np.array([[2, 1, 1, 0], [1, 2, 0, 1], [1, 0, 2, 1], [0, 1, 1, 2]])  # 2-mers of SAY, BAY, SAD, BAD
    >>> solver = AdaTron(C=float("inf"), tol=1e-9).fit(K, [1, 1, 0, 0])
    >>> solver.decision_function(K).round(6).tolist()
    [1.0, 1.0, -1.0, -1.0]
    """

    name = "adatron"
    summary = "AdaTron: a support vector machine without bias, trained by a perceptron rule."
    needs_semidefinite = True
    fit_products = 60.0
    fit_growth = 0.5
    gram_copies = 0.1

    C: float = cost("C, the cost of a margin error; inf for a hard margin.", infinite=True)
    eta: float = real(
        default=1.0,
        low=0,
        high=2,
        open_low=True,
        open_high=True,
        doc="η max K(x, x), below 2; 1 minimises over each multiplier where K is normalised.",
    )
    bias: float = bias_share()
    tol: float = tolerance(1e-3, "The fit has converged when no condition is violated by more; margins are 1.")
    max_epochs: int = limit(10_000, "Maximum number of passes over the samples.")

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(tol=1e-6), cls(C=20.0, bias=1.0, eta=1.5, tol=1e-5)]

    def _fit(self, K: Any, y: npt.NDArray[np.float64]) -> dict[str, Any]:
        """Pass over the multipliers until none moves."""
        K = np.ascontiguousarray(K)
        n, diagonal = len(K), np.diagonal(K)
        shift = float(self.bias) * float(diagonal.mean())
        largest = float(diagonal.max()) + shift
        eta = float(self.eta) / largest if largest > 0 else 1.0
        X, f = np.zeros(n), np.zeros(n)
        order = gram_order(K, y)
        C = float(self.C)
        epochs, residual = _perceptron.adatron(K, y, order, shift, eta, C, X, f, self.tol, self.max_epochs)
        self._keep(y * X, shift * float(np.sum((y * X)[order])))
        report: dict[str, Any] = {
            "converged": residual <= self.tol,
            "iterations": epochs,
            "residual": residual,
            "objective": float(0.5 * np.sum((X * y * f)[order]) - np.sum(X[order])),
        }
        if not report["converged"]:
            report["remark"] = "raise max_epochs or tol, or lower C"
        return report
