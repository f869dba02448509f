"""A study's configuration: read, checked against the schema, completed with its defaults."""

import difflib
from pathlib import Path

from .errors import ConfigError, SeqkernError
from .resource_files import open_resource


def load_config(path):
    """Read and check a study's YAML file.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    dict
        The configuration with every default filled in.

    Raises
    ------
    ConfigError
        If the file is missing, no YAML, or does not fit the schema; the message names the key.
    """
    import yaml

    try:
        config = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", file=path, remedy="check the path") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"is not YAML: {error}", file=path, remedy="mend the line named") from error
    return check_config(config, file=path)


def check_config(config, file=None):
    """Check a configuration and return it with every default filled in.

    Parameters
    ----------
    config : dict
    file : path-like, optional
        Named in messages.

    Raises
    ------
    ConfigError
        For a key or value that does not fit, with the nearest known key.
    """
    import jsonschema
    import yaml

    with open_resource("config.schema.yaml", "schemas") as stream:
        schema = yaml.safe_load(stream.read())
    if not isinstance(config, dict):
        raise ConfigError("holds no keys", file=file, remedy="see config/config.yaml for an example")
    validator = jsonschema.Draft202012Validator(schema)
    error = jsonschema.exceptions.best_match(validator.iter_errors(config))
    if error is not None:
        raise _schema_error(error, file)
    config = _with_defaults(config, schema)
    for name, entry in config["datasets"].items():
        _check_dataset(name, entry, config, file)
    _check_specs(config, file)
    return config


def _schema_error(error, file):
    """Return a ConfigError in the words of the config file for a jsonschema error."""
    place = ".".join(map(str, error.absolute_path)) or "top level"
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        known = sorted(error.schema.get("properties", {}))
        for key in error.instance:
            if key not in known:
                near = difflib.get_close_matches(str(key), known, n=1)
                hint = f"did you mean {near[0]!r}? " if near else ""
                return ConfigError(
                    f"{place}: unknown key {key!r}", file=file, remedy=f"{hint}known keys: {', '.join(known)}"
                )
    return ConfigError(f"{place}: {error.message}", file=file, remedy="see config/README.md")


def _with_defaults(value, schema):
    """Return a copy of the object `value` with the defaults of its schema's properties, level by level."""
    value = dict(value)
    for key, rule in schema.get("properties", {}).items():
        if "default" in rule and key not in value:
            value[key] = rule["default"]
        if isinstance(value.get(key), dict) and rule.get("type") == "object":
            value[key] = _with_defaults(value[key], rule)
    return value


def _check_dataset(name, entry, config, file):
    """Raise ConfigError unless a data set has one source and names known kernels and solvers."""
    from .datasets import SOURCES

    given = [source for source in SOURCES if source in entry]
    if len(given) != 1:
        raise ConfigError(
            f"datasets.{name}: needs exactly one source, has {len(given)}",
            file=file,
            remedy=f"give one of {', '.join(SOURCES)}",
        )
    for part in ("kernels", "solvers"):
        for choice in entry.get(part, ()):
            if choice not in config[part]:
                near = difflib.get_close_matches(choice, config[part], n=1)
                hint = f"did you mean {near[0]!r}? " if near else ""
                raise ConfigError(
                    f"datasets.{name}.{part}: {choice!r} is not defined",
                    file=file,
                    remedy=f"{hint}defined: {', '.join(config[part])}",
                )


def _check_specs(config, file):
    """Build every kernel, transform and solver once: a wrong name or value is found before any work."""
    from .gram.transforms import build_transform
    from .kernels import build_kernel
    from .solvers import expand_grid

    for name, spec in config["kernels"].items():
        kernel_spec, transforms = split_transforms(spec)
        try:
            build_kernel(kernel_spec)
            for transform in transforms:
                build_transform(transform)
        except SeqkernError as error:
            raise ConfigError(f"kernels.{name}: {error.problem}", file=file, remedy=error.remedy) from error
    for name, spec in config["solvers"].items():
        try:
            expand_grid(spec)
        except SeqkernError as error:
            raise ConfigError(f"solvers.{name}: {error.problem}", file=file, remedy=error.remedy) from error


def split_transforms(spec):
    """Return a config's kernel entry as (kernel spec, list of Gram transforms)."""
    spec = dict(spec)
    return spec, spec.pop("transforms", [])
