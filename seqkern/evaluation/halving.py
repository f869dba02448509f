"""Successive halving: many kernels are compared at little cost, and the better ones with more samples or solvers.

Jamieson and Talwalkar (AISTATS 2016). The stages compare kernels by one solver on nested subsets of the training set,
then on all of it, and last with all solvers of a grid. The budget is in predicted CPU seconds rather than measured
ones, so that a busy computer does not change the choice.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from seqkern.core.progress import progress_counter
from seqkern.core.types import Bools, Indices
from seqkern.evaluation.selection import (
    DIGITS,
    Candidate,
    Choice,
    FitCache,
    MakeSolver,
    Numbers,
    Search,
    SharedFits,
    Trials,
    best_choice,
    check_search,
    make_trials,
    parts_of_folds,
    standard_error,
)
from seqkern.sequences.labels import Labels

FEWEST = 200
"""Minimum number of samples in the first stage; with fewer, chance would decide."""
GROUPS = 10
"""Minimum number of groups of each class in every stage, where there are as many."""
MARGIN = 0.01
"""Score by which a kernel may trail the best, with one solver on all samples: another solver may suit it better."""
SUBSET_MARGIN = 0.03
"""The same on a subset, since more samples help the kernels with more features most."""
HELD_BYTES = 1 << 30
"""Bytes of the matrices that a choice among many kernels keeps for later, where no limit is given."""
REFINEMENTS = 4
"""Number of specifications that a refinement usually tries."""
FINALISTS = 4
"""Maximum number of kernels that are compared with all solvers after an earlier stage."""


@dataclass(frozen=True)
class Rung:
    """One round of successive halving: the number of samples, and each kernel's best mean score."""

    n: int  # Number of samples
    scores: dict[str, float]  # The best mean score of each kernel that took part


# The stages that a budget allows.


@dataclass(frozen=True)
class Stage:
    """A comparison of kernels on a share of the samples, by one solver (`coarse`) or all, within so many seconds."""

    share: float = 1.0
    coarse: bool = False
    seconds: float = math.inf
    held: bool = False  # Whether the stage before computed the values

    def total(self, work: Collection[Work]) -> float:
        """Return the seconds of some kernels."""
        return sum(one.seconds(self) for one in work)


WHOLE = Stage()
"""The comparison of kernels by all solvers on all samples."""


@dataclass(frozen=True)
class Work:
    """Predicted CPU seconds of a kernel on all samples: of its values, and of the inner loop with one solver.

    >>> work = Work(8.0, 4.0, 1.0, power=2, specs=3)
    >>> work.seconds(), work.seconds(Stage(0.5, True)), work.seconds(Stage(held=True))
    (23.0, 4.0, 15.0)
    """

    values: float  # Of the values of all samples
    fits: float  # Of fits with one solver specification on all inner folds
    fixed: float = 0.0  # Of the same fits, however few samples there are
    slices: float = 0.0  # Of the inner folds' parts of the values, or of values that each fold computes
    power: int = 2  # 1 for products, whose time grows with the number of samples
    specs: int = 1  # Number of solver specifications
    more: int = 0  # Number of further specifications that a refinement tries

    def seconds(self, stage: Stage = WHOLE) -> float:
        """Return the seconds of a stage; by default of all specifications on all samples."""
        count = 1 if stage.coarse else self.specs
        values = self.slices if stage.held else self.values + self.slices
        return (values + self.fits * count) * stage.share**self.power + self.fixed * count

    @property
    def refining(self) -> float:
        """The seconds of a refinement."""
        return (self.fits + self.fixed) * self.more


@dataclass(frozen=True)
class Schedule:
    """The stages of a search, the work of each kernel, and the kernels that the budget leaves out."""

    stages: Sequence[Stage] = (WHOLE,)
    work: Mapping[str, Work] = field(default_factory=dict)
    left_out: Mapping[str, float] = field(default_factory=dict)  # With their seconds
    refines: bool = True  # Whether there is time to refine the choice

    def affordable(self, names: Sequence[str], stage: Stage) -> list[str]:
        """Return the first kernels that a stage has time for, at least one."""
        spent = 0.0
        found: list[str] = []
        for name in names:
            seconds = self.work[name].seconds(stage) if name in self.work else 0.0
            if not found or spent + seconds <= stage.seconds:
                spent += seconds
                found.append(name)
        return found

    def dearest(self) -> Iterator[tuple[Stage, list[str]]]:
        """Yield the stages, each with the kernels that it compares if the costliest survive."""
        names = sorted(self.work.keys() - self.left_out.keys(), key=lambda name: (-self.work[name].seconds(), name))
        for i, stage in enumerate(self.stages):
            names = self.affordable(names, stage) if i else names
            names = names[:FINALISTS] if i and not stage.coarse else names
            yield stage, names

    @property
    def seconds(self) -> float:
        """Predicted CPU seconds of all stages, if each stage compares what it has time for."""
        stages = [(stage, [self.work[name] for name in names]) for stage, names in self.dearest()]
        refining = max((one.refining for one in stages[-1][1] if self.refines), default=0.0)
        return refining + sum(stage.total(work) for stage, work in stages)


