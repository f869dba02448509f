"""Feature vectors of more records than fit into memory: made for some records at a time.

A `DeferredImplicit` keeps the records only. `implicit` makes the feature vectors of a part, to train on; `weights`
folds support records into one table, and `dots` applies it to the records, block by block.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
import numpy.typing as npt

from seqkern.kernels.additive import fold, over_root
from seqkern.kernels.blocks import fill
from seqkern.kernels.implicit import Implicit
from seqkern.kernels.kernel_operator import Floats, KernelOperator
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel

BLOCK = 1 << 16
"""Records that are prepared together."""

MATRIX_BYTES = 1 << 26
"""Of the kernel values with the support, where these are not folded."""

LARGEST_SET = 2_000_000
"""Records that have feature vectors at the same time; of up to so many all have them.

Fixed, so that training is the same on every machine."""

SAMPLE = 50_000
"""Records whose feature vectors tell the memory of all."""


def is_deferred(X: object) -> TypeGuard[SequenceSet]:
    """Return whether the feature vectors of some samples are not all made at the same time.

    Parameters
    ----------
    X : SequenceSet or table
        The samples.

    Returns
    -------
    bool
    """
    return isinstance(X, SequenceSet) and len(X) > LARGEST_SET


def sample(X: SequenceSet) -> tuple[SequenceSet, float]:
    """Return `SAMPLE` records or a few more, evenly spread, and how many times as many all are.

    Parameters
    ----------
    X : SequenceSet, n records
        All records.

    Returns
    -------
    some : SequenceSet
    ratio : float
    """
    some = X.take(slice(0, len(X), max(1, len(X) // SAMPLE)))
    return some, len(X) / max(1, len(some))


class DeferredImplicit(KernelOperator):
    """Feature vectors of n records, none of them stored.

    Parameters
    ----------
    kernel : Kernel
        Fitted, if it learns from data.
    X : SequenceSet, n records
        The records.
    tables : object, optional
        See `seqkern.kernels.implicit.Implicit`.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.kernels.deferred import DeferredImplicit
    >>> X = SequenceSet.from_strings(["GATTACA", "ATTA", "TTAC"], "dna")
    >>> records = DeferredImplicit(SpectrumKernel(k=2, normalize=False), X)
    >>> support = records.take([0, 2])
    >>> records.dots(support.weights([1.0, -1.0]))
    array([3., 1., 0.])
    >>> len(support.implicit())
    2
    """

    def __init__(self, kernel: Kernel, X: SequenceSet, tables: object = None) -> None:
        self.kernel = kernel
        self.X = X
        self.tables = object() if tables is None else tables
        self.counts: dict[str, int] = {}
        self.n_weights = 0

    def __len__(self) -> int:
        return len(self.X)

    @cached_property
    def squares(self) -> Floats:  # type: ignore[override]  # the base declares an attribute
        """K(x, x), float64 (n,)."""
        out = np.empty(len(self))
        for start in range(0, len(self), BLOCK):
            rows = self.kernel.prepare(self.X.take(slice(start, start + BLOCK)))
            out[start : start + BLOCK] = rows.diagonal
            for what, count in rows.counts.items():
                self.counts[what] = self.counts.get(what, 0) + count
        return out

    def take(self, rows: npt.ArrayLike) -> DeferredImplicit:
        """Return some records.

        Parameters
        ----------
        rows : array_like of int, shape (m,)
            Which.

        Returns
        -------
        DeferredImplicit
        """
        return DeferredImplicit(self.kernel, self.X.take(np.asarray(rows, dtype=np.int64)), self.tables)

    def implicit(self) -> Implicit:
        """Return the feature vectors of all records, in memory."""
        return self.kernel.implicit(self.X)

    def weights(self, coefficients: npt.ArrayLike) -> Any:
        """Return Σ_i coefficients[i]·K(·, x_i) for `dots`.

        Parameters
        ----------
        coefficients : array_like of float64, shape (n,)
            One for each record.

        Returns
        -------
        object
        """
        return _Weights(self.kernel, self.X, np.asarray(coefficients, dtype=np.float64))

    def dots(self, weights: Any, out: Floats | None = None, rows: npt.NDArray[np.int64] | None = None) -> Floats:
        """Return the value of `weights` for each record.

        Parameters
        ----------
        weights : object
            From `weights` of records with the same tables.
        out : ndarray of float64, shape (n,), optional
            Where to write; by default a new array.
        rows : ndarray of int64, shape (m,), optional
            Which records; by default all. n is m otherwise.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        if rows is not None:
            return self.take(rows).dots(weights, out)
        out = np.empty(len(self)) if out is None else out
        for start in range(0, len(self), BLOCK):
            out[start : start + BLOCK] = weights(self.X.take(slice(start, start + BLOCK)))
        return out

    @staticmethod
    def bytes_for(kernel: Kernel, X: SequenceSet) -> int:
        """Return the bytes of the feature vectors that exist at the same time, predicted before the work.

        Parameters
        ----------
        kernel : Kernel
            Fitted, if it learns from data.
        X : SequenceSet, n records
            All records.

        Returns
        -------
        int
        """
        some, ratio = sample(X)
        return int(kernel.implicit_bytes(some) * ratio * min(1.0, LARGEST_SET / len(X)))


class _Weights:
    """The sum over support records: as weights at positions, or folded into one table, if the kernel can."""

    def __init__(self, kernel: Kernel, support: SequenceSet, coefficients: Floats) -> None:
        self.kernel, self.coefficients = kernel, coefficients
        support = support.compact()
        self.columns = kernel.prepare(support)
        self._at_positions = self._folded = None
        if kernel.has_weights_at_positions and len(support):
            scaled = over_root(coefficients, self.columns.raw_diagonal) if kernel.normalize else coefficients
            self._at_positions = kernel.weights_at_positions(support, scaled)
        if self._at_positions is None:
            self._folded = fold(kernel, self.columns, coefficients)

    def __call__(self, X: SequenceSet) -> Floats:
        """Return the value of each record of `X`, float64 (n,)."""
        if self._at_positions is not None:
            X = X.compact()
            rows = self.kernel.prepare(X, like=self.columns)  # also checks lengths
            sums = self._at_positions.scan(X.codes, X.starts)
            return over_root(sums, rows.raw_diagonal) if self.kernel.normalize else sums
        if self._folded is not None:
            return self._folded(self.kernel.prepare(X, like=self.columns))
        out, step = np.empty(len(X)), max(1, MATRIX_BYTES // (8 * max(1, len(self.columns))))
        for start in range(0, len(X), step):
            rows = self.kernel.prepare(X.take(slice(start, start + step)), like=self.columns)
            K = fill(self.kernel, rows, self.columns, np.empty((len(rows), len(self.columns))))
            out[start : start + step] = np.sum(K * self.coefficients, axis=1)
        return out
