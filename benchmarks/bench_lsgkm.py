"""Training of a gapped k-mer SVM beside LS-GKM: CPU seconds, duality gap, AUC on new sequences.

Half of the random sequences have a motif with substitutions planted. ``gkmtrain``, built from the source of LS-GKM,
runs with its defaults (l = 11, k = 7, d = 3, both strands, C = 1) and a cache of 4 GB, on one
thread. seqkern trains the solvers that take products with the kernel matrix on the same kernel, FASTA included; with
``clip``, which sets the one negative eigenvalue of the kernel to zero. Gaps are shares of the primal objective, that of
LS-GKM computed from the coefficients of its model.

``SEQKERN_LSGKM`` names the folder of LS-GKM's programs.

Run it by: ``SEQKERN_LSGKM=… python benchmarks/bench_lsgkm.py [sequences] [length]``.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from common import child_seconds, start_table

from seqkern import read_fasta
from seqkern.core.errors import SeqkernError
from seqkern.evaluation import roc_auc
from seqkern.kernels import build_kernel
from seqkern.solvers import build_solver

KERNEL = "gapped_kmer:l=11,k=7,d=3,estimator=truncated,reverse_complement=true,clip=true,n_threads=1"
SOLVERS = ("csvc:tol=1e-3", "linear_svc:tol=1e-3", "primal_svc:tol=1e-3", "primal_svc:tol=1e-6")
MOTIF = "TGACTCAGCAAT"
SUBSTITUTED = 0.25
TEST_SHARE = 0.2


def simulate(n, length, rng):
    """Return `n` strings, the first half with a motif, and their labels."""
    letters = rng.choice([*b"ACGT"], size=(n, length)).astype(np.uint8)
    motif = np.frombuffer(MOTIF.encode(), dtype=np.uint8)
    for row in letters[: n // 2]:
        at = rng.integers(0, length - len(motif))
        kept = rng.random(len(motif)) >= SUBSTITUTED
        row[at : at + len(motif)][kept] = motif[kept]
    return [row.tobytes().decode() for row in letters], np.arange(n) < n // 2


def write(path, strings):
    """Write a FASTA file."""
    path.write_text("".join(f">{path.stem}{i}\n{string}\n" for i, string in enumerate(strings)))
    return path


def by_lsgkm(program, folder, positives, negatives):
    """Return CPU seconds, and (coefficient of each training sequence, rho)."""
    command = [program, "-m", "4000", "-v", "1", positives, negatives, folder / "lsgkm"]
    seconds, _ = child_seconds(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))
    header, vectors = (folder / "lsgkm.model.txt").read_text().split("SV\n", 1)
    rho = float(next(line for line in header.splitlines() if line.startswith("rho")).split()[1])
    pairs = [line.split() for line in vectors.splitlines()]
    return seconds, {string: float(number) for number, string in pairs}, rho


def hinge_gap(operator, coefficients, rho, y):
    """Return the duality gap of C = 1, as a share of the primal objective."""
    f = operator.times(coefficients)
    norm = coefficients @ f
    primal = norm / 2 + np.maximum(0, 1 - np.where(y, 1, -1) * (f - rho)).sum()
    return (primal - (np.abs(coefficients).sum() - norm / 2)) / primal


def by_seqkern(spec, files, y, n_train):
    """Return CPU seconds, the report and the decisions of new sequences; None if the solver takes no products."""
    start = time.process_time()
    X = read_fasta(files)
    operator = build_kernel(KERNEL).operator(X)
    train, new = np.arange(n_train), np.arange(n_train, len(X))
    try:
        solver = build_solver(spec).fit(operator.take(train), y[:n_train])
    except (SeqkernError, ValueError, TypeError):
        return None
    seconds = time.process_time() - start
    return seconds, solver.report_, solver.decision_function(operator.take(new))


def report(program, n=10_000, length=300):
    """Print a table."""
    rng = np.random.default_rng(1)
    (strings, y), (new, truth) = simulate(n, length, rng), simulate(int(n * TEST_SHARE), length, rng)
    row = start_table("program", "CPU s", "ratio", "gap", "products", "AUC of new sequences")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts = strings[: n // 2], strings[n // 2 :], new
        files = [write(folder / f"{stem}.fa", part) for stem, part in zip(("pos", "neg", "new"), parts, strict=True)]
        theirs, found, rho = by_lsgkm(program, folder, *files[:2])
        operator = build_kernel(KERNEL).operator(read_fasta(files))
        coefficients = np.array([found.get(string, 0.0) for string in strings])
        some = operator.take(np.arange(n))
        scores = operator.take(np.arange(n, len(operator))).dots(some.weights(coefficients))
        gap = hinge_gap(some, coefficients, rho, y)
        row("LS-GKM", f"{theirs:.1f}", "", f"{gap:.1e}", "", f"{roc_auc(truth, scores):.4f}")
        for spec in SOLVERS:
            ours = by_seqkern(spec, files, np.concatenate((y, truth)), n)
            if ours is None:
                row(spec, "takes no products", "", "", "", "")
                continue
            seconds, told, decisions = ours
            auc = roc_auc(truth, decisions)
            numbers = [f"{seconds:.1f}", f"{theirs / seconds:.0f}", f"{told['gap']:.1e}"]
            row(f"seqkern `{spec}`", *numbers, told.get("products", ""), f"{auc:.4f}")


if __name__ == "__main__":
    report(Path(os.environ["SEQKERN_LSGKM"]) / "gkmtrain", *map(int, sys.argv[1:]))
