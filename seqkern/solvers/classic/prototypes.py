"""Classifiers by prototypes, in the feature space of a kernel and among features."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import count, flag, integer, positive, real, share
from seqkern.core.threads import one_thread
from seqkern.core.types import Array, Bools, Floats, Ints
from seqkern.solvers.capabilities import (
    Effort,
    Exemplar,
    Search,
    SelectedFeatures,
    Traits,
    as_array,
    from_array,
    typical,
)
from seqkern.solvers.contract import AnyClassSolver, stored
from seqkern.solvers.costs import FitCost, FitWork
from seqkern.solvers.shared import gram_order, order_by_content, random_seed, weighted_features, weighted_sums


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

    def exemplars(self: Any) -> list[Exemplar]:
        """Return the training samples nearest to each prototype."""
        return from_array(self.exemplar_table_)

    def _decided(self: Any, distances: Floats) -> Floats:
        """Return by how much the nearest prototype of the other classes is farther, from distances, (p, n)."""
        least = by_class(distances, self.codes_)
        return least[0] - least[1] if len(least) == 2 else np.ascontiguousarray((nearest_other(least) - least).T)

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

    n_prototypes: int = count(1, "Prototypes of each class, at most its training samples.")
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

RUNS = 20  # Number of clusterings of a class; the best are used
PASSES = 100


Groups = Ints


class GramPoints:
    """Samples of a class given by their Gram matrix, shape (n, n), symmetric.

    >>> import numpy as np
    >>> GramPoints(np.array([[1.0, 2.0], [2.0, 4.0]])).distances(np.array([[1.0, 0.0]])).tolist()
    [[0.0, 1.0]]
    """

    def __init__(self, X: Floats) -> None:
        self.X = X

    def __len__(self) -> int:
        return len(self.X)

    def distances(self, weights: Floats) -> Floats:
        """Return the squared distance of each sample from each weighted sum of samples, shape (m, n)."""
        products = weights @ self.X
        return np.diagonal(self.X) - 2.0 * products + np.sum(products * weights, axis=1)[:, None]

    def from_means(self, groups: Groups, m: int) -> Floats:
        """Return the squared distance of each sample from each group mean, shape (m, n), inf for empty groups."""
        weights = means_of(groups, m)
        return np.where(weights.any(axis=1, keepdims=True), self.distances(weights), np.inf)


class FeaturePoints(GramPoints):
    """Samples of a class given by their features, shape (n, d).

    >>> import numpy as np
    >>> FeaturePoints(np.array([[1.0], [2.0]])).distances(np.array([[1.0, 0.0]])).tolist()
    [[0.0, 1.0]]
    """

    def distances(self, weights: Floats) -> Floats:
        """Return the squared distances from the weighted sums."""
        return np.stack([np.square(self.X - mean).sum(axis=1) for mean in weights @ self.X])


def means_of(groups: Groups, m: int) -> Floats:
    """Return the weights of the samples in the mean of each group, shape (m, n); rows of empty groups are 0.

    >>> import numpy as np
    >>> means_of(np.array([0, 1, 0]), 2)
    array([[0.5, 0. , 0.5],
           [0. , 1. , 0. ]])
    """
    member = groups == np.arange(m)[:, None]
    return member / np.maximum(member.sum(axis=1, keepdims=True), 1)


def clusterings(points: GramPoints, m: int, seed: int) -> list[Groups]:
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


def _clustering(points: GramPoints, m: int, rng: np.random.Generator) -> tuple[float, Groups]:
    """Return a clustering by k-means++ and Lloyd's iterations, and its inertia."""
    n = len(points)
    row = int(rng.integers(n))
    distances = [points.distances(np.eye(1, n, row))[0]]
    for _ in range(m - 1):
        least = np.maximum(np.min(distances, axis=0), 0.0)
        total = least.sum()
        row = int(rng.choice(n, p=least / total)) if total > 0 else int(rng.integers(n))
        distances.append(points.distances(np.eye(1, n, row))[0])
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


