"""What the default search chooses, before and now: inner score, score on held-out sequences, CPU seconds.

Everything happens in the training parts of public data: half of each (at most 800 sequences) is searched, the rest is
held out. "before" is a fixed grid of factors of ten; "now" the refined search with class weights; "one SE" the same
with the rule of one standard error. For unequal classes, also the balanced accuracy (BA) at the decision 0 and at the
default threshold.

Run: ``SEQKERN_DATA=… python benchmarks/search_defaults.py [SET …]`` (about two CPU minutes).
"""

import sys
import time
import warnings

import numpy as np
from common import DATA

from seqkern.evaluation import roc_auc
from seqkern.evaluation.metrics import balanced_accuracy
from seqkern.evaluation.selection import unequal
from seqkern.kernels import build_kernel
from seqkern.methods.fitted import Search
from seqkern.methods.method import Method
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers import expand_grid
from seqkern.solvers.solver_specs import Free

BEFORE = {
    "csvc": "csvc:C=[0.01,0.1,1,10,100]",
    "psvc": "psvc:C=[0.01,1],epsilon=[0.01,0.03,0.1,0.3]",
}
LONG = "gapped_kmer:l=11,k=7,d=3"
SETS = {
    "uci_splice EI, positions": ("splice", "weighted_degree:degree=5,zero_diagonal=zero"),
    "uci_splice EI, 3-mers": ("splice", "spectrum:k=3,zero_diagonal=zero"),
    "uci_promoters": ("promoters", "weighted_degree:degree=5"),
    "celegans_acceptor, positions": ("acceptor", "weighted_degree:degree=5"),
    "celegans_acceptor, 4-mers": ("acceptor", "spectrum:k=4"),
    "amp_antibp2": ("amp_antibp2", "mismatch:k=3,m=1,zero_diagonal=zero,short=zero"),
    "cpp_cellppd": ("cpp_cellppd", "spectrum:k=2,zero_diagonal=zero,short=zero"),
    "hiv_v3": ("hiv_v3", "spectrum:k=2,zero_diagonal=zero,short=zero"),
    "CTCF, l = 10": ("CTCF", "gapped_kmer:l=10,k=6"),
    "EP300, l = 11": ("EP300", LONG),
    "SIN3A, l = 11": ("SIN3A", LONG),
}


def sequences(name):
    """Return the sequences of a set, whether each is positive, and their alphabet."""
    if name in ("splice", "promoters"):
        rows = [line.split(",") for line in (DATA / f"uci_{name}/{name}.data").read_text().splitlines() if line]
        unique = {row[2].strip().upper(): row[0].strip() in ("EI", "+") for row in rows}
        return list(unique), list(unique.values()), "dna"
    file = {"acceptor": "celegans_acceptor/acc_2200x82.fa"}.get(name, f"peptides/{name}/seqs.fasta")
    file = file if (DATA / file).exists() else f"tfbs/{name}.train.fasta"
    records = [record.splitlines() for record in (DATA / file).read_text().split(">")[1:]]
    strings = ["".join(lines[1:]).upper() for lines in records]
    classes = DATA / f"peptides/{name}/classes.txt"
    if classes.exists():
        return strings, [label == "1" for label in classes.read_text().split()], "protein"
    return strings, [lines[0].split("=")[-1].strip() == "1" for lines in records], "dna"


def splits(n):
    """Return random halves, training rows and held-out rows; more of small sets."""
    size = min(n // 2, 800)
    for seed in range(6 if n < 200 else 2):
        order = np.random.default_rng(seed).permutation(n)
        yield np.sort(order[:size]), np.sort(order[size:])


def searched(data, rows, test, search, solver):
    """Return the choice, the decisions about the test rows, the balanced accuracies and the CPU seconds."""
    start = time.process_time()
    fitted = Method(data.kernel, solver, search=search).fit(data.made, rows)
    seconds = time.process_time() - start
    decided = fitted.decide(test)
    truth = data.made.labels.y[test]
    plain = balanced_accuracy(truth, (decided.decisions > 0).astype(int))
    return fitted.choice, roc_auc(truth, decided.decisions), plain, balanced_accuracy(truth, decided.predicted), seconds


class Prepared:
    """The data of one set with its kernel, the Gram matrix computed once."""

    def __init__(self, name, spec):
        strings, positive, alphabet = sequences(name)
        X = SequenceSet.from_strings(strings, alphabet, unknown="mask")
        self.kernel = build_kernel(spec)
        self.labels = Labels(X.ids, np.array(positive, dtype=np.int64), "binary", ("negative", "positive"))
        self.made = Method(self.kernel, "csvc").data(X, self.labels)
        for source in self.made.sources.values():
            source.compute_whole(self.labels.targets())


def report(title, name, spec):
    """Print a row for each search, and return the held-out scores."""
    data, found = Prepared(name, spec), {}
    for solver, old in BEFORE.items():
        free, grid = Free.of(solver), expand_grid(solver, search=True)
        ways = {
            "before": (expand_grid(old), Search(folds=5)),
            "now": (grid, Search(folds=5, free=free)),
            "one SE": (grid, Search(folds=5, free=free, rule="one_standard_error")),
        }
        for way, (candidates, search) in ways.items():
            runs = [searched(data, *rows, search, candidates) for rows in splits(len(data.labels))]
            inner, held_out, plain, cut, seconds = np.mean([(r[0].score, *r[1:]) for r in runs], axis=0)
            spec_of_first = {key: value for key, value in runs[0][0].spec.items() if key != "solver"}
            found[solver, way] = held_out
            accuracies = f"{plain:.3f} {cut:.3f}" if unequal(data.labels) else f"{plain:.3f}      "
            row = f"{title:30} {solver} {way:7} {inner:.4f} {held_out:.4f} {accuracies} {seconds:6.2f}"
            print(row, len(runs[0][0].candidates), spec_of_first, flush=True)
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(f"{'set':30} solver way    inner held-out BA at 0, default, CPU s, candidates, first choice")
    rows = [report(title, *SETS[title]) for title in SETS if not sys.argv[1:] or title in sys.argv[1:]]
    for solver in BEFORE:
        for way in ("now", "one SE"):
            change = [row[solver, way] - row[solver, "before"] for row in rows]
            print(f"{solver} {way}: held-out AUC {np.mean(change):+.4f} on average, {min(change):+.4f} at worst")
