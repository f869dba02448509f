"""The perceptron, AdaTron and MinOver."""

from typing import Any

import numpy as np

from seqkern.core.parameters import count, flag, positive, real
from seqkern.core.types import Floats
from seqkern.solvers import _linear
from seqkern.solvers.capabilities import SEARCH_COST, Effort, Search, Traits
from seqkern.solvers.contract import BinarySolver
from seqkern.solvers.shared import KernelExpansion, cost, gram_order, random_seed

# The kernel perceptron.


def bias_share() -> Any:
    """Return the declaration of the parameter for a penalised bias."""
    return real(
        default=0.0,
        low=0,
        doc="The bias is the weight of a constant feature whose square is `bias` times the mean diagonal of K. "
        "0: no bias, as in the definition.",
    )


class Perceptron(KernelExpansion, BinarySolver):
    r"""Perceptron: add every sample that is on the wrong side, until none is.

    Attributes
    ----------
    dual_coef_ : ndarray of float64, shape (s,)
        y_i times how often x_i was added; with `average` the mean of these over all visits.
    intercept_ : float
    report_ : dict
        ``iterations`` are passes; ``updates`` (int); ``residual`` is the share of samples that were added in the last
        pass, 0 after convergence; ``objective`` is Σ max(0, −y f).

    Notes
    -----
    Visit the samples in turn, with w = Σ_i c_i φ(x_i) and c = 0 at first:

    .. math:: c_i ← c_i + y_i  where  y_i \sum_j c_j K(x_j, x_i) ≤ 0

    If a hyperplane through the origin separates the classes with margin γ, and K(x, x) ≤ R², there are at most
    ⌊R²/γ²⌋ updates (Novikoff), whatever the order. Otherwise the passes never end: the fit stops after `max_epochs`,
    not converged. `average` takes the mean of w over all visits, which is steadier (Freund & Schapire). Samples are
    visited in an order drawn from their kernel values, so that the order of the input does not matter.

    Complexity: O(n) per update for n samples, O(n² log n) for the order.

    References
    ----------
    Rosenblatt: The perceptron: a probabilistic model for information storage and organization in the brain.
    Psychological Review 65, 1958.

    Novikoff: On convergence proofs on perceptrons. Symposium on the Mathematical Theory of Automata 12, 1962.

    Freund, Schapire: Large margin classification using the perceptron algorithm. Machine Learning 37, 1999.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers import Perceptron
    >>> K = np.array([[2, 1, 1, 0], [1, 2, 0, 1], [1, 0, 2, 1], [0, 1, 1, 2]])  # 2-mers of SAY, BAY, SAD, BAD
    >>> solver = Perceptron().fit(K, [1, 1, 0, 0])
    >>> solver.report_["updates"], solver.predict(K).tolist()
    (2, [1, 1, 0, 0])
    """

    name = "perceptron"
    summary = "Perceptron: adds every sample that is on the wrong side, until none is."
    declared = Traits(
        search=Search({"average": [True, False]}, order=("-average",)), effort=Effort(products=20.0, copies=0.1)
    )

    average: bool = flag(default=False, doc="Whether the result is the mean of w over all visits, not the last w.")
    bias: float = bias_share()
    max_epochs: int = count(1000, "Maximum number of passes over the samples.")
    seed: int = random_seed("Of the order of the samples.")

    tested_with = ({}, {"average": True, "bias": 1.0})

    def _fit(self, K: Any, y: Floats) -> dict[str, Any]:
        """Pass over the samples until none is misclassified, and return the report."""
        K = np.ascontiguousarray(K)
        n, shift = len(K), float(self.bias) * float(np.diagonal(K).mean())
        updates, late, f = np.zeros(n), np.zeros(n), np.zeros(n)
        order = gram_order(K, y, self.seed)
        epochs, wrong = _linear.perceptron(K, y, order, shift, updates, late, f, self.max_epochs)
        weights = updates - late / (n * epochs) if self.average else updates
        self._keep(y * weights, shift * float(np.sum(y[order] * weights[order])))
        return {
            "converged": wrong == 0,
            "iterations": epochs,
            "residual": wrong / n,
            "objective": float(np.maximum(-(y * f)[order], 0.0).sum()),
            "updates": int(updates.sum()),
            "remedy": "the classes may not be separable; raise max_epochs, or choose adatron or csvc",
        }


# AdaTron: an SVM without bias, trained one multiplier at a time.


class AdaTron(KernelExpansion, BinarySolver):
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
    declared = Traits(semidefinite=True, search=SEARCH_COST, effort=Effort(products=60.0, growth=0.5, copies=0.1))

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
    tol: float = positive(1e-3, "The fit has converged when no condition is violated by more; margins are 1.")
    max_epochs: int = count(10_000, "Maximum number of passes over the samples.")

    tested_with = ({"tol": 1e-6}, {"C": 20.0, "bias": 1.0, "eta": 1.5, "tol": 1e-5})

    def _fit(self, K: Any, y: Floats) -> dict[str, Any]:
        """Update the multipliers in passes until none changes, and return the report."""
        K = np.ascontiguousarray(K)
        n, diagonal = len(K), np.diagonal(K)
        shift = float(self.bias) * float(diagonal.mean())
        largest = float(diagonal.max()) + shift
        eta = float(self.eta) / largest if largest > 0 else 1.0
        X, f = np.zeros(n), np.zeros(n)
        order = gram_order(K, y)
        C = float(self.C)
        epochs, residual = _linear.adatron(K, y, order, shift, eta, C, X, f, self.tol, self.max_epochs)
        self._keep(y * X, shift * float(np.sum((y * X)[order])))
        return {
            "converged": residual <= self.tol,
            "iterations": epochs,
            "residual": residual,
            "objective": float(0.5 * np.sum((X * y * f)[order]) - np.sum(X[order])),
            "remedy": "raise max_epochs or tol, or lower C",
        }


# MinOver: the maximum-margin perceptron, trained by adding the sample of least stability.


class MinOver(KernelExpansion, BinarySolver):
    r"""MinOver: the hyperplane of greatest margin, by adding the sample of least stability.

    Attributes
    ----------
    dual_coef_ : ndarray of float64, shape (s,)
        Coefficients of the hyperplane with ‖w‖ = 1: a decision is the distance from it.
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
    declared = Traits(effort=Effort(products=50.0, copies=0.1))

    bias: float = bias_share()
    tol: float = positive(0.02, "The fit has converged when the margin is within this share of the greatest one.")
    max_iter: int = count(200_000, "Maximum number of updates.")

    tested_with = ({"tol": 0.1}, {"bias": 1.0, "tol": 0.2})

    def _fit(self, K: Any, y: Floats) -> dict[str, Any]:
        """Add the sample of least stability until the margin is close to its bound; return the report."""
        K = np.ascontiguousarray(K)
        n, shift = len(K), float(self.bias) * float(np.diagonal(K).mean())
        updates, f = np.zeros(n), np.zeros(n)
        order = gram_order(K, y)
        steps, squares, least = _linear.minover(K, y, order, shift, updates, f, self.tol, self.max_iter)
        norm = float(np.sqrt(squares)) if squares > 0 else 1.0
        self._keep(y * updates / norm, shift * float(np.sum((y * updates)[order])) / norm)
        residual = 1.0 - least * steps / norm**2
        return {
            "converged": bool(squares > 0 and residual <= self.tol),
            "iterations": steps,
            "residual": float(residual),
            "objective": least / norm,
            "remedy": "the classes may not be separable; raise max_iter or tol, or choose adatron or csvc",
        }
