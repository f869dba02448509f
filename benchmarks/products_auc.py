"""The same classifier from the Gram matrix and from products with it: AUC on the test parts of the tfbs sets.

A C-SVM (C = 1) on the gapped k-mer kernel of LS-GKM's defaults, clipped, and on gapped k-mer counts. ``SEQKERN_DATA``
names the folder with ``tfbs``::

    python benchmarks/products_auc.py
"""

import os
import time
from pathlib import Path

import numpy as np

from seqkern.evaluation import roc_auc
from seqkern.kernels import build_kernel
from seqkern.sequences.fasta import read_fasta
from seqkern.solvers import build_solver

KERNELS = {
    "truncated (11,7), d=3": "gapped_kmer:l=11,k=7,d=3,estimator=truncated,clip=true,reverse_complement=true",
    "counts (10,6)": "gapped_kmer:l=10,k=6,reverse_complement=true",
}
SETS = ("CTCF", "EP300", "JUND", "RAD21", "SIN3A")


def read_set(folder, name):
    """Return the sequences of both parts, their labels, and the number of training sequences."""
    paths = [folder / f"{name}.{part}.fasta" for part in ("train", "test")]
    labels = [[int(line[1:].split()[0]) for line in path.open() if line.startswith(">")] for path in paths]
    both = [label for part in labels for label in part]
    return read_fasta(paths, alphabet="dna", ids="number"), np.array(both), len(labels[0])


def main():
    """Print the table."""
    folder = Path(os.environ["SEQKERN_DATA"]) / "tfbs"
    print("| set | kernel | Gram matrix | products | difference | CPU s, Gram | CPU s, products | products, gap |")
    print("|---|---|---|---|---|---|---|---|")
    for name in SETS:
        every, labels, n = read_set(folder, name)
        train, test = np.arange(n), np.arange(n, len(every))
        X, Y, y, truth = every.take(train), every.take(test), labels[train], labels[test]
        for title, text in KERNELS.items():
            kernel = build_kernel(text)
            begin = time.process_time()
            solver = build_solver("csvc:C=1,tol=1e-6").fit(kernel(X), y)
            gram = roc_auc(truth, solver.decision_function(kernel(Y, X)))
            middle = time.process_time()
            products = kernel.operator(every)
            solver = build_solver("csvc:C=1,tol=1e-6").fit(products.take(train), y)
            other = roc_auc(truth, solver.decision_function(products.take(test)))
            end = time.process_time()
            report = solver.report_
            print(
                f"| {name} | {title} | {gram:.6f} | {other:.6f} | {other - gram:+.6f} | {middle - begin:.1f} | "
                f"{end - middle:.1f} | {report['products']}, {report['gap']:.1g} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
