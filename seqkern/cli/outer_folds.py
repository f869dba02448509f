"""The cross-validation of ``seqkern cv`` and ``seqkern train --cv``: arguments, the work, and what is printed."""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from seqkern.cli.common import refuse_unused
from seqkern.cli.regions import tell_folds

if TYPE_CHECKING:
    from seqkern.cli.training_input import Input
    from seqkern.core.checkpoint import Checkpoint
    from seqkern.evaluation.estimates import Estimate
    from seqkern.evaluation.fold_tables import FoldResult
    from seqkern.evaluation.label_permutation import PermutationTest
    from seqkern.folds import Split
    from seqkern.models.cross_validation import OuterFolds
    from seqkern.models.data import Data
    from seqkern.models.method import Method
    from seqkern.models.together import Together
    from seqkern.sequences.labels import Labels

METHODS = ("stratified", "grouped", "locus", "leave-one-out", "leave-one-group-out", "predefined")
"""As `seqkern.models.cross_validation.OUTER_METHODS`, listed here to keep ``--help`` fast."""
MOST_FOLDS = 12
"""With more folds their scores are only in the tables."""


def add_outer_folds(group: argparse._ActionsContainer) -> None:
    """Add how the outer folds are made, and the permutation test.

    Parameters
    ----------
    group : ArgumentParser or group of arguments
        Parser or group to add them to.
    """
    group.add_argument(
        "--fold-method",
        choices=METHODS,
        help="how outer folds are made (default: grouped where samples belong together: groups, overlapping windows "
        "or residues of a chain; else stratified)",
    )
    group.add_argument(
        "--repeats", type=int, default=1, metavar="N", help="repeat the cross-validation on other folds (default: 1)"
    )
    group.add_argument(
        "--permutations",
        type=int,
        metavar="N",
        help="test the score: repeat everything, also the search, on N permutations of the labels, in one process for "
        "each thread",
    )


class CrossValidated(NamedTuple):
    """The result of a cross-validation, and its design.

    Attributes
    ----------
    labels : Labels
        Of the samples used, with the groups kept together.
    outer : OuterFolds
        The design.
    splits : list of Split
        The outer folds.
    results : list of FoldResult
        Of each fold.
    scores : dict of str to Estimate
        The headline first.
    test : PermutationTest or None
        If it was asked for.
    trivial : (str, float) or None
        The best trivial baseline on the same folds, and its mean headline score; None for residues.
    """

    labels: Labels
    outer: OuterFolds
    splits: Sequence[Split]
    results: Sequence[FoldResult]
    scores: Mapping[str, Estimate]
    test: PermutationTest | None
    trivial: tuple[str, float] | None


def outer_folds(args: argparse.Namespace, folds: int) -> OuterFolds:
    """Return the design of the outer folds.

    Parameters
    ----------
    args : Namespace
        With the arguments of `add_outer_folds`, and ``seed``.
    folds : int
        Number of outer folds.

    Returns
    -------
    OuterFolds

    Raises
    ------
    ParameterError
        If a number is too small.
    """
    # imported here to keep --help fast
    from seqkern.core.checks import check_integer
    from seqkern.models.cross_validation import OuterFolds

    if args.fold_method in ("leave-one-out", "leave-one-group-out", "predefined"):
        why = f"does not work with --fold-method {args.fold_method}, which draws no folds"
        refuse_unused(args, why, {"repeats": 1} | ({"folds": 5} if args.verb == "cv" else {}))
    check_integer("folds", folds, 2)
    check_integer("repeats", args.repeats, 1)
    if args.permutations is not None:
        check_integer("permutations", args.permutations, 1)
    return OuterFolds(args.fold_method, folds, args.repeats, args.seed)


def count_folds(args: argparse.Namespace, folds: int, labels: Labels) -> int:
    """Return about how many outer folds there will be, before it is known which samples belong together.

    Parameters
    ----------
    args : Namespace
        With the arguments of `add_outer_folds`.
    folds : int
        As given, for methods that draw folds.
    labels : Labels
        Of the labelled samples.

    Returns
    -------
    int
    """
    columns = {"leave-one-group-out": labels.groups, "predefined": labels.folds}
    if args.fold_method == "leave-one-out":
        return len(labels)
    column = columns.get(args.fold_method)
    return folds * args.repeats if column is None else len(set(column.tolist()))


