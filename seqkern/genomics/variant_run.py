"""Runs over the variants of a VCF file, chunk by chunk: placed in the genome, scored by models and by motifs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqkern.core.checkpoint import Checkpoint
from seqkern.core.errors import FileError, naming
from seqkern.core.package_files import build_digest
from seqkern.core.statistics import benjamini_hochberg
from seqkern.core.text_files import file_sha256
from seqkern.core.threads import in_threads
from seqkern.core.types import Arrays, Codes, Floats, Ints, PathLike
from seqkern.formats.alleles import BARE, MOST_IN_A_PART, MOST_MISMATCHES, PLACED, SEPARATOR, PlacedAlleles, Placing
from seqkern.formats.vcf import CHUNK, VcfChunk, VcfReader
from seqkern.genomics import _variants as loops
from seqkern.kernels.models.motif_files import MotifSet
from seqkern.kernels.models.patterns import SCALE, Matrix
from seqkern.sequences.alphabets import DNA

if TYPE_CHECKING:
    from seqkern.formats.reference import Genome
    from seqkern.genomics.variants import Panel, Scorer
    from seqkern.sequences.alphabets import Alphabet


def identity_of(models: list[Any], data: list[Any], options: Any) -> str:
    """Return the text that identifies a job: model contents, data sizes and modification times, and options."""
    parts = [build_digest(), *(file_sha256(path) for path in models)]
    for path in data:
        found = os.stat(path)
        parts += [str(path), str(found.st_size), str(found.st_mtime_ns)]
    return hashlib.blake2b("\n".join([*parts, repr(options)]).encode(), digest_size=16).hexdigest()


# Null distributions of effects: random variants of the same genome, of the same kind, length and local context.
#
# The context of a single-base variant is its base, the bases before and after it, and the alternative base, read on the
# strand on which the base is C or T: 96 classes, as in mutational signatures. The context of an insertion or a deletion
# is the number of copies of its bases beside it. Each is divided by the share of G and C nearby.
#
# References:
# Phipson & Smyth 2010, Stat. Appl. Genet. Mol. Biol. 9:39 (p-values from random draws are never 0).

NO_CLASS = -1
SNVS, INSERTIONS, DELETIONS, SUBSTITUTIONS = range(4)
KINDS = ("single-base variants", "insertions", "deletions", "longer substitutions")
AROUND, RICH = 5, (4, 7)
"""Bases on each side whose G and C count, and the numbers of them at which the classes of the share begin."""
COPIES = np.array([0, 1, 2, 2, 3])
"""Class of the number of copies of an indel's bases beside it, which are counted up to 4."""
LONGEST_UNIT = 16
"""Bases of the longest insertion or deletion whose copies are counted."""
REACH = (len(COPIES) - 1) * LONGEST_UNIT + AROUND
"""Bases on each side of a variant that its stratum depends on."""
DRAWS, ROUNDS = 16, 8
"""Positions drawn in each round for each variant that is still missing, and the maximum number of rounds."""
TEMPLATES = 1000
"""Alleles of a length that are kept, to be moved to random positions."""
PRIOR = 100
"""Random variants of its kind that count with those of a stratum when its mean is estimated."""

Regions = Sequence[tuple[str, int, int]]
Shape = tuple[int, int]
"""Numbers of deleted and of inserted bases."""


def kind_of(strata: Ints) -> Ints:
    """Return the kind (see `KINDS`) of each stratum."""
    return strata >> 48


def _key(shape: Shape) -> int:
    """Return what the strata of a shape share: their number without context."""
    kind = SNVS if shape == (1, 1) else SUBSTITUTIONS if all(shape) else DELETIONS if shape[0] else INSERTIONS
    return kind << 32 | shape[0] << 16 | shape[1]


