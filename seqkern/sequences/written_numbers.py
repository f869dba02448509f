"""Labels that are numbers, or look like numbers: reading them, and finding those written in another way."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import LabelError
from seqkern.core.progress import tell
from seqkern.core.types import Ids, PathLike
from seqkern.core.values import read_number
from seqkern.sequences.unknown_labels import MINUS, NEITHER, UNLABELLED, is_unknown

if TYPE_CHECKING:
    from seqkern.sequences.labels import Labels

WRITTEN_NUMBER = re.compile(r"([+-]?[\d_]+(?:[.,]\d+)?)(?:\s*(?:%|[^\W\d_]{1,3}(?:/[^\W\d_]{1,3})?))?")
"""A number, perhaps with a decimal comma, a percent sign or a unit."""
WHOLE_NUMBER = re.compile(r"([-+]?[0-9]{1,18})(?:\.0*)?")
"""An integer, perhaps with a fraction of zeros."""
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
    if not _are_many(found, len(values)) or not all(map(WRITTEN_NUMBER.fullmatch, found)):
        return
    for name, value in zip(ids, values, strict=True):
        if value and math.isnan(read_number(value)):
            raise LabelError(
                f"label {value!r} would be a class of its own, one of {len(found)}",
                file=file,
                record=name,
                remedy=f"to learn numbers, write {_plain_number(value)}",
            )


def _are_many(classes: Collection[object], samples: int) -> bool:
    """Return whether most samples have a class of their own, so that no classifier can learn them."""
    return len(classes) > max(MOST_CLASSES, samples // 2)


def are_numbers(labels: Labels) -> bool:
    """Return whether the classes are numbers, and most samples have one of their own.

    Parameters
    ----------
    labels : Labels
        Of any kind.

    Returns
    -------
    bool
    """
    if labels.kind != "multiclass":
        return False
    names = [name for name in labels.names() if name]
    return _are_many(set(names), len(names)) and not any(math.isnan(read_number(name)) for name in set(names))


def refuse_numbers_as_classes(labels: Labels, file: PathLike | None = None) -> None:
    """Raise LabelError for a classifier's labels that are measurements: each would be a class of its own.

    Integers may be codes of classes, so one of them must have a fraction.

    Parameters
    ----------
    labels : Labels
        Of a training set.
    file : path-like, optional
        Where they come from, for the message.

    Raises
    ------
    LabelError
        With the number of classes.
    """
    first = with_fraction(labels.names()) if are_numbers(labels) else None
    if first is not None:
        raise LabelError(
            f"the labels are {len(set(labels.names()) - {''})} different numbers such as {first}, each a class for "
            "this solver",
            file=file,
            remedy="to learn numbers, choose solver svr (in a study with kind: real); if they are classes, name them "
            "by words",
        )


def with_fraction(names: Iterable[str]) -> str | None:
    """Return the first of some numbers that is not an integer, None if there is none.

    Parameters
    ----------
    names : iterable of str
        Texts of numbers; empty ones are skipped.

    Returns
    -------
    str or None
    """
    return next((name for name in names if name and not read_number(name).is_integer()), None)


def one_spelling(values: list[str], given: Iterable[str]) -> list[str]:
    """Return labels with each whole number spelled in one way, and tell which spellings were joined.

    ``0``, ``0.0`` and ``+0`` are one class; ``1.1`` and ``1.10`` may be two, as EC numbers are.

    Parameters
    ----------
    values : list of str
        The labels.
    given : iterable of str
        Names of classes that are given, whose spelling is kept; of others it is the shortest.

    Returns
    -------
    list of str
    """
    spellings: dict[int, list[str]] = {}
    for name in sorted(set(values), key=lambda name: (len(name), name)):
        if found := WHOLE_NUMBER.fullmatch(name):
            spellings.setdefault(int(found[1]), []).append(name)
    chosen = {key: names[0] for key, names in spellings.items()}
    chosen |= {int(found[1]): name for name in given if (found := WHOLE_NUMBER.fullmatch(name))}
    renamed = {name: chosen[key] for key, names in spellings.items() for name in names if name != chosen[key]}
    for name, spelling in renamed.items():
        tell(f"the labels {spelling!r} and {name!r} are one number, so one class: {spelling}")
    return [renamed.get(value, value) for value in values]


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
    value = read_number(name)
    return (1, 0.0, name) if math.isnan(value) else (0, value, name)


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
        y[i] = read_number(value)
        if np.isnan(y[i]):
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
