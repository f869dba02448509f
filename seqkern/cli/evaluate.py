"""``seqkern evaluate``: the evaluation of one method on all folds of a data set."""

from __future__ import annotations

import contextlib
import heapq
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

from seqkern.cli.common import dataset_name, method_settings, read_study
from seqkern.cli.output import metric_name
from seqkern.cli.requests_studies import INNER_FILE, EvaluateRequest
from seqkern.core import file_kinds
from seqkern.core.archive import canonical_json, check_writable
from seqkern.core.checkpoint import Checkpoint
from seqkern.core.errors import FileError, FoldError, GramError, LabelError, ParameterError, SequenceError
from seqkern.core.exclusive_files import FolderLock, exclusive_folder
from seqkern.core.package_files import build_digest
from seqkern.core.progress import Clock, progress_bar, write_cost
from seqkern.core.threads import given_threads
from seqkern.evaluation.estimates import estimates
from seqkern.evaluation.fold_tables import FoldResult, fold_remarks, write_results
from seqkern.evaluation.folds import FoldSet, Split, read_folds
from seqkern.evaluation.held_out import check_postprocessing
from seqkern.evaluation.intervals import too_few
from seqkern.evaluation.pooled import (
    StoredLoop,
    digest,
    pooled_choice,
    read_inner_loops,
    stored_loop,
    write_inner_loops,
)
from seqkern.evaluation.residue_results import write_residue_results
from seqkern.evaluation.selection import Candidate, PooledChoice
from seqkern.gram.matrix import GramMatrix
from seqkern.gram.stored_matrix import open_gram, stored_dtype
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.kernel_specs import check_kind
from seqkern.methods.crossval import evaluate_fold
from seqkern.methods.fitted import Search
from seqkern.methods.method import Method
from seqkern.methods.sources import FitData, Source, fitting
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers.solver_specs import make_solver
from seqkern.study.dataset import Dataset, Task, load_dataset
from seqkern.study.feasible import check_layers
from seqkern.study.kernel_entries import AutoKernel, KernelEntry, check_stored
from seqkern.study.plan import DatasetPlan
from seqkern.study.solver_entries import MethodEntry

# The division of a long evaluation into shares: arguments, and the folds of each share.


def parse_methods(text: str) -> dict[str, dict[str, Any]]:
    """Return the solvers of ``--methods`` by name.

    >>> parse_methods('{"svm": {"solver": "csvc:C=1"}}')
    {'svm': {'solver': 'csvc:C=1', 'layers': []}}
    """
    try:
        given = json.loads(text)
        methods = {name: {"solver": one["solver"], "layers": one.get("layers") or []} for name, one in given.items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ParameterError(
            "--methods is not a JSON object of solvers by name", remedy='write {"svm": {"solver": "csvc:C=1"}}'
        ) from error
    wrong = [name for name in methods if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name)]
    if wrong or not methods:
        problem = f"{wrong[0]!r} cannot name a folder" if wrong else "--methods names no solver"
        raise ParameterError(problem, remedy="name each solver by letters, digits, _, . and -")
    return methods


def assigned(seconds: Sequence[float], share: int, shares: int) -> list[int]:
    """Return the ascending indices of the folds of one share; all shares take about equally long.

    The longest folds are dealt out first, each to the share with the least work so far.

    >>> [assigned([5, 1, 1, 4, 2, 2], share, 3) for share in (1, 2, 3)]
    [[0], [1, 3], [2, 4, 5]]
    """
    loads = [(0.0, one) for one in range(1, shares + 1)]
    mine = []
    for place in sorted(range(len(seconds)), key=lambda i: (-seconds[i], i)):
        load, one = heapq.heappop(loads)
        heapq.heappush(loads, (load + seconds[place], one))
        if one == share:
            mine.append(place)
    return sorted(mine)


# The inner loop for remote homologs in ``seqkern evaluate``: held-out clusters, and one choice for all tasks.
#
# A pooled choice takes two calls: the first writes the inner loops of each data set, the second chooses.


