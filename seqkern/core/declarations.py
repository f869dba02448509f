"""A declared parameter: its values, and how they are checked, parsed, documented and put in a schema.

A value passes three forms::

    text ─▶ parse ─▶ normal: as a configuration has it ─▶ build: as the constructor takes it

Every step returns unchanged what it cannot interpret; `check` rejects it later, with the remedy.
"""

import inspect
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Self

from seqkern.core.alternatives import SEPARATOR, split_alternatives
from seqkern.core.errors import ParameterError
from seqkern.core.kinds import HOMES, kind_of
from seqkern.core.values import parse_value

REQUIRED: Any = inspect.Parameter.empty
"""The default of a parameter that must be given."""


class Parameter:
    """A parameter that accepts any value; base of the more specific ones.

    Parameters
    ----------
    **traits : object
        Attributes of the class by name; the others keep their defaults.

    Attributes
    ----------
    default : object
        Default of the constructor; `REQUIRED` if there is none.
    kw_only : bool
        Whether the constructor accepts it by keyword only.
    doc : str
        The meaning: one line, or a paragraph.
    optional : bool
        Whether None is allowed; always true if None is the default.
    several : bool
        Whether a list of such values is allowed.
    words : tuple of str
        Words allowed as well, such as ``"scale"`` instead of a number.
    execution : bool
        Whether it changes only how the numbers are computed.
    list_parameter : bool
        Whether a list is one value, and not a grid: for solvers that choose from it themselves.
    each : str
        Name of one of several values in messages (default: the parameter's name).
    remedy : str
        The remedy in errors, if it is not obvious.
    annotation : object
        Type of the attribute, from the class.

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
        # by hand: dataclasses generate source code for each class, which doubles the import time
        unknown = [name for name in traits if not hasattr(type(self), name)]
        if unknown:
            raise TypeError(f"{type(self).__name__} has no {unknown[0]!r}")
        vars(self).update(traits)

    def but(self, **changes: Any) -> Self:
        """Return a copy of this parameter with some changes.

        Parameters
        ----------
        **changes : object
            Attributes of this class, with their new values.

        Returns
        -------
        Parameter
            A parameter of the same class.
        """
        return type(self)(**(vars(self) | changes))

    def declared(self, annotation: Any) -> "Parameter":
        """Return this parameter as a class declares it.

        Parameters
        ----------
        annotation : object
            Type of the attribute.

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
        """Check that a value is in the domain.

        Parameters
        ----------
        name : str
            Name of the value in messages.
        value : object
            In the form of the constructor.
        owner : object, optional
            The object with the parameter; its other parameters may bound the value.

        Raises
        ------
        ParameterError
            If the value is outside the domain.
        """
        self._check(name, value, owner)

    def _check(self, name: str, value: Any, owner: Any) -> None:
        """Raise ParameterError if a value, or one of several, is outside the domain."""
        if (value is None and self.optional) or (isinstance(value, str) and value in self.words):
            return
        for one in value if self.several and is_listed(value) else [value]:
            self._check_one(self.each or name, one, owner)

    def _check_one(self, name: str, value: Any, owner: Any) -> None:
        """Raise ParameterError if a single value is outside the domain."""

    def _refuse(self, name: str, value: Any, remedy: str) -> None:
        """Raise ParameterError."""
        raise ParameterError(f"{name}={value!r} is not possible", remedy=self.remedy or remedy)

    # ---- reading ---------------------------------------------------------------------------------------------

    def parse(self, word: str, *, grid: bool = False) -> Any:
        """Return the value of a text.

        Parameters
        ----------
        word : str
            The text after ``=``; surrounding blanks are ignored.
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
        """Return the value of a text that is not one of `words`; a range only if `ranges` is true."""
        return parse_value(word)

    @property
    def item(self) -> "Parameter":
        """The declaration of each value of a list."""
        return self

    def normal(self, value: Any, *, grid: bool = False) -> Any:
        """Convert texts in a value to what they stand for, lists item by item.

        Parameters
        ----------
        value : object
            In the form of a configuration.
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
        if grid and isinstance(value, str) and SEPARATOR in value:
            return [self.parse(one, grid=True) for one in split_alternatives(value)]
        return self.parse(value, grid=grid) if isinstance(value, str) else value

    def build(self, value: Any) -> Any:
        """Build the objects that mappings describe.

        Parameters
        ----------
        value : object
            In the normal form.

        Returns
        -------
        object
            In the form of the constructor.
        """
        return self._build(value)

    def _build(self, value: Any) -> Any:
        """Return the constructor's form of a normal value."""
        if isinstance(value, (list, tuple)):
            return [self.item.build(item) for item in value]
        if isinstance(value, Mapping):
            for name in HOMES:
                if isinstance(value.get(name), str) and kind_of(name).registry is not None:
                    return kind_of(name).build(value)
        return value

    # ---- description -----------------------------------------------------------------------------------------

    def type_text(self) -> str:
        """Return the type for the documentation, without the default."""
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
        """Return `words` for the documentation."""
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
        """Return the default for a schema."""
        return {} if self.default is REQUIRED else {"default": "inf" if self.default == math.inf else self.default}


class Changed(Parameter):
    """An inherited parameter with changes; exists only while a class is created.

    Examples
    --------
    >>> from seqkern.core.declared_numbers import Integer
    >>> Changed(changes={"default": 5}).of(Integer(default=3, low=1)).default
    5
    """

    changes: Mapping[str, Any] = MappingProxyType({})

    def of(self, inherited: Parameter) -> Parameter:
        """Return the parameter with the changes.

        Parameters
        ----------
        inherited : Parameter
            As declared by a base class.

        Returns
        -------
        Parameter
        """
        return inherited.but(**self.changes)


class Fixed(Parameter):
    """An inherited parameter that this class lacks: its value is always the default.

    Examples
    --------
    >>> isinstance(Fixed(default=1), Parameter)
    True
    """


def is_listed(value: Any) -> bool:
    """Return whether a value is a list of values.

    Parameters
    ----------
    value : object
        Value of a parameter.

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
