"""``seqkern cv``: the score of one method, fold by fold, without a study."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from seqkern.cli.output import (
    FINISHED,
    check_result_folder,
    log,
    log_folds,
    log_formulas,
    metric_name,
    naming_file,
    result_folder,
    warn,
)
from seqkern.cli.requests_training import CvRequest, MethodRequest
from seqkern.cli.training_input import Input, chosen_method, log_fewer_folds, read_input, read_training, with_columns
from seqkern.core.archive import atomic_write
from seqkern.core.checkpoint import Checkpoint, CheckpointFolder
from seqkern.core.checks import check_integer
from seqkern.core.errors import FoldError, LabelError
from seqkern.core.progress import progress_bar, progress_counter
from seqkern.core.threads import given_threads
from seqkern.core.tsv import aligned, write_tsv
from seqkern.evaluation.auto import default_metric, default_solver
from seqkern.evaluation.chance import SHARED_TRAINING, PermutationTest
from seqkern.evaluation.estimates import Estimate, estimates
from seqkern.evaluation.fold_methods import DESIGNS, options_of
from seqkern.evaluation.fold_tables import FoldResult, fold_remarks, write_results
from seqkern.evaluation.folds import Split
from seqkern.evaluation.intervals import auc_ends, too_few
from seqkern.evaluation.selection import Choice
from seqkern.kernels.kernel_specs import kernel_words
from seqkern.methods.baselines import BASELINES, VERDICTS, Rival, p_words, rivals
from seqkern.methods.crossval import OuterFolds, as_record, check_splits, cross_validate, procedure_test
from seqkern.methods.method import FEWEST_SHARED, Method, identity_of
from seqkern.methods.sources import FitData
from seqkern.methods.training import SampleGroups, collect_training_data, group_samples
from seqkern.sequences.fasta import read_fasta
from seqkern.sequences.labels import MOST_NAMED, Labels, what_it_learns
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.similarity import similar_groups
from seqkern.solvers.costs import WITHOUT_FOLDS
from seqkern.solvers.solver_specs import solver_words

# The cross-validation of ``seqkern cv`` and ``seqkern train --cv``: arguments, computation and printed output.


class CrossValidated(NamedTuple):
    """The result of a cross-validation, and its design; the headline is the first of `scores`."""

    labels: Labels  # Of the samples used, with the groups kept together
    outer: OuterFolds  # The design
    splits: Sequence[Split]  # The outer folds
    results: Sequence[FoldResult]  # Of each fold
    scores: Mapping[str, Estimate]  # The headline first
    test: PermutationTest | None  # If it was asked for
    rivals: Sequence[Rival]  # Baselines on the same folds, best first; none for residues
    choice: Choice | None = None  # The choice for all samples, if the folds shared their fits with it


def outer_folds(request: MethodRequest, folds: int) -> OuterFolds:
    """Return the design of the outer folds."""
    method = request.fold_method
    options = ["k", "seed"] if method is None else options_of(method)
    if "k" not in options:
        request.refuse(f"does not work with --fold-method {method}, which draws no folds", "repeats", "folds")
    if "seed" not in options:
        request.refuse(f"does not work with --fold-method {method}, which has no others", "repeats")
    if request.parent is not None and "parent" not in options:
        request.refuse("needs --fold-method position, position-blocks or mutations", "parent")
    check_integer("folds", folds, 2)
    parent = None if request.parent is None else read_fasta(request.parent).string(0)
    return OuterFolds(method, folds, request.repeats, request.seed, parent)


def count_choices(request: MethodRequest, folds: int, labels: Labels) -> int:
    """Return the approximate number of outer folds that share no fits, before groups of samples are known."""
    drawn = request.fold_method in (None, "stratified", "grouped", "locus")
    solver = request.solver or (default_solver("real", len(labels)) if labels.kind == "real" else "")
    drawn = drawn and (request.metric or default_metric(solver)) not in WITHOUT_FOLDS
    if drawn and folds >= FEWEST_SHARED and request.repeats == 1 and not request.inner_folds:
        return 0
    columns = {"leave-one-group-out": labels.groups, "predefined": labels.folds}
    if request.fold_method == "leave-one-out":
        return len(labels)
    if request.fold_method in ("mutations", "value"):
        return 1
    column = columns.get(request.fold_method)
    return folds * request.repeats if column is None else len(set(column.tolist()))


def grouped_samples(request: MethodRequest, given: Input) -> SampleGroups:
    """Return the labelled samples with the groups that no fold divides, and print the number of such groups."""
    labels, residues = given.dataset.task().labels, given.dataset.residues
    used = np.flatnonzero(labels.used())
    kept = group_samples(
        labels.take(used),
        given.X.take(used),
        given.window,
        None if residues is None else residues.take(used),
        allow_similar=request.allow_similar,
        n_threads=request.threads,
    )
    library = kept.similar and kept.similar.library
    random = request.fold_method in (None, "stratified") and labels.groups is None
    for sentence in [library.describe()] if library and not random else kept.sentences:
        log(sentence)
    if request.fold_method is None:
        log_folds(given.dataset.notes)
    if request.allow_similar and isinstance(given.X, SequenceSet) and residues is None:
        found = similar_groups(given.X.take(used), n_threads=request.threads)
        if found:
            text = found.describe(ending="in different folds, which makes scores too good")
            log(text)
    return kept


def check_design(method: Method, given: Input, outer: OuterFolds, kept: SampleGroups) -> None:
    """Raise an error, before any kernel is computed, for too few samples or folds that do not suit the method."""
    labels, residues = given.dataset.task().labels, given.dataset.residues
    used = np.flatnonzero(labels.used())
    X, labels = given.X.take(used), labels.take(used)
    residues = None if residues is None else residues.take(used)
    if labels.kind == "none":
        raise LabelError("no labels to score by", remedy="give the negatives as a second file, or add --labels")
    named = outer.method is not None and (labels.groups is not None or labels.folds is not None)
    labels = replace(labels, groups=kept.groups)
    lacking = too_few(replace(labels, groups=None) if named else labels)  # who names given folds knows how few they are
    if lacking is not None:
        raise FoldError(lacking.sentence(), remedy="give more samples, or train without a score (seqkern train --cv 0)")
    check_splits(method, labels, outer.splits(labels, X, None if residues is None else residues.record))


@contextlib.contextmanager
def computing(request: MethodRequest, source: str) -> Iterator[Any]:
    """Compute in the threads of a request: yield what shows progress, name the source in errors, print warnings."""
    with (
        naming_file(source),
        given_threads(request.threads),
        progress_counter("kernel", " entries") as show,
        warnings.catch_warnings(record=True) as said,
    ):
        warnings.simplefilter("always")
        yield show
    for text in dict.fromkeys(str(warning.message) for warning in said):
        warn(text)


def collected(request: MethodRequest, method: Method, given: Input, kept: SampleGroups | None, show: Any) -> FitData:
    """Return the training data of a method, and print that it has fewer folds than wanted."""
    data = collect_training_data(
        method,
        given.X,
        given.dataset.task().labels,
        given.dataset.residues,
        window=given.window,
        kept=kept,
        memory_limit=request.memory,
        n_threads=request.threads,
        progress=show,
        gram_files=request.gram,
    )
    log_fewer_folds(request, data.labels)
    return data


def cross_validated(
    request: MethodRequest,
    method: Method,
    data: FitData,
    given: Input,
    outer: OuterFolds,
    finished: Checkpoint | None = None,
) -> CrossValidated:
    """Return the cross-validation of a method, with a permutation test if requested; `finished` makes it resumable."""
    X = next(iter(data.sources.values())).X
    chains = None if data.residues is None else data.residues.record[: len(data.labels)]
    make_splits = partial(outer.splits, X=X, chains=chains)
    splits = make_splits(data.labels)
    data = replace(data, labels=outer.inner_labels(data.labels, X, chains))
    choices: Sequence[Choice] = () if request.inner_folds else method.choose_for_folds(data, splits, fit_cache=finished)
    results = cross_validate(method, data, progress_bar(splits, "folds"), fit_cache=finished, choices=choices)
    test = None
    if request.permutations is not None:
        test = procedure_test(
            method,
            data,
            make_splits,
            results,
            request.permutations,
            seed=request.seed,
            n_processes=request.threads,
            progress=partial(progress_bar, description="permutations"),
            fit_cache=None if finished is None else finished.within(f"permutations {outer!r}"),
            shares=bool(choices),
        )
    found = estimates(results, data.labels.take(data.labels.used()))
    if outer.method == "value":
        found = {name: found[name] for name in sorted(found, key=lambda name: name != "spearman")}
    headline = next(iter(found), None)
    beside: Sequence[Rival] = ()
    if headline is not None and data.residues is None:
        beside = rivals(X, data.labels, splits, results, headline)
    chosen = choices[-1] if choices else None
    return CrossValidated(data.labels, outer, splits, results, found, test, beside, chosen)


def score_rows(found: CrossValidated) -> list[list[str]]:
    """Return the rows of the score table, with its header: mean, interval and each fold."""
    each = [split.name for split in found.splits] if len(found.splits) <= MOST_NAMED else []
    rows = [["score", "mean", "95% interval", *(f"fold {name}" for name in each)]]
    for name, one in found.scores.items():
        several = name == "auc" and found.labels.kind == "multiclass"
        cells = ["macro AUC" if several else metric_name(name), f"{one.score:.4f}", _interval(one)]
        rows.append([*cells, *("-" if math.isnan(value) else f"{value:.4f}" for value in one.folds if each)])
    return rows


def _interval(one: Estimate) -> str:
    """Return the ends of an interval as text."""
    return f"{one.low:.4f} to {one.high:.4f}" if one.how else "-"


INTERVALS = {
    "DeLong": "DeLong's variance, doubled over folds",
    "Wilson": "Wilson's, of half the samples over folds",
    "squared errors": "variance of the squared errors, doubled over folds",
    "Nadeau-Bengio": "Student's over folds, with Nadeau and Bengio's variance",
}
"""Descriptions of the intervals of scores."""


def notes(found: CrossValidated) -> Iterator[str]:
    """Yield sentences on the design, the intervals and the permutation test."""
    yield design(found)
    if found.outer.method == "value":
        yield "R² compares with the mean of the tested values, which training on lower ones cannot know; ρ with ranks"
    counts = Counter(
        str(row["value"]) for result in found.results for row in result.choices if row["parameter"] == "kernel"
    )
    if counts:
        yield "chosen: " + ", ".join(f"{name} ({count} of {counts.total()})" for name, count in counts.most_common())
    named: dict[str, list[str]] = {}
    for name, one in found.scores.items():
        if one.how:
            named.setdefault(one.how, []).append(metric_name(name))
    for how, names in named.items():
        yield f"interval of {', '.join(names)}: {INTERVALS[how]}"
    headline = metric_name(next(iter(found.scores), ""))
    of_role = {BASELINES[one.baseline].role: one for one in reversed(found.rivals)}
    for role, best in sorted(of_role.items()):
        text = f"best {role}: {BASELINES[best.baseline].title}, {headline} {best.score:.4f}"
        text += f"; the method is {VERDICTS[best.sign]}"
        yield text if math.isnan(best.p) else f"{text} ({p_words(best.p)})"
    if found.test is not None:
        yield permutation_line(found.test)


def trivial_warning(found: CrossValidated, request: MethodRequest) -> Iterator[str]:
    """Yield a warning if length and composition alone separate two classes as well as the method does."""
    one = next((one for one in found.rivals if one.baseline == "composition"), None)
    own = found.scores.get("auc")
    if one is None or own is None or found.labels.kind != "binary":
        return
    if own.low > one.score if one.sign is None else one.sign > 0:
        return
    positives, negatives = (int((found.labels.y == code).sum()) for code in (1, 0))
    if auc_ends(one.score, positives, negatives, SHARED_TRAINING)[0] <= 0.5:  # no better than chance itself
        return
    file, genome = next(iter(request.fasta), "POSITIVES.fa"), request.genome
    remedy = f"seqkern background {file} --shuffle 2 -o matched.fa"
    if genome is not None:
        remedy = f"give no negatives, but --background: seqkern {request.verb()} {file} --genome {genome} --background"
    yield (
        f"length and composition alone give AUC {one.score:.3f}, and the method is {VERDICTS[one.sign]} "
        f"({own.score:.3f}): the classes may differ in nothing else; take negatives that match the positives: {remedy}"
    )


def design(found: CrossValidated) -> str:
    """Return a description of the folds, such as ``5 stratified folds``."""
    method, n = found.outer.chosen(found.labels), len(found.splits)
    repeats = len({split.name.partition(".")[0] for split in found.splits}) if found.outer.repeats > 1 else 1
    if method == "stratified" and found.labels.kind == "real":
        method = "random"
    folds = f"{n // repeats} {'folds' if method.startswith('leave') else f'{method} folds'}"
    if method == "grouped" and found.labels.by_chromosome:
        folds = f"{n // repeats} folds of whole chromosomes"
    if method in DESIGNS:
        folds = f"{n // repeats} {DESIGNS[method]}"
    text = f"{folds}, one for each {'sample' if method == 'leave-one-out' else 'group'}" if "leave" in method else folds
    return f"{text}, {repeats} repeats" if repeats > 1 else text


def permutation_line(test: PermutationTest) -> str:
    """Return a line with the result of a permutation test."""
    failed = f" ({test.failed} without a score count as better)" if test.failed else ""
    return (
        f"permutation test: {metric_name(test.metric)} {test.observed:.4f}, mean {test.mean:.4f} on {len(test.null)} "
        f"permutations of the labels{failed}, p = {test.p:.2g}"
    )


def record(found: CrossValidated) -> dict[str, Any]:
    """Return the estimate as JSON, for the record of a model."""

    def number(value: float) -> float | None:
        return None if math.isnan(value) else value

    scores = {
        name: {"mean": one.score, "low": number(one.low), "high": number(one.high), "interval": one.how}
        for name, one in found.scores.items()
    }
    return {
        "folds": design(found),
        "seed": found.outer.seed,
        "scores": scores,
        "rivals": [one._asdict() | {"p": number(one.p)} for one in found.rivals],
        **({} if found.test is None else {"permutation_test": as_record(found.test)}),
    }


def run(request: CvRequest) -> None:
    """Run the verb."""
    request = with_columns(request)
    training = read_training(request)
    outer = outer_folds(request, request.folds)
    check_result_folder(request)
    given = read_input(training)
    if request.output is not None:
        log_formulas(given.X.ids, request)
    method = chosen_method(training, given, max(1, count_choices(request, request.folds, given.labels)))
    with (
        CheckpointFolder(request.output and Path(request.output) / FINISHED) as unfinished,
        computing(request, given.source) as show,
    ):
        kept = grouped_samples(request, given)
        check_design(method, given, outer, kept)
        data = collected(request, method, given, kept, show)
        found = cross_validated(request, method, data, given, outer, unfinished.under(identity_of(method, data)))
    what = _what(method, data, "residues" if given.dataset.residues is not None else "samples")
    if request.output is not None:  # before standard output, which may be a pipe that closes
        with result_folder(request):
            _write(Path(request.output), found, what)
    for text in fold_remarks(found.results):
        log(text)
    for text in trivial_warning(found, request):
        warn(text)
    print(what)
    for line in (*aligned(score_rows(found)), *notes(found)):
        print(line)
    if request.output is not None:
        print(request.output)


def _what(method: Method, data: FitData, unit: str) -> str:
    """Return the first line: what is learned, and how."""
    labels = data.labels.take(data.labels.used())
    learned = what_it_learns(labels.kind, labels.class_counts(), len(labels), unit)
    first, *others = method.kernels.values()
    kernel = kernel_words(first) if first and not others else f"chosen from {len(method.kernels)} in each fold"
    alone, solvers = len(method.specs) == 1, {spec["solver"]: spec for spec in method.specs}
    solver = " or ".join(solver_words(spec if alone else {"solver": name}) for name, spec in solvers.items())
    return f"{learned}; kernel: {kernel}; solver: {solver}"


def _write(folder: Path, found: CrossValidated, what: str) -> None:
    """Write the tables, the ROC curves and the page."""
    write_results(folder, found.results)
    columns = ("score", "mean", "low", "high", "interval", "folds", "p", "permutations", "null_mean")
    rows: list[list[Any]] = [
        [name, one.score, one.low, one.high, one.how, design(found), *[None] * 3] for name, one in found.scores.items()
    ]
    if found.test is not None:
        rows[0][6:] = found.test.p, len(found.test.null), found.test.mean
    write_tsv(folder / "scores.tsv", columns, rows)
    head, files = ("seqkern cv", "Cross-validation", what), "scores.tsv, metrics.tsv, decisions.tsv"
    write_page(folder, head, score_rows(found), found.results, found.labels, list(notes(found)), files)


def write_page(
    folder: Path,
    head: tuple[str, str, str],
    table: list[list[str]],
    results: Sequence[FoldResult],
    labels: Labels,
    sentences: list[str],
    files: str,
) -> None:
    """Write the ROC curves and the page of a method's scores: verb, title and lead, table, sentences, files."""
    # imported here: seqkern train and seqkern evaluate, which use this module too, draw nothing
    from seqkern.report.curves import roc_picture
    from seqkern.report.figure_files import write_picture
    from seqkern.report.page_frame import scores_page

    figure = roc_picture(results, labels)
    if figure is not None:
        files += ", roc.svg"
        write_picture(folder / "roc.svg", figure)
    with atomic_write(folder / "index.html", "w") as file:
        file.write(scores_page(head, table, figure, sentences, files))
