"""What `seqkern audit` finds of planted overlaps: recall and precision of each kind, over five seeds.

Each test sequence of a kind is made from a training sequence of its own; as many are unrelated. A test sequence counts
as found if its strongest kind of overlap is the planted one.

Run: ``python benchmarks/audit_planted.py`` (a few CPU minutes).
"""

import sys
from pathlib import Path

import numpy as np
from common import start_table

from seqkern.report import find_relations, make_parts

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
from planted_overlaps import plant_overlaps, recall_and_precision

SEEDS = range(1, 6)
ONE_IN = {"dna": (80, 20, 10, 7, 5.5), "protein": (80, 5, 3, 2.5, 2.1)}
N_TRAIN, N_EACH = 4000, 200


def rates_of(alphabet, seed, one_in=80):
    """Return recall and precision of each kind."""
    train, test, kinds = plant_overlaps(alphabet, N_TRAIN, N_EACH, one_in=one_in, seed=seed)
    found = find_relations(make_parts(train, test, alphabet=alphabet), n_threads=1)
    return recall_and_precision(kinds, found.kinds())


def main():
    """Print a table of all kinds, and one of ever less similar sequences."""
    row = start_table("alphabet", "planted", "test sequences", "recall", "precision", "lowest of a seed")
    for alphabet in ("dna", "protein"):
        rates = [rates_of(alphabet, seed) for seed in SEEDS]
        for kind in rates[0]:
            both = np.array([one[kind] for one in rates])
            mean, low = both.mean(axis=0), both.min(axis=0)
            name = kind.replace("_", " ")
            row(alphabet, name, N_EACH * len(SEEDS), *(f"{x:.4f}" for x in mean), ", ".join(f"{x:.4f}" for x in low))
    row = start_table("alphabet", "letters that differ", "recall of similar", "precision")
    for alphabet, several in ONE_IN.items():
        for one_in in several:
            both = np.mean([rates_of(alphabet, seed, one_in)["similar"] for seed in SEEDS], axis=0)
            row(alphabet, f"{100 / one_in:.3g} %", *(f"{x:.4f}" for x in both))


if __name__ == "__main__":
    main()
