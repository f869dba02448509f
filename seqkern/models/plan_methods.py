"""What the evaluation of methods is predicted to cost: the fits of each fold, in the order of `Method.fit`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from seqkern.core.archive import canonical_json
from seqkern.core.memory import parse_bytes
from seqkern.evaluation.halving import schedule
from seqkern.models.plan_folds import FoldShape
from seqkern.models.plan_inputs import KernelInput
from seqkern.models.room import HeldKernel, Room
from seqkern.solvers import make_solver
from seqkern.solvers.base import Solver
from seqkern.solvers.bound_costs import bounds_cost
from seqkern.solvers.bound_names import BOUNDS
from seqkern.solvers.costs import FitCost, FitWork
from seqkern.solvers.thresholds import PLAIN
from seqkern.study.methods import MethodEntry

FIT_SECONDS = 3e-3
"""CPU seconds of a fit, decisions and scores, however few samples there are."""


class SolverCosts:
    """The costs of fits, each computed once for all kernels and folds.

    Examples
    --------
    >>> from seqkern.solvers.costs import FitWork
    >>> costs = SolverCosts()
    >>> costs.of({"solver": "lssvc"}, "binary", FitWork(200)) is costs.of({"solver": "lssvc"}, "binary", FitWork(200))
    True
    """

    def __init__(self) -> None:
        self._solvers: dict[tuple[str, str], Solver] = {}
        self._costs: dict[Any, FitCost] = {}

    def solver(self, spec: Mapping[str, Any], kind: str) -> Solver:
        """Return the solver of a specification, not fitted.

        Parameters
        ----------
        spec : mapping
            Of a solver.
        kind : str
            Of the labels.

        Returns
        -------
        Solver
        """
        key = canonical_json(spec), kind
        if key not in self._solvers:
            self._solvers[key] = make_solver(spec, kind)
        return self._solvers[key]

    def of(self, spec: Mapping[str, Any], kind: str, work: Any) -> FitCost:
        """Return the cost of a fit.

        Parameters
        ----------
        spec, kind
            As for `solver`.
        work : FitWork
            The sizes of the training set.

        Returns
        -------
        FitCost
        """
        solver = self.solver(spec, kind)
        key = id(solver), work
        if key not in self._costs:
            self._costs[key] = solver.fit_cost(work)
        return self._costs[key]


@dataclass(frozen=True)
class Fits:
    """Fits of solvers on one input.

    Attributes
    ----------
    kernel : str
        Its name.
    train, test : int
        Samples.
    specs : tuple of dict
        Of the solvers; the costliest stands for one that is not chosen yet, `count` times.
    final : bool
        Whether this is the fit on the whole training set.

    Examples
    --------
    >>> Fits("three", 60, 30, ({"solver": "csvc"},)).count
    1
    """

    kernel: str
    train: int
    test: int
    specs: tuple[Mapping[str, Any], ...]
    final: bool = False

    @property
    def count(self) -> int:
        """Number of fits."""
        return len(self.specs)


@dataclass(frozen=True, eq=False)
class FilledRoom:
    """Memory that a choice among many kernels fills with their matrices, since not all of them fit.

    Attributes
    ----------
    room : Room
        The memory.
    kernels : mapping of str to HeldKernel
        Those whose matrices solvers get, by name.
    """

    room: Room
    kernels: Mapping[str, HeldKernel]

    def peak(self, name: str, train: int, test: int) -> int:
        """Return the bytes that matrices and a fit take.

        Parameters
        ----------
        name : str
            Of the kernel.
        train, test : int
            Samples.

        Returns
        -------
        int
        """
        own = self.kernels[name]
        need = self.room.slice_bytes(train, test, max(1, len(own.stored)), own.transforms, own.work)
        return max(self.room.limit, need)


@dataclass(frozen=True, eq=False)
class PlannedMethod:
    """A method whose costs are predicted.

    Attributes
    ----------
    entry : MethodEntry
        Of the study.
    inputs : mapping of str to KernelInput
        Of the candidate kernels, by name.
    costs : SolverCosts
        Shared by all methods.
    pooled : bool
        Whether its choice is made over several tasks, by jobs before.
    budget : float, optional
        Predicted CPU seconds for choosing among many kernels.
    memory_limit : int or str, optional
        Where slices of a stored matrix exceed it, solvers that can read its rows instead.
    filled : FilledRoom, optional
        For a choice among many kernels whose matrices do not all fit.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> from seqkern.study.kernel_entries import KernelEntry
    >>> from seqkern.study.settings import InnerSettings
    >>> from seqkern.study.solver_entries import SolverEntry
    >>> solver = SolverEntry.parse("csvc:C=[1,10]", "svm")
    >>> entry = MethodEntry(KernelEntry.parse("spectrum:k=2", "two"), solver, InnerSettings())
    >>> source = KernelInput(SpectrumKernel(2), as_sequences(["ACGT"] * 100, "dna"), "gram", 1)
    >>> shape = FoldShape(90, 10, 10, ((60, 30),) * 3, 2, False, "binary")
    >>> PlannedMethod(entry, {"two": source}, SolverCosts()).n_fits(shape)
    7
    """

    entry: MethodEntry
    inputs: Mapping[str, KernelInput]
    costs: SolverCosts
    pooled: bool = False
    budget: float | None = None
    memory_limit: int | str | None = None
    filled: FilledRoom | None = None

    @cached_property
    def candidates(self) -> list[tuple[str, dict[str, Any]]]:
        """The candidates of the inner loop."""
        return self.entry.solver.candidates(list(self.inputs), self.entry.search.drawn, self.entry.seed)

    @cached_property
    def specs(self) -> list[dict[str, Any]]:
        """Their solvers, each once."""
        return list({canonical_json(spec): spec for _, spec in self.candidates}.values())

    @cached_property
    def once(self) -> FitCost:
        """What each job computes once for all of its folds."""
        found = FitCost(0.0)
        for source in self.inputs.values():
            found = FitCost(found.seconds + source.once.seconds, found.bytes + source.once.bytes)
        return found

    def _room(self, kind: str) -> Room | None:
        """Return the memory for slices of stored matrices; None if all solvers must have them."""
        if self.memory_limit is None or self.entry.search.clusters is not None:
            return None
        solvers = [self.costs.solver(spec, kind) for spec in self.specs]
        if not all(solver.accepts_rows for solver in solvers):
            return None
        limit = parse_bytes(self.memory_limit)
        return Room(limit, limit, True, lambda n: max(solver.gram_bytes(n) for solver in solvers))

    def choosing(self, shape: FoldShape) -> Iterator[Fits]:
        """Yield the fits of the inner loop of a fold.

        Parameters
        ----------
        shape : FoldShape
            Its sizes.

        Yields
        ------
        Fits
        """
        if len(self.candidates) < 2 or shape.kind == "none":
            return
        if self.budget is not None:
            yield from self._halving(shape)
            return
        inner = shape.inner
        clusters = self.entry.search.clusters
        if isinstance(clusters, int):
            held_out = shape.train // clusters
            inner = ((shape.train - held_out, held_out),) * clusters
        if self.entry.search.metric in BOUNDS:
            inner = ((shape.train, 0),)
        for train, valid in inner:
            for name in self.inputs:
                own = tuple(spec for kernel, spec in self.candidates if kernel == name)
                if own:
                    yield Fits(name, train, valid, own)

    def _halving(self, shape: FoldShape) -> Iterator[Fits]:
        """Yield the fits of successive halving: those of the costliest kernels."""
        n_all = max(1, max(len(source.X) for source in self.inputs.values()))
        seconds = {name: source.whole.seconds * (shape.train / n_all) ** 2 for name, source in self.inputs.items()}
        names = sorted(seconds, key=lambda name: -seconds[name])
        folds = self.entry.search.folds
        n_specs = -(-len(self.candidates) // len(names))
        assert self.budget is not None
        for size, kept in schedule(shape.train, list(seconds.values()), n_specs, folds, self.budget):
            for train, valid in shape.inner:
                share = size / max(1, shape.train)
                for name in names[:kept]:
                    own = tuple(spec for kernel, spec in self.candidates if kernel == name)
                    yield Fits(name, round(train * share), round(valid * share), own)

    def evaluating(self, shape: FoldShape) -> Iterator[Fits]:
        """Yield the fits of a fold, in their order; the costliest candidate stands for the chosen one.

        Parameters
        ----------
        shape : FoldShape
            Its sizes.

        Yields
        ------
        Fits
        """
        searched = False
        if not self.pooled:
            for fits in self.choosing(shape):
                searched = True
                yield fits
        kernel, spec = self._costliest(shape)
        if self._holds_out(shape, spec, searched):
            for train, valid in shape.inner:
                yield Fits(kernel, train, valid, (spec,))
        yield Fits(kernel, shape.train, shape.seen if self.entry.solver.needs_residues else shape.test, (spec,), True)

    def _costliest(self, shape: FoldShape) -> tuple[str, dict[str, Any]]:
        """Return the candidate with the costliest final fit."""
        if len(self.candidates) == 1:
            return self.candidates[0]
        return max(
            self.candidates, key=lambda one: self.cost(Fits(one[0], shape.train, shape.test, (one[1],)), shape).seconds
        )

    def _holds_out(self, shape: FoldShape, spec: Mapping[str, Any], searched: bool) -> bool:
        """Return whether held-out decisions are computed for layers, calibration or a threshold."""
        entry = self.entry
        if entry.solver.has_layers:
            return True
        known = searched and self.budget is None  # the inner loop has decided about all samples
        if shape.kind != "binary" or known:
            return False
        if entry.calibration is not None or entry.threshold is not None:
            return entry.calibration is not None or entry.threshold != PLAIN
        if not (searched or self.pooled or shape.unequal):
            return False
        if self.costs.solver(spec, shape.kind).sets_threshold:
            return False
        return not isinstance(spec.get("class_weight"), Mapping)

    def cost(self, fits: Fits, shape: FoldShape) -> FitCost:
        """Return the cost of some fits with their input.

        Parameters
        ----------
        fits : Fits
            The fits.
        shape : FoldShape
            Of their fold.

        Returns
        -------
        FitCost
        """
        source = self.inputs[fits.kernel]
        made = source.of(fits.train, fits.test, spectrum=fits.final)
        work = source.work(fits.train, shape.classes)
        each = [self._each(spec, fits.final, shape.kind, work) for spec in fits.specs]
        size = made.bytes + max((one.bytes for one in each), default=0)
        room = self._room(shape.kind) if source.has_rows else None
        if room is not None and room.by_rows(fits.train, fits.test):
            size = room.row_bytes(fits.train)
        if self.filled is not None and fits.kernel in self.filled.kernels:
            size = max(size, self.filled.peak(fits.kernel, fits.train, fits.test))
        return FitCost(made.seconds + sum(FIT_SECONDS + one.seconds for one in each), size)

    def _each(self, spec: Mapping[str, Any], final: bool, kind: str, work: FitWork) -> FitCost:
        """Return the cost of a fit, with the bounds of the leave-one-out error where they are computed."""
        found = self.costs.of(spec, kind, work)
        chooses = not final and self.entry.search.metric in BOUNDS
        if work.gives != "gram" or not (final or chooses) or not self.costs.solver(spec, kind).gives_bounds:
            return found
        return found.then(bounds_cost(work, limited=final))

    def fold(self, shape: FoldShape) -> FitCost:
        """Return the cost of a fold: its seconds, and the peak of its bytes.

        Parameters
        ----------
        shape : FoldShape
            Its sizes.

        Returns
        -------
        FitCost
        """
        return _total(self.cost(fits, shape) for fits in self.evaluating(shape))

    def inner(self, shape: FoldShape) -> FitCost:
        """Return the cost of the inner loop of a fold alone.

        Parameters
        ----------
        shape : FoldShape
            Its sizes.

        Returns
        -------
        FitCost
        """
        return _total(self.cost(fits, shape) for fits in self.choosing(shape))

    def n_fits(self, shape: FoldShape) -> int:
        """Return the number of fits of a fold.

        Parameters
        ----------
        shape : FoldShape
            Its sizes.

        Returns
        -------
        int
        """
        return sum(fits.count for fits in self.evaluating(shape))


def _total(costs: Iterator[FitCost]) -> FitCost:
    """Return the cost of several, one after the other."""
    total = FitCost(0.0)
    for cost in costs:
        total = total.then(cost)
    return total
