"""Preconditioners of the primal classifiers: easily solved approximations of the Hessian."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve

from seqkern.core.errors import GramError
from seqkern.solvers.svm.primal_rows import Rows

MOST_SQUARE = 8192
"""Maximum features for the matrix of their products, because of memory."""

WORTH = 6000
"""Nor where a Cholesky factor takes more than so many operations, which are fast ones, for each entry of the rows."""

SHARES = 4
"""Number of factors for values of κ between one and its double."""

SMALL = 1e-9
"""What is added to the diagonal for the bias; of the mean diagonal, what is added first to an indefinite matrix."""

TRIES = 20
"""So often ten times as much is added."""


class Conditioner(Protocol):
    """Protocol of a preconditioner."""

    def prepare(self, kappas: npt.NDArray[np.float64]) -> list[Any]:
        """Return what `solve` takes for classifiers with these κ.

        Parameters
        ----------
        kappas : ndarray of float64, shape (k,)
            The mean cost of the active rows of each.

        Returns
        -------
        list
            One object for each classifier.
        """

    def solve(self, errors: npt.NDArray[np.float64], prepared: list[Any]) -> npt.NDArray[np.float64]:
        """Return the solutions for some right sides.

        Parameters
        ----------
        errors : ndarray of float64, shape (k, d + 1)
            The right side of each classifier.
        prepared : list
            What `prepare` gave for each.

        Returns
        -------
        ndarray of float64, shape (k, d + 1)
        """

    def release(self) -> None:
        """Drop the data of one fit; the rest is kept for other costs."""


def make_conditioner(rows: Rows) -> "Conditioner":
    """Return the preconditioner for some Rows: with the products of all features, or only their squares.

    Parameters
    ----------
    rows : Rows
        The features.

    Returns
    -------
    FullConditioner or DiagonalConditioner
    """
    d = rows.shape[1]
    entries = rows.X.nnz if rows.sparse else rows.shape[0] * d
    full = d <= MOST_SQUARE and d**3 <= WORTH * entries
    return FullConditioner(rows) if full else DiagonalConditioner(rows)


class FullConditioner:
    """J + 2κ Σ_i x_i x_iᵀ by its Cholesky factor, the sum from a part of the rows where they are many.

    κ is rounded, so that classifiers with about as many active rows share a factor, from one step to the next too.

    Parameters
    ----------
    rows : Rows
        The features.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.svm.primal_conditioner import FullConditioner
    >>> from seqkern.solvers.svm.primal_rows import Rows
    >>> conditioner = FullConditioner(Rows(np.array([[1.0], [-1.0]])))
    >>> conditioner.solve(np.array([[5.0, 4.0]]), conditioner.prepare(np.ones(1))).round(3)
    array([[1., 1.]])
    """

    def __init__(self, rows: Rows) -> None:
        self.moments = rows.second_moments()
        self._factors: dict[int, Any] = {}

    def prepare(self, kappas: npt.NDArray[np.float64]) -> list[Any]:
        """Return what `solve` takes for classifiers with these κ; factors that none of them needs are dropped.

        Parameters
        ----------
        kappas : ndarray of float64, shape (k,)
            The mean cost of the active rows of each.

        Returns
        -------
        list
            A Cholesky factor for each.
        """
        places = np.round(SHARES * np.log2(np.maximum(kappas, np.finfo(np.float64).tiny))).astype(int).tolist()
        self._factors = {place: self._factors[place] for place in places if place in self._factors}
        for place in set(places) - set(self._factors):
            self._factors[place] = self._factor(2.0 ** (place / SHARES))
        return [self._factors[place] for place in places]

    def solve(self, errors: npt.NDArray[np.float64], prepared: list[Any]) -> npt.NDArray[np.float64]:
        """Return the solutions for some right sides.

        Parameters
        ----------
        errors : ndarray of float64, shape (k, d + 1)
            The right side of each classifier.
        prepared : list
            What `prepare` gave for each.

        Returns
        -------
        ndarray of float64, shape (k, d + 1)
        """
        pairs = zip(prepared, errors, strict=True)
        return np.stack([cho_solve(factor, one, check_finite=False) for factor, one in pairs])

    def release(self) -> None:
        """Forget the factors; the matrix is kept for other costs."""
        self._factors = {}

    def _factor(self, kappa: float) -> Any:
        """Return the Cholesky factor; more is added to the diagonal where rounding has made the matrix indefinite."""
        diagonal = np.ones(len(self.moments))
        diagonal[-1] = SMALL
        more = SMALL * 2 * kappa * np.trace(self.moments) / len(self.moments)
        for _ in range(TRIES if np.isfinite(self.moments).all() else 0):
            matrix = 2 * kappa * self.moments
            matrix[np.diag_indices_from(matrix)] += diagonal
            try:
                return cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
            except np.linalg.LinAlgError:
                diagonal = diagonal + more
                more *= 10
        raise GramError("products of features are too large", remedy="scale the features, or normalise the kernel")


class DiagonalConditioner:
    """The diagonal of the same matrix, for features too many for all their products.

    Parameters
    ----------
    rows : Rows
        The features.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.svm.primal_conditioner import DiagonalConditioner
    >>> from seqkern.solvers.svm.primal_rows import Rows
    >>> conditioner = DiagonalConditioner(Rows(np.array([[1.0], [-1.0]])))
    >>> conditioner.solve(np.array([[5.0, 4.0]]), conditioner.prepare(np.ones(1))).round(3)
    array([[1., 1.]])
    """

    def __init__(self, rows: Rows) -> None:
        self.squares = rows.squares()

    def prepare(self, kappas: npt.NDArray[np.float64]) -> list[Any]:
        """Return the diagonal for each κ.

        Parameters
        ----------
        kappas : ndarray of float64, shape (k,)
            The mean cost of the active rows of each classifier.

        Returns
        -------
        list of ndarray of float64, shape (d + 1,)
        """
        ones = np.ones(len(self.squares))
        ones[-1] = SMALL
        return [ones + 2 * kappa * self.squares for kappa in kappas]

    def solve(self, errors: npt.NDArray[np.float64], prepared: list[Any]) -> npt.NDArray[np.float64]:
        """Return the solutions for some right sides.

        Parameters
        ----------
        errors : ndarray of float64, shape (k, d + 1)
            The right side of each classifier.
        prepared : list
            What `prepare` gave for each.

        Returns
        -------
        ndarray of float64, shape (k, d + 1)
        """
        return errors / np.stack(prepared)

    def release(self) -> None:
        """Do nothing, because there are no factors."""
