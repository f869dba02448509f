"""Checks of a solver's input: matrices, labels and costs."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import GramError, LabelError
from seqkern.core.matrices import check_symmetric, is_sparse, largest_if_symmetric
from seqkern.core.types import Array, Bools, Floats
from seqkern.gram.matrix import GramRows
from seqkern.kernels import _blocks
from seqkern.kernels.features import FeatureBlocks
from seqkern.kernels.kernel_operator import Implicit, KernelOperator

if TYPE_CHECKING:
    from seqkern.solvers.contract import Solver

# Checks of the numbers of a solver: its matrix, its labels, its fitted state and its decisions.
#
# A solver multiplies kernel values with each other. If they are far from 1, sums of such products overflow or vanish,
# and the fit may end as if it had converged, with decisions of zero. So their size is checked first.

SMALLEST, LARGEST = 1e-100, 1e100
"""Bounds of values for which products of three, and sums of many such products, neither overflow nor vanish."""

SINGLE = 1e-15, 1e15
"""Bounds of values for which products of two in single precision, and their sums, neither overflow nor vanish."""

EPSILON = float(np.finfo(np.float64).eps) / 4  # Share of a number so small that adding it leaves the number unchanged


def largest_value(matrix: Any) -> float:
    """Return the largest absolute value of a matrix: inf or NaN if it contains any, 0 if it is empty.

    >>> import numpy as np
    >>> largest_value(np.array([[1.0, -3.0], [2.0, 0.5]]))
    3.0
    """
    values = matrix.data[None, :] if is_sparse(matrix) else matrix
    if values.size == 0:
        return 0.0
    if values.dtype == np.float64 and values.shape[1] and values.strides[1] == values.itemsize:
        return _blocks.largest(values)
    return float(np.abs(values).max())


def check_size(largest: float, what: str = "matrix", limits: tuple[float, float] = (SMALLEST, LARGEST)) -> None:
    """Raise GramError if the numbers of a training matrix are too large or too small for a solver."""
    least, most = limits
    if largest and not least <= largest <= most:
        raise GramError(
            f"the largest value of the {what} is {largest:g}, beyond {least:g} to {most:g}",
            remedy="choose normalize=true or scale the values",
        )


def check_targets(y: Floats) -> None:
    """Raise LabelError for real labels whose squared errors would overflow."""
    row = int(np.argmax(np.abs(y))) if len(y) else 0
    if len(y) and abs(y[row]) > LARGEST:
        raise LabelError(f"label {y[row]:g} of row {row} is beyond {LARGEST:g}", remedy="scale the labels")


def check_fit(solver: "Solver") -> None:
    """Raise GramError if a fit ended with non-finite numbers, whatever its report says."""
    try:
        header, arrays = solver.fitted_state()
    except NotImplementedError:  # a solver that cannot be saved
        header, arrays = {}, {}
    numbers: list[Any] = [array for array in arrays.values() if array.dtype.kind == "f"]
    numbers += [np.float64(value) for value in header.values() if isinstance(value, float)]
    numbers += [np.float64(solver.report_[key]) for key in ("residual", "objective", "gap") if _known(solver, key)]
    if not all(np.isfinite(part).all() for part in numbers):
        raise lost_digits(solver)


def lost_digits(solver: "Solver") -> GramError:
    """Return the error for a fit whose numbers became too large or too small relative to each other."""
    return GramError(
        f"solver {solver.name!r} ended with numbers that are not finite",
        remedy="lower C, choose normalize=true for the kernel, or scale the values",
    )


def lost_beside_bias(solver: "Solver", K: Any) -> str | None:
    """Return the reason why all decisions of a fit are equal; None if they differ or the reason is unknown.

    If values are far below 1/C, each decision w·φ(x) + b rounds to b in floating point. Such a fit has no numerical
    error, but it does not separate any records.

    >>> import numpy as np
    >>> from seqkern.solvers import LSSVC
    >>> K = np.diag([1.0, 2.0, 3.0])
    >>> lost_beside_bias(LSSVC().fit(K, [0, 1, 1]), K) is None
    True
    """
    weights, bias = _weights(solver), getattr(solver, "intercept_", None)
    if weights is None or bias is None:
        return None
    # of several classifiers, whose weights are rows or columns, the sum bounds that of each
    sums, biases = np.abs(weights).sum(), np.abs(np.atleast_1d(bias))
    largest = 0.0
    for largest in _largest_values(K):  # more and more of them, since most fits need few to be sure
        if not np.all((largest * sums > 0) & (largest * sums <= EPSILON * biases)):
            return None
    return (
        f"values of at most {largest:.2g} are lost beside the bias of the decisions, which are all the same; choose "
        "normalize=true or a larger C"
        if largest
        else None
    )


def _weights(solver: "Solver") -> Floats | None:
    """Return the weights of the decisions, of one or of all classifiers; None if there are none."""
    found = (getattr(solver, name, None) for name in ("dual_coef_", "coef_"))
    return next((one for one in found if isinstance(one, np.ndarray) and one.ndim <= 2), None)


def _largest_values(K: Any) -> Iterator[float]:
    """Yield lower bounds of the largest absolute value that is multiplied by weights; the last one is exact."""
    squares = getattr(K, "squares", None)
    if squares is not None:
        yield float(np.abs(squares).max(initial=0.0))
    elif isinstance(K, np.ndarray):
        yield largest_value(K[:1])
        yield largest_value(K)
    elif is_sparse(K):
        yield largest_value(K)


def check_decisions(solver: "Solver", decisions: Floats) -> None:
    """Raise GramError for the first row whose decision is not finite."""
    if np.isfinite(decisions).all():
        return
    values = decisions.reshape(len(decisions), -1)
    row, column = np.unravel_index(int(np.argmin(np.isfinite(values))), values.shape)
    raise GramError(
        f"the decision of solver {solver.name!r} for row {row} is {values[row, column]:g}",
        remedy="choose normalize=true for the kernel, scale the values, or remove the record",
    )


def _known(solver: "Solver", key: str) -> bool:
    """Return whether the report of a fit contains the number `key`."""
    return isinstance(solver.report_.get(key), (float, np.floating))


FIRST_ROWS = 256  # Rows of features in blocks whose values are checked before a fit; the others are computed on demand


class ConstantColumnWarning(UserWarning):
    """Warning that some columns of the matrix are constant on the training rows and are ignored."""


def checked_matrix(solver: "Solver", K: Any, reset: bool) -> Any:
    """Return `K` as a finite float64 matrix of the fitted width, without a copy if it is one already."""
    if isinstance(K, KernelOperator):
        return _checked_operator(solver, K, reset)
    if isinstance(K, FeatureBlocks) and not solver.traits.blocks:
        raise GramError(
            f"solver {solver.name!r} does not take features in blocks",
            remedy="give K.block(0, len(K)), or choose a solver that takes them: primal_svc",
        )
    if isinstance(K, GramRows) and not solver.traits.rows:
        raise GramError(
            f"solver {solver.name!r} does not take a Gram matrix that is read by rows",
            remedy="give the matrix, or choose csvc, svr, psvc, psvr or one_class_svm, with a finite C",
        )
    if isinstance(K, FeatureBlocks) or solver.accepts_unread(K):
        return _checked_unread(solver, K, reset)
    if is_sparse(K) and not solver.traits.sparse:
        raise GramError(
            f"solver {solver.name!r} does not take a sparse matrix",
            remedy="give K.toarray(), or choose a solver that takes sparse matrices: linear_svc",
        )
    if _is_ready(solver, K, reset):
        matrix = np.asarray(K)  # a memory map as an array on the same memory
        _check_values(solver, matrix, reset)
        if reset:
            solver.n_features_in_ = matrix.shape[1]
        return matrix
    matrix = convert_matrix(solver, K, reset, solver.traits.sparse)
    _check_values(solver, matrix, reset)
    check_width(solver, K, reset)
    return matrix


def _is_ready(solver: "Solver", K: Any, reset: bool) -> bool:
    """Return whether `K` is a float64 matrix of the right size, which needs no conversion."""
    if type(K) not in (np.ndarray, np.memmap) or K.dtype != np.float64 or K.ndim != 2:
        return False
    if hasattr(solver, "feature_names_in_"):  # the columns had names, which scikit-learn compares
        return False
    rows, columns = K.shape
    return rows >= 2 and columns >= 1 if reset else rows >= 1 and columns == getattr(solver, "n_features_in_", None)


def _check_values(solver: "Solver", matrix: Any, training: bool) -> None:
    """Raise GramError for NaN or inf in a matrix; for training also for extreme values or asymmetry."""
    square = matrix.shape[0] == matrix.shape[1] and not is_sparse(matrix)
    must_be_symmetric = training and square and solver.input == "gram" and not solver.traits.asymmetric
    largest = largest_if_symmetric(matrix) if must_be_symmetric else None
    symmetric = largest is not None
    if largest is None:
        largest = largest_value(matrix)
    if not largest < np.inf:
        raise GramError(
            f"row {first_bad_row(matrix)} of the matrix contains NaN or inf",
            remedy="correct the matrix, or remove the record",
        )
    if must_be_symmetric and not symmetric:
        check_symmetric(matrix)
    if training:
        check_size(largest)


def _checked_operator(solver: "Solver", K: KernelOperator, reset: bool) -> KernelOperator:
    """Return the KernelOperator `K`; raise GramError if the solver does not take it, or it is too small."""
    if not solver.traits.operator and not (solver.input == "implicit" and isinstance(K, Implicit)):
        raise GramError(
            f"solver {solver.name!r} takes {solver.input}, not products with a kernel matrix that is never stored",
            remedy="give it a matrix, or choose linear_svc or primal_svc",
        )
    if reset:
        if len(K) < 2:
            raise GramError(f"{len(K)} records are too few to learn from", remedy="give two records or more")
        check_size(float(np.abs(K.squares).max()))
        solver.n_features_in_ = len(K)
    return K


def _check_first(K: FeatureBlocks) -> None:
    """Raise GramError if values in the first rows are too large or too small for products in their precision."""
    first = K.block(0, min(FIRST_ROWS, len(K)))
    largest = float(np.abs(first).max(initial=0.0))
    if largest < np.inf:  # the solver names a row that is not finite
        check_size(largest, "features", SINGLE if K.dtype == np.float32 else (SMALLEST, LARGEST))


def _checked_unread(solver: "Solver", K: Any, reset: bool) -> Any:
    """Return `K` after checking its shape and its first rows; the solver checks the rest as it reads."""
    if reset:
        if K.shape[0] < 2 or K.shape[1] < 1:
            raise GramError(f"a matrix of {K.shape[0]} × {K.shape[1]} is too small to learn from")
        if isinstance(K, GramRows) and K.square and not solver.traits.asymmetric:
            K.check_symmetric()
        if isinstance(K, FeatureBlocks):
            _check_first(K)
        solver.n_features_in_ = K.shape[1]
    elif K.shape[1] != solver.n_features_in_:
        raise GramError(f"the matrix has {K.shape[1]} columns, but the solver was fitted with {solver.n_features_in_}")
    return K


def checked_labels(solver: "Solver", y: npt.ArrayLike | None, n: int, *, unlabelled: bool = False) -> Array:
    """Return `y` as an array of n labels; missing labels, if permitted, are NaN."""
    if y is None:
        raise LabelError(f"{type(solver).__name__} requires y to be passed, but the target y is None")
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biufU":
        labels: Array = y
    else:
        labels = convert_labels(y)
    if len(labels) != n:
        raise LabelError(f"{len(labels)} labels for {n} rows", remedy="give one label for each row")
    if labels.dtype.kind == "f":
        bad = np.isinf(labels) if unlabelled else ~np.isfinite(labels)
        if bad.any():
            raise LabelError("y contains NaN or inf", remedy="remove the records without a label")
    return labels


def labelled(labels: Array) -> Bools:
    """Return a mask of the rows that have a label: not NaN, None or empty text.

    >>> import numpy as np
    >>> labelled(np.array([1.0, np.nan, -1.0])).tolist(), labelled(np.array(["donor", ""])).tolist()
    ([True, False, True], [True, False])
    """
    if labels.dtype.kind == "f":
        return ~np.isnan(labels)
    if labels.dtype.kind == "U":
        return np.asarray(labels != "", dtype=bool)
    if labels.dtype.kind == "O":
        return np.array([label is not None and label == label and label != "" for label in labels], dtype=bool)
    return np.ones(len(labels), dtype=bool)


def known_labels(labels: Array, known: Bools) -> Array:
    """Return the labels of some rows; floats that were integers, before NaN joined them, become integers again.

    >>> import numpy as np
    >>> known_labels(np.array([1.0, np.nan, 0.0]), np.array([True, False, True]))
    array([1, 0])
    """
    found = labels[known]
    if not len(found):
        raise LabelError(f"none of the {len(labels)} training rows has a label", remedy="give some of each class")
    return found.astype(np.int64) if found.dtype.kind == "f" and (found == np.floor(found)).all() else found


def count_rows(K: Any) -> int:
    """Return the number of rows of a solver's input.

    >>> import numpy as np
    >>> from seqkern.solvers.contract import count_rows
    >>> count_rows(np.zeros((3, 8)))
    3
    """
    return len(K) if isinstance(K, KernelOperator) else K.shape[0]


def first_bad_row(matrix: Any) -> int | None:
    """Return the first row of a dense or sparse matrix that contains NaN or inf; None if there is none."""
    if is_sparse(matrix):
        bad = np.flatnonzero(~np.isfinite(matrix.data))
        return int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1 if len(bad) else None
    for start in range(0, len(matrix), 256):
        good = np.isfinite(matrix[start : start + 256]).all(axis=1)
        if not good.all():
            return start + int(np.argmin(good))
    return None


# Conversion of matrices and labels from lists, tables, sparse matrices or other number types, by scikit-learn.


def convert_matrix(solver: Any, K: Any, reset: bool, sparse: bool) -> Any:
    """Return `K` as a dense or sparse float64 matrix with unchecked values; raise GramError if that fails."""
    from sklearn.utils.validation import check_array  # imported here: it takes a second

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
    """Keep the number and any names of the columns; raise GramError if they differ from the fitted ones."""
    from sklearn.utils.validation import validate_data  # imported here: it takes a second

    try:
        validate_data(solver, K, reset=reset, skip_check_array=True)
    except ValueError as error:
        raise GramError(str(error)) from error


def convert_labels(y: npt.ArrayLike) -> Array:
    """Return labels as a one-dimensional array; raise LabelError if that is impossible."""
    from sklearn.utils.validation import column_or_1d  # imported here: it takes a second

    try:
        return column_or_1d(y, warn=True)
    except ValueError as error:
        raise LabelError(str(error)) from error
