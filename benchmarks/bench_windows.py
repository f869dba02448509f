"""Features of windows around residues: Nyström and random Fourier features of 187,000 windows of 15, and decisions.

CPU seconds, on one thread, of fitting, of all features (what training takes), and of the features times the weights of
three classes (what prediction takes), windows cut and gathered anew. Chains and profiles are random. Run it by pytest,
or: ``python benchmarks/bench_windows.py``.
"""

import time

import numpy as np
from common import start_table

from seqkern.formats import residue_windows
from seqkern.kernels import build_kernel
from seqkern.sequences.sequence_set import SequenceSet

HALF = 7
SPECS = (
    "nystroem:base=(pssm_window:gamma=0.05),n_components={}",
    "nystroem:base=(window:gamma=0.1),n_components={}",
    "nystroem:base=(window:vector_kernel=polynomial,gamma=0.1,degree=3),n_components={}",
    "random_fourier:base=(pssm_window:gamma=0.05),n_components={}",
)


def chains(residues, seed=1):
    """Return chains of about 160 residues with a track of PSSMs."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(60, 260, size=max(residues // 160, 1))
    codes = rng.integers(20, size=lengths.sum()).astype(np.uint8)
    pssm = np.round(rng.normal(0, 3, (len(codes), 20))).astype(np.float32)
    ids = [f"c{i}" for i in range(len(lengths))]
    return SequenceSet.from_offsets(codes, np.concatenate(([0], np.cumsum(lengths))), ids, "protein", {"pssm": pssm})


def measure(spec, residues):
    """Return (windows, CPU seconds of fitting, of all features, of decisions)."""
    Z, seconds = chains(residues), []

    def timed(run):
        start = time.process_time()
        result = run()
        seconds.append(time.process_time() - start)
        return result

    X = residue_windows(Z, HALF)
    kernel = timed(lambda: build_kernel(spec).set_params(n_threads=1).fit(X))
    timed(lambda: [len(block) for _, block in kernel.features.blocks(X).blocks()])
    weights = np.random.default_rng(2).standard_normal((kernel.features.blocks(X).shape[1], 3))
    timed(lambda: kernel.features.blocks(residue_windows(Z, HALF)).times(weights))
    return len(X), *seconds


def test_features_of_windows(benchmark):
    assert benchmark(lambda: measure(SPECS[0].format(100), 2000))[0] > 1000


if __name__ == "__main__":
    row = start_table("kernel", "windows", "fit, s", "all features, s", "decisions: residues a CPU second")
    for spec in SPECS:
        n, fit, features, decisions = measure(spec.format(2000), 187_000)
        row(f"`{spec.format(2000)}`", f"{n:,}", f"{fit:.1f}", f"{features:.1f}", f"{n / decisions:,.0f}")
