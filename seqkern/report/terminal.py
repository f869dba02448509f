"""Plain-text comparisons for the terminal, with the same findings as on the page."""

import os
import textwrap
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from seqkern.core.errors import FileError
from seqkern.core.tsv import aligned
from seqkern.evaluation.bootstrap import ScoreInterval
from seqkern.evaluation.intervals import TooFew, metrics_with_interval, score_interval, too_few_of
from seqkern.evaluation.many_task_tests import Comparison, SignedRank, least_p
from seqkern.evaluation.single_task_tests import PairTest, metrics_with_test
from seqkern.methods.compared import (
    LEVEL,
    Compared,
    ComparedChains,
    SingleTaskTests,
    is_significant,
    lead,
    methods_of,
    verdict,
)
from seqkern.methods.headline import corrected_on_task, corrected_over_tasks, not_better
from seqkern.methods.study_results import DatasetResults, Method, StudyResults
from seqkern.report.markup import text_of
from seqkern.report.page_frame import fixed
from seqkern.report.sections.tests import (
    caveat,
    contrary,
    dependence,
    groups,
    pairs_sentence,
    several_metrics,
    shown_p,
    test_notes,
    test_sentences,
)
from seqkern.report.sentences import metric
from seqkern.study.dataset_entries import DatasetEntry
from seqkern.study.study import Study

WIDTH = 100
Pair = TypeVar("Pair", Comparison, PairTest)
VERBS = {
    "better": "is better than",
    "worse": "is better than",
    "differs": "differs from",
    "no significant difference": "does not differ significantly from",
}
"""Text between two methods, the leading one first."""
SHAPES = {"single": "one test set", "folds": "{} folds", "five_by_two": "five times two halves"}


def method_text(method: Method) -> str:
    """Return a method's name as ``kernel with solver``.

    >>> method_text(Method("spectrum", "csvc"))
    'spectrum with csvc'
    """
    return f"{method.kernel} with {method.solver}"


def comparison_lines(found: Mapping[str, Compared | SingleTaskTests], title: str, more: str = "") -> list[str]:
    """Return the lines about the comparisons of one data set, without line ends; `more` ends the first."""
    first = next(iter(found.values()))
    if isinstance(first, SingleTaskTests):
        shape = SHAPES[first.shape].format(first.parts)
        head = f"{title}: {len(first.methods)} methods on {first.units} test samples, {shape}"
    else:
        head = f"{title}: {len(first.methods)} methods on {first.tasks} {first.words}"
    head += more
    lines = [head, "=" * len(head)]
    lacking = _too_few(first) if isinstance(first, SingleTaskTests) else None
    if lacking is not None:
        lines += ["", *_wrapped(f"{lacking.sentence().capitalize()}. Differences between methods say little, too.")]
    for one in found.values():
        lines += ["", *(_single_task_tests(one) if isinstance(one, SingleTaskTests) else _compared(one))]
    notes = [caveat(first) if isinstance(first, SingleTaskTests) else "", several_metrics(found)]
    note = " ".join(filter(None, notes))
    return [*lines, "", *_wrapped(note)] if note else lines


def _too_few(task_tests: SingleTaskTests) -> TooFew | None:
    """Return the samples that are too few for a score, as a TooFew; None if there are enough."""
    paired = task_tests.paired
    codes = paired.labels[np.unique(paired.ids, return_index=True)[1]]
    if paired.kind == "real":
        return too_few_of("real", np.zeros(len(codes), dtype=np.int64), 1)
    return too_few_of(paired.kind, codes, max(2, int(codes.max()) + 1))


def _single_task_tests(task_tests: SingleTaskTests) -> list[str]:
    """Return the lines about the comparison of methods on one task."""
    text = text_of(pairs_sentence(task_tests))
    rows = [_test_row(task_tests, one) for one in _shown(task_tests, task_tests.found)]
    lines = _wrapped(f"By {metric(task_tests.key).name}. {test_sentences(task_tests)} {text}")
    return [*lines, "", *_intervals(task_tests), *aligned(rows), *_macro_auc(task_tests)]


