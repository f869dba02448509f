"""Losses of decisions z_i = f(x_i) + b for `subspace`, which minimises ½‖f‖² + total·b + Σ_i ℓ_i(z_i).

The dual variables are a_i = −ℓ_i'(z_i); where the bias is optimal, they sum to `total`. A loss with kinks is
smoothed: within `width` of a kink it is a parabola, and the certificate includes the cost of that.
"""

import copy
from typing import Any, Self

import numpy as np

from seqkern.core.types import Floats, Ints


class Loss:
    """A loss of n decisions, whose dual variables sum to `total`.

    `width` is the width of the parabolas that replace kinks (zero for a smooth loss; it may be changed), and `unit` the
    scale of the decisions.
    """

    cost: Any
    total = 0.0
    width = 0.0
    unit = 1.0

    def __init__(self, y: Floats, cost: Floats) -> None:
        self.y, self.cost = y, cost

    def _sum(self, values: Floats) -> float:
        """Return the sum of some values of the samples, weighted by their costs."""
        return float(self.cost @ values) if isinstance(self.cost, np.ndarray) else float(self.cost * np.sum(values))

    def value(self, z: Floats) -> float:
        """Return the loss Σ ℓ_i(z_i), without smoothing."""
        raise NotImplementedError

    def dual(self, z: Floats) -> Floats:
        """Return the dual variables a_i = −ℓ_i'(z_i)."""
        raise NotImplementedError

    def curvature(self, z: Floats) -> Floats:
        """Return the second derivatives ℓ_i''(z_i)."""
        raise NotImplementedError

    def excess(self, z: Floats) -> float:
        """Return the part of the duality gap due to smoothing, Σ_i ℓ_i(z_i) + ℓ_i*(−a_i) + a_i·z_i ≥ 0."""
        return 0.0

    def part(self, rows: Ints) -> Self:
        """Return the loss of some of the decisions."""
        found = copy.copy(self)
        for name, values in vars(self).items():
            if isinstance(values, np.ndarray):
                setattr(found, name, values[rows])
        return found

    def free_biases(self, f: Floats) -> tuple[float, float]:
        """Return the ends (low, high) of an interval of optimal biases; low > high if there is none.

        `f` are the decisions without bias. For most losses here, f + b then costs nothing; for `Huber`, as many samples
        lie above its band as below.
        """
        return np.inf, -np.inf


def separating_biases(f: Floats, y: Floats, margin: float) -> tuple[float, float]:
    """Return the smallest and largest b with y_i·(f_i + b) ≥ margin for all i; low > high if none exists.

    >>> import numpy as np
    >>> separating_biases(np.array([3.0, -1.0]), np.array([1.0, -1.0]), 1.0)
    (-2.0, 0.0)
    """
    low = np.max(margin - f[y > 0], initial=-np.inf)
    return float(low), float(np.min(-margin - f[y < 0], initial=np.inf))


class SquaredHinge(Loss):
    """The squared hinge loss c_i·max(0, 1 − y_i·z_i)²."""

    def _slack(self, z: Floats) -> Floats:
        return np.maximum(1 - self.y * z, 0)

    def value(self, z: Floats) -> float:
        """Return the sum; see `Loss`."""
        return float(self.cost @ self._slack(z) ** 2)

    def dual(self, z: Floats) -> Floats:
        """Return the dual variables 2·c_i·y_i·ξ_i."""
        return 2 * self.cost * self.y * self._slack(z)

    def curvature(self, z: Floats) -> Floats:
        """Return the second derivatives, 2·c_i where ξ_i > 0."""
        return np.where(self.y * z < 1, 2 * self.cost, 0.0)

    def free_biases(self, f: Floats) -> tuple[float, float]:
        """Return the range of biases without an error; see `Loss`."""
        return separating_biases(f, self.y, 1.0)


