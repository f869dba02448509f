"""Transforms of a Gram matrix: centring, normalising, repairing its spectrum.

A transform is fitted on the training part's square and then applied to it and to the rows of new units (their
kernel values against the training units), so that no new unit has a part in what is learned. A chain is
applied in order; each hands on the matrix and the diagonal, K(x, x) of the rows::

    fit(K_train, diagonal) ─▶ transform_train() ─▶ (K_train', diagonal')
                              transform(K_new, diagonal) ─▶ (K_new', diagonal')

Everything is summed in one order, row by row: a row has the same bits in every batch.
"""

import copy
from collections.abc import Mapping

import numpy as np

from ..errors import GramError, ParameterError
from ..kernels import _blocks, _vector
from ..kernels.additive import over_root
from ..kernels.specs import parse_spec
from ..parameters import Parameters, check_choice
from ..registry import Registry

TRANSFORMS = Registry("transform", __name__, f"{__name__}:GramTransform")


def build_transform(spec):
    """Return the transform that a spec describes.

    Parameters
    ----------
    spec : str, mapping or GramTransform
        ``"centre"``, ``"repair:method=flip"`` or ``{"transform": "repair", "method": "flip"}``.

    Raises
    ------
    ParameterError
        For an unknown transform or parameter (with the nearest name), or a value outside its domain.
    """
    if isinstance(spec, GramTransform):
        return spec
    params = parse_spec(spec, "transform") if isinstance(spec, str) else spec
    if not isinstance(params, Mapping) or not isinstance(params.get("transform"), str):
        raise ParameterError(f"{spec!r} is no transform", remedy="write one as repair:method=clip")
    params = dict(params)
    transform = TRANSFORMS.build(params.pop("transform"), **params)
    transform.check_parameters()
    return transform


