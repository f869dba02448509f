"""Comparison of methods over many tasks: signed ranks, Friedman's test, the best of many."""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import combinations, permutations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from seqkern.core.checks import check_choice, check_integer, check_real
from seqkern.core.errors import LabelError, unknown_name
from seqkern.core.statistics import holm
from seqkern.core.types import Floats, Ints
from seqkern.evaluation.bootstrap import Sample, batches

# Comparison of methods over many tasks, such as families: Wilcoxon's signed-rank tests, Holm's correction.
#
# The data are one score of each method on each task. Tasks on which one of two methods has no score (NaN) are excluded
# from their comparison and counted. Ties are ranked with the other tasks, as the smallest differences, and then dropped
# (Pratt). Equal absolute differences share their mean rank. The p-value is exact also with ties: it comes from the rank
# sums of all possible signs of the nonzero differences.
#
# References:
# Wilcoxon 1945, Biometrics Bull. 1:80-83. Pratt 1959, J. Am. Stat. Assoc. 54:655-667.
# Demšar 2006, J. Mach. Learn. Res. 7:1-30: on their use for classifiers.

MOST_EXACT = 300
"""Maximum number of tasks with a difference for an exact p; beyond, the normal approximation is accurate enough."""
DIGITS = 12
"""Digits to which differences of scores are rounded; smaller ones are rounding errors and count as ties."""


class SignedRank(NamedTuple):
    """The result of Wilcoxon's signed-rank test of two methods over tasks.

    `statistic` is the sum of the positive ranks; `effect`, from −1 to 1, is the matched-pairs rank-biserial
    correlation.

    >>> found = signed_rank_test([0.91, 0.85, 0.78, 0.88], [0.90, 0.86, 0.78, float("nan")])
    >>> found.tasks, found.left_out, found.wins, found.ties, found.losses
    (3, 1, 1, 1, 1)
    """

    tasks: int  # Number of tasks on which both have a score
    left_out: int  # Number of tasks on which one of them has no score
    wins: int  # Number of tasks on which the first method is better; the three numbers sum to `tasks`
    ties: int  # Number of tasks on which both are equal
    losses: int  # Number of tasks on which the second method is better
    median: float  # Mean and median of the differences first − second over `tasks`, including ties
    statistic: float  # Sum of the ranks of the positive differences
    # From −1 to 1, positive in favour of the first method: the share of rank sums in its favour minus the share in
    # favour of the second (matched-pairs rank-biserial correlation); 0 if all are ties
    effect: float
    p: float  # Two-sided; NaN without tasks, 1 if all are ties


