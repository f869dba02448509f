"""The text and configuration forms of kernels, solvers, selectors, transforms and layers, with one parser for all.

A *spec* is the form in a configuration: ``{"kernel": "mismatch", "k": 5, "m": 1, "part": [0, 40]}``, nested for
kernels made of kernels (``base: {…}``, ``parts: [{…}, {…}]``). The text form is one line::

    mismatch:k=5,m=1                                       a name and its parameters
    spectrum:k=3+4                                         one kernel, the sum over both k: {sum: [3, 4]}
    spectrum:k=3,part=0:40 + spectrum:k=3,part=42:82       a sum; each on its part of the sequence
    0.5*spectrum:k=3 + 0.5*(spectrum:k=1*spectrum:k=2)     weights and products
    rbf:gamma=0.5,base=(spectrum:k=3)                      one inside another
    csvc:C=0.1,1,10                                        alternatives; also [0.1,1,10], 0.1|1|10, or 1-5 of integers

Values are parsed according to the parameter's declaration, or by their form if the parameter is unknown. A list is one
value where it is one by nature, such as weights. In specs of objects, such as those in model files, the list
``k: [3, 4]`` is the sum, too; `spec_alternatives` reads what a user writes.
"""

import contextlib
import itertools
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from seqkern.core.checks import check_number
from seqkern.core.declarations import (
    ADDED,
    DECIMAL,
    NUMBER,
    SEPARATOR,
    Alternatives,
    Component,
    Number,
    Parameter,
    check_count,
    parse_value,
)
from seqkern.core.errors import ParameterError
from seqkern.core.parameters import Parameters
from seqkern.core.registry import kind_of

MOST_NESTED = 1000
"""Maximum number of nested kernels, solvers, …: a few lines of text can stand for millions."""
_nested = threading.local()
_NAME = re.compile(r"[A-Za-z_][\w-]*")
_WEIGHT = re.compile(rf"(?![-+])({DECIMAL})\s*\*")
_WORD = re.compile(r"[^,+*()\[\]=|]+")
_ADDED = re.compile(ADDED)
_ANOTHER = re.compile(r"\s*,\s*(?=([^,+*()\[\]=|]++(?!=)|[(\[]))")
"""The comma before another value of the same parameter."""


def parse_spec(text: str, key: str = "kernel", *, grid: bool = False) -> dict[str, Any]:
    """Return the configuration form of a text form.

    Parameters
    ----------
    text : str
        A text form as above, or JSON: the configuration form.
    key : str
        The key of the name: ``"kernel"``, ``"solver"``, …
    grid : bool
        Whether kernels have alternatives, too, and a sum is ``{"sum": [3, 4]}``; by default a list is a sum.

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
    >>> parse_spec("0.5*spectrum:k=1+2+3")
    {'kernel': 'sum', 'parts': [{'kernel': 'spectrum', 'k': [1, 2, 3]}], 'weights': [0.5]}
    """
    if not text.lstrip().startswith("{"):
        return _Reader(text, key, grid).read()
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


