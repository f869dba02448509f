"""Kernels between windows of one length, as functions of vectors φ(x) that encode each position.

A kernel defines a `coding` of residues, such as `LetterCoding` or PSSM rows. The last number of all codings is 1 where
there is no residue: beyond the ends of the chain, and at masked residues; there the other numbers are 0.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.parameters import changed, choice, integer, numbers, real
from seqkern.core.types import Arrays, Header
from seqkern.kernels.additive import attributions, fold
from seqkern.kernels.composite import PreparedParts
from seqkern.kernels.contract import LAST_PARAMETERS
from seqkern.kernels.kernel import Kernel, SequenceKernel
from seqkern.kernels.prepared import Plan
from seqkern.kernels.vector_form import VectorForm
from seqkern.kernels.vectors.linear import FUNCTION_SECONDS, PRODUCT_SECONDS, LinearKernel, PreparedVectors
from seqkern.kernels.vectors.polynomial import PolynomialKernel
from seqkern.kernels.vectors.rbf import RBFKernel
from seqkern.kernels.windows.window_table import Coding, WindowTable, total_variance
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet

SHAPES = ("flat", "triangle", "gaussian")
END = "end"  # name of the coordinate of positions without a residue


def position_weights(weights: str | Sequence[float], length: int) -> npt.NDArray[np.float64]:
    """Return the weight of each position of a window.

    Parameters
    ----------
    weights : {"flat", "triangle", "gaussian"} or list of float
        All 1; proportional to 1 − d / (h + 1) or exp(−(2·d / h)²), d the distance to the centre and h that of the ends
        of the window, with a mean of 1; or one for each position.
    length : int
        Of the window, in residues.

    Returns
    -------
    ndarray of float64, shape (length,)

    Raises
    ------
    ParameterError
        If a list has another length.

    Examples
    --------
    >>> position_weights("triangle", 5).round(2)
    array([0.56, 1.11, 1.67, 1.11, 0.56])
    """
    if length == 0:
        return np.zeros(0)
    if not isinstance(weights, str):
        if len(weights) != length:
            raise ParameterError(
                f"position_weights has {len(weights)} weights, a window {length} positions",
                remedy="give one weight for each position, or the name of a shape",
            )
        return np.array(weights, dtype=np.float64)
    half = max((length - 1) / 2, 0.5)
    distances = np.abs(np.arange(length) - (length - 1) / 2)
    shape = {"flat": np.ones(length), "triangle": 1 - distances / (half + 1)}
    values = np.exp(-((2 * distances / half) ** 2)) if weights == "gaussian" else shape[weights]
    return values / values.mean()


def check_position_weights(weights: str | list[float]) -> None:
    """Check that some position has a weight.

    Parameters
    ----------
    weights : str or list of float
        As in `position_weights`.

    Raises
    ------
    ParameterError
        If all of a list are 0.
    """
    if not isinstance(weights, str) and not any(weights):
        raise ParameterError("all position_weights are 0", remedy="give at least one position a weight above 0")


def window_table(
    X: SequenceSet, coding: Coding, weights: str | list[float], dtype: npt.DTypeLike = np.float64
) -> WindowTable:
    """Return the vectors of windows of one length.

    Parameters
    ----------
    X : SequenceSet
        The windows.
    coding : Coding
        Encoding of a residue as numbers.
    weights : str or list of float
        As in `position_weights`.
    dtype : {float64, float32}
        Of the table.

    Returns
    -------
    WindowTable
    """
    return WindowTable.of(X, coding, position_weights(weights, int(X.lengths.max(initial=0))), dtype)


class WindowVectorKernel(SequenceKernel):
    """Base of the kernels between windows: K(x, y) = k(φ(x), φ(y)), k a kernel of vectors.

    A subclass defines `coding`.
    """

    equal_lengths = True
    last_parameters = ("vector_kernel", "gamma", "degree", "coef0", "position_weights", *LAST_PARAMETERS)

    vector_kernel: Literal["rbf", "polynomial", "linear"] = choice(
        default="rbf",
        doc='k: exp(−γ·‖φ(x) − φ(y)‖²), (γ·φ(x)·φ(y) + coef0)^degree, or φ(x)·φ(y). Only ``"linear"`` '
        "has explicit features.",
    )
    gamma: float | str = real(
        default=0.05,
        low=0,
        open_low=True,
        words=("scale",),
        doc='γ; ``"scale"``, for ``"rbf"`` only, is 1 / the total variance of the training vectors.',
    )
    degree: int = integer(default=2, low=1, doc='Exponent, for ``"polynomial"`` only.')
    coef0: float = real(default=1.0, low=0, doc='Constant added before the power, for ``"polynomial"`` only.')
    position_weights: str | list[float] = numbers(
        default="flat",
        low=0,
        words=SHAPES,
        doc="Weight w_p of each position in products and squared distances, Σ_p w_p·φ_p(x)·φ_p(y). "
        "``flat``: 1; ``triangle`` and ``gaussian``: proportional to 1 − d / (h + 1) and "
        "exp(−(2·d / h)²), with d the distance to the centre and h that of the ends, 1 on "
        "average; or a list of your own.",
    )
    normalize: bool = changed(default=False, doc='Divide by sqrt(K(x, x)·K(y, y)); without effect for ``"rbf"``.')

    @property
    def coding(self) -> Coding:
        """Encoding of a residue as numbers, with their names."""
        raise NotImplementedError

    def _seen(self, X: SequenceSet) -> SequenceSet:
        """Return `X` in the form that the coding takes."""
        return X

    @property
    def _learns_gamma(self) -> bool:
        """Whether gamma is learned."""
        return self.vector_kernel == "rbf" and self.gamma == "scale"

    @property
    def data_dependent(self) -> bool:  # type: ignore[override]  # here it follows from the parameters
        """Whether gamma is learned."""
        return self._learns_gamma

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_position_weights(self.position_weights)
        if isinstance(self.gamma, str) and not self.data_dependent:
            remedy = "give a number > 0" + (" or scale" if self.vector_kernel == "rbf" else "")
            raise ParameterError(f"gamma={self.gamma!r} is not possible", remedy=remedy)

    def _fit(self, X: SequenceSet, y: npt.ArrayLike | None) -> None:
        super()._fit(X, y)
        if self._learns_gamma:
            variance = total_variance(self.table(self._seen(X)))
            self.gamma_ = 1.0 / variance if variance > 0 else 1.0

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays): gamma, where it is learned."""
        header, arrays = super().fitted_state()
        return (header | {"gamma": self.gamma_} if hasattr(self, "gamma_") else header), arrays

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore what `fitted_state` returned.

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

    def learned(self) -> dict[str, float]:
        """Return gamma, where it is learned."""
        return super().learned() | ({"gamma": self.gamma_} if hasattr(self, "gamma_") else {})

    # ---- vectors --------------------------------------------------------------------------------

    def table(self, X: SequenceSet, dtype: npt.DTypeLike = np.float64) -> WindowTable:
        """Return the vectors φ.

        Parameters
        ----------
        X : SequenceSet
            The windows.
        dtype : {float64, float32}
            Of the vectors.

        Returns
        -------
        WindowTable
        """
        return window_table(X, self.coding, self.position_weights, dtype)

    def vector_form(self) -> VectorForm | None:
        """Return this kernel as a function of vectors; None if it is normalised, unless that has no effect."""
        if self.normalize and self.vector_kernel != "rbf":
            return None
        gamma = getattr(self, "gamma_", None) if isinstance(self.gamma, str) else self.gamma

        def vectors(X: Any, dtype: npt.DTypeLike = np.float32) -> WindowTable:
            return self.table(self._seen(self.coerce(X)), dtype)

        return VectorForm(self.vector_kernel, vectors, self.width, gamma, self.degree, self.coef0)

    def width(self, X: Any) -> int:
        """Return the number of coordinates of φ, without its computation.

        Parameters
        ----------
        X : SequenceSet or list of str
            The windows.

        Returns
        -------
        int
        """
        X = self.coerce(X)
        return int(X.lengths.max(initial=0)) * len(self.coding.columns(X.alphabet))

    def features(self, X: Any) -> npt.NDArray[np.floating[Any]]:
        """Return φ with the square roots of the weights; for linear kernels only.

        Parameters
        ----------
        X : SequenceSet or list of str, n windows
            The samples.

        Returns
        -------
        ndarray of float64, shape (n, positions · columns)

        Raises
        ------
        ParameterError
            Unless `vector_kernel` is linear.
        """
        self._check_linear()
        self.check_parameters()
        return self.table(self._seen(self.coerce(X))).gather()

    def feature_names(self, alphabet: Alphabet | None = None, length: int | None = None) -> list[str]:
        """Return ``-7:A``, … for the features: position relative to the centre, and letter or ``end``.

        Parameters
        ----------
        alphabet : Alphabet, optional
            By default the kernel's own.
        length : int
            Of a window, in residues.

        Returns
        -------
        list of str
        """
        self._check_linear()
        known: Any = self.alphabet if alphabet is None else alphabet
        size = cast(int, length)
        columns = self.coding.columns(known)
        return [f"{place - size // 2}:{column}" for place in range(size) for column in columns]

    def check_features(self) -> None:
        """Raise ParameterError unless the kernel is linear."""
        self._check_linear()

    def _check_linear(self) -> None:
        if self.vector_kernel != "linear":
            raise ParameterError(
                f"kernel {self.name!r} with vector_kernel={self.vector_kernel} has no explicit features",
                remedy="choose vector_kernel=linear, or approximate it: nystroem:base=(…)",
            )

    # ---- exact blocks ---------------------------------------------------------------------------

    def _linear(self) -> "WindowVectors":
        """Return the kernel φ(x)·φ(y), the base of `between`."""
        return WindowVectors(self.coding, self.position_weights)

    @property
    def between(self) -> Kernel:
        """The exact kernel between windows, without normalisation."""
        vectors = self._linear()
        if self.vector_kernel == "rbf":
            gamma = self.gamma_ if isinstance(self.gamma, str) else self.gamma
            return RBFKernel(gamma=gamma, base=vectors)
        if self.vector_kernel == "polynomial":
            return PolynomialKernel(degree=self.degree, gamma=cast(float, self.gamma), coef0=self.coef0, base=vectors)
        return vectors

    def _prepare(self, X: SequenceSet, like: PreparedParts | None) -> PreparedParts:
        windows = self.between.prepare(self._seen(X), None if like is None else like.parts[0])
        return PreparedParts((windows,), windows.diagonal)

    def _block(self, rows: PreparedParts, cols: PreparedParts, out: npt.NDArray[np.float64]) -> None:
        self.between.block(rows.parts[0], cols.parts[0], out)

    def _fold(
        self, columns: PreparedParts, coefficients: npt.NDArray[np.float64]
    ) -> Callable[[PreparedParts], npt.NDArray[np.float64]] | None:
        values = fold(self.between, columns.parts[0], coefficients)
        return None if values is None else lambda rows: values(rows.parts[0])

    def _attribute(
        self, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        return attributions(self.between, self._seen(X), self._seen(support), coefficients)

    def plan(self, X: Any, Y: Any = None) -> Plan:
        """Return the Plan for this kernel on `X` (against `Y`): products of vectors, kept as rows and as columns.

        Parameters
        ----------
        X : SequenceSet or list of str, n records
            The rows.
        Y : the same, m records, optional
            The columns; by default `X`.

        Returns
        -------
        Plan
        """
        self.check_parameters()
        sets = [self.coerce(Z) for Z in (X, Y) if Z is not None]
        width = max(map(self.width, sets))
        rows, cols = len(sets[0]), len(sets[-1])
        pairs = rows * cols / (2 if Y is None else 1)
        seconds = pairs * (PRODUCT_SECONDS * width + FUNCTION_SECONDS * (self.vector_kernel != "linear"))
        return Plan("vectors", seconds, 16 * width * sum(map(len, sets)))


class WindowVectors(Kernel):
    """The exact dot product of windows, the base of the vector kernels of `WindowVectorKernel`.

    Parameters
    ----------
    coding : Coding
        Encoding of a residue as numbers.
    position_weights : str or list of float
        As in the function of that name.
    """

    def __init__(self, coding: Coding, position_weights: str | list[float]) -> None:
        self.coding = coding
        self.position_weights = position_weights

    def _table(self, X: SequenceSet) -> WindowTable:
        return window_table(X, self.coding, self.position_weights)

    def _prepare(self, X: SequenceSet, like: PreparedVectors | None) -> PreparedVectors:
        table = self._table(X)
        if like is not None:
            wanted = like.values.shape[1]
            if len(table) and len(like) and wanted != table.width:
                raise SequenceError(
                    f"is a window of {len(table.factors)} residues, others have {wanted // table.values.shape[1]}",
                    record=X.ids[0],
                    remedy="trim all windows to one length",
                )
            values: Any = table.gather() if len(table) else np.zeros((0, wanted))
        else:
            values = table.gather()
        return PreparedVectors(values, np.ascontiguousarray(values.T), ())

    def _block(self, rows: PreparedVectors, cols: PreparedVectors, out: npt.NDArray[np.float64]) -> None:
        if len(cols):  # without windows there is no length
            LinearKernel._block(self, rows, cols, out)  # type: ignore[arg-type]  # it uses nothing of the kernel

    _fold = LinearKernel._fold

    def _attribute(
        self, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        shape = (-1, int(X.lengths.max(initial=0)), len(self.coding.columns(X.alphabet)))
        weights = (coefficients @ self._table(support).gather()).reshape(shape[1:])
        return np.einsum("nlc,lc->nl", self._table(X).gather().reshape(shape), weights).reshape(-1)
