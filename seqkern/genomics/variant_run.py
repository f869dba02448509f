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
from seqkern.core.errors import FileError, ParameterError
from seqkern.core.package_files import build_digest
from seqkern.core.statistics import benjamini_hochberg
from seqkern.core.text_files import file_sha256, open_lines
from seqkern.core.threads import in_threads
from seqkern.core.types import Arrays, Codes, Floats, Ints, PathLike
from seqkern.formats.alleles import BARE, MOST_IN_A_PART, MOST_MISMATCHES, PLACED, SEPARATOR, PlacedAlleles, Placing
from seqkern.formats.vcf import CHUNK, VcfChunk, VcfReader
from seqkern.genomics import _variants as loops
from seqkern.kernels.models.motif_files import matrix_reader, read_matrices
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


# Null distributions of effects: random single-base variants of the same genome, matched by trinucleotide context.
#
# The context of a variant is its base, the bases before and after it, and the alternative base, read on the strand on
# which the base is C or T: 96 classes, as in mutational signatures.
#
# References:
# Phipson & Smyth 2010, Stat. Appl. Genet. Mol. Biol. 9:39 (p-values from random draws are never 0).

CLASSES = 96
NO_CLASS = -1
DRAWS, ROUNDS = 16, 8
"""Positions drawn in each round for each variant that is still missing, and the maximum number of rounds."""

Regions = Sequence[tuple[str, int, int]]


def contexts(alleles: PlacedAlleles) -> npt.NDArray[np.int8]:
    """Return the context class (0 to 95) of each allele.

    It is −1 for alleles other than single bases, and next to N or the chromosome's end.
    """
    out = np.full(len(alleles.places), NO_CLASS, dtype=np.int8)
    rows = np.flatnonzero(alleles.snv)
    alts = DNA.encode(b"".join(alleles.alts[row] for row in rows.tolist()))
    out[rows] = _classes(DNA.encode(alleles.text.tobytes()), alleles.places[rows], alts)
    return out


def _classes(codes: Codes, places: Ints, alts: Codes) -> npt.NDArray[np.int8]:
    """Return the context class of each single-base variant."""
    near = np.full((len(places), 3), 255, dtype=np.int64)
    for column, shift in enumerate((-1, 0, 1)):
        at = places + shift
        inside = (at >= 0) & (at < len(codes))
        near[inside, column] = codes[at[inside]]
    good = (near < 4).all(axis=1) & (alts < 4) & (near[:, 1] != alts)
    purine = near[:, 1] % 2 == 0  # A and G; the complement of code c is 3 - c
    near[purine] = 3 - near[purine][:, ::-1]
    to = np.where(purine, 3 - alts.astype(np.int64), alts)
    middle = (near[:, 1] - 1) // 2  # C 0, T 1
    rank = to - (to > near[:, 1])
    out = ((near[:, 0] * 4 + near[:, 2]) * 2 + middle) * 3 + rank
    return np.where(good, out, NO_CLASS).astype(np.int8)


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


class NullVariants:
    """Random single-base variants of a genome."""

    def __init__(self, genome: Genome, regions: Regions, wanted: Ints, seed: int) -> None:
        self.genome, self.regions = genome, [region for region in regions if region[2] > region[1]]
        self.lengths = np.array([stop - start for _, start, stop in self.regions], dtype=np.int64)
        self._ends = np.cumsum(self.lengths)
        self._choose(wanted, np.random.default_rng(seed))

    def _choose(self, wanted: Ints, rng: np.random.Generator) -> None:
        """Draw positions until each class is full, or no more are found."""
        total = int(self.lengths.sum())
        left, seen = wanted.copy(), np.zeros(0, dtype=np.int64)
        chosen: list[tuple[Ints, Codes]] = []
        for _ in range(ROUNDS):
            if not left.sum() or not total:
                break
            drawn = rng.integers(0, total, size=int(DRAWS * max(left.sum(), 1000)))
            alts = rng.integers(1, 4, size=len(drawn))
            drawn, first = np.unique(drawn, return_index=True)
            order = np.argsort(first, kind="stable")  # in the order of the draws: no chromosome comes first
            drawn, alts = drawn[order], alts[first][order]
            new = ~np.isin(drawn, seen)
            drawn, alts = drawn[new], alts[new]
            classes, to = self._look_up(drawn, alts)
            kept = np.zeros(len(drawn), dtype=bool)
            for kind in np.flatnonzero(left).tolist():
                found = np.flatnonzero(classes == kind)[: left[kind]]
                kept[found] = True
                left[kind] -= len(found)
            seen = np.concatenate((seen, drawn[kept]))
            chosen.append((drawn[kept], to[kept]))
        self.missing = int(left.sum())
        empty = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint8))
        places, to = (np.concatenate(parts) for parts in zip(empty, *chosen, strict=True))
        order = np.argsort(places, kind="stable")
        self._places, self._alts = places[order], to[order]

    def _look_up(self, drawn: Ints, steps: Ints) -> tuple[npt.NDArray[np.int8], Codes]:
        """Return the class and alternative base at positions; the latter is `steps` codes after the genome's base."""
        classes, to = np.full(len(drawn), NO_CLASS, dtype=np.int8), np.zeros(len(drawn), dtype=np.uint8)
        for rows, text, places in self._stretches(drawn, 1):
            codes = DNA.encode(text)
            own = codes[places]
            to[rows] = np.where(own < 4, (own + steps[rows]) % 4, 255)
            classes[rows] = _classes(codes, places, to[rows])
        return classes, to

    def _stretches(self, drawn: Ints, flank: int) -> Iterator[tuple[Ints, bytes, Ints]]:
        """Yield the rows of positions by region, the bases of the region and its flanks, and the places in these."""
        owner = np.searchsorted(self._ends, drawn, side="right")
        for number in np.unique(owner).tolist():
            rows, (name, start, stop) = np.flatnonzero(owner == number), self.regions[number]
            low, high = max(0, start - flank), min(stop + flank, self.genome.lengths[name])
            text = self.genome.fetch(name, low, high).upper().encode()
            yield rows, text, drawn[rows] - int(self.lengths[:number].sum()) + start - low

    def __len__(self) -> int:
        return len(self._places)

    def chunks(self, flank: int) -> list[PlacedAlleles]:
        """Return the variants with the bases around them, region by region."""
        out = []
        for rows, text, places in self._stretches(self._places, flank):
            found = np.frombuffer(text + SEPARATOR, dtype=np.uint8)
            refs = [text[place : place + 1] for place in places.tolist()]
            alts = [DNA.letters[code].encode() for code in self._alts[rows].tolist()]
            out.append(PlacedAlleles(found, places, refs, alts, np.ones(len(rows), dtype=bool), np.arange(len(rows))))
        return out


