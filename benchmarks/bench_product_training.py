"""Training on products with the kernel matrix: CPU seconds, products, duality gap and memory by number of records.

Random DNA; in 80 % of the positives a motif of 14 bases with one random base is planted. The kernel is gapped_kmer with
l = 11, k = 7 on both strands, C = 1, tolerance 1e-3, one thread. Each row is a process of its own. Run it by::

    python benchmarks/bench_product_training.py [20000x300 100000x300 275000x500]
"""

import multiprocessing
import resource
import sys
import time

import numpy as np

from seqkern.kernels import build_kernel
from seqkern.sequences.alphabets import DNA
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers import build_solver

KERNEL = "gapped_kmer:l=11,k=7,reverse_complement=true,n_threads=1"
SOLVERS = {
    "squared hinge": "primal_svc:C=1,tol=1e-3",
    "hinge": "linear_svc:C=1,tol=1e-3",
    "logistic": "primal_svc:C=1,tol=1e-3,loss=logistic",
}
SIZES = ("20000x300", "100000x300", "275000x500")
MOTIF = "CCACCAGGGGGCGC"


def simulate(n, length):
    """Return a SequenceSet and labels."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 4, (n, length)).astype(np.uint8)
    y = np.where(rng.random(n) < 0.5, 1, -1)
    motif = DNA.encode(MOTIF.encode())
    for row in map(codes.__getitem__, np.flatnonzero((y > 0) & (rng.random(n) < 0.8))):
        start = rng.integers(0, length - len(motif))
        kept = np.arange(len(motif)) != rng.integers(len(motif))
        row[start : start + len(motif)][kept] = motif[kept]
    ids = [str(number) for number in range(n)]
    return SequenceSet.from_offsets(codes.reshape(-1), np.arange(n + 1) * length, ids, DNA), y


def train(n, length, solver):
    """Return the cells of one row."""
    X, y = simulate(n, length)
    begin = time.process_time()
    products = build_kernel(KERNEL).operator(X)
    middle = time.process_time()
    report = build_solver(solver).fit(products, y).report_
    end = time.process_time()
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return middle - begin, end - middle, report["products"], report["gap"], megabytes


def main():
    """Print the table."""
    print("| sequences | loss | preparing, CPU s | training, CPU s | products | gap | peak MB |")
    print("|---|---|---|---|---|---|---|")
    context = multiprocessing.get_context("spawn")
    for size in sys.argv[1:] or SIZES:
        n, length = map(int, size.split("x"))
        for name, solver in SOLVERS.items():
            with context.Pool(1) as pool:
                before, during, products, gap, megabytes = pool.apply(train, (n, length, solver))
            print(
                f"| {n:,} × {length} | {name} | {before:.1f} | {during:.1f} | {products} | {gap:.1g} | {megabytes} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
