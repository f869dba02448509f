"""Properties of matrices, symmetric, sparse or operators, and the largest eigenvalues of symmetric ones."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from seqkern.core import _symmetry
from seqkern.core.errors import GramError
from seqkern.core.types import Floats

# Fast checks that a matrix is symmetric, as a Gram matrix must be.

ROWS = 256
"""Rows compared at a time, to avoid a copy of the whole matrix."""
ROUNDING = 1e-5
"""Largest difference of K[i, j] and K[j, i], as a share of the largest entry: sums in different orders round
differently. It suits single precision, as other programs often store its values as float64."""
SURE = 1e-10
"""Largest difference of weighted sums, as a share, below which no closer look is needed."""


def largest_if_symmetric(K: Floats) -> float | None:
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


def check_symmetric(K: Floats, *, exact: bool = False) -> None:
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


# The largest eigenvalues of a symmetric matrix and their eigenvectors.


FEW = 40
"""Minimum number of rows for each eigenpair for trying Lanczos's method."""
SPARED = 0.08
"""Products with a vector allowed for Lanczos's method, for each row: a quarter of LAPACK's time."""
RESIDUAL = 1e-13
"""Largest accepted |A v − λ v| of Lanczos's method, in units of the largest |λ| and of √n."""
PRECISE = 1e-5
"""Relative precision with which the next eigenvalue is computed."""
KRYLOV = 20
"""Minimum number of vectors that Lanczos's method holds."""


def largest_eigenpairs(make: Callable[[], Floats], count: int) -> tuple[Floats, Floats]:
    """Return the `count` largest eigenvalues of a symmetric matrix, descending, and their eigenvectors (n, count).

    A few eigenpairs of a large matrix are computed by Lanczos's method if it converges soon, as it does unless many
    eigenvalues are nearly equal; otherwise by LAPACK. The matrix that `make` returns is overwritten.
    """
    from scipy.linalg import eigh  # 0.2 s to import

    matrix = make()
    n = len(matrix)
    if are_few(count, n):
        found = _lanczos(matrix, count)
        if found is not None:
            return found
    values, vectors = eigh(
        matrix.T, subset_by_index=(n - count, n - 1), overwrite_a=True, check_finite=False, driver="evr"
    )
    if len(values) < count:  # LAPACK counts eigenvalues by bisection, and loses some that differ by rounding alone
        del matrix, vectors
        values, vectors = eigh(make().T, overwrite_a=True, check_finite=False, driver="evr")
    return values[::-1][:count], vectors[:, ::-1][:, :count]


def are_few(count: int, n: int) -> bool:
    """Return whether `count` eigenpairs are few enough for Lanczos's method on n rows.

    >>> are_few(10, 5000), are_few(10, 100)
    (True, False)
    """
    return n >= FEW * max(count, 10)


def _lanczos(matrix: Floats, count: int) -> tuple[Floats, Floats] | None:
    """Return the largest eigenpairs by Lanczos's method, or None if it takes too long or misses any.

    It starts from one vector, and so may miss copies of an eigenvalue. The largest eigenvalue of the rest of the matrix
    shows that none is missed.
    """
    # imported here for fast start-up
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    n = len(matrix)
    held = max(KRYLOV, 2 * count + 1)
    starts = np.random.default_rng(0).standard_normal((2, n))  # the same in every run
    restarts, last = (max(3, int(SPARED * n / new)) for new in (held - count, KRYLOV - 1))
    try:
        values, vectors = eigsh(matrix, k=count, which="LA", v0=starts[0], ncv=held, maxiter=restarts)
        values, vectors = values[::-1], np.ascontiguousarray(vectors[:, ::-1])
        rest = LinearOperator(
            dtype=np.dtype(np.float64),
            shape=(n, n),
            matvec=lambda vector: matrix @ vector - vectors @ (values * (vectors.T @ vector)),
        )
        options = {"v0": starts[1], "ncv": KRYLOV, "tol": PRECISE, "maxiter": last, "return_eigenvectors": False}
        (missed,) = eigsh(rest, k=1, which="LA", **options)
    except ArpackError:  # among them that of no convergence
        return None
    largest = float(np.abs(values).max())
    allowed = RESIDUAL * np.sqrt(n) * largest
    wrong = float(np.abs(matrix @ vectors - vectors * values).max())
    return (values, vectors) if wrong <= allowed and missed <= values[-1] + allowed else None