def check_pooled(request: EvaluateRequest, search: Search, candidates: Sequence[Candidate]) -> None:
    """Raise ParameterError for a pooled choice if there is nothing to choose, or the kernel is auto."""
    if search.budget is not None and (request.inner_only or request.pooled or search.clusters is not None):
        raise ParameterError(
            "kernel auto works neither with pooled choices nor with clusters",
            remedy="remove --inner-only, --pooled and --inner-clusters, or give a choice of kernels",
        )
    if (request.inner_only or request.pooled) and len(candidates) == 1:
        option = "--inner-only" if request.inner_only else "--pooled"
        raise ParameterError(
            "there is nothing to choose: one kernel, and one value for each parameter of the solver",
            remedy=f"remove {option}",
        )


class InnerLoops:
    """The inner loops of one method on the training sets of a data set.

    `identity` is the text of all that the scores depend on besides the training set.
    """

    def __init__(self, candidates: Sequence[Candidate], dataset: Dataset, identity: str) -> None:
        self.candidates, self.dataset, self.identity = list(candidates), dataset, identity

    def run(self, method: Method, data: FitData, task: str, split: Split, key: str) -> dict[str, Any]:
        """Return the scores and the cost of an inner loop on the training set of a split."""
        clock = Clock()
        choice = method.choose(data, split.train)
        clock.lap("choose")
        loop = stored_loop(task, split, self.identity + key, data.labels, choice)
        place = {"task": task, "split": split.name}
        return {"loop": asdict(loop), "cost": [place | lap for lap in clock.laps]}

    def write(self, output: Path, finished: Sequence[Mapping[str, Any]]) -> None:
        """Write the finished inner loops of all training sets, in order."""
        loops = [StoredLoop(**one["loop"]) for one in finished]
        write_inner_loops(output / INNER_FILE, self.dataset.name, self.dataset.X, self.candidates, loops)

    def pooled(self, files: Sequence[str], keys: list[str]) -> Mapping[str, PooledChoice]:
        """Return the choice for each training set, by key, over the inner loops in some files."""
        loops, own = read_inner_loops(files, self.dataset.name, self.candidates)
        kind = next(iter(self.dataset.tasks.values())).labels.kind
        if kind != "binary":
            loops = []
        sizes = [make_solver(spec, kind).complexity() for _, spec in self.candidates]
        choices = {}
        for key in keys:
            loop = own.get(digest(self.identity + key))
            if loop is None:
                problem = f"has no inner loops for these settings and folds of data set {self.dataset.name!r}"
                raise FileError(problem, file=files[0], remedy=file_kinds.INNER.again)
            choices[key] = pooled_choice(loop, loops, sizes)
        return choices


@dataclass(frozen=True)
class EvaluationJob:
    """A request with its methods, by name (the name of a single one is empty), from a study or from single options."""

    request: EvaluateRequest
    methods: Mapping[str, MethodEntry]
    seconds: Mapping[str, Sequence[float]]  # Predicted for each fold, by the name of the method; empty if unknown
    memory: str | None

    @property
    def output(self) -> Path:
        """The folder for the tables."""
        return Path(self.request.output)


def run(request: EvaluateRequest) -> None:
    """Run ``seqkern evaluate``."""
    job = _job_of(request)
    splits = OuterSplits(request.dataset, request.folds)
    for entry in next(iter(job.methods.values())).kernel.candidates:
        check_kind(entry.kernel, splits.dataset.kind, file=request.dataset)
    evaluations = {name: Evaluation(job, splits, method, name) for name, method in job.methods.items()}
    with contextlib.ExitStack() as stack:
        for evaluation in evaluations.values():
            stack.enter_context(evaluation.at_work())
        if request.share is None:
            (one,) = evaluations.values()
            finished = [one.finish(place) for place in progress_bar(range(len(splits.work)), "folds")]
            one.write(finished)
        else:
            mine = _share(job, request.share, len(splits.work))
            for name, place in progress_bar(mine, "folds"):
                if not evaluations[name].is_gathered():
                    evaluations[name].finish(place)
    if request.share is not None:
        share, shares = request.share
        count = len(evaluations) * len(splits.work)
        print(f"{job.output}: {len(mine)} of {count} folds finished, share {share} of {shares}")
    elif not request.inner_only:
        _print_scores(finished, splits)


