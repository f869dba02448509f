"""Which units are held out together: the ways to divide a data set into training and test parts.

Every function here is pure: arrays in, arrays out. `folds` gives them names, checks what they return and
keeps it in files. The k-fold routine is our own and not scikit-learn's StratifiedKFold and StratifiedGroupKFold: one
routine serves single units and groups alike, is ten times as fast on groups, deals them more evenly, and gives the
same folds for a seed with every version of scikit-learn.
"""

import numpy as np
from numpy.typing import ArrayLike


def merge_groups(n: int, *partitions: ArrayLike | None, pairs: ArrayLike | None = None) -> np.ndarray:
    """Merge partitions of n units: units that share a group in any, or a pair, share one in the result.

    Parameters
    ----------
    n : int
    *partitions : array_like of shape (n,), or None
        The group of each unit; None is ignored.
    pairs : array_like of int, shape (m, 2), optional
        Further units to keep together.

    Returns
    -------
    ndarray of int64, shape (n,)
        Groups numbered in the order of their first units.
    """
    partitions = [np.asarray(partition) for partition in partitions if partition is not None]
    group = _numbered(partitions[0]) if partitions else np.arange(n, dtype=np.int64)
    # groups are joined, not units, of which there may be very many
    links = [] if pairs is None else [group[np.asarray(pairs, dtype=np.int64).reshape(-1, 2)]]
    for partition in partitions[1:]:
        _, first, other = np.unique(partition, return_index=True, return_inverse=True)
        links.append(np.stack((group, group[first[other]]), axis=1))
    if not n or not links:
        return group
    # imported only where groups are joined: costs start-up
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends, count = np.concatenate(links).T, int(group.max()) + 1
    graph = coo_array((np.ones(ends.shape[1]), tuple(ends)), shape=(count, count))
    return _numbered(connected_components(graph, directed=False)[1][group])


def _numbered(partition):
    """Return int64: the groups of a partition numbered in the order of their first units."""
    _, first, group = np.unique(partition, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[group]


def _level(counts, units, totals):
    """Return how many of `units` each fold gets so that its `counts` end as even as they can.

    What is left after levelling goes to the folds with the smallest `totals`.
    """
    order = np.argsort(counts, kind="stable")
    level = counts[order]
    # the lowest a folds can be raised to the next one's height at this cost
    cost = np.append(level[1:] * np.arange(1, len(level)) - np.cumsum(level)[:-1], np.iinfo(np.int64).max)
    a = int(np.searchsorted(cost, units, side="right")) + 1
    height, left = divmod(units + int(level[:a].sum()), a)
    given = np.maximum(height - counts, 0)
    lowest = order[:a]
    favoured = lowest[np.lexsort((lowest, (totals + given)[lowest]))]
    given[favoured[:left]] += 1
    return given


def deal(
    y: np.ndarray, k: int, seed: int | list[int], groups: np.ndarray | None = None, *, largest_first: bool = True
) -> np.ndarray:
    """Deal units into k folds, each with its share of every class, no group divided.

    Groups of several units go first, from the largest to the smallest, each to the fold where its classes are
    rarest; single units then level every class. Without groups the folds' counts of a class, and their sizes,
    differ by one at most. Order within equals is drawn with `seed`.

    Parameters
    ----------
    y : ndarray of int, shape (n,)
        The class of each unit; zeros where there are no classes.
    k : int
    seed : int or list of int
    groups : ndarray of int, shape (n,), optional
    largest_first : bool
        False takes groups of several units in an order drawn with `seed`: folds are less even, but each seed has its
        own even where no two groups are of one size.

    Returns
    -------
    ndarray of int64, shape (n,)
        The fold of each unit, 0 to k − 1.
    """
    rng = np.random.default_rng(seed)
    y = np.unique(y, return_inverse=True)[1]
    n, n_classes = len(y), int(y.max()) + 1
    if groups is None:
        groups = np.arange(n)
    _, group, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    share = 1.0 / np.bincount(y, minlength=n_classes)
    fold = np.full(n, -1, dtype=np.int64)
    counts = np.zeros((k, n_classes), dtype=np.int64)

    several = rng.permutation(np.flatnonzero(sizes > 1))
    if largest_first:
        several = several[np.argsort(-sizes[several], kind="stable")]
    order, ends = np.argsort(group, kind="stable"), np.cumsum(sizes)
    for g in several:
        members = order[ends[g] - sizes[g] : ends[g]]
        inside = np.bincount(y[members], minlength=n_classes)
        totals = counts.sum(axis=1)
        crowding = (counts * share) @ (inside * share) + totals * (sizes[g] / n**2)
        best = np.lexsort((totals, crowding))[0]
        fold[members] = best
        counts[best] += inside

    single = sizes[group] == 1
    for c in range(n_classes):
        units = rng.permutation(np.flatnonzero(single & (y == c)))
        given = _level(counts[:, c], len(units), counts.sum(axis=1))
        fold[units] = np.repeat(np.arange(k), given)
        counts[:, c] += given
    return fold


def locus_blocks(chromosome: ArrayLike, position: ArrayLike, gap: int, block: int = 0) -> np.ndarray:
    """Cut chromosomes into blocks of windows, at least `gap` bases apart from one another.

    Windows nearer than `gap` to their neighbour on the chromosome stay with it, whatever their strands; a
    block ends at the first such gap after it spans `block` bases.

    Parameters
    ----------
    chromosome : array_like of str, shape (n,)
    position : array_like of int, shape (n,)
        A position of the window, the same for all windows (its start or its site).
    gap : int
        At least the length of a window, so that windows of two blocks do not overlap.
    block : int
        Least span of a block in bases; 0 cuts at every gap.

    Returns
    -------
    ndarray of int64, shape (n,)
        The block of each window.
    """
    chromosome, position = np.asarray(chromosome), np.asarray(position, dtype=np.int64)
    order = np.lexsort((position, chromosome))
    cuts = np.zeros(len(order), dtype=np.int64)
    begin = None
    for rank in range(len(order)):
        here, before = order[rank], order[rank - 1]
        if begin is None or chromosome[here] != chromosome[before]:
            begin, cuts[rank] = position[here], rank > 0
        elif position[here] - position[before] >= gap and position[before] - begin >= block:
            begin, cuts[rank] = position[here], 1
    blocks = np.empty(len(order), dtype=np.int64)
    blocks[order] = np.cumsum(cuts)
    return blocks
