"""LIBSVM's algorithm on a Gram matrix in a file, of which the rows used last are in memory.

A fit needs the rows of the variables that it changes: mostly support vectors, again and again. Those used last stay in
single precision, as many as there is room for; others are read from the file. The steps are those of LIBSVM
(sequential minimal optimisation, with the pair of variables chosen by second-order information, and variables at their
bounds set aside), with the same roundings: on x86-64 the solution has the bits of LIBSVM's on the whole matrix.

References
----------
Fan, Chen, Lin: Working set selection using second order information for training support vector machines. Journal of
Machine Learning Research 6, 2005.

Chang, Lin: LIBSVM: a library for support vector machines. ACM Transactions on Intelligent Systems and Technology 2,
2011.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqkern.core.progress import progress_counter
from seqkern.gram.gram_rows import GramRows
from seqkern.solvers.finite import check_size
from seqkern.solvers.svm._smo import Minimiser, RowCache
from seqkern.solvers.svm.libsvm import scale_of, scaled_cost

FEWEST_ROWS = 16
"""In the cache."""


@dataclass(frozen=True)
class RowFit:
    """The solution of a quadratic program on rows of a matrix.

    Attributes
    ----------
    alpha : ndarray of float64
        One for each variable.
    bias : float
        The multiplier of the constraint yᵀα = constant.
    converged : bool
    iterations : int
    reads : int
        Rows read from the file.
    """

    alpha: npt.NDArray[np.float64]
    bias: float
    converged: bool
    iterations: int
    reads: int


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
    K: GramRows,
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
    K : GramRows of shape (n, n)
        Square.
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
    n = K.shape[0]
    diagonal = K.diagonal()
    largest = float(np.abs(diagonal).max())
    check_size(largest)
    scale = scale_of(largest)
    rows = RowCache(K.row if scale == 1 else lambda i: K.row(i).astype(np.float64) * scale, n, cache_rows(n, K.room))
    alpha = np.zeros(len(y)) if start is None else start / scale
    bounds = cost if scale == 1 else np.array([scaled_cost(bound, scale) for bound in cost])
    minimiser = Minimiser(rows, y, linear, bounds, diagonal * scale, np.array(order, dtype=np.int64), alpha)
    with progress_counter(name, " iterations") as show:
        converged, iterations = minimiser.run(tol, max_iter, show)
    return RowFit(alpha * scale, minimiser.bias(), converged, iterations, rows.reads)
