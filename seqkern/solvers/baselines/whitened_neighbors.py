"""Nearest neighbours among whitened features."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import integer
from seqkern.core.threads import one_thread
from seqkern.solvers.base import AnyClassSolver
from seqkern.solvers.feature_rows import as_blocks, blocks_of_columns, fixed_product, gathered, order_by_content
from seqkern.solvers.shared import random_seed

if TYPE_CHECKING:
    from sklearn.neighbors import KNeighborsClassifier  # scikit-learn slows start-up

    from seqkern.kernels.feature_blocks import FeatureBlocks

FLAT = 1e-10
"""Directions with at most this share of the largest variance are left out."""


class WhitenedNeighbors(AnyClassSolver):
    r"""Vote of the k nearest training rows in whitened features.

    The features are projected on the principal components of all training rows and divided by the standard deviation
    along each, so that their scales and correlations do not matter. The search is scikit-learn's KNeighborsClassifier.

    Attributes
    ----------
    mean_ : ndarray of float64, shape (d,)
        Of the training rows.
    whitening_ : ndarray of float64, shape (d, components)
        The principal components, each over the standard deviation along it.
    points_ : ndarray of float64, shape (m, components)
        The whitened training rows.
    codes_ : ndarray of int64, shape (m,)
        Their class indices.
    report_ : dict
        ``objective`` is the share of these rows that it misclassifies, each voting for itself too; ``units`` (int) m.

    Notes
    -----
    With N_k(x) the k nearest training rows by Euclidean distance after whitening, the decision for class c is

    .. math:: (1/k) \sum_{z ∈ N_k(x)} [y_z = c]

    for two classes the difference, second less first. Rows are sorted by content first, so that ties do not depend on
    the order of the training rows.

    Complexity: O(n·d² + d³) to whiten n rows with d features; then at most O(m·d) per row for m kept rows.

    References
    ----------
    Cover, Hart: Nearest neighbor pattern classification. IEEE Transactions on Information Theory 13, 1967.

    Examples
    --------
    >>> from seqkern.solvers import WhitenedNeighbors
    >>> X = [[0.62, 90], [0.66, 80], [0.58, 70], [0.41, 20], [0.45, 30], [0.38, 10]]  # GC content, CpG islands
    >>> solver = WhitenedNeighbors(n_neighbors=1).fit(X, ["promoter"] * 3 + ["intron"] * 3)
    >>> solver.predict([[0.6, 65], [0.4, 15]]).tolist()
    ['promoter', 'intron']
    >>> solver.report_["components"]
    2
    """

    name = "whitened_neighbors"
    fit_products = 100.0
    fit_cubes = 4.0
    summary = "Nearest neighbours among whitened features: the majority of the k most similar records."
    input = "features"
    accepts_blocks = True
    selects = False

    n_neighbors: int = integer(default=15, low=1, doc="k, less than the number of training rows.")
    n_components: int | None = integer(
        default=None, low=1, doc="Number of principal components; by default all with variance."
    )
    max_units: int = integer(
        default=20_000,
        low=2,
        doc="Largest number of neighbours kept; of more training rows, this many are drawn. Whitening uses all rows.",
    )
    seed: int = random_seed("Seed of the draw.")

    def check_labels(self, y: npt.NDArray[Any], groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError if there are fewer training records than neighbours."""
        count = min(len(y), self.max_units)
        if count <= self.n_neighbors:
            raise ParameterError(
                f"n_neighbors={self.n_neighbors} is not possible with {count} training records",
                remedy=f"give an integer from 1 to {count - 1}",
            )

    @classmethod
    def default_grid(cls) -> dict[str, list[Any]]:
        """Return the numbers of neighbours that a search tries."""
        return {"n_neighbors": [1, 5, 15, 50, 150]}

    def complexity(self) -> tuple[float, ...]:
        """Return (−k,): more neighbours give smoother decisions."""
        return (-float(self.n_neighbors),)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        return [cls(n_neighbors=3), cls(n_neighbors=1, n_components=2, max_units=30)]

    def _fit(self, K: Any, y: npt.NDArray[Any]) -> dict[str, Any]:
        """Compute the components, and whiten the drawn rows."""
        drawn = order_by_content(K, y, self.seed)[: self.max_units]
        self.support_ = np.arange(K.shape[1])
        with one_thread():
            self._learn_whitening(as_blocks(K))
        self.codes_ = y[drawn].astype(np.int64)
        self.points_ = self._whitened(gathered(K, drawn), self.support_)
        self._search = self._made()
        wrong = np.mean(self._votes(self.points_).argmax(axis=1) != self.codes_)
        report = {"converged": True, "iterations": 1, "residual": 0.0, "objective": float(wrong)}
        return {**report, "components": self.whitening_.shape[1], "units": len(drawn)}

    def _learn_whitening(self, K: "FeatureBlocks") -> None:
        """Set the mean and the whitening."""
        mean, covariance = np.zeros(K.shape[1]), np.zeros((K.shape[1], K.shape[1]))
        for _, block in K.blocks():
            mean += block.sum(axis=0, dtype=np.float64)
        mean /= len(K)
        for _, block in K.blocks():
            centred = block - mean
            covariance += centred.T @ centred
        variances, directions = np.linalg.eigh(covariance / len(K))
        kept = np.flatnonzero(variances > FLAT * max(variances[-1], 0.0))[::-1][: self.n_components]
        if not len(kept):
            raise ParameterError("the features do not vary", remedy="choose other features")
        self.mean_ = mean
        self.whitening_ = directions[:, kept] / np.sqrt(variances[kept])

    def _whitened(self, K: Any, columns: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the whitened rows, float64 (n, components)."""
        out = np.empty((K.shape[0], self.whitening_.shape[1]))
        with one_thread():
            for part, block in blocks_of_columns(K, columns):
                out[part] = fixed_product(block - self.mean_, self.whitening_)
        return out

    def _made(self) -> "KNeighborsClassifier":
        """Return scikit-learn's search for neighbours among the training rows."""
        from sklearn.neighbors import KNeighborsClassifier  # imported here: scikit-learn slows start-up

        return KNeighborsClassifier(self.n_neighbors).fit(self.points_, self.codes_)

    def _votes(self, points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the share of votes of each class, float64 (n, c)."""
        found = self._search.predict_proba(points)
        out = np.zeros((len(points), len(self.classes_)))
        out[:, self._search.classes_] = found
        return out

    def _decide(self, K: Any, columns: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the share of votes of each class, or the difference of those of two."""
        votes = self._votes(self._whitened(K, columns))
        return votes[:, 1] - votes[:, 0] if len(self.classes_) == 2 else votes

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return the whitening and the training rows."""
        whitening = {"mean": self.mean_, "whitening": np.ascontiguousarray(self.whitening_)}
        return {}, {**whitening, "points": self.points_, "codes": self.codes_}

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `fitted_state` returned."""
        self.mean_, self.whitening_ = arrays["mean"], arrays["whitening"]
        self.points_, self.codes_ = arrays["points"], arrays["codes"]
        self._search = self._made()
