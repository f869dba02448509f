"""The keys of a configuration: their declarations, its file's lines, and its validation."""

import contextlib
import difflib
import inspect
import math
import re
import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, TypeVar, dataclass_transform

import yaml

from seqkern.core.checks import read_number
from seqkern.core.declarations import Parameter, Text
from seqkern.core.errors import ConfigError, SeqkernError, unreadable
from seqkern.core.parameters import choice, flag, integer, parameters_section, real, text

if TYPE_CHECKING:
    import jsonschema

# A YAML reader that keeps the lines of configuration keys for messages.

File = str | PathLike[str]
Files = File | Sequence[File] | None
Keys = tuple[str | int, ...]
Schema = dict[str, Any]
Value = TypeVar("Value")
MISSING = object()
ODD_NUMBER = re.compile(r"[0-9]_|[0-9.][eE][-+]?[0-9]{3}")
LONGEST = 1_000_000
"""Maximum number of characters of a configuration."""
MOST_VALUES = 50_000
"""Maximum number of keys and values of a configuration, with aliases expanded."""


class Places:
    """The files of a configuration (in reading order), and the lines of its keys.

    >>> places = Places({"seed": -1}, ["study.yaml"])
    >>> print(places.error(("seed",), "-1 is less than the minimum of 0"))
    study.yaml: seed: -1 is less than the minimum of 0
    """

    def __init__(self, config: Mapping[str, Any], files: Sequence[File] = ()) -> None:
        self.config = config
        self.files = list(files)

    def error(
        self, keys: Keys, problem: str, *, remedy: str | None = None, at: Keys | None = None, joint: str = ": "
    ) -> ConfigError:
        """Return a ConfigError about one key; `at` is the key whose line to report, if it differs."""
        file, line = self.find(keys if at is None else at)
        text = f"{'.'.join(map(str, keys))}{joint}{problem}" if keys else problem
        return ConfigError(text, file=file, line=line, remedy=remedy)

    @contextlib.contextmanager
    def within(self, *keys: str | int) -> Iterator[None]:
        """Convert errors that a user can correct to ConfigErrors about one key."""
        try:
            yield
        except SeqkernError as error:
            raise self.error(keys, error.problem, remedy=error.remedy) from error

    def check_numbers(self) -> None:
        """Raise ConfigError for numbers such as ``1_000`` and ``1.0e+400``, which YAML reads as 1000 and infinity."""
        for file in self.files:
            for node in _odd_numbers(file):
                problem = f"{node.value} is not a finite number of digits only"
                line = node.start_mark.line + 1
                raise ConfigError(problem, file=file, line=line, remedy="write it in digits, or a text in quotes")

    def find(self, keys: Keys) -> tuple[File | None, int | None]:
        """Return the file and line (from 1) of a key; the last file and None if it is in no file.

        A key also given on the command line is in no file. For a missing key, the place where it belongs is returned.
        """
        for file in reversed(self.files):
            line = _line(file, self.config, keys)
            if line is not None:
                return file, line
        return (self.files[-1] if self.files else None), None


def files_of(file: Files) -> list[File]:
    """Return the given files as a list."""
    if file is None:
        return []
    return [file] if isinstance(file, str | PathLike) else list(file)


class _Loader(yaml.SafeLoader):
    """A YAML loader that rejects repeated keys and oversized configurations."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.count = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Return the next node and count it."""
        self.count += 1
        _check_count(self.count)
        return super().compose_node(parent, index)

    def check(self, node: yaml.Node, sizes: dict[int, int]) -> int:
        """Return the number of values in a node, with aliases expanded, and check its keys."""
        if id(node) not in sizes:
            sizes[id(node)] = MOST_VALUES  # while its values are counted: an alias of itself has no end
            parts: list[Any] = node.value if isinstance(node, yaml.CollectionNode) else []
            if isinstance(node, yaml.MappingNode):
                _check_keys([key for key, _ in parts])
                parts = [part for pair in parts for part in pair]
            sizes[id(node)] = 1 + sum(self.check(part, sizes) for part in parts)
            _check_count(sizes[id(node)])
        return sizes[id(node)]


