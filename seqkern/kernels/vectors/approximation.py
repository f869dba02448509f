"""Shared code of kernel approximations by explicit features: K(x, y) = φ(x)·φ(y), φ in single precision.

φ(x) is computed in two steps: values of x (its kernel with some landmarks, or waves) are multiplied by a
fixed matrix, the `map`. Threads share chunks of `CHUNK_ROWS` samples. Each product is summed by itself, not
by BLAS, so the bits of φ(x) depend on x alone, not on the samples beside it. Sums φ(x)·φ(y) are in double
precision.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from seqkern.core.archive import nest, unnest
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.parameters import changed, choice, component, flag, integer, share
from seqkern.core.threads import in_threads, one_thread
from seqkern.core.types import Array, Arrays, Floats, Header, Ints
from seqkern.kernels.blocks import remedy_of, without_warnings
from seqkern.kernels.capabilities import Products, Tables, Traits, capability
from seqkern.kernels.composite import FROM_PARTS, CompositeKernel, as_parts
from seqkern.kernels.decisions import attributions, spread_evenly
from seqkern.kernels.features import FeatureBlocks, Features, StoredProducts, VectorForm, normalised_vectors
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.occurrences import KmerWeights, Sums, Tallied, Tally
from seqkern.kernels.prepared import Plan, Prepared
from seqkern.kernels.vectors import _vector
from seqkern.kernels.vectors._vector import PANEL_COLUMNS, products
from seqkern.kernels.vectors.linear import PRODUCT_SECONDS, LinearKernel, PreparedVectors
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import Data, FeatureTable

# Products of vectors with a fixed matrix in single precision, with the same bits on every processor.
#
# BLAS rounds the rows of a product differently, depending on their position and the processor. Here each
# product is summed by itself, in the order of its terms: its bits depend on its vector and its column only.


class PackedMap:
    """A matrix packed in the order of multiplication, for ``values @ map``.

    The zeros at the top of its panels of columns are left out.
    """

    __array_ufunc__ = None  # NumPy leaves the product to this class

    def __init__(self, matrix: npt.NDArray[np.floating[Any]]) -> None:
        self.shape: tuple[int, int] = matrix.shape
        d, k = self.shape
        firsts = (matrix != 0).argmax(axis=0) if matrix.size else np.zeros(k, dtype=np.int64)
        columns = [slice(left, min(left + PANEL_COLUMNS, k)) for left in range(0, k, PANEL_COLUMNS)]
        self.tops = np.array([firsts[part].min() for part in columns], dtype=np.int64)
        self._starts = np.concatenate(([0], np.cumsum((d - self.tops) * PANEL_COLUMNS)))
        self._panels = np.zeros(self._starts[-1], dtype=np.float32)
        for part, top, start, stop in zip(columns, self.tops, self._starts[:-1], self._starts[1:], strict=True):
            panel = self._panels[start:stop].reshape(-1, PANEL_COLUMNS)
            panel[:, : part.stop - part.start] = matrix[top:, part]

    def __rmatmul__(self, values: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float32]:
        out = np.empty((len(values), self.shape[1]), dtype=np.float32)
        values = np.ascontiguousarray(values, dtype=np.float32)
        _vector.single_precision_product(values, self._panels, self._starts, self.tops, out)
        return out


def squares(vectors: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float32]:
    """Return the squared lengths of vectors, summed in double precision.

    >>> squares(np.array([[1, 2], [3, 4]], dtype=np.float32))
    array([ 5., 25.], dtype=float32)
    """
    out = np.empty(len(vectors), dtype=np.float32)
    _vector.single_precision_squares(np.ascontiguousarray(vectors, dtype=np.float32), out)
    return out


CHUNK_ROWS = 516  # 86 tiles of `_vector`; four chunks are `features.PRODUCT_ROWS`
GATHER_SECONDS = 1e-9
SINGLE_SECONDS = 1e-11  # of CPU, for one product of two numbers in single precision
STORED_SECONDS = 3.5e-9  # of CPU, for one number in single precision in a product K·v
VALUE_SECONDS = 1e-9  # for one exponential, power or wave in single precision
SINGLE = 1e-30, 1e30  # kernel values whose products with a map of their inverse roots are numbers of single precision


Values: TypeAlias = Callable[[npt.NDArray[np.int64]], npt.NDArray[np.floating[Any]]]
"""A function from at most `CHUNK_ROWS` row numbers to their values; see `in_chunks`."""


def in_chunks(
    rows: Ints,
    values: Values,
    matrix: PackedMap | Floats | None,
    width: int,
    n_threads: int | None,
) -> npt.NDArray[np.floating[Any]]:
    """Return ``values(rows) @ matrix``, shape (n, width), in chunks shared by threads.

    Without a matrix, the values themselves are returned.
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
    """Raise SequenceError if K(x, x) of the base kernel is too large or too small for single precision."""
    base = kernel.bases[0]
    largest = float(np.abs(base.diagonal(X.take(slice(0, CHUNK_ROWS)))).max(initial=0.0))
    if largest and not SINGLE[0] <= largest <= SINGLE[1]:
        raise too_far(kernel, "K(x, x) of its base kernel", largest)


