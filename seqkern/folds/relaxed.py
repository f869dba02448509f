"""Similarity groups as far as folds allow: a class that they leave with too few groups is split by single samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from seqkern.folds.splitters import Indices, merge_groups
from seqkern.sequences.labels import Labels

LEAST = 3
"""Groups of a class that inner folds need: two are left in each training set, for solvers with folds of their own."""


def relaxed_groups(
    similar: npt.ArrayLike,
    others: npt.ArrayLike | None,
    labels: Labels,
    trainings: Sequence[Indices] | None = None,
    least: int = LEAST,
) -> tuple[Indices | None, tuple[str, ...]]:
    """Return similarity groups that leave every class enough groups to split.

    The samples of a class with fewer than `least` groups, where it would have more without similarity, are taken from
    their similarity groups.

    Parameters
    ----------
    similar : array_like of int, shape (n,)
        The similarity group of each sample.
    others : array_like, shape (n,), or None
        Groups that are kept in any case: given ones, loci, chains.
    labels : Labels
        Labels of the n samples.
    trainings : sequence of ndarray of int64, optional
        The sets that are to be split, as rows; default: all samples.
    least : int
        Smallest number of groups of each class in each set.

    Returns
    -------
    groups : ndarray of int64, shape (n,), or None
        Without `others`; None if no two samples are similar.
    reasons : tuple of str
        A sentence for each class whose samples were taken from their groups.

    Examples
    --------
    >>> from seqkern.folds.relaxed import relaxed_groups
    >>> from seqkern.sequences.labels import make_labels
    >>> labels = make_labels(list("abcdefgh"), ["globin"] * 4 + ["other"] * 4)
    >>> groups, reasons = relaxed_groups([0, 0, 0, 0, 1, 1, 2, 3], None, labels)
    >>> groups.tolist()
    [0, 1, 2, 3, 4, 4, 5, 6]
    >>> print(*reasons)
    class 'globin' has 1 group of similar samples, too few to split: its samples are split as if they were not similar
    """
    n = len(labels)
    groups = merge_groups(n, similar)
    y = np.zeros(n, dtype=np.int64) if labels.kind in ("real", "none") else labels.y.astype(np.int64)
    sets = [np.arange(n)] if trainings is None else trainings
    alone = merge_groups(n, np.arange(n) if others is None else others)
    reasons = []
    for code in np.unique(y[y >= 0]):
        merged = merge_groups(n, alone, groups)
        members = [rows[y[rows] == code] for rows in sets]
        count, single = min((len(np.unique(merged[rows])), len(np.unique(alone[rows]))) for rows in members)
        if count >= min(least, single):
            continue
        rows = np.flatnonzero(y == code)
        groups[rows] = groups.max() + 1 + np.arange(len(rows))
        name = "the task" if labels.kind in ("real", "none") else f"class {labels.classes[code]!r}"
        reasons.append(
            f"{name} has {count} group{'s' * (count != 1)} of similar samples, too few to split: its samples are split "
            "as if they were not similar"
        )
    groups = merge_groups(n, groups)
    return (groups if groups.max(initial=-1) + 1 < n else None), tuple(reasons)
