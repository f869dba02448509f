"""Sequences of genome regions, as a source that `seqkern.sequences.fasta` reads like a FASTA file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_integer
from seqkern.core.errors import SequenceError
from seqkern.core.types import PathLike
from seqkern.formats.reference import Genome
from seqkern.formats.regions import (
    Regions,
    check_regions,
    cleared,
    inside,
    overlapping,
    overlapping_one_another,
    read_bed,
    resized,
)
from seqkern.sequences.fasta import unique_ids

STEP = 1 << 16
"""Regions nearer than this are read together, since a compressed genome is unpacked in blocks of this size."""
SPAN = 1 << 24
"""Bases that are read together at most."""
WIDEST = 10**7
COMPLEMENT = str.maketrans("ACGTUNRYSWKMBDHVacgtunryswkmbdhv", "TGCAANYRSWMKVHDBtgcaanyrswmkvhdb")


@dataclass(frozen=True)
class RegionOptions:
    """Options for reading the sequences of regions."""

    genome: str  # Indexed FASTA, plain or compressed by bgzip
    # Bases of each window, around the summit or the centre; by default regions are read as they are
    width: int | None = None
    blacklist: str | None = None  # BED file of regions to leave out
    past_end: str = "skip"  # Windows that extend past an end of their chromosome

    def __post_init__(self) -> None:
        if self.width is not None:
            check_integer("width", self.width, 1, WIDEST)


class RegionSequences:
    """The sequences of regions; regions on strand − are reverse-complemented."""

    def __init__(self, regions: Regions, genome: PathLike, ids: list[str] | None = None) -> None:
        self.regions = regions
        self.genome = genome
        self.name = regions.file or "regions"
        self.ids = unique_ids(regions.ids(), "suffix")[0] if ids is None else ids
        self.counts = regions.counts

    def records(self) -> Iterator[tuple[str, str]]:
        """Yield the header and the letters of each region, in order."""
        with Genome(self.genome) as genome:
            letters = region_letters(self.regions, genome)
        rows = (self.ids, self.regions.names.tolist(), letters)
        for name, given, text in zip(*rows, strict=True):
            yield (name if given == "." else f"{name} {given}"), text


def region_letters(regions: Regions, genome: Genome) -> list[str]:
    """Return the bases of regions along their strands, in the case of the file."""
    letters = [""] * len(regions)
    order = np.lexsort((regions.starts, regions.chromosomes))
    starts, stops = regions.starts.tolist(), regions.stops.tolist()
    chromosomes, reverse = regions.chromosomes.tolist(), (regions.strands == "-").tolist()
    first = 0
    while first < len(order):
        begin, end, name = starts[order[first]], stops[order[first]], chromosomes[order[first]]
        last = first + 1
        while last < len(order):
            i = order[last]
            if chromosomes[i] != name or starts[i] > end + STEP or stops[i] > begin + SPAN:
                break
            end, last = max(end, stops[i]), last + 1
        text = genome.fetch(name, begin, end)
        for i in order[first:last]:
            own = text[starts[i] - begin : stops[i] - begin]
            letters[i] = own.translate(COMPLEMENT)[::-1] if reverse[i] else own
        first = last
    return letters


def usable_regions(source: Any, genome: Genome, options: RegionOptions) -> Regions:
    """Read regions, check them against the genome, and cut windows of the requested width."""
    regions = read_bed(source)
    check_regions(regions, genome)
    if options.width is not None:
        regions = resized(regions, options.width)
        within = inside(regions, genome.lengths)
        if options.past_end == "error" and not within.all():
            i = int(np.argmin(within))
            raise SequenceError(
                f"line {regions.lines[i]}: {options.width} bases around its centre extend past an end of "
                f"{regions.chromosomes[i]}",
                file=regions.file,
                remedy="remove it, choose a smaller width, or add --past-end skip",
            )
        gone = np.count_nonzero(~within)
        regions = regions.take(within).counted("regions left out whose windows extend past an end", gone)
    if options.blacklist is not None:
        blacklist = read_bed(options.blacklist)
        if not np.isin(blacklist.chromosomes, list(genome.lengths)).any():
            check_regions(blacklist, genome)
        regions = cleared(regions, blacklist, "the blacklist")
    if not len(regions):
        listed = ", ".join(f"{count} {what}" for what, count in regions.counts.items())
        raise SequenceError(f"no region is left: {listed}", file=regions.file, remedy="check the blacklist and width")
    return regions.counted("regions that overlap another one", np.count_nonzero(overlapping_one_another(regions)))


def region_sources(files: list[Any], options: RegionOptions) -> list[RegionSequences]:
    """Return the sequences of the regions of several files, with unique ids."""
    with Genome(options.genome) as genome:
        found = [usable_regions(file, genome, options) for file in files]
    return with_own_ids(found, options.genome)


def with_own_ids(found: list[Regions], genome: PathLike) -> list[RegionSequences]:
    """Return the sequences of several sets of regions with unique ids.

    A place that occurs in two sets gets a suffix in the second.
    """
    ids = iter(unique_ids([name for regions in found for name in regions.ids()], "suffix")[0])
    return [RegionSequences(regions, genome, [next(ids) for _ in range(len(regions))]) for regions in found]


def merged_places(sources: list[RegionSequences]) -> dict[str, tuple[str, int]]:
    """Return the chromosome and the first position, from 1, of each id."""
    places: dict[str, tuple[str, int]] = {}
    for source in sources:
        rows = zip(source.ids, source.regions.chromosomes.tolist(), source.regions.starts.tolist(), strict=True)
        places |= {name: (chromosome, start + 1) for name, chromosome, start in rows}
    return places


def overlap_of_two(first: Regions, second: Regions) -> Regions:
    """Return the regions of `first` that overlap a region of `second`, such as background that overlaps peaks."""
    return replace(first.take(overlapping(first, second)), counts={})


# Loci: regions that no fold divides, because they share a chromosome or overlap.

LEAST_CHROMOSOMES = 3
"""Chromosomes with every class that it takes to hold out whole ones."""


def loci(chromosomes: npt.ArrayLike, starts: npt.ArrayLike, lengths: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return the locus of each window; windows closer to each other than the length of one of them share it.

    >>> loci(["chr1", "chr1", "chr1", "", "chr2"], [100, 250, 5000, 0, 100], [200, 300, 200, 200, 200]).tolist()
    [1, 1, 2, 0, 3]
    """
    names, which = np.unique(np.asarray(chromosomes, dtype=str), return_inverse=True)
    places, sizes = np.asarray(starts, dtype=np.int64), np.asarray(lengths, dtype=np.int64)
    found = np.zeros(len(places), dtype=np.int64)
    count = 0
    for number, name in enumerate(names.tolist()):
        rows = np.flatnonzero(which == number)
        if name:
            rows = rows[np.argsort(places[rows], kind="stable")]
            own = places[rows]
            # each window is linked to all whose positions lie within its length on either side
            first = np.searchsorted(own, own - sizes[rows], side="right")
            last = np.searchsorted(own, own + sizes[rows], side="left") - 1
            change = np.zeros(len(rows) + 1, dtype=np.int64)
            np.add.at(change, first, 1)
            np.add.at(change, last, -1)
            found[rows] = count + np.concatenate(([0], np.cumsum(np.cumsum(change)[: len(rows) - 1] == 0)))
        else:
            found[rows] = count + np.arange(len(rows))
        count = int(found[rows].max()) + 1
    return found


