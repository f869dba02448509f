"""Recognise scipy's sparse matrices and operators without importing scipy: if it is not loaded there are none."""

import sys
from typing import Any


def is_sparse(value: Any) -> bool:
    """Return whether a value is a scipy sparse matrix or array.

    Parameters
    ----------
    value : object
        Any value.

    Returns
    -------
    bool

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> is_sparse(csr_array([[0, 1]])), is_sparse([[0, 1]])
    (True, False)
    """
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and sparse.issparse(value)


def is_operator(value: Any) -> bool:
    """Return whether a value is a `scipy.sparse.linalg.LinearOperator`.

    Parameters
    ----------
    value : object
        Any value.

    Returns
    -------
    bool
    """
    linalg = sys.modules.get("scipy.sparse.linalg")
    return linalg is not None and isinstance(value, linalg.LinearOperator)
