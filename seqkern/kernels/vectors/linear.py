"""The linear kernel of vectors: their dot product."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from seqkern.core.errors import SequenceError
from seqkern.core.parameters import changed, text
from seqkern.core.types import Floats
from seqkern.kernels import _blocks
from seqkern.kernels.blocks import check_vanished
from seqkern.kernels.capabilities import Products, Traits, capability
from seqkern.kernels.features import DenseTable, Features, VectorForm
from seqkern.kernels.kernel import LAST_PARAMETERS, Kernel
from seqkern.kernels.kernel_operator import SparseImplicit
from seqkern.kernels.vectors import _vector
from seqkern.sequences.joining import vectors_of
from seqkern.sequences.tables import FeatureTable, SimilarityTable, as_features

SMALL = 1e38  # a number of single precision

PRODUCT_SECONDS = 7e-11  # of CPU, for one product of two numbers in `_vector.products`
FUNCTION_SECONDS = 1e-8  # for one exponential or power


@dataclass(frozen=True)
class PreparedVectors:
    """The vectors of n samples as rows (n, d), and transposed (d, n) for fast products of many columns."""

    values: Floats  # shape (n, d): A row for each sample
    transposed: Floats  # shape (d, n): C-ordered, or columns of such an array
    columns: tuple[str, ...]  # Names of the features
    largest: float = -1.0  # No absolute value exceeds it; by default it is looked for
    least_block_rows: ClassVar[int] = 128  # each block packs all columns

    def __post_init__(self) -> None:
        if self.largest < 0:
            object.__setattr__(self, "largest", _blocks.largest(self.values))

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, start: int, stop: int) -> "PreparedVectors":
        """Return the vectors `start` to `stop` − 1, as a view."""
        return PreparedVectors(self.values[start:stop], self.transposed[:, start:stop], self.columns, self.largest)

    def diagonal(self) -> Floats:
        """Return x·x of each vector, float64 (n,), summed in the order of `_vector.products`."""
        result = np.empty(len(self))
        _vector.squares(self.values, result)
        return result


class LinearKernel(Kernel):
    """Linear kernel: the dot product of feature vectors.

    It suits tables of many informative features, and embeddings of sequences.

    Raises
    ------
    SequenceError
        If two tables have different columns, or two sets of sequences vectors of different length.

    Notes
    -----
    .. math:: K(x, y) = x · y

    Complexity: O(d) per pair of vectors with d features.

    Definiteness: positive semi-definite.

    References
    ----------
    Schölkopf, Smola: Learning with Kernels. MIT Press, 2002.

    Examples
    --------
    >>> from seqkern.kernels import LinearKernel
    >>> LinearKernel()([[1.0, 2.0], [3.0, -1.0]])
    array([[ 5.,  1.],
           [ 1., 10.]])
    >>> LinearKernel(normalize=True)([[1.0, 2.0], [3.0, -1.0]]).round(3)
    array([[1.   , 0.141],
           [0.141, 1.   ]])

    With `view` the samples are sequences, and the vectors those of a view:

    >>> from seqkern import SequenceSet
    >>> X = SequenceSet.from_strings(["MKV", "GKV"]).replace(views={"esm": [[0.5, 1], [2, 0]]})
    >>> LinearKernel(view="esm")(X)
    array([[1.25, 1.  ],
           [1.  , 4.  ]])
    """

    name = "linear"
    summary = "The dot product of two feature vectors."
    traits = Traits(accepts=None, accepts_words="features, or sequences with a view")
    last_parameters = ("view", *LAST_PARAMETERS)

    view: str | None = text(
        default=None,
        doc="Name of a view of the sequences, such as embeddings: a vector for each sequence. By default the samples "
        "are rows of a feature table. On the command line, give the file with ``--view NAME=FILE``.",
    )
    normalize: bool = changed(default=False, doc="Divide by ‖x‖ ‖y‖: the cosine.")

    tested_with = ({}, {"normalize": True, "zero_diagonal": "zero"})

    def _traits(self, declared: Traits) -> Traits:
        view = self.view
        return replace(
            declared, accepts="features" if view is None else "sequences", views=() if view is None else (view,)
        )

    def _table(self, X: Any) -> FeatureTable:
        """Return the vectors of the samples, which are a table, or sequences with the kernel's view."""
        X = self.coerce(X)
        if self.view is None:
            return X
        values = vectors_of(X, self.view)
        return FeatureTable(values, X.ids, [f"{self.view}{j}" for j in range(1, values.shape[1] + 1)])

    def _prepare(self, X: Any, like: PreparedVectors | None) -> PreparedVectors:
        X = self._table(X)
        if like is not None and like.columns != X.columns:
            if self.view is not None:
                raise SequenceError(
                    f"the vectors of the view {self.view!r} have {len(X.columns)} numbers, those of other sequences "
                    f"{len(like.columns)}",
                    remedy="compute all with the same program and model",
                )
            odd = [name for name in X.columns if name not in like.columns] or ["their order"]
            raise SequenceError(
                f"tables with {len(X.columns)} and {len(like.columns)} features differ in {odd[0]}",
                remedy="give both tables the same columns in the same order",
            )
        return PreparedVectors(X.values, np.ascontiguousarray(X.values.T), X.columns)

    def _count_policies(self, X: Any, raw: Floats, counts: dict[str, int]) -> dict[str, int]:
        if not raw.all():
            check_vanished(self, X.ids, np.abs(self._table(X).values).max(axis=1, initial=0.0), raw)
        return super()._count_policies(X, raw, counts)

    def _block(self, rows: PreparedVectors, cols: PreparedVectors, out: Floats) -> float | None:
        _vector.products(rows.values, cols.transposed, out)
        # no sum exceeds this, and it costs less than a look at all values
        bound = rows.values.shape[1] * rows.largest * cols.largest
        return bound if bound < SMALL else None

    @capability
    def features(self) -> Features:
        """The vectors themselves."""
        plain = self.view is None and not self.normalize
        return Features(
            self,
            lambda X: self._table(X).values,
            self._feature_names,
            self._implicit_bytes,
            with_gaps=(lambda X: as_features(X, "keep").values) if plain else None,
        )

    def _feature_names(self, records: Any) -> Sequence[str]:
        """Return the names of the features: the table's columns, or the view's name with numbers from 1."""
        return as_features(records, "keep").columns if self.view is None else self._table(records).columns

    def _vector_form(self) -> VectorForm | None:
        """Return this kernel as a function of the vectors of the table; None if it is normalised."""
        if self.normalize:
            return None
        return VectorForm(
            "linear",
            lambda X, dtype=np.float32: DenseTable(self._table(X).values.astype(dtype)),
            lambda X: self._table(X).values.shape[1],
        )

    @capability
    def implicit(self) -> Products:
        """The vectors as compressed rows."""
        return Products(self, lambda X: SparseImplicit.of(self._table(X).values), self._implicit_bytes)

    def _implicit_bytes(self, X: Any) -> int:
        """Return the bytes of the compressed rows, during and after construction."""
        values = self._table(X).values
        return 28 * values.size + 8 * values.shape[1]

    def _fold(self, columns: PreparedVectors, coefficients: Floats) -> Callable[[PreparedVectors], Floats]:
        weights = np.empty((1, columns.values.shape[1]))
        _vector.products(coefficients[None, :], columns.values, weights)

        def values(rows: PreparedVectors) -> Floats:
            out = np.empty((len(rows), 1))
            _vector.products(rows.values, weights.T.copy(), out)
            return out[:, 0]

        return values


