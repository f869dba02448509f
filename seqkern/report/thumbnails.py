"""A Gram matrix as a small picture with the classes sorted."""

from dataclasses import dataclass

import numpy as np

from seqkern.report.files import numbers

ROWS_AT_ONCE = 16


@dataclass
class Thumbnail:
    """A picture of a Gram matrix.

    Attributes
    ----------
    picture : ndarray of float64, shape (p, p)
        Block means.
    bands : list of (str, float, float)
        Name, first and last place of each class, in pixels.
    total, sampled : int
        How many units there are, and how many stand for all.
    sorted_by : str
    """

    picture: np.ndarray
    bands: list
    total: int
    sampled: int
    sorted_by: str


def thumbnail(dataset, kernel):
    """Return the Thumbnail of a kernel's Gram matrix; None where matrix or units are missing or differ."""
    matrix, units = dataset.gram(kernel), dataset.unit_table
    if matrix is None or units is None or matrix.shape != (len(units), len(units)):
        return None
    order, names, sorted_by = unit_order(dataset, units)
    if not len(order):
        return None
    picture, edges, sampled = block_means(matrix, order)
    bands = []
    for name in dict.fromkeys(names):
        places = np.flatnonzero([other == name for other in names])
        first, last = np.interp([places[0], places[-1] + 1], edges, np.arange(len(edges)))
        bands.append((name, float(first), float(last)))
    return Thumbnail(picture, bands, len(order), sampled, sorted_by)


def unit_order(dataset, units):
    """Return (order int64, class of each unit in order, sorted by what); unlabelled units are left out."""
    tasks = [task for task in dataset.tasks if task in units]
    if not tasks:
        return np.arange(len(units)), [], "their order in the input"
    if dataset.several:
        # Members of one superfamily are positive in the same tasks; what is positive in none comes last.
        negative = [units[task] != dataset.classes(task)[-1] for task in tasks if dataset.classes(task)]
        return np.lexsort(negative[::-1]), [], "the tasks in which a sequence is positive"
    task = tasks[0]
    labels = units[task]
    if dataset.kind == "real":
        values = numbers(labels).to_numpy()
        order = np.argsort(values, kind="stable")
        return order[~np.isnan(values[order])], [], "label"
    code = {name: i for i, name in enumerate(dataset.classes(task))}
    codes = np.array([code.get(name, len(code)) for name in labels], dtype=np.int64)
    order = np.argsort(codes, kind="stable")
    order = order[codes[order] < len(code)]
    return order, list(labels.to_numpy()[order]), "class"


def block_means(matrix, order, pixels=160, cap=1600):
    """Return a small picture of a square matrix: means of blocks, read a few rows at a time.

    Parameters
    ----------
    matrix : ndarray or memmap, shape (n, n)
    order : ndarray of int64, shape (n,)
        The order of rows and columns in the picture.
    pixels : int
        Most pixels on a side.
    cap : int
        Of more rows than this, as many evenly spaced ones stand for all.

    Returns
    -------
    picture : ndarray of float64, shape (p, p)
    edges : ndarray of int64, shape (p + 1,)
        Pixel i stands for rows ``order[edges[i]:edges[i + 1]]``.
    sampled : int
        How many rows were read.
    """
    n = len(order)
    side = min(n, pixels)
    chosen = np.arange(n) if n <= cap else np.unique(np.linspace(0, n - 1, cap).round().astype(np.int64))
    edges = np.linspace(0, n, side + 1).round().astype(np.int64)
    pixel = np.searchsorted(edges, chosen, side="right") - 1
    starts = np.searchsorted(pixel, np.arange(side))
    size = np.diff(np.append(starts, len(chosen)))
    rows = order[chosen]
    picture = np.zeros((side, side))
    for first in range(0, len(rows), ROWS_AT_ONCE):
        part = slice(first, first + ROWS_AT_ONCE)
        values = np.asarray(matrix[rows[part]], dtype=np.float64)[:, rows]
        np.add.at(picture, pixel[part], np.add.reduceat(values, starts, axis=1))
    return picture / np.outer(size, size), edges, len(chosen)
