"""``seqkern evaluate``: one method on all folds of a data set."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from seqkern.cli.common import add_afterwards, add_inner_loop, add_layers, add_threads
from seqkern.cli.fold_remarks import fold_remarks, headline
from seqkern.cli.pooled import INNER, InnerLoops, add_pooled, check_pooled
from seqkern.core.archive import canonical_json, check_writable
from seqkern.core.checkpoint import Checkpoint
from seqkern.core.errors import FoldError, GramError, LabelError, ParameterError, SequenceError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from seqkern.datasets import Dataset, Task
    from seqkern.folds import FoldSet, Split
    from seqkern.gram import GramMatrix
    from seqkern.kernels.kernel import Kernel
    from seqkern.models.method import Method
    from seqkern.models.sources import Source
    from seqkern.sequences.labels import Labels
    from seqkern.sequences.sequence_set import SequenceSet
    from seqkern.study.kernel_entries import KernelEntry
    from seqkern.study.solver_entries import SolverEntry

EXAMPLE = (
    "seqkern evaluate results/demo/datasets/donors --folds results/demo/folds/donors"
    " --kernel spectrum:k=3 --solver csvc:C=1 -o results/demo/evaluate/donors/spectrum3/csvc"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``seqkern evaluate``.

    Parameters
    ----------
    parser : ArgumentParser
        The parser of this verb.
    """
    parser.add_argument("dataset", help="folder that seqkern datasets wrote")
    parser.add_argument("--folds", required=True, help="folder that seqkern folds wrote")
    parser.add_argument(
        "--kernel",
        required=True,
        help="kernel, such as spectrum:k=3, or as JSON; or several, of which the inner loop chooses one: "
        '{"choose": [{"name": "three", "kernel": "spectrum", "k": 3}, ...]}',
    )
    parser.add_argument(
        "--gram",
        nargs="+",
        default=[],
        help="Gram matrix over all samples for each kernel that has one, in order: the kernel's own if it is not "
        "fitted to data; for kernel pairwise that of its base kernel; for kernel combination those of its parts",
    )
    parser.add_argument(
        "--solver", required=True, help="solver, such as csvc:C=[0.1,1,10] (a list of values is a grid), or as JSON"
    )
    add_inner_loop(parser)
    add_pooled(parser)
    add_afterwards(parser)
    add_layers(parser)
    parser.add_argument("--seed", type=int, default=1, help="seed of the inner folds (default: 1)")
    parser.add_argument(
        "--selection-bias",
        action="store_true",
        help="also report the inflated scores that result from selecting features on the test data "
        "(selection_bias.tsv)",
    )
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        help="memory limit, such as 2GB, above which csvc reads a stored Gram matrix by rows (default: half of "
        "the free memory)",
    )
    add_threads(parser)
    parser.add_argument("-o", "--output", required=True, help="folder for the tables")