# The precomputed kernel: a table of similarities or dissimilarities.


@dataclass(frozen=True)
class PreparedTable:
    """Rows of a similarity table."""

    table: SimilarityTable

    def __len__(self) -> int:
        return len(self.table)

    def rows(self, start: int, stop: int) -> "PreparedTable":
        """Return the samples `start` to `stop` − 1, as a view."""
        return PreparedTable(self.table.take(slice(start, stop)))

    def diagonal(self) -> Floats:
        """Return the kernel of each sample with itself, float64 (n,)."""
        index = self.table.index
        return as_kernel_values(self.table.values[index, index], self.table.kind)


class PrecomputedKernel(Kernel):
    """Precomputed kernel: a table of similarities or dissimilarities.

    It suits similarities or distances computed elsewhere.

    Raises
    ------
    SequenceError
        If rows and columns come from two tables, or the table is not symmetric.

    Notes
    -----
    Similarities S are used as they are, dissimilarities D as −D²/2:

    .. math:: K(x, y) = S(x, y)  or  K(x, y) = −D(x, y)^2 / 2

    If D are distances of points in a Euclidean space, −D²/2 with its rows and columns centred (the transform
    ``centre``) is their Gram matrix.

    Complexity: O(1) per pair.

    Definiteness: depends on the table. −D²/2 is not positive semi-definite before centring, nor after it if the space
    is not Euclidean; the transform ``repair`` makes it so. The P-SVM needs neither.

    References
    ----------
    Torgerson: Multidimensional scaling: I. Theory and method. Psychometrika 17, 1952.

    Examples
    --------
    >>> from seqkern.kernels import PrecomputedKernel
    >>> from seqkern.sequences.tables import SimilarityTable
    >>> table = SimilarityTable([[0.0, 3.0], [3.0, 0.0]], kind="dissimilarities")
    >>> PrecomputedKernel()(table)
    array([[-0. , -4.5],
           [-4.5, -0. ]])
    """

    name = "precomputed"
    summary = "Similarities or distances from a table."
    traits = Traits(accepts="similarities", definite=False)

    normalize: bool = changed(default=False, doc="Divide by sqrt(K(x, x)·K(y, y)); for similarities only.")

    tested_with = ({}, {"normalize": True})

    def _prepare(self, X: SimilarityTable, like: PreparedTable | None) -> PreparedTable:
        square = X.block(X, X)
        odd = np.argwhere(square != square.T)
        if len(odd):
            i, j = odd[0]
            raise SequenceError(
                f"the table is not symmetric: {square[i, j]:g} and {square[j, i]:g} with {X.ids[j]!r}",
                record=X.ids[i],
                remedy="average the table with its transpose, or give its rows as features",
            )
        return PreparedTable(X)

    def _block(self, rows: PreparedTable, cols: PreparedTable, out: Floats) -> None:
        out[...] = as_kernel_values(SimilarityTable.block(rows.table, cols.table), rows.table.kind)


def as_kernel_values(values: Floats, kind: str) -> Floats:
    """Return similarities as they are, dissimilarities D as −D²/2.

    >>> as_kernel_values(np.array([1.0, 3.0]), "dissimilarities")
    array([-0.5, -4.5])
    """
    return values if kind == "similarities" else -0.5 * values**2
