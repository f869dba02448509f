"""Losses of a decision z_i = f(x_i) + b, as `subspace` minimises ½‖f‖² + total·b + Σ_i ℓ_i(z_i).

The dual variables are a_i = −ℓ_i'(z_i); where the bias is at its optimum, they sum to `total`. A loss with kinks is
smoothed: within `width` of a kink it is a parabola, and the certificate counts what that costs.
"""

import copy
from typing import Self

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Loss:
    """A loss of n decisions.

    Attributes
    ----------
    total : float
        What the dual variables sum to.
    width : float
        Of the parabolas that replace kinks; zero for a smooth loss. It may be changed.
    unit : float
        Of the decisions: they scale with it.
    """

    total = 0.0
    width = 0.0
    unit = 1.0

    def value(self, z: Floats) -> float:
        """Return Σ ℓ_i(z_i), not smoothed.

        Parameters
        ----------
        z : ndarray of float64, shape (n,)
            Decisions.

        Returns
        -------
        float
        """
        raise NotImplementedError

    def dual(self, z: Floats) -> Floats:
        """Return a_i = −ℓ_i'(z_i).

        Parameters
        ----------
        z : ndarray of float64, shape (n,)
            Decisions.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        raise NotImplementedError

    def curvature(self, z: Floats) -> Floats:
        """Return ℓ_i''(z_i).

        Parameters
        ----------
        z : ndarray of float64, shape (n,)
            Decisions.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        raise NotImplementedError

    def excess(self, z: Floats) -> float:
        """Return Σ_i ℓ_i(z_i) + ℓ_i*(−a_i) + a_i·z_i ≥ 0, what smoothing adds to the duality gap.

        Parameters
        ----------
        z : ndarray of float64, shape (n,)
            Decisions.

        Returns
        -------
        float
        """
        return 0.0

    def part(self, rows: npt.NDArray[np.int64]) -> Self:
        """Return the loss of some of the decisions.

        Parameters
        ----------
        rows : ndarray of int64, shape (m,)
            Which ones.

        Returns
        -------
        Loss
        """
        found = copy.copy(self)
        for name, values in vars(self).items():
            if isinstance(values, np.ndarray):
                setattr(found, name, values[rows])
        return found

    def free_biases(self, f: Floats) -> tuple[float, float]:
        """Return the least and the greatest b of an interval of best ones; the first is greater if there is none.

        Of the losses here these are the biases for which f + b costs nothing; of `Huber`, with as many samples above
        its band as below.

        Parameters
        ----------
        f : ndarray of float64, shape (n,)
            Decisions without bias.

        Returns
        -------
        low, high : float
        """
        return np.inf, -np.inf


def separating_biases(f: Floats, y: Floats, margin: float) -> tuple[float, float]:
    """Return the least and the greatest b with y_i·(f_i + b) ≥ margin for all i.

    Parameters
    ----------
    f, y : ndarray of float64, shape (n,)
        Decisions without bias; −1 and 1.
    margin : float
        The margin.

    Returns
    -------
    low, high : float
        `low` is greater than `high` if there is no such b.

    Examples
    --------
    >>> import numpy as np
    >>> separating_biases(np.array([3.0, -1.0]), np.array([1.0, -1.0]), 1.0)
    (-2.0, 0.0)
    """
    low = np.max(margin - f[y > 0], initial=-np.inf)
    return float(low), float(np.min(-margin - f[y < 0], initial=np.inf))


class SquaredHinge(Loss):
    """c_i·max(0, 1 − y_i·z_i)².

    Parameters
    ----------
    y : ndarray of float64, shape (n,)
        −1 and 1.
    cost : ndarray of float64, shape (n,)
        c_i.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.products.losses import SquaredHinge
    >>> loss = SquaredHinge(np.array([1.0, -1.0]), np.ones(2))
    >>> z = np.array([0.5, -2.0])
    >>> loss.value(z), loss.curvature(z).tolist()
    (0.25, [2.0, 0.0])
    """

    def __init__(self, y: Floats, cost: Floats) -> None:
        self.y, self.cost = y, cost

    def _slack(self, z: Floats) -> Floats:
        return np.maximum(1 - self.y * z, 0)

    def value(self, z: Floats) -> float:
        """Return the sum; see `Loss`."""
        return float(self.cost @ self._slack(z) ** 2)

    def dual(self, z: Floats) -> Floats:
        """Return 2·c_i·y_i·ξ_i."""
        return 2 * self.cost * self.y * self._slack(z)

    def curvature(self, z: Floats) -> Floats:
        """Return 2·c_i where ξ_i > 0."""
        return np.where(self.y * z < 1, 2 * self.cost, 0.0)

    def free_biases(self, f: Floats) -> tuple[float, float]:
        """Return the biases without an error; see `Loss`."""
        return separating_biases(f, self.y, 1.0)


