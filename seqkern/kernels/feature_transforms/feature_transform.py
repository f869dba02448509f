"""The contract of all transforms of feature vectors: fit, transform, names, state."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.core.parametrized import Parameters
from seqkern.core.types import Arrays, Header
from seqkern.kernels.vectors import _vector

Floats = npt.NDArray[np.float64]


class FeatureTransform(Parameters):
    """Base of all transforms of features: a subclass defines `_fit`, `_apply` and `names`.

    Attributes
    ----------
    name : str
        The name in configurations.
    learned : tuple of str
        Names of the attributes that `fit` sets, arrays of float64.
    completes : bool
        Whether it takes missing values, NaN, and leaves none.
    n_features_ : int
        Number of features before the transform.

    Examples
    --------
    >>> from seqkern.kernels.feature_transforms import PCATransform
    >>> pca = PCATransform(n_components=1).fit([[0.0, 0.0], [2.0, 2.0]])
    >>> pca.transform([[1.0, 1.0], [3.0, 3.0]]).round(3) + 0.0
    array([[0.   ],
           [2.828]])
    """

    name: ClassVar[str | None] = None
    learned: ClassVar[tuple[str, ...]] = ()
    completes: ClassVar[bool] = False

    def _fit(self, values: Floats) -> None:
        """Fit to the training vectors; set the attributes in `learned`."""
        raise NotImplementedError

    def _apply(self, values: Floats) -> Floats:
        """Return the transformed vectors; the bits of a row depend on that row alone."""
        raise NotImplementedError

    def names(self, columns: Sequence[str]) -> list[str]:
        """Return the names of the transformed features.

        Parameters
        ----------
        columns : sequence of str
            The names before.

        Returns
        -------
        list of str
        """
        raise NotImplementedError

    def fit(self, values: npt.ArrayLike) -> Self:
        """Fit to the training set and return self.

        Parameters
        ----------
        values : array_like of float64, shape (n, d)
            NaN only for a transform that `completes`.

        Returns
        -------
        FeatureTransform
            Itself.

        Raises
        ------
        ParameterError, SequenceError
            If the vectors are unsuitable.
        """
        self.check_parameters()
        values = self._checked(values)
        self.n_features_ = values.shape[1]
        self._fit(values)
        return self

    def transform(self, values: npt.ArrayLike) -> Floats:
        """Return the transformed vectors of any samples.

        Parameters
        ----------
        values : array_like of float64, shape (m, d)
            As in `fit`.

        Returns
        -------
        ndarray of float64, shape (m, new features)

        Raises
        ------
        SequenceError
            If they have another number of features than in `fit`, or values that are not finite.
        """
        values = self._checked(values)
        if values.shape[1] != self.n_features_:
            raise SequenceError(
                f"transform {self.name!r} was fitted on {self.n_features_} features, got {values.shape[1]}",
                remedy="give the features of the training samples",
            )
        return np.ascontiguousarray(self._apply(values))

    def _checked(self, values: npt.ArrayLike) -> Floats:
        """Return the vectors as float64, C-ordered; SequenceError for values that the transform cannot take."""
        values = np.ascontiguousarray(values, dtype=np.float64)
        good = np.isfinite(values) | (np.isnan(values) if self.completes else False)
        if not good.all():
            raise SequenceError(
                f"transform {self.name!r} got a value that is not a finite number",
                record=str(int(np.flatnonzero(~good.all(axis=1))[0]) + 1),
                remedy="complete missing values first: transforms: [impute, …]",
            )
        return values

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays) of the fitted attributes."""
        return {"n_features": self.n_features_}, {name: getattr(self, name) for name in self.learned}

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore the result of `fitted_state`.

        Parameters
        ----------
        header : dict
            Its JSON part.
        arrays : dict of str to ndarray
            Its arrays.
        """
        self.n_features_ = int(header["n_features"])
        for name in self.learned:
            setattr(self, name, arrays[name])

    def spec(self) -> dict[str, Any]:
        """Return the transform in the form of a configuration."""
        return {"feature_transform": self.name, **self.get_params()}


def products(values: Floats, weights: Floats) -> Floats:
    """Return values · weights; the bits of a row depend on that row alone.

    Parameters
    ----------
    values : ndarray of float64, shape (n, d)
        C-ordered.
    weights : ndarray of float64, shape (d, c)
        A column for each product.

    Returns
    -------
    ndarray of float64, shape (n, c)

    Examples
    --------
    >>> products(np.array([[1.0, 2.0]]), np.array([[1.0], [0.5]]))
    array([[2.]])
    """
    out = np.empty((len(values), weights.shape[1]))
    _vector.products(np.ascontiguousarray(values), np.ascontiguousarray(weights), out)
    return out
