"""Newton steps for the direct multi-class machine: a joint move of all variables that are inside their bounds.

Moves of single rows, which lower the dual of the machine fast at first, take very many steps where C is large and many
variables are free. Solved together, the free ones are soon at their minimum.
"""

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dposv

FREE = 1 / 3
"""Variables that are solved for at most, as a share of the rows: their matrix and its copy take 2/9 of K."""
SMALL = 64
"""So many are always solved for."""
DAMPING = 1e-11, 1e-6, 1e-2
"""Smallest, first and largest addition to the diagonal, as a share of its mean."""

Array = npt.NDArray[np.float64]


class Newton:
    """Joint moves of the free variables.

    Parameters
    ----------
    K : ndarray of float64, shape (n, n)
        The Gram matrix.
    y : ndarray of int64, shape (n,)
        The place of each row's class.
    cost, sigma : float
        The upper bound of each variable; what is added to all of K.

    Examples
    --------
    Two rows of two classes, inside their bounds: one step leads to the minimum, where margins are 2.

    >>> import numpy as np
    >>> y, alpha = np.array([0, 1]), np.array([[0.0, 0.1], [0.1, 0.0]])
    >>> newton = Newton(np.diag([1.0, 2.0]), y, cost=10.0, sigma=0.0)
    >>> newton.step(alpha, np.array([[0.1, -0.2], [-0.1, 0.2]])).round(3)
    array([[-0.9,  0.9],
           [ 0.4, -0.4]])
    >>> alpha.round(3)
    array([[0. , 0.5],
           [1. , 0. ]])
    """

    def __init__(self, K: Array, y: npt.NDArray[np.int64], cost: float, sigma: float) -> None:
        self.K, self.y, self.cost, self.sigma = K, y, cost, sigma
        self.damping = DAMPING[1]

    def step(self, alpha: Array, outputs: Array) -> Array | None:
        """Move the free variables towards their joint minimum, as far as their bounds permit.

        Parameters
        ----------
        alpha : ndarray of float64, shape (c, n)
            The variables; changed in place.
        outputs : ndarray of float64, shape (c, n)
            Of each class for each row.

        Returns
        -------
        ndarray of float64, shape (n, c), or None
            By how much −β has changed; None if nothing has moved.
        """
        classes, rows = np.nonzero((alpha > 0) & (alpha < self.cost))
        if not 0 < len(rows) <= max(SMALL, FREE * len(self.y)):
            return None
        own, before = self.y[rows], alpha[classes, rows]
        H, slope = self._curvature(classes, rows), outputs[own, rows] - outputs[classes, rows] - 2
        direction = self._direction(H, slope)
        if direction is None:
            return None
        goal = self._goal(H, slope, before, direction)
        if goal is None:
            return None
        alpha[classes, rows] = goal
        change = np.zeros(alpha.shape[::-1])
        change[rows, classes] = goal - before
        np.add.at(change, (rows, own), before - goal)
        return change

    def _curvature(self, classes: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]) -> Array:
        """Return the second derivatives of the dual by the variables of these classes and rows.

        α_im enters β_mi with the sign −, and that of the row's own class with +.
        """
        own = self.y[rows]
        H = self.K[np.ix_(rows, rows)]
        H += self.sigma
        signs = np.equal.outer(classes, classes).astype(np.int8)
        signs += np.equal.outer(own, own)
        signs -= np.equal.outer(classes, own)
        signs -= np.equal.outer(own, classes)
        H *= signs
        return H

    def _direction(self, H: Array, slope: Array) -> Array | None:
        """Return the solution of (H + damping) · direction = −slope, or None if it has none."""
        damped = H.copy()
        damped.flat[:: len(H) + 1] += self.damping * np.trace(H) / len(H)
        _, direction, failed = dposv(damped.T, -slope, lower=0, overwrite_a=1)
        self.damping = min(self.damping * 100, DAMPING[2]) if failed else max(self.damping / 10, DAMPING[0])
        return None if failed else direction

    def _goal(self, H: Array, slope: Array, before: Array, direction: Array) -> Array | None:
        """Return where the variables go; those that reach a bound stop there.

        The longest of some moves that lower the dual, of which the shortest ends at the first bound.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(direction > 0, self.cost - before, before) / np.abs(direction)
        nearest, length = float(np.nanmin(reach)), 1.0
        while True:
            goal = np.clip(before + length * direction, 0, self.cost)
            step = goal - before
            if slope @ step + 0.5 * step @ (H @ step) < 0:
                return goal
            if not length > nearest:
                return None
            length = max(length / 4, nearest)
