"""Scores of predicted classes and numbers, and all scores of a test set.

Classes are codes from 0. Undefined scores are NaN, without warnings.

scikit-learn's and SciPy's functions give the same numbers, but take 15 to 150 times as long on the few hundred
samples of a test set (correlations 2 to 10 times), and importing them takes longer than most evaluations.
"""

import math
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from seqkern.core.checks import check_integer
from seqkern.core.statistics import half_width, log_density, wilson_interval
from seqkern.core.types import Floats, Ints
from seqkern.evaluation.ranking import average_precision, median_rfp, roc_auc, roc_n, sensitivity, specificity


class Summary(NamedTuple):
    """Mean, sample standard deviation (NaN for fewer than two values) and number of the defined values.

    >>> Summary(mean=0.9, sd=0.02, n=5)._asdict()
    {'mean': 0.9, 'sd': 0.02, 'n': 5}
    """

    mean: float
    sd: float
    n: int


def confusion_matrix(labels: ArrayLike, predicted: ArrayLike, n_classes: int | None = None) -> Ints:
    """Return the number of samples of each class predicted as each class.

    Parameters
    ----------
    labels, predicted : array_like of int, shape (n,)
        True and predicted classes, codes from 0.
    n_classes : int, optional
        Default: one more than the highest code.

    Returns
    -------
    ndarray of int64, shape (n_classes, n_classes)
        Row i, column j: samples of class i predicted as j.

    Examples
    --------
    >>> confusion_matrix([0, 0, 1, 1, 2], [0, 1, 1, 1, 0])
    array([[1, 1, 0],
           [0, 2, 0],
           [1, 0, 0]])
    """
    true, found = np.asarray(labels, dtype=np.int64), np.asarray(predicted, dtype=np.int64)
    if n_classes is None:
        n_classes = int(max(true.max(initial=0), found.max(initial=0))) + 1
    return np.bincount(true * n_classes + found, minlength=n_classes**2).reshape(n_classes, n_classes)


def accuracy(labels: ArrayLike, predicted: ArrayLike) -> float:
    """Return the share of samples predicted correctly.

    Parameters
    ----------
    labels, predicted : array_like, shape (n,)
        True and predicted classes.

    Returns
    -------
    float
        NaN without samples.

    Examples
    --------
    >>> accuracy(["H", "E", "C", "C"], ["H", "C", "C", "C"])
    0.75
    """
    right = np.asarray(labels) == np.asarray(predicted)
    return float(np.mean(right)) if len(right) else math.nan


def balanced_accuracy(labels: ArrayLike, predicted: ArrayLike) -> float:
    """Return the mean over the classes in `labels` of the share correctly predicted.

    Parameters
    ----------
    labels, predicted : array_like of int, shape (n,)
        True and predicted classes, codes from 0.

    Returns
    -------
    float
        NaN if there is only one class.

    Examples
    --------
    >>> balanced_accuracy([0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 1, 0])
    0.75
    """
    confusion = confusion_matrix(labels, predicted)
    sizes = confusion.sum(axis=1)
    present = sizes > 0
    return float(np.mean(np.diag(confusion)[present] / sizes[present])) if present.sum() > 1 else math.nan


def matthews_correlation(labels: ArrayLike, predicted: ArrayLike) -> float:
    """Return Matthews' correlation coefficient, for several classes Gorodkin's R_K.

    With confusion matrix C, s = ΣC, c = trace C, t and p its row and column sums:
    (c·s − t·p) / sqrt((s² − p·p)(s² − t·t)). For two classes (TP·TN − FP·FN) / sqrt(…).
    0 if all predictions are one class, NaN if all labels are.

    Parameters
    ----------
    labels, predicted : array_like of int, shape (n,)
        True and predicted classes, codes from 0.

    Returns
    -------
    float
        From −1 to 1; NaN if there is only one class.

    References
    ----------
    Gorodkin 2004, Comput. Biol. Chem. 28:367-374.

    Examples
    --------
    >>> round(matthews_correlation([0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 1, 0]), 4)
    0.6325
    """
    confusion = confusion_matrix(labels, predicted).astype(np.float64)
    t, p = confusion.sum(axis=1), confusion.sum(axis=0)
    s, c = confusion.sum(), np.trace(confusion)
    if (t > 0).sum() < 2:
        return math.nan
    spread = (s * s - p @ p) * (s * s - t @ t)
    return float((c * s - t @ p) / math.sqrt(spread)) if spread > 0 else 0.0


