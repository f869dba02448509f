"""``seqkern plan``: the predicted cost of the jobs of a data set."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from seqkern.cli.common import add_study, read_study

if TYPE_CHECKING:
    from seqkern.study.plan import DatasetPlan

EXAMPLE = (
    "seqkern plan results/demo/datasets/donors --folds results/demo/folds/donors"
    " --study config/config.yaml -o plan.json"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``seqkern plan``."""
    parser.add_argument("dataset", help="folder that seqkern datasets wrote, named like the data set in the study")
    parser.add_argument("--folds", required=True, help="folder that seqkern folds wrote")
    add_study(parser, {}, "; or the configuration as JSON", required=True)
    parser.add_argument("-o", "--output", help="file to write, plan.json (default: the table only)")


def run(args: argparse.Namespace) -> None:
    """Run ``seqkern plan``."""
    # imported here to keep --help fast
    from seqkern.core.archive import check_writable
    from seqkern.evaluation.folds import read_folds
    from seqkern.methods.plan_dataset import DatasetPlanner
    from seqkern.solvers.solver_specs import TAKES
    from seqkern.study.dataset import load_dataset

    dataset = load_dataset(args.dataset)
    study = read_study(args).planned(dataset.name)
    if args.output:
        check_writable(args.output)
    fold_sets = {
        name: read_folds(Path(args.folds) / f"{name}.tsv", dataset.X.ids, task.labels, dataset.chains)
        for name, task in dataset.tasks.items()
    }
    plan = DatasetPlanner(study, dataset, fold_sets).plan()
    if args.output:
        plan.write(args.output)
    print("\n".join(table(plan)))
    for kernel, solver in study.unsuitable(dataset.name):
        takes = TAKES[study.solvers[solver].input]
        print(f"not run: {kernel} {solver}: {solver} takes {takes}, which {kernel} does not have")


def table(plan: DatasetPlan) -> list[str]:
    """Return the lines of a table of a plan."""
    # imported here to keep --help fast
    from seqkern.core.memory import format_bytes

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
