"""Memory for 20,000 sequences of 100 letters, spectrum kernel k = 6, a Gram matrix of 3.2 GB to disk.

The target is a peak under 1 GB. ``seqkern gram`` runs in a process of its own, which asks the system for its
peak memory. Run it by pytest, or: ``python benchmarks/bench_gram_memory.py [sequences] [kernel]``.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

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


def measure(folder, n=20_000, length=100, kernel="spectrum:k=6"):
    """Return CPU seconds and peak memory in MB (10^6 bytes) of one run of ``seqkern gram``."""
    fasta, out = Path(folder) / "in.fasta", Path(folder) / "gram.npy"
    write_fasta(fasta, n, length)
    argv = ["gram", str(fasta), "--kernel", kernel, "-o", str(out), "--memory", f"{LIMIT_MB}MB"]
    done = subprocess.run([sys.executable, "-c", MEASURE, *argv], stdout=subprocess.PIPE, text=True, check=True)
    code, seconds, peak = map(float, done.stdout.splitlines()[-1].split())
    assert code == 0
    assert out.stat().st_size == 8 * n * n + 128
    return seconds, peak


def test_gram_to_disk_stays_under_one_gigabyte(tmp_path, record_property):
    seconds, peak = measure(tmp_path)
    record_property("cpu_seconds", seconds)
    record_property("peak_mb", peak)
    assert peak < LIMIT_MB


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    name = sys.argv[2] if len(sys.argv) > 2 else "spectrum:k=6"
    with tempfile.TemporaryDirectory(dir=".") as where:
        cpu, mb = measure(where, count, kernel=name)
    print(f"{count} × 100 letters, {name}: {cpu:.1f} CPU seconds, peak {mb:.0f} MB")