def starts(points: list[GramPoints], m: int, seed: int, most: int) -> Iterator[list[Groups]]:
    """Yield at most `most` starts: the best clustering of each class, then its second best, and so on.

    A start gives for each class the group of each sample.
    """
    found = [clusterings(one, m, seed) for one in points]
    for place in range(min(most, max(map(len, found)))):
        yield [own[min(place, len(own) - 1)] for own in found]


# The cost function of generalised learning vector quantisation (GLVQ), and its minimisation.

TINY = 1e-12  # Share of their mean that is added to sums of distances, as quotients of smaller ones have no digits


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


# Prototypes in the feature space of a kernel: combinations of the training samples.


def best_descent(found: Sequence[Descent], tol: float) -> tuple[Descent, dict[str, Any]]:
    """Return the descent that reached the lowest cost, and the report of a fit."""
    best = min(found, key=lambda one: one.cost)
    report: dict[str, Any] = {
        "converged": best.residual <= tol,
        "iterations": best.iterations,
        "residual": best.residual,
    }
    report |= {"objective": best.cost, "restart_objectives": [one.cost for one in found]}
    return best, report | {"remedy": "raise max_iter or tol"}


class GramPrototypes(Prototypes):
    """Base of solvers with prototypes w_p = Σ_j γ_pj φ(x_j), Σ_j γ_pj = 1.

    `coef_` is γ over the samples in `support_`, shape (p, s), and `squares_` is ‖w_p‖².
    """

    learned = stored(coef="coef_", squares="squares_", codes="codes_", exemplars="exemplar_table_")

    def _keep(self, weights: Floats, codes: Ints, K: Floats, y: Ints) -> Floats:
        """Set the fitted attributes from γ of all samples, and return the distances, (p, n)."""
        products = weights @ K
        self.codes_ = codes
        self.squares_: Floats = np.sum(products * weights, axis=1)
        self.support_ = np.flatnonzero(weights.any(axis=0)).astype(np.int64)
        self.coef_: Floats = np.ascontiguousarray(weights[:, self.support_])
        distances = np.diagonal(K) - 2.0 * products + self.squares_[:, None]
        self.exemplar_table_ = as_array(typical(distances, codes, y))
        return distances

    def _decide(self, K: Any, columns: Ints) -> Floats:
        """Return decision values: how much farther the nearest prototype of the other classes is; K(x, x) cancels."""
        pairs = zip(self.squares_, self.coef_, strict=True)
        return self._decided(np.stack([s - 2.0 * weighted_sums(K, columns, c) for s, c in pairs]))

    def linear(self) -> tuple[Floats, float] | None:
        """Return (coefficients, constant) for two classes of one prototype each, else None."""
        if self.codes_.tolist() != [0, 1]:
            return None
        return self._on_columns(2.0 * (self.coef_[1] - self.coef_[0])), float(self.squares_[0] - self.squares_[1])


class LearnedGramPrototypes(SeveralPrototypes, GramPrototypes):
    """Base of solvers that move prototypes in feature space, starting from the means of clusters within the classes."""

    def _fit(self, K: Any, y: Array) -> dict[str, Any]:
        """Train on the samples in an order derived from their values, so that the input order does not matter."""
        order = gram_order(K, y)
        with one_thread():
            weights, report = self._learned(np.ascontiguousarray(K[np.ix_(order, order)]), y[order].astype(np.int64))
        everywhere = np.zeros_like(weights)
        everywhere[:, order] = weights
        with one_thread():
            self._keep(everywhere, self._first_codes(self.n_prototypes), np.asarray(K), y.astype(np.int64))
        return report

    def _learned(self, K: Floats, y: Ints) -> tuple[Floats, dict[str, Any]]:
        """Return γ and the report, for ordered samples."""
        raise NotImplementedError

    def _starts(self, K: Floats, y: Ints, most: int) -> list[Floats]:
        """Return the initial γ of each start, at most `most`."""
        members = [np.flatnonzero(y == code) for code in range(len(self.classes_))]
        points = [GramPoints(np.ascontiguousarray(K[np.ix_(rows, rows)])) for rows in members]
        found = []
        for groups in starts(points, self.n_prototypes, self.seed, most):
            weights = np.zeros((len(members) * self.n_prototypes, len(y)))
            for code, (rows, own) in enumerate(zip(members, groups, strict=True)):
                first = code * self.n_prototypes
                weights[first : first + self.n_prototypes, rows] = _filled(means_of(own, self.n_prototypes))
            found.append(weights)
        return found


