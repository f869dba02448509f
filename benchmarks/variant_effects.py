"""Effects of variants learned as differences of two alleles, beside windows with the effect and windows with 0.

Simulated: five sets of 600 variants in and beside sites of a factor, whose occupancy saturates; folds by locus. With a
file of the saturation mutagenesis of Kircher et al. 2019 (``data/elements.tsv.gz`` of the repository
kircherlab/MPRA_SaturationMutagenesis): single-base variants with ten barcodes or more, of each regulatory element by
itself, in folds of blocks of 20 positions; and 200 of each element, in folds of whole elements. Prints Spearman's ρ and
Pearson's r with the measured effects, of these, of a ridge regression on the changes of 6-mer counts (scikit-learn), of
the change of G and C, and of another prediction::

    python benchmarks/variant_effects.py [elements.tsv.gz]
"""

from __future__ import annotations

import csv
import gzip
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import pearsonr, spearmanr
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import RidgeCV

from seqkern.core.tsv import write_tsv
from seqkern.kernels import build_kernel
from seqkern.solvers import build_solver
from seqkern.study import make_dataset

SITE, BARCODES, BLOCK, FOLDS, MOST, SETS = "TGATAAGGCA", 10, 20, 5, 200, 5
BASE = "gapped_kmer:l=10,k=6,reverse_complement=true"
SOLVER = "gp_regression:most_samples=500"
COMPLEMENT = str.maketrans("ACGT", "TGCA")
HEAD = "| {} | variants | difference | plain | plain, normalised | ridge | GC change | {} |\n" + "|---" * 8 + "|"


