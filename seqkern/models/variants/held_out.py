"""Effects of variants by models that have not seen their chromosomes: each by the split that holds it out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import FoldError, SequenceError
from seqkern.core.progress import progress_bar
from seqkern.core.types import PathLike
from seqkern.folds.split import Split
from seqkern.genome.info import info_numbers
from seqkern.genome.placed_alleles import PLACED, Placing, kept
from seqkern.genome.reference import Genome
from seqkern.genome.vcf import VcfReader
from seqkern.models.variants.scorer import Scorer
from seqkern.sequences.labels import Labels

Floats = npt.NDArray[np.float64]
Scorers = Mapping[str, Scorer]


@dataclass(frozen=True, eq=False)
class VariantTable:
    """The alternative alleles of a VCF file, in its order.

    Attributes
    ----------
    chromosomes : ndarray of str, shape (n,)
        By the genome's names.
    positions : ndarray of int64, shape (n,)
        From 1.
    ids, refs, alts : list of str, length n
        As in the file.
    truth : ndarray of float64, shape (n,)
        The known effect; NaN where there is none.
    placed : ndarray of bool, shape (n,)
        Whether the allele has a place in the genome.
    """

    chromosomes: npt.NDArray[np.str_]
    positions: npt.NDArray[np.int64]
    ids: list[str]
    refs: list[str]
    alts: list[str]
    truth: Floats
    placed: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.positions)


def read_variants(vcf: PathLike, genome: Genome, truth: str | None = None) -> VariantTable:
    """Read a VCF file, and check it against a genome.

    Parameters
    ----------
    vcf : path-like
        The variants.
    genome : Genome
        The reference.
    truth : str, optional
        A field of INFO with the known effect of each allele; a flag means 1, its absence 0.

    Returns
    -------
    VariantTable

    Raises
    ------
    FileError, SequenceError
        If the file cannot be read, is of another genome, has no variants, or lacks the field.
    """
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
            if truth is not None:
                effects.append(info_numbers(chunk, truth, str(vcf)))
        flag = truth is not None and any(f"##INFO=<ID={truth},Number=0," in line for line in reader.header)
    if not positions:
        raise SequenceError("has no variants", file=vcf, remedy="give a VCF file with records")
    found = np.concatenate(effects) if truth is not None else np.full(len(positions), np.nan)
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
    """Return the split that holds out each chromosome: it tests on it, and trains on none of it.

    Parameters
    ----------
    splits : sequence of Split
        Of all samples.
    labels : Labels
        With chromosomes.

    Returns
    -------
    dict of str to int
        Index of the first such split, by chromosome.

    Raises
    ------
    FoldError
        If there is none.

    Examples
    --------
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
    """Effects of the alleles of a VCF file by several scorers, each trained for every split.

    Attributes
    ----------
    variants : VariantTable
        All n alleles.
    chromosomes : mapping of str to int
        The split that holds out each chromosome.
    split : ndarray of int64, shape (n,)
        The split of each allele, −1 for none.
    reference, alternative : dict of str to ndarray of float64, shape (n,)
        Scores with either allele, by name of the scorer; NaN where there is none.
    """

    variants: VariantTable
    chromosomes: Mapping[str, int]
    split: npt.NDArray[np.int64] = field(init=False)
    reference: dict[str, Floats] = field(init=False, default_factory=dict)
    alternative: dict[str, Floats] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        own = [self.chromosomes.get(name, -1) for name in self.variants.chromosomes.tolist()]
        self.split = np.where(self.variants.placed, np.array(own, dtype=np.int64), -1)

    @property
    def splits(self) -> list[int]:
        """The splits that score an allele."""
        return np.unique(self.split[self.split >= 0]).tolist()

    def score(
        self, vcf: PathLike, genome: Genome, scorers_of: Callable[[int], Scorers], n_threads: int | None = None
    ) -> None:
        """Score the alleles of each split with the scorers trained for it.

        Parameters
        ----------
        vcf : path-like
            The file that `variants` was read from.
        genome : Genome
            The reference.
        scorers_of : callable
            Given the index of a split, returns its scorers by name; called once for each split.
        n_threads : int, optional
            Default: the number of cores.
        """
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
        """Return alternative − reference.

        Parameters
        ----------
        name : str
            Of the scorer.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        return self.alternative[name] - self.reference[name]

    def rank_score(self, name: str) -> Floats:
        """Return absolute effects, in units of their median in the split: models of several splits differ in scale.

        Parameters
        ----------
        name : str
            Of the scorer.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        size = np.abs(self.delta(name))
        for number in self.splits:
            rows = (self.split == number) & ~np.isnan(size)
            middle = float(np.median(size[rows])) if rows.any() else 0.0
            size[rows] /= middle or 1.0
        return size


def distance_to_positive(
    variants: VariantTable, labels: Labels, lengths: npt.NDArray[np.int64], positive: int
) -> Floats:
    """Return the distance of each allele to the middle of the nearest positive sample on its chromosome.

    Parameters
    ----------
    variants : VariantTable
        The n alleles.
    labels : Labels
        Of the samples, with chromosomes and positions.
    lengths : ndarray of int64
        Of the samples.
    positive : int
        Code of the class.

    Returns
    -------
    ndarray of float64, shape (n,)
        Infinite where the chromosome has none.
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
