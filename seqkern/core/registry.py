"""Registries of classes by name, in which looking up a class imports only its module.

Other distributions add classes by entry points, such as ``[project.entry-points."seqkern.kernels"]``. These are read
when a name is not in the table, or all classes are listed.
"""

import importlib
import inspect
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from seqkern.core.checks import check_flag
from seqkern.core.errors import ParameterError, check_known, one_line, unknown_name


class Registry:
    """A registry of named classes of one kind, each imported when it is looked up.

    `table` maps the name of each class to ``module:Class``, and `base` is their base class in this form. Entry points
    of the group ``seqkern.`` and the plural of `kind` add classes.
    """

    def __init__(self, kind: str, base: str, table: Mapping[str, str]) -> None:
        self.kind = kind
        self.noun = kind.replace("_", " ")
        self.base = base
        self.table = dict(sorted(table.items()))
        self._complete = False
        self._installed: set[str] = set()  # Names of the classes of other distributions

    @cached_property
    def base_class(self) -> type[Any]:
        """The base class of the registered classes."""
        return _import_class(self.base)

    @property
    def names(self) -> list[str]:
        """The names of the classes in the table, sorted; imports no class."""
        return list(self.table)

    def __contains__(self, name: object) -> bool:
        if name not in self.table:
            self._add_installed()
        return name in self.table

    @property
    def classes(self) -> dict[str, type[Any]]:
        """The classes by name, sorted; imports all of them, and warns of those of other distributions that fail."""
        self._add_installed()
        found = {}
        for name in self.table:
            try:
                found[name] = self.get(name)
            except InstalledError as error:
                warnings.warn(str(error), stacklevel=2)
        return found

    def class_names(self) -> list[str]:
        """Return the Python names of the classes, as in ``from package import Name``."""
        return [place.partition(":")[2] for place in self.table.values()]

    def add(self, name: str, place: str) -> None:
        """Register a class from elsewhere, at a place ``module:Class``."""
        other = self.table.get(name, place)
        if other != place:
            raise ParameterError(
                f"two classes are named {self.noun} {name!r}: {other} and {place}", remedy="rename one"
            )
        self.table = dict(sorted({**self.table, name: place}.items()))

    def get(self, name: str) -> type[Any]:
        """Return a class by its registered name, importing its module."""
        if name not in self:
            raise unknown_name(self.noun, name, self.table)
        place = self.table[name]
        return import_installed(f"{self.noun} {name!r}", place) if name in self._installed else _import_class(place)

    def _add_installed(self) -> None:
        """Register the classes of other distributions, once."""
        if not self._complete:
            self._complete = True
            for name, place in installed(f"seqkern.{self.kind}s").items():
                if name not in self.table:
                    self.add(name, place)
                    self._installed.add(name)
                elif self.table[name] != place:
                    warnings.warn(f"{self.noun} {name!r} is {self.table[name]}, not {place}; rename one", stacklevel=2)

    def build(self, name: str, /, **params: Any) -> Any:
        """Return an instance of a class."""
        cls = self.get(name)
        signature = inspect.signature(cls)
        check_known(f"parameter of {self.noun} {name!r}", params, signature.parameters)
        for key, parameter in signature.parameters.items():
            if isinstance(parameter.default, bool) and key in params:
                check_flag(key, params[key])
            if parameter.default is inspect.Parameter.empty and key not in params:
                raise ParameterError(f"{self.noun} {name!r} needs the parameter {key!r}", remedy=f"add {key}=VALUE")
        return cls(**params)


def installed(group: str) -> dict[str, str]:
    """Return the places that other distributions name in a group of entry points, by name."""
    from importlib.metadata import entry_points  # imported here: slows start-up

    return {entry.name: entry.value for entry in entry_points(group=group)}


class InstalledError(ParameterError):
    """The error about what another distribution adds and cannot be imported."""


def import_installed(what: str, place: str) -> Any:
    """Return what another distribution adds at ``module:name``."""
    try:
        return _import_class(place)
    except Exception as error:  # whatever the other distribution's code raises
        raise InstalledError(
            f"{what}, which another distribution adds as {place}, cannot be imported: {one_line(error, 400)}",
            remedy=f"repair or uninstall the distribution of {re.split('[.:]', place)[0]}",
        ) from error


def _import_class(place: str) -> type[Any]:
    """Return the class at ``module:Class``."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


# The kinds of objects that a configuration describes (kernels, solvers, …), registered by their packages.
#
# A parameter may hold an object of some kind (the `base` of a kernel, the `binary` solver of a multi-class one). It
# refers to the kind by name, so that this package imports the others only when such an object is built.


@dataclass(frozen=True)
class Kind:
    """A kind of object in configurations, with its registry and the functions that parse, build and expand its specs.

    >>> kind = kind_of("solver")
    >>> kind.type_name, kind.example
    ('Solver', 'csvc:C=1')
    """

    name: str  # The key of its name in a configuration: ``"kernel"``
    type_name: str  # The type in the documentation of parameters
    build: Callable[[Any], Any]  # Builds the object that text or a mapping describes; returns a built object as it is
    example: str  # An example as text, for messages
    registry: Any = None  # Its classes by name; None if there is only one
    grid: bool = False  # Whether a list of values is a grid to choose from
    parse: Callable[[str], Any] | None = None  # Converts text to the configuration form
    expand: Callable[[Any], list] | None = None  # Expands a grid to its specs
    class_of: Callable[[str], Any] | None = None  # Returns the class for a name, if it differs from the registry's


KINDS: dict[str, Kind] = {}
"""All kinds with an imported package, by name."""

HOMES = {
    "kernel": "seqkern.kernels.kernel_specs",
    "feature_transform": "seqkern.kernels.feature_transforms.transforms",
    "transform": "seqkern.gram.transforms.gram_transform",
    "method": "seqkern.gram.transforms.gram_transform",
    "solver": "seqkern.solvers.solver_specs",
    "selector": "seqkern.solvers.selection.selectors.selector_specs",
    "scaler": "seqkern.solvers.selection.selectors.selector_specs",
    "layer": "seqkern.solvers.layers.chain",
}
"""The module that registers each kind."""


def add_kind(kind: Kind) -> Kind:
    """Register a kind, in place of one with the same name, and return it."""
    KINDS[kind.name] = kind
    return kind


def kind_of(name: str) -> Kind:
    """Return a kind by name, importing its package; an unknown name gives a kind without classes."""
    if name not in KINDS and name in HOMES:
        importlib.import_module(HOMES[name])
    return KINDS.get(name) or Kind(name, name.capitalize(), build=lambda value: value, example="name:parameter=value")
