"""The typical training samples of a classifier: what a reader looks at instead of a mean of kernel features."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

MOST = 5
"""Typical samples that are listed for a prototype."""


class Exemplar(NamedTuple):
    """A training sample that is typical of a prototype.

    Attributes
    ----------
    code : int
        Index of the class in `classes_`.
    prototype : int
        Which prototype of the class, from 1.
    rank : int
        1 for the sample nearest to the prototype.
    row : int
        Row of the training set, from 0.
    distance : float
        Squared distance from the prototype, in the feature space of the kernel or by the metric that was learned.
    members : int
        Training samples of the class that are nearer to this prototype than to others of the class.

    Examples
    --------
    >>> Exemplar(0, 1, 1, row=17, distance=0.25, members=40).row
    17
    """

    code: int
    prototype: int
    rank: int
    row: int
    distance: float
    members: int


def typical(
    distances: npt.NDArray[np.float64], codes: npt.NDArray[np.int64], y: npt.NDArray[np.int64], most: int = MOST
) -> list[Exemplar]:
    """Return the samples nearest to each prototype among those of its class that are nearest to it.

    Parameters
    ----------
    distances : ndarray of float64, shape (p, n)
        Squared, of p prototypes from n samples.
    codes : ndarray of int64, shape (p,)
        Class of each prototype, ascending.
    y : ndarray of int64, shape (n,)
        Class of each sample.
    most : int
        Samples for each prototype, at most.

    Returns
    -------
    list of Exemplar
        By class, prototype and rank.

    Examples
    --------
    >>> import numpy as np
    >>> distances = np.array([[0.1, 4.0, 0.3], [5.0, 0.2, 6.0]])
    >>> [one.row for one in typical(distances, np.array([0, 1]), np.array([0, 1, 0]))]
    [0, 2, 1]
    """
    found = []
    for code in np.unique(codes):
        own, rows = np.flatnonzero(codes == code), np.flatnonzero(y == code)
        nearest = distances[np.ix_(own, rows)].argmin(axis=0)
        for place, prototype in enumerate(own):
            members = rows[nearest == place]
            order = members[np.argsort(distances[prototype, members], kind="stable")]
            for rank, row in enumerate(order[:most].tolist(), start=1):
                value = float(distances[prototype, row])
                found.append(Exemplar(int(code), place + 1, rank, row, value, len(members)))
    return found


def as_array(found: list[Exemplar]) -> npt.NDArray[np.float64]:
    """Return exemplars as an array, for the state of a solver.

    Parameters
    ----------
    found : list of Exemplar
        Of one solver.

    Returns
    -------
    ndarray of float64, shape (m, 6)
    """
    return np.array(found, dtype=np.float64).reshape(-1, len(Exemplar._fields))


def from_array(values: npt.NDArray[np.float64]) -> list[Exemplar]:
    """Return the exemplars of `as_array`.

    Parameters
    ----------
    values : ndarray of float64, shape (m, 6)
        As `as_array` returned it.

    Returns
    -------
    list of Exemplar
    """
    return [
        Exemplar(int(code), int(prototype), int(rank), int(row), float(distance), int(members))
        for code, prototype, rank, row, distance, members in values.tolist()
    ]
