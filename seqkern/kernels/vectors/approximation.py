"""Shared by approximations of a kernel by explicit features: K(x, y) = φ(x)·φ(y), φ in single precision.

φ(x) is computed in two steps: values of x (its kernel with some landmarks, or waves), and a fixed matrix by which they
are multiplied, the `map`. Threads share chunks of `CHUNK_ROWS` samples. Each product is summed by itself, not by BLAS:
so the bits of φ(x) depend on x alone, not on the samples beside it. Sums φ(x)·φ(y) are in double precision.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import SequenceError
from seqkern.core.parameters import changed
from seqkern.core.threads import in_threads, one_thread
from seqkern.kernels.additive import attributions, spread_evenly
from seqkern.kernels.composite import CompositeKernel, as_parts
from seqkern.kernels.explicit import normalised_vectors
from seqkern.kernels.feature_blocks import FeatureBlocks
from seqkern.kernels.finite import remedy_of, without_warnings
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.prepared import Plan
from seqkern.kernels.vectors._vector import products
from seqkern.kernels.vectors.linear import PRODUCT_SECONDS, LinearKernel, PreparedVectors
from seqkern.kernels.vectors.single_product import PANEL_COLUMNS, PackedMap
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import Data

CHUNK_ROWS = 516  # 86 tiles of `_single_product`; four chunks are `feature_blocks.PRODUCT_ROWS`
GATHER_SECONDS = 1e-9
SINGLE_SECONDS = 1e-11  # of CPU, for one product of two numbers in single precision
VALUE_SECONDS = 1e-9  # for one exponential, power or wave in single precision
SINGLE = 1e-30, 1e30  # kernel values whose products with a map of their inverse roots are numbers of single precision


Values: TypeAlias = Callable[[npt.NDArray[np.int64]], npt.NDArray[np.floating[Any]]]
"""Takes at most `CHUNK_ROWS` rows and returns their values; see `in_chunks`."""


def in_chunks(
    rows: npt.NDArray[np.int64],
    values: Values,
    matrix: PackedMap | npt.NDArray[np.float64] | None,
    width: int,
    n_threads: int | None,
) -> npt.NDArray[np.floating[Any]]:
    """Return ``values(rows) @ matrix``, in chunks shared by threads.

    Parameters
    ----------
    rows : ndarray of int64, shape (n,)
        Which samples.
    values : callable
        Takes at most `CHUNK_ROWS` rows and returns their values, float32 or float64 (rows, columns).
    matrix : PackedMap or ndarray of float64, shape (columns, width), or None
        None returns the values.
    width : int
        Columns of the result.
    n_threads : int or None
        None for all cores.

    Returns
    -------
    ndarray, shape (n, width)
        float64 if `matrix` is, otherwise float32.
    """
    out = np.empty((len(rows), width), dtype=np.float64 if isinstance(matrix, np.ndarray) else np.float32)

    def task(start: int) -> None:
        part = slice(start, start + CHUNK_ROWS)
        with without_warnings():  # each thread has its own
            block = values(rows[part])
            if isinstance(matrix, np.ndarray):
                products(block.astype(np.float64, copy=False), matrix, out[part])
            else:
                out[part] = block if matrix is None else block @ matrix

    with one_thread():
        in_threads([partial(task, start) for start in range(0, len(rows), CHUNK_ROWS)], n_threads)
    return out


def check_single(kernel: "ApproximateKernel", X: Any) -> None:
    """Raise SequenceError if K(x, x) of the base kernel is too large or too small for single precision.

    Parameters
    ----------
    kernel : ApproximateKernel
        Its base is fitted.
    X : SequenceSet or FeatureTable
        The training samples; the first `CHUNK_ROWS` are looked at.

    Raises
    ------
    SequenceError
        With the limits and a remedy.
    """
    base = kernel.bases[0]
    largest = float(np.abs(base.diagonal(X.take(slice(0, CHUNK_ROWS)))).max(initial=0.0))
    if largest and not SINGLE[0] <= largest <= SINGLE[1]:
        raise too_far(kernel, "K(x, x) of its base kernel", largest)


def too_far(kernel: "ApproximateKernel", what: str, value: float) -> SequenceError:
    """Return the error for a value that is too large or too small for single precision.

    Parameters
    ----------
    kernel : ApproximateKernel
        Which computes it.
    what : str
        What has the value.
    value : float
        NaN counts as large.

    Returns
    -------
    SequenceError
        With the limits and a remedy.
    """
    return SequenceError(
        f"{what} is {value:g}, beyond {SINGLE[0]:g} to {SINGLE[1]:g}, and kernel {kernel.name!r} computes in single "
        "precision",
        remedy=remedy_of(kernel.bases[0], small=value < SINGLE[0]),
    )


class ApproximateKernel(CompositeKernel):
    """Base of the approximations of the kernel `base` by explicit features.

    A subclass adds the parameters `base` and `n_components`, and implements `_values`, and `_map` if needed.
    """

    positive_semidefinite = True
    made_again: ClassVar[tuple[str, ...]] = ("_folded", "_packed")  # derived attributes, which are not pickled

    if TYPE_CHECKING:  # members of a subclass

        @property
        def base(self) -> Kernel:
            """The kernel to approximate."""

        @property
        def n_components(self) -> int:
            """Maximum number of features."""

    def __getstate__(self) -> dict[str, Any]:
        """Return the pickled state."""
        return {name: value for name, value in vars(self).items() if name not in self.made_again}

    def _values(self, X: Any) -> tuple[int, Values]:
        """Return (columns, function) for samples `X`.

        The function takes an array of at most `CHUNK_ROWS` rows and returns their values, float32 or float64
        (rows, columns), C-ordered. It is called from several threads.
        """
        raise NotImplementedError

    def _map(self) -> npt.NDArray[np.float32] | None:
        """Return the matrix that multiplies the values, float32 (columns, features), or None."""
        return None

    def _given(self) -> list[Kernel]:
        return as_parts(self.name, [self.base])

    @property
    def equal_lengths(self) -> bool:  # type: ignore[override]  # here it follows from the base
        """Whether all sequences must have one length, as the base has it."""
        return self._given()[0].equal_lengths

    # ---- features -------------------------------------------------------------------------------

    def features(self, X: Any) -> npt.NDArray[np.floating[Any]]:
        """Return φ, not normalised.

        Parameters
        ----------
        X : SequenceSet, list of str, or table, n records
            The samples.

        Returns
        -------
        ndarray of float32, shape (n, features)
        """
        blocks = self._raw_blocks(X)
        return blocks.block(0, len(blocks))

    def feature_blocks(self, X: Any, counts: dict[str, int] | None = None) -> FeatureBlocks:
        """Return φ, normalised as the kernel is, computed on demand.

        Parameters
        ----------
        X : SequenceSet, list of str, or table, n records
            The samples.
        counts : dict, optional
            Unchanged: nothing is known before the features.

        Returns
        -------
        FeatureBlocks
            Of float32.
        """
        X = self.coerce(X)
        raw = self._raw_blocks(X)
        if not self.normalize:
            return raw

        def compute(rows: Any) -> npt.NDArray[np.floating[Any]]:
            rows = np.arange(len(X))[rows]
            return normalised_vectors(self, X.take(rows), raw.take(rows).block(0, len(rows)))

        return FeatureBlocks(raw.shape, raw.dtype, compute)

    def _raw_blocks(self, X: Any) -> FeatureBlocks:
        """Return φ, not normalised, as FeatureBlocks."""
        self.check_parameters()
        self.check_fitted()
        X = self.coerce(X)
        with without_warnings():
            columns, values = self._values(X)
        matrix = self._map()
        width = columns if matrix is None else matrix.shape[1]

        def compute(rows: Any) -> npt.NDArray[np.floating[Any]]:
            which = np.arange(len(X))[rows]
            found = in_chunks(which, values, self._pack(matrix), width, self.n_threads)
            good = np.isfinite(found).all(axis=1)
            if not good.all():
                raise SequenceError(
                    f"its features are not finite: kernel {self.name!r} computes in single precision",
                    record=X.ids[which[np.argmin(good)]],
                    remedy=remedy_of(self, small=False),
                )
            return found

        def times(weights: npt.NDArray[np.float64]) -> Callable[[Any], npt.NDArray[Any]]:
            weights = weights if matrix is None else self._fold_map(matrix, weights)
            return lambda rows: in_chunks(np.arange(len(X))[rows], values, weights, weights.shape[1], self.n_threads)

        return FeatureBlocks((len(X), width), np.float32, compute, times)

    def _pack(self, matrix: npt.NDArray[np.float32] | None) -> PackedMap | None:
        """Return the map as it is multiplied; cached."""
        if matrix is None:
            return None
        packed = getattr(self, "_packed", None)
        if packed is None or packed[0] is not matrix:
            self._packed = packed = matrix, PackedMap(matrix)
        return packed[1]

    def _fold_map(self, matrix: npt.NDArray[np.float32], weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return ``matrix @ weights``, float64; the latest is cached, because a model uses the same for every
        sample.
        """
        folded = getattr(self, "_folded", None)
        if folded is None or folded[0] is not matrix or not np.array_equal(folded[1], weights):
            product = np.empty((len(matrix), weights.shape[1]))
            products(matrix.astype(np.float64), weights, product)
            self._folded = folded = matrix, weights.copy(), product
        return folded[2]

    # ---- the kernel -----------------------------------------------------------------------------

    def _prepare(self, X: Data, like: PreparedVectors | None) -> PreparedVectors:  # type: ignore[override]  # no parts
        values = self.features(X).astype(np.float64)
        return PreparedVectors(values, np.ascontiguousarray(values.T), ())

    def _block(self, rows: PreparedVectors, cols: PreparedVectors, out: npt.NDArray[np.float64]) -> float | None:
        return LinearKernel._block(self, rows, cols, out)  # type: ignore[arg-type]  # it does not use the kernel

    _fold = LinearKernel._fold

    normalize: bool = changed(default=False, doc="Divide φ by its length.")

    def _attribute(
        self, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Return the shares of the base kernel; the approximation error is shared equally by all residues."""
        shares = attributions(self.bases[0], X, support, coefficients)
        weights = coefficients @ self.features(support).astype(np.float64)
        whole = self.features(X).astype(np.float64) @ weights
        ends = np.concatenate(([0], np.cumsum(X.lengths)))
        sums = np.add.reduceat(np.append(shares, 0.0), ends[:-1]) * (X.lengths > 0)
        return shares + spread_evenly(X, whole - sums)

    def plan(self, X: Any, Y: Any = None) -> Plan:
        """Return the Plan for this kernel on `X` (against `Y`): searches, the features of all, and their products.

        Parameters
        ----------
        X : SequenceSet, list of str, or table, n records
            The rows.
        Y : the same, m records, optional
            The columns; by default `X`.

        Returns
        -------
        Plan
        """
        self.check_parameters()
        sets = [self.coerce(Z) for Z in (X, Y) if Z is not None]
        samples, pairs = sum(map(len, sets)), len(sets[0]) * len(sets[-1]) / (2 if Y is None else 1)
        d = self._most_features(len(sets[0]))
        form = self.bases[0].vector_form()
        width = 0 if form is None or not samples else max(form.width(Z) for Z in sets if len(Z))
        factors = self._products(width, d)
        each = d * VALUE_SECONDS + width * GATHER_SECONDS + factors * SINGLE_SECONDS
        seconds = samples * each + pairs * d * PRODUCT_SECONDS + search_seconds(self.bases[0], sets)
        return Plan("features", seconds, 20 * d * samples + 4 * (CHUNK_ROWS * width + factors))

    def _most_features(self, n: int) -> int:
        """Return the number of features, as far as it is known before a fit to n samples."""
        return self.n_components

    def _products(self, width: int, d: int) -> int:
        """Return the products of two numbers for the features of a sample, as many as factors are stored."""
        return d * width + d * (d + PANEL_COLUMNS) // 2


def search_seconds(kernel: Kernel, sets: Sequence[Any]) -> float:
    """Return the CPU seconds that a kernel, and those inside it, are predicted to search for profiles of samples.

    Parameters
    ----------
    kernel : Kernel
        Of any kind.
    sets : sequence of SequenceSet or FeatureTable
        The samples.

    Returns
    -------
    float
    """
    search = getattr(kernel, "search_seconds", None)
    own = 0.0 if search is None else float(search(*sets))
    return own + sum(search_seconds(base, sets) for base in getattr(kernel, "bases", ()))
