"""Gram matrices on disk: CPU seconds and peak memory of ``seqkern gram``, in a process of its own.

Random DNA of 100 bases, one thread. The target is a peak under 1 GB. Run it by pytest, or:
``python benchmarks/bench_gram_memory.py [sequences] [kernel] [dtype]``;
``python benchmarks/bench_gram_memory.py extend [sequences] [added] [kernel]``: a matrix to which records are added,
beside a new computation of the larger one. Matrices are made in the current folder and removed.
"""

import filecmp
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from common import start_table

LIMIT_MB = 1000
MEASURE = """
import resource, sys
from seqkern.cli.main import main
code = main(sys.argv[1:])
usage = resource.getrusage(resource.RUSAGE_SELF)
unit = 1 if sys.platform == "darwin" else 1024
print(code, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6)
"""


def write_fasta(path, n, length, seed=1):
    """Write random DNA."""
    letters = np.frombuffer(b"ACGT", dtype=np.uint8)
    rows = letters[np.random.default_rng(seed).integers(0, 4, (n, length))]
    with open(path, "wb") as file:
        for i in range(n):
            file.write(b">s%d\n%s\n" % (i, rows[i].tobytes()))


def run(*argv):
    """Return CPU seconds and peak memory in MB (10^6 bytes) of one run of ``seqkern gram``."""
    command = [sys.executable, "-c", MEASURE, "gram", *map(str, argv), "--memory", f"{LIMIT_MB}MB", "--threads", "1"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    code, seconds, peak = map(float, done.stdout.splitlines()[-1].split())
    assert code == 0
    return seconds, peak


def measure(folder, n=20_000, length=100, kernel="spectrum:k=6", dtype="float64"):
    """Return CPU seconds and peak memory in MB of the matrix of `n` sequences."""
    fasta, out = Path(folder) / "in.fasta", Path(folder) / "gram.npy"
    write_fasta(fasta, n, length)
    measured = run(fasta, "--kernel", kernel, "--dtype", dtype, "-o", out)
    assert out.stat().st_size == np.dtype(dtype).itemsize * n * n + 128
    return measured


def extend(folder, n, added, kernel):
    """Yield (what, CPU seconds, peak MB): a matrix of `n`, of `added` more by extending it, and computed anew."""
    folder = Path(folder)
    write_fasta(folder / "old.fasta", n, 100)
    write_fasta(folder / "all.fasta", n + added, 100)  # begins with the same records
    old, new, fresh = (folder / f"{name}.npy" for name in ("old", "new", "fresh"))
    yield f"{n}", *run(folder / "old.fasta", "--kernel", kernel, "-o", old)
    yield f"{n} + {added}, extended", *run(folder / "all.fasta", "--kernel", kernel, "-o", new, "--extend", old)
    old.unlink()
    yield f"{n + added}, anew", *run(folder / "all.fasta", "--kernel", kernel, "-o", fresh)
    for suffix in (".npy", ".json"):
        assert filecmp.cmp(new.with_suffix(suffix), fresh.with_suffix(suffix), shallow=False)


def test_gram_to_disk_stays_under_one_gigabyte(tmp_path, record_property):
    seconds, peak = measure(tmp_path)
    record_property("cpu_seconds", seconds)
    record_property("peak_mb", peak)
    assert peak < LIMIT_MB


def test_an_extension_has_the_bytes_of_a_new_matrix(tmp_path):
    assert len(list(extend(tmp_path, 600, 50, "spectrum:k=4"))) == 3


def main(words):
    """Print what the command line asks for."""
    with tempfile.TemporaryDirectory(dir=".") as where:
        if words[:1] == ["extend"]:
            n, added, kernel = [*words[1:], *("20000", "1000", "gapped_kmer:l=10,k=6")[len(words) - 1 :]]
            row = start_table(f"{kernel}, float64", "CPU s", "peak MB")
            for what, seconds, peak in extend(where, int(n), int(added), kernel):
                row(what, f"{seconds:.1f}", f"{peak:.0f}")
            return
        n, kernel, dtype = [*words, *("20000", "spectrum:k=6", "float64")[len(words) :]]
        seconds, peak = measure(where, int(n), kernel=kernel, dtype=dtype)
    row = start_table("sequences", "kernel", "matrix", "CPU s", "peak MB")
    row(f"{int(n):,} × 100 bases", kernel, dtype, f"{seconds:.1f}", f"{peak:.0f}")


if __name__ == "__main__":
    main(sys.argv[1:])
