"""What every transform of a Gram matrix does: fit, transform, state, restriction."""

import contextlib
import copy
from typing import ClassVar

import numpy as np

from seqkern.core.errors import GramError
from seqkern.core.parameters import Parameters


class GramTransform(Parameters):
    """Base of all transforms: a subclass writes `_fit`, `_apply` and `needs_all`.

    Attributes
    ----------
    name : str
        The name in configs.
    learned : tuple of str
        Names of the attributes that `fit` sets: JSON values, or arrays with one row for each training unit.
    divides : bool
        Whether rows are divided by what depends on the row.
    semidefinite : bool
        Whether what comes out is positive semi-definite, whatever went in.
    """

    name: ClassVar[str | None] = None
    learned: ClassVar[tuple[str, ...]] = ()
    divides = False
    semidefinite = False

    def _fit(self, K, diagonal):
        """Learn from the training square and its diagonal; set the attributes in `learned`."""
        raise NotImplementedError

    def _apply(self, K, diagonal):
        """Return (K', diagonal') for rows of new units; `diagonal` may be None."""
        raise NotImplementedError

    def _apply_train(self, K, diagonal):
        """Return (K', diagonal') for the training square."""
        return self._apply(K, diagonal)

    def needs_all(self):
        """Return whether a new row can only be transformed with its values against all training units."""
        raise NotImplementedError

    def pull_back(self, coefficients):
        """Return (c', constant) with Σ_j c_j K'(x, z_j) = Σ_j c'_j K(x, z_j) + constant, for any x.

        A transform that divides rows by what depends on x divides the right side by it too: see `divide_rows`.
        """
        raise NotImplementedError

    def divide_rows(self, diagonal):
        """Return (what rows are divided by, float64 (n,), or None, and the diagonal that follows), from K(x, x).

        Only for a transform whose new diagonal follows from the old one alone: not `needs_all`.
        """
        return None, diagonal

    def fit(self, K, diagonal=None):
        """Learn from the training part and return self.

        Parameters
        ----------
        K : array_like of float64, shape (l, l)
            Symmetric.
        diagonal : array_like, shape (l,), optional
            K(x, x); by default the diagonal of `K`.

        Raises
        ------
        GramError
            If `K` is not square and symmetric, or a value is not a finite number.
        """
        self.check_parameters()
        K = np.ascontiguousarray(K, dtype=np.float64)
        if not np.isfinite(K).all():
            raise GramError(
                f"transform {self.name!r} cannot be fitted: a kernel value is not a finite number",
                remedy="leave the unit out",
            )
        if K.ndim != 2 or K.shape[0] != K.shape[1] or not np.array_equal(K, K.T):
            raise GramError(
                f"transform {self.name!r} cannot be fitted on {K.shape}: not square, or not symmetric",
                remedy="give the training units against themselves",
            )
        diagonal = np.diagonal(K) if diagonal is None else diagonal
        self.n_columns_ = len(K)
        self._train = K, np.array(diagonal, dtype=np.float64)
        self._fit(*self._train)
        return self

    def transform(self, K, diagonal=None):
        """Transform the rows of new units.

        Parameters
        ----------
        K : array_like of float64, shape (n, l)
            Kernel values of new units against the training units.
        diagonal : array_like, shape (n,), optional
            K(x, x) of the new units.

        Returns
        -------
        K : ndarray of float64, shape (n, l)
        diagonal : ndarray of float64, shape (n,), or None where it was not given and does not follow from `K`

        Raises
        ------
        GramError
            If the columns are not as many as the training units, a value is not a finite number (with the row), or a
            diagonal is needed and not given.
        """
        K = np.ascontiguousarray(K, dtype=np.float64)
        if K.ndim != 2 or K.shape[1] != self.n_columns_:
            raise GramError(
                f"transform {self.name!r} needs {self.n_columns_} columns, got {K.shape[-1]}",
                remedy="give kernel values against the training units, in their order",
            )
        bad = np.flatnonzero(~np.isfinite(K).all(axis=1))
        if len(bad):
            raise GramError(
                f"transform {self.name!r}: a kernel value is not a finite number",
                record=int(bad[0]) + 1,
                remedy="leave the unit out",
            )
        return self._apply(K, None if diagonal is None else np.array(diagonal, dtype=np.float64))

    def transform_train(self):
        """Return (K', diagonal') of the matrix that `fit` was given; symmetric to the bit."""
        return self._apply_train(*self._train)

    def release(self):
        """Forget the training square, which `transform` has no need of: it takes as much memory as the Gram matrix."""
        self._train = None

    def required_rows(self, support):
        """Return int64: the training units that the columns `support` of a transformed row depend on."""
        return np.arange(self.n_columns_) if self.needs_all() else np.asarray(support, dtype=np.int64)

    def restrict(self, rows):
        """Return the same transform for matrices that have only the columns `rows`, in that order.

        Raises
        ------
        GramError
            If `rows` lacks some of `required_rows`.
        """
        rows = np.asarray(rows, dtype=np.int64)
        if self.needs_all() and len(np.unique(rows)) < self.n_columns_:
            raise GramError(
                f"transform {self.name!r} needs all {self.n_columns_} training units, got {len(rows)}",
                remedy="keep the units that required_rows names",
            )
        result = copy.copy(self)
        result._train = None
        result.n_columns_ = len(rows)
        for name in self.learned:
            value = getattr(self, name)
            if isinstance(value, np.ndarray):
                setattr(result, name, np.ascontiguousarray(value[rows]))
        return result

    def fitted_state(self):
        """Return (JSON dict, dict of arrays) of what `_fit` learned."""
        values = {name: getattr(self, name) for name in self.learned}
        arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
        return {name: value for name, value in values.items() if name not in arrays}, arrays

    def restore_fitted(self, header, arrays):
        """Set what `fitted_state` returned."""
        for name in self.learned:
            setattr(self, name, arrays[name] if name in arrays else header[name])

    def state(self):
        """Return (JSON dict, dict of arrays) from which `transform_from_state` makes this transform again."""
        header, arrays = self.fitted_state()
        spec = {"transform": self.name, **self.get_params()}
        return {"spec": spec, "columns": self.n_columns_, "learned": header}, arrays


@contextlib.contextmanager
def naming_rows(ids):
    """Name the record in errors about a row, which give its number from 1; `ids` are those of the rows, or None."""
    try:
        yield
    except GramError as error:
        if ids is not None and isinstance(error.record, int):
            error.record = ids[error.record - 1]
        raise


def fit_chain(transforms, K, diagonal):
    """Fit transforms one after the other on a training part.

    Parameters
    ----------
    transforms : list of GramTransform
        Copied before they are fitted.
    K, diagonal
        As in `GramTransform.fit`.

    Returns
    -------
    fitted : list of GramTransform
    K : ndarray of float64, shape (l, l)
        What comes out last; without transforms what was given.
    diagonal : ndarray of float64, shape (l,)
    """
    fitted = []
    for transform in transforms:
        fitted.append(copy.deepcopy(transform).fit(K, diagonal))
        K, diagonal = fitted[-1].transform_train()
        K = np.ascontiguousarray(K)
        fitted[-1].release()
    return fitted, K, diagonal
