"""The lines of the keys of a configuration in its files, for messages."""

import contextlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import yaml

from seqkern.core.errors import ConfigError, SeqkernError
from seqkern.core.values import read_number

File = str | PathLike[str]
Files = File | Sequence[File] | None
Keys = tuple[str | int, ...]
MISSING = object()
ODD_NUMBER = re.compile(r"[0-9]_|[0-9.][eE][-+]?[0-9]{3}")


class Places:
    """The files of a configuration, and the lines of its keys.

    Parameters
    ----------
    config : mapping
        As read; possibly merged from several files and the command line.
    files : sequence of path-like, optional
        In the order in which they were read.

    Examples
    --------
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
        """Return a ConfigError about one key.

        Parameters
        ----------
        keys : tuple of str or int
            The path to the key from the top.
        problem, remedy : str
            The problem and the remedy.
        at : tuple of str or int, optional
            The key whose line to report, if it differs.
        joint : str
            Text between key and problem.

        Returns
        -------
        ConfigError
        """
        file, line = self.find(keys if at is None else at)
        text = f"{'.'.join(map(str, keys))}{joint}{problem}" if keys else problem
        return ConfigError(text, file=file, line=line, remedy=remedy)

    @contextlib.contextmanager
    def within(self, *keys: str | int) -> Iterator[None]:
        """Convert errors that a user can correct to ConfigErrors about one key.

        Parameters
        ----------
        *keys : str or int
            The path to the key from the top.
        """
        try:
            yield
        except SeqkernError as error:
            raise self.error(keys, error.problem, remedy=error.remedy) from error

    def check_numbers(self) -> None:
        """Raise ConfigError for ``1_000`` and ``1.0e+400`` in a file, which YAML takes for 1000 and infinity."""
        for file in self.files:
            for node in _odd_numbers(file):
                problem = f"{node.value} is not a finite number of digits only"
                line = node.start_mark.line + 1
                raise ConfigError(problem, file=file, line=line, remedy="write it in digits, or a text in quotes")

    def find(self, keys: Keys) -> tuple[File | None, int | None]:
        """Return the file and line of a key; the last file and None if it is in no file.

        A key also given on the command line is in no file. For a missing key, the place where it belongs is returned.

        Parameters
        ----------
        keys : tuple of str or int
            The path to the key from the top.

        Returns
        -------
        file : path-like or None
            The file.
        line : int or None
            Its line, from 1.
        """
        for file in reversed(self.files):
            line = _line(file, self.config, keys)
            if line is not None:
                return file, line
        return (self.files[-1] if self.files else None), None


def files_of(file: Files) -> list[File]:
    """Return a list of the given files.

    Parameters
    ----------
    file : path-like, or a sequence of them, or None
        The source of the configuration.

    Returns
    -------
    list of path-like
    """
    if file is None:
        return []
    return [file] if isinstance(file, str | PathLike) else list(file)


def _line(file: File, config: Mapping[str, Any], keys: Keys) -> int | None:
    """Return the line of a key in one file; None if it is not there."""
    try:
        text = Path(file).read_text(encoding="utf-8")
        root, data = yaml.compose(text, Loader=yaml.SafeLoader), yaml.safe_load(text)
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
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
    """Yield the numbers of a file that have underscores or are too large."""
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
    """Return the value at a place of nested mappings and lists, `MISSING` if there is none."""
    for key in keys:
        try:
            data = data[key]
        except (KeyError, IndexError, TypeError):
            return MISSING
    return data


def _child(node: yaml.Node | None, key: str | int) -> tuple[int, yaml.Node] | None:
    """Return the line, from 0, and the child node under a key; None if there is none."""
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