def too_far(kernel: "ApproximateKernel", what: str, value: float) -> SequenceError:
    """Return the error for a value that is too large or too small for single precision."""
    return SequenceError(
        f"{what} is {value:g}, beyond {SINGLE[0]:g} to {SINGLE[1]:g}, and kernel {kernel.name!r} computes in single "
        "precision",
        remedy=remedy_of(kernel.bases[0], small=value < SINGLE[0]),
    )


class ApproximateKernel(CompositeKernel):
    """Base of the approximations of the kernel `base` by explicit features.

    A subclass adds the parameters `base` and `n_components`, and implements `_values`, and `_map` if needed.
    """

    traits = replace(FROM_PARTS, definite=True)
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
        """Return the number of columns and the function that computes the values of the samples `X`.

        The function takes an array of at most `CHUNK_ROWS` row numbers and returns float32 or float64 values (rows,
        columns), C-ordered. It is called from several threads.
        """
        raise NotImplementedError

    def _map(self) -> npt.NDArray[np.float32] | None:
        """Return the matrix that multiplies the values, float32 (columns, features), or None."""
        return None

    def _given(self) -> list[Kernel]:
        return as_parts(self.name, [self.base])

    def _traits(self, declared: Traits) -> Traits:
        return replace(super()._traits(declared), equal_lengths=self._given()[0].traits.equal_lengths)

    @capability
    def features(self) -> Features:
        """The approximate features."""
        return Features(self, self._approximate, size=self._feature_bytes, in_blocks=self._blocks, making=self._making)

    @capability
    def operator(self) -> Products:
        """Products with the approximate features, in memory."""

        def make(X: Any) -> StoredProducts:
            return StoredProducts(FeatureBlocks.of(self._approximate(X)))

        def seconds(X: Any) -> float:
            return STORED_SECONDS * self._most_features(len(X)) * len(X)

        return Products(self, make, self._feature_bytes, seconds, self._making)

    def _making(self, X: Any) -> float:
        """Return the predicted CPU seconds of the features of samples, and of a fit to them."""
        return self._plan(X, X.take(slice(0, 0))).seconds

    def _feature_bytes(self, X: Any) -> int:
        """Return the bytes of the features of samples, and of the work on them; a matrix takes 16 more for each."""
        base, own = self.bases[0], self._plan(X, X.take(slice(0, 0))).bytes
        return own - 16 * self._most_features(len(X)) * len(X) + (feature_bytes(base, X) if base._vector_form() else 0)

    def _approximate(self, X: Any) -> npt.NDArray[np.floating[Any]]:
        blocks = self._raw_blocks(X)
        return blocks.block(0, len(blocks))

    def _blocks(self, X: Any, counts: dict[str, int] | None = None) -> FeatureBlocks:
        """Return the features computed on demand, normalised if the kernel is."""
        self.check_parameters()
        self._check_fitted()
        raw = self._raw_blocks(X)
        if not self.normalize:
            return raw

        def compute(rows: Any) -> npt.NDArray[np.floating[Any]]:
            rows = np.arange(len(X))[rows]
            return normalised_vectors(self, X.take(rows), raw.take(rows).block(0, len(rows)))

        return FeatureBlocks(raw.shape, raw.dtype, compute)

    def _raw_blocks(self, X: Any) -> FeatureBlocks:
        """Return the features φ, not normalised, as FeatureBlocks."""
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

        def times(weights: Floats) -> Callable[[Any], Array]:
            weights = weights if matrix is None else self._fold_map(matrix, weights)
            return lambda rows: in_chunks(np.arange(len(X))[rows], values, weights, weights.shape[1], self.n_threads)

        return FeatureBlocks((len(X), width), np.float32, compute, times)

    def _pack(self, matrix: npt.NDArray[np.float32] | None) -> PackedMap | None:
        """Return the map packed for multiplication; cached."""
        if matrix is None:
            return None
        packed = getattr(self, "_packed", None)
        if packed is None or packed[0] is not matrix:
            self._packed = packed = matrix, PackedMap(matrix)
        return packed[1]

    def _fold_map(self, matrix: npt.NDArray[np.float32], weights: Floats) -> Floats:
        """Return ``matrix @ weights``, float64.

        The latest product is cached, because a model uses the same one for every sample.
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

    def _block(self, rows: PreparedVectors, cols: PreparedVectors, out: Floats) -> float | None:
        return LinearKernel._block(self, rows, cols, out)  # type: ignore[arg-type]  # it does not use the kernel

    _fold = LinearKernel._fold

    normalize: bool = changed(default=False, doc="Divide φ by its length.")

    def _attribute(self, X: SequenceSet, support: SequenceSet, coefficients: Floats) -> Floats:
        """Return the contributions of residues to the base kernel, plus the approximation error in equal shares."""
        shares = attributions(self.bases[0], X, support, coefficients)
        weights = coefficients @ self.features(support).astype(np.float64)
        whole = self.features(X).astype(np.float64) @ weights
        ends = np.concatenate(([0], np.cumsum(X.lengths)))
        sums = np.add.reduceat(np.append(shares, 0.0), ends[:-1]) * (X.lengths > 0)
        return shares + spread_evenly(X, whole - sums)

    def _plan(self, X: Any, Y: Any) -> Plan:
        sets = [Z for Z in (X, Y) if Z is not None]
        samples, pairs = sum(map(len, sets)), len(sets[0]) * len(sets[-1]) / (2 if Y is None else 1)
        d = self._most_features(len(sets[0]))
        form = self.bases[0]._vector_form()
        width = 0 if form is None or not samples else max(form.width(Z) for Z in sets if len(Z))
        factors = self._single_products(width, d)
        each = d * VALUE_SECONDS + width * GATHER_SECONDS + factors * SINGLE_SECONDS
        seconds = samples * each + pairs * d * PRODUCT_SECONDS + search_seconds(self.bases[0], sets)
        return Plan("features", seconds, 20 * d * samples + 4 * (CHUNK_ROWS * width + factors))

    def _most_features(self, n: int) -> int:
        """Return the maximum number of features known before a fit to n samples."""
        return self.n_components

    def _single_products(self, width: int, d: int) -> int:
        """Return the number of multiplications for a sample's features: as many as stored factors."""
        return d * width + d * (d + PANEL_COLUMNS) // 2


