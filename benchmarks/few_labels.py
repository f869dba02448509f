"""Learning from few labels, on simulated donor sites and two sets of transcription-factor binding sites.

Run: ``python benchmarks/few_labels.py curve`` (active against random choice), ``semi`` (unlabelled records), or ``pu``
(positives and unlabelled records); a few CPU minutes each. Records of a training part get their label only when they
are chosen; C, and what else is searched, is chosen by three inner folds of the labelled records, and AUCs are of a test
part that nothing else sees. Five seeds draw the first labels. SEQKERN_DATA names the folder with ``tfbs``.
"""

import sys
import warnings
from functools import cache

import numpy as np
from common import DATA

from seqkern.core.convergence import unconverged
from seqkern.evaluation.metrics import balanced_accuracy
from seqkern.evaluation.ranking import roc_auc
from seqkern.evaluation.selection import Search, select
from seqkern.gram.matrix import GramMatrix
from seqkern.kernels import build_kernel
from seqkern.methods.acquisition import CANDIDATES_PER_RECORD, greedy
from seqkern.methods.sources import FitData, StoredGram
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.simulate import simulate
from seqkern.solvers import expand_grid, make_solver

SEEDS = range(1, 6)
SETS = ("donors", "CTCF", "EP300")
SIZES = (40, 60, 100, 150, 200, 250, 300, 400, 500, 600, 800, 1000)
GRID = expand_grid("csvc:C=0.1|1|10")
CHANCE = 0.5


@cache
def problem(name):
    """Return the Gram matrix of the training part, the kernel of the test part with it, and both parts' classes."""
    if name == "donors":
        data = simulate("donor", n_positive=1000, n_decoy=3000, seed=1, dependence=0)
        strings, y = data.sequences.strings(), np.array(data.table["label"]) == "donor"
        test = np.arange(len(y)) % 2 == 1
        spec = {"kernel": "weighted_degree", "degree": 20}
    else:
        strings, y, test = [], [], []
        for part in ("train", "test"):
            records = (DATA / "tfbs" / f"{name}.{part}.fasta").read_text().split(">")[1:]
            strings += ["".join(record.splitlines()[1:]) for record in records]
            y += [record.split(None, 1)[0] == "1" for record in records]
            test += [part == "test"] * len(records)
        y, test = np.array(y), np.array(test)
        spec = {"kernel": "gapped_kmer", "l": 10, "k": 6, "reverse_complement": True}
    X = SequenceSet.from_strings(strings, "dna", unknown="mask_all")
    kernel = build_kernel(spec)
    train = X.take(np.flatnonzero(~test))
    new = kernel(X.take(np.flatnonzero(test)), train, n_threads=1)
    return kernel(train, n_threads=1), new, y[~test], y[test]


def labels_of(y, known):
    """Return Labels with what is known only: the others never leave this function."""
    return Labels([str(i) for i in range(len(y))], np.where(known, y, -1), "binary", ("negative", "positive"))


def trained(K, labels, grid, rows):
    """Return the best of a grid by inner folds of the labelled among some rows, trained on these rows."""
    gram = GramMatrix(K, np.diag(K), np.diag(K), {})
    own = FitData(labels, {"": StoredGram(gram)}).take(rows)
    with warnings.catch_warnings(), unconverged():
        warnings.simplefilter("ignore")
        choice = select(own, [("", spec) for spec in grid], make_solver, Search())
        return make_solver(choice.spec, "binary").fit(K[np.ix_(rows, rows)], own.labels.targets())


def first(y, n, rng):
    """Return n random rows, with three of each class at least."""
    while True:
        rows = rng.permutation(len(y))[:n]
        if min(np.sum(y[rows]), np.sum(~y[rows])) >= 3:
            return rows


