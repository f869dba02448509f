"""Genes found on chromosomes held out of training, by the learned grammar and by simpler ways; time and memory.

    python benchmarks/bench_genes.py              table of docs/results.md (about 3 minutes)
    python benchmarks/bench_genes.py --cost       seconds and memory for each Mb

Genomes of four chromosomes are simulated; the first two are learned from, the others predicted. The ways:

greedy      classifiers alone: the pairs of acceptor and donor of largest sum of decision values, each above 0, that
            make an exon of an allowed length and overlap no better one. It finds inner exons only, half of all, and
            no gene.
no sites    the learned grammar on decision values that are permuted among the candidates of a kind, so that only
            contents and lengths are left.
generative  the grammar before learning: all parts count by their log odds, with equal weights.
learned     the grammar with the weights of the structural SVM.
"""

import argparse
import dataclasses
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from seqkern.formats.annotation import read_annotation
from seqkern.formats.site_tables import chromosomes
from seqkern.genomics.gene_learning import by_chromosome, learn_genes, site_scorer, true_structures
from seqkern.genomics.genes import ENTER, LEAVE, LEVELS, NOTHING, as_genes, decode, find_boundaries, gene_accuracy
from seqkern.simulate import simulate, write_simulated

SEEDS = range(1, 6)
GENOMES = {"default": {}, "weak sites": {"signal": 0.7}, "GC sites": {"gc_share": 0.2}}
WAYS = ("greedy", "no sites", "generative", "learned")


def parts_of(prefix: Path, names: tuple[str, ...]) -> Path:
    """Write some chromosomes of a genome and their annotation; return the prefix of the files."""
    part = prefix.with_name(f"{prefix.name}_{'_'.join(names)}")
    records = prefix.with_suffix(".fasta").read_text().split(">")[1:]
    part.with_suffix(".fasta").write_text("".join(f">{one}" for one in records if one.split()[0] in names))
    lines = prefix.with_suffix(".gtf").read_text().splitlines(keepends=True)
    part.with_suffix(".gtf").write_text("".join(line for line in lines if line.split("\t")[0] in names))
    return part


def greedy(boundaries, limits):
    """Return exons, each as a gene, of the best pairs of sites."""
    found = []
    for strand in (0, 1):
        sites = (boundaries.strand == strand) & (boundaries.decision > 0)
        starts, stops = (np.flatnonzero(sites & (boundaries.kind == kind)) for kind in (ENTER, LEAVE))
        for start in starts:
            sizes = boundaries.position[stops] - boundaries.position[start]
            for stop in stops[(sizes >= limits.shortest_exon) & (sizes <= limits.longest_exon)]:
                score = boundaries.decision[start] + boundaries.decision[stop]
                found.append((-score, bool(strand), int(boundaries.position[start]), int(boundaries.position[stop])))
    kept = []
    for _, reverse, start, stop in sorted(found):
        if all(stop <= low or high <= start for _, ((low, high),) in kept):
            kept.append((reverse, ((start, stop),)))
    return kept


def predict(model, codes, way, rng):
    """Return the predicted genes of a chromosome."""
    scorers = {name: site_scorer(own, 1) for name, own in model.sites.items()}
    boundaries = find_boundaries(codes, scorers, model.content)
    if way == "greedy":
        return greedy(boundaries, model.grammar.limits)
    if way == "no sites":
        decision = boundaries.decision.copy()
        for rows in boundaries.scored.values():
            decision[rows] = rng.permutation(decision[rows])
        boundaries = dataclasses.replace(boundaries, decision=decision)
    weights = np.array(model.record["prior"]) if way == "generative" else model.weights
    scores = model.grammar.scores(boundaries, weights)
    genes = as_genes(boundaries, decode(boundaries, scores, model.grammar.limits)[1], scores)
    return [(gene.reverse, gene.parts) for gene in genes]


def table(folder: Path) -> None:
    """Print the accuracy of all ways on all genomes."""
    print("genome       way         level  sensitivity      precision        F1")
    for name, parameters in GENOMES.items():
        counts = {(way, level): [] for way in WAYS for level in LEVELS}
        chosen = []
        for seed in SEEDS:
            prefix = folder / f"genome{seed}"
            write_simulated(simulate("genes", seed, n_chromosomes=4, n_genes=60, **parameters), prefix)
            known, unseen = (parts_of(prefix, names) for names in (("chr1", "chr2"), ("chr3", "chr4")))
            model = learn_genes(known.with_suffix(".fasta"), known.with_suffix(".gtf"), seed=seed, n_threads=1)
            chosen.append((model.record["C"], model.record["fit"]["passes"], model.record["fit"]["converged"]))
            truth = by_chromosome(read_annotation(unseen.with_suffix(".gtf")))
            totals = dict.fromkeys(counts, NOTHING)
            for record, codes in chromosomes(unseen.with_suffix(".fasta")):
                for way in WAYS:
                    predicted = predict(model, codes, way, np.random.default_rng(seed))
                    found = gene_accuracy(true_structures(truth[record], codes), predicted)
                    for level in LEVELS:
                        totals[way, level] = totals[way, level] + found[level]
            for key, total in totals.items():
                counts[key].append((total.sensitivity, total.precision if total.predicted else 0.0, total.f1))
        for (way, level), rows in counts.items():
            mean, spread = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1)
            cells = "  ".join(f"{m:.3f} ± {s:.3f}  " for m, s in zip(mean, spread, strict=True))
            print(f"{name:<11}  {way:<10}  {level:<5}  {cells}".rstrip())
        print(f"{name}: C, passes, converged: {chosen}", flush=True)


def cost(folder: Path) -> None:
    """Print seconds and memory for each Mb, on chromosomes of two lengths and with longer introns."""
    known, large = folder / "known", folder / "large"
    write_simulated(simulate("genes", 1), known)
    model = learn_genes(known.with_suffix(".fasta"), known.with_suffix(".gtf"), n_threads=1)
    write_simulated(simulate("genes", 2, n_chromosomes=1, n_genes=2000), large)
    (codes,) = (codes for _, codes in chromosomes(large.with_suffix(".fasta")))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for share in (4, 2, 1):
        part = codes[: len(codes) // share]
        mb = len(part) / 1e6
        start = time.process_time()
        scorers = {name: site_scorer(own, 1) for name, own in model.sites.items()}
        boundaries = find_boundaries(part, scorers, model.content)
        middle = time.process_time()
        scores = model.grammar.scores(boundaries, model.weights)
        decode(boundaries, scores, model.grammar.limits)
        end = time.process_time()
        memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        print(
            f"{mb:.2f} Mb: candidates and their scores {(middle - start) / mb:.2f} s/Mb, Viterbi "
            f"{(end - middle) / mb:.2f} s/Mb, {len(boundaries) / len(part):.2f} candidates per base, "
            f"{memory / mb:.0f} MB/Mb",
            flush=True,
        )
    limits = model.grammar.limits
    for longest in (limits.longest_intron, 4000, 20000):
        wider = dataclasses.replace(model.grammar, limits=dataclasses.replace(limits, longest_intron=longest))
        scores = wider.scores(boundaries, model.weights)
        start = time.process_time()
        decode(boundaries, scores, wider.limits)
        seconds = (time.process_time() - start) / (len(codes) / 1e6)
        print(f"longest intron {longest}: Viterbi {seconds:.2f} s/Mb", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cost", action="store_true", help="print seconds and memory for each Mb")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        (cost if arguments.cost else table)(Path(name))