class Comparison(NamedTuple):
    """Two methods, their test, and its p-value corrected for the number of pairs.

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
    ranks = scipy.stats.rankdata(np.abs(differences))
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
        test = scipy.stats.wilcoxon(differences, zero_method="pratt", correction=False, method="asymptotic")  # type: ignore[call-overload]
        p = float(test.pvalue)
    wins, losses = (above, below) if higher else (below, above)
    median = float(np.median(differences)) if tasks else math.nan
    counts = tasks, len(known) - tasks, wins, tasks - above - below, losses
    return SignedRank(*counts, median, statistic, effect if higher else 0.0 - effect, p)


def _exact_p(ranks: Floats, statistic: float) -> float:
    """Return the share of all sign patterns whose rank sum is at least as far from its mean as `statistic`."""
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
    """Return all pairs of methods in order, or the pairs of a control, listed first, with each other method."""
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
        Scores in the same order of tasks; NaN for a missing score.
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
    """Return the smallest p that the signed-rank test can give: two of all 2^tasks sign patterns."""
    return min(1.0, 2.0 ** (1 - tasks))


# Comparison of many methods over many tasks: Friedman's test of their ranks, and Nemenyi's critical difference.
#
# On each task the methods are ranked, with 1 for the best and mean ranks for ties. Friedman's test asks whether the
# mean ranks differ significantly. Nemenyi's critical difference is the difference that two mean ranks must exceed so
# that at most a share `level` of studies calls any pair of equal methods different. Against a single control there are
# fewer pairs, and `compare_to_control` requires less.
#
# References:
# Friedman 1937, J. Am. Stat. Assoc. 32:675-701. Iman & Davenport 1980, Commun. Stat. 9:571-595.
# Nemenyi 1963, thesis, Princeton. Dunn 1961, J. Am. Stat. Assoc. 56:52-64.
# Demšar 2006, J. Mach. Learn. Res. 7:1-30: on their use for classifiers.

MOST_STEPS = 300_000
"""Maximum number of rank sums times orders of one task for an exact p."""


class FriedmanTest(NamedTuple):
    """The result of Friedman's test: mean ranks, χ² and Iman and Davenport's F, and their p-values.

    `p` is exact if the orders of the methods are few enough, else the p of `f`; `left_out` counts tasks without all
    scores.

    >>> test = friedman({"spectrum": [0.8, 0.7, 0.9], "mismatch": [0.9, 0.8, 0.95]})
    >>> test.methods, test.tasks, test.p
    (('spectrum', 'mismatch'), 3, 0.25)
    """

    methods: tuple[Any, ...]  # In the order given
    ranks: Floats  # shape (methods,): Mean rank of each; 1 is best
    tasks: int  # Number of tasks on which all have a score
    left_out: int  # Number of tasks on which some method has no score
    statistic: float  # χ² with methods − 1 degrees of freedom
    f: float  # Iman and Davenport's F_F = (N − 1)χ² / (N(k − 1) − χ²), less conservative; infinite if all tasks agree
    # Exact over all orders of the methods on each task if these are few enough, else that of `f` with k − 1 and (k −
    # 1)(N − 1) degrees of freedom. 1 if all scores are equal, NaN for fewer than two tasks
    p: float
    p_chi2: float  # p-values of the two approximations
    p_f: float  # p-values of the two approximations
    exact: bool  # Whether `p` is exact


class ControlComparison(NamedTuple):
    """A method against the control: the difference of mean ranks, z, two-sided p, and corrected p."""

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
        Scores in the same order of tasks; NaN if a method has no score, which excludes the task.
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
    p_chi2 = float(scipy.stats.chi2.sf(statistic, k - 1))
    p_f = float(scipy.stats.f.sf(f, k - 1, (k - 1) * (n - 1)))
    exact = _friedman_exact_p(ranks)
    p = max(p_f, least_friedman_p(n, k)) if exact is None else exact
    return FriedmanTest(tuple(scores), mean, n, left_out, statistic, f, p, p_chi2, p_f, exact is not None)


def task_ranks(scores: Mapping[Any, npt.ArrayLike], *, higher: bool = True) -> tuple[Floats, int]:
    """Return the ranks of methods on each task, (tasks, methods), and the number of tasks left out."""
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
    return scipy.stats.rankdata(-table if higher else table, axis=1).reshape(table.shape), int((~known).sum())


def _tie_share(ranks: Floats) -> float:
    """Return the variance of the ranks relative to ranks without ties, 1 − Σ(t³ − t) / (N(k³ − k))."""
    n, k = ranks.shape
    return float(((ranks - (k + 1) / 2) ** 2).sum()) / (n * k * (k * k - 1) / 12)


def _friedman_exact_p(ranks: Floats) -> float | None:
    """Return the share of all orders within tasks whose rank sums are at least as uneven as observed.

    The orders of each task are added to the previous sums, merging equal sums. The first task keeps its order, since
    methods are interchangeable. None if there are too many sums.
    """
    n, k = ranks.shape
    if math.factorial(k) > MOST_STEPS:
        return None
    doubled = np.rint(2 * ranks).astype(np.int64)  # mean ranks are halves
    if (2 * k * n + 1) ** (k - 1) >= 2**62:
        return None
    base = (2 * k * n + 1) ** np.arange(k - 1)  # the last sum follows from the others
    sums: Ints = np.array([doubled[0, :-1] @ base])
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
    """Return the smallest p that Friedman's test can give: the share of orders in which all tasks agree."""
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
        q = float(scipy.stats.studentized_range.ppf(1 - level, methods, np.inf)) / math.sqrt(2)
    else:
        q = float(scipy.stats.norm.isf(level / (2 * (methods - 1))))
    return q * math.sqrt(methods * (methods + 1) / (6 * tasks))


