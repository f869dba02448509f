"""The text and config forms of a kernel.

A *spec* is what a config holds: ``{"kernel": "mismatch", "k": 5, "m": 1, "part": [0, 40]}``, nested where a
kernel is made of kernels (``base: {…}``, ``parts: [{…}, {…}]``). The text form says the same in one line::

    mismatch:k=5,m=1                                       a kernel and its parameters
    spectrum:k=1-5                                         a range: k = [1, 2, 3, 4, 5]
    spectrum:k=3,part=0:40 + spectrum:k=3,part=42:82       a sum; each on its part of the sequence
    0.5*spectrum:k=3 + 0.5*(spectrum:k=1*spectrum:k=2)     weights and products
    rbf:gamma=0.5,base=(spectrum:k=3)                      a kernel on a kernel

Values are none, true, false, integers, numbers, ranges, ``[lists]``, ``(kernels)`` or else strings.
"""

import inspect
import json
import numbers
import re
from collections.abc import Mapping

from seqkern.core.errors import ParameterError
from seqkern.kernels.base import Kernel
from seqkern.kernels.kernel_table import KERNELS

_NAME = re.compile(r"[A-Za-z_][\w-]*")
_WEIGHT = re.compile(r"((?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*\*")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?=\s*(?:[,+*)\]]|$))")
_WORD = re.compile(r"[^,+*()\[\]=]+")
_RANGE = re.compile(r"(\d+)-(\d+)")
_LONGEST_RANGE = 1000
_EXAMPLES = {
    "kernel": "spectrum:k=3",
    "solver": "csvc:C=1",
    "selector": "golub:n_features=20",
    "transform": "repair:method=clip",
    "method": "clip",
    "layer": "structure:window=15",
}
_CONSTANTS = {"none": None, "true": True, "false": False}


def build_kernel(spec):
    """Return the kernel that a spec describes.

    Parameters
    ----------
    spec : str, mapping or Kernel
        Text or config form, as above. A Kernel is returned as it is.

    Returns
    -------
    Kernel

    Raises
    ------
    ParameterError
        If the text cannot be read, a kernel or parameter is unknown (with the nearest name), or a value is
        outside its domain.
    """
    if isinstance(spec, Kernel):
        return spec
    if isinstance(spec, str):
        spec = parse_spec(spec)
    if not isinstance(spec, Mapping) or not isinstance(spec.get("kernel"), str):
        raise ParameterError(f"{spec!r} is no kernel", remedy="write one as {kernel: spectrum, k: 3} or spectrum:k=3")
    params = {str(key): _build_value(key, value) for key, value in spec.items() if key not in ("kernel", "part")}
    kernel = KERNELS.build(spec["kernel"], **params)
    if spec.get("part") is not None:
        start, stop = _ends(spec["part"])
        kernel = KERNELS.build("part", base=kernel, start=start, stop=stop)
    kernel.check_parameters()
    return kernel


def check_kind(kernel, kind, file=None):
    """Raise ParameterError unless a kernel takes a kind of data.

    Parameters
    ----------
    kernel : Kernel
    kind : {"sequences", "features", "similarities", "dissimilarities"}
        Dissimilarities are taken by the kernels that accept similarities.
    file : path-like, optional
        Named in messages.
    """
    if not kind.endswith(kernel.accepts):
        raise ParameterError(
            f"kernel {kernel.name!r} takes {kernel.accepts}, the data are {kind}",
            file=file,
            remedy="choose another; seqkern kernels lists what each takes",
        )


def kernel_from_state(header, arrays):
    """Return the kernel whose `state` this was, fitted if it was fitted.

    Parameters
    ----------
    header : dict
    arrays : dict of str to ndarray
    """
    kernel = build_kernel(header["spec"])
    if header["fitted"] or arrays:
        kernel.restore_fitted(header["fitted"], arrays)
    return kernel


def kernel_text(kernel):
    """Return a kernel in text form, for people: without defaults, but for the numbers that come first, such as k."""
    signature = inspect.signature(type(kernel)).parameters
    given = {
        name: value
        for name, value in kernel.get_params(deep=False).items()
        if isinstance(value, Kernel)
        or value != signature[name].default
        or (isinstance(value, numbers.Real) and signature[name].kind is not inspect.Parameter.KEYWORD_ONLY)
    }
    text = ",".join(f"{name}={_value_text(value)}" for name, value in given.items())
    return f"{kernel.name}:{text}" if text else kernel.name


def _value_text(value):
    """Return a parameter's value as the text form has it."""
    if isinstance(value, Kernel):
        return f"({kernel_text(value)})"
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(_value_text, value))}]"
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return getattr(value, "name", None) or str(value)