def _filled(weights: Floats) -> Floats:
    """Return the means of groups; an empty group, which duplicate samples cause, gets the mean of all samples."""
    return np.where(weights.any(axis=1, keepdims=True), weights, 1.0 / weights.shape[1])


# Learning vector quantisation, LVQ1, in feature space.

SLOWER = 10.0  # Passes after which the rate has halved


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
    declared = LearnedGramPrototypes.declared.but(effort=Effort(products=45.0))

    eta: float = share(0.3, "η of the first pass.", open_low=True)
    tol: float = positive(
        1e-6,
        "The fit has converged when no prototype moves farther in a pass: squared, as a share of the mean squared "
        "distance of a sample from the nearest prototype.",
    )
    max_iter: int = count(2000, "Maximum number of passes.")

    tested_with = ({}, {"n_prototypes": 3, "eta": 0.1})

    def _learned(self, K: Floats, y: Ints) -> tuple[Floats, dict[str, Any]]:
        """Move the prototypes until they no longer change; return (γ, report)."""
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
        report = {"converged": residual <= self.tol, "iterations": done, "residual": residual, "objective": wrong}
        return weights, {**report, "remedy": "raise max_iter or tol, or lower eta"}


# The nearest class mean classifier in feature space.


class NearestPrototype(GramPrototypes):
    r"""Nearest prototype: the class whose mean is nearest in feature space.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (classes, n)
        1/n_c for the n_c members of the class, else 0.
    squares_ : ndarray of float64, shape (classes,)
        ‖m_c‖².
    report_ : dict
        ``objective`` is the mean squared distance of the samples from the mean of their class.

    Notes
    -----
    With m_c the mean of φ(x_i) over the class,

    .. math:: ‖φ(x) − m_c‖^2 = K(x, x) − (2/n_c) \sum_{i ∈ c} K(x, x_i) + (1/n_c^2) \sum_{i,j ∈ c} K(x_i, x_j)

    The decision for two classes is the difference of these squared distances, above zero where the second is nearer;
    for several classes, by how much the nearest other mean is farther. K(x, x) cancels, so any matrix works, also −½ D²
    of distances D. Two classes give a linear decision, the simplest there is: nothing is fitted but the means.

    Complexity: O(n²) for n samples, and O(n) per decision.

    References
    ----------
    Rocchio: Relevance feedback in information retrieval. In Salton (ed.), The SMART Retrieval System, 1971.

    Schölkopf, Smola: Learning with Kernels (section 1.2). MIT Press, 2002.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import NearestPrototype
    >>> repeats = SequenceSet.from_strings(["ACACACAC", "ACACACAT", "GTGTGTGT", "GTGTGTGA", "ACACACTT"], "dna")
    >>> K = SpectrumKernel(k=2)(repeats)
    >>> solver = NearestPrototype().fit(K[:4, :4], ["CA", "CA", "GT", "GT"])
    >>> solver.predict(K[4:, :4]).tolist()
    ['CA']
    """

    name = "nearest_prototype"
    summary = "Nearest prototype: the class whose mean is nearest, by kernel distance."
    declared = GramPrototypes.declared.but(effort=Effort(products=4.0, copies=0.1))

    def _fit(self, K: Any, y: Array) -> dict[str, Any]:
        """Compute the class means."""
        codes = y.astype(np.int64)
        with one_thread():
            distances = self._keep(means_of(codes, len(self.classes_)), self._first_codes(1), np.asarray(K), codes)
        objective = float(distances[codes, np.arange(len(codes))].mean())
        return {"objective": objective}


