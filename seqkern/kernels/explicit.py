"""Explicit feature vectors for solvers, normalised like the kernel, with names."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import ParameterError
from seqkern.core.sparse_types import is_sparse
from seqkern.kernels.finite import without_warnings

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel


def feature_vectors(kernel: Kernel, X: Any, counts: dict[str, int] | None = None) -> Any:
    """Return φ(x) of each record, normalised if the kernel is: φ(x)·φ(y) is the kernel.

    Parameters
    ----------
    kernel : Kernel
        Fitted, if it learns from data.
    X : SequenceSet, list of str, or table, n records
        The samples.
    counts : dict, optional
        Receives the number of records that each policy affected, by description.

    Returns
    -------
    ndarray or csr_array of float64, shape (n, features)
        Rows of zeros remain if the policy ``zero_diagonal`` allows them.

    Raises
    ------
    ParameterError
        If the kernel has no explicit features.
    SequenceError
        As `Kernel.prepare`.
    """
    X = kernel.coerce(X)
    vectors: Any = kernel.features(X)
    if not is_sparse(vectors):
        return normalised_vectors(kernel, X, np.asarray(vectors, dtype=np.float64), counts)
    from scipy.sparse import csr_array  # imported here: loaded already, or not needed

    return normalised_vectors(kernel, X, csr_array(vectors, dtype=np.float64), counts)


def normalised_vectors(kernel: Kernel, X: Any, vectors: Any, counts: dict[str, int] | None = None) -> Any:
    """Return `vectors`, what ``kernel.features(X)`` gave, normalised if the kernel is, in their precision.

    Parameters
    ----------
    kernel : Kernel
        The kernel of the features.
    X : SequenceSet or table, n records
        The samples they were computed from.
    vectors : ndarray or csr_array of float32 or float64, shape (n, features)
        Not changed.
    counts : dict, optional
        Receives the number of records that each policy affected, by description.

    Returns
    -------
    ndarray or csr_array
        As `vectors`.

    Raises
    ------
    SequenceError
        As `Kernel.prepare`.
    """
    with without_warnings():
        if is_sparse(vectors):
            squares = vectors.power(2).sum(axis=1)
        else:
            squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    squares = np.asarray(squares, dtype=np.float64).reshape(-1)
    touched = kernel._count_policies(X, squares, {})
    if counts is not None:
        counts.update(touched)
    if not kernel.normalize:
        return vectors
    factors = np.divide(1.0, np.sqrt(squares), out=np.zeros(len(squares)), where=squares > 0)
    factors = factors.astype(vectors.dtype)
    if is_sparse(vectors):
        vectors = vectors.copy()
        vectors.data *= np.repeat(factors, np.diff(vectors.indptr))
        return vectors
    return vectors * factors[:, None]


def name_features(kernel: Kernel, X: Any, columns: npt.ArrayLike) -> list[str]:
    """Return the names of some explicit features, a list of str.

    Parameters
    ----------
    kernel : Kernel
        With explicit features.
    X : SequenceSet or table
        Records of the kind that the features are of.
    columns : array_like of int, shape (m,)
        Which features, counted from 0.

    Returns
    -------
    list of str
        ``feature 1``, … (counted from 1) if the kernel has no names, or too many.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.kernels import SpectrumKernel
    >>> name_features(SpectrumKernel(k=2), SequenceSet.from_strings(["ACGT"]), [0, 6])
    ['AA', 'CG']
    """
    names = known_names(kernel, X)
    return [f"feature {j + 1}" if names is None else names[j] for j in np.asarray(columns, dtype=np.int64)]


def known_names(kernel: Kernel, X: Any) -> list[str] | None:
    """Return the names of all explicit features; None if there are no names, or too many.

    Parameters
    ----------
    kernel : Kernel
        With explicit features.
    X : SequenceSet or table
        Records of the kind that the features are of.

    Returns
    -------
    list of str or None
    """
    named = getattr(kernel, "feature_names", None)
    if named is None:
        return None
    known = {
        "alphabet": lambda: X.alphabet,
        "length": lambda: int(X.lengths.max(initial=0)),
        "columns": lambda: X.columns,
        "records": lambda: X,
    }
    takes = inspect.signature(named).parameters
    try:
        return named(**{name: value() for name, value in known.items() if name in takes})
    except ParameterError:  # there are too many
        return None
