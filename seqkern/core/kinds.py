"""The kinds of objects that a configuration describes: kernels, solvers, …; each package registers its own.

A parameter may hold an object of some kind (the `base` of a kernel, the `binary` solver of a multi-class one). It
refers to the kind by name, so that this package imports the others only when such an object is built.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Kind:
    """One kind of object.

    Attributes
    ----------
    name : str
        The key of its name in a configuration: ``"kernel"``.
    type_name : str
        The type in the documentation of parameters.
    build : callable
        Builds the object that text or a mapping describes; returns a built object as it is.
    example : str
        An example as text, for messages.
    registry : seqkern.core.registry.Registry, optional
        Its classes by name; None if there is only one.
    grid : bool
        Whether a list of values is a grid to choose from.
    parse : callable, optional
        Converts text to the configuration form.
    expand : callable, optional
        Expands a grid to its specs.
    class_of : callable, optional
        Returns the class for a name, if it differs from the registry's.

    Examples
    --------
    >>> kind = kind_of("solver")
    >>> kind.type_name, kind.example
    ('Solver', 'csvc:C=1')
    """

    name: str
    type_name: str
    build: Callable[[Any], Any]
    example: str
    registry: Any = None
    grid: bool = False
    parse: Callable[[str], Any] | None = None
    expand: Callable[[Any], list] | None = None
    class_of: Callable[[str], Any] | None = None


KINDS: dict[str, Kind] = {}
"""All kinds whose package is imported, by name."""

HOMES = {
    "kernel": "seqkern.kernels.kernel_specs",
    "feature_transform": "seqkern.kernels.feature_transforms.feature_transform_specs",
    "transform": "seqkern.gram.transforms.transform_specs",
    "method": "seqkern.gram.transforms.transform_specs",
    "solver": "seqkern.solvers.solver_specs",
    "selector": "seqkern.solvers.selection.selectors.selector_specs",
    "scaler": "seqkern.solvers.selection.selectors.selector_specs",
    "layer": "seqkern.layers.layer_specs",
}
"""The module that registers each kind."""


def add_kind(kind: Kind) -> Kind:
    """Register a kind, and return it.

    Parameters
    ----------
    kind : Kind
        Replaces one of the same name.

    Returns
    -------
    Kind
        The same.
    """
    KINDS[kind.name] = kind
    return kind


def kind_of(name: str) -> Kind:
    """Return a kind by name, importing its package.

    Parameters
    ----------
    name : str
        A key of configurations, such as ``"kernel"``.

    Returns
    -------
    Kind
        Without classes for an unknown name.
    """
    if name not in KINDS and name in HOMES:
        importlib.import_module(HOMES[name])
    return KINDS.get(name) or Kind(name, name.capitalize(), build=lambda value: value, example="name:parameter=value")
