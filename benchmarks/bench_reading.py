"""Reading and encoding 1,000,000 sequences of 100 letters, beside Biopython's parsers; the start of the command.

`seqkern.read_fasta` checks and encodes every letter; the others only split the text. All run in one process on
the same file; CPU seconds, medians. Run it by pytest, or: ``python benchmarks/bench_reading.py [sequences]``.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from Bio import SeqIO
from Bio.SeqIO.FastaIO import SimpleFastaParser
from common import start_table

import seqkern

REPEATS = 3


def write_fasta(path, n, length=100):
    """Write random DNA."""
    letters = np.frombuffer(b"ACGT", dtype=np.uint8)
    rng = np.random.default_rng(1)
    with open(path, "wb") as file:
        for i in range(n):
            file.write(b">s%d\n%s\n" % (i, letters[rng.integers(0, 4, length)].tobytes()))


def simple_parser(path):
    """Return the number of records that SimpleFastaParser gives."""
    with open(path) as handle:
        return sum(1 for _ in SimpleFastaParser(handle))


METHODS = {
    "seqkern.read_fasta": lambda path: len(seqkern.read_fasta(path, alphabet="dna")),
    "Biopython SimpleFastaParser (no encoding)": simple_parser,
    "Biopython SeqIO.parse (no encoding)": lambda path: sum(1 for _ in SeqIO.parse(path, "fasta")),
}


def compare(path, n, repeats=REPEATS):
    """Return the median CPU seconds of each method."""
    seconds = {}
    for name, read in METHODS.items():
        runs = []
        for _ in range(repeats):
            start = time.process_time()
            assert read(path) == n
            runs.append(time.process_time() - start)
        seconds[name] = statistics.median(runs)
    return seconds


def startup(argv, repeats=9):
    """Return the median wall-clock seconds of a command."""
    runs = []
    for _ in range(repeats):
        start = time.perf_counter()
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
        runs.append(time.perf_counter() - start)
    return statistics.median(runs)


def test_reading(tmp_path, benchmark):
    path = tmp_path / "in.fasta"
    write_fasta(path, 10_000)
    assert benchmark(lambda: METHODS["seqkern.read_fasta"](path)) == 10_000


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        fasta = Path(folder) / "in.fasta"
        write_fasta(fasta, count)
        found = compare(fasta, count)
    ours = found["seqkern.read_fasta"]
    row = start_table(f"{count:,} sequences of 100 bases", "CPU s", "ratio to ours")
    for name, value in found.items():
        row(name, f"{value:.2f}", f"{value / ours:.1f}")
    bare = startup([sys.executable, "-c", "pass"])
    told = startup([sys.executable, "-m", "seqkern.cli.main", "--help"])
    print(f"\n`seqkern --help` takes {told:.3f} s by the clock, an empty Python program {bare:.3f} s.")
