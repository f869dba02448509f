"""The value of a piece of text: a constant, a number, a range of integers, or the text itself."""

import math
import re
from typing import Any

DECIMAL = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
"""Pattern of a number: in ASCII, and without the underscores that Python allows."""
NUMBER = re.compile(rf"{DECIMAL}(?=\s*(?:[,+*)\]]|$))")
_RANGE = re.compile(r"([0-9]{1,18})-([0-9]{1,18})")
_LONGEST_RANGE = 1000
MOST_DIGITS = 18
"""Of an integer that fits into 64 bits."""
_CONSTANTS = {"none": None, "true": True, "false": False}


def parse_value(text: str) -> Any:
    """Return the value of a text whose type is not declared.

    Parameters
    ----------
    text : str
        The text; surrounding blanks are ignored.

    Returns
    -------
    None, bool, int, float, list of int or str
        A list for a range, such as ``1-3``.

    Examples
    --------
    >>> [parse_value(word) for word in ("none", "3", "1e-3", "1-3", "dna")]
    [None, 3, 0.001, [1, 2, 3], 'dna']
    """
    word = text.strip()
    if word.lower() in _CONSTANTS:
        return _CONSTANTS[word.lower()]
    span = _RANGE.fullmatch(word)
    if span and 0 <= int(span[2]) - int(span[1]) < _LONGEST_RANGE:
        return list(range(int(span[1]), int(span[2]) + 1))
    if math.isnan(read_number(word)):
        return word
    return float(word) if set(word) & set(".eE") else int(word)


def read_number(text: str) -> float:
    """Return the finite number in a text: one reader for tables, labels, parameters and options.

    Parameters
    ----------
    text : str
        The text; surrounding blanks are ignored.

    Returns
    -------
    float
        NaN if it is something else: also ``1_000``, digits of other scripts, and ``1e400``, which is no double.

    Examples
    --------
    >>> [read_number(text) for text in ("-1e-3", " 5 ", "1_000", "١", "1e400", "inf")]
    [-0.001, 5.0, nan, nan, nan, nan]
    """
    try:
        value = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def check_number(text: str) -> float:
    """Return the finite number in a text as `read_number`; raise ValueError for something else.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    float
    """
    value = read_number(text)
    if math.isnan(value):
        raise ValueError(f"{text[:40]!r} is not a finite number")
    return value


def check_integer(text: str) -> int:
    """Return the integer in a text of ASCII digits, perhaps with a sign; raise ValueError for something else.

    Parameters
    ----------
    text : str
        The text; surrounding blanks are ignored.

    Returns
    -------
    int
    """
    if not re.fullmatch(r"\s*[-+]?[0-9]+\s*", text):
        raise ValueError(f"{text[:40]!r} is not an integer")
    return int(text)


def whole_number(text: str) -> int | None:
    """Return the non-negative integer in a text of digits.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    int or None
        None if it is something else, or does not fit into 64 bits.

    Examples
    --------
    >>> whole_number("301"), whole_number("٣"), whole_number("9" * 30)
    (301, None, None)
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None