def macro_auc(labels: ArrayLike, decisions: ArrayLike) -> float:
    """Return the mean over classes of the AUC of each class's decision value against the rest.

    Parameters
    ----------
    labels : array_like of int, shape (n,)
        Classes, codes from 0.
    decisions : array_like of float, shape (n, n_classes)
        Higher means this class.

    Returns
    -------
    float
        Mean over the classes in `labels`; NaN if there is only one.

    Examples
    --------
    >>> labels = [0, 1, 2]
    >>> macro_auc(labels, [[0.9, 0.1, 0.2], [0.3, 0.2, 0.5], [0.1, 0.4, 0.6]])
    0.8333333333333334
    """
    codes, values = np.asarray(labels), np.asarray(decisions, dtype=np.float64)
    areas = [roc_auc(codes == c, values[:, c]) for c in range(values.shape[1]) if (codes == c).any()]
    return float(np.mean(areas)) if areas else math.nan


def rmse(labels: ArrayLike, predicted: ArrayLike) -> float:
    """Return the root of the mean squared error.

    Parameters
    ----------
    labels, predicted : array_like of float, shape (n,)
        True and predicted numbers.

    Returns
    -------
    float
        NaN without samples.

    Examples
    --------
    >>> rmse([1.0, 2.0, 3.0], [1.0, 2.5, 1.8])
    0.7505553499465135
    """
    error = np.asarray(labels, dtype=np.float64) - np.asarray(predicted)
    return math.sqrt(float(np.mean(error**2))) if len(error) else math.nan


def r2(labels: ArrayLike, predicted: ArrayLike) -> float:
    """Return the coefficient of determination, 1 − Σ(y − f)² / Σ(y − mean y)².

    Parameters
    ----------
    labels, predicted : array_like of float, shape (n,)
        True and predicted numbers.

    Returns
    -------
    float
        At most 1; NaN if all labels are equal.

    Examples
    --------
    >>> r2([1.0, 2.0, 3.0], [1.0, 2.5, 2.5])
    0.75
    """
    y = np.asarray(labels, dtype=np.float64)
    total = float(((y - y.mean()) ** 2).sum()) if len(y) else 0.0
    return 1.0 - float(((y - np.asarray(predicted)) ** 2).sum()) / total if total > 0 else math.nan


def pearson(labels: ArrayLike, predicted: ArrayLike) -> float:
    """Return the linear correlation.

    Parameters
    ----------
    labels, predicted : array_like of float, shape (n,)
        True and predicted numbers.

    Returns
    -------
    float
        From −1 to 1; NaN for fewer than two samples, or if labels or predictions are all equal.

    Examples
    --------
    >>> round(pearson([1.0, 2.0, 3.0], [1.0, 2.5, 2.5]), 4)
    0.866
    """
    x, y = (np.asarray(values, dtype=np.float64) for values in (labels, predicted))
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    x, y = x - x.mean(), y - y.mean()
    return float(np.clip(x @ y / math.sqrt((x @ x) * (y @ y)), -1.0, 1.0))


def spearman(labels: ArrayLike, predicted: ArrayLike) -> float:
    """Return the correlation of the ranks, equal values sharing their mean rank.

    Parameters
    ----------
    labels, predicted : array_like of float, shape (n,)
        True and predicted numbers.

    Returns
    -------
    float
        From −1 to 1; NaN as for `pearson`.

    Examples
    --------
    >>> round(spearman([1.0, 2.0, 3.0, 4.0], [1.0, 8.0, 9.0, 9.5]), 4)
    1.0
    """
    from scipy.stats import rankdata  # imported here for fast start-up

    return pearson(rankdata(np.asarray(labels)), rankdata(np.asarray(predicted)))


def codes_of(kind: str, predicted: ArrayLike) -> Ints | Floats:
    """Return a solver's predictions as class codes (binary: 1 above zero, else 0), or as numbers for real labels."""
    return (np.asarray(predicted) > 0).astype(np.int64) if kind == "binary" else np.asarray(predicted)


def brier(labels: ArrayLike, probabilities: ArrayLike) -> float:
    """Return the mean squared difference between probabilities and outcomes.

    For several classes it is the mean over samples of the sum over classes. Smaller is better; a constant probability
    of the share p of positives gives p(1 − p), constant shares of several classes 1 − Σ p².

    Parameters
    ----------
    labels : array_like, shape (n,)
        Two classes: positive where greater than zero; several: codes from 0.
    probabilities : array_like of float, shape (n,) or (n, classes)
        Probabilities of the positive class, or of each class.

    Returns
    -------
    float
        NaN without samples.

    References
    ----------
    Brier 1950, Monthly Weather Review 78:1-3.

    Examples
    --------
    >>> round(brier([1, 1, 0], [0.9, 0.6, 0.2]), 4)
    0.07
    """
    p = np.asarray(probabilities, dtype=np.float64)
    if p.ndim == 2:
        happened = np.asarray(labels)[:, None] == np.arange(p.shape[1])
        return float(((p - happened) ** 2).sum(axis=1).mean()) if len(happened) else math.nan
    happened = np.asarray(labels, dtype=np.float64) > 0
    return float(np.mean((p - happened) ** 2)) if len(happened) else math.nan


