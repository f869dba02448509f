"""Effects of variants, each scored by the models of the split that holds out its chromosome."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import FoldError, SequenceError
from seqkern.core.progress import progress_bar, tell
from seqkern.core.tsv import write_tsv
from seqkern.core.types import Bools, Floats, Ints, PathLike
from seqkern.evaluation.folds import Split
from seqkern.evaluation.metrics import top_precision
from seqkern.evaluation.ranking import average_precision, roc_auc
from seqkern.formats.alleles import PLACED, Placing, kept
from seqkern.formats.reference import Genome
from seqkern.formats.vcf import VcfReader, info_numbers
from seqkern.genomics.variants import Scorer, TableScorer
from seqkern.kernels.kmer.kmer_kernel import SpectrumKernel
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet

Scorers = Mapping[str, Scorer]


@dataclass(frozen=True, eq=False)
class VariantTable:
    """The alternative alleles of a VCF file, in its order."""

    chromosomes: npt.NDArray[np.str_]  # shape (n,): By the genome's names
    positions: Ints  # shape (n,): From 1
    ids: list[str]  # length n: As in the file
    refs: list[str]  # length n: As in the file
    alts: list[str]  # length n: As in the file
    truth: Floats  # shape (n,): The known effect; NaN where there is none
    placed: Bools  # shape (n,): Whether the allele has a place in the genome

    def __len__(self) -> int:
        return len(self.positions)


def read_variants(vcf: PathLike, genome: Genome, truth: str | None = None) -> VariantTable:
    """Read a VCF file, and check it against a genome."""
    names: list[str] = []
    positions: list[int] = []
    ids, refs, alts = [], [], []
    effects, placed = [np.zeros(0)], [np.zeros(0, dtype=bool)]
    with VcfReader(vcf) as reader:
        placing = Placing(genome, str(vcf), reader.lengths)
        for chunk in reader.chunks():
            status = placing.place(chunk, 1)[1]
            rows = chunk.rows.tolist()
            names += [placing.names[chunk.chromosomes[row]] or chunk.chromosomes[row] for row in rows]
            positions += [chunk.positions[row] for row in rows]
            ids += [chunk.ids[row] for row in rows]
            refs += [chunk.refs[row] for row in rows]
            alts += chunk.alts
            placed.append(status == PLACED)
            effects.append(np.full(len(rows), np.nan) if truth is None else info_numbers(chunk, truth, str(vcf)))
        flag = truth is not None and any(f"##INFO=<ID={truth},Number=0," in line for line in reader.header)
    if not positions:
        raise SequenceError("has no variants", file=vcf, remedy="give a VCF file with records")
    for line in placing.renamed:
        tell(f"{vcf}: {line}")
    found = np.concatenate(effects)
    if truth is not None and not flag and np.isnan(found).all():
        raise SequenceError(
            f"no record has the field {truth!r} in INFO", file=vcf, remedy="name the field with the known effect"
        )
    if flag:
        found = np.nan_to_num(found)
    return VariantTable(
        np.array(names), np.array(positions, dtype=np.int64), ids, refs, alts, found, np.concatenate(placed)
    )


def held_out_chromosomes(splits: Sequence[Split], labels: Labels) -> dict[str, int]:
    """Return, by chromosome, the index of the first split that tests on it and trains on none of it.

    >>> from seqkern.sequences.labels import make_labels
    >>> labels = make_labels(["a", "b", "c"], ["p", "n", "p"], chromosome=["chr1", "chr2", "chr2"])
    >>> held_out_chromosomes([Split("1", train=np.array([1, 2]), test=np.array([0]))], labels)
    {'chr1': 0}
    """
    found: dict[str, int] = {}
    for number, split in enumerate(splits if labels.chromosome is not None else ()):
        train, test = (set(np.asarray(labels.chromosome)[rows].tolist()) for rows in (split.train, split.test))
        for name in sorted(test - train - {""}):
            found.setdefault(name, number)
    if not found:
        raise FoldError(
            "no fold holds out a whole chromosome, so models have seen the sequences around the variants",
            remedy="use regions of a genome, with its chromosomes as folds: {method: leave-one-group-out}",
        )
    return found


@dataclass(eq=False)
class HeldOutEffects:
    """Effects of the alleles of a VCF file by several scorers, each trained for every split."""

    variants: VariantTable  # All n alleles
    chromosomes: Mapping[str, int]  # The split that holds out each chromosome
    split: Ints = field(init=False)  # shape (n,): The split of each allele, −1 for none
    # shape (n,): Scores with either allele, by name of the scorer; NaN where there is none
    reference: dict[str, Floats] = field(init=False, default_factory=dict)
    # shape (n,): Scores with either allele, by name of the scorer; NaN where there is none
    alternative: dict[str, Floats] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        own = [self.chromosomes.get(name, -1) for name in self.variants.chromosomes.tolist()]
        self.split = np.where(self.variants.placed, np.array(own, dtype=np.int64), -1)

    @property
    def splits(self) -> list[int]:
        """Indices of the splits that score an allele."""
        return np.unique(self.split[self.split >= 0]).tolist()

    def score(
        self, vcf: PathLike, genome: Genome, scorers_of: Callable[[int], Scorers], n_threads: int | None = None
    ) -> None:
        """Score the alleles of each split with the scorers trained for it."""
        for number in progress_bar(self.splits, "splits"):
            scorers = scorers_of(number)
            for name in scorers:
                for found in (self.reference, self.alternative):
                    found.setdefault(name, np.full(len(self.variants), np.nan))
            flank = max(scorer.flank for scorer in scorers.values())
            done = 0
            with VcfReader(vcf) as reader:
                placing = Placing(genome, str(vcf), reader.lengths)
                for chunk in reader.chunks():
                    placed = placing.place(chunk, flank)[0]
                    alleles = kept(placed, self.split[done + placed.index] == number)
                    for name, scorer in scorers.items():
                        numbers = scorer.score(alleles, n_threads)
                        self.reference[name][done + alleles.index] = numbers["reference"]
                        self.alternative[name][done + alleles.index] = numbers["alternative"]
                    done += len(chunk.rows)

    def delta(self, name: str) -> Floats:
        """Return a scorer's effects, alternative − reference, shape (n,)."""
        return self.alternative[name] - self.reference[name]

    def rank_score(self, name: str) -> Floats:
        """Return a scorer's absolute effects in units of their median in the split: splits differ in scale."""
        size = np.abs(self.delta(name))
        for number in self.splits:
            rows = (self.split == number) & ~np.isnan(size)
            middle = float(np.median(size[rows])) if rows.any() else 0.0
            size[rows] /= middle or 1.0
        return size


