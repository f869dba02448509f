"""What readers of motif files share."""

from typing import NoReturn, TypeAlias

from seqkern.core.errors import ParameterError
from seqkern.core.values import check_number

MatrixEntry: TypeAlias = tuple[int, str, list[list[float]], str, list[float] | None]
"""(line number, name, rows, letters, background) of a motif; `rows` has one list of counts for each of its columns."""


def fail(number: int, line: str, remedy: str = "correct the file") -> NoReturn:
    """Raise ParameterError about a line.

    Parameters
    ----------
    number : int
        Of the line, from 1.
    line : str
        Its text.
    remedy : str
        What to do.

    Raises
    ------
    ParameterError
        Always.
    """
    raise ParameterError(f"line {number}: {line.strip()[:60]!r} cannot be read here", remedy=remedy)


def as_numbers(text: str, number: int) -> list[float]:
    """Return the numbers of a text.

    Parameters
    ----------
    text : str
        Words.
    number : int
        Of its line, for messages.

    Returns
    -------
    list of float

    Raises
    ------
    ParameterError
        If one is not a number.
    """
    try:
        return [check_number(word) for word in text.split()]
    except ValueError:
        fail(number, text)
