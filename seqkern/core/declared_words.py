"""Declared parameters that are text: one of several, true or false, any text, the name of an alphabet, labels."""

from collections.abc import Collection
from typing import Any, Literal, get_args, get_origin

from seqkern.core.checks import check_choice, check_flag
from seqkern.core.declarations import Parameter, is_listed
from seqkern.core.errors import ParameterError


class Choice(Parameter):
    """One of some words; by default those of the annotation, a Literal.

    Examples
    --------
    >>> item = Choice(choices=("l1", "l2"), optional=True)
    >>> item.type_text(), item.parse("none")
    ('{None, "l1", "l2"}', None)
    """

    choices: Collection[str | None] = ()

    def _declared(self, annotation: Any) -> Parameter:
        """Return this parameter with the choices of the annotation, if it has none of its own."""
        choices = tuple(self.choices) or _literals(annotation)
        declared = self.but(choices=choices, optional=self.optional or None in choices)
        return super(Choice, declared)._declared(annotation)

    def _all(self) -> tuple[str | None, ...]:
        """Return all choices, starting with None if allowed."""
        words = tuple(choice for choice in self.choices if choice is not None)
        return (None, *words) if self.optional else words

    def _check(self, name: str, value: Any, owner: Any) -> None:
        """Raise ParameterError unless the value is one of the choices."""
        check_choice(name, value, self._all())

    def _parse(self, word: str, ranges: bool) -> Any:
        return word

    def type_text(self) -> str:
        """Return the choices."""
        words = [str(word) if word is None else f'"{word}"' for word in self._all()]
        return "{" + ", ".join(words) + "}"

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of a value in a configuration."""
        all_words = [*self._all(), *(["none"] if self.optional else [])]
        return {"enum": all_words, **({"description": self.doc} if self.doc else {}), **self._default_schema()}


class Flag(Parameter):
    """True or false.

    Examples
    --------
    >>> Flag().parse("true"), Flag(default=False).schema()["default"]
    (True, False)
    """

    def _check_one(self, name: str, value: Any, owner: Any) -> None:
        check_flag(name, value)

    def _type(self) -> str:
        return "bool"

    def _schema(self) -> dict[str, Any]:
        return {"enum": [True, False, "true", "false", 0, 1]}


class Text(Parameter):
    """Text of any form: ``01`` stays ``01``; or the path of a file; with `rows`, rows of numbers are allowed.

    Examples
    --------
    >>> Text().parse("01"), Parameter().parse("01")
    ('01', 1)
    """

    rows: bool = False
    path: bool = False

    def _check(self, name: str, value: Any, owner: Any) -> None:
        """Raise ParameterError unless the value is text, or an allowed replacement."""
        if not (self.rows and is_listed(value)):
            super()._check(name, value, owner)

    def _check_one(self, name: str, value: Any, owner: Any) -> None:
        if isinstance(value, str):
            return
        if self.path:
            raise ParameterError(f"{name}={value!r} is not a path", remedy=self.remedy)
        self._refuse(name, value, "give text" if not self.rows else "give a name, or rows of numbers")

    def _parse(self, word: str, ranges: bool) -> Any:
        return word

    @property
    def item(self) -> Parameter:
        """The declaration of each value of a list: text, or numbers."""
        return Parameter() if self.rows else self

    def _normal(self, value: Any, grid: bool) -> Any:
        """Return a value of a configuration, where YAML turns some texts into numbers."""
        return str(value) if type(value) in (int, float) else super()._normal(value, grid)

    def _type(self) -> str:
        return "str or list of list of float" if self.rows else "str"

    def _schema(self) -> dict[str, Any]:
        text = {"type": ["string", "number"]}
        return {"anyOf": [text, {"type": "array"}]} if self.rows else text


class AlphabetName(Text):
    """An alphabet by name, by its letters, or as an Alphabet; checked when sequences are encoded.

    Examples
    --------
    >>> AlphabetName().check("alphabet", 7)
    """

    def _check_one(self, name: str, value: Any, owner: Any) -> None:
        """Leave the check to the sequences, whose error names the suitable alphabets."""


class Labels(Parameter):
    """A list of class names or codes.

    Examples
    --------
    >>> Labels().normal(["donor", "1"])
    ['donor', '1']
    """

    def _parse(self, word: str, ranges: bool) -> Any:
        return word

    def _type(self) -> str:
        return "sequence of str"

    def _schema(self) -> dict[str, Any]:
        return {"type": "array", "items": {"type": ["string", "number"]}}


def _literals(annotation: Any) -> tuple[Any, ...]:
    """Return the values of the Literals in an annotation."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    if annotation is type(None):
        return (None,)
    return tuple(value for part in get_args(annotation) for value in _literals(part))
