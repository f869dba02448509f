"""The one place through which all numbers of a solver pass: its matrix, its labels, what it learned, its decisions.

A solver multiplies kernel values with each other. Where they are far from 1, sums of such products overflow or vanish,
and the fit may end as if it had converged, with decisions of zero. So their size is checked first.
"""

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import GramError, LabelError
from seqkern.core.sparse_types import is_sparse
from seqkern.core.types import Arrays, Header
from seqkern.kernels import _blocks

SMALLEST, LARGEST = 1e-100, 1e100
"""Products of three values between these, and sums of many such products, neither overflow nor vanish."""

SINGLE = 1e-15, 1e15
"""As these, of products of two values in single precision."""

EPSILON = float(np.finfo(np.float64).eps) / 4
"""A share of a number that is lost when it is added to it."""


class Fitted(Protocol):
    """The members of a `Solver` used by the checks."""

    report_: dict[str, Any]

    @property
    def name(self) -> str | None:
        """Name in messages."""

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return what it learned."""


def largest_value(matrix: Any) -> float:
    """Return the largest absolute value of a matrix, which is inf or NaN if it has any of them; 0 if it is empty.

    Parameters
    ----------
    matrix : ndarray of float64, shape (n, m), or sparse matrix
        Any memory layout.

    Returns
    -------
    float

    Examples
    --------
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
    """Raise GramError if the numbers of a training matrix are too large or too small for a solver.

    Parameters
    ----------
    largest : float
        The largest absolute value; zero is a value like others.
    what : str
        What has the values.
    limits : tuple of float
        The least and the largest that is taken.

    Raises
    ------
    GramError
        With the value, the limits and a remedy.

    Examples
    --------
    >>> from seqkern.core.errors import GramError
    >>> try:
    ...     check_size(1e160)
    ... except GramError as error:
    ...     print(error)
    the largest value of the matrix is 1e+160, beyond 1e-100 to 1e+100; choose normalize=true or scale the values
    """
    least, most = limits
    if largest and not least <= largest <= most:
        raise GramError(
            f"the largest value of the {what} is {largest:g}, beyond {least:g} to {most:g}",
            remedy="choose normalize=true or scale the values",
        )


def check_targets(y: npt.NDArray[np.float64]) -> None:
    """Raise LabelError for numbers as labels whose squared errors would overflow.

    Parameters
    ----------
    y : ndarray of float64, shape (n,)
        Finite.

    Raises
    ------
    LabelError
        With the row and a remedy.
    """
    row = int(np.argmax(np.abs(y))) if len(y) else 0
    if len(y) and abs(y[row]) > LARGEST:
        raise LabelError(f"label {y[row]:g} of row {row} is beyond {LARGEST:g}", remedy="scale the labels")


def check_fit(solver: Fitted) -> None:
    """Raise GramError if a fit has ended with numbers that are not finite, whatever its report says.

    Parameters
    ----------
    solver : Solver
        Just fitted.

    Raises
    ------
    GramError
        With the solver and a remedy.
    """
    try:
        header, arrays = solver.fitted_state()
    except NotImplementedError:  # a solver that cannot be saved
        header, arrays = {}, {}
    numbers: list[Any] = [array for array in arrays.values() if array.dtype.kind == "f"]
    numbers += [np.float64(value) for value in header.values() if isinstance(value, float)]
    numbers += [np.float64(solver.report_[key]) for key in ("residual", "objective", "gap") if _known(solver, key)]
    if not all(np.isfinite(part).all() for part in numbers):
        raise lost_digits(solver)


def lost_digits(solver: Fitted) -> GramError:
    """Return the error of a fit whose numbers have become too large or too small for each other.

    Parameters
    ----------
    solver : Solver
        Whose fit it was.

    Returns
    -------
    GramError
        With a remedy.
    """
    return GramError(
        f"solver {solver.name!r} ended with numbers that are not finite",
        remedy="lower C, choose normalize=true for the kernel, or scale the values",
    )


def lost_beside_bias(solver: Fitted, K: Any) -> str | None:
    """Return why all decisions of a fit are the same number, or None if they are not.

    Where values are far below 1/C, each decision w·φ(x) + b is b in floating point. Such a fit has no error, but it
    tells no records apart.

    Parameters
    ----------
    solver : Solver
        Just fitted.
    K : ndarray of float64, sparse matrix, GramRows, FeatureBlocks or KernelOperator
        What it was fitted on.

    Returns
    -------
    str or None
        With a remedy; None also where nothing is known of the weights, the bias or the values.

    Examples
    --------
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


def _weights(solver: Fitted) -> npt.NDArray[np.float64] | None:
    """Return the factors of a decision, of one classifier or of each; None if there are none."""
    found = (getattr(solver, name, None) for name in ("dual_coef_", "coefficients_", "coef_"))
    return next((one for one in found if isinstance(one, np.ndarray) and one.ndim <= 2), None)


def _largest_values(K: Any) -> Iterator[float]:
    """Yield lower bounds of the largest absolute value by which weights are multiplied; the last is exact."""
    squares = getattr(K, "squares", None)
    if squares is not None:
        yield float(np.abs(squares).max(initial=0.0))
    elif isinstance(K, np.ndarray):
        yield largest_value(K[:1])
        yield largest_value(K)
    elif is_sparse(K):
        yield largest_value(K)


def check_decisions(solver: Fitted, decisions: npt.NDArray[np.float64]) -> None:
    """Raise GramError for the first row whose decision is not finite.

    Parameters
    ----------
    solver : Solver
        Fitted.
    decisions : ndarray of float64, shape (m,) or (m, classes)
        Its decisions.

    Raises
    ------
    GramError
        With the row, the value, the solver and a remedy.
    """
    if np.isfinite(decisions).all():
        return
    values = decisions.reshape(len(decisions), -1)
    row, column = np.unravel_index(int(np.argmin(np.isfinite(values))), values.shape)
    raise GramError(
        f"the decision of solver {solver.name!r} for row {row} is {values[row, column]:g}",
        remedy="choose normalize=true for the kernel, scale the values, or remove the record",
    )


def _known(solver: Fitted, key: str) -> bool:
    """Return whether the report of a fit has this number."""
    return isinstance(solver.report_.get(key), (float, np.floating))
