"""Generalised learning vector quantisation on features."""

from typing import Self

import numpy as np
import numpy.typing as npt

from seqkern.solvers.prototypes.cost import Descent, descend, glvq_cost
from seqkern.solvers.prototypes.feature_prototypes import Array, FeaturePrototypes


class GLVQ(FeaturePrototypes):
    r"""Generalised learning vector quantisation: prototypes of each class as feature vectors.

    Attributes
    ----------
    prototypes_ : ndarray of float64, shape (p, d)
        In the units of the features.
    report_ : dict
        ``objective`` is the mean of φ(μ); ``residual`` by how much the last run of L-BFGS lowered it;
        ``restart_objectives`` (list of float) that of each start.

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
    summary = "GLVQ: typical feature vectors of each class, placed so that classes are told apart."
    fit_products = 100.0

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(), cls(n_prototypes=2, slope=0.0, standardise=False)]

    def _descended(self, X: Array, same: npt.NDArray[np.bool_], start: Array) -> Descent:
        """Return the end of the descent from a start."""
        norms = np.square(X).sum(axis=1)

        def evaluate(values: Array) -> tuple[float, Array]:
            w = values.reshape(start.shape)
            distances = norms - 2.0 * (w @ X.T) + np.square(w).sum(axis=1)[:, None]
            cost, by_distance = glvq_cost(distances, same, self.slope)
            return cost, (2.0 * (by_distance.sum(axis=1, keepdims=True) * w - by_distance @ X)).ravel()

        return descend(evaluate, start.ravel(), self.tol, self.max_iter)

    def _squared(self, X: Array, columns: npt.NDArray[np.int64]) -> Array:
        """Return ‖(x − w) / scale‖²."""
        rows = np.ascontiguousarray(X[:, columns])
        return np.stack([np.square((rows - w) / self.scale_).sum(axis=1) for w in self.prototypes_])
