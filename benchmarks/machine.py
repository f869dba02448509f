"""What the machine does at best: vector operations, additions to scattered places, look-ups, bytes written.

The limits of docs/performance.md are counts of such operations, divided by these rates, one thread. The loops in
``machine.c`` are compiled for this processor; vectors have 64 bytes (where registers have 32, an operation is two).

Run it by: ``python benchmarks/machine.py``, which prints a table.
"""

import ctypes
import os
import platform
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from common import cpu_seconds, start_table

HERE = Path(__file__).resolve().parent
ROUNDS, CHAINS = 4_000_000, 12
REPEATS = 5
ROW, PLACES = 2000, 65_536
TABLE, LOOKUPS = 1 << 22, 1 << 22  # 16 MB in single precision: more than the second-level cache
WRITTEN = 1 << 25  # bytes: a matrix of 2,000 records


WORDS = {
    "logic": "bitwise operations on vectors of 64 bytes",
    "additions": "additions of 8-bit numbers in such vectors",
    "single_products": "products of single precision in such vectors",
    "double_products": "products of double precision in such vectors",
    "scattered": "additions to places of a row in the first-level cache",
    "looked_up": "look-ups at random places of a table of 16 MB",
    "written": "bytes written to fresh memory",
}


@dataclass
class Machine:
    """Operations, or bytes, a second on one thread: see `WORDS`."""

    logic: float
    additions: float
    single_products: float
    double_products: float
    scattered: float
    looked_up: float
    written: float


def compiled():
    """Return the library of ``machine.c``, compiled for this processor."""
    folder = Path(tempfile.mkdtemp())
    library = folder / "machine.so"
    flags = ["-O3", "-march=native", "-shared", "-fPIC"]
    subprocess.run([os.environ.get("CC", "cc"), *flags, HERE / "machine.c", "-o", library], check=True)
    loops = ctypes.CDLL(str(library))
    for name in ("logic", "additions", "single_products", "double_products"):
        getattr(loops, name).argtypes = [ctypes.c_long]
    loops.scattered.argtypes = [ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long]
    loops.looked_up.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long]
    return loops


@cache
def machine():
    """Measure this machine."""
    loops, rng = compiled(), np.random.default_rng(1)
    row, places = np.zeros(ROW, np.float32), rng.integers(0, ROW, PLACES).astype(np.uint16)
    table, random = np.zeros(TABLE, np.float32), rng.integers(0, TABLE, LOOKUPS).astype(np.uint32)

    def rate(count, run):
        return count / cpu_seconds(run, REPEATS)

    def vectors(loop):
        return rate(ROUNDS * CHAINS, lambda: loop(ROUNDS))

    return Machine(
        logic=vectors(loops.logic),
        additions=vectors(loops.additions),
        single_products=vectors(loops.single_products),
        double_products=vectors(loops.double_products),
        scattered=rate(100 * PLACES, lambda: loops.scattered(100, row.ctypes.data, places.ctypes.data, PLACES)),
        looked_up=rate(LOOKUPS, lambda: loops.looked_up(table.ctypes.data, random.ctypes.data, LOOKUPS)),
        written=rate(WRITTEN, lambda: np.full(WRITTEN // 8, 0.5)),
    )


def processor():
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


if __name__ == "__main__":
    row = start_table("at best, one thread", "10⁹ a second")
    for name, value in vars(machine()).items():
        row(WORDS[name], f"{value / 1e9:.1f}")
