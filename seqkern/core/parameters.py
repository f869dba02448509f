"""What a class declares its parameters with: each function returns a `Parameter`, which type checkers take for a value.

What follows from the declarations is in parametrized.py.
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
    """Declare a whole number.

    Parameters
    ----------
    default : int, list or None, optional
        That of the constructor; without one, the parameter must be given.
    low, high : float or str, optional
        Least and largest value; a text names the parameter that has it.
    several, words, optional, kw_only, execution, list_parameter, each, doc
        As of `Parameter`.

    Returns
    -------
    Parameter
        Which type checkers take for a value.
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
        That of the constructor; without one, the parameter must be given.
    low, high : float or str, optional
        Least and largest value; a text names the parameter that has it.
    open_low, open_high : bool
        Whether the bound itself is refused.
    infinite : bool
        Whether infinity is a value.
    words, optional, kw_only, doc
        As of `Parameter`.

    Returns
    -------
    Parameter
        Which type checkers take for a value.
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
        That of the constructor; without one, the parameter must be given.
    choices : collection of str
        By default those of the annotation, a Literal.
    kw_only, execution, doc
        As of `Parameter`.

    Returns
    -------
    Parameter
        Which type checkers take for a value.
    """
    return Choice(default=default, choices=tuple(choices), kw_only=kw_only, execution=execution, doc=doc)


def flag(*, default: Any = REQUIRED, kw_only: bool = True, doc: str = "") -> Any:
    """Declare what is true or false.

    Parameters
    ----------
    default : bool, optional
        That of the constructor; without one, the parameter must be given.
    kw_only, doc
        As of `Parameter`.

    Returns
    -------
    Parameter
        Which type checkers take for a value.
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
        That of the constructor; without one, the parameter must be given.
    several : bool
        As of `Parameter`.
    rows : bool
        Whether rows of numbers may stand for the text.
    path : bool
        Whether it is the path of a file.
    optional, kw_only, remedy, doc
        As of `Parameter`.

    Returns
    -------
    Parameter
        Which type checkers take for a value.
    """
    return Text(**locals())


def alphabet_name(*, default: Any = REQUIRED, doc: str = "") -> Any:
    """Declare an alphabet, by its name or its letters.

    Parameters
    ----------
    default : str or None, optional
        That of the constructor; without one, the parameter must be given.
    doc : str
        As of `Parameter`.

    Returns
    -------
    Parameter
        Which type checkers take for a value.
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
        That of the constructor; without one, the parameter must be given.
    low, high : float, optional
        Least and largest value of each.
    words, each
        As of `Parameter`.
    length : str
        The attribute of the object that says how many numbers there are; by default any number of them.
    kw_only, remedy, doc
        As of `Parameter`.

    Returns
    -------
    Parameter
        Which type checkers take for a value.
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
        Declares the number, which messages call `each` and the name.
    default : dict, str or None, optional
        That of the constructor; without one, the parameter must be given.
    words : tuple of str
        As of `Parameter`.
    text : bool
        Whether any text may stand for the numbers.
    each, remedy, doc
        As of `Parameter`.

    Returns
    -------
    Parameter
        Which type checkers take for a value.
    """
    return NumbersByName(**locals())


def labels(*, default: Any = REQUIRED, kw_only: bool = True, list_parameter: bool = False, doc: str = "") -> Any:
    """Declare a list of classes.

    Parameters
    ----------
    default : list or None, optional
        That of the constructor; without one, the parameter must be given.
    kw_only, list_parameter, doc
        As of `Parameter`.

    Returns
    -------
    Parameter
        Which type checkers take for a value.
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
    """Declare a thing of some kind.

    Parameters
    ----------
    kind : str
        A name in kinds.py, such as ``"kernel"``.
    default : object, optional
        That of the constructor; without one, the parameter must be given.
    several : bool
        As of `Parameter`.
    expand : bool
        Whether it is all things of a grid.
    kw_only, list_parameter, doc
        As of `Parameter`.

    Returns
    -------
    Parameter
        Which type checkers take for a value.
    """
    return Component(**locals())


def anything(*, default: Any = REQUIRED, kw_only: bool = True, doc: str = "") -> Any:
    """Declare what only the class itself can check; text is read by its looks.

    Parameters
    ----------
    default : object, optional
        That of the constructor; without one, the parameter must be given.
    kw_only, doc
        As of `Parameter`.

    Returns
    -------
    Parameter
        Which type checkers take for a value.
    """
    return Parameter(**locals())


def changed(*, default: Any, **changes: Any) -> Any:
    """Declare an inherited parameter again.

    Parameters
    ----------
    default : object
        The one that the constructor has here.
    **changes : object
        What else is to be different of what it was declared with.

    Returns
    -------
    Parameter
        Which type checkers take for a value.
    """
    return Changed(default=default, changes={"default": default, **changes})


def fixed(value: Any, *, init: Literal[False] = False) -> Any:
    """Take an inherited parameter away: the constructor does not have it here.

    Parameters
    ----------
    value : object
        That of the attribute.
    init : False
        For type checkers alone, which read in it that there is no such argument.

    Returns
    -------
    Parameter
        Which type checkers take for a value.
    """
    return Fixed(default=value)
