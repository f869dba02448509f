"""Scores of splice sites for spliced aligners, in the format of minimap2 and miniprot (``--spsc``).

A classifier of donor sites and one of acceptor sites score every GT and AG of a genome. A score is 2·log2(P/q),
rounded: P is the frequency of annotated sites among the held-out candidates with such a decision, and q that among all
candidates of the genome. P is fitted by isotonic regression to a histogram of decisions; each of its steps counts one
more candidate, of frequency q, so that a step without sites has a finite score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from seqkern.core.archive import load_archive, nest, save_archive, unnest
from seqkern.core.errors import SequenceError
from seqkern.core.file_kinds import MODEL, SPLICE
from seqkern.core.parts import Part
from seqkern.core.types import Bools, Codes, Floats, Ints, PathLike
from seqkern.formats.annotation import Annotation, read_annotation
from seqkern.formats.reference import Genome
from seqkern.formats.site_tables import chromosomes, make_site_table
from seqkern.genomics.gene_learning import train_on_windows
from seqkern.methods.loading import model_from_state
from seqkern.methods.model import Model
from seqkern.methods.scan import Scanner, scan_all, scan_part
from seqkern.sequences._lines import lines as make_lines
from seqkern.sequences.alphabets import DNA, MASK
from seqkern.sequences.streaming import Candidates, occurrences, reverse_complement_codes
from seqkern.sequences.windows import as_window

MOTIFS = {"donor": ("GT", "GC", "AT"), "acceptor": ("AG", "AC")}
"""Bases at each kind of site: the first are always scored, the others if the annotation has `FEWEST` such sites."""
FEWEST = 50
WINDOW = as_window("-100:+101")
COMPOSITION = "0.002*spectrum:k=3+4+5,normalize=false,part="
KERNEL = f"weighted_degree:degree=4,part=80:122+{COMPOSITION}0:97+{COMPOSITION}106:202"
SOLVER = "linear_svc:C=0.3"
FOLDS = 3
LEAST_SITES = 30
DECOYS, LEAST_DECOYS, MOST_SITES = 20, 20_000, 10_000
"""Decoys for each training site, their least number, and the maximum number of training sites, of which more decide
the same."""
LOW, STEP, BINS = -10.0, 0.02, 1000
"""Bins of the histogram of decisions."""
FLOOR = -7
"""Score up to which sites are left out: minimap2 and miniprot give it to every site that is not in the file."""


@dataclass(frozen=True, eq=False)
class SpliceModel:
    """Classifiers of splice sites, and the score of each of their decisions.

    ``edges[motif]`` are ascending decision values; between edges i − 1 and i the score is ``scores[motif][i]``.
    """

    sites: dict[str, Model]  # By kind
    edges: dict[str, Floats]  # By kind and bases, such as ``donor GT``
    scores: dict[str, Ints]
    record: dict[str, Any]

    def scanners(self, n_threads: int | None = None) -> list[Scanner]:
        """Return a scanner for each motif."""
        return [Scanner(self.sites[kind], motif, n_threads=n_threads) for kind, motif in map(str.split, self.edges)]

    def lines(self, block: Sequence[tuple[int, Candidates]], order: dict[str, int]) -> Iterator[str]:
        """Yield the lines of the candidates of one block: contig, bases before the junction, strand, D or A, score."""
        by_record: dict[str, list[tuple[Ints, Ints]]] = {}
        for number, found in block:
            name = list(self.edges)[number]
            score = self.scores[name][np.searchsorted(self.edges[name], found.decisions, side="right")]
            kept = np.flatnonzero(score > FLOOR)
            reverse, acceptor = found.reverse[kept].astype(np.int64), int(name.startswith("acceptor"))
            # a donor's junction is before its bases, an acceptor's after them
            places = found.starts[kept] + np.where(reverse == acceptor, 0, found.width)
            by_record.setdefault(found.record, []).append((places, (2 * reverse + acceptor) * TEXTS + score[kept]))
        for record in sorted(by_record, key=order.__getitem__):
            places, which = (np.concatenate(own) for own in zip(*by_record[record], strict=True))
            rows = np.lexsort((which, places))
            columns = places[rows, None], ENDS, which[rows].astype(np.int32) - FLOOR, np.empty((len(rows), 0))
            yield make_lines(f"{record}\t".encode(), *columns).decode()

    def save(self, path: PathLike) -> None:
        """Write the model to one file."""
        header: dict[str, Any] = {**SPLICE.stamp(), "record": self.record}
        arrays = {**nest("edges", self.edges), **nest("scores", self.scores)}
        for name, model in self.sites.items():
            header[name], own = model.state()
            arrays |= nest(name, own)
        save_archive(path, header, arrays)


MOST = 63
TEXTS = MOST - FLOOR + 1
ENDS = [f"{strand}\t{kind}\t{score}\n".encode() for strand in "+-" for kind in "DA" for score in range(FLOOR, MOST + 1)]


def load_splice_model(path: PathLike) -> SpliceModel:
    """Read a model written by `SpliceModel.save`."""
    header, arrays = load_archive(Path(path), SPLICE)
    with SPLICE.damaged(path, "is not usable"):
        edges, scores = unnest("edges", arrays), unnest("scores", arrays)
        for kind, motifs in MOTIFS.items():
            MODEL.check(header[kind], path)
            if f"{kind} {motifs[0]}" not in edges:
                raise ValueError("a motif without scores")
        if edges.keys() - {f"{kind} {motif}" for kind, motifs in MOTIFS.items() for motif in motifs}:
            raise ValueError("an unknown motif")
        for name, own in scores.items():
            if own.dtype != np.int64 or own.shape != (len(edges[name]) + 1,) or not np.all(np.abs(own) <= MOST):
                raise ValueError("scores that do not fit")
            if edges[name].dtype != np.float64 or not np.all(np.diff(edges[name]) > 0):
                raise ValueError("edges that do not ascend")
        sites = {kind: model_from_state(header[kind], unnest(kind, arrays)) for kind in MOTIFS}
        model = SpliceModel(sites, edges, cast("dict[str, Ints]", scores), dict(header["record"]))
        model.scanners()
        return model


def splice_scores(
    model: SpliceModel,
    genome: PathLike,
    *,
    part: Part | None = None,
    skip: int = 0,
    end_block: Callable[[], None] | None = None,
    progress: Callable[[int], None] | None = None,
    n_threads: int | None = None,
) -> Iterator[str]:
    """Yield the lines of a genome, or of one part, sorted by position on each contig."""
    scanners = model.scanners(n_threads)
    if part is None:
        for block in scan_all(scanners, genome, progress=progress, skip=skip, end_block=end_block):
            yield from model.lines(block, {name: i for i, name in enumerate(scanners[0].lengths)})
        return
    with Genome(genome) as opened:
        order = {name: i for i, name in enumerate(opened.lengths)}
        for block in scan_part(scanners, opened, part, progress=progress):
            yield from model.lines(block, order)


# Training on an annotated genome. Three folds of neighbours, with the same number of sites, are each scored by
# classifiers trained on the others; their decisions give the scores. The final classifiers are trained on all.


def learn_splice(genome: PathLike, annotation: PathLike, *, seed: int = 1, n_threads: int | None = None) -> SpliceModel:
    """Train a model on an annotated genome, with all other GT and AG, or a sample of them, as decoys."""
    learner = _Learner(dict(chromosomes(genome)), seed, n_threads)
    read = read_annotation(str(annotation))
    for kind in MOTIFS:
        learner.add(kind, genome, read)
    sites, counts, record = {}, dict[str, Ints](), dict[str, Any]()
    for kind in MOTIFS:
        windows, true, folds = learner.windows(kind)
        models = [learner.train(kind, windows[folds != fold], true[folds != fold]) for fold in range(FOLDS)]
        counts |= learner.histograms(kind, models)
        sites[kind] = learner.train(kind, windows, true)
        record[kind] = {"sites": int(true.sum()), "decoys": int((~true).sum())}
    first = [counts[f"{kind} {motifs[0]}"] for kind, motifs in MOTIFS.items()]
    prior = sum(float(own[1].sum()) for own in first) / sum(float(own.sum()) for own in first)
    steps = {name: score_steps(own, prior) for name, own in counts.items()}
    edges, scores = {name: own for name, (own, _) in steps.items()}, {name: own for name, (_, own) in steps.items()}
    return SpliceModel(sites, edges, scores, {**record, "prior": prior})


def score_steps(counts: Ints, prior: float) -> tuple[Floats, Ints]:
    """Return decision values, ascending, and the scores below, between and above them.

    `counts` (2, bins) are the decoys and the sites in each bin of decisions.
    """
    from sklearn.isotonic import IsotonicRegression  # imported here for fast start-up

    used = np.flatnonzero(counts.sum(axis=0))
    total = counts[:, used].sum(axis=0)
    fitted = IsotonicRegression().fit_transform(np.arange(len(used)), counts[1, used] / total, sample_weight=total)
    pool = np.concatenate(([0], np.cumsum(np.diff(fitted) > 0)))
    hits, n = np.bincount(pool, weights=counts[1, used]), np.bincount(pool, weights=total)
    odds: Floats = np.maximum.accumulate((hits + prior) / (n + 1) / prior)
    score = np.clip(np.rint(2 * np.log2(odds)), -MOST, MOST).astype(np.int64)[pool]
    change = np.flatnonzero(np.diff(score)) + 1
    return (LOW + STEP * (used[change] - 0.5)).astype(np.float64), score[np.concatenate(([0], change))]


@dataclass(eq=False)
class _Learner:
    """The learner of classifiers, with the genome and its annotated sites by kind and chromosome."""

    sequences: dict[str, Codes]
    seed: int
    n_threads: int | None

    def __post_init__(self) -> None:
        self.sites: dict[str, dict[tuple[str, str, str], list[int]]] = {}
        self.begins = dict(
            zip(self.sequences, np.cumsum([0, *map(len, self.sequences.values())]).tolist(), strict=False)
        )
        self.cuts = np.zeros(0)

    def add(self, kind: str, genome: PathLike, annotation: Annotation) -> None:
        """Add the annotated sites of a kind, by bases, chromosome and strand; the first kind's define the folds."""
        feature = "exon" if any(transcript.exons for transcript in annotation.transcripts) else "CDS"
        table = make_site_table(genome, annotation, kind, decoys=0, motifs=MOTIFS[kind], feature=feature)
        own: dict[tuple[str, str, str], list[int]] = {}
        for record, position, strand, *_, motif in table.rows:
            own.setdefault((motif, record, strand), []).append(position - 1)
        places = sorted(self.begins[row[0]] + row[1] for row in table.rows if row[-1] == MOTIFS[kind][0])
        if len(places) < LEAST_SITES:
            raise SequenceError(
                f"has {len(places)} {kind} sites {MOTIFS[kind][0]}, but {LEAST_SITES} are needed",
                file=annotation.file,
                remedy="give the annotation of more genes with introns",
            )
        self.sites[kind] = own
        if not len(self.cuts):
            self.cuts = np.array([places[len(places) * fold // FOLDS] for fold in range(1, FOLDS)])

    def strands(self, kind: str, motif: str) -> Iterator[tuple[Codes, Ints, Bools, Ints]]:
        """Yield each strand's codes, and the windows in it: starts, which hold sites, and their folds."""
        for name, forward in self.sequences.items():
            for strand in "+-":
                codes = forward if strand == "+" else reverse_complement_codes(forward, DNA)
                places = occurrences(codes, DNA.encode(motif.encode()), WINDOW.left, len(codes) - WINDOW.right)
                masked = np.concatenate(([0], np.cumsum(codes == MASK, dtype=np.int32)))
                starts = places - WINDOW.left
                places = places[masked[starts + WINDOW.length] == masked[starts]]
                here = places if strand == "+" else len(codes) - 1 - places
                true = np.isin(here, self.sites[kind].get((motif, name, strand), []))
                yield codes, places - WINDOW.left, true, np.searchsorted(self.cuts, self.begins[name] + here, "right")

    def windows(self, kind: str) -> tuple[Codes, Bools, Ints]:
        """Return the training windows of a kind, which are sites, and their folds."""
        motif, rng = MOTIFS[kind][0], np.random.default_rng(self.seed)
        n = sum(len(own) for key, own in self.sites[kind].items() if key[0] == motif)
        decoys = max(LEAST_DECOYS, DECOYS * min(n, MOST_SITES))
        expected = sum(map(len, self.sequences.values())) / 8  # of a pair of bases on both strands
        share = np.array([decoys / expected, MOST_SITES / n])
        parts = []
        for codes, starts, true, folds in self.strands(kind, motif):
            kept = np.flatnonzero(rng.random(len(starts)) < share[true.astype(np.int64)])
            parts.append((codes[starts[kept, None] + np.arange(WINDOW.length)], true[kept], folds[kept]))
        windows, true, folds = (np.concatenate(own) for own in zip(*parts, strict=True))
        return windows, true, folds

    def train(self, kind: str, windows: Codes, true: Bools) -> Model:
        """Train a classifier on some windows."""
        labels = np.where(true, kind, "decoy").tolist()
        how: dict[str, Any] = {"threshold": "none", "allow_similar": True}
        how |= {"seed": self.seed, "n_threads": self.n_threads}
        return train_on_windows(windows, labels, kind, WINDOW, KERNEL, SOLVER, **how)

    def histograms(self, kind: str, models: Sequence[Model]) -> dict[str, Ints]:
        """Return the decoys and sites in each bin of decisions, for each motif with enough sites."""
        found = {}
        for motif in MOTIFS[kind]:
            n = sum(len(own) for key, own in self.sites[kind].items() if key[0] == motif)
            if motif != MOTIFS[kind][0] and n < FEWEST:
                continue
            scanners = [Scanner(model, motif, n_threads=self.n_threads) for model in models]
            found[f"{kind} {motif}"] = counts = np.zeros((2, BINS), dtype=np.int64)
            for codes, starts, true, folds in self.strands(kind, motif):
                for fold, scanner in enumerate(scanners):
                    own = folds == fold
                    decisions = scanner.values(codes, starts[own], np.full(int(own.sum()), kind, dtype=object))
                    bins = np.clip(np.rint((decisions - LOW) / STEP), 0, BINS - 1).astype(np.int64)
                    for label in (0, 1):
                        counts[label] += np.bincount(bins[true[own] == label], minlength=BINS)
        return found
