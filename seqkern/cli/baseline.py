"""``seqkern baseline``: reference methods and trivial baselines over all folds of a data set."""

from __future__ import annotations

from pathlib import Path

from seqkern.cli.requests_studies import BaselineRequest
from seqkern.core.archive import check_writable
from seqkern.core.exclusive_files import exclusive_folder
from seqkern.evaluation.fold_tables import write_baselines
from seqkern.evaluation.folds import read_folds
from seqkern.methods.baselines import left_out, run_baselines
from seqkern.study.dataset import load_dataset


def run(request: BaselineRequest) -> None:
    """Run ``seqkern baseline``."""
    dataset = load_dataset(request.dataset)
    fold_sets = {
        name: read_folds(Path(request.folds) / f"{name}.tsv", dataset.X.ids, task.labels, dataset.chains)
        for name, task in dataset.tasks.items()
    }
    output = Path(request.output)
    check_writable(output / "metrics.tsv")
    results = list(run_baselines(dataset, fold_sets))
    with exclusive_folder(output):
        write_baselines(output, results)
    names = ", ".join(dict.fromkeys(name for name, _ in results))
    print(f"{dataset.name}: {names or 'no baseline for unlabelled samples'} in {output}")
    reason = left_out(dataset, fold_sets)
    if reason is not None:
        print(f"{dataset.name}: no search by alignment: {reason}")
