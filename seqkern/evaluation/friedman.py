"""Comparison of many methods over many tasks: Friedman's test of their ranks, and Nemenyi's critical difference.

On each task the methods are ranked, 1 the best, equal scores sharing their mean rank. Friedman's test asks whether the
mean ranks differ more than by chance; Nemenyi's critical difference is how much two mean ranks must differ so
that in at most a share `level` of studies any pair of equal methods is called different. Against
a single control there are fewer pairs, and `compare_to_control` requires less.

References
----------
Friedman 1937, J. Am. Stat. Assoc. 32:675-701. Iman & Davenport 1980, Commun. Stat. 9:571-595.
Nemenyi 1963, thesis, Princeton. Dunn 1961, J. Am. Stat. Assoc. 56:52-64.
Demšar 2006, J. Mach. Learn. Res. 7:1-30: on their use for classifiers.
"""

import math
from collections.abc import Hashable, Mapping
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from seqkern.core.checks import check_choice, check_integer, check_real
from seqkern.core.errors import LabelError, unknown_name
from seqkern.core.multiple_testing import holm
from seqkern.evaluation.wilcoxon import DIGITS

MOST_STEPS = 300_000
"""Maximum of sums of ranks times orders of one task for an exact p."""


class FriedmanTest(NamedTuple):
    """Friedman's test.

    Attributes
    ----------
    methods : tuple
        In the order given.
    ranks : ndarray of float64, shape (methods,)
        Mean rank of each; 1 is best.
    tasks : int
        Number of tasks on which all have a score.
    left_out : int
        Number of tasks on which some method has no score.
    statistic : float
        χ² with methods − 1 degrees of freedom.
    f : float
        Iman and Davenport's F_F = (N − 1)χ² / (N(k − 1) − χ²), less conservative; infinite if all tasks agree.
    p : float
        Exact over all orders of the methods on each task if these are few enough, else that of `f` with
        k − 1 and (k − 1)(N − 1) degrees of freedom. 1 if all scores are equal, NaN for fewer than two tasks.
    p_chi2, p_f : float
        p-values of the two approximations.
    exact : bool
        Whether `p` is exact.

    Examples
    --------
    >>> test = friedman({"spectrum": [0.8, 0.7, 0.9], "mismatch": [0.9, 0.8, 0.95]})
    >>> test.methods, test.tasks, test.p
    (('spectrum', 'mismatch'), 3, 0.25)
    """

    methods: tuple[Any, ...]
    ranks: npt.NDArray[np.float64]
    tasks: int
    left_out: int
    statistic: float
    f: float
    p: float
    p_chi2: float
    p_f: float
    exact: bool


class ControlComparison(NamedTuple):
    """One method against the control: its mean rank minus the control's, z, two-sided p, and corrected p.

    Examples
    --------
    >>> test = friedman({"spectrum": [0.8, 0.7, 0.9], "mismatch": [0.9, 0.8, 0.95]})
    >>> (found,) = compare_to_control(test, "spectrum")
    >>> found.method, found.difference
    ('mismatch', -1.0)
    """

    method: Hashable
    difference: float
    z: float
    p: float
    p_corrected: float


def friedman(scores: Mapping[Any, npt.ArrayLike], *, higher: bool = True, correct_ties: bool = True) -> FriedmanTest:
    """Test whether methods differ over tasks.

    Parameters
    ----------
    scores : dict of method to array_like of float, shape (tasks,)
        In the same order of tasks; NaN if a method has no score, which excludes the task.
    higher : bool, default True
        Whether a higher score is better.
    correct_ties : bool, default True
        Whether χ² is divided by 1 − Σ(t³ − t) / (N(k³ − k)) over the t scores of each tie. Demšar's formulas
        are without this correction.

    Returns
    -------
    FriedmanTest

    Raises
    ------
    LabelError
        For fewer than two methods, different numbers of scores, or an infinite score.

    Examples
    --------
    >>> scores = {"spectrum": [0.8, 0.7, 0.9, 0.6], "mismatch": [0.9, 0.8, 0.95, 0.7], "oligo": [0.7, 0.75, 0.8, 0.5]}
    >>> test = friedman(scores)
    >>> test.ranks
    array([2.25, 1.  , 2.75])
    >>> round(test.p, 4), test.exact
    (0.0417, True)
    """
    ranks, left_out = task_ranks(scores, higher=higher)
    n, k = ranks.shape
    mean = ranks.mean(axis=0) if n else np.full(k, np.nan)
    if n < 2:
        undefined = math.nan, math.nan, math.nan, math.nan, math.nan
        return FriedmanTest(tuple(scores), mean, n, left_out, *undefined, False)
    statistic = 12 * n / (k * (k + 1)) * float(((mean - (k + 1) / 2) ** 2).sum())
    if correct_ties:
        statistic = statistic / _tie_share(ranks) if _tie_share(ranks) > 0 else 0.0
    room = n * (k - 1) - statistic
    f = (n - 1) * statistic / room if room > 1e-9 else math.inf
    p_chi2 = float(stats.chi2.sf(statistic, k - 1))
    p_f = float(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))
    exact = _exact_p(ranks)
    p = max(p_f, least_friedman_p(n, k)) if exact is None else exact
    return FriedmanTest(tuple(scores), mean, n, left_out, statistic, f, p, p_chi2, p_f, exact is not None)