def _check_keys(keys: Sequence[yaml.Node]) -> None:
    """Raise ConfigError for a repeated key; YAML would silently take the last one."""
    lines: dict[object, int] = {}
    for node in keys:
        line = node.start_mark.line + 1
        key = (node.tag, node.value) if isinstance(node, yaml.ScalarNode) else id(node)
        if key in lines:
            problem = f"repeats the key {node.value!r} (lines {lines[key]} and {line})"
            raise ConfigError(problem, remedy="remove or rename one of them")
        lines[key] = line


def _check_count(count: int) -> None:
    """Raise ConfigError for more values than a configuration can have."""
    if count > MOST_VALUES:
        problem = f"has more than {MOST_VALUES:,} values, aliases (*name) counted as what they stand for"
        raise ConfigError(problem, remedy="divide it, or remove aliases")


def parse_yaml(text: str) -> tuple[yaml.Node | None, Any]:
    r"""Return the root node (with line numbers) and the content of a YAML text; the node of an empty text is None.

    >>> parse_yaml("seed: 1\nseed: 2")
    Traceback (most recent call last):
        ...
    seqkern.core.errors.ConfigError: repeats the key 'seed' (lines 1 and 2); remove or rename one of them
    """
    if len(text) > LONGEST:
        raise ConfigError(f"has more than {LONGEST:,} characters", remedy="divide it")
    loader = _Loader(text)
    try:
        root = loader.get_single_node()
        if root is None:
            return None, None
        loader.check(root, {})
        return root, loader.construct_document(root)
    finally:
        loader.dispose()


def read_config(path: File) -> Any:
    """Return the unchecked content of a YAML configuration."""
    try:
        return _read(path)[1]
    except OSError as error:
        raise unreadable(path, error, kind=ConfigError) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"is not YAML: {error}", file=path, remedy="correct the given line") from error


def check_written(files: Files) -> None:
    """Raise ConfigError for a file that repeats a key or is too large.

    Snakemake reads configurations itself, and takes the last of repeated keys. Files that are not YAML pass.
    """
    for file in files_of(files):
        _parsed(file)


def _read(file: File) -> tuple[yaml.Node | None, Any]:
    """Return the root node and the content of a YAML file."""
    try:
        return parse_yaml(Path(file).read_text(encoding="utf-8"))
    except ConfigError as error:
        error.file = file
        raise


def _parsed(file: File) -> tuple[yaml.Node | None, Any]:
    """Return the root node and the content of a file, None and None where it is not YAML."""
    try:
        return _read(file)
    except ConfigError:
        raise
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        return None, None


def _line(file: File, config: Mapping[str, Any], keys: Keys) -> int | None:
    """Return the line of a key in one file; None if the key is not there."""
    root, data = _parsed(file)
    if root is None:
        return None
    written = _value(data, keys)
    if written is not MISSING and written != _value(config, keys):
        return None
    line, node = None, root
    for key in keys:
        found = _child(node, key)
        if found is None:
            break
        mark, node = found
        line = mark + 1
    return line


def _odd_numbers(file: File) -> Iterator[yaml.Node]:
    """Yield the number nodes of a file that have underscores or overflow."""
    try:
        text = Path(file).read_text(encoding="utf-8")
        nodes = [yaml.compose(text, Loader=yaml.SafeLoader)] if ODD_NUMBER.search(text) else []
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        return
    seen: set[int] = set()
    while nodes:
        node = nodes.pop()
        if id(node) in seen:  # an alias
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            nodes += [part for pair in reversed(node.value) for part in reversed(pair)]
        elif isinstance(node, yaml.SequenceNode):
            nodes += reversed(node.value)
        elif (
            node is not None
            and node.tag.endswith((":int", ":float"))
            and ODD_NUMBER.search(node.value)
            and math.isnan(read_number(node.value))
        ):
            yield node


