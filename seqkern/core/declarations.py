"""The sorts of parameters: what values one takes, how it is checked, read from text, described, put in a schema.

A value passes three forms::

    word of a text ─▶ parse ─▶ normal: as a configuration has it ─▶ build: as the constructor takes it

Every step returns unchanged what it cannot make anything of; `check` refuses it later, with the remedy.
"""

import inspect
import math
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, Literal, Self, get_args, get_origin

from seqkern.core.checks import check_choice, check_flag, check_integer, check_real
from seqkern.core.errors import ParameterError
from seqkern.core.kinds import HOMES, kind_of
from seqkern.core.words import parse_value

FAR = 1e9
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


class Number(Parameter):
    """A number between bounds; a bound that is a text is the name of the parameter that has it.

    Examples
    --------
    >>> Real(low=0, high="C", doc="Share of the bound.").type_text()
    'float from 0 to `C`'
    """

    low: float | str | None = None
    high: float | str | None = None
    open_low: bool = False
    open_high: bool = False

    def _bounds(self, owner: Any) -> tuple[Any, Any]:
        """Return both bounds, those that are other parameters looked up."""
        low, high = (getattr(owner, end) if isinstance(end, str) else end for end in (self.low, self.high))
        return low, high

    def _check(self, name: str, value: Any, owner: Any) -> None:
        """Raise ParameterError for a value outside the domain."""
        if isinstance(value, str) and self.words and value not in self.words:
            *first, last = [f"give {self._article()} {self._span(self._bounds(owner))}".rstrip(), *self.words]
            self._refuse(name, value, f"{', '.join(first)} or {last}")
        super()._check(name, value, owner)

    def _parse(self, word: str, ranges: bool) -> Any:
        value = parse_value(word)
        return word if isinstance(value, list) and not ranges else value

    def _article(self) -> str:
        """Return what a number is called in messages."""
        return "a number"

    def _span(self, bounds: tuple[Any, Any]) -> str:
        """Return the domain, as the documentation has it: the empty text where there is none."""
        low, high = bounds
        if low is not None and high is not None and not self.open_low and not self.open_high:
            return f"from {low} to {high}"
        ends = [] if low is None else [f"{'>' if self.open_low else '≥'} {low}"]
        ends += [] if high is None else [f"{'<' if self.open_high else '≤'} {high}"]
        return " and ".join(ends)

    def _type(self) -> str:
        bounds = (_shown(self.low), _shown(self.high))
        return f"{self._element()} {self._span(bounds)}".rstrip()

    def _number_schema(self, kind: str) -> dict[str, Any]:
        """Return the JSON schema of a number, and of a text that means one."""
        schema: dict[str, Any] = {"type": kind}
        if isinstance(self.low, (int, float)) and math.isfinite(self.low):
            schema["exclusiveMinimum" if self.open_low else "minimum"] = self.low
        if isinstance(self.high, (int, float)):
            schema["exclusiveMaximum" if self.open_high else "maximum"] = self.high
        return schema


