"""Scores of predicted classes and numbers, and all the scores of a test part together.

Classes are codes from 0. What is not defined is NaN, never a warning.

These are not scikit-learn's and SciPy's functions: those give the same numbers, but take 15 to 150 times as long on the
few hundred units of a test part (correlations 2 to 10 times), and importing them takes longer than most evaluations.
"""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from seqkern.evaluation.ranking import average_precision, median_rfp, roc_auc, roc_n, sensitivity, specificity


class Summary(NamedTuple):
    """Mean, sample standard deviation (NaN below two values) and number of the values that are defined."""

    mean: float
    sd: float
    n: int


def confusion_matrix(labels: ArrayLike, predicted: ArrayLike, n_classes: int | None = None) -> np.ndarray:
    """Return int64 (n_classes, n_classes): how many units of class i (row) were predicted as j (column).

    Parameters
    ----------
    labels, predicted : array_like of int, shape (n,)
    n_classes : int, optional
        By default one more than the highest code.
    """
    labels, predicted = np.asarray(labels, dtype=np.int64), np.asarray(predicted, dtype=np.int64)
    if n_classes is None:
        n_classes = int(max(labels.max(initial=0), predicted.max(initial=0))) + 1
    return np.bincount(labels * n_classes + predicted, minlength=n_classes**2).reshape(n_classes, n_classes)


def accuracy(labels: ArrayLike, predicted: ArrayLike) -> float:
    """Return the share of units predicted correctly; NaN if there are none."""
    labels, predicted = np.asarray(labels), np.asarray(predicted)
    return float(np.mean(labels == predicted)) if len(labels) else math.nan


def balanced_accuracy(labels: ArrayLike, predicted: ArrayLike) -> float:
    """Return the mean over the classes that occur in `labels` of the share recognised.

    NaN if they hold one class only.
    """
    confusion = confusion_matrix(labels, predicted)
    sizes = confusion.sum(axis=1)
    present = sizes > 0
    return float(np.mean(np.diag(confusion)[present] / sizes[present])) if present.sum() > 1 else math.nan


def matthews_correlation(labels: ArrayLike, predicted: ArrayLike) -> float:
    """Return Matthews' correlation coefficient, for several classes Gorodkin's R_K.

    With confusion matrix C, s = ΣC, c = trace C, t and p its row and column sums:
    (c·s − t·p) / sqrt((s² − p·p)(s² − t·t)). For two classes (TP·TN − FP·FN) / sqrt(…).
    0 where all predictions are one class, NaN where all labels are.

    References
    ----------
    Gorodkin 2004, Comput. Biol. Chem. 28:367-374.
    """
    confusion = confusion_matrix(labels, predicted).astype(np.float64)
    t, p = confusion.sum(axis=1), confusion.sum(axis=0)
    s, c = confusion.sum(), np.trace(confusion)
    if (t > 0).sum() < 2:
        return math.nan
    spread = (s * s - p @ p) * (s * s - t @ t)
    return float((c * s - t @ p) / math.sqrt(spread)) if spread > 0 else 0.0


def macro_auc(labels: ArrayLike, decisions: ArrayLike) -> float:
    """Return the mean over classes of the AUC of each class's decision against all the others.

    Parameters
    ----------
    labels : array_like of int, shape (n,)
    decisions : array_like, shape (n, n_classes)

    Returns
    -------
    float
        Over the classes that occur among `labels`; NaN if that is one only.
    """
    labels, decisions = np.asarray(labels), np.asarray(decisions, dtype=np.float64)
    areas = [roc_auc(labels == c, decisions[:, c]) for c in range(decisions.shape[1]) if (labels == c).any()]
    return float(np.mean(areas)) if areas else math.nan


def rmse(labels: ArrayLike, predicted: ArrayLike) -> float:
    """Return the root of the mean squared error; NaN for no units."""
    error = np.asarray(labels, dtype=np.float64) - predicted
    return math.sqrt(float(np.mean(error**2))) if len(error) else math.nan


def r2(labels: ArrayLike, predicted: ArrayLike) -> float:
    """Return 1 − Σ(y − f)² / Σ(y − mean y)²; NaN where all labels are equal."""
    labels = np.asarray(labels, dtype=np.float64)
    total = float(((labels - labels.mean()) ** 2).sum()) if len(labels) else 0.0
    return 1.0 - float(((labels - predicted) ** 2).sum()) / total if total > 0 else math.nan


def pearson(labels: ArrayLike, predicted: ArrayLike) -> float:
    """Return the linear correlation; NaN where labels or predictions are all equal."""
    x, y = (np.asarray(values, dtype=np.float64) for values in (labels, predicted))
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    x, y = x - x.mean(), y - y.mean()
    return float(np.clip(x @ y / math.sqrt((x @ x) * (y @ y)), -1.0, 1.0))


def spearman(labels: ArrayLike, predicted: ArrayLike) -> float:
    """Return the correlation of the ranks, equal values sharing their mean rank; NaN as `pearson`."""
    from scipy.stats import rankdata  # only for real labels: costs start-up

    return pearson(rankdata(labels), rankdata(predicted))


def codes_of(kind: str, predicted: ArrayLike) -> np.ndarray:
    """Return predictions of a solver as class codes (binary: 0 and 1) or numbers."""
    return (np.asarray(predicted) > 0).astype(np.int64) if kind == "binary" else np.asarray(predicted)


def brier(labels: ArrayLike, probabilities: ArrayLike) -> float:
    """Return the mean squared difference of probabilities from what happened (1 positive, 0 negative); NaN if empty.

    Of probabilities of several classes, (n, classes), it is the mean over units of the sum over classes.
    Brier 1950, Monthly Weather Review 78:1-3. Least is best; a constant probability of the share p of positives
    gives p(1 − p), constant shares of several classes 1 − Σ p².
    """
    probabilities = np.asarray(probabilities, dtype=np.float64)
    if probabilities.ndim == 2:
        happened = np.asarray(labels)[:, None] == np.arange(probabilities.shape[1])
        return float(((probabilities - happened) ** 2).sum(axis=1).mean()) if len(happened) else math.nan
    happened = np.asarray(labels, dtype=np.float64) > 0
    return float(np.mean((probabilities - happened) ** 2)) if len(happened) else math.nan


def scores(kind: str, labels: ArrayLike, decisions: ArrayLike, predicted: ArrayLike) -> dict[str, float]:
    """Return every score of one test part.

    Parameters
    ----------
    kind : {"binary", "multiclass", "real"}
    labels : ndarray, shape (n,)
        Codes from 0 (binary: 1 is positive), or real values.
    decisions : ndarray, shape (n,), for several classes (n, n_classes)
    predicted : ndarray, shape (n,)
        Codes or real values.

    Returns
    -------
    dict of str to float
        binary: auc, roc50, median_rfp, average_precision, balanced_accuracy, mcc, sensitivity, specificity
        (of `predicted`), accuracy. multiclass: auc (macro), balanced_accuracy, mcc, accuracy. real: rmse, r2,
        pearson, spearman.
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
    columns : dict of str to array_like
        One value for each split; NaN and None are undefined.

    Returns
    -------
    dict of str to Summary
    """
    result = {}
    for name, values in columns.items():
        values = np.array([math.nan if value is None else value for value in values], dtype=np.float64)
        values = values[~np.isnan(values)]
        result[name] = Summary(
            float(values.mean()) if len(values) else math.nan,
            float(values.std(ddof=1)) if len(values) > 1 else math.nan,
            len(values),
        )
    return result