# Generalised learning vector quantisation on a kernel or dissimilarity matrix.

SMALL = 1e-6  # Coefficients below this share of a prototype's largest one are set to 0


class RelationalGLVQ(LearnedGramPrototypes):
    r"""Relational GLVQ: prototypes of each class as convex combinations of the training samples, by K alone.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (p, s)
        γ ≥ 0, Σ_j γ_pj = 1: prototypes are Σ_j γ_pj φ(x_j).
    squares_ : ndarray of float64, shape (p,)
        ‖w_p‖².
    report_ : dict
        ``objective`` is the mean of φ(μ); ``residual`` by how much the last run of L-BFGS lowered it;
        ``restart_objectives`` (list of float) the objective of each start.

    Notes
    -----
    With d_J the squared distance of a sample from the nearest prototype of its class, and d_K from the nearest of
    another,

    .. math:: \min \sum_i φ(μ_i),  μ = (d_J − d_K) / (d_J + d_K),  φ(μ) = 1 / (1 + e^{−sμ})
    .. math:: d(x, w) = K(x, x) − 2 \sum_j γ_j K(x, x_j) + \sum_{jk} γ_j γ_k K(x_j, x_k)

    d depends on K_ii − 2 K_ij + K_jj only, so for distances D, K = −½ D², centred or not, has the same cost (kernel
    `precomputed` of a table of dissimilarities). One prototype of each class then comes out the same, to the tolerance.
    Several prototypes may end at another local minimum: k-means++ draws samples in an order that the values of K give,
    and where the nearest prototype changes, rounding can decide which way the descent takes.

    Prototypes start at the means of clusters within each class (kernel k-means++), from the best clusterings in turn;
    the least cost wins. The variables v ≥ 0, γ = v / Σv, are moved by L-BFGS. Where samples are nearly equally far from
    each other, as with k-mer kernels, prototypes fit the training samples too closely; `shrinkage` keeps them near
    their start. A decision is the difference of squared distances from the nearest prototype of the others and of the
    class, in which K(x, x) cancels: it has the sign of −μ. Distances below zero, of an indefinite K, count as zero in
    the fit.

    Complexity: O(n²) per prototype and iteration for n samples, and a copy of K.

    References
    ----------
    Sato, Yamada: Generalized learning vector quantization. Advances in Neural Information Processing Systems 8, 1996.

    Hammer, Hofmann, Schleif, Zhu: Learning vector quantization for (dis-)similarities. Neurocomputing 131, 2014.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import RelationalGLVQ
    >>> repeats = SequenceSet.from_strings(["ACACACAC", "ACACACAT", "GTGTGTGT", "GTGTGTGA", "ACACACTT"], "dna")
    >>> K = SpectrumKernel(k=2)(repeats)
    >>> solver = RelationalGLVQ().fit(K[:4, :4], ["CA", "CA", "GT", "GT"])
    >>> solver.predict(K[4:, :4]).tolist()
    ['CA']
    >>> [repeats.ids[one.row] for one in solver.exemplars() if one.rank == 1]  # the most typical of each class
    ['1', '3']
    """

    name = "relational_glvq"
    summary = "Relational GLVQ: typical representatives of each class, placed to separate the classes."
    declared = LearnedGramPrototypes.declared.but(
        search=Search({"n_prototypes": [1, 2, 3], "shrinkage": [0.0, 0.5, 0.9]}, order=("n_prototypes", "-shrinkage")),
        effort=Effort(products=40.0),
    )

    shrinkage: float = share(
        0.0,
        "s, how far prototypes stay with the means that they start at: γ = s · start + (1 − s) · v / Σv. Above 0 "
        "against overfitting, with few samples or nearly equal distances.",
    )
    slope: float = slope()
    restarts: int = count(3, "Starts, at most; there is one only with one prototype for each class.")
    tol: float = positive(1e-6, "The fit has converged when a run of L-BFGS lowers the objective by at most this.")
    max_iter: int = count(1000, "Maximum number of iterations of a start.")

    tested_with = ({}, {"n_prototypes": 2, "slope": 0.0, "shrinkage": 0.2})

    def _learned(self, K: Floats, y: Ints) -> tuple[Floats, dict[str, Any]]:
        """Descend from each start, and return γ of the prototypes of lowest cost, and the report."""
        same = self._first_codes(self.n_prototypes)[:, None] == y
        found = [self._descended(K, same, start) for start in self._starts(K, y, self.restarts)]
        best, report = best_descent(found, self.tol)
        weights = best.x.reshape(same.shape).copy()
        weights[weights < SMALL * weights.max(axis=1, keepdims=True)] = 0.0
        return _normalised(weights), report

    def _descended(self, K: Floats, same: Bools, start: Floats) -> Descent:
        """Return the end of the descent from a start."""
        diagonal, stay = np.diagonal(K), float(self.shrinkage)

        def evaluate(values: Floats) -> tuple[float, Floats]:
            v = values.reshape(same.shape)
            totals = v.sum(axis=1, keepdims=True)
            if not (totals > 0).all():
                return 1.0, np.zeros(values.shape)  # the largest cost: the line search turns back
            weights = stay * start + (1.0 - stay) * v / totals
            products = weights @ K
            squares = np.sum(products * weights, axis=1)
            cost, by_distance = glvq_cost(diagonal - 2.0 * products + squares[:, None], same, self.slope)
            gradient = 2.0 * (by_distance.sum(axis=1, keepdims=True) * products - by_distance @ K)
            gradient -= np.sum(gradient * v, axis=1, keepdims=True) / totals
            return cost, ((1.0 - stay) * gradient / totals).ravel()

        # vectors of length 1, as the first step is: it is neither tiny nor huge
        first = start / np.sqrt(np.square(start).sum(axis=1, keepdims=True))
        found = descend(evaluate, first.ravel(), self.tol, self.max_iter, bounded=True)
        return found._replace(x=(stay * start + (1.0 - stay) * _normalised(found.x.reshape(same.shape))).ravel())


