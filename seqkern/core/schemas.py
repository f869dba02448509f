"""The JSON schemas of kernels, solvers, … in configurations, derived from the declared parameters."""

from collections.abc import Mapping
from typing import Any

from seqkern.core.declarations import Component
from seqkern.core.registry import Kind, kind_of

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
