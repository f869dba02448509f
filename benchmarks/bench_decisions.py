"""Decision values of up to 2,000 sequences against 1,750 support sequences: folded into one table, and by the matrix.

tfbs/CTCF.test against the first 1,750 of tfbs/CTCF.train with coefficients drawn at random; from codes to decisions,
both sets prepared, on one thread: CPU seconds of the process, medians after a warm-up, all in one run, and the
largest difference between the two ways as a share of the largest decision. LS-GKM took 32 CPU seconds for
this job on a machine like that of docs/performance.md (measured elsewhere; it is not on PyPI).

Run it by pytest, or: ``python benchmarks/bench_decisions.py [repeats [word of the kernel]]``, which prints a table.
"""

import sys

import numpy as np
import pytest
from common import cpu_seconds, load, start_table

from seqkern.kernels import build_kernel
from seqkern.kernels.decisions import fold
from seqkern.sequences.sequence_set import SequenceSet

SUPPORT = 1750
GAPPED = "gapped_kmer:l=10,k=6,d=3,estimator=truncated,reverse_complement=true"
JOBS = [
    (GAPPED, 0.4),
    (f"{GAPPED},center_weighted=true", None),
    ("mismatch:k=6,m=1", None),
    ("mismatch:k=6,m=2", None),
    ("gapped_kmer:l=8,k=6", None),
    ("gapped_kmer:l=12,k=6", None),
    ("spectrum:k=6", None),
]
QUERIES = (10, 2000)


def sets():
    """Return new sequences, support sequences and their coefficients."""
    support, new = (SequenceSet.from_strings(load(name)[0], "dna", unknown="mask") for name in ("ctcf", "ctcf-test"))
    coefficients = np.random.default_rng(1).standard_normal(SUPPORT)
    return new, support.take(slice(SUPPORT)), coefficients


def by_table(spec, new, support, coefficients):
    """Return the decisions through the folded table."""
    kernel = build_kernel(spec).set_params(n_threads=1)
    columns = kernel.prepare(support)
    return fold(kernel, columns, coefficients)(kernel.prepare(new, like=columns))


def by_matrix(spec, new, support, coefficients):
    """Return the decisions through the kernel matrix."""
    return build_kernel(spec)(new, support, n_threads=1) @ coefficients


def report(repeats, word=""):
    """Print a table of all jobs whose kernel has a word."""
    new, *model = sets()
    row = start_table("kernel", "sequences", "table, CPU s", "target", "matrix, CPU s", "ratio", "largest difference")
    for spec, target in [job for job in JOBS if word in job[0]]:
        for number in QUERIES:
            given = new.take(slice(number)), *model
            table, matrix = (
                cpu_seconds(lambda way=way, spec=spec, given=given: way(spec, *given), repeats)
                for way in (by_table, by_matrix)
            )
            expected = by_matrix(spec, *given)
            difference = np.abs(by_table(spec, *given) - expected).max() / np.abs(expected).max()
            wanted = target if target and number == len(new) else ""
            numbers = [f"{table:.4f}", wanted, f"{matrix:.4f}", f"{matrix / table:.1f}", f"{difference:.1e}"]
            row(spec, f"{number:,}", *numbers)


@pytest.mark.parametrize(("spec", "target"), JOBS)
def test_decisions(benchmark, spec, target):
    benchmark.extra_info["target"] = target
    benchmark.pedantic(by_table, (spec, *sets()), rounds=5, warmup_rounds=1)


if __name__ == "__main__":
    report(int(sys.argv[1]) if len(sys.argv) > 1 else 7, *sys.argv[2:3])
