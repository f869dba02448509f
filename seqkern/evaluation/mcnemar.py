"""McNemar's test: whether two methods differ in their mistakes about the same samples.

A paired t-test over resamples of one data set is not offered: their training and test parts overlap, so that the
differences are not independent, and it finds differences far too often (Dietterich 1998; docs/type_one_error.md shows
by how much).

References
----------
McNemar 1947, Psychometrika 12:153-157.
Lancaster 1961, J. Am. Stat. Assoc. 56:223-234; Fagerland, Lydersen, Laake 2013, BMC Med. Res. Methodol. 13:91 (mid-p).
Dietterich 1998, Neural Comput. 10:1895-1923.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from seqkern.core.checks import check_choice
from seqkern.core.errors import LabelError


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
    differing = wins + losses
    gap = abs(wins - losses)
    if method == "corrected":
        gap = max(0, gap - 1)
    statistic = gap**2 / differing if differing else 0.0
    if differing == 0:
        p = 1.0
    elif method == "corrected":
        p = float(stats.chi2.sf(statistic, 1))
    else:
        fewer = min(wins, losses)
        p = 2 * float(stats.binom.cdf(fewer, differing, 0.5))
        if method == "midp":
            p -= float(stats.binom.pmf(fewer, differing, 0.5))
        p = min(1.0, p)
    return McnemarTest(n, wins, losses, (wins - losses) / n if n else math.nan, statistic, p if n else math.nan)
