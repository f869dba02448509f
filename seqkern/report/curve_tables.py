"""The points of all ROC and precision-recall curves, fold by fold: ``roc.tsv`` and ``pr.tsv``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from seqkern.core.tsv import write_tsv
from seqkern.evaluation.ranking import precision_recall_curve, roc_curve
from seqkern.report.dataset_results import DatasetResults
from seqkern.report.files import rows_by
from seqkern.report.positive import positive_class

if TYPE_CHECKING:
    import pandas as pd

PLACE = ("dataset", "kernel", "solver", "task", "split")
ROC_COLUMNS = (*PLACE, "false_positive_rate", "true_positive_rate", "threshold", "class")
PR_COLUMNS = (*PLACE, "recall", "precision", "threshold", "class")

Row = tuple[object, ...]
Array = npt.NDArray[np.float64]


class Ranked(NamedTuple):
    """The decisions of one test set for one positive class."""

    place: tuple[str, ...]
    name: str
    positive: npt.NDArray[np.bool_]
    decision: Array


def write_curves(datasets: Sequence[DatasetResults], folder: Path) -> None:
    """Write ``roc.tsv`` and ``pr.tsv``; their heads alone where no curve is defined.

    A sample is predicted positive if its decision is at least ``threshold``. Of several classes each has a curve,
    against all others; ``class`` is the positive class. Points on a straight line between two others are left out of
    ROC curves, of precision-recall curves those between two others of the same recall. Test sets that hold one class
    have no curve.

    Parameters
    ----------
    datasets : sequence of DatasetResults
        In the order of the page.
    folder : Path
        Gets the two files.

    Raises
    ------
    FileError
        If a file cannot be written.
    """
    curves = list(_ranked(datasets))  # every table of decisions is read once
    write_tsv(folder / "roc.tsv", ROC_COLUMNS, (row for one in curves for row in _roc_rows(one)))
    write_tsv(folder / "pr.tsv", PR_COLUMNS, (row for one in curves for row in _pr_rows(one)))


def _ranked(datasets: Sequence[DatasetResults]) -> Iterator[Ranked]:
    """Yield what each curve is made of: by method, task, split and class."""
    for dataset in datasets:
        if dataset.kind == "real":
            continue
        for method in dataset.done:
            table = dataset.decisions(method)
            if table is None:
                continue
            for (task, split), rows in rows_by(table, ["task", "split"]):
                place = (dataset.name, *method, task, split)
                for name, column in _classes(dataset, task, rows):
                    known = rows[rows[column].notna()]
                    yield Ranked(place, name, (known["label"] == name).to_numpy(), known[column].to_numpy(float))


def _classes(dataset: DatasetResults, task: str, rows: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """Yield the classes that have decisions, each with its column."""
    if dataset.kind == "binary":
        yield positive_class(dataset, rows), "decision"
        return
    for name in dataset.classes(task) or sorted(set(rows["label"])):
        if f"decision:{name}" in rows:
            yield name, f"decision:{name}"


def _roc_rows(one: Ranked) -> Iterator[Row]:
    """Yield the corners of a ROC curve."""
    if one.positive.any() and not one.positive.all():
        for point in zip(*roc_curve(one.positive, one.decision), strict=True):
            yield (*one.place, *map(float, point), one.name)


def _pr_rows(one: Ranked) -> Iterator[Row]:
    """Yield the points of a precision-recall curve."""
    if one.positive.any() and not one.positive.all():
        curve = precision_recall_curve(one.positive, one.decision)
        same = np.diff(curve.recall) == 0
        kept = ~(np.append(False, same) & np.append(same, False))
        for point in zip(*(values[kept] for values in curve), strict=True):
            yield (*one.place, *map(float, point), one.name)
