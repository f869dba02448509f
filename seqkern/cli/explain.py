"""``seqkern explain``: what the letters and k-mers of new sequences add to a model's decisions."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, cast

from seqkern.cli.common import add_policies, add_threads, add_tracks, naming_file, tell_counts
from seqkern.cli.given_sites import add_given_sites
from seqkern.cli.new_sequences import load_given, read_chunks

if TYPE_CHECKING:
    from seqkern.sequences.sequence_set import SequenceSet

EXAMPLE = "seqkern explain model.seqkern donors.fasta -o explained"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments.

    Parameters
    ----------
    parser : ArgumentParser
        That of the verb alone.
    """
    parser.add_argument("model", help="file that seqkern train wrote, or LS-GKM")
    parser.add_argument("fasta", help="new sequences, plain or compressed; - is standard input")
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="DIR",
        help="folder for index.html, letters.tsv, words.tsv, decisions.tsv and the pictures",
    )
    parser.add_argument("--pair", metavar="A:B", help="of several classes, the two whose machine is explained")
    parser.add_argument(
        "--top", type=_count, default=10, metavar="N", help="print the N words of largest weight (default: 10)"
    )
    parser.add_argument(
        "--plots", type=_count, default=12, metavar="N", help="draw the first N sequences (default: 12)"
    )
    add_threads(parser)
    add_tracks(parser)
    add_given_sites(parser)
    group = parser.add_argument_group("reading FASTA")
    add_policies(group, ids=("header", "number"), default="as in training")


def run(args: argparse.Namespace) -> None:
    """Run the verb.

    Parameters
    ----------
    args : Namespace
        What `add_arguments` declares, with the values given.
    """
    # loaded when the verb runs: its help needs none of it
    from pathlib import Path

    # loaded when the verb runs: its help needs none of it
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
            "decides about residues by their neighbours, which explain does not take apart",
            file=args.model,
            remedy="see what it predicts: seqkern predict --track; a study's report shows the importance of letters",
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
        counts["words of small weight left out"] = table.dropped
    tell_counts(counts, name)
    print(Path(args.output) / "index.html")
    if explainer.no_words:
        print(f"  {explainer.no_words}")
    for kmer, weight, count in table.sorted()[: args.top]:
        print("  " + "\t".join(map(format_cell, (kmer, weight, count))))


def _counting(chunks: Iterable[SequenceSet], counts: dict[str, int]) -> Iterator[SequenceSet]:
    """Yield the chunks, and add up what the policies of reading touched."""
    for X in chunks:
        for what, count in X.counts.items():
            counts[what] = counts.get(what, 0) + count
        yield X


def _count(text: str) -> int:
    """Return a whole number."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not possible; give a whole number")
    return int(text)
