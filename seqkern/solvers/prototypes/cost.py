"""The cost of generalised learning vector quantisation, and its descent."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit

TINY = 1e-12
"""This share of their mean is added to sums of distances: a quotient of smaller ones has no digits."""

Array = npt.NDArray[np.float64]


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
        Of all runs of L-BFGS.
    residual : float
        By how much the last run lowered the cost.

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
    """Lower a cost by L-BFGS until a whole run of it lowers the cost by at most `tol`.

    The cost of the nearest prototypes has kinks, where a line search may fail, and a short first step may look like
    convergence: so a run is followed by another from where it ended, which begins with the gradient alone.

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
    cost, residual, iterations, runs = evaluate(x)[0], np.inf, 0, 0
    bounds = [(0.0, None)] * len(x) if bounded else None

    def remember(values: Array) -> tuple[float, Array]:
        # not left to the result of a run: after a failed line search, its cost is not that of its variables
        nonlocal x, cost
        found = evaluate(values)
        if found[0] < cost:
            x, cost = values.copy(), found[0]
        return found

    run: Any = minimize  # its types know no options of this form
    while residual > tol and max(iterations, runs) < max_iter:
        before = cost
        options: dict[str, Any] = {"maxiter": max_iter - iterations, "maxfun": 20 * max_iter, "ftol": tol / 10}
        end = run(remember, x, jac=True, method="L-BFGS-B", bounds=bounds, options=options | {"gtol": 0.0})
        residual, iterations, runs = before - cost, iterations + int(end.nit), runs + 1
    return Descent(x, cost, iterations, residual)
