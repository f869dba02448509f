"""Weights by centred alignment of kernels with the labels (Cortes, Mohri & Rostamizadeh, JMLR 13, 2012).

The alignment of two Gram matrices is the cosine between them, as vectors, after both were centred: HKH with H = I −
11ᵀ/n. All quantities are inner products of centred matrices, summed in blocks of rows.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

BLOCK_BYTES = 1 << 25

RIDGE = 1e-10
"""Added to the diagonal of the alignments among kernels, so that the solution of least norm is found."""

FLAT = 1e-12
"""A matrix whose centred norm is below this share of its norm is constant up to rounding."""


def learn_alignment(
    grams: Sequence[npt.NDArray[np.float64]],
    scales: npt.ArrayLike,
    targets: npt.NDArray[np.float64],
    *,
    joint: bool = True,
) -> tuple[npt.NDArray[np.float64], dict[str, Any]]:
    """Return weights by centred alignment.

    Parameters
    ----------
    grams : list of m ndarrays of float64, shape (n, n)
        Symmetric; they may be indefinite.
    scales : ndarray of float64, shape (m,)
        Divisor of each Gram matrix.
    targets : ndarray of float64, shape (c, n)
        Rows Z of mean zero; the kernel of the labels is ZᵀZ.
    joint : bool
        True, ``alignf``: the weights ≥ 0 whose sum of matrices aligns best with the labels, by the minimum over v ≥ 0
        of vᵀMv − 2vᵀa, M the products of centred matrices and a those with the labels. False, ``align``: the weight
        of each matrix is its own alignment with the labels, or 0 where that is negative.

    Returns
    -------
    weights : ndarray of float64, shape (m,)
        Weights of the scaled matrices; all zero if none has a positive alignment.
    report : dict
        ``alignments``, with the labels, of each matrix and ``alignment`` of the weighted sum.

    Examples
    --------
    The first matrix reflects the classes, the second does not:

    >>> classes = np.array([[1.0, 1.0, -1.0, -1.0]])
    >>> weights, report = learn_alignment([classes.T @ classes, np.eye(4)], [1.0, 1.0], classes)
    >>> weights.round(3), np.round(report["alignments"], 3)
    (array([0.25, 0.  ]), array([1.   , 0.577]))
    """
    scales = np.asarray(scales, dtype=np.float64)
    products = centred_products(grams) / np.outer(scales, scales)
    with_labels = target_products(grams, targets) / scales
    with_labels /= np.sqrt(np.sum(np.einsum("ik,jk->ij", targets, targets) ** 2))
    norms = np.sqrt(np.diagonal(products))
    whole = np.array([np.sqrt(np.einsum("ij,ij->i", gram, gram).sum()) for gram in grams]) / scales
    inverse = np.where(norms > FLAT * whole, 1.0 / np.where(norms > 0, norms, 1.0), 0.0)
    alignments = with_labels * inverse
    if joint:
        weights = _best_directions(alignments, products * np.outer(inverse, inverse)) * inverse
    else:
        weights = np.maximum(alignments, 0.0)
    norm = np.sqrt(max(0.0, float(weights @ products @ weights)))
    reached = float(weights @ with_labels / norm) if norm > 0 else 0.0
    return weights, {"alignments": alignments.tolist(), "alignment": reached}


def centred_products(grams: Sequence[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
    """Return ⟨HK_kH, HK_lH⟩ of all pairs of matrices.

    Parameters
    ----------
    grams : list of m ndarrays of float64, shape (n, n)
        Symmetric.

    Returns
    -------
    ndarray of float64, shape (m, m)

    Examples
    --------
    >>> centred_products([np.eye(2), np.ones((2, 2))])
    array([[1., 0.],
           [0., 0.]])
    """
    m, n = len(grams), len(grams[0])
    means = [gram.mean(axis=1) for gram in grams]
    step = max(1, BLOCK_BYTES // (8 * n * m))
    products = np.zeros((m, m))
    for start in range(0, n, step):
        rows = slice(start, start + step)
        blocks = [gram[rows] - mean[rows, None] - mean + mean.mean() for gram, mean in zip(grams, means, strict=True)]
        for k in range(m):
            for j in range(k + 1):
                products[k, j] += np.einsum("ij,ij->i", blocks[k], blocks[j]).sum()
    return products + np.tril(products, -1).T


def target_products(
    grams: Sequence[npt.NDArray[np.float64]], targets: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return ⟨HKH, ZᵀZ⟩ of each matrix.

    Parameters
    ----------
    grams : list of m ndarrays of float64, shape (n, n)
        Symmetric.
    targets : ndarray of float64, shape (c, n)
        Rows Z of mean zero, so that centring K has no effect.

    Returns
    -------
    ndarray of float64, shape (m,)

    Examples
    --------
    >>> target_products([np.eye(2), np.ones((2, 2))], np.array([[1.0, -1.0]]))
    array([2., 0.])
    """
    return np.array([sum(np.sum(z * np.einsum("ij,j->i", gram, z)) for z in targets) for gram in grams])


def _best_directions(alignments: npt.NDArray[np.float64], among: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the v ≥ 0 that minimises vᵀMv − 2vᵀa for matrices of norm 1."""
    from scipy.optimize import nnls  # 0.4 s to import

    # with M = RᵀR it is ‖Rv − R⁻ᵀa‖² but for a constant
    values, vectors = np.linalg.eigh(among)
    roots = np.sqrt(np.maximum(values, 0.0) + RIDGE)
    return nnls(vectors.T * roots[:, None], (vectors.T @ alignments) / roots)[0]