def _macro_auc(task_tests: SingleTaskTests) -> list[str]:
    """Return the lines about the mean AUC over several classes if no test of it exists; else no lines."""
    paired = task_tests.paired
    if paired.kind != "multiclass" or "auc" in metrics_with_test(paired):
        return []
    means = {}
    for method in task_tests.methods:
        values = [value for (_, name), value in paired.scores.get(method, {}).items() if name == "auc"]
        if values:
            means[method] = sum(values) / len(values)
    order = sorted(means, key=lambda method: means[method], reverse=True)
    text = ", ".join(f"{method_text(method)} {fixed(means[method])}" for method in order)
    return ["", *_wrapped(f"Macro AUC (not tested): {text}.")] if order else []


def _intervals(task_tests: SingleTaskTests) -> list[str]:
    """Return a line for each method with its score and 95% interval; no lines if the score has no interval."""
    if task_tests.key not in metrics_with_interval(task_tests.paired):
        return []
    paired, higher = task_tests.paired, metric(task_tests.key).higher
    scored = {method: score_interval(paired, method, task_tests.key) for method in task_tests.methods}
    corrected = corrected_on_task(paired, task_tests.methods, task_tests.key)
    return [*_scored(scored, higher), *_best({m: one.score for m, one in scored.items()}, corrected, task_tests.key)]


def _best(scores: Mapping[Method, float], corrected: float, key: str) -> list[str]:
    """Return the lines on the best method's score, corrected for selection; no lines if it is unknown."""
    one = metric(key)
    best = (max if one.higher else min)(scores, key=lambda method: scores[method])
    corrected = not_better(corrected, scores[best], key)
    if corrected != corrected:
        return []
    text = (
        f"{one.name} {fixed(scores[best])} belongs to the best of {len(scores)} methods, {method_text(best)}; "
        f"corrected for this choice it is {fixed(corrected)}."
    )
    return [*_wrapped(text), ""]


def _scored(scored: Mapping[Method, ScoreInterval], higher: bool = True) -> list[str]:
    """Return the lines of `_intervals` from {method: ScoreInterval}."""
    rows = []
    for method, found in sorted(scored.items(), key=lambda item: item[1].score, reverse=higher):
        ends = f"95% interval {fixed(found.low)} to {fixed(found.high)}" if found.low == found.low else "no interval"
        rows.append([method_text(method), fixed(found.score), ends])
    return [*aligned(rows), ""]


def _compared(compared: Compared) -> list[str]:
    """Return the lines about the comparison of methods over tasks."""
    score, count = metric(compared.key).name, sum(map(is_significant, compared.found))
    over, differ = f"{compared.tasks} {compared.words}", "differs" if count == 1 else "differ"
    text = (
        f"By {score}, medians shown. Wilcoxon's signed-rank test of each pair over {over}, p corrected by Holm's "
        f"method: of {_pairs(compared)}, {count or 'none'} {differ} significantly (corrected p of at most {LEVEL})."
    )
    if compared.hopeless:
        least = least_p(compared.tasks)
        corrected = min(1.0, least * len(compared.found))
        text += (
            f" With {over} the smallest possible p is {shown_p(least)}, "
            f"or {shown_p(corrected)} after correction, so no difference can be significant."
        )
    rows, intervals = [_comparison_row(compared, one) for one in _shown(compared, compared.found)], []
    if isinstance(compared, ComparedChains):
        text += f" {dependence(compared)} The intervals of all residues together are by chain, too."
        intervals = _scored({method: own[compared.key] for method, own in compared.intervals.items()})
    else:
        means = {method: float(np.nanmean(values)) for method, values in compared.values.items()}
        intervals = _best(means, corrected_over_tasks(compared.values, compared.key), compared.key)
    return [*_wrapped(text), "", *intervals, *aligned(rows), *_ranked(compared)]


