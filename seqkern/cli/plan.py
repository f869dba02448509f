"""``seqkern plan``: the predicted cost of the jobs of a data set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from seqkern.cli.requests_studies import PlanRequest

if TYPE_CHECKING:
    from seqkern.study.plan import DatasetPlan
    from seqkern.study.study import Study

LONGEST_PATH = 1024


def run(args: PlanRequest) -> None:
    """Run ``seqkern plan``."""
    # imported here to keep --help fast
    from seqkern.core.archive import check_writable
    from seqkern.core.errors import unknown_name
    from seqkern.evaluation.folds import read_folds
    from seqkern.methods.plan_dataset import DatasetPlanner
    from seqkern.solvers.solver_specs import TAKES
    from seqkern.study.dataset import load_dataset

    study = _study(args.study)
    dataset = load_dataset(args.dataset)
    if dataset.name not in study.datasets:
        raise unknown_name("data set of the study", dataset.name, study.datasets)
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


def _study(given: str) -> Study:
    """Return the study given as a file or as JSON text."""
    # imported here to keep --help fast
    from seqkern.core.errors import ConfigError
    from seqkern.study.study import Study

    if not given.lstrip().startswith("{"):
        if len(given) > LONGEST_PATH or "\n" in given:
            raise ConfigError(
                f"--study is neither JSON nor the path of a file: {given[:40]!r}…",
                remedy="quote the argument in the shell, or name a YAML file",
            )
        return Study.load(given)
    try:
        config = json.loads(given)
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"--study is not JSON: {error}", remedy="quote the argument in the shell, or name a YAML file"
        ) from error
    return Study.parse(config)


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
