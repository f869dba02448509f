"""Names of methods and classes as figures and tables show them."""

from collections.abc import Collection

from seqkern.core.markup import clean

TRANSDUCTIVE = "†"
"""The mark of kernels whose profiles were built with the test sequences."""


def short(text: object, length: int = 16) -> str:
    """Return a text cut in its middle where it is too long for a figure.

    Parameters
    ----------
    text : object
        Such as a name.
    length : int, default 16
        Characters, at most.

    Returns
    -------
    str

    Examples
    --------
    >>> short("shifted_weighted_degree")
    'shifted…_degree'
    """
    whole = clean(text)
    half = (length - 1) // 2
    return whole if len(whole) <= length else f"{whole[:half]}…{whole[-half:]}"


def mark(kernel: str, transductive: Collection[str]) -> str:
    """Return the mark of a kernel that is one of those that are transductive, or nothing.

    Parameters
    ----------
    kernel : str
        Its name.
    transductive : collection of str
        Names of kernels whose profiles were built with the test sequences.

    Returns
    -------
    str
        `TRANSDUCTIVE` or empty.
    """
    return TRANSDUCTIVE if kernel in transductive else ""
