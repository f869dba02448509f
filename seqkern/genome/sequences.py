"""The sequences of regions of a genome: a source that `seqkern.sequences.fasta` reads like a FASTA file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from seqkern.core.checks import check_integer
from seqkern.core.errors import SequenceError
from seqkern.core.types import PathLike
from seqkern.genome.bed import read_bed
from seqkern.genome.chromosomes import check_regions
from seqkern.genome.reference import Genome
from seqkern.genome.regions import Regions, cleared, inside, overlapping, overlapping_one_another, resized
from seqkern.sequences.record_ids import unique_ids

STEP = 1 << 16
"""Regions nearer than this are read together, since a compressed genome is unpacked in blocks of this size."""
SPAN = 1 << 24
"""Bases that are read together at most."""
WIDEST = 10**7
COMPLEMENT = str.maketrans("ACGTUNRYSWKMBDHVacgtunryswkmbdhv", "TGCAANYRSWMKVHDBtgcaanyrswmkvhdb")


@dataclass(frozen=True)
class RegionOptions:
    """How sequences of regions are read.

    Attributes
    ----------
    genome : str
        Indexed FASTA, plain or compressed by bgzip.
    width : int, optional
        Bases of each window, around the summit or the centre; by default regions are read as they are.
    blacklist : str, optional
        BED file of regions to leave out.
    past_end : {"skip", "error"}
        Windows that extend past an end of their chromosome.
    """

    genome: str
    width: int | None = None
    blacklist: str | None = None
    past_end: str = "skip"

    def __post_init__(self) -> None:
        if self.width is not None:
            check_integer("width", self.width, 1, WIDEST)


class RegionSequences:
    r"""The sequences of regions; a region on strand − is read as its reverse complement.

    Parameters
    ----------
    regions : Regions
        On chromosomes of the genome, as from `usable_regions`.
    genome : path-like
        Indexed FASTA.
    ids : list of str, length n, optional
        All different; default: the places, such as ``chr1:101-400``, with ``.2`` for a repeated one.

    Attributes
    ----------
    name : str
        The file of the regions, for messages.
    regions : Regions
    ids : list of str, length n

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from seqkern import read_fasta
    >>> from seqkern.genome.regions import make_regions
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     genome = Path(folder) / "genome.fa"
    ...     _ = genome.write_text(">chr1\nAACCGGTTNN\n")
    ...     X = read_fasta(RegionSequences(make_regions(["chr1"] * 2, [0, 0], [4, 4], strands=["+", "-"]), genome))
    >>> dict(zip(X.ids, X.strings()))
    {'chr1:1-4': 'AACC', 'chr1:1-4.2': 'GGTT'}
    """

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
    """Return the bases of regions along their strands, in the case of the file.

    Parameters
    ----------
    regions : Regions
        On the genome.
    genome : Genome
        Read in the order of positions.

    Returns
    -------
    list of str, length n
    """
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
    """Read regions, check them against the genome, and cut the wanted windows.

    Parameters
    ----------
    source : path-like or file object
        BED, narrowPeak or broadPeak.
    genome : Genome
        Of the same assembly.
    options : RegionOptions
        Width, and what is left out.

    Returns
    -------
    Regions
        With counts of what was left out, and of those that overlap another one.

    Raises
    ------
    FileError, SequenceError
        If a file cannot be read, a region is not on the genome, or none is left.
    """
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
    """Return the sequences of the regions of several files, with ids of their own.

    Parameters
    ----------
    files : list of path-like
        BED, narrowPeak or broadPeak.
    options : RegionOptions
        How they are read.

    Returns
    -------
    list of RegionSequences
    """
    with Genome(options.genome) as genome:
        found = [usable_regions(file, genome, options) for file in files]
    return with_own_ids(found, options.genome)


def with_own_ids(found: list[Regions], genome: PathLike) -> list[RegionSequences]:
    """Return the sequences of several sets of regions; a place that occurs in two gets a suffix in the second.

    Parameters
    ----------
    found : list of Regions
        On the genome.
    genome : path-like
        Indexed FASTA.

    Returns
    -------
    list of RegionSequences
    """
    ids = iter(unique_ids([name for regions in found for name in regions.ids()], "suffix")[0])
    return [RegionSequences(regions, genome, [next(ids) for _ in range(len(regions))]) for regions in found]


def merged_places(sources: list[RegionSequences]) -> dict[str, tuple[str, int]]:
    """Return chromosome and first position, from 1, of each id.

    Parameters
    ----------
    sources : list of RegionSequences
        With different ids.

    Returns
    -------
    dict of str to (str, int)
    """
    places: dict[str, tuple[str, int]] = {}
    for source in sources:
        rows = zip(source.ids, source.regions.chromosomes.tolist(), source.regions.starts.tolist(), strict=True)
        places |= {name: (chromosome, start + 1) for name, chromosome, start in rows}
    return places


def overlap_of_two(first: Regions, second: Regions) -> Regions:
    """Return the regions of a set that overlap one of another, such as background that overlaps peaks.

    Parameters
    ----------
    first, second : Regions
        Of one genome.

    Returns
    -------
    Regions
        Those of `first`.
    """
    return replace(first.take(overlapping(first, second)), counts={})
