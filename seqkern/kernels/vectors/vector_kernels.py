"""Polynomial, RBF and sigmoid kernels, of vectors or of any kernel."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import LabelError, ParameterError
from seqkern.core.parameters import changed, choice, component, fixed, integer, positive, real, text
from seqkern.core.types import Arrays, Floats, Header
from seqkern.kernels.blocks import row_blocks
from seqkern.kernels.capabilities import Traits
from seqkern.kernels.composite import FROM_PARTS, CompositeKernel, PreparedParts, as_parts
from seqkern.kernels.decisions import kmer_weights, matrix, over_root, row_attributions, spread_evenly
from seqkern.kernels.features import VectorForm
from seqkern.kernels.gradients import KernelGradient, Square
from seqkern.kernels.kernel import LAST_PARAMETERS, Kernel
from seqkern.kernels.occurrences import KmerWeights
from seqkern.kernels.vectors import _vector
from seqkern.kernels.vectors.linear import LinearKernel
from seqkern.sequences.tables import Data

# Kernels that are a function of another kernel, computed from a block of its matrix and the two diagonals.
#
# On a table of features, or with ``view=`` on a view of sequences, the other kernel is linear; with ``base=``
# it is any kernel K, and ‖x − y‖² = K(x, x) + K(y, y) − 2 K(x, y) in its feature space.


class KernelOfKernel(CompositeKernel):
    """Base of kernels that are a function of another kernel: `base`, or the linear kernel."""

    traits = replace(FROM_PARTS, kmers_vary=True)
    last_parameters = ("base", "view", *LAST_PARAMETERS)

    base: Kernel | None = component(
        "kernel", default=None, doc="Base kernel; by default the linear kernel, on a table of features or a view."
    )
    view: str | None = text(
        default=None,
        doc="Name of a view of the sequences, such as embeddings, for the linear kernel in place of a base: "
        "``view=esm`` is short for ``base=(linear:view=esm)``.",
    )

    def _given(self) -> list[Kernel]:
        return as_parts(self.name, [LinearKernel(view=self.view) if self.base is None else self.base])

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.base is not None and self.view is not None:
            raise ParameterError(
                f"kernel {self.name!r} has both a base and a view",
                remedy="remove one of them, or give the base the view",
            )

    def _change(self, block: Floats, row_diagonal: Floats, col_diagonal: Floats) -> None:
        """Replace a block of the base kernel by the same block of this kernel, in place."""
        raise NotImplementedError

    def _combine_diagonals(self, diagonals: list[Floats]) -> Floats:
        result = diagonals[0].copy()
        self._change(result[None, :], result, result)
        return result

    def _nonzero(self, diagonals: list[Floats]) -> Floats:
        return np.zeros(len(diagonals[0]))  # by default it does not underflow, or zero is a value like others

    def _block(self, rows: PreparedParts, cols: PreparedParts, out: Floats) -> None:
        self.bases[0].block(rows.parts[0], cols.parts[0], out)
        self._change(out, rows.parts[0].diagonal, cols.parts[0].diagonal)

    def _nested(self) -> dict[str, Kernel]:
        return {"base": self.bases[0]}

    def _joined(self, parts: Sequence[Square]) -> Square:
        out, diagonal = parts[0].copy(), parts[0].diagonal().copy()
        self._change(out, diagonal, diagonal)
        return out

    def _slopes(self, block: Floats, row_diagonal: Floats, col_diagonal: Floats) -> Floats:
        """Return (f(K) − f(0)) / K for a block of the base kernel, float64 (n, m), f'(0) where K is 0.

        It is computed without dividing by a K near 0. f(0) is the value of this kernel if the base kernel is 0, with
        unchanged diagonals.
        """
        raise NotImplementedError

    def _shares(self, X: Data, support: Data, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return the coefficients of the base kernel values, float64 (n, m), and the rest of each decision, (n,)."""
        block, *diagonals = matrix(self.bases[0], X, support)
        nothing = np.zeros_like(block)
        self._change(nothing, *diagonals)
        return coefficients * self._slopes(block, *diagonals), nothing @ coefficients

    def _attribute(self, X: Any, support: Any, coefficients: Floats) -> Floats:
        shares, rest = self._shares(X, support, coefficients)
        return row_attributions(self.bases[0], X, support, shares) + spread_evenly(X, rest)

    def _kmer_weights(self, X: Any, support: Any, coefficients: Floats) -> KmerWeights:
        shares, _ = self._shares(X, support, coefficients)
        return kmer_weights(self.bases[0], X, support, shares.mean(axis=0))


