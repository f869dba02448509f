"""Samples held out together: the ways to split a data set into training and test sets.

Every function here is pure: arrays in, arrays out. `folds` names them, checks their results and
stores these as files. The k-fold routine is our own and not scikit-learn's StratifiedKFold and StratifiedGroupKFold:
one routine serves both single samples and groups, is ten times as fast on groups, distributes them more evenly, and
gives the same folds for a seed with every version of scikit-learn.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]


def merge_groups(n: int, *partitions: npt.ArrayLike | None, pairs: npt.ArrayLike | None = None) -> Indices:
    """Merge partitions of n samples: samples that share a group in any, or a pair, share one in the result.

    Parameters
    ----------
    n : int
        The number of samples.
    *partitions : array_like of shape (n,), or None
        The group of each sample; None is ignored.
    pairs : array_like of int, shape (m, 2), optional
        Further samples to keep together.

    Returns
    -------
    ndarray of int64, shape (n,)
        Groups numbered in the order of their first samples.

    Examples
    --------
    >>> from seqkern.folds.splitters import merge_groups
    >>> merge_groups(5, ["a", "b", "a", "c", "d"], pairs=[[1, 3]]).tolist()
    [0, 1, 0, 1, 2]
    """
    given = [np.asarray(partition) for partition in partitions if partition is not None]
    group = _numbered(given[0]) if given else np.arange(n, dtype=np.int64)
    # joins groups instead of samples, of which there may be very many
    links = [] if pairs is None else [group[np.asarray(pairs, dtype=np.int64).reshape(-1, 2)]]
    for partition in given[1:]:
        _, first, other = np.unique(partition, return_index=True, return_inverse=True)
        links.append(np.stack((group, group[first[other]]), axis=1))
    if not n or not links:
        return group
    # imported here for fast start-up
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends, count = np.concatenate(links).T, int(group.max()) + 1
    graph = coo_array((np.ones(ends.shape[1]), tuple(ends)), shape=(count, count))
    return _numbered(connected_components(graph, directed=False)[1][group])


def _numbered(partition: npt.NDArray[Any]) -> Indices:
    """Return int64: the groups of a partition numbered in the order of their first samples."""
    _, first, group = np.unique(partition, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[group]


def _level(counts: Indices, samples: int, totals: Indices) -> Indices:
    """Return how many of `samples` each fold gets so that its `counts` become as even as possible.

    The remainder after levelling goes to the folds with the smallest `totals`.
    """
    order = np.argsort(counts, kind="stable")
    level = counts[order]
    # the lowest a folds can be raised to the level of the next one at this cost
    cost = np.append(level[1:] * np.arange(1, len(level)) - np.cumsum(level)[:-1], np.iinfo(np.int64).max)
    a = int(np.searchsorted(cost, samples, side="right")) + 1
    height, left = divmod(samples + int(level[:a].sum()), a)
    given = np.maximum(height - counts, 0)
    lowest = order[:a]
    favoured = lowest[np.lexsort((lowest, (totals + given)[lowest]))]
    given[favoured[:left]] += 1
    return given


def deal(
    y: npt.ArrayLike,
    k: int,
    seed: int | Sequence[int],
    groups: npt.ArrayLike | None = None,
    *,
    largest_first: bool = True,
) -> Indices:
    """Distribute samples over k folds, each with its share of every class, without dividing groups.

    Groups of several samples go first, from the largest to the smallest, each to the fold where its classes are
    rarest; single samples then level every class. Without groups, the folds' sizes and their counts of a class
    differ by at most one. Ties are broken at random with `seed`.

    Parameters
    ----------
    y : ndarray of int, shape (n,)
        The class of each sample; zeros without classes.
    k : int
        The number of folds.
    seed : int or list of int
        Seed of the random numbers.
    groups : ndarray of int, shape (n,), optional
        The group of each sample.
    largest_first : bool
        False orders groups of several samples at random with `seed`: folds are less even, but differ between seeds
        even if no two groups have the same size.

    Returns
    -------
    ndarray of int64, shape (n,)
        The fold of each sample, 0 to k − 1.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.folds.splitters import deal
    >>> y = np.array([0, 0, 0, 0, 1, 1])
    >>> fold = deal(y, 2, seed=1)
    >>> [np.bincount(y[fold == f]).tolist() for f in range(2)]
    [[2, 1], [2, 1]]
    """
    rng = np.random.default_rng(seed)
    classes: Indices = np.unique(y, return_inverse=True)[1]
    n, n_classes = len(classes), int(classes.max()) + 1
    if groups is None:
        groups = np.arange(n)
    _, group, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    share = 1.0 / np.bincount(classes, minlength=n_classes)
    fold = np.full(n, -1, dtype=np.int64)
    counts = np.zeros((k, n_classes), dtype=np.int64)

    several = rng.permutation(np.flatnonzero(sizes > 1))
    if largest_first:
        several = several[np.argsort(-sizes[several], kind="stable")]
    order, ends = np.argsort(group, kind="stable"), np.cumsum(sizes)
    for g in several:
        members = order[ends[g] - sizes[g] : ends[g]]
        inside = np.bincount(classes[members], minlength=n_classes)
        totals = counts.sum(axis=1)
        crowding = (counts * share) @ (inside * share) + totals * (sizes[g] / n**2)
        best = np.lexsort((totals, crowding))[0]
        fold[members] = best
        counts[best] += inside

    single = sizes[group] == 1
    for c in range(n_classes):
        rows = rng.permutation(np.flatnonzero(single & (classes == c)))
        given = _level(counts[:, c], len(rows), counts.sum(axis=1))
        fold[rows] = np.repeat(np.arange(k), given)
        counts[:, c] += given
    return fold


def locus_blocks(chromosome: npt.ArrayLike, position: npt.ArrayLike, gap: int, block: int = 0) -> Indices:
    """Cut chromosomes into blocks of windows, at least `gap` bases apart.

    Windows nearer than `gap` to their neighbour on the chromosome stay together, on either strand; a
    block ends at the first such gap after it spans `block` bases.

    Parameters
    ----------
    chromosome : array_like of str, shape (n,)
        The chromosome of each window.
    position : array_like of int, shape (n,)
        A position of the window, consistent for all windows (its start or its site).
    gap : int
        At least the length of a window, so that windows of two blocks do not overlap.
    block : int
        Minimum span of a block in bases; 0 cuts at every gap.

    Returns
    -------
    ndarray of int64, shape (n,)
        The block of each window.

    Examples
    --------
    >>> from seqkern.folds.splitters import locus_blocks
    >>> locus_blocks(["chr1", "chr1", "chr1", "chr2"], [100, 150, 5000, 100], gap=200).tolist()
    [0, 0, 1, 2]
    """
    chromosomes, places = np.asarray(chromosome), np.asarray(position, dtype=np.int64)
    order = np.lexsort((places, chromosomes))
    cuts = np.zeros(len(order), dtype=np.int64)
    begin = None
    for rank in range(len(order)):
        here, before = order[rank], order[rank - 1]
        if begin is None or chromosomes[here] != chromosomes[before]:
            begin, cuts[rank] = places[here], rank > 0
        elif places[here] - places[before] >= gap and places[before] - begin >= block:
            begin, cuts[rank] = places[here], 1
    blocks = np.empty(len(order), dtype=np.int64)
    blocks[order] = np.cumsum(cuts)
    return blocks
