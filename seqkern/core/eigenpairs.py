"""The largest eigenvalues of a symmetric matrix."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def largest_eigenpairs(make: Callable[[], Array], count: int) -> tuple[Array, Array]:
    """Return the largest eigenvalues of a symmetric matrix, descending, and their eigenvectors.

    Parameters
    ----------
    make : callable
        Returns the matrix, float64 (n, n), exactly symmetric and C-ordered; it is overwritten.
    count : int
        How many, from 1 to n.

    Returns
    -------
    values : ndarray of float64, shape (count,)
    vectors : ndarray of float64, shape (n, count)

    Examples
    --------
    >>> import numpy as np
    >>> values, vectors = largest_eigenpairs(lambda: np.diag([1.0, 3.0, 2.0]), 2)
    >>> values
    array([3., 2.])
    >>> abs(vectors[:, 0])
    array([0., 1., 0.])
    """
    from scipy.linalg import eigh  # 0.2 s to import

    matrix = make()
    n = len(matrix)
    values, vectors = eigh(
        matrix.T, subset_by_index=(n - count, n - 1), overwrite_a=True, check_finite=False, driver="evr"
    )
    if len(values) < count:  # LAPACK counts eigenvalues by bisection, and loses some that differ by rounding alone
        del matrix, vectors
        values, vectors = eigh(make().T, overwrite_a=True, check_finite=False, driver="evr")
    return values[::-1][:count], vectors[:, ::-1][:, :count]
