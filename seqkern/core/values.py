"""The value of a piece of text: a constant, a number, a range of integers, or the text itself."""

import re
from typing import Any

NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?=\s*(?:[,+*)\]]|$))")
_RANGE = re.compile(r"(\d{1,18})-(\d{1,18})")
_LONGEST_RANGE = 1000
MOST_DIGITS = 18
"""Of an integer that fits into 64 bits."""
MOST_CONVERTED = 4000
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
    if not NUMBER.fullmatch(word):
        return word
    # integers of more digits than Python converts are infinite, which no parameter allows
    return float(word) if set(word) & set(".eE") or len(word) > MOST_CONVERTED else int(word)


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