def _strata(codes: Codes, places: Ints, shape: Shape, inserted: Codes) -> Ints:
    """Return the stratum of each variant that replaces `shape[0]` bases at its place by its row of `inserted`.

    It is −1 next to N or the chromosome's end, and where nothing changes.
    """
    deleted, added = shape
    near = _fetch(codes, places[:, None] + np.r_[-AROUND:0, deleted : deleted + AROUND])
    rich = np.digitize(((near == 1) | (near == 2)).sum(axis=1), RICH)
    rich[(near > 3).any(axis=1)] = NO_CLASS
    old = _fetch(codes, places[:, None] + np.arange(deleted))
    context = np.zeros(len(places), dtype=np.int64)
    if not 0 < max(shape) <= 0xFFFF:
        context[:] = NO_CLASS
    elif shape == (1, 1):
        context = _trinucleotides(near[:, AROUND - 1], old[:, 0], near[:, AROUND], inserted[:, 0])
    elif deleted and added:  # what it replaces differs at both ends
        context[(old[:, 0] == inserted[:, 0]) | (old[:, -1] == inserted[:, -1])] = NO_CLASS
    elif max(shape) <= LONGEST_UNIT:
        unit = old if deleted else inserted
        length, copies = deleted + added, np.zeros(len(places), dtype=np.int64)
        for first, step in ((places + deleted, length), (places - length, -length)):
            same = np.ones(len(places), dtype=bool)
            for _ in range(len(COPIES) - 1):
                same &= (_fetch(codes, first[:, None] + np.arange(length)) == unit).all(axis=1)
                copies, first = copies + same, first + step
        context = COPIES[np.minimum(copies, len(COPIES) - 1)]
    known = (context >= 0) & (rich >= 0) & (old <= 3).all(axis=1) & (inserted <= 3).all(axis=1)
    return np.where(known, _key(shape) << 16 | context << 2 | rich, NO_CLASS)


def _fetch(codes: Codes, at: Ints) -> Codes:
    """Return the bases at positions, 255 beyond the ends."""
    return np.where((at >= 0) & (at < len(codes)), codes[np.clip(at, 0, len(codes) - 1)], 255)


