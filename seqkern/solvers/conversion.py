"""Conversion of matrices and labels from lists, tables, sparse matrices or other number types.

scikit-learn reads and checks them. `checking` imports this module only for input other than float64 arrays, because
importing scikit-learn takes a second.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from seqkern.core.errors import GramError, LabelError


def convert_matrix(solver: Any, K: Any, reset: bool, sparse: bool) -> Any:
    """Return `K` as a dense or sparse float64 matrix with unchecked values; raise GramError if that fails."""
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
    """Keep the number and any names of the columns; raise GramError if they differ from those of the fit."""
    try:
        validate_data(solver, K, reset=reset, skip_check_array=True)
    except ValueError as error:
        raise GramError(str(error)) from error


def convert_labels(y: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return labels as a one-dimensional array; raise LabelError if that is impossible."""
    try:
        return column_or_1d(y, warn=True)
    except ValueError as error:
        raise LabelError(str(error)) from error