def main(path=None):
    """Print the tables."""
    rng = np.random.default_rng(1)
    print(HEAD.format("simulated, standard deviation of the noise", "effect without noise"))
    for noise in (0.1, 0.3, 1.0):
        sets = [simulated(rng, noise) for _ in range(SETS)]
        found = [
            scores(genome, rows, dealt(np.arange(len(rows)), rng), lambda *_, true=true: true)
            for genome, rows, true in sets
        ]
        show(f"{noise}", len(sets[0][1]), found)
    if path is None:
        return
    elements = read_elements(path)
    print("\n" + HEAD.format("element, held-out blocks", "nearest measured position"))
    found = []
    for name, (text, rows) in elements.items():
        folds = dealt(np.array([row[1] // BLOCK for row in rows]), rng)
        found.append(scores({name: text}, rows, folds, nearest))
        show(name, len(rows), found[-1:])
    show("mean", "", found)
    some = [own[i] for _, own in elements.values() for i in np.sort(rng.permutation(len(own))[:MOST])]
    names = np.unique([row[0] for row in some], return_inverse=True)[1]
    genome, folds = {name: text for name, (text, _) in elements.items()}, dealt(names, rng)
    predicted = predictions(genome, some, folds)
    parts = [np.flatnonzero(names == i) for i in range(names.max() + 1)]
    found = [agreement([some[i] for i in own], [one[own] for one in predicted]) for own in parts]
    print("\n" + HEAD.format("held-out elements", ""))
    show(f"mean of {len(parts)}", len(some), found)


def show(name, n, found):
    """Print a row: the means of scores."""
    means = np.mean(found, axis=0)
    print(f"| {name} | {n} | " + " | ".join(f"{rho:.3f}, {r:.3f}" for rho, r in means) + " |", flush=True)


def scores(genome, rows, folds, other):
    """Return ρ and r of both forms, of the trivial prediction, and of another."""
    y = np.array([row[4] for row in rows])
    return agreement(rows, [*predictions(genome, rows, folds), other(rows, y, folds)])


def agreement(rows, predicted):
    """Return ρ and r of predictions, and of the change of G and C after the fourth of them."""
    y = np.array([row[4] for row in rows])
    gc = np.array([(row[3] in "GC") - (row[2] in "GC") + 0.0 for row in rows])
    found = [*predicted[:4], gc, *predicted[4:]]
    return [(spearmanr(one, y)[0], pearsonr(one, y)[0]) for one in found]


def predictions(genome, rows, folds):
    """Return held-out effects: of differences; of windows with the effect and with 0, without and with norms; and of a
    ridge regression on the changes of 6-mer counts.
    """
    with tempfile.TemporaryDirectory() as folder:
        fasta, table = Path(folder) / "genome.fa", Path(folder) / "effects.tsv"
        fasta.write_text("".join(f">{name}\n{text}\n" for name, text in genome.items()))
        write_tsv(table, ["chromosome", "position", "ref", "alt", "effect"], rows)
        X = make_dataset("effects", {"table": {"file": str(table), "genome": str(fasta)}, "labels": {"kind": "real"}}).X
    y, n = np.array([row[4] for row in rows]), len(rows)
    K = build_kernel(f"each_view:base=({BASE},normalize=false),rule=difference")(X)
    found = [held_out(K, y, folds, SOLVER + ",mean=zero")]
    alt, ref = ([text.replace("*", "N") for text in X.view(name).strings()] for name in ("alternative", "reference"))
    windows, place = np.unique([*alt, *ref], return_inverse=True)
    of_alt, of_ref = place[:n], place[n:]
    for norm in ("false", "true"):
        K, out = build_kernel(f"{BASE},normalize={norm},alphabet=dna")(windows.tolist()), np.empty(n)
        for fold in range(FOLDS):
            train, test = folds != fold, folds == fold
            samples = np.concatenate((of_alt[train], np.unique(of_ref[train])))
            labels = np.concatenate((y[train], np.zeros(len(samples) - train.sum())))
            solver = build_solver(SOLVER).fit(K[np.ix_(samples, samples)], labels)
            of_both = (solver.predict(K[np.ix_(own[test], samples)]) for own in (of_alt, of_ref))
            out[test] = np.subtract(*of_both)
        found.append(out)
    return [*found, ridge(alt, ref, y, folds)]


def ridge(alt, ref, y, folds):
    """Return the predictions of scikit-learn's ridge regression on the changes of the counts of 6-mers."""
    counts = CountVectorizer(analyzer="char", ngram_range=(6, 6), lowercase=False).fit(both := [*alt, *ref])
    strands = (both, [text[::-1].translate(COMPLEMENT) for text in both])
    total = sum(counts.transform(texts) for texts in strands).toarray().astype(float)
    change, out = total[: len(y)] - total[len(y) :], np.empty(len(y))
    change = change[:, change.any(axis=0)]
    for fold in range(FOLDS):
        model = RidgeCV(np.logspace(-1, 4, 11), fit_intercept=False).fit(change[folds != fold], y[folds != fold])
        out[folds == fold] = model.predict(change[folds == fold])
    return out


def held_out(K, y, folds, solver):
    """Return the predictions of each fold by a solver trained on the others."""
    out = np.empty(len(y))
    for fold in range(FOLDS):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        out[test] = build_solver(solver).fit(K[np.ix_(train, train)], y[train]).predict(K[np.ix_(test, train)])
    return out


def dealt(groups, rng):
    """Return the fold of each variant; groups stay together."""
    names, place = np.unique(groups, return_inverse=True)
    return (rng.permutation(len(names)) % FOLDS)[place]


def nearest(rows, y, folds):
    """Return the mean effect at the nearest position of another fold."""
    places = np.array([row[1] for row in rows])
    out = np.empty(len(y))
    for i in range(len(y)):
        others = np.flatnonzero(folds != folds[i])
        distance = np.abs(places[others] - places[i])
        out[i] = y[others[distance == distance.min()]].mean()
    return out


def simulated(rng, noise, n=600):
    """Return a genome, variants with measured effects, and the effects without noise."""
    letters = rng.choice(list("ACGT"), 300 * (n + 1))
    rows, true = [], np.empty(n)
    for i in range(n):
        place = 300 * (i + 1)
        site = np.array(list(SITE))
        hit = rng.random(len(site)) < 0.15
        site[hit] = rng.choice(list("ACGT"), hit.sum())
        letters[place : place + len(site)] = site
        at = place + rng.integers(-5, len(site) + 5)
        alt = rng.choice([base for base in "ACGT" if base != letters[at]])
        before, after = letters[at - 20 : at + 21].copy(), letters[at - 20 : at + 21].copy()
        after[20] = alt
        true[i] = occupancy(after) - occupancy(before)
        rows.append(("chr1", int(at) + 1, str(letters[at]), str(alt), true[i]))
    noisy = true + noise * true.std() * rng.standard_normal(n)
    return {"chr1": "".join(letters)}, [(*row[:4], y) for row, y in zip(rows, noisy, strict=True)], true


def occupancy(letters):
    """Return the logarithm of 1 + the sum of exp(score) over all places on both strands: binding that saturates."""
    text, other = "".join(letters), "".join(letters)[::-1].translate(COMPLEMENT)
    scores = [
        sum(a == b for a, b in zip(one[i : i + len(SITE)], SITE, strict=True))
        for one in (text, other)
        for i in range(len(text) - len(SITE) + 1)
    ]
    return -np.log1p(1 / np.exp(1.5 * (np.array(scores) - 7.5)).sum())


def read_elements(path):
    """Return the bases of each element, N where no variant tells them, and its variants; of experiments on the same
    bases the first.
    """
    found = defaultdict(list)
    with gzip.open(path, "rt") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["Release"] == "GRCh38" and row["Ref"] in "ACGT" and row["Coefficient"] != "NA":
                found[row["Element"]].append(row)
    out, seen = {}, set()
    for name, own in found.items():
        if not seen.isdisjoint(places := {(row["Chrom"], row["Pos"]) for row in own}):
            continue
        seen |= places
        first = min(int(row["Pos"]) for row in own)
        bases = {int(row["Pos"]) - first: row["Ref"] for row in own}
        text = "".join(bases.get(i, "N") for i in range(max(bases) + 1))
        rows = [
            (name, int(row["Pos"]) - first + 1, row["Ref"], row["Alt"], float(row["Coefficient"]))
            for row in own
            if row["Alt"] in "ACGT" and row["Barcodes"] != "NA" and int(row["Barcodes"]) >= BARCODES
        ]
        out[name] = text, rows
    return out


if __name__ == "__main__":
    main(*sys.argv[1:])
