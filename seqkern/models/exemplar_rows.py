"""The typical training samples of a fitted solver as rows of a table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seqkern.solvers.base import Solver


def exemplar_rows(solver: "Solver", ids: Sequence[str], classes: Sequence[str]) -> list[dict[str, Any]]:
    """Return the typical training samples of a fitted solver.

    Parameters
    ----------
    solver : Solver
        Fitted on the training set.
    ids : sequence of str
        Of the training samples.
    classes : sequence of str
        Names of the classes, in the order of `classes_`.

    Returns
    -------
    list of dict
        Empty for a solver without prototypes; else by class, prototype and rank: ``class``, ``prototype`` (from 1),
        ``members`` (training samples of the class that are nearest to it), ``rank`` (1 for the sample nearest to it),
        ``id`` and ``distance`` (squared).

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers import NearestPrototype
    >>> x = np.array([1.0, 2.0, -2.0])
    >>> solver = NearestPrototype().fit(np.outer(x, x), [1, 1, 0])
    >>> exemplar_rows(solver, ["r1", "r2", "r3"], ["decoy", "site"])[0]
    {'class': 'decoy', 'prototype': 1, 'members': 1, 'rank': 1, 'id': 'r3', 'distance': 0.0}
    """
    return [
        {
            "class": classes[one.code],
            "prototype": one.prototype,
            "members": one.members,
            "rank": one.rank,
            "id": str(ids[one.row]),
            "distance": one.distance,
        }
        for one in solver.exemplars()
    ]
