"""Discriminants, transforms and losses on real data: every choice by inner folds of the training part.

Run: ``SEQKERN_DATA=… python benchmarks/bench_discriminants.py`` (about a CPU minute). Printed: the mean AUC, of several
classes the accuracy, over five outer folds, and the CPU seconds of all folds. Of regression: the mean absolute error of
a gene's expression predicted by that of the others, also when one training value in ten is wrong.
"""

import os
import time
import warnings

import numpy as np

from seqkern.methods.crossval import OuterFolds, cross_validate
from seqkern.methods.fitted import Search
from seqkern.methods.method import Method
from seqkern.methods.training import collect_training_data
from seqkern.sequences.labels import make_labels
from seqkern.study import make_dataset
from seqkern.study.kernel_entries import KernelEntry

COMPOSITION = {"kernel": "spectrum", "k": 1, "short": "zero", "zero_diagonal": "zero"}
SETS = {
    "celegans_acceptor_gc": ({"kernel": "linear"}, "auc"),
    "peptides_hiv_v3": (COMPOSITION, "auc"),
    "peptides_ace_vaxinpad": (COMPOSITION, "auc"),
    "expression_golub": ({"kernel": "linear"}, "auc"),
    "expression_khan": ({"kernel": "linear"}, "accuracy"),
}
GENES = ["pca:n_components=10"]
C = [0.01, 0.1, 1.0, 10.0]
RDA = {"solver": "quadratic_discriminant", "pooling": [0.0, 0.5, 0.9, 1.0], "shrinkage": [0.01, 0.1, 0.5]}
METHODS = {
    "`linear_discriminant`": ([], {"solver": "linear_discriminant", "shrinkage": [0.01, 0.1, 0.5]}),
    "`quadratic_discriminant`": ([], RDA),
    "`csvc`": ([], {"solver": "csvc", "C": C}),
    "`csvc`, `slack=squared`": ([], {"solver": "csvc", "C": C, "slack": "squared"}),
    "`csvc` after `kernel_pca`": (["kernel_pca:n_components=10"], {"solver": "csvc", "C": C}),
    "`csvc` after `pca`": (GENES, {"solver": "csvc", "C": C}),
    "`csvc` after `ica`": (["ica:n_components=5"], {"solver": "csvc", "C": C}),
}
LOSSES = ("insensitive", "squared_insensitive", "huber")


def score(result, metric):
    """Return one number of a fold."""
    if metric == "auc":
        return result.metrics["auc"]
    return result.metrics.get("accuracy", result.metrics.get("balanced_accuracy"))


def classify(name, kernel, metric):
    """Return the cells of one set, one for each method."""
    dataset = make_dataset(name, {"public": name}, data_dir=os.environ["SEQKERN_DATA"])
    X, labels = dataset.X, dataset.task().labels
    if len(X) > 1000:
        keep = np.sort(np.random.default_rng(1).permutation(len(X))[:1000])
        X, labels = X.take(keep), labels.take(keep)
    cells = []
    for steps, spec in METHODS.values():
        genes = "discriminant" in spec["solver"] and name.startswith("expression")
        entry = KernelEntry.parse({**kernel, "transforms": GENES if genes else steps})
        method = Method(entry.kernel, spec, transforms=entry.transforms, search=Search(folds=3, seed=1))
        start = time.process_time()
        data = collect_training_data(method, X, labels)
        results = cross_validate(method, data, OuterFolds(folds=5).splits(data.labels, X))
        scores = [score(one, metric) for one in results]
        cells.append(f"{np.mean(scores):.3f} ({time.process_time() - start:.0f} s)")
    return cells


def regress(wrong):
    """Return the mean absolute error of each loss and of the median, in standard deviations."""
    dataset = make_dataset("g", {"public": "expression_golub"}, data_dir=os.environ["SEQKERN_DATA"])
    values = np.log(np.maximum(dataset.X.values, 100.0))
    target = int(np.argmax(values.var(axis=0)))
    y, others = values[:, target] / values[:, target].std(), np.delete(values, target, axis=1)
    rng = np.random.default_rng(2)
    noisy = np.where(rng.random(len(y)) < wrong, y + rng.choice([-8.0, 8.0], len(y)), y)
    X = type(dataset.X)(others, dataset.X.ids)
    labels = make_labels(X.ids, noisy.tolist(), kind="real")
    errors = {loss: [] for loss in (*LOSSES, "median")}
    for split in OuterFolds(folds=5).splits(make_labels(X.ids, ["a", "b"] * (len(y) // 2)), X):
        for loss in LOSSES:
            spec = {"solver": "svr", "loss": loss, "C": [0.01, 0.1, 1.0, 10.0], "epsilon": [0.1, 0.5]}
            entry = KernelEntry.parse({"kernel": "rbf", "gamma": "scale"})
            method = Method(entry.kernel, spec, search=Search(folds=3, seed=1, metric="rmse"))
            fitted = method.fit(method.data(X, labels), split.train, ahead=split.test)
            errors[loss].append(np.abs(fitted.decide(split.test).decisions - y[split.test]).mean())
        errors["median"].append(np.abs(np.median(noisy[split.train]) - y[split.test]).mean())
    return {name: float(np.mean(found)) for name, found in errors.items()}


def main():
    """Print the tables."""
    warnings.simplefilter("ignore")
    print(f"| method | {' | '.join(SETS)} |")
    print("|---|" + "---|" * len(SETS))
    columns = [classify(name, kernel, metric) for name, (kernel, metric) in SETS.items()]
    for row, name in enumerate(METHODS):
        print(f"| {name} | {' | '.join(column[row] for column in columns)} |")
    found = [regress(0.0), regress(0.1)]
    print("\n| loss of `svr` | as measured | one training value in ten wrong |\n|---|---|---|")
    for name in found[0]:
        print(f"| `{name}` | {found[0][name]:.3f} | {found[1][name]:.3f} |")


if __name__ == "__main__":
    main()
