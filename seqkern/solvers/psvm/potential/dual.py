"""The dual problem of the P-SVM: objective, optimality conditions, and the duality gap.

    min_α  ½ ‖K̃α − y‖² + ε ‖α‖₁   over   −C ≤ α_j ≤ C

K̃ has standardised columns, y is centred. There is no equality constraint, so single variables can move.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqkern.core.threads import one_thread
from seqkern.solvers.psvm.potential import _descent
from seqkern.solvers.psvm.potential.columns import Columns


@dataclass(frozen=True)
class Dual:
    """One problem; `dataclasses.replace` changes ε or C without a pass over K.

    Attributes
    ----------
    columns : Columns
        K and the means and scales of its columns; a scale of zero excludes a column.
    target : ndarray of float64, shape (l,)
        y, centred.
    epsilon, cost : float
        ε ≥ 0 and C > 0, which may be infinite.
    correlations : ndarray of float64, shape (N,), optional
        K̃ᵀy; computed by default.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.psvm.potential.columns import DenseColumns
    >>> from seqkern.solvers.psvm.potential.dual import Dual
    >>> columns = DenseColumns(np.array([[1.0, 2.0, 3.0, 4.0], [1.0, 0.0, 0.0, 1.0]]))
    >>> dual = Dual(columns, np.array([-1.0, -1.0, 1.0, 1.0]), epsilon=0.5, cost=np.inf)
    >>> dual.correlations.round(3), round(dual.epsilon_max, 3)
    (array([3.578, 0.   ]), 3.578)
    >>> alpha = np.zeros(2)
    >>> dual.violations(alpha, dual.gradient(dual.residual(alpha))).round(3)
    array([3.078, 0.   ])
    """

    columns: Columns
    target: npt.NDArray[np.float64]
    epsilon: float
    cost: float
    correlations: npt.NDArray[np.float64] = None  # type: ignore[assignment]  # an array from the start on

    def __post_init__(self) -> None:
        """Compute the correlations."""
        if self.correlations is None:
            with one_thread():
                object.__setattr__(self, "correlations", self.columns.products(self.target))

    @property
    def epsilon_max(self) -> float:
        """‖K̃ᵀy‖_∞: from this ε on, α = 0 is the solution."""
        return float(np.abs(self.correlations).max(initial=0.0))

    @property
    def unit(self) -> float:
        """The unit of violations: ε_max, or 1 if it is 0."""
        return self.epsilon_max or 1.0

    @property
    def energy(self) -> float:
        """The unit of gaps: ½‖y‖², or 1 if it is 0."""
        return 0.5 * float(self.target @ self.target) or 1.0

    @property
    def rounding(self) -> float:
        """A bound on the rounding error of a gradient.

        It sums l products, whose sizes add up to ‖K̃_j‖·‖y‖ = √l·‖y‖ at most.
        """
        rows = len(self.target)
        return rows * np.finfo(np.float64).eps * float(np.sqrt(2 * self.energy * rows))

    def residual(self, alpha: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return K̃α − y.

        Parameters
        ----------
        alpha : ndarray of float64, shape (N,)
            α.

        Returns
        -------
        ndarray of float64, shape (l,)
        """
        return self.columns.combine(alpha) - self.target

    def gradient(self, residual: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return g = K̃ᵀ(K̃α − y).

        Parameters
        ----------
        residual : ndarray of float64, shape (l,)
            K̃α − y.

        Returns
        -------
        ndarray of float64, shape (N,)
        """
        return self.columns.products(residual)

    def violations(self, alpha: npt.NDArray[np.float64], gradient: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the violation of each variable's optimality condition.

        α = 0 demands |g| ≤ ε; 0 < α < C: g = −ε; −C < α < 0: g = ε; α = C: g ≤ −ε; α = −C: g ≥ ε.

        Parameters
        ----------
        alpha, gradient : ndarray of float64, shape (N,)
            α and its g.

        Returns
        -------
        ndarray of float64, shape (N,)
            Zero if the condition holds.
        """
        out = np.empty(len(alpha))
        _descent.violations(alpha, gradient, self.epsilon, self.cost, out)
        return out

    def objective(self, alpha: npt.NDArray[np.float64], residual: npt.NDArray[np.float64]) -> float:
        """Return ½ αᵀK̃ᵀK̃α − yᵀK̃α + ε‖α‖₁.

        Parameters
        ----------
        alpha : ndarray of float64, shape (N,)
            α.
        residual : ndarray of float64, shape (l,)
            K̃α − y.

        Returns
        -------
        float
            Smaller than the objective above by ½‖y‖².
        """
        squares = residual @ residual - self.target @ self.target
        return float(0.5 * squares + self.epsilon * np.abs(alpha).sum())

    def gap(
        self, alpha: npt.NDArray[np.float64], residual: npt.NDArray[np.float64], gradient: npt.NDArray[np.float64]
    ) -> float | None:
        """Return an upper bound of the distance of the objective from its minimum.

        Any multiple s · (K̃α − y) is a point of the problem's own dual, with a penalty C Σ (s|g_j| − ε)₊. The
        smaller gap of two is taken: s = 1 (finite C only), and the largest s without penalty, as for the
        lasso.

        Parameters
        ----------
        alpha : ndarray of float64, shape (N,)
            α.
        residual : ndarray of float64, shape (l,)
            K̃α − y.
        gradient : ndarray of float64, shape (N,)
            g.

        Returns
        -------
        float or None
            None if ε = 0 and C is infinite.
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
