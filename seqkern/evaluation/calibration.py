"""Calibration: probabilities from decision values, fitted to held-out decision values; the scale of variances.

Platt: P(positive | f) = 1 / (1 + exp(A·f + B)), with maximum-likelihood A and B for targets shrunk by a prior of
one additional sample per class. Isotonic: the non-decreasing least-squares steps, joined by straight lines; it
assumes no shape, needs more samples (some hundreds), and can give 0 or 1.

The isotonic steps are scikit-learn's. Its Platt calibration is not used: it applies to classifiers, not to given
decision values (that part is private), stops at a gradient of 1e-6 instead of 1e-12, and takes three times as long.

References
----------
Platt: Probabilistic outputs for support vector machines. In: Advances in Large Margin Classifiers, MIT Press 1999.
Lin, Lin, Weng: A note on Platt's probabilistic outputs for support vector machines. Machine Learning 68:267, 2007.
Kuleshov, Fenner, Ermon: Accurate uncertainties for deep learning using calibrated regression. ICML 2018.
Zadrozny, Elkan: Transforming classifier scores into accurate multiclass probability estimates. KDD 2002.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from seqkern.core.errors import LabelError
from seqkern.core.statistics import both_classes, fit_sigmoid, sigmoid, wilson_interval
from seqkern.core.types import Floats


@dataclass(frozen=True)
class SigmoidCalibration:
    """A sigmoid from decision values to probabilities of the positive class, with slope A and intercept B."""

    slope: float  # A, negative if larger decision values mean the positive class
    intercept: float  # B
    folds: int  # Number of folds that gave decision values
    n: int  # Number of decision values used for fitting
    method: ClassVar[str] = "platt"

    def __post_init__(self) -> None:
        _check_numbers(self.slope, self.intercept)

    @classmethod
    def fit(cls, decisions: npt.ArrayLike, positive: npt.ArrayLike, folds: int) -> Self:
        """Return the maximum-likelihood calibration; see `fit_sigmoid`."""
        return cls(*fit_sigmoid(decisions, positive), folds, np.size(decisions))

    @property
    def rises(self) -> bool:
        """Whether larger decision values give larger probabilities."""
        return self.slope < 0

    def probabilities(self, decisions: npt.ArrayLike) -> Floats:
        """Return the probability of the positive class for each decision value."""
        return sigmoid(self.slope * np.asarray(decisions, dtype=np.float64) + self.intercept)

    def record(self) -> dict[str, Any]:
        """Return the record for a model: a JSON dict for `calibration_from_record`."""
        return {"method": self.method, **asdict(self)}


@dataclass(frozen=True)
class IsotonicCalibration:
    """A non-decreasing piecewise linear map from decision values to probabilities of the positive class.

    It is constant before the first point and after the last.

    >>> calibration = IsotonicCalibration(points=[[-1.0, 0.0], [0.0, 0.4], [1.0, 0.9]], folds=5, n=80)
    >>> calibration.probabilities([-2.0, 0.5, 3.0]).round(2).tolist()
    [0.0, 0.65, 0.9]
    """

    # Decision value and probability, in order of decision values; constant before the first and after the last
    points: list[list[float]]
    folds: int  # Number of folds that gave decision values
    n: int  # Number of decision values used for fitting
    method: ClassVar[str] = "isotonic"

    def __post_init__(self) -> None:
        if not self.points or any(len(point) != 2 for point in self.points):
            raise LabelError("invalid calibration without points", remedy="calibrate again")
        _check_numbers(*(number for point in self.points for number in point))
        x, p = np.array(self.points, dtype=np.float64).T
        if np.any(np.diff(x) <= 0) or np.any(np.diff(p) < 0) or p[0] < 0 or p[-1] > 1:
            raise LabelError("invalid calibration: decreasing, or outside 0 to 1", remedy="calibrate again")

    @classmethod
    def fit(cls, decisions: npt.ArrayLike, positive: npt.ArrayLike, folds: int) -> Self:
        """Return the least-squares calibration (scikit-learn's IsotonicRegression)."""
        from sklearn.isotonic import IsotonicRegression  # imported here for fast start-up

        f, known = both_classes(decisions, positive)
        fitted = IsotonicRegression(y_min=0.0, y_max=1.0).fit(f, known.astype(np.float64))
        points = np.column_stack([fitted.X_thresholds_, fitted.y_thresholds_])
        return cls(points.tolist(), folds, len(f))

    @property
    def rises(self) -> bool:
        """Whether any larger decision value gives a larger probability."""
        return self.points[-1][1] > self.points[0][1]

    def probabilities(self, decisions: npt.ArrayLike) -> Floats:
        """Return the probability of the positive class for each decision value."""
        x, p = zip(*self.points, strict=True)
        return np.interp(np.asarray(decisions, dtype=np.float64), x, p)

    def record(self) -> dict[str, Any]:
        """Return the record for a model: a JSON dict for `calibration_from_record`."""
        return {"method": self.method, **asdict(self)}


Calibration = SigmoidCalibration | IsotonicCalibration
METHODS: dict[str, type[Calibration]] = {cls.method: cls for cls in (SigmoidCalibration, IsotonicCalibration)}


def calibration_from_record(record: Mapping[str, Any]) -> Calibration:
    """Return the calibration stored as `record`."""
    numbers = dict(record)
    method = numbers.pop("method")
    if method not in METHODS:
        raise LabelError(f"unknown calibration {method!r}", remedy=f"choose from: {', '.join(METHODS)}")
    return METHODS[method](**numbers)


def _check_numbers(*values: float) -> None:
    """Raise LabelError unless all values are finite numbers."""
    for value in values:
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            raise LabelError(f"invalid calibration value {value!r}", remedy="calibrate again")


# Prediction intervals of numbers: one factor. With isotonic regression of the levels (Kuleshov et al. 2018) the
# standard deviation would not give the interval. Simulated with 96 samples, its 90% intervals covered no better, and
# its miscalibration area was worse where errors are normal, better where they have heavy tails. The root mean square
# varies less than a quantile of the residuals.

VARIANCE = "variance"
"""The method of calibration for numbers."""


@dataclass(frozen=True)
class VarianceCalibration:
    """The factor of all predicted standard deviations by which held-out residuals have the greatest likelihood.

    >>> VarianceCalibration.fit([1.0, -7.0], folds=2).factor
    5.0
    """

    factor: float  # > 1: intervals are widened
    folds: int  # Number of folds that gave residuals
    n: int  # Number of residuals used for fitting

    def __post_init__(self) -> None:
        _check_numbers(self.factor)
        if self.factor <= 0:
            raise LabelError(f"invalid calibration: factor {self.factor:g}", remedy="calibrate again")

    @classmethod
    def fit(cls, residuals: npt.ArrayLike, folds: int) -> Self:
        """Return the root mean square of held-out residuals, each divided by its predicted standard deviation."""
        z = np.asarray(residuals, dtype=np.float64)
        factor = float(np.sqrt(np.mean(z**2))) if len(z) else math.nan
        if not 0 < factor < math.inf:
            raise LabelError(
                "held-out numbers are predicted without error, or without variance, so intervals have no scale",
                remedy="remove --calibration, or give more samples",
            )
        return cls(factor, folds, len(z))

    @property
    def words(self) -> str:
        """What it does, for messages."""
        change = "widened by {:.3g}" if self.factor > 1 else "narrowed to {:.3g} of their width"
        return f"{change.format(self.factor)}, from {self.n} held-out residuals of {self.folds} fits"


# Reliability of probabilities: among samples with a probability near p, the share p should be positive.
#
# scikit-learn's `calibration_curve` is not used: with equal probabilities its quantile bins may differ much in size,
# and it does not return the numbers of samples, which the intervals need.


class Bin(NamedTuple):
    """A bin of samples with similar probabilities: mean probability, and share of positives with its interval.

    >>> (point,) = reliability([1, 0, 1, 1], [0.6, 0.6, 0.6, 0.6])
    >>> point.n, point.predicted, point.observed
    (4, 0.6, 0.75)
    """

    n: int  # Their number
    predicted: float  # Their mean probability
    observed: float  # The share of positives
    low: float  # Wilson's 95% interval of that share
    high: float  # Wilson's 95% interval of that share


def reliability(labels: ArrayLike, probabilities: ArrayLike, bins: int = 10) -> list[Bin]:
    """Return the points of a reliability diagram; equal probabilities share a bin, so there may be fewer bins.

    >>> points = reliability([0, 0, 1, 0, 1, 1], [0.1, 0.1, 0.2, 0.7, 0.8, 0.9], bins=2)
    >>> [(point.n, round(point.predicted, 2), round(point.observed, 2)) for point in points]
    [(3, 0.13, 0.33), (3, 0.8, 0.67)]
    """
    positive, p = np.asarray(labels, dtype=bool), np.asarray(probabilities, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    positive, p = positive[order], p[order]
    starts = np.searchsorted(p, [p[len(p) * i // bins] for i in range(bins)]) if len(p) else np.empty(0, dtype=int)
    edges = [*np.unique(starts).tolist(), len(p)]
    found = []
    for start, stop in pairwise(edges):
        n, hits = stop - start, int(positive[start:stop].sum())
        found.append(Bin(n, float(p[start:stop].mean()), hits / n, *wilson_interval(hits, n)))
    return found
