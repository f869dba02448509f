"""The small picture of a Gram matrix: which rows stand together, and what they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqkern.figures.gram import Thumbnail, block_means
from seqkern.report.dataset_results import DatasetResults
from seqkern.report.files import numbers

if TYPE_CHECKING:
    import pandas as pd


def thumbnail(dataset: DatasetResults, kernel: str) -> Thumbnail | None:
    """Return the Thumbnail of a kernel's Gram matrix; None where matrix or samples are missing or differ.

    Parameters
    ----------
    dataset : DatasetResults
        Results of the data set.
    kernel : str
        Name of the kernel in the configuration.

    Returns
    -------
    Thumbnail or None
    """
    matrix, samples = dataset.gram(kernel), dataset.sample_table
    if matrix is None or samples is None or matrix.shape != (len(samples), len(samples)):
        return None
    order, names, sorted_by = sample_order(dataset, samples)
    if not len(order):
        return None
    picture, edges, sampled = block_means(matrix, order)
    bands = []
    for name in dict.fromkeys(names):
        places = np.flatnonzero([other == name for other in names])
        first, last = np.interp([places[0], places[-1] + 1], edges, np.arange(len(edges)))
        bands.append((name, float(first), float(last)))
    return Thumbnail(picture, bands, len(order), sampled, sorted_by)


def sample_order(dataset: DatasetResults, samples: pd.DataFrame) -> tuple[npt.NDArray[np.int64], list[str], str]:
    """Return (order int64, class of each sample in order, sorted by what); unlabelled samples are left out.

    Parameters
    ----------
    dataset : DatasetResults
        Results of the data set.
    samples : DataFrame
        The table of samples: a row for each row of the matrix.

    Returns
    -------
    (ndarray of int64, list[str], str)
        Rows in order, the class of each (empty where there are no classes), and what they are sorted by.
    """
    tasks = [task for task in dataset.tasks if task in samples]
    if not tasks:
        return np.arange(len(samples)), [], "their order in the input"
    if dataset.several and dataset.kind == "binary":
        # Members of one superfamily are positive in the same tasks; what is positive in none comes last.
        negative = [samples[task] != dataset.classes(task)[-1] for task in tasks if dataset.classes(task)]
        return np.lexsort(negative[::-1]), [], "the tasks in which a sequence is positive"
    task, which = tasks[0], " of the first task" if dataset.several else ""
    labels = samples[task]
    if dataset.kind == "real":
        values = numbers(labels).to_numpy()
        order = np.argsort(values, kind="stable")
        return order[~np.isnan(values[order])], [], f"label{which}"
    code = {name: i for i, name in enumerate(dataset.classes(task))}
    codes = np.array([code.get(name, len(code)) for name in labels], dtype=np.int64)
    order = np.argsort(codes, kind="stable")
    order = order[codes[order] < len(code)]
    return order, list(labels.to_numpy()[order]), f"class{which}"
