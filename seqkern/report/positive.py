"""Which of two classes higher decisions stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqkern.report.dataset_results import DatasetResults

if TYPE_CHECKING:
    import pandas as pd


def positive_class(dataset: DatasetResults, *tables: pd.DataFrame) -> str:
    """Return the name of the positive class of a task.

    It is the task's last where a summary names its classes; else the class that is predicted for higher decisions, in
    the first table that predicts both. Where all predict one class, it is that one if some decision is above zero, else
    the other.

    Parameters
    ----------
    dataset : DatasetResults
        Results of the data set.
    *tables : DataFrame
        Decisions of methods on the task.

    Returns
    -------
    str
        Name of the class that higher decisions stand for.
    """
    first = tables[0]
    classes = dataset.classes(first["task"].iloc[0])
    if classes:
        return classes[-1]
    for table in tables:
        means = table.groupby("predicted")["decision"].mean()
        if len(means) == 2:
            return str(means.idxmax())
    labels = sorted(set(first["label"]))
    predicted, highest = first["predicted"].iloc[0], first["decision"].max()
    others = [name for name in labels if name != predicted]
    return predicted if highest > 0 or not others else others[-1]
