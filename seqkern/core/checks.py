"""Checks of single values, each a ParameterError with the remedy."""

import math
import numbers
import re
from collections.abc import Collection
from typing import Any

from seqkern.core.errors import ParameterError


def check_choice(name: str, value: Any, choices: Collection) -> None:
    """Raise ParameterError unless `value` is one of `choices`."""
    if value not in choices:
        remedy = f"choose {' or '.join(map(str, choices))}"
        raise ParameterError(f"{name}={value!r} is not possible", remedy=remedy)


def check_flag(name: str, value: Any) -> None:
    """Raise ParameterError unless `value` is true or false."""
    if value not in (True, False):
        raise ParameterError(f"{name}={value!r} is not possible", remedy="give true or false")


def check_integer(name: str, value: Any, low: float | None, high: float | None = None) -> None:
    """Raise ParameterError unless `value` is an integer from `low` to `high`."""
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
    """Raise ParameterError unless `value` is a finite number ≥ `low` (> with `open_low`) and ≤ `high` (likewise <)."""
    good = isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)
    good = good and value >= low and not (open_low and value == low)
    if not good or (high is not None and value > high) or (open_high and value == high):
        span = f"{'>' if open_low else '≥'} {low}"
        span += f" and {'<' if open_high else '≤'} {high}" if high is not None else ""
        raise ParameterError(f"{name}={value!r} is not possible", remedy=f"give a number {span}")


def check_name(kind: str, name: str) -> None:
    """Raise ParameterError unless `name` can be a file name: the pattern of names in a study's schema."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}", name):
        raise ParameterError(
            f"the {kind} {name!r} cannot be a file name",
            remedy="use letters, digits, '_', '.' and '-', beginning with a letter or digit, at most 80",
        )
