"""Nested training sets of given sizes, for learning curves."""

from collections.abc import Sequence

import numpy as np

from seqkern.core.checks import check_integer
from seqkern.core.errors import FoldError
from seqkern.folds.samples import NamedSplit, Samples
from seqkern.folds.splitters import Indices


def nested_subset(samples: Samples, rows: Indices, size: int | None, seed: int) -> Indices:
    """Draw a stratified subset of the rows; smaller subsets are contained in larger ones.

    The learning curve of a method is drawn with nested training sets.

    Parameters
    ----------
    samples : Samples
        Labels of the task.
    rows : ndarray of int64, shape (m,)
        The rows to draw from.
    size : int or None
        Number of rows, at least 2; None for all.
    seed : int
        Seed of the order of drawing.

    Returns
    -------
    ndarray of int64, shape (size,)
        Sorted.

    Raises
    ------
    ParameterError
        If the size is invalid.
    FoldError
        If there are fewer rows.
    """
    if size is None:
        return rows
    _check_size(samples, rows, size)
    order = np.random.default_rng(seed).permutation(rows)
    y = samples.classes()[order]
    place = np.empty(len(order))
    for code in np.unique(y):
        members = np.flatnonzero(y == code)
        place[members] = (np.arange(len(members)) + 0.5) / len(members)  # relative rank in its class, from 0 to 1
    return np.sort(order[np.argsort(place, kind="stable")[:size]])


def with_train_size(
    samples: Samples, splits: Sequence[NamedSplit], groups: Indices | None, size: int | None, seed: int
) -> list[NamedSplit]:
    """Return splits with training sets of at most a given size, made of whole groups if there are any.

    Smaller training sets are contained in larger ones: one random order of the groups serves all sizes and splits.

    Parameters
    ----------
    samples : Samples
        Samples of the task.
    splits : sequence of (str, ndarray, ndarray)
        Name, training rows and test rows of each.
    groups : ndarray of int64, shape (n,), optional
        The group of each sample.
    size : int or None
        Number of training samples, at least 2; None for all.
    seed : int
        Seed of the order of drawing.

    Returns
    -------
    list of (str, ndarray, ndarray)
        With the same test rows.

    Raises
    ------
    ParameterError
        If the size is invalid.
    FoldError
        If a training set has fewer samples.
    """
    if size is None:
        return list(splits)
    if groups is None:
        return [(name, nested_subset(samples, train, size, seed), test) for name, train, test in splits]
    order = np.random.default_rng(seed).permutation(int(groups.max()) + 1)
    return [(name, _whole_groups(samples, train, size, groups, order), test) for name, train, test in splits]


def _whole_groups(samples: Samples, rows: Indices, size: int, groups: Indices, order: Indices) -> Indices:
    """Return the rows of the first groups of an order with up to `size` rows in total, at least one group."""
    _check_size(samples, rows, size)
    counts = np.bincount(groups[rows], minlength=len(order))[order]
    present = order[counts > 0]
    taken = int(np.searchsorted(np.cumsum(counts[counts > 0]), size, side="right"))
    chosen = np.zeros(len(order), dtype=bool)
    chosen[present[: max(taken, 1)]] = True
    return rows[chosen[groups[rows]]]


def _check_size(samples: Samples, rows: Indices, size: int) -> None:
    """Raise an error unless a training set of `rows` has `size` samples."""
    check_integer("train_size", size, 2)
    if size > len(rows):
        raise FoldError(
            f"the training set of task {samples.task!r} has {len(rows)} samples, but train_size is {size}",
            remedy="reduce train_size",
        )
