"""``seqkern plan``: the predicted cost of the jobs of a data set."""

from __future__ import annotations

from pathlib import Path

from seqkern.cli.common import read_study
from seqkern.cli.requests_studies import PlanRequest
from seqkern.core.archive import check_writable
from seqkern.core.memory import format_bytes
from seqkern.evaluation.folds import read_folds
from seqkern.methods.plan_dataset import DatasetPlanner
from seqkern.solvers.solver_specs import TAKES
from seqkern.study.dataset import load_dataset
from seqkern.study.plan import DatasetPlan


def run(request: PlanRequest) -> None:
    """Run ``seqkern plan``."""
    dataset = load_dataset(request.dataset)
    study = read_study(request).planned(dataset.name)
    if request.output:
        check_writable(request.output)
    fold_sets = {
        name: read_folds(Path(request.folds) / f"{name}.tsv", dataset.X.ids, task.labels, dataset.chains)
        for name, task in dataset.tasks.items()
    }
    plan = DatasetPlanner(study, dataset, fold_sets).plan()
    if request.output:
        plan.write(request.output)
    print("\n".join(table(plan)))
    for kernel, solver in study.unsuitable(dataset.name):
        takes = TAKES[study.solvers[solver].input]
        print(f"not run: {kernel} {solver}: {solver} takes {takes}, which {kernel} does not have")


def table(plan: DatasetPlan) -> list[str]:
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
