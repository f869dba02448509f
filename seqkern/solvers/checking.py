"""Checks of the input of a solver: matrices, labels, costs."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_real
from seqkern.core.errors import GramError, LabelError
from seqkern.core.sparse_types import is_sparse
from seqkern.core.symmetry import check_symmetric, largest_if_symmetric
from seqkern.gram.gram_rows import GramRows
from seqkern.kernels.feature_blocks import FeatureBlocks
from seqkern.kernels.implicit import Implicit
from seqkern.kernels.kernel_operator import KernelOperator
from seqkern.solvers.finite import LARGEST, SINGLE, SMALLEST, check_size, largest_value

FIRST_ROWS = 256
"""Of features in blocks, which show how large they are: others are computed when they are needed."""


class TakesMatrices(Protocol):
    """The members of a `Solver` used by the checks."""

    n_features_in_: int

    @property
    def name(self) -> str | None:
        """Name in messages."""

    @property
    def input(self) -> str:
        """What `fit` takes."""

    @property
    def accepts_asymmetric(self) -> bool:
        """Whether it takes a square matrix that is not symmetric."""

    @property
    def accepts_blocks(self) -> bool:
        """Whether it accepts features in blocks."""

    @property
    def accepts_operator(self) -> bool:
        """Whether it takes a KernelOperator."""

    @property
    def accepts_sparse(self) -> bool:
        """Whether it takes sparse features."""

    @property
    def accepts_rows(self) -> bool:
        """Whether it takes a GramRows."""

    def accepts_unread(self, K: Any) -> bool:
        """Return whether it accepts `K` unread."""


class ConstantColumnWarning(UserWarning):
    """Columns of the matrix are constant on the training rows and are ignored.

    Examples
    --------
    >>> import warnings
    >>> from seqkern.solvers import PSVC
    >>> X = [[1.0, 0.2], [1.0, 0.4], [1.0, 0.9], [1.0, 0.8]]
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     solver = PSVC(kernel="features").fit(X, [0, 0, 1, 1])
    >>> told[0].category.__name__, solver.support_.tolist()
    ('ConstantColumnWarning', [1])
    """


def checked_matrix(solver: TakesMatrices, K: Any, reset: bool) -> Any:
    """Return `K` as a finite float64 matrix of the fitted width, not copied if it is one.

    Parameters
    ----------
    solver : Solver
        Its attributes define the accepted input.
    K : array_like of float64, sparse matrix, Implicit, KernelOperator or FeatureBlocks
        The last three are returned unchanged.
    reset : bool
        Whether the solver will be fitted on this matrix, and keeps its width.

    Returns
    -------
    ndarray of float64, sparse matrix, Implicit, KernelOperator or FeatureBlocks

    Raises
    ------
    GramError
        For unsupported input, another width, NaN or inf, or a Gram matrix for `fit` that is not symmetric.
    """
    if isinstance(K, KernelOperator):
        return _checked_operator(solver, K, reset)
    if isinstance(K, FeatureBlocks) and not solver.accepts_blocks:
        raise GramError(
            f"solver {solver.name!r} does not take features in blocks",
            remedy="give K.block(0, len(K)), or choose a solver that takes them: primal_svc",
        )
    if isinstance(K, GramRows) and not solver.accepts_rows:
        raise GramError(
            f"solver {solver.name!r} does not take a Gram matrix that is read by rows",
            remedy="give the matrix, or choose csvc, svr, psvc, psvr or one_class_svm, with a finite C",
        )
    if isinstance(K, FeatureBlocks) or solver.accepts_unread(K):
        return _checked_unread(solver, K, reset)
    if is_sparse(K) and not solver.accepts_sparse:
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
    # imported here: scikit-learn takes a second, and decisions on a Gram matrix do not need it
    from seqkern.solvers.conversion import check_width, convert_matrix

    matrix = convert_matrix(solver, K, reset, solver.accepts_sparse)
    _check_values(solver, matrix, reset)
    check_width(solver, K, reset)
    return matrix


def _is_ready(solver: TakesMatrices, K: Any, reset: bool) -> bool:
    """Return whether `K` is a float64 matrix of the right size, which needs no conversion."""
    if type(K) not in (np.ndarray, np.memmap) or K.dtype != np.float64 or K.ndim != 2:
        return False
    if hasattr(solver, "feature_names_in_"):  # the columns had names, which scikit-learn compares
        return False
    rows, columns = K.shape
    return rows >= 2 and columns >= 1 if reset else rows >= 1 and columns == getattr(solver, "n_features_in_", None)


def _check_values(solver: TakesMatrices, matrix: Any, training: bool) -> None:
    """Raise GramError if a matrix has NaN or inf; to be trained on, also for values of unusual size or asymmetry."""
    square = matrix.shape[0] == matrix.shape[1] and not is_sparse(matrix)
    must_be_symmetric = training and square and solver.input == "gram" and not solver.accepts_asymmetric
    largest = largest_if_symmetric(matrix) if must_be_symmetric else None
    symmetric = largest is not None
    if largest is None:
        largest = largest_value(matrix)
    if not largest < np.inf:
        raise GramError(
            f"row {_first_bad_row(matrix)} of the matrix contains NaN or inf",
            remedy="correct the matrix, or remove the record",
        )
    if must_be_symmetric and not symmetric:
        check_symmetric(matrix)
    if training:
        check_size(largest)


def _checked_operator(solver: TakesMatrices, K: KernelOperator, reset: bool) -> KernelOperator:
    """Return the KernelOperator `K`; GramError if the solver does not take it, or it is too small."""
    if not solver.accepts_operator and not (solver.input == "implicit" and isinstance(K, Implicit)):
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
    """Raise GramError if the first features are too large or too small for products in their precision."""
    first = K.block(0, min(FIRST_ROWS, len(K)))
    largest = float(np.abs(first).max(initial=0.0))
    if largest < np.inf:  # the solver names a row that is not finite
        check_size(largest, "features", SINGLE if K.dtype == np.float32 else (SMALLEST, LARGEST))


def _checked_unread(solver: TakesMatrices, K: Any, reset: bool) -> Any:
    """Return `K` after checking its shape, and the size of the first features; a solver checks the rest as it reads."""
    if reset:
        if K.shape[0] < 2 or K.shape[1] < 1:
            raise GramError(f"a matrix of {K.shape[0]} × {K.shape[1]} is too small to learn from")
        if isinstance(K, GramRows) and K.square and not solver.accepts_asymmetric:
            K.check_symmetric()
        if isinstance(K, FeatureBlocks):
            _check_first(K)
        solver.n_features_in_ = K.shape[1]
    elif K.shape[1] != solver.n_features_in_:
        raise GramError(f"the matrix has {K.shape[1]} columns, but the solver was fitted with {solver.n_features_in_}")
    return K


def checked_labels(
    solver: TakesMatrices, y: npt.ArrayLike | None, n: int, *, unlabelled: bool = False
) -> npt.NDArray[Any]:
    """Return `y` as an array of n labels.

    Parameters
    ----------
    solver : Solver
        What a message names.
    y : array_like, shape (n,)
        Of any type; None is an error.
    n : int
        The number of rows of the matrix.
    unlabelled : bool
        Whether rows may lack a label, which is NaN then.

    Returns
    -------
    ndarray, shape (n,)

    Raises
    ------
    LabelError
        If labels are missing, do not match the rows, or are inf, or NaN where each row needs a label.
    """
    if y is None:
        raise LabelError(f"{type(solver).__name__} requires y to be passed, but the target y is None")
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biufU":
        labels: npt.NDArray[Any] = y
    else:
        from seqkern.solvers.conversion import convert_labels  # scikit-learn takes a second to import

        labels = convert_labels(y)
    if len(labels) != n:
        raise LabelError(f"{len(labels)} labels for {n} rows", remedy="give one label for each row")
    if labels.dtype.kind == "f":
        bad = np.isinf(labels) if unlabelled else ~np.isfinite(labels)
        if bad.any():
            raise LabelError("y contains NaN or inf", remedy="remove the records without a label")
    return labels


def labelled(labels: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which rows have a label: not NaN, None or empty text.

    Parameters
    ----------
    labels : ndarray, shape (n,)
        Of any type.

    Returns
    -------
    ndarray of bool, shape (n,)

    Examples
    --------
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


def known_labels(labels: npt.NDArray[Any], known: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    """Return the labels of some rows; whole numbers, which NaN among them made floats, are integers again.

    Parameters
    ----------
    labels : ndarray, shape (n,)
        Of any type.
    known : ndarray of bool, shape (n,)
        As from `labelled`.

    Returns
    -------
    ndarray

    Raises
    ------
    LabelError
        If there are none.

    Examples
    --------
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

    Parameters
    ----------
    K : ndarray, sparse matrix, Implicit, KernelOperator or FeatureBlocks
        As `checked_matrix` returns it.

    Returns
    -------
    int

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.base import count_rows
    >>> count_rows(np.zeros((3, 8)))
    3
    """
    return len(K) if isinstance(K, KernelOperator) else K.shape[0]


def _first_bad_row(matrix: Any) -> int | None:
    """Return the first row with NaN or inf of a matrix, dense or sparse; None if there is none."""
    if is_sparse(matrix):
        bad = np.flatnonzero(~np.isfinite(matrix.data))
        return int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1 if len(bad) else None
    for start in range(0, len(matrix), 256):
        good = np.isfinite(matrix[start : start + 256]).all(axis=1)
        if not good.all():
            return start + int(np.argmin(good))
    return None


def check_cost(cost: float) -> None:
    """Raise ParameterError unless C is a positive number, infinity included.

    Parameters
    ----------
    cost : float
        C as given by the user.

    Raises
    ------
    ParameterError
        With the domain.

    Examples
    --------
    >>> from seqkern.core.errors import ParameterError
    >>> from seqkern.solvers.base import check_cost
    >>> check_cost(float("inf"))
    >>> try:
    ...     check_cost(0)
    ... except ParameterError as error:
    ...     print(error)
    C=0 is not possible; give a number > 0
    """
    if cost != np.inf:
        check_real("C", cost, 0, open_low=True)