def schedule(n: int, work: Mapping[str, Work], budget: float) -> Schedule:
    """Return the stages of a search within a budget in CPU seconds.

    If the budget suffices, all kernels are compared with all solvers on all samples. Otherwise each of three stages
    has a third of it: one solver on a half, a quarter, … of the samples, if not on all; one solver on all samples; all
    solvers. A kernel whose last stages would take more than these thirds is left out, as are the costliest of those
    that even the smallest subset has no time for; the cheapest never is. A choice is refined if a fifth suffices.

    >>> cheap = {f"k{i}": Work(0.5, 0.5, power=1, specs=4) for i in range(8)}
    >>> [(stage.share, stage.coarse) for stage in schedule(4000, cheap, 100).stages]
    [(1.0, False)]
    >>> found = schedule(4000, cheap | {"dear": Work(90.0, 5.0, specs=3)}, 12)
    >>> [(stage.share, stage.coarse) for stage in found.stages], list(found.left_out)
    ([(0.5, True), (1.0, True), (1.0, False)], ['dear'])
    """
    names = sorted(work, key=lambda name: work[name].seconds())
    refining = max(one.refining for one in work.values())
    refines = refining <= min(budget / 5, budget - work[names[0]].seconds())
    each = (budget - refining * refines) / 3
    coarse, last = Stage(coarse=True), Stage(seconds=each, held=8 * n**2 * len(names) <= HELD_BYTES)
    small = Stage(0.5 ** max(0, math.floor(math.log2(n / FEWEST))), True)

    def fits(kept: Sequence[str]) -> bool:
        return WHOLE.total([work[name] for name in kept]) <= 3 * each

    kept = names
    if not fits(names):
        kept = [name for name in names if work[name].seconds(coarse) <= each and work[name].seconds(last) <= 1.5 * each]
        while small.total([work[name] for name in kept]) > each and not fits(kept):
            kept.pop()
    kept = kept or names[:1]
    left_out = {name: work[name].seconds() for name in work if name not in kept}
    if fits(kept) or len(kept) == 1:
        return Schedule((WHOLE,), work, left_out, refines)
    stages = [coarse]
    while stages[0].total([work[name] for name in kept]) > each and stages[0].share > small.share:
        stages = [Stage(stages[0].share / 2, True), replace(coarse, seconds=each)]
    return Schedule((*stages, replace(last, seconds=each * (3 - len(stages)))), work, left_out, refines)


# The search: all training sets of a cross-validation at once, kernel by kernel, so that they share matrices and fits.


def halve(
    data: Numbers,
    candidates: Sequence[Candidate],
    make_solver: MakeSolver,
    plan: Schedule,
    search: Search,
    *,
    combinations: Collection[str] = (),
    folds: Indices | None = None,
    fit_cache: FitCache | None = None,
) -> list[Choice]:
    """Choose a kernel and a solver specification by successive halving, for each of several training sets.

    With `folds`, the fold of each sample, the training sets are all samples without fold 0, without fold 1, …, and
    last all samples; the inner folds of each are the folds that it has (see `SharedFits`). Without, all samples are
    the only training set. Kernels in `combinations` are chosen only if clearly better than the best single kernel.
    """
    labels = data.labels
    check_search(search, labels.kind)
    sets = [np.arange(len(labels))]
    if folds is not None:
        sets = [np.flatnonzero(folds != f) for f in range(int(folds.max()) + 1)] + sets
    names = [name for name in dict.fromkeys(kernel for kernel, _ in candidates) if name not in plan.left_out]
    alive = [names for _ in sets]
    found: list[list[Rung]] = [[] for _ in sets]
    spent: list[list[Trials]] = [[] for _ in sets]
    for i, stage in enumerate(plan.stages):
        last = i + 1 == len(plan.stages)
        sample = _subset(labels, stage.share, search.seed, folds)
        if not last and not _divisible(labels.take(sample)):
            continue  # the next stage compares them all
        shared = None if folds is None else SharedFits(data, make_solver, sample, fit_cache)
        trials = []
        for rows in sets:
            own = np.intersect1d(sample, rows)
            how: dict[str, Any] = {"fit_cache": fit_cache, "kept_bytes": 0}  # what is kept has a place of its own
            if folds is not None:
                how |= {"parts": list(parts_of_folds(folds[own], labels.take(own))), "shared": shared, "rows": own}
            trials.append(make_trials(data.take(own), candidates, make_solver, search, **how))
        _try(trials, alive, _of_stage(candidates, stage), plan, stage)
        for place, one in enumerate(trials):
            found[place].append(Rung(len(one.labels), _best_scores(one)))
            spent[place].append(one)
            if not last:
                passed = _passed(one, MARGIN if stage.share == 1 else SUBSET_MARGIN)
                after = plan.stages[i + 1]
                passed = passed if after.coarse else passed[:FINALISTS]
                alive[place] = plan.affordable(passed, after)
    search = search if plan.refines else replace(search, free=replace(search.free, limits=()))
    choices = []
    for one, rows, before, rungs in zip(trials, sets, spent, found, strict=True):
        choice = replace(
            best_choice(one, search, combinations),
            n_fits=sum(every.n_fits for every in before),
            not_converged=sum(every.not_converged for every in before),
            worst_gap=max((gap for every in before for gap in every.gaps), default=None),
            rungs=rungs if plan.work else (),
        )
        partial = len(one.labels) < len(rows)  # decisions about some samples only
        choices.append(replace(choice, decisions=None, n_folds=0) if partial else choice)
    return choices


