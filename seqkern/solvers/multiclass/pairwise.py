"""Several classes by one binary classifier for each pair: by voting, or along a decision graph."""

import itertools
from collections.abc import Iterator
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from seqkern.core.parameters import component
from seqkern.solvers.base import count_rows
from seqkern.solvers.checking import checked_matrix
from seqkern.solvers.contract import Solver
from seqkern.solvers.costs import FitCost, FitWork
from seqkern.solvers.estimator import check_is_fitted
from seqkern.solvers.feature_rows import take_rows
from seqkern.solvers.multiclass.binary_ensemble import BinaryEnsemble, Task, squashed

CHUNK_ROWS = 4096
"""Rows predicted at a time."""


class PairwiseEnsemble(BinaryEnsemble):
    """Base of solvers with one classifier for each pair of classes, trained on the rows of the two."""

    binary: Solver = component(
        "solver",
        kw_only=False,
        doc="The binary solver; each pair trains a clone on the rows of its two classes (and, for a "
        "Gram matrix, columns).",
    )

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return that of the binary solver for each pair of classes of equal size, with a copy of its matrix."""
        n_pairs = work.classes * (work.classes - 1) / 2
        pair = work.part(2 * work.n / max(2, work.classes))
        each = self.binary.fit_cost(pair)
        copied = 8 * pair.n * pair.width if work.gives in ("gram", "features") and n_pairs > 1 else 0
        return FitCost(n_pairs * (each.seconds + copied * 1e-9), each.bytes + copied)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return solvers for the contract suite."""
        from seqkern.solvers.svm.svm import CSVC  # imported here: only the contract suite needs it

        return [cls(CSVC(tol=1e-6))]

    def tasks(self, classes: npt.NDArray[Any]) -> Iterator[Task]:
        """Yield the pairs, and the names of their classes as labels."""
        for pair in itertools.combinations(range(len(classes)), 2):
            yield np.array(pair), lambda y: classes[y]

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Return the pairs of places of classes, the smaller first, in the order of `machines_`."""
        return itertools.combinations(range(len(self.classes_)), 2)

    def classifier(self, a: int, b: int) -> Solver:
        """Return the binary classifier of one pair of classes, for matrices with all columns of K.

        Parameters
        ----------
        a, b : int
            Places in `classes_`, ``a < b``.

        Returns
        -------
        Solver
            Its decision is above zero for `b`.

        Raises
        ------
        ValueError
            If there is no such pair.
        """
        classifier = self.machines_[list(self.pairs()).index((a, b))]
        return classifier.renumber(self.support_[classifier.support_], self.n_features_in_)


class PairwiseVoting(PairwiseEnsemble):
    r"""One classifier for each pair of classes; the class that wins most pairs is predicted.

    Attributes
    ----------
    machines_ : list of Solver
        One for each pair (a, b) of classes, a before b, restricted to the columns `support_`.

    Notes
    -----
    With f_ab the decision of the classifier of classes a and b, above zero for b and f_ba = −f_ab, it predicts

    .. math:: \arg\max_c \sum_{a ≠ c} [f_{ac}(x) > 0]

    Ties are broken by the sum of the decisions of a class against all others, then by the order of the classes.
    `predict` evaluates no pair of classes that can no longer win, and stops when only one can.

    Complexity: c(c − 1)/2 binary fits for c classes, each on the rows of two classes.

    References
    ----------
    Knerr, Personnaz, Dreyfus: Single-layer learning revisited: a stepwise procedure for building and training a neural
    network. In: Neurocomputing, Springer, 1990.

    Kreßel: Pairwise classification and support vector machines. In: Advances in Kernel Methods, MIT Press, 1999.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import CSVC, PairwiseVoting
    >>> repeats = SequenceSet.from_strings(["ACACAC", "CACACA", "GTGTGT", "TGTGTG", "ATATAT", "TATATA"], "dna")
    >>> K = SpectrumKernel(k=2).kernel(repeats)
    >>> solver = PairwiseVoting(CSVC()).fit(K, ["CA", "CA", "GT", "GT", "AT", "AT"])
    >>> solver.predict(K[::2]).tolist()
    ['CA', 'GT', 'AT']
    >>> solver.decision_function(K[:1]).round().astype(int).tolist()  # votes for AT, CA and GT
    [[1, 2, 0]]
    """

    name = "pairwise_voting"
    summary = "One classifier for each pair of classes; the class that wins most pairs is predicted."

    def decision_function(self, K: Any) -> npt.NDArray[np.float64]:
        """Return one value for each class; the class with the largest is predicted.

        Parameters
        ----------
        K : array_like of float64, shape (m, n)
            Kernel of new records (rows) with the training ones, or what else the binary solver takes.

        Returns
        -------
        ndarray of float64, shape (m, classes)
            Votes v plus s / (3 (1 + |s|)), s the sum of the class's decisions against the others: sums order the rows
            within equal votes and never outweigh one. Each column ranks the rows for that class against the rest, as a
            macro-averaged AUC needs it. The same as scikit-learn's SVC.
        """
        return super().decision_function(K)

    def predict(self, K: Any) -> npt.NDArray[Any]:
        """Return the predicted class of each row of `K`, shape (m,): the decision function's, with fewer decisions."""
        check_is_fitted(self)
        K = checked_matrix(self, K, reset=False)
        m = count_rows(K)
        parts = [np.arange(start, min(start + CHUNK_ROWS, m)) for start in range(0, m, CHUNK_ROWS)]
        return self.classes_[
            np.concatenate([self._winners(K if len(part) == m else take_rows(K, part)) for part in parts])
        ]

    def _decide(self, K: Any, columns: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Count votes and break ties."""
        decisions = np.empty((count_rows(K), len(self.machines_)))
        for j, classifier in enumerate(self.machines_):
            decisions[:, j] = classifier._decide(K, columns[classifier.support_])
        return self._counted(decisions)

    def _counted(self, decisions: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return votes with ties broken, (m, classes), of decisions of pairs, (m, pairs); NaN where not evaluated."""
        votes = np.zeros((len(decisions), len(self.classes_)))
        sums = np.zeros_like(votes)
        for (a, b), decision in zip(self.pairs(), decisions.T, strict=True):
            votes[:, b] += decision > 0
            votes[:, a] += decision <= 0
            known = np.nan_to_num(decision)
            sums[:, b] += known
            sums[:, a] -= known
        return votes + squashed(sums)

    def _winners(self, K: Any) -> npt.NDArray[np.int64]:
        """Return the indices of the predicted classes; pairs are evaluated until the winner of a row is certain."""
        game = Game(len(self.classes_))
        decisions = np.full((count_rows(K), len(self.machines_)), np.nan)
        rows = np.arange(len(decisions))
        while len(rows):
            chosen = game.next_pair(decisions[rows])
            rows, chosen = rows[chosen >= 0], chosen[chosen >= 0]
            for j in np.unique(chosen):
                own, classifier = rows[chosen == j], self.machines_[j]
                part = K if len(own) == len(decisions) else take_rows(K, own)
                decisions[own, j] = np.nan_to_num(classifier._decide(part, self.support_[classifier.support_]))
        counted = self._counted(decisions)
        # classes that cannot win have not met all others, so their sums are meaningless
        counted[~game.standing(decisions)[2]] = -np.inf
        return np.argmax(counted, axis=1)


Standing: TypeAlias = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.bool_]]