class Squared(Loss):
    """The squared loss c_i·(y_i − z_i)²."""

    def value(self, z: Floats) -> float:
        """Return the sum; see `Loss`."""
        return float(self.cost @ (self.y - z) ** 2)

    def dual(self, z: Floats) -> Floats:
        """Return the dual variables 2·c_i·(y_i − z_i)."""
        return 2 * self.cost * (self.y - z)

    def curvature(self, z: Floats) -> Floats:
        """Return the second derivatives 2·c_i."""
        return 2 * self.cost


class Logistic(Loss):
    """The logistic loss c_i·ln(1 + exp(−y_i·z_i))."""

    def value(self, z: Floats) -> float:
        """Return the sum; see `Loss`."""
        return float(self.cost @ np.logaddexp(0, -self.y * z))

    def dual(self, z: Floats) -> Floats:
        """Return the dual variables c_i·y_i / (1 + exp(y_i·z_i))."""
        return self.cost * self.y * np.exp(-np.logaddexp(0, self.y * z))

    def curvature(self, z: Floats) -> Floats:
        """Return the second derivatives c_i·σ(z_i)·σ(−z_i)."""
        return self.cost * np.exp(-np.logaddexp(0, z) - np.logaddexp(0, -z))


class KinkedLoss(Loss):
    """A loss in proportion to the slack; the parabolas at its kinks are `width` wide."""

    def _slack(self, z: Floats) -> Floats:
        """Return how far each decision is on the costly side of its kink."""
        raise NotImplementedError

    def _signs(self, z: Floats) -> Floats:
        """Return the direction in which each decision costs less, 1 or −1."""
        raise NotImplementedError

    def value(self, z: Floats) -> float:
        """Return the sum; see `Loss`."""
        return self._sum(np.maximum(self._slack(z), 0))

    def dual(self, z: Floats) -> Floats:
        """Return the dual variables: the signed costs times the slack in units of the width, clipped to [0, 1]."""
        return self.cost * self._signs(z) * np.clip(self._slack(z) / self.width, 0, 1)

    def curvature(self, z: Floats) -> Floats:
        """Return the second derivatives, c_i / width on the parabolas."""
        slack = self._slack(z)
        return np.where((slack > 0) & (slack < self.width), self.cost / self.width, 0.0)

    def excess(self, z: Floats) -> float:
        """Return the part of the duality gap due to smoothing; see `Loss`."""
        slack = np.clip(self._slack(z), 0, self.width)
        return self._sum(slack * (1 - slack / self.width))


class Hinge(KinkedLoss):
    """The hinge loss c_i·max(0, margin − y_i·z_i); the one-class SVM has margin 0."""

    def __init__(self, y: Floats, cost: Floats, margin: float = 1.0, *, total: float = 0.0, width: float = 1.0) -> None:
        self.y, self.cost, self.margin, self.total, self.width = y, cost, margin, total, width
        self.unit = width / total if total else width

    def _slack(self, z: Floats) -> Floats:
        return self.margin - self.y * z

    def _signs(self, z: Floats) -> Floats:
        return self.y

    def free_biases(self, f: Floats) -> tuple[float, float]:
        """Return the range of biases without an error or, if all duals must be at their bounds, one where they are."""
        if self.total == 0:
            return separating_biases(f, self.y, self.margin)
        if self.total < self.cost.sum():
            return super().free_biases(f)
        low = self.margin - 2 * self.width - float(f.max())
        return low, low


class TubeLoss(Loss):
    """A loss of errors y_i − z_i with one cost c and an ε."""

    def __init__(self, y: Floats, cost: float, epsilon: float) -> None:
        self.y, self.cost, self.epsilon = y, cost, epsilon


class Insensitive(KinkedLoss, TubeLoss):
    """The ε-insensitive loss c·max(0, |y_i − z_i| − ε)."""

    def __init__(self, y: Floats, cost: float, epsilon: float) -> None:
        super().__init__(y, cost, epsilon)
        self.width = float(np.std(y)) or 1.0

    def _slack(self, z: Floats) -> Floats:
        return np.abs(self.y - z) - self.epsilon

    def _signs(self, z: Floats) -> Floats:
        return np.sign(self.y - z)


