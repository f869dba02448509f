"""Generalised matrix learning vector quantisation: prototypes and a metric."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import integer
from seqkern.core.types import Arrays, Header
from seqkern.solvers.feature_rows import weighted_features
from seqkern.solvers.prototypes.cost import Descent, descend, glvq_cost
from seqkern.solvers.prototypes.feature_prototypes import Array, FeaturePrototypes


class GMLVQ(FeaturePrototypes):
    r"""Generalised matrix LVQ: prototypes of each class, and a metric that shows which features matter.

    Attributes
    ----------
    prototypes_ : ndarray of float64, shape (p, d)
        In the units of the features.
    omega_ : ndarray of float64, shape (r, d)
        Ω, for scaled features.
    report_ : dict
        ``objective`` is the mean of φ(μ); ``residual`` by how much the last run of L-BFGS lowered it;
        ``restart_objectives`` (list of float) that of each start.

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
    fit_products = 1000.0

    rank: int | str = integer(
        default=10, low=1, words=("all",), doc="Rows of Ω; all: as many as features, as for fewer features than `rank`."
    )

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(), cls(n_prototypes=2, rank=2, standardise=False)]

    def relevances(self) -> Array:
        """Return Λ of the scaled features, float64 (d, d), of trace 1."""
        return np.asarray(self.omega_.T @ self.omega_)

    def selected_columns(self) -> npt.NDArray[np.int64]:
        """Return all columns, the most relevant first, int64 (d,)."""
        return np.asarray(self.support_[self._ranking()], dtype=np.int64)

    def selected_weights(self) -> Array:
        """Return the relevance Λ_jj of the features in the order of `selected_columns`, float64 (d,)."""
        return np.asarray(np.square(self.omega_).sum(axis=0)[self._ranking()])

    def _ranking(self) -> npt.NDArray[np.int64]:
        """Return the places of the features, the most relevant first."""
        return np.argsort(-np.square(self.omega_).sum(axis=0), kind="stable")

    def _descended(self, X: Array, same: npt.NDArray[np.bool_], start: Array) -> Descent:
        """Return the end of the descent from prototypes and the first Ω."""
        size, d = start.size, X.shape[1]

        def evaluate(values: Array) -> tuple[float, Array]:
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

    def _first_omega(self, X: Array) -> Array:
        """Return the identity, or principal components, of trace 1."""
        d = X.shape[1]
        rank = d if self.rank == "all" else min(int(self.rank), d)
        omega = np.eye(d)
        if rank < d:
            omega = _components(X - X.mean(axis=0), rank)
        return omega / np.sqrt(rank)

    def _set_metric(self, x: Array, d: int) -> None:
        """Set Ω: the cost does not depend on its scale, which the trace fixes."""
        omega = x.reshape(-1, d)
        self.omega_ = omega / (np.sqrt(np.square(omega).sum()) or 1.0)

    def _squared(self, X: Array, columns: npt.NDArray[np.int64]) -> Array:
        """Return ‖Ω (x − w)‖², in scaled units."""
        metric = np.ascontiguousarray((self.omega_ / self.scale_).T)
        # the middle of the prototypes as origin: differences of large numbers would lose digits
        origin = self.prototypes_.mean(axis=0)
        rows = weighted_features(np.ascontiguousarray(X[:, columns] - origin), np.arange(len(columns)), metric)
        centres = (self.prototypes_ - origin) @ metric
        return np.stack([np.square(rows - centre).sum(axis=1) for centre in centres])

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return what `FeaturePrototypes` does, and Ω."""
        header, arrays = super().fitted_state()
        return header, {**arrays, "omega": self.omega_}

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `fitted_state` returned."""
        super().restore_fitted(header, arrays)
        self.omega_ = arrays["omega"]


def _components(X: Array, rank: int) -> Array:
    """Return the directions of greatest variance of centred rows, (rank, d), with signs that do not vary."""
    n, d = X.shape
    if d <= n:
        found = np.linalg.eigh(X.T @ X)[1][:, ::-1][:, :rank].T
    else:
        left = np.linalg.eigh(X @ X.T)[1]
        some = left[:, ::-1][:, : min(rank, n)].T @ X
        found = np.zeros((rank, d))
        found[: len(some)] = some / np.maximum(np.sqrt(np.square(some).sum(axis=1, keepdims=True)), 1e-300)
    return found * np.sign(found[np.arange(rank), np.abs(found).argmax(axis=1)])[:, None]