def _job_of(request: EvaluateRequest) -> EvaluationJob:
    """Return the evaluation that the arguments ask for, with the methods of a study or of single options."""
    kernel_name = request.kernel_name or (None if request.study is None else request.kernel)
    _check_division(request, kernel_name)
    check_postprocessing(request.calibration, request.threshold, request.layers)
    memory = request.memory
    if request.study is None:
        methods = _methods(request)
    else:
        study = read_study(request)
        names = {"": request.solver} if request.methods is None else {name: name for name in request.methods}
        place = "inner" if request.inner_only else "evaluate", dataset_name(request.dataset), request.kernel
        methods = {key: MethodEntry.parse(study.settings_of(*place, name)) for key, name in names.items()}
        memory = study.memory_limit
    costs = {} if request.plan is None else DatasetPlan.load(request.plan).methods.get(kernel_name or "", {})
    seconds = {name: cost.folds for name, cost in costs.items()}
    return EvaluationJob(request, methods, seconds, memory)


def _methods(request: EvaluateRequest) -> dict[str, MethodEntry]:
    """Return the methods of single options by name; the name of ``--solver`` is empty."""
    settings = method_settings(request) | {"layers": request.layers, "selection_bias": request.selection_bias}
    if request.methods is None:
        methods = {"": MethodEntry.parse(settings)}
    else:
        given = parse_methods(request.methods[0])
        methods = {name: MethodEntry.parse(settings | own) for name, own in given.items()}
    if request.significance is None:
        return methods
    # imported here: it loads the P-SVM, which other methods do not need
    from seqkern.solvers.psvm.path import SignificanceTest

    test, one = SignificanceTest.parse(request.significance), request.methods is None
    return {
        name: replace(method, significance=test if one or SignificanceTest.suits(method.solver.specs) else None)
        for name, method in methods.items()
    }


def _check_division(request: EvaluateRequest, kernel_name: str | None) -> None:
    """Raise ParameterError for conflicting options of the division into shares."""
    if (request.solver is None) == (request.methods is None):
        raise ParameterError("give one solver", remedy="give --solver, or with --share several as --methods")
    if request.plan is not None and (request.methods is None or kernel_name is None):
        raise ParameterError(
            "--plan needs the names of kernel and solvers", remedy="add --kernel-name and --methods, or remove --plan"
        )


def _share(job: EvaluationJob, share: tuple[int, int], count: int) -> list[tuple[str, int]]:
    """Return the solver and the index of the split for each fold of this share of `count` splits, split by split."""
    folds = [(name, place) for place in range(count) for name in job.methods]
    known = {name: seconds for name, seconds in job.seconds.items() if len(seconds) == count}
    return [folds[i] for i in assigned([known[name][place] if name in known else 1.0 for name, place in folds], *share)]


def _print_scores(finished: list[dict[str, Any]], splits: OuterSplits) -> None:
    """Print warnings about the folds, and the headline score of each task."""
    results = [FoldResult(**row) for row in finished]
    for text in fold_remarks(results):
        print(f"seqkern: {text}", file=sys.stderr)
    tasks: dict[str, list[str]] = {}
    for name in splits.fold_sets:
        own = [result for result in results if result.metrics["task"] == name]
        tasks.setdefault(headline(own, splits.labels(name)), []).append(name)
    for text, (first, *others) in tasks.items():
        print(f"{first}{f' and {len(others)} more tasks' if others else ''}: {text}")


# The outer splits of a data set, which define the folds of an evaluation.