def scores(kind: str, labels: ArrayLike, decisions: ArrayLike, predicted: ArrayLike) -> dict[str, float]:
    """Return every score of one test set.

    Parameters
    ----------
    kind : {"binary", "multiclass", "real"}
        Kind of the labels.
    labels : array_like, shape (n,)
        Codes from 0 (binary: 1 is positive), or real values.
    decisions : array_like of float, shape (n,), for several classes (n, n_classes)
        Higher means the positive class, or this class; ignored for real labels.
    predicted : array_like, shape (n,)
        Codes or real values.

    Returns
    -------
    dict of str to float
        binary: auc, roc50, median_rfp, average_precision, balanced_accuracy, mcc, sensitivity, specificity
        (of `predicted`), accuracy. multiclass: auc (macro), balanced_accuracy, mcc, accuracy. real: rmse, r2,
        pearson, spearman.

    Examples
    --------
    >>> found = scores("binary", [1, 1, 0, 0], [0.9, -0.2, 0.1, -0.7], [1, 0, 1, 0])
    >>> found["auc"], found["accuracy"], found["sensitivity"]
    (0.75, 0.5, 0.5)
    """
    if kind == "real":
        return {function.__name__: function(labels, predicted) for function in (rmse, r2, pearson, spearman)}
    classes = {
        "balanced_accuracy": balanced_accuracy(labels, predicted),
        "mcc": matthews_correlation(labels, predicted),
        "accuracy": accuracy(labels, predicted),
    }
    if kind == "multiclass":
        return {"auc": macro_auc(labels, decisions), **classes}
    return {
        "auc": roc_auc(labels, decisions),
        "roc50": roc_n(labels, decisions, 50),
        "median_rfp": median_rfp(labels, decisions),
        "average_precision": average_precision(labels, decisions),
        **classes,
        "sensitivity": sensitivity(labels, predicted),
        "specificity": specificity(labels, predicted),
    }


def summarise(columns: Mapping[str, Iterable[float | None]]) -> dict[str, Summary]:
    """Return mean, sample standard deviation and number of each column's defined values.

    Parameters
    ----------
    columns : dict of str to iterable of float
        One value for each split; NaN and None are undefined.

    Returns
    -------
    dict of str to Summary
        By column name.

    Examples
    --------
    >>> summarise({"auc": [0.5, 0.75, None, 1.0]})
    {'auc': Summary(mean=0.75, sd=0.25, n=3)}
    """
    result = {}
    for name, column in columns.items():
        values = np.array([math.nan if value is None else value for value in column], dtype=np.float64)
        values = values[~np.isnan(values)]
        result[name] = Summary(
            float(values.mean()) if len(values) else math.nan,
            float(values.std(ddof=1)) if len(values) > 1 else math.nan,
            len(values),
        )
    return result


# Scores of predictions with uncertainty: class probabilities, and normal distributions of numbers.

LEVEL = 0.9
"""Probability of the intervals whose coverage is a score."""

LEVELS = tuple(round(0.05 * i, 2) for i in range(1, 20))
"""Probabilities of the intervals of a calibration curve."""

AREA_LEVELS = tuple(i / 100 for i in range(1, 100))
"""Probabilities of the intervals of the miscalibration area."""

LEAST = 1e-15
"""Least probability in the log loss, so that a single error does not make it infinite."""


def log_loss(labels: ArrayLike, probabilities: ArrayLike) -> float:
    """Return the mean negative log probability of the true classes; guessing between two classes gives ln 2.

    >>> round(log_loss([1, 1, 0], [0.9, 0.6, 0.2]), 4)
    0.2798
    """
    p, y = np.asarray(probabilities, dtype=np.float64), np.asarray(labels)
    if not len(p):
        return math.nan
    own = p[np.arange(len(p)), y.astype(np.int64)] if p.ndim == 2 else np.where(y > 0, p, 1 - p)
    return float(-np.log(np.maximum(own, LEAST)).mean())


