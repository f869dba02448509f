"""The schema of a study: a configuration is checked against it, and completed with its defaults."""

import difflib
import reprlib

from seqkern.core.errors import ConfigError
from seqkern.core.resource_files import open_resource

TYPES = {
    "object": "keys with values",
    "array": "a list",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
"""What the types of the schema are called in messages."""


def read_schema():
    """Return the schema of a study."""
    import yaml

    with open_resource("config.schema.yaml", "schemas") as stream:
        return yaml.safe_load(stream.read())


def check_schema(config, schema, file):
    """Raise ConfigError unless a configuration fits a schema."""
    import jsonschema

    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(config))
    if error is not None:
        raise _schema_error(error, schema, file)


def _schema_error(error, schema, file):
    """Return a ConfigError in the words of the config file for a jsonschema error about a schema."""
    place = ".".join(map(str, error.absolute_path)) or "top level"
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        known = sorted(error.schema.get("properties", {}))
        for key in error.instance:
            if key not in known:
                meant = hint(key, known)
                if place.startswith("datasets.") and key in schema["$defs"]["dataset"]["properties"]:
                    meant = f"{key} is a key of the data set itself; "
                remedy = f"{meant}known keys: {', '.join(known)}"
                return ConfigError(f"{place}: unknown key {key!r}", file=file, remedy=remedy)
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        near = difflib.get_close_matches(missing, map(str, error.instance), n=1)
        meant = f"is it meant by {near[0]!r}? " if near else ""
        return ConfigError(f"{place}: the key {missing!r} is missing", file=file, remedy=f"{meant}see config/README.md")
    if error.validator == "pattern":
        problem = f"{place}: {error.instance!r} is not possible"
        return ConfigError(problem, file=file, remedy=f"write {error.schema['form']}")
    if error.validator == "type":
        wanted = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
        problem = f"{place}: {reprlib.repr(error.instance)} is not {' or '.join(TYPES[name] for name in wanted)}"
        return ConfigError(problem, file=file, remedy="see config/README.md")
    return ConfigError(f"{place}: {error.message}", file=file, remedy="see config/README.md")


def hint(name, known):
    """Return the question whether the nearest of the known names is meant, or nothing."""
    near = difflib.get_close_matches(str(name), known, n=1)
    return f"did you mean {near[0]!r}? " if near else ""


def with_defaults(value, schema):
    """Return a copy of the object `value` with the defaults of its schema's properties, level by level."""
    value = dict(value)
    for key, rule in schema.get("properties", {}).items():
        if "default" in rule and key not in value:
            value[key] = rule["default"]
        if isinstance(value.get(key), dict) and rule.get("type") == "object":
            value[key] = with_defaults(value[key], rule)
    return value
