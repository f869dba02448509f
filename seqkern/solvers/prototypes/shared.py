"""Shared by all solvers that learn several prototypes for a class."""

from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import integer, real
from seqkern.solvers.base import AnyClassSolver
from seqkern.solvers.costs import FitCost, FitWork
from seqkern.solvers.exemplars import Exemplar
from seqkern.solvers.shared import random_seed

Array = npt.NDArray[np.float64]


def slope() -> Any:
    """Declare the steepness of φ.

    Returns
    -------
    Parameter
        For type checkers, a value.
    """
    return real(
        default=2.0,
        low=0,
        doc="s in φ(μ) = 1 / (1 + exp(−s μ)): the larger, the less count samples that are far on either side. 0: "
        "φ(μ) = (1 + μ) / 2.",
    )


class Prototypes(AnyClassSolver):
    """Base of solvers with prototypes: a sample is of the class of the nearest one.

    Attributes
    ----------
    codes_ : ndarray of int64, shape (p,)
        Class index of each prototype, ascending.
    exemplars_ : list of Exemplar
        The training samples nearest to each prototype.

    Examples
    --------
    >>> from seqkern.solvers import GLVQ
    >>> solver = GLVQ().fit([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.3, 0.7]], ["a", "a", "b", "b"])
    >>> [(one.code, one.row) for one in solver.exemplars() if one.rank == 1]
    [(0, 0), (1, 3)]
    """

    def exemplars(self) -> list[Exemplar]:
        """Return the typical training samples of each prototype, list of Exemplar."""
        return self.exemplars_

    def _set_exemplars(self, found: list[Exemplar]) -> None:
        """Set `exemplars_`."""
        self.exemplars_ = found

    def _first_codes(self, m: int) -> npt.NDArray[np.int64]:
        """Return the class index of each of m prototypes for each class."""
        return np.repeat(np.arange(len(self.classes_)), m)


class SeveralPrototypes(Prototypes):
    """Base of solvers with a chosen number of prototypes for each class.

    Examples
    --------
    >>> from seqkern.solvers import GLVQ
    >>> GLVQ.default_grid()
    {'n_prototypes': [1, 2, 3]}
    """

    n_prototypes: int = integer(default=1, low=1, doc="Prototypes of each class, at most its training samples.")
    seed: int = random_seed("Of k-means++, which finds where prototypes start; one prototype starts at the class mean.")

    def check_labels(self, y: npt.NDArray[Any], groups: npt.ArrayLike | None = None) -> None:
        """Raise ParameterError if a class has fewer samples than prototypes."""
        least = int(np.unique(y, return_counts=True)[1].min())
        if least < self.n_prototypes:
            raise ParameterError(
                f"n_prototypes={self.n_prototypes} is not possible: the smallest class has {least} training samples",
                remedy=f"give an integer from 1 to {least}",
            )

    @classmethod
    def default_grid(cls) -> dict[str, list[Any]]:
        """Return the numbers of prototypes that a search tries."""
        return {"n_prototypes": [1, 2, 3]}

    def fit_cost(self, work: FitWork) -> FitCost:
        """Return what a fit is predicted to cost: it grows with prototypes and starts."""
        starts = getattr(self, "restarts", 1) if self.n_prototypes > 1 else 1
        return super().fit_cost(work).times(work.classes / 2 * self.n_prototypes * starts)

    def complexity(self) -> tuple[float, ...]:
        """Return (n_prototypes,): fewer prototypes give simpler classifiers."""
        return (float(self.n_prototypes),)


def by_class(distances: Array, codes: npt.NDArray[np.int64]) -> Array:
    """Return the least distance from a prototype of each class.

    Parameters
    ----------
    distances : ndarray of float64, shape (p, n)
        From each prototype.
    codes : ndarray of int64, shape (p,)
        Class of each prototype, ascending.

    Returns
    -------
    ndarray of float64, shape (classes, n)

    Examples
    --------
    >>> import numpy as np
    >>> by_class(np.array([[3.0], [1.0], [2.0]]), np.array([0, 0, 1])).tolist()
    [[1.0], [2.0]]
    """
    return np.minimum.reduceat(distances, np.searchsorted(codes, np.unique(codes)), axis=0)


def nearest_other(least: Array) -> Array:
    """Return for each class the least distance of all others.

    Parameters
    ----------
    least : ndarray of float64, shape (classes, n)
        As from `by_class`.

    Returns
    -------
    ndarray of float64, shape (classes, n)

    Examples
    --------
    >>> import numpy as np
    >>> nearest_other(np.array([[1.0], [4.0], [2.0]])).ravel().tolist()
    [2.0, 1.0, 1.0]
    """
    first = least.argmin(axis=0)
    two = np.partition(least, 1, axis=0)[:2]
    return np.where(np.arange(len(least))[:, None] == first, two[1], two[0])
