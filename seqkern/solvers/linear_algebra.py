"""What the solvers by linear algebra share: factors of a matrix, centring."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotri, dsytrf, dsytrs

from seqkern.core.errors import GramError

ROWS = 256
"""So many rows at a time, where a whole matrix would be a copy too many."""


def check_symmetric(K):
    """Raise GramError unless the square matrix `K` is symmetric up to rounding."""
    largest = max((np.abs(K[start : start + ROWS]).max() for start in range(0, len(K), ROWS)), default=0.0)
    for start in range(0, len(K), ROWS):
        rows = K[start : start + ROWS, start:]
        difference = np.abs(rows - K[start:, start : start + ROWS].T)
        if difference.max() > 1e-9 * largest:
            i, j = np.unravel_index(difference.argmax(), difference.shape)
            raise GramError(
                f"the matrix is not symmetric: K[{start + i}, {start + j}] = {rows[i, j]:g}, "
                f"K[{start + j}, {start + i}] = {K[start + j, start + i]:g}",
                remedy="use (K + Kᵀ) / 2, or the solver psvc or psvr, which takes any matrix",
            )


def centred(K, means):
    """Return C K C, C = I − 11ᵀ/n, with the bits of a symmetric matrix where `K` has them.

    Parameters
    ----------
    K : ndarray of float64, shape (n, n)
    means : ndarray of float64, shape (n,)
        Of the rows of `K`.
    """
    result = np.array(K)
    for start in range(0, len(K), ROWS):
        result[start : start + ROWS] -= means[start : start + ROWS, None] + means
    result += means.mean()
    return result


class Definite:
    """The Cholesky factor of a symmetric positive definite matrix, in the memory of that matrix.

    Parameters
    ----------
    A : ndarray of float64, shape (n, n)
        C-ordered; overwritten.

    Raises
    ------
    numpy.linalg.LinAlgError
        If `A` is not positive definite.
    """

    definite = True

    def __init__(self, A):
        self._factor = cho_factor(A.T, lower=True, overwrite_a=True, check_finite=False)

    def solve(self, b):
        """Return A⁻¹ b, b of shape (n,) or (n, m)."""
        return cho_solve(self._factor, b, check_finite=False)

    def inverse(self):
        """Return A⁻¹ with the bits of a symmetric matrix, in the memory of the factor, which is gone then."""
        factor, _ = self._factor
        inverse, _ = dpotri(factor, lower=1, overwrite_c=1)
        for start in range(0, len(inverse), ROWS):  # the triangle that was not computed
            stop = start + ROWS
            inverse[start:stop, stop:] = inverse[stop:, start:stop].T
            block = np.tril(inverse[start:stop, start:stop])
            inverse[start:stop, start:stop] = block + np.tril(block, -1).T
        return inverse.T


class Indefinite:
    """The factor L D Lᵀ (Bunch & Kaufman 1977) of a symmetric matrix, in the memory of that matrix.

    Parameters
    ----------
    A : ndarray of float64, shape (n, n)
        C-ordered; overwritten.

    Raises
    ------
    numpy.linalg.LinAlgError
        If `A` is singular.
    """

    definite = False

    def __init__(self, A):
        self._factor, self._pivots, info = dsytrf(A.T, lower=1, lwork=64 * max(len(A), 1), overwrite_a=1)
        if info:
            raise np.linalg.LinAlgError("singular matrix")

    def solve(self, b):
        """Return A⁻¹ b, b of shape (n,) or (n, m)."""
        return dsytrs(self._factor, self._pivots, b, lower=1)[0]


def on_diagonal(K, added):
    """Return a C-ordered copy of `K` with `added`, a number or n of them, added to its diagonal."""
    result = np.array(K, order="C")
    result[np.diag_indices_from(result)] += added
    return result
