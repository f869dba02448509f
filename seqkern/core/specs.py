"""The text and configuration forms of kernels, solvers, selectors, transforms and layers, with one parser for all.

A *spec* is the form in a configuration: ``{"kernel": "mismatch", "k": 5, "m": 1, "part": [0, 40]}``, nested for
kernels made of kernels (``base: {…}``, ``parts: [{…}, {…}]``). The text form is one line::

    mismatch:k=5,m=1                                       a name and its parameters
    spectrum:k=1-5                                         a range, for several integers: k = [1, 2, 3, 4, 5]
    spectrum:k=3,part=0:40 + spectrum:k=3,part=42:82       a sum; each on its part of the sequence
    0.5*spectrum:k=3 + 0.5*(spectrum:k=1*spectrum:k=2)     weights and products
    rbf:gamma=0.5,base=(spectrum:k=3)                      one inside another
    csvc:C=0.1|1|10                                        alternatives for a search

Values are parsed according to the parameter's declaration, or by their form if the parameter is unknown.
"""

import contextlib
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from seqkern.core.checks import check_number
from seqkern.core.declarations import DECIMAL, NUMBER, SEPARATOR, Component, Parameter, parse_value, split_alternatives
from seqkern.core.errors import ParameterError
from seqkern.core.parameters import Parameters
from seqkern.core.registry import Kind, kind_of

MOST_NESTED = 1000
"""Maximum number of nested kernels, solvers, …: a few lines of text can stand for millions."""
_nested = threading.local()
_NAME = re.compile(r"[A-Za-z_][\w-]*")
_WEIGHT = re.compile(rf"(?![-+])({DECIMAL})\s*\*")
_WORD = re.compile(r"[^,+*()\[\]=]+")


def parse_spec(text: str, key: str = "kernel") -> dict[str, Any]:
    """Return the configuration form of a text form.

    Parameters
    ----------
    text : str
        A text form as above, or JSON: the configuration form.
    key : str
        The key of the name: ``"kernel"``, ``"solver"``, …

    Returns
    -------
    dict
        The name under `key`, and the given parameters.

    Raises
    ------
    ParameterError
        If the text cannot be parsed, with the place.

    Examples
    --------
    >>> import seqkern.kernels
    >>> parse_spec("0.5*spectrum:k=1-3")
    {'kernel': 'sum', 'parts': [{'kernel': 'spectrum', 'k': [1, 2, 3]}], 'weights': [0.5]}
    """
    if not text.lstrip().startswith("{"):
        return _Reader(text, key).read()
    try:
        return json.loads(text, parse_float=check_number)
    except (ValueError, RecursionError) as error:
        example = kind_of(key).example
        written = json.dumps({key: example.partition(":")[0]})
        raise ParameterError(
            f"{text!r} is not JSON: {error}", remedy=f"write it as JSON ({written}) or text ({example}), in quotes"
        ) from error


def build_spec(spec: Any, key: str) -> Any:
    """Return the object that a spec describes, with its parameters checked; objects are returned unchanged.

    >>> from seqkern.kernels import KERNELS
    >>> build_spec({"kernel": "mismatch", "k": 6, "m": 2}, "kernel")
    MismatchKernel(k=6, m=2)
    """
    registry = kind_of(key).registry
    if isinstance(spec, registry.base_class):
        return spec
    params = parse_spec(spec, key) if isinstance(spec, str) else spec
    if not isinstance(params, Mapping) or not isinstance(params.get(key), str):
        raise ParameterError(f"{spec!r} is not a {key}", remedy=f"write for example {kind_of(key).example}")
    return build_named(key, params[key], {name: value for name, value in params.items() if name != key})


def build_named(key: str, name: str, params: Mapping[str, Any]) -> Any:
    """Return the checked object for a name and its parameters in configuration form."""
    registry = kind_of(key).registry
    with _counted(key):
        made = registry.build(name, **built_values(registry.get(name), params))
        made.check_parameters()
    return made


@contextlib.contextmanager
def _counted(key: str) -> Iterator[None]:
    """Count an object and its nested objects while they are built; raise ParameterError for excessive nesting."""
    outermost = getattr(_nested, "count", None) is None
    _nested.count = 1 if outermost else _nested.count + 1
    try:
        if _nested.count > MOST_NESTED:
            problem = f"the {key} consists of more than {MOST_NESTED:,} objects"
            raise ParameterError(problem, remedy="nest fewer in one another")
        yield
    finally:
        if outermost:
            _nested.count = None


