"""``seqkern motifs``: the motifs learned by a model."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from seqkern.cli.common import add_policies, add_threads, log_counts, policies_of, positive_integer
from seqkern.cli.output import add_spreadsheet_safe, print_output

if TYPE_CHECKING:
    from pathlib import Path

    from seqkern.genomics.motif_tables import KnownMotifs, Match
    from seqkern.genomics.motifs import FoundMotif
    from seqkern.methods.explanation import Explainer
    from seqkern.methods.model import Model
    from seqkern.sequences.sequence_set import SequenceSet

MOST_SUPPORT = 2000
"""Number of support sequences up to which all are searched for motifs, within a minute or so."""

EXAMPLE = "seqkern motifs peaks.seqkern peaks.fa -o motifs.meme --known jaspar.meme --plot motifs.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("model", help="model file of seqkern train or LS-GKM")
    parser.add_argument(
        "fasta",
        nargs="?",
        help="FASTA of sequences in which to find motifs, such as the peaks; - for standard input (default: the "
        f"model's support sequences, up to {MOST_SUPPORT}; else its k-mers)",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="output file in MEME format")
    parser.add_argument(
        "--kmers", action="store_true", help="make motifs of the k-mers of greatest weight, not of sequences"
    )
    parser.add_argument("--known", metavar="FILE", help="known motifs to compare with: JASPAR, MEME or TRANSFAC format")
    parser.add_argument("--plot", metavar="FILE", help="draw the logos: .html or .svg")
    parser.add_argument("--table", metavar="FILE", help="write the table of motifs as TSV")
    parser.add_argument("--pair", metavar="A:B", help="multi-class models: explain the classifier of classes A and B")
    parser.add_argument(
        "--minimum",
        type=positive_integer,
        default=10,
        metavar="N",
        help="smallest number of sites of a motif (default: 10)",
    )
    add_spreadsheet_safe(parser)
    add_threads(parser)
    group = parser.add_argument_group("reading FASTA")
    add_policies(group, ids=("header", "number"), default="as in training")


def run(args: argparse.Namespace) -> None:
    """Run the verb."""
    # imported here to keep --help fast
    from pathlib import Path

    # imported here to keep --help fast
    from seqkern.core.archive import check_writable
    from seqkern.core.errors import ParameterError, SeqkernError
    from seqkern.core.exclusive_files import exclusive_paths
    from seqkern.core.threads import given_threads
    from seqkern.genomics import motif_tables
    from seqkern.genomics.motif_tables import nearest
    from seqkern.genomics.motifs import find_motifs, require_motifs
    from seqkern.methods.explanation import Explainer

    if args.kmers and args.fasta is not None:
        raise ParameterError("--kmers needs no sequences", remedy=f"remove {args.fasta} or --kmers")
    plot = None if args.plot is None else Path(args.plot)
    if plot is not None and plot.suffix not in (".html", ".svg"):
        raise ParameterError(f"--plot {plot.name!r} ends with neither .html nor .svg", remedy="name such a file")
    for path in (args.output, args.plot, args.table):
        if path is not None:
            check_writable(path)
    model = _load(args)
    try:
        explainer = Explainer(model, args.pair)
        known = None if args.known is None else known_motifs(args.known, explainer)
        X, source = _sequences(args, explainer.model)
        with given_threads(args.threads):
            motifs = find_motifs(explainer, X, least=args.minimum)
    except SeqkernError as error:
        error.file = error.file or args.model
        raise
    require_motifs(motifs, of_kmers=args.kmers)
    matches = None if known is None else nearest([motif.probabilities for motif in motifs], known)
    classes = explainer.model.classes or ("lower", "higher")
    with exclusive_paths(args.output):
        motif_tables.write_meme(args.output, motifs)
        print_output(args.output)
        if args.table is not None:
            motif_tables.write_table(args.table, motifs, classes, matches)
            print(args.table)
        if plot is not None:
            _draw(plot, Path(args.model).name, motifs, classes, matches, source)
            print(plot)
    print(f"  {source}")
    columns = motif_tables.COLUMNS if matches is None else (*motif_tables.COLUMNS, *list(motif_tables.KNOWN)[:3])
    print("  " + "\t".join(columns))
    for row in motif_tables.rows(motifs, classes, matches):
        print("  " + "\t".join(_short(value) for value in list(row)[: len(columns)]))


def _short(value: Any) -> str:
    """Return a value as printed."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _load(args: argparse.Namespace) -> Model:
    """Return the model; refuse a model of residues."""
    # imported here to keep --help fast
    from seqkern.cli.new_sequences import load_given
    from seqkern.core.errors import ModelError
    from seqkern.methods.loading import load_model
    from seqkern.methods.residue_model import ResidueModel

    model = load_model(args.model) if args.fasta is None else load_given(args)
    if isinstance(model, ResidueModel):
        raise ModelError(
            "classifies residues by their neighbours, which motifs does not support",
            file=args.model,
            remedy="give a model of whole sequences",
        )
    if model.kernel.of_several:
        raise ModelError(
            f"compares several sequences ({', '.join(model.sequence_views)}), which motifs does not support",
            file=args.model,
            remedy="list their k-mers with seqkern explain",
        )
    return model


def known_motifs(path: str, explainer: Explainer) -> KnownMotifs:
    """Return the known motifs of a file."""
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError
    from seqkern.genomics.motif_tables import KnownMotifs
    from seqkern.kernels.models.motif_files import MotifSet

    alphabet = explainer.model.alphabet
    assert alphabet is not None  # of sequences
    try:
        return KnownMotifs(MotifSet.from_file(path).matrices, alphabet, alphabet.complement is not None)
    except ParameterError as error:
        error.file = path
        raise


def _sequences(args: argparse.Namespace, model: Model) -> tuple[SequenceSet | None, str]:
    """Return the sequences in which to find motifs, or None for k-mers, and a description of them."""
    # imported here to keep --help fast
    from pathlib import Path

    # imported here to keep --help fast
    from seqkern.core.text_files import source_name
    from seqkern.sequences.fasta import read_fasta
    from seqkern.sequences.sequence_set import SequenceSet

    if args.fasta is not None:
        given = policies_of(args)
        policies = {key: given[key] or model.policies[key] for key in given if given[key] or key in model.policies}
        X = read_fasta(args.fasta, model.alphabet, **policies)
        name = source_name(args.fasta)
        log_counts(X.counts, name)
        return X, f"seqlets in {len(X)} sequences of {Path(name).name}"
    support = model.support
    if not args.kmers and isinstance(support, SequenceSet) and len(support) > MOST_SUPPORT:
        return None, f"k-mers of greatest weight; for seqlets give sequences: the model has {len(support)}, too many"
    if not args.kmers and isinstance(support, SequenceSet) and len(support):
        return support, f"seqlets in the {len(support)} support sequences of the model"
    return None, "k-mers of greatest weight"


def _draw(
    path: Path,
    title: str,
    motifs: list[FoundMotif],
    classes: Any,
    matches: list[Match] | None,
    source: str,
) -> None:
    """Write the logos as a page or a picture."""
    # imported here to keep --help fast
    from seqkern.core.archive import atomic_write
    from seqkern.report.drawing import as_file
    from seqkern.report.learned_pages import logos_picture, motifs_page

    with atomic_write(path, "w") as file:
        if path.suffix == ".svg":
            file.write(as_file(logos_picture(motifs, classes, matches)))
        else:
            file.write(motifs_page(title, motifs, classes, matches, source))
