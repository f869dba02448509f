"""What hyperparameters chosen on the test set would give: gapped k-mer kernels on ten SCOP families.

Nothing is chosen here as a study should choose; the numbers are optimistic, and stand beside those that others report.
For each family the best AUC and the best ROC50 on the test set, over (l, k), the C-SVM's cost and its class weights.

Run: ``SEQKERN_DATA=… python benchmarks/scop_best_on_test.py`` (about ten CPU minutes).
"""

from itertools import product

import numpy as np
from common import DATA

from seqkern.evaluation import roc_auc, roc_n
from seqkern.kernels import GappedKmerKernel
from seqkern.solvers import CSVC
from seqkern.study import make_dataset

FAMILIES = ("1.1", "1.34", "2.19", "2.31", "2.34", "2.41", "2.8", "3.19", "3.25", "3.33")
LENGTHS = ((5, 3), (6, 3), (6, 4), (7, 4), (7, 5), (8, 4), (8, 5), (9, 5), (10, 5), (10, 6), (12, 5), (12, 6))
COSTS = (0.1, 1, 10)
WEIGHTS = ("balanced", None)


def scores(family):
    """Return the AUC and ROC50 on the test set for each combination, float64 (combinations, 2)."""
    entry = {"public": f"scop_family_{family}", "unknown": "mask", "ids": "number"}
    dataset = make_dataset(family, entry, data_dir=DATA)
    task = dataset.task()
    train, test = (np.flatnonzero(task.split == part) for part in ("train", "test"))
    y = task.labels.signs()
    found = []
    for length, k in LENGTHS:
        kernel = GappedKmerKernel(length, k, short="zero", zero_diagonal="zero")
        K = kernel(dataset.X, dataset.X.take(train))
        for C, weight in product(COSTS, WEIGHTS):
            decisions = CSVC(C=C, class_weight=weight).fit(K[train], y[train]).decision_function(K[test])
            found.append((roc_auc(y[test] > 0, decisions), roc_n(y[test] > 0, decisions, 50)))
    return np.array(found)


if __name__ == "__main__":
    best = []
    for family in FAMILIES:
        best.append(scores(family).max(axis=0))
        print(f"| {family} | {best[-1][0]:.3f} | {best[-1][1]:.3f} |", flush=True)
    print("| mean | {:.3f} | {:.3f} |".format(*np.mean(best, axis=0)))
