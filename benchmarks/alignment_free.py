"""D2 statistics, compression, the graph of similar samples and the full Fisher information on real data.

Binding sites of SIN3A, given training and test sets; SCOP family 2.8 for the Fisher kernel. The C-SVM's cost (0.1, 1,
10) is chosen by three inner folds of the training set. Chance is an AUC of 0.5.

Run: ``SEQKERN_DATA=… python benchmarks/alignment_free.py`` (about four CPU minutes).
"""

import time

import numpy as np
from common import DATA
from scop_pair_hmm import chosen_cost, decisions

from seqkern.evaluation import roc_auc
from seqkern.gram.transforms import build_transform
from seqkern.kernels import build_kernel
from seqkern.study import make_dataset

MOST = 1000  # training samples, the first of each class in turn
SITES = {
    "spectrum:k=5,reverse_complement=true": [],
    "d2:k=5,statistic=d2s,reverse_complement=true": [],
    "d2:k=5,statistic=d2star,reverse_complement=true": [],
    "d2:k=5,statistic=d2star,order=1,reverse_complement=true": [],
    "compression": ["empirical_map"],
    "spectrum:k=5,reverse_complement=true ": ["graph:neighbours=20,beta=1"],
    "spectrum:k=5,reverse_complement=true  ": ["graph:neighbours=20,method=random_walk,steps=4"],
}
FAMILY = {"fisher:zero_diagonal=zero": [], "fisher:information=full,zero_diagonal=zero": []}


def row(dataset, spec, transforms, most=None):
    """Return a row of the table: chosen cost, AUC, CPU seconds of kernel matrices and transforms."""
    task = dataset.task()
    train, test = (np.flatnonzero(task.split == part) for part in ("train", "test"))
    y = task.labels.signs()
    if most is not None and len(train) > most:
        train = np.sort(np.concatenate([train[y[train] == sign][: most // 2] for sign in (1, -1)]))
    kernel, start = build_kernel(spec.strip()), time.process_time()
    X, new = dataset.X.take(train), dataset.X.take(test)
    kernel.fit(X, y[train])
    square, rows = kernel(X), kernel(new, X)
    for name in transforms:
        fitted = build_transform(name).fit(square)
        square, rows = fitted.transform_train()[0], fitted.transform(rows)[0]
    seconds = time.process_time() - start
    cost = chosen_cost(square, y[train])
    auc = roc_auc(y[test] > 0, decisions(square, y[train], rows, cost))
    return f"{' '.join([spec.strip(), *transforms])} | {cost:g} | {auc:.4f} | {seconds:.1f}"


if __name__ == "__main__":
    family = make_dataset("2.8", {"public": "scop_family_2.8", "unknown": "mask", "ids": "number"}, data_dir=DATA)
    for spec, transforms in FAMILY.items():
        print(f"| SCOP 2.8 | {row(family, spec, transforms)} |", flush=True)
    sites = make_dataset("SIN3A", {"public": "tfbs_SIN3A", "unknown": "mask"}, data_dir=DATA)
    for spec, transforms in SITES.items():
        print(f"| SIN3A | {row(sites, spec, transforms, MOST)} |", flush=True)
