"""The best lower bound of a minimum from the dual points that were met on the way."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

ENOUGH = 0.02
"""The combination is good enough when it could be better by so small a share of the gap."""

MOST_MOVES = 5000
"""Maximum number of moves of weight from one point to another."""


class DualBound:
    """The dual D(a) = −½·aᵀKa − Σ ℓ_i*(−a_i) on the convex hull of points a_1, …, a_t.

    D is concave, and so is its last term alone: D(Σ λ_s a_s) ≥ Σ λ_s v_s − ½ ‖Σ λ_s u_s‖², v_s the last term at a_s,
    u_s its coordinates in the `ProductSpace`. The bound is the largest such value that was found.

    Attributes
    ----------
    value : float
        The bound.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.products.dual_bound import DualBound
    >>> bound = DualBound()
    >>> bound.add(np.array([2.0]), 2.0, gap=1.0)
    >>> bound.value
    0.0
    >>> bound.add(np.array([-2.0, 0.0]), 2.0, gap=1.0)
    >>> bound.value
    2.0
    """

    def __init__(self) -> None:
        self.value = -np.inf
        self.points = np.empty((0, 0))
        self.linear = np.empty(0)
        self.square = np.empty((0, 0))
        self.shares = np.empty(0)

    def add(self, point: Floats, linear: float, gap: float) -> None:
        """Add a point, and look for a better combination, from the last one or from this point if it is better.

        Parameters
        ----------
        point : ndarray of float64, shape (size,)
            u; the others are taken to be zero in new coordinates.
        linear : float
            v.
        gap : float
            How far the minimum may be above this point, which says how exact a combination must be.
        """
        count, size = self.points.shape
        points = np.zeros((count + 1, len(point)))
        points[:count, :size] = self.points
        points[count] = point
        self.points = points
        self.linear = np.append(self.linear, linear)
        square = np.empty((count + 1, count + 1))
        square[:count, :count] = self.square
        square[count] = square[:, count] = points @ point
        self.square = square
        self.shares = np.append(self.shares, 0.0)
        alone = np.append(np.zeros(count), 1.0)
        if not count or self._of(alone) > self._of(self.shares):
            self.shares = alone
        self._improve(ENOUGH * gap)
        self.value = max(self.value, self._of(self.shares))

    def _of(self, shares: Floats) -> float:
        return float(self.linear @ shares - 0.5 * shares @ self.square @ shares)

    def _improve(self, enough: float) -> None:
        """Move weight between the two points where it raises the value most, again and again."""
        slope = self.linear - self.square @ self.shares
        for _ in range(MOST_MOVES):
            up = int(np.argmax(slope))
            if slope[up] - float(slope @ self.shares) <= enough:
                break
            down = int(np.argmin(np.where(self.shares > 0, slope, np.inf)))
            curvature = self.square[up, up] - 2 * self.square[up, down] + self.square[down, down]
            rise = slope[up] - slope[down]
            step = min(self.shares[down], rise / curvature if curvature > 0 else np.inf)
            self.shares[up] += step
            self.shares[down] -= step
            slope -= step * (self.square[:, up] - self.square[:, down])

    def combined(self, size: int) -> Floats:
        """Return the coordinates of the best combination.

        Parameters
        ----------
        size : int
            How many; zero beyond those known.

        Returns
        -------
        ndarray of float64, shape (size,)
        """
        out = np.zeros(size)
        out[: self.points.shape[1]] = self.shares @ self.points
        return out

    def restart(self, point: Floats) -> None:
        """Keep the best combination alone, with new coordinates.

        Parameters
        ----------
        point : ndarray of float64, shape (size,)
            Those that `combined` has in another basis.
        """
        linear = float(self.linear @ self.shares)
        self.points, self.linear, self.shares = point[None], np.array([linear]), np.ones(1)
        self.square = np.array([[point @ point]])
