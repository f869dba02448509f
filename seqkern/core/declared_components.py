"""Declared parameters that have parameters themselves, such as the kernel inside a kernel."""

from collections.abc import Mapping
from typing import Any

from seqkern.core.declarations import Parameter, is_listed
from seqkern.core.kinds import kind_of
from seqkern.core.values import parse_value


class Component(Parameter):
    """An object of some kind (see kinds.py), such as the kernel inside a kernel; with `expand`, all of a grid.

    The class checks whether it is suitable.

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
        """Return a value of a configuration with texts parsed, which shows what is searched."""
        parse = kind_of(self.kind).parse
        if isinstance(value, str) and parse is not None and not self.list_parameter:
            return None if self.optional and value.strip().lower() == "none" else parse(value)
        return super()._normal(value, grid)

    def _build(self, value: Any) -> Any:
        """Return the objects that a text or a mapping describes: for lists and grids all of them."""
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
