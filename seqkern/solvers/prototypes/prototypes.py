"""The shared base of all solvers that learn several prototypes for a class."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import integer, real
from seqkern.core.types import Array, Bools, Floats, Ints
from seqkern.solvers.capabilities import Exemplar, Search, Traits
from seqkern.solvers.contract import AnyClassSolver
from seqkern.solvers.costs import FitCost, FitWork
from seqkern.solvers.shared import random_seed


def slope() -> Any:
    """Declare the parameter for the steepness of φ."""
    return real(
        default=2.0,
        low=0,
        doc="s in φ(μ) = 1 / (1 + exp(−s μ)): the larger, the less count samples that are far on either side. 0: "
        "φ(μ) = (1 + μ) / 2.",
    )


class Prototypes(AnyClassSolver):
    """Base of prototype solvers: a sample belongs to the class of its nearest prototype.

    `codes_` holds the class index of each prototype, ascending.
    """

    def exemplars(self) -> list[Exemplar]:
        """Return the training samples nearest to each prototype."""
        return self.exemplars_

    def _set_exemplars(self, found: list[Exemplar]) -> None:
        """Set `exemplars_`."""
        self.exemplars_ = found

    def _first_codes(self, m: int) -> Ints:
        """Return the class index of each prototype, with m prototypes for each class."""
        return np.repeat(np.arange(len(self.classes_)), m)


class SeveralPrototypes(Prototypes):
    """Base of solvers with a configurable number of prototypes for each class.

    >>> from seqkern.solvers import GLVQ
    >>> GLVQ.declared.search.grid
    {'n_prototypes': [1, 2, 3]}
    """

    declared = Traits(search=Search({"n_prototypes": [1, 2, 3]}, order=("n_prototypes",)))

    n_prototypes: int = integer(default=1, low=1, doc="Prototypes of each class, at most its training samples.")
    seed: int = random_seed("Of k-means++, which finds where prototypes start; one prototype starts at the class mean.")

    def check_labels(self, y: Array, groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError if a class has fewer samples than prototypes."""
        least = int(np.unique(y, return_counts=True)[1].min())
        if least < self.n_prototypes:
            raise ParameterError(
                f"n_prototypes={self.n_prototypes} is not possible: the smallest class has {least} training samples",
                remedy=f"give an integer from 1 to {least}",
            )

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return the predicted cost of a fit, which grows with the numbers of prototypes and starts."""
        starts = getattr(self, "restarts", 1) if self.n_prototypes > 1 else 1
        return super().fit_cost(work).times(work.classes / 2 * self.n_prototypes * starts)


def by_class(distances: Floats, codes: Ints) -> Floats:
    """Return the smallest distance to a prototype of each class, shape (classes, n), from distances (p, n).

    >>> import numpy as np
    >>> by_class(np.array([[3.0], [1.0], [2.0]]), np.array([0, 0, 1])).tolist()
    [[1.0], [2.0]]
    """
    return np.minimum.reduceat(distances, np.searchsorted(codes, np.unique(codes)), axis=0)


def nearest_other(least: Floats) -> Floats:
    """Return for each class the smallest distance to any other class, both of shape (classes, n).

    >>> import numpy as np
    >>> nearest_other(np.array([[1.0], [4.0], [2.0]])).ravel().tolist()
    [2.0, 1.0, 1.0]
    """
    first = least.argmin(axis=0)
    two = np.partition(least, 1, axis=0)[:2]
    return np.where(np.arange(len(least))[:, None] == first, two[1], two[0])


# Initial prototypes: the means of clusters within each class, by k-means++ in feature space.

RUNS = 20
"""Number of clusterings of a class; the best are used."""
PASSES = 100


Groups = Ints


class Points(Protocol):
    """Samples of a class, with distances from each other and from means of groups."""

    def __len__(self) -> int:
        """Return the number of samples."""

    def from_row(self, row: int) -> Floats:
        """Return the squared distance of each sample from the sample `row`."""

    def from_means(self, groups: Groups, m: int) -> Floats:
        """Return the squared distance of each sample from each group mean, shape (m, n), inf for empty groups."""


class GramPoints:
    """Samples given by their Gram matrix, shape (n, n), symmetric.

    >>> import numpy as np
    >>> GramPoints(np.array([[1.0, 2.0], [2.0, 4.0]])).from_row(0)
    array([0., 1.])
    """

    def __init__(self, K: Floats) -> None:
        self.K, self.diagonal = K, np.diagonal(K)

    def __len__(self) -> int:
        return len(self.K)

    def from_row(self, row: int) -> Floats:
        """Return the squared distances K_ii − 2 K_ij + K_jj from row j."""
        return self.diagonal - 2.0 * self.K[row] + self.diagonal[row]

    def from_means(self, groups: Groups, m: int) -> Floats:
        """Return the squared distances from the means."""
        weights = means_of(groups, m)
        products = weights @ self.K
        distances = self.diagonal - 2.0 * products + np.sum(products * weights, axis=1)[:, None]
        distances[~weights.any(axis=1)] = np.inf
        return distances


class FeaturePoints:
    """Samples given by their features, shape (n, d).

    >>> import numpy as np
    >>> FeaturePoints(np.array([[1.0], [2.0]])).from_row(0)
    array([0., 1.])
    """

    def __init__(self, X: Floats) -> None:
        self.X = X

    def __len__(self) -> int:
        return len(self.X)

    def from_row(self, row: int) -> Floats:
        """Return the squared distances from a row."""
        return np.square(self.X - self.X[row]).sum(axis=1)

    def from_means(self, groups: Groups, m: int) -> Floats:
        """Return the squared distances from the means."""
        weights = means_of(groups, m)
        distances = np.stack([np.square(self.X - mean).sum(axis=1) for mean in weights @ self.X])
        distances[~weights.any(axis=1)] = np.inf
        return distances


def means_of(groups: Groups, m: int) -> Floats:
    """Return the weights of the samples in the mean of each group, shape (m, n); rows of empty groups are 0.

    >>> import numpy as np
    >>> means_of(np.array([0, 1, 0]), 2)
    array([[0.5, 0. , 0.5],
           [0. , 1. , 0. ]])
    """
    member = groups == np.arange(m)[:, None]
    return member / np.maximum(member.sum(axis=1, keepdims=True), 1)


def clusterings(points: Points, m: int, seed: int) -> list[Groups]:
    """Return different clusterings of a class into m groups, the one of least inertia first.

    A clustering gives the group of each sample; groups are numbered by their first sample.

    >>> import numpy as np
    >>> clusterings(FeaturePoints(np.array([[0.0], [0.1], [5.0], [5.1]])), 2, seed=1)[0]
    array([0, 0, 1, 1])
    """
    if m == 1:
        return [np.zeros(len(points), dtype=np.int64)]
    rng = np.random.default_rng(seed)
    found: dict[bytes, tuple[float, Groups]] = {}
    for _ in range(RUNS):
        inertia, groups = _clustering(points, m, rng)
        groups = _renumbered(groups)
        found.setdefault(groups.tobytes(), (inertia, groups))
    return [groups for _, groups in sorted(found.values(), key=lambda one: (one[0], one[1].tolist()))]


def _clustering(points: Points, m: int, rng: np.random.Generator) -> tuple[float, Groups]:
    """Return a clustering by k-means++ and Lloyd's iterations, and its inertia."""
    n = len(points)
    row = int(rng.integers(n))
    distances = [points.from_row(row)]
    for _ in range(m - 1):
        least = np.maximum(np.min(distances, axis=0), 0.0)
        total = least.sum()
        row = int(rng.choice(n, p=least / total)) if total > 0 else int(rng.integers(n))
        distances.append(points.from_row(row))
    groups = np.argmin(distances, axis=0)
    for _ in range(PASSES):
        from_means = points.from_means(groups, m)
        moved = from_means.argmin(axis=0)
        if np.array_equal(moved, groups):
            break
        groups = moved
    return float(points.from_means(groups, m).min(axis=0).sum()), groups.astype(np.int64)


