"""Factors of C for the classes, as the solvers of the C-SVM have them."""

from seqkern.core.checks import check_real
from seqkern.core.errors import ParameterError


def check_class_weight(weight):
    """Raise ParameterError unless `weight` is None, "balanced", or a dict with a number > 0 for each class."""
    if isinstance(weight, dict):
        for key, value in weight.items():
            check_real(f"class_weight of {key}", value, 0, open_low=True)
    elif weight is not None and weight != "balanced":
        raise ParameterError(
            f"class_weight={weight!r} is not possible", remedy="give balanced, or a weight for each class"
        )


def class_factors(weight, classes, y):
    """Return the factors of C of the two classes.

    Parameters
    ----------
    weight : {"balanced"}, dict or None
    classes : ndarray, shape (2,)
    y : ndarray of float64, shape (n,)
        −1 for the first class, 1 for the second.

    Returns
    -------
    ndarray of float64, shape (2,)

    Raises
    ------
    ParameterError
        If a dict names another class.
    """
    return factors_of_codes(weight, classes, (y > 0).astype(int))


def factors_of_codes(weight, classes, codes):
    """Return the factors of C of all classes, float64 (c,); `codes` are the places of the rows' classes among them.

    See `class_factors`.
    """
    from sklearn.utils.class_weight import compute_class_weight  # only here: needed by training alone

    if isinstance(weight, dict):
        weight = {class_of(key, classes): value for key, value in weight.items()}
    try:
        return compute_class_weight(weight, classes=classes, y=classes[codes])
    except ValueError as error:
        raise ParameterError(
            f"class_weight={weight!r} names other classes",
            remedy=f"classes are: {', '.join(map(str, classes.tolist()))}; or give balanced",
        ) from error


def class_of(key, classes):
    """Return the class that a key means, itself if none: from a config, numbers arrive as text."""
    for item in classes.tolist():
        if str(item) == str(key):
            return item
        try:
            if float(item) == float(key):
                return item
        except (TypeError, ValueError):
            continue
    return key
