"""The pair HMM kernel beside local alignment on three SCOP families: AUC and ROC50 on the given test sets.

Logarithms of both kernels go through the empirical kernel map; the C-SVM's cost (0.1, 1, 10) is chosen by three inner
folds of the training set. Chance is an AUC of 0.5.

Run: ``SEQKERN_DATA=… python benchmarks/scop_pair_hmm.py`` (about four CPU minutes).
"""

import time

import numpy as np
from common import DATA
from sklearn.model_selection import StratifiedKFold

from seqkern.evaluation import roc_auc, roc_n
from seqkern.gram.transforms import EmpiricalMapGram
from seqkern.kernels import build_kernel
from seqkern.solvers import CSVC
from seqkern.study import make_dataset

FAMILIES = ("2.19", "2.41", "2.8")  # three of the smallest training sets
COSTS = (0.1, 1, 10)
KERNELS = {
    "local_alignment": "local_alignment:beta=0.5,normalize=true,zero_diagonal=zero",
    "pair_hmm": "pair_hmm",
    "pair_hmm, gaps=fit": "pair_hmm:gaps=fit",
    "pair_hmm, normalize": "pair_hmm:normalize=true,zero_diagonal=zero",
    "pair_hmm, normalize, gaps=fit": "pair_hmm:normalize=true,zero_diagonal=zero,gaps=fit",
    "pair_hmm, logarithm=false": "pair_hmm:logarithm=false,normalize=true",
}


def decisions(K, y, test, cost):
    """Return decisions for rows of a test set, by a C-SVM on a training square."""
    return CSVC(C=cost, class_weight="balanced").fit(K, y).decision_function(test)


def chosen_cost(K, y):
    """Return the cost with the best mean AUC over three inner folds."""
    means = []
    for cost in COSTS:
        folds = StratifiedKFold(3, shuffle=True, random_state=1).split(K, y)
        means.append(
            np.mean([roc_auc(y[b] > 0, decisions(K[np.ix_(a, a)], y[a], K[np.ix_(b, a)], cost)) for a, b in folds])
        )
    return COSTS[int(np.argmax(means))]


def scores(dataset, spec):
    """Return a row of the table: chosen cost, AUC, ROC50, CPU seconds of the kernel matrices, what was learned."""
    task = dataset.task()
    train, test = (np.flatnonzero(task.split == part) for part in ("train", "test"))
    y = task.labels.signs()
    kernel, start = build_kernel(spec), time.process_time()
    kernel.fit(dataset.X.take(train), y[train])
    square, rows = kernel(dataset.X.take(train)), kernel(dataset.X.take(test), dataset.X.take(train))
    seconds = time.process_time() - start
    if "logarithm=false" not in spec:
        mapped = EmpiricalMapGram(zero_diagonal="zero").fit(square)
        square, rows = mapped.transform_train()[0], mapped.transform(rows)[0]
    cost = chosen_cost(square, y[train])
    found = decisions(square, y[train], rows, cost)
    learned = ", ".join(f"{name} {value:.3f}" for name, value in kernel.learned().items())
    auc, roc50 = roc_auc(y[test] > 0, found), roc_n(y[test] > 0, found, 50)
    return f"{cost:g} | {auc:.3f} | {roc50:.3f} | {seconds:.0f} | {learned}"


if __name__ == "__main__":
    for family in FAMILIES:
        entry = {"public": f"scop_family_{family}", "unknown": "mask", "ids": "number"}
        dataset = make_dataset(family, entry, data_dir=DATA)
        for name, spec in KERNELS.items():
            print(f"| {family} | {name} | {scores(dataset, spec)} |", flush=True)
