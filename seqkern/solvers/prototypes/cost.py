"""The cost of generalised learning vector quantisation, and its descent."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit

TINY = 1e-12
"""This share of their mean is added to sums of distances: a quotient of smaller ones has no digits."""
ROUNDS = 5
"""How often a descent starts again where its line search has failed."""

Array = npt.NDArray[np.float64]


def relative_difference(own: Array, other: Array, least: float = 0.0) -> Array:
    """Return (d_J − d_K) / (d_J + d_K).

    Parameters
    ----------
    own, other : ndarray of float64
        Squared distances d_J from the nearest prototype of the same class and d_K of another; at least 0.
    least : float
        Added to the sum; 0 / 0 is 0.

    Returns
    -------
    ndarray of float64
        From −1 to 1.
    """
    total = own + other + least
    return np.divide(own - other, total, out=np.zeros_like(total), where=total > 0)


def glvq_cost(distances: Array, same: npt.NDArray[np.bool_], slope: float) -> tuple[float, Array]:
    """Return the mean of φ(μ), and its derivatives by the distances.

    Parameters
    ----------
    distances : ndarray of float64, shape (p, n)
        Squared, of p prototypes from n samples; negative ones count as 0.
    same : ndarray of bool, shape (p, n)
        Whether they are of one class.
    slope : float
        s of φ(μ) = 1 / (1 + exp(−s μ)); 0: φ(μ) = (1 + μ) / 2.

    Returns
    -------
    cost : float
        From 0 to 1.
    gradient : ndarray of float64, shape (p, n)
        At most two of a column are not zero.
    """
    n = distances.shape[1]
    positive = distances > 0
    distances = np.where(positive, distances, 0.0)
    (a, of_a), (b, of_b) = (_least(distances, some) for some in (same, ~same))
    total = a + b
    total += TINY * float(total.mean()) or 1.0
    mu = (a - b) / total
    phi = expit(slope * mu) if slope else (1.0 + mu) / 2
    by_mu = (slope * phi * (1.0 - phi) if slope else np.full(n, 0.5)) / n
    gradient = (by_mu * (1.0 - mu) / total) * of_a - (by_mu * (1.0 + mu) / total) * of_b
    return float(phi.mean()), np.asarray(gradient * positive)


def _least(distances: Array, some: npt.NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return the least of some distances of each sample, and its derivatives."""
    hidden = np.where(some, distances, np.inf)
    first = np.zeros_like(distances)
    first[hidden.argmin(axis=0), np.arange(distances.shape[1])] = 1.0
    return hidden.min(axis=0), first


class Descent(NamedTuple):
    """The end of a descent.

    Attributes
    ----------
    x : ndarray of float64
        The variables.
    cost : float
        Its value there.
    iterations : int
        Of L-BFGS.
    residual : float
        By how much the last iteration lowered the cost.

    Examples
    --------
    >>> import numpy as np
    >>> Descent(np.zeros(2), 0.25, 7, 1e-9).cost
    0.25
    """

    x: Array
    cost: float
    iterations: int
    residual: float


def descend(
    evaluate: Callable[[Array], tuple[float, Array]], x: Array, tol: float, max_iter: int, *, bounded: bool = False
) -> Descent:
    """Lower a cost by L-BFGS until an iteration lowers it by at most `tol`.

    The cost of the nearest prototypes has kinks, where a line search may fail: the descent then starts again there,
    with the gradient alone, and ends where that does not lower the cost either.

    Parameters
    ----------
    evaluate : callable
        Gives cost and gradient.
    x : ndarray of float64
        The start.
    tol : float
        Absolute.
    max_iter : int
        Iterations, at most.
    bounded : bool
        Whether no variable may be negative.

    Returns
    -------
    Descent
    """
    costs = [evaluate(x)[0]]
    bounds = [(0.0, None)] * len(x) if bounded else None
    for _ in range(ROUNDS):
        before = len(costs)
        options = {"maxiter": max_iter + 1 - before, "maxfun": 20 * max_iter, "ftol": tol, "gtol": 0.0}

        def record(intermediate_result: object) -> None:
            costs.append(float(intermediate_result.fun))  # type: ignore[attr-defined]

        found = minimize(evaluate, x, jac=True, method="L-BFGS-B", bounds=bounds, options=options, callback=record)
        if found.fun <= costs[before - 1]:
            x = found.x
        moved = len(costs) > before
        if len(costs) > max_iter or not moved or costs[-2] - costs[-1] <= tol:
            break
    moved = len(costs) > before
    residual = costs[-2] - costs[-1] if moved else 0.0
    return Descent(x, costs[-1], len(costs) - 1, max(float(residual), 0.0))
