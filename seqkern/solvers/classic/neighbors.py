"""Nearest neighbours, in feature space and among whitened features."""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.linear_algebra import ROWS
from seqkern.core.parameters import count, integer
from seqkern.core.threads import one_thread
from seqkern.core.types import Array, Bools, Floats, Ints
from seqkern.solvers import shared
from seqkern.solvers.capabilities import Effort, Search, Traits
from seqkern.solvers.contract import AnyClassSolver, ClassSolver, RealSolver, Solver, stored

if TYPE_CHECKING:
    from sklearn.neighbors import KNeighborsClassifier

    from seqkern.kernels.features import FeatureBlocks


# Nearest neighbours in feature space, computed from kernel values.


def check_neighbors(n_neighbors: int, n: int) -> None:
    """Raise ParameterError unless there are more training records than neighbours."""
    if n <= n_neighbors:
        problem = f"n_neighbors={n_neighbors} is not possible with {n} training records"
        raise ParameterError(problem, remedy=f"give an integer from 1 to {n - 1}")


class Neighbors(Solver):
    """Base of both nearest-neighbour solvers: squared distances and neighbours."""

    declared = Traits(search=Search({"n_neighbors": [1, 3, 5, 9, 15]}, order=("-n_neighbors",)))

    n_neighbors: int = count(5, "k, less than the number of training rows.")

    def check_labels(self, y: Array, groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError if there are fewer training records than neighbours."""
        check_neighbors(self.n_neighbors, len(y))

    def _remember(self, K: Floats) -> None:
        """Keep the diagonal of the training matrix; any training row may be a neighbour."""
        self.support_ = np.arange(len(K))
        self.diagonal_ = np.diagonal(K).copy()

    def _distances(self, K: Floats, columns: Ints) -> Iterator[tuple[slice, Floats]]:
        """Yield (rows as a slice, K(z, z) − 2 K(x, z)): squared distances up to K(x, x).

        K(x, x) does not affect the ranking.
        """
        for start in range(0, len(K), ROWS):
            part = slice(start, min(start + ROWS, len(K)))
            distances = np.take(K[part], columns, axis=1)
            distances *= -2.0
            distances += self.diagonal_
            yield part, distances

    def _left_out(self, K: Floats) -> Iterator[tuple[slice, Floats]]:
        """Yield `_distances` of the training rows, with infinite distance to themselves."""
        for part, distances in self._distances(K, self.support_):
            distances[np.arange(part.stop - part.start), np.arange(part.start, part.stop)] = np.inf
            yield part, distances

    def _neighbors(self, distances: Floats) -> tuple[Bools, Bools, Floats]:
        """Return masks of the rows nearer than the k-th neighbour and of its ties, and the weight of a tied vote."""
        last = np.partition(distances, self.n_neighbors - 1, axis=1)[:, self.n_neighbors - 1, None]
        nearer, tied = distances < last, distances == last
        return nearer, tied, (self.n_neighbors - nearer.sum(axis=1)) / tied.sum(axis=1)


class KernelNeighbors(Neighbors, ClassSolver):
    """Classification by the k nearest neighbours in feature space.

    Attributes
    ----------
    diagonal_ : ndarray of float64, shape (n,)
        K(z, z) of the training rows.
    codes_ : ndarray of int64, shape (n,)
        Their class indices.
    report_ : dict
        ``objective`` is the leave-one-out error rate on the training rows.

    Notes
    -----
    Neighbours are ranked by the squared distance in feature space,

    .. math:: d^2(x, z) = K(x, x) − 2 K(x, z) + K(z, z)

    of which K(x, x) is not needed. Any matrix works: with an indefinite K squared distances may be negative, and rank
    as they are. Rows as near as the k-th neighbour share the remaining votes, so that the order of the training rows
    never matters. Prediction needs all training rows.

    Complexity: O(n) per row for n training rows; 256 rows at a time, without a copy of K.

    References
    ----------
    Cover, Hart: Nearest neighbor pattern classification. IEEE Transactions on Information Theory 13, 1967.

    Yu, Ji, Zhang: Kernel nearest-neighbor algorithm. Neural Processing Letters 15, 2002.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import KernelNeighbors
    >>> repeats = SequenceSet.from_strings(["ACACACAC", "ACACACAT", "GTGTGTGT", "GTGTGTGA", "ACACACTT"], "dna")
    >>> K = SpectrumKernel(k=2)(repeats)
    >>> solver = KernelNeighbors(n_neighbors=1).fit(K[:4, :4], ["CA", "CA", "GT", "GT"])
    >>> solver.predict(K[4:, :4]).tolist()
    ['CA']
    """

    name = "kernel_neighbors"
    summary = "Nearest neighbours: the majority among the k most similar training records, by kernel distance."
    learned = stored(diagonal="diagonal_", codes="codes_")
    declared = Neighbors.declared.but(effort=Effort(products=30.0))
    targets = ("binary", "multiclass")

    tested_with = ({}, {"n_neighbors": 1}, {"n_neighbors": 8})

    def _fit(self, K: Any, y: Array) -> dict[str, Any]:
        """Keep the training rows, classify each by the others, and return the report."""
        self._remember(K)
        self.codes_ = y.astype(np.int64)
        wrong = 0
        for part, distances in self._left_out(K):
            wrong += int(np.sum(self._scores(distances).argmax(axis=1) != y[part]))
        return {"objective": wrong / len(K)}

    @np.errstate(all="ignore")  # what is not finite is found in the decisions
    def _scores(self, distances: Floats) -> Floats:
        """Return the score of each class for each row of squared distances, shape (m, classes)."""
        k = self.n_neighbors
        nearer, tied, share = self._neighbors(distances)
        votes = np.empty((len(distances), len(self.classes_)))
        means = np.empty_like(votes)
        for code in range(len(self.classes_)):
            members = np.flatnonzero(self.codes_ == code)
            votes[:, code] = nearer[:, members].sum(axis=1) + share * tied[:, members].sum(axis=1)
            means[:, code] = _mean_of_least(distances[:, members], k)
        two = np.sort(means, axis=1)[:, :2]
        others = np.where(means == two[:, :1], two[:, 1:], two[:, :1])
        scale = np.abs(self.diagonal_).mean() or 1.0
        # a class without remaining members is infinitely far
        t = np.clip((others - means) / scale, -1e300, 1e300)
        return (votes + t / (1.0 + np.abs(t)) / (2 * len(self.codes_))) / k

    def _decide(self, K: Any, columns: Ints) -> Floats:
        """Return the votes with tie-breakers for each row."""
        scores = np.empty((len(K), len(self.classes_)))
        for part, distances in self._distances(K, columns):
            scores[part] = self._scores(distances)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores


class KernelNeighborsRegressor(Neighbors, RealSolver):
    r"""Regression by the k nearest neighbours in feature space: the mean of their values.

    Distances, ties and parameters are as in `KernelNeighbors`.

    Attributes
    ----------
    diagonal_, values_ : ndarray of float64, shape (n,)
        K(z, z) and y of the training rows.
    report_ : dict
        ``objective`` is the mean squared error for training rows, each predicted from the others (leave-one-out).

    Notes
    -----
    With N_k(x) the k nearest training rows, it predicts

    .. math:: (1/k) \sum_{z ∈ N_k(x)} y_z

    Complexity: O(n) per row for n training rows.

    References
    ----------
    Cover, Hart: Nearest neighbor pattern classification. IEEE Transactions on Information Theory 13, 1967.

    Yu, Ji, Zhang: Kernel nearest-neighbor algorithm. Neural Processing Letters 15, 2002.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import KernelNeighborsRegressor
    >>> sites = SequenceSet.from_strings(["TATAAA", "TATAAT", "GCGCGC", "GCGCGG", "TATATA"], "dna")
    >>> K = SpectrumKernel(k=2)(sites)
    >>> solver = KernelNeighborsRegressor(n_neighbors=2).fit(K[:4, :4], [8.0, 7.0, 1.0, 2.0])
    >>> solver.predict(K[4:, :4])
    array([7.5])
    """

    name = "kernel_neighbors_regressor"
    summary = "Nearest neighbours for regression: the mean over the k most similar training records."
    learned = stored(diagonal="diagonal_", values="values_")
    declared = Neighbors.declared.but(effort=Effort(products=20.0))

    def _fit(self, K: Any, y: Array) -> dict[str, Any]:
        """Keep the training rows, predict each from the others, and return the report."""
        self._remember(K)
        self.values_ = y
        errors = np.empty(len(K))
        for part, distances in self._left_out(K):
            errors[part] = self._means(distances) - y[part]
        return {"objective": float(np.mean(errors**2))}

    @np.errstate(all="ignore")  # as above
    def _means(self, distances: Floats) -> Floats:
        """Return the mean of the neighbours' values for each row of squared distances."""
        nearer, tied, share = self._neighbors(distances)
        # not a matrix product, whose bits would depend on the number of rows
        sums = [np.where(chosen, self.values_, 0.0).sum(axis=1) for chosen in (nearer, tied)]
        return (sums[0] + share * sums[1]) / self.n_neighbors

    def _decide(self, K: Any, columns: Ints) -> Floats:
        """Return the neighbours' mean values."""
        return np.concatenate([self._means(distances) for _, distances in self._distances(K, columns)])


def _mean_of_least(values: Floats, k: int) -> Floats:
    """Return the mean of the finite ones among the k smallest values of each row; inf where none is finite."""
    k = min(k, values.shape[1])
    least = np.sort(np.partition(values, k - 1, axis=1)[:, :k], axis=1)
    finite = np.isfinite(least)
    total = np.zeros(len(values))
    for place in range(k):
        total += np.where(finite[:, place], least[:, place], 0.0)
    count = finite.sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.inf)


