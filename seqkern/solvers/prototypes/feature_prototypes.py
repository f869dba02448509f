"""Prototypes given by feature vectors, with the Euclidean or a learned metric."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from seqkern.core.parameters import flag, integer
from seqkern.core.threads import one_thread
from seqkern.core.types import Array, Arrays, Bools, Floats, Header, Ints
from seqkern.solvers.capabilities import as_array, from_array, typical
from seqkern.solvers.costs import Effort
from seqkern.solvers.expansion import order_by_content, weighted_features
from seqkern.solvers.prototypes.prototypes import (
    Descent,
    FeaturePoints,
    SeveralPrototypes,
    by_class,
    descend,
    glvq_cost,
    means_of,
    nearest_other,
    slope,
    starts,
)
from seqkern.solvers.shared import limit, tolerance


class FeaturePrototypes(SeveralPrototypes):
    """Base of GLVQ and GMLVQ: starts, standardisation and decisions.

    >>> from seqkern.solvers import GLVQ
    >>> GLVQ().fit([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.3, 0.7]], [0, 0, 1, 1]).prototypes_.shape
    (2, 2)
    """

    declared = SeveralPrototypes.declared.but(selects=False)

    input = "features"

    slope: float = slope()
    standardise: bool = flag(
        default=True, doc="Whether features are divided by their standard deviation on the training samples."
    )
    restarts: int = limit(3, "Starts, at most; there is one only with one prototype for each class.")
    tol: float = tolerance(1e-6, "The fit has converged when a run of L-BFGS lowers the objective by at most this.")
    max_iter: int = limit(1000, "Maximum number of iterations of a start.")

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
        best = min(found, key=lambda one: one.cost)
        size = len(self.codes_) * d
        self.support_ = np.arange(d)
        self.prototypes_: Floats = best.x[:size].reshape(-1, d) * self.scale_ + self.mean_
        self._set_metric(best.x[size:], d)
        places = typical(self._squared(X, self.support_), self.codes_, y)
        self._set_exemplars([one._replace(row=int(order[one.row])) for one in places])
        report = {
            "converged": best.residual <= self.tol,
            "iterations": best.iterations,
            "residual": best.residual,
            "objective": best.cost,
            "restart_objectives": [one.cost for one in found],
        }
        if not report["converged"]:
            report["remark"] = "raise max_iter or tol"
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
        least = by_class(self._squared(np.asarray(K), columns), self.codes_)
        return least[0] - least[1] if len(least) == 2 else np.ascontiguousarray((nearest_other(least) - least).T)

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return the prototypes, their classes and exemplars, and the scales."""
        arrays = {"prototypes": self.prototypes_, "codes": self.codes_, "mean": self.mean_, "scale": self.scale_}
        return {}, arrays | {"exemplars": as_array(self.exemplars_)}

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Restore the state returned by `fitted_state`."""
        self.prototypes_, self.codes_ = arrays["prototypes"], arrays["codes"]
        self.mean_, self.scale_ = arrays["mean"], arrays["scale"]
        self._set_exemplars(from_array(arrays["exemplars"]))


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

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(), cls(n_prototypes=2, slope=0.0, standardise=False)]

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
    summary = "GMLVQ: typical feature vectors of each class, and a metric that shows which features matter."
    declared = FeaturePrototypes.declared.but(effort=Effort(products=1000.0))

    rank: int | str = integer(
        default=10, low=1, words=("all",), doc="Rows of Ω; all: as many as features, as for fewer features than `rank`."
    )

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(), cls(n_prototypes=2, rank=2, standardise=False)]

    def relevances(self) -> Floats:
        """Return Λ of the scaled features, float64 (d, d), of trace 1."""
        return np.asarray(self.omega_.T @ self.omega_)

    def selected_columns(self) -> Ints:
        """Return all columns, the most relevant first, int64 (d,)."""
        return np.asarray(self.support_[self._ranking()], dtype=np.int64)

    def selected_weights(self) -> Floats:
        """Return the relevance Λ_jj of the features in the order of `selected_columns`, float64 (d,)."""
        return np.asarray(np.square(self.omega_).sum(axis=0)[self._ranking()])

    def _ranking(self) -> Ints:
        """Return the feature indices, most relevant first."""
        return np.argsort(-np.square(self.omega_).sum(axis=0), kind="stable")

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

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return the state of `FeaturePrototypes`, and Ω."""
        header, arrays = super().fitted_state()
        return header, {**arrays, "omega": self.omega_}

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Restore the state returned by `fitted_state`."""
        super().restore_fitted(header, arrays)
        self.omega_ = arrays["omega"]


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