def _normalised(v: Floats) -> Floats:
    """Return the rows scaled to sum 1."""
    return np.asarray(v / v.sum(axis=1, keepdims=True))


# Prototypes given by feature vectors, with the Euclidean or a learned metric.


class FeaturePrototypes(SeveralPrototypes):
    """Base of GLVQ and GMLVQ: starts, standardisation and decisions.

    >>> from seqkern.solvers import GLVQ
    >>> GLVQ().fit([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.3, 0.7]], [0, 0, 1, 1]).prototypes_.shape
    (2, 2)
    """

    declared = SeveralPrototypes.declared.but(selects=False)

    input = "features"
    learned = stored(
        prototypes="prototypes_", codes="codes_", mean="mean_", scale="scale_", exemplars="exemplar_table_"
    )

    slope: float = slope()
    standardise: bool = flag(
        default=True, doc="Whether features are divided by their standard deviation on the training samples."
    )
    restarts: int = count(3, "Starts, at most; there is one only with one prototype for each class.")
    tol: float = positive(1e-6, "The fit has converged when a run of L-BFGS lowers the objective by at most this.")
    max_iter: int = count(1000, "Maximum number of iterations of a start.")

    def _descended(self, X: Floats, same: Bools, start: Floats) -> Descent:
        """Return the end of the descent from initial prototypes; its variables begin with the prototypes."""
        raise NotImplementedError

    def _set_metric(self, x: Floats, d: int) -> None:
        """Set the parameters learned besides the prototypes, from the remaining variables."""

    def _squared(self, X: Floats, columns: Ints) -> Floats:
        """Return the squared distances of rows from prototypes, (p, n)."""
        raise NotImplementedError

    def _fit(self, K: Any, y: Array) -> dict[str, Any]:
        """Descend from each start, and keep the prototypes of lowest cost."""
        order = order_by_content(K, y, 0)
        with one_thread():
            return self._learned(np.asarray(K)[order], y[order].astype(np.int64), order)

    def _learned(self, X: Floats, y: Ints, order: Ints) -> dict[str, Any]:
        """Set the fitted attributes from ordered samples, and return the report."""
        d = X.shape[1]
        self.mean_, self.scale_ = np.zeros(d), np.ones(d)
        if self.standardise:
            deviations = X.std(axis=0)
            self.mean_ = X.mean(axis=0)
            self.scale_ = np.where(deviations > 1e-12 * np.abs(X).max(axis=0), deviations, 1.0)
        scaled = (X - self.mean_) / self.scale_
        self.codes_ = self._first_codes(self.n_prototypes)
        same = self.codes_[:, None] == y
        found = [self._descended(scaled, same, start) for start in self._starts(scaled, y)]
        best, report = best_descent(found, self.tol)
        size = len(self.codes_) * d
        self.support_ = np.arange(d)
        self.prototypes_: Floats = best.x[:size].reshape(-1, d) * self.scale_ + self.mean_
        self._set_metric(best.x[size:], d)
        places = typical(self._squared(X, self.support_), self.codes_, y)
        self.exemplar_table_ = as_array([one._replace(row=int(order[one.row])) for one in places])
        return report

    def _starts(self, X: Floats, y: Ints) -> list[Floats]:
        """Return the prototypes of each start."""
        members = [X[y == code] for code in range(len(self.classes_))]
        m = self.n_prototypes
        found = []
        for groups in starts([FeaturePoints(own) for own in members], m, self.seed, self.restarts):
            means = []
            for own, group in zip(members, groups, strict=True):
                weights = means_of(group, m)
                means.append(np.where(weights.any(axis=1, keepdims=True), weights @ own, own.mean(axis=0)))
            found.append(np.concatenate(means))
        return found

    def _decide(self, K: Any, columns: Ints) -> Floats:
        """Return decision values: how much farther the nearest prototype of the other classes is.

        For two classes, this is the value of the second class.
        """
        return self._decided(self._squared(np.asarray(K), columns))


