"""The dual problem of the P-SVM: objective, optimality conditions, and the gap that certifies a solution.

    min_α  ½ ‖K̃α − y‖² + ε ‖α‖₁   over   −C ≤ α_j ≤ C

K̃ has standardised columns, y is centred. There is no equality constraint, so that one variable can move alone.
"""

from dataclasses import dataclass

import numpy as np

from seqkern.core.threads import one_thread
from seqkern.solvers.psvm.potential import _descent
from seqkern.solvers.psvm.potential.columns import Columns


@dataclass(frozen=True)
class Dual:
    """One problem; `dataclasses.replace` gives the same one with another ε or C, without a pass over K.

    Attributes
    ----------
    columns : Columns
        K and the means and scales of its columns; a scale of zero leaves a column out.
    target : ndarray of float64, shape (l,)
        y, centred.
    epsilon, cost : float
        ε ≥ 0 and C > 0, which may be infinite.
    correlations : ndarray of float64, shape (N,), optional
        K̃ᵀy; computed by default.
    """

    columns: Columns
    target: np.ndarray
    epsilon: float
    cost: float
    correlations: np.ndarray = None

    def __post_init__(self):
        """Compute the correlations."""
        if self.correlations is None:
            with one_thread():
                object.__setattr__(self, "correlations", self.columns.products(self.target))

    @property
    def epsilon_max(self):
        """‖K̃ᵀy‖_∞: from this ε on, α = 0 is the solution."""
        return float(np.abs(self.correlations).max(initial=0.0))

    @property
    def unit(self):
        """The unit of violations: ε_max; 1 where that is 0."""
        return self.epsilon_max or 1.0

    @property
    def energy(self):
        """The unit of gaps: ½‖y‖²; 1 where that is 0."""
        return 0.5 * float(self.target @ self.target) or 1.0

    @property
    def rounding(self):
        """A bound on the rounding error of a gradient.

        It sums l products, whose sizes add up to ‖K̃_j‖·‖y‖ = √l·‖y‖ at most.
        """
        rows = len(self.target)
        return rows * np.finfo(np.float64).eps * float(np.sqrt(2 * self.energy * rows))

    def residual(self, alpha):
        """Return K̃α − y, shape (l,)."""
        return self.columns.combine(alpha) - self.target

    def gradient(self, residual):
        """Return g = K̃ᵀ(K̃α − y), shape (N,)."""
        return self.columns.products(residual)

    def violations(self, alpha, gradient):
        """Return by how much each variable violates its optimality condition, shape (N,).

        α = 0 demands |g| ≤ ε; 0 < α < C: g = −ε; −C < α < 0: g = ε; α = C: g ≤ −ε; α = −C: g ≥ ε.
        """
        out = np.empty(len(alpha))
        _descent.violations(alpha, gradient, self.epsilon, self.cost, out)
        return out

    def objective(self, alpha, residual):
        """Return ½ αᵀK̃ᵀK̃α − yᵀK̃α + ε‖α‖₁."""
        squares = residual @ residual - self.target @ self.target
        return float(0.5 * squares + self.epsilon * np.abs(alpha).sum())

    def gap(self, alpha, residual, gradient):
        """Return a bound on how far the objective is from its minimum; None where ε = 0 and C is infinite.

        Any multiple s · (K̃α − y) is a point of the problem's own dual, with a penalty C Σ (s|g_j| − ε)₊. The
        smaller gap of two is taken: s = 1 (finite C only), and the largest s without penalty, as for the
        lasso.
        """
        size = np.abs(gradient)
        norm = self.epsilon * float(np.abs(alpha).sum())
        gaps = []
        if self.cost < np.inf:
            gaps.append(alpha @ gradient + norm + self.cost * np.maximum(size - self.epsilon, 0).sum())
        if self.epsilon > 0:
            s = self.epsilon / max(size.max(initial=0.0), self.epsilon)
            gaps.append(0.5 * (1 + s * s) * (residual @ residual) + norm + s * (residual @ self.target))
        return max(0.0, float(min(gaps))) if gaps else None
