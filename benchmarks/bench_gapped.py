"""Gapped k-mer, mismatch and gappy pair kernels beside FastSK, on every level of vector instructions.

A job is everything from Python strings to the full, normalised float64 matrix, on one thread: CPU seconds of the
process, medians after a warm-up, all in one run; FastSK (``compute_train`` alone, from PyPI, in an environment of its
own) once, with the entry K21 of its matrix beside ours. ``threads`` is the wall time of one thread over that of two.

Run it by pytest, or: ``python benchmarks/bench_gapped.py [repeats]``, which prints a table.
"""

import math
import sys
import time

import pytest
from common import algorithms, cpu_seconds, load, run_rival, seqkern_gram, start_table

from seqkern.kernels.products import _product

LEVELS = ("plain", "AVX2", "AVX-512")
BOTH = "reverse_complement=true"
TRUNCATED = "estimator=truncated"
# Data, kernel, the CPU seconds that it may take (None: measured only), g and m of FastSK (None: it cannot).
JOBS = [
    ("ctcf", "gapped_kmer:l=10,k=6", 0.25, (10, 4)),
    ("ctcf", f"gapped_kmer:l=10,k=6,{BOTH}", 0.5, None),
    ("ctcf", f"gapped_kmer:l=10,k=6,d=3,{TRUNCATED},{BOTH}", 0.6, None),
    ("ctcf", "gapped_kmer:l=16,k=6", None, None),
    ("ctcf", "gapped_kmer:l=16,k=12", None, (16, 4)),
    ("ctcf", "gapped_kmer:l=20,k=16", None, None),
    ("random-200", f"gapped_kmer:l=11,k=7,d=3,{TRUNCATED},{BOTH}", None, None),
    ("scop", "gapped_kmer:l=6,k=4", 0.35, (6, 2)),
    ("scop", "mismatch:k=6,m=2", 1.2, None),
    ("scop-train", "gappy_pair:k=2,m=4", 0.2, None),
]
LONG = 3.0  # seconds predicted for a job that runs once, at the highest level


def wall_seconds(run):
    """Return the least wall time of five calls."""
    taken = []
    for _ in range(5):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return min(taken)


def once(job):
    """Return the CPU seconds of a job that is not repeated."""
    start = time.process_time()
    seqkern_gram(*job)
    return time.process_time() - start


def at_level(level, job, repeats):
    """Return the CPU seconds of a job with the vector instructions of a level."""
    _product.set_level(level)
    try:
        return cpu_seconds(lambda: seqkern_gram(*job), repeats)
    finally:
        _product.set_level(len(LEVELS))


def report(repeats):
    """Print a table of all jobs."""
    highest = _product.level()
    head = ["data", "kernel", "algorithm", "predicted", "target", *LEVELS[: highest + 1]]
    row = start_table(*head, "two threads, ×", "FastSK", "ratio", "its K21 / ours")
    for name, spec, target, rival in JOBS:
        strings, alphabet = load(name)
        for algorithm, plan in algorithms(spec, strings, alphabet).items():
            job = (strings, alphabet, spec, algorithm)
            if plan.seconds > LONG:
                seconds = [float("nan")] * highest + [once(job)]
            else:
                seconds = [at_level(level, job, 1 if level == 0 else repeats) for level in range(highest + 1)]
            chosen, threads, beside = algorithm, "", ["", "", ""]
            if algorithm == "auto":
                chosen = f"auto ({plan.algorithm})"
                if plan.seconds <= LONG:
                    one, two = (wall_seconds(lambda n=n, job=job: seqkern_gram(*job, n)) for n in (1, 2))
                    threads = f"{one / two:.2f}"
                if rival:
                    theirs = run_rival(["fastsk"], "rival_fastsk.py", strings, *rival)
                    ours = seqkern_gram(*job)[1, 0]
                    if theirs:
                        K21 = f"{theirs['K21']:.7f} / {ours:.7f}"
                        beside = [f"{theirs['seconds']:.2f}", f"{theirs['seconds'] / seconds[-1]:.0f}", K21]
            numbers = [
                f"{plan.seconds:.3f}",
                str(target or ""),
                *("" if math.isnan(each) else f"{each:.3f}" for each in seconds),
            ]
            row(name, spec, chosen, *numbers, threads, *beside)


@pytest.mark.parametrize(("name", "spec", "target", "rival"), JOBS)
def test_gram(benchmark, name, spec, target, rival):
    strings, alphabet = load(name)
    benchmark.extra_info["target"] = target
    benchmark.pedantic(seqkern_gram, (strings, alphabet, spec), rounds=5, warmup_rounds=1)


if __name__ == "__main__":
    report(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
