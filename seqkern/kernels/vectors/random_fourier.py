"""Random Fourier features of radial basis functions (Rahimi & Recht 2007)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.parameters import changed, component, flag, integer
from seqkern.core.threads import one_thread
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.kernel_specs import build_kernel
from seqkern.kernels.prepared import Plan
from seqkern.kernels.vector_form import VectorForm
from seqkern.kernels.vectors.approximation import ApproximateKernel
from seqkern.kernels.vectors.linear import PreparedVectors
from seqkern.kernels.vectors.single_product import PackedMap
from seqkern.sequences.tables import Data

DRAW_SECONDS, DRAW_BYTES = 15e-9, 20
"""Of a random number that is drawn, scaled, and rounded to single precision."""

ORTHOGONAL_SECONDS = 1.3e-10
"""Of a number, for each vector that it is made orthogonal to."""


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

    @classmethod
    def examples(cls) -> list["RandomFourierKernel"]:
        """Return kernels for the contract suite."""
        return [
            cls(build_kernel("window:gamma=0.05"), n_components=20),
            cls(build_kernel("pssm_window:gamma=scale"), n_components=600, orthogonal=False),
            cls(build_kernel("rbf:gamma=0.3"), n_components=30, normalize=True),
        ]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_components % 2:
            raise ParameterError(
                f"n_components={self.n_components} is odd, but each wave has two components",
                remedy=f"choose {self.n_components + 1}",
            )
        form = self._given()[0].vector_form()
        if form is None or form.kind != "rbf":
            raise ParameterError(
                f"kernel {self._given()[0].name!r} is not a radial basis function of dense vectors",
                remedy="choose a kernel such as window or rbf, or the approximation nystroem",
            )

    def _form(self) -> VectorForm:
        """Return the base as a radial basis function of vectors, checked by `_check_parameters`."""
        return cast(VectorForm, self.bases[0].vector_form())

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

    def _values(self, X: Data) -> tuple[int, Callable[[npt.NDArray[np.int64]], npt.NDArray[np.float32]]]:
        form = self._form()
        table = form.vectors(X)
        waves = self._waves(table.width, cast(float, form.gamma))
        half = self.n_components // 2
        height = np.float32(half**-0.5)

        def values(rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
            angles = table.gather(rows) @ waves
            out = np.empty((len(angles), 2 * half), dtype=np.float32)
            np.cos(angles, out=out[:, :half])
            np.sin(angles, out=out[:, half:])
            out *= height
            return out

        return self.n_components, values

    def plan(self, X: Any, Y: Any = None) -> Plan:
        """Return the Plan for this kernel on `X` (against `Y`): drawing W and multiplying by it included.

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
        plan = super().plan(X, Y)
        X = self.coerce(X)
        width = self._form().width(X) if len(X) else 0
        half = self.n_components // 2
        at_once = min(width, half) if self.orthogonal else 0
        numbers = width * half
        seconds = numbers * (DRAW_SECONDS + ORTHOGONAL_SECONDS * at_once)
        return replace(plan, seconds=plan.seconds + seconds, bytes=plan.bytes + DRAW_BYTES * numbers)

    def _products(self, width: int, d: int) -> int:
        """Return the products of two numbers for the features of a sample."""
        return width * d // 2

    def _waves(self, width: int, gamma: float) -> PackedMap:
        """Return Wᵀ (width, d / 2), the same for each call."""
        key = width, gamma, self.n_components, self.orthogonal, self.seed
        drawn = getattr(self, "_drawn", None)
        if drawn is None or drawn[0] != key:
            self._drawn = drawn = key, PackedMap(draw_waves(*key))
        return drawn[1]


def draw_waves(width: int, gamma: float, n_components: int, orthogonal: bool, seed: int) -> npt.NDArray[np.float32]:
    """Return random vectors as columns: normal, with the variance 2·gamma.

    Parameters
    ----------
    width : int
        Coordinates of a vector.
    gamma : float
        γ of the radial basis function.
    n_components : int
        Twice the number of vectors.
    orthogonal : bool
        Whether `width` vectors at a time are orthogonal.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    ndarray of float32, shape (width, n_components / 2)

    Examples
    --------
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
