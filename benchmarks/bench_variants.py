"""One million random single-base variants against the weights of 11-mers: bgzipped VCF in, table or bgzipped VCF out.

The genome is random, 4 chromosomes of 25 million bases; the model a gapped k-mer SVM (l = 11, k = 7, both strands)
trained on some windows of it: only the size of its table counts. CPU seconds of the process from file to file with one
thread, reading of model, genome and variants included, without the start of Python.

``python benchmarks/bench_variants.py [variants]`` prints a table.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from common import start_table

from seqkern.cli.main import main
from seqkern.formats.bgzip import BgzipWriter
from seqkern.kernels import GappedKmerKernel
from seqkern.methods.training import train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import as_sequences

CHROMOSOMES, BASES, LINE = 4, 25_000_000, 100
WINDOWS, WINDOW = 400, 300


def write_genome(path, rng):
    """Write random chromosomes, and return their bases."""
    letters = np.frombuffer(b"ACGT", dtype=np.uint8)
    genome = {}
    with path.open("wb") as file:
        for number in range(1, CHROMOSOMES + 1):
            bases = letters[rng.integers(0, 4, BASES)]
            lines = np.full((BASES // LINE, LINE + 1), ord("\n"), dtype=np.uint8)
            lines[:, :LINE] = bases.reshape(-1, LINE)
            file.write(f">chr{number}\n".encode() + lines.tobytes())
            genome[f"chr{number}"] = bases
    return genome


def write_variants(path, genome, n, rng):
    """Write random single-base variants, sorted."""
    with path.open("wb") as file:
        out = BgzipWriter(file)
        out.write("##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n")
        for name, bases in genome.items():
            places = np.unique(rng.integers(0, BASES, n // CHROMOSOMES + n // 20))
            places = np.sort(rng.choice(places, n // CHROMOSOMES, replace=False))
            codes = np.searchsorted(np.frombuffer(b"ACGT", dtype=np.uint8), bases[places])
            alts = (codes + rng.integers(1, 4, len(places))) % 4
            rows = zip(places.tolist(), codes.tolist(), alts.tolist(), strict=True)
            for place, ref, alt in rows:
                out.write(f"{name}\t{place + 1}\trs{place}\t{'ACGT'[ref]}\t{'ACGT'[alt]}\t50\tPASS\tAF=0.01;AN=5008\n")
        out.finish()


def write_model(path, genome, rng):
    """Train on random windows of the genome."""
    bases, half = genome["chr1"], WINDOWS // 2
    strings = [bases[start : start + WINDOW].tobytes().decode() for start in rng.integers(0, BASES - WINDOW, WINDOWS)]
    X = as_sequences(strings, "dna")
    labels = make_labels(X.ids, ["a"] * half + ["b"] * half)
    kernel = GappedKmerKernel(11, 7, reverse_complement=True)
    train_model(X, labels, kernel, "csvc:C=1").save(path)


def report(n):
    """Print what each way takes."""
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        genome, vcf, model = (Path(folder, name) for name in ("genome.fa", "variants.vcf.gz", "model.seqkern"))
        chromosomes = write_genome(genome, rng)
        write_variants(vcf, chromosomes, n, rng)
        write_model(model, chromosomes, rng)
        command = ["variants", str(model), str(vcf), "--genome", str(genome), "--threads", "1"]
        main([*command, "-o", f"{folder}/warm.tsv"])  # writes the index of the genome
        row = start_table("output", "CPU s", "µs for each variant")
        for words in (["scores.tsv"], ["scores.vcf.gz"], ["null.tsv", "--null", "100000"]):
            begun = time.process_time()
            assert main([*command, "-o", f"{folder}/{words[0]}", *words[1:]]) == 0
            taken = time.process_time() - begun
            row(f"`{' '.join(words)}`", f"{taken:.1f}", f"{1e6 * taken / n:.1f}")


if __name__ == "__main__":
    report(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
