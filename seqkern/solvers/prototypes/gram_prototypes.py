"""Prototypes in the feature space of a kernel: combinations of the training samples."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from seqkern.core.parameters import real
from seqkern.core.threads import one_thread
from seqkern.core.types import Array, Arrays, Bools, Floats, Header, Ints
from seqkern.solvers.capabilities import Search, as_array, from_array, typical
from seqkern.solvers.costs import Effort
from seqkern.solvers.expansion import weighted_sums
from seqkern.solvers.prototypes.prototypes import (
    Descent,
    GramPoints,
    Prototypes,
    SeveralPrototypes,
    by_class,
    descend,
    glvq_cost,
    means_of,
    nearest_other,
    slope,
    starts,
)
from seqkern.solvers.shared import gram_order, limit, tolerance


class GramPrototypes(Prototypes):
    """Base of solvers with prototypes w_p = Σ_j γ_pj φ(x_j), Σ_j γ_pj = 1.

    `coef_` is γ over the samples in `support_`, shape (p, s), and `squares_` is ‖w_p‖².
    """

    def _keep(self, weights: Floats, codes: Ints, K: Floats, y: Ints) -> Floats:
        """Set the fitted attributes from γ of all samples, and return the distances, (p, n)."""
        products = weights @ K
        self.codes_ = codes
        self.squares_: Floats = np.sum(products * weights, axis=1)
        self.support_ = np.flatnonzero(weights.any(axis=0)).astype(np.int64)
        self.coef_: Floats = np.ascontiguousarray(weights[:, self.support_])
        distances = np.diagonal(K) - 2.0 * products + self.squares_[:, None]
        self._set_exemplars(typical(distances, codes, y))
        return distances

    def _decide(self, K: Any, columns: Ints) -> Floats:
        """Return decision values: how much farther the nearest prototype of the other classes is; K(x, x) cancels."""
        least = by_class(
            np.stack([s - 2.0 * weighted_sums(K, columns, c) for s, c in zip(self.squares_, self.coef_, strict=True)]),
            self.codes_,
        )
        return least[0] - least[1] if len(least) == 2 else np.ascontiguousarray((nearest_other(least) - least).T)

    def linear(self) -> tuple[Floats, float] | None:
        """Return (coefficients, constant) for two classes of one prototype each, else None."""
        if self.codes_.tolist() != [0, 1]:
            return None
        return self._on_columns(2.0 * (self.coef_[1] - self.coef_[0])), float(self.squares_[0] - self.squares_[1])

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return the coefficients, squares and classes of the prototypes, and their exemplars."""
        arrays = {"coef": self.coef_, "squares": self.squares_, "codes": self.codes_}
        return {}, arrays | {"exemplars": as_array(self.exemplars_)}

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Restore the state returned by `fitted_state`."""
        self.coef_, self.squares_, self.codes_ = arrays["coef"], arrays["squares"], arrays["codes"]
        self._set_exemplars(from_array(arrays["exemplars"]))


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
        for groups in starts(list(points), self.n_prototypes, self.seed, most):
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

SLOWER = 10.0
"""Passes after which the rate has halved."""


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

    eta: float = real(default=0.3, low=0, high=1, open_low=True, doc="η of the first pass.")
    tol: float = tolerance(
        1e-6,
        "The fit has converged when no prototype moves farther in a pass: squared, as a share of the mean squared "
        "distance of a sample from the nearest prototype.",
    )
    max_iter: int = limit(2000, "Maximum number of passes.")

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(), cls(n_prototypes=3, eta=0.1)]

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
        report: dict[str, Any] = {
            "converged": residual <= self.tol,
            "iterations": done,
            "residual": residual,
            "objective": wrong,
        }
        if residual > self.tol:
            report["remark"] = "raise max_iter or tol, or lower eta"
        return weights, report


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
    >>> K = SpectrumKernel(k=2).kernel(repeats)
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
        return {"converged": True, "iterations": 1, "residual": 0.0, "objective": objective}


# Generalised learning vector quantisation on a kernel or dissimilarity matrix.

SMALL = 1e-6
"""Coefficients below this share of a prototype's largest one are set to 0."""


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
    >>> K = SpectrumKernel(k=2).kernel(repeats)
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

    shrinkage: float = real(
        default=0.0,
        low=0,
        high=1,
        doc="s, how far prototypes stay with the means that they start at: γ = s · start + (1 − s) · v / Σv. Above 0 "
        "against overfitting, with few samples or nearly equal distances.",
    )
    slope: float = slope()
    restarts: int = limit(3, "Starts, at most; there is one only with one prototype for each class.")
    tol: float = tolerance(1e-6, "The fit has converged when a run of L-BFGS lowers the objective by at most this.")
    max_iter: int = limit(1000, "Maximum number of iterations of a start.")

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(), cls(n_prototypes=2, slope=0.0, shrinkage=0.2)]

    def _learned(self, K: Floats, y: Ints) -> tuple[Floats, dict[str, Any]]:
        """Descend from each start, and return γ of the prototypes of lowest cost, and the report."""
        same = self._first_codes(self.n_prototypes)[:, None] == y
        found = [self._descended(K, same, start) for start in self._starts(K, y, self.restarts)]
        best = min(found, key=lambda one: one.cost)
        weights = best.x.reshape(same.shape).copy()
        weights[weights < SMALL * weights.max(axis=1, keepdims=True)] = 0.0
        report = {
            "converged": best.residual <= self.tol,
            "iterations": best.iterations,
            "residual": best.residual,
            "objective": best.cost,
            "restart_objectives": [one.cost for one in found],
        }
        if not report["converged"]:
            report["remark"] = "raise max_iter or tol"
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
