"""Successive halving: many kernels are compared on few samples, and the better half on twice as many.

Jamieson and Talwalkar (AISTATS 2016). Here the samples are nested subsets of the training set, and the budget is in
predicted CPU seconds rather than measured ones, so that a busy computer does not change the choice.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from seqkern.core.types import Bools, Indices
from seqkern.evaluation.selection import DIGITS, Candidate, Choice, MakeSolver, Numbers, Search, select, standard_error
from seqkern.sequences.labels import Labels

# Preference for a single kernel, which can be explained, over a combination of kernels that is hardly better.


def interpretable(
    choice: Choice,
    combinations: Collection[str],
    data: Numbers,
    candidates: Sequence[Candidate],
    make_solver: MakeSolver,
    search: Search,
    **options: Any,
) -> Choice:
    """Return the choice; for a combination whose lead over the best single kernel is chance, that kernel.

    A lead is the mean difference of the scores on the inner folds; one up to its standard error may be chance.
    """
    if choice.kernel not in combinations or not choice.scores.shape[1]:
        return choice
    usable = ~np.isnan(choice.scores).any(axis=0)
    means = choice.scores[:, usable].mean(axis=1)
    places = [place for place, (kernel, _) in enumerate(choice.candidates) if kernel not in combinations]
    best = max(places, key=lambda place: means[place], default=None)
    if best is None:
        return choice
    leads = choice.scores[choice.place, usable] - choice.scores[best, usable]
    if leads.mean() > standard_error(leads):
        return choice
    kernel = choice.candidates[best][0]
    own = [one for one in candidates if one[0] == kernel]
    second = select(data, own, make_solver, search, **options)
    if second.scores.shape[1] != choice.scores.shape[1]:  # a single candidate, or folds that it cannot be scored on
        return choice
    new = [place for place, one in enumerate(second.candidates) if one not in choice.candidates]
    tried = [*choice.candidates, *(second.candidates[place] for place in new)]
    return replace(
        second,
        candidates=tried,
        scores=np.vstack((choice.scores, second.scores[new])),
        not_converged=choice.not_converged + second.not_converged,
        n_fits=choice.n_fits + second.n_fits,
        worst_gap=max((gap for gap in (choice.worst_gap, second.worst_gap) if gap is not None), default=None),
        tied=[tried.index(second.candidates[place]) for place in second.tied],
    )


FEWEST = 200
"""Minimum number of samples in the first rung; with fewer, chance would decide the better half."""
GROUPS = 10
"""Minimum number of groups of each class in every rung, where there are as many."""
FIT_SECONDS = 4e-8
"""Predicted CPU seconds of a fit for each pair of training samples: median of C-SVMs on normalised k-mer kernels."""


@dataclass(frozen=True)
class Rung:
    """One round of successive halving: the number of samples, and each kernel's best mean score.

    >>> Rung(200, {"spectrum:k=3": 0.8, "mismatch:k=5,m=1": 0.9}).ranked()
    ['mismatch:k=5,m=1', 'spectrum:k=3']
    """

    n: int  # Number of samples
    scores: dict[str, float]  # The best mean score of each kernel that took part

    def ranked(self) -> list[str]:
        """Return the kernels from best to worst; ties keep the listed order."""
        return sorted(self.scores, key=lambda name: -round(self.scores[name], DIGITS))


def schedule(n: int, seconds: Sequence[float], n_specs: int, folds: int, budget: float) -> list[tuple[int, int]]:
    """Return the numbers of samples and kernels that each rung compares.

    If the budget suffices there is one rung: all kernels on all samples. Otherwise the first rungs have half, a
    quarter, … of the samples, and each passes on the better half of its kernels. Rungs that would exceed the budget
    (CPU seconds) are left out, and the choice is made on fewer samples.

    >>> schedule(4000, [0.5] * 8, n_specs=5, folds=3, budget=1000)
    [(4000, 8)]
    >>> schedule(4000, [0.5] * 8, n_specs=5, folds=3, budget=20)
    [(1000, 8), (2000, 4), (4000, 2)]
    """
    costs = sorted(seconds, reverse=True)

    def predicted(rung: tuple[int, int]) -> float:
        size, kernels = rung
        fit = FIT_SECONDS * (size * (folds - 1) / folds) ** 2
        return sum(costs[:kernels]) * (size / n) ** 2 + kernels * n_specs * folds * fit

    halvings = 0
    while True:
        rungs = [
            (math.ceil(n / 2 ** (halvings - i)), min(len(costs), max(2, math.ceil(len(costs) / 2**i))))
            for i in range(halvings + 1)
        ]
        shrinks = n / 2 ** (halvings + 1) >= FEWEST and rungs[-1][1] > 2
        if sum(map(predicted, rungs)) <= budget or not shrinks:
            break
        halvings += 1
    while len(rungs) > 1 and sum(map(predicted, rungs)) > budget:
        rungs.pop()
    return rungs


def halve(
    data: Numbers,
    candidates: Sequence[Candidate],
    make_solver: MakeSolver,
    rungs: Sequence[tuple[int, int]],
    search: Search,
    *,
    combinations: Collection[str] = (),
    **options: Any,
) -> tuple[Choice, list[Rung]]:
    """Choose a kernel and a solver specification by successive halving within a training set.

    Kernels in `combinations` are chosen only if clearly better than the best single kernel (`interpretable`).
    """
    labels, alive = data.labels, {kernel for kernel, _ in candidates}
    found: list[Rung] = []
    fits = failed = 0
    gaps: list[float] = []
    coarse = replace(search, free=replace(search.free, limits=()))  # compares kernels
    for i, (size, _) in enumerate(rungs):
        rows = _subset(labels, size, search.seed)
        own = data.take(rows)
        if i + 1 < len(rungs) and not _divisible(own.labels):
            continue  # the next rung compares them all
        tried = [one for one in candidates if one[0] in alive]
        choice = select(own, tried, make_solver, search if i + 1 == len(rungs) else coarse, **options)
        fits, failed = fits + choice.n_fits, failed + choice.not_converged
        gaps += [] if choice.worst_gap is None else [choice.worst_gap]
        found.append(Rung(len(rows), _best_scores(choice)))
        if i + 1 < len(rungs):
            alive = set(found[-1].ranked()[: rungs[i + 1][1]])
    before = choice.n_fits, choice.not_converged
    choice = interpretable(choice, combinations, own, candidates, make_solver, search, **options)
    if len(rows) < len(labels):  # decisions about some samples only
        choice = replace(choice, decisions=None, n_folds=0)
    fits, failed = fits + choice.n_fits - before[0], failed + choice.not_converged - before[1]
    gaps += [] if choice.worst_gap is None else [choice.worst_gap]
    return replace(choice, n_fits=fits, not_converged=failed, worst_gap=max(gaps, default=None)), found


def _subset(labels: Labels, size: int, seed: int) -> Indices:
    """Return the rows of a rung: whole groups in a random order, at least `GROUPS` of each class; nested.

    The development part is completely in every rung: kernels can be compared with fewer training samples, but not
    with fewer samples to score.
    """
    n = len(labels)
    if size >= n:
        return np.arange(n)
    groups = np.arange(n) if labels.groups is None else np.unique(np.asarray(labels.groups), return_inverse=True)[1]
    order = np.random.default_rng(seed).permutation(int(groups.max()) + 1)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    taken = np.zeros(len(order), dtype=bool)
    taken[order[np.cumsum(np.bincount(groups)[order]) <= size]] = True
    for code in () if labels.kind == "real" else np.unique(labels.y):
        own = np.unique(groups[labels.y == code])
        taken[own[np.argsort(rank[own])][:GROUPS]] = True
    rows: Bools = taken[groups]
    return np.flatnonzero(rows if labels.dev is None else rows | labels.dev)


def _divisible(labels: Labels) -> bool:
    """Return whether each class has at least two samples, or groups, as folds require."""
    if labels.kind == "real":
        return len(labels) > 1
    groups = np.arange(len(labels)) if labels.groups is None else np.asarray(labels.groups)
    return all(len(np.unique(groups[labels.y == code])) > 1 for code in range(len(labels.classes)))


def _best_scores(choice: Choice) -> dict[str, float]:
    """Return the best mean score of each kernel."""
    if not choice.scores.shape[1]:
        return {str(choice.kernel): choice.score}
    usable = choice.scores[:, ~np.isnan(choice.scores).any(axis=0)]
    found: dict[str, float] = {}
    for (kernel, _), mean in zip(choice.candidates, usable.mean(axis=1), strict=True):
        found[str(kernel)] = max(found.get(str(kernel), -math.inf), float(mean))
    return found
