"""Implicit feature vectors, for training without a Gram matrix.

An `Implicit` stands for the feature vectors φ_i of n records with φ_i·φ_j = K(x_i, x_j). It has a buffer of weights w
with two operations: w += c·φ_i, and φ_i·w. Compiled code calls both through a table of functions (`_implicit.h`). The
layout of the buffer is up to the family.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.kernels import _implicit
from seqkern.kernels.kernel_operator import KernelOperator, check_length

MOST_FEATURES = 2**31 - 1
LINE = 8  # weights in a cache line


class Implicit(KernelOperator):
    """Feature vectors of n records, not stored explicitly.

    The PyCapsule `capsule` contains an ``ImplicitOperations`` of `_implicit.h`; it, or the object with this class
    as its
    base, keeps everything alive that the functions read. `squares` is K(x, x), float64 (n,). Objects with the same
    `tables` can share weights.
    """

    def __init__(self, capsule: Any, squares: npt.NDArray[np.float64], n_weights: int, tables: object = None) -> None:
        self.capsule = capsule
        self.squares = squares
        self.n_weights = int(n_weights)
        self.tables = object() if tables is None else tables
        self.counts: dict[str, int] = {}

    def take(self, rows: npt.ArrayLike) -> CombinedImplicit:
        """Return the Implicit of the records numbered `rows`, in any order, as a view with the same tables."""
        rows = np.asarray(rows, dtype=np.int64)
        return CombinedImplicit([self], rows=rows, squares=self.squares[rows], tables=self.tables)

    def zeros(self) -> npt.NDArray[np.float64]:
        """Return zero weights, float64 (n_weights,), aligned to a cache line."""
        memory = np.zeros(self.n_weights + LINE)
        return memory[-(memory.ctypes.data // 8) % LINE :][: self.n_weights]

    def dots(
        self,
        weights: npt.NDArray[np.float64],
        out: npt.NDArray[np.float64] | None = None,
        rows: npt.NDArray[np.int64] | None = None,
    ) -> npt.NDArray[np.float64]:
        """Return φ_i·w for each record, or for the records numbered `rows`."""
        if rows is not None:
            return self.take(rows).dots(weights, out)
        out = np.empty(len(self)) if out is None else out
        check_length(weights, self.n_weights, "weights")
        _implicit.dots(self.capsule, weights, out)
        return out

    def add(self, weights: npt.NDArray[np.float64], coefficients: npt.ArrayLike) -> None:
        """Add Σ_i coefficients[i]·φ_i to `weights`."""
        check_length(weights, self.n_weights, "weights")
        coefficients = np.ascontiguousarray(coefficients, dtype=np.float64)
        if coefficients.shape != (len(self),):
            raise ValueError(f"{coefficients.shape} coefficients for {len(self)} records")
        _implicit.add(self.capsule, coefficients, weights)

    def collect(self, coefficients: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the weights Σ_i coefficients[i]·φ_i."""
        weights = self.zeros()
        self.add(weights, coefficients)
        return weights


class SparseImplicit(Implicit):
    """Feature vectors that are the rows of a sparse matrix.

    The entries of record i are ``start[i]`` to ``start[i + 1]``; `feature` and `value` are their columns and values.
    """

    def __init__(
        self, start: npt.NDArray[np.int64], feature: npt.NDArray[np.int32], value: npt.NDArray[Any], n_features: int
    ) -> None:
        if n_features > MOST_FEATURES:
            raise SequenceError(f"{n_features} features are too many", remedy="choose shorter k-mers")
        whole = value.dtype == np.int32
        rows = _implicit.SparseRows(start, feature, value if whole else None, None if whole else value)
        squares = np.empty(len(start) - 1)
        rows.squares(squares)
        super().__init__(rows.capsule, squares, n_features)

    @classmethod
    def of(cls, matrix: Any) -> SparseImplicit:
        """Return the Implicit of the rows of a matrix X; its kernel is X Xᵀ."""
        # imported here: slows start-up
        from scipy.sparse import csr_array

        rows = csr_array(matrix, dtype=np.float64)
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        return cls(rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data, rows.shape[1])


class CombinedImplicit(Implicit):
    """Feature vectors of Σ_p factors[p]·K_p, each record's vector multiplied by its `scale`.

    The buffer concatenates the weights of the parts. A scale of 1 / √K(x, x) normalises.
    """

    def __init__(
        self,
        parts: Iterable[Implicit],
        factors: npt.ArrayLike | None = None,
        *,
        rows: npt.ArrayLike | None = None,
        scale: npt.ArrayLike | None = None,
        squares: npt.NDArray[np.float64] | None = None,
        tables: object = None,
    ) -> None:
        self.parts = list(parts)
        self.factors = np.ones(len(self.parts)) if factors is None else np.array(factors, dtype=np.float64)
        self.rows = None if rows is None else np.ascontiguousarray(rows, dtype=np.int64)
        self.scale = None if scale is None else np.ascontiguousarray(scale, dtype=np.float64)
        n = len(self.parts[0])
        if self.rows is not None and np.any((self.rows < 0) | (self.rows >= n)):
            raise IndexError(f"rows are numbers from 0 to {n - 1}")
        if squares is None:
            squares = sum(factor * part.squares for factor, part in zip(self.factors, self.parts, strict=True))
            squares = squares if self.rows is None else squares[self.rows]
            squares = squares if self.scale is None else self.scale * self.scale * squares
        offsets = np.cumsum([0, *(-(-part.n_weights // LINE) * LINE for part in self.parts)], dtype=np.int64)
        capsules = [part.capsule for part in self.parts]
        combined = _implicit.CombinedRows(capsules, offsets[:-1].copy(), self.factors, self.rows, self.scale)
        super().__init__(combined.capsule, squares, offsets[-2] + self.parts[-1].n_weights, tables)

    def take(self, rows: npt.ArrayLike) -> CombinedImplicit:
        """Return the Implicit of the records numbered `rows`: a view of the parts, so that views are not nested."""
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        return CombinedImplicit(
            self.parts,
            self.factors,
            rows=rows if self.rows is None else self.rows[rows],
            scale=None if self.scale is None else self.scale[rows],
            squares=self.squares[rows],
            tables=self.tables,
        )


def normalised(implicit: Implicit) -> CombinedImplicit:
    """Return the Implicit of K(x, y) / √(K(x, x)·K(y, y)), zero where a diagonal value is not positive."""
    squares = implicit.squares
    positive = squares > 0
    scale = np.divide(1.0, np.sqrt(np.maximum(squares, 0)), out=np.zeros(len(squares)), where=positive)
    # K(x, x) is exactly 1, without rounding.
    return CombinedImplicit([implicit], scale=scale, squares=positive.astype(np.float64))
