"""Declared parameters: their values, and how they are checked, parsed and documented."""

import inspect
import math
import re
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, Literal, Self, get_args, get_origin

from seqkern.core.checks import check_choice, check_flag, check_integer, check_real, read_number
from seqkern.core.errors import ParameterError
from seqkern.core.registry import HOMES, kind_of

# Parsing of text values: a constant, a number, a range of integers, or the text itself.

DECIMAL = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
"""Pattern of a number: in ASCII, and without the underscores that Python allows."""
NUMBER = re.compile(rf"{DECIMAL}(?=\s*(?:[,+*)\]]|$))")
ADDED = r"(?<=[0-9])\s*\+\s*[0-9]{1,18}(?:-[0-9]{1,18})?(?![\w.-]|\s*\*)"
"""Pattern of ``+4`` in ``k=3+4``, one kernel, the sum over both k; ``+4*`` begins another kernel with its weight."""
_RANGE = re.compile(r"([0-9]{1,18})-([0-9]{1,18})")
_LONGEST_RANGE = 1000
_CONSTANTS = {"none": None, "true": True, "false": False}


def parse_value(text: str) -> Any:
    """Return the value of a text without a declared type; a range such as ``1-3`` becomes a list.

    >>> [parse_value(word) for word in ("none", "3", "1e-3", "1-3", "dna")]
    [None, 3, 0.001, [1, 2, 3], 'dna']
    """
    word = text.strip()
    if word.lower() in _CONSTANTS:
        return _CONSTANTS[word.lower()]
    span = _RANGE.fullmatch(word)
    if span and 0 <= int(span[2]) - int(span[1]) < _LONGEST_RANGE:
        return list(range(int(span[1]), int(span[2]) + 1))
    if math.isnan(read_number(word)):
        return word
    return float(word) if set(word) & set(".eE") else int(word)


# Alternatives in a spec, such as ``spectrum:k=3|4|6``, among which a search chooses.

SEPARATOR = "|"
MOST_COMBINATIONS = 10_000


class Alternatives(list[Any]):
    """Values among which a search chooses, also those of a parameter for which a list is one value."""


def check_count(choices: list[list[Any]]) -> None:
    """Raise ParameterError for more than `MOST_COMBINATIONS` combinations."""
    count = math.prod(map(len, choices))
    if count > MOST_COMBINATIONS:
        raise ParameterError(
            f"the alternatives give more than {MOST_COMBINATIONS} combinations", remedy="give fewer alternatives"
        )


# Declared parameters: their values, and how these are checked, parsed, documented and put in a schema.
#
# A value passes through three forms::
#
#     text ─▶ parse ─▶ normal: as a configuration has it ─▶ build: as the constructor takes it
#
# Every step returns unchanged what it cannot interpret; `check` rejects it later, with the remedy.

REQUIRED: Any = inspect.Parameter.empty
"""The default of a parameter that must be given."""


