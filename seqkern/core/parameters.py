"""Functions that declare the parameters of a class: each returns a `Parameter`, which type checkers treat as a value.

parametrized.py derives everything else from the declarations.
"""

from collections.abc import Collection
from typing import Any, Literal

from seqkern.core.declarations import REQUIRED, Changed, Fixed, Parameter
from seqkern.core.declared_components import Component
from seqkern.core.declared_numbers import Integer, Numbers, NumbersByName, Real
from seqkern.core.declared_words import AlphabetName, Choice, Flag, Labels, Text


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
    """Declare an integer.

    Parameters
    ----------
    default : int, list or None, optional
        Default of the constructor; without one, the parameter is required.
    low, high : float or str, optional
        Smallest and largest value; text names another parameter as the bound.
    several, words, optional, kw_only, execution, list_parameter, each, doc
        As for `Parameter`.

    Returns
    -------
    Parameter
        Treated as a value by type checkers.
    """
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
    """Declare a number, finite unless `infinite`.

    Parameters
    ----------
    default : float, str or None, optional
        Default of the constructor; without one, the parameter is required.
    low, high : float or str, optional
        Smallest and largest value; text names another parameter as the bound.
    open_low, open_high : bool
        Whether the bound itself is excluded.
    infinite : bool
        Whether infinity is allowed.
    words, optional, kw_only, doc
        As for `Parameter`.

    Returns
    -------
    Parameter
        Treated as a value by type checkers.
    """
    return Real(**locals())


def choice(
    *,
    default: Any = REQUIRED,
    choices: Collection[str | None] = (),
    kw_only: bool = True,
    execution: bool = False,
    doc: str = "",
) -> Any:
    """Declare one of some words.

    Parameters
    ----------
    default : str or None, optional
        Default of the constructor; without one, the parameter is required.
    choices : collection of str
        Default: those of the annotation, a Literal.
    kw_only, execution, doc
        As for `Parameter`.

    Returns
    -------
    Parameter
        Treated as a value by type checkers.
    """
    return Choice(default=default, choices=tuple(choices), kw_only=kw_only, execution=execution, doc=doc)


def flag(*, default: Any = REQUIRED, kw_only: bool = True, doc: str = "") -> Any:
    """Declare a truth value.

    Parameters
    ----------
    default : bool, optional
        Default of the constructor; without one, the parameter is required.
    kw_only, doc
        As for `Parameter`.

    Returns
    -------
    Parameter
        Treated as a value by type checkers.
    """
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
    """Declare text, or the path of a file.

    Parameters
    ----------
    default : str or None, optional
        Default of the constructor; without one, the parameter is required.
    several : bool
        As for `Parameter`.
    rows : bool
        Whether rows of numbers are allowed instead of text.
    path : bool
        Whether it is the path of a file.
    optional, kw_only, remedy, doc
        As for `Parameter`.

    Returns
    -------
    Parameter
        Treated as a value by type checkers.
    """
    return Text(**locals())


def alphabet_name(*, default: Any = REQUIRED, doc: str = "") -> Any:
    """Declare an alphabet, by name or by its letters.

    Parameters
    ----------
    default : str or None, optional
        Default of the constructor; without one, the parameter is required.
    doc : str
        As for `Parameter`.

    Returns
    -------
    Parameter
        Treated as a value by type checkers.
    """
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
    """Declare a list of numbers.

    Parameters
    ----------
    default : list, str or None, optional
        Default of the constructor; without one, the parameter is required.
    low, high : float, optional
        Smallest and largest value of each.
    words, each
        As for `Parameter`.
    length : str
        The attribute of the object with the required number of values; by default any number is allowed.
    kw_only, remedy, doc
        As for `Parameter`.

    Returns
    -------
    Parameter
        Treated as a value by type checkers.
    """
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
    """Declare a number for each of some names.

    Parameters
    ----------
    value : Parameter
        Declares the number, which messages name by `each` and its name.
    default : dict, str or None, optional
        Default of the constructor; without one, the parameter is required.
    words : tuple of str
        As for `Parameter`.
    text : bool
        Whether any text is allowed instead of the numbers.
    each, remedy, doc
        As for `Parameter`.

    Returns
    -------
    Parameter
        Treated as a value by type checkers.
    """
    return NumbersByName(**locals())


def labels(*, default: Any = REQUIRED, kw_only: bool = True, list_parameter: bool = False, doc: str = "") -> Any:
    """Declare a list of classes.

    Parameters
    ----------
    default : list or None, optional
        Default of the constructor; without one, the parameter is required.
    kw_only, list_parameter, doc
        As for `Parameter`.

    Returns
    -------
    Parameter
        Treated as a value by type checkers.
    """
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
    """Declare an object of some kind.

    Parameters
    ----------
    kind : str
        A name in kinds.py, such as ``"kernel"``.
    default : object, optional
        Default of the constructor; without one, the parameter is required.
    several : bool
        As for `Parameter`.
    expand : bool
        Whether it is all objects of a grid.
    kw_only, list_parameter, doc
        As for `Parameter`.

    Returns
    -------
    Parameter
        Treated as a value by type checkers.
    """
    return Component(**locals())


def anything(*, default: Any = REQUIRED, kw_only: bool = True, doc: str = "") -> Any:
    """Declare a parameter that only the class itself can check; its text is interpreted by its form.

    Parameters
    ----------
    default : object, optional
        Default of the constructor; without one, the parameter is required.
    kw_only, doc
        As for `Parameter`.

    Returns
    -------
    Parameter
        Treated as a value by type checkers.
    """
    return Parameter(**locals())


def changed(*, default: Any, **changes: Any) -> Any:
    """Redeclare an inherited parameter.

    Parameters
    ----------
    default : object
        The default in this class.
    **changes : object
        Other changes to the declaration.

    Returns
    -------
    Parameter
        Treated as a value by type checkers.
    """
    return Changed(default=default, changes={"default": default, **changes})


def fixed(value: Any, *, init: Literal[False] = False) -> Any:
    """Remove an inherited parameter: the constructor does not accept it.

    Parameters
    ----------
    value : object
        Value of the attribute.
    init : False
        For type checkers only: there is no such argument.

    Returns
    -------
    Parameter
        Treated as a value by type checkers.
    """
    return Fixed(default=value)
