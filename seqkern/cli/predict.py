"""``seqkern predict``: apply a model to FASTA of any length in bounded memory, record by record or site by site."""

from __future__ import annotations

import argparse
import contextlib
import sys
from typing import TYPE_CHECKING, Any

from seqkern.cli.common import (
    add_policies,
    add_threads,
    add_tracks,
    naming_file,
    tell_counts,
    unrecognised,
)
from seqkern.cli.gathered import gather_predictions
from seqkern.cli.given_sites import add_given_sites
from seqkern.cli.new_sequences import load_given, read_chunks
from seqkern.cli.output import output_writer
from seqkern.cli.parts import add_parts, as_part
from seqkern.cli.predict_residues import (
    DRAWN,
    add_states,
    check_no_states,
    check_residues,
    run_residues,
    split_tracks,
)
from seqkern.cli.regions import add_regions
from seqkern.cli.scan import add_scan, check_no_scan, run_scan

if TYPE_CHECKING:
    from seqkern.models.model import Model

EXAMPLE = "seqkern predict model.seqkern donors.fasta > predictions.tsv"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments.

    Parameters
    ----------
    parser : ArgumentParser
        The parser of this verb.
    """
    parser.add_argument("model", help="model file of seqkern train or LS-GKM")
    parser.add_argument(
        "fasta",
        help="FASTA of new sequences, - for standard input; BED with --genome; or a feature table, as in training",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="output file (default: standard output)")
    add_threads(parser)
    add_tracks(parser, drawn=DRAWN)
    add_given_sites(parser)
    add_regions(parser, width="as in training")
    add_scan(parser)
    add_states(parser)
    group = parser.add_argument_group("reading FASTA")
    add_policies(group, ids=("header", "number"), default="as in training")
    add_parts(parser)


def run(args: argparse.Namespace) -> None:
    """Run the verb.

    Parameters
    ----------
    args : Namespace
        The parsed arguments of `add_arguments`.
    """
    # imported here to keep --help fast
    from seqkern.core.errors import ModelError
    from seqkern.models.residue_model import ResidueModel

    split_tracks(args)
    if args.scan is None:
        check_no_scan(args)
    if args.gather:
        gather_predictions(args)
        return
    model = load_given(args)
    if isinstance(model, ResidueModel):
        check_residues(args)
        with as_part(args, [args.model], [args.fasta]) as notes:
            if notes is not None:
                run_residues(args, model, notes)
        return
    check_no_states(args)
    if model.alphabet is None and (args.scan is not None or args.sites is not None or args.fasta == "-"):
        raise ModelError("was trained on a feature table", file=args.model, remedy="give a table as a file")
    with as_part(args, [args.model], [args.fasta]) as notes:
        if notes is not None:
            (_run if args.scan is None else run_scan)(args, model, notes)


def _run(args: argparse.Namespace, model: Model, notes: dict[str, Any]) -> None:
    """Predict, and write a table."""
    # imported here to keep --help fast
    import numpy as np

    # imported here to keep --help fast
    from seqkern.core.progress import progress_counter
    from seqkern.core.text_files import source_name
    from seqkern.core.tsv import format_cell
    from seqkern.models.scan_files import decision_columns

    name, done = source_name(args.fasta), 0
    counts: dict[str, int] = {}
    several = model.kind == "multiclass" or model.projects
    columns = decision_columns(model) + ["predicted"] * (not model.projects)
    with contextlib.ExitStack() as stack:
        write = stack.enter_context(output_writer(args.output))
        show = stack.enter_context(progress_counter("predict", " records"))
        stack.enter_context(naming_file(name))
        for number, X in enumerate(read_chunks(model, args)):
            decisions = model.decision(X, n_threads=args.threads)
            rows = decisions.tolist() if several else [[value] for value in decisions.tolist()]
            if model.calibration is not None:
                rows = np.column_stack([decisions, model.calibration.probabilities(decisions)]).tolist()
            if number == 0 and (args.part is None or args.part.number == 1):
                # an error in the first record leaves standard output empty
                write("\t".join(map(format_cell, ["id", *columns])) + "\n")
            predicted = [] if model.projects else [model.classify(decisions).tolist()]
            for name_of, values, *last in zip(X.ids, rows, *predicted, strict=True):
                write("\t".join(map(format_cell, [name_of, *values, *last])) + "\n")
            for what, count in X.counts.items():
                counts[what] = counts.get(what, 0) + count
            done += len(X)
            if show is not None:
                show(done)
    notes["counts"] = counts
    tell_counts(counts, name)
    for text in unrecognised(model):
        print(f"seqkern: warning: {args.model}: {text}", file=sys.stderr)
