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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from seqkern.core.errors import LabelError
from seqkern.core.statistics import both_classes, fit_sigmoid, half_width, log_density, sigmoid, wilson_interval
from seqkern.core.types import Floats
from seqkern.evaluation.metrics import LEVEL

if TYPE_CHECKING:
    from seqkern.evaluation.fold_tables import FoldResult


@dataclass(frozen=True)
class SigmoidCalibration:
    """A sigmoid from decision values to probabilities of the positive class, with slope A and intercept B."""

    slope: float  # A, negative if larger decision values mean the positive class
    intercept: float  # B
    folds: int  # Number of folds that gave decision values
    n: int  # Number of decision values used for fitting
    method: str = "platt"

    def __post_init__(self) -> None:
        _check_numbers(self.slope, self.intercept)

    @classmethod
    def fit(cls, decisions: ArrayLike, positive: ArrayLike, folds: int) -> Self:
        """Return the maximum-likelihood calibration; see `fit_sigmoid`."""
        return cls(*fit_sigmoid(decisions, positive), folds, np.size(decisions))

    def probabilities(self, decisions: ArrayLike) -> Floats:
        """Return the probability of the positive class for each decision value."""
        return sigmoid(self.slope * np.asarray(decisions, dtype=np.float64) + self.intercept)


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
    method: str = "isotonic"

    def __post_init__(self) -> None:
        if not self.points or any(len(point) != 2 for point in self.points):
            raise LabelError("invalid calibration without points", remedy="calibrate again")
        _check_numbers(*(number for point in self.points for number in point))
        x, p = np.array(self.points, dtype=np.float64).T
        if np.any(np.diff(x) <= 0) or np.any(np.diff(p) < 0) or p[0] < 0 or p[-1] > 1:
            raise LabelError("invalid calibration: decreasing, or outside 0 to 1", remedy="calibrate again")

    @classmethod
    def fit(cls, decisions: ArrayLike, positive: ArrayLike, folds: int) -> Self:
        """Return the least-squares calibration (scikit-learn's IsotonicRegression)."""
        from sklearn.isotonic import IsotonicRegression  # imported here for fast start-up

        f, known = both_classes(decisions, positive)
        fitted = IsotonicRegression(y_min=0.0, y_max=1.0).fit(f, known.astype(np.float64))
        points = np.column_stack([fitted.X_thresholds_, fitted.y_thresholds_])
        return cls(points.tolist(), folds, len(f))

    def probabilities(self, decisions: ArrayLike) -> Floats:
        """Return the probability of the positive class for each decision value."""
        x, p = zip(*self.points, strict=True)
        return np.interp(np.asarray(decisions, dtype=np.float64), x, p)


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


# Prediction intervals of numbers: Student's t instead of the normal distribution, by two numbers for all samples. One
# factor alone leaves the intervals of most levels too wide where errors have heavy tails, as in many libraries of
# variants. Quantiles of the residuals themselves (isotonic regression of the levels, Kuleshov et al. 2018) covered no
# better, and have no density.

VARIANCE = "variance"
"""The method of calibration for numbers."""
TAILS = np.arange(17) / 50  # To choose from: 1/ν of Student's t, from the normal distribution to ν = 3.1
PRIOR = 5  # Number of residuals of a right process added to those held out, so that few of these change little
STEPS = 100  # Of the EM algorithm; each more than halves the error


@dataclass(frozen=True)
class VarianceCalibration:
    """The factor of all predicted standard deviations, and the tail of errors, of the greatest posterior density.

    >>> VarianceCalibration.fit([0.2, -0.1, 0.3, 6.0] * 10, folds=5).tail
    0.32
    """

    factor: float  # > 1: the process was too certain
    folds: int  # Number of folds that gave residuals
    n: int  # Number of residuals used for fitting
    tail: float = 0.0  # See `half_width`

    def __post_init__(self) -> None:
        _check_numbers(self.factor, self.tail)
        if self.factor <= 0 or not 0 <= self.tail < 0.5:
            raise LabelError(
                f"invalid calibration: factor {self.factor:g}, tail {self.tail:g}", remedy="calibrate again"
            )

    @classmethod
    def fit(cls, residuals: ArrayLike, folds: int) -> Self:
        """Return the fit to held-out errors, each divided by its predicted standard deviation."""
        z, tails = np.asarray(residuals, dtype=np.float64), TAILS[:, None]
        if not (np.isfinite(z).all() and z.any()):
            problem = "held-out numbers are predicted without error, or without variance, so intervals have no scale"
            raise LabelError(problem, remedy="remove --calibration, or give more samples")
        z, n = np.append(z, [NormalDist().inv_cdf((i + 0.5) / PRIOR) for i in range(PRIOR)]), len(z)
        scales = np.ones_like(tails)  # squares of the scale of Student's t
        for _ in range(STEPS):
            scales = np.mean((1 + tails) * z**2 / (1 + tails * z**2 / scales), axis=1, keepdims=True)
        factors = np.sqrt(scales / (1 - 2 * tails))
        likelihoods = (log_density(z / factors, tails) - np.log(factors)).sum(axis=1)
        best = int(np.argmax(likelihoods))
        return cls(float(factors[best, 0]), folds, n, float(TAILS[best]))

    @classmethod
    def of_folds(cls, results: "Sequence[FoldResult]") -> Self | None:
        """Return the fit to the test samples of outer folds; None without predicted variances, or with one of 0."""
        rows = [row for result in results for row in result.decisions if row.get("sd")]
        z = [(float(row["label"]) - row["decision"]) / row["sd"] for row in rows]
        return cls.fit(z, len(results)) if any(z) else None

    @property
    def words(self) -> str:
        """What it does, for messages."""
        ratio = self.factor * float(half_width(LEVEL, self.tail) / half_width(LEVEL))
        change = f"widened by {ratio:.3g}" if ratio > 1 else f"narrowed to {ratio:.3g} of their width"
        change += f", with tails of Student's t of {1 / self.tail:.3g} degrees of freedom" if self.tail else ""
        return f"{change}, from {self.n} held-out residuals of {self.folds} fits"


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
