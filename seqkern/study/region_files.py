"""BED files in a data set: their sequences from a genome, and the groups that folds keep together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from seqkern.core.errors import ConfigError, SequenceError
from seqkern.core.text_files import open_lines
from seqkern.core.types import PathLike, Source
from seqkern.formats.background import PROPERTIES, BackgroundOptions, draw_background, ks_distance
from seqkern.formats.reference import Genome
from seqkern.formats.regions import (
    RegionOptions,
    RegionSequences,
    describe,
    held_out,
    loci,
    looks_like_bed,
    merged_places,
    named_as_bed,
    overlap_of_two,
    read_bed,
    region_sources,
    usable_regions,
    with_own_ids,
)
from seqkern.sequences.fasta import AnySource, Reading
from seqkern.study.tables import Columns

KEYS = ("genome", "width", "blacklist", "background")
NEGATIVE = "negative"


@dataclass(frozen=True)
class GenomeOptions:
    """The genome that regions are read from, and the options of a drawn background.

    >>> GenomeOptions.parse({"fasta": "peaks.bed", "genome": "hg38.fa", "width": 300}).reading.width
    300
    """

    reading: RegionOptions  # Genome, width and blacklist
    background: float | None = None  # Draw this many times as many background regions, matched to the first file

    @classmethod
    def parse(cls, entry: Mapping[str, Any]) -> GenomeOptions | None:
        """Return the options of an entry, or None without a genome."""
        given = [key for key in KEYS if key in entry]
        if not given:
            return None
        if "genome" not in entry:
            raise ConfigError(f"{given[0]!r} needs a genome", remedy="add the genome's FASTA file, or remove it")
        if "fasta" not in entry:
            raise ConfigError("a genome needs regions", remedy="give BED files under fasta")
        for key in ("window", "sites", "profiles", "residues"):
            if key in entry:
                raise ConfigError(f"{key!r} does not work with regions of a genome", remedy=f"remove {key} or genome")
        past_end = {"past_end": entry["past_end"]} if "past_end" in entry else {}
        reading = RegionOptions(str(entry["genome"]), entry.get("width"), entry.get("blacklist"), **past_end)
        return cls(reading, entry.get("background"))

    def files(self) -> list[tuple[tuple[str, ...], str]]:
        """Return the genome's files, each with its key."""
        blacklist = self.reading.blacklist
        return [
            (("genome",), self.reading.genome),
            *([] if blacklist is None else [(("blacklist",), blacklist)]),
        ]

    def within(self, base_dir: PathLike) -> RegionOptions:
        """Return the options for reading regions, with paths relative to a folder."""
        blacklist = self.reading.blacklist
        return replace(
            self.reading,
            genome=str(Path(base_dir) / self.reading.genome),
            blacklist=None if blacklist is None else str(Path(base_dir) / blacklist),
        )


def is_bed(path: Any, with_genome: bool) -> bool:
    """Return whether a file contains regions, by its name or, if a genome is given, by its first line."""
    if named_as_bed(path) or not with_genome or not isinstance(path, str | Path) or str(path) == "-":
        return named_as_bed(path)
    with open_lines(path) as (lines, _):
        line = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    return looks_like_bed(line)


def with_regions(files: Sequence[Source], options: RegionOptions | None) -> list[AnySource]:
    """Return the sources to read, with BED files replaced by the sequences of their regions."""
    bed = [file for file in files if is_bed(file, options is not None)]
    if options is None:
        if bed:
            raise SequenceError(
                "holds regions, whose sequences come from a genome",
                file=str(bed[0]),
                remedy="add --genome FASTA (in a study genome: FASTA)",
            )
        return list(files)
    if not bed:
        raise SequenceError(
            "holds sequences, which need no genome", file=str(files[0]), remedy="give BED files, or remove the genome"
        )
    found = iter(region_sources(bed, options))
    return [next(found) if file in bed else file for file in files]


def with_background(
    files: Sequence[Source], options: RegionOptions, factor: float, seed: int
) -> tuple[list[AnySource], dict[str, Any]]:
    """Return a file's regions and `factor` times as many matched background regions, with a note on the match."""
    if len(files) != 1:
        raise ConfigError(
            f"a background is drawn for one file, but there are {len(files)}",
            remedy="give the positives only, or no background",
        )
    drawing = BackgroundOptions(factor, seed)
    with Genome(options.genome) as genome:
        peaks = usable_regions(files[0], genome, options)
        exclude = [] if options.blacklist is None else [read_bed(options.blacklist)]
        drawn = draw_background(peaks, genome, drawing, exclude)
    ks = {name: ks_distance(getattr(drawn.peaks, name), getattr(drawn.found, name)) for name in PROPERTIES}
    note = {"factor": factor, "seed": seed, "regions": len(drawn.regions), "ks": ks, "remarks": list(drawn.remarks)}
    background = replace(drawn.regions, counts={}, file=f"background of {files[0]}")
    return list(with_own_ids([peaks, background], options.genome)), {"background": note}


def overlaps(sources: Sequence[AnySource]) -> dict[str, int]:
    """Return the number of regions in later files that overlap a region of the first; empty if there are none."""
    regions = [source.regions for source in sources if isinstance(source, RegionSequences)]
    count = sum(len(overlap_of_two(other, regions[0])) for other in regions[1:])
    return {f"regions that overlap one of {regions[0].file}": count} if count else {}


def places_of_regions(reading: Reading, sources: Sequence[AnySource], labels: Sequence[str] | None) -> dict[str, Any]:
    """Return the chromosome, position (from 1) and fold group of each record read."""
    known = merged_places([source for source in sources if isinstance(source, RegionSequences)])
    found = [_place(header.split(None, 1)[0], known) for header in reading.headers]
    chromosomes, positions = [place[0] for place in found], [place[1] for place in found]
    if held_out(chromosomes, labels):
        groups = chromosomes
    else:
        groups = [f"locus {number}" for number in loci(chromosomes, positions, reading.sequences.lengths).tolist()]
    return {"chromosome": chromosomes, "position": [str(position) for position in positions], "group": groups}


def _place(name: str, known: Mapping[str, tuple[str, int]]) -> tuple[str, int]:
    """Return the chromosome and position of a record; a shuffled sequence has the place of its origin."""
    return known.get(name) or known.get(name.partition("_shuffled")[0]) or ("", 0)


def note_of_regions(options: GenomeOptions, columns: Columns) -> dict[str, Any]:
    """Return a JSON record of a data set's genome and folds."""
    chromosomes, groups = list(columns["chromosome"]), list(columns["group"])
    whole = groups == chromosomes
    kept = len(groups) - list(Counter(groups).values()).count(1)
    return {
        "file": options.reading.genome,
        "width": options.reading.width,
        "folds": describe(whole, len(set(chromosomes) - {""}), kept),
    }
