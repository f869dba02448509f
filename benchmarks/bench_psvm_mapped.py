"""The P-SVM on a Gram matrix of 20,000 × 20,000 in a file of 3.2 GB, with a stated cache.

The matrix is written in tiles (a kernel of random points, exactly symmetric) and deleted afterwards. The fit runs in a
process of its own; CPU seconds, system time included, and the peak of its memory beyond what it has when all is
imported are printed. The peak shall be at most the cache, Q of the working set (8 bytes for each pair of its members,
128 MiB at most) and 32 MiB for vectors. The symmetric matrix is read by columns; then one element is
changed, so that it must be read by rows. Run it by pytest, or:
``python benchmarks/bench_psvm_mapped.py [rows] [cache in MiB] [epsilon]``.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from common import start_table

TILE = 1000
MEASURE = r"""
import json, re, sys, time
import numpy as np
from seqkern.solvers import PSVC
def peak():
    return int(re.search(r"VmHWM:\s+([0-9]+)", open("/proc/self/status").read()).group(1)) / 1024
folder, cache_size, epsilon = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
PSVC(epsilon=0.9).fit(np.eye(30), np.arange(30) % 2)
before, start = peak(), time.process_time()
K, y = np.load(f"{folder}/K.npy", mmap_mode="r"), np.load(f"{folder}/y.npy")
solver = PSVC(C=1, epsilon=epsilon, cache_size=cache_size, tol=1e-3).fit(K, y)
report = solver.report_
print(json.dumps({"seconds": time.process_time() - start, "peak": peak() - before, "support": report["n_support"],
                  "iterations": report["iterations"], "gap": report["gap"], "converged": report["converged"]}))
"""


def write_matrix(folder, n, seed=1):
    """Write exp(−‖x − x'‖² / 20) of n random points in ten dimensions, and their classes, to `folder`."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 10))
    y = np.where(points[:, 0] * points[:, 1] + 0.3 * rng.normal(size=n) > 0, 1, -1)
    np.save(Path(folder) / "y.npy", y)
    K = np.lib.format.open_memmap(Path(folder) / "K.npy", mode="w+", dtype=np.float64, shape=(n, n))
    squares = (points**2).sum(axis=1)
    for top in range(0, n, TILE):
        for left in range(0, top + 1, TILE):
            rows, cols = slice(top, top + TILE), slice(left, left + TILE)
            distances = squares[rows, None] + squares[cols] - 2 * points[rows] @ points[cols].T
            tile = np.exp(-np.maximum(distances, 0) / 20)
            if top == left:
                tile = (tile + tile.T) / 2
            K[rows, cols] = tile
            K[cols, rows] = tile.T
    K.flush()


def spoil(folder):
    """Make the matrix unsymmetric."""
    K = np.load(Path(folder) / "K.npy", mmap_mode="r+")
    K[-1, 0] = np.nextafter(K[-1, 0], 2)
    K.flush()


def measure(folder, cache_size, epsilon):
    """Return what one fit took, in a process of its own."""
    command = [sys.executable, "-c", MEASURE, str(folder), str(cache_size), str(epsilon)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is of Linux")
def test_memory_stays_within_the_cache(tmp_path, record_property):
    write_matrix(tmp_path, 20_000)
    for order in ("columns", "rows"):
        found = measure(tmp_path, 256, 0.1)
        for name, value in found.items():
            record_property(f"{order}_{name}", value)
        assert found["converged"]
        assert found["peak"] < 256 + 128 + 32
        spoil(tmp_path)


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    cache = float(sys.argv[2]) if len(sys.argv) > 2 else 256
    share = float(sys.argv[3]) if len(sys.argv) > 3 else 0.1
    with tempfile.TemporaryDirectory(dir=".") as where:
        write_matrix(where, count)
        print(f"{count:,} rows, {8 * count**2 / 1e9:.1f} GB, cache {cache:g} MiB, ε = {share:g} of the largest.")
        row = start_table("read by", "CPU s", "peak MiB", "support vectors", "steps", "gap", "converged")
        for read_by in ("columns", "rows"):
            got = measure(where, cache, share)
            numbers = [f"{got['seconds']:.1f}", f"{got['peak']:.0f}", got["support"], got["iterations"]]
            row(read_by, *numbers, f"{got['gap']:.1e}", got["converged"])
            spoil(where)
