"""Normalising a Gram matrix: every sample gets length 1."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import GramError
from seqkern.core.parameters import choice
from seqkern.gram.transforms.gram_transform import GramTransform
from seqkern.kernels import _blocks
from seqkern.kernels.additive import over_root


class NormaliseGram(GramTransform):
    """Unit length in feature space: K'(x, y) = K(x, y) / sqrt(K(x, x) K(y, y)).

    Examples
    --------
    >>> from seqkern.gram.transforms import NormaliseGram
    >>> normalise = NormaliseGram().fit([[4.0, 2.0], [2.0, 9.0]])
    >>> normalise.transform_train()[0].round(2)
    array([[1.  , 0.33],
           [0.33, 1.  ]])
    >>> normalise.transform([[2.0, 3.0]], diagonal=[1.0])
    (array([[1., 1.]]), array([1.]))
    """

    name = "normalise"
    learned = ("diagonal_",)
    divides = True

    zero_diagonal: Literal["error", "zero"] = choice(
        default="error", doc="Treatment of K(x, x) ≤ 0: raise an error, or set the row to zero."
    )

    def needs_all(self) -> bool:
        """Return False: each value needs only its own row and column."""
        return False

    def _fit(self, K: npt.NDArray[np.float64], diagonal: npt.NDArray[np.float64]) -> None:
        self.diagonal_ = self._positive(diagonal)

    def _positive(self, diagonal: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the diagonal, zero where it is not positive; GramError under the policy ``"error"``."""
        bad = np.flatnonzero(~(diagonal > 0))
        if len(bad) and self.zero_diagonal == "error":
            raise GramError(
                f"K(x, x) = {diagonal[bad[0]]:g} cannot be normalised",
                record=int(bad[0]) + 1,
                remedy="remove the sample, or choose zero_diagonal=zero",
            )
        return np.where(diagonal > 0, diagonal, 0.0)

    def _apply(
        self, K: npt.NDArray[np.float64], diagonal: npt.NDArray[np.float64] | None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        if diagonal is None:
            raise GramError("normalising needs K(x, x) of the new samples", remedy="give the diagonal")
        diagonal = self._positive(diagonal)
        result = K.copy()
        _blocks.normalise(result, diagonal, self.diagonal_)
        return result, np.where(diagonal > 0, 1.0, 0.0)

    def pull_back(self, coefficients: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], float]:
        """Return (c', 0): each coefficient is divided by the square root of its column's diagonal.

        Parameters
        ----------
        coefficients : ndarray of float64, shape (l,)
            c_j.

        Returns
        -------
        c' : ndarray of float64, shape (l,)
        constant : float
        """
        return over_root(coefficients, self.diagonal_), 0.0

    def divide_rows(self, diagonal: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return (√K(x, x), the new diagonal).

        Parameters
        ----------
        diagonal : ndarray of float64, shape (n,)
            K(x, x).

        Returns
        -------
        divisors : ndarray of float64, shape (n,)
        diagonal : ndarray of float64, shape (n,)

        Raises
        ------
        GramError
            If one is not positive, under the policy ``"error"``.
        """
        diagonal = self._positive(diagonal)
        return np.sqrt(diagonal), np.where(diagonal > 0, 1.0, 0.0)
