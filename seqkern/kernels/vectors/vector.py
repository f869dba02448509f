"""Kernels of vectors: linear on the rows of a table; polynomial, radial and sigmoid on any kernel at all.

The last three are functions of a block of another kernel and its two diagonals. On a table of features that
other kernel is the linear one; with ``base=`` it is whatever is given, for ‖x − y‖² = K(x, x) + K(y, y) −
2 K(x, y) in the feature space of any kernel K.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import LabelError, SequenceError
from seqkern.core.parameters import changed, component, fixed, integer, real
from seqkern.core.types import Arrays, Header
from seqkern.kernels.additive import matrix, over_root, row_attributions, spread_evenly, word_weights
from seqkern.kernels.base import LAST_PARAMETERS, Kernel
from seqkern.kernels.blocks import row_blocks
from seqkern.kernels.composite import CompositeKernel, PreparedParts, as_parts
from seqkern.kernels.implicit import SparseImplicit
from seqkern.kernels.occurrences import WordWeights
from seqkern.kernels.specs import build_kernel
from seqkern.kernels.vector_form import DenseTable, VectorForm
from seqkern.kernels.vectors import _vector
from seqkern.sequences.tables import Data, FeatureTable

PRODUCT_SECONDS = 7e-11  # of CPU, for one product of two numbers in `_vector.products`
FUNCTION_SECONDS = 1e-8  # for one exponential or power


@dataclass(frozen=True)
class PreparedVectors:
    """Vectors as rows, and the same transposed: the layout in which products of many columns are fast.

    Attributes
    ----------
    values : ndarray of float64, shape (n, d)
        A row for each sample.
    transposed : ndarray of float64, shape (d, n)
        C-ordered, or some columns of such an array.
    columns : tuple of str
        Names of the features.
    """

    values: npt.NDArray[np.float64]
    transposed: npt.NDArray[np.float64]
    columns: tuple[str, ...]
    least_block_rows: ClassVar[int] = 128  # all columns are packed for each block

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, start: int, stop: int) -> "PreparedVectors":
        """Return some of the vectors, as a view.

        Parameters
        ----------
        start, stop : int
            Vectors `start` to `stop` − 1.

        Returns
        -------
        PreparedVectors
        """
        return PreparedVectors(self.values[start:stop], self.transposed[:, start:stop], self.columns)

    def diagonal(self) -> npt.NDArray[np.float64]:
        """Return float64 (n,): x · x, summed in the order of `_vector.products`."""
        result = np.empty(len(self))
        _vector.squares(self.values, result)
        return result


class LinearKernel(Kernel):
    """Dot product of feature vectors: K(x, y) = x · y.

    Raises
    ------
    SequenceError
        If two tables have different columns.

    Examples
    --------
    >>> from seqkern.kernels import LinearKernel
    >>> LinearKernel()([[1.0, 2.0], [3.0, -1.0]])
    array([[ 5.,  1.],
           [ 1., 10.]])
    >>> LinearKernel(normalize=True)([[1.0, 2.0], [3.0, -1.0]]).round(3)
    array([[1.   , 0.141],
           [0.141, 1.   ]])
    """

    name = "linear"
    summary = "The dot product of two vectors of numbers."
    accepts = "features"

    normalize: bool = changed(default=False, doc="Whether to divide by ‖x‖ ‖y‖: the cosine.")

    @classmethod
    def examples(cls) -> list["LinearKernel"]:
        """Return kernels for the contract suite."""
        return [cls(), cls(normalize=True, zero_diagonal="zero")]

    def _prepare(self, X: FeatureTable, like: PreparedVectors | None) -> PreparedVectors:
        if like is not None and like.columns != X.columns:
            odd = [name for name in X.columns if name not in like.columns] or ["their order"]
            raise SequenceError(
                f"tables with {len(X.columns)} and {len(like.columns)} features, which differ in {odd[0]}",
                remedy="give both the same columns in the same order",
            )
        return PreparedVectors(X.values, np.ascontiguousarray(X.values.T), X.columns)

    def _block(self, rows: PreparedVectors, cols: PreparedVectors, out: npt.NDArray[np.float64]) -> None:
        _vector.products(rows.values, cols.transposed, out)

    def features(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the vectors themselves.

        Parameters
        ----------
        X : FeatureTable or array_like, shape (n, d)
            The samples.

        Returns
        -------
        ndarray of float64, shape (n, d)
        """
        return self.coerce(X).values

    def feature_names(self, columns: Sequence[str]) -> Sequence[str]:
        """Return the names of the features: those of the table's columns.

        Parameters
        ----------
        columns : tuple of str
            Those of the table.

        Returns
        -------
        tuple of str
            `columns`.
        """
        return columns

    def vector_form(self) -> VectorForm | None:
        """Return how this kernel is a function of vectors: those of the table; None if it is normalised."""
        if self.normalize:
            return None
        return VectorForm("linear", lambda X, dtype=np.float32: DenseTable(self.coerce(X).values.astype(dtype)))

    def _implicit(self, X: FeatureTable) -> SparseImplicit:
        return SparseImplicit.of(X.values)

    def implicit_bytes(self, X: Any) -> int:
        """Return the memory that the rows take, compressed, in the making and as they are kept.

        Parameters
        ----------
        X : FeatureTable or array_like, shape (n, d)
            The training samples.

        Returns
        -------
        int
        """
        values = self.coerce(X).values
        return 28 * values.size + 8 * values.shape[1]

    def _fold(
        self, columns: PreparedVectors, coefficients: npt.NDArray[np.float64]
    ) -> Callable[[PreparedVectors], npt.NDArray[np.float64]]:
        weights = np.empty((1, columns.values.shape[1]))
        _vector.products(coefficients[None, :], columns.values, weights)

        def values(rows: PreparedVectors) -> npt.NDArray[np.float64]:
            out = np.empty((len(rows), 1))
            _vector.products(rows.values, weights.T.copy(), out)
            return out[:, 0]

        return values


