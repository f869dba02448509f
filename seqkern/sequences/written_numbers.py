"""Labels that are numbers, or look like numbers: reading them, and finding those written in another way."""

from __future__ import annotations

import math
import re

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import LabelError
from seqkern.core.types import Ids, PathLike
from seqkern.sequences.unknown_labels import MINUS, NEITHER, UNLABELLED, is_unknown

WRITTEN_NUMBER = re.compile(r"([+-]?\d+(?:[.,]\d+)?)(?:\s*(?:%|[^\W\d_]{1,3}(?:/[^\W\d_]{1,3})?))?")
"""A number, perhaps with a decimal comma, a percent sign or a unit."""
MOST_CLASSES = 10
"""Of more, if most samples have one of their own, it is asked whether they are numbers."""


def refuse_written_numbers(ids: Ids, values: list[str], found: set[str], file: PathLike | None) -> None:
    """Raise LabelError for measurements that are not written as numbers: each would be a class of its own.

    Parameters
    ----------
    ids : sequence of str
        The names of the samples.
    values : list of str
        Their labels; an empty one is none.
    found : set of str
        The different labels among them.
    file : path-like or None
        Where they come from, for the message.

    Raises
    ------
    LabelError
        For the first sample, with how to write its number.
    """
    if len(found) <= max(MOST_CLASSES, len(values) // 2) or not all(map(WRITTEN_NUMBER.fullmatch, found)):
        return
    for name, value in zip(ids, values, strict=True):
        if value and not _is_number(value):
            raise LabelError(
                f"label {value!r} would be a class of its own, one of {len(found)}",
                file=file,
                record=name,
                remedy=f"to learn numbers, write {_plain_number(value)}",
            )


def _is_number(text: str) -> bool:
    """Return whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _plain_number(text: str) -> str:
    """Return how to write a number with a decimal comma, a percent sign or a unit; else an example."""
    found = WRITTEN_NUMBER.fullmatch(text)
    return "plain numbers such as 0.5" if found is None else f"{found[1].replace(',', '.')} in place of {text!r}"


def by_value(name: str) -> tuple[int, float, str]:
    """Return a sorting key: numbers by value, before text.

    Parameters
    ----------
    name : str
        A label.

    Returns
    -------
    (int, float, str)

    Examples
    --------
    >>> sorted(["b", "10", "9"], key=by_value)
    ['9', '10', 'b']
    """
    try:
        value = float(name)
    except ValueError:
        value = math.nan
    return (1, 0.0, name) if math.isnan(value) else (0, value, name)  # nan has no place in an order


def real_labels(ids: Ids, values: list[str], file: PathLike | None) -> npt.NDArray[np.float64]:
    """Return the numbers of labels.

    Parameters
    ----------
    ids : sequence of str
        The names of the samples.
    values : list of str
        Their labels.
    file : path-like or None
        Where they come from, for messages.

    Returns
    -------
    ndarray of float64, shape (n,)
        NaN for an empty label.

    Raises
    ------
    LabelError
        For one that is not a finite number, or if all are empty.
    """
    y = np.full(len(values), np.nan)
    for i, value in enumerate(values):
        if value == "":
            continue
        try:
            y[i] = float(value)
        except ValueError:
            y[i] = np.inf
        if not np.isfinite(y[i]):
            unknown = is_unknown(value) or value == MINUS or value.lower() in UNLABELLED | NEITHER
            write = "leave it empty if it is unknown" if unknown else f"write {_plain_number(value)}"
            raise LabelError(
                f"label {value!r} is not a finite number",
                file=file,
                record=ids[i],
                remedy=f"{write}, or give a solver for classes (in a study without kind: real)",
            )
    if np.isnan(y).all():
        raise LabelError("no labels", file=file, remedy="check the column or field of the labels")
    return y