class Parameter:
    """A parameter that accepts any value; base class of the more specific ones.

    `words` are allowed besides the declared values, such as ``"scale"`` instead of a number. `execution` marks
    parameters
    that change only how the numbers are computed; with `list_parameter` a list is one value, not a grid. With `summed`
    a list given in Python is a sum of kernels, which configurations write ``{sum: [3, 4]}`` or ``3+4``. `place` is the
    place on the command line, for options (`seqkern.cli.options`).

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
    summed: bool = False
    each: str = ""
    remedy: str = ""
    annotation: Any = Any
    place: Any = None
    element: str = ""
    """The type of a single value without its domain, for the documentation, if that differs."""

    def __init__(self, **traits: Any) -> None:
        # by hand: dataclasses generate source code for each class, which doubles the import time
        unknown = [name for name in traits if not hasattr(type(self), name)]
        if unknown:
            raise TypeError(f"{type(self).__name__} has no {unknown[0]!r}")
        vars(self).update(traits, several=traits.get("several", self.several) or traits.get("summed", False))

    def but(self, **changes: Any) -> Self:
        """Return a copy of this parameter with some attributes changed."""
        return type(self)(**(vars(self) | changes))

    def declared(self, annotation: Any) -> "Parameter":
        """Return this parameter completed with the annotated type of its attribute."""
        return self.but(annotation=annotation, optional=self.optional or self.default is None)

    @property
    def required(self) -> bool:
        """Whether the parameter has no default."""
        return self.default is REQUIRED

    # ---- checks ----------------------------------------------------------------------------------------------

    def check(self, name: str, value: Any, owner: Any = None) -> None:
        """Raise ParameterError for a constructor value outside the domain; parameters of `owner` may bound it."""
        if (value is None and self.optional) or (isinstance(value, str) and value in self.words):
            return
        for one in value if self.several and is_listed(value) else [value]:
            self._check_one(self.each or name, one, owner)

    def _check_one(self, name: str, value: Any, owner: Any) -> None:
        """Raise ParameterError if a single value is outside the domain."""

    def _refuse(self, name: str, value: Any, remedy: str) -> None:
        """Raise ParameterError for a value, with the remedy."""
        raise ParameterError(f"{name}={value!r} is not possible", remedy=self.remedy or remedy)

    # ---- reading ---------------------------------------------------------------------------------------------

    def parse(self, word: str, *, grid: bool = False) -> Any:
        """Return the normal form of the text after ``=``.

        If `grid`, a list of values is a grid, so that any number may be given as a range ``1-5``.
        """
        word = word.strip()
        if self.optional and word.lower() == "none":
            return None
        return word if word in self.words else self._parse(word, grid or self.several)

    def _parse(self, word: str, ranges: bool) -> Any:
        """Return the value of a text that is not one of `words`; ranges are allowed only if `ranges` is true."""
        return parse_value(word)

    @property
    def item(self) -> "Parameter":
        """The declaration of each value of a list."""
        return self

    @property
    def is_list(self) -> bool:
        """Whether a list is one value by nature, such as weights, and not a list of alternatives."""
        return self.list_parameter or (self.several and not self.summed)

    def normal(self, value: Any, *, grid: bool = False) -> Any:
        """Return the normal form of a configuration value: texts are parsed, in lists item by item."""
        if self.summed and isinstance(value, Mapping) and set(value) == {"sum"}:
            value = value["sum"]
        if isinstance(value, (list, tuple)):
            return [self.item.normal(item, grid=grid) for item in value]
        if grid and isinstance(value, str) and SEPARATOR in value:
            return [self.parse(one, grid=True) for one in value.split(SEPARATOR)]
        return self.parse(value, grid=grid) if isinstance(value, str) else value

    def build(self, value: Any) -> Any:
        """Return the constructor's form of a normal value: mappings become the objects they describe."""
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
            text += f" or list of {self.element or self._type()}"
        return f"{text} or None" if self.optional and self.default is not None else text

    def _type(self) -> str:
        """Return the type of a single value, with its domain."""
        return "object"

    def _words_text(self) -> str:
        """Return the text of `words` for the documentation."""
        return (
            "{" + ", ".join(f'"{word}"' for word in self.words) + "}" if len(self.words) > 1 else f'"{self.words[0]}"'
        )

    def key_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value of a configuration's key.

        A default of None means that the key may be left out, and null is a value only if `optional`.
        """
        schema = self._key()
        if self.words:
            schema = {"anyOf": [schema, {"enum": [*self.words, *([None] if self.optional else [])]}]}
        elif self.optional and "type" in schema:
            schema = {**schema, "type": [schema["type"], "null"]}
        default = {"default": "inf" if self.default == math.inf else self.default}
        if self.required or (self.default is None and not self.optional):
            default = {}
        return {**({"description": self.doc} if self.doc else {}), **schema, **default}

    def _key(self) -> dict[str, Any]:
        """Return the JSON schema of a single value that is not text."""
        return {}


class Changed(Parameter):
    """A redeclaration of an inherited parameter; it exists only while a class is created.

    >>> from seqkern.core.declarations import Integer
    >>> Changed(changes={"default": 5}).of(Integer(default=3, low=1)).default
    5
    """

    changes: Mapping[str, Any] = MappingProxyType({})

    def of(self, inherited: Parameter) -> Parameter:
        """Return the inherited parameter with the changes applied."""
        return inherited.but(**self.changes)


class Fixed(Parameter):
    """A marker for an inherited parameter that this class lacks: its value is always the default.

    >>> isinstance(Fixed(default=1), Parameter)
    True
    """


class Verbatim(Parameter):
    """A parameter whose text is its value: ``1-3`` is no range.

    >>> Verbatim().parse("1-3")
    '1-3'
    """

    def _parse(self, word: str, ranges: bool) -> Any:
        return word


def is_listed(value: Any) -> bool:
    """Return whether a value is a list, a tuple, a range or an array.

    >>> is_listed([1, 2]), is_listed("ACGT")
    (True, False)
    """
    return isinstance(value, (list, tuple, range)) or getattr(value, "ndim", 0) > 0


# Declared parameters that are numbers: integers, floats, lists, numbers by name.

FAR = 1e9
"""Size above which the documentation omits a bound."""


class Number(Parameter):
    """A number between bounds; a bound given as text is the name of another parameter.

    >>> Real(low=0, high="C", doc="Share of the bound.").type_text()
    'float from 0 to `C`'
    """

    low: float | str | None = None
    high: float | str | None = None
    open_low: bool = False
    open_high: bool = False
    article = "a number"
    """The noun with its article, for messages."""
    element = "float"

    def _bounds(self, owner: Any) -> tuple[Any, Any]:
        """Return both bounds, with names of other parameters replaced by their values."""
        low, high = (getattr(owner, end) if isinstance(end, str) else end for end in (self.low, self.high))
        return low, high

    def check(self, name: str, value: Any, owner: Any = None) -> None:
        """Raise ParameterError for a value outside the domain."""
        if isinstance(value, str) and self.words and value not in self.words:
            *first, last = [f"give {self.article} {self._span(self._bounds(owner))}".rstrip(), *self.words]
            self._refuse(name, value, f"{', '.join(first)} or {last}")
        super().check(name, value, owner)

    def _parse(self, word: str, ranges: bool) -> Any:
        value = parse_value(word)
        return word if isinstance(value, list) and not ranges else value

    def _span(self, bounds: tuple[Any, Any]) -> str:
        """Return the domain as text for the documentation; empty if unbounded."""
        low, high = bounds
        if low is not None and high is not None and not self.open_low and not self.open_high:
            return f"from {low} to {high}"
        ends = [] if low is None else [f"{'>' if self.open_low else '≥'} {low}"]
        ends += [] if high is None else [f"{'<' if self.open_high else '≤'} {high}"]
        return " and ".join(ends)

    def _type(self) -> str:
        bounds = (_shown(self.low), _shown(self.high))
        return f"{self.element} {self._span(bounds)}".rstrip()

    def _number_schema(self, kind: str) -> dict[str, Any]:
        """Return the JSON schema of a number, or of a text that stands for one."""
        schema: dict[str, Any] = {"type": kind}
        if isinstance(self.low, (int, float)) and math.isfinite(self.low):
            schema["exclusiveMinimum" if self.open_low else "minimum"] = self.low
        if isinstance(self.high, (int, float)):
            schema["exclusiveMaximum" if self.open_high else "maximum"] = self.high
        return schema


class Integer(Number):
    """An integer from `low` to `high`."""

    article = "an integer"
    element = "int"

    def _parse(self, word: str, ranges: bool) -> Any:
        if not (self.summed and re.fullmatch(rf"[0-9]+(?:-[0-9]+)?(?:{ADDED})+", word)):
            return super()._parse(word, ranges)
        parts = [parse_value(part) for part in word.split("+")]
        return [one for part in parts for one in (part if isinstance(part, list) else [part])]

    def _check_one(self, name: str, value: Any, owner: Any) -> None:
        low, high = self._bounds(owner)
        check_integer(name, value, -math.inf if low is None else low, high)

    def _key(self) -> dict[str, Any]:
        return self._number_schema("integer")


class Real(Number):
    """A number from `low` to `high`; with `infinite`, also infinity, written ``"inf"`` in JSON.

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

    def build(self, value: Any) -> Any:
        """Return the value, with the text for infinity converted."""
        return math.inf if isinstance(value, str) and value == "inf" else super().build(value)

    def _type(self) -> str:
        return f"{super()._type()} or infinity" if self.infinite else super()._type()

    def _key(self) -> dict[str, Any]:
        return self._number_schema("number")


