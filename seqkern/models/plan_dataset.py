"""What the jobs of a data set are predicted to cost: its stored matrices, and each fold of its methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from seqkern.core.errors import ConfigError, ParameterError, SeqkernError
from seqkern.core.memory import parse_bytes
from seqkern.core.threads import given_threads
from seqkern.datasets import Dataset
from seqkern.folds import FoldSet
from seqkern.gram.assembly import ASSEMBLY_BYTES
from seqkern.gram.spectrum import EXACT_ROWS, LANCZOS_STEPS, SAMPLED_ROWS
from seqkern.gram.tiles import tile_grid
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.solver_input import solver_input
from seqkern.models.plan_folds import FoldShape, fold_shapes
from seqkern.models.plan_inputs import EIGENVALUES, OUTPUT_NS, SLICE_NS, KernelInput
from seqkern.models.plan_methods import FilledRoom, PlannedMethod, SolverCosts
from seqkern.models.room import HeldKernel, Room
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers.costs import FitCost, dense_algebra
from seqkern.study.auto_kernel import AutoKernel
from seqkern.study.kernel_entries import KernelEntry
from seqkern.study.methods import MethodEntry
from seqkern.study.plan import Cost, DatasetPlan, MethodCost
from seqkern.study.study import Study

JOB_THREADS = 2
"""Threads of the workflow's jobs that compute kernel values; a plan does not depend on the machine that makes it."""
BASE_BYTES = 210_000_000
"""Memory of the interpreter and the imports of an evaluation; solvers other than LIBSVM's need half of it."""
GRAM_BASE_BYTES = 80_000_000
"""Memory of the interpreter and the imports of a job that computes a Gram matrix."""
START_SECONDS = 3.0
"""CPU seconds of the imports, and of reading a small data set."""
RECORD_BYTES = 400
"""Memory of a sample besides its content: id, label, rows of the tables."""


