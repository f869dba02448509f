"""Products of a kernel matrix with vectors, without the matrix.

K(x, y) of many kernels is a sum over features of x and y that are weighted by a matrix G which needs no storage:
K = Φ·G·Φᵀ, Φ the features of each record, such as its counts of l-mers. Then K·v is three passes: `collect` makes the
table Φᵀ·v, `spread` multiplies it by G, `dots` returns Φ times the result. A table after `spread` is a set of weights
of features: the decision function of an SVM with these coefficients.
"""

from __future__ import annotations

from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Table: TypeAlias = npt.NDArray[Any]
"""Of float64, or of float32 where single precision was asked for."""


class KernelOperator:
    """Products with K(X, X), or with K(Y, X) where Y and X are parts of one operator.

    A family implements `collect`, `spread`, `dots` and `take`.

    Attributes
    ----------
    squares : ndarray of float64, shape (n,)
        K(x, x).
    n_weights : int
        Length of a table.
    tables : object
        Operators with the same tables can share weights: those of `take`, and of rows prepared with them.
    counts : dict of str to int
        Number of records that each policy affected, by description.
    dtype : numpy.dtype
        Of tables.
    """

    dtype: np.dtype[Any] = np.dtype(np.float64)
    squares: Floats
    n_weights: int
    tables: object
    counts: dict[str, int]

    def __len__(self) -> int:
        return len(self.squares)

    def take(self, rows: npt.ArrayLike) -> Self | KernelOperator:
        """Return the operator of some records, in any order, as a view with the same tables.

        Parameters
        ----------
        rows : array_like of int, shape (m,)
            Which records.

        Returns
        -------
        KernelOperator
        """
        raise NotImplementedError

    def with_tables(self, dtype: npt.DTypeLike) -> KernelOperator:
        """Return the same products with tables of another precision.

        Parameters
        ----------
        dtype : {numpy.float64, numpy.float32}
            Single precision halves the memory of a table. Operators without such tables stay as they are.

        Returns
        -------
        KernelOperator
        """
        return self

    def collect(self, coefficients: npt.ArrayLike) -> Table:
        """Return Φᵀ·coefficients.

        Parameters
        ----------
        coefficients : array_like of float64, shape (n,)
            One for each record; records with zero cost no time.

        Returns
        -------
        ndarray of `dtype`, shape (n_weights,)
        """
        raise NotImplementedError

    def spread(self, table: Table) -> None:
        """Multiply a table by G, in place; nothing to do where the features are explicit.

        Parameters
        ----------
        table : ndarray of `dtype`, shape (n_weights,)
            As from `collect`; changed.
        """

    def dots(self, weights: Table, out: Floats | None = None, rows: npt.NDArray[np.int64] | None = None) -> Floats:
        """Return Φ·weights.

        Parameters
        ----------
        weights : ndarray of `dtype`, shape (n_weights,)
            A table after `spread`.
        out : ndarray of float64, shape (n,), optional
            Where to write; by default a new array.
        rows : ndarray of int64, shape (m,), optional
            Which records; the others cost no time. By default all; n is m otherwise.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        raise NotImplementedError

    def weights(self, coefficients: npt.ArrayLike) -> Table:
        """Return the weights of the features in Σ_i coefficients[i]·K(·, x_i): G·Φᵀ·coefficients.

        Parameters
        ----------
        coefficients : array_like of float64, shape (n,)
            One for each record.

        Returns
        -------
        ndarray of `dtype`, shape (n_weights,)
        """
        table = self.collect(coefficients)
        self.spread(table)
        return table

    def times(self, coefficients: npt.ArrayLike) -> Floats:
        """Return K·coefficients.

        Parameters
        ----------
        coefficients : array_like of float64, shape (n,)
            One for each record.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        return self.dots(self.weights(coefficients))


def check_length(array: npt.NDArray[Any], length: int, what: str) -> None:
    """Raise ValueError for an array of another length, which compiled code does not check.

    Parameters
    ----------
    array : ndarray
        Any array.
    length : int
        Its shape must be (length,).
    what : str
        Name for the message.

    Raises
    ------
    ValueError
        If the shape differs.
    """
    if array.shape != (length,):
        raise ValueError(f"{what} of shape {array.shape}, not ({length},)")
