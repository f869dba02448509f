"""Scanning 30 million random letters for AG candidates by weights at positions: windows of 141 letters, one strand.

The machine has 10,000 support windows; at degree 8 a candidate costs the same with any number, at degree 20 more
with more of them, as more of its words are in a trie. One thread, CPU seconds of the process, medians after a warm-up:
packing of the letters and sums over the candidates apart, at each level of vector instructions; and all of it, both
strands, from a FASTA file to a BED file: reading, searching, deciding and writing, without the start of Python.

Run it by pytest, or: ``python benchmarks/bench_scan.py [repeats]``, which prints a table.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from common import cpu_seconds, start_table

from seqkern.kernels import WeightedDegreeKernel
from seqkern.kernels.positional import _position_weights as loops
from seqkern.kernels.positional import weighted_degree
from seqkern.methods.scan import Scanner, lines
from seqkern.methods.training import train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.windows import Window

LEVELS = ("plain", "AVX2", "AVX-512")
LETTERS, SUPPORT, LEFT, WINDOW = 30_000_000, 10_000, 60, 141
JOBS = [(8, 5.0), (20, 0.5)]
TRAINING, LINE = 400, 60  # windows of the model of a whole scan, letters in a line of FASTA


def chromosome():
    """Return the codes of a random sequence, and where its windows around AG start."""
    codes = np.random.default_rng(0).integers(0, 4, LETTERS, dtype=np.uint8)
    starts = np.flatnonzero((codes[:-1] == 0) & (codes[1:] == 2)) - LEFT
    return codes, starts[(starts >= 0) & (starts + WINDOW <= LETTERS)]


def machine(degree):
    """Return the weights of a weighted degree machine with random support windows."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 4, (SUPPORT, WINDOW), dtype=np.uint8)
    offsets = np.arange(SUPPORT + 1) * WINDOW
    support = SequenceSet.from_offsets(codes.ravel(), offsets, [str(i) for i in range(SUPPORT)], "dna")
    return WeightedDegreeKernel(degree, n_threads=1).tables.at_positions(support, rng.standard_normal(SUPPORT))


def sums(weights, letters, starts, level):
    """Return the values of all windows of packed letters, in the blocks of `PositionWeights.scan`."""
    out = np.empty(len(starts))
    for span in weighted_degree.blocks(starts, weighted_degree.BLOCK):
        loops.scan(weights._tables, letters, starts[span], out[span], level)
    return out


def model():
    """Return a machine of degree 8, trained on random windows around AG."""
    codes = np.random.default_rng(1).integers(0, 4, (TRAINING, WINDOW), dtype=np.uint8)
    codes[:, LEFT : LEFT + 2] = 0, 2
    ids = [str(i) for i in range(TRAINING)]
    X = SequenceSet.from_offsets(codes.ravel(), np.arange(TRAINING + 1) * WINDOW, ids, "dna")
    labels = make_labels(ids, ["ab"[i % 2] for i in range(TRAINING)])
    window = Window(LEFT, WINDOW - LEFT - 1, "AG")
    return train_model(X, labels, WeightedDegreeKernel(8), "csvc:C=1", notes={"window": window.record()})


def whole(repeats):
    """Print what a scan of both strands takes from file to file."""
    codes, _ = chromosome()
    machine, counted = model(), []
    with tempfile.TemporaryDirectory() as folder:
        fasta, bed = Path(folder, "random.fa"), Path(folder, "found.bed")
        letters = np.full((LETTERS // LINE, LINE + 1), ord("\n"), dtype=np.uint8)
        letters[:, :LINE] = np.frombuffer(b"ACGT", dtype=np.uint8)[codes].reshape(-1, LINE)
        fasta.write_bytes(b">random\n" + letters.tobytes())

        def scan():
            with open(bed, "w") as file:
                found = 0
                for candidates in Scanner(machine, "AG", n_threads=1).scan(fasta):
                    found += len(candidates)
                    file.writelines(lines("bed", candidates, machine, "AG"))
            counted.append(found)

        taken = cpu_seconds(scan, repeats)
    rate = counted[0] / taken / 1e6
    done = f"{counted[0]:,} candidates, {taken:.2f} CPU seconds, {rate:.2f} million/s"
    print(f"From a FASTA to a BED file, both strands, d = 8: {done}.")


def report(repeats):
    """Print a table of all jobs."""
    codes, starts = chromosome()
    letters = loops.Letters(codes, 4, 2)
    packing = cpu_seconds(lambda: loops.Letters(codes, 4, 2), repeats)
    print(f"\nOne strand: {len(starts):,} candidates; packing the bases takes {packing:.3f} CPU seconds.")
    row = start_table("weighted degree", "making the tables, s", "MB", "instructions", "scan, s", "million/s", "target")
    for degree, target in JOBS:
        begun = time.process_time()
        weights = machine(degree)
        making = time.process_time() - begun
        for level in range(loops.highest_level() + 1):
            taken = cpu_seconds(lambda level=level, w=weights: sums(w, letters, starts, level), repeats)
            rate = len(starts) / taken / 1e6
            numbers = [f"{making:.2f}", f"{weights.bytes / 1e6:.0f}", LEVELS[level], f"{taken:.3f}", f"{rate:.2f}"]
            row(f"d = {degree}", *numbers, target)


@pytest.mark.parametrize(("degree", "target"), JOBS)
def test_scan(benchmark, degree, target):
    codes, starts = chromosome()
    weights = machine(degree)
    benchmark.extra_info["million candidates for each CPU second"] = target
    benchmark.pedantic(weights.scan, (codes, starts, 1), rounds=5, warmup_rounds=1)


if __name__ == "__main__":
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    whole(times)
    report(times)