def task_ranks(scores: Mapping[Any, npt.ArrayLike], *, higher: bool = True) -> tuple[npt.NDArray[np.float64], int]:
    """Return the ranks of methods on each task.

    Parameters
    ----------
    scores : dict of method to array_like of float, shape (tasks,)
        In the same order of tasks; NaN if a method has no score, which excludes the task.
    higher : bool, default True
        Whether a higher score is better.

    Returns
    -------
    ranks : ndarray of float64, shape (tasks, methods)
        1 is best; equal scores share their mean rank.
    left_out : int
        Number of tasks on which some method has no score.

    Raises
    ------
    LabelError
        For fewer than two methods, different numbers of scores, or an infinite score.
    """
    if len(scores) < 2:
        raise LabelError(f"methods to compare: {len(scores)}", remedy="give at least two")
    columns = [np.asarray(values, dtype=np.float64) for values in scores.values()]
    if any(column.shape != columns[0].shape or column.ndim != 1 for column in columns):
        raise LabelError("the methods have different numbers of scores", remedy="give one score for each task")
    table = np.round(np.stack(columns, axis=1), DIGITS)
    if np.isinf(table).any():
        raise LabelError("a score is infinite", remedy="give NaN for a missing score")
    known = ~np.isnan(table).any(axis=1)
    table = table[known]
    return stats.rankdata(-table if higher else table, axis=1).reshape(table.shape), int((~known).sum())


def _tie_share(ranks: npt.NDArray[np.float64]) -> float:
    """Return 1 − Σ(t³ − t) / (N(k³ − k)): the variance of the ranks relative to that without ties."""
    n, k = ranks.shape
    return float(((ranks - (k + 1) / 2) ** 2).sum()) / (n * k * (k * k - 1) / 12)