def negative_log_density(labels: ArrayLike, means: ArrayLike, deviations: ArrayLike, tail: ArrayLike = 0.0) -> float:
    """Return the mean negative log density of numbers under the distributions predicted for them; see `log_density`.

    >>> round(negative_log_density([1.0, 2.0], [1.0, 1.5], [0.5, 0.5]), 4)
    0.4758
    """
    y, mean, deviation = (np.asarray(values, dtype=np.float64) for values in (labels, means, deviations))
    if not len(y):
        return math.nan
    if np.any((deviation == 0) & (y != mean)):
        return math.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(y == mean, 0.0, (y - mean) / deviation)
        return float((np.log(deviation) - log_density(z, tail)).mean())


def interval_coverage(
    labels: ArrayLike, means: ArrayLike, deviations: ArrayLike, level: float = LEVEL, tail: ArrayLike = 0.0
) -> float:
    """Return the share of numbers within the central intervals of their predicted distributions; see `half_width`.

    >>> interval_coverage([1.0, 2.0, 9.0, 4.0], [1.1, 2.2, 3.0, 3.5], [0.5, 0.5, 0.5, 0.5])
    0.75
    """
    y, mean, deviation = (np.asarray(values, dtype=np.float64) for values in (labels, means, deviations))
    if not len(y):
        return math.nan
    return float(np.mean(np.abs(y - mean) <= half_width(level, tail) * deviation))


def miscalibration_area(labels: ArrayLike, means: ArrayLike, deviations: ArrayLike, tail: ArrayLike = 0.0) -> float:
    """Return the mean absolute difference between coverage and level of the central intervals at `AREA_LEVELS`.

    References: Kuleshov, Fenner & Ermon 2018, ICML; Tran et al. 2020, Mach. Learn.: Sci. Technol. 1:025006.

    >>> miscalibration_area([1.0, 2.0], [1.0, 2.0], [0.5, 0.5])
    0.5
    """
    observed = [interval_coverage(labels, means, deviations, level, tail) for level in AREA_LEVELS]
    return float(np.mean(np.abs(np.subtract(observed, AREA_LEVELS))))


def sharpness(deviations: ArrayLike) -> float:
    """Return the root mean predicted variance: the typical predicted error.

    >>> sharpness([1.0, 7.0])
    5.0
    """
    found = np.asarray(deviations, dtype=np.float64)
    return float(np.sqrt(np.mean(found**2))) if len(found) else math.nan


def predictive_scores(
    labels: ArrayLike, means: ArrayLike, deviations: ArrayLike, tail: ArrayLike = 0.0
) -> dict[str, float]:
    """Return the scores of predicted distributions by name: normal ones, or Student's t with a tail."""
    return {
        "coverage_90": interval_coverage(labels, means, deviations, tail=tail),
        "miscalibration_area": miscalibration_area(labels, means, deviations, tail),
        "sharpness": sharpness(deviations),
        "nlpd": negative_log_density(labels, means, deviations, tail),
    }


# Precision among the highest-ranked samples.


class TopPrecision(NamedTuple):
    """Share of positives among the `n` highest-scoring samples, with Wilson's 95% interval."""

    n: int
    precision: float
    low: float
    high: float


def top_precision(positive: ArrayLike, scores: ArrayLike, n: int) -> TopPrecision:
    """Return the share of positives among the n highest-scoring samples, averaged over the orders of ties.

    >>> top_precision([True, False, True, False], [3.0, 2.0, 1.0, 1.0], 3).precision
    0.5
    """
    truth, values = np.asarray(positive, dtype=bool), np.asarray(scores, dtype=np.float64)
    check_integer("n", n, 1, len(values))
    if np.isnan(values).any():
        return TopPrecision(n, math.nan, math.nan, math.nan)
    limit = np.partition(values, len(values) - n)[len(values) - n]
    above, equal = values > limit, values == limit
    hits = float(truth[above].sum() + (n - above.sum()) * truth[equal].mean())
    return TopPrecision(n, hits / n, *wilson_interval(hits, n))


# Which way scores are better.

LOWER = frozenset(
    {
        *("median_rfp", "brier", "log_loss", "rmse", "absolute_error", "miscalibration_area", "sharpness", "nlpd"),
        *("span", "xi_alpha", "radius_margin"),
    }
)
"""Scores of which the lowest is the best."""
SHARE_RIGHT = re.compile(r"q(\d+)")
"""Name of the share of correct residues, with the number of states: the headline of data sets of residues."""


def higher_is_better(key: str) -> bool:
    """Return whether a higher score is better, by the name of its column in ``metrics.tsv``.

    >>> higher_is_better("auc"), higher_is_better("rmse")
    (True, False)
    """
    return key not in LOWER
