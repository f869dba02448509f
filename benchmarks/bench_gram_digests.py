"""The share of verifying a stored Gram matrix in the CPU seconds of ``seqkern evaluate``.

    python benchmarks/bench_gram_digests.py [SAMPLES …]

Simulated donor sites against decoys, kernel spectrum:k=4, ten folds shared by four jobs, in a temporary folder.
`open_gram` verifies every value, `open_unverified` none: their difference is the cost, beside that of one job.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import child_seconds

from seqkern.gram import open_gram
from seqkern.gram.stored_matrix import open_unverified

SIZES = (1000, 10_000)
JOBS, REPEATS = 4, 9
KERNEL = "spectrum:k=4"
SOLVERS = ("psvc:C=1,epsilon=0.1", "csvc:C=1", "csvc:C=[0.1,1,10]")


def seqkern(*arguments):
    """Run a command, and return its CPU seconds."""
    command = [sys.executable, "-m", "seqkern.cli.main", *map(str, arguments)]
    return child_seconds(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))[0]


def verification(path):
    """Return the CPU seconds of verifying a matrix: medians of both ways to open it, in turns."""
    taken = {open_gram: [], open_unverified: []}
    for _ in range(REPEATS):
        for way, seconds in taken.items():
            start = time.process_time()
            way(path)
            seconds.append(time.process_time() - start)
    verified, not_verified = (sorted(seconds)[REPEATS // 2] for seconds in taken.values())
    return verified - not_verified


def measure(n, folder):
    """Print a row for each solver."""
    simulate = {"kind": "donor", "n_positive": n // 2, "n_decoy": n - n // 2, "dependence": 0}
    data, folds, gram = folder / "data", folder / "folds", folder / "gram.npy"
    seqkern("datasets", "--entry", json.dumps({"simulate": simulate}), "--name", "donor", "-o", data)
    seqkern("folds", data, "--k", 10, "--allow-similar", "--threads", 1, "-o", folds)
    seqkern("gram", "--dataset", data, "--kernel", KERNEL, "--threads", 1, "-o", gram)
    cost = verification(gram)
    for solver in SOLVERS:
        job = seqkern(
            *("evaluate", data, "--folds", folds, "--kernel", KERNEL, "--gram", gram, "--solver", solver),
            *("--share", f"1/{JOBS}", "--threads", 1, "-o", folder / "results"),
        )
        print(f"| {n:,} | `{solver}` | {job:.2f} | {cost:.4f} | {100 * cost / job:.1f} % |", flush=True)


def main():
    """Measure the sizes given as arguments."""
    print("| samples | solver | one job of four | verification | share |\n|---|---|---|---|---|")
    for n in map(int, sys.argv[1:] or SIZES):
        with tempfile.TemporaryDirectory() as folder:
            measure(n, Path(folder))


if __name__ == "__main__":
    main()
