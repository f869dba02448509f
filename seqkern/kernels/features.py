"""Explicit features of kernels: a matrix, or blocks of it on demand; and kernels as functions of dense vectors."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.matrices import is_sparse
from seqkern.core.threads import one_thread
from seqkern.core.types import Floats, Ints, Rows
from seqkern.kernels.blocks import without_warnings
from seqkern.kernels.kernel_operator import KernelOperator, ScaledOperator, Table, check_length
from seqkern.sequences.alphabets import Alphabet, as_alphabet


@dataclass(frozen=True, eq=False)
class Features:
    """A kernel's capability of explicit features φ(x): φ(x)·φ(y) is the kernel before normalisation.

    >>> from seqkern.kernels import SpectrumKernel
    >>> kernel = SpectrumKernel(k=1)
    >>> kernel.features(["AAC"]).toarray(), kernel.features.normalised(["AAC"]).toarray().round(2)
    (array([[2., 1., 0., 0.]]), array([[0.89, 0.45, 0.  , 0.  ]]))
    """

    kernel: Any
    make: Callable[[Any], Any]  # Returns the features (n, d) of coerced samples: an array, or a sparse matrix
    all_names: Callable[[Any], Sequence[str] | None] = lambda X: None  # Returns the names of the d features
    size: Callable[[Any], int] = lambda X: 0  # Returns the bytes that making the features of coerced samples takes
    with_gaps: Callable[[Any], Floats] | None = None  # Returns them with NaN for missing values
    in_blocks: Callable[..., FeatureBlocks] | None = None  # Returns the normalised features of coerced samples
    making: Callable[[Any], float] = lambda X: 0.0  # Returns the CPU seconds of making them besides their size's

    def __call__(self, X: Any) -> Any:
        """Return the features of samples, not normalised: float64, or float32 of approximations of other kernels."""
        kernel = self.kernel
        kernel.check_parameters()
        kernel._check_fitted()
        return self.make(kernel.coerce(X))

    def normalised(self, X: Any, counts: dict[str, int] | None = None) -> Any:
        """Return φ(x) of each record, float64 (n, d), normalised if the kernel is: φ(x)·φ(y) is the kernel.

        `counts` receives the number of records that each policy affected, by description.
        """
        X = self.kernel.coerce(X)
        return normalised_vectors(self.kernel, X, _plain(self(X), np.float64), counts)

    def blocks(self, X: Any, counts: dict[str, int] | None = None) -> FeatureBlocks:
        """Return the normalised features in the kernel's own precision, in blocks for solvers that take blocks.

        `counts` receives the number of records that each policy affected, as far as known before the features.
        """
        X = self.kernel.coerce(X)
        if self.in_blocks is not None:
            return self.in_blocks(X, counts)
        vectors = self(X)
        vectors = _plain(vectors, np.float32 if vectors.dtype == np.float32 else np.float64)
        return FeatureBlocks.of(normalised_vectors(self.kernel, X, vectors, counts))

    def bytes(self, X: Any) -> int:
        """Return the memory in bytes that the features take while they are made, predicted before the work."""
        return self.size(self.kernel.coerce(X))

    def names(self, X: Any = None) -> list[str] | None:
        """Return the names of the features, such as k-mers; None if the kernel has none.

        `X` are samples, or the alphabet of sequences; by default the kernel's own. Raises ParameterError if the names
        need samples, or are too many.
        """
        named = self.all_names(X)
        return None if named is None else list(named)

    def known_names(self, X: Any) -> list[str] | None:
        """Return the names of all features, or None if there are none or too many."""
        try:
            return self.names(X)
        except ParameterError:
            return None

    def named(self, X: Any, columns: npt.ArrayLike) -> list[str]:
        """Return the names of the features `columns`; ``feature 1``, … if the kernel has no names, or too many.

        >>> from seqkern import SequenceSet
        >>> from seqkern.kernels import SpectrumKernel
        >>> SpectrumKernel(k=2).features.named(SequenceSet.from_strings(["ACGT"]), [0, 6])
        ['AA', 'CG']
        """
        names = self.known_names(X)
        return [f"feature {j + 1}" if names is None else names[j] for j in np.asarray(columns, dtype=np.int64)]


def alphabet_of(kernel: Any, X: Any) -> Alphabet:
    """Return the alphabet for the names of features: of samples `X`, `X` itself, or by default the kernel's own."""
    given = kernel.alphabet if X is None else getattr(X, "alphabet", X)
    if given is None:
        raise ParameterError("the feature names need an alphabet", remedy="give alphabet=…")
    return as_alphabet(given)