def transform_from_state(header, arrays):
    """Return the fitted transform whose `state` this was."""
    transform = build_transform(header["spec"])
    transform.n_columns_ = header["columns"]
    transform.restore_fitted(header["learned"], arrays)
    return transform


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
    """

    name = None
    learned = ()
    divides = False

    def check_parameters(self):
        """Raise ParameterError for a parameter outside its domain."""

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
            If `K` is not square and symmetric.
        """
        self.check_parameters()
        K = np.ascontiguousarray(K, dtype=np.float64)
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
        diagonal : ndarray of float64, shape (n,), or None where it was not given

        Raises
        ------
        GramError
            If the columns are not as many as the training units, or a diagonal is needed and not given.
        """
        K = np.ascontiguousarray(K, dtype=np.float64)
        if K.ndim != 2 or K.shape[1] != self.n_columns_:
            raise GramError(
                f"transform {self.name!r} needs {self.n_columns_} columns, got {K.shape[-1]}",
                remedy="give kernel values against the training units, in their order",
            )
        return self._apply(K, None if diagonal is None else np.array(diagonal, dtype=np.float64))

    def transform_train(self):
        """Return (K', diagonal') of the matrix that `fit` was given; symmetric to the bit."""
        return self._apply_train(*self._train)

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


class CentreGram(GramTransform):
    """Centring in feature space: the mean of the training units becomes the origin.

    K'(x, y) = K(x, y) − mean_i K(x, z_i) − mean_i K(z_i, y) + mean_ij K(z_i, z_j), z the training units
    (Schölkopf, Smola, Müller, Neural Computation 10, 1998).
    """

    name = "centre"
    learned = ("means_", "mean_")

    def needs_all(self):
        """Return True: the mean of a row is taken over all training units."""
        return True

    def _fit(self, K, diagonal):
        self.means_ = K.mean(axis=1)
        self.mean_ = float(self.means_.mean())

    def _apply(self, K, diagonal):
        means = K.mean(axis=1)
        result = K - (means[:, None] + self.means_)
        result += self.mean_
        return result, None if diagonal is None else diagonal - 2 * means + self.mean_

    def pull_back(self, coefficients):
        """Return (c', constant): the mean of a row is taken away from each coefficient."""
        total = float(np.sum(coefficients))
        constant = total * self.mean_ - float(np.sum(coefficients * self.means_))
        return coefficients - total / self.n_columns_, constant


class NormaliseGram(GramTransform):
    """Unit length in feature space: K'(x, y) = K(x, y) / sqrt(K(x, x) K(y, y)).

    Parameters
    ----------
    zero_diagonal : {"error", "zero"}
        What to do about K(x, x) ≤ 0: refuse, or make the row zero.
    """

    name = "normalise"
    learned = ("diagonal_",)
    divides = True

    def __init__(self, *, zero_diagonal="error"):
        self.zero_diagonal = zero_diagonal

    def check_parameters(self):
        """Raise ParameterError for an unknown policy."""
        check_choice("zero_diagonal", self.zero_diagonal, ("error", "zero"))

    def needs_all(self):
        """Return False: each value needs its own row and column."""
        return False

    def _fit(self, K, diagonal):
        self.diagonal_ = self._positive(diagonal)

    def _positive(self, diagonal):
        """Return the diagonal, zero where it is not positive; GramError under the policy ``"error"``."""
        bad = np.flatnonzero(~(diagonal > 0))
        if len(bad) and self.zero_diagonal == "error":
            raise GramError(
                f"K(x, x) = {diagonal[bad[0]]:g} in row {bad[0] + 1} cannot be normalised",
                remedy="leave the unit out, or choose zero_diagonal=zero",
            )
        return np.where(diagonal > 0, diagonal, 0.0)

    def _apply(self, K, diagonal):
        if diagonal is None:
            raise GramError("normalising needs K(x, x) of the new units", remedy="give the diagonal")
        diagonal = self._positive(diagonal)
        result = K.copy()
        _blocks.normalise(result, diagonal, self.diagonal_)
        return result, np.where(diagonal > 0, 1.0, 0.0)

    def pull_back(self, coefficients):
        """Return (c', 0): each coefficient is divided by the root of its column's diagonal."""
        return over_root(coefficients, self.diagonal_), 0.0

    def divide_rows(self, diagonal):
        """Return (√K(x, x), the new diagonal)."""
        diagonal = self._positive(diagonal)
        return np.sqrt(diagonal), np.where(diagonal > 0, 1.0, 0.0)


class RepairGram(GramTransform):
    """Positive semi-definite from indefinite: what to do about negative eigenvalues of the training square.

    With K = UΛUᵀ, ``"clip"`` sets negative eigenvalues to zero, ``"flip"`` to their absolute values;
    ``"shift"`` adds the largest of those to all. New rows follow by the same linear map of similarities to
    the training units, k' = Pk with P = U diag(λ ≥ 0) Uᵀ or U diag(sign λ) Uᵀ; under ``"shift"`` they stay
    as they are (Chen, Garcia, Gupta, Rahimi, Cazzanti, JMLR 10, 2009). A positive semi-definite matrix is
    not changed.

    Parameters
    ----------
    method : {"clip", "flip", "shift"}
    """

    name = "repair"
    learned = ("vectors_", "values_")

    def __init__(self, *, method="clip"):
        self.method = method

    def check_parameters(self):
        """Raise ParameterError for an unknown method."""
        check_choice("method", self.method, ("clip", "flip", "shift"))

    def needs_all(self):
        """Return whether rows change: under clip and flip, if an eigenvalue is negative."""
        return self.method != "shift" and len(self.values_) > 0

    def _fit(self, K, diagonal):
        from threadpoolctl import threadpool_limits

        with threadpool_limits(limits=1):
            values, vectors = np.linalg.eigh(K)
        # What rounding alone can make of an eigenvalue that is zero.
        rounding = len(K) * np.finfo(np.float64).eps * np.abs(values).max(initial=0.0)
        negative = values < -rounding
        self.values_ = values[negative].tolist()
        self.vectors_ = np.ascontiguousarray(vectors[:, negative & (self.method != "shift")])

    def _times(self):
        """Return how often the negative part is taken away: once leaves zero, twice the opposite."""
        return 1.0 if self.method == "clip" else 2.0

    def _shift(self):
        """Return what is added to the diagonal."""
        return max((-value for value in self.values_), default=0.0)

    def _apply(self, K, diagonal):
        if self.method == "shift":
            return K, None if diagonal is None else diagonal + self._shift()
        if not self.values_:
            return K, diagonal
        along = np.empty((len(K), len(self.values_)))
        _vector.products(K, self.vectors_, along)
        result = np.empty_like(K)
        _vector.products(along, np.ascontiguousarray(self.vectors_.T), result)
        result *= -self._times()
        result += K
        if diagonal is not None:
            # The component of x along a direction of negative square λ has the square −(k·u)² / |λ|.
            diagonal = diagonal + self._times() * (along**2 / np.abs(self.values_)).sum(axis=1)
        return result, diagonal

    def pull_back(self, coefficients):
        """Return (c', 0): under clip and flip the same linear map as of rows."""
        if self.method == "shift" or not self.values_:
            return coefficients, 0.0
        return coefficients - self._times() * (self.vectors_ @ (coefficients @ self.vectors_)), 0.0

    def divide_rows(self, diagonal):
        """Return (None, the diagonal, shifted under shift)."""
        return None, diagonal + self._shift() if self.method == "shift" else diagonal

    def _apply_train(self, K, diagonal):
        result = K.copy()
        if self.method == "shift":
            result[np.diag_indices_from(result)] += self._shift()
        elif self.values_:
            scaled = self.vectors_ * np.sqrt(self._times() * np.abs(self.values_))
            _vector.products(scaled, np.ascontiguousarray(scaled.T), result)
            result += K
        return result, np.diagonal(result).copy()
