"""The state of a fitted solver: to a model file and back, and to matrices with other columns."""

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.core.specs import plain
from seqkern.solvers.estimator import check_is_fitted
from seqkern.solvers.specs import solver_from_state


class Stored:
    """Mixin of `Solver`: what follows from its `fitted_state` and `restore_fitted`."""

    def state(self):
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

    def restore(self, header, arrays):
        """Set what `state` returned."""
        self.n_features_in_ = header["columns"]
        self.report_ = header["report"]
        self.support_ = arrays["support"]
        self.restore_fitted(header["learned"], arrays)

    def restrict(self, rows):
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
                f"row {self.support_[support < 0][0]} is left out, but prediction needs it",
                remedy="keep every row of support_",
            )
        return Stored.renumber(self, support, len(rows))

    def renumber(self, support, columns):
        """Return this fitted solver for matrices of another width, with its support columns in other places.

        Parameters
        ----------
        support : ndarray of int64, shape (s,)
            The new place of each support column.
        columns : int
            The new width.
        """
        header, arrays = self.state()
        return solver_from_state({**header, "columns": columns}, {**arrays, "support": support})

    def spec(self):
        """Return the solver as a config would write it: ``{"solver": name, parameter: value, …}``."""
        return {
            "solver": self.name,
            **{key: plain(value) for key, value in self.get_params(deep=False).items()},
        }
