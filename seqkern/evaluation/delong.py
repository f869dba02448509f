"""The uncertainty of an AUC, and whether two AUCs on the same samples differ: DeLong's method.

The placement of each sample among those of the other class comes from mid-ranks, in O(n log n).

Decision values of several test sets are compared only within each set, since different fits may have different scales.
The area is then the mean over the sets, and its variance that of a mean of independent areas. It is that of the fitted
classifiers on new samples: variation between training sets is not included, so for the folds
of a cross-validation, whose training sets overlap, it can be somewhat too small.

References
----------
DeLong, DeLong, Clarke-Pearson 1988, Biometrics 44:837-845.
Sun & Xu 2014, IEEE Signal Process. Lett. 21:1389-1393.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from seqkern.core.checks import check_choice, check_real
from seqkern.core.errors import LabelError
from seqkern.evaluation.distributions import average_ranks, normal_quantile, normal_sf
from seqkern.evaluation.ranking import as_binary


class AucInterval(NamedTuple):
    """An AUC, its standard error, and its confidence limits.

    Examples
    --------
    >>> AucInterval(auc=0.84, se=0.13, low=0.41, high=0.98).auc
    0.84
    """

    auc: float
    se: float
    low: float
    high: float


class AucComparison(NamedTuple):
    """Two AUCs on the same samples, first − second, its standard error, z and two-sided p.

    Examples
    --------
    >>> same = delong_test([1, 1, 0, 0], [4, 2, 3, 1], [8, 4, 6, 2])
    >>> same.first, same.difference, same.p
    (0.75, 0.0, 1.0)
    """

    first: float
    second: float
    difference: float
    se: float
    z: float
    p: float


def delong_interval(
    labels: npt.ArrayLike,
    decisions: npt.ArrayLike,
    level: float = 0.95,
    scale: str = "logit",
    *,
    folds: npt.ArrayLike | None = None,
) -> AucInterval:
    """Return a confidence interval for the AUC from DeLong's variance.

    Parameters
    ----------
    labels : array_like, shape (n,)
        Positive where greater than zero.
    decisions : array_like of float, shape (n,)
        A higher decision means positive.
    level : float, default 0.95
        Coverage of the interval.
    scale : {"logit", "plain"}
        ``logit``: symmetric on ln(A/(1−A)) with standard error se/(A(1−A)), so that it stays within 0 and 1
        and is more accurate near them. ``plain``: A ± z·se, clipped to 0 and 1.
    folds : array_like, shape (n,), optional
        The test set of each sample; default: one set. Sets with only one class are ignored.

    Returns
    -------
    AucInterval
        NaN if a class has fewer than two samples in some set. The limits are NaN also for perfectly
        separated classes (A is 0 or 1), for which the estimated variance is 0 and not informative.

    Raises
    ------
    LabelError
        If the lengths differ, or a label or decision is not a finite number.
    ParameterError
        For a level outside 0 to 1, or an unknown scale.

    Examples
    --------
    >>> labels = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> found = delong_interval(labels, [0.9, 0.8, 0.7, 0.4, 0.3, 0.6, 0.5, 0.2, 0.1, 0.0])
    >>> round(found.auc, 2), round(found.low, 2), round(found.high, 2)
    (0.84, 0.41, 0.98)
    """
    check_real("level", level, 0, 1, open_low=True)
    check_choice("scale", scale, ("logit", "plain"))
    (auc,), covariance = delong_covariance(labels, [decisions], folds)
    se = math.sqrt(covariance[0, 0])
    if not se > 0 or auc in (0.0, 1.0):
        return AucInterval(auc, se, math.nan, math.nan)
    z = float(normal_quantile((1 + level) / 2))
    if scale == "plain":
        return AucInterval(auc, se, max(0.0, auc - z * se), min(1.0, auc + z * se))
    centre, half = math.log(auc / (1 - auc)), z * se / (auc * (1 - auc))
    return AucInterval(auc, se, float(expit(centre - half)), float(expit(centre + half)))


def delong_test(
    labels: npt.ArrayLike, first: npt.ArrayLike, second: npt.ArrayLike, *, folds: npt.ArrayLike | None = None
) -> AucComparison:
    """Test whether two decision values on the same samples have the same AUC.

    Parameters
    ----------
    labels : array_like, shape (n,)
        Positive where greater than zero.
    first, second : array_like of float, shape (n,)
        Decision values of two methods; higher means positive.
    folds : array_like, shape (n,), optional
        As for `delong_interval`.

    Returns
    -------
    AucComparison
        p = 1 if both order every pair alike; NaN if a class has fewer than two samples in some set, or if
        the variance of a nonzero difference is 0.

    Raises
    ------
    LabelError
        If the lengths differ, or a label or decision is not a finite number.

    Examples
    --------
    >>> labels = [1, 1, 1, 1, 0, 0, 0, 0]
    >>> found = delong_test(labels, [8, 7, 6, 3, 5, 4, 2, 1], [8, 3, 6, 2, 5, 4, 7, 1])
    >>> found.first, found.second, round(found.p, 3)
    (0.875, 0.5625, 0.16)
    """
    areas, covariance = delong_covariance(labels, [first, second], folds)
    return delong_pair(areas, covariance, 0, 1)


def delong_pair(areas: Sequence[float], covariance: npt.NDArray[np.float64], i: int, j: int) -> AucComparison:
    """Return the comparison of two of the decision values given to `delong_covariance`.

    Parameters
    ----------
    areas : sequence of float
        The AUCs.
    covariance : ndarray of float64, shape (len(areas), len(areas))
        Covariance of the AUCs.
    i, j : int
        Indices of the first and the second.

    Returns
    -------
    AucComparison
    """
    a, b = areas[i], areas[j]
    difference = a - b
    variance = float(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])
    # cancellation leaves rounding errors of this size
    se = math.sqrt(variance) if variance > 1e-14 or math.isnan(variance) else 0.0
    if se == 0.0:
        alike = abs(difference) < 1e-12
        return AucComparison(a, b, difference, se, 0.0 if alike else math.nan, 1.0 if alike else math.nan)
    z = difference / se
    return AucComparison(a, b, difference, se, z, float(2 * normal_sf(abs(z))))


def delong_covariance(
    labels: npt.ArrayLike, decisions: Sequence[npt.ArrayLike], folds: npt.ArrayLike | None = None
) -> tuple[list[float], npt.NDArray[np.float64]]:
    """Return the AUCs of several decision values on the same samples, and DeLong's estimate of their covariance.

    Parameters
    ----------
    labels : array_like, shape (n,)
        Positive where greater than zero.
    decisions : sequence of array_like of float, shape (n,)
        Decision values of each method; higher means positive.
    folds : array_like, shape (n,), optional
        As for `delong_interval`.

    Returns
    -------
    areas : list of float
        The AUC of each method.
    covariance : ndarray of float64, shape (len(decisions), len(decisions))
        NaN if a class has fewer than two samples in some set.

    Raises
    ------
    LabelError
        If the lengths differ, or a label or decision is not a finite number.
    """
    if folds is None:
        return _delong(labels, decisions)
    labels, folds = np.asarray(labels), np.asarray(folds)
    if folds.shape != labels.shape:
        raise LabelError(f"{labels.shape} labels in {folds.shape} folds", remedy="give one fold for each label")
    rows = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
    parts = [_delong(labels[part], [np.asarray(values)[part] for values in decisions]) for part in rows]
    parts = [(areas, covariance) for areas, covariance in parts if not math.isnan(areas[0])]
    if not parts:
        return [math.nan] * len(decisions), np.full((len(decisions), len(decisions)), np.nan)
    mean = np.mean([areas for areas, _ in parts], axis=0)
    total = np.zeros((len(decisions), len(decisions)))
    for _, covariance in parts:
        total += covariance
    return mean.tolist(), total / len(parts) ** 2


def _delong(labels: npt.ArrayLike, decisions: Sequence[npt.ArrayLike]) -> tuple[list[float], npt.NDArray[np.float64]]:
    """Return the AUCs of several decision values and their covariance, NaN for fewer than two samples of a class."""
    pairs = [as_binary(labels, values) for values in decisions]
    positive = pairs[0][0]
    n_positive, n_negative = int(positive.sum()), int((~positive).sum())
    undefined = np.full((len(pairs), len(pairs)), np.nan)
    if n_positive == 0 or n_negative == 0:
        return [math.nan] * len(pairs), undefined
    of_positives, of_negatives = [], []
    for _, values in pairs:
        ranks = average_ranks(values)
        of_positives.append((ranks[positive] - average_ranks(values[positive])) / n_negative)
        of_negatives.append(1.0 - (ranks[~positive] - average_ranks(values[~positive])) / n_positive)
    areas = [float(np.mean(placements)) for placements in of_positives]
    if min(n_positive, n_negative) < 2:
        return areas, undefined
    covariance = np.cov(of_positives) / n_positive + np.cov(of_negatives) / n_negative
    return areas, np.atleast_2d(covariance)
