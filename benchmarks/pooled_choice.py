"""How to choose l, k and C for remote homologs: ten SCOP families, gapped k-mer kernels, C-SVM.

For each family the inner loop sees the training set only. Rows: the family's own choice from random inner folds (ties
by balanced accuracy, or to the simplest solver), from folds that hold out clusters of similar positives, and one choice
for all families by the mean rank over their inner loops. The last rows show what there is to choose from.

Run: ``SEQKERN_DATA=… python benchmarks/pooled_choice.py`` (about ten CPU minutes).
"""

import time

import numpy as np
from common import DATA
from scop_best_on_test import FAMILIES

from seqkern.datasets import make_dataset
from seqkern.evaluation import roc_auc, roc_n
from seqkern.evaluation.clusters import AUTO, cluster_groups
from seqkern.evaluation.pooled import InnerLoop, pooled_choice
from seqkern.evaluation.selection import select
from seqkern.kernels import GappedKmerKernel
from seqkern.solvers import CSVC, make_solver

LENGTHS = ((5, 3), (6, 3), (6, 4), (7, 4), (8, 4), (8, 5))
COSTS = (0.1, 1, 10)
CANDIDATES = [
    (name, {"solver": "csvc", "C": C, "class_weight": "balanced"})
    for name in (f"{length},{k}" for length, k in LENGTHS)
    for C in COSTS
]
SIZES = [make_solver(spec, "binary").complexity() for _, spec in CANDIDATES]


def measured(family):
    """Return the inner loops of a family by the kind of folds, and AUC and ROC50 of each candidate on its test set."""
    entry = {"public": f"scop_family_{family}", "unknown": "mask", "ids": "number"}
    dataset = make_dataset(family, entry, data_dir=DATA)
    task = dataset.task()
    train, test = (np.flatnonzero(task.split == part) for part in ("train", "test"))
    labels, unseen = task.labels.take(train), task.labels.y[test] > 0
    y, seen = labels.signs(), labels.y > 0
    inside, beside = {}, {}
    for length, k in LENGTHS:
        kernel = GappedKmerKernel(length, k, short="zero", zero_diagonal="zero")
        K = kernel.kernel(dataset.X, dataset.X.take(train), n_threads=1)
        inside[f"{length},{k}"], beside[f"{length},{k}"] = K[train], K[test]
    pairs = {name: lambda a, b, _, K=K: (K[np.ix_(a, a)], K[np.ix_(b, a)]) for name, K in inside.items()}
    first = next(iter(inside.values()))
    groups = cluster_groups(first[np.ix_(seen, seen)], seen, AUTO)
    choices = {
        "random": select(pairs, labels, CANDIDATES, make_solver, folds=3, seed=1),
        "clusters": select(pairs, labels, CANDIDATES, make_solver, folds=AUTO, seed=1, groups=groups),
    }
    strings = dataset.X.strings()
    known = [frozenset(hash(strings[row]) for row in rows) for rows in (train[seen], test[unseen])]
    loops = {name: InnerLoop(("scop", family), "1", choice, *known) for name, choice in choices.items()}
    scores = []
    for name, spec in CANDIDATES:
        solver = CSVC(C=spec["C"], class_weight=spec["class_weight"]).fit(inside[name], y)
        decisions = solver.decision_function(beside[name])
        scores.append((roc_auc(unseen, decisions), roc_n(unseen, decisions, 50)))
    return loops, np.array(scores)


def simplest(choice):
    """Return the best candidate of an inner loop; of equally good ones the simplest."""
    means = choice.scores.mean(axis=1).round(12)
    return min(range(len(means)), key=lambda c: (-means[c], SIZES[c], c))


def main():
    loops, scores, rows = {"random": [], "clusters": []}, [], {}
    for family in FAMILIES:
        found, tested = measured(family)
        scores.append(tested)
        for kind, loop in found.items():
            loops[kind].append(loop)
        inner = {kind: loop.choice.scores.mean(axis=1) for kind, loop in found.items()}
        told = ", ".join(f"{kind} {mean.min():.3f} to {mean.max():.3f}" for kind, mean in inner.items())
        tied = {kind: int((mean.round(12) == mean.max().round(12)).sum()) for kind, mean in inner.items()}
        print(f"{family}: inner AUC {told}; best candidates: {tied}; {time.process_time():.0f} CPU s", flush=True)
    for kind, own in loops.items():
        rows[f"own choice, {kind} folds, ties by balanced accuracy"] = [loop.choice.place for loop in own]
        rows[f"own choice, {kind} folds, ties to the simplest"] = [simplest(loop.choice) for loop in own]
        pooled = [pooled_choice(loop, own, SIZES) for loop in own]
        rows[f"pooled, {kind} folds"] = [choice.place for choice in pooled]
    tested = np.array(scores)
    print("| choice | mean AUC | mean ROC50 | chosen |\n|---|---|---|---|")
    for name, places in rows.items():
        means = tested[np.arange(len(places)), places].mean(axis=0)
        chosen = ", ".join(f"({CANDIDATES[c][0]}) C={CANDIDATES[c][1]['C']}" for c in dict.fromkeys(places))
        print(f"| {name} | {means[0]:.3f} | {means[1]:.3f} | {chosen} |")
    everywhere = tested.mean(axis=0)
    best, (auc, roc50) = everywhere[:, 0].argmax(), everywhere.mean(axis=0)
    print(f"| a candidate at random | {auc:.3f} | {roc50:.3f} | |")
    print(
        "| the same for all, best on test | {:.3f} | {:.3f} | ({}) C={} |".format(
            *everywhere[best], CANDIDATES[best][0], CANDIDATES[best][1]["C"]
        )
    )
    print("| each its own, best on test | {:.3f} | {:.3f} | |".format(*tested.max(axis=1).mean(axis=0)))


if __name__ == "__main__":
    main()
