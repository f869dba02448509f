"""``seqkern evaluate``: the evaluation of one method on all folds of a data set."""

from __future__ import annotations

import argparse
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
from typing import TYPE_CHECKING, Any, cast

from seqkern.cli.common import (
    INNER_DEFAULTS,
    add_inner_loop,
    add_layers,
    add_postprocessing,
    add_significance,
    add_study,
    add_threads,
    dataset_name,
    method_settings,
    read_study,
    share_of,
)
from seqkern.cli.cv import fold_remarks, headline
from seqkern.core.archive import canonical_json, check_writable
from seqkern.core.checkpoint import Checkpoint
from seqkern.core.checks import whole_number
from seqkern.core.errors import FileError, ParameterError

if TYPE_CHECKING:
    from seqkern.cli.cv import OuterSplits
    from seqkern.evaluation.folds import Split
    from seqkern.evaluation.selection import Candidate, PooledChoice
    from seqkern.gram.matrix import GramMatrix
    from seqkern.kernels.kernel import Kernel
    from seqkern.methods.fitted import Search
    from seqkern.methods.method import Method
    from seqkern.methods.sources import FitData, Source
    from seqkern.sequences.sequence_set import SequenceSet
    from seqkern.study.dataset import Dataset
    from seqkern.study.kernel_entries import KernelEntry
    from seqkern.study.solver_entries import MethodEntry


# The division of a long evaluation into shares: arguments, and the folds of each share.


def add_shares(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that divide an evaluation."""
    group = parser.add_argument_group("division of a long evaluation")
    group.add_argument(
        "--share",
        type=share_of,
        metavar="I/N",
        help="compute only the I-th of N shares of the folds and write no tables; without it, compute the missing "
        "folds and write the tables",
    )
    group.add_argument(
        "--methods",
        metavar="JSON",
        nargs="+",
        help="with --share, several solvers in one job, instead of --solver: "
        '{"svm": {"solver": "csvc:C=1", "layers": []}, ...}, or with --study their names; each keeps its folds in its '
        "own folder of the output",
    )
    group.add_argument(
        "--plan", metavar="JSON", help="file of seqkern plan, to divide by predicted time (default: by number of folds)"
    )
    group.add_argument(
        "--kernel-name", metavar="NAME", help="name of the kernel in --plan (default: --kernel, with --study)"
    )


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

INNER = "inner.json"
"""Name of the file with the inner loops of a data set."""


def add_pooled(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for clusters in place of inner folds, and for one choice over several tasks."""
    parser.add_argument(
        "--inner-clusters",
        type=_clusters,
        metavar="N",
        help="for remote homologs: hold out each of N clusters of similar positive samples (auto: 10), not folds",
    )
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--inner-only",
        action="store_true",
        help=f"only run the inner loop of every training set and write its scores to {INNER}, for --pooled",
    )
    group.add_argument(
        "--pooled",
        nargs="*",
        default=[],
        metavar="FILE",
        help="files of --inner-only, of this data set and of others: instead of searching, choose the candidate with "
        "the best mean rank over all tasks (tasks that share positive samples are not pooled)",
    )


def _clusters(text: str) -> int:
    """Return a number of clusters, for argparse."""
    # imported here to keep --help fast
    from seqkern.evaluation.pooled import AUTO

    if text == "auto":
        return AUTO
    number = whole_number(text)
    if number is None or number < 2:
        raise argparse.ArgumentTypeError(f"{text!r} is neither auto nor a number of clusters, 2 or more")
    return number


def check_pooled(request: Request, search: Search, candidates: Sequence[Candidate]) -> None:
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
        # imported here to keep --help fast
        from seqkern.core.progress import Clock
        from seqkern.evaluation.pooled import stored_loop

        clock = Clock()
        choice = method.choose(data, split.train)
        clock.lap("choose")
        loop = stored_loop(task, split, self.identity + key, data.labels, choice)
        place = {"task": task, "split": split.name}
        return {"loop": asdict(loop), "cost": [place | lap for lap in clock.laps]}

    def write(self, output: Path, finished: Sequence[Mapping[str, Any]]) -> None:
        """Write the finished inner loops of all training sets, in order."""
        # imported here to keep --help fast
        from seqkern.evaluation.pooled import StoredLoop, write_inner_loops

        loops = [StoredLoop(**one["loop"]) for one in finished]
        write_inner_loops(output / INNER, self.dataset.name, self.dataset.X, self.candidates, loops)

    def pooled(self, files: Sequence[str], keys: list[str]) -> Mapping[str, PooledChoice]:
        """Return the choice for each training set, by key, over the inner loops in some files."""
        # imported here to keep --help fast
        from seqkern.core import file_kinds
        from seqkern.evaluation.pooled import digest, pooled_choice, read_inner_loops
        from seqkern.solvers.solver_specs import make_solver

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


