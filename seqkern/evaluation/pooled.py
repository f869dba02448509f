"""One choice for all tasks of a study: the candidate with the best mean rank over their inner loops.

An inner loop with few positives, or with close homologs on both sides of its folds, is noise: many candidates reach
the best score. Over many tasks the noise averages out. The choice for a task uses its own training set, and those of
tasks that know next to nothing of its test labels: none of the samples that they train on as positives is a positive
sample of this task, in training or in test, and few of them are negative test samples of this task.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.evaluation.selection import Choice
from seqkern.evaluation.trials import DIGITS

MOST = 0.05
"""Largest share of a test set that another task may train on as positives (they are negative in this test set)."""


@dataclass(frozen=True, eq=False)
class InnerLoop:
    """The inner loop of one training set, and what its choice may inform.

    Attributes
    ----------
    task : tuple of str
        The data set and the task within it.
    split : str
        The split whose training set it is.
    choice : Choice
        The candidates with their scores.
    training, test : frozenset of int
        The positive samples of both sets, by numbers that identical samples share.
    negative : frozenset of int
        The negative samples of the test set.

    Examples
    --------
    >>> candidates = [("spectrum", {"solver": "csvc", "C": 1}), ("spectrum", {"solver": "csvc", "C": 10})]
    >>> choice = Choice(*candidates[1], 0.92, candidates, np.array([[0.85, 0.89], [0.91, 0.93]]))
    >>> own = InnerLoop(("scop", "a.1.1.2"), "1", choice, training=frozenset([1, 2]), test=frozenset([3]))
    >>> own.may_use(InnerLoop(("scop", "a.1.1.1"), "1", choice, frozenset([3]), frozenset([1, 2])))
    False
    >>> own.may_use(InnerLoop(("scop", "b.1.1.1"), "1", choice, frozenset([4]), frozenset([5])))
    True
    """

    task: tuple[str, str]
    split: str
    choice: Choice
    training: frozenset[int]
    test: frozenset[int]
    negative: frozenset[int] = frozenset()

    def may_use(self, other: InnerLoop) -> bool:
        """Return whether the choice for this training set may use another inner loop.

        Only that of another task. None of its positive training samples is a positive sample of this task: not in test,
        since it would know the test label; nor in training, since it would learn the same class from negatives that
        may be in this test set. And at most `MOST` of this test set are among them: it learns that these are of
        another class, and so knows that they are negative here. In one data set of many classes this cannot be ruled
        out altogether, since each class has members in the test sets of all others.

        Parameters
        ----------
        other : InnerLoop
            Of the same or another task.

        Returns
        -------
        bool
        """
        if self.task == other.task or not other.training.isdisjoint(self.training | self.test):
            return False
        return len(other.training & self.negative) <= MOST * len(self.test | self.negative)


@dataclass(frozen=True, eq=False)
class PooledChoice(Choice):
    """A choice by the mean rank over several tasks.

    Attributes
    ----------
    tasks : int
        Number of tasks, with the task itself.
    mean_rank : float
        Of the chosen candidate; 1 if it is the best for all of them.

    Examples
    --------
    >>> candidates = [("spectrum", {"solver": "csvc", "C": 1}), ("spectrum", {"solver": "csvc", "C": 10})]
    >>> scores = np.array([[0.85, 0.89], [0.91, 0.93]])
    >>> choice = PooledChoice(*candidates[0], 0.87, candidates, scores, tasks=10, mean_rank=1.2)
    >>> choice.place, choice.tasks
    (0, 10)
    """

    tasks: int = 1
    mean_rank: float = 1.0


def candidate_ranks(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the ranks of candidates by their mean scores; equal ones share the mean of their ranks.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_candidates, n_folds)
        Larger is better.

    Returns
    -------
    ndarray of float64, shape (n_candidates,)
        From 1, the best.

    Examples
    --------
    >>> candidate_ranks(np.array([[0.8, 0.9], [0.9, 1.0], [0.9, 0.8]])).tolist()
    [2.5, 1.0, 2.5]
    """
    # scores that differ only by rounding errors are equal
    means = np.asarray(scores, dtype=np.float64).mean(axis=1).round(DIGITS)
    better, equal = means[None, :] > means[:, None], means[None, :] == means[:, None]
    return better.sum(axis=1) + (equal.sum(axis=1) + 1) / 2


def pooled_ranks(own: InnerLoop, others: Iterable[InnerLoop]) -> npt.NDArray[np.float64]:
    """Return the ranks of the candidates in a task and in each other task that its choice may use.

    Parameters
    ----------
    own : InnerLoop
        Of the training set to choose for.
    others : iterable of InnerLoop
        With the same candidates; those that may not be used are ignored.

    Returns
    -------
    ndarray of float64, shape (n_tasks, n_candidates)
        The first row is that of the task itself. Of a task with several splits, the mean over those that may be used.
    """
    found: dict[tuple[str, str], list[npt.NDArray[np.float64]]] = defaultdict(list)
    for other in others:
        if own.may_use(other):
            found[other.task].append(candidate_ranks(other.choice.scores))
    return np.array([candidate_ranks(own.choice.scores), *(np.mean(found[task], axis=0) for task in sorted(found))])


def pooled_choice(own: InnerLoop, others: Iterable[InnerLoop], sizes: Sequence[Any]) -> PooledChoice:
    """Choose the candidate with the best mean rank over a task and all others that its choice may use.

    Each task counts the same. Ties are broken by simplicity, then the first candidate wins.

    Parameters
    ----------
    own, others : InnerLoop
        As for `pooled_ranks`.
    sizes : sequence
        The complexity of the solver of each candidate; smaller is simpler.

    Returns
    -------
    PooledChoice
        With the scores of the task's own inner loop.

    Examples
    --------
    Two of three tasks prefer C = 1; the first alone would have chosen C = 10.

    >>> candidates = [("spectrum", {"solver": "csvc", "C": C}) for C in (1, 10)]
    >>> loops = []
    >>> for task, scores in {"a": [[0.8], [0.9]], "b": [[0.7], [0.6]], "c": [[0.9], [0.5]]}.items():
    ...     choice = Choice(*candidates[0], 0.8, candidates, np.array(scores))
    ...     loops.append(InnerLoop(("scop", task), "1", choice, frozenset(), frozenset()))
    >>> choice = pooled_choice(loops[0], loops, sizes=[1, 10])
    >>> choice.spec["C"], choice.score, choice.tasks, round(choice.mean_rank, 3)
    (1, 0.8, 3, 1.333)
    """
    ranks = pooled_ranks(own, others)
    means = ranks.mean(axis=0).round(DIGITS)
    best = min(range(len(means)), key=lambda c: (means[c], sizes[c], c))
    choice = own.choice
    return PooledChoice(
        *choice.candidates[best],
        score=float(choice.scores[best].mean()),
        candidates=choice.candidates,
        scores=choice.scores,
        not_converged=choice.not_converged,
        n_fits=choice.n_fits,
        worst_gap=choice.worst_gap,
        tasks=len(ranks),
        mean_rank=float(means[best]),
    )
