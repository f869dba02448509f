"""Huge negative classes, on simulated genomes: a first stage that rejects most candidates, and hard negatives.

"stages": `two_stage` (a one-class SVM ahead of the C-SVM) beside the C-SVM alone, trained on sites and other GTs of one
genome, scanning another: share of the candidates that pass, true sites lost by the first stage, average precision over
all candidates, CPU seconds of the scan. "hard": average precision on another genome before and after the false
positives of the training genome are added as negatives, beside as many random GTs of it. "peaks": the same for the
peaks of a factor (gapped k-mers), with shuffled peaks as the first negatives, and the windows of two chromosomes, each
half overlapping the next, as test set. "real": C. elegans acceptor sites (``SEQKERN_DATA``) in five folds, C chosen in
three inner folds.

Run: ``python benchmarks/bench_huge_negatives.py [bases]`` (default 30,000,000 for the scan by position weights; kernels
that compare windows with support sequences scan a tenth of it, since they take longer).
"""

import contextlib
import io
import random
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from search_defaults import sequences

from seqkern.cli.main import main
from seqkern.evaluation.ranking import average_precision, roc_auc
from seqkern.evaluation.selection import inner_folds
from seqkern.kernels import build_kernel
from seqkern.methods.fitted import Search
from seqkern.methods.method import Method
from seqkern.methods.scan import Scanner, find_hard_negatives, with_negatives
from seqkern.methods.training import train_model
from seqkern.sequences.labels import Labels, make_labels
from seqkern.sequences.sampling import shuffled
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.windows import Window
from seqkern.simulate.splicing import donor_genome

WINDOW = Window(15, 15, "GT")
FAST, SLOW = "weighted_degree:degree=5", "locality_improved"
PEAKS = "gapped_kmer:l=8,k=5"
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


def peak_windows(folder, chromosomes):
    """Return the windows of 100 bases at the summits of the peaks of some chromosomes, and their places."""
    texts = genome_of(folder)
    rows = [line.split("\t") for line in (folder / "peaks.narrowPeak").read_text().splitlines()]
    places = [(row[0], int(row[1]) + int(row[9])) for row in rows if row[0] in chromosomes]
    return [texts[name][summit - 50 : summit + 50].upper() for name, summit in places], places


def genome_of(folder):
    """Return the sequence of each chromosome of simulated peaks."""
    records = [record.splitlines() for record in (folder / "genome.fa").read_text().split(">")[1:]]
    return {lines[0].split()[0]: "".join(lines[1:]) for lines in records}


def peaks():
    """Print average precision on two chromosomes, trained on peaks of two others against shuffled peaks."""
    print("\n| genome | negatives | average precision |\n|---|---|---|")
    for seed in (21, 22, 23):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "peaks"
            with contextlib.redirect_stdout(io.StringIO()):
                main(["simulate", "peaks", "--seed", str(seed), "-o", str(folder)])
            texts = genome_of(folder)
            strings, _ = peak_windows(folder, ("chr1", "chr2"))
            _, held_out = peak_windows(folder, ("chr3", "chr4"))
        tiles, positive = [], []
        for one in ("chr3", "chr4"):
            for start in range(0, len(texts[one]) - 99, 50):
                tiles.append(texts[one][start : start + 100].upper())
                positive.append(any(name == one and abs(summit - start - 50) <= 25 for name, summit in held_out))
        tiles, positive = SequenceSet.from_strings(tiles, "dna", unknown="mask"), np.array(positive)
        source = "".join(f">{one}\n{texts[one]}\n" for one in ("chr1", "chr2"))
        rng = random.Random(seed)
        draws = [shuffled(string, 2, rng) for string in strings for _ in range(3)]
        marks = ["peak"] * len(strings)

        def made(count, strings=strings, draws=draws, marks=marks):
            X = SequenceSet.from_strings(strings + draws[:count], "dna", unknown="mask")
            return X, make_labels(X.ids, marks + ["other"] * count, positive="peak")

        n = len(strings)
        ways = {f"{n} shuffled": made(n), f"{3 * n} shuffled": made(3 * n)}
        more, more_labels = made(n)
        for i in (1, 2):
            model = train_model(more, more_labels, build_kernel(PEAKS), SOLVER, allow_similar=True, n_threads=1)
            found, _ = find_hard_negatives(model, io.StringIO(source), more, more_labels, number=n, n_threads=1)
            more, more_labels = with_negatives(more, more_labels, found, f"hard{i}_")
            ways[f"{n} shuffled and {i * n} hard"] = more, more_labels
        for way, (X, labels) in ways.items():
            model = train_model(X, labels, build_kernel(PEAKS), SOLVER, allow_similar=True, n_threads=1)
            print(
                f"| {seed} | {way} | {average_precision(positive, model.decision(tiles, n_threads=1)):.3f} |",
                flush=True,
            )


def real():
    """Print scores on acceptor sites, 9 % of the samples."""
    strings, found, alphabet = sequences("acceptor")
    X = SequenceSet.from_strings(strings, alphabet, unknown="mask")
    labels = Labels(X.ids, np.array(found, dtype=np.int64), "binary", ("decoy", "site"))
    print("\n| solver | AUC | average precision | negatives that pass | recall lost |\n|---|---|---|---|---|")
    nested = "binary=(csvc:C=[0.1,1,10])"
    for solver in ("csvc:C=[0.1,1,10]", f"filtered:{nested}", f"two_stage:{nested}", "one_class_svm:nu=[0.05,0.2]"):
        method = Method(build_kernel(FAST), solver, search=Search(folds=3))
        data, rows = method.data(X, labels, n_threads=1), []
        for train, test in inner_folds(labels, 5, 1):
            fitted = method.fit(data, train)
            decisions, report = fitted.decide(test).decisions, fitted.solver.report_
            scores = [score(labels.y[test] == 1, decisions) for score in (roc_auc, average_precision)]
            rows.append([*scores, report.get("negatives_passing", 1), report.get("recall_lost", 0)])
        cells = " | ".join(f"{value:.4f}" for value in np.mean(rows, axis=0))
        print(f"| {solver.split(':')[0]} | {cells} |", flush=True)
    print(f"| chance | 0.5000 | {labels.y.mean():.4f} | | |")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    stages(int(sys.argv[1].replace("_", "")) if sys.argv[1:] else 30_000_000)
    hard()
    peaks()
    real()
