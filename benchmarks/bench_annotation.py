"""Accuracy of genes that any program found, and of the longest reading frames, against an annotation.

    python benchmarks/bench_annotation.py GENOME TRUTH FOUND...    each a GTF or GFF3 file with CDS

Each FOUND is compared as `seqkern genes --truth` compares its own genes (Burset and Guigó, 1996). The last rows are
the longest open reading frames of either strand from ATG to a stop codon, of 300 bases or more, without overlaps.
"""

import sys
from collections import Counter

import numpy as np

from seqkern.formats.annotation import read_annotation
from seqkern.formats.site_tables import chromosomes
from seqkern.genomics.gene_learning import by_chromosome, true_structures
from seqkern.genomics.genes import LEVELS, NOTHING, STOPS, gene_accuracy
from seqkern.sequences.alphabets import DNA
from seqkern.sequences.streaming import occurrences, reverse_complement_codes

SHORTEST = 300


def longest_frames(codes):
    """Return the longest open reading frames of a chromosome, without overlaps."""
    found, n = [], len(codes)
    for reverse, own in ((False, codes), (True, reverse_complement_codes(codes, DNA))):
        starts = occurrences(own, DNA.encode(b"ATG"), 0, n - 2)
        stops = np.sort(np.concatenate([occurrences(own, DNA.encode(stop.encode()), 0, n - 2) for stop in STOPS]))
        for frame in range(3):
            ends, begins = stops[stops % 3 == frame], starts[starts % 3 == frame]
            first = np.searchsorted(begins, np.concatenate(([0], ends[:-1])))
            for i, end in zip(first.tolist(), (ends + 3).tolist(), strict=True):
                if i < len(begins) and end - begins[i] >= SHORTEST:
                    part = (int(begins[i]), end)
                    found.append((reverse, (n - end, n - part[0]) if reverse else part))
    taken, kept = np.zeros(n, dtype=bool), []
    for reverse, (start, stop) in sorted(found, key=lambda orf: (orf[1][0] - orf[1][1], orf)):
        if not taken[start:stop].any():
            taken[start:stop] = True
            kept.append((reverse, ((start, stop),)))
    return kept


def main(genome, truth, *found):
    """Print a row for each program and level."""
    annotated = by_chromosome(read_annotation(truth))
    programs = {name: by_chromosome(read_annotation(name)) for name in found}
    counts, left_out = {(name, level): NOTHING for name in (*found, "longest frames") for level in LEVELS}, Counter()
    for record, codes in chromosomes(genome):
        true = true_structures(annotated.get(record, ()), codes, left_out)
        for name in (*found, "longest frames"):
            if name in programs:
                genes = true_structures(programs[name].get(record, ()), codes)
                predicted = [structure for own in genes for structure in own]
            else:
                predicted = longest_frames(codes)
            for level, count in gene_accuracy(true, predicted).items():
                counts[name, level] = counts[name, level] + count
    print(f"left out of {truth}: {dict(left_out)}")
    for (name, level), count in counts.items():
        print(
            f"{name:<28}  {level:<4}  sensitivity {count.sensitivity:.4f}  precision {count.precision:.4f}  "
            f"F1 {count.f1:.4f}  annotated {count.true}  predicted {count.predicted}"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