def _plain(vectors: Any, dtype: npt.DTypeLike) -> Any:
    """Return features as an array or a csr_array of `dtype`."""
    if not is_sparse(vectors):
        return np.asarray(vectors, dtype=dtype)
    from scipy.sparse import csr_array  # imported here: loaded already, or not needed

    return csr_array(vectors, dtype=dtype)


def normalised_vectors(kernel: Any, X: Any, vectors: Any, counts: dict[str, int] | None = None) -> Any:
    """Return a kernel's features `vectors` of coerced samples, normalised if the kernel is, in their precision."""
    with without_warnings():
        if is_sparse(vectors):
            squares = vectors.power(2).sum(axis=1)
        else:
            squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    squares = np.asarray(squares, dtype=np.float64).reshape(-1)
    touched = kernel._count_policies(X, squares, {})
    if counts is not None:
        counts.update(touched)
    if not kernel.normalize:
        return vectors
    factors = np.divide(1.0, np.sqrt(squares), out=np.zeros(len(squares)), where=squares > 0)
    factors = factors.astype(vectors.dtype)
    if is_sparse(vectors):
        vectors = vectors.copy()
        vectors.data *= np.repeat(factors, np.diff(vectors.indptr))
        return vectors
    return vectors * factors[:, None]


# Features of many samples, computed block by block.
#
# The features of hundreds of thousands of samples need not fit into memory. Block solvers read them through
# `FeatureBlocks`, in the precision of the kernel, whether they are stored, sparse, or recomputed each time.

BLOCK_ROWS = 2048
TILE_ROWS = 48  # BLAS multiplies rows in tiles of a divisor of it; others at the end may be summed in another order
PRODUCT_ROWS = 43 * TILE_ROWS


