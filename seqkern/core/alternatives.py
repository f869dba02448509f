"""Alternatives in a spec, ``spectrum:k=3|4|6``: the specs among which a search chooses."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping
from typing import Any

from seqkern.core.errors import ParameterError

SEPARATOR = "|"
MOST_COMBINATIONS = 10_000
_ALTERNATIVES = re.compile(r"=([^,+*()\[\]=]*\|[^,+*()\[\]=]*)")


def alternatives(text: str) -> list[str]:
    """Return every text that results from choosing one of the alternatives of each parameter.

    Parameters
    ----------
    text : str
        A spec in text form, with ``|`` between the alternatives of a parameter, however nested.

    Returns
    -------
    list of str
        All combinations, those of the last parameter next to each other; the text itself if it has no alternatives.

    Raises
    ------
    ParameterError
        If an alternative is empty, or there are more than `MOST_COMBINATIONS`.

    Examples
    --------
    >>> alternatives("mismatch:k=4|5,m=1")
    ['mismatch:k=4,m=1', 'mismatch:k=5,m=1']
    >>> alternatives("rbf:gamma=0.1|1,base=(spectrum:k=2|3)")[-1]
    'rbf:gamma=1,base=(spectrum:k=3)'
    """
    if text.lstrip().startswith("{"):
        return [text]
    pieces = _ALTERNATIVES.split(text)
    choices = [split_alternatives(piece, text) if i % 2 else [piece] for i, piece in enumerate(pieces)]
    _check_count(choices)
    return [
        "".join(f"={piece}" if i % 2 else piece for i, piece in enumerate(chosen))
        for chosen in itertools.product(*choices)
    ]


def split_alternatives(value: str, text: str = "") -> list[str]:
    """Return the alternatives of one value.

    Parameters
    ----------
    value : str
        Such as ``3|4|6``.
    text : str, optional
        The whole spec, for the message.

    Returns
    -------
    list of str
        Without surrounding blanks, each once.

    Raises
    ------
    ParameterError
        If an alternative is empty, or there are more than `MOST_COMBINATIONS`.

    Examples
    --------
    >>> split_alternatives("3|4|6")
    ['3', '4', '6']
    """
    words = [word.strip() for word in value.split(SEPARATOR)]
    if not all(words):
        raise ParameterError(
            f"an alternative in {text or value!r} is empty", remedy="write a value on each side of |, such as k=3|4|6"
        )
    return list(dict.fromkeys(words))


def spec_alternatives(spec: str | Mapping[str, Any]) -> list[Any]:
    """Return the specs that a spec with alternatives stands for.

    Parameters
    ----------
    spec : str or mapping
        In text form, or as in a configuration, where the value of a parameter may be ``"3|4|6"``.

    Returns
    -------
    list of str or dict
        The spec itself if it has no alternatives.

    Raises
    ------
    ParameterError
        If an alternative is empty, or there are more than `MOST_COMBINATIONS`.

    Examples
    --------
    >>> spec_alternatives({"kernel": "spectrum", "k": "3|4"})
    [{'kernel': 'spectrum', 'k': '3'}, {'kernel': 'spectrum', 'k': '4'}]
    """
    if isinstance(spec, str):
        return alternatives(spec)
    choices = [[(key, one) for one in _values(value)] for key, value in spec.items()]
    _check_count(choices)
    return [dict(chosen) for chosen in itertools.product(*choices)]


def _check_count(choices: list[list[Any]]) -> None:
    """Raise ParameterError for more combinations than anybody can try."""
    count = math.prod(map(len, choices))
    if count > MOST_COMBINATIONS:
        raise ParameterError(
            f"the alternatives give more than {MOST_COMBINATIONS} combinations", remedy="give fewer alternatives"
        )


def _values(value: Any) -> list[Any]:
    """Return the alternatives of the value of a parameter."""
    if isinstance(value, Mapping):
        return spec_alternatives(value)
    return split_alternatives(value) if isinstance(value, str) and SEPARATOR in value else [value]