def _trinucleotides(before: Codes, ref: Codes, after: Codes, alt: Codes) -> Ints:
    """Return the class, 0 to 95, of single-base variants; −1 where the base stays."""
    near = np.column_stack((before, ref, after)).astype(np.int64)
    purine = near[:, 1] % 2 == 0  # A and G; the complement of code c is 3 - c
    near[purine] = 3 - near[purine][:, ::-1]
    to = np.where(purine, 3 - alt.astype(np.int64), alt)
    rank = to - (to > near[:, 1])
    out = ((near[:, 0] * 4 + near[:, 2]) * 2 + (near[:, 1] - 1) // 2) * 3 + rank
    return np.where(ref == alt, NO_CLASS, out)


def _trimmed(ref: bytes, alt: bytes) -> tuple[int, bytes, bytes]:
    """Return how many first bases two alleles share, and what differs between these and the shared last bases."""
    first = _shared(ref, alt)
    ref, alt = ref[first:], alt[first:]
    last = _shared(ref[::-1], alt[::-1])
    return first, ref[: len(ref) - last], alt[: len(alt) - last]


def _shared(ref: bytes, alt: bytes) -> int:
    """Return the number of first letters that two alleles share."""
    return next((i for i, (a, b) in enumerate(zip(ref, alt, strict=False)) if a != b), min(len(ref), len(alt)))


def strata_of(alleles: PlacedAlleles) -> Ints:
    """Return the stratum of each allele, −1 for none."""
    out = np.full(len(alleles.places), NO_CLASS, dtype=np.int64)
    codes = DNA.encode(alleles.text.tobytes())
    shapes: dict[Shape, list[tuple[int, int, bytes]]] = {}
    for row in np.flatnonzero(~alleles.snv).tolist():
        first, deleted, inserted = _trimmed(alleles.refs[row], alleles.alts[row])
        shapes.setdefault((len(deleted), len(inserted)), []).append((row, int(alleles.places[row]) + first, inserted))
    singles = np.flatnonzero(alleles.snv)
    if len(singles):
        alts = DNA.encode(b"".join(alleles.alts[row] for row in singles.tolist()))
        out[singles] = _strata(codes, alleles.places[singles], (1, 1), alts[:, None])
    for shape, found in shapes.items():
        rows, places, texts = zip(*found, strict=True)
        added = DNA.encode(b"".join(texts)).reshape(len(found), shape[1])
        out[list(rows)] = _strata(codes, np.array(places, dtype=np.int64), shape, added)
    return out


def quotas(counts: Ints, n: int) -> Ints:
    """Return the number of the n random variants in each class: proportional, by largest remainders.

    >>> quotas(np.array([5, 0, 3, 2]), 4)
    array([2, 0, 1, 1])
    """
    exact = counts * (n / counts.sum())
    out = np.floor(exact).astype(np.int64)
    rest = np.argsort(-(exact - out), kind="stable")[: n - int(out.sum())]
    out[rest] += 1
    return out


@dataclass
class _Draws:
    """Random variants of one shape."""

    shape: Shape
    templates: Codes  # shape (n, inserted bases): Bases that given variants insert
    left: dict[int, int]  # Number that is still missing in each stratum
    places: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    strata: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    inserted: Codes = field(init=False)

    def __post_init__(self) -> None:
        self.inserted = self.templates[:0]

    def draw(self, total: int, rng: np.random.Generator) -> tuple[Ints, Codes]:
        """Return new random places, in random order, and the bases to insert there."""
        drawn = np.unique(rng.integers(0, total, size=DRAWS * max(sum(self.left.values()), 64)))
        drawn = rng.permutation(drawn[~np.isin(drawn, self.places)])
        return drawn, self.templates[rng.integers(0, len(self.templates), size=len(drawn))]

    def strata_at(self, codes: Codes, places: Ints, inserted: Codes) -> Ints:
        """Return the strata at places, and change `inserted`: a base to another one, every second insertion to a copy
        of the bases after it, since repeats are longer than chance would make them.
        """
        if self.shape == (1, 1):
            own = codes[places]
            inserted[:, 0] = np.where(own < 4, (own + 1 + inserted[:, 0] % 3) % 4, 255)
        elif not self.shape[0]:
            inserted[::2] = _fetch(codes, places[::2, None] + np.arange(self.shape[1]))
        return _strata(codes, places, self.shape, inserted)

    def keep(self, places: Ints, strata: Ints, inserted: Codes) -> None:
        """Keep as many of each stratum as are missing."""
        chosen = np.zeros(len(places), dtype=bool)
        for number, missing in self.left.items():
            rows = np.flatnonzero(strata == number)[:missing]
            chosen[rows] = True
            self.left[number] -= len(rows)
        self.places = np.concatenate((self.places, places[chosen]))
        self.strata = np.concatenate((self.strata, strata[chosen]))
        self.inserted = np.concatenate((self.inserted, inserted[chosen]))


class NullVariants:
    """Random variants of a genome: alleles like the given ones at random positions of the same context."""

    def __init__(
        self,
        genome: Genome,
        regions: Regions,
        wanted: Mapping[int, int],
        templates: Mapping[Shape, list[bytes]],
        seed: int,
    ) -> None:
        self.genome, self.regions = genome, [region for region in regions if region[2] > region[1]]
        self._ends = np.cumsum(np.array([stop - start for _, start, stop in self.regions], dtype=np.int64))
        self._draws = []
        for shape, texts in sorted(templates.items()):
            left = {number: count for number, count in wanted.items() if number >> 16 == _key(shape)}
            self._draws.append(_Draws(shape, DNA.encode(b"".join(texts)).reshape(len(texts), shape[1]), left))
        self._choose(np.random.default_rng(seed))
        self.missing = sum(sum(one.left.values()) for one in self._draws)

    def __len__(self) -> int:
        return sum(len(one.places) for one in self._draws)

    def _choose(self, rng: np.random.Generator) -> None:
        """Draw positions until each stratum is full, or no more are found."""
        total = int(self._ends[-1]) if len(self._ends) else 0
        for _ in range(ROUNDS if total else 0):
            open_draws = [one for one in self._draws if any(one.left.values())]
            drawn = [(*one.draw(total, rng), one) for one in open_draws]
            strata = [np.full(len(places), NO_CLASS, dtype=np.int64) for places, *_ in drawn]
            for text, found in self._by_region([places for places, *_ in drawn], REACH):
                codes = DNA.encode(text)
                for (rows, places), (_, inserted, one), out in zip(found, drawn, strata, strict=True):
                    added = inserted[rows]
                    out[rows] = one.strata_at(codes, places, added)
                    inserted[rows] = added
            for (places, inserted, one), own in zip(drawn, strata, strict=True):
                one.keep(places, own, inserted)

    def _by_region(self, lists: list[Ints], reach: int) -> Iterator[tuple[bytes, list[tuple[Ints, Ints]]]]:
        """Yield the bases of each region, and for each list of places those in it: their rows, and where they are."""
        owners = [np.searchsorted(self._ends, places, side="right") for places in lists]
        for number, (name, start, stop) in enumerate(self.regions):
            rows = [np.flatnonzero(owner == number) for owner in owners]
            if any(map(len, rows)):
                low, high = max(0, start - reach), min(stop + reach, self.genome.lengths[name])
                shift = start - low - (int(self._ends[number]) - (stop - start))
                text = self.genome.fetch(name, low, high).upper().encode()
                yield text, [(own, places[own] + shift) for own, places in zip(rows, lists, strict=True)]

    def chunks(self, flank: int) -> Iterator[tuple[PlacedAlleles, Ints]]:
        """Yield the variants with the bases around them, and their strata, region by region."""
        letters = bytes.maketrans(bytes(range(4)), DNA.letters[:4].encode())
        longest = max((max(one.shape) for one in self._draws), default=0)
        for text, found in self._by_region([one.places for one in self._draws], flank + longest):
            places, refs, alts = [np.zeros(0, dtype=np.int64)], [], []
            for (rows, where), one in zip(found, self._draws, strict=True):
                anchor = one.shape != (1, 1)  # the base before, as in a VCF file
                places.append(where - anchor)
                own = [text[place : place + one.shape[0] + anchor] for place in places[-1].tolist()]
                refs += own
                alts += [
                    ref[:anchor] + row.tobytes().translate(letters)
                    for ref, row in zip(own, one.inserted[rows], strict=True)
                ]
            strata = np.concatenate([one.strata[rows] for (rows, _), one in zip(found, self._draws, strict=True)])
            bases, starts = np.frombuffer(text + SEPARATOR, dtype=np.uint8), np.concatenate(places)
            yield PlacedAlleles(bases, starts, refs, alts, kind_of(strata) == SNVS, np.arange(len(refs))), strata


def p_values(values: Floats, null: Floats) -> Floats:
    """Return empirical p-values: (1 + null values that are at least as large) / (1 + all null values); NaN stays NaN.

    >>> p_values(np.array([3.0, 0.5, np.nan]), np.array([0.1, 0.2, 1.0]))
    array([0.25, 0.5 ,  nan])
    """
    null = np.sort(null)
    as_large = len(null) - np.searchsorted(null, values, side="left")
    return np.where(np.isnan(values), np.nan, (1 + as_large) / (1 + len(null)))


@dataclass(eq=False)
class Effects:
    """What variants change, by one model."""

    strata: Ints  # shape (n,)
    reference: Floats  # shape (n,): Scores; NaN where there is none
    delta: Floats  # shape (n,): Alternative − reference

    @classmethod
    def joined(cls, parts: list[Effects]) -> Effects:
        """Return effects as one; there may be none."""
        columns = ([getattr(one, name) for one in parts] for name in ("strata", "reference", "delta"))
        empty = (np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))
        return cls(*(np.concatenate([none, *column]) for none, column in zip(empty, columns, strict=True)))

    def p_values(self, null: Effects) -> Floats:
        """Return the p-value of each variant, among random variants of its kind; NaN without a stratum.

        A score counts as log-odds of binding, in standard deviations from one standard deviation above the mean of
        random reference alleles. The effect is the change of log(1 + odds): changes far below this level, where nothing
        binds, count little. It is divided by its mean in the stratum.
        """
        out = np.full(len(self.delta), np.nan)
        for kind in np.unique(kind_of(null.strata)).tolist():
            rows, own = (np.flatnonzero((kind_of(one.strata) == kind) & ~np.isnan(one.delta)) for one in (self, null))
            if len(own):
                mean, sd = null.reference[own].mean(), null.reference[own].std() or 1.0
                changes, random = (one._changes(some, mean + sd, sd) for one, some in ((self, rows), (null, own)))
                out[rows] = p_values(*_standardised(changes, self.strata[rows], random, null.strata[own]))
        return out

    def _changes(self, rows: Ints, level: float, sd: float) -> Floats:
        """Return |change of log(1 + odds)| of some variants."""
        before = (self.reference[rows] - level) / sd
        return np.abs(np.logaddexp(0, before + self.delta[rows] / sd) - np.logaddexp(0, before))