def built_values(cls: type[Parameters], params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a configuration, parsed and built for the constructor of a class."""
    declared = cls.declarations()
    items = {str(name): (declared.get(name, Parameter()), value) for name, value in params.items()}
    return {name: item.build(item.normal(value)) for name, (item, value) in items.items()}


def normal_values(cls: type[Parameters], params: Mapping[str, Any], *, grid: bool = False) -> dict[str, Any]:
    """Return the parameters of a configuration with texts parsed as the class declares, but not built."""
    declared = cls.declarations()
    return {str(name): declared.get(name, Parameter()).normal(value, grid=grid) for name, value in params.items()}


def json_form(value: Any) -> Any:
    """Convert a value to JSON types: objects as specs, infinity as "inf", arrays and numpy numbers as Python's.

    >>> import numpy as np
    >>> json_form({"C": np.array([1.0, np.inf]), "k": np.int64(3)})
    {'C': [1.0, 'inf'], 'k': 3}
    """
    if hasattr(value, "spec"):
        return value.spec()
    if isinstance(value, Mapping):
        return {str(json_form(key)): json_form(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [json_form(item) for item in value]
    return "inf" if isinstance(value, float) and value == float("inf") else value


class _Reader:
    """A recursive-descent parser of one text."""

    def __init__(self, text: str, key: str) -> None:
        self.text = text
        self.key = key
        self.place = 0

    def read(self) -> dict[str, Any]:
        try:
            spec = self.sum()
        except RecursionError as error:
            raise ParameterError(f"{self.text!r} is nested too deeply", remedy="remove parentheses") from error
        if self.place < len(self.text):
            self.fail()
        return spec

    def fail(self) -> None:
        """Raise ParameterError with the place in the text."""
        remedy = "write name:parameter=value,parameter=value, sums with +, nested specifications in parentheses"
        name, *parameters = re.split(r"[\s:;,()]+", self.text.strip(" )"))
        if name.isidentifier() and parameters and all(re.fullmatch(r"\w+=[^=+]+", one) for one in parameters):
            remedy = f"write {name}:{','.join(parameters)}"
        elif self.key == "kernel":
            remedy += "; for patterns with brackets write the kernel as JSON"
        raise ParameterError(f"cannot read {self.text!r} at {self.text[self.place :]!r}", remedy=remedy)

    def skip(self, token: str) -> bool:
        """Skip `token` and the spaces around it, if it comes next; return whether it did."""
        found = re.compile(rf"\s*{re.escape(token)}\s*").match(self.text, self.place)
        self.place = found.end() if found else self.place
        return bool(found)

    def need(self, token: str) -> None:
        """Skip `token`, which must come next."""
        if not self.skip(token):
            self.fail()

    def take(self, pattern: re.Pattern[str]) -> str:
        """Skip a match of `pattern` and return it, or the empty text."""
        found = pattern.match(self.text, self.place)
        self.place = found.end() if found else self.place
        return found[0] if found else ""

    def sum(self) -> dict[str, Any]:
        self.skip("")
        weights, parts = zip(*self.separated("+", self.term), strict=True)
        self.skip("")
        if len(parts) == 1 and weights[0] == 1:
            return parts[0]
        spec = {self.key: "sum", "parts": list(parts)}
        return spec if set(weights) == {1} else {**spec, "weights": list(weights)}

    def term(self) -> tuple[float, dict[str, Any]]:
        """Parse factors joined by ``*``; return (weight, spec)."""
        weight: float = 1
        while found := self.take(_WEIGHT):
            weight *= self.number(found.rstrip("* \t\n"))
            self.skip("")
        parts = self.separated("*", self.atom)
        return weight, parts[0] if len(parts) == 1 else {self.key: "product", "parts": parts}

    def number(self, text: str) -> float:
        """Return the value of a weight; raise ParameterError for one that is too large."""
        value = parse_value(text)
        if isinstance(value, str):
            raise ParameterError(f"the weight {text} in {self.text!r} is not possible", remedy="give a finite number")
        return value

    def atom(self) -> dict[str, Any]:
        if self.skip("("):
            return self.nested(self.key)
        name = self.take(_NAME)
        if not name:
            self.fail()
        spec: dict[str, Any] = {self.key: name}
        if self.skip(":"):
            declared = _declarations(self.key, name)
            for parameter, value in self.separated(",", lambda: self.parameter(declared)):
                if parameter in spec:
                    raise ParameterError(f"{parameter!r} is given twice in {self.text!r}", remedy="remove one of them")
                spec[parameter] = value
        return spec

    def nested(self, key: str) -> dict[str, Any]:
        """Parse the content of parentheses as a spec of the kind `key`."""
        outside, self.key = self.key, key
        spec = self.sum()
        self.need(")")
        self.key = outside
        return spec

    def parameter(self, declared: Mapping[str, Parameter]) -> tuple[str, Any]:
        """Parse ``name=value``."""
        name = self.take(_NAME)
        if not name:
            self.fail()
        self.need("=")
        return name, self.value(declared.get(name, Parameter()))

    def value(self, item: Parameter) -> Any:
        """Parse the value of a parameter."""
        if self.skip("("):
            return self.nested(item.kind if isinstance(item, Component) else self.key)
        if self.skip("["):
            items = self.separated(",", lambda: self.value(item.item))
            self.need("]")
            return items
        word = self.take(NUMBER) or self.take(_WORD)
        if not word:
            self.fail()
        grid = kind_of(self.key).grid
        if SEPARATOR in word:
            return self.one_of(word, item, grid)
        return item.parse(word, grid=grid)

    def one_of(self, word: str, item: Parameter, grid: bool) -> list[Any]:
        """Return the alternatives of a value, which form a grid."""
        if not grid:
            raise ParameterError(
                f"{word!r} in {self.text!r} gives alternatives, but nothing is chosen here",
                remedy="give one value; seqkern train and seqkern cv choose among alternatives with --search",
            )
        return [item.parse(one, grid=grid) for one in split_alternatives(word, self.text)]

    def separated(self, token: str, read: Callable[[], Any]) -> list[Any]:
        """Return the results of `read`, called once or more, with `token` in between."""
        items = [read()]
        while self.skip(token):
            items.append(read())
        return items


def _declarations(key: str, name: str) -> Mapping[str, Parameter]:
    """Return the parameter declarations of a class by its name; empty for an unknown name."""
    kind = kind_of(key)
    try:
        cls = kind.class_of(name) if kind.class_of else kind.registry and kind.registry.get(name)
    except ParameterError:
        return {}
    return cls.declarations() if cls else {}


# The JSON schemas of kernels, solvers, … in configurations, derived from the declared parameters.

_RANGE = r"^\s*[-+]?[\d.]+([eE][-+]?\d+)?\.\.[-+]?[\d.]+([eE][-+]?\d+)?\s*$"


def schema_of(kind: str, extra: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the JSON schema of an entry: text, or a mapping with a name and the parameters of the class.

    It checks names and types, but no conditions on several parameters.

    >>> from seqkern.solvers.layers import build_layer
    >>> schema = schema_of("layer")
    >>> schema["$defs"]["layer"]["properties"]["layer"]["enum"]
    ['chain_svm', 'crf', 'probabilities', 'segments', 'structure']
    """
    definitions: dict[str, Any] = {}
    missing = [kind]
    while missing:
        name = missing.pop()
        if name in definitions:
            continue
        definitions[name] = _entry(kind_of(name), dict(extra or {}) if name == kind else {})
        missing += sorted(_inside(kind_of(name)))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "anyOf": [{"type": "string"}, {"$ref": f"#/$defs/{kind}"}],
        "$defs": definitions,
    }