def run(args: argparse.Namespace) -> None:
    """Run ``seqkern evaluate``.

    Parameters
    ----------
    args : Namespace
        The parsed arguments of `add_arguments`.
    """
    # imported here to keep --help fast
    from seqkern.core.progress import progress_bar
    from seqkern.core.threads import given_threads
    from seqkern.datasets import load_dataset
    from seqkern.evaluation.fold_tables import FoldResult, write_results
    from seqkern.evaluation.held_out import check_afterwards
    from seqkern.evaluation.residue_results import write_residue_results
    from seqkern.folds import read_folds
    from seqkern.kernels import check_kind
    from seqkern.models.crossval import evaluate_fold
    from seqkern.models.data import Data
    from seqkern.study.auto_kernel import AutoKernel
    from seqkern.study.feasible import check_layers
    from seqkern.study.reading import read_kernel
    from seqkern.study.solver_entries import SolverEntry

    check_afterwards(args.calibration, args.threshold, args.layers)
    dataset = load_dataset(args.dataset)
    solver = SolverEntry.parse(args.solver, layers=args.layers, ranges=args.inner_draws is not None)
    check_layers(solver.layers, dataset)
    kernel = read_kernel(args.kernel)
    for entry in kernel.candidates:
        check_kind(entry.kernel, dataset.kind, file=args.dataset)
    files = {name: Path(args.folds) / f"{name}.tsv" for name in dataset.tasks}
    fold_sets = {
        name: read_folds(files[name], dataset.X.ids, task.labels, dataset.chains)
        for name, task in dataset.tasks.items()
    }
    entries: Sequence[KernelEntry] = kernel.candidates
    budget = None
    if isinstance(kernel, AutoKernel):
        real = any(task.labels.kind == "real" for task in dataset.tasks.values())
        entries = kernel.resolve(cast("SequenceSet", dataset.X), solver.input, real, solver.accepts_operator)
        budget = kernel.seconds / max(len(fold_set.splits) for fold_set in fold_sets.values())
    method = evaluated_method(args, entries, solver, dataset.kind, budget)
    check_pooled(args, method)
    sources = kernel_sources(method, dataset, args)
    work = [(name, split) for name, fold_set in fold_sets.items() for split in fold_set.splits]
    for name, split in work:
        groups = fold_sets[name].groups
        with _naming_split(args.dataset, files[name], split):
            method.check(
                dataset.tasks[name].labels.take(split.train),
                groups=None if groups is None else groups[split.train],
                place=f"split {split.name!r}",
            )
            for source in sources.values():
                source.check_room(len(split.train), len(split.test))
    output = Path(args.output)
    check_writable(output / (INNER if args.inner_only else "metrics.tsv"))
    options = {"selection_bias": args.selection_bias}
    identity = _identity(method, entries, dataset, options | {"inner_only": args.inner_only})
    done = Checkpoint(output / ".finished", identity)
    data = {
        name: Data(_grouped(dataset.tasks[name].labels, fold_set.groups), sources, dataset.residues)
        for name, fold_set in fold_sets.items()
    }
    learned_from = {name: _learned_from(dataset.tasks[name], fold_set) for name, fold_set in fold_sets.items()}
    keys = [
        canonical_json([name, split.name, split.train.tolist(), split.test.tolist(), learned_from[name]])
        for name, split in work
    ]
    inner = InnerLoops(method, dataset, _inner_identity(method, entries, dataset))
    choices = inner.pooled(args.pooled, keys) if args.pooled else {}
    results = []
    for (name, split), key in progress_bar(list(zip(work, keys, strict=True)), "folds"):
        with _naming_split(args.dataset, files[name], split), given_threads(args.threads):
            if args.inner_only:
                inner.run(data[name], name, split, key, done)
                continue
            choice = choices.get(key)
            chosen = key if choice is None else canonical_json([key, choice.place, choice.tasks, choice.mean_rank])
            row = done.get(chosen)
            if row is None:
                row = asdict(evaluate_fold(method, data[name], split, task=name, choice=choice, **options))
                done.put(chosen, row)
        results.append(FoldResult(**row))
    if args.inner_only:
        inner.write(output, keys, done)
        done.clear()
        return
    write_results(output, results)
    if dataset.residues is not None:
        write_residue_results(output, dataset, results)
    done.clear()
    for text in fold_remarks(results):
        print(f"seqkern: {text}", file=sys.stderr)
    for name, one in data.items():
        print(headline([result for result in results if result.metrics["task"] == name], one.labels, name))


def _learned_from(task: Task, fold_set: FoldSet) -> list[str | None]:
    """Return what a task's results depend on besides data and splits: labels, and groups of the inner folds."""
    groups = fold_set.groups
    return [task.labels.digest(), None if groups is None else blake2b(groups.tobytes()).hexdigest()]


@contextlib.contextmanager
def _naming_split(dataset: str, folds: Path, split: Split) -> Iterator[None]:
    """Add the fold file and the split to errors about labels and folds, the data set to those about samples."""
    try:
        yield
    except (LabelError, FoldError) as error:
        if error.file is None:
            error.file, error.problem = folds, f"split {split.name!r}: {error.problem}"
        raise
    except (SequenceError, GramError) as error:
        if error.file is None:
            error.file = dataset
        raise