def _value(data: Any, keys: Keys) -> Any:
    """Return the value at a path of nested mappings and lists, or `MISSING`."""
    for key in keys:
        try:
            data = data[key]
        except (KeyError, IndexError, TypeError):
            return MISSING
    return data


def _child(node: yaml.Node | None, key: str | int) -> tuple[int, yaml.Node] | None:
    """Return the line (from 0) and the child node of a key; None if there is none."""
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
        return node.value[key].start_mark.line, node.value[key]
    if not isinstance(node, yaml.MappingNode):
        return None
    merged: list[yaml.Node] = []
    for name, value in node.value:
        if name.value == str(key):
            return name.start_mark.line, value
        if name.tag == "tag:yaml.org,2002:merge":
            merged += value.value if isinstance(value, yaml.SequenceNode) else [value]
    return next((found for found in (_child(part, key) for part in merged) if found is not None), None)


# Keys of a configuration: declared parameters of the classes of its entries, from which its schema follows.


class Pattern(Text):
    """A text that matches a pattern; `form` describes it in messages."""

    pattern: str = ""
    form: str = ""
    longest: int | None = None

    def _key(self) -> Schema:
        length = {} if self.longest is None else {"maxLength": self.longest}
        return {"form": self.form, "type": "string", "pattern": self.pattern, **length}


class Listing(Parameter):
    """A list of values of one declaration."""

    value: Parameter = Parameter()
    least: int = 1
    most: int | None = None
    unique: bool = False

    def _key(self) -> Schema:
        schema = {"type": "array", "minItems": self.least, "items": self.value.key_schema()}
        schema |= {"uniqueItems": True} if self.unique else {}
        return schema if self.most is None else {**schema, "maxItems": self.most}


class ByName(Parameter):
    """Values of one declaration by name; a name is a file name unless `any_name`."""

    value: Parameter = Parameter()
    any_name: bool = False

    def _key(self) -> Schema:
        names = {} if self.any_name else {"propertyNames": NAME.key_schema()}
        return {"type": "object", "minProperties": 1, **names, "additionalProperties": self.value.key_schema()}


class Section(Parameter):
    """A mapping with declared keys; with `others` also other ones, which are checked where they are read.

    All keys but those named by `needed` may be left out.
    """

    keys: Mapping[str, Parameter] = MappingProxyType({})
    needed: Sequence[str] = ()
    others: bool = False

    def _key(self) -> Schema:
        schema: dict[str, Any] = (
            {"type": "object"} if self.others else {"type": "object", "additionalProperties": False}
        )
        required = {"required": list(self.needed)} if self.needed else {}
        properties = {name: item.key_schema() for name, item in self.keys.items()}
        return {**schema, **required, "properties": properties}


class Either(Parameter):
    """A value of one of several declarations."""

    forms: Sequence[Parameter] = ()

    def _key(self) -> Schema:
        return {"anyOf": [form.key_schema() for form in self.forms]}


class Typed(Parameter):
    """A value of some types of JSON, which is checked where it is read."""

    types: Sequence[str] = ()

    def _key(self) -> Schema:
        return {"type": list(self.types)}


class Branch(Parameter):
    """A mapping of one kind if it has a key, else of another."""

    key: str = ""
    having: Parameter = Parameter()
    others: Parameter = Parameter()

    def _key(self) -> Schema:
        condition = {"type": "object", "required": [self.key]}
        return {"if": condition, "then": self.having.key_schema(), "else": self.others.key_schema()}


NAME: Any = Pattern(
    pattern="^[A-Za-z0-9][A-Za-z0-9_.-]*$",
    form="letters, digits, _ . and -, starting with a letter or digit",
    longest=80,
    doc="A name that is used as a file name.",
)
FOLDER: Any = NAME.but(
    pattern="^[A-Za-z0-9][A-Za-z0-9_./-]*$", form="letters, digits, _ . - and /, starting with a letter or digit"
)
PATH: Any = Pattern(pattern=r"^[^\x00]+$", form="the path of a file")
OPTIONAL_PATH: Any = PATH.but(default=None)
BYTES = Pattern(pattern="^[0-9.]+ ?([kMGT]i?)?B$", form="an amount such as 500MB or 2GB")