class Integer(Number):
    """A whole number from `low` to `high`.

    Examples
    --------
    >>> item = Integer(low=1, high=20, several=True, doc="Length of the k-mers.")
    >>> item.type_text(), item.parse("3-5")
    ('int from 1 to 20 or list of int', [3, 4, 5])
    >>> item.check("k", 21)
    Traceback (most recent call last):
        ...
    seqkern.core.errors.ParameterError: k=21 is not possible; give an integer from 1 to 20
    """

    def _check_one(self, name: str, value: Any, owner: Any) -> None:
        low, high = self._bounds(owner)
        check_integer(name, value, -math.inf if low is None else low, high)

    def _article(self) -> str:
        return "an integer"

    def _element(self) -> str:
        return "int"

    def _schema(self) -> dict[str, Any]:
        return {"anyOf": [self._number_schema("integer"), {"type": "string", "pattern": r"^[-+]?\d+$"}]}

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of a value in a configuration; several may be a range ``1-5``."""
        schema = super().schema()
        if self.several:
            schema["anyOf"].append({"type": "string", "pattern": r"^\d+-\d+$"})
        return schema


class Real(Number):
    """A number from `low` to `high`; with `infinite`, infinity too, which JSON writes ``"inf"``.

    Examples
    --------
    >>> item = Real(low=0, open_low=True, infinite=True)
    >>> item.type_text(), item.parse("1e-3"), item.build("inf")
    ('float > 0 or infinity', 0.001, inf)
    """

    infinite: bool = False

    def _check_one(self, name: str, value: Any, owner: Any) -> None:
        if self.infinite and value == math.inf:
            return
        low, high = self._bounds(owner)
        low = -math.inf if low is None else low
        check_real(name, value, low, high, open_low=self.open_low, open_high=self.open_high)

    def _build(self, value: Any) -> Any:
        """Return the value, infinity for its text."""
        return math.inf if isinstance(value, str) and value == "inf" else super()._build(value)

    def _element(self) -> str:
        return "float"

    def _type(self) -> str:
        return f"{super()._type()} or infinity" if self.infinite else super()._type()

    def _schema(self) -> dict[str, Any]:
        number = self._number_schema("number")
        # YAML reads 1e-3 as a text
        text = {
            "type": "string",
            "pattern": r"^([-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?" + ("|inf" * self.infinite) + ")$",
        }
        return {"anyOf": [number, text]}


class Choice(Parameter):
    """One of some words; by default those of its annotation, a Literal.

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
        """Return all choices, None first if it is one."""
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
    """Text, whatever it looks like: ``01`` stays ``01``; the path of a file; with `rows`, rows of numbers instead.

    Examples
    --------
    >>> Text().parse("01"), Parameter().parse("01")
    ('01', 1)
    """

    rows: bool = False
    path: bool = False

    def _check(self, name: str, value: Any, owner: Any) -> None:
        """Raise ParameterError unless the value is text, or what may stand for it."""
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
        """What each value of a list is: text, or numbers."""
        return Parameter() if self.rows else self

    def _normal(self, value: Any, grid: bool) -> Any:
        """Return a value of a configuration, where YAML makes numbers of some texts."""
        return str(value) if type(value) in (int, float) else super()._normal(value, grid)

    def _type(self) -> str:
        return "str or list of list of float" if self.rows else "str"

    def _schema(self) -> dict[str, Any]:
        text = {"type": ["string", "number"]}
        return {"anyOf": [text, {"type": "array"}]} if self.rows else text


class AlphabetName(Text):
    """The name of an alphabet, its letters, or an Alphabet; who encodes with it checks it.

    Examples
    --------
    >>> AlphabetName().check("alphabet", 7)
    """

    def _check_one(self, name: str, value: Any, owner: Any) -> None:
        """Leave the check to the sequences, whose error says what fits them."""


class Numbers(Real):
    """A list of numbers, as many as the attribute `length` of the object says; `words` may stand for some.

    Examples
    --------
    >>> Numbers(low=0, words=("linear",)).check("weights", [0.5, -1])
    Traceback (most recent call last):
        ...
    seqkern.core.errors.ParameterError: weights=-1 is not possible; give a number ≥ 0
    """

    length: str = ""

    def _check(self, name: str, value: Any, owner: Any) -> None:
        """Raise ParameterError unless the value is a list of numbers in the domain, or what may stand for it."""
        if (value is None and self.optional) or (isinstance(value, str) and value in self.words):
            return
        count = getattr(owner, self.length) if self.length else None
        if not is_listed(value) or getattr(value, "ndim", 1) != 1 or count not in (None, len(value)):
            choose = f"choose {', '.join(self.words)}, or " if self.words else ""
            self._refuse(name, value, f"{choose}give a list of {'' if count is None else f'{count} '}numbers")
        for one in value:
            self._check_one(self.each or name, one, owner)

    def _parse(self, word: str, ranges: bool) -> Any:
        return super()._parse(word, True)

    @property
    def item(self) -> Parameter:
        """What each value of a list is."""
        return Real()

    def _type(self) -> str:
        return f"list of {super()._type()}"

    def _schema(self) -> dict[str, Any]:
        return {"type": "array", "items": super()._schema()}


