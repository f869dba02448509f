"""Kernels of a study compared on its training and development parts alone: five folds of each, as a Markdown table.

    python benchmarks/inner_folds.py config/gue_mouse.yaml --kernels gapped gkm10 gkm11 smooth --sets mouse_3

For each data set, the mean over its tasks and folds of AUC and MCC, by a C-SVM of one C. The threshold of the MCC is
the best one on a ninth of the training samples, by a classifier fitted to the others. The data sets and their splits
are read from ``results/``: run the study as far as its folds first.
"""

import argparse
from pathlib import Path

import numpy as np
from benchmark_table import Result
from common import start_table

from seqkern.evaluation.metrics import matthews_correlation
from seqkern.evaluation.ranking import roc_auc
from seqkern.sequences.sampling import deal
from seqkern.solvers import make_solver
from seqkern.solvers.thresholds import Threshold
from seqkern.study import Study

FOLDS, NINTH = 5, 9


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path, help="configuration of the study")
    parser.add_argument("--kernels", nargs="+", required=True, help="names of its kernels")
    parser.add_argument("--sets", nargs="+", help="data sets (default: all)")
    parser.add_argument("-C", type=float, default=3.0, help="of the C-SVM (default: 3)")
    args = parser.parse_args()
    study = Study.load(args.study)
    row = start_table("set", "kernel", "AUC", "MCC")
    for name in args.sets or list(study.datasets):
        data, folds = Result(study, Path("results") / study.name, name, "", "").load()
        for kernel in args.kernels:
            found = []
            for task, foldset in folds.items():
                rows = foldset.splits[0].train
                K = study.kernels[kernel].kernel(data.X.take(rows))
                found += scores_of_folds(np.asarray(K), data.tasks[task].labels.y[rows], args.C)
            row(name, kernel, *(f"{score:.4f}" for score in np.mean(found, axis=0)))


def scores_of_folds(K: np.ndarray, y: np.ndarray, C: float) -> list[tuple[float, float]]:
    """Return AUC and MCC of each fold of a kernel matrix."""

    def decisions(train: np.ndarray, test: np.ndarray) -> np.ndarray:
        solver = make_solver({"solver": "csvc", "C": C}, "binary").fit(
            K[np.ix_(train, train)], np.where(y[train], 1.0, -1.0)
        )
        return solver.decision_function(K[np.ix_(test, train)])

    fold = deal(y, FOLDS, 1)
    found = []
    for f in range(FOLDS):
        train, test = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        ninth = deal(y[train], NINTH, f) == 0
        held = decisions(train[~ninth], train[ninth])
        cut = Threshold.fit(held, y[train][ninth] > 0, "mcc").value
        own = decisions(train, test)
        found.append((roc_auc(y[test], own), matthews_correlation(y[test], own > cut)))
    return found


if __name__ == "__main__":
    main()
