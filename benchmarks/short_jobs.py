"""Short jobs, one of each kind, for the record of speeds in ``benchmarks/history`` (see ``history.py``).

Generated data, so that they are the same everywhere; one thread, CPU seconds. Two yardsticks, which use nothing of
seqkern, stand for the machine: sorting for computing, filling a matrix for writing.

Run it by: ``pytest --benchmark-timer=time.process_time benchmarks/short_jobs.py``.
"""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from common import PROTEIN, random_strings

from seqkern import read_fasta
from seqkern.kernels import build_kernel
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers import build_solver

ROUNDS = 7
DNA, PROTEINS, FEW_PROTEINS = ("ACGT", 1000, 100), (PROTEIN, 1000, 130), (PROTEIN, 100, 130)
KERNELS = {
    "spectrum:k=6": DNA,
    "spectrum:k=3": PROTEINS,
    "mismatch:k=6,m=1": DNA,
    "mismatch:k=5,m=1": PROTEINS,
    "gapped_kmer:l=10,k=6": DNA,
    "gapped_kmer:l=6,k=4": PROTEINS,
    "weighted_degree:degree=20": DNA,
    "shifted_weighted_degree:degree=6,shift=10": DNA,
    "oligo:k=3,sigma=5": DNA,
    "string:n=4": FEW_PROTEINS,
    "smith_waterman": (PROTEIN, 300, 130),
    "local_alignment": FEW_PROTEINS,
}
SOLVERS = ("psvc:C=1,epsilon=0.1", "csvc:C=1", "lssvc", "linear_svc:C=1", "primal_svc:C=1")


def sequences(letters, n, length):
    """Return random sequences; the second half of the DNA has a motif."""
    strings = random_strings(n, length, letters)
    if letters == "ACGT":
        strings[n // 2 :] = [f"{string[:40]}TGACTCAGCA{string[50:]}" for string in strings[n // 2 :]]
    return SequenceSet.from_strings(strings, "dna" if letters == "ACGT" else "protein")


@pytest.mark.parametrize("yardstick", ["sorting", "filling"])
def test_yardstick(benchmark, yardstick):
    values = np.random.default_rng(1).random(1 << 20)
    run = {"sorting": lambda: np.sort(values), "filling": lambda: np.full(1 << 22, 0.5)}[yardstick]
    benchmark.pedantic(run, rounds=ROUNDS, warmup_rounds=1)


@pytest.mark.parametrize("spec", KERNELS)
def test_kernel(benchmark, spec):
    X = sequences(*KERNELS[spec])
    benchmark.pedantic(build_kernel(spec).kernel, (X,), {"n_threads": 1}, rounds=ROUNDS, warmup_rounds=1)


@pytest.mark.parametrize("spec", SOLVERS)
def test_solver(benchmark, spec):
    X = sequences(*DNA)
    y = np.repeat([-1.0, 1.0], len(X) // 2)
    kernel = build_kernel("weighted_degree:degree=6")
    given = kernel.implicit(X) if spec.startswith(("linear", "primal")) else kernel(X)
    benchmark.pedantic(lambda: build_solver(spec).fit(given, y), rounds=ROUNDS, warmup_rounds=1)


def test_reading(benchmark):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "in.fasta"
        path.write_text("".join(f">s{i}\n{string}\n" for i, string in enumerate(random_strings(20_000, 100))))
        benchmark.pedantic(read_fasta, (path,), rounds=ROUNDS, warmup_rounds=1)
