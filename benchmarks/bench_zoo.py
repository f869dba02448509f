"""Many models on one VCF file: ``seqkern variants`` with all models together against one run for each.

The models are those of a folder, such as the 94 gkm-SVMs of transcription factors in ``gkmsvm_models`` of
https://github.com/ren-lab/deltaSVM; genome (4 chromosomes of 25 million bases) and single-base variants are random.
CPU seconds of the whole processes, one thread each. The columns of all runs must agree as text.

Run it by: ``SEQKERN_ZOO=FOLDER python benchmarks/bench_zoo.py [variants] [separate runs]``: fewer separate runs than
models are scaled up.
"""

import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from bench_variants import write_genome, write_variants
from common import child_seconds, start_table

from seqkern.methods.loading import parse_model_args


def score(models, folder, output):
    """Return the CPU seconds of one run, and the deltas by column."""
    command = ["seqkern", "variants", *models, f"{folder}/variants.vcf.gz", "--genome", f"{folder}/genome.fa"]
    command += ["--threads", "1", "-o", f"{folder}/{output}"]
    seconds, _ = child_seconds(lambda: subprocess.run(command, check=True, capture_output=True))
    with Path(folder, output).open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return seconds, {name: [row[name] for row in rows] for name in rows[0] if name.startswith("delta")}


def report(zoo, n=100_000, runs=94):
    """Print what each way takes."""
    given = parse_model_args([zoo])
    chosen = given[:: max(1, len(given) // runs)][:runs]
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        write_variants(Path(folder, "variants.vcf.gz"), write_genome(Path(folder, "genome.fa"), rng), n, rng)
        packed = f"{folder}/zoo.seqkern"
        packing, _ = child_seconds(
            lambda: subprocess.run(["seqkern", "models", "pack", zoo, "-o", packed], check=True, capture_output=True)
        )
        score([given[0].word], folder, "warm.tsv")  # writes the index of the genome
        row = start_table(f"{n} variants, {len(given)} models", "CPU s", "ratio")
        together, deltas = score([zoo], folder, "all.tsv")
        from_pack, again = score([packed], folder, "packed.tsv")
        separate, same = 0.0, again == deltas
        for one in chosen:
            seconds, alone = score([one.word], folder, "one.tsv")
            separate, same = separate + seconds, same and alone["delta"] == deltas[f"delta_{one.name}"]
        separate *= len(given) / len(chosen)
        assert same, "the deltas differ"
        row(f"a run for each model ({len(chosen)} measured)", f"{separate:.0f}", "1")
        row("together, from the folder", f"{together:.1f}", f"{separate / together:.0f}")
        row("together, from the packed file", f"{from_pack:.1f}", f"{separate / from_pack:.0f}")
        row("packing", f"{packing:.1f}", "")


if __name__ == "__main__":
    report(os.environ["SEQKERN_ZOO"], *map(int, sys.argv[1:]))
