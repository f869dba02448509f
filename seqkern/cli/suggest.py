"""``seqkern suggest``: records of an unlabelled pool to label next, or variants to make next."""

from __future__ import annotations

import argparse
import math
import sys
from typing import TYPE_CHECKING, Any

from seqkern.cli.common import add_policies, add_threads, add_tracks, naming_file, refuse_unused
from seqkern.cli.new_sequences import load_given, read_chunks
from seqkern.cli.output import add_spreadsheet_safe, log_formulas, output_writer, print_output
from seqkern.cli.regions import add_given_sites, add_regions

if TYPE_CHECKING:
    from seqkern.methods.acquisition import NextVariants, Suggestions
    from seqkern.methods.model import Model

EXAMPLE = "seqkern suggest model.seqkern pool.fasta -n 20 -o next.tsv"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "model",
        help="model file of seqkern train or LS-GKM, of two or more classes; with --acquisition, of gp_regression or "
        "gp_inducing",
    )
    parser.add_argument(
        "fasta", nargs="?", help="FASTA of sequences without a label, - for standard input; or a feature table"
    )
    parser.add_argument("-n", type=int, default=20, metavar="N", help="number of records to choose (default: 20)")
    parser.add_argument("-o", "--output", metavar="FILE", help="output file; -: standard output (the default)")
    parser.add_argument(
        "--diversity",
        type=float,
        metavar="X",
        help="from 0, the records nearest the hyperplane, to 1, records unlike each other among these (default: 0.5)",
    )
    parser.add_argument(
        "--strategy",
        choices=("uncertain", "random"),
        help="random: a random choice, to compare with (default: uncertain)",
    )
    parser.add_argument("--seed", type=int, default=1, help="random seed, for ties and random choices (default: 1)")
    variants = parser.add_argument_group(
        "the next variants to make, by a Gaussian process", "in place of --diversity and --strategy"
    )
    variants.add_argument(
        "--acquisition",
        choices=("ucb", "ei", "thompson"),
        help="choose variants that may have the best label: by an upper confidence bound, the expected improvement, or "
        "functions drawn from the posterior",
    )
    best = variants.add_mutually_exclusive_group()
    best.add_argument("--maximize", action="store_true", help="large labels are wanted (the default)")
    best.add_argument("--minimize", action="store_true", help="small labels are wanted")
    variants.add_argument(
        "--kappa",
        type=float,
        metavar="X",
        help="for ucb, mean + X standard deviations: larger explores more (default: 2)",
    )
    add_spreadsheet_safe(parser)
    add_threads(parser)
    add_tracks(parser)
    add_given_sites(parser)
    add_regions(parser, width="as in training")
    group = parser.add_argument_group("reading FASTA")
    add_policies(group, ids=("header", "number"), default="as in training")


def run(args: argparse.Namespace) -> None:
    """Run the verb."""
    # imported here to keep --help fast
    from seqkern.core.archive import check_writable
    from seqkern.core.errors import SeqkernError
    from seqkern.core.text_files import is_standard_output, source_name

    _check_options(args)
    if args.output is not None and is_standard_output(args.output):
        args.output = None
    if args.output is not None:
        check_writable(args.output)
    model: Any = load_given(args)
    try:
        _check(model, args)
    except SeqkernError as error:
        error.file = args.model
        raise
    with naming_file(source_name(args.fasta)):
        found = _found(model, args)
    log_formulas(found.ids, args)
    with output_writer(args.output) as write:
        for line in _lines(model, found):
            write(line)
    if args.output is not None:
        print_output(args.output)
    if found.n_known is None:
        said = f"{args.model} does not say which records had a label in training: the pool may hold some"
        print(f"seqkern: warning: {said}", file=sys.stderr)
    elif found.n_known:
        what = "1 record" if found.n_known == 1 else f"{found.n_known} records"
        said = f"{what} left out, equal to records with a label in training"
        print(f"seqkern: {source_name(args.fasta)}: {said}", file=sys.stderr)
    if len(found.ids) < args.n:
        said = f"{len(found.ids)} records chosen, not {args.n} (-n): the pool has no more to choose from"
        print(f"seqkern: {source_name(args.fasta)}: {said}", file=sys.stderr)
    print(f"seqkern: {found.sentence()}", file=sys.stderr)


def _check_options(args: argparse.Namespace) -> None:
    """Raise ParameterError for an option without effect."""
    acquires = args.acquisition is not None
    if args.acquisition != "ucb":
        refuse_unused(args, "is for --acquisition ucb", {"kappa": None})
    if acquires:
        refuse_unused(args, "is not for --acquisition", {"diversity": None, "strategy": None})
    else:
        refuse_unused(args, "is for --acquisition", {"maximize": False, "minimize": False})
    if args.strategy == "random":
        refuse_unused(args, "does not work with --strategy random", {"diversity": None})


def _check(model: Any, args: argparse.Namespace) -> None:
    """Raise ModelError unless the model supports the requested choice."""
    # imported here to keep --help fast
    from seqkern.methods.acquisition import check_acquires, check_suggests

    if args.acquisition is None:
        check_suggests(model)
    else:
        check_acquires(model)


def _found(model: Any, args: argparse.Namespace) -> NextVariants | Suggestions:
    """Return the records to label, or the variants to make, next."""
    # imported here to keep --help fast
    from seqkern.methods.acquisition import next_variants, suggest

    pool: Any = read_chunks(model, args)
    names = ("diversity", "strategy") if args.acquisition is None else ("acquisition", "minimize", "kappa")
    given: dict[str, Any] = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    choose = suggest if args.acquisition is None else next_variants
    return choose(model, pool, args.n, **given, seed=args.seed, n_threads=args.threads)


def _lines(model: Model, found: NextVariants | Suggestions) -> list[str]:
    """Return the lines of the table."""
    # imported here to keep --help fast
    from seqkern.core.tsv import format_cell, table_text
    from seqkern.methods.acquisition import Suggestions

    rows = _label_rows(model, found) if isinstance(found, Suggestions) else _variant_rows(found)
    return [table_text("\t".join(map(format_cell, row)) + "\n") for row in rows]


def _label_rows(model: Model, found: Suggestions) -> list[list[object]]:
    """Return the table of records to label next."""
    several = model.kind == "multiclass"
    names = [f"decision:{name}" for name in model.classes] + ["gap"] if several else ["decision"]
    rows: list[list[object]] = [["rank", "id", *names, "distance"]]
    for i, name in enumerate(found.ids):
        values = [*found.decisions[i].tolist(), found.gaps[i]] if several else [found.decisions[i]]
        rows.append([i + 1, name, *values, None if math.isnan(found.distances[i]) else found.distances[i]])
    return rows


def _variant_rows(found: NextVariants) -> list[list[object]]:
    """Return the table of variants to make next."""
    columns = zip(found.ids, found.means, found.deviations, found.values, strict=True)
    return [["rank", "id", "mean", "sd", "acquisition"], *([i, *row] for i, row in enumerate(columns, start=1))]
