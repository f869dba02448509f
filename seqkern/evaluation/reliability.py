"""Whether probabilities are true: of the units that were given a probability near p, is the share p positive?

Not scikit-learn's `calibration_curve`: where probabilities are equal, its quantile bins may differ much in size, and it
does not return the numbers of units, which the intervals need.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from seqkern.evaluation.wilson import wilson_interval


class Bin(NamedTuple):
    """Units with probabilities near one another.

    Attributes
    ----------
    n : int
    predicted : float
        Their mean probability.
    observed : float
        The share of them that is positive.
    low, high : float
        Wilson's 95 % interval of that share.
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
        Whether each unit is positive.
    probabilities : array_like of float, shape (n,)
        Of the positive class.
    bins : int
        Wanted; each has about as many units as the others, and units with equal probabilities stay together, so that
        there may be fewer.

    Returns
    -------
    list of Bin
        By rising probability; empty without units.
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
