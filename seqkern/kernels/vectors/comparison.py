"""Kernels of vectors with fixed vectors, in single precision."""

from typing import cast

import numpy as np
import numpy.typing as npt

from seqkern.kernels.vector_form import VectorForm
from seqkern.kernels.vectors.single_product import PackedMap, squares


class LandmarkComparison:
    """Kernel values of vectors x with m fixed vectors z, float32.

    An error of a product of two vectors is about 10⁻⁷·‖x‖·‖z‖, so that of an RBF value would be about 10⁻⁷·γ·(‖x‖ +
    ‖z‖)² of it. Therefore the mean of the fixed vectors is the origin, which shortens vectors.

    Parameters
    ----------
    form : VectorForm
        The kernel of vectors, with a known gamma.
    fixed : ndarray of float32, shape (m, width)
        The vectors z.

    Examples
    --------
    >>> from seqkern.kernels import RBFKernel
    >>> compare = LandmarkComparison(RBFKernel(gamma=0.5).vector_form(), np.array([[0, 0], [2, 1]], np.float32))
    >>> compare(np.array([[1, 1]], np.float32)).round(3)
    array([[0.368, 0.607]], dtype=float32)
    """

    def __init__(self, form: VectorForm, fixed: npt.NDArray[np.float32]) -> None:
        self.form = form
        parts: list[npt.NDArray[np.float64]]
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


def exact(form: VectorForm, vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Return k(z, z') among vectors, in double precision.

    Parameters
    ----------
    form : VectorForm
        The kernel of vectors, with a known gamma.
    vectors : ndarray of float32, shape (m, width)
        The vectors z.

    Returns
    -------
    ndarray of float64, shape (m, m)

    Examples
    --------
    >>> from seqkern.kernels import RBFKernel
    >>> exact(RBFKernel(gamma=0.5).vector_form(), np.array([[0, 0], [2, 1]], np.float32)).round(3)
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
