"""Which regions no fold divides: those of one chromosome, or those that overlap."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

LEAST_CHROMOSOMES = 3
"""Chromosomes with every class that it takes to hold out whole ones."""


def loci(chromosomes: npt.ArrayLike, starts: npt.ArrayLike, lengths: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return the locus of each window: two windows nearer than the length of one of them share it.

    Parameters
    ----------
    chromosomes : array_like of str, shape (n,)
        A window with an empty name is its own locus.
    starts : array_like of int, shape (n,)
        The start of each window, or a position at the same place in all of them.
    lengths : array_like of int, shape (n,)
        Bases of each window.

    Returns
    -------
    ndarray of int64, shape (n,)

    Examples
    --------
    >>> loci(["chr1", "chr1", "chr1", "", "chr2"], [100, 250, 5000, 0, 100], [200, 300, 200, 200, 200]).tolist()
    [1, 1, 2, 0, 3]
    """
    names, which = np.unique(np.asarray(chromosomes, dtype=str), return_inverse=True)
    places, sizes = np.asarray(starts, dtype=np.int64), np.asarray(lengths, dtype=np.int64)
    found = np.zeros(len(places), dtype=np.int64)
    count = 0
    for number, name in enumerate(names.tolist()):
        rows = np.flatnonzero(which == number)
        if name:
            rows = rows[np.argsort(places[rows], kind="stable")]
            own = places[rows]
            # each window is linked to all whose positions lie within its length on either side
            first = np.searchsorted(own, own - sizes[rows], side="right")
            last = np.searchsorted(own, own + sizes[rows], side="left") - 1
            change = np.zeros(len(rows) + 1, dtype=np.int64)
            np.add.at(change, first, 1)
            np.add.at(change, last, -1)
            found[rows] = count + np.concatenate(([0], np.cumsum(np.cumsum(change)[: len(rows) - 1] == 0)))
        else:
            found[rows] = count + np.arange(len(rows))
        count = int(found[rows].max()) + 1
    return found


def held_out(chromosomes: Sequence[str], labels: Sequence[str] | None) -> bool:
    """Return whether folds hold out whole chromosomes: at least three have every class.

    Parameters
    ----------
    chromosomes : sequence of str, length n
        Empty for sequences that are not from the genome.
    labels : sequence of str, length n, optional
        The classes; empty without a label.

    Returns
    -------
    bool

    Examples
    --------
    >>> held_out(["chr1", "chr2", "chr3"] * 2, ["positive"] * 3 + ["negative"] * 3)
    True
    >>> held_out(["chr1", "chr2", "chr3"], ["positive", "positive", "negative"])
    False
    """
    if "" in chromosomes:
        return False
    if labels is None:
        return len(set(chromosomes)) >= LEAST_CHROMOSOMES
    pairs = {pair for pair in zip(chromosomes, labels, strict=True) if pair[1]}
    classes = {label for _, label in pairs}
    return sum(all((name, label) in pairs for label in classes) for name in set(chromosomes)) >= LEAST_CHROMOSOMES


def describe(whole: bool, chromosomes: int, kept: int) -> str:
    """Return which regions folds keep together, as a sentence.

    Parameters
    ----------
    whole : bool
        Whether whole chromosomes.
    chromosomes : int
        Number of chromosomes.
    kept : int
        Regions that share a locus with another one.

    Returns
    -------
    str

    Examples
    --------
    >>> describe(True, 22, 0)
    'folds hold out whole chromosomes (22); similar sequences on different ones, such as repeats, are not kept together'
    """
    if whole:
        return (
            f"folds hold out whole chromosomes ({chromosomes}); similar sequences on different ones, such as repeats, "
            "are not kept together"
        )
    some = f"{kept} regions overlap another one and stay in its fold" if kept else "no two regions overlap"
    return f"fewer than {LEAST_CHROMOSOMES} chromosomes have every class, so folds divide chromosomes: {some}"