# Generalised learning vector quantisation on features.


class GLVQ(FeaturePrototypes):
    r"""Generalised learning vector quantisation: prototypes of each class as feature vectors.

    Attributes
    ----------
    prototypes_ : ndarray of float64, shape (p, d)
        Prototypes in the units of the features.
    report_ : dict
        ``objective`` is the mean of φ(μ); ``residual`` by how much the last run of L-BFGS lowered it;
        ``restart_objectives`` (list of float) the objective of each start.

    Notes
    -----
    With d_J = ‖x − w_J‖² for the nearest prototype of the class of a sample, and d_K for the nearest of another,

    .. math:: \min \sum_i φ(μ_i),  μ = (d_J − d_K) / (d_J + d_K),  φ(μ) = 1 / (1 + e^{−sμ})

    The decision for two classes is d_− − d_+, above zero where the second is nearer; for several classes, by how
    much the nearest prototype of the others is farther. It has the sign of −μ, but also ranks samples beyond the
    prototypes, where μ falls to 0. Prototypes start at the means of clusters within each class (k-means++), from the
    best clusterings in turn, and are moved by L-BFGS; the least cost wins.

    Complexity: O(n·d) per prototype and iteration for n samples with d features.

    References
    ----------
    Sato, Yamada: Generalized learning vector quantization. Advances in Neural Information Processing Systems 8, 1996.

    Examples
    --------
    >>> from seqkern.solvers import GLVQ
    >>> X = [[0.62, 0.9], [0.66, 0.8], [0.58, 0.7], [0.41, 0.2], [0.45, 0.3], [0.38, 0.1]]  # GC content, CpG ratio
    >>> solver = GLVQ().fit(X, [1, 1, 1, 0, 0, 0])
    >>> solver.predict([[0.6, 0.6], [0.4, 0.4]])
    array([1, 0])
    """

    name = "glvq"
    summary = "GLVQ: typical feature vectors of each class, placed to separate the classes."
    declared = FeaturePrototypes.declared.but(effort=Effort(products=100.0))

    tested_with = ({}, {"n_prototypes": 2, "slope": 0.0, "standardise": False})

    def _descended(self, X: Floats, same: Bools, start: Floats) -> Descent:
        """Return the end of the descent from a start."""
        norms = np.square(X).sum(axis=1)

        def evaluate(values: Floats) -> tuple[float, Floats]:
            w = values.reshape(start.shape)
            distances = norms - 2.0 * (w @ X.T) + np.square(w).sum(axis=1)[:, None]
            cost, by_distance = glvq_cost(distances, same, self.slope)
            return cost, (2.0 * (by_distance.sum(axis=1, keepdims=True) * w - by_distance @ X)).ravel()

        return descend(evaluate, start.ravel(), self.tol, self.max_iter)

    def _squared(self, X: Floats, columns: Ints) -> Floats:
        """Return the squared distances ‖(x − w) / scale‖²."""
        rows = np.ascontiguousarray(X[:, columns])
        return np.stack([np.square((rows - w) / self.scale_).sum(axis=1) for w in self.prototypes_])


