"""Learning vector quantisation, LVQ1, in feature space."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import real
from seqkern.solvers.prototypes.gram_prototypes import Array, LearnedGramPrototypes
from seqkern.solvers.shared import limit, tolerance

SLOWER = 10.0
"""Passes after which the rate has halved."""


class LVQ1(LearnedGramPrototypes):
    r"""LVQ1 in feature space: a prototype moves towards samples of its class, and away from others.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (p, s)
        γ: prototypes are Σ_j γ_pj φ(x_j). Negative where a prototype was pushed away.
    squares_ : ndarray of float64, shape (p,)
        ‖w_p‖².
    report_ : dict
        ``iterations`` are passes; ``residual`` is the largest squared movement of the last one, as a share of the mean
        squared distance of a sample from the nearest prototype; ``objective`` is the share of training errors.

    Notes
    -----
    The update of Kohonen for a sample x and its nearest prototype w, with s = 1 if both are of one class, else −1:

    .. math:: w ← w + s η (x − w)

    Here all samples for which a prototype is the nearest move it together, by η times their mean s (x − w), so that
    their order does not matter. η falls like 1 / (1 + t/10) over passes t. There is no cost that falls with each pass:
    use `relational_glvq` for a result that minimises something. The decision is the difference of squared distances as
    for `nearest_prototype`.

    Complexity: O(n²) per pass and prototype for n samples, and a copy of K.

    References
    ----------
    Kohonen: The self-organizing map. Proceedings of the IEEE 78, 1990.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers import LVQ1
    >>> x = np.array([[0.0, 1], [0.2, 1], [3, 1], [3.2, 1], [1.5, 1], [1.6, 1]])
    >>> solver = LVQ1(n_prototypes=2).fit(x @ x.T, [0, 0, 0, 0, 1, 1])
    >>> solver.predict(np.array([[0.1, 1], [3.1, 1], [1.55, 1]]) @ x.T).tolist()
    [0, 0, 1]
    """

    name = "lvq1"
    summary = "LVQ1: prototypes that move towards samples of their class and away from others, by kernel distance."
    fit_products = 45.0

    eta: float = real(default=0.3, low=0, high=1, open_low=True, doc="η of the first pass.")
    tol: float = tolerance(
        1e-6,
        "The fit has converged when no prototype moves farther in a pass: squared, as a share of the mean squared "
        "distance of a sample from the nearest prototype.",
    )
    max_iter: int = limit(2000, "Maximum number of passes.")

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(), cls(n_prototypes=3, eta=0.1)]

    def _learned(self, K: Array, y: npt.NDArray[np.int64]) -> tuple[Array, dict[str, Any]]:
        """Move the prototypes until they stay."""
        weights = self._starts(K, y, 1)[0]
        codes, diagonal = self._first_codes(self.n_prototypes), np.diagonal(K)
        products, residual, done = weights @ K, np.inf, 0
        while residual > self.tol and done < self.max_iter:
            distances = diagonal - 2.0 * products + np.sum(products * weights, axis=1)[:, None]
            nearest = distances.argmin(axis=0)
            sign = np.where(codes[nearest] == y, 1.0, -1.0)
            share = np.where(nearest == np.arange(len(codes))[:, None], sign, 0.0)
            share /= np.maximum(np.abs(share).sum(axis=1, keepdims=True), 1.0)
            step = self.eta / (1.0 + done / SLOWER) * (share - share.sum(axis=1, keepdims=True) * weights)
            moved = step @ K
            scale = float(np.maximum(distances.min(axis=0), 0.0).mean()) or 1.0
            residual = max(float(np.sum(moved * step, axis=1).max()), 0.0) / scale
            weights, products = weights + step, products + moved
            done += 1
        distances = diagonal - 2.0 * products + np.sum(products * weights, axis=1)[:, None]
        wrong = float(np.mean(codes[distances.argmin(axis=0)] != y))
        report: dict[str, Any] = {
            "converged": residual <= self.tol,
            "iterations": done,
            "residual": residual,
            "objective": wrong,
        }
        if residual > self.tol:
            report["remark"] = "raise max_iter or tol, or lower eta"
        return weights, report