class Squared(Loss):
    """c_i·(y_i − z_i)².

    Parameters
    ----------
    y, cost : ndarray of float64, shape (n,)
        Any values; c_i.
    """

    def __init__(self, y: Floats, cost: Floats) -> None:
        self.y, self.cost = y, cost

    def value(self, z: Floats) -> float:
        """Return the sum; see `Loss`."""
        return float(self.cost @ (self.y - z) ** 2)

    def dual(self, z: Floats) -> Floats:
        """Return 2·c_i·(y_i − z_i)."""
        return 2 * self.cost * (self.y - z)

    def curvature(self, z: Floats) -> Floats:
        """Return 2·c_i."""
        return 2 * self.cost


class Logistic(Loss):
    """c_i·ln(1 + exp(−y_i·z_i)).

    Parameters
    ----------
    y, cost : ndarray of float64, shape (n,)
        −1 and 1; c_i.
    """

    def __init__(self, y: Floats, cost: Floats) -> None:
        self.y, self.cost = y, cost

    def value(self, z: Floats) -> float:
        """Return the sum; see `Loss`."""
        return float(self.cost @ np.logaddexp(0, -self.y * z))

    def dual(self, z: Floats) -> Floats:
        """Return c_i·y_i / (1 + exp(y_i·z_i))."""
        return self.cost * self.y * np.exp(-np.logaddexp(0, self.y * z))

    def curvature(self, z: Floats) -> Floats:
        """Return c_i·σ(z_i)·σ(−z_i)."""
        return self.cost * np.exp(-np.logaddexp(0, z) - np.logaddexp(0, -z))


class Hinge(Loss):
    """c_i·max(0, margin − y_i·z_i).

    Parameters
    ----------
    y, cost : ndarray of float64, shape (n,)
        −1 and 1; c_i.
    margin : float
        0 for the one-class SVM.
    total : float
        What the dual variables sum to.
    width : float
        The first, in the units of the decisions.
    """

    def __init__(self, y: Floats, cost: Floats, margin: float = 1.0, *, total: float = 0.0, width: float = 1.0) -> None:
        self.y, self.cost, self.margin, self.total, self.width = y, cost, margin, total, width
        self.unit = width / total if total else width

    def value(self, z: Floats) -> float:
        """Return the sum; see `Loss`."""
        return float(self.cost @ np.maximum(self.margin - self.y * z, 0))

    def dual(self, z: Floats) -> Floats:
        """Return c_i·y_i times the slack in units of the width, between 0 and 1."""
        return self.cost * self.y * np.clip((self.margin - self.y * z) / self.width, 0, 1)

    def curvature(self, z: Floats) -> Floats:
        """Return c_i / width on the parabola."""
        slack = self.margin - self.y * z
        return np.where((slack > 0) & (slack < self.width), self.cost / self.width, 0.0)

    def excess(self, z: Floats) -> float:
        """Return what smoothing adds to the duality gap; see `Loss`."""
        slack = np.clip(self.margin - self.y * z, 0, self.width)
        return float(self.cost @ (slack * (1 - slack / self.width)))

    def free_biases(self, f: Floats) -> tuple[float, float]:
        """Return the biases without an error; or, if all duals must be at their bounds, one where they are."""
        if self.total == 0:
            return separating_biases(f, self.y, self.margin)
        if self.total < self.cost.sum():
            return super().free_biases(f)
        low = self.margin - 2 * self.width - float(f.max())
        return low, low


class Insensitive(Loss):
    """c·max(0, |y_i − z_i| − ε).

    Parameters
    ----------
    y : ndarray of float64, shape (n,)
        Any values.
    cost, epsilon : float
        c and ε.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.products.losses import Insensitive
    >>> Insensitive(np.array([0.0, 2.0]), cost=10.0, epsilon=0.5).value(np.zeros(2))
    15.0
    """

    def __init__(self, y: Floats, cost: float, epsilon: float) -> None:
        self.y, self.cost, self.epsilon = y, cost, epsilon
        self.width = float(np.std(y)) or 1.0

    def _slack(self, z: Floats) -> Floats:
        return np.abs(self.y - z) - self.epsilon

    def value(self, z: Floats) -> float:
        """Return the sum; see `Loss`."""
        return float(self.cost * np.maximum(self._slack(z), 0).sum())

    def dual(self, z: Floats) -> Floats:
        """Return c times the error beyond ε in units of the width, between −1 and 1."""
        return self.cost * np.sign(self.y - z) * np.clip(self._slack(z) / self.width, 0, 1)

    def curvature(self, z: Floats) -> Floats:
        """Return c / width on the parabolas."""
        slack = self._slack(z)
        return np.where((slack > 0) & (slack < self.width), self.cost / self.width, 0.0)

    def excess(self, z: Floats) -> float:
        """Return what smoothing adds to the duality gap; see `Loss`."""
        slack = np.clip(self._slack(z), 0, self.width)
        return float(self.cost * np.sum(slack * (1 - slack / self.width)))