class OuterSplits:
    """A data set with the splits of its tasks."""

    def __init__(self, dataset: str, folds: str) -> None:
        self.place = dataset
        self.dataset = load_dataset(dataset)
        self._files = {name: Path(folds) / f"{name}.tsv" for name in self.dataset.tasks}

    @cached_property
    def fold_sets(self) -> dict[str, FoldSet]:
        """The splits by name of the task, read only after a kernel has been checked on the data set."""
        ids, chains = self.dataset.X.ids, self.dataset.chains
        return {
            name: read_folds(self._files[name], ids, task.labels, chains) for name, task in self.dataset.tasks.items()
        }

    @cached_property
    def work(self) -> list[tuple[str, Split]]:
        """Each split with the name of its task, in the order of the tables."""
        return [(name, split) for name, fold_set in self.fold_sets.items() for split in fold_set.splits]

    def labels(self, task: str) -> Labels:
        """Return the labels of a task, with groups and development part of the folds, if any."""
        return self.fold_sets[task].inner_labels(self.dataset.tasks[task].labels)

    @cached_property
    def keys(self) -> list[str]:
        """A text that identifies each split: the samples of both sets, labels and groups."""
        learned_from = {name: _learned_from(task, self.fold_sets[name]) for name, task in self.dataset.tasks.items()}
        return [
            canonical_json([name, split.name, split.train.tolist(), split.test.tolist(), learned_from[name]])
            for name, split in self.work
        ]

    @contextlib.contextmanager
    def naming(self, task: str, split: Split) -> Iterator[None]:
        """Add the fold file and split to errors about labels and folds, and the data set to errors about samples."""
        try:
            yield
        except (LabelError, FoldError) as error:
            if error.file is None:
                error.file, error.problem = self._files[task], f"split {split.name!r}: {error.problem}"
            raise
        except (SequenceError, GramError) as error:
            if error.file is None:
                error.file = self.place
            raise


def _learned_from(task: Task, fold_set: FoldSet) -> list[str | None]:
    """Return the identity of a task's results besides data and splits: labels, and the settings of inner folds."""
    given = [part for part in (fold_set.groups, fold_set.dev) if part is not None]
    inner = blake2b(b"".join(part.tobytes() for part in given)).hexdigest() if given else None
    return [task.labels.digest(), inner]


def headline(results: Sequence[FoldResult], labels: Labels) -> str:
    """Return the headline score of a task, with its interval."""
    used = labels.take(labels.used())
    lacking = too_few(used)
    found = estimates(results, used)
    if lacking is not None or not found:
        return "no score" if lacking is None else lacking.sentence()
    name, one = next(iter(found.items()))
    title = "macro AUC" if name == "auc" and used.kind == "multiclass" else metric_name(name)
    interval = f" [{one.low:.4f}, {one.high:.4f}]" if one.how else ""
    parts = f"mean of {len(results)} folds" if len(results) > 1 else "one test set"
    positive = f"; positive class: {used.classes[1]}" if used.kind == "binary" else ""
    return f"{title} {one.score:.4f}{interval}, {parts}{positive}"


# The evaluation of one method on the outer splits of a data set, which resumes after the finished folds.
#
# Finished folds are kept in the folder ``.finished`` of the output, so that a stopped job loses one fold at most, and
# several jobs can each compute a share of the folds. Only one job at a time computes a fold; the tables record the
# evaluation they belong to, so that a late share computes nothing.


