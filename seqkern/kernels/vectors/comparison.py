"""Kernels of vectors with fixed vectors, in single precision, many at a time."""

import numpy as np


class LandmarkComparison:
    """Kernel values of vectors x with m fixed vectors z, float32.

    An error of a product of two vectors is about 10⁻⁷·‖x‖·‖z‖, so that of an RBF value would be about
    10⁻⁷·γ·(‖x‖ + ‖z‖)² of it. There the mean of the fixed vectors is the origin, which makes lengths short.

    Parameters
    ----------
    form : VectorForm
        The kernel of vectors; its gamma is known.
    fixed : ndarray of float32, shape (m, width)
        The vectors z.
    """

    def __init__(self, form, fixed):
        self.form = form
        if form.kind == "rbf":
            # −γ·‖x − z‖² as one product: (x, −γ‖x‖², 1)·(2γz, 1, −γ‖z‖²)
            self.centre = fixed.mean(axis=0, dtype=np.float64).astype(np.float32)
            fixed = (fixed - self.centre).astype(np.float64)
            squares = np.einsum("ij,ij->i", fixed, fixed)
            parts = (2 * form.gamma * fixed.T, np.ones((1, len(fixed))), -form.gamma * squares[None])
        else:
            parts = ((form.gamma if form.kind == "polynomial" else 1.0) * fixed.T.astype(np.float64),)
        self.factor = np.vstack(parts).astype(np.float32)

    def __call__(self, vectors):
        """Return k(x, z), float32 (n, m), of vectors x, float32 (n, width); the rows depend on n, by BLAS."""
        form = self.form
        if form.kind == "rbf":
            vectors = vectors - self.centre
            squares = -form.gamma * np.einsum("ij,ij->i", vectors, vectors)
            wide = np.hstack((vectors, squares[:, None], np.ones_like(squares[:, None])), dtype=np.float32)
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


def exact(form, vectors):
    """Return k(z, z') among vectors, float64 (m, m)."""
    vectors = vectors.astype(np.float64)
    products = vectors @ vectors.T
    if form.kind == "rbf":
        squares = np.diagonal(products)
        return np.exp(-form.gamma * np.maximum(squares[:, None] + squares - 2 * products, 0))
    if form.kind == "polynomial":
        return (form.gamma * products + form.coef0) ** form.degree
    return products
