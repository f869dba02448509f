"""Training parts of a given size, smaller ones parts of larger ones: the learning curve of a method."""

import numpy as np

from seqkern.core.checks import check_integer
from seqkern.core.errors import FoldError


def sample(units, rows, size, seed):
    """Return `size` of the rows (None: all), with each class's share of them; smaller samples are parts of larger ones.

    The learning curve of a method is drawn with nested training parts.
    """
    if size is None:
        return rows
    _check_size(units, rows, size)
    order = np.random.default_rng(seed).permutation(rows)
    y = units.classes()[order]
    place = np.empty(len(order))
    for code in np.unique(y):
        members = np.flatnonzero(y == code)
        place[members] = (np.arange(len(members)) + 0.5) / len(members)  # where it stands in its class, from 0 to 1
    return np.sort(order[np.argsort(place, kind="stable")[:size]])


def smaller(units, splits, groups, size, seed):
    """Return splits whose training parts hold up to `size` units (None: all), whole groups, where there are any.

    Smaller training parts are parts of larger ones: one order of the groups, drawn once, serves all sizes and splits.
    """
    if size is None:
        return splits
    if groups is None:
        return [(name, sample(units, train, size, seed), test) for name, train, test in splits]
    order = np.random.default_rng(seed).permutation(int(groups.max()) + 1)
    return [(name, _whole_groups(units, train, size, groups, order), test) for name, train, test in splits]


def _whole_groups(units, rows, size, groups, order):
    """Return the rows of the first groups of an order that have up to `size` rows together, at least one group."""
    _check_size(units, rows, size)
    counts = np.bincount(groups[rows], minlength=len(order))[order]
    present = order[counts > 0]
    taken = int(np.searchsorted(np.cumsum(counts[counts > 0]), size, side="right"))
    chosen = np.zeros(len(order), dtype=bool)
    chosen[present[: max(taken, 1)]] = True
    return rows[chosen[groups[rows]]]


def _check_size(units, rows, size):
    """Raise an error unless a training part of `rows` has `size` units."""
    check_integer("train_size", size, 2)
    if size > len(rows):
        raise FoldError(
            f"the training part of task {units.task!r} has {len(rows)} units, train_size asks for {size}",
            remedy="give a smaller train_size",
        )
