"""Whether a matrix is symmetric, as a Gram matrix must be."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seqkern.core import _symmetry
from seqkern.core.errors import GramError

ROWS = 256
"""Rows compared at a time, to avoid a copy of the whole matrix."""
ROUNDING = 1e-5
"""What K[i, j] and K[j, i] may differ by, as a share of the largest entry: sums in different orders round differently.
Of single precision, since matrices that other programs computed in it are often stored as float64."""
SURE = 1e-10
"""What weighted sums may differ by where no closer look is needed."""


def largest_if_symmetric(K: npt.NDArray[np.float64]) -> float | None:
    """Return the largest absolute value of a square matrix that is finite, and symmetric up to rounding.

    In one pass over it, as fast as a search for NaN: weighted sums of each row and the column of the same number differ
    where it is not symmetric, with random weights.

    Parameters
    ----------
    K : ndarray of float64, shape (n, n)
        With rows one after the other, or columns.

    Returns
    -------
    float or None
        None if it takes a closer look to know.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.core.symmetry import largest_if_symmetric
    >>> K = np.ones((50, 50))
    >>> before = largest_if_symmetric(K)
    >>> K[3, 17] += 1e-6
    >>> before, largest_if_symmetric(K)
    (1.0, None)
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
    """Raise GramError unless a square matrix is symmetric up to rounding.

    Parameters
    ----------
    K : ndarray of float64, shape (n, n)
        A memory map is read in parts.
    exact : bool
        Whether no difference is allowed.

    Raises
    ------
    GramError
        It names two entries that differ.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.core.errors import GramError
    >>> from seqkern.core.symmetry import check_symmetric
    >>> try:
    ...     check_symmetric(np.array([[1.0, 0.5], [0.4, 1.0]]))
    ... except GramError as error:
    ...     print(error.problem)
    the matrix is not symmetric: K[0, 1] = 0.5, K[1, 0] = 0.4
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
