"""The largest eigenvalues of a symmetric matrix and their eigenvectors."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

FEW = 40
"""As many rows for each eigenpair are needed for Lanczos's method to be worth a try."""
SPARED = 0.08
"""Products with a vector that it may take, for each row: a quarter of what LAPACK takes."""
RESIDUAL = 1e-13
"""Largest |A v − λ v| that is accepted from it, in units of the largest |λ| and of √n."""
PRECISE = 1e-5
"""Relative precision with which the next eigenvalue is computed."""
KRYLOV = 20
"""Vectors that it holds at least."""


def largest_eigenpairs(make: Callable[[], Array], count: int) -> tuple[Array, Array]:
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


def _lanczos(matrix: Array, count: int) -> tuple[Array, Array] | None:
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
