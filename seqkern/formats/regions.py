"""Regions of a genome, and the BED files that hold them."""

from __future__ import annotations

import bisect
import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import atomic_write
from seqkern.core.checks import check_integer, read_number
from seqkern.core.errors import SequenceError
from seqkern.core.text_files import open_text
from seqkern.core.tsv import format_cell
from seqkern.core.types import Bools, Floats, Ints, PathLike, Rows, Source
from seqkern.formats.reference import Genome
from seqkern.sequences.fasta import unique_ids
from seqkern.sequences.windows import Window

# Regions of a genome, as in BED files: positions count from 0, stops are exclusive.


@dataclass(frozen=True, eq=False)
class Regions:
    """Regions of a genome."""

    chromosomes: npt.NDArray[np.str_]  # shape (n,)
    starts: Ints  # shape (n,): From 0; a stop is the position after the last base
    stops: Ints  # shape (n,): From 0; a stop is the position after the last base
    names: npt.NDArray[np.str_]  # shape (n,): ``"."`` without a name
    scores: Floats  # shape (n,): NaN without a score
    strands: npt.NDArray[np.str_]  # shape (n,): ``"+"``, ``"-"``, or ``"."`` without a strand
    summits: Ints  # shape (n,): Position of the summit on the chromosome; −1 without one
    lines: Ints  # shape (n,): Their lines in the file, for messages
    file: str | None = None  # Used in messages
    width: int | None = None  # Bases of each, where they are windows of one width
    counts: dict[str, int] = field(default_factory=dict)  # What was left out, and how many overlap

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def lengths(self) -> Ints:
        """The number of bases of each region, int64 (n,)."""
        return self.stops - self.starts

    def take(self, rows: Rows) -> Regions:
        """Return some of the regions."""
        arrays: dict[str, Any] = {
            item.name: getattr(self, item.name)[rows]
            for item in fields(self)
            if isinstance(getattr(self, item.name), np.ndarray)
        }
        return replace(self, **arrays)

    def ids(self) -> list[str]:
        """Return the place of each region as in genome browsers, ``chr1:101-400``: from 1, both ends included."""
        rows = zip(self.chromosomes.tolist(), (self.starts + 1).tolist(), self.stops.tolist(), strict=True)
        return [f"{chromosome}:{start}-{stop}" for chromosome, start, stop in rows]

    def counted(self, what: str, count: int | np.integer[Any]) -> Regions:
        """Return the same regions with `count` added to the count `what`."""
        if not count:
            return self
        return replace(self, counts={**self.counts, what: self.counts.get(what, 0) + int(count)})


def make_regions(
    chromosomes: npt.ArrayLike,
    starts: npt.ArrayLike,
    stops: npt.ArrayLike,
    names: npt.ArrayLike | None = None,
    scores: npt.ArrayLike | None = None,
    strands: npt.ArrayLike | None = None,
    summits: npt.ArrayLike | None = None,
    lines: npt.ArrayLike | None = None,
    file: str | None = None,
) -> Regions:
    """Return Regions; columns that are not given are filled with their empty value."""
    begins = np.asarray(starts, dtype=np.int64)
    n = len(begins)
    none = np.full(n, ".")
    return Regions(
        np.asarray(chromosomes, dtype=str),
        begins,
        np.asarray(stops, dtype=np.int64),
        none if names is None else np.asarray(names, dtype=str),
        np.full(n, np.nan) if scores is None else np.asarray(scores, dtype=np.float64),
        none if strands is None else np.asarray(strands, dtype=str),
        np.full(n, -1) if summits is None else np.asarray(summits, dtype=np.int64),
        np.arange(1, n + 1) if lines is None else np.asarray(lines, dtype=np.int64),
        file,
    )


