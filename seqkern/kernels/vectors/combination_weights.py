"""Scales and weights of kernels, learned from a training set."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.convergence import warn_unconverged
from seqkern.core.errors import LabelError
from seqkern.kernels.vectors.combination_alignment import FLAT, learn_alignment
from seqkern.kernels.vectors.combination_mkl import learn_mkl

RULES = ("uniform", "alignment", "mkl")
SCALES = ("variance", None)


@dataclass(frozen=True)
class Learned:
    """Scales and weights of one training set.

    Attributes
    ----------
    weights : ndarray of float64, shape (m,)
        Of the matrices divided by their scales; they sum to 1.
    scales : ndarray of float64, shape (m,)
        Divisor of each matrix.
    report : dict
        ``rule``, and its results.
    """

    weights: npt.NDArray[np.float64]
    scales: npt.NDArray[np.float64]
    report: dict[str, Any]


def learn_weights(
    grams: Sequence[npt.NDArray[np.float64]],
    y: npt.ArrayLike | None,
    *,
    rule: str,
    scale: str | None,
    joint: bool,
    p: float,
    cost: float,
    tol: float,
    max_iter: int,
) -> Learned:
    """Return scales and weights of a training set; see `seqkern.kernels.CombinationKernel` for the parameters.

    Parameters
    ----------
    grams : list of m ndarrays of float64, shape (n, n)
        One for each kernel.
    y : array_like, shape (n,), or None
        Labels. Floats with more than two values are regression labels, all others are classes.
    rule : {"uniform", "alignment", "mkl"}
        How weights are learned.
    scale : {"variance", None}
        What the matrices are divided by; None for 1.
    joint : bool
        Of ``"alignment"``: see `learn_alignment`.
    p, cost, tol, max_iter
        Of ``"mkl"``: see `learn_mkl`.

    Returns
    -------
    Learned

    Raises
    ------
    LabelError
        If the rule needs labels and there are none, all are equal, or are real with ``mkl``.

    Examples
    --------
    >>> classes = np.array([[1.0, 1.0, -1.0, -1.0]])
    >>> given = dict(scale="variance", joint=True, p=1.0, cost=1.0, tol=1e-3, max_iter=200)
    >>> learn_weights([classes.T @ classes, np.eye(4)], [1, 1, -1, -1], rule="mkl", **given).weights.round(2)
    array([1., 0.])
    """
    variances = np.array([variance(gram) for gram in grams])
    scales = np.where(variances > 0, variances, 1.0) if scale == "variance" else np.ones(len(grams))
    usable = variances > 0 if (variances > 0).any() else np.ones(len(grams), dtype=bool)
    chosen = [gram for gram, use in zip(grams, usable, strict=True) if use]
    report: dict[str, Any] = {}
    if rule == "uniform":
        weights = np.ones(len(chosen))
    elif rule == "alignment":
        weights, report = learn_alignment(chosen, scales[usable], targets(y, len(grams[0])), joint=joint)
        found = np.zeros(len(grams))
        found[usable] = report["alignments"]
        report["alignments"] = found.tolist()
    else:
        signs = class_signs(y, len(grams[0]))
        weights, report = learn_mkl(chosen, scales[usable], signs, cost=cost, p=p, tol=tol, max_iter=max_iter)
        _tell_convergence(report)
    if not weights.any():
        warnings.warn("no kernel is aligned with the labels; all get equal weights", stacklevel=2)
        weights = np.ones(len(chosen))
    every = np.zeros(len(grams))
    every[usable] = weights / weights.sum()
    return Learned(every, scales, {"rule": rule, **report})


def variance(gram: npt.NDArray[np.float64]) -> float:
    """Return the mean squared distance of samples from their centre, trace(HKH) / n; 0 if that is rounding only.

    Parameters
    ----------
    gram : ndarray of float64, shape (n, n)
        Symmetric.

    Returns
    -------
    float

    Examples
    --------
    >>> variance(np.array([[1.0, 0.0], [0.0, 9.0]])), variance(np.ones((3, 3)))
    (2.5, 0.0)
    """
    size = float(np.trace(gram)) / len(gram)
    found = size - float(gram.mean(axis=1).mean())
    return found if found > FLAT * abs(size) else 0.0


def _tell_convergence(report: dict[str, Any]) -> None:
    """Warn about a gap above the tolerance."""
    if not report["converged"]:
        warn_unconverged(
            f"multiple kernel learning stopped after {report['iterations']} weights with a relative duality gap of "
            f"{report['relative_gap']:.2g}",
            stacklevel=3,
        )


def targets(y: npt.ArrayLike | None, n: int) -> npt.NDArray[np.float64]:
    """Return rows Z of mean zero, of which ZᵀZ is the centred kernel of the labels.

    Of real labels, and of two classes, one row; of more classes one for each, so that the kernel before centring is 1
    for two samples of one class and 0 for others.

    Parameters
    ----------
    y : array_like, shape (n,), or None
        Labels.
    n : int
        Number of samples.

    Returns
    -------
    ndarray of float64, shape (c, n)

    Raises
    ------
    LabelError
        If labels are missing, do not match the samples, or are all the same.

    Examples
    --------
    >>> targets(["donor", "donor", "decoy", "decoy"], 4)
    array([[ 0.5,  0.5, -0.5, -0.5]])
    """
    y, values, codes = _examined(y, n)
    given = [y] if _are_real(y, values) else [codes == c for c in range(1 if len(values) == 2 else 0, len(values))]
    rows = np.array(given, dtype=np.float64)
    return rows - rows.mean(axis=1, keepdims=True)


def class_signs(y: npt.ArrayLike | None, n: int) -> npt.NDArray[np.float64]:
    """Return the labels of one SVM for two classes, for more of one for each class against the rest.

    Parameters
    ----------
    y : array_like, shape (n,), or None
        Labels.
    n : int
        Number of samples.

    Returns
    -------
    ndarray of float64, shape (SVMs, n)
        −1 and 1.

    Raises
    ------
    LabelError
        If labels are missing, do not match the samples, are all the same, or are real.

    Examples
    --------
    >>> class_signs(["E", "H", "C", "H"], 4)
    array([[-1., -1.,  1., -1.],
           [ 1., -1., -1., -1.],
           [-1.,  1., -1.,  1.]])
    """
    y, values, codes = _examined(y, n)
    if _are_real(y, values):
        raise LabelError(
            "weights=mkl needs class labels, and the labels are numbers", remedy="choose weights=alignment"
        )
    first = 1 if len(values) == 2 else 0
    return np.array([np.where(codes == c, 1.0, -1.0) for c in range(first, len(values))])


def _examined(
    y: npt.ArrayLike | None, n: int
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[np.integer[Any]]]:
    """Return (labels, distinct values, index of each label), checked."""
    if y is None:
        raise LabelError(
            "kernel weights cannot be learned without labels", remedy="give labels, or choose weights=uniform"
        )
    y = np.asarray(y)
    if y.shape != (n,):
        raise LabelError(f"labels of shape {y.shape} for {n} samples", remedy="give one label for each sample")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise LabelError("a label is NaN or inf", remedy="remove samples without a label")
    values, codes = np.unique(y, return_inverse=True)
    if len(values) < 2:
        raise LabelError("all training labels are the same", remedy="give at least two classes or values")
    return y, values, codes


def _are_real(y: npt.NDArray[Any], values: npt.NDArray[Any]) -> bool:
    """Return whether labels are for regression."""
    return y.dtype.kind == "f" and len(values) > 2
