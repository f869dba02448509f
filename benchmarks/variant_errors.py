"""Realised false discovery rates of ``seqkern variants --null``, and its power beside |delta| with a fixed cut.

A simulated genome with isochores, microsatellites and sites of a factor; a gapped k-mer SVM of its peaks; then sets of
single-base variants, insertions and deletions:

- null: random alleles at random positions outside of sites;
- shuffled: the alleles of variants that break or make sites, at random positions outside of sites;
- planted: 100 variants that break a site or make one of a single mismatch, among 900 null ones.

Prints for each the mean share of false discoveries (0 where there are none) at several nominal rates, and the power,
beside those by Storey's q-values and of a fixed cut, the 99.9 % quantile of |delta| of random variants::

    python benchmarks/variant_errors.py [SETS]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from seqkern.formats.reference import Genome
from seqkern.genomics.variant_run import VariantRun
from seqkern.genomics.variants import Panel, model_scorer
from seqkern.kernels import build_kernel
from seqkern.methods.training import train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import as_sequences

SITE, LENGTH, SITES, NULL = "GATAAGGTCA", 1_500_000, 200, 20_000
RATES = (0.01, 0.05, 0.1, 0.2)
KINDS = ("single-base", "insertion", "deletion")


def main(n_sets=40):
    """Print the table."""
    rng = np.random.default_rng(1)
    genome, sites = simulated_genome(rng)
    panel = Panel(several=False)
    panel.add("factor", model_scorer(trained(genome, sites, rng)))
    print(
        "| variants | kind | "
        + " | ".join(f"FDR at {rate}" for rate in RATES)
        + " | Storey: FDR at 0.2 | power at 0.05 | fixed cut: FDR | power |"
    )
    print("|---|---|" + "---|" * (len(RATES) + 4))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "genome.fa"
        path.write_text("".join(f">{name}\n{text}\n" for name, text in genome.items()))
        for kind in KINDS:
            for title, n_true in (("null", 0), ("shuffled", 0), ("planted", 100)):
                found = np.array([
                    one_set(Path(folder), path, panel, kind, title == "shuffled", n_true, genome, sites, rng)
                    for _ in range(n_sets)
                ])  # fmt: skip
                mean, error = found.mean(axis=0), found.std(axis=0) / np.sqrt(n_sets)
                rates = [f"{mean[i]:.3f} ± {error[i]:.3f}" for i in range(len(RATES) + 1)]
                rest = [f"{mean[i]:.2f}" if n_true else "" for i in (-3, -2, -1)]
                print(f"| {title} | {kind} | " + " | ".join(rates + rest) + " |", flush=True)


def simulated_genome(rng):
    """Return two chromosomes, and the starts of the sites in them."""
    genome, sites = {}, {}
    for name in ("chr1", "chr2"):
        gc = np.repeat(rng.choice([0.35, 0.42, 0.5, 0.6], LENGTH // 10_000), 10_000)
        letters = np.where(rng.random(LENGTH) < gc, rng.choice(list("CG"), LENGTH), rng.choice(list("AT"), LENGTH))
        for start in rng.integers(0, LENGTH - 60, LENGTH // 1000).tolist():
            length = int(rng.integers(8, 40))
            letters[start : start + length] = np.resize(rng.choice(list("ACGT"), rng.integers(1, 5)), length)
        sites[name] = 500 * rng.choice(np.arange(1, LENGTH // 500 - 1), SITES, replace=False)
        for start in sites[name].tolist():
            letters[start : start + len(SITE)] = list(SITE)
        genome[name] = "".join(letters)
    return genome, sites


def trained(genome, sites, rng):
    """Return a model of windows with a site against windows without."""
    peaks = [genome[name][start - 70 : start + 80] for name in genome for start in sites[name].tolist()]
    others = [genome[name][start + 150 : start + 300] for name in genome for start in sites[name].tolist()]
    X = as_sequences(peaks + others, "dna")
    labels = make_labels(X.ids, ["peak"] * len(peaks) + ["background"] * len(others), positive="peak")
    return train_model(X, labels, build_kernel("gapped_kmer:l=10,k=6,reverse_complement=true"), "csvc:C=1")


def indel_length(rng):
    """Return a length: most are short."""
    return min(int(rng.geometric(0.4)), 12)


def true_variant(kind, genome, sites, rng):
    """Return (chromosome, position from 0, ref, alt) of a variant within a site."""
    name = str(rng.choice(list(genome)))
    start = int(rng.choice(sites[name])) + int(rng.integers(1, len(SITE) - 2))
    text = genome[name]
    if kind == "single-base":
        return name, start, text[start], str(rng.choice([base for base in "ACGT" if base != text[start]]))
    if kind == "deletion":
        return name, start - 1, text[start - 1 : start + indel_length(rng)], text[start - 1]
    return name, start - 1, text[start - 1], text[start - 1] + "".join(rng.choice(list("ACGT"), indel_length(rng)))


def null_variant(kind, genome, sites, rng, alleles=None):
    """Return a variant outside of sites; an insertion is a copy of its neighbours in half of the cases."""
    while True:
        name = str(rng.choice(list(genome)))
        place, text = int(rng.integers(100, LENGTH - 100)), genome[name]
        if np.abs(sites[name] - place).min() < 40:
            continue
        if kind == "single-base":
            alt = str(rng.choice([base for base in "ACGT" if base != text[place]])) if alleles is None else alleles[3]
            if alt != text[place]:
                return name, place, text[place], alt
        elif kind == "deletion":
            length = indel_length(rng) if alleles is None else len(alleles[2]) - 1
            return name, place - 1, text[place - 1 : place + length], text[place - 1]
        elif alleles is None:
            length = indel_length(rng)
            added = text[place : place + length] if rng.random() < 0.5 else "".join(rng.choice(list("ACGT"), length))
            return name, place - 1, text[place - 1], text[place - 1] + added
        else:
            return name, place - 1, text[place - 1], text[place - 1] + alleles[3][1:]


def one_set(folder, path, panel, kind, shuffled, n_true, genome, sites, rng):
    """Return a new set's realised rates, Storey's too, the power at 0.05, and rate and power of the fixed cut."""
    rows = [(*true_variant(kind, genome, sites, rng), True) for _ in range(n_true)]
    for _ in range(1000 - n_true):
        alleles = true_variant(kind, genome, sites, rng) if shuffled else None
        rows.append((*null_variant(kind, genome, sites, rng, alleles), False))
    order = sorted(range(len(rows)), key=lambda i: rows[i][:2])
    lines = [f"{rows[i][0]}\t{rows[i][1] + 1}\t.\t{rows[i][2]}\t{rows[i][3]}\t.\t.\t.\n" for i in order]
    vcf = folder / "variants.vcf"
    vcf.write_text("##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" + "".join(lines))
    true = np.array([rows[i][4] for i in order])
    with Genome(path) as opened:
        job = VariantRun(vcf, opened, panel)
        ((p, q),) = job.chances(NULL, int(rng.integers(1 << 30)), None).values()
        delta = np.abs(np.concatenate([one.delta for one in job.given["factor"]]))
        random = np.abs(np.concatenate([one.delta for one in job.null["factor"]]))
    cut = delta >= np.nanquantile(random, 0.999)
    storey = q * min(1.0, (1 + np.sum(p > 0.5)) / (0.5 * len(p)))
    calls = [*(q <= rate for rate in RATES), storey <= RATES[-1], cut]
    false = [np.sum(call & ~true) / max(1, np.sum(call)) for call in calls]
    power = [np.sum(call & true) / max(1, n_true) for call in (q <= 0.05, cut)]
    return [*false[:-1], power[0], false[-1], power[1]]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
