"""Products of matrices in threads, with a fixed order of summation: the bits depend on row and column only."""

import numpy as np
import numpy.typing as npt

from seqkern.core.threads import in_threads
from seqkern.kernels import _blocks
from seqkern.kernels.blocks import row_blocks
from seqkern.kernels.vectors import _vector

LEAST_ROWS = 128
"""Minimum rows of a block; arranging the columns would dominate for fewer."""


def multiply(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return x · y.

    Parameters
    ----------
    x : ndarray of float64, shape (n, d)
        C-ordered.
    y : ndarray of float64, shape (d, m)
        C-ordered.

    Returns
    -------
    ndarray of float64, shape (n, m)

    Examples
    --------
    >>> multiply(np.array([[1.0, 2.0]]), np.array([[1.0, 0.0], [3.0, 1.0]]))
    array([[7., 2.]])
    """
    out = np.empty((len(x), y.shape[1]))

    def work(start: int, stop: int) -> None:
        _vector.products(x[start:stop], y, out[start:stop])

    in_threads([lambda span=span: work(*span) for span in row_blocks(*out.shape, LEAST_ROWS)])
    return out


def square_of_rows(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return x · xᵀ, exactly symmetric.

    Parameters
    ----------
    x : ndarray of float64, shape (n, d)
        One row for each sample.

    Returns
    -------
    ndarray of float64, shape (n, n)

    Examples
    --------
    >>> square_of_rows(np.array([[1.0, 2.0], [0.0, 3.0]]))
    array([[5., 6.],
           [6., 9.]])
    """
    x = np.ascontiguousarray(x)
    columns, out = np.ascontiguousarray(x.T), np.empty((len(x), len(x)))

    def work(start: int, stop: int) -> None:
        _vector.products(x[start:stop], columns[:, start:], out[start:stop, start:])

    spans = row_blocks(*out.shape, LEAST_ROWS)
    in_threads([lambda span=span: work(*span) for span in spans])
    in_threads([lambda span=span: _blocks.mirror(out, *span) for span in spans])
    return out