def _standardised(values: Floats, strata: Ints, null: Floats, null_strata: Ints) -> tuple[Floats, Floats]:
    """Return values, and null values, divided by the mean of the null values in their stratum.

    Each null value is left out of its own divisor, as given values are: it would bound what the largest can be.
    """
    names, index, counts = np.unique(null_strata, return_inverse=True, return_counts=True)
    sums, prior = np.append(np.bincount(index, null), 0.0), np.mean(null) or 1.0
    counts = np.append(counts, 0)

    def divided(changes: Floats, at: Ints, own: Floats | int, one: int) -> Floats:
        return changes * (counts[at] - one + PRIOR) / (sums[at] - own + PRIOR * prior)

    at = np.minimum(np.searchsorted(names, strata), len(names) - 1)
    at[names[at] != strata] = len(names)
    return divided(values, at, 0, 0), divided(null, index, null, 1)


@dataclass
class VariantRun:
    """One VCF file, scored on a genome by a panel of models."""

    vcf: PathLike  # The variants
    genome: Genome  # The reference
    panel: Panel  # The models
    motifs: MotifChanges | None = None  # Known motifs
    done: Checkpoint | None = None  # Finished chunks, with which a killed run resumes
    n_threads: int | None = None  # Default: the number of cores
    placing: Placing = field(init=False)  # What became of the alleles, once they are read
    # Random variants that gave the null distribution, and those for which there was no position
    null_size: int = field(init=False, default=0)
    # Random variants that gave the null distribution, and those for which there was no position
    null_missing: int = field(init=False, default=0)
    strata: Ints = field(init=False)  # shape (alleles,): With a null distribution
    # By model, in parts: effects of the alleles, and of random ones
    given: dict[str, list[Effects]] = field(init=False)
    null: dict[str, list[Effects]] = field(init=False)

    @property
    def flank(self) -> int:
        """Number of bases needed on each side of a variant."""
        return max(self.panel.flank, REACH, 0 if self.motifs is None else self.motifs.flank)

    def chunks(self, reader: VcfReader) -> Iterator[tuple[VcfChunk, Arrays]]:
        """Yield each chunk of the file with its alleles' ``status``, ``stratum`` and numbers of `Panel.score`."""
        most = MOST_MISMATCHES if reader.part is None else MOST_IN_A_PART
        self.placing = Placing(self.genome, str(self.vcf), reader.lengths, most)
        for number, chunk in enumerate(reader.chunks(CHUNK)):
            numbers = None if self.done is None else self.done.get_arrays(str(number))
            if numbers is not None:
                self.placing.recall(chunk, numbers["status"])
            else:
                numbers = self._score(chunk)
                if self.done is not None:
                    self.done.put_arrays(str(number), numbers)
            yield chunk, numbers
        if reader.part is None:
            self.placing.finish()

    def _score(self, chunk: VcfChunk) -> Arrays:
        """Return the numbers of a chunk's alleles."""
        placed, status = self.placing.place(chunk, self.flank)
        out: Arrays = {"status": status, "stratum": np.full(len(status), NO_CLASS, dtype=np.int64)}
        out["stratum"][placed.index] = strata_of(placed)
        found = self.panel.score(placed, self.n_threads)
        if self.motifs is not None:
            found.update(self.motifs.score(placed, self.n_threads))
        for name, values in found.items():
            if values.dtype.kind == "f":
                whole = np.full(len(status), np.nan)
            else:
                whole = np.full(len(status), -1 if values.dtype.kind == "i" else b"", dtype=values.dtype)
            whole[placed.index] = values
            out[name] = whole
        bare = status == PLACED
        for name, values in out.items():
            if name.endswith("/delta"):
                bare &= np.isnan(values)
            elif name.endswith("/effect"):  # a site gained or lost where there is no other
                bare &= values == b""
        status[bare] = BARE
        self.placing.counts.update({PLACED: -int(bare.sum()), BARE: int(bare.sum())})
        return out

    def chances(self, n: int, seed: int, regions: Regions | None) -> dict[str, tuple[Floats, Floats]]:
        """Read the file once, and return (p-values, q-values) of all alleles, by model (NaN without a stratum).

        `n` random variants of each kind come from `regions`, by default from the chromosomes of the file.
        """
        self.given = {name: [] for name in self.panel.columns}
        self.null = {name: [] for name in self.panel.columns}
        wanted: dict[int, int] = {}
        templates: dict[Shape, list[bytes]] = {(1, 1): [b"A", b"C", b"G"]}
        with VcfReader(self.vcf) as reader:
            for chunk, numbers in self.chunks(reader):
                _keep_effects(self.given, numbers, numbers["stratum"])
                for i in np.flatnonzero(numbers["stratum"] >= 1 << 48).tolist():
                    ref, alt = chunk.refs[chunk.rows[i]], chunk.alts[i]
                    _, deleted, inserted = _trimmed(ref.upper().encode(), alt.upper().encode())
                    texts = templates.setdefault((len(deleted), len(inserted)), [])
                    if len(texts) < TEMPLATES:
                        texts.append(inserted)
        self.strata = np.concatenate(
            [one.strata for one in next(iter(self.given.values()))] or [np.zeros(0, dtype=np.int64)]
        )
        names, counts = np.unique(self.strata[self.strata >= 0], return_counts=True)
        for kind in np.unique(kind_of(names)):
            own = kind_of(names) == kind
            wanted.update(zip(names[own].tolist(), quotas(counts[own], n).tolist(), strict=True))
        if wanted:
            where = regions or [(name, 0, self.genome.lengths[name]) for name in self.placing.touched]
            drawn = NullVariants(self.genome, where, wanted, templates, seed)
            self.null_size, self.null_missing = len(drawn), drawn.missing
            for alleles, strata in drawn.chunks(self.flank):
                _keep_effects(self.null, self.panel.score(alleles, self.n_threads), strata)
        out = {}
        for name in self.given:
            p = Effects.joined(self.given[name]).p_values(Effects.joined(self.null[name]))
            q, tested = np.full(len(p), np.nan), ~np.isnan(p)
            q[tested] = benjamini_hochberg(p[tested])
            out[name] = (p, q)
        return out


