"""Training of a gene model on an annotated genome: site classifiers, content scores, and grammar weights.

The genome is cut between genes into pieces, which form folds of neighbours. The weights are learned from pieces whose
decision values and contents come from classifiers trained on the other folds, so that they reflect how reliable these
are on new genomes; C is chosen on folds of the same pieces. The final classifiers and content scores are then learned
from all pieces.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from seqkern.core.archive import load_archive, nest, save_archive, unnest
from seqkern.core.errors import SequenceError
from seqkern.core.file_kinds import GENES, MODEL
from seqkern.core.statistics import fit_sigmoid
from seqkern.core.types import Bools, Codes, Floats, Ints, PathLike, Source
from seqkern.formats.annotation import CODON, Annotation, Transcript, gaps, read_annotation
from seqkern.formats.site_tables import Row, bases_at, chromosomes, make_site_table, splice_site
from seqkern.genomics.genes import (
    ACCEPTOR,
    BACTERIAL_STARTS,
    BEGIN,
    CONTENT_UNIT,
    CURVES,
    DONORS,
    END,
    EXONS,
    LONGEST,
    LONGEST_PART,
    NOTHING,
    START,
    STOPS,
    Boundaries,
    Content,
    Gene,
    Grammar,
    LevelAccuracy,
    Limits,
    Scorer,
    Scores,
    as_genes,
    decode,
    find_boundaries,
    gene_accuracy,
    merged,
    rows_of,
)
from seqkern.kernels.kernel_specs import build_kernel
from seqkern.methods.loading import model_from_state
from seqkern.methods.model import Model
from seqkern.methods.scan import Scanner
from seqkern.methods.training import train_model
from seqkern.sequences.alphabets import DNA, MASK
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.streaming import reverse_complement_codes
from seqkern.sequences.windows import Window, as_window

# Learning of the grammar's weights by a structural SVM, with block-coordinate Frank–Wolfe steps.
#
# The objective is ½ ‖w − w₀‖² + C Σᵢ max_y [Δ(yᵢ, y) − w · (Ψ(xᵢ, yᵢ) − Ψ(xᵢ, y))] over pieces xᵢ of chromosomes with
# the annotated genes yᵢ. w₀ are the weights of the generative grammar (`prior`), so that C = 0 learns nothing. Δ counts
# wrong or missing boundaries of genes and exons, plus a hundredth for each base wrongly called coding or non-coding.
# The Viterbi algorithm finds the greatest violation, as Δ is a sum over boundaries and bases. Each step has an exact
# line search; the duality gap bounds the distance of the objective from its minimum.
#
# References:
# Tsochantaridis, Joachims, Hofmann, Altun: Large margin methods for structured and interdependent output variables.
# J. Mach. Learn. Res. 6:1453, 2005.
# Lacoste-Julien, Jaggi, Schmidt, Pletscher: Block-coordinate Frank–Wolfe optimization for structural SVMs. Proc. 30th
# Int. Conf. on Machine Learning, 2013.
# Schweikert et al.: mGene: accurate SVM-based gene finding with an application to nematode genomes. Genome Res.
# 19:2133, 2009.

BASES = 100.0
"""Number of wrong bases that count as much as a wrong boundary."""
TOLERANCE = 0.01
PASSES, FEWER_PASSES = 100, 20
"""Most passes of the last fit, and of those that choose C."""


@dataclass(frozen=True, eq=False)
class Piece:
    """A piece of a chromosome with its annotated genes."""

    boundaries: Boundaries  # The candidates
    genes: list[Gene]  # Annotated, in ascending order; the grammar can describe them
    rows: list[list[int]]  # Their boundaries among the candidates
    start: int  # Where the piece lies
    stop: int  # Where the piece lies

    @classmethod
    def of(cls, boundaries: Boundaries, genes: list[Gene], start: int, stop: int) -> Piece | None:
        """Return a piece, or None if a boundary of one of its genes is not a candidate."""
        own = boundaries.between(start, stop)
        rows = [rows_of(gene, own) for gene in genes]
        return None if None in rows else cls(own, genes, [row for row in rows if row is not None], start, stop)

    def loss(self) -> tuple[float, Floats, Floats]:
        """Return the loss Δ as three parts: a constant, a term for each boundary, and a term for coding bases.

        The last has the form of `Boundaries.coding`.
        """
        boundary = np.ones(len(self.boundaries))
        for rows in self.rows:
            boundary[rows] = -1.0
        here = self.boundaries.position - self.start
        true = np.zeros((2, self.stop - self.start))
        for gene in self.genes:
            for start, stop in gene.parts:
                true[int(gene.reverse), start - self.start : stop - self.start] = 1.0
        sums = np.zeros((2, true.shape[1] + 1))
        for strand in (0, 1):
            # a base that is coding on the other strand is wrong either way
            np.cumsum(1.0 - 2.0 * true[strand] - true[1 - strand], out=sums[strand, 1:])
        coding = sums[self.boundaries.strand, here] / BASES
        constant = sum(len(rows) for rows in self.rows) + true.sum() / BASES
        return float(constant), boundary, np.repeat(coding[:, None], 3, axis=1)


@dataclass(frozen=True, eq=False)
class Learned:
    """Learned weights, with the objective and its duality gap.

    >>> Learned(np.zeros(1), 3, 10.0, 0.05, True).record()
    {'passes': 3, 'objective': 10.0, 'gap': 0.05, 'converged': True}
    """

    weights: Floats  # Of the grammar
    passes: int  # Over all pieces
    # Of the last pass: C times the structured hinge losses plus the regulariser, and by how much it exceeds the dual
    objective: float
    # Of the last pass: C times the structured hinge losses plus the regulariser, and by how much it exceeds the dual
    gap: float
    converged: bool  # Whether the gap is at most 1% of the objective

    def record(self) -> dict[str, float | bool]:
        """Return the results of learning that are printed and stored in the model file."""
        return {"passes": self.passes, "objective": self.objective, "gap": self.gap, "converged": self.converged}


class _Example:
    """A piece with the parts of its loss and the features of its true genes."""

    def __init__(self, piece: Piece, grammar: Grammar, start: Floats) -> None:
        self.piece, self.grammar, self.start = piece, grammar, start
        self.constant, self.boundary, self.coding = piece.loss()
        self.psi = grammar.vector(piece.boundaries, piece.rows)

    def violation(self, weights: Floats) -> tuple[Floats, float]:
        """Return Ψ(yᵢ) − Ψ(y) and Δ(yᵢ, y) − w₀ · (Ψ(yᵢ) − Ψ(y)), for the y with the greatest violation."""
        boundaries, limits = self.piece.boundaries, self.grammar.limits
        scores = augmented(self.grammar.scores(boundaries, weights), self.boundary, self.coding)
        total, genes = decode(boundaries, scores, limits)
        difference = self.psi - self.grammar.vector(boundaries, genes)
        # the decoder's total is Δ + w · Ψ(y) without the constant
        loss = total + self.constant - float(weights @ (self.psi - difference))
        return difference, loss - float(self.start @ difference)


def augmented(scores: Scores, boundary: Floats, coding: Floats) -> Scores:
    """Return the scores plus the terms of a loss."""
    return replace(scores, boundary=scores.boundary + boundary, coding=scores.coding + coding)


def learn_weights(
    pieces: Sequence[Piece], grammar: Grammar, start: Floats, C: float, *, passes: int = PASSES, seed: int = 1
) -> Learned:
    """Return the weights that minimise the objective of the structural SVM."""
    examples = [_Example(piece, grammar, start) for piece in pieces]
    n, rng = len(examples), np.random.default_rng(seed)
    moves, losses = np.zeros((n, grammar.n_weights)), np.zeros(n)
    learned = Learned(start, 0, np.inf, np.inf, False)
    for number in range(1, passes + 1):
        for i in rng.permutation(n).tolist():
            move = moves.sum(axis=0)
            difference, loss = examples[i].violation(start + move)
            change = moves[i] - C * difference
            gap = float(change @ move) - losses[i] + C * loss
            square = float(change @ change)
            step = min(1.0, max(0.0, gap / square)) if square > 0 else 0.0
            moves[i] -= step * change
            losses[i] += step * (C * loss - losses[i])
        if number % 5 and number < passes:
            continue
        move = moves.sum(axis=0)
        found = [example.violation(start + move) for example in examples]
        hinge = sum(max(0.0, loss - float(move @ difference)) for difference, loss in found)
        objective = float(move @ move) / 2 + C * hinge
        gap = objective - (float(losses.sum()) - float(move @ move) / 2)
        converged = gap <= TOLERANCE * objective
        learned = Learned(start + move, number, objective, gap, converged)
        if converged:
            break
    return learned


# Annotated genes that the grammar can describe, and pieces of a chromosome that contain whole genes.

SHORTEST_EXON = 3
SHORTEST_INTRON = 20
Parts = tuple[tuple[int, int], ...]


@dataclass
class Annotated:
    """The annotated genes of a chromosome: those that the grammar can describe, and the coding spans of all.

    >>> Annotated([], [(0, 10), (30, 40)], [], Counter()).pieces(50)
    [(0, 20), (20, 50)]
    """

    # One for each annotated gene that the grammar can describe, ascending, without overlap: its longest coding part
    genes: list[Gene]
    spans: list[tuple[int, int]]  # Of all annotated genes, merged where they overlap, ascending
    unknown: list[tuple[int, int]]  # Spans of the annotated genes that are not in `genes`
    left_out: Counter[str]  # Their number, by reason
    several: int = 0  # How many of `genes` have several coding parts

    def pieces(self, length: int) -> list[tuple[int, int]]:
        """Return intervals around the spans that cover the chromosome, divided midway between spans."""
        middles = [(left[1] + right[0]) // 2 for left, right in itertools.pairwise(self.spans)]
        return list(itertools.pairwise([0, *middles, length])) if self.spans else []


def coding_gene(transcript: Transcript, codes: Codes) -> Gene | None:
    """Return the coding part of a transcript, with its stop codon."""
    if not transcript.coding:
        return None
    parts, reverse = sorted(transcript.coding), transcript.reverse
    last = parts[0][0] + 2 if reverse else parts[-1][1] - 3
    if bases_at(codes, last, reverse, 3) not in STOPS:
        if reverse:
            parts[0] = parts[0][0] - 3, parts[0][1]
        else:
            parts[-1] = parts[-1][0], parts[-1][1] + 3
    return Gene(reverse, tuple(parts))


def fault_of(gene: Gene, codes: Codes, longest_intron: int, starts: Sequence[str] = (START,)) -> str | None:
    """Return the reason why the grammar cannot describe a gene, or None if it can.

    >>> from seqkern.sequences.alphabets import DNA
    >>> codes = DNA.encode(b"CCATGAAATAACC")
    >>> fault_of(Gene(False, ((2, 11),)), codes, 100), fault_of(Gene(False, ((2, 8),)), codes, 100)
    (None, 'without a stop codon')
    """
    low, high = gene.span
    if low < 0 or high > len(codes):
        return "beyond the end of the chromosome"
    if any(stop - start < SHORTEST_EXON for start, stop in gene.parts):
        return f"with an exon of fewer than {SHORTEST_EXON} coding bases"
    for start, stop in gene.introns:
        if not SHORTEST_INTRON <= stop - start <= longest_intron:
            limits = f" outside {SHORTEST_INTRON} to {longest_intron} bases" if longest_intron else ""
            return f"with an intron{limits}"
        sites = [splice_site(start, stop, gene.reverse, kind) for kind in SITES[:2]]
        left, right = (bases_at(codes, *site, 2) for site in sites)
        if left not in DONORS or right != ACCEPTOR:
            return "with an intron other than GT–AG or GC–AG"
    back, parts = gene.reverse, gene.parts[:: -1 if gene.reverse else 1]
    coding = "".join(bases_at(codes, stop - 1 if back else start, back, stop - start) for start, stop in parts)
    codons = [coding[i : i + 3] for i in range(0, len(coding), 3)]
    if codons[0] not in starts:
        return "without a start codon"
    if codons[-1] not in STOPS:
        return "without a stop codon"
    return "with a stop codon in the frame" if set(codons[:-1]) & set(STOPS) else None


def annotated_genes(
    transcripts: Iterable[Transcript], codes: Codes, longest_intron: int, starts: Sequence[str] = (START,)
) -> Annotated:
    """Return the annotated genes of one chromosome; those without a coding part only as their number."""
    by_gene: dict[tuple[str, bool], list[tuple[Gene | None, str]]] = {}
    for transcript in transcripts:
        own = by_gene.setdefault((transcript.gene, transcript.reverse), [])
        own.append((coding_gene(transcript, codes), transcript.fault))
    found: list[Gene] = []
    several = 0
    spans: list[tuple[int, int]] = []
    unknown: list[tuple[int, int]] = []
    left_out: Counter[str] = Counter()
    for coding in by_gene.values():
        faults = {
            gene: said or fault_of(gene, codes, longest_intron, starts) for gene, said in coding if gene is not None
        }
        spans += [gene.span for gene in faults]
        good = [gene for gene, fault in faults.items() if fault is None]
        if good:
            several += len(faults) > 1
            found.append(max(good, key=lambda gene: (sum(stop - start for start, stop in gene.parts), gene.parts)))
        else:
            unknown += [gene.span for gene in faults]
            left_out[next(map(str, faults.values()), "without a coding part")] += 1
    kept: list[Gene] = []
    for gene in sorted(found, key=lambda gene: (gene.span, gene.reverse)):
        if kept and gene.span[0] < kept[-1].span[1]:
            unknown.append(gene.span)
            left_out["that overlap another"] += 1
        else:
            kept.append(gene)
    return Annotated(kept, merged(spans), unknown, left_out, several)


def by_chromosome(annotation: Annotation) -> dict[str, list[Transcript]]:
    """Return the transcripts of each chromosome."""
    found: dict[str, list[Transcript]] = {}
    for transcript in annotation.transcripts:
        found.setdefault(transcript.chromosome, []).append(transcript)
    return found


def true_structures(
    transcripts: Iterable[Transcript], codes: Codes, left_out: Counter[str] | None = None
) -> list[list[tuple[bool, Parts]]]:
    """Return the coding parts of a chromosome by gene, for comparison with predictions; count those left out."""
    genes: dict[tuple[str, bool], list[tuple[bool, Parts]]] = {}
    for transcript in transcripts:
        gene = coding_gene(transcript, codes)
        if gene is not None and transcript.fault and left_out is not None:
            left_out[transcript.fault] += 1
        elif gene is not None:
            genes.setdefault((transcript.gene, gene.reverse), []).append((gene.reverse, gene.parts))
    return list(genes.values())


# The generative grammar: knots, limits, and the weights before learning, all in units of log odds.
#
# Each part scores the logarithm of its probability in genes minus its logarithm elsewhere: a site by its calibrated
# decision value, a length by a log-normal density, contents by their Markov chains.

SHARES = (0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99)
"""Quantiles of the values at the knots."""
FEWEST = 5
"""Number of exons of a type below which the lengths of all exons are used."""
BEYOND = 2.0
"""Largest ratio of an allowed length to the longest annotated one, or of the shortest one to an allowed length."""
NARROWEST = 1e-3


def make_grammar(boundaries: Sequence[Boundaries], places: Sequence[Place]) -> Grammar:
    """Return the grammar, with knots chosen from the candidates and genes of some pieces."""
    lengths = part_lengths(places)
    exons, introns = lengths["exons"], lengths["intron length"]
    limits = Limits(
        SHORTEST_EXON,
        min(LONGEST_PART, int(BEYOND * exons.max()) + 1),
        max(SHORTEST_INTRON, int(introns.min() / BEYOND)) if len(introns) else SHORTEST_INTRON,
        int(BEYOND * introns.max()) + 1 if len(introns) else SHORTEST_INTRON,
    )
    knots = {name: _length_knots(values) for name, values in lengths.items() if name != "exons" and len(values)}
    for name in SITES:
        decisions, true, _ = _sites(boundaries, places, name)
        if true.any():
            knots[name] = _ascending(
                np.quantile(decisions[true], SHARES), np.quantile(decisions[~true], (0.1, 0.5, 0.9))
            )
    return Grammar(limits, knots)


def prior_weights(grammar: Grammar, boundaries: Sequence[Boundaries], places: Sequence[Place]) -> Floats:
    """Return the weights of the generative grammar."""
    weights = np.zeros(grammar.n_weights)
    lengths = part_lengths(places)
    n_genes = sum(len(place.genes) for place in places)
    n_exons, n_introns = len(lengths["exons"]), len(lengths["intron length"])
    bases = 2.0 * sum(place.stop - place.start for place in places)
    for name, values in lengths.items():
        if name in grammar.knots:
            weights[grammar.places[name]] = _log_density(grammar.knots[name], np.log(values))
    for name in (name for name in SITES if name in grammar.knots):
        decisions, true, rare = _sites(boundaries, places, name)
        slope, intercept = fit_sigmoid(decisions, true)
        odds = -(slope * grammar.knots[name] + intercept) - np.log(true.sum() / (~true).sum())
        weights[grammar.places[name]] = odds - np.log(len(decisions) / bases)
        if name == "donor":
            share = (rare[true].sum() + 0.5) / (true.sum() + 1)
            weights[grammar.places["rare donor"]] = np.log(share) - np.log((rare.sum() + 0.5) / (len(rare) + 1))
    if n_introns:
        weights[grammar.places["donor"]] += np.log(n_introns / n_exons)
    weights[grammar.places["coding"]] = weights[grammar.places["intron"]] = CONTENT_UNIT
    ends = [sum(np.count_nonzero(own.kind == kind) for own in boundaries) / bases for kind in (BEGIN, END)]
    if "start" in grammar.knots:  # whose curve contains the density of start codons
        ends = [sum(ends) - sum(np.count_nonzero(own.scored["start"]) for own in boundaries) / bases]
    weights[grammar.places["gene"]] = np.log(n_genes / bases) + np.log(n_genes / n_exons) - np.log(ends).sum()
    return weights


def part_lengths(places: Sequence[Place]) -> dict[str, Floats]:
    """Return the lengths of introns, of each type of exon, and of all exons (key ``exons``)."""
    found: dict[str, list[int]] = {name: [] for name in (*(f"{name} exon" for name in EXONS), "intron length")}
    for gene in (gene for place in places for gene in place.genes):
        sizes = [stop - start for start, stop in (reversed(gene.parts) if gene.reverse else gene.parts)]
        if len(sizes) == 1:
            found["single exon"] += sizes
        else:
            found["first exon"].append(sizes[0])
            found["last exon"].append(sizes[-1])
            found["inner exon"] += sizes[1:-1]
        found["intron length"] += [stop - start for start, stop in gene.introns]
    everything = [size for name in EXONS for size in found[f"{name} exon"]]
    for name in EXONS:
        if len(found[f"{name} exon"]) < FEWEST:
            found[f"{name} exon"] = everything
    return {name: np.array(sizes, dtype=np.float64) for name, sizes in (found | {"exons": everything}).items()}


def _sites(boundaries: Sequence[Boundaries], places: Sequence[Place], name: str) -> tuple[Floats, Bools, Bools]:
    """Return the decision values of all candidates of a kind, which are true sites, and which have GC."""
    decisions, true, rare = [], [], []
    for own, place in zip(boundaries, places, strict=True):
        which = own.scored[name]
        known = np.zeros(len(own), dtype=bool)
        for gene in place.genes:
            known[rows_of(gene, own) or []] = True
        decisions.append(own.decision[which])
        true.append(known[which])
        rare.append(own.rare[which])
    return np.concatenate(decisions), np.concatenate(true), np.concatenate(rare)


def _ascending(*values: Floats) -> Floats:
    """Return values in ascending order without near duplicates; at least two."""
    found = np.sort(np.concatenate(values))
    kept = [found[0]]
    for value in found[1:]:
        if value - kept[-1] > NARROWEST:
            kept.append(value)
    return np.array(kept if len(kept) > 1 else [kept[0], kept[0] + 1.0])


def _length_knots(sizes: Floats) -> Floats:
    """Return knots for the logarithms of lengths, extending beyond the annotated lengths."""
    logs = np.log(sizes)
    ends = np.array([logs.min() - np.log(BEYOND), logs.min(), logs.max(), logs.max() + np.log(BEYOND)])
    return _ascending(np.quantile(logs, SHARES), ends)


def _log_density(at: Floats, logs: Floats) -> Floats:
    """Return the logarithm of a log-normal density of lengths at the given log lengths."""
    mean, spread = logs.mean(), max(float(logs.std()), 0.1)
    density: Floats = -0.5 * ((at - mean) / spread) ** 2 - np.log(spread * np.sqrt(2 * np.pi)) - at
    return density


# Gene models: splice site classifiers, content scores and grammar weights, in one file.

SITES = ("donor", "acceptor", "start")


@dataclass(frozen=True, eq=False)
class GeneModel:
    """A model that finds genes in a genome."""

    sites: dict[str, Model]  # Of windows around those of `SITES` that it has
    content: Content  # Scores of coding and intron sequence
    grammar: Grammar  # Lengths, and what the weights stand for
    weights: Floats  # Of the grammar
    record: dict[str, Any]  # JSON: how it was learned

    def find(self, codes: Codes, *, n_threads: int | None = None) -> list[Gene]:
        """Return the genes of a chromosome."""
        scorers = {name: site_scorer(model, n_threads) for name, model in self.sites.items()}
        boundaries = find_boundaries(codes, scorers, self.content, self.record.get("starts", (START,)))
        scores = self.grammar.scores(boundaries, self.weights)
        return as_genes(boundaries, decode(boundaries, scores, self.grammar.limits)[1], scores)

    def find_all(
        self, genome: Source, *, n_threads: int | None = None, progress: Callable[[int], None] | None = None
    ) -> Iterator[tuple[str, Codes, list[Gene]]]:
        """Yield the name, the codes and the genes of each chromosome."""
        done = 0
        for name, codes in chromosomes(genome):
            yield name, codes, self.find(codes, n_threads=n_threads)
            done += len(codes)
            if progress is not None:
                progress(done)

    def save(self, path: str | Path) -> None:
        """Write the model to one file."""
        limits = self.grammar.limits
        header = {**GENES.stamp(), "limits": vars(limits), "record": self.record}
        arrays = {"weights": self.weights, "coding": self.content.coding, "intron": self.content.intron}
        arrays |= nest("knots", self.grammar.knots)
        for name, model in self.sites.items():
            header[name], own = model.state()
            arrays |= nest(name, own)
        save_archive(path, header, arrays)


def load_gene_model(path: str | Path) -> GeneModel:
    """Read a model written by `GeneModel.save`."""
    header, arrays = load_archive(path, GENES)
    with GENES.damaged(path, "is not usable"):
        names = [name for name in SITES if name in header]  # older models have no starts, those of bacteria only these
        for name in names:
            MODEL.check(header[name], path)
        limits = Limits(**header["limits"])
        grammar = Grammar(limits, unnest("knots", arrays))
        content = Content(arrays["coding"], arrays["intron"])
        sites = {name: model_from_state(header[name], unnest(name, arrays)) for name in names}
        _check(grammar, content, sites, arrays["weights"])
        return GeneModel(sites, content, grammar, arrays["weights"], dict(header["record"]))


def _check(grammar: Grammar, content: Content, sites: dict[str, Model], weights: Floats) -> None:
    """Raise ValueError unless the parts are consistent with each other; compiled code relies on it."""
    if not grammar.knots.keys() <= set(CURVES) or not sites.keys() <= grammar.knots.keys():
        raise ValueError("unknown curves")
    for knots in grammar.knots.values():
        if knots.dtype != np.float64 or knots.ndim != 1 or len(knots) < 2 or not np.all(np.diff(knots) > 0):
            raise ValueError("knots that do not ascend")
    if content.order not in range(LONGEST + 1) or content.intron.shape != (4 ** (content.order + 1),):
        raise ValueError("the content has no order")
    if content.coding.shape != (3, content.intron.size) or weights.shape != (grammar.n_weights,):
        raise ValueError("shapes that do not match")
    for array in (*grammar.knots.values(), content.coding, content.intron, weights):
        if array.dtype != np.float64 or not np.isfinite(array).all():
            raise ValueError("numbers that are not finite")
    for name, model in sites.items():
        if model.kind != "binary" or model.alphabet != DNA or model.window is None:
            raise ValueError(f"the model of {name} sites does not classify windows of DNA")
        Scanner(model, DONORS[0])


def site_scorer(model: Model, n_threads: int | None = None) -> Scorer:
    """Return a function for `find_boundaries` that scores sites with a classifier.

    The decision value is NaN where the window contains masked letters or extends beyond an end.
    """
    scanner = Scanner(model, DONORS[0], n_threads=n_threads)  # the window does not depend on the letters
    window = scanner.window

    def score(codes: Codes, places: Ints) -> Floats:
        out = np.full(len(places), np.nan)
        starts = places - window.left
        inside = np.flatnonzero((starts >= 0) & (starts + window.length <= len(codes)))
        masked = np.concatenate(([0], np.cumsum(codes == MASK)))
        starts = starts[inside]
        clear = masked[starts + window.length] == masked[starts]
        if clear.any():
            names = np.full(int(clear.sum()), "site", dtype=object)
            out[inside[clear]] = scanner.values(codes, starts[clear], names)
        return out

    return score


WINDOW = "-30:+30"
KERNEL = "weighted_degree:degree=8"
SOLVER = "csvc:C=1"
DECOYS = 5
FOLDS = 3
COSTS = (0.01, 0.1, 1.0, 10.0)
"""Values of C to choose from."""
LONGEST_INTRON = 20_000
MOST_PIECES = 40
"""Number of pieces of a fold from which the weights, a few dozen numbers, are learned."""
RARE = 0.01
"""Share of transcripts with introns up to which a genome is a bacterium's, whose genes have one exon."""
TOGETHER = 5
"""Number of genes in a piece: several, so that a path that joins neighbours is a violation."""