def kept_together(args: argparse.Namespace, given: Input) -> Together:
    """Return the labelled samples that no fold divides, and say on the terminal what was found.

    Parameters
    ----------
    args : Namespace
        With ``allow_similar`` and ``threads``.
    given : Input
        Samples and labels.

    Returns
    -------
    Together
    """
    # imported here to keep --help fast
    import numpy as np

    # imported here to keep --help fast
    from seqkern.models.together import together
    from seqkern.sequences.sequence_set import SequenceSet
    from seqkern.similarity import similar_groups

    labels, residues = given.dataset.task().labels, given.dataset.residues
    used = np.flatnonzero(labels.used())
    kept = together(
        labels.take(used),
        given.X.take(used),
        given.window,
        None if residues is None else residues.take(used),
        allow_similar=args.allow_similar,
        n_threads=args.threads,
    )
    for sentence in kept.sentences:
        print(f"seqkern: {sentence}", file=sys.stderr)
    if args.fold_method is None:
        tell_folds(given.dataset.notes)
    if args.allow_similar and isinstance(given.X, SequenceSet) and residues is None:
        found = similar_groups(given.X.take(used), n_threads=args.threads)
        if found:
            text = found.describe(ending="in different folds, which makes scores too good")
            print(f"seqkern: {text}", file=sys.stderr)
    return kept


def check_design(method: Method, given: Input, outer: OuterFolds, kept: Together) -> None:
    """Raise an error, before any kernel is computed, if there are too few samples, or the folds do not suit the method.

    Parameters
    ----------
    method : Method
        The method to evaluate.
    given : Input
        Samples and labels.
    outer : OuterFolds
        The design.
    kept : Together
        As from `kept_together`.

    Raises
    ------
    LabelError, FoldError
        With what is missing.
    """
    # imported here to keep --help fast
    from dataclasses import replace

    # imported here to keep --help fast
    import numpy as np

    # imported here to keep --help fast
    from seqkern.core.errors import FoldError, LabelError
    from seqkern.evaluation.small_samples import too_few
    from seqkern.models.cross_validation import check_splits

    labels, residues = given.dataset.task().labels, given.dataset.residues
    used = np.flatnonzero(labels.used())
    X, labels = given.X.take(used), labels.take(used)
    residues = None if residues is None else residues.take(used)
    if labels.kind == "none":
        raise LabelError("no labels to score by", remedy="give the negatives as a second file, or add --labels")
    labels = replace(labels, groups=kept.groups)
    lacking = too_few(labels)
    if lacking is not None:
        raise FoldError(lacking.sentence(), remedy="give more samples, or train without a score (seqkern train --cv 0)")
    check_splits(method, labels, outer.splits(labels, X, None if residues is None else residues.record))


def cross_validated(
    args: argparse.Namespace,
    method: Method,
    data: Data,
    given: Input,
    outer: OuterFolds,
    finished: Checkpoint | None = None,
) -> CrossValidated:
    """Cross-validate a method, and test its score if asked for.

    Parameters
    ----------
    args : Namespace
        With the arguments of `add_outer_folds`, ``seed`` and ``threads``.
    method : Method
        The method to evaluate.
    data : Data
        The samples with their kernel values.
    given : Input
        The samples as read.
    outer : OuterFolds
        The design.
    finished : Checkpoint, optional
        Keeps finished folds and permutations, for a run after one that was killed.

    Returns
    -------
    CrossValidated

    Raises
    ------
    ParameterError, FoldError, GramError, SequenceError
        As for `Method.fit`.
    """
    # imported here to keep --help fast
    from dataclasses import replace

    # imported here to keep --help fast
    from seqkern.core.progress import progress_bar
    from seqkern.evaluation.estimates import estimates
    from seqkern.models.baselines import best_baseline
    from seqkern.models.cross_validation import cross_validate
    from seqkern.models.permutations import procedure_test

    X = next(iter(data.sources.values())).X
    chains = None if data.residues is None else data.residues.record[: len(data.labels)]
    make_splits = partial(outer.splits, X=X, chains=chains)
    splits = make_splits(data.labels)
    data = replace(data, labels=outer.inner_labels(data.labels, X, chains))
    results = cross_validate(method, data, progress_bar(splits, "folds"), finished=finished)
    test = None
    if args.permutations is not None:
        test = procedure_test(
            method,
            data,
            make_splits,
            results,
            args.permutations,
            seed=args.seed,
            n_processes=args.threads,
            progress=partial(progress_bar, description="permutations"),
            finished=None if finished is None else finished.within(f"permutations {outer!r}"),
        )
    found = estimates(results, data.labels.take(data.labels.used()))
    headline = next(iter(found), None)
    trivial = None
    if headline is not None and data.residues is None:
        trivial = best_baseline(X, data.labels, splits, headline)
    return CrossValidated(data.labels, outer, splits, results, found, test, trivial)