def _renumbered(groups: Groups) -> Groups:
    """Return the groups renumbered by their first sample."""
    _, first, codes = np.unique(groups, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes].astype(np.int64)


def starts(points: list[Points], m: int, seed: int, most: int) -> Iterator[list[Groups]]:
    """Yield at most `most` starts: the best clustering of each class, then its second best, and so on.

    A start gives for each class the group of each sample.
    """
    found = [clusterings(one, m, seed) for one in points]
    for place in range(min(most, max(map(len, found)))):
        yield [own[min(place, len(own) - 1)] for own in found]


# The cost function of generalised learning vector quantisation (GLVQ), and its minimisation.

TINY = 1e-12
"""Share of their mean that is added to sums of distances, as quotients of smaller ones have no digits."""


def glvq_cost(distances: Floats, same: Bools, slope: float) -> tuple[float, Floats]:
    """Return the mean of φ(μ) and its gradient with respect to the distances, (p, n).

    `distances` are squared, of p prototypes from n samples (negative values count as 0); `same` marks pairs of one
    class; φ(μ) = 1 / (1 + exp(−s μ)) with s = `slope`, or (1 + μ) / 2 if s = 0.
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


def _least(distances: Floats, some: Bools) -> tuple[Floats, Floats]:
    """Return the smallest of the selected distances of each sample, and its derivatives."""
    hidden = np.where(some, distances, np.inf)
    first = np.zeros_like(distances)
    first[hidden.argmin(axis=0), np.arange(distances.shape[1])] = 1.0
    return hidden.min(axis=0), first


class Descent(NamedTuple):
    """The end point of a descent; `residual` is the reduction of the cost by the last run.

    >>> import numpy as np
    >>> Descent(np.zeros(2), 0.25, 7, 1e-9).cost
    0.25
    """

    x: Floats  # The variables
    cost: float  # Its value there
    iterations: int  # Of all runs of L-BFGS
    residual: float  # By how much the last run lowered the cost


def descend(
    evaluate: Callable[[Floats], tuple[float, Floats]], x: Floats, tol: float, max_iter: int, *, bounded: bool = False
) -> Descent:
    """Minimise a cost by L-BFGS until a complete run lowers it by at most `tol` (absolute).

    The cost of the nearest prototypes has kinks, where a line search may fail and a short first step may look like
    convergence. Each run is therefore followed by another from its end point, which begins with the gradient alone.
    """
    cost, residual, iterations, runs = evaluate(x)[0], np.inf, 0, 0
    bounds = [(0.0, None)] * len(x) if bounded else None

    def remember(values: Floats) -> tuple[float, Floats]:
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
