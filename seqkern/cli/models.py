"""``seqkern models``: pack the models of a folder into one file, and list the models of such a file."""

from __future__ import annotations

import argparse
import sys

EXAMPLE = "seqkern models pack factors/ -o factors.seqkern"
MORE_EXAMPLES = (
    "seqkern models list factors.seqkern",
    "seqkern variants factors.seqkern variants.vcf.gz --genome genome.fa -o scores.tsv",
    "seqkern predict factors.seqkern:CTCF new.fa -o decisions.tsv",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("action", choices=("pack", "list"), help="write one file, or print what is in it")
    parser.add_argument(
        "source",
        metavar="FOLDER|FILE",
        help="pack: folder with models of seqkern train and LS-GKM, named after their files; list: the packed file",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="pack: the file to write; list: a table (default: -)")


def run(args: argparse.Namespace) -> None:
    """Run the verb."""
    (_pack if args.action == "pack" else _list)(args)


def _pack(args: argparse.Namespace) -> None:
    """Write the models of a folder to one file."""
    # imported here to keep --help fast
    from pathlib import Path

    # imported here to keep --help fast
    from seqkern.core.archive import check_writable
    from seqkern.core.errors import ParameterError
    from seqkern.core.memory import format_bytes
    from seqkern.core.text_files import is_standard_output
    from seqkern.methods.loading import is_pack, pack_folder

    if args.output is None or is_standard_output(args.output):
        raise ParameterError("models pack writes a file", remedy="add -o FILE")
    if not Path(args.source).is_dir():
        raise ParameterError(f"{args.source} is not a folder", remedy="give a folder of model files")
    check_writable(args.output)
    count, others = pack_folder(args.source, args.output)
    for path in others:
        what = "holds several models" if is_pack(path) else "not a model"
        print(f"seqkern: {path}: {what}, left out", file=sys.stderr)
    size = format_bytes(Path(args.output).stat().st_size)
    print(f"seqkern: {args.output}: {count} models, {size}", file=sys.stderr)


def _list(args: argparse.Namespace) -> None:
    """Print a table of the models in a file."""
    # imported here to keep --help fast
    from dataclasses import astuple, fields

    # imported here to keep --help fast
    from seqkern.core.tsv import write_tsv
    from seqkern.methods.loading import PackedModel, read_pack

    columns = [field.name for field in fields(PackedModel)]
    write_tsv(args.output or "-", columns, map(astuple, read_pack(args.source)))