def _pairs(table: Compared | SingleTaskTests) -> str:
    """Return the number of pairs as text: ``3 pairs`` or ``1 pair``."""
    return f"{len(table.found)} pair{'s' * (len(table.found) != 1)}"


def _shown(table: Compared | SingleTaskTests, found: Sequence[Pair]) -> Sequence[Pair]:
    """Return the printed comparisons: the best method (or the control) against each other one, or all if few."""
    if table.control is not None or len(found) <= 10:
        return found
    return [one for one in found if one.first == table.methods[0]]


def _test_row(table: SingleTaskTests, one: PairTest) -> list[str]:
    """Return the cells for one pair on one task; the method that is ahead comes first."""
    ahead = one if lead(one) >= 0 else one.turned()
    values, rest = _on_task(table, ahead)
    return _cells(one, methods_of(ahead), values, rest, one.p)


def _comparison_row(table: Compared, one: Comparison) -> list[str]:
    """Return the cells for one pair over tasks; the method that is ahead comes first."""
    forward, (means, medians) = lead(one) >= 0, table.averages(one)
    turn = 1 if forward else -1
    first, second = methods_of(one)[::turn]
    rest = _over_tasks(one.test, forward)
    if is_significant(one):
        rest += contrary(table.key, 1, means[::turn], medians[::turn])
    return _cells(one, (first, second), medians[::turn], rest, one.test.p)


def _cells(
    one: Comparison | PairTest, methods: tuple[Method, Method], values: Sequence[float], rest: str, p: float
) -> list[str]:
    """Return the cells of a row: the verdict, the size of the difference, and its p-value."""
    first, second = map(method_text, methods)
    scores = " : ".join(fixed(value) for value in values)
    return [first, VERBS[verdict(one)], second, scores, rest, _p("p", p), _p("Holm", one.p_holm)]


def _on_task(table: SingleTaskTests, one: PairTest) -> tuple[tuple[float, float], str]:
    """Return the two scores of a PairTest and a text with its further results."""
    found = [test_notes(table, one)]
    if one.low == one.low:
        found.insert(0, f"by {fixed(one.difference)} ({fixed(one.low)} to {fixed(one.high)})")
    elif one.test == "five_by_two_f":
        found.insert(0, f"by {fixed(one.difference)}")
    return (one.value, one.other_value), "; ".join(filter(None, found))


def _over_tasks(test: SignedRank, forward: bool) -> str:
    """Return a text with the number of tasks in which the leading method is better."""
    ahead, behind = (test.wins, test.losses) if forward else (test.losses, test.wins)
    rest = f"better in {ahead}, worse in {behind}, equal in {test.ties}"
    return rest + (f", {test.left_out} left out" if test.left_out else "")


def _p(name: str, p: float) -> str:
    """Return the p-value as text, ``p = 0.031``, or a note that there is none."""
    return f"{name} = {shown_p(p)}" if p == p else f"{name}: none"


def _ranked(compared: Compared) -> list[str]:
    """Return the lines about mean ranks; no lines without a Friedman test."""
    test = compared.friedman
    difference = compared.critical_difference
    if test is None or difference is None:
        return []
    differ = "differ" if test.p <= LEVEL else "do not differ"
    how = "exact" if test.exact else f"Iman and Davenport's F = {fixed(test.f, 2)}"
    text = (
        f"Friedman's test over {test.tasks} {compared.words}: χ² = {fixed(test.statistic, 2)}, p = {shown_p(test.p)} "
        f"({how}): the mean ranks {differ} significantly."
    )
    order = sorted(compared.ranks.items(), key=lambda item: item[1])
    lines = [
        "",
        *_wrapped(text),
        *_wrapped("Mean ranks: " + ", ".join(f"{method_text(m)} {fixed(rank, 2)}" for m, rank in order) + "."),
    ]
    if test.p > LEVEL or compared.control is not None:
        return lines
    joined = [", ".join(method_text(test.methods[i]) for i in members) for members in groups(test, difference)]
    text = f"Nemenyi's critical difference is {fixed(difference, 2)}. "
    text += f"No significant difference: {'; '.join(joined)}." if joined else "Every two methods differ significantly."
    return lines + _wrapped(text)


