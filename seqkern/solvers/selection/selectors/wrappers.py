"""Wrapper selectors: forward and backward search for the smallest leave-one-out error of a linear classifier.

The classifier is regularised least squares on the classes (if several, one column of ±1 for each), with a constant
feature for the bias. Its leave-one-out error follows from one inverse: with G = (Z Zᵀ + λI)⁻¹, Z the chosen features,
and A = G Y, the error on the left-out sample i is A_i / G_ii. Adding or removing a feature changes G by a matrix of
rank one, so all candidates are tried in a few passes over an l × d matrix: Pahikkala, Airola & Salakoski, Speeding up
greedy forward selection for regularized least-squares, ICMLA 2010.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import changed, integer, real
from seqkern.core.types import Array, Bools, Floats
from seqkern.solvers.selection.selectors.filters import second_classes
from seqkern.solvers.selection.selectors.selector import Selector
from seqkern.solvers.selection.selectors.sparse_models import linear_weights, standardised
from seqkern.solvers.shared import random_seed


class LeastSquaresSearch(Selector):
    """Base of the forward and backward search by regularised least squares.

    Features are standardised first. Every feature gets a score; see the `_fit` of each subclass.
    """

    targets = ("binary", "multiclass", "real")

    ridge: float = real(default=1.0, low=0, open_low=True, doc="λ, the penalty on squared weights.")

    def _targets(self, y: Array) -> Floats:
        """Return the labels as numeric columns, float64 (n, c)."""
        if self.kind_ == "real":
            scale = y.std()
            return ((y - y.mean()) / (scale if scale > 0 else 1.0))[:, None]
        columns = range(1, 2) if len(self.classes_) == 2 else range(len(self.classes_))
        return np.stack([np.where(y == c, 1.0, -1.0) for c in columns], axis=1)


class ForwardSelector(LeastSquaresSearch):
    """Forward search: starting without features, add the one that gives the smallest leave-one-out error.

    error(S) = Σ_i ‖y_i − f_S^(−i)(x_i)‖², f_S^(−i) the regularised least-squares classifier on the features S, trained
    without sample i.

    Attributes
    ----------
    errors_ : ndarray of float64, shape (searched,)
        Mean error of a sample after each feature.

    Notes
    -----
    Forward search: Whitney, IEEE Trans. Computers 20, 1971; wrappers: Kohavi & John, Artif. Intell. 97, 1997; this one:
    Pahikkala et al. 2010. The error of the chosen features was minimised, so it does not estimate the error on new
    data.

    Examples
    --------
    >>> from seqkern.solvers import ForwardSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = ForwardSelector(n_features=2).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([2, 1, 3])
    >>> selector.scores_.round(2)
    array([2.  , 3.  , 0.92])
    """

    name = "forward"
    fit_products = 2000.0
    summary = "Adds one feature at a time, the one that gives a linear classifier the smallest error."

    n_features: int | None = changed(
        default=None,
        doc="Number of features to search for; the others are ranked by the error that each would "
        "give as the last one. With none, min(l − 1, 50).",
    )

    @classmethod
    def examples(cls) -> list[Self]:
        """Return selectors for the contract suite."""
        return [cls(), cls(n_features=2, ridge=0.1)]

    def _fit(self, X: Floats, y: Array) -> Floats:
        """Return the scores d, d − 1, … of the features in the order found, and scores below 1 for the others.

        The scores of the others decrease with their error.
        """
        X, usable = standardised(X)
        targets, (n, d) = self._targets(y), X.shape
        wanted = min(n - 1, 50) if self.n_features is None else int(self.n_features)
        G = start_inverse(n, self.ridge)
        U = G @ X
        free = usable.copy()
        found: list[int] = []
        errors_of_found: list[float] = []
        errors = np.full(d, np.inf)
        for _ in range(min(wanted, np.count_nonzero(usable))):
            curvature = 1.0 + np.einsum("ij,ij->j", X, U)
            errors = np.where(free, candidate_errors(G, targets, X, U, curvature, 1.0), np.inf)
            best = int(np.argmin(errors))
            found.append(best)
            free[best] = False
            errors_of_found.append(errors[best] / n)
            column = U[:, best].copy()
            G -= np.outer(column, column) / curvature[best]
            U -= np.outer(column, column @ X) / curvature[best]
        self.errors_ = np.array(errors_of_found)
        scores = np.full(d, -np.inf)
        others = np.flatnonzero(free)
        scores[others] = 1.0 / (1.0 + errors[others] / n)
        scores[found] = d - np.arange(len(found))
        return scores


class BackwardSelector(LeastSquaresSearch):
    """Backward search: starting with all features, remove those that leave the smallest leave-one-out error.

    The error is as in `ForwardSelector`. Of many features, a share is removed at once, those whose single removal
    matters least.

    Notes
    -----
    Backward search: Marill & Green, IEEE Trans. Inform. Theory 9, 1963.

    Examples
    --------
    >>> from seqkern.solvers import BackwardSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = BackwardSelector(step=0).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([2, 1, 3])
    >>> selector.scores_.round(2)
    array([1., 2., 0.])
    """

    name = "backward"
    fit_products = 1000.0
    summary = "Removes one feature after the other, those that a linear classifier needs least."

    step: float = real(
        default=0.1,
        low=0,
        high=1,
        open_high=True,
        doc="Share of the remaining features removed in each round, at least one; 0 removes one at a "
        "time, as in the original.",
    )

    @classmethod
    def examples(cls) -> list[Self]:
        """Return selectors for the contract suite."""
        return [cls(step=0.0), cls(n_features=2, ridge=10.0)]

    def fit_seconds(self, n: int, d: int) -> float:
        """Return the predicted CPU seconds of a fit: products of all pairs of features."""
        return super().fit_seconds(n, d) + 4e-8 * n * d**2

    def _fit(self, X: Floats, y: Array) -> Floats:
        """Return the number of features removed before each feature, as its score."""
        X, usable = standardised(X)
        targets, n = self._targets(y), len(X)
        scores = np.full(X.shape[1], -np.inf)
        left, gone = np.flatnonzero(usable), 0
        while len(left):
            Z = X[:, left]
            G = np.linalg.inv(np.linalg.inv(start_inverse(n, self.ridge)) + Z @ Z.T)
            U = G @ Z
            curvature = 1.0 - np.einsum("ij,ij->j", Z, U)
            errors = candidate_errors(G, targets, Z, U, curvature, -1.0)
            out = np.argsort(errors, kind="stable")[: going(len(left), self.step)]
            scores[left[out]] = gone + np.arange(len(out))
            gone += len(out)
            left = np.delete(left, out)
        return scores


def going(left: int, step: float) -> int:
    """Return the number of the `left` features to remove in one round, at least 1; `step` is their share."""
    return max(1, int(step * left))


def start_inverse(n: int, ridge: float) -> Floats:
    """Return the inverse (1 1ᵀ + λI)⁻¹ for the constant feature alone."""
    return (np.eye(n) - 1.0 / (ridge + n)) / ridge


def candidate_errors(
    G: npt.NDArray[np.floating[Any]], targets: Floats, X: Floats, U: Floats, curvature: Floats, sign: float
) -> Floats:
    """Return the error Σ_i ‖A_i / G_ii‖² after adding (`sign` 1) or removing (−1) each candidate.

    `G` belongs to the current features, `X` (n, d) are the candidates, `U` is G X, and `curvature` is 1 + sign · xᵀ G
    x.
    """
    diagonal = np.diag(G)[:, None] - sign * U * U / curvature
    total = np.zeros(X.shape[1])
    for column in (G @ targets).T:
        missed = column[:, None] - sign * U * ((column @ X) / curvature)
        missed /= diagonal
        total += np.einsum("ij,ij->j", missed, missed)
    return total


# Searches for the feature subset with the smallest leave-one-out error: a beam, and a genetic algorithm.
#
# The error is that of `ForwardSelector` (wrappers.py): regularised least squares with a constant feature for the bias.

Subset = tuple[int, ...]


@dataclass
class _Branch:
    """One subset of the beam.

    `found` lists its features in the order of their addition, and `errors` the mean error per sample after each. G is
    (ZZᵀ + λI)⁻¹ for these features, U is GX for all features, and `rivals` are the errors with each feature in place of
    the last one.
    """

    found: Subset  # Its features in the order in which they came
    errors: tuple[float, ...]  # After each, the mean error of a sample
    G: Floats  # shape (n, n): (ZZᵀ + λI)⁻¹ of these features
    U: Floats  # shape (n, d): GX of all features
    rivals: Floats  # shape (d,): The error with each feature in place of the last one


class BeamSelector(LeastSquaresSearch):
    """Beam search: forward search that keeps the `width` best subsets of each size instead of one.

    From each kept subset of s features, every other feature is tried as the next one; of all different subsets of s + 1
    features the `width` with the smallest error(S) of `ForwardSelector` are kept. Width 1 is forward search.

    Attributes
    ----------
    errors_ : ndarray of float64, shape (searched,)
        The mean error of a sample after each feature of the best subset of the final size.

    Notes
    -----
    Beam search over feature subsets: Aha & Bankert, in Fisher & Lenz (eds.), Learning from Data, Springer 1996. The
    features of the best subset are ranked by the error without each, the others by the error that each would give in
    place of the last one. The error of the chosen features was minimised: it does not estimate that on new data.

    Complexity: O(width·l·d) for each feature of the final size, `width` times as much as forward search.

    Examples
    --------
    >>> from seqkern.solvers import BeamSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = BeamSelector(n_features=2).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([2, 1, 3])
    """

    name = "beam"
    fit_products = 2000.0
    summary = "Adds one feature at a time to several promising sets side by side, and takes the best set in the end."

    n_features: int | None = changed(
        default=None,
        doc="Number of features to search for; the others are ranked by the error that each would "
        "give in place of the last one. With none, min(l − 1, 50).",
    )
    width: int = integer(default=5, low=1, doc="Number of subsets of each size that are kept.")

    @classmethod
    def examples(cls) -> list[Self]:
        """Return selectors for the contract suite."""
        return [cls(), cls(n_features=2, ridge=0.1, width=3)]

    def fit_seconds(self, n: int, d: int) -> float:
        """Return the predicted CPU seconds of a fit: forward search for each subset of the beam."""
        return self.width * super().fit_seconds(n, d)

    def _fit(self, X: Floats, y: Array) -> Floats:
        """Return the scores d, d − 1, … of the best subset, and scores below 1 for the other features.

        The scores of the other features decrease with their error.
        """
        X, usable = standardised(X)
        targets, (n, d) = self._targets(y), X.shape
        wanted = min(n - 1, 50) if self.n_features is None else int(self.n_features)
        G = start_inverse(n, self.ridge)
        beam = [_Branch((), (), G, G @ X, np.full(d, np.inf))]
        for _ in range(min(wanted, np.count_nonzero(usable))):
            beam = self._grown(beam, [self._next(branch, X, targets, usable) for branch in beam], X)
        best = beam[0]
        self.errors_ = np.array(best.errors)
        scores = np.where(best.rivals < np.inf, 1.0 / (1.0 + best.rivals / n), -np.inf)
        without = [subset_error(X[:, [i for i in best.found if i != j]], targets, self.ridge) for j in best.found]
        order = np.argsort(-np.array(without), kind="stable")
        scores[np.array(best.found, dtype=np.int64)[order]] = d - np.arange(len(order))
        return scores

    @staticmethod
    def _next(branch: _Branch, X: Floats, targets: Floats, usable: Bools) -> Floats:
        """Return the error of the subset with each feature added, inf for its own and for unusable features."""
        curvature = 1.0 + np.einsum("ij,ij->j", X, branch.U)
        free = usable.copy()
        free[list(branch.found)] = False
        return np.where(free, candidate_errors(branch.G, targets, X, branch.U, curvature, 1.0), np.inf)

    def _grown(self, beam: list[_Branch], tried: list[Floats], X: Floats) -> list[_Branch]:
        """Return the best distinct subsets with one more feature, best first."""
        width, n = int(self.width), len(X)
        candidates: list[tuple[float, int, int]] = []
        for place, errors in enumerate(tried):
            ordered = np.argsort(errors, kind="stable")[:width]
            candidates += [(float(errors[j]), place, int(j)) for j in ordered if errors[j] < np.inf]
        grown: dict[frozenset[int], _Branch] = {}
        for error, place, j in sorted(candidates):
            old = beam[place]
            key = frozenset([*old.found, j])
            if key in grown:
                continue
            column = old.U[:, j]
            share = column / (1.0 + X[:, j] @ column)
            G, U = old.G - np.outer(share, column), old.U - np.outer(share, column @ X)
            grown[key] = _Branch((*old.found, j), (*old.errors, error / n), G, U, tried[place])
            if len(grown) == width:
                break
        return list(grown.values())


class GeneticSelector(LeastSquaresSearch):
    """Genetic search: subsets of one size compete, mate and mutate.

    A generation keeps its best tenth; the others are children of two parents, each the better of two drawn at random.
    A child has the features that both parents have, others of either at random, and each of its features is replaced
    by another one with the probability `mutation`. The fitness is error(S) of `ForwardSelector`; small is good.

    Attributes
    ----------
    errors_ : ndarray of float64, shape (generations + 1,)
        The smallest mean error of a sample in each generation.

    Notes
    -----
    Siedlecki & Sklansky, Pattern Recognition Letters 10, 1989. The features of the best subset are ranked by the error
    without each; no other feature is rated. New features are drawn by the rank of a feature's own error, the better
    ones more often (in proportion to 1/√rank), so that the order of columns does not matter. A search by chance may
    end in a poor subset; another `seed` shows how far the result depends on it.

    Complexity: O(l·F²) for a subset of F features, `population`·`generations` of them.

    Examples
    --------
    >>> from seqkern.solvers import GeneticSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = GeneticSelector(n_features=1, population=6, generations=4).fit(X, tumours)
    >>> selector.get_support(indices=True)  # of three genes the second
    array([1])
    """

    name = "genetic"
    summary = "Breeds sets of features: good sets are mixed and changed at random, and the best survive."

    n_features: int | None = changed(default=None, doc="Number of features in every subset. With none, min(l − 1, 20).")
    population: int = integer(default=60, low=4, doc="Number of subsets in a generation.")
    generations: int = integer(default=40, low=1, doc="Number of generations after the first.")
    mutation: float = real(default=0.05, low=0, high=1, doc="Probability that a feature of a child is replaced.")
    seed: int = random_seed("Of all draws.")

    @classmethod
    def examples(cls) -> list[Self]:
        """Return selectors for the contract suite."""
        return [cls(population=12, generations=6), cls(n_features=3, ridge=0.1, population=20, generations=8, seed=3)]

    def fit_seconds(self, n: int, d: int) -> float:
        """Return the predicted CPU seconds of a fit: one least-squares problem for each subset."""
        size = min(n - 1, 20) if self.n_features is None else int(self.n_features)
        return self.population * self.generations * (1e-4 + 4e-9 * n * size**2) + 20e-9 * n * d

    def _fit(self, X: Floats, y: Array) -> Floats:
        """Return 1 plus the error without each of the best subset's features, −inf for all others."""
        X, usable = standardised(X)
        targets, scores = self._targets(y), np.full(X.shape[1], -np.inf)
        columns = np.flatnonzero(usable)
        alone = np.array([subset_error(X[:, [j]], targets, self.ridge) for j in columns])
        columns = columns[np.argsort(alone.round(12), kind="stable")]
        most = min(len(X) - 1, 20) if self.n_features is None else int(self.n_features)
        size = min(most, len(columns))
        self.errors_ = np.empty(0)
        if not size:
            return scores
        best = self._evolve(X[:, columns], targets, size)
        for j in best:
            rest = columns[[i for i in best if i != j]]
            scores[columns[j]] = 1.0 + subset_error(X[:, rest], targets, self.ridge)
        return scores

    def _evolve(self, X: Floats, targets: Floats, size: int) -> Subset:
        """Return the best column subset of all generations."""
        rng, known, width = np.random.default_rng(self.seed), dict[Subset, float](), X.shape[1]

        def error(subset: Subset) -> float:
            if subset not in known:
                known[subset] = subset_error(X[:, subset], targets, self.ridge)
            return known[subset]

        def sort(subsets: list[Subset]) -> list[Subset]:
            return sorted(subsets, key=lambda subset: (error(subset), subset))

        # the smallest of exponential times: draws without replacement, in proportion to 1/√rank
        times = (rng.exponential(size=width) * np.sqrt(np.arange(1, width + 1)) for _ in range(self.population))
        living = sort([_subset(np.argsort(time)[:size]) for time in times])
        course = [error(living[0])]
        for _ in range(self.generations if size < width else 0):
            elite = living[: max(1, self.population // 10)]
            children = []
            for _ in range(self.population - len(elite)):
                places = rng.integers(self.population, size=(2, 2)).min(axis=1)  # they are sorted: the better of two
                children.append(self._child(living[places[0]], living[places[1]], width, rng))
            living = sort([*elite, *children])
            course.append(error(living[0]))
        self.errors_ = np.array(course)
        return living[0]

    def _child(self, one: Subset, other: Subset, width: int, rng: np.random.Generator) -> Subset:
        """Return a mutated subset of the features of two parents."""
        both = sorted(set(one) & set(other))
        either = sorted(set(one) ^ set(other))
        child = both + [either[i] for i in rng.permutation(len(either))[: len(one) - len(both)]]
        for place in np.flatnonzero(rng.random(len(child)) < self.mutation):
            new = int(width * rng.random() ** 2)  # in proportion to 1/√rank
            if new not in child:
                child[place] = new
        return _subset(child)


def _subset(columns: Any) -> Subset:
    """Return columns as a sorted tuple."""
    return tuple(sorted(int(j) for j in columns))


def subset_error(Z: Floats, targets: Floats, ridge: float) -> float:
    """Return the mean leave-one-out error per sample for the standardised features Z, as in `ForwardSelector`."""
    Z = np.column_stack([Z, np.ones(len(Z))])
    if Z.shape[1] < len(Z):
        # λG = I − Z(ZᵀZ + λI)⁻¹Zᵀ
        hat = np.linalg.solve(Z.T @ Z + ridge * np.eye(Z.shape[1]), Z.T)
        residual, diagonal = targets - Z @ (hat @ targets), 1.0 - np.einsum("ij,ji->i", Z, hat)
    else:
        G = np.linalg.inv(Z @ Z.T + ridge * np.eye(len(Z)))
        residual, diagonal = G @ targets, np.diag(G)
    missed = residual / diagonal[:, None]
    return float((missed**2).sum() / len(Z))


# Recursive feature elimination with a linear support vector machine (SVM-RFE).


class RecursiveEliminationSelector(Selector):
    """Recursive elimination: train a linear SVM, remove the features with the smallest weights, and repeat.

    In each round w = Σ_i α_i y_i x_i of a C-SVM on the remaining features; those with the smallest w_j² are removed.
    With several classes, there is one SVM for each against the rest, and their w_j² are summed. The score of a feature
    is the number removed before it.

    Notes
    -----
    Guyon, Weston, Barnhill & Vapnik, Machine Learning 46, 2002. The features are standardised
    first.

    Examples
    --------
    >>> from seqkern.solvers import RecursiveEliminationSelector
    >>> X = [[1.0, 7.9, 3.1], [1.4, 8.2, 2.9], [0.8, 7.6, 3.4], [1.1, 2.1, 2.8], [1.3, 1.8, 3.0], [0.9, 2.3, 3.3]]
    >>> tumours = ["AML", "AML", "AML", "ALL", "ALL", "ALL"]
    >>> selector = RecursiveEliminationSelector(step=0).fit(X, tumours)
    >>> selector.ranking_  # of three genes
    array([3, 1, 2])
    >>> selector.scores_.round(2)
    array([0., 2., 1.])
    """

    name = "recursive_elimination"
    fit_products = 1000.0
    summary = "Trains a support vector machine repeatedly, each time without the features of least weight."

    C: float = real(default=1.0, low=0, open_low=True, doc="C, the cost of a margin error.")
    step: float = real(
        default=0.1,
        low=0,
        high=1,
        open_high=True,
        doc="Share of the remaining features removed in each round, at least one; 0 removes one at a time.",
    )

    @classmethod
    def examples(cls) -> list[Self]:
        """Return selectors for the contract suite."""
        return [cls(step=0.0), cls(n_features=2, C=0.1)]

    def fit_seconds(self, n: int, d: int) -> float:
        """Return the predicted CPU seconds of a fit: many SVMs on all rows."""
        return super().fit_seconds(n, d) + 5e-6 * n**2

    def _fit(self, X: Floats, y: Array) -> Floats:
        """Return the number of features removed before each feature, as its score."""
        X, usable = standardised(X)
        scores, seconds = np.full(X.shape[1], -np.inf), second_classes(y, self.classes_)
        left, gone = np.flatnonzero(usable), 0
        while len(left):
            part = X[:, left]
            weights = sum(linear_weights(part, second, self.C) ** 2 for second in seconds)
            out = np.argsort(weights, kind="stable")[: going(len(left), self.step)]
            scores[left[out]] = gone + np.arange(len(out))
            gone += len(out)
            left = np.delete(left, out)
        return scores
