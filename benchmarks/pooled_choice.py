"""How to choose kernel and C for remote homologs: k-mer kernels, C-SVM, ten SCOP families or 20 of the 60 of SCOP 1.75.

For each family the inner loop sees the training set only. Rows: the family's own choice (ties by balanced accuracy, or
to the simplest solver) from random inner folds, from folds that hold out named families (`edd`) or clusters of similar
positives (`scop`), and one choice for all by the mean rank over these inner loops. The last rows show what there is to
choose from.

Run: ``SEQKERN_DATA=… python benchmarks/pooled_choice.py scop`` or ``edd`` (two to three CPU minutes each).
"""

import sys
import time

import numpy as np
from common import DATA
from scop_best_on_test import FAMILIES

from seqkern.evaluation import roc_auc, roc_n
from seqkern.evaluation.pooled import AUTO, InnerLoop, cluster_groups, pooled_choice
from seqkern.evaluation.selection import Search, select
from seqkern.gram.matrix import GramMatrix
from seqkern.kernels import build_kernel
from seqkern.methods.sources import FitData, StoredGram
from seqkern.solvers import make_solver
from seqkern.study import make_dataset

GAPPED = {f"({n},{k})": f"gapped_kmer:l={n},k={k}" for n, k in ((5, 3), (6, 3), (6, 4), (7, 4), (8, 4), (8, 5))}
KMERS = {"spectrum 3": "spectrum:k=3", "mismatch (5,1)": "mismatch:k=5,m=1"}
KERNELS = {
    "scop": {name: f"{spec},short=zero,zero_diagonal=zero" for name, spec in GAPPED.items()},
    "edd": KMERS | {name: GAPPED[name] for name in ("(6,3)", "(6,4)", "(8,4)", "(8,5)")},
}


def scop_tasks():
    """Yield name, sequences, labels and split of ten families, each with sequences of its own."""
    for family in FAMILIES:
        entry = {"public": f"scop_family_{family}", "unknown": "mask", "ids": "number"}
        dataset = make_dataset(family, entry, data_dir=DATA)
        yield family, dataset.X, dataset.task().labels, dataset.task().split


def edd_tasks():
    """Yield name, sequences, labels and split of every third of 60 families of one set of sequences."""
    dataset = make_dataset("edd", {"public": "edd_homology", "unknown": "mask"}, data_dir=DATA)
    for task in list(dataset.tasks.values())[::3]:
        yield task.name, dataset.X, task.labels, task.split


def inner_loops(labels, inside, candidates):
    """Return the Choice of the inner loop on each kind of folds, from the kernel values of a training set."""
    sources = {name: StoredGram(GramMatrix(K, np.diag(K), np.diag(K), {})) for name, K in inside.items()}
    data = FitData(labels, sources)
    alone = data.with_groups(None)
    found = {"random": select(alone, candidates, make_solver, Search())}
    if labels.groups is None:
        positive = labels.y > 0
        groups = cluster_groups(next(iter(inside.values()))[np.ix_(positive, positive)], positive, AUTO)
        found["cluster"] = select(data.with_groups(groups), candidates, make_solver, Search(folds=AUTO))
    elif len(np.unique(labels.groups[labels.y > 0])) > 1:
        found["family"] = select(data, candidates, make_solver, Search())
    else:
        found["family"] = found["random"]
    return found


def measured(name, X, labels, split, kernels, candidates):
    """Return the inner loops of a task, and AUC and ROC50 of each candidate on its test set."""
    train, test = (np.flatnonzero(split == part) for part in ("train", "test"))
    unseen, y = labels.y[test] > 0, labels.take(train).signs()
    values = {key: kernel(X, X.take(train), n_threads=1) for key, kernel in kernels.items()}
    inside = {key: np.ascontiguousarray(K[train]) for key, K in values.items()}
    choices = inner_loops(labels.take(train), inside, candidates)
    strings = X.strings()
    shown = train[y > 0], test[unseen], test[~unseen]
    known = [frozenset(hash(strings[row]) for row in rows) for rows in shown]
    loops = {kind: InnerLoop(("", name), "1", choice, *known) for kind, choice in choices.items()}
    scores = []
    for key, spec in candidates:
        solver = make_solver(spec, "binary").fit(inside[key], y)
        decisions = solver.decision_function(values[key][test])
        scores.append((roc_auc(unseen, decisions), roc_n(unseen, decisions, 50)))
    return loops, np.array(scores)


def simplest(choice, sizes):
    """Return the place of the best candidate of an inner loop; of equally good ones the simplest."""
    means = choice.scores.mean(axis=1).round(12)
    return min(range(len(means)), key=lambda c: (-means[c], sizes[c], c))


def main(study):
    """Print what each way to choose gives."""
    kernels = {name: build_kernel(spec) for name, spec in KERNELS[study].items()}
    candidates = [
        (name, {"solver": "csvc", "C": C, "class_weight": "balanced"}) for name in kernels for C in (0.1, 1, 10)
    ]
    sizes = [make_solver(spec, "binary").complexity() for _, spec in candidates]
    loops, scores, rows = {}, [], {}
    for name, *task in {"scop": scop_tasks, "edd": edd_tasks}[study]():
        found, tested = measured(name, *task, kernels, candidates)
        scores.append(tested)
        words = []
        for kind, loop in found.items():
            loops.setdefault(kind, []).append(loop)
            means = loop.choice.scores.mean(axis=1).round(12)
            words.append(f"{kind} folds {means.min():.3f} to {means.max():.3f}, {sum(means == means.max())} best")
        print(f"{name}: inner AUC, {'; '.join(words)} ({time.process_time():.0f} CPU s)", flush=True)
    for kind, own in loops.items():
        rows[f"its own, {kind} folds, ties by balanced accuracy"] = [loop.choice.place for loop in own]
        rows[f"its own, {kind} folds, ties to the simplest"] = [simplest(loop.choice, sizes) for loop in own]
        rows[f"pooled, {kind} folds"] = [pooled_choice(loop, own, sizes).place for loop in own]
    tested = np.array(scores)
    print("| choice | mean AUC | mean ROC50 | different choices |\n|---|---|---|---|")
    for name, places in rows.items():
        means = tested[np.arange(len(places)), places].mean(axis=0)
        print("| {} | {:.3f} | {:.3f} | {} |".format(name, *means, len(set(places))))
    everywhere = tested.mean(axis=0)
    print("| at random | {:.3f} | {:.3f} | |".format(*everywhere.mean(axis=0)))
    print("| the same for all, best on test | {:.3f} | {:.3f} | |".format(*everywhere[everywhere[:, 0].argmax()]))
    print("| its own, best on test | {:.3f} | {:.3f} | |".format(*tested.max(axis=1).mean(axis=0)))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "scop")