def _keep_effects(kept: Mapping[str, list[Effects]], numbers: Arrays, strata: Ints) -> None:
    """Add the effects of some alleles by each model."""
    for name, parts in kept.items():
        parts.append(Effects(strata, numbers[f"{name}/reference"], numbers[f"{name}/delta"]))


# Known motifs that a variant changes: the best score of each weight matrix with either allele.

PSEUDOCOUNT = 1.0
NEVER = -(1 << 20)
"""Score of a base that is not A, C, G or T."""


class MotifChanges:
    """Comparison of weight matrices with both alleles."""

    columns: Mapping[str, str] = {
        "motif": "Motif whose best score changes most",
        "ref_motif": "Its best score in bits, at least 0, over the placements that touch the reference allele",
        "alt_motif": "The same with the alternative allele",
    }

    def __init__(self, matrices: Sequence[Matrix]) -> None:
        self.names = [matrix.name for matrix in matrices]
        self.flank = max(len(matrix.counts) for matrix in matrices) - 1
        self._scores = []
        for matrix in matrices:
            forward = matrix.scores(DNA, PSEUDOCOUNT)
            strands = [forward, forward[::-1, ::-1]]  # the complement of code c is 3 - c
            columns = [np.column_stack([one, np.full(len(one), NEVER)]).astype(np.int32) for one in strands]
            self._scores.append([np.ascontiguousarray(one) for one in columns])

    @classmethod
    def from_file(cls, path: PathLike) -> MotifChanges:
        """Read weight matrices from a JASPAR, MEME or TRANSFAC file."""
        with naming(path):
            matrices = MotifSet.from_file(str(path)).matrices
            if not matrices:
                raise FileError("has no weight matrix", remedy="give motifs as JASPAR, MEME or TRANSFAC")
            return cls(matrices)

    def score(self, alleles: PlacedAlleles, n_threads: int | None = None) -> Arrays:
        """Return the motif that changes most at each allele.

        ``motif`` is its number (−1 if none changes); ``ref_motif`` and ``alt_motif`` are scores in bits.
        """
        n = len(alleles.places)
        sides = [alleles.encoded(column, self.flank, DNA) for column in (alleles.refs, alleles.alts)]

        def both(number: int) -> list[npt.NDArray[np.int32]]:
            found = []
            for codes, starts, stops, first, last in sides:
                best = np.zeros((2, n), dtype=np.int32)
                for strand in (0, 1):
                    loops.best_scores(codes, starts, stops, first, last, self._scores[number][strand], best[strand])
                found.append(best.max(axis=0))
            return found

        motif = np.full(n, -1, dtype=np.int32)
        best = np.zeros((2, n), dtype=np.int32)
        for start in range(0, len(self.names), 16):
            numbers = range(start, min(start + 16, len(self.names)))
            for number, (ref, alt) in zip(
                numbers, in_threads([lambda i=i: both(i) for i in numbers], n_threads), strict=True
            ):
                more = np.abs(alt - ref) > np.abs(best[1] - best[0])
                motif[more], best[0, more], best[1, more] = number, ref[more], alt[more]
        bits = np.where(motif >= 0, best / SCALE, np.nan)
        return {"motif": motif, "ref_motif": bits[0], "alt_motif": bits[1]}


