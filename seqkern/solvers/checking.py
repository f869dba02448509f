"""The checks of what a solver is given: matrices, labels, costs."""

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from seqkern.core.errors import GramError, LabelError
from seqkern.core.parameters import check_real
from seqkern.kernels.feature_blocks import FeatureBlocks
from seqkern.kernels.implicit import Implicit


class ConstantColumnWarning(UserWarning):
    """Columns of the matrix are constant on the training rows, so that a solver leaves them out."""


def checked_matrix(solver, K, reset):
    """Return `K` as a finite float64 matrix of the fitted width, not copied if it is one.

    An Implicit, and FeatureBlocks, are returned as they are.
    """
    if isinstance(K, Implicit):
        return _checked_implicit(solver, K, reset)
    if isinstance(K, FeatureBlocks) and not solver.takes_blocks:
        raise GramError(
            f"solver {solver.name!r} takes no features in blocks",
            remedy="give K.block(0, len(K)), or choose a solver that takes them: primal_svc",
        )
    if isinstance(K, FeatureBlocks) or solver.takes_unread(K):
        return _checked_unread(solver, K, reset)
    if issparse(K) and not solver.takes_sparse:
        raise GramError(
            f"solver {solver.name!r} takes no sparse matrix",
            remedy="give K.toarray(), or choose a solver that takes one: linear_svc",
        )
    try:
        # A model without support vectors has no columns, and a training part at least two rows.
        matrix = check_array(
            K,
            accept_sparse="csr" if solver.takes_sparse else False,
            dtype=np.float64,
            ensure_all_finite=False,
            ensure_min_features=1 if reset else 0,
            ensure_min_samples=2 if reset else 1,
            estimator=solver,
        )
    except ValueError as error:
        raise GramError(str(error)) from error
    bad = _first_bad_row(matrix)
    if bad is not None:
        raise GramError(
            f"row {bad} of the matrix contains NaN or inf", remedy="mend the matrix or leave the record out"
        )
    try:
        validate_data(solver, K, reset=reset, skip_check_array=True)
    except ValueError as error:
        raise GramError(str(error)) from error
    return matrix


def _checked_implicit(solver, K, reset):
    """Return the Implicit `K`; GramError if the solver takes none, or there is nothing to learn from."""
    if solver.input != "implicit":
        raise GramError(
            f"solver {solver.name!r} takes {solver.input}, not feature vectors that are never stored",
            remedy="give it a matrix, or choose linear_svc",
        )
    if reset:
        if len(K) < 2:
            raise GramError(f"{len(K)} records are too few to learn from", remedy="give two or more")
        solver.n_features_in_ = len(K)
    return K


def _checked_unread(solver, K, reset):
    """Return `K`, whose shape alone is checked."""
    if reset:
        if K.shape[0] < 2 or K.shape[1] < 1:
            raise GramError(f"a matrix of {K.shape[0]} × {K.shape[1]} is too small to learn from")
        solver.n_features_in_ = K.shape[1]
    elif K.shape[1] != solver.n_features_in_:
        raise GramError(f"the matrix has {K.shape[1]} columns, and the solver was fitted on {solver.n_features_in_}")
    return K


def checked_labels(solver, y, n):
    """Return `y` as an array of n labels."""
    if y is None:
        raise LabelError(f"{type(solver).__name__} requires y to be passed, but the target y is None")
    try:
        y = column_or_1d(y, warn=True)
    except ValueError as error:
        raise LabelError(str(error)) from error
    if len(y) != n:
        raise LabelError(f"{len(y)} labels for {n} rows", remedy="give one label for each row")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise LabelError("y contains NaN or inf", remedy="leave the records without a label out")
    return y


def count_rows(K):
    """Return the number of rows of a matrix, dense or sparse, or of an Implicit."""
    return len(K) if isinstance(K, Implicit) else K.shape[0]


def _first_bad_row(matrix):
    """Return the first row with NaN or inf of a matrix, dense or sparse; None if there is none."""
    if issparse(matrix):
        bad = np.flatnonzero(~np.isfinite(matrix.data))
        return int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1 if len(bad) else None
    for start in range(0, len(matrix), 256):
        good = np.isfinite(matrix[start : start + 256]).all(axis=1)
        if not good.all():
            return start + int(np.argmin(good))
    return None


def check_cost(cost):
    """Raise ParameterError unless C is a positive number, infinity included."""
    if cost != np.inf:
        check_real("C", cost, 0, open_low=True)
