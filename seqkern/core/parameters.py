"""Functions that declare the parameters of a class: each returns a `Parameter`, which type checkers treat as a value.

parametrized.py derives everything else from the declarations.
"""

from collections.abc import Collection
from typing import Any, Literal

from seqkern.core.declarations import (
    REQUIRED,
    AlphabetName,
    Changed,
    Choice,
    Component,
    Fixed,
    Flag,
    Integer,
    Labels,
    Numbers,
    NumbersByName,
    Parameter,
    Real,
    Text,
)


def integer(
    *,
    default: Any = REQUIRED,
    low: float | str | None = None,
    high: float | str | None = None,
    several: bool = False,
    words: tuple[str, ...] = (),
    optional: bool = False,
    kw_only: bool = True,
    execution: bool = False,
    list_parameter: bool = False,
    each: str = "",
    doc: str = "",
) -> Any:
    """Declare an integer."""
    return Integer(**locals())


def real(
    *,
    default: Any = REQUIRED,
    low: float | str | None = None,
    high: float | str | None = None,
    open_low: bool = False,
    open_high: bool = False,
    infinite: bool = False,
    words: tuple[str, ...] = (),
    optional: bool = False,
    kw_only: bool = True,
    doc: str = "",
) -> Any:
    """Declare a number, finite unless `infinite`."""
    return Real(**locals())


def choice(
    *,
    default: Any = REQUIRED,
    choices: Collection[str | None] = (),
    kw_only: bool = True,
    execution: bool = False,
    doc: str = "",
) -> Any:
    """Declare a choice of one of some words (default: those of the annotation, a Literal)."""
    return Choice(default=default, choices=tuple(choices), kw_only=kw_only, execution=execution, doc=doc)


def flag(*, default: Any = REQUIRED, kw_only: bool = True, doc: str = "") -> Any:
    """Declare a boolean."""
    return Flag(**locals())


def text(
    *,
    default: Any = REQUIRED,
    several: bool = False,
    rows: bool = False,
    path: bool = False,
    optional: bool = False,
    kw_only: bool = True,
    remedy: str = "",
    doc: str = "",
) -> Any:
    """Declare text, or the path of a file."""
    return Text(**locals())


def alphabet_name(*, default: Any = REQUIRED, doc: str = "") -> Any:
    """Declare an alphabet, by name or by its letters."""
    return AlphabetName(**locals())


def numbers(
    *,
    default: Any = REQUIRED,
    low: float | None = None,
    high: float | None = None,
    words: tuple[str, ...] = (),
    each: str = "",
    length: str = "",
    kw_only: bool = True,
    remedy: str = "",
    doc: str = "",
) -> Any:
    """Declare a list of numbers; `length` is the attribute of the object with the required number of values."""
    return Numbers(**locals())


def numbers_by_name(
    *,
    value: Any,
    default: Any = REQUIRED,
    words: tuple[str, ...] = (),
    text: bool = False,
    each: str = "",
    remedy: str = "",
    doc: str = "",
) -> Any:
    """Declare a number for each of some names."""
    return NumbersByName(**locals())


def labels(*, default: Any = REQUIRED, kw_only: bool = True, list_parameter: bool = False, doc: str = "") -> Any:
    """Declare a list of classes."""
    return Labels(**locals())


def component(
    kind: str,
    *,
    default: Any = REQUIRED,
    several: bool = False,
    expand: bool = False,
    kw_only: bool = True,
    list_parameter: bool = False,
    doc: str = "",
) -> Any:
    """Declare a nested object of some kind; with `expand`, all objects of a grid."""
    return Component(**locals())


def anything(*, default: Any = REQUIRED, kw_only: bool = True, doc: str = "") -> Any:
    """Declare a parameter that only the class itself can check; text is parsed by its form."""
    return Parameter(**locals())


def changed(*, default: Any, **changes: Any) -> Any:
    """Redeclare an inherited parameter with another default or other changes."""
    return Changed(default=default, changes={"default": default, **changes})


def fixed(value: Any, *, init: Literal[False] = False) -> Any:
    """Remove an inherited parameter: the constructor does not accept it."""
    return Fixed(default=value)
