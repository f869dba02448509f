"""Counts of walks along the diagonals, for the Hamming distances with a weight; see `_hamming_diagonals.h`."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

CLASSES = 8  # distances that one walk distinguishes

Plan = tuple[npt.NDArray[np.int64], list[range]]


class Walks:
    """The walks for some weights, and how distance weights turn them into sums.

    A walk distinguishes up to eight distances. Class m of a walk has the pairs of windows whose code contains the bits
    of m; the code of a distance is how far it lies below the largest distance of its walk.

    Parameters
    ----------
    length : int
        Residues of a window.
    weights : list of int or float, length + 1
        Of the Hamming distances 0, …, `length`.
    real : bool
        Whether some weight is not an integer.

    Attributes
    ----------
    passes : ndarray of int64, shape (walks, 3)
        Planes, classes, and offset of the codes; see `_hamming_diagonals.h`.
    factors : ndarray of int64, shape (classes of all walks,)
        Contribution of a pair of each class to an integer sum.
    rest : int
        Constant contribution of each pair.
    order, weights : ndarray of int64 and of float64, shape (distances,)
        The class of each distance, −1 for the pairs that no other class counts, and its weight.
    """

    def __init__(self, length: int, weights: Sequence[float], real: bool) -> None:
        last = weights[length] != 0  # the remaining pairs
        needed = [h for h in range(length) if weights[h] or last]
        largest = max(needed, default=0)
        plans = [_plan_walks(length, largest, planes) for planes in (4, 5) if length < 2**planes]
        self.passes, distances = min(plans, key=_operations)
        self.rest: float = 0
        self.factors: npt.NDArray[np.int64]
        self.order, self.weights = np.zeros(0, np.int64), np.zeros(0)
        if real:
            which = {h: number for number, h in enumerate(h for part in distances for h in part)}
            order = {h: which[h] for h in sorted(which) if h < length} | ({length: -1} if last else {})
            self.order = np.array(list(order.values()), dtype=np.int64)
            self.weights = np.array([weights[h] for h in order], dtype=np.float64)
            self.factors = np.zeros(len(which), dtype=np.int64)
        else:
            self.rest = weights[length]
            parts = [[weights[h] - self.rest if h < length else 0 for h in part] for part in distances]
            self.factors = np.array([wrapped(f) for part in parts for f in _differences(part)], dtype=np.int64)


def _plan_walks(length: int, largest: int, planes: int) -> Plan:
    """Return the `passes` that count the distances 0 … `largest`, and for each walk the distance of each code."""
    # No other count of matches may have the code of a class: a few more classes keep them out.
    classes = max(largest % CLASSES + 1, length + CLASSES + 1 - 2**planes)
    passes, distances, low = [], [], 0
    while low <= largest:
        highest = low + classes - 1
        passes.append((planes, classes, (2**planes - CLASSES - length + highest) % 2**planes))
        distances.append(range(highest, low - 1, -1))
        low, classes = highest + 1, CLASSES
    return np.array(passes, dtype=np.int64), distances


def _operations(plan: Plan) -> int:
    """Return how many operations on vectors the steps of all walks take, about."""
    passes, _ = plan
    return int((2 * passes[:, 0] + 3 * passes[:, 1]).sum())


def _differences(values: Sequence[float]) -> list[float]:
    """Return f with values[code] = Σ f[m] over all m whose bits `code` contains."""
    parts = list(values)
    for bit in (1, 2, 4):
        for code in range(len(parts)):
            if code & bit:
                parts[code] -= parts[code ^ bit]
    return parts


def wrapped(number: float) -> int:
    """Return an integer modulo 2^64, as int64 holds it.

    Parameters
    ----------
    number : int
        Of any size.

    Returns
    -------
    int
        From −2^63 to 2^63 − 1.
    """
    return (int(number) + 2**63) % 2**64 - 2**63
