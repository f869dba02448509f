"""Does anything score on noise? 41 sets of random sequences with random labels, cross-validated with their search.

Run: ``python benchmarks/noise.py`` (about ten CPU minutes). Sets are DNA of one or of several lengths, peptides and
proteins, 40 to 120 sequences, 25 to 50 % of them positive; in every second set sequences come in families of four that
differ in 8 % of their residues, each member with a label of its own. Printed: for each method the mean AUC over the
sets, its standard error, and how many standard errors it lies from 0.5. Pooled choices have a test of their own,
tests/evaluation/test_pooled.py.
"""

import sys
import warnings

import numpy as np

from seqkern.methods.crossval import OuterFolds, cross_validate
from seqkern.methods.fitted import Search
from seqkern.methods.method import Method
from seqkern.methods.training import automatic_method, collect_training_data
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers.solver_specs import Free
from seqkern.study.kernel_entries import AutoKernel, read_kernel
from seqkern.study.solver_entries import SolverEntry

SETS = 41
PROTEIN = "ACDEFGHIKLMNPQRSTVWY"
KINDS = (("dna", "ACGT", 60, 60), ("dna", "ACGT", 60, 120), ("protein", PROTEIN, 8, 40), ("protein", PROTEIN, 60, 150))
METHODS = ("searched C-SVM", "searched P-SVM", "auto")


def noise(number):
    """Return random sequences with random labels."""
    rng = np.random.default_rng([16, number])
    alphabet, letters, shortest, longest = KINDS[number % len(KINDS)]
    n = int(rng.integers(40, 121))
    copies = 4 if number % 2 else 1
    strings = []
    while len(strings) < n:
        length = int(rng.integers(shortest, longest + 1))
        parent = rng.choice(list(letters), length)
        for _ in range(copies):
            changed = rng.random(length) < (0.08 if copies > 1 else 0)
            strings.append("".join(np.where(changed, rng.choice(list(letters), length), parent)))
    X = SequenceSet.from_strings(strings[:n], alphabet)
    positive = rng.permutation(n) < round(n * rng.uniform(0.25, 0.5))
    return X, make_labels(X.ids, ["yes" if one else "no" for one in positive], positive="yes")


def searched(solver, search):
    """Return the method of a spectrum kernel whose k is searched together with the solver's parameters."""
    entries = read_kernel("spectrum:k=2|3,short=zero,zero_diagonal=zero").candidates
    candidates = SolverEntry.parse(solver, defaults=True).candidates([entry.name for entry in entries])
    return Method({entry.name: entry.kernel for entry in entries}, candidates, search=search)


def main():
    """Print the table."""
    n_sets = int(sys.argv[1]) if len(sys.argv) > 1 else SETS
    warnings.simplefilter("ignore")
    found = {name: [] for name in METHODS}
    for number in range(n_sets):
        X, labels = noise(number)
        for name in METHODS:
            solver = "psvc" if name == "searched P-SVM" else "csvc"
            search = Search(folds=3, seed=1, free=Free.of(solver))
            if name == "auto":
                method = automatic_method(X, entry=AutoKernel.parse("auto"), solver=solver, search=search, n_choices=5)
            else:
                method = searched(solver, search)
            data = collect_training_data(method, X, labels)
            results = cross_validate(method, data, OuterFolds(folds=5).splits(data.labels, X))
            found[name].append(np.mean([result.metrics["auc"] for result in results]))
            print(f"{number}\t{name}\t{found[name][-1]:.3f}", file=sys.stderr, flush=True)
    print("| method | mean AUC | standard error | from 0.5, in standard errors |")
    print("|---|---|---|---|")
    for name, scores in found.items():
        error = np.std(scores, ddof=1) / np.sqrt(len(scores))
        print(f"| {name} | {np.mean(scores):.3f} | {error:.3f} | {(np.mean(scores) - 0.5) / error:+.1f} |")


if __name__ == "__main__":
    main()