def score_table(found: CrossValidated) -> list[str]:
    """Return the scores as a table: mean, interval and each fold.

    Parameters
    ----------
    found : CrossValidated
        The result.

    Returns
    -------
    list of str
        Lines; the head first.
    """
    # imported here to keep --help fast
    from seqkern.report.sentences import metric

    each = [split.name for split in found.splits] if len(found.splits) <= MOST_FOLDS else []
    rows = [["score", "mean", "95 % interval", *(f"fold {name}" for name in each)]]
    for name, one in found.scores.items():
        several = name == "auc" and found.labels.kind == "multiclass"
        cells = ["macro AUC" if several else metric(name).name, f"{one.score:.4f}", _interval(one)]
        rows.append([*cells, *("-" if math.isnan(value) else f"{value:.4f}" for value in one.folds if each)])
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _interval(one: Estimate) -> str:
    """Return the ends of an interval."""
    return f"{one.low:.4f} to {one.high:.4f}" if one.how else "-"


INTERVALS = {
    "DeLong": "DeLong's variance, doubled over folds",
    "Wilson": "Wilson's, of half the samples over folds",
    "squared errors": "variance of the squared errors, doubled over folds",
    "Nadeau-Bengio": "Student's over folds, with Nadeau and Bengio's variance",
}
"""What the interval of a score is."""


def notes(found: CrossValidated) -> Iterator[str]:
    """Yield sentences on the design, the intervals and the permutation test.

    Parameters
    ----------
    found : CrossValidated
        The result.

    Yields
    ------
    str
        A line.
    """
    # imported here to keep --help fast
    from seqkern.report.sentences import metric

    yield design(found)
    counts = Counter(
        str(row["value"]) for result in found.results for row in result.choices if row["parameter"] == "kernel"
    )
    if counts:
        yield "chosen: " + ", ".join(f"{name} ({count} of {counts.total()})" for name, count in counts.most_common())
    named: dict[str, list[str]] = {}
    for name, one in found.scores.items():
        if one.how:
            named.setdefault(one.how, []).append(metric(name).name)
    for how, names in named.items():
        yield f"interval of {', '.join(names)}: {INTERVALS[how]}"
    if found.trivial is not None:
        yield trivial_line(found)
    if found.test is not None:
        yield permutation_line(found.test)


def trivial_line(found: CrossValidated) -> str:
    """Return the score of the best trivial baseline, and what it means.

    Parameters
    ----------
    found : CrossValidated
        With a trivial baseline.

    Returns
    -------
    str
    """
    # imported here to keep --help fast
    from seqkern.models.baselines import BASELINES
    from seqkern.report.sentences import metric

    assert found.trivial is not None
    (name, score), (headline, own) = found.trivial, next(iter(found.scores.items()))
    text = f"best trivial baseline: {BASELINES[name].title}, {metric(headline).name} {score:.4f}"
    if own.score <= score:
        return f"{text}; the method is not better"
    return f"{text}; it lies within the method's interval" if own.low <= score else text


def design(found: CrossValidated) -> str:
    """Return how the folds were made.

    Parameters
    ----------
    found : CrossValidated
        The result.

    Returns
    -------
    str
        Such as ``5 stratified folds``.
    """
    method, n = found.outer.chosen(found.labels), len(found.splits)
    repeats = len({split.name.partition(".")[0] for split in found.splits}) if found.outer.repeats > 1 else 1
    if method == "stratified" and found.labels.kind == "real":
        method = "random"
    folds = f"{n // repeats} {'folds' if method.startswith('leave') else f'{method} folds'}"
    if method == "grouped" and found.labels.by_chromosome:
        folds = f"{n // repeats} folds of whole chromosomes"
    text = f"{folds}, one for each {'sample' if method == 'leave-one-out' else 'group'}" if "leave" in method else folds
    return f"{text}, {repeats} repeats" if repeats > 1 else text


def permutation_line(test: PermutationTest) -> str:
    """Return the result of a permutation test.

    Parameters
    ----------
    test : PermutationTest
        The test.

    Returns
    -------
    str
    """
    # imported here to keep --help fast
    from seqkern.report.sentences import metric

    failed = f" ({test.failed} without a score count as better)" if test.failed else ""
    return (
        f"permutation test: {metric(test.metric).name} {test.observed:.4f}, mean {test.mean:.4f} on {len(test.null)} "
        f"permutations of the labels{failed}, p = {test.p:.2g}"
    )


def record(found: CrossValidated) -> dict[str, Any]:
    """Return the estimate as JSON, for the record of a model.

    Parameters
    ----------
    found : CrossValidated
        The result.

    Returns
    -------
    dict
    """
    # imported here to keep --help fast
    from seqkern.models.permutations import as_record

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
        "trivial": None if found.trivial is None else dict(zip(("baseline", "score"), found.trivial, strict=True)),
        **({} if found.test is None else {"permutation_test": as_record(found.test)}),
    }
