"""Kinds of matrices: symmetric, sparse, operators."""

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core import _symmetry
from seqkern.core.errors import GramError

# Fast checks that a matrix is symmetric, as a Gram matrix must be.

ROWS = 256
"""Rows compared at a time, to avoid a copy of the whole matrix."""
ROUNDING = 1e-5
"""What K[i, j] and K[j, i] may differ by, as a share of the largest entry: sums in different orders round differently.
Of single precision, since matrices that other programs computed in it are often stored as float64."""
SURE = 1e-10
"""What weighted sums may differ by where no closer look is needed."""


def largest_if_symmetric(K: npt.NDArray[np.float64]) -> float | None:
    """Return the largest absolute value of a finite, symmetric matrix (up to rounding); None if the result is unclear.

    One pass suffices, as fast as a search for NaN: with random weights, the weighted sums of a row and of the column of
    the same number differ if the matrix is not symmetric.
    """
    K = K if K.flags.c_contiguous else K.T
    if not K.flags.c_contiguous:
        return None
    n = len(K)
    weights = np.random.default_rng(0).random(n) + 0.5
    by_row, by_column = np.empty(n), np.empty(n)
    largest = _symmetry.weighted_sums(K, weights, by_row, by_column)
    if not (np.isfinite(by_row).all() and np.isfinite(by_column).all()):
        return None
    # a difference that matters changes a sum by half of it or more; the rounding of the sums is far smaller
    allowed = SURE * largest
    return largest if bool((np.abs(by_row - by_column) <= allowed).all()) else None


def check_symmetric(K: npt.NDArray[np.float64], *, exact: bool = False) -> None:
    """Raise GramError, naming two different entries, unless a square matrix is symmetric up to rounding (or
    exactly).
    """
    if _symmetry.is_symmetric(K):
        return
    largest = max(float(np.abs(K[start : start + ROWS]).max()) for start in range(0, len(K), ROWS))
    allowed = 0.0 if exact else ROUNDING * largest
    for start in range(0, len(K), ROWS):
        rows = K[start : start + ROWS, start:]
        difference = np.abs(rows - K[start:, start : start + ROWS].T)
        if difference.max() > allowed:
            i, j = np.unravel_index(difference.argmax(), difference.shape)
            one, other = rows[i, j], K[start + j, start + i]
            digits = 6 if f"{one:g}" != f"{other:g}" else 17
            raise GramError(
                f"the matrix is not symmetric: K[{start + i}, {start + j}] = {one:.{digits}g}, "
                f"K[{start + j}, {start + i}] = {other:.{digits}g}",
                remedy="use (K + Kᵀ) / 2, or solver psvc or psvr, which takes any matrix",
            )


# Recognition of scipy's sparse matrices and operators without importing scipy: if not loaded, there are none.


def is_sparse(value: Any) -> bool:
    """Return whether a value is a scipy sparse matrix or array.

    >>> from scipy.sparse import csr_array
    >>> is_sparse(csr_array([[0, 1]])), is_sparse([[0, 1]])
    (True, False)
    """
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and sparse.issparse(value)


def is_operator(value: Any) -> bool:
    """Return whether a value is a `scipy.sparse.linalg.LinearOperator`."""
    linalg = sys.modules.get("scipy.sparse.linalg")
    return linalg is not None and isinstance(value, linalg.LinearOperator)