class Game:
    """The state of the votes: which pairs of classes remain to be evaluated.

    Parameters
    ----------
    c : int
        How many classes there are.

    Attributes
    ----------
    first, second : ndarray of int64, shape (pairs,)
        The classes of each pair.
    member : ndarray of bool, shape (pairs, c)
        Which classes are in each pair.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.multiclass.pairwise import Game
    >>> game = Game(3)
    >>> decisions = np.array([[0.5, np.nan, np.nan]])  # of classes 0 and 1: class 1 has won
    >>> game.next_pair(decisions)  # classes 1 and 2
    array([2])
    >>> game.next_pair(np.array([[0.5, np.nan, -2.0]]))  # class 1 has won both of its pairs
    array([-1])
    """

    def __init__(self, c: int) -> None:
        self.first, self.second = np.triu_indices(c, 1)
        self.member = np.zeros((len(self.first), c), dtype=bool)
        places = np.arange(len(self.first))
        self.member[places, self.first] = self.member[places, self.second] = True

    def standing(self, decisions: npt.NDArray[np.float64]) -> Standing:
        """Return the standing of each row after some of its pairs.

        Parameters
        ----------
        decisions : ndarray of float64, shape (m, pairs)
            NaN for a pair that has not been evaluated; above zero, the pair's second class wins.

        Returns
        -------
        votes : ndarray of float64, shape (m, c)
            Pairs that each class has won.
        left : ndarray of float64, shape (m, c)
            Remaining pairs of each class.
        alive : ndarray of bool, shape (m, c)
            Whether the class can still win or tie.
        """
        member = self.member.astype(np.float64)
        won = np.where(decisions > 0, 1.0, 0.0), np.where(decisions <= 0, 1.0, 0.0)
        c = self.member.shape[1]
        votes = won[0] @ np.eye(c)[self.second] + won[1] @ np.eye(c)[self.first]
        left = np.isnan(decisions) @ member
        return votes, left, votes + left >= votes.max(axis=1, keepdims=True)

    def next_pair(self, decisions: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """Return the pair to evaluate next for each row.

        It is a pair of the class with most votes (of those that can win), against one that can win too if there is one.

        Parameters
        ----------
        decisions : ndarray of float64, shape (m, pairs)
            As in `standing`.

        Returns
        -------
        ndarray of int64, shape (m,)
            Index of the pair; −1 if the winner is certain.
        """
        votes, left, alive = self.standing(decisions)
        leader = np.argmax(np.where(alive & (left > 0), votes + 1, 0.0), axis=1)
        worth = np.isnan(decisions) * (self.member[:, leader].T + (alive @ self.member.T) / 4.0)
        chosen = np.argmax(worth, axis=1)
        open_ = (alive & (left > 0)).any(axis=1) & (alive.sum(axis=1) > 1)
        return np.where(open_, chosen, -1)


class DecisionDAG(PairwiseEnsemble):
    r"""One classifier for each pair of classes, evaluated along a decision graph.

    Attributes
    ----------
    machines_ : list of Solver
        One for each pair (a, b) of classes, a before b, restricted to the columns `support_`.

    Notes
    -----
    The classes form a list. The classifier of its first and last class removes the loser until one class is left. With
    f_ab above zero for b, and a and b the first and last of the list S,

    .. math:: S ← S − [a] if f_{ab}(x) > 0, else S ← S − [b]

    The prediction depends on the order of the classes.

    Complexity: c(c − 1)/2 binary fits for c classes; c − 1 decisions per row.

    References
    ----------
    Platt, Cristianini, Shawe-Taylor: Large margin DAGs for multiclass classification. NIPS 12, 2000.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.solvers import CSVC, DecisionDAG
    >>> repeats = SequenceSet.from_strings(["ACACAC", "CACACA", "GTGTGT", "TGTGTG", "ATATAT", "TATATA"], "dna")
    >>> K = SpectrumKernel(k=2).kernel(repeats)
    >>> solver = DecisionDAG(CSVC()).fit(K, ["CA", "CA", "GT", "GT", "AT", "AT"])
    >>> solver.predict(K[::2]).tolist()
    ['CA', 'GT', 'AT']
    >>> len(solver.machines_), "classifiers; two decide about each record"
    (3, 'classifiers; two decide about each record')
    """

    name = "decision_dag"
    summary = "One classifier for each pair of classes; each decision rules one class out, until one is left."

    def decision_function(self, K: Any) -> npt.NDArray[np.float64]:
        """Return one value for each class; the class with the largest is predicted.

        Parameters
        ----------
        K : array_like of float64, shape (m, n)
            Kernel of new records (rows) with the training ones, or what else the binary solver takes.

        Returns
        -------
        ndarray of float64, shape (m, classes)
            The number of classes ruled out before (for the one left over: classes − 1), plus s / (3 (1 + |s|)), s the
            class's own last decision. Each column ranks the rows for that class against the rest.
        """
        return super().decision_function(K)

    def _decide(self, K: Any, columns: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Descend the graph, one node for all its rows at a time."""
        c, m = len(self.classes_), count_rows(K)
        out = np.zeros((m, c))
        first, last = np.zeros(m, dtype=np.int64), np.full(m, c - 1)
        places = {pair: j for j, pair in enumerate(self.pairs())}
        for gone in range(c - 1):
            for a in range(gone + 1):
                b = a + c - 1 - gone
                rows = np.flatnonzero((first == a) & (last == b))
                if not len(rows):
                    continue
                classifier = self.machines_[places[a, b]]
                decision = classifier._decide(take_rows(K, rows), columns[classifier.support_])
                out[rows, a], out[rows, b] = gone + squashed(-decision), gone + squashed(decision)
                second = decision > 0
                out[rows, np.where(second, b, a)] += 1  # the winner is removed later, or never
                first[rows[second]] = a + 1
                last[rows[~second]] = b - 1
        return out
