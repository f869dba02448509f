"""How many positives and negatives lie above each threshold of a method's decision values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqkern.report.dataset_results import DatasetResults
from seqkern.report.files import rows_by_value
from seqkern.report.positive import positive_class

if TYPE_CHECKING:
    import pandas as pd

MOST_PLACES = 400
"""Of the slider that moves a threshold: more cannot be told apart."""


@dataclass(frozen=True)
class Thresholds:
    """The confusion matrix of two classes, over all test sets, as predicted and at other thresholds.

    Attributes
    ----------
    positives, negatives : int
        Test samples of each class.
    predicted : (int, int)
        Of the positives and of the negatives, those predicted positive.
    places : list of (str, int, int)
        A threshold, and of the positives and of the negatives those whose decision value reaches it.
    start : int
        The place whose counts are nearest to those predicted.
    """

    positives: int
    negatives: int
    predicted: tuple[int, int]
    places: list[tuple[str, int, int]]
    start: int

    def for_script(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        return dict(vars(self))


def thresholds(dataset: DatasetResults, table: pd.DataFrame) -> Thresholds | None:
    """Return the counts at each threshold; None unless there are positives and negatives.

    Parameters
    ----------
    dataset : DatasetResults
        With two classes.
    table : DataFrame
        The decisions of one method.

    Returns
    -------
    Thresholds or None
    """
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
    """Return thresholds with four digits, as the page shows them, from below all decisions to above all."""
    inside = np.quantile(decision, np.linspace(0, 1, MOST_PLACES))
    low, high = decision.min(), decision.max()
    room = 0.01 * (high - low) or 1.0
    values = [low - room, *inside, high + room, *([0.0] if low < 0 < high else [])]
    return np.array(sorted({float(f"{value:.4g}") for value in values}))
