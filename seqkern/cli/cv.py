"""``seqkern cv``: the score of one method, fold by fold, without a study."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from seqkern.cli.common import naming_file
from seqkern.cli.outer_folds import add_outer_folds
from seqkern.cli.output import (
    FINISHED,
    add_overwrite,
    add_spreadsheet_safe,
    check_result_folder,
    result_folder,
    tell_formulas,
)
from seqkern.cli.training_input import add_input, add_labels, add_reading, add_search

if TYPE_CHECKING:
    from seqkern.cli.outer_folds import CrossValidated

EXAMPLE = "seqkern cv donors.fasta --labels donors.tsv --kernel spectrum:k=5 --solver csvc --search -o cv/spectrum/csvc"

MORE_EXAMPLES = (
    "seqkern cv peaks.fa background.fa --kernel gapped --solver csvc:C=1 --permutations 200",
    "seqkern cv proteins.fasta --labels proteins.tsv --label-field superfamily --positive s1 --kernel smith_waterman"
    " --repair empirical_map --solver csvc:C=1 --repeats 5",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_input(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="output folder for the tables, as seqkern evaluate writes them, and the ROC curves; seqkern compare "
        "reads several such folders (KERNEL/SOLVER names the method)",
    )
    add_overwrite(parser)
    add_spreadsheet_safe(parser)
    add_labels(parser)
    outer = parser.add_argument_group("outer folds")
    outer.add_argument("--folds", type=int, default=5, metavar="K", help="number of outer folds (default: 5)")
    add_outer_folds(outer)
    add_search(parser, "--inner-folds")
    add_reading(parser)


def run(args: argparse.Namespace) -> None:
    """Run the verb."""
    # imported here to keep --help fast
    from seqkern.cli.outer_folds import (
        check_design,
        count_folds,
        cross_validated,
        fold_remarks,
        kept_together,
        notes,
        outer_folds,
        score_table,
    )
    from seqkern.cli.training_input import chosen_method, read_input, read_method, tell_fewer_folds
    from seqkern.core.archive import check_writable
    from seqkern.core.checkpoint import Unfinished
    from seqkern.core.progress import progress_counter
    from seqkern.core.threads import given_threads
    from seqkern.methods.method import identity_of
    from seqkern.methods.training import training_data

    method = read_method(args, "--inner-folds")
    outer = outer_folds(args, args.folds)
    if args.output is not None:
        check_writable(Path(args.output) / "metrics.tsv")
        check_result_folder(args)
    given = read_input(args, method)
    if args.output is not None:
        tell_formulas(given.X.ids, args)
    method = chosen_method(args, method, given, count_folds(args, args.folds, given.labels))
    dataset = given.dataset
    with (
        Unfinished(args.output and Path(args.output) / FINISHED) as unfinished,
        naming_file(given.source),
        given_threads(args.threads),
        progress_counter("kernel", " entries") as show,
        warnings.catch_warnings(record=True) as said,
    ):
        warnings.simplefilter("always")
        kept = kept_together(args, given)
        check_design(method, given, outer, kept)
        data = training_data(
            method,
            given.X,
            dataset.task().labels,
            dataset.residues,
            window=given.window,
            kept=kept,
            memory_limit=args.memory,
            n_threads=args.threads,
            progress=show,
            gram_files=args.gram,
        )
        tell_fewer_folds(args, data.labels, "--inner-folds")
        found = cross_validated(args, method, data, given, outer, unfinished.under(identity_of(method, data)))
    if args.output is not None:  # before standard output, which may be a pipe that closes
        with result_folder(args):
            _write(Path(args.output), found)
    for text in dict.fromkeys(str(warning.message) for warning in said):
        print(f"seqkern: warning: {text}", file=sys.stderr)
    for text in fold_remarks(found.results):
        print(f"seqkern: {text}", file=sys.stderr)
    counts = ", ".join(f"{name}: {count}" for name, count in data.labels.class_counts().items())
    print(f"{len(given.labels)} samples{f' ({counts})' if counts else ''}")
    for line in (*score_table(found), *notes(found)):
        print(line)
    if args.output is not None:
        print(args.output)


def _write(folder: Path, found: CrossValidated) -> None:
    """Write the tables and the ROC curves."""
    # imported here to keep --help fast
    from seqkern.cli.outer_folds import design
    from seqkern.core.archive import atomic_write
    from seqkern.core.tsv import write_tsv
    from seqkern.evaluation.fold_tables import write_results
    from seqkern.report.curves import roc_picture

    write_results(folder, found.results)
    rows = [
        {
            "score": name,
            "mean": one.score,
            "low": one.low,
            "high": one.high,
            "interval": one.how,
            "folds": design(found),
        }
        for name, one in found.scores.items()
    ]
    if found.test is not None:
        rows[0] |= {"p": found.test.p, "permutations": len(found.test.null), "null_mean": found.test.mean}
    columns = ("score", "mean", "low", "high", "interval", "folds", "p", "permutations", "null_mean")
    write_tsv(folder / "scores.tsv", columns, rows)
    picture = roc_picture(found.results, found.labels)
    if picture is not None:
        with atomic_write(folder / "roc.svg") as file:
            file.write(picture)
