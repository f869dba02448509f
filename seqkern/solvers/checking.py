"""The checks of what a solver is given: matrices, labels, costs."""

import numpy as np

from seqkern.core.checks import check_real
from seqkern.core.errors import GramError, LabelError
from seqkern.core.sparse_types import is_sparse
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
    if isinstance(K, FeatureBlocks) and not solver.accepts_blocks:
        raise GramError(
            f"solver {solver.name!r} takes no features in blocks",
            remedy="give K.block(0, len(K)), or choose a solver that takes them: primal_svc",
        )
    if isinstance(K, FeatureBlocks) or solver.accepts_unread(K):
        return _checked_unread(solver, K, reset)
    if is_sparse(K) and not solver.accepts_sparse:
        raise GramError(
            f"solver {solver.name!r} takes no sparse matrix",
            remedy="give K.toarray(), or choose a solver that takes one: linear_svc",
        )
    if _is_ready(solver, K, reset):
        matrix = np.asarray(K)  # a memory map as an array on the same memory
        _check_finite(matrix)
        if reset:
            solver.n_features_in_ = matrix.shape[1]
        return matrix
    # imported here: scikit-learn costs a second of start-up, which decisions about a kernel's matrix need not pay
    from seqkern.solvers.conversion import check_width, convert_matrix

    matrix = convert_matrix(solver, K, reset, solver.accepts_sparse)
    _check_finite(matrix)
    check_width(solver, K, reset)
    return matrix


def _is_ready(solver, K, reset):
    """Tell whether `K` is a float64 matrix of a good size, so that there is nothing to convert or to complain of."""
    if type(K) not in (np.ndarray, np.memmap) or K.dtype != np.float64 or K.ndim != 2:
        return False
    if hasattr(solver, "feature_names_in_"):  # the columns had names, which scikit-learn compares
        return False
    rows, columns = K.shape
    return rows >= 2 and columns >= 1 if reset else rows >= 1 and columns == getattr(solver, "n_features_in_", None)


def _check_finite(matrix):
    """Raise GramError, with the row, where a matrix has NaN or inf."""
    bad = _first_bad_row(matrix)
    if bad is not None:
        raise GramError(
            f"row {bad} of the matrix contains NaN or inf", remedy="mend the matrix or leave the record out"
        )


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
    from seqkern.solvers.conversion import convert_labels  # imported here: labels are needed by training alone

    y = convert_labels(y)
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
    if is_sparse(matrix):
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
