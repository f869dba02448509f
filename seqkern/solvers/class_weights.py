"""Factors of C for the classes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_real
from seqkern.core.errors import ParameterError

Weights = Mapping[Any, float] | str | None
"""A factor of C for each class, ``"balanced"``, or None for 1 each."""


def check_class_weight(weight: Weights) -> None:
    """Raise ParameterError unless `weight` is None, "balanced", or a dict with a number > 0 for each class.

    Parameters
    ----------
    weight : dict, str or None
        Factors of C by class, as given by the user.

    Raises
    ------
    ParameterError
        For another value, or a factor that is not above zero.
    """
    if isinstance(weight, dict):
        for key, value in weight.items():
            check_real(f"class_weight of {key}", value, 0, open_low=True)
    elif weight is not None and weight != "balanced":
        raise ParameterError(
            f"class_weight={weight!r} is not possible", remedy="give balanced, or a weight for each class"
        )


def class_factors(weight: Weights, classes: npt.NDArray[Any], y: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the factors of C of the two classes.

    Parameters
    ----------
    weight : {"balanced"}, dict or None
        Factors by class; None for 1 each. Balanced ones give both classes the same total.
    classes : ndarray, shape (2,)
        Both classes, sorted.
    y : ndarray of float64, shape (n,)
        −1 for the first class, 1 for the second.

    Returns
    -------
    ndarray of float64, shape (2,)

    Raises
    ------
    ParameterError
        If a dict names an unknown class.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.class_weights import class_factors
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0])
    >>> class_factors("balanced", np.array(["decoy", "donor"]), y).round(3)
    array([0.667, 2.   ])
    """
    return factors_of_codes(weight, classes, (y > 0).astype(int))


def factors_of_codes(
    weight: Weights, classes: npt.NDArray[Any], codes: npt.NDArray[np.integer[Any]]
) -> npt.NDArray[np.float64]:
    """Return the factors of C of all classes.

    Parameters
    ----------
    weight : {"balanced"}, dict or None
        As in `class_factors`.
    classes : ndarray, shape (c,)
        All classes, sorted.
    codes : ndarray of int, shape (n,)
        The class of each row, as its place among `classes`.

    Returns
    -------
    ndarray of float64, shape (c,)

    Raises
    ------
    ParameterError
        If a dict names an unknown class.
    """
    if weight is None:
        return np.ones(len(classes))
    if not isinstance(weight, Mapping):  # balanced
        return len(codes) / (len(classes) * np.bincount(codes, minlength=len(classes)).astype(np.float64))
    given = {class_of(key, classes): value for key, value in weight.items()}
    named = classes.tolist()
    if not set(named) <= set(given) and not set(given) <= set(named):
        raise ParameterError(
            f"class_weight={given!r} names unknown classes",
            remedy=f"classes are: {', '.join(map(str, named))}; or give balanced",
        )
    return np.array([given.get(name, 1.0) for name in named], dtype=np.float64)


def class_of(key: Any, classes: npt.NDArray[Any]) -> Any:
    """Return the class of a key; numbers from a configuration arrive as text.

    Parameters
    ----------
    key : object
        A key of `class_weight`.
    classes : ndarray, shape (c,)
        All classes.

    Returns
    -------
    object
        The class as a Python object; the key itself if it matches none.

    Examples
    --------
    >>> import numpy as np
    >>> from seqkern.solvers.class_weights import class_of
    >>> class_of("1", np.array([-1.0, 1.0]))
    1.0
    """
    for item in classes.tolist():
        if str(item) == str(key):
            return item
        try:
            if float(item) == float(key):
                return item
        except (TypeError, ValueError):
            continue
    return key
