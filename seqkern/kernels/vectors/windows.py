"""Windows of residues as vectors, and kernels between them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, Self, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.parameters import changed, choice, integer, numbers, positive, real, text
from seqkern.core.types import Arrays, Floats, Header, Ints
from seqkern.formats.profiles import check_tracks
from seqkern.kernels.capabilities import Traits, capability
from seqkern.kernels.composite import PreparedParts, ThroughKernel
from seqkern.kernels.decisions import attributions
from seqkern.kernels.features import BLOCK_ROWS, Features, VectorForm
from seqkern.kernels.gradients import Gradient, KernelGradient, Square
from seqkern.kernels.kernel import LAST_PARAMETERS, Kernel, SequenceKernel
from seqkern.kernels.prepared import Plan
from seqkern.kernels.profile_tracks import ProfileTracks
from seqkern.kernels.substitution_scores import matrix_names, matrix_scores
from seqkern.kernels.vectors.linear import FUNCTION_SECONDS, PRODUCT_SECONDS, LinearKernel, PreparedVectors
from seqkern.kernels.vectors.vector_kernels import PolynomialKernel, RBFKernel, TanimotoKernel
from seqkern.sequences.alphabets import MASK, Alphabet
from seqkern.sequences.sequence_set import SequenceSet

# Vectors of overlapping windows, with each position stored once.
#
# Windows around neighbouring residues are views of the same chain. Each used position is encoded once; the
# vector φ of a window is a contiguous run of the table.


class Coding(Protocol):
    """Encoding of a residue as numbers, such as a `LetterCoding`."""

    def columns(self, alphabet: Alphabet) -> list[str]:
        """Return the names of the columns."""

    def vectors(self, X: SequenceSet, positions: Ints) -> Floats:
        """Return the encodings of the residues at `positions` in ``X.codes``, float64 (p, columns)."""


@dataclass(frozen=True, eq=False)
class WindowTable:
    """The vectors φ of n windows, with each position stored once.

    `values` are the encodings of the used positions, `starts` the place of each window's start among these, and
    `factors` the square roots of the position weights.
    """

    values: npt.NDArray[np.floating[Any]]  # shape (positions, columns): The encoding of each used position
    starts: Ints  # shape (n,): Start of each window among them
    factors: Floats  # shape (length,): Square roots of the position weights

    @classmethod
    def of(cls, X: SequenceSet, coding: "Coding", weights: Floats, dtype: npt.DTypeLike = np.float64) -> Self:
        """Return the table of windows of one length, encoded by `coding`.

        `weights` has the weight of each position of a window.
        """
        positions, starts = X.used_positions()
        values = coding.vectors(X, positions).astype(dtype, copy=False)
        return cls(np.ascontiguousarray(values), starts, np.sqrt(weights))

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def width(self) -> int:
        """The number of coordinates of a vector."""
        return len(self.factors) * self.values.shape[1]

    def gather(self, rows: Any = slice(None)) -> npt.NDArray[np.floating[Any]]:
        """Return the vectors φ of the given windows (default: all), shape (m, width), C-ordered."""
        starts, columns = self.starts[rows], self.values.shape[1]
        if not len(starts) or not self.width:
            return np.zeros((len(starts), self.width), dtype=self.values.dtype)
        runs = np.lib.stride_tricks.sliding_window_view(self.values.reshape(-1), self.width)
        vectors = runs[starts * columns]
        if (self.factors != 1).any():
            vectors *= np.repeat(self.factors, columns).astype(vectors.dtype)
        return vectors


class LetterCoding:
    """Base of encodings by letter: a subclass defines `lookup` and `columns`."""

    def lookup(self, alphabet: Alphabet) -> Floats:
        """Return the encoding of each letter, shape (size + 1, columns); the last row is for masked residues."""
        raise NotImplementedError

    def columns(self, alphabet: Alphabet) -> list[str]:
        """Return the names of the columns."""
        raise NotImplementedError

    def vectors(self, X: SequenceSet, positions: Ints) -> Floats:
        """Return the encodings of the residues at `positions` in ``X.codes``, float64 (p, columns)."""
        return self.lookup(X.alphabet)[np.minimum(X.codes[positions], X.alphabet.size)]


def total_variance(table: "WindowTable") -> float:
    """Return the mean of ‖φ − mean‖² over the vectors of a table, in a single pass over blocks.

    >>> total_variance(WindowTable(np.array([[1.0], [3.0], [5.0]]), np.array([0, 1]), np.ones(2)))
    2.0
    """
    first = table.gather(slice(0, 1)).sum(axis=0)
    total, sums = 0.0, np.zeros(table.width)
    for start in range(0, len(table), BLOCK_ROWS):
        vectors = table.gather(slice(start, start + BLOCK_ROWS)) - first
        total += float(np.einsum("ij,ij->", vectors, vectors))
        sums += vectors.sum(axis=0)
    n = max(len(table), 1)
    return total / n - float(((sums / n) ** 2).sum())


# Kernels between windows of one length, as functions of vectors φ(x) that encode each position.
#
# A kernel defines a `coding` of residues, such as `LetterCoding` or PSSM rows. The last number of every
# coding flags a missing residue: it is 1, and the other numbers are 0, beyond the ends of the chain and at
# masked residues.

SHAPES = ("flat", "triangle", "gaussian")
END = "end"  # name of the coordinate of positions without a residue


def position_weights(weights: str | Sequence[float], length: int) -> Floats:
    """Return the weight of each position of a window of `length` residues, with mean 1 unless a list is given.

    The weights are all 1 ("flat"), or proportional to 1 − d / (h + 1) ("triangle") or exp(−(2·d / h)²)
    ("gaussian"), where d is the distance from the centre, and h the distance of the window's ends from it.

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
    """Raise ParameterError if all position weights are 0."""
    if not isinstance(weights, str) and not any(weights):
        raise ParameterError("all position_weights are 0", remedy="give at least one position a weight above 0")