def resized(regions: Regions, width: int) -> Regions:
    """Return windows of a fixed width around the summits, or around the centres where there is no summit."""
    centres = np.where(regions.summits >= 0, regions.summits, (regions.starts + regions.stops) // 2)
    starts = centres - width // 2
    return replace(regions, starts=starts, stops=starts + width, width=width)


def width_of_peaks(regions: Regions) -> int:
    """Return the width of windows around summits or positions: the median length, clamped; else 0, for no windows."""
    median = float(np.median(regions.lengths))
    if (regions.summits < 0).all() and median >= POSITION:
        return 0
    return int(min(max(10 * round(median / 10), NARROWEST), BROADEST))


def overlapping(regions: Regions, others: Regions, least: int = 1) -> Bools:
    """Return a mask of the regions that share a base with at least so many of `others`."""
    found = np.zeros(len(regions), dtype=bool)
    for chromosome in np.unique(others.chromosomes):
        rows = np.flatnonzero(regions.chromosomes == chromosome)
        own = others.take(others.chromosomes == chromosome)
        starts, stops = np.sort(own.starts), np.sort(own.stops)
        # as many others begin before the region ends as have ended where it begins, unless one overlaps
        begun = np.searchsorted(starts, regions.stops[rows], side="left")
        found[rows] = begun - np.searchsorted(stops, regions.starts[rows], side="right") >= least
    return found


def overlapping_one_another(regions: Regions) -> Bools:
    """Return a mask of the regions that share a base with another of the same regions."""
    return overlapping(regions, regions, least=2)


def merged(regions: Regions) -> Regions:
    """Return the regions without those that share over half of the shorter with one of higher score, and count them.

    The first in the file wins among equal scores; regions on opposite strands are never merged.

    >>> from seqkern.formats.regions import make_regions
    >>> peaks = make_regions(["chr1"] * 3, [0, 4, 9], [10, 14, 19], scores=[1, 3, 2])
    >>> merged(peaks).starts.tolist(), merged(peaks).counts
    ([4, 9], {'of 3 regions merged with a stronger one that overlaps them by more than half, leaving 2': 1})
    """
    kept, places = np.zeros(len(regions), dtype=bool), dict[tuple[str, str], tuple[list[int], list[int]]]()
    names, strands = regions.chromosomes.tolist(), regions.strands.tolist()
    for i in np.argsort(-regions.scores, kind="stable").tolist():
        start, stop = int(regions.starts[i]), int(regions.stops[i])
        # no kept region contains another, so both lists ascend, and of three or more near ones this one contains some
        starts, stops = places.setdefault((names[i], strands[i]), ([], []))
        first = bisect.bisect_right(stops, start)
        near = slice(first, min(first + 3, bisect.bisect_left(starts, stop)))
        ends = zip(starts[near], stops[near], strict=True)
        if all(2 * (min(stop, b) - max(start, a)) <= min(stop - start, b - a) for a, b in ends):
            kept[i], at = True, bisect.bisect_left(starts, start)
            starts.insert(at, start)
            stops.insert(at, stop)
    what = f"of {len(kept)} regions merged with a stronger one that overlaps them by more than half"
    what += f", leaving {kept.sum()}"
    return regions.take(kept).counted(what, np.count_nonzero(~kept))


def cleared(regions: Regions, others: Regions, what: str) -> Regions:
    """Return the regions that overlap none of `others`, and count the removed ones as `what`."""
    gone = overlapping(regions, others)
    return regions.take(~gone).counted(f"regions left out that overlap {what}", np.count_nonzero(gone))


def inside(regions: Regions, lengths: dict[str, int]) -> Bools:
    """Return a mask of the regions that lie completely inside their chromosome."""
    return (regions.starts >= 0) & (regions.stops <= ends_of(regions.chromosomes, lengths))


def ends_of(chromosomes: Collection[str] | npt.NDArray[np.str_], lengths: dict[str, int]) -> Ints:
    """Return the length of the chromosome of each region."""
    names, which = np.unique(np.asarray(chromosomes, dtype=str), return_inverse=True)
    return np.array([lengths[str(name)] for name in names], dtype=np.int64)[which]


# Reading and writing of BED, narrowPeak and broadPeak; error messages name the line.

SUFFIX = re.compile(r"\.(bed\d*|narrowpeak|broadpeak|gappedpeak)(\.(gz|bgz|bz2|xz|zst))?$", re.IGNORECASE)
COMMENTS = ("#", "track ", "track\t", "browser ", "browser\t")
NARROW_PEAK, GAPPED_PEAK = 10, 15
"""Columns of narrowPeak and gappedPeak, which BED cannot have; narrowPeak's last is the offset of the summit."""
STRANDS = {"+": "+", "-": "-", ".": ".", "": ".", "*": "."}
PEAK_HEADER = re.compile(r"position\tip\b|chr(om(osome)?)?\t(chrom)?(start|pos|begin)[^\t]*\t(chrom)?(end|stop|pos)")
POSITION, NARROWEST, BROADEST = 20, 100, 500
SCORES = ("score", "-log10(qvalue)", "-log10(pvalue)", "-10*log10(pvalue)", "ip")
"""Columns with the strength of a peak in tables with a header, the best first."""
Names = dict[str, int]
BED_COLUMNS: Names = {"chrom": 0, "name": 3, "score": 4, "strand": 5}


def named_as_bed(path: object) -> bool:
    """Return whether a path has the file name of a BED, narrowPeak or broadPeak file.

    >>> named_as_bed("peaks.narrowPeak.gz"), named_as_bed("peaks.fa")
    (True, False)
    """
    return isinstance(path, str | Path) and SUFFIX.search(str(path)) is not None


def looks_like_bed(line: str) -> bool:
    r"""Return whether a line describes a region: a name and two integers; or is the header of a table of peaks.

    >>> looks_like_bed("chr1\t100\t400\n"), looks_like_bed("record\tposition\tstrand\n")
    (True, False)
    """
    cells = _cells(line)
    found = line.startswith(COMMENTS[1:]) or (len(cells) > 2 and cells[1].isdecimal() and cells[2].isdecimal())
    return found or peak_header(line) is not None


def peak_header(line: str) -> Names | None:
    r"""Return the columns of a table of peaks, such as those of MACS and GEM, by its header; None if it is none.

    >>> peak_header("chr\tstart\tend\tlength\tabs_summit\n")["abs_summit"], peak_header("chr1\t5\t9\n")
    (4, None)
    """
    cells = [cell.lower() for cell in _cells(line)]
    return {cell: i for i, cell in enumerate(cells)} if PEAK_HEADER.match("\t".join(cells)) else None


def read_bed(source: Source) -> Regions:
    r"""Read the regions of a BED, narrowPeak or broadPeak file, or of a table of peaks by MACS or GEM.

    >>> import io
    >>> peaks = read_bed(io.StringIO("track name=ctcf\nchr1\t100\t400\tpeak_1\t900\t-\nchr2\t0\t50\tpeak_2\t.\t.\n"))
    >>> peaks.ids(), peaks.strands.tolist(), peaks.scores.tolist()
    (['chr1:101-400', 'chr2:1-50'], ['-', '.'], [900.0, nan])
    """
    rows: list[tuple[str, int, int, str, float, str, int, int]] = []
    columns: Names | None = None
    with open_text(source) as (lines, name):
        for number, line in enumerate(lines, start=1):
            if line.strip() and not line.startswith(COMMENTS):
                if columns is None:
                    columns = peak_header(line) or BED_COLUMNS
                    if columns is not BED_COLUMNS:
                        continue
                try:
                    rows.append((*_region(_cells(line), columns), number))
                except SequenceError as error:
                    error.problem = f"line {number} {error.problem}"
                    raise
        if not rows:
            raise SequenceError("contains no region", remedy="give one line for each region")
    fields_of = list(zip(*rows, strict=True))
    return make_regions(*fields_of, file=name)  # type: ignore[arg-type, misc]  # columns in this order


def _cells(line: str) -> list[str]:
    """Return the cells of a line, split at tabs, or at blanks if there is no tab."""
    return [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()


def _region(cells: list[str], columns: Names) -> tuple[str, int, int, str, float, str, int]:
    """Return chromosome, start, stop, name, score, strand and summit of a line."""
    bed, gem, own = columns is BED_COLUMNS, columns.get("position") == 0, columns
    first = int(gem or "length" in columns)  # GEM and MACS count from 1
    if gem:  # chromosome:position
        chromosome, _, last = cells[0].rpartition(":")
        cells = [chromosome, last, last, *cells[1:]]
        columns = {name: i + 2 for name, i in columns.items()}
    if len(cells) < 3 or (bed and len(cells) > 12 and len(cells) != GAPPED_PEAK):
        problem = f"has {len(cells)} column{'s' * (len(cells) != 1)}"
        remedy = "BED has 3 to 12, between tabs: chromosome, start, stop, name, score, strand"
        raise SequenceError(problem, remedy=remedy)
    start, stop = (_position(cells, i) for i in (1, 2))
    if not cells[0]:
        raise SequenceError("has no chromosome", remedy="write it in the first column")
    if start < first:
        remedy = f"the first base of a chromosome is {first} in {'tables of MACS and GEM' if first else 'BED'}"
        raise SequenceError(f"begins at {start}", remedy=remedy)
    if start > stop:
        raise SequenceError(f"ends at {stop}, before its start {start}", remedy="swap start and stop")
    start -= first
    if start == stop:
        remedy = "BED counts starts from 0 and excludes the stop; if positions count from 1, subtract 1 from the starts"
        raise SequenceError(f"has no base: it begins and ends at {start}", remedy=remedy)
    texts = {name: cells[i] for name, i in columns.items() if i < len(cells)}
    strand = texts.get("strand", ".")
    if strand not in STRANDS:
        raise SequenceError(f"has the strand {strand!r}", remedy=f"write +, - or . in column {own['strand'] + 1}")
    score = next((read_number(texts[name]) for name in SCORES if name in texts), math.nan)
    if "abs_summit" in texts:
        summit = _summit(texts["abs_summit"], start, stop, -1, "abs_summit is a position of the chromosome, from 1")
    elif "summit" in texts:
        summit = _summit(texts["summit"], start, stop, start, "summit is the offset from the start")
    elif bed and len(cells) == NARROW_PEAK:
        summit = _summit(cells[-1], start, stop, start, "the last column of narrowPeak is the offset from the start")
    else:
        summit = start if "position" in columns else -1
    return cells[0], start, stop, texts.get("name", "."), score, STRANDS[strand], summit


def _position(cells: Sequence[str], i: int) -> int:
    """Return the start or stop in column i of a line."""
    text, what = cells[i], ("start", "stop")[i - 1]
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        header = i == 1 and not any(c.isdigit() for c in text)
        remedy = "remove the header line, or begin it with #" if header else "give whole numbers"
        raise SequenceError(f"has the {what} {text!r}, which is not an integer", remedy=remedy)
    return int(text)


def _summit(text: str, start: int, stop: int, origin: int, meaning: str) -> int:
    """Return the position of the summit, given by its offset from the origin, −1 if there is none."""
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        raise SequenceError(f"has the summit {text!r}, which is not an integer", remedy="give -1 for none")
    place = origin + int(text)
    if int(text) >= 0 and not start <= place < stop:
        raise SequenceError(f"has the summit {text}, which is outside of its bases", remedy=meaning)
    return place if int(text) >= 0 else -1


def write_bed(path: PathLike, regions: Regions) -> None:
    """Write regions with their names, scores and strands, atomically."""
    scores = [f"{0 if score != score else score:.10g}" for score in regions.scores.tolist()]
    columns = (regions.chromosomes, regions.starts, regions.stops, regions.names, scores, regions.strands)
    with atomic_write(path, "w") as file:
        for row in zip(*(list(column) for column in columns), strict=True):
            file.write("\t".join(map(format_cell, row)) + "\n")


# Checks of regions against a genome: chromosome names, and positions beyond chromosome ends.

MITOCHONDRIAL = {"chrM": "MT", "M": "MT", "MT": "chrM", "chrMT": "MT"}


def other_name(name: str, known: dict[str, int]) -> str | None:
    """Return the genome's own name for a chromosome given under another name, such as ``1`` for ``chr1``, or None.

    >>> other_name("chr1", {"1": 100, "2": 90}), other_name("chrM", {"MT": 9}), other_name("chr7", {"1": 100})
    ('1', 'MT', None)
    """
    bare = name[3:] if name.lower().startswith("chr") else name
    tried = (bare, f"chr{bare}", f"Chr{bare}", MITOCHONDRIAL.get(name, ""), bare.upper(), name.lower())
    return next((other for other in tried if other and other != name and other in known), None)


def read_regions(source: Any, genome: Genome) -> Regions:
    """Read regions; chromosomes under another name, such as ``1`` for ``chr1``, get the genome's."""
    regions = read_bed(source)
    missing = [name for name in dict.fromkeys(regions.chromosomes.tolist()) if name not in genome.lengths]
    new = {name: other for name in missing if (other := other_name(name, genome.lengths)) is not None}
    if not new:
        return regions
    first, names = next(iter(new)), [new.get(name, name) for name in regions.chromosomes.tolist()]
    what = f"regions on chromosomes that {genome.path} names otherwise, such as {new[first]} for {first}"
    count = np.count_nonzero(np.isin(regions.chromosomes, list(new)))
    return replace(regions, chromosomes=np.array(names)).counted(what, count)


def on_genome(regions: Regions, genome: Genome, past_end: str = "skip") -> Regions:
    """Return the regions that lie on the genome, and count those that extend past an end.

    Raise SequenceError, with the likely reason, for chromosomes that it lacks, or if all extend past an end.
    """
    unknown = [name for name in dict.fromkeys(regions.chromosomes.tolist()) if name not in genome.lengths]
    if unknown:
        raise _unknown(regions, genome, unknown)
    within, what = inside(regions, genome.lengths), "whose windows extend past an end"
    if not regions.width:
        what = "that extend past the end of their chromosome (hg19 and hg38, say, differ in lengths)"
    if within.all() or (past_end == "skip" and (within.any() or regions.width)):
        return regions.take(within).counted(f"regions left out {what}", np.count_nonzero(~within))
    beyond = regions.take(~within)
    ends = ends_of(beyond.chromosomes, genome.lengths)
    place = f"{regions.width} bases around its centre extend" if regions.width else f"{beyond.ids()[0]} extends"
    several = f" ({len(beyond)} regions do so)" if len(beyond) > 1 else ""
    remedy = "use the genome that the regions were made with; hg19 and hg38, say, differ in lengths"
    if regions.width:
        remedy = "remove it, choose a smaller width, or add --past-end skip"
    elif np.all(beyond.stops == ends + 1):
        remedy = "BED excludes the stop: if positions count from 1, subtract 1 from the stops"
    raise SequenceError(
        f"line {beyond.lines[0]}: {place} past an end of {beyond.chromosomes[0]}, which has {ends[0]:,} bases in "
        f"{genome.path}{several}",
        file=regions.file,
        remedy=remedy,
    )


def _unknown(regions: Regions, genome: Genome, unknown: list[str]) -> SequenceError:
    """Return the error for chromosomes that are missing from the genome."""
    name = unknown[0]
    line = int(regions.lines[np.flatnonzero(regions.chromosomes == name)[0]])
    count = int(np.count_nonzero(np.isin(regions.chromosomes, unknown)))
    some = f" ({count} of {len(regions)} regions are on chromosomes that it lacks)" if count > 1 else ""
    problem = f"line {line}: chromosome {name!r} is not in {genome.path}{some}"
    listed = ", ".join(list(genome.lengths)[:5]) + ", …" * (len(genome.lengths) > 5)
    remedy = f"remove these regions, or give the genome that they were made with; its chromosomes: {listed}"
    return SequenceError(problem, file=regions.file, remedy=remedy)


# The place of a window on a genome, parsed from its id.

REGION = re.compile(r"(?:.*::)?(.+):(\d{1,15})-(\d{1,15})(?:\(([+-])\)|:([+-]))?")
SITE = re.compile(r"(.+):(\d{1,15}):([+-])")


@dataclass(frozen=True)
class Place:
    """An interval of a chromosome on one strand, from 0, half open.

    >>> Place("chr1", 10, 13, True).bases().tolist()
    [12, 11, 10]
    """

    chromosome: str  # Its name
    start: int  # From 0, half open
    stop: int  # From 0, half open
    reverse: bool = False  # Whether the window is read on strand −

    @property
    def strand(self) -> str:
        """The strand as text: ``"+"`` or ``"-"``."""
        return "-" if self.reverse else "+"

    def bases(self) -> Ints:
        """Return the position, from 0, of each base of the window in reading order."""
        places = np.arange(self.start, self.stop)
        return places[::-1] if self.reverse else places


def place_of(name: str, length: int, window: Window | None = None) -> Place | None:
    """Return the place of a window given by its id, or None if the id names none or one of another length.

    >>> place_of("chr1:1001-1300", 300) == place_of("chr1:1000-1300", 300) == Place("chr1", 1000, 1300)
    True
    >>> place_of("chr1:1061:-", 141, Window(60, 80))
    Place(chromosome='chr1', start=980, stop=1121, reverse=True)
    """
    found = REGION.fullmatch(name)
    if found is not None:
        start, stop = int(found[2]), int(found[3])
        first = start - 1 if stop - start + 1 == length else start
        if stop - first != length or first < 0:
            return None
        return Place(found[1], first, stop, "-" in (found[4], found[5]))
    found = SITE.fullmatch(name)
    if found is None or window is None or window.length != length:
        return None
    reverse = found[3] == "-"
    start = int(found[2]) - 1 - (window.right if reverse else window.left)
    return Place(found[1], start, start + length, reverse) if start >= 0 else None


# Sequences of genome regions, as a source that `seqkern.sequences.fasta` reads like a FASTA file.

STEP = 1 << 16
"""Distance below which regions are read together, as compressed genomes are unpacked in blocks of this size."""
SPAN = 1 << 24
"""Maximum number of bases read together."""
WIDEST = 10**7
COMPLEMENT = str.maketrans("ACGTUNRYSWKMBDHVacgtunryswkmbdhv", "TGCAANYRSWMKVHDBtgcaanyrswmkvhdb")


@dataclass(frozen=True)
class RegionOptions:
    """Options for reading the sequences of regions."""

    genome: str  # Indexed FASTA, plain or compressed by bgzip
    # Bases of each window, around the summit or the centre; 0: regions as they are; None: by `width_of_peaks`
    width: int | None = None
    blacklist: str | None = None  # BED file of regions to leave out
    past_end: str = "skip"  # Windows that extend past an end of their chromosome
    merge: bool = False  # Keep the strongest of regions that overlap by more than half, as for training

    def __post_init__(self) -> None:
        if self.width is not None:
            check_integer("width", self.width, 0, WIDEST)


class RegionSequences:
    """The sequences of regions; regions on strand − are reverse-complemented."""

    def __init__(self, regions: Regions, genome: PathLike, ids: list[str] | None = None) -> None:
        self.regions = regions
        self.genome = genome
        self.name = regions.file or "regions"
        self.ids = unique_ids(regions.ids(), "suffix")[0] if ids is None else ids
        self.counts = regions.counts

    def records(self) -> Iterator[tuple[str, str]]:
        """Yield the header and the bases of each region, in order."""
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
    """Read regions, check them against the genome, cut windows of the requested width, and merge them if wanted."""
    return _usable([read_regions(source, genome)], options, genome)[0]


def _usable(given: list[Regions], options: RegionOptions, genome: Genome) -> list[Regions]:
    """Return the usable windows of several sets of regions, by default of the width of the first with summits."""
    width = options.width
    if width is None:
        width = next(filter(None, map(width_of_peaks, given)), 0)
        what = f"regions read as {width} bases around their summits or centres (--width changes it)"
        given = [one.counted(what, width and len(one)) for one in given]
    return [_usable_part(regions, width, options, genome) for regions in given]


def _usable_part(regions: Regions, width: int, options: RegionOptions, genome: Genome) -> Regions:
    """Return the windows of regions that lie inside the genome and off the blacklist, merged if wanted."""
    regions = on_genome(regions, genome, options.past_end)
    if width:
        regions = on_genome(resized(regions, width), genome, options.past_end)
    if options.blacklist is not None:
        blacklist = read_regions(options.blacklist, genome)
        if not np.isin(blacklist.chromosomes, list(genome.lengths)).any():
            on_genome(blacklist, genome)
        regions = cleared(regions, blacklist, "the blacklist")
    if not len(regions):
        listed = ", ".join(f"{count} {what}" for what, count in regions.counts.items())
        raise SequenceError(f"no region is left: {listed}", file=regions.file, remedy="check the blacklist and width")
    regions = merged(regions) if options.merge else regions
    return regions.counted("regions that overlap another one", np.count_nonzero(overlapping_one_another(regions)))


def region_sources(files: list[Any], options: RegionOptions) -> list[RegionSequences]:
    """Return the sequences of the regions of several files, with unique ids."""
    with Genome(options.genome) as genome:
        found = _usable([read_regions(file, genome) for file in files], options, genome)
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
"""Minimum number of chromosomes with every class for holding out whole ones."""


def loci(chromosomes: npt.ArrayLike, starts: npt.ArrayLike, lengths: npt.ArrayLike) -> Ints:
    """Return the locus of each window; windows closer to each other than one window's length share it.

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
    """Return a sentence on the regions that folds keep together.

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