def feature_bytes(kernel: Kernel, X: Any) -> int:
    """Return the bytes of a kernel's explicit features, or, if it has none, of those of its parts."""
    if kernel.features:
        return kernel.features.bytes(X)
    return (
        sum(feature_bytes(part, kernel._seen(X)) for part in kernel.bases) if isinstance(kernel, CompositeKernel) else 0
    )


def search_seconds(kernel: Kernel, sets: Sequence[Any]) -> float:
    """Return the predicted CPU seconds that a kernel and its base kernels search for profiles of the samples."""
    search = getattr(kernel, "search_seconds", None)
    own = 0.0 if search is None else float(search(*sets))
    return own + sum(search_seconds(base, sets) for base in getattr(kernel, "bases", ()))


# Random Fourier features of radial basis functions (Rahimi & Recht 2007).

DRAW_SECONDS, DRAW_BYTES = 15e-9, 20
"""CPU seconds and bytes of a random number that is drawn, scaled, and rounded to single precision."""

ORTHOGONAL_SECONDS = 1.3e-10
"""CPU seconds of a number for each vector that it is made orthogonal to."""


class RandomFourierKernel(ApproximateKernel):
    r"""Random Fourier features: explicit features of an RBF kernel of vectors.

    It makes RBF kernels of dense vectors usable for large training sets. Nothing is learned from data. φ is computed in
    single precision.

    Notes
    -----
    With d features, and W with random rows, normally distributed with variance 2γ,

    .. math:: K(x, y) = φ(x) · φ(y),  φ(x) = \sqrt{2/d} (\cos(W x), \sin(W x))

    K(x, y) is exp(−γ·‖x − y‖²) in expectation, with a standard deviation of at most 1/√d.

    Complexity: O(w·d) per sample for vectors of w numbers, then O(d) per pair.

    Definiteness: positive semi-definite.

    References
    ----------
    Rahimi, Recht: Random features for large-scale kernel machines. NIPS 20, 2007.

    Yu, Suresh, Choromanski, Holtmann-Rice, Kumar: Orthogonal random features. NIPS 29, 2016.

    Examples
    --------
    >>> from seqkern.kernels import RandomFourierKernel, RBFKernel
    >>> X = [[0.0, 0.0], [1.0, 0.5], [2.0, 2.0]]
    >>> RBFKernel(gamma=0.5)(X).round(2)
    array([[1.  , 0.54, 0.02],
           [0.54, 1.  , 0.2 ],
           [0.02, 0.2 , 1.  ]])
    >>> features = RandomFourierKernel(RBFKernel(gamma=0.5), n_components=5000).features(X)
    >>> features.shape, features.dtype
    ((3, 5000), dtype('float32'))
    >>> bool(abs(features @ features.T - RBFKernel(gamma=0.5)(X)).max() < 0.05)
    True
    """

    name = "random_fourier"
    summary = "Approximates a radial basis function by random waves."
    made_again = (*ApproximateKernel.made_again, "_drawn")

    base: Kernel = component(
        "kernel",
        kw_only=False,
        doc="RBF kernel of dense vectors: a window kernel with ``vector_kernel=rbf``, or ``rbf`` on a "
        "table of numbers or on such a kernel of vectors.",
    )
    n_components: int = integer(default=1000, low=2, doc="d, the number of features, even.")
    orthogonal: bool = flag(
        default=True,
        doc="Make the rows of W orthogonal, in blocks as large as the number of coordinates, with "
        "independent lengths as before; this reduces the standard deviation.",
    )
    seed: int = integer(default=1, low=0, doc="Of W.")
    normalize: bool = changed(default=False, doc="Divide φ by its length, which is 1 up to rounding.")
    zero_diagonal: Literal["error", "zero"] = changed(default="error", doc="Without effect: no φ is 0.")

    tested_with = (
        "random_fourier:base=(window:gamma=0.05),n_components=20",
        "random_fourier:base=(pssm_window:gamma=scale),n_components=600,orthogonal=false",
        "random_fourier:base=(rbf:gamma=0.3),n_components=30,normalize=true",
    )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_components % 2:
            raise ParameterError(
                f"n_components={self.n_components} is odd, but each wave has two components",
                remedy=f"choose {self.n_components + 1}",
            )
        form = self._given()[0]._vector_form()
        if form is None or form.kind != "rbf":
            raise ParameterError(
                f"kernel {self._given()[0].name!r} is not a radial basis function of dense vectors",
                remedy="choose a kernel such as window or rbf, or the approximation nystroem",
            )

    def _form(self) -> VectorForm:
        """Return the base as a radial basis function of vectors, checked by `_check_parameters`."""
        return cast(VectorForm, self.bases[0]._vector_form())

    def _prepare(self, X: Data, like: PreparedVectors | None) -> PreparedVectors:  # type: ignore[override]  # no parts
        prepared = super()._prepare(X, like)
        width = str(self._form().vectors(X).width if len(X) else 0)
        if like is not None and len(X) and len(like) and like.columns != (width,):
            raise SequenceError(
                f"has {width} numbers, others {like.columns[0]}",
                record=X.ids[0],
                remedy="trim all windows to one length",
            )
        return PreparedVectors(prepared.values, prepared.transposed, (width,))

    def _values(self, X: Data) -> tuple[int, Callable[[Ints], npt.NDArray[np.float32]]]:
        form = self._form()
        table = form.vectors(X)
        waves = self._waves(table.width, cast(float, form.gamma))
        half = self.n_components // 2
        height = np.float32(half**-0.5)

        def values(rows: Ints) -> npt.NDArray[np.float32]:
            angles = table.gather(rows) @ waves
            out = np.empty((len(angles), 2 * half), dtype=np.float32)
            np.cos(angles, out=out[:, :half])
            np.sin(angles, out=out[:, half:])
            out *= height
            return out

        return self.n_components, values

    def _plan(self, X: Any, Y: Any) -> Plan:
        plan = super()._plan(X, Y)
        width = self._form().width(X) if len(X) else 0
        half = self.n_components // 2
        at_once = min(width, half) if self.orthogonal else 0
        numbers = width * half
        seconds = numbers * (DRAW_SECONDS + ORTHOGONAL_SECONDS * at_once)
        return replace(plan, seconds=plan.seconds + seconds, bytes=plan.bytes + DRAW_BYTES * numbers)

    def _single_products(self, width: int, d: int) -> int:
        """Return the number of multiplications for one sample's features."""
        return width * d // 2

    def _waves(self, width: int, gamma: float) -> PackedMap:
        """Return Wᵀ (width, d / 2), the same for each call."""
        key = width, gamma, self.n_components, self.orthogonal, self.seed
        drawn = getattr(self, "_drawn", None)
        if drawn is None or drawn[0] != key:
            self._drawn = drawn = key, PackedMap(draw_waves(*key))
        return drawn[1]