def p_values(delta: Floats, null: Floats) -> Floats:
    """Return two-sided empirical p-values: (1 + random variants with at least this |delta|) / (1 + all random
    variants).

    NaN stays NaN; `null` has none.

    >>> p_values(np.array([-3.0, 0.5, np.nan]), np.array([0.1, -0.2, 1.0]))
    array([0.25, 0.5 ,  nan])
    """
    sizes = np.sort(np.abs(null))
    as_large = len(sizes) - np.searchsorted(sizes, np.abs(delta), side="left")
    return np.where(np.isnan(delta), np.nan, (1 + as_large) / (1 + len(sizes)))


def threshold(delta: Floats, q: Floats, fdr: float) -> tuple[float | None, int]:
    """Return the smallest |delta| among variants with q ≤ fdr (None if there are none), and their number."""
    found = np.abs(delta[q <= fdr])
    return (float(found.min()) if len(found) else None), len(found)


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

    @property
    def flank(self) -> int:
        """Number of bases needed on each side of a variant."""
        return max(self.panel.flank, 0 if self.motifs is None else self.motifs.flank)

    def chunks(self, reader: VcfReader) -> Iterator[tuple[VcfChunk, Arrays]]:
        """Yield each chunk of the file with its alleles' ``status``, ``context`` and numbers of `Panel.score`."""
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
        out: Arrays = {"status": status, "context": np.full(len(status), NO_CLASS, dtype=np.int8)}
        out["context"][placed.index] = contexts(placed)
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

    def chances(self, n: int, seed: int, regions: Regions | None) -> dict[str, tuple[Floats, Floats, Floats]]:
        """Read the file once, and return (delta, p-values, q-values) of all alleles, by model.

        They are NaN for alleles other than single bases. Random variants come from `regions`, by default from the
        chromosomes
        of the file.
        """
        deltas: dict[str, list[Floats]] = {name: [] for name in self.panel.columns}
        classes = [np.zeros(0, dtype=np.int8)]
        with VcfReader(self.vcf) as reader:
            for _, numbers in self.chunks(reader):
                classes.append(numbers["context"])
                for name in deltas:
                    deltas[name].append(numbers[f"{name}/delta"])
        context = np.concatenate(classes)
        counts = np.bincount(context[context != NO_CLASS], minlength=CLASSES)
        null: dict[str, Floats] = {name: np.zeros(0) for name in deltas}
        if counts.sum():
            where = regions or [(name, 0, self.genome.lengths[name]) for name in self.placing.touched]
            drawn = NullVariants(self.genome, where, quotas(counts, n), seed)
            self.null_size, self.null_missing = len(drawn), drawn.missing
            for alleles in drawn.chunks(self.flank):
                scores = self.panel.score(alleles, self.n_threads)
                for name in null:
                    found = scores[f"{name}/delta"]
                    null[name] = np.concatenate((null[name], found[~np.isnan(found)]))
        out = {}
        for name, parts in deltas.items():
            delta = np.where(context == NO_CLASS, np.nan, np.concatenate([np.zeros(0), *parts]))
            p = p_values(delta, null[name])
            q, tested = np.full(len(p), np.nan), ~np.isnan(p)
            q[tested] = benjamini_hochberg(p[tested])
            out[name] = (delta, p, q)
        return out


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
        with open_lines(path) as (lines, name):
            text = [line.rstrip("\n") for line in lines]
        reader = matrix_reader(text)
        try:
            matrices = [] if reader is None else read_matrices(text, reader)
            if not matrices:
                raise FileError("has no weight matrix", file=name, remedy="give motifs as JASPAR, MEME or TRANSFAC")
            return cls(matrices)
        except ParameterError as error:
            raise FileError(error.problem, file=name, remedy=error.remedy) from error

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

    @property
    def letters(self) -> str:
        """Letters of the alphabet."""
        return self.alphabet.letters

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