def class_schema(cls: Any, *, grid: bool = False) -> dict[str, Any]:
    """Return the schema of a class's parameters, as ``properties`` and ``required``.

    If `grid`, lists of values and ranges of numbers ``0.1..10`` are allowed.
    """
    properties = {
        name: _searched(item.schema()) if grid and not item.list_parameter else item.schema()
        for name, item in cls.declarations().items()
    }
    return {"properties": properties, "required": [name for name, item in cls.declarations().items() if item.required]}


def _entry(kind: Kind, extra: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a mapping that describes an object of a kind."""
    if kind.registry is None:
        return {"type": ["object", "string", "null"]}
    classes = kind.registry.classes
    if kind.name == "kernel":
        extra = {"part": {"type": ["array", "string", "null"]}, "view": {"type": ["string", "null"]}, **extra}
    each = []
    for name, cls in classes.items():
        own = class_schema(cls, grid=kind.grid)
        own["properties"] = {kind.name: True, **extra, **own["properties"]}
        matches = {"properties": {kind.name: {"const": name}}, "required": [kind.name]}
        each.append({"if": matches, "then": {**own, "additionalProperties": False}})
    return {
        "type": "object",
        "properties": {kind.name: {"enum": list(classes)}},
        "required": [kind.name],
        "allOf": each,
    }


def _searched(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a parameter that allows lists or ranges of values."""
    described: dict[str, Any] = {key: schema[key] for key in ("description", "default") if key in schema}
    one = {key: value for key, value in schema.items() if key not in described}
    return {"anyOf": [one, {"type": "array", "items": one}, {"type": "string", "pattern": _RANGE}], **described}


def _inside(kind: Kind) -> set[str]:
    """Return the kinds of objects that may be nested in a kind's parameters."""
    classes = [] if kind.registry is None else kind.registry.classes.values()
    items = [item for cls in classes for item in cls.declarations().values()]
    return {item.kind for item in items if isinstance(item, Component)}