def normal_values(cls: type[Parameters], params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a configuration with texts parsed as the class declares, grids too, but not built."""
    declared = cls.declarations()
    return {str(name): declared.get(name, Parameter()).normal(value, grid=True) for name, value in params.items()}


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

    def __init__(self, text: str, key: str, grid: bool) -> None:
        self.text = text
        self.key = key
        self.of_kernels = grid
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
        if self.text[: self.place].rstrip().endswith("|") or self.text[self.place :].lstrip().startswith("|"):
            raise ParameterError(f"a value of {self.text!r} is empty", remedy="write a value on each side of |")
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
        item = declared.get(name, Parameter())
        values = [self.value(item)]
        while self.another(item):
            values.append(self.value(item.item))
        return name, values[0] if len(values) == 1 else values

    def another(self, item: Parameter) -> bool:
        """Skip the comma before another value of the same parameter; return whether there is one."""
        found = _ANOTHER.match(self.text, self.place) if self.grid or item.is_list else None
        if found and isinstance(item, Number) and found[1] not in ("(", "[", "inf", *item.words):
            found = found if not isinstance(item.parse(found[1], grid=True), str) else None
        self.place = found.end() if found else self.place
        return bool(found)

    @property
    def grid(self) -> bool:
        """Whether a list of values is a grid."""
        return kind_of(self.key).grid or (self.of_kernels and self.key == "kernel")

    def value(self, item: Parameter) -> Any:
        """Parse the value of a parameter, or alternatives for it."""
        values = self.separated(SEPARATOR, lambda: self.single(item))
        if len(values) > 1 and not self.grid and not self.of_kernels:
            raise ParameterError(
                f"{self.text!r} gives alternatives, but nothing is chosen here",
                remedy="give one value; seqkern train and seqkern cv choose among alternatives with --search",
            )
        return values[0] if len(values) == 1 else Alternatives(values)

    def single(self, item: Parameter) -> Any:
        """Parse one value."""
        if self.skip("("):
            return self.nested(item.kind if isinstance(item, Component) else self.key)
        if self.skip("["):
            items = self.separated(",", lambda: self.value(item.item))
            self.need("]")
            return items
        word = self.take(NUMBER) or self.take(_WORD)
        if not word:
            self.fail()
        while item.summed and (more := self.take(_ADDED)):
            word += more
        value = item.parse(word, grid=self.grid)
        return {"sum": value} if self.of_kernels and item.summed and "+" in word else value

    def separated(self, token: str, read: Callable[[], Any]) -> list[Any]:
        """Return the results of `read`, called once or more, with `token` in between."""
        items = [read()]
        while self.skip(token):
            items.append(read())
        return items


def spec_alternatives(spec: str | Mapping[str, Any], key: str = "kernel") -> list[Any]:
    """Return the specs that a user's spec describes, one for each combination of the alternatives.

    Sums remain ``{"sum": [3, 4]}``, and texts become specs.

    >>> import seqkern.kernels
    >>> spec_alternatives({"kernel": "spectrum", "k": [3, 4]})
    [{'kernel': 'spectrum', 'k': 3}, {'kernel': 'spectrum', 'k': 4}]
    >>> spec_alternatives("spectrum:k=3+4|5")
    [{'kernel': 'spectrum', 'k': {'sum': [3, 4]}}, {'kernel': 'spectrum', 'k': 5}]
    """
    spec = parse_spec(spec, key, grid=True) if isinstance(spec, str) else spec
    declared = _declarations(key, str(spec.get(key)))
    choices = [[(name, one) for one in _values(declared.get(name), value)] for name, value in spec.items()]
    check_count(choices)
    specs = [dict(chosen) for chosen in itertools.product(*choices)]
    return list({json.dumps(one, default=repr): one for one in specs}.values())


def _values(item: Parameter | None, value: Any) -> list[Any]:
    """Return the alternatives of a parameter's value."""
    kind = item.kind if isinstance(item, Component) else ""
    if (isinstance(value, str) and kind == "kernel") or (isinstance(value, Mapping) and "kernel" in value):
        return spec_alternatives(value)
    if isinstance(value, str):
        ranges = item is not None and item.summed
        read = [parse_value(word) if ranges and "+" not in word else word for word in value.split(SEPARATOR)]
        return [one for word in read for one in (word if isinstance(word, list) else [word])]
    if not isinstance(value, list) or (item is None and not isinstance(value, Alternatives)):
        return [value]
    parts = [_values(item and item.item, one) for one in value]
    if item is not None and item.is_list and not isinstance(value, Alternatives):
        check_count(parts)
        return [list(chosen) for chosen in itertools.product(*parts)]
    return [one for part in parts for one in part]


def with_sums(spec: Mapping[str, Any], found: list[tuple[str, list[Any]]] | None = None) -> dict[str, Any]:
    """Return a kernel's spec in which a list is a sum, with the sum written as such; `found` gets names and lists.

    >>> import seqkern.kernels
    >>> with_sums({"kernel": "rbf", "base": "spectrum:k=1-3"})
    {'kernel': 'rbf', 'base': {'kernel': 'spectrum', 'k': {'sum': [1, 2, 3]}}}
    """
    found = [] if found is None else found
    declared = _declarations("kernel", str(spec.get("kernel")))
    return {name: _summed(name, declared.get(name), value, found) for name, value in spec.items()}


def _summed(name: str, item: Parameter | None, value: Any, found: list[tuple[str, list[Any]]]) -> Any:
    """Return a parameter's value with lists written as sums."""
    if isinstance(value, str) and isinstance(item, Component) and item.kind == "kernel":
        value = parse_spec(value)
    if isinstance(value, Mapping) and "kernel" in value:
        return with_sums(value, found)
    if item is not None and item.summed and isinstance(read := item.normal(value), list):
        if isinstance(value, list) or (isinstance(value, str) and "+" not in value):
            found.append((name, read))
        return {"sum": read}
    return [_summed(name, item, one, found) for one in value] if isinstance(value, list) else value


def _declarations(key: str, name: str) -> Mapping[str, Parameter]:
    """Return the parameter declarations of a class by its name; empty for an unknown name."""
    kind = kind_of(key)
    try:
        cls = kind.class_of(name) if kind.class_of else kind.registry and kind.registry.get(name)
    except ParameterError:
        return {}
    return cls.declarations() if cls else {}
