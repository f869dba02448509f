"""``seqkern check``: a check that every training set suits its solver, before any kernel is computed."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from seqkern.cli.common import add_study, dataset_name, read_study
from seqkern.core.errors import ParameterError

if TYPE_CHECKING:
    from seqkern.study.solver_entries import CheckedSolver

EXAMPLE = (
    "seqkern check results/demo/datasets/donors --folds results/demo/folds/donors"
    ' --methods \'{"nu": {"solver": {"solver": "nusvc", "nu": [0.1, 0.2]}, "inner_folds": 3}}\''
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("dataset", help="folder that seqkern datasets wrote")
    parser.add_argument("--folds", required=True, help="folder that seqkern folds wrote")
    add_study(parser, {"methods": None})
    parser.add_argument(
        "--methods",
        required=True,
        help="solvers by name, as JSON: each with its specification, the layers after it, the number of inner folds "
        "(default: 3; 0 for none) and their seed (default: 1): "
        '{"name": {"solver": {"solver": "nusvc", "nu": 0.2}, "inner_folds": 3, "seed": 1}}',
    )


def run(args: argparse.Namespace) -> None:
    """Check the labels of every training set against every solver."""
    if args.study is None:
        methods = _parsed(args.methods)
    else:
        name = dataset_name(args.dataset)
        methods = read_study(args).planned(name).checked_solvers(name)
    parts = _check(args, methods) if methods else 0
    for line in _remarks(args, methods):
        print(line)
    print(f"solvers: {len(methods)}, training sets: {parts}; all suitable")


def _parsed(text: str) -> dict[str, CheckedSolver]:
    """Return the CheckedSolvers described by a text, by name."""
    # imported here for fast start-up
    from seqkern.study.solver_entries import CheckedSolver

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


def _remarks(args: argparse.Namespace, methods: dict[str, CheckedSolver]) -> list[str]:
    """Return remarks on an inner metric that ignores the groups of a data set."""
    # imported here to keep --help fast
    from seqkern.evaluation.folds import read_folds
    from seqkern.evaluation.selection import WITH_GROUPS
    from seqkern.solvers.costs import BOUNDS
    from seqkern.study.dataset import load_dataset

    bounds = sorted({method.metric for method in methods.values() if method.metric in BOUNDS})
    if not bounds:
        return []
    dataset = load_dataset(args.dataset)
    read = (
        read_folds(Path(args.folds) / f"{task.name}.tsv", dataset.X.ids, task.labels, dataset.chains)
        for task in dataset.tasks.values()
    )
    grouped = any(folds.groups is not None for folds in read)
    return [f"inner metric {name!r} {WITH_GROUPS}" for name in bounds if grouped]


def _check(args: argparse.Namespace, methods: dict[str, CheckedSolver]) -> int:
    """Check the training sets, and return their number."""
    # imported here to keep --help fast
    from seqkern.evaluation.folds import read_folds
    from seqkern.evaluation.selection import check_bound
    from seqkern.study.dataset import load_dataset
    from seqkern.study.feasible import check_labels_kind, check_layers, check_training_part

    dataset = load_dataset(args.dataset)
    refusing = {name: method for name, method in methods.items() if method.solver.refuses_labels}
    for name, method in methods.items():
        try:
            check_layers(method.solver.layers, dataset)
        except ParameterError as error:
            error.file, error.problem = args.dataset, f"solver {name!r}: {error.problem}"
            raise
    parts = 0
    for task in dataset.tasks.values():
        for name, method in methods.items():
            try:
                check_labels_kind(task.labels, method.solver.specs)
                check_bound(method.metric, task.labels.kind, method.solver.specs, task.labels.classes)
            except ParameterError as error:
                error.file, error.problem = args.dataset, f"solver {name!r} on task {task.name!r}: {error.problem}"
                raise
        file = Path(args.folds) / f"{task.name}.tsv"
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