def _of_stage(candidates: Sequence[Candidate], stage: Stage) -> dict[str, list[Candidate]]:
    """Return the candidates of each kernel in a stage: one of the middle, with class weights if some have them."""
    found: dict[str, list[Candidate]] = {}
    for one in candidates:
        found.setdefault(one[0], []).append(one)
    if not stage.coarse:
        return found
    for name, own in found.items():
        weighted = [one for one in own if one[1].get("class_weight")] or own
        found[name] = [weighted[len(weighted) // 2]]
    return found


def _try(
    trials: Sequence[Trials],
    alive: Sequence[Collection[str]],
    candidates: Mapping[str, list[Candidate]],
    plan: Schedule,
    stage: Stage,
) -> None:
    """Try the kernels of each training set, kernel by kernel; progress is in predicted CPU seconds."""
    users = {name: [one for one, own in zip(trials, alive, strict=True) if name in own] for name in candidates}
    chains = {name: max(1, sum(len(one.parts) for one in own)) for name, own in users.items() if own}
    seconds = {name: plan.work[name].seconds(stage) if plan.work else 1.0 for name in chains}
    with progress_counter("choice of a kernel", " predicted seconds") as show:
        done = 0.0
        for name in chains:
            for one in users[name]:
                step = seconds[name] / chains[name]

                def advance(step: float = step) -> None:
                    nonlocal done
                    done += step
                    if show is not None:
                        show(math.ceil(done), math.ceil(sum(seconds.values())))

                one.advance = advance
                one.add(candidates[name])
                one.advance = None


def _passed(trials: Trials, margin: float) -> list[str]:
    """Return the kernels not clearly worse than the best, best first."""
    usable = trials.scores()[0]
    if not usable.shape[1]:
        return list(dict.fromkeys(kernel for kernel, _ in trials.candidates))
    means = usable.mean(axis=1)
    best = int(np.argmax(means.round(DIGITS)))
    behind = [usable[best] - own for own in usable]
    kept = [c for c, by in enumerate(behind) if by.mean() <= max(margin, 2 * standard_error(by))]
    return [trials.candidates[c][0] for c in sorted(kept, key=lambda c: -means[c].round(DIGITS))]


def _subset(labels: Labels, share: float, seed: int, folds: Indices | None = None) -> Indices:
    """Return the rows of a stage: whole groups in a random order, at least `GROUPS` of each class; nested.

    With folds, a few groups of each class in each: the labels of a fold play no part in the choice of other rows.
    The development part is completely in every stage: kernels can be compared with fewer training samples, but not
    with fewer samples to score.
    """
    n = len(labels)
    if share >= 1:
        return np.arange(n)
    groups = np.arange(n) if labels.groups is None else np.unique(np.asarray(labels.groups), return_inverse=True)[1]
    order = np.random.default_rng(seed).permutation(int(groups.max()) + 1)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    taken = np.zeros(len(order), dtype=bool)
    taken[order[np.cumsum(np.bincount(groups)[order]) <= math.ceil(share * n)]] = True
    folds = np.zeros(n, dtype=np.int64) if folds is None else folds
    least = -(-GROUPS // (int(folds.max()) + 1))
    for code in () if labels.kind == "real" else np.unique(labels.y):
        for f in np.unique(folds):
            own = np.unique(groups[(labels.y == code) & (folds == f)])
            taken[own[np.argsort(rank[own])][:least]] = True
    rows: Bools = taken[groups]
    return np.flatnonzero(rows if labels.dev is None else rows | labels.dev)


def _divisible(labels: Labels) -> bool:
    """Return whether each class has at least two samples, or groups, as folds require."""
    if labels.kind == "real":
        return len(labels) > 1
    groups = np.arange(len(labels)) if labels.groups is None else np.asarray(labels.groups)
    return all(len(np.unique(groups[labels.y == code])) > 1 for code in range(len(labels.classes)))


def _best_scores(trials: Trials) -> dict[str, float]:
    """Return the best mean score of each kernel."""
    found: dict[str, float] = {}
    for (kernel, _), mean in zip(trials.candidates, trials.means()[0], strict=True):
        found[str(kernel)] = max(found.get(str(kernel), -math.inf), float(mean))
    return found
