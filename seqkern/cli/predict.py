"""``seqkern predict``: a model applied to FASTA of any length in bounded memory, record by record or site by site."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from seqkern.cli.common import unrecognised, with_fasta
from seqkern.cli.new_sequences import read_chunks
from seqkern.cli.output import (
    added,
    as_part,
    gather,
    keep_strongest,
    log_counts,
    log_formulas,
    log_strongest,
    naming_file,
    prediction_writer,
    warn,
)
from seqkern.cli.requests import TABLES
from seqkern.cli.requests_models import PredictRequest
from seqkern.cli.scan import log_scanned, run_scan
from seqkern.core.errors import ModelError, ParameterError
from seqkern.core.memory import available_memory, format_bytes
from seqkern.core.parts import Part, PartFolder
from seqkern.core.progress import memory_in_use, progress_bar, progress_counter
from seqkern.core.text_files import is_standard_output, source_name
from seqkern.core.tsv import check_ending, format_cell, table_text
from seqkern.core.types import Floats
from seqkern.evaluation.metrics import LEVEL
from seqkern.formats.signals import Track
from seqkern.methods.loading import is_pack, load_model, parse_model_args
from seqkern.methods.model import Model, find_probabilities
from seqkern.methods.novelty import VALUES, first_residues, known_samples, outside
from seqkern.methods.residue_model import ResidueModel
from seqkern.methods.scan import decision_columns
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
    return Path(word).is_dir() or is_pack(word)


def load_several(request: PredictRequest) -> dict[str, Model]:
    """Return the models by name, all for the same kind of sequences."""
    given = parse_model_args([request.model])
    option = next(filter(request.has, FOR_ONE), None)
    if option is not None:
        raise ParameterError(
            f"{request.flag(option)} needs one model, and {request.model} means {len(given)}",
            remedy=f"give one, such as {given[0].word}",
        )
    models: dict[str, Model] = {}
    room, before = SHARE * available_memory(), memory_in_use()
    for one in progress_bar(given, "models"):
        model = load_model(one.word)
        first = next(iter(models.values()), model)
        if not isinstance(model, Model) or model.alphabet is None:
            raise ModelError("does not classify whole sequences", file=one.word, remedy="leave it out")
        if model.kernel.traits.tracks or model.kernel.traits.views:
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


def gather_predictions(request: PredictRequest) -> None:
    """Join the parts of the predictions."""
    notes = gather(request, [request.model], [request.fasta], _big_wig)
    if notes is None:
        return
    log_counts(added([note["counts"] for note in notes]), request.fasta)
    if request.scan is not None:
        log_scanned(source_name(request.fasta), notes)


def _big_wig(folder: PartFolder, name: str, notes: list[Any]) -> bool:
    """Write a bigWig file from the values of all parts; return False for other files."""
    if name not in notes[0]:
        return False

    with Track() as track:
        for number, note in enumerate(notes, start=1):
            track.load(folder.path(Part(number, len(notes))) / name, note[name])
        track.write(folder.output.with_name(name), notes[0]["lengths"])
    return True


Lines = Callable[[SequenceSet | FeatureTable, Counter[str]], str]

BLOCK = 4096
"""Records predicted at a time; an interrupted run keeps the complete blocks."""


def run(request: PredictRequest) -> None:
    """Run the verb."""
    if request.output is not None and is_standard_output(request.output):
        request = request.but(output=None)
    if request.gather:
        gather_predictions(request)
        return
    if means_several(request.model):
        models = load_several(request)
        _check_interval(request, *models.values())
        _run(request, models, {})
        return
    request = with_fasta(request)
    model = load_model(request.model)
    _check_interval(request, model)
    if isinstance(model, ResidueModel):
        # imported here: other models do not need SciPy
        from seqkern.cli.predict_residues import run_residues

        with as_part(request, [request.model], [request.fasta]) as (request, notes):
            if notes is not None:
                run_residues(request, model, notes)
        return
    _check_no_states(request)
    if model.alphabet is None and (request.scan is not None or request.sites is not None or request.fasta == "-"):
        raise ModelError("was trained on a feature table", file=request.model, remedy="give a table as a file")
    with as_part(request, [request.model], [request.fasta]) as (request, notes):
        if notes is not None:
            if request.scan is None:
                _run(request, {"": model}, notes)
            else:
                run_scan(request, model, notes)


def _check_no_states(request: PredictRequest) -> None:
    """Raise an error for an option of residue models if the model classifies whole sequences."""
    for name, given in (("--track", request.draws), ("--states", request.states is not None)):
        if given:
            raise ParameterError(
                f"{name} needs a residue model, but this model classifies whole sequences",
                file=request.model,
                remedy=f"remove {name}, or train a residue model with seqkern train --states",
            )


def _check_interval(request: PredictRequest, *models: Model | ResidueModel) -> None:
    """Raise an error for an invalid level, or if no model gives intervals."""
    if request.interval is None:
        return
    gives = any(isinstance(one, Model) and one.kind == "real" and one.solver.traits.variances for one in models)
    if not gives or request.scan is not None:
        raise ModelError(
            "gives no prediction intervals",
            file=request.model,
            remedy="remove --interval, or train with --solver gp_regression",
        )


def _run(request: PredictRequest, models: dict[str, Model], notes: dict[str, Any]) -> None:
    """Write a table of the predictions of several models, whose names follow the column names."""
    if request.output is not None:
        check_ending(request.output, (*TABLES, ".gz"))
    columns = [one + f"_{name}" * bool(name) for name, model in models.items() for one in _columns(model, request)]
    head = "\t".join(map(format_cell, ["id", *columns])) + "\n"
    model, first = next(iter(models.values())), list[SequenceSet | FeatureTable]()
    seen = {name: Seen() for name in models}

    def lines_of(X: SequenceSet | FeatureTable, counts: Counter[str]) -> str:
        if not first:
            some = X.take(slice(0, FIRST))
            first.append(first_residues(some) if isinstance(some, SequenceSet) else some)
        values: list[Sequence[Any]] = [X.ids]
        for name, model in models.items():
            values += _predictions(model, X, request, counts, seen[name])
        return "".join("\t".join(map(format_cell, row)) + "\n" for row in zip(*values, strict=True))

    done, counts = _predict(request, model, head, lines_of)
    notes["counts"] = dict(counts)
    log_counts(counts, source_name(request.fasta))
    for text in novelty(model, first[0], done) if first else ():
        warn(f"{source_name(request.fasta)}: {text}")
    for name, model in models.items():
        for text in unrecognised(model):
            warn(f"{request.model}{f':{name}' * bool(name)}: {text}")
    if request.part is None:
        title = "largest predictions:" if model.kind == "real" else "highest decision values:"
        lines = [_summary(name, model, seen[name], done) for name, model in models.items()]
        log_strongest(request.output, lines, title, seen[""].best if "" in seen else [])


@dataclass
class Seen:
    """What was predicted for the records so far."""

    predicted: Counter[str] = field(default_factory=Counter)  # Records by class; all under "" without classes
    best: list[tuple[float, str]] = field(default_factory=list)  # The strongest

    def add(self, model: Model, ids: Sequence[str], decisions: Floats, predicted: list[Any]) -> None:
        """Add some records."""
        self.predicted.update(predicted if model.kind in ("binary", "multiclass") and predicted else [""] * len(ids))
        tops = decisions if decisions.ndim == 1 else decisions.max(axis=1, initial=-np.inf)
        if not model.projects:
            words = [""] * len(ids) if model.kind == "real" else predicted
            keep_strongest(self.best, tops, lambda i: f"{tops[i]:<9.4g} {ids[i]} {words[i]}".rstrip())


def _summary(name: str, model: Model, seen: Seen, done: int) -> str:
    """Return a line on what was predicted."""
    total = seen.predicted.total()
    rest = "" if total == done else f" after those of an interrupted run, {done:,} in all"
    rule = {model.classes[1]: f" ({model.cut.words})"} if model.kind == "binary" else {}
    counts = [f"{seen.predicted[one]:,} {one}{rule.get(one, '')}" for one in reversed(model.classes)]
    told = ": " + ", ".join(counts) if model.kind in ("binary", "multiclass") and not model.projects else ""
    return f"{f'{name}: ' * bool(name)}{total:,} records{rest}{told}"


FIRST = 1000
"""Records of a file, at most, that are compared with the training."""
FEW = 0.05
"""Share of records outside the range of the training up to which nothing is said."""
UNLIKE = {
    "length": "{} in length (expected: {:,.0f} to {:,.0f})",
    "gc": "{} in GC content (expected: {:.0%} to {:.0%})",
    "known": "{} with few k-mers of the training (expected: {:.0%} or more)",
    "positions": "{} with mutations at positions that no training sequence varies",
    "mutations": "{0} with more mutations than any training sequence ({2:.0f})",
}
"""Reasons why records are unlike the training samples, with their number and the ends of the range."""


def novelty(model: Model, X: SequenceSet | FeatureTable, total: int) -> Iterator[str]:
    """Yield warnings about the first records of a file: those trained on, and those unlike all that were."""
    known = known_samples(model.record, X)
    n = f"{len(X)} records" if len(X) == total else f"the first {len(X)} records"
    if known is not None and known.any():
        yield f"{int(known.sum())} of {n} are training samples of the model: their decisions say nothing about new ones"
    found = outside(model.record, X) if isinstance(X, SequenceSet) and len(X) and len(model.sequence_views) <= 1 else {}
    away = np.any([mask for mask, _, _ in found.values()], axis=0) if found else np.zeros(1, dtype=bool)
    if away.mean() > FEW:
        each = [UNLIKE[name].format(int(mask.sum()), *ends) for name, (mask, *ends) in found.items() if mask.any()]
        yield (
            f"{int(away.sum())} of {n} are unlike the training samples of the model, {', '.join(each)}: do not rely on "
            f"their decisions; the first is {X.ids[int(away.argmax())]!r}"
        )


def _predict(request: PredictRequest, model: Model, head: str, lines_of: Lines) -> tuple[int, Counter[str]]:
    """Write the predictions, block by block; return the number of records, and the counts of the reading policies."""
    done, counts, told = 0, Counter[str](), False
    with contextlib.ExitStack() as stack:
        out = stack.enter_context(prediction_writer(request))
        show = stack.enter_context(progress_counter("predict", " records"))
        stack.enter_context(naming_file(source_name(request.fasta)))
        for number, X in enumerate(_blocks(model, request, counts)):
            told = told or log_formulas(X.ids, request)
            if number >= out.complete:
                lines = lines_of(X, counts)
                if number == 0 and (request.part is None or request.part.number == 1):
                    # an error in the first record leaves standard output empty
                    out.write(table_text(head))
                out.write(table_text(lines))
                out.end_block()
            done += len(X)
            if show is not None:
                show(done)
    return done, counts


def _blocks(model: Model, request: PredictRequest, counts: Counter[str]) -> Iterator[SequenceSet | FeatureTable]:
    """Yield the new samples in blocks, at least one, and add up the counts of the reading policies."""
    for X in read_chunks(model, request):
        counts.update(X.counts)
        for start in range(0, max(len(X), 1), BLOCK):
            yield X.take(slice(start, start + BLOCK))


def _columns(model: Model, request: PredictRequest) -> list[str]:
    """Return the columns of a model."""
    more = []
    if model.solver.traits.variances:
        percent = f"{100 * (request.interval or LEVEL):.10g}"
        more = ["sd", f"lower_{percent}", f"upper_{percent}"] if model.kind == "real" else ["sd"]
        if model.kind == "binary" and model.calibration is None:
            more = ["probability", *more]
    return [*decision_columns(model), *more, *["predicted"] * (not model.projects)]


def _predictions(
    model: Model, X: SequenceSet | FeatureTable, request: PredictRequest, counts: Counter[str], seen: Seen
) -> list[list[Any]]:
    """Return the values of a model's columns; count negative variances, and what is predicted."""
    decisions, variances = model.decision_and_variances(X, n_threads=request.threads)
    values = [decisions]
    if VALUES in model.record and decisions.ndim == 1:
        low, high = model.record[VALUES]
        what = f"predictions beyond the values of the training ({low:.4g} to {high:.4g})"
        counts[what] += int(((decisions < low) | (decisions > high)).sum())
    probabilities = find_probabilities(model.solver, model.calibration, decisions, variances)
    if probabilities is not None:
        values.append(probabilities)
    if variances is not None:
        counts["variances below zero by rounding, set to 0"] += variances.clipped
        values.append(np.sqrt(variances.observed))
        if model.kind == "real":
            values.extend(variances.interval(decisions, request.interval or LEVEL))
    columns = np.column_stack(values).T.tolist()
    predicted = [] if model.projects else model.classify(decisions).tolist()
    seen.add(model, X.ids, decisions, predicted)
    return columns if model.projects else [*columns, predicted]
