"""Numbers cut into intervals that tell about the class, by the minimum description length.

A part of the sorted values is cut where the classes' entropy within both sides is least, if the information gained is
larger than the cost of telling the cut and the classes on either side:

    gain > [ld(n − 1) + ld(3^k − 2) − k·H + k₁·H₁ + k₂·H₂] / n,

n values of k classes with the entropy H in bits, of which k₁ with H₁ lie below and k₂ with H₂ above. Both sides are cut
in turn.

References
----------
Fayyad & Irani, Multi-interval discretization of continuous-valued attributes for classification learning, IJCAI 1993.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt


def interval_codes(X: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return the interval of each value.

    Parameters
    ----------
    X : ndarray of float64, shape (n, d)
        Columns are features.
    y : ndarray of int64, shape (n,)
        Classes, from 0.

    Returns
    -------
    ndarray of int64, shape (n, d)
        From 0; a feature that is never cut is 0 everywhere.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0], [1.2], [1.1], [0.9], [5.0], [5.2], [4.9], [5.1]])
    >>> interval_codes(X, np.array([0, 0, 0, 0, 1, 1, 1, 1])).ravel()
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    n_classes = int(y.max()) + 1
    codes = np.zeros(X.shape, dtype=np.int64)
    for j, column in enumerate(X.T):
        order = np.argsort(column, kind="stable")
        values = column[order]
        counts = np.zeros((len(y) + 1, n_classes), dtype=np.int64)
        counts[np.arange(1, len(y) + 1), y[order]] = 1
        counts = counts.cumsum(axis=0)
        parts, cuts = [(0, len(y))], []
        while parts:
            start, stop = parts.pop()
            cut = _best_cut(values, counts, start, stop)
            if cut is not None:
                cuts.append(cut)
                parts += [(start, cut), (cut, stop)]
        codes[order, j] = np.searchsorted(np.sort(np.array(cuts, dtype=np.int64)), np.arange(len(y)), side="right")
    return codes


def _best_cut(values: npt.NDArray[np.float64], counts: npt.NDArray[np.int64], start: int, stop: int) -> int | None:
    """Return where to cut the sorted values from `start` to `stop`; None if that costs more than it tells."""
    places = start + 1 + np.flatnonzero(values[start + 1 : stop] > values[start : stop - 1])
    whole = counts[stop] - counts[start]
    k = int((whole > 0).sum())
    if not len(places) or k < 2:
        return None
    below, above = counts[places] - counts[start], counts[stop] - counts[places]
    n, low, high = stop - start, _entropies(below), _entropies(above)
    within = (below.sum(axis=1) * low + above.sum(axis=1) * high) / n
    best = int(np.argmin(within.round(12)))
    total = float(_entropies(whole[None])[0])
    sides = sum(int((side[best] > 0).sum()) * float(h[best]) for side, h in ((below, low), (above, high)))
    cost = (math.log2(n - 1) + math.log2(3**k - 2) - k * total + sides) / n
    return int(places[best]) if total - within[best] > cost else None


def _entropies(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return the entropy in bits of each row of counts, of one at least."""
    share = counts / counts.sum(axis=1, keepdims=True)
    return -np.sum(share * np.log2(np.where(share > 0, share, 1.0)), axis=1)