class Evaluation:
    """The folds of one method."""

    def __init__(self, job: EvaluationJob, splits: OuterSplits, chosen: MethodEntry, name: str) -> None:
        request, dataset, kernel, solver = job.request, splits.dataset, chosen.kernel, chosen.solver
        check_layers(solver.layers, dataset)
        # several methods share the matrices of those that take them
        self.grams = request.gram if solver.needs_gram or not name else []
        if self.grams:
            check_stored(dataset, request.dataset)
        self.request, self.memory, self.splits, self.chosen = request, job.memory, splits, chosen
        self.output = job.output / name
        self.entries: Sequence[KernelEntry] = kernel.candidates
        budget = None
        if isinstance(kernel, AutoKernel):
            real = any(task.labels.kind == "real" for task in dataset.tasks.values())
            sequences = cast("SequenceSet", dataset.X)
            members = kernel.resolve(sequences, solver.input, real, solver.accepts_operator)
            self.entries = [one for one, _ in fitting([(one, solver) for one in members], sequences, job.memory)]
            n_choices = max(len(fold_set.splits) for fold_set in splits.fold_sets.values())
            budget = kernel.budget(len(sequences), n_choices)
        inner = chosen.search
        self.candidates = solver.candidates([entry.name for entry in self.entries], inner.drawn, chosen.seed)
        if chosen.significance is not None:
            chosen.significance.check([spec for _, spec in self.candidates])
            for task in splits.fold_sets:
                chosen.significance.check_kind(splits.labels(task).kind)
        self.search = Search(
            inner.folds, inner.metric, chosen.seed, inner.rule, budget=budget, clusters=inner.cluster_count
        )
        check_pooled(request, self.search, self.candidates)
        _check_grams(self.grams, [entry.kernel for entry in self.entries], solver.input)
        self._table = self.output / (INNER_FILE if request.inner_only else "metrics.tsv")
        check_writable(self._table)
        self.done = Checkpoint(self.output / ".finished", self._identity)

    @property
    def _identity(self) -> str:
        """Text that identifies everything except labels and splits that the results depend on."""
        chosen = self.chosen
        how: dict[str, Any] = {
            "calibration": chosen.calibration,
            "threshold": chosen.threshold,
            "layers": chosen.layers.specs(),
        }
        how |= {"dtypes": [stored_dtype(path) for path in self.grams]}
        how |= {"selection_bias": chosen.selection_bias, "inner_only": self.request.inner_only}
        if chosen.significance is not None:
            how |= {"significance": chosen.significance.to_dict(), "seed": chosen.seed}
        return canonical_json([self._inner_identity, how])

    @cached_property
    def _inner_identity(self) -> str:
        """Text that identifies everything except labels and splits that the inner loops depend on."""
        kernels = [[entry.name, entry.kernel.identity(), entry.transform_specs] for entry in self.entries]
        made = [build_digest(), self.splits.dataset.X.digest(), *kernels]
        return canonical_json([made, self.candidates, asdict(self.search)])

    @cached_property
    def _loops(self) -> InnerLoops:
        """The inner loops, for a choice over several tasks."""
        return InnerLoops(self.candidates, self.splits.dataset, self._inner_identity)

    @cached_property
    def _choices(self) -> list[Any]:
        """The choice made over several tasks for each split, or None."""
        keys = self.splits.keys
        if not self.request.pooled:
            return [None] * len(keys)
        pooled = self._loops.pooled(self.request.pooled, keys)
        return [pooled[key] for key in keys]

    @cached_property
    def keys(self) -> list[str]:
        """The key of each fold in the store of finished folds."""
        return [
            key if choice is None else canonical_json([key, choice.place, choice.tasks, choice.mean_rank])
            for key, choice in zip(self.splits.keys, self._choices, strict=True)
        ]

    # ---- the work ----------------------------------------------------------------------------------------

    @cached_property
    def method(self) -> Method:
        """The method, checked on every training set."""
        method = Method(
            {entry.name: entry.kernel for entry in self.entries},
            self.candidates,
            transforms={entry.name: entry.transforms for entry in self.entries},
            layers=self.chosen.layers.specs(),
            calibration=self.chosen.calibration,
            threshold=self.chosen.threshold,
            search=self.search,
        )
        for task, split in self.splits.work:
            with self.splits.naming(task, split):
                method.check(self.splits.labels(task).take(split.train), place=f"split {split.name!r}")
        return method

    @cached_property
    def data(self) -> dict[str, FitData]:
        """The kernel values and labels of each task."""
        sources, dataset = self._sources(), self.splits.dataset
        return {
            task: FitData(self.splits.labels(task), sources, dataset.residues, dataset.tasks[task].unlabelled())
            for task in self.splits.fold_sets
        }

    def _sources(self) -> dict[str, Source]:
        """Return the sources of kernel values, such as the given Gram matrices, after a check that they fit into
        memory.
        """
        X, given = self.splits.dataset.X, self.grams
        paths = iter(given)
        grams: dict[str, list[GramMatrix]] = {}
        for entry in self.entries:
            form = entry.kernel.stored_form if given else None
            kernels = () if form is None else form.kernels
            grams[entry.name] = [open_gram(next(paths), X, kernel=one) for one in kernels]
        auto = self.search.budget is not None
        limit = self.memory if given or auto else None  # features have no other form within a limit
        sources = self.method.sources(X, grams=grams, memory_limit=limit, n_threads=self.request.threads)
        for task, split in self.splits.work:
            with self.splits.naming(task, split):
                for source in sources.values():
                    source.check_memory(len(split.train), len(split.test))
        return sources

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Keep the finished folds while this job runs; the last job removes them once the tables are written."""
        lock = FolderLock(self.done.folder)
        with contextlib.suppress(OSError):  # whoever writes the folds will say so
            lock.acquire(shared=True)
        try:
            yield
            if lock.is_exclusive() is not False and self.is_gathered():
                self.done.clear()
        finally:
            lock.release()

    @cached_property
    def _name(self) -> str:
        """The digest of everything that the tables depend on."""
        return blake2b(canonical_json([self._identity, self.keys]).encode(), digest_size=16).hexdigest()

    def is_gathered(self) -> bool:
        """Return whether the tables of this evaluation are written."""
        try:
            cost = json.loads((self.output / "cost.json").read_text(encoding="utf-8"))
            return bool(cost["evaluation"] == self._name) and self._table.is_file()
        except (OSError, ValueError, RecursionError, KeyError, TypeError):
            return False

    def finish(self, place: int) -> Any:
        """Return the result of fold number `place`: a stored result, or else a new one that is stored."""
        with exclusive_folder(self.done.folder / f"fold-{place}", temporary=True):  # another job may compute it
            found = self.done.get(self.keys[place])
            if found is None:
                found = self._compute(place)
                self.done.put(self.keys[place], found)
        return found

    def _compute(self, place: int) -> Any:
        """Return the newly computed result of a fold."""
        task, split = self.splits.work[place]
        with self.splits.naming(task, split), given_threads(self.request.threads):
            method, chosen = self.method, self.chosen
            if self.request.inner_only:
                return self._loops.run(method, self.data[task], task, split, self.keys[place])
            how = {"choice": self._choices[place], "significance": chosen.significance}
            how["selection_bias"] = chosen.selection_bias
            how["path"] = place == 0  # one example is enough
            return asdict(evaluate_fold(method, self.data[task], split, task=task, **how))

    def write(self, finished: Sequence[Any]) -> None:
        """Write the tables from the results of all folds."""
        with exclusive_folder(self.output):
            if self.request.inner_only:
                self._loops.write(self.output, finished)
            else:
                results = [FoldResult(**row) for row in finished]
                write_results(self.output, results)
                if self.splits.dataset.residues is not None:
                    write_residue_results(self.output, self.splits.dataset, results)
            laps = [lap for one in finished for lap in one["cost"]]
            write_cost(self.output / "cost.json", laps, evaluation=self._name)


def _check_grams(grams: Sequence[str], kernels: Sequence[Kernel], wanted: str) -> None:
    """Raise ParameterError unless no Gram matrix is given, or one for each kernel that can be stored."""
    if grams and wanted != "gram":
        raise ParameterError(
            "the solver is trained without a Gram matrix", file=grams[0], remedy="remove --gram, or choose csvc"
        )
    forms = [kernel.stored_form for kernel in kernels]
    learning = [kernel.name for kernel, form in zip(kernels, forms, strict=True) if form is None]
    needed = sum(len(form.kernels) for form in forms if form is not None)
    if grams and not needed:
        raise ParameterError(
            f"kernel {learning[0]!r} is fitted to data: a Gram matrix over all samples would include the test sets",
            file=grams[0],
            remedy="remove --gram; the kernel is fitted on each training set",
        )
    if grams and len(grams) != needed:
        raise ParameterError(
            f"{len(grams)} Gram matrices for {needed} kernels that need one",
            remedy="give one for each kernel, in order",
        )
