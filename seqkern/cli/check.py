"""``seqkern check``: a check that every training set suits its solver, before any kernel is computed."""

from __future__ import annotations

import json
from pathlib import Path

from seqkern.cli.common import dataset_name, read_study
from seqkern.cli.requests_studies import CheckRequest
from seqkern.core.errors import ParameterError
from seqkern.evaluation.folds import read_folds
from seqkern.evaluation.selection import WITH_GROUPS, check_bound
from seqkern.solvers.costs import BOUNDS
from seqkern.study.dataset import load_dataset
from seqkern.study.feasible import check_labels_kind, check_layers, check_training_part
from seqkern.study.solver_entries import CheckedSolver


def run(request: CheckRequest) -> None:
    """Check the labels of every training set against every solver."""
    if request.study is None:
        methods = _parsed(request.methods)
    else:
        name = dataset_name(request.dataset)
        methods = read_study(request).planned(name).checked_solvers(name)
    parts = _check(request, methods) if methods else 0
    for line in _remarks(request, methods):
        print(line)
    print(f"solvers: {len(methods)}, training sets: {parts}; all suitable")


def _parsed(text: str) -> dict[str, CheckedSolver]:
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


def _remarks(request: CheckRequest, methods: dict[str, CheckedSolver]) -> list[str]:
    """Return remarks on an inner metric that ignores the groups of a data set."""
    bounds = sorted({method.metric for method in methods.values() if method.metric in BOUNDS})
    if not bounds:
        return []
    dataset = load_dataset(request.dataset)
    read = (
        read_folds(Path(request.folds) / f"{task.name}.tsv", dataset.X.ids, task.labels, dataset.chains)
        for task in dataset.tasks.values()
    )
    grouped = any(folds.groups is not None for folds in read)
    return [f"inner metric {name!r} {WITH_GROUPS}" for name in bounds if grouped]


def _check(request: CheckRequest, methods: dict[str, CheckedSolver]) -> int:
    """Check the training sets, and return their number."""
    dataset = load_dataset(request.dataset)
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
