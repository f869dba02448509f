"""The schema of a study: it validates a configuration and provides its defaults."""

import difflib
import reprlib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import jsonschema

from seqkern.core.errors import ConfigError
from seqkern.core.resource_files import open_resource
from seqkern.study.places import Places, parse_yaml

Schema = Mapping[str, Any]
TYPES = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
"""Names of the schema's types in messages."""


@cache
def read_schema(name: str = "config") -> Schema:
    """Return the schema of a study, or of another configuration.

    Parameters
    ----------
    name : str
        ``"config"`` or ``"apply"``.

    Returns
    -------
    mapping
    """
    with open_resource(f"{name}.schema.yaml", "schemas") as stream:
        schema: Schema = parse_yaml(stream.read())[1]
    return schema


def check_schema(config: Any, schema: Schema, places: Places) -> None:
    """Raise ConfigError unless a configuration is valid under a schema.

    Parameters
    ----------
    config : object
        As read from YAML or JSON.
    schema : mapping
        Of JSON Schema 2020-12.
    places : Places
        Of the configuration.

    Raises
    ------
    ConfigError
        For an invalid key or value, with the nearest known key.
    """
    places.check_numbers()
    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(config))
    if error is not None:
        raise _schema_error(error, schema, places)


def _schema_error(error: jsonschema.ValidationError, schema: Schema, places: Places) -> ConfigError:
    """Return a ConfigError for a jsonschema error, in the terms of the configuration file."""
    keys = tuple(error.absolute_path)
    given: Any = error.instance
    wanted: Any = error.validator_value
    rules: Any = error.schema
    where = "" if keys else "top level: "
    if error.validator == "additionalProperties" and isinstance(given, dict):
        known = sorted(rules.get("properties", {}))
        key = next(key for key in given if key not in known)
        meant = hint(key, known)
        if keys[:1] == ("datasets",) and len(keys) > 1 and key in schema["$defs"]["dataset"]["properties"]:
            meant = f"move {key} to the data set itself; "
        remedy = f"{meant}choose from: {', '.join(known)}"
        return places.error(keys, f"{where}unknown key {key!r}", remedy=remedy, at=(*keys, key))
    if error.validator == "required":
        missing = next(key for key in wanted if key not in given)
        near = difflib.get_close_matches(missing, map(str, given), n=1)
        meant = f"rename {near[0]!r}, or " if near else ""
        return places.error(keys, f"{where}missing key {missing!r}", remedy=f"{meant}see config/README.md")
    if error.validator == "pattern":
        problem = f"{where}invalid value {given!r}"
        return places.error(keys, problem, remedy=f"write {rules['form']}")
    if error.validator == "type":
        names = wanted if isinstance(wanted, list) else [wanted]
        problem = f"{where}{reprlib.repr(given)} is not {' or '.join(TYPES[name] for name in names)}"
        return places.error(keys, problem, remedy="see config/README.md")
    return places.error(keys, f"{where}{error.message}", remedy="see config/README.md")


def hint(name: object, known: Iterable[str]) -> str:
    """Return a question suggesting the nearest known name, or an empty string.

    Parameters
    ----------
    name : object
        The given name.
    known : iterable of str
        The defined names.

    Returns
    -------
    str
        Empty if no name is similar.
    """
    near = difflib.get_close_matches(str(name), known, n=1)
    return f"did you mean {near[0]!r}? " if near else ""


def with_defaults(value: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """Return a copy of an object with the defaults of its schema's properties, level by level.

    Parameters
    ----------
    value : mapping
        A configuration, or part of one.
    schema : mapping
        Of JSON Schema 2020-12.

    Returns
    -------
    dict

    Examples
    --------
    >>> with_defaults({"a": 1}, {"properties": {"b": {"default": 2}}})
    {'a': 1, 'b': 2}
    """
    completed = dict(value)
    for key, rule in schema.get("properties", {}).items():
        if "default" in rule and key not in completed:
            completed[key] = rule["default"]
        if isinstance(completed.get(key), dict) and rule.get("type") == "object":
            completed[key] = with_defaults(completed[key], rule)
    return completed
