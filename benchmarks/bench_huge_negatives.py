"""Huge negative classes, on simulated genomes: a first stage that rejects most candidates, and hard negatives.

"stages": `two_stage` (a one-class SVM ahead of the C-SVM) beside the C-SVM alone, trained on sites and other GTs of one
genome, scanning another: share of the candidates that pass, true sites lost by the first stage, average precision over
all candidates, CPU seconds of the scan. "hard": average precision on another genome before and after the false
positives of the training genome are added as negatives, beside as many random GTs of it.

Run: ``python benchmarks/bench_huge_negatives.py [bases]`` (default 30,000,000 for the scan by position weights; kernels
that compare windows with support sequences scan a tenth of it, since they take longer).
"""

import io
import sys
import time
import warnings

import numpy as np

from seqkern.evaluation.ranking import average_precision
from seqkern.kernels import build_kernel
from seqkern.models.hard_negatives import find_hard_negatives, with_negatives
from seqkern.models.scan import Scanner
from seqkern.models.training import train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.windows import Window
from seqkern.simulate.genome import donor_genome

WINDOW = Window(15, 15, "GT")
FAST, SLOW = "weighted_degree:degree=5", "locality_improved"
SOLVER = "csvc:C=1,class_weight=balanced"
TRAINING = 200_000  # bases of each of two chromosomes with 300 sites each


def genome(seed, letters, sites, others):
    """Return the FASTA text of two chromosomes, and their table of sites."""
    X, table = donor_genome(np.random.default_rng(seed), n_letters=letters, n_sites=sites, n_others=others)
    text = "".join(f">{name}\n{string}\n" for name, string in zip(X.ids, X.strings(), strict=True))
    return X, text, table


def cut(X, table):
    """Return the windows of a table."""
    rows = []
    complement = {"A": "T", "C": "G", "G": "C", "T": "A"}
    strings = dict(zip(X.ids, X.strings(), strict=True))
    for name, position, strand in zip(table["record"], table["position"], table["strand"], strict=True):
        if strand == "+":
            part = strings[name][position - 1 - WINDOW.left : position + WINDOW.right]
        else:
            part = strings[name][position - 1 - WINDOW.right : position + WINDOW.left]
            part = "".join(complement[letter] for letter in reversed(part))
        rows.append(part)
    return SequenceSet.from_strings(rows, "dna")


def labelled(X, table):
    """Return the windows of a table, with labels."""
    windows = cut(X, table)
    return windows, make_labels(windows.ids, table["label"], positive="donor")


def trained(X, labels, kernel, solver):
    """Return a model of the windows."""
    notes = {"window": WINDOW.record()}
    return train_model(X, labels, build_kernel(kernel), solver, notes=notes, allow_similar=True, n_threads=1)


def scanned(model, text, table):
    """Return decisions about all candidates, which of them are true sites, and the CPU seconds."""
    sites = set(zip(*(table[key] for key in ("record", "position", "strand", "label")), strict=True))
    true = {(record, position, strand) for record, position, strand, label in sites if label == "donor"}
    start, blocks = time.process_time(), []
    for found in Scanner(model, "GT", WINDOW, n_threads=1).scan(io.StringIO(text)):
        blocks.append(found)
    seconds = time.process_time() - start
    wanted = {name: (set(), set()) for name, _, _ in true}
    for record, position, strand in true:
        wanted[record][strand == "-"].add(position)
    decisions = np.concatenate([found.decisions for found in blocks])
    positive = np.zeros(len(decisions), dtype=bool)
    first = 0
    for found in blocks:
        for strand in (0, 1):
            own = np.isin(found.positions, list(wanted[found.record][strand])) & (found.reverse == bool(strand))
            positive[first : first + len(found)] |= own
        first += len(found)
    assert positive.sum() == len(true)
    return decisions, positive, seconds


def stages(bases):
    """Print the table of both solvers."""
    print("| kernel | solver | bases | candidates | pass | true sites lost | average precision | CPU s |")
    print("|---|---|---|---|---|---|---|---|")
    X, _, table = genome(1, TRAINING, 300, 3000)
    windows, labels = labelled(X, table)
    for kernel, letters in ((FAST, bases), (SLOW, bases // 10)):
        _, text, own = genome(2, letters // 2, max(30, letters // 50_000), 1)
        for solver in (SOLVER, *(f"two_stage:binary=({SOLVER}),recall={r}" for r in (0.99, 0.95))):
            model = trained(windows, labels, kernel, solver)
            decisions, positive, seconds = scanned(model, text, own)
            passes = decisions >= -2 if solver != SOLVER else np.ones(len(decisions), dtype=bool)
            lost = np.mean(~passes[positive])
            name = "csvc" if solver == SOLVER else f"two_stage, recall {solver[-4:]}"
            precision = average_precision(positive, decisions)
            print(
                f"| {kernel} | {name} | {letters:,} | {len(decisions):,} | {passes.mean():.3f} | {lost:.3f} | "
                f"{precision:.3f} | {seconds:.1f} |",
                flush=True,
            )


def random_others(X, table, number, seed):
    """Return windows of random GTs of a genome that are not in its table."""
    _, every = donor_genome(np.random.default_rng(seed), n_letters=TRAINING, n_sites=300, n_others=10**6)
    keys = ("record", "position", "strand")
    known = set(zip(*(table[key] for key in keys), strict=True))
    rows = [i for i, place in enumerate(zip(*(every[key] for key in keys), strict=True)) if place not in known]
    drawn = np.random.default_rng(seed).choice(rows, size=number, replace=False)
    return cut(X, {key: [values[i] for i in drawn] for key, values in every.items()})


def hard():
    """Print average precision before and after hard negatives."""
    print("\n| training genome | negatives | average precision | negatives at the recall of 0.8, for each true site |")
    print("|---|---|---|---|")
    _, text, own = genome(99, 500_000, 300, 1)
    for seed in (11, 12, 13):
        X, source, table = genome(seed, TRAINING, 300, 600)
        windows, labels = labelled(X, table)
        ways = {"1200 random GTs": (windows, labels)}
        ways["2400 random GTs"] = with_negatives(windows, labels, random_others(X, table, 1200, seed), "random")
        more, more_labels = windows, labels
        for i in (1, 2):
            model = trained(more, more_labels, FAST, SOLVER)
            found, _ = find_hard_negatives(model, io.StringIO(source), more, more_labels, number=600, n_threads=1)
            more, more_labels = with_negatives(more, more_labels, found, f"hard{i}_")
            ways[f"1200 random GTs and {600 * i} hard ({i} round{'s'[: i > 1]})"] = more, more_labels
        for way, (samples, marks) in ways.items():
            decisions, positive, _ = scanned(trained(samples, marks, FAST, SOLVER), text, own)
            limit = np.quantile(decisions[positive], 0.2)
            false = np.sum(decisions[~positive] >= limit) / (0.8 * positive.sum())
            print(f"| {seed} | {way} | {average_precision(positive, decisions):.3f} | {false:.2f} |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    stages(int(sys.argv[1].replace("_", "")) if sys.argv[1:] else 30_000_000)
    hard()
