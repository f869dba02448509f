"""Samples with several sequences: a table with ``--sequences``, or one FASTA file each with ``--view``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from seqkern.cli.requests import Tracks
from seqkern.cli.requests_models import NewSamples
from seqkern.core.errors import ModelError, ParameterError, unknown_name
from seqkern.kernels.kernel import Kernel
from seqkern.methods.model import Model
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.study.data_entry import DataEntry, SeveralSequences
from seqkern.study.several_sequences import NOTE, SequenceFiles, SequenceTable, SequenceView
from seqkern.study.vectors import View, holds_sequences, parse_views

AnySamples = TypeVar("AnySamples", bound=NewSamples)

NOT_WITH_SEVERAL = (
    *("track", "against", "window", "sites", "genome", "background", "states", "unlabelled", "profiles"),
    "search_profiles",
)
"""Options that need samples with a single sequence."""


def sequence_files(request: Tracks) -> dict[str, Any]:
    """Return the views given as arguments that are sequences, by name, as in a data-set entry; empty if none."""
    if not getattr(request, "view", None):
        return {}

    return {name: file for name, file in request.view if holds_sequences(file)}


def sequence_names(request: Tracks) -> list[str]:
    """Return the names of the sequences of each sample; empty if each sample has a single one."""
    return list(sequence_files(request)) if request.sequences is None else list(_columns(request.sequences))


def several_entry(request: Tracks) -> dict[str, Any]:
    """Return the data-set keys for several sequences (``table``, or ``views`` and ``missing``); empty for single
    ones.
    """
    files = sequence_files(request)
    if request.sequences is None and not files:
        request.refuse("needs --sequences", "id_column", "missing")
        return {}
    request.refuse("does not work with several sequences", *NOT_WITH_SEVERAL)
    missing = {} if request.missing is None else {"missing": request.missing}
    if request.sequences is None:
        if request.fasta:
            raise ParameterError(
                f"{request.fasta[0]} has no name as a view, beside --view {next(iter(files))}=…",
                remedy=f"give every sequence as --view NAME={request.fasta[0]}, or a table with --sequences",
            )
        if request.id_column is not None:
            raise ParameterError("--id-column needs a table", remedy="remove it: FASTA records have ids")
        return {"views": files, **missing}
    if files or len(request.fasta) != 1:
        raise ParameterError(
            "--sequences needs one table" + (", and no view that is a FASTA file" if files else ""),
            remedy="give one file (TSV or CSV) with all sequences",
        )
    table = {"file": request.fasta[0], "sequences": _columns(request.sequences), **missing}
    return {"table": table if request.id_column is None else {**table, "id": request.id_column}}


def given_files(request: Tracks) -> list[str]:
    """Return the files of the samples, for messages."""
    return list(request.fasta) or [str(file["file"] if isinstance(file, dict) else file) for _, file in request.view]


def check_names(request: Tracks, wanted: Sequence[str]) -> None:
    """Raise ParameterError unless the sequences named by a kernel are given."""
    known = sequence_names(request)
    for name in wanted:
        if not known:
            raise ParameterError(
                f"the kernel compares the sequence {name!r} of each sample, but samples have a single sequence",
                remedy=f"name the columns of a table with --sequences, or give FASTA files with --view {name}=FILE.fa",
            )
        if name not in known:
            raise unknown_name("sequence view", name, known)


def with_fasta(request: AnySamples) -> AnySamples:
    """Return the request of a verb that applies a model, with the input `fasta` if only views give its sequences."""
    files = sequence_files(request)
    if request.fasta is None and not files:
        raise ParameterError("no sequences given", remedy="give a file after the model, or --view NAME=FILE for each")
    if request.fasta is None:
        first = next(iter(files.values()))
        return request.but(fasta=str(first["file"] if isinstance(first, dict) else first))
    if files:
        raise ParameterError(
            f"{request.fasta} has no name as a view",
            remedy=f"give it as --view NAME={request.fasta}, or give one table",
        )
    return request


def read_several(model: Model, request: NewSamples, policies: Mapping[str, str]) -> SequenceSet:
    """Return new samples with several sequences, read as the training samples were."""
    wanted = {name: view.alphabet for name, view in model.sequence_views.items()}
    note = model.record.get(NOTE, {})
    request.refuse("does not work with several sequences", *NOT_WITH_SEVERAL)
    missing = request.missing or note.get("missing", "error")
    files = sequence_files(request)
    given = files or (
        _columns(request.sequences) if request.sequences else note.get("columns", {name: name for name in wanted})
    )
    for name in given:
        if name not in wanted:
            raise unknown_name(f"sequence view of {request.model}", name, list(wanted))
    for name in wanted:
        if name not in given:
            how = f"--view {name}=FILE" if files else f"{name}=COLUMN to --sequences"
            raise ModelError(
                f"compares the sequences {', '.join(wanted)}, and {name!r} is not given",
                file=request.model,
                remedy=f"add {how}",
            )
    places = {name: str(place["file"] if isinstance(place, dict) else place) for name, place in given.items()}
    views = tuple(SequenceView(name, places[name]) for name in wanted)
    source: SequenceFiles | SequenceTable
    if files:
        source = SequenceFiles(views, missing)
    else:
        source = SequenceTable(request.fasta, views, request.id_column or note.get("id"), missing)
    return source.read(".", policies, wanted).sequences


def read_given(request: Tracks, kernel: Kernel, policies: Mapping[str, str]) -> SequenceSet | None:
    """Return unlabelled samples with several sequences for a kernel; None if the arguments name none."""
    entry = several_entry(request)
    if not getattr(request, "dataset", None):  # which has its own
        check_names(request, kernel.sequence_views)
    if not entry:
        return None

    source = DataEntry.parse(entry).source
    assert isinstance(source, SeveralSequences)
    return source.read(".", policies).sequences


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


def views_of(request: Tracks, kernel: Kernel) -> dict[str, str | dict[str, str]]:
    """Return the vector views for the data-set entry ``views``, in the order of the kernel; empty if it reads none."""
    sequences = sequence_files(request)
    wanted = [name for name in kernel.views if name not in kernel.sequence_views]
    names = [name for name, _ in request.view]
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
    given = dict(request.view)
    return {name: given[name] for name in wanted}


def read_views(request: Tracks, kernel: Kernel, of_residues: bool = False) -> Callable[[SequenceSet], SequenceSet]:
    """Return a function that adds the views that a kernel reads to a SequenceSet."""
    entry = views_of(request, kernel)
    if not entry:
        return lambda X: X

    views = [View(options) for options in parse_views(entry)]

    def add(X: SequenceSet) -> SequenceSet:
        for view in views:
            X = view.add_to_residues(X) if of_residues else view.add_to(X)
        return X

    return add
