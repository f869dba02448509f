"""Every kernel at each level of vector instructions: AVX-512, AVX2 and plain C, in processes of their own.

CPU seconds of the normalised matrix, encoding included: medians of processes, those of the levels by turns.

Run it by: ``python benchmarks/bench_levels.py [repeats [word of the kernel]]``, which prints a table.
"""

import os
import statistics
import subprocess
import sys

from common import cpu_seconds, load, start_table

from seqkern.kernels import build_kernel
from seqkern.sequences.sequence_set import SequenceSet

LEVELS = ("avx512", "avx2", "plain")
LARGEST_RATIO = 2.2  # of AVX2 to AVX-512

# Data, how many sequences, kernel, algorithm; none where a kernel has one only.
JOBS = [
    ("ctcf", 2000, "spectrum:k=6", "index"),
    ("ctcf", 2000, "spectrum:k=4", "dense"),
    ("ctcf", 2000, "mismatch:k=6,m=2", "dense"),
    ("ctcf", 2000, "mismatch:k=6,m=2,reverse_complement=true", "dense"),
    ("scop-train", 2075, "mismatch:k=3,m=2", "dense"),
    ("scop-train", 2075, "mismatch:k=3,m=1", "subsets"),
    ("ctcf", 2000, "mismatch:k=7,m=1", "diagonals"),
    ("ctcf", 500, "mismatch:k=7,m=1", "pairs"),
    ("ctcf", 1000, "mismatch:k=6,m=1", "trie"),
    ("ctcf", 2000, "gapped_kmer:l=10,k=6", "diagonals"),
    ("ctcf", 500, "gapped_kmer:l=10,k=6", "pairs"),
    ("ctcf", 2000, "wildcard:k=6,m=2", "subsets"),
    ("ctcf", 2000, "gappy:g=7,k=5", "dense"),
    ("ctcf", 2000, "substitution:k=4", "dense"),
    ("ctcf", 2000, "gappy_pair:k=2,m=4", "auto"),
    ("ctcf", 500, "oligo:k=3,sigma=4", "auto"),
    ("ctcf", 500, "oligo_distance:k=2", "auto"),
    ("ctcf", 1000, "d2:k=5", ""),
    ("ctcf", 2000, "weighted_degree:degree=6", ""),
    ("ctcf", 2000, "weighted_degree:degree=20", ""),
    ("ctcf", 1000, "shifted_weighted_degree:degree=6,shift=10", ""),
    ("ctcf", 1000, "locality_improved", ""),
    ("scop-train", 150, "string:n=4", ""),
    ("scop-train", 100, "generic_string", ""),
    ("scop-train", 300, "smith_waterman", "auto"),
    ("scop-train", 200, "local_alignment", ""),
    ("scop-train", 100, "pair_hmm", ""),
    ("scop-train", 300, "compression", ""),
]


def seconds_at(level, number, repeats):
    """Return the CPU seconds of one job in a process at one level; None if the kernel refuses it."""
    script = [sys.executable, __file__, "--job", str(number), str(repeats)]
    done = subprocess.run(script, env=dict(os.environ, SEQKERN_SIMD=level), capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr.strip().splitlines()[-1], file=sys.stderr)
        return None
    return float(done.stdout)


def report(repeats, word=""):
    """Print a table of all jobs."""
    row = start_table("data", "sequences", "kernel", "algorithm", "AVX-512", "AVX2", "plain", "AVX2 / AVX-512", "")
    for number, (name, n, spec, algorithm) in enumerate(JOBS):
        if word not in spec:
            continue
        found = {level: [] for level in LEVELS}
        for _ in range(repeats):
            for level in LEVELS:
                found[level].append(seconds_at(level, number, 3))
        if None in found[LEVELS[0]]:
            continue
        wide, narrow, plain = (statistics.median(found[level]) for level in LEVELS)
        mark = "above" if narrow / wide > LARGEST_RATIO else ""
        numbers = [f"{wide:.4f}", f"{narrow:.4f}", f"{plain:.4f}", f"{narrow / wide:.2f}", mark]
        row(name, f"{n:,}", f"`{spec}`", algorithm, *numbers)


def run(number, repeats):
    """Print the CPU seconds of one job."""
    name, n, spec, algorithm = JOBS[number]
    strings, alphabet = load(name)
    kernel = build_kernel(spec)
    if algorithm:
        kernel.set_params(algorithm=algorithm)

    def gram():
        kernel(SequenceSet.from_strings(strings[:n], alphabet, unknown="mask_all"), n_threads=1)

    print(cpu_seconds(gram, repeats))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        run(*map(int, sys.argv[2:]))
    else:
        report(int(sys.argv[1]) if len(sys.argv) > 1 else 5, *sys.argv[2:3])
