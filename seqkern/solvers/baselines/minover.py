"""MinOver: the perceptron of greatest margin, by adding the sample of least stability."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.solvers.base import BinarySolver
from seqkern.solvers.baselines import _perceptron
from seqkern.solvers.baselines.perceptron import bias_share
from seqkern.solvers.expansion import KernelExpansion
from seqkern.solvers.gram_order import gram_order
from seqkern.solvers.shared import limit, tolerance


class MinOver(KernelExpansion, BinarySolver):
    r"""MinOver: the hyperplane of greatest margin, by adding the sample of least stability.

    Attributes
    ----------
    dual_coef_ : ndarray of float64, shape (s,)
        Of the hyperplane with ‖w‖ = 1: a decision is the distance from it.
    intercept_ : float
    report_ : dict
        ``iterations`` are updates; ``objective`` is the margin, the least y f; ``residual`` is the share by which it
        may be below the greatest one.

    Notes
    -----
    With w = Σ_i c_i φ(x_i), and c = 0 at first,

    .. math:: c_m ← c_m + y_m  for  m = argmin_i y_i \sum_j c_j K(x_j, x_i)

    After t updates w/t is in the convex hull of the y_i φ(x_i), the nearest point of which to the origin has the norm
    of the greatest margin γ: so min_i y_i f(x_i) / ‖w‖ ≤ γ ≤ ‖w‖/t, and the fit has converged when both ends are within
    `tol`. It takes O(R²/(γ² tol²)) updates, R² = max K(x, x). If no hyperplane through the origin separates the
    classes, it never converges.

    Complexity: O(n) per update for n samples, O(n² log n) for their order, which decides between equal stabilities.

    References
    ----------
    Krauth, Mézard: Learning algorithms with optimal stability in neural networks. Journal of Physics A 20, 1987.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers import MinOver
    >>> K = np.array([[2, 1, 1, 0], [1, 2, 0, 1], [1, 0, 2, 1], [0, 1, 1, 2]])  # 2-mers of SAY, BAY, SAD, BAD
    >>> solver = MinOver(tol=1e-6).fit(K, [1, 1, 0, 0])
    >>> round(solver.report_["objective"], 6)  # the margin of a hard-margin SVM
    0.707107
    """

    name = "minover"
    summary = "MinOver: the separating hyperplane of greatest margin, by adding the sample nearest to it."
    fit_products = 50.0
    gram_copies = 0.1

    bias: float = bias_share()
    tol: float = tolerance(0.02, "The fit has converged when the margin is within this share of the greatest one.")
    max_iter: int = limit(200_000, "Maximum number of updates.")

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(tol=0.1), cls(bias=1.0, tol=0.2)]

    def _fit(self, K: Any, y: npt.NDArray[np.float64]) -> dict[str, Any]:
        """Add the sample of least stability until the margin is near its bound."""
        K = np.ascontiguousarray(K)
        n, shift = len(K), float(self.bias) * float(np.diagonal(K).mean())
        updates, f = np.zeros(n), np.zeros(n)
        order = gram_order(K, y)
        steps, squares, least = _perceptron.minover(K, y, order, shift, updates, f, self.tol, self.max_iter)
        norm = float(np.sqrt(squares)) if squares > 0 else 1.0
        self._keep(y * updates / norm, shift * float(np.sum((y * updates)[order])) / norm)
        residual = 1.0 - least * steps / norm**2
        report: dict[str, Any] = {
            "converged": bool(squares > 0 and residual <= self.tol),
            "iterations": steps,
            "residual": float(residual),
            "objective": least / norm,
        }
        if not report["converged"]:
            report["remark"] = "the classes may not be separable; raise max_iter or tol, or choose adatron or csvc"
        return report