class Numbers(Real):
    """A list of numbers, or one of `words`; the object's attribute `length` gives the required number of values."""

    length: str = ""
    is_list = True

    def check(self, name: str, value: Any, owner: Any = None) -> None:
        """Raise ParameterError unless the value is a list of numbers in the domain, or one of the words."""
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
        """The declaration of each value of a list."""
        return Real()

    def _type(self) -> str:
        return f"list of {super()._type()}"


class NumbersByName(Verbatim):
    """A number for each of some names; `words`, or with `text` any text, are allowed instead.

    Messages name a number by the parameter, or by `each` if given, and its name.

    >>> NumbersByName(value=Real(low=0), words=("balanced",)).normal({"donor": "5", "decoy": 1})
    {'donor': 5, 'decoy': 1}
    """

    value: Number = Number()
    text: bool = False

    def check(self, name: str, value: Any, owner: Any = None) -> None:
        """Raise ParameterError unless all numbers are in the domain, or the value is an allowed text."""
        if (value is None and self.optional) or (isinstance(value, str) and (self.text or value in self.words)):
            return
        if not isinstance(value, Mapping):
            self._refuse(name, value, "give a number for each name")
        for key, number in value.items():
            self.value.check(f"{self.each or name} {key}", number, owner)

    def normal(self, value: Any, *, grid: bool = False) -> Any:
        """Return a configuration value with the numbers of a mapping parsed."""
        if isinstance(value, Mapping):
            return {key: self.value.normal(item) for key, item in value.items()}
        return super().normal(value, grid=grid)

    def _type(self) -> str:
        return f"dict of str to {self.value.type_text()}" + (" or str" if self.text else "")


