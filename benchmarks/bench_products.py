"""Products with the kernel matrix of gapped k-mers without the matrix, for 20,000 to 275,000 random sequences.

The kernel is the default of LS-GKM (l = 11, k = 7, d = 3, both strands); others for comparison. Random sequences from
a seed, one thread: CPU seconds of the process, the best of several after a warm-up; the lists of l-mers and K(x, x)
are made once. Predicted are the seconds of a product and the memory of the operator with three tables (10^6 bytes).

Run it by pytest, or: ``python benchmarks/bench_products.py [repeats]``, which prints a table.
"""

import sys
import time

import numpy as np
import pytest
from common import PROTEIN, start_table

from seqkern.kernels import build_kernel
from seqkern.kernels.kmer import hamming_operator
from seqkern.sequences.sequence_set import SequenceSet

GAPPED = "gapped_kmer:l=11,k=7,d=3,estimator=truncated,reverse_complement=true,n_threads=1"
JOBS = [
    (GAPPED, "dna", 20_000, 300),
    (GAPPED, "dna", 100_000, 300),
    (GAPPED, "dna", 275_000, 500),
    (f"{GAPPED},center_weighted=true", "dna", 20_000, 300),
    (GAPPED.replace("l=11", "l=12"), "dna", 100_000, 300),
    ("mismatch:k=5,m=1,n_threads=1", "protein", 100_000, 300),
]


def sequences(alphabet, n, length):
    """Return `n` random sequences."""
    letters = 4 if alphabet == "dna" else len(PROTEIN)
    codes = np.random.default_rng(1).integers(0, letters, n * length, dtype=np.uint8)
    return SequenceSet.from_offsets(codes, np.arange(n + 1) * length, [str(i) for i in range(n)], alphabet)


def best(run, repeats):
    """Return the least CPU seconds of several calls, after one that does not count."""
    run()
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    return min(taken)


def measure(spec, alphabet, n, length, dtype, repeats):
    """Return the columns of the table."""
    X, kernel = sequences(alphabet, n, length), build_kernel(spec)
    start, spent = time.process_time(), []
    known = hamming_operator.own_values

    def own_values(*given):
        begun = time.process_time()
        out = known(*given)
        spent.append(time.process_time() - begun)
        return out

    hamming_operator.own_values = own_values
    operator = kernel.operator(X, dtype=dtype)
    hamming_operator.own_values = known
    made = time.process_time() - start - sum(spent)
    coefficients = np.random.default_rng(2).normal(size=n)
    table = operator.weights(coefficients)
    half = operator.take(np.flatnonzero(np.random.default_rng(3).random(n) < 0.5))
    return {
        "lists": made,
        "squares": sum(spent),
        "collect": best(lambda: operator.collect(coefficients), repeats),
        "spread": best(lambda: operator.spread(table), repeats),
        "dots": best(lambda: operator.dots(table), repeats),
        "product": best(lambda: operator.times(coefficients), repeats),
        "product of half": best(lambda: half.times(coefficients[: len(half)]), repeats),
        "predicted": kernel.operator.cost(X),
        "MB": kernel.operator.bytes(X) / 1e6,
    }


def report(repeats):
    """Print a table of all jobs."""
    for number, (spec, alphabet, n, length) in enumerate(JOBS):
        for dtype in (np.float64, np.float32):
            columns = measure(spec, alphabet, n, length, dtype, repeats)
            if not number and dtype is np.float64:
                row = start_table("kernel", "sequences", "tables", *columns)
            numbers = [f"{value:.3f}" if name != "MB" else f"{value:.0f}" for name, value in columns.items()]
            row(spec, f"{n:,} × {length}", np.dtype(dtype), *numbers)


@pytest.mark.parametrize(("spec", "alphabet", "n", "length"), JOBS[:2])
def test_products(benchmark, spec, alphabet, n, length):
    operator = build_kernel(spec).operator(sequences(alphabet, n, length))
    benchmark.pedantic(operator.times, (np.ones(n),), rounds=5, warmup_rounds=1)


if __name__ == "__main__":
    report(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
