"""``seqkern sites`` and ``seqkern background``: sites of a genome with decoys, and background of peaks."""

from __future__ import annotations

import random
from pathlib import Path

from seqkern.cli.common import annotation_file, as_sources
from seqkern.cli.output import log, log_counts, print_output
from seqkern.cli.requests_studies import BackgroundRequest, SitesRequest
from seqkern.core.archive import atomic_write, check_writable
from seqkern.core.errors import ParameterError
from seqkern.core.exclusive_files import exclusive_paths
from seqkern.core.tsv import write_tsv
from seqkern.formats.annotation import read_annotation
from seqkern.formats.background import COLUMNS, Background, BackgroundOptions, draw_background, match_lines, match_rows
from seqkern.formats.reference import Genome
from seqkern.formats.regions import RegionOptions, read_regions, usable_regions, write_bed
from seqkern.formats.site_tables import COLUMNS as SITE_COLUMNS
from seqkern.formats.site_tables import SiteTable, make_site_table
from seqkern.sequences.fasta import records_of
from seqkern.sequences.sampling import shuffled


def run_sites(request: SitesRequest) -> None:
    """Run the verb."""
    check_writable(request.output)
    given = annotation_file(request.genome, request.annotation)
    annotation = read_annotation(given)
    motifs = None if request.motif is None else request.motif.split(",")
    table = make_site_table(
        request.genome,
        annotation,
        request.kind,
        decoys=request.decoys,
        motifs=motifs,
        feature=request.feature,
        seed=request.seed,
    )
    write_tsv(request.output, SITE_COLUMNS, table.rows)
    print_output(request.output)
    _tell(table, request, given)


def _tell(table: SiteTable, request: SitesRequest, name: str) -> None:
    """Print the contents of the table, and on standard error what was left out."""
    sites, decoys = table.counts(request.kind)
    print(f"  {request.kind:<10} {sites} sites in {table.genes()} genes")
    lacking = f"; {table.lacking} fewer than wanted, their genes have no more" if table.lacking else ""
    print(f"  {'decoy':<10} {decoys} in the same genes{lacking}")
    if table.introns:
        shown = ", ".join(f"{ends} {count}" for ends, count in table.introns.most_common())
        print(f"  {'introns':<10} {table.introns.total()}: {shown}")
    if table.left_out:
        left = ", ".join(f"{count} {what}" for what, count in table.left_out.items())
        log(f"{name}: left out: {left}")
    if table.missing:
        some = ", ".join(list(table.missing)[:3]) + (", …" if len(table.missing) > 3 else "")
        log(
            f"{name}: {sum(table.missing.values())} sites on {len(table.missing)} chromosomes that the genome "
            f"lacks ({some})"
        )


def run_background(request: BackgroundRequest) -> None:
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
    reading = RegionOptions(request.genome, request.width, request.blacklist, merge=True)
    with Genome(request.genome) as genome:
        peaks = usable_regions(request.peaks, genome, reading)
        closed = (*request.exclude, *([request.blacklist] if request.blacklist else []))
        exclude = [read_regions(file, genome) for file in closed]
        return draw_background(peaks, genome, options, exclude)


def _write(request: BackgroundRequest, background: Background) -> None:
    """Write the regions, the table and the picture, and print them."""
    both = background.peaks, background.found
    log_counts(background.regions.counts, request.peaks)
    for remark in background.remarks:
        log(remark)
    with exclusive_paths(request.output):
        write_bed(request.output, background.regions)
        print_output(request.output)
        if request.table:
            write_tsv(request.table, COLUMNS, match_rows(*both))
            print(request.table)
        if request.plot:
            # imported here: only where a figure is drawn
            from seqkern.report.figure_files import write_picture
            from seqkern.report.plots import match_picture

            write_picture(request.plot, match_picture(*both))
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