def _shown(bound: Any) -> Any:
    """Return a bound for the documentation; None for a bound too extreme to matter."""
    if isinstance(bound, str):
        return f"`{bound}`"
    return bound if bound is not None and abs(bound) < FAR else None


# Declared parameters that are text: a choice, a flag, any text, the name of an alphabet, or labels.


class Choice(Verbatim):
    """A choice of one of some words; by default the words of the annotation, a Literal.

    >>> item = Choice(choices=("l1", "l2"), optional=True)
    >>> item.type_text(), item.parse("none")
    ('{None, "l1", "l2"}', None)
    """

    choices: Collection[str | None] = ()

    def declared(self, annotation: Any) -> Parameter:
        """Return this parameter with the choices of the annotation, unless it declares its own."""
        choices = tuple(self.choices) or _literals(annotation)
        declared = self.but(choices=choices, optional=self.optional or None in choices)
        return super(Choice, declared).declared(annotation)

    def _all(self) -> tuple[str | None, ...]:
        """Return all choices, starting with None if allowed."""
        words = tuple(choice for choice in self.choices if choice is not None)
        return (None, *words) if self.optional else words

    def check(self, name: str, value: Any, owner: Any = None) -> None:
        """Raise ParameterError unless the value is one of the choices."""
        check_choice(name, value, self._all())

    def type_text(self) -> str:
        """Return the choices as text for the documentation."""
        words = [str(word) if word is None else f'"{word}"' for word in self._all()]
        return "{" + ", ".join(words) + "}"

    def _key(self) -> dict[str, Any]:
        return {"enum": list(self._all())}


