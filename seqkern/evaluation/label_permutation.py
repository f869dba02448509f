"""Labels in random order, within the structure of the samples: the null hypothesis of a permutation test.

References
----------
Winkler et al. 2015, NeuroImage 123:253-268 (exchangeable blocks). Phipson & Smyth 2010, Stat. Appl. Genet. Mol. Biol.
9:39 (why p is never 0).
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from seqkern.sequences.labels import Labels

CLOSE = 1e-12
"""Scores nearer than this are equal, in favour of chance."""


class PermutationTest(NamedTuple):
    """A score against those of the same procedure on permuted labels.

    Attributes
    ----------
    metric : str
        The score; higher is better.
    observed : float
        On the true labels.
    null : tuple of float
        On each permutation; NaN where the procedure could not be run.
    p : float
        One-sided; a permutation without a score counts as better than the observed one.

    Examples
    --------
    >>> permutation_test("auc", 0.9, [0.4, 0.6, 0.95]).p
    0.5
    """

    metric: str
    observed: float
    null: tuple[float, ...]
    p: float

    @property
    def mean(self) -> float:
        """The mean of the scores on permuted labels."""
        known = [score for score in self.null if not math.isnan(score)]
        return float(np.mean(known)) if known else math.nan

    @property
    def failed(self) -> int:
        """How many permutations have no score."""
        return sum(math.isnan(score) for score in self.null)


def permutation_test(metric: str, observed: float, null: Sequence[float]) -> PermutationTest:
    """Return p = (1 + permutations that score at least as high) / (1 + permutations).

    Parameters
    ----------
    metric : str
        The name of the score.
    observed : float
        The score on the true labels.
    null : sequence of float
        The scores on permuted labels.

    Returns
    -------
    PermutationTest

    Examples
    --------
    >>> permutation_test("auc", 0.9, [0.5] * 199).p
    0.005
    """
    scores = tuple(float(score) for score in null)
    # not below: NaN counts, too
    extreme = sum(not score < observed - CLOSE for score in scores)
    return PermutationTest(metric, observed, scores, (1 + extreme) / (1 + len(scores)))


def permuted(labels: Labels, rng: np.random.Generator, chains: npt.NDArray[np.int64] | None = None) -> Labels:
    """Return labels in random order.

    Single samples exchange their labels. Groups whose samples share one label exchange them as wholes, since a
    method that scores one relative high scores all of them high. In groups with several labels these are permuted
    within the group; the states of a chain are rotated along it, since neighbouring residues share states.

    Parameters
    ----------
    labels : Labels
        Of n samples; groups belong together, and those without a label stay without.
    rng : Generator
        The source of random numbers.
    chains : ndarray of int64, shape (n,), optional
        The chain of each sample, if samples are residues, in order along the chain.

    Returns
    -------
    Labels
        The same samples, groups and classes.

    Examples
    --------
    >>> from seqkern.sequences.labels import make_labels
    >>> labels = make_labels(list("abcdefgh"), [0, 0, 1, 1, 1, 0, 0, 0], groups=list("ppqqrrss"))
    >>> permuted(labels, np.random.default_rng(5)).y.tolist()
    [1, 1, 0, 0, 1, 0, 0, 0]
    """
    used = labels.used()
    if not used.all():
        y = labels.y.copy()
        y[used] = permuted(labels.take(used), rng, None if chains is None else chains[used]).y
        return replace(labels, y=y)
    y = labels.y.copy()
    if labels.groups is None and chains is None:
        return replace(labels, y=rng.permutation(y))
    together: npt.NDArray[Any] = np.asarray(chains if labels.groups is None else labels.groups)
    group = np.unique(together, return_inverse=True)[1]
    order = np.argsort(group, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(group))[:-1])
    whole = [rows for rows in members if (y[rows] == y[rows[0]]).all()]
    shuffled = rng.permutation(np.array([y[rows[0]] for rows in whole], dtype=y.dtype))
    for rows, label in zip(whole, shuffled, strict=True):
        y[rows] = label
    for rows in members:
        if (labels.y[rows] != labels.y[rows[0]]).any():
            _mix(y, rows, rng, chains)
    return replace(labels, y=y)


def _mix(
    y: npt.NDArray[np.float64] | npt.NDArray[np.int64],
    rows: npt.NDArray[np.int64],
    rng: np.random.Generator,
    chains: npt.NDArray[np.int64] | None,
) -> None:
    """Permute the labels of some rows among themselves, or rotate them along each chain."""
    if chains is None:
        y[rows] = rng.permutation(y[rows])
        return
    for chain in np.unique(chains[rows]):
        own = rows[chains[rows] == chain]
        y[own] = np.roll(y[own], int(rng.integers(len(own))))
