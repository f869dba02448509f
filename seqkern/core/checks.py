"""Checks of single values, each a ParameterError with the remedy; and numbers in texts."""

import math
import numbers
import re
from collections.abc import Collection
from typing import Any

from seqkern.core.errors import ParameterError


def check_choice(name: str, value: Any, choices: Collection[Any]) -> None:
    """Raise ParameterError unless a value is one of some choices.

    >>> check_choice("norm", "l3", ("l1", "l2"))
    Traceback (most recent call last):
        ...
    seqkern.core.errors.ParameterError: norm='l3' is not possible; choose l1 or l2
    """
    if value not in choices:
        remedy = f"choose {' or '.join(map(str, choices))}"
        raise ParameterError(f"{name}={value!r} is not possible", remedy=remedy)


def check_flag(name: str, value: Any) -> None:
    """Raise ParameterError unless a value is true or false; 0 and 1 are accepted.

    >>> check_flag("centre", "yes")
    Traceback (most recent call last):
        ...
    seqkern.core.errors.ParameterError: centre='yes' is not possible; give true or false
    """
    if value not in (True, False):
        raise ParameterError(f"{name}={value!r} is not possible", remedy="give true or false")


def check_integer(name: str, value: Any, low: float | None, high: float | None = None) -> None:
    """Raise ParameterError unless a value is an integer within bounds; bools are not accepted.

    >>> check_integer("k", 0, 1, 20)
    Traceback (most recent call last):
        ...
    seqkern.core.errors.ParameterError: k=0 is not possible; give an integer from 1 to 20
    """
    good = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not good or value < low or (high is not None and value > high):
        span = f"at least {low}" if high is None else f"from {low} to {high}"
        raise ParameterError(f"{name}={value!r} is not possible", remedy=f"give an integer {span}")


def check_real(
    name: str,
    value: Any,
    low: float | None,
    high: float | None = None,
    *,
    open_low: bool = False,
    open_high: bool = False,
) -> None:
    """Raise ParameterError unless a value is a finite number within bounds; bools are not accepted.

    >>> check_real("lambda", 0, 0, 1, open_low=True)
    Traceback (most recent call last):
        ...
    seqkern.core.errors.ParameterError: lambda=0 is not possible; give a number > 0 and ≤ 1
    """
    good = isinstance(value, numbers.Real) and not isinstance(value, bool) and _is_finite(value)
    good = good and value >= low and not (open_low and value == low)
    if not good or (high is not None and value > high) or (open_high and value == high):
        span = f"{'>' if open_low else '≥'} {low}"
        span += f" and {'<' if open_high else '≤'} {high}" if high is not None else ""
        raise ParameterError(f"{name}={value!r} is not possible", remedy=f"give a number {span}")


def check_integers(low: int, **values: Any) -> None:
    """Raise ParameterError unless each value, given by its name, is an integer of at least `low`."""
    for name, value in values.items():
        check_integer(name, value, low)


def check_reals(low: float, high: float, **values: Any) -> None:
    """Raise ParameterError unless each value, given by its name, is a number within bounds."""
    for name, value in values.items():
        check_real(name, value, low, high)


def _is_finite(value: Any) -> bool:
    """Return whether a number is finite in double precision."""
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer of many digits
        return False


def check_name(kind: str, name: str) -> None:
    """Raise ParameterError unless a name can be a file name, by the pattern for names in the configuration schema.

    >>> check_name("family", "a/1")
    Traceback (most recent call last):
        ...
    seqkern.core.errors.ParameterError: the family 'a/1' cannot be a file name; rename it ...
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}", name):
        raise ParameterError(
            f"the {kind} {name!r} cannot be a file name",
            remedy="rename it with letters, digits, '_', '.' and '-', starting with a letter or digit, at most 80 "
            "characters",
        )


# Numbers in texts, for options, tables and labels: in ASCII, and without the underscores that Python allows.

MOST_DIGITS = 18
"""Number of digits of an integer that fits into 64 bits."""


def read_number(text: str) -> float:
    """Return the finite number in a text, NaN if there is none; tables, labels and options all use it.

    >>> [read_number(text) for text in ("-1e-3", " 5 ", "1_000", "١", "1e400", "inf")]
    [-0.001, 5.0, nan, nan, nan, nan]
    """
    try:
        value = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def check_number(text: str) -> float:
    """Return the finite number in a text like `read_number`, but raise ValueError if there is none."""
    value = read_number(text)
    if math.isnan(value):
        raise ValueError(f"{text[:40]!r} is not a finite number")
    return value


def check_int(text: str) -> int:
    """Return the integer of 64 bits in a text of ASCII digits with an optional sign; raise ValueError for others."""
    if not re.fullmatch(r"\s*[-+]?[0-9]+\s*", text):
        raise ValueError(f"{text[:40]!r} is not an integer")
    if len(text.strip()) > MOST_DIGITS:
        raise ValueError(f"{text.strip()[:40]} has more than {MOST_DIGITS} digits")
    return int(text)


def whole_number(text: str) -> int | None:
    """Return the non-negative integer in a text of digits; None if it is not one, or exceeds 64 bits.

    >>> whole_number("301"), whole_number("٣"), whole_number("9" * 30)
    (301, None, None)
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None
