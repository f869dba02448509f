"""Conversion of matrices and labels of any type: lists, tables, sparse matrices, other numbers.

scikit-learn reads and checks them. `checking` imports this module only for input other than float64 arrays, because
importing scikit-learn takes a second.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from seqkern.core.errors import GramError, LabelError


def convert_matrix(solver: Any, K: Any, reset: bool, sparse: bool) -> Any:
    """Return `K` as a float64 matrix, sparse or not, with unchecked elements; GramError if that fails.

    Parameters
    ----------
    solver : Solver
        Named in messages.
    K : array_like or sparse matrix
        The input: lists, a table, other numbers.
    reset : bool
        Whether the solver will be fitted on this matrix.
    sparse : bool
        Whether it takes a sparse matrix.

    Returns
    -------
    ndarray of float64, or csr_matrix
    """
    try:
        # A model without support vectors has no columns; a training set has at least two rows.
        return check_array(
            K,
            accept_sparse="csr" if sparse else False,
            dtype=np.float64,
            ensure_all_finite=False,
            ensure_min_features=1 if reset else 0,
            ensure_min_samples=2 if reset else 1,
            estimator=solver,
        )
    except ValueError as error:
        raise GramError(str(error)) from error


def check_width(solver: Any, K: Any, reset: bool) -> None:
    """Keep the number and any names of the columns; GramError if they differ from those of the fit.

    Parameters
    ----------
    solver : Solver
        The solver that keeps them.
    K : array_like or sparse matrix
        The input; a table has names.
    reset : bool
        Whether the solver will be fitted on this matrix.
    """
    try:
        validate_data(solver, K, reset=reset, skip_check_array=True)
    except ValueError as error:
        raise GramError(str(error)) from error


def convert_labels(y: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return labels as a one-dimensional array; LabelError if impossible.

    Parameters
    ----------
    y : array_like, shape (n,) or (n, 1)
        The latter gives scikit-learn's warning.

    Returns
    -------
    ndarray, shape (n,)
    """
    try:
        return column_or_1d(y, warn=True)
    except ValueError as error:
        raise LabelError(str(error)) from error
