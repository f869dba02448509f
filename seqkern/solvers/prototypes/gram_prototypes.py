"""Prototypes in the feature space of a kernel: combinations of the training samples."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.threads import one_thread
from seqkern.core.types import Arrays, Header
from seqkern.solvers.exemplars import as_array, from_array, typical
from seqkern.solvers.expansion import weighted_sums
from seqkern.solvers.gram_order import gram_order
from seqkern.solvers.prototypes.shared import Prototypes, SeveralPrototypes, by_class, nearest_other
from seqkern.solvers.prototypes.starts import GramPoints, means_of, starts

Array = npt.NDArray[np.float64]


class GramPrototypes(Prototypes):
    """Base of solvers whose prototypes are w_p = Σ_j γ_pj φ(x_j), Σ_j γ_pj = 1.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (p, s)
        γ, of the samples in `support_`.
    squares_ : ndarray of float64, shape (p,)
        ‖w_p‖².

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers import NearestPrototype
    >>> x = np.array([1.0, 2.0, -2.0])
    >>> NearestPrototype().fit(np.outer(x, x), [1, 1, 0]).coef_
    array([[0. , 0. , 1. ],
           [0.5, 0.5, 0. ]])
    """

    def _keep(self, weights: Array, codes: npt.NDArray[np.int64], K: Array, y: npt.NDArray[np.int64]) -> Array:
        """Set the fitted attributes from γ of all samples, and return the distances, (p, n)."""
        products = weights @ K
        self.codes_ = codes
        self.squares_: Array = np.sum(products * weights, axis=1)
        self.support_ = np.flatnonzero(weights.any(axis=0)).astype(np.int64)
        self.coef_: Array = np.ascontiguousarray(weights[:, self.support_])
        distances = np.diagonal(K) - 2.0 * products + self.squares_[:, None]
        self._set_exemplars(typical(distances, codes, y))
        return distances

    def _decide(self, K: Any, columns: npt.NDArray[np.int64]) -> Array:
        """Return by how much the nearest prototype of the other classes is farther: K(x, x) cancels."""
        least = by_class(
            np.stack([s - 2.0 * weighted_sums(K, columns, c) for s, c in zip(self.squares_, self.coef_, strict=True)]),
            self.codes_,
        )
        return least[0] - least[1] if len(least) == 2 else np.ascontiguousarray((nearest_other(least) - least).T)

    def linear(self) -> tuple[Array, float] | None:
        """Return (coefficients, constant) for two classes of one prototype each, else None."""
        if self.codes_.tolist() != [0, 1]:
            return None
        return self._on_columns(2.0 * (self.coef_[1] - self.coef_[0])), float(self.squares_[0] - self.squares_[1])

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return the coefficients, squares and classes of the prototypes, and their exemplars."""
        arrays = {"coef": self.coef_, "squares": self.squares_, "codes": self.codes_}
        return {}, arrays | {"exemplars": as_array(self.exemplars_)}

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `fitted_state` returned."""
        self.coef_, self.squares_, self.codes_ = arrays["coef"], arrays["squares"], arrays["codes"]
        self._set_exemplars(from_array(arrays["exemplars"]))


class LearnedGramPrototypes(SeveralPrototypes, GramPrototypes):
    """Base of solvers that move such prototypes from the means of clusters within the classes.

    Examples
    --------
    >>> from seqkern.solvers import LVQ1
    >>> LVQ1(n_prototypes=2).fit([[2.0, 0.0], [0.0, 2.0]] , [0, 1])
    Traceback (most recent call last):
        ...
    seqkern.core.errors.ParameterError: n_prototypes=2 is not possible: the smallest class has 1 training samples; \
give an integer from 1 to 1
    """

    def _fit(self, K: Any, y: npt.NDArray[Any]) -> dict[str, Any]:
        """Learn on the samples in an order that their values give, so that theirs in the input does not matter."""
        order = gram_order(K, y)
        with one_thread():
            weights, report = self._learned(np.ascontiguousarray(K[np.ix_(order, order)]), y[order].astype(np.int64))
        everywhere = np.zeros_like(weights)
        everywhere[:, order] = weights
        with one_thread():
            self._keep(everywhere, self._first_codes(self.n_prototypes), np.asarray(K), y.astype(np.int64))
        return report

    def _learned(self, K: Array, y: npt.NDArray[np.int64]) -> tuple[Array, dict[str, Any]]:
        """Return γ and the report, for ordered samples."""
        raise NotImplementedError

    def _starts(self, K: Array, y: npt.NDArray[np.int64], most: int) -> list[Array]:
        """Return γ of different starts."""
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


def _filled(weights: Array) -> Array:
    """Return means of groups; an empty group, where samples are copies of each other, gets the mean of all."""
    return np.where(weights.any(axis=1, keepdims=True), weights, 1.0 / weights.shape[1])