def distance_to_positive(variants: VariantTable, labels: Labels, lengths: Ints, positive: int) -> Floats:
    """Return the distance of each allele to the middle of the nearest positive sample on its chromosome.

    It is infinite where the chromosome has no positive sample.
    """
    out = np.full(len(variants), np.inf)
    if labels.chromosome is None or labels.position is None:
        return out
    chromosome, chosen = np.asarray(labels.chromosome), labels.y == positive
    middles = np.asarray(labels.position) + (np.asarray(lengths) - 1) / 2
    for name in np.unique(variants.chromosomes).tolist():
        rows, own = variants.chromosomes == name, np.sort(middles[chosen & (chromosome == name)])
        if len(own):
            place = np.searchsorted(own, variants.positions[rows])
            near = own[np.clip([place - 1, place], 0, len(own) - 1)]
            out[rows] = np.abs(near - variants.positions[rows]).min(axis=0)
    return out


# Scores of how well rankings of variants find the variants with a known effect.

RANKINGS = {
    "model": "|delta| of the model",
    "composition": "|change| of the log-odds of 3-mers",
    "distance": "nearness to the middle of a positive sample",
}
"""Names of the rankings, with their criteria."""
TOP = (10, 25, 50)
COLUMNS = (
    "chromosome", "position", "id", "ref", "alt", "split", "reference", "alternative", "delta", "score",
    "composition_score", "distance",
)  # fmt: skip