# All single-residue variants of a sequence (in-silico saturation mutagenesis).


@dataclass(frozen=True)
class Piece:
    """A part of a sequence, with residues around it."""

    name: str  # Of the sequence
    first: int  # What the first position of the part is called
    text: str  # The part and what is around it, upper case
    start: int  # Where the part begins in `text`; its residues
    length: int  # Where the part begins in `text`; its residues

    def letter(self, place: int) -> str:
        """Return the residue at a place (from 0) of the part."""
        return self.text[self.start + place]


@dataclass(frozen=True, eq=False)
class Saturation:
    """Effects of all single-residue variants of a piece, (L, letters); NaN for the piece's own residues."""

    alphabet: Alphabet  # Of the piece
    codes: Codes  # shape (L,): Its residues
    # shape (L, letters): Scores; NaN for the residue of the piece itself, and where there is none
    reference: Floats
    # shape (L, letters): Scores; NaN for the residue of the piece itself, and where there is none
    alternative: Floats

    @property
    def delta(self) -> Floats:
        """Effects, alternative − reference."""
        return self.alternative - self.reference

    def variants(self) -> Iterator[tuple[int, int]]:
        """Yield (place, code) of each variant; a masked residue has none."""
        for place, own in enumerate(self.codes.tolist()):
            if own < self.alphabet.size:
                yield from ((place, code) for code in range(self.alphabet.size) if code != own)

    def values(self, place: int, code: int) -> list[float]:
        """Return [reference, alternative, delta] of a variant."""
        before, after = float(self.reference[place, code]), float(self.alternative[place, code])
        return [before, after, after - before]


def saturate(scorer: Scorer, piece: Piece, n_threads: int | None = None) -> Saturation:
    """Return the effects of all single-residue variants of a piece."""
    alphabet = scorer.alphabet
    text = np.frombuffer(piece.text.encode() + b".", dtype=np.uint8)
    codes = alphabet.encode(text.tobytes())[piece.start : piece.start + piece.length]
    out = Saturation(alphabet, codes, *(np.full((piece.length, alphabet.size), np.nan) for _ in range(2)))
    places, alts = np.array(list(out.variants()), dtype=np.int64).reshape(-1, 2).T
    alleles = PlacedAlleles(
        text,
        places + piece.start,
        [piece.letter(place).encode() for place in places.tolist()],
        [alphabet.letters[code].encode() for code in alts.tolist()],
        np.ones(len(places), dtype=bool),
        np.arange(len(places)),
    )
    found = scorer.score(alleles, n_threads)
    out.reference[places, alts], out.alternative[places, alts] = found["reference"], found["alternative"]
    return out