def _wrapped(text: str) -> list[str]:
    """Return a text wrapped into lines."""
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


# Input of `seqkern compare`: folders of studies, or of evaluated methods, as data sets with methods.


class Evaluated(DatasetResults):
    """Folders written by `seqkern evaluate`, one for each method, as one data set."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.study = Study.of_results({})
        self.home = Path()
        self.entry = DatasetEntry.of_results({}, "")
        self.places = dict(zip(_names(folders), folders, strict=True))
        self.methods = list(self.places)
        parents = {folder.resolve().parents[1] for folder in folders}
        self.name = parents.pop().name if len(parents) == 1 else "the methods given"

    @cached_property
    def summary(self) -> None:
        """Summary of the data set: None, since the folders of methods hold none."""
        return None

    @cached_property
    def composition(self) -> None:
        """Composition of the folds: None, since the folders of methods hold no fold tables."""
        return None

    @cached_property
    def kind(self) -> str:
        """Kind of labels, ``"binary"``, ``"multiclass"`` or ``"real"``, inferred from the metrics written."""
        if "rmse" in self.metrics:
            return "real"
        with open(next(iter(self.places.values())) / "decisions.tsv", encoding="utf-8") as file:
            columns = file.readline().rstrip("\n").split("\t")
        return "binary" if "decision" in columns else "multiclass"

    def _path(self, method: Method, file: str, stage: str = "evaluate") -> Path:
        # separate inner loops are part of a study only
        return self.places[method] / (file if stage == "evaluate" else f"{stage}/{file}")


def _names(folders: Sequence[Path]) -> list[Method]:
    """Return a Method for each folder: kernel and solver by the last two parts of its path, or the path itself."""
    names = [Method(folder.resolve().parent.name, folder.resolve().name) for folder in folders]
    if len(set(names)) < len(names):
        names = [Method(str(folder.parent), folder.name) for folder in folders]
    for name, folder in zip(names, folders, strict=True):
        if names.count(name) > 1:
            raise FileError("is given twice", file=folder, remedy="name each folder once")
    return names


def read_input(paths: Sequence[str | os.PathLike[str]]) -> list[tuple[str | None, DatasetResults]]:
    """Return (study name, data set) for each study's data sets, or one data set made of all evaluated methods.

    The name is None for a single study, and the folder's path where two studies have the same name.
    """
    folders = [Path(path) for path in paths]
    evaluated: list[Path] = []
    for folder in folders:
        if not folder.is_dir():
            raise FileError("no such folder", file=folder, remedy="check the path")
        is_method = (folder / "metrics.tsv").is_file() and (folder / "decisions.tsv").is_file()
        is_study = (folder / "evaluate").is_dir()
        if not is_method and not is_study:
            raise FileError(
                "holds neither a study nor an evaluated method",
                file=folder,
                remedy="give results/STUDY, or folders that seqkern evaluate wrote",
            )
        evaluated += [folder] if is_method else []
    if evaluated and len(evaluated) < len(folders):
        raise FileError("is an evaluated method, others are studies", file=evaluated[0], remedy="give one kind only")
    if evaluated:
        return [(None, Evaluated(evaluated))]
    found = [StudyResults(folder) for folder in folders]
    if len(found) == 1:
        return [(None, dataset) for dataset in found[0].datasets]
    names = [results.study.name for results in found]
    titles = [one.study.name if names.count(one.study.name) == 1 else str(one.folder) for one in found]
    return [(title, dataset) for title, results in zip(titles, found, strict=True) for dataset in results.datasets]
