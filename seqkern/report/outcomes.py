"""What the decisions of one method look like: ROC curves, confusions, and the samples hardest to get right."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from seqkern.figures.curves import mean_curve, roc_points
from seqkern.report.dataset_results import DatasetResults
from seqkern.report.files import numbers, rows_by_value
from seqkern.report.positive import positive_class

if TYPE_CHECKING:
    import pandas as pd


Curve: TypeAlias = tuple[np.ndarray, np.ndarray]
"""False and true positive rates of a ROC curve's corners."""
HardCase: TypeAlias = tuple[str, str, str, str | float, float]
"""What scores are averaged over, id, label, decision (or predicted class), and how wrong it is."""


@dataclass
class Outcome:
    """What figures need of one method's decisions.

    Attributes
    ----------
    curves : list of (str, (false, true))
        Named by unit; for several classes by class, averaged over the splits.
    pooled : bool
        Whether the curves are of all splits together, because single ones hold one class only.
    confusion : ndarray of int, shape (classes, classes), or None
        Rows are true, columns predicted classes, over all splits.
    points : (true, predicted) or None
        Of real labels.
    """

    curves: list[tuple[str, Curve]] = field(default_factory=list)
    pooled: bool = False
    confusion: npt.NDArray[np.int64] | None = None
    points: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None = None


def outcome(dataset: DatasetResults, table: pd.DataFrame) -> Outcome:
    """Return the Outcome of a table of decisions.

    Parameters
    ----------
    dataset : DatasetResults
        Results of the data set.
    table : DataFrame
        The decisions of one method on the test samples.

    Returns
    -------
    Outcome
    """
    if dataset.kind == "real":
        return Outcome(points=(numbers(table["label"]).to_numpy(), table["decision"].to_numpy()))
    if dataset.kind == "multiclass":
        return _multiclass_outcome(dataset, table)
    result = Outcome()
    for unit, rows in rows_by_value(table, dataset.unit(table)):
        curves = _split_curves(rows, positive_class(dataset, rows), "decision")
        result.curves += [(unit, curve) for curve in curves]
    if not result.curves:
        result.pooled = True
        for task, rows in rows_by_value(table, "task"):
            false, true = _points(rows, positive_class(dataset, rows), "decision")
            if false is not None and true is not None:
                result.curves.append((task, (false, true)))
    return result


def _points(rows: pd.DataFrame, positive: str, column: str) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return the ROC corners of one column of decisions."""
    return roc_points((rows["label"] == positive).to_numpy(), rows[column].to_numpy())


def _split_curves(rows: pd.DataFrame, positive: str, column: str) -> list[Curve]:
    """Return the curves of the splits in which both classes occur."""
    curves = [_points(part, positive, column) for _, part in rows_by_value(rows, "split")]
    return [(false, true) for false, true in curves if false is not None and true is not None]


def _multiclass_outcome(dataset: DatasetResults, table: pd.DataFrame) -> Outcome:
    """Return curves of each class against the rest, and the confusion matrix."""
    classes, known = _known_classes(dataset, table)
    code = {name: i for i, name in enumerate(classes)}
    confusion = np.zeros((len(classes), len(classes)), dtype=int)
    np.add.at(confusion, (known["label"].map(code), known["predicted"].map(code)), 1)
    result = Outcome(confusion=confusion)
    for name in classes:
        column = f"decision:{name}"
        curves = _split_curves(table, name, column) if column in table else []
        if curves:
            result.curves.append((name, mean_curve(curves)))
    return result


def _known_classes(dataset: DatasetResults, table: pd.DataFrame) -> tuple[list[str], pd.DataFrame]:
    """Return the classes in order, and the rows with a known class and prediction."""
    classes = dataset.classes(table["task"].iloc[0]) or sorted(set(table["label"]))
    return classes, table[table["label"].isin(classes) & table["predicted"].isin(classes)]


def hard_cases(dataset: DatasetResults, table: pd.DataFrame, count: int = 10) -> list[HardCase]:
    """Return the samples that a method finds hardest.

    Parameters
    ----------
    dataset : DatasetResults
        Results of the data set.
    table : DataFrame
        The method's decisions.
    count : int
        How many of each class; twice as many if there are several classes, or numbers.

    Returns
    -------
    list of (unit, id, label, decision or prediction, how wrong)
        Binary: positives, then negatives, by the share of the other class of their test set on whose wrong
        side they are ranked. Several classes: mistakes, by the margin of the wrong class. Real: by residual.
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
    """Return wrong predictions by how far the predicted class lies above the true one."""
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
