"""``seqkern predict`` for a million new sequences, by each kind of model: CPU seconds, and the peak of memory.

Random sequences of 100 bases, in classes by a motif; models are trained on 2,000 of them. Each prediction is a
process of its own on one thread, from a FASTA file to a table. The peak does not grow with the number of sequences,
which are read in pieces; the alignments are fewer, since each costs one alignment for each support sequence.

Run it by pytest, or: ``python benchmarks/bench_predictions.py [sequences] [kind …]``.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from common import start_table

LENGTH, TRAINED = 100, 2000
MEASURE = """
import resource, sys
from seqkern.cli.main import main
code = main(sys.argv[1:])
usage = resource.getrusage(resource.RUSAGE_SELF)
unit = 1 if sys.platform == "darwin" else 1024
print(code, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6)
"""
KINDS = {  # kernel, solver, classes, share of the sequences
    "table of k-mers": ("gapped_kmer:l=10,k=6,reverse_complement=true", "primal_svc:C=1", 2, 1.0),
    "weights of k-mers at positions": ("weighted_degree:degree=20", "linear_svc:C=1", 2, 1.0),
    "weights of features": ("spectrum:k=6", "primal_svc:C=1", 2, 1.0),
    "support sequences, k-mers": ("mismatch:k=6,m=1", "csvc:C=1", 2, 1.0),
    "support sequences, alignments": ("smith_waterman:matrix=NUC.4.4,normalize=true", "csvc:C=1", 2, 0.002),
    "pairwise, three classes": ("spectrum:k=4", "pairwise_voting:binary=(csvc:C=1)", 3, 1.0),
    "decision tree of SVMs, three classes": ("spectrum:k=4", "binary_tree:binary=(csvc:C=1)", 3, 1.0),
}


def write(path, n, classes, seed):
    """Write sequences of several classes, each with half of its motif of twelve bases; return their classes."""
    rng = np.random.default_rng(seed)
    motifs = np.random.default_rng(0).integers(0, 4, (classes, 12), dtype=np.uint8)
    letters, labels = np.frombuffer(b"ACGT", dtype=np.uint8), []
    with open(path, "wb") as file:
        for first in range(0, n, 100_000):
            size = min(100_000, n - first)
            codes, of = rng.integers(0, 4, (size, LENGTH), dtype=np.uint8), rng.integers(0, classes, size)
            kept = rng.random((size, 12)) < 0.7
            codes[:, 40:52] = np.where(kept, motifs[of], codes[:, 40:52])
            rows = letters[codes]
            file.writelines(b">s%d\n%s\n" % (first + i, rows[i].tobytes()) for i in range(size))
            labels += of.tolist()
    return labels


def run(*argv):
    """Return CPU seconds and peak MB (10^6 bytes) of one command."""
    command = [sys.executable, "-c", MEASURE, *map(str, argv), "--threads", "1"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    code, seconds, peak = map(float, done.stdout.splitlines()[-1].split())
    assert code == 0
    return seconds, peak


def measure(folder, kind, n):
    """Return (sequences, CPU seconds, peak MB) of the predictions of one kind of model."""
    kernel, solver, classes, share = KINDS[kind]
    folder, n = Path(folder), max(1, round(share * n))
    labels = write(folder / "train.fa", TRAINED, classes, seed=1)
    lines = ["id\tlabel", *(f"s{i}\tclass{label}" for i, label in enumerate(labels))]
    (folder / "labels.tsv").write_text("\n".join(lines) + "\n")
    write(folder / "new.fa", n, classes, seed=2)
    given = ["--labels", folder / "labels.tsv", "--kernel", kernel, "--solver", solver, "--alphabet", "dna"]
    run("train", folder / "train.fa", *given, "--allow-similar", "-o", folder / "model")
    seconds, peak = run("predict", folder / "model", folder / "new.fa", "-o", folder / "out.tsv")
    with open(folder / "out.tsv") as file:
        assert sum(1 for _ in file) == n + 1
    return n, seconds, peak


def test_memory_does_not_grow_with_the_sequences(tmp_path):
    few, many = (measure(tmp_path, "weights of k-mers at positions", n)[2] for n in (40_000, 120_000))
    assert many < 1.2 * few


def main(words):
    """Print a table."""
    n = int(words.pop(0)) if words and words[0].isdigit() else 1_000_000
    row = start_table("model", "kernel", "solver", "sequences", "CPU s", "µs each", "peak MB")
    for kind in words or KINDS:
        with tempfile.TemporaryDirectory(dir=".") as folder:
            count, seconds, peak = measure(folder, kind, n)
        numbers = [f"{count:,}", f"{seconds:.1f}", f"{1e6 * seconds / count:.1f}", f"{peak:.0f}"]
        row(kind, *(f"`{part}`" for part in KINDS[kind][:2]), *numbers)


if __name__ == "__main__":
    main(sys.argv[1:])