def _exact_p(ranks: npt.NDArray[np.float64]) -> float | None:
    """Return the share of all orders within tasks whose sums of ranks are at least as uneven as observed.

    The orders of each task are added to the previous sums, merging equal sums. Methods can be
    renamed, so the first task keeps its order. None if there are too many sums.
    """
    n, k = ranks.shape
    if math.factorial(k) > MOST_STEPS:
        return None
    doubled = np.rint(2 * ranks).astype(np.int64)  # mean ranks are halves
    if (2 * k * n + 1) ** (k - 1) >= 2**62:
        return None
    base = (2 * k * n + 1) ** np.arange(k - 1)  # the last sum follows from the others
    sums: npt.NDArray[np.int64] = np.array([doubled[0, :-1] @ base])
    shares = np.ones(1)
    orders = np.array(list(permutations(range(k))))
    for row in doubled[1:]:
        steps, counts = np.unique(row[orders][:, :-1] @ base, return_counts=True)
        if len(steps) * len(sums) > MOST_STEPS:
            return None
        sums, place = np.unique((sums[:, None] + steps).ravel(), return_inverse=True)
        weights = np.outer(shares, counts / len(orders)).ravel()
        shares = np.bincount(place, weights=weights).astype(np.float64, copy=False)
    each = (sums[:, None] // base) % (2 * k * n + 1)
    each = np.column_stack([each, doubled.sum() - each.sum(axis=1)])
    uneven = (each**2).sum(axis=1)
    return float(min(1.0, shares[uneven >= (doubled.sum(axis=0) ** 2).sum()].sum()))


def least_friedman_p(tasks: int, methods: int) -> float:
    """Return the smallest p that Friedman's test can give: the share of orders in which all tasks agree.

    Parameters
    ----------
    tasks, methods : int
        Their numbers.

    Returns
    -------
    float
    """
    return math.factorial(methods) ** (1.0 - tasks)


def critical_difference(methods: int, tasks: int, level: float = 0.05, test: str = "nemenyi") -> float:
    """Return the difference of two mean ranks required for significance: q·sqrt(k(k + 1) / (6N)).

    Parameters
    ----------
    methods, tasks : int
        k and N.
    level : float, default 0.05
        Share of studies in which any pair of equal methods differs significantly.
    test : {"nemenyi", "bonferroni-dunn"}
        ``nemenyi``: for all pairs, q the quantile of the studentised range over √2. ``bonferroni-dunn``: for the
        k − 1 pairs with a control, q the normal quantile at level / (k − 1).

    Returns
    -------
    float

    Raises
    ------
    ParameterError
        For fewer than two methods, no tasks, a level outside 0 to 1, or an unknown test.

    Examples
    --------
    >>> round(critical_difference(methods=4, tasks=14), 3)  # Demšar 2006, section 3.2.2
    1.254
    """
    check_integer("methods", methods, 2)
    check_integer("tasks", tasks, 1)
    check_real("level", level, 0, 1, open_low=True)
    check_choice("test", test, ("nemenyi", "bonferroni-dunn"))
    if test == "nemenyi":
        q = float(stats.studentized_range.ppf(1 - level, methods, np.inf)) / math.sqrt(2)
    else:
        q = float(stats.norm.isf(level / (2 * (methods - 1))))
    return q * math.sqrt(methods * (methods + 1) / (6 * tasks))


def compare_to_control(test: FriedmanTest, control: Hashable, correction: str = "holm") -> list[ControlComparison]:
    """Compare each method's mean rank with that of a control.

    Parameters
    ----------
    test : FriedmanTest
        From `friedman`.
    control : hashable
        One of its methods.
    correction : {"holm", "bonferroni-dunn"}
        Correction of the p-values for the number of methods.

    Returns
    -------
    list of ControlComparison
        z = (R_i − R_control) / sqrt(k(k + 1) / (6N)).

    Raises
    ------
    ParameterError
        For an unknown control or correction.

    Examples
    --------
    >>> scores = {"spectrum": [0.8, 0.7, 0.9, 0.6], "mismatch": [0.9, 0.8, 0.95, 0.7], "oligo": [0.7, 0.75, 0.8, 0.5]}
    >>> for found in compare_to_control(friedman(scores), "spectrum"):
    ...     print(found.method, found.difference, round(found.p_corrected, 3))
    mismatch -1.25 0.154
    oligo 0.5 0.48
    """
    check_choice("correction", correction, ("holm", "bonferroni-dunn"))
    if control not in test.methods:
        raise unknown_name("control", str(control), map(str, test.methods))
    k, own = len(test.methods), test.methods.index(control)
    others = [i for i in range(k) if i != own]
    differences = test.ranks[others] - test.ranks[own]
    z = differences / math.sqrt(k * (k + 1) / (6 * test.tasks)) if test.tasks else differences
    p = 2 * stats.norm.sf(np.abs(z))
    corrected = holm(p) if correction == "holm" else np.minimum(1.0, p * len(others))
    rows = zip((test.methods[i] for i in others), differences, z, p, corrected, strict=True)
    return [ControlComparison(method, *map(float, numbers)) for method, *numbers in rows]


def cliques(ranks: npt.ArrayLike, difference: float) -> list[list[int]]:
    """Return the largest sets of methods whose mean ranks differ by no more than a critical difference.

    Parameters
    ----------
    ranks : array_like of float, shape (methods,)
        Mean ranks.
    difference : float
        The critical difference.

    Returns
    -------
    list of list of int
        Indices of at least two methods, from the best rank on; none is contained in another.
    """
    order = np.argsort(ranks, kind="stable")
    ordered = np.asarray(ranks, dtype=np.float64)[order]
    found: list[list[int]] = []
    last = -1
    for first in range(len(ordered)):
        # a difference equal to the critical one is not larger
        end = int(np.searchsorted(ordered, ordered[first] + difference + 1e-9, side="right"))
        if end - first > 1 and end > last:
            found.append(order[first:end].tolist())
            last = end
    return found
