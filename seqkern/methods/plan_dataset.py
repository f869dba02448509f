"""The predicted costs of a data set's jobs: its stored matrices, and each fold of its methods."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np

from seqkern.core.archive import canonical_json
from seqkern.core.errors import ConfigError, FoldError, ParameterError, SeqkernError
from seqkern.core.memory import parse_bytes
from seqkern.core.progress import COMMON_CORE
from seqkern.core.threads import given_threads
from seqkern.evaluation.calibration import METHODS, VARIANCE
from seqkern.evaluation.folds import FoldSet, Split
from seqkern.evaluation.halving import Schedule, schedule
from seqkern.evaluation.held_out import neighbours
from seqkern.evaluation.selection import inner_folds, unequal
from seqkern.gram.stored_matrix import EXACT_ROWS, LANCZOS_STEPS, SAMPLED_ROWS
from seqkern.gram.tiles import ASSEMBLY_BYTES, tile_grid
from seqkern.gram.transforms.gram_transform import GramTransform, build_transform
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.kernel_specs import solver_input
from seqkern.kernels.prepared import StoredForm
from seqkern.methods.crossval import REPORTED_ROWS
from seqkern.methods.sources import (
    FEATURE_COPY_NS,
    FEATURE_NS,
    FIT_SECONDS,
    OUTPUT_NS,
    RECORD_BYTES,
    SLICE_NS,
    TRANSFORMED,
    HeldKernel,
    MemoryBudget,
    Samples,
    computed_samples,
    fitting,
    make_source,
    predicted_work,
)
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers.contract import Solver
from seqkern.solvers.costs import BOUNDS, WITHOUT_FOLDS, FitCost, FitWork, dense_algebra
from seqkern.solvers.solver_specs import make_solver
from seqkern.solvers.svm.margins import bounds_cost
from seqkern.solvers.thresholds import PLAIN
from seqkern.study.dataset import Dataset
from seqkern.study.kernel_entries import AutoKernel, KernelEntry
from seqkern.study.plan import Cost, DatasetPlan, MethodCost
from seqkern.study.solver_entries import MethodEntry
from seqkern.study.study import Study

# The sizes of a data set's training and test sets, which determine the cost of its evaluation.


@dataclass(frozen=True)
class FoldShape:
    """The sizes of one fold: samples of the training and test sets, and (training, validation) of each inner fold.

    `seen` counts samples used by layers with neighbours: whole chains. `unequal` tells whether the rarer of two
    classes has few samples, so that a threshold is set.

    >>> FoldShape(90, 10, 10, ((60, 30),) * 3, 2, False, "binary").train
    90
    """

    train: int  # Samples of the training and the test set
    test: int  # Samples of the training and the test set
    seen: int  # Samples that layers with neighbours see: whole chains
    inner: tuple[tuple[int, int], ...]  # Samples of the training and validation set of each inner fold
    classes: int  # Classes with samples in the training set; 2 for numbers
    unequal: bool  # Whether the rarer of two classes has few samples, so that a threshold is set
    kind: str  # Of the labels


def fold_shapes(dataset: Dataset, fold_sets: Mapping[str, FoldSet], folds: int, seed: int) -> list[FoldShape]:
    """Return the sizes of all folds of a data set, in the order of tasks and splits."""
    found = []
    for name, task in dataset.tasks.items():
        labels = fold_sets[name].inner_labels(task.labels)
        found += [_shape(dataset, labels, split, folds, seed) for split in fold_sets[name]]
    return found


def _shape(dataset: Dataset, labels: Labels, split: Split, folds: int, seed: int) -> FoldShape:
    """Return the sizes of one split."""
    own = labels.take(split.train)
    seen = len(split.test)
    if dataset.residues is not None:
        seen += len(np.setdiff1d(neighbours(dataset.residues, split.test, split.train, split.test), split.test))
    inner: list[tuple[int, int]] = []
    if folds and own.kind != "none":
        with contextlib.suppress(FoldError):  # that is for seqkern check to say
            inner = [(len(train), len(valid)) for train, valid in inner_folds(own, folds, seed, own.groups)]
    classes = 2 if own.kind in ("real", "none") else len(np.unique(own.y))
    return FoldShape(len(split.train), len(split.test), seen, tuple(inner), classes, unequal(own), own.kind)


# The predicted costs of solver inputs: slices of stored matrices, matrices, features, products.

TRANSFORM_NS = 5.0
"""Nanoseconds of a matrix entry in a transform."""
EIGENVALUES = 4 / 3
"""Multiplications and additions of the eigenvalues of a symmetric matrix, as a multiple of n³."""
ESTIMATED_PRODUCTS = 100
"""Number of products with a matrix whose eigenvalues are estimated."""


@dataclass(frozen=True, eq=False)
class KernelInput:
    """The input that solvers get from a kernel.

    `stored` is the number of stored matrices that it is made from, 0 if it is computed for each training set;
    `held` tells whether each job computes the matrix of all samples once and keeps it, as for a choice among
    many kernels.
    """

    kernel: Kernel  # Not fitted
    X: Samples  # All samples
    gives: str  # What the solvers get
    stored: int = 0  # Number of stored matrices that it is made from; 0 if it is computed for each training set
    # Whether the matrix of all samples is computed once by each job and kept, as for a choice among many kernels
    held: bool = False
    transforms: Sequence[GramTransform] = ()  # Of the matrix

    @cached_property
    def whole(self) -> FitCost:
        """The cost of the matrix of all samples, with the bytes of working memory besides it."""
        plan = self.kernel.plan(self.X)
        return FitCost(plan.seconds + len(self.X) ** 2 * OUTPUT_NS * 1e-9, plan.bytes)

    @cached_property
    def size(self) -> int:
        """The size in bytes of the solvers' input for all samples, if it is not a matrix."""
        made = int(getattr(self.kernel, self.gives).bytes(self.X))
        return made + RECORD_BYTES * len(self.X) if self.gives == "implicit" else made

    @cached_property
    def making(self) -> float:
        """The CPU seconds of the solvers' input for all samples, if it is not a matrix."""
        return float(self.size * FEATURE_NS * 1e-9 + getattr(self.kernel, self.gives).making(self.X))

    @cached_property
    def product(self) -> float:
        """The CPU seconds of one product with the input for all samples, if it is not a matrix."""
        if self.gives == "features":
            return self.size * FEATURE_COPY_NS * 1e-9
        return float(getattr(self.kernel, self.gives).cost(self.X))

    @cached_property
    def once(self) -> FitCost:
        """The cost of values computed once for all folds of an evaluation, and kept."""
        if self.held:
            return FitCost(self.whole.seconds)
        if self.gives == "gram" or self.kernel.traits.data_dependent:
            return FitCost(0.0)
        return FitCost(self.making, self.size)

    def of(self, train: int, test: int, spectrum: bool = False) -> FitCost:
        """Return the cost and size of the input for a training and a test set.

        With `spectrum`, the cost includes the eigenvalues of a matrix fitted to the training set.
        """
        n = max(1, len(self.X))
        entries = train * (train + test)
        if self.gives != "gram":
            share, fitted = (train + test) / n, self.kernel.traits.data_dependent
            copied = self.size * FEATURE_COPY_NS * 1e-9
            size = self.size if fitted or self.gives == "features" else 0  # products with some samples are views
            return FitCost(share * (self.making if fitted else copied), int(size * share))
        if self.stored or self.held:
            count = max(1, self.stored)
            copies = count if count == 1 else 2 * count + 1  # a sum with learned weights centres its parts
            cost = FitCost(copies * entries * SLICE_NS * 1e-9, 8 * copies * entries)
        else:
            seconds = self.computing(train, test)
            cost = FitCost(seconds, 8 * entries + int(self.whole.bytes * min(1.0, (train + test) / n)))
        seconds, size = cost.seconds, cost.bytes
        for transform in self.chain:
            seconds += entries * TRANSFORM_NS * 1e-9 + dense_algebra(1, transform.fit_cubes(train)) * train * entries
        size += 8 * entries * (max(TRANSFORMED, len(self.chain)) if self.chain else 0)
        if spectrum and self.learns:
            exact = train <= REPORTED_ROWS
            seconds += dense_algebra(train, EIGENVALUES) if exact else ESTIMATED_PRODUCTS * train**2 * 1e-9
            size = max(size, 8 * entries + 8 * train**2)
        return FitCost(seconds, size)

    def computing(self, train: int, test: int) -> float:
        """Return the CPU seconds of the kernel values of a training and a test set; 0 where they are only sliced."""
        if self.gives != "gram" or self.stored or self.held:
            return 0.0
        return self.whole.seconds * train * (train + 2 * test) / max(1, len(self.X)) ** 2

    @cached_property
    def learns(self) -> bool:
        """Whether each training set has its own matrix, before the transforms of the study."""
        if not (self.stored or self.held):
            return self.kernel.traits.data_dependent
        form = self.kernel.stored_form
        return form is not None and form.learns

    @property
    def has_rows(self) -> bool:
        """Whether solvers can read the matrix by rows: it is stored, without transforms."""
        return self.stored == 1 and not self.held and not self.learns and not self.chain

    @cached_property
    def chain(self) -> list[GramTransform]:
        """All transforms of the matrix: the stored form's, then the study's."""
        form = self.kernel.stored_form if self.stored or self.held else None
        return [*([] if form is None else _transforms(form)), *self.transforms]

    def work(self, train: int, classes: int) -> FitWork:
        """Return the sizes of a fit on a training set."""
        if self.gives == "gram":
            return FitWork(train, classes)
        share = train / max(1, len(self.X))
        width = None
        if self.gives == "features":
            width = max(1, self.size // (8 * max(1, len(self.X))))
        return FitWork(train, classes, width, self.gives, self.product * share)


def _transforms(form: Kernel | StoredForm) -> list[GramTransform]:
    """Return the transforms in a stored form."""
    if isinstance(form, Kernel):
        return []
    own = [build_transform(item) for item in form.transforms]
    return [*(one for part in form.parts for one in _transforms(part)), *own]


# The predicted costs of evaluating methods: the fits of each fold, in the order of `Method.fit`.


class SolverCosts:
    """The costs of fits, each computed once for all kernels and folds."""

    def __init__(self) -> None:
        self._solvers: dict[tuple[str, str], Solver] = {}
        self._costs: dict[Any, FitCost] = {}

    def solver(self, spec: Mapping[str, Any], kind: str) -> Solver:
        """Return the solver of a specification, not fitted."""
        key = canonical_json(spec), kind
        if key not in self._solvers:
            self._solvers[key] = make_solver(spec, kind)
        return self._solvers[key]

    def of(self, spec: Mapping[str, Any], kind: str, work: Any) -> FitCost:
        """Return the cost of a solver's fit to a training set of the given sizes."""
        solver = self.solver(spec, kind)
        key = id(solver), work
        if key not in self._costs:
            self._costs[key] = solver.fit_cost(work)
        return self._costs[key]


@dataclass(frozen=True)
class Fits:
    """The fits of solvers on one input.

    The costliest of `specs`, as often as there are some, represents a solver that is not chosen yet; `final` marks the
    fit on the whole training set.
    """

    kernel: str  # Its name
    train: int  # Samples
    test: int  # Samples
    specs: tuple[Mapping[str, Any], ...]
    final: bool = False  # Whether this is the fit on the whole training set


@dataclass(frozen=True, eq=False)
class PlannedMatrices:
    """The matrices that a choice among many kernels will hold, by the rules of `HeldMatrices`."""

    memory_budget: MemoryBudget  # The memory
    kernels: Mapping[str, HeldKernel]  # Those whose matrices solvers get, by name
    n: int  # All samples

    @cached_property
    def whole(self) -> bool:
        """Whether the matrices of all samples are kept."""
        return self.memory_budget.holds(self.n, self.kernels.values())

    def peak(self, fits: Fits, held: dict[str, int]) -> int:
        """Return the bytes of some fits and the matrices held; `held`, the samples of each, is brought up to date."""
        own = self.kernels[fits.kernel]
        need = self.memory_budget.fit_bytes(own, fits.train, fits.test)
        n = computed_samples(fits.train + fits.test, self.n, self.whole)
        for key in [key for key, size in held.items() if size not in (n, self.n)]:
            del held[key]
        for key in own.stored:
            held.setdefault(key, n)
        return max(need, min(self.memory_budget.limit, need + sum(8 * size**2 for size in held.values())))


@dataclass(frozen=True, eq=False)
class PlannedMethod:
    """A method with predicted costs.

    `pooled` tells whether earlier jobs make its choice, over several tasks. Where slices of a stored matrix
    exceed `memory_limit`, solvers that can read its rows do so.
    """

    entry: MethodEntry  # Of the study
    inputs: Mapping[str, KernelInput]  # Of the candidate kernels, by name
    costs: SolverCosts  # Shared by all methods
    pooled: bool = False  # Whether its choice is made over several tasks, by jobs before
    budget: float | None = None  # Predicted CPU seconds for choosing among many kernels
    # Where slices of a stored matrix exceed it, solvers that can read its rows instead
    memory_limit: int | str | None = None
    matrices: PlannedMatrices | None = None  # For a choice among many kernels

    @cached_property
    def candidates(self) -> list[tuple[str, dict[str, Any]]]:
        """The candidates of the inner loop, as (kernel name, solver spec)."""
        return self.entry.solver.candidates(list(self.inputs), self.entry.search.drawn, self.entry.seed)

    @cached_property
    def specs(self) -> list[dict[str, Any]]:
        """The distinct solver specs of the candidates."""
        return list({canonical_json(spec): spec for _, spec in self.candidates}.values())

    @cached_property
    def once(self) -> FitCost:
        """The cost of values that each job computes once for all of its folds."""
        found = FitCost(0.0)
        for source in self.inputs.values():
            found = FitCost(found.seconds + source.once.seconds, found.bytes + source.once.bytes)
        return found

    def _slice_budget(self, kind: str) -> MemoryBudget | None:
        """Return the memory for slices of stored matrices; None if all solvers must have them."""
        if self.memory_limit is None or self.entry.search.clusters is not None:
            return None
        solvers = [self.costs.solver(spec, kind) for spec in self.specs]
        if not all(solver.traits.rows for solver in solvers):
            return None
        limit = parse_bytes(self.memory_limit)
        return MemoryBudget(limit, limit, True, lambda n: max(solver.gram_bytes(n) for solver in solvers))

    def choosing(self, shape: FoldShape) -> Iterator[Fits]:
        """Yield the fits of the inner loop of a fold."""
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
        if self.entry.search.metric in WITHOUT_FOLDS:
            inner = ((shape.train, 0),)
        for train, valid in inner:
            for name in self.inputs:
                own = tuple(spec for kernel, spec in self.candidates if kernel == name)
                if own:
                    yield Fits(name, train, valid, own)

    @cached_property
    def _schedules(self) -> dict[FoldShape, Schedule]:
        """Those of the folds seen before."""
        return {}

    def _schedule(self, shape: FoldShape) -> Schedule:
        """Return the stages of the choice among many kernels, as the run makes them."""
        if self.budget is None:
            return Schedule()
        if shape not in self._schedules:
            inputs = self.inputs.items()
            sources = {name: make_source(one.kernel, one.X, one.transforms, gives=one.gives) for name, one in inputs}
            sizes = [train for train, _ in shape.inner]
            work = predicted_work(sources, self.candidates, shape.kind, shape.train, shape.classes, sizes)
            self._schedules[shape] = schedule(shape.train, work, self.budget)
        return self._schedules[shape]

    def _halving(self, shape: FoldShape) -> Iterator[Fits]:
        """Yield the fits of successive halving, with the costliest kernels surviving."""
        for stage, names in self._schedule(shape).dearest():
            for train, valid in shape.inner:
                for name in names:
                    own = tuple(spec for kernel, spec in self.candidates if kernel == name)
                    own = own[:1] if stage.coarse else own
                    n = round(train * stage.share)
                    yield Fits(name, n, round((train + valid) * stage.share) - n, own)

    def evaluating(self, shape: FoldShape) -> Iterator[Fits]:
        """Yield the fits of a fold in order, with the costliest candidate in place of the chosen one."""
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
        """Return the candidate with the costliest final fit, of those that the budget does not leave out."""
        if len(self.candidates) == 1:
            return self.candidates[0]
        left_out = self._schedule(shape).left_out
        return max(
            (one for one in self.candidates if one[0] not in left_out),
            key=lambda one: self.cost(Fits(one[0], shape.train, shape.test, (one[1],)), shape).seconds,
        )

    def _holds_out(self, shape: FoldShape, spec: Mapping[str, Any], searched: bool) -> bool:
        """Return whether held-out decisions are computed for layers, calibration or a threshold."""
        entry = self.entry
        if entry.solver.has_layers:
            return True
        if entry.calibration == VARIANCE and shape.kind == "real":
            return self.costs.solver(spec, shape.kind).traits.variances
        known = searched and self.budget is None  # the inner loop has decided about all samples
        if shape.kind != "binary" or known:
            return False
        if entry.calibration in METHODS or entry.threshold is not None:
            return entry.calibration in METHODS or entry.threshold != PLAIN
        if not (searched or self.pooled or shape.unequal):
            return False
        if self.costs.solver(spec, shape.kind).traits.own_threshold:
            return False
        return not isinstance(spec.get("class_weight"), Mapping)

    def cost(self, fits: Fits, shape: FoldShape) -> FitCost:
        """Return the cost of some fits with their input."""
        source = self.inputs[fits.kernel]
        made = source.of(fits.train, fits.test, spectrum=fits.final)
        work = source.work(fits.train, shape.classes)
        each = [self._each(spec, fits.final, shape.kind, work) for spec in fits.specs]
        size = made.bytes + max((one.bytes for one in each), default=0)
        memory_budget = self._slice_budget(shape.kind) if source.has_rows else None
        if memory_budget is not None and memory_budget.by_rows(fits.train, fits.test):
            size = memory_budget.row_bytes(fits.train)
        return FitCost(made.seconds + sum(FIT_SECONDS + one.seconds for one in each), size)

    def _each(self, spec: Mapping[str, Any], final: bool, kind: str, work: FitWork) -> FitCost:
        """Return the cost of a fit, with the bounds of the leave-one-out error where they are computed."""
        found = self.costs.of(spec, kind, work)
        chooses = not final and self.entry.search.metric in BOUNDS
        if work.gives != "gram" or not (final or chooses) or not self.costs.solver(spec, kind).traits.bounds:
            return found
        return found.then(bounds_cost(work, limited=final))

    def fold(self, shape: FoldShape) -> FitCost:
        """Return the cost of a fold: CPU seconds, and peak memory in bytes."""
        return self._total(self.evaluating(shape), shape)

    def inner(self, shape: FoldShape) -> FitCost:
        """Return the cost of the inner loop of a fold alone."""
        return self._total(self.choosing(shape), shape)

    def n_fits(self, shape: FoldShape) -> int:
        """Return the number of fits of a fold."""
        return sum(len(fits.specs) for fits in self.evaluating(shape))

    def _total(self, steps: Iterator[Fits], shape: FoldShape) -> FitCost:
        """Return the total cost of sequential fits, with the matrices that are held from one to the next."""
        total, held, computed = FitCost(0.0), dict[str, int](), set[tuple[str, int]]()
        for fits in steps:
            cost = self.cost(fits, shape)
            if self.matrices is not None and fits.kernel in self.matrices.kernels:
                seconds, sample = cost.seconds, (fits.kernel, fits.train + fits.test)
                if sample in computed and self.matrices.kernels[fits.kernel].stored:  # the folds of a stage share it
                    seconds -= self.inputs[fits.kernel].computing(fits.train, fits.test)
                computed.add(sample)
                cost = FitCost(seconds, self.matrices.peak(fits, held))
            total = total.then(cost)
        return total


JOB_THREADS = 2
"""Threads of the workflow's jobs that compute kernel values; fixed, so that every machine makes the same plan."""
BASE_BYTES = 90_000_000
"""Memory of the interpreter and the imports of a job; scikit-learn, which few solvers import, takes as much again."""
START_SECONDS = 1.5
"""CPU seconds of the imports, and of reading a small data set."""
STORED_RECORD_BYTES = 400
"""Memory of a sample besides its content: id, label, rows of the tables."""


@dataclass(eq=False)
class DatasetPlanner:
    """The costs of the jobs of one data set; costs that its methods share are computed once."""

    study: Study  # With the methods
    dataset: Dataset  # One of the study
    fold_sets: Mapping[str, FoldSet]  # Its folds, by task
    costs: SolverCosts = field(default_factory=SolverCosts)
    _inputs: dict[Any, KernelInput] = field(default_factory=dict)
    _resolved: dict[Any, Sequence[KernelEntry]] = field(default_factory=dict)

    def plan(self) -> DatasetPlan:
        """Return the plan of the data set."""
        with given_threads(JOB_THREADS):
            return self._plan()

    def _plan(self) -> DatasetPlan:
        """Return the plan for jobs with the given number of threads."""
        name = self.dataset.name
        methods = self.study.methods(name)
        self._check_alphabet([entry.names[0] for entry in methods])
        shapes = fold_shapes(self.dataset, self.fold_sets, self.study.inner.folds, self.study.seed)
        grams: dict[str, Cost] = {}
        found: dict[str, dict[str, MethodCost]] = {}
        for entry in methods:
            for home in self.study.grams_of(name, *entry.names):
                if home not in grams:
                    grams[home] = self.gram(self.study.homes[home].kernel)
            kernel, solver = entry.names
            found.setdefault(kernel, {})[solver] = self.method(self.planned(entry), shapes)
        return DatasetPlan(grams, found)

    def _check_alphabet(self, names: Sequence[str]) -> None:
        """Raise ConfigError for a kernel whose parameters do not suit the alphabet: one record shows it."""
        if self.dataset.kind != "sequences" or not len(self.dataset.X):
            return
        first = self.dataset.X.take([0])
        for name in dict.fromkeys(names):
            given = self.study.kernels[name]
            for one in () if isinstance(given, AutoKernel) else given.candidates:
                if one.kernel.traits.data_dependent or one.kernel.traits.accepts != "sequences":
                    continue
                try:
                    one.kernel.prepare(first)
                except ParameterError as error:
                    problem = f"kernels.{one.name}: {error.problem}"
                    raise ConfigError(problem, file=error.file, remedy=error.remedy) from error
                except SeqkernError:  # about the record, not the parameters: told where all records are read
                    continue

    def gram(self, kernel: Kernel) -> Cost:
        """Return the cost of a stored matrix with its spectrum."""
        n = len(self.dataset.X)
        plan, grid = kernel.plan(self.dataset.X), tile_grid(n, n, self.study.dtype, True)
        exact = min(n, EXACT_ROWS if n <= EXACT_ROWS else SAMPLED_ROWS)
        seconds = (
            START_SECONDS + plan.seconds + n * n * (OUTPUT_NS + SLICE_NS) * 1e-9 + dense_algebra(exact, EIGENVALUES)
        )
        if n > EXACT_ROWS:
            seconds += LANCZOS_STEPS * n * n * 1e-9
        need = max(
            grid.tile_bytes + plan.bytes, min(grid.matrix_bytes, ASSEMBLY_BYTES) + grid.tile_bytes, 3 * 8 * exact**2
        )
        return Cost(_rounded(seconds), BASE_BYTES + self.content_bytes + int(need))

    @property
    def content_bytes(self) -> int:
        """Memory of the data set, in bytes."""
        X = self.dataset.X
        content = X.codes.nbytes if isinstance(X, SequenceSet) else np.asarray(X.values).nbytes
        if isinstance(X, SequenceSet):
            content += sum(track.nbytes for track in X.tracks.values())
        return 2 * content + STORED_RECORD_BYTES * len(X)

    def planned(self, entry: MethodEntry) -> PlannedMethod:
        """Return a method with the inputs of its solvers."""
        names = entry.names
        if isinstance(entry.kernel, AutoKernel):
            return self._planned_auto(entry, entry.kernel)
        stored = bool(self.study.grams_of(self.dataset.name, *names))
        inputs = {}
        for one in entry.kernel.candidates:
            form = one.kernel.stored_form if stored else None
            inputs[one.name] = self._input(one, entry, 0 if form is None else len(form.kernels), False)
        pooled = bool(self.study.pooled_datasets(self.dataset.name, *names))
        return PlannedMethod(entry, inputs, self.costs, pooled, memory_limit=self.study.memory_limit)

    def _planned_auto(self, entry: MethodEntry, kernel: AutoKernel) -> PlannedMethod:
        """Return the method that chooses from the kernels of ``auto``."""
        kernels, solver, X = self._portfolio(kernel, entry), entry.solver, self.dataset.X
        n_folds = max(len(fold_set.splits) for fold_set in self.fold_sets.values())
        own: dict[str, HeldKernel] = {}
        for one in kernels:
            if solver_input(one.kernel, solver.input, solver.accepts_operator, X, one.transforms) == "gram":
                own[one.name] = HeldKernel.of(one.kernel, X, len(one.transforms))
        kinds = {task.labels.kind for task in self.dataset.tasks.values()}
        specs = solver.candidates([one.name for one in kernels], entry.search.drawn, entry.seed)
        solvers = [self.costs.solver(spec, kind) for _, spec in specs for kind in kinds]
        limit = parse_bytes(self.study.memory_limit)
        memory_budget = MemoryBudget(limit, limit, False, lambda n: max(one.gram_bytes(n) for one in solvers))
        matrices = PlannedMatrices(memory_budget, own, len(X))
        held = matrices.whole
        parts = {one.name: len(own[one.name].stored) if held and one.name in own else 0 for one in kernels}
        inputs = {one.name: self._input(one, entry, parts[one.name], held) for one in kernels}
        budget = kernel.budget(len(X), n_folds)
        return PlannedMethod(entry, inputs, self.costs, budget=budget, matrices=matrices)

    def _portfolio(self, kernel: AutoKernel, entry: MethodEntry) -> Sequence[KernelEntry]:
        """Return the kernels represented by ``auto``."""
        real = any(task.labels.kind == "real" for task in self.dataset.tasks.values())
        X, solver = self.dataset.X, entry.solver
        key = solver.input, real, solver.accepts_operator
        if key not in self._resolved:
            self._resolved[key] = kernel.resolve(cast("SequenceSet", X), *key)
        return [one for one, _ in fitting([(one, solver) for one in self._resolved[key]], X, self.study.memory_limit)]

    def _input(self, one: KernelEntry, entry: MethodEntry, stored: int, held: bool) -> KernelInput:
        """Return the input from a kernel for the solvers of a method."""
        solver = entry.solver
        key = id(one.kernel), solver.input, solver.accepts_operator, stored, held
        if key not in self._inputs:
            gives = solver.input
            if held or not stored:
                gives = solver_input(one.kernel, gives, solver.accepts_operator, self.dataset.X, one.transforms)
            held = held and gives == "gram" and one.kernel.stored_form is not None
            self._inputs[key] = KernelInput(one.kernel, self.dataset.X, gives, stored, held, one.transforms)
        return self._inputs[key]

    def method(self, planned: PlannedMethod, shapes: Sequence[FoldShape]) -> MethodCost:
        """Return the cost of a method on all folds."""
        each = {shape: planned.fold(shape) for shape in dict.fromkeys(shapes)}
        peak = max((cost.bytes for cost in each.values()), default=0)
        inner: dict[FoldShape, FitCost] = {}
        if planned.pooled:
            inner = {shape: planned.inner(shape) for shape in each}
            peak = max([peak, *(cost.bytes for cost in inner.values())])
        return MethodCost(
            bytes=BASE_BYTES + self.content_bytes + planned.once.bytes + peak,
            folds=[_rounded(each[shape].seconds) for shape in shapes],
            once=_rounded(START_SECONDS + planned.once.seconds),
            inner=[_rounded(inner[shape].seconds) for shape in shapes] if inner else [],
        )


def _rounded(seconds: float) -> float:
    """Return seconds of a common core, rounded to three digits, as more would suggest too much precision."""
    return float(f"{COMMON_CORE * seconds:.3g}")