class _KernelOfKernel(CompositeKernel):
    """Base of the kernels that are a function of one other kernel: `base`, or the linear one."""

    words_vary = True
    last_parameters = ("base", *LAST_PARAMETERS)

    base: Kernel | None = component(
        "kernel", default=None, doc="K; by default the linear kernel, on a table of features."
    )

    def _given(self) -> list[Kernel]:
        return as_parts(self.name, [LinearKernel() if self.base is None else self.base])

    def _change(
        self,
        block: npt.NDArray[np.float64],
        row_diagonal: npt.NDArray[np.float64],
        col_diagonal: npt.NDArray[np.float64],
    ) -> None:
        """Replace a block of the base kernel by this kernel's, in place."""
        raise NotImplementedError

    def _combine_diagonals(self, diagonals: list[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
        result = diagonals[0].copy()
        self._change(result[None, :], result, result)
        return result

    def _block(self, rows: PreparedParts, cols: PreparedParts, out: npt.NDArray[np.float64]) -> None:
        self.bases[0].block(rows.parts[0], cols.parts[0], out)
        self._change(out, rows.parts[0].diagonal, cols.parts[0].diagonal)

    def _slopes(
        self,
        block: npt.NDArray[np.float64],
        row_diagonal: npt.NDArray[np.float64],
        col_diagonal: npt.NDArray[np.float64],
    ) -> npt.NDArray[np.float64]:
        """Return (f(K) − f(0)) / K for a block of the base kernel, float64 (n, m), f'(0) where K is 0.

        It is computed without dividing a difference by a K near 0. f(0) is this kernel's value where the base
        kernel's is 0, and its diagonals are as they are.
        """
        raise NotImplementedError

    def _shares(
        self, X: Data, support: Data, coefficients: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return what rests on the base kernel's value: its coefficients, float64 (n, m); and the rest, (n,)."""
        block, *diagonals = matrix(self.bases[0], X, support)
        nothing = np.zeros_like(block)
        self._change(nothing, *diagonals)
        return coefficients * self._slopes(block, *diagonals), nothing @ coefficients

    def _attribute(self, X: Any, support: Any, coefficients: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        shares, rest = self._shares(X, support, coefficients)
        return row_attributions(self.bases[0], X, support, shares) + spread_evenly(X, rest)

    def _word_weights(self, X: Any, support: Any, coefficients: npt.NDArray[np.float64]) -> WordWeights:
        shares, _ = self._shares(X, support, coefficients)
        return word_weights(self.bases[0], X, support, shares.mean(axis=0))


class PolynomialKernel(_KernelOfKernel):
    """Polynomial of a kernel: (gamma · K(x, y) + coef0)^degree.

    Examples
    --------
    >>> from seqkern.kernels import PolynomialKernel, SpectrumKernel
    >>> PolynomialKernel(degree=2)([[1.0, 2.0], [3.0, -1.0]])
    array([[ 36.,   4.],
           [  4., 121.]])
    >>> PolynomialKernel(degree=3, coef0=0, base=SpectrumKernel(k=2, normalize=False))(["GATTACA", "ATTA"])
    array([[216.,  27.],
           [ 27.,  27.]])
    """

    name = "polynomial"
    summary = "Looks at combinations of features, not only at single ones."

    degree: int = integer(default=2, low=1, doc="The power.")
    gamma: float = real(default=1.0, low=0, open_low=True, doc="Factor of K.")
    coef0: float = real(default=1.0, low=0, doc="With 0 the polynomial is homogeneous.")

    @classmethod
    def examples(cls) -> list[Kernel]:
        """Return kernels for the contract suite."""
        return [cls(), build_kernel("polynomial:degree=3,gamma=0.5,normalize=true,base=(spectrum:k=2)")]

    def _change(
        self,
        block: npt.NDArray[np.float64],
        row_diagonal: npt.NDArray[np.float64],
        col_diagonal: npt.NDArray[np.float64],
    ) -> None:
        _vector.polynomial(block, self.gamma, self.coef0, self.degree)

    def vector_form(self) -> VectorForm | None:
        """Return how this kernel is a function of vectors; None unless the base is linear on them."""
        form = self.bases[0].vector_form()
        if form is None or form.kind != "linear" or self.normalize:
            return None
        return replace(form, kind="polynomial", gamma=self.gamma, degree=self.degree, coef0=self.coef0)

    def _slopes(
        self,
        block: npt.NDArray[np.float64],
        row_diagonal: npt.NDArray[np.float64],
        col_diagonal: npt.NDArray[np.float64],
    ) -> npt.NDArray[np.float64]:
        # u^d − v^d = (u − v)·(u^(d − 1) + u^(d − 2)·v + … + v^(d − 1)), by Horner's rule
        sums, power = np.zeros_like(block), 1.0
        for _ in range(self.degree):
            sums = sums * (self.gamma * block + self.coef0) + power
            power *= self.coef0
        return self.gamma * sums


LEARNED = ("scale", "jaakkola")


class RBFKernel(_KernelOfKernel):
    """Radial basis function of a kernel's distances: exp(−gamma · ‖x − y‖²).

    Examples
    --------
    >>> from seqkern.kernels import RBFKernel, SpectrumKernel
    >>> RBFKernel(gamma=0.1)([[1.0, 2.0], [3.0, -1.0]]).round(3)
    array([[1.   , 0.273],
           [0.273, 1.   ]])
    >>> kernel = RBFKernel(gamma="scale", base=SpectrumKernel(k=2)).fit(["GATTACA", "ATTA", "CCGG"])
    >>> kernel(["GATTACA"], ["ATTA", "CCGG"]).round(3)
    array([[0.317, 0.02 ]])
    >>> round(kernel.gamma_, 3)
    1.963
    """

    name = "rbf"
    summary = "Similar where the distance is small, falling off like a bell curve."

    gamma: float | str = real(
        default=1.0,
        low=0,
        open_low=True,
        words=LEARNED,
        doc='``"scale"``: 1 / the total variance of the training part in the feature space of K, learned by `fit`. On '
        'standardised features that is 1 / their number. ``"jaakkola"``: 1 / (2 σ²), σ the median over the '
        "positive training examples of the distance to the nearest negative one (Jaakkola, Diekhans, Haussler, J "
        "Comput Biol 7, 2000); of several classes, over all examples of the distance to the nearest of another "
        "class.",
    )
    base: Kernel | None = changed(
        default=None,
        doc="K, of which ‖x − y‖² = K(x, x) + K(y, y) − 2 K(x, y), at least 0; by default the linear kernel, on a "
        "table of features. For K normalised, exp(c · (K − 1)) is ``gamma=c/2``.",
    )
    normalize: bool = fixed(False)
    zero_diagonal: Literal["error", "zero"] = fixed("error")

    @classmethod
    def examples(cls) -> list[Kernel]:
        """Return kernels for the contract suite."""
        texts = "rbf:gamma=scale", "rbf:gamma=0.5,base=(spectrum:k=2)", "rbf:gamma=jaakkola,base=(spectrum:k=2)"
        return [cls(), *map(build_kernel, texts)]

    @property
    def data_dependent(self) -> bool:  # type: ignore[override]  # here it follows from the parameters
        """Whether gamma or the base is learned from the data."""
        return self.gamma in LEARNED or super().data_dependent

    def _fit(self, X: Data, y: npt.ArrayLike | None) -> None:
        super()._fit(X, y)
        if self.gamma == "scale":
            variance = total_variance(self.bases[0], X)
            self.gamma_ = 1.0 / variance if variance > 0 else 1.0
        if self.gamma == "jaakkola":
            square = nearest_other(self.bases[0], X, y) ** 2
            self.gamma_ = 1.0 / (2.0 * square) if square > 0 else 1.0

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays): gamma, and the base's."""
        header, arrays = super().fitted_state()
        return ({**header, "gamma": self.gamma_} if self.gamma in LEARNED and self.fitted else header), arrays

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Set what `fitted_state` returned.

        Parameters
        ----------
        header : dict
            Its JSON part.
        arrays : dict of str to ndarray
            Its arrays.
        """
        super().restore_fitted(header, arrays)
        if "gamma" in header:
            self.gamma_ = header["gamma"]

    def _combine_diagonals(self, diagonals: list[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
        return np.ones(len(diagonals[0]))

    def _change(
        self,
        block: npt.NDArray[np.float64],
        row_diagonal: npt.NDArray[np.float64],
        col_diagonal: npt.NDArray[np.float64],
    ) -> None:
        _vector.radial(block, row_diagonal, col_diagonal, self._gamma())

    def _gamma(self) -> float:
        """Return gamma, given or learned."""
        return self.gamma_ if isinstance(self.gamma, str) else self.gamma

    def vector_form(self) -> VectorForm | None:
        """Return how this kernel is a function of vectors; None unless the base is linear on them."""
        form = self.bases[0].vector_form()
        if form is None or form.kind != "linear":
            return None
        gamma = getattr(self, "gamma_", None) if isinstance(self.gamma, str) else self.gamma
        return replace(form, kind="rbf", gamma=gamma)

    def _slopes(
        self,
        block: npt.NDArray[np.float64],
        row_diagonal: npt.NDArray[np.float64],
        col_diagonal: npt.NDArray[np.float64],
    ) -> npt.NDArray[np.float64]:
        # exp(e) with e = −γ·(distance at K = 0) and exp(e + d), both exponents at most 0
        far = -self._gamma() * (row_diagonal[:, None] + col_diagonal)
        linear = 2 * self._gamma() * block
        start = np.minimum(far, 0)
        step = np.minimum(linear + np.maximum(far, 0), -start)
        differences = np.where(
            step > 1, np.exp(start + step) - np.exp(start), np.exp(start) * np.expm1(np.minimum(step, 1))
        )
        limit = np.where(far <= 0, 2 * self._gamma() * np.exp(start), 0.0)
        return np.divide(differences, block, out=limit, where=block != 0)


class SigmoidKernel(_KernelOfKernel):
    """Sigmoid of a kernel: tanh(gamma · K(x, y) + coef0). Not positive semi-definite.

    Examples
    --------
    >>> from seqkern.kernels import SigmoidKernel
    >>> SigmoidKernel(gamma=0.1)([[1.0, 2.0], [3.0, -1.0]]).round(3)
    array([[0.462, 0.1  ],
           [0.1  , 0.762]])
    """

    name = "sigmoid"
    summary = "The similarity of a neural network's hidden layer."
    positive_semidefinite = False

    gamma: float = real(default=1.0, low=0, open_low=True, doc="Factor of K.")
    coef0: float = real(default=0.0, doc="What is added to it.")
    normalize: bool = fixed(False)
    zero_diagonal: Literal["error", "zero"] = fixed("error")

    @classmethod
    def examples(cls) -> list[Kernel]:
        """Return kernels for the contract suite."""
        return [cls(gamma=0.1), build_kernel("sigmoid:gamma=0.5,coef0=-1,base=(spectrum:k=2)")]

    def _change(
        self,
        block: npt.NDArray[np.float64],
        row_diagonal: npt.NDArray[np.float64],
        col_diagonal: npt.NDArray[np.float64],
    ) -> None:
        _vector.sigmoid(block, self.gamma, self.coef0)

    def _slopes(
        self,
        block: npt.NDArray[np.float64],
        row_diagonal: npt.NDArray[np.float64],
        col_diagonal: npt.NDArray[np.float64],
    ) -> npt.NDArray[np.float64]:
        # tanh(u) − tanh(v) = tanh(u − v)·(1 − tanh(u)·tanh(v))
        step = self.gamma * block
        slopes = np.divide(np.tanh(step), block, out=np.full_like(block, self.gamma), where=block != 0)
        return slopes * (1 - np.tanh(step + self.coef0) * np.tanh(self.coef0))


def total_variance(kernel: Kernel, X: Data) -> float:
    """Return the mean of ‖x − mean‖² in a kernel's feature space: mean K(x, x) − mean K(x, y).

    The latter is ‖mean‖², which of vectors takes no matrix.

    Parameters
    ----------
    kernel : Kernel
        Fitted, if it learns from data.
    X : SequenceSet or table
        The samples.

    Returns
    -------
    float

    Examples
    --------
    >>> from seqkern.sequences.tables import FeatureTable
    >>> total_variance(LinearKernel(), FeatureTable([[1.0, 0.0], [3.0, 4.0]]))
    5.0
    """
    prepared = kernel.prepare(X)
    n = len(prepared)
    if isinstance(kernel, LinearKernel):
        vectors = prepared.payload.values
        if kernel.normalize:
            vectors = vectors * over_root(np.ones(n), prepared.raw_diagonal)[:, None]
        return float(prepared.diagonal.mean() - (vectors.mean(axis=0) ** 2).sum())
    total = 0.0
    for start, stop in row_blocks(n, n):
        # The columns before `start` are the mirror image of earlier blocks.
        block = kernel.block(prepared.rows(start, stop), prepared.rows(start, n))
        total += block[:, : stop - start].sum() + 2.0 * block[:, stop - start :].sum()
    return float(prepared.diagonal.mean() - total / n**2)


def nearest_other(kernel: Kernel, X: Data, y: npt.ArrayLike | None) -> float:
    """Return the median, over the positive examples, of the distance to the nearest other in a kernel's feature space.

    The positive ones are those of the greater of two labels; of several classes they are all examples.

    Parameters
    ----------
    kernel : Kernel
        Fitted, if it learns from data.
    X : SequenceSet or table, n records
        The samples.
    y : array_like, shape (n,), or None
        Their labels.

    Returns
    -------
    float

    Raises
    ------
    LabelError
        If there are no labels, or all are the same.

    Examples
    --------
    >>> from seqkern.sequences.tables import FeatureTable
    >>> nearest_other(LinearKernel(), FeatureTable([[0.0], [1.0], [3.0]]), [-1, 1, 1])
    2.0
    """
    y = None if y is None else np.asarray(y)
    if y is None or y.shape != (len(X),) or len(np.unique(y)) < 2:
        raise LabelError(
            "gamma=jaakkola is learned from examples of two classes or more", remedy="give labels, or another gamma"
        )
    classes = np.unique(y)
    chosen = np.arange(len(X)) if len(classes) > 2 else np.flatnonzero(y == classes[-1])
    cols = kernel.prepare(X)
    rows = kernel.prepare(X.take(chosen), like=cols)
    nearest = np.empty(len(chosen))
    for start, stop in row_blocks(len(chosen), len(X)):
        squares = cols.diagonal - 2.0 * kernel.block(rows.rows(start, stop), cols)
        squares[y[chosen[start:stop], None] == y] = np.inf
        nearest[start:stop] = rows.diagonal[start:stop] + squares.min(axis=1)
    return float(np.median(np.sqrt(np.maximum(nearest, 0.0))))