# The polynomial kernel, of vectors or of any kernel.


class PolynomialKernel(KernelOfKernel):
    """Polynomial kernel of vectors, or of any base kernel.

    It suits classes that depend on combinations of features.

    Notes
    -----
    With B the base kernel, by default the dot product,

    .. math:: K(x, y) = (γ B(x, y) + coef0)^{degree}

    Complexity: as the base kernel's, plus O(1) per pair.

    Definiteness: positive semi-definite if the base kernel is.

    References
    ----------
    Boser, Guyon, Vapnik: A training algorithm for optimal margin classifiers. Fifth Annual Workshop on Computational
    Learning Theory, 1992.

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
    summary = "Compares combinations of features, not only single ones."

    degree: int = integer(default=2, low=1, doc="The power.")
    gamma: float = real(default=1.0, low=0, open_low=True, doc="γ, the factor of the base kernel.")
    coef0: float = real(default=1.0, low=0, doc="Constant added before the power; 0 makes the polynomial homogeneous.")

    tested_with = ({}, "polynomial:degree=3,gamma=0.5,normalize=true,base=(spectrum:k=2)")

    def _change(self, block: Floats, row_diagonal: Floats, col_diagonal: Floats) -> None:
        _vector.polynomial(block, self.gamma, self.coef0, self.degree)

    def _own_tunable(self) -> dict[str, float]:
        return {"gamma": float(self.gamma), "coef0": float(self.coef0)}

    def _powers(self, base: Square) -> Square:
        """Return degree · (γ B + coef0)^(degree − 1) for the matrix B of the base kernel."""
        return np.asarray(self.degree * (self.gamma * base + self.coef0) ** (self.degree - 1))

    def _derivative(self, name: str, at: KernelGradient) -> Square:
        slopes = self._powers(at.parts[0])
        return slopes * at.parts[0] if name == "gamma" else slopes

    def _chained(self, number: int, parts: Sequence[Square], derivative: Square) -> Square:
        return self.gamma * self._powers(parts[0]) * derivative

    def _nonzero(self, diagonals: list[Floats]) -> Floats:
        return self.gamma * diagonals[0] + self.coef0

    def _vector_form(self) -> VectorForm | None:
        """Return this kernel as a function of vectors; None unless the base is linear on them."""
        form = self.bases[0]._vector_form()
        if form is None or form.kind != "linear" or self.normalize:
            return None
        return replace(form, kind="polynomial", gamma=self.gamma, degree=self.degree, coef0=self.coef0)

    def _slopes(self, block: Floats, row_diagonal: Floats, col_diagonal: Floats) -> Floats:
        # u^d − v^d = (u − v)·(u^(d − 1) + u^(d − 2)·v + … + v^(d − 1)), by Horner's rule
        sums, power = np.zeros_like(block), 1.0
        for _ in range(self.degree):
            sums = sums * (self.gamma * block + self.coef0) + power
            power *= self.coef0
        return self.gamma * sums


# The radial basis function kernel, of vectors or of any kernel, and the learning of its γ.

LEARNED = ("scale", "jaakkola")
VECTOR_KERNEL: Any = choice(default="linear", doc="The kernel of the vectors.")
VECTOR_GAMMA: Any = real(
    default="scale",
    low=0,
    open_low=True,
    words=("scale",),
    doc='γ of ``"rbf"``; ``"scale"`` is 1 / the total variance of the training vectors.',
)
"""Parameters of kernels that use a kernel of vectors."""


class RBFKernel(KernelOfKernel):
    r"""Radial basis function kernel of vectors, or of any base kernel.

    It suits classes without a linear border in the features.

    Notes
    -----
    With ‖x − y‖² = B(x, x) + B(y, y) − 2 B(x, y) for the base kernel B, by default the dot product,

    .. math:: K(x, y) = \exp(−γ ‖x − y‖^2)

    Complexity: as the base kernel's, plus O(1) per pair. Learning γ takes the Gram matrix of the base kernel on the
    training set, except ``gamma="scale"`` on vectors, which takes O(n·d) for n vectors with d features.

    Definiteness: positive semi-definite if the base kernel is.

    References
    ----------
    Schölkopf, Sung, Burges, Girosi, Niyogi, Poggio, Vapnik: Comparing support vector machines with Gaussian kernels to
    radial basis function classifiers. IEEE Transactions on Signal Processing 45, 1997.

    Jaakkola, Diekhans, Haussler: A discriminative framework for detecting remote protein homologies. Journal of
    Computational Biology 7, 2000 (``gamma="jaakkola"``).

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
    summary = "Similarity that decreases with the distance, like a bell curve."

    gamma: float | str | None = positive(
        None,
        "γ; by default 1, but ``scale`` with `view`. "
        '``"scale"``: 1 / the total variance of the training set in the feature space of the '
        "base kernel, learned by `fit`; on standardised features 1 / their number. "
        '``"jaakkola"``: 1 / (2σ²), with σ the median, over the positive training examples, of '
        "the distance to the nearest negative one; with several classes, over all examples, to "
        "the nearest of another class.",
        words=LEARNED,
        optional=True,
    )
    base: Kernel | None = changed(
        default=None,
        doc="Base kernel B, with ‖x − y‖² = B(x, x) + B(y, y) − 2 B(x, y), at least 0; by default the "
        "linear kernel, on a table of features. For a normalised base, ``gamma=c/2`` gives "
        "exp(c·(B − 1)).",
    )
    normalize: bool = fixed(False)
    zero_diagonal: Literal["error", "zero"] = fixed("error")

    tested_with = ({}, "rbf:gamma=scale", "rbf:gamma=0.5,base=(spectrum:k=2)", "rbf:gamma=jaakkola,base=(spectrum:k=2)")

    def _traits(self, declared: Traits) -> Traits:
        found = super()._traits(declared)
        return replace(found, data_dependent=self._rule in LEARNED or found.data_dependent)

    @property
    def _rule(self) -> float | str:
        """The value of γ, or the rule for learning it."""
        if self.gamma is not None:
            return self.gamma
        return 1.0 if self.view is None else "scale"

    def _fit(self, X: Data, y: npt.ArrayLike | None) -> None:
        super()._fit(X, y)
        if self._rule == "scale":
            variance = total_variance(self.bases[0], X)
            self.gamma_ = 1.0 / variance if variance > 0 else 1.0
        if self._rule == "jaakkola":
            square = nearest_other(self.bases[0], X, y) ** 2
            self.gamma_ = 1.0 / (2.0 * square) if square > 0 else 1.0

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays): gamma, and the base's state."""
        header, arrays = super().fitted_state()
        return ({**header, "gamma": self.gamma_} if hasattr(self, "gamma_") else header), arrays

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore the state returned by `fitted_state`."""
        super().restore_fitted(header, arrays)
        if "gamma" in header:
            self.gamma_ = header["gamma"]

    def _combine_diagonals(self, diagonals: list[Floats]) -> Floats:
        return np.ones(len(diagonals[0]))

    def _change(self, block: Floats, row_diagonal: Floats, col_diagonal: Floats) -> None:
        _vector.radial(block, row_diagonal, col_diagonal, self._gamma())

    def _own_tunable(self) -> dict[str, float]:
        known = not isinstance(self._rule, str) or hasattr(self, "gamma_")
        return {"gamma": float(self._gamma())} if known else {}

    def _derivative(self, name: str, at: KernelGradient) -> Square:
        return -_squared_distances(at.parts[0]) * at.raw

    def _chained(self, number: int, parts: Sequence[Square], derivative: Square) -> Square:
        return -self._gamma() * _distance_slopes(parts[0], derivative) * self._joined(parts)

    def _gamma(self) -> float:
        """Return gamma, given or learned."""
        return self.gamma_ if isinstance(self._rule, str) else self._rule

    def _vector_form(self) -> VectorForm | None:
        """Return this kernel as a function of vectors; None unless the base is linear on them."""
        form = self.bases[0]._vector_form()
        if form is None or form.kind != "linear":
            return None
        gamma = getattr(self, "gamma_", None) if isinstance(self._rule, str) else self._rule
        return replace(form, kind="rbf", gamma=gamma)

    def _slopes(self, block: Floats, row_diagonal: Floats, col_diagonal: Floats) -> Floats:
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


def _squared_distances(base: Square) -> Square:
    """Return ‖x − y‖² for all pairs, at least 0, from the matrix of the base kernel."""
    diagonal = base.diagonal()
    return np.maximum(diagonal[:, None] + diagonal - 2 * base, 0)


def _distance_slopes(base: Square, derivative: Square) -> Square:
    """Return the derivative of ‖x − y‖² from the base kernel's; 0 where a negative square was set to 0."""
    diagonal = derivative.diagonal()
    return np.where(_squared_distances(base) > 0, diagonal[:, None] + diagonal - 2 * derivative, 0.0)


