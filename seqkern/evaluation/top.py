"""Precision among the samples that are ranked highest."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_integer
from seqkern.evaluation.wilson import wilson_interval


class TopPrecision(NamedTuple):
    """Share of positives among the `n` samples with the highest scores, with Wilson's interval of 95 %."""

    n: int
    precision: float
    low: float
    high: float


def top_precision(positive: npt.ArrayLike, scores: npt.ArrayLike, n: int) -> TopPrecision:
    """Return the share of positives among the samples with the highest scores.

    Parameters
    ----------
    positive : array_like of bool, shape (m,)
        Which samples are.
    scores : array_like of float, shape (m,)
        Of samples with equal scores at the limit each counts by the same part: the mean over all orders of them.
    n : int
        How many samples, from 1 to m.

    Returns
    -------
    TopPrecision

    Examples
    --------
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
