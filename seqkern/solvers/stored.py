"""The state of a fitted solver: saving, restoring, and restriction to fewer columns."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ModelError, ParameterError
from seqkern.core.specs import plain
from seqkern.core.types import Arrays, Header
from seqkern.solvers.estimator import Estimator, check_is_fitted, clone


class Stored(Estimator):
    """Base of `Solver`: what follows from its `fitted_state` and `restore_fitted`.

    Examples
    --------
    Prediction needs only the support, so a model keeps few sequences:

    >>> import numpy as np
    >>> from seqkern.solvers import CSVC, solver_from_state
    >>> X = np.array([[3.0], [1.0], [-1.0], [-3.0]])
    >>> solver = CSVC(C=10.0).fit(X @ X.T, [1, 1, 0, 0])
    >>> solver.support_.tolist()
    [2, 1]
    >>> few = solver.restrict(solver.support_)
    >>> few.predict(np.array([[2.0], [-2.0]]) @ X[solver.support_].T).tolist()
    [1, 0]

    The state is its content in a model file:

    >>> header, arrays = few.state()
    >>> header["spec"]["C"], sorted(arrays)
    (10.0, ['classes', 'coef', 'support'])
    >>> solver_from_state(header, arrays)
    CSVC(C=10.0)
    """

    name: ClassVar[str | None]

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays) of what `_fit` learned besides support, classes and report."""
        raise NotImplementedError

    def restore_fitted(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `fitted_state` returned.

        Parameters
        ----------
        header : mapping
            Its JSON dict.
        arrays : mapping of str to ndarray
            Its arrays; others may be among them.
        """
        raise NotImplementedError

    def state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays) from which `solver_from_state` makes this solver again."""
        check_is_fitted(self)
        header, arrays = self.fitted_state()
        header = {
            "spec": self.spec(),
            "columns": self.n_features_in_,
            "report": self.report_,
            "learned": header,
        }
        return header, {"support": self.support_, **arrays}

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `state` returned.

        Parameters
        ----------
        header : mapping
            Its JSON dict.
        arrays : mapping of str to ndarray
            Its arrays.
        """
        # typed here, because annotations in the class body would become constructor parameters
        self.n_features_in_: int = header["columns"]
        self.report_: dict[str, Any] = header["report"]
        self.support_: npt.NDArray[np.int64] = arrays["support"]
        check_places(self.support_, self.n_features_in_, "support")
        self.restore_fitted(header["learned"], arrays)

    def restrict(self, rows: npt.ArrayLike) -> Self:
        """Return an equivalent fitted solver for kernel matrices with fewer columns.

        Parameters
        ----------
        rows : array_like of int, shape (r,)
            Training rows (columns of the kernel matrix), the whole support among them; any order.

        Returns
        -------
        Solver
            Its ``decision_function(K[:, rows])`` has the bits of this one's ``decision_function(K)``.

        Raises
        ------
        ParameterError
            If a support column is not among `rows`.
        """
        rows = np.asarray(rows, dtype=np.int64)
        places = np.full(self.n_features_in_, -1, dtype=np.int64)
        places[rows] = np.arange(len(rows))
        support = places[self.support_]
        if np.any(support < 0):
            raise ParameterError(
                f"row {self.support_[support < 0][0]} is missing, but prediction needs it",
                remedy="keep every row of support_",
            )
        return Stored.renumber(self, support, len(rows))

    def renumber(self, support: npt.NDArray[np.int64], columns: int) -> Self:
        """Return this fitted solver for matrices of another width, with its support columns in other places.

        Parameters
        ----------
        support : ndarray of int64, shape (s,)
            The new place of each support column.
        columns : int
            The new width.

        Returns
        -------
        Solver
        """
        header, arrays = self.state()
        other = clone(self)
        other.restore({**header, "columns": columns}, {**arrays, "support": support})
        return other

    def spec(self) -> dict[str, Any]:
        """Return the solver as a config would write it: ``{"solver": name, parameter: value, …}``."""
        return {
            "solver": self.name,
            **{key: plain(value) for key, value in self.get_params(deep=False).items()},
        }


def check_places(places: npt.NDArray[Any], count: int, name: str) -> None:
    """Check an array of places that was read from a file.

    Parameters
    ----------
    places : ndarray
        The array.
    count : int
        Number of places.
    name : str
        Its name in the message.

    Raises
    ------
    ModelError
        If it is not an array of int64, shape (m,), of numbers from 0 to `count` - 1.

    Examples
    --------
    >>> import numpy as np
    >>> check_places(np.array([0, 3]), 3, "support")
    Traceback (most recent call last):
        ...
    seqkern.core.errors.ModelError: the array 'support' is corrupted; train the model again
    """
    if places.dtype != np.int64 or places.ndim != 1 or np.any((places < 0) | (places >= count)):
        raise ModelError(f"the array {name!r} is corrupted", remedy="train the model again")
