"""How good the predictions of ``seqkern plan`` are: against the costs that the jobs of a finished study measured.

    python benchmarks/plan_accuracy.py config/config.yaml results/demo

Or of the choice of a kernel by ``seqkern train``, whose arguments follow:

    python benchmarks/plan_accuracy.py train positive.fa negative.fa --time 1m

CPU seconds are those of the jobs' laps (cost.json) without imports; peaks are those of their processes, which
include the pages of stored matrices that they have read.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from statistics import median

from seqkern.cli.main import main as seqkern
from seqkern.core.progress import peak_mb
from seqkern.evaluation import read_folds
from seqkern.methods import method
from seqkern.methods.plan_dataset import DatasetPlanner
from seqkern.study import load_dataset
from seqkern.study.study import Study

START = 3.0
"""CPU seconds of the imports and of reading, in each plan."""


def measured(path: Path) -> tuple[float, float] | None:
    """Return CPU seconds and peak MB of a job; None if it has not run."""
    try:
        laps = json.loads(path.read_text())["laps"]
    except OSError:
        return None
    return sum(lap["cpu_seconds"] for lap in laps), max((lap["peak_mb"] for lap in laps), default=0.0)


def train(arguments: list[str]) -> None:
    """Train a model, and print a row for each choice of a kernel: predicted and spent CPU seconds."""
    rows, made, chosen = [], method.schedule, method.halve

    def schedule(n, work, budget):
        plan = made(n, work, budget)
        rows.append([n, f"{len(plan.work) - len(plan.left_out)}/{len(plan.work)}", budget, plan.seconds])
        return plan

    def halve(data, *given, **more):
        start = time.process_time()
        found = chosen(data, *given, **more)
        rows[-1] += [time.process_time() - start, len(data.labels.classes)]
        return found

    method.schedule, method.halve = schedule, halve
    code = seqkern(arguments)
    print(f"{'samples':>8}{'classes':>8}{'kernels':>9}{'budget':>9}{'CPU s predicted':>16}{'measured':>10}")
    for n, kernels, budget, predicted, spent, classes in rows:
        print(f"{n:>8}{classes:>8}{kernels:>9}{budget:>9.1f}{predicted:>16.1f}{spent:>10.1f}")
    print(f"exit code {code}; {time.process_time():.1f} CPU seconds in all; peak {peak_mb():.0f} MB")


def main() -> None:
    """Print a row for each job, and the quartiles of the ratios."""
    if sys.argv[1:2] == ["train"]:
        train(sys.argv[1:])
        return
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
            rows.append((f"{name} gram {gram}", cost.seconds - START, cost.bytes / 1e6, found))
        for kernel, solvers in plan.methods.items():
            for solver, planned in solvers.items():
                found = measured(args.results / "evaluate" / name / kernel / solver / "cost.json")
                rows.append((f"{name} {kernel} {solver}", planned.seconds - START, planned.bytes / 1e6, found))
    print(f"{'job':<44}{'CPU s predicted':>16}{'measured':>10}{'MB predicted':>14}{'measured':>10}")
    ratios, peaks = [], []
    for job, seconds, mb, found in rows:
        if found is None:
            continue
        print(f"{job:<44}{seconds:>16.2f}{found[0]:>10.2f}{mb:>14.0f}{found[1]:>10.0f}")
        ratios.append((seconds + START) / (found[0] + START))
        peaks.append(mb / found[1])
    for what, values in ("CPU seconds", ratios), ("peak", peaks):
        print(f"{what}: predicted / measured: median {median(values):.2f}, {min(values):.2f} to {max(values):.2f}")


if __name__ == "__main__":
    main()
