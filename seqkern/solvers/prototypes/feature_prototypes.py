"""Prototypes as feature vectors, with the Euclidean or a learned metric."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import flag
from seqkern.core.threads import one_thread
from seqkern.core.types import Arrays, Header
from seqkern.solvers.exemplars import as_array, from_array, typical
from seqkern.solvers.feature_rows import order_by_content
from seqkern.solvers.prototypes.cost import Descent
from seqkern.solvers.prototypes.shared import SeveralPrototypes, by_class, nearest_other, slope
from seqkern.solvers.prototypes.starts import FeaturePoints, means_of, starts
from seqkern.solvers.shared import limit, tolerance

Array = npt.NDArray[np.float64]


class FeaturePrototypes(SeveralPrototypes):
    """Base of GLVQ and GMLVQ: starts, standardisation and decisions.

    Attributes
    ----------
    prototypes_ : ndarray of float64, shape (p, d)
        In the units of the features.
    mean_, scale_ : ndarray of float64, shape (d,)
        With `standardise` mean and standard deviation of the features, else 0 and 1.

    Examples
    --------
    >>> from seqkern.solvers import GLVQ
    >>> GLVQ().fit([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.3, 0.7]], [0, 0, 1, 1]).prototypes_.shape
    (2, 2)
    """

    input = "features"
    selects = False

    slope: float = slope()
    standardise: bool = flag(
        default=True, doc="Whether features are divided by their standard deviation on the training samples."
    )
    restarts: int = limit(3, "Starts, at most; there is one only with one prototype for each class.")
    tol: float = tolerance(1e-6, "The fit has converged when a run of L-BFGS lowers the objective by at most this.")
    max_iter: int = limit(1000, "Maximum number of iterations of a start.")

    def _descended(self, X: Array, same: npt.NDArray[np.bool_], start: Array) -> Descent:
        """Return the end of the descent from prototypes; its variables begin with theirs."""
        raise NotImplementedError

    def _set_metric(self, x: Array, d: int) -> None:
        """Set what was learned besides prototypes, from the other variables."""

    def _squared(self, X: Array, columns: npt.NDArray[np.int64]) -> Array:
        """Return the squared distances of rows from prototypes, (p, n)."""
        raise NotImplementedError

    def _fit(self, K: Any, y: npt.NDArray[Any]) -> dict[str, Any]:
        """Descend from each start, and keep the prototypes of least cost."""
        order = order_by_content(K, y, 0)
        with one_thread():
            return self._learned(np.asarray(K)[order], y[order].astype(np.int64), order)

    def _learned(self, X: Array, y: npt.NDArray[np.int64], order: npt.NDArray[np.int64]) -> dict[str, Any]:
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
        self.prototypes_: Array = best.x[:size].reshape(-1, d) * self.scale_ + self.mean_
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

    def _starts(self, X: Array, y: npt.NDArray[np.int64]) -> list[Array]:
        """Return prototypes of different starts."""
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

    def _decide(self, K: Any, columns: npt.NDArray[np.int64]) -> Array:
        """Return by how much the nearest prototype of the other classes is farther; for two classes, of the second."""
        least = by_class(self._squared(np.asarray(K), columns), self.codes_)
        return least[0] - least[1] if len(least) == 2 else np.ascontiguousarray((nearest_other(least) - least).T)

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return the prototypes, their classes and exemplars, and the scales."""
        arrays = {"prototypes": self.prototypes_, "codes": self.codes_, "mean": self.mean_, "scale": self.scale_}
        return {}, arrays | {"exemplars": as_array(self.exemplars_)}

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `fitted_state` returned."""
        self.prototypes_, self.codes_ = arrays["prototypes"], arrays["codes"]
        self.mean_, self.scale_ = arrays["mean"], arrays["scale"]
        self._set_exemplars(from_array(arrays["exemplars"]))
