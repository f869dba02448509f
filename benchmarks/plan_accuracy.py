"""How good the predictions of ``seqkern plan`` are: against the costs that the jobs of a finished study measured.

    python benchmarks/plan_accuracy.py config/config.yaml results/demo

CPU seconds are those of the jobs' laps (cost.json) without imports; peaks are those of their processes, which
include the pages of stored matrices that they have read.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import median

from seqkern.evaluation import read_folds
from seqkern.methods.plan_dataset import START_SECONDS, DatasetPlanner
from seqkern.study import load_dataset
from seqkern.study.study import Study


def measured(path: Path) -> tuple[float, float] | None:
    """Return CPU seconds and peak MB of a job; None if it has not run."""
    try:
        laps = json.loads(path.read_text())["laps"]
    except OSError:
        return None
    return sum(lap["cpu_seconds"] for lap in laps), max((lap["peak_mb"] for lap in laps), default=0.0)


def main() -> None:
    """Print a row for each job, and the quartiles of the ratios."""
    parser = argparse.ArgumentParser()
    parser.add_argument("study")
    parser.add_argument("results", type=Path)
    args = parser.parse_args()
    study = Study.load(args.study)
    rows = []
    for name in study.datasets:
        if not (args.results / "datasets" / name / "data.npz").is_file():
            continue
        dataset = load_dataset(args.results / "datasets" / name)
        folds = {
            task: read_folds(args.results / "folds" / name / f"{task}.tsv", dataset.X.ids, one.labels, dataset.chains)
            for task, one in dataset.tasks.items()
        }
        plan = DatasetPlanner(study, dataset, folds).plan()
        for gram, cost in plan.grams.items():
            found = measured(args.results / "gram" / name / gram / "cost.json")
            rows.append((f"{name} gram {gram}", cost.seconds - START_SECONDS, cost.bytes / 1e6, found))
        for kernel, solvers in plan.methods.items():
            for solver, method in solvers.items():
                found = measured(args.results / "evaluate" / name / kernel / solver / "cost.json")
                rows.append((f"{name} {kernel} {solver}", method.seconds - START_SECONDS, method.bytes / 1e6, found))
    print(f"{'job':<44}{'CPU s predicted':>16}{'measured':>10}{'MB predicted':>14}{'measured':>10}")
    ratios, peaks = [], []
    for job, seconds, mb, found in rows:
        if found is None:
            continue
        print(f"{job:<44}{seconds:>16.2f}{found[0]:>10.2f}{mb:>14.0f}{found[1]:>10.0f}")
        ratios.append((seconds + START_SECONDS) / (found[0] + START_SECONDS))
        peaks.append(mb / found[1])
    for what, values in ("CPU seconds", ratios), ("peak", peaks):
        print(f"{what}: predicted / measured: median {median(values):.2f}, {min(values):.2f} to {max(values):.2f}")


if __name__ == "__main__":
    main()
