"""Tests for 5×2cv, five repeats of 2-fold cross-validation: whether the scores of two methods differ.

References
----------
Dietterich 1998, Neural Comput. 10:1895-1923. Alpaydin 1999, Neural Comput. 11:1885-1892.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from seqkern.core.errors import LabelError

REPEATS, HALVES = 5, 2
ZERO = 1e-12
"""Smaller differences of scores are rounding errors."""


class FiveByTwo(NamedTuple):
    """A test over five repeats of 2-fold cross-validation.

    Attributes
    ----------
    difference : float
        Mean of the ten differences first − second.
    statistic : float
        t with 5 degrees of freedom, or F with 10 and 5.
    p : float
        1 if all differences are 0; NaN if one is NaN, or if they do not vary within any repeat.

    Examples
    --------
    >>> five_by_two_f([[0.0, 0.0]] * 5)
    FiveByTwo(difference=0.0, statistic=0.0, p=1.0)
    """

    difference: float
    statistic: float
    p: float


def five_by_two_t(differences: npt.ArrayLike) -> FiveByTwo:
    """Return Dietterich's 5×2cv test: t = p₁₁ / sqrt(Σᵢ sᵢ²/5), with 5 degrees of freedom.

    sᵢ² = (pᵢ₁ − p̄ᵢ)² + (pᵢ₂ − p̄ᵢ)². The choice of the numerator among the ten differences is arbitrary; Alpaydin's F
    uses all of them.

    Parameters
    ----------
    differences : array_like of float, shape (5, 2)
        Of the scores of two methods, first − second: a row for each repeat, a column for each tested half.

    Returns
    -------
    FiveByTwo

    Raises
    ------
    LabelError
        If the shape is not five by two.

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

    It does not depend on the order of the repeats, and has more power than `five_by_two_t`;
    without a difference it rejects somewhat too often (docs/type_one_error.md).

    Parameters
    ----------
    differences : array_like of float, shape (5, 2)
        As for `five_by_two_t`.

    Returns
    -------
    FiveByTwo

    Raises
    ------
    LabelError
        If the shape is not five by two.

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
    """Return the differences, with rounding errors set to 0, and the variance of each repeat."""
    gaps = np.asarray(differences, dtype=np.float64)
    if gaps.shape != (REPEATS, HALVES):
        raise LabelError(f"differences have shape {gaps.shape}", remedy="give five repeats of two halves")
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