def window_table(
    X: SequenceSet, coding: Coding, weights: str | list[float], dtype: npt.DTypeLike = np.float64
) -> WindowTable:
    """Return the vectors of windows of one length."""
    return WindowTable.of(X, coding, position_weights(weights, int(X.lengths.max(initial=0))), dtype)


class WindowVectorKernel(ThroughKernel, SequenceKernel):
    """Base of kernels between windows: K(x, y) = k(φ(x), φ(y)) with a kernel k of vectors.

    A subclass defines `coding`.
    """

    traits = Traits(equal_lengths=True, data_dependent=None)
    last_parameters = ("vector_kernel", "gamma", "degree", "coef0", "position_weights", *LAST_PARAMETERS)

    vector_kernel: Literal["rbf", "polynomial", "linear", "tanimoto"] = choice(
        default="rbf",
        doc="k: exp(−γ·‖φ(x) − φ(y)‖²), (γ·φ(x)·φ(y) + coef0)^degree, φ(x)·φ(y), or "
        'φ(x)·φ(y) / (‖φ(x)‖² + ‖φ(y)‖² − φ(x)·φ(y)). Only ``"linear"`` has explicit features.',
    )
    gamma: float | str = positive(
        0.05, 'γ; ``"scale"``, for ``"rbf"`` only, is 1 / the total variance of the training vectors.', words=("scale",)
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
        """The encoding of a residue as named numbers."""
        raise NotImplementedError

    def _seen(self, X: SequenceSet) -> SequenceSet:
        """Return `X` in the form that the coding takes."""
        return X

    @property
    def _learns_gamma(self) -> bool:
        """Whether gamma is learned."""
        return self.vector_kernel == "rbf" and self.gamma == "scale"

    def _traits(self, declared: Traits) -> Traits:
        found = super()._traits(declared)
        return replace(found, data_dependent=bool(found.data_dependent) or self._learns_gamma)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_position_weights(self.position_weights)
        if isinstance(self.gamma, str) and not self.traits.data_dependent:
            remedy = "give a number > 0" + (" or scale" if self.vector_kernel == "rbf" else "")
            raise ParameterError(f"gamma={self.gamma!r} is not possible", remedy=remedy)

    def _fit(self, X: SequenceSet, y: npt.ArrayLike | None) -> None:
        super()._fit(X, y)
        if self._learns_gamma:
            variance = total_variance(self.table(self._seen(X)))
            self.gamma_ = 1.0 / variance if variance > 0 else 1.0

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays) with gamma, if it is learned."""
        header, arrays = super().fitted_state()
        return (header | {"gamma": self.gamma_} if hasattr(self, "gamma_") else header), arrays

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore the state returned by `fitted_state`."""
        super().restore_fitted(header, arrays)
        if "gamma" in header:
            self.gamma_ = header["gamma"]

    def learned(self) -> dict[str, float]:
        """Return the learned gamma by name; empty if it is given."""
        return super().learned() | ({"gamma": self.gamma_} if hasattr(self, "gamma_") else {})

    # ---- vectors --------------------------------------------------------------------------------

    def table(self, X: SequenceSet, dtype: npt.DTypeLike = np.float64) -> WindowTable:
        """Return the vectors φ of windows as a WindowTable."""
        return window_table(X, self.coding, self.position_weights, dtype)

    def _vector_form(self) -> VectorForm | None:
        """Return this kernel as a function of vectors; None if normalisation changes its values."""
        if self.vector_kernel == "tanimoto" or (self.normalize and self.vector_kernel != "rbf"):
            return None
        gamma = getattr(self, "gamma_", None) if isinstance(self.gamma, str) else self.gamma

        def vectors(X: Any, dtype: npt.DTypeLike = np.float32) -> WindowTable:
            return self.table(self._seen(self.coerce(X)), dtype)

        return VectorForm(self.vector_kernel, vectors, self.width, gamma, self.degree, self.coef0)

    def width(self, X: Any) -> int:
        """Return the number of coordinates of φ, without its computation."""
        X = self.coerce(X)
        return int(X.lengths.max(initial=0)) * len(self.coding.columns(X.alphabet))

    @capability
    def features(self) -> Features:
        """The vectors of the linear kernel."""
        self._check_linear()
        return Features(self, lambda X: self.table(self._seen(X)).gather(), self._feature_names)

    def _feature_names(self, X: Any) -> list[str]:
        """Return the names of the features of windows: position and column."""
        size = int(X.lengths.max(initial=0))
        columns = self.coding.columns(X.alphabet)
        return [f"{place - size // 2}:{column}" for place in range(size) for column in columns]

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
    def _through(self) -> Kernel:
        vectors = self._linear()
        if self.vector_kernel == "rbf":
            gamma = self.gamma_ if isinstance(self.gamma, str) else self.gamma
            return RBFKernel(gamma=gamma, base=vectors)
        if self.vector_kernel == "polynomial":
            return PolynomialKernel(degree=self.degree, gamma=cast(float, self.gamma), coef0=self.coef0, base=vectors)
        return TanimotoKernel(base=vectors) if self.vector_kernel == "tanimoto" else vectors

    # ---- derivatives ----------------------------------------------------------------------------

    def _own_tunable(self) -> dict[str, float]:
        names = {"rbf": ["gamma"], "polynomial": ["gamma", "coef0"]}.get(self.vector_kernel, [])
        known = {"gamma": getattr(self, "gamma_", None) if isinstance(self.gamma, str) else self.gamma}
        values = {name: known.get(name, self.coef0) for name in names}
        return {name: float(value) for name, value in values.items() if value is not None}

    def _derivative(self, name: str, at: KernelGradient) -> Square:
        return Gradient(self._through)(self._seen(at.X)).derivative(name)

    # ---- prepared sets --------------------------------------------------------------------------

    def _prepare(self, X: SequenceSet, like: PreparedParts | None) -> PreparedParts:
        windows = self._through.prepare(self._seen(X), None if like is None else like.parts[0])
        return PreparedParts((windows,), windows.diagonal)

    def _attribute(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> Floats:
        return attributions(self._through, self._seen(X), self._seen(support), coefficients)

    def _plan(self, X: Any, Y: Any) -> Plan:
        sets = [Z for Z in (X, Y) if Z is not None]
        width = max(map(self.width, sets))
        rows, cols = len(sets[0]), len(sets[-1])
        pairs = rows * cols / (2 if Y is None else 1)
        seconds = pairs * (PRODUCT_SECONDS * width + FUNCTION_SECONDS * (self.vector_kernel != "linear"))
        return Plan("vectors", seconds, 16 * width * sum(map(len, sets)))


class WindowVectors(Kernel):
    """The exact dot product of windows, the base of the vector kernels of `WindowVectorKernel`."""

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

    def _block(self, rows: PreparedVectors, cols: PreparedVectors, out: Floats) -> None:
        if len(cols):  # without windows there is no length
            LinearKernel._block(self, rows, cols, out)  # type: ignore[arg-type]  # it uses nothing of the kernel

    _fold = LinearKernel._fold

    def _attribute(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> Floats:
        shape = (-1, int(X.lengths.max(initial=0)), len(self.coding.columns(X.alphabet)))
        weights = (coefficients @ self._table(support).gather()).reshape(shape[1:])
        return np.einsum("nlc,lc->nl", self._table(X).gather().reshape(shape), weights).reshape(-1)


# The window kernel: the residues around a residue as a vector (Hua & Sun 2001).

ONE_HOT = "one_hot"


class WindowKernel(WindowVectorKernel):
    """Window kernel: the neighbours of a residue as a vector.

    It suits the prediction of residue states, such as secondary structure. Sequences are windows of one length, such as
    those around every residue of a data set with the key ``residues``.

    Notes
    -----
    φ(x) has for each position one number for each letter of the alphabet, and one more that is 1 where there is no
    residue: beyond the ends of the chain, and where a residue is masked; there the others are 0. With k the RBF,
    polynomial or linear kernel of vectors,

    .. math:: K(x, y) = k(φ(x), φ(y))

    With one-hot letters and flat weights ‖φ(x) − φ(y)‖² is twice the number of positions where two windows differ.

    Complexity: O(b·L) per pair of windows of length L over an alphabet of b letters.

    Definiteness: positive semi-definite.

    References
    ----------
    Qian, Sejnowski: Predicting the secondary structure of globular proteins using neural network models. Journal of
    Molecular Biology 202, 1988 (one-hot windows with a letter for the ends).

    Hua, Sun: A novel method of protein secondary structure prediction with high segment overlap measure: support vector
    machine approach. Journal of Molecular Biology 308, 2001.

    Examples
    --------
    Windows that differ at one position, and at all positions:

    >>> from seqkern.kernels import WindowKernel
    >>> WindowKernel(gamma=0.1, alphabet="protein")(["MKVLA", "MKILA", "GGSGP"]).round(3)
    array([[1.   , 0.819, 0.368],
           [0.819, 1.   , 0.368],
           [0.368, 0.368, 1.   ]])
    >>> WindowKernel(encoding="BLOSUM62", gamma=0.1, alphabet="protein")(["MKVLA"], ["MKILA", "MKDLA"]).round(3)
    array([[0.991, 0.792]])
    """

    name = "window"
    summary = "Compares the residues around a central residue, position by position."

    encoding: str = text(
        default=ONE_HOT,
        remedy="choose one_hot, or a substitution matrix such as BLOSUM62",
        doc='``"one_hot"``: 1 for the residue present, 0 for the others. Or the name of a '
        'substitution matrix such as ``"BLOSUM62"``: the residue\'s row of scores, scaled so that '
        "rows have squared length 1 on average.",
    )
    gamma: float | str = changed(default=0.1)

    tested_with = (
        {},
        {"encoding": "BLOSUM62", "gamma": "scale", "position_weights": "triangle", "alphabet": "protein"},
        {"vector_kernel": "polynomial", "gamma": 0.05, "degree": 3, "position_weights": "gaussian", "normalize": True},
        {
            "vector_kernel": "linear",
            "position_weights": [0.0, 1.5, 0.7] * 8,
            "normalize": True,
            "zero_diagonal": "zero",
        },
        {"vector_kernel": "tanimoto", "position_weights": [0.2, 1.5, 0.7] * 8},
    )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.encoding not in (ONE_HOT, *matrix_names()):
            raise ParameterError(
                f"encoding={self.encoding!r} is not possible",
                remedy="choose one_hot, or a substitution matrix such as BLOSUM62",
            )

    @property
    def coding(self) -> "MatrixCoding":
        """Encoding of a residue as numbers."""
        return MatrixCoding(self.encoding)

    def _weights(self) -> list[float]:
        return [] if isinstance(self.position_weights, str) else [float(weight) for weight in self.position_weights]

    def _own_tunable(self) -> dict[str, float]:
        weights = {f"position_weights__{place}": weight for place, weight in enumerate(self._weights())}
        return super()._own_tunable() | weights

    def _derivative(self, name: str, at: KernelGradient) -> Square:
        if not name.startswith("position_weights__"):
            return super()._derivative(name, at)
        X, place = self._seen(at.X), int(name.rpartition("__")[2])
        positions = X.starts + place
        values = self.coding.vectors(X, positions)
        through = self._through
        product = values @ values.T
        if self.vector_kernel == "linear":
            return product
        return through._chained(0, Gradient(through)(X).parts, product)


@dataclass(frozen=True)
class MatrixCoding(LetterCoding):
    """Encoding of a residue: one-hot, or its row of a substitution matrix."""

    encoding: str  # As in `WindowKernel`

    def lookup(self, alphabet: Alphabet) -> Floats:
        """Return the encoding of each letter, shape (size + 1, size + 1); the last row is for masked residues."""
        rows = np.eye(alphabet.size + 1)
        if self.encoding != ONE_HOT:
            scores = matrix_scores(alphabet, self.encoding)
            rows[:-1, :-1] = scores / np.sqrt((scores**2).sum(axis=1).mean())
        return rows

    def columns(self, alphabet: Alphabet) -> list[str]:
        """Return the names of the columns: the letters, and ``end``."""
        return [*alphabet.letters, END]


# The PSSM window kernel: PSSM rows around a residue as a vector (Kim & Park 2003).

SCALINGS = ("logistic", "raw", "both")


class PSSMWindowKernel(ProfileTracks, WindowVectorKernel):
    """PSSM window kernel: the PSSM rows around a residue as a vector.

    It suits the prediction of residue states, such as secondary structure, from profiles. Sequences are windows of one
    length around a residue. The key ``residues`` of a data set cuts one around every residue of its chains; the keys
    ``window`` and ``sites`` cut them around listed residues, where they fit inside the chain.

    Notes
    -----
    φ(x) has for each position the 20 scaled scores of the track ``pssm`` (one for each letter of the alphabet), and one
    more number that is 1 where there is no residue: beyond the ends of the chain, and where a residue is masked; there
    the others are 0. With k the RBF, polynomial or linear kernel of vectors,

    .. math:: K(x, y) = k(φ(x), φ(y))

    Complexity: O(b·L) per pair of windows of length L over an alphabet of b letters.

    Definiteness: positive semi-definite.

    References
    ----------
    Kim, Park: Protein secondary structure prediction based on an improved support vector machines approach. Protein
    Engineering 16, 2003.

    Jones: Protein secondary structure prediction based on position-specific scoring matrices. Journal of Molecular
    Biology 292, 1999 (the logistic scaling).

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import PSSMWindowKernel
    >>> windows = SequenceSet.from_strings(["MKV", "MRV"], "protein")
    >>> scores = np.random.default_rng(1).normal(scale=2, size=(6, 20))  # in place of a search
    >>> windows = windows.replace(tracks={"pssm": scores})
    >>> PSSMWindowKernel()(windows).round(3)
    array([[1.   , 0.601],
           [0.601, 1.   ]])
    """

    name = "pssm_window"
    summary = "Compares the PSSM rows around a central residue, position by position."
    traits = replace(WindowVectorKernel.traits, tracks=("pssm",))

    scaling: str = choice(
        default="logistic",
        choices=SCALINGS,
        doc="``logistic``: 1 / (1 + exp(−s / scale)), between 0 and 1; ``raw``: s / scale; ``both``: "
        "the logistic value and s / (3·scale), which have about the same variance.",
    )
    scale: float = positive(1.0, 'Divisor of the scores. For ``"both"``, about 3 works well.')
    search: Literal["training"] | None = changed(
        default=None,
        doc="Source of the PSSMs: tracks of the sequences, or a search against the training "
        "sequences, which finds little because windows are short.",
    )

    tested_with = (
        {},
        {"vector_kernel": "polynomial", "gamma": 0.02, "degree": 3, "normalize": True},
        {"scaling": "raw", "vector_kernel": "linear", "normalize": True, "zero_diagonal": "zero"},
        {"scaling": "raw", "gamma": "scale", "alphabet": "protein"},
        {"scaling": "both", "scale": 3.0, "vector_kernel": "linear", "position_weights": "gaussian"},
    )

    @property
    def coding(self) -> "ScoreCoding":
        """Encoding of a residue as numbers."""
        return ScoreCoding(self.scaling, self.scale)

    def _seen(self, X: SequenceSet) -> SequenceSet:
        return X if self.search is None else self.with_profiles(X)


@dataclass(frozen=True)
class ScoreCoding:
    """Encoding of a residue by its scaled row of the track ``pssm``.

    Scores are divided by `scale`, and scaled as in `PSSMWindowKernel`.
    """

    scaling: str  # As in `PSSMWindowKernel`
    scale: float  # What the scores are divided by

    def vectors(self, X: SequenceSet, positions: Ints) -> Floats:
        """Return the encodings of the residues at `positions` in ``X.codes``, float64 (p, columns)."""
        track = X.tracks["pssm"]
        if track.ndim != 2 or track.shape[1] != X.alphabet.size or not np.isfinite(track[positions]).all():
            check_tracks(X, ("pssm",))
        known = X.codes[positions] != MASK
        scores = track[positions[known]].astype(np.float64) / self.scale
        parts = {
            "logistic": lambda: (logistic(scores),),
            "raw": lambda: (scores,),
            "both": lambda: (logistic(scores), scores / 3),
        }[self.scaling]()
        vectors = np.zeros((len(positions), len(parts) * X.alphabet.size + 1))
        vectors[known, :-1] = np.hstack(parts)
        vectors[~known, -1] = 1.0
        return vectors

    def columns(self, alphabet: Alphabet) -> list[str]:
        """Return the names of the columns; with both scalings, raw scores are named ``A raw``."""
        beside = [f"{letter} raw" for letter in alphabet.letters] if self.scaling == "both" else []
        return [*alphabet.letters, *beside, END]


def logistic(scores: Floats) -> Floats:
    """Return the logistic function 1 / (1 + exp(−s)) of scores.

    >>> logistic(np.array([-2.0, 0.0, 2.0])).round(3)
    array([0.119, 0.5  , 0.881])
    """
    return 1.0 / (1.0 + np.exp(-scores))