def held_out(chromosomes: Sequence[str], labels: Sequence[str] | None) -> bool:
    """Return whether folds hold out whole chromosomes, which requires at least three with every class.

    >>> held_out(["chr1", "chr2", "chr3"] * 2, ["positive"] * 3 + ["negative"] * 3)
    True
    >>> held_out(["chr1", "chr2", "chr3"], ["positive", "positive", "negative"])
    False
    """
    if "" in chromosomes:
        return False
    if labels is None:
        return len(set(chromosomes)) >= LEAST_CHROMOSOMES
    pairs = {pair for pair in zip(chromosomes, labels, strict=True) if pair[1]}
    classes = {label for _, label in pairs}
    return sum(all((name, label) in pairs for label in classes) for name in set(chromosomes)) >= LEAST_CHROMOSOMES


def describe(whole: bool, chromosomes: int, kept: int) -> str:
    """Return a sentence that says which regions folds keep together.

    >>> describe(True, 22, 0)
    'folds hold out whole chromosomes (22); similar sequences on different ones, such as repeats, are not kept together'
    """
    if whole:
        return (
            f"folds hold out whole chromosomes ({chromosomes}); similar sequences on different ones, such as repeats, "
            "are not kept together"
        )
    some = f"{kept} regions overlap another one and stay in its fold" if kept else "no two regions overlap"
    return f"fewer than {LEAST_CHROMOSOMES} chromosomes have every class, so folds divide chromosomes: {some}"
