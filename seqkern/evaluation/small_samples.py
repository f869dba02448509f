"""Whether there are enough samples for a score: the interval that an AUC would have at chance level.

DeLong's variance is estimated from the decisions, and is 0 for perfectly separated classes. Hanley and McNeil's follows
from the true AUC and the numbers of samples, so it is known before any training, and for an AUC of 1. The interval
holds every true AUC from which the observed one is less than 1.96 standard errors away (Newcombe's method 5).

References
----------
Hanley & McNeil 1982, Radiology 143:29-36. Newcombe 2006, Stat. Med. 25:559-573.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from seqkern.evaluation.distributions import NORMAL_975
from seqkern.sequences.labels import Labels

WIDEST = 0.5
"""Width from which the interval of a useless method covers most of the possible values (half of them)."""
STEPS = 60
"""Halvings of the bisection: more than a float64 can tell apart."""


class TooFew(NamedTuple):
    """Numbers of samples that are too few for a score, as words, and the interval at chance level.

    Examples
    --------
    >>> TooFew("3 against 3", "AUC 0.5", 0.15, 0.85).sentence()
    'too few for a score: 3 against 3, the 95 % interval of AUC 0.5 is 0.15 to 0.85'
    """

    counts: str
    chance: str
    low: float
    high: float

    def sentence(self) -> str:
        """Return what there is too little of."""
        return (
            f"too few for a score: {self.counts}, the 95 % interval of {self.chance} is "
            f"{self.low:.2f} to {self.high:.2f}"
        )


def hanley_mcneil_variance(auc: float, positives: int, negatives: int) -> float:
    """Return the variance of an estimated AUC by Hanley and McNeil.

    Parameters
    ----------
    auc : float
        The true AUC.
    positives, negatives : int
        Numbers of samples.

    Returns
    -------
    float

    Examples
    --------
    >>> round(hanley_mcneil_variance(0.5, 3, 3), 4)
    0.0648
    """
    both, one = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    spread = auc * (1 - auc) + (positives - 1) * (both - auc**2) + (negatives - 1) * (one - auc**2)
    return spread / (positives * negatives)


def auc_ends(auc: float, positives: int, negatives: int, factor: float = 1.0) -> tuple[float, float]:
    """Return the 95 % interval of an AUC by Newcombe's method 5, which is known for an AUC of 0 or 1 too.

    Parameters
    ----------
    auc : float
        The observed AUC.
    positives, negatives : int
        Numbers of samples.
    factor : float, default 1
        By which the variance is larger than that of one test set of these sizes.

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> [round(end, 2) for end in auc_ends(0.5, 3, 3)], [round(end, 2) for end in auc_ends(1.0, 20, 20)]
    ([0.15, 0.85], [0.9, 1.0])
    """
    return _lower(auc, positives, negatives, factor), 1 - _lower(1 - auc, negatives, positives, factor)


def _lower(auc: float, positives: int, negatives: int, factor: float) -> float:
    """Return the lower end: the smallest true AUC that the observed one does not exclude."""
    low, high = 0.0, auc
    for _ in range(STEPS):
        middle = (low + high) / 2
        far = auc - middle > NORMAL_975 * math.sqrt(factor * hanley_mcneil_variance(middle, positives, negatives))
        low, high = (middle, high) if far else (low, middle)
    return low


def independent_counts(
    codes: npt.ArrayLike, n_classes: int, groups: npt.ArrayLike | None = None
) -> npt.NDArray[np.int64]:
    """Return how many samples of each class can be counted as independent.

    Samples of one group with one label count once. A group with several labels shows by itself whether the decisions
    follow them, so that its samples count one by one.

    Parameters
    ----------
    codes : array_like of int, shape (n,)
        The class of each sample.
    n_classes : int
        Number of classes.
    groups : array_like, shape (n,), optional
        Samples that belong together.

    Returns
    -------
    ndarray of int64, shape (n_classes,)

    Examples
    --------
    >>> independent_counts([1, 1, 1, 0, 0, 0], 2, list("xxyzzz")).tolist()
    [1, 2]
    """
    y = np.asarray(codes, dtype=np.int64)
    if groups is None:
        return np.bincount(y, minlength=n_classes)
    group = np.unique(np.asarray(groups), return_inverse=True)[1]
    low, high = np.full(group.max(initial=-1) + 1, n_classes), np.zeros(group.max(initial=-1) + 1, dtype=np.int64)
    np.minimum.at(low, group, y)
    np.maximum.at(high, group, y)
    pure = low == high
    return np.bincount(low[pure], minlength=n_classes) + np.bincount(y[~pure[group]], minlength=n_classes)


def too_few(labels: Labels) -> TooFew | None:
    """Return what is too little if the interval of a useless method would cover half of the possible scores.

    Parameters
    ----------
    labels : Labels
        Of n samples, all with a label; samples of one group belong together.

    Returns
    -------
    TooFew or None
        None if there are enough samples, and for labels of kind ``"none"``.

    Examples
    --------
    >>> from seqkern.sequences.labels import make_labels
    >>> too_few(make_labels(list("abcdef"), ["donor", "decoy"] * 3)).sentence()
    'too few for a score: 3 against 3, the 95 % interval of AUC 0.5 is 0.15 to 0.85'
    >>> too_few(make_labels(list("abcdefghijklmnop"), ["donor", "decoy"] * 8)) is None
    True
    """
    if labels.kind == "none":
        return None
    codes = np.zeros(len(labels), dtype=np.int64) if labels.kind == "real" else labels.y.astype(np.int64)
    return too_few_of(labels.kind, codes, max(len(labels.classes), 1), labels.groups)


def too_few_of(kind: str, codes: npt.ArrayLike, n_classes: int, groups: npt.ArrayLike | None = None) -> TooFew | None:
    """Return what is too little, as `too_few`.

    Parameters
    ----------
    kind : {"binary", "multiclass", "real"}
        Kind of the labels.
    codes : array_like of int, shape (n,)
        The class of each sample; zeros for real labels.
    n_classes : int
        Number of classes; 1 for real labels.
    groups : array_like, shape (n,), optional
        As for `independent_counts`.

    Returns
    -------
    TooFew or None
    """
    counts = independent_counts(codes, n_classes, groups)
    what = "" if groups is None else " (related samples counted once)"
    if kind == "real":
        # Fisher's interval of a correlation of 0
        n = int(counts[0])
        half = math.tanh(1.96 / math.sqrt(n - 3)) if n > 3 else 1.0
        return TooFew(f"{n} samples{what}", "correlation 0", -half, half) if half > WIDEST else None
    present = counts[counts > 0]
    if len(present) < 2:
        return None
    ends = [auc_ends(0.5, int(own), int(present.sum() - own)) for own in present]
    # the mean over classes; of two classes both have the same interval, mirrored
    low, high = (float(np.mean(values)) for values in zip(*ends, strict=True))
    if high - low <= WIDEST:
        return None
    order = counts[::-1] if kind == "binary" else counts
    if len(order) > 4:
        text = f"{len(present)} classes, the smallest of {present.min()} samples"
    else:
        text = " against ".join(str(count) for count in order)
    return TooFew(f"{text}{what}", "AUC 0.5", low, high)