METHOD_DEFAULTS = {
    **INNER_DEFAULTS,
    "inner_clusters": None,
    "calibration": None,
    "threshold": None,
    "layers": [],
    "selection_bias": False,
    "significance": None,
}
"""Options that a study gives, with their defaults."""
EXAMPLE = (
    "seqkern evaluate results/demo/datasets/donors --folds results/demo/folds/donors"
    " --kernel spectrum:k=3 --solver csvc:C=1 -o results/demo/evaluate/donors/spectrum3/csvc"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``seqkern evaluate``."""
    parser.add_argument("dataset", help="folder that seqkern datasets wrote")
    parser.add_argument("--folds", required=True, help="folder that seqkern folds wrote")
    add_study(parser, METHOD_DEFAULTS, "; --kernel, --solver and --methods are then names in it")
    parser.add_argument(
        "--kernel",
        required=True,
        help="kernel, such as spectrum:k=3, or as JSON; or several, of which the inner loop chooses one: "
        '{"choose": [{"name": "three", "kernel": "spectrum", "k": 3}, ...]}',
    )
    parser.add_argument(
        "--gram",
        nargs="*",
        default=[],
        help="Gram matrix over all samples for each kernel that has one, in order: the kernel's own if it is not "
        "fitted to data; for kernel pairwise that of its base kernel; for kernel combination those of its parts",
    )
    parser.add_argument("--solver", help="solver, such as csvc:C=[0.1,1,10] (a list of values is a grid), or as JSON")
    add_inner_loop(parser)
    add_pooled(parser)
    add_postprocessing(parser)
    add_layers(parser)
    parser.add_argument("--seed", type=int, default=1, help="seed of the inner folds (default: 1)")
    parser.add_argument(
        "--selection-bias",
        action="store_true",
        help="also report the inflated scores that result from selecting features on the test data "
        "(selection_bias.tsv)",
    )
    add_significance(parser)
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        help="memory limit, such as 2GB, above which csvc reads a stored Gram matrix by rows (default: half of what is "
        "left)",
    )
    add_shares(parser)
    add_threads(parser)
    parser.add_argument("-o", "--output", required=True, help="folder for the tables")


@dataclass(frozen=True)
class Request:
    """An evaluation: its methods by name (that of a single one is empty), its input, and what this job does of it."""

    dataset: str
    folds: str
    methods: Mapping[str, MethodEntry]
    grams: Sequence[str]  # The files for the methods that take a Gram matrix
    pooled: Sequence[str]  # The files of inner loops for a choice over several tasks
    inner_only: bool
    share: tuple[int, int] | None
    seconds: Mapping[str, Sequence[float]]  # Predicted for each fold, by the name of the method; empty if unknown
    memory: str | None
    threads: int | None
    output: Path


def run(args: argparse.Namespace) -> None:
    """Run ``seqkern evaluate``."""
    # imported here to keep --help fast
    from seqkern.cli.cv import OuterSplits
    from seqkern.core.progress import progress_bar
    from seqkern.kernels.kernel_specs import check_kind

    request = _request(args)
    splits = OuterSplits(request.dataset, request.folds)
    for entry in next(iter(request.methods.values())).kernel.candidates:
        check_kind(entry.kernel, splits.dataset.kind, file=request.dataset)
    evaluations = {name: Evaluation(request, splits, method, name) for name, method in request.methods.items()}
    with contextlib.ExitStack() as stack:
        for evaluation in evaluations.values():
            stack.enter_context(evaluation.at_work())
        if request.share is None:
            (one,) = evaluations.values()
            finished = [one.finish(place) for place in progress_bar(range(len(splits.work)), "folds")]
            one.write(finished)
        else:
            mine = _share(request, request.share, len(splits.work))
            for name, place in progress_bar(mine, "folds"):
                if not evaluations[name].is_gathered():
                    evaluations[name].finish(place)
    if request.share is not None:
        share, shares = request.share
        count = len(evaluations) * len(splits.work)
        print(f"{request.output}: {len(mine)} of {count} folds finished, share {share} of {shares}")
    elif not request.inner_only:
        _print_scores(finished, splits)


def _request(args: argparse.Namespace) -> Request:
    """Return the evaluation that the arguments ask for, with the methods of a study or of single options."""
    # imported here to keep --help fast
    from seqkern.evaluation.held_out import check_postprocessing
    from seqkern.study.plan import DatasetPlan
    from seqkern.study.solver_entries import MethodEntry

    kernel_name = args.kernel_name or (None if args.study is None else args.kernel)
    _check_division(args, kernel_name)
    check_postprocessing(args.calibration, args.threshold, args.layers)
    memory = args.memory
    if args.study is None:
        methods = _methods(args)
    else:
        study = read_study(args)
        names = {"": args.solver} if args.methods is None else {name: name for name in args.methods}
        job = "inner" if args.inner_only else "evaluate"
        place = job, dataset_name(args.dataset), args.kernel
        methods = {key: MethodEntry.parse(study.settings_of(*place, name)) for key, name in names.items()}
        memory = study.memory_limit
    costs = {} if args.plan is None else DatasetPlan.load(args.plan).methods.get(kernel_name or "", {})
    return Request(
        args.dataset,
        args.folds,
        methods,
        args.gram,
        args.pooled,
        args.inner_only,
        args.share,
        {name: cost.folds for name, cost in costs.items()},
        memory,
        args.threads,
        Path(args.output),
    )


def _methods(args: argparse.Namespace) -> dict[str, MethodEntry]:
    """Return the methods of single options by name; the name of ``--solver`` is empty."""
    # imported here to keep --help fast
    from seqkern.solvers.psvm.path import SignificanceTest
    from seqkern.study.solver_entries import MethodEntry

    settings = method_settings(args) | {"layers": args.layers, "selection_bias": args.selection_bias}
    if args.methods is None:
        return {"": MethodEntry.parse(settings | {"solver": args.solver, "significance": args.significance})}
    methods = {}
    for name, given in parse_methods(args.methods[0]).items():
        method = MethodEntry.parse(settings | given)
        tested = args.significance if SignificanceTest.suits(method.solver.specs) else None
        methods[name] = replace(method, significance=tested)
    return methods


def _check_division(args: argparse.Namespace, kernel_name: str | None) -> None:
    """Raise ParameterError for conflicting options of the division into shares."""
    if (args.solver is None) == (args.methods is None):
        raise ParameterError("give one solver", remedy="give --solver, or with --share several as --methods")
    if args.methods is not None and args.share is None:
        raise ParameterError("--methods works only with --share", remedy="gather each solver with --solver")
    if args.methods is not None and (args.pooled or args.layers):
        option = "--pooled" if args.pooled else "--layers"
        raise ParameterError(f"{option} belongs to one solver", remedy=f"give --solver, or remove {option}")
    if args.plan is not None and (args.methods is None or kernel_name is None):
        raise ParameterError(
            "--plan needs the names of kernel and solvers", remedy="add --kernel-name and --methods, or remove --plan"
        )


def _share(request: Request, share: tuple[int, int], count: int) -> list[tuple[str, int]]:
    """Return the solver and the index of the split for each fold of this share of `count` splits, split by split."""
    folds = [(name, place) for place in range(count) for name in request.methods]
    known = {name: seconds for name, seconds in request.seconds.items() if len(seconds) == count}
    return [folds[i] for i in assigned([known[name][place] if name in known else 1.0 for name, place in folds], *share)]


def _print_scores(finished: list[dict[str, Any]], splits: OuterSplits) -> None:
    """Print warnings about the folds, and the headline score of each task."""
    # imported here to keep --help fast
    from seqkern.evaluation.fold_tables import FoldResult

    results = [FoldResult(**row) for row in finished]
    for text in fold_remarks(results):
        print(f"seqkern: {text}", file=sys.stderr)
    for name in splits.fold_sets:
        print(headline([result for result in results if result.metrics["task"] == name], splits.labels(name), name))


# The evaluation of one method on the outer splits of a data set, which resumes after the finished folds.
#
# Finished folds are kept in the folder ``.finished`` of the output, so that a stopped job loses one fold at most, and
# several jobs can each compute a share of the folds. Modules needed only for computing are loaded only if a fold is
# missing. Only one job at a time computes a fold; the tables record the evaluation they belong to, so that a late share
# computes nothing.


class Evaluation:
    """The folds of one method."""

    def __init__(self, request: Request, splits: OuterSplits, chosen: MethodEntry, name: str) -> None:
        # imported here to keep --help fast
        from seqkern.methods.fitted import Search
        from seqkern.study.feasible import check_layers
        from seqkern.study.kernel_entries import AutoKernel, check_stored

        dataset, kernel, solver = splits.dataset, chosen.kernel, chosen.solver
        check_layers(solver.layers, dataset)
        # several methods share the matrices of those that take them
        self.grams = request.grams if solver.needs_gram or not name else []
        if self.grams:
            check_stored(dataset, request.dataset)
        self.request, self.splits, self.chosen = request, splits, chosen
        self.output = request.output / name
        self.entries: Sequence[KernelEntry] = kernel.candidates
        budget = None
        if isinstance(kernel, AutoKernel):
            real = any(task.labels.kind == "real" for task in dataset.tasks.values())
            sequences = cast("SequenceSet", dataset.X)
            self.entries = kernel.resolve(sequences, solver.input, real, solver.accepts_operator)
            budget = kernel.seconds / max(len(fold_set.splits) for fold_set in splits.fold_sets.values())
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
        self._table = self.output / (INNER if request.inner_only else "metrics.tsv")
        check_writable(self._table)
        self.done = Checkpoint(self.output / ".finished", self._identity)

    @property
    def _identity(self) -> str:
        """Text that identifies everything except labels and splits that the results depend on."""
        # imported here to keep --help fast
        from seqkern.gram.stored_matrix import stored_dtype

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
        # imported here to keep --help fast
        from seqkern.core.package_files import build_digest

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
        # imported here to keep --help fast
        from seqkern.methods.method import Method

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
        # imported here to keep --help fast
        from seqkern.methods.sources import FitData

        sources, dataset = self._sources(), self.splits.dataset
        return {
            task: FitData(self.splits.labels(task), sources, dataset.residues, dataset.tasks[task].unlabelled())
            for task in self.splits.fold_sets
        }

    def _sources(self) -> dict[str, Source]:
        """Return the sources of kernel values, such as the given Gram matrices, after a check that they fit into
        memory.
        """
        # imported here to keep --help fast
        from seqkern.gram.stored_matrix import open_gram

        X, given = self.splits.dataset.X, self.grams
        paths = iter(given)
        grams: dict[str, list[GramMatrix]] = {}
        for entry in self.entries:
            form = entry.kernel.stored_form() if given else None
            kernels = () if form is None else form.kernels
            grams[entry.name] = [open_gram(next(paths), X, kernel=one) for one in kernels]
        held = self.search.budget is not None and self.method.input == "gram"
        limit = self.request.memory if given or held else None  # features have no other form within a limit
        sources = self.method.sources(X, grams=grams, memory_limit=limit, n_threads=self.request.threads)
        for task, split in self.splits.work:
            with self.splits.naming(task, split):
                for source in sources.values():
                    source.check_memory(len(split.train), len(split.test))
        return sources

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Keep the finished folds while this job runs; the last job removes them once the tables are written."""
        # imported here to keep --help fast
        from seqkern.core.exclusive_files import FolderLock

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
        # imported here to keep --help fast
        from seqkern.core.exclusive_files import exclusive_folder

        with exclusive_folder(self.done.folder / f"fold-{place}", temporary=True):  # another job may compute it
            found = self.done.get(self.keys[place])
            if found is None:
                found = self._compute(place)
                self.done.put(self.keys[place], found)
        return found

    def _compute(self, place: int) -> Any:
        """Return the newly computed result of a fold."""
        # imported here to keep --help fast
        from seqkern.core.threads import given_threads
        from seqkern.methods.crossval import evaluate_fold

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
        # imported here to keep --help fast
        from seqkern.core.exclusive_files import exclusive_folder
        from seqkern.core.progress import write_cost
        from seqkern.evaluation.fold_tables import FoldResult, write_results
        from seqkern.evaluation.residue_results import write_residue_results

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
    forms = [kernel.stored_form() for kernel in kernels]
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
