"""Samples with several sequences: a table with ``--sequences``, or one FASTA file each with ``--view``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from seqkern.core.errors import ModelError, ParameterError, unknown_name

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel
    from seqkern.methods.model import Model
    from seqkern.sequences.sequence_set import SequenceSet


NOT_WITH_SEVERAL = {
    "track": "--track",
    "against": "--against",
    "window": "--window",
    "sites": "--sites",
    "genome": "--genome",
    "background": "--background",
    "states": "--states",
    "unlabelled": "--unlabelled",
    "profiles": "--profiles",
    "search_profiles": "--search-profiles",
}


def add_several(group: argparse._ActionsContainer) -> None:
    """Add the arguments for reading samples with several sequences."""
    group.add_argument(
        "--sequences",
        metavar="COLUMNS",
        help="columns of sequences, separated by commas, if each sample has several and the file is a table (TSV or "
        "CSV): a1,a2,a3, or with names for kernels, heavy=vh_seq,light=vl_seq; default for a model: as in training",
    )
    group.add_argument("--id-column", metavar="NAME", help="column of ids of that table (default: rows are numbered)")
    group.add_argument(
        "--missing",
        choices=("error", "skip", "keep"),
        help="samples that lack one of their sequences: refuse them, leave them out, or keep an empty sequence "
        "(default: error, or as in training)",
    )


def sequence_files(args: argparse.Namespace) -> dict[str, Any]:
    """Return the views given as arguments that are sequences, by name, as in a data-set entry; empty if none."""
    if not getattr(args, "view", None):
        return {}
    # imported here to keep --help fast
    from seqkern.study.vectors import holds_sequences

    return {name: file for name, file in args.view if holds_sequences(file)}


def sequence_names(args: argparse.Namespace) -> list[str]:
    """Return the names of the sequences of each sample; empty if each sample has a single one."""
    return list(sequence_files(args)) if args.sequences is None else list(_columns(args.sequences))


def several_entry(args: argparse.Namespace) -> dict[str, Any]:
    """Return the data-set keys for several sequences (``table``, or ``views`` and ``missing``); empty for single
    ones.
    """
    files = sequence_files(args)
    if args.sequences is None and not files:
        for option, value in {"--id-column": args.id_column, "--missing": args.missing}.items():
            if value is not None:
                raise ParameterError(f"{option} needs --sequences", remedy=f"name the columns, or remove {option}")
        return {}
    _check_alone(args)
    missing = {} if args.missing is None else {"missing": args.missing}
    if args.sequences is None:
        if args.fasta:
            raise ParameterError(
                f"{args.fasta[0]} has no name as a view, beside --view {next(iter(files))}=…",
                remedy=f"give every sequence as --view NAME={args.fasta[0]}, or a table with --sequences",
            )
        if args.id_column is not None:
            raise ParameterError("--id-column needs a table", remedy="remove it: FASTA records have ids")
        return {"views": files, **missing}
    if files or len(args.fasta) != 1:
        raise ParameterError(
            "--sequences needs one table" + (", and no view that is a FASTA file" if files else ""),
            remedy="give one file (TSV or CSV) with all sequences",
        )
    table = {"file": args.fasta[0], "sequences": _columns(args.sequences), **missing}
    return {"table": table if args.id_column is None else {**table, "id": args.id_column}}


def given_files(args: argparse.Namespace) -> list[str]:
    """Return the files of the samples, for messages."""
    return list(args.fasta) or [str(file["file"] if isinstance(file, dict) else file) for _, file in args.view]


def check_names(args: argparse.Namespace, wanted: Sequence[str]) -> None:
    """Raise ParameterError unless the sequences named by a kernel are given."""
    known = sequence_names(args)
    for name in wanted:
        if not known:
            raise ParameterError(
                f"the kernel compares the sequence {name!r} of each sample, but samples have a single sequence",
                remedy=f"name the columns of a table with --sequences, or give FASTA files with --view {name}=FILE.fa",
            )
        if name not in known:
            raise unknown_name("sequence view", name, known)


def fill_fasta(args: argparse.Namespace) -> None:
    """Set the input ``fasta`` of a verb that applies a model, if its sequences are given only as views."""
    files = sequence_files(args)
    if args.fasta is None and not files:
        raise ParameterError("no sequences given", remedy="give a file after the model, or --view NAME=FILE for each")
    if args.fasta is None:
        first = next(iter(files.values()))
        args.fasta = str(first["file"] if isinstance(first, dict) else first)
    elif files:
        raise ParameterError(
            f"{args.fasta} has no name as a view", remedy=f"give it as --view NAME={args.fasta}, or give one table"
        )


def read_several(model: Model, args: argparse.Namespace, policies: Mapping[str, str]) -> SequenceSet:
    """Return new samples with several sequences, read as the training samples were."""
    # imported here to keep --help fast
    from seqkern.study.several_sequences import NOTE, SequenceFiles, SequenceTable, SequenceView

    wanted = {name: view.alphabet for name, view in model.sequence_views.items()}
    note = model.record.get(NOTE, {})
    _check_alone(args)
    missing = args.missing or note.get("missing", "error")
    files = sequence_files(args)
    given = files or (
        _columns(args.sequences) if args.sequences else note.get("columns", {name: name for name in wanted})
    )
    for name in given:
        if name not in wanted:
            raise unknown_name(f"sequence view of {args.model}", name, list(wanted))
    for name in wanted:
        if name not in given:
            how = f"--view {name}=FILE" if files else f"{name}=COLUMN to --sequences"
            raise ModelError(
                f"compares the sequences {', '.join(wanted)}, and {name!r} is not given",
                file=args.model,
                remedy=f"add {how}",
            )
    places = {name: str(place["file"] if isinstance(place, dict) else place) for name, place in given.items()}
    views = tuple(SequenceView(name, places[name]) for name in wanted)
    source: SequenceFiles | SequenceTable
    if files:
        source = SequenceFiles(views, missing)
    else:
        source = SequenceTable(args.fasta, views, args.id_column or note.get("id"), missing)
    return source.read(".", policies, wanted).sequences


def read_given(args: argparse.Namespace, kernel: Kernel, policies: Mapping[str, str]) -> SequenceSet | None:
    """Return unlabelled samples with several sequences for a kernel; None if the arguments name none."""
    entry = several_entry(args)
    if not getattr(args, "dataset", None):  # which has its own
        check_names(args, kernel.traits.sequence_views)
    if not entry:
        return None
    # imported here to keep --help fast
    from seqkern.study.data_entry import DataEntry, SeveralSequences

    source = DataEntry.parse(entry).source
    assert isinstance(source, SeveralSequences)
    return source.read(".", policies).sequences


def _check_alone(args: argparse.Namespace) -> None:
    """Raise ParameterError for an option that needs samples with a single sequence."""
    for name, option in NOT_WITH_SEVERAL.items():
        if getattr(args, name, None):
            raise ParameterError(f"{option} does not work with several sequences", remedy=f"remove {option}")


def _columns(text: str) -> dict[str, str]:
    """Return the column of each view from ``a1,a2`` or ``heavy=vh,light=vl``."""
    columns: dict[str, str] = {}
    for item in text.split(","):
        name, _, column = (part.strip() for part in item.partition("="))
        if not name or name in columns:
            what = f"names {name!r} twice" if name else "has an empty name"
            raise ParameterError(
                f"--sequences {text} {what}", remedy="separate different names by commas, such as a1,a2,a3"
            )
        columns[name] = column or name
    return columns


# ``--view``: vectors of the sequences, such as embeddings, for kernels that name a view, or further sequences.


def add_views(group: argparse._ActionsContainer) -> None:
    """Add the files of views."""
    group.add_argument(
        "--view",
        action="append",
        default=[],
        type=_view,
        metavar="NAME=FILE",
        help="vectors of the sequences, such as embeddings, for a kernel with view=NAME: .npy, .npz, HDF5, Parquet or "
        "TSV, matched by id; ids of .npy from the file .ids beside it, or from NAME=FILE,ids=FILE; or, in FASTA "
        "(.fa, .fasta, …), one of several sequences of each sample; repeatable",
    )
    add_several(group)


def _view(text: str) -> tuple[str, str | dict[str, str]]:
    """Return name and entry of ``name=file`` or ``name=file,ids=file``."""
    name, _, file = text.partition("=")
    file, _, ids = file.partition(",ids=")
    if not name or not file:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=FILE; write for example esm=embeddings.h5")
    return name, {"file": file, "ids": ids} if ids else file


def views_of(args: argparse.Namespace, kernel: Kernel) -> dict[str, str | dict[str, str]]:
    """Return the vector views for the data-set entry ``views``, in the order of the kernel; empty if it reads none."""
    sequences = sequence_files(args)
    wanted = [name for name in kernel.traits.views if name not in kernel.traits.sequence_views]
    names = [name for name, _ in args.view]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise ParameterError(f"the view {name!r} is given twice", remedy="remove one of them")
        if name in sequences:
            continue
        if not wanted:
            raise ParameterError(
                f"the kernel {kernel.name!r} reads no view",
                remedy=f"remove --view {name}=…, or name the view in the kernel: rbf:view={name}",
            )
        if name not in wanted:
            raise unknown_name(f"view of {kernel.name}", name, wanted)
    for name in wanted:
        if name not in names:
            raise ParameterError(
                f"the kernel {kernel.name!r} needs the view {name!r}", remedy=f"add --view {name}=FILE"
            )
    given = dict(args.view)
    return {name: given[name] for name in wanted}


def read_views(
    args: argparse.Namespace, kernel: Kernel, of_residues: bool = False
) -> Callable[[SequenceSet], SequenceSet]:
    """Return a function that adds the views that a kernel reads to a SequenceSet."""
    entry = views_of(args, kernel)
    if not entry:
        return lambda X: X
    # imported here to keep --help fast
    from seqkern.study.vectors import View, parse_views

    views = [View(options) for options in parse_views(entry)]

    def add(X: SequenceSet) -> SequenceSet:
        for view in views:
            X = view.add_to_residues(X) if of_residues else view.add_to(X)
        return X

    return add
