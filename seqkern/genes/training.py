"""Learn the genes of an annotated genome: site classifiers, content, and weights of the grammar.

The genome is cut between genes into pieces, and these into folds of neighbouring pieces. The weights are learned from
pieces whose decision values and contents come from the other folds, so that they know how far the classifiers are to be
trusted on new genomes; C is chosen on folds of the same pieces. The classifiers and the content of the model are then
learned from all pieces.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.core.types import PathLike
from seqkern.evaluation.gene_accuracy import NOTHING, LevelAccuracy, gene_accuracy
from seqkern.genes.annotated import Annotated, annotated_genes, by_chromosome
from seqkern.genes.boundaries import Boundaries, Gene, find_boundaries
from seqkern.genes.content import Content
from seqkern.genes.decoding import as_genes, decode
from seqkern.genes.grammar import Grammar
from seqkern.genes.learning import Learned, Piece, learn_weights
from seqkern.genes.model import SITES, GeneModel, site_scorer
from seqkern.genes.prior import make_grammar, prior_weights
from seqkern.genome.annotation import read_annotation
from seqkern.genome.features import has_features, read_features
from seqkern.genome.site_tables import Row, chromosomes, make_site_table
from seqkern.genome.transcripts import Annotation
from seqkern.kernels import build_kernel
from seqkern.models.model import Model
from seqkern.models.training import train_model
from seqkern.sequences.alphabets import DNA, MASK
from seqkern.sequences.candidates import reverse_complement_codes
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.windows import as_window

WINDOW = "-30:+30"
KERNEL = "weighted_degree:degree=8"
SOLVER = "csvc:C=1"
DECOYS = 5
FOLDS = 3
COSTS = (0.01, 0.1, 1.0, 10.0)
"""Values of C among which is chosen."""
LONGEST_INTRON = 20_000
TOGETHER = 5
"""Genes in a piece: several, so that a path that joins neighbours is a violation."""

Codes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Place:
    """A piece of the genome.

    Attributes
    ----------
    chromosome : str
        Its name.
    start, stop : int
        From 0, half open.
    genes : tuple of Gene
        That the grammar can describe.
    complete : bool
        Whether these are all annotated genes.

    Examples
    --------
    >>> Place("chr1", 0, 100, (), True).complete
    True
    """

    chromosome: str
    start: int
    stop: int
    genes: tuple[Gene, ...]
    complete: bool


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
    """Learn the genes of an annotated genome.

    Parameters
    ----------
    genome : path-like
        FASTA, GenBank or EMBL.
    annotation : path-like, optional
        GTF, GFF3, GenBank or EMBL; default: the features of the genome.
    kernel, solver : str
        Specs of the classifiers of sites.
    seed : int
        Of decoys, folds and the order of pieces.
    n_threads : int, optional
        Default: the number of cores.
    tell : callable, optional
        Called with a sentence on what was left out.

    Returns
    -------
    GeneModel

    Raises
    ------
    SequenceError
        If annotation and genome do not fit, or there are too few genes.
    """
    name = str(annotation if annotation is not None else genome)
    read = read_features(name) if has_features(name) else read_annotation(name)
    sequences = dict(chromosomes(genome))
    rows = {kind: _sites(genome, read, kind, seed) for kind in SITES}
    transcripts = by_chromosome(read)
    found = {
        chromosome: annotated_genes(transcripts.get(chromosome, ()), codes, LONGEST_INTRON)
        for chromosome, codes in sequences.items()
    }
    left_out: Counter[str] = sum((own.left_out for own in found.values()), Counter())
    if left_out:
        tell(f"{name}: left out: " + ", ".join(f"{count} genes {reason}" for reason, count in left_out.items()))
    together = sum(len(own.genes) for own in found.values()) // (2 * FOLDS)
    together = max(1, min(TOGETHER, together))
    places = [
        place
        for chromosome, own in found.items()
        for place in _places(chromosome, own, len(sequences[chromosome]), together)
    ]
    folds = _folds(places, name)
    parts = _Parts(sequences, rows, kernel, solver, seed, n_threads)
    held_out: list[list[Boundaries]] = []
    for fold in folds:
        classifiers, content = parts.learn([place for other in folds if other is not fold for place in other])
        held_out.append(parts.boundaries(fold, classifiers, content))
    flat = list(chain.from_iterable(folds))
    grammar = make_grammar(list(chain.from_iterable(held_out)), flat)
    start = prior_weights(grammar, list(chain.from_iterable(held_out)), flat)
    pieces = [_pieces(own, fold) for own, fold in zip(held_out, folds, strict=True)]
    chosen, scores = _choose(pieces, grammar, start, seed)
    learned = learn_weights(list(chain.from_iterable(pieces)), grammar, start, chosen, seed=seed)
    classifiers, content = parts.learn(flat)
    record: dict[str, Any] = {
        "genes": sum(len(place.genes) for place in places),
        "C": chosen,
        "exon_f1": scores,
        "order": content.order,
        "prior": start.tolist(),
        "fit": learned.record(),
    }
    return GeneModel(classifiers, content, grammar, learned.weights, record)


def _sites(genome: PathLike, annotation: Annotation, kind: str, seed: int) -> list[Row]:
    """Return sites and decoys of the whole genome."""
    motifs = ("GT", "GC") if kind == "donor" else None
    feature = "exon" if any(transcript.exons for transcript in annotation.transcripts) else "CDS"
    return make_site_table(genome, annotation, kind, decoys=DECOYS, motifs=motifs, feature=feature, seed=seed).rows


def _places(chromosome: str, own: Annotated, length: int, together: int) -> list[Place]:
    """Return the pieces of a chromosome: neighbouring genes that are all known, or genes of which one is not."""
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
    """Divide pieces into folds of neighbours with about as many genes each."""
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


class _Parts:
    """What learns the classifiers and the content from some pieces, and applies them to others."""

    def __init__(
        self,
        sequences: dict[str, Codes],
        rows: dict[str, list[Row]],
        kernel: str,
        solver: str,
        seed: int,
        n_threads: int | None,
    ) -> None:
        self.sequences, self.rows, self.seed, self.n_threads = sequences, rows, seed, n_threads
        self.kernel, self.solver = kernel, solver
        self.reverse = {name: reverse_complement_codes(codes, DNA) for name, codes in sequences.items()}

    def learn(self, places: Sequence[Place]) -> tuple[dict[str, Model], Content]:
        """Return classifiers and content of some pieces."""
        return {kind: self._classifier(kind, places) for kind in SITES}, self._content(places)

    def _classifier(self, kind: str, places: Sequence[Place]) -> Model:
        """Return the classifier of one kind of sites."""
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
        ids = [f"{kind}{i + 1}" for i in range(len(windows))]
        X = SequenceSet.from_offsets(
            np.concatenate(windows or [np.zeros(0, dtype=np.uint8)]), np.arange(len(ids) + 1) * window.length, ids, DNA
        )
        y = make_labels(ids, labels, positive=kind)
        notes = {"window": window.record()}
        model = train_model(
            X, y, build_kernel(self.kernel), self.solver, seed=self.seed, notes=notes, n_threads=self.n_threads
        )
        assert isinstance(model, Model)
        return model

    def _content(self, places: Sequence[Place]) -> Content:
        """Return the scores of coding and intron sequence."""
        coding, introns, between = [], [], []
        for place in places:
            n, at = len(self.sequences[place.chromosome]), place.start
            for gene in place.genes:
                codes = (self.reverse if gene.reverse else self.sequences)[place.chromosome]

                def along(start: int, stop: int, codes: Codes = codes, gene: Gene = gene, n: int = n) -> Codes:
                    return codes[n - stop : n - start] if gene.reverse else codes[start:stop]

                done = 0
                for start, stop in reversed(gene.parts) if gene.reverse else gene.parts:
                    coding.append((along(start, stop), done % 3))
                    done += stop - start
                introns += [along(start, stop) for start, stop in gene.introns]
                between.append((place.chromosome, at, gene.span[0]))
                at = gene.span[1]
            between.append((place.chromosome, at, place.stop))
        both = [self.sequences[name][start:stop] for name, start, stop in between]
        both += [
            self.reverse[name][len(self.reverse[name]) - stop : len(self.reverse[name]) - start]
            for name, start, stop in between
        ]
        return Content.learn(coding, introns, both)

    def boundaries(self, places: Sequence[Place], classifiers: dict[str, Model], content: Content) -> list[Boundaries]:
        """Return the candidates of some pieces."""
        scorers = {kind: site_scorer(model, self.n_threads) for kind, model in classifiers.items()}
        found: dict[str, Boundaries] = {}
        for place in places:
            if place.chromosome not in found:
                found[place.chromosome] = find_boundaries(self.sequences[place.chromosome], scorers, content)
        return [found[place.chromosome].between(place.start, place.stop) for place in places]


def _pieces(boundaries: Sequence[Boundaries], places: Sequence[Place]) -> list[Piece]:
    """Return the pieces all of whose genes are known."""
    found = (
        Piece.of(own, list(place.genes), place.start, place.stop)
        for own, place in zip(boundaries, places, strict=True)
        if place.complete
    )
    return [piece for piece in found if piece is not None]


def _choose(
    pieces: Sequence[Sequence[Piece]], grammar: Grammar, start: Floats, seed: int
) -> tuple[float, dict[str, float]]:
    """Return the C of greatest F1 of exons in held-out folds, and the F1 of each; of equal ones the smallest C."""
    scores = {}
    for C in COSTS:
        total = NOTHING
        for held_out in range(len(pieces)):
            others = list(chain.from_iterable(own for i, own in enumerate(pieces) if i != held_out))
            learned = learn_weights(others, grammar, start, C, seed=seed)
            total = total + exon_counts(pieces[held_out], grammar, learned)
        scores[C] = total.f1
    chosen = max(scores, key=lambda C: (scores[C], -C))
    return chosen, {f"{C:g}": score for C, score in scores.items()}


def exon_counts(pieces: Iterable[Piece], grammar: Grammar, learned: Learned) -> LevelAccuracy:
    """Return how many exons are right.

    Parameters
    ----------
    pieces : iterable of Piece
        With their annotated genes.
    grammar : Grammar
        What the weights stand for.
    learned : Learned
        The weights.

    Returns
    -------
    LevelAccuracy
    """
    total = NOTHING
    for piece in pieces:
        scores = grammar.scores(piece.boundaries, learned.weights)
        genes = as_genes(piece.boundaries, decode(piece.boundaries, scores, grammar.limits)[1], scores)
        true = [[(gene.reverse, gene.parts)] for gene in piece.genes]
        total = total + gene_accuracy(true, [(gene.reverse, gene.parts) for gene in genes])["exon"]
    return total