class Flag(Parameter):
    """A parameter that is true or false.

    >>> Flag().parse("true"), Flag(default=False).key_schema()["default"]
    (True, False)
    """

    def _check_one(self, name: str, value: Any, owner: Any) -> None:
        check_flag(name, value)

    def _type(self) -> str:
        return "bool"

    def _key(self) -> dict[str, Any]:
        return {"type": "boolean"}


class Text(Verbatim):
    """A text of any form (``01`` stays ``01``), or the path of a file; with `rows`, rows of numbers are allowed.

    >>> Text().parse("01"), Parameter().parse("01")
    ('01', 1)
    """

    rows: bool = False
    path: bool = False

    @property
    def is_list(self) -> bool:
        """Whether a list is one value: also rows of numbers."""
        return self.rows or super().is_list

    def check(self, name: str, value: Any, owner: Any = None) -> None:
        """Raise ParameterError unless the value is text, or an allowed replacement."""
        if not (self.rows and is_listed(value)):
            super().check(name, value, owner)

    def _check_one(self, name: str, value: Any, owner: Any) -> None:
        if isinstance(value, str):
            return
        if self.path:
            raise ParameterError(f"{name}={value!r} is not a path", remedy=self.remedy)
        self._refuse(name, value, "give text" if not self.rows else "give a name, or rows of numbers")

    @property
    def item(self) -> Parameter:
        """The declaration of each value of a list: text, or numbers."""
        return Parameter() if self.rows else self

    def normal(self, value: Any, *, grid: bool = False) -> Any:
        """Return a configuration value as text, because YAML turns some texts into numbers."""
        return str(value) if type(value) in (int, float) else super().normal(value, grid=grid)

    def _type(self) -> str:
        return "str or list of list of float" if self.rows else "str"

    def _key(self) -> dict[str, Any]:
        return {"type": "string"}


class AlphabetName(Text):
    """An alphabet by name, by its letters, or as an Alphabet; checked when sequences are encoded.

    >>> AlphabetName().check("alphabet", 7)
    """

    def _check_one(self, name: str, value: Any, owner: Any) -> None:
        """Skip the check here: sequences check the alphabet, and their error names suitable ones."""


class Labels(Verbatim):
    """A list of class names or codes.

    >>> Labels().normal(["donor", "1"])
    ['donor', '1']
    """

    is_list = True

    def _type(self) -> str:
        return "sequence of str"


def _literals(annotation: Any) -> tuple[Any, ...]:
    """Return the values of the Literals in an annotation."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    if annotation is type(None):
        return (None,)
    return tuple(value for part in get_args(annotation) for value in _literals(part))


# Declared parameters that have parameters themselves, such as the kernel inside a kernel.


class Component(Parameter):
    """A nested object of some kind (see kinds.py), such as the kernel inside a kernel; with `expand`, a whole grid.

    The class that declares it checks whether the object is suitable.
    """

    kind: str = ""
    expand: bool = False

    def _parse(self, word: str, ranges: bool) -> Any:
        value = parse_value(word)
        return value if type(value) in (int, float) else word

    def normal(self, value: Any, *, grid: bool = False) -> Any:
        """Return a configuration value with texts parsed, so that it shows what is searched."""
        parse = kind_of(self.kind).parse
        if isinstance(value, str) and parse is not None and not self.list_parameter:
            return None if self.optional and value.strip().lower() == "none" else parse(value)
        return super().normal(value, grid=grid)

    def build(self, value: Any) -> Any:
        """Return the object described by a text or a mapping; for lists and grids, all objects."""
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