# Generalised matrix learning vector quantisation (GMLVQ): prototypes and a learned metric.


class GMLVQ(FeaturePrototypes):
    r"""Generalised matrix LVQ: prototypes of each class, and a metric that shows which features matter.

    Attributes
    ----------
    prototypes_ : ndarray of float64, shape (p, d)
        Prototypes in the units of the features.
    omega_ : ndarray of float64, shape (r, d)
        Ω, for scaled features.
    report_ : dict
        ``objective`` is the mean of φ(μ); ``residual`` by how much the last run of L-BFGS lowered it;
        ``restart_objectives`` (list of float) the objective of each start.

    Notes
    -----
    As `glvq`, with the distance

    .. math:: d(x, w) = (x − w)^T Λ (x − w),  Λ = Ω^T Ω,  tr Λ = 1

    Ω is learned together with the prototypes, by L-BFGS, from the identity, or with fewer rows than features from
    principal components (limited rank, Bunte et al.).
    Λ_jj is the relevance of feature j, Λ_jk shows which features matter together: `relevances` returns Λ, and the
    relevances are listed with the features. They are comparable because features are divided by their standard
    deviation first.

    Complexity: O(n·d·r) per iteration for n samples with d features, r = `rank`; n·d·min(n, d) once for the components.

    References
    ----------
    Schneider, Biehl, Hammer: Adaptive relevance matrices in learning vector quantization. Neural Computation 21, 2009.

    Bunte, Schneider, Hammer, Schleif, Villmann, Biehl: Limited rank matrix learning, discriminative dimension reduction
    and visualization. Neural Networks 26, 2012.

    Examples
    --------
    >>> from seqkern.solvers import GMLVQ
    >>> X = [[0.62, 0.9], [0.66, 0.1], [0.58, 0.7], [0.41, 0.2], [0.45, 0.8], [0.38, 0.6]]  # GC content, noise
    >>> solver = GMLVQ().fit(X, [1, 1, 1, 0, 0, 0])
    >>> solver.predict([[0.6, 0.6], [0.4, 0.4]])
    array([1, 0])
    >>> bool(solver.relevances()[0, 0] > 0.9)
    True
    """

    name = "gmlvq"
    learned = stored(**FeaturePrototypes.learned, omega="omega_")
    summary = "GMLVQ: typical feature vectors of each class, and a metric that shows which features matter."
    declared = FeaturePrototypes.declared.but(effort=Effort(products=1000.0))

    rank: int | str = integer(
        default=10, low=1, words=("all",), doc="Rows of Ω; all: as many as features, as for fewer features than `rank`."
    )

    tested_with = ({}, {"n_prototypes": 2, "rank": 2, "standardise": False})

    def relevances(self) -> Floats:
        """Return Λ of the scaled features, float64 (d, d), of trace 1."""
        return np.asarray(self.omega_.T @ self.omega_)

    def selection(self) -> SelectedFeatures:
        """Return all columns, the most relevant first, with the relevance Λ_jj of each feature."""
        relevances = np.square(self.omega_).sum(axis=0)
        ranking = np.argsort(-relevances, kind="stable")
        return SelectedFeatures(np.asarray(self.support_[ranking], dtype=np.int64), relevances[ranking])

    def _descended(self, X: Floats, same: Bools, start: Floats) -> Descent:
        """Return the end of the descent from initial prototypes and the initial Ω."""
        size, d = start.size, X.shape[1]

        def evaluate(values: Floats) -> tuple[float, Floats]:
            w, omega = values[:size].reshape(start.shape), values[size:].reshape(-1, d)
            a, b = X @ omega.T, w @ omega.T
            distances = np.square(a).sum(axis=1) - 2.0 * (b @ a.T) + np.square(b).sum(axis=1)[:, None]
            cost, by_distance = glvq_cost(distances, same, self.slope)
            rows, total = by_distance.sum(axis=0), by_distance.sum(axis=1, keepdims=True)
            by_w = (total * b - by_distance @ a) @ omega
            by_omega = (a * rows[:, None]).T @ X - (by_distance @ a).T @ w - b.T @ (by_distance @ X)
            by_omega += (b * total).T @ w
            return cost, 2.0 * np.concatenate((by_w.ravel(), by_omega.ravel()))

        first = np.concatenate((start.ravel(), self._first_omega(X).ravel()))
        return descend(evaluate, first, self.tol, self.max_iter)

    def _first_omega(self, X: Floats) -> Floats:
        """Return the initial Ω of trace 1: the identity or principal components."""
        d = X.shape[1]
        rank = d if self.rank == "all" else min(int(self.rank), d)
        omega = np.eye(d)
        if rank < d:
            omega = _components(X - X.mean(axis=0), rank)
        return omega / np.sqrt(rank)

    def _set_metric(self, x: Floats, d: int) -> None:
        """Set Ω, with its scale fixed by the trace, as the cost does not depend on it."""
        omega = x.reshape(-1, d)
        self.omega_ = omega / (np.sqrt(np.square(omega).sum()) or 1.0)

    def _squared(self, X: Floats, columns: Ints) -> Floats:
        """Return the squared distances ‖Ω (x − w)‖² in scaled units."""
        metric = np.ascontiguousarray((self.omega_ / self.scale_).T)
        # the middle of the prototypes as origin: differences of large numbers would lose digits
        origin = self.prototypes_.mean(axis=0)
        rows = weighted_features(np.ascontiguousarray(X[:, columns] - origin), np.arange(len(columns)), metric)
        centres = (self.prototypes_ - origin) @ metric
        return np.stack([np.square(rows - centre).sum(axis=1) for centre in centres])


def _components(X: Floats, rank: int) -> Floats:
    """Return the directions of greatest variance of centred rows, shape (rank, d), with deterministic signs."""
    n, d = X.shape
    if d <= n:
        found = np.linalg.eigh(X.T @ X)[1][:, ::-1][:, :rank].T
    else:
        left = np.linalg.eigh(X @ X.T)[1]
        some = left[:, ::-1][:, : min(rank, n)].T @ X
        found = np.zeros((rank, d))
        found[: len(some)] = some / np.maximum(np.sqrt(np.square(some).sum(axis=1, keepdims=True)), 1e-300)
    return found * np.sign(found[np.arange(rank), np.abs(found).argmax(axis=1)])[:, None]
