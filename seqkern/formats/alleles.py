"""VCF alleles on their genome: the surrounding bases, and whether REF agrees with the genome."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seqkern.core.errors import SequenceError
from seqkern.core.types import Bools, Codes, Ints
from seqkern.formats.regions import other_name
from seqkern.formats.vcf import SEQUENCE, SKIPPED, SNV, VcfChunk

if TYPE_CHECKING:
    from seqkern.formats.reference import Genome
    from seqkern.sequences.alphabets import Alphabet

GAP = 5000
"""Distance in bases below which regions are read as one, which is faster than a second read."""
MOST_MISMATCHES = 0.01
MOST_IN_A_PART = 0.5
"""Share of mismatches above which a part of a file has another assembly, whatever the other parts hold."""
FEW_MISMATCHES = 2
"""Number of mismatches allowed in any file: they are mistakes, not signs of another assembly."""
PLACED, MISMATCH, ABSENT, BEYOND, LEFT_OUT, BARE = range(6)
"""Status of an allele."""
NOTES = {
    MISMATCH: "REF differs from the genome",
    ABSENT: "chromosome not in the genome",
    BEYOND: "outside of the chromosome",
    LEFT_OUT: "not scored",
    BARE: "N or the chromosome's end near it",
}
SEPARATOR = b"."
COMPLEMENT = bytes.maketrans(b"ACGT", b"TGCA")


@dataclass(frozen=True, eq=False)
class PlacedAlleles:
    """The alleles of a chunk that have a sequence and a place, with their surrounding bases."""

    # shape (bases,): Upper-case bases of the regions around the alleles; a region ends with a dot
    text: Codes
    places: Ints  # shape (n,): Where in `text` the reference allele begins
    refs: list[bytes]  # Upper case
    alts: list[bytes]  # Upper case
    snv: Bools  # shape (n,): Whether both are single bases
    index: Ints  # shape (n,): Of the chunk's alleles

    def spelled(
        self, column: list[bytes], left: int, right: int, rows: Ints | None = None
    ) -> Iterator[tuple[bytes, bytes, bytes]]:
        """Yield (bases before, allele, bases after) of all or some alleles, as far as their regions reach."""
        rows = np.arange(len(self.places)) if rows is None else rows
        for row, place in zip(rows.tolist(), self.places[rows].tolist(), strict=True):
            stop = place + len(self.refs[row])
            before = self.text[max(0, place - left) : place].tobytes().rpartition(SEPARATOR)[2]
            yield before, column[row], self.text[stop : stop + right].tobytes().partition(SEPARATOR)[0]

    def windows(self, column: list[bytes], width: int, rows: Ints | None = None) -> Iterator[bytes]:
        """Yield a window of `width` bases with each allele, which begins ⌊(width − 1)/2⌋ bases before the reference
        allele; beyond the ends of chromosomes there is N.
        """
        left = (width - 1) // 2
        for before, own, after in self.spelled(column, left, width, rows):
            yield (before.rjust(left, b"N") + own + after)[:width].ljust(width, b"N")

    def encoded(
        self, column: list[bytes], reach: int, alphabet: Alphabet, rows: Ints | None = None
    ) -> tuple[Codes, Ints, Ints, Ints, Ints]:
        """Return the codes of alleles with the bases around, and the starts and stops of both these and the alleles.

        An allele that is deleted down to its first base keeps this base.
        """
        parts = list(itertools.chain.from_iterable(self.spelled(column, reach, reach, rows)))
        sizes = np.fromiter(map(len, parts), dtype=np.int64, count=len(parts)).reshape(-1, 3)
        stops = np.cumsum(sizes.sum(axis=1))
        starts = stops - sizes.sum(axis=1)
        first = starts + sizes[:, 0]
        return alphabet.encode(b"".join(parts)), starts, stops, first, first + sizes[:, 1]


class Placing:
    """A look-up of alleles in a genome that counts the alleles that do not fit."""

    def __init__(self, genome: Genome, name: str, lengths: dict[str, int], most: float = MOST_MISMATCHES) -> None:
        self.genome, self.name, self.header_lengths, self.most = genome, name, lengths, most
        self.names: dict[str, str | None] = {}
        self.counts: Counter[int] = Counter()
        self.kinds: Counter[int] = Counter()
        self.absent: Counter[str] = Counter()
        self._causes: Counter[str] = Counter()
        self._example = ""

    @property
    def renamed(self) -> list[str]:
        """A remark on the chromosomes that have another name in the genome, if there are any."""
        what = f"variants on chromosomes that {self.genome.path} names otherwise, such as"
        return [f"{what} {own} for {name}" for name, own in self.names.items() if own not in (None, name)][:1]

    @property
    def touched(self) -> list[str]:
        """The chromosomes with a variant, in the order of the genome."""
        found = {own for own in self.names.values() if own is not None}
        return [name for name in self.genome.lengths if name in found]

    def place(self, chunk: VcfChunk, flank: int) -> tuple[PlacedAlleles, Codes]:
        """Return the alleles of a chunk that are found in the genome, and the status of each allele."""
        status = np.where(chunk.kinds <= SEQUENCE, PLACED, LEFT_OUT).astype(np.uint8)
        self._find_names(chunk.chromosomes)
        order = {name: number for number, name in enumerate(self.genome.lengths)}
        numbers = {name: -1 if own is None else order[own] for name, own in self.names.items()}
        rows = chunk.rows
        chromosome = np.array([numbers[name] for name in chunk.chromosomes], dtype=np.int64)[rows]
        starts = np.array(chunk.positions, dtype=np.int64)[rows] - 1
        stops = starts + np.array([len(ref) for ref in chunk.refs], dtype=np.int64)[rows]
        ends = np.array([*self.genome.lengths.values(), 0], dtype=np.int64)[chromosome]
        status[(status == PLACED) & (chromosome < 0)] = ABSENT
        status[(status == PLACED) & ((starts < 0) | (stops > ends))] = BEYOND
        index = np.flatnonzero(status == PLACED)
        low, high = np.maximum(starts[index] - flank, 0), np.minimum(stops[index] + flank, ends[index])
        text, shifts = self._read(chromosome[index], low, high)
        placed = PlacedAlleles(
            text,
            starts[index] + shifts,
            [chunk.refs[row].upper().encode() for row in rows[index].tolist()],
            [chunk.alts[i].upper().encode() for i in index.tolist()],
            chunk.kinds[index] == SNV,
            index,
        )
        good = _agree(placed)
        if not good.all():
            self._explain(chunk, placed, np.flatnonzero(~good))
            status[index[~good]] = MISMATCH
            placed = kept(placed, good)
        self.recall(chunk, status)
        self._check()
        return placed, status

    def recall(self, chunk: VcfChunk, status: Codes) -> None:
        """Count the alleles of a chunk that has already been placed."""
        self._find_names(chunk.chromosomes)
        self.kinds.update(chunk.kinds[chunk.kinds > SEQUENCE].tolist())
        self.absent.update(chunk.chromosomes[row] for row in chunk.rows[status == ABSENT].tolist())
        self.counts.update(status.tolist())

    def summary(self) -> dict[str, Any]:
        """Return the counts in JSON form."""
        counters = {name: list(counter.items()) for name, counter in self._counters().items()}
        return {**counters, "names": list(self.names), "example": self._example}

    def add(self, summary: Mapping[str, Any]) -> None:
        """Add the counts from another part of the file, as returned by `summary`."""
        self._find_names(summary["names"])
        for name, counter in self._counters().items():
            counter.update(dict(summary[name]))
        self._example = self._example or summary["example"]
        self._check()

    def _counters(self) -> dict[str, Counter[Any]]:
        """Return the counters, by their names in a summary."""
        return {"counts": self.counts, "kinds": self.kinds, "absent": self.absent, "causes": self._causes}

    def _find_names(self, chromosomes: Iterable[str]) -> None:
        """Find the genome's names for chromosomes."""
        lengths = self.genome.lengths
        for name in dict.fromkeys(chromosomes):
            if name not in self.names:
                self.names[name] = name if name in lengths else other_name(name, lengths)

    def _read(self, chromosome: Ints, low: Ints, high: Ints) -> tuple[Codes, Ints]:
        """Return the bases of regions, and for each region the offset from genome positions to positions in these
        bases.
        """
        if not len(low):
            return np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=np.int64)
        order = np.lexsort((low, chromosome))
        # within a chromosome, the farthest end so far: a large number for each chromosome keeps them apart
        far = np.int64(1) << 40
        begins, ends = low[order] + far * chromosome[order], high[order] + far * chromosome[order]
        reach = np.maximum.accumulate(ends)
        first = np.flatnonzero(np.concatenate(([True], begins[1:] > reach[:-1] + GAP)))
        last = np.append(first[1:], len(order)) - 1
        names, parts, length, shifts = list(self.genome.lengths), [], 0, np.empty(len(first), dtype=np.int64)
        for number, (a, b) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
            at = int(chromosome[order[a]])
            start, stop = int(begins[a] - far * at), int(reach[b] - far * at)
            bases = self.genome.fetch(names[at], start, stop).upper().encode()
            parts += [bases, SEPARATOR]
            shifts[number], length = length - start, length + len(bases) + 1
        own = np.empty(len(order), dtype=np.int64)
        own[order] = np.repeat(shifts, last - first + 1)
        return np.frombuffer(b"".join(parts), dtype=np.uint8), own

    def _explain(self, chunk: VcfChunk, placed: PlacedAlleles, wrong: Ints) -> None:
        """Count the possible explanations of reference alleles that differ from the genome."""
        text = placed.text.tobytes()
        for i in wrong.tolist():
            ref, alt, place = placed.refs[i], placed.alts[i], int(placed.places[i])

            def at(shift: int, bases: bytes, place: int = place) -> bool:
                return place + shift >= 0 and text[place + shift : place + shift + len(bases)] == bases

            self._causes["from 0"] += at(1, ref)
            self._causes["shifted"] += at(-1, ref)
            self._causes["swapped"] += at(0, alt)
            self._causes["strand"] += at(0, ref.translate(COMPLEMENT)[::-1])
        if not self._example:
            row, place = int(chunk.rows[placed.index[wrong[0]]]), int(placed.places[wrong[0]])
            ref = placed.refs[wrong[0]]
            there = text[place : place + len(ref)].decode("ascii", "replace")
            self._example = (
                f"at {chunk.chromosomes[row]}:{chunk.positions[row]} REF is {ref.decode()[:20]}, the genome has "
                f"{there[:20]}"
            )

    def unscored(self) -> list[str]:
        """Return, in words, the number of alleles without a score, by cause."""
        found = [f"{self.kinds[kind]} {text}" for kind, text in SKIPPED.items() if self.kinds[kind]]
        names = [", ".join(map(repr, list(some)[:3])) for some in (self.absent, self.genome.lengths)]
        example = f" ({self._example})" if self._example else ""
        causes = {
            ABSENT: f"on chromosomes that {self.genome.path} lacks, such as {names[0]}; it has {names[1]}",
            MISMATCH: f"whose REF differs from {self.genome.path}{example}",
            BEYOND: "outside of their chromosome, which counts from 1",
            BARE: "with N or the chromosome's end near them",
        }
        return found + [f"{self.counts[one]} {text}" for one, text in causes.items() if self.counts[one]]

    def finish(self) -> None:
        """Raise SequenceError if no allele has a score; to be called after the last chunk."""
        if self.counts[PLACED] or not self.counts.total():
            return
        remedy = "give variants with REF and ALT as bases"
        if self.absent:
            remedy = "give the genome of the VCF file, or rename its chromosomes (bcftools annotate --rename-chrs)"
        elif self.counts[MISMATCH] + self.counts[BEYOND]:
            remedy = self._cause(self.counts[MISMATCH] + self.counts[BEYOND])
        raise SequenceError(f"no allele can be scored: {'; '.join(self.unscored())}", file=self.name, remedy=remedy)

    def _check(self) -> None:
        """Raise SequenceError if more than a few alleles, and more than the allowed share, do not fit the genome."""
        wrong = self.counts[MISMATCH] + self.counts[BEYOND]
        total = wrong + self.counts[PLACED] + self.counts[BARE]
        if wrong > max(self.most * total, FEW_MISMATCHES):
            example = self._example or f"{self.counts[BEYOND]} lie outside of their chromosome, which counts from 1"
            raise SequenceError(
                f"REF differs from {self.genome.path} for {wrong} of {total} alleles ({example})",
                file=self.name,
                remedy=self._cause(wrong),
            )

    def _cause(self, wrong: int) -> str:
        """Return the likely cause of mismatches, as a remedy."""
        for name, length in self.header_lengths.items():
            own = self.names.get(name)
            if own is not None and self.genome.lengths[own] != length:
                return (
                    f"by its header {name} has {length} bases, in the genome {self.genome.lengths[own]}: give the "
                    "genome of the same assembly"
                )
        words = {
            "swapped": "ALT agrees with the genome: REF and ALT are swapped",
            "from 0": "the base after it agrees: positions count from 0, but VCF counts from 1",
            "shifted": "the base before it agrees: positions are one too large",
            "strand": "the complement agrees: alleles are given on the other strand",
        }
        for cause, text in words.items():
            if self._causes[cause] >= 0.8 * wrong:
                return text
        return "give the genome of the same assembly"


def _agree(placed: PlacedAlleles) -> Bools:
    """Return whether each reference allele agrees with the genome."""
    good = np.ones(len(placed.places), dtype=bool)
    single = np.flatnonzero(placed.snv)
    refs = np.frombuffer(b"".join(placed.refs[i] for i in single.tolist()), dtype=np.uint8)
    good[single] = placed.text[placed.places[single]] == refs
    for i in np.flatnonzero(~placed.snv).tolist():
        place = int(placed.places[i])
        good[i] = placed.text[place : place + len(placed.refs[i])].tobytes() == placed.refs[i]
    return good


def kept(placed: PlacedAlleles, keep: Bools) -> PlacedAlleles:
    """Return some of the alleles."""
    chosen = np.flatnonzero(keep).tolist()
    return PlacedAlleles(
        placed.text,
        placed.places[keep],
        [placed.refs[i] for i in chosen],
        [placed.alts[i] for i in chosen],
        placed.snv[keep],
        placed.index[keep],
    )
