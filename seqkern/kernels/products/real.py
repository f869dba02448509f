"""Blocks of real-valued features, dense and sparse, for the product engine.

Summed feature after feature in double precision: the bits depend on neither threads nor blocks. A `Term` with such a
block has no other block, and factor 1.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.kernels.products import _fold, _real

PANEL = 16
PRODUCT_NS = (0.18, 0.09, 0.07)  # a product of two dense features, for each level of instructions


class RealDenseBlock:
    """Real-valued features of n records as dense vectors.

    Parameters
    ----------
    values : array_like of float, shape (n, features)
        The features of each record.

    Attributes
    ----------
    squares : ndarray of float64, shape (n,)
        Φ(x)·Φ(x).
    """

    real = True

    def __init__(self, values: npt.ArrayLike) -> None:
        table = np.asarray(values, dtype=np.float64)
        n, width = table.shape
        padded = np.zeros((-(-n // PANEL), PANEL, width))
        padded.reshape(len(padded) * PANEL, width)[:n] = table
        self._panels = np.ascontiguousarray(padded.swapaxes(1, 2))
        self.squares = np.zeros(n)
        for feature in table.T:
            self.squares += feature * feature

    def accumulate(
        self,
        row: int,
        cols: "RealDenseBlock",
        first: int,
        last: int,
        factor: int,
        upper: bool,
        sums: npt.NDArray[np.float64],
    ) -> None:
        """Add Φ(rows)·Φ(columns) to `sums`.

        Parameters
        ----------
        row, cols, first, last, factor, upper, sums
            As in `Block.accumulate`.
        """
        _real.multiply(self._panels, cols._panels, row, first, last, upper, sums)

    def gather(self, first: int, coefficients: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return Σ_j coefficients[j]·Φ(record first + j), float64 (features,).

        Parameters
        ----------
        first, coefficients
            As in `FoldingBlock.gather`.
        """
        weights = np.zeros(self._panels.shape[1])
        _fold.gather_panels(self._panels, first, coefficients, weights)
        return weights

    def apply(self, first: int, weights: npt.NDArray[np.float64], out: npt.NDArray[np.float64]) -> None:
        """Write Φ(record first + i)·weights to out[i].

        Parameters
        ----------
        first, weights, out
            As in `FoldingBlock.apply`.
        """
        _fold.apply_panels(self._panels, first, weights, out)


class RealSparseBlock:
    """Real-valued features of n records, mostly zero.

    Parameters
    ----------
    values : scipy.sparse matrix or array, shape (n, features)
        The features of each record.

    Attributes
    ----------
    squares : ndarray of float64, shape (n,)
        Φ(x)·Φ(x).
    """

    real = True

    def __init__(self, values: Any) -> None:
        from scipy.sparse import csr_array  # imported here: it slows start-up, and most kernels need no sparse matrix

        rows = csr_array(values, dtype=np.float64)
        rows.sum_duplicates()
        columns = rows.tocsc()
        self._rows = _arrays(rows)
        start, post_rows, post_values = _arrays(columns)
        self._lists = start, post_rows, post_values
        self._n_features = rows.shape[1]
        self.squares = np.empty(rows.shape[0])
        _real.row_squares(self._rows[0], self._rows[2], self.squares)

    def accumulate(
        self,
        row: int,
        cols: "RealSparseBlock",
        first: int,
        last: int,
        factor: int,
        upper: bool,
        sums: npt.NDArray[np.float64],
    ) -> None:
        """Add Φ(rows)·Φ(columns) to `sums`.

        Parameters
        ----------
        row, cols, first, last, factor, upper, sums
            As in `Block.accumulate`.
        """
        _real.walk(*self._rows, *cols._lists, row, first, last, upper, sums)

    def gather(self, first: int, coefficients: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return Σ_j coefficients[j]·Φ(record first + j), float64 (features,).

        Parameters
        ----------
        first, coefficients
            As in `FoldingBlock.gather`.
        """
        weights = np.zeros(self._n_features)
        _fold.gather_sparse(*self._rows, first, coefficients, weights)
        return weights

    def apply(self, first: int, weights: npt.NDArray[np.float64], out: npt.NDArray[np.float64]) -> None:
        """Write Φ(record first + i)·weights to out[i].

        Parameters
        ----------
        first, weights, out
            As in `FoldingBlock.apply`.
        """
        _fold.apply_sparse(*self._rows, first, weights, out)


def _arrays(
    compressed: Any,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """Return the three arrays of a compressed sparse matrix with the dtypes of the loops, indices ascending."""
    compressed.sort_indices()
    return compressed.indptr.astype(np.int64), compressed.indices.astype(np.int32), compressed.data