def draw_waves(width: int, gamma: float, n_components: int, orthogonal: bool, seed: int) -> npt.NDArray[np.float32]:
    """Return normal random vectors of variance 2·gamma as columns, float32 (width, n_components / 2).

    With `orthogonal`, each set of `width` vectors is orthogonal.

    >>> waves = draw_waves(3, gamma=0.5, n_components=6, orthogonal=True, seed=1)
    >>> bool(abs(waves[:, 0] @ waves[:, 1]) < 1e-6)
    True
    """
    rng = np.random.default_rng(seed)
    half = n_components // 2
    if not orthogonal:
        waves = rng.standard_normal((half, width)).T
    else:
        parts = []
        with one_thread():
            for start in range(0, half if width else 0, max(width, 1)):
                # no more than are needed: long vectors would need hours, and the memory of their square
                columns, triangle = np.linalg.qr(rng.standard_normal((width, min(width, half - start))))
                columns *= np.sign(np.diagonal(triangle))  # for a uniform distribution of directions
                parts.append(columns * np.sqrt(rng.chisquare(width, size=columns.shape[1])))
        waves = np.hstack(parts) if parts else np.zeros((width, half))
    return np.ascontiguousarray(waves * np.sqrt(2 * gamma), dtype=np.float32)


# Kernel values of vectors with fixed vectors, in single precision.


