"""AUC of held-out sequences by the number of training sequences: gapped k-mers, `primal_svc`, tolerance 1e-3.

Simulated enhancers have 300 random bases with sites of three of 60 motifs of 10 bases on either strand, each base of a
site the motif's with probability 0.75; other sequences have sites of three of 60 other motifs. Or the terminators of
BacTermFinder's folder ``data/Bacteria``: 101 bases of 28 genomes, and ten times as many others of the same genomes;
every fifth genome is held out. Training sets are nested. Run it by::

    python benchmarks/many_sequences.py [10000 50000 …]
    python benchmarks/many_sequences.py FOLDER [10000 50000 …]
"""

import sys
import time
from pathlib import Path

import numpy as np
from common import start_table

from seqkern.core.progress import peak_mb
from seqkern.evaluation.ranking import roc_auc
from seqkern.kernels import build_kernel
from seqkern.methods.method import Method
from seqkern.sequences.fasta import RecordNumbers
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet

LENGTH, MOTIFS, WIDTH, SITES, KEPT, HELD_OUT = 300, 60, 10, 3, 0.75, 20_000
SIZES = (10_000, 50_000, 100_000, 300_000, 1_000_000)


def enhancers(n):
    """Return sequences, their classes, and how many of the first are held out."""
    rng = np.random.default_rng(1)
    motifs = rng.integers(0, 4, (2, MOTIFS, WIDTH), dtype=np.uint8)
    codes = rng.integers(0, 4, (n + HELD_OUT, LENGTH), dtype=np.uint8)
    y = rng.integers(0, 2, len(codes))
    for place in range(SITES):
        sites = motifs[y, rng.integers(0, MOTIFS, len(y))]
        other = rng.random(len(y)) < 0.5
        sites[other] = 3 - sites[other, ::-1]
        starts = rng.integers(0, LENGTH // SITES - WIDTH, len(y)) + place * (LENGTH // SITES)
        columns = starts[:, None] + np.arange(WIDTH)
        rows = np.arange(len(y))[:, None]
        kept = rng.random(sites.shape) < KEPT
        codes[rows, columns] = np.where(kept, sites, codes[rows, columns])
    return codes.reshape(-1), np.full(len(y), LENGTH), y, HELD_OUT


def terminators(folder):
    """Return the same of BacTermFinder's folder."""
    found = {}
    for pattern, label in (("*/*_100bp.fasta", 1), ("*/*_10x_neg.fasta", 0)):
        for file in sorted(Path(folder).glob(pattern)):
            for record in file.read_text().split(">")[1:]:
                header, *lines = record.split("\n")
                letters = "".join(lines).upper()
                if set(letters) <= set("ACGT"):
                    found.setdefault(letters, (header.split(":")[0].strip(), set()))[1].add(label)
    kept = [(letters, genome, min(labels)) for letters, (genome, labels) in found.items() if len(labels) == 1]
    genomes = sorted({genome for _, genome, _ in kept})
    rng = np.random.default_rng(1)
    kept = [kept[i] for i in rng.permutation(len(kept))]
    kept.sort(key=lambda one: genomes.index(one[1]) % 5 > 0)
    X = SequenceSet.from_strings([letters for letters, _, _ in kept], "dna")
    held_out = sum(genomes.index(genome) % 5 == 0 for _, genome, _ in kept)
    return X.codes, X.lengths, np.array([label for *_, label in kept]), held_out


def main(words):
    """Print the table."""
    folder = words.pop(0) if words and not words[0].isdigit() else None
    sizes = sorted(map(int, words or SIZES))
    codes, lengths, y, held_out = enhancers(sizes[-1]) if folder is None else terminators(folder)
    ids = RecordNumbers(range(1, len(y) + 1))
    X = SequenceSet.from_offsets(codes, np.concatenate(([0], np.cumsum(lengths))), ids, "dna")
    kernel = f"gapped_kmer:l=11,k=7,n_threads=1,reverse_complement={'true' if folder is None else 'false'}"
    row = start_table("training sequences", "positives", "products", "CPU s", "peak MB", "AUC of held-out sequences")
    for n in (min(size, len(y) - held_out) for size in sizes):
        some = X.take(slice(0, held_out + n))
        method = Method(build_kernel(kernel), "primal_svc:C=1,tol=1e-3", threshold="none")
        labels = Labels(list(some.ids), y[: len(some)].astype(np.int64), "binary", ("other", "site"))
        begun = time.process_time()
        fitted = method.fit(method.data(some, labels), np.arange(held_out, len(some)))
        seconds = time.process_time() - begun
        auc = roc_auc(np.where(y[:held_out] > 0, 1, -1), fitted.decide(np.arange(held_out)).decisions)
        products = fitted.solver.report_["products"]
        positives = int(y[held_out : len(some)].sum())
        row(f"{n:,}", f"{positives:,}", f"{products}", f"{seconds:.1f}", f"{peak_mb():.0f}", f"{auc:.4f}")


if __name__ == "__main__":
    main(sys.argv[1:])