def rank_scores(effects: HeldOutEffects, distance: Floats) -> dict[str, Floats]:
    """Return the scores that variants are ranked by, highest first, by the names of `RANKINGS`.

    ``distance`` is included only if some distance is known.
    """
    found = {name: effects.rank_score(name) for name in ("model", "composition")}
    return found | ({"distance": -distance} if np.isfinite(distance).any() else {})


def effect_scores(effects: HeldOutEffects, distance: Floats, threshold: float = 0.0) -> dict[str, Any]:
    """Return the scores of each ranking on the variants with a known effect, as JSON.

    Alleles with a known effect beyond ±`threshold` count as true; alleles without a known effect are left out.
    """
    truth, delta = effects.variants.truth, effects.delta("model")
    known = ~np.isnan(truth) & ~np.isnan(delta)
    true = np.abs(truth[known]) > threshold
    n, count = len(true), int(true.sum())
    out: dict[str, Any] = {"n": n, "true": count, "rankings": {}, "signs": None}
    if not 0 < count < n:
        return out
    numbers = sorted({min(number, n) for number in (*TOP, count)})
    for name, values in rank_scores(effects, distance).items():
        own = values[known]
        top = [top_precision(true, own, number)._asdict() for number in numbers]
        out["rankings"][name] = {"ap": average_precision(true, own), "auc": roc_auc(true, own), "top": top}
    signs = np.sign(truth[known][true])
    if len(np.unique(signs)) > 1:
        out["signs"] = {"agree": int(np.count_nonzero(signs == np.sign(delta[known][true]))), "of": count}
    return out


def write_effects(
    path: PathLike, effects: HeldOutEffects, distance: Floats, splits: list[str], threshold: float | None
) -> None:
    """Write the table of variants, in the order of the file."""
    variants = effects.variants
    columns: list[Any] = [variants.chromosomes, variants.positions, variants.ids, variants.refs, variants.alts]
    columns.append([splits[number] if number >= 0 else "" for number in effects.split.tolist()])
    columns += [effects.reference["model"], effects.alternative["model"], effects.delta("model")]
    scores = [effects.rank_score("model"), effects.rank_score("composition")]
    scores.append(np.where(np.isinf(distance), np.nan, distance))
    names = list(COLUMNS)
    if threshold is not None:
        names += ["effect", "true"]
        known = ~np.isnan(variants.truth)
        scores += [variants.truth, np.where(known, np.abs(variants.truth) > threshold, np.nan)]
    write_tsv(path, names, zip(*columns, *scores, strict=True))


# A trivial baseline for variants: the log-odds of 3-mers between two classes, which reflect composition alone.

LENGTH = 3
PSEUDOCOUNT = 1.0


def composition_scorer(X: SequenceSet, positive: Bools) -> TableScorer:
    """Return a scorer by the frequencies of 3-mers on both strands.

    The weight of a 3-mer is the log of its frequency in positive sequences, minus the log of its frequency in the
    others.

    >>> X = SequenceSet.from_strings(["GGCGGCGGC", "GCCGCC", "AATAATAAT", "TTATTA"], "dna")
    >>> scorer = composition_scorer(X, np.array([True, True, False, False]))
    >>> sums = scorer.sums(SequenceSet.from_strings(["GGC", "GCC", "AAT"], "dna"))
    >>> bool(sums[0] == sums[1] > 0 > sums[2])
    True
    """
    logs = [np.log(_counts(X.take(np.flatnonzero(rows)))) for rows in (positive, ~positive)]
    return TableScorer({LENGTH: logs[0] - logs[1]}, X.alphabet)


def _counts(X: SequenceSet) -> Floats:
    """Return the frequencies of all 3-mers, each pooled with its reverse complement."""
    kernel = SpectrumKernel(LENGTH, normalize=False, short="zero")
    strands = (np.asarray(kernel.features(one).sum(axis=0)).ravel() for one in (X, X.reverse_complement()))
    counts = sum(strands, np.full(X.alphabet.size**LENGTH, 2 * PSEUDOCOUNT))
    return counts / counts.sum()
