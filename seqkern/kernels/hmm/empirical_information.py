"""The empirical Fisher information of a model, as a full matrix, and its inverse square root."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from seqkern.core.types import Arrays
from seqkern.kernels.vectors import _vector

SMALLEST = 1e-12  # eigenvalues, as a share of the largest, that are not 0


@dataclass(frozen=True)
class EmpiricalInformation:
    """I = (1/m) Σ U Uᵀ over m training sequences, plus ridge · mean(diag I); never stored, as it has rank m at most.

    Attributes
    ----------
    vectors : ndarray of float64, shape (rank, d)
        Its eigenvectors.
    factors : ndarray of float64, shape (rank,)
        What they are multiplied by, less what all else is: the inverse square roots of the eigenvalues.
    rest : float
        What all else is multiplied by.

    Examples
    --------
    >>> known = EmpiricalInformation.of(np.array([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]), ridge=0.75)
    >>> known.whiten(np.array([[1.0, 0.0, 1.0]])).round(3)  # I is diag(2, 2, 0) + 0.75 · 4/3
    array([[0.577, 0.   , 1.   ]])
    """

    vectors: npt.NDArray[np.float64]
    factors: npt.NDArray[np.float64]
    rest: float

    @classmethod
    def of(cls, scores: npt.NDArray[np.float64], ridge: float) -> Self:
        """Return the information of training sequences.

        Parameters
        ----------
        scores : ndarray of float64, shape (m, d)
            Their U.
        ridge : float
            Above 0.

        Returns
        -------
        EmpiricalInformation
            Where all U are 0 nothing is known: all is multiplied by 1.
        """
        from scipy.linalg import eigh  # 0.2 s to import

        m, d = scores.shape
        added = ridge * float(np.square(scores).sum()) / (m * d) if m * d else 0.0
        if added == 0:
            return cls(np.zeros((0, d)), np.zeros(0), 1.0)
        wide = m <= d
        with threadpool_limits(1):  # the same bits on any number of cores
            values, vectors = eigh(scores @ scores.T if wide else scores.T @ scores)
            kept = values > SMALLEST * values[-1]
            values, vectors = values[kept], vectors[:, kept].T
            if wide:
                vectors = vectors @ scores / np.sqrt(values)[:, None]
        rest = added**-0.5
        return cls(np.ascontiguousarray(vectors), (values / m + added) ** -0.5 - rest, rest)

    def whiten(self, scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return I^(−1/2) times each row; the bits of a row depend on that row only.

        Parameters
        ----------
        scores : ndarray of float64, shape (n, d)
            U, or weights of parameters.

        Returns
        -------
        ndarray of float64, shape (n, d)
        """
        scores = np.ascontiguousarray(scores)
        along, out = np.empty((len(scores), len(self.vectors))), np.empty(scores.shape)
        _vector.products(scores, np.ascontiguousarray(self.vectors.T), along)
        along *= self.factors
        _vector.products(along, self.vectors, out)
        out += self.rest * scores
        return out

    def arrays(self) -> Arrays:
        """Return what `from_arrays` needs."""
        return {"vectors": self.vectors, "factors": self.factors, "rest": np.asarray(self.rest)}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Return the information whose `arrays` these were.

        Parameters
        ----------
        arrays : dict of str to ndarray
            The result of `arrays`.

        Returns
        -------
        EmpiricalInformation

        Raises
        ------
        ValueError
            If the shapes do not fit.
        """
        vectors, factors = arrays["vectors"], arrays["factors"]
        if vectors.ndim != 2 or factors.shape != vectors.shape[:1]:
            raise ValueError("the shapes of the information do not fit")
        return cls(vectors, factors, float(arrays["rest"]))
