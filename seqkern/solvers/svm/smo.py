"""LIBSVM's algorithm on a Gram matrix in memory, or in a file of which the rows used last are in memory.

A fit needs the rows of the variables that it changes: mostly support vectors, again and again. Those used last stay in
single precision, as many as there is room for; others are converted, or read from the file, again. The steps are those
of LIBSVM (sequential minimal optimisation, with the pair of variables chosen by second-order information, and variables
at their bounds set aside), with the same roundings: on x86-64 the solution has the bits of LIBSVM's. LIBSVM itself
comes with scikit-learn, whose import takes longer than most fits.

Rows in single precision are another matrix, whose solution may violate the conditions of the given one by more than a
small tolerance. Then the run goes on from there with the exact gradient of that point: only the changes of α from there
are multiplied with rounded rows. That is where LIBSVM's solution is left.

References
----------
Fan, Chen, Lin: Working set selection using second order information for training support vector machines. Journal of
Machine Learning Research 6, 2005.

Chang, Lin: LIBSVM: a library for support vector machines. ACM Transactions on Intelligent Systems and Technology 2,
2011.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.progress import progress_counter
from seqkern.gram.gram_rows import GramRows
from seqkern.solvers.expansion import weighted_sums
from seqkern.solvers.finite import check_size, largest_value
from seqkern.solvers.svm._smo import Minimiser, RowCache
from seqkern.solvers.svm.libsvm import CACHE_MEGABYTES, LARGEST, scale_of, scaled_cost, violation

FEWEST_ROWS = 16
"""In the cache."""

MOST_CORRECTIONS = 10
"""Of the gradient; each leaves about a millionth of the error, until rounding in double precision ends that."""


@dataclass(frozen=True)
class RowFit:
    """The solution of a quadratic program on rows of a matrix.

    Attributes
    ----------
    alpha : ndarray of float64
        One for each variable.
    bias : float
        The multiplier of the constraint yᵀα = constant.
    product : ndarray of float64, shape (n,)
        Σ_t y_t α_t K(x, x_t), in double precision.
    converged : bool
        Whether the run ended before `max_iter`; rounding may leave more than the tolerance, see `to_tolerance`.
    iterations : int
    reads : int
        Rows converted, or read from the file.
    finite : bool
        Whether α and the multiplier are numbers; else the fit has diverged.
    """

    alpha: npt.NDArray[np.float64]
    bias: float
    product: npt.NDArray[np.float64]
    converged: bool
    iterations: int
    reads: int
    finite: bool


def cache_rows(n: int, room: int) -> int:
    """Return how many rows of n samples are kept in some memory.

    Parameters
    ----------
    n : int
        Training samples.
    room : int
        Bytes.

    Returns
    -------
    int

    Examples
    --------
    >>> cache_rows(50_000, 10**9), cache_rows(1000, 10**9)
    (5000, 1000)
    """
    return min(n, max(FEWEST_ROWS, room // (4 * n)))


def minimise_by_rows(
    K: npt.NDArray[np.float64] | GramRows,
    y: npt.NDArray[np.float64],
    linear: npt.NDArray[np.float64],
    cost: npt.NDArray[np.float64],
    order: npt.NDArray[np.int64],
    *,
    tol: float,
    max_iter: int,
    name: str,
    start: npt.NDArray[np.float64] | None = None,
) -> RowFit:
    """Minimise ½ αᵀQα + pᵀα over 0 ≤ α ≤ cost and constant yᵀα, where Q[t, u] = y[t] y[u] K[t, u].

    Parameters
    ----------
    K : ndarray of float64, or GramRows, shape (n, n)
        The Gram matrix.
    y, linear, cost : ndarray of float64, shape (n,), or (2n,)
        −1 or 1, p, and the bound of each variable; variable t is of sample t modulo n.
    order : ndarray of int64
        The order in which variables are considered, which decides between equals.
    tol : float
        The largest violation of the optimality conditions of a converged solution.
    max_iter : int
        Maximum number of iterations.
    name : str
        Of the solver, for the display of progress.
    start : ndarray of float64, optional
        The first α, which determines yᵀα; default: 0.

    Returns
    -------
    RowFit

    Raises
    ------
    GramError
        If a row that is read contains NaN or inf, or K(x, x) is too large or too small for sums of products.
    """
    n, diagonal = K.shape[0], np.array(K.diagonal())
    row, room, scale = _rows_of(K, diagonal)
    rows = RowCache(row, n, cache_rows(n, room))
    alpha = np.zeros(len(y)) if start is None else start / scale
    bounds = cost if scale == 1 else np.array([scaled_cost(bound, scale) for bound in cost])
    every = order[:n] % n

    def exact(alpha: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], Any, float]:
        """Return the product, the support vectors, their coefficients, and by how much the conditions are violated."""
        weights = (y * alpha * scale).reshape(-1, n).sum(axis=0)
        support = every[weights[every] != 0]
        product = weighted_sums(K, support, weights[support])
        along = -(y * linear) - np.tile(product, len(y) // n)
        grows, shrinks = alpha < bounds, alpha > 0
        up, low = np.where(y > 0, grows, shrinks), np.where(y > 0, shrinks, grows)
        return product, support, weights[support], violation(along[up], along[low])

    shifted, least, iterations = linear, np.inf, 0
    with progress_counter(name, " iterations") as show:
        for correction in range(1 + MOST_CORRECTIONS):
            sought = tol / 2 if correction else tol  # below it, so that rounding does not end above it
            minimiser = Minimiser(rows, y, shifted, bounds, diagonal * scale, np.array(order, dtype=np.int64), alpha)
            converged, more = minimiser.run(sought, max_iter - iterations, show)
            iterations, bias = iterations + more, minimiser.bias()
            finite = bool(np.all(np.abs(alpha) < LARGEST) and np.isfinite(bias))
            product, support, weights, violated = exact(alpha) if finite else (np.zeros(n), every[:0], y[:0], np.inf)
            if not converged or violated <= tol or violated > least / 2:
                break
            least = violated
            rounded = np.zeros(n)
            for place, weight in zip(support.tolist(), weights.tolist(), strict=True):
                rounded += weight / scale * row(place).astype(np.float32).astype(np.float64)
            shifted = linear + y * np.tile(product - rounded, len(y) // n)
    return RowFit(alpha * scale, bias, product, converged, iterations, rows.reads, finite)


def _rows_of(
    K: npt.NDArray[np.float64] | GramRows, diagonal: npt.NDArray[np.float64]
) -> tuple[Callable[[int], npt.NDArray[Any]], int, float]:
    """Return a function that gives a row, the bytes for rows in single precision, and the rows' scale."""
    read: Callable[[int], npt.NDArray[Any]]
    if isinstance(K, GramRows):
        read, room, largest = K.row, K.room, float(np.abs(diagonal).max())
        check_size(largest)
    else:
        read, room, largest = K.__getitem__, CACHE_MEGABYTES * 2**20, largest_value(K)
    scale = scale_of(largest)
    return (read if scale == 1 else lambda i: read(i).astype(np.float64) * scale), room, scale