@dataclass(frozen=True)
class Place:
    """A piece of the genome, from 0, half open, with its genes.

    >>> Place("chr1", 0, 100, (), True).complete
    True
    """

    chromosome: str  # Its name
    start: int  # From 0, half open
    stop: int  # From 0, half open
    genes: tuple[Gene, ...]  # That the grammar can describe
    complete: bool  # Whether these are all annotated genes


def learn_genes(
    genome: PathLike,
    annotation: PathLike | None = None,
    *,
    kernel: str = KERNEL,
    solver: str = SOLVER,
    seed: int = 1,
    n_threads: int | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> GeneModel:
    """Train a gene model on an annotated genome."""
    name = str(annotation if annotation is not None else genome)
    read = read_annotation(name)
    sequences = dict(chromosomes(genome))
    good = [transcript for transcript in read.transcripts if transcript.coding and not transcript.fault]
    spliced = sum(any(gaps(transcript.coding)) for transcript in good) > RARE * len(good)
    starts = (START,) if spliced else BACTERIAL_STARTS
    rows = {kind: _training_sites(genome, read, kind, seed, starts) for kind in (SITES if spliced else SITES[2:])}
    transcripts = by_chromosome(read)
    found = {
        chromosome: annotated_genes(transcripts.get(chromosome, ()), codes, LONGEST_INTRON if spliced else 0, starts)
        for chromosome, codes in sequences.items()
    }
    left_out: Counter[str] = sum((own.left_out for own in found.values()), Counter())
    if left_out:
        tell(f"{name}: left out: " + ", ".join(f"{count} genes {reason}" for reason, count in left_out.items()))
    longer = sum(sum(b - a for a, b in own.exons) > sum(b - a for a, b in own.coding) + CODON for own in good)
    if (several := sum(own.several for own in found.values())) or longer:
        also = f"; untranslated parts of {longer} transcripts are not learned"
        tell(f"{name}: {several} genes have several coding parts, of which the longest is learned{also}")
    together = sum(len(own.genes) for own in found.values()) // (2 * FOLDS)
    together = max(1, min(TOGETHER, together))
    places = [
        place
        for chromosome, own in found.items()
        for place in _places(chromosome, own, len(sequences[chromosome]), together)
    ]
    folds = _folds(places, name)
    parts = _Parts(sequences, rows, kernel, solver, seed, n_threads, starts)
    held_out: list[list[Boundaries]] = []
    for fold in folds:
        classifiers, content = parts.learn([place for other in folds if other is not fold for place in other])
        held_out.append(parts.boundaries(fold, classifiers, content))
    flat = list(chain.from_iterable(folds))
    grammar = make_grammar(list(chain.from_iterable(held_out)), flat)
    start = prior_weights(grammar, list(chain.from_iterable(held_out)), flat)
    pieces = [_pieces(own, fold) for own, fold in zip(held_out, folds, strict=True)]
    pieces = [own[:: 1 + (len(own) - 1) // MOST_PIECES] for own in pieces]
    chosen, scores = _choose(pieces, grammar, start, seed)
    learned = learn_weights(list(chain.from_iterable(pieces)), grammar, start, chosen, seed=seed)
    classifiers, content = parts.learn(flat)
    record: dict[str, Any] = {
        "genes": sum(len(place.genes) for place in places),
        "C": chosen,
        "exon_f1": scores,
        "order": content.order,
        "starts": list(starts),
        "prior": start.tolist(),
        "fit": learned.record(),
    }
    return GeneModel(classifiers, content, grammar, learned.weights, record)


def _training_sites(genome: PathLike, annotation: Annotation, kind: str, seed: int, starts: Sequence[str]) -> list[Row]:
    """Return true sites and decoys of the whole genome."""
    motifs = {"donor": DONORS, "acceptor": (ACCEPTOR,), "start": starts}[kind]
    feature = "exon" if any(transcript.exons for transcript in annotation.transcripts) else "CDS"
    return make_site_table(genome, annotation, kind, decoys=DECOYS, motifs=motifs, feature=feature, seed=seed).rows


def _places(chromosome: str, own: Annotated, length: int, together: int) -> list[Place]:
    """Return the pieces of a chromosome: neighbouring genes, in each piece all known, or not all."""
    places: list[Place] = []
    for start, stop in own.pieces(length):
        genes = tuple(gene for gene in own.genes if start <= gene.span[0] and gene.span[1] <= stop)
        complete = len(genes) > 0 and not any(start <= low < stop for low, _ in own.unknown)
        last = places[-1] if places else None
        if last is not None and last.complete and complete and len(last.genes) < together:
            places[-1] = replace(last, stop=stop, genes=(*last.genes, *genes))
        else:
            places.append(Place(chromosome, start, stop, genes, complete))
    return places


def _folds(places: Sequence[Place], name: str) -> list[list[Place]]:
    """Divide pieces into folds of neighbours, with about the same number of genes in each fold."""
    counts = np.cumsum([len(place.genes) for place in places]) if places else np.zeros(1)
    if counts[-1] < 2 * FOLDS:
        raise SequenceError(
            f"has {int(counts[-1])} genes from ATG to a stop codon with an open frame, but {2 * FOLDS} are needed",
            file=name,
            remedy="give an annotation with features CDS, and the genome that it was made for",
        )
    numbers = np.clip((counts - 1) * FOLDS // counts[-1], 0, FOLDS - 1)
    folds = [[place for place, own in zip(places, numbers, strict=True) if own == fold] for fold in range(FOLDS)]
    if not all(any(place.complete for place in fold) for fold in folds):
        raise SequenceError(
            f"has too few genes without unknown neighbours to divide them into {FOLDS} folds",
            file=name,
            remedy="give an annotation of more genes",
        )
    return folds


def train_on_windows(
    windows: Codes, labels: list[str], kind: str, window: Window, kernel: str, solver: str, **how: Any
) -> Model:
    """Train a classifier of one kind of sites on windows (n, length) around them and decoys."""
    ids = [f"{kind}{i + 1}" for i in range(len(windows))]
    X = SequenceSet.from_offsets(windows.ravel(), np.arange(len(ids) + 1) * window.length, ids, DNA)
    y = make_labels(ids, labels, positive=kind)
    model = train_model(X, y, build_kernel(kernel), solver, notes={"window": window.record()}, **how)
    assert isinstance(model, Model)
    return model


@dataclass(eq=False)
class _Parts:
    """The learner of site classifiers and content scores from some pieces, which applies them to others."""

    sequences: dict[str, Codes]
    rows: dict[str, list[Row]]
    kernel: str
    solver: str
    seed: int
    n_threads: int | None
    starts: Sequence[str]

    def __post_init__(self) -> None:
        self.reverse = {name: reverse_complement_codes(codes, DNA) for name, codes in self.sequences.items()}

    def learn(self, places: Sequence[Place]) -> tuple[dict[str, Model], Content]:
        """Learn the site classifiers and content scores from some pieces."""
        return {kind: self._classifier(kind, places) for kind in self.rows}, self._content(places)

    def _classifier(self, kind: str, places: Sequence[Place]) -> Model:
        """Train the classifier of one kind of sites."""
        window = as_window(WINDOW)
        starts: dict[str, list[int]] = {name: [] for name in self.sequences}
        stops: dict[str, list[int]] = {name: [] for name in self.sequences}
        for own in places:  # ascending
            starts[own.chromosome].append(own.start)
            stops[own.chromosome].append(own.stop)
        windows, labels = [], []
        for record, position, strand, label, *_ in self.rows[kind]:
            place = bisect_right(starts[record], position - 1) - 1
            if place < 0 or position > stops[record][place]:
                continue
            codes = self.sequences[record] if strand == "+" else self.reverse[record]
            at = position - 1 if strand == "+" else len(codes) - position
            bases = codes[max(0, at - window.left) : at + window.right + 1]
            if len(bases) == window.length and not (bases == MASK).any():
                windows.append(bases)
                labels.append(label)
        codes = np.array(windows, dtype=np.uint8).reshape(-1, window.length)
        # the grammar learns what a decision value means, and its folds are neighbours
        how = {"threshold": "none", "allow_similar": True, "seed": self.seed, "n_threads": self.n_threads}
        return train_on_windows(codes, labels, kind, window, self.kernel, self.solver, **how)

    def _content(self, places: Sequence[Place]) -> Content:
        """Learn the scores of coding and intron sequence."""
        coding, introns, between = [], [], []
        for place in places:
            n, at, free = len(self.sequences[place.chromosome]), place.start, list[tuple[str, int, int]]()
            for gene in place.genes:
                codes = (self.reverse if gene.reverse else self.sequences)[place.chromosome]

                def along(start: int, stop: int, codes: Codes = codes, gene: Gene = gene, n: int = n) -> Codes:
                    return codes[n - stop : n - start] if gene.reverse else codes[start:stop]

                done = 0
                for start, stop in reversed(gene.parts) if gene.reverse else gene.parts:
                    coding.append((along(start, stop), done % 3))
                    done += stop - start
                introns += [along(start, stop) for start, stop in gene.introns]
                free.append((place.chromosome, at, gene.span[0]))
                at = gene.span[1]
            if place.complete:  # elsewhere are genes that are not known
                between += [*free, (place.chromosome, at, place.stop)]
        both = [self.sequences[name][start:stop] for name, start, stop in between]
        both += [
            self.reverse[name][len(self.reverse[name]) - stop : len(self.reverse[name]) - start]
            for name, start, stop in between
        ]
        return Content.learn(coding, introns, both)

    def boundaries(self, places: Sequence[Place], classifiers: dict[str, Model], content: Content) -> list[Boundaries]:
        """Return the candidate boundaries of some pieces."""
        scorers = {kind: site_scorer(model, self.n_threads) for kind, model in classifiers.items()}
        found: dict[str, Boundaries] = {}
        for place in places:
            name = place.chromosome
            if name not in found:
                found[name] = find_boundaries(self.sequences[name], scorers, content, self.starts)
        return [found[place.chromosome].between(place.start, place.stop) for place in places]


def _pieces(boundaries: Sequence[Boundaries], places: Sequence[Place]) -> list[Piece]:
    """Return the pieces whose genes are all known."""
    found = (
        Piece.of(own, list(place.genes), place.start, place.stop)
        for own, place in zip(boundaries, places, strict=True)
        if place.complete
    )
    return [piece for piece in found if piece is not None]


def _choose(
    pieces: Sequence[Sequence[Piece]], grammar: Grammar, start: Floats, seed: int
) -> tuple[float, dict[str, float]]:
    """Return the C with the greatest F1 of exons in held-out folds (the smallest of ties), and the F1 of each C."""
    scores = {}
    for C in COSTS:
        total = NOTHING
        for held_out in range(len(pieces)):
            others = list(chain.from_iterable(own for i, own in enumerate(pieces) if i != held_out))
            learned = learn_weights(others, grammar, start, C, passes=FEWER_PASSES, seed=seed)
            total = total + exon_counts(pieces[held_out], grammar, learned)
        scores[C] = total.f1
        if total.f1 < max(scores.values()):
            break  # larger C take longer and fit the folds closer
    chosen = max(scores, key=lambda C: (scores[C], -C))
    return chosen, {f"{C:g}": score for C, score in scores.items()}


def exon_counts(pieces: Iterable[Piece], grammar: Grammar, learned: Learned) -> LevelAccuracy:
    """Return the counts of annotated, predicted and correct exons."""
    total = NOTHING
    for piece in pieces:
        scores = grammar.scores(piece.boundaries, learned.weights)
        genes = as_genes(piece.boundaries, decode(piece.boundaries, scores, grammar.limits)[1], scores)
        true = [[(gene.reverse, gene.parts)] for gene in piece.genes]
        total = total + gene_accuracy(true, [(gene.reverse, gene.parts) for gene in genes])["exon"]
    return total