class SquaredInsensitive(Loss):
    """c·max(0, |y_i − z_i| − ε)².

    Parameters
    ----------
    y : ndarray of float64, shape (n,)
        Any values.
    cost, epsilon : float
        c and ε.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.products.losses import SquaredInsensitive
    >>> loss = SquaredInsensitive(np.array([0.0, 2.0]), cost=10.0, epsilon=0.5)
    >>> loss.value(np.zeros(2)), loss.dual(np.zeros(2)).tolist()
    (22.5, [0.0, 30.0])
    """

    def __init__(self, y: Floats, cost: float, epsilon: float) -> None:
        self.y, self.cost, self.epsilon = y, cost, epsilon

    def _slack(self, z: Floats) -> Floats:
        return np.maximum(np.abs(self.y - z) - self.epsilon, 0)

    def value(self, z: Floats) -> float:
        """Return the sum; see `Loss`."""
        return float(self.cost * np.sum(self._slack(z) ** 2))

    def dual(self, z: Floats) -> Floats:
        """Return 2·c times the error beyond ε, with its sign."""
        return 2 * self.cost * np.sign(self.y - z) * self._slack(z)

    def curvature(self, z: Floats) -> Floats:
        """Return 2·c beyond ε."""
        return np.where(np.abs(self.y - z) > self.epsilon, 2 * self.cost, 0.0)

    def free_biases(self, f: Floats) -> tuple[float, float]:
        """Return the biases without an error; see `Loss`."""
        return tube_biases(f, self.y, self.epsilon)


class Huber(Loss):
    """c·r²/(2ε) for an error r = y_i − z_i up to ε, c·(|r| − ε/2) beyond.

    Parameters
    ----------
    y : ndarray of float64, shape (n,)
        Any values.
    cost, epsilon : float
        c and ε > 0.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.products.losses import Huber
    >>> loss = Huber(np.array([0.25, 2.0]), cost=10.0, epsilon=0.5)
    >>> loss.value(np.zeros(2)), loss.dual(np.zeros(2)).tolist()
    (18.125, [5.0, 10.0])
    """

    def __init__(self, y: Floats, cost: float, epsilon: float) -> None:
        self.y, self.cost, self.epsilon = y, cost, epsilon

    def value(self, z: Floats) -> float:
        """Return the sum; see `Loss`."""
        size = np.abs(self.y - z)
        near = np.minimum(size, self.epsilon)
        return float(self.cost * np.sum(near * (size - 0.5 * near)) / self.epsilon)

    def dual(self, z: Floats) -> Floats:
        """Return c times the error in units of ε, between −1 and 1."""
        return self.cost * np.clip((self.y - z) / self.epsilon, -1, 1)

    def curvature(self, z: Floats) -> Floats:
        """Return c / ε up to ε."""
        return np.where(np.abs(self.y - z) < self.epsilon, self.cost / self.epsilon, 0.0)

    def free_biases(self, f: Floats) -> tuple[float, float]:
        """Return the biases with half the errors at ε or more, half at −ε or less; see `Loss`."""
        rest = np.sort(self.y - f)
        if len(rest) % 2:
            return np.inf, -np.inf
        half = len(rest) // 2
        return float(rest[half - 1] + self.epsilon), float(rest[half] - self.epsilon)


def tube_biases(f: Floats, y: Floats, epsilon: float) -> tuple[float, float]:
    """Return the least and the greatest b with |y_i − f_i − b| ≤ ε for all i.

    Parameters
    ----------
    f, y : ndarray of float64, shape (n,)
        Decisions without bias; the values.
    epsilon : float
        ε.

    Returns
    -------
    low, high : float
        `low` is greater than `high` if there is no such b.

    Examples
    --------
    >>> import numpy as np
    >>> tube_biases(np.array([0.0, 1.0]), np.array([1.0, 2.5]), 0.5)
    (1.0, 1.5)
    """
    rest = y - f
    return float(rest.max() - epsilon), float(rest.min() + epsilon)