class SquaredInsensitive(TubeLoss):
    """The squared ε-insensitive loss c·max(0, |y_i − z_i| − ε)²."""

    def _slack(self, z: Floats) -> Floats:
        return np.maximum(np.abs(self.y - z) - self.epsilon, 0)

    def value(self, z: Floats) -> float:
        """Return the sum; see `Loss`."""
        return float(self.cost * np.sum(self._slack(z) ** 2))

    def dual(self, z: Floats) -> Floats:
        """Return the dual variables: 2·c times the signed error beyond ε."""
        return 2 * self.cost * np.sign(self.y - z) * self._slack(z)

    def curvature(self, z: Floats) -> Floats:
        """Return the second derivatives, 2·c beyond ε."""
        return np.where(np.abs(self.y - z) > self.epsilon, 2 * self.cost, 0.0)

    def free_biases(self, f: Floats) -> tuple[float, float]:
        """Return the range of biases without an error; see `Loss`."""
        return tube_biases(f, self.y, self.epsilon)


class Huber(TubeLoss):
    """The Huber loss: c·r²/(2ε) for an error r = y_i − z_i up to ε, and c·(|r| − ε/2) beyond."""

    def value(self, z: Floats) -> float:
        """Return the sum; see `Loss`."""
        size = np.abs(self.y - z)
        near = np.minimum(size, self.epsilon)
        return float(self.cost * np.sum(near * (size - 0.5 * near)) / self.epsilon)

    def dual(self, z: Floats) -> Floats:
        """Return the dual variables: c times the error in units of ε, clipped to [−1, 1]."""
        return self.cost * np.clip((self.y - z) / self.epsilon, -1, 1)

    def curvature(self, z: Floats) -> Floats:
        """Return the second derivatives, c / ε for errors up to ε."""
        return np.where(np.abs(self.y - z) < self.epsilon, self.cost / self.epsilon, 0.0)

    def free_biases(self, f: Floats) -> tuple[float, float]:
        """Return the range of biases with half the errors at ε or more and half at −ε or less; see `Loss`."""
        rest = np.sort(self.y - f)
        if len(rest) % 2:
            return np.inf, -np.inf
        half = len(rest) // 2
        return float(rest[half - 1] + self.epsilon), float(rest[half] - self.epsilon)


def tube_biases(f: Floats, y: Floats, epsilon: float) -> tuple[float, float]:
    """Return the smallest and largest b with |y_i − f_i − b| ≤ ε for all i; low > high if none exists.

    >>> import numpy as np
    >>> tube_biases(np.array([0.0, 1.0]), np.array([1.0, 2.5]), 0.5)
    (1.0, 1.5)
    """
    rest = y - f
    return float(rest.max() - epsilon), float(rest.min() + epsilon)


# The optimal bias of hinge losses for given weights.


def best_bias(products: Floats, y: Floats, cost: Floats, margin: float = 1.0, total: float = 0.0) -> float:
    """Return the b that minimises total·b + Σ cost·max(0, margin − y·(products + b)), the middle one of several.

    The slope rises by cost_i at b = y_i·margin − products_i, starting from total − Σ cost of the positive samples. If
    it starts at zero, every small b is optimal, and the largest of them is returned. The one-class SVM uses margin 0,
    and `total` is the sum of its dual variables.

    >>> import numpy as np
    >>> from seqkern.solvers.products.losses import best_bias
    >>> best_bias(np.array([3.0, 1.0]), np.array([1.0, -1.0]), np.ones(2))
    -2.0
    """
    places = margin * y - products
    order = np.argsort(places)
    slope = np.cumsum(cost[order]) - (float(np.sum(cost[y > 0])) - total)
    slope[np.abs(slope) <= 1e-12 * float(np.sum(cost))] = 0.0  # as rounding lets it be
    first = int(np.argmax(slope >= 0))
    last = first + 1 if slope[first] == 0 and first + 1 < len(places) else first
    return 0.5 * float(places[order[first]] + places[order[last]])
