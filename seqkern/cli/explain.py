"""``seqkern explain``: contributions of residues and k-mers of new sequences to a model's decision values."""

from __future__ import annotations

import argparse
import contextlib
import copy
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, cast

from seqkern.cli.common import add_policies, add_threads, add_tracks, log_counts, naming_file
from seqkern.cli.new_sequences import load_given, read_chunks
from seqkern.cli.output import add_overwrite, add_spreadsheet_safe, check_result_folder, log_formulas, result_folder
from seqkern.cli.regions import add_given_sites, add_regions
from seqkern.core.checks import whole_number

if TYPE_CHECKING:
    from seqkern.methods.model import Model
    from seqkern.sequences.sequence_set import SequenceSet

EXAMPLE = "seqkern explain model.seqkern donors.fasta -o explained"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("model", help="model file of seqkern train or LS-GKM")
    parser.add_argument("fasta", nargs="?", help="FASTA of new sequences, - for standard input; or BED with --genome")
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="DIR",
        help="output folder for index.html, letters.tsv, words.tsv, decisions.tsv and figures",
    )
    add_overwrite(parser)
    add_spreadsheet_safe(parser)
    parser.add_argument("--pair", metavar="A:B", help="multi-class models: explain the classifier of classes A and B")
    parser.add_argument(
        "--top",
        type=_count,
        default=10,
        metavar="N",
        help="print the N k-mers with the largest weights, and their occurrences (default: 10)",
    )
    parser.add_argument(
        "--plots", type=_count, default=12, metavar="N", help="draw the first N sequences (default: 12)"
    )
    places = parser.add_argument_group(
        "windows from a genome",
        "by their ids, such as chr1:1001-1300 or chr1:1001-1300(-), with --sites, or read from BED; a .bw without\n"
        "--sites needs --genome, for the lengths of the chromosomes",
    )
    places.add_argument(
        "--contributions",
        metavar="FILE",
        help="also write the contribution of each base along the genome: .bw or .bedgraph; the mean where windows "
        "overlap",
    )
    add_threads(parser)
    add_tracks(parser)
    add_given_sites(parser)
    add_regions(parser, width="as in training")
    group = parser.add_argument_group("reading FASTA")
    add_policies(group, ids=("header", "number"), default="as in training")


def run(args: argparse.Namespace) -> None:
    """Run the verb."""
    # imported here to keep --help fast
    from pathlib import Path

    # imported here to keep --help fast
    from seqkern.core.errors import ModelError, SeqkernError
    from seqkern.core.progress import progress_counter
    from seqkern.core.text_files import source_name
    from seqkern.core.tsv import format_cell
    from seqkern.formats.signals import Track
    from seqkern.methods.explanation import Explainer
    from seqkern.methods.residue_model import ResidueModel
    from seqkern.report.explanation_page import write_explanation

    check_result_folder(args)
    model = load_given(args)
    if isinstance(model, ResidueModel):
        raise ModelError(
            "classifies residues by their neighbours, which explain does not support",
            file=args.model,
            remedy="draw its predictions with seqkern predict --track; for the importance of residues see a study's "
            "report",
        )
    try:
        explainer = Explainer(model, args.pair)
    except SeqkernError as error:
        error.file = args.model
        raise
    name = source_name(args.fasta)
    counts: dict[str, int] = {}
    reading = copy.copy(args)
    lengths = None if args.contributions is None else _lengths(reading, model)
    chunks = cast("Iterator[SequenceSet]", read_chunks(model, reading))
    with (
        result_folder(args),
        contextlib.nullcontext() if args.contributions is None else Track() as track,
        progress_counter("explain", " records") as show,
        naming_file(name),
    ):
        table = write_explanation(
            explainer,
            _counting(chunks, counts, args),
            args.output,
            model=Path(args.model).name,
            fasta=Path(name).name,
            plots=args.plots,
            show=show,
            n_threads=args.threads,
            track=track,
        )
        if track is not None:
            track.write(args.contributions, lengths)
    if table.dropped:
        counts["k-mers of small weight left out"] = table.dropped
    log_counts(counts, name)
    print(Path(args.output) / "index.html")
    if args.contributions is not None:
        print(args.contributions)
    if explainer.no_words:
        print(f"  {explainer.no_words}")
    largest = table.sorted()[: args.top]
    if largest:
        print("  k-mer\tweight\toccurrences")
    for kmer, weight, count in largest:
        print("  " + "\t".join(map(format_cell, (kmer, weight, count))))


def _lengths(args: argparse.Namespace, model: Model) -> dict[str, int] | None:
    """Return the lengths of the chromosomes for bigWig; None for bedGraph, which does not need them."""
    # imported here to keep --help fast
    from seqkern.core.archive import check_writable
    from seqkern.core.errors import ParameterError
    from seqkern.formats.libraries import py_big_wig
    from seqkern.formats.reference import Genome
    from seqkern.formats.signals import track_format
    from seqkern.sequences.streaming import record_lengths
    from seqkern.study.data_entry import is_bed

    check_writable(args.contributions)
    if track_format(args.contributions) == "bedgraph":
        return None
    py_big_wig()  # complains before any work
    if args.genome is not None:
        with Genome(args.genome) as genome:
            lengths = dict(genome.lengths)
        if not is_bed(args.fasta, with_genome=True):
            args.genome = None  # nothing is read from it
        return lengths
    if args.sites is None or args.fasta == "-":
        raise ParameterError(
            "bigWig needs the lengths of the chromosomes",
            remedy="add --genome FASTA, or write contributions to a .bedgraph file",
        )
    return record_lengths(args.fasta)


def _counting(chunks: Iterable[SequenceSet], counts: dict[str, int], args: argparse.Namespace) -> Iterator[SequenceSet]:
    """Yield the chunks, add up the counts of the reading policies, and report ids that look like formulas."""
    told = False
    for X in chunks:
        told = told or log_formulas(X.ids, args)
        for what, count in X.counts.items():
            counts[what] = counts.get(what, 0) + count
        yield X


def _count(text: str) -> int:
    """Return a non-negative integer, for argparse."""
    number = whole_number(text)
    if number is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a non-negative integer")
    return number
