"""CPU seconds and memory of the solvers by linear algebra on one Gram matrix: the last table of docs/solvers.md.

Each runs in a process of its own, in which K (RBF, points in ten dimensions) is all that was there before. Memory is
the largest resident size during the fit less that before it, in units of K; Linux only. Run it by pytest, or:
``python benchmarks/bench_algebra.py [records]``.
"""

import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from common import start_table

SOLVERS = (
    "lssvc",
    "lssvc:form=inequality",
    "lssvc:form=inequality,C=100",
    "kernel_fisher",
    "kernel_fisher:penalty=function",
    "spherical_svc",
    "kernel_pca:n_components=10",
    "kernel_neighbors",
    "csvc",
)
COPIES = 2.5


def resident(name):
    """Return the resident size in bytes, now (VmRSS) or at most since it was forgotten (VmHWM)."""
    return 1024 * int(re.search(rf"{name}:\s+(\d+)", Path("/proc/self/status").read_text())[1])


def problem(n, seed=0):
    """Return an RBF Gram matrix and labels that overlap."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 10))
    square = np.sum(points**2, axis=1)
    K = points @ points.T
    K *= 2
    for start in range(0, n, 256):  # symmetric to the bit, without a second matrix
        K[start : start + 256] -= square[start : start + 256, None] + square
    K /= 20
    np.exp(K, out=K)
    return K, (points[:, 0] + 0.5 * points[:, 1] ** 2 + 0.3 * rng.normal(size=n) > 0.5).astype(int)


def measure(spec, n):
    """Print CPU seconds of a fit, the memory that it took, in units of K, and whether it converged."""
    from seqkern.solvers import build_solver

    small, labels = problem(100)
    build_solver(spec).fit(small, labels)  # imports
    K, y = problem(n)
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    start = time.process_time()
    solver = build_solver(spec).fit(K, y)
    seconds = time.process_time() - start
    copies = (resident("VmHWM") - before) / K.nbytes
    print(f"{seconds:.1f}", f"{copies:.1f}", "yes" if solver.report_["converged"] else "no", sep="\t")


def run(spec, n):
    """Return what `measure` prints in a process of its own: a list of words."""
    command = [sys.executable, __file__, str(n), spec]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip().split("\t")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("spec", SOLVERS)
def test_memory_is_bounded_by_copies_of_the_matrix(spec, record_property):
    found = run(spec, 3000)
    record_property("measured", found)
    assert float(found[1]) < COPIES
    assert found[2] == "yes"


if __name__ == "__main__":
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    if len(sys.argv) > 2:
        measure(sys.argv[2], size)
    else:
        row = start_table(f"solver, {size:,} records", "CPU s", "memory, in units of K", "converged")
        for one in SOLVERS:
            row(f"`{one}`", *run(one, size))
