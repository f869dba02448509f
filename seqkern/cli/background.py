"""``seqkern background``: genomic regions that match the peaks but lie elsewhere, or shuffled sequences."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from seqkern.cli.output import print_output
from seqkern.cli.regions import add_regions

if TYPE_CHECKING:
    from seqkern.formats.background import Background
    from seqkern.formats.regions import RegionOptions

EXAMPLE = "seqkern background donors.fasta --shuffle 2 -o shuffled.fasta"
MORE_EXAMPLES = (
    "seqkern background peaks.bed --genome genome.fa -o background.bed",
    "seqkern background peaks.narrowPeak --width 300 --genome genome.fa --blacklist blacklist.bed --factor 2"
    " --table match.tsv --plot match.svg -o background.bed",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("peaks", help="BED, narrowPeak or broadPeak file; with --shuffle also FASTA")
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="output: a BED file; with --shuffle a FASTA file"
    )
    parser.add_argument("--factor", type=float, default=1.0, help="background regions for each peak (default: 1)")
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: 1)")
    add_regions(parser)
    drawing = parser.add_argument_group(
        "random regions",
        "They lie on chromosomes with peaks, contain no N, and overlap neither peaks, blacklist, excluded regions nor\n"
        "one another. Repeats are the soft-masked (lower-case) bases of the genome.",
    )
    drawing.add_argument("--exclude", action="append", default=[], metavar="BED", help="exclude these too; repeatable")
    drawing.add_argument(
        "--match",
        default="length,gc,repeats",
        metavar="LIST",
        help="properties to match: length, gc, repeats (default: length,gc,repeats)",
    )
    drawing.add_argument(
        "--chromosomes",
        choices=("same", "any"),
        default="same",
        help="draw on the chromosome of each peak, so that folds of whole chromosomes have equal classes, or on any "
        "(default: same)",
    )
    drawing.add_argument("--table", metavar="TSV", help="write how well the background matches")
    drawing.add_argument("--plot", metavar="SVG", help="draw histograms of peaks and background")
    shuffling = parser.add_argument_group("shuffled sequences")
    shuffling.add_argument(
        "--shuffle",
        type=int,
        metavar="K",
        help="shuffle the sequence of each peak instead, with the same counts of K-mers (2: dinucleotides)",
    )


def run(args: argparse.Namespace) -> None:
    """Run the verb."""
    # imported here to keep --help fast
    from seqkern.core.archive import check_writable
    from seqkern.core.errors import ParameterError

    for path in (args.output, args.table, args.plot):
        if path is not None:
            check_writable(path)
    if args.shuffle is not None:
        useless = [name for name in ("table", "plot", "exclude") if getattr(args, name)]
        if useless:
            raise ParameterError(f"--{useless[0]} does not work with --shuffle", remedy=f"remove --{useless[0]}")
        _shuffle(args)
        return
    if args.genome is None:
        raise ParameterError(
            "background regions come from a genome", remedy="add --genome FASTA, or --shuffle 2 to shuffle the peaks"
        )
    background = _drawn(args)
    _write(args, background)


def _drawn(args: argparse.Namespace) -> Background:
    """Return the background that the arguments describe."""
    # imported here to keep --help fast
    from seqkern.formats.background import BackgroundOptions, draw_background
    from seqkern.formats.reference import Genome
    from seqkern.formats.regions import read_bed, usable_regions

    match = tuple(name for name in args.match.split(",") if name)
    options = BackgroundOptions(args.factor, args.seed, match, args.chromosomes)
    reading = _reading(args)
    with Genome(args.genome) as genome:
        peaks = usable_regions(args.peaks, genome, reading)
        exclude = [read_bed(file) for file in (*args.exclude, *([args.blacklist] if args.blacklist else []))]
        return draw_background(peaks, genome, options, exclude)


def _reading(args: argparse.Namespace) -> RegionOptions:
    """Return the options for reading the peaks."""
    # imported here to keep --help fast
    from seqkern.formats.regions import RegionOptions

    return RegionOptions(args.genome, args.width, args.blacklist)


def _write(args: argparse.Namespace, background: Background) -> None:
    """Write the regions, the table and the picture, and print them."""
    # imported here to keep --help fast
    from seqkern.cli.common import log_counts
    from seqkern.core.archive import atomic_write
    from seqkern.core.exclusive_files import exclusive_paths
    from seqkern.core.tsv import write_tsv
    from seqkern.formats.background import COLUMNS, match_lines, match_rows
    from seqkern.formats.regions import write_bed

    both = background.peaks, background.found
    log_counts(background.regions.counts, args.peaks)
    for remark in background.remarks:
        print(f"seqkern: {remark}", file=sys.stderr)
    with exclusive_paths(args.output):
        write_bed(args.output, background.regions)
        print_output(args.output)
        if args.table:
            write_tsv(args.table, COLUMNS, match_rows(*both))
            print(args.table)
        if args.plot:
            # imported here: matplotlib is slow to load
            from seqkern.report.plots import match_picture

            with atomic_write(args.plot, "w") as file:
                file.write(match_picture(*both))
            print(args.plot)
    for line in match_lines(*both):
        print(f"  {line}")


def _shuffle(args: argparse.Namespace) -> None:
    """Write shuffled sequences."""
    # imported here to keep --help fast
    import random

    # imported here to keep --help fast
    from seqkern.cli.common import log_counts
    from seqkern.cli.regions import as_sources
    from seqkern.core.archive import atomic_write
    from seqkern.core.checks import check_integer
    from seqkern.core.errors import ParameterError
    from seqkern.sequences.fasta import records_of
    from seqkern.sequences.sampling import shuffled

    check_integer("shuffle", args.shuffle, 1)
    if args.factor < 1 or args.factor != round(args.factor):
        raise ParameterError(f"factor {args.factor:g} is not a whole number", remedy="give 1, 2, … with --shuffle")
    source = as_sources([args.peaks], args)[0]
    rng, count = random.Random(args.seed), 0
    with atomic_write(args.output, "w") as file:
        for header, letters in records_of(source):
            name = header.split(None, 1)[0]
            for number in range(1, round(args.factor) + 1):
                own = f"{name}_shuffled" + (f".{number}" if args.factor > 1 else "")
                file.write(f">{own}\n{shuffled(letters.upper(), args.shuffle, rng)}\n")
                count += 1
    log_counts(getattr(source, "counts", {}), Path(args.peaks))
    print_output(args.output)
    print(f"  {count} sequences with the {args.shuffle}-mer counts of those of {args.peaks}")