def total_variance(kernel: Kernel, X: Data) -> float:
    """Return the mean of ‖x − mean‖² in a kernel's feature space: mean K(x, x) − mean K(x, y).

    The second mean is ‖mean‖², which needs no matrix for vectors.

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
    """Return the median distance from positive examples to the nearest example of another class, in feature space.

    Positive examples have the greater of two labels; with several classes, all examples count.

    >>> from seqkern.sequences.tables import FeatureTable
    >>> nearest_other(LinearKernel(), FeatureTable([[0.0], [1.0], [3.0]]), [-1, 1, 1])
    2.0
    """
    y = None if y is None else np.asarray(y)
    if y is None or y.shape != (len(X),) or len(np.unique(y)) < 2:
        raise LabelError(
            "gamma=jaakkola needs examples of at least two classes", remedy="give labels, or choose another gamma"
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


# The Tanimoto kernel of a kernel of vectors.


class TanimotoKernel(KernelOfKernel):
    """Tanimoto kernel K(x, y) = B(x, y) / (B(x, x) + B(y, y) − B(x, y)), 0 where all three are 0."""

    def _combine_diagonals(self, diagonals: list[Floats]) -> Floats:
        return np.where(diagonals[0] > 0, 1.0, 0.0)

    def _change(self, block: Floats, row_diagonal: Floats, col_diagonal: Floats) -> None:
        np.multiply(block, self._slopes(block, row_diagonal, col_diagonal), out=block)

    def _slopes(self, block: Floats, row_diagonal: Floats, col_diagonal: Floats) -> Floats:
        union = np.add.outer(row_diagonal, col_diagonal) - block
        return np.divide(1.0, union, out=np.zeros_like(union), where=union > 0)

    def _chained(self, number: int, parts: Sequence[Square], derivative: Square) -> Square:
        diagonal, change = parts[0].diagonal(), derivative.diagonal()
        inverse = self._slopes(parts[0], diagonal, diagonal)
        return inverse * (derivative - parts[0] * inverse * (np.add.outer(change, change) - derivative))


# The sigmoid kernel, of vectors or of any kernel.


class SigmoidKernel(KernelOfKernel):
    r"""Sigmoid kernel of vectors, or of any base kernel.

    It relates SVMs to neural networks with one hidden layer; prefer `rbf` unless you need it for comparison.

    Notes
    -----
    With B the base kernel, by default the dot product,

    .. math:: K(x, y) = \tanh(γ B(x, y) + coef0)

    Complexity: as the base kernel's, plus O(1) per pair.

    Definiteness: not positive semi-definite.

    References
    ----------
    Lin, Lin: A study on sigmoid kernels for SVM and the training of non-PSD kernels by SMO-type methods. Technical
    report, National Taiwan University, 2003.

    Examples
    --------
    >>> from seqkern.kernels import SigmoidKernel
    >>> SigmoidKernel(gamma=0.1)([[1.0, 2.0], [3.0, -1.0]]).round(3)
    array([[0.462, 0.1  ],
           [0.1  , 0.762]])
    """

    name = "sigmoid"
    summary = "The similarity that a unit of a neural network computes."
    traits = replace(KernelOfKernel.traits, definite=False)

    gamma: float = real(default=1.0, low=0, open_low=True, doc="γ, the factor of the base kernel.")
    coef0: float = real(default=0.0, doc="Constant added before tanh.")
    normalize: bool = fixed(False)
    zero_diagonal: Literal["error", "zero"] = fixed("error")

    tested_with = ({"gamma": 0.1}, "sigmoid:gamma=0.5,coef0=-1,base=(spectrum:k=2)")

    def _change(self, block: Floats, row_diagonal: Floats, col_diagonal: Floats) -> None:
        _vector.sigmoid(block, self.gamma, self.coef0)

    def _own_tunable(self) -> dict[str, float]:
        return {"gamma": float(self.gamma), "coef0": float(self.coef0)}

    def _derivative(self, name: str, at: KernelGradient) -> Square:
        slopes = 1 - at.raw**2
        return slopes * at.parts[0] if name == "gamma" else slopes

    def _chained(self, number: int, parts: Sequence[Square], derivative: Square) -> Square:
        return self.gamma * (1 - self._joined(parts) ** 2) * derivative

    def _slopes(self, block: Floats, row_diagonal: Floats, col_diagonal: Floats) -> Floats:
        # tanh(u) − tanh(v) = tanh(u − v)·(1 − tanh(u)·tanh(v))
        step = self.gamma * block
        slopes = np.divide(np.tanh(step), block, out=np.full_like(block, self.gamma), where=block != 0)
        return slopes * (1 - np.tanh(step + self.coef0) * np.tanh(self.coef0))
