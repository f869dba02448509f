"""Declared parameters that are numbers: integers, floats, lists, numbers by name."""

import math
from collections.abc import Mapping
from typing import Any

from seqkern.core.checks import check_integer, check_real
from seqkern.core.declarations import Parameter, is_listed
from seqkern.core.values import DECIMAL, parse_value

FAR = 1e9
"""The documentation omits larger bounds, which nobody will meet."""


class Number(Parameter):
    """A number between bounds; a bound given as text is the name of another parameter.

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
        """Return both bounds, with names of other parameters replaced by their values."""
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
        """Return the noun for messages."""
        return "a number"

    def _span(self, bounds: tuple[Any, Any]) -> str:
        """Return the domain for the documentation; empty if there is none."""
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
        """Return the JSON schema of a number, or of a text that stands for one."""
        schema: dict[str, Any] = {"type": kind}
        if isinstance(self.low, (int, float)) and math.isfinite(self.low):
            schema["exclusiveMinimum" if self.open_low else "minimum"] = self.low
        if isinstance(self.high, (int, float)):
            schema["exclusiveMaximum" if self.open_high else "maximum"] = self.high
        return schema


class Integer(Number):
    """An integer from `low` to `high`.

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
        return {"anyOf": [self._number_schema("integer"), {"type": "string", "pattern": r"^[-+]?[0-9]+$"}]}

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of a value in a configuration; a list may be a range ``1-5``."""
        schema = super().schema()
        if self.several:
            schema["anyOf"].append({"type": "string", "pattern": r"^[0-9]+-[0-9]+$"})
        return schema


class Real(Number):
    """A number from `low` to `high`; with `infinite`, also infinity, written ``"inf"`` in JSON.

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
        """Return the value, with the text for infinity converted."""
        return math.inf if isinstance(value, str) and value == "inf" else super()._build(value)

    def _element(self) -> str:
        return "float"

    def _type(self) -> str:
        return f"{super()._type()} or infinity" if self.infinite else super()._type()

    def _schema(self) -> dict[str, Any]:
        number = self._number_schema("number")
        # YAML reads 1e-3 as text
        text = {
            "type": "string",
            "pattern": f"^({DECIMAL}" + ("|inf" * self.infinite) + ")$",
        }
        return {"anyOf": [number, text]}


class Numbers(Real):
    """A list of numbers; the object's attribute `length` gives their number, `words` are allowed instead.

    Examples
    --------
    >>> Numbers(low=0, words=("linear",)).check("weights", [0.5, -1])
    Traceback (most recent call last):
        ...
    seqkern.core.errors.ParameterError: weights=-1 is not possible; give a number ≥ 0
    """

    length: str = ""

    def _check(self, name: str, value: Any, owner: Any) -> None:
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

    def _schema(self) -> dict[str, Any]:
        return {"type": "array", "items": super()._schema()}


class NumbersByName(Parameter):
    """A number for each of some names; `words`, or with `text` any text, are allowed instead.

    Messages name a number by the parameter and its name, or with `each` by that and its name.

    Examples
    --------
    >>> NumbersByName(value=Real(low=0), words=("balanced",)).normal({"donor": "5", "decoy": 1})
    {'donor': 5, 'decoy': 1}
    """

    value: Number = Number()
    text: bool = False

    def _check(self, name: str, value: Any, owner: Any) -> None:
        """Raise ParameterError unless all numbers are in the domain, or the value is an allowed text."""
        if (value is None and self.optional) or (isinstance(value, str) and (self.text or value in self.words)):
            return
        if not isinstance(value, Mapping):
            self._refuse(name, value, "give a number for each name")
        for key, number in value.items():
            self.value.check(f"{self.each or name} {key}", number, owner)

    def _parse(self, word: str, ranges: bool) -> Any:
        return word

    def _normal(self, value: Any, grid: bool) -> Any:
        """Return a value of a configuration with the numbers of a mapping parsed."""
        if isinstance(value, Mapping):
            return {key: self.value.normal(item) for key, item in value.items()}
        return super()._normal(value, grid)

    def _type(self) -> str:
        return f"dict of str to {self.value.type_text()}" + (" or str" if self.text else "")

    def _schema(self) -> dict[str, Any]:
        schema = {"type": "object", "additionalProperties": self.value.schema()}
        return {"anyOf": [schema, {"type": "string"}]} if self.text else schema


def _shown(bound: Any) -> Any:
    """Return a bound for the documentation: None for one that nobody will meet."""
    if isinstance(bound, str):
        return f"`{bound}`"
    return bound if bound is not None and abs(bound) < FAR else None
