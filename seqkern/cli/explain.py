"""``seqkern explain``: contributions of residues and k-mers of new sequences to a model's decision values."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, cast

from seqkern.cli.common import add_policies, add_threads, add_tracks, naming_file, tell_counts
from seqkern.cli.given_sites import add_given_sites
from seqkern.cli.new_sequences import load_given, read_chunks
from seqkern.cli.regions import add_regions

if TYPE_CHECKING:
    from seqkern.sequences.sequence_set import SequenceSet

EXAMPLE = "seqkern explain model.seqkern donors.fasta -o explained"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments.

    Parameters
    ----------
    parser : ArgumentParser
        The parser of this verb.
    """
    parser.add_argument("model", help="model file of seqkern train or LS-GKM")
    parser.add_argument("fasta", help="FASTA of new sequences, - for standard input; or BED with --genome")
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="DIR",
        help="output folder for index.html, letters.tsv, words.tsv, decisions.tsv and figures",
    )
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
    add_threads(parser)
    add_tracks(parser)
    add_given_sites(parser)
    add_regions(parser, width="as in training")
    group = parser.add_argument_group("reading FASTA")
    add_policies(group, ids=("header", "number"), default="as in training")


def run(args: argparse.Namespace) -> None:
    """Run the verb.

    Parameters
    ----------
    args : Namespace
        The parsed arguments of `add_arguments`.
    """
    # imported here to keep --help fast
    from pathlib import Path

    # imported here to keep --help fast
    from seqkern.core.errors import ModelError, SeqkernError
    from seqkern.core.progress import progress_counter
    from seqkern.core.text_files import source_name
    from seqkern.core.tsv import format_cell
    from seqkern.explain import Explainer
    from seqkern.explain.files import write_explanation
    from seqkern.models.residue_model import ResidueModel

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
    chunks = cast("Iterator[SequenceSet]", read_chunks(model, args))
    with progress_counter("explain", " records") as show, naming_file(name):
        table = write_explanation(
            explainer,
            _counting(chunks, counts),
            args.output,
            model=Path(args.model).name,
            fasta=Path(name).name,
            plots=args.plots,
            show=show,
            n_threads=args.threads,
        )
    if table.dropped:
        counts["k-mers of small weight left out"] = table.dropped
    tell_counts(counts, name)
    print(Path(args.output) / "index.html")
    if explainer.no_words:
        print(f"  {explainer.no_words}")
    for kmer, weight, count in table.sorted()[: args.top]:
        print("  " + "\t".join(map(format_cell, (kmer, weight, count))))


def _counting(chunks: Iterable[SequenceSet], counts: dict[str, int]) -> Iterator[SequenceSet]:
    """Yield the chunks, and add up the counts of the reading policies."""
    for X in chunks:
        for what, count in X.counts.items():
            counts[what] = counts.get(what, 0) + count
        yield X


def _count(text: str) -> int:
    """Return a non-negative integer."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a non-negative integer")
    return int(text)
