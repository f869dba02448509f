"""Whether two methods differ on one task: McNemar's test of their mistakes, and the tests made for 5×2cv.

A paired t-test over resamples of one data set is not offered: their training and test parts overlap, so that the
differences are not independent, and it finds differences far too often (Dietterich 1998; docs/type_one_error.md shows
by how much).

References
----------
McNemar 1947, Psychometrika 12:153-157.
Lancaster 1961, J. Am. Stat. Assoc. 56:223-234; Fagerland, Lydersen, Laake 2013, BMC Med. Res. Methodol. 13:91 (mid-p).
Dietterich 1998, Neural Comput. 10:1895-1923. Alpaydin 1999, Neural Comput. 11:1885-1892.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from seqkern.core.checks import check_choice
from seqkern.core.errors import LabelError

REPEATS, HALVES = 5, 2
ZERO = 1e-12
"""Differences of scores smaller than this are rounding errors."""


class McnemarTest(NamedTuple):
    """McNemar's test of two methods on the same samples.

    Attributes
    ----------
    n : int
        Samples.
    wins, losses : int
        Samples that only the first method has right, and those that only the second has right.
    difference : float
        Of the shares of samples that are right, first − second.
    statistic : float
        (wins − losses)² / (wins + losses); if `method` is ``corrected``, (|wins − losses| − 1)² / (wins + losses).
    p : float
        Two-sided; 1 where no sample tells the methods apart, NaN without samples.

    Examples
    --------
    >>> mcnemar_counts(wins=3, losses=1, n=10)
    McnemarTest(n=10, wins=3, losses=1, difference=0.2, statistic=1.0, p=0.375)
    """

    n: int
    wins: int
    losses: int
    difference: float
    statistic: float
    p: float


class FiveByTwo(NamedTuple):
    """A test over five repeats of 2-fold cross-validation.

    Attributes
    ----------
    difference : float
        Mean of the ten differences first − second.
    statistic : float
        t with 5 degrees of freedom, or F with 10 and 5.
    p : float
        1 where all differences are 0; NaN where one is NaN, or where they do not vary within any repeat.

    Examples
    --------
    >>> five_by_two_f([[0.0, 0.0]] * 5)
    FiveByTwo(difference=0.0, statistic=0.0, p=1.0)
    """

    difference: float
    statistic: float
    p: float


def mcnemar(labels: npt.ArrayLike, first: npt.ArrayLike, second: npt.ArrayLike, method: str = "midp") -> McnemarTest:
    """Test whether two methods are right equally often, from the samples that only one of them has right.

    Parameters
    ----------
    labels : array_like, shape (n,)
        True classes.
    first, second : array_like, shape (n,)
        Predicted classes of two methods.
    method : {"midp", "exact", "corrected"}
        ``exact``: two-sided binomial test of the samples that tell the methods apart; it never exceeds its level, and
        with few such samples stays far below. ``midp``, the default: counts only half of the probability of what was
        seen; nearer to its level, which it exceeds hardly ever and by little. ``corrected``: χ² with continuity
        correction, as in Dietterich 1998; an approximation of ``exact``.

    Returns
    -------
    McnemarTest

    Raises
    ------
    LabelError
        If the lengths differ.
    ParameterError
        For an unknown method.

    Examples
    --------
    >>> states = "HHHHHEEEECCCCC"
    >>> mistakes = mcnemar(list(states), list("HHHHHEEEECCCHH"), list("HHCCCEECCCCCEH"))
    >>> mistakes.wins, mistakes.losses, round(mistakes.p, 4)
    (5, 0, 0.0313)
    """
    labels, first, second = (np.asarray(values) for values in (labels, first, second))
    if not labels.shape == first.shape == second.shape or labels.ndim != 1:
        shapes = f"{labels.shape} labels, {first.shape} and {second.shape} predictions"
        raise LabelError(shapes, remedy="give one prediction of each method for each label")
    right = first == labels, second == labels
    return mcnemar_counts(int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum()), len(labels), method)


def mcnemar_counts(wins: int, losses: int, n: int, method: str = "midp") -> McnemarTest:
    """Return `mcnemar` of counts.

    Parameters
    ----------
    wins, losses : int
        Samples that only the first, and that only the second method has right.
    n : int
        All samples.
    method : {"midp", "exact", "corrected"}
        As in `mcnemar`.

    Returns
    -------
    McnemarTest

    Raises
    ------
    ParameterError
        For an unknown method.
    """
    check_choice("method", method, ("midp", "exact", "corrected"))
    told = wins + losses
    gap = abs(wins - losses)
    if method == "corrected":
        gap = max(0, gap - 1)
    statistic = gap**2 / told if told else 0.0
    if told == 0:
        p = 1.0
    elif method == "corrected":
        p = float(stats.chi2.sf(statistic, 1))
    else:
        fewer = min(wins, losses)
        p = 2 * float(stats.binom.cdf(fewer, told, 0.5))
        if method == "midp":
            p -= float(stats.binom.pmf(fewer, told, 0.5))
        p = min(1.0, p)
    return McnemarTest(n, wins, losses, (wins - losses) / n if n else math.nan, statistic, p if n else math.nan)


def five_by_two_t(differences: npt.ArrayLike) -> FiveByTwo:
    """Return Dietterich's 5×2cv test: t = p₁₁ / sqrt(Σᵢ sᵢ²/5), with 5 degrees of freedom.

    sᵢ² = (pᵢ₁ − p̄ᵢ)² + (pᵢ₂ − p̄ᵢ)². Which of the ten differences is the first, the numerator, is chance; Alpaydin's F
    uses all of them.

    Parameters
    ----------
    differences : array_like of float, shape (5, 2)
        Of the scores of two methods, first − second: a row for each repeat, a column for each half tested.

    Returns
    -------
    FiveByTwo

    Raises
    ------
    LabelError
        If there are not five by two.

    Examples
    --------
    >>> found = five_by_two_t([[0.03, 0.05], [0.02, 0.04], [0.06, 0.03], [0.04, 0.02], [0.05, 0.04]])
    >>> round(found.difference, 3), round(found.statistic, 2), round(found.p, 3)
    (0.038, 2.02, 0.099)
    """
    gaps, variances = _five_by_two(differences)
    spread = math.sqrt(variances.sum() / REPEATS)
    statistic = _ratio(gaps[0, 0], spread)
    p = 1.0 if not gaps.any() else float(2 * stats.t.sf(abs(statistic), REPEATS))
    return FiveByTwo(float(gaps.mean()), statistic, p)


def five_by_two_f(differences: npt.ArrayLike) -> FiveByTwo:
    """Return Alpaydin's combined 5×2cv test: F = Σᵢⱼ pᵢⱼ² / (2 Σᵢ sᵢ²), with 10 and 5 degrees of freedom.

    It does not depend on the order of the repeats, and finds more than `five_by_two_t` where there is a difference;
    where there is none it finds one somewhat too often (docs/type_one_error.md).

    Parameters
    ----------
    differences : array_like of float, shape (5, 2)
        As in `five_by_two_t`.

    Returns
    -------
    FiveByTwo

    Raises
    ------
    LabelError
        If there are not five by two.

    Examples
    --------
    >>> found = five_by_two_f([[0.03, 0.05], [0.02, 0.04], [0.06, 0.03], [0.04, 0.02], [0.05, 0.04]])
    >>> round(found.statistic, 2), round(found.p, 3)
    (7.27, 0.02)
    """
    gaps, variances = _five_by_two(differences)
    statistic = _ratio(float((gaps**2).sum()), 2 * float(variances.sum()))
    p = 1.0 if not gaps.any() else float(stats.f.sf(statistic, REPEATS * HALVES, REPEATS))
    return FiveByTwo(float(gaps.mean()), statistic, p)


def _five_by_two(differences: npt.ArrayLike) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the differences, rounding errors made 0, and the variance of each repeat."""
    gaps = np.asarray(differences, dtype=np.float64)
    if gaps.shape != (REPEATS, HALVES):
        raise LabelError(f"differences of shape {gaps.shape}", remedy="give five repeats of two halves")
    gaps = np.where(np.abs(gaps) < ZERO, 0.0, gaps)
    variances = ((gaps - gaps.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    return gaps, np.where(variances < ZERO**2, 0.0, variances)


def _ratio(above: float, below: float) -> float:
    """Return above / below; 0 for 0 / 0, NaN for anything else over 0."""
    if math.isnan(above) or math.isnan(below):
        return math.nan
    if below == 0:
        return 0.0 if above == 0 else math.nan
    return float(above / below)