def curve(name, strategy, seed):
    """Return the test AUC at each number of labels."""
    K, new, y, truth = problem(name)
    rng = np.random.default_rng(seed)
    chosen, found = first(y, SIZES[0], rng), []
    for size in (*SIZES[1:], None):
        known = np.isin(np.arange(len(y)), chosen)
        rows = np.flatnonzero(known)
        solver = trained(K, labels_of(y, known), GRID, rows)
        found.append(roc_auc(truth, solver.decision_function(new[:, rows])))
        if size is None:
            return found
        left, n = np.flatnonzero(~known), size - len(chosen)
        if strategy == "random":
            chosen = np.concatenate((chosen, rng.permutation(left)[:n]))
            continue
        gaps = np.abs(solver.decision_function(K[np.ix_(left, rows)]))
        near = np.argsort(gaps, kind="stable")[: CANDIDATES_PER_RECORD * n]
        best = greedy(K[np.ix_(left[near], left[near])], gaps[near], n, 0.5, rng.random(len(near)))
        chosen = np.concatenate((chosen, left[near[best]]))


def first_size(means, least):
    """Return the first number of labels whose AUC suffices, as text."""
    return next((str(size) for size, mean in zip(SIZES, means, strict=True) if mean >= least), f"> {SIZES[-1]}")


def learning_curves():
    """Print the AUC at each number of labels, and how many suffice."""
    print("set", "choice", *SIZES, "all", "enough", sep="\t")
    for name in SETS:
        K, new, y, truth = problem(name)
        every = np.arange(len(y))
        full = roc_auc(truth, trained(K, labels_of(y, every >= 0), GRID, every).decision_function(new))
        for strategy in ("active", "random"):
            means = np.mean([curve(name, strategy, seed) for seed in SEEDS], axis=0)
            enough = first_size(means, full - 0.01)
            print(name, strategy, *(f"{value:.3f}" for value in means), f"{full:.3f}", enough, sep="\t", flush=True)
        print(f"# {name}: {len(y)} records to label, {len(truth)} to test, full-data AUC {full:.4f}", flush=True)


def unlabelled():
    """Print the AUC of solvers with and without the unlabelled records."""
    grids = {
        "csvc": GRID,
        "kernel_neighbors": expand_grid("kernel_neighbors:n_neighbors=1|3|5"),
        "label_propagation": expand_grid("label_propagation:alpha=0.5|0.9|0.99"),
        "transductive_svc": expand_grid("transductive_svc:C=0.1|1|10"),
    }
    sizes = (20, 50, 100)
    print("set", "solver", *(f"AUC of {size}" for size in sizes), sep="\t")
    for name in SETS:
        K, new, y, truth = problem(name)
        pool = np.random.default_rng(0).permutation(len(y))[:1000]
        for solver, grid in grids.items():
            means = []
            for size in sizes:
                scores = []
                for seed in SEEDS:
                    known = np.zeros(len(y), dtype=bool)
                    known[pool[first(y[pool], size, np.random.default_rng(seed))]] = True
                    takes = make_solver(grid[0], "binary").traits.unlabelled
                    rows = np.sort(pool) if takes else np.flatnonzero(known)
                    fitted = trained(K, labels_of(y, known), grid, rows)
                    scores.append(roc_auc(truth, fitted.decision_function(new[:, rows])))
                means.append(f"{np.mean(scores):.3f} ± {np.std(scores, ddof=1):.3f}")
            print(name, solver, *means, sep="\t", flush=True)


def positive_unlabelled():
    """Print what is estimated from positives of which a share is labelled, beside the truth."""
    print("set", "c", "estimate", "hidden positives", "estimate", "balanced accuracy", "of csvc", "AUC", sep="\t")
    for name in SETS:
        K, new, y, truth = problem(name)
        for share in (0.3, 0.6):
            rows = []
            for seed in SEEDS:
                labelled = y & (np.random.default_rng(seed).random(len(y)) < share)
                found = make_solver("positive_unlabelled:binary=csvc", "binary").fit(K, labelled)
                plain = make_solver("csvc", "binary").fit(K, labelled)
                decisions, others = found.decision_function(new), plain.decision_function(new)
                own = [balanced_accuracy(truth, decisions > 0), balanced_accuracy(truth, others > 0)]
                known = labelled.sum() / y.sum(), found.report_["c"]
                hidden = np.mean(y[~labelled]), found.report_["positive_share"]
                rows.append([*known, *hidden, *own, roc_auc(truth, decisions)])
            print(name, *(f"{value:.3f}" for value in np.mean(rows, axis=0)), sep="\t", flush=True)


if __name__ == "__main__":
    {"curve": learning_curves, "semi": unlabelled, "pu": positive_unlabelled}[sys.argv[1]]()