@dataclass(eq=False)
class DatasetPlanner:
    """The costs of the jobs of one data set; what its methods share is computed once.

    Attributes
    ----------
    study : Study
        With the methods.
    dataset : Dataset
        One of the study.
    fold_sets : mapping of str to FoldSet
        Its folds, by task.

    Examples
    --------
    >>> from seqkern.datasets import make_dataset
    >>> from seqkern.folds import make_folds
    >>> entry = {"simulate": {"kind": "donor", "n_positive": 20, "n_decoy": 40}}
    >>> study = Study.parse({"study": "s", "datasets": {"d": entry}, "kernels": {"two": {"kernel": "spectrum", "k": 2}},
    ...                      "solvers": {"svm": {"solver": "csvc", "C": [1, 10]}}})
    >>> donors = make_dataset("d", entry)
    >>> plan = DatasetPlanner(study, donors, {"all": make_folds(donors.task().labels, k=4, seed=1)}).plan()
    >>> list(plan.grams), len(plan.methods["two"]["svm"].folds)
    (['two'], 4)
    """

    study: Study
    dataset: Dataset
    fold_sets: Mapping[str, FoldSet]
    costs: SolverCosts = field(default_factory=SolverCosts)
    _inputs: dict[Any, KernelInput] = field(default_factory=dict)
    _resolved: dict[Any, Sequence[KernelEntry]] = field(default_factory=dict)

    def plan(self) -> DatasetPlan:
        """Return the plan of the data set."""
        with given_threads(JOB_THREADS):
            return self._plan()

    def _plan(self) -> DatasetPlan:
        """Return the plan, for jobs of the given number of threads."""
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
                if one.kernel.data_dependent or one.kernel.accepts != "sequences":
                    continue
                try:
                    one.kernel.prepare(first)
                except ParameterError as error:
                    problem = f"kernels.{one.name}: {error.problem}"
                    raise ConfigError(problem, file=error.file, remedy=error.remedy) from error
                except SeqkernError:  # about the record, not the parameters: told where all records are read
                    continue

    def gram(self, kernel: Kernel) -> Cost:
        """Return the cost of a stored matrix with its spectrum.

        Parameters
        ----------
        kernel : Kernel
            Of the matrix.

        Returns
        -------
        Cost
        """
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
        return Cost(_rounded(seconds), GRAM_BASE_BYTES + self.content_bytes + int(need))

    @property
    def content_bytes(self) -> int:
        """Bytes of the data set in memory."""
        X = self.dataset.X
        content = X.codes.nbytes if isinstance(X, SequenceSet) else np.asarray(X.values).nbytes
        if isinstance(X, SequenceSet):
            content += sum(track.nbytes for track in X.tracks.values())
        return 2 * content + RECORD_BYTES * len(X)

    def planned(self, entry: MethodEntry) -> PlannedMethod:
        """Return a method with the inputs of its solvers.

        Parameters
        ----------
        entry : MethodEntry
            Of the study.

        Returns
        -------
        PlannedMethod
        """
        names = entry.names
        if isinstance(entry.kernel, AutoKernel):
            return self._planned_auto(entry, entry.kernel)
        stored = bool(self.study.grams_of(self.dataset.name, *names))
        inputs = {}
        for one in entry.kernel.candidates:
            form = one.kernel.stored_form() if stored else None
            inputs[one.name] = self._input(one, entry, 0 if form is None else len(form.kernels), False)
        pooled = bool(self.study.pooled_datasets(self.dataset.name, *names))
        return PlannedMethod(entry, inputs, self.costs, pooled, memory_limit=self.study.memory_limit)

    def _planned_auto(self, entry: MethodEntry, kernel: AutoKernel) -> PlannedMethod:
        """Return the method that chooses among the kernels that ``auto`` stands for."""
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
        room = Room(limit, limit, False, lambda n: max(one.gram_bytes(n) for one in solvers))
        held = sum(room.held_bytes(len(X), own.values())) <= limit
        parts = {one.name: len(own[one.name].stored) if held and one.name in own else 0 for one in kernels}
        inputs = {one.name: self._input(one, entry, parts[one.name], held) for one in kernels}
        budget = kernel.seconds / n_folds
        return PlannedMethod(entry, inputs, self.costs, budget=budget, filled=None if held else FilledRoom(room, own))

    def _portfolio(self, kernel: AutoKernel, entry: MethodEntry) -> Sequence[KernelEntry]:
        """Return the kernels that ``auto`` stands for."""
        real = any(task.labels.kind == "real" for task in self.dataset.tasks.values())
        key = entry.solver.input, real, entry.solver.accepts_operator
        if key not in self._resolved:
            self._resolved[key] = kernel.resolve(cast("SequenceSet", self.dataset.X), *key)
        return self._resolved[key]

    def _input(self, one: KernelEntry, entry: MethodEntry, stored: int, held: bool) -> KernelInput:
        """Return the input that the solvers of a method get of a kernel."""
        solver = entry.solver
        key = id(one.kernel), solver.input, solver.accepts_operator, stored, held
        if key not in self._inputs:
            gives = solver.input
            if held or not stored:
                gives = solver_input(one.kernel, gives, solver.accepts_operator, self.dataset.X, one.transforms)
            held = held and gives == "gram" and one.kernel.stored_form() is not None
            self._inputs[key] = KernelInput(one.kernel, self.dataset.X, gives, stored, held, one.transforms)
        return self._inputs[key]

    def method(self, planned: PlannedMethod, shapes: Sequence[FoldShape]) -> MethodCost:
        """Return the cost of a method on all folds.

        Parameters
        ----------
        planned : PlannedMethod
            The method.
        shapes : sequence of FoldShape
            The sizes of the folds, in order.

        Returns
        -------
        MethodCost
        """
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
    """Return seconds with three digits: more would promise too much."""
    return float(f"{seconds:.3g}")