class LandmarkComparison:
    """Kernel values of vectors x with m fixed vectors z, float32.

    The product of two vectors has an error of about 10⁻⁷·‖x‖·‖z‖, so an RBF value would have a relative error
    of about 10⁻⁷·γ·(‖x‖ + ‖z‖)². Therefore the origin is moved to the mean of the fixed vectors, which shortens
    all vectors.
    """

    def __init__(self, form: VectorForm, fixed: npt.NDArray[np.float32]) -> None:
        self.form = form
        parts: list[Floats]
        if form.kind == "rbf":
            # −γ·‖x − z‖² as one product: (x, −γ‖x‖², 1)·(2γz, 1, −γ‖z‖²)
            self.centre = fixed.mean(axis=0, dtype=np.float64).astype(np.float32)
            centred = (fixed - self.centre).astype(np.float64)
            gamma = _gamma(form)
            lengths = np.einsum("ij,ij->i", centred, centred)
            parts = [2 * gamma * centred.T, np.ones((1, len(centred))), -gamma * lengths[None]]
        else:
            parts = [(_gamma(form) if form.kind == "polynomial" else 1.0) * fixed.T.astype(np.float64)]
        self.factor = PackedMap(np.vstack(parts))

    def __call__(self, vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return k(x, z), float32 (n, m), of vectors x, float32 (n, width)."""
        form = self.form
        if form.kind == "rbf":
            wide = np.ones((len(vectors), vectors.shape[1] + 2), dtype=np.float32)
            centred = vectors - self.centre
            wide[:, :-2] = centred
            wide[:, -2] = -_gamma(form) * squares(centred)
            out = wide @ self.factor
            np.minimum(out, 0, out=out)
            return np.exp(out, out=out)
        out = vectors @ self.factor
        if form.kind == "polynomial":
            out += np.float32(form.coef0)
            first = out.copy() if form.degree > 1 else out
            for _ in range(1, form.degree):
                out *= first
        return out


def exact(form: VectorForm, vectors: npt.NDArray[np.float32]) -> Floats:
    """Return k(z, z') for all pairs of m vectors, float64 (m, m), computed in double precision.

    >>> from seqkern.kernels import RBFKernel
    >>> exact(RBFKernel(gamma=0.5)._vector_form(), np.array([[0, 0], [2, 1]], np.float32)).round(3)
    array([[1.   , 0.082],
           [0.082, 1.   ]])
    """
    double = vectors.astype(np.float64)
    products = double @ double.T
    if form.kind == "rbf":
        squares = np.diagonal(products)
        return np.exp(-_gamma(form) * np.maximum(squares[:, None] + squares - 2 * products, 0))
    if form.kind == "polynomial":
        return (_gamma(form) * products + form.coef0) ** form.degree
    return products


def _gamma(form: VectorForm) -> float:
    """Return the known gamma of a form."""
    return cast(float, form.gamma)


# The Nyström approximation: features from the kernel with some landmarks (Williams & Seeger 2001).

PER_CENTRE = 20  # vectors, from which the centres are learned
KMEANS_BATCH = 4096
KMEANS_EPOCHS = 10

ROOT_SECONDS, ROOT_BYTES = 3e-10, 40
"""CPU seconds and bytes of the inverse root of m landmarks, for each of m³ and m² numbers."""


class NystroemKernel(ApproximateKernel):
    """Nyström approximation: explicit features from a few landmarks.

    It makes any base kernel usable for large training sets. `fit` draws the landmarks Z from the training samples.

    Notes
    -----
    With k(Z, Z) = U·Λ·Uᵀ, eigenvalues up to `tolerance` times the largest left out,

    .. math:: K(x, y) = φ(x) · φ(y),  φ(x) = k(x, Z) U Λ^{−1/2} Q

    This is k(x, Z)·k(Z, Z)⁺·k(Z, y), equal to the features of k(Z, Z)^(−1/2) up to a rotation that leaves one feature
    for each eigenvalue kept. The rotation Q is the one that makes the upper part of U Λ^{−1/2} Q triangular: it changes
    no φ(x) · φ(y), and nearly half of the products are with zeros, which are left out. Between landmarks K is k up to
    rounding: within 10⁻⁷ to 10⁻⁶ of the largest value, 10⁻⁴ for an RBF of large γ·‖x‖². If k is not positive
    semi-definite, this does not hold: negative eigenvalues are left out, and the error is at least as large as the most
    negative one divided by the number of landmarks.

    Complexity: m values of the base kernel and m²/2 products per sample for m landmarks, O(m³) once, then O(m) per
    pair.

    Definiteness: positive semi-definite.

    If k is a function of dense vectors (window kernels, kernels of a table of numbers, ``rbf`` and ``polynomial`` on
    them), its values are computed in single precision, with an error of about 10⁻⁷·γ·(‖x‖ + ‖z‖)² of an RBF value, the
    mean of Z taken as the origin; otherwise in double precision. φ is rounded to single precision. Its bits depend on x
    alone; but the exponentials of NumPy may differ between kinds of processor.

    References
    ----------
    Williams, Seeger: Using the Nyström method to speed up kernel machines. NIPS 13, 2001.

    Zhang, Tsang, Kwok: Improved Nyström low-rank approximation and error analysis. ICML 2008 (k-means landmarks).

    Examples
    --------
    >>> from seqkern.kernels import NystroemKernel, SpectrumKernel
    >>> X = ["GATTACA", "ATTACCA", "CCGGTCC", "GGCCGGA"]
    >>> kernel = NystroemKernel(SpectrumKernel(k=2), n_components=3, seed=1).fit(X)
    >>> kernel.features(X).shape
    (4, 3)
    >>> abs(kernel(X) - SpectrumKernel(k=2)(X)).max(axis=0).round(2)  # one sample is not a landmark
    array([0.  , 0.  , 0.36, 0.  ])
    """

    name = "nystroem"
    summary = "Compares with a few landmarks instead of with all training samples."
    traits = replace(ApproximateKernel.traits, data_dependent=True)
    made_again = (*ApproximateKernel.made_again, "_columns")

    base: Kernel = component(
        "kernel", kw_only=False, doc="k, the kernel to approximate: any kernel of sequences or features."
    )
    n_components: int = integer(default=1000, low=1, doc="Number of landmarks; all samples if there are fewer.")
    landmarks: Literal["random", "kmeans"] = choice(
        default="random",
        doc="Training samples drawn without replacement; or, for a kernel of vectors, the centres of "
        "k-means clusters of at most 20 times as many samples.",
    )
    seed: int = integer(default=1, low=0, doc="Seed of the draw.")
    tolerance: float = share(
        1e-6, "Eigenvalues of k(Z, Z) up to this share of the largest are left out.", open_low=True, open_high=True
    )

    tested_with = (
        "nystroem:base=(window:gamma=0.05),n_components=6",
        "nystroem:base=(spectrum:k=2),normalize=true",
        "nystroem:base=(pssm_window:vector_kernel=polynomial,gamma=0.01,degree=3),n_components=5",
        "nystroem:base=(window:gamma=scale),n_components=4,landmarks=kmeans,normalize=true",
        "nystroem:base=(rbf:gamma=scale),n_components=7",
    )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.traits.accepts == "similarities":
            raise ParameterError(
                "precomputed similarities have no landmarks", remedy="choose a kernel of sequences or features"
            )
        if self.landmarks == "kmeans" and self._given()[0]._vector_form() is None:
            raise ParameterError(
                f"the samples of kernel {self._given()[0].name!r} are not dense vectors: no cluster centres",
                remedy="choose landmarks=random, or a kernel such as window or pssm_window",
            )

    def _most_features(self, n: int) -> int:
        return min(self.n_components, n)

    def _plan(self, X: Any, Y: Any) -> Plan:
        plan = super()._plan(X, Y)
        count = min(self.n_components, len(X))
        seconds, work = ROOT_SECONDS * count**3, ROOT_BYTES * count**2
        base = self.bases[0]
        if count and base._vector_form() is None:  # else the values are counted as products of vectors
            Z = X.take(np.arange(count))
            for samples, other in ((Z, None), (X, Z), *(() if Y is None else ((Y, Z),))):
                sets = [samples] if other is None else [samples, other]
                seconds += base.plan(samples, other).seconds - search_seconds(base, sets)
            work += base.plan(X.take(slice(0, CHUNK_ROWS)), Z).bytes
        return replace(plan, seconds=plan.seconds + seconds, bytes=plan.bytes + work)

    # ---- landmarks ------------------------------------------------------------------------------

    def _fit(self, X: Data, y: npt.ArrayLike | None) -> None:
        super()._fit(X, y)
        if not len(X):
            raise SequenceError("there are no samples to draw landmarks from", remedy="give a training set")
        rng = np.random.default_rng(self.seed)
        count = min(self.n_components, len(X))
        form = self.bases[0]._vector_form()
        check_single(self, X)
        if self.landmarks == "kmeans":
            rows = np.sort(rng.choice(len(X), min(PER_CENTRE * count, len(X)), replace=False))
            with without_warnings():
                vectors = cast(VectorForm, form).vectors(X).gather(rows)
            if not np.isfinite(vectors).all():
                raise too_far(self, "a number of the vectors", np.inf)
            self.landmarks_: Any = centres(vectors, count, self.seed)  # vectors; else samples
        else:
            drawn = X.take(np.sort(rng.choice(len(X), count, replace=False)))
            with without_warnings():
                self.landmarks_ = self._alone(drawn) if form is None else form.vectors(drawn).gather()
        self._columns: Any = None  # the columns of the samples, prepared on first use
        with one_thread(), without_warnings():
            among = self.bases[0](self.landmarks_) if form is None else exact(form, self.landmarks_)
            if not np.isfinite(among).all():
                raise too_far(self, "a kernel value between landmarks", float(np.abs(among).max()))
            self.map_ = inverse_root(among, self.tolerance)

    def _alone(self, X: Data) -> Data:
        """Return an independent copy of some samples."""
        if not isinstance(X, SequenceSet):
            return X
        tracks = {name: X.tracks[name] for name in (*self.traits.tracks, *self.traits.views) if name in X.tracks}
        views = {name: X.views[name] for name in self.traits.views if name in X.views}
        return X.replace(tracks=tracks, views=views).compact()

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays): the landmarks, as vectors or samples, the map, and the base's state."""
        header, arrays = super().fitted_state()
        if not hasattr(self, "map_"):
            return header, arrays
        arrays = arrays | {"map": self.map_}
        if isinstance(self.landmarks_, np.ndarray):
            return header, arrays | {"landmarks": self.landmarks_}
        samples, own = self.landmarks_.state()
        return header | {"landmarks": samples}, arrays | nest("landmarks", own)

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore the state returned by `fitted_state`."""
        super().restore_fitted(header, arrays)
        if "map" not in arrays:
            return
        self.map_, self._columns = arrays["map"], None
        if "landmarks" in arrays:
            self.landmarks_ = arrays["landmarks"]
        else:
            kind = SequenceSet if self.traits.accepts == "sequences" else FeatureTable
            self.landmarks_ = kind.from_state(header["landmarks"], unnest("landmarks", arrays))

    def learned(self) -> dict[str, float]:
        """Return the numbers of landmarks and features, and the base's learned values."""
        return super().learned() | {"landmarks": len(self.landmarks_), "components": self.map_.shape[1]}

    # ---- values ---------------------------------------------------------------------------------

    def _map(self) -> npt.NDArray[np.float32]:
        return self.map_

    def _values(self, X: Data) -> tuple[int, Values]:
        if isinstance(self.landmarks_, np.ndarray):
            return len(self.landmarks_), self._vector_values(X)
        if getattr(self, "_columns", None) is None:
            self._columns = self.bases[0].prepare(self.landmarks_)
        base = self.bases[0]
        cols: Prepared = self._columns

        def values(rows: Ints) -> npt.NDArray[np.floating[Any]]:
            return base.block(base.prepare(X.take(rows), like=cols), cols)

        return len(cols), values

    def _vector_values(self, X: Data) -> Callable[[Ints], npt.NDArray[np.float32]]:
        """Return the function of `_values` for kernels of vectors."""
        form = cast(VectorForm, self.bases[0]._vector_form())
        if getattr(self, "_columns", None) is None:
            self._columns = LandmarkComparison(form, self.landmarks_)
        compare: LandmarkComparison = self._columns
        table = form.vectors(X)
        if len(X) and table.width != self.landmarks_.shape[1]:
            raise SequenceError(
                f"has {table.width} numbers, the landmarks {self.landmarks_.shape[1]}",
                record=X.ids[0],
                remedy="trim all windows to one length",
            )
        return lambda rows: compare(table.gather(rows))

    @property
    def tables(self) -> Tables:
        """The weight of each feature, if the landmarks are sequences."""
        if not isinstance(getattr(self, "landmarks_", None), SequenceSet):
            return Tables()

        def tally(support: SequenceSet, coefficients: Floats) -> Tally:
            weights = np.zeros(self.map_.shape[1])
            for part, block in self._raw_blocks(support).blocks():
                weights += coefficients[part] @ block
            return [weights]

        def tallied(sums: Iterator[Sums], alphabet: Alphabet) -> FeatureSum:
            return FeatureSum(self, np.asarray(next(sums), dtype=np.float64))

        return Tables(tally, tallied, by_kmer=lambda support, coefficients: None)


class FeatureSum(Tallied):
    """A weighted sum of Nyström features."""

    def __init__(self, kernel: NystroemKernel, weights: Floats) -> None:
        if weights.shape != kernel.map_.shape[1:]:
            raise ValueError(f"{len(weights)} weights of {kernel.map_.shape[1]} features")
        self.kernel, self.weights = kernel, weights

    def values(self, X: SequenceSet) -> Floats:
        """Return the sum for each record."""
        return self.kernel._raw_blocks(X).times(self.weights[:, None])[:, 0]

    def attributions(self, X: SequenceSet) -> Floats:
        """Return the contribution of each residue, through the base kernel with each landmark."""
        return attributions(self.kernel.bases[0], X, self.kernel.landmarks_, self.kernel.map_ @ self.weights)

    def kmer_weights(self, X: SequenceSet) -> KmerWeights:
        """Raise NoKmersError, as the features are not of k-mers."""
        return KmerWeights(*self.kernel._kmer_weights(X, X, self.weights))

    def tables(self) -> None:
        """Return None: a k-mer has no weight of its own."""


def inverse_root(among: Floats, tolerance: float) -> npt.NDArray[np.float32]:
    """Return U·Λ^(−1/2)·Q of the kernel matrix among landmarks, k(Z, Z) = U·Λ·Uᵀ, float32 (m, features).

    The rotation Q makes it zero above the diagonal. Eigenvalues up to `tolerance` times the largest are left out.
    """
    eigenvalues, eigenvectors = np.linalg.eigh(among)
    kept = np.flatnonzero(eigenvalues > tolerance * max(eigenvalues[-1], 0))[::-1]
    root = eigenvectors[:, kept] / np.sqrt(eigenvalues[kept])
    if len(kept) == len(root):  # root.T = Q R, so that root Q = R.T
        triangle: Any = np.linalg.qr(root.T, mode="r")
        return np.ascontiguousarray(triangle.T, dtype=np.float32)
    rotation = np.linalg.qr(root[: len(kept)].T)[0]
    return np.tril(root @ rotation).astype(np.float32)


def centres(vectors: npt.NDArray[np.floating[Any]], count: int, seed: int) -> npt.NDArray[np.float32]:
    """Return the centres of `count` k-means clusters, float32 (count, width)."""
    if not vectors.shape[1]:  # of records without letters; k-means needs a coordinate
        return vectors[:count].astype(np.float32)
    from sklearn.cluster import MiniBatchKMeans  # 1 s to import

    clusters = MiniBatchKMeans(
        count, random_state=seed, batch_size=KMEANS_BATCH, n_init=1, max_iter=KMEANS_EPOCHS, reassignment_ratio=0
    )
    with threadpool_limits(limits=1):  # OpenMP threads too, which affect the order of sums
        return clusters.fit(vectors).cluster_centers_.astype(np.float32)
