"""Explicit feature vectors as a solver takes them: normalised as the kernel is, with names."""

import inspect

import numpy as np

from seqkern.core.errors import ParameterError
from seqkern.core.sparse_types import is_sparse


def feature_vectors(kernel, X, counts=None):
    """Return φ(x) of each record, normalised if the kernel is: φ(x)·φ(y) is the kernel.

    Parameters
    ----------
    kernel : Kernel
        Fitted, if it learns from data.
    X : SequenceSet, list of str, or table, n records
    counts : dict, optional
        Gets what the kernel's policies touched, in words.

    Returns
    -------
    ndarray or csr_array of float64, shape (n, features)
        A row of zeros stays one, where the kernel's policy ``zero_diagonal`` allows it.

    Raises
    ------
    ParameterError
        If the kernel has no explicit features.
    SequenceError
        As `Kernel.prepare`.
    """
    X = kernel.coerce(X)
    vectors = kernel.features(X)
    if not is_sparse(vectors):
        return normalised_vectors(kernel, X, np.asarray(vectors, dtype=np.float64), counts)
    from scipy.sparse import csr_array  # only here: loaded already, or not needed

    return normalised_vectors(kernel, X, csr_array(vectors, dtype=np.float64), counts)


def normalised_vectors(kernel, X, vectors, counts=None):
    """Return `vectors`, what ``kernel.features(X)`` gave, normalised if the kernel is, in their precision.

    Parameters
    ----------
    kernel : Kernel
    X : SequenceSet or table, n records
    vectors : ndarray or csr_array of float32 or float64, shape (n, features)
    counts : dict, optional
        Gets what the kernel's policies touched, in words.

    Raises
    ------
    SequenceError
        As `Kernel.prepare`.
    """
    if is_sparse(vectors):
        squares = vectors.power(2).sum(axis=1)
    else:
        squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    squares = np.asarray(squares, dtype=np.float64).reshape(-1)
    touched = kernel._touched(X, squares, {})
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


def name_features(kernel, X, columns):
    """Return the names of some explicit features, a list of str.

    Parameters
    ----------
    kernel : Kernel
    X : SequenceSet or table
        Records of the kind that the features are of.
    columns : array_like of int, shape (m,)

    Returns
    -------
    list of str
        ``feature 1``, … (counted from 1) where the kernel has no names for them, or too many.
    """
    names = known_names(kernel, X)
    return [f"feature {j + 1}" if names is None else names[j] for j in np.asarray(columns, dtype=np.int64)]


def known_names(kernel, X):
    """Return the names of all explicit features; None where the kernel has none for them, or too many."""
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