class NumbersByName(Parameter):
    """A number for each of some names; `words` may stand for them, or with `text` any text.

    A message calls a number as the parameter and then by its name, or with `each` by that and its name.

    Examples
    --------
    >>> NumbersByName(value=Real(low=0), words=("balanced",)).normal({"donor": "5", "decoy": 1})
    {'donor': 5, 'decoy': 1}
    """

    value: Number = Number()
    text: bool = False

    def _check(self, name: str, value: Any, owner: Any) -> None:
        """Raise ParameterError unless all numbers are in the domain, or the value is what may stand for them."""
        if (value is None and self.optional) or (isinstance(value, str) and (self.text or value in self.words)):
            return
        if not isinstance(value, Mapping):
            self._refuse(name, value, "give a number for each name")
        for key, number in value.items():
            self.value.check(f"{self.each or name} {key}", number, owner)

    def _parse(self, word: str, ranges: bool) -> Any:
        return word

    def _normal(self, value: Any, grid: bool) -> Any:
        """Return a value of a configuration with the numbers of a mapping read."""
        if isinstance(value, Mapping):
            return {key: self.value.normal(item) for key, item in value.items()}
        return super()._normal(value, grid)

    def _type(self) -> str:
        return f"dict of str to {self.value.type_text()}" + (" or str" if self.text else "")

    def _schema(self) -> dict[str, Any]:
        schema = {"type": "object", "additionalProperties": self.value.schema()}
        return {"anyOf": [schema, {"type": "string"}]} if self.text else schema


class Labels(Parameter):
    """A list of the names of classes, or of their codes.

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


class Component(Parameter):
    """A thing of some kind (see kinds.py), such as the kernel inside a kernel; with `expand`, all of a grid of them.

    Whether it fits is for the class to check.

    Examples
    --------
    >>> item = Component(kind="kernel")
    >>> item.normal("spectrum:k=4")
    {'kernel': 'spectrum', 'k': 4}
    >>> item.build("spectrum:k=4")
    SpectrumKernel(k=4)
    """

    kind: str = ""
    expand: bool = False

    def _parse(self, word: str, ranges: bool) -> Any:
        value = parse_value(word)
        return value if type(value) in (int, float) else word

    def _normal(self, value: Any, grid: bool) -> Any:
        """Return a value of a configuration with texts read, so that what is to be searched can be seen."""
        parse = kind_of(self.kind).parse
        if isinstance(value, str) and parse is not None and not self.list_parameter:
            return None if self.optional and value.strip().lower() == "none" else parse(value)
        return super()._normal(value, grid)

    def _build(self, value: Any) -> Any:
        """Return what a text or a mapping describes, built; of a list each, of a grid each that it holds."""
        kind = kind_of(self.kind)
        if self.expand:
            found = [kind.build(one) for item in (value if is_listed(value) else [value]) for one in self._grid(item)]
            return found[0] if len(found) == 1 else found
        if isinstance(value, (list, tuple)):
            return [self.build(item) for item in value] if self.several else value
        described = isinstance(value, (str, Mapping)) or (self.list_parameter and value is not None)
        return kind.build(value) if described else value

    def _grid(self, value: Any) -> list[Any]:
        """Return the specs of a grid."""
        expand = kind_of(self.kind).expand
        return expand(value) if expand is not None and isinstance(value, (str, Mapping)) else [value]

    def _type(self) -> str:
        return kind_of(self.kind).type_name

    def _schema(self) -> dict[str, Any]:
        return {"anyOf": [{"type": "string"}, {"$ref": f"#/$defs/{self.kind}"}]}


class Changed(Parameter):
    """The inherited parameter with something changed; only while a class is made.

    Examples
    --------
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


def _shown(bound: Any) -> Any:
    """Return a bound as the documentation has it: None for one that nobody will meet."""
    if isinstance(bound, str):
        return f"`{bound}`"
    return bound if bound is not None and abs(bound) < FAR else None


def _literals(annotation: Any) -> tuple[Any, ...]:
    """Return the values of the Literals in an annotation."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    if annotation is type(None):
        return (None,)
    return tuple(value for part in get_args(annotation) for value in _literals(part))
