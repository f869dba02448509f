"""The value of a piece of text: a constant, a number, a range of integers, or the text itself."""

import re
from typing import Any

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?=\s*(?:[,+*)\]]|$))")
_RANGE = re.compile(r"(\d+)-(\d+)")
_LONGEST_RANGE = 1000
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
    return float(word) if set(word) & set(".eE") else int(word)
