"""Figures' data from one method's decisions: ROC curves, confusions, and the hardest samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from seqkern.methods.study_results import DatasetResults, numbers, positive_class, rows_by_value
from seqkern.report.curves import Line, mean_curve, mean_steps, pr_points, roc_points
from seqkern.report.markup import Markup, escape
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.study.dataset import load_dataset

if TYPE_CHECKING:
    import pandas as pd


HardCase: TypeAlias = tuple[str, str, str, str | float, float]
"""Unit that scores are averaged over, id, label, decision (or predicted class), and how wrong the decision is."""


@dataclass
class Outcome:
    """Data from one method's decisions for its figures.

    `curves` are of each test set in which both classes occur, named by its unit; for several classes of each class
    against the rest, averaged over the splits.
    """

    curves: list[tuple[str, Line]] = field(default_factory=list)
    pooled: bool = False  # Whether the curves are of all splits together, because single ones hold one class only
    # shape (classes, classes): Rows are true, columns predicted classes, over all splits
    confusion: npt.NDArray[np.int64] | None = None
    points: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None = None  # Of real labels


def outcome(dataset: DatasetResults, table: pd.DataFrame) -> Outcome:
    """Return the Outcome of a table of decisions."""
    if dataset.kind == "real":
        return Outcome(points=(numbers(table["label"]).to_numpy(), table["decision"].to_numpy()))
    if dataset.kind == "multiclass":
        return _multiclass_outcome(dataset, table)
    parts = []
    for unit, rows in rows_by_value(table, dataset.unit(table)):
        positive, splits = positive_class(dataset, rows), list(rows_by_value(rows, "split"))
        for split, part in splits:
            name = unit if len(splits) == 1 else f"{unit}, split {split}"
            parts.append((name, _line(part, positive, "decision")))
    curves = [(name, line) for name, line in parts if line is not None]
    if curves:
        return Outcome(curves)
    tasks = rows_by_value(table, "task")
    parts = [(task, _line(rows, positive_class(dataset, rows), "decision")) for task, rows in tasks]
    return Outcome([(name, line) for name, line in parts if line is not None], pooled=True)


def _line(rows: pd.DataFrame, positive: str, column: str) -> Line | None:
    """Return the curves of one column of decisions; None unless both classes occur."""
    labels, decision = (rows["label"] == positive).to_numpy(), rows[column].to_numpy(float)
    false, true = roc_points(labels, decision)
    recall, precision = pr_points(labels, decision)
    if false is None or true is None or recall is None or precision is None:
        return None
    return Line((false, true), (recall, precision))


def mean_line(lines: Sequence[Line]) -> Line:
    """Return the mean of several lines; a single line itself."""
    if len(lines) == 1:
        return lines[0]
    return Line(mean_curve(line.roc for line in lines), mean_steps(line.pr for line in lines))


def _multiclass_outcome(dataset: DatasetResults, table: pd.DataFrame) -> Outcome:
    """Return curves of each class against the rest, and the confusion matrix."""
    classes, known = _known_classes(dataset, table)
    code = {name: i for i, name in enumerate(classes)}
    confusion = np.zeros((len(classes), len(classes)), dtype=int)
    np.add.at(confusion, (known["label"].map(code), known["predicted"].map(code)), 1)
    result = Outcome(confusion=confusion)
    for name in classes:
        column = f"decision:{name}"
        parts = [_line(part, name, column) for _, part in rows_by_value(table, "split")] if column in table else []
        lines = [line for line in parts if line is not None]
        if lines:
            result.curves.append((name, mean_line(lines)))
    return result


def _known_classes(dataset: DatasetResults, table: pd.DataFrame) -> tuple[list[str], pd.DataFrame]:
    """Return the classes in order, and the rows with a known class and prediction."""
    classes = dataset.classes(table["task"].iloc[0]) or sorted(set(table["label"]))
    return classes, table[table["label"].isin(classes) & table["predicted"].isin(classes)]


def hard_cases(dataset: DatasetResults, table: pd.DataFrame, count: int = 10) -> list[HardCase]:
    """Return (unit, id, label, decision or prediction, how wrong) of the samples that a method finds hardest.

    Binary: positives, then negatives, by the share of the other class of their test set that outranks them. Several
    classes: mistakes, by the margin of the wrong class. Real: by residual.
    """
    if dataset.kind == "real":
        return _largest_residuals(dataset, table, 2 * count)
    if dataset.kind == "multiclass":
        return _surest_mistakes(dataset, table, 2 * count)
    sides: tuple[list[HardCase], list[HardCase]] = ([], [])
    for unit, rows in rows_by_value(table, dataset.unit(table)):
        name = positive_class(dataset, rows)
        for _, part in rows_by_value(rows, "split"):
            positive = (part["label"] == name).to_numpy()
            for cases, side, sign in zip(sides, (positive, ~positive), (1, -1), strict=True):
                cases += _misranked(unit, part, side, sign, count)
    return [case for cases in sides for case in sorted(cases, key=lambda case: (-case[-1], case[1]))[:count]]


def _misranked(unit: str, part: pd.DataFrame, side: npt.NDArray[np.bool_], sign: int, count: int) -> list[HardCase]:
    """Return the samples of one class that most of the other outranks; `sign` is -1 for the negatives."""
    decision = part["decision"].to_numpy()
    others = np.sort(sign * decision[~side])
    if not side.any() or not len(others):
        return []
    share = 1 - np.searchsorted(others, sign * decision[side]) / len(others)
    names = part[["id", "label"]].to_numpy()[side]
    worst = np.argsort(-share, kind="stable")[:count]
    return [(unit, *names[i], decision[side][i], share[i]) for i in worst if share[i] > 0]


def _surest_mistakes(dataset: DatasetResults, table: pd.DataFrame, count: int) -> list[HardCase]:
    """Return wrong predictions, sorted by how far the predicted class's decision exceeds the true class's."""
    classes, known = _known_classes(dataset, table)
    columns = [f"decision:{name}" for name in classes]
    if not all(column in table for column in columns):
        return []
    wrong = known[known["label"] != known["predicted"]]
    code = {name: i for i, name in enumerate(classes)}
    values, rows = wrong[columns].to_numpy(), np.arange(len(wrong))
    margin = values[rows, wrong["predicted"].map(code)] - values[rows, wrong["label"].map(code)]
    order = np.lexsort((wrong["id"].to_numpy().astype(str), -margin))[:count]
    unit, chosen = dataset.unit(wrong), wrong[["id", "label", "predicted"]].to_numpy()
    return [(unit.iloc[i], *chosen[i], margin[i]) for i in order]


def _largest_residuals(dataset: DatasetResults, table: pd.DataFrame, count: int) -> list[HardCase]:
    """Return the samples whose predicted value is furthest from the true one."""
    true, predicted = numbers(table["label"]).to_numpy(), table["decision"].to_numpy()
    residual = np.abs(true - predicted)
    order = np.lexsort((table["id"].to_numpy().astype(str), -residual))[:count]
    unit, ids = dataset.unit(table), table["id"].to_numpy()
    return [(unit.iloc[i], ids[i], f"{true[i]:g}", predicted[i], residual[i]) for i in order]


# Counts of positives and negatives above each threshold of a method's decision values.

MOST_PLACES = 400
"""Maximum number of positions of the slider that moves a threshold; more could not be distinguished."""


@dataclass(frozen=True)
class Thresholds:
    """The confusion matrix of two classes, over all test sets, as predicted and at other thresholds."""

    positives: int  # Test samples of each class
    negatives: int  # Test samples of each class
    predicted: tuple[int, int]  # Of the positives and of the negatives, those predicted positive
    # A threshold, and of the positives and of the negatives those whose decision value reaches it
    places: list[tuple[str, int, int]]
    start: int  # The place whose counts are nearest to those predicted


def thresholds(dataset: DatasetResults, table: pd.DataFrame) -> Thresholds | None:
    """Return the counts at each threshold; None unless there are positives and negatives."""
    positive, called = np.zeros(len(table), bool), np.zeros(len(table), bool)
    for task, rows in rows_by_value(table, "task"):
        name, own = positive_class(dataset, rows), (table["task"] == task).to_numpy()
        positive[own] = (rows["label"] == name).to_numpy()
        called[own] = (rows["predicted"] == name).to_numpy()
    decision = table["decision"].to_numpy(float)
    known = np.isfinite(decision)
    positive, called, decision = positive[known], called[known], decision[known]
    if not positive.any() or positive.all():
        return None
    predicted = int(np.sum(positive & called)), int(np.sum(~positive & called))
    values = _values(decision)
    above = [len(side) - np.searchsorted(np.sort(side), values) for side in (decision[positive], decision[~positive])]
    gaps = np.abs(above[0] - predicted[0]) + np.abs(above[1] - predicted[1])
    places = [(f"{value:.4g}", int(tp), int(fp)) for value, tp, fp in zip(values, *above, strict=True)]
    return Thresholds(int(positive.sum()), int((~positive).sum()), predicted, places, int(np.argmin(gaps)))


def _values(decision: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return thresholds with four significant digits, as on the page, from below all decisions to above all."""
    inside = np.quantile(decision, np.linspace(0, 1, MOST_PLACES))
    low, high = decision.min(), decision.max()
    room = 0.01 * (high - low) or 1.0
    values = [low - room, *inside, high + room, *([0.0] if low < 0 < high else [])]
    return np.array(sorted({float(f"{value:.4g}") for value in values}))


# Sequences of single samples, from the stored data set, cut to fit a table.

MOST_RESIDUES = 60
"""Maximum number of a sequence's residues in a cell of a table."""


def stored_sequences(dataset: DatasetResults, ids: Iterable[str]) -> dict[str, str]:
    """Return the sequences of samples by id, upper case, with ``*`` for masked residues.

    It is empty if the data set is not stored, or holds no sequences.
    """
    folder = dataset.folder("datasets")
    if not (folder / "data.npz").exists():
        return {}
    X = load_dataset(folder).X
    if not isinstance(X, SequenceSet):
        return {}
    row = {name: i for i, name in enumerate(map(str, X.ids))}
    return {name: X.string(row[name]) for name in ids if name in row}


def sequence_cell(sequence: str) -> Markup:
    """Return a sequence in fixed width; of a long one the start is shown, with its length.

    >>> sequence_cell("ACGT")
    '<code class="sequence">ACGT</code>'
    """
    shown = sequence[:MOST_RESIDUES]
    if len(shown) == len(sequence):
        return Markup(f'<code class="sequence">{escape(shown)}</code>')
    return Markup(f'<code class="sequence">{escape(shown)}…</code><small> {len(sequence)} residues</small>')
