"""``seqkern background``: genomic regions that match the peaks but lie elsewhere, or shuffled sequences."""

from __future__ import annotations

import random
import sys
from pathlib import Path

from seqkern.cli.common import as_sources, log_counts
from seqkern.cli.output import print_output
from seqkern.cli.requests_data import BackgroundRequest
from seqkern.core.archive import atomic_write, check_writable
from seqkern.core.errors import ParameterError
from seqkern.core.exclusive_files import exclusive_paths
from seqkern.core.tsv import write_tsv
from seqkern.formats.background import COLUMNS, Background, BackgroundOptions, draw_background, match_lines, match_rows
from seqkern.formats.reference import Genome
from seqkern.formats.regions import RegionOptions, read_bed, usable_regions, write_bed
from seqkern.sequences.fasta import records_of
from seqkern.sequences.sampling import shuffled


def run(request: BackgroundRequest) -> None:
    """Run the verb."""
    for path in (request.output, request.table, request.plot):
        if path is not None:
            check_writable(path)
    if request.shuffle is not None:
        _shuffle(request)
        return
    if request.genome is None:
        raise ParameterError(
            "background regions come from a genome", remedy="add --genome FASTA, or --shuffle 2 to shuffle the peaks"
        )
    _write(request, _drawn(request))


def _drawn(request: BackgroundRequest) -> Background:
    """Return the background that the arguments describe."""
    match = tuple(name for name in request.match.split(",") if name)
    options = BackgroundOptions(request.factor, request.seed, match, request.chromosomes)
    reading = RegionOptions(request.genome, request.width, request.blacklist)
    with Genome(request.genome) as genome:
        peaks = usable_regions(request.peaks, genome, reading)
        exclude = [read_bed(file) for file in (*request.exclude, *([request.blacklist] if request.blacklist else []))]
        return draw_background(peaks, genome, options, exclude)


def _write(request: BackgroundRequest, background: Background) -> None:
    """Write the regions, the table and the picture, and print them."""
    both = background.peaks, background.found
    log_counts(background.regions.counts, request.peaks)
    for remark in background.remarks:
        print(f"seqkern: {remark}", file=sys.stderr)
    with exclusive_paths(request.output):
        write_bed(request.output, background.regions)
        print_output(request.output)
        if request.table:
            write_tsv(request.table, COLUMNS, match_rows(*both))
            print(request.table)
        if request.plot:
            # imported here: matplotlib is slow to load
            from seqkern.report.plots import match_picture

            with atomic_write(request.plot, "w") as file:
                file.write(match_picture(*both))
            print(request.plot)
    for line in match_lines(*both):
        print(f"  {line}")


def _shuffle(request: BackgroundRequest) -> None:
    """Write shuffled sequences."""
    if request.factor < 1 or request.factor != round(request.factor):
        raise ParameterError(f"factor {request.factor:g} is not a whole number", remedy="give 1, 2, … with --shuffle")
    source = as_sources([request.peaks], request)[0]
    rng, count = random.Random(request.seed), 0
    with atomic_write(request.output, "w") as file:
        for header, letters in records_of(source):
            name = header.split(None, 1)[0]
            for number in range(1, round(request.factor) + 1):
                own = f"{name}_shuffled" + (f".{number}" if request.factor > 1 else "")
                file.write(f">{own}\n{shuffled(letters.upper(), request.shuffle, rng)}\n")
                count += 1
    log_counts(getattr(source, "counts", {}), Path(request.peaks))
    print_output(request.output)
    print(f"  {count} sequences with the {request.shuffle}-mer counts of those of {request.peaks}")
