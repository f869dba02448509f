"""The perceptron, in the kernel form."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import flag, real
from seqkern.solvers.base import BinarySolver
from seqkern.solvers.baselines import _perceptron
from seqkern.solvers.expansion import KernelExpansion
from seqkern.solvers.gram_order import gram_order
from seqkern.solvers.shared import limit, random_seed


def bias_share() -> Any:
    """Declare a penalised bias.

    Returns
    -------
    Parameter
        For type checkers, a value.
    """
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
    fit_products = 20.0
    gram_copies = 0.1

    average: bool = flag(default=False, doc="Whether the result is the mean of w over all visits, not the last w.")
    bias: float = bias_share()
    max_epochs: int = limit(1000, "Maximum number of passes over the samples.")
    seed: int = random_seed("Of the order of the samples.")

    @classmethod
    def default_grid(cls) -> dict[str, list[Any]]:
        """Return what a search tries: the last w, or the mean."""
        return {"average": [True, False]}

    def complexity(self) -> tuple[float, ...]:
        """Return (0,) with `average`, which is smoother, else (1,)."""
        return (float(not self.average),)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(), cls(average=True, bias=1.0)]

    def _fit(self, K: Any, y: npt.NDArray[np.float64]) -> dict[str, Any]:
        """Pass over the samples until none is on the wrong side."""
        K = np.ascontiguousarray(K)
        n, shift = len(K), float(self.bias) * float(np.diagonal(K).mean())
        updates, late, f = np.zeros(n), np.zeros(n), np.zeros(n)
        order = gram_order(K, y, self.seed)
        epochs, wrong = _perceptron.perceptron(K, y, order, shift, updates, late, f, self.max_epochs)
        weights = updates - late / (n * epochs) if self.average else updates
        self._keep(y * weights, shift * float(np.sum(y[order] * weights[order])))
        report: dict[str, Any] = {
            "converged": wrong == 0,
            "iterations": epochs,
            "residual": wrong / n,
            "objective": float(np.maximum(-(y * f)[order], 0.0).sum()),
            "updates": int(updates.sum()),
        }
        if wrong:
            report["remark"] = "the classes may not be separable; raise max_epochs, or choose adatron or csvc"
        return report
