"""A test of whether a method is better than chance: its score against all permutations of the labels.

Labels are permuted only within each test set, since different fits may have different scales. AUC, macro AUC,
accuracy and mean squared error are sums of what each sample gains under its label, so the mean and variance over
permutations have a closed form (Hoeffding 1951): no label is drawn, and nothing is retrained.

The folds of a cross-validation are dependent: the labels that test one classifier train the others. For decisions
linear in the training labels, with a symmetric kernel, this doubles the variance of the mean over folds; the factor
is always applied. Overlapping test sets are treated as fully dependent. Where folds keep groups together, members of
a group with one label count as one block, which adds their shared gains to the variance (Liang & Zeger 1986).

References
----------
Hoeffding 1951, Ann. Math. Stat. 22:558-566. Nadeau & Bengio 2003, Mach. Learn. 52:239-281 (dependence of resamples).
Noirhomme et al. 2014, NeuroImage Clin. 4:687-694 (tests of cross-validated decisions that ignore it).
Liang & Zeger 1986, Biometrika 73:13-22 (variance of sums over clusters).
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from seqkern.core.statistics import average_ranks
from seqkern.core.types import Array, Floats, Ints
from seqkern.sequences.labels import Labels

SHARED_TRAINING = 2.0
"""Variance of a mean over folds, relative to independent test sets."""


class Permuted(NamedTuple):
    """The score of one test set, with its mean and variance over all permutations of the labels.

    >>> Permuted(score=0.8, mean=0.5, variance=0.01).score
    0.8
    """

    score: float
    mean: float
    variance: float


class ChanceTest(NamedTuple):
    """A mean score over test sets, its expectation and standard error under chance, z and two-sided p.

    >>> chance_test([Permuted(0.8, 0.5, 0.01)]).p.__round__(4)
    0.0027
    """

    score: float
    chance: float
    se: float
    z: float
    p: float


def permuted_sum(gains: npt.ArrayLike, codes: npt.ArrayLike, groups: npt.ArrayLike | None = None) -> Permuted:
    """Return the sum of the samples' gains under their labels, and its moments under permutation.

    `gains` (n, classes) holds what each sample adds to the score under each label.

    >>> right = [[1, 0], [1, 0], [0, 1], [0, 1]]  # predicted: first class twice, second class twice
    >>> score, mean, variance = permuted_sum(right, [0, 0, 1, 1])
    >>> score, mean, round(variance, 3)
    (4.0, 2.0, 1.333)
    """
    table, labels = np.asarray(gains, dtype=np.float64), np.asarray(codes, dtype=np.int64)
    n = len(labels)
    counts = np.bincount(labels, minlength=table.shape[1])
    rows = table @ counts / n
    columns = table.mean(axis=0)
    grand = float(columns @ counts) / n
    deviations = table - rows[:, None] - columns + grand
    variance = float(np.sum(deviations**2, axis=0) @ counts) / (n - 1) if n > 1 else 0.0
    if groups is not None and n > 1:
        variance += _shared_variance(deviations[np.arange(n), labels], labels, np.asarray(groups))
    return Permuted(float(table[np.arange(n), labels].sum()), n * grand, variance)


def _shared_variance(gains: Array, labels: Array, groups: Array) -> float:
    """Return the nonnegative variance that shared gains of samples with one group and label add to the sum."""
    n, code = len(labels), np.unique(groups, return_inverse=True)[1]
    pure = np.bincount(code, weights=labels**2) * np.bincount(code) == np.bincount(code, weights=labels) ** 2
    # a group with both labels shows by itself whether they follow the decisions
    blocks = np.unique(np.where(pure[code], code, n + np.arange(n)), return_inverse=True)[1]
    sums = np.bincount(blocks, weights=gains)
    if len(sums) in (1, n):
        return 0.0
    together = float(sums @ sums) * len(sums) / (len(sums) - 1)
    return max(0.0, together - float(gains @ gains) * n / (n - 1))


def permuted_auc(codes: npt.ArrayLike, decisions: npt.ArrayLike, groups: npt.ArrayLike | None = None) -> Permuted:
    """Return the AUC, averaged over classes if there are several, and its moments under permutation.

    >>> score, mean, variance = permuted_auc([1, 1, 0, 0], [4, 2, 3, 1])
    >>> score, mean, round(variance, 4)
    (0.75, 0.5, 0.1042)
    """
    labels, values = np.asarray(codes, dtype=np.int64), np.asarray(decisions, dtype=np.float64)
    scored = [1] if values.ndim == 1 else list(range(values.shape[1]))
    values = values[:, None] if values.ndim == 1 else values
    n = len(labels)
    counts = np.bincount(labels, minlength=max(scored) + 1)
    present = [(c, column) for c, column in zip(scored, values.T, strict=True) if 0 < counts[c] < n]
    if not present:
        return Permuted(*[math.nan] * 3)
    gains = np.zeros((n, len(counts)))
    for c, column in present:
        own, others = int(counts[c]), n - int(counts[c])
        # ranks from 1, with the smallest possible sum of ranks taken off
        gains[:, c] = (average_ranks(column) - (own + 1) / 2) / (own * others * len(present))
    return permuted_sum(gains, labels, groups)


def permuted_accuracy(codes: npt.ArrayLike, predicted: npt.ArrayLike, groups: npt.ArrayLike | None = None) -> Permuted:
    """Return the share of samples predicted correctly, and its moments under permutation.

    >>> permuted_accuracy([0, 0, 1, 1], [0, 0, 0, 0])
    Permuted(score=0.5, mean=0.5, variance=0.0)
    """
    labels, found = np.asarray(codes, dtype=np.int64), np.asarray(predicted, dtype=np.int64)
    n = len(labels)
    if n == 0:
        return Permuted(*[math.nan] * 3)
    classes = np.arange(int(max(labels.max(), found.max())) + 1)
    return permuted_sum((found[:, None] == classes) / n, labels, groups)


def permuted_error(labels: npt.ArrayLike, predicted: npt.ArrayLike) -> Permuted:
    """Return the negative mean squared error, so that more is better, and its moments under permutation.

    >>> score, mean, variance = permuted_error([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    >>> score, round(mean, 3), round(variance, 3)
    (-0.0, -1.333, 0.889)
    """
    y, found = np.asarray(labels, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    n = len(y)
    if n == 0:
        return Permuted(*[math.nan] * 3)
    own, other = y - y.mean(), found - found.mean()
    score = -float(np.mean((found - y) ** 2))
    mean = score - 2 * float(own @ other) / n
    variance = 4 * float(own @ own) * float(other @ other) / (n - 1) / n**2 if n > 1 else 0.0
    return Permuted(score, mean, variance)


def variance_of_mean(variances: Sequence[float] | Floats, *, tested_once: bool = True) -> float:
    """Return the variance of a mean over test sets that share training samples.

    >>> round(variance_of_mean([0.01] * 5), 6), round(variance_of_mean([0.01]), 6)
    (0.004, 0.01)
    """
    parts = np.asarray(variances, dtype=np.float64)
    if len(parts) == 0:
        return math.nan
    most = float(np.mean(np.sqrt(parts))) ** 2
    return min(most, SHARED_TRAINING * float(parts.sum()) / len(parts) ** 2) if tested_once else most


def chance_test(parts: Sequence[Permuted], *, tested_once: bool = True) -> ChanceTest:
    """Test whether a mean score over test sets differs from its expectation under permuted labels.

    >>> found = chance_test([permuted_auc([1, 1, 1, 0, 0, 0], [6, 5, 3, 4, 2, 1])] * 4)
    >>> round(found.score, 3), found.chance, round(found.p, 3)
    (0.889, 0.5, 0.031)
    """
    known: Any = np.array([part for part in parts if not math.isnan(part.score)])
    if not len(known):
        return ChanceTest(*[math.nan] * 5)
    score, chance = float(known[:, 0].mean()), float(known[:, 1].mean())
    se = math.sqrt(variance_of_mean(known[:, 2], tested_once=tested_once))
    if se <= 1e-9:
        return ChanceTest(score, chance, 0.0, 0.0, 1.0)
    z = (score - chance) / se
    return ChanceTest(score, chance, se, z, float(2 * scipy.special.ndtr(-abs(z))))


# Permuted labels that respect the structure of the samples: the null hypothesis of a permutation test.
#
# References:
# Winkler et al. 2015, NeuroImage 123:253-268 (exchangeable blocks). Phipson & Smyth 2010, Stat. Appl. Genet. Mol. Biol.
# 9:39 (why p is never 0).

CLOSE = 1e-12
"""Difference up to which scores count as equal, in favour of chance."""


class PermutationTest(NamedTuple):
    """A score compared with the scores of the same procedure on permuted labels, and its one-sided p.

    >>> permutation_test("auc", 0.9, [0.4, 0.6, 0.95]).p
    0.5
    """

    metric: str  # The score; higher is better
    observed: float  # On the true labels
    null: tuple[float, ...]  # On each permutation; NaN where the procedure could not be run
    p: float  # One-sided; a permutation without a score counts as better than the observed one

    @property
    def mean(self) -> float:
        """The mean of the scores on permuted labels."""
        known = [score for score in self.null if not math.isnan(score)]
        return float(np.mean(known)) if known else math.nan

    @property
    def failed(self) -> int:
        """Number of permutations without a score."""
        return sum(math.isnan(score) for score in self.null)


def permutation_test(metric: str, observed: float, null: Sequence[float]) -> PermutationTest:
    """Return the test with p = (1 + permutations that score at least as high) / (1 + permutations).

    A permutation without a score counts as better than the observed one.

    >>> permutation_test("auc", 0.9, [0.5] * 199).p
    0.005
    """
    scores = tuple(float(score) for score in null)
    # not below: NaN counts, too
    extreme = sum(not score < observed - CLOSE for score in scores)
    return PermutationTest(metric, observed, scores, (1 + extreme) / (1 + len(scores)))


def permuted(labels: Labels, rng: np.random.Generator, chains: Ints | None = None) -> Labels:
    """Return the labels in random order.

    Single samples exchange their labels. Groups whose samples share one label exchange labels as a whole, since a
    method that scores one relative high scores all of them high. In groups with several labels these are permuted
    within the group; the states of a chain are rotated along it, since neighbouring residues have similar states.

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
    together: Array = np.asarray(chains if labels.groups is None else labels.groups)
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


def _mix(y: Floats | Ints, rows: Ints, rng: np.random.Generator, chains: Ints | None) -> None:
    """Permute the labels of some rows among themselves, or rotate them along each chain."""
    if chains is None:
        y[rows] = rng.permutation(y[rows])
        return
    for chain in np.unique(chains[rows]):
        own = rows[chains[rows] == chain]
        y[own] = np.roll(y[own], int(rng.integers(len(own))))
