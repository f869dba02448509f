"""Kernels whose cost is the matrix itself: computed, normalised, written on both sides of the diagonal.

``ctcf``: 2,000 windows of 100 nt; ``scop-train``: 2,075 proteins; ``random``: 20,000 random windows of 141 nt, from
which a matrix of 1.6 GB in single precision results. Encoded sequences to the full, normalised matrix on one thread:
CPU seconds of the process, system time included, medians after a warm-up, in turns with *prototype*: the shortest fast
C (``output_prototypes.c``, compiled for this processor), which writes a new matrix, too. *ratio* is the prototype's
time to ours. *written* is a matrix of the same size filled with one number: what allocating and writing it take at
least. The last job goes to disk; then *written* are as many bytes, in a new file.

Run it by: ``python benchmarks/bench_output.py [repeats]``, which prints a table.
"""

import ctypes
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
from common import HERE, load, random_strings, start_table

from seqkern.gram import compute_gram
from seqkern.kernels import build_kernel
from seqkern.sequences.sequence_set import SequenceSet

JOBS = [
    ("ctcf", "weighted_degree:degree=6", "float64"),
    ("ctcf", "weighted_degree:degree=6", "float32"),
    ("ctcf", "spectrum:k=6", "float64"),
    ("scop-train", "spectrum:k=3", "float64"),
    ("random", "weighted_degree:degree=20", "float32"),
]
PIECE = 1 << 18


def encoded(name):
    """Return the sequences of a set."""
    strings, alphabet = (random_strings(20_000, 141), "dna") if name == "random" else load(name)
    return SequenceSet.from_strings(strings, alphabet, unknown="mask_all")


def compiled(folder):
    """Return the library of prototypes, compiled in a folder; None without a compiler."""
    library = Path(folder) / "prototypes.so"
    options = ["-O3", "-march=native", "-fno-math-errno", "-shared", "-fPIC"]
    try:
        subprocess.run(["cc", *options, HERE / "output_prototypes.c", "-lm", "-o", library], check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return ctypes.CDLL(str(library))


def prototype(library, X, spec, dtype):
    """Return the matrix of a prototype."""
    name, parameter = spec.split(":")
    number = ctypes.c_int(int(parameter.split("=")[1]))
    start = np.append(X.starts, X.stops[-1:])
    out = np.empty((len(X), len(X)), dtype)
    given = [X.codes.ctypes, start.ctypes, ctypes.c_int64(len(X))]
    if name == "spectrum":
        library.spectrum(*given, ctypes.c_int(X.alphabet.size), number, out.ctypes)
    else:
        function = library.weighted_degree_float if dtype == "float32" else library.weighted_degree_double
        function(*given, number, out.ctypes)
    return out


def write(path, size):
    """Write a file of `size` bytes in pieces that stay in the cache."""
    piece = b"7" * PIECE
    with open(path, "wb", buffering=0) as file:
        for _ in range(size // PIECE):
            file.write(piece)


def in_turns(runs, repeats):
    """Return the median CPU seconds of each of several functions, called in turns, after a call that does not count."""
    taken = [[] for _ in runs]
    for turn in range(repeats + 1):
        for run, seconds in zip(runs, taken, strict=True):
            start = time.process_time()
            run()
            if turn:
                seconds.append(time.process_time() - start)
    return [statistics.median(seconds) for seconds in taken]


def report(repeats):
    """Print a table of all jobs."""
    row = start_table("data", "kernel", "matrix", "CPU s", "prototype", "ratio", "written")
    with tempfile.TemporaryDirectory(dir=".") as folder:
        library = compiled(folder)
        for name, spec, dtype in JOBS:
            X, kernel = encoded(name), build_kernel(spec)
            runs = [
                partial(kernel.kernel, X, dtype=dtype, n_threads=1),
                partial(np.full, (len(X), len(X)), 0.5, dtype=dtype),
            ]
            if library:
                np.testing.assert_allclose(runs[0](), prototype(library, X, spec, dtype), rtol=1e-5)
                runs.append(partial(prototype, library, X, spec, dtype))
            taken, least, *other = in_turns(runs, repeats)
            cells = [f"{other[0]:.4f}", f"{other[0] / taken:.2f}"] if other else ["", ""]
            row(name, spec, dtype, f"{taken:.4f}", *cells, f"{least:.4f}")
        path = Path(folder) / "gram.npy"
        stored, least = in_turns(
            [lambda: to_disk(kernel, X, path), lambda: write(path.with_suffix(".bin"), 4 * len(X) ** 2)], repeats
        )
        row(name, spec, "float32 on disk", f"{stored:.2f}", "", "", f"{least:.2f}")


def to_disk(kernel, X, path):
    """Compute a matrix on disk, anew."""
    for old in path.parent.glob(f"{path.name}*"):
        old.unlink()
    compute_gram(kernel, X, path=path, dtype="float32", n_threads=1)


if __name__ == "__main__":
    report(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