def compare_to_control(test: FriedmanTest, control: Hashable, correction: str = "holm") -> list[ControlComparison]:
    """Compare each method's mean rank with a control's.

    Parameters
    ----------
    test : FriedmanTest
        The result of `friedman`.
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
    p = 2 * scipy.stats.norm.sf(np.abs(z))
    corrected = holm(p) if correction == "holm" else np.minimum(1.0, p * len(others))
    rows = zip((test.methods[i] for i in others), differences, z, p, corrected, strict=True)
    return [ControlComparison(method, *map(float, numbers)) for method, *numbers in rows]


def cliques(ranks: npt.ArrayLike, difference: float) -> list[list[int]]:
    """Return the maximal sets of methods whose mean ranks differ by at most a critical difference."""
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


# The score of the best of several methods, corrected for selection: the best is partly the luckiest.
#
# For candidates with known scores on each fold, Tibshirani and Tibshirani's correction estimates the gain by selection:
# how far the chosen candidate is behind the best of each fold, averaged over the folds. For methods with known
# decisions, bootstrap bias corrected cross-validation (BBC-CV) chooses the best on a bootstrap sample of the test
# samples, and scores it on the samples that were not drawn.
#
# References:
# Tibshirani & Tibshirani 2009, Ann. Appl. Stat. 3:822-829. Tsamardinos, Greasidou & Borboudakis 2018, Mach. Learn.
# 107:1895-1922.

DRAWS = 500
"""Number of bootstrap samples, which the method's authors found to be enough."""

Scorer = Callable[[Floats], Floats]
"""A function from weights (draws, n) to scores (draws, methods); larger is better."""


def corrected_choice(scores: npt.ArrayLike) -> float:
    """Return the best candidate's mean score, corrected for selection by Tibshirani and Tibshirani.

    Scores have the shape (candidates, folds); larger is better, and folds with a NaN are left out.

    >>> corrected_choice([[0.75, 0.5], [0.5, 1.0]])  # the second is best on average, the first in the first fold
    0.625
    """
    table = np.asarray(scores, dtype=np.float64)
    table = table[:, ~np.isnan(table).any(axis=0)]
    if not table.size:
        return math.nan
    best = table[int(np.argmax(table.mean(axis=1)))]
    return float(best.mean() - (table.max(axis=0) - best).mean())


def corrected_ranking(
    labels: npt.ArrayLike,
    decisions: Sequence[npt.ArrayLike],
    score: str = "auc",
    *,
    folds: npt.ArrayLike | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> float:
    """Return the score of the best of several rankings, corrected for selection by BBC-CV.

    Samples are drawn within each test set and class.
    """
    sample = Sample(labels, decisions, score, folds)
    if not sample.parts:
        return math.nan
    return _bootstrapped(sample.scores, sample.n, sample.strata, draws, seed)


def corrected_mean(
    values: npt.ArrayLike, *, folds: npt.ArrayLike | None = None, draws: int = DRAWS, seed: int = 0
) -> float:
    """Return the best method's mean value, corrected for selection by BBC-CV.

    Values have the shape (methods, n): the contribution of each sample, or each task, to a method's mean.

    >>> right = np.random.default_rng(0).integers(0, 2, size=(50, 100))
    >>> float(right.mean(axis=1).max()), round(corrected_mean(right), 2)
    (0.62, 0.5)
    """
    table = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(table).any(axis=0)
    table = table[:, known]
    n = table.shape[1]
    sets = np.zeros(n, dtype=np.int64) if folds is None else np.unique(np.asarray(folds)[known], return_inverse=True)[1]
    parts = [np.flatnonzero(sets == part) for part in range(int(sets.max(initial=-1)) + 1)]

    def score(weights: Floats) -> Floats:
        means = [weights[:, p] @ table[:, p].T / weights[:, p].sum(axis=1, keepdims=True) for p in parts]
        return np.mean(means, axis=0)

    return _bootstrapped(score, n, parts, draws, seed) if n > 1 else math.nan


def _bootstrapped(score: Scorer, n: int, strata: Sequence[Ints], draws: int, seed: int) -> float:
    """Return the mean over draws of the score on the samples not drawn, of the method best on those drawn."""
    rng, found = np.random.default_rng(seed), []
    for count in batches(draws, n):
        drawn = np.zeros((count, n))
        for rows in strata:
            drawn[:, rows] = rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=count)
        with np.errstate(invalid="ignore", divide="ignore"):  # a draw may leave no sample of a class out
            inside, outside = score(drawn), score((drawn == 0).astype(np.float64))
        best = np.argmax(np.nan_to_num(inside, nan=-np.inf), axis=1)
        found.append(outside[np.arange(count), best])
    scores = np.concatenate(found)
    return float(np.nanmean(scores)) if not np.isnan(scores).all() else math.nan
