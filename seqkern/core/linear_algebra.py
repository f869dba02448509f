"""Matrix factors and centring for solvers based on linear algebra."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.linalg.lapack import dpotri, dsytrf, dsytrs, dtrttp

from seqkern.core.types import Floats

ROWS = 256
"""Rows processed at a time, to avoid a copy of the whole matrix."""


def centred(K: Floats, means: Floats) -> Floats:
    """Return C K C with C = I − 11ᵀ/n, from the row means of `K`; exactly symmetric if `K` is."""
    result = np.array(K)
    for start in range(0, len(K), ROWS):
        result[start : start + ROWS] -= means[start : start + ROWS, None] + means
    result += means.mean()
    return result


class Definite:
    """The Cholesky factor of a symmetric positive definite matrix, stored in place of `A`."""

    definite = True

    def __init__(self, A: Floats) -> None:
        self._factor = cho_factor(A.T, lower=True, overwrite_a=True, check_finite=False)

    def solve(self, b: Floats) -> Floats:
        """Return A⁻¹ b, for one right-hand side (n,) or m of them (n, m)."""
        return cho_solve(self._factor, b, check_finite=False)

    def log_determinant(self) -> float:
        """Return log |A|."""
        return 2.0 * float(np.log(np.diagonal(self._factor[0])).sum())

    def solve_lower(self, b: Floats) -> Floats:
        """Return L⁻¹ b, where A = L Lᵀ, for one right-hand side (n,) or m of them (n, m)."""
        return solve_triangular(self._factor[0], b, lower=True, check_finite=False)

    def packed(self) -> Floats:
        """Return the lower triangle L of A = L Lᵀ, column by column, float64 (n (n + 1) / 2,)."""
        packed, _ = dtrttp(self._factor[0], uplo="L")
        return packed

    def inverse(self) -> Floats:
        """Return A⁻¹, exactly symmetric; it overwrites the factor."""
        factor, _ = self._factor
        inverse, _ = dpotri(factor, lower=1, overwrite_c=1)
        for start in range(0, len(inverse), ROWS):  # the uncomputed triangle
            stop = start + ROWS
            inverse[start:stop, stop:] = inverse[stop:, start:stop].T
            block = np.tril(inverse[start:stop, start:stop])
            inverse[start:stop, start:stop] = block + np.tril(block, -1).T
        return inverse.T


class Indefinite:
    """The factor L D Lᵀ (Bunch & Kaufman 1977) of a symmetric matrix, stored in place of `A`."""

    definite = False

    def __init__(self, A: Floats) -> None:
        self._factor, self._pivots, info = dsytrf(A.T, lower=1, lwork=64 * max(len(A), 1), overwrite_a=1)
        if info:
            raise np.linalg.LinAlgError("singular matrix")

    def solve(self, b: Floats) -> Floats:
        """Return A⁻¹ b, for one right-hand side (n,) or m of them (n, m)."""
        return dsytrs(self._factor, self._pivots, b, lower=1)[0]


def on_diagonal(K: Floats, added: float | Floats) -> Floats:
    """Return a C-ordered copy of a matrix with a number, or one number per row, added to its diagonal.

    >>> import numpy as np
    >>> from seqkern.core.linear_algebra import on_diagonal
    >>> on_diagonal(np.ones((2, 2)), np.array([0.5, 1.0]))
    array([[1.5, 1. ],
           [1. , 2. ]])
    """
    result = np.array(K, order="C")
    result[np.diag_indices_from(result)] += added
    return result
