"""``seqkern audit``: what a training and a test part share, and what it does to scores."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from seqkern.cli.common import (
    FASTA_POLICIES,
    add_sequence_arguments,
    add_threads,
    naming_file,
    policies_of,
    refuse_unused,
    tell_counts,
)

if TYPE_CHECKING:
    from seqkern.audit import Audit, Parts

EXAMPLE = "seqkern audit train.fa test.fa labels.tsv -o audit"
MORE_EXAMPLES = (
    "seqkern audit train.positive.fa train.negative.fa test.positive.fa test.negative.fa -o audit",
    "seqkern audit all.fa labels.tsv --part split -o audit",
    "seqkern audit results/demo/datasets/donors --folds results/demo/folds/donors -o audit",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``seqkern audit``.

    Parameters
    ----------
    parser : ArgumentParser
        The parser of the verb.
    """
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="training and test sequences, and perhaps a table of labels; or four files: positives and negatives of "
        "training, then of test; or with --part one file and the table; or with --folds the folder of a data set",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="folder for the page and the tables")
    parser.add_argument(
        "--labels",
        metavar="WHERE",
        help="source of the labels: header (a field label=…), first-word (of each header), or a TSV with the columns "
        "id and label (also as the last file)",
    )
    parser.add_argument(
        "--label-field", metavar="NAME", default="label", help="name of that field or column (default: label)"
    )
    parser.add_argument(
        "--part",
        metavar="NAME",
        help="one file has both parts: the field of its headers, or the column of the table of labels, that says train "
        "or test; other words are left out",
    )
    parser.add_argument(
        "--folds", metavar="FOLDER", help="that seqkern folds wrote: audit each split of a data set, without scores"
    )
    limits = parser.add_argument_group("what counts as overlap")
    limits.add_argument(
        "--k", type=int, metavar="N", help="length of a shared stretch that counts (default: 30; of proteins 12)"
    )
    limits.add_argument(
        "--identity",
        type=float,
        metavar="SHARE",
        help="identity from which sequences are similar (default: .8, of proteins .5, and more for short ones)",
    )
    limits.add_argument(
        "--one-strand", action="store_true", help="compare one strand only (default: both strands of DNA)"
    )
    parser.add_argument("--no-scores", action="store_true", help="only look for overlap; train nothing")
    parser.add_argument("--memory", metavar="SIZE", help="memory limit, such as 2GB (default: half of what is left)")
    add_sequence_arguments(parser)
    add_threads(parser)


def run(args: argparse.Namespace) -> None:
    """Run ``seqkern audit``.

    Parameters
    ----------
    args : Namespace
        The parsed arguments of `add_arguments`.
    """
    # imported here to keep --help fast
    from seqkern.audit.files import write_tables
    from seqkern.audit.page import render_page
    from seqkern.core.archive import atomic_write, check_writable
    from seqkern.core.locks import alone_in
    from seqkern.core.threads import given_threads

    output = Path(args.output)
    check_writable(output / "index.html")
    if args.folds:
        _check_folds(args)
        _audit_folds(args, output)
        return
    parts, title = _read(args)
    with naming_file(", ".join(args.files)), given_threads(args.threads):
        found = _audit(args, parts, scores=not args.no_scores)
    page = render_page(found, title)
    with alone_in(output):
        write_tables(output, [((), found)])
        with atomic_write(output / "index.html", "w") as file:
            file.write(page)
    print(output / "index.html")
    print(found.verdict)


def _audit(args: argparse.Namespace, parts: Parts, scores: bool) -> Audit:
    """Return the audit of two parts with the options given."""
    # imported here to keep --help fast
    from seqkern.audit import audit

    return audit(
        parts,
        k=args.k,
        identity=args.identity,
        both_strands=False if args.one_strand else None,
        scores=scores,
        memory_limit=args.memory,
        n_threads=args.threads,
    )


def _read(args: argparse.Namespace) -> tuple[Parts, str]:
    """Return the parts, and what the page is called."""
    # imported here to keep --help fast
    from seqkern.cli.audit_input import read_parts

    given = read_parts(
        args.files,
        labels=args.labels,
        label_field=args.label_field,
        part_field=args.part,
        alphabet=args.alphabet,
        policies=policies_of(args),
    )
    tell_counts(given.counts, ", ".join(given.files))
    return given.parts, given.title


def _check_folds(args: argparse.Namespace) -> None:
    """Raise an error for options that do not work with the folds of a data set."""
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError

    if len(args.files) > 1:
        raise ParameterError(f"{len(args.files)} files with --folds", remedy="give the folder of one data set")
    refuse_unused(args, "does not work with --folds", {**FASTA_POLICIES, "alphabet": None, "label_field": "label"})
    useless = next((option for option in ("labels", "part") if getattr(args, option) is not None), None)
    if useless:
        raise ParameterError(f"--{useless} does not work with --folds", remedy=f"remove --{useless}")


def _audit_folds(args: argparse.Namespace, output: Path) -> None:
    """Audit the splits of a data set, and write their tables."""
    # imported here to keep --help fast
    from seqkern.audit.files import PLACE, write_tables
    from seqkern.audit.splits import audited_splits
    from seqkern.core.locks import alone_in
    from seqkern.core.threads import given_threads

    with given_threads(args.threads):
        found = audited_splits(args.files[0], args.folds, lambda parts: _audit(args, parts, scores=False))
    with alone_in(output):
        write_tables(output, found.audits, PLACE)
    for place, one in found.audits:
        print(f"{' '.join(place)}: {one.verdict}")
    for remark in found.remarks:
        print(remark)