# Nearest neighbours in whitened feature space.

FLAT = 1e-10  # Directions with at most this share of the largest variance are left out


class WhitenedNeighbors(AnyClassSolver):
    r"""Vote of the k nearest training rows in whitened features.

    The features are projected on the principal components of all training rows and divided by the standard deviation
    along each, so that their scales and correlations do not matter. The search is scikit-learn's KNeighborsClassifier.

    Attributes
    ----------
    mean_ : ndarray of float64, shape (d,)
        Mean of the training rows.
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
    summary = "Nearest neighbours among whitened features: the majority of the k most similar records."
    learned = stored(mean="mean_", whitening="whitening_", points="points_", codes="codes_")
    declared = Traits(
        blocks=True,
        selects=False,
        search=Search({"n_neighbors": [1, 5, 15, 50, 150]}, order=("-n_neighbors",)),
        effort=Effort(products=100.0, cubes=4.0),
    )
    input = "features"

    n_neighbors: int = count(15, "k, less than the number of training rows.")
    n_components: int | None = count(None, "Number of principal components; by default all with variance.")
    max_units: int = integer(
        default=20_000,
        low=2,
        doc="Largest number of neighbours kept; of more training rows, this many are drawn. Whitening uses all rows.",
    )
    seed: int = shared.random_seed("Seed of the draw.")

    def check_labels(self, y: Array, groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError if there are fewer training records than neighbours."""
        check_neighbors(self.n_neighbors, min(len(y), self.max_units))

    tested_with = ({"n_neighbors": 3}, {"n_neighbors": 1, "n_components": 2, "max_units": 30})

    def _fit(self, K: Any, y: Array) -> dict[str, Any]:
        """Compute the components, whiten the drawn rows, and return the report."""
        drawn = shared.order_by_content(K, y, self.seed)[: self.max_units]
        self.support_ = np.arange(K.shape[1])
        with one_thread():
            self._learn_whitening(shared.as_blocks(K))
        self.codes_ = y[drawn].astype(np.int64)
        self.points_ = self._whitened(shared.gathered(K, drawn), self.support_)
        vars(self).pop("_search", None)  # of an earlier fit
        wrong = np.mean(self._votes(self.points_).argmax(axis=1) != self.codes_)
        return {"objective": float(wrong), "components": self.whitening_.shape[1], "units": len(drawn)}

    def _learn_whitening(self, K: "FeatureBlocks") -> None:
        """Set the mean and the whitening matrix."""
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
        self.whitening_ = np.ascontiguousarray(directions[:, kept] / np.sqrt(variances[kept]))

    def _whitened(self, K: Any, columns: Ints) -> Floats:
        """Return the whitened rows, float64 (n, components)."""
        out = np.empty((K.shape[0], self.whitening_.shape[1]))
        with one_thread():
            for part, block in shared.blocks_of_columns(K, columns):
                out[part] = shared.fixed_product(block - self.mean_, self.whitening_)
        return out

    @cached_property
    def _search(self) -> "KNeighborsClassifier":
        """A scikit-learn neighbour search over the training rows."""
        from sklearn.neighbors import KNeighborsClassifier  # imported here: scikit-learn slows start-up

        return KNeighborsClassifier(self.n_neighbors).fit(self.points_, self.codes_)

    def _votes(self, points: Floats) -> Floats:
        """Return each class's share of the votes, float64 (n, c)."""
        found = self._search.predict_proba(points)
        out = np.zeros((len(points), len(self.classes_)))
        out[:, self._search.classes_] = found
        return out

    def _decide(self, K: Any, columns: Ints) -> Floats:
        """Return each class's share of the votes, or the difference of the shares of two classes."""
        votes = self._votes(self._whitened(K, columns))
        return votes[:, 1] - votes[:, 0] if len(self.classes_) == 2 else votes