def _grouped(labels: Labels, groups: npt.NDArray[np.int64] | None) -> Labels:
    """Return labels with the groups of the folds, if any."""
    return labels if groups is None else replace(labels, groups=groups)


def _identity(method: Method, entries: Sequence[KernelEntry], dataset: Dataset, options: dict[str, Any]) -> str:
    """Return what the results depend on besides labels and splits, as text."""
    how = {"calibration": method.calibration, "threshold": method.threshold, "layers": method.layers}
    return canonical_json([_inner_identity(method, entries, dataset), how | options])


def _inner_identity(method: Method, entries: Sequence[KernelEntry], dataset: Dataset) -> str:
    """Return what inner loops depend on besides labels and splits, as text."""
    # imported here to keep --help fast
    from seqkern.core.build import build_digest

    kernels = [[entry.name, entry.kernel.identity(), entry.transform_specs] for entry in entries]
    made = [build_digest(), dataset.X.digest(), *kernels]
    return canonical_json([made, method.candidates, asdict(method.search)])


def evaluated_method(
    args: argparse.Namespace,
    entries: Sequence[KernelEntry],
    solver: SolverEntry,
    kind: str,
    budget: float | None = None,
) -> Method:
    """Return the method described by the arguments.

    Parameters
    ----------
    args : Namespace
        The parsed arguments of `add_arguments`.
    entries : sequence of KernelEntry
        The kernels of which the inner loop chooses one.
    solver : SolverEntry
        The solver, its grid and layers.
    kind : str
        The kind of samples, one of `seqkern.datasets.KINDS`.
    budget : float, optional
        As for `seqkern.models.search.Search`.

    Returns
    -------
    Method

    Raises
    ------
    ParameterError
        If a kernel does not accept this kind of data.
    """
    # imported here to keep --help fast
    from seqkern.kernels import check_kind
    from seqkern.models.method import Method
    from seqkern.models.search import Search

    for entry in entries:
        check_kind(entry.kernel, kind, file=args.dataset)
    return Method(
        {entry.name: entry.kernel for entry in entries},
        solver.candidates([entry.name for entry in entries], args.inner_draws, args.seed),
        transforms={entry.name: entry.transforms for entry in entries},
        layers=solver.layers.specs(),
        calibration=args.calibration,
        threshold=args.threshold,
        search=Search(
            args.inner_folds,
            args.inner_metric,
            args.seed,
            args.inner_rule,
            budget=budget,
            clusters=args.inner_clusters,
        ),
    )


def kernel_sources(method: Method, dataset: Dataset, args: argparse.Namespace) -> dict[str, Source]:
    """Return the source of kernel values: the given Gram matrices for kernels that can be stored.

    Parameters
    ----------
    method : Method
        The kernels and the solvers.
    dataset : Dataset
        The samples.
    args : Namespace
        With ``gram``, ``dataset``, ``memory`` and ``threads``.

    Returns
    -------
    dict of str to Source
        Sources by kernel name.

    Raises
    ------
    ParameterError, GramError
        If the Gram matrices do not match the kernels.
    """
    # imported here to keep --help fast
    from seqkern.gram import open_gram
    from seqkern.study.stored_grams import check_stored

    kernels = cast("dict[str, Kernel]", method.kernels)  # a method from the command line has kernels
    _check_grams(args.gram, list(kernels.values()), method.input)
    if args.gram:
        check_stored(dataset, args.dataset)
    paths = iter(args.gram)
    grams: dict[str, list[GramMatrix]] = {}
    for name, kernel in kernels.items():
        form = kernel.stored_form() if args.gram else None
        grams[name] = [open_gram(next(paths), dataset.X, kernel=one) for one in (() if form is None else form.kernels)]
    return method.sources(dataset.X, grams=grams, memory_limit=args.memory, n_threads=args.threads)


def _check_grams(grams: Sequence[str], kernels: Sequence[Kernel], wanted: str) -> None:
    """Raise ParameterError unless there is no Gram matrix, or one for each kernel that can be stored."""
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
