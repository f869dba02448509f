"""Comparison of methods over many tasks, such as families: Wilcoxon's signed-rank tests, Holm's correction.

The data are one score of each method on each task. `delong.py` compares decision values on one task.

Tasks on which one of two methods has no score (NaN) are excluded from their comparison and counted. Tasks with equal
scores (ties) are ranked with the others, as the smallest differences, and then dropped (Pratt). Equal absolute
differences share their mean rank. The p-value is exact also with ties: it comes from the rank sums of all possible
signs of the nonzero differences.

References
----------
Wilcoxon 1945, Biometrics Bull. 1:80-83. Pratt 1959, J. Am. Stat. Assoc. 54:655-667.
Demšar 2006, J. Mach. Learn. Res. 7:1-30: on their use for classifiers.
"""

import math
from collections.abc import Hashable, Iterable, Mapping
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from seqkern.core.errors import LabelError, unknown_name
from seqkern.core.multiple_testing import holm

MOST_EXACT = 300
"""Maximum number of tasks with a difference for an exact p; beyond, the normal approximation is accurate enough."""
DIGITS = 12
"""Scores are shares of counted pairs: smaller differences are rounding errors and count as ties."""


class SignedRank(NamedTuple):
    """Wilcoxon's signed-rank test of two methods over tasks.

    Attributes
    ----------
    tasks : int
        Number of tasks on which both have a score.
    left_out : int
        Number of tasks on which one of them has no score.
    wins, ties, losses : int
        Counts for the first method; they sum to `tasks`.
    median : float
        Mean and median of the differences first − second over `tasks`, including ties.
    statistic : float
        Sum of the ranks of the positive differences.
    effect : float
        From −1 to 1, positive in favour of the first method: the share of rank sums in its favour minus the
        share in favour of the second (matched-pairs rank-biserial correlation); 0 if all are ties.
    p : float
        Two-sided; NaN without tasks, 1 if all are ties.

    Examples
    --------
    >>> found = signed_rank_test([0.91, 0.85, 0.78, 0.88], [0.90, 0.86, 0.78, float("nan")])
    >>> found.tasks, found.left_out, found.wins, found.ties, found.losses
    (3, 1, 1, 1, 1)
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
    """Two methods, their test, and its p-value corrected for the number of pairs.

    Examples
    --------
    >>> (pair,) = compare_all({"spectrum": [0.8, 0.7, 0.9], "mismatch": [0.9, 0.8, 0.95]})
    >>> pair.first, pair.second, pair.p_holm
    ('spectrum', 'mismatch', 0.25)
    """

    first: Hashable
    second: Hashable
    test: SignedRank
    p_holm: float


def signed_rank_test(first: npt.ArrayLike, second: npt.ArrayLike, *, higher: bool = True) -> SignedRank:
    """Test whether one of two methods has the higher scores, over paired tasks.

    Parameters
    ----------
    first, second : array_like of float, shape (tasks,)
        NaN for a missing score.
    higher : bool, default True
        Whether a higher score is better; this only defines a win.

    Returns
    -------
    SignedRank

    Raises
    ------
    LabelError
        If the numbers of scores differ, or a score is infinite.

    Examples
    --------
    >>> found = signed_rank_test([0.91, 0.85, 0.78, 0.88, 0.93], [0.90, 0.80, 0.75, 0.81, 0.91])
    >>> found.wins, found.losses, found.p
    (5, 0, 0.0625)
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise LabelError(f"scores have shapes {a.shape} and {b.shape}", remedy="give one score for each task")
    if np.isinf(a).any() or np.isinf(b).any():
        raise LabelError("a score is infinite", remedy="give NaN for a missing score")
    known = ~(np.isnan(a) | np.isnan(b))
    differences = np.round(a[known] - b[known], DIGITS)
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
        # the stubs only know the older name of "asymptotic"
        test = stats.wilcoxon(differences, zero_method="pratt", correction=False, method="asymptotic")  # type: ignore[call-overload]
        p = float(test.pvalue)
    wins, losses = (above, below) if higher else (below, above)
    median = float(np.median(differences)) if tasks else math.nan
    counts = tasks, len(known) - tasks, wins, tasks - above - below, losses
    return SignedRank(*counts, median, statistic, effect if higher else 0.0 - effect, p)


def _exact_p(ranks: npt.NDArray[np.float64], statistic: float) -> float:
    """Return the share of all signs of the ranks whose rank sum is at least as far from its mean as `statistic`."""
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


def pairs_of(methods: Iterable[Hashable], control: Hashable | None = None) -> list[tuple[Hashable, Hashable]]:
    """Return all pairs of methods in order, or the pairs of a control with each other method.

    Parameters
    ----------
    methods : iterable of hashable
        Such as names.
    control : hashable, optional
        One of them.

    Returns
    -------
    list of (method, method)
        A control comes first in each pair.

    Raises
    ------
    ParameterError
        For an unknown control.
    """
    known = list(methods)
    if control is None:
        return list(combinations(known, 2))
    if control not in known:
        raise unknown_name("control", str(control), map(str, known))
    return [(control, method) for method in known if method != control]


def compare_all(
    scores: Mapping[Any, npt.ArrayLike], *, higher: bool = True, control: Hashable | None = None
) -> list[Comparison]:
    """Compare every pair of methods over tasks, or a control with every other.

    Parameters
    ----------
    scores : dict of method to array_like of float, shape (tasks,)
        In the same order of tasks; NaN for a missing score.
    higher : bool, default True
        Whether a higher score is better.
    control : hashable, optional
        One of the methods.

    Returns
    -------
    list of Comparison
        Each method with all after it, in the order of `scores`; Holm's correction covers all of them.

    Raises
    ------
    ParameterError
        For an unknown control.
    LabelError
        If the numbers of scores differ, or a score is infinite.

    Examples
    --------
    >>> scores = {"spectrum": [0.8, 0.7, 0.9, 0.6], "mismatch": [0.9, 0.8, 0.95, 0.7], "oligo": [0.7, 0.75, 0.8, 0.5]}
    >>> for pair in compare_all(scores, control="spectrum"):
    ...     print(pair.first, pair.second, pair.test.wins, pair.test.losses, round(pair.p_holm, 3))
    spectrum mismatch 0 4 0.25
    spectrum oligo 3 1 0.25
    """
    pairs = pairs_of(scores, control)
    tests = [signed_rank_test(scores[a], scores[b], higher=higher) for a, b in pairs]
    corrected = holm([test.p for test in tests])
    return [Comparison(*pair, test, float(p)) for pair, test, p in zip(pairs, tests, corrected, strict=True)]


def least_p(tasks: int) -> float:
    """Return the smallest p that the signed-rank test can give with so many tasks: two of all 2^tasks signs.

    Parameters
    ----------
    tasks : int
        Number of tasks on which two methods differ.

    Returns
    -------
    float
    """
    return min(1.0, 2.0 ** (1 - tasks))
