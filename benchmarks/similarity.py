"""The search for similar sequences: CPU seconds on one thread, on simulated families and on unrelated sequences.

Run: ``python benchmarks/similarity.py [small]``; ``small`` leaves out the 100,000 sequences.
"""

import sys
import time

import numpy as np
from common import PROTEIN, start_table

from seqkern import SequenceSet
from seqkern.sequences import find_similar

JOBS = [
    # name, alphabet, sequences, length, members of a family, share of residues that differ from its root, options
    ("unrelated", "ACGT", 2494, 200, 1, 0.0, {}),
    ("unrelated", "ACGT", 2494, 200, 1, 0.0, {"identity": 0.5, "both_strands": False}),
    ("families of four", "ACGT", 2496, 200, 4, 0.04, {"identity": 0.5, "both_strands": False}),
    ("one family", "ACGT", 2494, 200, 2494, 0.04, {}),
    ("unrelated", PROTEIN, 3400, 180, 1, 0.0, {}),
    ("families of four", PROTEIN, 3400, 180, 4, 0.25, {}),
    ("one family", PROTEIN, 3400, 180, 3400, 0.2, {}),
    ("families of four", "ACGT", 100_000, 300, 4, 0.04, {}),
]


def simulated(letters, n, length, members, share, seed=1):
    """Return families of sequences; each residue of a member differs from the family's root with a probability."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, len(letters), (-(-n // members), length)).repeat(members, axis=0)[:n]
    changed = rng.random(codes.shape) < share
    codes = (codes + changed * rng.integers(1, len(letters), codes.shape)) % len(letters)
    return ["".join(row) for row in np.array([*letters])[codes]]


def main(small):
    """Print a table."""
    row = start_table("data", "alphabet", "sequences", "options", "similar pairs", "CPU s")
    for name, letters, n, length, members, share, options in JOBS:
        if small and n >= 100_000:
            continue
        alphabet = "dna" if letters == "ACGT" else "protein"
        X = SequenceSet.from_strings(simulated(letters, n, length, members, share), alphabet)
        start = time.process_time()
        found = find_similar(X, n_threads=1, **options)
        seconds = time.process_time() - start
        given = ", ".join(f"{option}={value}" for option, value in options.items())
        row(name, alphabet, f"{n:,} × {length}", given, f"{len(found.pairs):,}", f"{seconds:.2f}")


if __name__ == "__main__":
    main("small" in sys.argv[1:])