def filled(block: npt.NDArray[np.floating[Any]], rows: int) -> npt.NDArray[np.floating[Any]]:
    """Return a block padded with rows of zeros: the order of BLAS's sums depends on the shape and the position."""
    rows = -(-rows // TILE_ROWS) * TILE_ROWS
    if len(block) == rows:
        return block
    out = np.zeros((rows, block.shape[1]), dtype=block.dtype)
    out[: len(block)] = block
    return out


class FeatureBlocks:
    """Feature vectors of n samples, served block by block.

    `compute(rows)` returns the features (len(rows), d) for a slice or an int64 array of rows; the bits of a sample
    depend
    on that sample alone. `times(weights)` returns a function of rows that gives the features times float64 weights
    (d, k)
    without computing the features.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        dtype: npt.DTypeLike,
        compute: Callable[[Any], Any],
        times: Callable[[Floats], Callable[[Any], Floats]] | None = None,
    ) -> None:
        self.shape: tuple[int, int] = (int(shape[0]), int(shape[1]))
        self.dtype = np.dtype(dtype)
        self._compute = compute
        self._times = times
        self._rows: Ints | None = None  # all, or those taken
        self._values: Any = None  # of all, where they are stored

    @classmethod
    def of(cls, values: Any) -> Self:
        """Return the FeatureBlocks of stored features (n, d), which are not copied."""
        if is_sparse(values):
            values = values.tocsr()
        blocks = cls(values.shape, values.dtype, values.__getitem__)
        blocks._values = values
        return blocks

    def __len__(self) -> int:
        return self.shape[0]

    def take(self, rows: Rows) -> FeatureBlocks:
        """Return the features of some samples as a view."""
        taken = copy.copy(self)
        rows = np.arange(len(self))[rows]
        taken._rows = rows if self._rows is None else self._rows[rows]
        taken.shape = (len(rows), self.shape[1])
        return taken

    def block(self, start: int, stop: int) -> npt.NDArray[np.floating[Any]]:
        """Return the features of samples `start` to `stop` − 1.

        The result may be a view of stored features: do not modify it.
        """
        values = self._compute(self._given(start, stop))
        values = values.toarray() if is_sparse(values) else values
        return np.ascontiguousarray(values, dtype=self.dtype)

    def blocks(self, size: int = BLOCK_ROWS) -> Iterator[tuple[slice, npt.NDArray[np.floating[Any]]]]:
        """Iterate over all samples in order, yielding (slice of samples, their features)."""
        for start in range(0, len(self), size):
            span = slice(start, min(start + size, len(self)))
            yield span, self.block(span.start, span.stop)

    def times(self, weights: npt.ArrayLike) -> Floats:
        """Return the features times weights (d, k), shape (n, k).

        Used for prediction; some kernels compute it faster than the features. The bits of a sample depend on that
        sample alone.
        """
        weights = np.ascontiguousarray(weights, dtype=np.float64)
        out = np.empty((len(self), weights.shape[1]))
        with one_thread():
            direct = self._product(weights) if self._times is None else self._times(weights)
            for start in range(0, len(self), PRODUCT_ROWS):
                out[start : start + PRODUCT_ROWS] = direct(self._given(start, min(start + PRODUCT_ROWS, len(self))))
        return out

    def _product(self, weights: Floats) -> Callable[[Any], Floats]:
        """Return the function that multiplies the features of given rows by `weights`."""

        def direct(rows: Any) -> Floats:
            values = self._compute(rows)
            if is_sparse(values):
                return values @ weights
            return (filled(values, PRODUCT_ROWS).astype(np.float64, copy=False) @ weights)[: len(values)]

        return direct

    @property
    def nbytes(self) -> int:
        """Size of all features in bytes, if dense."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    @property
    def stored(self) -> bool:
        """Whether fetching a block costs no more than copying it."""
        return self._values is not None

    @property
    def has_products(self) -> bool:
        """Whether `times` is cheaper than the features, so that decisions need no features."""
        return self._times is not None

    @property
    def sparse(self) -> Any:
        """The features as a sparse matrix, where they are stored as one; else None."""
        if not is_sparse(self._values):
            return None
        return self._values if self._rows is None else self._values[self._rows]

    def keep(self, memory: int) -> FeatureBlocks:
        """Return the same features, stored if they fit into `memory` bytes; otherwise, or if already stored, self."""
        if self.stored or self.nbytes > memory:
            return self
        values = np.empty(self.shape, dtype=self.dtype)
        for span, block in self.blocks():
            values[span] = block
        return FeatureBlocks.of(values)

    def _given(self, start: int, stop: int) -> slice | Ints:
        """Return samples `start` to `stop` in the form that `compute` takes: a slice if the rows are consecutive."""
        if self._rows is None:
            return slice(start, stop)
        rows = self._rows[start:stop]
        follow = len(rows) > 0 and rows[-1] - rows[0] == len(rows) - 1 and (np.diff(rows) == 1).all()
        return slice(int(rows[0]), int(rows[-1]) + 1) if follow else rows


class StoredProducts(KernelOperator):
    """Products with Φ·Φᵀ of features Φ in memory; a table has one weight for each feature."""

    def __init__(self, features: FeatureBlocks) -> None:
        self.features = features
        squares = (np.einsum("ij,ij->i", block, block, dtype=np.float64) for _, block in features.blocks())
        self.squares = np.concatenate([np.zeros(0), *squares])
        self.n_weights, self.tables, self.counts = features.shape[1], self, {}

    def take(self, rows: npt.ArrayLike) -> ScaledOperator:
        """Return the operator of some records."""
        return ScaledOperator(self, np.ascontiguousarray(rows, dtype=np.int64))

    def collect(self, coefficients: npt.ArrayLike) -> Table:
        """Return the weights Φᵀ·coefficients."""
        values = np.asarray(coefficients, dtype=np.float64)
        check_length(values, len(self), "coefficients")
        rows, total = np.flatnonzero(values), np.zeros(self.n_weights)
        with one_thread():
            for part, block in self.features.take(rows).blocks():
                total += values[rows[part]] @ block
        return total

    def dots(self, weights: Table, out: Floats | None = None, rows: Ints | None = None) -> Floats:
        """Return the products Φ·weights."""
        found = (self.features if rows is None else self.features.take(rows)).times(weights[:, None])[:, 0]
        return np.multiply(found, 1.0, out=out)


# Kernels as functions of dense vectors, for fast approximations.


class VectorTable(Protocol):
    """The vectors of n samples of a `VectorForm`."""

    @property
    def width(self) -> int:
        """The number of coordinates of a vector."""

    def __len__(self) -> int: ...

    def gather(self, rows: Any = ...) -> npt.NDArray[np.floating[Any]]:
        """Return the vectors of the given rows (default: all), shape (m, width), C-ordered."""


@dataclass(frozen=True, eq=False)
class VectorForm:
    """A kernel as a function of dense vectors, K(x, y) = k(φ(x), φ(y)); the result of `Kernel._vector_form`.

    k is φ(x)·φ(y) ("linear"), (γ·φ(x)·φ(y) + coef0)^degree ("polynomial") or exp(−γ·‖φ(x) − φ(y)‖²) ("rbf");
    `gamma` is None if it is still to be learned. ``vectors(X, dtype)`` returns a `VectorTable`; ``width(X)``
    returns the number of coordinates, an estimate before `Kernel.fit`, without computing vectors, which may
    take long: plans use it.
    """

    kind: Literal["linear", "polynomial", "rbf"]  # φ(x)·φ(y); (γ·φ(x)·φ(y) + coef0)^degree; exp(−γ·‖φ(x) − φ(y)‖²)
    # ``vectors(X, dtype)`` returns the vectors of some samples, a `VectorTable`: it has ``len()``, ``width`` and
    # ``gather(rows)``, which returns those of a slice or an integer array of rows, C-ordered (m, width)
    vectors: Callable[..., VectorTable]
    # ``width(X)`` returns the number of coordinates for some samples, an estimate before `Kernel.fit`. It computes no
    # vectors, which may take long: plans use it
    width: Callable[[Any], int]

    gamma: float | None = 1.0  # γ; None if it is still to be learned
    degree: int = 1
    coef0: float = 0.0


@dataclass(frozen=True, eq=False)
class DenseTable:
    """The vectors of n samples of a `VectorForm`, as an array (n, width)."""

    values: npt.NDArray[np.floating[Any]]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def width(self) -> int:
        """The number of coordinates of a vector."""
        return self.values.shape[1]

    def gather(self, rows: Any = slice(None)) -> npt.NDArray[np.floating[Any]]:
        """Return the vectors of the given rows (default: all), shape (m, width), C-ordered."""
        return np.ascontiguousarray(self.values[rows])


@dataclass(frozen=True, eq=False)
class JoinedTable:
    """The concatenated vectors of n samples from several tables, each table with a factor."""

    tables: list[VectorTable]
    factors: Floats

    def __len__(self) -> int:
        return len(self.tables[0])

    @property
    def width(self) -> int:
        """The number of coordinates of a vector."""
        return sum(table.width for table in self.tables)

    def gather(self, rows: Any = slice(None)) -> npt.NDArray[np.floating[Any]]:
        """Return the vectors of the given rows (default: all), shape (m, width), C-ordered."""
        parts = [table.gather(rows) for table in self.tables]
        return np.hstack([part * part.dtype.type(factor) for part, factor in zip(parts, self.factors, strict=True)])
