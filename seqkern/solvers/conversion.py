"""Matrices and labels of any type as a solver takes them: lists, tables, sparse matrices, other numbers.

scikit-learn reads and checks them. `checking` imports this module only for what is not a float64 array by itself:
importing scikit-learn costs a second, and decisions about a matrix that a kernel made need none of it.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from seqkern.core.errors import GramError, LabelError


def convert_matrix(solver: Any, K: Any, reset: bool, sparse: bool) -> Any:
    """Return `K` as a float64 matrix, sparse or not, whose elements are yet to be checked; GramError if it is not one.

    Parameters
    ----------
    solver : Solver
        Named in messages.
    K : array_like or sparse matrix
        What a user gave: lists, a table, other numbers.
    reset : bool
        Whether it is to be fitted on this matrix.
    sparse : bool
        Whether it takes a sparse matrix.

    Returns
    -------
    ndarray of float64, or csr_matrix
    """
    try:
        # A model without support vectors has no columns, and a training part at least two rows.
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
    """Keep the number of columns, and their names where `K` has some; GramError if a fitted solver had others.

    Parameters
    ----------
    solver : Solver
        What keeps them.
    K : array_like or sparse matrix
        As the user gave it: a table has names.
    reset : bool
        Whether the solver is to be fitted on this matrix.
    """
    try:
        validate_data(solver, K, reset=reset, skip_check_array=True)
    except ValueError as error:
        raise GramError(str(error)) from error


def convert_labels(y: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return labels as an array of one dimension; LabelError if that is not possible.

    Parameters
    ----------
    y : array_like, shape (n,) or (n, 1)
        The latter with a warning, scikit-learn's.

    Returns
    -------
    ndarray, shape (n,)
    """
    try:
        return column_or_1d(y, warn=True)
    except ValueError as error:
        raise LabelError(str(error)) from error