def parse_spec(text, key="kernel", inside=None):
    """Return the config form of a text form.

    Parameters
    ----------
    text : str
        As above, or JSON: the config form itself.
    key : str
        The key of the name: ``"kernel"``; for other things written the same way, theirs.
    inside : dict of str to str, optional
        From the name of a parameter to the key of what stands in parentheses there, where that is another one.

    Returns
    -------
    dict

    Raises
    ------
    ParameterError
        If the text cannot be read, with the place.
    """
    if not text.lstrip().startswith("{"):
        return _Reader(text, key, inside or {}).read()
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        example = _EXAMPLES[key]
        written = json.dumps({key: example.partition(":")[0]})
        raise ParameterError(
            f"{text!r} is not JSON: {error}", remedy=f"write it as JSON ({written}) or text ({example}), in quotes"
        ) from error


def parse_value(text):
    """Return what one word of a text form means: a constant, integer, number, range, or the word itself."""
    word = text.strip()
    if word.lower() in _CONSTANTS:
        return _CONSTANTS[word.lower()]
    span = _RANGE.fullmatch(word)
    if span and 0 <= int(span[2]) - int(span[1]) < _LONGEST_RANGE:
        return list(range(int(span[1]), int(span[2]) + 1))
    if not _NUMBER.fullmatch(word):
        return word
    return float(word) if set(word) & set(".eE") else int(word)


def _build_value(key, value):
    """Return a parameter's value with kernels built: of mappings always, of text where a kernel belongs."""
    if isinstance(value, Mapping) or (key == "base" and isinstance(value, str)):
        return build_kernel(value)
    if key == "parts" and isinstance(value, (list, tuple)):
        return [build_kernel(item) for item in value]
    if isinstance(value, str) and _RANGE.fullmatch(value):
        return parse_value(value)
    return value


def _ends(part):
    """Return (start, stop) of a part written as ``[0, 40]`` or ``"0:40"``; either end may be open."""
    ends = part
    if isinstance(part, str):
        ends = [parse_value(end or "none") for end in part.split(":")]
    if not isinstance(ends, (list, tuple)) or len(ends) != 2:
        raise ParameterError(f"part={part!r} is not possible", remedy="write it as 0:40 or [0, 40]")
    return ends


class _Reader:
    """Recursive descent over one text."""

    def __init__(self, text, key, inside):
        self.text = text
        self.key = key
        self.inside = inside
        self.place = 0

    def read(self):
        spec = self.sum()
        if self.place < len(self.text):
            self.fail()
        return spec

    def fail(self):
        """Raise ParameterError naming the place."""
        remedy = "write name:parameter=value,parameter=value, sums with +, nested ones in parentheses"
        if self.key == "kernel":
            remedy += "; patterns with brackets: write the kernel as JSON"
        raise ParameterError(f"cannot read {self.text!r} at {self.text[self.place :]!r}", remedy=remedy)

    def skip(self, token):
        """Step over `token` and the spaces around it, if it comes next; return whether it did."""
        found = re.compile(rf"\s*{re.escape(token)}\s*").match(self.text, self.place)
        self.place = found.end() if found else self.place
        return bool(found)

    def need(self, token):
        """Step over `token`, which must come next."""
        if not self.skip(token):
            self.fail()

    def take(self, pattern):
        """Step over a match of `pattern` and return it, or None."""
        found = pattern.match(self.text, self.place)
        self.place = found.end() if found else self.place
        return found

    def sum(self):
        self.skip("")
        weights, parts = zip(*self.separated("+", self.term), strict=True)
        self.skip("")
        if len(parts) == 1 and weights[0] == 1:
            return parts[0]
        spec = {self.key: "sum", "parts": list(parts)}
        return spec if set(weights) == {1} else {**spec, "weights": list(weights)}

    def term(self):
        """Read factors joined by ``*``; return (weight, spec)."""
        weight = 1
        while found := self.take(_WEIGHT):
            weight *= parse_value(found[1])
            self.skip("")
        parts = self.separated("*", self.atom)
        return weight, parts[0] if len(parts) == 1 else {self.key: "product", "parts": parts}

    def atom(self):
        if self.skip("("):
            return self.nested()
        name = self.take(_NAME)
        if not name:
            self.fail()
        spec = {self.key: name[0]}
        if self.skip(":"):
            for parameter, value in self.separated(",", self.parameter):
                if parameter in spec:
                    raise ParameterError(f"{parameter!r} is given twice in {self.text!r}", remedy="keep one")
                spec[parameter] = value
        return spec

    def nested(self):
        spec = self.sum()
        self.need(")")
        return spec

    def parameter(self):
        """Read ``name=value``."""
        name = self.take(_NAME)
        if not name:
            self.fail()
        self.need("=")
        outside, self.key = self.key, self.inside.get(name[0], self.key)
        value = self.value()
        self.key = outside
        return name[0], value

    def value(self):
        if self.skip("("):
            return self.nested()
        if self.skip("["):
            items = self.separated(",", self.value)
            self.need("]")
            return items
        word = self.take(_NUMBER) or self.take(_WORD)
        if not word:
            self.fail()
        return parse_value(word[0])

    def separated(self, token, read):
        """Return what `read` gives, once or more, with `token` between."""
        items = [read()]
        while self.skip(token):
            items.append(read())
        return items
