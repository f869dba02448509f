"""Reliability of probabilities: among samples with a probability near p, the share p should be positive.

Not scikit-learn's `calibration_curve`: if probabilities are equal, its quantile bins may differ much in size, and it
does not return the numbers of samples, which the intervals need.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from seqkern.evaluation.wilson import wilson_interval


class Bin(NamedTuple):
    """Samples with similar probabilities.

    Attributes
    ----------
    n : int
        Their number.
    predicted : float
        Their mean probability.
    observed : float
        The share of positives.
    low, high : float
        Wilson's 95 % interval of that share.

    Examples
    --------
    >>> (point,) = reliability([1, 0, 1, 1], [0.6, 0.6, 0.6, 0.6])
    >>> point.n, point.predicted, point.observed
    (4, 0.6, 0.75)
    """

    n: int
    predicted: float
    observed: float
    low: float
    high: float


def reliability(labels: ArrayLike, probabilities: ArrayLike, bins: int = 10) -> list[Bin]:
    """Return the points of a reliability diagram.

    Parameters
    ----------
    labels : array_like of bool, shape (n,)
        Whether each sample is positive.
    probabilities : array_like of float, shape (n,)
        Of the positive class.
    bins : int, default 10
        Requested number; each bin has about as many samples as the others, and samples with equal probabilities stay
        together, so there may be fewer bins.

    Returns
    -------
    list of Bin
        In order of probability; empty without samples.

    Examples
    --------
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
