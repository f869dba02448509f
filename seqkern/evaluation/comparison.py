"""Methods compared over many tasks, such as families: Wilcoxon's signed-rank test of every pair, Holm's correction.

What is compared is one score of each method on each task. `significance.py` compares decisions on one task.

Tasks on which one of two methods has no score (NaN) are left out of their comparison and counted. Tasks with equal
scores (ties) are ranked with the others, as the smallest differences, and then dropped (Pratt). Equal sizes of
differences share their mean rank. The p-value is exact with ties too: it comes from the rank sums of all signs that the
differences that are not zero might have had.

References
----------
Wilcoxon 1945, Biometrics Bull. 1:80-83. Pratt 1959, J. Am. Stat. Assoc. 54:655-667.
Demšar 2006, J. Mach. Learn. Res. 7:1-30: on their use for classifiers.
"""

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy import stats

from seqkern.core.errors import LabelError, unknown_name
from seqkern.core.multiple_testing import holm

MOST_EXACT = 300
"""Tasks with a difference up to which p is exact; beyond, the normal approximation is good to all digits shown."""
DIGITS = 12
"""Scores are shares of counted pairs: differences that are equal but for rounding errors are ties."""


class SignedRank(NamedTuple):
    """Wilcoxon's signed-rank test of two methods over tasks.

    Attributes
    ----------
    tasks : int
        On which both have a score.
    left_out : int
        Tasks without a score of one of them.
    wins, ties, losses : int
        Of the first method; sum to `tasks`.
    median : float
        Of the differences first − second over `tasks`, ties included.
    statistic : float
        Sum of the ranks of the differences above zero.
    effect : float
        From −1 to 1, above zero where the ranks speak for the first method: the share of rank sums that do, less the
        share that speak for the second (matched-pairs rank-biserial correlation); 0 where all are ties.
    p : float
        Two-sided; NaN without tasks, 1 where all are ties.
    """

    tasks: int
    left_out: int
    wins: int
    ties: int
    losses: int
    median: float
    statistic: float
    effect: float
    p: float


class Comparison(NamedTuple):
    """Two methods, their test, and its p-value corrected for the number of pairs."""

    first: object
    second: object
    test: SignedRank
    p_holm: float


def signed_rank_test(first, second, *, higher=True):
    """Test whether one of two methods has the higher scores, over paired tasks.

    Parameters
    ----------
    first, second : array_like of float, shape (tasks,)
        NaN where a method has no score.
    higher : bool
        Whether a higher score is better; it decides what a win is, nothing else.

    Returns
    -------
    SignedRank

    Raises
    ------
    LabelError
        If the numbers of scores differ, or one is infinite.
    """
    first, second = (np.asarray(values, dtype=np.float64) for values in (first, second))
    if first.shape != second.shape or first.ndim != 1:
        raise LabelError(f"scores of shapes {first.shape} and {second.shape}", remedy="give one for each task")
    if np.isinf(first).any() or np.isinf(second).any():
        raise LabelError("a score is infinite", remedy="give NaN where a method has no score")
    known = ~(np.isnan(first) | np.isnan(second))
    differences = np.round(first[known] - second[known], DIGITS)
    above, below = int((differences > 0).sum()), int((differences < 0).sum())
    tasks = len(differences)
    ranks = stats.rankdata(np.abs(differences))
    statistic, total = (float(ranks[chosen].sum()) for chosen in (differences > 0, differences != 0))
    effect = 2 * statistic / total - 1 if total else 0.0
    if tasks == 0:
        p = math.nan
    elif above + below == 0:
        p = 1.0
    elif above + below <= MOST_EXACT:
        p = _exact_p(ranks[differences != 0], statistic)
    else:
        p = float(stats.wilcoxon(differences, zero_method="pratt", correction=False, method="asymptotic").pvalue)
    wins, losses = (above, below) if higher else (below, above)
    median = float(np.median(differences)) if tasks else math.nan
    counts = tasks, len(known) - tasks, wins, tasks - above - below, losses
    return SignedRank(*counts, median, statistic, effect if higher else 0.0 - effect, p)


def _exact_p(ranks, statistic):
    """Return the share of all signs of the ranks whose rank sum is as far from its mean as `statistic`, or farther."""
    doubled = np.rint(2 * ranks).astype(int)  # mean ranks are halves
    share = np.zeros(doubled.sum() + 1)
    share[0] = 1.0
    for rank in doubled:
        share[rank:] = (share[rank:] + share[:-rank]) / 2
        share[:rank] /= 2
    sums = np.arange(len(share))
    centre = doubled.sum()  # of 2 · sums
    extreme = np.abs(2 * sums - centre) >= abs(4 * statistic - centre) - 0.5
    return float(min(1.0, share[extreme].sum()))


def pairs_of(methods, control=None):
    """Return all pairs of methods in order, or the pairs of a control, which comes first, with each other method."""
    methods = list(methods)
    if control is None:
        return list(combinations(methods, 2))
    if control not in methods:
        raise unknown_name("control", str(control), map(str, methods))
    return [(control, method) for method in methods if method != control]


def compare_all(scores, *, higher=True, control=None):
    """Compare every pair of methods over tasks, or a control with every other.

    Parameters
    ----------
    scores : dict of method to array_like of float, shape (tasks,)
        All in one order of the tasks.
    higher : bool
    control : object, optional
        One of the methods.

    Returns
    -------
    list of Comparison
        Of each method with all after it, in the order of `scores`; Holm's correction is over all of them.
    """
    pairs = pairs_of(scores, control)
    tests = [signed_rank_test(scores[a], scores[b], higher=higher) for a, b in pairs]
    corrected = holm([test.p for test in tests])
    return [Comparison(*pair, test, float(p)) for pair, test, p in zip(pairs, tests, corrected, strict=True)]


def least_p(tasks):
    """Return the smallest p that the signed-rank test can give over so many tasks: two of all 2^tasks signs."""
    return min(1.0, 2.0 ** (1 - tasks))
