"""Choices that were made by the mean rank over several tasks."""

from seqkern.evaluation.fold_tables import POOLED_COLUMNS
from seqkern.figures.numbers import number
from seqkern.report.dataset_results import DatasetResults
from seqkern.report.files import numbers


def pooled_tasks(dataset: DatasetResults) -> str | None:
    """Return over how many tasks choices were made, such as ``12 to 14 tasks``; None where each task had its own.

    Parameters
    ----------
    dataset : DatasetResults
        Results of the data set.

    Returns
    -------
    str or None
    """
    if not dataset.study.inner.pools or POOLED_COLUMNS[0] not in dataset.choices:
        return None
    counts = numbers(dataset.choices[POOLED_COLUMNS[0]]).dropna()
    if not len(counts) or counts.max() <= 1:
        return None
    least, most = number(counts.min(), 0), number(counts.max(), 0)
    return f"{most} tasks" if least == most else f"{least} to {most} tasks"
