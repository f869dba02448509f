"""ROC and precision-recall curves of a data set's methods, from their decisions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from seqkern.core.markup import clean
from seqkern.figures.curves import mean_curve, pr_points, roc_points
from seqkern.figures.overlay import Line, MethodLines, mean_steps
from seqkern.report.dataset_results import DatasetResults
from seqkern.report.files import rows_by_value
from seqkern.report.positive import positive_class
from seqkern.report.view import View

if TYPE_CHECKING:
    import pandas as pd

MOST_LINES = 1000
"""Curves of all methods together, above which the page keeps the means alone."""


def curve_lines(view: View) -> tuple[list[MethodLines], list[str]]:
    """Return the curves of all methods, the best first, and the names of a method's lines.

    Parameters
    ----------
    view : View
        A data set with classes.

    Returns
    -------
    methods : list of MethodLines
        Those that have curves.
    names : list of str
        The mean first, then folds (families, or classes).
    """
    found: dict[str, dict[str, Line]] = {}
    for method, outcome in view.outcomes.items():
        table = view.dataset.decisions(method)
        if table is not None and outcome.curves:
            lines = dict(_lines(view, table, outcome.pooled))
            if lines:
                found[clean(f"{method.kernel} with {method.solver}")] = lines
    units = list(dict.fromkeys(name for lines in found.values() for name in lines))
    if len(found) * len(units) > MOST_LINES or len(units) == 1:
        units = []
    methods = [
        MethodLines(name, [_mean(list(lines.values())), *(lines.get(unit) for unit in units)])
        for name, lines in found.items()
    ]
    return methods, [_mean_name(view, found), *(_unit_name(view, unit) for unit in units)]


def _lines(view: View, table: pd.DataFrame, pooled: bool) -> Iterator[tuple[str, Line]]:
    """Yield (name, Line) of each class, or of each split of each unit, in which both classes occur."""
    dataset = view.dataset
    if dataset.kind == "multiclass":
        yield from _class_lines(dataset, table)
        return
    for unit, rows in rows_by_value(table, "task" if pooled else dataset.unit(table)):
        positive = positive_class(dataset, rows)
        if pooled:
            parts = [(unit, rows)]
        else:
            splits = list(rows_by_value(rows, "split"))
            parts = [(unit if len(splits) == 1 else f"{unit}, split {split}", part) for split, part in splits]
        for name, part in parts:
            line = _line(part, positive, "decision")
            if line is not None:
                yield clean(name), line


def _class_lines(dataset: DatasetResults, table: pd.DataFrame) -> Iterator[tuple[str, Line]]:
    """Yield (class, Line) of each class against the others, averaged over the splits."""
    for name in dataset.classes(table["task"].iloc[0]) or sorted(set(table["label"])):
        if f"decision:{name}" in table:
            lines = [_line(part, name, f"decision:{name}") for _, part in rows_by_value(table, "split")]
            known = [line for line in lines if line is not None]
            if known:
                yield clean(name), _mean(known)


def _line(rows: pd.DataFrame, positive: str, column: str) -> Line | None:
    """Return the curves of one column of decisions; None unless both classes are there."""
    labels, decision = (rows["label"] == positive).to_numpy(), rows[column].to_numpy(float)
    false, true = roc_points(labels, decision)
    recall, precision = pr_points(labels, decision)
    if false is None or true is None or recall is None or precision is None:
        return None
    return Line((false, true), (recall, precision))


def _mean(lines: list[Line]) -> Line:
    """Return the mean of lines; of a single one, itself."""
    if len(lines) == 1:
        return lines[0]
    return Line(mean_curve(line.roc for line in lines), mean_steps(line.pr for line in lines))


def _mean_name(view: View, found: dict[str, dict[str, Line]]) -> str:
    """Return what the mean of all lines is called."""
    most = max((len(lines) for lines in found.values()), default=0)
    if view.dataset.kind == "multiclass":
        return f"mean of {most} classes"
    if any(outcome.pooled for outcome in view.outcomes.values()):
        return "all test sets pooled"
    return f"mean of {most} {view.words}" if most > 1 else view.word


def _unit_name(view: View, unit: str) -> str:
    """Return what one line is called."""
    return unit if view.dataset.kind == "multiclass" else f"{view.word} {unit}"
