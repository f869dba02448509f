"""A declared parameter: what values one takes, how it is checked, read from text, described, put in a schema.

A value passes three forms::

    word of a text ─▶ parse ─▶ normal: as a configuration has it ─▶ build: as the constructor takes it

Every step returns unchanged what it cannot make anything of; `check` refuses it later, with the remedy.
"""

import inspect
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Self

from seqkern.core.errors import ParameterError
from seqkern.core.kinds import HOMES, kind_of
from seqkern.core.values import parse_value

REQUIRED: Any = inspect.Parameter.empty
"""The default of a parameter that must be given."""


class Parameter:
    """A parameter that takes any value, and the base of those that do not.

    Parameters
    ----------
    **traits : object
        Attributes of the class, by name; the others keep their defaults.

    Attributes
    ----------
    default : object
        That of the constructor; `REQUIRED` where there is none.
    kw_only : bool
        Whether the constructor takes it by its name only.
    doc : str
        What it means: one line, or a paragraph.
    optional : bool
        Whether None is a value too; it always is where it is the default.
    several : bool
        Whether a list of such values is a value too.
    words : tuple of str
        Words that stand for what else it may be, such as ``"scale"`` instead of a number.
    execution : bool
        Whether it changes how the numbers are computed, but not the numbers.
    list_parameter : bool
        Whether its list is one value where other lists are grids: of solvers, which choose from it by themselves.
    each : str
        What a message calls a value, or one of several; by default as the parameter.
    remedy : str
        What an error recommends, where that is not obvious.
    annotation : object
        The type of the attribute, as the class has it.

    Examples
    --------
    >>> item = Parameter(words=("auto",))
    >>> item.normal(["1e-3", "auto", "1-3"], grid=True)
    [0.001, 'auto', [1, 2, 3]]
    """

    default: Any = REQUIRED
    kw_only: bool = True
    doc: str = ""
    optional: bool = False
    several: bool = False
    words: tuple[str, ...] = ()
    execution: bool = False
    list_parameter: bool = False
    each: str = ""
    remedy: str = ""
    annotation: Any = Any

    def __init__(self, **traits: Any) -> None:
        # by hand, not by dataclasses: these write source code for each class, which doubles the time of this import
        unknown = [name for name in traits if not hasattr(type(self), name)]
        if unknown:
            raise TypeError(f"{type(self).__name__} has no {unknown[0]!r}")
        vars(self).update(traits)

    def but(self, **changes: Any) -> Self:
        """Return a parameter that is as this one but for some traits.

        Parameters
        ----------
        **changes : object
            Attributes of this class, with their new values.

        Returns
        -------
        Parameter
            Of the same class.
        """
        return type(self)(**(vars(self) | changes))

    def declared(self, annotation: Any) -> "Parameter":
        """Return this parameter as a class declares it.

        Parameters
        ----------
        annotation : object
            The type of the attribute.

        Returns
        -------
        Parameter
        """
        return self._declared(annotation)

    def _declared(self, annotation: Any) -> "Parameter":
        """Return this parameter with the type of its attribute."""
        return self.but(annotation=annotation, optional=self.optional or self.default is None)

    @property
    def required(self) -> bool:
        """Whether there is no default."""
        return self.default is REQUIRED

    # ---- checks ----------------------------------------------------------------------------------------------

    def check(self, name: str, value: Any, owner: Any = None) -> None:
        """Refuse a value outside the domain.

        Parameters
        ----------
        name : str
            What messages call the value.
        value : object
            As the constructor takes it.
        owner : object, optional
            The object that it is a parameter of, whose other parameters may bound it.

        Raises
        ------
        ParameterError
            With the remedy.
        """
        self._check(name, value, owner)

    def _check(self, name: str, value: Any, owner: Any) -> None:
        """Raise ParameterError for a value, or one of several, outside the domain."""
        if (value is None and self.optional) or (isinstance(value, str) and value in self.words):
            return
        for one in value if self.several and is_listed(value) else [value]:
            self._check_one(self.each or name, one, owner)

    def _check_one(self, name: str, value: Any, owner: Any) -> None:
        """Raise ParameterError for a single value outside the domain."""

    def _refuse(self, name: str, value: Any, remedy: str) -> None:
        """Raise ParameterError."""
        raise ParameterError(f"{name}={value!r} is not possible", remedy=self.remedy or remedy)

    # ---- reading ---------------------------------------------------------------------------------------------

    def parse(self, word: str, *, grid: bool = False) -> Any:
        """Return what a word of a text form means here.

        Parameters
        ----------
        word : str
            What stands after ``=``; blanks around it do not count.
        grid : bool
            Whether a list of values is a grid, so that any number may be given as a range ``1-5``.

        Returns
        -------
        object
            The value in the normal form.
        """
        word = word.strip()
        if self.optional and word.lower() == "none":
            return None
        return word if word in self.words else self._parse(word, grid or self.several)

    def _parse(self, word: str, ranges: bool) -> Any:
        """Return what a word means that is not one of `words`; a range only where `ranges` may stand."""
        return parse_value(word)

    @property
    def item(self) -> "Parameter":
        """What each value of a list is."""
        return self

    def normal(self, value: Any, *, grid: bool = False) -> Any:
        """Read the texts of a value that mean something else, lists item by item.

        Parameters
        ----------
        value : object
            As a configuration has it.
        grid : bool
            Whether a list of values is a grid, as for `parse`.

        Returns
        -------
        object
            The value in the normal form.
        """
        return self._normal(value, grid)

    def _normal(self, value: Any, grid: bool) -> Any:
        """Return the normal form of a value."""
        if isinstance(value, (list, tuple)):
            return [self.item.normal(item, grid=grid) for item in value]
        return self.parse(value, grid=grid) if isinstance(value, str) else value

    def build(self, value: Any) -> Any:
        """Build what mappings describe that name a kind.

        Parameters
        ----------
        value : object
            In the normal form.

        Returns
        -------
        object
            What the constructor takes.
        """
        return self._build(value)

    def _build(self, value: Any) -> Any:
        """Return what the constructor takes for a normal value."""
        if isinstance(value, (list, tuple)):
            return [self.item.build(item) for item in value]
        if isinstance(value, Mapping):
            for name in HOMES:
                if isinstance(value.get(name), str) and kind_of(name).registry is not None:
                    return kind_of(name).build(value)
        return value

    # ---- description -----------------------------------------------------------------------------------------

    def type_text(self) -> str:
        """Return the type as the documentation has it, without the default."""
        text = " or ".join([*([self._words_text()] if self.words else []), self._type()])
        if self.several:
            text += f" or list of {self._element()}"
        return f"{text} or None" if self.optional and self.default is not None else text

    def _type(self) -> str:
        """Return the type of a single value, with its domain."""
        return "object"

    def _element(self) -> str:
        """Return the type of a single value, without its domain."""
        return self._type()

    def _words_text(self) -> str:
        """Return `words` as the documentation has them."""
        return (
            "{" + ", ".join(f'"{word}"' for word in self.words) + "}" if len(self.words) > 1 else f'"{self.words[0]}"'
        )

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of a value in a configuration."""
        choices = [self._schema(), *([{"enum": list(self.words)}] if self.words else [])]
        if self.several:
            choices.append({"type": "array", "items": self._schema()})
        if self.optional:
            choices.append({"enum": [None, "none"]})
        schema = choices[0] if len(choices) == 1 else {"anyOf": choices}
        return {**schema, **({"description": self.doc} if self.doc else {}), **self._default_schema()}

    def _schema(self) -> dict[str, Any]:
        """Return the JSON schema of a single value."""
        return {}

    def _default_schema(self) -> dict[str, Any]:
        """Return the default as a schema has it."""
        return {} if self.default is REQUIRED else {"default": "inf" if self.default == math.inf else self.default}


class Changed(Parameter):
    """The inherited parameter with something changed; only while a class is made.

    Examples
    --------
    >>> from seqkern.core.declared_numbers import Integer
    >>> Changed(changes={"default": 5}).of(Integer(default=3, low=1)).default
    5
    """

    changes: Mapping[str, Any] = MappingProxyType({})

    def of(self, inherited: Parameter) -> Parameter:
        """Return the parameter that is meant.

        Parameters
        ----------
        inherited : Parameter
            The one that a base class declares.

        Returns
        -------
        Parameter
        """
        return inherited.but(**self.changes)


class Fixed(Parameter):
    """An inherited parameter that this class does not have: its value is always the default.

    Examples
    --------
    >>> isinstance(Fixed(default=1), Parameter)
    True
    """


def is_listed(value: Any) -> bool:
    """Tell whether a value is a list of values.

    Parameters
    ----------
    value : object
        A parameter's.

    Returns
    -------
    bool
        True for a list, a tuple, a range or an array.

    Examples
    --------
    >>> is_listed([1, 2]), is_listed("ACGT")
    (True, False)
    """
    return isinstance(value, (list, tuple, range)) or getattr(value, "ndim", 0) > 0
