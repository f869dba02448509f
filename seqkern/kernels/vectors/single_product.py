"""Products of vectors with a fixed matrix in single precision, the same bits on every processor.

BLAS rounds the rows of a product differently by their position, and by the processor. Here each product is summed by
itself, in the order of its terms: its bits depend on its vector and its column only.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.kernels.vectors import _single_product
from seqkern.kernels.vectors._single_product import PANEL_COLUMNS


class PackedMap:
    """A matrix in the order in which its numbers are multiplied, without the zeros above them: ``values @ map``.

    Parameters
    ----------
    matrix : ndarray, shape (d, k)
        Rounded to single precision.

    Examples
    --------
    >>> lower = PackedMap(np.tril(np.ones((300, 130))))
    >>> lower.shape, lower.tops
    ((300, 130), array([  0,  64, 128]))
    >>> (np.ones((1, 300), dtype=np.float32) @ lower)[0, [0, 100]]
    array([300., 200.], dtype=float32)
    """

    __array_ufunc__ = None  # NumPy leaves the product to this class

    def __init__(self, matrix: npt.NDArray[np.floating[Any]]) -> None:
        self.shape: tuple[int, int] = matrix.shape
        d, k = self.shape
        firsts = (matrix != 0).argmax(axis=0) if matrix.size else np.zeros(k, dtype=np.int64)
        columns = [slice(left, min(left + PANEL_COLUMNS, k)) for left in range(0, k, PANEL_COLUMNS)]
        self.tops = np.array([firsts[part].min() for part in columns], dtype=np.int64)
        self._starts = np.concatenate(([0], np.cumsum((d - self.tops) * PANEL_COLUMNS)))
        self._panels = np.zeros(self._starts[-1], dtype=np.float32)
        for part, top, start, stop in zip(columns, self.tops, self._starts[:-1], self._starts[1:], strict=True):
            panel = self._panels[start:stop].reshape(-1, PANEL_COLUMNS)
            panel[:, : part.stop - part.start] = matrix[top:, part]

    def __rmatmul__(self, values: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float32]:
        out = np.empty((len(values), self.shape[1]), dtype=np.float32)
        values = np.ascontiguousarray(values, dtype=np.float32)
        _single_product.product(values, self._panels, self._starts, self.tops, out)
        return out


def squares(vectors: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float32]:
    """Return the squared lengths of vectors, summed in double precision.

    Parameters
    ----------
    vectors : ndarray, shape (n, d)
        Rounded to single precision.

    Returns
    -------
    ndarray of float32, shape (n,)

    Examples
    --------
    >>> squares(np.array([[1, 2], [3, 4]], dtype=np.float32))
    array([ 5., 25.], dtype=float32)
    """
    out = np.empty(len(vectors), dtype=np.float32)
    _single_product.squares(np.ascontiguousarray(vectors, dtype=np.float32), out)
    return out
