"""``seqkern check``, ``plan`` and ``baseline``: jobs of the workflow on a data set and its folds.

A check that every training set suits its solver, before any kernel is computed; the predicted cost of the other jobs;
reference methods and trivial baselines.
"""

from __future__ import annotations

import json
from pathlib import Path

from seqkern.cli.common import dataset_name, read_study
from seqkern.cli.requests_studies import BaselineRequest, CheckRequest, OfFolds, PlanRequest
from seqkern.core.archive import check_writable
from seqkern.core.errors import ParameterError
from seqkern.core.exclusive_files import exclusive_folder
from seqkern.core.memory import format_bytes
from seqkern.evaluation.fold_tables import write_baselines
from seqkern.evaluation.folds import FoldSet, read_folds
from seqkern.evaluation.selection import WITH_GROUPS, check_bound
from seqkern.methods.baselines import left_out, run_baselines
from seqkern.solvers.costs import BOUNDS
from seqkern.solvers.solver_specs import TAKES
from seqkern.study.dataset import Dataset, load_dataset
from seqkern.study.feasible import check_labels_kind, check_layers, check_training_part
from seqkern.study.plan import DatasetPlan
from seqkern.study.solver_entries import CheckedSolver


def _read_all_folds(request: OfFolds, dataset: Dataset) -> dict[str, FoldSet]:
    """Return the folds of each task of a data set."""
    return {
        name: read_folds(Path(request.folds) / f"{name}.tsv", dataset.X.ids, task.labels, dataset.chains)
        for name, task in dataset.tasks.items()
    }


def run_check(request: CheckRequest) -> None:
    """Check the labels of every training set against every solver."""
    if request.study is None:
        methods = parse_checked(request.methods)
    else:
        name = dataset_name(request.dataset)
        methods = read_study(request).planned(name).checked_solvers(name)
    dataset = load_dataset(request.dataset)
    parts = _check_training_sets(request, dataset, methods) if methods else 0
    bounds = sorted({method.metric for method in methods.values() if method.metric in BOUNDS})
    grouped = bounds and any(folds.groups is not None for folds in _read_all_folds(request, dataset).values())
    for name in bounds if grouped else ():
        print(f"inner metric {name!r} {WITH_GROUPS}")
    print(f"solvers: {len(methods)}, training sets: {parts}; all suitable")


def parse_checked(text: str) -> dict[str, CheckedSolver]:
    """Return the CheckedSolvers described by a text, by name."""
    try:
        methods = json.loads(text)
        good = all(isinstance(method["solver"], (dict, str)) for method in methods.values())
        good = good and all(isinstance(method.get("layers", []), list) for method in methods.values())
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        good = False
    if not good:
        raise ParameterError(
            f"--methods {text!r} is not possible", remedy='write it like {"name": {"solver": {"solver": "nusvc"}}}'
        )
    return {name: CheckedSolver.parse(method, name) for name, method in methods.items()}


def _check_training_sets(request: CheckRequest, dataset: Dataset, methods: dict[str, CheckedSolver]) -> int:
    """Check the training sets, and return their number."""
    refusing = {name: method for name, method in methods.items() if method.solver.refuses_labels}
    for name, method in methods.items():
        try:
            check_layers(method.solver.layers, dataset)
        except ParameterError as error:
            error.file, error.problem = request.dataset, f"solver {name!r}: {error.problem}"
            raise
    parts = 0
    for task in dataset.tasks.values():
        for name, method in methods.items():
            try:
                check_labels_kind(task.labels, method.solver.specs)
                check_bound(method.metric, task.labels.kind, method.solver.specs, task.labels.classes)
            except ParameterError as error:
                error.file, error.problem = request.dataset, f"solver {name!r} on task {task.name!r}: {error.problem}"
                raise
        file = Path(request.folds) / f"{task.name}.tsv"
        fold_set = read_folds(file, dataset.X.ids, task.labels, dataset.chains)
        labels = fold_set.inner_labels(task.labels)
        for split in fold_set:
            parts += 1
            for name, method in refusing.items():
                try:
                    check_training_part(
                        labels.take(split.train),
                        method.solver.specs,
                        inner_folds=method.inner_folds,
                        seed=method.seed,
                        place=f"split {split.name!r}",
                    )
                except ParameterError as error:
                    error.file, error.problem = file, f"solver {name!r} in {error.problem}"
                    raise
    return parts


def run_plan(request: PlanRequest) -> None:
    """Print the predicted cost of the jobs of a data set."""
    # imported here: the other verbs need no planner
    from seqkern.methods.plan_dataset import DatasetPlanner

    dataset = load_dataset(request.dataset)
    study = read_study(request).planned(dataset.name)
    if request.output:
        check_writable(request.output)
    plan = DatasetPlanner(study, dataset, _read_all_folds(request, dataset)).plan()
    if request.output:
        plan.write(request.output)
    print("\n".join(plan_table(plan)))
    for kernel, solver in study.unsuitable(dataset.name):
        takes = TAKES[study.solvers[solver].input]
        print(f"not run: {kernel} {solver}: {solver} takes {takes}, which {kernel} does not have")


def plan_table(plan: DatasetPlan) -> list[str]:
    """Return the lines of a table of a plan."""
    rows = [("job", "CPU seconds", "longest fold", "memory")]
    for name, cost in plan.grams.items():
        rows.append((f"gram {name}", f"{cost.seconds:.1f}", "-", format_bytes(cost.bytes)))
    for kernel, solvers in plan.methods.items():
        for solver, method in solvers.items():
            name, longest = f"{kernel} {solver}", f"{max(method.folds, default=0.0):.1f}"
            if method.inner:
                rows.append(
                    (f"inner {name}", f"{method.once + sum(method.inner):.1f}", "-", format_bytes(method.bytes))
                )
            rows.append((f"evaluate {name}", f"{method.seconds:.1f}", longest, format_bytes(method.bytes)))
    width = max(len(row[0]) for row in rows)
    return [
        f"{first:<{width}}" + "".join(f"{cell:>{w}}" for cell, w in zip(rest, (14, 16, 12), strict=True))
        for first, *rest in rows
    ]


def run_baseline(request: BaselineRequest) -> None:
    """Run reference methods and trivial baselines over all folds of a data set."""
    dataset = load_dataset(request.dataset)
    fold_sets, output = _read_all_folds(request, dataset), Path(request.output)
    check_writable(output / "metrics.tsv")
    results = list(run_baselines(dataset, fold_sets))
    with exclusive_folder(output):
        write_baselines(output, results)
    names = ", ".join(dict.fromkeys(name for name, _ in results))
    print(f"{dataset.name}: {names or 'no baseline for unlabelled samples'} in {output}")
    reason = left_out(dataset, fold_sets)
    if reason is not None:
        print(f"{dataset.name}: no search by alignment: {reason}")