@dataclass_transform(frozen_default=True, field_specifiers=(integer, real, choice, flag, text))
def configured(cls: type[Value]) -> type[Value]:
    """Make a frozen dataclass of an entry's class; its declared parameters are the entry's keys, `keys_of` it."""
    keys = {name: item for name, item in vars(cls).items() if isinstance(item, Parameter)}
    for name, item in keys.items():
        if item.required:
            delattr(cls, name)
        else:
            setattr(cls, name, item.default)
    cls._keys = keys  # type: ignore[attr-defined]
    written = inspect.cleandoc(cls.__doc__ or "")
    if "Attributes\n----" not in written:
        head, rule, examples = written.partition("Examples\n--------")
        section = parameters_section(keys).replace("Parameters\n----------", "Attributes\n----------")
        cls.__doc__ = f"{head.rstrip()}\n\n{section}\n\n{rule}{examples}"
    return dataclass(frozen=True)(cls)


class Settings:
    """The base of settings that are read as they are given."""

    @classmethod
    def parse(cls, given: Mapping[str, Any]) -> Self:
        """Return the settings of a configuration.

        Parameters
        ----------
        given : mapping
            Values by key; other keys are ignored.

        Returns
        -------
        Settings
        """
        return cls(**{name: given[name] for name in keys_of(cls) if name in given})

    def given(self) -> dict[str, Any]:
        """Return the settings that have a value, by key."""
        return {name: value for name in keys_of(type(self)) if (value := getattr(self, name)) is not None}


def keys_of(cls: type) -> dict[str, Parameter]:
    """Return the declared keys of an entry's class."""
    return dict(getattr(cls, "_keys", {}))


# Validation of a configuration, in words of its file.

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


def check_keys(config: Any, declared: Section, places: Places) -> None:
    """Raise ConfigError, with the nearest known key, unless a configuration has the declared keys and values."""
    import jsonschema  # imported here for fast start-up: jobs read checked configurations

    places.check_numbers()
    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(declared.key_schema()).iter_errors(config))
    if error is not None:
        raise _key_error(error, declared, places)


def _key_error(error: "jsonschema.ValidationError", declared: Section, places: Places) -> ConfigError:
    """Return a ConfigError for a jsonschema error, worded in terms of the configuration file."""
    keys = tuple(error.absolute_path)
    given: Any = error.instance
    wanted: Any = error.validator_value
    rules: Any = error.schema
    where = "" if keys else "top level: "
    if error.validator == "additionalProperties" and isinstance(given, dict):
        known = sorted(rules.get("properties", {}))
        key = next(key for key in given if key not in known)
        meant = hint(key, known)
        outer = getattr(declared.keys.get(str(keys[0])), "value", None) if len(keys) > 2 else None
        if isinstance(outer, Section) and key in outer.keys:
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
    """Return a question that suggests the nearest known name, or an empty string."""
    near = difflib.get_close_matches(str(name), known, n=1)
    return f"did you mean {near[0]!r}? " if near else ""


def with_defaults(value: Mapping[str, Any], keys: Mapping[str, Parameter]) -> dict[str, Any]:
    """Return a copy of a mapping, filled recursively with the defaults of its declared keys.

    >>> with_defaults({"a": 1}, {"b": Parameter(default=2), "c": Parameter(default=None)})
    {'a': 1, 'b': 2}
    """
    completed = dict(value)
    for key, item in keys.items():
        if key not in completed and not item.required and (item.default is not None or item.optional):
            completed[key] = item.default
        if isinstance(completed.get(key), dict) and isinstance(item, Section):
            completed[key] = with_defaults(completed[key], item.keys)
    return completed
