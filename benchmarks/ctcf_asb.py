"""Variants that change CTCF binding: gapped k-mer SVMs of 23,818 peaks and background regions, chosen without variants.

Each kernel and C is scored by AUC on held-out chromosomes of the training data; the labels of the variants are read
once, for the scores. Prints for each: that AUC, and how well |delta| tells 1,303 variants with allele-specific
binding from 13,030 controls, and how well the p-values of ``seqkern variants --null`` do, by random variants of the
background regions. ``SEQKERN_DATA`` names the folder with ``ctcf_asb``::

    python benchmarks/ctcf_asb.py
"""

from __future__ import annotations

import lzma
import os
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from seqkern.genomics.variant_run import Effects, _strata
from seqkern.kernels import build_kernel
from seqkern.sequences.fasta import read_fasta
from seqkern.solvers import build_solver

KERNELS = {
    "gapped (10,6)": "gapped_kmer:l=10,k=6,reverse_complement=true",
    "gapped (11,7)": "gapped_kmer:l=11,k=7,reverse_complement=true",
    "truncated (10,6), d=3": "gapped_kmer:l=10,k=6,d=3,estimator=truncated,clip=true,reverse_complement=true",
    "centre-weighted (10,6)": "gapped_kmer:l=10,k=6,center_weighted=true,reverse_complement=true",
}
COSTS = (0.1, 0.3, 1, 3)
DRAWN, SEED = 200_000, 1
METRICS = roc_auc_score, average_precision_score


def main():
    """Print the table."""
    folder = Path(os.environ["SEQKERN_DATA"]) / "ctcf_asb"
    X = read_fasta([folder / "peaks.fa.xz", folder / "background.fa.xz"], alphabet="dna", ids="suffix")
    with lzma.open(folder / "peaks.fa.xz", "rt") as file:
        n_peaks = sum(line.startswith(">") for line in file)
    y = np.where(np.arange(len(X)) < n_peaks, 1, -1)
    chromosome = np.array([name.split(":")[0] for name in X.ids])
    pairs = [
        read_windows(folder, f"{name}.{allele}.fa{ending}")
        for name, ending in (("asb", ""), ("control", ".gz"))
        for allele in ("ref", "alt")
    ]
    asb = np.repeat([1, 0], [len(pairs[0]), len(pairs[2])])
    variants = np.concatenate(pairs[::2]), np.concatenate(pairs[1::2])
    random = random_variants(X.take(np.flatnonzero(y < 0)), variants[0].shape[1])
    print("| kernel | C | AUC of held-out chromosomes | AUROC | AP | AUROC by p | AP by p | CPU s |")
    print("|---|---|---|---|---|---|---|---|")
    for name, text in KERNELS.items():
        kernel = build_kernel(text)
        products = kernel.operator(X)
        for cost in COSTS:
            begin = time.process_time()
            aucs = []
            for held_out in np.unique(chromosome):
                train = np.flatnonzero(chromosome != held_out)
                test = np.flatnonzero(chromosome == held_out)
                weights = products.weights(fitted(products.take(train), y[train], cost, train, len(X)))
                aucs.append(roc_auc_score(y[test], products.take(test).dots(weights)))
            coefficients = fitted(products, y, cost, np.arange(len(X)), len(X))
            table = kmer_weights(kernel, X, coefficients)
            scored = [
                Effects(strata(*some), ref := sums(table, kernel.l, some[0]), sums(table, kernel.l, some[1]) - ref)
                for some in (variants, random)
            ]
            effect = -scored[0].p_values(scored[1])
            cells = [
                np.mean(aucs),
                *(score(asb, one) for one in (np.abs(scored[0].delta), effect) for score in METRICS),
            ]
            print(
                f"| {name} | {cost} | "
                + " | ".join(f"{cell:.4f}" for cell in cells)
                + f" | {time.process_time() - begin:.0f} |",
                flush=True,
            )
    print(f"\nchance: AUROC .5, AP {asb.mean():.3f}")


def read_windows(folder, name):
    """Return the codes of windows of one length, (n, length)."""
    X = read_fasta(folder / name, alphabet="dna", ids="number")
    return X.codes[X.positions()].reshape(len(X), -1)


def fitted(products, y, cost, rows, n):
    """Return the coefficients of all records after training on some."""
    solver = build_solver(f"primal_svc:C={cost}").fit(products, y)
    out = np.zeros(n)
    out[rows[solver.support_]] = solver.dual_coef_.ravel()
    return out


def kmer_weights(kernel, X, coefficients):
    """Return the weight of each l-mer away from its place in the window."""
    coefficients = coefficients / np.sqrt(kernel.prepare(X).raw_diagonal)
    if kernel.center_weighted:  # the model of evenly weighted l-mers with the same sums over the support
        return kernel._weight_tables(X, coefficients)[0][1]
    return kernel.tables.weights(X, coefficients)[0][1]


def sums(table, length, codes):
    """Return the sum of the weights of the l-mers of each window."""
    out = np.zeros(len(codes))
    for start in range(codes.shape[1] - length + 1):
        place = np.zeros(len(codes), dtype=np.int64)
        for column in range(start, start + length):
            place = 4 * place + codes[:, column]
        out += table[place]
    return out


def random_variants(background, width):
    """Return windows of random single-base variants, reference and alternative, without unknown bases."""
    rng = np.random.default_rng(SEED)
    codes = background.codes[background.positions()]
    room = np.maximum(background.lengths - width + 1, 0)
    record = rng.choice(len(room), size=DRAWN, p=room / room.sum())
    start = (np.cumsum(background.lengths) - background.lengths)[record] + rng.integers(0, room[record])
    ref = codes[start[:, None] + np.arange(width)]
    ref = ref[(ref < 4).all(axis=1)]
    alt = ref.copy()
    alt[:, width // 2] = (alt[:, width // 2] + rng.integers(1, 4, size=len(alt))) % 4
    return ref, alt


def strata(ref, alt):
    """Return the stratum of each variant in the middle of its window, as `seqkern variants --null` has it."""
    n, width = ref.shape
    return _strata(ref.ravel(), np.arange(n) * width + width // 2, (1, 1), alt[:, width // 2, None])


if __name__ == "__main__":
    main()
