"""``seqkern predict``: a model applied to FASTA of any length in bounded memory, record by record or site by site."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqkern.cli.common import add_policies, add_threads, add_tracks, log_counts, naming_file, unrecognised
from seqkern.cli.new_sequences import load_given, read_chunks
from seqkern.cli.output import add_parts, add_spreadsheet_safe, added, as_part, gather, log_formulas, prediction_writer
from seqkern.cli.predict_residues import DRAWN, add_states, check_no_states, check_residues, run_residues, split_tracks
from seqkern.cli.regions import add_given_sites, add_regions
from seqkern.cli.scan import add_scan, check_no_scan, run_scan
from seqkern.core.parts import Part
from seqkern.core.text_files import is_standard_output

if TYPE_CHECKING:
    from collections import Counter

    from seqkern.core.parts import PartFolder
    from seqkern.methods.model import Model
    from seqkern.methods.residue_model import ResidueModel
    from seqkern.sequences.sequence_set import SequenceSet
    from seqkern.sequences.tables import FeatureTable


# ``seqkern predict`` with all models of a folder or of one file, each with its own columns.

FOR_ONE = ("scan", "sites", "states", "track", "view", "profiles", "search_profiles", "part", "gather")
"""Options that require a single model."""
SHARE = 0.5
"""Share of the available memory for the models."""
LEAST = 1 << 26
"""Minimum bytes taken by the first models before the memory of all is predicted."""


def means_several(word: str) -> bool:
    """Return whether an argument names several models: a folder, or a file of ``seqkern models pack``."""
    # imported here to keep --help fast
    from seqkern.methods.loading import is_pack

    return Path(word).is_dir() or is_pack(word)


def load_several(args: argparse.Namespace) -> dict[str, Model]:
    """Return the models by name, all for the same kind of sequences."""
    # imported here to keep --help fast
    from seqkern.core.errors import ModelError, ParameterError
    from seqkern.core.memory import available_memory, format_bytes
    from seqkern.core.progress import memory_in_use, progress_bar
    from seqkern.methods.loading import load_model, parse_model_args
    from seqkern.methods.model import Model
    from seqkern.sequences.sequence_set import SequenceSet

    given = parse_model_args([args.model])
    option = next((name for name in FOR_ONE if getattr(args, name, None) not in (None, False, [])), None)
    if option is not None:
        raise ParameterError(
            f"--{option.replace('_', '-')} needs one model, and {args.model} means {len(given)}",
            remedy=f"give one, such as {given[0].word}",
        )
    models: dict[str, Model] = {}
    room, before = SHARE * available_memory(), memory_in_use()
    for one in progress_bar(given, "models"):
        model = load_model(one.word)
        first = next(iter(models.values()), model)
        if not isinstance(model, Model) or model.alphabet is None:
            raise ModelError("does not classify whole sequences", file=one.word, remedy="leave it out")
        if model.kernel.tracks or model.kernel.views:
            raise ModelError("needs tracks or views", file=one.word, remedy="apply it alone")
        if any(getattr(model, name) != getattr(first, name) for name in ("alphabet", "policies", "window")):
            raise ModelError(f"reads other sequences than {given[0].word}", file=one.word, remedy="apply it alone")
        model.decision(SequenceSet.from_strings([], model.alphabet))  # makes its tables
        models[one.name] = model
        taken = memory_in_use() - before
        needed = taken / len(models) * len(given)
        if taken > LEAST and needed > room:
            raise ParameterError(
                f"{len(given)} models need about {format_bytes(needed)}, more than half of the memory that was left",
                remedy=f"give one at a time, such as {given[0].word}",
            )
    return models


# ``seqkern predict --gather``: joining the parts of predictions.


def gather_predictions(args: argparse.Namespace) -> None:
    """Join the parts of the predictions."""
    notes = gather(args, [args.model], [args.fasta], _big_wig)
    if notes is None:
        return
    log_counts(added([note["counts"] for note in notes]), args.fasta)


def _big_wig(folder: PartFolder, name: str, notes: list[Any]) -> bool:
    """Write a bigWig file from the values of all parts; return False for other files."""
    if name not in notes[0]:
        return False
    # imported here to keep --help fast
    from seqkern.formats.signals import Track

    with Track() as track:
        for number, note in enumerate(notes, start=1):
            track.load(folder.path(Part(number, len(notes))) / name, note[name])
        track.write(folder.output.with_name(name), notes[0]["lengths"])
    return True


if TYPE_CHECKING:
    Lines = Callable[[SequenceSet | FeatureTable, Counter[str]], str]


BLOCK = 4096
"""Records predicted at a time; an interrupted run keeps the complete blocks."""

EXAMPLE = "seqkern predict model.seqkern donors.fasta > predictions.tsv"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "model",
        help="model file of seqkern train or LS-GKM; FILE:NAME: one of a file of several; such a file or a folder: "
        "all of them, with the model's name after that of each column",
    )
    parser.add_argument(
        "fasta",
        nargs="?",
        help="FASTA of new sequences, - for standard input; BED with --genome; or a feature table, as in training",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="output file; -: standard output (the default)")
    parser.add_argument(
        "--interval",
        type=float,
        metavar="SHARE",
        help="level of the prediction intervals (lower, upper) of a Gaussian process regression (default: 0.9)",
    )
    add_spreadsheet_safe(parser)
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
    """Run the verb."""
    # imported here to keep --help fast
    from seqkern.core.errors import ModelError
    from seqkern.methods.residue_model import ResidueModel

    if args.output is not None and is_standard_output(args.output):
        args.output = None
    split_tracks(args)
    if args.scan is None:
        check_no_scan(args)
    if args.gather:
        gather_predictions(args)
        return
    if means_several(args.model):
        models = load_several(args)
        _check_interval(args, *models.values())
        _run(args, models, {})
        return
    model = load_given(args)
    _check_interval(args, model)
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
            if args.scan is None:
                _run(args, {"": model}, notes)
            else:
                run_scan(args, model, notes)


def _check_interval(args: argparse.Namespace, *models: Model | ResidueModel) -> None:
    """Raise an error for an invalid level, or if no model gives intervals."""
    # imported here to keep --help fast
    from seqkern.core.checks import check_real
    from seqkern.core.errors import ModelError
    from seqkern.methods.model import Model

    if args.interval is None:
        return
    check_real("interval", args.interval, 0, 1, open_low=True, open_high=True)
    gives = any(isinstance(one, Model) and one.kind == "real" and one.solver.traits.variances for one in models)
    if not gives or args.scan is not None:
        raise ModelError(
            "gives no prediction intervals",
            file=args.model,
            remedy="remove --interval, or train with --solver gp_regression",
        )


def _run(args: argparse.Namespace, models: dict[str, Model], notes: dict[str, Any]) -> None:
    """Write a table of the predictions of several models, whose names follow the column names."""
    # imported here to keep --help fast
    from seqkern.core.text_files import source_name
    from seqkern.core.tsv import format_cell

    columns = [column + f"_{name}" * bool(name) for name, model in models.items() for column in _columns(model)]
    head = "\t".join(map(format_cell, ["id", *columns])) + "\n"
    counts = _predict(args, next(iter(models.values())), head, lambda X, counts: _lines(models, X, args, counts))
    notes["counts"] = dict(counts)
    log_counts(counts, source_name(args.fasta))
    for name, model in models.items():
        for text in unrecognised(model):
            print(f"seqkern: warning: {args.model}{f':{name}' * bool(name)}: {text}", file=sys.stderr)


def _predict(args: argparse.Namespace, model: Model, head: str, lines_of: Lines) -> Counter[str]:
    """Write the predictions, block by block; return the counts of the reading policies."""
    # imported here to keep --help fast
    from collections import Counter

    # imported here to keep --help fast
    from seqkern.core.progress import progress_counter
    from seqkern.core.text_files import source_name
    from seqkern.core.tsv import table_text

    done, counts, told = 0, Counter[str](), False
    with contextlib.ExitStack() as stack:
        out = stack.enter_context(prediction_writer(args))
        show = stack.enter_context(progress_counter("predict", " records"))
        stack.enter_context(naming_file(source_name(args.fasta)))
        for number, X in enumerate(_blocks(model, args, counts)):
            told = told or log_formulas(X.ids, args)
            if number >= out.complete:
                lines = lines_of(X, counts)
                if number == 0 and (args.part is None or args.part.number == 1):
                    # an error in the first record leaves standard output empty
                    out.write(table_text(head))
                out.write(table_text(lines))
                out.end_block()
            done += len(X)
            if show is not None:
                show(done)
    return counts


def _blocks(model: Model, args: argparse.Namespace, counts: Counter[str]) -> Iterator[SequenceSet | FeatureTable]:
    """Yield the new samples in blocks, at least one, and add up the counts of the reading policies."""
    for X in read_chunks(model, args):
        counts.update(X.counts)
        for start in range(0, max(len(X), 1), BLOCK):
            yield X.take(slice(start, start + BLOCK))


def _columns(model: Model) -> list[str]:
    """Return the columns of a model."""
    # imported here to keep --help fast
    from seqkern.methods.scan import decision_columns

    more = []
    if model.solver.traits.variances:
        more = ["sd", "lower", "upper"] if model.kind == "real" else ["sd"]
        if model.kind == "binary" and model.calibration is None:
            more = ["probability", *more]
    return [*decision_columns(model), *more, *["predicted"] * (not model.projects)]


def _lines(
    models: dict[str, Model], X: SequenceSet | FeatureTable, args: argparse.Namespace, counts: Counter[str]
) -> str:
    """Return the lines of some samples, and count negative variances."""
    # imported here to keep --help fast
    from seqkern.core.tsv import format_cell

    columns: list[Sequence[Any]] = [X.ids]
    for model in models.values():
        columns += _predictions(model, X, args, counts)
    return "".join("\t".join(map(format_cell, row)) + "\n" for row in zip(*columns, strict=True))


def _predictions(
    model: Model, X: SequenceSet | FeatureTable, args: argparse.Namespace, counts: Counter[str]
) -> list[list[Any]]:
    """Return the values of a model's columns, and count negative variances."""
    # imported here to keep --help fast
    import numpy as np

    # imported here to keep --help fast
    from seqkern.methods.model import find_probabilities

    decisions, variances = model.decision_and_variances(X, n_threads=args.threads)
    values = [decisions]
    probabilities = find_probabilities(model.solver, model.calibration, decisions, variances)
    if probabilities is not None:
        values.append(probabilities)
    if variances is not None:
        counts["variances below zero by rounding, set to 0"] += variances.clipped
        values.append(np.sqrt(variances.observed))
        if model.kind == "real":
            values.extend(variances.interval(decisions, 0.9 if args.interval is None else args.interval))
    columns = np.column_stack(values).T.tolist()
    return columns if model.projects else [*columns, model.classify(decisions).tolist()]
