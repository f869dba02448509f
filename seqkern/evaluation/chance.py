"""Whether a method is better than chance: its score against those of all permutations of the labels.

Labels are permuted within each test set only, since decisions of different fits need not be on one scale. A score that
is a sum of what each sample gains under its label has a permutation mean and variance in closed form (Hoeffding 1951);
AUC, macro AUC, accuracy and mean squared error are such sums. No label is drawn, and nothing is trained again.

The folds of a cross-validation are not independent: the labels that test one classifier train the others. For decisions
linear in the training labels, with a symmetric kernel, a pair of samples from two folds counts the same in both, so the
variance of the mean over folds is twice that of independent folds. This factor is always applied; without it 24 useless
methods would yield a "significant" one far too often (`tests/evaluation/test_chance.py`). Test sets that overlap are
treated as fully dependent.

Related samples with one label are not exchangeable one by one: a method that scores a family high by accident scores
all its members high. Where folds keep groups together, the members of a group that share a label count as one block,
and the variance grows by what their gains have in common (Liang & Zeger 1986).

References
----------
Hoeffding 1951, Ann. Math. Stat. 22:558-566. Nadeau & Bengio 2003, Mach. Learn. 52:239-281 (dependence of resamples).
Noirhomme et al. 2014, NeuroImage Clin. 4:687-694 (tests of cross-validated decisions that ignore it).
Liang & Zeger 1986, Biometrika 73:13-22 (variance of sums over clusters).
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from seqkern.evaluation.distributions import average_ranks, normal_sf

SHARED_TRAINING = 2.0
"""Variance of a mean over folds, divided by that of independent test sets."""


class Permuted(NamedTuple):
    """A score of one test set, and its mean and variance over all permutations of the labels.

    Examples
    --------
    >>> Permuted(score=0.8, mean=0.5, variance=0.01).score
    0.8
    """

    score: float
    mean: float
    variance: float


class ChanceTest(NamedTuple):
    """A mean score over test sets, what chance gives, the standard error under chance, z and two-sided p.

    Examples
    --------
    >>> chance_test([Permuted(0.8, 0.5, 0.01)]).p.__round__(4)
    0.0027
    """

    score: float
    chance: float
    se: float
    z: float
    p: float


def permuted_sum(gains: npt.ArrayLike, codes: npt.ArrayLike, groups: npt.ArrayLike | None = None) -> Permuted:
    """Return a sum over samples of what each gains under its label, and its moments under permutation.

    Parameters
    ----------
    gains : array_like of float, shape (n, classes)
        What a sample adds to the score if it has each label.
    codes : array_like of int, shape (n,)
        The labels.
    groups : array_like of int, shape (n,), optional
        Samples that belong together; by default each stands for itself.

    Returns
    -------
    Permuted
        The variance is 0 for a single sample.

    Examples
    --------
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


def _shared_variance(gains: npt.NDArray[Any], labels: npt.NDArray[Any], groups: npt.NDArray[Any]) -> float:
    """Return what the gains of samples that share group and label add to the variance of their sum; never negative."""
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
    """Return the AUC, or of several classes its mean over classes, and its moments under permutation.

    Parameters
    ----------
    codes : array_like of int, shape (n,)
        Classes; of two, 1 is the positive one.
    decisions : array_like of float, shape (n,), of several classes (n, classes)
        Higher means the positive class, or this class.
    groups : array_like of int, shape (n,), optional
        Samples that belong together; by default each stands for itself.

    Returns
    -------
    Permuted
        NaN for a single class.

    Examples
    --------
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

    Parameters
    ----------
    codes, predicted : array_like of int, shape (n,)
        True and predicted classes.
    groups : array_like of int, shape (n,), optional
        Samples that belong together; by default each stands for itself.

    Returns
    -------
    Permuted
        NaN without samples.

    Examples
    --------
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
    """Return the mean squared error, with its sign changed so that more is better, and its moments under permutation.

    Parameters
    ----------
    labels, predicted : array_like of float, shape (n,)
        True and predicted numbers.

    Returns
    -------
    Permuted
        NaN without samples.

    Examples
    --------
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


def variance_of_mean(variances: Sequence[float] | npt.NDArray[np.float64], *, tested_once: bool = True) -> float:
    """Return the variance of a mean over test sets that share training samples.

    Parameters
    ----------
    variances : sequence of float
        Of the score of each test set.
    tested_once : bool, default True
        Whether each sample is in one test set only; otherwise the parts are treated as fully dependent.

    Returns
    -------
    float
        NaN without test sets.

    Examples
    --------
    >>> round(variance_of_mean([0.01] * 5), 6), round(variance_of_mean([0.01]), 6)
    (0.004, 0.01)
    """
    parts = np.asarray(variances, dtype=np.float64)
    if len(parts) == 0:
        return math.nan
    most = float(np.mean(np.sqrt(parts))) ** 2
    return min(most, SHARED_TRAINING * float(parts.sum()) / len(parts) ** 2) if tested_once else most


def chance_test(parts: Sequence[Permuted], *, tested_once: bool = True) -> ChanceTest:
    """Test whether a mean score over test sets differs from what permuted labels give.

    Parameters
    ----------
    parts : sequence of Permuted
        Of each test set; those without a score are left out.
    tested_once : bool, default True
        As in `variance_of_mean`.

    Returns
    -------
    ChanceTest
        p = 1 where every permutation gives the same score, as for constant decisions; NaN without a score.

    Examples
    --------
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
    return ChanceTest(score, chance, se, z, float(2 * normal_sf(abs(z))))
