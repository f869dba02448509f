"""McNemar's test: whether two methods differ in their errors on the same samples.

A paired t-test over resamples of one data set is not offered: the training and test sets overlap, so the
differences are not independent, and it rejects far too often (Dietterich 1998; see docs/type_one_error.md
for numbers).

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
        Number of samples.
    wins, losses : int
        Samples correct only by the first method, and only by the second.
    difference : float
        Difference of the shares of correct samples, first − second.
    statistic : float
        (wins − losses)² / (wins + losses); if `method` is ``corrected``, (|wins − losses| − 1)² / (wins + losses).
    p : float
        Two-sided; 1 if the methods agree on all samples, NaN without samples.

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
    """Test whether two methods are equally accurate, from the samples correct by only one of them.

    Parameters
    ----------
    labels : array_like, shape (n,)
        True classes.
    first, second : array_like, shape (n,)
        Predicted classes of two methods.
    method : {"midp", "exact", "corrected"}
        ``exact``: two-sided binomial test of the discordant samples; never exceeds its level, and
        stays far below it with few such samples. ``midp``, the default: counts half of the probability of the
        observed value; nearer to its level, rarely and slightly above it. ``corrected``: χ² with continuity
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
        Samples correct only by the first, and only by the second method.
    n : int
        Number of samples.
    method : {"midp", "exact", "corrected"}
        As for `mcnemar`.

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
        p = min(1.0, 2 * float(stats.binom.cdf(fewer, differing, 0.5)))
        if method == "midp":
            # an outcome in the middle is in both tails, and yet one outcome: half of it counts
            seen = float(stats.binom.pmf(fewer, differing, 0.5))
            p -= seen / 2 if wins == losses else seen
    return McnemarTest(n, wins, losses, (wins - losses) / n if n else math.nan, statistic, p if n else math.nan)
